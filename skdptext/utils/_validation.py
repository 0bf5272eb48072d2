"""Checks of arguments, documents, counts, seeds and labels.

Each error names the parameter, the rule and the value, and quotes no text.
"""

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Number, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils._system import warn_once

# Words of one document: what a 32-bit index can count.
MAX_WORDS = 2**31 - 1


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


def check_tuned_on(tuned_on: str) -> str:
    """Return `tuned_on` if it is a known origin of documents."""
    return check_option("tuned_on", tuned_on, ("private", "public", "released"))


def warn_of_private_tuning(tuned_on: str, what: str, documents: str) -> None:
    """Warn that a choice costs privacy, unless its documents are declared public."""
    if tuned_on == "private":
        warn_once(
            f"{what} of documents that may be private: a release that uses the choice "
            "reveals something about them that its guarantee does not count. Choose on "
            f"public text of the same kind, or on text released before. If {documents} "
            'are public or released, say so: tuned_on="public" or tuned_on="released".',
            PrivacyLeakWarning,
        )


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


# -- documents and counts -----------------------------------------------------------

_EXPECTED = "Expected an iterable of documents (str or lists of str) or a count matrix"
# scikit-learn's own wording, which its users and checks look for
_NO_NUMBER = " (A float() argument must be a string or a real number.)"


def is_column_of_documents(X: Any) -> bool:
    """Whether `X` is a table of one column, which holds texts or token lists."""
    shape: Any = () if sp.issparse(X) else getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or not shape[0]:
        return False
    first = _column(X[:1])[0]
    return isinstance(first, str | list | tuple) or hasattr(first, "to_list")


def _column(table: Any) -> list[Any]:
    """The only column of an array, a data frame or an Arrow table."""
    # We tell tables by what they can do. narwhals would be one more dependency, and
    # knows neither Arrow's arrays nor its batches of records.
    if hasattr(table, "iloc"):
        column = table.iloc[:, 0]
    elif hasattr(table, "column_names") and hasattr(table, "to_pydict"):
        column = table.column(0)
    else:
        column = table[:, 0]
    return _as_list(column)


def _as_list(values: Iterable[Any]) -> list[Any]:
    """Values of a list, an array or a column of a table, as Python's own."""
    times = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    for method in () if times else ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return [v.as_py() if hasattr(v, "as_py") else v for v in values]


def plain_documents(X: Any) -> Any:
    """Documents of an Arrow array, or in a table of one column; else unchanged."""
    if isinstance(X, list | tuple):
        return X
    if is_column_of_documents(X):
        return _column(X)
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
    if isinstance(X, Mapping | Set) or not (
        isinstance(X, Iterable) or hasattr(X, "__array__")
    ):
        raise InvalidParameterError(f"{expected}, got {kind_of(X)}.")
    if hasattr(X, "shape") or hasattr(X, "__array__"):
        return _array_is_counts(X, expected)
    first = X[0] if isinstance(X, Sequence) and len(X) else ""
    nested = isinstance(first, list | tuple | np.ndarray) and len(first) > 0
    if nested and isinstance(first[0], Number):
        _check_rows(X)
        return True
    return False


def _array_is_counts(X: Any, expected: str) -> bool:
    """The same for arrays, data frames and their columns."""
    whole = hasattr(X, "shape") and hasattr(X, "dtype")
    array = X if whole else as_array(X, expected)
    kind = getattr(array.dtype, "kind", "O")
    if len(array.shape) == 2:
        if kind not in "biufc":
            first = array.ravel()[:1]
            if len(first) and isinstance(first[0], str):
                # column names are not quoted: without a header they are a record
                raise InvalidParameterError(
                    "Expected one column of documents, got a table of strings "
                    f"(shape {tuple(array.shape)}). Select the column of texts."
                )
            _check_rows(array)
        return True
    if len(array.shape) == 1 and kind not in "biufc":
        return False
    raise InvalidParameterError(
        f"{expected}, got an array of shape {tuple(array.shape)}. Reshape your data "
        "with X.reshape(1, -1) if it is the counts of one document."
    )


