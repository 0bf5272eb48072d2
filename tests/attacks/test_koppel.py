"""KoppelAuthorClassifier against a plain loop."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext.attacks import KoppelAuthorClassifier
from tests.expected import refusals

TEXTS = [
    "thou art as lovely as thy rose",
    "thy rose doth grow and thou dost sing",
    "you are as pretty as your flower",
    "your flower grows and you are singing",
]
AUTHORS = ["old", "old", "new", "new"]


def loop_ngrams(text, size):
    counts = Counter()
    for word in text.split():
        runs = [word[i : i + size] for i in range(max(1, len(word) - size + 1))]
        counts.update(runs)
    return counts


def loop_scores(model, texts, authors, documents):
    """The algorithm word for word, with the rounds' n-grams of the fitted model."""
    known = {a: Counter() for a in sorted(set(authors))}
    for text, author in zip(texts, authors, strict=True):
        known[author].update(loop_ngrams(text, model.ngram_size))
    subsets = [
        {g for g, used in zip(model.ngrams_, mask, strict=True) if used}
        for mask in model._masks.T
    ]
    out = []
    for document in documents:
        counts = loop_ngrams(document, model.ngram_size)
        wins = dict.fromkeys(known, 0.0)
        for subset in subsets:
            similarity = {}
            for author, vector in known.items():
                product = sum(vector[g] * counts[g] for g in subset)
                length = sum(vector[g] ** 2 for g in subset) ** 0.5
                similarity[author] = product / length if length else 0.0
            best = max(similarity.values())
            first = [a for a, s in similarity.items() if s >= best - 1e-12 * best]
            for author in first:
                wins[author] += 1 / len(first)
        out.append([w / len(subsets) for w in wins.values()])
    return np.array(out)


letters = st.text(alphabet="abc ", min_size=1, max_size=40)


@pytest.mark.no_cover
@settings(max_examples=40)
@given(
    texts=st.lists(letters, min_size=2, max_size=6),
    documents=st.lists(letters, min_size=1, max_size=3),
    size=st.integers(1, 4),
    share=st.sampled_from([0.2, 0.5, 1.0]),
    most=st.sampled_from([3, 100]),
)
def test_equals_a_plain_loop(texts, documents, size, share, most):
    texts = ["abc", *texts]
    authors = [f"a{i % 2}" for i in range(len(texts))]
    model = KoppelAuthorClassifier(
        ngram_size=size, n_features=most, feature_share=share, n_rounds=13,
        random_state=0,
    ).fit(texts, authors)  # fmt: skip
    counts = loop_ngrams(" ".join(texts), size)
    frequent = sorted(counts, key=lambda ngram: (-counts[ngram], ngram))[:most]
    assert model.ngrams_.tolist() == frequent
    of_a_round = max(1, round(share * len(frequent)))
    assert model._masks.sum(axis=0).tolist() == [of_a_round] * 13
    expected = loop_scores(model, texts, authors, documents)
    np.testing.assert_allclose(model.predict_proba(documents), expected, atol=1e-12)


def test_rounds_see_different_ngrams():
    model = KoppelAuthorClassifier(n_rounds=20, random_state=3).fit(TEXTS, AUTHORS)
    assert model.score(TEXTS, AUTHORS) == 1
    # else all rounds would vote for the same author
    assert model.predict_proba(["thou are you"]).max() < 1
    tokens = [text.split() for text in TEXTS]
    np.testing.assert_array_equal(
        model.predict_proba(iter(tokens)), model.predict_proba(TEXTS)
    )


def test_only_the_first_thousand_letters_of_a_word_count():
    model = KoppelAuthorClassifier(ngram_size=2, n_features=10**5, random_state=0)
    model.fit(["a" * 998 + "bcd" * 50, "efg"], ["me", "you"])
    assert sorted(model.ngrams_) == ["aa", "ab", "bc", "ef", "fg"]
    model.set_params(ngram_size=1200).fit(["ab" * 600, "efg"], ["me", "you"])
    assert "ab" * 600 in model.ngrams_


@refusals(
    (["a", "b"], [0], r"one label per document \(2\), got shape \(1,\)"),
    (["a", "b"], [0, 0], "at least 2 different labels, got 1 class"),
    (["", " "], [0, 1], "at least one word"),
    (np.eye(2), [0, 1], "X must hold at least one word"),
)
def test_bad_documents(texts, labels):
    KoppelAuthorClassifier().fit(texts, labels)
