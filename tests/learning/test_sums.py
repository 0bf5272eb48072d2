"""Exact sums: nobody counts more than once, rounding included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import DPTextClassifier
from skdptext.learning._features import GRID, divided, whole_vectors
from tests.learning.conftest import (
    KINDS,
    NUMBERS,
    Largest,
    Numbers,
    exact_sums,
    kept,
    norms,
)
from tests.memory import traced_memory

CLASSES = ["a", "b", "c"]


def numbers_model(encoder=None):
    return DPTextClassifier(NUMBERS, encoder or Numbers(), classes=CLASSES)


def unit(vectors):
    """Rows of length 1, the constant 0.3 among them; 0 stays 0."""
    rows = np.array(vectors) / np.maximum(np.abs(vectors).max(axis=1), 1e-323)[:, None]
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 0.5)[:, None]
    return np.hstack([rows * np.sqrt(1 - 0.3**2), np.full((len(rows), 1), 0.3)])


def squared(change, grouped):
    """The square of the norm that counts: L1 for groups, Euclidean for vectors."""
    l1, square = norms(change)
    return l1**2 if grouped else square


# Directions are not all: signs, zeros, subnormal and huge numbers.
coordinates = st.floats(allow_nan=False, allow_infinity=False, width=64)
documents = st.tuples(
    st.tuples(coordinates, coordinates, coordinates),
    st.sampled_from(CLASSES),
    st.integers(0, 4),  # author
)


@pytest.mark.no_cover
@settings(max_examples=60)
@given(rows=st.lists(documents, min_size=1, max_size=12), who=st.integers(0, 4))
def test_one_person_changes_sums_by_norm_1(rows, who):
    rows += [((1.0, 0.0, 0.0), "a", 5)] * 2  # each with a label of its own is refused
    stay = [author != who for *_, author in rows]
    vectors, labels, authors = map(list, zip(*rows, strict=True))
    columns = [" ".join(map(repr, vector)) for vector in vectors], labels, authors
    others = kept(stay, *columns)
    # replaced by a person who wrote the same, of another class, twice
    texts, _, author = kept(np.logical_not(stay), *columns)
    again = 2 * texts, ["a"] * 2 * len(texts), 2 * author
    replaced = [old + new for old, new in zip(others, again, strict=True)]
    each = np.eye(3)[[CLASSES.index(label) for label in labels]]
    each /= np.array([authors.count(author) for author in authors])[:, None]
    for model in (numbers_model(), numbers_model(Largest())):
        everybody = exact_sums(model, *columns)
        # those of a plain computation, but for what is cut to whole steps
        grouped = isinstance(model.encoder, Largest)
        plain = each.T @ (
            np.eye(3)[np.argmax(vectors, 1)] if grouped else unit(vectors)
        )
        assert np.abs(everybody - plain * GRID).max() <= 100
        change = squared(everybody - exact_sums(model, *others), grouped)
        assert change <= GRID**2
        if grouped and who in authors:  # all but the rounding of shares
            assert change >= (GRID - 30) ** 2
        change = squared(everybody - exact_sums(model, *replaced), grouped)
        assert change <= (2 * GRID) ** 2


def test_rows_that_floats_make_too_long_are_cut():
    rng = np.random.default_rng(0)
    for constant in (0.0, 0.3, 0.5, 1.0):
        scales = 10.0 ** rng.integers(-200, 200, (3000, 1))
        vectors = rng.normal(size=(3000, 7)) * scales
        vectors[0] = 2**30, 1, 0, 0, 0, 0, 0  # (GRID, 1) in steps, too long by one
        whole = whole_vectors(vectors, constant)
        shares = rng.integers(1, 50, 3000)
        parts = divided(whole, shares) * shares[:, None]
        for _, square in map(norms, [*whole, *parts]):
            assert 0.999 * GRID**2 <= square <= GRID**2
    nothing = whole_vectors(np.zeros((1, 3)), 0.5)
    assert nothing.tolist() == [[0, 0, 0, GRID // 2]]


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore:.* texts are copies of others")
@pytest.mark.parametrize("of_people", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_document_counts_the_same_in_any_block(
    make, private, kind, of_people, monkeypatch
):
    """Bit for bit: else one person more would move the rounding of everybody's.

    Each text is there thrice, with several labels: as if it were a person, where nobody
    is named.
    """
    texts, (_, labels, authors), model = private[0][:24] * 3, private, make(kind)
    columns = np.array(texts), labels[:72], authors[:72]
    n = 3 if of_people else 2
    whole = exact_sums(model, *columns[:n])
    order = np.random.default_rng(0).permutation(72)
    shuffled = [column[order] for column in columns[:n]]
    assert np.array_equal(whole, exact_sums(model, *shuffled))
    for together in (1, 64):
        monkeypatch.setattr("skdptext.documents._reader._BLOCK", together)
        assert np.array_equal(exact_sums(model, *shuffled), whole)
    model.set_params(n_jobs=2)
    assert np.array_equal(exact_sums(model, *shuffled), whole)
    if not of_people:
        people = np.unique(texts, return_inverse=True)[1]
        assert np.array_equal(exact_sums(model, *columns[:2], people), whole)


class Batched(Numbers):
    """Its last bits depend on the block, as those of a product of matrices may."""

    def transform(self, X):
        return super().transform(X) * (1 + 2.0**-50 * (len(X) % 3))


def test_an_encoder_whose_last_bits_depend_on_the_block_is_asked_one_by_one():
    rng = np.random.default_rng(1)
    texts = [" ".join(map(repr, row)) for row in rng.normal(size=(50, 3)).tolist()]
    labels, model = rng.choice(CLASSES, 50), numbers_model(Batched())
    sums = exact_sums(model, texts, labels)
    # one document alone has the length 1 (mod 3) in both
    plain = exact_sums(numbers_model(), texts, labels)
    assert np.abs(plain - sums).max() <= len(texts)
    parts = exact_sums(model, texts[:17], labels[:17])
    parts += exact_sums(model, texts[17:], labels[17:])
    assert np.array_equal(parts, sums)


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_texts(make, monkeypatch):
    """Texts of a generator are let go, block by block."""
    monkeypatch.setattr("skdptext.documents._reader._BLOCK", 256)
    model = make("vectors", classes=[0, 1])
    exact_sums(model, ["cat tea"], [0])  # what is made once

    def peak(n):
        labels = np.zeros(n, dtype=np.int8)
        texts = (f"cat {'x' * 400}" for _ in range(n))
        with traced_memory() as memory:
            exact_sums(model, texts, labels, np.arange(n))
        return memory.peak

    # a text takes 450 bytes, the numbers of a document some 50
    assert peak(3000) - peak(1000) < 100 * 2000
