"""The embedding parameter of estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.embeddings import check_embedding, one_hot_embedding
from skdptext.exceptions import InvalidParameterError


def test_one_hot_words_are_equally_far():
    for words in (4, np.int64(4), ["a", "b", "c", "d"]):
        table = one_hot_embedding(words)
        differences = table.vectors[:, None] - table.vectors[None]
        distances = np.linalg.norm(differences, axis=2)
        np.testing.assert_allclose(distances[~np.eye(4, dtype=bool)], np.sqrt(2))
    assert one_hot_embedding(2).words == ("x0", "x1")
    with pytest.raises(InvalidParameterError, match="words must be an integer >= 1"):
        one_hot_embedding(0)


def test_check_embedding():
    table = WordEmbedding(["a"], [[1.0]])
    assert check_embedding(table) is table
    assert check_embedding("one-hot", one_hot_words=3).dim == 3
    with pytest.raises(InvalidParameterError, match="needs a count matrix as input"):
        check_embedding("one-hot")
    for bad in (None, "onehot", [[1.0]]):
        with pytest.raises(InvalidParameterError, match="must be a WordEmbedding or"):
            check_embedding(bad)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("vectors.txt", r"WordEmbedding\.load\(path\)"),
        (Path("vectors.npz"), r"WordEmbedding\.load\(path\)"),
        ({"a": [1.0]}, r"WordEmbedding\(list\(mapping\), list\(mapping\.values"),
        (KeyedVectors(2), r"WordEmbedding\.from_gensim\(model\)"),
        (Word2Vec([["a"]], min_count=1), r"WordEmbedding\.from_gensim\(model\)"),
        (3, "load_docstring_embedding"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_vectors_is_told_how_to_become_an_embedding(given, advice):
    for estimator in (DPWordPerturber(given), WMDKNNClassifier(given)):
        with pytest.raises(InvalidParameterError, match=advice):
            estimator.fit([[1, 0], [0, 1]], [0, 1])
