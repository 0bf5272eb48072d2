"""A report on a release: its table as text, data and HTML."""

from __future__ import annotations

import html
import os
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from skdptext._version import __version__
from skdptext.attacks import ColumnFinding, Score, ScoreTable
from skdptext.inspection._wording import (
    HEADINGS,
    PROVES,
    Bound,
    Verdict,
    adversary_name,
    at_least,
    at_most,
    bound_sentence,
    conclusion,
    interval,
    is_above,
    percent,
    question_of,
    verdict,
)
from skdptext.utils import Fragment, bullets, lined_up, page, paragraph, wrapped

_HEADER = (
    *("what was looked for", "found", "95 % interval", "guessing", "proved"),
    "conclusion",
)


@dataclass
class Provenance:
    """Where the texts of a report come from.

    Attributes
    ----------
    original, released : str
        Names of the two sources.
    n_documents, n_given : int
        Documents that were attacked, and those that were given.
    n_candidates : int
        Candidates of ``scores["linkage"]``.
    matched : str
        How rows were matched.
    seed : int or None
        The `random_state` of the report; None if no integer was given, so that another
        report would draw other halves.
    """

    original: str
    released: str
    n_documents: int
    n_given: int
    n_candidates: int
    matched: str
    seed: int | None = None


@dataclass(eq=False, repr=False)
class ReleaseReport(ScoreTable):
    """What a release gives away, by attack; from `release_report`.

    Attributes
    ----------
    rows : list of Score
        The whole table: questions × adversaries.
    scores : dict of str to Score
        The strongest adversary of each question: ``"linkage"``, ``"words"``, ``"rare
        words"``, ``"copies: whole texts"``, …; ``"author"``, ``"same person"``,
        ``"topic"`` and other labels where these were given.
    columns : list of ColumnFinding
        Columns of the release that name its rows, if data frames were given.
    unread : bool
        Whether the releases share too few words with the originals for these
        adversaries to read them; `unread_because` says so in a sentence.
    notes : list of str
        What the reader must know: samples, documents left out.
    provenance : Provenance
        Sources, numbers of documents.
    examples : list of tuple of str
        Originals and releases that were found most surely; empty unless asked for.
    bounds : dict of str to Bound
        By question, the share that no adversary exceeds on average, where the guarantee
        of the mechanism bounds it.
    epsilon, epsilon_shown : float or None
        Of synthetic texts: a lower bound on the ε of what made them, which holds with
        95 %, and the largest that so many texts can show.
    epsilon_proved : float or None
        The ε of the guarantee of what made them, where one was given.

    See Also
    --------
    release_report : Makes one.
    """

    notes: list[str]
    provenance: Provenance
    columns: list[ColumnFinding] = field(default_factory=list)
    unread_because: str | None = None
    examples: list[tuple[str, str]] = field(default_factory=list)
    bounds: dict[str, Bound] = field(default_factory=dict)
    epsilon: float | None = None
    epsilon_shown: float | None = None
    epsilon_proved: float | None = None

    # -- in words ----------------------------------------------------------------------

    @property
    def unread(self) -> bool:
        """Whether these adversaries cannot read the releases."""
        return self.unread_because is not None

    @property
    def verdict(self) -> Verdict:
        """The result: capitals, a sentence, and whether something was found."""
        return verdict(
            self.scores, self.columns, self.unread_because, self.bounds,
            self.epsilon_proved,
        )  # fmt: skip

    def lines(self) -> list[tuple[str, list[Score]]]:
        """The strongest rows under their headings.

        Returns
        -------
        lines : list of tuple of (str, list of Score)
            In the order of the report.
        """
        every = list(self.scores.values())
        under = [
            (heading, [s for s in every if question_of(s).heading == heading])
            for heading in HEADINGS
        ]
        return [(heading, scores) for heading, scores in under if scores]

    def __repr__(self) -> str:
        found = ", ".join(f"{k} {v.value:.2f}" for k, v in self.scores.items())
        return f"ReleaseReport({self.provenance.n_documents} documents, {found})"

    def __str__(self) -> str:
        said = self.verdict
        parts = [
            self._title(), self._origin(), "", f"RESULT: {said.result} {said.sentence}",
        ]  # fmt: skip
        text = [wrapped("\n".join(parts)), ""]
        cells = [list(_HEADER)]
        for heading, scores in self.lines():
            cells += [[heading.upper(), *[""] * 5], *map(self._cells, scores)]
        if not self.bounds:
            cells = [[*line[:4], line[5]] for line in cells]
        text += [*lined_up(cells, left=(0, len(cells[0]) - 1)), ""]
        by = [
            f"- {question_of(score).name}: {adversary_name(score)}"
            for _, scores in self.lines()
            for score in scores
            if score.adversary != "reading"
        ]
        text += ["Found by:", *(wrapped(line) for line in by), ""]
        text += [wrapped(f"- {note}") for note in self.before()]
        for original, released in self.examples:
            text += ["", wrapped(f"original: {original}\nreleased: {released}")]
        return "\n".join(text)

    def _cells(self, score: Score) -> list[str]:
        """A line of the table."""
        bound = self.bounds.get(score.question)
        return [
            f"  {question_of(score).name}",
            percent(score.value),
            interval(score),
            percent(score.chance),
            "" if bound is None else f"≤ {at_most(bound.share)}",
            conclusion(score, bound, self.unread),
        ]

    def before(self) -> list[str]:
        """What to know before relying on the report.

        Returns
        -------
        notes : list of str
            Bounds, samples and how numbers were found.
        """
        notes = [bound_sentence(bound) for bound in self.bounds.values()]
        if self.unread_because and self.verdict.found:
            notes.append(self.unread_because)
        notes += [*self.notes, self._halves(), PROVES]
        return list(dict.fromkeys(notes))

    def _halves(self) -> str:
        """On which documents the strongest adversary was chosen."""
        if self.epsilon is not None:
            return (
                "Half of the texts chose the strongest adversary and the threshold of "
                "each number, which is of the other half."
            )
        asked = ("linkage", "person")
        scored = next(self.scores[q].n_documents for q in asked if q in self.scores)
        chose = self.provenance.n_documents - scored
        return (
            f"Of the {self.provenance.n_documents:,} releases, {chose:,} chose the "
            f"strongest adversary; its score is on the other {scored:,}."
        )

    def _title(self) -> str:
        at = self.provenance
        return f"Attack report: {at.original} against {at.released}"

    def _origin(self) -> str:
        at = self.provenance
        few = "" if at.n_documents == at.n_given else f" of {at.n_given:,}"
        seed = "no seed" if at.seed is None else f"seed {at.seed}"
        today = date.today()
        return (
            f"{at.n_documents:,}{few} texts, {at.matched}; skdptext {__version__}, "
            f"{seed}, {today.day} {today:%B %Y}"
        )

    # -- as data -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON.

        Returns
        -------
        data : dict
            ``"verdict"``, ``"scores"`` (the strongest adversary of each question),
            ``"rows"`` (all of them), ``"columns"``, ``"notes"`` and ``"provenance"``.
        """
        said = self.verdict
        return {
            "verdict": f"{said.result} {said.sentence}",
            "found": said.found,
            "unread": self.unread,
            "scores": {name: asdict(score) for name, score in self.scores.items()},
            "rows": [asdict(row) for row in self.rows],
            "columns": [column._asdict() for column in self.columns],
            "bounds": {name: bound._asdict() for name, bound in self.bounds.items()},
            "epsilon": self.epsilon,
            "epsilon_shown": self.epsilon_shown,
            "epsilon_proved": self.epsilon_proved,
            "notes": self.before(),
            "provenance": asdict(self.provenance) | {"skdptext": __version__},
        }

    # -- as a page ---------------------------------------------------------------------

    def _repr_html_(self) -> Fragment:
        return page(self._title(), *self._parts())

    def to_html(self, path: Any = None) -> str | None:
        """The report as one HTML file.

        Parameters
        ----------
        path : path-like, default=None
            Where to write it. If None, it is returned.

        Returns
        -------
        html : str or None
            A whole page, which needs no other file and no network. None where it was
            written to `path`.
        """
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{html.escape(self._title())}</title>{_PAGE_STYLE}</head>"
            f"<body>{self._repr_html_()}</body></html>\n"
        )
        if path is None:
            return text
        Path(os.fspath(path)).write_text(text, encoding="utf-8")
        return None

    def _parts(self) -> list[str]:
        said = self.verdict
        kind = "bad" if said.found else "open"
        banner = Fragment(
            f'<div class="skdp-verdict skdp-{kind}"><strong>'
            f"{html.escape(said.result.capitalize())}</strong>"
            f"<p>{html.escape(said.sentence)}</p></div>"
        )
        parts: list[str] = [Fragment(_STYLE), paragraph(self._origin()), banner]
        for heading, scores in self.lines():
            parts.append(
                Fragment(
                    f'<div class="skdp-heading" role="heading" aria-level="4">{heading}'
                    f"<span>{HEADINGS[heading]}</span></div>"
                )
            )
            parts += [
                _card(score, self.unread, self.bounds.get(score.question))
                for score in scores
            ]
        quoted = [
            paragraph(f"{name}: {text}")
            for pair in self.examples
            for name, text in zip(("original", "released"), pair, strict=True)
        ]
        known = Fragment('<div class="skdp-heading">Before you rely on it</div>')
        legend = paragraph(
            "Bars: what the strongest adversary found; thin line: 95 % interval; mark: "
            "guessing."
        )
        return [*parts, legend, known, bullets(self.before()), *quoted]


def _card(score: Score, unread: bool, bound: Bound | None) -> Fragment:
    """One row: what, how much, and what would lower it."""
    asked, said = question_of(score), conclusion(score, bound, unread)
    exposed = is_above(score) and said != "hidden"
    at = {n: f"{100 * max(getattr(score, n), 0):.2f}%" for n in _ENDS}
    bar = (
        f'<div class="skdp-bar" aria-hidden="true"><i style="width:{at["value"]}"></i>'
        f'<b style="left:{at["low"]};width:calc({at["high"]} - {at["low"]})"></b>'
        f'<u style="left:{at["chance"]}"></u></div>'
    )
    clear = ""
    if score.clear is not None:
        clear = f" On the originals: {percent(score.clear)}."
    numbers = (
        f"<strong>{percent(score.value)}</strong> found; at least "
        f"{at_least(score.low)}, guessing {percent(score.chance)}"
    )
    if bound is not None:
        numbers += f", proved at most {at_most(bound.share)}"
    advice = f" {asked.advice}" if exposed else ""
    by = "" if score.adversary == "reading" else f" By: {adversary_name(score)}."
    above = " skdp-above" if exposed else ""
    return Fragment(
        f'<div class="skdp-card{above}"><div class="skdp-what">'
        f"{html.escape(asked.name)}<em>{html.escape(said)}</em></div>{bar}"
        f'<div class="skdp-said">{numbers}. <span>'
        f"{html.escape(asked.means.capitalize())}.{html.escape(clear + by + advice)}"
        "</span></div></div>"
    )


_ENDS = ("value", "low", "high", "chance")


_PAGE_STYLE = """<style>
body { margin: 0; padding: 1.2em 0.8em; background: #f3f5f7; }
.skdptext-view { margin: 0 auto; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; } }
</style>"""
_STYLE = """<style>
.skdptext-view { --skdp-bad: #b3261e; --skdp-bad-ground: #fdeceb; --skdp-open: #3d5a80;
  --skdp-open-ground: #eaf0f7; --skdp-fill: #c75146; --skdp-calm: #6b8cae;
  --skdp-track: #e4e8ec; --skdp-soft: #57606a; }
@media (prefers-color-scheme: dark) { .skdptext-view { --skdp-bad: #ff8a80;
  --skdp-bad-ground: #3a1513; --skdp-open: #9cc2ee; --skdp-open-ground: #14263a;
  --skdp-fill: #e06c61; --skdp-calm: #6f93b8; --skdp-track: #2a323c;
  --skdp-soft: #9aa4af; } }
.skdptext-view .skdp-verdict { border-left: 5px solid var(--skdp-open);
  background: var(--skdp-open-ground); padding: 0.8em 1em; margin: 1em 0; }
.skdptext-view .skdp-bad { border-color: var(--skdp-bad);
  background: var(--skdp-bad-ground); }
.skdptext-view .skdp-verdict strong { font-size: 18px; color: var(--skdp-open); }
.skdptext-view .skdp-bad strong { color: var(--skdp-bad); }
.skdptext-view .skdp-verdict p { margin: 0.3em 0 0; }
.skdptext-view .skdp-heading { font-weight: 600; font-size: 15px; margin: 1.5em 0 0.4em;
  border-bottom: 1px solid var(--skdp-track); padding-bottom: 0.3em; }
.skdptext-view .skdp-heading span { font-weight: 400; font-size: 13px;
  margin-left: 0.8em; color: var(--skdp-soft); }
.skdptext-view .skdp-card { display: grid; grid-template-columns: 15em 1fr;
  gap: 0.1em 1.2em; padding: 0.6em 0; align-items: center; }
.skdptext-view .skdp-what em { display: block; font-style: normal; font-size: 12px;
  color: var(--skdp-soft); }
.skdptext-view .skdp-above em { color: var(--skdp-bad); font-weight: 600; }
.skdptext-view .skdp-said { grid-column: 2; font-size: 13px; }
.skdptext-view .skdp-said span { color: var(--skdp-soft); }
.skdptext-view .skdp-bar { position: relative; height: 12px; border-radius: 2px;
  background: var(--skdp-track); }
.skdptext-view .skdp-bar i { position: absolute; inset: 0 auto 0 0; border-radius: 2px;
  background: var(--skdp-calm); }
.skdptext-view .skdp-above .skdp-bar i { background: var(--skdp-fill); }
.skdptext-view .skdp-bar b { position: absolute; top: 5px; height: 2px;
  background: var(--skdp-text); }
.skdptext-view .skdp-bar u { position: absolute; top: -3px; height: 18px; width: 2px;
  background: var(--skdp-soft); }
@media (max-width: 34em) { .skdptext-view .skdp-card { grid-template-columns: 1fr; }
  .skdptext-view .skdp-said { grid-column: 1; }
  .skdptext-view .skdp-heading span { display: block; margin: 0; } }
</style>"""
