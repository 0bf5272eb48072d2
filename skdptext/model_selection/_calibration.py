"""The ε at which a given share of words stays unchanged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from sklearn.base import clone

from skdptext.documents import DocumentReader, some_word_ids
from skdptext.exceptions import (
    CalibrationWarning,
    InvalidParameterError,
    PrivacyLeakWarning,
)
from skdptext.mechanisms import (
    Exponential,
    NoiseMechanism,
    TableMechanism,
    WordMechanism,
    draw_words,
    probabilities,
    shared_noise,
)
from skdptext.metrics import find_perturber
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    NoiseStreams,
    bisect,
    check_integer,
    check_option,
    check_real,
    check_tuned_on,
    progress_bar,
    quiet,
    show_progress,
    shown,
    warn_of_private_tuning,
    warn_once,
)

# Every ε tried lies between these.
_LOWEST, _HIGHEST = 1e-6, 1e6
# Words for which an exact law is solved first, to find a starting point.
_FIRST_WORDS = 256
# Groups of words with noise of their own: as words share noise, it is the number of
# noise vectors, and hardly that of words, that makes a share sure.
_TURNS = 20


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate_epsilon`.

    Attributes
    ----------
    epsilon : float
        The largest ε at which, with the confidence asked for, no more words stay
        unchanged than the target allows; exactly so where `exact`.
    interval : (float, float)
        The range of ε whose share differs from the target by no more than 1.96 standard
        errors: about 95 % confidence. 0 and inf are possible ends. Where `exact`, both
        ends are `epsilon`.
    share : float
        Share reached at `epsilon`, for the noise that was drawn, or exactly: beyond
        `target` by as many standard errors as the confidence takes.
    standard_error : float
        Monte-Carlo standard error of `share`, which accounts for the dependence between
        words; 0 where `exact`.
    target : float
    statistic : str
    n_words : int
        Number of different words that were counted.
    n_draws : int
        Noise vectors, or draws, per word; 0 where `exact`.
    counted : str
        Description of the words that the share refers to.
    exact : bool
        Whether the share follows from the mechanism's probabilities, without draws.
    """

    epsilon: float
    interval: tuple[float, float]
    share: float
    standard_error: float
    target: float
    statistic: str
    n_words: int
    n_draws: int
    counted: str
    exact: bool

    def __str__(self) -> str:
        how = "exactly, by the mechanism's probabilities"
        if not self.exact:
            low, high = self.interval
            how = (
                f"± {196 * self.standard_error:.1f} %, by {self.n_draws} draws a word; "
                f"{self.target:.0%} lies between ε = {low:.4g} and {high:.4g}"
            )
        change = "change" if self.statistic == "changed" else "stay unchanged"
        return (
            f"At ε = {self.epsilon:.4g}, {100 * self.share:.1f} % of words {change} "
            f"({how}). Counted: {self.counted}."
        )


