"""Exponents with a small δ against pure ones.

One command::

    python benchmarks/bench_delta.py [--delta 1e-6]

No data is needed. Recorded are, for the noise of the default mechanism, texts of which
every word is moved by the same distance.
"""

from __future__ import annotations

import measuring
import numpy as np
from results import record

from skdptext import WordEmbedding
from skdptext.mechanisms import MahalanobisNoise
from skdptext.privacy import PrivacyGuarantee

# dimension, ε and the distance by which each word is moved
MOVES = ((50, 8, 4), (300, 10, 4), (300, 15, 4), (300, 15, 8))
TEXTS = (1, 16, 64, 256)


def exponents(delta: float) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for dim, epsilon, distance in MOVES:
        vectors = np.zeros((2, dim))
        vectors[1, 0] = distance
        mechanism = MahalanobisNoise().prepare(
            WordEmbedding(["a", "b"], vectors), epsilon, 0.0
        )
        guarantee = PrivacyGuarantee(mechanism, ordered=True)
        for n in TEXTS:
            x, y = ["a"] * n, ["b"] * n
            pure = guarantee.exponent(x, y)
            small = guarantee.exponent(x, y, delta=delta)
            rows.append(
                {"dimension": dim, "ε": epsilon, "distance": distance, "words": n,
                 "pure": pure, f"δ = {delta:g}": small, "share": small / pure}
            )  # fmt: skip
    return rows


def main() -> None:
    record(
        "delta_exponents",
        exponents(measuring.options(__doc__, delta=1e-6).delta),
        title="Exponents with a small δ, and pure ones",
        note=(
            "The noise of MahalanobisNoise, λ = 0. Texts of which every word is "
            "moved by the same distance; upper bounds, in nats."
        ),
    )


if __name__ == "__main__":
    main()
