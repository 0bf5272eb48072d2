"""The table of word vectors that every part of the library shares."""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer

__all__ = ["WordEmbedding"]

# One object per table and process: what is unpickled twice is the same object.
_live: weakref.WeakValueDictionary[bytes, WordEmbedding] = weakref.WeakValueDictionary()
_live_lock = threading.Lock()


class WordEmbedding:
    """Immutable table of words and their vectors.

    Column ``j`` of every bag-of-words matrix in skdptext is word ``j`` of one
    embedding. Copies share the arrays: `copy.copy`, `copy.deepcopy` and
    `sklearn.base.clone` return the same object, and pickling to a worker of the
    same machine (joblib) maps the same memory.

    Parameters
    ----------
    words : iterable of str
        The vocabulary, without repetition, in the order of the rows of `vectors`.
    vectors : array-like of shape (n_words, dim)
        One finite vector per word. Stored as a read-only, C-ordered float32 array;
        an array that is already all of this is not copied.

    Attributes
    ----------
    words : tuple of str
        The vocabulary.
    vectors : ndarray of shape (n_words, dim), float32, read-only
        The vectors.
    dim : int
        Length of a vector.

    Raises
    ------
    InvalidParameterError
        If a word is not a str or occurs twice, if `vectors` is not a matrix with one
        row per word, or holds NaN or an infinite value.

    Notes
    -----
    *Privacy.* The guarantees of skdptext are relative to the embedding, which must be
    public: vectors trained on the documents that are to be protected void them.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> embedding = WordEmbedding(["king", "queen"], [[1.0, 0.0], [0.9, 0.3]])
    >>> len(embedding), embedding.dim
    (2, 2)
    >>> "king" in embedding
    True
    >>> embedding["queen"]
    array([0.9, 0.3], dtype=float32)
    """

    words: tuple[str, ...]
    vectors: np.ndarray
    _index: dict[str, int]

    def __init__(self, words: Iterable[str], vectors: Any) -> None:
        words = _check_words(words)
        vectors = _check_vectors(vectors, words)
        self._set(words, vectors)

    @classmethod
    def _trusted(
        cls, words: tuple[str, ...], vectors: np.ndarray, **state: Any
    ) -> WordEmbedding:
        """Build without checks, from parts that were checked before."""
        self = cls.__new__(cls)
        self._set(words, vectors, **state)
        return self

    def _set(self, words: tuple[str, ...], vectors: np.ndarray, **state: Any) -> None:
        index = {word: i for i, word in enumerate(words)}
        state = dict(state, words=words, vectors=vectors, _index=index)
        self.__dict__.update(state)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"WordEmbedding is immutable; cannot set {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"WordEmbedding is immutable; cannot delete {name!r}.")

    # -- size and look-up ------------------------------------------------------

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def __getitem__(self, word: str) -> np.ndarray:
        try:
            return self.vectors[self._index[word]]
        except (KeyError, TypeError):
            raise KeyError(f"{word!r} is not a word of the embedding.") from None

    def __repr__(self) -> str:
        return f"WordEmbedding({len(self)} words, {self.dim} dimensions)"

    def find(self, tokens: Sequence[str]) -> np.ndarray:
        """Row of each token, -1 where it is unknown.

        A token is looked up as written, then lowercased, then capitalised, so that
        cased and uncased tables both work.

        Parameters
        ----------
        tokens : sequence of str

        Returns
        -------
        ids : ndarray of shape (n_tokens,), int32

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> WordEmbedding(["london", "Paris"], [[0.0], [1.0]]).find(
        ...     ["London", "paris", "Rome"])
        array([ 0,  1, -1], dtype=int32)
        """
        get = self._index.get
        ids = [get(token, -1) for token in tokens]
        if -1 in ids:
            for position, found in enumerate(ids):
                if found < 0:
                    token = tokens[position]
                    ids[position] = get(token.lower(), get(token.capitalize(), -1))
        return np.array(ids, dtype=np.int32)

    @cached_property
    def word_array(self) -> np.ndarray:
        """The words as a read-only object array, to take many at once."""
        array = np.empty(len(self), dtype=object)
        array[:] = self.words
        array.flags.writeable = False
        return array

    # -- sub-tables ------------------------------------------------------------

    def restrict(self, words_or_n: int | Iterable[str]) -> WordEmbedding:
        """Table of some of the words.

        Parameters
        ----------
        words_or_n : int or iterable of str
            The first so many words (shares memory with this table); or these words,
            in the order given (a set: in the order of this table).

        Returns
        -------
        embedding : WordEmbedding

        Raises
        ------
        InvalidParameterError
            If the number is not in [1, n_words], or a word is unknown or repeated.

        Notes
        -----
        *Privacy.* Choose the words from public knowledge: a vocabulary read off the
        documents that are to be protected tells which words they contain.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> table = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [2.0]])
        >>> table.restrict(2).words
        ('a', 'b')
        >>> table.restrict(["c", "a"]).words
        ('c', 'a')
        """
        if isinstance(words_or_n, str | bytes):
            raise InvalidParameterError(
                "words_or_n must be an integer or an iterable of words, got the "
                f"single string {words_or_n!r}."
            )
        if not isinstance(words_or_n, Iterable):
            n = check_integer("words_or_n", words_or_n, low=1)
            if n > len(self):
                raise InvalidParameterError(
                    f"words_or_n must be <= the number of words ({len(self)}), got {n}."
                )
            return self._trusted(self.words[:n], self.vectors[:n])
        words: Iterable[str] = words_or_n
        if isinstance(words, set | frozenset):
            words = sorted(words, key=lambda word: self._index.get(word, -1))
        words = _check_words(words)
        unknown = [word for word in words if word not in self._index]
        if unknown:
            raise InvalidParameterError(
                f"words_or_n must hold words of the embedding only, got {len(unknown)} "
                f"unknown: {unknown[:5]}."
            )
        vectors = self.vectors[[self._index[word] for word in words]]
        vectors.flags.writeable = False
        return self._trusted(words, vectors)

    # -- identity, copies, pickles ---------------------------------------------

    @cached_property
    def fingerprint(self) -> bytes:
        """32-byte digest of the words and vectors, equal for equal tables."""
        digest = hashlib.blake2b(digest_size=32, person=b"skdptext-table")
        digest.update(repr(self.vectors.shape).encode())
        digest.update("\0".join(map(repr, self.words)).encode("utf-8", "surrogatepass"))
        for rows in gen_batches(len(self), 4096):
            digest.update(self.vectors[rows].tobytes())
        return digest.digest()

    def __copy__(self) -> WordEmbedding:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WordEmbedding:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.fingerprint, self.words, self.vectors)


