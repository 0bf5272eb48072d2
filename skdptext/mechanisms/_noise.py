"""Noise on word vectors: regularized Mahalanobis, or Laplace at λ = 0."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.embeddings import WordEmbedding, nearest_words
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._losses import LossDistribution
from skdptext.mechanisms._mechanism import Draws, WordMechanism
from skdptext.utils import Memo, blocks, working_memory_bytes

# If a call has more distinct distances than this, they are rounded up by less than one
# part in 32. Few loss distributions have to be computed then.
_DISTANCES = 128


class Spectrum(NamedTuple):
    """Scaled covariance Σ with its eigendecomposition Σ = U diag(s) Uᵀ."""

    covariance: np.ndarray  # Σ, (m, m), trace m
    eigenvalues: np.ndarray  # s, (m,), ascending, >= 0
    eigenvectors: np.ndarray  # U, (m, m), one per column


# Spectra are keyed by content, so all copies of an embedding share one.
_spectra: Memo[Spectrum] = Memo(8)


def embedding_spectrum(embedding: WordEmbedding) -> Spectrum:
    """Get the read-only spectrum of an embedding, computed once per process."""
    return _spectra.get(embedding.fingerprint, lambda: _spectrum(embedding.vectors))


def _spectrum(vectors: np.ndarray) -> Spectrum:
    """Decompose the sample covariance, scaled to trace m, in float64.

    See section 3 of Xu, Aggarwal, Feyisetan, Teissier (2020).
    """
    n_words, dim = vectors.shape
    if n_words < 2:
        raise InvalidParameterError(
            "embedding must have at least 2 words, as its covariance is learned, got "
            f"{n_words} (n_features = {n_words})."
        )
    mean = vectors.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((dim, dim))
    # Blocks keep the float64 copy of the vectors small.
    for rows in blocks(n_words, 4096):
        centred = vectors[rows] - mean
        covariance += centred.T @ centred
    # The divisor n_words − 1 of the sample covariance cancels in the scaling.
    trace = np.trace(covariance)
    if not trace > 0:
        raise InvalidParameterError(
            "embedding must have at least 2 different vectors, as its covariance is "
            f"learned, got {n_words} equal ones."
        )
    covariance *= dim / trace
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    # Rounding can make the smallest eigenvalues of a singular matrix negative.
    spectrum = Spectrum(covariance, np.maximum(eigenvalues, 0), eigenvectors)
    for array in spectrum:
        array.flags.writeable = False
    return spectrum


class MahalanobisMetric:
    r"""The regularized Mahalanobis metric :math:`‖x - y‖_{RM}`.

    .. math::

        ‖v‖_{RM} = \sqrt{v^\top M^{-1} v}, \qquad M = λΣ + (1 - λ) I .

    Parameters
    ----------
    lam : float in [0, 1]
        0 gives the Euclidean metric.
    spectrum : Spectrum
        Spectrum of Σ: that of the embedding (`embedding_spectrum`), or of any other
        matrix that does not depend on private documents.

    Raises
    ------
    InvalidParameterError
        If Σ is singular and ``lam=1``.

    See Also
    --------
    MahalanobisNoise : Noise of this shape.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), section 3.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise
    >>> embedding = WordEmbedding(["near", "far"], [[0.0], [2.0]])
    >>> metric = MahalanobisNoise().prepare(embedding, 3.0, 0.0).metric
    >>> float(metric.distances(embedding.vectors, embedding.vectors)[0, 1])
    2.0
    """

    def __init__(self, lam: float, spectrum: Spectrum) -> None:
        # λ = 1 divides by the eigenvalues of Σ. If the smallest is zero to within
        # rounding, the metric does not exist.
        smallest, largest = spectrum.eigenvalues[0], spectrum.eigenvalues[-1]
        dim = len(spectrum.eigenvalues)
        if lam == 1 and smallest <= largest * dim * np.finfo(float).eps:
            raise InvalidParameterError(
                "lam must be < 1 where the covariance of the embedding is singular "
                f"(smallest eigenvalue {smallest:.1e}), got lam=1. It is singular with "
                "no more words than dimensions, or with dependent columns. Try "
                "lam=0.9."
            )
        self.lam = lam
        self.spectrum = spectrum
        #: Dimension of the vectors.
        self.dim = dim

    @property
    def name(self) -> str:
        """ "euclidean" or "mahalanobis"."""
        return "euclidean" if self.lam == 0 else "mahalanobis"

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of M, ascending."""
        return self.lam * self.spectrum.eigenvalues + (1 - self.lam)

    @cached_property
    def factor(self) -> np.ndarray:
        """The symmetric square root of M, shape (dim, dim)."""
        if self.lam == 0:
            return np.eye(self.dim)
        basis = self.spectrum.eigenvectors
        return (basis * np.sqrt(self.eigenvalues)) @ basis.T

    def whiten(self, vectors: Any) -> np.ndarray:
        """Map vectors to points whose Euclidean distances are those of this metric.

        Parameters
        ----------
        vectors : ndarray of shape (n, dim)
            Points in the space of the embedding.

        Returns
        -------
        whitened : ndarray of shape (n, dim)
            The points.
        """
        vectors = np.asarray(vectors, dtype=np.float64)
        if self.lam == 0:
            return vectors
        return (vectors @ self.spectrum.eigenvectors) / np.sqrt(self.eigenvalues)

    def distances(self, x: Any, y: Any) -> np.ndarray:
        """Compute the distance of each row of `x` to each row of `y`.

        Equal rows are exactly 0 apart, because they are whitened once.

        Parameters
        ----------
        x, y : ndarray of shape (n, dim)
            Vectors.

        Returns
        -------
        distances : ndarray of shape (len(x), len(y))
            Distances between the vectors.
        """
        if self.lam == 0:
            return cdist(x, y)
        both = np.concatenate([x, y]) + 0.0  # no -0.0, which has other bytes
        # Rows are compared by their bytes, which is much faster than the comparison
        # of columns in np.unique.
        keys = both.view(np.dtype((np.void, both.itemsize * self.dim))).ravel()
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
        points = self.whiten(both[first])[numbers]
        return cdist(points[: len(x)], points[len(x) :])


