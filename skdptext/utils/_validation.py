"""Checks of arguments; each error names the parameter, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Integral, Number, Real
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
    """Return `value` as a plain float, never -0.0, or say which rule it breaks.

    Fractions, decimals and NumPy's numbers are numbers, too. The interval is closed,
    except at `low` if `open_low`, at `high` if `open_high`.
    """
    interval = _rule(low, high, open_low, open_high)
    rule = f"{name} must be a finite number {interval}".rstrip()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")
    try:
        number = float(value) + 0.0  # -0.0 and 0.0 must not be two releases
    except (OverflowError, ValueError):  # 10**400, a signalling NaN
        number = math.nan
    too_low = low is not None and (number <= low if open_low else number < low)
    too_high = high is not None and (number >= high if open_high else number > high)
    if not math.isfinite(number) or too_low or too_high:
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")
    return number


def check_numbers(name: str, values: Any, **rule: Any) -> list[float]:
    """Return `values` as floats, each by the rule of `check_real`; at least one."""
    # an array without dimensions calls itself iterable
    text = isinstance(values, str | bytes | bytearray | memoryview)
    single = text or getattr(values, "ndim", 1) == 0
    if single or not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"{name} must be a sequence of numbers, got {shown(values)}."
        )
    numbers = []
    for i, x in enumerate(values):
        if isinstance(x, str):  # a list of words, not an option
            raise InvalidParameterError(
                f"{name}[{i}] must be a number, got {kind_of(x)}."
            )
        numbers.append(check_real(f"{name}[{i}]", x, **rule))
    if not numbers:
        raise InvalidParameterError(f"{name} must hold at least one number, got none.")
    return numbers


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
    except NotFittedError:
        return False
    except (AttributeError, TypeError):  # not an estimator of scikit-learn
        return any(n.endswith("_") and n[:1] != "_" for n in vars(estimator))
    return True


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


def check_bags(
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
    try:
        if sp.issparse(X):
            check_indices(X, name)
            bags = sp.csr_array(X, dtype=np.float64, copy=True)
            check_indices(bags, name)  # those of lists show only now
        else:
            bags = sp.csr_array(np.atleast_2d(np.asarray(X, dtype=np.float64)))
    except InvalidParameterError:
        raise
    except (OverflowError, TypeError, ValueError):  # whose messages may quote it
        raise InvalidParameterError(
            f"{name} must be a matrix of numbers, got {kind_of(X)} that holds "
            "something else, or rows of different lengths."
        ) from None
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
    if counts:
        totals = bags.sum(axis=1)
        if (totals > max_words).any():
            row = int(np.argmax(totals > max_words))
            raise InvalidParameterError(
                f"{name} must hold at most {max_words} words per document, got "
                f"{totals[row]:.0f} in row {row}."
            )
    return bags


# -- documents and counts -----------------------------------------------------------

_EXPECTED = "Expected an iterable of documents (str or lists of str) or a count matrix"

# scikit-learn's own wording, which its users and checks look for
_NO_NUMBER = "(A float() argument must be a string or a real number.)"


def is_column_of_documents(X: Any) -> bool:
    """Whether `X` is a table of one column, which holds texts or token lists."""
    shape: Any = () if sp.issparse(X) else getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or not shape[0]:
        return False
    if hasattr(X, "iloc"):
        first = X.iloc[0, 0]
    else:
        first = X.column(0)[0].as_py() if _is_arrow_table(X) else X[0, 0]
    return isinstance(first, str | list | tuple) or hasattr(first, "to_list")


def _is_arrow_table(X: Any) -> bool:
    """Or a batch of records, whose cells have no place by row and column."""
    return hasattr(X, "column_names") and hasattr(X, "to_pydict")


def plain_documents(X: Any) -> Any:
    """Documents of an Arrow array, or in a table of one column; else unchanged."""
    if isinstance(X, list | tuple):
        return X
    # We tell tables by what they can do. narwhals would be one more dependency, and
    # knows neither Arrow's arrays nor its batches of records.
    if is_column_of_documents(X):
        if not hasattr(X, "iloc") and _is_arrow_table(X):
            return X.column(0).to_pylist()
        column = X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0]
        return column.tolist() if hasattr(column, "tolist") else column.to_list()
    # an Arrow table, which has no type, is a matrix
    arrow = hasattr(X, "to_pylist") and hasattr(X, "type")
    return X.to_pylist() if arrow else X


def is_count_matrix(
    X: Any, expected: str = _EXPECTED, *, each: bool = True, name: str = "documents"
) -> bool:
    """Whether `X` is a count matrix rather than documents.

    An InvalidParameterError, which begins with `expected`, if it is neither, as far as
    can be told without consuming it. Every document of a sequence is checked, too,
    unless `each` is False, where they are read next. `name` is the parameter.
    """
    if isinstance(X, str | bytes):
        raise InvalidParameterError(
            f"{name} must be an iterable of documents, got a single "
            f"{type(X).__name__}. Put it in a list: [text]."
        )
    refuse_masked(X)
    X = plain_documents(X)
    if sp.issparse(X):
        check_indices(X)  # scikit-learn would follow them before we do
        return True
    if isinstance(X, Mapping | Set):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if hasattr(X, "shape") or hasattr(X, "__array__"):
        return _array_is_counts(X, expected, each)
    if not isinstance(X, Iterable):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if isinstance(X, Sequence):
        first = X[0] if len(X) else ""
        nested = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
        if nested and isinstance(first[0], Number):
            _check_rows(X)
            return True
        if each:
            _check_all(X)
    return False


def check_matrix(X: Any) -> None:
    """Refuse anything but a matrix of numbers, before other libraries quote it."""
    expected = "X must be a matrix of word weights"
    if isinstance(X, str | bytes):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if isinstance(X, list | tuple) and X and all(isinstance(x, Number) for x in X):
        raise InvalidParameterError(
            f"{expected}, got numbers without rows. Reshape your data: [X] is one "
            "document."
        )
    if not is_count_matrix(X, expected):
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} that holds no numbers. Count the words of "
            "texts first: CountVectorizer(vocabulary=embedding.words).fit_transform("
            "texts), with lowercase=False if the embedding has capitals."
        )


def as_array(X: Any, expected: str, dtype: Any = None) -> np.ndarray:
    """`X` as an array; the error does not quote it."""
    try:
        return np.asarray(X, dtype=dtype)
    except (TypeError, ValueError):  # whose messages may quote it
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} that is not an array."
        ) from None


def _check_rows(X: Sequence[Any]) -> None:
    """Refuse anything but rows of numbers, before NumPy quotes their contents."""
    width = len(X[0])
    for i, row in enumerate(X):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != width:
            raise InvalidParameterError(
                "each row of a count matrix must be a list of as many numbers as row "
                f"0 ({width}), got {_sized(row)} as row {i}."
            )
        for j, cell in enumerate(row):
            _check_cell(cell, i, j)


def _sized(row: Any) -> str:
    length = f" of {len(row)}" if isinstance(row, list | tuple | np.ndarray) else ""
    return kind_of(row) + length


def _check_cell(cell: Any, row: int, column: int) -> None:
    if not isinstance(cell, Number | np.bool_):
        raise InvalidParameterError(
            "every cell of a count matrix must be a number, got "
            f"{kind_of(cell)} in row {row}, column {column}. In a data frame with "
            "other columns, select the column of texts."
            + ("" if isinstance(cell, str | bytes) else f" {_NO_NUMBER}")
        )


def _array_is_counts(X: Any, expected: str, each: bool) -> bool:
    """The same for arrays, data frames and their columns."""
    whole = hasattr(X, "shape") and hasattr(X, "dtype")
    array = X if whole else as_array(X, expected)
    if len(array.shape) == 2:
        cells = as_array(X, expected) if hasattr(X, "columns") else array
        # column names are not quoted: in a file without a header they are a record
        if cells.dtype.kind in "biufc":
            return True
        first = cells.ravel()[:1]
        if len(first) and isinstance(first[0], str):
            raise InvalidParameterError(
                "Expected one column of documents, got a table of strings "
                f"(shape {tuple(array.shape)}). Select the column of texts."
            )
        for i, row in enumerate(cells):
            for j, cell in enumerate(row):
                _check_cell(cell, i, j)
        return True
    if len(array.shape) == 1 and getattr(array.dtype, "kind", "O") in "biufc":
        raise InvalidParameterError(
            f"{expected}, got a 1-D array of numbers. Reshape your data with "
            "X.reshape(1, -1) if it is the counts of one document."
        )
    if len(array.shape) != 1:
        raise InvalidParameterError(
            f"{expected}, got an array of shape {tuple(array.shape)}."
        )
    if each:
        _check_all(X)
    return False


def _check_all(documents: Iterable[Any]) -> None:
    for position, document in enumerate(documents):
        check_document(document, position)


def check_document(document: Any, position: int, of: str = "") -> None:
    """Refuse anything but a text or a list of tokens, and name its position.

    `of` says which documents, as in " of public_documents".
    """
    if isinstance(document, str):
        return
    refuse_masked(document, f"document {position}{of}")
    if isinstance(document, list | tuple):
        return
    if isinstance(document, np.ndarray) and document.ndim == 1:
        return
    raise InvalidParameterError(
        f"each document{of} must be a str or a list of str tokens, got "
        f"{kind_of(document)} as document {position}.{_missing(document)}"
    )


def _missing(document: Any) -> str:
    """Advice on what stands for a missing text."""
    name = type(document).__name__  # pandas is not imported for its NA and NaT
    nan = isinstance(document, float) and document != document
    if document is None or nan or name in ("NAType", "NaTType"):
        return ' Fill in missing texts, as with X.fillna(""), or leave them out.'
    return ""


# -- labels: authors, topics and the like -------------------------------------------

_ENDLESS = (np.inf, -np.inf)


def as_labels(
    name: str, values: Any, *, of: str = "document", partly: bool = False
) -> np.ndarray:
    """Labels as a sortable array; an error names the position of a bad label.

    Checked before NumPy turns numbers and missing values into text. With `partly`,
    labels may be missing: if some are, all are objects, and the missing ones None.
    """
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}, got {kind_of(values)}."
        )
    # We look at every label before NumPy does: it makes the text "1" of 1 beside a
    # text, and the text "nan" of a missing value, so that a class would appear from
    # nowhere.
    given = values if hasattr(values, "__array__") else list(values)
    if hasattr(given, "ndim") and given.ndim != 1:
        return as_array(
            given, f"{name} must be labels"
        )  # the caller knows how many there must be
    kinds: dict[str, int] = {}
    missing = []
    for i, label in enumerate(() if _are_plain(given) else given):
        if _is_missing(label):
            if partly and not _is_endless(label):
                missing.append(i)
                continue
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
    if missing:
        labels = np.array(list(given), dtype=object)
        labels[missing] = None
    if labels.dtype.kind in "biufU":  # which can be sorted
        return labels
    try:
        np.unique(np.delete(labels, missing))
    except TypeError:
        raise InvalidParameterError(
            f"{name} must be labels that can be sorted, got {kind_of(values)}."
        ) from None
    return labels


def check_labels(
    name: str, values: Any, n: int, *, of: str = "document", n_different: int = 1
) -> np.ndarray:
    """`as_labels`, one for each of `n`, and enough different ones."""
    labels = as_labels(name, values, of=of)
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


def check_authors(authors: Any, n: int | None = None) -> np.ndarray:
    """`as_labels` that tell people apart; one for each of `n` documents if given."""
    labels = as_labels("authors", authors)
    if labels.ndim != 1 or (n is not None and len(labels) != n):
        number = "" if n is None else f" ({n})"
        raise InvalidParameterError(
            f"authors must hold one author per document{number}, got shape "
            f"{labels.shape}."
        )
    names = labels.tolist() if labels.dtype.kind in "UO" else []
    blank = [
        i for i, name in enumerate(names) if isinstance(name, str) and not name.strip()
    ]
    if blank:
        raise InvalidParameterError(
            "authors must hold no blank names, which would be one person together, got "
            f"{len(blank)} of {len(labels)}, the first at position {blank[0]}."
        )
    if labels.dtype.kind == "f" and (np.abs(labels) >= 2.0**53).any():
        # two people under one number would count as one
        raise InvalidParameterError(
            "authors must be told apart, but they are floating-point numbers, or "
            "integers of several kinds, of 2^53 or more, which may stand for several "
            "people: give str, or integers of one kind."
        )
    return labels


def check_classes(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, at least 2 of them, and the number of each document's."""
    classes, numbers = np.unique(check_labels("y", y, n), return_inverse=True)
    if len(classes) < 2:
        got = "1 class" if len(classes) else "none"
        raise InvalidParameterError(f"y must hold at least 2 classes, got {got}.")
    return classes, numbers


