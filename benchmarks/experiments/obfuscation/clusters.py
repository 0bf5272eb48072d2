"""Intervals for shares of right answers, where texts of one author are alike.

The unit that is drawn is the author, with all of its texts: a bootstrap over clusters.
Any benchmark may use it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from results import bracketed
from scipy import stats

N_BOOT = 2000
FEW = 5  # authors; a variance seen in fewer of them says nothing
NOTE = (
    "95% intervals from a bootstrap over authors, with all texts of each; never "
    "narrower than Wilson's for as many independent texts as these are worth."
)


class Share(NamedTuple):
    """A share of right answers, and its interval."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return bracketed(*self)


@cache
def _drawn(n_authors: int) -> np.ndarray:
    """How often each author is drawn: shape (N_BOOT, n_authors), the same each time."""
    rng = np.random.default_rng(0)
    return rng.multinomial(n_authors, np.full(n_authors, 1 / n_authors), size=N_BOOT)


def _by_author(values: np.ndarray, authors: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sums of the last axis, and numbers of texts, by author."""
    _, codes = np.unique(authors, return_inverse=True)
    belongs = np.eye(codes.max() + 1)[codes]
    return values @ belongs, belongs.sum(axis=0)


def resampled(values: np.ndarray, authors: np.ndarray) -> np.ndarray:
    """Means over the texts (last axis): as they are, then in each resample.

    Shape (1 + N_BOOT, ...). All calls with as many authors draw the same ones, so that
    what is compared, or chosen, is so within each resample.
    """
    sums, sizes = _by_author(values, authors)
    drawn = np.vstack([np.ones(len(sizes)), _drawn(len(sizes))])
    means = sums @ drawn.T / (drawn @ sizes)
    return np.moveaxis(means, -1, 0)


def wilson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for `n` independent texts."""
    z2 = stats.norm.ppf((1 + confidence) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = np.sqrt(z2 * share * (1 - share) / n + z2**2 / (4 * n**2)) / (1 + z2 / n)
    return float(max(0, centre - margin)), float(min(1, centre + margin))


def interval(marks: np.ndarray, authors: np.ndarray) -> Share:
    """Share of right answers with its 95% interval.

    Parameters
    ----------
    marks : ndarray of shape (n_releases, n_texts)
        1 for right. Releases of a text are no further texts: their mean counts, once.
    authors : ndarray of shape (n_texts,)
        Who wrote each text.

    Notes
    -----
    Percentiles of the bootstrap over authors alone are too narrow where few answers
    are right, or few wrong: with none at all they have no width. So the interval covers
    Wilson's as well, for the number of independent texts that would vary as much as
    the bootstrap does. That number lies between the number of texts and what it would
    be if all texts of an author were right or wrong together, (Σ nₐ)² / Σ nₐ² of sizes
    nₐ. The latter is taken where fewer than five authors have an answer that is right,
    or that is wrong: how alike texts are cannot be told from those. With one text each
    this is the wider of Wilson's interval and the ordinary bootstrap's.
    """
    values = np.asarray(marks, dtype=float).mean(axis=0)
    sums, sizes = _by_author(values, authors)
    most, least = sizes.sum(), sizes.sum() ** 2 / (sizes**2).sum()
    means = resampled(values, authors)
    share, variance = float(means[0]), float(means[1:].var())
    n = least
    if min((sums > 0).sum(), (sums < sizes).sum()) >= FEW and variance > 0:
        n = np.clip(share * (1 - share) / variance, least, most)
    percentiles = np.quantile(means[1:], (0.025, 0.975))
    low, high = wilson(share, n)
    return Share(
        share, min(low, float(percentiles[0])), max(high, float(percentiles[1]))
    )
