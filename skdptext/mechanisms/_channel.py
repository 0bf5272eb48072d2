"""The seam between documents and noise: what a mechanism must do and promise."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._losses import LossDistribution
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.utils import DocLinked, check_real

__all__ = [
    "Apply",
    "WordChannel",
    "WordMechanism",
    "as_channel",
    "checked_draws",
    "checked_exponents",
    "checked_words",
    "law_fingerprint",
    "noise_of_known_density",
    "part_of",
]

Draws = tuple[np.ndarray, ...]
Apply = Callable[[np.ndarray, Draws], np.ndarray]

# What is said of a law beside it, and by which of its parts it stands or falls.
_STANDS_ON = {
    "metric": ("exponents",),
    "noise": ("apply", "session"),
    "unit_noise": ("draw", "apply", "session", "noise"),
    "gamma_lengths": ("draw", "noise", "metric"),
    "gamma_noise": ("draw", "apply", "session", "metric"),
    "numerical_delta": ("draw", "apply", "session"),
    "log_proba": ("draw", "apply", "session"),
    "losses": ("draw", "noise", "apply", "session"),
    "describe": ("draw", "apply", "session", "exponents"),
    "at_rate": ("draw", "apply", "session", "exponents", "log_proba"),
}


class _Void:
    """In the place of what no longer holds of a parent: None, and not to be set."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> None:
        return None

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(
            f"{self.name} must be a member of the class that defines "
            f"{' or '.join(_STANDS_ON[self.name])}, such as a property, and not be set "
            f"on instances: {type(instance).__name__} may have another law than its "
            "parent."
        )


class WordMechanism(DocLinked, BaseEstimator, ABC):
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
            In nats per unit of what the mechanism calls a distance.
        lam : float in [0, 1]
            Names the metric on words, for a mechanism that has one; 1 needs a regular
            Σ.

        Returns
        -------
        channel : WordChannel

        Raises
        ------
        InvalidParameterError
            If an option breaks its rule, or the mechanism does not exist for this
            embedding, ε or λ.
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
    lam : float in [0, 1]

    Attributes
    ----------
    mechanism, embedding, epsilon, lam
        As given, checked.
    metric : MahalanobisMetric or None
        Defined where `exponents` is ε times a metric on vectors, exactly; guarantees
        can then be converted between metrics.
    noise : callable or None
        Defined where `apply` takes the word nearest to φ(w) + noise: from draws to the
        noise vectors, shape (n, dim).
    unit_noise : callable or None
        Defined where, besides, the noise scales with 1/ε: ``unit_noise(rng, n)`` draws
        it for ε = 1, so that all ε can share it.
    gamma_lengths : bool or None
        True where, besides, the length of the noise in `metric` follows
        Gamma(dim, 1/ε), and its direction is uniform there.
    gamma_noise : callable or None
        Defined where the release is computed from φ(w) + noise of that law, be it by
        the nearest word or otherwise: from draws to the noise vectors, shape (n, dim).
        What is known of w once the noisy vector is seen is then exact.
    log_proba : callable or None
        Defined where the law is known in full: ``log_proba(words)`` gives rows of
        ln Pr[z | w], shape (n, n_words of the embedding), in float64.
    losses : callable or None
        Defined where more is known of the privacy loss than all this says:
        ``losses(x, y)`` gives a `LossDistribution` for each pair of words x[i], y[i],
        which bounds that of Pr[· | x_i] against Pr[· | y_i]. See `word_losses`.
    describe : callable or None
        Defined where there is more to say in a printed guarantee: ``describe()`` gives
        sentences on the law.
    at_rate : callable or None
        Defined where the law follows from a rate, and `prepare` searches for the rate
        that proves ε: ``at_rate(a)`` is the channel of a rate, without that search. Its
        `attained` is the least ε that holds for it.
    numerical_delta : float or None
        Total variation distance, per word, between the law that is drawn and the
        stated one. None if it is not known.

    Raises
    ------
    InvalidParameterError
        If ε or λ breaks its rule.

    Notes
    -----
    *Subclasses.* A class that redefines a part of the law no longer has what its parent
    says beside it: without a `noise` of its own that of one with another `apply` is
    None, and so are `metric` with other `exponents`, `unit_noise` with another `draw`,
    `losses` and `numerical_delta` with another `draw` or `apply`, and the rest. This
    goes by the order of resolution, mixins included; what is said must be members of
    classes, not attributes of instances.

    *Threads.* A release calls `draw` and `apply` from several threads at once.
    """

    metric: MahalanobisMetric | None = None
    noise: Callable[[Draws], np.ndarray] | None = None
    unit_noise: Callable[[np.random.Generator, int], np.ndarray] | None = None
    gamma_lengths: bool | None = None
    gamma_noise: Callable[[Draws], np.ndarray] | None = None
    numerical_delta: float | None = None
    log_proba: Callable[[np.ndarray], np.ndarray] | None = None
    losses: Callable[[np.ndarray, np.ndarray], list[LossDistribution]] | None = None
    describe: Callable[[], list[str]] | None = None
    at_rate: Callable[[float], Any] | None = None

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
        for name, parts in _STANDS_ON.items():
            if min(map(cls._provider, parts)) < cls._provider(name):
                setattr(cls, name, _Void(name))

    @classmethod
    def _provider(cls, name: str) -> int:
        """Place in the order of resolution of the class that defines a member."""
        return next(
            i
            for i, parent in enumerate(cls.__mro__)
            if name in vars(parent) and not isinstance(vars(parent)[name], _Void)
        )

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
    def fallback_reason(self) -> str | None:
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


def part_of(path: str, doc: str | None) -> Any:
    """A member of a channel that is one of its parts': ``inner.metric``, for one."""
    return property(attrgetter(path), doc=doc)


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
    parts = (mechanism, embedding, float(epsilon), float(lam) + 0.0)  # −0 is 0
    _feed(digest, "mechanism", parts)
    return digest.digest()


