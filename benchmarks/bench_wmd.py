"""Nearest documents by Word Mover's Distance: the cascade against brute force.

One command, one thread, a few minutes::

    python benchmarks/bench_wmd.py [--sets tweets sms 100 200 400 fiction] [--threads 2]

Sets: real tweets, SMS, and fan fiction cut in halves (about 400 words each), from the
folder named by SKDPTEXT_TEST_DATA, or ../shared/data; and a number N for documents of N
distinct words, drawn by their frequency in the fiction. All under the 30,000 × 300
table. Printed, with numba (the extra `fast`) and without: the ratio of the time per
query of a brute-force loop over POT's `emd_c` (costs by one product per query), and of
gensim's own loop over `wmdistance(norm=False)`, to that of the search, all in the same
run; and the exact problems solved per query. Queries share work in the search, so a
query's time is the mean over all, the median of repeated runs; that of the peers is
the mean over an evenly spread part of the same queries and, for long documents, of
the training documents. Times are of the processor, but for `--threads`, which compares
the wall times of one thread and of many.
"""

from __future__ import annotations

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"  # before NumPy starts its threads

import argparse  # noqa: E402
import csv  # noqa: E402
import gzip  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402
from ot.lp.emd_wrap import emd_c  # noqa: E402
from real_data import DATA  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402

from skdptext import WordEmbedding  # noqa: E402
from skdptext.neighbors import _search  # noqa: E402
from skdptext.transport import (  # noqa: E402
    WordBags,
    as_word_bags,
    load_kernels,
    take_bags,
)


def read_sms() -> list[str]:
    with gzip.open(DATA / "sms_spam.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t", 1)[1] for line in file]


def read_tweets() -> list[str]:
    path = DATA / "disaster_tweets.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


