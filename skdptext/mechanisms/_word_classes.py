"""The exponential mechanism inside classes of words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._channel import Draws, Law, WordMechanism
from skdptext.mechanisms._finite import FiniteChannel, InvertedChannel, inversion_delta
from skdptext.mechanisms._greedy import greedy_classes
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.utils import blocks, check_integer, kind_of, rounded_up

# Most words in one class: all its pairs are held in memory together.
_MAX_CLASS = 2048


class WordClassesChannel(FiniteChannel):
    """`WordClasses` for one embedding.

    Attributes
    ----------
    labels : ndarray of int, shape (n_words,)
        The class of each word.
    rates : ndarray of shape (n_classes,)
        The rate of each class; 0 where all its vectors are equal.
    """

    mechanism: WordClasses

    def _setup(self) -> None:
        classes, embedding = self.mechanism.classes, self.embedding
        if isinstance(classes, Integral):
            size = check_integer("classes", classes, low=1, high=_MAX_CLASS)
            self.labels = greedy_classes(embedding, size)
        else:
            self.labels = _given(classes, len(embedding))
        self._metric = None
        if self.lam > 0:
            self._metric = MahalanobisMetric(self.lam, embedding_spectrum(embedding))
        fits = [_fit(self._distances(of, of), self.epsilon) for of in self._members]
        self.rates = np.array([rate for rate, _ in fits])
        # ln C_w of the members of a class, by its label
        self._log_normalizers = dict(enumerate(logs for _, logs in fits))

    @cached_property
    def _members(self) -> list[np.ndarray]:
        """The words of each class, ascending."""
        grouped = np.argsort(self.labels, kind="stable")
        return np.split(grouped, np.cumsum(np.bincount(self.labels))[:-1])

    def __getstate__(self) -> dict[str, Any]:
        # small; a release needs no normalisers, and a class has them when asked
        small = self.labels.astype(np.min_scalar_type(len(self.rates) - 1))
        left_out = ("_members", "_log_normalizers")
        state = {k: v for k, v in vars(self).items() if k not in left_out}
        return state | {"labels": small}

    def __setstate__(self, state: dict[str, Any]) -> None:
        labels = state["labels"].astype(np.intp)
        vars(self).update(state | {"labels": labels, "_log_normalizers": {}})

    def _logs(self, label: int, words: np.ndarray) -> np.ndarray:
        """ln C_w of words of a class."""
        members, known = self._members[label], self._log_normalizers
        if label not in known:
            distances = self._distances(members, members)
            known[label] = _log_normalizers(distances, self.rates[label])
        return known[label][np.searchsorted(members, words)]

    def _distances(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        vectors = self.embedding.vectors
        distances = cdist if self._metric is None else self._metric.distances
        return distances(vectors[x], vectors[y])

    def _by_class(
        self, words: np.ndarray, at_once: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Classes, and the places of their words among `words`, a few at a time."""
        labels = self.labels[words]
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        parts = np.split(order, starts[1:]) if len(present) else []
        for label, at in zip(present.tolist(), parts, strict=True):
            for block in blocks(len(at), at_once):
                yield label, at[block]

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words at which the cumulative probabilities pass the uniforms."""
        noisy = np.empty(len(words), dtype=np.intp)
        for label, at in self._by_class(words, 256):
            members = self._members[label]
            distinct, of = np.unique(words[at], return_inverse=True)
            upto = np.exp(-self.rates[label] * self._distances(distinct, members))
            np.cumsum(upto, axis=1, out=upto)
            # so that no product with a sum rounds up to the sum
            below = draws[0][at] * (1 - 2.0**-53) * upto[of, -1]
            noisy[at] = members[(upto[of] <= below[:, None]).sum(axis=1)]
        return noisy

    draw = InvertedChannel.draw

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        proba = np.full((len(words), len(self.embedding)), -np.inf)
        for label, at in self._by_class(words, len(words)):
            members = self._members[label]
            logs = -self.rates[label] * self._distances(words[at], members)
            logs -= self._logs(label, words[at])[:, None]
            proba[np.ix_(at, members)] = logs
        return proba

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Exact inside classes, inf across them; shape (len(x), len(y))."""
        exponents = np.full((len(x), len(y)), np.inf)
        for label, rows in self._by_class(x, len(x)):
            columns = np.flatnonzero(self.labels[y] == label)
            t = self.rates[label] * self._distances(x[rows], y[columns])
            t += self._logs(label, y[columns])
            t -= self._logs(label, x[rows])[:, None]
            # more than ε is rounding, too: the rate proves ε
            exponents[np.ix_(rows, columns)] = np.clip(t, 0, self.epsilon)
        return exponents

    def law(self) -> Law:
        """The probabilities, and that classes are released."""
        return Law(
            log_proba=self.log_proba,
            numerical_delta=inversion_delta(len(self.embedding)),
            sentences=self._sentences,
        )

    def _sentences(self) -> list[str]:
        sizes = np.bincount(self.labels)
        bits = np.log2(len(self.labels)) - sizes @ np.log2(sizes) / sizes.sum()
        return [
            f"The class of every word, and so about {bits:.1f} bits (of the "
            f"{np.log2(len(self.labels)):.1f} that tell a word from all others), is "
            f"released. There are {len(sizes)} classes, and nothing is promised "
            "between words of different classes. Inside a class the exponent is at "
            f"most ε = {rounded_up(self.epsilon)}."
        ]


