"""Probabilities with which a public mechanism releases each word as another."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.preprocessing import normalize

from skdptext.base._noise import apply_draws, check_draws
from skdptext.documents import word_ids
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    NoiseMechanism,
    TableMechanism,
    WordMechanism,
    probabilities,
)
from skdptext.utils import (
    MAX_WORDS,
    as_shares,
    blocks,
    check_integer,
    check_rng,
    read_bags,
    working_memory_bytes,
)

# Replaces probabilities that are too small for float32.
_LEAST = 1e-35
# Number of draws in a block, enough to keep a matrix product busy.
_ROWS = 512
# Share of the draws that is spread evenly over all words. Rare words are then drawn.
_EVEN = 0.1
# Number of draws that judge the form, and the fewest if many words make memory short.
# The two numbers of the form are fitted to so few of them.
_JUDGED, _FEWEST = 4000, 500
# Candidate weights of the form and of the prior, in draws.
_FORM, _PRIOR = np.geomspace(0.1, 1000, 21), np.geomspace(1e-3, 10, 9)


def transitions_of(
    mechanism: WordMechanism,
    prior: Any = None,
    *,
    words: Iterable[str] | None = None,
    n_draws: int = 20,
    random_state: Any = None,
) -> np.ndarray:
    r"""Estimate Pr[z | w], the probability that a word is released as another.

    Parameters
    ----------
    mechanism : WordMechanism
        A prepared mechanism.
    prior : array-like of shape (n_words,), default=None
        Frequencies of the words in public text, in any unit: one number for each of
        `words` if given, else for each word of the embedding. None is a uniform prior.
        It decides which words the draws are spent on.
    words : iterable of str, default=None
        The words that may have been written. None means all words of the embedding.
        Time and memory are proportional to their number.
    n_draws : int, default=20
        Simulated draws per word, on average, if the mechanism does not state its
        probabilities; there are at least 4,000 in all.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the simulation, which is not secret.

    Returns
    -------
    transitions : ndarray of shape (n_words, n_released), float32
        Pr[z | w], a row for each of `words` and a column for each word of the
        embedding; rows sum to 1, and no entry is 0.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the result does not fit into scikit-learn's
        ``working_memory``: it takes 4 bytes for each entry.

    Notes
    -----
    *Method.* A `~skdptext.mechanisms.TableMechanism` states its probabilities. For
    noise with a known density, draw w from the prior and v = φ(w) + Z; the word that is
    released for v is z. The posterior of a word given v is exact,

    .. math::

        \Pr[w' \mid v] \propto π(w')\, e^{-ε ‖v - φ(w')‖_{RM}} ,

    and its mean over the draws that end at z is Pr[w' | z]. So each draw informs about
    all words, while a count informs about one. For all other mechanisms, draws are
    counted.

    Few draws end at any one z. A form with two numbers, fitted to the draws, replaces
    missing ones: :math:`\ln \Pr[w \mid z] = \ln π(w) + a ⟨φ(z), φ(w)⟩ - b ‖φ(w)‖^2`, up
    to a constant for each z. The prior is added as well, so that nothing is impossible.
    The weights of the form and of the prior, in draws, are those with which the
    posterior best predicts the word of each draw from all other draws.

    *Privacy.* All of this follows from public data: embedding, mechanism, ε and λ. An
    attacker can compute it.
    """
    ids = word_ids(words, mechanism.embedding).astype(np.intp)
    p = as_shares(prior, len(ids), "word of the embedding", zeros=True)
    return _released(mechanism, ids, p, None, n_draws, random_state)


def profiles_of(mechanism: WordMechanism, profiles: Any, **options: Any) -> np.ndarray:
    """Compute word frequencies after the noise, Σ_w p(w) Pr[z | w] per profile p.

    `profiles`, of shape (n_profiles, n_words), are word weights of documents or
    classes, with a word in each row; each row is divided by its sum. Words without
    weight take no time. `options` are those of `transitions_of`.
    """
    n_words = len(mechanism.embedding)
    weights = read_bags(profiles, n_words=n_words, name="profiles")
    weights = normalize(weights, norm="l1")
    frequency = np.asarray(weights.mean(axis=0)).ravel()
    ids = np.flatnonzero(frequency)
    weights = sp.csr_array(weights)[:, ids]
    return _released(mechanism, ids, frequency[ids], weights, **options)


def _released(
    mechanism: WordMechanism,
    ids: np.ndarray,
    prior: np.ndarray,
    profiles: Any,
    n_draws: int = 20,
    random_state: Any = None,
) -> np.ndarray:
    """Compute rows of `profiles_of`, or of the words `ids` if `profiles` is None."""
    n_draws = check_integer("n_draws", n_draws, low=1, high=MAX_WORDS)
    rng = check_rng(random_state)
    n_rows = len(ids) if profiles is None else profiles.shape[0]
    n_words, memory = len(mechanism.embedding), working_memory_bytes()
    if 4 * n_rows * n_words > memory:
        raise InvalidParameterError(
            f"documents and words must be few enough: 4 bytes for each of {n_rows} and "
            f"{n_words} possible words must fit into working_memory, {memory} bytes, "
            f"got {4 * n_rows * n_words} bytes. Pass fewer, or allow more memory "
            "with sklearn.set_config(working_memory=...)."
        )
    if isinstance(mechanism, TableMechanism):
        exact = np.zeros((n_rows, n_words), dtype=np.float32)
        for rows, part in probabilities(mechanism, ids):
            if profiles is None:
                exact[rows] = part
            else:
                exact += profiles[:, rows] @ part
        return np.maximum(exact, np.float32(_LEAST), out=exact)
    words = _Words(mechanism, ids, (1 - _EVEN) * prior + _EVEN / len(ids))
    n_judged = int(np.clip(memory // (32 * len(ids)), _FEWEST, _JUDGED))
    n_more = max(0, n_draws * len(ids) - n_judged)
    judged = list(words.draw(rng, n_judged))
    of_form, of_prior = words.fit(*map(np.concatenate, zip(*judged, strict=True)))

    def mixed(posteriors: np.ndarray) -> np.ndarray:
        """Average the ratios of posteriors to the prior over each profile."""
        odds = posteriors / words.prior
        return odds if profiles is None else (profiles @ odds.T).T

    # Under the prior q the posteriors of draws that end at z add up, in expectation, to
    # their number times Pr[w | z] = Pr[z] Pr[z | w] / q(w).
    sums = np.zeros((n_words, n_rows), dtype=np.float32)
    ends = np.zeros(n_words)
    for _, z, posterior in itertools.chain(judged, words.draw(rng, n_more)):
        order = z.argsort(kind="stable")
        at, first = np.unique(z[order], return_index=True)
        sums[at] += np.add.reduceat(mixed(posterior[order]), first, axis=0)
        ends[at] += np.diff(first, append=len(z))
    for rows in blocks(n_words, _ROWS):
        z = np.arange(rows.start, rows.stop)
        sums[rows] += mixed(of_form * words.form(z)) + of_prior
    # Pr[z | w] = q(z) Pr[w | z] / q(w). Every z gets half a draw, because words that
    # were never drawn are not impossible.
    sums *= ((ends + 0.5) / (ends + of_form + of_prior))[:, None]
    sums /= sums.sum(axis=0)
    return sums.T


class _Words:
    """Draw words from a prior, release them, and infer the words from the releases."""

    def __init__(
        self, mechanism: WordMechanism, ids: np.ndarray, prior: np.ndarray
    ) -> None:
        self.mechanism, self.ids, self.prior = mechanism, ids, prior
        self.log_prior = np.log(prior).astype(np.float32)
        vectors = mechanism.embedding.vectors.astype(np.float64)
        # Centered vectors have small norms, which keeps float32 products accurate.
        vectors -= vectors[ids].mean(axis=0)
        if mechanism.metric is not None:
            vectors = mechanism.metric.whiten(vectors)
        self.points = vectors.astype(np.float32)
        self.written = self.points[ids]
        self.squares = np.square(self.written).sum(axis=1)

    def draw(
        self, rng: np.random.Generator, n: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield blocks of draws: rows of `ids`, the words z, and all posteriors.

        Each word is drawn as often as the prior says, to within one draw. Sums vary
        less than with independent draws.
        """
        upto = np.cumsum(self.prior)
        for rows in blocks(n, _ROWS):
            at = (rng.random() + np.arange(rows.start, rows.stop)) / n * upto[-1]
            drawn = np.minimum(upto.searchsorted(at, side="right"), len(upto) - 1)
            draws = check_draws(self.mechanism, rng, len(drawn))
            z = apply_draws(self.mechanism, self.ids[drawn], draws)
            if isinstance(self.mechanism, NoiseMechanism):
                noise = self.mechanism.metric.whiten(self.mechanism.noise(draws))
                noisy = (self.written[drawn] + noise).astype(np.float32)
                # ‖v − φ‖² = ‖v‖² − 2⟨v, φ⟩ + ‖φ‖²
                squares = self.squares - 2 * (noisy @ self.written.T)
                squares += np.square(noisy).sum(axis=1)[:, None]
                distances = np.sqrt(np.maximum(squares, 0))
                logs = self.log_prior - np.float32(self.mechanism.epsilon) * distances
                yield drawn, z, softmax(logs, axis=1)
            else:  # without a density, only the drawn word itself is known
                own = np.equal.outer(drawn, np.arange(len(self.ids)))
                yield drawn, z, own.astype(np.float32)

    def form(self, z: np.ndarray) -> np.ndarray:
        """Compute the posterior of the words given the release, by the fitted form."""
        a, b = self.slopes
        alike = self.points[z] @ self.written.T
        return softmax(a * alike - b * self.squares + self.log_prior, axis=1)

    def fit(
        self, drawn: np.ndarray, z: np.ndarray, posterior: np.ndarray
    ) -> tuple[float, float]:
        """Fit the form, and choose its weight and that of the prior, in draws."""
        some = slice(None, None, max(1, len(z) // _FEWEST))
        truth, unit = posterior[some], self.squares.mean() or np.float32(1)
        alike = self.points[z[some]] @ self.written.T / unit
        squares = self.squares / unit

        def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
            a, b = slopes.astype(np.float32)
            logs = log_softmax(a * alike - b * squares + self.log_prior, axis=1)
            gap = np.exp(logs) - truth
            slope = np.array([(gap * alike).sum(), -(gap @ squares).sum()], dtype=float)
            return -float((truth * logs).sum()) / len(truth), slope / len(truth)

        start = np.array([1.0, 0.5])
        best = minimize(loss, start, jac=True, method="L-BFGS-B", tol=1e-4)
        self.slopes = (best.x / unit).astype(np.float32)
        # The word of each draw is predicted from all other draws that end at the same
        # word. Leaving out the draw itself avoids rewarding overfitting.
        _, end, n_ends = np.unique(z, return_inverse=True, return_counts=True)
        row = np.arange(len(z))
        of_end = sp.csr_array((np.ones(len(z), dtype=np.float32), (end, row)))
        others = (of_end @ posterior)[end, drawn] - posterior[row, drawn]
        hits = np.maximum(others, 0)  # rounding can make the difference negative
        form = self.form(z)[row, drawn]

        def gain(added: tuple[float, float]) -> float:
            of_form, of_prior = added
            told = hits + of_form * form + of_prior * self.prior[drawn]
            return float(np.log(told / (n_ends[end] - 1 + of_form + of_prior)).sum())

        return max(itertools.product(_FORM.tolist(), _PRIOR.tolist()), key=gain)
