"""Accuracy on real messages through the noise: SMS spam and disaster tweets.

One command::

    python benchmarks/bench_utility.py [--sets sms tweets] [--table NAME]

Reads the two sets and the table from the folder named by SKDPTEXT_TEST_DATA, or
../shared/data. 70 % of each set train, 30 % test (stratified, seed 0); both are
perturbed. Classifiers: 5 nearest neighbours by Word Mover's Distance, and logistic
regression on the bags. Recorded: a table per set, one line per ε and λ, with the share
of the words that change; the standard error of an accuracy is about 0.01.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np
from real_data import DATA, absent
from results import cell, record
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.datasets import fetch_disaster_tweets, fetch_sms_spam
from skdptext.exceptions import EmptyDocumentWarning, PrivacyLeakWarning
from skdptext.metrics import words_unchanged

EPSILONS = (5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.5, 1.0)
SETS = {
    "sms": ("SMS spam", fetch_sms_spam),
    "tweets": ("Disaster tweets", fetch_disaster_tweets),
}
# So much ε that no word moves.
CLEAN = 1e9


def report(
    name: str, texts: list[str], labels: np.ndarray, table: WordEmbedding
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    train, test, y_train, y_test = train_test_split(
        texts, labels, test_size=0.3, stratify=labels, random_state=0
    )
    print(f"{name}: {len(train)} messages train, {len(test)} test", flush=True)
    for epsilon, lam in [(CLEAN, 0.0), *((e, la) for e in EPSILONS for la in LAMS)]:
        start = time.perf_counter()
        perturber = DPWordPerturber(table, epsilon=epsilon, lam=lam).fit(train)
        noisy_train, noisy_test = perturber.transform(train), perturber.transform(test)
        scores = [
            model.fit(noisy_train, y_train).score(noisy_test, y_test)
            for model in (
                WMDKNNClassifier(table, n_neighbors=5, n_jobs=-1),
                LogisticRegression(max_iter=1000),
            )
        ]
        changed = 1 - words_unchanged(perturber, test, max_words=4000)
        row = {
            "ε": "clean" if epsilon == CLEAN else f"{epsilon:g}",
            "λ": lam,
            "words changed": float(changed),
            "WMD-kNN": float(scores[0]),
            "logistic regression": float(scores[1]),
            "seconds": time.perf_counter() - start,
        }
        print(
            ", ".join(f"{key} {cell(value)}" for key, value in row.items()), flush=True
        )
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", default="w2v_news_fiction_30k_300d.npz")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options = parser.parse_args()
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    for category in (PrivacyLeakWarning, EmptyDocumentWarning):
        warnings.simplefilter("ignore", category)
    if absent("sms_spam.tsv.gz", "disaster_tweets.csv.gz", options.table):
        return
    table = WordEmbedding.load(DATA / options.table)
    for key in options.sets:
        name, fetch = SETS[key]
        record(
            f"utility_{key}",
            report(name, *fetch(return_X_y=True), table),
            title=f"Accuracy through the noise: {name}",
            note=(
                f"Words of {options.table} ({len(table):,} × {table.dim}). 70 % of the "
                "set train, 30 % test, both perturbed; 5 nearest neighbours by Word "
                "Mover's Distance, and logistic regression on the bags. The standard "
                "error of an accuracy is about 0.01."
            ),
        )


if __name__ == "__main__":
    main()
