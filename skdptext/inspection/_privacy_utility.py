"""Privacy against utility, over a search for ε and λ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.inspection._drawing import (
    draw_line,
    make_axes,
    place_labels,
    place_legend,
    scale_epsilon,
)
from skdptext.model_selection import pareto_front, search_results
from skdptext.utils import check_flag, check_option, check_real, warn_once


@dataclass(kw_only=True, eq=False, repr=False)
class PrivacyUtilityDisplay:
    """Privacy and utility of a search's candidates, with the Pareto front.

    Create it with `from_search`. All parameters are stored as attributes.

    Parameters
    ----------
    epsilon, lam : ndarray of shape (n_candidates,)
        Parameters of each candidate.
    privacy, utility : ndarray of shape (n_candidates,)
        Mean test scores.
    privacy_interval, utility_interval : ndarray of shape (n_candidates, 2)
        Ends of the intervals; NaN where there are none.
    on_front : ndarray of bool, shape (n_candidates,)
        Candidates that no other one dominates.
    chosen : int, default=None
        The candidate that the search chose.
    groups : sequence of str, default=None
        The line that each candidate belongs to; None: one per λ.
    privacy_name, utility_name : str
        Names of the scores, for the axes.
    chance : float, default=None
        The utility that guessing reaches; drawn where it is given.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib ErrorbarContainer
        One per group.
    front_, chosen_, chance_ : matplotlib artist or None
        The Pareto front, the ring around the chosen candidate, and the line of chance.
    labels_ : list of matplotlib Annotation

    See Also
    --------
    skdptext.model_selection.search_results_frame : The same numbers as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.inspection import PrivacyUtilityDisplay
    >>> none = np.full((3, 2), np.nan)
    >>> display = PrivacyUtilityDisplay(
    ...     epsilon=np.array([5, 10, 20]), lam=np.zeros(3),
    ...     privacy=np.array([0.9, 0.6, 0.2]), utility=np.array([0.6, 0.8, 0.9]),
    ...     privacy_interval=none, utility_interval=none, on_front=np.ones(3, bool))
    >>> display.plot().ax_.get_xlabel()
    'privacy'
    """

    epsilon: np.ndarray
    lam: np.ndarray
    privacy: np.ndarray
    utility: np.ndarray
    privacy_interval: np.ndarray
    utility_interval: np.ndarray
    on_front: np.ndarray
    chosen: int | None = None
    groups: Sequence[str] | None = None
    privacy_name: str = "privacy"
    utility_name: str = "utility"
    chance: float | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        privacy: str,
        utility: str,
        directions: Sequence[str] = ("max", "max"),
        by: str | Sequence[str] | None = None,
        test_over_train: float | None = None,
        chance: float | None = None,
    ) -> PrivacyUtilityDisplay:
        """The numbers of a search that has a privacy and a utility score.

        Parameters
        ----------
        search : fitted search, or mapping
            ``GridSearchCV`` or a similar search, or its ``cv_results_``.
        privacy, utility : str
            Names of two of its scores.
        directions : sequence of two {"max", "min"}, default=("max", "max")
            Whether higher scores of privacy, and of utility, are better: ``"min"``, for
            example, for the share of unchanged words.
        by : str or sequence of str, default=None
            What separates the lines: ``"lam"``, or other searched parameters by their
            names. None: λ and all others, so that candidates of a line differ in ε
            alone.
        test_over_train : float, default=None
            As in `skdptext.model_selection.search_results_frame`, where the intervals,
            here of 95 %, are described.
        chance : float, default=None
            The utility that guessing reaches, such as the share of the most frequent
            label for ``"accuracy"``. None: known for ``"balanced_accuracy"``, one over
            the number of labels, and for ``"roc_auc"``, where the search itself is
            given; else no line.

        Returns
        -------
        display : PrivacyUtilityDisplay

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, or the search lacks a score, ε or λ.

        Warns
        -----
        UserWarning
            If the interval of the chosen candidate's utility holds chance, or reaches
            no further: it may have learned nothing.
        """
        if chance is not None:
            chance = check_real("chance", chance)
        results = search_results(search, test_over_train=test_over_train)
        for parameter, name in (("privacy", privacy), ("utility", utility)):
            check_option(parameter, name, list(results.scores))
        columns = results.params
        scores = [results.scores[name] for name in (privacy, utility)]
        groups = _groups(columns, _separating(columns, by))
        if chance is None:
            chance = _chance(search, utility)
        if chance is not None and results.chosen is not None:
            near = scores[1].low if directions[1] == "max" else -scores[1].high
            least = float(near[results.chosen])
            if least <= (chance if directions[1] == "max" else -chance):
                warn_once(
                    f"The chosen candidate may be no better than chance: its {utility} "
                    f"is {scores[1].mean[results.chosen]:.3g}, its interval begins at "
                    f"{abs(least):.3g}, and guessing reaches {chance:.3g}. Ask for "
                    "more, or try less noise.",
                    UserWarning,
                )
        points = [np.stack([s.mean, s.low, s.high], axis=1) for s in scores]
        return cls(
            **two_scores(points[0], points[1], directions),
            epsilon=columns["epsilon"],
            lam=columns["lam"],
            chosen=results.chosen,
            groups=groups,
            privacy_name=privacy,
            utility_name=utility,
            chance=chance,
        )

    def plot(
        self, ax: Any = None, *, kind: str = "trade", label_front: bool = True
    ) -> PrivacyUtilityDisplay:
        """Draw one line per λ, with a point per ε.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: axes of a new figure.
        kind : {"trade", "privacy", "utility"}, default="trade"
            Utility against privacy; or one of the two against ε, on a log scale.
        label_front : bool, default=True
            In the trade-off, write ε beside the points of the front.

        Returns
        -------
        display : PrivacyUtilityDisplay
            Itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_option("kind", kind, ("trade", "privacy", "utility"))
        check_flag("label_front", label_front)
        (self.ax_,) = make_axes(ax, 1, (6, 4.8))
        self.figure_ = self.ax_.figure
        against = "epsilon" if kind != "trade" else "privacy"
        over = kind if kind != "trade" else "utility"
        groups = self.groups or [f"λ = {lam:g}" for lam in self.lam]
        self.lines_ = {}
        for number, group in enumerate(dict.fromkeys(groups)):
            rows = np.flatnonzero([name == group for name in groups])
            rows = rows[np.argsort(self.epsilon[rows], kind="stable")]
            self.lines_[group] = draw_line(
                self.ax_, number, group,
                getattr(self, against)[rows], getattr(self, over)[rows],
                xerr=self._margins(against, rows), yerr=self._margins(over, rows),
            )  # fmt: skip
        self._mark(against, over)
        names = {"privacy": self.privacy_name, "utility": self.utility_name}
        names["epsilon"] = "ε"
        self.ax_.set(xlabel=names[against], ylabel=names[over])
        if against == "epsilon":
            scale_epsilon(self.ax_, self.epsilon)
        self.chance_ = None
        if self.chance is not None and over == "utility":
            self.chance_ = self.ax_.axhline(
                self.chance, color="0.4", linestyle=":", zorder=0, label="chance"
            )
        marks = [self.front_, self.chosen_, self.chance_]
        marks = [mark for mark in marks if mark is not None]
        handles = [*self.lines_.values(), *marks]
        place_legend(self.ax_, handles=handles, fontsize="small")
        self.labels_: list[Any] = []
        if kind == "trade" and label_front:
            self._label()
        return self

    def _margins(self, name: str, rows: np.ndarray) -> np.ndarray | None:
        """Lengths of the error bars, shape (2, n), where there are intervals."""
        if name == "epsilon":
            return None
        ends = getattr(self, f"{name}_interval")[rows]
        if np.isnan(ends).all():
            return None
        return np.abs(ends - getattr(self, name)[rows][:, None]).T

    def _mark(self, against: str, over: str) -> None:
        """The Pareto front, and the chosen candidate."""
        x, y = getattr(self, against), getattr(self, over)
        self.front_ = self.chosen_ = None
        if against == "privacy" and self.on_front.any():
            rows = np.flatnonzero(self.on_front)
            rows = rows[np.argsort(x[rows], kind="stable")]
            (self.front_,) = self.ax_.plot(
                x[rows], y[rows], color="0.75", linewidth=6, zorder=0,
                solid_capstyle="round", label="Pareto front",
            )  # fmt: skip
        if self.chosen is not None:
            self.chosen_ = self.ax_.scatter(
                x[self.chosen], y[self.chosen], s=190, facecolors="none",
                edgecolors="black", linewidths=1.6, zorder=4, label="chosen",
            )  # fmt: skip

    def _label(self) -> None:
        """ε beside the points of the front."""
        rows = np.flatnonzero(self.on_front)
        points = np.stack([self.privacy[rows], self.utility[rows]], axis=1)
        self.labels_ = place_labels(
            self.ax_,
            points,
            [f"ε = {value:g}" for value in self.epsilon[rows]],
            radius=3 if self.chosen is None else 8,  # that of the ring
            fontsize="small",
            color="0.2",
            zorder=5,  # above the ring
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
        )


