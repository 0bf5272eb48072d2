"""The canonical pipelines, end to end on real text."""

from __future__ import annotations

import pickle

import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from tests.expected import leaks_allowed, refused

pytestmark = leaks_allowed


@pytest.mark.parametrize("call", ["transform", "prepare"])
def test_bags_of_another_embedding_are_refused(small_embedding, call):
    words, vectors = small_embedding.words, small_embedding.vectors
    others = {
        "the same words in another order": WordEmbedding(words[::-1], vectors[::-1]),
        "other words": WordEmbedding([f"v{i}" for i in range(200)], vectors),
        "other vectors": WordEmbedding(words, vectors + 1),
    }
    texts, labels = [["w1", "w2"], ["w3"], ["w2", "w3"]] * 4, [0, 1, 1] * 4
    perturber = DPWordPerturber(small_embedding, epsilon=5.0).fit([])
    noisy = getattr(perturber, call)(texts)
    equal = WordEmbedding(words, vectors)  # another object
    model = WMDKNNClassifier(equal, n_neighbors=1).fit(noisy, labels)
    stored = pickle.loads(pickle.dumps(noisy))
    assert model.score(stored, labels) == model.score(noisy, labels)
    for other in others.values():
        apart = WMDKNNClassifier(other, n_neighbors=1)
        for X in (noisy, stored):
            with refused("bags of the same embedding, in the same order"):
                apart.fit(X, labels)
        apart.fit(noisy.copy(), labels)  # nothing tells whose words they are
        with refused("a release by another one"):
            apart.kneighbors(noisy)
        with refused("Give one embedding to both"):
            make_pipeline(perturber, apart).fit(texts, labels)
    assert WMDKNNClassifier("one-hot", n_neighbors=1).fit(noisy, labels)


@pytest.mark.filterwarnings("ignore::skdptext.exceptions.EmptyDocumentWarning")
def test_pipeline_tells_spam_through_the_noise(built_in, prose):
    texts, labels = (part[:400] for part in prose)
    # its words that are nine tenths of any text, so that noise is found quickly
    frequent = built_in.restrict(2000)
    perturber = DPWordPerturber(frequent, epsilon=45.0, lam=0.2)
    model = make_pipeline(perturber, WMDKNNClassifier(frequent))
    scores = cross_val_score(model, texts, labels, cv=3)
    # chance is 0.5. Over fresh noise the mean is 0.69, with a standard deviation of
    # 0.005, so that the noise alone fails this less often than once in 10^6 runs
    assert scores.mean() > 0.65
    assert all(clone(step).embedding is frequent for step in model)
