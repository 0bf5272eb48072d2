"""Words and their vectors, shared by all parts of the library."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np

from skdptext.embeddings._files import Parts, read, write
from skdptext.embeddings._nearest import half_squared_norms
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_integer,
    composed,
    import_gensim,
    kind_of,
    shown,
    shown_words,
)


class Subwords(NamedTuple):
    """fastText's vectors of character n-grams by hash value, and the n-gram lengths.

    P. Bojanowski, E. Grave, A. Joulin, T. Mikolov, "Enriching word vectors with
    subword information", TACL 5 (2017).
    """

    buckets: np.ndarray  # of shape (n_hash_values, dim), float32, read-only
    min_n: int
    max_n: int


def plain_words(words: Iterable[str], name: str = "words") -> Iterator[str]:
    """Yield words as plain str; an error names the first one that is not a str."""
    try:
        if isinstance(words, str | bytes):
            raise TypeError
        words = iter(words)
    except TypeError:
        raise InvalidParameterError(
            f"{name} must be an iterable of str, got {kind_of(words)}."
        ) from None
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InvalidParameterError(
                f"{name} must be str, got {kind_of(word)} at position {i}."
            )
        # np.str_ is a str, but its pickles and its repr belong to NumPy.
        yield str(word)


def _rows_of(words: Iterable[str]) -> dict[str, int]:
    """Map each word to its row; repeated words are refused."""
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        first = rows.setdefault(word, row)
        if first != row:
            raise InvalidParameterError(
                f"words must be unique, got the same at positions {first} and {row}."
            )
    if not rows:
        raise InvalidParameterError("words must hold at least one word, got none.")
    return rows


def _checked(
    name: str, vectors: Any, n_rows: int | None, dim: int | None, own: bool
) -> np.ndarray:
    """Convert vectors to a frozen float32 matrix; a copy, unless the array is ours.

    None accepts any number of rows or of columns.
    """
    convert = np.asarray if own else np.array
    try:
        given = np.asarray(vectors)
        if given.dtype.kind not in "fiubO" or np.ma.is_masked(vectors):
            raise TypeError
        with np.errstate(over="ignore"):  # values beyond float32 are refused below
            stored = convert(given, dtype=np.float32, order="C")
    except (TypeError, ValueError, OverflowError):  # their messages quote the values
        raise InvalidParameterError(
            f"{name} must be a matrix of real numbers, got {type(vectors).__name__} "
            "with other or masked entries, or with rows that differ in length."
        ) from None
    n, m = stored.shape if stored.ndim == 2 else (0, 0)
    if not stored.size or n_rows not in (None, n) or dim not in (None, m):
        raise InvalidParameterError(
            f"{name} must be of shape ({n_rows or 'n_rows'}, {dim or 'dim >= 1'}), got "
            f"{stored.shape}."
        )
    finite = np.isfinite(stored).all(axis=1)
    if not finite.all():
        raise InvalidParameterError(
            f"{name} must be finite in float32, but row {finite.argmin()} is not."
        )
    return _frozen(stored)


def _frozen(array: np.ndarray) -> np.ndarray:
    """Get a read-only view of a read-only array."""
    # The flag of the view cannot be set back, because its base is read-only. A memory
    # map stays one, as the base.
    array.flags.writeable = False
    return array.view(np.ndarray)


class WordEmbedding:
    """Immutable vocabulary with one vector per word.

    Column ``j`` of every bag-of-words matrix in skdptext is word ``j`` of one
    embedding. Copies share the arrays: `copy.copy`, `copy.deepcopy` and
    `sklearn.base.clone` return the same object, and pickling to a worker of the
    same machine (joblib) maps the same memory.

    Parameters
    ----------
    words : iterable of str
        The vocabulary, without repetition, in the order of the rows of `vectors`.
        Unicode is normalized (NFC), here and when words are looked up.
    vectors : array-like of shape (n_words, dim)
        One finite vector per word. Stored as a read-only, C-ordered float32 copy.

    Attributes
    ----------
    words : tuple of str
        The vocabulary.
    vectors : ndarray of shape (n_words, dim), float32, read-only
        The vectors.
    dim : int
        Dimension of the vectors.

    Raises
    ------
    InvalidParameterError
        If a word is not a str, or two are equal in NFC, or `vectors` is not a matrix of
        finite numbers with one row per word.

    See Also
    --------
    one_hot_embedding : Makes words that are all equally far apart.
    skdptext.datasets.load_docstring_embedding : Trains vectors without a download.

    Notes
    -----
    *Privacy.* The guarantees of skdptext are relative to the embedding, which must be
    public: vectors trained on the protected documents void them.

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
    _subwords: Subwords | None = None

    def __init__(self, words: Iterable[str], vectors: Any) -> None:
        known = tuple(map(composed, plain_words(words)))
        rows = _rows_of(known)
        stored = _checked("vectors", vectors, len(rows), None, own=False)
        self.__dict__.update(words=known, vectors=stored, _rows=rows)

    @classmethod
    def _trusted(
        cls,
        words: tuple[str, ...],
        vectors: np.ndarray,
        subwords: Subwords | None,
        fingerprint: bytes | None = None,
    ) -> Self:
        """Build from checked parts."""
        # Arrays are frozen again here, because unpickling makes them writeable.
        self = cls.__new__(cls)
        if subwords is not None:
            subwords = subwords._replace(buckets=_frozen(subwords.buckets))
        self.__dict__.update(words=words, vectors=_frozen(vectors), _subwords=subwords)
        if fingerprint is not None:
            self.__dict__["fingerprint"] = fingerprint
        return self

    @classmethod
    def _from_parts(cls, parts: Parts, own: bool) -> Self:
        """Build from the contents of a file or a model.

        Some words differ only in code points, such as Hindi words in large files. The
        first of them stays, because it is the most frequent one. A word that occurs
        twice in the same spelling is refused.
        """
        words, vectors, ngrams = parts
        words = list(plain_words(words))
        n = len(_rows_of(words))
        vectors = _checked("vectors", vectors, n, None, own)
        first: dict[str, int] = {}
        for row, word in enumerate(words):
            first.setdefault(composed(word), row)
        if len(first) < n:
            vectors = vectors[list(first.values())]
        subwords = None
        if ngrams is not None:
            buckets, (min_n, max_n) = ngrams
            buckets = _checked("subword vectors", buckets, None, vectors.shape[1], own)
            if not 0 <= min_n <= max_n:
                raise InvalidParameterError(
                    "subword lengths must satisfy 0 <= min_n <= max_n, got "
                    f"{min_n}, {max_n}."
                )
            subwords = Subwords(buckets, min_n, max_n)
        return cls._trusted(tuple(first), vectors, subwords)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"WordEmbedding is immutable; cannot set {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"WordEmbedding is immutable; cannot delete {name!r}.")

    # -- size and look-up ------------------------------------------------------

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return self._row(word) >= 0

    def __getitem__(self, word: str) -> np.ndarray:
        row = self._row(word)
        if row < 0:
            raise KeyError(f"{kind_of(word)} that is not a word of the embedding.")
        return self.vectors[row]

    def _row(self, word: object) -> int:
        return self._rows.get(composed(word), -1) if isinstance(word, str) else -1

    @cached_property
    def _rows(self) -> dict[str, int]:
        return _rows_of(self.words)

    def __repr__(self) -> str:
        subwords = ", with subwords" if self.has_subwords else ""
        return f"WordEmbedding({len(self)} words, {self.dim} dimensions{subwords})"

    def find(self, tokens: Sequence[str]) -> np.ndarray:
        """Find the row of each token, -1 if it is unknown.

        A token is looked up as written, then lowercased, then capitalized, each in the
        composed form of Unicode. Cased and uncased embeddings therefore both work.

        Parameters
        ----------
        tokens : sequence of str
            Words to look up.

        Returns
        -------
        ids : ndarray of shape (n_tokens,), int32
            Ids of the words; −1 for unknown ones.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> WordEmbedding(["london", "Paris"], [[0.0], [1.0]]).find(
        ...     ["London", "paris", "Rome"])
        array([ 0,  1, -1], dtype=int32)
        """
        if not isinstance(tokens, list) or not {str}.issuperset(map(type, tokens)):
            tokens = list(plain_words(tokens, "tokens"))
        row = self._rows.get
        ids = np.fromiter(map(row, tokens, repeat(-1)), np.int32, len(tokens))
        # The written form comes first, because an embedding may contain both Us and us.
        for written in (str, str.lower, str.capitalize):
            unknown = np.flatnonzero(ids < 0)
            ids[unknown] = [row(composed(written(tokens[i])), -1) for i in unknown]
        return ids

    @property
    def has_subwords(self) -> bool:
        """Whether unknown words get a vector from their character n-grams."""
        return self._subwords is not None

    def infer(self, word: str) -> np.ndarray | None:
        """Get the vector of a word, known or not.

        Parameters
        ----------
        word : str
            The word, known or not.

        Returns
        -------
        vector : ndarray of shape (dim,), float32, or None
            The vector of a known word, as `find` finds it, or the mean of fastText's
            vectors of the word's character n-grams. None if the embedding has no
            subword vectors, or the word has no n-gram of their lengths.

        References
        ----------
        P. Bojanowski, E. Grave, A. Joulin, T. Mikolov, "Enriching word vectors with
        subword information", TACL 5 (2017).

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> embedding = WordEmbedding(["london"], [[0.5]])
        >>> embedding.infer("London")
        array([0.5], dtype=float32)
        >>> embedding.infer("Paris") is None
        True
        """
        row = self.find([word])[0]
        if row >= 0:
            return self.vectors[row]
        if self._subwords is None:
            return None
        import_gensim("an embedding with subword vectors")
        from gensim.models.fasttext import ft_ngram_hashes

        buckets, *lengths = self._subwords
        text = composed(word).encode(errors="ignore").decode()  # no half surrogates
        hashes = ft_ngram_hashes(text, *lengths, len(buckets))
        # A word shorter than the shortest subword has no vector.
        if not hashes:
            return None
        return buckets[hashes].sum(axis=0) / np.float32(len(hashes))

    @cached_property
    def word_array(self) -> np.ndarray:
        """The words as a read-only object array, for indexing."""
        return _frozen(np.fromiter(self.words, dtype=object, count=len(self)))

    @cached_property
    def half_norms(self) -> np.ndarray:
        """½‖φ‖² of each word, used by the search for nearest words; read-only."""
        return _frozen(half_squared_norms(self.vectors))

    # -- subsets ---------------------------------------------------------------

    def restrict(self, words_or_n: int | Iterable[str]) -> "WordEmbedding":
        """Make the embedding of a subset of the words.

        Parameters
        ----------
        words_or_n : int or iterable of str
            An int n selects the first n words, which share memory with this embedding.
            An iterable selects its words, in its order (a set: in the order of this
            embedding).

        Returns
        -------
        embedding : WordEmbedding
            A new embedding, which shares nothing mutable.

        Raises
        ------
        InvalidParameterError
            If the number is not in [1, n_words], or a word is unknown or repeated.

        Notes
        -----
        *Privacy.* Choose the words from public knowledge: a vocabulary taken from the
        protected documents reveals which words they contain.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> embedding = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [2.0]])
        >>> embedding.restrict(2).words
        ('a', 'b')
        >>> embedding.restrict(["c", "a"]).words
        ('c', 'a')
        """
        if not isinstance(words_or_n, Iterable):
            n = check_integer("words_or_n", words_or_n, low=1, high=len(self))
            return self._trusted(self.words[:n], self.vectors[:n], self._subwords)
        words = list(plain_words(words_or_n, "words_or_n"))
        if isinstance(words_or_n, set | frozenset):
            words.sort(key=self._row)
        rows = [self._row(word) for word in words]
        unknown = [word for word, row in zip(words, rows, strict=True) if row == -1]
        if unknown:
            raise InvalidParameterError(
                "words_or_n must hold words of the embedding only, got "
                f"{len(unknown)} unknown, the first at position {rows.index(-1)}: "
                f"{shown_words(unknown)}."
            )
        words = list(_rows_of(map(self.words.__getitem__, rows)))
        return self._trusted(tuple(words), self.vectors[rows], self._subwords)

    # -- files and gensim ------------------------------------------------------

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_words: int | None = None) -> Self:
        """Read an embedding from a file; the suffix determines the format.

        Parameters
        ----------
        path : str or path-like
            ``.npz``: arrays ``words`` and ``vectors``; ``.bin``: word2vec binary, read
            and written by gensim; ``.txt``, ``.vec``: word2vec, fastText or GloVe text,
            with or without a first line that gives the two sizes. All but ``.npz`` may
            be followed by ``.gz``.
        n_words : int, default=None
            Read only the first n words, or all if there are fewer. The rest of a text
            or binary file is not read. None reads all words.

        Returns
        -------
        embedding : WordEmbedding

        Raises
        ------
        InvalidParameterError
            If the suffix is not one of those, or the file is truncated or contains
            fewer words than its header states (in text also more), repeated words, rows
            of another length, NaN, infinite values or a word that is not UTF-8. The
            message names the line of a text file.
        FileNotFoundError
            If there is no such file.

        Notes
        -----
        A text file has a header if its first line is two whole numbers. Words in a text
        file may contain single blanks, as some words of GloVe do.

        Unicode is normalized (NFC). If several words of a file become one, the first
        stays, and the result has fewer words than the file, or than `n_words`.

        Examples
        --------
        >>> import os, tempfile
        >>> from skdptext import WordEmbedding
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "two.vec")
        ...     WordEmbedding(["a", "b"], [[0.5], [2.0]]).save(path)
        ...     WordEmbedding.load(path, n_words=1)
        WordEmbedding(1 words, 1 dimensions)
        """
        parts = read(path, n_words)
        try:
            return cls._from_parts(parts, own=True)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding to a file; the suffix determines the format.

        The file appears under its name only once it is complete.

        Parameters
        ----------
        path : str or path-like
            Name of the file, with a suffix that `load` knows. The best is ``.npz``,
            which loads fastest and keeps everything. Text is written with nine digits,
            which restores vectors exactly.

        Raises
        ------
        InvalidParameterError
            If the suffix is unknown, or the format cannot store one of the words.
            Binary files store no words with blanks, nor such as begin with a line
            break, and text files none with other white space than single blanks inside.

        Warns
        -----
        UserWarning
            If the embedding has subword vectors and the format is not ``.npz``, which
            leaves them out.

        Examples
        --------
        See `load`.
        """
        write(path, self.words, self.vectors, self._subwords)

    @classmethod
    def from_gensim(cls, model: Any) -> Self:
        """Make the embedding of a gensim model.

        Parameters
        ----------
        model : KeyedVectors, or a model with word vectors in ``wv``
            Word2Vec, FastText or Doc2Vec. fastText's subword vectors are kept: see
            `infer`. Vectors are copied, and further training does not change the
            embedding.

        Returns
        -------
        embedding : WordEmbedding

        Raises
        ------
        InvalidParameterError
            If `model` is something else, or breaks a rule of `WordEmbedding`.

        Examples
        --------
        >>> from gensim.models import KeyedVectors
        >>> from skdptext import WordEmbedding
        >>> keyed = KeyedVectors(vector_size=2)
        >>> keyed.add_vectors(["a", "b"], [[0.0, 1.0], [1.0, 0.0]])
        >>> WordEmbedding.from_gensim(keyed).words
        ('a', 'b')
        """
        import_gensim("WordEmbedding.from_gensim")
        from gensim.models import KeyedVectors
        from gensim.models.fasttext import FastTextKeyedVectors

        keyed = getattr(model, "wv", model)  # Word2Vec, FastText, Doc2Vec
        if not isinstance(keyed, KeyedVectors):
            raise InvalidParameterError(
                "model must be a gensim KeyedVectors or a model with word vectors in "
                f"`wv`, got {type(model).__name__}."
            )
        subwords = None
        if isinstance(keyed, FastTextKeyedVectors) and keyed.bucket:
            subwords = keyed.vectors_ngrams, (keyed.min_n, keyed.max_n)
        return cls._from_parts((keyed.index_to_key, keyed.vectors, subwords), own=False)

    # -- identity, copies, pickles ---------------------------------------------

    @cached_property
    def fingerprint(self) -> bytes:
        """32-byte digest of words and vectors; equal for equal embeddings."""
        digest = hashlib.blake2b(digest_size=32, person=b"skdptext-table")
        digest.update(repr(self.vectors.shape).encode())
        # `repr` escapes the separator, so that different lists of words differ as text.
        text = "\0".join(map(repr, self.words))
        digest.update(text.encode("utf-8", "surrogatepass"))
        arrays = [self.vectors]
        if self._subwords is not None:
            lengths = (self._subwords.min_n, self._subwords.max_n)
            digest.update(repr((lengths, self._subwords.buckets.shape)).encode())
            arrays.append(self._subwords.buckets)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()

    def __copy__(self) -> "WordEmbedding":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "WordEmbedding":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.words, self.vectors, self._subwords, self.fingerprint
        return self._trusted, parts


def one_hot_embedding(words: int | Iterable[str]) -> WordEmbedding:
    """Make the embedding in which all words are equally far apart (√2).

    Its vectors are the unit matrix, so it needs n_words² floats.

    Parameters
    ----------
    words : int or iterable of str
        The number of words, which get the names ``x0``, ``x1``, …; or the words.

    Returns
    -------
    embedding : WordEmbedding
        A new embedding, which shares nothing mutable.
    """
    if isinstance(words, Iterable):
        words = list(plain_words(words))
    else:
        words = [f"x{i}" for i in range(check_integer("words", words, low=1))]
    return WordEmbedding(words, np.eye(len(words), dtype=np.float32))


def check_embedding(
    embedding: Any, *, one_hot_words: int | Iterable[str] | None = None
) -> WordEmbedding:
    """Resolve an estimator's `embedding` parameter, a WordEmbedding or "one-hot".

    For "one-hot", `one_hot_words` are the columns of the count matrix, or their number.
    None means that the input is not a count matrix, and "one-hot" has no words.
    """
    if isinstance(embedding, WordEmbedding):
        return embedding
    if isinstance(embedding, str) and embedding == "one-hot":
        if one_hot_words is None:
            raise InvalidParameterError(
                'embedding="one-hot" needs a count matrix as input, whose columns are '
                "the words; for text or tokens, pass a WordEmbedding."
            )
        return one_hot_embedding(one_hot_words)
    raise InvalidParameterError(
        f'embedding must be a WordEmbedding or "one-hot", got {shown(embedding)}. '
        "Make one with WordEmbedding.load(path), WordEmbedding.from_gensim(model) or "
        "WordEmbedding(list(mapping), list(mapping.values()))."
    )


def column_names(X: Any) -> list[str] | None:
    """Get the names of the columns of a data frame, if all of them are str."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def check_columns(X: Any, embedding: WordEmbedding) -> None:
    """Refuse input whose columns are known not to be the words of this embedding.

    In a data frame, a column may be named after the word of another column; names that
    are not words are ignored. A release carries the fingerprint of its embedding.
    """
    fingerprint = getattr(X, "embedding_fingerprint", None)
    if fingerprint is not None and fingerprint != embedding.fingerprint:
        raise InvalidParameterError(
            "X must hold bags of the same embedding, in the same order of words, got a "
            "release by another one. Give one embedding to both."
        )
    if (names := column_names(X)) is None:
        return
    for column, (name, row) in enumerate(
        zip(names, embedding.find(names), strict=True)
    ):
        # Only a name that is another word of the embedding proves that the columns are
        # in another order.
        if row != column and name in embedding:
            raise InvalidParameterError(
                "X must have the words of the embedding as columns, in its order: "
                f"column {column} is named {name!r}, which is word {row} of the "
                "embedding."
            )
