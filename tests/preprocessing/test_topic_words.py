"""TopicWordSelector against scipy's chi-squared test, and before a perturber."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber
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


def test_columns_stay_where_they_are(bags):
    counts, _ = bags
    selector = fit(bags, n_words=5)
    support = selector.get_support()
    assert support.sum() == selector.n_selected_ == 5
    for X in (counts, sp.csr_matrix(counts), sp.csc_array(counts.astype(np.float32))):
        before = X.copy()
        out = selector.transform(X)
        assert out.format == "csr"
        assert out.dtype == X.dtype
        np.testing.assert_array_equal(out.toarray(), counts * support)
        assert (out.data != 0).all()
        assert (before != X).sum() == 0
    np.testing.assert_array_equal(
        selector.get_feature_names_out(), [f"x{i}" for i in range(30)]
    )


def test_names_of_columns(bags):
    counts, topic = bags
    frame = pd.DataFrame(counts, columns=[f"w{i}" for i in range(30)])
    selector = fit((frame, topic), n_words=3).set_output(transform="pandas")
    assert selector.get_feature_names_out().tolist() == list(frame.columns)
    assert sp.issparse(selector.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(frame[frame.columns[::-1]])
    with refused("transform must be one of"):
        selector.set_output(transform="arrow")
    assert selector.set_output() is selector


def test_ties_go_to_the_first_and_unseen_words_are_never_kept():
    counts = [[1, 1, 0, 1, 0], [0, 0, 0, 1, 0]]
    assert fit((counts, [0, 1]), n_words=1).get_support().tolist() == [
        True,
        *[False] * 4,
    ]
    everything = fit((counts, [0, 1]), n_words=100)
    assert everything.get_support().tolist() == [True, True, False, True, False]
    assert everything.n_selected_ == 3


def test_private_text_is_warned_of(bags):
    with pytest.warns(PrivacyLeakWarning, match='say so: tuned_on="public"'):
        TopicWordSelector().fit(*bags)
    with no_warning():
        fit(bags).transform(bags[0])


def test_before_a_perturber(small_embedding):
    """The words outside the choice never reach the noise, nor does their number."""
    rng = np.random.default_rng(2)
    topic = np.repeat([0, 1], 30)
    weights = np.ones((60, 200))
    weights[topic == 0, :10] = 20
    weights[topic == 1, 10:20] = 20
    counts = sp.csr_matrix([rng.multinomial(50, w / w.sum()) for w in weights])
    model = make_pipeline(
        TopicWordSelector(n_words=20, tuned_on="public"),
        DPWordPerturber(
            small_embedding, epsilon=1e6, document_length=12, resize="sample"
        ),
        MultinomialNB(),
    ).fit(counts, topic)
    released = model[:2].transform(counts)
    assert released.shape == counts.shape
    assert (released.sum(axis=1) == 12).all()
    support = model[0].get_support()
    assert support[:20].all()
    assert released[:, ~support].sum() == 0
    assert model.score(counts, topic) > 0.9
    texts = [
        " ".join(np.repeat(small_embedding.words, row.toarray()[0])) for row in counts
    ]
    from_texts = make_pipeline(
        CountVectorizer(vocabulary=small_embedding.words), clone(model)
    ).fit(texts, topic)
    assert from_texts.score(texts, topic) > 0.9


@refusals(
    ({"n_words": 0}, "n_words must be an integer >= 1, got 0"),
    ({"n_words": "all"}, "n_words must be an integer >= 1"),
    ({"tuned_on": "mine"}, "must be one of 'private', 'public', 'released'"),
)
def test_bad_parameters(bags, change):
    TopicWordSelector().set_params(**change).fit(*bags)


def test_bad_counts(bags):
    counts, topic = bags
    with refused("non-negative entries only"):
        fit((-counts, topic))
    with refused("non-negative entries only"):
        fit(bags).transform(-counts)
    with pytest.raises(NotFittedError):
        TopicWordSelector().transform(counts)
    with pytest.raises(NotFittedError):
        TopicWordSelector().get_support()
    with refused("indices must be True or False"):
        fit(bags).get_support(indices="yes")
    with refused(r"2 different topics, got 1 class\."):
        fit((counts, ["air"] * 45))
    with pytest.raises(ValueError, match="Unknown label type"):
        fit((counts, np.linspace(0, 1, 45)))
