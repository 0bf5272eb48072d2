"""Author identification "in the wild" by random subsets of character n-grams."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from skdptext.attacks._words import read
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    DocLinked,
    as_labels,
    check_integer,
    check_real,
    check_rng,
    sums_by_label,
)

# Only so many letters of a word are read: a picture pasted as text has millions.
_LETTERS = 1000


class KoppelAuthorClassifier(DocLinked, ClassifierMixin, BaseEstimator):
    """Attribute documents to authors by repeated cosine similarity.

    Each author is represented by the counts of character n-grams in all their known
    text; n-grams do not cross blanks, and none is beyond a word's first thousand
    letters. Each of many rounds uses a random subset of the n-grams, and the author
    with the largest cosine similarity to the document wins. The score of an author is
    the share of rounds won [1]_. The method needs no training beyond counting, and
    detects style in words and parts of words. [2]_ therefore uses it as the attacker
    with a different representation.

    Parameters
    ----------
    ngram_size : int, default=4
        Characters per n-gram; a shorter word counts as one n-gram.
    n_features : int, default=20000
        Number of n-grams to use: the most frequent ones of the known texts.
    n_rounds : int, default=100
        Number of random subsets.
    feature_share : float in (0, 1], default=0.5
        Share of the n-grams that a round uses.
    random_state : None, int or numpy.random.Generator, default=None
        Draws the subsets, in `fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_authors,)
        Authors, sorted.
    ngrams_ : ndarray of str objects, shape (n_ngrams,)
        N-grams in use, the most frequent first.

    See Also
    --------
    skdptext.WMDKNNClassifier : Uses the same representation as the noise.

    Notes
    -----
    The defaults of `ngram_size`, `n_features`, `n_rounds` and `feature_share` come from
    the replication that the 2019 paper starts from. The similarity is the cosine, as in
    [1]_ and [2]_. An author is always predicted, as in [2]_; [1]_ abstains below a
    score. All known text of an author counts in every round. The replication instead
    draws a passage as long as the document, and leaves out authors with fewer than 500
    words (400 in [2]_). Several equally similar authors share a round.

    *Privacy.* This measures what one attacker achieves. Its failure proves nothing
    about others; only the guarantee does.

    References
    ----------
    .. [1] M. Koppel, J. Schler, S. Argamon (2011). Authorship attribution in the wild.
       Language Resources and Evaluation 45(1), 83-94.
    .. [2] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019, appendix B.

    Examples
    --------
    >>> from skdptext.attacks import KoppelAuthorClassifier
    >>> texts = ["thou art as lovely as thy rose", "you are as pretty as your flower"]
    >>> adversary = KoppelAuthorClassifier(random_state=0).fit(texts, ["old", "new"])
    >>> adversary.predict(["thy lovely rose", "your pretty flower"])
    array(['old', 'new'], dtype='<U3')
    """

    def __init__(
        self,
        *,
        ngram_size: int = 4,
        n_features: int = 20_000,
        n_rounds: int = 100,
        feature_share: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.ngram_size = ngram_size
        self.n_features = n_features
        self.n_rounds = n_rounds
        self.feature_share = feature_share
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "KoppelAuthorClassifier":
        """Count the n-grams of each author's known texts.

        Parameters
        ----------
        X : iterable of str or of lists of str
            Known texts.
        y : array-like of shape (n_documents,)
            Their authors; at least two different ones.

        Returns
        -------
        self : KoppelAuthorClassifier
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or an input breaks its rule.
        """
        for name in ("ngram_size", "n_features", "n_rounds"):
            check_integer(name, getattr(self, name), low=1)
        check_real("feature_share", self.feature_share, low=0, high=1, open_low=True)
        texts = read("X", X).texts
        y = as_labels("y", y, len(texts), n_different=2)
        classes, author = np.unique(y, return_inverse=True)
        self._counter = CountVectorizer(analyzer=partial(_ngrams, size=self.ngram_size))
        try:
            counts = self._counter.fit_transform(texts)
        except ValueError:
            raise InvalidParameterError(
                "X must hold at least one word, got none."
            ) from None
        known = sums_by_label(author, counts, len(classes)).toarray()
        # The most frequent n-grams come first. Names are sorted, so ties go by name.
        chosen = np.argsort(-known.sum(axis=0), kind="stable")[: self.n_features]
        self._chosen, self._known = chosen, known[:, chosen].astype(np.float64)
        self.ngrams_ = self._counter.get_feature_names_out()[chosen]
        self._masks = self._draw_masks(len(chosen))
        # The norm of each author in each round; 1 if an author has none of its n-grams,
        # to avoid a division by zero.
        self._norms = np.sqrt(self._known**2 @ self._masks)
        self._norms[self._norms == 0] = 1.0
        self.classes_ = classes
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        return tags

    def _draw_masks(self, n_features: int) -> np.ndarray:
        """Draw a column per round, with 1 for the n-grams that it uses."""
        rng = check_rng(self.random_state)
        n_chosen = max(1, round(self.feature_share * n_features))
        order = rng.permuted(np.tile(np.arange(n_features), (self.n_rounds, 1)), axis=1)
        return (n_chosen > order.T).astype(np.float64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Compute the share of the rounds that each author wins.

        Parameters
        ----------
        X : iterable of str or of lists of str
            Texts or token lists.

        Returns
        -------
        scores : ndarray of shape (n_documents, n_authors)
            Rows sum to 1; a document without known n-grams gets equal scores.
        """
        check_is_fitted(self)
        counts = self._counter.transform(read("X", X).texts)
        documents = counts[:, self._chosen].tocsr()
        out = np.empty((documents.shape[0], len(self.classes_)))
        # The document's own norm is the same for all authors, so it is left out.
        for i, row in enumerate(
            map(slice, documents.indptr[:-1], documents.indptr[1:])
        ):
            at, counts = documents.indices[row], documents.data[row]
            products = (self._known[:, at] * counts) @ self._masks[at]
            out[i] = _shares_won(products / self._norms)
        return out

    def predict(self, X: Any) -> np.ndarray:
        """Predict the author who wins the most rounds.

        Parameters
        ----------
        X : iterable of str or of lists of str
            Texts or token lists.

        Returns
        -------
        authors : ndarray of shape (n_documents,)
            An author for each document.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]


def _ngrams(text: str, size: int) -> list[str]:
    """Get runs of `size` characters of each word; the word itself if it is shorter."""
    words = (word[: max(_LETTERS, size)] for word in text.split())
    return [
        word[i : i + size]
        for word in words
        for i in range(max(1, len(word) - size + 1))
    ]


def _shares_won(similarities: np.ndarray) -> np.ndarray:
    """Compute the share of rounds (columns) that each author (row) wins.

    Ties share a round. Similarities that differ by rounding are ties, because the order
    of sums may vary.
    """
    best = similarities.max(axis=0)
    winners = similarities >= best - 1e-12 * np.maximum(best, 1e-300)
    return (winners / winners.sum(axis=0)).mean(axis=1)
