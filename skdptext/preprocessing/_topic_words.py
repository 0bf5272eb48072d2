"""Reduce bags to the words that carry the topic."""

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdptext.utils import (
    DocLinked,
    as_labels,
    check_integer,
    check_option,
    read_bags,
    sparse_result,
    validated,
    warn_of_private_tuning,
)


class TopicWordSelector(
    DocLinked,
    OneToOneFeatureMixin,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Keep the words that distinguish topics, without moving any column.

    Words are ranked by the χ² statistic between their counts and the topics. The
    columns of all other words are set to zero and not dropped: column j is still word j
    of the embedding, for a perturber or a classifier that follows. The 2018 paper [1]_
    proposes this (§2.1), because words that do not serve the topic only help to
    identify the author.

    Parameters
    ----------
    n_words : int, default=1000
        Largest number of words to keep. Ties go to the first columns.
    tuned_on : {"private", "public", "released"}, default="private"
        Whether the documents and topics given to `fit` are private, public, or were
        released before. With ``"private"``, `fit` warns: the choice of words reveals
        something about the documents that the guarantee of a release does not cover.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        χ² of each word; NaN for a word that `fit` did not see.
    pvalues_ : ndarray of shape (n_features,)
        The p-values, which are rough for counts of words.
    n_selected_ : int
        Number of kept words: `n_words`, or all that `fit` saw.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if `X` in `fit` was a data frame.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, `X` holds negative counts, or all
        documents have one topic.

    Warns
    -----
    PrivacyLeakWarning
        In `fit`, with ``tuned_on="private"``.

    See Also
    --------
    sklearn.feature_selection.SelectKBest : Drops the columns.

    Notes
    -----
    *Privacy.* If the words are chosen from public text, the reduction is a fixed map of
    each document, and the guarantee holds between the reduced bags. Documents become
    shorter by different amounts: set `document_length` of the perturber that follows.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2018). Author obfuscation using
       generalised differential privacy.

    Examples
    --------
    >>> from skdptext.preprocessing import TopicWordSelector
    >>> counts = [[3, 0, 1], [2, 0, 1], [0, 3, 1], [0, 2, 1]]  # cat, tea, the
    >>> selector = TopicWordSelector(n_words=2, tuned_on="public")
    >>> selector.fit(counts, ["pets", "pets", "food", "food"]).get_support()
    array([ True,  True, False])
    >>> selector.transform([[1, 1, 5]]).toarray()
    array([[1, 1, 0]])
    """

    def __init__(
        self,
        *,
        n_words: int = 1000,
        tuned_on: str = "private",
    ) -> None:
        self.n_words = n_words
        self.tuned_on = tuned_on

    def fit(self, X: Any, y: Any) -> "TopicWordSelector":
        """Rank the words by how much they reveal about the topic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_features)
            Word counts of public documents.
        y : array-like of shape (n_documents,)
            Their topics.

        Returns
        -------
        self : TopicWordSelector
            The estimator itself.
        """
        from sklearn.feature_selection import chi2  # loads half of scikit-learn

        n_words = check_integer("n_words", self.n_words, low=1)
        X, _ = validated(self, X, y, dtype=np.float64)  # labels are read as given
        y = as_labels("y", y, X.shape[0], n_different=2)
        bags = read_bags(X)
        what = "Words are chosen by the topics"
        warn_of_private_tuning(self.tuned_on, what, "X and y")
        # A word that no document contains has an expected count of 0, and χ² = 0/0.
        with np.errstate(invalid="ignore", divide="ignore"):
            self.scores_, self.pvalues_ = chi2(bags, y)
        seen = np.bincount(bags.indices, minlength=bags.shape[1]) > 0
        self.scores_[~seen] = self.pvalues_[~seen] = np.nan
        # The sort is stable: ties go to the first columns on every machine.
        order = np.argsort(-np.nan_to_num(self.scores_, nan=-np.inf), kind="stable")
        chosen = order[: min(n_words, int(seen.sum()))]
        self._support = np.zeros(bags.shape[1], dtype=bool)
        self._support[chosen] = True
        self.n_selected_ = len(chosen)
        return self

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Get the columns that are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their numbers instead of a mask.

        Returns
        -------
        support : ndarray of shape (n_features,), bool, or (n_selected,), int
            A mask over the columns, or their indices.
        """
        check_is_fitted(self, "scores_")
        check_option("indices", indices)
        return np.flatnonzero(self._support) if indices else self._support.copy()

    def transform(self, X: Any) -> Any:
        """Set the counts of all other words to zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_features)
            Counts of words, or other weights >= 0.

        Returns
        -------
        reduced : sparse matrix in CSR format, of shape (n_documents, n_features)
            Counts without stored zeros, of the data type of `X`.
        """
        check_is_fitted(self, "scores_")
        X = validated(self, X, reset=False)
        dtype = X.dtype.newbyteorder("=")  # SciPy has no other order
        bags = read_bags(X)
        # The columns stay in place, because a perturber takes column j as word j.
        bags.data[~self._support[bags.indices]] = 0
        bags.eliminate_zeros()
        return sparse_result(bags.astype(dtype))

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> "TopicWordSelector":
        """Accept scikit-learn's setting, which has no effect here.

        Sparse bags are never wrapped in a data frame. The method exists because
        ``Pipeline.set_output`` must reach the steps that follow.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None

        Returns
        -------
        self : TopicWordSelector
            The estimator itself.
        """
        if transform is not None:
            check_option("transform", transform, ("default", "pandas", "polars"))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
