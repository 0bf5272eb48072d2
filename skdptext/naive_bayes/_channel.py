"""Multinomial naive Bayes for words that were released through known noise."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from skdptext.base import fitted_releaser, perturbs_words, profiles_of
from skdptext.documents import DocumentReader, read_documents, read_release
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    DocLinked,
    as_labels,
    as_shares,
    blocks,
    check_option,
    check_real,
    is_count_matrix,
    plain_documents,
    read_bags,
    sums_by_label,
    validated,
    working_memory_bytes,
)


class ChannelNaiveBayes(DocLinked, ClassifierMixin, BaseEstimator):
    r"""Classify noisy bags of words with the help of the noise distribution.

    The word frequencies p_c(w) of each class are learned from clean text. A released
    word then has frequency :math:`q_c(z) = \sum_w p_c(w) \Pr[z \mid w]`, and a release
    is assigned to the class with the largest :math:`\ln π_c + \sum_j \ln q_c(z_j)`. The
    classifier need not learn the effect of the noise.

    Parameters
    ----------
    perturber : DPWordPerturber, DPDocumentReplacer or other releaser, default=None
        Releases the bags to be classified; fitted or not. A search reaches its
        parameters as ``perturber__epsilon``. For a releaser of whole documents, such as
        `~skdptext.DPDocumentReplacer`, the distribution of a class is the mean over its
        documents and one average document, which leaves every release possible in every
        class; `alpha` and the other parameters of words are not used. None means no
        noise: the classifier is multinomial naive Bayes on counts.
    alpha : float > 0, default=100.0
        Smoothing of p_c: this many words are added to each class, in the proportions of
        all classes together (after adding one of every word, if there is no noise).
    prior : str or array-like of shape (n_classes,), default="frequency"
        The π_c: ``"frequency"``, the class frequencies in `fit`; ``"uniform"``; or one
        number per class, in any unit.
    n_draws : int, default=20
        Simulated draws per word, if the mechanism does not state Pr[z | w]; there are
        at least 4,000 in all.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds this simulation, which is not secret.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_log_prior_ : ndarray of shape (n_classes,)
        ln π_c.
    profiles_ : ndarray of shape (n_classes, n_words)
        p_c. Absent, like the next two, for a releaser of whole documents.
    feature_log_prob_ : ndarray of shape (n_classes, n_words)
        ln q_c, with a column for each word that may be released.
    n_features_in_ : int
        Number of words of the embedding, or of columns.
    perturber_ : DPWordPerturber
        `perturber` if it is fitted, else a fitted copy. Use it to release the documents
        to be classified. Absent if `perturber` is None.

    See Also
    --------
    skdptext.WMDKNNClassifier : Uses distances of words, but not the noise.

    Notes
    -----
    *Use.* `fit` takes clean text, and `predict` takes releases. The classifier can
    therefore not follow the perturber in a pipeline. In a search, a scorer releases the
    held-out documents, as in the last example.

    *Privacy.* The classifier adds no privacy: it keeps word frequencies of its training
    texts, which must be public. Used as an attacker, it measures how well releases
    reveal the classes of documents.

    *Smoothing.* Classes with few words need more smoothing than classes with many.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.naive_bayes import ChannelNaiveBayes
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "tea", "milk"], [[0.0], [1.0], [9.0], [8.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=2.0, document_length=2)
    >>> public = ["cat dog", "dog dog", "tea milk", "milk milk"]
    >>> model = ChannelNaiveBayes(perturber, alpha=1.0, random_state=0)
    >>> model = model.fit(public, ["pets", "pets", "drinks", "drinks"])
    >>> noisy = [[1, 1, 0, 0], [0, 0, 0, 2]]
    >>> model.predict(noisy)
    array(['pets', 'drinks'], dtype='<U6')

    A search over ε and `alpha`; held-out documents are released before they are
    classified:

    >>> from sklearn.model_selection import GridSearchCV
    >>> def on_releases(model, X, y):
    ...     return model.score(model.perturber_.transform(X), y)
    >>> search = GridSearchCV(
    ...     model, {"perturber__epsilon": [1, 5], "alpha": [1, 10]},
    ...     scoring=on_releases, cv=2)
    """

    def __init__(
        self,
        perturber: Any = None,
        *,
        alpha: float = 100.0,
        prior: Any = "frequency",
        n_draws: int = 20,
        random_state: Any = None,
    ) -> None:
        self.perturber = perturber
        self.alpha = alpha
        self.prior = prior
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "ChannelNaiveBayes":
        """Learn the word frequencies of each class.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Clean texts. All of their words count, regardless of `document_length`.
            Without a perturber, a matrix of counts or other weights.
        y : array-like of shape (n_documents,)
            Classes, at least two.

        Returns
        -------
        self : ChannelNaiveBayes
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or an input breaks its rule.
        """
        alpha = check_real("alpha", self.alpha, low=0, open_low=True)
        for name in [name for name in vars(self) if name.endswith("_")]:
            del self.__dict__[name]
        if self._reads_counts(X):
            X, _ = validated(self, X, y, dtype=np.float64)  # labels are read as given
            check_classification_targets(as_labels("y", y))
            bags = read_bags(X)
            X = sp.csr_array((1, X.shape[1]))  # only the width of X matters below
        else:
            X = list(read_documents(X))
        if self.perturber is not None:
            self.perturber_ = fitted_releaser(self.perturber, X)
        if isinstance(X, list) and not self._of_documents:
            embedding = self.perturber_.embedding_
            reader = DocumentReader.of(self.perturber_, embedding)
            whole = replace(reader, document_length=None)
            bags = whole.read(X).bags(len(embedding))
        n_documents = len(X) if self._of_documents else bags.shape[0]
        y = as_labels("y", y, n_documents, n_different=2)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        n_classes, prior = len(self.classes_), self.prior
        if isinstance(prior, str):
            check_option("prior", prior, ("frequency", "uniform"))
            prior = np.bincount(numbers) if prior == "frequency" else None
        self.class_log_prior_ = np.log(as_shares(prior, n_classes, "class"))
        if self._of_documents:
            self._documents, self._numbers = X, numbers
            return self
        counts = sums_by_label(numbers, bags, n_classes).toarray()
        # Noise makes all words possible. Without noise, one occurrence of each word is
        # added to avoid zero probabilities.
        background = counts.sum(axis=0) + (self.perturber is None)
        if not background.any():
            raise InvalidParameterError(
                "X must hold at least one word of the embedding, got none."
            )
        smoothed = counts + alpha * background / background.sum()
        self.profiles_ = smoothed / smoothed.sum(axis=1, keepdims=True)
        released = self.profiles_
        if self.perturber is not None:
            released = profiles_of(
                self.perturber_.mechanism_at(), released, n_draws=self.n_draws,
                random_state=self.random_state,
            )  # fmt: skip
        self.n_features_in_ = counts.shape[1]
        self.feature_log_prob_ = np.log(released)
        return self

    @property
    def _of_documents(self) -> bool:
        """Whether a release is one answer per document instead of noisy words."""
        return self.perturber is not None and not perturbs_words(self.perturber)

    def _reads_counts(self, X: Any) -> bool:
        """Check whether `X` is a matrix, as it must be without noise."""
        if self._of_documents:
            return False
        return self.perturber is None or is_count_matrix(X, name="X")

    def _by_documents(self, X: Any) -> np.ndarray:
        """Compute ln of the mean distribution of the documents of each class."""
        n, n_classes = len(self._documents), len(self.classes_)
        # Each class has a column of weights that sum to 1: 1 for each of its n_c
        # documents and 1/n for every document, which is one more, over n_c + 1.
        sizes = np.bincount(self._numbers)
        weights = np.full((n, n_classes), 1 / n)
        weights[np.arange(n), self._numbers] += 1
        weights /= sizes + 1
        likelihood = self.perturber_.likelihood(self._documents)
        whole = isinstance(X, str) or hasattr(X, "shape")  # a str is refused as one
        rows = X if whole else list(plain_documents(X))
        n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        joint = np.empty((n_rows, n_classes))
        for part in blocks(n_rows, max(1, working_memory_bytes() // (32 * n))):
            logs = likelihood(rows[part])
            # Subtracting the largest value of a row avoids underflow, and the constant
            # is the same for all classes. In a row of −inf there is none to subtract: a
            # release that no document can give says nothing about the classes.
            most = np.maximum(logs.max(axis=1, keepdims=True), -1e300)
            mixed = np.exp(logs - most) @ weights
            with np.errstate(divide="ignore"):
                joint[part] = np.where(mixed.any(axis=1)[:, None], np.log(mixed), 0)
        return joint

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Compute ln π_c + ln Pr[X | c], up to a constant per document.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Releases.

        Returns
        -------
        log_joint : ndarray of shape (n_documents, n_classes)
            A row for each document, and a column for each class.
        """
        check_is_fitted(self, "classes_")
        if self._of_documents:
            return self._by_documents(X) + self.class_log_prior_
        if self._reads_counts(X):
            bags = read_bags(validated(self, X, dtype=np.float64, reset=False))
        else:
            vocabulary = self.perturber_.embedding_
            bags = read_release(X, vocabulary).bags(len(vocabulary))
        # Σ_j ln q_c(z_j) as a product of counts and logarithms, (documents, classes).
        return bags @ self.feature_log_prob_.T + self.class_log_prior_

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Compute the log posterior of the classes.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Releases.

        Returns
        -------
        log_proba : ndarray of shape (n_documents, n_classes)
            Rows whose exponentials sum to 1.
        """
        joint = self.predict_joint_log_proba(X)
        return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Compute the posterior of the classes.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Releases.

        Returns
        -------
        proba : ndarray of shape (n_documents, n_classes)
            Probabilities. They are overconfident if words of a document are dependent.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most likely class.

        Parameters
        ----------
        X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
            Releases.

        Returns
        -------
        y : ndarray of shape (n_documents,)
            The most likely class of each document.
        """
        check_is_fitted(self, "classes_")
        return self.classes_[self.predict_joint_log_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = self.perturber is not None
        tags.classifier_tags.poor_score = True  # on blobs, whose columns are not counts
        return tags
