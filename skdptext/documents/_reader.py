"""One way to read documents, shared by releases, guarantees and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.documents._analysis import make_vectorizer
from skdptext.documents._encoding import (
    NO_WORDS,
    EncodedDocuments,
    Label,
    encode_counts,
    encode_tokens,
)
from skdptext.embeddings import WordEmbedding, check_columns, plain_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    MAX_WHOLE_WORDS,
    MAX_WORDS,
    check_bags,
    check_document,
    check_integer,
    check_option,
    is_count_matrix,
    kind_of,
    plain_documents,
    shown_words,
    warn_once,
)

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
    def of(cls, estimator: Any, embedding: WordEmbedding | None) -> DocumentReader:
        """The reader that an estimator's parameters describe."""
        given = estimator.get_params(deep=False)
        options = {name: given[name] for name in _OPTIONS if name in given}
        if options.get("resize") is None:
            has_length = options.get("document_length") is not None
            options["resize"] = "sample" if has_length else "truncate"
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
    def _tokenize(self) -> Callable[[str], Any]:
        preprocess = self._vectorizer.build_preprocessor()
        tokenize = self._vectorizer.build_tokenizer()
        stop = self._vectorizer.get_stop_words() or frozenset()
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
        stop = self._vectorizer.get_stop_words() or frozenset()
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
