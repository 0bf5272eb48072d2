"""UMAP maps Word Mover's neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.neighbors import WMDNeighbors, WMDNeighborsTransformer

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
    chart = make_pipeline(
        WMDNeighborsTransformer(embedding, n_neighbors=15, symmetric=True),
        umap.UMAP(metric="precomputed", n_neighbors=15, random_state=0),
    ).fit_transform(counts)
    check(chart, topics)


def test_a_folder_of_blocks_becomes_a_map(texts, tmp_path):
    import umap

    counts, topics, embedding = texts
    model = WMDNeighbors(embedding, n_neighbors=14).fit(counts)
    graph = model.kneighbors_graph(mode="distance", folder=tmp_path)
    itself = np.arange(len(topics))[:, None]
    rows = np.hstack([itself, graph.indices.reshape(len(topics), -1)])
    distances = np.hstack([0.0 * itself, graph.data.reshape(len(topics), -1)])
    chart = umap.UMAP(
        n_neighbors=15, precomputed_knn=(rows, distances), random_state=0
    ).fit_transform(counts)
    check(chart, topics)
