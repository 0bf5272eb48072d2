"""Show the report on a release: its verdict, a table, and notes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skdptext.attacks import QUESTIONS, Score, Scores, at_least, percent
from skdptext.utils import Fragment, bullets, page, wrapped

_TITLE = "What a release reveals"
_STYLE = (
    "body{font:1rem/1.4 sans-serif;max-width:60rem;margin:1rem auto;padding:0 0.5rem}"
    "td,th{text-align:left;vertical-align:top;padding:0.2rem 0.4rem 0.2rem 0}"
    "@media(max-width:40rem){body{font-size:0.8rem}}"  # phones
)
_IDENTIFIED = {"linkage": "ORIGINAL", "person": "PERSON", "author": "AUTHOR"}
_OF_TRAINING = "membership", "training texts copied", "training phrases copied"
_LOWER_BOUND = (
    "Each number is what these attackers achieved, which is a lower bound. Only a "
    "guarantee limits what can leak. This report is as sensitive as the texts."
)


@dataclass(eq=False, repr=False)
class ReleaseReport:
    """What a release reveals, from `release_report`.

    Attributes
    ----------
    scores : Scores
        The strongest attacker for each question: ``scores["linkage"]``, ``"person"``,
        ``"author"`` or another label, ``"words"``, ``"rare words"``, ``"spans of 5
        words"``, ``"copies"``; with control texts ``"membership"``.
    notes : list of str
        Notes that are needed to read the numbers.
    misplaced : float
        Share of the releases that clearly belong to the original of another row; 0 if
        chance explains it. Above 0, nothing else was measured.
    unread : str
        Why low scores say nothing; empty if the attackers can read the releases.
    columns : list of str
        What columns next to the texts reveal; the command line fills this in.
    epsilon : float or None
        With control texts, a lower bound on the ε of the generator.
    """

    scores: Scores
    notes: list[str]
    misplaced: float = 0.0
    unread: str = ""
    columns: list[str] = field(default_factory=list)
    epsilon: float | None = None

    @property
    def verdict(self) -> str:
        """The result: the first statement that applies, and further inferences."""
        before = ["COLUMNS REVEAL ROWS.", *self.columns] if self.columns else []
        return " ".join([*before, _verdict(self)])

    def __repr__(self) -> str:
        notes = [wrapped(f"- {note}") for note in [*self.notes, _LOWER_BOUND]]
        return "\n".join([wrapped(self.verdict), "", str(self.scores), "", *notes])

    def _repr_html_(self) -> Fragment:
        notes = bullets([*self.notes, _LOWER_BOUND])
        return page(_TITLE, self.verdict, self.scores._repr_html_(), notes)

    def to_html(self, path: Any = None) -> str | None:
        """Write or return the report as one HTML file.

        Parameters
        ----------
        path : path-like, default=None
            The new file to write. None returns the text.

        Returns
        -------
        html : str or None
            A page that needs no other file; None if it was written to `path`.

        Raises
        ------
        FileExistsError
            If the file exists: no report is overwritten.
        """
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="color-scheme" content="light dark">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{_TITLE}</title><style>{_STYLE}</style></head><body>{self._repr_html_()}</body></html>\n"
        )
        if path is None:
            return text
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
        return None

    def to_frame(self) -> Any:
        """Convert all rows, of all attackers, to a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each question and attacker.
        """
        return self.scores.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Convert the report to plain data, for JSON.

        Returns
        -------
        data : dict
            ``"verdict"``, ``"scores"`` (the strongest of each question), ``"rows"``
            (all of them), ``"misplaced"``, ``"unread"``, ``"columns"``, ``"epsilon"``
            and ``"notes"``.
        """
        return vars(self) | {
            "verdict": self.verdict,
            "scores": {name: asdict(row) for name, row in self.scores.items()},
            "rows": [asdict(row) for row in self.scores.rows],
            "notes": [*self.notes, _LOWER_BOUND],
        }


def _verdict(report: ReleaseReport) -> str:
    if report.misplaced:
        return (
            f"ROWS DO NOT BELONG TOGETHER. {percent(report.misplaced)} of the releases "
            "copy, or are clearly made from, the original of another row. Match the "
            "rows by ids. Apart from this, only copies were measured."
        )
    # The order of the checks below is that of severity: who wrote a text is worse than
    # what is left of it. The first that applies is the verdict.
    found = [row for row in report.scores.values() if row.is_above]
    identified = [row for row in found if row.question in _IDENTIFIED]
    used = [row for row in found if row.question in _OF_TRAINING]
    labels = [row for row in found if row.question not in QUESTIONS]
    if identified:
        worst = max(identified, key=lambda row: row.low)
        others = [row for row in [*identified, *labels] if row is not worst]
        also = f" Also above guessing: {_listed(others)}." if others else ""
        return (
            f"THE {_IDENTIFIED[worst.question]} IS IDENTIFIED FOR "
            f"{worst.amount.upper()} RELEASES: {_numbers(worst)}.{also}"
        )
    if used:
        return f"THE SYNTHETIC TEXTS REVEAL TRAINING TEXTS: {_listed(used)}."
    if report.unread:
        return (
            "THESE ATTACKERS CANNOT READ THE RELEASES. Low scores are not evidence of "
            "safety."
        )
    if _OF_TRAINING[0] in report.scores:
        return (
            "NOTHING WAS FOUND BEYOND CONTROL: the synthetic texts reveal no more "
            "about training texts than about others of the same source."
        )
    if len(found) > len(labels):
        return f"NO RELEASE IS IDENTIFIED, BUT SOMETHING IS LEFT: {_listed(found)}."
    if labels:
        names = " AND ".join(row.question.upper() for row in labels)
        return f"NOTHING WAS IDENTIFIED BEYOND THE {names}: {_listed(labels)}."
    return "NOTHING WAS IDENTIFIED ABOVE GUESSING."


def _listed(rows: Sequence[Score]) -> str:
    """List findings in words and numbers."""
    return "; ".join(
        f"{QUESTIONS.get(row.question, f'{row.question} inferred')} ({row.amount}), "
        f"{_numbers(row)}"
        for row in rows
    )


def _numbers(row: Score) -> str:
    # A no-break space keeps "here" with its number.
    return (
        f"at least {at_least(row.low)} ({percent(row.value)}\u00a0here; guessing: "
        f"{percent(row.chance)})"
    )
