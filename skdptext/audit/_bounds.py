"""Lower bounds on a privacy loss, from how often an event is seen."""

from __future__ import annotations

import math

import numpy as np

from skdptext.utils import log_ratio_bound

# We try so many thresholds per statistic, on draws that only choose one: however many
# we try, the limit from the other draws keeps its confidence. Chosen, not measured.
_THRESHOLDS = 200


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
        if len(candidates) > _THRESHOLDS:
            picks = np.linspace(0, len(candidates) - 1, _THRESHOLDS).astype(int)
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
