"""Labels by Word Mover's neighbours against those by plain word vectors, on five sets.

One command; compiled loops::

    python benchmarks/bench_wmd_accuracy.py [--sets sms tweets ...]

Sets: SMS (spam or not), tweets (of a disaster or not), the built-in docstrings by topic
and by library, and halves of fan fiction by fandom (both halves of a text on one side).
Of each text the first 60 words are read. Half of each set trains, half tests, at most
`--most` documents each.

Representations, each with a neighbour vote whose k is chosen by leave-one-out on the
training half: Word Mover's Distance on word frequencies and on tf-idf weights; and, as
plain vectors, word counts (Euclidean), tf-idf of length 1 (Euclidean), and tf-idf and
frequencies of sum 1 (Manhattan). Sato, Yamada and Kashima ("Re-evaluating Word Mover's
Distance", ICML 2022) warn that the first papers compared with unnormalised counts, and
that L1 comes close to Word Mover's Distance: this table shows whether it does here.
"""

from __future__ import annotations

import warnings

import measuring
import numpy as np
import scipy.sparse as sp
from bench_wmd_vote import read_fiction
from real_data import load_table, read_sms, read_tweets
from results import record
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize

from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.neighbors import WMDNeighbors, compile_search

LONGEST = 60  # words of a text that are read
KS = [1, 3, 5, 7, 11, 15, 19]


def docstrings(target: str):
    corpus = load_docstrings()
    return corpus.data, corpus.target if target == "topic" else corpus.author


READ = {
    "sms": read_sms,
    "tweets": read_tweets,
    "docstring topics": lambda: docstrings("topic"),
    "docstring libraries": lambda: docstrings("author"),
    "fiction": read_fiction,
}


def neighbors_of(way: str, train, test, embedding) -> tuple[np.ndarray, np.ndarray]:
    """The nearest training documents of these, itself left out, and of the tests."""
    k = KS[-1]
    tfidf = TfidfTransformer(norm=None).fit(train)
    if "tf-idf" in way:
        train, test = tfidf.transform(train), tfidf.transform(test)
    if way.startswith("WMD"):
        model = WMDNeighbors(embedding, n_neighbors=k).fit(train)
        ask = model.kneighbors
        return ask(return_distance=False), ask(test, return_distance=False)
    norm = "l1" if "L1" in way else "l2"
    if "counts" not in way:
        train, test = normalize(train, norm), normalize(test, norm)
    metric = "manhattan" if norm == "l1" else "euclidean"
    among, asked = (pairwise_distances(rows, train, metric) for rows in (train, test))
    np.fill_diagonal(among, np.inf)
    own, near = (np.argsort(D, axis=1, kind="stable")[:, :k] for D in (among, asked))
    return own, near


WAYS = ["WMD", "WMD, tf-idf", "counts", "tf-idf, L2", "frequencies, L1", "tf-idf, L1"]


def votes(rows: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    return np.array([np.bincount(codes[row[:k]]).argmax() for row in rows])


def bench(name: str, args, table) -> dict[str, object]:
    texts, labels = READ[name]()
    texts = [" ".join(text.split()[:LONGEST]) for text in texts]
    embedding = load_docstring_embedding() if name.startswith("doc") else table
    X = sp.csr_array(CountVectorizer(vocabulary=embedding.words).transform(texts))
    y = np.unique(np.asarray(labels), return_inverse=True)[1]
    groups = np.arange(len(y)) // (2 if name == "fiction" else 1)
    order = np.random.default_rng(0).permutation(groups.max() + 1)
    order = np.concatenate([np.flatnonzero(groups == g) for g in order])
    order = order[np.diff(X.indptr)[order] > 0]
    n = min(len(order) // 4 * 2, args.most)
    train, test = X[order[:n]], X[order[n : 2 * n]]
    ours, theirs = y[order[:n]], y[order[n : 2 * n]]
    row: dict[str, object] = {
        "set": name,
        "classes": len(np.unique(y)),
        "texts": 2 * n,
        "words": float(np.diff(train.indptr).mean()),
        "largest class": float((theirs == np.bincount(ours).argmax()).mean()),
    }
    for way in WAYS:
        own, near = neighbors_of(way, train, test, embedding)
        # leave-one-out on the training half: nothing of the tests is looked at
        right = [(votes(own, ours, k) == ours).mean() for k in KS]
        k = KS[int(np.argmax(right))]
        row[way] = float((votes(near, ours, k) == theirs).mean())
    row["± (95 %)"] = float(1.96 * np.sqrt(row["WMD"] * (1 - row["WMD"]) / n))
    return row


def main() -> None:
    args = measuring.options(__doc__, sets=READ, most=400)
    warnings.simplefilter("ignore")
    compile_search()
    table = load_table()
    rows = measuring.shown(bench(name, args, table) for name in args.sets)
    record(
        "wmd_accuracy",
        rows,
        title="A vote of neighbours: Word Mover's Distance against plain vectors",
        note=(
            "Accuracy on texts not trained on; k of 1 to 19 by leave-one-out on the "
            "training texts. counts: Euclidean distance of word counts, the baseline "
            "of the first papers; L1: Manhattan distance of rows of sum 1, which "
            "Sato et al. (2022) found to come close."
        ),
    )


if __name__ == "__main__":
    main()
