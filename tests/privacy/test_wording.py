"""Guarantees in sentences: each says what holds, and the numbers are right."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import LossDistribution, RandomizedResponse
from skdptext.utils import rounded_up
from tests.channels import guaranteed


def one_line(guarantee):
    return " ".join(guarantee.details().split())


def seen(guarantee):
    """What a notebook shows, without the tags."""
    view = re.sub(r"<style>.*?</style>", "", guarantee._repr_html_(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", view))


def test_repr_begins_with_the_parameters(small_embedding):
    plain = guaranteed(4.0, 0.0, small_embedding)
    assert repr(plain).splitlines()[0] == (
        "PrivacyGuarantee(epsilon=4, lam=0, n_words=None, metric='euclidean')"
    )
    assert repr(plain.compose(3)).splitlines()[0].endswith("releases=3)")
    assert repr(plain).splitlines()[1:] == str(plain).splitlines()
    assert 80 < max(map(len, repr(plain).splitlines())) <= 88


@pytest.mark.parametrize("say", [one_line, seen])
def test_each_kind_says_what_it_promises(small_embedding, say):
    def words(lam=0.5, convert=None, **params):
        guarantee = guaranteed(4.0, lam, small_embedding, **params)
        return say(guarantee if convert is None else guarantee.relative_to(convert))

    plain = words(0.0)
    for part in (
        "anyone who sees the release",  # to whom
        "Euclidean distance ‖φ(w) − φ(w')‖₂",  # relative to which metric
        "exp(4·d(w, w'))",  # what
        "exp(4·n·D)",
        "of the same number of words n change by",
        "Not promised:",
        "documents of different length are not protected",
        "Unknown words: those not in the embedding are left out",
        "its covariance, ε or λ was learned",
        "equal documents come out equal, unless each has its own id",
        "More releases of the same document",
        "Time: how long a release takes",
    ):
        assert part in plain
    assert "‖·‖_RM" not in plain
    fixed = words(n_words=20)
    assert "exp(4·20·D)" in fixed
    assert "Earth Mover's Distance" in fixed
    assert "with λ = 0.5" in fixed
    assert "every document has 20 words" in fixed
    assert "not protected from being told apart" not in fixed
    assert "in order" in words(n_words=20, ordered=True)
    drawn = words(n_words=20, resampled=True)
    assert "bottleneck distance W_∞" in drawn
    assert "20 times its own exponent" in drawn
    assert "odds that a released word was w before the noise, and not" in drawn
    assert "odds that a word was w, and not another word w', change" in fixed
    assert "released in the clear" in words(unknown_kept=True)
    assert "released in the clear" not in plain
    several = words(releases=3)
    assert "all 3 releases of a document" in several
    assert "exp(3·4·d(w, w'))" in several
    assert "More than 3 releases" in several
    converted = words(convert=0)
    assert "the noise has ε = 4 and λ = 0.5" in converted
    assert "Euclidean distance" in converted
    assert "converted" not in fixed


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


def test_exponents_that_delta_does_not_lower_are_not_repeated(small_embedding):
    """Of a word it is the same to three digits; of ten words it is not."""
    perturber = DPWordPerturber(
        small_embedding,
        epsilon=2.0,
        mechanism=RandomizedResponse(),
        document_length=10,
        resize="truncate",
    ).fit([])
    text = one_line(perturber.guarantee())
    assert "these exponents are" not in text
    assert "With δ = 1e-6, if all 10 words of a document become their" in text
    assert " instead of 20" in text
    assert "δ = 1e-6 is the probability with which the bound may fail" in text


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


def test_large_exponents_are_written_out():
    assert "nearest neighbour the exponent is 1,235 (odds" in of_exponent(1234.5)
    assert "nearest neighbour the exponent is 12.4 (odds" in of_exponent(12.34)


@pytest.mark.parametrize("say", [one_line, seen])
def test_what_promises_nothing_is_called_so(small_embedding, say):
    """As large exponents are, or some, or none; those with δ, where they are lower."""
    large, all_large = "Exponents above some 20 promise nothing", "and all of these are"

    def said(exponent, n_words):
        table = WordEmbedding(["a", "b"], [[0], [1]])
        return say(guaranteed(exponent, 0.0, table, n_words=n_words))

    assert large not in said(19, 1)
    assert large in (both := said(50, 1))
    assert all_large in both
    assert large in (documents := said(5, 50))
    assert all_large not in documents
    drawn = DPWordPerturber(
        small_embedding, epsilon=3.618, lam=0, document_length=10, resize="sample",
        mechanism="exponential",
    ).fit([]).guarantee()  # fmt: skip
    text = say(drawn)
    assert (
        "Exponential() with ε = 3.618 sets t; exponent(w, w') computes t(w, w')."
        in text
    )
    assert "3·t" in (thrice := say(drawn.compose(3)))
    assert "computes 3·t(w, w')." in thrice
    a, b = small_embedding.words[:2]
    assert drawn.compose(3).exponent(a, b) == pytest.approx(3 * drawn.exponent(a, b))


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


def test_one_hot_is_shown():
    perturber = DPWordPerturber(
        "one-hot", epsilon=2.0, lam=0.0, document_length=1, resize="truncate"
    )
    guarantee = perturber.fit(np.eye(4, dtype=int)).guarantee()
    # the nearest word is as far as any
    assert "2.83 (odds change by a factor of 17 at most)" in one_line(guarantee)
    assert "2.83 (17)" in one_line(guarantee)


def test_composed(small_embedding):
    a = guaranteed(2.0, 0.0, small_embedding, n_words=3, releases=2)
    b = guaranteed(5.0, 0.7, small_embedding, unknown_kept=True)
    both = a.compose(b)
    for say in (one_line, seen):
        text = say(both)
        for part in (
            "all 3 releases of a document",
            "sum of the exponents of the parts",
            "every document has 3 words",
            "documents of different length are not protected",
            "released in the clear",
            "More than 3 releases",
        ):
            assert part in text
        assert text.count("must be public") == 1
        assert "All share one metric" not in text
    one = both.euclidean()
    assert f"between words t is {rounded_up(one.epsilon)}·d(w, w')" in one_line(one)
    assert "the Euclidean distance" in one_line(one)
    assert "Mahalanobis (λ = 0.7) distance" in one_line(both.relative_to(0.7))
    assert "PrivacyGuarantee(epsilon=5, lam=0.7" in repr(both)
    for cell in ("Euclidean", "Mahalanobis (λ = 0.7)"):
        assert cell in seen(both)
