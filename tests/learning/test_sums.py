"""Exact sums: nobody counts more than once, rounding included, and parts add up."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed

from skdptext import DPTextClassifier
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._sums import GRID, whole_vectors
from skdptext.replacement import _groups
from tests.learning.conftest import KINDS, NUMBERS, Numbers, texts_of

CLASSES = ["a", "b", "c"]


def numbers_model(**options):
    return DPTextClassifier(NUMBERS, Numbers(), classes=CLASSES, n_groups=2, **options)


# Directions are not all: signs, zeros, subnormal and huge numbers.
coordinates = st.floats(allow_nan=False, allow_infinity=False, width=64)
documents = st.tuples(
    st.tuples(coordinates, coordinates, coordinates),
    st.sampled_from(CLASSES),
    st.integers(0, 4),  # author
)


def norms(difference, n_groups):
    """L1 norm of the columns of groups, square of the Euclidean of the others."""
    cells = difference.tolist()
    l1 = sum(abs(x) for row in cells for x in row[:n_groups])
    return l1, sum(x * x for row in cells for x in row[n_groups:])


@pytest.mark.no_cover
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(documents, min_size=1, max_size=12), who=st.integers(0, 4))
def test_one_person_changes_sums_by_norm_1(plan, rows, who):
    plan("vectors")
    model = numbers_model()
    texts = [" ".join(map(repr, vector)) for vector, *_ in rows]
    labels, authors = [r[1] for r in rows], [r[2] for r in rows]
    everybody = model.partial_sums(texts, labels, authors).table
    stay = [i for i, author in enumerate(authors) if author != who]
    others = model.partial_sums(
        [texts[i] for i in stay],
        [labels[i] for i in stay],
        [authors[i] for i in stay],
    ).table
    _, square = norms(everybody - others, 0)
    assert square <= GRID**2
    # replaced by a person who wrote the same, of another class, twice
    again = [*stay, *(i for i in range(len(rows)) if i not in stay)]
    twice = again + [i for i in again if i not in stay]
    replaced = model.partial_sums(
        [texts[i] for i in twice],
        [labels[i] if i in stay else "a" for i in twice],
        [authors[i] for i in twice],
    ).table
    assert norms(everybody - replaced, 0)[1] <= 4 * GRID**2


@pytest.mark.no_cover
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    authors=st.lists(st.integers(0, 3), min_size=1, max_size=30),
    seed=st.integers(0, 1000),
)
def test_one_person_changes_sums_of_both_kinds_by_1(make, authors, seed):
    model = make("both")
    rng = np.random.default_rng(seed)
    texts = np.array(texts_of(rng.integers(2, size=len(authors)), seed), dtype=object)
    labels = rng.choice(["food", "pets"], len(authors))
    who = np.array(authors)
    stay = who != authors[0]
    with_person = model.partial_sums(texts, labels, who).table
    without = model.partial_sums(texts[stay], labels[stay], who[stay]).table
    l1, square = norms(with_person - without, 3)
    # all but the rounding: a share of the grid is cut to whole steps
    assert GRID - 30 <= l1 <= GRID
    assert square <= GRID**2


def test_rows_that_floats_make_too_long_are_cut():
    # 1/√3, three times, is above 1 when rounded up
    rng = np.random.default_rng(0)
    for constant in (0.0, 0.3, 0.5, 1.0):
        vectors = rng.normal(size=(3000, 7)) * 10.0 ** rng.integers(
            -200, 200, (3000, 1)
        )
        shares = rng.integers(1, 50, 3000).astype(float)
        rows = whole_vectors(vectors, constant, shares).tolist()
        for row, share in zip(rows, shares.astype(int).tolist(), strict=True):
            assert sum(x * x for x in row) * share**2 <= GRID**2
            assert sum(x * x for x in row) * share**2 >= 0.999 * GRID**2
    assert whole_vectors(np.zeros((1, 3)), 0.5, np.ones(1)).tolist() == [
        [0, 0, 0, GRID // 2]
    ]


def test_vectors_that_are_no_numbers_are_refused(plan):
    plan("vectors")
    with pytest.raises(InvalidParameterError, match="vector of finite numbers"):
        numbers_model().partial_sums(["nan 0 0", "1 0 0"], ["a", "b"])


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_a_document_counts_the_same_in_any_block(make, private, kind, monkeypatch):
    """Bit for bit: else one person more would move the rounding of everybody's."""
    texts, labels, authors = private
    model = make(kind)
    whole = model.partial_sums(texts, labels, authors).table
    order = np.random.default_rng(0).permutation(len(texts))
    shuffled = [texts[i] for i in order]
    again = model.partial_sums(shuffled, labels[order], authors[order]).table
    assert np.array_equal(whole, again)
    for together in (1, 3, 64):
        monkeypatch.setattr(_groups, "_TOGETHER", together)
        assert np.array_equal(model.partial_sums(texts, labels, authors).table, whole)
    model.set_params(n_jobs=2)
    assert np.array_equal(model.partial_sums(texts, labels, authors).table, whole)


class Batched(Numbers):
    """Its last bits depend on the block, as those of a product of matrices may."""

    def transform(self, X):
        return super().transform(X) * (1 + 2.0**-50 * (len(X) % 3))


class Centred(Numbers):
    def transform(self, X):
        rows = super().transform(X)
        return rows - rows.mean(axis=0)


