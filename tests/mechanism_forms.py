"""Every mechanism that is offered, in each of its forms: the one list of them."""

from __future__ import annotations

import numpy as np

from skdptext import WordEmbedding
from skdptext.mechanisms import (
    Directional,
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    SensitiveWords,
    TopicResponse,
    WordClasses,
    WordLists,
    WordMechanism,
)


def forms(embedding: WordEmbedding) -> dict[str, WordMechanism]:
    """By name, for an embedding of a dozen words or more."""
    n, thirds = len(embedding), embedding.words[::3]
    ids = np.arange(n, dtype="i4")
    scores = np.random.default_rng(0).normal(size=(n, 3))
    scores *= np.logspace(-2, 0, n)[:, None]
    return {
        "noise": MahalanobisNoise(),
        "Vickrey": MahalanobisNoise(second=0.4),
        "second always": MahalanobisNoise(second=1),
        "directions": Directional(),
        "directions by angle": Directional("purkayastha"),
        "randomized response": RandomizedResponse(),
        "exact": Exponential(),
        "half": Exponential("half"),
        "balanced": Exponential("balanced"),
        "tight": Exponential("tight"),
        "capped": Exponential(max_distance=0.7),
        "half, capped": Exponential("half", 0.7, sampler="lazy"),
        "public outputs": Exponential(outputs=thirds),
        "ranks": Ranked(spread=1.5),
        "ranks of Vickrey": Ranked(MahalanobisNoise(second=0.5)),
        "ranks of an exponential": Ranked(Exponential("half"), spread=0.8),
        "wide ranks": Ranked(RandomizedResponse(), spread=100.0),
        "sensitive": SensitiveWords(words=thirds),
        "sensitive, half": SensitiveWords(Exponential("half"), words=thirds),
        "sensitive, tight": SensitiveWords(Exponential("tight"), words=thirds),
        "sensitive, all move": SensitiveWords(words=thirds, probability=1),
        "sensitive, half, all move": SensitiveWords(
            Exponential("half"), words=thirds, probability=1
        ),
        "sensitive, none moves": SensitiveWords(words=set(thirds), probability=0),
        "list": WordLists(),
        "lists": WordLists(3),
        "random lists": WordLists(2, order="random"),
        "list given": WordLists(order=ids[::-1].copy()),
        "classes": WordClasses(7),
        "small classes": WordClasses(4),
        "one word a class": WordClasses(1),
        "labels": WordClasses([i % 4 for i in range(n)]),
        "topics": TopicResponse(scores, topics=["sport", "trade", "law"]),
    }
