"""UMAP maps Word Mover's neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.neighbors import WMDNeighborsTransformer

pytestmark = pytest.mark.scale


def test_topics_are_together_in_the_map():
    import umap

    texts, topics = load_docstrings(
        topics=["clustering", "linear algebra", "statistics"], return_X_y=True
    )
    embedding = load_docstring_embedding()
    counts = CountVectorizer(vocabulary=embedding.words).transform(texts)
    held = np.flatnonzero(np.diff(counts.indptr))[::2]
    counts, topics = counts[held], np.asarray(topics)[held]
    chart = make_pipeline(
        WMDNeighborsTransformer(embedding, n_neighbors=15, symmetric=True),
        umap.UMAP(metric="precomputed", n_neighbors=15, random_state=0),
    ).fit_transform(counts)
    assert chart.shape == (len(held), 2)
    assert np.isfinite(chart).all()
    accuracy = cross_val_score(KNeighborsClassifier(10), chart, topics, cv=5).mean()
    usual = np.unique(topics, return_counts=True)[1].max() / len(topics)
    assert accuracy > (1 + usual) / 2
