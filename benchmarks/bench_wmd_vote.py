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

import time

import measuring
import numpy as np
import scipy.sparse as sp
from real_data import (
    SMS,
    STORIES,
    TWEETS,
    absent,
    load_table,
    read_sms,
    read_stories,
    read_tweets,
)
from results import record
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WMDKNNClassifier, WordEmbedding

FILES = {"sms": SMS, "tweets": TWEETS, "fiction": STORIES}


def read_fiction() -> tuple[list[str], list[str]]:
    """Halves of texts, and their fandoms."""
    texts, labels = [], []
    for text in read_stories():
        if text["topic"].startswith("target_"):
            words = text["text"].split()
            middle = len(words) // 2
            texts += [" ".join(words[:middle]), " ".join(words[middle:])]
            labels += [text["topic"]] * 2
    return texts, labels


READ = {"sms": read_sms, "tweets": read_tweets, "fiction": read_fiction}


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
        predicted = []
        runs = [
            lambda model=model, out=predicted: out.append(model.predict(queries)),
            lambda model=model: model.kneighbors(queries),
        ]
        seconds = measuring.rounds(runs, args.repeats, time.process_time, warm=False)
        assert all(np.array_equal(out, model.classes_[votes]) for out in predicted)
        predict, kneighbors = np.median(seconds, axis=0) / queries.shape[0]
        index, bags = model._index, model._query_bags(queries)[0]
        yield {
            "set": name,
            "words": words,
            "classes": len(model.classes_),
            "k": k,
            "solved for neighbours": index.nearest(bags, k)[2].mean(),
            "solved for the vote": index.vote(bags, k, model._codes[0])[1].mean(),
            "kneighbors, ms": kneighbors * 1e3,
            "predict, ms": predict * 1e3,
            "predict × kneighbors": kneighbors / predict,
        }


def main() -> None:
    args = measuring.options(
        __doc__, sets=READ, k=[1, 5, 20], train=2000, queries=400, repeats=5
    )
    measuring.need_loops()
    if absent(*(FILES[name] for name in args.sets)):
        return
    embedding = load_table()
    rows = measuring.shown(
        row for name in args.sets for row in bench(name, args.k, embedding, args)
    )
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
