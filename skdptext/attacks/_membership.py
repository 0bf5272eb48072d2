"""Synthetic texts: which texts were they made from, and what do they copy?

Nobody knows which synthetic text belongs to which original, if any does. Adversaries
hold texts that were used and texts of the same source that were not, and tell the ones
from the others. They are given both in one list, so that nothing but the synthetic
texts can tell them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from skdptext.attacks._similarity import text_similarities, words_of
from skdptext.attacks._table import Score
from skdptext.attacks._words_left import SPAN, sentences_of, spans_of
from skdptext.utils import (
    Excess,
    Membership,
    blocks,
    mean_interval,
    membership,
    minus_control,
    share_interval,
)

# Words of the spans that are looked for.
_SPANS = (1, 2, 3, 5)
# Synthetic texts that are compared with all others at a time, and at most; spans are
# looked for in all of them.
_AT_ONCE, MOST_COMPARED = 2000, 10_000


def membership_scores(
    texts: Sequence[Any], synthetic: Sequence[Any]
) -> dict[str, np.ndarray]:
    """How sure each adversary is that a text was used, shape (n_texts,) each.

    By how like the nearest synthetic text is; and by the words, and spans of words, of
    the text and of no other that are in any synthetic text.
    """
    scores: dict[str, np.ndarray] = {}
    for block in blocks(min(len(synthetic), MOST_COMPARED), _AT_ONCE):
        for by, score in text_similarities(texts, synthetic[block]).items():
            name, nearest = f"nearest by {by}", score.max(axis=0)
            scores[name] = np.maximum(nearest, scores.get(name, nearest))
    words = [words_of(text) for text in texts]
    made = [words_of(text) for text in synthetic]
    for n in _SPANS:
        name = f"own spans of {n} words" if n > 1 else "own words"
        scores[name] = _own_spans(words, made, n)
    return scores


def membership_rows(
    training: Sequence[Any],
    control: Sequence[Any],
    synthetic: Sequence[Any],
    *,
    authors: tuple[np.ndarray, np.ndarray] | None = None,
    seed: int = 0,
) -> tuple[list[Score], Membership, dict[str, Excess]]:
    """What synthetic texts give away of those that they were made from.

    Each score is what is found of the training texts, less what is found of the control
    texts. `authors`: their numbers; −1 for texts that do not count.
    """
    scores = membership_scores([*training, *control], synthetic)
    columns = np.stack(list(scores.values()), axis=1)
    used, others = columns[: len(training)], columns[len(training) :]
    rng = np.random.default_rng([seed, 5])
    found = membership(used, others, rng)
    names = list(scores)
    rows = _rows_of("membership", found, names)
    if authors is not None:
        means = by_author(used, authors[0]), by_author(others, authors[1])
        rows += _rows_of("membership of authors", membership(*means, rng), names)
    copies = copied(training, control, synthetic)
    n = min(len(training), len(control))
    rows += [
        _beyond(f"copies beyond control: {what}", "reading", excess, n)
        for what, excess in copies.items()
    ]
    return rows, found, copies


def _rows_of(what: str, found: Membership, names: Sequence[str]) -> list[Score]:
    """Whether a text, or an author, was used: of two; at best; and nearly surely."""
    n = min(found.n_members, found.n_others)
    ends = found.area, found.area_low, found.area_high
    return [
        Score(what, names[found.area_by], *ends, 0.5, n),
        _beyond(f"{what}, at best", names[found.advantage_by], found.advantage, n),
        _beyond(f"{what}, if sure", names[found.sure_by], found.sure, n),
    ]


def _beyond(question: str, by: str, excess: Excess, n: int) -> Score:
    return Score(question, by, *excess[:3], 0.0, n)


def _own_spans(
    words: Sequence[Sequence[str]], made: Sequence[Sequence[str]], n: int
) -> np.ndarray:
    """Share of the spans that are a text's alone that some synthetic text has."""
    spans = [spans_of(text, n) for text in words]
    held = Counter(span for text in spans for span in text)
    found = set().union(*(spans_of(text, n) for text in made))
    own = [{span for span in text if held[span] == 1} for text in spans]
    # one more, of which half is found, so that texts with none stand in the middle
    return np.array([(len(text & found) + 0.5) / (len(text) + 1) for text in own])


def copied(
    training: Sequence[Any], control: Sequence[Any], synthetic: Sequence[Any]
) -> dict[str, Excess]:
    """What synthetic texts hold of the training texts, minus what they hold of others.

    Whole texts; sentences, and spans of five words.
    """
    made = [words_of(text) for text in synthetic]
    whole = set(map(tuple, made))
    spans = set().union(*(spans_of(text) for text in made))
    sentences = set().union(*map(sentences_of, synthetic))
    parts = {
        "whole texts": (lambda text: {tuple(words_of(text))} - {()}, whole),
        "sentences": (sentences_of, sentences),
        f"spans of {SPAN} words": (
            lambda text: spans_of(words_of(text)), spans
        ),
    }  # fmt: skip
    found = {}
    for name, (split, there) in parts.items():
        risk, base = (
            _shares(map(split, texts), there) for texts in (training, control)
        )
        if len(risk) and len(base):
            interval = share_interval if name == "whole texts" else mean_interval
            found[name] = minus_control(risk, base, interval)
    return found


def _shares(parts: Iterable[set[Any]], there: set[Any]) -> np.ndarray:
    """Share of the parts of each text that are there; of texts that have parts."""
    return np.array([len(text & there) / len(text) for text in parts if text])


def by_author(scores: np.ndarray, authors: np.ndarray) -> np.ndarray:
    """Mean scores of the texts of each author, shape (n_authors, n_adversaries).

    `authors` are numbers; of texts with a negative one nothing is seen.
    """
    scores, authors = scores[authors >= 0], authors[authors >= 0]
    _, numbers = np.unique(authors, return_inverse=True)
    weights = np.bincount(numbers)[:, None]
    sums = np.zeros((len(weights), scores.shape[1]))
    np.add.at(sums, numbers, scores)
    return sums / weights
