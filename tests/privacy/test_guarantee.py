"""The guarantee's numbers, against independent computations."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.special import gammainc

from skdptext.documents import DocumentReader
from skdptext.mechanisms import MahalanobisNoise
from skdptext.privacy import PrivacyGuarantee
from tests.channels import channel, guaranteed, sample
from tests.expected import no_warning, refusals
from tests.laws import distances, metric_matrix

words = st.integers(0, 199).map("w{}".format)


def ground(embedding, lam, x, y):
    """By a matrix inverse, where the package whitens by eigenvectors."""
    pairs = np.ix_(embedding.find(x), embedding.find(y))
    return distances(embedding.vectors, lam)[pairs]


@given(x=words, y=words, lam=st.sampled_from([0, 0.3, 1]), epsilon=st.floats(0.1, 50))
def test_words(small_embedding, x, y, lam, epsilon):
    guarantee = guaranteed(epsilon, lam, small_embedding)
    expected = epsilon * ground(small_embedding, lam, [x], [y])[0, 0]
    assert guarantee.exponent(x, y) == pytest.approx(expected, rel=1e-6, abs=1e-9)


pairs = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*[st.lists(words, min_size=n, max_size=n)] * 2)
)


@pytest.mark.no_cover
@settings(max_examples=50)
@given(documents=pairs, lam=st.sampled_from([0, 0.7]))
def test_bags_and_ordered_texts(small_embedding, documents, lam):
    x, y = documents
    cost = ground(small_embedding, lam, x, y)
    bag = guaranteed(2.0, lam, small_embedding)
    matched = cost[linear_sum_assignment(cost)].sum()
    assert bag.exponent(x, y) == pytest.approx(2 * matched, rel=1e-6, abs=1e-9)
    text = guaranteed(2.0, lam, small_embedding, ordered=True)
    expected = 2 * np.trace(cost)
    assert text.exponent(x, y) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert bag.exponent(x, y) <= text.exponent(x, y) + 1e-9


@pytest.mark.no_cover
@settings(max_examples=50)
@given(
    x=st.lists(words, min_size=1, max_size=3), y=st.lists(words, min_size=1, max_size=3)
)
def test_resampled_documents_cost_at_most_the_bottleneck(small_embedding, x, y):
    """Against the smallest threshold whose perfect matching exists."""
    guarantee = guaranteed(3.0, 0.4, small_embedding, n_words=7, resampled=True)
    # equal frequencies on a common number of copies
    many_x, many_y = x * len(y), y * len(x)
    cost = ground(small_embedding, 0.4, many_x, many_y)
    for step in np.unique(cost):
        blocked = (cost > step + 1e-12).astype(float)
        if blocked[linear_sum_assignment(blocked)].sum() == 0:
            break
    exponent = guarantee.exponent(x, y)
    assert exponent <= 3 * 7 * step * (1 + 1e-6) + 1e-9
    converted = guarantee.relative_to(0.4).exponent(x, y)  # the bottleneck itself
    assert converted == pytest.approx(3 * 7 * step, rel=1e-6, abs=1e-9)


def test_resampled_empty_document_stands_for_the_vocabulary(small_embedding):
    table = small_embedding.restrict(5)
    guarantee = guaranteed(1.0, 0.0, table, n_words=2, resampled=True)
    # from a mixture to one word: nothing is known but the exponents of its words
    odds = np.exp(ground(table, 0, ["w0"], table.words))
    mixed = 2 * math.log(np.mean(odds))
    assert guarantee.exponent([], ["w0"]) == pytest.approx(mixed, rel=1e-6)
    assert guarantee.exponent([], []) == 0.0
    assert guarantee.exponent(["w0", "w1"], ["w1", "w0", "w0", "w1"]) == 0.0


def test_documents_as_counts(small_embedding):
    guarantee = guaranteed(1.0, 0.5, small_embedding)
    x, y = np.zeros((2, 200), dtype=int)
    x[[1, 2]], y[[3, 4]] = (2, 1), (1, 2)
    expected = guarantee.exponent(["w1", "w1", "w2"], ["w3", "w4", "w4"])
    for one, two in ((x, y), (sp.csr_array(x[None]), y.tolist())):
        assert guarantee.exponent(one, two) == pytest.approx(expected)


# -- the metric -------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0, 0.4, 1])
def test_euclidean_conversion_is_the_best_possible(small_embedding, lam):
    guarantee = guaranteed(3.0, lam, small_embedding)
    lower, upper = guarantee.euclidean_bounds
    mechanism = channel(3.0, lam, small_embedding)
    rng = np.random.default_rng(0)
    v = rng.normal(size=(1000, 8))
    exact = 3 * np.linalg.norm(mechanism.metric.whiten(v), axis=1)
    length = np.linalg.norm(v, axis=1)
    assert (lower * length <= exact * (1 + 1e-9)).all()
    assert (exact <= upper * length * (1 + 1e-9)).all()
    # both are attained, along the extreme axes
    axes = np.linalg.eigh(metric_matrix(small_embedding.vectors, 1))[1]
    ends = 3 * np.linalg.norm(mechanism.metric.whiten(axes.T[[-1, 0]]), axis=1)
    np.testing.assert_allclose(ends, [lower, upper])
    # and the paper's Lemma 3, by the ends of what an eigenvalue may be, is not sharper
    c = np.linalg.eigvalsh(metric_matrix(small_embedding.vectors, 1))[0]
    papers = [3 / math.sqrt(lam * value + 1 - lam) for value in (8, c)]
    assert guarantee.lemma3_bounds == pytest.approx(papers)
    assert papers[0] <= lower * (1 + 1e-9)
    assert upper <= papers[1] * (1 + 1e-9)
    assert (papers[0] < lower * (1 - 1e-9)) == (lam > 0)


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0, 0.3, 0.9])
@pytest.mark.parametrize("other", [0, 0.3, 1])
def test_any_metric_to_any_other(small_embedding, lam, other):
    """The smallest ε for which the promise follows, by a generalised eigenproblem."""
    guarantee = guaranteed(3.0, lam, small_embedding)
    M, N, covariance = (
        metric_matrix(small_embedding.vectors, t) for t in (lam, other, 1)
    )
    # the largest of vᵀM⁻¹v over vᵀN⁻¹v
    ratio = eigh(np.linalg.inv(M), np.linalg.inv(N), eigvals_only=True)[-1]
    exact = guarantee.relative_to(other)
    assert exact.epsilon == pytest.approx(3 * math.sqrt(ratio), rel=1e-9)
    assert (exact.lam, exact.metric_lam) == (lam, other)
    paper = guarantee.relative_to(other, by="lemma3")
    assert exact.epsilon <= paper.epsilon * (1 + 1e-12)
    if lam == other:
        assert exact.epsilon == paper.epsilon == 3.0
    else:
        c = np.linalg.eigvalsh(covariance)[0]
        expected = math.sqrt((other * 8 + 1 - other) / (lam * c + 1 - lam))
        assert paper.epsilon == pytest.approx(3 * expected)
        if other > 0:  # to Euclid's the lemma needs the smallest eigenvalue only
            assert exact.epsilon < 0.95 * paper.epsilon
    for x, y in itertools.combinations(small_embedding.words[:12], 2):
        assert guarantee.exponent(x, y) <= exact.exponent(x, y) * (1 + 1e-9)
    # back where it came from, nothing is lost
    assert exact.relative_to(lam).epsilon == 3.0


# -- utility ------------------------------------------------------------------------


def noisy_means(embedding, lam, stated, n_words):
    """E between n copies of a word and its noisy points: the mean of the lengths.

    20,000 draws at ε = 2 with the noise of λ, lengths in the metric of another.
    """
    noise = sample(
        channel(2.0, lam, embedding), np.random.default_rng(0), 20_000 * n_words
    )
    metric = channel(1.0, stated, embedding).metric
    lengths = np.linalg.norm(metric.whiten(noise), axis=1)
    return lengths.reshape(-1, n_words).mean(axis=1)


@pytest.mark.parametrize("lam", [0, 0.6])
@pytest.mark.parametrize("n_words", [1, 2, 5])
def test_utility_is_exact_for_copies_of_one_word(small_embedding, lam, n_words):
    """The counter-example to Theorem 3 of the 2019 paper."""
    epsilon, n_draws = 2.0, 20_000
    guarantee = guaranteed(epsilon, lam, small_embedding, n_words=n_words)
    distances = noisy_means(small_embedding, lam, lam, n_words)
    for delta in (3.2, 4.0, 4.6):
        hits = int((distances <= delta).sum())
        interval = stats.binomtest(hits, n_draws).proportion_ci(1 - 1e-6)
        assert interval.low <= guarantee.utility_probability(delta) <= interval.high
        papers = gammainc(8, epsilon * n_words * delta)
        if n_words > 1:
            assert papers > interval.high  # the paper's claim is false
        else:
            assert papers == pytest.approx(guarantee.utility_probability(delta))


@pytest.mark.parametrize(("lam", "other"), [(0.9, 0.0), (0.0, 0.8)])
def test_utility_in_another_metric_is_a_lower_bound(small_embedding, lam, other):
    """Lengths of the noise, in a metric that is not its own."""
    distances = noisy_means(small_embedding, lam, other, 3)
    guarantee = guaranteed(2.0, lam, small_embedding, n_words=3).relative_to(other)
    for delta in (5.0, 8.0, 12.0):
        bound = guarantee.utility_probability(delta)
        assert 0 < bound <= (distances <= delta).mean()


# -- from a perturber, in words, refused ---------------------------------------------


@refusals(
    ("w1", "zzz", r"known to the embedding .*got 1 unknown"),
    ("w1", "some text", "a str is one word, a document a list of them"),
    (["w1"], ["some text"], "got a text in it: .* known_words"),
    (["w1"], ["zzz"], 'oov="error" .* document 1 holds an unknown'),
    ("w1", ["w1"], "two words, two lists of words or two rows"),
    (["w1"], 3, "two words, two lists of words or two rows"),
    (["w1"], [1, 2], "2 columns, the embedding has 200 words"),
    (np.eye(200)[:2], ["w1"], "a single row of counts, got 2 rows"),
    (np.full(200, 0.5), ["w1"], "whole-number counts"),
)
def test_bad_documents(small_embedding, x, y):
    guaranteed(1.0, 0.5, small_embedding).exponent(x, y)


def test_unknown_words_are_not_left_out_in_silence(small_embedding):
    reader = DocumentReader(small_embedding)
    once = PrivacyGuarantee(channel(1.0, 0.5, small_embedding), reader=reader)
    guarantee = once.compose(2)
    x, y = ["w1", "w2,"], ["w1", "w3,"]
    for value in (guarantee.exponent, partial(guarantee.epsilon_for, factor=2.0)):
        with pytest.warns(UserWarning, match="2 words of x and y are unknown"):
            value(x, y)
    in_clear = guaranteed(1.0, 0.5, small_embedding, unknown_kept=True)
    with no_warning():
        assert in_clear.exponent(x, y) == math.inf
        assert guarantee.exponent(["w1", "w2"], np.eye(200)[1] + np.eye(200)[3]) > 0


@refusals(
    (lambda g, _: PrivacyGuarantee(MahalanobisNoise()), "prepared mechanism, .* Mahal"),
    (lambda g, _: guaranteed(1, 0.5, g.embedding.restrict(5)).relative_to(1), "singul"),
    (lambda g, drawn: g.utility_probability(1.0), "n_words must be given"),
    (lambda g, drawn: g.exponent("w1", "w2", 1), r"delta must be .* in \[0, 1\)"),
    (lambda g, drawn: drawn.utility_probability(-1.0), "delta must be a finite num"),
    (lambda g, drawn: drawn.exponent(["w1"], ["w1"] * 3), "document_length=3 .*ment 0"),
)
def test_other_refusals(small_embedding, call):
    call(*(guaranteed(1.0, 0.5, small_embedding, n_words=n) for n in (None, 3)))
