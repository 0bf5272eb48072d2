"""TopicWordSelector against scipy's chi-squared test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from skdptext.exceptions import PrivacyLeakWarning
from skdptext.preprocessing import TopicWordSelector
from tests.expected import no_warning, refusals, refused


@pytest.fixture(scope="module")
def bags():
    rng = np.random.default_rng(0)
    topic = np.repeat(["air", "fire", "water"], 15)
    weights = np.ones((45, 30))
    for i, name in enumerate(["air", "fire", "water"]):
        weights[topic == name, i * 4 : i * 4 + 4] = 6
    weights[:, 28:] = 0
    counts = np.array([rng.multinomial(80, w / w.sum()) for w in weights])
    return counts, topic


def fit(bags, **params):
    return TopicWordSelector(tuned_on="public", **params).fit(*bags)


def test_scores_are_pearsons(bags):
    """Counts of a word per topic against topic size times the word's total."""
    counts, topic = bags
    selector = fit(bags, n_words=12)
    share = np.array([np.mean(topic == t) for t in np.unique(topic)])
    for j in range(28):
        seen = [counts[topic == t, j].sum() for t in np.unique(topic)]
        statistic, p = chisquare(seen, share * np.sum(seen))
        assert selector.scores_[j] == pytest.approx(statistic)
        assert selector.pvalues_[j] == pytest.approx(p, abs=1e-12)
    assert np.isnan(selector.scores_[28:]).all()
    assert selector.get_support(indices=True).tolist() == list(range(12))
    kept = selector.transform(counts)  # columns stay where they are
    np.testing.assert_array_equal(kept.toarray()[:, :12], counts[:, :12])
    assert kept.shape == counts.shape
    assert kept[:, 12:].nnz == 0


def test_names_of_columns_and_output_that_stays_sparse(bags):
    frame = pd.DataFrame(bags[0], columns=[f"w{i}" for i in range(30)])
    selector = fit((frame, bags[1]), n_words=3).set_output(transform="pandas")
    assert selector.get_feature_names_out().tolist() == list(frame.columns)
    assert sp.issparse(selector.transform(frame))
    with refused("transform must be one of"):
        selector.set_output(transform="arrow")


def test_ties_go_to_the_first_and_unseen_words_are_never_kept():
    counts = [[1, 1, 0, 1, 0], [0, 0, 0, 1, 0]]
    for n_words, kept in ((1, [0]), (100, [0, 1, 3])):
        selector = fit((counts, [0, 1]), n_words=n_words)
        assert selector.get_support(indices=True).tolist() == kept
        assert selector.n_selected_ == len(kept)


def test_private_text_is_warned_of(bags):
    with pytest.warns(PrivacyLeakWarning, match='pass tuned_on="public"'):
        TopicWordSelector().fit(*bags)
    with no_warning():
        fit(bags).transform(bags[0])


@refusals(
    (lambda X, y: fit((X, y), n_words=0), "n_words must be an integer >= 1, got 0"),
    (lambda X, y: TopicWordSelector(tuned_on="mine").fit(X, y), "'public', 'released'"),
    (lambda X, y: fit((-X, y)), "non-negative entries only"),
    (lambda X, y: fit((X, y)).transform(-X), "non-negative entries only"),
    (lambda X, y: fit((X, ["air"] * 45)), r"2 different labels, got 1 class\."),
)
def test_bad_input(bags, call):
    call(*bags)
