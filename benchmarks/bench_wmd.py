"""Nearest messages by Word Mover's Distance: the cascade against brute force.

One command, one thread::

    python benchmarks/bench_wmd.py [--train 2000] [--queries 200]

Real SMS and tweets (folder named by SKDPTEXT_TEST_DATA, or ../shared/data) under the
30,000 × 300 table. Printed: the ratio of the time per query of a brute-force loop over
POT's `emd_c` (costs by one product per query), and of gensim's own loop over
`wmdistance(norm=False)`, to that of the search, all in the same run; and the exact
problems solved per query. Queries share work in the search, so a query's time is the
mean over all, the median of repeated runs; that of the peers is the mean over an
evenly spread part of the same queries.
"""

from __future__ import annotations

import os

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{name}_NUM_THREADS"] = "1"  # before NumPy starts its threads

import argparse  # noqa: E402
import csv  # noqa: E402
import gzip  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402
from ot.lp.emd_wrap import emd_c  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402

from skdptext import WordEmbedding  # noqa: E402
from skdptext.neighbors import WMDKNNClassifier  # noqa: E402
from skdptext.transport import as_word_bags  # noqa: E402

DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA")
    or Path(__file__).resolve().parents[2] / "shared" / "data"
)


def read_sms() -> list[str]:
    with gzip.open(DATA / "sms_spam.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t", 1)[1] for line in file]


def read_tweets() -> list[str]:
    path = DATA / "disaster_tweets.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


def brute_force(query, bags, vectors, k):
    """Every problem solved; one product gives the costs of a query."""
    ids, weights = query
    words, columns = np.unique(bags.ids, return_inverse=True)
    x, y = vectors[ids], vectors[words]

    def run():
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
        costs = np.sqrt(np.maximum(squares, 0))
        out = np.empty(len(bags))
        for i in range(len(bags)):
            part = slice(bags.starts[i], bags.starts[i + 1])
            out[i] = emd_c(
                weights,
                bags.weights[part],
                np.ascontiguousarray(costs[:, columns[part]]),
                0,
                1,
            )[1]
        return np.argsort(out, kind="stable")[:k]

    return run


def mean_seconds(runs) -> float:
    times = []
    for run in runs:
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return float(np.mean(times))


def bench(name: str, texts: list[str], embedding: WordEmbedding, args) -> None:
    rng = np.random.default_rng(0)
    vectorizer = CountVectorizer(vocabulary=embedding.words)
    counts = vectorizer.transform([texts[i] for i in rng.permutation(len(texts))])
    counts = counts[np.flatnonzero(counts.sum(axis=1))]
    train = counts[: args.train]
    test = counts[args.train : args.train + args.queries]
    model = WMDKNNClassifier(embedding, n_neighbors=args.k)
    model.fit(train, np.arange(train.shape[0]) % 2)
    bags, queries = as_word_bags(train), as_word_bags(test)
    index = model._index

    ours = []
    index.nearest(queries, args.k)  # warm
    for _ in range(args.repeats):
        start = time.thread_time()
        _, rows, solved = index.nearest(queries, args.k)
        ours.append((time.thread_time() - start) / len(queries))
    ours_s = float(np.median(ours))

    vectors = embedding.vectors.astype(np.float64)
    slow = range(0, len(queries), max(1, len(queries) // args.slow_queries))
    runs = [brute_force(queries.row(i), bags, vectors, args.k) for i in slow]
    brute_s = mean_seconds(runs)
    agree = np.mean(
        [np.isin(run(), rows[i]).mean() for run, i in zip(runs, slow, strict=True)]
    )

    table = KeyedVectors(embedding.dim)
    table.add_vectors(list(embedding.words), embedding.vectors)
    words = embedding.words

    def tokens(matrix, i):
        row = matrix[[i]]
        return [
            words[j]
            for j, n in zip(row.indices, row.data, strict=True)
            for _ in range(int(n))
        ]

    some = [tokens(train, i) for i in range(0, len(bags), len(bags) // 100)]

    def gensim_loop(i):
        query = tokens(test, i)
        return lambda: [table.wmdistance(query, doc, norm=False) for doc in some]

    gensim_s = mean_seconds([gensim_loop(i) for i in slow[::5]])
    gensim_s *= len(bags) / len(some)
    print(
        f"{name:7s} {len(bags)} training documents, {len(queries)} queries of "
        f"{queries.sizes.mean():.1f} words, k={args.k}: "
        f"{brute_s / ours_s:6.1f} x brute-force emd_c, "
        f"{gensim_s / ours_s:6.0f} x gensim's loop; "
        f"{solved.mean():.1f} exact problems per query; neighbours agree "
        f"{agree:.3f}  ({ours_s * 1e3:.2f} ms per query)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--slow-queries", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--k", type=int, default=5)
    args = parser.parse_args()
    with np.load(DATA / "w2v_news_fiction_30k_300d.npz") as file:
        embedding = WordEmbedding(file["words"], file["vectors"])
    bench("sms", read_sms(), embedding, args)
    bench("tweets", read_tweets(), embedding, args)


if __name__ == "__main__":
    main()
