"""``engine="torch"`` against the bare float32 and bfloat16 products.

One command, in an environment with PyTorch (``pip install skdptext[torch]``)::

    python benchmarks/bench_engine.py [--repeats 3] [--tables real synthetic] [--parts]

On the CPU: `transform` of token lists of 16 words end to end, and the search alone,
one thread, under the tables of ``bench_perturbation.py``. The bare products
write their scores and do nothing with them; all sides run in turn. Where there is a
CUDA device: V = 100,000, m = 300, the product alone with everything on the device, the
search of points that come from the host, `transform` end to end, and the share that the
first two have of the device's peak (``--peak``, in TFLOP/s; an H200's dense bfloat16
peak is 989). That part was never run: no such device was at hand.

``--parts`` instead says what the search on the CPU consists of, on any processor; where
it has no bfloat16 instructions the product is many times slower than elsewhere, and the
other parts are what they are.
"""

from __future__ import annotations

import argparse
import time
import warnings
from importlib.util import find_spec

import numpy as np
from bench_perturbation import TABLES, alternate, synthetic
from results import record
from threadpoolctl import threadpool_limits
from watch import Watch

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.search import embedding_search, half_squared_norms
from skdptext.search._bfloat16 import BFloat16Search
from skdptext.search._torch import TorchArithmetic

EPSILON = 10.0
N_WORDS = 8192
BLOCK = 512


def noisy_points(perturber: DPWordPerturber, ids: np.ndarray) -> np.ndarray:
    channel = perturber.mechanism_
    noise = channel.noise(channel.draw(np.random.default_rng(1), len(ids)))
    return noise + perturber.embedding_.vectors[ids]


def on_cpu(table: WordEmbedding, repeats: int) -> list[dict[str, object]]:
    import torch

    torch.set_num_threads(1)
    ids = np.random.default_rng(0).integers(0, len(table), N_WORDS)
    words = table.word_array[ids].tolist()
    documents = [words[i : i + 16] for i in range(0, N_WORDS, 16)]
    rows = table.vectors[ids]
    scores = np.empty((BLOCK, len(table)), dtype=np.float32)
    half = torch.from_numpy(table.vectors.copy()).to(torch.bfloat16)
    half_rows = torch.from_numpy(rows).to(torch.bfloat16)
    tiles = [half[i : i + 2048].t() for i in range(0, len(table), 2048)]

    def float32() -> None:
        for i in range(0, N_WORDS, BLOCK):
            np.matmul(rows[i : i + BLOCK], table.vectors.T, out=scores)

    def bfloat16() -> None:
        for i in range(0, N_WORDS, BLOCK):
            for tile in tiles:
                torch.mm(half_rows[i : i + BLOCK], tile)

    lines: list[dict[str, object]] = []
    for lam in (0.0, 0.5, 1.0):
        plain, fast = (
            DPWordPerturber(table, epsilon=EPSILON, lam=lam, engine=engine).fit([])
            for engine in ("numpy", "torch")
        )
        points = noisy_points(fast, ids)
        search = embedding_search(table, "torch")
        same = (search(points) == embedding_search(table)(points)).all()
        with threadpool_limits(1, "blas"):
            spent = alternate(
                [
                    float32,
                    bfloat16,
                    lambda p=points, s=search: s(p),
                    lambda p=fast: p.transform(documents),
                    lambda p=plain: p.transform(documents),
                ],
                repeats,
            )
        bare, product, alone, ours, numpy_ours = (N_WORDS / s for s in spent)
        lines.append(
            {
                "V": len(table),
                "λ": lam,
                "float32 product, words/s": bare,
                "bfloat16 product, words/s": product,
                "search, words/s": alone,
                "transform, words/s": ours,
                "transform by NumPy, words/s": numpy_ours,
                "search / float32": alone / bare,
                "transform / float32": ours / bare,
                "same words": bool(same),
            }
        )
    return lines