class WordClasses(WordMechanism):
    r"""Replace each word by one of its class: CusText, with fixed and public classes.

    The words are split into classes. A word w of class G becomes a word z of G, with
    probability

    .. math::

        \Pr[z \mid w] = \frac{e^{-a_G\, d(w, z)}}{\sum_{v \in G} e^{-a_G\, d(w, v)}} ,

    where d is the metric that λ selects, and :math:`a_G` is the largest rate found for
    which the privacy loss between any two words of G is at most ε.

    Parameters
    ----------
    classes : int >= 1 or array-like of shape (n_words,), default=20
        An int: the number of words in a class. The first word of the embedding without
        a class forms one with the nearest other words without a class, until all words
        have one; the last class may be smaller. An array (a list, tuple or ndarray):
        the label of each word's class, an int or a str; it must be public. A class
        holds at most 2,048 words.

    See Also
    --------
    Exponential : Among all words.

    Notes
    -----
    *Privacy.* Inside a class: pure ε-local differential privacy, with exact exponents.
    Across classes: none. The class of every word is released, which gives away about
    log2(n_words / classes) bits of the word. Never report ε without saying so.

    *λ* selects the metric inside the classes. The classes are made with the Euclidean
    one.

    *Time* tells on how many different words there are: each is looked up once in a
    call, as by `Exponential`. Nothing here hides it.

    The paper [1]_ scales the scores of each word to [0, 1], and halves the rate in
    return. Here scores are distances, with the largest rate that ε allows.

    References
    ----------
    .. [1] S. Chen, F. Mo, Y. Wang, C. Chen, J.-Y. Nie, C. Wang, J. Cui (2023). A
       customized text sanitization mechanism with differential privacy. Findings of
       ACL 2023. This is its "conservative" mapping; the "aggressive" one has no
       guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import WordClasses
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [9.0], [1.0], [8.0]])
    >>> channel = WordClasses(2).prepare(embedding, epsilon=2.0, lam=0.0)
    >>> channel.labels
    array([0, 1, 0, 1])
    >>> print(np.exp(channel.log_proba(np.array([0]))).round(3))
    [[0.881 0.    0.119 0.   ]]
    >>> channel.exponents(np.array([0]), np.arange(4))
    array([[ 0., inf,  2., inf]])
    """

    channel_class = WordClassesChannel

    def __init__(self, classes: Any = 20) -> None:
        self.classes = classes


def _fit(distances: np.ndarray, epsilon: float) -> tuple[float, np.ndarray]:
    """The rate at which the largest loss in a class is ε, and ln C_w.

    It lies between ε over twice the largest distance, where the loss cannot be larger,
    and ε over that distance, where it cannot be smaller: the losses of a pair in both
    directions add up to 2 a d.
    """

    def excess(rate: float) -> float:
        of = _log_normalizers(distances, rate)
        return float((rate * distances + of - of[:, None]).max()) - epsilon * (
            1 - 1e-12
        )

    widest = distances.max()
    if widest == 0:
        return 0.0, _log_normalizers(distances, 0.0)
    low, high = epsilon / (2 * widest), epsilon / widest
    if excess(high) <= 0:  # as for two words, but for rounding
        rate = high
    elif excess(low) >= 0:  # rounding alone, at a tiny ε
        rate = low
    else:
        rate = float(brentq(excess, low, high, xtol=1e-14 * high))
    return rate, _log_normalizers(distances, rate)


def _log_normalizers(distances: np.ndarray, rate: float) -> np.ndarray:
    # no sum is below 1, as a word is 0 from itself: no underflow
    return np.log(np.exp(-rate * distances).sum(axis=1))


def _given(classes: Any, n_words: int) -> np.ndarray:
    """The class number of each word, from its label."""
    rule = (
        "classes must be an integer >= 1 or an array (a list, tuple or ndarray) of "
        "shape (n_words,) of labels, each an int or a str"
    )
    kinds = isinstance(classes, list | tuple | np.ndarray)
    single = not kinds or not np.iterable(classes)
    labels = [] if single else list(classes)
    wrong = [
        v for v in labels if isinstance(v, bool) or not isinstance(v, str | Integral)
    ]
    if single or wrong:
        raise InvalidParameterError(
            f"{rule}, got {kind_of(wrong[0] if wrong else classes)}."
        )
    if len(labels) != n_words:
        raise InvalidParameterError(f"{rule}, got {len(labels)} for {n_words} words.")
    seen: dict[Any, int] = {}
    numbers = np.array([seen.setdefault(label, len(seen)) for label in labels])
    largest = int(np.bincount(numbers).max())
    if largest > _MAX_CLASS:
        raise InvalidParameterError(
            f"classes must hold at most {_MAX_CLASS} words each, got one of {largest}. "
            "Exponential takes all words as one class."
        )
    return numbers
