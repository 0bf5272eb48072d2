"""Classes as mixtures of their documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from skdptext.utils import blocks, working_memory_bytes


class DocumentMixture:
    r"""ln of the mean over documents d of a class c of Π_j ((1 − τ) q_d + τ q_c)(z_j).

    `bags` and `labels` are the known documents and their classes; `classes` the q_c,
    released word frequencies, all above 0; `through` turns word frequencies into those
    of releases.
    """

    def __init__(
        self,
        bags: sp.csr_array,
        labels: np.ndarray,
        classes: np.ndarray,
        through: Callable[[sp.csr_array], np.ndarray],
    ) -> None:
        totals = np.asarray(bags.sum(axis=1)).ravel()
        held = totals > 0
        scale = sp.diags_array(1 / totals[held])
        self._profiles = (scale @ bags[held]).tocsr()
        self._labels = labels[held]
        self._classes = classes
        self._through = through

    def joint(self, released: Any, taus: Sequence[float]) -> np.ndarray:
        """ln Pr[release | class], of shape (n_taus, n_releases, n_classes).

        A class without a document that has words is released as q_c.
        """
        n_classes, width = self._classes.shape
        shape = (len(taus), released.shape[0], n_classes)
        joint = np.full(shape, -np.inf)
        size = max(1, working_memory_bytes() // 4 // (8 * (3 * width + shape[1])))
        for part in blocks(len(self._labels), size):
            labels = self._labels[part]
            of_documents = self._through(self._profiles[part])
            for k, tau in enumerate(taus):
                # a row for each document of the block; above 0, as q_c and τ are
                mixed = tau * self._classes[labels] + (1 - tau) * of_documents
                # ln of the product over a release's words, (releases, documents)
                scores = released @ np.log(mixed).T
                # products of many words underflow: their sum is taken in logarithms
                for c in np.unique(labels):
                    ours = logsumexp(scores[:, labels == c], axis=1)
                    joint[k, :, c] = np.logaddexp(joint[k, :, c], ours)
        sizes = np.bincount(self._labels, minlength=n_classes)
        alone = sizes == 0
        joint[:, :, alone] = released @ np.log(self._classes[alone]).T
        return joint - np.log(np.maximum(sizes, 1))  # from the sum to the mean
