"""Draw privacy against utility over a search for ε and λ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import numpy as np

from skdptext.inspection._drawing import add_labels, add_legend, make_axes, style
from skdptext.metrics import privacy_utility_scoring
from skdptext.model_selection import search_results
from skdptext.utils import check_option, check_real

# With fewer splits, intervals are too wide to be worth drawing: the quantile of
# Student's distribution is 4.3 for three, and 2.8 for five.
_FEWEST_SPLITS = 5
# Labels of known scores on an axis, by the name of the score or of its scorer.
_WORDS = {
    "changed": "words changed (more noise →)",
    "identified": "documents identified (← more noise)",
    "balanced_accuracy": "documents labeled correctly (balanced)",
    "accuracy": "documents labeled correctly",
    "roc_auc": "area under the ROC curve",
}
_NO_HIDING = (
    "Changing words does not hide documents. To see how many are identified, score "
    "metrics.identified_scorer as well."
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivacyUtilityDisplay:
    """Plot privacy and utility of the candidates of a search.

    Create it with `from_search`, or with `from_estimator`, which searches first. All
    parameters are stored as attributes.

    Parameters
    ----------
    epsilon : ndarray of shape (n_candidates,)
        The ε of each candidate.
    privacy, utility : ndarray of shape (n_candidates,)
        Mean test scores.
    groups : sequence of str
        The line that each candidate belongs to, such as ``"λ = 0.5"``.
    utility_interval : ndarray of shape (n_candidates, 2), default=None
        Ends of 95% intervals over the splits.
    n_splits : int, default=0
        Number of splits of the intervals.
    chosen : int, default=None
        The candidate that the search chose.
    chance : float, default=None
        The utility of guessing.
    wanted : mapping of {"privacy", "utility"} to (str, float), default={}
        Bounds that the search was given, such as ``(">=", 0.75)``.
    privacy_label, utility_label : str
        Labels of the axes.
    note : str, default=""
        Text above the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_, bands_ : dict of str to matplotlib artist
        One per group; no bands if there are no intervals.
    rules_ : list of matplotlib Line2D
        Lines of guessing and of the bounds.
    labels_ : list of matplotlib Annotation
        Values of ε along the line of the chosen candidate, or along the first line, to
        the right of the axes.
    search_ : fitted search
        The search, only after `from_estimator`.

    See Also
    --------
    skdptext.model_selection.search_results_frame : Lists the same numbers in a table.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.inspection import PrivacyUtilityDisplay
    >>> display = PrivacyUtilityDisplay(
    ...     epsilon=np.array([5, 10, 20]), groups=["λ = 0"] * 3,
    ...     privacy=np.array([0.9, 0.6, 0.2]), utility=np.array([0.6, 0.8, 0.9]))
    >>> display.plot().ax_.get_xlabel()
    'privacy'
    """

    epsilon: np.ndarray
    privacy: np.ndarray
    utility: np.ndarray
    groups: Sequence[str]
    utility_interval: np.ndarray | None = None
    n_splits: int = 0
    chosen: int | None = None
    chance: float | None = None
    wanted: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    privacy_label: str = "privacy"
    utility_label: str = "utility"
    note: str = ""
    search_: Any = field(init=False)

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        privacy: str = "changed",
        utility: str = "accuracy",
        chance: float | None = None,
    ) -> "PrivacyUtilityDisplay":
        """Make the display of a search that has a privacy and a utility score.

        Parameters
        ----------
        search : fitted search
            ``GridSearchCV`` or a similar one.
        privacy : str, default="changed"
            Name of the score on the horizontal axis.
        utility : str, default="accuracy"
            Name of the score on the vertical axis. The defaults are the names that
            `~skdptext.metrics.privacy_utility_scoring` gives.
        chance : float, default=None
            The utility of guessing, such as the share of the most frequent label for
            ``"accuracy"``. If None, it is known for ``"balanced_accuracy"``, one over
            the number of labels, if the search was refitted; otherwise there is no
            line.

        Returns
        -------
        display : PrivacyUtilityDisplay
            The display. Candidates on one line only differ in ε. Fewer than five splits
            have no intervals; they are described in
            `~skdptext.model_selection.search_results_frame`.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, or the search lacks a score, ε or λ.
        """
        results = search_results(search)
        for parameter, name in (("privacy", privacy), ("utility", utility)):
            check_option(parameter, name, list(results.scores))
        scorers = getattr(search, "scoring", None)
        scorers = scorers if isinstance(scorers, Mapping) else {}
        scores = results.scores[utility]
        # Intervals are those of the search: they allow for splits that share documents.
        interval = np.stack([scores.low, scores.high], axis=1)
        if chance is not None:
            chance = check_real("chance", chance)
        elif scorers.get(utility) == "balanced_accuracy" and hasattr(
            search, "classes_"
        ):
            chance = 1 / len(search.classes_)
        # Only our rule, `best_under_constraint`, has bounds.
        bounds = getattr(getattr(search, "refit", None), "subject_to", {})
        axes = {"privacy": privacy, "utility": utility}
        labels = {
            f"{axis}_label": _WORDS.get(str(scorers.get(name)), _WORDS.get(name, name))
            for axis, name in axes.items()
        }
        return cls(
            epsilon=results.params["epsilon"],
            privacy=results.scores[privacy].mean,
            utility=scores.mean,
            groups=_groups(results.params),
            utility_interval=interval if scores.n_splits >= _FEWEST_SPLITS else None,
            n_splits=scores.n_splits,
            chosen=results.chosen,
            chance=chance,
            wanted={axis: bounds[x] for axis, x in axes.items() if x in bounds},
            note=_note(results, scorers) if privacy == "changed" else "",
            **labels,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        param_grid: Any,
        scoring: Mapping[str, Any] | None = None,
        chance: float | None = None,
        ax: Any = None,
        **options: Any,
    ) -> "PrivacyUtilityDisplay":
        """Search for ε and λ, and draw the results.

        Parameters
        ----------
        estimator : estimator
            A pipeline that begins with a perturber, or another estimator that holds
            one.
        X, y : documents and labels
            Data for fitting and testing. The figure shows statistics of them.
        param_grid : dict or list of dict
            As for ``GridSearchCV``.
        scoring : mapping of str to str or callable, default=None
            Scores. None means `~skdptext.metrics.privacy_utility_scoring`.
        chance : float, default=None
            As for `from_search`. If None, one over the number of labels if `scoring` is
            None as well.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **options
            Options of ``GridSearchCV``: `cv`, `n_jobs`, and `refit`, which is False by
            default. The candidate that it chooses, such as by
            `~skdptext.model_selection.best_under_constraint`, gets a ring.

        Returns
        -------
        display : PrivacyUtilityDisplay
            The display after drawing. Its ``search_`` is the fitted search.

        Raises
        ------
        InvalidParameterError
            As for `from_search`.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> from sklearn.naive_bayes import MultinomialNB
        >>> from sklearn.pipeline import make_pipeline
        >>> from skdptext import DPWordPerturber
        >>> from skdptext.datasets import make_documents, make_embedding
        >>> from skdptext.inspection import PrivacyUtilityDisplay
        >>> embedding = make_embedding(60, 8, n_clusters=6, random_state=0)
        >>> texts, topics = make_documents(embedding, 60, length=10, random_state=0)
        >>> model = make_pipeline(
        ...     DPWordPerturber(embedding, document_length=10), MultinomialNB())
        >>> display = PrivacyUtilityDisplay.from_estimator(
        ...     model, texts, topics,
        ...     param_grid={"dpwordperturber__epsilon": [3, 10, 30],
        ...                 "dpwordperturber__lam": [0, 1]})
        >>> list(display.lines_)
        ['λ = 0', 'λ = 1']
        """
        from sklearn.model_selection import GridSearchCV  # slow to import

        if scoring is None:
            scoring = privacy_utility_scoring()
            # Our scoring uses the balanced accuracy, for which a guess is right for one
            # of all labels, however frequent they are.
            chance = 1 / len(np.unique(y)) if chance is None else chance
        options = {"refit": False, "scoring": scoring} | options
        search = GridSearchCV(estimator, param_grid, **options).fit(X, y)
        display = cls.from_search(search, chance=chance)
        display.search_ = search
        return display.plot(ax)

    def plot(self, ax: Any = None) -> "PrivacyUtilityDisplay":
        """Draw utility against privacy: one line per λ, with a point per ε.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : PrivacyUtilityDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        (self.ax_,) = make_axes(ax, 1, (5.4, 5.4))
        self.figure_ = self.ax_.figure
        x, y = self.privacy, self.utility
        self.lines_, self.bands_ = {}, {}
        for number, group in enumerate(dict.fromkeys(self.groups)):
            rows, look = self._rows(group), style(number)
            (self.lines_[group],) = self.ax_.plot(x[rows], y[rows], label=group, **look)
            if self.utility_interval is not None:
                self.bands_[group] = self.ax_.fill_between(
                    x[rows], *self.utility_interval[rows].T, alpha=0.1, linewidth=0,
                    color=look["color"],
                )  # fmt: skip
        # Lines for guessing, and for the requested bounds.
        horizontal, vertical = self.ax_.axhline, self.ax_.axvline
        self.rules_ = []
        if self.chance is not None:
            label = f"guessing: {_said(self.chance, y)}"
            self.rules_ += [horizontal(self.chance, c="0.4", ls=":", label=label)]
        for axis, (relation, bound) in self.wanted.items():
            draw = vertical if axis == "privacy" else horizontal
            least = "at least" if relation == ">=" else "at most"
            label = f"wanted: {least} {_said(bound, getattr(self, axis))}"
            self.rules_ += [draw(bound, c="0.6", lw=1, label=label)]
        self.ax_.set(xlabel=self.privacy_label, ylabel=self.utility_label)
        self.ax_.set_title(fill(self.note, 64), fontsize="small", color="0.3")
        self.ax_.xaxis.set_major_formatter(lambda value, _: _said(value, x))
        self.ax_.yaxis.set_major_formatter(lambda value, _: _said(value, y))
        # All figures then have the same axis, and can be compared.
        if _are_shares(x):
            self.ax_.set_xlim(-0.02, 1.02)
        # Only one line gets labels of ε, that of the chosen candidate: with labels on
        # each line, they overlap.
        lines, group = [*self.lines_.values(), *self.rules_], self.groups[0]
        if (at := self.chosen) is not None:
            group, between = self.groups[at], ""
            if self.utility_interval is not None:
                low, high = (_said(end, y) for end in self.utility_interval[at])
                between = f" ({low} to {high})"
            label = (
                f"chosen: ε = {self.epsilon[at]:g}, {group}\n"
                f"{self.privacy_label.partition(' (')[0]}: {_said(x[at], x)}\n"
                f"{self.utility_label.partition(' (')[0]}: {_said(y[at], y)}{between}"
            )
            look = {"ms": 14, "mfc": "none", "mec": "black", "mew": 1.6}
            lines += self.ax_.plot(x[at], y[at], "o", label=label, **look)
        title = f"bands: 95% intervals over {self.n_splits} splits"
        add_legend(self.ax_, lines, title if self.bands_ else None)
        rows = self._rows(group)
        self.labels_ = add_labels(
            self.ax_, np.stack([x, y], axis=1)[rows],
            [f"ε = {epsilon:g}" for epsilon in self.epsilon[rows]],
            color=self.lines_[group].get_color(),
        )  # fmt: skip
        return self

    def _rows(self, group: str) -> np.ndarray:
        """Get the candidates of a line, in the order of ε."""
        rows = np.flatnonzero([name == group for name in self.groups])
        return rows[np.argsort(self.epsilon[rows], kind="stable")]


