"""Guarantees in sentences: each says what holds, and the numbers are right."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import LossDistribution
from skdptext.utils import rounded_up
from tests.channels import guaranteed


def one_line(guarantee):
    return " ".join(guarantee.details().split())


def seen(guarantee):
    """What a notebook shows, without the tags."""
    view = re.sub(r"<style>.*?</style>", "", guarantee._repr_html_(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", view))


@pytest.mark.parametrize("say", [one_line, seen])
def test_what_is_not_protected_is_said_where_it_is_so(small_embedding, say):
    """Unknown words that are kept, lengths that are not fixed, releases beyond one."""

    def words(**params):
        return say(guaranteed(4.0, 0.5, small_embedding, **params))

    plain, fixed = words(), words(n_words=20)
    lengths = "documents of different length are not protected"
    assert (lengths in plain, lengths in fixed) == (True, False)
    clear = "released in the clear"
    assert (clear in words(unknown_kept=True), clear in plain) == (True, False)
    assert "More than 3 releases" in words(releases=3)
    both = guaranteed(2.0, 0.0, small_embedding, n_words=3, releases=2)
    both = say(both.compose(guaranteed(5.0, 0.7, small_embedding, unknown_kept=True)))
    assert all(part in both for part in (lengths, clear, "More than 3 releases"))


@pytest.mark.parametrize("say", [one_line, seen])
def test_what_promises_nothing_is_called_so(say):
    """As large exponents are, or some, or none; those with δ, where they are lower."""
    large, all_large = "Exponents above some 20 promise nothing", "and all of these are"
    table = WordEmbedding(["a", "b"], [[0], [1]])
    for exponent, n_words, said in (
        (19, 1, (False, False)), (50, 1, (True, True)), (5, 50, (True, False))
    ):  # fmt: skip
        text = say(guaranteed(exponent, 0.0, table, n_words=n_words))
        assert (large in text, all_large in text) == said


def distances(embedding, lam):
    """Of all pairs of words, by a linear solve; infinite from a word to itself."""
    covariance = np.cov(embedding.vectors.T.astype(float))
    covariance *= embedding.dim / np.trace(covariance)
    M = lam * covariance + (1 - lam) * np.eye(embedding.dim)
    gaps = embedding.vectors[:, None].astype(float) - embedding.vectors
    apart = np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps @ np.linalg.inv(M)))
    np.fill_diagonal(apart, np.inf)
    return apart


def brute_scale(embedding, lam):
    """Median distances, to the nearest word and over all pairs."""
    apart = distances(embedding, lam)
    return np.median(apart.min(axis=1)), np.median(apart[np.isfinite(apart)])


@pytest.mark.parametrize("lam", [0, 0.6])
def test_human_scale(small_embedding, lam):
    nearest, random = brute_scale(small_embedding, lam)
    guarantee = guaranteed(3.0, lam, small_embedding, n_words=5, releases=2)
    near, far, *_ = guarantee.scale()
    assert near["exponent"] == pytest.approx(6 * nearest, rel=1e-6)
    assert far["exponent"] == pytest.approx(6 * random, rel=0.1)  # 200 of the pairs
    text = one_line(guarantee)
    assert (
        f"nearest neighbour the exponent is {rounded_up(near['exponent'], 3)}" in text
    )
    shown = seen(guarantee)
    for row in (near, guarantee.scale()[2]):
        assert f"exponent {rounded_up(row['exponent'], 3)}" in shown
    assert "all 5 words become neighbours" in shown


def with_delta(apart, dim, times):
    """The exponent with δ = 1e-6 of words so far apart at ε = 3, so many times."""
    loss = LossDistribution.of_noise(3 * apart, dim).times(times)
    return min(times * 3 * apart, loss.exponent(1e-6))


@pytest.mark.parametrize("n_words", [None, 1, 5])
def test_exponents_with_delta_stand_beside_the_pure_ones(small_embedding, n_words):
    guarantee = guaranteed(3.0, 0.4, small_embedding, n_words=n_words, releases=2)
    nearest = np.sort(distances(small_embedding, 0.4).min(axis=1))
    text, shown = one_line(guarantee), seen(guarantee)
    rows = guarantee.scale()
    assert rows[0]["exponent"] == pytest.approx(6 * np.median(nearest), rel=1e-6)
    # of the pair at the median, which is the upper of the middle two
    near, far = (row["exponent_with_delta"] for row in rows[:2])
    assert near == pytest.approx(with_delta(nearest[100], 8, 2), rel=1e-6)
    assert far == pytest.approx(with_delta(rows[1]["exponent"] / 6, 8, 2), rel=0.02)
    assert {row["delta"] for row in rows} == {1e-6}
    assert len(rows) == (2 if n_words == 1 else 4)
    text_of_both = f"With δ = 1e-6 these exponents are {rounded_up(near, 3)} and "
    text_of_both += f"{rounded_up(far, 3)}."
    assert text_of_both in text
    assert "δ = 1e-6 is the probability with which the bound may fail" in text
    assert f"({rounded_up(near, 3)})" in shown
    if n_words == 1:
        assert "words of a document become" not in text
        return
    n = n_words or 10
    near, far = (row["exponent_with_delta"] for row in rows[2:])
    assert near == pytest.approx(with_delta(nearest[100], 8, 2 * n), rel=1e-6)
    pure = 6 * n * np.median(nearest)
    assert rows[2]["exponent"] == pytest.approx(pure, rel=1e-6)
    assert (
        f"If all {n} words of a document become their neighbours, {rounded_up(near, 3)}"
        in text
    )
    assert f"{rounded_up(near, 3)} instead of {rounded_up(pure, 3)}; if" in text
    assert f"they become random words, {rounded_up(far, 3)}" in text
    assert f"documents, all {n} words become random words" in shown


def test_exponents_with_delta_of_words_that_are_all_as_far():
    table = WordEmbedding(list("abcde"), np.eye(5))
    (apart,) = {round(gap, 12) for gap in distances(table, 0.4).min(axis=1)}
    rows = guaranteed(3.0, 0.4, table, n_words=4, releases=2).scale()
    for row, times in zip(rows, (2, 2, 8, 8), strict=True):
        assert row["exponent"] == pytest.approx(3 * times * apart)
        assert row["exponent_with_delta"] == pytest.approx(with_delta(apart, 5, times))


def test_the_scale_of_several_kinds_of_release_is_refused(small_embedding):
    both = guaranteed(3.0, 0.4, small_embedding)
    both = both.compose(guaranteed(2.0, 0.4, small_embedding))
    with pytest.raises(InvalidParameterError, match=r"scale needs .* got 2 parts"):
        both.scale()


def of_exponent(exponent):
    """What is said of two words with this exponent between them."""
    return one_line(guaranteed(exponent, 0.0, WordEmbedding(["a", "b"], [[0], [1]])))


def test_human_scale_of_drawn_words(small_embedding):
    """One word that changes may change all the draws."""
    params = {"n_words": 5, "releases": 2, "resampled": True}
    guarantee = guaranteed(3.0, 0, small_embedding, **params)
    nearest, random = brute_scale(small_embedding, 0)
    near, far = (row["exponent"] for row in guarantee.scale())
    assert near == pytest.approx(30 * nearest, rel=1e-6)
    assert far == pytest.approx(30 * random, rel=0.1)
    said = one_line(guarantee)
    assert f"nearest neighbour the exponent is at most {rounded_up(near, 3)}" in said
    assert "or by less where only some of the words differ" in said
    shown = seen(guarantee)
    for number in (near, far):
        assert f"exponent {rounded_up(number, 3)}" in shown
    assert "a word becomes its neighbour" in shown
    assert "a word and its nearest" not in shown


def test_human_scale_of_a_table_with_a_far_mean():
    """float32 would find no neighbours so far from the origin."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(100, 3)) + 1000
    table = WordEmbedding([f"w{i}" for i in range(100)], vectors)
    near, *_ = guaranteed(1.0, 0.3, table).scale()
    assert near["exponent"] == pytest.approx(brute_scale(table, 0.3)[0], rel=1e-4)


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0, 0.5])
def test_human_scale_of_a_large_table_is_that_of_its_first_words(lam):
    """The nearest of the first 50,000 are 1 apart; the others would come between."""
    places = np.arange(50_000.0)
    places = np.concatenate([places, places + 0.25])
    table = WordEmbedding([f"w{i}" for i in range(100_000)], places[:, None])
    near, *_ = guaranteed(1.0, lam, table).scale()
    assert near["exponent"] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("exponent", "shown"),
    [
        (1e-9, "1.01"),
        (1.0, "2.72"),
        (math.log(999), "999"),
        (math.log(1.26e4), "1.3·10⁴"),
        (math.log(9.99e5), "1.0·10⁶"),
        (5000.0, "3.0·10²¹⁷¹"),  # beyond any float
    ],
)
def test_odds(exponent, shown):
    assert f"(odds change by a factor of {shown} at most)" in of_exponent(exponent)
