"""Scores of a search over its splits: mean, standard deviation and interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_real, split_interval

_PREFIX = "mean_test_"


class Scores(NamedTuple):
    """One score of each candidate; every field has shape (n_candidates,)."""

    mean: np.ndarray
    std: np.ndarray  # over the splits, with n − 1; NaN for a single split
    low: np.ndarray
    high: np.ndarray
    n_splits: int


def score_names(cv_results: Mapping[str, Any]) -> list[str]:
    """Names of the test scores of a search."""
    return [k.removeprefix(_PREFIX) for k in cv_results if k.startswith(_PREFIX)]


def split_scores(cv_results: Mapping[str, Any], name: str) -> np.ndarray:
    """Test scores by candidate and split, shape (n_candidates, n_splits)."""
    columns: list[np.ndarray] = []
    while (key := f"split{len(columns)}_test_{name}") in cv_results:
        columns.append(np.asarray(cv_results[key], dtype=np.float64))
    if not columns:
        raise InvalidParameterError(
            f"cv_results must hold the scores of each split, got no split0_test_{name}."
        )
    return np.stack(columns, axis=1)


def score_summary(
    cv_results: Mapping[str, Any],
    name: str,
    confidence: float,
    test_over_train: float | None,
) -> Scores:
    """Mean, standard deviation and corrected t interval of a score.

    The variance of the mean of k splits is taken as (1/k + n_test/n_train) s², since
    the splits share training documents (Nadeau and Bengio, 2003). If all scores lie in
    [0, 1], they are taken to be shares, and the interval is clipped to [0, 1].
    """
    by_split = split_scores(cv_results, name)
    k = by_split.shape[1]
    mean = by_split.mean(axis=1)
    if k < 2:
        nan = np.full(len(mean), np.nan)
        return Scores(mean, nan, nan, nan, k)
    ratio = 1 / (k - 1) if test_over_train is None else test_over_train
    low, high = split_interval(by_split, confidence, ratio)
    return Scores(mean, by_split.std(axis=1, ddof=1), low, high, k)


def check_confidence(confidence: Any) -> float:
    """Return `confidence` if it is between 0 and 1."""
    return check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )


def check_test_over_train(value: Any) -> float | None:
    """Return n_test/n_train, or None for the ratio of k-fold cross-validation."""
    return None if value is None else check_real("test_over_train", value, low=0)
