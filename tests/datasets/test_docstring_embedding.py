"""Word vectors of the docstring corpus: words, quality, what is kept."""

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from skdptext.datasets import (
    _docstring_embedding,
    load_docstring_embedding,
    load_docstrings,
)
from tests.expected import refusals


@pytest.mark.no_cover
def test_words_are_lowercased_tokens_the_most_frequent_first(built_in):
    whole = " ".join(load_docstrings(near_copies=True).data).lower()
    counts = Counter(re.findall(r"\b\w\w+\b", whole))
    kept = {word for word, n in counts.items() if n >= 8 and not word.isdigit()}
    assert set(built_in.words) == kept
    frequency = [counts[word] for word in built_in.words]
    assert frequency == sorted(frequency, reverse=True)
    assert built_in.dim == 100
    part = load_docstring_embedding(n_words=500)
    assert part.fingerprint == built_in.restrict(500).fingerprint
    assert load_docstring_embedding(n_words=99_999).words == built_in.words


@pytest.mark.parametrize(
    ("word", "kin"),
    [
        ("eigenvalue", {"eigenvector", "eigenvectors", "eigvals_only", "eigenvalues"}),
        ("cluster", {"clusters", "centroid", "clustering"}),
        ("fourier", {"dft", "ffts", "discrete", "transform", "irfft"}),
    ],
)
def test_neighbours_make_sense(built_in, word, kin):
    unit = built_in.vectors / np.linalg.norm(built_in.vectors, axis=1)[:, None]
    order = np.argsort(-unit @ unit[built_in.words.index(word)])
    assert len(kin & {built_in.words[i] for i in order[1:11]}) >= 2


def test_each_parameter_and_version_is_trained_once(tmp_path, monkeypatch):
    """With training replaced by something quick: three texts, a vector for a word."""
    trained = []

    def train(sentences, *, vector_size, min_count, **options):
        trained.append((vector_size, min_count))
        words = sorted({word for sentence in sentences for word in sentence})
        vectors = np.random.default_rng(0).normal(size=(len(words), vector_size))
        return SimpleNamespace(wv=SimpleNamespace(index_to_key=words, vectors=vectors))

    texts = SimpleNamespace(data=["Of the 12 a", "THE ça", "array_like"])
    monkeypatch.setattr("gensim.models.Word2Vec", train)
    monkeypatch.setattr(_docstring_embedding, "load_docstrings", lambda **_: texts)
    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path))
    first = load_docstring_embedding()
    assert first.words == ("array_like", "of", "the", "ça")
    for kwargs in ({"dim": 7}, {"min_count": 3}, {}, {"dim": 7}, {"n_words": 2}):
        load_docstring_embedding(**kwargs)
    assert trained == [(100, 8), (7, 8), (100, 3)]
    assert load_docstring_embedding().fingerprint == first.fingerprint
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99")
    load_docstring_embedding()
    assert trained[3:] == [(100, 8)]
    assert len(list(tmp_path.iterdir())) == 4


@refusals(
    ({"dim": 2.5}, r"dim must be an integer >= 1, got 2\.5"),
    ({"min_count": 1001}, "min_count must be an integer >= 1 and <= 1000, got 1001"),
    ({"n_words": 0}, "n_words must be an integer >= 1, got 0"),
)
def test_bad_parameters(kwargs):
    load_docstring_embedding(**kwargs)
