"""`WMDKNNClassifier.predict`, which stops when the vote is sure, against `kneighbors`.

One command, one thread; 2,000 training documents, the 30,000 × 300 table::

    python benchmarks/bench_wmd_vote.py [--sets sms tweets fiction] [--k 1 5 20]

Sets, from the folder named by SKDPTEXT_TEST_DATA, or ../shared/data: SMS messages, spam
or not; tweets, of a disaster or not; halves of fan fiction, of five fandoms (the other
half of a text may be among the training documents). Times are of the processor, the two
searches in turn. The labels are compared with the vote of the neighbours that
`kneighbors` finds.
"""

from __future__ import annotations

from bench_wmd import DATA  # first, it pins the threads

# isort: split
import argparse
import gzip
import json
import os
import time

import numpy as np
import scipy.sparse as sp
from real_data import absent, load_table
from results import record
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WMDKNNClassifier, WordEmbedding
from skdptext.datasets import fetch_disaster_tweets, fetch_sms_spam
from skdptext.neighbors import compile_search

FILES = {
    "sms": "sms_spam.tsv.gz",
    "tweets": "disaster_tweets.csv.gz",
    "fiction": "pan19_fanfiction_en.jsonl.gz",
}


def read_fiction() -> tuple[list[str], list[str]]:
    """Halves of texts, and their fandoms."""
    texts, labels = [], []
    with gzip.open(DATA / FILES["fiction"], "rt", encoding="utf-8") as file:
        for text in map(json.loads, file):
            if text["topic"].startswith("target_"):
                words = text["text"].split()
                middle = len(words) // 2
                texts += [" ".join(words[:middle]), " ".join(words[middle:])]
                labels += [text["topic"]] * 2
    return texts, labels


READ = {
    "sms": lambda: fetch_sms_spam(return_X_y=True),
    "tweets": lambda: fetch_disaster_tweets(return_X_y=True),
    "fiction": read_fiction,
}


def bench(name: str, ks: list[int], embedding: WordEmbedding, args):
    texts, labels = READ[name]()
    X = CountVectorizer(vocabulary=embedding.words).transform(texts)
    order = np.random.default_rng(0).permutation(X.shape[0])
    order = order[np.diff(X.indptr)[order] > 0][: args.train + args.queries]
    X, y = sp.csr_array(X[order]), np.array(labels)[order]
    train = X[: args.train]
    words = float(np.diff(train.indptr).mean())
    # of long texts fewer, which take as long
    n_queries = int(np.clip(args.queries * 16 / words, 80, args.queries))
    queries = X[args.train : args.train + n_queries]
    for k in ks:
        model = WMDKNNClassifier(embedding, n_neighbors=k).fit(train, y[: args.train])
        rows = model.kneighbors(queries, return_distance=False)
        codes = np.searchsorted(model.classes_, y)[rows]
        votes = [np.bincount(row).argmax() for row in codes]
        seconds = {"predict": [], "kneighbors": []}
        for _ in range(args.repeats):  # in turn, so that a slow minute hits both
            for method, times in seconds.items():
                start = time.process_time()
                found = getattr(model, method)(queries)
                times.append(time.process_time() - start)
                if method == "predict":
                    assert np.array_equal(found, model.classes_[votes])
        each = {m: np.median(times) / queries.shape[0] for m, times in seconds.items()}
        index, bags = model._index, model._query_bags(queries)[0]
        yield {
            "set": name,
            "words": words,
            "classes": len(model.classes_),
            "k": k,
            "solved for neighbours": float(index.nearest(bags, k)[2].mean()),
            "solved for the vote": float(index.vote(bags, k, model._labels)[1].mean()),
            "kneighbors, ms": each["kneighbors"] * 1e3,
            "predict, ms": each["predict"] * 1e3,
            "predict × kneighbors": each["kneighbors"] / each["predict"],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=READ, default=list(READ))
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 20])
    parser.add_argument("--train", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    if not compile_search():
        raise SystemExit("The compiled loops need numba.")
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    if absent(*(FILES[name] for name in args.sets)):
        return
    embedding = load_table()
    rows = []
    for name in args.sets:
        for row in bench(name, args.k, embedding, args):
            print("  ".join(f"{k}: {v}" for k, v in row.items()), flush=True)
            rows.append(row)
    record(
        "wmd_vote",
        rows,
        title="Word Mover's neighbours, and their vote alone",
        note=(
            f"{args.train:,} training documents, compiled loops, one thread, times per "
            "query. `predict` gave the labels that the neighbours of `kneighbors` vote "
            "for, for all queries and in all repeats."
        ),
    )


if __name__ == "__main__":
    main()
