"""Nearest documents by Word Mover's Distance, against brute force and gensim.

One command, one thread; 2,000 training documents, k = 5, the 30,000 × 300 table::

    python benchmarks/bench_wmd.py [--sets tweets 200 ...] [--only peers]

Sets: real tweets, SMS, sentences of fan fiction, and fan fiction cut in halves, from
the folder named by SKDPTEXT_TEST_DATA, or ../shared/data; N for documents of N distinct
words, drawn by their frequency in the fiction; and noisy-N for 200 documents of N words
of the fiction, released at ε = 10 and λ = 0.5 in the first 8,000 words of the table.

Peers, in the same run: a loop over POT's `emd2`, with the costs of a query by `cdist`
or by one product, and gensim's `wmdistance(norm=False)`. They are slow, so that a part
is timed: some queries, and every so many of the training documents. Ours is the mean
over all queries, which share work, the median of repeated runs. Times are of the
processor.

Neighbors and distances are compared with `emd2` on costs from `cdist`, for the queries
of the peers, over their documents and all that was found.

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

SETS = ["noisy-100", "noisy-200", "8", "tweets", "sms", "sentences", "100", "200"]
SETS += ["fiction"]
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
    if name.startswith("noisy"):
        length = int(name.removeprefix("noisy-"))
        noise = DPWordPerturber(embedding, document_length=length, random_state=2**70)
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
    """All distances; one product gives the costs of a query, or if `exact` cdist."""
    words, columns = np.unique(documents.indices, return_inverse=True)
    x, y = vectors[query.indices], vectors[words]
    if exact:
        costs = cdist(x, y)
    else:
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
        costs = np.sqrt(np.maximum(squares, 0))
    weights, out = query.data / query.data.sum(), []
    for start, stop in zip(documents.indptr, documents.indptr[1:], strict=False):
        other = documents.data[start:stop] / documents.data[start:stop].sum()
        between = np.ascontiguousarray(costs[:, columns[start:stop]])
        out.append(ot.emd2(weights, other, between))
    return np.array(out)


def words_of(document: sp.csr_array, words: tuple[str, ...]) -> list[str]:
    ids = np.repeat(document.indices, document.data.astype(int))
    return [words[i] for i in ids]


def bench(name: str, embedding: WordEmbedding, args) -> dict[str, object]:
    n_train = args.train
    if name.startswith("noisy"):
        n_train, embedding = 200, embedding.restrict(8000)
    counts = read_counts(name, n_train + args.queries, embedding)
    train, queries = counts[:n_train], counts[n_train:]
    size = float(np.diff(counts.indptr).mean())
    n = int(np.clip(args.queries * 30 / size, 8, args.queries))  # fewer of long ones
    queries = queries[:n]
    model = WMDNeighbors(embedding, n_neighbors=K).fit(train)
    search = partial(model.kneighbors, queries)
    with mock.patch.object(_search, "word_movers", wraps=word_movers) as solved:
        distances, rows = search()
    ours = measuring.median_seconds(search, CLOCK, args.repeats) / n

    slow = np.linspace(0, n - 1, int(np.clip(120 / size, 3, n))).astype(int)
    part = np.arange(0, n_train, int(np.clip(size // 20, 1, n_train // 100)))
    vectors = embedding.vectors.astype(np.float64)
    brute = partial(brute_force, documents=train[part], vectors=vectors, exact=False)
    spent = measuring.seconds_of(lambda: [brute(queries[[i]]) for i in slow], CLOCK)
    brute_s = spent / len(slow) * n_train / len(part)

    table = KeyedVectors(embedding.dim)
    table.add_vectors(list(embedding.words), embedding.vectors)
    few = [words_of(train[[i]], embedding.words) for i in part[:: len(part) // 20]]
    asked = [words_of(queries[[i]], embedding.words) for i in slow[:5]]

    def by_gensim() -> None:
        for query in asked:
            for document in few:
                table.wmdistance(query, document, norm=False)

    spent = measuring.seconds_of(by_gensim, CLOCK)
    gensim_s = spent / len(asked) * n_train / len(few)

    worst, same, spent = 0.0, True, 0.0
    for i in slow:
        documents = np.union1d(part, rows[i])
        start = CLOCK()
        plain = brute_force(queries[[i]], train[documents], vectors, exact=True)
        spent += (CLOCK() - start) / len(documents)
        nearest = np.argsort(plain.round(10), kind="stable")[:K]
        same &= np.array_equal(documents[nearest], rows[i])
        worst = max(worst, float(np.abs(plain[nearest] - distances[i]).max()))
    return {
        "set": name, "words": size, "ms per query": ours * 1e3,
        "solved per query": solved.call_count / n,
        "× emd2": spent / len(slow) * n_train / ours,
        "× emd2, product": brute_s / ours, "× gensim": gensim_s / ours, "off by": worst,
        "same neighbors": bool(same),
        "queries (peers')": f"{n} ({len(slow)}, of {len(part)} documents)",
    }  # fmt: skip


def growth(embedding: WordEmbedding, args) -> Iterator[dict[str, object]]:
    """Time per query with ten times the training documents."""
    for name, n_queries in (("sentences", 200), ("100", 30)):
        many = 10 * args.train
        counts = read_counts(name, many + n_queries, embedding)
        row: dict[str, object] = {"set": name}
        times = []
        for n in (args.train, many):
            model = WMDNeighbors(embedding, n_neighbors=K).fit(counts[:n])
            search = partial(model.kneighbors, counts[many:])
            search()
            times.append(measuring.median_seconds(search, CLOCK, args.repeats))
            row[f"ms per query, {n:,}"] = times[-1] / n_queries * 1e3
        yield row | {"ratio": times[1] / times[0]}


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
                f"{args.train:,} training documents (200 noisy ones, released at "
                f"ε = 10 and λ = 0.5), k = {K}, one thread. A ratio is the time of a "
                "loop over POT's emd2 (costs by cdist, or by one product per query), "
                "or of gensim's loop over wmdistance, divided by ours. words: distinct "
                "words of a document. off by: largest difference from emd2. same "
                "neighbors: as all distances give them, ties included. Of the peers "
                "a part of the queries and documents is timed, as the last column "
                "says; gensim's loop for at most five of these queries and some twenty "
                "documents."
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
