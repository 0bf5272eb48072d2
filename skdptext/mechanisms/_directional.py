"""Noise on the directions of vectors: von Mises-Fisher and Purkayastha."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._angles import NoisyAngles
from skdptext.mechanisms._channel import Draws, Law, WordChannel, WordMechanism
from skdptext.mechanisms._losses import LossDistribution
from skdptext.search import nearest_words
from skdptext.utils import check_option


class DirectionalChannel(WordChannel):
    """`Directional` for one embedding."""

    mechanism: Directional

    def _setup(self) -> None:
        options, embedding = ["vmf", "purkayastha"], self.embedding
        chosen = check_option("distribution", self.mechanism.distribution, options)
        self._chord = chosen == "vmf"
        zero = np.flatnonzero(~embedding.vectors.any(axis=1))
        if len(zero):
            raise InvalidParameterError(
                "embedding must hold no zero vectors, as they have no direction, for "
                f"Directional; got {len(zero)}, the first at word id {zero[0]}."
            )
        self._angles = NoisyAngles(embedding.dim, self.epsilon, chord=self._chord)

    def _units(self, words: Any) -> np.ndarray:
        """u(w) in float64, whatever the lengths."""
        vectors = self.embedding.vectors[words].astype(np.float64)
        return vectors / np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]

    def law(self) -> Law:
        """The losses; which distance the exponents are based on, and their maximum."""
        name, times = ("chord", "2") if self._chord else ("angle", "π")
        said = (
            f"The exponent is ε times the {name} between the directions of the "
            "vectors, whose lengths are discarded before the noise; between any two "
            f"words it is at most {times}ε."
        )
        return Law(losses=self.losses, numerical_delta=2.0**-40, sentences=(said,))

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """Noisy directions of a word along the first axis, shape (n, dim)."""
        angles = self._angles.draw(rng, n)
        normals = rng.standard_normal((n, self.embedding.dim - 1))
        lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        # zero vectors, which are never drawn, and empty ones have no direction
        scale = np.sin(angles) / np.where(lengths > 0, lengths, 1.0)
        points = np.empty((n, self.embedding.dim))
        np.cos(angles, out=points[:, 0])
        np.multiply(normals, scale[:, None], out=points[:, 1:])
        return (points,)

    def apply(
        self, words: np.ndarray, draws: Draws, memory: int | None = None
    ) -> np.ndarray:
        """The words nearest to the noisy directions, turned towards u(w)."""
        points, units = draws[0], self._units(words)
        # The draws are around the first axis e. The Householder reflection along
        # m = e + s·u, with s the sign of u₁, maps e to −s·u: p ↦ p − 2 m (mᵀp)/(mᵀm).
        # With that sign, mᵀm = 2 (1 + |u₁|) does not cancel. Times −s, it maps e to u.
        signs = np.where(units[:, 0] < 0, -1.0, 1.0)
        mirrors = units * signs[:, None]
        mirrors[:, 0] += 1
        along = np.einsum("ij,ij->i", mirrors, points)
        along /= 1 + np.abs(units[:, 0])
        turned = (along[:, None] * mirrors - points) * signs[:, None]
        units = self._units(slice(None)).astype(np.float32)
        return nearest_words(turned, units, memory=memory)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ε times chords, or angles, shape (len(x), len(y))."""
        chords = np.minimum(cdist(self._units(x), self._units(y)), 2)
        return self.epsilon * (chords if self._chord else 2 * np.arcsin(chords / 2))

    def losses(self, x: np.ndarray, y: np.ndarray) -> list[LossDistribution]:
        """Losses of the noisy directions."""
        gaps = np.linalg.norm(self._units(x) - self._units(y), axis=1)
        angles = 2 * np.arcsin(np.minimum(gaps / 2, 1))
        distinct, at = np.unique(angles, return_inverse=True)
        each = [self._angles.losses(angle) for angle in distinct.tolist()]
        return [each[i] for i in at]

    @property
    def row_bytes(self) -> int:
        """Normals, directions, mirrors and what they are made of, points in float32."""
        return self.embedding.dim * (6 * 8 + 4)


class Directional(WordMechanism):
    r"""Replace each word by the one nearest to a noisy direction.

    Each word w has the direction :math:`u(w) = φ(w)/‖φ(w)‖`. It becomes the word whose
    direction is nearest, by cosine, to a random direction x, of density proportional to

    .. math::

        e^{ε\, u(w)^\top x} \;\text{ ("vmf")} \qquad \text{or} \qquad
        e^{-ε \arccos(u(w)^\top x)} \;\text{ ("purkayastha")} .

    Parameters
    ----------
    distribution : {"vmf", "purkayastha"}, default="vmf"
        The von Mises-Fisher distribution, or Purkayastha's. Both [1]_ have the
        concentration κ = ε.

    See Also
    --------
    MahalanobisNoise : Noise on the vectors themselves.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ e^t Pr[z | w'], with t = ε‖u(w) − u(w')‖ (the chord) for
    "vmf", and ε times the angle between u(w) and u(w') for "purkayastha". The
    normalising constants do not depend on the word, and the nearest word is
    post-processing. So the privacy loss between any two words is at most 2ε, or πε. The
    lengths of the vectors are discarded before the noise. A small δ lowers these
    exponents, because in many dimensions hardly any direction lies along the line
    between two words: see `LossDistribution`.

    In hundreds of dimensions *ε* has to be large, of the order of the dimension, before
    anything is left of a word. `Exponential` on unit vectors keeps as many words with a
    proven exponent about ten times smaller.

    *Zero vectors* have no direction, and are refused; λ has no effect.

    *Sampling* is exact: by rejection for the angle between u(w) and x, whose density
    has a single peak, and with a uniform direction around u(w).

    References
    ----------
    .. [1] B. Weggenmann, F. Kerschbaum (2021). Differential privacy for directional
       data. CCS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import Directional
    >>> embedding = WordEmbedding(list("abc"), [[1.0, 0.0], [0.0, 5.0], [-3.0, 0.0]])
    >>> x, y = np.array([0]), np.arange(3)
    >>> for distribution in "vmf", "purkayastha":
    ...     channel = Directional(distribution).prepare(embedding, 10.0, 0.0)
    ...     print(channel.exponents(x, y).round(2))
    [[ 0.   14.14 20.  ]]
    [[ 0.   15.71 31.42]]
    """

    channel_class = DirectionalChannel

    def __init__(self, distribution: str = "vmf") -> None:
        self.distribution = distribution
