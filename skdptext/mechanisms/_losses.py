"""Privacy loss distributions: what an exponent becomes once a small δ is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from scipy.special import (
    betainc,
    betaln,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)

from skdptext.utils import bisect

# Points of the grid of losses, and of that of a sum, which takes the product of two of
# them: up to half a millisecond.
_BINS, _SUM_BINS = 4096, 2560
# The upper tail of this probability counts as an infinite loss.
_TAIL = 1e-30
# Masses are raised by this fraction, which outweighs all rounding in float64.
_ROUNDING = 1e-9
# Cells of the cosine, on each side of 0, and of the length of the noise.
_COSINES = 128
_LENGTHS = 48
# Beyond this ε·distance the loss is taken to be its largest value.
_FAR = 1e9


@dataclass(frozen=True, eq=False)
class LossDistribution:
    r"""An upper bound on the privacy loss between two inputs, as a distribution.

    The loss of an output z is L = ln(Pr[z | x] / Pr[z | y]), with z drawn from x. Then

    .. math::

        \Pr[S \mid x] \le e^{t} \Pr[S \mid y] + δ(t), \qquad
        δ(t) = \mathrm{E}\bigl[(1 - e^{t - L})_+\bigr],

    for every set S, and no smaller δ(t) will do [1]_. The losses stored here are
    pessimistic: their δ(t) is never below the true one, for any t, also after adding up
    any number of them.

    Parameters
    ----------
    step : float > 0
        Distance between neighbouring losses; a power of two.
    lowest : int
        The first loss, in steps.
    masses : ndarray of shape (n,)
        Probabilities of the losses ``step * (lowest + i)``.
    infinite : float
        Probability of an infinite loss.

    See Also
    --------
    WordMechanism.losses : The distributions between words.

    Notes
    -----
    *Why it is a bound.* (1 − e^t u)_+ with u = e^(−L) decreases in u and is convex. So
    its mean grows when losses are raised, and when mass is spread over a wider range of
    u with the same mean. A loss between two points of the grid is spread over both in
    this way [2]_. For a sum of independent losses the same holds conditionally on the
    others.

    The total mass is above 1, by one part in 10⁹ for each loss added, to outweigh
    rounding in float64.

    References
    ----------
    .. [1] B. Balle, G. Barthe, M. Gaboardi (2018). Privacy amplification by
       subsampling: tight analyses via couplings and divergences. NeurIPS.
    .. [2] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi (2022). Connect
       the dots: tighter discrete approximations of privacy loss distributions. PoPETs.

    Examples
    --------
    Randomized response with ε = 1, once and in 100 independent answers:

    >>> from skdptext.mechanisms import LossDistribution
    >>> one = LossDistribution.of_exponents(1.0, 1.0)
    >>> print(f"{one.exponent(1e-6):.3f} {one.times(100).exponent(1e-6):.1f}")
    1.000 83.5
    """

    step: float
    lowest: int
    masses: np.ndarray
    infinite: float = 0.0

    # -- what it is made from --------------------------------------------------

    @classmethod
    def of(
        cls, losses: np.ndarray, masses: np.ndarray, infinite: float = 0.0
    ) -> LossDistribution:
        """Known losses with their probabilities.

        Parameters
        ----------
        losses : ndarray of shape (n,)
            In nats; finite.
        masses : ndarray of shape (n,)
            Their probabilities.
        infinite : float, default=0.0
            Probability of an infinite loss.

        Returns
        -------
        distribution : LossDistribution
        """
        # Every sum that follows may lose a rounding. We raise the masses once, here, by
        # more than all of them together, so that no δ comes out too small.
        losses, masses = losses[masses > 0], masses[masses > 0] * (1 + _ROUNDING)
        infinite = min(1.0, infinite * (1 + _ROUNDING))
        if not len(losses):
            return cls._infinite(infinite)
        step = _grid_step(float(losses.min()), float(losses.max()))
        return cls._on_grid(step, losses, masses, infinite)

    @classmethod
    def of_exponents(cls, forth: float, back: float) -> LossDistribution:
        r"""The worst case that two pure exponents allow.

        Among all distributions with Pr[S | x] ≤ e^a Pr[S | y] and
        Pr[S | y] ≤ e^b Pr[S | x], one with two outputs has the largest δ(t) for all t,
        alone and in any sum: its loss is a with probability
        e^a (e^b − 1)/(e^(a+b) − 1), and −b otherwise.

        Parameters
        ----------
        forth, back : float in [0, inf]
            A, from x to y, and b, from y to x.

        Returns
        -------
        distribution : LossDistribution

        References
        ----------
        P. Kairouz, S. Oh, P. Viswanath (2015). The composition theorem for differential
        privacy. ICML.
        """
        if forth == 0 or back == 0:  # Pr[S | x] <= Pr[S | y] for all S: they are equal
            return cls.of(np.zeros(1), np.ones(1))
        # the formula times e^−(a + b): no overflow, and no digits lost for small a, b
        both = math.expm1(-forth - back)
        p = math.expm1(-back) / both
        rest = math.exp(-back) * math.expm1(-forth) / both
        losses, masses = np.array([forth, -back]), np.array([p, rest])
        finite = np.isfinite(losses)
        infinite = p if forth == math.inf else 0.0
        return cls.of(losses[finite], masses[finite], infinite)

    @classmethod
    def of_log_proba(cls, x: np.ndarray, y: np.ndarray) -> LossDistribution:
        """Two distributions that are known in full.

        Parameters
        ----------
        x, y : ndarray of shape (n_outputs,)
            Ln Pr[z | x] and ln Pr[z | y] for every output z; −inf for never.

        Returns
        -------
        distribution : LossDistribution
        """
        # Outputs that y never gives prove that the input was x. They have an infinite
        # loss, with the probability that x gives them.
        masses = np.exp(x)
        infinite = float(masses[np.isneginf(y)].sum())
        both = np.isfinite(x) & np.isfinite(y)
        return cls.of(x[both] - y[both], masses[both], infinite)

    @classmethod
    def of_noise(cls, distance: float, dim: int) -> LossDistribution:
        r"""Noise of density ∝ e^(−‖z‖), between two points.

        Parameters
        ----------
        distance : float >= 0
            Between the points, in units in which the density is e^(−‖z‖): ε times the
            distance in the metric that shapes the noise.
        dim : int >= 1
            Dimension of the space.

        Returns
        -------
        distribution : LossDistribution

        Notes
        -----
        The loss is :math:`L = \sqrt{r^2 + D^2 + 2rDc} - r`, with D the distance,
        r ~ Gamma(dim, 1) the length of the noise and c the cosine of its angle to the
        line between the points. Both are cut into cells. For a given r, e^(−L) is
        convex in c, so its mean over a cell is at least its value at the mean of c; for
        a given c, L is convex in r, so it lies below its chord, and the mean of e^(−L)
        is at least its value on the chord at the mean of r. The cell's mass is spread
        over the cell's smallest loss (r high, c low) and its largest (r low, c high)
        with that mean.

        δ(t) never falls when the distance grows. The set that attains it meets each
        line parallel to the one through the points in a half-line, which ends before
        the second point. As the second point moves away, the probability of this
        half-line under its noise falls. So the result is a bound for all smaller
        distances, too.
        """
        return _noise(float(distance), int(dim))

    @classmethod
    def mixture(
        cls, parts: Sequence[LossDistribution], weights: Iterable[float]
    ) -> LossDistribution:
        """The loss where one of several pairs is drawn at random and revealed.

        It bounds the loss between the two mixtures, because forgetting which pair was
        drawn is post-processing.

        Parameters
        ----------
        parts : sequence of LossDistribution
            What is combined.
        weights : iterable of float
            Their probabilities.

        Returns
        -------
        distribution : LossDistribution
        """
        weights = list(weights)
        step = _grid_step(min(p._lowest for p in parts), max(p._highest for p in parts))
        weighted = [w * p.masses for p, w in zip(parts, weights, strict=True)]
        return cls._on_grid(
            max(step, min(part.step for part in parts)),
            np.concatenate([part._losses for part in parts]),
            np.concatenate(weighted),
            sum(w * p.infinite for p, w in zip(parts, weights, strict=True)),
        )

    @classmethod
    def total(cls, parts: Iterable[LossDistribution]) -> LossDistribution:
        """The loss of several independent outputs together: 0 for none.

        Parameters
        ----------
        parts : iterable of LossDistribution
            Of independent releases.
        """
        # the narrow ones first: among the wide ones they would fall between two steps
        numbers = count()
        waiting = [(part.step, next(numbers), part) for part in parts]
        heapify(waiting)
        while len(waiting) > 1:
            both = heappop(waiting)[2].plus(heappop(waiting)[2])
            heappush(waiting, (both.step, next(numbers), both))
        return waiting[0][2] if waiting else cls(1.0, 0, np.ones(1))

    # -- several outputs -------------------------------------------------------

    def plus(self, other: LossDistribution) -> LossDistribution:
        """The loss of two independent outputs together.

        Parameters
        ----------
        other : LossDistribution
            Of an independent release.

        Returns
        -------
        total : LossDistribution
            Of both releases together.
        """
        low, high = self._lowest + other._lowest, self._highest + other._highest
        step = max(min(self.step, other.step), _grid_step(low, high, _SUM_BINS))
        a = self._at(step)
        b = a if other is self else other._at(step)
        # that at least one of two independent losses is infinite
        infinite = a.infinite + b.infinite - a.infinite * b.infinite
        # Sums of points of one grid lie on it, so that the convolution itself moves no
        # loss. What a coarser grid costs was paid in `_at`.
        masses = np.convolve(a.masses, b.masses)
        return self._trimmed(step, a.lowest + b.lowest, masses, infinite)

    def times(self, n: int) -> LossDistribution:
        """The loss of n >= 1 independent outputs of this kind together.

        Parameters
        ----------
        n : int
            How many independent releases.

        Returns
        -------
        total : LossDistribution
            Of all of them together.
        """
        if n == 1:
            return self
        # by doubling: convolutions, and roundings up, of the order of log2(n), not n
        pairs = self.plus(self).times(n // 2)
        return pairs.plus(self) if n % 2 else pairs

    # -- what it promises ------------------------------------------------------

    def delta(self, t: float) -> float:
        """Find δ(t): Pr[S | x] ≤ e^t Pr[S | y] + δ(t) for every set S.

        Parameters
        ----------
        t : float
            The exponent.

        Returns
        -------
        delta : float
            An upper bound on the least δ.
        """
        at = self._losses
        first = np.searchsorted(at, t, side="right")
        lost = -np.expm1(t - at[first:])  # 1 − e^(t − L), also where it is tiny
        return min(1.0, self.infinite + float(self.masses[first:] @ lost))

    def exponent(self, delta: float) -> float:
        """The smallest t >= 0 with δ(t) <= delta; inf if there is none.

        Parameters
        ----------
        delta : float in [0, 1)
            The δ in [0, 1); 0 is the pure exponent.

        Returns
        -------
        exponent : float
            In nats.
        """
        if self.infinite > delta:
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        # The bisection points are the same for every delta, so that rounding in δ(t)
        # cannot make the result grow with delta.
        return bisect(
            lambda t: self.delta(t) <= delta, self._highest, 0.0, precision=1e-10
        )[0]

    # -- the grid --------------------------------------------------------------

    @cached_property
    def _losses(self) -> np.ndarray:
        return self._lowest + self.step * np.arange(len(self.masses))

    @property
    def _lowest(self) -> float:
        return self.step * self.lowest

    @property
    def _highest(self) -> float:
        return self.step * (self.lowest + len(self.masses) - 1)

    def _at(self, step: float) -> LossDistribution:
        """The same on a grid of another power of two."""
        if step == self.step:
            return self
        return self._on_grid(step, self._losses, self.masses, self.infinite)

    @classmethod
    def _on_grid(
        cls, step: float, losses: np.ndarray, masses: np.ndarray, infinite: float
    ) -> LossDistribution:
        """Losses moved onto the points of a grid."""
        # We round the grid's first point down, so that no loss lies below the grid. A
        # loss between two points goes to both, so that the mean of e^(−loss) stays. By
        # convexity that only raises δ (see the class).
        lowest = math.floor(losses.min() / step)
        places = losses / step - lowest
        below = places.astype(np.intp)
        up = _share((places - below) * step, step) * masses
        n = int(below.max()) + 2
        spread = np.bincount(below, masses - up, n) + np.bincount(below + 1, up, n)
        return cls._trimmed(step, lowest, spread, infinite)

    @classmethod
    def _infinite(cls, infinite: float) -> LossDistribution:
        """All that has a finite loss is none."""
        return cls(1.0, 0, np.zeros(1), min(1.0, infinite))

    @classmethod
    def _trimmed(
        cls, step: float, lowest: int, masses: np.ndarray, infinite: float
    ) -> LossDistribution:
        """Cut the tails: the lower one is raised, the upper one becomes infinite."""
        # Tails of probability 1e-30 would make the grid wide and its step coarse. A
        # loss that is raised, or counted as infinite, leaves an upper bound.
        upto = np.cumsum(masses)
        first = int(upto.searchsorted(_TAIL, side="right"))
        above = np.cumsum(masses[::-1])
        dropped = int(above.searchsorted(_TAIL, side="right"))
        if first + dropped >= len(masses):
            return cls._infinite(infinite + float(upto[-1]))
        inner = masses[first : len(masses) - dropped].copy()
        if first:
            inner[0] += upto[first - 1]
        if dropped:
            infinite += float(above[dropped - 1])
        return cls(step, lowest + first, inner, min(1.0, infinite))


def _grid_step(low: float, high: float, bins: int = _BINS) -> float:
    """The finest step of a grid that spans so many losses; a power of two."""
    # and whose points float64 can still count
    return max(_power((high - low) / bins), _power(max(-low, high) * 2.0**-40)) or 1.0


def _power(number: float) -> float:
    """The smallest power of two that is not below a number; 0 for 0."""
    # no step is smaller, as losses near 1e-30 do not count
    return 2.0 ** max(-100, math.ceil(math.log2(number))) if number > 0 else 0.0


def _share(above: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Share of a mass that moves up, if it lies `above` the lower of two losses.

    The rest moves down, so that the mean of e^(−loss) is unchanged.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.expm1(-above) / np.expm1(-np.asarray(width))
    # rounding; and no width at all
    return np.where(share <= 1, np.maximum(share, 0), 1.0)


# -- noise ---------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _cosine_cells(dim: int) -> tuple[Any, ...]:
    """Cells of the cosine of a uniform direction: ends, means and probabilities.

    The last item is the probability outside all cells.
    """
    if dim == 1:
        ends = np.array([-1.0, 1.0])
        return ends, ends, ends, np.array([0.5, 0.5]), 0.0
    # Cosines have a standard deviation of 1/√dim: beyond twelve of these there is next
    # to nothing. Cells of one half; the other half is its mirror image.
    widest = math.acos(min(1.0, 12 / math.sqrt(dim)))
    angles = np.linspace(widest, math.pi / 2, _COSINES + 1)
    # (1 + cos)/2 of a uniform direction follows Beta(a, a)
    a = (dim - 1) / 2
    upto = betainc(a, a, np.sin(angles / 2) ** 2)
    masses = np.diff(upto)
    # The density of an angle is proportional to sin^(dim − 2), so that the integral of
    # its cosine over a cell is a difference of sin^(dim − 1)/(dim − 1).
    sines = np.exp(
        (dim - 1) * np.log(np.maximum(np.sin(angles), 1e-300)) - betaln(a, 0.5)
    )
    ends = np.cos(angles)
    ends[-1] = 0.0
    high, low = ends[:-1], ends[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.diff(sines) / (dim - 1) / masses
    means = np.where(masses > 0, np.clip(means, low, high), high)
    mean, width = np.append(means, -means), np.append(high - low, high - low)
    low, high = np.append(low, -high), np.append(high, -low)
    # up, against rounding: a larger cosine means a larger loss
    mean = np.minimum(mean + 1e-9 * width, high)
    return low, high, mean, np.append(masses, masses), 2 * float(upto[0])


@lru_cache(maxsize=32)
def _lengths(dim: int) -> tuple[Any, ...]:
    """Cells of a Gamma(dim, 1) length: ends, where the means lie, probabilities.

    The last item is the probability outside all cells.
    """
    # Gamma is close to the cube of a normal variable (Wilson and Hilferty), so that
    # cells of equal width in the cube root are fine where the probability is.
    first, last = np.cbrt([gammaincinv(dim, 1e-32), gammainccinv(dim, 1e-12)])
    ends = np.linspace(first, last, _LENGTHS + 1) ** 3

    def masses(shape: int) -> np.ndarray:
        # from the side on which no digits are lost
        low, high = np.diff(gammainc(shape, ends)), -np.diff(gammaincc(shape, ends))
        return np.where(ends[1:] < shape, low, high)

    mass, width = masses(dim), np.diff(ends)
    # E[r; cell] = dim · Pr[Gamma(dim + 1) in the cell]; as a share of the cell's width,
    # and down, against rounding: a shorter noise means a larger loss
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (dim * masses(dim + 1) / mass - ends[:-1]) / width
    means = np.where(mass > 0, np.clip(means - 1e-9, 0, 1), 0.0)
    beyond = float(gammaincc(dim, ends[-1]))
    # the last cell has no upper end: all of its mass is put at its lower one
    return (
        ends,
        np.append(ends[1:], ends[-1]),
        np.append(means, 0.0),
        np.append(mass, beyond),
        float(gammainc(dim, ends[0])),
    )


@lru_cache(maxsize=512)
def _noise(distance: float, dim: int) -> LossDistribution:
    """`LossDistribution.of_noise`, whose notes say why this is a bound.

    Everything has a row for each cell of the length r, and a column for each of the
    cosine c. Length and direction of the noise are independent, so the probability of
    a cell is a product.
    """
    # So far apart, nearly every draw has a loss of nearly the distance: none has more.
    if distance > _FAR:
        return LossDistribution.of(np.array([distance]), np.ones(1))
    *of_length, too_short = _lengths(dim)
    low_r, high_r, mean_r, mass_r = (part[:, None] for part in of_length)
    low_c, high_c, mean_c, mass_c, too_straight = _cosine_cells(dim)

    def loss(r: np.ndarray, c: np.ndarray) -> np.ndarray:
        # L = √(r² + D² + 2rDc) − r. The root, `far`, is the distance of the noisy
        # vector from the other point. So written, no digits are lost for c near −1 ...
        far = np.sqrt((r - distance) ** 2 + 2 * r * distance * (1 + c))
        # ... and none in the difference: √q − r = (q − r²)/(√q + r), and q − r² =
        # D(D + 2rc). The last term outweighs rounding.
        return distance * ((distance + 2 * r * c) / (far + r) + 2.0**-48)

    # L falls with r and grows with c: these are the extremes of each cell.
    least, most = loss(high_r, low_c), loss(low_r, high_c)
    # A loss that is never below the mean one, in the sense that counts: e^(−L) at the
    # mean of c, on the chord over r at the mean of r.
    chord = (1 - mean_r) * loss(low_r, mean_c) + mean_r * loss(high_r, mean_c)
    # Each cell becomes two masses, at its extremes, with the mean of e^(−L) unchanged.
    mass = mass_r * mass_c
    up = _share(chord - least, most - least) * mass
    losses = np.concatenate([least.ravel(), most.ravel()])
    masses = np.concatenate([(mass - up).ravel(), up.ravel()])
    return LossDistribution.of(losses, masses, too_short + too_straight)
