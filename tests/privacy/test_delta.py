"""`exponent(x, y, delta)` against exact laws of whole releases, also redrawn ones."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.documents import DocumentReader
from skdptext.mechanisms import LossDistribution, WordMechanism
from skdptext.privacy import PrivacyGuarantee
from tests.channels import Stated, channel, guaranteed
from tests.laws import enumerated, largest_loss, losses, uncovered

WORDS = WordEmbedding(list("abcd"), np.arange(4.0)[:, None])
DELTAS = (1e-9, 1e-4, 0.01, 0.1, 0.4, 0.9)


class Hidden(WordMechanism):
    """A law that is given as a table, of which only the exponents are known."""

    def __init__(self, rows):
        self.rows = rows

    draw = apply = None  # a guarantee draws nothing

    def exponents(self, x, y):
        return np.maximum(losses(self.rows)[np.ix_(x, y)], 0.0)


def tables(seed, never=0.0):
    """Two asymmetric laws over the four words."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(4, 0.8), size=(2, 4)) + 1e-3
    rows[rng.random(rows.shape) < never] = 0
    rows[:, :, 0] += 1e-3
    return rows / rows.sum(axis=2, keepdims=True)


def law(document, rows, *, ordered, drawn=None):
    """Every release with its probability."""
    words = WORDS.find(list(document))
    slots = rows[words] if drawn is None else [rows[words].mean(axis=0)] * drawn
    return enumerated(
        [dict(enumerate(slot.tolist())) for slot in slots], ordered=ordered
    )


def assert_holds(guarantee, x, y, one, two):
    """No δ is below the exact one, and t has the properties that are documented.

    Returns the values of t.
    """
    pure = guarantee.exponent(x, y)
    assert guarantee.exponent(x, y, delta=0) == pure
    exponents = [guarantee.exponent(x, y, delta=delta) for delta in DELTAS]
    assert [pure, *exponents] == sorted([pure, *exponents], reverse=True)
    assert exponents[-1] >= 0
    for delta, t in zip(DELTAS, exponents, strict=True):
        if t < math.inf:
            assert uncovered(one, two, t) <= delta * (1 + 1e-9)
    return exponents


def guarantee_of(rows, *, known=True, ordered=True, drawn=None):
    prepared = (Stated if known else Hidden)(rows).prepare(WORDS, 1.0, 0.0)
    reader = DocumentReader(
        WORDS, oov="error", document_length=drawn, resize="sample"
    ) if drawn else None  # fmt: skip
    return PrivacyGuarantee(prepared, reader, ordered=ordered)


# -- exact laws ----------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("never", [0.0, 0.15])
@pytest.mark.parametrize("known", [True, False])
def test_texts_and_bags_by_enumeration(seed, never, known):
    """Laws that are no metric's, and not symmetric; bags are matched by exponents."""
    rows = tables(seed, never)[0]
    for x, y in (("a", "b"), ("b", "a"), ("abca", "bbda")):
        one, two = (law(d, rows, ordered=True) for d in (x, y))
        asked = (x, y) if len(x) == 1 else (list(x), list(y))
        exponents = assert_holds(guarantee_of(rows, known=known), *asked, one, two)
        for delta, t in zip(DELTAS, exponents, strict=True):
            if known and t > 0:  # nothing is lost but what the grid takes
                assert uncovered(one, two, min(t, 60) - 0.02) > delta
    bags = list(itertools.combinations_with_replacement("abcd", 2))
    guarantee = guarantee_of(rows, known=known, ordered=False)
    for i, j in np.random.default_rng(seed).integers(len(bags), size=(5, 2)):
        one, two = (law(bags[k], rows, ordered=False) for k in (i, j))
        assert_holds(guarantee, list(bags[i]), list(bags[j]), one, two)


