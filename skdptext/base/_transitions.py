"""What each word is released as, and how often, by the public mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from skdptext.base._log_bilinear import LogBilinear
from skdptext.base._simulated import SimulatedReleases
from skdptext.base._smoothing import choose_smoothing
from skdptext.documents import some_word_ids
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import WordChannel, law_fingerprint, probabilities
from skdptext.utils import (
    Memo,
    as_array,
    blocks,
    check_bags,
    check_integer,
    check_noise_state,
    check_prior,
    check_real,
    check_rng,
    progress_bar,
    warn_once,
    working_memory_bytes,
)

# Held-out draws that choose the smoothing, and those that statistics are computed from.
_N_TRIED, _N_TEST = 5000, 20_000
# Stands in for probabilities of a known law that are too small for float32.
_LEAST = 1e-35
# Share of the draws that is spread evenly over all words, so that rare ones are drawn.
_EVEN = 0.1
_BITS = np.log(2)
# With fewer words, draws are enough.
_FEW_WORDS = 500
# With fewer columns, a row is added sooner by NumPy's loop than by Python's.
_FEW_COLUMNS = 64
# Rounds of Blahut and Arimoto's iteration.
_MAX_ROUNDS = 10_000

# The latest result, by everything that it depends on; it may fill working_memory.
_memo: Memo[WordTransitions] = Memo(1)


class Estimate(NamedTuple):
    """A number and its Monte-Carlo standard error, 0 where it is exact."""

    value: float
    standard_error: float


class WordTransitions:
    r"""Pr[z | w], from `word_transitions`: what a word is released as, and how often.

    Attributes
    ----------
    words : ndarray of str objects, shape (n_words,)
        The words w that may have been written.
    released : ndarray of str objects, shape (n_released,)
        Every word z that may be released: the words of the embedding.
    prior : ndarray of shape (n_words,)
        How frequent the words are; sums to 1.
    proba : ndarray of shape (n_words, n_released), float32
        Pr[z | w]; rows sum to 1. With very few draws, words that none of them reaches
        have rows of 0.
    method : {"exact", "posterior", "counts"}
        How Pr[z | w] was found: the distribution is known in full; the exact posteriors
        of noisy vectors were averaged; or draws were counted.
    n_draws : int
        Simulated draws per word, on average; 0 if the distribution is known.
    smoothing, self_smoothing : float
        Pseudo-counts, in draws, that `posterior` and `profiles` add to each transition
        of an estimate, and to the transition of a word to itself; chosen on further
        draws.
    form_smoothing : float
        Pseudo-count, in draws, that they add to each word as a log-bilinear form of
        the transitions distributes them; see `word_transitions`. Also chosen on further
        draws; 0 for fewer than 500 words.

    Notes
    -----
    *Privacy.* All of this follows from public things: embedding, mechanism, ε and λ. It
    is what an adversary starts from.
    """

    def __init__(
        self,
        simulated: SimulatedReleases,
        by_released: np.ndarray,
        n_draws: int,
        method: str,
        seed: Any,
    ) -> None:
        self._simulated = simulated
        self._by_released = by_released  # row z, column w
        channel = simulated.channel
        self.released = channel.embedding.word_array
        self.words = channel.embedding.word_array[simulated.ids]
        self.prior = simulated.prior
        self.n_draws = n_draws
        self.method = method
        self._seed = seed

    @property
    def proba(self) -> np.ndarray:
        """Pr[z | w], shape (n_words, n_released)."""
        return self._by_released.T

    @property
    def smoothing(self) -> float:
        """Draws added to each transition."""
        return self._smoothing[0]

    @property
    def self_smoothing(self) -> float:
        """Draws added to the transition of a word to itself."""
        return self._smoothing[1]

    @property
    def form_smoothing(self) -> float:
        """Draws added to each word, as the log-bilinear form distributes them."""
        return self._smoothing[2]

    @cached_property
    def _smoothing(self) -> tuple[float, float, float]:
        if self.method == "exact":
            return 0.0, 0.0, 0.0
        w, z = self._pairs
        drawn = self._by_released[z, w]
        totals = np.concatenate(
            [self._by_released[z[part]] @ self.prior for part in blocks(len(z), 512)]
        )
        form = None
        if self._form is not None:
            chance, mean = np.empty(len(z)), np.empty(len(z))
            for part in blocks(len(z), 512):
                rows = self._form(z[part])
                chance[part] = rows[np.arange(len(rows)), w[part]]
                mean[part] = rows @ self.prior
            form = chance, mean
        ids = self._simulated.ids
        p_released = np.zeros(len(self.released))
        p_released[ids] = self.prior
        return choose_smoothing(
            drawn * self.n_draws,
            totals * self.n_draws,
            ids[w] == z,
            p_released[z],
            form,
        )

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Words and what they were released as, in further draws."""
        pairs = [(w, z) for w, z, _ in self._test_draws(_N_TRIED)]
        written, released = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return written, released

    @cached_property
    def _form(self) -> LogBilinear | None:
        """A form with few parameters; None where draws are enough."""
        channel, ids = self._simulated.channel, self._simulated.ids
        n_possible = np.count_nonzero(self.prior)
        if len(ids) < _FEW_WORDS or n_possible < 2:
            return None
        points = channel.embedding.vectors.astype(np.float64)
        metric = channel.law().metric
        if metric is not None:
            points = metric.whiten(points - points.mean(axis=0))
        return LogBilinear(points, ids, self.prior, self._by_released)

    def _test_draws(self, n: int) -> Any:
        return self._simulated.draw(np.random.default_rng([self._seed, 1]), n)

    def _blocks(self) -> Iterator[slice]:
        """Blocks of the released words, for several float64 arrays over all words."""
        n_rows = working_memory_bytes() // (16 * 8 * len(self.words))
        return blocks(len(self.released), max(1, n_rows))

    # -- posteriors and profiles -----------------------------------------------

    def counts(
        self, released: np.ndarray, smoothing: float | None = None
    ) -> np.ndarray:
        """Smoothed likelihood of every word, as draws per word.

        Parameters
        ----------
        released : ndarray of int, shape (n,)
            Columns of `proba`.
        smoothing : float > 0, default=None
            Draws added to each count; None: `smoothing`, `self_smoothing` and
            `form_smoothing`.

        Returns
        -------
        counts : ndarray of shape (n, n_words), float64
            Proportional to Pr[z | w] in each row.
        """
        columns = as_array(released, "released must be columns of proba")
        counts = self._by_released[columns].astype(np.float64)
        if self.method == "exact":
            return np.maximum(counts, _LEAST)
        counts *= self.n_draws
        counts += self.smoothing if smoothing is None else smoothing
        if smoothing is None:
            ids = self._simulated.ids
            counts += self.self_smoothing * np.equal.outer(released, ids)
            if self.form_smoothing:
                assert self._form is not None
                counts += self.form_smoothing * self._form(released)
        return counts

    @property
    def _total(self) -> float:
        """What `counts` of a word add up to over all that may be released."""
        if self.method == "exact":
            return 1.0
        a, b, c = self._smoothing
        return self.n_draws + a * len(self.released) + b + c

    def log_proba(self, released: np.ndarray) -> np.ndarray:
        """Take the logarithm of Pr[z | w] of every word, smoothed as `counts` are.

        Parameters
        ----------
        released : ndarray of int, shape (n,)
            Columns of `proba`.

        Returns
        -------
        log_proba : ndarray of shape (n, n_words), float64
            A row for each z.
        """
        return np.log(self.counts(released) / self._total)

    def posterior(self, released: Iterable[str]) -> np.ndarray:
        """Pr[w | z]: what a released word says about the written one.

        Parameters
        ----------
        released : iterable of str
            Some of `released`.

        Returns
        -------
        posterior : ndarray of shape (n, n_words)
            Over `words`, from their `prior`.
        """
        ids = some_word_ids(released, self._simulated.channel.embedding)
        return self._posterior(ids)

    def _posterior(self, ids: np.ndarray) -> np.ndarray:
        joint = self.counts(ids) * self.prior
        return joint / joint.sum(axis=1, keepdims=True)

    def profiles(self, profiles: Any) -> np.ndarray:
        """Word frequencies after the noise, Σ_w p(w) Pr[z | w].

        Parameters
        ----------
        profiles : array or sparse array of shape (n_profiles, n_words)
            Word frequencies; rows sum to 1.

        Returns
        -------
        released : ndarray of shape (n_profiles, n_released), float32
            All above 0.
        """
        n_profiles = profiles.shape[0]
        released = np.empty((n_profiles, len(self.released)), dtype=np.float32)
        for rows in self._blocks():
            released[:, rows] = profiles @ self._by_released[rows].T
        if self.method == "exact":
            return np.maximum(released, np.float32(_LEAST))
        a, b, c = self._smoothing
        released *= self.n_draws
        released += a
        if b:
            released[:, self._simulated.ids] += b * (
                profiles.toarray() if sp.issparse(profiles) else profiles
            )
        if c:
            assert self._form is not None
            # float32: a block of the form is as large as one of the transitions
            for rows in self._blocks():
                part = self._form(np.arange(rows.start, rows.stop))
                released[:, rows] += c * (profiles @ part.T)
        released /= self._total
        return released

    def unmixed(self, profiles: np.ndarray, released: np.ndarray) -> np.ndarray:
        """One step of expectation maximization: profiles that explain a release better.

        Parameters
        ----------
        profiles : ndarray of shape (n_profiles, n_words)
            Current guess of the word frequencies; rows sum to 1.
        released : ndarray of shape (n_profiles, n_released)
            Counts of released words.

        Returns
        -------
        profiles : ndarray of shape (n_profiles, n_words)
            Never less likely than the given ones. Rows sum to 1; rows without any
            released word are 0.
        """
        counts = as_array(released, "released must be counts of words")
        ratio = counts / self.profiles(profiles)
        written = np.zeros(profiles.shape)
        for rows in self._blocks():
            written += ratio[:, rows] @ self._by_released[rows]
        written *= profiles
        totals = written.sum(axis=1, keepdims=True)
        return written / np.where(totals > 0, totals, 1)

    # -- statistics ------------------------------------------------------------

    def expected_unchanged(self, n_draws: int = 100) -> np.ndarray:
        """Expected N_w: how often a word comes out unchanged in `n_draws` draws.

        Parameters
        ----------
        n_draws : int
            How many draws of each word.

        Returns
        -------
        expected : ndarray of shape (n_words,)
            One for each word.
        """
        n_draws = check_integer("n_draws", n_draws, low=1)
        ids = self._simulated.ids
        return n_draws * self._by_released[ids, np.arange(len(ids))].astype(np.float64)

    def expected_distinct(self, n_draws: int = 100) -> np.ndarray:
        """Expected S_w: how many different words it becomes in `n_draws` draws.

        Parameters
        ----------
        n_draws : int
            How many draws of each word.

        Returns
        -------
        expected : ndarray of shape (n_words,)
            Σ_z 1 − (1 − Pr[z | w])^n_draws.
        """
        n_draws = check_integer("n_draws", n_draws, low=1)
        expected = np.zeros(len(self.words))
        for rows in self._blocks():
            law = self._by_released[rows].astype(np.float64)
            expected += expected_distinct(law, n_draws, axis=0)
        return expected

    def vulnerability(self, k: int = 1) -> Estimate:
        """How often the written word is among the `k` most likely ones.

        For ``k=1`` this is the Bayes vulnerability [1]_: how often the best guess from
        one released word is right.

        Parameters
        ----------
        k : int >= 1, default=1
            How many of the likeliest count.

        Returns
        -------
        vulnerability : Estimate
            For estimated probabilities: how often the guesses of this estimate are
            right on further draws, in expectation a lower bound on the optimum.

        References
        ----------
        .. [1] M. S. Alvim et al. (2020). The science of quantitative information flow.
        """
        k = check_integer("k", k, low=1, high=len(self.words))
        return self._means(partial(_hits, k))[0]

    def log_loss(self) -> Estimate:
        """Count the bits that an adversary lacks about the written word.

        Returns
        -------
        bits : Estimate
            Mean of −log₂ of the posterior probability of the written word. For a known
            distribution this is the entropy H(W | Z). For an estimate it is no less, in
            expectation: part of it is then the error of the estimate, not the work of
            the noise.
        """
        return self._means(_lost)[0]

    def _means(
        self, *statistics: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> list[Estimate]:
        """Means, over the same releases, of statistics of posterior and truth."""
        if self.method == "exact":
            totals = np.zeros(len(statistics))
            for rows in self._blocks():
                joint = self._by_released[rows] * self.prior
                mass = joint.sum(axis=1)
                seen = mass > 0  # where the law is known, the posterior is the truth
                posterior = joint[seen] / mass[seen, None]
                totals += [mass[seen] @ of(posterior, posterior) for of in statistics]
            return [Estimate(total, 0.0) for total in totals.tolist()]
        parts = []
        for written, released, posterior in self._test_draws(_N_TEST):
            if posterior is None:
                posterior = np.zeros((len(written), len(self.words)))
                posterior[np.arange(len(written)), written] = 1.0
            guess = self._posterior(released)
            parts.append([of(guess, posterior) for of in statistics])
        estimates = []
        for values in map(np.concatenate, zip(*parts, strict=True)):
            error = values.std(ddof=1) / np.sqrt(len(values))
            estimates.append(Estimate(float(values.mean()), float(error)))
        return estimates

    def capacity(self, tolerance: float = 1e-3) -> float:
        """The most bits that one released word can reveal about the written one.

        The largest mutual information over all priors, by Blahut and Arimoto [1]_.

        Parameters
        ----------
        tolerance : float > 0, default=1e-3
            In bits; the iteration stops when its bounds are this close, or after 10,000
            rounds.

        Returns
        -------
        capacity : float
            That of `proba` as it is; with few draws it is too large.

        Raises
        ------
        InvalidParameterError
            If `tolerance` is not a finite number > 0.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If 10,000 rounds do not reach `tolerance`; the result is then a lower bound.

        References
        ----------
        .. [1] R. Blahut (1972). Computation of channel capacity and rate-distortion
           functions. IEEE Transactions on Information Theory 18.
        """
        tolerance = check_real("tolerance", tolerance, low=0, open_low=True)
        inner = np.zeros(len(self.words))  # Σ_z P ln P
        for rows in self._blocks():
            p = self._by_released[rows].astype(np.float64)
            inner += (p * np.log(np.maximum(p, 1e-300))).sum(axis=0)
        prior = np.full(len(self.words), 1 / len(self.words))
        for _ in range(_MAX_ROUNDS):
            # D(Pr[· | w] ‖ q) of each word, with q the releases under this prior. Then
            # ln Σ π(w) e^D ≤ capacity ≤ max D, and π e^D, scaled, is a better prior.
            gain = inner.copy()
            for rows in self._blocks():
                p = self._by_released[rows].astype(np.float64)
                gain -= np.log(np.maximum(p @ prior, 1e-300)) @ p
            low, high = np.log(prior @ np.exp(gain)), gain.max()
            if high - low < tolerance * _BITS:
                break
            prior *= np.exp(gain - low)
            prior /= prior.sum()
        else:
            warn_once(
                f"capacity stopped after {_MAX_ROUNDS} rounds with bounds "
                f"{(high - low) / _BITS:.2g} bits apart, more than the tolerance of "
                f"{tolerance:g}.",
                ConvergenceWarning,
            )
        return float(low / _BITS)

    def summary(self, n_draws: int = 100) -> dict[str, Estimate]:
        """The statistics, averaged over `words`.

        Parameters
        ----------
        n_draws : int, default=100
            Draws that N_w and S_w count.

        Returns
        -------
        summary : dict of str to Estimate
            ``n_unchanged`` and ``n_distinct``, unweighted means over the words;
            ``vulnerability``, ``vulnerability_top_10``, ``log_loss``.
        """
        unchanged = float(self.expected_unchanged(n_draws).mean())
        distinct = float(self.expected_distinct(n_draws).mean())
        errors = (0.0, 0.0) if self.method == "exact" else self._errors(n_draws)
        top = partial(_hits, 1), partial(_hits, min(10, len(self.words)))
        first, ten, bits = self._means(*top, _lost)
        return {
            "n_unchanged": Estimate(unchanged, errors[0]),
            "n_distinct": Estimate(distinct, errors[1]),
            "vulnerability": first,
            "vulnerability_top_10": ten,
            "log_loss": bits,
        }

    def _errors(self, n_draws: int) -> tuple[float, float]:
        """Standard errors of both means, from how much a single draw moves them.

        The simulation draws the words evenly, so the true errors are smaller.
        """
        n_words = len(self.words)
        even = np.full(n_words, 1 / n_words)
        simulated = SimulatedReleases(
            self._simulated.channel, self._simulated.ids, even
        )
        own = {z: w for w, z in enumerate(self._simulated.ids.tolist())}
        # Of evenly drawn words both means are means over draws: a draw that ends at z
        # moves Pr[z | w] by its posterior, N_w by n times as much at z = w, and S_w, to
        # first order, by the slope n (1 − p)ⁿ⁻¹ of 1 − (1 − p)ⁿ times as much.
        moves = []
        rng = np.random.default_rng([self._seed, 2])
        for written, released, posterior in simulated.draw(rng, _N_TRIED):
            for i, (w, z) in enumerate(zip(written, released, strict=True)):
                share = np.eye(1, n_words, w)[0] if posterior is None else posterior[i]
                slope = n_draws * (1 - self._by_released[z]) ** (n_draws - 1)
                stays = share[own[z]] if z in own else 0.0
                moves.append((n_draws * stays, float(share @ slope)))
        spread = np.std(moves, axis=0, ddof=1) / np.sqrt(self.n_draws * n_words)
        return float(spread[0]), float(spread[1])

    def __repr__(self) -> str:
        how = "" if self.method == "exact" else f", n_draws={self.n_draws}"
        return (
            f"WordTransitions({len(self.words)} words to {len(self.released)}, "
            f"{self.method}{how})"
        )


def _hits(k: int, posterior: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What the truth says of the `k` most likely words together."""
    top = np.argpartition(-posterior, k - 1, axis=1)[:, :k]
    return np.take_along_axis(truth, top, axis=1).sum(axis=1)


def _lost(posterior: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The bits that the posterior lacks of the truth."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(truth > 0, truth * np.log2(posterior), 0.0)
    return -bits.sum(axis=1)


def transitions_of(
    channel: WordChannel,
    prior: Any = None,
    *,
    words: Iterable[str] | None = None,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> WordTransitions:
    """Pr[z | w] of a channel; see `skdptext.metrics.word_transitions`."""
    embedding = channel.embedding
    ids = some_word_ids(words, embedding).astype(np.intp)
    if len(np.unique(ids)) < len(ids):
        raise InvalidParameterError(
            f"words must differ, got {len(ids)} with {len(np.unique(ids))} different."
        )
    p = check_prior(prior, len(ids), "word of the embedding", zeros=True)
    n_draws = check_integer("n_draws", n_draws, low=1)
    check_integer("verbose", verbose, low=0)
    random_state = check_noise_state(random_state)  # no SecretSeed: it hides its value
    n_released = len(channel.embedding)
    needed = 4 * len(ids) * n_released
    if needed > working_memory_bytes():
        raise InvalidParameterError(
            f"words must be few enough: 4 bytes for each of these {len(ids)} words and "
            f"each of the {n_released} words that may come out must fit into "
            f"working_memory, {working_memory_bytes()} bytes, got {needed} bytes. Give "
            "fewer words, or more memory with sklearn.set_config(working_memory=...)."
        )

    def make() -> WordTransitions:
        rng = check_rng(random_state)
        simulated = SimulatedReleases(channel, ids, p)
        seed = int(rng.integers(2**63))
        if channel.law().log_proba is not None:
            law = np.empty((n_released, len(ids)), dtype=np.float32)
            for rows, part in probabilities(channel, ids):
                law[:, rows] = part.T
            return WordTransitions(simulated, law, 0, "exact", seed)
        law = _simulate(channel, ids, p, None, n_draws, rng, verbose)
        method = "posterior" if simulated.has_density else "counts"
        return WordTransitions(simulated, law, n_draws, method, seed)

    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return make()
    given = channel.mechanism, embedding, channel.epsilon, channel.lam
    key = law_fingerprint(*given), channel.fingerprint, ids.tobytes(), p.tobytes()
    return _memo.get((*key, n_draws, random_state), make)


def profiles_of(
    channel: WordChannel,
    profiles: Any,
    *,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> np.ndarray:
    """Σ_w p(w) Pr[z | w] of profiles; see `skdptext.metrics.released_profiles`."""
    embedding = channel.embedding
    weights = check_bags(profiles, n_words=len(embedding), name="profiles")
    totals = np.asarray(weights.sum(axis=1)).ravel()
    if not len(totals) or (totals == 0).any():
        raise InvalidParameterError(
            "profiles must hold at least one row, and a word in every row, got "
            f"{int((totals == 0).sum())} of {len(totals)} rows without any."
        )
    weights = normalize(weights, norm="l1")
    frequency = np.asarray(weights.mean(axis=0)).ravel()
    ids = np.flatnonzero(frequency)
    weights = weights[:, ids]
    n_released = len(channel.embedding)
    if 4 * len(ids) * n_released <= working_memory_bytes():
        transitions = transitions_of(
            channel,
            frequency[ids],
            words=embedding.word_array[ids].tolist(),
            n_draws=n_draws,
            random_state=random_state,
            verbose=verbose,
        )
        return transitions.profiles(weights)
    n_draws = check_integer("n_draws", n_draws, low=1)
    rng = check_rng(random_state)
    if channel.law().log_proba is not None:
        released = np.zeros((len(totals), n_released), dtype=np.float32)
        for rows, part in probabilities(channel, ids):
            released += weights[:, rows] @ part
        return np.maximum(released, np.float32(_LEAST))
    prior = frequency[ids]
    by_released = _simulate(channel, ids, prior, weights, n_draws, rng, verbose)
    # one draw per word is spread evenly over all released words
    return (n_draws * by_released.T + 1 / n_released) / (n_draws + 1)


def expected_distinct(law: np.ndarray, n_draws: int, axis: int) -> np.ndarray:
    """Expected S_w, Σ_z 1 − (1 − Pr[z | w])ⁿ, along the axis of z; overwrites `law`."""
    np.minimum(law, 1, out=law)  # of rounding
    # by log1p and expm1: 1 − (1 − p)ⁿ itself cancels where p is small
    with np.errstate(divide="ignore"):  # ln 0, for a word that is certain
        misses = np.log1p(-law, out=law)
    misses *= n_draws
    return -np.expm1(misses, out=misses).sum(axis=axis)


def _simulate(
    channel: WordChannel,
    ids: np.ndarray,
    prior: np.ndarray,
    profiles: Any,
    n_draws: int,
    rng: np.random.Generator,
    verbose: int,
) -> np.ndarray:
    """Pr[z | w] of words, or of profiles of words; a row per word of the embedding."""
    proposal = (1 - _EVEN) * prior + _EVEN / len(ids)
    simulated = SimulatedReleases(channel, ids, proposal)
    n = n_draws * len(ids)
    n_columns = len(ids) if profiles is None else profiles.shape[0]
    by_released = np.zeros((len(channel.embedding), n_columns), dtype=np.float32)
    # Under the proposal q the posteriors of draws that end at z have the expected sum
    # n q(w) Pr[z | w]; so this weight makes them an unbiased estimate of Pr[z | w].
    weight = (1 / (n * proposal)).astype(np.float32)
    with progress_bar(verbose, "draws", total=n, unit="draw") as progress:
        for written, released, posterior in simulated.draw(rng, n, even=True):
            if posterior is None:
                if profiles is None:
                    np.add.at(by_released, (released, written), weight[written])
                else:
                    shares = profiles[:, written] * weight[written]
                    np.add.at(by_released, released, shares.toarray().T)
            else:
                posterior *= weight
                shares = posterior if profiles is None else (profiles @ posterior.T).T
                if n_columns < _FEW_COLUMNS:
                    np.add.at(by_released, released, shares)
                else:
                    for z, row in zip(released, shares, strict=True):
                        by_released[z] += row
            progress.update(len(written))
    totals = by_released.sum(axis=0, dtype=np.float64)
    # with very few draws, a word that none of them reaches has a column of zeros
    by_released /= np.where(totals > 0, totals, 1)
    return by_released
