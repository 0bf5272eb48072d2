"""What kind of input documents are: texts, token lists or a count matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError

__all__ = ["check_document", "is_count_matrix"]

_EXPECTED = "Expected an iterable of documents (str or lists of str) or a count matrix"


def is_count_matrix(X: Any) -> bool:
    """Whether `X` is a count matrix rather than documents.

    Raises
    ------
    InvalidParameterError
        If it is neither, as far as can be told without consuming it.
    """
    if isinstance(X, str | bytes):
        raise InvalidParameterError(
            f"Expected an iterable of documents, got a single {type(X).__name__}."
        )
    if sp.issparse(X):
        return True
    if isinstance(X, Mapping | Set):
        raise InvalidParameterError(f"{_EXPECTED}, got a {type(X).__name__}.")
    if hasattr(X, "shape") or hasattr(X, "__array__"):
        return _array_is_counts(X)
    if not isinstance(X, Iterable):
        raise InvalidParameterError(f"{_EXPECTED}, got {X!r:.80}.")
    if isinstance(X, Sequence):
        first = X[0] if len(X) else ""
        nested = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
        if nested and isinstance(first[0], Number):
            return True
        _check_all(X)
    return False


def _array_is_counts(X: Any) -> bool:
    """The same for arrays, data frames and their columns."""
    array = X if hasattr(X, "shape") and hasattr(X, "dtype") else np.asarray(X)
    if len(array.shape) == 2:
        first = np.asarray(X).ravel()[:1] if hasattr(X, "columns") else array.ravel()
        if len(first) and isinstance(first[0], str):
            what = f"columns {list(X.columns)[:5]}" if hasattr(X, "columns") else "2-D"
            raise InvalidParameterError(
                "Expected one column of documents, got a table of strings "
                f"({what}, shape {tuple(array.shape)}). Select the column of texts."
            )
        return True
    if len(array.shape) == 1 and getattr(array.dtype, "kind", "O") in "biufc":
        raise InvalidParameterError(
            f"{_EXPECTED}, got a 1-D array of numbers. Reshape your data with "
            "X.reshape(1, -1) if it is the counts of one document."
        )
    if len(array.shape) != 1:
        raise InvalidParameterError(
            f"{_EXPECTED}, got an array of shape {tuple(array.shape)}."
        )
    _check_all(X)
    return False


def _check_all(documents: Iterable[Any]) -> None:
    for position, document in enumerate(documents):
        check_document(document, position)


def check_document(document: Any, position: int) -> None:
    """Refuse what is neither a text nor a list of tokens, by its position."""
    if isinstance(document, str | list | tuple):
        return
    if isinstance(document, np.ndarray) and document.ndim == 1:
        return
    raise InvalidParameterError(
        "each document must be a str or a list of str tokens, got "
        f"{document!r:.80} as document {position}."
    )
