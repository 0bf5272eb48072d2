"""Exact sums: nobody counts more than once, rounding included."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skdptext import DPTextClassifier
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._features import GRID, divided, whole_vectors
from tests.learning.conftest import (
    KINDS,
    NUMBERS,
    Numbers,
    exact_sums,
    kept,
    norms,
    texts_of,
)

CLASSES = ["a", "b", "c"]


def numbers_model(encoder=None):
    return DPTextClassifier(NUMBERS, encoder or Numbers(), classes=CLASSES)


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
    model, stay = numbers_model(), [author != who for *_, author in rows]
    vectors, labels, authors = map(list, zip(*rows, strict=True))
    columns = [" ".join(map(repr, vector)) for vector in vectors], labels, authors
    everybody = exact_sums(model, *columns)
    others = kept(stay, *columns)
    assert norms(everybody - exact_sums(model, *others))[1] <= GRID**2
    # replaced by a person who wrote the same, of another class, twice
    texts, _, author = kept(np.logical_not(stay), *columns)
    again = 2 * texts, ["a"] * 2 * len(texts), 2 * author
    replaced = [old + new for old, new in zip(others, again, strict=True)]
    assert norms(everybody - exact_sums(model, *replaced))[1] <= 4 * GRID**2


@pytest.mark.no_cover
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    who=st.lists(st.integers(0, 3), min_size=1, max_size=30), seed=st.integers(0, 999)
)
def test_one_person_changes_sums_of_groups_by_1(make, who, seed):
    model, rng = make("groups"), np.random.default_rng(seed)
    texts = texts_of(rng.integers(2, size=len(who)), seed)
    columns = texts, rng.choice(["food", "pets"], len(who)), who
    others = kept([author != who[0] for author in who], *columns)
    l1, _ = norms(exact_sums(model, *columns) - exact_sums(model, *others))
    # all but the rounding: a share of the grid is cut to whole steps
    assert GRID - 30 <= l1 <= GRID


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
@pytest.mark.parametrize("kind", KINDS)
def test_a_document_counts_the_same_in_any_block(make, private, kind, monkeypatch):
    """Bit for bit: else one person more would move the rounding of everybody's."""
    texts, labels, authors = private
    model = make(kind)
    whole = exact_sums(model, texts, labels, authors)
    order = np.random.default_rng(0).permutation(len(texts))
    shuffled = [texts[i] for i in order]
    again = exact_sums(model, shuffled, labels[order], authors[order])
    assert np.array_equal(whole, again)
    for together in (1, 64):
        monkeypatch.setattr("skdptext.documents._reader._BLOCK", together)
        assert np.array_equal(exact_sums(model, texts, labels, authors), whole)
    model.set_params(n_jobs=2)
    assert np.array_equal(exact_sums(model, texts, labels, authors), whole)


class Batched(Numbers):
    """Its last bits depend on the block, as those of a product of matrices may."""

    def transform(self, X):
        return super().transform(X) * (1 + 2.0**-50 * (len(X) % 3))


class Centred(Numbers):
    def transform(self, X):
        rows = super().transform(X)
        return rows - rows.mean(axis=0)


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


def test_an_encoder_that_looks_at_others_is_refused():
    with pytest.raises(InvalidParameterError, match="each document by itself"):
        numbers_model(Centred()).fit(NUMBERS, ["a", "b", "c"] * 2)


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_texts(make, monkeypatch):
    """Texts of a generator are let go, block by block."""
    monkeypatch.setattr("skdptext.documents._reader._BLOCK", 256)
    model = make("vectors", classes=[0, 1])
    exact_sums(model, ["cat tea"], [0])  # what is made once

    def peak(n):
        labels = np.zeros(n, dtype=np.int8)
        texts = (f"cat {'x' * 400}" for _ in range(n))
        tracemalloc.start()
        exact_sums(model, texts, labels, np.arange(n))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # a text takes 450 bytes, the numbers of a document some 50
    assert peak(3000) - peak(1000) < 100 * 2000
