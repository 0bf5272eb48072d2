"""Channels whose probabilities are known in full, and drawing from it by inversion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from skdptext.mechanisms._channel import Apply, Draws, Law, WordChannel, check_log_proba
from skdptext.utils import blocks, working_memory_bytes

Rows = dict[int, Any]


def inversion_delta(n_words: int) -> float:
    """Probability that a word differs from the one exact arithmetic would give.

    Each probability is off by about 2⁻⁵², because of the sums and the steps of a 53-bit
    uniform, and the logarithms may be off by about 1e-12.
    """
    return 2.0**-36 + n_words * 2.0**-51


class FiniteChannel(WordChannel):
    """A channel that states its probabilities in full; its exponents follow from it.

    All that is promised follows from these probabilities.

    Parameters
    ----------
    mechanism : WordMechanism
        The options.
    embedding : WordEmbedding
        Public words and their vectors.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    lam : float in [0, 1]
        Shape λ of the metric.

    See Also
    --------
    InvertedChannel : Also draws from them.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import FiniteChannel, RandomizedResponse
    >>> embedding = WordEmbedding(["yes", "no"], [[0.0], [1.0]])
    >>> isinstance(RandomizedResponse().prepare(embedding, 1.0, 0.0), FiniteChannel)
    True
    """

    @abstractmethod
    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """Compute ln Pr[z | w] for each of the words and every z.

        Each row must sum to 1 as probabilities; otherwise drawing and promising raise
        an InvalidParameterError.

        Parameters
        ----------
        words : ndarray of int
            Ids of words.
        """

    def law(self) -> Law:
        return Law(log_proba=self.log_proba)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        theirs = check_log_proba(self, y)
        exponents = np.empty((len(x), len(y)))
        size = max(1, working_memory_bytes() // (32 * theirs.size + 1))
        for rows in blocks(len(x), size):
            # a word of x, a word of y, an output: (rows, len(y), n_words)
            ours = check_log_proba(self, x[rows])[:, None]
            with np.errstate(invalid="ignore"):  # −inf − (−inf): neither releases it
                gaps = np.where(np.isneginf(ours), -np.inf, ours - theirs)
            exponents[rows] = gaps.max(axis=2) + 2.0**-40  # up
        return np.where(np.equal.outer(x, y), 0.0, np.maximum(exponents, 0))

    @property
    def row_bytes(self) -> int:
        """Draws, word ids and their order; `apply` accounts for its rows itself."""
        return 128


class InvertedChannel(FiniteChannel):
    """A channel that is fully defined by its `log_proba`.

    Each word takes one uniform number, and becomes the word at which the cumulative
    probabilities of its row pass that number. A call asks for the row of each different
    word once, so that its time tells how many there are.

    Parameters
    ----------
    mechanism : WordMechanism
        The options.
    embedding : WordEmbedding
        Public words and their vectors.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    lam : float in [0, 1]
        Shape λ of the metric.

    See Also
    --------
    FiniteChannel : For another sampler.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import InvertedChannel, RandomizedResponse
    >>> class Coin(InvertedChannel):
    ...     def log_proba(self, words):
    ...         kept = np.equal.outer(words, np.arange(len(self.embedding)))
    ...         return np.log(np.where(kept, 0.75, 0.25))
    >>> embedding = WordEmbedding(["heads", "tails"], [[0.0], [1.0]])
    >>> coin = Coin(RandomizedResponse(), embedding, epsilon=1.0, lam=0.0)
    >>> print(coin.exponents(np.array([0]), np.array([0, 1])).round(3))
    [[0.    1.099]]
    >>> uniforms = np.array([0.1, 0.2, 0.3])
    >>> coin.apply(np.array([1, 1, 1]), (uniforms,))
    array([0, 0, 1])
    """

    def law(self) -> Law:
        own = type(self)
        inverted = own.draw is InvertedChannel.draw
        inverted = inverted and own.apply is InvertedChannel.apply
        delta = inversion_delta(len(self.embedding)) if inverted else None
        return Law(log_proba=self.log_proba, numerical_delta=delta)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        return (rng.random(n),)

    def apply(
        self,
        words: np.ndarray,
        draws: Draws,
        memory: int | None = None,
        memo: Rows | None = None,
    ) -> np.ndarray:
        """The words at which the cumulative probabilities pass the uniforms.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
            Ids of words.
        draws : tuple of ndarray
            What `draw` returned.
        memory : int, default=None
            Bytes for rows of probabilities; None: scikit-learn's ``working_memory``.
        memo : dict, default=None
            Results of earlier calls, such as rows of probabilities. This call adds to
            them while they fit into seven eighths of `memory`.

        Returns
        -------
        noisy : ndarray of int
            Ids of the noisy words.
        """
        memory = working_memory_bytes() if memory is None else memory
        return self._drawn(words, draws[0], memory, {} if memo is None else memo)

    @contextmanager
    def session(self, memory: int) -> Iterator[Apply]:
        # the next call finds the rows of probabilities of this one
        yield partial(self.apply, memory=memory, memo={})

    def _log_masses(self, words: np.ndarray) -> np.ndarray:
        """`log_proba` up to a constant per word; the caller may overwrite it."""
        return check_log_proba(self, words)

    def _drawn(
        self, words: np.ndarray, uniforms: np.ndarray, memory: int, memo: Rows
    ) -> np.ndarray:
        # Words in groups of equal ones: a row of probabilities serves all of a group.
        order = np.argsort(words, kind="stable")
        distinct, starts = np.unique(words[order], return_index=True)
        ends = np.append(starts[1:], len(words)).tolist()
        places = dict(
            zip(distinct.tolist(), map(slice, starts.tolist(), ends), strict=True)
        )
        # Rows are not divided by their sums; the uniforms are multiplied by them. The
        # factor keeps each product below its sum, so that the search ends at a word.
        below = uniforms[order] * (1 - 2.0**-53)
        released = np.full(len(words), -1)  # a release refuses what is not a word

        def invert(word: int, upto: np.ndarray) -> None:
            at = places[word]
            released[at] = upto.searchsorted(below[at] * upto[-1], side="right")

        # each word is looked up once: the other threads of a release add rows meanwhile
        missing = []
        for word in places:
            if (upto := memo.get(word)) is None:
                missing.append(word)
            else:
                invert(word, upto)
        row_bytes = 8 * len(self.embedding)
        at_once = int(np.clip(memory // 8 // (3 * row_bytes), 1, 512))
        for block in blocks(len(missing), at_once):
            rows = self._log_masses(np.array(missing[block]))
            rows -= rows.max(axis=1, keepdims=True)  # all may be too small for floats
            np.cumsum(np.exp(rows, out=rows), axis=1, out=rows)
            for word, upto in zip(missing[block], rows, strict=True):
                invert(word, upto)
            if (len(memo) + len(rows)) * row_bytes <= memory // 8 * 7:
                memo.update(zip(missing[block], rows, strict=True))
        noisy = np.empty(len(words), dtype=np.intp)
        noisy[order] = released
        return noisy
