"""Nearest documents by Word Mover's Distance: the cascade against brute force.

One command, one thread; 2,000 training documents, k = 5, the 30,000 × 300 table::

    python benchmarks/bench_wmd.py [--sets tweets 200 ...] [--threads 2] [--only growth]

Sets: real tweets, SMS, sentences of fan fiction, and fan fiction cut in halves, from
the folder named by SKDPTEXT_TEST_DATA, or ../shared/data; messages16 (SMS and tweets)
and sentences25, those with at least so many words; N for documents of N distinct words,
and tN for documents of N tokens, drawn by their frequency in the fiction. The words of
a document are its distinct words in the table.

Peers, in the same run: a loop over POT's bare `emd_c` with one product per query for
the costs, and gensim's `wmdistance(norm=False)`, with the words of the table only. Of
slow peers a part is timed, an evenly spread one: of the queries always, of long
documents also one in so many of the training documents, and for gensim some twenty.
Queries share work in the search, so ours is the mean over all, the median of repeated
runs. Times are of the processor, but for `--threads`, which compares the wall times of
one thread and of many.

Equality is checked, not assumed, for the queries and documents that the peers are given
and for all that was found: against `emd_c` on whole bags with costs from `cdist`, and,
ties and order included, against `pairwise_word_movers_distances`.

Last, unless `--sets` are named, 20,000 training documents are compared with 2,000:
short real texts, and documents of 100 words.
"""

from __future__ import annotations

import re
import time
from functools import partial

import measuring
import numpy as np
import scipy.sparse as sp
from gensim.models import KeyedVectors
from ot.lp.emd_wrap import emd_c
from real_data import bags_of, load_table, read_sms, read_stories, read_tweets
from results import record
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WordEmbedding
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.transport import BagIndex, WordBags, as_word_bags, take_bags
from skdptext.transport._kernels import load_bounds, load_kernels

SHORT = ["8", "tweets", "sms", "sentences"]
LONG = ["100", "t200", "200", "fiction", "400"]
SIXTEEN = ["messages16", "sentences25"]
TITLES = {
    "short": "short documents",
    "long": "long documents",
    "sixteen": "real text of at least 16 and 25 words",
}


