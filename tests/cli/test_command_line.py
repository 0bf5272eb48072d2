"""The command ``skdptext``: what it writes, its answers, and its exit statuses."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.cli import main
from skdptext.model_selection import calibrate_epsilon
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import DocumentRelease, ReleaseKey, claimed, release_files

PETS, DRINKS = ["cat", "dog", "cats", "dogs"], ["tea", "milk", "coffee", "cocoa"]
PUBLIC = [
    (f"{some} and {other} {also}", topic)
    for topic, kind in (("pets", PETS), ("drinks", DRINKS))
    for some in kind
    for other in kind
    for also in ("now", "again")
]
TEXTS = ["my cat Tom", "a dog", "no milk today", "some tea"] * 30
SEEN = {"and", "cat", "dog", "tea", "milk"}
TOPICS = ["pets", "pets", "drinks", "drinks"] * 30


def write(name, header, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Private and public texts, vectors and a key."""
    folder = tmp_path_factory.mktemp("files")
    people = [f"zq{i % 50}" for i in range(120)]
    rows = list(zip(range(120), TEXTS, TOPICS, people, strict=True))
    write(folder / "in.csv", ["row", "said", "what", "user"], rows)
    write(folder / "public.csv", ["body", "topic"], PUBLIC)
    (folder / "bare.csv").write_text("Tom is our user,Tom\n" * 2)
    words = ["cat", "dog", "tea", "milk"]
    vectors = [[0.0, 0.0], [1.0, 0.0], [9.0, 1.0], [8.0, 2.0]]
    WordEmbedding(words, vectors).save(folder / "words.txt")
    assert main(["key", str(folder / "key")]) == 0
    return folder


