"""Checks of arguments; each error names the parameter, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skdptext.exceptions import InvalidParameterError

# Words of one document: what a 32-bit index can count.
MAX_WORDS = 2**31 - 1
# Words of one count document that is not truncated: 400 MB, a large library's worth.
MAX_WHOLE_WORDS = 10**8


# Longer than any option: it may be a document.
_MAX_SHOWN = 24


def kind_of(value: Any) -> str:
    """What a value is, for an error message that must not quote it: tracebacks are
    kept in logs, and a document does not belong there.
    """
    if value is None:
        return "None"
    if isinstance(value, str):
        plural = "" if len(value) == 1 else "s"
        return f"a str of {len(value)} character{plural}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(value: Any) -> str:
    """The value of an option: a number or a short str as it is, else what it is."""
    if isinstance(value, str):
        short = len(value) <= _MAX_SHOWN and value.isprintable()
        return repr(str(value)) if short else kind_of(value)
    if isinstance(value, bool | np.bool_ | Decimal | Real | complex):
        try:
            return f"{value!r:.80}"
        except ValueError:  # Python writes no integers of more than 4,300 digits
            return kind_of(value)
    return kind_of(value)


def name_rows(rows: np.ndarray, most: int = 10) -> str:
    """Row numbers for an error message: ``[3, 17, 29, ...]``."""
    listed = ", ".join(str(int(row)) for row in rows[:most])
    return f"[{listed}{', ...' if len(rows) > most else ''}]"


def shown_words(words: Sequence[str]) -> str:
    """How long the first few words are: an unknown word may be a whole document."""
    lengths = ", ".join(str(len(word)) for word in words[:5])
    return f"words of {lengths}{', …' if len(words) > 5 else ''} characters"


def check_real(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a plain float, never -0.0, or say which rule it breaks.

    Fractions, decimals and NumPy's numbers are numbers, too. The interval is closed,
    except at `low` if `open_low`, at `high` if `open_high`.
    """
    number = math.nan
    if type(value) is not bool and isinstance(value, Real | Decimal):
        with suppress(OverflowError, ValueError):  # 10**400, a signalling NaN
            number = float(value) + 0.0  # -0.0 and 0.0 must not be two releases
    above = number > low if open_low else number >= low
    below = number < high if open_high else number <= high
    if math.isfinite(number) and above and below:
        return number
    rule = f"{name} must be a finite number"
    if high < math.inf:
        rule += f" in {'[('[open_low]}{low:g}, {high:g}{'])'[open_high]}"
    elif low > -math.inf:
        rule += f" {'>' if open_low else '>='} {low:g}"
    raise InvalidParameterError(f"{rule}, got {shown(value)}.")


def check_numbers(name: str, values: Any, **rule: Any) -> list[float]:
    """Return `values` as floats, each by the rule of `check_real`; at least one."""
    # an array without dimensions calls itself iterable
    listed = isinstance(values, Iterable) and getattr(values, "ndim", 1) == 1
    numbers = list(values) if listed and not isinstance(values, str | bytes) else []
    if not numbers:
        raise InvalidParameterError(
            f"{name} must be a sequence of numbers, at least one, got {shown(values)}."
        )
    return [check_real(f"{name}[{i}]", x, **rule) for i, x in enumerate(numbers)]


def check_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within the bounds, or say which rule it breaks."""
    rule = f"{name} must be an integer >= {low}"
    if high is not None:
        rule += f" and <= {high}"
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or not low <= int(value) <= (math.inf if high is None else high):
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")
    return int(value)


def check_option(name: str, value: Any, options: Collection[str]) -> str:
    """Return `value` if it is one of `options`, or list them."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidParameterError(
            f"{name} must be one of {listed}, got {shown(value)}."
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, or say that it must be one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(
            f"{name} must be True or False, got {shown(value)}."
        )
    return bool(value)


def check_kind(value: Any, kinds: Any, rule: str) -> None:
    """Refuse an option of another class than a rule says."""
    if not isinstance(value, kinds):
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")


def check_methods(value: Any, methods: Iterable[str], rule: str) -> None:
    """Refuse an object that lacks one of the methods that a rule asks for."""
    for name in methods:
        if not callable(getattr(value, name, None)):
            raise InvalidParameterError(f"{rule}, got {kind_of(value)} without {name}.")


