"""The experiment on authors runs, resumes, and keeps what it found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from experiment import main
from experiments.obfuscation import corpora
from experiments.obfuscation.accuracy import AUTHOR, TOPIC
from experiments.obfuscation.attack import cell_of, load_problem
from experiments.obfuscation.grid import all_settings, as_marks
from experiments.store import Store


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


def test_every_setting_is_done_once_and_twice_or_more_by_seed():
    settings = all_settings()
    assert len(set(settings)) == len(settings) == len({s.name for s in settings})
    # what is trained for one of a group serves all of it
    for group in {setting.group for setting in settings}:
        mine = [setting for setting in settings if setting.group == group]
        trained = {(s.kind, s.epsilon) for s in mine}
        assert len(trained) == 1
    noisy = Counter(replace(setting, seed=0) for setting in settings if setting.epsilon)
    assert min(noisy.values()) >= 2
    assert {setting.seed for setting in settings if not setting.epsilon} == {0}


def invented(setting, rng):
    """Authors are found with no noise only, topics always."""
    n = len(load_problem(setting.problem).author)
    share = 0.6 * (setting.epsilon == 0)
    names = (*AUTHOR, "DRauth other fandoms")
    marks = {name: as_marks(rng.random(n) < share) for name in names}
    marks |= {name: as_marks(np.ones(n)) for name in TOPIC}
    more = {"unknown": 0.3, "length": 100}
    return {"marks": marks, "words_changed": 1 - setting.epsilon / 100, **more}


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_tables_and_figures_from_invented_marks(run, tmp_path):
    store, rng = Store(tmp_path / "cells"), np.random.default_rng(0)
    for setting in all_settings():
        store.put(cell_of(setting), invented(setting, rng), 1.0)
    _, tables = run("--report")
    # without noise first; none of 18 found is no certainty: Wilson's interval for 18
    first, second = tables["obfuscation_18_google"]["rows"][:2]
    assert float(first["SRauth"][:4]) > 0.3
    assert second["SRauth"] == "0.00 [0.00, 0.18]"
    assert second["DRtopic"] == "1.00 [0.82, 1.00]"
    # all 168 right is worth 36 independent texts, if those of an author are alike
    assert tables["obfuscation_40_google"]["rows"][3]["DRtopic"] == "1.00 [0.90, 1.00]"
    ours = tables["obfuscation_claims"]["rows"][1]
    assert ours["ε"] == "none → 40"
    assert "SRauth" not in ours["better than chance"]
    assert "DRtopic informed" in ours["better than chance"]


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