def noise_of_known_density(
    channel: WordChannel,
) -> Callable[[Draws], np.ndarray] | None:
    """From draws to the noise that the release is computed from, if its law is Gamma's.

    That law is a length that follows Gamma(dim, 1/ε) in the channel's `metric`, and a
    direction that is uniform there.
    """
    if channel.gamma_lengths and channel.noise is not None:
        return channel.noise
    return channel.gamma_noise


def as_channel(
    prepared: Any,
    mechanism: WordMechanism,
    embedding: WordEmbedding,
    epsilon: float,
    lam: float,
) -> WordChannel:
    """What a mechanism prepared, as a `WordChannel`.

    An object with `draw`, `apply` and `exponents` that is none is wrapped in one.

    Raises
    ------
    InvalidParameterError
        If it lacks one of them.
    """
    if not isinstance(prepared, WordChannel):
        for name in ("draw", "apply", "exponents"):
            if not callable(getattr(prepared, name, None)):
                raise InvalidParameterError(
                    f"prepare of {type(mechanism).__name__} must return a WordChannel, "
                    f"got {type(prepared).__name__} without {name}."
                )
        return _Wrapped(prepared, mechanism, embedding, epsilon, lam)
    # a subclass need not call our __init__
    given = {"mechanism": mechanism, "embedding": embedding}
    given |= {"epsilon": epsilon, "lam": lam}
    for name, value in given.items():
        vars(prepared).setdefault(name, value)
    return prepared


def _of_prepared(name: str) -> Any:
    return property(lambda self: getattr(self.prepared, name, None))


class _Wrapped(WordChannel):
    """A channel by the protocol alone."""

    log_proba, losses = _of_prepared("log_proba"), _of_prepared("losses")
    describe = _of_prepared("describe")
    # what must be there was looked for
    draw, apply = _of_prepared("draw"), _of_prepared("apply")
    exponents = _of_prepared("exponents")

    def __init__(self, prepared: Any, *given: Any) -> None:
        super().__init__(*given)
        self.prepared = prepared

    @cached_property
    def fingerprint(self) -> bytes:
        own = getattr(self.prepared, "fingerprint", b"")
        return hashlib.blake2b(super().fingerprint + own, digest_size=32).digest()


def checked_draws(channel: WordChannel, rng: np.random.Generator, n: int) -> Draws:
    """Draws of `n` words, with a row for each in every array."""
    draws = channel.draw(rng, n)
    whole = isinstance(draws, tuple) and bool(draws)
    if not whole or any(np.shape(part)[:1] != (n,) for part in draws):
        got = (
            f"arrays of shapes {[np.shape(part) for part in draws]}"
            if isinstance(draws, tuple)
            else type(draws).__name__
        )
        raise InvalidParameterError(
            f"draw of {_name(channel)} must return a tuple of arrays with {n} rows "
            f"each, got {got}."
        )
    return draws


def checked_words(channel: WordChannel, noisy: Any, n: int, n_words: int) -> np.ndarray:
    """What `apply` returned for `n` words, if it is words of the vocabulary."""
    noisy = np.asarray(noisy)
    whole = noisy.shape == (n,) and noisy.dtype.kind in "iu"
    if not whole or (n and not 0 <= noisy.min() <= noisy.max() < n_words):
        raise InvalidParameterError(
            f"apply of {_name(channel)} must return {n} numbers of words, integers in "
            f"[0, {n_words}), got an array of shape {noisy.shape} and type "
            f"{noisy.dtype}."
        )
    return noisy


def checked_exponents(channel: WordChannel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`exponents` of a channel, if they are such."""
    found = np.asarray(channel.exponents(x, y), dtype=np.float64)
    if found.shape != (len(x), len(y)) or not (found >= 0).all():
        raise InvalidParameterError(
            f"exponents of {channel.mechanism!r} must be an array of shape ({len(x)}, "
            f"{len(y)}) of numbers >= 0 or inf, got shape {found.shape}"
            + (", with NaN or negative numbers." if found.size else ".")
        )
    return found


def _name(channel: WordChannel) -> str:
    return type(getattr(channel, "prepared", channel)).__name__


def _plain(value: Any) -> str:
    """A value as text, whatever a subclass calls itself."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, str):
        return str.__repr__(value)
    return repr(value)


def _feed(digest: Any, name: str, value: Any) -> None:
    """Hash a value with its kind and size, so that no two read alike."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}:"
    digest.update(kind.encode())
    if isinstance(value, WordEmbedding):
        digest.update(value.fingerprint)
    elif isinstance(value, BaseEstimator):
        # an option that came later is left out where it is without effect
        unkeyed = getattr(type(value), "_unkeyed", {})
        options = value.get_params(deep=False)
        for key in [k for k in options if k in unkeyed]:
            plain = isinstance(options[key], int | float)
            if plain and options[key] == unkeyed[key]:
                del options[key]
        _feed(digest, name, options)
    elif isinstance(value, np.ma.MaskedArray):
        raise InvalidParameterError(f"{name} must not be a masked array.")
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(repr((value.dtype.str, value.shape)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, str | bytes | int | float | np.generic) or value is None:
        text = _plain(value).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(text) + text)
    elif isinstance(value, Mapping):
        _feed(digest, name, sorted(value.items(), key=repr))
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
