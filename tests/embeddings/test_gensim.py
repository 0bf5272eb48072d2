"""Vectors of gensim's models; fastText's subword vectors; tables in workers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_model
from gensim.test.utils import common_texts, datapath
from joblib import Parallel, delayed

from skdptext import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from tests.expected import no_warning, refusals

UNKNOWN = ["internationalise", "Computers", "Ünïcode", "преступ", "東京都", "x", "a b"]


def trained(seed=1):
    options = {"vector_size": 6, "min_count": 1, "bucket": 50, "epochs": 1}
    return FastText(common_texts, seed=seed, workers=1, **options)


@pytest.fixture(scope="module")
def fasttext():
    return trained()


@pytest.fixture(scope="module")
def table(fasttext):
    return WordEmbedding.from_gensim(fasttext)


def test_models_and_their_vectors():
    for model in (
        Word2Vec(common_texts, vector_size=5, min_count=1, workers=1),
        FastText(common_texts, vector_size=5, min_count=1, workers=1, bucket=0),
    ):
        for given in (model, model.wv):
            table = WordEmbedding.from_gensim(given)
            assert list(table.words) == model.wv.index_to_key
            np.testing.assert_array_equal(table.vectors, model.wv.vectors)
            assert not table.has_subwords


def test_training_on_does_not_change_the_table(fasttext, table):
    model = pickle.loads(pickle.dumps(fasttext))
    copied = WordEmbedding.from_gensim(model)
    model.wv.vectors[:] = model.wv.vectors_ngrams[:] = 7
    np.testing.assert_array_equal(copied.vectors, table.vectors)
    np.testing.assert_array_equal(copied.infer("unheard"), table.infer("unheard"))


NUMBERED = KeyedVectors(2)
NUMBERED.add_vectors([1], np.eye(2)[:1])


@refusals(
    *((model, "model must be a gensim") for model in (None, {"a": [0.0]}, b"a 0 1")),
    (KeyedVectors(2, count=1), "words must be str, got None"),
    (NUMBERED, "words must be str, got an int"),
)
def test_what_is_no_model_of_words_is_refused(model):
    WordEmbedding.from_gensim(model)


# -- subwords -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "lee_fasttext_new.bin"])
def test_unknown_words_get_the_vector_of_gensim_and_of_facebook(fasttext, name):
    model = load_facebook_model(datapath(name)) if name else fasttext
    table = WordEmbedding.from_gensim(model)
    assert table.has_subwords
    unknown = [word for word in UNKNOWN if word not in table]
    assert len(unknown) > 4
    for word in unknown:
        np.testing.assert_array_equal(table.infer(word), model.wv[word])
        assert table.infer(word).dtype == np.float32
    known = table.words[2]
    for word in (known, known.capitalize()):  # what `find` finds comes first
        np.testing.assert_array_equal(table.infer(word), model.wv[known])


def test_a_word_without_n_grams_has_no_vector():
    options = {"vector_size": 3, "min_count": 1, "workers": 1}
    model = FastText(common_texts, bucket=9, min_n=5, max_n=6, **options)
    table = WordEmbedding.from_gensim(model)
    assert table.infer("q") is None  # "<q>" is shorter than five
    assert table.infer("qqq") is not None
    assert table.infer("\ud800") is None
    model.wv.vectors_ngrams[1] = np.nan
    with pytest.raises(InvalidParameterError, match="subword vectors must be finite"):
        WordEmbedding.from_gensim(model)


def test_subwords_are_part_of_the_identity(table):
    plain = WordEmbedding(table.words, table.vectors)
    assert plain.fingerprint != table.fingerprint
    other, twin = (WordEmbedding.from_gensim(trained(seed)) for seed in (2, 1))
    assert other.fingerprint != table.fingerprint
    assert twin.fingerprint == table.fingerprint


def test_parts_and_npz_alone_keep_the_subwords(tmp_path, fasttext, table):
    with no_warning():
        table.save(tmp_path / "t.npz")
    back = WordEmbedding.load(tmp_path / "t.npz")
    assert back.fingerprint == table.fingerprint
    first = WordEmbedding.load(tmp_path / "t.npz", n_words=2)
    for each in (back, first, table.restrict(3), table.restrict(["human", "trees"])):
        np.testing.assert_array_equal(each.infer("unheard"), fasttext.wv["unheard"])
    with pytest.warns(UserWarning, match="hold no subword vectors") as caught:
        table.save(tmp_path / "t.bin")
    assert caught[0].filename == __file__
    assert not WordEmbedding.load(tmp_path / "t.bin").has_subwords


# -- one table in memory, however many workers use it -------------------------------


def described(large, subwords):
    """What a worker holds; the pickled fingerprint is computed again."""
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        large.vectors.flags.writeable = True
    mapped = large.vectors
    while type(mapped) is np.ndarray:
        mapped = mapped.base
    told = large.fingerprint
    del vars(large)["fingerprint"]
    file = isinstance(mapped, np.memmap) and str(mapped.filename)
    return file, told, large.fingerprint, subwords.infer("unheard").tolist()


@pytest.mark.no_cover
def test_workers_map_one_file_of_a_table_in_memory(table):
    # 12 MB, which joblib maps
    vectors = np.random.default_rng(0).normal(size=(3_000, 1_000))
    large = WordEmbedding([f"w{i}" for i in range(3_000)], vectors)
    found = Parallel(n_jobs=2)(delayed(described)(large, table) for _ in range(4))
    file, *rest = found[0]
    assert isinstance(file, str)
    assert rest == [large.fingerprint] * 2 + [table.infer("unheard").tolist()]
    assert found == found[:1] * 4
