"""Documents as numbers: what is read, what is dropped, what is too short."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.search import nearest_words
from skdptext.utils import shown_words

# Stands for no embedding: it knows no word, so that every word is kept.
NO_WORDS = WordEmbedding([""], [[0.0]])
# Documents whose codes are concatenated at a time.
_TOGETHER = 4096
# Tokens, or so, that are looked up at a time.
_TOKENS_TOGETHER = 8192

#: From a document's position and content to the digest that its noise is drawn from.
Label = Callable[[int, bytes], bytes]


@dataclass(frozen=True)
class EncodedDocuments:
    """Documents as numbers, concatenated.

    A code in [0, V) is a word of the embedding; a code -1 - k is the unknown word
    ``in_clear[k]``, which passes through unchanged.
    """

    codes: np.ndarray  # int32, all documents
    offsets: np.ndarray  # int64, (n_documents + 1,); document i is offsets[i:i + 2]
    stream_labels: Sequence[bytes] = ()  # one per document; none for fresh noise
    in_clear: Sequence[str] = ()
    n_unknown: int = 0  # words dropped or kept
    n_tokens: int = 0  # words read
    #: How often each code occurs, where that is not written out; int64
    repeats: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        """Codes of one document."""
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    def known(self) -> EncodedDocuments:
        """The same without the unknown words that pass through."""
        known = self.codes >= 0
        upto = np.concatenate([[0], np.cumsum(known)])
        repeats = None if self.repeats is None else self.repeats[known]
        return EncodedDocuments(self.codes[known], upto[self.offsets], repeats=repeats)

    def bags(self, n_words: int) -> sp.csr_array:
        """Counts of known words, shape (n_documents, n_words)."""
        known = self.known()
        repeats = np.ones(len(known.codes)) if known.repeats is None else known.repeats
        bags = sp.csr_array(
            (repeats.astype(np.float64), known.codes, known.offsets),
            shape=(len(self), n_words),
            copy=True,  # duplicates are summed, and so sorted, in place
        )
        bags.sum_duplicates()
        return bags


class _Encoder:
    """Collects documents; an unknown word is numbered at its first occurrence."""

    def __init__(
        self,
        embedding: WordEmbedding,
        oov: str,
        truncate: int | None,
        label: Label | None,
    ) -> None:
        self.embedding = embedding
        self.oov = oov
        self.label = label
        self.in_clear: dict[str, int] = {}
        self.inferred: dict[str, int] = {}
        self.vectors: list[np.ndarray] = []
        self.stream_labels: list[bytes] = []
        # codes of all documents: one small array for each would take far more memory
        self.done: list[np.ndarray] = []
        self.open: list[np.ndarray] = []
        self.lengths = array("q", [0])
        self.n_unknown = self.n_tokens = self.n_seen = 0
        # Documents are cut to this length. Of those that are too short: how many there
        # are, which is the first, and the smallest size.
        self.length = truncate
        self.short: tuple[int, int, int] | None = None

    def fill(
        self, codes: np.ndarray, tokens: list[str], ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the next documents' tokens, and where each document ends.

        Codes below 0 are given for tokens unknown to the embedding; those dropped get
        none.
        """
        holes = np.flatnonzero(codes < 0)
        if len(holes) and self.embedding.has_subwords:
            codes[holes] = [self._infer(tokens[i]) for i in holes.tolist()]
            holes = holes[codes[holes] < 0]
        if not len(holes):
            return codes, ends
        self.n_unknown += len(holes)
        if self.oov == "error":
            self._refuse_unknown(holes, tokens, ends)
        if self.oov == "keep":
            number = self.in_clear
            unknown = [tokens[i] for i in holes.tolist()]
            codes[holes] = [-1 - number.setdefault(t, len(number)) for t in unknown]
            return codes, ends
        known = codes >= 0
        return codes[known], np.concatenate([[0], known.cumsum()])[ends]

    def _refuse_unknown(
        self, holes: np.ndarray, tokens: list[str], ends: np.ndarray
    ) -> None:
        """An error of the first document with words unknown to the embedding."""
        of = np.searchsorted(ends, holes, side="right")
        theirs = holes[of == of[0]]
        first = theirs[0] - (ends[of[0] - 1] if of[0] else 0)
        raise InvalidParameterError(
            'oov="error" allows words of the embedding only: document '
            f"{self.n_seen + of[0]} holds {len({tokens[i] for i in theirs})} unknown, "
            f"the first as its word {first}, {shown_words([tokens[theirs[0]]])}."
        )

    def _infer(self, token: str) -> int:
        if token not in self.inferred:
            vector = self.embedding.infer(token)
            if vector is None:
                return -1
            self.inferred[token] = len(self.embedding) + len(self.inferred)
            self.vectors.append(vector)
        return self.inferred[token]

    def add(self, codes: np.ndarray, size: int, content: bytes) -> None:
        """Take the next document.

        `codes` may be cut to the words that are kept, `size` is the number of all its
        words, and `content` keys its noise.
        """
        position = self.n_seen
        self.n_seen += 1
        if self.length is not None:
            if size < self.length:
                n_short, first, least = self.short or (0, position, size)
                self.short = n_short + 1, first, min(least, size)
            codes = codes[: self.length]
        if self.short:
            return  # only counting: an error will follow
        self.open.append(codes)
        self.lengths.append(len(codes))
        if len(self.open) == _TOGETHER:
            self.done.append(np.concatenate(self.open))
            self.open = []
        if self.label is not None:
            self.stream_labels.append(self.label(position, content))

    def finish(self) -> EncodedDocuments:
        if self.short:
            n_short, first, least = self.short
            raise InvalidParameterError(
                f'document_length={self.length} with resize="truncate" needs documents '
                f"of at least that many known words: {n_short} of {self.n_seen} are "
                f"shorter, first document {first}, the shortest has {least}. Use "
                'resize="sample", whose guarantee is weaker, or a smaller '
                "document_length."
            )
        none = np.empty(0, np.int32)
        codes = np.concatenate([none, *self.done, *self.open]).astype(
            np.int32, copy=False
        )
        if self.vectors:
            # A mechanism knows the words of the embedding only: a vector made from
            # subwords is taken as its nearest word's, before any noise.
            snapped = nearest_words(np.array(self.vectors), self.embedding.vectors)
            made = codes >= len(self.embedding)
            codes[made] = snapped[codes[made] - len(self.embedding)]
        return EncodedDocuments(
            codes=codes,
            offsets=np.cumsum(self.lengths, dtype=np.int64),
            stream_labels=self.stream_labels,
            in_clear=list(self.in_clear),
            n_unknown=self.n_unknown,
            n_tokens=self.n_tokens,
        )


