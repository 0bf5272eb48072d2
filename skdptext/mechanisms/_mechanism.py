"""Base classes of word mechanisms: how they draw, and what they promise."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._losses import LossDistribution
from skdptext.utils import (
    DocLinked,
    as_array,
    blocks,
    check_kind,
    check_real,
    working_memory_bytes,
)

Draws = tuple[np.ndarray, ...]

# How far the probabilities of a row may be from 1 in sum: rounding over a large
# vocabulary stays below this.
_SUM = 1e-9
# Added to exponents: more than all rounding in the logarithms they come from.
_ROUNDING = 2.0**-40
# Attributes that `prepare` sets. An option of the same name would be overwritten, and
# an ε that was passed as an option would be silently lost.
_TAKEN = {"embedding", "epsilon", "lam", "metric", "numerical_delta"}
# Pairs of words whose loss distributions are computed together.
_PAIRS = 32


class WordMechanism(DocLinked, BaseEstimator, ABC):
    """Base class of mechanisms that replace words at random.

    A mechanism is a scikit-learn object with parameters: it can be cloned, printed, and
    searched over as ``mechanism__option``. `prepare` returns a copy for one embedding,
    ε and λ. This copy draws the noise of a release and bounds its privacy loss.

    Attributes
    ----------
    embedding : WordEmbedding
        Public words and their vectors. `prepare` sets this and what follows.
    epsilon : float > 0
        Privacy parameter ε, in nats per unit of distance.
    lam : float in [0, 1]
        Shape λ of the metric.
    metric : MahalanobisMetric or None
        The distance of vectors of which the exponents are exactly ε times, if there is
        one. Guarantees can then be stated relative to other metrics.
    numerical_delta : float or None
        Total variation distance, per word, between the distribution that is drawn and
        the stated one. If None, guarantees say that it is unknown.

    See Also
    --------
    TableMechanism : Base class for known probabilities.
    NoiseMechanism : Base class for noise on vectors.

    Notes
    -----
    *Privacy.* Nothing may be learned from the documents to be protected: `prepare` sees
    the public embedding only. A subclass that overrides `draw` or `apply` draws from
    another distribution and must state exponents that hold for it.

    *Threads.* A release calls `draw` and `apply` from several threads at once.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse, WordMechanism
    >>> embedding = WordEmbedding(["yes", "no"], [[0.0], [1.0]])
    >>> prepared = RandomizedResponse().prepare(embedding, epsilon=1.0)
    >>> isinstance(prepared, WordMechanism), float(prepared.exponents([0], [1])[0, 0])
    (True, 1.0)
    """

    metric: Any = None
    numerical_delta: float | None = None
    embedding: WordEmbedding
    epsilon: float
    lam: float

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float = 0.0
    ) -> Self:
        """Copy the mechanism for one embedding and one ε.

        Parameters
        ----------
        embedding : WordEmbedding
            Public.
        epsilon : float > 0
            In nats per unit of what the mechanism calls a distance.
        lam : float in [0, 1], default=0.0
            Selects the metric on words, for a mechanism that has one; 1 needs a
            non-singular Σ.

        Returns
        -------
        mechanism : WordMechanism
            A prepared copy. Later changes to the original do not reach it.

        Raises
        ------
        InvalidParameterError
            If an option breaks its rule or has the name of an attribute above, or the
            mechanism does not exist for this embedding, ε or λ.
        """
        if taken := sorted(_TAKEN & self.get_params(deep=False).keys()):
            raise InvalidParameterError(
                "options of a mechanism must not be called embedding, epsilon, lam, "
                f"metric or numerical_delta, got {' and '.join(taken)}."
            )
        check_kind(embedding, WordEmbedding, "embedding must be a WordEmbedding")
        ready = clone(self)
        ready.embedding = embedding
        ready.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        ready.lam = check_real("lam", lam, low=0, high=1)
        ready._prepare()
        ready.fingerprint  # noqa: B018 - refuses options that cannot key the noise
        return ready

    def _prepare(self) -> None:
        """Check the options, and work out what follows from them."""

    # -- the distribution ------------------------------------------------------

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """Draw all the randomness that `n` words need.

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
        """Replace words by noisy words, without further randomness.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
            Word ids of the embedding.
        draws : tuple of ndarray
            Draws from `draw`, `n` rows in each array.

        Returns
        -------
        noisy : ndarray of int, shape (n,)
            Entry i depends on word i and row i of the draws alone. A release may
            therefore process its words in blocks of any size.
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

    def losses(self, x: np.ndarray, y: np.ndarray) -> list[LossDistribution]:
        """Bound the privacy loss of each pair of words by a distribution.

        Parameters
        ----------
        x, y : ndarray of int, shape (n,)
            Word ids, pair by pair.

        Returns
        -------
        losses : list of n LossDistribution
            The one-sided loss of Pr[· | x_i] against Pr[· | y_i]; by default the worst
            that the exponents in both directions allow.
        """
        losses: list[LossDistribution] = []
        for block in blocks(len(x), _PAIRS):
            forth = check_exponents(self, x[block], y[block]).diagonal()
            back = check_exponents(self, y[block], x[block]).diagonal()
            losses += map(LossDistribution.of_exponents, forth.tolist(), back.tolist())
        return losses

    def sentences(self) -> list[str]:
        """Describe the mechanism for the printed guarantee.

        Returns
        -------
        sentences : list of str
            Empty by default.
        """
        return []

    # -- what else a release asks for ------------------------------------------

    @cached_property
    def options_fingerprint(self) -> bytes:
        """Digest of the class, all options, λ and the embedding, but not of ε."""
        text = f"{_described(self)} {self.lam.hex()} {self.embedding.fingerprint.hex()}"
        return hashlib.blake2b(text.encode(), digest_size=32).digest()

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of everything that the distribution depends on; it keys the noise."""
        text = self.options_fingerprint + self.epsilon.hex().encode()
        return hashlib.blake2b(text, digest_size=32).digest()

    @property
    def row_bytes(self) -> int:
        """Bytes that `draw` and `apply` take per word, for the size of the blocks.

        By default two rows of float64 over the vocabulary. What `apply` takes for all
        words together is to stay within scikit-learn's ``working_memory``.
        """
        return 16 * len(self.embedding)


