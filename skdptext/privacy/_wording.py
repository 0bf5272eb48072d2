"""Guarantees in sentences, as text and as HTML."""

from __future__ import annotations

import math
import textwrap
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skdptext.search import half_squared_norms
from skdptext.utils import blocks
from skdptext.utils._html import bullets, page, paragraph, table

if TYPE_CHECKING:
    from skdptext.embeddings import WordEmbedding
    from skdptext.mechanisms import MahalanobisMechanism
    from skdptext.privacy._composition import ComposedGuarantee
    from skdptext.privacy._guarantee import PrivacyGuarantee

__all__ = [
    "Scale",
    "as_html",
    "composed_as_html",
    "composed_in_words",
    "head",
    "in_words",
    "typical_distances",
    "wrapped",
]

# Showing a guarantee must not take seconds: so many words look for their neighbours
# among so many others, which stand first in a table (mostly the frequent ones).
_SAMPLE = 500
_AMONG = 50_000
_WIDTH = 88
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Scale(NamedTuple):
    """Median distances of a table, in some metric."""

    nearest: float  # of a word to its nearest other word
    random: float  # of two words


_scales: OrderedDict[tuple[bytes, float], Scale] = OrderedDict()
_MAX_SCALES = 32


def typical_distances(embedding: WordEmbedding, metric: MahalanobisMechanism) -> Scale:
    """Median distances in a metric, from a fixed sample."""
    key = embedding.fingerprint, metric.lam
    if key not in _scales:
        _scales[key] = _measure(embedding.vectors[:_AMONG], metric)
        while len(_scales) > _MAX_SCALES:
            _scales.popitem(last=False)
    return _scales[key]


def _measure(vectors: np.ndarray, metric: MahalanobisMechanism) -> Scale:
    centre = vectors.mean(axis=0, dtype=np.float64)
    points = np.empty(vectors.shape, dtype=np.float32)
    for rows in blocks(len(vectors), 4096):
        points[rows] = metric.whiten(vectors[rows] - centre)
    half_norms = half_squared_norms(points).astype(np.float32)
    rng = np.random.default_rng(0)
    sample = rng.permutation(len(vectors))[:_SAMPLE]
    nearest = np.empty(len(sample), dtype=int)
    for rows in blocks(len(sample), 128):
        scores = points[sample[rows]] @ points.T - half_norms
        scores[np.arange(len(scores)), sample[rows]] = -np.inf
        nearest[rows] = scores.argmax(axis=1)
    others = (sample + rng.integers(1, len(vectors), len(sample))) % len(vectors)
    # float32 finds the neighbour; its distance is taken from the vectors.
    near, far = (
        np.linalg.norm(
            metric.whiten(vectors[sample].astype(float) - vectors[others]), axis=1
        )
        for others in (nearest, others)
    )
    return Scale(float(np.median(near)), float(np.median(far)))


# -- a single guarantee ------------------------------------------------------------


def head(guarantee: PrivacyGuarantee) -> str:
    """The guarantee's parameters, in a line."""
    releases = f", releases={guarantee.releases}" if guarantee.releases > 1 else ""
    return (
        f"PrivacyGuarantee(epsilon={guarantee.epsilon:g}, lam={guarantee.lam:g}, "
        f"n_words={guarantee.n_words}, metric={guarantee.metric!r}{releases})"
    )


def wrapped(text: str) -> str:
    """Text in lines that a terminal shows whole."""
    return "\n".join(
        textwrap.fill(
            line, _WIDTH, subsequent_indent="  " if line.startswith("-") else ""
        )
        for line in text.splitlines()
    )


def in_words(guarantee: PrivacyGuarantee) -> str:
    """Promise, scale and limits, as text of several lines."""
    sentences = [
        *_broken(guarantee),
        _words_promise(guarantee),
        _documents_promise(guarantee),
        _scale_sentence(guarantee),
    ]
    limits = [f"- {limit}" for limit in _limits(guarantee)]
    return "\n".join([" ".join(sentences), "Not promised:", *limits])


