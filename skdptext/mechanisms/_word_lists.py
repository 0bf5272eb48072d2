"""Geometric steps along lists of words."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._channel import Draws, Law, WordMechanism
from skdptext.mechanisms._finite import FiniteChannel
from skdptext.mechanisms._greedy import greedy_path
from skdptext.utils import check_integer, check_option, kind_of


class WordListsChannel(FiniteChannel):
    """`WordLists` for one embedding.

    Attributes
    ----------
    lists : ndarray of int, shape (n_lists, n_words)
        The words in the order of each list.
    places : ndarray of int, shape (n_lists, n_words)
        The place of each word in each list.
    """

    mechanism: WordLists

    def _setup(self) -> None:
        n_lists = check_integer("n_lists", self.mechanism.n_lists, low=1)
        order, n_words = self.mechanism.order, len(self.embedding)
        if not isinstance(order, str):
            self.lists = _given(order, n_lists, n_words)
        elif check_option("order", order, ["greedy", "random"]) == "random":
            self.lists = np.array(
                [np.random.default_rng(i).permutation(n_words) for i in range(n_lists)]
            )
        else:
            starts = [i * n_words // n_lists for i in range(n_lists)]
            paths = [greedy_path(self.embedding, start) for start in starts]
            self.lists = np.array(paths)

    @cached_property
    def places(self) -> np.ndarray:
        """The place of each word in each list, shape (n_lists, n_words)."""
        return np.argsort(self.lists, axis=1)

    def __getstate__(self) -> dict[str, Any]:
        # small; the places follow from the lists
        small = self.lists.astype(np.min_scalar_type(len(self.embedding) - 1))
        return {k: v for k, v in vars(self).items() if k != "places"} | {"lists": small}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"lists": state["lists"].astype(np.intp)})

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """The number of a list, and a two-sided geometric number of places."""
        number = rng.integers(len(self.lists), size=n)
        # With q = e^−ε: j >= 0 steps up or j >= 1 steps down, each with probability
        # (1 − q)/(1 + q) q^j. All those down together have q/(1 + q), and in either
        # direction the further steps are geometric.
        down = rng.random(n) < expit(-self.epsilon)
        steps = rng.geometric(-math.expm1(-self.epsilon), n) - 1
        steps = np.minimum(steps, len(self.embedding))  # the list is not longer
        return number, np.where(down, -1 - steps, steps)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words at the places to which the steps lead."""
        number, steps = draws
        ends = self.places[number, words] + steps
        return self.lists[number, np.clip(ends, 0, len(self.embedding) - 1)]

    def law(self) -> Law:
        """The probabilities, and which distance the exponents are based on."""
        n = len(self.lists)
        said = (
            "The exponent is at most ε times the largest number of places between the "
            f"two words in {n} public lists, not the mean; every list holds all words."
        )
        if n == 1:
            said = (
                "The exponent is ε times the number of places between the two words in "
                "a public list."
            )
        # each step's probability is off by a few 2⁻⁵²
        delta = 2.0**-44 + len(self.embedding) * 2.0**-50
        return Law(log_proba=self.log_proba, numerical_delta=delta, sentences=(said,))

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        logs = np.full((len(words), len(self.embedding)), -np.inf)
        for places in self.places:
            steps = np.abs(places[words][:, None] - places)
            # Steps beyond an end stop there: Σ_{j >= s} q^j (1 − q)/(1 + q) is
            # q^s/(1 + q), which lacks the factor 1 − q.
            at_end = (places == 0) | (places == len(places) - 1)
            inner = np.where(at_end, 0.0, math.log(-math.expm1(-self.epsilon)))
            inner -= math.log1p(math.exp(-self.epsilon))
            np.logaddexp(logs, inner - self.epsilon * steps, out=logs)
        if len(self.embedding) == 1:
            return np.zeros_like(logs)
        return logs - math.log(len(self.lists))

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        r"""Exact exponents; with one list ε \|i − i'\|; shape (len(x), len(y))."""
        apart = self.places[:, x][:, :, None] - self.places[:, y][:, None]
        exponents = self.epsilon * np.abs(apart).max(axis=0)
        return (
            exponents
            if len(self.lists) == 1
            else np.minimum(exponents, super().exponents(x, y))
        )


class WordLists(WordMechanism):
    r"""Move each word some steps along a list: the mechanism of 1-Diffractor.

    All words stand in a list, at places i = 0, …, V − 1. A word walks k places up or
    down,

    .. math::

        \Pr[k] = \frac{1 - e^{-ε}}{1 + e^{-ε}}\, e^{-ε|k|} .

    A word that would leave the list stops at its end. With several lists, one of them
    is drawn first, anew for every word.

    Parameters
    ----------
    n_lists : int >= 1, default=1
        Number of lists. With more than one, near words are far apart in some list, and
        the guarantee covers the worst list.
    order : {"greedy", "random"} or array-like of int, default="greedy"
        How the lists are made. "greedy": each word is followed by the nearest word, in
        Euclidean distance, that is not in the list yet; the l-th list begins at the
        word at place ``l * n_words // n_lists`` of the embedding. "random": fixed
        permutations, a baseline. An array of shape (n_words,) or (n_lists, n_words):
        every row a permutation of the word ids, which must be public.

    See Also
    --------
    WordClasses : Words stay in classes of near words.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(ε max_l \|i_l − i'_l\|) Pr[z | w'], where i_l and i'_l
    are the places of w and w' in list l: ε is per place. The largest distance over the
    lists counts, not the mean. With one list this is the exact exponent. With several,
    the exponents are computed from the exact probabilities, and lie below.

    *λ* has no effect; nor, once the lists are made, do the vectors.

    *Cost.* A few numbers per word of a release, whatever the embedding. A greedy list
    is made when the mechanism is prepared, and is kept for the process.

    References
    ----------
    S. Meisenbacher, M. Chevli, F. Matthes (2024). 1-Diffractor: efficient and
    utility-preserving text obfuscation leveraging word-level metric differential
    privacy. IWSPA 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import WordLists
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [5.0], [1.0], [2.0]])
    >>> channel = WordLists().prepare(embedding, epsilon=1.5, lam=0.0)
    >>> [embedding.words[i] for i in channel.lists[0]]
    ['a', 'c', 'd', 'b']
    >>> channel.exponents(np.array([0]), np.arange(4))
    array([[0. , 4.5, 1.5, 3. ]])
    """

    channel_class = WordListsChannel

    def __init__(self, n_lists: int = 1, *, order: Any = "greedy") -> None:
        self.n_lists = n_lists
        self.order = order


def _given(order: Any, n_lists: int, n_words: int) -> np.ndarray:
    """The given lists, if each of them holds every word once."""
    rule = (
        "order must be 'greedy', 'random' or an array of shape (n_words,) or (n_lists, "
        "n_words) whose rows are permutations of the word ids"
    )
    try:
        lists = np.atleast_2d(np.asarray(order))
    except (TypeError, ValueError):
        lists = np.empty(0)
    if lists.dtype.kind not in "iu" or lists.shape != (n_lists, n_words):
        raise InvalidParameterError(
            f"{rule}, got {kind_of(order)} for n_lists={n_lists} of {n_words} words."
        )
    if (np.sort(lists, axis=1) != np.arange(n_words)).any():
        raise InvalidParameterError(f"{rule}, got a row that is not a permutation.")
    return lists.astype(np.intp)
