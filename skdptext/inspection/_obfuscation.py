"""An obfuscation report: numbers, warnings, text, HTML and figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from skdptext.attacks import Attributions, Linkages
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import COLORS, MARKERS, make_axes, place_labels
from skdptext.inspection._tables import aligned
from skdptext.mechanisms import resolve_mechanism
from skdptext.utils import (
    Fragment,
    bullets,
    check_kind,
    check_option,
    import_pandas,
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
# The names of the default adversaries.
_ADVERSARIES = (
    ({"SRauth", "SRtopic"}, "SR: the nearest texts by Word Mover's Distance."),
    ({"DRauth"}, "DRauth: Koppel's method, many votes on random n-grams."),
    ({"DRtopic"}, "DRtopic: fastText, a linear model on learned word vectors."),
    ({"linear author", "linear topic"}, "linear: logistic regression on tf-idf."),
    (
        {"channel author", "channel topic"},
        "channel: naive Bayes that knows the distribution of the noise.",
    ),
)
_HEADER = (
    *("ε", "λ", "adversary", "wants", "knows"),
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


class ObfuscationReport:
    """What adversaries learn from documents in clear and as released.

    Made by `obfuscation_report`.

    Attributes
    ----------
    results : dict of str to ndarray of shape (n_lines,)
        One line for each release, adversary, and kind of documents that the adversary
        knows:

        - ``release``: index of the perturber; ``epsilon`` and ``lam``: its parameters;
          ``noise``: its mechanism, with λ (of other releasers the class, and no λ);
        - ``adversary``, ``target`` ("author" or "topic"), ``trained_on`` ("originals"
          or "releases");
        - ``clean``, ``clean_low``, ``clean_high``: accuracy on whole documents in
          clear, for an adversary who knows other whole documents in clear, and its
          interval; ``cut``, ``cut_low``, ``cut_high``: the same on documents in clear
          that are cut like the release;
        - ``noisy``, ``noisy_low``, ``noisy_high``: the same on released documents;
        - ``chance_majority``: accuracy of always giving the most frequent answer;
          ``chance_uniform``: of a random guess; ``chance_from_other``: of giving the
          most frequent author of the topic (or topic of the author), knowing the other
          label but nothing of the text. It is counted on the attacked documents
          themselves, and so too high where few documents share the other label;
        - ``n_documents``: documents held out; ``words_changed``: share of their known
          words that the noise changes (NaN for releasers of whole documents).
    guarantees : list
        One for each perturber.
    exponents : ndarray of shape (n_perturbers,)
        The guarantee's exponent, in nats, between two documents of this corpus by
        different authors, on the same topic if there are topics: the median over a few
        pairs. Infinite where lengths, or unknown words, are released unchanged.
    linkages : list of Linkages
        One for each perturber: how many documents are identified by an adversary who
        holds them in clear. Empty with ``linkage=False``.
    warnings : list of str
        Reasons to read the numbers with care.
    confidence, n_splits, n_releases : float, int, int
        Confidence of the intervals; number of splits; number of releases.

    See Also
    --------
    obfuscation_report : Makes the report, and explains the intervals.
    ObfuscationDisplay : Draws it.
    """

    def __init__(
        self,
        results: dict[str, np.ndarray],
        releases: list[ReportedRelease],
        attributions: Attributions,
        *,
        linkages: Sequence[Linkages] = (),
        confidence: float = 0.95,
    ) -> None:
        self.results = results
        self.linkages = list(linkages)
        self.guarantees = [release.guarantee for release in releases]
        self.exponents = np.array([release.exponent for release in releases])
        self.confidence = confidence
        self.n_splits = attributions.n_splits
        self.n_releases = attributions.n_releases
        self._releases = releases
        # without the documents, which a report does not hold
        self._attack = attributions._replace(attempts=[], perturbers=[], documents=None)
        _, self._by_author = np.unique(attributions.authors, return_counts=True)
        self.warnings = self._warn()

    # -- in other forms ----------------------------------------------------------------

    def to_frame(self) -> Any:
        """All lines as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            The columns of `results`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return import_pandas("to_frame").DataFrame(self.results)

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

    def strongest(self, release: int = 0, target: str = "author") -> dict[str, Any]:
        """The line of the adversary with the highest accuracy on a release.

        Parameters
        ----------
        release : int, default=0
            Which of the perturbers.
        target : {"author", "topic"}, default="author"

        Returns
        -------
        line : dict
            One line of `results`; empty if no adversary has this target.
        """
        check_option("target", target, ("author", "topic"))
        best = _strongest(self.results, target).get(release)
        if best is None:
            return {}
        return {name: column[best].item() for name, column in self.results.items()}

    # -- warnings ----------------------------------------------------------------------

    def _warn(self) -> list[str]:
        warnings = [*self._warn_of_sizes(), *self._warn_of_labels()]
        for i, release in enumerate(self._releases):
            warnings += self._warn_of_release(i, release)
        warnings += self._warn_of_promise()
        if self._attack.default_adversaries and find_spec("floret") is None:
            warnings.append(
                "DRtopic, the paper's fastText model, was not tried: pip "
                "install floret."
            )
        return list(dict.fromkeys(warnings))

    def _warn_of_sizes(self) -> list[str]:
        warnings = []
        n = int(self.results["n_documents"].min())
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
        if self._by_author.min() < _FEW_OF_AUTHOR:
            few = int((self._by_author < _FEW_OF_AUTHOR).sum())
            warnings.append(
                f"{few} of {len(self._by_author)} authors have fewer than "
                f"{_FEW_OF_AUTHOR} documents: an adversary who knows more of them may "
                "do better."
            )
        return warnings

    def _warn_of_labels(self) -> list[str]:
        author = self.results["target"] == "author"
        if not author.any():
            return []
        line = np.flatnonzero(author)[0]
        levels = {
            name: float(self.results[f"chance_{name}"][line])
            for name in ("majority", "uniform", "from_other")
        }
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
        lost = bool(topic) and topic["noisy_low"] <= topic["chance_majority"]
        if lost and topic["noisy_high"] < topic["clean_low"]:
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
        release = self._releases[i]
        if len(self._releases) == 1:
            return "The release"
        return f"The release with ε = {release.epsilon:g}, {release.noise}"

    # -- text --------------------------------------------------------------------------

    def _summary(self) -> str:
        n = int(self.results["n_documents"].max())
        topics = ""
        if self._attack.topics is not None:
            topics = f" on {len(np.unique(self._attack.topics))} topics"
        times = f"{self.n_releases} releases" if self.n_releases > 1 else "one release"
        return (
            f"{n} documents by {len(self._by_author)} authors{topics}; "
            f"{self.n_splits} splits, {times}. Accuracy with {self.confidence:.0%} "
            "intervals (Wilson, over documents; those of all adversaries of a release "
            "and target hold together). In clear: whole documents; cut: in clear, as "
            "many words as are released. Released: at least."
        )

    def _linked(self) -> list[str]:
        """The linkage results of each release, in words."""
        lines = [
            linkages.in_words()
            if len(self.linkages) == 1
            else f"{self._name(i)}: {linkages.in_words()}"
            for i, linkages in enumerate(self.linkages)
        ]
        if lines:
            unbounded = [linkages.bound is None for linkages in self.linkages]
            line = "an adversary who holds the documents themselves may find them. "
            if all(unbounded):
                line = f"So {line}What can be hidden is the author, from "
            elif any(unbounded):
                line = f"Where no bound is stated, {line}The author is looked for by "
            else:
                line = "The author is looked for by "
            lines.append(f"{line}adversaries who hold other documents:")
        return lines

    def _lines(self, fewest: bool) -> list[list[str]]:
        """Cells of the table; of several releases, only the strongest of each kind."""
        r = self.results
        rows = list(range(len(r["noisy"])))
        if fewest:
            best = [_strongest(r, target) for target in ("author", "topic")]
            # by release; of one, the author first
            rows = sorted(chain(*(b.values() for b in best)), key=r["release"].item)
        return [
            [
                f"{r['epsilon'][k]:g}",
                str(r["noise"][k]).removeprefix("λ = "),
                *(str(r[name][k]) for name in ("adversary", "target", "trained_on")),
                _share(r["clean"][k], r["clean_low"][k], r["clean_high"][k]),
                f"{r['cut'][k]:.2f}",
                _share(r["noisy"][k], r["noisy_low"][k], r["noisy_high"][k]),
                f"{r['chance_majority'][k]:.2f}",
            ]
            for k in rows
        ]

    def _release_rows(self) -> list[list[str]]:
        return [
            [
                f"{release.epsilon:g}",
                release.noise.removeprefix("λ = "),
                str(getattr(release.guarantee, "n_words", "-") or "as it is"),
                "-"
                if math.isnan(release.words_changed)
                else f"{release.words_changed:.1%}",
                _number(release.exponent),
            ]
            for release in self._releases
        ]

    def _legend(self) -> list[str]:
        """Explanation of the names of the adversaries in the table."""
        if not self._attack.default_adversaries:
            return []
        shown = set(self.results["adversary"])
        return [text for names, text in _ADVERSARIES if shown & names]

    def __repr__(self) -> str:
        text = aligned([_HEADER, *self._lines(len(self._releases) > 1)])
        if len(self._releases) > 1:
            text.append("(the strongest adversary of each release; to_frame() has all)")
        if legend := self._legend():
            text += ["", *legend]
        head = [*self._linked(), ""] if self.linkages else []
        before = wrapped("\n".join([*head, self._summary()]))
        after = wrapped("\n".join(f"- {warning}" for warning in self.warnings))
        return "\n".join([before, "", *text, "", after]).rstrip()

    def _repr_html_(self) -> Fragment:
        many = len(self._releases) > 1
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
            *map(paragraph, self._linked()),
            paragraph(self._summary()),
            attacks,
            *map(paragraph, self._legend()),
            releases,
            *([paragraph("Before you believe it:")] if self.warnings else []),
            bullets(self.warnings),
            paragraph(
                "An adversary who fails proves nothing about the next one. Only the "
                "guarantee holds against all. This report is as private as the "
                "documents."
            ),
        )


