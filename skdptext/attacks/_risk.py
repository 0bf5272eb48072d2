"""Risk minus control, and membership: statistics that know no texts.

Whatever is chosen, an adversary or a threshold, is chosen on one half of the cases and
scored on the other.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, ndtri

from skdptext.utils import bisect, half_width, lower_limit, share_interval, upper_limit

# Thresholds that are tried per adversary.
_THRESHOLDS = 200
# How finely the ends of an interval are found, by which they are too far out.
_FINE = 1e-6
# The fewest cases on each side that leave something to choose on and to score on.
FEWEST_CASES = 10


def minus_control(
    risk: np.ndarray,
    control: np.ndarray,
    interval: Callable[[np.ndarray], tuple[float, float]] = share_interval,
) -> tuple[float, float, float]:
    """Risk minus control, as a share of what control leaves: (r − c)/(1 − c).

    With its 95 % interval.

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
    return value, max(-1.0, value - float(below)), min(1.0, value + float(above))


def _excess(risk: float, control: float) -> float:
    """Nothing where control leaves nothing; −1 at least."""
    return max(-1.0, (risk - control) / (1 - control)) if control < 1 else risk - 1.0


def pair_interval(values: np.ndarray) -> tuple[float, float]:
    """That of `share_interval`, as if there were half as many values.

    For documents that are each attacked by what was learned from the others: of two
    that are most like each other, each is named rightly where their labels are equal.
    Both are right or wrong together, and the variance of the mean is at most twice that
    of independent answers. (Of docstrings whose authors are drawn at random it was up
    to twice, and 5 % of the intervals began above chance; so 2 % do.)
    """
    hits, n = float(values.sum()) / 2, len(values) / 2
    return float(lower_limit(hits, n, 0.025)), float(upper_limit(hits, n, 0.025))


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Student's 95 % interval of a mean of shares.

    Two more values, a 0 and a 1, are counted: where all are equal, another could still
    have differed. (Agresti and Coull, 1998, do so with shares of 0 and 1.)
    """
    more = np.append(values, [0.0, 1.0])
    half = float(half_width(more.std(ddof=1), len(more)))
    middle = float(more.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


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

    low, high = (
        bisect(lambda a: not far(a), value, end, precision=_FINE)[1]
        if far(end)
        else end
        for end in (0.0, 1.0)
    )
    return float(low), float(high)


class Membership(NamedTuple):
    """How well members are told from others, each number by its own adversary."""

    area: float  # how often, of a member and another, the member is named: the AUC
    low: float  # its 95% interval
    high: float
    area_by: int  # which adversary
    epsilon: float  # lower bound, which holds with 95%; 0 if nothing was found
    n: int  # cases scored on the smaller side; others, as many, had chosen


def membership(
    members: np.ndarray, others: np.ndarray, rng: np.random.Generator
) -> Membership:
    """Tell members from others by their scores, with a column for each adversary.

    Members have larger scores. Half of the cases choose adversary and threshold.
    """
    (chose_m, of_m), (chose_o, of_o) = (_halves(x, rng) for x in (members, others))
    pairs = list(zip(chose_m.T, chose_o.T, strict=True))
    best = int(np.argmax([auc(m, o) for m, o in pairs]))
    area = auc(of_m[:, best], of_o[:, best])
    bounds = [_best_bound(m, o) for m, o in pairs]
    shown = int(np.argmax([bound for bound, _ in bounds]))
    true, false = (int((x[:, shown] >= bounds[shown][1]).sum()) for x in (of_m, of_o))
    epsilon = max(0.0, float(epsilon_bound(true, false, len(of_m), len(of_o))))
    n, m = len(of_m), len(of_o)
    return Membership(area, *auc_interval(area, n, m), best, epsilon, min(n, m))


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


def _best_bound(members: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """The largest lower limit of ε over many thresholds, and its threshold."""
    at = np.unique(members)
    if len(at) > _THRESHOLDS:
        at = at[np.linspace(0, len(at) - 1, _THRESHOLDS).astype(int)]
    # how many are at each threshold or above
    true, false = (len(x) - np.sort(x).searchsorted(at) for x in (members, others))
    bounds = epsilon_bound(true, false, len(members), len(others))
    return float(bounds.max()), float(at[np.argmax(bounds)])
