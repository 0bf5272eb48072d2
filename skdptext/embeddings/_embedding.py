"""Words and their vectors, shared by every part of the library."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np

from skdptext.embeddings._checks import check_vectors, freeze
from skdptext.embeddings._gensim import Parts, SubwordVectors, parts_of
from skdptext.embeddings._index import WordIndex, check_words
from skdptext.embeddings._readers import read
from skdptext.embeddings._writers import write
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, half_squared_norms, kind_of, shown


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
    vectors : array-like of shape (n_words, dim)
        One finite vector per word. Stored as a read-only, C-ordered float32 array;
        an array that is already all of this, such as a memory map opened for
        reading, is not copied.

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
        If a word is not a str or occurs twice, or `vectors` is not a matrix of finite
        numbers with one row per word.

    See Also
    --------
    one_hot_embedding : Words that are all equally far from each other.
    skdptext.datasets.load_docstring_embedding : Vectors that need no download.

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

    vectors: np.ndarray
    _index: WordIndex
    _subwords: SubwordVectors | None = None

    def __init__(self, words: Iterable[str], vectors: Any) -> None:
        index = check_words(words)
        self._set(index, check_vectors(vectors, index))

    @classmethod
    def _trusted(cls, index: WordIndex, vectors: np.ndarray, **state: Any) -> Self:
        """Build from parts that have been checked."""
        self = cls.__new__(cls)
        self._set(index, vectors, **state)
        return self

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        words, vectors, subwords = parts
        index = words if isinstance(words, WordIndex) else check_words(words)
        return cls._trusted(index, check_vectors(vectors, index), _subwords=subwords)

    def _set(self, index: WordIndex, vectors: np.ndarray, **state: Any) -> None:
        self.__dict__.update(state, vectors=vectors, _index=index)

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
        return len(self._index.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __contains__(self, word: object) -> bool:
        return self._row(word) >= 0

    def __getitem__(self, word: str) -> np.ndarray:
        row = self._row(word)
        if row < 0:
            raise KeyError(f"{kind_of(word)} that is not a word of the embedding.")
        return self.vectors[row]

    def _row(self, word: object) -> int:
        return self._index.row(word) if isinstance(word, str) else -1

    def __repr__(self) -> str:
        subwords = ", with subwords" if self.has_subwords else ""
        return f"WordEmbedding({len(self)} words, {self.dim} dimensions{subwords})"

    def find(self, tokens: Sequence[str]) -> np.ndarray:
        """Row of each token, -1 where it is unknown.

        A token is looked up as written, then lowercased, then capitalised, so that
        cased and uncased embeddings both work.

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
        if isinstance(tokens, str | bytes | Set | Mapping) or not isinstance(
            tokens, Iterable
        ):
            raise InvalidParameterError(
                f"tokens must be a sequence of str, got {kind_of(tokens)}."
            )
        tokens = tokens if isinstance(tokens, list) else list(tokens)
        try:
            ids = self._index.rows(tokens)
        except TypeError:  # a list within the list
            ids = np.full(len(tokens), -1, dtype=np.int32)
        unknown = np.flatnonzero(ids < 0)
        for position in unknown:
            if not isinstance(tokens[position], str):
                raise InvalidParameterError(
                    f"tokens must be str, got {kind_of(tokens[position])} at position "
                    f"{position}."
                )
        # As written comes first, so that an embedding that has both Us and us keeps
        # them apart.
        for written in (str.lower, str.capitalize):
            if not len(unknown):
                break
            ids[unknown] = self._index.rows([written(tokens[i]) for i in unknown])
            unknown = unknown[ids[unknown] < 0]
        return ids

    @property
    def has_subwords(self) -> bool:
        """Whether unknown words get a vector from their character n-grams."""
        return self._subwords is not None

    def infer(self, word: str) -> np.ndarray | None:
        """Vector of a word, known or not.

        Parameters
        ----------
        word : str
            The word, known or not.

        Returns
        -------
        vector : ndarray of shape (dim,), float32, or None
            That of the row that `find` gives; else the mean of fastText's vectors of
            the word's character n-grams; None if the embedding has no subword vectors,
            or the word has no n-gram of their lengths.

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
        return None if self._subwords is None else self._subwords.infer(word)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, in the order of the rows of `vectors`."""
        return tuple(self._index)

    @property
    def word_array(self) -> np.ndarray:
        """The words as a read-only object array, for indexing."""
        return self._index.words

    @cached_property
    def half_norms(self) -> np.ndarray:
        """½‖φ‖² of each word, which a search for nearest words takes; read-only."""
        half_norms = half_squared_norms(self.vectors)
        half_norms.flags.writeable = False
        return half_norms

    # -- subsets ---------------------------------------------------------------

    def restrict(self, words_or_n: int | Iterable[str]) -> WordEmbedding:
        """The embedding of a subset of the words.

        Parameters
        ----------
        words_or_n : int or iterable of str
            The first n words, which share memory with this embedding; or these words,
            in the order given (a set: in the order of this embedding).

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
        if isinstance(words_or_n, str | bytes):
            raise InvalidParameterError(
                "words_or_n must be an integer or an iterable of words, got "
                f"{kind_of(words_or_n)}."
            )
        if not isinstance(words_or_n, Iterable):
            n = check_integer("words_or_n", words_or_n, low=1)
            if n > len(self):
                raise InvalidParameterError(
                    f"words_or_n must be <= the number of words ({len(self)}), got {n}."
                )
            index, vectors = WordIndex(self.words[:n]), self.vectors[:n]
            return self._trusted(index, vectors, _subwords=self._subwords)
        words: Iterable[str] = words_or_n
        if isinstance(words, set | frozenset):
            words = sorted(words, key=self._row)
        index = check_words(words)
        words = list(index)
        rows = self._index.rows(words)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            raise InvalidParameterError(
                f"words_or_n must hold words of the embedding only, got {len(unknown)} "
                f"unknown, first {kind_of(words[unknown[0]])} at position {unknown[0]}."
            )
        vectors = freeze(self.vectors[rows])
        return self._trusted(index, vectors, _subwords=self._subwords)

    # -- files and gensim ------------------------------------------------------

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_words: int | None = None) -> Self:
        """Read an embedding from a file; the suffix determines the format.

        Parameters
        ----------
        path : str or path-like
            ``.txt``, ``.vec``: word2vec, fastText or GloVe text, with or without a
            first line that gives the two sizes; ``.bin``: word2vec binary; each also
            with ``.gz`` behind. ``.npz``: arrays ``words`` and ``vectors``; one that
            `save` wrote is memory-mapped: nothing is copied, and processes share the
            memory.
        n_words : int, default=None
            Read only the first n words, or all if there are fewer; the rest of a text,
            binary or compressed file is not read. None: all.

        Returns
        -------
        embedding : WordEmbedding

        Raises
        ------
        InvalidParameterError
            If the suffix is not one of those, or the file is cut short, holds fewer
            or more words than it promises, words twice, rows of another length, NaN,
            infinite values or a word that is not UTF-8. The message names the line
            of a text file, the word of a binary one. Also if it exceeds a limit: more
            than a million dimensions, a line of more than 16 MiB, a compressed file
            that expands more than 200-fold.
        FileNotFoundError
            If there is no such file.

        Notes
        -----
        A text file has a header if its first line is two whole numbers. The exception
        is an embedding of one dimension without a header: the next two lines also have
        two fields each, and the second number is not 1.

        Do not write over a file that is memory-mapped in place; `save` is safe, as it
        puts a new file where the old one was.

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
            return cls._from_parts(parts)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding to a file; the suffix determines the format.

        The file appears under its name only once it is complete.

        Parameters
        ----------
        path : str or path-like
            ``.npz`` loads memory-mapped and keeps everything: the best choice.
            Or one of the other suffixes that `load` knows. Text is written with nine
            digits, so that vectors come back exactly.

        Raises
        ------
        InvalidParameterError
            If the suffix is unknown, or the format cannot hold one of the words (text
            and binary: with white space).

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
        """The embedding of a gensim model.

        Parameters
        ----------
        model : KeyedVectors, or a model with word vectors in ``wv``
            Word2Vec, FastText or Doc2Vec. fastText's subword vectors are kept: see
            `infer`. Vectors are copied, so that further training does not change the
            embedding, unless they are memory-mapped for reading.

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
        return cls._from_parts(parts_of(model))

    # -- identity, copies, pickles ---------------------------------------------

    @cached_property
    def fingerprint(self) -> bytes:
        """32-byte digest of words and vectors; equal for equal embeddings."""
        digest = hashlib.blake2b(digest_size=32, person=b"skdptext-table")
        digest.update(repr(self.vectors.shape).encode())
        for row, word in enumerate(self):  # a text of them all would stay in the heap
            text = f"\0{word!r}" if row else repr(word)
            digest.update(text.encode("utf-8", "surrogatepass"))
        arrays = [self.vectors]
        if self._subwords is not None:
            lengths = (self._subwords.min_n, self._subwords.max_n)
            digest.update(repr((lengths, self._subwords.buckets.shape)).encode())
            arrays.append(self._subwords.buckets)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()

    def __copy__(self) -> WordEmbedding:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WordEmbedding:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.fingerprint, self.words, self.vectors, self._subwords)


def _restore(
    fingerprint: bytes,
    words: tuple[str, ...],
    vectors: np.ndarray,
    subwords: SubwordVectors | None,
) -> WordEmbedding:
    """An embedding that has been checked, with its fingerprint."""
    state = {"_subwords": subwords, "fingerprint": fingerprint}
    return WordEmbedding._trusted(WordIndex(words), freeze(vectors), **state)


def one_hot_embedding(words: int | Iterable[str]) -> WordEmbedding:
    """The embedding in which all words are equally far apart (√2).

    Its vectors are the unit matrix, so it needs n_words² floats.

    Parameters
    ----------
    words : int or iterable of str
        The number of words, which are called ``x0``, ``x1``, …; or the words.

    Returns
    -------
    embedding : WordEmbedding
        A new embedding, which shares nothing mutable.
    """
    if isinstance(words, Iterable):
        words = list(words)
    else:
        words = [f"x{i}" for i in range(check_integer("words", words, low=1))]
    return WordEmbedding(words, np.eye(len(words), dtype=np.float32))


def check_embedding(
    embedding: Any, *, one_hot_words: int | Iterable[str] | None = None
) -> WordEmbedding:
    """Resolve an estimator's `embedding` parameter, a WordEmbedding or "one-hot".

    `one_hot_words` are the columns of the count matrix, or how many there are, for
    "one-hot"; None: the input is not a count matrix, so "one-hot" has no words.
    """
    if isinstance(embedding, WordEmbedding):
        return embedding
    if isinstance(embedding, str) and embedding == "one-hot":
        if one_hot_words is None:
            raise InvalidParameterError(
                'embedding="one-hot" needs a count matrix as input, whose columns are '
                "the words; for text or tokens, give a WordEmbedding."
            )
        return one_hot_embedding(one_hot_words)
    raise InvalidParameterError(
        f'embedding must be a WordEmbedding or "one-hot", got {shown(embedding)}. '
        f"{_advice(embedding)}"
    )


def _advice(embedding: Any) -> str:
    """How to make a WordEmbedding of what was given."""
    if isinstance(embedding, str | PathLike):
        return "Read a file by WordEmbedding.load(path)."
    if isinstance(embedding, Mapping):
        return (
            "Make one of a mapping from words to vectors by "
            "WordEmbedding(list(mapping), list(mapping.values()))."
        )
    if hasattr(embedding, "key_to_index") or hasattr(embedding, "wv"):
        return "Convert a gensim model by WordEmbedding.from_gensim(model)."
    return "See WordEmbedding.load and skdptext.datasets.load_docstring_embedding."


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a data frame, if all of them are str."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def check_columns(X: Any, embedding: WordEmbedding) -> None:
    """Refuse what says that its columns are not the words of this embedding.

    A data frame does if it names a column after another column's word; names that are
    not words are ignored. A release does by the fingerprint that it carries.
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
        if row != column and name in embedding:
            raise InvalidParameterError(
                "X must have the words of the embedding as columns, in its order: "
                f"column {column} is named {name!r}, which is word {row} of the "
                "embedding."
            )