@dataclass(eq=False, repr=False)
class ObfuscationDisplay:
    """What adversaries learn, as a figure.

    Use `from_report`, or ``report.plot()``. Parameters are stored as attributes.

    Parameters
    ----------
    results : dict of str to ndarray of shape (n_lines,)
        As in `ObfuscationReport`.
    confidence : float, default=0.95
        Confidence of the intervals.

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

    results: dict[str, np.ndarray]
    _: KW_ONLY
    confidence: float = 0.95

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
        display = cls(report.results, confidence=report.confidence)
        return display.plot(kind=kind, ax=ax)

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
        several = len(np.unique(self.results["release"])) > 1
        if kind == "auto":
            kind = "epsilon" if several else "adversaries"
        if kind == "adversaries" and several:
            raise InvalidParameterError(
                "kind must be 'epsilon' or 'trade-off' for several perturbers, got "
                "'adversaries'."
            )
        topics = (self.results["target"] == "topic").any()
        authors = (self.results["target"] == "author").any()
        if kind == "trade-off" and not (topics and authors):
            raise InvalidParameterError(
                "kind='trade-off' needs adversaries for authors and for topics."
            )
        n_lines = len(self.results["noisy"])
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

    def _draw_adversaries(self, ax: Any) -> None:
        r = self.results
        n = len(r["noisy"])
        places = np.arange(n)[::-1]
        changed = float(r["words_changed"][0])
        labels = [
            f"{adversary}, knows {known}"
            for adversary, known in zip(r["adversary"], r["trained_on"], strict=True)
        ]
        ax.hlines(places, r["clean"], r["noisy"], color="0.75", zorder=1)
        styles = (
            ("clean", "in clear", COLORS[0], "o", 0.12),
            ("noisy", "released", COLORS[1], "s", -0.12),
        )
        for name, label, colour, marker, shift in styles:
            ax.errorbar(
                r[name],
                places + shift,
                xerr=self._margins(name),
                fmt=marker,
                color=colour,
                label=label,
                capsize=2,
            )
        ax.plot(
            r["chance_majority"],
            places,
            "|",
            color="black",
            markersize=14,
            label="chance (most frequent)",
        )
        ax.set(
            yticks=places,
            yticklabels=labels,
            xlim=(0, 1.02),
            ylim=(-0.6, n - 0.4),
            xlabel=f"accuracy ({self.confidence:.0%} intervals)",
            title=f"ε = {r['epsilon'][0]:g}, {r['noise'][0]}"
            + ("" if math.isnan(changed) else f": {changed:.0%} of the words change"),
        )
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.55 / (0.32 * n)), ncols=3)

    def _margins(self, name: str, rows: Any = slice(None)) -> np.ndarray:
        """Distances down and up to the ends of the interval."""
        r = self.results
        middle = r[name][rows]
        down = middle - r[f"{name}_low"][rows]
        up = r[f"{name}_high"][rows] - middle
        return np.maximum([down, up], 0)

    # -- several releases --------------------------------------------------------------

    def _by_noise(self, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """Rows of each mechanism and λ, by increasing ε."""
        noises, epsilons = self.results["noise"][rows], self.results["epsilon"][rows]
        lines = []
        for noise in np.unique(noises):
            mine = np.flatnonzero(noises == noise)
            order = mine[np.argsort(epsilons[mine], kind="stable")]
            lines.append((str(noise), rows[order]))
        return lines

    def _draw_epsilon(self, ax: Any) -> None:
        r = self.results
        styles = {"author": ("author", "-"), "topic": ("topic", "--")}
        for k, (target, (name, line)) in enumerate(styles.items()):
            rows = np.array(list(_strongest(r, target).values()), dtype=int)
            if not len(rows):
                continue
            colour = COLORS[1 - k]
            for j, (noise, mine) in enumerate(self._by_noise(rows)):
                ax.errorbar(
                    r["epsilon"][mine],
                    r["noisy"][mine],
                    yerr=self._margins("noisy", mine),
                    color=colour,
                    linestyle=line,
                    marker=MARKERS[j % len(MARKERS)],
                    capsize=2,
                    label=f"{name}, {noise}",
                )
            clean = r["clean"][r["target"] == target].max()
            chance = r["chance_majority"][rows[0]]
            ax.axhline(clean, color=colour, linewidth=0.8, linestyle=line)
            ax.axhline(chance, color=colour, linewidth=1, linestyle=":")
            for level, text in ((clean, "in clear"), (chance, "chance")):
                ax.annotate(
                    f"{name} {text}",
                    (1.01, level),
                    xycoords=("axes fraction", "data"),
                    color=colour,
                    va="center",
                )
        ax.set(
            xlabel="ε (nats per unit of distance; of whole documents, nats)"
            if np.isnan(r["lam"]).any()
            else "ε (nats per unit of distance)",
            ylabel=f"accuracy of the strongest ({self.confidence:.0%} intervals)",
            ylim=(0, 1.02),
        )
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)

    def _draw_trade_off(self, ax: Any) -> None:
        r = self.results
        partner = _strongest(r, "topic")
        author = np.array(list(_strongest(r, "author").values()), dtype=int)
        topic = np.array(list(partner.values()), dtype=int)
        points, texts = [], []
        for k, (noise, mine) in enumerate(self._by_noise(author)):
            other = np.array([partner[i] for i in r["release"][mine].tolist()])
            x, y = r["noisy"][other], r["noisy"][mine]
            drawn = ax.errorbar(
                x,
                y,
                xerr=self._margins("noisy", other),
                yerr=self._margins("noisy", mine),
                color=COLORS[k % len(COLORS)],
                marker=MARKERS[k % len(MARKERS)],
                label=noise,
            )
            for bars in drawn.lines[2]:
                bars.set(alpha=0.25, zorder=1)
            points += list(zip(x, y, strict=True))
            texts += [f"{epsilon:g}" for epsilon in r["epsilon"][mine]]
        clean = [r["clean"][r["target"] == t].max() for t in ("topic", "author")]
        ax.plot(*clean, "*", color="black", markersize=13, label="in clear", zorder=4)
        chance = [r["chance_majority"][rows[0]] for rows in (topic, author)]
        ax.axvline(chance[0], color="0.5", linestyle=":")
        ax.axhline(chance[1], color="0.5", linestyle=":", label="chance")
        ax.set(
            xlabel="accuracy of the best topic classifier (keep)",
            ylabel="accuracy of the strongest adversary on authors (hide)",
            title=f"Down and right is better; numbers are ε, {self.confidence:.0%} "
            "intervals",
        )
        ax.legend(loc="upper left")
        place_labels(ax, np.array(points), texts, fontsize="small")


def _strongest(results: dict[str, np.ndarray], target: str) -> dict[int, int]:
    """The line of the strongest adversary of each release that has one."""
    lines: dict[int, int] = {}
    for k in np.flatnonzero(results["target"] == target).tolist():
        release = int(results["release"][k])
        best = lines.setdefault(release, k)
        if results["noisy"][k] > results["noisy"][best]:
            lines[release] = k
    return lines


def _share(share: float, low: float, high: float) -> str:
    return f"{share:.2f} [{low:.2f}, {high:.2f}]"


def _number(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _resolution(n: int) -> float:
    """Half the width of a 95 % interval for an accuracy of one half."""
    return 0.98 / math.sqrt(n)
