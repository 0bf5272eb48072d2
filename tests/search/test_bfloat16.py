"""The bfloat16 search finds the words of the float32 search, by a bound that holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import config_context

from skdptext import WordEmbedding

# The bound, and what is left to the float32 search: the words are right without.
from skdptext.search import _bfloat16, half_squared_norms, nearest_words
from skdptext.search._bfloat16 import BFloat16Search
from tests.channels import channel, sample
from tests.search.emulation import EmulatedArithmetic, round_bfloat16

SUMS = ("float32", "truncated", "flushed")


def make(vectors, sums="float32", cls=BFloat16Search, **options):
    options = {"tile": 64, "group": 4} | options
    half_norms = half_squared_norms(vectors)
    return cls(vectors, half_norms, EmulatedArithmetic(sums), **options)


@pytest.fixture
def searched_again(monkeypatch):
    """Number of points that were left to the float32 search."""
    count = []

    def counted(points, *rest):
        count.append(len(points))
        return nearest_words(points, *rest)

    monkeypatch.setattr(_bfloat16, "nearest_words", counted)
    return lambda: sum(count)


def noisy_words(embedding, epsilon, lam, n, seed=0):
    mechanism = channel(epsilon, lam, embedding)
    rng = np.random.default_rng(seed)
    points = sample(mechanism, rng, n)
    return points + embedding.vectors[rng.integers(0, len(embedding), n)]


# -- rounding ------------------------------------------------------------------


def test_rounding_to_nearest_even():
    step = 2.0**-7  # between bfloat16 numbers in [1, 2)
    given_ = [1 + step / 2, 1 + 3 * step / 2, 1 + 0.51 * step, 1 - step / 4, 0.0]
    expected = [1, 1 + 2 * step, 1 + step, 1, 0.0]
    np.testing.assert_array_equal(round_bfloat16(given_), np.float32(expected))
    assert np.isinf(round_bfloat16(np.float32(3.4e38)))
    assert np.isnan(round_bfloat16(np.float32(np.nan)))


@given(hnp.arrays(np.float32, 20, elements=st.floats(-(2.0**126), 2.0**126, width=32)))
def test_rounding_moves_by_no_more_than_half_a_step(x):
    away = np.abs(round_bfloat16(x).astype(float) - x)
    size = np.minimum(np.abs(x), np.abs(round_bfloat16(x))).astype(float)
    assert (away <= np.maximum(2.0**-8 * size, 2.0**-134)).all()


# -- the bound -----------------------------------------------------------------

any_size = st.one_of(
    st.sampled_from(np.float32([0, 1, -1, 1e-40, 1e30, -1e30, 3.4e38, 1e-20]).tolist()),
    st.floats(-1e3, 1e3, width=32),
    st.floats(-(2.0**-60), 2.0**-60, width=32),
)


def bounded(search, points):
    """Largest score of each group, its error bound, and room for what is below it."""
    _, maxima, parts = search._maxima(points)
    best, bound, low = search._work_arrays(len(points))
    search._bounded(maxima, parts, best, bound)
    return best, bound, low


@settings(deadline=None, max_examples=150)
@given(data=st.data(), sums=st.sampled_from(SUMS))
def test_the_bound_holds(data, sums):
    n, v, m = (data.draw(st.integers(1, high)) for high in (4, 30, 9))
    vectors = data.draw(hnp.arrays(np.float32, (v, m), elements=any_size))
    points = data.draw(hnp.arrays(np.float64, (n, m), elements=any_size))
    search = make(vectors, sums, tile=16, group=2)
    with np.errstate(all="ignore"):
        best, bound, _ = bounded(search, points)
        exact = search._exact_maxima(points)
        off = np.abs(best - exact) - 2.0**-8 * np.abs(best)
    decided = np.isfinite(best) & np.isfinite(bound)
    assert (off <= bound)[decided].all()


@pytest.mark.parametrize("sums", SUMS)
def test_the_bound_holds_and_is_narrow_on_a_real_table(built_in, sums):
    part = built_in.restrict(1500)
    search = make(part.vectors, sums, tile=512, group=16)
    points = noisy_words(part, 10.0, 0.5, 40)
    best, bound, low = bounded(search, points)
    off = np.abs(best - search._exact_maxima(points)) - 2.0**-8 * np.abs(best)
    assert (off <= bound)[np.isfinite(best)].all()
    # Half of what the format's worst case would be, and few groups are left.
    worst = 2.0**-7 * np.linalg.norm(points, axis=1)[:, None] * search._sizes[0]
    assert np.median(bound / worst) < 0.6
    _, _, counts, known = search._survivors(best, bound, low)
    assert known.all()
    assert counts.mean() < 4


@pytest.mark.parametrize(
    ("sums", "kept"), [*((s, True) for s in SUMS), ("bfloat16", False)]
)
def test_a_device_is_tried_before_it_is_trusted(built_in, sums, kept):
    assert make(built_in.restrict(400).vectors, sums).keeps_bound() is kept


class Narrow(BFloat16Search):
    """A mistake, on purpose: a tenth of the bound."""

    _widen = 0.1


def test_a_tenth_of_the_bound_would_be_wrong():
    """All rounding errors conspire: the better word looks worse by more than that."""
    m = 64
    up, down = 1 + 2.0**-8 - 2.0**-12, 1 - 2.0**-9 + 2.0**-13  # both round to 1
    second = np.full(m // 2, down)
    second[::8] = 1 + 2.0**-7  # exact in bfloat16
    point = np.concatenate([np.full(m // 2, up), second])[None, :]
    one, other = np.repeat([[2.0, 0.0], [0.0, 2.0]], m // 2, axis=1)
    # Scores near zero, so that rounding them does not hide it; mean zero.
    vectors = np.float32([other, one, -one, -other])
    assert nearest_words(point, vectors) == [1]
    assert make(vectors)(point) == [1]
    assert make(vectors, cls=Narrow)(point) == [0]


# -- the words -----------------------------------------------------------------


@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize(("epsilon", "lam"), [(10.0, 0.0), (10.0, 1.0), (60.0, 0.5)])
def test_words_of_the_float32_search(built_in, searched_again, sums, epsilon, lam):
    part = built_in.restrict(1000)
    points = noisy_words(part, epsilon, lam, 150)
    search = make(part.vectors, sums, tile=256, group=8)
    expected = nearest_words(points, part.vectors)
    np.testing.assert_array_equal(search(points), expected)
    assert searched_again() == 0


def test_words_of_a_whole_table(built_in, searched_again):
    points = noisy_words(built_in, 12.0, 0.5, 300)
    search = make(built_in.vectors, tile=2048, group=16)
    expected = nearest_words(points, built_in.vectors)
    np.testing.assert_array_equal(search(points), expected)
    assert searched_again() <= 15


@settings(deadline=None, max_examples=150)
@given(data=st.data(), sums=st.sampled_from(SUMS))
def test_words_of_any_small_table(data, sums):
    n, v, m = (data.draw(st.integers(1, high)) for high in (5, 40, 5))
    vectors = data.draw(hnp.arrays(np.float32, (v, m), elements=any_size))
    copies = data.draw(st.lists(st.integers(0, v - 1), max_size=20))
    vectors = np.concatenate([vectors, vectors[copies]])  # exact ties
    points = data.draw(hnp.arrays(np.float64, (n, m), elements=any_size))
    with np.errstate(all="ignore"):
        found = make(vectors, sums, tile=16, group=2)(points)
    np.testing.assert_array_equal(found, nearest_words(points, vectors))


@pytest.mark.parametrize("n_copies", [2, 3000])
def test_equal_vectors_go_to_the_first_word(n_copies):
    vectors = np.tile(np.float32([[1.0, 2.0], [0.0, 1.0]]), (n_copies, 1))
    points = np.array([[0.9, 2.2], [0.1, 0.7]])
    np.testing.assert_array_equal(make(vectors)(points), [0, 1])


def test_midpoints_between_words(built_in):
    """Ties in exact arithmetic, or almost: float64 decides, in both searches."""
    vectors = built_in.vectors[:300]
    pairs = np.random.default_rng(0).integers(0, 300, (100, 2))
    points = vectors[pairs].astype(np.float64).mean(axis=1)
    found = make(vectors)(points)
    np.testing.assert_array_equal(found, nearest_words(points, vectors))


@pytest.mark.parametrize("scale", [1e-25, 1e25, 1e150])
def test_magnitudes_beyond_float32(scale):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    if scale < 1:
        vectors *= np.float32(1e-20)
    points = rng.normal(size=(40, 6)) * scale
    found = make(vectors)(points)
    np.testing.assert_array_equal(found, nearest_words(points, vectors))


def test_vectors_that_overflow_bfloat16_only():
    """3.4e38 is a float32 number, but rounds to infinity."""
    vectors = np.float32([[3.4e38, 0.0], [0.0, 1.0], [1.0, 0.0]])
    points = np.array([[2.0, 0.0], [0.0, 2.0], [3e38, 0.0]])
    found = make(vectors)(points)
    np.testing.assert_array_equal(found, nearest_words(points, vectors))


def test_no_points_and_one_word():
    vectors = np.ones((1, 3), dtype=np.float32)
    assert make(vectors)(np.empty((0, 3))).shape == (0,)
    assert make(vectors)(np.zeros((2, 3))).tolist() == [0, 0]


@pytest.fixture(scope="module")
def wide():
    """8,000 words in 300 dimensions."""
    vectors = np.random.default_rng(0).normal(size=(8000, 300)).astype(np.float32)
    return WordEmbedding(map(str, range(8000)), vectors)


def test_a_block_keeps_to_the_memory(wide):
    search = make(wide.vectors, tile=2048, group=16)
    # scores of a tile, bfloat16 maxima in parts and joined, three points of a kind
    per_row = 4 * 2048 + 4 * 512 + 16 * 302
    assert search._plan(2**30)[0] == search.arithmetic.max_rows
    search.arithmetic.max_rows = 10**6
    for memory in (2**20, 2**22):
        rows, room = search._plan(memory)
        taken = rows * per_row + room.vectors + 7 * room.bounds
        assert memory - 2 * per_row < taken <= memory


def test_independent_of_blocks(wide):
    points = noisy_words(wide, 20.0, 0.5, 100)
    search = make(wide.vectors, tile=2048, group=16)
    whole = search(points)
    parts = [search(p) for p in np.array_split(points, 7)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    with config_context(working_memory=1):
        rows, room = search._plan(None)
        assert rows == 16  # the fewest
        assert room.vectors + 7 * room.bounds < 2**17
        np.testing.assert_array_equal(search(points), whole)
