"""All that happens to a document before the noise, without the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from skdptext.embeddings import WordEmbedding, check_columns, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.perturbation import DPWordPerturber
from skdptext.perturbation._analysis import make_vectorizer
from skdptext.perturbation._documents import (
    EncodedDocuments,
    encode_counts,
    encode_documents,
    resample,
)
from skdptext.perturbation._release import as_bags, as_tokens
from skdptext.search import nearest_words
from skdptext.utils import (
    MAX_WORDS,
    check_bags,
    check_integer,
    check_option,
    check_rng,
    is_count_matrix,
)

__all__ = ["DocumentPreparer"]

# Where there is no embedding: a table that knows no word, so that every word is kept.
_NO_WORDS = WordEmbedding([""], [[0.0]])


class DocumentPreparer(
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Cut documents into words, leave out stop words, make them one length.

    What [1]_ (appendix B.1) and [2]_ (§5.2) do to every text before anything else: no
    stop words, no punctuation, lower case, and N words each. It adds no noise: its
    output is as private as its input. Use it for texts that an adversary knows in
    clear, or to see what a perturber with the same parameters puts its noise on.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot", default=None
        The table whose words count; words come out as it spells them. None: every word
        counts. ``"one-hot"``, with a count matrix only: each column is a word.
    document_length : int, default=None
        Words of each document that come out. None: all.
    resize : {"truncate", "sample"}, default="truncate"
        How a document gets to `document_length`: its first words, and an error if it
        has fewer; or draws with replacement from its own words, in which a word is as
        frequent as in the document. With an embedding, a document without words draws
        from the vocabulary; without one, it is refused.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. ``"keep"`` needs
        ``output="tokens"`` or ``"text"``.
    lowercase : bool, default=True
        Lowercase strings before they are cut into words; and tokens, where there is no
        embedding whose spelling they take.
    stop_words : {"english"} or list of str, default="english"
        Words to leave out, of strings and of token lists; None: none.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        What a word is, in strings; the default leaves out punctuation and single
        letters. Not used if `tokenizer` is given.
    tokenizer : callable, default=None
        From a string to its words.
    output : {"tokens", "text", "bow"}, default="tokens"
        Token lists; strings with the words separated by spaces; or a count matrix,
        which needs an embedding, and counts a word whose vector is made from subwords
        as the word of the table nearest to it.
    random_state : None, int or numpy.random.Generator, default=None
        What ``resize="sample"`` draws from. It protects nothing.

    Raises
    ------
    InvalidParameterError
        In `fit` and `transform`, if a parameter or the input breaks a rule.

    See Also
    --------
    skdptext.DPWordPerturber : Does all this by itself, and adds the noise.
    split_known_and_snippet : Cuts documents in two; comes before.

    Notes
    -----
    *Privacy.* To release texts, give these parameters to the perturber: its guarantee
    then takes them into account (draws with replacement cost more). A length that is
    chosen as the shortest of private documents tells of that document.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019.
    .. [2] N. Fernandes, M. Dras, A. McIver (2018). Author obfuscation using
       generalised differential privacy.

    Examples
    --------
    >>> from skdptext.preprocessing import DocumentPreparer
    >>> texts = ["The President greets the press in Chicago.", "Tea? For two!"]
    >>> preparer = DocumentPreparer()
    >>> preparer.fit_transform(texts)
    [['president', 'greets', 'press', 'chicago'], ['tea']]
    >>> shortest = preparer.lengths(texts).min()
    >>> preparer.set_params(document_length=shortest).transform(texts)
    [['president'], ['tea']]
    """

    def __init__(
        self,
        embedding: WordEmbedding | Literal["one-hot"] | None = None,
        *,
        document_length: int | None = None,
        resize: Literal["truncate", "sample"] = "truncate",
        oov: Literal["drop", "error", "keep"] = "drop",
        lowercase: bool = True,
        stop_words: Literal["english"] | Iterable[str] | None = "english",
        token_pattern: str = r"(?u)\b\w\w+\b",
        tokenizer: Callable[[str], list[str]] | None = None,
        output: Literal["tokens", "text", "bow"] = "tokens",
        random_state: Any = None,
    ) -> None:
        self.embedding = embedding
        self.document_length = document_length
        self.resize = resize
        self.oov = oov
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer
        self.output = output
        self.random_state = random_state

    @classmethod
    def from_perturber(
        cls, perturber: DPWordPerturber, **changes: Any
    ) -> DocumentPreparer:
        """The preparer that does what a perturber does before its noise.

        Parameters
        ----------
        perturber : DPWordPerturber
            Fitted or not.
        **changes
            Parameters that shall differ.

        Returns
        -------
        preparer : DocumentPreparer
            Its `random_state` is not the perturber's, which is a secret.

        Examples
        --------
        >>> from skdptext import DPWordPerturber, WordEmbedding
        >>> from skdptext.preprocessing import DocumentPreparer
        >>> table = WordEmbedding(["cat", "tea"], [[0.0], [1.0]])
        >>> perturber = DPWordPerturber(table, document_length=2)
        >>> preparer = DocumentPreparer.from_perturber(perturber, output="tokens")
        >>> preparer.fit_transform(["My cat drinks tea, my cat!"])
        [['cat', 'tea']]
        """
        if not isinstance(perturber, DPWordPerturber):
            raise InvalidParameterError(
                f"perturber must be a word perturber, got {perturber!r:.80}."
            )
        own = set(cls().get_params(deep=False)) - {"random_state"}
        theirs = perturber.get_params(deep=False)
        return cls().set_params(**{k: theirs[k] for k in own if k in theirs} | changes)

    def fit(self, X: Any = None, y: Any = None) -> DocumentPreparer:
        """Check the parameters; nothing is learned.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self : DocumentPreparer
        """
        self._check_parameters()
        return self

    def _check_parameters(self) -> None:
        if self.embedding is not None and self.embedding != "one-hot":
            check_embedding(self.embedding)
        if self.document_length is not None:
            check_integer(
                "document_length", self.document_length, low=1, high=MAX_WORDS
            )
        check_option("resize", self.resize, ("truncate", "sample"))
        check_option("oov", self.oov, ("drop", "error", "keep"))
        check_option("output", self.output, ("tokens", "text", "bow"))
        if self.output == "bow" and (self.embedding is None or self.oov == "keep"):
            raise InvalidParameterError(
                'output="bow" needs an embedding, whose words are the columns, and '
                f'oov="drop" or "error", got embedding={self.embedding!r:.80} and '
                f"oov={self.oov!r}."
            )
        check_rng(self.random_state)
        self._make_vectorizer()

    def _make_vectorizer(self) -> Any:
        return make_vectorizer(
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            token_pattern=self.token_pattern,
            tokenizer=self.tokenizer,
        )

    def transform(self, X: Any) -> Any:
        """Prepare the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            A count matrix needs an embedding; the words of a row are taken in column
            order.

        Returns
        -------
        prepared : list of lists of str, list of str, or csr_matrix
            As `output` says.

        Raises
        ------
        InvalidParameterError
            If a parameter or `X` breaks a rule, such as a document that is too short.
        """
        self._check_parameters()
        truncate = self.document_length if self.resize == "truncate" else None
        documents, embedding = self._encode(X, truncate)
        codes, offsets = documents.codes, documents.offsets
        if self.document_length is not None and self.resize == "sample":
            codes, offsets = self._sample(documents, embedding, self.document_length)
        if self.output == "bow":
            # a word with a vector from its subwords has no column: the nearest one's
            extra = nearest_words(documents.inferred, embedding.vectors)
            columns = np.append(np.arange(len(embedding), dtype=np.int32), extra)
            return as_bags(columns[codes], offsets, len(embedding))
        names = np.append(
            embedding.word_array, np.array(documents.inferred_words, dtype=object)
        )
        tokens = as_tokens(codes, offsets, names, documents.kept)
        if self.output == "tokens":
            return tokens
        return [" ".join(words) for words in tokens]

    def lengths(self, X: Any) -> np.ndarray:
        """Words of each document, before they are cut to `document_length`.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)

        Returns
        -------
        lengths : ndarray of int, shape (n_documents,)
            Their minimum is the largest `document_length` that all documents reach.
        """
        self._check_parameters()
        documents, _ = self._encode(X, None)
        return np.diff(documents.offsets)

    def _encode(
        self, X: Any, truncate: int | None
    ) -> tuple[EncodedDocuments, WordEmbedding]:
        if is_count_matrix(X):
            if self.embedding is None:
                raise InvalidParameterError(
                    "embedding must be given for a count matrix, whose columns it "
                    "names, got None."
                )
            bags = check_bags(X, counts=True)
            embedding = check_embedding(self.embedding, one_hot_words=bags.shape[1])
            bags = check_bags(X, n_words=len(embedding), counts=True)
            check_columns(X, embedding)
            return encode_counts(bags, embedding, truncate=truncate), embedding
        embedding = _NO_WORDS
        if self.embedding is not None:
            embedding = check_embedding(self.embedding)
        elif self.lowercase:
            X = _lowercased(X)
        vectorizer = self._make_vectorizer()
        documents = encode_documents(
            X,
            embedding,
            analyze=vectorizer.build_analyzer(),
            stop_words=vectorizer.get_stop_words() or frozenset(),
            lowercase=self.lowercase,
            oov="keep" if self.embedding is None else self.oov,
            truncate=truncate,
        )
        return documents, embedding

    def _sample(
        self, documents: EncodedDocuments, embedding: WordEmbedding, length: int
    ) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.diff(documents.offsets)
        empty = np.flatnonzero(lengths == 0)
        if self.embedding is None and len(empty):
            raise InvalidParameterError(
                'resize="sample" without an embedding needs documents of at least one '
                f"word: {len(empty)} of {len(lengths)} have none, first document "
                f"{empty[0]}."
            )
        rng = check_rng(self.random_state)
        codes = resample(documents.codes, lengths, length, len(embedding), [rng])
        return codes, np.arange(len(lengths) + 1, dtype=np.int64) * length

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = self.embedding is not None
        tags.requires_fit = False
        tags.non_deterministic = self.resize == "sample" and self.random_state is None
        tags.transformer_tags.preserves_dtype = []
        return tags


def _lowercased(X: Iterable[Any]) -> Iterator[Any]:
    """Documents with the tokens of lists in lower case; texts as they are."""
    for document in X:
        if isinstance(document, str) or not isinstance(document, Iterable):
            yield document
        else:
            yield [t.lower() if isinstance(t, str) else t for t in document]
