"""The linear algebra library gets back the threads that releases took from it."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skdptext import DPWordPerturber
from skdptext.mechanisms import WordChannel
from skdptext.utils import Threads, blas_threads, limit_blas_threads

DOCUMENTS = [[f"w{i}", f"w{i + 1}"] for i in range(40)]


def threads_now():
    return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]


def set_threads(n):
    """For good, and so that any thread may set it again."""
    threadpool_limits(n, "blas")
    with threadpool_limits(None):
        pass


@pytest.fixture
def four_threads():
    first = threads_now()
    set_threads(4)
    before = threads_now()
    assert max(before) == 4
    yield before
    set_threads(max(first))


class Waiting(WordChannel):
    """A mechanism whose words wait until they are let go."""

    def __init__(self, channel, fails):
        law = channel.mechanism, channel.embedding, channel.epsilon, channel.lam
        super().__init__(*law)
        self.channel, self.fails = channel, fails
        self.inside, self.leave = threading.Event(), threading.Event()

    def draw(self, rng, n):
        return self.channel.draw(rng, n)

    def apply(self, words, draws):
        self.inside.set()
        assert self.leave.wait(60)
        if self.fails:
            raise RuntimeError("as was asked for")
        return self.channel.apply(words, draws)

    def exponents(self, x, y):
        return self.channel.exponents(x, y)


class Releasing(threading.Thread):
    """A transform of its own that is under way once this is made."""

    def __init__(self, embedding, fails=False):
        super().__init__()
        self.perturber = DPWordPerturber(embedding, document_length=2, n_jobs=2).fit([])
        self.channel = Waiting(self.perturber.mechanism_, fails)
        self.perturber.mechanism_ = self.channel
        self.result = None
        self.done, self.rest = threading.Event(), threading.Event()
        self.start()
        assert self.channel.inside.wait(60)

    def run(self):
        try:
            self.result = self.perturber.transform(DOCUMENTS)
        except RuntimeError as error:
            self.result = error
        self.done.set()
        self.rest.wait(60)  # alive, as a thread of a server is after a request

    def finish(self):
        self.channel.leave.set()
        assert self.done.wait(60)
        assert self.is_alive()
        return self.result


@pytest.mark.no_cover
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_transforms_side_by_side_leave_what_they_found(
    small_embedding, four_threads, order, fails
):
    releases = [Releasing(small_embedding, fails) for _ in range(3)]
    assert max(threads_now()) == 2  # two workers share out four
    assert blas_threads() == 4  # what a release that starts now counts on
    for i in order[:2]:
        assert isinstance(releases[i].finish(), RuntimeError) == fails
        assert max(threads_now()) == 2
    releases[order[2]].finish()
    assert threads_now() == four_threads
    for release in releases:
        release.rest.set()
    if not fails:
        assert all(r.result.sum() == 2 * len(DOCUMENTS) for r in releases)


def test_what_another_sets_meanwhile_is_left(four_threads):
    with limit_blas_threads(2):
        assert max(threads_now()) == 2
        set_threads(3)
    assert max(threads_now()) == 3
    with threadpool_limits(1, "blas"):
        mine = limit_blas_threads(1)
        mine.__enter__()
    # the block of the other has ended, and put back what there was
    mine.__exit__(None, None, None)
    assert max(threads_now()) == 3


def test_many_that_come_and_go(four_threads):
    rng = np.random.default_rng(0)
    errors = []

    def come_and_go(waits):
        for wait in waits:
            with limit_blas_threads(1 + int(wait * 1e4) % 3):
                threading.Event().wait(wait)
                if blas_threads() != 4:
                    errors.append(blas_threads())

    users = [
        threading.Thread(target=come_and_go, args=(rng.uniform(0, 1e-3, 25),))
        for _ in range(6)
    ]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert not errors
    assert threads_now() == four_threads


def test_libraries_are_looked_for_again_when_modules_came(monkeypatch):
    from skdptext.utils import _system

    made = []
    monkeypatch.setattr(
        _system, "ThreadpoolController", lambda: made.append(1) or len(made)
    )
    monkeypatch.setattr(_system, "_known", None)
    assert [_system._libraries() for _ in range(3)] == [1, 1, 1]
    monkeypatch.setitem(sys.modules, "a_library_of_its_own", sys)
    assert [_system._libraries() for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("n", [1, 3])
def test_each_item_is_run_once_in_so_many_threads(n):
    ran, inside = [], threading.Barrier(n)

    def run(item):
        inside.wait(60)  # as many at a time
        ran.append((item, threading.get_ident()))

    with Threads(n) as threads:
        threads.each(run, iter(range(2 * n)))
        assert sorted(item for item, _ in ran) == list(range(2 * n))
    own = {thread for _, thread in ran}
    assert len(own) == n
    assert (threading.get_ident() in own) == (n == 1)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [1, 2])
def test_what_a_call_raises_is_raised_and_the_rest_left(n):
    ran = []

    def run(item):
        ran.append(item)
        if item:
            time.sleep(0.001)
        else:
            raise ValueError("as was asked for")

    with pytest.raises(ValueError, match="as was asked for"), Threads(n) as threads:
        threads.each(run, range(10_000))
    assert len(ran) < 9000  # a thread that waits its turn may be late, not by seconds
