"""Privacy against utility, over a search for ε and λ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import (
    COLORS,
    MARKERS,
    make_axes,
    place_below,
    place_labels,
    place_legend,
)
from skdptext.metrics import (
    identified_scorer,
    privacy_utility_scoring,
    words_changed_scorer,
)
from skdptext.model_selection import search_results
from skdptext.utils import check_option, check_real, warn_once

# Fewer splits give no interval worth drawing: the quantile of Student's distribution is
# 4.3 for three, and 2.8 for five.
_FEWEST_SPLITS = 5
# What scores are called: on an axis, and of the chosen candidate.
_CHANGED, _IDENTIFIED = "changed", "identified"
_WORDS = {
    _CHANGED: ("words changed, % (more noise →)", "changed"),
    _IDENTIFIED: ("documents identified, % (← more noise)", "identified"),
    "balanced_accuracy": ("documents labeled right, % (balanced)", "right"),
    "accuracy": ("documents labeled right, %", "right"),
    "roc_auc": ("area under the ROC curve, %", "AUC"),
}
_NO_HIDING = (
    "Changing words does not hide documents. To see how many are identified, score "
    "metrics.identified_scorer as well."
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivacyUtilityDisplay:
    """Privacy and utility of the candidates of a search.

    Create it with `from_search`, or with `from_estimator`, which searches first. All
    parameters are stored as attributes.

    Parameters
    ----------
    epsilon : ndarray of shape (n_candidates,)
        The ε of each candidate.
    privacy, utility : ndarray of shape (n_candidates,)
        Mean test scores. Shares, in [0, 1], are drawn as per cent.
    groups : sequence of str
        The line that each candidate belongs to, such as ``"λ = 0.5"``.
    utility_interval : ndarray of shape (n_candidates, 2), default=None
        Ends of 95% intervals over the splits.
    n_splits : int, default=0
        How many splits they are over.
    chosen : int, default=None
        The candidate that the search chose.
    chance : float, default=None
        The utility that guessing reaches.
    wanted : mapping of {"privacy", "utility"} to (str, float), default={}
        Bounds that the search was given, such as ``(">=", 0.75)``.
    privacy_label, utility_label : str
        What is written on the axes.
    words : tuple of two str
        What the scores of privacy and utility are called in short.
    note : str, default=""
        What is written below.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_, bands_ : dict of str to matplotlib artist
        One per group; no bands where there are no intervals.
    rules_ : dict of str to matplotlib Line2D
        Lines of what guessing reaches, and of the bounds, by what is written on them.
    chosen_ : matplotlib artist or None
        The ring around the chosen candidate.
    labels_ : list of matplotlib Annotation
        The chosen candidate in words, if there is one; ε along its line, or the first
        one; and the texts of `rules_`.
    note_ : matplotlib Text or None
    search_ : fitted search
        Only after `from_estimator`.

    See Also
    --------
    skdptext.model_selection.search_results_frame : The same numbers as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.inspection import PrivacyUtilityDisplay
    >>> display = PrivacyUtilityDisplay(
    ...     epsilon=np.array([5, 10, 20]), groups=["λ = 0"] * 3,
    ...     privacy=np.array([0.9, 0.6, 0.2]), utility=np.array([0.6, 0.8, 0.9]))
    >>> display.plot().ax_.get_xlabel()
    'privacy, %'
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
    privacy_label: str = "privacy, %"
    utility_label: str = "utility, %"
    words: tuple[str, str] = ("privacy", "utility")
    note: str = ""
    search_: Any = field(init=False)

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        privacy: str | None = None,
        utility: str | None = None,
        privacy_label: str | None = None,
        utility_label: str | None = None,
        test_over_train: float | None = None,
        chance: float | None = None,
    ) -> PrivacyUtilityDisplay:
        """The numbers of a search that has a privacy and a utility score.

        Parameters
        ----------
        search : fitted search
            ``GridSearchCV`` or a similar one.
        privacy : str, default=None
            Name of the score on the horizontal axis. None: that of
            `~skdptext.metrics.words_changed_scorer`; without one, that of
            `~skdptext.metrics.identified_scorer`, of which less is more private.
        utility : str, default=None
            Name of the score on the vertical axis. None: the only one that is of
            neither of these scorers.
        privacy_label, utility_label : str, default=None
            What is written on the axes. None: words for scorers that are known, and
            else the names of the scores.
        test_over_train : float, default=None
            As in `skdptext.model_selection.search_results_frame`, where the intervals,
            here of 95%, are described.
        chance : float, default=None
            The utility that guessing reaches, such as the share of the most frequent
            label for ``"accuracy"``. None: known for ``"balanced_accuracy"``, one over
            the number of labels, and for ``"roc_auc"``; else no line.

        Returns
        -------
        display : PrivacyUtilityDisplay
            Candidates of one line differ in ε alone. Fewer than five splits have no
            intervals.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, the search lacks a score, ε or λ, or scores
            must be named because several could be meant.

        Warns
        -----
        UserWarning
            If the interval of the chosen candidate's utility holds chance, or reaches
            no further: it may have learned nothing.
        """
        return cls._of(
            search, getattr(search, "classes_", ()), privacy, utility,
            privacy_label=privacy_label, utility_label=utility_label,
            test_over_train=test_over_train, chance=chance,
        )  # fmt: skip

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        param_grid: Any,
        scoring: Mapping[str, Any] | None = None,
        refit: Any = False,
        cv: Any = 5,
        n_jobs: int | None = None,
        privacy: str | None = None,
        utility: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> PrivacyUtilityDisplay:
        """Search for ε and λ, and draw what was found.

        Parameters
        ----------
        estimator : estimator
            A pipeline that begins with a perturber, or another estimator that holds
            one.
        X, y : documents and labels
            What it is fitted on and tested on. The figure shows statistics of them.
        param_grid : dict or list of dict
            As for ``GridSearchCV``.
        scoring : mapping of str to str or callable, default=None
            None: `~skdptext.metrics.privacy_utility_scoring`.
        refit : bool, str or callable, default=False
            As for ``GridSearchCV``. The candidate that it chooses, such as
            `~skdptext.model_selection.best_under_constraint`, is ringed.
        cv : int, splitter or iterable, default=5
            As for ``GridSearchCV``.
        n_jobs : int, default=None
            As for ``GridSearchCV``.
        privacy, utility : str, default=None
            As for `from_search`.
        ax : matplotlib Axes, default=None
            None: axes of a new figure.
        **options
            Further parameters of `from_search`.

        Returns
        -------
        display : PrivacyUtilityDisplay
            Drawn; its ``search_`` is the fitted search.

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
        scoring = privacy_utility_scoring() if scoring is None else scoring
        from sklearn.model_selection import GridSearchCV  # takes long to import

        search = GridSearchCV(
            estimator, param_grid, scoring=scoring, refit=refit, cv=cv, n_jobs=n_jobs
        ).fit(X, y)
        display = cls._of(search, np.unique(y), privacy, utility, **options)
        display.search_ = search
        return display.plot(ax)

    @classmethod
    def _of(
        cls,
        search: Any,
        labels: Any,
        privacy: str | None = None,
        utility: str | None = None,
        *,
        privacy_label: str | None = None,
        utility_label: str | None = None,
        test_over_train: float | None = None,
        chance: float | None = None,
    ) -> PrivacyUtilityDisplay:
        """The display of a search; `labels` are those that its classifier learned."""
        results = search_results(search, test_over_train=test_over_train)
        kinds = {name: _kind(search, name) for name in results.scores}
        privacy = _asked("privacy", privacy, kinds)
        utility = _asked("utility", utility, kinds)
        if chance is None:
            chance = _chance(kinds[utility], labels)
        else:
            chance = check_real("chance", chance)
        scores, chosen = results.scores[utility], results.chosen
        if chosen is not None and chance is not None:
            _warn_of_chance(utility, scores, chosen, chance)
        interval = np.stack([scores.low, scores.high], axis=1)
        axes = {"privacy": privacy, "utility": utility}
        said = [_words(kinds[n], n, results.scores[n].mean) for n in axes.values()]
        bounds = getattr(getattr(search, "refit", None), "subject_to", {})
        return cls(
            epsilon=results.params["epsilon"],
            privacy=results.scores[privacy].mean,
            utility=scores.mean,
            groups=_groups(results.params),
            utility_interval=interval if scores.n_splits >= _FEWEST_SPLITS else None,
            n_splits=scores.n_splits,
            chosen=chosen,
            chance=chance,
            wanted={axis: bounds[n] for axis, n in axes.items() if n in bounds},
            privacy_label=privacy_label or said[0][0],
            utility_label=utility_label or said[1][0],
            words=(said[0][1], said[1][1]),
            note=_note(search, results, kinds, privacy),
        )

    def plot(self, ax: Any = None) -> PrivacyUtilityDisplay:
        """Draw utility against privacy: one line per λ, with a point per ε.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: axes of a new figure.

        Returns
        -------
        display : PrivacyUtilityDisplay
            Itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        (self.ax_,) = make_axes(ax, 1, (6, 4.8))
        self.figure_ = self.ax_.figure
        x, y = _percent(self.privacy), _percent(self.utility)
        self.lines_: dict[str, Any] = {}
        self.bands_: dict[str, Any] = {}
        for number, group in enumerate(dict.fromkeys(self.groups)):
            rows, color = self._rows(group), COLORS[number % len(COLORS)]
            (self.lines_[group],) = self.ax_.plot(
                x[rows], y[rows], label=group, color=color, zorder=3, clip_on=False,
                marker=MARKERS[number % len(MARKERS)], markersize=6,
            )  # fmt: skip
            if self.utility_interval is not None:
                low, high = _percent(self.utility_interval)[rows].T
                self.bands_[group] = self.ax_.fill_between(
                    x[rows], low, high, color=color, alpha=0.1, linewidth=0
                )
        self.ax_.set(xlabel=self.privacy_label, ylabel=self.utility_label)
        self.rules_ = self._rules()
        self._limit(y)
        self.chosen_ = None
        if self.chosen is not None:
            self.chosen_ = self.ax_.scatter(
                x[self.chosen], y[self.chosen], s=190, facecolors="none",
                edgecolors="black", linewidths=1.6, zorder=4, clip_on=False,
            )  # fmt: skip
        at_once = max(1, min(3, 60 // max(map(len, self.lines_))))
        legend = place_legend(
            self.ax_, handles=list(self.lines_.values()), ncols=at_once,
            title=f"bands: 95% over {self.n_splits} splits" if self.bands_ else None,
            fontsize="small", title_fontsize="small",
        )  # fmt: skip
        self.note_ = None
        if self.note:
            self.note_ = place_below(self.ax_, legend, fill(self.note, 78))
        self.labels_ = self._labels(np.stack([x, y], axis=1))
        return self

    def _rows(self, group: str) -> np.ndarray:
        """The candidates of a line, in the order of ε."""
        rows = np.flatnonzero([name == group for name in self.groups])
        return rows[np.argsort(self.epsilon[rows], kind="stable")]

    def _rules(self) -> dict[str, Any]:
        """Lines of what guessing reaches, and of what was wanted, by their texts."""
        rules = {}
        if self.chance is not None:
            chance = _percent(self.chance, self.utility)
            rules["guessing"] = self.ax_.axhline(chance, color="0.4", linestyle=":")
        for axis, (relation, bound) in self.wanted.items():
            scores = getattr(self, axis)
            least = "at least" if relation == ">=" else "at most"
            text = f"wanted: {least} {_said(bound, scores)}"
            draw = self.ax_.axhline
            if axis == "privacy":  # the bounds of both axes may be one number
                text, draw = f"{text} {self.words[0]}", self.ax_.axvline
            rules[text] = draw(_percent(bound, scores), color="0.7", linewidth=1)
        return rules

    def _limit(self, y: np.ndarray) -> None:
        """Axes of shares: from 0, or from a little below the least utility, to 100."""
        if _is_share(self.privacy):
            self.ax_.set_xlim(0, 100)
        if _is_share(self.utility):
            low = min(np.nanmin(y), self.ax_.dataLim.y0)
            self.ax_.set_ylim(max(0, 10 * np.floor(low / 10 - 0.2)), 100)

    def _labels(self, points: np.ndarray) -> list[Any]:
        """The chosen candidate in words, ε along its line, and what the rules are."""
        group = self.groups[0 if self.chosen is None else self.chosen]
        rows = [row for row in self._rows(group).tolist() if row != self.chosen]
        texts = [f"ε = {self.epsilon[row]:g}" for row in rows]
        if self.chosen is not None:
            rows, texts = [self.chosen, *rows], [self._choice(self.chosen), *texts]
        to_data = self.ax_.transData.inverted()
        rules = [
            to_data.transform(rule.get_transform().transform(rule.get_xydata()))
            for rule in self.rules_.values()
        ]
        labels = place_labels(
            self.ax_,
            np.concatenate([points[rows], *(ends[:1] for ends in rules)]),
            [*texts, *self.rules_],
            # of the ring, of marks, and of nothing
            radius=[8.0 if row == self.chosen else 3.0 for row in rows]
            + [0.0] * len(rules),
            avoid=[points[self._rows(name)] for name in self.lines_] + rules,
            fontsize="small", color="0.3", zorder=5,
        )  # fmt: skip
        for label in labels[self.chosen is not None : len(rows)]:
            label.set_color(self.lines_[group].get_color())
        return labels

    def _choice(self, at: int) -> str:
        """The chosen candidate in words."""
        hidden = f"{_said(self.privacy[at], self.privacy)} {self.words[0]}"
        right = f"{_said(self.utility[at], self.utility)} {self.words[1]}"
        if self.utility_interval is not None:
            low, high = _percent(self.utility_interval)[at]
            right += f" (±{(high - low) / 2:.0f})"
        line = f"chosen: ε = {self.epsilon[at]:g}, {self.groups[at]}"
        return f"{fill(line, 40)}\n{hidden}, {right}"


def _is_share(scores: Any) -> bool:
    """Whether scores are shares, which are drawn as per cent."""
    scores = np.asarray(scores)
    known = scores[np.isfinite(scores)]
    return bool(((known >= 0) & (known <= 1)).all())


def _percent(values: Any, scores: Any = None) -> Any:
    """Values as per cent, if they, or the scores that they belong to, are shares."""
    share = _is_share(values if scores is None else scores)
    return 100 * values if share else values


def _said(value: Any, scores: Any) -> str:
    """A score in words."""
    return f"{value:.0%}" if _is_share(scores) else f"{value:.3g}"


def _kind(search: Any, name: str) -> str:
    """The scorer of a score: of ours, or of scikit-learn's by its name, or the name."""
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, Mapping):
        scoring = scoring.get(name)
    elif isinstance(scoring, list | tuple | set) or scoring is None:
        scoring = name
    scorer = scoring.func if isinstance(scoring, partial) else scoring
    if scorer is words_changed_scorer:
        return _CHANGED
    if scorer is identified_scorer:
        return _IDENTIFIED
    return scorer if isinstance(scorer, str) else name


def _words(kind: str, name: str, scores: np.ndarray) -> tuple[str, str]:
    """What a score is called on its axis, and in short."""
    return _WORDS.get(kind, (f"{name}, %" if _is_share(scores) else name, name))


def _asked(parameter: str, name: str | None, kinds: Mapping[str, str]) -> str:
    """The score of an axis: as named, or the only one that may be meant."""
    if name is not None:
        check_option(parameter, name, list(kinds))
        return name
    ours = (_CHANGED, _IDENTIFIED)
    if parameter == "utility":
        meant = [name for name, kind in kinds.items() if kind not in ours]
    else:
        meant = [name for name, kind in kinds.items() if kind == _CHANGED]
        meant = meant or [name for name, kind in kinds.items() if kind == _IDENTIFIED]
    if len(meant) != 1:
        by = "another scorer than" if parameter == "utility" else "one of"
        raise InvalidParameterError(
            f"{parameter} must name one of the scores {list(kinds)}, unless exactly "
            f"one is by {by} words_changed_scorer and identified_scorer: "
            f"{len(meant)} are."
        )
    return meant[0]


def _chance(kind: str, labels: Any) -> float | None:
    """What guessing reaches, where the scorer and the labels tell it."""
    if kind in ("roc_auc", "roc_auc_ovr", "roc_auc_ovo"):
        return 0.5
    return 1 / len(labels) if kind == "balanced_accuracy" and len(labels) else None


def _warn_of_chance(name: str, scores: Any, chosen: int, chance: float) -> None:
    """Warn of a choice that may be no better than a guess."""
    least = float(scores.low[chosen])
    if least > chance or np.isnan(least):
        return
    few = scores.n_splits < _FEWEST_SPLITS
    warn_once(
        f"The chosen candidate may be no better than chance: its {name} is "
        f"{scores.mean[chosen]:.3g}, its interval over {scores.n_splits} splits begins "
        f"at {least:.3g}, and guessing reaches {chance:.3g}. "
        + ("Use cv=5 or more." if few else "Ask for more, or try less noise."),
        UserWarning,
    )


def _note(search: Any, results: Any, kinds: Mapping[str, str], privacy: str) -> str:
    """What is known of documents that are identified, if the axis does not say it."""
    if kinds[privacy] == _IDENTIFIED:
        return ""
    name = next((n for n, kind in kinds.items() if kind == _IDENTIFIED), None)
    if name is None:
        return _NO_HIDING if kinds[privacy] == _CHANGED else ""
    scorer = getattr(search, "scoring", {})
    scorer = scorer.get(name) if isinstance(scorer, Mapping) else None
    n = 100
    if isinstance(scorer, partial):
        n = scorer.keywords.get("n_candidates", n)
    found = results.scores[name].mean
    chosen = results.chosen
    known = found if chosen is None else found[[chosen]]
    known = known[np.isfinite(known)]  # of fits that failed, nothing is
    if not len(known):
        return ""
    low, high = known.min(), known.max()
    share = " to ".join(dict.fromkeys(f"{value:.0%}" for value in (low, high)))
    who = "An adversary" if chosen is None else "Where chosen, an adversary"
    return (
        f"{who} who knows the mechanism identifies {share} of the documents, among {n} "
        "candidates, or all of a split if these are fewer."
    )


def _groups(columns: Mapping[str, np.ndarray]) -> list[str]:
    """The name of the line of each candidate: λ, and what else differs but ε."""
    by = [
        name
        for name, values in columns.items()
        if name == "lam" or (name != "epsilon" and len(set(map(str, values))) > 1)
    ]
    said = [
        [f"λ = {x:g}" if name == "lam" else f"{name} = {x}" for x in columns[name]]
        for name in by
    ]
    return [", ".join(each[i] for each in said) for i in range(len(columns["epsilon"]))]
