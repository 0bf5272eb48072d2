"""Rule for a search: the best candidate that meets constraints."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from skdptext.exceptions import (
    InvalidParameterError,
    NoFeasibleCandidateError,
    UnknownScoreError,
)
from skdptext.metrics import has_perturber
from skdptext.model_selection._intervals import (
    check_confidence,
    check_test_over_train,
    score_names,
    score_summary,
)
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    check_real,
    check_tuned_on,
    kind_of,
    shown,
    warn_of_private_tuning,
)

_RELATIONS = {">=": operator.ge, "<=": operator.le}
# Recognised by name, so random_state is left out, which most classifiers have. The
# other parameters left out do not change the release.
_OF_RELEASE = set(inspect.signature(DPWordPerturber).parameters) - {
    "random_state",
    "order",
    "n_jobs",
    "verbose",
}


class best_under_constraint:  # noqa: N801 - used as a function, pickled as an object
    """Rule for ``GridSearchCV(refit=...)``: the best candidate that meets constraints.

    It is a rule for the ``refit`` of a search.

    Parameters
    ----------
    maximize : str
        Score to maximize: a key of the search's `scoring`, or ``"score"`` if it has
        only one.
    subject_to : mapping of str to float or (str, float)
        Bounds on test scores: ``0.8`` or ``(">=", 0.8)`` for at least,
        ``("<=", 0.3)`` for at most.
    confidence : float in (0, 1), default=None
        None: a bound is met if the mean over the splits meets it. 0.95: it is met
        only if the whole 95 % interval over the splits meets it.
    test_over_train : float, default=None
        For the interval: the ratio of test to training documents in a split. None:
        1/(n_splits − 1), as in k-fold cross-validation. Give it for other splitters,
        such as 0.3/0.7 for ``ShuffleSplit(test_size=0.3)``.
    tuned_on : {"private", "public", "released"}, default="private"
        What the search is fitted on. ``"private"``: the documents to be protected; a
        search over ε, λ or any other parameter that changes the release then warns.
        ``"public"``: public documents. ``"released"``: text that was released before,
        by this library or otherwise. Tuning on one of the latter two is recommended,
        and does not warn.
    scoring : iterable of str, default=None
        Names of the scores of the search, such as the mapping passed to the search as
        `scoring`. A misspelt name is then found here, before any fit.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule; when called, if `confidence` is given and the
        search has a single split.
    UnknownScoreError
        When called, if a score is not in the search: an InvalidParameterError whose
        ``cv_results`` holds the results.
    NoFeasibleCandidateError
        When called, if no candidate meets all constraints. The message gives the range
        of each score; the error's ``cv_results`` holds the results of the search, which
        scikit-learn then discards.

    Warns
    -----
    PrivacyLeakWarning
        With ``tuned_on="private"``, when called on a search over perturbers, over
        parameters named like a parameter of a perturber that changes the release, such
        as ``perturb__document_length``, or over the options of a mechanism, such as
        ``perturb__mechanism__calibration``.

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
    ``refit``, so that this rule has no effect there. Use ``GridSearchCV`` or
    ``RandomizedSearchCV``.

    The 2020 paper [1]_ (section 6) poses the choice of λ as this problem. Among equally
    good candidates, the one that clears the first constraint by the largest margin is
    taken; then the first one. A candidate with a NaN score is never taken.

    *The interval* is mean ± t s √(1/k + n_test/n_train), Student's t with the variance
    correction of [2]_, as in `search_results_frame`. The splits overlap, so it is
    approximate. It holds for one candidate: if many are tried, some will meet a bound
    by chance. Confirm the chosen one on documents that the search did not see.

    *Privacy.* A choice made by scores on private documents depends on them, which the
    guarantee of the release does not count. Tune on public documents of the same
    kind, or on text released before. The rule sees only the names of parameters, so a
    search that does not warn may still cost privacy. A search over the classifier alone
    releases the documents anew for every candidate and split, if the perturber is a
    step of the pipeline; a search over a step before the perturber, or over its
    `random_state`, also chooses by private documents.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020).
    .. [2] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine
       Learning 52.

    Examples
    --------
    >>> from skdptext.model_selection import best_under_constraint
    >>> rule = best_under_constraint(
    ...     maximize="changed", subject_to={"accuracy": 0.75}, tuned_on="public")
    >>> rule({"mean_test_changed": [0.9, 0.6, 0.2],
    ...       "mean_test_accuracy": [0.5, 0.8, 0.9]})
    1
    """

    def __init__(
        self,
        *,
        maximize: str,
        subject_to: Mapping[str, float | tuple[str, float]],
        confidence: float | None = None,
        test_over_train: float | None = None,
        tuned_on: str = "private",
        scoring: Iterable[str] | None = None,
    ) -> None:
        if not isinstance(maximize, str):
            raise InvalidParameterError(
                f"maximize must be the name of a score, got {shown(maximize)}."
            )
        if not isinstance(subject_to, Mapping) or not subject_to:
            raise InvalidParameterError(
                "subject_to must map names of scores to bounds, got "
                f"{kind_of(subject_to)}."
            )
        self.maximize = maximize
        self.subject_to = {
            name: _check_bound(name, bound) for name, bound in subject_to.items()
        }
        self.confidence = None if confidence is None else check_confidence(confidence)
        self.test_over_train = check_test_over_train(test_over_train)
        self.tuned_on = check_tuned_on(tuned_on)
        self.scoring = None if scoring is None else _check_names(scoring)
        for name in (self.maximize, *self.subject_to):
            if self.scoring is not None and name not in self.scoring:
                raise InvalidParameterError(_unknown(name, self.scoring))

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
        searched: set[str] = set()
        for candidate in cv_results.get("params", ()):
            for key, value in candidate.items():
                *path, last = key.split("__")
                # every option of a mechanism changes the release
                searched.add("mechanism" if "mechanism" in path else last)
                if has_perturber(value):  # the step itself, with its ε and λ
                    searched |= {"epsilon", "lam"}
        if searched & _OF_RELEASE:
            warn_of_private_tuning(
                self.tuned_on,
                f"{', '.join(sorted(searched & _OF_RELEASE))} chosen by scores",
                "the documents of this search",
            )
        goal = _mean_scores(cv_results, self.maximize)
        feasible = ~np.isnan(goal)
        slacks = []
        for name, (relation, bound) in self.subject_to.items():
            scores = self._bounded(cv_results, name, relation)
            feasible &= _RELATIONS[relation](scores, bound)  # False for NaN
            slacks.append(scores - bound if relation == ">=" else bound - scores)
        if not feasible.any():
            raise NoFeasibleCandidateError(self._explain(cv_results, goal), cv_results)
        rows = np.flatnonzero(feasible)
        # lexsort: the last key counts most, and it is stable
        return int(rows[np.lexsort((-slacks[0][rows], -goal[rows]))[0]])

    def _bounded(
        self, cv_results: Mapping[str, Any], name: str, relation: str
    ) -> np.ndarray:
        """The values to compare with a bound: the mean, or the end of the interval."""
        scores = _mean_scores(cv_results, name)
        if self.confidence is None:
            return scores
        summary = score_summary(cv_results, name, self.confidence, self.test_over_train)
        if summary.n_splits < 2:
            raise InvalidParameterError(
                "confidence must be None where a search has a single split, got "
                f"{self.confidence:g}."
            )
        return summary.low if relation == ">=" else summary.high

    def _explain(self, cv_results: Mapping[str, Any], goal: np.ndarray) -> str:
        parts = []
        kind = "scores"
        if self.confidence is not None:
            kind = f"near ends of the {self.confidence:.4g} intervals"
        for name, (relation, bound) in self.subject_to.items():
            scores = self._bounded(cv_results, name, relation)
            scores = scores[~np.isnan(scores)]
            if len(scores):
                spread = f"{kind} go from {scores.min():.4g} to {scores.max():.4g}"
            else:
                spread = "all scores are NaN"
            parts.append(f"{name} {relation} {bound:g} ({spread})")
        return (
            f"subject_to must leave at least one of the {len(goal)} candidates, got "
            f"none that meets {' and '.join(parts)}. Loosen a bound or widen the grid; "
            "the scores are in this error's cv_results."
        )

    # A search with several scores looks `search.score` up by its refit, the name of a
    # score or this rule, which then stands for the score that it maximizes.
    def __eq__(self, other: object) -> bool:
        return other == self.maximize if isinstance(other, str) else self is other

    def __hash__(self) -> int:
        return hash(self.maximize)

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self)).parameters.items()
        parts = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in parameters
            if getattr(self, name) != parameter.default
        ]
        return f"best_under_constraint({', '.join(parts)})"


def _check_bound(name: Any, bound: Any) -> tuple[str, float]:
    if not isinstance(name, str):
        raise InvalidParameterError(
            f"subject_to must have names of scores as keys, got {shown(name)}."
        )
    relation = ">="
    if isinstance(bound, tuple | list):
        if len(bound) != 2 or bound[0] not in _RELATIONS:
            raise InvalidParameterError(
                f'subject_to[{shown(name)}] must be a number, (">=", number) or '
                f'("<=", number), got {kind_of(bound)}.'
            )
        relation, bound = bound
    return relation, check_real(f"subject_to[{shown(name)}]", bound)


def _check_names(scoring: Any) -> list[str]:
    names = list(scoring) if isinstance(scoring, Iterable) else []
    single = isinstance(scoring, str)  # a search would call this "score"
    if single or not names or not all(isinstance(name, str) for name in names):
        raise InvalidParameterError(
            "scoring must hold names of scores, like the mapping of a search, got "
            f"{shown(scoring)}."
        )
    return names


def _unknown(name: str, names: list[str]) -> str:
    return (
        f"maximize and subject_to must name scores of the search ({names}), got "
        f"{shown(name)}."
    )


def _mean_scores(cv_results: Mapping[str, Any], name: str) -> np.ndarray:
    key = f"mean_test_{name}"
    if key not in cv_results:
        raise UnknownScoreError(
            f"{_unknown(name, score_names(cv_results))} The scores of the search are "
            "in this error's cv_results; scoring=, given to the rule, finds a misspelt "
            "name before any fit.",
            cv_results,
        )
    return np.asarray(cv_results[key], dtype=np.float64)
