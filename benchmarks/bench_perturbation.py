"""Throughput of `DPWordPerturber.transform` against the bare matrix product.

One command::

    python benchmarks/bench_perturbation.py [--repeats 11] [--threads 1 2]

Token lists under the 30,000 × 300 table (``w2v_news_fiction_30k_300d.npz`` in the
folder named by SKDPTEXT_TEST_DATA, or ../shared/data). Documents
of 8 words and of 400 take turns with the bare product, with the same number of BLAS
threads. The ratio is the median of those of a turn and the products just before and
after it, as the speed of a machine changes. The bare product multiplies the words'
float32 vectors with the table, 512 rows at a time, and does nothing with the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

import measuring
import numpy as np
from real_data import load_table
from results import record
from threadpoolctl import threadpool_limits

from skdptext import DPWordPerturber, WordEmbedding

EPSILON = 10.0
LENGTHS = 8, 400


def bench(
    embedding: WordEmbedding, n_words: int, repeats: int, n_threads: list[int]
) -> Iterator[dict[str, object]]:
    vectors = embedding.vectors
    ids = np.random.default_rng(0).integers(0, len(embedding), n_words)
    words = embedding.word_array[ids].tolist()
    rows = vectors[ids]

    def product() -> None:
        for start in range(0, n_words, 512):
            rows[start : start + 512] @ vectors.T

    settings = ((0.0, None), (0.5, None), (1.0, None), (0.5, 0))
    for threads, (lam, seed), length in itertools.product(n_threads, settings, LENGTHS):
        perturber = DPWordPerturber(
            embedding, epsilon=EPSILON, lam=lam, random_state=seed
        ).fit([])
        documents = [words[i : i + length] for i in range(0, n_words, length)]
        run = partial(perturber.transform, documents)
        with threadpool_limits(threads, user_api="blas"):
            times = measuring.rounds([product, run, product], repeats)
        bare, ours, after = times.T
        bare = (bare + after) / 2
        yield {
            "threads": threads,
            "words per document": length,
            "λ": lam,
            "seed": "fresh" if seed is None else "fixed",
            "transform, words/s": n_words / np.median(ours),
            "product, words/s": n_words / np.median(bare),
            "ratio": np.median(bare / ours),
        }


def main() -> None:
    given = measuring.options(__doc__, repeats=11, words=4096, threads=[1, 2])
    embedding = load_table()
    record(
        "perturbation",
        measuring.shown(bench(embedding, given.words, given.repeats, given.threads)),
        title=f"Transform against the bare float32 product, V = {len(embedding):,}",
        note=f"{given.words:,} words, m = {embedding.dim}, ε = {EPSILON:g}; medians.",
    )


if __name__ == "__main__":
    main()
