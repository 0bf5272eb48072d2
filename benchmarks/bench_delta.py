"""Exponents with a small δ against pure ones, and what they cost to work out.

One command::

    python benchmarks/bench_delta.py [--delta 1e-6] [--repeats 3]

No data is needed. One BLAS thread, some ten seconds. Two tables are recorded: for the
noise of the default mechanism, texts of which every word is moved by the same distance;
and the time of ``exponent(x, y, delta=...)`` between documents of random words, whose
distances are all different.
"""

from __future__ import annotations

from functools import partial

import measuring
import numpy as np
from results import record

from skdptext import WordEmbedding
from skdptext.mechanisms import (
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
    word_losses,
)
from skdptext.privacy import PrivacyGuarantee

# dimension, ε and the distance by which each word is moved
MOVES = ((50, 8, 4), (300, 10, 4), (300, 15, 4), (300, 15, 8))
TEXTS = (1, 16, 64, 256)
DOCUMENTS = (1, 16, 128, 1024)
N_WORDS, DIM = 3000, 300


def exponents(delta: float) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for dim, epsilon, distance in MOVES:
        vectors = np.zeros((2, dim))
        vectors[1, 0] = distance
        channel = MahalanobisNoise().prepare(
            WordEmbedding(["a", "b"], vectors), epsilon, 0.0
        )
        guarantee = PrivacyGuarantee(channel, ordered=True)
        for n in TEXTS:
            x, y = ["a"] * n, ["b"] * n
            pure = guarantee.exponent(x, y)
            small = guarantee.exponent(x, y, delta=delta)
            rows.append(
                {"dimension": dim, "ε": epsilon, "distance": distance, "words": n,
                 "pure": pure, f"δ = {delta:g}": small, "share": small / pure}
            )  # fmt: skip
    return rows


def times(delta: float, repeats: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(N_WORDS)]
    table = WordEmbedding(names, 0.4 * rng.normal(size=(N_WORDS, DIM)))
    mechanisms: list[tuple[WordMechanism, float]] = [
        (MahalanobisNoise(), 15.0),
        (RandomizedResponse(), 6.0),
    ]
    rows: list[dict[str, object]] = []
    for mechanism, epsilon in mechanisms:
        channel = mechanism.prepare(table, epsilon, 0.0)
        word_losses(channel, np.array([0]), np.array([1]))  # what is kept per dimension
        guarantee = PrivacyGuarantee(channel)
        for n in DOCUMENTS:
            spent = []
            for _ in range(repeats):  # new words, as losses are kept
                x, y = (rng.choice(names, n).tolist() for _ in range(2))
                runs = [
                    partial(guarantee.exponent, x, y, delta=asked)
                    for asked in (0.0, delta)
                ]
                spent.append(measuring.rounds(runs, 1, warm=False)[0])
            pure, small = np.median(spent, axis=0)
            rows.append(
                {"mechanism": repr(mechanism), "words": n,
                 "pure, ms": 1000 * pure,
                 f"δ = {delta:g}, ms": 1000 * small}
            )  # fmt: skip
    return rows


def main() -> None:
    options = measuring.options(__doc__, delta=1e-6, repeats=3)
    record(
        "delta_exponents",
        exponents(options.delta),
        title="Exponents with a small δ, and pure ones",
        note=(
            "The noise of MahalanobisNoise, λ = 0. Texts of which every word is "
            "moved by the same distance; upper bounds, in nats."
        ),
    )
    record(
        "delta_time",
        times(options.delta, options.repeats),
        title="Time of an exponent with a small δ",
        note=(
            f"Bags of random words; V = {N_WORDS:,}, m = {DIM}; one thread; "
            "medians. The second column has all of the first in it."
        ),
    )


if __name__ == "__main__":
    main()
