"""Guarantees of stand-ins: bounds against enumeration, and against attacks."""

from __future__ import annotations

import gzip
import json
import math
import pickle

import numpy as np
import pytest

from skdptext import DPDocumentReplacer
from skdptext.exceptions import InvalidParameterError


def of_groups(k, epsilon):
    texts = [f"w{i} w{i} w{i}" for i in range(k) for _ in range(2)]
    labels = np.repeat(np.arange(k), 2)
    return DPDocumentReplacer(
        texts, public_labels=labels, epsilon=epsilon, output="group"
    ).fit()


@pytest.fixture(scope="module")
def three():
    return of_groups(3, 1.5).guarantee()


def best_guess(k, epsilon, r):
    """Σ over sequences of r answers of the largest probability that a group gives."""
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    q = (1 - p) / (k - 1)
    answers = np.indices((k,) * r).reshape(r, -1)
    given = [np.where(answers == g, p, q).prod(axis=0) for g in range(k)]
    return np.max(given, axis=0).sum()


@pytest.mark.no_cover
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1.5, 6.0])
@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_the_bound_on_linkage_is_that_of_the_best_adversary(k, epsilon, r):
    guarantee = of_groups(k, epsilon).guarantee().compose(r)
    best = best_guess(k, epsilon, r)
    for n in (1, 2, 50, 1000):
        bound = guarantee.found_at_most(n)
        assert bound == pytest.approx(min(1, best / n), rel=1e-9)
        assert bound >= min(1, best / n) * (1 - 1e-13)


def test_the_bound_of_one_release_is_k_p_over_n():
    guarantee = of_groups(8, 4.0).guarantee()
    p = math.exp(4) / (math.exp(4) + 7)
    assert guarantee.found_at_most(100) == pytest.approx(8 * p / 100, rel=1e-9)
    assert guarantee.found_at_most(3) == 1.0
    assert guarantee.compose(10**6).found_at_most(100) == pytest.approx(0.08)


@pytest.mark.no_cover
@pytest.mark.parametrize("k", [3, 60])
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 20.0])
def test_more_releases_are_never_promised_to_tell_less(k, epsilon):
    # many of few groups: the sequences of one answer alone are few, and likely
    one = of_groups(k, epsilon).guarantee()
    bounds = [one.compose(r).found_at_most(2 * k) for r in range(1, 34)]
    assert (np.diff(bounds) >= -1e-12).all()
    assert bounds[-1] == pytest.approx(1 / 2, rel=1e-9)


def test_equal_releases_are_of_one_kind():
    guarantee = of_groups(4, 4.0).guarantee()
    both = guarantee.compose(of_groups(4, 4.0).guarantee()).compose(guarantee)
    assert [part.releases for part in both.parts] == [3]
    assert both.found_at_most(100) == guarantee.compose(3).found_at_most(100)
    assert both.epsilon_for(factor=math.e**3) == pytest.approx(1.0)
    weaker = both.compose(of_groups(4, 1.0).guarantee())
    assert [part.releases for part in weaker.parts] == [3, 1]
    assert weaker.found_at_most(100) >= both.found_at_most(100)


def test_composition_adds_up(three):
    other = of_groups(4, 1.0).guarantee()
    both = three.compose(2).compose(other)
    assert (both.epsilon, both.releases, both.n_groups) == (4.0, 3, None)
    assert both.exponent("w0 w0", "w1 w1") == 4.0
    assert both.exponent("w1 w1", "w1") == 0.0
    sums = best_guess(3, 1.5, 2) * best_guess(4, 1.0, 1)
    assert both.found_at_most(100) == pytest.approx(sums / 100)
    assert three.compose(2).epsilon == 3.0
    with pytest.raises(InvalidParameterError, match="other must be an integer"):
        three.compose("twice")


