"""Numbers: what is taken, as what, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from skdptext.utils import check_real
from tests.expected import refusals


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
        for value in (10**400, Fraction(10**5000), Decimal("sNaN"), np.float32("inf"))
    ),
    *((value, {}, "x must be a finite") for value in (1j, np.True_, None, np.ones(()))),
    # as the float that is used it is 0
    (Fraction(1, 10**400), {"low": 0, "open_low": True}, "x must be a .* number > 0"),
)
def test_what_is_no_finite_number(value, rule):
    check_real("x", value, **rule)
