"""The seam between documents and noise: what a mechanism must do and promise."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.utils import check_real

__all__ = ["Apply", "WordChannel", "WordMechanism", "law_fingerprint"]

Draws = tuple[np.ndarray, ...]
Apply = Callable[[np.ndarray, Draws], np.ndarray]

# What no longer holds of the parent where a subclass redefines a part of the law.
_VOIDED = {
    "draw": ("unit_noise",),
    "apply": ("noise", "unit_noise"),
    "exponents": ("metric",),
}


class WordMechanism(BaseEstimator, ABC):
    """A randomised map of words: the options that a user chooses, and nothing learned.

    A mechanism is a scikit-learn object with parameters: it can be cloned, printed, and
    searched over as ``mechanism__option``. `prepare` makes it a `WordChannel`.

    Notes
    -----
    *Privacy.* Nothing may be learned from the documents to be protected: `prepare` sees
    the public embedding only.

    See Also
    --------
    MahalanobisNoise : The default of `skdptext.DPWordPerturber`.
    """

    @abstractmethod
    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> WordChannel:
        """The mechanism for one embedding and one ε.

        Parameters
        ----------
        embedding : WordEmbedding
            Public.
        epsilon : float > 0
        lam : float in [0, 1]
            Names the metric on words, for a mechanism that has one.

        Returns
        -------
        channel : WordChannel

        Raises
        ------
        InvalidParameterError
            If an option breaks its rule.
        """


class WordChannel(ABC):
    """A mechanism prepared for one embedding: what draws is what promises.

    A release calls `draw` and `apply`, a guarantee asks `exponents`, and audits run
    the same `draw` and `apply` as a release. Channels are immutable.

    Parameters
    ----------
    mechanism : WordMechanism
        Its options are copied.
    embedding : WordEmbedding
    epsilon : float > 0
    lam : float in [0, 1], default=0.0

    Attributes
    ----------
    mechanism, embedding, epsilon, lam
        As given, checked.
    metric : MahalanobisMetric or None
        Set where the privacy loss between two words is at most ε times their distance
        in a metric on vectors; then guarantees can be converted between metrics.
    noise : callable or None
        Set where `apply` takes the word nearest to φ(w) + noise: from draws to the
        noise vectors, shape (n, dim).
    numerical_delta : float
        What finite arithmetic leaves outside the promise, as a probability per word:
        2⁻⁵⁰ for float64 draws, whose tails end and whose smallest steps have atoms.
    unit_noise : callable or None
        Set where, besides, the noise scales with 1/ε: ``unit_noise(rng, n)`` draws it
        for ε = 1, so that all ε can share it.

    Raises
    ------
    InvalidParameterError
        If ε or λ breaks its rule.

    Notes
    -----
    A subclass that redefines `apply` releases other words than its parent's noise
    tells: its `noise` and `unit_noise` are None, unless it defines them, too. So is
    `metric` of one that redefines `exponents`, for it makes another claim, and
    `unit_noise` of one that redefines `draw`, whose noise may not scale with 1/ε.
    """

    #: Probability per word that finite arithmetic leaves outside the promise.
    numerical_delta = 2.0**-50
    metric: MahalanobisMetric | None = None
    noise: Callable[[Draws], np.ndarray] | None = None
    unit_noise: Callable[[np.random.Generator, int], np.ndarray] | None = None

    def __init__(
        self,
        mechanism: WordMechanism,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float = 0.0,
    ) -> None:
        self.mechanism = clone(mechanism)
        self.embedding = embedding
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.lam = check_real("lam", lam, low=0, high=1) + 0.0  # −0 is 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = set(vars(cls))
        for part, voided in _VOIDED.items():
            for name in voided if part in own else ():
                if name not in own:
                    setattr(cls, name, None)

    # -- the law ---------------------------------------------------------------

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """All the randomness of `n` words.

        Parameters
        ----------
        rng : numpy.random.Generator
        n : int

        Returns
        -------
        draws : tuple of ndarray
            Each with a row per word. The rows must be independent and identically
            distributed, and must not depend on the words.
        """

    @abstractmethod
    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """Noisy words, without further randomness.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
            Numbers of words of the embedding.
        draws : tuple of ndarray
            What `draw` gave, `n` rows of it.

        Returns
        -------
        noisy : ndarray of int, shape (n,)
            Row i depends on word i and row i of the draws alone, so that a release may
            cut its words into blocks as it likes.
        """

    @abstractmethod
    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Bounds on the privacy loss between words.

        Parameters
        ----------
        x, y : ndarray of int
            Numbers of words.

        Returns
        -------
        exponents : ndarray of shape (len(x), len(y))
            The least known t_ij >= 0, in nats, with Pr[z | x_i] ≤ e^t_ij Pr[z | y_j]
            for every word z; inf where there is none. They need not be symmetric, nor
            a metric.
        """

    # -- what a release asks besides -------------------------------------------

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of all that the law depends on; it keys the noise."""
        law = law_fingerprint(self.mechanism, self.embedding, self.epsilon, self.lam)
        name = f"{type(self).__module__}.{type(self).__qualname__}".encode()
        return hashlib.blake2b(law + name, digest_size=32).digest()

    @property
    def row_bytes(self) -> int:
        """Bytes that `draw` and `apply` take per word, for the size of the blocks.

        By default two rows of float64 over the vocabulary.
        """
        return 16 * len(self.embedding)

    def with_engine(self, engine: str) -> WordChannel:
        """The same channel, with its nearest words found by an engine.

        A channel that searches for none returns itself.
        """
        return self

    @property
    def excuse(self) -> str | None:
        """Why the engine asked for is not in use; None if it is."""
        return None

    @contextmanager
    def session(self, n_threads: int, memory: int) -> Iterator[Apply]:
        """`apply` for the time of a release, with library settings and memory set.

        Parameters
        ----------
        n_threads : int
            Of the linear algebra library, for each thread of the release.
        memory : int
            Bytes that each call may take beside `row_bytes` per word.
        """
        yield self.apply

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.mechanism!r}, epsilon={self.epsilon:g}, "
            f"lam={self.lam:g})"
        )


def law_fingerprint(
    mechanism: WordMechanism, embedding: WordEmbedding, epsilon: float, lam: float
) -> bytes:
    """Digest of a mechanism's class and every option, ε, λ and the table.

    Raises
    ------
    InvalidParameterError
        If an option is of a kind that is not known to have a stable digest.
    """
    digest = hashlib.blake2b(digest_size=32, person=b"skdptext-law")
    parts = (mechanism, embedding, float(epsilon), float(lam) + 0.0)
    _feed(digest, "mechanism", parts)
    return digest.digest()


def _feed(digest: Any, name: str, value: Any) -> None:
    """Hash a value with its kind and size, so that no two read alike."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}:"
    digest.update(kind.encode())
    if isinstance(value, WordEmbedding):
        digest.update(value.fingerprint)
    elif isinstance(value, BaseEstimator):
        _feed(digest, name, value.get_params(deep=False))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(repr((value.dtype.str, value.shape)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, str | bytes | int | float | np.generic) or value is None:
        text = repr(value).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(text) + text)
    elif isinstance(value, Mapping):
        _feed(digest, name, sorted(value.items()))
    elif isinstance(value, Set):
        _feed(digest, name, sorted(value))
    elif isinstance(value, Sequence | np.ndarray):
        digest.update(b"%d:" % len(value))
        for i, part in enumerate(value):
            _feed(digest, f"{name}[{i}]", part)
    else:
        raise InvalidParameterError(
            f"the options of a mechanism must be numbers, str, arrays, collections of "
            f"them or mechanisms, so that they can key its noise; got "
            f"{type(value).__name__} in {name}."
        )
