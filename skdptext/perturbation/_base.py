"""What every word perturber shares: documents in, noisy documents out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.embeddings import (
    WordEmbedding,
    check_columns,
    check_embedding,
    column_names,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism, embedding_spectrum
from skdptext.mechanisms._covariance import Spectrum
from skdptext.perturbation._analysis import make_vectorizer
from skdptext.perturbation._documents import (
    EncodedDocuments,
    encode_counts,
    encode_documents,
    encode_words,
)
from skdptext.perturbation._leaks import (
    warn_of_engine,
    warn_of_leaks,
    warn_of_unknown_words,
)
from skdptext.perturbation._release import Release, as_bags, as_tokens
from skdptext.privacy import PrivacyGuarantee
from skdptext.search import ENGINES, embedding_search, require_engine
from skdptext.utils import (
    MAX_WORDS,
    NoiseStreams,
    check_bags,
    check_integer,
    check_n_jobs,
    check_noise_state,
    check_option,
    is_count_matrix,
)

__all__ = ["BaseWordPerturber"]


class BaseWordPerturber(
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Transformer that replaces each word on its own, by a mechanism on vectors.

    A subclass names its parameters and builds its mechanism in `_make_mechanism`;
    `_noise_parameters` lists what that depends on.
    """

    embedding: Any
    document_length: int | None
    resize: str
    oov: str
    lowercase: bool
    stop_words: Any
    token_pattern: str
    tokenizer: Any
    output: str
    engine: str
    random_state: Any
    n_jobs: Any
    verbose: Any

    _noise_parameters: tuple[str, ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # scikit-learn would wrap the output of every subclass anew
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    @abstractmethod
    def _make_mechanism(self, spectrum: Spectrum) -> MahalanobisMechanism:
        """The mechanism that the parameters describe; checks them."""

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> BaseWordPerturber:
        """Learn the noise from the embedding, and nothing from the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Only checked; an iterator is not consumed.
        y : ignored

        Returns
        -------
        self : object

        Raises
        ------
        InvalidParameterError
            If a parameter or `X` breaks a rule.
        """
        self._check_parameters()
        if is_count_matrix(X):
            bags = check_array(X, accept_sparse="csr", dtype=np.float64)
            embedding = check_embedding(
                self.embedding, one_hot_words=column_names(X) or bags.shape[1]
            )
            check_bags(bags, n_words=len(embedding), counts=True)
            check_columns(X, embedding)
            mechanism = self._prepare(embedding)
            # Only now is anything written: a refused fit leaves no trace.
            validate_data(self, X, skip_check_array=True)
        else:
            embedding = check_embedding(self.embedding)
            mechanism = self._prepare(embedding)
            self.n_features_in_ = len(embedding)
            self.__dict__.pop("feature_names_in_", None)
        self.mechanism_ = mechanism
        self.embedding_ = embedding
        self.covariance_ = mechanism.spectrum.covariance
        self.noise_factor_ = self.mechanism_.factor
        return self

    def _prepare(self, embedding: WordEmbedding) -> MahalanobisMechanism:
        """The noise; the table is made ready for the search, which keeps it."""
        mechanism = self._make_mechanism(embedding_spectrum(embedding))
        warn_of_engine(self.engine, embedding_search(embedding, self.engine).excuse)
        warn_of_leaks(self.document_length, self.oov)
        return mechanism

    def _check_parameters(self) -> None:
        if self.document_length is not None:
            check_integer(
                "document_length", self.document_length, low=1, high=MAX_WORDS
            )
        check_option("resize", self.resize, ("truncate", "sample"))
        check_option("oov", self.oov, ("drop", "error", "keep"))
        check_option("output", self.output, ("bow", "tokens", "text"))
        if self.oov == "keep" and self.output != "text":
            raise InvalidParameterError(
                'output must be "text" with oov="keep", since an unknown word has no '
                f"column, got output={self.output!r}."
            )
        check_option("engine", self.engine, ENGINES)
        require_engine(self.engine)
        check_noise_state(self.random_state)
        check_integer("verbose", self.verbose, low=0)
        check_n_jobs(self.n_jobs)
        self._make_vectorizer()

    def _make_vectorizer(self) -> CountVectorizer:
        return make_vectorizer(
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            token_pattern=self.token_pattern,
            tokenizer=self.tokenizer,
        )

    def _check_ready(self) -> None:
        check_is_fitted(self, "mechanism_")
        self._check_parameters()
        for name in self._noise_parameters:
            fitted, now = getattr(self.mechanism_, name), getattr(self, name)
            if fitted != now:
                raise InvalidParameterError(
                    f"{name} must not change after fit, for the noise is fixed there: "
                    f"fitted with {fitted!r}, got {now!r}. Call fit again."
                )

    # -- releasing -------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Sample a noisy release of the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Strings are cut into words first; lists of str are taken as words. A count
            matrix has no order: the words of a row are taken in column order.

        Returns
        -------
        noisy : csr_matrix of shape (n_documents, n_words), or list
            Counts (int64) for ``output="bow"``, lists of str for ``"tokens"``, strings
            with the words separated by spaces for ``"text"``.

        Raises
        ------
        InvalidParameterError
            If `X` breaks a rule, or ε or λ was changed after `fit`.
        NotFittedError
            If `fit` was not called.

        Notes
        -----
        *Privacy.* Each call is a release of its own. With fresh noise, releasing the
        same document k times costs k ε.
        """
        self._check_ready()
        warn_of_leaks(self.document_length, self.oov)
        streams = NoiseStreams(self.random_state, self._context("transform"))
        documents = self._encode(X, streams)
        warn_of_unknown_words(documents.n_unknown, documents.n_tokens)
        sample = self.document_length if self.resize == "sample" else None
        codes, offsets = self._release(streams, sample).run(
            documents, n_jobs=self.n_jobs, verbose=self.verbose
        )
        if self.output == "bow":
            return as_bags(codes, offsets, len(self.embedding_))
        tokens = as_tokens(codes, offsets, self.embedding_.word_array, documents.kept)
        if self.output == "tokens":
            return tokens
        return [" ".join(words) for words in tokens]

    def _context(self, purpose: str) -> bytes:
        """All that the noise depends on besides seed and document.

        A seed used at two values of ε must not replay its noise: the difference of
        the two releases would give the document away.
        """
        parts = [type(self).__name__, purpose, self.embedding_.fingerprint.hex()]
        parts += [
            f"{name}={float(getattr(self.mechanism_, name)).hex()}"
            for name in self._noise_parameters
        ]
        parts += [
            f"{name}={getattr(self, name)}"
            for name in ("document_length", "resize", "oov")
        ]
        return "\n".join(parts).encode()

    def _encode(self, X: Any, streams: NoiseStreams) -> EncodedDocuments:
        label = None if streams.fresh else streams.label
        truncate = self.document_length if self.resize == "truncate" else None
        if is_count_matrix(X):
            bags = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, reset=False
            )
            bags = check_bags(bags, counts=True)
            check_columns(X, self.embedding_)
            return encode_counts(bags, self.embedding_, label=label, truncate=truncate)
        if self.embedding == "one-hot":
            check_embedding("one-hot")  # says that it needs a count matrix
        vectorizer = self._make_vectorizer()
        return encode_documents(
            X,
            self.embedding_,
            analyze=vectorizer.build_analyzer(),
            stop_words=vectorizer.get_stop_words() or frozenset(),
            lowercase=self.lowercase,
            oov=self.oov,
            label=label,
            truncate=truncate,
        )

    def _release(self, streams: NoiseStreams, sample: int | None = None) -> Release:
        search = embedding_search(self.embedding_, self.engine)
        return Release(self.embedding_, search, self.mechanism_, streams, sample)

    def perturb_words(self, words: Iterable[str], n_draws: int = 1) -> np.ndarray:
        """Draw noisy versions of single words.

        Parameters
        ----------
        words : iterable of str
            Words of the embedding. One that occurs twice gets independent draws.
        n_draws : int, default=1
            Draws per word.

        Returns
        -------
        noisy : ndarray of shape (n_words, n_draws), of str objects

        Raises
        ------
        InvalidParameterError
            If a word is unknown, or a parameter breaks a rule.
        """
        self._check_ready()
        n_draws = check_integer("n_draws", n_draws, low=1)
        streams = NoiseStreams(self.random_state, self._context("perturb_words"))
        documents = encode_words(
            words,
            self.embedding_,
            n_draws=n_draws,
            label=None if streams.fresh else streams.label,
        )
        codes, _ = self._release(streams).run(
            documents, n_jobs=self.n_jobs, verbose=self.verbose
        )
        return self.embedding_.word_array[codes].reshape(-1, n_draws)

    def known_words(self, X: Any) -> list[list[str]]:
        """The words of each document that a release puts noise on.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)

        Returns
        -------
        words : list of lists of str
            As the embedding spells them, cut to `document_length` where documents are
            truncated; without those whose vector is made from subwords. They are
            private.
        """
        self._check_ready()
        documents = self._encode(X, NoiseStreams(None, b""))
        names = self.embedding_.word_array
        return [
            names[codes[(codes >= 0) & (codes < len(names))]].tolist()
            for codes in np.split(documents.codes, documents.offsets[1:-1])
        ][: len(documents.offsets) - 1]

    # -- what is promised, and scikit-learn's conventions ----------------------

    def guarantee(self, n_words: int | None = None) -> PrivacyGuarantee:
        """The exact privacy guarantee of a release.

        Parameters
        ----------
        n_words : int, default=None
            Words per document; `document_length` where that is set.

        Returns
        -------
        guarantee : PrivacyGuarantee
        """
        self._check_ready()
        if n_words is None:
            n_words = self.document_length
        elif self.document_length not in (None, n_words):
            raise InvalidParameterError(
                f"n_words must be document_length={self.document_length}, got "
                f"{n_words!r}."
            )
        return PrivacyGuarantee(
            self.mechanism_.epsilon,
            self.mechanism_.lam,
            self.embedding_,
            n_words=n_words,
            resampled=self.document_length is not None and self.resize == "sample",
            ordered=self.output != "bow",
            unknown_kept=self.oov == "keep",
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Words of the columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        words : ndarray of str objects, shape (n_words,)
        """
        check_is_fitted(self, "mechanism_")
        return self.embedding_.word_array.copy()

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> BaseWordPerturber:
        """Accept scikit-learn's setting, which changes nothing here.

        Sparse bags and lists are never wrapped in a data frame; the method is there so
        that ``Pipeline.set_output`` reaches the steps that follow.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None

        Returns
        -------
        self : object
        """
        if transform is not None:
            check_option("transform", transform, ("default", "pandas", "polars"))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = isinstance(self.embedding, str)
        tags.input_tags.two_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.string = not counts
        tags.input_tags.positive_only = True
        # A one-hot column is a category, and its entry a whole number.
        tags.input_tags.categorical = counts
        tags.non_deterministic = self.random_state is None
        tags.transformer_tags.preserves_dtype = []
        return tags
