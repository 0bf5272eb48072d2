"""ChannelNaiveBayes against the posterior by hand, and classifiers without the law."""

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import RandomizedResponse
from skdptext.naive_bayes import ChannelNaiveBayes
from tests.expected import leaks_allowed, refusals
from tests.laws import law_of

TABLE = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [3.0]])
X = [[2, 1, 0], [0, 1, 1], [1, 0, 0]]
Y = np.array(["x", "y", "x"])

pytestmark = leaks_allowed


def perturber(**options):
    options = {"epsilon": 1.0, "mechanism": RandomizedResponse()} | options
    return DPWordPerturber(TABLE, lam=0.0, **options)


@pytest.mark.parametrize("public", [X, [["aa", "bb", "aa"], "bb cc", "aa"]])
@pytest.mark.parametrize("mechanism", [RandomizedResponse(), None], ids=repr)
def test_posterior_by_hand(mechanism, public):
    """... of stated probabilities, and of noise whose probabilities are drawn.

    All words of a public text count, whatever a release would be cut to.
    """
    short = perturber(mechanism=mechanism, document_length=2, resize="truncate")
    model = ChannelNaiveBayes(short, alpha=2.0, n_draws=20_000, random_state=0).fit(
        public, Y
    )
    assert model.n_features_in_ == 3
    law = law_of(model.perturber_.mechanism_)
    tolerance = 0.05 if mechanism is None else 1e-4
    background = np.array([3, 2, 1]) / 6
    counts = np.array([[3, 1, 0], [0, 1, 1]])
    profiles = (counts + 2 * background) / (counts.sum(axis=1, keepdims=True) + 2)
    np.testing.assert_allclose(model.profiles_, profiles)
    logs = np.log(profiles @ law)
    np.testing.assert_allclose(model.feature_log_prob_, logs, rtol=tolerance)
    noisy = np.array([[0, 3, 1], [2, 0, 0], [0, 0, 0]])
    joint = noisy @ logs.T + np.log([2 / 3, 1 / 3])
    posterior = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    for released in (noisy, ["bb cc bb bb", "aa aa", ""]):
        probabilities = model.predict_proba(released)
        np.testing.assert_allclose(probabilities, posterior, rtol=tolerance)
    assert model.predict(noisy).tolist() == Y[[1, 0, 0]].tolist()
    for prior, shares in (("uniform", [0.5, 0.5]), ([1, 3], [0.25, 0.75])):
        given = model.set_params(prior=prior, n_draws=1).fit(X, Y)
        np.testing.assert_allclose(given.predict_proba([[0, 0, 0]]), [shares])


def test_without_noise_it_is_multinomial_naive_bayes():
    """... whose background is even with a single class-independent word each."""
    counts = np.array([[4, 1, 0, 3], [1, 4, 3, 0]])
    y = [0, 1]
    ours = ChannelNaiveBayes(alpha=4.0).fit(counts, y)
    assert counts.sum(axis=0).tolist() == [5, 5, 3, 3]
    background = np.array([6, 6, 4, 4]) / 20 * 4
    theirs = MultinomialNB(alpha=1e-10).fit(counts + background, y)
    assert ours.feature_log_prob_ == pytest.approx(theirs.feature_log_prob_, rel=1e-6)


@refusals(
    ({"alpha": 0}, "alpha must be a finite number > 0, got 0"),
    ({"prior": "even"}, "prior must be one of 'frequency', 'uniform'"),
    ({"prior": [1.0]}, r"one number per class \(2\), .* got 1 "),
    ({"prior": [1.0, -1.0]}, r"prior\[1\] must be a finite number > 0, got -1"),
)
def test_bad_parameters(change):
    ChannelNaiveBayes(perturber()).set_params(**change).fit(X, Y)


@refusals(
    (["aa"], Y, r"per document \(1\), got shape"),
    (["aa", "bb"], [1, 1], "at least 2 different labels, got 1 class"),
    (["zz", ""], [0, 1], "at least one word of the embedding, got none"),
)
def test_bad_input(texts, y):
    ChannelNaiveBayes(perturber()).fit(texts, y)
