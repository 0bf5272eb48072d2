"""A thing has one name in every command; the names that it had before still work."""

import argparse
import csv
import itertools

import numpy as np
import pytest

from skdptext.cli import main
from skdptext.cli._main import _parser
from skdptext.embeddings import WordEmbedding

FORMER = {
    "--text": "--column",
    "--label": "--topic",
    "--public": "--replace-by",
    "--public-text": "--text-column",
    "--public-label": "--label-column",
}
TAKES = {
    "calibrate": ["--public", "--public-text"],
    "release": ["--text", "--public", "--public-text", "--public-label"],
    "report": ["--text", "--label", "--public", "--public-text"],
    "learn": ["--text", "--label", "--public", "--public-text"],
    "shares": ["--public", "--public-text", "--public-label"],
}
NEEDS = {
    "calibrate": [],
    "release": ["in.csv", "-o", "out", "--name", "q4", "--epsilon", "4"],
    "report": ["in.csv", "out.csv"],
    "learn": ["in.csv", "-o", "m.npz", "--public", "public.csv"],
    "shares": ["out"],
}


def parsed(*arguments):
    given = vars(_parser().parse_args(arguments))
    return {name: given[name] for name in given.keys() - {"parser", "run"}}


@pytest.mark.parametrize(
    ("command", "flag"),
    [(command, flag) for command, flags in TAKES.items() for flag in flags],
)
def test_every_command_takes_a_name_and_its_former_one(command, flag):
    line = [command, *NEEDS[command]]
    now, before = (parsed(*line, name, "given") for name in (flag, FORMER[flag]))
    assert now == before
    assert now[flag[2:].replace("-", "_")] == "given"


def test_the_column_of_what_calibrate_reads_is_also_a_column_of_texts():
    names = ("--public-text", "--text", "--column", "--text-column")
    first, *others = (parsed("calibrate", name, "given") for name in names)
    assert all(first == other for other in others)


@pytest.mark.parametrize("command", [*TAKES, "audit", "key", "verify"])
def test_help_shows_one_name(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    said = capsys.readouterr().out.replace("\n", " ")
    for flag, former in FORMER.items():
        assert f"{former} " not in said.replace(",", " ")
        assert (f"  {flag} " in said) == (flag in TAKES.get(command, []))
    assert ("-o OUT, --out OUT" in said) == (command in ("release", "learn"))


def test_a_name_means_one_thing():
    """No command has one of these flags for another thing, as its former names show."""
    commands = next(
        action.choices
        for action in _parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    for command, flag in itertools.product(commands, FORMER):
        takes = {*commands[command]._option_string_actions}
        has = flag in TAKES.get(command, []) or (command, flag) == (
            "calibrate",
            "--text",
        )
        assert (flag in takes, FORMER[flag] in takes) == (has, has)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"the {a} sat on the {b}" for a in ("cat", "dog") for b in ("mat", "bed")]
    for name, column in (("in.csv", "said"), ("public.csv", "text")):
        with open(name, "w", newline="") as file:
            rows = [(i, f"{text} {name[0] * 3}") for i, text in enumerate(texts * 4)]
            csv.writer(file).writerows([("id", column), *rows])
    (tmp_path / "one.csv").write_text("text\n" + "...\n" * 9)
    WordEmbedding(["cat", "dog", "mat", "bed"], np.eye(4)).save("words.txt")
    return tmp_path


RELEASE = ["release", "in.csv", "-o", "out", "--name", "q4"]
STAND_INS = [*RELEASE, "--column", "said", "--epsilon", "4", "--replace-by"]
WORDS = ["--embedding", "words.txt", "--epsilon", "1", "--length", "3"]
LEARN = ["learn", "in.csv", "-o", "m.npz", "--column", "said", "--replace-by"]
REPORT = ["report", "in.csv", "in.csv", "--column", "said"]
TO_NAME = "--public-text names the column of public.csv."
NO_PUBLIC = "must not be given without --public"
# what is given, by former names, and what an error says
SAYS = [
    ([*RELEASE, "--column", "gone", *WORDS], "--id, --text and --keep must name"),
    ([*RELEASE, *WORDS], "--text names the column with the texts; without it, that is"),
    ([*RELEASE, *WORDS, "--label-column", "x"], f"--public-label {NO_PUBLIC}"),
    ([*RELEASE, *WORDS[:4]], "--length must be given: the number of words that each"),
    ([*STAND_INS, "gone.csv"], "--public must name files that are there"),
    ([*STAND_INS, "public.csv"], TO_NAME),
    ([*STAND_INS, "public.csv", "--text-column", "x"], "--public-text must name"),
    ([*STAND_INS, "in.csv", "--label-column", "x"], "--text and --public-label mu"),
    ([*STAND_INS, "in.csv", "--groups", "2"], "--public must not be among the"),
    ([*STAND_INS, "one.csv", "--text-column", "text"], "--public must differ in"),
    (["shares", "gone", "--text-column", "x"], f"--public-text {NO_PUBLIC}"),
    ([*LEARN, "public.csv"], TO_NAME),
    ([*LEARN, "public.csv", "--text-column", "x"], "--public-text must name"),
    ([*LEARN, "in.csv", "--topic", "x"], "--label must name columns"),
    ([*LEARN, "in.csv"], "--label names the column with the labels; without it, that"),
    ([*REPORT, "--topic", "x"], "--label must name columns"),
    ([*REPORT, "--replace-by", "public.csv"], TO_NAME),
    ([*REPORT, "--text-column", "x"], f"--public-text {NO_PUBLIC}"),
    (["calibrate", *WORDS[:2], "--replace-by", "in.csv"], "--public-text must name"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), SAYS)
def test_errors_show_the_name_of_today(files, capsys, line, said):
    assert main(line) == 2
    error = capsys.readouterr().err
    assert said in error
    assert not any(f"{former} " in error for former in FORMER.values())
    assert not (files / "out").exists()


def test_shares_has_no_column_of_its_own_texts(files, capsys):
    assert (
        main([*STAND_INS, "public.csv", "--public-text", "text", "--groups", "2"]) == 0
    )
    capsys.readouterr()
    assert main(["shares", "out", "--public", "public.csv"]) == 2
    error = capsys.readouterr().err
    assert "--public-text must name columns" in error
    assert TO_NAME in error