def read_fiction() -> list[str]:
    with gzip.open(
        DATA / "pan19_fanfiction_en.jsonl.gz", "rt", encoding="utf-8"
    ) as file:
        texts = [json.loads(line)["text"].split() for line in file]
    halves = [(t[: len(t) // 2], t[len(t) // 2 :]) for t in texts]
    return [" ".join(half) for both in halves for half in both]


REAL = {"tweets": read_tweets, "sms": read_sms, "fiction": read_fiction}


def read_counts(name: str, n: int, embedding: WordEmbedding) -> sp.csr_array:
    """Word counts of `n` documents of a set, in random order."""
    rng = np.random.default_rng(0)
    texts = REAL.get(name, read_fiction)()
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    if name in REAL:
        counts = counts[rng.permutation(len(texts))]
        return sp.csr_array(counts[np.flatnonzero(counts.sum(axis=1))][:n])
    frequency = np.asarray(counts.sum(axis=0), dtype=float).ravel()
    rows = []
    for _ in range(n):
        row = np.zeros(len(frequency))
        while (short := int(name) - np.count_nonzero(row)) > 0:
            row += rng.multinomial(short, frequency / frequency.sum())
        rows.append(sp.csr_array(row[None]))
    return sp.csr_array(sp.vstack(rows))


def brute_force(query, bags: WordBags, vectors: np.ndarray):
    """All distances; one product gives the costs of a query."""
    ids, weights = query
    words, columns = np.unique(bags.ids, return_inverse=True)
    x, y = vectors[ids], vectors[words]

    def run():
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
        costs = np.sqrt(np.maximum(squares, 0))
        out = np.empty(len(bags))
        for i in range(len(bags)):
            part = slice(bags.starts[i], bags.starts[i + 1])
            some = np.ascontiguousarray(costs[:, columns[part]])
            out[i] = emd_c(weights, bags.weights[part], some, 0, 1)[1]
        return out

    return run


def seconds_each(runs) -> tuple[float, list]:
    start = time.thread_time()
    found = [run() for run in runs]
    return (time.thread_time() - start) / len(runs), found


def median_seconds(run, clock, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return float(np.median(times))


def words_of(counts: sp.csr_array, row: int, words) -> list[str]:
    document = counts[[row]]
    return [
        words[j]
        for j, n in zip(document.indices, document.data, strict=True)
        for _ in range(int(n))
    ]


def bench(name: str, embedding: WordEmbedding, args) -> None:
    counts = read_counts(name, args.train + args.queries, embedding)
    bags = as_word_bags(counts[: args.train])
    size = float(bags.sizes.mean())
    # of long documents fewer, of queries and, for the peers, of bags
    n_queries = int(np.clip(args.queries * 12 / size, 8, args.queries))
    queries = as_word_bags(counts[args.train : args.train + n_queries])
    n_slow = int(np.clip(args.slow_queries * 12 / size, 2, args.slow_queries))
    every = int(np.clip(size // 20, 1, 20))
    slow = np.linspace(0, n_queries - 1, n_slow).astype(int)
    part = np.arange(0, len(bags), every)

    vectors = embedding.vectors.astype(np.float64)
    some = take_bags(bags, part)
    runs = [brute_force(queries.row(i), some, vectors) for i in slow]
    brute_s, costs = seconds_each(runs)
    brute_s *= len(bags) / len(some)

    table = KeyedVectors(embedding.dim)
    table.add_vectors(list(embedding.words), embedding.vectors)
    few = [words_of(counts, i, embedding.words) for i in part[:: len(part) // 20]]
    asked = [words_of(counts, args.train + i, embedding.words) for i in slow[:5]]
    gensim_s, _ = seconds_each(
        [
            lambda q=q: [table.wmdistance(q, doc, norm=False) for doc in few]
            for q in asked
        ]
    )
    gensim_s *= len(bags) / len(few)

    print(
        f"{name}: {len(bags)} training documents of {size:.1f} distinct words, "
        f"{n_queries} queries, k={args.k}"
    )
    index = _search.BagIndex(bags, len(embedding), embedding.vectors)
    for path, load in {"numba": load_kernels, "numpy": lambda: None}.items():
        if path == "numba" and load() is None:
            continue
        _search.load_kernels = load
        one = min(n_queries, 2)
        index.nearest(take_bags(queries, np.arange(one)), args.k)  # warm
        repeats = args.repeats if path == "numba" or size < 50 else 1
        ours_s = median_seconds(
            lambda: index.nearest(queries, args.k), time.thread_time, repeats
        )
        ours_s /= n_queries
        distances, rows, solved = index.nearest(queries, args.k)
        worst = 0.0  # brute force over the part finds nothing nearer, and the same
        for i, all_costs in zip(slow, costs, strict=True):
            inside = np.isin(part, rows[i])
            expected = all_costs[inside]
            got = distances[i][np.argsort(rows[i])]
            got = got[np.isin(np.sort(rows[i]), part)]
            worst = max(worst, np.abs(expected - got).max(initial=0.0))
            assert (all_costs[~inside] >= distances[i, -1] - 1e-6).all()
        line = (
            f"  {path}: {brute_s / ours_s:6.1f} x brute-force emd_c, "
            f"{gensim_s / ours_s:6.0f} x gensim's loop; {solved.mean():.1f} exact "
            f"problems and {ours_s * 1e3:.2f} ms per query; off by {worst:.0e} at most"
        )
        if args.threads > 1:
            wall = [
                median_seconds(
                    lambda n=n: index.nearest(queries, args.k, n_jobs=n),
                    time.perf_counter,
                    repeats,
                )
                for n in (1, args.threads)
            ]
            line += f"; {args.threads} threads {wall[0] / wall[1]:.2f} x one"
        print(line, flush=True)
    _search.load_kernels = load_kernels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sets", nargs="+", default=["tweets", "sms", "100", "200", "400", "fiction"]
    )
    parser.add_argument("--train", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--slow-queries", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--k", type=int, default=5)
    args = parser.parse_args()
    with np.load(DATA / "w2v_news_fiction_30k_300d.npz") as file:
        embedding = WordEmbedding(file["words"], file["vectors"])
    for name in args.sets:
        bench(name, embedding, args)


if __name__ == "__main__":
    main()
