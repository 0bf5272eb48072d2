"""Adversaries who read no word: where things repeat, how often, and how long they are.

A code that answers each word, or each character, with a fixed other hides what is said
and keeps where it is said again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skdptext.attacks._similarity import bags_of, numbered, tf_idf_cosines, words_of

# Words or characters of a text whose places are compared: more tell texts no better.
_PLACES = 500
# Units of originals and releases belong together where their numbers agree so well.
_AGREE = 0.1
# Characters that stand for one at most: bits of bytes, and of UTF-16.
_MOST_PER_UNIT = 16
# The most frequent words of a text whose numbers are compared.
_COUNTED = 200


def _written(document: Any) -> list[str]:
    return document.split() if isinstance(document, str) else list(document)


def _characters(document: Any) -> list[str]:
    return list(document if isinstance(document, str) else " ".join(document))


_UNITS: dict[str, Callable[[Any], list[str]]] = {
    "words": words_of,
    "words between blanks": _written,
    "characters": _characters,
}


def pattern_similarities(
    original: Sequence[Any], released: Sequence[Any]
) -> dict[str, np.ndarray]:
    """How like in pattern each original every release is, (n_released, n_originals).

    Of those patterns that both lists have.
    """
    clear = {name: [part(d) for d in original] for name, part in _UNITS.items()}
    noisy = {name: [part(d) for d in released] for name, part in _UNITS.items()}
    scores: dict[str, np.ndarray | None] = {}
    for name, units in noisy.items():
        if name == "words between blanks" and units == noisy["words"]:
            continue
        other, size = _agreeing(units, clear)
        if not size:
            continue
        sized = [_grouped(document, size) for document in units]
        who = f"{name} repeat"
        if name != other:
            who += f" as {other} of the original do"
        of_words = "characters" not in (name, other)
        if of_words:
            scores[f"how often {who}"] = _counts_alike(sized, clear[other])
        scores[f"where {who}"] = _cosines(sized, clear[other], _places)
        if of_words:
            scores[f"how far apart {who}"] = _cosines(sized, clear[other], _gaps)
    written = noisy["words between blanks"], clear["words between blanks"]
    scores["lengths of words, in order"] = _cosines(*written, _lengths)
    scores["letters that repeat in words"] = _cosines(*written, _shapes)
    for name in ("words", "characters"):
        scores[f"number of {name}"] = _lengths_alike(noisy[name], clear[name])
    return {kind: alike for kind, alike in scores.items() if alike is not None}


def _agreeing(
    units: list[list[str]], clear: dict[str, list[list[str]]]
) -> tuple[str, int]:
    """Units of originals of which there are as many, and how many stand for one.

    0 where there are none such.
    """
    median = float(np.median([len(document) for document in units]))
    best, found = _AGREE, ("", 0)
    for name, others in clear.items():
        each = median / max(float(np.median([len(d) for d in others])), 1)
        size = max(1, round(each))
        if size <= _MOST_PER_UNIT and abs(each / size - 1) < best:
            best, found = abs(each / size - 1), (name, size)
    return found


def _grouped(units: list[str], size: int) -> list[Any]:
    if size == 1:
        return units
    return [tuple(units[i : i + size]) for i in range(0, len(units), size)]


def _back(units: Sequence[Any]) -> list[int]:
    """How far back each unit occurred last; 0 for its first time."""
    units = units[:_PLACES]
    if len(set(units)) == len(units):  # as in most words: no letter twice
        return [0] * len(units)
    last: dict[Any, int] = {}
    back = []
    for place, unit in enumerate(units):
        back.append(place - last.get(unit, place))
        last[unit] = place
    return back


def _places(units: Sequence[Any]) -> list[Any]:
    """Each place at which something is repeated, with where it stood last."""
    repeats = [(place, back) for place, back in enumerate(_back(units)) if back]
    return [*repeats, ("length", len(units))]


def _gaps(units: Sequence[Any]) -> list[Any]:
    """The same without places, which a word in front would move."""
    repeats = [(place, back) for place, back in enumerate(_back(units)) if back]
    return [
        (second[0] - first[0], first[1], second[1])
        for first, second in pairwise(repeats)
    ] + [back for _, back in repeats]


def _lengths(units: Sequence[Any]) -> list[Any]:
    return [(place, len(unit)) for place, unit in enumerate(units[:_PLACES])]


def _shapes(units: Sequence[Any]) -> list[Any]:
    """Words as patterns of their letters: "that" and "gung" are alike."""
    return [(len(unit), *_back(unit)[:30]) for unit in units[:_PLACES]]


def _cosines(
    released: list[list[Any]],
    original: list[list[Any]],
    features: Callable[[Sequence[Any]], list[Any]],
) -> np.ndarray | None:
    """Cosines of weighted features; None if no two originals differ in them."""
    each = [list(map(features, texts)) for texts in (original, released)]
    names, (clear, noisy) = numbered(*each)
    if not names or len({tuple(codes) for codes in clear}) < 2:
        return None
    return tf_idf_cosines(*(bags_of(codes, len(names)) for codes in (noisy, clear)))


def _counts_alike(released: list[list[Any]], original: list[list[Any]]) -> np.ndarray:
    """Minus the difference of how often the most frequent units occur."""

    def counts(documents: list[list[Any]]) -> np.ndarray:
        rows = np.zeros((len(documents), _COUNTED))
        for row, units in zip(rows, documents, strict=True):
            most = sorted(Counter(units).values(), reverse=True)[:_COUNTED]
            row[: len(most)] = most
        return rows

    return -cdist(counts(released), counts(original), "cityblock")


def _lengths_alike(
    released: list[list[str]], original: list[list[str]]
) -> np.ndarray | None:
    """Minus the difference of lengths, as ratios, but for what all have in common."""
    noisy, clear = (
        np.log1p([len(document) for document in documents])
        for documents in (released, original)
    )
    if len(np.unique(noisy)) == 1 or len(np.unique(clear)) == 1:
        return None
    shift = np.median(noisy) - np.median(clear)
    return -np.abs(np.subtract.outer(noisy - shift, clear))
