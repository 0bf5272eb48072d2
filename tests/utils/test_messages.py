"""Warnings that come once a process, or not at all for a while; links of views."""

from __future__ import annotations

import threading
import tomllib
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from skdptext import (
    DPDocumentReplacer,
    DPWordPerturber,
    WMDKNNClassifier,
    WordEmbedding,
)
from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning
from skdptext.mechanisms import Exponential
from skdptext.utils import quiet, warn_once

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
        ("always", {"message": "what of"}, 3),
        ("always", {"category": UserWarning}, 3),
        ("ignore", {}, 0),
        ("always", {"category": DeprecationWarning}, 1),
        ("always", {"message": "of it"}, 1),
        ("always", {"module": "elsewhere"}, 1),
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


def test_a_search_warns_once():
    table = WordEmbedding(["one", "two", "six"], [[0.0], [1.0], [5.0]])
    texts = ["one two and more words", "six or more words", ""] * 4
    model = make_pipeline(
        DPWordPerturber(table), WMDKNNClassifier(table, n_neighbors=1)
    )
    search = GridSearchCV(model, {"dpwordperturber__epsilon": [1, 2, 3]}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        search.fit(texts, [0, 1, 0] * 4).predict(texts)
    counts = Counter(w.category for w in caught)
    assert counts[OutOfVocabularyWarning] == 1
    # another test of this process may have been told of it
    assert counts[PrivacyLeakWarning] <= 1


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
    assert warnings.filters == before

    @quiet(Warning)
    def fail():
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert warnings.filters == before


class Gate:
    """Lets a second thread come while the first is inside, and the first leave."""

    def __init__(self):
        self.first, self.turn = threading.Lock(), threading.Barrier(2)

    def __deepcopy__(self, memo):
        return self

    def overlap(self, call):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: call(), range(2)))

    def pass_by(self):
        """Returns whether this thread leaves last."""
        last = not self.first.acquire(blocking=False)
        self.turn.wait(60)  # both are inside
        if last:
            self.turn.wait(60)  # the first has left
        return last

    def left(self):
        self.turn.wait(60)


def test_of_threads_that_overlap_the_last_ends_it(caught):
    gate, before, lasts = Gate(), list(warnings.filters), []

    def call():
        with quiet(Warning):
            last = gate.pass_by()
            lasts.append(last)
            warnings.warn("a private word", stacklevel=1)
        if not last:
            gate.left()

    gate.overlap(call)
    assert sorted(lasts) == [False, True]
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


@pytest.mark.parametrize("estimator", [DPWordPerturber, WMDKNNClassifier, Exponential])
def test_estimators_link_to_their_page_of_the_api_reference(estimator):
    project = Path(__file__).parents[2] / "pyproject.toml"
    urls = tomllib.loads(project.read_text("utf-8"))["project"]["urls"]
    room = estimator.__module__.rpartition("._")[0]
    page_of_it = f"api/generated/{room}.{estimator.__name__}.html"
    view = estimator_html_repr(estimator())
    assert f'href="{urls["Documentation"]}{page_of_it}"' in view

    class Mine(DPWordPerturber):
        """Somebody else's, which has no page here."""

    assert "readthedocs" not in estimator_html_repr(Mine())
