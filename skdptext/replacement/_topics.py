"""The default grouper: topics of public documents, found without any label."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans


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
