"""Nearest documents by Word Mover's Distance: ours against the package `wmd`.

One command, one thread; 2,000 training documents, k = 5, the 30,000 × 300 table::

    python benchmarks/bench_wmd_package.py [--sets tweets sms ...]

The package, wmd 1.3.2 (wmd-relax), is built from PyPI into a throw-away environment
(``benchmarks/peers.py``), which takes a C++ compiler. It is asked to be exact: every
document is looked at, no word left out; centroids are cached beforehand, as its
documentation advises. It is slow, so that only some queries are put to it; of documents
of 200 words one query did not end within half a minute, and by default there are none.
Times are of the processor, the median of repeated runs; ours is of all queries.

It computes in float32. Neighbours agree where its row is ours, or lies as far away by
our distance, within a millionth.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import measuring
import numpy as np
from bench_wmd import read_counts, searched, spread
from peers import ask, versions_of
from real_data import load_table
from results import record

from skdptext import WordEmbedding
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import compile_search
from skdptext.transport import WordBags, take_bags

HERE = Path(__file__).resolve().parent
SAME = 1e-6


def ask_package(train: WordBags, queries: WordBags, vectors: np.ndarray, args) -> dict:
    """Seconds per query and the neighbours that the package finds."""
    parts = {"vectors": vectors}
    for kind, bags in {"train": train, "query": queries}.items():
        parts |= {f"{kind}_starts": bags.starts, f"{kind}_ids": bags.ids}
        parts[f"{kind}_weights"] = bags.weights.astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "bags.npz", **parts)
        request = {"k": args.k, "repeats": args.repeats}
        return ask("wmd", HERE / "wmd_peer.py", request, Path(folder))


def bench(name: str, embedding: WordEmbedding, args) -> dict[str, object]:
    counts = read_counts(name, args.train + args.queries, embedding)
    train, queries, index = searched(counts, args.train, args.queries, embedding, 30)
    size = float(train.sizes.mean())
    slow = spread(len(queries), args.slow_queries, size)
    theirs = ask_package(train, take_bags(queries, slow), embedding.vectors, args)
    distances, rows, _ = index.nearest(queries, args.k)
    ours_s = measuring.median_seconds(
        lambda: index.nearest(queries, args.k), time.process_time, args.repeats
    ) / len(queries)
    peer_s = float(np.median(theirs["seconds"]))

    agree, off = [], []
    for i, near, far in zip(slow, theirs["rows"], theirs["distances"], strict=True):
        query, nearest = counts[[args.train + i]], np.array(near)
        exact = pairwise_word_movers_distances(
            query, counts[nearest], embedding=embedding
        )[0]
        as_near = np.isclose(exact, distances[i], rtol=SAME, atol=0)
        agree.append(as_near | (nearest == rows[i]))
        off.append(np.abs(exact - far).max())
    return {
        "set": name,
        "words": size,
        "ms per query": ours_s * 1e3,
        "wmd, ms per query": peer_s * 1e3,
        "× wmd": peer_s / ours_s,
        "neighbours that agree": float(np.mean(agree)),
        "wmd's distances off by": float(np.max(off)),
        "queries (wmd's)": f"{len(queries)} ({len(slow)})",
    }


def main() -> None:
    args = measuring.options(
        __doc__, sets=["tweets", "sms"], train=2000, queries=400, slow_queries=20,
        repeats=3, k=5,
    )  # fmt: skip
    compile_search()  # also for what is too little to be worth it
    embedding = load_table()
    rows = measuring.shown(bench(name, embedding, args) for name in args.sets)
    record(
        "wmd_package",
        rows,
        title="Word Mover's neighbours: the package wmd",
        note=(
            f"wmd {versions_of('wmd', 'wmd')['wmd']}, exact by its own options: "
            f"every document looked at, no word left out. {args.train:,} training "
            f"documents, k = {args.k}, one thread. neighbours that agree: of the "
            "package's, those that are ours or as far away within a millionth. off "
            "by: its distances, in float32, from the exact ones."
        ),
    )


if __name__ == "__main__":
    main()
