"""Read documents in one way for releases, guarantees and metrics."""

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdptext.embeddings import WordEmbedding, check_columns, nearest_words, plain_words
from skdptext.exceptions import InvalidParameterError, OutOfVocabularyWarning
from skdptext.utils import (
    MAX_WORDS,
    check_integer,
    check_option,
    composed,
    is_count_matrix,
    kind_of,
    plain_documents,
    read_bags,
    shown,
    shown_words,
    warn_once,
)

# -- documents in one form -----------------------------------------------------------

_DOCUMENTS = "Expected an iterable of documents (str or lists of str)"


def read_documents(
    X: Any,
    *,
    expected: str = _DOCUMENTS,
    name: str = "X",
    of: str = "",
    split: Callable[[str, Any], list[str]] | None = None,
) -> Iterator[Any]:
    """Yield documents, each a str or a list of str, in Unicode's NFC.

    In NFC, "é" is one letter regardless of whether it was typed as one character or
    two. `X` is checked at once and each document when it is read. An error begins with
    `expected` or names the position of the document, and quotes nothing. `of` names the
    documents, as in " of public_documents". `split` turns a text and its position into
    words, which then keep the text.
    """
    if is_count_matrix(X, expected, name=name):
        raise InvalidParameterError(f"{expected}, got a count matrix: words are read.")
    return _each(plain_documents(X), of, split)


class Words(list[str]):
    """Words of a text, which is kept: public texts are released as they are written."""

    def __init__(self, words: list[str], text: str) -> None:
        super().__init__(words)
        self.text = text


def as_written(document: Any) -> Any:
    """Get the text of words that a reader found in it, or else the document itself."""
    return getattr(document, "text", document)


def _each(documents: Iterable[Any], of: str, split: Any) -> Iterator[Any]:
    for position, document in enumerate(documents):
        if isinstance(document, str):
            text = composed(str(document))
            if split is None:
                yield text
            else:
                yield Words(split(text, f"{position}{of}"), text)
            continue
        if hasattr(document, "to_list"):  # a cell of a list column in polars
            document = document.to_list()
        # Masked arrays are refused, because their hidden values would be read.
        flat = type(document) is np.ndarray and document.ndim == 1
        if not flat and not isinstance(document, list | tuple):
            raise InvalidParameterError(
                f"each document{of} must be a str or a list of str tokens, got "
                f"{kind_of(document)} as document {position}. Fill in missing texts, "
                'as with X.fillna("").'
            )
        yield token_list(document, position, of)


def token_list(document: Any, position: Any, of: str = "") -> list[str]:
    """Convert tokens of a document to plain str in NFC; refuse other types."""
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


# The most documents, and characters, of a block.
_BLOCK, _CHARACTERS = 4096, 2**24


def public_list(documents: Any, reader: "DocumentReader") -> list[Any]:
    """Read and check the public documents of an estimator."""
    name = "public_documents"
    rule = f"{name} must be an iterable of documents, str or lists of str"
    about = {"expected": rule, "name": name, "of": f" of {name}"}
    texts = list(reader.documents(documents, **about))
    if not texts:
        raise InvalidParameterError(
            "public_documents must hold at least one document, got none."
        )
    return texts


