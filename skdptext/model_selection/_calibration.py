"""Find the ε at which a given share of the words of a text changes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from skdptext.base import NoiseStreams, draw_words, fitted_releaser
from skdptext.documents import DocumentReader
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential, TableMechanism, probabilities
from skdptext.metrics import find_perturber
from skdptext.utils import (
    check_integer,
    check_real,
    warn_of_private_tuning,
)

# The search tries values of ε from 1e-6 to 1e6; this is the logarithm.
_FARTHEST = math.log(1e6)
# A first search over one word in so many finds the region for the search over all.
_FIRST = 20
# Relative precision of ε: one draw in 10,000 changes it by about 1e-4.
_PRECISION, _EXACT_PRECISION = 1e-4, 1e-6


@dataclass(frozen=True)
class Calibration:
    """The result of `calibrate_epsilon`.

    Attributes
    ----------
    epsilon : float
        The ε at which the requested share of words changes.
    changed : float
        Share of the words of the documents that change at `epsilon`.
    """

    epsilon: float
    changed: float

    def __str__(self) -> str:
        return f"At ε = {self.epsilon:.4g}, {self.changed:.1%} of the words change."


def calibrate_epsilon(
    releaser: Any,
    changed: float = 0.25,
    *,
    documents: Any,
    n_words: int = 10_000,
    random_state: Any = None,
    tuned_on: str = "private",
) -> Calibration:
    """Find the ε at which a given share of the words of a text changes.

    The result is the largest ε at which at least this share changes. By itself ε means
    little: λ, the dimension and the scale of the vectors decide its effect. The share
    of changed words compares mechanisms and embeddings at equal empirical privacy [1]_.

    Parameters
    ----------
    releaser : DPWordPerturber
        A perturber, another releaser of words, or a pipeline or search that holds one,
        fitted or not. Its mechanism, λ, embedding and way of reading documents are
        used. Its ε is only the start of the search.
    changed : float in (0, 1), default=0.25
        The share of words that should change.
    documents : iterable of str, of lists of str, or count matrix
        Public text of the kind to be released, as it reaches the releaser. Each word
        counts as often as it occurs; if documents are redrawn to one length, each
        document counts equally. For words that count once each, give documents of one
        word.
    n_words : int, default=10_000
        Number of words taken from the documents, evenly by frequency; at least 100.
        Each gets one noisy version; if probabilities are known, nothing is drawn.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the noise. An int makes the result repeatable.
    tuned_on : {"private", "public", "released"}, default="private"
        Where `documents` come from. If they are private, ε depends on the protected
        documents. This is assumed, with a warning, unless they are declared public or
        released before.

    Returns
    -------
    calibration : Calibration
        The ε, to a ten-thousandth, and the share of words that change there.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or no ε reaches the share. Some words may stay
        under any noise, and of several words with equal vectors only the first can.

    Warns
    -----
    PrivacyLeakWarning
        If `documents` are not declared public or released.

    See Also
    --------
    skdptext.metrics.plausible_deniability : The same statistic, word by word.
    skdptext.metrics.words_changed_scorer : The share of changed words, as a score.

    Notes
    -----
    *What is counted.* The frequent words of a language often lie close together or
    close to the origin, where the same noise changes more of them, or fewer. An
    embedding of 30,000 words has 29,000 that a text hardly uses. So the share over the
    embedding says little about a text; the share over `documents` is the one that a
    release of such text changes.

    *Method.* Larger ε change fewer words. For a mechanism that states its
    probabilities, the share is the mean of 1 − Pr[w | w]. For others, a noisy version
    of each word is drawn, with the same draws at every ε, so the share varies little
    between similar ε. With 10,000 words it has a standard error of some 0.004, and ε
    one of some 0.5%. A released text scatters around the share, and a short one more.
    `Exponential` itself searches for a rate given ε; here the rate is searched, and ε
    is the value that it proves.

    *Privacy.* Only the public embedding and the given documents are read.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.model_selection import calibrate_epsilon
    >>> embedding = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, document_length=1)
    >>> chosen = calibrate_epsilon(
    ...     perturber, 0.1, documents=["aa bb", "bb, aa"], tuned_on="public")
    >>> print(chosen)
    At ε = 2.21, 10.0% of the words change.
    """
    source = find_perturber(releaser)
    changed = check_real(
        "changed", changed, low=0, high=1, open_low=True, open_high=True
    )
    n_words = check_integer("n_words", n_words, low=100)
    warn_of_private_tuning(tuned_on, "ε is chosen by words", "these documents")
    source = fitted_releaser(source, documents)
    streams = NoiseStreams(random_state, b"calibrate_epsilon")
    words = _some_words(source, documents, n_words)
    own = source.mechanism_at()
    # The exact class is required: a subclass may have other probabilities.
    by_rate = type(own) is Exponential and own.calibration == "exact"

    def mechanism(strength: float) -> Any:
        if not by_rate:
            return source.mechanism_at(epsilon=strength)
        half = Exponential("half", own.max_distance)  # its rate is ε/2
        return half.prepare(own.embedding, 2 * strength, own.lam)

    def share_of(words: np.ndarray) -> Callable[[float], float]:
        # The stream starts again for each ε, so all share their draws.
        return cache(
            lambda log: _changed(
                mechanism(math.exp(log)), words, streams.open(b"noise")
            )
        )

    some, share = share_of(words[::_FIRST]), share_of(words)
    near = _largest(some, changed, math.log(own.epsilon), math.log(2), 1e-2)
    exact = isinstance(own, TableMechanism)
    precision = _EXACT_PRECISION if exact else _PRECISION
    found = _largest(share, changed, near, math.log(1.03), precision)
    if abs(found) == _FARTHEST:
        raise InvalidParameterError(
            f"changed must be a share that some epsilon reaches, between "
            f"{share(_FARTHEST):.4g} and {share(-_FARTHEST):.4g} here, got {changed:g}."
        )
    epsilon = math.exp(found)
    if by_rate:
        epsilon = float(mechanism(epsilon).attained)
    return Calibration(epsilon, share(found))


def _some_words(source: Any, documents: Any, n_words: int) -> np.ndarray:
    """Take words of documents at equal steps through their sorted frequencies."""
    reader = DocumentReader.of(source, source.embedding_)
    read = reader.read(documents)
    each = np.ones(len(read.codes))
    if reader.sample_length is not None:
        # Documents are redrawn to one length, so each document counts equally.
        lengths = np.diff(read.offsets)
        each = np.repeat(1 / np.maximum(lengths, 1), lengths)
    known = read.codes >= 0
    if not known.any():
        raise InvalidParameterError(
            "documents must hold at least one word of the embedding, got none."
        )
    upto = np.bincount(read.codes[known], each[known]).cumsum()
    ticks = (np.arange(n_words) + 0.5) / n_words * upto[-1]
    return np.minimum(upto.searchsorted(ticks, side="right"), len(upto) - 1)


def _changed(mechanism: Any, words: np.ndarray, rng: np.random.Generator) -> float:
    """Compute the share of words that change, by probabilities or by draws."""
    if not isinstance(mechanism, TableMechanism):
        drawn = draw_words(mechanism, words, 1, rng)
        noisy = np.concatenate([each[:, 0] for _, each in drawn])
        return float(np.mean(noisy != words))
    distinct, times = np.unique(words, return_counts=True)
    stay = 0.0
    for rows, proba in probabilities(mechanism, distinct):
        stay += proba[np.arange(len(proba)), distinct[rows]] @ times[rows]
    return 1 - float(stay) / len(words)


def _largest(
    share: Callable[[float], float],
    least: float,
    start: float,
    step: float,
    precision: float,
) -> float:
    """Find the largest x, the log of a strength, with a share of at least `least`.

    The search begins at `start`, and the share falls with x. The result is one of the
    ends if all shares are on the same side of `least`.
    """

    def within(x: float) -> float:
        return min(max(x, -_FARTHEST), _FARTHEST)

    here = within(start)
    holds = share(here) >= least
    step = step if holds else -step
    while (share(there := within(here + step)) >= least) == holds:
        if there == here:
            return there
        here, step = there, 2 * step
    found = brentq(lambda x: share(x) - least, *sorted((here, there)), xtol=precision)
    # The root is moved down until the share is reached: never less is changed.
    while share(found) < least:
        found -= precision
    return float(found)
