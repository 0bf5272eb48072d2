"""What a report says: verdict, headings, conclusions, advice. It computes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skdptext.attacks import ColumnFinding, Score
from skdptext.privacy import exposure
from skdptext.utils import percent_up, rounded_up

IN_ORDER = (
    "Texts were matched by their order: the n-th release is taken for that of the n-th "
    "original. If their order may differ, match them by ids."
)
ANOTHER_ORDER = (
    "Texts may be in another order: most released texts are closest to an original of "
    "another row. If so, every score is far too low. Match them by ids."
)
PROVES = (
    "Other attacks may find more: each number is a lower bound, and language models do "
    "better where hints are sparse. “No clear gain” is no proof that nothing is there; "
    "only a guarantee is."
)


def ids_kept(column: str) -> str:
    """What the column that matches rows gives away."""
    return (
        f"Both have the column {column!r}, by which rows were matched: anyone who has "
        "the originals with it needs no attack. It is not counted as a find."
    )


class Question(NamedTuple):
    """How one question is asked, and what its answer means."""

    heading: str
    name: str
    means: str
    above: str
    advice: str


HEADINGS = {
    "Singling out": "Is one document found among others?",
    "Linkability": "Do releases of one person belong together?",
    "Inference": "What can be read or concluded?",
}
_LEARNED = (
    "Learn with differential privacy, or from public texts: nothing else bounds this."
)
_QUESTIONS = {
    "linkage": Question(
        "Singling out",
        "original among {n}",
        "anyone who holds the original and others names it",
        "not hidden",
        "Change more of each text, release only its group or topic, or replace whole "
        "documents by public ones: that alone bounds this number by proof.",
    ),
    "person": Question(
        "Singling out",
        "person among {n}",
        "anyone who holds other texts of many people names whose text it is",
        "named",
        "Change what the texts say, and not names only: what somebody did names them.",
    ),
    "copies beyond control": Question(
        "Inference",
        "copied {what}, beyond control",
        "they are in a synthetic text, more often than those of texts not used",
        "copied",
        "Learn with a guarantee, or leave out what a training text alone has.",
    ),
    "same person": Question(
        "Linkability",
        "same person among {n}",
        "two releases of one person are told to belong together; no name is needed",
        "linked",
        "Release fewer documents of each person, or hide style: replace documents.",
    ),
    "author": Question(
        "Linkability",
        "author",
        "anyone who holds other texts of the authors names them",
        "named",
        "Authors who write on different topics cannot be hidden in releases that keep "
        "the topic. Replace documents by those of others.",
    ),
    "words": Question(
        "Inference",
        "words of a text",
        "share of its words that are read from its release",
        "partly readable",
        "Redact or change more words.",
    ),
    "rare words": Question(
        "Inference",
        "rare words (names, things)",
        "those are left as they were",
        "some remain",
        "Redact names, places and numbers, or release words of a public list only.",
    ),
    "copies": Question(
        "Inference",
        "copied {what}",
        "they survive whole",
        "some remain",
        "Shuffle or change words, so that no sentence is kept.",
    ),
}


for _kind, _sure in (("linkage", "when sure"), ("person", "person, if sure")):
    _QUESTIONS[_sure] = _QUESTIONS[_kind]._replace(
        name=f"{_QUESTIONS[_kind].name}, if sure",
        means="named by an adversary who is silent unless nine of ten such names are "
        "right",
        above="named with certainty",
        advice="As above.",
    )
# Whether a training text, or a training author, is told from others.
for _kind, _who, _heading, _by in (
    ("membership", "text", "Singling out", ""),
    ("membership of authors", "author", "Linkability", ", by all of their texts"),
):
    _QUESTIONS |= {
        _kind: Question(
            _heading,
            f"training {_who} told from another",
            f"of a training {_who} and one that was not used, the former is named{_by}",
            "told apart",
            _LEARNED,
        ),
        f"{_kind}, at best": Question(
            _heading,
            f"training {_who}s recognised, beyond control",
            f"above the best threshold are so many more training {_who}s than others",
            "recognised",
            _LEARNED,
        ),
        f"{_kind}, if sure": Question(
            _heading,
            "the same, 1 % falsely",
            f"above a threshold that hardly any other {_who} reaches",
            "some are certain",
            _LEARNED,
        ),
    }


def question_of(score: Score) -> Question:
    """The question that a row answers; of labels, by their name."""
    kind, _, what = score.question.partition(": ")
    kind = kind.partition(" among ")[0]
    found = _QUESTIONS.get(kind)
    if found is None:
        purpose = " (may be the purpose)" * (kind == "topic")
        return Question(
            "Inference",
            kind + purpose,
            f"anyone who knows the {kind} of other texts guesses it",
            "some gain",
            "If it is not what the release is for, leave out the words that tell it.",
        )
    many = f"{1 / score.chance:,.0f}" if score.chance else ""
    return found._replace(name=found.name.format(n=many, what=what))


_NAMES = {
    "tf-idf": "words in common",
    "character n-grams": "parts of words in common",
    "word by word": "meaning of the words, place by place",
    "translation": "words as translated, learned from other pairs",
    "translation of originals": "originals as translated, learned from other pairs",
    "mechanism": "likelihood by the known mechanism",
    "learned": "several at once, weighted by other pairs",
    "all, learned": "several at once, with the mechanism",
    "reading": "read off",
    "these texts": "read off; rare among these texts",
    "public texts": "read off; rare in public texts",
}


def adversary_name(score: Score) -> str:
    """Who found it, in words of a stranger."""
    _, by, name = score.adversary.rpartition("nearest by ")
    name, more, usual = name.partition(", more")
    said = f"{_NAMES.get(name, name)}{more}{usual}"
    return f"the nearest synthetic text, by {said}" if by else said


def percent(share: float | None) -> str:
    """A share in per cent, of even digits; nothing for what there is none of."""
    if share is None:
        return ""
    if 0 < share < 0.01:
        return "< 0.1 %" if share < 0.001 else f"{100 * share:.1g} %"
    return f"{min(round(100 * share), 99) if share < 1 else 100} %"


def at_least(share: float) -> str:
    """Rounded down, as a lower bound is."""
    return f"{math.floor(100 * share + 1e-9)} %"


def at_most(share: float) -> str:
    """Rounded up, as an upper bound is."""
    return percent_up(share).replace("%", " %")


def interval(score: Score) -> str:
    """Rounded outwards."""
    low = math.floor(100 * score.low + 1e-9)
    return f"{low}–{math.ceil(100 * score.high - 1e-9)} %"


# Of many words a difference is certain long before it matters: at 8.3 % of 8.1 % nobody
# reads anything. Of few documents it is seen only where it is far larger.
_LEAST = 0.005, 1.5


def is_above(score: Score) -> bool:
    """Whether more was found than a guess finds, with 95 % confidence.

    By half a point at least, or half as much again.
    """
    points, times = _LEAST
    gain = score.low - score.chance
    return gain > 0 and (gain >= points or score.low >= times * score.chance)


def conclusion(score: Score, bound: Bound | None = None, unread: bool = False) -> str:
    """What a row says, in two words."""
    if is_above(score):
        if score.question.startswith("linkage"):
            return _hidden(score, bound)
        return question_of(score).above
    if score.value == 0 and score.adversary == "reading":
        return "none found"
    return "not read" if unread else "no clear gain"


# Persons of whom a note says how many are named at most
_PERSONS = 100
_HIDDEN = ("hidden", "partly hidden", "not hidden")


def _proved(score: Score, bound: Bound | None) -> int:
    """How far a proof hides it; one that the attack refutes is of something else."""
    if bound is None or score.low > bound.share:
        return 2
    return exposure(bound.share, score.chance)


def _hidden(score: Score, bound: Bound | None) -> str:
    """What a proof comes to, or what was found: other attacks may find more."""
    found = max(1, exposure(score.value, score.chance))
    if found < _proved(score, bound):
        return f"{_HIDDEN[found]} at best"
    return _HIDDEN[_proved(score, bound)]


class Bound(NamedTuple):
    """What no adversary exceeds on average, by the guarantee of the mechanism.

    Attributes
    ----------
    share : float
        Share of the documents, or persons, that are found.
    n_candidates : int
        Among so many that are equally likely.
    n_documents : int
        Of a person, whose releases' guarantees compose; 0: of each document.
    """

    share: float
    n_candidates: int
    n_documents: int = 0


def bound_sentence(bound: Bound) -> str:
    """What is proved."""
    found = f"on average at most {at_most(bound.share)} of"
    among = f"{bound.n_candidates:,} equally likely"
    if not bound.n_documents:
        return (
            f"Proved limit: {found} the documents are found among {among} candidates, "
            "by anyone."
        )
    return (
        f"Proved limit of persons with {bound.n_documents:,} documents, the most here, "
        f"all known (guarantees compose): {found} them are found among {among} ones, "
        "by anyone."
    )


def of_persons(guarantee: Any) -> bool:
    """Whether it is of all documents of a person together."""
    return getattr(guarantee, "unit", None) == "person"


def proof_notes(guarantee: Any) -> list[str]:
    """What a guarantee says that no row of the report is bounded by."""
    if of_persons(guarantee):
        share = at_most(guarantee.found_at_most(_PERSONS))
        return [
            f"Proved of persons, each with all their documents: of {_PERSONS} persons "
            f"with equally many, nobody names more than {share} on average."
        ]
    if getattr(guarantee, "unit", None) == "word":
        return ["The guarantee is of words: it bounds no share of whole documents."]
    return []


class Verdict(NamedTuple):
    """The result in capitals, what it rests on, and whether it is a finding."""

    result: str
    sentence: str
    found: bool


def verdict(
    scores: Mapping[str, Score],
    columns: Sequence[ColumnFinding],
    unread: str | None,
    bounds: Mapping[str, Bound],
    epsilon: float | None = None,
) -> Verdict:
    """The result, by the worst that was found; of documents, by what is proved, too."""
    if _DECIDING[0] in scores:
        return _of_training(scores, epsilon)
    link, bound = scores.get("linkage"), bounds.get("linkage")
    hidden, above = "hidden", ""
    if link is not None and is_above(link):
        hidden, above = _hidden(link, bound), f" {_found(link, bound)}"
    named = " ".join(map(column_sentence, columns))
    if any(map(_names_rows, columns)):
        return Verdict("COLUMNS NAME THE ROWS.", named + above, True)
    above = f"{above} {named}".strip()
    if hidden != "hidden":
        return Verdict(f"DOCUMENTS ARE {hidden.upper()}.", above, True)
    asked = ("person", "author", "same person")
    people = [s for q in asked if (s := scores.get(q))]
    people = [score for score in people if is_above(score)]
    if people:
        said = " ".join([*map(_recognised, people), above])
        return Verdict("PEOPLE ARE RECOGNISED.", said.strip(), True)
    if named:
        return Verdict("COLUMNS ARE REPEATED.", above, True)
    if above:
        return Verdict("DOCUMENTS ARE HIDDEN.", above, False)
    if unread:
        return Verdict("THESE ADVERSARIES CANNOT READ THIS.", unread, False)
    left = [s for q, s in scores.items() if q != "topic" and is_above(s)]
    if left:
        result = "DOCUMENTS WERE NOT FOUND, AND SOMETHING CAN BE READ."
        return Verdict(result, _listed(left), True)
    return Verdict(
        "NOTHING WAS FOUND ABOVE CHANCE.",
        "By these adversaries, in these documents. A bound for all others needs a "
        "guarantee.",
        False,
    )


# What decides whether training texts show: one number of each kind, so that chance
# decides seldom.
_DECIDING = (
    "membership", "membership of authors",
    "copies beyond control: spans of 5 words",
)  # fmt: skip


def _of_training(scores: Mapping[str, Score], epsilon: float | None) -> Verdict:
    """The result where texts have no partner; ε is what is proved of what made them."""
    seen = [s for q in _DECIDING if (s := scores.get(q)) and is_above(s)]
    if not seen:
        return Verdict(
            "NOTHING WAS FOUND BEYOND CONTROL.",
            "These adversaries find in the synthetic texts no more of training texts "
            "than of others of the same source. "
            + (
                "A bound for all others needs a guarantee."
                if epsilon is None
                else f"For all others ε = {rounded_up(epsilon)} is proved."
            ),
            False,
        )
    return Verdict("THE SYNTHETIC TEXTS SHOW WHAT WAS USED.", _listed(seen), True)


def _listed(scores: Sequence[Score]) -> str:
    said = (
        f"{question_of(s).name}: at least {at_least(s.low)} (guessing "
        f"{percent(s.chance)})"
        for s in scores
    )
    return f"{'; '.join(said)}."


def _found(score: Score, bound: Bound | None) -> str:
    if bound is not None:
        said = (
            f"With {1 / score.chance:,.0f} candidates the attack named the original of "
            f"{percent(score.value)} of the releases (95 % interval {interval(score)});"
            f" proved is at most {at_most(bound.share)} on average, if all candidates "
            f"are equally likely; guessing {percent(score.chance)}."
        )
        if score.low > bound.share:
            said += " Chance seldom explains so much: did this mechanism release them?"
        elif score.value > bound.share:
            said += (
                f" A sample of {score.n_documents:,} may lie above the bound by chance."
            )
        return said
    return (
        f"With {1 / score.chance:,.0f} candidates the attack named the original of at "
        f"least {at_least(score.low)} of the releases ({percent(score.value)} here, 95 "
        f"% interval {interval(score)}; guessing {percent(score.chance)})."
    )


def _recognised(score: Score) -> str:
    what = {
        "author": "The author is named for",
        "person": "The person is named for",
    }.get(score.question, "Another release of the same person is found for")
    return (
        f"{what} at least {at_least(score.low)} of the releases ({percent(score.value)}"
        f" here; guessing {percent(score.chance)})."
    )


def _names_rows(column: ColumnFinding) -> bool:
    """Whether a column says whose a row is; few values, as of labels, do not."""
    return column.label == "author" or column.n_values > column.n_rows / 2


def column_sentence(column: ColumnFinding) -> str:
    """What a column gives away."""
    rows = f"{column.n_equal:,} of {column.n_rows:,} rows"
    if not column.original:
        return (
            f"The column {column.name!r} has another value in each of the "
            f"{column.n_rows:,} rows, which names them."
        )
    if column.renamed:
        return (
            f"The column {column.name!r} has one name for each value of "
            f"{column.original!r} ({column.n_values:,} values): rows of one remain "
            "together."
        )
    whose = "Rows" if column.n_values == column.n_rows else "Values"
    if column.label:
        whose = f"{column.label.capitalize()}s"
    if column.n_equal < column.n_rows / 2:
        return f"The column {column.name!r} is in both, equal in {rows}."
    return f"{whose} are given away by the column {column.name!r}, equal in {rows}."


# Releases that share less with originals, of what texts of one language share, cannot
# be read.
_READABLE = 0.5


def unread_sentence(readable: float, usual: float) -> str | None:
    """Why a low score says nothing; None where releases can be read.

    By the shares of words, of releases and of originals, that (other) originals hold.
    """
    if readable >= _READABLE * usual:
        return None
    return (
        f"Only {percent(readable)} of the words occur in the originals, where it is "
        f"{percent(usual)} of those of another original: low scores say nothing."
    )
