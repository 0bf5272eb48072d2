"""The Pareto front, against its definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from skdptext.model_selection import pareto_front
from tests.expected import refusals

values = st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan"), float("inf")])


def dominates(a, b, directions):
    gains = [
        (x - y if x != y else 0.0) * (1 if direction == "max" else -1)
        for x, y, direction in zip(a, b, directions, strict=True)
    ]
    return all(gain >= 0 for gain in gains) and any(gain > 0 for gain in gains)


@given(data=st.data(), n_scores=st.integers(1, 3))
def test_against_the_definition(data, n_scores):
    row = st.tuples(*[values] * n_scores)
    table = data.draw(st.lists(row, min_size=1, max_size=9))
    directions = data.draw(
        st.lists(st.sampled_from(["max", "min"]), min_size=n_scores, max_size=n_scores)
    )
    front = pareto_front(table, directions=directions)
    whole = [row for row in table if not np.isnan(row).any()]
    expected = [
        not np.isnan(row).any()
        and not any(dominates(other, row, directions) for other in whole)
        for row in table
    ]
    assert front.tolist() == expected
    named = {f"s{i}": [row[i] for row in table] for i in range(n_scores)}
    by_name = {f"s{i}": d for i, d in enumerate(directions) if d == "min"}
    assert pareto_front(named, directions=by_name).tolist() == expected


def test_order_of_candidates_does_not_matter_and_the_input_is_kept():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 6, (60, 3)).astype(float)
    before = table.copy()
    order = rng.permutation(60)
    front = pareto_front(table, directions=("max", "min", "max"))
    shuffled = pareto_front(table[order], directions=("max", "min", "max"))
    np.testing.assert_array_equal(front[order], shuffled)
    np.testing.assert_array_equal(table, before)
    np.testing.assert_array_equal(
        pareto_front(pd.DataFrame(table)), pareto_front(table)
    )


def test_of_many_only_the_front_is_compared_with_all():
    """Each with each would be 20 seconds."""
    table = np.random.default_rng(0).normal(size=(20_000, 2))
    order = np.argsort(-table[:, 0])
    best = np.maximum.accumulate(table[order, 1])
    expected = np.zeros(len(table), dtype=bool)
    expected[order] = np.r_[True, best[1:] > best[:-1]]
    np.testing.assert_array_equal(pareto_front(table), expected)


@refusals(
    ([1.0, 2.0], None, r"shape \(n_candidates, n_scores\)"),
    (np.empty((3, 0)), None, "at least one score"),
    ([["a", "b"]], None, "scores must be numbers"),
    (pd.DataFrame({"a": ["x"], "b": [1]}), None, "scores must be numbers"),
    (
        {"a": [1.0], "b": ["x"]},
        None,
        r"scores\['b'\] must be numbers.*got a list that holds",
    ),
    ({"a": [1.0], "b": [1j]}, None, r"scores\['b'\] must be numbers"),
    ({"a": [1.0], "b": [1.0, 2.0]}, None, "one value per candidate"),
    ([[1.0, 2.0]], "max", 'sequence or mapping of "max" and "min", got \'max\''),
    ([[1.0, 2.0]], ["max"], r"one entry per score \(2\), got 1"),
    ([[1.0, 2.0]], ["max", "up"], r'directions\[1\] must be "max" or "min"'),
    ({"a": [1.0]}, {"b": "min"}, r"must name scores \(\['a'\]\), got 'b'"),
)
def test_bad_parameters(scores, directions):
    pareto_front(scores, directions=directions)
