"""Reading documents: what kind of input it is, its words, their numbers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_document, shown_words

__all__ = [
    "EncodedDocuments",
    "encode_counts",
    "encode_documents",
    "encode_words",
    "resample",
]

# Documents whose codes are joined at a time.
_TOGETHER = 4096


def _tokens(
    document: Any,
    position: int,
    analyze: Callable[[str], list[str]],
    stop: Set[str],
    lowercase: bool,
) -> list[str]:
    """The words of one document."""
    check_document(document, position)
    if isinstance(document, str):
        return list(analyze(document))
    tokens = document.tolist() if isinstance(document, np.ndarray) else list(document)
    if not set(map(type, tokens)) <= {str}:
        for token in tokens:
            if not isinstance(token, str):
                raise InvalidParameterError(
                    "each token must be a str, got "
                    f"{token!r:.80} in document {position}."
                )
        tokens = list(map(str, tokens))
    if not stop:
        return tokens
    # as in strings, which are lowercased before stop words are taken out
    return [t for t in tokens if (t.lower() if lowercase else t) not in stop]


@dataclass(frozen=True)
class EncodedDocuments:
    """Documents as numbers, one behind the other.

    A code in [0, V) is a word of the embedding; a code V + k an unknown word whose
    vector ``inferred[k]`` was made from its subwords; a code -1 - k the unknown word
    ``kept[k]``, which is passed through.
    """

    codes: np.ndarray  # int32, all documents
    offsets: np.ndarray  # int64, (n_documents + 1,); document i is offsets[i:i + 2]
    labels: list[bytes]  # digest of each document; none where the noise is fresh
    kept: list[str]
    inferred: np.ndarray  # float32, (n_inferred, dim)
    inferred_words: list[str]
    n_unknown: int  # words dropped or kept
    n_tokens: int  # words read


class _Encoder:
    """Collects documents; an unknown word gets its number when it is first met."""

    def __init__(self, embedding: WordEmbedding, oov: str) -> None:
        self.embedding = embedding
        self.oov = oov
        self.kept: dict[str, int] = {}
        self.inferred: dict[str, int] = {}
        self.vectors: list[np.ndarray] = []
        self.n_unknown = 0

    def encode(self, tokens: list[str], position: int) -> np.ndarray:
        codes = self.embedding.find(tokens)
        holes = np.flatnonzero(codes < 0)
        if not len(holes):
            return codes
        if self.embedding.has_subwords:
            for i in holes:
                codes[i] = self._infer(tokens[i])
            holes = np.flatnonzero(codes < 0)
        self.n_unknown += len(holes)
        if self.oov == "error" and len(holes):
            unknown = list(dict.fromkeys(tokens[i] for i in holes))
            raise InvalidParameterError(
                'oov="error" allows words of the embedding only: document '
                f"{position} holds {len(unknown)} unknown, first "
                f"{shown_words(unknown)}."
            )
        if self.oov == "keep":
            for i in holes:
                codes[i] = -1 - self.kept.setdefault(tokens[i], len(self.kept))
            return codes
        return codes[codes >= 0]

    def _infer(self, token: str) -> int:
        if token not in self.inferred:
            vector = self.embedding.infer(token)
            if vector is None:
                return -1
            self.inferred[token] = len(self.embedding) + len(self.inferred)
            self.vectors.append(vector)
        return self.inferred[token]

    def finish(
        self, parts: _Parts, labels: list[bytes], n_tokens: int
    ) -> EncodedDocuments:
        dim = self.embedding.dim
        return EncodedDocuments(
            codes=parts.codes(),
            offsets=parts.offsets(),
            labels=labels,
            kept=list(self.kept),
            inferred=np.array(self.vectors, dtype=np.float32).reshape(-1, dim),
            inferred_words=list(self.inferred),
            n_unknown=self.n_unknown,
            n_tokens=n_tokens,
        )


def encode_documents(
    X: Iterable[Any],
    embedding: WordEmbedding,
    *,
    analyze: Callable[[str], list[str]],
    stop_words: Set[str] = frozenset(),
    lowercase: bool = True,
    oov: str = "drop",
    label: Callable[[bytes], bytes] | None = None,
    truncate: int | None = None,
) -> EncodedDocuments:
    """Read texts or token lists.

    Parameters
    ----------
    X : iterable of str or of sequences of str
    embedding : WordEmbedding
    analyze : callable
        From a raw string to its words.
    stop_words : set of str
        Words taken out of token lists (`analyze` does it for strings).
    lowercase : bool
        Look for stop words in lower case.
    oov : {"drop", "error", "keep"}
    label : callable or None
        Digest of a document's bytes, from which its noise is drawn; None: not needed.
    truncate : int or None
        Keep the first so many words of each document, which must have them.
    """
    encoder = _Encoder(embedding, oov)
    parts = _Parts()
    labels: list[bytes] = []
    lengths = _LengthRule(truncate)
    n_tokens = 0
    for position, document in enumerate(X):
        tokens = _tokens(document, position, analyze, stop_words, lowercase)
        n_tokens += len(tokens)
        codes = lengths.apply(encoder.encode(tokens, position), position)
        if lengths.n_short:
            continue  # only counting now: there will be an error
        parts.append(codes)
        if label is not None:
            # repr tells ["a b"] from ["a", "b"] whatever the tokens hold
            labels.append(label(repr(tokens).encode("utf-8", "surrogatepass")))
    lengths.finish()
    return encoder.finish(parts, labels, n_tokens)


def encode_counts(
    X: sp.csr_array,
    embedding: WordEmbedding,
    *,
    label: Callable[[bytes], bytes] | None = None,
    truncate: int | None = None,
) -> EncodedDocuments:
    """Read a checked count matrix; the words of a row come in column order."""
    parts = _Parts()
    labels: list[bytes] = []
    lengths = _LengthRule(truncate)
    for position, codes in enumerate(_rows(X)):
        short = lengths.apply(codes, position)
        if not lengths.n_short:
            parts.append(short)
            if label is not None:
                labels.append(label(codes.astype("<i8").tobytes()))
    lengths.finish()
    return _Encoder(embedding, "drop").finish(parts, labels, int(X.sum()))


def encode_words(
    words: Iterable[str],
    embedding: WordEmbedding,
    *,
    n_draws: int,
    label: Callable[[bytes], bytes] | None = None,
) -> EncodedDocuments:
    """Read single words, each as a document of `n_draws` copies of it."""
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise InvalidParameterError(
            f"words must be an iterable of str, got {words!r:.80}."
        )
    tokens = list(words)
    for token in tokens:
        if not isinstance(token, str):
            raise InvalidParameterError(f"words must be str, got {token!r:.80}.")
    ids = embedding.find(tokens)
    if (ids < 0).any():
        unknown = [t for t, i in zip(tokens, ids, strict=True) if i < 0]
        raise InvalidParameterError(
            f"words must be known to the embedding, got {len(unknown)} unknown, "
            f"first {shown_words(unknown)}."
        )
    labels = []
    if label is not None:
        # by position too: a word that occurs twice must not get its draws twice
        request = repr((n_draws, list(map(str, tokens)))).encode()
        labels = [label(b"%d " % i + request) for i in range(len(ids))]
    return EncodedDocuments(
        codes=np.repeat(ids, n_draws),
        offsets=np.arange(len(ids) + 1, dtype=np.int64) * n_draws,
        labels=labels,
        kept=[],
        inferred=np.empty((0, embedding.dim), dtype=np.float32),
        inferred_words=[],
        n_unknown=0,
        n_tokens=len(ids),
    )


def _rows(X: sp.csr_array) -> Iterator[np.ndarray]:
    counts = X.data.astype(np.int64)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield np.repeat(X.indices[start:stop], counts[start:stop]).astype(np.int32)


def resample(
    codes: np.ndarray,
    lengths: np.ndarray,
    length: int,
    n_words: int,
    generators: Sequence[np.random.Generator],
) -> np.ndarray:
    """Each document as `length` draws from its own words (2018, §5.2).

    A document without words draws from the vocabulary of `n_words`, so that it is
    released with the same number of words as every other one. There is a generator per
    document, or one for all.
    """
    out = np.empty((len(lengths), length), dtype=np.int32)
    begin = np.cumsum(lengths) - lengths
    for i, (first, n) in enumerate(zip(begin, lengths, strict=True)):
        rng = generators[i if len(generators) > 1 else 0]
        if n:
            out[i] = codes[first + rng.integers(0, n, length)]
        else:
            out[i] = rng.integers(0, n_words, length)
    return out.ravel()


class _Parts:
    """Codes of document after document; a small array each would cost far more."""

    def __init__(self) -> None:
        self._done: list[np.ndarray] = []
        self._open: list[np.ndarray] = []
        self._lengths = array("q")

    def append(self, codes: np.ndarray) -> None:
        self._open.append(codes)
        self._lengths.append(len(codes))
        if len(self._open) == _TOGETHER:
            self._close()

    def _close(self) -> None:
        joined = np.concatenate(self._open or [np.empty(0, np.int32)])
        self._done.append(joined.astype(np.int32, copy=False))
        self._open = []

    def codes(self) -> np.ndarray:
        self._close()
        return np.concatenate(self._done)

    def offsets(self) -> np.ndarray:
        offsets = np.zeros(len(self._lengths) + 1, dtype=np.int64)
        np.cumsum(self._lengths, out=offsets[1:])
        return offsets


class _LengthRule:
    """Cuts documents to a length and counts those that are too short for it."""

    def __init__(self, length: int | None) -> None:
        self.length = length
        self.n_short = 0
        self.first: int | None = None
        self.shortest = length or 0
        self.n_seen = 0

    def apply(self, codes: np.ndarray, position: int) -> np.ndarray:
        self.n_seen += 1
        if self.length is None:
            return codes
        if len(codes) < self.length:
            self.n_short += 1
            self.first = position if self.first is None else self.first
            self.shortest = min(self.shortest, len(codes))
        return codes[: self.length]

    def finish(self) -> None:
        if self.n_short:
            raise InvalidParameterError(
                f'document_length={self.length} with resize="truncate" needs documents '
                f"of at least so many known words: {self.n_short} of {self.n_seen} are "
                f"shorter, first document {self.first}, the shortest has "
                f'{self.shortest}. Use resize="sample", whose guarantee is weaker, '
                "or a smaller document_length."
            )
