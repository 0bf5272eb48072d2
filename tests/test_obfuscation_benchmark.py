"""The experiment on authors runs, resumes, and keeps what it found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from experiment import main
from experiments.obfuscation import corpora


def test_known_text_and_snippet_keep_their_look():
    text = '  "Well," she said.\n\nThen -- nothing;  the END.\n'
    assert corpora.ends(text, 4, 2) == ('"Well," she said.\n\nThen', "the END.")
    # nothing between them, and nothing in both
    assert corpora.ends("a b\n c", 2, 1) == ("a b", "c")


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Runs it; what it printed, and all that it recorded."""
    monkeypatch.setenv("SKDPTEXT_BENCH_RESULTS", str(tmp_path / "results"))

    def run(*options):
        assert main(["obfuscation", "--out", str(tmp_path), *options]) == 0
        recorded = (tmp_path / "results").glob("*.json")
        rows = {path.stem: json.loads(path.read_text("utf-8")) for path in recorded}
        return capfd.readouterr().out, rows

    return run


@pytest.fixture
def files(data_file):
    """All data that the experiment reads."""
    for name in (
        "pan19_fanfiction_en.jsonl.gz",
        "googlenews_8k_300d.npz",
    ):
        data_file(name)


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_quick_mode(run, tmp_path):
    first, tables = run("--quick")
    assert first.count(" s\n") == 2
    cells = {
        path.stem: json.loads(path.read_text("utf-8"))["result"]
        for path in (tmp_path / "cells").glob("*.json")
    }
    clean = cells["release-e0-18authors-s0"]
    noisy = cells["release-e30-18authors-s0"]
    assert clean["words_changed"] == 0
    assert 0.3 < noisy["words_changed"] < 0.5
    assert set(clean["marks"]) == set(noisy["marks"])
    assert {len(marks) for marks in clean["marks"].values()} == {18}
    assert clean["marks"]["linear topic"].count("1") >= 16
    assert noisy["marks"]["linear topic informed"].count("1") >= 14
    assert len(tables["obfuscation_quick"]["rows"]) == 2
    # A second run finds everything done.
    assert " s\n" not in run("--quick")[0].split("# ")[0]


def _runs(text, size=12):
    words = text.split()
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


def test_problems_are_as_the_page_says(data_file):
    data_file("pan19_fanfiction_en.jsonl.gz")
    problem = corpora.fan_fiction("40 authors", corpora.FANDOMS)
    assert (len(problem.known), len(problem.snippets)) == (40, 168)
    assert len(problem.training) == 464
    assert {len(text.split()) for text in problem.known} == {2000}
    assert {len(text.split()) for text in problem.snippets} == {1000}
    # no snippet stands in the known text of its author, in whole or in part
    known = dict(zip(problem.known_author, map(_runs, problem.known), strict=True))
    for author, text in zip(problem.author, problem.snippets, strict=True):
        assert len(_runs(text) & known[author]) < 10
    pair = corpora.fan_fiction("pair", corpora.PAIR).first_snippets("18 authors")
    assert len(pair.known) == len(pair.snippets) == 18
    assert np.unique(pair.topic, return_counts=True)[1].tolist() == [9, 9]
    assert sorted(pair.author) == sorted(pair.known_author)
    # its training texts are those of the 40 in its fandoms, in the same order
    mine = np.isin(problem.training_topic, corpora.PAIR)
    assert pair.training == [problem.training[i] for i in np.flatnonzero(mine)]
