"""Results that are kept by key, and let go in the end."""

from __future__ import annotations

import pytest

from skdptext.utils import Memo


def test_what_was_asked_for_last_is_kept():
    made = []

    def value(key):
        return memo.get(key, lambda: made.append(key) or key.upper())

    memo = Memo(2)
    assert [value(key) for key in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]  # b had to go for c, and not a


def test_what_fails_is_not_kept_and_what_is_made_of_others_can_be():
    memo = Memo(2)
    with pytest.raises(ZeroDivisionError):
        memo.get("a", lambda: 1 / 0)
    assert memo.get("a", lambda: memo.get("b", lambda: 1) + 1) == 2