def _restore(
    fingerprint: bytes, words: tuple[str, ...], vectors: np.ndarray
) -> WordEmbedding:
    """The live table with this fingerprint, or a new one."""
    with _live_lock:
        embedding = _live.get(fingerprint)
        if embedding is None:
            vectors = vectors.view(np.ndarray)
            vectors.flags.writeable = False
            embedding = WordEmbedding._trusted(words, vectors, fingerprint=fingerprint)
            _live[fingerprint] = embedding
    return embedding


def _check_words(words: Iterable[str]) -> tuple[str, ...]:
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise InvalidParameterError(
            f"words must be an iterable of str, got {words!r:.80}."
        )
    words = tuple(words)
    if not words:
        raise InvalidParameterError("words must hold at least one word, got none.")
    first: dict[str, int] = {}
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InvalidParameterError(
                f"words must be str, got {word!r:.80} at position {i}."
            )
        if first.setdefault(word, i) != i:
            raise InvalidParameterError(
                f"words must be unique, got {word!r} at positions {first[word]} "
                f"and {i}."
            )
    # np.str_ is a str, but pickles and prints as NumPy's
    return tuple(map(str, words))


def _check_vectors(vectors: Any, words: tuple[str, ...]) -> np.ndarray:
    try:
        given = np.asarray(vectors)
        if given.dtype.kind not in "fiub":
            given = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"vectors must be a numeric matrix, got {type(vectors).__name__}: {error}."
        ) from None
    if given.ndim != 2 or given.shape[1] == 0:
        raise InvalidParameterError(
            f"vectors must be of shape (n_words, dim >= 1), got {given.shape}."
        )
    if len(given) != len(words):
        raise InvalidParameterError(
            f"vectors must have one row per word, got {len(given)} rows for "
            f"{len(words)} words."
        )
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused below
        stored = np.ascontiguousarray(given, dtype=np.float32)
    for rows in gen_batches(len(stored), 4096):
        finite = np.isfinite(stored[rows]).all(axis=1)
        if not finite.all():
            row = rows.start + int(np.argmin(finite))
            value = given[row][~np.isfinite(stored[row])][0]
            raise InvalidParameterError(
                f"vectors must be finite in float32, got {value} in row {row} "
                f"({words[row]!r})."
            )
    if stored.flags.writeable and np.may_share_memory(stored, given):
        stored = stored.copy()
    stored.flags.writeable = False
    return stored
