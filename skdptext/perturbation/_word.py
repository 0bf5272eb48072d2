"""Word-level metric differential privacy: Laplace and regularized Mahalanobis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms import MahalanobisMechanism, Spectrum
from skdptext.perturbation._base import BaseWordPerturber

__all__ = ["DPWordPerturber"]


class DPWordPerturber(BaseWordPerturber):
    r"""Replace each word by the one nearest to its noisy vector.

    Each word w of a document becomes the word of the embedding nearest, in Euclidean
    distance, to φ(w) + Z, where the density of the noise is proportional to
    :math:`e^{-ε‖z‖_{RM}}` with :math:`‖z‖_{RM} = \sqrt{z^\top (λΣ + (1-λ)I)^{-1} z}`.
    Σ is the covariance of the embedding, scaled to trace m (its dimension). λ = 0 is
    the n-dimensional Laplace mechanism [1]_ [2]_; with λ > 0 the noise follows the
    shape of the embedding, and rare words in sparse regions change more often [3]_.

    Parameters
    ----------
    embedding : WordEmbedding or "one-hot"
        The public table of word vectors; column j of the output is its word j.
        ``"one-hot"`` takes count matrices only and holds every word equally far (√2)
        from every other; it needs n_words² floats.
    epsilon : float, default=10.0
        Privacy parameter ε > 0, in nats per unit of distance in the embedding:
        smaller is more private. Its meaning depends on the table's scale.
    lam : float, default=0.5
        λ in [0, 1], from spherical to elliptical noise. 1 needs a regular Σ.
    document_length : int, default=None
        Release exactly so many words of each document. None releases the number of
        known words of each document as it is, with a `PrivacyLeakWarning`.
    resize : {"truncate", "sample"}, default="truncate"
        How a document gets to `document_length`: its first words, and an error if it
        has fewer; or draws with replacement from its own words (from the whole
        vocabulary, if it has none), which costs more privacy: see `guarantee`.
    oov : {"drop", "error", "keep"}, default="drop"
        What to do with words unknown to the embedding. ``"keep"`` releases them in
        clear, with a `PrivacyLeakWarning`, and needs ``output="text"``.
    lowercase : bool, default=True
        Lowercase strings before they are cut into words. Every word is looked up as
        it then is, then lowercased, then capitalised.
    stop_words : {"english"} or list of str, default=None
        Words to leave out, of strings and of token lists.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        What a word is, in strings. Not used if `tokenizer` is given.
    tokenizer : callable, default=None
        From a string to its words.
    output : {"bow", "tokens", "text"}, default="bow"
        Count matrix, token lists or strings; the latter two keep the order of the
        words, and so have a weaker guarantee between documents.
    engine : {"numpy", "torch"}, default="numpy"
        What searches for the nearest words; both find the same ones, always.
        ``"torch"`` rules words out by a bfloat16 product, on CUDA where there is a
        device, else on a CPU with AVX512_BF16 or AMX, where it is about one and a half
        times as fast. It needs ``skdptext[torch]``, and falls back to NumPy, with a
        RuntimeWarning, where the machine has neither.
    random_state : None, int or numpy.random.Generator, default=None
        None: fresh noise in every call, from ChaCha20 keyed by the operating system.
        An int: a repeatable release. The noise of a document is then derived by a
        keyed hash from the integer, ε, λ, the table and the document's words: it does
        not depend on the other documents, their order, or `n_jobs`, and equal
        documents get equal releases. If one word changes, even an unknown one or one
        that is cut off, all words get fresh noise: releases of both versions can be
        averaged, and their ε add up. The integer is a secret: who knows it can undo
        the noise; `secrets.randbits(128)` gives one. A Generator: a key is drawn from
        it in every call. Its copies (`clone` makes some) give a document that comes at
        the same place again its former noise, and any other document its own.
    n_jobs : int, default=None
        Threads. None: as many as the linear algebra library may use.
    verbose : int, default=0
        Above 0, show a progress bar.

    Attributes
    ----------
    covariance_ : ndarray of shape (dim, dim)
        Σ, of trace `dim`, learned from the embedding.
    noise_factor_ : ndarray of shape (dim, dim)
        Symmetric square root of λΣ + (1−λ)I.
    mechanism_ : MahalanobisMechanism
        The noise.
    embedding_ : WordEmbedding
        The table in use.
    n_features_in_ : int
        Number of words of the embedding.
    feature_names_in_ : ndarray of str
        Column names, if `X` in `fit` was a data frame of counts.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks a rule.
    ImportError
        In `fit`, if the library of the engine is not installed.

    Warns
    -----
    PrivacyLeakWarning
        If lengths or unknown words are released.
    OutOfVocabularyWarning
        If more than half of the words are unknown.
    RuntimeWarning
        If the machine does not suit the engine.

    See Also
    --------
    skdptext.privacy.PrivacyGuarantee : What is promised, in numbers.
    skdptext.WMDKNNClassifier : Classifies the noisy bags.

    Notes
    -----
    *Privacy.* For words w, w' and any output z, Pr[z | w] ≤ exp(ε‖φ(w)−φ(w')‖_RM)
    Pr[z | w']. For bags of N words the exponent is ε N times their Earth Mover's
    distance. The guarantee takes the embedding as public. Nothing is learned from X.

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
    ...     embedding, epsilon=3.0, document_length=2, random_state=0)
    >>> noisy = perturber.fit_transform(["a good film, a great cast: good"])
    >>> noisy.shape, int(noisy.sum())
    ((1, 4), 2)
    >>> print(f"{perturber.guarantee().exponent('good', 'great'):.2f}")
    0.48
    """

    _noise_parameters = ("epsilon", "lam")

    def __init__(
        self,
        embedding: WordEmbedding | Literal["one-hot"] | None = None,
        *,
        epsilon: float = 10.0,
        lam: float = 0.5,
        document_length: int | None = None,
        resize: Literal["truncate", "sample"] = "truncate",
        oov: Literal["drop", "error", "keep"] = "drop",
        lowercase: bool = True,
        stop_words: Literal["english"] | Iterable[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        tokenizer: Callable[[str], list[str]] | None = None,
        output: Literal["bow", "tokens", "text"] = "bow",
        engine: Literal["numpy", "torch"] = "numpy",
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
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_mechanism(self, spectrum: Spectrum) -> MahalanobisMechanism:
        return MahalanobisMechanism(self.epsilon, self.lam, spectrum)