def check_prior(prior: Any, n: int, of: str, *, zeros: bool = False) -> np.ndarray:
    """One number for each of `n` as shares that sum to 1; None: they are equal."""
    if prior is None:
        return np.full(n, 1 / n)
    sign = ">= 0, not all of them 0," if zeros else "> 0"
    rule = f"prior must hold one number {sign} per {of} ({n})"
    shares = as_array(prior, rule, dtype=np.float64)
    if shares.shape != (n,):
        raise InvalidParameterError(f"{rule}, got shape {shares.shape}.")
    allowed = np.isfinite(shares) & ((shares >= 0) if zeros else (shares > 0))
    if not allowed.all() or not shares.any():
        raise InvalidParameterError(
            f"{rule}, got numbers from {shares.min()} to {shares.max()}."
        )
    return shares / shares.sum()


def sums_by_label(labels: np.ndarray, rows: Any, n_labels: int) -> Any:
    """Sums of the rows of each label, which is a number below `n_labels`."""
    one, at = np.ones(len(labels)), np.arange(len(labels))
    return sp.csr_array((one, (labels, at)), shape=(n_labels, len(labels))) @ rows


def _are_plain(labels: Iterable[Any]) -> bool:
    """Whether all are text, or all whole numbers, as their types tell at once."""
    if type(labels) is np.ndarray and labels.dtype.kind != "O":
        return labels.dtype.kind in "biuU"
    types = set(map(type, labels))
    return types <= {str} or types <= {int, bool}


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


def _is_endless(label: Any) -> bool:
    return isinstance(label, Number) and label in _ENDLESS


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "text"
    return "number" if isinstance(label, Number | np.bool_) else type(label).__name__
