"""Errors name the flag that helps."""

import csv

import numpy as np
import pytest

from skdptext.cli import main
from skdptext.embeddings import WordEmbedding


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
STAND_INS = [*RELEASE, "--text", "said", "--epsilon", "4", "--public"]
WORDS = ["--embedding", "words.txt", "--epsilon", "1", "--length", "3"]
LEARN = ["learn", "in.csv", "-o", "corpus.csv", "--text", "said", "--public"]
REPORT = ["report", "in.csv", "in.csv", "--text", "said"]
TO_NAME = "--public-text names the column of public.csv."
NO_PUBLIC = "must not be given without --public"
# what is given, and what an error says
SAYS = [
    ([*RELEASE, "--text", "gone", *WORDS], "--id, --text and --keep must name"),
    ([*RELEASE, *WORDS], "--text names the column with the texts; without it, that is"),
    ([*RELEASE, *WORDS, "--public-label", "x"], f"--public-label {NO_PUBLIC}"),
    ([*RELEASE, *WORDS[:4]], "--length must be given: the number of words that each"),
    ([*STAND_INS, "gone.csv"], "--public must name files that are there"),
    ([*STAND_INS, "public.csv"], TO_NAME),
    ([*STAND_INS, "public.csv", "--public-text", "x"], "--public-text must name"),
    ([*STAND_INS, "in.csv", "--public-label", "x"], "--text and --public-label mu"),
    ([*STAND_INS, "in.csv", "--groups", "2"], "--public must not be among the"),
    ([*STAND_INS, "one.csv", "--public-text", "text"], "--public must differ in"),
    ([*LEARN, "public.csv"], TO_NAME),
    ([*LEARN, "public.csv", "--public-text", "x"], "--public-text must name"),
    ([*LEARN, "in.csv", "--label", "x"], "--label must name columns"),
    ([*LEARN, "in.csv"], "--label names the column with the labels; without it, that"),
    ([*REPORT, "--label", "x"], "--label must name columns"),
    ([*REPORT, "--public", "public.csv"], TO_NAME),
    ([*REPORT, "--public-text", "x"], f"--public-text {NO_PUBLIC}"),
    (["calibrate", *WORDS[:2], "--public", "in.csv"], "--public-text must name"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), SAYS)
def test_errors_show_the_flag(files, capsys, line, said):
    assert main(line) == 2
    error = capsys.readouterr().err
    assert said in error
    assert not (files / "out").exists()
