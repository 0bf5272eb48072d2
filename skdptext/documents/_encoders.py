"""What the encoders of documents share: how they are fitted and what they read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import validate_data

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import SITE, DocLinked, blocks, check_bags, is_count_matrix

# Documents that are placed at a time: their rows are dense.
TOGETHER = 4096
# Means of unit vectors, their variances and canonical correlations are at most 1; what
# is below this is rounding.
ROUNDING = 1e-9


class DocumentEncoder(
    DocLinked, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Places documents in a few directions that it learns from public texts."""

    # users import the encoders from there
    _doc_link_template = (
        f"{SITE}api/generated/skdptext.preprocessing.{{estimator_name}}.html"
    )

    components_: np.ndarray
    n_components_: int
    _of_counts: bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn directions from public texts.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Public. If there is an embedding, its words are the columns of a count
            matrix.
        y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        self : estimator
            The estimator itself.
        """
        self._fit(X)
        return self

    @abstractmethod
    def _fit(self, X: Any) -> Any:
        """Learn from texts; what is returned may serve to place them."""

    def _read_counts(
        self, X: Any, *, reset: bool, n_words: int | None = None
    ) -> sp.csr_array | None:
        """X if it is a count matrix, checked; None if it is documents, to be read.

        An estimator that is fitted (`reset` is False) must get what it was fitted to.
        """
        of_counts = is_count_matrix(X, name="X")
        if not reset and of_counts != self._of_counts:
            fitted, given = "texts or lists of words", "a count matrix"
            if self._of_counts:
                fitted, given = given, "texts"
            raise InvalidParameterError(f"X must be {fitted}, as in fit, got {given}.")
        if not of_counts:
            return None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return check_bags(X, n_words=n_words)

    def _keep(self, learned: dict[str, Any], *, of_counts: bool) -> None:
        """Store what was learned in place of all that an earlier fit has learned."""
        of_others = () if of_counts else ("n_features_in_", "feature_names_in_")
        for name in ("words_", *of_others):
            self.__dict__.pop(name, None)
        for name, value in learned.items():
            setattr(self, name, value)
        self._of_counts = of_counts
        self.n_components_ = self._n_features_out = len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def in_parts(bags: sp.csr_array) -> Iterator[sp.csr_array]:
    """Rows of a matrix, some at a time."""
    return (bags[rows] for rows in blocks(bags.shape[0], TOGETHER))


def unit_rows(places: np.ndarray) -> np.ndarray:
    """Rows divided by their lengths; of zeros where there is no direction."""
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    # what is at the origin but for rounding has no direction
    return np.where(lengths > ROUNDING, places / np.where(lengths > 0, lengths, 1), 0)