def _check_rows(rows: Any) -> None:
    """Refuse anything but rows of numbers, before NumPy quotes their contents."""
    width = len(rows[0]) if len(rows) else 0
    for i, row in enumerate(rows):
        sized = isinstance(row, list | tuple | np.ndarray)
        if not sized or len(row) != width:
            of = f" of {len(row)}" if sized else ""
            raise InvalidParameterError(
                "each row of a count matrix must be a list of as many numbers as row "
                f"0 ({width}), got {kind_of(row)}{of} as row {i}."
            )
        for j, cell in enumerate(row):
            if not isinstance(cell, Number | np.bool_):
                more = "" if isinstance(cell, str | bytes) else _NO_NUMBER
                raise InvalidParameterError(
                    "every cell of a count matrix must be a number, got "
                    f"{kind_of(cell)} in row {i}, column {j}. In a data frame with "
                    f"other columns, select the column of texts.{more}"
                )


def check_matrix(X: Any) -> None:
    """Refuse anything but a matrix of numbers, before other libraries quote it."""
    expected = "X must be a matrix of word weights"
    if isinstance(X, str | bytes) or not is_count_matrix(X, expected):
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} that is none. Reshape your data if it is "
            "one document: [X]. Count the words of texts first: CountVectorizer("
            "vocabulary=embedding.words).fit_transform(texts), with lowercase=False if "
            "the embedding has capitals."
        )


def as_array(X: Any, expected: str, dtype: Any = None) -> np.ndarray:
    """`X` as an array; the error does not quote it."""
    try:
        return np.asarray(X, dtype=dtype)
    except (TypeError, ValueError):  # whose messages may quote it
        raise InvalidParameterError(
            f"{expected}, got {kind_of(X)} that is not an array."
        ) from None


def composed(text: str) -> str:
    """The text with each letter and its accents as one character, where there is one.

    Unicode's form NFC: the same word has the same characters, however it is typed.
    """
    return unicodedata.normalize("NFC", text)


# -- the origin of noise, and ids --------------------------------------------------

RandomState = None | int | np.random.Generator | np.random.RandomState
# What gives its own numbers, which move it on
_SOURCES = (np.random.Generator, np.random.RandomState)

# Seeds below it can be found by trial; those that people choose, in minutes.
_GUESSABLE = 2**64


REPEATABLE = (
    "The noise is repeatable (random_state is an integer): anyone who sees the release "
    "learns which documents are equal, and anyone who can run this perturber learns "
    "whether a document is a given one. What follows is for documents that are "
    "released under different ids (document_ids), which nobody can use again."
)


