"""UMAP maps Word Mover's neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.neighbors import WMDNeighbors

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def texts():
    """Counts of texts, their topics and the embedding."""
    texts, topics = load_docstrings(
        topics=["clustering", "linear algebra", "statistics"], return_X_y=True
    )
    embedding = load_docstring_embedding()
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    held = np.flatnonzero(np.diff(counts.indptr))[::2]
    return counts[held], np.asarray(topics)[held], embedding


def check(chart, topics):
    assert chart.shape == (len(topics), 2)
    assert np.isfinite(chart).all()
    accuracy = cross_val_score(KNeighborsClassifier(10), chart, topics, cv=5).mean()
    usual = np.unique(topics, return_counts=True)[1].max() / len(topics)
    assert accuracy > (1 + usual) / 2


def test_topics_are_together_in_the_map(texts):
    import umap

    counts, topics, embedding = texts
    model = WMDNeighbors(embedding, n_neighbors=14).fit(counts)
    distances, rows = model.kneighbors()
    itself = np.arange(len(topics))[:, None]
    rows = np.hstack([itself, rows])
    distances = np.hstack([0.0 * itself, distances])
    chart = umap.UMAP(
        n_neighbors=15, precomputed_knn=(rows, distances), random_state=0
    ).fit_transform(counts)
    check(chart, topics)
