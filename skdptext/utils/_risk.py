"""Risk minus control, membership and abstaining: statistics that know no texts.

Whatever is chosen, an adversary or a threshold, is chosen on one half of the cases and
scored on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, ndtri

from skdptext.utils._intervals import lower_limit, share_interval
from skdptext.utils._system import bisect

# Share of the others that the adversary who is nearly sure takes for members.
FALSE_RATE = 0.01
# Thresholds that are tried per adversary.
_THRESHOLDS = 200
# How finely the ends of an interval are found, by which they are too far out.
_FINE = 1e-6
# The fewest cases on each side that leave something to choose on and to score on.
FEWEST_CASES = 10


class Excess(NamedTuple):
    """A risk minus its control, with a 95 % interval, and both shares."""

    value: float
    low: float
    high: float
    risk: float
    control: float


def minus_control(
    risk: np.ndarray,
    control: np.ndarray,
    interval: Callable[[np.ndarray], tuple[float, float]] = share_interval,
) -> Excess:
    """Risk minus control, as a share of what control leaves: (r − c)/(1 − c).

    Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic
    data": what is also found of those whose data were not used is no fault of the
    release. Values are in [0, 1], one of each case.
    """
    r, c = float(np.mean(risk)), float(np.mean(control))
    (r_low, r_high), (c_low, c_high) = interval(risk), interval(control)
    value = _excess(r, c)
    # Zou and Donner (2008): the distances to the limits of the two parts, squared and
    # added, as the parts are independent
    below = np.hypot(value - _excess(r_low, c), value - _excess(r, c_high))
    above = np.hypot(_excess(r_high, c) - value, _excess(r, c_low) - value)
    low, high = max(-1.0, value - float(below)), min(1.0, value + float(above))
    return Excess(value, low, high, r, c)


def _excess(risk: float, control: float) -> float:
    """Nothing where control leaves nothing; −1 at least."""
    return max(-1.0, (risk - control) / (1 - control)) if control < 1 else risk - 1.0


def auc(members: np.ndarray, others: np.ndarray) -> float:
    """How often a member has the larger score of the two; half where they are equal."""
    ordered = np.sort(others)
    below = ordered.searchsorted(members) + ordered.searchsorted(members, "right")
    return float(below.mean() / (2 * len(others)))


def auc_interval(value: float, n: int, m: int) -> tuple[float, float]:
    """Newcombe's 95 % interval of an AUC of n members and m others.

    Newcombe (2006), method 5: the AUCs that are not refuted with the variance that
    Hanley and McNeil (1982) give them, so that a perfect score has an interval, too.
    """
    z = float(ndtri(0.975))
    more = (n + m) / 2 - 1

    def far(area: float) -> bool:
        spread = 1 + more * ((1 - area) / (2 - area) + area / (1 + area))
        return abs(value - area) > z * np.sqrt(area * (1 - area) * spread / (n * m))

    low = (
        bisect(lambda a: not far(a), value, 0.0, precision=_FINE)[1]
        if far(0.0)
        else 0.0
    )
    high = (
        bisect(lambda a: not far(a), value, 1.0, precision=_FINE)[1]
        if far(1.0)
        else 1.0
    )
    return float(low), float(high)


@dataclass(frozen=True)
class Membership:
    """How well members are told from others, each number by its own adversary.

    Attributes
    ----------
    area : float
        How often, of a member and another, the member is named: the AUC.
    area_low, area_high : float
        Its 95 % interval.
    advantage : Excess
        Share of the members above a threshold, minus that of the others.
    sure : Excess
        The same where hardly any of the others are above.
    epsilon : float
        Lower bound on ε, which holds with 95 %; 0 if nothing was found.
    largest : float
        The largest lower bound that so many cases can show.
    area_by, advantage_by, sure_by, epsilon_by : int
        Which adversary.
    n_members, n_others : int
        Cases that were scored. Others, as many, had chosen adversaries and thresholds.
    """

    area: float
    area_low: float
    area_high: float
    advantage: Excess
    sure: Excess
    epsilon: float
    largest: float
    area_by: int
    advantage_by: int
    sure_by: int
    epsilon_by: int
    n_members: int
    n_others: int


def membership(
    members: np.ndarray, others: np.ndarray, rng: np.random.Generator
) -> Membership:
    """Tell members from others by their scores, with a column for each adversary.

    Members have larger scores. Half of the cases choose adversary and threshold.
    """
    (chose_m, of_m), (chose_o, of_o) = (_halves(x, rng) for x in (members, others))
    pairs = list(zip(chose_m.T, chose_o.T, strict=True))
    areas = [auc(m, o) for m, o in pairs]
    best = int(np.argmax(areas))
    area = auc(of_m[:, best], of_o[:, best])
    gaps = [_widest(m, o) for m, o in pairs]
    far = _first(gaps)
    sure = [_nearly_sure(m, o) for m, o in pairs]
    few = _first(sure)
    bounds = [_best_bound(m, o) for m, o in pairs]
    shown = _first(bounds)
    at = bounds[shown][1]
    return Membership(
        area,
        *auc_interval(area, len(of_m), len(of_o)),
        _above(of_m[:, far], of_o[:, far], gaps[far][1]),
        _above(of_m[:, few], of_o[:, few], sure[few][1]),
        max(0.0, float(epsilon_bound(*_hits(of_m[:, shown], of_o[:, shown], at)))),
        float(epsilon_bound(len(of_m), 0, len(of_m), len(of_o))),
        *(best, far, few, shown),
        *(len(of_m), len(of_o)),
    )


def epsilon_bound(true: Any, false: Any, n: Any, m: Any, level: float = 0.05) -> Any:
    """Lower limit of ε where `true` of n members and `false` of m others were named.

    If each case had been made a member by an independent draw of probability
    n/(n + m), whoever sees one release of an ε-differentially private mechanism is
    right about each case that they name with a probability of
    n eᵋ/(n eᵋ + m) at most, and so, however the cases hang together, as often as in
    independent draws of this probability, at most (Steinke, Nasr and Jagielski, 2023,
    "Privacy auditing with one (1) training run"). Clopper and Pearson's limit of this
    probability errs at `level`.
    """
    low = lower_limit(true, true + false, level)
    with np.errstate(divide="ignore"):
        return logit(low) - np.log(n) + np.log(m)


def _halves(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(x))
    return x[order[: len(x) // 2]], x[order[len(x) // 2 :]]


def _first(found: Sequence[tuple[float, float]]) -> int:
    return int(np.argmax([value for value, _ in found]))


def _thresholds(members: np.ndarray) -> np.ndarray:
    """Scores of members, or so many of them, spread evenly."""
    values = np.unique(members)
    if len(values) > _THRESHOLDS:
        values = values[np.linspace(0, len(values) - 1, _THRESHOLDS).astype(int)]
    return values


def _counts(x: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many are at each threshold or above."""
    return len(x) - np.sort(x).searchsorted(thresholds)


