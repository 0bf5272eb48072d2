"""How words are looked up: against a plain dict, and what it holds."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext import WordEmbedding
from skdptext.embeddings import _index
from skdptext.exceptions import InvalidParameterError
from tests.memory import traced_memory

WORDS = st.lists(st.text("abAB", max_size=3), min_size=1, unique=True)


def _embedding(words):
    return WordEmbedding(words, np.zeros((len(words), 1)))


def _by_dict(words, token):
    rows = {word: row for row, word in enumerate(words)}
    for written in (token, token.lower(), token.capitalize()):
        if written in rows:
            return rows[written]
    return -1


@pytest.mark.no_cover
@given(words=WORDS, tokens=st.lists(st.text("abAB", max_size=3)))
def test_rows_are_those_of_a_dict(words, tokens):
    embedding = _embedding(words)
    assert embedding.find(tokens).tolist() == [_by_dict(words, t) for t in tokens]
    assert [t in embedding for t in tokens] == [t in words for t in tokens]
    assert list(embedding) == words


@given(words=WORDS, tokens=st.lists(st.text("abAB", max_size=3)))
def test_words_of_one_hash_are_told_apart(words, tokens):
    with pytest.MonkeyPatch.context() as patch:  # 64 bits hardly ever meet
        patch.setattr(_index, "hash", len, raising=False)
        embedding = _embedding(words)
        assert embedding.find(tokens).tolist() == [_by_dict(words, t) for t in tokens]
        assert [t in embedding for t in tokens] == [t in words for t in tokens]
        twice = [*words, *words[::-1]]
        with pytest.raises(InvalidParameterError) as caught:
            _embedding(twice)
    n = len(words)
    assert f"positions {n - 1} and {n}." in str(caught.value)


@pytest.mark.no_cover
def test_a_loaded_file_holds_little_beside_its_words(tmp_path):
    """Each worker of a release holds the words: a dict of them would take 70 bytes."""
    n = 50_000
    path = tmp_path / "words.npz"
    _embedding([f"word{i}" for i in range(n)]).save(path)
    with traced_memory() as memory:
        embedding = WordEmbedding.load(path)
    text = sum(map(sys.getsizeof, embedding.word_array))
    assert memory.held - text < 25 * n