def calibrate_epsilon(
    perturber: Any,
    target: float = 0.5,
    *,
    documents: Any = None,
    words: Iterable[str] | Mapping[str, float] | None = None,
    statistic: str = "unchanged",
    n_draws: int = 100,
    confidence: float = 0.95,
    random_state: Any = None,
    tuned_on: str = "private",
    verbose: int = 0,
) -> Calibration:
    """Find the ε at which a given share of the words of a text changes, or more.

    Compares mechanisms and embeddings at equal empirical privacy [1]_: equal ε means
    little where λ, the dimension or the scale of the vectors differ.

    Parameters
    ----------
    perturber : DPWordPerturber
        Or a pipeline or search that holds one, fitted or not. Its mechanism, λ,
        embedding and way of reading documents are used; its ε is not.
    target : float in (0, 1), default=0.5
        Target for the mean of N_w / n_draws over the words, or for its complement. At
        most this share stays unchanged, or at least this share changes.
    documents : iterable of str, of lists of str, or count matrix, default=None
        Public text of the kind to be released, as it reaches the perturber. Each word
        counts as often as it occurs. Recommended.
    words : iterable of str, or mapping of str to float, default=None
        Words of the embedding; each counts once, or as often as the mapping says, which
        may be a list of public word frequencies. If neither `documents` nor `words` are
        given, all words of the embedding count, with a warning.
    statistic : {"unchanged", "changed"}, default="unchanged"
        The share that `target` refers to.
    n_draws : int, default=100
        Noise vectors, or draws, per word; at least 2. Words take turns with twenty
        times as many noise vectors in all, and frequent ones meet most of them. Not
        used if the mechanism's probabilities are known exactly.
    confidence : float in [0.5, 1), default=0.95
        How sure it must be that the share is not missed to the unsafe side, for other
        noise than was drawn. 0.5: the best estimate, which misses in one of two cases.
        Not used if the probabilities are known exactly.
    random_state : None, int or numpy.random.Generator, default=None
        An int makes the result repeatable, and monotone in the target.
    tuned_on : {"private", "public", "released"}, default="private"
        Where `documents` or `words` come from. If they are private, ε depends on the
        protected documents: this is assumed, with a warning, unless they are declared
        public or released before. Not used if neither is given, since then only the
        public embedding is read.
    verbose : int, default=0
        Above 0, show progress bars on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    calibration : Calibration
        The ε, and how sure it is.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε reaches the target, with this confidence
        where it is estimated. Some words may stay
        unchanged under any noise; of several words with equal vectors only the first
        can stay; and some mechanisms accept no ε below a bound, which the message then
        gives.

    Warns
    -----
    CalibrationWarning
        If neither `documents` nor `words` are given: text consists of frequent words,
        and noise changes a different share of them than of the whole embedding.
    PrivacyLeakWarning
        If `documents` or `words` are given and not declared public or released.

    See Also
    --------
    skdptext.metrics.plausible_deniability : The same statistic, word by word.
    skdptext.metrics.words_changed_scorer : The share of changed words, as a score.

    Notes
    -----
    *What is counted.* The frequent words of a language often lie close together or
    close to the origin, where the same noise changes more of them, or fewer. An
    embedding of 30,000 words has 29,000 that a text hardly uses. So the share over the
    embedding says little about a text; the share over `documents` is what a release of
    such text changes.

    *Noise on vectors.* Along one noise direction a word stays unchanged above a certain
    ε, since its Voronoi cell is convex. That ε is computed for every word and draw, in
    one pass over the vocabulary (float32, relative error about 10⁻⁵). The share at any
    ε is the fraction of these values below it: monotone, with no search.
    Words that share noise depend on each other, so that more words do not replace more
    noise: they take turns, in twenty groups with noise of their own, which costs as
    much as one group. The standard error is computed from the shares of single draws,
    which are independent. At 100 draws it is some .003 to .005. Memory: n_words ×
    n_draws floats.

    *The safe side.* The share must be within the target by z standard errors, with z
    the quantile of the normal distribution at `confidence`: in 95 of 100 calibrations
    at least as many words change as were asked for, in others a little less. What one
    text comes to scatters around the share besides, the more the shorter it is.

    *Probabilities known exactly* (such as `~skdptext.mechanisms.Exponential`) need no
    draws: the share is the mean of Pr[w | w], and the ε that reaches the target is
    found in about ten evaluations. Where the mechanism itself searches for a rate given
    ε, the rate that reaches the target is found first, and ε is computed once.

    *Other mechanisms* draw the words at a series of ε between 1e-6 and 1e6, each time
    with the same draws, until the result is bracketed to a relative 1e-4. The share is
    assumed to grow with ε.

    *Privacy.* Only the public embedding and the given documents or words are read.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.model_selection import calibrate_epsilon
    >>> embedding = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, document_length=1)
    >>> chosen = calibrate_epsilon(
    ...     perturber, 0.9, documents=["aa bb", "bb, aa"], tuned_on="public")
    >>> print(f"{chosen.epsilon:.1f}")
    2.2
    >>> chosen.counted
    'the words of 2 documents, by their frequency'
    """
    source = _fitted(find_perturber(perturber))
    own = source.mechanism_at()
    target = check_real("target", target, low=0, high=1, open_low=True, open_high=True)
    check_option("statistic", statistic, ("unchanged", "changed"))
    n_draws = check_integer("n_draws", n_draws, low=2)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    check_integer("verbose", verbose, low=0)
    check_tuned_on(tuned_on)
    ids, weights, counted = _counted(source, documents, words)
    if documents is not None or words is not None:
        given = "words" if documents is None else "documents"
        warn_of_private_tuning(tuned_on, "ε is chosen by words", f"these {given}")
    streams = NoiseStreams(random_state, b"calibrate_epsilon")
    unchanged = target if statistic == "unchanged" else 1 - target
    exact = isinstance(own, TableMechanism)
    find: type[_Exact] | type[_Drawn] = (
        _Exact
        if exact
        else _Shared
        if type(own).apply is NoiseMechanism.apply
        else _Drawn
    )
    with progress_bar(verbose, "calibration") as bar, show_progress(verbose):
        shares = find(source, own, ids, weights, n_draws, streams, bar)
        epsilon = estimate = shares.reach(unchanged)
        if isinstance(shares, _Drawn) and estimate is not None:
            epsilon = shares.reach_surely(unchanged, estimate, confidence)
        if epsilon is None:
            low, high = shares.limits()
            if statistic == "changed":
                low, high = 1 - high, 1 - low
            refused = ""
            if estimate is not None:
                refused = (
                    f" Draws are too few to be sure of it with confidence "
                    f"{confidence:g}: give more."
                )
            raise InvalidParameterError(
                f"target must be a share that some epsilon reaches, between {low:.4g} "
                f"and {high:.4g} here, got {target:g}.{refused}"
            )
        reached, error = shares.at(epsilon)
        interval = (epsilon, epsilon)
        if isinstance(shares, _Drawn) and estimate is not None:
            interval = _interval(shares, unchanged, estimate)
    return Calibration(
        epsilon=epsilon,
        interval=interval,
        share=reached if statistic == "unchanged" else 1 - reached,
        standard_error=error,
        target=target,
        statistic=statistic,
        n_words=len(ids),
        n_draws=0 if exact else n_draws,
        counted=counted,
        exact=exact,
    )


