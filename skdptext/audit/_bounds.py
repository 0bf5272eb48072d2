"""A lower bound on a privacy loss, from two samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skdptext.utils import log_ratio_bound

# So many thresholds are tried on each side of a statistic, by the draws that only
# choose one: however many are tried, the bound keeps its confidence. Their ranks grow
# geometrically, as a few draws more matter to rare events only. Chosen, not measured.
_THRESHOLDS = 200


def lower_bound(
    scores_p: np.ndarray, scores_q: np.ndarray, confidence: float, delta: float = 0.0
) -> float:
    """Lower confidence bound on the loss of P against Q, in nats, from draws of both.

    If Pr[S | P] ≤ e^ε Pr[S | Q] + δ for every event S, the result is at most ε with
    probability `confidence` or more, for every n, every number of columns and every
    pair of distributions (exact, not asymptotic). It is at least 0.

    Parameters
    ----------
    scores_p, scores_q : array-like of shape (n_p,) or (n_p, n_scores), and of n_q rows
        A row for each draw of P and of Q, in the order in which they were drawn; a
        column for each statistic that may tell them apart. The draws must be
        independent within each sample. They need not be independent of those of the
        other one. The statistics must be fixed before these draws: what is learned from
        draws is learned from others.
    confidence : float in (0, 1)
        Probability that a true ε is not exceeded.
    delta : float in [0, 1), default=0
        The δ of the claim.

    Notes
    -----
    The first third of the rows of each sample chooses a column, a side and a threshold,
    and so an event: "the score is at most t", or "at least t". On the other rows, of
    which the event does not depend, Clopper–Pearson limits bound Pr[S | P] from below
    and Pr[S | Q] from above, each with an error rate of (1 − confidence)/2, and so
    ln((Pr[S | P] − δ)/Pr[S | Q]) from below.

    *One direction.* The loss of Q against P is another call. For a claim that holds in
    both directions, or for several claims, share the error rate among the calls: with
    ``1 - (1 - confidence) / n_calls`` all bounds hold together, however they depend on
    each other, and so does their maximum.

    *Learning.* Where statistics are learned, a quarter of all draws for it leaves a
    quarter that chooses and a half that measures.
    """
    return bound_and_column(scores_p, scores_q, confidence, delta)[0]


def bound_and_column(
    scores_p: np.ndarray, scores_q: np.ndarray, confidence: float, delta: float = 0.0
) -> tuple[float, int]:
    """The result of `lower_bound`, and the column whose event shows it."""
    level = (1 - confidence) / 2
    columns = [np.reshape(scores, (len(scores), -1)) for scores in (scores_p, scores_q)]
    (p_first, p), (q_first, q) = (np.split(c, [len(c) // 3]) for c in columns)
    n_first = np.array([len(p_first), len(q_first)])
    ranks = np.geomspace(1, len(p_first), _THRESHOLDS).astype(int) - 1
    events, hits = [], []
    for j in range(p.shape[1]):
        for sign in (1, -1):
            of_p, of_q = (np.sort(sign * first[:, j]) for first in (p_first, q_first))
            thresholds = np.unique(of_p[ranks])
            events += [(j, sign, threshold) for threshold in thresholds]
            hits.append([s.searchsorted(thresholds, "right") for s in (of_p, of_q)])
    shown = log_ratio_bound(np.concatenate(hits, axis=1), n_first, level, delta)
    column, sign, threshold = events[int(np.argmax(shown))]
    seen = np.array([(sign * s[:, column] <= threshold).sum() for s in (p, q)])
    bound = log_ratio_bound(seen, np.array([len(p), len(q)]), level, delta)
    return max(float(bound), 0.0), column


def refutes(bound: Any, claimed: Any) -> Any:
    """Whether a bound is above a claim, by more than rounding."""
    return bound > claimed * (1 + 1e-12)


# -- until the audit of training stands on lower_bound

_TRIED = 200


def parted(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Rows that learn, choose and measure: a quarter, a quarter and a half.

    Of n rows of p and as many of q behind them, the same ones.
    """
    parts = np.split(rng.permutation(n), [n // 4, n // 2])
    return [np.concatenate([part, part + n]) for part in parts]


def largest_bound(n: int, level: float) -> float:
    """The most that n draws of each can show: an event that all of p and none of q."""
    return float(log_ratio_bound(np.array([n, 0]), np.array([n, n]), level))


def bounds_both_ways(
    chosen: np.ndarray, measured: np.ndarray, level: float, delta: float = 0.0
) -> list[tuple[float, int]]:
    """The bounds of p over q, and of q over p, each with its statistic."""
    # rows of q before those of p, and low scores before high ones
    turned, tested = (-np.concatenate(np.split(x, 2)[::-1]) for x in (chosen, measured))
    return [
        _best_event_bound(chosen, measured, level, delta),
        _best_event_bound(turned, tested, level, delta),
    ]


def _best_event_bound(
    chosen: np.ndarray, measured: np.ndarray, level: float, delta: float = 0.0
) -> tuple[float, int]:
    """Lower limit of log((p − δ)/q) for the event "statistic above a threshold".

    Statistics have a column each, and rows first of p, then of q. Those in `chosen`
    select statistic and threshold. Returned with the limit: which statistic.
    """
    n = len(chosen) // 2
    found, hits, of = [], [], []
    for j, column in enumerate(chosen.T):
        of_p, of_q = np.sort(column[:n]), np.sort(column[n:])
        candidates = np.unique(of_p)
        if len(candidates) > _TRIED:
            picks = np.linspace(0, len(candidates) - 1, _TRIED).astype(int)
            candidates = candidates[picks]
        found.append(candidates)
        hits.append([n - half.searchsorted(candidates) for half in (of_p, of_q)])
        of += [j] * len(candidates)
    # Of many thresholds few numbers of hits: the limits of all are looked up at once.
    shown = log_ratio_bound(
        np.concatenate(hits, axis=1), np.array([n, n]), level, delta
    )
    most = int(np.argmax(shown))
    best, threshold = of[most], np.concatenate(found)[most]
    if shown[most] == -math.inf:
        threshold = math.inf
    hits = (measured[:, best] >= threshold).reshape(2, -1).sum(axis=1)
    n_each = np.array([len(measured) // 2] * 2)
    bound = float(log_ratio_bound(hits, n_each, level, delta))
    return (max(bound, 0.0) if not math.isnan(bound) else 0.0), best
