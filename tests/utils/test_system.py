"""Limits, memory, files, packages, threads and progress bars."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import StringIO
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits
from tqdm.auto import tqdm

from skdptext import DPWordPerturber
from skdptext.mechanisms import MahalanobisNoise
from skdptext.utils import (
    Memo,
    bisect,
    blas_threads,
    import_pandas,
    progress_bar,
    replacing,
)

ENDS = st.floats(1e-6, 1e6)


@given(ENDS, ENDS, st.floats(0, 1), st.sampled_from([1e-3, 1e-9]))
def test_bisection_closes_in_on_the_limit(a, b, share, precision):
    low, high = sorted((a, b))
    limit = low + share * (high - low)
    for inside, outside, sign in ((low, high, 1), (high, low, -1)):
        asked = []

        def holds(x, sign=sign, asked=asked):
            asked.append(x)
            return sign * x <= sign * limit

        near, far = bisect(holds, inside, outside, precision=precision)
        assert {inside, outside}.isdisjoint(asked)
        assert near == inside or holds(near)
        assert far == outside or not holds(far)
        assert abs(far - near) <= precision * max(near, far)
        assert low <= min(near, far) <= max(near, far) <= high


def test_what_was_asked_for_last_is_kept():
    memo, made = Memo(2), []
    for key in "abacab":
        assert memo.get(key, lambda key=key: made.append(key) or key * 2) == key * 2
    assert made == ["a", "b", "c", "b"]  # b had to go for c, and not a
    with pytest.raises(ZeroDivisionError):
        memo.get("d", lambda: 1 / 0)
    assert memo.get("d", lambda: memo.get("e", lambda: 1) + 1) == 2


def test_a_missing_package_is_named_with_what_needs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame .*pip install pandas"):
        import_pandas("to_frame")


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    target = tmp_path / "t.npz"
    target.write_bytes(b"old")
    with suppress(KeyboardInterrupt), replacing(target) as file:
        file.write(b"half of the n")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"old"
    with replacing(target) as first:
        first.write(b"first")
        first.flush()
        with replacing(target) as second:  # as another process may
            second.write(b"second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert os.listdir(tmp_path) == [target.name]


# -- threads of the linear algebra library ----------------------------------------


def threads_now():
    return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]


class Counting(MahalanobisNoise):
    """A mechanism that notes the threads of a product, and then fails."""

    def apply(self, words, draws):
        self.seen = set(threads_now())
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


# -- progress bars ----------------------------------------------------------------


# None is stderr on Windows without a console
@pytest.mark.parametrize(("stream", "shown"), [(StringIO(), [1, 2]), (None, [])])
def test_a_bar_is_shown_where_it_is_asked_for(stream, shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    for verbose in range(3):
        with progress_bar(verbose, "counting", total=7) as bar:
            bar.update(7)
            assert isinstance(bar, tqdm) == (verbose in shown)


def test_one_that_is_not_shown_waits_for_nobody(capsys):
    """Processes share tqdm's lock, and one may have been killed while it held it."""
    thread = Thread(target=lambda: progress_bar(0, "x").update(), daemon=True)
    with tqdm.get_lock():
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert capsys.readouterr().err == ""
