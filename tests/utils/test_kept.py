"""Results that are kept by key, and let go in the end."""

from __future__ import annotations

import threading
import time

import pytest

from skdptext.utils import Kept


def test_what_was_asked_for_last_is_kept():
    made = []

    def value(key):
        return kept.get(key, lambda: made.append(key) or key.upper())

    kept = Kept(2)
    assert [value(key) for key in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]  # b had to go for c, and not a


def test_sizes_add_up_to_a_limit_that_may_change():
    limit = [10]
    kept = Kept(lambda: limit[0])
    for key, size in (("a", 6), ("b", 4), ("large", 11)):
        assert kept.get(key, lambda: "made", size) == "made"
    assert kept.get("b", lambda: "again", 4) == "again"  # nothing was left beside it
    limit[0] = 3
    assert kept.get("b", lambda: "never", 4) == "again"
    assert kept.get("b", lambda: "anew", 4) == "anew"


def test_two_threads_do_not_make_the_same_twice():
    made, kept = [], Kept(4)

    def make():
        time.sleep(0.05)
        made.append(1)
        return len(made)

    threads = [threading.Thread(target=lambda: kept.get("key", make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_what_fails_is_not_kept_and_what_is_made_of_others_can_be():
    kept = Kept(2)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 / 0)
    assert kept.get("a", lambda: kept.get("b", lambda: 1) + 1) == 2
