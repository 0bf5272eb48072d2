"""What each word is released as, and how often, by the public mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from skdptext.base._simulated import SimulatedReleases
from skdptext.base._smoothing import choose_smoothing
from skdptext.documents import some_word_ids
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import TableMechanism, WordMechanism, probabilities
from skdptext.utils import (
    Memo,
    as_array,
    blocks,
    check_bags,
    check_integer,
    check_noise_state,
    check_prior,
    check_rng,
    progress_bar,
    working_memory_bytes,
)

# Held-out draws that choose the smoothing, and those that guesses are tried on.
_N_TRIED, _N_TEST = 5000, 20_000
# Stands in for probabilities of a known law that are too small for float32.
_LEAST = 1e-35
# Share of the draws that is spread evenly over all words, so that rare ones are drawn.
_EVEN = 0.1
# With fewer columns, a row is added sooner by NumPy's loop than by Python's.
_FEW_COLUMNS = 64

# The latest result, by everything that it depends on; it may fill working_memory.
_memo: Memo[WordTransitions] = Memo(1)


class WordTransitions:
    r"""Pr[z | w], from `transitions_of`: what a word is released as, and how often.

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
        mechanism = simulated.mechanism
        self.released = mechanism.embedding.word_array
        self.words = mechanism.embedding.word_array[simulated.ids]
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

    @cached_property
    def _smoothing(self) -> tuple[float, float]:
        if self.method == "exact":
            return 0.0, 0.0
        w, z = self._pairs()
        totals = np.concatenate(
            [self._by_released[z[part]] @ self.prior for part in blocks(len(z), 512)]
        )
        ids = self._simulated.ids
        p_released = np.zeros(len(self.released))
        p_released[ids] = self.prior
        return choose_smoothing(
            self._by_released[z, w] * self.n_draws,
            totals * self.n_draws,
            ids[w] == z,
            p_released[z],
        )

    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Words and what they were released as, in further draws."""
        rng = np.random.default_rng([self._seed, 1])
        pairs = [(w, z) for w, z, _ in self._simulated.draw(rng, _N_TRIED)]
        written, released = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return written, released

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
            Draws added to each count; None: `smoothing` and `self_smoothing`.

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
            own = np.equal.outer(released, self._simulated.ids)
            counts += self.self_smoothing * own
        return counts

    @property
    def _total(self) -> float:
        """What `counts` of a word add up to over all that may be released."""
        if self.method == "exact":
            return 1.0
        a, b = self._smoothing
        return self.n_draws + a * len(self.released) + b

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
        ids = some_word_ids(released, self._simulated.mechanism.embedding)
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
        a, b = self._smoothing
        released *= self.n_draws
        released += a
        if b:
            released[:, self._simulated.ids] += b * (
                profiles.toarray() if sp.issparse(profiles) else profiles
            )
        released /= self._total
        return released

    def vulnerability(self, k: int = 1) -> float:
        """How often the written word is among the `k` most likely ones.

        For ``k=1`` this is the Bayes vulnerability [1]_: how often the best guess from
        one released word is right.

        Parameters
        ----------
        k : int >= 1, default=1
            How many of the likeliest count.

        Returns
        -------
        vulnerability : float
            For estimated probabilities: how often the guesses of this estimate are
            right on further draws, in expectation a lower bound on the optimum.

        References
        ----------
        .. [1] M. S. Alvim et al. (2020). The science of quantitative information flow.
        """
        k = check_integer("k", k, low=1, high=len(self.words))
        if self.method == "exact":
            found = 0.0
            for rows in self._blocks():
                joint = self._by_released[rows] * self.prior
                found += float(np.partition(joint, -k, axis=1)[:, -k:].sum())
            return found
        hits, rng = 0.0, np.random.default_rng([self._seed, 2])
        for written, released, posterior in self._simulated.draw(rng, _N_TEST):
            guess = self.counts(released) * self.prior
            top = np.argpartition(-guess, k - 1, axis=1)[:, :k]
            if posterior is None:
                hits += float((top == written[:, None]).sum())
            else:  # all that the noisy vectors say of the written words
                hits += float(np.take_along_axis(posterior, top, axis=1).sum())
        return hits / _N_TEST

    def __repr__(self) -> str:
        how = "" if self.method == "exact" else f", n_draws={self.n_draws}"
        return (
            f"WordTransitions({len(self.words)} words to {len(self.released)}, "
            f"{self.method}{how})"
        )


def transitions_of(
    mechanism: WordMechanism,
    prior: Any = None,
    *,
    words: Iterable[str] | None = None,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> WordTransitions:
    r"""How likely a mechanism releases each word as each other one: Pr[z | w].

    Parameters
    ----------
    mechanism : WordMechanism
        The prepared mechanism.
    prior : array-like of shape (n_words,), default=None
        How frequent the words are, in any unit, from public text: one number for each
        of `words` if given, else for each word of the embedding. None: a uniform prior.
    words : iterable of str, default=None
        The words that may have been written; None: all of the embedding. Time and
        memory are proportional to their number.
    n_draws : int, default=100
        Simulated draws per word, on average, if the distribution is not known in full.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the simulation, which is not secret. The result for equal arguments is
        reused, except with a Generator.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    transitions : WordTransitions
        The transition probabilities, or an estimate of them.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the result does not fit into scikit-learn's
        ``working_memory``: it takes 4 bytes for each pair of one of `words` and a word
        of the embedding. `profiles_of` does without.

    Notes
    -----
    *Method.* Finite mechanisms state their probabilities (``log_proba``). For noise
    with a known density, draw w from the prior and v = φ(w) + Z; the word nearest to v
    is z. The posterior of a word given v is exact,

    .. math::

        \Pr[w' \mid v] \propto π(w')\, e^{-ε ‖v - φ(w')‖_{RM}} ,

    and its mean over the draws that end at z is Pr[w' | z]. So each draw informs about
    all words, where a count informs about one: transitions that are never drawn get a
    probability, too. The estimate of Pr[z, w'] is unbiased; it is divided by that of
    Pr[w']. For all other mechanisms, draws are counted.
    """
    embedding = mechanism.embedding
    ids = some_word_ids(words, embedding).astype(np.intp)
    if len(np.unique(ids)) < len(ids):
        raise InvalidParameterError(
            f"words must differ, got {len(ids)} with {len(np.unique(ids))} different."
        )
    p = check_prior(prior, len(ids), "word of the embedding", zeros=True)
    n_draws = check_integer("n_draws", n_draws, low=1)
    check_integer("verbose", verbose, low=0)
    random_state = check_noise_state(random_state)  # no SecretSeed: it hides its value
    n_released = len(mechanism.embedding)
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
        simulated = SimulatedReleases(mechanism, ids, p)
        seed = int(rng.integers(2**63))
        if isinstance(mechanism, TableMechanism):
            law = np.empty((n_released, len(ids)), dtype=np.float32)
            for rows, part in probabilities(mechanism, ids):
                law[:, rows] = part.T
            return WordTransitions(simulated, law, 0, "exact", seed)
        law = _simulate(mechanism, ids, p, None, n_draws, rng, verbose)
        method = "posterior" if simulated.has_density else "counts"
        return WordTransitions(simulated, law, n_draws, method, seed)

    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return make()
    key = mechanism.fingerprint, ids.tobytes(), p.tobytes()
    return _memo.get((*key, n_draws, random_state), make)


def profiles_of(
    mechanism: WordMechanism,
    profiles: Any,
    *,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> np.ndarray:
    """Word frequencies after the noise: Σ_w p(w) Pr[z | w] for each profile p.

    `profiles`, of shape (n_profiles, n_words), are word weights of documents or
    classes; each row is divided by its sum. Words that none holds take no time. If the
    transitions of the others fit into ``working_memory``, they come from
    `transitions_of`, and are kept for the next call. Otherwise they are summed by
    profile as they are drawn. All frequencies are above 0.
    """
    embedding = mechanism.embedding
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
    n_released = len(mechanism.embedding)
    if 4 * len(ids) * n_released <= working_memory_bytes():
        transitions = transitions_of(
            mechanism,
            frequency[ids],
            words=embedding.word_array[ids].tolist(),
            n_draws=n_draws,
            random_state=random_state,
            verbose=verbose,
        )
        return transitions.profiles(weights)
    n_draws = check_integer("n_draws", n_draws, low=1)
    rng = check_rng(random_state)
    if isinstance(mechanism, TableMechanism):
        released = np.zeros((len(totals), n_released), dtype=np.float32)
        for rows, part in probabilities(mechanism, ids):
            released += weights[:, rows] @ part
        return np.maximum(released, np.float32(_LEAST))
    prior = frequency[ids]
    by_released = _simulate(mechanism, ids, prior, weights, n_draws, rng, verbose)
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
    mechanism: WordMechanism,
    ids: np.ndarray,
    prior: np.ndarray,
    profiles: Any,
    n_draws: int,
    rng: np.random.Generator,
    verbose: int,
) -> np.ndarray:
    """Pr[z | w] of words, or of profiles of words; a row per word of the embedding."""
    proposal = (1 - _EVEN) * prior + _EVEN / len(ids)
    simulated = SimulatedReleases(mechanism, ids, proposal)
    n = n_draws * len(ids)
    n_columns = len(ids) if profiles is None else profiles.shape[0]
    by_released = np.zeros((len(mechanism.embedding), n_columns), dtype=np.float32)
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
