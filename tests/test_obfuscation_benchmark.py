"""The experiment on authors runs, resumes, and keeps what it found."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "obfuscation"


def run(*options, folder, results):
    command = [sys.executable, str(FOLDER / "run.py"), *options]
    command += ["--cache", str(folder), "--figures", str(folder)]
    environment = os.environ | {"SKDPTEXT_BENCH_RESULTS": str(results)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def files(data_file):
    """All data that the experiment reads."""
    for name in (
        "pan19_fanfiction_en.jsonl.gz",
        "googlenews_8k_300d.npz",
        "w2v_news_fiction_30k_300d.npz",
    ):
        data_file(name)


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_quick_mode(tmp_path):
    cells, results = tmp_path / "cells", tmp_path / "results"
    first = run("--quick", "--part", "1/1", folder=cells, results=results)
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
    assert noisy["marks"]["linear topic informed"].count("1") >= 14
    # A second run finds everything done, and makes the table.
    again = run("--quick", "--no-docstrings", folder=cells, results=results)
    assert "release-18authors" not in again
    table = json.loads((results / "obfuscation_quick.json").read_text("utf-8"))
    assert len(table["rows"]) == 3


def _runs(text, size=12):
    words = text.split()
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


@pytest.fixture
def load(monkeypatch):
    """Imports modules of the experiment, and leaves no trace of them."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(FOLDER.parent))
    mine = {path.stem for path in [*FOLDER.glob("*.py"), *FOLDER.parent.glob("*.py")]}
    yield importlib.import_module
    for name in mine & set(sys.modules):
        del sys.modules[name]


@pytest.fixture
def corpora(load):
    return load("corpora")


def test_every_cell_is_done_once_and_twice_or_more_by_seed(load):
    grid = load("grid")
    cells = grid.all_cells()
    assert len(set(cells)) == len(cells) == len({cell.name for cell in cells})
    parts = [grid.part_of(cells, part, 3) for part in (1, 2, 3)]
    assert sorted(map(repr, itertools.chain(*parts))) == sorted(map(repr, cells))
    # what is trained for one cell of a group is trained once
    groups = [{cell.group for cell in part} for part in parts]
    assert not (groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2])
    for part in parts:
        order = [cell.group for cell in part]
        changes = sum(a != b for a, b in itertools.pairwise(order))
        assert changes == len(set(order)) - 1
    noisy = Counter(replace(cell, seed=0) for cell in cells if cell.epsilon)
    assert min(noisy.values()) >= 2
    assert {cell.seed for cell in cells if not cell.epsilon} == {0}


INVENTED = """
import sys
from pathlib import Path
sys.path[:0] = [{folder!r}, {parent!r}]
import numpy as np
from accuracy import AUTHOR, TOPIC
from attack import load_problem
from grid import Store, all_cells, as_marks
rng, store = np.random.default_rng(0), Store(Path({cells!r}))
for cell in all_cells():
    n = len(load_problem(cell.problem).author)
    result = {{"seconds": 1.0}}
    if cell.kind == "words":
        keys = "naive top1 top10 entropy_bits blind_top1 blind_top10 prior_entropy_bits"
        result |= dict.fromkeys(keys.split(), 0.25 + cell.seed / 100)
        result["n_words"] = 2000
    else:
        # authors are found with no noise only, topics always
        names = (*AUTHOR, "DRauth other fandoms")
        found = 0.6 * (cell.epsilon == 0)
        marks = {{name: as_marks(rng.random(n) < found) for name in names}}
        result["marks"] = marks | {{name: as_marks(np.ones(n)) for name in TOPIC}}
        result |= {{"unknown": 0.3, "length": 100, "nearest": [1, 2, 3]}}
        result["words_changed"] = 1 - cell.epsilon / 100
    store.save(cell, result)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_tables_and_figures_from_invented_marks(tmp_path):
    cells, results = tmp_path / "cells", tmp_path / "results"
    places = {"folder": str(FOLDER), "parent": str(FOLDER.parent), "cells": str(cells)}
    subprocess.run([sys.executable, "-c", INVENTED.format(**places)], check=True)
    run("--tables", "--no-docstrings", folder=cells, results=results)
    found = {p.stem: json.loads(p.read_text("utf-8")) for p in results.glob("*.json")}
    assert {f.name for f in cells.glob("*.png")} == {
        "adversaries.png",
        "trade.png",
        "words.png",
    }
    # without noise first; none of 18 found is no certainty: Wilson's interval for 18
    first, second = found["obfuscation_18_google"]["rows"][:2]
    assert float(first["SRauth"][:4]) > 0.3
    assert second["SRauth"] == "0.00 [0.00, 0.18]"
    assert second["DRtopic"] == "1.00 [0.82, 1.00]"
    # all 168 right is worth 36 independent texts, if those of an author are alike
    assert found["obfuscation_40_w2v"]["rows"][3]["DRtopic"] == "1.00 [0.90, 1.00]"
    ours = found["obfuscation_claims"]["rows"][1]
    assert ours["ε"] == "none → 40"
    assert "SRauth" not in ours["better than chance"]
    assert "DRtopic informed" in ours["better than chance"]
    assert {row["bits left"] for row in found["obfuscation_words"]["rows"]} == {0.255}
    assert "differ by at most 0.010" in found["obfuscation_words"]["note"]
    # topics never fall to a level
    for row in found["obfuscation_lambda"]["rows"]:
        assert row["λ = 0"] is row["λ = 1 less λ = 0"] is None


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
    # its training texts are those of the 40 in its fandoms, in the same order
    mine = np.isin(problem.training_topic, corpora.PAIR)
    assert pair.training == [problem.training[i] for i in np.flatnonzero(mine)]