def is_fitted(estimator: Any) -> bool:
    """Whether it has learned, or has nothing to learn."""
    if not hasattr(estimator, "fit"):
        return True
    try:
        check_is_fitted(estimator)
        return True
    except NotFittedError:
        return False
    except (AttributeError, TypeError):  # not an estimator of scikit-learn
        return any(n.endswith("_") and n[:1] != "_" for n in vars(estimator))


def check_path(name: str, value: Any) -> Path:
    """Return `value` as a path, or say that it must be one."""
    if not isinstance(value, str | PathLike):
        raise InvalidParameterError(f"{name} must be a path, got {shown(value)}.")
    return Path(value)


def check_n_jobs(value: Any) -> int | None:
    """Return `value` if joblib can make a number of workers of it."""
    wrong = isinstance(value, bool) or not isinstance(value, Integral) or value == 0
    if value is not None and wrong:
        raise InvalidParameterError(
            f"n_jobs must be None or an integer other than 0, got {shown(value)}."
        )
    return value


def refuse_masked(X: Any, name: str = "X") -> None:
    """Refuse masked arrays: NumPy and SciPy read what the mask hides."""
    rows = X[:] if isinstance(X, list | tuple) else (X,)
    # once per type, as a token list, which has one type, is checked several times
    for kind in set(map(type, rows)):
        if issubclass(kind, np.ma.MaskedArray):
            raise InvalidParameterError(
                f"{name} must not be a masked array: what the mask hides would be "
                "used. Fill it first, as in X.filled(0)."
            )


def check_indices(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose indices point out of it, before anything follows
    them: compiled code would read and write memory that is not its own.
    """
    try:
        if X.format in ("csr", "csc", "bsr"):
            # on an alias, as the check tidies what it looks at
            parts = (X.data, X.indices, X.indptr)
            alias = type(X)(parts, shape=X.shape, copy=False)
            alias.check_format(full_check=True)
        elif X.format == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{name} must be a well-formed sparse matrix, but {error}."
        ) from None


def read_bags(
    X: Any,
    *,
    n_words: int | None = None,
    counts: bool = False,
    max_words: int = MAX_WORDS,
    name: str = "X",
) -> sp.csr_array:
    """Return bags-of-words as a canonical float64 CSR array.

    Canonical: sorted column indices, no duplicates, no stored zeros. The input is
    never written to. It must hold non-negative, finite word weights in `n_words`
    columns; `counts` requires whole numbers, at most `max_words` in a row. An error
    calls the matrix `name`, and says which row is the first to break a rule.
    """
    refuse_masked(X, name)
    if sp.issparse(X):
        check_indices(X, name)
    try:
        rows = X if sp.issparse(X) else np.atleast_2d(np.asarray(X, dtype=np.float64))
        bags = sp.csr_array(rows, dtype=np.float64, copy=True)
    except (OverflowError, TypeError, ValueError):  # whose messages may quote it
        raise InvalidParameterError(
            f"{name} must be a matrix of numbers, got {kind_of(X)} that holds "
            "something else, or rows of different lengths."
        ) from None
    check_indices(bags, name)  # those of lists show only now
    if n_words is not None and bags.shape[1] != n_words:
        raise InvalidParameterError(
            f"{name} must have one column per word of the embedding: it has "
            f"{bags.shape[1]} columns, the embedding has {n_words} words."
        )
    bags.sum_duplicates()
    data = bags.data
    rules = {"finite entries": np.isfinite(data), "non-negative entries": data >= 0}
    if counts:
        rules["whole-number counts"] = data == np.floor(data)
    for rule, holds in rules.items():
        if not holds.all():
            first = int(holds.argmin())
            row = int(np.searchsorted(bags.indptr, first, side="right")) - 1
            message = (
                f"{name} must hold {rule} only, got {data[first]:g} in row {row}, "
                f"column {bags.indices[first]}."
            )
            if data[first] < 0:  # which scikit-learn's users and checks look for
                message += " Negative values in data passed to X."
            raise InvalidParameterError(message)
    bags.eliminate_zeros()
    totals = bags.sum(axis=1)
    if counts and (totals > max_words).any():
        row = int(np.argmax(totals > max_words))
        raise InvalidParameterError(
            f"{name} must hold at most {max_words} words per document, got "
            f"{totals[row]:.0f} in row {row}."
        )
    return bags
