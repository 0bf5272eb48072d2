"""A 5 × 5 grid of ε and λ in GridSearchCV, with one worker and with two.

One command::

    python benchmarks/bench_grid.py [--documents 300] [--repeats 2]

Real SMS messages (or synthetic ones, which is said) under the 30,000 × 300 table,
noisy bags and naive Bayes, two folds. BLAS has one thread in every process. The
workers are loky's: processes that map the table from one file. Their start is shown
by the first run, which is not in the median.
"""

from __future__ import annotations

import time

import measuring
import numpy as np
from real_data import SMS, absent, load_table, read_sms
from results import record
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding

GRID = {
    "dpwordperturber__epsilon": [1.0, 5.0, 10.0, 20.0, 40.0],
    "dpwordperturber__lam": [0.0, 0.25, 0.5, 0.75, 1.0],
}


def messages(table: WordEmbedding, n: int) -> tuple[list[str], np.ndarray]:
    if not absent(SMS):
        texts, labels = read_sms()
        return texts[:n], labels[:n]
    print("Messages: synthetic, 11 words each")
    ids = np.random.default_rng(0).integers(0, len(table), (n, 11))
    return [" ".join(table.words[i] for i in row) for row in ids], np.arange(n) % 2


def main() -> None:
    arguments = measuring.options(__doc__, documents=300, repeats=2)
    table = load_table()
    texts, labels = messages(table, arguments.documents)
    times: dict[int, list[float]] = {1: [], 2: []}
    fits: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(arguments.repeats + 1):
        for n_jobs, spent in times.items():
            model = make_pipeline(DPWordPerturber(table, n_jobs=1), MultinomialNB())
            search = GridSearchCV(
                model, GRID, cv=2, n_jobs=n_jobs, refit=False, error_score="raise"
            )
            start = time.perf_counter()
            search.fit(texts, labels)
            spent.append(time.perf_counter() - start)
            scores = search.cv_results_
            work = scores["mean_fit_time"] + scores["mean_score_time"]
            fits[n_jobs].append(float(2 * work.sum()))
    usual = {n: np.median(spent[1:]) for n, spent in times.items()}
    inside = {n: np.median(spent[1:]) for n, spent in fits.items()}
    record(
        "grid",
        [
            {
                "n_jobs": n,
                "first run, s": times[n][0],
                "then, s": usual[n],
                "speed-up": usual[1] / usual[n],
                "sum over candidates, s": inside[n],
                "outside candidates, s": usual[n] - inside[n] / n,
            }
            for n in times
        ],
        title="A 5 × 5 grid of ε and λ, two folds",
        note=(
            f"{len(texts)} messages. The sum over candidates is the time inside fit "
            "and score, of all workers together: where two need more of it than one, "
            "they share caches and memory; the rest is dispatch."
        ),
    )


if __name__ == "__main__":
    main()
