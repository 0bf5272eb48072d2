"""Lower bounds on a privacy loss from two samples."""

from typing import Any

import numpy as np

from skdptext.utils import lower_limit, upper_limit

# Number of thresholds tried on each side of a statistic. The draws that choose one are
# not used for the bound, so the confidence does not depend on this number. Ranks grow
# geometrically, because a few draws more matter for rare events only. Chosen, not
# measured.
_THRESHOLDS = 200


def lower_bound(
    scores_p: np.ndarray, scores_q: np.ndarray, confidence: float, delta: float = 0.0
) -> float:
    """Compute a lower confidence bound on the loss of P against Q, in nats.

    If Pr[S | P] ≤ e^ε Pr[S | Q] + δ for every event S, the result is at most ε with
    probability `confidence` or more, for every n, every number of columns and every
    pair of distributions (exact, not asymptotic). It is at least 0.

    Parameters
    ----------
    scores_p, scores_q : array-like of shape (n_p,) or (n_p, n_scores), and of n_q rows
        A row for each draw of P and of Q, in the order in which they were drawn, and a
        column for each statistic that may distinguish them. The draws must be
        independent within each sample, but not between the two samples. The statistics
        must be fixed before these draws: learn them from other draws.
    confidence : float in (0, 1)
        Probability that a true ε is not exceeded.
    delta : float in [0, 1), default=0
        The δ of the claim.

    Notes
    -----
    The first quarter of the rows of each sample chooses a column, a side and a
    threshold. They define an event: "the score is at most t", or "at least t". On the
    other rows, on which the event does not depend, Clopper–Pearson limits bound
    Pr[S | P] from below and Pr[S | Q] from above, each with an error rate of
    (1 − confidence)/2. This bounds ln((Pr[S | P] − δ)/Pr[S | Q]) from below.

    *One direction.* The loss of Q against P takes another call. For a claim that holds
    in both directions, or for several claims, share the error rate among the calls:
    with ``1 - (1 - confidence) / n_calls`` all bounds hold together, and so does their
    maximum, even if they depend on each other.

    *Power.* The error of the bound shrinks with the number of rows that measure, while
    an almost optimal event is good enough. If an eighth of all draws learns the
    statistics and a quarter of the rest chooses, two thirds of all measure: of 400
    audits with 10⁵ draws, 98% caught a claim that is 8% too small. If a quarter learns,
    another chooses and half measures, 91% of the same audits caught it.
    """
    return bound_and_column(scores_p, scores_q, confidence, delta)[0]


def bound_and_column(
    scores_p: np.ndarray, scores_q: np.ndarray, confidence: float, delta: float = 0.0
) -> tuple[float, int]:
    """Compute `lower_bound`, and the column whose event shows it."""
    level = (1 - confidence) / 2
    columns = [np.reshape(scores, (len(scores), -1)) for scores in (scores_p, scores_q)]
    (p_first, p), (q_first, q) = (np.split(c, [len(c) // 4]) for c in columns)
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


def log_ratio_bound(
    hits: np.ndarray, n: np.ndarray, level: float, delta: float = 0.0
) -> Any:
    """Compute a lower limit of log((p − δ)/q), each side at error rate `level`.

    `hits` has the counts of p in its first row and those of q in its second.
    """
    # Limits are computed once per distinct count: of thousands, a few hundred differ.
    (p, of_p), (q, of_q) = (np.unique(each, return_inverse=True) for each in hits)
    low = lower_limit(p, n[0], level)[of_p.reshape(np.shape(hits[0]))]
    high = upper_limit(q, n[1], level)[of_q.reshape(np.shape(hits[1]))]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low - delta, 0.0)) - np.log(high)


def refutes(bound: Any, claimed: Any) -> Any:
    """Check whether a bound exceeds a claim by more than rounding."""
    return bound > claimed * (1 + 1e-12)
