"""An obfuscation report: numbers, warnings, text, HTML and figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from skdptext.attacks import Attributions, Score, ScoreTable
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import COLORS, MARKERS, make_axes, place_labels
from skdptext.inspection._release_display import draw_scores
from skdptext.inspection._tables import aligned
from skdptext.inspection._wording import interval, percent
from skdptext.mechanisms import resolve_mechanism
from skdptext.utils import (
    Fragment,
    bullets,
    check_kind,
    check_option,
    page,
    paragraph,
    table,
    wrapped,
)

# With fewer documents per author, or in total, the report warns.
_FEW_OF_AUTHOR, _FEW = 5, 50
# Below the first share of changed words almost nothing is hidden; above the second
# almost nothing is left.
_HARDLY, _NEARLY_ALL = 0.1, 0.95
# A factor of a thousand in the odds counts as a weak guarantee.
_WEAK_EXPONENT = math.log(1000)

_KINDS = ("auto", "adversaries", "epsilon", "trade-off")
_HEADER = (
    *("ε", "λ", "adversary", "wants"),
    *("in clear", "cut", "released", "chance"),
)


def noise_name(mechanism: Any, lam: float) -> str:
    """Name of a mechanism in figures and tables; λ alone for the default one."""
    if mechanism is None:
        return f"λ = {lam:g}"
    return f"{resolve_mechanism(mechanism)!r}, λ = {lam:g}"


class ReportedRelease(NamedTuple):
    """One releaser, and what it does to these documents."""

    noise: str  # see `noise_name`
    epsilon: float
    lam: float
    words_changed: float
    guarantee: Any
    exponent: float  # typical value between documents of different authors
    n_empty: int  # documents without a known word
    keeps_unknown: bool


class ObfuscationReport(ScoreTable):
    """What adversaries learn from documents in clear and as released.

    Made by `obfuscation_report`.

    Attributes
    ----------
    rows : list of Score
        A row for each release, question (``"author"``, ``"topic"`` and, unless left
        out, ``"linkage"``), adversary, and kind of documents that it knows.
    guarantees : list
        One for each perturber.
    exponents : ndarray of shape (n_perturbers,)
        The guarantee's exponent, in nats, between two documents of this corpus by
        different authors, on the same topic if there are topics: the median over a few
        pairs. Infinite where lengths, or unknown words, are released unchanged.
    warnings : list of str
        Reasons to read the numbers with care.

    See Also
    --------
    obfuscation_report : Makes the report, and explains the intervals.
    ObfuscationDisplay : Draws it.
    """

    def __init__(
        self,
        rows: list[Score],
        releases: list[ReportedRelease],
        attack: Attributions,
        *,
        linked: Sequence[str] = (),
    ) -> None:
        super().__init__(rows)
        self.releases = releases
        self.guarantees = [release.guarantee for release in releases]
        self.exponents = np.array([release.exponent for release in releases])
        self._linked, self._attack = list(linked), _facts(attack)
        self.warnings = self._warn()

    # -- in other forms ----------------------------------------------------------------

    def to_frame(self) -> Any:
        """All rows as a pandas DataFrame, with the parameters of their releases.

        Returns
        -------
        frame : DataFrame
            The fields of `Score`, ``noise``, ``epsilon``, ``lam`` and
            ``words_changed`` (NaN for releasers of whole documents).

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        frame = super().to_frame()
        for name in ("noise", "epsilon", "lam", "words_changed"):
            frame[name] = [getattr(self.releases[i], name) for i in frame["release"]]
        return frame

    def plot(self, **kwargs: Any) -> ObfuscationDisplay:
        """Draw the report.

        Parameters
        ----------
        **kwargs
            As for `ObfuscationDisplay.from_report`.

        Returns
        -------
        display : ObfuscationDisplay
            The figure, drawn.
        """
        return ObfuscationDisplay.from_report(self, **kwargs)

    def strongest(self, release: int = 0, target: str = "author") -> Score | None:
        """The row of the strongest adversary of a release.

        Parameters
        ----------
        release : int, default=0
            Which of the perturbers.
        target : {"author", "topic", "linkage"}, default="author"

        Returns
        -------
        row : Score or None
            None if no adversary has this target.
        """
        check_option("target", target, ("author", "topic", "linkage"))
        return next(iter(self.of(target, release)), None)

    # -- warnings ----------------------------------------------------------------------

    def _warn(self) -> list[str]:
        warnings = [*self._warn_of_sizes(), *self._warn_of_labels()]
        for i, release in enumerate(self.releases):
            warnings += self._warn_of_release(i, release)
        warnings += self._warn_of_promise()
        if find_spec("floret") is None:
            warnings.append("fastText was not tried: pip install floret.")
        return list(dict.fromkeys(warnings))

    def _warn_of_sizes(self) -> list[str]:
        warnings = []
        n = self._attack.n_documents
        if n < _FEW:
            warnings.append(
                f"Only {n} documents are attacked: differences in accuracy below about "
                f"{_resolution(n):.2f} mean nothing."
            )
        if self._attack.n_strangers:
            warnings.append(
                f"{self._attack.n_strangers} documents are by authors of whom the "
                "adversary knows no other document: it cannot name them, hidden or not."
            )
        if self._attack.by_author.min() < _FEW_OF_AUTHOR:
            few = int((self._attack.by_author < _FEW_OF_AUTHOR).sum())
            warnings.append(
                f"{few} of {len(self._attack.by_author)} authors have fewer than "
                f"{_FEW_OF_AUTHOR} documents: an adversary who knows more of them may "
                "do better."
            )
        return warnings

    def _warn_of_labels(self) -> list[str]:
        levels = self._attack.chance["author"]
        if not self.of("author"):
            return []
        warnings = []
        unrelated = self._attack.chance_if_unrelated
        if unrelated is not None:
            warnings.append(
                "The topic gives the author away: a guess from the topic alone gets "
                f"{levels['from_other']:.0%} of the authors right, against "
                f"{unrelated:.0%} if authors had nothing to do with "
                "topics. A release that keeps the topic cannot hide this; authors can "
                "only be hidden among others who write on the same topic."
            )
        if levels["majority"] > 2 * levels["uniform"]:
            warnings.append(
                f"One author wrote {levels['majority']:.0%} of the documents: compare "
                "accuracies with this share, not with a random guess."
            )
        return warnings

    def _warn_of_release(self, i: int, release: ReportedRelease) -> list[str]:
        name = self._name(i)
        warnings = []
        if release.n_empty:
            warnings.append(f"{release.n_empty} documents have no known word.")
        if getattr(release.guarantee, "n_words", 0) is None:
            warnings.append(
                f"{name} releases the number of words of each document, which no "
                "noise hides: set document_length."
            )
        if release.keeps_unknown:
            warnings.append(
                f"{name} releases unknown words in clear; names among them may give "
                "the author away."
            )
        if release.words_changed < _HARDLY:
            warnings.append(
                f"{name} changes only {release.words_changed:.1%} of the words: ε is "
                "large for this embedding."
            )
        topic = self.strongest(i, "topic")
        lost = topic is not None and topic.low <= topic.chance
        if topic is not None and lost and topic.high < (topic.clear or 0):
            changes = (
                "replaces documents"
                if math.isnan(release.words_changed)
                else f"changes {release.words_changed:.0%} of the words"
            )
            warnings.append(
                f"{name} {changes}, and no topic classifier is better than chance "
                "with certainty: ε is small for this purpose."
            )
        elif not topic and release.words_changed > _NEARLY_ALL:
            warnings.append(
                f"{name} changes {release.words_changed:.0%} of the words: ε is small "
                "for this embedding."
            )
        return warnings

    def _warn_of_promise(self) -> list[str]:
        """The guarantee between whole documents, once for all releases."""
        (which,) = np.nonzero(
            np.isfinite(self.exponents) & (self.exponents > _WEAK_EXPONENT)
        )
        weak = self.exponents[which]
        if not len(weak):
            return []
        some = len(weak) < len(self.exponents)
        of = f" ({'; '.join(map(self._name, which.tolist()))})" if some else ""
        low, high = f"e^{weak.min():.0f}", f"e^{weak.max():.0f}"
        factor = low if low == high else f"{low} to {high}"
        return [
            f"Little is promised between whole documents{of}: the odds between two "
            f"documents by different authors may change by a factor of {factor}. How "
            "well the author is hidden is measured here, not proven."
        ]

    def _name(self, i: int) -> str:
        release = self.releases[i]
        if len(self.releases) == 1:
            return "The release"
        return f"The release with ε = {release.epsilon:g}, {release.noise}"

    # -- text --------------------------------------------------------------------------

    def _summary(self) -> str:
        at = self._attack
        topics = f" on {at.n_topics} topics" if at.n_topics else ""
        times = f"{at.n_releases} releases" if at.n_releases > 1 else "one release"
        return (
            f"{at.n_documents} documents by {len(at.by_author)} authors{topics}; "
            f"{at.n_splits} splits, {times}. The strongest adversary is chosen on half "
            "of the documents; all are scored on the other half. In clear: whole "
            "documents; cut: in clear, as many words as are released. Released: at "
            "least."
        )

    def _before(self) -> list[str]:
        """The linkage results of each release, in words."""
        if not self._linked:
            return []
        many = len(self._linked) > 1
        lines = [
            f"{self._name(i)}: {said}" if many else said
            for i, said in enumerate(self._linked)
        ]
        return [*lines, "The author is looked for by adversaries who hold other texts:"]

    def _lines(self, fewest: bool) -> list[list[str]]:
        """Cells of the table; of several releases, only the strongest of each kind."""
        rows = [
            row
            for i in range(len(self.releases))
            for target in ("author", "topic")
            for row in self.of(target, i)[: 1 if fewest else None]
        ]
        return [
            [
                f"{self.releases[row.release].epsilon:g}",
                self.releases[row.release].noise.removeprefix("λ = "),
                row.adversary,
                row.question,
                percent(row.clear),
                percent(row.cut),
                f"{percent(row.value)} [{interval(row)}]",
                percent(row.chance),
            ]
            for row in rows
        ]

    def _release_rows(self) -> list[list[str]]:
        return [
            [
                f"{release.epsilon:g}",
                release.noise.removeprefix("λ = "),
                str(getattr(release.guarantee, "n_words", "-") or "as it is"),
                "-"
                if math.isnan(release.words_changed)
                else percent(release.words_changed),
                _number(release.exponent),
            ]
            for release in self.releases
        ]

    def __repr__(self) -> str:
        many = len(self.releases) > 1
        text = aligned([_HEADER, *self._lines(many)])
        if many:
            text.append("(the strongest adversary of each release; to_frame() has all)")
        head = wrapped("\n".join([*self._before(), "", self._summary()]).lstrip("\n"))
        after = wrapped("\n".join(f"- {warning}" for warning in self.warnings))
        return "\n".join([head, "", *text, "", after]).rstrip()

    def _repr_html_(self) -> Fragment:
        many = len(self.releases) > 1
        attacks = table(
            _HEADER,
            # no line breaks: in a narrow window, scrolling reads better
            [[x.replace(" ", "\xa0") for x in c] for c in self._lines(many)],
            caption="The strongest adversary for each release; to_frame() has all."
            if many
            else "Accuracy of each adversary. Chance: the most frequent answer.",
        )
        releases = table(
            ("ε", "λ", "words each", "words changed", "exponent between documents"),
            self._release_rows(),
            caption="The releases. Exponent: for the odds between two documents by "
            "different authors, on the same topic if there are topics (nats, median).",
        )
        return page(
            "How well hidden is this corpus?",
            *map(paragraph, self._before()),
            paragraph(self._summary()),
            attacks,
            releases,
            *([paragraph("Before you believe it:")] if self.warnings else []),
            bullets(self.warnings),
            paragraph(
                "An adversary who fails proves nothing about the next one. Only the "
                "guarantee holds against all. This report is as private as the "
                "documents."
            ),
        )


