"""Documents as numbers: what is made of them leaves them as they were read."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.documents import DocumentReader
from tests.expected import refused
from tests.memory import traced_memory

EMBEDDING = WordEmbedding(list("abc"), np.eye(3))


@pytest.mark.parametrize("last", ["b", "unknown", "in the clear"])
def test_bags_are_counted_on_a_copy(last):
    """Unsorted and repeated words are sorted in the bags, not in the documents."""
    reader = DocumentReader(EMBEDDING, oov="keep" if " " in last else "drop")
    read = reader.read([["c", "a", "c"], [], ["b", "a", last]])
    assert (read.codes < 0).sum() == (" " in last)
    codes, offsets = read.codes.copy(), read.offsets.copy()
    n_b = 2.0 if last == "b" else 1.0
    expected = [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, n_b, 0.0]]
    for _ in range(2):
        np.testing.assert_array_equal(read.bags(3).toarray(), expected)
    np.testing.assert_array_equal(read.codes, codes)
    np.testing.assert_array_equal(read.offsets, offsets)
    assert read.n_without == 1


@pytest.mark.parametrize("length", [1, 3, 7])
def test_counts_are_cut_to_the_first_words_of_the_row(length):
    counts = np.random.default_rng(0).poisson(3.0, (50, 3))
    counts = counts[counts.sum(axis=1) >= length]
    expected = np.zeros_like(counts)
    for i, row in enumerate(counts):
        np.add.at(expected[i], np.repeat(np.arange(3), row)[:length], 1)
    options = {"document_length": length, "resize": "truncate"}
    cut = DPWordPerturber(EMBEDDING, **options).fit([]).prepare(counts)
    np.testing.assert_array_equal(cut.toarray(), expected)
    assert (cut.data > 0).all()


def test_huge_counts_are_refused():
    perturber = DPWordPerturber(EMBEDDING).fit([])
    for ask in (perturber.transform, perturber.prepare):
        for counts in ([[1, 0, 0], [250_000_000, 5, 0]], [[10**8, 0, 0]] * 3):
            with traced_memory() as memory, refused("250000000 words in all, got"):
                ask(counts)
            assert memory.peak < 20e6


@pytest.mark.parametrize("stop_words", [None, np.array(["the", "of"])])
def test_tokenizers(stop_words):
    def made(cut):
        options = {"tokenizer": lambda t: cut(t.lower()), "stop_words": stop_words}
        return DPWordPerturber(EMBEDDING, epsilon=1e6, lam=0.0, **options).fit([])

    for cut in (
        str.split,
        lambda t: iter(t.split()),
        lambda t: np.array(t.split()),
        lambda t: map(np.str_, t.split()),
    ):
        assert made(cut).transform(["The a"]).toarray().tolist() == [[1, 0, 0]]
    for cut, message in (
        (lambda t: [w.encode() for w in t.split()], "a bytes as token 0 of document 1"),
        (lambda t: [*t.split(), 7], "an int as token . of document 1"),
        (lambda t: [t.split()], "a list as token 0 of document 1"),
        (lambda t: t, "return a list of str, got a str of 5 char.* for document 1"),
        (lambda t: t.encode(), "return a list of str, got a bytes for document 1"),
        (lambda t: np.array(t), "return a list of str, got a ndarray for document 1"),
        (lambda t: None, "return a list of str, got None for document 1"),
        (int, "failed with ValueError for document 1"),  # whose message quotes it
    ):
        release = made(lambda t, cut=cut: cut(t) if t == "the a" else ["b"])
        for ask in (release.transform, release.prepare):
            with refused(message):
                ask(["b", "The a"])
