"""Several releases: what they cost together, and that no adversary gets more."""

import itertools
import math
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import WordEmbedding
from skdptext.mechanisms import TableMechanism
from skdptext.privacy import PrivacyGuarantee
from tests.channels import guaranteed
from tests.expected import refused
from tests.mistakes import LINE

X, Y = ["w1", "w2", "w3"], ["w4", "w2", "w9"]


def composed_of(guarantees):
    return reduce(PrivacyGuarantee.compose, guarantees)


@pytest.fixture(scope="module")
def parts(small_embedding):
    return [
        guaranteed(2.0, 0.0, small_embedding, n_words=3),
        guaranteed(5.0, 0.7, small_embedding, n_words=2, ordered=True),
        guaranteed(1.0, 0.7, small_embedding, n_words=4, resampled=True),
    ]


@pytest.mark.no_cover
@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1))
def test_releases_add_up(parts, chosen):
    """In any order, of one kind or of several, each any number of times."""
    composed = composed_of([parts[i].compose(k) for i, k in chosen])
    each = [parts[i] for i, k in chosen for _ in range(k)]
    assert composed.releases == len(each)
    kinds = {i for i, _ in chosen}
    assert len(composed.parts) == len(kinds)
    for inputs in (("w1", "w2"), (X, Y), (X, X[::-1])):
        expected = sum(part.exponent(*inputs) for part in each)
        assert composed.exponent(*inputs) == pytest.approx(expected)
    one_metric = len({parts[i].lam for i in kinds}) == 1
    total = pytest.approx(sum(part.epsilon for part in each))
    assert composed.epsilon == (total if one_metric else None)


LONE = [
    {},
    {"ordered": True},
    {"n_words": 2},
    {"n_words": 5, "resampled": True},
    {"releases": 4, "n_words": 2},
]
SEVERAL = [
    {"n_words": 3, "releases": 2},
    {"lam": 0.7, "n_words": 2, "ordered": True},
    {"lam": 0.7, "n_words": 4, "resampled": True},
    {"n_words": 3, "by_lemma": True},
]
EQUAL = [{"n_words": 3}, {"n_words": 3, "releases": 3}]


@pytest.mark.no_cover
@pytest.mark.parametrize("kinds", [*([kind] for kind in LONE), SEVERAL, EQUAL])
@pytest.mark.parametrize("lam", [0, 0.6])
@pytest.mark.parametrize("euclidean", [False, True])
def test_epsilon_for_is_the_inverse_of_the_exponent(
    small_embedding, kinds, lam, euclidean
):
    """With it in every release, the factor is attained, and no ε before it matters."""

    def releases(*epsilons):
        made = []
        for epsilon, kind in zip(itertools.cycle(epsilons), kinds):
            kind = {"lam": lam} | kind
            by_lemma = kind.pop("by_lemma", False)
            one = guaranteed(epsilon, embedding=small_embedding, **kind)
            if by_lemma:
                one = one.relative_to(0.4, by="lemma3")
            made.append(one.relative_to(0) if euclidean else one)
        return composed_of(made)

    for inputs in (("w1", "w2"), (X, Y)):
        for factor in (1.01, 1e6):
            epsilon = releases(7.0, 2.0, 5.0).epsilon_for(*inputs, factor=factor)
            again = releases(epsilon)
            # a redrawn document's is not proportional to ε, which is searched for
            rel = 1e-12 if isinstance(inputs[0], str) or euclidean else 1e-8
            assert again.exponent(*inputs) == pytest.approx(math.log(factor), rel=rel)
            assert again.epsilon_for(*inputs, factor=factor) == pytest.approx(epsilon)


def test_epsilon_for_what_is_the_same_or_shows_the_size(small_embedding, parts):
    hidden = guaranteed(2.0, 0.5, small_embedding, n_words=1)
    shown = guaranteed(2.0, 0.5, small_embedding)
    both = hidden.compose(shown)
    assert hidden.exponent(["w1"], ["w1", "w2"]) == 0
    assert both.exponent(["w1"], ["w1", "w2"]) == math.inf
    assert both.epsilon_for(["w1"], ["w1"], factor=2.0) == math.inf
    assert both.epsilon_for(["w1"], ["w1", "w2"], factor=2.0) == 0
    # a part to which the two are the same costs nothing
    x, y = ["w1", "w2"], ["w1", "w3"]
    full = guaranteed(5.0, 0.7, small_embedding, n_words=2)
    assert hidden.compose(full).epsilon_for(x, y, factor=2.0) == pytest.approx(
        full.epsilon_for(x, y, factor=2.0)
    )
    for wrong in (1.0, math.nan, "2"):
        with refused("factor must be"):
            composed_of(parts).epsilon_for(X, Y, factor=wrong)


def test_other_metrics_are_other_parts_and_caveats_are_gathered(parts):
    a, *_ = parts
    assert str(a.compose(a)) == str(a.compose(2))
    assert len(a.compose(a.relative_to(0.4)).parts) == 2
    warned = PrivacyGuarantee(
        a.parts[0].mechanism, a.parts[0].reader, caveats=["Not so."]
    ).compose(a)
    assert [part.caveats for part in warned.parts] == [("Not so.",)]


def test_a_class_written_once_more_is_another_mechanism():
    """As in a notebook, where a cell is changed and run again."""

    def written(share):
        class Coin(TableMechanism):
            def log_proba(self, words):
                kept = np.equal.outer(words, np.arange(2))
                return np.log(np.where(kept, share, 1 - share))

        table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
        return PrivacyGuarantee(Coin().prepare(table, 1.0))

    both = written(0.75).compose(written(0.9))
    assert both.exponent("a", "b") == pytest.approx(math.log(3) + math.log(9))
    assert len(both.rows()) == 6  # a heading and two bounds of each


def test_one_metric_for_all(parts):
    composed = composed_of(parts)
    v = parts[0].embedding["w1"].astype(float) - parts[0].embedding["w2"]
    for by in ("eigenvalues", "lemma3"):
        euclidean = composed.relative_to(0, by=by)
        each = sum(part.relative_to(0, by=by).epsilon for part in parts)
        assert euclidean.epsilon == pytest.approx(each)
        exponent = euclidean.exponent("w1", "w2")
        assert exponent == pytest.approx(each * np.linalg.norm(v))
    assert composed.relative_to(0.7).epsilon == pytest.approx(
        parts[0].relative_to(0.7).epsilon + 6
    )


def test_guarantees_of_equal_tables_only_are_composed(parts, small_embedding):
    copied = WordEmbedding(small_embedding.words, small_embedding.vectors.copy())
    assert parts[0].compose(guaranteed(1.0, 0.0, copied)).releases == 2
    with refused("over the same embedding"):
        parts[0].compose(guaranteed(1.0, 0.0, LINE))
    for wrong in (0, -1, 1.5, True, "2", None):
        with refused("other must be an integer >= 1, got "):
            composed_of(parts).compose(wrong)
    with refused("document_length=3 "):
        composed_of(parts).exponent(["w1"], ["w2"])