@pytest.fixture
def files(prepared, tmp_path, monkeypatch):
    shutil.copytree(prepared, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


COMMON = ["in.csv", "--text", "said", "--id", "row", "-o", "out", "--name", "q4",
          "--key", "file:key"]  # fmt: skip
PUBLIC_FLAGS = ["--public", "public.csv", "--public-text", "body"]
VECTORS = ["--embedding", "words.txt"]
NOISY = ["release", *COMMON, *VECTORS, "--epsilon", "0.5", "--document-length", "4"]
STAND_INS = ["release", *COMMON, *PUBLIC_FLAGS, "--epsilon", "4", "--author", "user"]
LEARN = ["learn", "in.csv", "--text", "said", "--label", "what", "--author", "user",
         *PUBLIC_FLAGS, "--classes", "pets", "drinks", "-o", "c.csv"]  # fmt: skip
CALIBRATE = ["calibrate", *VECTORS, *PUBLIC_FLAGS]
REPORT = ["report", "in.csv", "in.csv", "--text", "said"]


def test_a_key_is_new_and_read_by_the_library(files, capsys):
    assert main(["key", "new"]) == 0
    assert capsys.readouterr().out == f"--key file:{files / 'new'}\n"
    assert ReleaseKey("file:new").derive(b"") != ReleaseKey("file:key").derive(b"")
    assert main(["key", "new"]) == 2


@pytest.mark.parametrize("kind", ["words", "stand-ins"])
def test_a_release_is_that_of_the_library(files, capsys, kind):
    if kind == "words":
        given, options = [*NOISY, "--keep", "what"], {"keep": ["what"]}
        releaser = DPWordPerturber(
            WordEmbedding.load("words.txt"), epsilon=0.5, lam=0.0, document_length=4,
            resize="sample", output="text", mechanism="exponential",
        )  # fmt: skip
    else:
        given, options = [*STAND_INS, "--public-label", "topic"], {"author": "user"}
        texts, topics = zip(*PUBLIC, strict=True)
        releaser = DPDocumentReplacer(texts, public_labels=topics, epsilon=4.0)
    assert main(given) == 0
    said = " ".join(capsys.readouterr().err.split())
    key = ReleaseKey("file:key")
    release = DocumentRelease(releaser, key, "q4", text="said", id="row", **options)
    manifest = release_files("in.csv", "expected", release)
    for path in Path("expected").iterdir():
        assert (Path("out") / path.name).read_bytes() == path.read_bytes()
    assert " ".join(manifest["guarantee"]["words"].split()) in said
    assert "destroy the key" in said
    assert main(["verify", "out"]) == 0
    next(Path("out").glob("part*")).write_text("changed")
    assert main(["verify", "out"]) == 1
    assert "has changed" in capsys.readouterr().out


def test_calibrate_gives_the_epsilon_of_the_library(files, capsys):
    assert main([*CALIBRATE, "--changed", "0.4"]) == 0
    epsilon = float(capsys.readouterr().out.split()[1])
    perturber = DPWordPerturber(
        WordEmbedding.load("words.txt"), mechanism="exponential", lam=0.0,
        document_length=1,
    )  # fmt: skip
    texts = [text for text, _ in PUBLIC]
    expected = calibrate_epsilon(perturber, 0.4, documents=texts, tuned_on="public")
    assert epsilon == pytest.approx(expected.epsilon, rel=1e-3)


@pytest.mark.parametrize("more", [[], [*VECTORS, "--delta", "1e-5"]])
def test_a_corpus_and_what_it_promises(files, capsys, more):
    assert main([*LEARN, "--epsilon", "1000", *more]) == 0
    with open("c.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["said", "what"]
    assert [text for text, _ in rows] == [text for text, _ in PUBLIC]
    # The two words of these texts occur in private ones, which tell their topics.
    seen = [i for i, (text, _) in enumerate(PUBLIC) if {*text.split()[:3]} <= SEEN]
    assert len(seen) == 16
    assert all(tuple(rows[i]) == PUBLIC[i] for i in seen)
    stated = json.loads(Path("c.json").read_text())
    guarantee = PrivacyGuarantee.from_json(stated)
    assert (guarantee.unit, guarantee.epsilon) == ("person", 1000.0)
    assert sorted(stated["classes"]) == ["drinks", "pets"]
    assert main(["verify", "c.json"]) == 0
    said = Path("c.csv").read_text() + Path("c.json").read_text()
    shown = capsys.readouterr().err
    assert not re.search(r"zq\d|Tom", said + shown)
    assert re.findall(r"(?:accuracy|class) +(.+)", shown) == ["1.00"] * 3
    assert not re.search("accuracy|precision", said)  # on the screen only
    # another run is another release, and nothing is written over
    assert main(LEARN) == 2
    assert "--out must be new" in capsys.readouterr().err
    Path("c.csv").write_text("changed")
    assert main(["verify", "c.json"]) == 1
    assert json.loads(Path("c.json").read_text()) == stated


@pytest.mark.parametrize(
    ("form", "others"),
    [("the {} sat on the {} and drank cold tea", []), ("{} {} drank", PUBLIC)],
)
def test_private_texts_are_not_published_as_public_ones(files, capsys, form, others):
    """Neither some long ones nor most of all texts."""
    texts = [form.format(a, b) for a in PETS for b in DRINKS]
    rows = [(i, text, ("pets", "drinks")[i % 2], i) for i, text in enumerate(texts)]
    write("in.csv", ["row", "said", "what", "user"], rows)
    public = [text for text, *_ in [*zip(texts), *others]]
    write("public.csv", ["body"], [(f"{text.upper()}  !",) for text in public])
    for command, out in ((LEARN, "c.json"), (STAND_INS, "out/_release.json")):
        assert main(command) == 2
        message = capsys.readouterr().err
        assert "--public must not be among the private ones, got" in message
        assert "drank" not in message
        assert not any(path.name in ("c.csv", "out") for path in files.iterdir())
        assert main([*command, "--allow-shared-texts"]) == 0, capsys.readouterr().err
        words = json.loads(Path(out).read_text())["guarantee"]["words"]
        assert "we trust that" in " ".join(words.split())
        Path("c.csv").unlink(missing_ok=True)


def test_a_report_matches_rows_by_ids_and_tells_of_columns(files, capsys):
    texts = [f"{chr(97 + i) * 5} {chr(98 + i) * 4} is told" for i in range(20)]
    rows = [(i, text, i // 2) for i, text in enumerate(texts)]
    write("a.csv", ["row", "said", "user"], rows)
    write("b.csv", ["row", "said", "user"], rows[::-1])
    report = ["report", "a.csv", "b.csv", "--text", "said"]
    by_id, paged = [*report, "--id", "row", "--json"], ["--html", "page.html"]
    assert main([*by_id, *paged, "--author", "user", "--fail-above", "columns=0"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["scores"]["linkage"]["value"] == 1
    assert "'user'" in found["columns"][0]
    assert {"author", "copies"} <= set(found["scores"])
    page = Path("page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    write("b.csv", ["row", "said"], [row[:2] for row in rows[::-1]])
    for limit, status in (("linkage=1", 0), ("linkage=0.5", 3), ("gone=0", 2)):
        assert main([*by_id, "--fail-above", limit, "columns=0"]) == status
    assert main([*by_id, "--fail-above", "linkage=0.5", "linkage=1"]) == 3
    # in the order of the files no row belongs to the other, which no gate passes
    before = set(files.iterdir())
    assert main([*report, "--html", "new.html", "--fail-above", "linkage=1"]) == 2
    assert set(files.iterdir()) == before
    said = capsys.readouterr()
    assert "ROWS DO NOT BELONG TOGETHER" in " ".join(said.out.split())
    assert not re.search("aaaaa|bbbbb", said.out + said.err + page)


def test_a_report_with_a_background_a_control_and_a_guarantee(files, capsys):
    words = np.array([f"w{i}" for i in range(500)])
    drawn = np.random.default_rng(0).choice(words, (2, 24, 12))
    for name, texts in zip(("used", "others"), drawn.tolist(), strict=True):
        rows = [(" ".join(text), f"person {i}") for i, text in enumerate(texts)]
        write(f"{name}.csv", ["said", "user"], rows)

    def scores(*command):
        assert main(["report", *command, "--text", "said", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["scores"]

    background = ["--background", "used.csv", "--author", "user"]
    assert scores("used.csv", *background)["person"]["value"] == 1
    control = ["--control", "others.csv"]
    found = scores("used.csv", "used.csv", *control)
    assert found["training texts copied"]["value"] == 1
    assert main(LEARN) == main(STAND_INS) == 0
    capsys.readouterr()
    for pair in (["used.csv", "c.csv", *control], ["in.csv", "out", "--id", "row"]):
        assert main(["report", *pair, "--text", "said"]) == 0
        assert "Proved" in capsys.readouterr().out


# Commands, and what the message says.
REFUSED = [
    ([], "required: command"),
    ([*NOISY, "--epsilon", "4,5"], "argument --epsilon: invalid float value: '4,5'"),
    (NOISY[:-2], "must have a --document-length"),
    ([*NOISY, "--key", "key"], '--key must be "env:NAME" or "file:PATH"'),
    ([*NOISY, "--embedding", "none.npz"], "none.npz"),
    ([*NOISY, "--author", "user"], "--author must not be given without --public"),
    ([*NOISY, "-o", "in.csv"], "--out must be"),
    (["release", *COMMON, "--epsilon", "1"], "--embedding must name a file"),
    ([*STAND_INS, "--document-length", "3"], "--document-length must not be given"),
    ([*LEARN, "--label", "row"], "--label must .* got 120 for 120 documents"),
    ([*LEARN, "--label", "user"], "--label must .* got the authors"),
    ([*LEARN, "--label", "gone"], "--label.* must name columns"),
    ([*LEARN, "--classes", "pets", "tea"], "--label must hold labels of `--cl"),
    ([*LEARN, "-o", "c.txt"], "--out must end in .csv"),
    ([*REPORT, "--fail-above", "0.1"], "--fail-above: must be scores and limits"),
    ([*REPORT, "--fail-above", "linkage=nan"], "limits from 0 to 1"),
    ([*REPORT, "--html", "in.csv"], "--html must be new, because nothing is overwritt"),
    ([*REPORT, "--id", "user"], "repeated ids"),
    ([*REPORT, "--control", "in.csv", "--author", "user"], "--control must come with"),
    ([*REPORT, "--background", "in.csv"], "--background must come with"),
    (["report", "in.csv", "--text", "said"], "must be given if original is None"),
    (["report", "bare.csv", "in.csv", "--text", "said"], "Does the file have a header"),
    (["release", "bare.csv", *STAND_INS[2:-2]], "Does the file have a header row"),
    ([*LEARN, "--text", ""], "an argument is empty"),
    (["verify", "in.csv"], "folder must be that of a release"),
    (["key", "gone/key"], "gone/key"),
]


def status_of(arguments):
    """Of the process: argparse exits by itself."""
    try:
        return main(arguments)
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_breaks_a_rule_is_refused_and_nothing_is_left(
    files, capsys, arguments, message
):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    assert status_of(arguments) == 2
    *more, said = capsys.readouterr().err.splitlines()
    assert said.startswith("skdptext")
    assert re.search(message, said)
    assert "Errno" not in said
    assert "Tom" not in f"{more} {said}"
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.parametrize(
    "command", [LEARN, STAND_INS, [*REPORT, "--html", "out"]], ids=range(3)
)
def test_what_another_process_writes_is_refused_before_any_work(files, capsys, command):
    for name in ("in.csv", "public.csv"):
        Path(name).unlink()
    with claimed("c.csv", "out") as places:
        assert main(command) == 2
        for place in places:
            place.touch()
    assert " must be where no other process is writing" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "row,said,what,user,body\n"])
def test_every_command_refuses_an_empty_table(files, capsys, content):
    Path("empty.csv").write_text(content)
    before = set(files.iterdir())
    for command in (NOISY, STAND_INS, LEARN, CALIBRATE, REPORT):
        for given in {"in.csv", "public.csv"} & {*command}:
            assert main([x.replace(given, "empty.csv") for x in command]) == 2
            assert "must hold documents, got none" in capsys.readouterr().err
    assert set(files.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "expected", "other"),
    [
        (STAND_INS[:-2], "--author 'user'", "above 10"),
        ([*STAND_INS, "--epsilon", "11"], "above 10", "--author 'user'"),
        ([*STAND_INS, "--epsilon", "10"], "Privacy", "above 10"),
        ([*LEARN[:6], *LEARN[8:]], "--author 'user'", "--classes"),
        ([*LEARN[:12], *LEARN[-2:]], "Warning: ", "--author 'user'"),
        (REPORT, "--author 'user'", "above 10"),
        ([*REPORT, "--author", "user"], "", "--author 'user'"),
    ],
    ids=range(7),
)
def test_hints_and_warnings(files, capsys, arguments, expected, other):
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert expected in said
    assert other not in said


def test_faults_have_statuses_of_their_own(files, capsys, monkeypatch):
    failing = [LookupError("of ours"), KeyboardInterrupt(), OSError("ours")]

    def fail(*_):
        raise failing.pop(0)

    monkeypatch.setattr("skdptext.release.verify", fail)
    monkeypatch.setattr("skdptext.metrics.label_scores", fail)
    commands = ["verify", "out"], ["verify", "out"], LEARN
    assert [main(command) for command in commands] == [4, 130, 2]
    assert not any(name.startswith(("c.", ".")) for name in os.listdir())
    assert "LookupError: of ours" in capsys.readouterr().err


FULL = "skdptext: cannot write the output: No space left on device.\n"


@pytest.mark.parametrize(
    ("closed", "arguments", "expected"),
    [
        ("", ["--help"], (0, "")),
        (">&-", ["--help"], (0, "")),
        ("", ["key", "x"], (0, "")),
        (">/dev/full", ["--help"], (2, FULL)),
        (">/dev/full", ["key", "x"], (2, FULL)),
        ("2>/dev/full", ["verify", "in.csv"], (2, "")),
    ],
    ids=range(6),
)
def test_output_need_not_be_read(files, closed, arguments, expected):
    """But a full disk is told, since a report to a file would be lost."""
    end, stdout = os.pipe()
    os.close(end)
    command = ["sh", "-c", f'exec "$@" {closed}', "", sys.executable, "-m", "skdptext"]
    done = subprocess.run(
        [*command, *arguments], stdout=stdout, stderr=subprocess.PIPE, check=False
    )
    os.close(stdout)
    assert (done.returncode, done.stderr.decode()) == expected


def test_help_imports_no_library():
    code = (
        "import sys; from skdptext.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "sys.exit('numpy' in sys.modules)"
    )
    for arguments in (["--help"], ["release", "--help"]):
        subprocess.run([sys.executable, "-c", code, *arguments], check=True)