@pytest.mark.parametrize("r", [1, 3])
def test_exponents_with_delta_are_bounds_and_close(three, r):
    """Against δ(t) of all sequences of answers."""
    p = math.exp(1.5) / (math.exp(1.5) + 2)
    x, y = (
        np.array([p, (1 - p) / 2, (1 - p) / 2]),
        np.array([(1 - p) / 2, p, (1 - p) / 2]),
    )
    xs, ys = x, y
    for _ in range(r - 1):
        xs, ys = np.outer(xs, x).ravel(), np.outer(ys, y).ravel()
    for delta in (1e-6, 0.01, 0.2):
        t = three.compose(r).exponent("w0", "w1", delta=delta)
        assert np.maximum(xs - math.exp(t) * ys, 0).sum() <= delta * (1 + 1e-9)
        lower = t - 0.1
        assert np.maximum(xs - math.exp(lower) * ys, 0).sum() > delta * 0.99
        assert t <= 1.5 * r
    assert three.exponent("w0", "w0 w0", delta=0.5) == 0.0


def test_epsilon_for(three):
    assert three.epsilon_for("w0", "w1", factor=10.0) == pytest.approx(math.log(10))
    assert three.epsilon_for("w0", "w0 w0", factor=10.0) == math.inf
    assert three.compose(2).epsilon_for(factor=10.0) == pytest.approx(math.log(10) / 2)
    epsilon = three.epsilon_for(found=0.02, n_candidates=100)
    at = of_groups(3, epsilon).guarantee()
    assert at.found_at_most(100) == pytest.approx(0.02)
    assert three.epsilon_for(found=0.03) == math.inf
    assert three.epsilon_for(found=0.005) == 0.0  # a random guess finds .01
    for options, message in (
        ({}, "got neither"),
        ({"factor": 2.0, "found": 0.1}, "got both"),
        ({"factor": 1.0}, "factor must be"),
        ({"found": 0.0}, "found must be"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            three.epsilon_for(**options)
    both = three.compose(of_groups(4, 1.0).guarantee())
    assert both.epsilon_for(factor=2.0) == pytest.approx(math.log(2) / 2)


def test_it_says_what_is_and_what_is_not_protected(three):
    assert "nobody identifies more than 3 on average" in str(three)
    many = of_groups(12, 4.0).guarantee()
    assert "nobody identifies more than 10 on average" in str(many)
    assert "identified among 100 candidates" in three._repr_html_()
    rows = json.loads(json.dumps(three.rows()))
    assert [row["share"] for row in rows[:3]] == [
        three.found_at_most(n) for n in (10, 100, 1000)
    ]
    assert (rows[3]["exponent"], rows[3]["delta"]) == (1.5, 0.0)
    assert three.numerical_delta == 0.0
    assert pickle.loads(pickle.dumps(three)).exponent("w0", "w1") == 1.5
    composed = three.compose(of_groups(4, 1e3).guarantee())
    assert "·10⁴³⁴" in str(composed)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "10", None])
def test_bad_numbers_of_candidates(three, bad):
    with pytest.raises(InvalidParameterError, match="n_candidates must be an integer"):
        three.found_at_most(bad)


@pytest.mark.no_cover
def test_nobody_finds_more_fan_fiction_than_is_promised(data_file):
    """The best adversary, who knows all but the noise, over 40 candidate sets.

    False alarms: Hoeffding's bound at α = 1e-6 over 4,000 independent releases.
    """
    path = data_file("pan19_fanfiction_en.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    public = [row["text"][:150] for row in rows if row["split"] != rows[-1]["split"]]
    private = [row["text"][:150] for row in rows if row["split"] == rows[-1]["split"]]
    public = public[:500]
    known = set(public)
    private = [text for text in private if text not in known][:400]
    replacer = DPDocumentReplacer(public, n_groups=12, output="index").fit()
    rng = np.random.default_rng(0)
    for fitted in (replacer, clone_at(replacer, 1.0)):
        candidates = [rng.choice(len(private), 100, False) for _ in range(40)]
        released = fitted.transform([private[i] for i in np.concatenate(candidates)])
        of_all = fitted.log_likelihood(private, released).reshape(40, 100, -1)
        success = []
        for ids, likelihood in zip(candidates, of_all, strict=True):
            logs = likelihood[:, ids]
            best = logs == logs.max(axis=1, keepdims=True)
            success.append((np.diag(best) / best.sum(axis=1)).mean())
        slack = math.sqrt(math.log(1e6) / (2 * 4000))
        bound = fitted.guarantee().found_at_most(100)
        assert 0.3 * bound < np.mean(success) <= bound + slack


def clone_at(replacer, epsilon):
    return DPDocumentReplacer(
        replacer.public_documents, n_groups=12, output="index", epsilon=epsilon
    ).fit()
