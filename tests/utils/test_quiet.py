"""Warnings that are ignored for a while, by several threads at once."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

from skdptext import DPDocumentReplacer
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils import quiet


@pytest.fixture(autouse=True)
def caught():
    """What is shown, under a filter of the user's own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def heard(category=UserWarning, text="a private word"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn(text, category, stacklevel=1)
    return bool(caught)


def test_kinds_and_texts_that_are_named_are_ignored():
    before = list(warnings.filters)
    with quiet(PrivacyLeakWarning, DeprecationWarning):
        assert heard()
        assert not heard(PrivacyLeakWarning)
        assert not heard(DeprecationWarning)
        with quiet(UserWarning, message="A pri"):
            assert not heard()
            assert heard(text="another")
            assert heard(ImportWarning)
    assert heard(PrivacyLeakWarning)
    assert warnings.filters == before


class EndsError(Exception):
    pass


def test_an_error_ends_it():
    before = list(warnings.filters)
    with pytest.raises(EndsError), quiet(Warning), quiet(Warning):
        raise EndsError
    assert warnings.filters == before


def test_it_comes_before_filters_set_later():
    with ExitStack() as stack:
        stack.enter_context(quiet(Warning))
        warnings.simplefilter("error")
        with quiet(Warning):
            assert not heard()


class Gate:
    """Where each thread waits, the first time that it comes by."""

    def __init__(self):
        self.reached = [threading.Event() for _ in range(2)]
        self.go_on = [threading.Event() for _ in range(2)]
        self.mine = threading.local()

    def __deepcopy__(self, memo):
        return self

    def pass_by(self):
        if (number := getattr(self.mine, "number", None)) is not None:
            self.mine.number = None
            self.reached[number].set()
            assert self.go_on[number].wait(60)

    def overlap(self, call, first_out):
        """One of two threads is in `call` when the other comes, and leaves first."""

        def run(number):
            self.mine.number = number
            call()

        others = [first_out, 1 - first_out]
        with ThreadPoolExecutor(2) as pool:
            running = []
            for number in range(2):
                running.append(pool.submit(run, number))
                while not self.reached[number].wait(0.1):
                    assert not running[number].done(), running[number].result()
            for number in others:
                self.go_on[number].set()
                running[number].result()
                yield number


@pytest.mark.parametrize("first_out", [0, 1])
@pytest.mark.parametrize("kinds", [[Warning], [Warning, PrivacyLeakWarning]])
def test_of_two_that_overlap_the_last_ends_it(kinds, first_out):
    gate = Gate()

    def call():
        with quiet(*kinds):
            gate.pass_by()
            assert not heard()

    before = list(warnings.filters)
    left = []
    for _ in gate.overlap(call, first_out):
        left.append(heard())
    assert left == [False, True]
    assert warnings.filters == before


@pytest.mark.parametrize("first_out", [0, 1])
def test_what_restores_the_filters_meanwhile_does_not_make_it_last(first_out):
    """As scikit-learn's checks do, in threads that know nothing of it."""
    gate = Gate()

    def call():
        with warnings.catch_warnings():
            gate.pass_by()

    overlapping = gate.overlap(call, first_out)
    with quiet(Warning):  # the two come and the first one leaves while it is quiet
        next(overlapping)
    assert len(list(overlapping)) == 1
    assert heard()


def test_a_user_s_filter_that_is_set_meanwhile_stays():
    with quiet(Warning):
        warnings.simplefilter("error", ImportWarning)
    with pytest.raises(ImportWarning):
        warnings.warn("x", ImportWarning, stacklevel=1)


# -- what users call --------------------------------------------------------------

PUBLIC = ["a cat and a dog", "tea and milk", "dogs, a cat", "milk or tea"]


class ByTea(ClusterMixin, BaseEstimator):
    """Groups texts; what it says of them nobody hears."""

    def __init__(self, gate=None):
        self.gate = gate

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        if self.gate is not None and "private tea" in X:
            self.gate.pass_by()
        if "private tea" in X:
            warnings.warn(f"what a text: {X}", stacklevel=1)
        return np.array([int("tea" in text) for text in X])

    def __sklearn_clone__(self):
        return ByTea(self.gate)


@pytest.mark.parametrize("first_out", [0, 1])
def test_overlapping_releases_leave_warnings_as_they_were(caught, first_out):
    gate = Gate()
    replacer = DPDocumentReplacer(PUBLIC, ByTea(gate)).fit()
    before = list(warnings.filters)
    calls = gate.overlap(lambda: replacer.transform(["private tea"]), first_out)
    assert [heard() for _ in calls] == [False, True]
    assert warnings.filters == before
    assert not [w for w in caught if "private" in str(w.message)]


def test_what_is_said_in_threads_of_a_release_is_not_heard(caught):
    replacer = DPDocumentReplacer(PUBLIC, ByTea(), n_jobs=2).fit()
    replacer.transform(["private tea"] * 10_000)  # of several blocks
    assert not [w for w in caught if "private" in str(w.message)]


def test_a_document_is_read_while_warnings_are_heard():
    """Only the grouper is not: what gives the documents is the user's own."""
    replacer = DPDocumentReplacer(PUBLIC, ByTea()).fit()
    assert replacer.transform("tea" for _ in range(2) if heard())