def _are_shares(scores: np.ndarray) -> bool:
    return bool(np.nanmin(scores) >= 0 and np.nanmax(scores) <= 1)


def _said(value: float, scores: np.ndarray) -> str:
    """Format a score, as a percentage if all scores are shares."""
    return f"{value:.0%}" if _are_shares(scores) else f"{value:.3g}"


def _note(results: Any, scorers: Mapping[str, Any]) -> str:
    """State how many documents are identified, which the axis does not show."""
    # A figure of changed words alone looks like privacy. The note says that changing
    # words does not hide documents.
    if "identified" not in results.scores:
        return _NO_HIDING
    found, chosen = results.scores["identified"].mean, results.chosen
    ends = (np.nanmin(found), np.nanmax(found)) if chosen is None else [found[chosen]]
    n = getattr(scorers.get("identified"), "keywords", {}).get("n_candidates", 100)
    return (
        "An attacker who knows the mechanism identifies "
        f"{' to '.join(f'{share:.0%}' for share in ends)} of the documents"
        f"{'' if chosen is None else ' at the chosen setting'} (among {n} candidates, "
        "or all of a split if these are fewer)."
    )


def _groups(columns: Mapping[str, np.ndarray]) -> list[str]:
    """Name the line of each candidate by λ and all other parameters except ε."""
    # λ always names the line, as the figure compares it. Other parameters do so only if
    # they vary.
    names = [
        name
        for name, values in columns.items()
        if name == "lam" or (name != "epsilon" and len(set(map(str, values))) > 1)
    ]
    return [
        ", ".join(
            f"λ = {columns[name][i]:g}"
            if name == "lam"
            else f"{name} = {columns[name][i]}"
            for name in names
        )
        for i in range(len(columns["epsilon"]))
    ]
