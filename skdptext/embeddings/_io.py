"""`WordEmbedding`'s ways in and out: files and gensim."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skdptext.embeddings._gensim import Parts, keyed_vectors, parts_of
from skdptext.embeddings._readers import read
from skdptext.embeddings._subwords import SubwordVectors
from skdptext.embeddings._writers import write
from skdptext.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


class InputOutput:
    """The part of `WordEmbedding` that reads and writes; it adds no state."""

    words: tuple[str, ...]
    vectors: np.ndarray
    _subwords: SubwordVectors | None = None

    @classmethod
    @abstractmethod
    def _from_parts(cls, parts: Parts) -> Self:
        """A table of parts that a reader has checked."""

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        n_words: int | None = None,
        *,
        encoding_errors: str = "strict",
        allow_pickle: bool = False,
    ) -> Self:
        """Read a table from a file; its suffix says in which format.

        Parameters
        ----------
        path : str or path-like
            ``.txt``, ``.vec``: word2vec, fastText or GloVe text, with or without a
            first line that gives the two sizes; ``.bin``: word2vec binary; each also
            with ``.gz`` behind. ``.kv``: gensim's own; ``.npz``: arrays ``words`` and
            ``vectors``. An ``.npz`` that `save` wrote, and a ``.kv`` of gensim with
            its vectors in a file beside it, are memory-mapped: nothing is copied, and
            processes share the memory.
        n_words : int, default=None
            Read the first so many words only, and look at no more of a text, binary
            or compressed file. All there are, if there are fewer. None: all.
        encoding_errors : {"strict", "replace", "ignore"}, default="strict"
            What to do with a word that is not UTF-8, as in `bytes.decode`; for text
            and binary files.
        allow_pickle : bool, default=False
            Whether to open a ``.kv``. **It is a pickle, and a pickle runs any code
            that its author put there**, as you, when it is loaded: say True only of
            files that you trust as you trust programs. The other formats hold no
            code, and need it not.

        Returns
        -------
        embedding : WordEmbedding

        Raises
        ------
        InvalidParameterError
            If the suffix is not one of those, or the file is cut short, holds fewer
            or more words than it promises, words twice, rows of another length, NaN,
            infinite values or a word that is not UTF-8. The message names the line
            of a text file, the word of a binary one. Also if it is a ``.kv`` and
            `allow_pickle` is False; or claims what no table has: more than a million
            dimensions, a line of more than 16 MiB, a compressed file that expands
            more than 200-fold.
        FileNotFoundError
            If there is no such file.

        Notes
        -----
        A text file is taken to have a header if its first line is two whole numbers,
        unless the next two lines, too, have two fields each and the second number is
        not 1: that is a table of one dimension without a header.

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
        parts = read(path, n_words, encoding_errors, allow_pickle)
        try:
            return cls._from_parts(parts)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file; its suffix says in which format.

        The file appears under its name once it is complete, never half-written. What
        a save that was killed left beside it is deleted.

        Parameters
        ----------
        path : str or path-like
            ``.npz`` loads memory-mapped and keeps all there is: the best choice.
            Or one of the other suffixes that `load` knows. Text is written with nine
            digits, so that vectors come back exactly. ``.kv`` is one file, which
            gensim reads; see `load` on its danger.

        Raises
        ------
        InvalidParameterError
            If the suffix is unknown, or the format cannot hold one of the words (text
            and binary: with white space).

        Warns
        -----
        UserWarning
            If the table has subword vectors and the format is not ``.npz``: they are
            left out.

        Examples
        --------
        See `load`.
        """
        write(path, self.words, self.vectors, self._subwords)

    @classmethod
    def from_gensim(cls, model: Any) -> Self:
        """Table of a gensim model's words.

        Parameters
        ----------
        model : KeyedVectors, or a model with word vectors in ``wv``
            Word2Vec, FastText or Doc2Vec. fastText's subword vectors are kept: see
            `infer`. Vectors are copied, so that training on does not change the
            table, unless they are memory-mapped for reading.

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

    def to_gensim(self) -> KeyedVectors:
        """gensim `KeyedVectors` with a copy of the vectors, without subword vectors.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> table = WordEmbedding(["a", "b"], [[0.0, 1.0], [1.0, 0.0]])
        >>> table.to_gensim().most_similar("a")[0][0]
        'b'
        """
        return keyed_vectors(self.words, self.vectors.copy())
