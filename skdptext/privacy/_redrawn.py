"""Privacy loss of one word that is drawn from a document and then perturbed."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from skdptext.mechanisms import TableMechanism
from skdptext.privacy._matching import matching_plan
from skdptext.utils import blocks, working_memory_bytes

# Added to exponents: more than all rounding in the logarithms they come from.
_ROUNDING = 2.0**-40


def drawn_log_proba(mechanism: TableMechanism, codes: np.ndarray) -> np.ndarray:
    """ln Pr that a word drawn from a document comes out as z, for every z.

    The `codes` are the words of the document, at least one, all known.
    """
    words, counts = np.unique(codes, return_counts=True)
    log_shares = np.log(counts) - np.log(len(codes))
    total = np.full(len(mechanism.embedding), -np.inf)
    n_rows = max(1, working_memory_bytes() // (64 * len(total)))
    for block in blocks(len(words), n_rows):
        rows = mechanism.checked_log_proba(words[block]) + log_shares[block, None]
        total = np.logaddexp(total, logsumexp(rows, axis=0))
    return total


def largest_log_ratio(x: np.ndarray, y: np.ndarray) -> float:
    """The largest x − y where x is finite, rounded up; at least 0."""
    gaps = x[np.isfinite(x)] - y[np.isfinite(x)]
    return max(0.0, float(gaps.max()) + _ROUNDING)


def mixture_exponent(
    supply: np.ndarray, demand: np.ndarray, exponents: np.ndarray
) -> float:
    r"""An exponent between two mixtures of distributions that have pairwise exponents.

    `supply` and `demand` are whole weights of the distributions P_i in p and Q_j in q,
    with the same sum; `exponents` are t_ij with P_i ≤ e^t_ij Q_j, inf for none. The
    result is a t with p ≤ e^t q.

    With s_i = Σ_j q_j e^(−t_ij), q is at least s_i P_i. By any plan π that moves p's
    weights to q's,

    .. math::

        p - q = \sum_{ij} π_{ij} (P_i - Q_j)
        \le \sum_{ij} π_{ij} (1 - e^{-t_{ij}}) P_i
        \le \sum_{ij} π_{ij} \frac{1 - e^{-t_{ij}}}{s_i} \, q .

    So t = ln(1 + c), with c the cost of the cheapest plan. Where a share g of the
    weights moves, and t bounds all t_ij, this is at most ln(1 + g(e^t − 1)), the
    advanced joint convexity of Balle, Barthe and Gaboardi (2018).
    """
    with np.errstate(divide="ignore"):
        weights = np.log(demand) - np.log(demand.sum())
        lost = np.log(-np.expm1(-exponents))  # −inf for a word that stays
        logs = lost - logsumexp(weights - exponents, axis=1, keepdims=True)
    at_most = float(logs[logs < np.inf].max(initial=-np.inf))
    if at_most == -np.inf:  # every move is free, or none is possible
        return 0.0 if (logs < np.inf).all() else np.inf
    # Scaled to at most 1, and raised to e^−690 at least, for the solver. The plan need
    # only be good: the cost of any plan is a bound, and it is computed from the logs.
    costs = np.exp(np.maximum(logs - at_most, -690.0))
    plan = matching_plan(supply, demand, np.where(np.isneginf(logs), 0.0, costs))
    moved = plan > 0
    shares = np.log(plan[moved]) - np.log(supply.sum())
    return float(np.logaddexp(0, logsumexp(shares + logs[moved]))) + _ROUNDING
