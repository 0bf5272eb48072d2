"""Lengths of released documents, unknown words, and what is said to leak."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skdptext import DPWordPerturber
from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning
from tests.expected import no_warning, refused

# -- lengths -------------------------------------------------------------------


def test_truncate_counts_the_documents_that_are_too_short(small_embedding):
    perturber = DPWordPerturber(small_embedding, document_length=4, resize="truncate")
    documents = [["w1"] * 4, ["w1"] * 3, ["w1"] * 5, ["w1", "zzz", "w2", "w3"]]
    with refused(r"2 of 4 are shorter, first document 1.*sample"):
        perturber.fit(documents).transform(documents)
    with refused("2 of 3 are shorter"):
        perturber.transform(np.eye(3, 200, dtype=int) * [[4], [3], [1]])


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("length", [None, 3])
def test_a_length_alone_draws_the_words(small_embedding, length):
    alone = DPWordPerturber(small_embedding, document_length=length, random_state=5)
    alone.fit([])
    said = clone(alone).set_params(resize="sample" if length else "truncate").fit([])
    assert alone.resize is None
    documents = [["w1"], ["w1", "w2", "w3", "w4"]]
    noisy = alone.transform(documents)
    assert (noisy != said.transform(documents)).nnz == 0
    assert noisy.sum(axis=1).ravel().tolist() == [[length or 1, length or 4]]
    assert alone.guarantee().to_json() == said.guarantee().to_json()


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.OutOfVocabularyWarning")
@settings(max_examples=30)
@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    length=st.integers(1, 9),
    seed=st.sampled_from([None, 3]),
)
def test_size_never_tells_under_sample(small_embedding, lengths, length, seed):
    """Empty documents, unknown words, short and long ones: all N words."""
    documents = [[f"w{i}" for i in range(n)] + ["unknown"] for n in lengths]
    options = {"document_length": length, "resize": "sample", "random_state": seed}
    perturber = DPWordPerturber(small_embedding, output="tokens", **options).fit([])
    noisy = perturber.transform(documents)
    assert [len(words) for words in noisy] == [length] * len(lengths)
    assert all(word in small_embedding for words in noisy for word in words)


ORDERED = {"document_length": 1, "resize": "truncate", "output": "text"}
LEAKS = [
    ({}, "number of words of each"),
    (ORDERED, "order of the words"),
    (ORDERED | {"output": "tokens"}, "order of the words"),
    ({"resize": "sample", "output": "text"}, "order of the words"),
    ({"oov": "keep", "output": "text"}, "released in the clear"),
]
SAFE = [
    {"document_length": 1},
    {"document_length": 1, "resize": "truncate"},
    ORDERED | {"resize": "sample"},
    ORDERED | {"resize": None},
    ORDERED | {"order": "keep"},
]


@pytest.mark.parametrize(("options", "leak"), LEAKS, ids=str)
def test_leaks_are_told_at_fit_and_transform(small_embedding, options, leak):
    perturber = DPWordPerturber(small_embedding, **options)
    for call in (perturber.fit, perturber.transform):
        with pytest.warns(PrivacyLeakWarning, match=leak):
            call([["w1"]])


@pytest.mark.parametrize("options", SAFE, ids=str)
def test_nothing_is_told_where_nothing_leaks(small_embedding, options):
    with no_warning():
        DPWordPerturber(small_embedding, **options).fit([]).transform([["w1"]])


# -- unknown words ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
def test_unknown_words_are_kept_in_their_places(faithful):
    perturber = faithful(oov="keep", output="text")
    with pytest.warns(OutOfVocabularyWarning, match="4 of 6 words"):
        noisy = perturber.transform(["Alice met w1, Alice left w2"])
    assert noisy == ["alice met w1 alice left w2"]
