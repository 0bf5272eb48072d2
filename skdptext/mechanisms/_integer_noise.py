r"""Exact integer noise, and the privacy of sums with it.

Noise in floating point leaks: which of its digits can occur depends on the number it is
added to [1]_. Here sums, noise and coin flips are integers, and no coin is approximate:
every flip compares a uniform whole number with another, as [2]_ does with rationals.
Scales are large whole numbers (the grid has 2^30 steps for a person), so the rationals
of [2]_ are split into coins with small denominators, which fit into 64 bits.

References
----------
.. [1] I. Mironov (2012). On significance of the least significant bits for differential
   privacy. CCS 2012.
.. [2] C. Canonne, G. Kamath, T. Steinke (2020). The discrete Gaussian for differential
   privacy. NeurIPS.
.. [3] B. Balle, Y.-X. Wang (2018). Improving the Gaussian mechanism for differential
   privacy: analytical calibration and optimal denoising. ICML.
"""

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import bisect

# With the largest scale, noise of 2^63 has a probability below e^-8000. Noise therefore
# never overflows.
LARGEST_SCALE = 2**50
# Added to δ, as a share of its larger term. It outweighs rounding in float64.
_ROUNDING = 1e-11

# -- draws ----------------------------------------------------------------------------


def discrete_laplace(rng: np.random.Generator, scale: int, size: int) -> np.ndarray:
    """Draw independent int64 numbers x with Pr[x] ∝ exp(−|x| / scale).

    If two tables of sums differ by v, the odds of any result differ by at most
    exp(Σ|v| / scale).
    """
    if not 1 <= scale <= LARGEST_SCALE:
        raise ValueError(f"the scale must be in [1, 2^50], got {scale}.")
    drawn = np.empty(size, dtype=np.int64)
    left = np.arange(size)
    while len(left):
        # |x| is geometric. It is drawn in two parts: the remainder below the scale, and
        # the multiple of the scale.
        low = rng.integers(scale, size=len(left))

        def coin(at: np.ndarray, low: np.ndarray = low) -> np.ndarray:
            return rng.integers(scale, size=len(at)) < low[at]

        kept = _exp_coins(rng, np.arange(len(left)), coin)
        at = left[kept]
        sizes = low[kept] + scale * _geometric(rng, len(at))
        negative = rng.integers(2, size=len(at)) == 1
        # Zero has two signs and would be drawn twice as often. Negative zeros are
        # drawn again.
        good = ~(negative & (sizes == 0))
        drawn[at[good]] = np.where(negative, -sizes, sizes)[good]
        left = np.concatenate([left[~kept], at[~good]])
    return drawn


def discrete_gaussian(rng: np.random.Generator, sigma: int, size: int) -> np.ndarray:
    """Draw independent int64 numbers x with Pr[x] ∝ exp(−x² / (2 sigma²)).

    Laplace noise of the same scale is kept with probability
    exp(−(|x| − sigma)² / (2 sigma²)). The two exponents add up to x² / (2 sigma²) and
    a constant.
    """
    drawn = np.empty(size, dtype=np.int64)
    left = np.arange(size)
    while len(left):
        x = discrete_laplace(rng, sigma, len(left))
        kept = _square_coins(rng, np.abs(np.abs(x) - sigma), sigma)
        drawn[left[kept]] = x[kept]
        left = left[~kept]
    return drawn


# A coin is flipped for each of the numbers at some positions.
_Coin = Callable[[np.ndarray], np.ndarray]


def _exp_coins(rng: np.random.Generator, at: np.ndarray, coin: _Coin) -> np.ndarray:
    """Flip coins with probability e^−γ, made of coins with probability γ ≤ 1.

    Coin number k = 1, 2, … succeeds with probability γ / k. Coins are flipped until one
    fails. All coins before number k succeed with probability γ^(k−1) / (k−1)!, so the
    first failure has an odd number with probability 1 − γ + γ²/2 − γ³/6 + … = e^−γ.
    """
    result = np.empty(len(at), dtype=bool)
    left, k = np.arange(len(at)), 1
    while len(left):
        goes_on = coin(at[left]) & (rng.integers(k, size=len(left)) == 0)
        result[left[~goes_on]] = k % 2 == 1
        left, k = left[goes_on], k + 1
    return result