def parts(table: WordEmbedding, repeats: int) -> dict[str, object]:
    """Microseconds per word of the steps of the search."""
    import torch

    torch.set_num_threads(1)
    perturber = DPWordPerturber(table, epsilon=EPSILON, lam=0.5).fit([])
    ids = np.random.default_rng(0).integers(0, len(table), 1024)
    points = noisy_points(perturber, ids)
    arithmetic = TorchArithmetic(torch, "cpu")
    search = BFloat16Search(
        table.vectors, half_squared_norms(table.vectors), arithmetic
    )
    steps = {
        "product and maxima": "_maxima",
        "bounds": "_bounded",
        "who is left": "_survivors",
        "rescoring": "_rescore",
    }
    watches = {name: Watch() for name in steps}
    for name, method in steps.items():
        setattr(search, method, watches[name].wrap(getattr(search, method)))
    spent: list[list[float]] = []
    for _ in range(repeats + 1):  # the first warms up
        for watch in watches.values():
            watch.seconds = 0.0
        start = time.perf_counter()
        found = search(points)
        whole = time.perf_counter() - start
        known = [watch.seconds for watch in watches.values()]
        spent.append([*known, whole - sum(known)])
    names = [*steps, "all else"]
    medians = np.median(spent[1:], axis=0) / len(ids) * 1e6
    row: dict[str, object] = {"V": len(table)}
    row |= {f"{n}, µs": float(t) for n, t in zip(names, medians, strict=True)}
    row["same words"] = bool((found == embedding_search(table)(points)).all())
    return row


def on_cuda(repeats: int, peak: float) -> list[dict[str, object]]:
    import torch

    table = synthetic(100_000)
    n = 65_536
    ids = np.random.default_rng(0).integers(0, len(table), n)
    perturber = DPWordPerturber(table, epsilon=EPSILON, lam=0.5, engine="torch").fit([])
    points = noisy_points(perturber, ids)
    search = embedding_search(table, "torch")
    some = slice(0, 512)
    same = (search(points[some]) == embedding_search(table)(points[some])).all()
    half = torch.from_numpy(table.vectors.copy()).to("cuda", torch.bfloat16)
    half_points = torch.from_numpy(points).to("cuda", torch.bfloat16)
    words = table.word_array[ids].tolist()
    documents = [words[i : i + 16] for i in range(0, n, 16)]

    def bfloat16() -> None:
        for i in range(0, n, 8192):
            torch.mm(half_points[i : i + 8192], half.t())
        torch.cuda.synchronize()

    spent = alternate(
        [
            bfloat16,
            lambda: search(points, 2**31),
            lambda: perturber.transform(documents),
        ],
        repeats,
    )
    product, alone, ours = (n / s for s in spent)
    flops = 2 * len(table) * table.dim
    return [
        {
            "device": torch.cuda.get_device_name(),
            "V": len(table),
            "bfloat16 product, words/s": product,
            "search, words/s": alone,
            "transform, words/s": ours,
            "product / peak": product * flops / (peak * 1e12),
            "search / peak": alone * flops / (peak * 1e12),
            "same words": bool(same),
        }
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=TABLES)
    parser.add_argument("--parts", action="store_true", help="what the time is made of")
    parser.add_argument("--peak", type=float, default=989.0, help="TFLOP/s of the GPU")
    arguments = parser.parse_args()
    if find_spec("torch") is None:
        print("Not run: PyTorch is not installed (pip install skdptext[torch]).")
        return
    import torch

    warnings.simplefilter("ignore", PrivacyLeakWarning)
    if arguments.parts:
        with threadpool_limits(1, "blas"):
            record(
                "engine_parts",
                [parts(TABLES[t](), arguments.repeats) for t in arguments.tables],
                title="Torch engine: what a search consists of",
                note=(
                    f"One thread, 1,024 words, ε = {EPSILON:g}, λ = 0.5; µs per word, "
                    "medians. The product is only fast where the processor has "
                    "bfloat16 instructions (see the features of the machine)."
                ),
            )
        return
    if torch.cuda.is_available():
        record(
            "engine_cuda",
            on_cuda(arguments.repeats, arguments.peak),
            title="Torch engine on CUDA",
            note=f"Noise ε = {EPSILON:g}, λ = 0.5; peak {arguments.peak:g} TFLOP/s.",
        )
        return
    for name in arguments.tables:
        table = TABLES[name]()
        search = embedding_search(table, "torch")
        if search.fallback_reason:
            print(f"Not run: {search.fallback_reason}.")
            return
        record(
            "engine" if name == "real" else f"engine_{name}",
            on_cpu(table, arguments.repeats),
            title=f"Torch engine against the bare products, V = {len(table):,}",
            note=f"One thread, {N_WORDS:,} words, ε = {EPSILON:g}; medians.",
        )


if __name__ == "__main__":
    main()