def read_fiction() -> list[str]:
    texts = [story["text"].split() for story in read_stories()]
    halves = [(t[: len(t) // 2], t[len(t) // 2 :]) for t in texts]
    return [" ".join(half) for both in halves for half in both]


def read_sentences() -> list[str]:
    return [s for one in read_stories() for s in re.split(r"[.!?]+\s", one["text"])]


REAL = {
    "tweets": lambda: read_tweets()[0],
    "sms": lambda: read_sms()[0],
    "sentences": read_sentences,
    "fiction": read_fiction,
    "messages16": lambda: read_sms()[0] + read_tweets()[0],
    "sentences25": read_sentences,
}
# Distinct words in the table that a document has to have.
LEAST = {"messages16": 16, "sentences25": 25}


def read_counts(name: str, n: int, embedding: WordEmbedding) -> sp.csr_array:
    """Word counts of `n` documents of a set, in random order."""
    rng = np.random.default_rng(0)
    texts = REAL.get(name, read_fiction)()
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    if name in REAL:
        counts = counts[rng.permutation(len(texts))]
        sizes = np.diff(counts.indptr)
        return sp.csr_array(counts[np.flatnonzero(sizes >= LEAST.get(name, 1))][:n])
    share = np.asarray(counts.sum(axis=0), dtype=float).ravel()
    share /= share.sum()
    if name[0] == "t":
        return bags_of(rng.choice(len(share), (n, int(name[1:])), p=share), len(share))
    rows = []
    for _ in range(n):
        row = np.zeros(len(share))
        while (short := int(name) - np.count_nonzero(row)) > 0:
            np.add.at(row, rng.choice(len(share), short, p=share), 1)
        rows.append(sp.csr_array(row[None]))
    return sp.csr_array(sp.vstack(rows))


def searched(
    counts: sp.csr_array, n_train: int, n: int, embedding: WordEmbedding, at: float = 0
) -> tuple[WordBags, WordBags, BagIndex]:
    """Training documents, queries, and the index of the former.

    There are `n` queries, or fewer if documents have more words than `at`.
    """
    train = as_word_bags(counts[:n_train])
    if at:
        n = int(np.clip(n * at / train.sizes.mean(), 8, n))
    queries = as_word_bags(counts[n_train : n_train + n])
    return train, queries, BagIndex(train, len(embedding), embedding.vectors)


def spread(n_queries: int, n: int, size: float) -> np.ndarray:
    """So many queries for slow peers, evenly spread; fewer of longer documents."""
    n_slow = int(np.clip(n * 12 / size, 2, n))
    return np.linspace(0, n_queries - 1, n_slow).astype(int)


def brute_force(query, bags: WordBags, vectors: np.ndarray, exact: bool = False):
    """All distances; one product gives the costs of a query, or if `exact` cdist."""
    ids, weights = query
    words, columns = np.unique(bags.ids, return_inverse=True)
    x, y = vectors[ids], vectors[words]

    def run():
        if exact:
            costs = cdist(x, y)
        else:
            squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
            costs = np.sqrt(np.maximum(squares, 0))
        out = np.empty(len(bags))
        for i in range(len(bags)):
            part = slice(bags.starts[i], bags.starts[i + 1])
            between = np.ascontiguousarray(costs[:, columns[part]])
            other = bags.weights[part]
            if exact:  # the same sum on both sides, or the solver gives up in silence
                other = other * (weights.sum() / other.sum())
            out[i] = emd_c(weights, other, between, 0, 1)[1]
        return out

    return run


def seconds_each(runs) -> float:
    start = time.thread_time()
    for run in runs:
        run()
    return (time.thread_time() - start) / len(runs)


def words_of(counts: sp.csr_array, row: int, words) -> list[str]:
    document = counts[[row]]
    return [
        words[j]
        for j, n in zip(document.indices, document.data, strict=True)
        for _ in range(int(n))
    ]


def check(counts, train: int, nearest, asked, part, embedding) -> tuple[float, bool]:
    """Largest difference from `emd_c`, and whether neighbours and ties are the same.

    Of the queries `asked`, each with its place among the `nearest`, over the training
    documents of `part` and these.
    """
    bags = as_word_bags(counts[:train])
    vectors = embedding.vectors.astype(np.float64)
    worst, same = 0.0, True
    for i, place in asked.items():
        distances, rows = nearest[0][place], nearest[1][place]
        documents = np.union1d(part, rows)
        query = counts[[train + i]]
        plain = brute_force(
            as_word_bags(query).row(0), take_bags(bags, documents), vectors, exact=True
        )()
        ours = pairwise_word_movers_distances(
            query, counts[documents], embedding=embedding
        )
        order = np.argsort(ours[0], kind="stable")[: len(rows)]
        same &= np.array_equal(documents[order], rows)
        same &= np.array_equal(ours[0][order], distances)
        worst = max(worst, float(np.abs(plain - ours[0]).max()))
    return worst, bool(same)


def bench(name: str, embedding: WordEmbedding, args) -> list[dict[str, object]]:
    counts = read_counts(name, args.train + args.queries, embedding)
    # of long documents fewer, of queries and, for the peers, of bags
    bags, queries, index = searched(counts, args.train, args.queries, embedding, 30)
    size = float(bags.sizes.mean())
    slow = spread(len(queries), args.slow_queries, size)
    every = int(np.clip(size // 20, 1, 20))
    part = np.arange(0, len(bags), every)

    vectors = embedding.vectors.astype(np.float64)
    timed = take_bags(bags, part)
    brute_s = seconds_each([brute_force(queries.row(i), timed, vectors) for i in slow])
    brute_s *= len(bags) / len(timed)

    table = KeyedVectors(embedding.dim)
    table.add_vectors(list(embedding.words), embedding.vectors)
    few = [words_of(counts, i, embedding.words) for i in part[:: len(part) // 20]]
    asked = [words_of(counts, args.train + i, embedding.words) for i in slow[:5]]
    gensim_s = seconds_each(
        [
            lambda q=q: [table.wmdistance(q, doc, norm=False) for doc in few]
            for q in asked
        ]
    )
    gensim_s *= len(bags) / len(few)

    rows = []
    ways = {"numba": (load_bounds(), load_kernels()), "NumPy": (None, None)}
    for path, (loops, kernels) in ways.items():
        if path == "numba" and loops is None:
            continue
        fast = path == "numba" or size < 50
        asked = queries if fast else take_bags(queries, slow[: 2 if size > 150 else 4])
        answers: list[np.ndarray] = []

        def search(n_jobs=1, asked=asked, answers=answers):
            answers[:] = index.nearest(asked, args.k, n_jobs=n_jobs)

        def seconds(clock, *n_jobs, search=search, repeats=args.repeats if fast else 1):
            return measuring.median_seconds(partial(search, *n_jobs), clock, repeats)

        with measuring.using(loops, kernels):
            index.nearest(take_bags(queries, np.arange(1)), args.k)  # warm
            ours_s = seconds(time.thread_time) / len(asked)
            wall = [
                seconds(time.perf_counter, n)
                for n in (1, args.threads)
                if args.threads > 1 and fast
            ]
        places = {int(i): int(i) if fast else j for j, i in enumerate(slow)}
        places = {i: j for i, j in places.items() if j < len(asked)}
        worst, same = check(counts, args.train, answers, places, part, embedding)
        row: dict[str, object] = {
            "set": name,
            "words": size,
            "tokens": float(counts.sum() / counts.shape[0]),
            "path": path,
            "ms per query": ours_s * 1e3,
            "× emd_c": brute_s / ours_s,
            "× gensim": gensim_s / ours_s,
            "solved": float(answers[2].mean()),
            "off by": worst,
            "same neighbours": same,
            "queries (peers')": f"{len(asked)} ({len(slow)}, every {every}. document)",
        }
        if wall:
            row[f"{args.threads} threads × one"] = wall[0] / wall[1]
        rows += measuring.shown([row])
    return rows


def growth(embedding: WordEmbedding, args) -> list[dict[str, object]]:
    """Time per query with ten times the training documents."""
    rows = []
    for name in ("sentences", "100"):
        many, n_queries = 10 * args.train, 200 if name == "sentences" else 30
        counts = read_counts(name, many + n_queries, embedding)
        queries = as_word_bags(counts[many:])
        row: dict[str, object] = {"set": name, "words": float(queries.sizes.mean())}
        times = []
        for n in (args.train, many):
            train = as_word_bags(counts[:n])
            index = BagIndex(train, len(embedding), embedding.vectors)
            search = partial(index.nearest, queries, args.k)
            solved = search()[2]
            seconds = measuring.median_seconds(search, time.thread_time, args.repeats)
            times.append(seconds)
            row[f"ms per query, {n:,}"] = seconds / n_queries * 1e3
            row[f"solved, {n:,}"] = float(solved.mean())
        row["ratio"] = times[1] / times[0]
        rows.append(row)
    return rows


def main() -> None:
    every = [*SHORT, *LONG, *SIXTEEN]
    args = measuring.options(
        __doc__, sets=every, train=2000, queries=400, slow_queries=40, repeats=3,
        threads=1, k=5, only=["peers", "growth"],
    )  # fmt: skip
    load_bounds()  # also for what is too little to be worth it
    embedding = load_table()
    groups = {"short": SHORT, "long": LONG, "sixteen": SIXTEEN}
    for group, members in groups.items() if "peers" in args.only else ():
        asked = [name for name in args.sets if name in members]
        rows = [row for name in asked for row in bench(name, embedding, args)]
        if not rows:
            continue
        whole = asked == members
        record(
            f"wmd_{group}" if whole else f"wmd_{'_'.join(asked)}",
            rows,
            title=f"Word Mover's neighbours of {TITLES[group]}",
            note=(
                f"{args.train:,} training documents, k = {args.k}, one thread. A ratio "
                "is the time of a loop over bare emd_c (costs by one product per "
                "query), or of gensim's loop over wmdistance, divided by ours. words: "
                "distinct words of a document. solved: exact problems per query. off "
                "by: largest difference from emd_c. same neighbours: as all distances "
                "give them, ties included. Of the peers a part of the queries and "
                "documents is timed, as the last column says; gensim's loop for at "
                "most five of these queries and some twenty documents."
            ),
        )
    if "growth" in args.only and args.sets == every:
        title = "Word Mover's neighbours: ten times the training documents"
        note = f"One thread, k = {args.k}; solved: exact problems per query."
        record("wmd_growth", growth(embedding, args), title=title, note=note)


if __name__ == "__main__":
    main()