def encode_tokens(
    documents: Iterable[list[str]],
    embedding: WordEmbedding,
    *,
    oov: str,
    truncate: int | None,
    label: Label | None,
) -> EncodedDocuments:
    """Number the words of token lists."""
    encoder = _Encoder(embedding, oov, truncate, label)
    for group in _together(documents):
        # to look words up for each document by itself would take most of the time
        every = list(itertools.chain.from_iterable(group))
        encoder.n_tokens += len(every)
        if embedding is NO_WORDS:  # it would find the empty token
            codes = np.full(len(every), -1, dtype=np.int32)
        else:
            codes = embedding.find(every)
        codes, ends = encoder.fill(codes, every, np.cumsum(list(map(len, group))))
        start = 0
        for tokens, stop in zip(group, ends.tolist(), strict=True):
            # repr tells ["a b"] from ["a", "b"] whatever the tokens hold
            content = repr(tokens).encode("utf-8", "surrogatepass") if label else b""
            encoder.add(codes[start:stop], stop - start, content)
            start = stop
    return encoder.finish()


def _together(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Batches of documents; a long one makes a batch of its own."""
    group: list[list[str]] = []
    n_tokens = 0
    for tokens in documents:
        group.append(tokens)
        n_tokens += len(tokens) + 1
        if n_tokens >= _TOKENS_TOGETHER:
            yield group
            group, n_tokens = [], 0
    if group:
        yield group


def encode_counts(
    bags: sp.csr_array,
    embedding: WordEmbedding,
    *,
    truncate: int | None,
    label: Label | None,
    counted: bool = False,
) -> EncodedDocuments:
    """Number the words of a checked count matrix; those of a row in column order.

    If `counted`, each word once, and how often it occurs: a count may be 10^9.
    """
    encoder = _Encoder(embedding, "drop", truncate, label)
    repeats = [np.empty(0, dtype=np.int64)]
    for start, stop in itertools.pairwise(bags.indptr.tolist()):
        ids = bags.indices[start:stop].astype(np.int32)
        counts = bags.data[start:stop].astype(np.int64)
        size = int(counts.sum())
        encoder.n_tokens += size
        content = ids.astype("<i8").tobytes() + counts.astype("<i8").tobytes()
        if truncate is not None:
            # truncated before expansion: a count may be 10^9
            counts = np.diff(np.minimum(counts.cumsum(), truncate), prepend=0)
        if counted:
            repeats.append(counts)
            encoder.add(ids, size, content)
        else:
            encoder.add(np.repeat(ids, counts), size, content)
    encoded = encoder.finish()
    return replace(encoded, repeats=np.concatenate(repeats)) if counted else encoded


def resample(
    codes: np.ndarray,
    lengths: np.ndarray,
    length: int,
    n_words: int,
    generators: Sequence[np.random.Generator],
    repeats: np.ndarray | None = None,
) -> np.ndarray:
    """Replace each document by `length` draws from its own words (2018, §5.2).

    A document without words draws from the vocabulary of `n_words`, so that it is
    released with the same number of words as every other one. There is a generator per
    document, or one for all. With `repeats`, each code stands for so many words.
    """
    out = np.empty((len(lengths), length), dtype=np.int32)
    begin = np.cumsum(lengths) - lengths
    for i, (first, n) in enumerate(zip(begin, lengths, strict=True)):
        rng = generators[i if len(generators) > 1 else 0]
        if n and repeats is not None:
            upto = repeats[first : first + n].cumsum()
            drawn = rng.integers(0, upto[-1], length)
            out[i] = codes[first + upto.searchsorted(drawn, side="right")]
        elif n:
            out[i] = codes[first + rng.integers(0, n, length)]
        else:
            out[i] = rng.integers(0, n_words, length)
    return out.ravel()
