"""Noise on vectors: regularized Mahalanobis, n-dimensional Laplace at λ = 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms._channel import Apply, Draws, Law, WordChannel, WordMechanism
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.search import k_nearest_words, nearest_words
from skdptext.utils import check_real


class MahalanobisNoise(WordMechanism):
    r"""Replace each word by the one nearest to its vector plus noise, as the papers do.

    Each word w becomes the word nearest, in Euclidean distance, to φ(w) + Z, where the
    density of Z is proportional to :math:`e^{-ε‖z‖_{RM}}` with
    :math:`‖z‖_{RM} = \sqrt{z^\top M^{-1} z}` and :math:`M = λΣ + (1 - λ)I`; Σ is the
    covariance of the embedding, scaled to trace m, its dimension. λ = 0 is the
    n-dimensional Laplace mechanism [1]_ [2]_; with λ > 0 the noise has the shape of the
    embedding [3]_.

    Parameters
    ----------
    second : float in [0, 1], default=0.0
        T of the Vickrey mechanism [4]_. Above 0, the release is the nearest or the
        second nearest word to the noisy vector, at distances d₁ ≤ d₂: the nearest with
        probability (1 − t) d₂ / (t d₁ + (1 − t) d₂). With 1, the second
        nearest is always released. The two are chosen from *all* words, the true one
        included.

    See Also
    --------
    Ranked : Neighbours of the released word by their rank.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(ε‖φ(w) − φ(w')‖_RM) Pr[z | w'] for all words w, w', z.
    Taking the nearest word is post-processing of the noisy vector, and so is the choice
    of the second. So `second` changes words but not the guarantee. Fewer unchanged
    words are not more privacy, because an adversary knows the rule. All this holds for
    real numbers, while the noise is drawn in float64: in one dimension no length
    exceeds about 44/ε, which cuts off 5e-20 of the true distribution, and a normal
    number is exactly 0 with probability near 2⁻⁵³. ``numerical_delta`` allows 2⁻⁵⁰ per
    word for this.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2018). Author obfuscation using
       generalised differential privacy.
    .. [2] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019.
    .. [3] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially
       private text perturbation method using a regularized Mahalanobis metric.
    .. [4] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2021). On a utilitarian
       approach to privacy preserving text generation. PrivateNLP 2021.

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

    # at its default this option does not change the key of the noise
    _unkeyed: ClassVar[dict[str, float]] = {"second": 0.0}

    def __init__(self, *, second: float = 0.0) -> None:
        self.second = second

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> MahalanobisChannel:
        second = check_real("second", self.second, low=0, high=1)
        kind = VickreyChannel if second > 0 else MahalanobisChannel
        return kind(self, embedding, epsilon, lam)


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
        """`apply` with `memory` for its scores."""
        yield partial(self.apply, memory=memory)

    @property
    def row_bytes(self) -> int:
        """Normals in pieces and joined, shaped noise and points; points in float32."""
        return self.metric.dim * (4 * 8 + 4)


class VickreyChannel(MahalanobisChannel):
    """`MahalanobisNoise` with ``second > 0``, for one embedding.

    What holds for the noisy vector holds here; the release need not be the word nearest
    to it.
    """

    def law(self) -> Law:
        """The same noise; choosing the second word costs nothing, and hides nothing."""
        said = (
            "The choice between the two nearest words is post-processing of the noisy "
            "vector. The words that it changes add no privacy, because an adversary "
            "knows the rule."
        )
        return replace(super().law(), scales=False, sentences=(said,))

    def noise(self, draws: Draws) -> np.ndarray:
        """The noise; the two words are nearest to φ(w) plus this noise."""
        return super().noise(draws[:-1])

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """The draws of the noise, and a uniform number per word."""
        return (*super().draw(rng, n), rng.random(n))

    def apply(
        self, words: np.ndarray, draws: Draws, memory: int | None = None
    ) -> np.ndarray:
        """The words nearest, or second nearest, to φ(w) + noise."""
        uniforms = draws[-1]
        vectors = self.embedding.vectors
        points = self.noise(draws)
        points += vectors[words]
        near, distances = k_nearest_words(
            points,
            vectors,
            min(2, len(vectors)),
            half_norms=self.embedding.half_norms,
            memory=memory,
        )
        first, second = near[:, 0], near[:, -1]
        d1, d2 = distances[:, 0], distances[:, -1]
        t = float(self.mechanism.second)
        stays = uniforms * (t * d1 + (1 - t) * d2) < (1 - t) * d2
        return np.where(stays, first, second)
