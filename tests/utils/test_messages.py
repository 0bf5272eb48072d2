"""Warnings, once a process or not at all for a while; views; text that is not shown."""

from __future__ import annotations

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html import escape
from threading import Barrier, Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin

from skdptext import DPDocumentReplacer
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils import bullets, page, quiet, table, warn_once

# -- once a process ---------------------------------------------------------------


def told(message, *filters):
    """How often each of three calls is heard, other filters changing in between."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        for action, options in filters:
            warnings.filterwarnings(action, **options)
        for _ in range(3):
            warn_once(message, PrivacyLeakWarning)
            with warnings.catch_warnings():  # Python then forgets what it has shown
                warnings.simplefilter("ignore", FutureWarning)
        return len(caught)


@pytest.mark.parametrize(
    ("action", "options", "times"),
    [
        ("default", {}, 1),
        ("always", {}, 3),
        ("always", {"category": UserWarning}, 3),
        ("ignore", {}, 0),
        ("always", {"category": DeprecationWarning}, 1),
        ("always", {"message": "of it"}, 1),
    ],
)
def test_a_warning_comes_once_unless_a_filter_is_set(action, options, times):
    message = f"what of {action} and {options}"
    assert told(message, (action, options)) == times
    # what a filter hid or always shows was not told by default
    assert told(message) == (1 if times in (0, 3) else 0)
    with pytest.raises(PrivacyLeakWarning):
        told(message, ("error", {}))


def test_what_a_warning_is_about_tells_it_from_others():
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        for number, about in enumerate(["a length", "a length", "an order"]):
            warn_once(f"{number} words", PrivacyLeakWarning, about)
        warn_once("3 words", UserWarning, "a length")
    assert [str(w.message) for w in caught] == ["0 words", "2 words", "3 words"]
    assert {w.filename for w in caught} == {__file__}


# -- quiet for a while ------------------------------------------------------------


@pytest.fixture
def caught():
    """What is shown, under a filter of the user's own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def heard(category=UserWarning, text="a private word"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn(text, category, stacklevel=1)
    return bool(caught)


@pytest.mark.usefixtures("caught")
def test_kinds_and_texts_that_are_named_are_ignored_for_a_while():
    before = list(warnings.filters)
    with suppress(KeyError), quiet(PrivacyLeakWarning, DeprecationWarning):
        assert heard()
        assert not heard(PrivacyLeakWarning)
        assert not heard(DeprecationWarning)
        with quiet(UserWarning, message="A pri"):
            assert not heard()
            assert heard(text="another")
            assert heard(ImportWarning)
        raise KeyError
    assert warnings.filters == before


def test_of_threads_that_overlap_the_last_ends_it(caught):
    before, both_inside, first_left = list(warnings.filters), Barrier(2), Event()

    def call(first):
        with quiet(Warning):
            both_inside.wait(60)
            assert first or first_left.wait(60)
            warnings.warn("a private word", stacklevel=1)
        first_left.set()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(call, (True, False)))
    assert not caught
    assert warnings.filters == before


PUBLIC = ["a cat and a dog", "tea and milk", "dogs, a cat", "milk or tea"]


class ByTea(ClusterMixin, BaseEstimator):
    """Groups texts; what it says of them nobody hears."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        if "private tea" in X:
            warnings.warn(f"what a text: {X}", stacklevel=1)
        return np.array([int("tea" in text) for text in X])


def test_what_is_said_in_threads_of_a_release_is_not_heard(caught):
    replacer = DPDocumentReplacer(PUBLIC, ByTea(), n_jobs=2).fit()
    replacer.transform(["private tea"] * 10_000)  # of several blocks
    assert not [w for w in caught if "private" in str(w.message)]
    # only the grouper is not: what gives the documents is the user's own
    replacer = DPDocumentReplacer(PUBLIC, ByTea()).fit()
    assert len(replacer.transform("tea" for _ in range(2) if heard())) == 2


# -- views ------------------------------------------------------------------------

EVIL = "</style><script>alert('x')</script><b a=\"c\">"


@pytest.mark.no_cover
@given(st.lists(st.text() | st.just(EVIL), min_size=5, max_size=5))
def test_any_text_is_shown_and_none_is_read_as_html(texts):
    title, text, item, *row = texts
    view = page(title, text, bullets([item]), table(row, [row, row]))
    assert all(escape(each) in view for each in texts)
    plain = page("a", "a", bullets(["a"]), table(["a"] * 2, [["a"] * 2]))
    assert set(re.findall(r"<(\w+)", view)) == set(re.findall(r"<(\w+)", plain))
