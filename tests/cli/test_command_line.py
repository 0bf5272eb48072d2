"""The command ``skdptext``: what it writes, what it says, and its exit statuses."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import multiprocessing
import os
import re
import shutil
import sys
import warnings

import numpy as np
import pytest

import skdptext
from skdptext import DPWordPerturber, WordEmbedding
from skdptext.cli import main
from skdptext.model_selection import calibrate_epsilon
from skdptext.release import DocumentRelease, ReleaseKey, release_files, verify

# What a guess of a key costs: a process of its own knows no other.
from tests.releases import KEY, write_key

TEXTS = ["cat dog", "dog and cat", "tea milk", "milk tea tea"] * 6
NOISE = ["--epsilon", "0.5", "--lam", "0"]
READING = ["--length", "4", "--name", "q4"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with an embedding as text, documents and a key, to work in."""
    monkeypatch.chdir(tmp_path)
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 1.0], [8.0, 2.0]])
    WordEmbedding(["cat", "dog", "tea", "milk"], vectors).save("words.txt")
    with open("in.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "said", "who", "what"])
        for i, text in enumerate(TEXTS):
            writer.writerow([i, text, f"author {i % 2}", f"topic {i // 2 % 2}"])
    write_key(tmp_path / "key")
    return tmp_path


RELEASE = [
    "release", "in.csv", "--text", "said", "--id", "row", "-o", "out",
    "--embedding", "words.txt", *NOISE, *READING,
]  # fmt: skip


def test_a_release_is_that_of_the_library(files, capsys):
    options = ["--key", "file:key", "--keep", "what"]
    options += ["--mechanism", "exponential", "--option", "calibration=half"]
    assert main([*RELEASE, *options, "--option", "max_distance=3.5"]) == 0
    perturber = DPWordPerturber(
        WordEmbedding.load("words.txt"),
        epsilon=0.5,
        lam=0.0,
        document_length=4,
        resize="sample",
        output="text",
        mechanism=skdptext.mechanisms.Exponential(calibration="half", max_distance=3.5),
    )
    release = DocumentRelease(
        perturber, ReleaseKey("file:key"), "q4", text="said", id="row", keep=["what"]
    )
    release_files("in.csv", "expected", release)
    (written,) = (files / "out").glob("*.csv")
    assert written.read_bytes() == (files / "expected" / written.name).read_bytes()
    printed = capsys.readouterr()
    assert "24/24" not in printed.err  # a bar is for terminals
    assert "24 documents are released in out" in printed.err
    statement = " ".join(str(release.perturber.guarantee()).split())
    assert statement in " ".join(printed.err.split())
    assert f"destroy the key (file:{files / 'key'})" in printed.err
    assert main(["verify", "out"]) == 0
    assert "complete and unchanged" in capsys.readouterr().out
    written.write_text("changed")
    assert main(["verify", "out"]) == 1
    assert f"{written.name} has changed" in capsys.readouterr().out
    for i in range(30):
        (files / "out" / f"other {i}").touch()
    assert main(["verify", "out"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert (len(printed), printed[-1]) == (21, "And 11 more.")


def test_without_a_key_one_is_made_beside_the_output_and_explained(files, capsys):
    bags = ["--output", "bow", "--format", "parquet"]
    assert main([*RELEASE, *bags]) == 0
    made = files / "out.key"
    assert len(bytes.fromhex(made.read_text())) == 32
    printed = capsys.readouterr().err
    assert f"the noise was drawn from a new key, {made}" in printed
    assert "keep it apart from the release, and destroy it." in printed
    before = {path: path.read_bytes() for path in (files / "out").iterdir()}
    shutil.rmtree(files / "out")
    assert main([*RELEASE, *bags, "--quiet"]) == 0  # by the same key
    printed = capsys.readouterr().err  # nothing but where the key is
    assert printed.startswith(
        f"No --key was given: the noise was drawn from an existing key, {made}."
    )
    assert len(printed.splitlines()) == 1
    assert {path: path.read_bytes() for path in (files / "out").iterdir()} == before
    assert made.read_text()[:16] not in str(before)
    made.unlink()
    assert main([*RELEASE, *bags]) == 2  # and leaves no other key
    assert "'out' holds a release" in capsys.readouterr().err
    assert not made.exists()


def test_a_key_that_is_there_is_not_trusted_unless_it_is_its_owners(files, capsys):
    write_key(files / "out.key").chmod(0o644)  # by whoever may write to the folder
    assert main(RELEASE) == 2
    printed = capsys.readouterr().err
    assert "the noise was drawn" not in printed  # as none was
    assert "skdptext release: --key must be in a file that only its owner" in printed
    assert "or accept it with --allow-shared-key." in printed
    assert not (files / "out").exists()
    assert main([*RELEASE, "--allow-shared-key", "--quiet"]) == 0
    shutil.rmtree(files / "out")
    (files / "out.key").write_text("correct horse battery staple")
    assert main([*RELEASE, "--allow-shared-key"]) == 2
    assert "key must be 64 hexadecimal digits" in capsys.readouterr().err


def test_texts_that_are_none_are_counted(files, capsys):
    texts = ["cat", "", " ", "nan", '"dog\nand cat"', '"tea\n\nmilk"', "NaN"]
    rows = "".join(f"{i},{text}\n" for i, text in enumerate(texts))
    (files / "in.csv").write_text(f"row,said\n{rows}")
    assert main([*RELEASE, "--key", "file:key"]) == 0
    err = capsys.readouterr().err
    assert "Warning: 4 of 7 texts are empty or not a number, the first that of " in err
    assert "document 1, counted from 0. They are released, too, as if drawn" in err
    assert "2 of 7 texts span several lines of their CSV file." in err
    (manifest,) = (files / "out").glob("_release.json")
    assert "empty" not in manifest.read_text()
    assert main([*RELEASE, "--key", "file:key", "--quiet", "-o", "again"]) == 0
    assert "4 of 7 texts are empty" in capsys.readouterr().err


def test_another_release_is_not_written_over(files, capsys):
    assert main([*RELEASE, "--key", "file:key", "--quiet"]) == 0
    assert main([*RELEASE, "--key", "file:key"]) == 2
    assert "--out must be new or empty, but 'out' holds a release" in (
        capsys.readouterr().err
    )
    assert verify("out") == []


@pytest.mark.parametrize(
    ("command", "change", "message"),
    [
        (
            "release",
            ["--epsilon", "-1"],
            "--epsilon must be a finite number > 0, got -1",
        ),
        ("release", ["--length", "0"], "--length must be an integer >= 1"),
        (
            "release",
            ["--text", "gone"],
            "in.csv has no column 'gone' among 4: 'row', ",
        ),
        ("release", ["--text", "who", "--keep", "who"], "--id, --text and --keep"),
        ("release", ["--id", "gone"], "--id, --text and --keep must name"),
        ("release", ["--lam", "7"], "--lam must be"),
        ("release", ["--n-words", "0"], "--n-words must be"),
        (
            "release",
            ["--embedding", "none.npz"],
            "There is no embedding file 'none.npz'. Where to get one: see \"Load ",
        ),
        ("release", ["--mechanism", "magic"], "--mechanism must be one of "),
        ("release", ["--option", "x"], "--option must be of the form NAME=VALUE, got"),
        ("release", ["--option", "x=1"], "--option must give options of Exponential"),
        ("release", ["--key", "key"], '--key must be "env:NAME" or "file:PATH"'),
        ("release", ["--output", "bow"], '--format must be "parquet" or "jsonl"'),
        ("release", ["--key", "file:gone"], "There is no key file /"),
        ("release", ["--key", "env:GONE"], "cannot read the key env:GONE: it is not"),
        ("report", ["--text", "gone"], "--text must name columns"),
        ("calibrate", ["--public", "no.csv"], "--public must name files"),
        ("calibrate", ["--changed", "2"], "--changed must be"),
    ],
)
def test_what_breaks_a_rule_is_refused(files, capsys, command, change, message):
    assert main([*VALID[command], *change]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"skdptext {command}: ")
    assert message in error
    assert not (files / "out").exists()


def test_sources_that_are_not_there(files, capsys):
    assert main(["release", "gone.csv", *RELEASE[2:], "--key", "file:key"]) == 2
    rule = "skdptext release: source must name files that"
    assert capsys.readouterr().err.startswith(rule)


@pytest.mark.parametrize("key", [["--key", "file:key"], []])
@pytest.mark.parametrize("out", ["in.csv/out", "/proc/out", "key"])
def test_an_output_that_cannot_be_written(files, capsys, key, out):
    given = [out if argument == "out" else argument for argument in RELEASE]
    assert main([*given, *key]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("skdptext release: ")
    assert "out must be " in error
    assert out in error
    assert "Errno" not in error
    assert not (files / "key.key").exists()


@pytest.mark.parametrize("file", ["gone/new", "in.csv/new", "/proc/new"])
def test_a_key_that_cannot_be_written(files, capsys, file):
    assert main(["key", file]) == 2
    error = capsys.readouterr().err
    rule = "file must be in a folder that can be written to"
    assert error.startswith(f"skdptext key: {rule}, got {file!r}: ")
    assert "Errno" not in error


def test_what_is_no_answer_has_other_statuses(files, capsys, monkeypatch):
    assert main([*RELEASE, "--key", "file:key", "--quiet"]) == 0
    manifest = json.loads((files / "out" / "_release.json").read_text())
    del manifest["files"]
    (files / "out" / "_release.json").write_text(json.dumps(manifest))
    assert main(["verify", "out"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("skdptext verify: out must hold a _release.json as")
    assert "files are missing or damaged" in error
    failing = [LookupError("of ours"), OSError(5, "Input/output error", "/mnt/in.csv")]

    def fail(self):
        raise failing.pop()

    shutil.rmtree(files / "out")
    monkeypatch.setattr(DocumentRelease, "manifest", fail)
    assert main([*RELEASE, "--key", "file:key"]) == 2
    error = capsys.readouterr().err
    rule = "cannot read or write /mnt/in.csv: Input/output error."
    assert error == f"skdptext release: {rule}\n"
    assert main([*RELEASE, "--key", "file:key"]) == 4
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert error.endswith("LookupError: of ours\n")


def test_keys(files, capsys):
    assert main(["key", "new"]) == 0
    assert capsys.readouterr().out == f"--key file:{files / 'new'}\n"
    first = (files / "new").read_text()
    assert main(["key", "new"]) == 2
    assert "file must not exist, got 'new'" in capsys.readouterr().err
    assert (files / "new").read_text() == first


def test_calibrate(files, capsys):
    embedding = ["--embedding", "words.txt", "--n-words", "3"]
    assert main(["calibrate", *embedding, "--changed", "0.4"]) == 0
    said = capsys.readouterr()
    printed = said.out.split()
    assert printed[:1] == ["--epsilon"]
    assert float(printed[1]) > 0
    assert printed[2:4] == ["changes", "40.0%"]
    assert "give --public" in said.err


def write_rows(name, header, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def test_report_on_what_another_tool_released(files, capsys):
    """Rows are matched by id: in the order of the files, they belong to other rows."""
    texts = [f"the secret of {chr(97 + i) * 5} is told." for i in range(10)]
    write_rows("out.csv", ["row", "said"], [*enumerate(texts)][::-1])
    write_rows(
        "in.csv", ["row", "said", "who", "what"],
        [(i, text, f"a{i % 4}", i % 5) for i, text in enumerate(texts)],
    )  # fmt: skip
    report = ["report", "in.csv", "out.csv", "--text", "said"]
    of_labels = ["--author", "who", "--label", "what"]
    assert main([*report, "--id", "row", *of_labels, "--fail-above", "columns=0"]) == 0
    printed = capsys.readouterr()
    assert "THE ORIGINAL IS IDENTIFIED FOR" in printed.out
    for name in ("author identified", "topic inferred", "rare words left"):
        assert name in printed.out
    page = (files / "release-report.html").read_text()
    assert "secret" not in printed.out + printed.err + page
    assert main([*report, "--html", "by-order.html", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["misplaced"] == 1
    assert "ROWS DO NOT BELONG TOGETHER" in (files / "by-order.html").read_text()
    limit = [*report, "--id", "row", "--fail-above"]
    assert [main([*limit, x]) for x in ("linkage=0.5", "linkage=1", "gone=0")] == [
        3, 0, 2
    ]  # fmt: skip


def test_report_refuses_what_does_not_match(files, capsys):
    rows = [(i, f"zqcanary {i}") for i in range(5)]
    write_rows("in.csv", ["row", "said"], rows)
    for other, message in (
        (rows[:-1], "must have the same index"),
        ([*rows[:-1], rows[0]], "got repeated ids"),
    ):
        write_rows("out.csv", ["row", "said"], other)
        arguments = ["report", "in.csv", "out.csv", "--text", "said", "--id", "row"]
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert message in error
        assert "zqcanary" not in error
    write_rows("out.csv", ["row", "said"], rows[:2])
    for more, message in (
        ([], "equal length, got 5 and 2 texts"),
        (["--text", "gone"], "gone"),
        (["--text", ""], "--text must name columns of the documents"),
        (["--author", ""], "--author must name columns of the documents"),
    ):
        assert main(["report", "in.csv", "out.csv", "--text", "said", *more]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert "zqcanary" not in error
    assert main(["report", "in.csv", "--text", "said"]) == 2
    assert "released must be given, the same docu" in capsys.readouterr().err
    assert not list(files.glob("*.html"))


@pytest.mark.parametrize("change", [["--text", "gone"], ["--output", "bow"]])
def test_a_key_made_for_nothing_is_taken_back(files, capsys, change):
    assert main([*RELEASE, *change]) == 2
    assert list(files.glob("out*")) == []


def test_calibrate_counts_the_words_of_public_text(files, capsys):
    """The ε of the library; "and" is a stop word, and each row counts alike."""
    texts = ["tea and tea", "cat", ""]
    rows = [["review"], *([text] for text in texts)]
    with open("public.csv", "w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    WordEmbedding(
        ["cat", "dog", "tea", "milk", "and"],
        [[0.0, 0.0], [1.0, 0.0], [9.0, 1.0], [8.0, 2.0], [4.0, 4.0]],
    ).save("words.txt")
    options = [
        "--embedding",
        "words.txt",
        "--public",
        "public.csv",
        "--public-text",
        "review",
    ]
    assert main(["calibrate", *options, "--stop-words", "english"]) == 0
    said = capsys.readouterr()
    perturber = DPWordPerturber(
        WordEmbedding.load("words.txt"),
        lam=0,
        mechanism=skdptext.mechanisms.Exponential(),
        document_length=1,
        resize="sample",
        stop_words="english",
    )
    expected = calibrate_epsilon(perturber, 0.25, documents=texts, tuned_on="public")
    once = calibrate_epsilon(
        perturber, 0.25, documents=["cat", "tea", "milk"], tuned_on="public"
    )
    assert abs(once.epsilon / expected.epsilon - 1) > 0.01  # another count shows
    assert said.out.split()[1] == f"{expected.epsilon:.4g}"
    assert not said.err


def test_an_interruption_and_a_lack_of_arguments(files, capsys, monkeypatch):
    def interrupt(self):
        warnings.warn("careful", stacklevel=1)
        raise KeyboardInterrupt

    monkeypatch.setattr(DocumentRelease, "manifest", interrupt)
    assert main([*RELEASE, "--key", "file:key"]) == 130
    assert capsys.readouterr().err == "Warning: careful\nInterrupted.\n"
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"skdptext {skdptext.__version__}\n"


def test_a_key_of_the_environment_is_shown_nowhere(files, capsys, monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY.hex())
    assert main([*RELEASE, "--key", "env:THE_KEY", "--format", "jsonl"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [
        json.loads(line)
        for path in (files / "out").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert sorted(int(line["row"]) for line in lines) == list(range(24))
    assert all(len(line["said"].split()) == 4 for line in lines)
    shown = (files / "out" / "_release.json").read_text() + printed.err
    assert KEY.hex()[:16] not in shown.lower()


@pytest.mark.parametrize(
    ("buffered", "given", "made"),
    [
        (
            False,
            ["report", "in.csv", "out.csv", "--text", "said"],
            "release-report.html",
        ),
        # what waits in a buffer is written at the end, whatever the command
        (True, ["key", "new"], "new"),
    ],
)
def test_a_pipe_that_is_closed_ends_it_quietly(files, capfd, buffered, given, made):
    """Whoever reads is gone before anything is written."""
    write_rows("out.csv", ["row", "said"], enumerate(TEXTS))
    reading, writing = os.pipe()
    os.close(reading)

    def run():
        os.dup2(writing, 1)
        file = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(file) if buffered else file, write_through=not buffered
        )
        sys.exit(main(given))  # at its end multiprocessing, too, writes what waits

    # it shares what is imported
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    os.close(writing)
    assert process.exitcode == 141
    printed = capfd.readouterr().err
    assert "Errno" not in printed
    assert "Error" not in printed
    assert (files / made).exists()


VALID = {
    "release": [*RELEASE, "--key", "file:key"],
    "report": ["report", "in.csv", "in.csv", "--text", "said"],
    "calibrate": ["calibrate", *RELEASE[8:10]],
    "verify": ["verify", "in.csv"],
    "key": ["key", "in.csv"],
    "learn": ["learn", "in.csv", "--text", "said", "--label", "what", "--public",
              "in.csv", "-o", "out.csv"],
}  # fmt: skip
WRONG = ["0", "-7", "gone", "words.txt"]
REPLACED = ["release", "in.csv", "--text", "said", "--id", "row", "-o", "out",
            "--epsilon", "4", "--name", "q4", "--public", "in.csv", "--groups", "2",
            "--key", "file:key"]  # fmt: skip


def flags_of(command, capsys):
    """The flags of a command that take a value."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    named = set(re.findall(r"(--[\w-]+) [{A-Z]", capsys.readouterr().out))
    assert named or command in ("verify", "key")
    return sorted(named - {"--html"})


@pytest.mark.no_cover
@pytest.mark.parametrize("valid", [*VALID.values(), REPLACED], ids=[*VALID, "replaced"])
def test_whatever_is_wrong_the_message_names_the_flag(valid, files, capsys):
    """Each flag with values that are wrong for most: no message speaks Python."""
    python, other = {}, {}
    refused = 0
    for flag in flags_of(valid[0], capsys):
        for value in WRONG:
            with contextlib.suppress(SystemExit), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if main([*valid, flag, value]) == 2:
                    refused += 1
                    message = capsys.readouterr().err.rpartition("skdptext ")[2]
                    subject = message.partition(" must ")[0].partition(": ")[2]
                    if subject.isidentifier() and subject not in ("source", "out"):
                        python[flag, value] = message
                    typed = r"NAME=VALUE|linkage=0\.1,author=0\.2"  # in a shell
                    if re.search(r"\w=\S", re.sub(typed, "", message)):
                        other[flag, value] = message
            capsys.readouterr()
            shutil.rmtree("out", ignore_errors=True)
    assert (python, other) == ({}, {})
    assert refused > 5 or valid[0] in ("verify", "key")
