"""The default grouper: topics of public documents, found without any label."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from skdptext.documents import TopicEncoder, counts_of_topics
from skdptext.utils import sums_by_label

# Words that are added to the counts of each group, and how often naive Bayes learns its
# groups anew. On SMS, tweets and docstrings, .01 and 1 keep less than .1, a third round
# keeps no more than two, and one round less on SMS.
_ADDED, _ROUNDS = 0.1, 2


class NearestCentre(KMeans):
    """`KMeans` that adds up the scores of each row in one order.

    The product of matrices in ``KMeans.predict`` may add in another order in another
    batch, and so put a row that is equally far from two centres into either.
    """

    def predict(self, X: Any) -> np.ndarray:
        """The number of the centre that is nearest to each row."""
        centres = self.cluster_centers_
        scores = np.tile(-(centres**2).sum(axis=1) / 2, (len(X), 1))
        for column, of_centres in zip(X.T, centres.T, strict=True):
            scores += column[:, None] * of_centres
        return np.asarray(scores.argmax(axis=1))


class TopicGroups(ClusterMixin, BaseEstimator):
    """Clusters of documents whose words are learned by naive Bayes.

    k-means finds clusters in a few directions of topics. Multinomial naive Bayes, to
    which all groups are equally likely, learns them from the words, assigns every
    document, and learns its own groups again: directions say roughly what belongs
    together, and all words say it better. A round after which a group would be without
    a document is not taken.

    A document's group depends on no other one, not even by rounding: the sparse row of
    its counts is multiplied by itself.
    """

    def __init__(self, n_groups: int = 8) -> None:
        self.n_groups = n_groups

    def fit(self, X: Any, y: Any = None) -> TopicGroups:
        """Find groups of public documents."""
        texts = list(X)
        self.encoder_ = TopicEncoder()
        places = self.encoder_.fit_transform(texts)
        self.centres_ = NearestCentre(self.n_groups, n_init=10, random_state=0)
        groups = self.centres_.fit(places).predict(places)
        counts = counts_of_topics(self.encoder_, texts)
        self.classes_ = np.arange(self.n_groups)
        self.words_: np.ndarray | None = None
        for _ in range(_ROUNDS):
            words = _log_shares(sums_by_label(groups, counts, self.n_groups))
            groups = _likeliest(counts, words)
            if len(np.unique(groups)) < self.n_groups:
                break
            self.words_ = words
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number of the group of each document."""
        if self.words_ is None:
            return self.centres_.predict(self.encoder_.transform(X))
        return _likeliest(counts_of_topics(self.encoder_, X), self.words_)


def _log_shares(counts: Any) -> np.ndarray:
    """ln Pr[word | group], (n_words, n_groups)."""
    added = counts.toarray().T + _ADDED
    return np.log(added / added.sum(axis=0))


def _likeliest(counts: sp.csr_array, words: np.ndarray) -> np.ndarray:
    return np.asarray((counts @ words).argmax(axis=1))
