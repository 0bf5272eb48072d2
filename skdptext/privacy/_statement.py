"""Print a guarantee on one screen: verdict, bounds on a human scale, and limits."""

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from skdptext.utils import (
    bullets,
    lined_up,
    page,
    percent_up,
    rounded_up,
    table,
    wrapped,
)

#: Above this exponent, rows show no factor: e^20 is 5·10⁸.
LARGE = 20
# In verdicts, an exponent up to the first counts as protection, up to the second, which
# is a factor of 100 on the odds, as some, up to the third as hardly any, and above as
# none: at 10, the best guess between two equally likely inputs may be right in all but
# one of 22,000 cases.
_STEPS = (1, math.log(100), 10)
_LEVELS = ("DENIABLE", "PARTLY DENIABLE", "HARDLY DENIABLE", "NOT DENIABLE")
# An attacker who is right at most so often leaves a document hidden, or partly hidden.
# Both kinds of limits are needed. The odds of being right are compared with the odds of
# a guess: otherwise 60 of 100 would count as hidden where a guess identifies 1. And an
# attacker who is nearly always right has identified it, even if a guess is right every
# second time. So 4.8 of 100 candidates count as hidden, and 33 as partly hidden; one
# person in a sum is hidden up to ε = 1.09 (right in 3 of 4 cases), and partly hidden up
# to 2.19 (in 9 of 10).
_TIMES_ODDS, _RIGHT = (5, 50), (0.75, 0.9)
# Number of candidates in a printed guarantee, and the small δ of words.
_CANDIDATES, DELTA = 100, 1e-6
_MANY = {"document": "documents", "person": "people"}
# Length of a short message. It is printed where the length of documents is not fixed.
_MESSAGE = 10
_PROVED = "Proved against any attacker"
#: Limits of every release, and those of releases of documents.
_NEVER = (
    "Anything, if vectors, public texts, groups or settings come from private texts.",
    "Anything, against holders of the key or of an integer seed, who can undo the "
    "noise.",
)
_LIMITS = (
    "A further release, or a person's other documents: exponents add up.",
    "Labels, ids and other columns: released as they are.",
    *_NEVER,
)


class Statement(NamedTuple):
    """The content of a printed guarantee; each row has an exponent or a share."""

    title: str
    verdict: list[str]  # in capitals, then what it means for the publisher
    heading: str
    rows: list[dict[str, Any]]
    note: str
    limits: list[str]

    def as_text(self) -> str:
        """Format the statement for a terminal."""
        rows = [f"  {line}" for line in lined_up(list(map(_cells, self.rows)))]
        limits = [f"- {limit}" for limit in self.limits]
        blocks = (
            [f"Privacy statement. {self.title}"],
            self.verdict,
            [self.heading, *rows, *([self.note] if self.note else [])],
            ["Not protected:", *limits],
        )
        return "\n\n".join(
            "\n".join(
                line if line.startswith("  ") else wrapped(line) for line in block
            )
            for block in blocks
        )

    def as_html(self) -> str:
        """Format the statement for notebooks."""
        return page(
            f"Privacy statement. {self.title}",
            *self.verdict,
            table([self.heading, "", ""], map(_cells, self.rows)),
            self.note,
            "Not protected:",
            bullets(self.limits),
        )


def _cells(row: dict[str, Any]) -> list[str]:
    """Format a row: what is bounded, the bound, and what to compare it with."""
    if "share" in row:
        guess = "coin flip" if row["guess"] == 0.5 else "guessing"
        beside = f"{guess} {100 * row['guess']:g}%"
        return [row["what"], percent_up(row["share"]), beside]
    if "exponent" not in row:  # a heading
        return [row["what"], "", ""]
    exponent, but = in_nats(row["exponent"]), in_nats(row["exponent_with_delta"])
    odds = odds_factor(row["exponent"])
    # A factor of 10⁹ looks precise but promises nothing, so it is not printed.
    if row["delta"] and row["exponent_with_delta"] > LARGE:
        odds = "no useful bound"
    lower = "" if exponent == but else f" ({but})"
    return [row["what"], odds, f"exponent {exponent}{lower}"]


