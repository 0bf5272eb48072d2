"""Angles of noisy directions: how they are drawn, and what they give away."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, xlogy

from skdptext.mechanisms._losses import LossDistribution, cosine_cells

# Cells of the step functions that enclose the density of the angle; how far below its
# peak, in nats, the fine cells reach; how many of them make one cell of losses.
_CELLS = 4096
_DEPTH = 60.0
_TOGETHER = 32
# Halving π so often takes it below the smallest float: cells reach every angle.
_HALVINGS = 1100


class NoisyAngles:
    """Angles between a direction and a noisy one, by rejection from a step function.

    Their density is proportional to e^h, with h = κ (cos θ − 1) + (m − 2) ln sin θ, or
    −κ θ in place of the first term. It has a single peak, which is itself an edge
    between cells. So in each cell it is largest at the end nearer to the peak, and
    smallest at the other end.

    `dim` is m >= 1. With `chord`, the density depends on cosines (von Mises-Fisher),
    else on angles (Purkayastha).
    """

    def __init__(self, dim: int, kappa: float, *, chord: bool) -> None:
        # more than this overflows, and changes nothing
        kappa = min(kappa, 1e300)
        self._dim, self._kappa, self._chord = dim, kappa, chord
        if dim == 1:  # two directions, π apart
            self._flipped = expit(-kappa * (2 if chord else np.pi))
            return
        peak = np.arctan2(dim - 2, kappa)
        if chord:  # (m − 2) cos θ = κ sin² θ
            cosine = 2 * kappa / (dim - 2 + np.hypot(dim - 2, 2 * kappa))
            peak = np.arctan2(np.sqrt((dim - 2) * cosine / kappa), cosine)
        top = self._log_density(peak)
        ends = [0.0, np.pi]
        # the tail must hold little of the mass, however narrow the peak
        depth = max(_DEPTH, 25 + float(np.log(kappa)))
        for side in (0, 1):  # where the density is down to e^−60 of its peak
            near, far = peak, ends[side]
            # Not `bisect`, which would never end where the answer is below the smallest
            # float, and whose last digits would change the noise of a seed.
            for step in range(_HALVINGS):
                # a large κ asks for more of them than 60
                if step >= 60 and abs(far - near) <= 1e-9 * max(near, far):
                    break
                middle = (near + far) / 2
                below = top - self._log_density(middle) > depth
                near, far = (near, middle) if below else (middle, far)
            ends[side] = far
        # Cells of equal width on each side of the peak, as far as the density matters;
        # beyond, one cell each. In each cell the step function is the larger end.
        half = _CELLS // 2
        edges = [np.linspace(ends[0], peak, half), np.linspace(peak, ends[1], half)]
        self._edges = np.unique(np.concatenate([[0.0], *edges, [np.pi]]))
        logs = self._log_density(self._edges)
        self._highest = np.maximum(logs[1:], logs[:-1])
        widths = np.diff(self._edges)
        self._most = np.exp(self._highest - top) * widths
        self._least = np.exp(np.minimum(logs[1:], logs[:-1]) - top) * widths
        self._upto = np.cumsum(self._most) / self._most.sum()
        self._upto[-1] = 1.0

    def _log_density(self, angle: Any) -> Any:
        along = -2 * np.sin(angle / 2) ** 2 if self._chord else -angle
        return self._kappa * along + xlogy(self._dim - 2, np.sin(angle))

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """`n` angles in [0, π]."""
        if self._dim == 1:
            return np.where(rng.random(n) < self._flipped, np.pi, 0.0)
        angles = np.empty(n)
        left = np.arange(n)
        # Rejection: a cell by its mass under the step function, a point of the cell at
        # random, which is kept with probability density / step. In logarithms that
        # is an exponential variable above the gap.
        while len(left):
            cells = np.searchsorted(self._upto, rng.random(len(left)), side="right")
            low, high = self._edges[cells], self._edges[cells + 1]
            drawn = low + (high - low) * rng.random(len(left))
            depth = self._highest[cells] - self._log_density(drawn)
            accepted = rng.standard_exponential(len(left)) >= depth
            angles[left[accepted]] = drawn[accepted]
            left = left[~accepted]
        return angles

    # -- privacy losses --------------------------------------------------------

    @cached_property
    def _coarse(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges of wider cells, and upper bounds on their probabilities."""
        n = len(self._most)
        starts = np.unique([0, *range(1, n, _TOGETHER), n - 1])
        masses = np.add.reduceat(self._most, starts) / self._least.sum()
        return np.append(self._edges[starts], np.pi), masses

    def losses(self, angle: float) -> LossDistribution:
        r"""An upper bound on the privacy loss between two directions, at this angle.

        Take a noisy direction at the angle θ to u, and let c be the cosine of the angle
        between its part across u and the part of u' across u. Its angle θ' to u'
        satisfies cos θ' = cos θ cos α + c sin θ sin α, where α is the angle between u
        and u'. The loss is L = κ(cos θ − cos θ') or κ(θ' − θ).

        The reflection that swaps u and u' turns L into −L. So \|L\| has the same
        distribution under both, and given \|L\| = l the mechanism is randomized
        response with ε = l: the loss is l with probability 1/(1 + e^−l), and −l
        otherwise. A larger l means a larger δ(t) for all t, also in sums. So upper
        bounds on \|L\| in each cell of θ and c, and on the probability of each cell,
        give an upper bound on δ(t).

        L decreases in c. κ(θ' − θ) decreases in θ, because θ' changes no faster than θ.
        For a given c, κ(cos θ − cos θ') is a sinusoid with an amplitude of at most κ
        times the chord. Inside a cell of width w it exceeds its values at the ends by
        at most 1 − cos w/2 of that amplitude.
        """
        span = 2 * np.sin(angle / 2) if self._chord else angle
        if self._dim == 1 or angle == 0:
            return LossDistribution.of_exponents(self._kappa * span, self._kappa * span)
        ends, masses = self._coarse
        low, high, _, of_cosines, none = cosine_cells(self._dim - 1)
        along, across = np.cos(ends)[:, None], np.sin(ends)[:, None]

        def size(c: np.ndarray) -> np.ndarray:
            if self._chord:
                gaps = np.sin(angle / 2) * span * along - np.sin(angle) * across * c
            else:
                beside = np.cos(angle) * across * c - np.sin(angle) * along
                above = across * np.sqrt(1 - c * c)
                ahead = np.cos(angle) * along + np.sin(angle) * across * c
                gaps = np.arctan2(np.hypot(beside, above), ahead) - ends[:, None]
            widths = np.abs(gaps)
            return np.maximum(widths[1:], widths[:-1])

        sizes = np.maximum(size(low), size(high))
        if self._chord:
            sizes += span * 2 * np.sin(np.diff(ends) / 4)[:, None] ** 2
        # the last term outweighs rounding
        sizes = self._kappa * (np.minimum(sizes, span) + 2.0**-48)
        return LossDistribution.of_sizes(
            sizes.ravel(), (masses[:, None] * of_cosines).ravel(), none
        )
