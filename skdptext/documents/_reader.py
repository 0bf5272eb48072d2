"""One way to read documents, shared by releases, guarantees and metrics."""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.embeddings import WordEmbedding, check_columns, nearest_words, plain_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    MAX_WHOLE_WORDS,
    MAX_WORDS,
    check_bags,
    check_document,
    check_flag,
    check_integer,
    check_option,
    is_count_matrix,
    kind_of,
    plain_documents,
    shown,
    shown_words,
    warn_once,
)


def make_vectorizer(
    *, lowercase: Any, stop_words: Any, token_pattern: Any, tokenizer: Any
) -> CountVectorizer:
    """A `CountVectorizer` with these options, which are checked.

    Its ``build_analyzer`` splits strings into words; its ``get_stop_words`` gives the
    words to leave out.
    """
    check_flag("lowercase", lowercase)
    if tokenizer is not None and not callable(tokenizer):
        raise InvalidParameterError(
            f"tokenizer must be None or callable, got {shown(tokenizer)}."
        )
    if tokenizer is None:
        _check_pattern(token_pattern)
    named = isinstance(stop_words, str)
    if stop_words is not None and not (named and stop_words == "english"):
        listed = isinstance(stop_words, Iterable) and not isinstance(
            stop_words, Iterator
        )
        if named or not listed or not all(isinstance(word, str) for word in stop_words):
            raise InvalidParameterError(
                'stop_words must be None, "english" or a list of str, got '
                f"{shown(stop_words)}."
            )
        stop_words = list(stop_words)
    return CountVectorizer(
        lowercase=bool(lowercase),
        stop_words=stop_words,
        token_pattern=token_pattern if tokenizer is None else None,
        tokenizer=tokenizer,
    )


def _check_pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except TypeError:
        raise InvalidParameterError(
            f"token_pattern must be a regular expression, got {kind_of(pattern)}."
        ) from None
    except re.error as error:  # whose message may quote it
        raise InvalidParameterError(
            f"token_pattern must be a regular expression, got {shown(pattern)} that "
            f"breaks its rules at position {error.pos}."
        ) from None
    if groups > 1:
        raise InvalidParameterError(
            "token_pattern must have at most one capturing group, got "
            f"{shown(pattern)} with {groups}."
        )


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

    def bags(self, n_words: int, dtype: Any = np.float64) -> sp.csr_array:
        """Counts of known words, shape (n_documents, n_words)."""
        known = self.known()
        repeats = np.ones(len(known.codes)) if known.repeats is None else known.repeats
        bags = sp.csr_array(
            (repeats.astype(dtype), known.codes, known.offsets),
            shape=(len(self), n_words),
            copy=True,  # duplicates are summed, and so sorted, in place
        )
        bags.sum_duplicates()
        return bags

    def tokens(self, words: np.ndarray) -> list[list[str]]:
        """Words of each document, where `words` are those of the embedding."""
        tokens = words[np.maximum(self.codes, 0)]
        for i in np.flatnonzero(self.codes < 0):
            tokens[i] = self.in_clear[-1 - self.codes[i]]
        flat, ends = tokens.tolist(), self.offsets.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(ends)]


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


