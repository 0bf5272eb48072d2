"""What groups of public documents would keep, against what they would show."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import (
    COLORS,
    MARKERS,
    make_axes,
    place_labels,
    place_legend,
)
from skdptext.replacement import GroupingComparison, GroupingScore
from skdptext.utils import check_flag, check_kind, check_real


@dataclass(eq=False, repr=False)
class GroupingDisplay:
    """Scores of groupings against the share of documents found, a line per encoder.

    Create it with `from_comparison`. Parameters are stored as attributes.

    Parameters
    ----------
    comparison : GroupingComparison
        From `skdptext.replacement.compare_groupings`.
    chosen : GroupingScore, default=None
        The setting with a ring around it.
    found : float, default=None
        The share that is allowed, as a vertical line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib ErrorbarContainer
        One per grouper, or per grouper and ε where there are several.
    chosen_ : matplotlib artist or None
        The ring around what was chosen.
    labels_ : list of matplotlib Annotation
        Numbers of groups.

    See Also
    --------
    skdptext.replacement.compare_groupings : Makes the numbers.

    Examples
    --------
    >>> from skdptext.inspection import GroupingDisplay
    >>> from skdptext.replacement import compare_groupings
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> comparison = compare_groupings(public * 9, n_groups=[2, 3])
    >>> display = GroupingDisplay.from_comparison(comparison).plot()
    >>> display.ax_.get_ylabel()
    'nats per word'
    """

    comparison: GroupingComparison
    _: KW_ONLY
    chosen: GroupingScore | None = None
    found: float | None = None

    @classmethod
    def from_comparison(
        cls, comparison: GroupingComparison, *, found: float = 0.1
    ) -> GroupingDisplay:
        """The display of a comparison, with its best setting within `found`.

        Parameters
        ----------
        comparison : GroupingComparison
            From `skdptext.replacement.compare_groupings`.
        found : float in (0, 1], default=0.1
            The share of documents that may be found. Nothing is chosen where no
            setting is within it.

        Returns
        -------
        display : GroupingDisplay

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule.
        """
        check_kind(
            comparison, GroupingComparison, "comparison must be a GroupingComparison"
        )
        found = check_real("found", found, low=0, high=1, open_low=True)
        try:
            chosen = comparison.best(found)
        except InvalidParameterError:
            chosen = None
        return cls(comparison, chosen=chosen, found=found)

    def plot(self, ax: Any = None, *, label_groups: bool = True) -> GroupingDisplay:
        """Draw one line per grouper, with a point per number of groups.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: axes of a new figure.
        label_groups : bool, default=True
            Write K beside the points of the grouper that was chosen.

        Returns
        -------
        display : GroupingDisplay
            Itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_flag("label_groups", label_groups)
        (self.ax_,) = make_axes(ax, 1, (8.4, 4.4))
        self.figure_ = self.ax_.figure
        rows = self.comparison.rows
        several = len({row.epsilon for row in rows}) > 1
        self.lines_: dict[str, Any] = {}
        lines: dict[str, list[GroupingScore]] = {}
        for row in rows:
            epsilon = f", ε = {row.epsilon:g}" if several else ""
            lines.setdefault(f"{row.name}{epsilon}", []).append(row)
        for number, (name, mine) in enumerate(lines.items()):
            mine.sort(key=lambda row: row.found_at_most)
            score = np.array([row.score for row in mine])
            ends = np.array([[row.low, row.high] for row in mine]).T
            self.lines_[name] = self.ax_.errorbar(
                np.array([row.found_at_most for row in mine]),
                score,
                yerr=None if np.isnan(ends).all() else np.abs(ends - score),
                marker=MARKERS[number % len(MARKERS)],
                color=COLORS[number % len(COLORS)],
                markersize=6,
                elinewidth=0.8,
                capsize=2,
                label=name,
            )
        self.ax_.axhline(
            self.comparison.chance, color="0.4", linestyle=":", zorder=0, label="chance"
        )
        if self.found is not None:
            self.ax_.axvline(self.found, color="0.8", linewidth=1, zorder=0)
        self.chosen_ = None
        if self.chosen is not None:
            self.chosen_ = self.ax_.scatter(
                self.chosen.found_at_most, self.chosen.score, s=190, facecolors="none",
                edgecolors="black", linewidths=1.6, zorder=4, label="chosen",
            )  # fmt: skip
        self.ax_.set(
            xlabel=f"found at most, of {self.comparison.n_candidates:,} candidates",
            ylabel=self.comparison.criterion,
        )
        place_legend(self.ax_, fontsize="small")
        self.labels_: list[Any] = []
        if label_groups and self.chosen is not None:
            shown = [row for row in rows if row.name == self.chosen.name]
            shown = [row for row in shown if row.epsilon == self.chosen.epsilon]
            self.labels_ = place_labels(
                self.ax_,
                np.array([[row.found_at_most, row.score] for row in shown]),
                [f"K = {row.n_groups}" for row in shown],
                fontsize=8,
                color="0.2",
            )
        return self
