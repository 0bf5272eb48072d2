"""The mechanisms that are compared, and the ε of each that makes them equal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from corpora import embedding, prior

from skdptext import DPWordPerturber
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Directional,
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    Ranked,
    SensitiveWords,
    WordClasses,
    WordLists,
    WordMechanism,
)
from skdptext.metrics import word_channel
from skdptext.privacy import tem_distance

# Bayes-optimal reconstruction, and nats to the nearest word, at which they are matched.
SUCCESSES = (0.10, 0.25, 0.50, 0.75)
EXPONENTS = (4.0, 8.0)
N_DRAWS = 50  # per word, of an estimated law
TOLERANCE = 0.01  # of a matched success

# Of each, the λ of its metric, and the mechanism for an embedding's name and an ε.
Make = Callable[[str, float], WordMechanism]
FIELD: dict[str, tuple[float, Make]] = {
    "Laplace noise": (0.0, lambda *_: MahalanobisNoise()),
    "Mahalanobis noise, λ = 0.5": (0.5, lambda *_: MahalanobisNoise()),
    "Vickrey over all words, t = 0.5": (0.0, lambda *_: MahalanobisNoise(second=0.5)),
    "Ranked Laplace noise": (0.0, lambda *_: Ranked(MahalanobisNoise())),
    "von Mises–Fisher": (0.0, lambda *_: Directional("vmf")),
    "Purkayastha": (0.0, lambda *_: Directional("purkayastha")),
    "Exponential, half (SanText)": (0.0, lambda *_: Exponential("half")),
    "Exponential, exact": (0.0, lambda *_: Exponential()),
    "Exponential, exact, λ = 0.5": (0.5, lambda *_: Exponential()),
    "Exponential, balanced": (0.0, lambda *_: Exponential("balanced")),
    "Exponential, tight": (0.0, lambda *_: Exponential("tight")),
    "TEM": (0.0, lambda table, epsilon: tem(table, epsilon)),
    "Ranked exponential": (0.0, lambda *_: Ranked(Exponential())),
    "SanText+, rarer half": (0.0, lambda table, _: santext_plus(table)),
    "Randomized response": (0.0, lambda *_: RandomizedResponse()),
    "1-Diffractor, one list": (0.0, lambda *_: WordLists()),
    "CusText, classes of 20": (0.0, lambda *_: WordClasses(20)),
}


def tem(table: str, epsilon: float) -> WordMechanism:
    cap = tem_distance(len(embedding(table)), epsilon)
    return Exponential("half", max_distance=cap)


def santext_plus(table: str) -> WordMechanism:
    words = embedding(table).words
    return SensitiveWords(Exponential(), words[len(words) // 2 :])


def perturber(name: str, table: str, epsilon: float, **options: object):
    """The estimator for one mechanism, embedding and ε."""
    lam, make = FIELD[name]
    return DPWordPerturber(
        embedding(table), epsilon=epsilon, lam=lam, mechanism=make(table, epsilon),
        **{"document_length": 1, **options},
    )  # fmt: skip


def channel(name: str, table: str, epsilon: float):
    """Its law, exact or estimated, with the public prior."""
    return word_channel(
        perturber(name, table, epsilon),
        prior=prior(table),
        n_draws=N_DRAWS,
        random_state=0,
    )


def nearest_and_random(table: str, n: int = 200) -> tuple[np.ndarray, ...]:
    """Frequent words, the nearest of each, and a random one of each."""
    vectors = embedding(table).vectors[:].astype(np.float64)
    words = np.random.default_rng(0).choice(
        len(vectors), n, replace=False, p=prior(table)
    )
    squares = (vectors**2).sum(axis=1)
    gaps = squares - 2 * vectors[words] @ vectors.T
    gaps[np.arange(n), words] = np.inf
    others = np.random.default_rng(1).integers(1, len(vectors), size=n)
    return words, gaps.argmin(axis=1), (words + others) % len(vectors)


def to_nearest(name: str, table: str, epsilon: float) -> float:
    """Median exponent between a word and its nearest, in nats."""
    words, near, _ = nearest_and_random(table)
    law = perturber(name, table, epsilon).fit([]).mechanism_
    return float(np.median(np.diag(law.exponents(words, near))))


def match(name: str, table: str) -> dict[str, list[dict[str, float | None]]]:
    """The ε at which each aim is met, and what is met there; None where none is."""

    def success(epsilon: float) -> float:
        return channel(name, table, epsilon).vulnerability().value

    return {
        "success": [_solve(success, aim, TOLERANCE) for aim in SUCCESSES],
        "exponent": [
            _solve(lambda e: to_nearest(name, table, e), aim, 0.01 * aim)
            for aim in EXPONENTS
        ],
    }


def _solve(
    measure: Callable[[float], float], aim: float, tolerance: float
) -> dict[str, float | None]:
    """Bisection on ln ε; where ε is not feasible, it counts as too small."""
    low, high = math.log(0.02), math.log(2000.0)
    best: dict[str, float | None] = {"aim": aim, "epsilon": None, "found": None}
    while high - low > 1e-3:
        middle = (low + high) / 2
        try:
            found = measure(math.exp(middle))
        except InvalidParameterError:
            low = middle
            continue
        if abs(found - aim) <= tolerance:
            return {"aim": aim, "epsilon": math.exp(middle), "found": found}
        low, high = (middle, high) if found < aim else (low, middle)
    return best
