"""Labels of documents: authors, topics and the like."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.utils._inputs import as_array
from skdptext.utils._validation import kind_of, shown

__all__ = ["as_labels", "check_labels", "sums_by_label"]

_ENDLESS = (np.inf, -np.inf)


def as_labels(name: str, values: Any) -> np.ndarray:
    """Labels as a sortable array; an error names the position of a bad label.

    Checked before NumPy turns numbers and missing values into text.
    """
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"{name} must hold one label per document, got {kind_of(values)}."
        )
    given = values if hasattr(values, "__array__") else list(values)
    if hasattr(given, "ndim") and given.ndim != 1:
        return as_array(
            given, f"{name} must be labels"
        )  # the caller knows how many there must be
    kinds: dict[str, int] = {}
    for i, label in enumerate(given):
        if _is_missing(label):
            raise InvalidParameterError(
                f"{name} must not be missing, got {shown(label)} for document {i}."
            )
        kinds.setdefault(_kind(label), i)
    if len(kinds) > 1:
        (kind, i), (other, j) = list(kinds.items())[:2]
        raise InvalidParameterError(
            f"{name} must be of one kind, all text or all numbers, got {kind} for "
            f"document {i} and {other} for document {j}."
        )
    labels = as_array(given, f"{name} must be labels")
    try:
        np.unique(labels)
    except TypeError:
        raise InvalidParameterError(
            f"{name} must be labels that can be sorted, got {kind_of(values)}."
        ) from None
    return labels


def check_labels(
    name: str, values: Any, n: int, *, of: str = "document", n_different: int = 1
) -> np.ndarray:
    """`as_labels`, one for each of `n`, and enough different ones."""
    labels = as_labels(name, values)
    if labels.shape != (n,):
        raise InvalidParameterError(
            f"{name} must hold one label per {of} ({n}), got shape {labels.shape}."
        )
    different = len(np.unique(labels))
    if different < n_different:
        raise InvalidParameterError(
            f"{name} must hold at least {n_different} different labels, got "
            f"{different}."
        )
    return labels


def sums_by_label(labels: np.ndarray, rows: Any, n_labels: int) -> Any:
    """Sums of the rows of each label, which is a number below `n_labels`."""
    one, at = np.ones(len(labels)), np.arange(len(labels))
    return sp.csr_array((one, (labels, at)), shape=(n_labels, len(labels))) @ rows


def _is_missing(label: Any) -> bool:
    """Whether it is None, NaN, NaT, pandas' NA, or infinity, which names nothing."""
    if label is None:
        return True
    if isinstance(label, str):
        return False
    try:
        return bool(label != label or (label in _ENDLESS))
    except TypeError:  # NA is neither equal nor unequal to itself
        return True
    except ValueError:  # an array
        return False


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    return "number" if isinstance(label, Number | np.bool_) else type(label).__name__
