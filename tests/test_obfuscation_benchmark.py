"""The experiment on authors runs, resumes, and keeps what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "obfuscation"


def run(*options, folder, results):
    command = [sys.executable, str(FOLDER / "run.py"), "--quick", *options]
    command += ["--cache", str(folder), "--figures", str(folder)]
    environment = os.environ | {"SKDPTEXT_BENCH_RESULTS": str(results)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_quick_mode(data_file, tmp_path):
    for name in (
        "pan19_fanfiction_en.jsonl.gz",
        "googlenews_8k_300d.npz",
        "w2v_news_fiction_30k_300d.npz",
    ):
        data_file(name)
    cells, results = tmp_path / "cells", tmp_path / "results"
    first = run("--part", "1/1", folder=cells, results=results)
    assert first.count(" s\n") == 3
    found = {p.stem: json.loads(p.read_text("utf-8")) for p in cells.glob("*.json")}
    clean = next(
        r
        for name, r in found.items()
        if name.startswith("release-18authors-googlenews-e0")
    )
    noisy = next(
        r
        for name, r in found.items()
        if name.startswith("release-18authors-googlenews-e30-l0-")
    )
    assert clean["words_changed"] == 0
    assert 0.3 < noisy["words_changed"] < 0.5
    assert set(clean["marks"]) == set(noisy["marks"])
    assert {len(marks) for marks in clean["marks"].values()} == {18}
    assert clean["marks"]["linear topic"].count("1") >= 16
    # A second run finds everything done, and makes the table.
    again = run("--no-docstrings", folder=cells, results=results)
    assert "release-18authors" not in again
    table = json.loads((results / "obfuscation_quick.json").read_text("utf-8"))
    assert len(table["rows"]) == 3


def _runs(text, size=12):
    words = text.split()
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


@pytest.fixture
def corpora(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    import corpora

    yield corpora
    sys.modules.pop("corpora", None)


def test_problems_are_as_the_page_says(corpora, data_file):
    path = data_file("pan19_fanfiction_en.jsonl.gz")
    problem = corpora.fan_fiction(path, "40 authors", corpora.FANDOMS)
    assert (len(problem.known), len(problem.snippets)) == (40, 168)
    assert len(problem.training) == 464
    assert {len(text.split()) for text in problem.known} == {2000}
    assert {len(text.split()) for text in problem.snippets} == {1000}
    # no snippet stands in the known text of its author, in whole or in part
    known = dict(zip(problem.known_author, map(_runs, problem.known), strict=True))
    for author, text in zip(problem.author, problem.snippets, strict=True):
        assert len(_runs(text) & known[author]) < 10
    pair = corpora.fan_fiction(path, "pair", corpora.PAIR).first_snippets("18 authors")
    assert len(pair.known) == len(pair.snippets) == 18
    assert np.unique(pair.topic, return_counts=True)[1].tolist() == [9, 9]
    assert sorted(pair.author) == sorted(pair.known_author)
