"""skdptext shares: the same numbers as in Python, and what is refused."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from skdptext import DPDocumentReplacer
from skdptext.cli import main
from skdptext.replacement import topic_shares
from tests.releases import write_key

PUBLIC = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"] + [
    "the train is late",
    "a late train",
]
LABELS = ["pets", "pets", "food", "food", "rail", "rail"]
TEXTS = {"pets": "my cat", "food": "no milk", "rail": "this train"}
COUNTS = {"pets": 60, "food": 30, "rail": 10}
TRUTH = {"food": 0.3, "pets": 0.6, "rail": 0.1}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tickets, public documents and a key, to work in."""
    monkeypatch.chdir(tmp_path)
    with open("tickets.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "said", "who"])
        topics = np.repeat(list(COUNTS), list(COUNTS.values())).tolist()
        for i, topic in enumerate(topics):
            writer.writerow([i, f"{TEXTS[topic]}, number {i}", f"user {i // 2}"])
    with open("public.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["said", "topic"])
        writer.writerows(zip(PUBLIC, LABELS, strict=True))
    write_key(tmp_path / "key")
    # here it does not matter what a guess of a key costs
    monkeypatch.setattr("skdptext.release._key._COST", {"n": 2, "r": 8, "p": 1})
    return tmp_path


RELEASE = [
    "release", "tickets.csv", "--text", "said", "-o", "out", "--name", "q4",
    "--key", "file:key", "--epsilon", "2", "--public", "public.csv", "--quiet",
]  # fmt: skip
WITH_LABELS = ["--public-label", "topic"]
PUBLICLY = ["--public", "public.csv", *WITH_LABELS]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def lines_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("output", ["text", "group", "index"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_shares_are_those_of_the_library(folder, capsys, output, form):
    options = [*WITH_LABELS, "--output", output, "--format", form]
    assert main([*RELEASE, *options]) == 0
    (folder / "tickets.csv").unlink()  # nothing private is needed
    (folder / "key").unlink()
    capsys.readouterr()
    assert main(["shares", "out", *PUBLICLY, "-o", "shares.csv"]) == 0
    printed = capsys.readouterr().out
    rows = rows_of("shares.csv")
    assert [row["group"] for row in rows] == ["food", "pets", "rail"]
    assert rows[0].keys() == {"group", "share_of_documents", "low", "high", "words"}
    assert "cat" in rows[1]["words"].split()
    for row in rows:
        assert row["group"] in printed
        assert float(row["low"]) <= float(row["share_of_documents"])
        assert float(row["share_of_documents"]) <= float(row["high"])
    assert sum(float(row["share_of_documents"]) for row in rows) == pytest.approx(1)
    # of one key and ids: the same noisy groups, and so the same shares, in any form
    if output == "group":
        assert main(["shares", "out", "--table", "alone.jsonl"]) == 0
        alone = lines_of("alone.jsonl")
        assert [row.keys() for row in alone] == [
            {"group", "share_of_documents", "low", "high"}
        ] * 3
        for row, other in zip(rows, alone, strict=True):
            assert float(row["low"]) == pytest.approx(other["low"])
            assert float(row["share_of_documents"]) == pytest.approx(
                other["share_of_documents"]
            )
    if form != "csv":
        return
    column = [row["said"] for path in (folder / "out").glob("*.csv")
              for row in rows_of(path)]  # fmt: skip
    replacer = DPDocumentReplacer(
        PUBLIC, public_labels=LABELS, epsilon=2.0, output=output
    ).fit()
    given = [int(number) for number in column] if output == "index" else column
    expected = topic_shares(given, replacer, confidence=0.9, n_words=1)
    assert (
        main(["shares", "out", *PUBLICLY, "--confidence", "0.9", "--words", "1"]) == 0
    )
    assert capsys.readouterr().out.endswith(f"{expected}\n")


def test_groups_without_labels(folder, capsys):
    """As many as the release says, found again by the public documents."""
    assert main([*RELEASE, "--groups", "2"]) == 0
    assert main(["shares", "out", "--public", "public.csv", "-o", "s.jsonl"]) == 0
    rows = lines_of("s.jsonl")
    assert [row["group"] for row in rows] == [0, 1]
    assert all(len(row["words"]) <= 6 for row in rows)


def test_shares_of_authors(folder, capsys):
    """Two tickets each, one answer: each author counts once."""
    kept = [*WITH_LABELS, "--output", "group", "--author", "who", "--keep", "who"]
    assert main([*RELEASE, *kept]) == 0
    named = "The column 'who', which the release keeps, says who wrote each document."
    assert f"Warning: {named}" in capsys.readouterr().err
    stated = json.loads((folder / "out" / "_release.json").read_text("utf-8"))
    assert f"WARNING. {named}" in " ".join(stated["guarantee"]["words"].split())
    assert main(["shares", "out"]) == 2
    assert "--author must name the column of authors" in capsys.readouterr().err
    assert main(["shares", "out", "--author", "who", "-o", "s.csv"]) == 0
    assert "50 persons. The intervals are about the persons" in capsys.readouterr().out
    rows = rows_of("s.csv")
    assert set(rows[0]) == {"group", "share_of_persons", "low", "high"}
    answers = {}
    for path in (folder / "out").glob("*.csv"):
        answers |= {row["who"]: row["said"] for row in rows_of(path)}
    replacer = DPDocumentReplacer(PUBLIC, public_labels=LABELS, epsilon=2.0).fit()
    expected = topic_shares(
        list(answers.values()), replacer.guarantee(), groups=["food", "pets", "rail"]
    )
    for i, row in enumerate(rows):
        assert float(row["low"]) == pytest.approx(expected.low[i])
        assert float(row["high"]) == pytest.approx(expected.high[i])
    shutil.rmtree("out")
    assert main([*RELEASE, *WITH_LABELS, "--output", "group", "--keep", "who"]) == 0
    told = capsys.readouterr().err
    assert "Warning: Values of the column 'who', which the release keeps," in told
    assert "k documents of one cost k times ε, here up to 2 times. Name" in told
    assert main(["shares", "out", "--author", "who"]) == 2
    assert "in which each document answered by itself" in capsys.readouterr().err


def edited(folder, **changes):
    """The manifest of a release, with other fields."""
    path = folder / "out" / "_release.json"
    manifest = json.loads(path.read_text("utf-8"))
    for name, value in changes.items():
        if value is None:
            del manifest[name]
        else:
            manifest[name] = value
    path.write_text(json.dumps(manifest), "utf-8")


REFUSED = {
    "no public documents": ([], "--public must name the public documents"),
    "a table of another kind": (
        [*PUBLICLY, "-o", "shares.txt"], "--table must be a file that ends in .csv",
    ),
    "no labels": (["--public", "public.csv"], "--public-label must be given for"),
    "labels alone": (WITH_LABELS, "--public-label must not be given without --publ"),
    "other documents": (
        ["--public", "other.csv", *WITH_LABELS], "have another fingerprint",
    ),
    "confidence": (
        [*PUBLICLY, "--confidence", "1"], "--confidence must be a finite number",
    ),
    "words": ([*PUBLICLY, "--words", "-1"], "--words must be an integer >= 0"),
    "a column that is not kept": (
        [*PUBLICLY, "--author", "who"], "--author must be among those that the release",
    ),
    "no such file": (["--public", "none.csv"], "--public-label must be given"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(folder, capsys, case):
    options, message = REFUSED[case]
    assert main([*RELEASE, *WITH_LABELS]) == 0
    with open("other.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["said", "topic"])
        writer.writerows(zip(PUBLIC[::-1], LABELS[::-1], strict=True))
    capsys.readouterr()
    assert main(["shares", "out", *options]) == 2
    said = capsys.readouterr().err
    assert message in said, said
    assert "number 7" not in said


def test_other_folders_are_refused(folder, capsys):
    assert main(["shares", "nowhere"]) == 2
    assert "out must be the folder of a release, but there is no folder" in (
        capsys.readouterr().err
    )
    words = [
        "release", "tickets.csv", "--text", "said", "-o", "out", "--name", "q",
        "--key", "file:key", "--epsilon", "9", "--length", "3", "--quiet",
        "--embedding", "words.txt", "--oov", "drop",
    ]  # fmt: skip
    (folder / "words.txt").write_text("cat 0.0 1.0\nmilk 1.0 0.0\ntrain 1.0 1.0\n")
    assert main(words) == 0
    assert main(["shares", "out"]) == 2
    said = capsys.readouterr().err
    assert "out must hold stand-ins or their groups" in said
    shutil.rmtree("out")
    assert main([*RELEASE, *WITH_LABELS, "--output", "group"]) == 0
    edited(folder, complete=False, shards={})
    assert main(["shares", "out"]) == 2
    assert "out must hold a sealed release" in capsys.readouterr().err
    edited(folder, complete=True, shards={}, epsilon="much")
    assert main(["shares", "out"]) == 2
    assert "out must hold stand-ins or their groups" in capsys.readouterr().err


def test_minus_one_is_no_label(folder, capsys):
    with open("public.csv", "a", newline="") as file:
        csv.writer(file).writerow(["a tram", "-1"])
    assert main([*RELEASE, *WITH_LABELS]) == 2
    assert "--public-label must not be -1" in capsys.readouterr().err


@pytest.mark.parametrize("epsilon", [20.0, 0.5, -2.0, 1e-300, float("nan")])
@pytest.mark.parametrize("how", [[], ["--output", "group"]])
def test_an_edited_epsilon_is_refused(folder, capsys, epsilon, how):
    """Or shares would be computed for noise that nobody drew."""
    assert main([*RELEASE, *WITH_LABELS, *how]) == 0
    edited(folder, epsilon=epsilon)
    assert main(["shares", "out", *([] if how else PUBLICLY)]) == 2
    assert "out must hold a manifest as it was written" in capsys.readouterr().err
    manifest = json.loads((folder / "out" / "_release.json").read_text("utf-8"))
    (part,) = manifest["guarantee"]["stored"]["parts"]
    part["epsilon"] = epsilon  # the fingerprint of the noise differs still
    edited(folder, guarantee=manifest["guarantee"])
    assert main(["shares", "out", *([] if how else PUBLICLY)]) == 2


def test_a_release_of_before_names_no_groups(folder, capsys):
    """Those that are there are all, or they must be told by the public documents."""
    assert main([*RELEASE, *WITH_LABELS, "--output", "group"]) == 0
    path = folder / "out" / "_release.json"
    manifest = json.loads(path.read_text("utf-8"))
    assert manifest["public"].pop("groups") == ["food", "pets", "rail"]
    path.write_text(json.dumps(manifest), "utf-8")
    assert main(["shares", "out"]) == 0
    assert "rail" in capsys.readouterr().out
