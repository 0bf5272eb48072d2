"""What proves a given ε: the rate of an exponential mechanism, and weights of words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.utils import Memo, blocks, progress, working_memory_bytes

# Below this share of ‖φ‖², squared distances are computed from differences: there the
# product's would have lost more than three of their sixteen digits.
_NEAR = 2.2e-3
# Bound on rounding in a difference of two ln C, in nats; added before a division.
_ROUNDING = 2.0**-40
# The same for float32, subtracted.
_ROUGH = -(2.0**-16)
# Relative margin by which the rate is aimed below ε: more than rounding changes.
_MARGIN = 2.0**-33
# Words that the search for a rate starts with, and rows that each failure adds.
_FIRST_WORDS = 256
_MORE_ROWS = 32
# Relative residual of the solver: where the weights must make the loss exactly ε d, and
# where they are only a starting point.
_TIGHT, _LOOSE = 1e-12, 1e-6
# Steps of conjugate gradients. What has not converged by then is verified, and fails,
# as any other weights would.
_MAX_STEPS = 300
# Weights no further below 0 than this count as 0.
_ZERO = -1e-9
# Where "balanced" starts its search for the rate, in tenths of ε.
_START = 8
# Where "tight" is infeasible, larger ε are tried: the factor between them, how many,
# and the bisection steps that follow if the matrix fits into memory.
_LARGER, _MAX_LARGER, _BETWEEN = 1.3, 14, 5


class Fit(NamedTuple):
    """A rate and weights, and what follows from them for the words that may come."""

    rate: float  # a
    weights: np.ndarray | None = None  # μ_z, (n_outputs,), read-only; None: all 1
    #: The largest privacy loss per unit of distance, over all pairs of inputs.
    attained: float = np.nan
    log_normalizers: np.ndarray = np.empty(0)  # ln C_w, (n_inputs,), read-only


class WordDistances:
    """Distances of words to those that may be released, in float64, in blocks.

    Equal vectors are exactly 0 apart, and have exactly the same normaliser.

    Parameters
    ----------
    embedding : WordEmbedding
    lam : float in [0, 1]
        Selects the metric.
    max_distance : float > 0 or None
        Larger distances count as this one.
    outputs : ndarray of int, shape (n_outputs,), default=None
        Ids of the words that may be released, ascending; None: all.
    for_all : bool, default=True
        Whether losses are those of all words, or only of words that may be released.
    """

    def __init__(
        self,
        embedding: WordEmbedding,
        lam: float,
        max_distance: float | None,
        outputs: np.ndarray | None = None,
        for_all: bool = True,
    ) -> None:
        self.lam, self.max_distance = lam, max_distance
        self._rounding = _ROUNDING
        vectors = embedding.vectors
        self.n_words = len(vectors)
        #: Ids of the words that may be released, and of those whose losses are asked.
        self.outputs = np.arange(len(vectors)) if outputs is None else outputs
        self.inputs = np.arange(self.n_words) if for_all else self.outputs
        everything = len(self.outputs) == self.n_words
        #: Whether the inputs are the outputs, so that distances are symmetric.
        self.square = everything or not for_all
        digest = hashlib.blake2b(self.outputs.astype("<i8").tobytes()).digest()
        #: Identifies everything that the distances depend on.
        self.key = embedding.fingerprint, lam, max_distance, digest, self.square
        # the first word with the same vector; + 0.0 makes −0 a 0
        rows = np.ascontiguousarray(vectors + 0.0)
        raw = rows.view(np.dtype((np.void, rows[0].nbytes))).ravel()
        _, first, same = np.unique(raw, return_index=True, return_inverse=True)
        self._first = first[same]
        points = vectors.astype(np.float64)
        if lam > 0:
            points = MahalanobisMetric(lam, embedding_spectrum(embedding)).whiten(
                points
            )
        # Distances do not change when all points move. Around the mean the squares are
        # smallest, and so is what their difference loses to rounding.
        points -= points.mean(axis=0)
        self._points = points[self._first]
        self.targets = self._points
        if outputs is not None:
            self.targets = self._points[outputs]
        # ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy as one product
        self._left = np.column_stack([-2 * self._points, *_squares(self._points)])
        self._right = np.column_stack([self.targets, *_squares(self.targets)[::-1]])
        if not self.square:
            columns = self._points, *_squares(self._points)[::-1]
            self._right_inputs = np.column_stack(columns)

    def __len__(self) -> int:
        return len(self.targets)

    def rough(self) -> WordDistances:
        """The same in float32: takes half the time, for a pass that decides nothing."""
        rough = copy(self)
        names = {"_points", "targets", "_left", "_right", "_right_inputs"}
        for name in names & set(vars(self)):
            setattr(rough, name, getattr(self, name).astype(np.float32))
        rough._rounding = _ROUGH  # what may be rounding does not count
        return rough

    def points(self, words: np.ndarray) -> np.ndarray:
        """Vectors of words, whose Euclidean distances are those of the metric."""
        return self._points[words]

    def between(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Distances of the words x to the words y, shape (len(x), len(y))."""
        return self._capped(cdist(self._points[x], self._points[y]))

    def rows(self, words: np.ndarray, start: int = 0) -> np.ndarray:
        """Distances of words to all outputs from `start` on, by one product."""
        return self._distances(words, self.targets[start:], self._right[start:])

    def pairs(self, rows: slice) -> np.ndarray:
        """Distances of some of the inputs to all inputs from the first of these on."""
        if self.square:
            return self.rows(self.outputs[rows], rows.start)
        y, right = self._points[rows.start :], self._right_inputs[rows.start :]
        return self._distances(self.inputs[rows], y, right)

    def _distances(
        self, words: np.ndarray, y: np.ndarray, right: np.ndarray
    ) -> np.ndarray:
        x, left = self._points[words], self._left[words]
        distances = left @ right.T
        # For close words the product is a small difference of large numbers. We compute
        # these few pairs anew, from the differences of their vectors.
        near = np.flatnonzero(distances <= _NEAR * left[:, -2:-1])
        i, j = np.divmod(near, distances.shape[1])
        for block in blocks(len(i), max(1, 2**20 // x.shape[1])):
            gaps = x[i[block]] - y[j[block]]
            distances[i[block], j[block]] = np.einsum("ij,ij->i", gaps, gaps)
        return self._capped(np.sqrt(distances, out=distances))

    def _capped(self, distances: np.ndarray) -> np.ndarray:
        if self.max_distance is not None:
            np.minimum(distances, self.max_distance, out=distances)
        return distances

    def masses(self, rate: float, words: np.ndarray, start: int = 0) -> np.ndarray:
        """e^(−a d(w, z)) for each of the words and the outputs from `start` on."""
        masses = self.rows(words, start)
        masses *= -rate
        return np.exp(masses, out=masses)

    def sums(self, rate: float, weights: np.ndarray | None = None) -> np.ndarray:
        """Σ_z μ_z e^(−a d(w, z)) for every output w, in one pass."""
        weights = np.ones(len(self)) if weights is None else weights
        weights = weights.astype(self.targets.dtype, copy=False)
        sums = np.zeros(len(self))
        for rows in self._passing():
            masses = self.masses(rate, self.outputs[rows], rows.start)
            sums[rows] += masses @ weights[rows.start :]
            # Distances are symmetric. We compute each block of pairs once, and add its
            # columns as the rows that they are on the other side of the diagonal.
            sums[rows.stop :] += weights[rows] @ masses[:, rows.stop - rows.start :]
        return sums

    def kernel(self, rate: float) -> np.ndarray:
        """e^(−a d(w, z)) of all outputs, shape (n_outputs, n_outputs)."""
        kernel = np.empty((len(self), len(self)))
        for rows in self._passing():
            masses = self.masses(rate, self.outputs[rows], rows.start)
            kernel[rows, rows.start :] = masses
            kernel[rows.stop :, rows] = masses[:, rows.stop - rows.start :].T
        return kernel

    def log_normalizers(
        self, rate: float, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """ln C_w = ln Σ_z μ_z e^(−a d(w, z)) of every input, in one pass."""
        if self.square:
            logs = np.log(self.sums(rate, weights))[self.alike]
        else:  # far from all outputs, every e^(−a d) underflows
            logs = self.log_normalizers_of(self.inputs, Fit(rate, weights))
        logs.flags.writeable = False
        return logs

    def log_masses(self, words: np.ndarray, fit: Fit) -> np.ndarray:
        """ln μ_z e^(−a d(w, z)) for each of the words and every output."""
        logs = self.rows(words)
        logs *= -fit.rate
        if fit.weights is not None:
            with np.errstate(divide="ignore"):  # words that are never released
                logs += np.log(fit.weights)
        return logs

    def log_normalizers_of(self, words: np.ndarray, fit: Fit) -> np.ndarray:
        """ln C_w of any words, computed row by row."""
        distinct, numbers = np.unique(self._first[words], return_inverse=True)
        logs = np.empty(len(distinct))
        for block in blocks(len(distinct), self._n_rows):
            logs[block] = log_sums(self.log_masses(distinct[block], fit))
        return logs[numbers]

    def log_normalizers_from(self, fit: Fit) -> np.ndarray:
        """ln C_w of all words; a fit already has those of the inputs."""
        if len(self.inputs) == self.n_words:
            return fit.log_normalizers
        logs = np.full(len(self._first), np.nan)
        logs[self._first[self.outputs]] = fit.log_normalizers
        missing = np.flatnonzero(np.isnan(logs[self._first]))
        logs = logs[self._first]
        logs[missing] = self.log_normalizers_of(missing, fit)
        logs.flags.writeable = False
        return logs

    def evaluated(self, fit: Fit) -> Fit:
        """The same rate and weights, with the privacy loss that they attain."""
        logs = self.log_normalizers(fit.rate, fit.weights)
        attained, _ = self.attained(fit.rate, logs)
        return Fit(fit.rate, fit.weights, attained, logs)

    def attained(
        self, rate: float, log_normalizers: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """The largest loss per unit of distance, and the inputs of the worst pairs."""
        best = np.zeros(len(self.inputs))
        mates = np.zeros(len(self.inputs), dtype=np.intp)
        for rows in self._passing(len(self.inputs)):
            losses = _excess(
                self.pairs(rows),
                log_normalizers[rows],
                log_normalizers[rows.start :],
                self._rounding,
            )
            at = losses.argmax(axis=1)
            best[rows] = np.minimum(losses[np.arange(len(at)), at], rate)
            mates[rows] = at + rows.start
        # The worst pairs rule this rate out. The search adds them to the words that it
        # asks first, so that it does not try such a rate again.
        worst = np.argsort(-best, kind="stable")[:_MORE_ROWS]
        return rate + float(best.max()), np.concatenate([worst, mates[worst]])

    def largest_loss(self, fit: Fit) -> float:
        """The largest exponent between two inputs, in one pass."""
        logs, largest = fit.log_normalizers, 0.0
        for rows in self._passing(len(self.inputs)):
            losses = self.pairs(rows)
            # a d + ln C_w' − ln C_w, in the worse of the two directions
            losses *= fit.rate
            losses += np.abs(logs[rows, None] - logs[rows.start :])
            largest = max(largest, float(losses.max()))
        return largest

    @property
    def any_differ(self) -> bool:
        """Whether two of the inputs have different vectors."""
        return len(np.unique(self._first[self.inputs])) > 1

    @property
    def diameter(self) -> float:
        """An upper bound on the distance between two inputs."""
        diameter = 2 * float(np.sqrt(self._left[self.inputs, -2].max()))
        return (
            diameter if self.max_distance is None else min(diameter, self.max_distance)
        )

    @cached_property
    def alike(self) -> np.ndarray:
        """For each output, the first output with the same vector."""
        _, places, numbers = np.unique(
            self._first[self.outputs], return_index=True, return_inverse=True
        )
        return places[numbers]

    @property
    def _n_rows(self) -> int:
        n_rows = working_memory_bytes() // (40 * len(self.inputs))
        return int(np.clip(n_rows, 1, 256))

    def _passing(self, n: int | None = None) -> Iterable[slice]:
        """Blocks of the outputs, or of n inputs, for one pass over pairs of them."""
        every = list(blocks(len(self) if n is None else n, self._n_rows))
        return progress(every, "pairs of words")


def log_sums(logs: np.ndarray) -> np.ndarray:
    """ln Σ e^x of each row, even where every e^x underflows."""
    highest = logs.max(axis=1)
    return np.log(np.exp(logs - highest[:, None]).sum(axis=1)) + highest


def _squares(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.einsum("ij,ij->i", points, points), np.ones(len(points))


def _excess(
    distances: np.ndarray,
    ours: np.ndarray,
    theirs: np.ndarray,
    rounding: float = _ROUNDING,
) -> np.ndarray:
    """|ln C_w − ln C_w'| / d(w, w'), rounded up; overwrites `distances`.

    0 for words 0 apart. By the triangle inequality it is at most a, but for rounding.
    """
    # Equal words have equal distributions: their loss is 0, whatever rounding says.
    distances[distances == 0] = np.inf
    ours, theirs = (logs.astype(distances.dtype, copy=False) for logs in (ours, theirs))
    excess = ours[:, None] - theirs
    np.abs(excess, out=excess)
    excess += rounding
    excess /= distances
    return excess


class _LowerBound:
    """The privacy loss attained among some of the inputs: a lower bound."""

    def __init__(self, table: WordDistances, weights: np.ndarray | None) -> None:
        self._table = table
        self._weights = np.ones(len(table)) if weights is None else weights
        self.places = np.empty(0, dtype=np.intp)
        self._rows = np.empty((0, len(table)))

    def add(self, places: np.ndarray) -> bool:
        """Add inputs, by their places; return whether any of them is new."""
        new = np.setdiff1d(places, self.places)
        self.places = np.concatenate([self.places, new])
        rows = self._table.rows(self._table.inputs[new])
        self._rows = np.concatenate([self._rows, rows])
        return len(new) > 0

    def attained(self, rate: float) -> float:
        logs = np.concatenate(
            [
                self._logs(self._rows[block] * -rate)
                for block in blocks(len(self.places), 32)
            ]
        )
        excess = _excess(self._among(), logs, logs)
        return rate + min(float(excess.max()), rate)

    def _logs(self, masses: np.ndarray) -> np.ndarray:
        """ln C_w from ln e^(−a d(w, z))."""
        if self._table.square:
            return np.log(np.exp(masses) @ self._weights)
        with np.errstate(divide="ignore"):  # weights of 0
            return log_sums(masses + np.log(self._weights))

    def _among(self) -> np.ndarray:
        if self._table.square:
            return self._rows[:, self.places]
        words = self._table.inputs[self.places]
        return self._table.between(words, words)


def find_fit(
    table: WordDistances, epsilon: float, weights: np.ndarray | None = None
) -> Fit:
    """A rate that proves ε: chosen on some words, accepted only if it holds for all.

    ε/2 always holds. A rate that some of the words rule out cannot hold for all, so
    the candidate comes down from above as the words that broke it are added. The first
    pass over all words is a rough one, and accepts nothing.
    """
    bound = _LowerBound(table, weights)
    n_words = int(np.clip(working_memory_bytes() // (64 * len(table)), 1, _FIRST_WORDS))
    # The embedding is public, and so is this choice: it decides how fast a rate is
    # found, and never which one is accepted.
    bound.add(np.random.default_rng(0).permutation(len(table.inputs))[:n_words])
    aim = epsilon * (1 - _MARGIN)
    highest = _largest(bound.attained, epsilon / 2, aim, aim)
    rough = table.rough()
    logs = rough.log_normalizers(highest, weights)
    bound.add(rough.attained(highest, logs)[1])
    # Now all words decide. A rate that fails adds the words that broke it, which lowers
    # the next candidate; the list only grows, so that this ends.
    while True:
        rate = _largest(bound.attained, epsilon / 2, highest, aim)
        logs = table.log_normalizers(rate, weights)
        attained, worst = table.attained(rate, logs)
        if attained <= epsilon:
            return Fit(rate, weights, attained, logs)
        if not bound.add(worst):  # rounding alone is in the way
            aim -= 2 * (attained - epsilon)
        highest = rate


def _largest(
    attained: Callable[[float], float], low: float, high: float, aim: float
) -> float:
    """The largest rate with attained(rate) = aim that a grid of nine finds; else low.

    The attained loss need not grow with the rate.
    """
    # We go down from above and stop at the first rate that holds, since the largest
    # rate changes the fewest words at the same ε.
    above = high
    for rate in np.linspace(high, low, 9)[:-1].tolist():
        if attained(rate) <= aim:
            break
        above = rate
    else:
        rate = low
        if attained(low) > aim:
            return low
    if rate == above:
        return rate
    return float(brentq(lambda a: attained(a) - aim, rate, above, xtol=1e-13 * aim))


# -- weights of words ------------------------------------------------------------


def _kernel_fits(table: WordDistances) -> bool:
    """Whether the kernel takes no more than half of the working memory."""
    return 8 * len(table) ** 2 <= working_memory_bytes() // 2


def _solve(table: WordDistances, rate: float, tolerance: float) -> np.ndarray:
    """K⁻¹1 by conjugate gradients, with K = e^(−aD).

    Starting from 0, the iterates stay equal at equal words, so that these share their
    mass evenly although K is singular. K need not be positive definite where distances
    are capped; then the solution found so far is returned.
    """
    # Conjugate gradients for K x = 1: `rest` is the residual 1 − K x, `direction` the
    # next direction to go, and `square` the squared length of the residual.
    product = (
        table.kernel(rate).dot if _kernel_fits(table) else partial(table.sums, rate)
    )
    solution, rest = np.zeros(len(table)), np.ones(len(table))
    direction, square = rest.copy(), float(len(table))
    for _ in range(_MAX_STEPS):
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0:  # K is not positive definite
            break
        solution += square / curvature * direction
        rest -= square / curvature * image
        previous, square = square, float(rest @ rest)
        if square <= tolerance**2 * len(table):
            break
        direction = rest + square / previous * direction
    # words of one vector share their mass evenly, to the last digit
    sizes = np.bincount(table.alike, minlength=len(table))
    sums = np.bincount(table.alike, solution, minlength=len(table))
    return (sums / np.maximum(sizes, 1))[table.alike]


def _weights(solution: np.ndarray) -> np.ndarray:
    weights = np.maximum(solution, 0)
    if not weights.any():  # only where K is not positive definite
        weights[:] = 1
    weights.flags.writeable = False
    return weights


def _tight_fit(table: WordDistances, epsilon: float) -> tuple[Fit | None, bool]:
    """Weights that make all C_w = 1, if they prove ε; whether one is negative."""
    # With all C_w = 1 the loss of a pair is a d, so that the rate is the exponent. We
    # aim a little below ε, and lower if the solver left the C_w unequal.
    rate = epsilon * (1 - _MARGIN)
    while rate > epsilon * (1 - 1e-3):
        solution = _solve(table, rate, _TIGHT)
        if solution.min() < _ZERO:
            return None, True
        fit = table.evaluated(Fit(rate, _weights(solution)))
        if fit.attained <= epsilon:
            return fit, False
        rate -= 2 * (fit.attained - epsilon)  # what the solver and rounding left
    return None, False


def _feasible_fit(table: WordDistances, epsilon: float) -> Fit:
    """The same, or an error that names an ε for which there are such weights."""
    if not table.square:
        raise InvalidParameterError(
            'calibration must not be "tight" where only some of the words may be '
            "released: its weights make the losses of these exact, and of no others. "
            'calibration="exact" or "balanced" takes any outputs.'
        )
    fit, negative = _tight_fit(table, epsilon)
    if fit is not None:
        return fit
    if not negative:
        raise InvalidParameterError(
            'calibration must not be "tight" for this embedding, lam and max_distance: '
            "some vectors are nearly equal, and rounding alone costs more than epsilon "
            f"per unit of their distance, got epsilon={epsilon:g}. "
            'calibration="balanced" takes any epsilon.'
        )
    low, high = epsilon, None
    for power in range(1, _MAX_LARGER + 1):
        larger = float(f"{epsilon * _LARGER**power:.4g}")
        if _tight_fit(table, larger)[0] is not None:
            high = larger
            break
        low = larger
    if high is not None and _kernel_fits(table):
        # not `bisect`: what is tried is what the error would name, in four digits
        for _ in range(_BETWEEN):
            middle = float(f"{(low * high) ** 0.5:.4g}")
            if _tight_fit(table, middle)[0] is None:
                low = middle
            else:
                high = middle
    feasible = (
        "no feasible value was found" if high is None else f"{high:g} is feasible"
    )
    raise InvalidParameterError(
        'epsilon must be larger for calibration="tight": with this embedding, lam and '
        f"max_distance some weights of words would be negative, and {feasible}, got "
        f'{epsilon:g}. calibration="balanced" takes any epsilon.'
    )


def _balanced_fit(table: WordDistances, epsilon: float) -> Fit:
    """Weights max(K⁻¹1, 0) for some rate b, and the largest rate for these weights.

    b is the rate, found by hill climbing on a grid, that leaves the most words
    unchanged. Where "tight" is feasible, its weights are used instead.
    """
    tight = _tight_fit(table, epsilon)[0] if table.square else None
    if tight is not None:
        return tight

    def fit(tenths: int) -> tuple[float, Fit]:
        weights = _weights(_solve(table, epsilon * tenths / 10, _LOOSE))
        first = find_fit(table, epsilon, weights)
        logs = (
            first.log_normalizers
            if table.square
            else (first.log_normalizers[table.outputs])
        )
        return float(weights @ np.exp(-logs)), first

    at, best = _START, fit(_START)
    for step in (1, -1):
        while 5 <= at + step <= 10 and (other := fit(at + step))[0] > best[0]:
            at, best = at + step, other
        if at != _START:
            break
    return best[1]


_FITS: dict[str, Callable[[WordDistances, float], Fit]] = {
    "exact": find_fit,
    "balanced": _balanced_fit,
    "tight": _feasible_fit,
}
CALIBRATIONS = ("half", *_FITS)

# Keyed by content, as spectra are.
_fits: Memo[Fit] = Memo(32)


def calibrated_fit(table: WordDistances, calibration: str, epsilon: float) -> Fit:
    """Rate and weights with ``attained <= epsilon``, found once per process.

    An InvalidParameterError if `calibration` is "tight", which may be infeasible.
    """
    key = table.key, calibration, epsilon
    return _fits.get(key, lambda: _FITS[calibration](table, epsilon))
