"""Cells of figures 6 and 7: what classifiers lose to the noise."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from experiments.paper import deniability
from experiments.paper.plan import SEED, Plan
from experiments.store import Cell, Store
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skdptext import WMDKNNClassifier, WordEmbedding

METRICS = ("accuracy", "precision", "recall")
TEST_SIZE = 0.3
TEST_OVER_TRAIN = TEST_SIZE / (1 - TEST_SIZE)

NAIVE_BAYES = "naive Bayes"
LINEAR = "linear"
WMD = "WMD-kNN"
# The paper's choices: a bag of words for SMS, fastText for tweets.
MAIN = {"SMS spam": NAIVE_BAYES, "Disaster tweets": LINEAR, "Docstrings": LINEAR}


def make_classifiers(embedding: WordEmbedding | None) -> dict[str, Any]:
    """New classifiers of bags; with a table, the one by Word Mover's Distance too.

    The linear one has the form of supervised fastText: a softmax of the mean of the
    words' weights, of full rank and with a ridge in place of the narrow hidden layer.
    """
    models = {
        NAIVE_BAYES: MultinomialNB(),
        LINEAR: make_pipeline(
            Normalizer("l1"), LogisticRegression(C=30, max_iter=1000)
        ),
    }
    if embedding is not None:
        models[WMD] = WMDKNNClassifier(embedding, n_neighbors=5, n_jobs=1)
    return models


def scores(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Accuracy, and precision and recall of label 1."""
    hits = np.count_nonzero(truth & predicted)
    return {
        "accuracy": float(np.mean(truth == predicted)),
        "precision": hits / max(1, np.count_nonzero(predicted)),
        "recall": hits / max(1, np.count_nonzero(truth)),
    }


def make_bags(documents: list[list[str]], embedding: WordEmbedding) -> sp.csr_matrix:
    """Counts of token lists; column j is word j of the table."""
    counter = CountVectorizer(analyzer=list, vocabulary=embedding.words)
    return counter.transform(documents)


def split(labels: np.ndarray, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the training and of the test documents; the same for all ε and λ."""
    return train_test_split(
        np.arange(len(labels)),
        test_size=TEST_SIZE,
        stratify=labels,
        random_state=repeat,
    )


def _noise(*names: Any) -> np.random.Generator:
    """A stream per cell. A Generator, so that equal documents get noise of their own;
    with an integer, a copy of a training message would reach the test set unharmed.
    """
    digest = hashlib.sha256(repr((SEED, *names)).encode()).digest()
    return np.random.default_rng(list(digest))


def clean_cells(plan: Plan, table: str, name: str) -> list[Cell]:
    """Without noise: with all words of the texts, and with those of the table."""

    def compute(repeat: int) -> Any:
        texts, labels = plan.sets[name]
        vocabulary = plan.vocabulary(table)
        train, test = split(labels, repeat)
        covered = make_bags(vocabulary.documents[name], vocabulary.embedding)
        everything = CountVectorizer().fit([texts[i] for i in train]).transform(texts)
        result: dict[str, Any] = {}
        for kind, bags, embedding in (
            ("all words", everything, None),
            ("covered words", covered, vocabulary.embedding),
        ):
            result[kind] = {
                key: scores(
                    labels[test],
                    model.fit(bags[train], labels[train]).predict(bags[test]),
                )
                for key, model in make_classifiers(embedding).items()
            }
        return result

    return [
        Cell(
            f"clean-{table}-{_slug(name)}-{repeat}",
            {"fingerprint": plan.vocabulary(table).fingerprint, "repeat": repeat},
            lambda repeat=repeat: compute(repeat),
        )
        for repeat in range(plan.tables[table].trials[name].repeats)
    ]


def noisy_cells(
    plan: Plan, table: str, name: str
) -> dict[tuple[float, float, int], Cell]:
    """By (ε, λ, repeat): the scores of all classifiers, and the words unchanged."""
    trial = plan.tables[table].trials[name]
    # repeats come first, so that what is there early is a whole figure
    grid = itertools.product(range(trial.repeats), trial.epsilons, trial.lams)
    return {
        (epsilon, lam, repeat): _noisy_cell(plan, table, name, epsilon, lam, repeat)
        for repeat, epsilon, lam in grid
    }


def equal_cells(
    plan: Plan, table: str, name: str, store: Store
) -> dict[tuple[float, float, int], Cell]:
    """By (share, λ, repeat): the scores where every λ has the same mean N_w."""
    calibrations = deniability.equal_cells(plan, table)
    cells = {}
    for repeat in range(plan.few_repeats):
        for (lam, share), cell in calibrations.items():
            epsilon = float(f"{store.get(cell):.4g}")
            cells[share, lam, repeat] = _noisy_cell(
                plan, table, name, epsilon, lam, repeat
            )
    return cells


def _perturb(
    plan: Plan, table: str, name: str, epsilon: float, lam: float, repeat: int
) -> list[list[str]]:
    """The texts of a set as released; each keeps its own length, as in the paper."""
    vocabulary = plan.vocabulary(table)
    options = {"output": "tokens", "document_length": None, "n_jobs": 1}
    seed = _noise(table, name, epsilon, lam, repeat)
    perturber = vocabulary.perturber(epsilon, lam, random_state=seed, **options)
    return perturber.transform(vocabulary.documents[name])


def _noisy_cell(
    plan: Plan, table: str, name: str, epsilon: float, lam: float, repeat: int
) -> Cell:
    main = plan.tables[table].main

    def compute() -> Any:
        vocabulary = plan.vocabulary(table)
        labels = plan.sets[name][1]
        clean = vocabulary.documents[name]
        embedding = vocabulary.embedding
        noisy = _perturb(plan, table, name, epsilon, lam, repeat)
        scored = _score_noisy(clean, noisy, labels, repeat, embedding, main)
        before = np.array(list(itertools.chain.from_iterable(clean)), dtype=object)
        after = np.array(list(itertools.chain.from_iterable(noisy)), dtype=object)
        return {"unchanged": float(np.mean(before == after)), **scored}

    settings = {"epsilon": epsilon, "lam": lam, "repeat": repeat, "wmd": main}
    return Cell(
        f"utility-{table}-{_slug(name)}-{epsilon:g}-{lam:g}-{repeat}",
        {"fingerprint": plan.vocabulary(table).fingerprint, "seed": SEED, **settings},
        compute,
    )


def _score_noisy(
    clean: list[list[str]],
    noisy: list[list[str]],
    labels: np.ndarray,
    repeat: int,
    embedding: WordEmbedding,
    main: bool,
) -> dict[str, dict[str, dict[str, float]]]:
    """By classifier and by noisy side: the scores, from the same noisy bags."""
    train, test = split(labels, repeat)
    bags, noisy_bags = make_bags(clean, embedding), make_bags(noisy, embedding)
    truth = labels[test]
    result = {}
    for key, model in make_classifiers(embedding if main else None).items():
        model.fit(noisy_bags[train], labels[train])
        scored = {"both": scores(truth, model.predict(noisy_bags[test]))}
        if key != WMD:
            scored["train"] = scores(truth, model.predict(bags[test]))
            model.fit(bags[train], labels[train])
            scored["test"] = scores(truth, model.predict(noisy_bags[test]))
        result[key] = scored
    return result


def _slug(name: str) -> str:
    return name.split()[-1].lower()
