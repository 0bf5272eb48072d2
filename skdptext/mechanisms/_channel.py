"""The seam between documents and noise: what a mechanism must do and promise."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.utils import (
    DocLinked,
    blocks,
    check_kind,
    check_real,
)

Draws = tuple[np.ndarray, ...]
Apply = Callable[[np.ndarray, Draws], np.ndarray]

# What the probabilities of a row may be off by: rounding, over large vocabularies too.
_SUM = 1e-9
# Probabilities that `fit` checks, and how many of them together.
_CHECKED, _AT_ONCE = 10**6, 2 * 10**5


@dataclass(frozen=True)
class Law:
    """What is known about the distribution of a channel, besides its exponents.

    Leave out what is not true of a mechanism, or not known.

    Parameters
    ----------
    metric : MahalanobisMetric, default=None
        If the exponents are exactly ε times a distance of vectors: this distance.
        Guarantees can then be stated relative to other metrics.
    noise : callable, default=None
        If a release is computed from φ(w) plus noise: ``noise(draws)`` gives the noise
        vectors, shape (n, dim). With `metric`, their density must be proportional to
        e^(−ε‖z‖) in it, that is, lengths follow Gamma(dim, 1/ε), and directions are
        uniform there. Losses, posteriors and utility then follow from the noise.
    scales : bool, default=False
        Whether `apply` takes the word nearest to φ(w) plus noise, and the noise scales
        with 1/ε. Words and all ε then share draws in statistics; no release does.
    log_proba : callable, default=None
        ``log_proba(words)`` gives rows of ln Pr[z | w], shape (n, n_words), in float64.
        Small δ, deniability and calibration are then exact.
    numerical_delta : float, default=None
        Total variation distance, per word, between the distribution that is drawn and
        the stated one. If None, guarantees say that it is unknown.
    sentences : sequence of str or callable, default=()
        For the printed guarantee; a callable without arguments gives them when asked.
    at_rate : callable, default=None
        If the distribution follows from a rate, and `prepare` searches for the rate
        that proves ε: ``at_rate(a)`` is the channel with rate a, without that search.
        Its `attained` is the smallest ε that holds for it.
    unchanged : callable, default=None
        If it takes less than rows of `log_proba`: ``unchanged(words)`` gives Pr[w | w].

    See Also
    --------
    WordChannel.law : States it.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import MahalanobisNoise
    >>> embedding = WordEmbedding(["near", "far"], [[0.0], [2.0]])
    >>> law = MahalanobisNoise().prepare(embedding, 3.0, 0.0).law()
    >>> law.metric.name, law.scales, law.log_proba
    ('euclidean', True, None)
    """

    metric: MahalanobisMetric | None = None
    noise: Callable[[Draws], np.ndarray] | None = None
    scales: bool = False
    log_proba: Callable[[np.ndarray], np.ndarray] | None = None
    numerical_delta: float | None = None
    sentences: Sequence[str] | Callable[[], Sequence[str]] = ()
    at_rate: Callable[[float], Any] | None = None
    unchanged: Callable[[np.ndarray], np.ndarray] | None = None

    def __post_init__(self) -> None:
        if self.scales and self.noise is None:
            raise InvalidParameterError("scales must be False without noise, got True.")
        if isinstance(self.sentences, str):
            raise InvalidParameterError(
                "sentences must be a sequence of str or a callable, got a str."
            )

    def said(self) -> list[str]:
        """Work the sentences out, if they are not known yet.

        Returns
        -------
        sentences : list of str
            For the printed guarantee.
        """
        return list(self.sentences() if callable(self.sentences) else self.sentences)


class WordMechanism(DocLinked, BaseEstimator, ABC):
    """A randomised map of words: the options that a user chooses, and nothing learned.

    A mechanism is a scikit-learn object with parameters: it can be cloned, printed, and
    searched over as ``mechanism__option``. `prepare` makes it a `WordChannel`, of its
    `channel_class` unless it has a `prepare` of its own.

    Attributes
    ----------
    channel_class : type of WordChannel
        Set on the class.

    See Also
    --------
    MahalanobisNoise : The default of `skdptext.DPWordPerturber`.

    Notes
    -----
    *Privacy.* Nothing may be learned from the documents to be protected: `prepare` sees
    the public embedding only.

    Examples
    --------
    >>> from skdptext.mechanisms import Exponential, WordMechanism
    >>> isinstance(Exponential(), WordMechanism)
    True
    """

    channel_class: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.channel_class is not None and _is_abstract(cls, "prepare"):
            cls.prepare = _prepare  # type: ignore[method-assign]

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
            In nats per unit of what the mechanism calls a distance.
        lam : float in [0, 1]
            Selects the metric on words, for a mechanism that has one; 1 needs a
            non-singular Σ.

        Returns
        -------
        channel : WordChannel
            The mechanism, prepared for the embedding.

        Raises
        ------
        InvalidParameterError
            If an option breaks its rule, or the mechanism does not exist for this
            embedding, ε or λ.
        """