def two_scores(
    privacy: Any, utility: Any, directions: Sequence[str] = ("min", "max")
) -> dict[str, Any]:
    """The scores of a display, from rows of a value and the ends of its interval."""
    privacy, utility = np.asarray(privacy), np.asarray(utility)
    points = np.stack([privacy[:, 0], utility[:, 0]], axis=1)
    return {
        "privacy": privacy[:, 0],
        "utility": utility[:, 0],
        "privacy_interval": privacy[:, 1:],
        "utility_interval": utility[:, 1:],
        "on_front": pareto_front(points, directions=directions),
    }


def _chance(search: Any, utility: str) -> float | None:
    """What guessing reaches, where the scorer and the labels of a search tell it."""
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, Mapping):
        scoring = scoring.get(utility)
    elif isinstance(scoring, list | tuple | set):
        scoring = utility
    if scoring in ("roc_auc", "roc_auc_ovr", "roc_auc_ovo"):
        return 0.5
    labels = getattr(search, "classes_", None)
    if scoring != "balanced_accuracy" or labels is None:
        return None
    return 1 / len(labels)


def _separating(
    columns: Mapping[str, np.ndarray], by: str | Sequence[str] | None
) -> list[str]:
    """The columns whose values separate the lines."""
    known = [name for name in columns if name != "epsilon"]
    if by is not None:
        chosen = [by] if isinstance(by, str) else list(by)
        for name in chosen:
            check_option("by", name, known)
        return chosen
    # perturbers, whose ε and λ are shown already, may differ in nothing else
    return [n for n in known if n == "lam" or len(set(map(str, columns[n]))) > 1]


def _groups(columns: Mapping[str, np.ndarray], by: list[str]) -> list[str]:
    """The name of the line of each candidate."""
    said = [
        [f"λ = {x:g}" if name == "lam" else f"{name} = {x}" for x in columns[name]]
        for name in by
    ]
    return [", ".join(each[i] for each in said) for i in range(len(columns["epsilon"]))]
