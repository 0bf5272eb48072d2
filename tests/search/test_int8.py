"""The int8 search finds the words of the float32 search, by a bound that holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import config_context

from skdptext import WordEmbedding

# The bound, and what is left to the float32 search: the words are right without.
from skdptext.search import _int8, half_squared_norms, nearest_words
from skdptext.search._int8 import Int8Search, is_exact
from skdptext.search._nearest import twice_error_bound
from tests.channels import channel, sample
from tests.search.emulation import EmulatedProduct


def make(vectors, cls=Int8Search, **options):
    options = {"tile": 64, "group": 4} | options
    return cls(vectors, half_squared_norms(vectors), EmulatedProduct(), **options)


@pytest.fixture
def searched_again(monkeypatch):
    """Of each call of the float32 search, the number of points and the memory."""
    count = []

    def counted(points, *rest, memory):
        count.append((len(points), memory))
        return nearest_words(points, *rest, memory=memory)

    monkeypatch.setattr(_int8, "nearest_words", counted)
    return count


def noisy_words(embedding, epsilon, lam, n, seed=0):
    mechanism = channel(epsilon, lam, embedding)
    rng = np.random.default_rng(seed)
    points = sample(mechanism, rng, n)
    return points + embedding.vectors[rng.integers(0, len(embedding), n)]


# -- the product ---------------------------------------------------------------


def test_a_product_that_saturates_is_told():
    assert is_exact(EmulatedProduct(), 5)
    assert not is_exact(EmulatedProduct(saturating=True), 5)
    rng = np.random.default_rng(0)
    small = rng.integers(-50, 51, (5, 9), dtype=np.int8)  # which nothing cuts off
    one, other = (EmulatedProduct(s).group_maxima(small, [small], 1) for s in (0, 1))
    np.testing.assert_array_equal(*one, *other)


# -- the bound -----------------------------------------------------------------

any_size = st.one_of(
    st.sampled_from(np.float32([0, 1, -1, 1e-40, 1e30, -1e30, 3.4e38, 1e-20]).tolist()),
    st.floats(-1e3, 1e3, width=32),
    st.floats(-(2.0**-60), 2.0**-60, width=32),
)


def bounds(search, points):
    """Of each group's best score, from below and above, and what roundings may take.

    In units of the largest scale of a group and that of the point.
    """
    rounded = _int8._round(points)
    maxima, parts = search._maxima(rounded.integers), search._parts(rounded)
    out = []
    for terms in (search._below, search._above):
        out.append(np.empty_like(maxima))
        search._bound(maxima, parts, terms, out[-1])
    error = twice_error_bound(points, search.half_norms)
    rounding = 1.5 * error / search._unit / rounded.scale
    return (*(bound.astype(float) for bound in out), rounding[:, None])


def exact_best(search, points):
    """Best score of each group in float64, in the units of `bounds`."""
    centred = search.vectors - search.vectors.mean(axis=0, dtype=np.float64)
    scores = points @ centred.T - search.half_norms
    scores = scores[:, search._words].max(axis=2)
    return scores / search._unit / _int8._round(points).scale[:, None]


@settings(max_examples=200)
@given(data=st.data())
def test_the_bounds_hold_and_the_words_are_right(data):
    """In any small table, with exact ties."""
    n, v, m = (data.draw(st.integers(1, high)) for high in (5, 40, 9))
    vectors = data.draw(hnp.arrays(np.float32, (v, m), elements=any_size))
    copies = data.draw(st.lists(st.integers(0, v - 1), max_size=20))
    vectors = np.concatenate([vectors, vectors[copies]])
    points = data.draw(hnp.arrays(np.float64, (n, m), elements=any_size))
    with np.errstate(all="ignore"):
        search = make(vectors, tile=16, group=2)
        np.testing.assert_array_equal(search(points), nearest_words(points, vectors))
        below, above, rounding = bounds(search, points)
        best = exact_best(search, points)
        decided = search._usable & _int8._within_float32(
            search._parts(_int8._round(points))
        )
        assert (below - rounding <= best)[decided].all()
        assert (best <= above + rounding)[decided].all()


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_the_bounds_hold_and_are_narrow_on_a_real_table(built_in, searched_again, lam):
    part = built_in.restrict(1500)
    search = make(part.vectors, tile=512, group=16)
    points = noisy_words(part, 10.0, lam, 40)
    below, above, rounding = bounds(search, points)
    best = exact_best(search, points)
    assert (below <= best + rounding).all()
    assert (best <= above + rounding).all()
    # The errors of rounding to 8 bits of a Gaussian's range, and no more.
    lengths = np.linalg.norm(points, axis=1)[:, None] * np.linalg.norm(
        part.vectors - part.vectors.mean(axis=0), axis=1
    )
    unit = search._unit * _int8._round(points).scale
    assert np.median((above - below) * unit[:, None]) < 0.05 * np.median(lengths)
    # Float32 roundings are far below.
    assert (rounding < 0.01 * np.median(above - below)).all()
    search(points)
    assert not searched_again


def test_a_group_has_the_rounding_errors_of_its_longest_word():
    """Words of one norm, whose distances from the mean differ widely."""
    rng = np.random.default_rng(0)
    k, norm = 40, 1e4
    words = [np.full(k, 127.0), np.full(k, -127.0), *rng.normal(size=(30, k))]
    vectors = np.float32([[*w, np.sqrt(norm**2 - w @ w)] for w in words])
    points = np.array([[t] * k + [127.0] for t in (64.49, 63.51, -64.49, -63.51)])
    search = make(vectors, group=16)
    below, above, rounding = bounds(search, points)
    best = exact_best(search, points)
    assert (below - rounding <= best).all()
    assert (best <= above + rounding).all()


class Narrow(Int8Search):
    """A mistake, on purpose: a tenth of the bound."""

    _widen = 0.1


def test_a_tenth_of_the_bound_would_be_wrong():
    """All rounding errors conspire: the better word looks worse by more than that."""
    m = 64
    # Both become 64, in steps of 1; the first has its largest entry 127 elsewhere.
    point = np.concatenate([np.full(m, 64.49), np.full(m, 64.45), [127.0]])[None, :]
    one, other = np.zeros((2, 2 * m + 1), dtype=np.float32)
    one[:m], other[m:-1] = 127.0, 127.0
    other[0] = 5.0  # seen in full, while it loses by the rounding of all the others
    vectors = np.float32([other, one, -one, -other])
    assert nearest_words(point, vectors) == [1]
    assert make(vectors, group=1)(point) == [1]
    assert make(vectors, cls=Narrow, group=1)(point) == [0]


# -- the words -----------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "lam"), [(10.0, 0.0), (10.0, 1.0), (60.0, 0.5)])
def test_words_of_the_float32_search(built_in, searched_again, epsilon, lam):
    part = built_in.restrict(1000)
    points = noisy_words(part, epsilon, lam, 150)
    search = make(part.vectors, tile=256, group=8)
    expected = nearest_words(points, part.vectors)
    np.testing.assert_array_equal(search(points), expected)
    assert sum(n for n, _ in searched_again) <= 3


def test_words_of_a_whole_table(built_in, searched_again):
    points = noisy_words(built_in, 12.0, 0.5, 300)
    search = make(built_in.vectors, tile=2048, group=16)
    expected = nearest_words(points, built_in.vectors)
    np.testing.assert_array_equal(search(points), expected)
    assert sum(n for n, _ in searched_again) <= 15


@pytest.mark.parametrize("n_copies", [2, 3000])
def test_equal_vectors_go_to_the_first_word(n_copies, searched_again):
    vectors = np.tile(np.float32([[1.0, 2.0], [0.0, 1.0]]), (n_copies, 1))
    points = np.array([[0.9, 2.2], [0.1, 0.7]])
    np.testing.assert_array_equal(make(vectors)(points, memory=2**20), [0, 1])
    assert searched_again == ([(2, 2**20)] if n_copies > 2 else [])


def test_midpoints_between_words(built_in):
    """Ties in exact arithmetic, or almost: float64 decides, in both searches."""
    vectors = built_in.vectors[:300]
    pairs = np.random.default_rng(0).integers(0, 300, (100, 2))
    points = vectors[pairs].astype(np.float64).mean(axis=1)
    nearest = make(vectors)(points)
    np.testing.assert_array_equal(nearest, nearest_words(points, vectors))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-25, 1e25, 1e150, 1e300])
def test_magnitudes_beyond_float32(scale):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    if scale < 1:
        vectors *= np.float32(1e-20)
    points = rng.normal(size=(40, 6)) * scale
    nearest = make(vectors)(points)
    np.testing.assert_array_equal(nearest, nearest_words(points, vectors))


def test_a_point_without_a_number_does_not_harm_the_others():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(90, 6)).astype(np.float32)
    points = rng.normal(size=(7, 6))
    expected = nearest_words(points, vectors)
    points[2, 1], points[5, 3] = np.nan, np.inf
    nearest = make(vectors)(points)
    good = [0, 1, 3, 4, 6]
    np.testing.assert_array_equal(nearest[good], expected[good])


def test_vectors_of_very_different_lengths():
    """One scale for all words would leave the short ones no digits."""
    rng = np.random.default_rng(3)
    lengths = 10.0 ** rng.uniform(-6, 6, (400, 1))
    vectors = (rng.normal(size=(400, 20)) * lengths).astype(np.float32)
    points = vectors[rng.integers(0, 400, 200)] * rng.uniform(0.5, 2.0, (200, 1))
    nearest = make(vectors)(points)
    np.testing.assert_array_equal(nearest, nearest_words(points, vectors))


def test_the_fewest_points_and_words():
    vectors = np.ones((1, 3), dtype=np.float32)
    assert make(vectors)(np.empty((0, 3))).shape == (0,)
    assert make(vectors)(np.zeros((2, 3))).tolist() == [0, 0]
    nothing = np.zeros((5, 3), dtype=np.float32)
    assert make(nothing)(np.ones((2, 3))).tolist() == [0, 0]


@pytest.fixture(scope="module")
def wide():
    """8,000 words in 300 dimensions."""
    vectors = np.random.default_rng(0).normal(size=(8000, 300)).astype(np.float32)
    return WordEmbedding(map(str, range(8000)), vectors)


def test_a_block_keeps_to_the_memory(wide, monkeypatch):
    search = make(wide.vectors, tile=2048, group=16)
    assert search._rows_within(2**30) == _int8._ROWS
    # scores of a tile, maxima, and a point in its precisions
    per_row = 4 * 2048 + 4 * 500 + 40 * 300
    monkeypatch.setattr(_int8, "_ROWS", 10**6)
    for memory in (2**20, 2**22):
        assert memory - per_row < search._rows_within(memory) * per_row <= memory


def test_independent_of_blocks(wide):
    points = noisy_words(wide, 20.0, 0.5, 49)
    search = make(wide.vectors, tile=2048, group=16)
    whole = search(points)
    parts = [search(p) for p in np.array_split(points, 7)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    with config_context(working_memory=1):
        assert search._rows_within(None) == 16  # the fewest
        np.testing.assert_array_equal(search(points), whole)
