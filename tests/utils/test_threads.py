"""The linear algebra library gets back the threads that releases took from it."""

from __future__ import annotations

import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skdptext import DPWordPerturber
from skdptext.mechanisms import MahalanobisNoise
from skdptext.utils import Threads, blas_threads


def threads_now():
    return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]


class Counting(MahalanobisNoise):
    """A mechanism that notes the threads of a product, and then fails."""

    def _prepare(self):
        super()._prepare()
        self.seen = set()

    def apply(self, words, draws):
        self.seen |= set(threads_now())
        raise RuntimeError("as was asked for")


def test_threads_of_a_release_share_those_of_the_library(small_embedding):
    documents = [[f"w{i}", f"w{i + 1}"] for i in range(40)]
    perturber = DPWordPerturber(
        small_embedding, mechanism=Counting(), document_length=2, n_jobs=2
    ).fit([])
    with threadpool_limits(4, "blas"):
        before = threads_now()
        assert blas_threads() == max(before) == 4
        with pytest.raises(RuntimeError, match="as was asked for"):
            perturber.transform(documents)
        assert perturber.mechanism_.seen == {2}
        assert threads_now() == before


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
