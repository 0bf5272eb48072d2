"""Print a guarantee on one screen: verdict, bounds on a human scale, and limits."""

import math
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

#: An exponent up to the first counts as protection, up to the second as some
#: protection, and above as none: e is 2.7, and e^20 is 5·10⁸.
GOOD, LARGE = 1, 20
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
# Above this exponent of the median nearest neighbor, which is a factor of 100 on the
# odds, even neighbors can be distinguished: only closer words are deniable.
_NEIGHBOURS_TOLD = math.log(100)
# Length of a short message. It is printed where the length of documents is not fixed.
_MESSAGE = 10
_PROVED = "Proved against any attacker"
#: Limits of every release, and those of releases of documents.
_NEVER = (
    "Anything, if vectors, public texts, groups or settings come from private texts.",
    "Anything, against holders of the key or an integer random_state, who can undo "
    "the noise.",
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
        # Exponents of words and shares of documents have no common total. Each kind is
        # shown with its first and last row, and only the ε of a person adds up.
        pairs = zip(every, each, strict=True)
        verdicts = [f"For a {kind.unit}: {one.verdict[0]}" for kind, one in pairs]
        rows = [({"what": one.title}, one.rows[0], one.rows[-1]) for one in each]
        said = Statement(
            f"{guarantee.releases} releases of {len(each)} kinds.",
            [*verdicts, _of_person(guarantee)],
            "Each is proved by itself. At most:",
            [row for part in rows for row in part],
            "",
            list(dict.fromkeys(limit for one in each for limit in one.limits)),
        )
    broken = dict.fromkeys(text for part in guarantee.parts for text in part.warnings)
    return said._replace(
        verdict=[*(f"WARNING. {text}" for text in broken), *said.verdict]
    )


def _of_person(guarantee: Any) -> str:
    """State what adds up for one person over releases of different units."""
    counted = [part for part in guarantee.parts if part.kind != "words"]
    rest, totals = guarantee.of(counted), []
    for n, many in ((1, "one document"), (10, "10 documents")):
        epsilon, delta = rest.epsilon_of(n)
        but = f" (δ = {rounded_up(delta, 2)})" if delta else ""
        totals.append(f"ε = {rounded_up(epsilon)}{but} for {many}")
    words = ", plus the exponents of changed words"
    return (
        "Numbers of different units do not add up. What adds up is the loss if one "
        "person is replaced by another in all of these releases: "
        f"{' and '.join(totals)}{words if len(counted) < len(guarantee.parts) else ''}."
    )


# -- noise on words ------------------------------------------------------------------


def _words(guarantee: Any) -> Statement:
    parts = guarantee.parts
    tables = [_word_rows(part) for part in parts]
    title, rows = _released(parts[0]), tables[0]
    note = f"An exponent of 1 is a factor of 2.72; above {LARGE}, a promise has no"
    note += " practical value."
    if len(parts) > 1:
        title = f"{guarantee.releases} releases of {len(parts)} kinds"
        names = [{"what": f"{_released(part)}:"} for part in parts]
        shown = zip(names, tables, strict=True)
        rows = [row for name, each in shown for row in (name, each[0], each[-1])]
        note += " Exponents of the parts add up."
    if any("(" in _cells(row)[-1] for row in rows):
        note += " Exponents in brackets may fail with probability δ = 1e-6."
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
    name = repr(part.mechanism).removesuffix("()")
    if len(name) > 60:  # a mechanism with many options
        name = f"{type(part.mechanism).__name__}(…)"
    metric = ""
    if part.metric is not None:
        lam = part.metric.lam
        metric = f" (Mahalanobis, λ = {lam:g})" if lam else " (Euclidean)"
    n = part.n_words
    length = "any length" if n is None else f"{n} word{'s' * (n > 1)}"
    times = f", {part.releases} releases" if part.releases > 1 else ""
    epsilon = rounded_up(part.epsilon)
    return f"{name}, ε = {epsilon}{metric}, documents of {length}{times}"


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
    near, far = (sum(rows[i]["exponent_with_delta"] for rows in tables) for i in (0, 1))
    words = (
        "SINGLE WORDS ARE DENIABLE.",
        "SINGLE WORDS ARE PARTLY DENIABLE.",
        "NOTHING USEFUL IS PROMISED FOR SINGLE WORDS.",
    )[grade(far)]
    if grade(near) < grade(far) == 2:
        words = "SINGLE WORDS ARE PARTLY DENIABLE, AGAINST SIMILAR WORDS ONLY."
    if grade(near) < 2 and near > _NEIGHBOURS_TOLD:
        # Where vectors count for nothing, no word is closer than the nearest one.
        words = "SINGLE WORDS ARE HARDLY DENIABLE."
        if near < far:
            words = "SINGLE WORDS ARE DENIABLE ONLY AGAINST VERY SIMILAR ONES."
    # Nothing is promised for documents whose length or unknown words are released.
    whole = math.inf
    if all(part.n_words and not part.unknown_kept for part in parts):
        whole = sum(rows[-1]["exponent_with_delta"] for rows in tables)
    if grade(whole) < 2:
        partly = " PARTLY" if grade(whole) else ""
        return [
            f"{words} TYPICAL DOCUMENTS ARE{partly} DENIABLE.",
            "The promise is weaker for documents whose words are further apart.",
        ]
    words += " NOTHING USEFUL IS PROMISED FOR DOCUMENTS."
    if grade(near) == 2:
        words = "NOTHING USEFUL IS PROMISED, FOR SINGLE WORDS OR FOR DOCUMENTS."
    rely = "Do not rely on this release if a recipient may hold or guess the originals."
    return [words, rely]


# -- stand-ins, and sums over people ---------------------------------------------------


def _stand_ins(guarantee: Any) -> Statement:
    n, epsilon, ones = _CANDIDATES, guarantee.epsilon, f"{guarantee.unit}s"
    whose, alike, which = "documents", "", "THE IDENTITY OF A DOCUMENT IS"
    count = "The number of documents, and their order."
    if guarantee.unit == "person":
        whose, alike = "persons' documents", " with as many documents"
        which = "THE IDENTITY OF A PERSON IS"
        count = "The number of documents of a person, and which rows they are in."
    groups = guarantee.n_groups
    over = "" if groups is None else f" over {groups} public groups"
    times = f", {guarantee.releases} releases" if guarantee.releases > 1 else ""
    shares = {n: guarantee.found_at_most(n) for n in (10, n, 1000)}
    most = math.ceil(shares[n] * n * (1 - 1e-12))
    levels = f"{which} HIDDEN.", f"{which} PARTLY HIDDEN.", _nothing_for(ones)
    found = [
        _share(f"identified among {n:,} candidates", share, 1 / n)
        for n, share in shares.items()
    ]
    odds = f"odds between any two {ones} multiplied by"
    return Statement(
        f"Stand-ins for {whose}{over}, ε = {rounded_up(epsilon)}{times}.",
        [
            levels[exposure(shares[n], 1 / n)],
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
    times = f", {guarantee.releases} models" if guarantee.releases > 1 else ""
    delta = f"δ = {rounded_up(guarantee.delta, 3)}" if guarantee.delta else ""
    part = f"WHETHER ONE {one.upper()} TOOK PART IS"
    levels = f"{part} HARD TO TELL.", f"{part} PARTLY HIDDEN.", _nothing_for(f"a {one}")
    authors = ["Persons, as no authors were given: ε adds up over their documents."]
    return Statement(
        f"A model learned from noisy sums, ε = {rounded_up(add)}"
        f"{delta and f', {delta}'}, for a {one}{times}.",
        [
            levels[exposure(right, 0.5)],
            f"An attacker is right about it at most {rounded_up(100 * right, 3)}% of "
            "the time (a coin flip: 50%), if both are equally likely.",
            "The holder of the texts must be trusted. Everything made from the model "
            "has the same protection.",
        ],
        f"{_PROVED} who knows all other texts and labels, if all candidates are "
        "equally likely. At most:",
        [
            _share(f"right about whether a {one} took part", right, 0.5),
            _share(f"right about which of {n} {one}s took part", found, 1 / n),
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


def _nothing_for(ones: str) -> str:
    return f"NOTHING USEFUL IS PROMISED FOR {ones.upper()}."


_OF_KIND = {"words": _words, "stand-ins": _stand_ins, "sums": _sums}


# -- how much is protected -------------------------------------------------------------


def grade(exponent: float) -> int:
    """Grade an exponent: 0 protects, 1 protects a little, 2 does not in practice."""
    return (exponent > GOOD) + (exponent > LARGE)


def exposure(share: float, chance: float) -> int:
    """Grade how often an attacker is right: 0 is hidden, 1 partly hidden, 2 exposed.

    The same grades apply to proved bounds and to measured attacks.
    """
    guess = chance / (1 - chance)
    return sum(
        share > right or share > times * guess * (1 - share)
        for times, right in zip(_TIMES_ODDS, _RIGHT, strict=True)
    )


def in_nats(exponent: float) -> str:
    """Format an exponent, rounded up."""
    if exponent == math.inf:
        return "infinite"
    if exponent < 999:
        return rounded_up(exponent, 3)
    # The factor keeps a sum that should be whole from being raised by rounding errors.
    return f"{math.ceil(exponent * (1 - 1e-12)):,}"


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


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
