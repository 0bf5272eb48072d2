"""Results that are kept by key, and let go in the end."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import pytest

from skdptext.documents import DocumentReader
from skdptext.utils import Kept, limit_blas_threads


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


class Blocking(list):
    """Stop words that are read when the test says so."""

    def __init__(self):
        self.reached, self.go_on = threading.Event(), threading.Event()

    def __iter__(self):
        self.reached.set()
        self.go_on.wait()
        return iter(())


def test_readers_of_documents_do_not_wait_for_each_other():
    """Under a lock of all readers, a process forked meanwhile would wait forever."""
    words = Blocking()
    thread = threading.Thread(
        target=DocumentReader, args=(None,), kwargs={"stop_words": words}
    )
    thread.start()
    words.reached.wait()
    other = threading.Thread(target=DocumentReader, args=(None,), daemon=True)
    other.start()
    other.join(20)
    waited = other.is_alive()
    words.go_on.set()
    thread.join()
    assert not waited


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_lacks():
    kept = Kept(3)
    reached, go_on = threading.Event(), threading.Event()

    def make():
        with limit_blas_threads(1):
            reached.set()
            go_on.wait()

    thread = threading.Thread(target=kept.get, args=("a", make))
    thread.start()
    reached.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork with threads
        child = os.fork()
    if not child:
        signal.alarm(20)  # ends it if it waits
        kept.get("b", lambda: 1)
        with limit_blas_threads(1):
            os._exit(7)
    status = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
