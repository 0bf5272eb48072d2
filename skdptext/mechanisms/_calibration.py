"""Weights of words, and the rate that goes with them, that prove a given ε."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._rate import MARGIN, Fit, WordDistances, find_fit
from skdptext.utils import Memo, working_memory_bytes

__all__ = ["CALIBRATIONS", "calibrated_fit"]

# Relative residual of the solver: where the weights must make the loss exactly ε d, and
# where they are only a starting point.
_TIGHT, _LOOSE = 1e-12, 1e-6
_MAX_STEPS = 300
# Weights no further below 0 than this count as 0.
_ZERO = -1e-9
# Where "balanced" starts its search for the rate, in tenths of ε.
_START = 8
# Where "tight" is infeasible, larger ε are tried: the factor between them, how many,
# and the bisection steps that follow if the matrix fits into memory.
_LARGER, _MAX_LARGER, _BETWEEN = 1.3, 14, 5


class _Kernel:
    """x ↦ Kx with K = e^(−aD): kept in half of the working memory, or made anew."""

    def __init__(self, table: WordDistances, rate: float) -> None:
        self._table, self._rate = table, rate
        self._kept = table.kernel(rate) if self.fits(table) else None

    @staticmethod
    def fits(table: WordDistances) -> bool:
        return 8 * len(table) ** 2 <= working_memory_bytes() // 2

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if self._kept is None:
            return self._table.sums(self._rate, x)
        return self._kept @ x


def _solve(table: WordDistances, rate: float, tolerance: float) -> np.ndarray:
    """K⁻¹1 by conjugate gradients.

    Starting from 0, the iterates stay equal at equal words, so that these share their
    mass evenly although K is singular. K need not be positive definite where distances
    are capped; then the solution found so far is returned.
    """
    product = _Kernel(table, rate)
    found, rest = np.zeros(len(table)), np.ones(len(table))
    direction, square = rest.copy(), float(len(table))
    for _ in range(_MAX_STEPS):
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        found += square / curvature * direction
        rest -= square / curvature * image
        previous, square = square, float(rest @ rest)
        if square <= tolerance**2 * len(table):
            break
        direction = rest + square / previous * direction
    sizes = np.bincount(table.alike, minlength=len(table))
    sums = np.bincount(table.alike, found, minlength=len(table))
    return (sums / np.maximum(sizes, 1))[table.alike]


def _weights(solution: np.ndarray) -> np.ndarray:
    weights = np.maximum(solution, 0)
    if not weights.any():  # only where K is not positive definite
        weights[:] = 1
    weights.flags.writeable = False
    return weights


def _tight_fit(table: WordDistances, epsilon: float) -> tuple[Fit | None, bool]:
    """Weights that make all C_w = 1, if they prove ε; whether one is negative."""
    rate = epsilon * (1 - MARGIN)
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
    if high is not None and _Kernel.fits(table):
        for _ in range(_BETWEEN):
            middle = float(f"{(low * high) ** 0.5:.4g}")
            if _tight_fit(table, middle)[0] is None:
                low = middle
            else:
                high = middle
    found = "no feasible value was found" if high is None else f"{high:g} is feasible"
    raise InvalidParameterError(
        'epsilon must be larger for calibration="tight": with this embedding, lam and '
        f"max_distance some weights of words would be negative, and {found}, got "
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
        found = find_fit(table, epsilon, weights)
        logs = (
            found.log_normalizers
            if table.square
            else (found.log_normalizers[table.outputs])
        )
        return float(weights @ np.exp(-logs)), found

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
    """The rate and the weights of a calibrated mechanism, found once per process.

    Parameters
    ----------
    table : WordDistances
    calibration : {"exact", "balanced", "tight"}
    epsilon : float > 0

    Returns
    -------
    fit : Fit
        With ``attained <= epsilon``.

    Raises
    ------
    InvalidParameterError
        If "tight" is infeasible.
    """
    key = table.key, calibration, epsilon
    return _fits.get(key, lambda: _FITS[calibration](table, epsilon))
