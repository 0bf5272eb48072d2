"""Lower bounds on a privacy loss, from how often an event is seen."""

from __future__ import annotations

import math

import numpy as np

from skdptext.utils import log_ratio_bound

# We try so many thresholds per statistic, on draws that only choose one: however many
# we try, the limit from the other draws keeps its confidence. Chosen, not measured.
_THRESHOLDS = 200


def best_event_bound(
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


def swapped(scores: np.ndarray) -> np.ndarray:
    """Rows of q before those of p."""
    return np.concatenate(np.split(scores, 2)[::-1])