def in_blocks(documents: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists of documents, bounded in number and in characters."""
    block: list[Any] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document) if isinstance(document, str) else 8 * len(document)
        if len(block) == _BLOCK or size >= _CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


# -- words of a text -----------------------------------------------------------------

# Combining marks, and scripts other than Latin. In texts without these characters, no
# letter has separate marks.
_OTHERS = re.compile("[\u0300-\u1dff\u1f00-\u1fff\u2c80-\U0010ffff]")
_WORD = re.compile(r"\w\w+")


@cache
def _word_with_marks() -> re.Pattern[str]:
    r"""Compile ``\w+`` with the marks of letters and the joiners between them.

    Python's ``\w`` leaves out the vowels of Hindi and the points of Hebrew. Selectors
    that turn a digit into an emoji are not marks.
    """
    marks = "".join(
        sign
        for sign in map(chr, range(0x300, 0x20000))
        if unicodedata.category(sign) in ("Mn", "Mc")
        and not "\ufe00" <= sign <= "\ufe0f"
    )
    return re.compile(rf"\w[\w{marks}]*(?:[\u200c\u200d]+[\w{marks}]+)*")


def find_words(text: str) -> list[str]:
    """Find the words of a text in NFC by the default rule.

    A word has two or more letters or digits, as in scikit-learn, but with their marks.
    A single letter of a script other than Latin is also a word, because it may be a
    syllable.
    """
    if text.isascii() or not _OTHERS.search(text):
        return _WORD.findall(text)
    words = _word_with_marks().findall(text)
    return [word for word in words if len(word) > 3 or _is_word(word)]


def _is_word(word: str) -> bool:
    letters = sum(sign.isalnum() or sign == "_" for sign in word)
    return letters > 1 or (word[0] >= "\u0370" and word[0].isalpha())


# -- words as numbers ----------------------------------------------------------------

# Number of documents whose words are looked up together. Single look-ups would take
# most of the time.
_TOGETHER = 128

#: Function from the position and content of a document to the digest of its noise.
Label = Callable[[int, bytes], bytes]


@dataclass(frozen=True)
class EncodedDocuments:
    """Documents as concatenated numbers.

    A code in [0, V) is a word of the embedding; a code -1 - k is the unknown word
    ``in_clear[k]``, which passes through unchanged.
    """

    codes: np.ndarray  # int32, all documents
    offsets: np.ndarray  # int64, (n_documents + 1,); document i is offsets[i:i + 2]
    stream_labels: Sequence[bytes] = ()  # one per document; none for fresh noise
    in_clear: Sequence[str] = ()
    n_unknown: int = 0  # words dropped or kept
    n_tokens: int = 0  # words read

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        """Get the codes of one document."""
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    def known(self) -> "EncodedDocuments":
        """Remove the unknown words that pass through."""
        known = self.codes >= 0
        if known.all():  # avoids a copy of large documents
            return EncodedDocuments(self.codes, self.offsets)
        return EncodedDocuments(self.codes[known], _starts(known)[self.offsets])

    @property
    def n_without(self) -> int:
        """Number of documents without a known word."""
        return int((np.diff(self.known().offsets) == 0).sum())

    def bags(self, n_words: int, dtype: Any = np.float64) -> sp.csr_array:
        """Count known words, shape (n_documents, n_words)."""
        known = self.known()
        # Copies are needed, because summing duplicates sorts them in place.
        codes, offsets = known.codes.copy(), known.offsets.copy()
        ones = np.ones(len(codes), dtype)
        bags = sp.csr_array((ones, codes, offsets), shape=(len(self), n_words))
        bags.sum_duplicates()
        return bags

    def tokens(self, words: np.ndarray) -> list[list[str]]:
        """Get the words of each document; `words` are those of the embedding."""
        tokens = words[np.maximum(self.codes, 0)]
        for i in np.flatnonzero(self.codes < 0):
            tokens[i] = self.in_clear[-1 - self.codes[i]]
        flat, ends = tokens.tolist(), self.offsets.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(ends)]


def _starts(sizes: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def resample(
    codes: np.ndarray,
    lengths: np.ndarray,
    length: int,
    n_words: int,
    generators: Sequence[np.random.Generator],
) -> np.ndarray:
    """Replace each document by `length` draws from its own words (2018, §5.2).

    A document without words draws from the vocabulary of `n_words`, because it must be
    released with the same number of words as all others. There is a generator per
    document, or one for all.
    """
    out = np.empty((len(lengths), length), dtype=np.int32)
    begin = np.cumsum(lengths) - lengths
    for i, (first, n) in enumerate(zip(begin, lengths, strict=True)):
        rng = generators[i if len(generators) > 1 else 0]
        drawn = rng.integers(0, n or n_words, length)
        out[i] = codes[first + drawn] if n else drawn
    return out.ravel()


@dataclass(frozen=True, eq=False)
class DocumentReader:
    """Converts documents to words of an embedding.

    `DPWordPerturber`, guarantees and metrics use the same reader, because the promise
    must be about the words that are released.

    Parameters
    ----------
    embedding : WordEmbedding or None
        The embedding that decides which words are known. With None, only `words` works.
    document_length : int, default=None
        Words per document; None keeps the number of words.
    resize : {"truncate", "sample"}, default="truncate"
        Whether `read` truncates documents to `document_length` or leaves that to
        `resample`.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. A word whose vector comes from
        subwords counts as the nearest word of the embedding.
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

    embedding: Any  # a WordEmbedding or None
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
        check_option("lowercase", self.lowercase)
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise InvalidParameterError(
                f"tokenizer must be None or callable, got {shown(self.tokenizer)}."
            )
        if self.token_pattern is not None:
            _check_pattern(self.token_pattern)
        stop = self.stop_words
        if isinstance(stop, str):
            check_option("stop_words", stop, ("english",))
        elif stop is not None and (
            not isinstance(stop, Collection)
            or getattr(stop, "ndim", 1) != 1
            or not all(isinstance(word, str) for word in stop)
        ):
            raise InvalidParameterError(
                'stop_words must be None, "english" or a list of str, got '
                f"{shown(stop)}."
            )

    @classmethod
    def of(cls, estimator: Any, embedding: WordEmbedding | None) -> "DocumentReader":
        """Make the reader that the parameters of an estimator describe."""
        options = {
            name: getattr(estimator, name)
            for name in _OPTIONS
            if hasattr(estimator, name)
        }
        if options.get("resize") is None:
            has_length = options.get("document_length") is not None
            options["resize"] = "sample" if has_length else "truncate"
        return cls(embedding, **options)

    @property
    def options(self) -> dict[str, Any]:
        """All options except the embedding."""
        return {name: getattr(self, name) for name in _OPTIONS}

    @property
    def sample_length(self) -> int | None:
        """Number of words drawn from each document; None if it is not redrawn."""
        return self.document_length if self.resize == "sample" else None

    @property
    def splits(self) -> bool:
        """Whether an option says how to split texts into words."""
        return self.tokenizer is not None or self.token_pattern is not None

    def documents(self, X: Any, **about: str) -> Iterator[Any]:
        """Read documents; texts become `Words` if an option says how to split them."""
        return read_documents(X, split=self._split if self.splits else None, **about)

    def read(self, X: Any, label: Label | None = None) -> EncodedDocuments:
        """Convert documents (texts, token lists or counts) to numbers of words.

        Words of counts are in column order. `label` turns the position and content of a
        document into the digest that keys its noise. An error gives the position of a
        document that breaks a rule.
        """
        of_counts = is_count_matrix(X)
        return self._read_counts(X, label) if of_counts else self._read_texts(X, label)

    def _read_counts(self, X: Any, label: Label | None) -> EncodedDocuments:
        bags = read_bags(X, n_words=len(self.embedding), counts=True)
        check_columns(X, self.embedding)
        ids, counts = bags.indices.astype(np.int32), bags.data.astype(np.int64)
        labels = [
            label(i, ids[a:b].astype("<i8").tobytes() + counts[a:b].tobytes())
            for i, (a, b) in enumerate(itertools.pairwise(bags.indptr.tolist()))
            if label is not None
        ]
        sizes = np.diff(_starts(counts)[bags.indptr])
        codes, sizes = self._cut(np.repeat(ids, counts), sizes)
        return EncodedDocuments(codes, _starts(sizes), labels, n_tokens=len(codes))

    def _read_texts(self, X: Any, label: Label | None) -> EncodedDocuments:
        in_clear: dict[str, int] = {}
        made: dict[str, int] = {}  # words whose vectors come from subwords
        parts = [np.empty(0, np.int32)]
        lengths: list[int] = []
        labels: list[bytes] = []
        documents = (self.words(text, i) for i, text in enumerate(read_documents(X)))
        while group := list(itertools.islice(documents, _TOGETHER)):
            tokens = list(itertools.chain.from_iterable(group))
            found = self.embedding.find(tokens)
            holes = np.flatnonzero(found < 0)
            if len(holes) and self.embedding.has_subwords:
                unknown = [tokens[i] for i in holes.tolist()]
                made |= self._made_of_subwords(set(unknown) - made.keys())
                found[holes] = [made[token] for token in unknown]
                holes = holes[found[holes] < 0]
            if self.oov == "keep":
                unknown = [tokens[i] for i in holes.tolist()]
                found[holes] = [
                    -1 - in_clear.setdefault(t, len(in_clear)) for t in unknown
                ]
            if label is not None:
                # Only repr distinguishes ["a b"] from ["a", "b"] for all tokens.
                labels += [
                    label(i, repr(tokens).encode("utf-8", "surrogatepass"))
                    for i, tokens in enumerate(group, len(labels))
                ]
            parts.append(found)
            lengths += map(len, group)
        codes, sizes = np.concatenate(parts), np.array(lengths, dtype=np.int64)
        n_tokens, known = len(codes), codes >= 0
        if self.oov == "error" and not known.all():
            first, starts = int(known.argmin()), _starts(sizes)
            of = int(np.searchsorted(starts, first, side="right")) - 1
            raise InvalidParameterError(
                f'oov="error" allows words of the embedding only: document {of} holds '
                f"an unknown one as its word {first - starts[of]}."
            )
        if self.oov == "drop":
            codes, sizes = codes[known], np.diff(_starts(known)[_starts(sizes)])
        codes, sizes = self._cut(codes, sizes)
        n_unknown = n_tokens - int(known.sum())
        return EncodedDocuments(
            codes, _starts(sizes), labels, list(in_clear), n_unknown, n_tokens
        )

    def _made_of_subwords(self, words: set[str]) -> dict[str, int]:
        """Find the nearest known word of each unknown word with subwords, else -1."""
        # Mechanisms only know words of the embedding.
        inferred = {word: self.embedding.infer(word) for word in words}
        vectors = {word: v for word, v in inferred.items() if v is not None}
        found = dict.fromkeys(words, -1)
        if vectors:
            points = np.array(list(vectors.values()))
            nearest = nearest_words(points, self.embedding.vectors)
            found |= dict(zip(vectors, nearest.tolist(), strict=True))
        return found

    def _cut(
        self, codes: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut documents to a length; refuse documents that are too short."""
        length = self.document_length
        if length is None or self.resize == "sample":
            return codes, sizes
        short = np.flatnonzero(sizes < length)
        if len(short):
            raise InvalidParameterError(
                f'document_length={length} with resize="truncate" needs documents of '
                f"at least that many known words: {len(short)} of {len(sizes)} are "
                f"shorter, first document {short[0]}, the shortest has {sizes.min()}. "
                'Use resize="sample", whose guarantee is weaker, or a smaller '
                "document_length."
            )
        places = np.arange(len(codes)) - np.repeat(_starts(sizes)[:-1], sizes)
        return codes[places < length], np.full(len(sizes), length)

    def words(self, document: Any, position: int = 0) -> list[str]:
        """Get the words of a document from `read_documents`."""
        if isinstance(document, str):
            document = self._split(document, position)
        elif self.embedding is None and self.lowercase:
            # With an embedding, its spelling decides.
            document = list(map(self._lower, document))
        stop = self._stop
        if stop:
            # Tokens are lowercased to compare them with stop words, like strings.
            document = [t for t in document if self._lower(t) not in stop]
        return document

    def _lower(self, text: str) -> str:
        # Lowercasing can change the composed form, so the text is composed again.
        return composed(text.lower()) if self.lowercase else text

    def _split(self, text: str, position: Any) -> list[str]:
        """Split a text into tokens; an error names its position."""
        text = self._lower(text)
        if self.tokenizer is None:
            if self.token_pattern is None:
                return find_words(text)
            return re.findall(self.token_pattern, text)
        try:
            tokens: Any = self.tokenizer(text)
            tokens = list(tokens) if isinstance(tokens, Iterator) else tokens
        except Exception as error:  # a user's tokenizer may raise anything
            raise InvalidParameterError(
                "tokenizer must split every text, but failed with "
                f"{type(error).__name__} for document {position}. (Its message may "
                "quote the text, and is not shown.)"
            ) from None
        # A str, or an array of one, would be read as a list of letters.
        flat = isinstance(tokens, Iterable) and getattr(tokens, "ndim", 1) == 1
        if isinstance(tokens, str | bytes) or not flat:
            raise InvalidParameterError(
                f"tokenizer must return a list of str, got {kind_of(tokens)} for "
                f"document {position}."
            )
        return token_list(tokens, position)

    @cached_property
    def _stop(self) -> frozenset[str]:
        if self.stop_words is None:
            return frozenset()
        named = isinstance(self.stop_words, str)
        words = ENGLISH_STOP_WORDS if named else self.stop_words
        return frozenset(self._lower(composed(word)) for word in words)


_OPTIONS = tuple(field.name for field in fields(DocumentReader))[1:]


def _check_pattern(pattern: Any) -> None:
    # A compiled pattern is refused, because a stored guarantee could not name it.
    groups = 2
    if isinstance(pattern, str):
        with suppress(re.error):  # its message may quote the pattern
            groups = re.compile(pattern).groups
    if groups > 1:
        raise InvalidParameterError(
            "token_pattern must be None or a regular expression with at most one "
            f"group, got {shown(pattern)}."
        )


_READER = DocumentReader(None)


def words_of(document: Any) -> list[str]:
    """Get the words of a text or token list by the default rule."""
    return _READER.words(document)


def word_ids(words: Iterable[str] | None, embedding: WordEmbedding) -> np.ndarray:
    """Get int32 indices of one or more known words; None means all words."""
    if words is None:
        return np.arange(len(embedding), dtype=np.int32)
    tokens = list(plain_words(words))
    if not tokens:
        raise InvalidParameterError("words must hold at least one word, got none.")
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
    """Convert a perturber's release to numbers of words, without changing any word.

    Texts are split at blanks, except in words of the embedding that contain some. Words
    outside the embedding, which were released unchanged, are dropped.
    """
    split: Callable[[str], list[str]] = str.split
    # The longest come first, because the first alternative that fits is taken.
    if spaced := sorted((w for w in embedding if len(w.split()) > 1), key=len)[::-1]:
        known = "|".join(map(re.escape, spaced))
        split = re.compile(rf"(?<!\S)(?:{known})(?!\S)|\S+").findall
    reader = DocumentReader(embedding, lowercase=False, tokenizer=split)
    return reader.read(releases).known()


_ARE_THEY = {"embedding": "is it", "public documents": "are they"}


def warn_without_words(n: int, of: int, known: str, about: Any = None) -> None:
    """Warn of documents that are released as if they were empty.

    The numbers are private: they are for the holder of the documents, not for a
    release.
    """
    about = about or known
    if 2 * n > of:
        about = "most", about  # a warning about a few must not suppress this one
    if n:
        warn_once(
            f"{n:,} of {of:,} documents hold no word of the {known}, so none of their "
            f"content is kept: {_ARE_THEY[known]} for this language and kind of text?",
            OutOfVocabularyWarning,
            about,
        )
