"""The graph of Word Mover's neighbours of 2,000 to 1,000,000 texts.

One command; 5 neighbours, the 30,000 × 300 table, compiled loops::

    python benchmarks/bench_wmd_graph.py [--sizes 2000 100000] [--full 100000 --jobs 2]

Texts are SMS, tweets and sentences of fan fiction of 2 to 40 distinct words in the
table, in random order, none twice, from the folder named by SKDPTEXT_TEST_DATA. There
are some 110,000; for more (`--generated`), texts are made of these: each next word is
drawn from those that follow the last one in the real texts. Generated texts are less
alike than real ones, so that sizes that both have show how they differ.

Of each size a sample of texts is searched for among all, itself left out, by one
thread, in the processor's time. `--full` finds the whole graph of one size, in blocks
kept in a folder (``--folder``), so that an interrupted run goes on; with
``--only-full`` nothing else is measured, and the row is added to the record.
``--asked`` finds only the rows of so many texts, which shows the memory of a graph too
long to wait for: ``--full 300000 --asked 8192``.

``--both-ends`` measures, instead, what a graph saves where the first bounds of a pair
serve both of its texts, and what it would save if distances did: ``python
benchmarks/bench_wmd_graph.py --both-ends --sizes 2000 10000``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from unittest.mock import patch

import measuring
import numpy as np
import scipy.sparse as sp
from real_data import load_table, read_sms, read_stories, read_tweets
from results import RESULTS, record
from sklearn.feature_extraction.text import CountVectorizer

from skdptext import WordEmbedding
from skdptext.neighbors import WMDNeighbors
from skdptext.transport import BagIndex, as_word_bags, take_bags
from skdptext.transport._cascade import Cascade
from skdptext.transport._kernels import load_bounds, load_kernels


def read_counts(embedding: WordEmbedding) -> tuple[sp.csr_array, list[list[int]]]:
    """Word counts of different short texts, in random order, and all their words."""
    stories = [story["text"] for story in read_stories()]
    fiction = [s for text in stories for s in re.split(r'[.!?;:"]+\s|\n', text)]
    texts = list(dict.fromkeys(read_sms()[0] + read_tweets()[0] + fiction))
    vectorizer = CountVectorizer(vocabulary=embedding.words)
    counts = vectorizer.transform(texts)
    rows = short(counts)
    known, split = vectorizer.vocabulary_, vectorizer.build_analyzer()
    words = [[known[w] for w in split(texts[row]) if w in known] for row in rows]
    return sp.csr_array(counts[np.random.default_rng(0).permutation(rows)]), words


def short(counts: sp.csr_array) -> np.ndarray:
    """Rows of 2 to 40 distinct words."""
    sizes = np.diff(counts.indptr)
    return np.flatnonzero((sizes >= 2) & (sizes <= 40))


def generate(words: list[list[int]], n: int, n_words: int) -> sp.csr_array:
    """Word counts of `n` different texts, each word one that followed the last."""
    rng = np.random.default_rng(2)
    end = n_words  # also the start
    chain = np.array([w for text in words for w in [*text, end]])
    before = np.concatenate([[end], chain[:-1]])
    after = chain[np.argsort(before, kind="stable")]
    starts = np.searchsorted(np.sort(before), np.arange(end + 2))
    parts, seen, n_made = [], np.empty(0, np.int64), 0
    mark = rng.integers(1, 2**62, end)
    while n_made < n:
        here = np.full(50_000, end)
        rows, ids, going = [], [], np.arange(len(here))
        while len(going):
            draw = rng.random(len(going)) * (starts[here + 1] - starts[here])
            here = after[starts[here] + draw.astype(int)]
            going, here = going[here != end], here[here != end]
            rows.append(going)
            ids.append(here)
        where = np.concatenate(rows), np.concatenate(ids)
        shape = 50_000, n_words
        counts = sp.csr_array((np.ones(len(where[0])), where), shape=shape)
        counts = sp.csr_array(counts[short(counts)])
        # a number for the bag of words, so that none comes twice
        number = counts.astype(np.int64) @ mark
        _, first = np.unique(number, return_index=True)
        first = np.sort(first[~np.isin(number[first], seen)])
        seen = np.concatenate([seen, number[first]])
        parts.append(counts[first])
        n_made += len(first)
    return sp.csr_array(sp.vstack(parts, format="csr")[:n])


def sample(counts: sp.csr_array, texts: str, embedding: WordEmbedding, args) -> dict:
    n = counts.shape[0]
    bags = as_word_bags(counts)
    start = time.process_time()
    index = BagIndex(bags, len(embedding), embedding.vectors)
    few = np.arange(64)
    index.nearest(take_bags(bags, few), 5, exclude=few)  # warm
    built = time.process_time() - start
    asked = np.random.default_rng(1).choice(n, min(args.queries, n), replace=False)
    queries = take_bags(bags, asked)
    start = time.process_time()
    distances, _, solved = index.nearest(queries, 5, exclude=asked)
    seconds = (time.process_time() - start) / len(asked)
    return {
        "texts": n,
        "which": texts,
        "words": float(bags.sizes.mean()),
        "words of the table": len(index.words),
        "index, s": built,
        "ms per text": seconds * 1e3,
        "solved": float(solved.mean()),
        "fifth distance": float(distances[:, -1].mean()),
        "graph, CPU hours": seconds * n / 3600,
        "process, GB": measuring.peak_mb() / 1024,
        "how": f"{len(asked)} texts sampled",
    }


def whole(counts: sp.csr_array, texts: str, embedding: WordEmbedding, args) -> dict:
    n = counts.shape[0]
    asked, part = None, "the whole graph"
    if args.asked:
        asked, part = counts[: args.asked], f"{args.asked} texts, in blocks"
    model = WMDNeighbors(embedding, n_jobs=args.jobs, verbose=1).fit(counts)
    wall, cpu = time.perf_counter(), time.process_time()
    graph = model.kneighbors_graph(asked, mode="distance", folder=args.folder or None)
    wall = time.perf_counter() - wall
    cpu = (time.process_time() - cpu) * n / graph.shape[0]
    return {
        "texts": n,
        "which": texts,
        "ms per text": cpu / n * 1e3,
        "graph, CPU hours": cpu / 3600,
        **({} if args.asked else {"graph, hours": wall / 3600}),
        "process, GB": measuring.peak_mb() / 1024,
        "how": f"{part}, {args.jobs} threads",
    }


def both_ends(counts: sp.csr_array, embedding: WordEmbedding) -> dict:
    """What the search among the texts themselves shares, and does at both ends."""
    bags, n = as_word_bags(counts), counts.shape[0]
    index = BagIndex(bags, len(embedding), embedding.vectors)
    bounds, kernels = measuring.Watch(), measuring.Watch()
    loops, exact = load_bounds(), load_kernels()
    watched = loops._replace(relax=bounds.wrap(loops.relax))
    solving = exact._replace(pairs=kernels.wrap(exact.pairs))
    solved, nearest = [], Cascade.nearest

    def counted(self: Cascade, k: int):
        neighbours = nearest(self, k)
        solved.append(self._bags)
        return neighbours

    keeps = BagIndex._keeps_bounds
    assert keeps(index), "bounds of so many texts have no room"

    def find(shared: bool) -> None:
        BagIndex._keeps_bounds = keeps if shared else lambda self: False
        index.nearest(bags, 5, exclude=np.arange(n))

    with measuring.using(watched, solving), patch.object(Cascade, "nearest", counted):
        seconds = measuring.seconds_of(lambda: find(True))
    times = measuring.rounds(
        [lambda: find(True), lambda: find(False)], 3, time.process_time, warm=False
    )
    BagIndex._keeps_bounds = keeps
    ends = np.repeat(np.arange(n), [len(each) for each in solved])
    others = np.concatenate(solved)
    pairs = np.minimum(ends, others) * n + np.maximum(ends, others)
    again = 1 - len(np.unique(pairs)) / len(pairs)
    return {
        "texts": n,
        "ms per text": np.median(times[:, 0]) / n * 1e3,
        "without shared bounds, ms": np.median(times[:, 1]) / n * 1e3,
        "time, of that without": np.median(times[:, 0] / times[:, 1]),
        "solved": len(pairs) / n,
        "solved again": again,
        "their time": again * kernels.seconds / seconds,
        "time of the first bounds": bounds.seconds / seconds,
        "to keep these, GB": 4 * n * n / 1e9,
    }


def main() -> None:
    args = measuring.options(
        __doc__, sizes=[2000, 5000, 10_000, 20_000, 50_000, 100_000], queries=400,
        generated=[20_000, 100_000, 300_000, 1_000_000], full=0, only_full=False,
        asked=0, jobs=2, folder="", both_ends=False,
    )  # fmt: skip
    measuring.need_loops()
    embedding = load_table()
    real, words = read_counts(embedding)
    print(f"{real.shape[0]:,} texts", flush=True)
    if args.both_ends:
        record(
            "wmd_both_ends",
            [both_ends(real[:n], embedding) for n in args.sizes],
            title="Word Mover's graph: what both ends of a pair share",
            note=(
                "5 neighbours of each of so many real texts among the others, one "
                "thread, processor time, medians of 3 rounds in turn. Both ends share "
                "the products of words and the first bounds. A first bound sends the "
                "words of one text to the nearest of the other: the greater of both "
                "ends' is kept. solved again: exact problems that the other text had "
                "solved before, as a share of all; their time and that of the first "
                "bounds, as shares of the whole."
            ),
        )
        return
    before = []
    if args.only_full:
        before = json.loads((RESULTS / "wmd_graph.json").read_text())["rows"]
        args.sizes = args.generated = []
    most = max([*args.generated, args.full if args.full > real.shape[0] else 0])
    made = generate(words, most, len(embedding)) if most else real

    def rows() -> Iterator[dict]:
        for n in args.sizes:
            yield sample(real[:n], "real", embedding, args)
        for n in args.generated:
            yield sample(made[:n], "generated", embedding, args)
        if args.full:
            texts = "generated" if args.full > real.shape[0] else "real"
            counts = (made if texts == "generated" else real)[: args.full]
            yield whole(counts, texts, embedding, args)

    record(
        "wmd_graph",
        [*before, *measuring.shown(rows())],
        title="The graph of Word Mover's neighbours as texts become more",
        note=(
            "5 neighbours of each text among the others; SMS, tweets and sentences of "
            "2 to 40 words, and texts generated from these, word by word. One thread, "
            "processor time; graph: the time for a text times their number; process: "
            "the most memory that it held, the table of 30,000 words and all texts "
            "included. fifth distance: mean, to the farthest of the five."
        ),
    )


if __name__ == "__main__":
    main()