class _Facts(NamedTuple):
    """What a report says of the setting, without the documents, which it holds not."""

    n_documents: int
    n_topics: int
    n_splits: int
    n_releases: int
    n_strangers: int
    by_author: np.ndarray
    chance: dict[str, dict[str, float]]
    chance_if_unrelated: float | None


def _facts(attack: Attributions) -> _Facts:
    return _Facts(
        len(attack.attacked),
        0 if attack.topics is None else len(np.unique(attack.topics)),
        attack.n_splits,
        attack.n_releases,
        attack.n_strangers,
        np.unique(attack.authors, return_counts=True)[1],
        attack.chance,
        attack.chance_if_unrelated,
    )


@dataclass(eq=False, repr=False)
class ObfuscationDisplay:
    """What adversaries learn, as a figure.

    Use `from_report`, or ``report.plot()``. Parameters are stored as attributes.

    Parameters
    ----------
    report : ObfuscationReport
        What `obfuscation_report` returned.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure

    See Also
    --------
    obfuscation_report : Computes the numbers.

    Examples
    --------
    >>> from skdptext.inspection import ObfuscationDisplay
    >>> display = ObfuscationDisplay.from_report(report)         # doctest: +SKIP
    """

    report: ObfuscationReport

    @classmethod
    def from_report(
        cls, report: ObfuscationReport, *, kind: str = "auto", ax: Any = None
    ) -> ObfuscationDisplay:
        """Draw a report.

        Parameters
        ----------
        report : ObfuscationReport
            What `obfuscation_report` returned.
        kind : {"auto", "adversaries", "epsilon", "trade-off"}, default="auto"
            As for `plot`.
        ax : matplotlib Axes, default=None
            Where to draw. If None, new axes.

        Returns
        -------
        display : ObfuscationDisplay
        """
        check_kind(report, ObfuscationReport, "report must be an ObfuscationReport")
        return cls(report).plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "auto", ax: Any = None) -> ObfuscationDisplay:
        """Draw.

        Parameters
        ----------
        kind : {"auto", "adversaries", "epsilon", "trade-off"}, default="auto"
            - ``"adversaries"``: a line for each adversary, from its accuracy in clear
              to that on the release; for one perturber.
            - ``"epsilon"``: the strongest adversary for the author, and the best topic
              classifier, against ε; a line for each mechanism and λ.
            - ``"trade-off"``: these two accuracies against each other; a line for each
              λ, a point for each ε. Down and right is better.
            - ``"auto"``: ``"adversaries"`` for one perturber, else ``"epsilon"``.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        self : ObfuscationDisplay
            The estimator itself.
        """
        check_option("kind", kind, _KINDS)
        several = len(self.report.releases) > 1
        if kind == "auto":
            kind = "epsilon" if several else "adversaries"
        if kind == "adversaries" and several:
            raise InvalidParameterError(
                "kind must be 'epsilon' or 'trade-off' for several perturbers, got "
                "'adversaries'."
            )
        both = self.report.of("author") and self.report.of("topic")
        if kind == "trade-off" and not both:
            raise InvalidParameterError(
                "kind='trade-off' needs adversaries for authors and for topics."
            )
        n_lines = len(self._one())
        draw, size = {
            "adversaries": (self._draw_adversaries, (8.0, 1.6 + 0.32 * n_lines)),
            "epsilon": (self._draw_epsilon, (8.0, 5.0)),
            "trade-off": (self._draw_trade_off, (6.5, 5.2)),
        }[kind]
        (self.ax_,) = make_axes(ax, 1, size)
        draw(self.ax_)
        self.figure_ = self.ax_.figure
        return self

    # -- one release -------------------------------------------------------------------

    def _one(self) -> list[Score]:
        return [*self.report.of("author"), *self.report.of("topic")]

    def _draw_adversaries(self, ax: Any) -> None:
        rows, release = self._one(), self.report.releases[0]
        changed = release.words_changed
        title = f"ε = {release.epsilon:g}, {release.noise}" + (
            "" if math.isnan(changed) else f": {changed:.0%} of the words change"
        )
        draw_scores(ax, rows, [f"{r.question}: {r.adversary}" for r in rows], title)

    # -- several releases --------------------------------------------------------------

    def _by_noise(self, target: str) -> list[tuple[str, list[int], np.ndarray]]:
        """For each mechanism and λ: releases by increasing ε; ε, value, low, high."""
        found = self.report.releases
        lines = []
        for noise in dict.fromkeys(release.noise for release in found):
            mine = [i for i, r in enumerate(found) if r.noise == noise]
            mine.sort(key=lambda i: found[i].epsilon)
            best = [self.report.of(target, i)[0] for i in mine]
            rows = [(found[r.release].epsilon, r.value, r.low, r.high) for r in best]
            lines.append((noise, mine, np.array(rows).T))
        return sorted(lines, key=lambda line: line[0])

    def _draw_epsilon(self, ax: Any) -> None:
        for k, (target, line) in enumerate((("author", "-"), ("topic", "--"))):
            best = next(iter(self.report.of(target)), None)
            if best is None:
                continue
            colour = COLORS[1 - k]
            for j, (noise, _, numbers) in enumerate(self._by_noise(target)):
                ax.errorbar(
                    *numbers[:2],
                    yerr=_margins(numbers),
                    color=colour,
                    linestyle=line,
                    marker=MARKERS[j % len(MARKERS)],
                    capsize=2,
                    label=f"{target}, {noise}",
                )
            ax.axhline(best.clear, color=colour, linewidth=0.8, linestyle=line)
            ax.axhline(best.chance, color=colour, linewidth=1, linestyle=":")
            for level, text in ((best.clear, "in clear"), (best.chance, "chance")):
                ax.annotate(
                    f"{target} {text}",
                    (1.01, level),
                    xycoords=("axes fraction", "data"),
                    color=colour,
                    va="center",
                )
        whole = any(math.isnan(release.lam) for release in self.report.releases)
        ax.set(
            xlabel="ε (nats per unit of distance"
            + ("; of whole documents, nats)" if whole else ")"),
            ylabel="accuracy of the strongest (95 % intervals)",
            ylim=(0, 1.02),
        )
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)

    def _draw_trade_off(self, ax: Any) -> None:
        points, texts = [], []
        each = zip(self._by_noise("topic"), self._by_noise("author"), strict=True)
        for k, ((noise, _, topic), (_, _, author)) in enumerate(each):
            drawn = ax.errorbar(
                topic[1],
                author[1],
                xerr=_margins(topic),
                yerr=_margins(author),
                color=COLORS[k % len(COLORS)],
                marker=MARKERS[k % len(MARKERS)],
                label=noise,
            )
            for bars in drawn.lines[2]:
                bars.set(alpha=0.25, zorder=1)
            points += list(zip(topic[1], author[1], strict=True))
            texts += [f"{epsilon:g}" for epsilon in author[0]]
        x, y = (self.report.of(name)[0] for name in ("topic", "author"))
        clear = {"color": "black", "markersize": 13, "label": "in clear", "zorder": 4}
        ax.plot(x.clear, y.clear, "*", **clear)
        ax.axvline(x.chance, color="0.5", linestyle=":")
        ax.axhline(y.chance, color="0.5", linestyle=":", label="chance")
        ax.set(
            xlabel="accuracy of the best topic classifier (keep)",
            ylabel="accuracy of the strongest adversary on authors (hide)",
            title="Down and right is better; numbers are ε, 95 % intervals",
        )
        ax.legend(loc="upper left")
        place_labels(ax, np.array(points), texts, fontsize="small")


def _margins(numbers: np.ndarray) -> np.ndarray:
    """Distances down and up to the ends of the intervals."""
    _, value, low, high = numbers
    return np.maximum([value - low, high - value], 0)


def _number(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _resolution(n: int) -> float:
    """Half the width of a 95 % interval for an accuracy of one half."""
    return 0.98 / math.sqrt(n)
