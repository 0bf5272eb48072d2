"""Pairs of words where a false claim of privacy shows first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.search import k_nearest_words
from skdptext.utils import check_real, kind_of


def nearest_pairs(
    guarantee: Any, n_words: int, rng: np.random.Generator
) -> list[tuple[float, tuple[str, str]]]:
    """Claims for pairs of nearest words, the smallest claim first.

    The nearest are found for `n_words` words; a larger embedding is sampled.
    """
    embedding = getattr(guarantee, "embedding", None)
    if not isinstance(embedding, WordEmbedding) or len(embedding) < 2:
        raise InvalidParameterError(
            "pairs must be given where guarantee().embedding is not a WordEmbedding of "
            f"2 words or more, got pairs=None and {kind_of(embedding)}."
        )
    sample = rng.permutation(len(embedding))[:n_words]
    vectors = embedding.vectors
    near = k_nearest_words(vectors[sample], vectors, 1, exclude=sample)[0][:, 0]
    return _ranked(guarantee, np.stack([sample, near], axis=1))


def choose_pairs(
    guarantee: Any,
    n_pairs: int,
    rng: np.random.Generator,
    *,
    close: list[tuple[float, tuple[str, str]]],
    suspects: list[tuple[str, str]],
    ceiling: float,
) -> list[tuple[str, str]]:
    """Close pairs first, then pairs from sparser regions, suspects, random ones.

    Pairs differ; there are fewer than `n_pairs` if the embedding does not have that
    many. `close` is the result of `nearest_pairs`. The `suspects`, at most a quarter of
    `n_pairs` plus one, are among the chosen ones. Claims above the `ceiling` cannot be
    refuted by the draws: such pairs come last.
    """
    n_words = len(guarantee.embedding)
    n_random = min(4 * n_pairs, n_words * (n_words - 1))
    first = rng.integers(0, n_words, n_random)
    other = (first + rng.integers(1, n_words, n_random)) % n_words
    far = _ranked(guarantee, np.stack([first, other], axis=1))

    n_close = -(-n_pairs // 2)
    shown = [pair for claim, pair in close if claim <= ceiling][n_close:]
    n_spread = min(n_pairs // 4, len(shown))
    spread = [shown[i] for i in np.linspace(0, len(shown) - 1, n_spread).astype(int)]
    within = [pair for claim, pair in far if claim <= ceiling]
    picks = [within[i] for i in rng.permutation(len(within))]
    # Leftover pairs fill up if there are too few of one kind.
    ordered = [pair for _, pair in close[:n_close]] + spread + suspects
    ordered += picks[: n_pairs - len(ordered)] + [pair for _, pair in close + far]
    return list(dict.fromkeys(ordered))[:n_pairs]


def claimed_exponent(guarantee: Any, word: str, other: str) -> float:
    """The claim of a guarantee, of any implementation, for two words."""
    claim = guarantee.exponent(word, other)
    if getattr(claim, "ndim", None) == 0:
        claim = claim.item()  # a scalar of NumPy or the like
    if claim == math.inf:  # nothing is promised, so nothing can be refuted
        return math.inf
    name = f"perturber.guarantee().exponent({word!r}, {other!r})"
    return check_real(name, claim, low=0)


def _ranked(guarantee: Any, ids: np.ndarray) -> list[tuple[float, tuple[str, str]]]:
    """Different pairs with their claims, the smallest claim first."""
    words = guarantee.embedding.word_array
    pairs = [(words[a], words[b]) for a, b in np.unique(np.sort(ids, axis=1), axis=0)]
    claims = [claimed_exponent(guarantee, *pair) for pair in pairs]
    return sorted(zip(claims, pairs, strict=True))
