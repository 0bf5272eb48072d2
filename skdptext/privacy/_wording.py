"""Guarantees in sentences, as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from skdptext.mechanisms import LossDistribution
from skdptext.privacy._base import COLUMNS, KEY, LARGE, Statement, grade, in_nats
from skdptext.privacy._part import PerturbationPart
from skdptext.utils import odds_factor, rounded_up

# The small δ that is shown, and words of a message where nothing fixes them.
_DELTA, _WITH_DELTA = 1e-6, "with δ = 1e-6"
_MAY_FAIL = "Here δ = 1e-6 is the probability with which the bound may fail."
# Above this exponent of the median nearest neighbour, a factor of 100 on the odds, even
# neighbours are told apart: only words closer than these are deniable.
_NEIGHBOURS_TOLD = math.log(100)
# Words of a short message: what a printed guarantee speaks of where the length of
# documents is not fixed.
_MESSAGE = 10

Parts = Sequence[PerturbationPart]


def head(parts: Parts) -> str:
    """The parameters of a guarantee, a line for each part."""
    lines = [_head(part) for part in parts]
    if len(lines) == 1:
        return lines[0]
    return "\n".join(["PrivacyGuarantee of", *(f"  {line}," for line in lines)])


def _head(part: PerturbationPart) -> str:
    metric = repr(part.metric_name)
    mechanism = "" if part.metric_lam is not None else f"{part.facts.mechanism}, "
    releases = f", releases={part.releases}" if part.releases > 1 else ""
    return (
        f"PrivacyGuarantee({mechanism}"
        f"epsilon={rounded_up(part.releases * part.epsilon, 6)}, "
        f"lam={part.lam:g}, "
        f"n_words={part.n_words}, metric={metric}{releases})"
    )


def sentences_of(parts: Parts) -> list[str]:
    """Promise and scale, in sentences."""
    scale = [] if len(parts) > 1 else [_scale_sentence(parts[0])]
    return _promises(parts, scale)


def _promises(parts: Parts, scale: list[str]) -> list[str]:
    """What voids the guarantee, what it promises, and on what scale."""
    if len(parts) > 1:
        return [*broken_by(parts), _composed_promise(parts), *scale]
    (part,) = parts
    promises = [_words_promise(part), _documents_promise(part)]
    own = part.stated.said
    return [*broken_by(parts), *promises, *scale, *own]


# -- one way of releasing ------------------------------------------------------------


def _times(part: PerturbationPart) -> str:
    """The number of releases as a factor."""
    return f"{part.releases}·" if part.releases > 1 else ""


def _total(part: PerturbationPart) -> str:
    """ε, times the number of releases."""
    return f"{_times(part)}{rounded_up(part.epsilon)}"


def _metric(part: PerturbationPart) -> str:
    if part.metric_name == "euclidean":
        metric = "the Euclidean distance ‖φ(w) − φ(w')‖₂ of their vectors"
    else:
        metric = (
            "the regularized Mahalanobis distance ‖φ(w) − φ(w')‖_RM of their vectors, "
            f"with λ = {part.metric_lam:g}"
        )
    if part.facts.converted:
        metric += (
            f" (converted: the noise has ε = {rounded_up(part.facts.epsilon)} and "
            f"λ = {part.lam:g})"
        )
    return metric


def _short_metric(part: PerturbationPart) -> str:
    if part.metric_lam is None:
        return part.facts.mechanism
    if part.metric_name == "euclidean":
        return "Euclidean"
    return f"Mahalanobis (λ = {part.metric_lam:g})"


def _words_promise(part: PerturbationPart) -> str:
    seen = "the release"
    if part.releases > 1:
        seen = f"all {part.releases} releases of a document"
    word = "released word was w before the noise" if part.resampled else "word was w"
    odds = (
        f"For anyone who sees {seen}, whatever they know besides, the odds that a "
        f"{word}, and not another word w',"
    )
    if part.metric_lam is None:
        times = _times(part)
        return (
            f"{odds} grow by at most a factor of exp({times}t(w, w')), and fall by at "
            f"most exp({times}t(w', w)). {part.facts.mechanism} with ε = "
            f"{rounded_up(part.epsilon)} sets t; exponent(w, w') computes "
            f"{times}t(w, w')."
        )
    bound = f"exp({_total(part)}·d(w, w')), where d is {_metric(part)}"
    return f"{odds} change by at most a factor of {bound}."


def _documents_promise(part: PerturbationPart) -> str:
    if part.n_words is None:
        size, each = "n", "of the same number of words n"
    else:
        size, each = str(part.n_words), f"of {part.n_words} words"
    if part.metric_lam is None:
        factor, what = f"exp({_times(part)}{size}·T)", "T"
        measures = (
            "mean of t over their words, in order",
            "mean of t over the cheapest matching of their words",
            "exponent of one redrawn word",
        )
    else:
        factor, what = f"exp({_total(part)}·{size}·D)", "D"
        measures = (
            "mean distance of their words, in order",
            "Earth Mover's Distance E of their bags of words",
            "bottleneck distance W_∞ of their word frequencies",
        )
    in_order, of_bags, of_drawn = measures
    if part.metric_lam is None:
        odds, grow = "The odds of a document against any other", "grow"
        fall = " They can fall by the same with the two documents exchanged."
    else:
        odds, grow, fall = "The odds between any two documents", "change", ""
    if part.resampled:
        exact = part.facts.exact and not part.facts.converted
        if exact:
            of_drawn += ", which is exact for these two documents"
        elif not part.facts.converted:
            of_drawn += ", or by less where only some of the words differ"
        return (
            f"{odds} {grow} by at most a factor of {factor}, {what} the {of_drawn}: "
            f"each document is redrawn to {size} words before the noise, so that one "
            f"word that changes may cost up to {size} times its own exponent, in a "
            f"document of that word alone.{fall}"
        )
    kind = in_order if part.ordered else of_bags
    cut = ", as cut for the release," if part.n_words is not None else ""
    return (
        f"{odds} {each}{cut} {grow} by at most a factor of {factor}, {what} the "
        f"{kind}.{fall}"
    )


class Row(NamedTuple):
    """One comparison: what is compared, and its exponents."""

    name: str
    exponent: float
    with_delta: float


def scale_rows(part: PerturbationPart) -> list[dict[str, Any]]:
    """What is said of the human scale, in numbers."""
    return [
        {
            "between": row.name,
            "exponent": row.exponent,
            "delta": _DELTA,
            "exponent_with_delta": row.with_delta,
        }
        for row in _scale_rows(part)
    ]


def _scale_rows(part: PerturbationPart) -> list[Row]:
    """Two words, at their nearest and at random; then documents."""
    # one word that changes may change all the draws
    return [*([] if part.resampled else _word_rows(part)), *_document_rows(part)]


def _word_rows(part: PerturbationPart) -> list[Row]:
    if part.resampled:
        of_one = "one released word: its neighbour instead"
        return _rows(part, 1, of_one, "one released word: a random word instead")
    return _rows(part, 1, "a word and its nearest neighbour", "two random words")


def _document_rows(part: PerturbationPart) -> list[Row]:
    n_words = part.n_words or _MESSAGE
    if part.resampled:
        return _rows(
            part,
            n_words,
            "documents in which a word becomes its neighbour",
            "documents in which it becomes a random word",
        )
    if n_words == 1:
        return []
    every = f"documents, all {n_words} words become"
    return _rows(part, n_words, f"{every} neighbours", f"{every} random words")


def _rows(part: PerturbationPart, times: int, near: str, far: str) -> list[Row]:
    """Medians of so many words, for all releases."""
    stated, times = part.stated, times * part.releases
    each = part.epsilon if part.metric_lam is not None else 1
    medians = stated.nearest, stated.random
    rows = []
    for name, apart, loss in zip((near, far), medians, stated.losses, strict=True):
        pure = each * times * apart
        rows.append(Row(name, pure, min(pure, _with_delta(loss, times))))
    return rows


def _with_delta(loss: LossDistribution, times: int) -> float:
    return loss.times(times).exponent(_DELTA)


# -- on one screen -------------------------------------------------------------------


def statement_of(parts: Parts) -> Statement:
    """Title, verdict, table and limits."""
    what = _released(parts[0])
    if len(parts) > 1:
        what = f"{sum(part.releases for part in parts)} releases of {len(parts)} kinds"
    rows, lower = [], False
    for part in parts:
        if len(parts) > 1:
            rows.append([f"{_released(part)}:", "", ""])
        each = [*_word_rows(part), *_document_rows(part)]
        for row in each if len(parts) == 1 else [each[0], each[-1]]:
            exponent, but = in_nats(row.exponent), in_nats(row.with_delta)
            if exponent != but:
                exponent, lower = f"{exponent} ({but})", True
            odds = odds_factor(row.exponent)
            if row.with_delta > LARGE:
                odds = "no useful bound"
            rows.append([row.name, odds, f"exponent {exponent}"])
    note = (
        "Exponent 1 is a factor of 2.72; above "
        f"{LARGE} nothing is promised in practice."
    )
    if lower:
        note += f" In brackets {_WITH_DELTA}, the probability with which they may fail."
    if len(parts) > 1:
        note += " Exponents of the parts add up."
    return Statement(
        f"Noise on words: {what}.",
        _verdict(parts),
        "Proved against anyone, whatever they know. At the median of the embedding, "
        "the odds change at most by a factor of:",
        rows,
        note,
        _short_limits(parts),
    )


def _released(part: PerturbationPart) -> str:
    """What was done, in a line."""
    name = part.facts.mechanism.removesuffix("()")
    if len(name) > 60 or "\n" in name:
        name = f"{name.partition('(')[0]}(…)"
    metric = "" if part.metric_lam is None else f" ({_short_metric(part)})"
    length = "any length" if part.n_words is None else f"{part.n_words} words"
    if part.n_words == 1:
        length = "1 word"
    times = f", {part.releases} releases" if part.releases > 1 else ""
    epsilon = rounded_up(part.epsilon)
    return f"{name}, ε = {epsilon}{metric}, documents of {length}{times}"


def _verdict(parts: Parts) -> list[str]:
    """What the exponents of typical words and documents come to."""
    each = [_word_rows(part) for part in parts]
    near, far = (sum(rows[i].with_delta for rows in each) for i in (0, 1))
    words = (
        "SINGLE WORDS ARE DENIABLE.",
        "SINGLE WORDS ARE PARTLY DENIABLE.",
        "NOTHING USEFUL IS PROMISED FOR SINGLE WORDS.",
    )[grade(far)]
    if grade(near) < grade(far) == 2:
        words = "SINGLE WORDS ARE PARTLY DENIABLE, AGAINST SIMILAR WORDS ONLY."
    if grade(near) < 2 and near > _NEIGHBOURS_TOLD:
        words = "SINGLE WORDS ARE DENIABLE ONLY AGAINST VERY SIMILAR ONES."
    whole = math.inf
    if all(part.n_words and not part.unknown_kept for part in parts):
        documents = [(_document_rows(part) or _word_rows(part))[-1] for part in parts]
        whole = sum(row.with_delta for row in documents)
    if grade(whole) == 2:
        none = f"{words} NOTHING USEFUL IS PROMISED FOR DOCUMENTS."
        if grade(near) == 2:
            none = "NOTHING USEFUL IS PROMISED, FOR SINGLE WORDS OR FOR DOCUMENTS."
        return [
            none,
            "Do not rely on this release if a recipient may hold or guess the "
            "originals.",
        ]
    partly = " PARTLY" if grade(whole) else ""
    return [
        f"{words} TYPICAL DOCUMENTS ARE{partly} DENIABLE.",
        "Documents of words that are further apart are promised less.",
    ]


def _short_limits(parts: Parts) -> list[str]:
    limits = [
        COLUMNS,
        "A further release, or a person's other documents: exponents add up.",
        "Anything, if vectors, vocabulary, ε or λ come from the private texts.",
        KEY,
    ]
    if any(part.n_words is None for part in parts):
        limits.insert(0, "Length: documents of different length are told apart.")
    return limits


def _scale_sentence(part: PerturbationPart) -> str:
    rows = _scale_rows(part)
    near, far, *documents = rows
    grow = "change" if part.metric_lam is not None else "grow"
    near_by, far_off = in_nats(near.exponent), in_nats(far.exponent)
    if near.exponent < math.inf:
        near_by += f" (odds {grow} by a factor of {odds_factor(near.exponent)} at most)"
    if far.exponent < math.inf:
        far_off += f" ({odds_factor(far.exponent)})"
    if part.resampled:
        text = (
            "On a human scale, at the median of the embedding: between documents in "
            f"which one word becomes its nearest neighbour the exponent is at most "
            f"{near_by}, or a random word {far_off}."
        )
    else:
        text = (
            "On a human scale, at the median of the embedding: between a word and its "
            f"nearest neighbour the exponent is {near_by}, between two random words "
            f"{far_off}."
        )
    lower = [in_nats(row.with_delta) != in_nats(row.exponent) for row in rows]
    if any(lower[:2]):
        text += (
            f" W{_WITH_DELTA[1:]} these exponents are {in_nats(near.with_delta)} and "
            f"{in_nats(far.with_delta)}."
        )
    if documents:
        near_by, far_off = map(_instead, documents)
        only_here = any(lower) and not any(lower[:2])
        start = f"W{_WITH_DELTA[1:]}, if" if only_here else "If"
        text += (
            f" {start} all {part.n_words or _MESSAGE} words of a document become their "
            f"neighbours, {near_by}; if they become random words, {far_off}."
        )
    return " ".join([text, *([_MAY_FAIL] if any(lower) else []), *_too_large(rows)])


def _too_large(rows: list[Row]) -> list[str]:
    """What large exponents are worth, where there are some."""
    large = [row.with_delta > LARGE for row in rows]
    if not any(large):
        return []
    which = ", and all of these are" if all(large) else ""
    return [f"Exponents above some {LARGE} promise nothing in practice{which}."]


def _instead(row: Row) -> str:
    """The exponent with δ, and the pure one where it differs."""
    pure, lower = in_nats(row.exponent), in_nats(row.with_delta)
    return pure if pure == lower else f"{lower} instead of {pure}"


def broken_by(parts: Parts) -> list[str]:
    """What voids the guarantee, and therefore comes first."""
    clear = (
        "Words unknown to the embedding are released in the clear: what follows holds "
        "only between documents that have the same ones, in the same places."
    )
    sentences = []
    if any(part.ordered and not part.resampled for part in parts):
        sentences.append(
            "Words are released in order, which tells more than a bag of them: anyone "
            "who holds candidate documents compares word by word, and finds the right "
            "one at an ε at which a bag hides it."
        )
    sentences += [caveat for part in parts for caveat in part.caveats]
    if any(part.unknown_kept for part in parts):
        sentences.append(clear)
    return list(dict.fromkeys(sentences))


# -- limits, and several ways --------------------------------------------------------


def limits_of(parts: Parts) -> list[str]:
    """What is not promised."""
    limits = [limit for part in parts for limit in _part_limits(part)]
    return [*dict.fromkeys(limits), _repetition(sum(part.releases for part in parts))]


def _part_limits(part: PerturbationPart) -> list[str]:
    if part.n_words is None:
        length = (
            "Length: the number of words of each document is released, and documents "
            "of different length are not protected from being told apart."
        )
    else:
        length = (
            f"Document length. It is hidden here, since every document has "
            f"{part.n_words} words, but not in other releases."
        )
    unknown = (
        "Unknown words: those not in the embedding are left out of the release, and "
        "out of these numbers."
    )
    delta, per = part.numerical_delta, "word" if part.n_words is None else "document"
    differs = (
        "with an unknown probability"
        if delta is None
        else f"with probability at most {rounded_up(delta, 1)}"
    )
    inferred = (
        "Inferred words: an unknown word whose vector is inferred from its subwords is "
        "read as the nearest word of the embedding, and has that word's promise."
    )
    stop = (
        "Stop words: they are left out of the release, and of exponents between "
        "documents; that they were there is not released."
    )
    return [
        length,
        *([] if part.unknown_kept else [unknown]),
        *([inferred] if part.facts.subwords else []),
        *([] if part.facts.options["stop_words"] is None else [stop]),
        "Anything, if the embedding, its vocabulary, its covariance, ε or λ was "
        "learned from the documents to be protected: they must be public.",
        "Repeatable releases, by an integer random_state or the key of a "
        "DocumentRelease: anyone who learns it can remove the noise, and anyone who "
        "can release documents with it finds out which were released, by giving their "
        "guesses the same ids. To everyone else it is indistinguishable from fresh "
        "noise. Under a seed, equal documents come out equal, unless each has its own "
        "id.",
        "What goes with a document: ids, labels and columns that are kept are released "
        "as they are.",
        "Time: how long a release takes, and how much memory, depends on the "
        "documents: on their lengths and, by mechanism, on how many different words "
        "they have.",
        "Perfect arithmetic: the odds are those of exact arithmetic; with finite "
        f"numbers a release differs from it {differs} per {per}; and ChaCha20, from "
        "which noise is drawn, is taken for random bits.",
    ]


def _repetition(releases: int) -> str:
    more = "More releases" if releases == 1 else f"More than {releases} releases"
    return (
        f"{more} of the same document: every one with fresh noise adds its own "
        "exponent, and so does every other document of an author."
    )


def _composed_promise(parts: Parts) -> str:
    change, fall = "the odds between two words, or two documents, change", ""
    if any(part.metric_lam is None for part in parts):
        change = "the odds of a word, or a document, against another grow"
        fall = "; they can fall by the same with the two exchanged"
    text = (
        f"For anyone who sees all {sum(part.releases for part in parts)} releases of a "
        f"document, whatever they know besides, {change} by at most exp(t), where t is "
        f"the sum of the exponents of the parts{fall}."
    )
    first = parts[0]
    alike = all(p.ruler == first.ruler and not p.resampled for p in parts)
    if first.metric_lam is not None and alike:
        total = sum(part.releases * part.epsilon for part in parts)
        text += (
            f" All share one metric: between words t is {rounded_up(total)}·d(w, w'), "
            f"where d is the {_short_metric(first)} distance."
        )
    return text
