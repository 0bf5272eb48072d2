"""Choose the best candidate of a search that meets constraints."""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError, NoFeasibleCandidateError
from skdptext.utils import (
    TUNED_ON,
    check_option,
    check_real,
    kind_of,
    shown,
    warn_of_private_tuning,
)

_RELATIONS = {">=": operator.ge, "<=": operator.le}


def best_under_constraint(
    *,
    maximize: str,
    subject_to: Mapping[str, float | tuple[str, float]],
    tuned_on: str = "private",
) -> Any:
    """Make a ``refit`` rule that picks the best candidate under constraints.

    Parameters
    ----------
    maximize : str
        Score to maximize: a key of the search's `scoring`, or ``"score"`` if it has
        only one.
    subject_to : mapping of str to float or (str, float)
        Bounds on mean test scores: ``0.8`` or ``(">=", 0.8)`` for at least,
        ``("<=", 0.3)`` for at most.
    tuned_on : {"private", "public", "released"}, default="private"
        The kind of text that the search is fitted on. ``"private"`` means the documents
        to be protected, and the rule warns. ``"public"`` means public documents, and
        ``"released"`` text that was released before, by this library or otherwise.
        Tuning on one of the latter two is recommended.

    Returns
    -------
    rule : callable
        A function from ``cv_results_`` to the index of the chosen candidate, for
        ``GridSearchCV(refit=rule)``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.
    NoFeasibleCandidateError
        When the rule is called, if no candidate meets all constraints, or a score is
        not in the search. The message gives the bounds and the range of each score; the
        error's ``cv_results`` holds the results, which scikit-learn then discards.

    Warns
    -----
    PrivacyLeakWarning
        When the rule is called, unless the documents of the search are declared public
        or released.

    See Also
    --------
    search_results_frame : All scores with their intervals.
    skdptext.inspection.PrivacyUtilityDisplay : A figure of the search.

    Notes
    -----
    ``search.score(X, y)`` is the score that the rule maximizes. For another, call its
    scorer: ``search.scorer_["accuracy"](search, X, y)``. scikit-learn sets no
    ``best_score_`` for a rule; the mean over the splits is
    ``search.cv_results_["mean_test_accuracy"][search.best_index_]``.

    *Halving searches*, such as ``HalvingGridSearchCV``, never call a function given as
    ``refit``, so this rule has no effect there. Use ``GridSearchCV`` or
    ``RandomizedSearchCV``.

    The 2020 paper [1]_ (section 6) poses the choice of λ as this problem. Ties between
    equally good candidates go to the largest margin in the first constraint, and then
    to the first candidate. A candidate with a NaN score is never chosen. If many are
    tried, some will meet a bound by chance: confirm the chosen one on documents that
    the search did not see.

    *Privacy.* A choice made by scores on private documents depends on them, for any
    searched parameter, and the guarantee of the release does not count this. Tune on
    public documents of the same kind, or on text released before. If the perturber is a
    step of the pipeline, a search over the classifier alone releases the documents once
    more for every candidate and split: release them first, then search.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020).

    Examples
    --------
    >>> from skdptext.model_selection import best_under_constraint
    >>> rule = best_under_constraint(
    ...     maximize="changed", subject_to={"accuracy": 0.75}, tuned_on="public")
    >>> rule({"mean_test_changed": [0.9, 0.6, 0.2],
    ...       "mean_test_accuracy": [0.5, 0.8, 0.9]})
    1
    """
    if not isinstance(maximize, str):
        raise InvalidParameterError(
            f"maximize must be the name of a score, got {shown(maximize)}."
        )
    if not isinstance(subject_to, Mapping) or not subject_to:
        raise InvalidParameterError(
            f"subject_to must map names of scores to bounds, got {kind_of(subject_to)}."
        )
    rule = _Rule(maximize)
    rule.subject_to = {name: _bound(name, given) for name, given in subject_to.items()}
    rule.tuned_on = check_option("tuned_on", tuned_on, TUNED_ON)
    return rule


def _bound(name: Any, bound: Any) -> tuple[str, float]:
    relation = ">="
    if isinstance(bound, tuple | list) and len(bound) == 2:
        relation, bound = bound
    if not isinstance(relation, str) or relation not in _RELATIONS:
        raise InvalidParameterError(
            f'subject_to[{shown(name)}] must be a number, (">=", number) or '
            f'("<=", number), got {kind_of(relation)}.'
        )
    return relation, check_real(f"subject_to[{shown(name)}]", bound)


class _Rule(str):
    """The name of the score to maximize, callable on the results of a search.

    A search with several scores uses `refit` to look up its own score, and accepts a
    name or a function. This object is both, which makes ``search.score`` work.
    """

    subject_to: dict[str, tuple[str, float]]
    tuned_on: str

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Index of the chosen candidate."""
        warn_of_private_tuning(
            self.tuned_on,
            "A candidate is chosen by scores",
            "the documents of this search",
        )
        scores = {
            name: np.array(cv_results.get(f"mean_test_{name}", [np.nan]), float)
            for name in (str(self), *self.subject_to)
        }
        feasible, bounds = ~np.isnan(scores[self]), []
        for name, (relation, bound) in self.subject_to.items():
            # Comparisons with NaN are false, so a candidate without a score drops out.
            feasible = feasible & _RELATIONS[relation](scores[name], bound)
            bounds.append(f"{relation} {bound:g} for {_reached(name, scores[name])}")
        if not feasible.any():
            raise NoFeasibleCandidateError(
                f"subject_to must hold for at least one candidate: {'; '.join(bounds)}."
                f" To maximize: {_reached(self, scores[self])}. Loosen a bound, widen "
                "the grid, or use scores that the search has; they are in this error's "
                "cv_results.",
                cv_results,
            )
        first, (relation, _) = next(iter(self.subject_to.items()))
        margin = scores[first] if relation == ">=" else -scores[first]
        rows = np.flatnonzero(feasible)
        # In lexsort the last key counts most. It is stable: the first candidate wins.
        return int(rows[np.lexsort((-margin[rows], -scores[self][rows]))[0]])

    def __repr__(self) -> str:
        return (
            f"best_under_constraint(maximize={str(self)!r}, "
            f"subject_to={self.subject_to!r}, tuned_on={self.tuned_on!r})"
        )


def _reached(name: str, values: np.ndarray) -> str:
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    found = "no score of this name" if np.isnan(low) else f"{low:.4g} to {high:.4g}"
    return f"{shown(str(name))}, got {found}"
