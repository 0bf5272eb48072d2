"""Word Mover's neighbours with two threads, and what keeps them from twice one.

One command; 2,000 training documents, k = 5, the 30,000 × 300 table, compiled loops::

    python benchmarks/bench_wmd_threads.py [--sets 8 16 messages16 ...]

The lock: of one thread's wall time, the share spent in calls that release Python's
lock, which are the compiled search, with the solver in it, and the product of matrices.
They are wrapped and timed; the time to enter and leave them counts as theirs. The rest
holds the lock.

Limits follow from the share h that holds it. Amdahl's law, 1 / (h + (1 - h) / 2), is
for a part that runs beside nothing. This part does run beside the loops of the other
thread; but one thread at a time holds the lock, so that two are no faster than 1 / h,
nor than 2. Between the two is a queue: threads that want the lock at random times wait
for each other. With exponential times two reach (1 - p) / h, where p = 1 / (1 + 2 r +
2 r²) is the share of time in which the lock is free, r = h / (1 - h).

Two processes, each with all queries, show what this machine's two cores give without a
lock between them.
"""

from __future__ import annotations

from functools import partial
from multiprocessing import get_context

import measuring
import numpy as np
from bench_wmd import read_counts, searched
from real_data import load_table
from results import record

from skdptext import WordEmbedding
from skdptext.transport import BagIndex, WordBags
from skdptext.transport._kernels import load_bounds, load_kernels

SETS = ["8", "16", "messages16", "32", "64", "100"]


def released(index: BagIndex, queries: WordBags, k: int) -> tuple[float, float]:
    """Share of one thread's time in calls without the lock; such calls per query."""
    watch = measuring.Watch()
    loops, kernels = load_bounds(), load_kernels()
    loops = type(loops)(*map(watch.wrap, loops))
    if kernels is not None:
        kernels = type(kernels)(*map(watch.wrap, kernels))
    index.table.products = watch.wrap(index.table.products)
    with measuring.using(loops, kernels):
        seconds = measuring.seconds_of(lambda: index.nearest(queries, k))
    del index.table.products
    return watch.seconds / seconds, watch.calls / len(queries)


def wait_and_search(index, queries, k, barrier, n, pipe) -> None:
    index.nearest(queries, k)  # warm
    for _ in range(n):
        barrier.wait()
        pipe.send(measuring.seconds_of(lambda: index.nearest(queries, k)))


def apart(index, queries: WordBags, k: int, repeats: int) -> list[float]:
    """Seconds of each repeat with two processes at once, of the slower one."""
    context = get_context("fork")
    barrier = context.Barrier(2)
    pipes, processes = [], []
    for _ in range(2):
        ours, theirs = context.Pipe()
        process = context.Process(
            target=wait_and_search, args=(index, queries, k, barrier, repeats, theirs)
        )
        process.start()
        pipes.append(ours)
        processes.append(process)
    times = [max(pipe.recv() for pipe in pipes) for _ in range(repeats)]
    for process in processes:
        process.join()
    return times


def bench(name: str, embedding: WordEmbedding, args) -> dict[str, object]:
    counts = read_counts(name, args.train + args.queries, embedding)
    # so many that what a call of joblib costs, ten milliseconds or two, hardly shows
    train, queries, index = searched(counts, args.train, args.queries, embedding, 16)

    def search(n_jobs: int = 1) -> tuple[np.ndarray, ...]:
        return index.nearest(queries, args.k, n_jobs=n_jobs)

    answers = zip(search(), search(2), strict=True)  # warm
    same = all(np.array_equal(*answer) for answer in answers)
    one, two, shares = [], [], []
    for _ in range(args.repeats):  # in turn, so that a slow minute hits both
        one.append(measuring.seconds_of(search))
        two.append(measuring.seconds_of(partial(search, 2)))
        shares.append(released(index, queries, args.k))
    both = apart(index, queries, args.k, args.repeats)
    share, calls = np.median(shares, axis=0)
    held = 1 - share
    r = held / share
    alone = min(one)  # what disturbs a measurement only adds to it
    return {
        "set": name,
        "words": float(train.sizes.mean()),
        "ms per query": alone / len(queries) * 1e3,
        "calls without the lock": calls,
        "time without the lock": share,
        "two threads × one": alone / min(two),
        "Amdahl": 1 / (held + share / 2),
        "queue": (1 - 1 / (1 + 2 * r + 2 * r * r)) / held,
        "1 / h, at most 2": min(2.0, 1 / held),
        "two processes × one": 2 * alone / min(both),
        "same": same,
    }


def main() -> None:
    args = measuring.options(
        __doc__, sets=SETS, train=2000, queries=1600, repeats=5, k=5
    )
    measuring.need_loops()
    embedding = load_table()
    rows = measuring.shown(bench(name, embedding, args) for name in args.sets)
    record(
        "wmd_threads",
        rows,
        title="Word Mover's neighbours with two threads",
        note=(
            f"{args.train:,} training documents, k = {args.k}, compiled loops; least "
            "wall times. time without the lock: share of one thread's time in the "
            "compiled search and the product, which release Python's lock; h is the "
            "rest. Amdahl, queue and 1 / h: what two threads could reach if the part "
            "with the lock ran beside nothing, beside the other's loops but by chance, "
            "and always beside them. two processes: without a lock between them, on "
            "this machine."
        ),
    )


if __name__ == "__main__":
    main()
