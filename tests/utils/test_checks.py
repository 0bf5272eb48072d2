"""Numbers and bags-of-words: what is taken, as what, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_real, read_bags
from tests.expected import refusals

# -- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (Fraction(1, 3), 1 / 3),
        (Decimal("0.1"), 0.1),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.longdouble(2.5), 2.5),
        (7, 7.0),
        (np.float32(-0.0), 0.0),
        (Decimal("-0"), 0.0),
        (Fraction(-1, 10**400), 0.0),
    ],
)
def test_every_real_number_becomes_a_plain_float(value, number):
    checked = check_real("x", value)
    assert type(checked) is float
    assert checked == number
    assert math.copysign(1, checked) == math.copysign(1, number)


@refusals(
    *(
        (value, {}, "x must be a finite number, got")
        for value in (10**400, Fraction(10**400), Decimal("sNaN"), np.float32("inf"))
    ),
    *((value, {}, "x must be a finite") for value in (1j, np.True_, None, np.ones(()))),
    # as the float that is used it is 0
    (Fraction(1, 10**400), {"low": 0, "open_low": True}, "x must be a .* number > 0"),
)
def test_what_is_no_finite_number(value, rule):
    check_real("x", value, **rule)


# -- sizes -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_too_many_words(kind):
    X = kind(np.array([[0.0, 2.0], [5e7, 2e8]]))
    assert read_bags(X).sum() == 250_000_002  # weights, not words
    assert read_bags(X[1:], counts=True).sum() == 250_000_000
    with pytest.raises(InvalidParameterError, match="in all, got 250000002: pass few"):
        read_bags(X, counts=True)
