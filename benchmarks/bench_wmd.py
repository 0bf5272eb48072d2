"""Nearest documents by Word Mover's Distance, against brute force and gensim.

One command, one thread; 2,000 training documents, or as many as the name of a set ends
in; k = 5, the 30,000 × 300 table::

    python benchmarks/bench_wmd.py [--sets tweets 200 ...] [--only peers]

Sets: real tweets, SMS, sentences of fan fiction, and fan fiction cut in halves, from
the folder named by SKDPTEXT_TEST_DATA, or ../shared/data, which has no news; N for
documents of N distinct words, drawn by their frequency in the fiction; and noisy-N for
200 documents of N words of the fiction, released at ε = 10 and λ = 0.5 in the first
8,000 words of the table.

Peers, in the same run: a loop over POT's `emd2`, with the costs of each pair by `cdist`
or those of a query by one product, and gensim's `wmdistance(norm=False)`. They are
slow, so that a part is timed: some queries, and every so many of the training
documents. Ours is the mean over all queries, which share work. All run in turn, and
times are medians of the processor's.

Neighbors and distances are compared with `emd2` on costs from `cdist`, for the queries
of the peers, over all training documents of short sets, and every so many of long ones
and all that was found.

Last, 20,000 training documents are compared with 2,000.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial
from unittest import mock

import measuring
import numpy as np
import ot
import scipy.sparse as sp
from gensim.models import KeyedVectors
from real_data import load_table, read_sms, read_stories, read_tweets
from results import record
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.neighbors import WMDNeighbors, _search, word_movers

SETS = ["noisy-100", "noisy-200", "8", "tweets", "tweets-1000", "tweets-5500", "sms"]
SETS += ["sentences", "100", "200", "fiction", "fiction-200"]
K, CLOCK = 5, time.thread_time


def read_fiction() -> list[str]:
    texts = [story["text"].split() for story in read_stories()]
    halves = [(t[: len(t) // 2], t[len(t) // 2 :]) for t in texts]
    return [" ".join(half) for both in halves for half in both]


REAL = {
    "tweets": lambda: read_tweets()[0],
    "sms": lambda: read_sms()[0],
    "sentences": lambda: [
        s for one in read_stories() for s in re.split(r"[.!?]+\s", one["text"])
    ],
    "fiction": read_fiction,
}


def read_counts(name: str, n: int, embedding: WordEmbedding) -> sp.csr_array:
    """Word counts of `n` documents of a set, in random order."""
    name, _, end = name.partition("-")
    if name == "noisy":
        noise = DPWordPerturber(embedding, document_length=int(end), random_state=2**70)
        texts = read_fiction()[-n:]
        released = noise.fit([]).transform(texts, document_ids=range(n))
        return sp.csr_array(released, dtype=float)
    rng = np.random.default_rng(0)
    texts = REAL.get(name, read_fiction)()
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    if name in REAL:
        counts = counts[rng.permutation(len(texts))]
        return sp.csr_array(counts[np.flatnonzero(np.diff(counts.indptr))][:n])
    share = np.asarray(counts.sum(axis=0), dtype=float).ravel()
    share /= share.sum()
    rows = []
    for _ in range(n):
        row = np.zeros(len(share))
        while (short := int(name) - np.count_nonzero(row)) > 0:
            np.add.at(row, rng.choice(len(share), short, p=share), 1)
        rows.append(sp.csr_array(row[None]))
    return sp.csr_array(sp.vstack(rows))


def brute_force(
    query: sp.csr_array, documents: sp.csr_array, vectors: np.ndarray, exact: bool
) -> np.ndarray:
    """All distances; costs by one product for all, or if `exact` by cdist for each."""
    x, weights, out = vectors[query.indices], query.data / query.data.sum(), []
    if not exact:
        words, columns = np.unique(documents.indices, return_inverse=True)
        y = vectors[words]
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
        costs = np.sqrt(np.maximum(squares, 0))
    for part in map(slice, documents.indptr, documents.indptr[1:]):
        if exact:
            between = cdist(x, vectors[documents.indices[part]])
        else:
            between = np.ascontiguousarray(costs[:, columns[part]])
        other = documents.data[part] / documents.data[part].sum()
        out.append(ot.emd2(weights, other, between))
    return np.array(out)


def bench(name: str, embedding: WordEmbedding, args) -> dict[str, object]:
    n_train = args.train
    if name.startswith("noisy"):
        n_train, embedding = 200, embedding.restrict(8000)
    elif "-" in name:
        n_train = int(name.partition("-")[2])
    counts = read_counts(name, n_train + args.queries, embedding)
    train, queries = counts[:n_train], counts[n_train:]
    size = float(np.diff(counts.indptr).mean())
    n = int(np.clip(args.queries * 30 / size, 8, args.queries))  # fewer of long ones
    queries = queries[:n]
    model = WMDNeighbors(embedding, n_neighbors=K).fit(train)
    search = partial(model.kneighbors, queries)
    with mock.patch.object(_search, "word_movers", wraps=word_movers) as solved:
        distances, rows = search()

    slow = np.linspace(0, n - 1, int(np.clip(600 / size, 4, 12))).astype(int)
    part = np.arange(0, n_train, int(np.clip(size // 20, 1, n_train // 100)))
    some, vectors = part[:: len(part) // 100], embedding.vectors.astype(np.float64)

    def brute(exact: bool) -> None:
        for i in slow:
            brute_force(queries[[i]], train[some], vectors, exact)

    table = KeyedVectors(embedding.dim)
    table.add_vectors(list(embedding.words), embedding.vectors)
    names = np.array(embedding.words)

    def words(counts: sp.csr_array) -> list[str]:
        return names[counts.indices.repeat(counts.data.astype(int))].tolist()

    few = [words(train[[i]]) for i in some[::5]]
    asked = [words(queries[[i]]) for i in slow[:5]]

    def by_gensim() -> None:
        for query in asked:
            for document in few:
                table.wmdistance(query, document, norm=False)

    runs = search, partial(brute, True), partial(brute, False), by_gensim
    spent = np.median(measuring.rounds(runs, args.repeats, CLOCK, warm=False), axis=0)
    n_pairs = len(slow) * len(some)
    ours, *peers = spent / (n * n_train, n_pairs, n_pairs, len(asked) * len(few))
    times = ("× emd2", "× emd2, product", "× gensim"), np.array(peers) / ours

    worst, same = 0.0, True
    for i in slow:
        documents = np.union1d(part, rows[i])
        plain = brute_force(queries[[i]], train[documents], vectors, exact=True)
        nearest = np.argsort(plain.round(10), kind="stable")[:K]
        same &= np.array_equal(documents[nearest], rows[i])
        worst = max(worst, float(np.abs(plain[nearest] - distances[i]).max()))
    return {
        "set": name, "words": size, "ms per query": ours * n_train * 1e3,
        "solved per query": solved.call_count / n, **dict(zip(*times, strict=True)),
        "off by": worst, "same neighbors": bool(same),
        "queries (peers')": f"{n} ({len(slow)}, of {len(some)} documents)",
    }  # fmt: skip


def growth(embedding: WordEmbedding, args) -> Iterator[dict[str, object]]:
    """Time per query with ten times the training documents."""
    for name, n_queries in (("sentences", 200), ("100", 30)):
        many, times = 10 * args.train, {}
        counts = read_counts(name, many + n_queries, embedding)
        for n in (args.train, many):
            model = WMDNeighbors(embedding, n_neighbors=K).fit(counts[:n])
            search = partial(model.kneighbors, counts[many:])
            search()
            seconds = measuring.median_seconds(search, CLOCK, args.repeats)
            times[f"ms per query, {n:,}"] = seconds / n_queries * 1e3
        few, more = times.values()
        yield {"set": name, **times, "ratio": more / few}


def main() -> None:
    args = measuring.options(
        __doc__, sets=SETS, train=2000, queries=400, repeats=3, only=["peers", "growth"]
    )
    embedding = load_table()
    if "peers" in args.only:
        record(
            "wmd",
            measuring.shown(bench(name, embedding, args) for name in args.sets),
            title="Word Mover's neighbors, against brute force and gensim",
            note=(
                f"{args.train:,} training documents, or as the name says (200 noisy "
                f"ones, released at ε = 10 and λ = 0.5), k = {K}, one thread. A ratio "
                "is the time of a loop over POT's emd2 (costs by cdist for each pair, "
                "or by one product per query), or of gensim's loop over wmdistance, "
                "divided by ours. words: distinct words of a document. off by: largest "
                "difference from emd2. same neighbors: as all distances give them, "
                "ties included. Of the peers a part is timed, as the last column says; "
                "of gensim's loop at most five queries and some twenty documents."
            ),
        )
    if "growth" in args.only:
        record(
            "wmd_growth",
            measuring.shown(growth(embedding, args)),
            title="Word Mover's neighbors: ten times the training documents",
            note=f"One thread, k = {K}.",
        )


if __name__ == "__main__":
    main()
