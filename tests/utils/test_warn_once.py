"""Warnings that come once a process."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.exceptions import (
    EmptyDocumentWarning,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.utils import warn_once
from tests.expected import no_warning


def heard(message, *filters):
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


def test_by_default_the_first_time_only():
    assert heard("told by default") == 1
    assert heard("told by default") == 0
    assert heard("another text") == 1


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
        search.fit(texts, [0, 1, 0] * 4)
        search.predict(texts)
    counts = Counter(w.category for w in caught)
    assert counts[OutOfVocabularyWarning] == 1
    # another test of this process may have been told of the others
    assert counts[PrivacyLeakWarning] <= 1
    assert counts[EmptyDocumentWarning] <= 2  # of training, and of queries


@pytest.mark.parametrize(
    ("action", "options", "times"),
    [
        ("always", {}, 3),
        ("always", {"message": "what of"}, 3),
        ("always", {"category": UserWarning}, 3),
        ("ignore", {}, 0),
        ("always", {"category": DeprecationWarning}, 1),
        ("always", {"message": "of it"}, 1),
        ("always", {"module": "elsewhere"}, 1),
    ],
)
def test_filters_are_obeyed(action, options, times):
    message = f"what of {action} and {options}"
    assert heard(message, (action, options)) == times
    # what a filter hid or always shows was not told by default
    assert heard(message) == (1 if times in (0, 3) else 0)


def test_errors_are_raised():
    with no_warning():
        for _ in range(2):
            with pytest.raises(PrivacyLeakWarning, match="an error"):
                warn_once("an error", PrivacyLeakWarning)
