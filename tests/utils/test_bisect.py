"""Where a condition stops to hold, to a relative precision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext.utils import bisect

ENDS = st.floats(1e-6, 1e6)


@given(ENDS, ENDS, st.floats(0, 1), st.booleans(), st.sampled_from([1e-3, 1e-9]))
def test_the_ends_close_in_on_the_limit(a, b, share, geometric, precision):
    low, high = sorted((a, b))
    limit = low + share * (high - low)
    for inside, outside, holds in (
        (low, high, lambda x: x <= limit),
        (high, low, lambda x: x >= limit),
    ):
        near, far = bisect(
            holds, inside, outside, precision=precision, geometric=geometric
        )
        assert near == inside or holds(near)
        assert far == outside or not holds(far)
        assert abs(far - near) <= precision * max(near, far)
        assert low <= min(near, far) <= max(near, far) <= high


def test_the_ends_are_not_asked_about():
    asked = []
    bisect(lambda x: asked.append(x) or x < 2, 1.0, 4.0, precision=1e-3)
    assert set(asked).isdisjoint({1.0, 4.0})
    assert bisect(lambda x: True, 1.0, 1.0, precision=1e-3) == (1.0, 1.0)


@pytest.mark.parametrize("geometric", [False, True])
def test_halves_the_difference_or_the_ratio(geometric):
    asked = []
    bisect(lambda x: asked.append(x), 1.0, 100.0, precision=0.9, geometric=geometric)
    assert asked[0] == (10.0 if geometric else 50.5)
