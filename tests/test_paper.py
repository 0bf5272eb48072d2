"""`make paper`: its tests of significance, its kept cells, and a quick run."""

from __future__ import annotations

import csv
import itertools
import time

import numpy as np
import pytest
from experiment import main
from experiments.paper import published, significance
from experiments.store import Cell, Store
from matplotlib.figure import Figure
from scipy import stats

# -- what is significant ------------------------------------------------------------


@pytest.mark.parametrize(("paper", "statistic"), published.TABLES)
def test_the_papers_rule_finds_the_papers_claim(paper, statistic):
    table = np.array(published.TABLES[paper, statistic])
    direction = -1 if statistic == "n_unchanged" else 1
    for epsilon in published.CLAIMED:
        column = table[:, published.EPSILONS.index(epsilon)]
        assert significance.disjoint_intervals(
            tuple(column[0]),
            (column[1:, 0], column[1:, 1]),
            published.N_DRAWS,
            direction=direction,
        ).all()
    # and refuses the wrong direction
    assert not significance.disjoint_intervals(
        tuple(column[0]), tuple(column[-1]), published.N_DRAWS, direction=-direction
    )


def simulate(rng, n_experiments, effect):
    """Means over words that all share the noise of their repetition, under two λ."""
    shared = rng.normal(size=(10, n_experiments))
    own = 0.1 * rng.normal(size=(2, 10, n_experiments))
    return shared + own[0], shared + own[1] + effect


def test_paired_test_keeps_its_level():
    """Binomial count of false alarms, at alpha = 1e-6."""
    base, other = simulate(np.random.default_rng(0), 20_000, 0.0)
    alarms = (significance.paired_p(base, other, direction=1) < 0.05).sum()
    assert stats.binomtest(int(alarms), 20_000, 0.05).pvalue > 1e-6


def test_paired_test_sees_an_effect_that_shared_noise_would_hide():
    base, other = simulate(np.random.default_rng(1), 500, 0.3)
    assert (significance.paired_p(base, other, direction=1) < 0.01).mean() > 0.9
    assert (significance.paired_p(base, other, direction=-1) > 0.99).mean() > 0.9
    # as it would be without the pairing
    shuffled = np.roll(other, 1, axis=0)
    assert (significance.paired_p(base, shuffled, direction=1) < 0.01).mean() < 0.2


def test_holm():
    adjusted = significance.holm([[0.01, 0.04], [0.03, 0.005]])
    np.testing.assert_allclose(adjusted, [[0.03, 0.06], [0.06, 0.02]])
    assert significance.holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_resampled_interval_widens_the_plain_one():
    values = [0.8, 0.9, 0.7, 0.85]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    mean, width = significance.resampled_interval(values, test_over_train=0)
    np.testing.assert_allclose([mean - width, mean + width], [low, high])
    _, wide = significance.resampled_interval(values, test_over_train=3 / 7)
    np.testing.assert_allclose(wide / width, np.sqrt(1 + 4 * 3 / 7))
    with pytest.raises(ValueError, match="at least 2 repeats"):
        significance.resampled_interval([0.5], test_over_train=0)


# -- cells --------------------------------------------------------------------------


def test_cells_are_kept_until_their_settings_change(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "process_time", itertools.count().__next__)
    calls = []

    def cell(name, **settings):
        return Cell(name, settings, lambda: calls.append(name) or len(calls))

    store = Store(tmp_path)
    assert [store.get(cell(name, x=(1, 2))) for name in "aba"] == [1, 2, 1]
    assert Store(tmp_path).get(cell("b", x=[1, 2])) == 2
    assert store.seconds(cell("b", x=[1, 2])) == 1
    assert store.seconds(cell("c")) == 0
    assert store.get(cell("a", x=(1, 3))) == 3
    assert calls == ["a", "b", "a"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]


# -- a run --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("built_in")
def test_a_quick_run_sets_the_papers_numbers_beside_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: path.touch())
    monkeypatch.setattr("experiments.paper.figures._shrink", lambda path: None)
    monkeypatch.setenv("SKDPTEXT_BENCH_RESULTS", str(tmp_path / "recorded"))
    options = ["paper", "--quick", "--out", str(tmp_path)]
    assert main(options) == 0
    assert not (tmp_path / "recorded").exists()

    def read(name):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    rows = read("table1.csv")
    assert [row["λ"] for row in rows] == ["0", "0.5", "1"] * 2
    assert rows[0]["ε = 10"] == "68.93 ± 17.97"
    assert 0 < float(rows[3]["ε = 10"].split(" ± ")[0]) < 20  # draws
    rows = read("utility_docstrings_docstrings.csv")
    share = [float(row["tokens unchanged, %"]) for row in rows]
    assert max(share[:3]) < min(share[3:])
    accuracy = [float(row["accuracy"].split(" ± ")[0]) for row in rows]
    # at ε = 5 all are named as the larger class is
    assert max(accuracy[:3]) + 0.05 < min(accuracy[3:])
    # a second run computes nothing
    cells = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()}
    assert main([*options, "--report"]) == 0
    assert cells == {path: path.stat().st_mtime_ns for path in cells}


@pytest.mark.parametrize("option", [["--minutes", "-1"], ["--report"]])
def test_a_report_waits_for_its_cells(tmp_path, capsys, option):
    assert main(["paper", "--quick", "--out", str(tmp_path), *option]) == 3
    assert "the same command goes on" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
