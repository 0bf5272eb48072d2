"""Everything that happens to a document before the noise, without the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from skdptext.base import check_word_releaser
from skdptext.documents import (
    FORMATS,
    DocumentReader,
    EncodedDocuments,
    resample,
    write_documents,
)
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    DocLinked,
    check_bags,
    check_option,
    check_rng,
    is_count_matrix,
    kind_of,
)


class DocumentPreparer(
    DocLinked,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Split documents into words, remove stop words, and bring them to one length.

    This is what [1]_ (appendix B.1) and [2]_ (§5.2) do to every text first: no stop
    words, no punctuation, lower case, and N words each. It adds no noise: its output is
    as private as its input. Use it for texts that an adversary knows in the clear, or
    to see the words that a perturber with the same parameters perturbs.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot", default=None
        Only its words are kept, spelled as it spells them; a word whose vector is made
        from subwords becomes the word nearest to it. None: all words are kept.
        ``"one-hot"``, with a count matrix only: each column is a word.
    document_length : int, default=None
        Words kept of each document. None: all.
    resize : {"truncate", "sample"}, default="truncate"
        How documents are brought to `document_length`: the first words are taken, and
        a shorter document is an error; or words are drawn with replacement, by their
        frequency in the document. With an embedding, a document without words draws
        from the vocabulary; without one, it is refused.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. ``"keep"`` needs
        ``output="tokens"`` or ``"text"``.
    lowercase : bool, default=True
        Lowercase strings before they are split into words; also tokens, if there is no
        embedding to determine their spelling.
    stop_words : {"english"} or list of str, default="english"
        Words to leave out, of strings and of token lists; None: none.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        Regular expression of a word; the default leaves out punctuation and single
        letters. Not used if `tokenizer` is given.
    tokenizer : callable, default=None
        Splits a string into words.
    output : {"tokens", "text", "bow"}, default="tokens"
        Token lists; strings with the words separated by spaces; or a count matrix,
        which needs an embedding.
    random_state : None, int or numpy.random.Generator, default=None
        Randomness for ``resize="sample"``. It protects nothing.

    Raises
    ------
    InvalidParameterError
        In `fit` and `transform`, if a parameter or the input breaks a rule.

    See Also
    --------
    skdptext.DPWordPerturber : Does all this itself, and adds noise.

    Notes
    -----
    *Privacy.* To release texts, give these parameters to the perturber: its guarantee
    then takes them into account (draws with replacement cost more). A length that is
    chosen as the shortest of private documents reveals that document's length.

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
    def from_perturber(cls, perturber: Any, **changes: Any) -> DocumentPreparer:
        """The preparer that does what a perturber does before its noise.

        Parameters
        ----------
        perturber : DPWordPerturber
            Fitted or not.
        **changes
            Parameters to change.

        Returns
        -------
        preparer : DocumentPreparer
            Without the perturber's `random_state`, which is a secret.

        Examples
        --------
        >>> from skdptext import DPWordPerturber, WordEmbedding
        >>> from skdptext.preprocessing import DocumentPreparer
        >>> embedding = WordEmbedding(["cat", "tea"], [[0.0], [1.0]])
        >>> perturber = DPWordPerturber(
        ...     embedding, mechanism="exponential", lam=0, document_length=2)
        >>> preparer = DocumentPreparer.from_perturber(perturber, output="tokens")
        >>> preparer.fit_transform(["My cat drinks tea, my cat!"])
        [['cat', 'tea']]
        """
        check_word_releaser(perturber)
        # The perturber's random_state is the secret of its noise. A preparer would show
        # it in its parameters, and draw samples from it.
        own = set(cls().get_params(deep=False)) - {"random_state"}
        theirs = perturber.get_params(deep=False)
        return cls().set_params(**{k: theirs[k] for k in own if k in theirs} | changes)

    def fit(self, X: Any = None, y: Any = None) -> DocumentPreparer:
        """Check the parameters; nothing is learned.

        Parameters
        ----------
        X, y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        self : DocumentPreparer
            The estimator itself.
        """
        self._check_parameters()
        DocumentReader.of(self, None)
        return self

    def _check_parameters(self) -> None:
        one_hot = isinstance(self.embedding, str) and self.embedding == "one-hot"
        if self.embedding is not None and not one_hot:
            check_embedding(self.embedding)
        check_option("output", self.output, FORMATS)
        if self.output == "bow" and (self.embedding is None or self.oov == "keep"):
            raise InvalidParameterError(
                'output="bow" needs an embedding, whose words are the columns, and '
                f'oov="drop" or "error", got {kind_of(self.embedding)} and '
                f"oov={self.oov!r}."
            )
        check_rng(self.random_state)

    def transform(self, X: Any) -> Any:
        """Prepare the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            A count matrix needs an embedding; the words of a row are taken in column
            order.

        Returns
        -------
        prepared : list of lists of str, list of str, or sparse matrix
            As `output` says.

        Raises
        ------
        InvalidParameterError
            If a parameter or `X` breaks a rule, such as a document that is too short.
        """
        reader = self._reader(X)
        sampled = reader.sample_length is not None
        documents = reader.read(X, counted=sampled)
        codes, offsets = documents.codes, documents.offsets
        if reader.sample_length is not None:
            codes, offsets = self._sample(documents, reader)
        words = reader.vocabulary.word_array
        return write_documents(codes, offsets, words, documents.in_clear, self.output)

    def lengths(self, X: Any) -> np.ndarray:
        """Count the words of each document, before it is cut.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Documents, as `transform` takes them.

        Returns
        -------
        lengths : ndarray of int, shape (n_documents,)
            Their minimum is the largest `document_length` that all documents reach.
        """
        documents = self._reader(X).read(X, whole=True)
        return np.diff(documents.offsets)

    def _reader(self, X: Any) -> DocumentReader:
        """Check the parameters and make the reader of this call."""
        self._check_parameters()
        counts = is_count_matrix(X, each=False, name="X")
        if self.embedding is None:
            if counts:
                raise InvalidParameterError(
                    "embedding must be given for a count matrix, whose columns it "
                    "names, got None."
                )
            return DocumentReader.of(self, None)
        n_words = check_bags(X, counts=True).shape[1] if counts else None
        return DocumentReader.of(
            self, check_embedding(self.embedding, one_hot_words=n_words)
        )

    def _sample(
        self, documents: EncodedDocuments, reader: DocumentReader
    ) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.diff(documents.offsets)
        empty = np.flatnonzero(lengths == 0)
        if self.embedding is None and len(empty):
            raise InvalidParameterError(
                'resize="sample" without an embedding needs documents of at least one '
                f"word: {len(empty)} of {len(lengths)} have none, first document "
                f"{empty[0]}."
            )
        rng, length = check_rng(self.random_state), reader.sample_length or 0
        n_words = len(reader.vocabulary)
        codes = resample(
            documents.codes, lengths, length, n_words, [rng], documents.repeats
        )
        return codes, np.arange(len(lengths) + 1, dtype=np.int64) * length

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = self.embedding is not None
        tags.input_tags.sparse = self.embedding is not None
        tags.input_tags.positive_only = self.embedding is not None
        # A one-hot column is a category, and its entry a whole number.
        tags.input_tags.categorical = isinstance(self.embedding, str)
        tags.requires_fit = False
        tags.non_deterministic = self.resize == "sample" and self.random_state is None
        tags.transformer_tags.preserves_dtype = []
        return tags
