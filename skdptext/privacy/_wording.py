"""Guarantees in sentences, as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skdptext.mechanisms import LossDistribution, law_fingerprint, word_losses
from skdptext.privacy._part import PerturbationPart
from skdptext.search import k_nearest_words
from skdptext.utils import (
    Memo,
    blocks,
    bound_in_table,
    bullets,
    odds_factor,
    page,
    rounded_up,
    table,
    wrapped,
)

# Showing a guarantee must not take seconds: a sample of words, and the words among
# which their neighbours are sought: the first of the embedding, mostly frequent ones.
_SAMPLE = 500
_AMONG = 50_000
# The small δ that is shown, and words of a message where nothing fixes them.
_DELTA, _WITH_DELTA = 1e-6, "with δ = 1e-6"
_MAY_FAIL = "Here δ = 1e-6 is the probability with which the bound may fail."
_LARGE = 20  # odds of 5·10⁸
_MESSAGE = 10
# Of scores at a time: releases of files state their guarantee within 100 MB
_SEARCH_BYTES = 2**23

Parts = Sequence[PerturbationPart]


class Scale(NamedTuple):
    """Medians over the words of an embedding: distances in a metric, or exponents."""

    nearest: float  # of a word to its nearest other word
    random: float  # of two words
    pairs: np.ndarray  # columns of the words at these medians, shape (2, 2)


_scales: Memo[Scale] = Memo(32)
_losses: Memo[list[LossDistribution]] = Memo(32)


def _scale(part: PerturbationPart) -> Scale:
    """Medians in the unit of a part, from a fixed sample."""
    law = _law(part) if part.metric is None else part.unit
    return _scales.get((part.embedding.fingerprint, law), lambda: _measure(part))


def _scale_losses(part: PerturbationPart) -> list[LossDistribution]:
    """Privacy losses of the pairs of words at these medians."""
    key = part.embedding.fingerprint, part.unit, _law(part)
    pairs = _scale(part).pairs.T
    return _losses.get(key, lambda: word_losses(part.channel, *pairs))


def _law(part: PerturbationPart) -> tuple[bytes, bytes]:
    """Fingerprint of the law at this ε, whatever the channel's own is."""
    channel = part.channel
    given = channel.mechanism, part.embedding, channel.epsilon, channel.lam
    return law_fingerprint(*given), channel.fingerprint