def _prepare(
    self: WordMechanism, embedding: WordEmbedding, epsilon: float, lam: float
) -> WordChannel:
    return self.channel_class(self, embedding, epsilon, lam)


class WordChannel(ABC):
    """A mechanism prepared for one embedding: what draws is what promises.

    A release calls `draw` and `apply`, a guarantee asks `exponents`, and audits run
    the same `draw` and `apply` as a release. Channels are immutable.

    Parameters
    ----------
    mechanism : WordMechanism
        Its options are copied.
    embedding : WordEmbedding
        Public words and their vectors.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    lam : float in [0, 1]
        Shape λ of the metric.

    Attributes
    ----------
    mechanism, embedding, epsilon, lam
        As given, checked.

    Raises
    ------
    InvalidParameterError
        If ε or λ breaks its rule.

    See Also
    --------
    WordMechanism : What prepares a channel.
    InvertedChannel : One whose probabilities are known.

    Notes
    -----
    *Subclasses.* A class that redefines `draw`, `apply`, `session`, `exponents` or what
    these call has another distribution, of which nothing is known until it defines
    `law`, too. If what a parent stated still holds, say so: ``law = Parent.law``. The
    method resolution order decides, mixins included. For a `FiniteChannel`, `log_proba`
    is the statement.

    *Threads.* A release calls `draw` and `apply` from several threads at once.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse, WordChannel
    >>> embedding = WordEmbedding(["yes", "no"], [[0.0], [1.0]])
    >>> channel = RandomizedResponse().prepare(embedding, 1.0, 0.0)
    >>> isinstance(channel, WordChannel), float(channel.exponents([0], [1])[0, 0])
    (True, 1.0)
    """

    def __init__(
        self,
        mechanism: WordMechanism,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
    ) -> None:
        self.mechanism = clone(mechanism)
        self.embedding = embedding
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.lam = check_real("lam", lam, low=0, high=1)
        self._setup()

    def _setup(self) -> None:  # noqa: B027 - need not do anything
        """Check the options of the mechanism, and work out what follows from them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parents: tuple[Any, ...] = cls.__mro__
        stating = _first(parents, "law")
        if _is_abstract(stating, "log_proba"):  # a finite channel's are its statement
            stating = _first(parents, "log_proba")
            if _is_abstract(stating, "log_proba"):
                return
        # A law is about the methods that the class that states it has or inherits, or,
        # where it is a mixin without them, that come after it.
        own = [parent for parent in stating.__mro__ if parent is not WordChannel]
        known = (*own, *parents[parents.index(stating) :])
        for name in ("draw", "apply", "session", "exponents", "noise", "log_proba"):
            if _first(parents, name) is not _first(known, name):
                cls.law = WordChannel.law  # type: ignore[method-assign]

    # -- the distribution ------------------------------------------------------

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """All the randomness of `n` words.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where all randomness comes from.
        n : int
            How many words.

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
            Word ids of the embedding.
        draws : tuple of ndarray
            Draws from `draw`, `n` rows in each array.

        Returns
        -------
        noisy : ndarray of int, shape (n,)
            Entry i depends on word i and row i of the draws alone, so that a release
            may process its words in blocks of any size.
        """

    @abstractmethod
    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Bound the privacy loss between words.

        Parameters
        ----------
        x, y : ndarray of int
            Word ids.

        Returns
        -------
        exponents : ndarray of shape (len(x), len(y))
            The smallest known t_ij >= 0, in nats, with Pr[z | x_i] ≤ e^t_ij Pr[z | y_j]
            for every word z; inf where there is none. They need not be symmetric or
            form a metric.
        """

    def law(self) -> Law:
        """State what else is known about the distribution; by default nothing.

        Returns
        -------
        law : Law
            It must be true of this class, whose `draw`, `apply` and `exponents` it is
            about, and cost nothing to make.
        """
        return Law()

    # -- what else a release asks for ------------------------------------------

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of everything that the distribution depends on; it keys the noise."""
        law = law_fingerprint(self.mechanism, self.embedding, self.epsilon, self.lam)
        name = f"{type(self).__module__}.{type(self).__qualname__}".encode()
        return hashlib.blake2b(law + name, digest_size=32).digest()

    @property
    def row_bytes(self) -> int:
        """Bytes that `draw` and `apply` take per word, for the size of the blocks.

        By default two rows of float64 over the vocabulary.
        """
        return 16 * len(self.embedding)

    @contextmanager
    def session(self, memory: int) -> Iterator[Apply]:
        """`apply` for the duration of a release, with its memory set.

        Parameters
        ----------
        memory : int
            Bytes that each call may take on top of `row_bytes` per word.

        Yields
        ------
        apply : callable
            What maps words and draws to noisy words, for the time of a release.
        """
        yield self.apply

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.mechanism!r}, epsilon={self.epsilon:g}, "
            f"lam={self.lam:g})"
        )


def _first(classes: Iterable[Any], name: str) -> Any:
    """The first of some classes that defines a member; None if none does."""
    return next((one for one in classes if name in vars(one)), None)


def _is_abstract(cls: type, name: str) -> bool:
    return getattr(getattr(cls, name, None), "__isabstractmethod__", False)


def law_fingerprint(
    mechanism: WordMechanism, embedding: WordEmbedding, epsilon: float, lam: float
) -> bytes:
    """Digest of a mechanism's class and every option, ε, λ and the embedding.

    Raises
    ------
    InvalidParameterError
        If an option has a type without a known stable digest.
    """
    digest = hashlib.blake2b(digest_size=32, person=b"skdptext-law")
    parts = (mechanism, embedding, float(epsilon), float(lam) + 0.0)  # −0 is 0
    _feed(digest, "mechanism", parts)
    return digest.digest()


def as_channel(
    mechanism: WordMechanism, embedding: WordEmbedding, epsilon: float, lam: float
) -> WordChannel:
    """A mechanism, prepared by its own `prepare`.

    Raises
    ------
    InvalidParameterError
        If that returns no `WordChannel`, or its `law` no `Law`.
    """
    channel = mechanism.prepare(embedding, epsilon, lam)
    rule = f"prepare of {type(mechanism).__name__} must return a WordChannel"
    check_kind(channel, WordChannel, rule)
    law = channel.law()
    check_kind(law, Law, f"law of {type(channel).__name__} must return a Law")
    return channel


def check_draws(channel: WordChannel, rng: np.random.Generator, n: int) -> Draws:
    """Draws of `n` words, with a row for each in every array."""
    draws = channel.draw(rng, n)
    got = type(draws).__name__
    if isinstance(draws, tuple):
        shapes = list(map(np.shape, draws))
        if {shape[:1] for shape in shapes} == {(n,)}:
            return draws
        got = f"arrays of shapes {shapes}"
    raise InvalidParameterError(
        f"draw of {type(channel).__name__} must return a tuple of arrays with {n} rows "
        f"each, got {got}."
    )


def check_words(channel: WordChannel, noisy: Any, n: int) -> np.ndarray:
    """The output of `apply` for `n` words, checked to be words of the embedding."""
    n_words = len(channel.embedding)
    noisy = np.asarray(noisy)
    whole = noisy.shape == (n,) and noisy.dtype.kind in "iu"
    if not whole or (n and not 0 <= noisy.min() <= noisy.max() < n_words):
        raise InvalidParameterError(
            f"apply of {type(channel).__name__} must return {n} word ids, integers in "
            f"[0, {n_words}), got an array of shape {noisy.shape} and type "
            f"{noisy.dtype}."
        )
    return noisy


def check_exponents(channel: WordChannel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`exponents` of a channel, checked."""
    exponents = np.asarray(channel.exponents(x, y), dtype=np.float64)
    if exponents.shape != (len(x), len(y)) or not (exponents >= 0).all():
        raise InvalidParameterError(
            f"exponents of {channel.mechanism!r} must be an array of shape ({len(x)}, "
            f"{len(y)}) of numbers >= 0 or inf, got shape {exponents.shape}"
            + (", with NaN or negative numbers." if exponents.size else ".")
        )
    return exponents


