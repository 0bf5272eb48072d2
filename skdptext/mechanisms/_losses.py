"""Privacy loss distributions, which give exponents for a small allowed δ."""

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
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

# Points of the grid of losses, and of the grid of a sum. The second is coarser, because
# a sum convolves two grids, which takes up to half a millisecond.
_BINS, _SUM_BINS = 4096, 2560
# An upper tail of this probability counts as an infinite loss.
_TAIL = 1e-30
# Masses are raised by this fraction. It outweighs all rounding in float64.
_ROUNDING = 1e-9
# Number of cells of the cosine, on each side of 0, and of the length of the noise.
_COSINES = 128
_LENGTHS = 48
# Beyond this ε·distance the loss is assumed to have its largest value.
_FAR = 1e9


@dataclass(frozen=True, eq=False)
class LossDistribution:
    r"""An upper bound on the privacy loss between two inputs, as a distribution.

    The loss of an output z is L = ln(Pr[z | x] / Pr[z | y]), with z drawn from x. Then

    .. math::

        \Pr[S \mid x] \le e^{t} \Pr[S \mid y] + δ(t), \qquad
        δ(t) = \mathrm{E}\bigl[(1 - e^{t - L})_+\bigr],

    for every set S, and no smaller δ(t) will do [1]_. The losses stored here are
    pessimistic: their δ(t) is never below the true one, for any t, even for sums of
    many losses.

    Parameters
    ----------
    step : float > 0
        Distance between adjacent losses; a power of two.
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
    ) -> "LossDistribution":
        """Make a distribution of known losses and their probabilities.

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
        # Later sums may lose something to rounding. We raise the masses once, here, by
        # more than all these errors together, and no δ comes out too small.
        losses, masses = losses[masses > 0], masses[masses > 0] * (1 + _ROUNDING)
        if not len(losses):
            losses, masses = np.zeros(1), np.zeros(1)
        step = _grid_step(float(losses.min()), float(losses.max()))
        return cls._on_grid(step, losses, masses, infinite * (1 + _ROUNDING))

    @classmethod
    def of_exponents(cls, forth: float, back: float) -> "LossDistribution":
        r"""Make the worst distribution that two pure exponents allow.

        Among all distributions with Pr[S | x] ≤ e^a Pr[S | y] and
        Pr[S | y] ≤ e^b Pr[S | x], one with two outputs has the largest δ(t) for all t,
        alone and in any sum: its loss is a with probability
        e^a (e^b − 1)/(e^(a+b) − 1), and −b otherwise.

        Parameters
        ----------
        forth, back : float in [0, inf]
            The exponents a, from x to y, and b, from y to x.

        Returns
        -------
        distribution : LossDistribution

        References
        ----------
        P. Kairouz, S. Oh, P. Viswanath (2015). The composition theorem for differential
        privacy. ICML.
        """
        # If Pr[S | x] <= Pr[S | y] for all S, the two distributions are equal.
        if forth == 0 or back == 0:
            return cls.of(np.zeros(1), np.ones(1))
        # The formula is multiplied by e^−(a + b). This avoids overflow and keeps all
        # digits for small a and b.
        both = math.expm1(-forth - back)
        p = math.expm1(-back) / both
        rest = math.exp(-back) * math.expm1(-forth) / both
        losses, masses = np.array([forth, -back]), np.array([p, rest])
        finite = np.isfinite(losses)
        infinite = p if forth == math.inf else 0.0
        return cls.of(losses[finite], masses[finite], infinite)

    @classmethod
    def of_log_proba(cls, x: np.ndarray, y: np.ndarray) -> "LossDistribution":
        """Make the loss between two distributions that are known in full.

        Parameters
        ----------
        x, y : ndarray of shape (n_outputs,)
            The logarithms of Pr[z | x] and Pr[z | y] for every output z; −inf if
            impossible.

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
    def of_noise(cls, distance: float, dim: int) -> "LossDistribution":
        r"""Bound the loss between two points with noise of density ∝ e^(−‖z‖).

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
        convex in c, so its mean over a cell is at least its value at the mean of c. For
        a given c, L is convex in r, so it lies below its chord, and the mean of e^(−L)
        is at least its value on the chord at the mean of r. The mass of a cell is
        spread over the cell's smallest loss (r high, c low) and its largest loss (r
        low, c high) such that the mean of e^(−L) is this bound.

        δ(t) never falls when the distance grows. The set that attains it meets each
        line parallel to the one through the points in a half-line, which ends before
        the second point. As the second point moves away, the probability of this
        half-line under its noise falls. So the result is also a bound for all smaller
        distances.
        """
        return _noise(float(distance), int(dim))

    @classmethod
    def mixture(
        cls, parts: "Sequence[LossDistribution]", weights: Sequence[float] | np.ndarray
    ) -> "LossDistribution":
        """Combine the losses of several pairs, one of which is drawn and revealed.

        The result bounds the loss between the two mixtures, because forgetting which
        pair was drawn is post-processing.

        Parameters
        ----------
        parts : sequence of LossDistribution
            What is combined.
        weights : sequence of float
            Their probabilities.

        Returns
        -------
        distribution : LossDistribution
        """
        losses = np.concatenate([part._losses for part in parts])
        weighted = [w * p.masses for p, w in zip(parts, weights, strict=True)]
        step = _grid_step(losses.min(), losses.max())
        return cls._on_grid(
            max(step, min(part.step for part in parts)),
            losses,
            np.concatenate(weighted),
            sum(w * p.infinite for p, w in zip(parts, weights, strict=True)),
        )

    @classmethod
    def total(cls, parts: "Iterable[LossDistribution]") -> "LossDistribution":
        """Add up the losses of several independent outputs; 0 for none.

        Parameters
        ----------
        parts : iterable of LossDistribution
            Losses of independent releases.
        """
        # Narrow distributions are added first. Next to wide ones, whose grids are
        # coarse, they would fall between two points and lose most of their precision.
        step = attrgetter("step")
        waiting = sorted(parts, key=step)
        while len(waiting) > 1:
            first, second, *waiting = waiting
            insort(waiting, first.plus(second), key=step)
        return waiting[0] if waiting else cls(1.0, 0, np.ones(1))

    # -- several outputs -------------------------------------------------------

    def plus(self, other: "LossDistribution") -> "LossDistribution":
        """Add the loss of another independent output.

        Parameters
        ----------
        other : LossDistribution
            Loss of an independent release.

        Returns
        -------
        total : LossDistribution
            Loss of both releases together.
        """
        low, high = self._losses[[0, -1]] + other._losses[[0, -1]]
        step = max(min(self.step, other.step), _grid_step(low, high, _SUM_BINS))
        a = self._at(step)
        b = a if other is self else other._at(step)
        # The probability that at least one of two independent losses is infinite.
        infinite = a.infinite + b.infinite - a.infinite * b.infinite
        # Sums of points of one grid lie on the same grid, so the convolution moves no
        # loss. Only `_at`, which may coarsen a grid, moves losses.
        masses = np.convolve(a.masses, b.masses)
        return self._trimmed(step, a.lowest + b.lowest, masses, infinite)

    def times(self, n: int) -> "LossDistribution":
        """Add up the losses of n >= 1 independent outputs of this kind.

        Parameters
        ----------
        n : int
            Number of independent releases.

        Returns
        -------
        total : LossDistribution
            Loss of all of them together.
        """
        if n == 1:
            return self
        # Doubling takes about log2(n) convolutions, and as few roundings up, not n.
        pairs = self.plus(self).times(n // 2)
        return pairs.plus(self) if n % 2 else pairs

    # -- what it promises ------------------------------------------------------

    def delta(self, t: float) -> float:
        """Compute δ(t) with Pr[S | x] ≤ e^t Pr[S | y] + δ(t) for every set S.

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
        first = at.searchsorted(t, side="right")
        kept = np.expm1(t - at[first:])  # e^(t − L) − 1, accurate when it is tiny
        return min(1.0, self.infinite - float(self.masses[first:] @ kept))

    def exponent(self, delta: float) -> float:
        """Find the smallest t >= 0 with δ(t) <= delta; inf if there is none.

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
        # The bisection points are the same for every delta. Rounding in δ(t) can
        # therefore not make the result grow with delta.
        highest = float(self._losses[-1])
        return bisect(lambda t: self.delta(t) <= delta, highest, 0.0, precision=1e-10)[
            0
        ]

    # -- the grid --------------------------------------------------------------

    @cached_property
    def _losses(self) -> np.ndarray:
        return self.step * (self.lowest + np.arange(len(self.masses)))

    def _at(self, step: float) -> "LossDistribution":
        """Move the losses onto a grid with another power of two as its step."""
        if step == self.step:
            return self
        if step != 2 * self.step:
            return self._on_grid(step, self._losses, self.masses, self.infinite)
        # Twice the step, as in most sums: every second point stays, and the others are
        # split as by `_on_grid`, in a fraction of its time.
        up = float(_share(self.step, step))
        spread = np.convolve(self.masses, [1 - up, 1.0, up])
        coarse = spread[(self.lowest + 1) % 2 :: 2]
        return LossDistribution(step, self.lowest // 2, coarse, self.infinite)

    @classmethod
    def _on_grid(
        cls, step: float, losses: np.ndarray, masses: np.ndarray, infinite: float
    ) -> "LossDistribution":
        """Move losses onto the points of a grid."""
        # The first point is rounded down, because no loss may lie below the grid. A
        # loss between two points is split between both such that the mean of e^(−loss)
        # stays the same. By convexity this can only raise δ (see the class).
        lowest = math.floor(losses.min() / step)
        places = losses / step - lowest
        below = places.astype(np.intp)
        up = _share((places - below) * step, step) * masses
        n = int(below.max()) + 2
        spread = np.bincount(below, masses - up, n) + np.bincount(below + 1, up, n)
        return cls._trimmed(step, lowest, spread, infinite)

    @classmethod
    def _trimmed(
        cls, step: float, lowest: int, masses: np.ndarray, infinite: float
    ) -> "LossDistribution":
        """Cut both tails: raise the lower one, and make the upper one infinite."""
        # Tails of probability 1e-30 would make the grid wide and its step coarse. The
        # result is still an upper bound, because losses only increase.
        upto = np.cumsum(masses)
        first = int(upto.searchsorted(_TAIL, side="right"))
        above = np.cumsum(masses[::-1])
        dropped = int(above.searchsorted(_TAIL, side="right"))
        if first + dropped >= len(masses):  # no finite loss is left
            return cls(1.0, 0, np.zeros(1), min(1.0, infinite + float(upto[-1])))
        inner = masses[first : len(masses) - dropped].copy()
        if first:
            inner[0] += upto[first - 1]
        if dropped:
            infinite += float(above[dropped - 1])
        return cls(step, lowest + first, inner, min(1.0, infinite))


def _grid_step(low: float, high: float, bins: int = _BINS) -> float:
    """Find the finest step, a power of two, of a grid that spans the losses."""
    # The second bound keeps the number of steps to the largest loss exact in float64.
    least = max((high - low) / bins, max(-low, high) * 2.0**-40)
    # No step needs to be smaller than 2^−100: losses near 1e-30 do not count.
    return 2.0 ** max(-100, math.ceil(math.log2(least))) if least > 0 else 1.0


def _share(above: np.ndarray | float, width: np.ndarray | float) -> np.ndarray:
    """Compute which share of a mass moves up, `above` the lower of two losses.

    The rest moves down, and the mean of e^(−loss) is unchanged.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.expm1(-np.asarray(above)) / np.expm1(-np.asarray(width))
    # The share of two equal losses is 0/0. Counting it as 1 is on the safe side.
    return np.where(share <= 1, np.maximum(share, 0), 1.0)