class NoiseMechanism(WordMechanism):
    """Base class of mechanisms that release the word nearest to a noisy vector.

    A subclass sets `metric` in `_prepare`, and defines `draw` and `noise`. Exponents
    and small δ follow, and so do posteriors given the noisy vector. A subclass may
    choose a word for the noisy vector in another way (`apply`). This is post-processing
    of the vector and costs no privacy.

    See Also
    --------
    MahalanobisNoise : The noise of the papers.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(ε d(φ(w), φ(w'))) Pr[z | w'], where d is the `metric`, if
    the noise has the density that `noise` states.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise, NoiseMechanism
    >>> embedding = WordEmbedding(["near", "far"], [[0.0], [2.0]])
    >>> prepared = MahalanobisNoise().prepare(embedding, epsilon=3.0)
    >>> isinstance(prepared, NoiseMechanism), prepared.metric.name
    (True, 'euclidean')
    """

    metric: MahalanobisMetric

    @abstractmethod
    def noise(self, draws: Draws) -> np.ndarray:
        """Compute noise vectors from draws.

        Parameters
        ----------
        draws : tuple of ndarray
            What `draw` returned.

        Returns
        -------
        noise : ndarray of shape (n, dim)
            Noise of density ∝ e^(−ε‖z‖) in `metric`: its lengths follow Gamma(dim,
            1/ε), and its directions are uniform there.
        """

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        table = self.embedding
        noise = self.noise(draws)
        # A single noise vector would broadcast to all words, which would then share it.
        if np.shape(noise) != (len(words), table.dim):
            raise InvalidParameterError(
                f"noise of {type(self).__name__} must return an array of shape "
                f"{(len(words), table.dim)}, got shape {np.shape(noise)}."
            )
        points = noise + table.vectors[words]
        given = table.vectors, table.half_norms
        return nearest_words(points, *given, memory=working_memory_bytes())

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        vectors = self.embedding.vectors
        return self.epsilon * self.metric.distances(vectors[x], vectors[y])

    def losses(self, x: np.ndarray, y: np.ndarray) -> list[LossDistribution]:
        vectors = self.embedding.vectors
        gaps = np.subtract(vectors[x], vectors[y], dtype=np.float64)
        distances = self.epsilon * np.linalg.norm(self.metric.whiten(gaps), axis=1)
        # Distances that differ only by rounding become equal and are computed once.
        # They are rounded up, because a longer distance loses at least as much.
        rounded = _rounded_up(distances, 30)
        if len(np.unique(rounded)) > _DISTANCES:
            rounded = _rounded_up(distances, 6)
        dim = self.metric.dim
        return [LossDistribution.of_noise(d, dim) for d in rounded.tolist()]

    @property
    def row_bytes(self) -> int:
        """Bytes of the normals (twice), shaped noise, points, and points in float32."""
        return self.metric.dim * (4 * 8 + 4)