def _geometric(rng: np.random.Generator, n: int) -> np.ndarray:
    """Count how often coins with probability 1/e succeed before they fail."""
    counts = np.zeros(n, dtype=np.int64)
    left = np.arange(n)
    while len(left):
        left = left[_exp_coins(rng, left, lambda at: np.ones(len(at), bool))]
        counts[left] += 1
    return counts


def _square_coins(
    rng: np.random.Generator, distance: np.ndarray, sigma: int
) -> np.ndarray:
    """Flip coins with probability exp(−distance² / (2 sigma²)).

    With distance = q sigma + r, the exponent is q²/2 + q r/sigma + (r/sigma)²/2. Each
    term is a number of coins with exponents of at most 1, and all must succeed.
    """
    q, r = np.divmod(distance, sigma)

    def half(at: np.ndarray) -> np.ndarray:
        return rng.integers(2, size=len(at)) == 0

    def ratio(at: np.ndarray) -> np.ndarray:
        return rng.integers(sigma, size=len(at)) < r[at]

    def half_square(at: np.ndarray) -> np.ndarray:
        return ratio(at) & ratio(at) & half(at)

    good = np.ones(len(distance), dtype=bool)
    for coin, times in (half, q * q), (ratio, q), (half_square, np.ones_like(q)):
        done = 0
        # Numbers that failed once need no further coins.
        while len(at := np.flatnonzero(good & (times > done))):
            good[at] = _exp_coins(rng, at, coin)
            done += 1
    return good