def _fitted(perturber: DPWordPerturber) -> DPWordPerturber:
    """The perturber, or a fitted copy; nothing is released, so it warns of nothing."""
    if hasattr(perturber, "mechanism_"):
        return perturber
    with quiet(PrivacyLeakWarning):
        return clone(perturber).fit([])


def _frequencies(words: Mapping[str, Any]) -> np.ndarray:
    """How often each word counts."""
    rule = "the frequencies of words must be finite numbers > 0"
    for position, often in enumerate(words.values()):
        number = isinstance(often, Real) and not isinstance(often, bool | np.bool_)
        if not number or not 0 < often < np.inf:
            raise InvalidParameterError(
                f"{rule}, got {shown(often)} at position {position}."
            )
    return np.array(list(words.values()), dtype=np.float64)


def _counted(
    source: DPWordPerturber,
    documents: Any,
    words: Iterable[str] | Mapping[str, float] | None,
) -> tuple[np.ndarray, np.ndarray, str]:
    """Words, their weights, and a description of them."""
    embedding = source.embedding_
    if documents is None:
        ids = some_word_ids(words, embedding)
        if words is None:
            warn_once(
                "calibrate_epsilon counted each word of the embedding once. Text uses "
                "frequent words, and noise changes a different share of them: give "
                "documents=, public text of the kind to be released. If each word is "
                "to count once, give words=embedding.words.",
                CalibrationWarning,
            )
            return ids, np.ones(len(ids)), "every word of the embedding, once"
        each, said = np.ones(len(ids)), "the words given, once each"
        if isinstance(words, Mapping):
            each, said = _frequencies(words), "the words given, by their frequency"
        weights = np.bincount(ids, each)
        ids = np.flatnonzero(weights)
        return ids, weights[ids], said
    if words is not None:
        raise InvalidParameterError(
            "words must be None if documents are given: their words are counted."
        )
    reader = DocumentReader.of(source, embedding)
    read = reader.read(documents)
    codes, each = read.codes, np.ones(len(read.codes))
    if reader.sample_length is not None:
        # resampled to one length, so that each document counts equally
        lengths = np.diff(read.offsets)
        each = np.repeat(1 / np.maximum(lengths, 1), lengths)
    known = codes >= 0
    weights = np.bincount(codes[known], each[known], minlength=len(embedding))
    ids = np.flatnonzero(weights)
    if not len(ids):
        raise InvalidParameterError(
            "documents must hold at least one word of the embedding, got none."
        )
    plural = "" if len(read) == 1 else "s"
    said = f"the words of {len(read)} document{plural}, by their frequency"
    return ids, weights[ids], said


@dataclass
class _Shares:
    """Shares of unchanged words: what they are worked out from."""

    source: DPWordPerturber
    own: WordMechanism
    ids: np.ndarray
    weights: np.ndarray
    n_draws: int
    streams: NoiseStreams
    bar: Any

    def __post_init__(self) -> None:
        """What each kind prepares."""