class TableMechanism(WordMechanism):
    """Base class of mechanisms that are fully defined by their `log_proba`.

    Exponents and small δ follow exactly from these probabilities. Each word takes one
    uniform number, and becomes the word at which the cumulative probabilities of its
    row pass that number. A call computes the row of each distinct word once, so its run
    time reveals the number of distinct words.

    See Also
    --------
    Exponential : The recommended mechanism.

    Notes
    -----
    *Privacy.* What is drawn and what is promised come from the same rows. They are
    checked where they are used: a row that does not sum to 1 is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import TableMechanism
    >>> class Coin(TableMechanism):
    ...     def log_proba(self, words):
    ...         kept = np.equal.outer(words, np.arange(len(self.embedding)))
    ...         return np.log(np.where(kept, 0.75, 0.25))
    >>> coin = Coin().prepare(WordEmbedding(["heads", "tails"], [[0.0], [1.0]]), 1.0)
    >>> print(coin.exponents(np.array([0]), np.array([0, 1])).round(3))
    [[0.    1.099]]
    >>> uniforms = np.array([0.1, 0.2, 0.3])
    >>> coin.apply(np.array([1, 1, 1]), (uniforms,))
    array([0, 0, 1])
    """

    @abstractmethod
    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """Compute ln Pr[z | w] for each of the words and every z.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
            Word ids.

        Returns
        -------
        log_proba : ndarray of shape (n, n_words), float64
            −inf for words that a word never becomes. As probabilities, each row must
            sum to 1, to within 1e-9.
        """

    @property
    def numerical_delta(self) -> float | None:  # type: ignore[override]
        """Error of float64 sums and 53-bit draws; None if a subclass draws otherwise.

        Each probability is off by about 2⁻⁵², because of the sums and the steps of the
        uniform, and the logarithms may be off by about 1e-12.
        """
        # The number below holds for this way of drawing only. A subclass with another
        # one states its own, or guarantees say that the error is unknown.
        own = type(self)
        if (own.draw, own.apply) != (TableMechanism.draw, TableMechanism.apply):
            return None
        return 2.0**-36 + len(self.embedding) * 2.0**-51

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        return (rng.random(n),)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        # Equal words form a group, and one row of probabilities serves the whole group.
        order = np.argsort(words, kind="stable")
        distinct, starts = np.unique(words[order], return_index=True)
        groups = np.split(order, starts[1:])
        # Rows are not divided by their sums; the uniforms are multiplied by them. The
        # factor keeps each product below its sum, so the search always ends at a word.
        below = draws[0] * (1 - 2.0**-53)
        noisy = np.full(len(words), -1)  # a release refuses an id of −1
        for block, rows in probabilities(self, distinct):
            np.cumsum(rows, axis=1, out=rows)
            for at, upto in zip(groups[block], rows, strict=True):
                noisy[at] = upto.searchsorted(below[at] * upto[-1], side="right")
        return noisy

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        theirs = self.checked_log_proba(y)
        exponents = np.empty((len(x), len(y)))
        for rows in blocks(len(x), self._n_rows()):
            for i, ours in enumerate(self.checked_log_proba(x[rows]), rows.start):
                # Outputs that x never gives do not bound anything. Outputs that x gives
                # and y never gives make the exponent infinite, as they must.
                possible = ours > -np.inf
                gaps = ours[possible] - theirs[:, possible]
                exponents[i] = gaps.max(axis=1) + _ROUNDING
        return np.where(np.equal.outer(x, y), 0.0, np.maximum(exponents, 0))

    def losses(self, x: np.ndarray, y: np.ndarray) -> list[LossDistribution]:
        losses = []
        for block in blocks(len(x), _PAIRS):
            words, at = np.unique([x[block], y[block]], return_inverse=True)
            rows = self.checked_log_proba(words)
            for i, j in at.reshape(2, -1).T:
                losses.append(LossDistribution.of_log_proba(rows[i], rows[j]))
        return losses

    def checked_log_proba(self, words: np.ndarray) -> np.ndarray:
        """Compute `log_proba`, and check that its rows are distributions.

        Parameters
        ----------
        words : ndarray of int, shape (n,)
            Word ids.

        Returns
        -------
        log_proba : ndarray of shape (n, n_words), float64
            Divided by the sums of the rows, as a draw does. The promised distribution
            is therefore the one that is drawn.

        Raises
        ------
        InvalidParameterError
            If a row does not sum to 1, or the array has another shape.
        """
        rows, proba = self._checked(words)
        return rows - np.log(proba.sum(axis=1, keepdims=True))

    def _checked(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of `log_proba` and their probabilities, not divided by their sums."""
        shape = (len(words), len(self.embedding))
        rule = (
            f"log_proba of {type(self).__name__} must be an array of shape {shape} "
            f"whose rows sum to 1 as probabilities, to within {_SUM:g}"
        )
        rows = as_array(self.log_proba(words), rule, np.float64)
        with np.errstate(over="ignore"):
            proba = np.exp(rows)
        fits = rows.shape == shape
        off = np.abs(proba.sum(axis=1) - 1).max(initial=0.0) if fits else np.inf
        # Written with `not`, because comparisons with NaN are false: a row that
        # contains NaN is refused as well.
        if not off <= _SUM:
            raise InvalidParameterError(
                f"{rule}, got shape {rows.shape}, off by {off:.3g}. Subtract the "
                "logarithm of the sum, and compute in float64 (the vectors of an "
                "embedding are float32)."
            )
        return rows, proba

    def _n_rows(self) -> int:
        """Number of rows of probabilities that fit into ``working_memory``."""
        each = 64 * len(self.embedding)
        return int(np.clip(working_memory_bytes() // each, 1, 512))

    @property
    def row_bytes(self) -> int:
        """Bytes of draws, word ids and their order; `apply` limits its rows itself."""
        return 128


def probabilities(
    mechanism: TableMechanism, ids: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Compute Pr[z | w] of each word, in blocks of words.

    Yields slices of `ids`, and rows over all words that callers may overwrite.
    """
    for rows in blocks(len(ids), mechanism._n_rows()):
        proba = mechanism._checked(ids[rows])[1]
        # The exponential of a rounded logarithm may be slightly above 1.
        yield rows, np.minimum(proba, 1, out=proba)


def check_exponents(
    mechanism: WordMechanism, x: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """Compute `exponents` of a mechanism, and check their shape and range."""
    # A user's mechanism may return anything. A negative exponent or NaN would turn into
    # a promise that is too strong.
    exponents = np.asarray(mechanism.exponents(x, y), dtype=np.float64)
    if exponents.shape != (len(x), len(y)) or not (exponents >= 0).all():
        raise InvalidParameterError(
            f"exponents of {mechanism!r} must be an array of shape ({len(x)}, "
            f"{len(y)}) of numbers >= 0 or inf, got shape {exponents.shape}"
            + (", with NaN or negative numbers." if exponents.size else ".")
        )
    return exponents


def _described(value: Any) -> str:
    """Describe an option, or a mechanism with all options, by a unique text."""
    # The text keys the noise. Two mechanisms that differ must differ here, or one key
    # would give both the same noise; equal ones must agree on every machine.
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, BaseEstimator):
        params = sorted(value.get_params(deep=False).items())
        inner = [f"{name}={_described(option)}" for name, option in params]
    elif isinstance(value, float):
        inner = [value.hex()]
    elif isinstance(value, str):
        inner = [str.__repr__(value)]  # a subclass may print itself differently
    elif isinstance(value, bytes | int | None):
        inner = [repr(value)]
    elif isinstance(value, list | tuple):
        inner = [_described(each) for each in value]
    elif (
        isinstance(value, np.ndarray)
        and value.dtype != object
        and not np.ma.isMaskedArray(value)
    ):  # A class name is left out: joblib maps arrays into workers as np.memmap.
        return f"array({value.dtype.str}, {value.shape}, {value.tobytes().hex()})"
    else:
        raise InvalidParameterError(
            "the options of a mechanism must be numbers, str, arrays, mechanisms, or "
            "lists or tuples of them, because they key its noise, got "
            f"{type(value).__name__}."
        )
    return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(inner)})"
