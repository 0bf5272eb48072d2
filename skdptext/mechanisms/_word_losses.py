"""Privacy losses between words, from everything that a channel states about itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.mechanisms._channel import WordChannel, check_exponents, check_log_proba
from skdptext.mechanisms._losses import LossDistribution
from skdptext.utils import blocks

# With more different distances than this in one call, they are rounded up.
_DISTANCES = 128
# Pairs of words whose laws are computed together.
_PAIRS = 32


def word_losses(
    channel: WordChannel, x: np.ndarray, y: np.ndarray
) -> list[LossDistribution]:
    """Bound the privacy loss between words, by a distribution each.

    Parameters
    ----------
    channel : WordChannel
        A mechanism, prepared for an embedding.
    x, y : ndarray of int, shape (n,)
        Word ids, pair by pair.

    Returns
    -------
    losses : list of n LossDistribution
        From the first of these that the channel states: `noise` with a `metric`; exact
        probabilities, `log_proba`; else the worst that its `exponents` in both
        directions allow.

    Notes
    -----
    The loss is one-sided: that of Pr[· | x_i] against Pr[· | y_i].

    *Noise.* Where a call has more than 128 different distances, each is rounded up, by
    less than one part in 32, so that few distributions have to be computed.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise, word_losses
    >>> vectors = np.zeros((2, 300))
    >>> vectors[1, 0] = 4.0
    >>> embedding = WordEmbedding(["a", "b"], vectors)
    >>> channel = MahalanobisNoise().prepare(embedding, epsilon=10.0, lam=0.0)
    >>> (loss,) = word_losses(channel, np.array([0]), np.array([1]))
    >>> print(f"{channel.exponents([0], [1])[0, 0]:.0f} {loss.exponent(1e-6):.1f}")
    40 12.7
    """
    law = channel.law()
    if law.noise is not None and law.metric is not None:
        vectors = channel.embedding.vectors
        gaps = law.metric.whiten(np.subtract(vectors[x], vectors[y], dtype=np.float64))
        distances = channel.epsilon * np.linalg.norm(gaps, axis=1)
        return _of_distances(distances, law.metric.dim)
    each = _of_laws if law.log_proba is not None else _of_exponents
    return [
        loss
        for block in blocks(len(x), _PAIRS)
        for loss in each(channel, x[block], y[block])
    ]


def _of_distances(distances: np.ndarray, dim: int) -> list[LossDistribution]:
    # up, so that distances that differ only by rounding are computed once
    rounded = _rounded_up(distances, 30)
    if len(np.unique(rounded)) > _DISTANCES:
        rounded = _rounded_up(distances, 6)
    return [LossDistribution.of_noise(distance, dim) for distance in rounded.tolist()]


def _rounded_up(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Numbers rounded up to a number of binary digits."""
    mantissas, powers = np.frexp(numbers)
    return np.ldexp(np.ceil(np.ldexp(mantissas, digits)), powers - digits)


def _of_laws(
    channel: WordChannel, x: np.ndarray, y: np.ndarray
) -> Iterator[LossDistribution]:
    words, at = np.unique(np.concatenate([x, y]), return_inverse=True)
    laws = check_log_proba(channel, words)
    for i, j in at.reshape(2, -1).T:
        yield LossDistribution.of_log_proba(laws[i], laws[j])


def _of_exponents(
    channel: WordChannel, x: np.ndarray, y: np.ndarray
) -> Iterator[LossDistribution]:
    forth, back = check_exponents(channel, x, y), check_exponents(channel, y, x)
    for a, b in zip(np.diag(forth), np.diag(back), strict=True):
        yield LossDistribution.of_exponents(float(a), float(b))