# -- what the noise promises ----------------------------------------------------------


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Compute δ of continuous Gaussian noise; mu is sensitivity over deviation.

    The result is Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), rounded up. The formula is exact
    [3]_ for every ε, including negative ones.
    """
    if mu <= 0:
        return max(0.0, -math.expm1(epsilon))
    if math.isinf(mu):
        return 1.0
    # The second term is computed in logarithms, because e^ε alone would overflow.
    above = math.exp(log_ndtr(mu / 2 - epsilon / mu))
    log_below = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    below = math.exp(min(log_below, 0.0))
    return min(1.0, max(above - below, 0.0) + _ROUNDING * above)


@dataclass(frozen=True)
class SumLoss:
    r"""Privacy loss of one contribution to noisy sums of whole numbers.

    Neighboring inputs differ by a contribution of L1 norm at most 1 to sums with
    Laplace noise, and of Euclidean norm at most 1 to sums with Gaussian noise. The unit
    1 is `grid` steps of whole numbers. Losses of several tables or fits add up with
    ``+``, even if earlier results decide what is computed next.

    Attributes
    ----------
    pure : float
        Σ 1/scale of the Laplace noises: the loss is never larger.
    square : float
        Σ 1/sigma² of the Gaussian noises.
    shift, log_factor : float
        How much more discrete Gaussian noise loses than continuous noise.

    Notes
    -----
    *The discrete Gaussian.* Let p be its distribution on Z^d with the parameter σ, and
    q that of continuous Gaussian noise X that is rounded to the nearest whole numbers.

    1. p ≤ e^(d / 24σ²) q. In one dimension q(k) is the mean of φ(k + u) over u in
       [−½, ½], with φ the density: by Jensen's inequality at least
       φ(k) exp(−E u² / 2σ²) = φ(k) e^(−1 / 24σ²). And p(k) = φ(k) / Σ φ ≤ φ(k), since
       by Poisson summation Σ_k φ(k) = Σ_k exp(−2π²σ²k²) ≥ 1.
    2. The loss at k for a difference v, of norm at most Δ, is
       (⟨k, v⟩ + ‖v‖²/2) / σ². Rounding changes ⟨k, v⟩ by at most ½‖v‖₁ ≤ ½√d Δ.

    As δ(ε) = E (1 − e^(ε − loss))_+ grows with the loss, for all ε

    .. math::

        \delta(\varepsilon) \le e^{d / 24 \sigma^2} \,
        \delta_G(\varepsilon - \sqrt{d} \Delta / 2 \sigma^2; \Delta / \sigma)

    with δ_G of continuous noise, which is known exactly [3]_. With 2^30 steps the two
    differ by some 10⁻⁹ of ε. For several sums, each has its own σ, Δ and d, and the
    terms of the exponents add up. The argument holds path by path: earlier outputs fix
    the differences of later sums. For continuous noise, the analytic curve at Σ (Δ/σ)²
    bounds adaptive composition as well.
    """

    pure: float = 0.0
    square: float = 0.0
    shift: float = 0.0
    log_factor: float = 0.0

    @classmethod
    def of_laplace(cls, scale: int, grid: int) -> "SumLoss":
        """Loss of a table with `discrete_laplace` noise."""
        return cls(pure=grid / scale)

    @classmethod
    def of_gaussian(cls, sigma: int, n_cells: int, grid: int) -> "SumLoss":
        """Loss of a table of `n_cells` cells with `discrete_gaussian` noise."""
        relative = sigma / grid
        return cls(
            square=1 / relative**2,
            shift=math.sqrt(n_cells) / (2 * relative * sigma),
            log_factor=n_cells / (24.0 * sigma**2),
        )

    def __add__(self, other: "SumLoss") -> "SumLoss":
        return SumLoss(*np.add(astuple(self), astuple(other)).tolist())

    def times(self, n: int) -> "SumLoss":
        """Loss of n such releases, with independent noise."""
        return SumLoss(*(n * each for each in astuple(self)))

    def larger(self, factor: float) -> "SumLoss":
        """Loss of contributions whose norm is larger by a factor."""
        pure, square, shift, log_factor = astuple(self)
        return SumLoss(factor * pure, factor**2 * square, factor * shift, log_factor)

    def delta(self, epsilon: float) -> float:
        """Compute δ at an ε >= 0, rounded up; pure Laplace noise can reach 0."""
        rest = epsilon - self.pure
        if not self.square:
            if rest >= 0:
                return 0.0
            # Among all losses within [−pure, pure], randomized response has the
            # largest δ.
            return -math.expm1(rest) / (1 + math.exp(-self.pure))
        if self.log_factor > 700:  # its exponential would overflow
            return 1.0
        # Two valid splits of ε: the Laplace noises take (pure, 0) and the Gaussian ones
        # (rest, δ); or they take (0, δ') and (ε, δ). The smaller sum is the bound.
        mu, more = math.sqrt(self.square), math.exp(self.log_factor)
        delta = more * gaussian_delta(rest - self.shift, mu)
        if self.pure:
            apart = more * gaussian_delta(epsilon - self.shift, mu)
            delta = min(delta, math.tanh(self.pure / 2) + apart)
        return min(1.0, delta)

    def epsilon(self, delta: float) -> float:
        """Find the smallest ε >= 0 at a δ, rounded up; inf if there is none."""
        if self.delta(0.0) <= delta:
            return 0.0
        if not self.square:
            return self.pure
        if delta <= 0:
            return math.inf
        high = 1.0
        while self.delta(high) > delta:
            high *= 2
            if high > 2.0**40:  # rounding alone is above such a δ
                return math.inf
        # δ falls with ε, so the upper end of the bracket is the safe one.
        return bisect(lambda e: self.delta(e) > delta, 0.0, high, precision=1e-12)[1]


def laplace_scale(epsilon: float, grid: int) -> int:
    """Find the scale of `discrete_laplace` for contributions of L1 norm `grid`."""
    # The float ε is a quotient of whole numbers, so grid / ε can be rounded up exactly:
    # noise with a smaller scale would promise more than it keeps.
    over, under = epsilon.as_integer_ratio()
    return _within_range(-(-grid * under // over), epsilon)


@lru_cache(maxsize=256)
def gaussian_sigma(epsilon: float, delta: float, n_cells: int, grid: int) -> int:
    """Find sigma of `discrete_gaussian` for contributions of Euclidean norm `grid`.

    It is the smallest one, up to one part in 2^30, for which the bound of `SumLoss`
    proves (ε, δ) of the table.
    """

    def too_small(log_sigma: float) -> bool:
        sigma = math.ceil(2.0**log_sigma)
        return SumLoss.of_gaussian(sigma, n_cells, grid).delta(epsilon) > delta

    largest = math.log2(LARGEST_SCALE)
    if too_small(largest):
        return _within_range(LARGEST_SCALE + 1, epsilon)
    found = bisect(too_small, 0.0, largest, precision=1e-10)[1]
    return _within_range(math.ceil(2.0**found), epsilon)


def _within_range(scale: int, epsilon: float) -> int:
    if scale > LARGEST_SCALE:
        raise InvalidParameterError(
            f"epsilon must be large enough for noise in 64 bits, got {epsilon:g}."
        )
    return max(1, scale)