class MahalanobisNoise(NoiseMechanism):
    r"""Replace each word by the word nearest to its vector plus noise (the papers).

    Each word w becomes the word nearest, in Euclidean distance, to φ(w) + Z, where the
    density of Z is proportional to :math:`e^{-ε‖z‖_{RM}}` with
    :math:`‖z‖_{RM} = \sqrt{z^\top M^{-1} z}` and :math:`M = λΣ + (1 - λ)I`; Σ is the
    covariance of the embedding, scaled to trace m, its dimension. λ = 0 is the
    n-dimensional Laplace mechanism [1]_ [2]_; with λ > 0 the noise has the shape of the
    embedding [3]_.

    See Also
    --------
    Exponential : The recommended mechanism, whose probabilities are known in full.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(ε‖φ(w) − φ(w')‖_RM) Pr[z | w'] for all words w, w', z.
    Taking the nearest word is post-processing of the noisy vector. This holds for real
    numbers, while the noise is drawn in float64: in one dimension no length exceeds
    about 44/ε, which cuts off 5e-20 of the true distribution, and a normal number is
    exactly 0 with probability near 2⁻⁵³. ``numerical_delta`` allows 2⁻⁵⁰ per word for
    these errors.

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
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise
    >>> embedding = WordEmbedding(["a", "b"], [[0.0, 0.0], [3.0, 4.0]])
    >>> prepared = MahalanobisNoise().prepare(embedding, epsilon=2.0)
    >>> prepared.exponents(np.array([0]), np.array([0, 1]))
    array([[ 0., 10.]])
    >>> words = np.array([0, 0, 1])
    >>> prepared.apply(words, prepared.draw(np.random.default_rng(0), 3)).shape
    (3,)
    """

    numerical_delta = 2.0**-50

    def _prepare(self) -> None:
        self.metric = MahalanobisMetric(self.lam, embedding_spectrum(self.embedding))

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        # Lengths, and normals for the directions. The normals are float64: a float32
        # normal is exactly 0 once in 2^23 draws, and such an atom can be detected.
        dim = self.metric.dim
        return rng.gamma(dim, 1.0 / self.epsilon, n), rng.standard_normal((n, dim))

    def noise(self, draws: Draws) -> np.ndarray:
        radii, normals = draws  # the noise is r · M^½ · g/‖g‖
        lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        # A zero vector has no direction. It is practically never drawn, and this
        # avoids a division by zero.
        scale = radii / np.where(lengths > 0, lengths, 1.0)
        # The shaped vector is not normalized again: its length is measured in `metric`.
        if self.metric.lam == 0:
            return normals * scale[:, None]
        shaped = normals @ self.metric.factor
        shaped *= scale[:, None]
        return shaped


def _rounded_up(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Round numbers up to a number of binary digits."""
    mantissas, powers = np.frexp(numbers)
    return np.ldexp(np.ceil(np.ldexp(mantissas, digits)), powers - digits)
