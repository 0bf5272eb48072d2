"""Documents as numbers: what is made of them leaves them as they were read."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.documents import DocumentReader

EMBEDDING = WordEmbedding(list("abc"), np.eye(3))


@pytest.mark.parametrize("last", ["b", "unknown"])
def test_bags_are_counted_on_a_copy(last):
    """Unsorted and repeated words are sorted in the bags, not in the documents."""
    read = DocumentReader(EMBEDDING).read([["c", "a", "c"], [], ["b", "a", last]])
    codes, offsets = read.codes.copy(), read.offsets.copy()
    n_b = 2.0 if last == "b" else 1.0
    expected = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, n_b, 0.0]]
    for _ in range(2):
        np.testing.assert_array_equal(read.bags(3).toarray(), expected)
    np.testing.assert_array_equal(read.codes, codes)
    np.testing.assert_array_equal(read.offsets, offsets)
    assert read.n_without == 1


def test_unknown_words_in_the_clear_are_no_part_of_bags():
    read = DocumentReader(EMBEDDING, oov="keep").read([["x", "a"], ["x"]])
    assert (read.codes < 0).sum() == 2
    np.testing.assert_array_equal(read.bags(3).toarray(), [[1, 0, 0], [0, 0, 0]])
    assert read.n_without == 1
