"""The graph of Word Mover's neighbours of 2,000 to 100,000 texts, and an extrapolation.

One command; 5 neighbours, the 30,000 × 300 table, compiled loops::

    python benchmarks/bench_wmd_graph.py [--sizes 2000 100000] [--full 100000 --jobs 2]

Texts are SMS, tweets and sentences of fan fiction of 2 to 40 distinct words in the
table, in random order, none twice, from the folder named by SKDPTEXT_TEST_DATA. Of each
size a sample of texts is searched for among all, itself left out, by one thread, in the
processor's time. `--full` finds the whole graph of one size, in blocks kept in a folder
(``--folder``), so that an interrupted run goes on.

The time of a query is fitted as a + b n^c on the sizes measured; larger sizes are
extrapolated by the last exponent between two sizes, which grows towards 1, and by 1,
the worst that it can come to: both are given.
"""

from __future__ import annotations

from bench_wmd import DATA, read_sms, read_texts, read_tweets  # it pins the threads

# isort: split
import argparse
import re
import resource
import time

import numpy as np
import scipy.sparse as sp
from results import record
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WordEmbedding
from skdptext.neighbors import WMDNeighbors, compile_search
from skdptext.transport import BagIndex, as_word_bags, take_bags


def read_counts(embedding: WordEmbedding) -> sp.csr_array:
    """Word counts of different short texts, in random order."""
    fiction = [s for text in read_texts() for s in re.split(r'[.!?;:"]+\s|\n', text)]
    texts = list(dict.fromkeys(read_sms() + read_tweets() + fiction))
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    sizes = np.diff(counts.indptr)
    rows = np.flatnonzero((sizes >= 2) & (sizes <= 40))
    return sp.csr_array(counts[np.random.default_rng(0).permutation(rows)])


def gigabytes() -> float:
    """Most memory that the process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def sample(counts: sp.csr_array, n: int, embedding: WordEmbedding, args) -> dict:
    bags = as_word_bags(counts[:n])
    start = time.process_time()
    index = BagIndex(bags, len(embedding), embedding.vectors)
    few = np.arange(64)
    index.nearest(take_bags(bags, few), 5, exclude=few)  # warm
    built = time.process_time() - start
    asked = np.random.default_rng(1).choice(n, min(args.queries, n), replace=False)
    queries = take_bags(bags, asked)
    start = time.process_time()
    solved = index.nearest(queries, 5, exclude=asked)[2]
    seconds = (time.process_time() - start) / len(asked)
    return {
        "texts": n,
        "words": float(bags.sizes.mean()),
        "words of the table": len(index.words),
        "index, s": built,
        "ms per text": seconds * 1e3,
        "solved": float(solved.mean()),
        "graph, CPU hours": seconds * n / 3600,
        "process, GB": gigabytes(),
        "how": f"{len(asked)} texts sampled",
    }


def extrapolate(rows: list[dict], n: int) -> dict:
    """By the last exponent measured, and by one, the largest there can be."""
    before, last = rows[-2], rows[-1]
    ratio = np.log(last["texts"] / before["texts"])
    exponent = float(np.log(last["ms per text"] / before["ms per text"]) / ratio)
    each = [last["ms per text"] * (n / last["texts"]) ** e for e in (exponent, 1.0)]
    return {
        "texts": n,
        "ms per text": f"{each[0]:.1f} to {each[1]:.1f}",
        "graph, CPU hours": f"{each[0] * n / 3.6e6:.1f} to {each[1] * n / 3.6e6:.1f}",
        "how": f"extrapolated: exponents {exponent:.2f} and 1",
    }


def whole(counts: sp.csr_array, n: int, embedding: WordEmbedding, args) -> dict:
    model = WMDNeighbors(embedding, n_jobs=args.jobs, verbose=1).fit(counts[:n])
    wall, cpu = time.perf_counter(), time.process_time()
    graph = model.kneighbors_graph(mode="distance", folder=args.folder)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert graph.nnz == 5 * n
    return {
        "texts": n,
        "ms per text": cpu / n * 1e3,
        "graph, CPU hours": cpu / 3600,
        "graph, hours": wall / 3600,
        "process, GB": gigabytes(),
        "how": f"the whole graph, {args.jobs} threads",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [2000, 5000, 10_000, 20_000, 50_000, 100_000]
    parser.add_argument("--sizes", nargs="+", type=int, default=sizes)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--full", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder")
    args = parser.parse_args()
    if not compile_search():
        raise SystemExit("The compiled loops need numba.")
    with np.load(DATA / "w2v_news_fiction_30k_300d.npz") as file:
        embedding = WordEmbedding(file["words"], file["vectors"])
    counts = read_counts(embedding)
    print(f"{counts.shape[0]:,} texts", flush=True)
    rows = []
    for n in args.sizes:
        rows.append(sample(counts, min(n, counts.shape[0]), embedding, args))
        print(rows[-1], flush=True)
    if len(rows) > 1:
        rows += [extrapolate(rows, n) for n in (300_000, 1_000_000)]
    if args.full:
        n = min(args.full, counts.shape[0])
        rows.append(whole(counts, n, embedding, args))
    print(rows[-3:], flush=True)
    record(
        "wmd_graph",
        rows,
        title="The graph of Word Mover's neighbours as texts become more",
        note=(
            "5 neighbours of each text among the others; SMS, tweets and sentences of "
            "2 to 40 words. One thread, processor time; process: the most memory that "
            "it held, the table of 30,000 words and all texts included."
        ),
    )


if __name__ == "__main__":
    main()
