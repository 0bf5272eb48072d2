"""Errors and warnings of skdptext."""

from collections.abc import Mapping
from typing import Any

__all__ = [
    "EmptyDocumentWarning",
    "InvalidParameterError",
    "NoFeasibleCandidateError",
    "OutOfVocabularyWarning",
    "PrivacyLeakWarning",
]


class InvalidParameterError(ValueError, TypeError):
    """A parameter or an input breaks a rule, which the message names.

    Like scikit-learn's own parameter error, it is both a `ValueError` and a
    `TypeError`. Callers need not guess which of the two a rule belongs to.
    """


class NoFeasibleCandidateError(ValueError):
    """No candidate of a search meets the constraints.

    Attributes
    ----------
    cv_results : mapping
        The scores of the search, which scikit-learn discards in this case.
    """

    def __init__(self, message: str, cv_results: Mapping[str, Any]) -> None:
        super().__init__(message, cv_results)
        self.cv_results = cv_results

    def __str__(self) -> str:
        return str(self.args[0])


class PrivacyLeakWarning(UserWarning):
    """Something about the protected documents is released outside the guarantee.

    Issued when the number of words of each document is released, when unknown words
    are released unchanged, and when ε or λ is chosen by documents that are not declared
    public or released before.
    """


class OutOfVocabularyWarning(UserWarning):
    """The embedding lacks so many words that it may be the wrong one."""


class EmptyDocumentWarning(UserWarning):
    """Documents contain no word, and are left out or get the overall answer."""
