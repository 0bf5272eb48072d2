"""An obfuscation report: numbers, warnings, text, HTML and figure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from skdptext.attacks import Score, ScoreTable, Setting
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import make_axes
from skdptext.inspection._privacy_utility import PrivacyUtilityDisplay, two_scores
from skdptext.inspection._release_display import draw_scores
from skdptext.inspection._wording import interval, percent
from skdptext.utils import (
    Fragment,
    bullets,
    check_option,
    lined_up,
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

# Whose adversaries each kind of figure needs.
_KINDS = {
    "trade": ("author", "topic"), "privacy": ("author",), "utility": ("topic",)
}  # fmt: skip
_ATTACKS = ["ε", "λ", "adversary", "wants", "clear", "cut", "released", "guessing"]
_RELEASES = ("ε", "λ", "words each", "words changed", "exponent between documents")
_READ = (
    "An adversary who fails proves nothing about the next one. Only the guarantee "
    "holds against all. This report is as private as the documents."
)


class ReportedRelease(NamedTuple):
    """One releaser, and what it does to these documents."""

    noise: str  # of a word perturber its λ, behind the mechanism if it is not the usual
    epsilon: float
    lam: float
    words_changed: float
    guarantee: Any
    exponent: float  # typical value between documents of different authors
    n_empty: int  # documents without a known word
    keeps_unknown: bool


@dataclass(eq=False, repr=False)
class ObfuscationReport(ScoreTable):
    """What adversaries learn from documents in the clear and as released.

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
    """

    releases: list[ReportedRelease]
    setting: Setting
    linked: list[str]  # what `linkage_attack` says of each release

    def __post_init__(self) -> None:
        self.guarantees = [release.guarantee for release in self.releases]
        self.exponents = np.array([release.exponent for release in self.releases])
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

    def plot(self, ax: Any = None, *, kind: str = "trade") -> Any:
        """Draw the adversaries of one release; of several, topics against authors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. If None, a new figure.
        kind : {"trade", "privacy", "utility"}, default="trade"
            Of several releases: the accuracy of the best topic classifier against that
            of the strongest adversary on authors, or one of the two against ε. A line
            for each mechanism and λ.

        Returns
        -------
        display : ObfuscationReport or PrivacyUtilityDisplay
            Itself, or, of several releases, their display; with the axes and the figure
            as attributes `ax_` and `figure_`.

        Raises
        ------
        InvalidParameterError
            If `kind` needs a question that no adversary asked.
        ImportError
            If matplotlib is not installed.
        """
        check_option("kind", kind, tuple(_KINDS))
        if len(self.releases) > 1:
            for target in _KINDS[kind]:
                if not self.of(target):
                    raise InvalidParameterError(
                        f"kind={kind!r} needs adversaries for {target}s."
                    )
            return self._display().plot(ax, kind=kind)
        rows, (release,) = [*self.of("author"), *self.of("topic")], self.releases
        (self.ax_,) = make_axes(ax, 1, (6.4, 2 + 0.32 * len(rows)))
        self.figure_ = self.ax_.figure
        changed = release.words_changed
        title = f"ε = {release.epsilon:g}, {release.noise}" + (
            "" if math.isnan(changed) else f": {changed:.0%} of the words change"
        )
        names = [f"{row.question}: {row.adversary}" for row in rows]
        draw_scores(self.ax_, rows, names, title)
        return self

    def _display(self) -> PrivacyUtilityDisplay:
        """The strongest on authors and on topics, of each release."""
        n = len(self.releases)
        author, topic = (
            [(s.value, s.low, s.high) for i in range(n) for s in self.of(target, i)[:1]]
            for target in ("author", "topic")
        )
        none = [(np.nan,) * 3] * n
        return PrivacyUtilityDisplay(
            **two_scores(author or none, topic or none),
            epsilon=np.array([release.epsilon for release in self.releases]),
            lam=np.array([release.lam for release in self.releases]),
            groups=[release.noise for release in self.releases],
            privacy_name="authors named by the strongest adversary",
            utility_name="topics named by the best classifier",
            chance=next((row.chance for row in self.of("topic")), None),
        )

    # -- warnings ----------------------------------------------------------------------

    def _warn(self) -> list[str]:
        warnings = [*self._warn_of_sizes(), *self._warn_of_labels()]
        for i, release in enumerate(self.releases):
            warnings += self._warn_of_release(self._name(i), release)
            warnings += self._warn_of_topics(i, release)
        warnings += self._warn_of_promise()
        if find_spec("floret") is None:
            warnings.append("fastText was not tried: pip install floret.")
        return list(dict.fromkeys(warnings))

    def _warn_of_sizes(self) -> Iterator[str]:
        at = self.setting
        if at.n_documents < _FEW:
            # half the width of a 95 % interval of one half
            far = 0.98 / math.sqrt(at.n_documents)
            yield (
                f"Only {at.n_documents} documents are attacked: differences in "
                f"accuracy below about {far:.2f} mean nothing."
            )
        if at.n_strangers:
            yield (
                f"{at.n_strangers} documents are by authors of whom the adversary "
                "knows no other document: it cannot name them, hidden or not."
            )
        few = int((at.by_author < _FEW_OF_AUTHOR).sum())
        if few:
            yield (
                f"{few} of {len(at.by_author)} authors have fewer than "
                f"{_FEW_OF_AUTHOR} documents: an adversary who knows more of them may "
                "do better."
            )

    def _warn_of_labels(self) -> Iterator[str]:
        at, asked = self.setting, self.of("author")
        if asked and at.unrelated is not None:
            yield (
                "The topic gives the author away: a guess from the topic alone gets "
                f"{at.from_topic:.0%} of the authors right, against {at.unrelated:.0%} "
                "if authors had nothing to do with topics. A release that keeps the "
                "topic cannot hide this; authors can only be hidden among others who "
                "write on the same topic."
            )
        if asked and at.majority > 2 * at.uniform:
            yield (
                f"One author wrote {at.majority:.0%} of the documents: compare "
                "accuracies with this share, not with a random guess."
            )

    @staticmethod
    def _warn_of_release(name: str, release: ReportedRelease) -> Iterator[str]:
        if release.n_empty:
            yield f"Documents without a known word: {release.n_empty}."
        if getattr(release.guarantee, "n_words", 0) is None:
            yield (
                f"{name} releases the number of words of each document, which no "
                "noise hides: set document_length."
            )
        if release.keeps_unknown:
            yield (
                f"{name} releases unknown words as they are; names among them may give "
                "the author away."
            )
        if release.words_changed < _HARDLY:
            yield (
                f"{name} changes only {release.words_changed:.1%} of the words: ε is "
                "large for this embedding."
            )

    def _warn_of_topics(self, i: int, release: ReportedRelease) -> Iterator[str]:
        topic = next(iter(self.of("topic", i)), None)
        changes = f"{self._name(i)} changes {release.words_changed:.0%} of the words"
        if math.isnan(release.words_changed):
            changes = f"{self._name(i)} replaces documents"
        if topic is None:
            if release.words_changed > _NEARLY_ALL:
                yield f"{changes}: ε is small for this embedding."
        elif topic.low <= topic.chance and topic.high < (topic.clear or 0):
            yield (
                f"{changes}, and no topic classifier is better than chance with "
                "certainty: ε is small for this purpose."
            )

    def _warn_of_promise(self) -> Iterator[str]:
        """The guarantee between whole documents, once for all releases."""
        (which,) = np.nonzero(
            np.isfinite(self.exponents) & (self.exponents > _WEAK_EXPONENT)
        )
        if not len(which):
            return
        weak = self.exponents[which]
        some = len(weak) < len(self.exponents)
        of = f" ({'; '.join(map(self._name, which.tolist()))})" if some else ""
        # one factor, or the smallest and the largest
        ends = dict.fromkeys(f"e^{end:.0f}" for end in (weak.min(), weak.max()))
        yield (
            f"Little is promised between whole documents{of}: the odds between two "
            "documents by different authors may change by a factor of "
            f"{' to '.join(ends)}. How well the author is hidden is measured here, not "
            "proven."
        )

    def _name(self, i: int) -> str:
        release = self.releases[i]
        if len(self.releases) == 1:
            return "The release"
        return f"The release with ε = {release.epsilon:g}, {release.noise}"

    # -- text and HTML -----------------------------------------------------------------

    def _parts(self) -> list[str | _Table | list[str]]:
        """Paragraphs, tables and points, whatever they are shown as."""
        many, at = len(self.releases) > 1, self.setting
        linked: list[str] = [
            f"{self._name(i)}: {said}" if many else said
            for i, said in enumerate(self.linked)
        ]
        topics = f" on {at.n_topics} topics" if at.n_topics else ""
        attacks = [
            self._cells(row)
            for i in range(len(self.releases))
            for target in ("author", "topic")
            for row in self.of(target, i)[: 1 if many else None]
        ]
        which = (
            "The strongest of each release; to_frame() has all"
            if many
            else "Each adversary"
        )
        return [
            *linked,
            f"{at.n_documents} documents by {len(at.by_author)} authors{topics}; "
            f"{at.n_splits} splits. Adversaries who hold other texts look for the "
            "author. The strongest one is chosen on half of the documents; all are "
            "scored on the other half.",
            _Table(f"{which}: accuracy [95 % interval]", tuple(_ATTACKS), attacks,
                      "Clear: whole documents, unperturbed; cut: as many words of them "
                      "as are released."),
            _Table("The releases", _RELEASES, list(map(_facts, self.releases)),
                      "Exponent: of the odds between two documents by different "
                      "authors, on one topic if there are topics (nats, median)."),
            self.warnings,
            _READ,
        ]  # fmt: skip

    def _cells(self, row: Score) -> tuple[str, ...]:
        release = self.releases[row.release]
        return (
            *(f"{release.epsilon:g}", release.noise.removeprefix("λ = ")),
            *(row.adversary, row.question, percent(row.clear), percent(row.cut)),
            *(f"{percent(row.value)} [{interval(row)}]", percent(row.chance)),
        )

    def __repr__(self) -> str:
        return "\n\n".join(_as_text(part) for part in self._parts() if part)

    def _repr_html_(self) -> Fragment:
        return page("How well hidden is this corpus?", *map(_as_html, self._parts()))


class _Table(NamedTuple):
    """A table of texts, and a note for its reader."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str


def _as_text(part: str | _Table | list[str]) -> str:
    """A paragraph, a table or points, for a terminal."""
    if isinstance(part, _Table):
        lines = lined_up([part.columns, *part.rows], range(len(part.columns)))
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join([part.title, "", *lines, "", wrapped(part.note)])
    return wrapped(part if isinstance(part, str) else "\n".join(f"- {x}" for x in part))


def _as_html(part: str | _Table | list[str]) -> Fragment:
    """The same for a page."""
    if isinstance(part, _Table):
        # no line breaks: in a narrow window, scrolling reads better
        rows = [[cell.replace(" ", "\xa0") for cell in row] for row in part.rows]
        return table(part.columns, rows, caption=f"{part.title}. {part.note}")
    return paragraph(part) if isinstance(part, str) else bullets(part)


def _facts(release: ReportedRelease) -> tuple[str, ...]:
    """What a release does, in cells."""
    changed = release.words_changed
    return (
        *(f"{release.epsilon:g}", release.noise.removeprefix("λ = ")),
        str(getattr(release.guarantee, "n_words", "-") or "as it is"),
        "-" if math.isnan(changed) else percent(changed),
        _number(release.exponent),
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return "∞" if math.isinf(value) else f"{value:.4g}"
