"""The ε at which a wanted share of words stays unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.documents import some_word_ids
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordChannel, draw_words
from skdptext.metrics import find_perturber
from skdptext.model_selection._tuned_on import check_tuned_on, warn_of_private_tuning
from skdptext.perturbation import DPWordPerturber
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
        Noise vectors, which all words share, or draws per word, where they cannot; at
        least 2.
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

    For mechanisms other than noise on vectors that scales with 1/ε, the words are drawn
    at one ε after the other, from 1e-6 to 1e6, each time with the same draws, until the
    share is bracketed to a relative 1e-4; the share is taken to grow with ε.

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
    source = find_perturber(perturber)
    own = source.channel_at()
    ids = some_word_ids(words, source.embedding_)
    target = check_real("target", target, low=0, high=1, open_low=True, open_high=True)
    check_option("statistic", statistic, ("unchanged", "changed"))
    n_draws = check_integer("n_draws", n_draws, low=2)
    check_tuned_on(tuned_on)
    if words is not None:
        warn_of_private_tuning(tuned_on, "ε is chosen by words", "these words")
    streams = NoiseStreams(random_state, b"calibrate_epsilon")
    unchanged = target if statistic == "unchanged" else 1 - target
    find = _Drawn if own.unit_noise is None else _Shared
    shares = find(source, own, ids, n_draws, streams)
    epsilon = shares.reach(unchanged)
    if epsilon is None:
        low, high = shares.limits()
        if statistic == "changed":
            low, high = 1 - high, 1 - low
        raise InvalidParameterError(
            f"target must be a share that some epsilon reaches, between {low:.4g} and "
            f"{high:.4g} here, got {target:g}."
        )
    reached, error = shares.at(epsilon)
    return Calibration(
        epsilon=epsilon,
        interval=_interval(shares, unchanged, epsilon),
        share=reached if statistic == "unchanged" else 1 - reached,
        standard_error=error,
        target=target,
        statistic=statistic,
        n_words=len(ids),
        n_draws=n_draws,
    )


class _Shared:
    """Shares of unchanged words where all words and ε share their noise.

    Along one noise direction a word stays itself from one ε on, and for good.
    """

    precision = 1e-9  # of ε, relative

    def __init__(
        self,
        source: DPWordPerturber,
        own: WordChannel,
        ids: np.ndarray,
        n_draws: int,
        streams: NoiseStreams,
    ) -> None:
        vectors = source.embedding_.vectors
        noise = SharedNoise(
            own.unit_noise(streams.open(b"noise"), n_draws),  # type: ignore[misc]
            vectors,
            half_squared_norms(vectors),
        )
        self.least = np.empty((len(ids), n_draws), dtype=np.float32)
        for rows, part in noise.critical_scales(ids):
            self.least[rows] = part
        self.ordered = np.sort(self.least, axis=None)
        self.size = self.ordered.size

    def at(self, epsilon: float) -> tuple[float, float]:
        """Share at one ε, and its standard error."""
        return _mean_and_error((self.least <= epsilon).mean(axis=0))

    def reach(self, share: float) -> float | None:
        """The ε that reaches a share; None if none does."""
        rank = int(np.ceil(share * self.size - 1e-9))
        epsilon = float(self.ordered[max(rank, 1) - 1])
        return epsilon if 0 < epsilon < np.inf else None

    def limits(self) -> tuple[float, float]:
        """The least and the largest share that some ε reaches."""
        return float(np.mean(self.ordered == 0)), float(np.mean(self.ordered < np.inf))

    def range(self) -> tuple[float, float]:
        """An ε below, and one above, all at which the share changes."""
        finite = self.ordered[(self.ordered > 0) & (self.ordered < np.inf)]
        return float(finite[0] / 2), float(finite[-1] * 2)


class _Drawn:
    """The same for any mechanism: every ε draws its words, from the same stream."""

    precision = 1e-4

    def __init__(
        self,
        source: DPWordPerturber,
        own: WordChannel,
        ids: np.ndarray,
        n_draws: int,
        streams: NoiseStreams,
    ) -> None:
        self.source, self.ids, self.n_draws = source, ids, n_draws
        self.streams = streams
        self.size = len(ids) * n_draws
        self.known: dict[float, tuple[float, float]] = {}

    def at(self, epsilon: float) -> tuple[float, float]:
        if epsilon not in self.known:
            channel, rng = self.source.channel_at(epsilon=epsilon), self.streams
            stays = np.zeros(self.n_draws)
            drawn = draw_words(channel, self.ids, self.n_draws, rng.open(b"noise"))
            for rows, noisy in drawn:
                stays += (noisy == self.ids[rows][:, None]).sum(axis=0)
            self.known[epsilon] = _mean_and_error(stays / len(self.ids))
        return self.known[epsilon]

    def reach(self, share: float) -> float | None:
        low, high = self.range()
        if not self.at(low)[0] < share <= self.at(high)[0]:
            return None
        while high > low * (1 + self.precision):
            middle = float(np.sqrt(low * high))
            reached = self.at(middle)[0] >= share
            low, high = (low, middle) if reached else (middle, high)
        return high

    def limits(self) -> tuple[float, float]:
        low, high = self.range()
        return self.at(low)[0], self.at(high)[0]

    def range(self) -> tuple[float, float]:
        return 1e-6, 1e6


def _mean_and_error(by_draw: np.ndarray) -> tuple[float, float]:
    """Mean over the draws, which are independent, and its standard error."""
    error = by_draw.std(ddof=1) / np.sqrt(len(by_draw))
    return float(by_draw.mean()), float(error)


def _interval(
    shares: _Shared | _Drawn, target: float, epsilon: float
) -> tuple[float, float]:
    """All ε around the estimate at which the target is within 1.96 standard errors."""

    def agrees(at: float) -> bool:
        mean, error = shares.at(at)
        return abs(mean - target) <= 1.96 * error + 1 / shares.size

    low, high = shares.range()
    ends = []
    for limit, beyond in ((low, 0.0), (high, np.inf)):
        if agrees(limit):
            ends.append(beyond)
            continue
        inside, outside = epsilon, limit
        while max(inside, outside) > min(inside, outside) * (1 + shares.precision):
            middle = float(np.sqrt(inside * outside))
            inside, outside = (middle, outside) if agrees(middle) else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]
