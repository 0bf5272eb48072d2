"""What figures 6 and 7 are made of: what classifiers lose to the noise."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from experiments import kept
from experiments.paper.plan import SEED, Plan, texts_of, vocabulary
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skdptext import WMDKNNClassifier, WordEmbedding

METRICS = ("accuracy", "precision", "recall")
TEST_SIZE = 0.3
NAIVE_BAYES, LINEAR, WMD = "naive Bayes", "linear", "WMD-kNN"
# The paper's choices: a bag of words for SMS, fastText for tweets.
MAIN = {"SMS spam": NAIVE_BAYES, "Disaster tweets": LINEAR, "Docstrings": LINEAR}
# By classifier, noisy side and metric
Scores = dict[tuple[str, str, str], float]


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


def scores(key: str, how: str, model: Any, bags: Any, truth: np.ndarray) -> Scores:
    """Accuracy, and precision and recall of label 1."""
    predicted = model.predict(bags)
    hits = np.count_nonzero(truth & predicted)
    values = (
        float(np.mean(truth == predicted)),
        hits / max(1, np.count_nonzero(predicted)),
        hits / max(1, np.count_nonzero(truth)),
    )
    return {(key, how, m): v for m, v in zip(METRICS, values, strict=True)}


def make_bags(documents: list[list[str]], embedding: WordEmbedding) -> sp.csr_matrix:
    """Counts of token lists; column j is word j of the table."""
    counter = CountVectorizer(analyzer=list, vocabulary=embedding.words)
    return counter.transform(documents)


def split(labels: np.ndarray, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the training and of the test documents; the same for all ε and λ."""
    rows = np.arange(len(labels))
    return train_test_split(
        rows, test_size=TEST_SIZE, stratify=labels, random_state=repeat
    )


def _noise(*names: Any) -> np.random.Generator:
    """A stream per release.

    A Generator, so that equal documents get noise of their own: with an integer, a copy
    of a training message would reach the test set unharmed.
    """
    digest = hashlib.sha256(repr((SEED, *names)).encode()).digest()
    return np.random.default_rng(list(digest))


@kept
def clean(plan: Plan, name: str, repeat: int) -> Scores:
    """Without noise: with all words of the texts, and with those of the table."""
    texts, labels = texts_of(name)
    words = vocabulary(plan, plan.vectors[0])
    train, test = split(labels, repeat)
    covered = make_bags(words.documents[name], words.embedding)
    everything = CountVectorizer().fit([texts[i] for i in train]).transform(texts)
    result: Scores = {}
    for kind, bags, embedding in (
        ("all words", everything, None),
        ("covered words", covered, words.embedding),
    ):
        for key, model in make_classifiers(embedding).items():
            model.fit(bags[train], labels[train])
            result |= scores(key, kind, model, bags[test], labels[test])
    return result


@kept
def noisy(plan: Plan, name: str, epsilon: float, lam: float, repeat: int) -> Scores:
    """The scores of all classifiers with either side noisy, and the words unchanged.

    Texts are released as they are long, as in the paper.
    """
    words, labels = vocabulary(plan, plan.vectors[0]), texts_of(name)[1]
    documents, embedding = words.documents[name], words.embedding
    perturber = words.perturber(
        epsilon, lam, output="tokens", document_length=None, n_jobs=1,
        random_state=_noise(plan.vectors[0], name, epsilon, lam, repeat),
    )  # fmt: skip
    released = perturber.transform(documents)
    before, after = (
        np.array(list(itertools.chain.from_iterable(each)), dtype=object)
        for each in (documents, released)
    )
    train, test = split(labels, repeat)
    bags, noisy_bags = make_bags(documents, embedding), make_bags(released, embedding)
    result = {("", "", "unchanged"): float(np.mean(before == after))}
    for key, model in make_classifiers(embedding).items():
        model.fit(noisy_bags[train], labels[train])
        result |= scores(key, "both", model, noisy_bags[test], labels[test])
        if key != WMD:
            result |= scores(key, "train", model, bags[test], labels[test])
            model.fit(bags[train], labels[train])
            result |= scores(key, "test", model, noisy_bags[test], labels[test])
    return result