def check_log_proba(channel: Any, words: np.ndarray) -> np.ndarray:
    """Rows of `log_proba` of a channel, checked to be distributions; a copy.

    What is drawn and what is promised would part if only one of them scaled the rows.
    """
    log_proba = channel.law().log_proba or channel.log_proba
    rows = np.array(log_proba(words), dtype=np.float64)
    shape = len(words), len(channel.embedding)
    if rows.shape != shape or not (rows < np.inf).all():  # nor NaN
        raise InvalidParameterError(
            f"log_proba of {type(channel).__name__} must be an array of shape {shape} "
            f"of numbers below inf, got shape {rows.shape}"
            + (", with NaN or inf." if rows.shape == shape else ".")
        )
    off = np.abs(np.exp(np.minimum(rows, 1)).sum(axis=1) - 1)
    if len(off) and off.max() > _SUM:
        raise InvalidParameterError(
            f"each row of log_proba of {type(channel).__name__} must sum to 1 as "
            f"probabilities, to within {_SUM:g}, got a row that is off by "
            f"{off.max():.3g}. Subtract the logarithm of its sum, in float64; the "
            "vectors of an embedding are float32."
        )
    return rows


def check_law(channel: WordChannel) -> None:
    """Check rows of `log_proba`, where a channel has it: all, or some far apart.

    Those that are left out are checked when they are drawn from.
    """
    law = channel.law()
    if law.log_proba is None:
        return
    n_words = len(channel.embedding)
    n_rows = int(np.clip(_CHECKED // len(channel.embedding), 2, n_words))
    ids = np.linspace(0, n_words - 1, n_rows).astype(np.int64)
    for rows in blocks(n_rows, max(1, _AT_ONCE // len(channel.embedding))):
        check_log_proba(channel, ids[rows])


def _plain(value: Any) -> str:
    """A value as text, however a subclass prints itself."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, str):
        return str.__repr__(value)
    return repr(value)


def _feed(digest: Any, name: str, value: Any) -> None:
    """Hash a value with its type and size, so that no two values hash alike."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}:"
    digest.update(kind.encode())
    if isinstance(value, WordEmbedding):
        digest.update(value.fingerprint)
    elif isinstance(value, BaseEstimator):
        _feed(digest, name, value.get_params(deep=False))
    elif isinstance(value, np.ma.MaskedArray):
        raise InvalidParameterError(f"{name} must not be a masked array.")
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(repr((value.dtype.str, value.shape)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, str | bytes | int | float | np.generic) or value is None:
        text = _plain(value).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(text) + text)
    elif isinstance(value, Mapping):
        # by keys alone, which differ: to print a large array takes milliseconds
        _feed(digest, name, sorted(value.items(), key=lambda item: repr(item[0])))
    elif isinstance(value, Set):
        _feed(digest, name, sorted(value, key=repr))
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
