"""The results of a search as a tidy table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdptext.exceptions import InvalidParameterError
from skdptext.metrics import find_perturber
from skdptext.perturbation import resolve_mechanism
from skdptext.utils import check_real, import_pandas, split_interval, warn_once

_NOISE = ("epsilon", "lam")


class Scores(NamedTuple):
    """One score of each candidate; every array has shape (n_candidates,)."""

    mean: np.ndarray
    std: np.ndarray  # over the splits, with n − 1; NaN for a single split
    low: np.ndarray
    high: np.ndarray
    n_splits: int


class SearchResults(NamedTuple):
    """The candidates of a search and their scores, with one entry per candidate.

    Attributes
    ----------
    params : dict of str to ndarray or list
        ``"epsilon"``, ``"lam"``, and other searched parameters under their own names.
        Estimators are named by their class, or printed where several are of one class.
    scores : dict of str to Scores
        By the name of the score: `mean` and `std` over the splits, the ends `low` and
        `high` of the interval, and `n_splits`.
    chosen : int or None
        The candidate that the search chose.
    """

    params: dict[str, Any]
    scores: dict[str, Scores]
    chosen: int | None


def search_results(
    search: Any, *, test_over_train: float | None = None
) -> SearchResults:
    """The results of a search over ε and λ, as arrays.

    Parameters
    ----------
    search, test_over_train : see `search_results_frame`
        As for `search_results_frame`, which describes the intervals.

    Returns
    -------
    results : SearchResults
        Parameters and scores of all candidates.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε or λ is found in the search.

    Examples
    --------
    >>> from skdptext.model_selection import search_results
    >>> results = search_results({
    ...     "params": [{"epsilon": 5, "lam": 0.5}], "mean_test_accuracy": [0.8],
    ...     "split0_test_accuracy": [0.7], "split1_test_accuracy": [0.9]})
    >>> results.scores["accuracy"].mean.tolist()
    [0.8]
    """
    if test_over_train is not None:
        test_over_train = check_real("test_over_train", test_over_train, low=0)
    results = getattr(search, "cv_results_", search)
    if not isinstance(results, Mapping) or "params" not in results:
        raise InvalidParameterError(
            "search must be a fitted search or its cv_results_, got "
            f"{type(search).__name__}."
        )
    if "iter" in results and callable(getattr(search, "refit", None)):
        warn_once(
            "A halving search never calls its refit: it chose by its own rule, "
            "whatever constraint was given. Use GridSearchCV or RandomizedSearchCV.",
            UserWarning,
        )
    names = [key[10:] for key in results if key.startswith("mean_test_")]
    return SearchResults(
        _params(search, list(results["params"])),
        {score: _scores(results, score, test_over_train) for score in names},
        getattr(search, "best_index_", None),
    )


def search_results_frame(search: Any, *, test_over_train: float | None = None) -> Any:
    """The results of a search over ε and λ, one row per candidate and score.

    Parameters
    ----------
    search : fitted search, or mapping
        ``GridSearchCV``, ``RandomizedSearchCV`` or a similar search, or its
        ``cv_results_``. If the search is given, an ε or λ that was not searched is read
        from its perturber, whatever the name of the step.
    test_over_train : float, default=None
        Ratio of test to training documents in a split. None: 1/(n_splits − 1), as in
        k-fold cross-validation. Give it for other splitters: 0.3/0.7 for
        ``ShuffleSplit(test_size=0.3)``, 1/(k − 1) for repeated k-fold.

    Returns
    -------
    frame : pandas.DataFrame
        Columns: ``candidate``, the row in ``cv_results_``; ``epsilon`` and ``lam``;
        other searched parameters under their own names, with estimators named by
        their class (printed where several are of one class); ``score``, the name of the
        score; ``mean`` and ``std`` over the splits (n − 1 in the divisor); ``low`` and
        ``high``, the ends of a 95% interval; ``n_splits``; ``chosen``, whether the
        search chose the candidate. A single split has NaN for ``std``, ``low`` and
        ``high``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε or λ is found in the search.
    ImportError
        If pandas is not installed.

    See Also
    --------
    best_under_constraint : Chooses one of them.

    Notes
    -----
    *The interval* is mean ± t s √(1/k + n_test/n_train), with s the standard deviation
    over the k splits and t the quantile of Student's distribution with k − 1 degrees of
    freedom. Splits share training documents, so their scores are not independent, and
    the usual √(1/k) is too narrow; the second term is the correction of [1]_. No
    unbiased estimate of this variance exists for cross-validation [2]_: the interval is
    approximate. It covers the splits and the noise drawn in them, but not the selection
    of the best of many candidates.

    *Privacy.* The scores are statistics of the documents that the search saw.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine
       Learning 52.
    .. [2] Y. Bengio, Y. Grandvalet (2004). No unbiased estimator of the variance of
       k-fold cross-validation. JMLR 5.

    Examples
    --------
    >>> from skdptext.model_selection import search_results_frame
    >>> frame = search_results_frame({
    ...     "params": [{"noise__epsilon": 5, "noise__lam": 0.5}],
    ...     "mean_test_accuracy": [0.8],
    ...     "split0_test_accuracy": [0.7], "split1_test_accuracy": [0.9]})
    >>> frame[["epsilon", "lam", "score", "mean"]].values.tolist()
    [[5.0, 0.5, 'accuracy', 0.8]]
    """
    results = search_results(search, test_over_train=test_over_train)
    pd = import_pandas("search_results_frame")
    candidates = np.arange(len(results.params["epsilon"]))
    chosen = {"chosen": candidates == results.chosen}
    columns = {"candidate": candidates} | results.params
    return pd.concat(
        [
            pd.DataFrame(columns | {"score": score} | scores._asdict() | chosen)
            for score, scores in results.scores.items()
        ],
        ignore_index=True,
    )


def _scores(
    results: Mapping[str, Any], name: str, test_over_train: float | None
) -> Scores:
    """Mean, standard deviation and corrected interval of a score."""
    columns: list[np.ndarray] = []
    while (key := f"split{len(columns)}_test_{name}") in results:
        columns.append(np.asarray(results[key], dtype=np.float64))
    if not columns:
        raise InvalidParameterError(
            f"cv_results must hold the scores of each split, got no split0_test_{name}."
        )
    by_split, k = np.stack(columns, axis=1), len(columns)
    mean = by_split.mean(axis=1)
    if k == 1:
        nan = np.full(len(mean), np.nan)
        return Scores(mean, nan, nan, nan, k)
    ratio = 1 / (k - 1) if test_over_train is None else test_over_train
    low, high = split_interval(by_split, 0.95, ratio)
    return Scores(mean, by_split.std(axis=1, ddof=1), low, high, k)


def _params(search: Any, params: list[Mapping[str, Any]]) -> dict[str, Any]:
    """ε, λ and the other parameters of each candidate, as columns."""
    keys = {}
    for name in _NOISE:
        matching = {k for p in params for k in p if f"__{k}".endswith(f"__{name}")}
        if len(matching) == 1 and all(matching <= set(p) for p in params):
            keys[name] = matching.pop()
    rows = [_row(search, candidate, keys) for candidate in params]
    columns: dict[str, Any] = {}
    for name in _NOISE:
        if not all(name in row for row in rows):
            raise InvalidParameterError(
                f"search must vary one parameter {name}, got "
                f"{sorted(set().union(*params))}. Give the search itself instead of "
                "its cv_results_: a fixed value is read from its perturber."
            )
        columns[name] = np.array([float(row[name]) for row in rows])
    for key in sorted(set().union(*params) - set(keys.values())):
        values = [row.get(key) for row in rows]
        if f"__{key}".endswith("__mechanism"):
            values = [resolve_mechanism(value) for value in values]
        columns[key] = _named(values)
    return columns


def _row(
    search: Any, candidate: Mapping[str, Any], keys: Mapping[str, str]
) -> dict[str, Any]:
    """A candidate's parameters, and its ε and λ under these names."""
    if not hasattr(search, "estimator"):
        return {**candidate, **{name: candidate[key] for name, key in keys.items()}}
    made = clone(search.estimator).set_params(**clone(dict(candidate), safe=False))
    noise = find_perturber(made)
    # of several grids, one may not vary what another one does
    return (
        made.get_params()
        | dict(candidate)
        | {name: getattr(noise, name, np.nan) for name in _NOISE}
    )


def _named(values: list[Any]) -> list[Any]:
    """Values, with estimators by their classes, or as they print if these are equal."""
    printed: dict[str, dict[int, str]] = {}
    for i, value in enumerate(values):
        if hasattr(value, "get_params") and not isinstance(value, type):
            text = " ".join(str(value).split())
            printed.setdefault(type(value).__name__, {})[i] = text
    names = list(values)
    for kind, texts in printed.items():
        for i, text in texts.items():
            names[i] = kind if len(set(texts.values())) == 1 else text
    return names
