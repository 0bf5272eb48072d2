"""Figure of an obfuscation report."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import COLORS, MARKERS, make_axes, place_labels
from skdptext.inspection._obfuscation_result import ObfuscationReport
from skdptext.utils import check_option

__all__ = ["ObfuscationDisplay"]

KINDS = ("auto", "adversaries", "epsilon", "trade-off")


class ObfuscationDisplay:
    """What adversaries find out, as a figure.

    Use `from_report`, or ``report.plot()``.

    Parameters
    ----------
    results : dict of str to ndarray of shape (n_lines,)
        As in `ObfuscationReport`.
    confidence : float, default=0.95
        Of the intervals.

    Attributes
    ----------
    results, confidence : as given
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure

    See Also
    --------
    obfuscation_report : Makes the numbers.

    Examples
    --------
    >>> from skdptext.inspection import ObfuscationDisplay
    >>> display = ObfuscationDisplay.from_report(report)         # doctest: +SKIP
    """

    def __init__(
        self, results: dict[str, np.ndarray], *, confidence: float = 0.95
    ) -> None:
        self.results = results
        self.confidence = confidence

    @classmethod
    def from_report(
        cls, report: ObfuscationReport, *, kind: str = "auto", ax: Any = None
    ) -> ObfuscationDisplay:
        """Draw a report.

        Parameters
        ----------
        report : ObfuscationReport
        kind : {"auto", "adversaries", "epsilon", "trade-off"}, default="auto"
            As for `plot`.
        ax : matplotlib Axes, default=None

        Returns
        -------
        display : ObfuscationDisplay
        """
        if not isinstance(report, ObfuscationReport):
            raise InvalidParameterError(
                f"report must be an ObfuscationReport, got {report!r:.80}."
            )
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
              classifier, against ε; a line for each λ.
            - ``"trade-off"``: these two accuracies against each other; a line for each
              λ, a point for each ε. Down and right is better.
            - ``"auto"``: the first for one perturber, else the second.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        self : ObfuscationDisplay
        """
        check_option("kind", kind, KINDS)
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
        size = {
            "adversaries": (8.0, 1.6 + 0.32 * n_lines),
            "epsilon": (8.0, 5.0),
            "trade-off": (6.5, 5.2),
        }
        (ax,) = make_axes(ax, 1, size[kind])
        draw = {
            "adversaries": self._draw_adversaries,
            "epsilon": self._draw_epsilon,
            "trade-off": self._draw_trade_off,
        }
        draw[kind](ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    # -- one release -------------------------------------------------------------------

    def _draw_adversaries(self, ax: Any) -> None:
        r = self.results
        n = len(r["noisy"])
        places = np.arange(n)[::-1]
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
            title=f"ε = {r['epsilon'][0]:g}, λ = {r['lam'][0]:g}: "
            f"{r['words_changed'][0]:.0%} of the words change",
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

    def _strongest(self, target: str) -> np.ndarray:
        """Line of the strongest adversary of each release, by release."""
        r = self.results
        found = []
        for release in np.unique(r["release"]):
            rows = np.flatnonzero((r["release"] == release) & (r["target"] == target))
            if len(rows):
                found.append(rows[np.argmax(r["noisy"][rows])])
        return np.array(found, dtype=int)

    def _by_lam(self, rows: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """Rows of each λ, by rising ε."""
        lams, epsilons = self.results["lam"][rows], self.results["epsilon"][rows]
        found = []
        for lam in np.unique(lams):
            mine = np.flatnonzero(lams == lam)
            order = mine[np.argsort(epsilons[mine], kind="stable")]
            found.append((float(lam), rows[order]))
        return found

    def _draw_epsilon(self, ax: Any) -> None:
        r = self.results
        styles = {"author": ("author", "-"), "topic": ("topic", "--")}
        for k, (target, (name, line)) in enumerate(styles.items()):
            rows = self._strongest(target)
            if not len(rows):
                continue
            colour = COLORS[1 - k]
            for j, (lam, mine) in enumerate(self._by_lam(rows)):
                ax.errorbar(
                    r["epsilon"][mine],
                    r["noisy"][mine],
                    yerr=self._margins("noisy", mine),
                    color=colour,
                    linestyle=line,
                    marker=MARKERS[j % len(MARKERS)],
                    capsize=2,
                    label=f"{name}, λ = {lam:g}",
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
            xlabel="ε (nats per unit of distance)",
            ylabel=f"accuracy of the strongest ({self.confidence:.0%} intervals)",
            ylim=(0, 1.02),
        )
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)

    def _draw_trade_off(self, ax: Any) -> None:
        r = self.results
        author, topic = self._strongest("author"), self._strongest("topic")
        partner = dict(zip(r["release"][author].tolist(), topic, strict=True))
        points, texts = [], []
        for k, (lam, mine) in enumerate(self._by_lam(author)):
            other = np.array([partner[i] for i in r["release"][mine].tolist()])
            x, y = r["noisy"][other], r["noisy"][mine]
            drawn = ax.errorbar(
                x,
                y,
                xerr=self._margins("noisy", other),
                yerr=self._margins("noisy", mine),
                color=COLORS[k % len(COLORS)],
                marker=MARKERS[k % len(MARKERS)],
                label=f"λ = {lam:g}",
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
