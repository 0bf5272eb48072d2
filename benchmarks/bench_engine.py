"""``engine="torch"`` against the bare float32 and int8 products.

One command, in an environment with PyTorch (``pip install skdptext[torch]``)::

    python benchmarks/bench_engine.py [--repeats 5] [--tables real synthetic] [--parts]

`transform` of token lists of 16 words end to end, and the search alone, one thread,
under the tables of ``bench_perturbation.py``. The bare products write their scores and
do nothing with them. All sides run in turn, and ratios are the medians of those to the
products just before and after: the speed of a machine changes.

``--parts`` instead says what the search consists of.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import measuring
import numpy as np
from bench_perturbation import TABLES
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.search import embedding_search

EPSILON = 10.0
N_WORDS = 8192
BLOCK = 512


def noisy_points(perturber: DPWordPerturber, ids: np.ndarray) -> np.ndarray:
    channel = perturber.mechanism_
    noise = channel.noise(channel.draw(np.random.default_rng(1), len(ids)))
    return noise + perturber.embedding_.vectors[ids]


def against_products(table: WordEmbedding, repeats: int) -> list[dict[str, object]]:
    import torch

    torch.set_num_threads(1)
    ids = np.random.default_rng(0).integers(0, len(table), N_WORDS)
    words = table.word_array[ids].tolist()
    documents = [words[i : i + 16] for i in range(0, N_WORDS, 16)]
    rows = table.vectors[ids]
    scores = np.empty((BLOCK, len(table)), dtype=np.float32)
    # Which integers they are does not matter to the time.
    small = torch.from_numpy(np.clip(table.vectors * 50, -127, 127).astype(np.int8))
    points8 = small[ids]
    tiles = [small[i : i + 2048].t() for i in range(0, len(table), 2048)]

    def float32() -> None:
        for i in range(0, N_WORDS, BLOCK):
            np.matmul(rows[i : i + BLOCK], table.vectors.T, out=scores)

    def int8() -> None:
        for i in range(0, N_WORDS, BLOCK):
            for tile in tiles:
                torch._int_mm(points8[i : i + BLOCK], tile)

    lines: list[dict[str, object]] = []
    for lam in (0.0, 0.5, 1.0):
        plain, fast = (
            DPWordPerturber(table, epsilon=EPSILON, lam=lam, engine=engine).fit([])
            for engine in ("numpy", "torch")
        )
        points = noisy_points(fast, ids)
        search = embedding_search(table, "torch")
        same = (search(points) == embedding_search(table)(points)).all()
        sides = {
            "int8 product": int8,
            "search": lambda p=points, s=search: s(p),
            "transform": lambda p=fast: p.transform(documents),
            "transform by NumPy": lambda p=plain: p.transform(documents),
        }
        runs = [float32]
        for side in sides.values():
            runs += [side, float32]
        spent = measuring.rounds(runs, repeats)
        bare, ours = (spent[:, :-1:2] + spent[:, 2::2]) / 2, spent[:, 1::2]
        line: dict[str, object] = {"V": len(table), "λ": lam}
        line["float32 product, words/s"] = N_WORDS / float(np.median(spent[:, ::2]))
        for name, seconds in zip(sides, np.median(ours, axis=0), strict=True):
            line[f"{name}, words/s"] = N_WORDS / float(seconds)
        for name, ratio in zip(sides, np.median(bare / ours, axis=0), strict=True):
            line[f"{name} / float32"] = float(ratio)
        line["same words"] = bool(same)
        lines.append(line)
    return lines


def parts(table: WordEmbedding, repeats: int) -> dict[str, object]:
    """Microseconds per word of the steps of the search."""
    import torch

    torch.set_num_threads(1)
    perturber = DPWordPerturber(table, epsilon=EPSILON, lam=0.5).fit([])
    ids = np.random.default_rng(0).integers(0, len(table), 4096)
    points = noisy_points(perturber, ids)
    search = embedding_search(table, "torch")
    steps = {
        "product and maxima": "_maxima",
        "bounds": "_bound",
        "rescoring": "_rescore",
        "decision": "_decide",
    }
    watches = {name: measuring.Watch() for name in steps}
    for name, method in steps.items():
        setattr(search, method, watches[name].wrap(getattr(search, method)))
    spent: list[list[float]] = []
    for _ in range(repeats + 1):  # the first warms up
        for watch in watches.values():
            watch.seconds = 0.0
        start = time.perf_counter()
        words = search(points)
        whole = time.perf_counter() - start
        known = [watch.seconds for watch in watches.values()]
        spent.append([*known, whole - sum(known)])
    names = [*steps, "all else"]
    medians = np.median(spent[1:], axis=0) / len(ids) * 1e6
    row: dict[str, object] = {"V": len(table)}
    row |= {f"{n}, µs": float(t) for n, t in zip(names, medians, strict=True)}
    row["same words"] = bool((words == embedding_search(table)(points)).all())
    return row


def main() -> None:
    arguments = measuring.options(__doc__, repeats=5, tables=TABLES, parts=False)
    if find_spec("torch") is None:
        print("Not run: PyTorch is not installed (pip install skdptext[torch]).")
        return
    tables = {name: TABLES[name]() for name in arguments.tables}
    for table in tables.values():
        reason = embedding_search(table, "torch").fallback_reason
        if reason is not None:
            print(f"Not run: {reason}.")
            return
    if arguments.parts:
        record(
            "engine_parts",
            [parts(table, arguments.repeats) for table in tables.values()],
            title="Torch engine: what a search consists of",
            note=f"One thread, ε = {EPSILON:g}, λ = 0.5; µs per word, medians.",
        )
        return
    for name, table in tables.items():
        record(
            "engine" if name == "real" else f"engine_{name}",
            against_products(table, arguments.repeats),
            title=f"Torch engine against the bare products, V = {len(table):,}",
            note=f"One thread, {N_WORDS:,} words, ε = {EPSILON:g}; medians.",
        )


if __name__ == "__main__":
    main()
