"""Accuracy on real messages through the noise: SMS spam and disaster tweets.

One command::

    python benchmarks/bench_utility.py [--table w2v_news_fiction_30k_300d.npz]

Reads the two sets and the table from the folder named by SKDPTEXT_TEST_DATA, or
../shared/data. 70 % of each set train, 30 % test (stratified, seed 0); both are
perturbed. Classifiers: 5 nearest neighbours by Word Mover's Distance, and logistic
regression on the bags. Printed: a Markdown table, one line per ε and λ, with the share
of the words that change; the standard error of an accuracy is about 0.01.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np
from real_data import DATA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.datasets import fetch_disaster_tweets, fetch_sms_spam
from skdptext.exceptions import EmptyDocumentWarning, PrivacyLeakWarning
from skdptext.metrics import words_unchanged

EPSILONS = (5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.5, 1.0)
# So much ε that no word moves.
CLEAN = 1e9


def report(name: str, texts: list[str], labels: np.ndarray, table: WordEmbedding):
    train, test, y_train, y_test = train_test_split(
        texts, labels, test_size=0.3, stratify=labels, random_state=0
    )
    print(f"\n{name}: {len(train)} messages train, {len(test)} test")
    print("\n| ε | λ | words changed | WMD-kNN | logistic regression | seconds |")
    print("|---|---|---|---|---|---|")
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
        label = "clean" if epsilon == CLEAN else f"{epsilon:g}"
        print(
            f"| {label} | {lam:g} | {changed:.3f} | {scores[0]:.3f} | {scores[1]:.3f} "
            f"| {time.perf_counter() - start:.0f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", default="w2v_news_fiction_30k_300d.npz")
    options = parser.parse_args()
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    for category in (PrivacyLeakWarning, EmptyDocumentWarning):
        warnings.simplefilter("ignore", category)
    table = WordEmbedding.load(DATA / options.table)
    print(f"Table: {options.table}, {len(table)} × {table.dim}")
    for name, fetch in (
        ("SMS spam", fetch_sms_spam),
        ("Disaster tweets", fetch_disaster_tweets),
    ):
        report(name, *fetch(return_X_y=True), table)


if __name__ == "__main__":
    main()
