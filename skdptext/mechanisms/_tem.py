"""The largest distance of the truncated exponential mechanism."""

from __future__ import annotations

import math

from skdptext.utils import check_integer, check_real


def tem_distance(n_words: int, epsilon: float, beta: float = 0.001) -> float:
    r"""Compute the γ of TEM, the truncated exponential mechanism.

    .. math::

        γ = \frac{2}{ε} \ln \frac{(1 - β)(V - 1)}{β}

    Parameters
    ----------
    n_words : int
        V, at least 2: words of the vocabulary.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    beta : float, default=0.001
        In (0, 1 − 1/V): the probability of releasing a word further than γ from the
        true one is at most this. It affects utility only.

    Returns
    -------
    distance : float > 0
        For ``max_distance`` of `~skdptext.mechanisms.Exponential` with
        ``calibration="half"``, which is then TEM.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    *Privacy.* For any γ the privacy loss is at most ε min(d, γ). With this one no two
    words are told apart by more than 2 ln((1 − β)(V − 1)/β), whatever ε is: 34.4 nats
    with 30,000 words.

    References
    ----------
    R. S. Carvalho, T. Vasiloudis, O. Feyisetan, K. Wang (2023). TEM: high utility
    metric differential privacy on text. SDM 2023.

    Examples
    --------
    >>> from skdptext.mechanisms import Exponential, tem_distance
    >>> print(f"{tem_distance(30_000, epsilon=4.0):.2f}")
    8.61
    >>> Exponential("half", tem_distance(3, epsilon=2.0, beta=0.5))
    Exponential(calibration='half', max_distance=0.693...)
    """
    n_words = check_integer("n_words", n_words, low=2)
    epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
    high = 1 - 1 / n_words
    beta = check_real("beta", beta, low=0, high=high, open_low=True, open_high=True)
    return 2 / epsilon * math.log((1 - beta) * (n_words - 1) / beta)
