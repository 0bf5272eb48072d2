"""Guess the written word from the released word."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skdptext.base import check_word_releaser, transitions_of
from skdptext.documents import word_ids
from skdptext.embeddings import plain_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    DocLinked,
    as_array,
    as_shares,
    blocks,
    check_integer,
    kind_of,
    shown_words,
)


class WordReconstructionAttack(DocLinked, BaseEstimator):
    """Guess a word with Bayes-optimal probability, knowing the mechanism.

    The attacker knows everything except the word and the noise: the mechanism, the
    embedding and the frequencies of words. It computes how likely each word is released
    as each other one, and turns a released word, or several releases of one word, into
    a posterior over the words that may have been written. No attacker who guesses from
    the released word alone does better, up to the error of the simulation.

    Parameters
    ----------
    perturber : DPWordPerturber
        The mechanism under attack, fitted or not; its `random_state` is not used,
        because the attacker does not know it.
    prior : array-like of shape (n_words,), default=None
        Frequencies of the words in public text, in any unit: one number for each of
        `words` if given, else for each word of the embedding. None is a uniform prior.
    words : iterable of str, default=None
        The words that may have been written. None means all words of the embedding.
        Time and memory are proportional to their number.
    n_draws : int, default=20
        Draws per word, on average, if the probabilities are not known in full; there
        are at least 4,000 in all.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the simulation of the attacker, which is not secret.

    Attributes
    ----------
    transitions_ : ndarray of shape (n_words, n_released), float32
        Pr[z | w] of `skdptext.base.transitions_of`: how likely each word is released as
        each word of the embedding.
    prior_ : ndarray of shape (n_words,)
        Frequencies of the words, with sum 1.
    classes_ : ndarray of str objects, shape (n_words,)
        The words that may have been written.

    See Also
    --------
    linkage_attack : Identifies whole documents.

    Notes
    -----
    *Privacy.* The success of this attacker is a lower bound on what attackers can
    achieve: context, which it ignores, may reveal more. Releases of the same word with
    fresh noise add up. A repeatable release gives nothing new to an attacker who asks
    twice for the same document. Versions of a document that differ in a word have fresh
    noise, and add up.

    *Estimates.* A few draws say little about a large vocabulary. A parametric form
    replaces missing draws, with a weight that is fitted to further draws
    (`~skdptext.base.transitions_of`). The posterior is therefore not overconfident.

    *Cost.* For noise on vectors, a product of (n_draws n_words × dim) by (dim ×
    n_words), another for the nearest words, and as many exponentials. Memory: 4 bytes
    for each pair of a word that may have been written and a word of the embedding.

    References
    ----------
    .. [1] The best guess without context is also that of arXiv:2410.17052, which
       measures it for several mechanisms.
    .. [2] C. Dwork, A. Roth (2014). The algorithmic foundations of differential
       privacy, on what composition costs.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.attacks import WordReconstructionAttack
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=2.0, document_length=1)
    >>> attack = WordReconstructionAttack(perturber, n_draws=500).fit()
    >>> attack.predict(["tea"])
    array(['tea'], dtype=object)
    >>> attack.predict([["cat", "dog", "dog", "dog", "dog"]])  # five releases of a word
    array(['dog'], dtype=object)
    """

    def __init__(
        self,
        perturber: Any = None,
        *,
        prior: Any = None,
        words: Iterable[str] | None = None,
        n_draws: int = 20,
        random_state: Any = None,
    ) -> None:
        self.perturber = perturber
        self.prior = prior
        self.words = words
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: Any = None, y: Any = None) -> "WordReconstructionAttack":
        """Simulate the mechanism on every word.

        Parameters
        ----------
        X, y : ignored
            Not used; here for scikit-learn's interface.

        Returns
        -------
        self : WordReconstructionAttack
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule.
        """
        check_word_releaser(self.perturber)
        # Only the mechanism on words matters, not how documents are released.
        fitted = clone(self.perturber).set_params(
            random_state=None, document_length=1, oov="drop", output="bow"
        )
        self._released = fitted.fit([]).embedding_
        words = None if self.words is None else list(plain_words(self.words))
        self.classes_ = self._released.word_array[word_ids(words, self._released)]
        self.prior_ = as_shares(
            self.prior, len(self.classes_), "word of the embedding", zeros=True
        )
        self.transitions_ = transitions_of(
            fitted.mechanism_,
            self.prior_,
            words=words,
            n_draws=self.n_draws,
            random_state=self.random_state,
        )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        return tags

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Compute the log posterior over the words that may have been written.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            Released words; a row holds several releases of one word with fresh noise.

        Returns
        -------
        log_posterior : ndarray of shape (n, n_words)
            Logarithms of the probabilities of the written words.
        """
        check_is_fitted(self)
        return self._log_posterior(self._ids(X))

    def _log_posterior(self, ids: np.ndarray) -> np.ndarray:
        """Compute it from numbers of released words, a row for each written word."""
        with np.errstate(divide="ignore"):
            out = np.tile(np.log(self.prior_), (len(ids), 1))
        # Releases with fresh noise are independent given the word: their
        # log-likelihoods add.
        for released in ids.T:
            out += np.log(self.transitions_[:, released].T.astype(np.float64))
        # Logarithms are normalized as such: products of many small probabilities would
        # underflow.
        out -= np.logaddexp.reduce(out, axis=1, keepdims=True)
        return out

    def _ids(self, X: Any) -> np.ndarray:
        rule = "X must be words, or rows of releases of a word"
        words = as_array(X, rule, dtype=object)
        if words.ndim not in (1, 2) or not all(isinstance(w, str) for w in words.flat):
            raise InvalidParameterError(f"{rule}, got {kind_of(X)}.")
        ids = self._released.find(words.ravel().tolist())
        if (ids < 0).any():
            unknown = words.ravel()[ids < 0].tolist()
            raise InvalidParameterError(
                f"X must hold words of the embedding, got {shown_words(unknown)}."
            )
        return ids.reshape(len(words), words.shape[1] if words.ndim == 2 else 1)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most likely word for each released word, or row of releases.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            Released words, one list for each written word.

        Returns
        -------
        words : ndarray of str objects, shape (n,)
            The most likely words.
        """
        return self.predict_top(X, k=1)[:, 0]

    def predict_top(self, X: Any, k: int = 10) -> np.ndarray:
        """Predict the `k` most likely words, the most likely first.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            Released words, one list for each written word.
        k : int, default=10
            Number of words to predict.

        Returns
        -------
        words : ndarray of str objects, shape (n, k)
            Words, the most likely first.
        """
        check_is_fitted(self)
        k = check_integer("k", k, low=1)
        if k > len(self.classes_):
            raise InvalidParameterError(
                f"k must be <= the number of words ({len(self.classes_)}), got {k}."
            )
        tops = [np.empty((0, k), dtype=int)]
        # Equal releases have equal answers, which are computed once.
        ids, which = np.unique(self._ids(X), axis=0, return_inverse=True)
        for rows in blocks(len(ids), 256):
            scores = self._log_posterior(ids[rows])
            tops.append(np.argsort(-scores, axis=1, kind="stable")[:, :k])
        return self.classes_[np.concatenate(tops)][which.ravel()]

    def score(self, X: Any, y: Iterable[str], k: int = 1) -> float:
        """Compute the share of written words among the `k` most likely ones.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            The released words.
        y : iterable of str
            The written words.
        k : int, default=1
            Number of guesses per word.

        Returns
        -------
        accuracy : float in [0, 1]
            Share of words guessed correctly.
        """
        guesses = self.predict_top(X, k)
        rule = f"y must hold a word per row of X ({len(guesses)})"
        truth = as_array(y if hasattr(y, "shape") else list(y), rule, dtype=object)
        if truth.shape != (len(guesses),):
            raise InvalidParameterError(f"{rule}, got shape {truth.shape}.")
        return float((guesses == truth[:, None]).any(axis=1).mean())
