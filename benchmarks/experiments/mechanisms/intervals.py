"""How sure an accuracy is: other documents, and other releases of them."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import norm

N_BOOTSTRAPS = 1000


def accuracies(right: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Balanced accuracy of marks (n_releases, n_documents), and of bootstraps of both.

    Documents and releases are drawn again, each on its own; equal documents and
    releases for every mechanism, so that differences are of pairs.
    """
    kinds, codes = np.unique(truth, return_inverse=True)
    n_releases, n = right.shape
    documents, releases = drawn_again(n), drawn_again(n_releases) / n_releases
    shares = []
    for k in range(len(kinds)):
        mine = codes == k
        hits = documents[:, mine] @ right[:, mine].T.astype(float)
        with np.errstate(invalid="ignore"):
            shares.append(
                (hits * releases).sum(axis=1) / documents[:, mine].sum(axis=1)
            )
    return np.nanmean(shares, axis=0)


@cache
def drawn_again(n: int) -> np.ndarray:
    """How often each of n is drawn, in every bootstrap; first each once."""
    rng = np.random.default_rng(n)
    drawn = rng.multinomial(n, np.full(n, 1 / n), N_BOOTSTRAPS)
    return np.concatenate([np.ones((1, n)), drawn])


def limits(draws: np.ndarray) -> tuple[float, float, float]:
    """The value, and what 95% of the bootstraps lie between."""
    low, high = np.quantile(draws[1:], [0.025, 0.975])
    return float(draws[0]), float(low), float(high)


def two_sided(draws: np.ndarray) -> float:
    """p-value of a difference, by the standard error of its bootstraps."""
    error = draws[1:].std(ddof=1)
    return float(2 * norm.sf(abs(draws[0]) / error)) if error > 0 else 1.0