# -- noise ---------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _cosine_cells(dim: int) -> tuple[Any, ...]:
    """Cut the cosine of a uniform direction into cells, from large to small.

    Returns the ends, means and probabilities of the cells.

    The last item is the probability outside all cells.
    """
    if dim == 1:
        ends = np.array([1.0, 1.0, -1.0, -1.0])
        return ends, np.array([1.0, 0.0, -1.0]), np.array([0.5, 0.0, 0.5]), 0.0
    # Cosines have a standard deviation of 1/√dim, and almost none exceed twelve of
    # these.
    widest = math.acos(min(1.0, 12 / math.sqrt(dim)))
    angles = np.linspace(widest, math.pi - widest, 2 * _COSINES + 1)
    # For a uniform direction, (1 + cos)/2 follows the distribution Beta(a, a). Masses
    # of negative cosines are differences of numbers near ½ to 1, and off by 1e-16.
    # Positive ones have larger losses and half of the probability, so this error is
    # relative as well, and far below the fraction by which `of` raises masses.
    a = (dim - 1) / 2
    upto = betainc(a, a, np.sin(angles / 2) ** 2)
    masses = np.diff(upto)
    # The density of an angle is proportional to sin^(dim − 2). The integral of its
    # cosine over a cell is therefore a difference of sin^(dim − 1)/(dim − 1).
    sines = np.exp(
        (dim - 1) * np.log(np.maximum(np.sin(angles), 1e-300)) - betaln(a, 0.5)
    )
    ends = np.cos(angles)
    high, low = ends[:-1], ends[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.diff(sines) / (dim - 1) / masses
    # Means are rounded up, because a larger cosine means a larger loss.
    means = np.clip(means + 1e-9 * (high - low), low, high)
    means = np.where(masses > 0, means, high)
    n = masses.nonzero()[0][-1] + 1  # the last cells may have no mass in float64
    return ends[: n + 1], means[:n], masses[:n], 2 * float(upto[0])


@lru_cache(maxsize=32)
def _lengths(dim: int) -> tuple[Any, ...]:
    """Cut a Gamma(dim, 1) length into cells.

    Returns the ends of the cells, the positions of their means, and probabilities.

    The last item is the probability outside all cells.
    """
    # Gamma is close to the cube of a normal variable (Wilson and Hilferty). Cells of
    # equal width in the cube root are therefore fine where the probability is.
    first, last = np.cbrt([gammaincinv(dim, 1e-32), gammainccinv(dim, 1e-12)])
    ends = np.linspace(first, last, _LENGTHS + 1) ** 3

    def masses(shape: int) -> np.ndarray:
        # Differences are taken on the side on which no digits are lost.
        low, high = np.diff(gammainc(shape, ends)), -np.diff(gammaincc(shape, ends))
        return np.where(ends[1:] < shape, low, high)

    mass, width = masses(dim), np.diff(ends)
    # E[r; cell] = dim · Pr[Gamma(dim + 1) in the cell]. It is expressed as a share of
    # the cell's width and rounded down, because shorter noise means a larger loss.
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (dim * masses(dim + 1) / mass - ends[:-1]) / width
    means = np.where(mass > 0, np.clip(means - 1e-9, 0, 1), 0.0)
    beyond = float(gammaincc(dim, ends[-1]))
    # The last cell has no upper end. All its mass is placed at its lower end, where the
    # loss is largest.
    return (
        np.append(ends, ends[-1]),
        np.append(means, 0.0),
        np.append(mass, beyond),
        float(gammainc(dim, ends[0])),
    )


@lru_cache(maxsize=512)
def _noise(distance: float, dim: int) -> LossDistribution:
    """Compute `LossDistribution.of_noise`, whose notes say why this is a bound.

    Arrays have a row for each cell of the length r, and a column for each cell of the
    cosine c. Length and direction of the noise are independent, so the probability of
    a cell is a product.
    """
    # For points so far apart, nearly every draw has a loss close to the distance, and
    # no draw has a larger loss.
    if distance > _FAR:
        return LossDistribution.of(np.array([distance]), np.ones(1))
    ends_r, mean_r, mass_r, too_short = _lengths(dim)
    ends_c, mean_c, mass_c, too_straight = _cosine_cells(dim)
    r, mean_r, mass_r = (part[:, None] for part in (ends_r, mean_r, mass_r))

    def loss(c: np.ndarray) -> np.ndarray:
        # L = √(r² + D² + 2rDc) − r. The root, `far`, is the distance of the noisy
        # vector from the other point. In this form no digits are lost for c near −1 ...
        far = np.sqrt((r - distance) ** 2 + 2 * r * distance * (1 + c))
        # ... and none in the difference: √q − r = (q − r²)/(√q + r), and q − r² =
        # D(D + 2rc). The last term outweighs rounding.
        return distance * ((distance + 2 * r * c) / (far + r) + 2.0**-48)

    # L falls with r and grows with c, so these are the extremes of each cell.
    corners, middle = loss(ends_c), loss(mean_c)
    least, most = corners[1:, 1:], corners[:-1, :-1]
    # e^(−L) of this loss is at most the mean of e^(−L) over the cell: it is taken at
    # the mean of c, on the chord over r at the mean of r.
    chord = (1 - mean_r) * middle[:-1] + mean_r * middle[1:]
    # Each cell becomes two masses, at its extremes, with the mean of e^(−L) unchanged.
    mass = mass_r * mass_c
    up = _share(chord - least, most - least) * mass
    losses = np.concatenate([least.ravel(), most.ravel()])
    masses = np.concatenate([(mass - up).ravel(), up.ravel()])
    return LossDistribution.of(losses, masses, too_short + too_straight)
