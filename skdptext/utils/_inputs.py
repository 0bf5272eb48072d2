"""What comes in: documents, counts, labels and authors, of whatever library."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.utils._messages import warn_once
from skdptext.utils._validation import check_indices, kind_of, refuse_masked, shown

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
    X: Any, expected: str = _EXPECTED, *, name: str = "documents"
) -> bool:
    """Whether `X` is a count matrix rather than documents, which are read next.

    An InvalidParameterError, which begins with `expected`, if it is neither, as far as
    can be told without consuming it. `name` is the parameter.
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
        return _array_is_counts(X, expected)
    if not isinstance(X, Iterable):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if isinstance(X, Sequence):
        first = X[0] if len(X) else ""
        nested = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
        if nested and isinstance(first[0], Number):
            _check_rows(X)
            return True
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


def _array_is_counts(X: Any, expected: str) -> bool:
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
    return False


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


def composed(text: str) -> str:
    """The text with each letter and its accents as one character, where there is one.

    Unicode's form NFC: the same word has the same characters, however it is typed.
    """
    return unicodedata.normalize("NFC", text)


# -- labels: authors, topics and the like -------------------------------------------

_ENDLESS = (np.inf, -np.inf)


def as_labels(
    name: str,
    values: Any,
    *,
    of: str = "document",
    partly: bool = False,
    people: bool = False,
) -> np.ndarray:
    """Labels of any library as a sortable array, a column of a table, too.

    Two labels that only look alike are refused, as one thing would count as two: those
    that differ in blanks, in signs that do not show or in the form of Unicode, and of
    `people` also in case. With `partly`, labels may be missing: if some are, all are
    objects, and the missing ones None. An error names the position of a bad label.
    """
    shape: Any = getattr(values, "shape", (0,))
    if len(shape) == 2 and shape[1] == 1:  # as objects, so that what is missing is seen
        values, shape = np.asarray(values, dtype=object)[:, 0], (0,)
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}, got {kind_of(values)}."
        )
    if len(shape) != 1:
        raise InvalidParameterError(
            f"{name} must hold one label per {of}, got shape {tuple(shape)}."
        )
    # We look at every label before NumPy does: it makes the text "1" of 1 beside a
    # text, the text "nan" of a missing value, so that a class would appear from
    # nowhere, and "ann" of "ann\0".
    given = _as_list(values)
    missing = _check_each(name, given, partly)
    check_told_apart(name, given, people)
    labels = np.array(given, dtype=object)
    labels[missing] = None
    if not missing:
        # numbers keep their type, which a list forgets
        numbers = getattr(getattr(values, "dtype", None), "kind", "O") in tuple("biuf")
        plain = as_array(values if numbers else given, f"{name} must be labels")
        if plain.dtype.kind in "biufU":  # which can be sorted
            return plain
    try:
        np.unique(np.delete(labels, missing))
    except TypeError:
        raise InvalidParameterError(
            f"{name} must be labels that can be sorted, got {kind_of(values)}."
        ) from None
    return labels


def _as_list(values: Iterable[Any]) -> list[Any]:
    """Values of a list, an array or a column of a table, as Python's own."""
    times = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    for method in () if times else ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [v.as_py() if hasattr(v, "as_py") else v for v in values]


def _check_each(name: str, labels: list[Any], partly: bool) -> list[int]:
    """Refuse labels of several kinds; returns where they are missing."""
    if _are_plain(labels):
        return []
    kinds: dict[str, int] = {}
    missing = []
    for i, label in enumerate(labels):
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
    return missing


def check_told_apart(
    name: str, labels: Sequence[Any], people: bool, of: str = "documents"
) -> None:
    """Refuse texts that only look alike; of `people` also those that differ in case.

    `of` says whose positions an error gives.
    """
    seen: dict[str, str] = {}
    folded: dict[str, str] = {}
    for label in dict.fromkeys(x for x in labels if isinstance(x, str)):
        bare = _bare(label)
        other = seen.setdefault(bare, label)
        cased = folded.setdefault(bare.casefold(), label)
        if other == label and cased == label:
            continue
        twin = other if other != label else cased
        at = f"{of} {labels.index(twin)} and {labels.index(label)}"
        if other == label and not people:
            warn_once(
                f"{name} holds labels that differ in case only, as those of {at}: they "
                "count as two.",
                UserWarning,
                (name, "case"),
            )
            continue
        what = "in case, blanks" if people else "in blanks"
        why = (
            "one person would count as two, and lose twice the ε"
            if people
            else ("one label would count as two")
        )
        raise InvalidParameterError(
            f"{name} must be told apart by more than looks, but those of {at} differ "
            f"only {what}, signs that do not show, or forms of Unicode: {why}. Write "
            "them alike, or number those that are different."
        )


def _bare(label: str) -> str:
    """What people see of a label: no outer blanks, no signs that do not show."""
    if not (label.isascii() and label.isprintable()):
        kinds = unicodedata.category
        label = "".join(x for x in label if x.isspace() or kinds(x) not in ("Cc", "Cf"))
    return " ".join(composed(label).split())


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
    labels = as_labels("authors", authors, people=True)
    if n is not None and len(labels) != n:
        raise InvalidParameterError(
            f"authors must hold one author per document ({n}), got shape "
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