class _Exact(_Shares):
    """By an exactly known distribution."""

    def __post_init__(self) -> None:
        own = self.own
        self.by_rate = isinstance(own, Exponential) and own.calibration == "exact"

    def at_rate(self, rate: float) -> Exponential:
        """The mechanism of a rate."""
        own: Any = self.own
        half = Exponential("half", own.max_distance)
        return half.prepare(own.embedding, 2 * rate, own.lam)

    def at(self, epsilon: float) -> tuple[float, float]:
        """Share at one ε, and its standard error."""
        mechanism: Any = self.source.mechanism_at(epsilon=epsilon)
        return self._share(mechanism, self.ids, self.weights), 0.0

    def _share(
        self, mechanism: TableMechanism, ids: np.ndarray, weights: np.ndarray
    ) -> float:
        stays = 0.0
        for rows, proba in probabilities(mechanism, ids):
            stays += weights[rows] @ proba[np.arange(len(proba)), ids[rows]]
            self.bar.update(len(proba))
        return float(stays / weights.sum())

    def _mechanism(self, scale: float) -> Any:
        """The mechanism of a rate, or else of an ε."""
        if self.by_rate:
            return self.at_rate(scale)
        return self.source.mechanism_at(epsilon=scale)

    def reach(self, share: float) -> float | None:
        """The ε that reaches a share; None if none does."""

        def excess_of(ids: np.ndarray, weights: np.ndarray) -> Callable[[float], float]:
            return lambda scale: (
                self._share(self._mechanism(scale), ids, weights) - share
            )

        # Some words give a starting point from which all words need few steps: drawn by
        # weight, at equal steps, so that the most frequent ones are among them. Of so
        # small a part, no mechanism prepares all words.
        upto = np.cumsum(self.weights)
        n_first = int(np.clip(len(upto) // 32, 32, _FIRST_WORDS))
        ticks = (np.arange(n_first) + 0.5) / n_first * upto[-1]
        drawn = np.minimum(upto.searchsorted(ticks), len(upto) - 1)
        distinct, times = np.unique(drawn, return_counts=True)
        excess = excess_of(self.ids[distinct], times)
        start = _root(excess, self.own.epsilon, 2.0, precision=1e-3)
        if start is None:
            start = self.own.epsilon
        scale = _root(excess_of(self.ids, self.weights), start, 1.02)
        if scale is None or not self.by_rate:
            return scale
        return self.at_rate(scale).attained

    def limits(self) -> tuple[float, float]:
        """The least and the largest share that some ε reaches."""
        low, high = (
            self._share(self._mechanism(scale), self.ids, self.weights)
            for scale in (_LOWEST, _HIGHEST)
        )
        return low, high


def _root(
    excess: Callable[[float], float],
    start: float,
    factor: float,
    precision: float = 1e-8,
) -> float | None:
    """The root of a rising function, searched from `start`; None if there is none."""
    known: dict[float, float] = {}

    def at(log_scale: float) -> float:
        if log_scale not in known:
            known[log_scale] = excess(float(np.exp(log_scale)))
        return known[log_scale]

    ends = np.log([_LOWEST, _HIGHEST])
    here = float(np.clip(np.log(start), *ends))
    step = np.log(factor) * (1 if at(here) < 0 else -1)
    while True:
        there = float(np.clip(here + step, *ends))
        if there == here:
            return None
        if np.sign(at(here)) * np.sign(at(there)) <= 0:
            break
        here, step = there, 2 * step
    low, high = sorted((here, there))
    return float(np.exp(brentq(at, low, high, xtol=precision)))


class _Drawn(_Shares):
    """For any mechanism: drawn at each ε, from one stream."""

    precision = 1e-4  # of ε, relative

    def __post_init__(self) -> None:
        #: What one draw of one word changes of the share, at most.
        self.step = float(self.weights.max() / self.weights.sum() / self.n_draws)
        self.known: dict[float, tuple[float, float]] = {}
        #: Where each group of words begins that have draws of their own.
        self.starts = np.array([0])

    def at(self, epsilon: float) -> tuple[float, float]:
        """Share at one ε, and its standard error: draws are independent."""
        if epsilon not in self.known:
            stays = self.weights[:, None] * self.stays(epsilon)
            by_draw = np.add.reduceat(stays, self.starts) / self.weights.sum()
            means, n = by_draw.mean(axis=1), self.n_draws
            gaps = (by_draw - means[:, None]).ravel()  # np.std takes ten times as long
            error = math.sqrt(gaps @ gaps / (n * (n - 1)))
            self.known[epsilon] = float(means.sum()), error
        return self.known[epsilon]

    def stays(self, epsilon: float) -> np.ndarray:
        """Whether each word, in each draw, comes out unchanged."""
        mechanism, rng = self.source.mechanism_at(epsilon=epsilon), self.streams
        stays = np.empty((len(self.ids), self.n_draws), dtype=bool)
        drawn = draw_words(mechanism, self.ids, self.n_draws, rng.open(b"noise"))
        for rows, noisy in drawn:
            stays[rows] = noisy == self.ids[rows][:, None]
            self.bar.update(len(noisy))
        return stays

    def reach(self, share: float) -> float | None:
        """The ε that reaches a share; None if none does."""
        share -= 1e-12  # of rounding
        low, high = self.range()
        if not self.at(low)[0] < share <= self.at(high)[0]:
            return None
        return bisect(
            lambda epsilon: self.at(epsilon)[0] >= share,
            high,
            low,
            precision=self.precision,
            geometric=True,
        )[0]

    def reach_surely(
        self, share: float, estimate: float, confidence: float
    ) -> float | None:
        """The largest ε whose share is below one for sure; None if none is.

        `estimate` is where the share itself is reached.
        """
        z = float(ndtri(confidence))
        if z == 0:
            return estimate

        def surely(epsilon: float) -> bool:
            mean, error = self.at(epsilon)
            return mean + z * error < share

        low = self.range()[0]
        if not surely(low):
            return None
        return bisect(surely, low, estimate, precision=self.precision, geometric=True)[
            0
        ]

    def limits(self) -> tuple[float, float]:
        """The least and the largest share that some ε reaches."""
        low, high = self.range()
        return self.at(low)[0], self.at(high)[0]

    def range(self) -> tuple[float, float]:
        """An ε below all those at which the share changes, and one above."""
        return _LOWEST, _HIGHEST


class _Shared(_Drawn):
    """Where words and all ε share their noise.

    Along one noise direction a word stays unchanged above a certain ε. A word of a
    small share of the text is in one group; of a large one, in several.
    """

    precision = 1e-9

    def __post_init__(self) -> None:
        shares = self.weights / self.weights.sum()
        times = np.clip(np.ceil(4 * _TURNS * shares), 1, _TURNS).astype(np.int64)
        # the groups of a word are different ones, and each has frequent words and rare
        entries = np.repeat(np.argsort(-shares, kind="stable"), np.sort(times)[::-1])
        turns = np.arange(len(entries)) % _TURNS
        order = np.argsort(turns, kind="stable")
        entries = entries[order]
        self.ids, self.weights = self.ids[entries], (self.weights / times)[entries]
        super().__post_init__()
        ends = np.bincount(turns).cumsum()
        self.starts = np.append(0, ends[:-1])
        self.least = np.empty((len(self.ids), self.n_draws), dtype=np.float32)
        rng = self.streams.open(b"noise")
        for group in map(slice, self.starts, ends):
            noise = shared_noise(self.own, rng, self.n_draws)
            assert noise is not None
            least = self.least[group]
            for rows, part in noise.critical_scales(self.ids[group]):
                least[rows] = part
                self.bar.update(len(part))
        self.steps = np.sort(self.least, axis=None)
        self.by_step: dict[int, tuple[float, float]] = {}

    def at(self, epsilon: float) -> tuple[float, float]:
        """The same between two of the ε at which a word stays: worked out once."""
        n_staying = int(self.steps.searchsorted(np.float32(epsilon), side="right"))
        if n_staying not in self.by_step:
            self.by_step[n_staying] = super().at(epsilon)
        return self.by_step[n_staying]

    def stays(self, epsilon: float) -> np.ndarray:
        return self.least <= epsilon

    def range(self) -> tuple[float, float]:
        finite = self.least[(self.least > 0) & (self.least < np.inf)]
        if not len(finite):
            return super().range()
        return float(finite.min() / 2), float(finite.max() * 2)


def _interval(shares: _Drawn, target: float, epsilon: float) -> tuple[float, float]:
    """The ε around the estimate with shares within 1.96 errors of the target."""

    def agrees(at: float) -> bool:
        mean, error = shares.at(at)
        return abs(mean - target) <= 1.96 * error + shares.step

    low, high = shares.range()
    ends = []
    for limit, beyond in ((low, 0.0), (high, np.inf)):
        if agrees(limit):
            ends.append(beyond)
            continue
        inside, _ = bisect(
            agrees, epsilon, limit, precision=shares.precision, geometric=True
        )
        ends.append(inside)
    return ends[0], ends[1]
