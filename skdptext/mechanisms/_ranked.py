"""A neighbour of what another mechanism releases, by its rank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms._channel import (
    Apply,
    Draws,
    Law,
    WordChannel,
    WordMechanism,
    as_channel,
    check_log_proba,
)
from skdptext.mechanisms._mahalanobis import MahalanobisNoise
from skdptext.mechanisms._word_losses import word_losses
from skdptext.search import k_nearest_words
from skdptext.utils import (
    blocks,
    check_kind,
    check_real,
    working_memory_bytes,
)


class Ranks:
    """The words of an embedding, ranked by their distance to any of them.

    Rank 0 is the word itself; words equally far are in the order of the embedding.
    """

    def __init__(self, embedding: WordEmbedding) -> None:
        self._embedding = embedding  # which may pickle as its address
        self._memo: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_memo": None}  # as large as the square of the vocabulary

    def neighbours(
        self, pivots: np.ndarray, ranks: np.ndarray, memory: int
    ) -> np.ndarray:
        """The neighbour of given rank of each pivot, using about `memory` bytes."""
        neighbours = np.array(pivots)
        moved = np.flatnonzero(ranks)
        of = np.unique(pivots[moved], return_inverse=True)[1]
        depths = np.zeros(len(moved), dtype=np.intp)
        np.maximum.at(depths, of, ranks[moved])
        # keep together the words of a pivot, and pivots that are searched equally far
        moved = moved[np.lexsort((of, -depths[of]))]
        at_once = memory // (32 * max(1, depths.max(initial=0)))
        for block in blocks(len(moved), int(np.clip(at_once, 64, 1024))):
            at = moved[block]
            distinct, of = np.unique(pivots[at], return_inverse=True)
            near = self._nearest(distinct, ranks[at].max(), memory)
            neighbours[at] = near[of, ranks[at] - 1]
        return neighbours

    def _nearest(self, pivots: np.ndarray, depth: int, memory: int) -> np.ndarray:
        """The other words nearest to each pivot, nearest first, (n_pivots, depth)."""
        vectors = self._embedding.vectors
        return k_nearest_words(
            vectors[pivots], vectors, depth, exclude=pivots, memory=memory
        )[0]

    def around_all(self) -> Iterator[tuple[slice, np.ndarray]]:
        """All words by rank, from 0 on, around some pivots at a time.

        Kept for the next call where they fit into a quarter of ``working_memory``.
        """
        n_words, memory = len(self._embedding), working_memory_bytes()
        dtype = np.min_scalar_type(n_words - 1)
        keeps = n_words**2 * dtype.itemsize <= memory // 4
        pivots = list(blocks(n_words, int(np.clip(memory // (64 * n_words), 1, 256))))
        if keeps and self._memo is None:
            everything = np.empty((n_words, n_words), dtype)
            for part in pivots:
                everything[part] = self._around(part)
            self._memo = everything
        for part in pivots:
            yield part, self._around(part) if self._memo is None else self._memo[part]

    def _around(self, block: slice) -> np.ndarray:
        pivots = np.arange(block.start, block.stop)
        others = self._nearest(pivots, len(self._embedding) - 1, working_memory_bytes())
        return np.column_stack([pivots, others])


_RANKS = (
    "This is the guarantee of the inner mechanism: neighbours by rank are "
    "post-processing. The words that they change add no privacy, because an adversary "
    "knows the rule."
)


class RankedChannel(WordChannel):
    """`Ranked` for one embedding.

    Attributes
    ----------
    inner : WordChannel
        The inner mechanism, prepared.
    """

    mechanism: Ranked

    def _setup(self) -> None:
        spread, inner = self.mechanism.spread, self.mechanism.mechanism
        self._spread = check_real("spread", spread, low=0, open_low=True)
        inner = MahalanobisNoise() if inner is None else inner
        check_kind(inner, WordMechanism, "mechanism must be None or a WordMechanism")
        self.inner = as_channel(inner, self.embedding, self.epsilon, self.lam)
        self._ranks = Ranks(self.embedding)

    # -- what post-processing leaves as it is ---------------------------------

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Exponents of the inner mechanism."""
        return self.inner.exponents(x, y)

    def law(self) -> Law:
        """What is known about the inner mechanism, and that ranks cost nothing."""
        inner = self.inner.law()
        known = inner.noise is not None and inner.metric is not None
        return replace(
            inner,
            noise=self._noise if known else None,
            scales=False,
            log_proba=None if inner.log_proba is None else self._log_proba,
            losses=partial(word_losses, self.inner),
            sentences=self._sentences,
            cheap=False,  # the ranks of all words around all words
            at_rate=None,
            unchanged=None,
        )

    def _noise(self, draws: Draws) -> np.ndarray:
        noise = self.inner.law().noise
        assert noise is not None
        return noise(draws[:-1])

    def _sentences(self) -> list[str]:
        """States that ranks cost and hide nothing; then the inner sentences."""
        inner = self.inner.law().said()
        return [_RANKS, *(["Of the inner mechanism:", *inner] if inner else [])]

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of all that the distribution depends on, inner channel included."""
        both = super().fingerprint + self.inner.fingerprint
        return hashlib.blake2b(both, digest_size=32).digest()

    # -- the ranks ---------------------------------------------------------------

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """The draws of the inner mechanism, and a uniform number per word."""
        return (*self.inner.draw(rng, n), rng.random(n))

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """Neighbours of the inner mechanism's words."""
        return self._neighbours(self.inner.apply, working_memory_bytes(), words, draws)

    @contextmanager
    def session(self, memory: int) -> Iterator[Apply]:
        """`apply` with the inner session; the two share `memory`."""
        with self.inner.session(memory // 2) as apply:
            yield partial(self._neighbours, apply, memory // 2)

    def _neighbours(
        self, apply: Apply, memory: int, words: np.ndarray, draws: Draws
    ) -> np.ndarray:
        *inner, uniforms = draws
        pivots = np.array(apply(words, tuple(inner)))
        # the inverse of (1 − q^(r + 1)) / (1 − q^V), q = e^(−1/spread)
        n_words = len(self.embedding)
        all_ranks = -np.expm1(-n_words / self._spread)
        ranks = np.floor(-np.log1p(-uniforms * all_ranks) * self._spread)
        ranks = np.minimum(ranks, n_words - 1).astype(np.intp)
        return self._ranks.neighbours(pivots, ranks, memory)

    @property
    def row_bytes(self) -> int:
        """The inner mechanism's, a uniform, ranks and their order."""
        return self.inner.row_bytes + 128

    def _log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for words and every z, where the inner mechanism has it.

        Ranks all words around every pivot, and keeps the ranks for the next call where
        they fit into a quarter of ``working_memory``. Probabilities below 1e-300 are
        replaced by a lower bound.
        """
        inner = check_log_proba(self.inner, words)
        with np.errstate(over="ignore"):
            ranks = -np.arange(len(self.embedding)) / self._spread
        masses = np.exp(ranks) / np.exp(ranks).sum()
        pivots, proba = np.exp(inner), np.zeros(inner.shape)
        for block, order in self._ranks.around_all():
            rows = np.empty(order.shape)
            np.put_along_axis(rows, order, np.broadcast_to(masses, rows.shape), axis=1)
            proba += pivots[:, block] @ rows
        # a word is at least as likely as to be the pivot, and released at rank 0
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(proba), inner + np.log(masses[0]))


class Ranked(WordMechanism):
    r"""Replace each word by a near neighbour of what another mechanism releases.

    The other mechanism turns a word into the *pivot* x. The r-th neighbour of x, in
    Euclidean distance, is released, where

    .. math::

        \Pr[r] \propto e^{-r / \text{spread}}, \qquad r = 0, 1, \ldots, V - 1 ,

    and rank 0 is x itself. In hundreds of dimensions, noise either leaves a word as it
    is or, mostly, moves it to a distant one. The ranks bring near words back, at no
    cost in privacy [1]_.

    Parameters
    ----------
    mechanism : WordMechanism, default=None
        Draws the pivot. None: `MahalanobisNoise`. Its options are searched over as
        ``mechanism__option``.
    spread : float > 0, default=1.0
        How far down the ranks go: each further rank is less likely by a factor of
        e^(−1/spread). The pivot itself stays with probability 1 − e^(−1/spread), 63 per
        cent by default. The papers' Pr[r] ∝ e^(−cεr) is ``spread=1 / (c * epsilon)``.

    See Also
    --------
    MahalanobisNoise : Its `second` takes one of the two nearest words.

    Notes
    -----
    *Privacy.* The guarantee is the inner mechanism's: ranks depend on the pivot
    and the public embedding alone, and post-processing costs nothing. It hides nothing
    either: fewer unchanged words are not more privacy, because an adversary knows the
    rule.

    *ε* and *λ* belong to the inner mechanism.

    *Ties.* Words equally far from the pivot are ranked in the order of the embedding.

    *Cost.* On top of the inner mechanism, a product with the embedding for each
    distinct pivot, and a sort of its neighbours up to the largest rank drawn.

    References
    ----------
    .. [1] H. J. Asghar, R. Carpentier, B. Z. H. Zhao, M. A. Kaafar (2026). dX-privacy
       for text and the curse of dimensionality. PETS 2026.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse, Ranked
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [1.0], [3.0], [9.0]])
    >>> mechanism = Ranked(RandomizedResponse(), spread=0.5)
    >>> channel = mechanism.prepare(embedding, epsilon=20.0, lam=0.0)
    >>> print(np.exp(channel.law().log_proba(np.array([0, 3]))).round(3))
    [[0.865 0.117 0.016 0.002]
     [0.002 0.016 0.117 0.865]]
    >>> channel.exponents(np.array([0]), np.array([3]))
    array([[20.]])
    """

    channel_class = RankedChannel

    def __init__(
        self, mechanism: WordMechanism | None = None, *, spread: float = 1.0
    ) -> None:
        self.mechanism = mechanism
        self.spread = spread