def as_html(guarantee: PrivacyGuarantee) -> str:
    """The same for a notebook, with the scale as a table."""
    parts = [
        *map(paragraph, _broken(guarantee)),
        paragraph(_words_promise(guarantee)),
        paragraph(_documents_promise(guarantee)),
        table(
            ["at the median of the table", "distance", "exponent", "odds factor"],
            _scale_rows(guarantee),
            caption="On a human scale: what an observer's odds change by, at most.",
        ),
        paragraph("Not promised:"),
        bullets(_limits(guarantee)),
    ]
    title = f"Privacy guarantee: ε = {guarantee._mechanism.epsilon:g}, "
    return page(f"{title}λ = {guarantee.lam:g}", *parts)


def _total(guarantee: PrivacyGuarantee) -> str:
    """ε, times the number of releases."""
    times = f"{guarantee.releases}·" if guarantee.releases > 1 else ""
    return f"{times}{guarantee.epsilon:.4g}"


def _metric(guarantee: PrivacyGuarantee) -> str:
    if guarantee.metric == "euclidean":
        metric = "the Euclidean distance ‖φ(w) − φ(w')‖₂ of their vectors"
    else:
        metric = (
            "the regularized Mahalanobis distance ‖φ(w) − φ(w')‖_RM of their vectors, "
            f"with λ = {guarantee.metric_lam:g}"
        )
    if guarantee.metric_lam != guarantee.lam:
        metric += (
            f" (converted: the noise has ε = {guarantee._mechanism.epsilon:.4g} and "
            f"λ = {guarantee.lam:g})"
        )
    return metric


def _short_metric(guarantee: PrivacyGuarantee) -> str:
    if guarantee.metric == "euclidean":
        return "Euclidean"
    return f"Mahalanobis (λ = {guarantee.metric_lam:g})"


def _words_promise(guarantee: PrivacyGuarantee) -> str:
    seen = "the release"
    if guarantee.releases > 1:
        seen = f"all {guarantee.releases} releases of a document"
    behind = ", as the drawn word behind one noisy word," if guarantee.resampled else ""
    return (
        f"For anyone who sees {seen}, whatever they know besides, the odds between a "
        f"word w and any other word w'{behind} change by at most a factor of "
        f"exp({_total(guarantee)}·d(w, w')), where d is {_metric(guarantee)}."
    )


def _documents_promise(guarantee: PrivacyGuarantee) -> str:
    if guarantee.n_words is None:
        size, each = "n", "of the same number of words n"
    else:
        size, each = str(guarantee.n_words), f"of {guarantee.n_words} words"
    factor = f"exp({_total(guarantee)}·{size}·D)"
    if guarantee.resampled:
        return (
            "The odds between any two documents change by at most a factor of "
            f"{factor}, D the bottleneck distance W_∞ of their word frequencies: each "
            f"document is redrawn to {size} words before the noise, so that one word "
            f"that changes may cost {size} times its own exponent."
        )
    kind = (
        "mean distance of their words, in order"
        if guarantee.ordered
        else "Earth Mover's Distance E of their bags of words"
    )
    cut = ", as cut for the release," if guarantee.n_words is not None else ""
    return (
        f"The odds between any two documents {each}{cut} change by at most a factor "
        f"of {factor}, D the {kind}."
    )


def _odds(exponent: float) -> str:
    """e^t as a reader takes it in."""
    if exponent < math.log(1000):
        return f"{math.exp(exponent):.3g}"
    power, rest = divmod(exponent / math.log(10), 1)
    digits = f"{10**rest:.1f}"
    if digits == "10.0":
        digits, power = "1.0", power + 1
    return f"{digits}·10{f'{power:.0f}'.translate(_RAISED)}"


def _scale_rows(guarantee: PrivacyGuarantee) -> list[list[str | float]]:
    """What is compared, its distance, the exponent and the factor."""
    scale = typical_distances(guarantee.embedding, guarantee._metric)
    total, n_words = guarantee.releases * guarantee.epsilon, guarantee.n_words or 1
    compared: list[tuple[str, float, int]] = [
        ("a word and its nearest neighbour", scale.nearest, 1),
        ("two random words", scale.random, 1),
    ]
    if guarantee.resampled:
        # One word that changes may change all the draws.
        compared = [
            ("documents in which a word becomes its neighbour", scale.nearest, n_words),
            ("documents in which it becomes a random word", scale.random, n_words),
        ]
    elif n_words > 1:
        compared.append(
            (
                f"documents, all {n_words} words become neighbours",
                scale.nearest,
                n_words,
            )
        )
    return [
        [name, distance, total * times * distance, _odds(total * times * distance)]
        for name, distance, times in compared
    ]


