"""The results of a search as a tidy table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdptext.base import BaseReleaser
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import resolve_mechanism
from skdptext.metrics import find_perturber
from skdptext.model_selection._intervals import (
    Scores,
    check_confidence,
    check_test_over_train,
    score_names,
    score_summary,
)
from skdptext.utils import import_pandas, warn_once

_NOISE = ("epsilon", "lam")


class SearchResults(NamedTuple):
    """The candidates of a search and their scores; arrays have one entry per candidate.

    Attributes
    ----------
    params : dict of str to ndarray
        ``"epsilon"``, ``"lam"``, and other searched parameters under their own names.
        Estimators are named by their class, or printed where several are of one class.
    scores : dict of str to Scores
        By the name of the score: `mean` and `std` over the splits, the ends `low` and
        `high` of the interval, and `n_splits`.
    chosen : int or None
        The candidate that the search chose.
    """

    params: dict[str, np.ndarray]
    scores: dict[str, Scores]
    chosen: int | None


def search_results(
    search: Any,
    *,
    confidence: float = 0.95,
    test_over_train: float | None = None,
) -> SearchResults:
    """The results of a search over ε and λ, as arrays.

    Parameters
    ----------
    search, confidence, test_over_train : see `search_results_frame`
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
    confidence = check_confidence(confidence)
    test_over_train = check_test_over_train(test_over_train)
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
    return SearchResults(
        _params(search, list(results["params"])),
        {
            score: score_summary(results, score, confidence, test_over_train)
            for score in score_names(results)
        },
        getattr(search, "best_index_", None),
    )


def search_results_frame(
    search: Any,
    *,
    confidence: float = 0.95,
    test_over_train: float | None = None,
) -> Any:
    """The results of a search over ε and λ, one row per candidate and score.

    Parameters
    ----------
    search : fitted search, or mapping
        ``GridSearchCV``, ``RandomizedSearchCV`` or a similar search, or its
        ``cv_results_``. If the search is given, an ε or λ that was not searched is read
        from its perturber, whatever the name of the step.
    confidence : float in (0, 1), default=0.95
        Confidence of the interval from `low` to `high`.
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
        ``high``; ``n_splits``; ``chosen``, whether the search chose the candidate. A
        single split has NaN for ``std``, ``low`` and ``high``.

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
    results = search_results(
        search, confidence=confidence, test_over_train=test_over_train
    )
    pd = import_pandas("search_results_frame")
    n = len(results.params["epsilon"])
    parts = []
    for score, scores in results.scores.items():
        part = pd.DataFrame({"candidate": np.arange(n)} | results.params)
        for column, values in {"score": score, **scores._asdict()}.items():
            part[column] = values
        part["chosen"] = part["candidate"] == (
            -1 if results.chosen is None else results.chosen
        )
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _params(search: Any, params: list[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """ε, λ and the other parameters of each candidate, as columns."""
    keys = _noise_columns(params)
    columns: dict[str, np.ndarray] = {}
    twins: list[Any] = []
    if hasattr(search, "estimator"):
        steps = []
        for candidate in params:  # the perturber of each, as it was fitted
            twin = clone(search.estimator)
            twin.set_params(**clone(dict(candidate), safe=False))
            twins.append(twin)
            steps.append(find_perturber(twin))
        for name in _NOISE:
            columns[name] = np.array([float(getattr(p, name, np.nan)) for p in steps])
    else:
        for name in _NOISE:
            if name not in keys:
                raise InvalidParameterError(
                    f"search must vary one parameter {name}, got "
                    f"{sorted(set().union(*params))}. Give the search itself instead "
                    "of its cv_results_: a fixed value is read from its perturber."
                )
            columns[name] = np.array(
                [float(candidate[keys[name]]) for candidate in params]
            )
    others = sorted(set().union(*params) - set(keys.values()))
    for key in others:
        values = np.empty(len(params), dtype=object)
        values[:] = [candidate.get(key) for candidate in params]
        known = np.array([key in candidate for candidate in params])
        for i, twin in enumerate(twins):  # of several grids, one may not vary it
            own = twin.get_params()
            if not known[i] and key in own:
                values[i], known[i] = own[key], True
        if f"__{key}".endswith("__mechanism"):
            default = resolve_mechanism(None)
            bare = np.array([value is None for value in values])
            values[known & bare] = default
        columns[key] = _named(values)
    return columns


def _named(values: np.ndarray) -> np.ndarray:
    """Estimators by the names of their classes; as they print where these are equal."""
    plain = {
        i: value
        for i, value in enumerate(values)
        if hasattr(value, "get_params") and not isinstance(value, type)
    }
    if not plain:
        return values
    names = np.array([str(value) for value in values], dtype=object)
    prints = {i: _printed(value) for i, value in plain.items()}
    classes = {i: type(value).__name__ for i, value in plain.items()}
    for i, name in classes.items():
        alike = {prints[j] for j, other in classes.items() if other == name}
        names[i] = name if len(alike) == 1 else prints[i]
    return names


def _printed(value: Any) -> str:
    """An estimator in a line; a perturber without the ε and λ that are told apart."""
    if not isinstance(value, BaseReleaser):
        return " ".join(str(value).split())
    usual = inspect.signature(type(value)).parameters
    options = value.get_params(deep=False)
    for name in (*_NOISE, "embedding", "random_state"):
        options.pop(name, None)
    differ = [f"{k}={v}" for k, v in options.items() if str(v) != str(usual[k].default)]
    return f"{type(value).__name__}({', '.join(differ)})"


def _noise_columns(params: list[Mapping[str, Any]]) -> dict[str, str]:
    """Which searched parameters are ε and λ, if only one step has them."""
    keys: dict[str, str] = {}
    for name in _NOISE:
        matching = {k for p in params for k in p if f"__{k}".endswith(f"__{name}")}
        if len(matching) == 1 and all(matching <= set(p) for p in params):
            keys[name] = matching.pop()
    return keys