def _share(what: str, share: float, guess: float) -> dict[str, Any]:
    return {"what": what, "share": share, "guess": guess}


def _odds(what: str, exponent: float, delta: float, but: float) -> dict[str, Any]:
    row = {"what": what, "exponent": exponent, "delta": delta}
    return row | {"exponent_with_delta": but}


def statement_of(guarantee: Any) -> Statement:
    """Make the statement of a guarantee, of one kind and unit or of several."""
    every = guarantee.guarantees
    each = [_OF_KIND[one.kind](one) for one in every]
    said = each[0]
    if len(each) > 1:
        # Exponents of words and shares of documents have no common total, only the ε
        # of a person adds up.
        pairs = zip(every, each, strict=True)
        verdicts = [f"For a {kind.unit}: {one.verdict[0]}" for kind, one in pairs]
        said = Statement(
            f"{guarantee.releases} releases of {len(each)} kinds.",
            [*verdicts, _of_person(guarantee)],
            "Each is proved by itself. At most:",
            _in_short((one.title, one.rows) for one in each),
            "",
            list(dict.fromkeys(limit for one in each for limit in one.limits)),
        )
    broken = dict.fromkeys(text for part in guarantee.parts for text in part.warnings)
    return said._replace(
        verdict=[*(f"WARNING. {text}" for text in broken), *said.verdict]
    )


def _in_short(tables: Iterable[tuple[str, list[dict[str, Any]]]]) -> list[Any]:
    """Show each of several tables by its heading, its first and its last row."""
    shown = []
    for heading, rows in tables:
        # A table with headings is short already.
        short = any(len(row) == 1 for row in rows)
        shown += [{"what": heading}, *(rows if short else (rows[0], rows[-1]))]
    return shown


def _of_person(guarantee: Any) -> str:
    """State what adds up for one person over releases of different units."""
    counted = [part for part in guarantee.parts if part.kind != "words"]
    rest, totals = guarantee.of(counted), []
    for n, many in ((1, "one document"), (10, "10 documents")):
        epsilon, delta = rest.epsilon_of(n)
        but = f" (δ = {_small(delta, 2)})" if delta else ""
        totals.append(f"ε = {rounded_up(epsilon)}{but} for {many}")
    words = ", plus the exponents of changed words"
    return (
        "Numbers of different kinds do not add up. What adds up is the loss if one "
        "person is replaced by another in all of these releases: "
        f"{' and '.join(totals)}{words if len(counted) < len(guarantee.parts) else ''}."
    )


# -- noise on words ------------------------------------------------------------------


def _words(guarantee: Any) -> Statement:
    parts = guarantee.parts
    tables = [_word_rows(part) for part in parts]
    titles = [_released(part) for part in parts]
    title, rows = titles[0], tables[0]
    note = f"An exponent of 1 is a factor of 2.72; above {LARGE}, a promise has no"
    note += " practical value."
    if len(parts) > 1:
        title = f"{guarantee.releases} releases of {len(parts)} kinds"
        rows = _in_short(zip((f"{one}:" for one in titles), tables, strict=True))
        note += " Exponents of the parts add up."
    if any("(" in _cells(row)[-1] for row in rows):
        note += f" Exponents in brackets may fail with probability δ = {_small(DELTA)}."
    said = dict.fromkeys(text for part in parts for text in part.mechanism.sentences())
    length = ["Length: documents of different lengths can be told from each other."]
    return Statement(
        f"Noise on words: {title}.",
        _verdict(parts, tables),
        f"{_PROVED}, regardless of what they know. For typical words (medians of a "
        "sample), the odds change at most by a factor of:",
        rows,
        " ".join([note, *said]),
        [
            *(length if any(part.n_words is None for part in parts) else []),
            "Unknown words, stop words and the time that a release takes.",
            *_LIMITS,
        ],
    )


