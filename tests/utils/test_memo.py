"""Results that are kept by key, and let go in the end."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import skdptext
from skdptext.datasets import make_embedding
from skdptext.documents import DocumentReader
from skdptext.mechanisms import Directional
from skdptext.replacement import PublicDocuments
from skdptext.utils import (
    LoadedOnce,
    Memo,
    ProcessLock,
    limit_blas_threads,
    memo_property,
)
from tests.processes import run_python


def test_what_was_asked_for_last_is_kept():
    made = []

    def value(key):
        return memo.get(key, lambda: made.append(key) or key.upper())

    memo = Memo(2)
    assert [value(key) for key in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]  # b had to go for c, and not a


def test_sizes_add_up_to_a_limit_that_may_change():
    limit = [10]
    memo = Memo(lambda: limit[0])
    for key, size in (("a", 6), ("b", 4), ("large", 11)):
        assert memo.get(key, lambda: "made", size) == "made"
    assert memo.get("b", lambda: "again", 4) == "again"  # nothing was left beside it
    limit[0] = 3
    assert memo.get("b", lambda: "never", 4) == "again"
    assert memo.get("b", lambda: "anew", 4) == "anew"


def test_two_threads_do_not_make_the_same_twice():
    made, memo = [], Memo(4)

    def make():
        time.sleep(0.05)
        made.append(1)
        return len(made)

    threads = [threading.Thread(target=lambda: memo.get("key", make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_what_fails_is_not_kept_and_what_is_made_of_others_can_be():
    memo = Memo(2)
    with pytest.raises(ZeroDivisionError):
        memo.get("a", lambda: 1 / 0)
    assert memo.get("a", lambda: memo.get("b", lambda: 1) + 1) == 2


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


def forked_while(hold, reached, go_on, then):
    """Exit status of a process that is forked while a thread holds something."""
    thread = threading.Thread(target=hold)
    thread.start()
    reached.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork with threads
        child = os.fork()
    if not child:
        signal.alarm(20)  # ends it if it waits
        then()
        os._exit(7)
    status = os.waitpid(child, 0)[1]
    go_on.set()
    thread.join()
    return os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_lacks():
    memo = Memo(3)
    reached, go_on = threading.Event(), threading.Event()

    def make():
        with limit_blas_threads(1):
            reached.set()
            go_on.wait()

    def then():
        memo.get("b", lambda: 1)
        with limit_blas_threads(1):
            pass

    assert forked_while(lambda: memo.get("a", make), reached, go_on, then) == 7


def other_locks():
    """Locks beside those of `Memo`, and what takes each."""
    embedding = make_embedding(3, 2, n_clusters=1)
    texts = PublicDocuments(["a cat", "a dog"])
    loaded = LoadedOnce(lambda: 1)
    return {
        "embeddings": lambda: pickle.loads(pickle.dumps(embedding)),
        "public documents": lambda: pickle.loads(pickle.dumps(texts)),
        "directions": lambda: Directional().prepare(embedding, 1.0, 0.0),
        "compiled loops": loaded,
    }


@pytest.mark.no_cover
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_forked_process_takes_every_lock_that_a_thread_held():
    """Of the whole library: all locks are held by a thread while this one forks."""
    calls = other_locks()
    held, go_on = threading.Event(), threading.Event()
    gc.unfreeze()  # tests/conftest.py froze what was imported
    locks = [each for each in gc.get_objects() if type(each) is ProcessLock]
    gc.freeze()
    assert len(locks) >= len(calls)

    def hold():
        with contextlib.ExitStack() as stack:
            for lock in locks:
                stack.enter_context(lock())
            held.set()
            go_on.wait()

    def then():
        for call in calls.values():
            call()

    assert forked_while(hold, held, go_on, then) == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_what_forks_under_a_lock_releases_it():
    lock = ProcessLock()
    with lock():
        if not (child := os.fork()):
            with lock(), lock():
                os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class _Slow:
    """Two properties: one takes as long as the test says."""

    def __init__(self, wait):
        self.wait = wait

    @memo_property
    def made(self):
        """What is made."""
        self.wait()
        return [1]


def test_a_property_is_computed_once_and_does_not_wait_for_other_objects():
    calls = []
    slow = _Slow(lambda: calls.append(1))
    assert slow.made is slow.made
    assert calls == [1]
    assert _Slow.made.__doc__ == "What is made."
    reached, go_on = threading.Event(), threading.Event()
    waits = _Slow(lambda: reached.set() or go_on.wait())
    thread = threading.Thread(target=lambda: waits.made)
    thread.start()
    reached.wait()
    other = threading.Thread(target=lambda: _Slow(lambda: None).made, daemon=True)
    other.start()
    other.join(20)
    waited = other.is_alive()
    go_on.set()
    thread.join()
    assert not waited


def test_no_lock_is_inherited_and_no_property_waits():
    """Each lock is a `ProcessLock`, each cached property a `memo_property`."""
    forbidden = {}
    for path in Path(skdptext.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if path.name == "_system.py":  # those of `ProcessLock`, and `loading`
            for own in ("self._lock = ", "lock._lock = ", "loading = "):
                text = text.replace(f"{own}threading.RLock()", "", 1)
        for word in ("threading.Lock(", "threading.RLock(", "@cached_property"):
            if word in text:
                forbidden[path.name] = word
    assert forbidden == {}


FIRST_USE = """
import os, signal, sys, threading, warnings
import numpy as np
from skdptext import DPDocumentReplacer

warnings.simplefilter("ignore")  # of a fork with threads, and of few words
words = [f"w{i}" for i in range(40)]
rng = np.random.default_rng(0)
public = [" ".join(rng.choice(words, 6)) for _ in range(120)]
texts = [" ".join(words[i : i + 5]) for i in range(30)]
# Nothing that multiplies matrices: OpenBLAS has a lock of its own, which a child
# inherits. Releases of words do, and the fit of a replacer, but not its transform.
releasers = [DPDocumentReplacer(public, epsilon=5.0).fit([]) for _ in range(2)]
going = True


def release(releaser):
    while going:
        releaser.transform(texts)


threads = [threading.Thread(target=release, args=(r,)) for r in releasers * 2]
for thread in threads:
    thread.start()
failed = []
for i in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        signal.alarm(60)  # ends it if it waits
        releasers[i % 2].transform(texts[:3])
        os._exit(7)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 7:
        failed.append(i)
going = False
for thread in threads:
    thread.join()
sys.exit(f"{failed}" if failed else 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("processes", "forks"), [(1, 5), pytest.param(100, 20, marks=pytest.mark.slow)]
)
def test_children_of_a_process_whose_threads_release(processes, forks):
    """From the first release on, when modules are imported and loops are loaded."""
    for _ in range(processes):
        run_python("-c", FIRST_USE, str(forks))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_fork_waits_for_what_is_being_imported(tmp_path, monkeypatch):
    """A child would wait for the lock of the module forever."""
    reached, go_on = threading.Event(), threading.Event()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(threading, "of_slow_module", (reached, go_on), raising=False)
    (tmp_path / "slow_module.py").write_text(
        "import threading\nreached, go_on = threading.of_slow_module\n"
        "reached.set()\ngo_on.wait()\n"
    )

    def load():
        return importlib.import_module("slow_module")

    # the fork itself waits, so that somebody else has to let the import go on
    timer = threading.Timer(0.2, go_on.set)
    timer.start()
    once = LoadedOnce(load)
    assert forked_while(once, reached, go_on, load) == 7
    timer.join()
    del sys.modules["slow_module"]
