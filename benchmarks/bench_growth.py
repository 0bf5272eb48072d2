"""How the cost of `DPWordPerturber.transform` grows, and the law it should follow.

One command, about two minutes::

    python benchmarks/bench_growth.py [--repeats 3]

Synthetic tables, ε = 10, λ = 0.5, token lists, one BLAS thread; tokens to bags, search
included, fit not. Four quantities grow, each alone: the vocabulary V, the dimension m,
the number of documents, and their length (with the number of words in all fixed, and
with the number of documents fixed). Each law is a fixed part plus a part in proportion,
fitted by least squares on relative errors. Recorded are, per quantity, both parts, the
largest deviation of a measured time from the law, and the slope in log-log over all
values and over their larger half, where the fixed part fades. Beside V and m stands the
bare float32 product of the same shapes, 512 rows at a time, which is the floor. Times
are medians of repeats; each repeat goes over all values, so that drift hits all alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import measuring
import numpy as np
from real_data import numbered_words
from results import record
from scipy.optimize import nnls

from skdptext import DPWordPerturber

V, M = 10_000, 100  # where neither grows


@dataclass
class Case:
    """One value of what grows, and what is timed there."""

    value: int
    n_words: int
    run: Callable[[], object]
    product: Callable[[], object] | None = None


@dataclass
class Sweep:
    """One quantity that grows. The law: a time is a + b·value, per word or in all."""

    name: str
    quantity: str
    per_word: bool
    grows: bool
    cases: Callable[[], Iterator[Case]]


def fitted(n_words: int, dim: int) -> DPWordPerturber:
    rng = np.random.default_rng([n_words, dim])
    table = numbered_words(rng.normal(size=(n_words, dim)).astype(np.float32) / 8)
    return DPWordPerturber(table, epsilon=10.0, lam=0.5).fit([])


def documents(perturber: DPWordPerturber, number: int, length: int) -> list[list[str]]:
    words = perturber.embedding_.word_array
    ids = np.random.default_rng(0).integers(0, len(words), (number, length))
    return words[ids].tolist()


def table_case(value: int, n_words: int, dim: int) -> Case:
    """4,096 words in documents of 64 under a table, and the bare product there."""
    perturber = fitted(n_words, dim)
    asked = documents(perturber, 64, 64)
    vectors = perturber.embedding_.vectors
    rows = vectors[np.random.default_rng(0).integers(0, n_words, 4096)]
    product = measuring.bare_product(rows, vectors)
    return Case(value, 4096, lambda: perturber.transform(asked), product)


def by_vocabulary() -> Iterator[Case]:
    for n_words in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000):
        yield table_case(n_words, n_words, 300)


def by_dimension() -> Iterator[Case]:
    for dim in (25, 50, 100, 200, 300, 400, 600):
        yield table_case(dim, 30_000, dim)


def text_cases(shapes: list[tuple[int, int, int]]) -> Iterator[Case]:
    perturber = fitted(V, M)
    for value, number, length in shapes:
        asked = documents(perturber, number, length)
        yield Case(value, number * length, lambda d=asked: perturber.transform(d))


def by_documents() -> Iterator[Case]:
    return text_cases([(n, n, 20) for n in (10, 30, 100, 300, 1_000, 3_000, 10_000)])


def by_length_of_fixed_total() -> Iterator[Case]:
    lengths = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384)
    return text_cases([(n, 16_384 // n, n) for n in lengths])


def by_length_of_fixed_number() -> Iterator[Case]:
    return text_cases([(n, 256, n) for n in (1, 4, 16, 64, 256, 1_024)])


SWEEPS = (
    Sweep("vocabulary", "V, words in the vocabulary", True, True, by_vocabulary),
    Sweep("dimension", "m, dimension", True, True, by_dimension),
    Sweep("documents", "documents of 20 words", False, True, by_documents),
    Sweep(
        "length, 16,384 words in all",
        "words per document",
        True,
        False,
        by_length_of_fixed_total,
    ),
    Sweep(
        "length, 256 documents",
        "words per document",
        False,
        True,
        by_length_of_fixed_number,
    ),
)


def measure(sweep: Sweep, repeats: int) -> list[dict[str, object]]:
    cases = list(sweep.cases())
    for case in cases[:3]:  # warms up, on the small end alone
        case.run()
    runs = [run for case in cases for run in (case.run, case.product) if run]
    medians = iter(np.median(measuring.rounds(runs, repeats, warm=False), axis=0))
    rows: list[dict[str, object]] = []
    for case in cases:
        total = float(next(medians))
        row = {"what grows": sweep.name, "value": case.value, "words": case.n_words}
        row |= {"seconds": total, "µs per word": 1e6 * total / case.n_words}
        if case.product is not None:
            row["product, µs per word"] = 1e6 * float(next(medians)) / case.n_words
        rows.append(row)
    return rows


def law(sweep: Sweep, rows: list[dict]) -> dict[str, object]:
    """Fixed and proportional part, deviation, slopes."""
    x = np.array([row["value"] for row in rows], dtype=float)
    key = "µs per word" if sweep.per_word else "seconds"
    t = np.array([row[key] for row in rows], dtype=float)
    design = np.column_stack([np.ones_like(x), x if sweep.grows else np.zeros_like(x)])
    (fixed, rate), _ = nnls(design / t[:, None], np.ones_like(t))
    off = np.abs((fixed + rate * x) / t - 1).max()
    half = len(x) // 2
    return {
        "what grows": sweep.name,
        "from": int(x[0]),
        "to": int(x[-1]),
        "unit of time": key,
        "law": "fixed + rate × value" if sweep.grows else "fixed",
        "fixed": float(fixed),
        "rate": float(rate) if sweep.grows else None,
        "largest deviation": float(off),
        "slope": slope(x, t),
        "slope, larger half": slope(x[half:], t[half:]),
        "slope of the law": 1 if sweep.grows else 0,
    }


def slope(x: np.ndarray, t: np.ndarray) -> float:
    return float(np.polyfit(np.log(x), np.log(t), 1)[0])


def main() -> None:
    repeats = measuring.options(__doc__, repeats=3).repeats
    points: list[dict[str, object]] = []
    laws = []
    for sweep in SWEEPS:
        print(f"{sweep.name} ...", flush=True)
        rows = measure(sweep, repeats)
        points += rows
        laws.append(law(sweep, rows))
    shapes = (
        f"Synthetic tables, ε = 10, λ = 0.5, one thread, medians of {repeats} repeats. "
        "V grows at m = 300, m at V = 30,000, the documents at V = "
        f"{V:,} and m = {M}."
    )
    record("growth_points", points, title="Growth of the cost: times", note=shapes)
    record(
        "growth",
        laws,
        title="Growth of the cost: laws",
        note=(
            f"{shapes} Fixed part and rate are fitted by least squares on relative "
            "errors; the deviation is the largest, relative to the measured time. "
            "Slopes are of straight lines in log-log."
        ),
    )


if __name__ == "__main__":
    main()
