"""Checks of arguments; each error names the parameter, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError

# Words of one document: what a 32-bit index can count.
MAX_WORDS = 2**31 - 1


def shown_words(words: Sequence[str]) -> str:
    """The first few words, shortened, for an error message.

    What is no known word may be a whole document, and tracebacks go into logs.
    """
    heads = [word if len(word) <= 20 else f"{word[:20]}…" for word in words[:5]]
    more = ", …" if len(words) > len(heads) else ""
    return f"[{', '.join(map(repr, heads))}{more}]"


def _rule(
    low: float | None, high: float | None, open_low: bool, open_high: bool
) -> str:
    if low is not None and high is not None:
        return (
            f"in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        )
    if low is not None:
        return f"{'>' if open_low else '>='} {low:g}"
    return f"{'<' if open_high else '<='} {high:g}" if high is not None else ""


def check_real(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a float, or say which rule it breaks.

    The interval is closed, except at `low` if `open_low`, at `high` if `open_high`.
    """
    interval = _rule(low, high, open_low, open_high)
    rule = f"{name} must be a finite number {interval}".rstrip()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidParameterError(f"{rule}, got {value!r:.80}.")
    number = float(value)
    too_low = low is not None and (number <= low if open_low else number < low)
    too_high = high is not None and (number >= high if open_high else number > high)
    if not math.isfinite(number) or too_low or too_high:
        raise InvalidParameterError(f"{rule}, got {value!r:.80}.")
    return number


def check_numbers(name: str, values: Any, **rule: Any) -> list[float]:
    """Return `values` as floats, each by the rule of `check_real`; at least one."""
    # an array without dimensions calls itself iterable
    single = isinstance(values, str | bytes) or getattr(values, "ndim", 1) == 0
    if single or not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"{name} must be a sequence of numbers, got {values!r:.80}."
        )
    numbers = [check_real(f"{name}[{i}]", x, **rule) for i, x in enumerate(values)]
    if not numbers:
        raise InvalidParameterError(f"{name} must hold at least one number, got none.")
    return numbers


def check_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within the bounds, or say which rule it breaks."""
    rule = f"{name} must be an integer >= {low}"
    if high is not None:
        rule += f" and <= {high}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InvalidParameterError(f"{rule}, got {value!r:.80}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InvalidParameterError(f"{rule}, got {value!r:.80}.")
    return number


def check_option(name: str, value: Any, options: Collection[str]) -> str:
    """Return `value` if it is one of `options`, or list them."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidParameterError(
            f"{name} must be one of {listed}, got {value!r:.80}."
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, or say that it must be one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"{name} must be True or False, got {value!r:.80}.")
    return bool(value)


def check_n_jobs(value: Any) -> int | None:
    """Return `value` if joblib can make a number of workers of it."""
    wrong = isinstance(value, bool) or not isinstance(value, Integral) or value == 0
    if value is not None and wrong:
        raise InvalidParameterError(
            f"n_jobs must be None or an integer other than 0, got {value!r:.80}."
        )
    return value


def check_bags(
    X: Any,
    *,
    n_words: int | None = None,
    counts: bool = False,
    name: str = "X",
) -> sp.csr_array:
    """Return bags-of-words as a canonical float64 CSR array.

    Canonical: sorted column indices, no duplicates, no stored zeros. The input is
    never written to.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_documents, n_words)
        Non-negative, finite word weights.
    n_words : int, default=None
        Number of words of the embedding; the number of columns must equal it.
    counts : bool, default=False
        Require whole numbers.
    name : str, default="X"
        What the matrix is called in errors.

    Raises
    ------
    InvalidParameterError
        If a rule is broken; the message names the first offending row.
    """
    if sp.issparse(X):
        bags = sp.csr_array(X, dtype=np.float64, copy=True)
    else:
        bags = sp.csr_array(np.atleast_2d(np.asarray(X, dtype=np.float64)))
    if n_words is not None and bags.shape[1] != n_words:
        raise InvalidParameterError(
            f"{name} must have one column per word of the embedding: it has "
            f"{bags.shape[1]} columns, the embedding has {n_words} words."
        )
    bags.sum_duplicates()
    data = bags.data
    problem = None
    if not np.isfinite(data).all():
        problem, bad = "finite entries", ~np.isfinite(data)
    elif (data < 0).any():
        problem, bad = "non-negative entries", data < 0
    elif counts and (data != np.floor(data)).any():
        problem, bad = "whole-number counts", data != np.floor(data)
    elif counts and (data > MAX_WORDS).any():
        problem, bad = "counts below 2^31", data > MAX_WORDS
    if problem is not None:
        first = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(bags.indptr, first, side="right")) - 1
        raise InvalidParameterError(
            f"{name} must hold {problem} only, got {data[first]:g} "
            f"in row {row}, column {bags.indices[first]}."
            # scikit-learn's own wording, which its users and checks look for
            + (" Negative values in data passed to X." if "non-neg" in problem else "")
        )
    bags.eliminate_zeros()
    return bags
