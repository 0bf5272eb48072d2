"""Where the benchmarks find the shared real data, and their 30,000 × 300 table."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from skdptext import WordEmbedding

DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA")
    or Path(__file__).resolve().parents[2] / "shared" / "data"
)


def absent(*names: str) -> list[str]:
    """Those of the named files that are not there, which is said."""
    missing = [name for name in names if not (DATA / name).exists()]
    if missing:
        print(f"Left out, for {DATA} lacks {', '.join(missing)}.")
    return missing


def load_table() -> WordEmbedding:
    """The real table, or a synthetic one of its size, which is said."""
    path = DATA / "w2v_news_fiction_30k_300d.npz"
    if path.exists():
        print(f"Table: {path.name}")
        return WordEmbedding.load(path)
    print("Table: synthetic, 30,000 × 300")
    vectors = np.random.default_rng(0).normal(size=(30_000, 300)) / 8
    return WordEmbedding([f"w{i}" for i in range(30_000)], vectors)
