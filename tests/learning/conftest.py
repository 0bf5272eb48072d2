"""A small world: documents are lists of numbers, or of words of two topics."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from skdptext import DPTextClassifier, WordEmbedding

PETS, FOOD = ["cat", "dog", "paw", "fur"], ["tea", "milk", "cake", "cup"]


class Numbers(TransformerMixin, BaseEstimator):
    """Reads vectors that are written as text, so that a test may choose any."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.array([[float(x) for x in text.split()] for text in X])


class Largest(Numbers):
    """The group of such a vector is that of its largest number."""

    def predict(self, X):
        return self.transform(X).argmax(axis=1)


NUMBERS = ["1 0 0", "0 1 0", "0 0 1", "0.5 0.5 0", "-1 0 0.25", "0 0 0"]


def texts_of(topics, seed=0, length=5):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice([PETS, FOOD][topic], length)) for topic in topics]


@pytest.fixture(scope="session")
def public():
    return texts_of([0, 1] * 40, seed=1, length=6)  # none of them is private


@pytest.fixture(scope="session")
def private():
    """200 texts, their labels and authors."""
    rng = np.random.default_rng(2)
    topics = rng.integers(2, size=200)
    labels = np.array(["pets", "food"])[topics]
    return texts_of(topics, seed=3), labels, rng.integers(60, size=200)


@pytest.fixture(scope="session")
def words():
    """A word of each topic, the last, is in no public document."""
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(10, 6)) + np.repeat([[3.0], [-3.0]], 5, axis=0)
    return WordEmbedding([*PETS, "kitten", *FOOD, "soup"], vectors)


@pytest.fixture
def make(public, words):
    """A classifier of one kind, with declared classes."""

    def made(kind, **options):
        given = {"delta": 0, "n_groups": 3}
        if kind == "vectors":
            given = {"embedding": words, "n_components": 3, "n_rarest": 10**6}
        options = {"classes": ["pets", "food"], **given, **options}
        return DPTextClassifier(public, **options)

    return made


def exact_sums(model, texts, labels, authors=None):
    """What noise is added to, in steps of the grid."""
    classes, numbers, shares = model._labelled(labels, authors)
    features = model._public_part(len(classes))
    return model._exact_sums(texts, numbers, shares, len(classes), features)


def kept(stay, *columns):
    """The rows of columns that stay."""
    return [
        [value for value, here in zip(column, stay, strict=True) if here]
        for column in columns
    ]


def norms(change):
    """L1 norm and square of the Euclidean norm, in Python's whole numbers."""
    cells = change.ravel().tolist()
    return sum(map(abs, cells)), sum(x * x for x in cells)


KINDS = ["groups", "vectors"]
