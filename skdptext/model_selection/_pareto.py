"""The Pareto front of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of, shown


def pareto_front(
    scores: Any, *, directions: Sequence[str] | Mapping[str, str] | None = None
) -> np.ndarray:
    """The candidates that no other candidate dominates.

    One candidate dominates another if it is at least as good in every score and better
    in one. The remaining candidates are the possible trade-offs between the scores.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_scores), or mapping of str to \
            array-like of shape (n_candidates,)
        One row per candidate, or one named array per score.
    directions : sequence or mapping of {"max", "min"}, default=None
        Whether higher or lower scores are better; a mapping if `scores` is one, in
        which missing names mean ``"max"``. None: higher is better for all.

    Returns
    -------
    on_front : ndarray of bool, shape (n_candidates,)
        Candidates with equal scores are on the front together. A candidate with a NaN
        score is never on the front, and dominates nothing.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.

    See Also
    --------
    search_results_frame : The scores of a search, with their intervals.
    skdptext.inspection.PrivacyUtilityDisplay : Draws the front.

    Notes
    -----
    Mean scores over splits are estimates: a candidate may be off the front by chance
    alone. The intervals of `search_results_frame` show how uncertain they are.

    Examples
    --------
    >>> from skdptext.model_selection import pareto_front
    >>> scores = {"changed": [0.9, 0.6, 0.5], "accuracy": [0.5, 0.8, 0.7]}
    >>> pareto_front(scores).tolist()
    [True, True, False]
    >>> pareto_front(scores, directions={"changed": "min"}).tolist()
    [False, True, True]
    """
    table = _as_gains(scores, directions)
    on_front = ~np.isnan(table).any(axis=1)
    for row in np.flatnonzero(on_front):
        if on_front[row]:  # what a dominated row dominates, another one dominates too
            as_bad = (table <= table[row]).all(axis=1)  # never with NaN
            on_front &= ~(as_bad & (table < table[row]).any(axis=1))
    return on_front


def _as_gains(
    scores: Any, directions: Sequence[str] | Mapping[str, str] | None
) -> np.ndarray:
    """Scores as one array in which more is better."""
    names: list[str] = []
    if isinstance(scores, Mapping):
        names = list(scores)
        scores = [_as_numbers(f"scores[{name!r}]", scores[name]) for name in names]
        if len({column.shape for column in scores}) > 1:
            raise InvalidParameterError(
                "scores must have one value per candidate in every array, got shapes "
                f"{[column.shape for column in scores]}."
            )
        scores = np.transpose(scores)
    table = _as_numbers("scores", scores)
    if table.ndim != 2 or not table.shape[1]:
        raise InvalidParameterError(
            "scores must have shape (n_candidates, n_scores), with at least one score, "
            f"got {table.shape}."
        )
    for column, direction in enumerate(_directions(directions, names, table.shape[1])):
        if direction == "min":
            table[:, column] *= -1
    return table


def _as_numbers(name: str, values: Any) -> np.ndarray:
    """A copy as float64."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"{name} must be numbers, one row per candidate, got {kind_of(values)} "
            "that holds something else."
        ) from None


def _directions(directions: Any, names: list[str], n_scores: int) -> list[str]:
    """One direction per column."""
    if directions is None:
        return ["max"] * n_scores
    if isinstance(directions, Mapping):
        unknown = [name for name in directions if name not in names]
        if unknown:
            raise InvalidParameterError(
                f"directions must name scores ({names}), got {shown(unknown[0])}."
            )
        listed = [directions.get(name, "max") for name in names]
    elif isinstance(directions, str) or not isinstance(directions, Sequence):
        raise InvalidParameterError(
            'directions must be a sequence or mapping of "max" and "min", got '
            f"{shown(directions)}."
        )
    else:
        listed = list(directions)
    if len(listed) != n_scores:
        raise InvalidParameterError(
            f"directions must have one entry per score ({n_scores}), got {len(listed)}."
        )
    for i, direction in enumerate(listed):
        if not isinstance(direction, str) or direction not in ("max", "min"):
            raise InvalidParameterError(
                f'directions[{i}] must be "max" or "min", got {kind_of(direction)}.'
            )
    return listed