def _scale_sentence(guarantee: PrivacyGuarantee) -> str:
    near, far = _scale_rows(guarantee)[:2]
    if guarantee.resampled:
        return (
            "On a human scale, at the median of the table: between documents in which "
            f"one word becomes its nearest neighbour the exponent is {near[2]:.3g} "
            f"(odds change by a factor of {near[3]} at most), or a random word "
            f"{far[2]:.3g} ({far[3]})."
        )
    return (
        "On a human scale, at the median of the table: between a word and its nearest "
        f"neighbour the exponent is {near[2]:.3g} (odds change by a factor of "
        f"{near[3]} at most), between two random words {far[2]:.3g} ({far[3]})."
    )


def _broken(guarantee: PrivacyGuarantee) -> list[str]:
    """What voids the promise, and so comes before it."""
    if not guarantee.unknown_kept:
        return []
    return [
        "Words unknown to the embedding are released in clear: what follows holds "
        "only between documents that have the same ones, in the same places."
    ]


def _limits(guarantee: PrivacyGuarantee) -> list[str]:
    """What is not promised."""
    if guarantee.n_words is None:
        length = (
            "Length: the number of words of each document is released, and documents "
            "of different length are not protected from being told apart."
        )
    else:
        length = (
            f"Length, where it shows: these documents are released with "
            f"{guarantee.n_words} words each, which hides it; in any other release "
            "of them it would show."
        )
    unknown = (
        "Unknown words: those not in the embedding are left out of the release, and "
        "out of these numbers."
    )
    return [
        length,
        *([] if guarantee.unknown_kept else [unknown]),
        "Anything, if the embedding, its vocabulary, its covariance, ε or λ was "
        "learned from the documents to be protected: they must be public.",
        "Repeatable releases (an integer random_state): equal documents come out "
        "equal, and who knows the seed can undo the noise. The odds are for fresh "
        "noise.",
        _repetition(guarantee.releases),
    ]


def _repetition(releases: int) -> str:
    more = "More releases" if releases == 1 else f"More than {releases} releases"
    return (
        f"{more} of the same document: every one with fresh noise adds its own "
        "exponent (see compose), and so does every other document of an author."
    )


# -- several -----------------------------------------------------------------------


def _composed_promise(composed: ComposedGuarantee) -> str:
    text = (
        f"For anyone who sees all {composed.releases} releases of a document, whatever "
        "they know besides, the odds between two words, or two documents, change by at "
        "most exp(t), where t is the sum of the exponents of the parts, each in its "
        "own metric."
    )
    if composed.epsilon is not None:
        text += (
            f" All share one metric: between words t is {composed.epsilon:.4g}·"
            f"d(w, w'), where d is the {_short_metric(composed.parts[0])} distance."
        )
    return text


def _composed_limits(composed: ComposedGuarantee) -> list[str]:
    limits = [
        limit
        for part in composed.parts
        for limit in [*_broken(part), *_limits(part)[:-1]]
    ]
    return [*dict.fromkeys(limits), _repetition(composed.releases)]


def composed_in_words(composed: ComposedGuarantee) -> str:
    """Promise and limits, as text of several lines."""
    limits = [f"- {limit}" for limit in _composed_limits(composed)]
    return "\n".join([_composed_promise(composed), "Not promised:", *limits])


def composed_as_html(composed: ComposedGuarantee) -> str:
    """The same for a notebook, with the parts as a table."""
    rows = []
    for part in composed.parts:
        rows.append(
            [
                part.releases,
                part.epsilon,
                part.lam,
                _short_metric(part),
                part.n_words,
                _scale_rows(part)[0][2],
            ]
        )
    names = ["releases", "ε", "λ", "metric", "words", "exponent to nearest word"]
    return page(
        f"Privacy guarantee of {composed.releases} releases",
        paragraph(_composed_promise(composed)),
        table(names, rows, caption="The parts; the exponents are medians."),
        paragraph("Not promised:"),
        bullets(_composed_limits(composed)),
    )