def test_bags_of_which_some_words_are_told():
    """The cheapest matching has an infinite exponent, and yet a finite t with δ."""
    rows = np.array([[0.9, 0.1, 0, 0], [0, 0.9, 0.1, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    guarantee = guarantee_of(rows, ordered=False)
    x, y = ["a", "b", "c"], ["b", "b", "c"]
    one, two = (law(d, rows, ordered=False) for d in (x, y))
    assert guarantee.exponent(x, y) == math.inf
    assert_holds(guarantee, x, y, one, two)
    assert guarantee.exponent(x, y, delta=0.95) < math.inf
    assert guarantee.exponent(["c"], ["d"], delta=0.95) == math.inf


def test_a_rare_word_of_a_redrawn_document_costs_little():
    """It is seldom drawn; the pure exponent counts it for every draw."""
    perturber = DPWordPerturber(
        WORDS, epsilon=3.0, lam=0.0, document_length=4, resize="sample"
    )
    guarantee = perturber.fit([]).guarantee()
    x, y = ["a"] * 99 + ["b"], ["a"] * 99 + ["d"]
    # "d" is 6 nats from "b", but the many "a" are 3
    least = 0.99 * math.exp(-3) + 0.01 * math.exp(-6)
    exact = 4 * math.log1p(0.01 * -math.expm1(-6) / least)
    assert guarantee.exponent(x, y) == pytest.approx(exact)
    assert guarantee.exponent(x, y, delta=1e-3) < 12.1
    # with a chance of 4 % no more than that it is not drawn at all
    assert guarantee.exponent(x, y, delta=0.04) == 0.0


@pytest.mark.parametrize("known", [(True, True), (True, False), (False, False)])
def test_compositions_by_enumeration(known):
    first, second = tables(5, 0.1)
    a = guarantee_of(first, known=known[0])
    b = guarantee_of(second, known=known[1], ordered=False)
    x, y = ["a", "b"], ["b", "c"]
    one, two = (
        [law(d, first, ordered=True), law(d, second, ordered=False)] for d in (x, y)
    )
    twice = (enumerated([of_both[0]] * 2) for of_both in (one, two))
    assert_holds(a.compose(2), x, y, *twice)
    assert_holds(a.compose(b), x, y, enumerated(one), enumerated(two))


# -- what it is asked of -------------------------------------------------------------


def test_documents_that_show_their_difference():
    plain = guaranteed(1.0, 0.0, WORDS, unknown_kept=True, ordered=True)
    for x, y in ((["a"], ["a", "b"]), (["a", "?"], ["a", "!"]), (["?"], ["a"])):
        assert plain.exponent(x, y, delta=0.9) == math.inf
    assert plain.exponent(["?", "a"], ["?", "a"], delta=1e-6) == 0.0
    alone = plain.exponent("a", "b", delta=0.1)
    assert plain.exponent(["?", "a"], ["?", "b"], delta=0.1) == alone < 1
    assert plain.exponent([], [], delta=0.1) == 0.0
    drawn = guaranteed(1.0, 0.0, WORDS, unknown_kept=True, n_words=1, resampled=True)
    x, y = ["a"] * 19 + ["?"], ["a"] * 20
    assert drawn.exponent(x, y) == drawn.exponent(x, y, delta=0.04) == math.inf
    assert drawn.exponent(x, y, delta=0.06) == 0.0


def test_distances_in_the_metric_of_the_noise(small_embedding):
    """δ is about the noise itself, in whatever metric the promise is stated."""
    x, y = small_embedding.words[3], small_embedding.words[9]
    guarantee = guaranteed(4.0, 0.6, small_embedding)
    (pure,) = channel(4.0, 0.6, small_embedding).exponents([3], [9])[0]
    own = LossDistribution.of_noise(pure, small_embedding.dim).exponent(1e-3)
    assert guarantee.exponent(x, y, delta=1e-3) == pytest.approx(own, rel=1e-6)
    for stated in (guarantee.relative_to(0), guarantee.relative_to(0.9)):
        assert stated.exponent(x, y) > guarantee.exponent(x, y)
        assert stated.exponent(x, y, delta=1e-3) == pytest.approx(own, rel=1e-6)
        assert stated.exponent(x, y, delta=1e-300) == stated.exponent(x, y)


def test_many_different_distances_are_rounded_up():
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.random((140, 1)), axis=0)
    row = WordEmbedding([f"w{i}" for i in range(140)], points)
    mechanism = channel(0.2, 0.0, row)
    ids = np.arange(140)
    distances = mechanism.exponents(ids, [0])[:, 0]
    losses = mechanism.losses(ids, np.zeros(140, int))
    assert len({id(loss) for loss in losses}) < 100
    for loss, distance in zip(losses[1::20], distances[1::20], strict=True):
        exact = LossDistribution.of_noise(distance, 1).exponent(0.01)
        assert exact <= loss.exponent(0.01) <= 1.04 * distance


# -- redrawn documents ----------------------------------------------------------------

documents = st.text("abcd", min_size=1, max_size=6)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    x=documents,
    y=documents,
    seed=st.integers(0, 10**6),
    never=st.sampled_from([0.0, 0.3]),
    drawn=st.integers(1, 4),
    ordered=st.booleans(),
)
def test_finite_distributions_are_exact(x, y, seed, never, drawn, ordered):
    rows = tables(seed, never)[0]
    guarantee = guarantee_of(rows, ordered=ordered, drawn=drawn)
    one, two = (law(d, rows, ordered=ordered, drawn=drawn) for d in (x, y))
    exact = largest_loss(one, two)
    assert guarantee.exponent(list(x), list(y)) == pytest.approx(exact, abs=1e-9)
    assert guarantee.compose(2).exponent(list(x), list(y)) == pytest.approx(
        2 * exact, abs=1e-9
    )
    # δ: no more is claimed than the grid of losses costs
    for delta in (1e-6, 0.01, 0.3):
        t = guarantee.exponent(list(x), list(y), delta=delta)
        assert t == math.inf or uncovered(one, two, t) <= delta * (1 + 1e-9)
        assert t < 0.02 or uncovered(one, two, min(t - 0.02, 700.0)) > delta


@pytest.mark.no_cover
@settings(max_examples=30)
@given(x=documents, y=documents, seed=st.integers(0, 10**6), drawn=st.integers(1, 3))
def test_by_exponents_alone(x, y, seed, drawn):
    """Never below the exact loss, never above what was claimed by either theorem."""
    rows = tables(seed, 0.1)[0]
    hidden = guarantee_of(rows, known=False, drawn=drawn)
    claimed = hidden.exponent(list(x), list(y))
    one, two = (law(d, rows, ordered=True, drawn=drawn) for d in (x, y))
    assert largest_loss(one, two) <= claimed + 1e-9
    assert claimed <= drawn * joint_convexity(rows, x, y) + 1e-9
    back = hidden.exponent(list(y), list(x))
    worst = LossDistribution.of_exponents(claimed / drawn, back / drawn).times(drawn)
    for delta in (0.01, 0.3):
        t = hidden.exponent(list(x), list(y), delta=delta)
        assert t == math.inf or uncovered(one, two, t) <= delta * (1 + 1e-9)
        assert t <= worst.exponent(delta) + 1e-9


def frequencies(document):
    counts = np.bincount(WORDS.find(list(document)), minlength=4)
    return counts / counts.sum()


def joint_convexity(rows, x, y):
    """ln(1 + g(e^t − 1)): g the share that moves, t over all pairs that are met."""
    f, h = frequencies(x), frequencies(y)
    moved = f > h + 1e-12
    if not moved.any():
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.log(rows[moved][:, None] / rows[h > 0])
        t = np.nanmax(gaps, axis=2).max()
    return math.log1p(np.maximum(f - h, 0).sum() * math.expm1(max(t, 0.0)))


def test_huge_and_tiny_exponents_do_not_overflow(small_embedding):
    """Exponents of thousands of nats, where e^t is no float."""
    for epsilon in (1e-9, 1e4):
        perturber = DPWordPerturber(
            small_embedding, epsilon=epsilon, lam=0.0, document_length=5,
            resize="sample",
        ).fit([])  # fmt: skip
        guarantee = perturber.guarantee()
        x, y = ["w1"] * 9 + ["w2"], ["w1"] * 9 + ["w3"]
        moved = guarantee.exponent("w2", "w3")
        common = guarantee.exponent("w2", "w1")
        claimed = guarantee.exponent(x, y)
        # a lower bound on what exponents alone can prove
        assert claimed <= 5 * moved
        if epsilon > 1:
            nearest = min(moved, common)
            expected = 5 * min(moved, nearest + math.log(0.1 / 0.9) * (common < moved))
            assert claimed == pytest.approx(expected, rel=1e-2)
        else:
            assert claimed == pytest.approx(0.5 * moved, abs=1e-11)