def _released(part: Any) -> str:
    """Describe the release in one line."""
    own = part.mechanism
    # The name of its class in words, as in "Mahalanobis noise", and its options.
    name = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(own).__name__).capitalize()
    # For a mechanism without options, this saves the import that printing needs.
    if own.get_params() and (options := repr(own).partition("(")[2][:-1]):
        name += f" ({options if len(options) < 50 else '…'})"
    metric = ""
    if part.metric is not None:
        lam = part.metric.lam
        metric = f" (Mahalanobis, λ = {lam:g})" if lam else " (Euclidean)"
    n = part.n_words
    length = "any length" if n is None else f"{n} word{'s' * (n > 1)}"
    epsilon = rounded_up(part.epsilon)
    return f"{name}, ε = {epsilon}{metric}, documents of {length}{_times(part)}"


def _word_rows(part: Any) -> list[dict[str, Any]]:
    """Bound near and random pairs of words, then documents of such words."""
    n = part.n_words or _MESSAGE
    names = ["a word and its nearest neighbor", "two random words"]
    # In a redrawn document, every draw may be the one word that differs.
    if part.resampled:
        names.append("documents, one word replaced by its neighbor")
        names.append("documents, one word replaced by a random word")
    elif n > 1:
        every = f"documents, all {n} words replaced by"
        names += [f"{every} neighbors", f"{every} random words"]
    bounds = part.bounds(*(1, n)[: len(names) // 2])
    return [
        _odds(name, pure, DELTA, but)
        for name, (pure, but) in zip(names, bounds, strict=True)
    ]


def _verdict(parts: Any, tables: list[list[dict[str, Any]]]) -> list[str]:
    """Grade the exponents of typical words and documents."""
    # Exponents of several parts add up, because a recipient may combine the releases.
    near, far, whole = (
        sum(rows[i]["exponent_with_delta"] for rows in tables) for i in (0, 1, -1)
    )
    # Words are graded against their neighbors, and are fully deniable only if random
    # words are alike too.
    words = _LEVELS[max(_grade(near), min(_grade(far), 1))]
    if words == _LEVELS[1] and _grade(far) == 3:
        words += ", AGAINST SIMILAR WORDS ONLY"
    # Nothing is promised for documents whose length or unknown words are released.
    if any(not part.n_words or part.unknown_kept for part in parts):
        whole = math.inf
    if _grade(whole) < 3:
        return [
            f"SINGLE WORDS ARE {words}. TYPICAL DOCUMENTS ARE "
            f"{_LEVELS[_grade(whole)]}.",
            "The promise is weaker for documents whose words are further apart.",
        ]
    return [
        f"SINGLE WORDS ARE {words}. NOTHING USEFUL IS PROMISED FOR DOCUMENTS.",
        "Do not rely on this release if a recipient may hold or guess the originals.",
    ]


def _grade(exponent: float) -> int:
    """Grade an exponent, as a place in _LEVELS."""
    return sum(exponent > step for step in _STEPS)


# -- stand-ins, and sums over people ---------------------------------------------------


def _stand_ins(guarantee: Any) -> Statement:
    n, epsilon, one = _CANDIDATES, guarantee.epsilon, guarantee.unit
    whose, alike = "documents", ""
    count = "The number of documents, and their order."
    if one == "person":
        whose, alike = "people's documents", " with as many documents"
        count = "The number of documents of a person, and which rows they are in."
    groups = guarantee.n_groups
    over = "" if groups is None else f" over {groups} public groups"
    shares = {n: guarantee.found_at_most(n) for n in (10, n, 1000)}
    most = math.ceil(shares[n] * n * (1 - 1e-12))
    found = [
        _share(f"identified among {n:,} candidates", share, 1 / n)
        for n, share in shares.items()
    ]
    odds = f"odds between any two {_MANY[one]} multiplied by"
    return Statement(
        f"Stand-ins for {whose}{over}, ε = {rounded_up(epsilon)}{_times(guarantee)}.",
        [
            _hidden(f"THE IDENTITY OF A {one}", one, shares[n], 1 / n),
            f"Of {n} equally likely candidates{alike}, no attacker identifies more "
            f"than {most} on average.",
            "The release is meant to reveal the group, such as the topic.",
        ],
        f"{_PROVED}, if all candidates are equally likely. At most, on average:",
        [*found, _odds(odds, epsilon, 0.0, epsilon)],
        "Within a group, the odds do not change at all.",
        [
            count,
            "The author, if few people write about the group.",
            "The author of the public text that stands in.",
            *_LIMITS,
        ],
    )


def _sums(guarantee: Any) -> Statement:
    one, right, n = guarantee.unit, guarantee.right_at_most, _CANDIDATES
    add, (swap, _) = guarantee.epsilon, guarantee.epsilon_of(1)
    found, result = guarantee.found_at_most(n), f"odds of any result, one {one}"
    delta = f"δ = {_small(guarantee.delta)}" if guarantee.delta else ""
    authors = ["A person with several documents: ε adds up, as no authors were given."]
    return Statement(
        f"A model learned from noisy sums, ε = {rounded_up(add)}"
        f"{delta and f', {delta}'}, for a {one}{_times(guarantee)}.",
        [
            _hidden(f"WHETHER ONE {one} TOOK PART", one, right, 0.5),
            f"An attacker is right about it at most {rounded_up(100 * right, 3)}% of "
            "the time (a coin flip: 50%), if both are equally likely.",
            "The holder of the texts must be trusted. Everything made from the model "
            "has the same protection.",
        ],
        f"{_PROVED} who knows all other texts and labels, if all candidates are "
        "equally likely. At most:",
        [
            _share(f"right about whether a {one} took part", right, 0.5),
            _share(f"right about which of {n} {_MANY[one]} took part", found, 1 / n),
            _odds(f"{result} added or removed", add, 0.0, add),
            _odds(f"{result} replaced by another", swap, 0.0, swap),
        ],
        delta and f"Except with probability {delta}.",
        [
            "Anything, against the holder, who reads all texts and adds the noise.",
            "What many people have in common: the model learns it.",
            "A further fit, or a search over private text: every fit adds its ε.",
            *(authors if one == "document" else []),
            *_NEVER,
        ],
    )


_OF_KIND = {"words": _words, "stand-ins": _stand_ins, "sums": _sums}


def _times(guarantee: Any) -> str:
    n = guarantee.releases
    return f", {n} releases" if n > 1 else ""


def _hidden(what: str, one: str, share: float, chance: float) -> str:
    """Grade how often an attacker is right."""
    guess = chance / (1 - chance)
    level = sum(
        share > right or share > times * guess * (1 - share)
        for times, right in zip(_TIMES_ODDS, _RIGHT, strict=True)
    )
    nothing = f"NOTHING USEFUL IS PROMISED FOR A {one}."
    return (f"{what} IS HIDDEN.", f"{what} IS PARTLY HIDDEN.", nothing)[level].upper()


# -- numbers -------------------------------------------------------------------------


def in_nats(exponent: float) -> str:
    """Format an exponent, rounded up."""
    if exponent == math.inf:
        return "infinite"
    if exponent < 999:
        return rounded_up(exponent, 3)
    # The factor keeps a sum that should be whole from being raised by rounding errors.
    return f"{math.ceil(exponent * (1 - 1e-12)):,}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def odds_factor(exponent: float) -> str:
    """Format e^exponent, the factor by which odds change at most, rounded up."""
    if exponent == math.inf:
        return "∞"
    if exponent < math.log(1000):
        return rounded_up(math.exp(exponent), 3)
    power, rest = divmod(exponent / math.log(10), 1)
    # The large power leaves fewer digits for the rest: its error is about 1e-13.
    digits = rounded_up(10**rest * (1 + 1e-11), 2)
    if float(digits) >= 10:
        digits, power = "1", power + 1
    return f"{float(digits):.1f}·10{f'{power:.0f}'.translate(_RAISED)}"


def _small(delta: float, digits: int = 3) -> str:
    """Format a δ, rounded up, as a power of ten if it is small."""
    first, small, power = rounded_up(delta, digits).partition("e")
    if not small:
        return first
    factor = "" if first == "1" else f"{first}·"
    return f"{factor}10{f'{int(power)}'.translate(_RAISED)}"
