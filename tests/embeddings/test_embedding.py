"""The table itself: what goes in, what cannot change, look-up, sub-tables, pickles."""

from __future__ import annotations

import pickle
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
import scipy.sparse as sp
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.embeddings import check_embedding, one_hot_embedding
from skdptext.exceptions import InvalidParameterError
from tests.documents.test_scripts import SCRIPTS
from tests.expected import refusals

WORDS = ["king", "queen", "apple"]
ROWS = [[1.0, 0.0], [0.5, 0.25], [-2.0, 3.0]]


@pytest.fixture
def table():
    return WordEmbedding(WORDS, ROWS)


def view_of(rows):
    """A view that is read-only, of an array that is not."""
    view = np.array(rows, dtype=np.float32)[:]
    view.flags.writeable = False
    return view


@pytest.mark.parametrize(
    "kind",
    [
        lambda rows: np.array(rows, dtype=np.float16),
        lambda rows: np.array(rows, dtype=">f4"),
        lambda rows: np.asfortranarray(np.array(rows, dtype=np.float32)),
        lambda rows: np.array(rows, dtype=np.float32),
        lambda rows: [[Fraction(x) for x in row] for row in rows],
        view_of,
        np.ma.array,
        list,
    ],
)
def test_any_real_matrix_is_stored_the_same_and_the_memory_is_not_the_callers(kind):
    given = kind(ROWS)
    table = WordEmbedding((np.str_(word) for word in WORDS), given)
    given = getattr(given, "base", None) if kind is view_of else given
    given[0] = given[1]
    assert table.words == tuple(table) == tuple(WORDS)
    assert {type(word) for word in table.words} == {str}
    assert (len(table), table.dim) == (3, 2)
    assert table.vectors.dtype == np.dtype("=f4")
    assert table.vectors.flags.c_contiguous
    np.testing.assert_array_equal(table.vectors, np.array(ROWS, dtype=np.float32))
    np.testing.assert_array_equal(table["queen"], ROWS[1])
    for word in ("prince", 0, None, ["king"]):
        assert word not in table
        with pytest.raises(KeyError, match="is not a word of the embedding"):
            table[word]


@refusals(
    ("king", "words must be an iterable of str, got a str of 4 char"),
    ([], "words must hold at least one word, got none"),
    (["a", b"b"], "words must be str, got a bytes at position 1"),
    (["a", "b", "a"], "words must be unique, got the same at positions 0 and 2"),
)
def test_bad_words_are_refused(words):
    WordEmbedding(words, np.ones((2, 2)))


@refusals(
    (np.ones(3), r"of shape \(3, dim >= 1\), got \(3,\)"),
    (np.ones((2, 2)), r"got \(2, 2\)"),
    (np.array([[0, 1], [0, np.nan], [0, 0]]), "finite .* row 1"),
    (np.array([[0, 1], [1e39, 1], [0, 0]]), "finite in float32, but row 1"),
    (np.full((3, 2), "1"), "real numbers, got ndarray"),
    ([[1.0], [1.0, 2.0], [3.0]], "real numbers, got list"),
    (sp.csr_array(np.ones((3, 2))), "real numbers, got csr_array"),
    (np.ma.masked_equal(np.eye(3), 1), "MaskedArray .*masked entries"),
)
def test_bad_vectors_are_refused(vectors):
    WordEmbedding(WORDS, vectors)


