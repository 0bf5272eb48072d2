"""Noise on vectors: regularized Mahalanobis, n-dimensional Laplace at λ = 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms._channel import Apply, Draws, Law, WordChannel, WordMechanism
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.search import nearest_words


class MahalanobisNoise(WordMechanism):
    r"""Replace each word by the one nearest to its vector plus noise, as the papers do.

    Each word w becomes the word nearest, in Euclidean distance, to φ(w) + Z, where the
    density of Z is proportional to :math:`e^{-ε‖z‖_{RM}}` with
    :math:`‖z‖_{RM} = \sqrt{z^\top M^{-1} z}` and :math:`M = λΣ + (1 - λ)I`; Σ is the
    covariance of the embedding, scaled to trace m, its dimension. λ = 0 is the
    n-dimensional Laplace mechanism [1]_ [2]_; with λ > 0 the noise has the shape of the
    embedding [3]_.

    See Also
    --------
    Exponential : Its probabilities are known in full.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(ε‖φ(w) − φ(w')‖_RM) Pr[z | w'] for all words w, w', z.
    Taking the nearest word is post-processing of the noisy vector. This holds for real
    numbers, while the noise is drawn in float64: in one dimension no length exceeds
    about 44/ε, which cuts off 5e-20 of the true distribution, and a normal number is
    exactly 0 with probability near 2⁻⁵³. ``numerical_delta`` allows 2⁻⁵⁰ per word for
    this.

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
    >>> channel = MahalanobisNoise().prepare(embedding, epsilon=2.0, lam=0.0)
    >>> channel.exponents(np.array([0]), np.array([0, 1]))
    array([[ 0., 10.]])
    >>> words = np.array([0, 0, 1])
    >>> channel.apply(words, channel.draw(np.random.default_rng(0), 3)).shape
    (3,)
    """

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> MahalanobisChannel:
        return MahalanobisChannel(self, embedding, epsilon, lam)


class MahalanobisChannel(WordChannel):
    """`MahalanobisNoise` for one embedding.

    It adds noise to the vector of a word and finds the nearest word.

    Parameters
    ----------
    mechanism : WordMechanism
        The options.
    embedding : WordEmbedding
        Public words and their vectors.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    lam : float in [0, 1]
        Shape λ of the metric.
    metric : MahalanobisMetric, default=None
        Shapes the noise and bounds its privacy loss. None: the metric of `lam` over the
        covariance of the embedding. A metric over another Σ must be fixed by the
        options of `mechanism`, which key the noise, and must not depend on private
        documents.

    See Also
    --------
    MahalanobisNoise : The options.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise
    >>> embedding = WordEmbedding(["near", "far"], [[0.0], [2.0]])
    >>> channel = MahalanobisNoise().prepare(embedding, 3.0, 0.0)
    >>> float(channel.exponents([0], [1])[0, 0])
    6.0
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        *,
        metric: MahalanobisMetric | None = None,
    ) -> None:
        super().__init__(mechanism, embedding, epsilon, lam)
        if metric is None:
            metric = MahalanobisMetric(self.lam, embedding_spectrum(embedding))
        #: Shapes the noise; ε times it bounds the privacy loss.
        self.metric = metric

    def law(self) -> Law:
        return Law(self.metric, self.noise, scales=True, numerical_delta=2.0**-50)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        # Lengths, and normals for the directions. The normals are float64: a float32
        # normal is exactly 0 once in 2^23 draws, and such an atom can be detected.
        dim = self.metric.dim
        return rng.gamma(dim, 1.0 / self.epsilon, n), rng.standard_normal((n, dim))

    def noise(self, draws: Draws) -> np.ndarray:
        """Compute the noise r · M^½ · g/‖g‖ of lengths r and normals g.

        Parameters
        ----------
        draws : tuple of ndarray
            What `draw` returned.

        Returns
        -------
        noise : ndarray of shape (n, dim)
            The noise vectors.
        """
        radii, normals = draws
        lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        # a zero vector, which is never drawn, has no direction
        scale = radii / np.where(lengths > 0, lengths, 1.0)
        # Not renormalised afterwards: the length is measured in `metric`.
        if self.metric.lam == 0:
            return normals * scale[:, None]
        shaped = normals @ self.metric.factor
        shaped *= scale[:, None]
        return shaped

    def apply(
        self, words: np.ndarray, draws: Draws, memory: int | None = None
    ) -> np.ndarray:
        points = self.noise(draws)
        points += self.embedding.vectors[words]
        table = self.embedding
        return nearest_words(points, table.vectors, table.half_norms, memory=memory)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        vectors = self.embedding.vectors
        return self.epsilon * self.metric.distances(vectors[x], vectors[y])

    @contextmanager
    def session(self, memory: int) -> Iterator[Apply]:
        yield partial(self.apply, memory=memory)

    @property
    def row_bytes(self) -> int:
        """Normals in pieces and joined, shaped noise and points; points in float32."""
        return self.metric.dim * (4 * 8 + 4)
