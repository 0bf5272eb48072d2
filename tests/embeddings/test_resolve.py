"""The embedding parameter of estimators."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import WordEmbedding
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
