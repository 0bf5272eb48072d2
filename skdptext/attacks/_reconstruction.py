"""Guessing the word that was written from the word that was released."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skdptext.attacks._smoothing import choose_smoothing
from skdptext.exceptions import InvalidParameterError
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    DocLinked,
    as_array,
    blocks,
    check_integer,
    check_option,
    check_real,
    check_rng,
    kind_of,
    shown_words,
)

__all__ = ["WordReconstructionAttack"]

# Words simulated at a time, and tried to find how much to smooth.
_BLOCK, _N_TRIED = 1000, 5000


class WordReconstructionAttack(DocLinked, BaseEstimator):
    """The Bayes-optimal guess of a word, by one who knows all but word and noise.

    The adversary knows the mechanism, the embedding and how frequent words are; draws
    noisy versions of every word to learn how likely each becomes each other one; and
    turns a released word, or several releases of one word, into a posterior over the
    words that may have been written. No adversary who guesses from the released word
    alone does better, up to the error of the simulation.

    Parameters
    ----------
    perturber : DPWordPerturber
        The mechanism under attack, fitted or not; its `random_state` is not used, for
        the adversary does not know it.
    prior : array-like of shape (n_words,), default=None
        How frequent each word of the embedding is, in any unit; from public text. None:
        all words alike.
    n_draws : int, default=100
        Draws per word.
    smoothing : float > 0 or "auto", default="auto"
        Added to each count, so that a transition that was never drawn is unlikely and
        not impossible. "auto": what serves best for further simulated draws, together
        with what is added to the count of each word that stays itself.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes the simulation. It is the adversary's own, and no secret.

    Attributes
    ----------
    smoothing_ : float
        The number in use; `smoothing`, if that is one.
    self_smoothing_ : float
        Added, besides, to the count of each word that stayed itself; 0 for a given
        `smoothing`.
    transitions_ : csr_array of shape (n_words, n_words)
        How often word i was drawn as word j.
    classes_ : ndarray of str objects, shape (n_words,)
        Words of the embedding.

    Notes
    -----
    *Privacy.* What this adversary reaches is a lower bound on what some adversary can:
    context, which it ignores, may tell more. Releases of the same word with fresh noise
    add up. A repeatable release gives nothing new to an adversary who asks twice for
    the same document; versions of it that differ in a word have fresh noise, and add
    up.

    *Smoothing.* Few draws say little of a large vocabulary, and a word that was drawn
    once by accident must not outweigh the released word itself. "auto" tries a grid of
    both numbers and takes the pair with the least logarithmic loss on 5,000 further
    words, drawn from `prior` and perturbed: the adversary knows all it takes. The grid
    reaches from the counts almost as they are to the released word alone, weighed
    against `prior`. A given number is used as it is, also one set after `fit`.

    *Cost.* Perturbs ``n_words * n_draws`` words, once, and 5,000 more for "auto".

    References
    ----------
    .. [1] C. Dwork, A. Roth (2014). The algorithmic foundations of differential
       privacy, on what composition costs.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.attacks import WordReconstructionAttack
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(embedding, epsilon=2.0, document_length=1)
    >>> attack = WordReconstructionAttack(perturber, n_draws=500).fit()
    >>> attack.predict(["tea"])
    array(['tea'], dtype=object)
    >>> attack.predict([["cat", "dog", "dog", "dog", "dog"]])  # five releases of a word
    array(['dog'], dtype=object)
    """

    def __init__(
        self,
        perturber: DPWordPerturber | None = None,
        *,
        prior: Any = None,
        n_draws: int = 100,
        smoothing: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.perturber = perturber
        self.prior = prior
        self.n_draws = n_draws
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X: Any = None, y: Any = None) -> WordReconstructionAttack:
        """Simulate the mechanism on every word.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self : WordReconstructionAttack

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule.
        """
        if not isinstance(self.perturber, DPWordPerturber):
            raise InvalidParameterError(
                f"perturber must be a word perturber, got {kind_of(self.perturber)}."
            )
        n_draws = check_integer("n_draws", self.n_draws, low=1)
        smoothing = self._check_smoothing()
        rng = None if self.random_state is None else check_rng(self.random_state)
        # Only the mechanism on words counts; how documents are released does not.
        simulated = clone(self.perturber).set_params(
            random_state=rng, document_length=1, oov="drop"
        )
        simulated.fit([])
        embedding = simulated.embedding_
        prior = self._check_prior(len(embedding))
        counts = []
        for rows in blocks(len(embedding), _BLOCK):
            noisy = simulated.perturb_words(embedding.words[rows], n_draws)
            ids = embedding.find(noisy.ravel().tolist())
            ends = np.arange(len(noisy) + 1) * n_draws
            part = sp.csr_array(
                (np.ones(len(ids)), ids, ends), shape=(len(noisy), len(embedding))
            )
            part.sum_duplicates()
            counts.append(part)
        self.transitions_ = sp.csr_array(sp.vstack(counts))
        self.classes_ = embedding.word_array
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(prior / prior.sum())
        self._columns = sp.csc_array(self.transitions_)
        self._stayed = self.transitions_.diagonal()
        self.smoothing_, self.self_smoothing_ = smoothing or 0.0, 0.0
        if smoothing is None:
            p = prior / prior.sum()
            written = check_rng(rng).choice(len(p), _N_TRIED, p=p)
            released = simulated.perturb_words(self.classes_[written].tolist())
            self.smoothing_, self.self_smoothing_ = choose_smoothing(
                self.transitions_,
                prior,
                written,
                embedding.find(released[:, 0].tolist()),
            )
        self._embedding = embedding
        return self

    def _check_smoothing(self) -> float | None:
        """The number that is given, or None."""
        if isinstance(self.smoothing, str):
            check_option("smoothing", self.smoothing, ("auto",))
            return None
        return check_real("smoothing", self.smoothing, low=0, open_low=True)

    def _check_prior(self, n_words: int) -> np.ndarray:
        if self.prior is None:
            return np.ones(n_words)
        rule = f"prior must hold one number per word of the embedding ({n_words})"
        prior = as_array(self.prior, rule, dtype=np.float64)
        if prior.shape != (n_words,):
            raise InvalidParameterError(f"{rule}, got shape {prior.shape}.")
        if not np.isfinite(prior).all() or (prior < 0).any() or not prior.any():
            raise InvalidParameterError(
                "prior must be finite, non-negative and not all 0, got numbers from "
                f"{prior.min()} to {prior.max()}."
            )
        return prior

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior over the words that may have been written.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            Released words; in a row of several, releases of one word with fresh noise.

        Returns
        -------
        log_posterior : ndarray of shape (n, n_words)
        """
        check_is_fitted(self)
        ids = self._ids(X)
        n_words = len(self.classes_)
        given = self._check_smoothing()
        smoothing = self.smoothing_ if given is None else given
        more = self.self_smoothing_ if given is None else 0.0
        # what the smoothing gives a transition that was never drawn
        floor = np.log(smoothing)
        staying = np.log1p(more / (self._stayed + smoothing))
        out = np.tile(self._log_prior, (len(ids), 1))
        for row, released in zip(out, ids, strict=True):
            for column in released:
                start, stop = self._columns.indptr[column : column + 2]
                words = self._columns.indices[start:stop]
                drawn = self._columns.data[start:stop]
                row += floor
                row[words] += np.log(drawn + smoothing) - floor
                row[column] += staying[column]
        # each word was drawn equally often, so its total is the same for all
        out -= np.logaddexp.reduce(out, axis=1, keepdims=True)
        return out.reshape(-1, n_words)

    def _ids(self, X: Any) -> np.ndarray:
        rule = "X must be words, or rows of releases of a word"
        words = as_array(X, rule, dtype=object)
        if words.ndim not in (1, 2) or not all(isinstance(w, str) for w in words.flat):
            raise InvalidParameterError(f"{rule}, got {kind_of(X)}.")
        ids = self._embedding.find(words.ravel().tolist())
        if (ids < 0).any():
            unknown = words.ravel()[ids < 0].tolist()
            raise InvalidParameterError(
                f"X must hold words of the embedding, got {shown_words(unknown)}."
            )
        return ids.reshape(len(words), words.shape[1] if words.ndim == 2 else 1)

    def predict(self, X: Any) -> np.ndarray:
        """The most likely word for each released word, or row of releases.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)

        Returns
        -------
        words : ndarray of str objects, shape (n,)
        """
        return self.predict_top(X, k=1)[:, 0]

    def predict_top(self, X: Any, k: int = 10) -> np.ndarray:
        """The `k` most likely words, the likeliest first.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
        k : int, default=10

        Returns
        -------
        words : ndarray of str objects, shape (n, k)
        """
        check_is_fitted(self)
        k = check_integer("k", k, low=1)
        if k > len(self.classes_):
            raise InvalidParameterError(
                f"k must be <= the number of words ({len(self.classes_)}), got {k}."
            )
        tops = [np.empty((0, k), dtype=int)]
        ids = self._ids(X)
        words = self.classes_[ids]
        for rows in blocks(len(words), 256):
            scores = self.predict_log_proba(words[rows])
            tops.append(np.argsort(-scores, axis=1, kind="stable")[:, :k])
        return self.classes_[np.concatenate(tops)]

    def score(self, X: Any, y: Iterable[str], k: int = 1) -> float:
        """Share of the words that are among the `k` most likely ones.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            What was released.
        y : iterable of str
            What was written.
        k : int, default=1

        Returns
        -------
        accuracy : float in [0, 1]
        """
        guesses = self.predict_top(X, k)
        truth = self._truth(y, len(guesses))
        return float((guesses == truth[:, None]).any(axis=1).mean())

    def score_naive(self, X: Any, y: Iterable[str]) -> float:
        """Share of the words that came out unchanged: the guess "output = input".

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)
            What was released; of several releases of a word, the one that occurs most
            often is the guess, and of equally frequent ones the first.
        y : iterable of str
            What was written.

        Returns
        -------
        accuracy : float in [0, 1]
            On average not above that of the Bayes-optimal guess, but for the error of
            the simulation and a prior that is not the words' own.
        """
        check_is_fitted(self)
        ids = self._ids(X)
        truth = self._truth(y, len(ids))
        votes = (ids[:, :, None] == ids[:, None, :]).sum(axis=2)
        guess = ids[np.arange(len(ids)), votes.argmax(axis=1)]
        return float((self.classes_[guess] == truth).mean())

    def _truth(self, y: Iterable[str], n: int) -> np.ndarray:
        if isinstance(y, str | bytes) or not isinstance(y, Iterable):
            raise InvalidParameterError(
                f"y must hold a word per row of X, got {kind_of(y)}."
            )
        truth = as_array(list(y), "y must hold words", dtype=object)
        if len(truth) != n:
            raise InvalidParameterError(
                f"y must hold a word per row of X ({n}), got {len(truth)}."
            )
        return truth

    def posterior_entropy(self, X: Any) -> np.ndarray:
        """What the adversary still does not know of each word.

        Parameters
        ----------
        X : array-like of str, shape (n_releases,) or (n_words_written, n_releases)

        Returns
        -------
        entropy : ndarray of shape (n,)
            Of the posterior, in bits; log2(n_words) if nothing is known.
        """
        check_is_fitted(self)
        words = self.classes_[self._ids(X)]
        parts = [np.empty(0)]
        for rows in blocks(len(words), 256):
            log_posterior = self.predict_log_proba(words[rows])
            posterior = np.exp(log_posterior)
            bits = np.where(posterior > 0, posterior * log_posterior, 0.0)
            parts.append(-bits.sum(axis=1) / np.log(2))
        return np.concatenate(parts)
