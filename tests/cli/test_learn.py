"""``skdptext learn``: what it writes, what it refuses, and what it leaves behind."""

from __future__ import annotations

import csv
import hashlib
import json
import re

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.cli import main
from skdptext.privacy import PrivacyGuarantee

PETS, DRINKS = ["cat", "dog", "cats", "dogs"], ["tea", "milk", "coffee", "cocoa"]
PUBLIC = [
    f"{some} and {other} {also}"
    for kind in (PETS, DRINKS)
    for some in kind
    for other in kind
    for also in ("now", "again")
]
PRIVATE = ["my cat Tom", "a dog", "no milk today", "some tea"] * 15
PRIVATE += ["two cats", "dogs", "a coffee", "hot cocoa"] * 15
LABELS = ["1", "1", "2", "2"] * 30


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("private.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["said", "what", "who"])
        rows = zip(PRIVATE, LABELS, [f"zq{i % 50}" for i in range(120)], strict=True)
        writer.writerows(rows)
    with open("public.csv", "w", newline="") as file:
        csv.writer(file).writerows([["body"], *([text] for text in PUBLIC)])
    words = ["cat", "dog", "tea", "milk"]
    WordEmbedding(words, np.eye(4)).save("words.txt")
    return tmp_path


LEARN = ["learn", "private.csv", "--text", "said", "--label", "what", "--author", "who",
         "--public", "public.csv", "--public-text", "body", "--epsilon", "2",
         "--classes", "1", "2", "-o", "corpus.csv"]  # fmt: skip


@pytest.mark.parametrize("more", [[], ["--embedding", "words.txt", "--delta", "1e-5"]])
def test_a_corpus_and_what_it_promises(files, capsys, more):
    assert main([*LEARN, *more]) == 0
    with open("corpus.csv", newline="") as file:
        names, *rows = csv.reader(file)
    assert names == ["said", "what"]
    assert [text for text, _ in rows] == PUBLIC
    assert {label for _, label in rows} <= {"1", "2"}
    manifest = json.loads((files / "corpus.json").read_text())
    guarantee = PrivacyGuarantee.from_json(manifest)
    assert (guarantee.unit, guarantee.epsilon) == ("person", 2.0)
    assert manifest["guarantee"]["words"] == str(guarantee)
    assert manifest["classes"] == ["1", "2"]
    assert manifest["unit"] == "person"
    assert (manifest["embedding"] is None) == (not more)
    content = (files / "corpus.csv").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert manifest["files"] == {"corpus.csv": digest}
    assert not re.search(rb"zq\d", content)
    printed = " ".join(capsys.readouterr().err.split())
    assert "Nobody is right about it more than" in printed
    assert "costs another ε" in printed
    assert "Tom" not in printed
    assert "120" not in json.dumps(manifest)  # the number of rows is not released


def test_labels_are_learned_from_the_private_texts(files):
    assert (
        main([*LEARN[:-1], "sure.csv", "--epsilon", "1000", "--delta", "0", "--quiet"])
        == 0
    )
    with open("sure.csv", newline="") as file:
        _, *rows = csv.reader(file)
    right = ["12"[any(drink in text for drink in DRINKS)] for text, _ in rows]
    labels = [label for _, label in rows]
    assert np.mean(np.array(labels) == np.array(right)) > 0.9


def test_json_lines_documents_as_unit_and_classes_of_the_file(files, capsys):
    given = [*LEARN[:6], *LEARN[8:14], "-o", "corpus.jsonl", "--quiet"]
    assert main(given) == 0
    rows = [json.loads(r) for r in (files / "corpus.jsonl").read_text().splitlines()]
    assert [row["said"] for row in rows] == PUBLIC
    assert {row["what"] for row in rows} == {"1", "2"}
    assert json.loads((files / "corpus.json").read_text())["unit"] == "document"
    printed = capsys.readouterr().err
    assert "Warning: Without --classes, the list of " in printed
    assert "right about" not in printed


def test_private_texts_as_public_ones_are_refused(files, capsys):
    texts = [f"the {a} sat on the {b} and drank cold tea" for a in PETS for b in DRINKS]
    with open("private.csv", "w", newline="") as file:
        rows = [[text, "12"[i % 2], i] for i, text in enumerate(texts)]
        csv.writer(file).writerows([["said", "what", "who"], *rows])
    with open("public.csv", "w", newline="") as file:
        csv.writer(file).writerows([["body"], *([f"{t.upper()}  !"] for t in texts)])
    assert main(LEARN) == 2
    message = capsys.readouterr().err
    assert message.startswith("skdptext learn: --public must not hold texts to learn")
    assert "got 16 of 16 public texts" in message
    assert "tea" not in message
    assert not (files / "corpus.csv").exists()
    assert main([*LEARN, "--allow-shared-texts"]) == 0
    printed = capsys.readouterr().err
    assert "among the private texts" not in printed
    assert "taken on trust" in " ".join(printed.split())
    manifest = json.loads((files / "corpus.json").read_text())
    assert manifest["allow_shared_texts"] is True
    assert "taken on trust" in " ".join(manifest["guarantee"]["words"].split())


@pytest.mark.parametrize("there", ["corpus.csv", "corpus.json"])
def test_nothing_is_written_over(files, capsys, there):
    (files / there).write_text("before")
    before = sorted(files.iterdir())
    assert main(LEARN) == 2
    message = capsys.readouterr().err
    assert message.startswith("skdptext learn: --out must name new files, but ")
    assert there in message
    assert (files / there).read_text() == "before"
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--epsilon", "0"], "--epsilon must be a finite number > 0, got 0"),
        (["--delta", "1"], "--delta must be a finite number"),
        (["--text", "gone"], "--text and --author must name columns"),
        (["--label", "gone"], "--label must name columns"),
        (["--author", "gone"], "--text and --author must name columns"),
        (["--public", "gone.csv"], "--public must name files"),
        (["--public-text", "gone"], "--public-text must name columns"),
        (["--classes", "1"], "--classes must hold at least 2 different labels"),
        (["--classes", "1", "3"], "--label must hold labels of classes only"),
        (["--embedding", "gone.npz"], "There is no embedding file 'gone.npz'"),
        (["--n-expected", "0"], "--n-expected must be an integer >= 1"),
        (["--out", "c.txt"], "--out must be a file that ends in .csv or .jsonl"),
        (["--out", "gone/c.csv"], "--out must be in a folder that can be written"),
    ],
)
def test_what_breaks_a_rule_is_refused_and_nothing_is_left(
    files, capsys, change, message
):
    before = sorted(files.iterdir())
    assert main([*LEARN, *change]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("skdptext learn: ")
    assert message in error
    assert "Tom" not in error
    assert sorted(files.iterdir()) == before


def test_blank_labels_are_refused_and_blank_texts_counted(files, capsys):
    """A blank is no third class, and a text without words is told of."""
    with open("private.csv", "a", newline="") as file:
        csv.writer(file).writerow(["", "1", "x"])
    assert main([*LEARN, "--quiet"]) == 0
    assert "Warning: 1 of 121 texts are empty" in capsys.readouterr().err
    for name in ("corpus.csv", "corpus.json"):
        (files / name).unlink()
    with open("private.csv", "a", newline="") as file:
        csv.writer(file).writerows([["a cat", " ", "x"], ["a dog", "", "y"]])
    assert main(LEARN) == 2
    message = "--label must not be missing, got 2 empty ones of 123, the first for docu"
    assert f"{message}ment 121." in capsys.readouterr().err


def test_classes_are_numbers_where_labels_are(files):
    for i, kind in enumerate([int, float]):
        rows = zip(PRIVATE, map(kind, LABELS), strict=True)
        lines = [json.dumps({"said": s, "what": w, "who": s}) for s, w in rows]
        (files / "private.jsonl").write_text("\n".join(lines))
        given = ["learn", "private.jsonl", *LEARN[2:-1], f"corpus{i}.jsonl"]
        assert main(given) == 0
        lines = (files / f"corpus{i}.jsonl").read_text().splitlines()
        labels = [json.loads(line)["what"] for line in lines]
        assert set(labels) == {1, 2}
        assert all(isinstance(label, kind) for label in labels)
    assert main([*given[:-1], "other.csv", "--classes", "1", "two"]) == 2


def test_nothing_is_left_half_written(files, monkeypatch):
    before = sorted(files.iterdir())

    def full(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("skdptext.cli._learn._table", full)
    assert main(LEARN) == 130
    assert sorted(files.iterdir()) == before