def _widest(members: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The largest difference of the shares above a threshold, and that threshold."""
    at = _thresholds(members)
    gap = _counts(members, at) / len(members) - _counts(others, at) / len(others)
    return float(gap.max()), float(at[np.argmax(gap)])


def _nearly_sure(members: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The share of members above hardly any of the others, and from which score on.

    Of m others, the next one is above the k-th with probability k/(m + 1).
    """
    most = max(1, int(FALSE_RATE * (len(others) + 1)))
    limit = np.nextafter(np.sort(others)[-most], np.inf)
    return float(np.mean(members >= limit)), float(limit)


def _best_bound(members: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The largest lower limit of ε over all thresholds, and its threshold."""
    at = _thresholds(members)
    counts = _counts(members, at), _counts(others, at)
    bounds = epsilon_bound(*counts, len(members), len(others))
    return float(bounds.max()), float(at[np.argmax(bounds)])


def _hits(
    members: np.ndarray, others: np.ndarray, threshold: float
) -> tuple[int, int, int, int]:
    true, false = (int((x >= threshold).sum()) for x in (members, others))
    return true, false, len(members), len(others)


def _above(members: np.ndarray, others: np.ndarray, threshold: float) -> Excess:
    return minus_control(
        (members >= threshold).astype(float), (others >= threshold).astype(float)
    )


def recall_when_sure(
    lead: np.ndarray,
    right: np.ndarray,
    choosing: np.ndarray,
    scoring: np.ndarray,
    precision: float = 0.9,
) -> tuple[np.ndarray, float]:
    """Cases that are named rightly by an adversary who may abstain.

    They name cases whose `lead` reaches a threshold: the lowest from which on, among
    those `choosing`, the share that is right is `precision` at least. Returned for
    those `scoring`: whether each is named and right, and the share of the named that
    are right (NaN if none is named).
    """
    order = choosing[np.argsort(-lead[choosing], kind="stable")]
    hits = np.cumsum(right[order])
    # a threshold names all cases of equal lead
    last = np.append(np.diff(lead[order]) != 0, True)
    enough = np.flatnonzero(last & (hits >= precision * np.arange(1, len(order) + 1)))
    threshold = lead[order[enough[-1]]] if len(enough) else np.inf
    named = lead[scoring] >= threshold
    hit = right[scoring] * named
    return hit, float(hit.sum() / named.sum()) if named.any() else float("nan")
