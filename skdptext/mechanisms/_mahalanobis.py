"""Noise on vectors: regularized Mahalanobis, n-dimensional Laplace at λ = 0."""

from __future__ import annotations

import numpy as np

from skdptext.mechanisms._mechanism import Draws, NoiseMechanism
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum


class MahalanobisNoise(NoiseMechanism):
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
        """The noise r · M^½ · g/‖g‖ of lengths r and normals g."""
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
