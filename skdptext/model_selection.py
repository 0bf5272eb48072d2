"""Choosing ε and λ: privacy subject to utility, or utility subject to privacy."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError, NoFeasibleCandidateError
from skdptext.utils import check_real

__all__ = ["best_under_constraint"]

_RELATIONS = {">=": operator.ge, "<=": operator.le}


class best_under_constraint:  # noqa: N801 - used as a function, pickled as an object
    """Rule for ``GridSearchCV(refit=...)``: the best candidate that meets constraints.

    Parameters
    ----------
    maximize : str
        Score to maximise: a key of the search's `scoring`, or ``"score"`` where it has
        a single one.
    subject_to : mapping of str to float or (str, float)
        Bounds on mean test scores: ``0.8`` or ``(">=", 0.8)`` for at least,
        ``("<=", 0.3)`` for at most.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule; when called, if a score is not in the search.
    NoFeasibleCandidateError
        When called, if no candidate meets all constraints. The message says how far
        each score gets; the error's ``cv_results`` holds the results of the search,
        which scikit-learn does not keep then.

    Notes
    -----
    scikit-learn gives a search with several scores and such a rule no score of its own:
    pass ``scoring`` where the search is scored, as in ``cross_val_score(search, X, y,
    scoring="accuracy")``.

    The 2020 paper [1]_ (section 6) poses the choice of λ as this problem. Of equally
    good candidates, the one that clears the first constraint by most is taken, then
    the first one. A candidate with a NaN score is never taken.

    *Privacy.* A choice made by scores on private documents depends on them, which the
    guarantee does not count. Tune on public documents of the same kind.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020).

    Examples
    --------
    >>> from skdptext.model_selection import best_under_constraint
    >>> rule = best_under_constraint(
    ...     maximize="changed", subject_to={"accuracy": 0.75})
    >>> rule({"mean_test_changed": [0.9, 0.6, 0.2],
    ...       "mean_test_accuracy": [0.5, 0.8, 0.9]})
    1
    """

    def __init__(
        self,
        *,
        maximize: str,
        subject_to: Mapping[str, float | tuple[str, float]],
    ) -> None:
        if not isinstance(maximize, str):
            raise InvalidParameterError(
                f"maximize must be the name of a score, got {maximize!r}."
            )
        if not isinstance(subject_to, Mapping) or not subject_to:
            raise InvalidParameterError(
                "subject_to must map names of scores to bounds, got "
                f"{subject_to!r:.80}."
            )
        self.maximize = maximize
        self.subject_to = {
            name: _check_bound(name, bound) for name, bound in subject_to.items()
        }

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Index of the chosen candidate.

        Parameters
        ----------
        cv_results : mapping
            As in ``GridSearchCV.cv_results_``.

        Returns
        -------
        best_index : int
        """
        goal = _mean_scores(cv_results, self.maximize)
        feasible = ~np.isnan(goal)
        slacks = []
        for name, (relation, bound) in self.subject_to.items():
            scores = _mean_scores(cv_results, name)
            feasible &= _RELATIONS[relation](scores, bound)  # False for NaN
            slacks.append(scores - bound if relation == ">=" else bound - scores)
        if not feasible.any():
            raise NoFeasibleCandidateError(self._explain(cv_results, goal), cv_results)
        rows = np.flatnonzero(feasible)
        # lexsort: the last key counts most, and it is stable
        return int(rows[np.lexsort((-slacks[0][rows], -goal[rows]))[0]])

    def _explain(self, cv_results: Mapping[str, Any], goal: np.ndarray) -> str:
        parts = []
        for name, (relation, bound) in self.subject_to.items():
            scores = _mean_scores(cv_results, name)
            scores = scores[~np.isnan(scores)]
            if len(scores):
                spread = f"scores go from {scores.min():.4g} to {scores.max():.4g}"
            else:
                spread = "all scores are NaN"
            parts.append(f"{name} {relation} {bound:g} ({spread})")
        return (
            f"subject_to must leave at least one of the {len(goal)} candidates, got "
            f"none that meets {' and '.join(parts)}. Loosen a bound or widen the grid; "
            "the scores are in this error's cv_results."
        )

    def __repr__(self) -> str:
        return (
            f"best_under_constraint(maximize={self.maximize!r}, "
            f"subject_to={self.subject_to!r})"
        )


def _check_bound(name: Any, bound: Any) -> tuple[str, float]:
    if not isinstance(name, str):
        raise InvalidParameterError(
            f"subject_to must have names of scores as keys, got {name!r}."
        )
    relation = ">="
    if isinstance(bound, tuple | list):
        if len(bound) != 2 or bound[0] not in _RELATIONS:
            raise InvalidParameterError(
                f'subject_to[{name!r}] must be a number, (">=", number) or '
                f'("<=", number), got {bound!r}.'
            )
        relation, bound = bound
    return relation, check_real(f"subject_to[{name!r}]", bound)


def _mean_scores(cv_results: Mapping[str, Any], name: str) -> np.ndarray:
    key = f"mean_test_{name}"
    if key not in cv_results:
        prefix = "mean_test_"
        known = [k.removeprefix(prefix) for k in cv_results if k.startswith(prefix)]
        raise InvalidParameterError(
            f"maximize and subject_to must name scores of the search ({known}), got "
            f"{name!r}."
        )
    return np.asarray(cv_results[key], dtype=np.float64)
