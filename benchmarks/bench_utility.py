"""Accuracy on real messages through the noise: SMS spam and disaster tweets.

One command::

    python benchmarks/bench_utility.py [--sets sms tweets] [--table NAME] [--lengths]

Reads the two sets and the table from the folder named by SKDPTEXT_TEST_DATA, or
../shared/data. 70 % of each set train, 30 % test (stratified, seed 0); both are
perturbed. Classifiers: 5 nearest neighbours by Word Mover's Distance, and logistic
regression on the bags. Recorded: a table per set, one line per ε and λ, with the share
of the words that change; the standard error of an accuracy is about 0.01. With
``--lengths`` another table alone: what is left to learn where all messages are of one
length, under the first 8,000 words of the table.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import measuring
import numpy as np
from real_data import DATA, SMS, TWEETS, W2V, absent, read_sms, read_tweets
from results import record
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning
from skdptext.metrics import words_unchanged
from skdptext.naive_bayes import ChannelNaiveBayes

EPSILONS = (5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.5, 1.0)
SETS = {
    "sms": ("SMS spam", read_sms),
    "tweets": ("Disaster tweets", read_tweets),
}
# So much ε that no word moves.
CLEAN = 1e9
LENGTH, N_WORDS, N_DRAWS = 8, 8000, 20


def report(
    name: str, texts: list[str], labels: np.ndarray, table: WordEmbedding
) -> Iterator[dict[str, object]]:
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
        yield {
            "ε": "clean" if epsilon == CLEAN else f"{epsilon:g}",
            "λ": lam,
            "words changed": float(changed),
            "WMD-kNN": float(scores[0]),
            "logistic regression": float(scores[1]),
            "seconds": time.perf_counter() - start,
        }


def by_length(
    name: str, texts: list[str], labels: np.ndarray, table: WordEmbedding
) -> Iterator[dict[str, object]]:
    """What classifiers find with the lengths of messages, and without."""
    y = np.unique(labels, return_inverse=True)[1]
    noise = DPWordPerturber(table, lam=0.0, random_state=np.random.default_rng(0))
    words = noise.fit([]).known_words(texts)
    lengths = np.array([len(w) for w in words])
    split = {"stratify": y, "test_size": 0.3, "random_state": 0}
    train, test = train_test_split(np.arange(len(y)), **split)
    # how likely each length is to be of one class, in the training messages
    short = np.minimum(lengths, 40)
    ones, everything = (
        np.bincount(short[rows], minlength=41) for rows in (train[y[train] == 1], train)
    )
    alone = float(roc_auc_score(y[test], ((ones + 1) / (everything + 2))[short[test]]))
    for epsilon in (40.0, 20.0, 10.0, 5.0):
        row: dict[str, object] = {"set": name, "ε": epsilon, "length alone": alone}
        for length in (None, LENGTH):
            noise.set_params(epsilon=epsilon, document_length=length).fit([])
            known, asked = (
                rows[lengths[rows] >= (length or 1)] for rows in (train, test)
            )
            noisy = noise.transform([words[i][:length] for i in (*known, *asked)])
            of_known, of_asked = noisy[: len(known)], noisy[len(known) :]
            learner = LogisticRegression(max_iter=1000).fit(of_known, y[known])
            which = "own lengths" if length is None else f"{length} words"
            row[f"{which}: logistic regression"] = roc_auc_score(
                y[asked], learner.decision_function(of_asked)
            )
        row["words changed"] = 1 - words_unchanged(
            noise, [words[i] for i in asked], max_words=4000
        )
        informed = ChannelNaiveBayes(noise, n_draws=N_DRAWS, random_state=0)
        informed.fit([words[i][:length] for i in known], y[known])
        logs = informed.predict_log_proba(of_asked)
        row[f"{length} words: ChannelNaiveBayes"] = roc_auc_score(
            y[asked], logs[:, 1] - logs[:, 0]
        )
        yield row


def main() -> None:
    options = measuring.options(__doc__, table=W2V, sets=SETS, lengths=False)
    warnings.simplefilter("ignore", EmptyDocumentWarning)
    if absent(SMS, TWEETS, options.table):
        return
    table = WordEmbedding.load(DATA / options.table)
    if options.lengths:
        few = table.restrict(N_WORDS)
        rows = measuring.shown(
            row
            for key in options.sets
            for row in by_length(SETS[key][0], *SETS[key][1](), few)
        )
        record(
            "utility_lengths",
            rows,
            title="What is left to learn, with and without the lengths of messages",
            note=(
                f"AUC on 30 % of the messages, by what is learned from the others. The "
                f"first {N_WORDS:,} words of {options.table}, λ = 0. Length alone: the "
                "share of the one class among messages of so many known words. Own "
                f"lengths: as they are; {LENGTH} words: messages of as many or more, "
                "cut. Logistic regression learns from releases; ChannelNaiveBayes from "
                f"clear texts, with {N_DRAWS} draws per word. Standard errors are some "
                "0.02. python benchmarks/bench_utility.py --lengths repeats it."
            ),
        )
        return
    for key in options.sets:
        name, read = SETS[key]
        record(
            f"utility_{key}",
            measuring.shown(report(name, *read(), table)),
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