def _measure(part: PerturbationPart) -> Scale:
    vectors = part.embedding.vectors[:_AMONG]
    metric = part.metric
    points = vectors
    if metric is not None:
        centre = vectors.mean(axis=0, dtype=np.float64)
        points = np.empty(vectors.shape, dtype=np.float32)
        for rows in blocks(len(vectors), 512):
            points[rows] = metric.whiten(vectors[rows] - centre)
    rng = np.random.default_rng(0)
    sample = rng.permutation(len(vectors))[:_SAMPLE]
    # of a single word there is no other
    near = sample
    if len(vectors) > 1:
        near = k_nearest_words(
            points[sample], points, 1, exclude=sample, memory=_SEARCH_BYTES
        )[0][:, 0]
    others = (sample + rng.integers(1, max(2, len(vectors)), len(sample))) % len(
        vectors
    )

    def median(ids: np.ndarray) -> tuple[float, tuple[int, int]]:
        if metric is not None:
            gaps = vectors[sample].astype(np.float64) - vectors[ids]
            apart = np.linalg.norm(metric.whiten(gaps), axis=1)
        else:
            pairs = [
                np.diag(part.word_exponents(sample[block], ids[block]))
                for block in blocks(len(sample), 50)
            ]
            apart = np.concatenate(pairs)
        at = np.argsort(apart, kind="stable")[len(apart) // 2]
        return float(np.median(apart)), (sample[at], ids[at])

    nearest, random = median(near), median(others)
    return Scale(nearest[0], random[0], np.array([nearest[1], random[1]]))


def head(parts: Parts) -> str:
    """The parameters of a guarantee, a line for each part."""
    lines = [_head(part) for part in parts]
    if len(lines) == 1:
        return lines[0]
    return "\n".join(["PrivacyGuarantee of", *(f"  {line}," for line in lines)])


def _head(part: PerturbationPart) -> str:
    metric = "None" if part.metric is None else repr(part.metric.name)
    mechanism = "" if part.metric is not None else f"{part.name}, "
    releases = f", releases={part.releases}" if part.releases > 1 else ""
    return (
        f"PrivacyGuarantee({mechanism}"
        f"epsilon={rounded_up(part.releases * part.epsilon, 6)}, "
        f"lam={part.lam:g}, "
        f"n_words={part.n_words}, metric={metric}{releases})"
    )


def in_words(parts: Parts) -> str:
    """Promise, scale and limits, as text of several lines."""
    limits = [f"- {limit}" for limit in limits_of(parts)]
    promise = " ".join(sentences_of(parts))
    return wrapped("\n".join([promise, "Not promised:", *limits]))


def sentences_of(parts: Parts) -> list[str]:
    """Promise and scale, in sentences."""
    scale = [] if len(parts) > 1 else [_scale_sentence(parts[0])]
    return _promises(parts, scale)


def as_html(parts: Parts) -> str:
    """The same for a notebook, with the scale, or the parts, as a table."""
    if len(parts) > 1:
        title = f"Privacy guarantee of {sum(part.releases for part in parts)} releases"
        scale = [_parts_table(parts)]
    else:
        (part,) = parts
        what = f"λ = {part.lam:g}" if part.metric is not None else part.name
        title = f"Privacy guarantee: ε = {rounded_up(part.channel.epsilon, 6)}, {what}"
        scale = [_scale_table(part), _MAY_FAIL, *_too_large(_scale_rows(part))]
    limits = bullets(limits_of(parts))
    return page(title, *_promises(parts, scale), "Not promised:", limits)


def _promises(parts: Parts, scale: list[str]) -> list[str]:
    """What voids the guarantee, what it promises, and on what scale."""
    if len(parts) > 1:
        return [*_broken(parts), _composed_promise(parts), *scale]
    (part,) = parts
    promises = [_words_promise(part), _documents_promise(part)]
    own = [] if part.converted else part.channel.law().said()
    return [*_broken(parts), *promises, *scale, *own]


def _scale_table(part: PerturbationPart) -> str:
    names = ["exponent", "odds factor", f"exponent {_WITH_DELTA}"]
    rows: list[list[Any]] = [["at the median of the embedding", "distance", *names]]
    for row in _scale_rows(part):
        odds = odds_factor(row.exponent)
        bounds = [bound_in_table(t) for t in (row.exponent, row.with_delta)]
        rows.append([row.name, row.apart, bounds[0], odds, bounds[1]])
    grow = "change"
    if part.metric is None:  # and so no distance
        rows, grow = [row[:1] + row[2:] for row in rows], "grow"
    caption = f"On a human scale: what an observer's odds {grow} by, at most."
    return table(rows[0], rows[1:], caption=caption)


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
    if part.converted:
        metric += (
            f" (converted: the noise has ε = {rounded_up(part.channel.epsilon)} and "
            f"λ = {part.lam:g})"
        )
    return metric


def _short_metric(part: PerturbationPart) -> str:
    if part.metric is None:
        return part.name
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
    if part.metric is None:
        times = _times(part)
        return (
            f"{odds} grow by at most a factor of exp({times}t(w, w')), and fall by at "
            f"most exp({times}t(w', w)). {part.name} with ε = "
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
    if part.metric is None:
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
    if part.metric is None:
        odds, grow = "The odds of a document against any other", "grow"
        fall = " They can fall by the same with the two documents exchanged."
    else:
        odds, grow, fall = "The odds between any two documents", "change", ""
    if part.resampled:
        exact = part.channel.law().log_proba is not None and not part.converted
        if exact:
            of_drawn += ", which is exact for these two documents"
        elif not part.converted:
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
    """One comparison: what is compared, its exponents, and the words' distance."""

    name: str
    exponent: float
    with_delta: float
    apart: float


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
    scale, n_words = _scale(part), part.n_words or _MESSAGE
    total = part.epsilon if part.metric is not None else 1

    def rows(times: int, near: str, far: str) -> list[Row]:
        times *= part.releases
        shown = []
        for name, apart, loss in zip(
            (near, far), scale[:2], _scale_losses(part), strict=True
        ):
            pure = total * times * apart
            with_delta = loss.times(times).exponent(_DELTA)
            shown.append(Row(name, pure, min(pure, with_delta), apart))
        return shown

    if part.resampled:  # one word that changes may change all the draws
        return rows(
            n_words,
            "documents in which a word becomes its neighbour",
            "documents in which it becomes a random word",
        )
    words = rows(1, "a word and its nearest neighbour", "two random words")
    if n_words == 1:
        return words
    every = f"documents, all {n_words} words become"
    return words + rows(n_words, f"{every} neighbours", f"{every} random words")


def _scale_sentence(part: PerturbationPart) -> str:
    rows = _scale_rows(part)
    near, far, *documents = rows
    grow = "change" if part.metric is not None else "grow"
    near_by, far_off = _nats(near.exponent), _nats(far.exponent)
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
    lower = [_nats(row.with_delta) != _nats(row.exponent) for row in rows]
    if any(lower[:2]):
        text += (
            f" W{_WITH_DELTA[1:]} these exponents are {_nats(near.with_delta)} and "
            f"{_nats(far.with_delta)}."
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
    large = [row.with_delta > _LARGE for row in rows]
    if not any(large):
        return []
    which = ", and all of these are" if all(large) else ""
    return [f"Exponents above some {_LARGE} promise nothing in practice{which}."]


def _instead(row: Row) -> str:
    """The exponent with δ, and the pure one where it differs."""
    pure, lower = _nats(row.exponent), _nats(row.with_delta)
    return pure if pure == lower else f"{lower} instead of {pure}"


def _nats(exponent: float) -> str:
    """An exponent in a readable form."""
    if exponent == math.inf:
        return "infinite"
    if exponent < 999:
        return rounded_up(exponent, 3)
    return f"{math.ceil(exponent * (1 - 1e-12)):,}"


def _broken(parts: Parts) -> list[str]:
    """What voids the guarantee, and therefore comes first."""
    clear = (
        "Words unknown to the embedding are released in clear: what follows holds "
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
        *([inferred] if part.embedding.has_subwords else []),
        *([] if part.reader.stop_words is None else [stop]),
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
        "exponent (see compose), and so does every other document of an author."
    )


def _composed_promise(parts: Parts) -> str:
    change, fall = "the odds between two words, or two documents, change", ""
    if any(part.metric is None for part in parts):
        change = "the odds of a word, or a document, against another grow"
        fall = "; they can fall by the same with the two exchanged"
    text = (
        f"For anyone who sees all {sum(part.releases for part in parts)} releases of a "
        f"document, whatever they know besides, {change} by at most exp(t), where t is "
        f"the sum of the exponents of the parts{fall}."
    )
    first = parts[0]
    alike = all(p.unit == first.unit and not p.resampled for p in parts)
    if first.metric is not None and alike:
        total = sum(part.releases * part.epsilon for part in parts)
        text += (
            f" All share one metric: between words t is {rounded_up(total)}·d(w, w'), "
            f"where d is the {_short_metric(first)} distance."
        )
    return text


def _parts_table(parts: Parts) -> str:
    rows = [
        [
            part.releases,
            bound_in_table(part.epsilon),
            part.lam,
            _short_metric(part),
            part.n_words,
            bound_in_table(near.exponent),
            bound_in_table(near.with_delta),
        ]
        for part in parts
        for near in _scale_rows(part)[:1]
    ]
    names = [
        *("releases", "ε", "λ", "metric", "words", "exponent to nearest word"),
        _WITH_DELTA,
    ]
    return table(names, rows, caption="The parts; the exponents are medians.")