@Integral.register
class SecretSeed:
    """An integer that does not show; ``int(seed)`` reveals it.

    No subclass of int: what writes numbers, such as json, would not ask for the repr.
    It is an Integral to what checks seeds, and is equal to the integer, so that
    parameters compare as before. ``"%d" % seed`` calls ``int`` and reveals it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = int(value)

    @classmethod
    def of(cls, random_state: Any) -> Any:
        """An integer as a secret; anything else, or a secret, unchanged."""
        given = isinstance(random_state, Integral)
        if not given or isinstance(random_state, bool | np.bool_ | cls):
            return random_state
        return cls(random_state)

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
        return self  # which scikit-learn's clone asks for


class CheckedParameters:
    """An estimator that stores some parameters in a form of their own.

    An integer `random_state` is a secret, which does not show.
    """

    _stored_as: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "random_state": SecretSeed.of
    }

    def __setattr__(self, name: str, value: Any) -> None:
        # Not in properties, so that `set_params` and `vars` find them where they are.
        form = self._stored_as.get(name)
        super().__setattr__(name, value if form is None else form(value))


def check_noise_state(random_state: Any) -> RandomState:
    """Return `random_state` if noise may come from it, or raise."""
    rule = (
        "random_state must be None, an integer >= 0 or a numpy.random.Generator or "
        "RandomState"
    )
    # scikit-learn hands the global state out for None. We compare with it, since a user
    # may pass it on from elsewhere without knowing.
    if random_state is check_random_state(None):
        raise InvalidParameterError(
            f"{rule} of your own, got NumPy's global one, which others seed and read."
        )
    if random_state is None or isinstance(random_state, _SOURCES):
        return random_state
    wrong_kind = isinstance(random_state, bool | np.bool_)
    if wrong_kind or not isinstance(random_state, Integral):
        raise InvalidParameterError(f"{rule}, got {kind_of(random_state)}.")
    value = int(random_state)
    if value < 0:
        raise InvalidParameterError(f"{rule}, got a negative integer.")
    return value


def warn_of_repeats(random_state: object, has_ids: bool) -> None:
    """Warn of what repeatable noise shows.

    Equal documents with different ids are released differently.
    """
    if not isinstance(random_state, Integral):
        return
    if not has_ids:
        warn_once(
            "random_state is an integer: equal documents get equal releases, which "
            "shows that they are equal. Give each document its own id, "
            "transform(X, document_ids=...), or use random_state=None.",
            PrivacyLeakWarning,
        )
    if int(random_state) < _GUESSABLE:
        warn_once(
            "random_state is an integer below 2^64, which can be guessed by trying: "
            "small ones in minutes. Anyone who knows it can undo the noise. Draw it "
            "with secrets.randbits(128), and keep it secret.",
            PrivacyLeakWarning,
        )


def check_rng(random_state: Any) -> np.random.Generator:
    """A NumPy generator for non-secret draws: synthetic data, an adversary's draws."""
    random_state = check_noise_state(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = int.from_bytes(random_state.bytes(32), "little")
    return np.random.default_rng(random_state)


def check_document_ids(document_ids: Any) -> list[Any]:
    """Return ids as a list if each is a str, int or bytes, and all differ."""
    if isinstance(document_ids, str | bytes) or not isinstance(document_ids, Iterable):
        raise InvalidParameterError(
            "document_ids must be an iterable of str, int or bytes, got "
            f"{type(document_ids).__name__}."
        )
    ids, seen = list(document_ids), dict[Any, int]()
    for position, identity in enumerate(ids):
        wrong = isinstance(identity, bool | np.bool_)
        if wrong or not isinstance(identity, str | bytes | Integral):
            raise InvalidParameterError(
                "document_ids must be str, int or bytes, got "
                f"{type(identity).__name__} at position {position}."
            )
        # no two of them are equal unless their bytes are
        first = seen.setdefault(identity, position)
        if first != position:
            raise InvalidParameterError(
                "document_ids must differ, or equal documents get equal noise: "
                f"positions {first} and {position} hold the same. If ids stand for "
                "people, k documents of one cost k times ε: with stand-ins, say "
                "who wrote each document by authors instead."
            )
    return ids


def check_number_of_ids(ids: list[Any] | None, n: int) -> None:
    """Refuse ids, if there are any, of another number than that of the documents."""
    if ids is not None and len(ids) != n:
        raise InvalidParameterError(
            f"document_ids must hold one id per document ({n}), got {len(ids)}."
        )


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
    """Labels of any library as a sortable array, one for each of `n` if that is given.

    Two labels that only look alike are refused, as one thing would count as two: those
    that differ in blanks, in signs that do not show or in the form of Unicode, and of
    `people` also in case. Blank names of people, and numbers that may have been rounded
    to one, would count as one person, and are refused, too. With `partly`, labels may
    be missing: if some are, all are objects, and the missing ones None. An error names
    the position of a bad label.
    """
    shape: Any = getattr(values, "shape", (0,))
    is_column = len(shape) == 2 and shape[1] == 1
    if isinstance(values, str | bytes | dict) or not (
        is_column or isinstance(values, Iterable)
    ):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}, got {kind_of(values)}."
        )
    # We look at every label before NumPy does: it makes the text "1" of 1 beside a
    # text, the text "nan" of a missing value, so that a class would appear from
    # nowhere, and "ann" of "ann\0".
    given = _column(values) if is_column else _as_list(values)
    if not (is_column or len(shape) == 1) or n not in (None, len(given)):
        raise InvalidParameterError(
            f"{name} must hold one label per {of}{'' if n is None else f' ({n})'}, got "
            f"shape {tuple(shape) if len(shape) != 1 else (len(given),)}."
        )
    missing = _check_each(name, given, partly)
    check_told_apart(name, given, people)
    # numbers keep their type, which a list forgets
    own = getattr(getattr(values, "dtype", None), "kind", "O") in tuple("biuf")
    plain = as_array(values if own else given, f"{name} must be labels").reshape(-1)
    if missing or plain.dtype.kind not in "biufU":
        plain = np.array([*given, None], dtype=object)[:-1]
        plain[missing] = None
    if people:
        _check_names(name, plain)
    try:
        different = len(np.unique(np.delete(plain, missing)))
    except TypeError:
        raise InvalidParameterError(
            f"{name} must be labels that can be sorted, got {kind_of(values)}."
        ) from None
    if different < n_different and n is not None:
        raise InvalidParameterError(
            f"{name} must hold at least {n_different} different labels, got "
            f"{different}."
        )
    return plain


