"""The mechanisms that are compared, and the ε of each that makes them equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from experiments import kept
from experiments.mechanisms.corpora import embedding, prior
from experiments.mechanisms.recipes import (
    CusText,
    Diffractor,
    Ranked,
    SanTextPlus,
    Vickrey,
)
from sklearn.cluster import KMeans

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import transitions_of
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)

SUCCESS, TOLERANCE = 0.5, 0.01  # of the best guess, at which they are matched
N_DRAWS = 30  # per word, of an estimated law; to match by, a third of them do

# Of each, the λ of its metric, and the mechanism for an embedding and an ε.
Make = Callable[[WordEmbedding, float], WordMechanism]
FIELD: dict[str, tuple[float, Make]] = {
    "Laplace noise": (0.0, lambda *_: MahalanobisNoise()),
    "Mahalanobis noise, λ = 0.5": (0.5, lambda *_: MahalanobisNoise()),
    "Exponential, half (SanText)": (0.0, lambda *_: Exponential("half")),
    "Exponential, exact": (0.0, lambda *_: Exponential()),
    "TEM": (
        0.0,
        lambda table, epsilon: Exponential(
            "half", 2 / epsilon * math.log(0.999 * (len(table) - 1) / 0.001)
        ),
    ),
    "Randomized response": (0.0, lambda *_: RandomizedResponse()),
    "Vickrey, t = 0.5": (0.0, lambda *_: Vickrey()),
    "Ranked Laplace noise": (0.0, lambda *_: Ranked()),
    "SanText+, rarer half": (
        0.0,
        lambda table, _: SanTextPlus(table.words[len(table) // 2 :]),
    ),
    "1-Diffractor, one list": (0.0, lambda *_: Diffractor()),
    "CusText, classes of about 20": (0.0, lambda table, _: CusText(_classes(table))),
}
# Its row in the tables of use; it releases no words, so that nothing is matched.
REPLACED = "Replaced documents, ε = 4, K = 8"


@cache
def _classes(table: WordEmbedding) -> list[int]:
    """Of each word, by its vector."""
    means = KMeans(len(table) // 20, n_init=1, random_state=0)
    return means.fit_predict(table.vectors).tolist()


def perturber(name: str, table: str, epsilon: float, **options: object):
    """The estimator for one mechanism, embedding and ε."""
    lam, make = FIELD[name]
    return DPWordPerturber(
        embedding(table), epsilon=epsilon, lam=lam,
        mechanism=make(embedding(table), epsilon),
        **{"document_length": 1, **options},
    )  # fmt: skip


def channel(name: str, table: str, epsilon: float, n_draws: int = N_DRAWS):
    """Its law, exact or estimated, with the public prior."""
    return transitions_of(
        perturber(name, table, epsilon).fit([]).mechanism_,
        prior=prior(table),
        n_draws=n_draws,
        random_state=0,
    )


def guessed(law: np.ndarray, table: str) -> float:
    """How often the written word is the likeliest, if Pr[z | w] is right."""
    return float((law * prior(table)[:, None]).max(axis=0).sum())


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


@kept
def matched(name: str, table: str) -> float | None:
    """The ε at which the best guess is right for half of the words; None where none is.

    By halving ln ε. Where ε is not feasible, it counts as too small.
    """
    low, high = math.log(0.02), math.log(2000.0)
    while high - low > 1e-3:
        epsilon = math.exp((low + high) / 2)
        try:
            success = guessed(channel(name, table, epsilon, N_DRAWS // 3), table)
        except InvalidParameterError:
            success = 0.0
        if abs(success - SUCCESS) <= TOLERANCE:
            return epsilon
        low, high = (
            (math.log(epsilon), high) if success < SUCCESS else (low, math.log(epsilon))
        )
    return None
