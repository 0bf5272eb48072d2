"""What is promised between two documents that are redrawn, and what a bottleneck says.

One command, some three minutes on one thread; no data is needed::

    python benchmarks/bench_redrawn.py [--pairs 100] [--delta 1e-6]

Docstrings, of which 40 words are drawn, with ``resize="sample"``; the built-in vectors
of the first 4,000 words, λ = 0. The words are independent draws from one mixture, so
that 40 times its exponent is exact. A bottleneck follows each word from one document to
the other instead, and counts the longest step 40 times.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import measuring
import numpy as np
from results import bracketed, record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.mechanisms import (
    Exponential,
    LossDistribution,
    MahalanobisNoise,
    WordChannel,
    WordClasses,
    WordMechanism,
    word_losses,
)
from skdptext.transport import bottleneck_distance, matching_plan

N_WORDS, DRAWN = 4000, 40
# At the first ε, half of the words change; classes have the same ε, and noise the one
# at which half of the words change.
MECHANISMS: tuple[tuple[WordMechanism, float], ...] = (
    (Exponential(), 3.26),
    (WordClasses(20), 3.26),
    (WordClasses(400), 3.26),
    (MahalanobisNoise(), 13.2),
)


def pairs(
    documents: list[list[str]], embedding: WordEmbedding, n: int
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Documents with one word replaced by any word, and beside other documents."""
    rng = np.random.default_rng(0)
    for i in rng.choice(len(documents), n, replace=False):
        x = documents[i]
        y = list(x)
        y[rng.integers(len(x))] = embedding.words[rng.integers(len(embedding))]
        yield "one word replaced", x, y
        yield "another document", x, documents[rng.integers(len(documents))]


def by_bottleneck(
    channel: WordChannel, x: list[str], y: list[str], delta: float
) -> tuple[float, float]:
    """Pure, and with δ, from the steps of a plan that moves x's words to y's."""
    counts = Counter(x), Counter(y)
    words, others = (channel.embedding.find(list(count)) for count in counts)
    # over the common denominator, frequencies are whole numbers
    supply = np.array(list(counts[0].values())) * len(y)
    demand = np.array(list(counts[1].values())) * len(x)
    costs = channel.exponents(words, others)
    longest = bottleneck_distance(supply, demand, costs)
    if not np.isfinite(longest):
        return np.inf, np.inf
    plan = matching_plan(supply, demand, np.where(costs > longest, np.inf, costs))
    rows, columns = plan.nonzero()
    weights = plan[rows, columns] / plan.sum()
    moved = words[rows] != others[columns]
    losses = word_losses(channel, words[rows][moved], others[columns][moved])
    losses.append(LossDistribution.of_exponents(0, 0))
    shares = np.append(weights[moved], weights[~moved].sum())
    each = LossDistribution.mixture(losses, shares)
    pure = DRAWN * longest
    return pure, min(pure, each.times(DRAWN).exponent(delta))


def rows(n: int, delta: float) -> Iterator[dict[str, object]]:
    embedding = load_docstring_embedding().restrict(N_WORDS)
    texts = load_docstrings().data
    for mechanism, epsilon in MECHANISMS:
        perturber = DPWordPerturber(
            embedding, epsilon=epsilon, lam=0.0, mechanism=mechanism,
            document_length=DRAWN, resize="sample",
        ).fit([])  # fmt: skip
        guarantee = perturber.guarantee()
        channel = mechanism.prepare(embedding, epsilon, 0.0)
        documents = [list(document) for document in perturber.known_words(texts)]
        exponents: dict[str, list[tuple[float, ...]]] = {}
        for what, x, y in pairs(documents, embedding, n):
            now = [guarantee.exponent(x, y, delta=d) for d in (0.0, delta)]
            exponents.setdefault(what, []).append(
                (*by_bottleneck(channel, x, y, delta), *now)
            )
        for what, values in exponents.items():
            # no interpolation, as some are infinite
            low, median, high = np.quantile(
                values, (0.25, 0.5, 0.75), axis=0, method="inverted_cdf"
            )
            row: dict[str, object] = {
                "mechanism": repr(mechanism), "ε": epsilon, "documents": what,
            }  # fmt: skip
            for i, name in enumerate(
                ("bottleneck", f"bottleneck, δ = {delta:g}",
                 "promised", f"promised, δ = {delta:g}")
            ):  # fmt: skip
                row[name] = "∞"
                if np.isfinite(median[i]):
                    row[name] = bracketed(median[i], low[i], high[i], 1)
            yield row


def main() -> None:
    options = measuring.options(__doc__, pairs=100, delta=1e-6)
    warnings.simplefilter("ignore")  # words that the vectors lack are left out
    record(
        "redrawn",
        measuring.shown(rows(options.pairs, options.delta)),
        title="Documents redrawn to 40 words: the promise, and a bottleneck's bound",
        note=(
            "Exponents between two docstrings in nats, medians and quartiles of "
            f"{options.pairs} pairs: one of the words is replaced by any word of the "
            "vocabulary, or all of them are another docstring's. Bottleneck: 40 times "
            "the longest step that a plan needs to move the words of one document to "
            "those of the other; with δ, the losses of all of its steps. Promised: by "
            "guarantee(). The first 4,000 words of the built-in vectors, λ = 0."
        ),
    )


if __name__ == "__main__":
    main()