_OPTIONS = (
    "document_length", "resize", "oov", "lowercase", "stop_words", "token_pattern",
    "tokenizer",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DocumentReader:
    r"""How documents become words of an embedding.

    `DPWordPerturber`, guarantees and metrics read by the same reader, so that what is
    promised is about what is released.

    Parameters
    ----------
    embedding : WordEmbedding or None
        The embedding that decides which words are known. None: all words are kept as
        they are.
    document_length : int, default=None
        Words per document; None: as many as it has.
    resize : {"truncate", "sample"}, default="truncate"
        Whether `read` truncates documents to `document_length` or leaves that to
        `resample`.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. A word whose vector is made from
        subwords counts as the word of the embedding nearest to it.
    lowercase : bool, default=True
    stop_words : {"english"} or iterable of str, default=None
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
    tokenizer : callable, default=None
        All as in `DPWordPerturber`.

    Raises
    ------
    InvalidParameterError
        If an option breaks its rule.
    """

    embedding: WordEmbedding | None
    document_length: int | None = None
    resize: str = "truncate"
    oov: str = "drop"
    lowercase: bool = True
    stop_words: Any = None
    token_pattern: str = r"(?u)\b\w\w+\b"
    tokenizer: Callable[[str], list[str]] | None = None

    def __post_init__(self) -> None:
        if self.document_length is not None:
            check_integer(
                "document_length", self.document_length, low=1, high=MAX_WORDS
            )
        check_option("resize", self.resize, ("truncate", "sample"))
        check_option("oov", self.oov, ("drop", "error", "keep"))
        self._vectorizer  # noqa: B018, checks the rest

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew from its options: scikit-learn's tokenizers cannot be pickled.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of(
        cls,
        estimator: Any,
        embedding: WordEmbedding | None,
        kept: DocumentReader | None = None,
    ) -> DocumentReader:
        """The reader that an estimator's parameters describe.

        `kept` is one that they described before, over the same embedding. It is
        returned if they still do: a new one costs as much as a short document.
        """
        options = {
            name: getattr(estimator, name)
            for name in _OPTIONS
            if hasattr(estimator, name)
        }
        if options.get("resize") is None:
            has_length = options.get("document_length") is not None
            options["resize"] = "sample" if has_length else "truncate"
        if kept is not None and all(
            _unchanged(getattr(kept, name), value) for name, value in options.items()
        ):
            return kept
        return cls(embedding, **options)

    @cached_property
    def _vectorizer(self) -> CountVectorizer:
        return make_vectorizer(
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            token_pattern=self.token_pattern,
            tokenizer=self.tokenizer,
        )

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        return self._vectorizer.get_stop_words() or frozenset()

    @cached_property
    def _tokenize(self) -> Callable[[str], Any]:
        preprocess = self._vectorizer.build_preprocessor()
        tokenize = self._vectorizer.build_tokenizer()
        stop = self._stop_words
        parts = {token for word in stop for token in tokenize(preprocess(word))} - stop
        if parts:  # scikit-learn's own warning would quote them
            warn_once(
                "Your stop_words may be inconsistent with your preprocessing: read as "
                f"documents are, they give {len(parts)} tokens that are not among them "
                "and so are not left out.",
                UserWarning,
                "stop_words",
            )
        return lambda text: tokenize(preprocess(text))

    @property
    def options(self) -> dict[str, Any]:
        """All of them but the embedding."""
        return {name: getattr(self, name) for name in _OPTIONS}

    @property
    def vocabulary(self) -> WordEmbedding:
        """The embedding, or one that knows no word."""
        return NO_WORDS if self.embedding is None else self.embedding

    @property
    def sample_length(self) -> int | None:
        """Words drawn from each document; None: it is released as read."""
        return self.document_length if self.resize == "sample" else None

    @property
    def _cut_length(self) -> int | None:
        """Words that are read of each document; None: all."""
        return None if self.resize == "sample" else self.document_length

    def read(
        self,
        X: Any,
        *,
        whole: bool = False,
        counted: bool = False,
    ) -> EncodedDocuments:
        """Number the words of documents, which are texts, token lists or counts.

        `whole`: all words of each document are read, whatever `document_length` says.
        `counted`: counts are not written out as so many words, but left in ``repeats``,
        unless documents are truncated.

        An error gives the position of a document that breaks a rule. One rule is at
        most 10^8 words by its counts, unless it is truncated.
        """
        if is_count_matrix(X, each=False):
            return self.read_counts(X, whole=whole, counted=counted)
        return self.read_texts(X, whole=whole)

    def read_counts(
        self,
        X: Any,
        *,
        label: Label | None = None,
        whole: bool = False,
        counted: bool = False,
    ) -> EncodedDocuments:
        """`read` of what is known to be a count matrix.

        `label` turns a document's position and bytes into a digest that keys its noise.
        """
        cut = None if whole else self._cut_length
        bags = check_bags(
            X,
            n_words=len(self.vocabulary),
            counts=True,
            # what is cut is cut before its counts are written out as words
            max_words=MAX_WORDS if cut or counted else MAX_WHOLE_WORDS,
        )
        check_columns(X, self.vocabulary)
        counted = counted and cut is None
        return encode_counts(
            bags, self.vocabulary, truncate=cut, label=label, counted=counted
        )

    def read_texts(
        self, X: Any, *, label: Label | None = None, whole: bool = False
    ) -> EncodedDocuments:
        """`read` of what is known to be texts or token lists."""
        return encode_tokens(
            self._tokens(X),
            self.vocabulary,
            oov="keep" if self.embedding is None else self.oov,
            truncate=None if whole else self._cut_length,
            label=label,
        )

    def _tokens(self, X: Iterable[Any]) -> Iterator[list[str]]:
        """The words of each document."""
        stop = self._stop_words
        for position, document in enumerate(plain_documents(X)):
            check_document(document, position)
            if isinstance(document, str):
                tokens = token_list(self._cut(document, position), position)
                yield [t for t in tokens if t not in stop] if stop else tokens
                continue
            tokens = token_list(document, position)
            if self.embedding is None and self.lowercase:
                tokens = [t.lower() for t in tokens]  # else the embedding's spelling
            if stop:
                # as in strings, which are lowercased before stop words are taken out
                fold = str.lower if self.lowercase else str
                tokens = [t for t in tokens if fold(t) not in stop]
            yield tokens

    def _cut(self, text: str, position: int) -> Iterable[Any]:
        """Tokens of a text."""
        tokens = self._tokenize(text)
        # a str, or an array that holds one, would be read as a list of letters
        flat = isinstance(tokens, Iterable) and getattr(tokens, "ndim", 1) == 1
        if isinstance(tokens, str | bytes) or not flat:
            raise InvalidParameterError(
                f"tokenizer must return a list of str, got {kind_of(tokens)} for "
                f"document {position}."
            )
        return tokens


