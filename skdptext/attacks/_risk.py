"""Statistics of risk minus control, and of membership.

Attackers and thresholds are chosen on one half of the cases and scored on the other.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, ndtri

from skdptext.utils import bisect, half_width, lower_limit, share_interval, upper_limit

# Number of thresholds tried per attacker.
_THRESHOLDS = 200
# Precision of the ends of an interval, which are too wide by this much.
_FINE = 1e-6
# The fewest cases on each side: half of them choose, and half are scored.
FEWEST_CASES = 10


def minus_control(
    risk: np.ndarray,
    control: np.ndarray,
    interval: Callable[[np.ndarray], tuple[float, float]] = share_interval,
) -> tuple[float, float, float]:
    """Compute risk minus control, (r − c)/(1 − c), with its 95% interval.

    Giomi et al. (2023), "A unified framework for quantifying privacy risk in synthetic
    data": success against people whose data were not used does not count against the
    release. Values are in [0, 1], one for each case.
    """
    r, c = float(np.mean(risk)), float(np.mean(control))
    (r_low, r_high), (c_low, c_high) = interval(risk), interval(control)
    value = _excess(r, c)
    # Zou and Donner (2008): the distances to the limits of the two independent parts
    # are squared and added.
    below = np.hypot(value - _excess(r_low, c), value - _excess(r, c_high))
    above = np.hypot(_excess(r_high, c) - value, _excess(r, c_low) - value)
    return value, max(-1.0, value - float(below)), min(1.0, value + float(above))


def _excess(risk: float, control: float) -> float:
    """Compute (r − c)/(1 − c), at least −1; r − 1 if control is 1."""
    return max(-1.0, (risk - control) / (1 - control)) if control < 1 else risk - 1.0


def pair_interval(values: np.ndarray) -> tuple[float, float]:
    """Compute `share_interval` as if there were half as many values.

    Use it if each document is attacked by a model of the others. Two most similar
    documents are both right or both wrong, depending on whether their labels are equal.
    The variance of the mean is at most twice that of independent answers. (For
    docstrings with random authors it was up to twice as large, and 5% of ordinary
    intervals were above chance; with this correction 2% are.)
    """
    hits, n = float(values.sum()) / 2, len(values) / 2
    return float(lower_limit(hits, n, 0.025)), float(upper_limit(hits, n, 0.025))


def mean_interval(values: np.ndarray) -> tuple[float, float]:
    """Compute Student's 95% interval of a mean of shares.

    A 0 and a 1 are added to the values: even if all are equal, another one could have
    differed. (Agresti and Coull, 1998, do this for shares of 0 and 1.)
    """
    more = np.append(values, [0.0, 1.0])
    half = float(half_width(more.std(ddof=1), len(more)))
    middle = float(more.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


def auc(members: np.ndarray, others: np.ndarray) -> float:
    """Compute how often a member has a larger score than another; ties count half."""
    ordered = np.sort(others)
    below = ordered.searchsorted(members) + ordered.searchsorted(members, "right")
    return float(below.mean() / (2 * len(others)))


def auc_interval(value: float, n: int, m: int) -> tuple[float, float]:
    """Compute Newcombe's 95% interval of an AUC of n members and m others.

    Newcombe (2006), method 5: the AUCs that are not refuted with their variance by
    Hanley and McNeil (1982). A perfect score also has an interval.
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
    """How well members are distinguished from others; attackers may differ."""

    area: float  # how often attackers pick the member of a pair: the AUC
    low: float  # its 95% interval
    high: float
    area_by: int  # number of the attacker
    epsilon: float  # lower bound with 95% confidence; 0 if nothing was found
    n: int  # number of scored cases on the smaller side


def membership(
    members: np.ndarray, others: np.ndarray, rng: np.random.Generator
) -> Membership:
    """Distinguish members from others by their scores, a column per attacker.

    Members have larger scores. Half of the cases choose attacker and threshold.
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
    """Compute a lower limit of ε if `true` of n members and `false` of m others match.

    Assume that each case became a member by an independent draw of probability
    n/(n + m). An attacker who sees one release of an ε-differentially private mechanism
    is right about each case they pick with a probability of at most
    n eᵋ/(n eᵋ + m). Even if cases depend on each other, they are right at most as often
    as in independent draws with this probability (Steinke, Nasr and Jagielski, 2023,
    "Privacy auditing with one (1) training run"). `level` is the error rate of Clopper
    and Pearson's limit of this probability.
    """
    low = lower_limit(true, true + false, level)
    with np.errstate(divide="ignore"):
        return logit(low) - np.log(n) + np.log(m)


def _halves(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(x))
    return x[order[: len(x) // 2]], x[order[len(x) // 2 :]]


def _best_bound(members: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Find the largest lower limit of ε over many thresholds, and its threshold."""
    at = np.unique(members)
    if len(at) > _THRESHOLDS:
        at = at[np.linspace(0, len(at) - 1, _THRESHOLDS).astype(int)]
    # Count the cases at or above each threshold.
    true, false = (len(x) - np.sort(x).searchsorted(at) for x in (members, others))
    bounds = epsilon_bound(true, false, len(members), len(others))
    return float(bounds.max()), float(at[np.argmax(bounds)])
