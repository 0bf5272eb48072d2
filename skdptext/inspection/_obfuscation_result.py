"""The result of `obfuscation_report`: numbers, warnings, text and HTML."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skdptext.inspection._obfuscation_attacks import stands_out
from skdptext.privacy import PrivacyGuarantee
from skdptext.utils._html import Fragment, bullets, page, paragraph, table

if TYPE_CHECKING:
    from skdptext.inspection._obfuscation import ObfuscationDisplay

__all__ = ["ObfuscationReport", "Release"]

# Below so many documents of an author, or in all, the report says that it is few.
_FEW_OF_AUTHOR, _FEW = 5, 50
# Shares of words changed that hardly hide, or hardly leave, anything.
_HARDLY, _NEARLY_ALL = 0.1, 0.95
# Odds of a thousand to one, and more, are not small.
_WEAK_EXPONENT = math.log(1000)

_HEADER = ("ε", "λ", "adversary", "wants", "knows", "in clear", "released", "chance")


class Release(NamedTuple):
    """One perturber, and what it does to these documents."""

    epsilon: float
    lam: float
    words_changed: float
    guarantee: PrivacyGuarantee
    exponent: float  # typical, between documents of different authors
    n_empty: int  # documents without a known word
    keeps_unknown: bool


class ObfuscationReport:
    """What adversaries find out about documents in clear and as released.

    Made by `obfuscation_report`.

    Attributes
    ----------
    results : dict of str to ndarray of shape (n_lines,)
        One line for each release, adversary, and kind of documents it knows:

        - ``release``: which of the perturbers; ``epsilon`` and ``lam``: its parameters;
        - ``adversary``, ``target`` ("author" or "topic"), ``trained_on`` ("originals"
          or "releases");
        - ``clean``, ``clean_low``, ``clean_high``: accuracy on documents in clear,
          known in clear, and its interval;
        - ``noisy``, ``noisy_low``, ``noisy_high``: the same on released documents;
        - ``chance_majority``: of always giving the most frequent answer;
          ``chance_uniform``: of a blind guess; ``chance_from_other``: of giving the
          most frequent author of the topic (or topic of the author), from knowing the
          other label and nothing of the text, counted on the documents attacked
          themselves, and so too high where few share the other label;
        - ``n_documents``: documents held out; ``words_changed``: share of their known
          words that the noise changes.
    guarantees : list of PrivacyGuarantee
        One for each perturber.
    exponents : ndarray of shape (n_perturbers,)
        The guarantee's exponent, in nats, between two documents of this corpus by
        different authors, on one topic where there are topics: the median of a few
        pairs. Infinite where lengths, or unknown words, are released as they are.
    warnings : list of str
        What a reader should know before believing the numbers.
    confidence, n_splits, n_releases : float, int, int
        Of the intervals; how often documents were split and released.

    See Also
    --------
    obfuscation_report : Makes it, and says what intervals mean.
    ObfuscationDisplay : Draws it.
    """

    def __init__(
        self,
        *,
        results: dict[str, np.ndarray],
        releases: list[Release],
        author_counts: np.ndarray,
        topic_counts: np.ndarray | None,
        confidence: float,
        n_splits: int,
        n_releases: int,
        shuffled_chance: np.ndarray | None = None,
        n_strangers: int = 0,
        default_adversaries: bool = False,
    ) -> None:
        self.results = results
        self.guarantees = [release.guarantee for release in releases]
        self.exponents = np.array([release.exponent for release in releases])
        self.confidence = confidence
        self.n_splits = n_splits
        self.n_releases = n_releases
        self._shuffled_chance = shuffled_chance
        self._n_strangers = n_strangers
        self._releases = releases
        self._author_counts = author_counts
        self._topic_counts = topic_counts
        self._defaults = default_adversaries
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
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        return pd.DataFrame(self.results)

    def plot(self, **kwargs: Any) -> ObfuscationDisplay:
        """Draw the report.

        Parameters
        ----------
        **kwargs
            As for `ObfuscationDisplay.from_report`.

        Returns
        -------
        display : ObfuscationDisplay
        """
        from skdptext.inspection._obfuscation import ObfuscationDisplay

        return ObfuscationDisplay.from_report(self, **kwargs)

    def strongest(self, release: int = 0, target: str = "author") -> dict[str, Any]:
        """The line of the adversary who gets most right of a release.

        Parameters
        ----------
        release : int, default=0
            Which of the perturbers.
        target : {"author", "topic"}, default="author"

        Returns
        -------
        line : dict
            One line of `results`; empty if nobody wants the target.
        """
        rows = np.flatnonzero(
            (self.results["release"] == release) & (self.results["target"] == target)
        )
        if not len(rows):
            return {}
        best = rows[np.argmax(self.results["noisy"][rows])]
        return {name: column[best].item() for name, column in self.results.items()}

    # -- warnings ----------------------------------------------------------------------

    def _warn(self) -> list[str]:
        found = [*self._warn_of_sizes(), *self._warn_of_labels()]
        for i, release in enumerate(self._releases):
            found += self._warn_of_release(i, release)
        found += self._warn_of_promise()
        if self._defaults and find_spec("floret") is None:
            found.append(
                "DRtopic, the paper's fastText, was not tried: install "
                "skdptext[fasttext]."
            )
        return list(dict.fromkeys(found))

    def _warn_of_sizes(self) -> list[str]:
        found = []
        n = int(self.results["n_documents"].min())
        if n < _FEW:
            found.append(
                f"Only {n} documents are attacked: differences of less than about "
                f"{_resolution(n):.2f} in accuracy mean nothing."
            )
        if self._n_strangers:
            found.append(
                f"{self._n_strangers} documents are attacked by who knows none of "
                "their authors: these cannot be found, hidden or not."
            )
        if self._author_counts.min() < _FEW_OF_AUTHOR:
            few = int((self._author_counts < _FEW_OF_AUTHOR).sum())
            found.append(
                f"{few} of {len(self._author_counts)} authors have fewer than "
                f"{_FEW_OF_AUTHOR} documents: an adversary who knows more of them may "
                "do better."
            )
        return found

    def _warn_of_labels(self) -> list[str]:
        author = self.results["target"] == "author"
        if not author.any():
            return []
        line = np.flatnonzero(author)[0]
        levels = {
            name: float(self.results[f"chance_{name}"][line])
            for name in ("majority", "uniform", "from_other")
        }
        found = []
        shuffled = self._shuffled_chance
        if shuffled is not None and stands_out(levels["from_other"], shuffled):
            found.append(
                "The topic gives the author away: a guess from the topic alone gets "
                f"{levels['from_other']:.0%} of the authors right, against "
                f"{shuffled.mean():.0%} if authors had nothing to do with topics. A "
                "release that keeps the topic cannot hide that; only documents of "
                "several authors on one topic can be hidden among each other."
            )
        if levels["majority"] > 2 * levels["uniform"]:
            found.append(
                f"One author wrote {levels['majority']:.0%} of the documents: compare "
                "accuracies with that, and not with a blind guess."
            )
        return found

    def _warn_of_release(self, i: int, release: Release) -> list[str]:
        name = self._name(i)
        found = []
        if release.n_empty:
            found.append(f"{release.n_empty} documents have no known word.")
        if release.guarantee.n_words is None:
            found.append(
                f"{name} releases the number of words of each document, which no "
                "noise hides: set document_length."
            )
        if release.keeps_unknown:
            found.append(
                f"{name} releases unknown words in clear; names among them may give "
                "the author away."
            )
        if release.words_changed < _HARDLY:
            found.append(
                f"{name} changes {release.words_changed:.1%} of the words only: ε is "
                "large for this table."
            )
        topic = self.strongest(i, "topic")
        lost = bool(topic) and topic["noisy_low"] <= topic["chance_majority"]
        if lost and topic["noisy_high"] < topic["clean_low"]:
            found.append(
                f"{name} changes {release.words_changed:.0%} of the words, and no "
                "topic classifier is better than chance for certain: ε is small for "
                "this table."
            )
        elif not topic and release.words_changed > _NEARLY_ALL:
            found.append(
                f"{name} changes {release.words_changed:.0%} of the words: ε is small "
                "for this table."
            )
        return found

    def _warn_of_promise(self) -> list[str]:
        """The guarantee between whole documents, once for all releases."""
        weak = self.exponents[np.isfinite(self.exponents)]
        weak = weak[weak > _WEAK_EXPONENT]
        if not len(weak):
            return []
        low, high = f"e^{weak.min():.0f}", f"e^{weak.max():.0f}"
        factor = low if low == high else f"{low} to {high}"
        return [
            "Little is promised between whole documents: the odds between two of "
            f"them, by different authors, may change by a factor of {factor}. What "
            "hides the author here is measured, not proven."
        ]

    def _name(self, i: int) -> str:
        release = self._releases[i]
        if len(self._releases) == 1:
            return "The release"
        return f"The release with ε = {release.epsilon:g}, λ = {release.lam:g}"

    # -- text --------------------------------------------------------------------------

    def _summary(self) -> str:
        n = int(self.results["n_documents"].max())
        topics = ""
        if self._topic_counts is not None:
            topics = f" on {len(self._topic_counts)} topics"
        times = f"{self.n_releases} releases" if self.n_releases > 1 else "one release"
        return (
            f"{n} documents by {len(self._author_counts)} authors{topics}; "
            f"{self.n_splits} splits, {times}. Accuracy with {self.confidence:.0%} "
            "intervals (Wilson, over documents)."
        )

    def _lines(self, fewest: bool) -> list[list[str]]:
        """Cells of the table; of many releases only the strongest of each kind."""
        r = self.results
        rows = list(range(len(r["noisy"])))
        if fewest:
            rows = [
                self._row(line)
                for i in range(len(self._releases))
                for target in ("author", "topic")
                if (line := self.strongest(i, target))
            ]
        found = []
        for k in rows:
            found.append(
                [
                    f"{r['epsilon'][k]:g}",
                    f"{r['lam'][k]:g}",
                    str(r["adversary"][k]),
                    str(r["target"][k]),
                    str(r["trained_on"][k]),
                    _share(r["clean"][k], r["clean_low"][k], r["clean_high"][k]),
                    _share(r["noisy"][k], r["noisy_low"][k], r["noisy_high"][k]),
                    f"{r['chance_majority'][k]:.2f}",
                ]
            )
        return found

    def _row(self, line: dict[str, Any]) -> int:
        same = [self.results[k] == line[k] for k in ("release", "adversary")]
        same.append(self.results["trained_on"] == line["trained_on"])
        return int(np.flatnonzero(np.all(same, axis=0))[0])

    def _release_rows(self) -> list[list[str]]:
        return [
            [
                f"{release.epsilon:g}",
                f"{release.lam:g}",
                str(release.guarantee.n_words or "as it is"),
                f"{release.words_changed:.1%}",
                _number(release.exponent),
            ]
            for release in self._releases
        ]

    def __repr__(self) -> str:
        lines = [list(_HEADER), *self._lines(len(self._releases) > 1)]
        widths = [max(len(line[c]) for line in lines) for c in range(len(_HEADER))]
        text = [
            "  ".join(x.ljust(w) for x, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        if len(self._releases) > 1:
            text.append("(the strongest adversary of each release; to_frame() has all)")
        warnings = [f"- {warning}" for warning in self.warnings]
        return "\n".join([self._summary(), "", *text, "", *warnings]).rstrip()

    def _repr_html_(self) -> Fragment:
        many = len(self._releases) > 1
        attacks = table(
            _HEADER,
            # where there is little room, a table to scroll reads better
            [[x.replace(" ", "\xa0") for x in c] for c in self._lines(many)],
            caption="The strongest adversary for each release; to_frame() has all."
            if many
            else "What each adversary gets right. Chance: the most frequent answer.",
        )
        releases = table(
            ("ε", "λ", "words each", "words changed", "exponent between documents"),
            self._release_rows(),
            caption="The releases. Exponent: of the odds between two documents by "
            "different authors, on one topic if there are topics (nats, median).",
        )
        return page(
            "How well hidden is this corpus?",
            paragraph(self._summary()),
            attacks,
            releases,
            *([paragraph("Before you believe it:")] if self.warnings else []),
            bullets(self.warnings),
            paragraph(
                "An adversary who fails proves nothing about the next one. What holds "
                "against all is the guarantee. This report is as private as the "
                "documents."
            ),
        )


def _share(share: float, low: float, high: float) -> str:
    return f"{share:.2f} [{low:.2f}, {high:.2f}]"


def _number(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _resolution(n: int) -> float:
    """Half a 95 % interval at one half."""
    return 0.98 / math.sqrt(n)
