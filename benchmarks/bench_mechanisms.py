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

import argparse
import gzip
import statistics
import time
import warnings

import numpy as np
from real_data import DATA, absent
from results import record
from threadpoolctl import threadpool_limits

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)

KEPT = (
    ("w2v_news_fiction_30k_300d.npz", 2.33),
    ("googlenews_8k_300d.npz", 2.73),
    ("glove_6B_13k_50d.npz", 1.99),
)
SPEED_TABLE, SMS = "w2v_news_fiction_30k_300d.npz", "sms_spam.tsv.gz"
N_KEPT, N_SPEED = 3000, 8000
# ε that keep a quarter to a half of the words, on which the speed hardly depends; the
# noise is drawn for every so many documents only
RELEASES: tuple[tuple[WordMechanism, float, int], ...] = (
    (MahalanobisNoise(), 20.0, 50),
    (Exponential(), 3.0, 1),
    (Exponential("half"), 4.7, 1),
    (RandomizedResponse(), 9.0, 1),
)


def kept() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, epsilon in KEPT:
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
    rows: list[dict[str, object]] = []
    for epsilon in epsilons:
        bare, ours = [], []
        for repeat in range(repeats):
            start = time.process_time()
            for i in range(0, len(points), 256):
                points[i : i + 256] @ points.T
            bare.append(time.process_time() - start)
            # what is kept from the last repeat is for another cap, beyond all words
            mechanism = Exponential(max_distance=1e6 + repeat)
            start = time.process_time()
            mechanism.prepare(table, epsilon, 0.0)
            ours.append(time.process_time() - start)
        product, spent = statistics.median(bare), statistics.median(ours)
        rows.append(
            {"words": len(table), "ε": epsilon, "calibration, s": spent,
             "product, s": product, "ratio": spent / product}
        )  # fmt: skip
    return rows


def speed(
    table: WordEmbedding, n_documents: int, repeats: int
) -> list[dict[str, object]]:
    with gzip.open(DATA / SMS, "rt", encoding="utf-8") as lines:
        texts = [line.split("\t", 1)[1].lower().split() for line in lines]
    known = [[word for word in text if word in table] for text in texts]
    known = [text for text in known if text]
    documents = (known * (n_documents // len(known) + 1))[:n_documents]
    rows: list[dict[str, object]] = []
    for mechanism, epsilon, every in RELEASES:
        fitted = DPWordPerturber(
            table, epsilon=epsilon, lam=0.0, mechanism=mechanism, output="tokens",
            document_length=None,
        ).fit([])  # fmt: skip
        some, spent = documents[::every], []
        for _ in range(repeats):
            start = time.process_time()
            noisy = fitted.transform(some)
            spent.append(time.process_time() - start)
        pairs = [zip(a, b, strict=True) for a, b in zip(some, noisy, strict=True)]
        same = [word == other for pair in pairs for word, other in pair]
        rows.append(
            {"mechanism": repr(mechanism), "ε": epsilon, "documents": len(some),
             "kept, %": 100 * float(np.mean(same)),
             "words/s": len(same) / statistics.median(spent)}
        )  # fmt: skip
    for row in rows:
        row["against the noise"] = float(row["words/s"]) / float(rows[0]["words/s"])  # type: ignore[arg-type]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    with threadpool_limits(1, user_api="blas"):
        found = kept()
        if found:
            record(
                "mechanisms_kept",
                found,
                title="Words kept for the same proven ε, by calibration",
                note=f"First {N_KEPT:,} words, Euclidean, exact by formula.",
            )
        if absent(SPEED_TABLE, SMS):
            return
        whole = WordEmbedding.load(DATA / SPEED_TABLE)
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
