"""What released words stand for, learned from other pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from skdptext.attacks._similarity import bags_of, numbered

# The penalty of the ridge regression, for rows of length 1.
_RIDGE = 0.3


def translations(
    clear: Sequence[Sequence[str]], noisy: Sequence[Sequence[str]]
) -> dict[str, np.ndarray]:
    """How like the originals are to what the releases stand for, and the reverse.

    Ridge regression carries weighted counts of words from one side to the other. It
    needs no word in common: a fixed other word, or a keyed hash, for each will do.
    """
    words, (clear_codes, noisy_codes) = numbered(clear, noisy)
    size = max(len(words), 1)
    of_clear, of_noisy = (
        _likeness(bags_of(codes, size)) for codes in (clear_codes, noisy_codes)
    )
    return {
        "translation": _carried(of_noisy, of_clear, back=False),
        "translation of originals": _carried(of_clear, of_noisy, back=True),
    }


def _likeness(bags: Any) -> np.ndarray:
    """Cosines of the weighted counts of texts, less their mean."""
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(bags)
    like = np.asarray((weighted @ weighted.T).toarray())
    mean = like.mean(axis=0)
    like = like - mean - mean[:, None] + mean.mean()
    size = np.sqrt(np.maximum(np.diagonal(like), 1e-12))
    return like / np.outer(size, size)


def _carried(known: np.ndarray, other: np.ndarray, *, back: bool) -> np.ndarray:
    """Likeness of each candidate (column) to each release, on the other side.

    Both are likenesses within a side: `known` of the side that is carried over, the
    candidates if `back`. The candidate and the original of a release are compared by
    what all pairs *but these two* have taught, in closed form: by a model that learned
    from the candidate's own pair, a wrong one looks unlike the release, so that even
    unrelated texts seem to be found.
    """
    inverse = np.linalg.inv(known + _RIDGE * np.eye(len(known)))
    own, change = np.diagonal(inverse), inverse @ other
    # of the rows and columns of two pairs in the inverse, which leave it together
    det = np.outer(own, own) - inverse**2
    np.fill_diagonal(det, 1)
    if back:
        change = change.T
        of_own, of_candidate = np.diagonal(change)[:, None], own
        wrong = other - (own[:, None] * change - inverse * of_own) / det
        right = of_candidate * of_own - inverse * change
    else:
        wrong = other - (own * change - inverse * np.diagonal(change)) / det
        right = own * np.diagonal(change)[:, None] - inverse * change.T
    right = np.diagonal(other)[:, None] - right / det
    np.fill_diagonal(right, 0)
    # differences from the original, on one scale for all candidates of a release
    mean = right.sum(axis=1, keepdims=True) / (len(right) - 1)
    found = wrong - right + mean
    np.fill_diagonal(found, mean.ravel())
    return found
