"""``skdptext report`` with a background and with a control."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from skdptext.cli import main

N = 24
WORDS = np.array([f"w{i}" for i in range(500)])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Texts of people, other texts of theirs, and texts of others."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    own = rng.choice(WORDS, (N, 6))

    def write(name, texts, who):
        with open(name, "w", newline="") as file:
            csv.writer(file).writerows([["said", "who"], *zip(texts, who, strict=True)])

    def drawn():
        return [" ".join([*row, *rng.choice(WORDS, 6)]) for row in own]

    texts, names = drawn(), [f"person {i}" for i in range(N)]
    write("used.csv", texts, names)
    write("redacted.csv", [" ".join(text.split()[:8]) for text in texts], names)
    write("profiles.csv", drawn(), names)
    others = [" ".join(rng.choice(WORDS, 12)) for _ in range(N)]
    write("others.csv", others, [f"nobody {i}" for i in range(N)])
    write("synthetic.csv", texts[:20], [""] * 20)
    return tmp_path


def test_whose_text_is_it(files, capsys):
    report = ["report", "redacted.csv", "--background", "profiles.csv"]
    columns = ["--text", "said", "--author", "who"]
    assert main([*report, *columns, "--html", "page.html"]) == 0
    shown = capsys.readouterr().out
    assert "THE PERSON IS IDENTIFIED FOR" in shown
    assert (files / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert main([*report, *columns, "--fail-above", "person=0.1"]) == 3
    capsys.readouterr()
    both = ["report", "used.csv", *report[1:], *columns]
    assert main([*both, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert {"linkage", "person"} <= set(scores)


def test_which_texts_were_used(files, capsys):
    report = ["report", "used.csv", "synthetic.csv", "--control", "others.csv"]
    assert main([*report, "--text", "said", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scores"]["training texts copied"]["value"] == 20 / N
    assert "SHOW WHAT WAS USED" in found["verdict"]
    assert found["epsilon"] > 0


def test_a_corpus_stands_beside_its_guarantee(files, capsys):
    learn = ["learn", "used.csv", "--text", "said", "--label", "who"]
    learn += ["-o", "corpus.csv", "--public", "others.csv", "--classes"]
    assert main([*learn, *(f"person {i}" for i in range(N)), "--quiet"]) == 0
    report = ["report", "used.csv", "corpus.csv", "--control", "profiles.csv"]
    report += ["--text", "said", "--guarantee"]
    assert main([*report, "corpus.json"]) == 0
    assert "Proved: ε is at most 1." in capsys.readouterr().out
    assert main([*report, "used.csv"]) == 2
    said = capsys.readouterr().err
    assert "--guarantee must be a folder of a release, or the .json file of" in said


REFUSED = [
    (
        ["redacted.csv", "--background", "profiles.csv", "--author", "who",
         "--guarantee", "corpus.json"],
        "--guarantee must not be given without originals",
    ),
    (["redacted.csv", "--background", "profiles.csv"], "--background needs --author"),
    (["used.csv", "--control", "others.csv"], "--control needs two sources"),
    (
        ["used.csv", "synthetic.csv", "--control", "others.csv", "--id", "who"],
        "--id must not be given with --control",
    ),
    (
        ["redacted.csv", "--background", "profiles.csv", "--author", "gone"],
        "--author must name columns",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_flags_that_do_not_go_together_are_refused(files, capsys, arguments, message):
    assert main(["report", *arguments, "--text", "said"]) == 2
    assert message in capsys.readouterr().err
