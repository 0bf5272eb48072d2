"""The results of a search as a tidy table."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdptext.exceptions import InvalidParameterError
from skdptext.metrics import find_perturber
from skdptext.perturbation import resolve_mechanism
from skdptext.utils import check_real, half_width, import_pandas


class Scores(NamedTuple):
    """A score of all candidates; every array has shape (n_candidates,)."""

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
        ``"epsilon"``, ``"lam"``, and other searched parameters under their own names,
        with estimators as text.
    scores : dict of str to Scores
        For the name of each score, `mean` and `std` over the splits, the ends `low` and
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
    """Get the results of a search over ε and λ as arrays.

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
        As `search_results_frame`.
    """
    if not hasattr(search, "cv_results_"):
        raise InvalidParameterError(
            f"search must be a fitted search, got {type(search).__name__}."
        )
    if test_over_train is not None:
        test_over_train = check_real("test_over_train", test_over_train, low=0)
    results = search.cv_results_
    names = [key[10:] for key in results if key.startswith("mean_test_")]
    return SearchResults(
        _params(search),
        {score: _scores(results, score, test_over_train) for score in names},
        getattr(search, "best_index_", None),
    )


def search_results_frame(search: Any, *, test_over_train: float | None = None) -> Any:
    """Get the results of a search over ε and λ, a row per candidate and score.

    Parameters
    ----------
    search : fitted search
        ``GridSearchCV``, ``RandomizedSearchCV`` or a similar search. ε and λ are read
        from its perturber, under any name of the step, searched or not.
    test_over_train : float, default=None
        Ratio of test to training documents in a split. None means 1/(n_splits − 1), as
        in k-fold cross-validation. Set it for other splitters: 0.3/0.7 for
        ``ShuffleSplit(test_size=0.3)``, 1/(k − 1) for repeated k-fold.

    Returns
    -------
    frame : pandas.DataFrame
        Columns: ``candidate``, the row in ``cv_results_``; ``epsilon`` and ``lam``;
        other searched parameters under their own names, with estimators printed;
        ``score``, the name of the score; ``mean`` and ``std`` over the splits (n − 1 in
        the divisor); ``low`` and ``high``, the ends of a 95% interval; ``n_splits``;
        ``chosen``, whether the search chose the candidate. A single split has NaN for
        ``std``, ``low`` and ``high``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, the search is not fitted, or does not hold
        exactly one word perturber.
    ImportError
        If pandas is not installed.

    See Also
    --------
    best_under_constraint : Chooses one of the candidates.

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
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import words_changed_scorer
    >>> from skdptext.model_selection import search_results_frame
    >>> embedding = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])
    >>> search = GridSearchCV(
    ...     DPWordPerturber(embedding, mechanism="exponential", document_length=1),
    ...     {"epsilon": [0.1, 1e6], "lam": [0]}, cv=2, scoring=words_changed_scorer)
    >>> frame = search_results_frame(search.fit([["aa"], ["bb"]]))
    >>> frame[["epsilon", "lam", "score"]].values.tolist()
    [[0.1, 0.0, 'score'], [1000000.0, 0.0, 'score']]
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
    """Compute mean, standard deviation and corrected interval of a score."""
    columns: list[np.ndarray] = []
    while (key := f"split{len(columns)}_test_{name}") in results:
        columns.append(np.asarray(results[key], dtype=np.float64))
    by_split, k = np.stack(columns, axis=1), len(columns)
    mean = by_split.mean(axis=1)
    if k == 1:
        nan = np.full(len(mean), np.nan)
        # A single split says nothing about the spread.
        return Scores(mean, nan, nan, nan, k)
    # In k-fold cross-validation, one fold tests what k − 1 folds trained.
    ratio = 1 / (k - 1) if test_over_train is None else test_over_train
    std = by_split.std(axis=1, ddof=1)
    margin = half_width(std, k, test_over_train=ratio)
    low, high = mean - margin, mean + margin
    # If all scores lie in [0, 1], they are most likely shares, of which an interval
    # beyond 0 or 1 would only confuse.
    known = by_split[~np.isnan(by_split)]
    if ((known >= 0) & (known <= 1)).all():
        low, high = low.clip(0, 1), high.clip(0, 1)
    return Scores(mean, std, low, high, k)


def _params(search: Any) -> dict[str, Any]:
    """Get ε, λ and the other parameters of each candidate, as columns."""
    candidates = search.cv_results_["params"]
    # A search may have several grids that vary different parameters. Values that a grid
    # does not vary are read from the estimator.
    models = [
        clone(search.estimator).set_params(**clone(dict(each), safe=False))
        for each in candidates
    ]
    columns: dict[str, Any] = {
        name: np.array(
            [getattr(find_perturber(m), name, np.nan) for m in models], float
        )
        for name in ("epsilon", "lam")
    }
    options = [model.get_params() for model in models]
    for key in sorted(set().union(*candidates)):
        values = [each.get(key) for each in options]
        name = key.rpartition("__")[2]
        if name == "mechanism":
            values = [resolve_mechanism(value) for value in values]
        if name not in columns or not np.array_equal(values, columns[name]):
            columns[key] = [
                " ".join(str(value).split()) if hasattr(value, "get_params") else value
                for value in values
            ]
    return columns
