"""Word-level metric differential privacy for documents."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sized
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from skdptext.base import BaseReleaser, NoiseRun, NoiseStreams, WordLikelihood
from skdptext.documents import (
    ColumnOutput,
    DocumentReader,
    EncodedDocuments,
    as_column,
    as_frame,
    read_documents,
    warn_without_words,
    word_ids,
)
from skdptext.embeddings import (
    WordEmbedding,
    check_columns,
    check_embedding,
    column_names,
)
from skdptext.exceptions import (
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.mechanisms import (
    MECHANISMS,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)
from skdptext.privacy import PrivacyGuarantee
from skdptext.utils import (
    MAX_WORDS,
    REPEATABLE,
    as_ids,
    check_integer,
    check_jobs,
    check_kind,
    check_noise_state,
    check_option,
    check_real,
    is_count_matrix,
    parameter_errors,
    read_bags,
    shown,
    sparse_result,
    validated,
    warn_of_repeats,
    warn_once,
)

# About how many words the canary documents have. Each worker perturbs them once.
_CANARY_WORDS = 256
# At this ε, randomized response keeps every word.
_NO_NOISE = 1e6
# Above this share of unknown words, the embedding is probably the wrong one.
_MANY_UNKNOWN = 0.5
# Warnings about what is released outside the guarantee.
_LENGTHS = (
    "document_length is None: the number of words of each document is released, and "
    "documents of different lengths can be told from each other. Set document_length "
    "to make all releases equally long."
)
_ORDER = (
    'output is not "bow": the order of the words is released, which helps to identify '
    'the document. Use output="bow", or confirm with order="keep".'
)
_IN_CLEAR = 'oov="keep": unknown words, often names, are released in plain text.'
_VOCABULARY = (
    "The vocabulary was taken from the columns of the documents given to fit "
    '(embedding="one-hot"): the set of words is released, and is not protected. If it '
    "is public, pass embedding=one_hot_embedding(words)."
)


def resolve_mechanism(mechanism: Any) -> WordMechanism:
    """Get the mechanism that the parameter `mechanism` of a perturber selects."""
    if mechanism is None:
        return MahalanobisNoise()
    if isinstance(mechanism, str):
        return MECHANISMS[check_option("mechanism", mechanism, list(MECHANISMS))]()
    rule = "mechanism must be None, a WordMechanism, or the name of one"
    check_kind(mechanism, WordMechanism, rule)
    chosen: WordMechanism = mechanism
    return chosen


class DPWordPerturber(ColumnOutput, BaseReleaser):
    r"""Replace each word of a document by a noisy one.

    At random, each word stays or becomes another word of a public vocabulary. Single
    words become deniable, similar ones more than unrelated ones. A document is *not*
    hidden from someone who has it: for that, see `DPDocumentReplacer`. Releases are
    counts of words, or words in order.

    The recommended setting is ``mechanism="exponential"`` with ``lam=0``, a
    `document_length`, and the ε that `~skdptext.model_selection.calibrate_epsilon`
    finds. The default mechanism is the noise on vectors of the papers (see Notes).

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        The public word vectors; column j of the output is word j.
        ``"one-hot"`` takes count matrices only and places all words equally far apart
        (√2); it needs n_words² floats. It takes the vocabulary from the
        columns given to `fit`, with a `PrivacyLeakWarning`; for a public vocabulary,
        give ``one_hot_embedding(words)`` of `skdptext.embeddings` instead.
    epsilon : float, default=10.0
        Privacy parameter ε > 0, in nats per unit of distance in the embedding:
        smaller is more private. Its meaning depends on the scale of the embedding and
        on the mechanism: `~skdptext.mechanisms.Exponential` changes as many words with
        an ε that is four to twelve times smaller.
    lam : float, default=0.5
        Shape λ in [0, 1], from spherical to elliptical noise. 1 needs a non-singular
        Σ. Other mechanisms document their own meaning.
    document_length : int, default=None
        Release exactly this many words of each document. None releases the number of
        known words of each document, with a `PrivacyLeakWarning`.
    resize : {"sample", "truncate"}, default=None
        How documents are brought to `document_length`. ``"sample"``, also the meaning
        of None, draws words with replacement, from the whole vocabulary if a document
        has none. ``"truncate"`` takes the first words and refuses shorter documents.
        Drawing costs more privacy: see `guarantee`.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. ``"keep"`` releases them
        unchanged, with a `PrivacyLeakWarning`, and needs ``output="text"``.
    lowercase : bool, default=True
        Lowercase strings before they are split into words. Every word is looked up
        unchanged, then lowercased, then capitalized.
    stop_words : {"english"} or list of str, default=None
        Words to leave out, of strings and of token lists.
    token_pattern : str, default=None
        Regular expression of a word. None accepts two or more letters or digits with
        their marks, and single letters of scripts other than Latin. Not used if
        `tokenizer` is given.
    tokenizer : callable, default=None
        Splits each text by itself into words.
    output : {"bow", "tokens", "text"}, default="bow"
        Count matrix, token lists or strings; the latter two keep the order of the
        words, and so have a weaker guarantee between documents.
    order : {"keep"}, default=None
        Tokens and text release the order of the words, unless `resize` draws them. A
        `PrivacyLeakWarning` says so; ``"keep"`` silences it and changes nothing else.
    mechanism : WordMechanism or str, default=None
        How a word is perturbed: an object of `skdptext.mechanisms`, your own mechanism,
        or a name such as ``"exponential"``, which selects the class with its default
        options. If None, `~skdptext.mechanisms.MahalanobisNoise`, as in the papers.
        A grid search reaches the options of an object as ``mechanism__option``.
    random_state : None, int, Generator or RandomState, default=None
        None draws fresh noise in every call, from ChaCha20 keyed by the operating
        system. An int makes releases repeatable. The noise of a document is then
        derived by a keyed hash from the integer, the mechanism with all its options, ε,
        λ, the embedding and the document's words (and its id, if `transform` is given
        one). It does not depend on the other documents, their order, or `n_jobs`, and
        equal documents get equal releases. If one word changes, even an unknown or
        truncated one, all words get fresh noise: releases of both versions can be
        averaged, and their ε add up. The integer is a secret: anyone who knows it can
        undo the noise. `secrets.randbits(128)` makes one, and `fit` warns of integers
        below 2^64. Printed estimators show ``<secret>``, and JSON refuses it, but
        pickles contain it, and so does the grid of a search. From a Generator or
        RandomState of NumPy, every call draws a key. A copy of it (`clone` makes one)
        repeats the noise of a document at the same position; other documents get
        different noise. NumPy's global RandomState is refused.
    n_jobs : int, default=None
        Number of threads; None uses as many as the linear algebra library may use.
    verbose : int, default=0
        Above 0, show the progress of a release.

    Attributes
    ----------
    mechanism_ : WordMechanism
        The mechanism, prepared for the embedding: it draws the noise, and the guarantee
        is computed from it.
    covariance_ : ndarray of shape (dim, dim)
        Σ, of trace `dim`, learned from the embedding. Only if the mechanism has a
        metric on vectors, like the default.
    noise_factor_ : ndarray of shape (dim, dim)
        Symmetric square root of λΣ + (1−λ)I; also only then.
    embedding_ : WordEmbedding
        The embedding in use.
    n_features_in_ : int
        Number of words of the embedding.
    feature_names_in_ : ndarray of str
        Column names, if `X` in `fit` was a data frame of counts.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks a rule.

    Warns
    -----
    PrivacyLeakWarning
        If lengths, order, unknown words or the vocabulary (``"one-hot"``) are released;
        if `random_state` is an integer, which shows equal documents, or can be guessed.
    OutOfVocabularyWarning
        If more than half of the words are unknown, or documents hold no known word.

    See Also
    --------
    skdptext.privacy.PrivacyGuarantee : The promise in numbers.
    skdptext.WMDKNNClassifier : Classifies the noisy bags.

    Notes
    -----
    By default each word w becomes the word of the embedding nearest, in Euclidean
    distance, to φ(w) + Z, where the density of the noise is proportional to
    :math:`e^{-ε‖z‖_{RM}}` with
    :math:`‖z‖_{RM} = \sqrt{z^\top (λΣ + (1-λ)I)^{-1} z}`. Σ is the covariance of the
    embedding, scaled to trace m (its dimension). λ = 0 is the n-dimensional Laplace
    mechanism [1]_ [2]_; with λ > 0 the noise follows the shape of the embedding [3]_.
    At an equal share of words changed, we measured no gain from λ > 0, neither in
    accuracy nor for words in sparse regions.

    *Privacy.* By default, for words w, w' and any output z, Pr[z | w] ≤
    exp(ε‖φ(w)−φ(w')‖_RM) Pr[z | w'], and for bags of N words the exponent is ε N times
    their Earth Mover's distance. Other mechanisms have other exponents. The guarantee
    assumes that the embedding is public. Nothing is learned from X, except with
    ``embedding="one-hot"``, which takes its vocabulary from it. A repeatable release
    (an integer `random_state`) reveals which documents are equal.

    *Caches.* ``Pipeline(memory=...)`` writes private texts to disk in plain text, and
    reuses noise that was drawn before: leave it None.

    *Cost.* A product of (words × dim) by (dim × vocabulary); memory beyond the output
    stays within scikit-learn's ``working_memory``.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2018). Author obfuscation using
       generalised differential privacy.
    .. [2] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019.
    .. [3] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially
       private text perturbation method using a regularized Mahalanobis metric.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> embedding = WordEmbedding(
    ...     ["good", "great", "bad", "awful"],
    ...     [[2.0, 0.1], [2.1, 0.0], [-2.0, 0.2], [-2.2, 0.1]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", epsilon=3.0, lam=0, document_length=2)
    >>> noisy = perturber.fit_transform(["a good film, a great cast: good"])
    >>> noisy.shape, int(noisy.sum())
    ((1, 4), 2)
    >>> print(f"{perturber.guarantee().exponent('good', 'great'):.2f}")
    0.42
    """

    # With this attribute, skrub passes one column of a data frame at a time.
    __single_column_transformer__ = True
    perturbs_words = True

    def __init__(
        self,
        embedding: WordEmbedding | Literal["one-hot"] | None = None,
        *,
        epsilon: float = 10.0,
        lam: float = 0.5,
        document_length: int | None = None,
        resize: Literal["sample", "truncate"] | None = None,
        oov: Literal["drop", "error", "keep"] = "drop",
        lowercase: bool = True,
        stop_words: Literal["english"] | Iterable[str] | None = None,
        token_pattern: str | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        output: Literal["bow", "tokens", "text"] = "bow",
        order: Literal["keep"] | None = None,
        mechanism: WordMechanism | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.epsilon = epsilon
        self.lam = lam
        self.document_length = document_length
        self.resize = resize
        self.oov = oov
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer
        self.output = output
        self.order = order
        self.mechanism = mechanism
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "DPWordPerturber":
        """Learn the noise from the embedding, and nothing from the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Documents. They are only checked, and an iterator is not consumed.
        y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or `X` breaks a rule.
        """
        self._check_parameters(None)
        columns, bags = None, None
        if is_count_matrix(X, name="X"):
            with parameter_errors():
                bags = check_array(X, accept_sparse="csr", dtype=np.float64)
            columns = column_names(X) or bags.shape[1]
        elif isinstance(X, Sized):  # only `transform` may consume a generator
            deque(read_documents(X), maxlen=0)
        embedding = check_embedding(self.embedding, one_hot_words=columns)
        if bags is not None:
            read_bags(bags, n_words=len(embedding), counts=True)
            check_columns(X, embedding)
        chosen = resolve_mechanism(self.mechanism)
        mechanism = chosen.prepare(embedding, self.epsilon, self.lam)
        # No ids are known yet. `transform` warns if equal documents get equal releases.
        self._warn_of_leaks(has_ids=True)
        # Only now is anything written: a refused fit leaves no trace.
        for name in ("feature_names_in_", "covariance_"):
            self.__dict__.pop(name, None)
        self.n_features_in_ = len(embedding)
        if bags is not None:
            validate_data(self, X, skip_check_array=True)
        self.mechanism_ = mechanism
        self.embedding_ = embedding
        if mechanism.metric is not None:
            self.covariance_ = mechanism.metric.spectrum.covariance
        return self

    @property
    def noise_factor_(self) -> np.ndarray:
        """Shape of the noise, as a copy."""
        # Overwriting the array itself would change the noise without changing the
        # promise.
        factor: np.ndarray = self.mechanism_.metric.factor
        return factor.copy()

    def _check_parameters(self, embedding: WordEmbedding | None) -> DocumentReader:
        """Check all parameters, and get the reader of documents."""
        check_real("epsilon", self.epsilon, low=0, open_low=True)
        check_real("lam", self.lam, low=0, high=1)
        resolve_mechanism(self.mechanism)
        check_option("output", self.output, ("bow", "tokens", "text"))
        if self.order is not None:
            check_option("order", self.order, ("keep",))
        reader = DocumentReader.of(self, embedding)
        # Compared only now, when it is a word: a data frame would quote its cells.
        if reader.oov == "keep" and self.output != "text":
            raise InvalidParameterError(
                'output must be "text" with oov="keep", because an unknown word has no '
                f"column, got output={self.output!r}."
            )
        check_noise_state(self.random_state)
        check_jobs(self.n_jobs, self.verbose)
        return reader

    def _check_ready(self) -> DocumentReader:
        """Check parameters that may have changed since `fit`, and get the reader."""
        check_is_fitted(self, "mechanism_")
        reader = self._check_parameters(self.embedding_)
        # The mechanism was prepared in `fit`. Releasing with it under another ε would
        # break the promise that the estimator states.
        for name in ("epsilon", "lam"):
            if check_real(name, getattr(self, name)) != getattr(self.mechanism_, name):
                raise InvalidParameterError(
                    f"{name} was changed after fit, call fit again."
                )
        return reader

    def _warn_of_leaks(self, has_ids: bool) -> None:
        """Warn of what is released outside the guarantee, and of what voids it."""
        fixed = self.document_length is not None
        # Words that are drawn from a document do not show its order.
        drawn = fixed and self.resize != "truncate"
        in_order = self.output != "bow" and not drawn and self.order is None
        for is_released, leak in (
            (not fixed, _LENGTHS),
            (in_order, _ORDER),
            (self.oov == "keep", _IN_CLEAR),
            (isinstance(self.embedding, str), _VOCABULARY),
        ):
            if is_released:
                warn_once(leak, PrivacyLeakWarning)
        warn_of_repeats(self.random_state, has_ids)

    # -- releasing -------------------------------------------------------------

    def transform(self, X: Any, document_ids: Iterable[Any] | None = None) -> Any:
        """Sample a noisy release of the documents.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Strings are split into words first; lists of str are taken as words. A count
            matrix has no order: the words of a row are taken in column order.
        document_ids : iterable of str, int or bytes, default=None
            A different id for each document, from the data. With an integer
            `random_state`, equal documents with different ids then get independent
            noise, and the release stays repeatable. It is metadata in the sense of
            scikit-learn's routing: ``set_transform_request(document_ids=True)``.

        Returns
        -------
        noisy : sparse matrix in CSR format, of shape (n_documents, n_words), or list
            Counts (int64) for ``output="bow"``. Word Mover's neighbors with another
            embedding refuse them (a copy or a slice is not checked). Lists of str for
            ``"tokens"``, and strings of words separated by spaces for ``"text"``; for a
            table of one column, an ndarray of these of shape (n_documents, 1). See
            `set_output` for data frames.

        Raises
        ------
        InvalidParameterError
            If `X` or `document_ids` breaks a rule, or ε or λ was changed after `fit`.
        NotFittedError
            If `fit` was not called.

        Notes
        -----
        *Privacy.* Each call is another release. With fresh noise, releasing the
        same document k times costs k ε.

        *Warnings* count unknown words, and documents without a known word. Such
        documents get random words if `document_length` is set, because a recipient must
        not learn which they are. The counts are private and meant for the holder of the
        documents: do not publish them with the release.
        """
        reader = self._check_ready()
        ids = as_ids(document_ids)
        self._warn_of_leaks(has_ids=ids is not None)
        # The key of the noise is made before any document is read. Documents choose
        # among its streams but do not influence the key.
        streams = self._streams("transform", reader)
        documents = self._read(reader, X, streams.labeller(ids))
        as_ids(ids, len(documents))
        # We warn once, with two numbers. The unknown words themselves are private text.
        about = "embedding", self.embedding_.fingerprint  # warn once per embedding
        n, n_without = len(documents), documents.n_without
        warn_without_words(n_without, n, "embedding", about)
        if documents.n_unknown > _MANY_UNKNOWN * documents.n_tokens:
            warn_once(
                f"{documents.n_unknown} of {documents.n_tokens} words are unknown to "
                "the embedding: is it for this language and kind of text?",
                OutOfVocabularyWarning,
                about,
            )
        run = NoiseRun(self.mechanism_, streams, reader.sample_length)
        noisy = run.run(documents, n_jobs=self.n_jobs, verbose=self.verbose)
        names = self.embedding_.word_array
        if self.output == "bow":
            bags, kind = self._bags(noisy), self._container
            return bags if kind is None else as_frame(bags, X, kind, names)
        released: list[Any] = noisy.tokens(names)
        if self.output == "text":
            released = [" ".join(words) for words in released]
        return as_column(released, X, self._container, self.output)

    def prepare(self, X: Any) -> Any:
        """Read documents as a release does, and return the bags without noise.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Documents, as `transform` takes them.

        Returns
        -------
        bags : sparse matrix in CSR format, of shape (n_documents, n_words)
            Counts (int64) of the words that get noise, for any `output`: cut to
            `document_length`, or drawn if `resize` draws them. The draw differs from
            that of a release; an integer `random_state` repeats it.

        Raises
        ------
        InvalidParameterError
            If `X` breaks a rule, or ε or λ was changed after `fit`.
        NotFittedError
            If `fit` was not called.

        Notes
        -----
        *Privacy.* None: the bags are as sensitive as the documents. Use them for texts
        that an attacker knows in plain text, and for a baseline without noise.

        Examples
        --------
        >>> from skdptext import DPWordPerturber, WordEmbedding
        >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
        >>> perturber = DPWordPerturber(
        ...     embedding, document_length=3, resize="truncate").fit([])
        >>> perturber.prepare(["My cat drinks tea: cat tea, no cat milk!"]).toarray()
        array([[2, 0, 1]])
        """
        reader = self._check_ready()
        # These streams differ from those of a release, which also make its noise: the
        # same draw here and there would show which words were drawn.
        streams = self._streams("prepare", reader)
        documents = self._read(reader, X, streams.labeller())
        # With this ε, no word changes: the run only cuts or draws words.
        unmoved = RandomizedResponse().prepare(self.embedding_, _NO_NOISE)
        run = NoiseRun(unmoved, streams, reader.sample_length)
        return self._bags(run.run(documents, n_jobs=1))

    def _bags(self, documents: EncodedDocuments) -> Any:
        """Make counts that carry the fingerprint of the embedding of their columns.

        It is an attribute, because the next step of a pipeline gets nothing else. A
        copy or a slice lacks it and is not checked.
        """
        bags = sparse_result(documents.bags(self.n_features_in_, np.int64))
        if not isinstance(self.embedding, str):  # "one-hot" does not know its words
            bags.embedding_fingerprint = self.embedding_.fingerprint
        return bags

    def _streams(self, purpose: str, reader: DocumentReader) -> NoiseStreams:
        """Make streams keyed by all that the noise depends on, except the document.

        A seed used at two values of ε must not repeat its noise, because the difference
        of the two releases would reveal the document.
        """
        # Options of reading are part of the key as well: the same document, read in
        # another way, is another input.
        length = reader.document_length
        reading = None if length is None else int(length), reader.resize, reader.oov
        key = self.mechanism_.fingerprint + repr((purpose, *reading)).encode()
        context = hashlib.blake2b(key, digest_size=32).digest()
        return NoiseStreams(self.random_state, context)

    def _read(
        self, reader: DocumentReader, X: Any, label: Any = None
    ) -> EncodedDocuments:
        if is_count_matrix(X, name="X"):
            check_columns(X, self.embedding_)
            X = validated(self, X, dtype=np.float64, reset=False)
        elif self.embedding == "one-hot":
            check_embedding("one-hot")  # says that it needs a count matrix
        return reader.read(X, label)

    def perturb_words(self, words: Iterable[str], n_draws: int = 1) -> np.ndarray:
        """Draw noisy versions of single words.

        Parameters
        ----------
        words : iterable of str
            Words of the embedding. A word that occurs twice gets independent draws.
        n_draws : int, default=1
            Draws per word.

        Returns
        -------
        noisy : ndarray of shape (n_words, n_draws), of str objects
            Row i holds the draws of word i.

        Raises
        ------
        InvalidParameterError
            If a word is unknown, or a parameter breaks a rule.
        """
        reader = self._check_ready()
        n_draws = check_integer("n_draws", n_draws, low=1, high=MAX_WORDS)
        ids = word_ids(words, self.embedding_)
        streams = self._streams("perturb_words", reader)
        # A word is treated as a document of its copies. Its position is part of the
        # label: a word that occurs twice must not get the same draws twice.
        label = streams.labeller(range(len(ids)))
        # The whole request is hashed once, instead of once for each word.
        asked = np.append(ids, n_draws).astype("<i8").tobytes()
        request = hashlib.blake2b(asked, digest_size=32).digest()
        documents = EncodedDocuments(
            codes=np.repeat(ids, n_draws),
            offsets=np.arange(len(ids) + 1, dtype=np.int64) * n_draws,
            stream_labels=[label(i, request) for i in range(len(ids))] if label else [],
        )
        run = NoiseRun(self.mechanism_, streams)
        noisy = run.run(documents, n_jobs=self.n_jobs, verbose=self.verbose)
        return self.embedding_.word_array[noisy.codes].reshape(-1, n_draws)

    def mechanism_at(self, epsilon: float | None = None) -> WordMechanism:
        """Get the fitted mechanism, or prepare it for another ε.

        Parameters
        ----------
        epsilon : float > 0, default=None
            If None, the ε of the perturber.

        Returns
        -------
        mechanism : WordMechanism
            The mechanism with the options of the fitted one.
        """
        self._check_ready()
        own: WordMechanism = self.mechanism_
        return own if epsilon is None else own.prepare(own.embedding, epsilon, own.lam)

    def known_words(self, X: Any) -> list[list[str]]:
        """Get the words of each document that a release perturbs.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Documents, as `transform` takes them.

        Returns
        -------
        words : list of lists of str
            Words as the embedding spells them, up to `document_length` if documents are
            truncated. They are private.
        """
        reader = self._check_ready()
        return self._read(reader, X).known().tokens(self.embedding_.word_array)

    def log_likelihood(
        self,
        documents: Any,
        released: Any,
        *,
        n_draws: int = 20,
        random_state: Any = None,
    ) -> np.ndarray:
        r"""Compute ln Pr[release | document], which is all that an attacker needs.

        Parameters
        ----------
        documents : iterable of str, of lists of str, or count matrix
            Candidates in plain text.
        released : iterable of str, of lists of str, or count matrix
            Output of `transform`; no counts if it releases the order of words.
        n_draws : int, default=20
            Draws per word of the candidates, if the probabilities of a word are not
            known in full; there are at least 4,000 in all, which take some tenths of a
            second.
        random_state : None, int or numpy.random.Generator, default=None
            Seeds these draws, which are not secret.

        Returns
        -------
        log_likelihood : ndarray of shape (n_released, n_documents)
            −inf where the length rules a document out.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule.

        See Also
        --------
        likelihood : The same for many calls.

        Notes
        -----
        For texts in order it is :math:`\sum_j \ln \Pr[z_j \mid w_j]`, exact if the
        mechanism states its probabilities and otherwise estimated from draws. For bags,
        and for documents that are redrawn, words are treated as independent draws from
        the document: :math:`\sum_j \ln \sum_w p_d(w) \Pr[z_j \mid w]`.
        """
        options = {"n_draws": n_draws, "random_state": random_state}
        return self.likelihood(documents, **options)(released)

    def likelihood(
        self,
        candidates: Any,
        *,
        n_draws: int = 20,
        random_state: Any = None,
    ) -> WordLikelihood:
        """Prepare `log_likelihood` for many calls with the same candidates.

        Parameters
        ----------
        candidates : iterable of str, of lists of str, or count matrix
            Candidates in plain text.
        n_draws : int, default=20
            As for `log_likelihood`.
        random_state : None, int or numpy.random.Generator, default=None
            As for `log_likelihood`.

        Returns
        -------
        likelihood : callable
            Maps releases to an array of shape (n_released, n_candidates).
        """
        reader = self._check_ready()
        check_integer("n_draws", n_draws, low=1)
        return WordLikelihood(
            self.mechanism_,
            self._read(reader, candidates).known(),
            reader.sample_length,
            ordered=self.output != "bow",
            n_draws=n_draws,
            random_state=random_state,
        )

    # -- the guarantee, and scikit-learn's conventions -------------------------

    def guarantee(self, n_words: int | None = None) -> PrivacyGuarantee:
        """Compute the exact privacy guarantee of a release.

        Parameters
        ----------
        n_words : int, default=None
            Words per document, if all documents have the same number and
            `document_length` is None. It is an assumption: a release truncates nothing.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The promise in numbers and in sentences.
        """
        reader = self._check_ready()
        if n_words is not None:
            n_words = check_integer("n_words", n_words, low=1)
            if self.document_length not in (None, n_words):
                raise InvalidParameterError(
                    f"n_words must be document_length={self.document_length}, got "
                    f"{n_words}."
                )
        caveats = [_VOCABULARY] if isinstance(self.embedding, str) else []
        if isinstance(self.random_state, Integral):
            caveats.append(REPEATABLE)
        return PrivacyGuarantee(
            self.mechanism_,
            reader,
            n_words=n_words,
            ordered=self.output != "bow",
            caveats=caveats,
        )

    def exponent(self, x: Any, y: Any) -> float:
        """Bound the privacy loss between two documents, by the guarantee.

        Parameters
        ----------
        x, y : str or list of str
            Two documents. A str is read as `transform` reads it, while the guarantee
            itself reads it as a word.

        Returns
        -------
        exponent : float
            In nats; inf if nothing is promised.
        """
        x, y = (self.known_words([d])[0] if isinstance(d, str) else d for d in (x, y))
        return float(self.guarantee().exponent(x, y))

    def check_release(self) -> None:
        """Refuse to release files if one short document could make a job fail.

        Raises
        ------
        InvalidParameterError
            If documents are not redrawn to one length.
        """
        if DocumentReader.of(self, None).sample_length is None:
            raise InvalidParameterError(
                'perturber must have a document_length and resize="sample": without '
                "them a short document fails the job, or its length is released. Got "
                f"document_length={shown(self.document_length)}, "
                f"resize={shown(self.resize)}."
            )

    def canary_documents(self) -> list[Any]:
        """Make public documents that show whether two machines draw the same noise.

        Returns
        -------
        documents : list of str or lists of str
            The first words of the embedding, and a text.
        """
        n_documents = max(1, _CANARY_WORDS // (self.document_length or 1))
        # A small embedding repeats its words, so no document is without one.
        words = np.resize(self.embedding_.word_array, 8 * n_documents).tolist()
        documents: list[Any] = [words[i : i + 8] for i in range(0, 8 * n_documents, 8)]
        if self.oov != "error":
            # A text tests that both machines split it into the same words.
            documents.append(", ".join(words[:8]).title())
        return documents

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Get the names of the columns: words, or the column of texts or token lists.

        Parameters
        ----------
        input_features : array-like of one str, default=None
            Name of the column of documents, which an output of texts or token lists
            keeps. If None, it is called ``"text"`` or ``"tokens"``. Ignored for bags.

        Returns
        -------
        names : ndarray of str objects, shape (n_words,) or (1,)
            Names of the columns.
        """
        check_is_fitted(self, "mechanism_")
        if self.output == "bow":
            return self.embedding_.word_array.copy()
        return self._name_of_column(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = isinstance(self.embedding, str)
        tags.input_tags.two_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.string = not counts
        tags.input_tags.positive_only = True
        # A one-hot column is a category, and its entries are whole numbers.
        tags.input_tags.categorical = counts
        tags.non_deterministic = self.random_state is None
        tags.transformer_tags.preserves_dtype = []
        return tags
