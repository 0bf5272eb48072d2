"""Which words of the originals are left, guessed or copied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._similarity import split_words, words_of
from skdptext.attacks._table import Score, read_off
from skdptext.utils import mean_interval, share_interval

# Releases of other documents that each original is compared with, for chance.
_OTHERS = 10
# Words of a span that is called a copy; words of a sentence that is no commonplace.
SPAN = 5
_SENTENCE_END = re.compile(r"[.!?…。！？؟۔।\n]+")
# Share of documents that a common word occurs in.
_RARE = 1e-3
# Share of the releases that a placeholder is in.
_PLACEHOLDER = 0.2


def spelled(document: Any) -> list[str]:
    """Words of a text, or of a token list, as this report spells and parts them."""
    return split_words(document if isinstance(document, str) else " ".join(document))


def common_words(public: Sequence[Any]) -> set[str]:
    """Words in at least 1 in 1,000 of public texts."""
    texts_with = Counter(word for text in public for word in set(spelled(text)))
    return {w for w, n in texts_with.items() if n >= max(1, _RARE * len(public))}


def known_words(
    original: Sequence[Any], released: Sequence[Any]
) -> tuple[float, float]:
    """Shares of words: of releases that originals hold, of an original that others do.

    Placeholders, in a fifth of the releases and in no original, need no reading.
    """
    clear, noisy = (list(map(words_of, texts)) for texts in (original, released))
    texts_with, often = (
        Counter(word for words in texts for word in set(words))
        for texts in (clear, noisy)
    )
    most = max(1, _PLACEHOLDER * len(noisy))
    left = [
        sum(w in texts_with for w in words)
        / max(1, sum(w in texts_with or often[w] <= most for w in words))
        for words in noisy
    ]
    usual = [np.mean([texts_with[w] > 1 for w in words]) for words in clear if words]
    return float(np.mean(left)), float(np.mean(usual)) if usual else 0.0


def word_scores(texts: ReleasedTexts, common: set[str] | None) -> list[Score]:
    """Words of the originals that are left in the releases, and rare ones."""
    counts, left = ([Counter(w) for w in part] for part in (texts.clear, texts.noisy))
    shares = np.array([_overlap(a, b) for a, b in zip(counts, left, strict=True)])
    chance = _by_chance(texts, np.arange(len(texts)), counts, left)
    by = "the released word itself"
    rows = [read_off("words", shares, chance, mean_interval, by)]
    return rows + _rare_words(texts, common)


def _rare_words(texts: ReleasedTexts, common: set[str] | None) -> list[Score]:
    """How many rare words are left as they were."""
    by = "public texts"
    # spelled alike on all sides, lest "Rome" be rare because public texts say "rome"
    written, shown = (
        [Counter(set(spelled(document))) for document in documents]
        for documents in (texts.original, texts.released)
    )
    if common is None:
        by = "these texts"
        texts_with = Counter(word for count in written for word in count)
        most = max(1, _RARE * len(texts))
        common = {word for word, n in texts_with.items() if n > most}
    rare = [Counter(count.keys() - common) for count in written]
    held = np.flatnonzero(list(map(bool, rare)))
    if not len(held):
        return []
    shares = np.array([_overlap(rare[i], shown[i]) for i in held])
    chance = _by_chance(texts, held, rare, shown)
    return [read_off("rare words", shares, chance, mean_interval, by)]


def _overlap(words: Counter[str], guess: Counter[str]) -> float:
    """Share of the words, as often as they occur, that are in the guess."""
    total = words.total()
    if not total:
        return 0.0
    small, large = sorted((words, guess), key=len)
    return sum(min(n, large[word]) for word, n in small.items()) / total


def _by_chance(
    texts: ReleasedTexts,
    rows: np.ndarray,
    counts: Sequence[Counter[str]],
    guess: Sequence[Counter[str]],
) -> float:
    """The mean overlap of `rows` with guesses from the releases of other documents."""
    n = len(texts)
    shifts = np.random.default_rng([texts.seed, 1]).integers(1, n, (len(rows), _OTHERS))
    shares = [
        _overlap(counts[i], guess[(i + shift) % n])
        for i, row in zip(rows, shifts.tolist(), strict=True)
        for shift in row
    ]
    return float(np.mean(shares))


def copies(texts: ReleasedTexts) -> list[Score]:
    """Shares of texts, sentences and spans of words that survive whole."""
    n = len(texts)
    spans = [[spans_of(words) for words in t] for t in (texts.clear, texts.noisy)]
    sentences = list(map(sentences_of, texts.original))
    joined = list(map(_joined, texts.noisy))

    def whole(i: int, j: int) -> float:
        return float(bool(texts.clear[i]) and texts.clear[i] == texts.noisy[j])

    def sentence(i: int, j: int) -> float:
        return float(np.mean([_joined(s) in joined[j] for s in sentences[i]]))

    def span(i: int, j: int) -> float:
        return len(spans[0][i] & spans[1][j]) / len(spans[0][i])

    rows = []
    shift = np.random.default_rng([texts.seed, 3]).integers(1, max(n, 2), n)
    for name, share, has, interval in (
        ("whole texts", whole, [True] * n, share_interval),
        ("sentences", sentence, list(map(bool, sentences)), mean_interval),
        (f"spans of {SPAN} words", span, list(map(bool, spans[0])), mean_interval),
    ):
        held = np.flatnonzero(has).tolist()
        if held:
            own = np.array([share(i, i) for i in held])
            others = [share(i, int(i + shift[i]) % n) for i in held]
            chance = float(np.mean(others))
            rows.append(read_off(f"copies: {name}", own, chance, interval))
    return rows


def spans_of(words: Sequence[str], n: int = SPAN) -> set[tuple[str, ...]]:
    """The different spans of n words on end."""
    return set(zip(*(words[i:] for i in range(n)), strict=False))


def sentences_of(document: Any) -> set[tuple[str, ...]]:
    """Sentences of five words or more."""
    parts = _SENTENCE_END.split(document) if isinstance(document, str) else []
    words = (tuple(split_words(part)) for part in parts)
    return {sentence for sentence in words if len(sentence) >= SPAN}


def _joined(words: Sequence[str]) -> str:
    """Words in a form that is found inside of others."""
    return "\0" + "\0".join(words) + "\0"
