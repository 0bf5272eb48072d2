"""One way to read documents, shared by releases, guarantees and metrics."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

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
    composed,
    is_count_matrix,
    kind_of,
    plain_documents,
    shown,
    shown_words,
    warn_once,
)

# -- the door: documents in one form -------------------------------------------------

_DOCUMENTS = "Expected an iterable of documents (str or lists of str)"


def read_documents(
    X: Any, *, expected: str = _DOCUMENTS, name: str = "X", of: str = ""
) -> Iterator[Any]:
    """Documents one after the other, each a str or a list of str, in Unicode's NFC.

    So that "é" is one letter for all that read them, whether it was typed as one sign
    or two. `X` is checked at once and each document when it is read; an error begins
    with `expected` or names the position of the document, and quotes nothing. `of`
    says which documents, as in " of public_documents".
    """
    if is_count_matrix(X, expected, name=name):
        raise InvalidParameterError(f"{expected}, got a count matrix: words are read.")
    return _each(plain_documents(X), of)


def _each(documents: Iterable[Any], of: str) -> Iterator[Any]:
    for position, document in enumerate(documents):
        check_document(document, position, of)
        if isinstance(document, str):
            yield composed(str(document))
        else:
            yield token_list(document, position, of)


def token_list(document: Any, position: int, of: str = "") -> list[str]:
    """Tokens of a document as plain str in NFC; an error names one that is no str."""
    tokens = document.tolist() if isinstance(document, np.ndarray) else list(document)
    if not set(map(type, tokens)) <= {str}:
        for i, token in enumerate(tokens):
            if not isinstance(token, str):
                raise InvalidParameterError(
                    f"every token must be a str, got {kind_of(token)} as token {i} of "
                    f"document {position}{of}."
                )
        tokens = list(map(str, tokens))
    return tokens if "".join(tokens).isascii() else list(map(composed, tokens))


# -- words of a text -----------------------------------------------------------------

# Where there is none of these, no letter has marks of its own: combining marks, scripts
# other than Latin.
_OTHERS = re.compile("[\u0300-\u1dff\u1f00-\u1fff\u2c80-\U0010ffff]")
_WORD = re.compile(r"\w\w+")


@cache
def _word_with_marks() -> re.Pattern[str]:
    r"""``\w+``, with the marks that belong to letters and the joiners between them.

    Python's ``\w`` leaves out the vowels of Hindi and the points of Hebrew. What makes
    an emoji of a digit is no such mark.
    """
    marks = "".join(
        sign
        for sign in map(chr, range(0x300, 0x20000))
        if unicodedata.category(sign) in ("Mn", "Mc")
        and not "\ufe00" <= sign <= "\ufe0f"
    )
    return re.compile(rf"\w[\w{marks}]*(?:[\u200c\u200d]+[\w{marks}]+)*")


def find_words(text: str) -> list[str]:
    """The words of a text in NFC, where nobody says what a word is.

    Two letters or digits or more, as scikit-learn has it, but with their marks; and, as
    it may be a syllable, one letter of a script other than Latin.
    """
    if text.isascii() or not _OTHERS.search(text):
        return _WORD.findall(text)
    words = _word_with_marks().findall(text)
    return [word for word in words if len(word) > 3 or _is_word(word)]


def _is_word(word: str) -> bool:
    letters = sum(sign.isalnum() or sign == "_" for sign in word)
    return letters > 1 or (word[0] >= "\u0370" and word[0].isalpha())


# -- words as numbers ----------------------------------------------------------------

# Stands for no embedding: it knows no word, so that every word is kept.
NO_WORDS = WordEmbedding([""], [[0.0]])
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

    @property
    def n_without(self) -> int:
        """How many documents hold no known word."""
        return int((np.diff(self.known().offsets) == 0).sum())

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


class _Lengths:
    """Cuts documents to a length, and refuses those that are too short for it."""

    def __init__(self, length: int | None) -> None:
        self.length = length
        self.n_seen = self.n_short = self.first = 0
        self.least = MAX_WORDS

    def cut(self, sizes: np.ndarray) -> np.ndarray:
        """The sizes of the next documents, cut."""
        if self.length is None:
            return sizes
        short = np.flatnonzero(sizes < self.length)
        if len(short):
            self.first = self.first if self.n_short else self.n_seen + int(short[0])
            self.n_short += len(short)
            self.least = min(self.least, int(sizes.min()))
        self.n_seen += len(sizes)
        return np.minimum(sizes, self.length)

    def check(self) -> None:
        if self.n_short:
            raise InvalidParameterError(
                f'document_length={self.length} with resize="truncate" needs documents '
                f"of at least that many known words: {self.n_short} of {self.n_seen} "
                f"are shorter, first document {self.first}, the shortest has "
                f'{self.least}. Use resize="sample", whose guarantee is weaker, or a '
                "smaller document_length."
            )


def _together(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Batches of documents; a long one makes a batch of its own.

    To look words up for each document by itself would take most of the time.
    """
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


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _first_of_each(sizes: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Which of the words of documents are among the first so many of each."""
    places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places < np.repeat(kept, sizes)


class _Finder:
    """Numbers tokens; an unknown one is numbered at its first occurrence."""

    def __init__(self, embedding: WordEmbedding, oov: str) -> None:
        self.embedding, self.oov = embedding, oov
        self.in_clear: dict[str, int] = {}
        self.inferred: dict[str, int] = {}
        self.vectors: list[np.ndarray] = []
        self.n_unknown = self.n_seen = 0

    def find(self, group: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the words of the next documents, and how many each document has."""
        tokens = list(itertools.chain.from_iterable(group))
        sizes = np.array(list(map(len, group)))
        if self.embedding is NO_WORDS:  # it would find the empty token
            codes = np.full(len(tokens), -1, dtype=np.int32)
        else:
            codes = self.embedding.find(tokens)
        holes = np.flatnonzero(codes < 0)
        if len(holes) and self.embedding.has_subwords:
            codes[holes] = [self._infer(tokens[i]) for i in holes.tolist()]
            holes = holes[codes[holes] < 0]
        self.n_unknown += len(holes)
        unknown = [tokens[i] for i in holes.tolist()]
        if unknown and self.oov == "error":
            of = np.repeat(np.arange(len(group)), sizes)[holes]
            theirs = unknown[: int((of == of[0]).sum())]
            first = holes[0] - _starts(sizes)[of[0]]
            raise InvalidParameterError(
                'oov="error" allows words of the embedding only: document '
                f"{self.n_seen + of[0]} holds {len(set(theirs))} unknown, the first "
                f"as its word {first}, {shown_words(theirs[:1])}."
            )
        self.n_seen += len(group)
        if self.oov == "keep":
            number = self.in_clear
            codes[holes] = [-1 - number.setdefault(t, len(number)) for t in unknown]
            return codes, sizes
        known = codes >= 0
        return codes[known], np.diff(_starts(known)[_starts(sizes)])

    def _infer(self, token: str) -> int:
        if token not in self.inferred:
            vector = self.embedding.infer(token)
            if vector is None:
                return -1
            self.inferred[token] = len(self.embedding) + len(self.inferred)
            self.vectors.append(vector)
        return self.inferred[token]

    def snapped(self, codes: np.ndarray) -> np.ndarray:
        """The codes, where a word made from subwords is its nearest one.

        A mechanism knows the words of the embedding only.
        """
        if self.vectors:
            nearest = nearest_words(np.array(self.vectors), self.embedding.vectors)
            made = codes >= len(self.embedding)
            codes[made] = nearest[codes[made] - len(self.embedding)]
        return codes


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


# -- the reader ----------------------------------------------------------------------

_OPTIONS = (
    "document_length", "resize", "oov", "lowercase", "stop_words", "token_pattern",
    "tokenizer",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DocumentReader:
    """How documents become words of an embedding.

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
    token_pattern : str, default=None
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
    token_pattern: str | None = None
    tokenizer: Callable[[str], list[str]] | None = None

    def __post_init__(self) -> None:
        if self.document_length is not None:
            check_integer(
                "document_length", self.document_length, low=1, high=MAX_WORDS
            )
        check_option("resize", self.resize, ("truncate", "sample"))
        check_option("oov", self.oov, ("drop", "error", "keep"))
        check_flag("lowercase", self.lowercase)
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise InvalidParameterError(
                f"tokenizer must be None or callable, got {shown(self.tokenizer)}."
            )
        if self.tokenizer is None and self.token_pattern is not None:
            _check_pattern(self.token_pattern)
        _check_stop_words(self.stop_words)

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

    def read(
        self, X: Any, *, whole: bool = False, counted: bool = False
    ) -> EncodedDocuments:
        """Number the words of documents, which are texts, token lists or counts.

        `whole`: all words of each document are read, whatever `document_length` says.
        `counted`: counts are not written out as so many words, but left in ``repeats``,
        unless documents are truncated.

        An error gives the position of a document that breaks a rule. One rule is at
        most 10^8 words by its counts, unless it is truncated.
        """
        if is_count_matrix(X):
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
        """`read` of what is known to be a count matrix; words are in column order.

        `label` turns a document's position and bytes into a digest that keys its noise.
        """
        length = None if whole or self.resize == "sample" else self.document_length
        bags = check_bags(
            X,
            n_words=len(self.vocabulary),
            counts=True,
            # what is cut is cut before its counts are written out as words
            max_words=MAX_WORDS if length or counted else MAX_WHOLE_WORDS,
        )
        check_columns(X, self.vocabulary)
        ids, counts = bags.indices.astype(np.int32), bags.data.astype(np.int64)
        starts, upto = bags.indptr.astype(np.int64), _starts(counts)
        sizes = np.diff(upto[starts])
        labels = [
            label(i, ids[a:b].astype("<i8").tobytes() + counts[a:b].tobytes())
            for i, (a, b) in enumerate(itertools.pairwise(starts.tolist()))
            if label is not None
        ]
        lengths = _Lengths(length)
        kept = lengths.cut(sizes)
        lengths.check()
        if length is not None:
            # words that come before an entry in its document, and up to it
            before = upto[:-1] - np.repeat(upto[starts[:-1]], np.diff(starts))
            counts = np.clip(length - before, 0, counts)
        counted = counted and length is None
        return EncodedDocuments(
            codes=ids if counted else np.repeat(ids, counts),
            offsets=starts if counted else _starts(kept),
            stream_labels=labels,
            n_tokens=int(sizes.sum()),
            repeats=counts if counted else None,
        )

    def read_texts(
        self, X: Any, *, label: Label | None = None, whole: bool = False
    ) -> EncodedDocuments:
        """`read` of what is known to be texts or token lists."""
        oov = "keep" if self.embedding is None else self.oov
        cut = whole or self.resize == "sample"
        lengths = _Lengths(None if cut else self.document_length)
        finder = _Finder(self.vocabulary, oov)
        codes, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        labels: list[bytes] = []
        n_tokens = 0
        for group in _together(self._tokens(X)):
            n_tokens += sum(map(len, group))
            found, of_each = finder.find(group)
            kept = lengths.cut(of_each)
            if lengths.n_short:
                continue  # only counting: an error will follow
            if lengths.length is not None:
                found = found[_first_of_each(of_each, kept)]
            codes.append(found)
            if label is not None:
                # repr tells ["a b"] from ["a", "b"] whatever the tokens hold
                labels += [
                    label(i, repr(tokens).encode("utf-8", "surrogatepass"))
                    for i, tokens in enumerate(group, len(labels))
                ]
            sizes.append(kept)
        lengths.check()
        return EncodedDocuments(
            codes=finder.snapped(np.concatenate(codes)).astype(np.int32, copy=False),
            offsets=_starts(np.concatenate(sizes)),
            stream_labels=labels,
            in_clear=list(finder.in_clear),
            n_unknown=finder.n_unknown,
            n_tokens=n_tokens,
        )

    def words(self, document: Any, position: int = 0) -> list[str]:
        """The words of a document that `read_documents` gave."""
        stop = self._stop
        if isinstance(document, str):
            tokens = self._split(document, position)
            return [t for t in tokens if t not in stop] if stop else tokens
        if self.embedding is None and self.lowercase:
            document = list(map(self._lower, document))  # else the embedding's spelling
        if stop:
            # as in strings, which are lowercased before stop words are taken out
            document = [t for t in document if self._lower(t) not in stop]
        return document

    def _tokens(self, X: Any) -> Iterator[list[str]]:
        for position, document in enumerate(read_documents(X)):
            yield self.words(document, position)

    def _lower(self, text: str) -> str:
        # a small letter may be one sign where the capital is two
        return composed(text.lower()) if self.lowercase else text

    def _split(self, text: str, position: int = 0) -> list[str]:
        """Tokens of a text."""
        text = self._lower(text)
        if self.tokenizer is None:
            if self.token_pattern is None:
                return find_words(text)
            return re.findall(self.token_pattern, text)
        tokens: Any = self.tokenizer(text)
        # a str, or an array that holds one, would be read as a list of letters
        flat = isinstance(tokens, Iterable) and getattr(tokens, "ndim", 1) == 1
        if isinstance(tokens, str | bytes) or not flat:
            raise InvalidParameterError(
                f"tokenizer must return a list of str, got {kind_of(tokens)} for "
                f"document {position}."
            )
        return token_list(tokens, position)

    @cached_property
    def _stop(self) -> frozenset[str]:
        named = isinstance(self.stop_words, str)
        stop = frozenset(
            map(composed, ENGLISH_STOP_WORDS if named else self.stop_words or ())
        )
        parts = {token for word in stop for token in self._split(word)} - stop
        if parts:
            warn_once(
                "Your stop_words may be inconsistent with your preprocessing: read as "
                f"documents are, they give {len(parts)} tokens that are not among them "
                "and so are not left out.",
                UserWarning,
                "stop_words",
            )
        return stop


def _unchanged(option: Any, value: Any) -> bool:
    """Whether a value is an option that was checked before.

    Copies of numbers and texts, as pickling makes them, are the same; True is not 1.
    """
    return option is value or (
        type(option) is type(value) and isinstance(value, int | str) and option == value
    )


def _check_pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except TypeError:
        raise InvalidParameterError(
            "token_pattern must be None or a regular expression, got "
            f"{kind_of(pattern)}."
        ) from None
    except re.error as error:  # whose message may quote it
        raise InvalidParameterError(
            f"token_pattern must be None or a regular expression, got {shown(pattern)} "
            f"that breaks its rules at position {error.pos}."
        ) from None
    if groups > 1:
        raise InvalidParameterError(
            "token_pattern must have at most one capturing group, got "
            f"{shown(pattern)} with {groups}."
        )


def _check_stop_words(words: Any) -> None:
    named = isinstance(words, str)
    if words is None or (named and words == "english"):
        return
    listed = isinstance(words, Iterable) and not isinstance(words, Iterator)
    if named or not listed or not all(isinstance(word, str) for word in words):
        raise InvalidParameterError(
            f'stop_words must be None, "english" or a list of str, got {shown(words)}.'
        )


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
