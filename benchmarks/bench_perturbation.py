"""Throughput of `DPWordPerturber.transform` against the bare matrix product.

One command::

    python benchmarks/bench_perturbation.py [--repeats 11] [--tables real synthetic]
        [--threads 1 2]

Token lists under the 30,000 × 300 table (``w2v_news_fiction_30k_300d.npz`` in the
folder named by SKDPTEXT_TEST_DATA, or ../shared/data; without it, under a synthetic
table of the same size, which is said), and under a synthetic one of 100,000. Documents
of 8 words and of 400 take turns with the bare product, with the same number of BLAS
threads. The ratio is the median of those of a turn and the products just before and
after it, as the speed of a machine changes. The bare product multiplies the words'
float32 vectors with the table, 512 rows at a time, and does nothing with the result.
"""

from __future__ import annotations

from functools import partial

import measuring
import numpy as np
from real_data import load_table, numbered_words
from results import record
from threadpoolctl import threadpool_limits

from skdptext import DPWordPerturber, WordEmbedding

N_WORDS = 4_096
EPSILON = 10.0
LENGTHS = 8, 400


def synthetic(n_words: int, dim: int = 300) -> WordEmbedding:
    rng = np.random.default_rng(0)
    return numbered_words(rng.standard_normal((n_words, dim), dtype="f4") / 8)


TABLES = {"real": load_table, "synthetic": lambda: synthetic(100_000)}


def bench(
    embedding: WordEmbedding, n_words: int, repeats: int, n_threads: list[int]
) -> list[dict[str, object]]:
    vectors = embedding.vectors
    ids = np.random.default_rng(0).integers(0, len(embedding), n_words)
    words = embedding.word_array[ids].tolist()
    product = measuring.bare_product(vectors[ids], vectors)
    lines: list[dict[str, object]] = []
    for threads in n_threads:
        for lam, seed in ((0.0, None), (0.5, None), (1.0, None), (0.5, 0)):
            perturber = DPWordPerturber(
                embedding, epsilon=EPSILON, lam=lam, random_state=seed
            ).fit([])
            for length in LENGTHS:
                documents = [words[i : i + length] for i in range(0, n_words, length)]
                run = partial(perturber.transform, documents)
                with threadpool_limits(threads, user_api="blas"):
                    times = measuring.rounds([product, run, product], repeats)
                bare, ours, after = times.T
                bare = (bare + after) / 2
                lines.append(
                    {
                        "threads": threads,
                        "words per document": length,
                        "λ": lam,
                        "seed": "fresh" if seed is None else "fixed",
                        "transform, words/s": n_words / float(np.median(ours)),
                        "product, words/s": n_words / float(np.median(bare)),
                        "ratio": float(np.median(bare / ours)),
                    }
                )
    return lines


def main() -> None:
    arguments = measuring.options(
        __doc__, repeats=11, tables=TABLES, words=N_WORDS, threads=[1, 2]
    )
    for name in arguments.tables:
        embedding = TABLES[name]()
        title, size = f"V = {len(embedding):,}", f"m = {embedding.dim}, ε = {EPSILON:g}"
        suffix = "" if name == "real" else f"_{name}"
        n_words = arguments.words * 30_000 // max(30_000, len(embedding)) // 8 * 8
        record(
            f"perturbation{suffix}",
            bench(embedding, n_words, arguments.repeats, arguments.threads),
            title=f"Transform against the bare float32 product, {title}",
            note=f"{n_words:,} words, {size}; medians.",
        )


if __name__ == "__main__":
    main()
