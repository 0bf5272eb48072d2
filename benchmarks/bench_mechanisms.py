"""Words kept for the same proven ε, and what the exponential mechanism costs.

One command::

    python benchmarks/bench_mechanisms.py [--documents 100000] [--repeats 3]

On the tables in the folder named by SKDPTEXT_TEST_DATA, or ../shared/data; those
that are missing are left out. One BLAS thread, some three minutes. Three tables are
recorded: the mean probability of a word to stay, exactly, of 3,000 words at the same ε
per unit of Euclidean distance; the time of the calibration at V = 8,000 and 30,000
against the float64 product of all pairs of words by itself; and words a second of a
release of SMS-sized documents, whose lengths are those of the SMS set. Times are of the
processor, so that a busy machine counts less.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial

import measuring
import numpy as np
from real_data import DATA, GLOVE, GOOGLE, SMS, W2V, absent, read_sms
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)

TABLES = ((W2V, 2.33), (GOOGLE, 2.73), (GLOVE, 1.99))
N_KEPT, N_SPEED = 3000, 8000
# ε that keep a quarter to a half of the words, on which the speed hardly depends; the
# noise is drawn for every so many documents only
RELEASES: tuple[tuple[WordMechanism, float, int], ...] = (
    (MahalanobisNoise(), 20.0, 50),
    (Exponential(), 3.0, 1),
    (Exponential("half"), 4.7, 1),
    (RandomizedResponse(), 9.0, 1),
)


def unchanged() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, epsilon in TABLES:
        if absent(name):
            continue
        table = WordEmbedding.load(DATA / name).restrict(N_KEPT)
        row: dict[str, object] = {"table": name.removesuffix(".npz"), "ε": epsilon}
        for calibration in ("half", "exact"):
            channel = Exponential(calibration).prepare(table, epsilon, 0.0)
            # equal vectors aside, a word stays with probability 1/C
            stays = np.exp(-channel.log_normalizers).mean()
            row[f"{calibration}: rate"] = channel.rate
            row[f"{calibration}: lost per distance"] = channel.attained
            row[f"{calibration}: words kept, %"] = 100 * float(stays)
        rows.append(row)
    return rows


def calibration(
    table: WordEmbedding, epsilons: tuple[float, ...], repeats: int
) -> list[dict[str, object]]:
    points = table.vectors.astype(np.float64)
    product = measuring.bare_product(points, points, 256)
    rows: list[dict[str, object]] = []
    for epsilon in epsilons:
        # what is kept from the last repeat is for another cap, beyond all words
        caps = itertools.count(1e6)

        def prepare(epsilon: float = epsilon, caps: Iterator[float] = caps) -> None:
            Exponential(max_distance=next(caps)).prepare(table, epsilon, 0.0)

        times = measuring.rounds([product, prepare], repeats, time.process_time, False)
        bare, spent = np.median(times, axis=0)
        rows.append(
            {"words": len(table), "ε": epsilon, "calibration, s": spent,
             "product, s": bare, "ratio": spent / bare}
        )  # fmt: skip
    return rows


def speed(
    table: WordEmbedding, n_documents: int, repeats: int
) -> list[dict[str, object]]:
    texts = [text.lower().split() for text in read_sms()[0]]
    known = [[word for word in text if word in table] for text in texts]
    known = [text for text in known if text]
    documents = (known * (n_documents // len(known) + 1))[:n_documents]
    rows: list[dict[str, object]] = []
    for mechanism, epsilon, every in RELEASES:
        fitted = DPWordPerturber(
            table, epsilon=epsilon, lam=0.0, mechanism=mechanism, output="tokens",
            document_length=None,
        ).fit([])  # fmt: skip
        asked = documents[::every]
        noisy = fitted.transform(asked)
        spent = measuring.median_seconds(
            partial(fitted.transform, asked), time.process_time, repeats
        )
        same = np.concatenate(asked) == np.concatenate(noisy)
        rows.append(
            {"mechanism": repr(mechanism), "ε": epsilon, "documents": len(asked),
             "kept, %": 100 * float(np.mean(same)),
             "words/s": len(same) / spent}
        )  # fmt: skip
    for row in rows:
        row["against the noise"] = float(row["words/s"]) / float(rows[0]["words/s"])
    return rows


def main() -> None:
    options = measuring.options(__doc__, documents=100_000, repeats=3)
    if rows := unchanged():
        record(
            "mechanisms_kept",
            rows,
            title="Words kept for the same proven ε, by calibration",
            note=f"First {N_KEPT:,} words, Euclidean, exact by formula.",
        )
    if absent(W2V, SMS):
        return
    whole = WordEmbedding.load(DATA / W2V)
    table = whole.restrict(N_SPEED)
    record(
        "mechanisms_calibration",
        calibration(table, (1.5, 2.33, 3.0), options.repeats)
        + calibration(whole, (2.33,), 1),
        title="Calibration against the bare product of all pairs of words",
        note=f"m = {table.dim}, float64, processor time; medians, one run at "
        f"V = {len(whole):,}.",
    )
    record(
        "mechanisms_speed",
        speed(table, options.documents, options.repeats),
        title="Releases of SMS-sized documents",
        note=(
            f"V = {N_SPEED:,}, m = {table.dim}, fresh noise, one thread, tokens to "
            "tokens; medians."
        ),
    )


if __name__ == "__main__":
    main()
