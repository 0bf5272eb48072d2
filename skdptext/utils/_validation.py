"""Check arguments, documents, counts, seeds and labels.

Each error names the parameter, the rule and the value, and quotes no text.
"""

import math
import re
import unicodedata
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import contextmanager, suppress
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils._system import warn_once

# The most words of one document, which a 32-bit index can count.
MAX_WORDS = 2**31 - 1
# The most words of all documents of counts in a call. They take a gigabyte, and as much
# again in later steps.
_MOST_COUNTED = 250_000_000
# More threads than an operating system starts.
_MOST_JOBS = 2**15


# A longer text is not an option. It may be a document, and is not quoted.
_MAX_SHOWN = 24


def kind_of(value: Any) -> str:
    """Describe a value for an error message, without quoting it."""
    # Tracebacks end up in logs, where private documents do not belong.
    if value is None:
        return "None"
    if isinstance(value, str):
        plural = "" if len(value) == 1 else "s"
        return f"a str of {len(value)} character{plural}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(value: Any) -> str:
    """Describe the value of an option: quote numbers and short texts only."""
    if isinstance(value, str):
        short = len(value) <= _MAX_SHOWN and value.isprintable()
        return repr(str(value)) if short else kind_of(value)
    if isinstance(value, bool | np.bool_ | Decimal | Real | complex):
        try:
            return f"{value!r:.80}"
        except ValueError:  # Python does not print integers of more than 4,300 digits
            return kind_of(value)
    return kind_of(value)


def name_rows(rows: np.ndarray, most: int = 10) -> str:
    """List row numbers for an error message: ``[3, 17, 29, ...]``."""
    listed = ", ".join(str(int(row)) for row in rows[:most])
    return f"[{listed}{', ...' if len(rows) > most else ''}]"


def shown_words(words: Sequence[str]) -> str:
    """Describe the first few words by their lengths."""
    # An unknown word may be a whole document, and is not quoted.
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

    Fractions, decimals and NumPy's numbers are accepted. The interval is closed, except
    at `low` if `open_low`, and at `high` if `open_high`.
    """
    number = math.nan
    if type(value) is not bool and isinstance(value, Real | Decimal):
        with suppress(OverflowError, ValueError):  # 10**400, a signalling NaN
            number = float(value) + 0.0  # -0.0 must not key other noise than 0.0
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


def check_numbers(name: str, values: Any, **rule: Any) -> np.ndarray:
    """Return `values` as an array, each by the rule of `check_real`; at least one."""
    # An array without dimensions claims to be iterable.
    listed = isinstance(values, Iterable) and getattr(values, "ndim", 1) == 1
    numbers = list(values) if listed and not isinstance(values, str | bytes) else []
    if not numbers:
        raise InvalidParameterError(
            f"{name} must be a sequence of numbers, at least one, got {shown(values)}."
        )
    each = [check_real(f"{name}[{i}]", x, **rule) for i, x in enumerate(numbers)]
    return np.array(each)


def check_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within the bounds, or say which rule it breaks."""
    rule = f"{name} must be an integer >= {low}"
    if high is not None:
        rule += f" and <= {high}"
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not whole or not low <= int(value) <= (math.inf if high is None else high):
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")
    return int(value)


def check_option(
    name: str, value: Any, options: Collection[Any] = (True, False)
) -> Any:
    """Return `value` if it is one of the options, which are str or bool; list them."""
    kind: Any = bool | np.bool_ if True in options else str
    if not isinstance(value, kind) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise InvalidParameterError(
            f"{name} must be one of {listed}, got {shown(value)}."
        )
    return value


# Origins of documents on which something is chosen.
TUNED_ON = ("private", "public", "released")


def warn_of_private_tuning(tuned_on: Any, what: str, documents: str) -> None:
    """Warn that a choice costs privacy, unless its documents are declared public."""
    if check_option("tuned_on", tuned_on, TUNED_ON) == "private":
        warn_once(
            f"{what} of documents that may be private: a release that uses the choice "
            "reveals something about them that its guarantee does not count. Choose on "
            f"public text of the same kind, or on text released before. If {documents} "
            'are public or released, pass tuned_on="public" or tuned_on="released".',
            PrivacyLeakWarning,
        )