def test_nothing_can_be_set_deleted_or_written(table):
    with pytest.raises(AttributeError, match="immutable"):
        table.words = ("a",)
    with pytest.raises(AttributeError, match="immutable"):
        del table.vectors
    back = pickle.loads(pickle.dumps(table))
    parts = (table, table.restrict(2), table.restrict(["apple"]), back)
    for array in (table["king"], *(part.vectors for part in parts)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(ValueError, match="read-only"):
        table.word_array[0] = "x"


# -- look-up --------------------------------------------------------------------------


@pytest.mark.no_cover
@given(
    words=st.lists(st.text("abABß", max_size=3), min_size=1, unique=True),
    tokens=st.lists(st.text("abABß", max_size=3)),
)
def test_rows_are_those_of_a_dict_as_written_or_lowercased_or_capitalised(
    words, tokens
):
    rows = {word: row for row, word in enumerate(words)}
    written = [(token, token.lower(), token.capitalize()) for token in tokens]
    expected = [next((rows[w] for w in each if w in rows), -1) for each in written]
    embedding = WordEmbedding(words, np.arange(len(words))[:, None])
    assert embedding.find(tokens).tolist() == expected
    assert embedding.find(np.array(tokens, dtype=str)).dtype == np.int32
    assert [t in embedding for t in tokens] == [t in words for t in tokens]
    for token, row in zip(tokens, expected, strict=True):
        assert embedding.infer(token) == (None if row < 0 else [row])


# -- restrict -----------------------------------------------------------------------


def test_restrict(table):
    first = table.restrict(np.int64(2))
    assert first.words == ("king", "queen")
    assert np.shares_memory(first.vectors, table.vectors)
    part = table.restrict(["apple", "king"])
    assert part.words == tuple(part.word_array) == ("apple", "king")
    np.testing.assert_array_equal(part.vectors, [ROWS[2], ROWS[0]])
    assert part.find(["king", "queen"]).tolist() == [1, -1]
    assert table.restrict({"apple", "king"}).words == ("king", "apple")
    assert table.restrict(word for word in ["queen"]).words == ("queen",)


@refusals(
    (0, "words_or_n must be an integer >= 1 and <= 3, got 0"),
    (4, "words_or_n must be an integer >= 1 and <= 3, got 4"),
    ([], "at least one word"),
    (["king", "king"], "words must be unique, got the same at positions 0 and 1"),
    (["king", "prince", "pear"], "got 2 unknown, the first at position 1"),
    ({"king", 3}, "words_or_n must be str, got an int"),
)
def test_restrict_refuses(table, wanted):
    table.restrict(wanted)


# -- identity -----------------------------------------------------------------------


def test_fingerprint_is_what_manifests_hold():
    words = [f"word{i}" for i in range(9000)]
    vectors = np.arange(18_000, dtype=np.float32).reshape(-1, 2)
    table = WordEmbedding(words, vectors)
    for n in (9000, 2):
        digest = blake2b(f"({n}, 2)".encode(), digest_size=32, person=b"skdptext-table")
        digest.update("\0".join(map(repr, words[:n])).encode())
        digest.update(vectors[:n].tobytes())
        for each in (table, pickle.loads(pickle.dumps(table))):
            assert each.restrict(n).fingerprint == digest.digest()


# -- Unicode ------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("suffix", [None, ".txt", ".bin", ".npz"])
def test_words_are_found_however_they_are_composed(tmp_path, form, suffix):
    words = [normalize("NFC", word) for text in SCRIPTS for word in text.split()]
    written = [normalize(form, word) for word in words]
    keyed = KeyedVectors(len(words))
    keyed.add_vectors(written, np.eye(len(words)))
    path = str(tmp_path / f"t{suffix}")
    if suffix == ".npz":
        np.savez(path, words=written, vectors=keyed.vectors)
    elif suffix:
        keyed.save_word2vec_format(path, binary=suffix == ".bin")
    for table in (
        WordEmbedding(written, keyed.vectors),
        WordEmbedding.load(path) if suffix else WordEmbedding.from_gensim(keyed),
    ):
        assert list(table.words) == words
        for tokens in (words, [normalize("NFD", word) for word in words]):
            assert table.find(tokens).tolist() == list(range(len(words)))
            assert all(token in table for token in tokens)
            assert table.restrict(tokens).words == table.words


def test_of_two_forms_of_a_word_in_a_file_the_first_stays(tmp_path):
    """Large files of Hindi and Korean hold both; two words given by hand are one."""
    words = ["a", "cafe\u0301", "caf\u00e9", "b"]
    (tmp_path / "t.txt").write_text("".join(f"{w} {i}\n" for i, w in enumerate(words)))
    table = WordEmbedding.load(tmp_path / "t.txt")
    assert table.words == ("a", "caf\u00e9", "b")
    assert table.vectors.ravel().tolist() == [0, 1, 3]
    with pytest.raises(InvalidParameterError, match="same at positions 1 and 2"):
        WordEmbedding(words, np.eye(4))


# -- the embedding parameter of estimators -------------------------------------------


def test_one_hot_words_are_equally_far():
    for words in (4, np.int64(4), ["a", "b", "c", "d"]):
        vectors = one_hot_embedding(words).vectors
        distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
        np.testing.assert_allclose(distances[~np.eye(4, dtype=bool)], np.sqrt(2))
    assert one_hot_embedding(2).words == ("x0", "x1")
    with pytest.raises(InvalidParameterError, match="words must be an integer >= 1"):
        one_hot_embedding(0)


def test_check_embedding(table):
    assert check_embedding(table) is table
    assert check_embedding("one-hot", one_hot_words=3).dim == 3
    with pytest.raises(InvalidParameterError, match="needs a count matrix as input"):
        check_embedding("one-hot")
    for bad in (None, "onehot", Path("a.npz"), {"a": [1.0]}, KeyedVectors(2)):
        for estimator in (DPWordPerturber(bad), WMDKNNClassifier(bad)):
            with pytest.raises(InvalidParameterError, match=r"load\(path\), .*gensim"):
                estimator.fit([[1, 0], [0, 1]], [0, 1])
