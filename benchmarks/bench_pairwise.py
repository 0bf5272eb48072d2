"""All pairs by Word Mover's Distance: the function against bare calls of the solver.

One command, under two minutes::

    python benchmarks/bench_pairwise.py [--sets tweets 100 ...] [--threads 2]

The peer is a loop over POT's `emd_c` that is *given* each pair's masses and costs, so
it does nothing but solve: no function that also makes the costs is expected to be
faster but by solving less. Ours takes shared mass away first, and long documents'
costs are reduced before they are solved. Sets as in `bench_wmd.py`.
"""

from __future__ import annotations

import time

import bench_wmd as wmd
import measuring
import numpy as np
from real_data import load_table
from results import record
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.transport import as_word_bags
from skdptext.transport._kernels import load_kernels

PAIRS = {"tweets": 150, "sms": 150, "100": 24, "200": 14, "fiction": 14}


def bench(name: str, embedding: WordEmbedding, args) -> dict[str, object]:
    n = PAIRS[name]
    counts = wmd.read_counts(name, 2 * n, embedding)
    x, y = counts[:n], counts[n:]
    rows, columns = as_word_bags(x), as_word_bags(y)
    pairs = []
    for i in range(n):
        ids, weights = rows.row(i)
        for j in range(n):
            others, masses = columns.row(j)
            costs = cdist(embedding.vectors[ids], embedding.vectors[others])
            pairs.append((weights / weights.sum(), masses / masses.sum(), costs))

    def bare():
        return [wmd.emd_c(*pair, 0, 1)[1] for pair in pairs]

    def ours(n_jobs=1, other=y):
        return pairwise_word_movers_distances(
            x, other, embedding=embedding, n_jobs=n_jobs
        )

    off = float(np.abs(ours().ravel() - bare()).max())
    bare_s, ours_s, half_s = (
        measuring.median_seconds(run, time.thread_time, args.repeats)
        for run in (bare, ours, lambda: ours(other=None))
    )
    wall = [
        measuring.median_seconds(lambda k=k: ours(k), time.perf_counter, args.repeats)
        for k in (1, args.threads)
    ]
    return {
        "set": name,
        "words": float(rows.sizes.mean()),
        "pairs": n * n,
        "emd_c alone, µs a pair": bare_s / n**2 * 1e6,
        "ours, µs a pair": ours_s / n**2 * 1e6,
        "× emd_c alone": bare_s / ours_s,
        "X with itself, × time": half_s / ours_s,
        f"{args.threads} threads × one": wall[0] / wall[1],
        "off by": off,
    }


def main() -> None:
    args = measuring.options(__doc__, sets=PAIRS, repeats=3, threads=2)
    load_kernels()  # also for what is too little to be worth it
    embedding = load_table()
    rows = [bench(name, embedding, args) for name in args.sets]
    record(
        "wmd_pairwise",
        rows,
        title="All pairs by Word Mover's Distance",
        note=(
            "A loop over bare emd_c, costs given, divided by ours, which makes the "
            "costs too. X with itself: the share of the time of X with Y. One thread, "
            "processor time; threads by the clock on the wall."
        ),
    )


if __name__ == "__main__":
    main()
