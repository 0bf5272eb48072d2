"""No page, notebook or example tests on what its stand-ins or its model came from.

A filter that is scored on the documents which supplied the stand-ins looks better than
it is. `watched` follows the texts through the calls that a page itself makes, and fails
at the first prediction for a document that a replacer or a learner was given.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from skdptext import DPDocumentReplacer, DPTextClassifier

TAKE = [
    (DPDocumentReplacer, "__init__"),
    (DPTextClassifier, "__init__"),
    (DPTextClassifier, "fit"),
    (DPTextClassifier, "fit_resample"),
]
READ = [(CountVectorizer, "transform"), (TfidfVectorizer, "transform")]
TEST = [
    (LogisticRegression, "predict"),
    (LogisticRegression, "score"),
    (Pipeline, "predict"),
    (Pipeline, "score"),
    (DPTextClassifier, "predict"),
    (DPTextClassifier, "score"),
]


class TestedOnTrainingError(AssertionError):
    """A page scores on a document that its stand-ins or its model came from."""


class _Watch:
    """The documents that a page gave away, and the texts of each matrix it made."""

    def __init__(self) -> None:
        self.given: set[str] = set()
        self.read: list[tuple[Any, set[str]]] = []

    def texts(self, X: Any) -> set[str]:
        """The texts in a list, or behind a matrix."""
        for matrix, texts in self.read:
            if matrix is X:
                return texts
        if isinstance(X, str) or not hasattr(X, "__iter__") or hasattr(X, "tocsr"):
            return set()
        return {each for each in X if isinstance(each, str)}

    def take(self, method: Callable, *args: Any, **kwargs: Any) -> Any:
        self.given |= self.texts(args[1])
        return method(*args, **kwargs)

    def reading(self, method: Callable, *args: Any, **kwargs: Any) -> Any:
        matrix = method(*args, **kwargs)
        self.read.append((matrix, self.texts(args[1])))
        return matrix

    def test(self, method: Callable, *args: Any, **kwargs: Any) -> Any:
        both = self.given & self.texts(args[1])
        if both:
            raise TestedOnTrainingError(
                f"scored on {len(both)} documents that stand-ins or a model came from"
            )
        return method(*args, **kwargs)


def _follow(owner: type, name: str, then: Callable) -> Callable[[], None]:
    """Let calls of a method by a page go through `then`; how to undo that."""
    # What stands in the class may be a descriptor, which `getattr` would have resolved.
    method, own = getattr(owner, name), vars(owner).get(name)

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__") != "__main__":
            return method(*args, **kwargs)
        return then(method, *args, **kwargs)

    setattr(owner, name, wrapper)
    return lambda: setattr(owner, name, own) if own else delattr(owner, name)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Fail where a page, which runs as ``__main__``, tests on what it gave away."""
    watch = _Watch()
    with contextlib.ExitStack() as undo:
        for methods, then in (
            (TAKE, watch.take),
            (READ, watch.reading),
            (TEST, watch.test),
        ):
            for owner, name in methods:
                undo.callback(_follow(owner, name, then))
        yield
