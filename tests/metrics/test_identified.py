"""The share of documents that an attacker identifies, computed in several ways."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline, make_union

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.base import BaseReleaser
from skdptext.datasets import make_documents, make_embedding
from skdptext.metrics import identified_scorer, privacy_utility_scoring
from tests.expected import leaks_allowed, refusals

pytestmark = leaks_allowed

LINE = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [1.5]])
TINY = [
    text.split()
    for text in ("aa aa bb", "aa bb bb", "cc cc aa", "cc bb aa", "bb", "bb bb", "cc")
]
IN_ORDER = [["aa", "bb", "cc"], ["bb", "aa", "cc"], ["cc", "bb", "aa"]] * 3


WORDS = make_embedding(60, 8, n_clusters=6, random_state=0)
CORPUS = make_documents(WORDS, 80, length=10, random_state=0)


def randomized_response(epsilon):
    """Pr[z | w] over three words, from its definition."""
    kept = np.exp(epsilon) / (np.exp(epsilon) + 2)
    return np.full((3, 3), (1 - kept) / 2) + np.eye(3) * (kept - (1 - kept) / 2)


def by_brute_force(proba, perturber, texts, n_candidates, *, ordered=False):
    """Each release, each set of candidates, each word of both, one after the other."""
    share = []
    for truth, release in enumerate(perturber.transform(texts)):
        logs = []
        for text in texts:
            p = proba[np.ix_(LINE.find(text), LINE.find(release))]
            logs.append(np.log(p.diagonal() if ordered else p.mean(axis=0)).sum())
        others = [d for d in range(len(texts)) if d != truth]
        for chosen in combinations(others, n_candidates - 1):
            top = max(logs[d] for d in (truth, *chosen))
            best = [d for d in (truth, *chosen) if np.isclose(logs[d], top)]
            share.append((truth in best) / len(best))
    return np.mean(share)


@pytest.mark.parametrize("n_candidates", [2, 3, 7])
@pytest.mark.parametrize("ordered", [False, True])
def test_stated_probabilities_agree_with_brute_force(n_candidates, ordered):
    texts = IN_ORDER if ordered else TINY
    perturber = DPWordPerturber(
        LINE, mechanism="randomized-response", lam=0, epsilon=1.5, document_length=3,
        resize="truncate" if ordered else "sample", output="tokens", random_state=0,
    ).fit([])  # fmt: skip
    share = identified_scorer(perturber, texts, n_candidates=n_candidates)
    proba = randomized_response(1.5)
    expected = by_brute_force(proba, perturber, texts, n_candidates, ordered=ordered)
    assert share == pytest.approx(expected)


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, "exponential"])
def test_from_chance_to_certainty(mechanism):
    shares = []
    for epsilon in (1e-9, 3.0, 6.0, 1e6):
        perturber = DPWordPerturber(
            WORDS, mechanism=mechanism, lam=0, epsilon=epsilon, document_length=10,
            resize="truncate",
        ).fit([])  # fmt: skip
        each = [identified_scorer(perturber, CORPUS[0]) for _ in range(4)]
        shares.append(np.mean(each))
    # 320 documents, a standard error of .0062: a false alarm in 10⁶
    assert shares[0] == pytest.approx(1 / 80, abs=0.031)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


class Publisher(BaseReleaser):
    """Releases documents as they are, or says nothing of them."""

    def __init__(self, silent=False):
        self.silent = silent

    def fit(self, X=None, y=None):
        return self

    def transform(self, X):
        self.seen_ = len(X)
        return ["" if self.silent else x for x in X]

    def log_likelihood(self, documents, released):
        same = np.equal.outer(np.array(released), np.array(list(documents)))
        return np.zeros(same.shape) if self.silent else np.where(same, 0.0, -np.inf)

    def guarantee(self):
        raise NotImplementedError


def test_equal_documents_cannot_be_told_apart():
    texts = ["tea", "tea", "milk", "milk"]
    assert identified_scorer(Publisher(), texts) == pytest.approx(0.5)
    # the other one of two candidates is the double in a third of the cases
    share = identified_scorer(Publisher(), texts, n_candidates=2)
    assert share == pytest.approx(1 - 1 / 6)
    assert identified_scorer(Publisher(silent=True), list("abcd")) == 0.25
    assert identified_scorer(Publisher(silent=True), list("abcd"), n_candidates=1) == 1


def test_many_documents_are_attacked_in_part():
    publisher, texts = Publisher(silent=True), [str(i) for i in range(1200)]
    for n_candidates, seen in ((100, 500), (700, 700)):
        share = identified_scorer(publisher, texts, n_candidates=n_candidates)
        assert share == pytest.approx(1 / n_candidates)
        assert publisher.seen_ == seen


def test_stand_ins():
    things = ["cats", "dogs", "tea", "milk"]
    public = [f"a text about {thing}" for thing in [*things, "ships"]] * 4
    private = [f"some {thing} were here" for thing in things]
    replacer = DPDocumentReplacer(public, n_groups=3, random_state=0).fit()
    logs = replacer.log_likelihood(private, replacer.transform(private))
    best = np.isclose(logs, logs.max(axis=1, keepdims=True))
    expected = np.mean(best.diagonal() / best.sum(axis=1))
    for X in (private, pd.Series(private, list("abcd")), pd.DataFrame({"t": private})):
        assert identified_scorer(replacer, X) == pytest.approx(expected)


def test_a_search_scores_it_beside_accuracy():
    texts, topics = CORPUS
    perturber = DPWordPerturber(WORDS, lam=0, document_length=10)
    scoring = privacy_utility_scoring()
    scoring["of two"] = partial(identified_scorer, n_candidates=2)
    search = GridSearchCV(
        make_pipeline(perturber, MultinomialNB()),
        {"dpwordperturber__epsilon": [1e-6, 1e6]},
        scoring=scoring, refit="accuracy", cv=4,
    ).fit(pd.Series(texts), topics)  # fmt: skip
    least, most = search.cv_results_["mean_test_identified"]
    assert least < 0.2
    assert most > 0.95
    assert search.cv_results_["mean_test_of two"][0] == pytest.approx(0.5, abs=0.25)
    assert identified_scorer(search, texts) > 0.95


@refusals(
    (None, [], {}, "X must hold at least one document"),
    (MultinomialNB(), ["w1"], {}, "exactly one releaser, got 0"),
    (make_union(Publisher(), Publisher()), ["w1"], {}, "exactly one releaser, got 2"),
)
def test_bad_input(estimator, X, options):
    perturber = DPWordPerturber(WORDS, document_length=10).fit([])
    identified_scorer(perturber if estimator is None else estimator, X, **options)
