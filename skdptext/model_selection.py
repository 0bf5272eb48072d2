"""Choosing ε and λ: privacy subject to utility, or utility subject to privacy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError, NoFeasibleCandidateError
from skdptext.mechanisms import MahalanobisMechanism
from skdptext.metrics._deniability import check_request
from skdptext.search import SharedNoise, half_squared_norms
from skdptext.utils import NoiseStreams, check_integer, check_option, check_real

__all__ = ["Calibration", "best_under_constraint", "calibrate_epsilon"]

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


@dataclass(frozen=True)
class Calibration:
    """What `calibrate_epsilon` found.

    Attributes
    ----------
    epsilon : float
        The ε at which the drawn noise reaches the target.
    interval : (float, float)
        The ε whose share differs from the target by no more than 1.96 standard
        errors: about 95 % confidence. 0 and inf are possible ends.
    share : float
        Share reached at `epsilon`, with the noise drawn.
    standard_error : float
        Monte-Carlo standard error of `share`, the dependence of the words counted in.
    target : float
    statistic : str
    n_words, n_draws : int
    """

    epsilon: float
    interval: tuple[float, float]
    share: float
    standard_error: float
    target: float
    statistic: str
    n_words: int
    n_draws: int


def calibrate_epsilon(
    perturber: Any,
    target: float = 0.5,
    *,
    statistic: str = "unchanged",
    words: Iterable[str] | None = None,
    n_draws: int = 100,
    random_state: Any = None,
) -> Calibration:
    """The ε at which a wanted share of words stays unchanged.

    Compares mechanisms and tables at equal empirical privacy [1]_: equal ε means little
    where λ, the dimension or the scale of the vectors differ.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Or a fitted pipeline or search that holds one. Its λ and table are used, its ε
        is not.
    target : float in (0, 1), default=0.5
        Wanted mean of N_w / n_draws over the words, or of its complement.
    statistic : {"unchanged", "changed"}, default="unchanged"
        The share that `target` is about.
    words : iterable of str, default=None
        Words of the embedding; None: all of them.
    n_draws : int, default=100
        Noise vectors, which all words share; at least 2.
    random_state : None, int or numpy.random.Generator, default=None
        An int gives the same ε again, and ε that rise with the target.

    Returns
    -------
    calibration : Calibration

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε reaches the target: some words may stay
        at any noise, and of words with equal vectors only the first can.

    Notes
    -----
    Along one noise direction a word stays itself from one ε on, and for good, since
    its Voronoi cell is convex. That ε is computed for every word and draw, in one pass
    over the vocabulary (float32, relative error about 10⁻⁵). The share at any ε is the
    part of them that it exceeds: monotone, with no search. The share at the result
    misses the target by less than 1/(n_words n_draws).

    Shared noise makes the words depend on each other. The standard error is computed
    from the shares of single draws, which are independent: more words do not replace
    more draws. It needs n_words × n_draws floats.

    *Privacy.* Nothing is read but the public embedding and the words asked about.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.model_selection import calibrate_epsilon
    >>> embedding = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> found = calibrate_epsilon(perturber, 0.9, n_draws=20_000, random_state=0)
    >>> round(found.epsilon)  # exactly 2 log(5) = 3.2, where 1 - exp(-ε/2)/2 = 0.9
    3
    """
    source, ids = check_request(perturber, words)
    target = check_real("target", target, low=0, high=1, open_low=True)
    if target == 1:
        raise InvalidParameterError("target must be in (0, 1), got 1.")
    check_option("statistic", statistic, ("unchanged", "changed"))
    n_draws = check_integer("n_draws", n_draws, low=2)
    fitted = source.mechanism_
    streams = NoiseStreams(random_state, b"calibrate_epsilon")
    unit = MahalanobisMechanism(1.0, fitted.lam, fitted.spectrum)
    vectors = source.embedding_.vectors
    noise = SharedNoise(
        unit.sample(streams.open(b"noise"), n_draws),
        vectors,
        half_squared_norms(vectors),
    )
    least = np.empty((len(ids), n_draws), dtype=np.float32)
    for rows, part in noise.critical_scales(ids):
        least[rows] = part
    unchanged = target if statistic == "unchanged" else 1 - target
    ordered = np.sort(least, axis=None)
    rank = int(np.ceil(unchanged * ordered.size - 1e-9))
    epsilon = float(ordered[max(rank, 1) - 1])
    if not 0 < epsilon < np.inf:
        low, high = float(np.mean(ordered == 0)), float(np.mean(ordered < np.inf))
        if statistic == "changed":
            low, high = 1 - high, 1 - low
        raise InvalidParameterError(
            f"target must be a share that some epsilon reaches, between {low:.4g} and "
            f"{high:.4g} here, got {target:g}."
        )

    def share(at: float) -> tuple[float, float]:
        by_draw = (least <= at).mean(axis=0)
        return float(by_draw.mean()), float(by_draw.std(ddof=1) / np.sqrt(n_draws))

    reached, error = share(epsilon)
    return Calibration(
        epsilon=epsilon,
        interval=_interval(share, unchanged, ordered, epsilon),
        share=reached if statistic == "unchanged" else 1 - reached,
        standard_error=error,
        target=target,
        statistic=statistic,
        n_words=len(ids),
        n_draws=n_draws,
    )


def _interval(
    share: Callable[[float], tuple[float, float]],
    target: float,
    ordered: np.ndarray,
    epsilon: float,
) -> tuple[float, float]:
    """All ε around the estimate at which the target is within 1.96 standard errors."""

    def agrees(at: float) -> bool:
        mean, error = share(at)
        return abs(mean - target) <= 1.96 * error + 1 / ordered.size

    finite = ordered[(ordered > 0) & (ordered < np.inf)]
    ends = []
    for limit, beyond in ((finite[0] / 2, 0.0), (finite[-1] * 2, np.inf)):
        if agrees(float(limit)):
            ends.append(beyond)
            continue
        inside, outside = epsilon, float(limit)
        for _ in range(40):  # to a relative width of some 1e-9 or better
            middle = float(np.sqrt(inside * outside))
            inside, outside = (middle, outside) if agrees(middle) else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]
