"""WordReconstructionAttack against Bayes' rule on exact transition chances.

That few draws are not overconfident is tested in `base/test_transitions`.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import WordReconstructionAttack
from tests.expected import leaks_allowed, refusals, unknown_words
from tests.laws import nearest_on_a_line

LINE = WordEmbedding(list("abc"), [[0.0], [1.0], [3.0]])
EPSILON = 1.0


def make(embedding=LINE, epsilon=EPSILON, **params):
    perturber = DPWordPerturber(
        embedding, epsilon=epsilon, lam=0.0, document_length=1, resize="truncate"
    )
    return WordReconstructionAttack(perturber, **params)


@pytest.mark.no_cover
def test_it_reaches_the_optimum_where_counting_does_not():
    """Words on a line, whose law is known by its intervals."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=500).astype(np.float32).astype(float)
    prior, epsilon = 1 / np.arange(1, 501), 12.5
    law = nearest_on_a_line(points, epsilon)
    joint = (prior / prior.sum())[:, None] * law
    table = WordEmbedding([f"w{i}" for i in range(500)], points[:, None])
    attack = make(table, epsilon, prior=prior, n_draws=20, random_state=0).fit()
    guess = attack.predict(table.word_array)
    reached = joint[table.find(guess.tolist()), np.arange(500)].sum()
    optimum = joint.max(axis=0).sum()
    assert optimum - reached < 0.002
    # what five times as many counted draws reach
    counts = np.stack([rng.multinomial(100, row / row.sum()) for row in law])
    counted = joint[(counts * prior[:, None]).argmax(axis=0), np.arange(500)].sum()
    assert optimum - counted > 0.02


@pytest.mark.parametrize("words", ["abc", "ca"])
def test_posterior_is_bayes_rule(words):
    """Of the words at hand, whatever their order; and so are the k likeliest."""
    prior = np.array([1.0, 5.0, 2.0])[: len(words)]
    law = nearest_on_a_line(LINE.vectors[:, 0], EPSILON)
    law = law[["abc".index(word) for word in words]]
    attack = make(words=list(words), prior=prior, n_draws=20_000).fit()
    joint = prior[:, None] * law
    expected = (joint / joint.sum(axis=0)).T
    assert attack.classes_.tolist() == list(words)
    posterior = np.exp(attack.predict_log_proba(list("abc")))
    np.testing.assert_allclose(posterior, expected, atol=0.02)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    order = np.argsort(-expected, axis=1)
    ranked = np.array(list(words))[order]
    assert attack.predict(list("abc")).tolist() == ranked[:, 0].tolist()
    assert attack.predict_top(list("abc"), k=len(words)).tolist() == ranked.tolist()
    # the rank of a word after each release is where top-k begins to hold it
    for row, released in zip(order, "abc", strict=True):
        rank = row.tolist().index(1)
        hits = [attack.score([released], [words[1]], k=k + 1) for k in range(len(row))]
        assert hits == [float(k >= rank) for k in range(len(row))]


def test_several_releases_multiply():
    attack = make(n_draws=10, random_state=0).fit()
    likelihood = attack.transitions_.astype(float)
    # the seed of the perturber is secret: it changes nothing
    attack.set_params(perturber__random_state=4).fit()
    np.testing.assert_array_equal(attack.transitions_, likelihood)
    two = likelihood[:, 0] * likelihood[:, 2]
    np.testing.assert_allclose(
        np.exp(attack.predict_log_proba([["a", "c"]]))[0], two / two.sum()
    )
    # a word that is never written is never guessed
    attack.set_params(prior=[1.0, 0.0, 1.0]).fit()
    assert np.exp(attack.predict_log_proba(["b"]))[0, 1] == 0


@pytest.mark.no_cover
@leaks_allowed
@unknown_words
def test_releases_add_up_unless_they_are_repeated():
    """The averaging attack, and the repeatable release that stops it.

    That of a document with one word changed has fresh noise on all the words it shares.
    """
    attack = make(epsilon=0.5, n_draws=5000, random_state=0).fit()
    repeatable = clone(attack.perturber).set_params(output="tokens", random_state=7)
    written = ["a", "b", "c"] * 40

    def versions(change):
        """Of each word, with some that nobody knows, or that are cut off."""
        documents = [
            [[word, *change(k), f"number {i}"] for i, word in enumerate(written)]
            for k in range(40)
        ]
        return np.array([repeatable.fit_transform(each) for each in documents])[
            ..., 0
        ].T

    fresh = attack.perturber.fit([]).perturb_words(written, n_draws=60)
    changed = versions(lambda k: [f"version {k}"]), versions(lambda k: ["b"] * k)
    for released in (fresh, *changed):
        assert attack.score(released[:, 0], written) < 0.75
        assert attack.score(released, written) > 0.9
    # the same words each time: what is computed from all is computed from one
    same = versions(lambda k: [])
    assert (same == same[:, :1]).all()
    assert attack.score(same[:, 0], written) < 0.75


@refusals(
    ({"prior": [0.0, 0.0, 0.0]}, "not all of them 0, got 3 with sum 0"),
    ({"prior": [1.0, -1.0, 0.0]}, r"prior\[1\] must be .* >= 0, got -1.0"),
)
def test_bad_parameters(change):
    make().set_params(**change).fit()


@refusals(
    ("a", ["a"], 1, "X must be words"),
    (["zzz"], ["a"], 1, "got words of 3 characters"),
    (["a"], ["a", "b"], 1, r"a word per row of X \(1\), got shape \(2,\)"),
    (["a"], ["a"], 4, r"k must be <= .* \(3\), got 4"),
)
def test_bad_words_and_guesses(X, truth, k):
    make(n_draws=1).fit().score(X, truth, k)