def _unchanged(option: Any, value: Any) -> bool:
    """Whether a value is an option that was checked before.

    Copies of numbers and texts, as pickling makes them, are the same; True is not 1.
    """
    return option is value or (
        type(option) is type(value) and isinstance(value, int | str) and option == value
    )


def token_list(document: Any, position: int) -> list[str]:
    """Tokens of a document as plain str; an error names the first that is none."""
    tokens = document.tolist() if isinstance(document, np.ndarray) else list(document)
    if set(map(type, tokens)) <= {str}:
        return tokens
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            raise InvalidParameterError(
                f"every token must be a str, got {kind_of(token)} as token {i} of "
                f"document {position}."
            )
    return list(map(str, tokens))


def word_ids(words: Iterable[str] | None, embedding: WordEmbedding) -> np.ndarray:
    """Indices of single words, which the embedding must know, int32; None: of all."""
    if words is None:
        return np.arange(len(embedding), dtype=np.int32)
    tokens = list(plain_words(words))
    ids = embedding.find(tokens)
    unknown = np.flatnonzero(ids < 0)
    if len(unknown):
        raise InvalidParameterError(
            f"words must be known to the embedding, got {len(unknown)} unknown, the "
            f"first at position {unknown[0]}: "
            f"{shown_words([tokens[i] for i in unknown])}."
        )
    return ids


def read_release(releases: Any, embedding: WordEmbedding) -> EncodedDocuments:
    """Number the words of a perturber's release, taken literally.

    Texts are split at blanks. Words outside the embedding, which were released in
    clear, are dropped.
    """
    reader = DocumentReader(embedding, lowercase=False, tokenizer=str.split)
    return reader.read(releases).known()


def some_word_ids(words: Iterable[str] | None, embedding: WordEmbedding) -> np.ndarray:
    """`word_ids` of at least one word."""
    ids = word_ids(words, embedding)
    if not len(ids):
        raise InvalidParameterError("words must hold at least one word, got none.")
    return ids
