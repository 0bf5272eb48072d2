"""Vectors by counting, which stand in for gensim's where it has no wheel."""

import math
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import euclidean_distances

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.datasets._docstring_embedding import (
    ppmi_vectors,  # no input of the door reaches it alone
)

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), max_size=6)


def slow_ppmi(sentences, words, window):
    """Word by word, from the definition."""
    near = Counter()
    for sentence in sentences:
        heard = [word for word in sentence if word in words]
        for i, word in enumerate(heard):
            for j, other in enumerate(heard):
                if i != j and abs(i - j) <= window:
                    near[word, other] += 1 / abs(i - j)
    of_word = {w: sum(near[w, other] for other in words) for w in words}
    total = sum(of_word.values())
    smooth = sum(count**0.75 for count in of_word.values())
    ppmi = np.zeros((len(words), len(words)))
    for i, word in enumerate(words):
        for j, other in enumerate(words):
            if near[word, other]:
                both = near[word, other] / total
                alone = of_word[word] / total * of_word[other] ** 0.75 / smooth
                ppmi[i, j] = max(0.0, math.log(both / alone))
    return ppmi


@settings(max_examples=60)
@given(SENTENCES, st.integers(1, 9), st.integers(1, 3), st.integers(1, 4))
def test_vectors_are_the_singular_vectors_of_the_definition(
    sentences, dim, min_count, window
):
    words, vectors = ppmi_vectors(sentences, dim, min_count, window)
    counts = Counter(word for sentence in sentences for word in sentence)
    assert set(words) == {word for word, n in counts.items() if n >= min_count}
    assert [counts[word] for word in words] == sorted(
        (counts[word] for word in words), reverse=True
    )
    assert vectors.shape == (len(words), dim)
    if words:
        ppmi = slow_ppmi(sentences, words, window)
        left, values, _ = np.linalg.svd(ppmi)
        # Dot products, as vectors of equal singular values may turn.
        if dim >= len(words) or values[dim - 1] > values[dim] + 1e-3:
            expected = (left[:, :dim] * values[:dim]) @ left[:, :dim].T
            np.testing.assert_allclose(
                vectors @ vectors.T, 1.7**2 * expected, atol=1e-6
            )


@pytest.fixture(scope="module")
def by_counting(tmp_path_factory):
    """The built-in embedding where gensim cannot be imported."""
    with pytest.MonkeyPatch.context() as patch:
        for name in {"gensim", "gensim.models"} | {
            name for name in sys.modules if name.startswith("gensim.")
        }:
            patch.setitem(sys.modules, name, None)
        home = tmp_path_factory.mktemp("by counting")
        embedding = load_docstring_embedding(data_home=home)
        again = load_docstring_embedding(data_home=home)
        assert again.fingerprint == embedding.fingerprint
        yield embedding


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("word", "kin"),
    [
        ("eigenvalue", {"eigenvector", "eigenvectors", "eig", "eigenvalues"}),
        ("cluster", {"clusters", "hierarchy", "centroid", "clustering"}),
        ("fourier", {"dft", "ffts", "discrete", "transform", "irfft"}),
    ],
)
def test_neighbours_make_sense(by_counting, word, kin):
    unit = by_counting.vectors / np.linalg.norm(by_counting.vectors, axis=1)[:, None]
    order = np.argsort(-unit @ unit[by_counting.words.index(word)])
    assert len(kin & {by_counting.words[i] for i in order[1:11]}) >= 2


def test_an_epsilon_means_about_the_same_to_both(by_counting, built_in):
    def gap(embedding):
        vectors = embedding.vectors
        gaps = euclidean_distances(vectors[::20], vectors)
        return np.median(np.partition(gaps, 1, axis=1)[:, 1])

    assert by_counting.vectors.shape[1] == built_in.dim
    assert 0.8 < gap(by_counting) / gap(built_in) < 1.25


def test_without_gensim_all_but_its_formats_works(by_counting, tmp_path):
    texts, labels = load_docstrings(
        topics=["clustering", "statistics"], return_X_y=True
    )
    perturber = DPWordPerturber(by_counting, document_length=20, random_state=0)
    bags = perturber.fit_transform(texts)[::9]
    model = WMDKNNClassifier(by_counting, n_neighbors=1).fit(bags, labels[::9])
    assert model.score(bags, labels[::9]) == 1
    for suffix in (".npz", ".txt"):
        by_counting.restrict(50).save(tmp_path / f"words{suffix}")
        again = WordEmbedding.load(tmp_path / f"words{suffix}")
        assert again.words == by_counting.words[:50]
    with pytest.raises(ImportError, match=r"needs gensim: install gensim, which"):
        WordEmbedding.from_gensim(object())