def _check_each(name: str, labels: list[Any], partly: bool) -> list[int]:
    """Refuse labels of several kinds; returns where they are missing."""
    types = set(map(type, labels))
    if types <= {str} or types <= {int, bool}:
        return []
    kinds: dict[str, int] = {}
    missing = []
    for i, label in enumerate(labels):
        endless = isinstance(label, Real) and math.isinf(label)
        if endless or _is_missing(label):
            if endless or not partly:
                raise InvalidParameterError(
                    f"{name} must not be missing, got {shown(label)} for document {i}."
                )
            missing.append(i)
            continue
        number = isinstance(label, Number | np.bool_)
        own = "number" if number else type(label).__name__
        kinds.setdefault("text" if isinstance(label, str) else own, i)
    if len(kinds) > 1:
        (kind, i), (other, j) = list(kinds.items())[:2]
        raise InvalidParameterError(
            f"{name} must be of one kind, all text or all numbers, got {kind} for "
            f"document {i} and {other} for document {j}."
        )
    for kind, i in kinds.items():
        # of a label that holds several, NumPy would make as many
        if kind != "text" and isinstance(labels[i], Iterable):
            raise InvalidParameterError(
                f"{name} must hold one label per document, a text or a number, got "
                f"{kind_of(labels[i])} for document {i}."
            )
    return missing


def _is_missing(label: Any) -> bool:
    """Whether it is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # NA is neither equal nor unequal to itself
        return True
    except ValueError:  # an array
        return False


def _check_names(name: str, labels: np.ndarray) -> None:
    """Refuse names of people that may stand for several of them."""
    names = labels.tolist() if labels.dtype.kind in "UO" else []
    blank = [i for i, x in enumerate(names) if isinstance(x, str) and not x.strip()]
    if blank:
        raise InvalidParameterError(
            f"{name} must hold no blank names, which would be one person together, got "
            f"{len(blank)} of {len(labels)}, the first at position {blank[0]}."
        )
    if labels.dtype.kind != "f":
        return
    digits = np.finfo(labels.dtype).nmant + 1  # 24 for float32
    if (np.abs(labels) >= 2.0**digits).any():
        raise InvalidParameterError(
            f"{name} must be told apart, but they are floating-point numbers, or "
            f"integers of several kinds, of 2^{digits} or more, which may stand for "
            "several people: give str, or integers of one kind."
        )


def check_told_apart(
    name: str, labels: Sequence[Any], people: bool, of: str = "documents"
) -> None:
    """Refuse texts that only look alike; of `people` also those that differ in case.

    `of` says whose positions an error gives.
    """
    seen: dict[str, str] = {}
    for label in dict.fromkeys(x for x in labels if isinstance(x, str)):
        bare = _bare(label)
        twin = seen.setdefault(bare.casefold() if people else bare, label)
        if twin == label:
            continue
        who, loss = ("person", ", and lose twice the ε") if people else ("label", "")
        raise InvalidParameterError(
            f"{name} must be told apart by more than looks, but those of {of} "
            f"{labels.index(twin)} and {labels.index(label)} differ only in "
            f"{'case, ' if people else ''}blanks, signs that do not show, or forms of "
            f"Unicode: one {who} would count as two{loss}. Write them alike, or number "
            "those that are different."
        )


def _bare(label: str) -> str:
    """What people see of a label: no outer blanks, no signs that do not show."""
    if not (label.isascii() and label.isprintable()):
        kinds = unicodedata.category
        label = "".join(x for x in label if x.isspace() or kinds(x) not in ("Cc", "Cf"))
    return " ".join(composed(label).split())


def check_classes(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, at least 2 of them, and the number of each document's."""
    classes, numbers = np.unique(as_labels("y", y, n), return_inverse=True)
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