def test_an_encoder_whose_last_bits_depend_on_the_block_is_asked_one_by_one(plan):
    plan("vectors")
    rng = np.random.default_rng(1)
    texts = [" ".join(map(repr, row)) for row in rng.normal(size=(50, 3)).tolist()]
    labels = rng.choice(CLASSES, 50)
    sums = [
        DPTextClassifier(NUMBERS, encoder, classes=CLASSES)
        .partial_sums(texts, labels)
        .table
        for encoder in (Numbers(), Batched())
    ]
    # one document alone has the length 1 (mod 3) in both
    assert np.abs(sums[0] - sums[1]).max() <= len(texts)
    parts = DPTextClassifier(NUMBERS, Batched(), classes=CLASSES)
    halves = parts.partial_sums(texts[:17], labels[:17]) + parts.partial_sums(
        texts[17:], labels[17:]
    )
    assert np.array_equal(halves.table, sums[1])


def test_an_encoder_that_looks_at_others_is_refused(plan):
    plan("vectors")
    model = DPTextClassifier(NUMBERS, Centred(), classes=CLASSES)
    with pytest.raises(InvalidParameterError, match="each document by itself"):
        model.fit(NUMBERS, ["a", "b", "c"] * 2)


# -- parts ---------------------------------------------------------------------------


def of_part(model, part, counts):
    texts, labels, authors = part
    return model.partial_sums(texts, labels, authors, documents_per_author=counts)


def counts_of(authors):
    names, counts = np.unique(authors, return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_add_up(make, private, kind):
    texts, labels, authors = private
    model, counts = make(kind, random_state=2**70), counts_of(authors)
    whole = model.partial_sums(texts, labels, authors)
    parts = [(texts[i::4], labels[i::4], authors[i::4]) for i in range(4)]
    parts.append(([], [], []))
    sums = sum(of_part(model, part, counts) for part in parts)
    assert np.array_equal(sums.table, whole.table)
    assert sums.unit == "person"
    release = model.fit_sums(sums).noisy_sums_
    assert np.array_equal(release, model.fit(texts, labels, authors).noisy_sums_)


@pytest.mark.no_cover
def test_parts_add_up_over_processes(public, private, words):
    """joblib's workers, of which each finds the public part for itself."""
    texts, labels, authors = private
    model = DPTextClassifier(public, embedding=words, classes=["food", "pets"])
    counts = counts_of(authors)
    parts = [(texts[i::3], labels[i::3], authors[i::3]) for i in range(3)]
    sums = Parallel(n_jobs=2)(delayed(of_part)(model, part, counts) for part in parts)
    whole = model.partial_sums(texts, labels, authors)
    assert np.array_equal(sum(sums).table, whole.table)


def test_parts_that_do_not_belong_together(make, private):
    texts, labels, authors = private
    groups, vectors = make("groups"), None
    sums = groups.partial_sums(texts, labels, authors)
    with pytest.raises(InvalidParameterError, match="must be added to other sums"):
        sums + 1
    with pytest.raises(InvalidParameterError, match="same features"):
        sums + groups.partial_sums(texts, labels)  # documents, not people
    vectors = make("vectors")
    with pytest.raises(InvalidParameterError, match="same features"):
        sums + vectors.partial_sums(texts, labels, authors)
    with pytest.raises(InvalidParameterError, match="sums must be of the features"):
        vectors.fit_sums(sums)
    with pytest.raises(InvalidParameterError, match="those of partial_sums, got a"):
        vectors.fit_sums(sums.table)
    for undeclared in (
        lambda model: model.partial_sums(texts, labels),
        lambda model: model.fit_sums(sums),
    ):
        with pytest.raises(InvalidParameterError, match="classes must be given where"):
            undeclared(make("groups", classes=None))
    for wrong in ({}, {"x": 1}, dict.fromkeys(range(60), 0)):
        with pytest.raises(InvalidParameterError, match="every author of this part"):
            groups.partial_sums(texts, labels, authors, documents_per_author=wrong)
    for wrong in (5, [9] * 60, np.full(60, 9)):
        with pytest.raises(InvalidParameterError, match="must be a mapping from auth"):
            groups.partial_sums(texts, labels, authors, documents_per_author=wrong)
    series = pd.Series(counts_of(authors))
    of_each = groups.partial_sums(texts, labels, authors, documents_per_author=series)
    assert np.array_equal(of_each.table, sums.table)
    with pytest.raises(InvalidParameterError, match="at least what is in this part"):
        groups.partial_sums(
            texts, labels, authors, documents_per_author=dict.fromkeys(range(60), 1)
        )
    with pytest.raises(InvalidParameterError, match="None without authors"):
        groups.partial_sums(texts, labels, documents_per_author={})
    assert "private" in repr(sums)


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_texts(make, monkeypatch):
    """Texts of a generator are let go, block by block."""
    monkeypatch.setattr(_groups, "_TOGETHER", 256)
    model = make("both", classes=[0, 1])
    model.partial_sums(["cat tea"], [0])  # what is made once

    def peak(n):
        labels = np.zeros(n, dtype=np.int8)
        texts = (f"cat {'x' * 400}" for _ in range(n))
        tracemalloc.start()
        model.partial_sums(texts, labels, labels)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # a text takes 450 bytes, the numbers of a document some 50
    assert peak(3000) - peak(1000) < 100 * 2000