def check_kind(value: Any, kinds: Any, rule: str) -> None:
    """Refuse what is not of a class, or lacks a method of a list of names."""
    allowed = (
        all(callable(getattr(value, name, None)) for name in kinds)
        if isinstance(kinds, list | tuple)
        else isinstance(value, kinds)
    )
    if not allowed:
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")


def check_jobs(n_jobs: Any, verbose: Any = 0) -> None:
    """Refuse a number of workers or a level of messages that joblib does not accept."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and 0 != n_jobs <= _MOST_JOBS):
        raise InvalidParameterError(
            f"n_jobs must be None or an integer other than 0, at most {_MOST_JOBS}, "
            f"got {shown(n_jobs)}."
        )
    check_integer("verbose", verbose, low=0)


def is_fitted(estimator: Any) -> bool:
    """Check whether an estimator is fitted, or has nothing to learn."""
    if not hasattr(estimator, "fit"):
        return True
    try:
        check_is_fitted(estimator)
        return True
    except NotFittedError:
        return False
    except (AttributeError, TypeError):  # not an estimator of scikit-learn
        return any(n.endswith("_") and n[:1] != "_" for n in vars(estimator))


def refuse_unsafe(X: Any, name: str = "X") -> None:
    """Refuse masked arrays, and sparse matrices whose indices point out of them.

    NumPy and SciPy ignore a mask. Compiled code would follow bad indices, and read and
    write foreign memory. This check therefore comes before any use.
    """
    rows = X[:] if isinstance(X, list | tuple) else (X,)
    # Each type is checked once: a token list, which has one type, is checked often.
    for kind in set(map(type, rows)):
        if issubclass(kind, np.ma.MaskedArray):
            raise InvalidParameterError(
                f"{name} must not be a masked array: values under the mask would be "
                "used. Fill it first, as in X.filled(0)."
            )
    form = getattr(X, "format", None) if sp.issparse(X) else None
    try:
        if form in ("csr", "csc", "bsr"):
            # The check modifies the matrix, so it gets an alias.
            parts = (X.data, X.indices, X.indptr)
            alias = type(X)(parts, shape=X.shape, copy=False)
            alias.check_format(full_check=True)
        elif form == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{name} must be a well-formed sparse matrix, but {error}."
        ) from None


def read_bags(
    X: Any, *, n_words: int | None = None, counts: bool = False, name: str = "X"
) -> sp.csr_array:
    """Return bags-of-words as a canonical float64 CSR array.

    Canonical means sorted column indices, no duplicates, and no stored zeros. The input
    is never changed. It must hold non-negative, finite word weights in `n_words`
    columns; `counts` requires whole numbers with a sum of at most 250 million. Errors
    call the matrix `name`, and give the first row that breaks a rule.
    """
    refuse_unsafe(X, name)
    try:
        rows = X if sp.issparse(X) else np.atleast_2d(np.asarray(X))
        if rows.dtype.kind == "c":  # its imaginary part would get lost
            raise TypeError
        if not sp.issparse(X):
            rows = rows.astype(np.float64, copy=False)
        bags = sp.csr_array(rows, dtype=np.float64, copy=True)
    except (OverflowError, TypeError, ValueError):  # their messages may quote values
        raise InvalidParameterError(
            f"{name} must be a matrix of numbers, got {kind_of(X)} that holds "
            "something else, or rows of different lengths."
        ) from None
    refuse_unsafe(bags, name)  # rows of lists are indexed only here
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
            if data[first] < 0:  # scikit-learn's checks look for this sentence
                message += " Negative values in data passed to X."
            raise InvalidParameterError(message)
    bags.eliminate_zeros()
    if counts and bags.sum() > _MOST_COUNTED:
        raise InvalidParameterError(
            f"{name} must hold at most {_MOST_COUNTED} words in all, got "
            f"{bags.sum():.0f}: pass fewer documents at a time."
        )
    return bags


# -- documents and counts -----------------------------------------------------------

_EXPECTED = "Expected an iterable of documents (str or lists of str) or a count matrix"


def is_column_of_documents(X: Any) -> bool:
    """Check whether `X` is a table of one column of texts or token lists."""
    shape: Any = () if sp.issparse(X) else getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or not shape[0]:
        return False
    first = _column(X[:1])[0]
    # Parquet gives arrays in pandas, and a list column gives series in polars.
    listed = str | list | tuple | np.ndarray
    return isinstance(first, listed) or hasattr(first, "to_list")


def _column(table: Any) -> list[Any]:
    """Get the only column of an array, a data frame or an Arrow table."""
    # Tables are identified by their methods. narwhals would be another dependency, and
    # supports neither Arrow's arrays nor its record batches.
    if hasattr(table, "iloc"):
        column = table.iloc[:, 0]
    elif hasattr(table, "column_names") and hasattr(table, "to_pydict"):
        column = table.column(0)
    else:
        column = table[:, 0]
    return as_list(column)


def as_list(values: Iterable[Any]) -> list[Any]:
    """Convert a list, an array or a column of a table to Python objects."""
    times = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    for method in () if times else ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [v.as_py() if hasattr(v, "as_py") else v for v in values]


def plain_documents(X: Any) -> Any:
    """Get documents from an Arrow array or a table of one column; else unchanged."""
    if isinstance(X, list | tuple):
        return X
    if is_column_of_documents(X):
        return _column(X)
    # Arrow arrays have a type. Arrow tables do not, and are read as matrices.
    arrow = hasattr(X, "to_pylist") and hasattr(X, "type")
    return X.to_pylist() if arrow else X


def is_count_matrix(
    X: Any, expected: str = _EXPECTED, *, name: str = "documents"
) -> bool:
    """Check whether `X` is a count matrix or documents; refuse anything else.

    The check does not consume `X`. An error begins with `expected`; `name` is the
    parameter.
    """
    if isinstance(X, str | bytes):
        raise InvalidParameterError(
            f"{name} must be an iterable of documents, got a single "
            f"{type(X).__name__}. Put it in a list: [text]."
        )
    refuse_unsafe(X)  # scikit-learn would use bad indices before we do
    X = plain_documents(X)
    if sp.issparse(X):
        return True
    array = hasattr(X, "shape") or hasattr(X, "__array__")
    if isinstance(X, Mapping | Set) or not (isinstance(X, Iterable) or array):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if not array:
        first = X[0] if isinstance(X, Sequence) and len(X) else ""
        nested = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
        if not nested or not isinstance(first[0], Number):
            return False
    table = X if hasattr(X, "dtype") and hasattr(X, "shape") else as_array(X, expected)
    numeric = getattr(table.dtype, "kind", "O") in "biufc"
    if len(table.shape) == 1 and not numeric:
        return False
    of = f"{expected}, got {kind_of(X)} of shape {tuple(table.shape)}"
    if len(table.shape) != 2:
        raise InvalidParameterError(
            f"{of}. Reshape your data with X.reshape(1, -1) if it is the counts of one "
            "document."
        )
    # Cells are not quoted: they may be a private record.
    kinds = () if numeric else set(map(type, table.ravel()))
    if not all(issubclass(kind, Number | np.bool_) for kind in kinds):
        raise InvalidParameterError(
            f"{of} with other cells. The argument must be one column of strings, or "
            "numbers only: select the column of texts of a data frame."
        )
    return True


@contextmanager
def parameter_errors() -> Iterator[None]:
    """Raise an error of scikit-learn as ours, without the values that it quotes.

    The end of the message quotes the input, and lines after the first may quote the
    matrix. Both may be private.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            re.split("\n| Got |, got scalar", str(error))[0]
        ) from None


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Check weights of words, and labels if given, as scikit-learn does."""
    # These checks come first: scikit-learn's errors would quote what is no number, and
    # labels that cannot become an array.
    expected = "X must be a matrix of word weights"
    if isinstance(X, str | bytes) or not is_count_matrix(X, expected):
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} instead. Reshape your data if it is "
            "one document: [X]. Count the words of texts first: CountVectorizer("
            "vocabulary=embedding.words).fit_transform(texts), with lowercase=False if "
            "the embedding has capitals."
        )
    for labels in y:
        as_array(labels, "y must hold one label per document")
    with parameter_errors():
        return validate_data(estimator, X, *y, accept_sparse="csr", **options)


def as_array(X: Any, expected: str, dtype: Any = None) -> np.ndarray:
    """Convert `X` to an array; the error does not quote it."""
    try:
        return np.asarray(X, dtype=dtype)
    except (OverflowError, TypeError, ValueError):  # their messages may quote values
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} that is not an array."
        ) from None


def composed(text: str) -> str:
    """Compose each letter and its accents to one character, where it exists (NFC)."""
    # The same word then has the same characters, regardless of how it was typed.
    return unicodedata.normalize("NFC", text)


# -- the origin of noise, and ids --------------------------------------------------

RandomState = None | int | np.random.Generator | np.random.RandomState
# Generators, which advance with each draw.
_SOURCES = (np.random.Generator, np.random.RandomState)

# Smaller seeds can be found by trying all of them, and those that people choose in
# minutes.
_GUESSABLE = 2**64


REPEATABLE = (
    "The noise is repeatable (random_state is an integer): anyone who sees the release "
    "learns which documents are equal, and anyone who can release texts in the same "
    "way can test whether a guessed document was released. The statements below hold "
    "for documents that are released under different ids (document_ids) that no one "
    "can use again."
)


@Integral.register
class SecretSeed:
    """An integer that is never printed; ``int(seed)`` reveals it.

    It is not a subclass of int, because writers of numbers, such as json, would not use
    the repr. Checks of seeds accept it as an Integral, and it is equal to the integer,
    so parameters compare as before. ``"%d" % seed`` calls ``int`` and reveals it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = int(value)

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return "<secret>"  # also for ":d", ":x" and widths

    def __eq__(self, other: object) -> bool:
        return self._value == (int(other) if isinstance(other, SecretSeed) else other)

    def __hash__(self) -> int:
        return hash(self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> "SecretSeed":
        return self  # scikit-learn's clone requires the same object


class CheckedParameters:
    """Mixin for estimators that store an integer `random_state` as a secret."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Properties would hide the values from `vars`, where scikit-learn looks.
        whole = isinstance(value, Integral) and type(value) not in (bool, SecretSeed)
        secret = whole and name == "random_state"
        super().__setattr__(name, SecretSeed(value) if secret else value)


def check_noise_state(random_state: Any) -> RandomState:
    """Return `random_state` if noise may come from it, or raise."""
    # For None, scikit-learn returns the global state. A user may pass this object on
    # without knowing, so it is compared.
    if random_state is check_random_state(None):
        got = "NumPy's global one, which other code seeds and reads"
    elif random_state is None or isinstance(random_state, _SOURCES):
        return random_state
    elif isinstance(random_state, bool) or not isinstance(random_state, Integral):
        got = kind_of(random_state)
    elif int(random_state) < 0:
        got = "a negative integer"
    else:
        return int(random_state)
    raise InvalidParameterError(
        "random_state must be None, an integer >= 0 or a numpy.random.Generator or "
        f"RandomState, got {got}."
    )


def warn_of_repeats(random_state: object, has_ids: bool) -> None:
    """Warn of what repeatable noise reveals."""
    # Equal documents with different ids are released differently.
    if not isinstance(random_state, Integral):
        return
    if not has_ids:
        warn_once(
            "random_state is an integer: equal documents get equal releases, which "
            "reveals that they are equal. Give each document its own id, "
            "transform(X, document_ids=...), or use random_state=None.",
            PrivacyLeakWarning,
        )
    if int(random_state) < _GUESSABLE:
        warn_once(
            "random_state is an integer below 2^64, which can be found by trying, "
            "small ones in minutes. Anyone who knows it can undo the noise. Draw it "
            "with secrets.randbits(128), and keep it secret.",
            PrivacyLeakWarning,
        )


def check_rng(random_state: Any) -> np.random.Generator:
    """Make a NumPy generator for draws that are not secret."""
    # Synthetic data and draws of adversaries need no cryptographic generator.
    random_state = check_noise_state(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = int.from_bytes(random_state.bytes(32), "little")
    return np.random.default_rng(random_state)


def as_ids(document_ids: Any, n: int | None = None) -> list[Any] | None:
    """Return ids as a list if each is a str, int or bytes, and all of the n differ."""
    if document_ids is None:
        return None
    # A set has no order, and an array without dimensions claims to be iterable.
    flat = isinstance(document_ids, Iterable) and getattr(document_ids, "ndim", 1) == 1
    if isinstance(document_ids, str | bytes | Set) or not flat:
        raise InvalidParameterError(
            "document_ids must be an iterable of str, int or bytes, got "
            f"{type(document_ids).__name__}."
        )
    ids, seen = as_list(document_ids), dict[Any, int]()
    if n not in (None, len(ids)):
        raise InvalidParameterError(
            f"document_ids must hold one id per document ({n}), got {len(ids)}."
        )
    for position, identity in enumerate(ids):
        wrong = isinstance(identity, bool | np.bool_)
        if wrong or not isinstance(identity, str | bytes | Integral):
            raise InvalidParameterError(
                "document_ids must be str, int or bytes, got "
                f"{type(identity).__name__} at position {position}."
            )
        # Two ids are equal only if their bytes are equal.
        first = seen.setdefault(identity, position)
        if first != position:
            raise InvalidParameterError(
                "document_ids must differ, or equal documents get equal noise: "
                f"positions {first} and {position} hold the same. If ids are people, "
                "k documents of a person cost k times ε: with stand-ins, pass "
                "authors instead."
            )
    return ids


# -- labels: authors, topics and the like -------------------------------------------


def as_labels(
    name: str,
    values: Any,
    n: int | None = None,
    *,
    of: str = "document",
    n_different: int = 1,
    partly: bool = False,
    people: bool = False,
) -> np.ndarray:
    """Convert labels of any library to a sortable array, of `n` labels if given.

    Labels that only look alike are refused, because one thing would count as two: those
    that differ in blanks, in invisible characters or in the form of Unicode, and for
    `people` also in case. Blank names of people, and numbers that may have been rounded
    to the same value, are also refused, because they would count as one person. With
    `partly`, labels may be missing: if some are, all are objects, and the missing ones
    are None. An error names the position of a bad label.
    """
    if hasattr(values, "__array__") and not isinstance(values, Iterable):
        values = as_array(values, f"{name} must be an array")
    shape: Any = getattr(values, "shape", (0,))
    is_column = len(shape) == 2 and shape[1] == 1
    # In a set, names have another order in each run, and would key other noise.
    unordered = people and isinstance(values, Set)
    if (
        isinstance(values, str | bytes | dict)
        or unordered
        or not (is_column or (isinstance(values, Iterable) and shape != ()))
    ):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}, got {kind_of(values)}."
        )
    # Every label is checked before NumPy converts it. NumPy would turn 1 next to a text
    # into "1", "ann\0" into "ann", and a missing value into "nan", which would add a
    # class.
    given = _column(values) if is_column else as_list(values)
    if not (is_column or len(shape) == 1) or n not in (None, len(given)):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}{'' if n is None else f' ({n})'}, got "
            f"shape {tuple(shape) if len(shape) != 1 else (len(given),)}."
        )
    missing = _check_each(name, given, of, partly)
    _check_told_apart(name, given, of, people)
    # Arrays of numbers keep their data type, which a list would lose.
    own = getattr(getattr(values, "dtype", None), "kind", "O") in tuple("biuf")
    plain = np.asarray(values if own else given).reshape(-1)
    if missing or plain.dtype.kind not in "biufU":
        plain = np.array([*given, None], dtype=object)[:-1]
        plain[missing] = None
    if people and plain.dtype.kind == "f":
        digits = np.finfo(plain.dtype).nmant + 1  # 24 for float32
        if (np.abs(plain) >= 2.0**digits).any():
            raise InvalidParameterError(
                f"{name} must be told apart, but they are floating-point numbers, or "
                f"integers of several kinds, of 2^{digits} or more, so one number may "
                "be several people: pass str, or integers of one kind."
            )
    different = len(np.unique(np.delete(plain, missing)))
    if different < n_different and n is not None:
        raise InvalidParameterError(
            f"{name} must hold at least {n_different} different labels, got "
            f"{different} class{'es' * (different != 1)}."
        )
    return plain


def _check_each(name: str, labels: list[Any], of: str, partly: bool) -> list[int]:
    """Refuse all but texts only or numbers only; return the positions of missing ones.

    NumPy would expand a label that contains several.
    """
    types = set(map(type, labels))
    if types <= {str} or types <= {int, bool}:
        return []
    first: dict[str, int] = {}
    missing = []
    for i, label in enumerate(labels):
        number = isinstance(label, Real | Decimal | np.bool_)  # complex has no order
        number &= not isinstance(label, np.timedelta64)  # an integer by its class alone
        gone = _is_missing(label)
        endless = number and not gone and abs(label) == math.inf
        if endless or gone:
            if endless or not partly:
                raise InvalidParameterError(
                    f"{name} must not be missing, got {shown(label)} for {of} {i}."
                )
            missing.append(i)
        elif not number and not isinstance(label, str):
            raise InvalidParameterError(
                f"{name} must hold one label per {of}, a text or a number, got "
                f"{kind_of(label)} for {of} {i}."
            )
        else:
            first.setdefault("number" if number else "text", i)
    if len(first) > 1:
        raise InvalidParameterError(
            f"{name} must be of one kind, all text or all numbers, got a number for "
            f"{of} {first['number']} and text for {of} {first['text']}."
        )
    return missing


def _is_missing(label: Any) -> bool:
    """Check whether a label is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (ArithmeticError, TypeError):  # a signaling NaN, or NA, cannot be compared
        return True
    except ValueError:  # an array
        return False


def _check_told_apart(name: str, labels: list[Any], of: str, people: bool) -> None:
    """Refuse texts that only look alike, and blank names of several `people`.

    Texts that differ in case are one person, but two labels, of which a warning tells.
    """
    alike, same_but_case = dict[str, str](), dict[str, str]()
    several = {"class": "classes", "person": "people"}.get(of, f"{of}s")
    for label in dict.fromkeys(x for x in labels if isinstance(x, str)):
        bare = _bare(label)
        if people and not bare:
            raise InvalidParameterError(
                f"{name} must hold no blank names, which would count as one person, "
                f"got one for {of} {labels.index(label)}."
            )
        twin = alike.setdefault(bare.casefold() if people else bare, label)
        if twin != label:
            who, loss = ("person", " and lose twice the ε") if people else ("label", "")
            raise InvalidParameterError(
                f"{name} must be told apart by more than looks, but those of {several} "
                f"{labels.index(twin)} and {labels.index(label)} differ only in "
                f"{'case, ' if people else ''}blanks, invisible characters, or forms "
                f"of Unicode: one {who} would count as two{loss}. Write them alike, or "
                "number those that are different."
            )
        twin = same_but_case.setdefault(bare.casefold(), label)
        if twin != label:
            warn_once(
                f"{name} of {several} {labels.index(twin)} and {labels.index(label)} "
                "differ only in case, and count as two.",
                UserWarning,
                name,
            )


# Characters without a shape, besides those of the categories Cc and Cf: a joiner, blank
# letters, and selectors of variants, such as those of Japanese names.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def _bare(label: str) -> str:
    """Reduce a label to what people see: no outer blanks, no invisible characters."""
    if not (label.isascii() and label.isprintable()):
        kinds, seen = unicodedata.category, _UNSEEN.sub("", label)
        label = "".join(x for x in seen if x.isspace() or kinds(x) not in ("Cc", "Cf"))
    return " ".join(composed(label).split())


def as_shares(prior: Any, n: int, of: str, *, zeros: bool = False) -> np.ndarray:
    """Convert one number for each of `n` to shares with sum 1; equal if None."""
    if prior is None:
        return np.full(n, 1 / n)
    shares = check_numbers("prior", prior, low=0, open_low=not zeros)
    if len(shares) != n or not shares.any():
        raise InvalidParameterError(
            f"prior must hold one number per {of} ({n}), not all of them 0, got "
            f"{len(shares)} with sum {shares.sum():g}."
        )
    return shares / shares.sum()


def sums_by_label(labels: np.ndarray, rows: Any, n_labels: int) -> Any:
    """Add up the rows of each label, which is a number below `n_labels`."""
    one, at = np.ones(len(labels)), np.arange(len(labels))
    return sp.csr_array((one, (labels, at)), shape=(n_labels, len(labels))) @ rows
