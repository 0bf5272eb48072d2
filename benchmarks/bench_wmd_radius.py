"""All documents within a radius by Word Mover's Distance, against all distances.

One command, one thread; 2,000 documents, the 30,000 × 300 table, compiled loops::

    python benchmarks/bench_wmd_radius.py [--sets sms tweets sentences]

Radii are those within which a query finds so many documents on average. The peer is the
loop over POT's bare `emd_c` of ``bench_wmd.py``, with one product per query for the
costs, for some of the queries; what it finds is compared, up to distances that differ
from the radius by less than a millionth.
"""

from __future__ import annotations

import time

import measuring
import numpy as np
from bench_wmd import brute_force, read_counts, searched, seconds_each
from real_data import load_table
from results import record

from skdptext import WordEmbedding


def bench(name: str, embedding: WordEmbedding, args):
    counts = read_counts(name, args.train + args.queries, embedding)
    bags, queries, index = searched(counts, args.train, args.queries, embedding)
    vectors = embedding.vectors.astype(np.float64)
    slow = np.linspace(0, args.queries - 1, args.slow_queries).astype(int)
    runs = [brute_force(queries.row(i), bags, vectors) for i in slow]
    distances = np.array([run() for run in runs])
    brute_s = seconds_each(runs)
    for n in args.found:
        radius = float(np.quantile(distances, n / args.train))
        starts, rows, _ = index.within(queries, radius)
        same = True
        for place, i in enumerate(slow):
            ours = np.zeros(len(bags), dtype=bool)
            ours[rows[starts[i] : starts[i + 1]]] = True
            clear = abs(distances[place] - radius) > 1e-6 * radius
            same &= np.array_equal(ours[clear], (distances[place] <= radius)[clear])
        ours_s = measuring.median_seconds(
            lambda radius=radius: index.within(queries, radius),
            time.thread_time,
            args.repeats,
        ) / len(queries)
        yield {
            "set": name,
            "words": float(bags.sizes.mean()),
            "radius": radius,
            "found": len(rows) / len(queries),
            "ms per query": ours_s * 1e3,
            "× emd_c": brute_s / ours_s,
            "same documents": bool(same),
        }


def main() -> None:
    args = measuring.options(
        __doc__, sets=["sms", "tweets", "sentences"], train=2000, queries=200,
        slow_queries=20, found=[1, 10, 100], repeats=3,
    )  # fmt: skip
    measuring.need_loops()
    embedding = load_table()
    rows = measuring.shown(
        row for name in args.sets for row in bench(name, embedding, args)
    )
    record(
        "wmd_radius",
        rows,
        title="Documents within a radius by Word Mover's Distance",
        note=(
            f"{args.train:,} documents, one thread. found: documents per query. A "
            "ratio is the time of a loop over bare emd_c, costs by one product per "
            "query, divided by ours."
        ),
    )


if __name__ == "__main__":
    main()
