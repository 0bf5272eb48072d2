"""The ε at which a wanted share of words stays unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import MahalanobisMechanism
from skdptext.metrics._deniability import check_request
from skdptext.model_selection._tuned_on import check_tuned_on, warn_of_private_tuning
from skdptext.search import SharedNoise, half_squared_norms
from skdptext.utils import NoiseStreams, check_integer, check_option, check_real

__all__ = ["Calibration", "calibrate_epsilon"]


@dataclass(frozen=True)
class Calibration:
    """What `calibrate_epsilon` found.

    Attributes
    ----------
    epsilon : float
        The ε at which the drawn noise reaches the target.
    interval : (float, float)
        The ε whose share differs from the target by no more than 1.96 standard
        errors: about 95 % confidence. 0 and inf are possible ends.
    share : float
        Share reached at `epsilon`, with the noise drawn.
    standard_error : float
        Monte-Carlo standard error of `share`, the dependence of the words counted in.
    target : float
    statistic : str
    n_words, n_draws : int
    """

    epsilon: float
    interval: tuple[float, float]
    share: float
    standard_error: float
    target: float
    statistic: str
    n_words: int
    n_draws: int


def calibrate_epsilon(
    perturber: Any,
    target: float = 0.5,
    *,
    statistic: str = "unchanged",
    words: Iterable[str] | None = None,
    n_draws: int = 100,
    random_state: Any = None,
    tuned_on: str = "private",
) -> Calibration:
    """The ε at which a wanted share of words stays unchanged.

    Compares mechanisms and tables at equal empirical privacy [1]_: equal ε means little
    where λ, the dimension or the scale of the vectors differ.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Or a fitted pipeline or search that holds one. Its λ and table are used, its ε
        is not.
    target : float in (0, 1), default=0.5
        Wanted mean of N_w / n_draws over the words, or of its complement.
    statistic : {"unchanged", "changed"}, default="unchanged"
        The share that `target` is about.
    words : iterable of str, default=None
        Words of the embedding; None: all of them.
    n_draws : int, default=100
        Noise vectors, which all words share; at least 2.
    random_state : None, int or numpy.random.Generator, default=None
        An int gives the same ε again, and ε that rise with the target.
    tuned_on : {"private", "public", "released"}, default="private"
        Where `words` come from. Words taken from the documents that are to be
        protected make ε depend on them: that is assumed, and warned of, until they are
        said to be public, or taken from text released before. Without `words` nothing
        but the public embedding is read, and it does not matter.

    Returns
    -------
    calibration : Calibration

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε reaches the target: some words may stay
        at any noise, and of words with equal vectors only the first can.

    Warns
    -----
    PrivacyLeakWarning
        If `words` are given and not said to be public or released.

    Notes
    -----
    Along one noise direction a word stays itself from one ε on, and for good, since
    its Voronoi cell is convex. That ε is computed for every word and draw, in one pass
    over the vocabulary (float32, relative error about 10⁻⁵). The share at any ε is the
    part of them that it exceeds: monotone, with no search. The share at the result
    misses the target by less than 1/(n_words n_draws).

    Shared noise makes the words depend on each other. The standard error is computed
    from the shares of single draws, which are independent: more words do not replace
    more draws. It needs n_words × n_draws floats.

    *Privacy.* Nothing is read but the public embedding and the words asked about.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.model_selection import calibrate_epsilon
    >>> embedding = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> found = calibrate_epsilon(perturber, 0.9, n_draws=20_000, random_state=0)
    >>> round(found.epsilon)  # exactly 2 log(5) = 3.2, where 1 - exp(-ε/2)/2 = 0.9
    3
    """
    source, ids = check_request(perturber, words)
    target = check_real("target", target, low=0, high=1, open_low=True, open_high=True)
    check_option("statistic", statistic, ("unchanged", "changed"))
    n_draws = check_integer("n_draws", n_draws, low=2)
    check_tuned_on(tuned_on)
    if words is not None:
        warn_of_private_tuning(tuned_on, "ε is chosen by words", "these words")
    fitted = source.mechanism_
    streams = NoiseStreams(random_state, b"calibrate_epsilon")
    unit = MahalanobisMechanism(1.0, fitted.lam, fitted.spectrum)
    vectors = source.embedding_.vectors
    noise = SharedNoise(
        unit.sample(streams.open(b"noise"), n_draws),
        vectors,
        half_squared_norms(vectors),
    )
    least = np.empty((len(ids), n_draws), dtype=np.float32)
    for rows, part in noise.critical_scales(ids):
        least[rows] = part
    unchanged = target if statistic == "unchanged" else 1 - target
    ordered = np.sort(least, axis=None)
    rank = int(np.ceil(unchanged * ordered.size - 1e-9))
    epsilon = float(ordered[max(rank, 1) - 1])
    if not 0 < epsilon < np.inf:
        low, high = float(np.mean(ordered == 0)), float(np.mean(ordered < np.inf))
        if statistic == "changed":
            low, high = 1 - high, 1 - low
        raise InvalidParameterError(
            f"target must be a share that some epsilon reaches, between {low:.4g} and "
            f"{high:.4g} here, got {target:g}."
        )

    def share(at: float) -> tuple[float, float]:
        by_draw = (least <= at).mean(axis=0)
        return float(by_draw.mean()), float(by_draw.std(ddof=1) / np.sqrt(n_draws))

    reached, error = share(epsilon)
    return Calibration(
        epsilon=epsilon,
        interval=_interval(share, unchanged, ordered, epsilon),
        share=reached if statistic == "unchanged" else 1 - reached,
        standard_error=error,
        target=target,
        statistic=statistic,
        n_words=len(ids),
        n_draws=n_draws,
    )


def _interval(
    share: Callable[[float], tuple[float, float]],
    target: float,
    ordered: np.ndarray,
    epsilon: float,
) -> tuple[float, float]:
    """All ε around the estimate at which the target is within 1.96 standard errors."""

    def agrees(at: float) -> bool:
        mean, error = share(at)
        return abs(mean - target) <= 1.96 * error + 1 / ordered.size

    finite = ordered[(ordered > 0) & (ordered < np.inf)]
    ends = []
    for limit, beyond in ((finite[0] / 2, 0.0), (finite[-1] * 2, np.inf)):
        if agrees(float(limit)):
            ends.append(beyond)
            continue
        inside, outside = epsilon, float(limit)
        for _ in range(40):  # to a relative width of some 1e-9 or better
            middle = float(np.sqrt(inside * outside))
            inside, outside = (middle, outside) if agrees(middle) else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]
