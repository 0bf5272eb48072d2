"""Sensitive words of a public list replace each other; other words mostly stay."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from skdptext.documents import word_ids
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._channel import Apply, Draws, Law, WordChannel, WordMechanism
from skdptext.mechanisms._exponential import AmongChannel, Exponential
from skdptext.mechanisms._finite import inversion_delta
from skdptext.utils import check_kind, check_real, kind_of, rounded_up


class SensitiveWordsChannel(WordChannel):
    """`SensitiveWords` for one embedding.

    Attributes
    ----------
    inner : ExponentialChannel
        The inner mechanism, which releases sensitive words only.
    sensitive : ndarray of bool, shape (n_words,)
        Which words of the embedding are sensitive.
    """

    mechanism: SensitiveWords

    def _setup(self) -> None:
        inner, words = self.mechanism.mechanism, self.mechanism.words
        check_kind(
            inner, Exponential | None, "mechanism must be None or an Exponential"
        )
        if not isinstance(words, Collection | np.ndarray) or not len(words):
            raise InvalidParameterError(
                "words must be a public collection of at least one str, got "
                f"{kind_of(words)}."
            )
        ids = word_ids(words, self.embedding)
        self._p = check_real("probability", self.mechanism.probability, low=0, high=1)
        given = inner or Exponential(), self.embedding, self.epsilon, self.lam
        self.inner = AmongChannel(*given, outputs=ids, for_all=False)
        self.sensitive = np.zeros(len(self.embedding), dtype=bool)
        self.sensitive[ids] = True

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """A uniform that decides whether a word changes, and the inner draws."""
        return (rng.random(n), *self.inner.draw(rng, n))

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """Sensitive words, or the words themselves."""
        return self._released(self.inner.apply, words, draws)

    @contextmanager
    def session(self, memory: int) -> Iterator[Apply]:
        """`apply` with the inner session."""
        with self.inner.session(memory) as apply:
            yield partial(self._released, apply)

    def _released(self, apply: Apply, words: np.ndarray, draws: Draws) -> np.ndarray:
        uniforms, *inner = draws
        moved = np.flatnonzero(self.sensitive[words] | (uniforms < self._p))
        noisy = np.array(words)
        noisy[moved] = apply(words[moved], tuple(part[moved] for part in inner))
        return noisy

    @property
    def row_bytes(self) -> int:
        """The inner mechanism's, and a uniform."""
        return self.inner.row_bytes + 32

    def law(self) -> Law:
        """The probabilities; which words are protected, and from what."""
        # the inner mechanism's, and the error of a 53-bit uniform
        delta = inversion_delta(len(self.sensitive)) + 2.0**-53
        return Law(
            log_proba=self.log_proba, numerical_delta=delta, sentences=self._sentences
        )

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        logs = self.inner.log_proba(words)
        other = np.flatnonzero(~self.sensitive[words])
        with np.errstate(divide="ignore"):
            logs[other] += np.log(self._p)
            logs[other, words[other]] = np.log1p(-self._p)
        return logs

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Those of the inner mechanism, plus ln(1/p) or inf; shape (len(x), len(y))."""
        exponents = self.inner.exponents(x, y)
        hidden = self.sensitive[x][:, None]
        if self._p < 1:
            exponents[np.broadcast_to(~hidden, exponents.shape)] = np.inf
        cost = math.inf if self._p == 0 else -math.log(self._p)
        exponents += np.where(hidden & ~self.sensitive[y], cost, 0.0)
        return np.where(np.equal.outer(x, y), 0.0, exponents)

    def _sentences(self) -> list[str]:
        """Which words are protected, and from what."""
        p, rate = self._p, self.inner.rate
        n_sensitive, n_words = int(self.sensitive.sum()), len(self.sensitive)
        which = f"{n_sensitive} of the {n_words} words are sensitive"
        public = (
            "The list of sensitive words and p are public: a list learned from the "
            "documents to be protected voids the promise."
        )
        if p == 1:
            outside = (
                "Exponents that involve words outside the list are finite, but ε does "
                "not bound them per unit of d: they are at most 2a d(w, w'), with the "
                f"rate a = {rounded_up(rate)}."
            )
            if self.inner.mechanism.calibration == "half":
                outside = "Every exponent is at most ε d(w, w')."
            return [
                f"{which}. Every word is released as a sensitive one.",
                outside,
                public,
            ]
        denied = "another sensitive word, but never one outside the list"
        if p > 0:
            denied = (
                f"another sensitive word or, for ln(1/p) more with p = {p:.12g}, any "
                "other word"
            )
        return [
            f"This promise is one-sided. {which}, and only those are protected: each "
            f"could have been {denied}.",
            "A word that is not sensitive is released in the clear with probability "
            f"{1 - p:.12g}; exponents from it are infinite, and such a release shows "
            "that the word was not sensitive, and which word it was.",
            public,
        ]


class SensitiveWords(WordMechanism):
    r"""Replace sensitive words, and some others, by sensitive words: SanText+.

    S is a public list of sensitive words. A word of S becomes a word of S, by the
    exponential mechanism among the words of S. Any other word does the same with
    probability p, and otherwise is released in the clear.

    Parameters
    ----------
    mechanism : Exponential, default=None
        Chooses among the words of S. None: ``Exponential()``.
    words : collection of str
        S: at least one word, all known to the embedding. It must be public: a list
        taken from the documents to be protected, such as their rarest words, voids the
        promise, and nothing here can see that.
    probability : float in [0, 1], default=0.2
        P. 0: every word outside of S is released in the clear.

    See Also
    --------
    Exponential : Treats all words alike.

    Notes
    -----
    *Privacy.* The promise is *one-sided* [1]_. Between two words of S, exponents are
    those of the inner mechanism, ε d(w, w') at most. For w in S and w' not, Pr[z | w] ≤
    exp(t) Pr[z | w'], where t is a d(w, w') + ln C_w' − ln C_w + ln(1/p), with the rate
    a and the sums C of the inner mechanism. It is at most 2a d(w, w') + ln(1/p), which
    is ε d(w, w') + ln(1/p) with ``calibration="half"`` only. So it is never certain
    that a word is sensitive. In the other direction, and between two words outside of
    S, the exponent is infinite where p < 1: a release may show that a word is *not*
    sensitive, and which word it is. The list and p are public.

    *ε* and *λ* belong to the inner mechanism, among the words of S.

    *Time* tells on how many different words there are, as with `Exponential`: nothing
    here hides it.

    *p* costs words and buys doubt: the larger p and the rarer S, the more often a word
    of S in the release stands for a word outside of S.

    References
    ----------
    .. [1] X. Yue, M. Du, T. Wang, Y. Li, H. Sun, S. S. M. Chow (2021). Differential
       privacy for text analytics via natural text sanitization. Findings of ACL 2021.
       Its privacy notion is utility-optimized metric local differential privacy, UMLDP.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import SensitiveWords
    >>> embedding = WordEmbedding(["flu", "cold", "of"], [[0.0], [1.0], [5.0]])
    >>> mechanism = SensitiveWords(words=["flu", "cold"], probability=0.5)
    >>> channel = mechanism.prepare(embedding, epsilon=1.0, lam=0.0)
    >>> print(np.exp(channel.log_proba(np.arange(3))).round(3))
    [[0.731 0.269 0.   ]
     [0.269 0.731 0.   ]
     [0.134 0.366 0.5  ]]
    >>> print(channel.exponents(np.arange(3), np.arange(3)).round(3))
    [[0.    1.    1.693]
     [1.    0.    0.693]
     [  inf   inf 0.   ]]
    """

    channel_class = SensitiveWordsChannel

    def __init__(
        self,
        mechanism: Exponential | None = None,
        *,
        words: Collection[str] | None = None,
        probability: float = 0.2,
    ) -> None:
        self.mechanism = mechanism
        self.words = words
        self.probability = probability
