"""A statistical search for pairs of words whose privacy claim does not hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from skdptext.audit._bounds import largest_bound
from skdptext.audit._pairs import choose_pairs, claimed_exponent, nearest_pairs
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_integer,
    check_methods,
    check_real,
    check_rng,
    import_pandas,
    kind_of,
    log_ratio_bound,
    progress_bar,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd

# Pseudo-counts used when ordering words by their likelihood ratio: small ones trust
# rare words, large ones only frequent words. The draws decide which is better.
_SHRINKAGE = (0.5, 5.0, 50.0)
# We try so many sets of words per ordering, each the beginning of it. Their sizes grow
# geometrically, as a few words more matter to small sets only. Chosen, not measured.
_THRESHOLDS = 100
# We look for close pairs among at least so many words; of a larger embedding we draw
# them, since a search among all would cost more than the audit. Chosen, not measured.
_SAMPLE = 2000
# The sweep draws at least so often per word: with fewer draws, one that is released in
# clear looks like chance. Each round keeps this share of the pairs, the worst ones, and
# draws as much for these few as it did for all. Chosen, not measured.
_SWEEP_DRAWS = 20
# Each round of the sweep keeps this share of the pairs. Chosen, not measured.
_SWEEP_KEEPS = 0.1


@dataclass(eq=False, repr=False)
class WordPrivacyAudit:
    """Result of `audit_word_privacy`: one entry per pair of words.

    Attributes
    ----------
    pairs : list of (str, str)
        The pairs.
    lower_bound : ndarray of shape (n_pairs,)
        Lower bounds on the exponents of the pairs, in nats, which hold simultaneously
        with probability `confidence`.
    claimed : ndarray of shape (n_pairs,)
        Upper bounds according to the guarantee. Where they depend on the order of the
        words, both bounds are for the order with the larger excess.
    violated : ndarray of shape (n_pairs,), bool
        Where ``lower_bound > claimed``.
    refutable : ndarray of shape (n_pairs,), bool
        Where ``claimed < largest_bound``; about other pairs the audit says nothing.
    largest_bound : float
        The largest lower bound that these draws, pairs and confidence can show: the
        bound for a set S that contains all draws of one word and none of the other.
    events : list of frozenset of str
        For each pair, the set of released words that shows the lower bound.
    confidence : float
        As given.
    n_draws : int
        Draws per word.
    swept : ndarray of shape (n_pairs,), bool
        Which pairs the sweep chose, because a word may come out unchanged too often.
    unchanged : dict of str to float
        For each word of the sweep, the share of its few draws that left it unchanged.
        Empty if `pairs` were given, or if no claim could be refuted.
    """

    pairs: list[tuple[str, str]]
    lower_bound: np.ndarray
    claimed: np.ndarray
    events: list[frozenset[str]]
    _: KW_ONLY
    largest_bound: float
    confidence: float
    n_draws: int
    swept: np.ndarray
    unchanged: dict[str, float]

    @property
    def violated(self) -> np.ndarray:
        """Where the lower bound is above the claim."""
        # A claim that holds with equality must not fail because of rounding.
        return self.lower_bound > self.claimed * (1 + 1e-12)

    @property
    def refutable(self) -> np.ndarray:
        """Where the claim is below the largest bound."""
        return self.claimed * (1 + 1e-12) < self.largest_bound

    def summary(self) -> dict[str, Any]:
        """Summarise all pairs in numbers.

        Returns
        -------
        summary : dict
            ``n_pairs``, ``n_violated``, ``n_refutable``, ``n_draws``, ``confidence``;
            and for the pair with the largest excess of bound over claim:
            ``worst_pair``, ``worst_lower_bound``, ``worst_claimed``.
        """
        worst = int(np.argmax(self.lower_bound - self.claimed))
        return {
            "n_pairs": len(self.pairs),
            "n_violated": int(self.violated.sum()),
            "n_refutable": int(self.refutable.sum()),
            "n_draws": self.n_draws,
            "confidence": self.confidence,
            "worst_pair": self.pairs[worst],
            "worst_lower_bound": float(self.lower_bound[worst]),
            "worst_claimed": float(self.claimed[worst]),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per pair, the largest excess of bound over claim first.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``word``, ``other``, ``lower_bound``, ``claimed``, ``violated``,
            ``refutable``.
        """
        pd = import_pandas("to_frame")
        order = np.argsort(self.claimed - self.lower_bound, kind="stable")
        return pd.DataFrame(
            {
                "word": [self.pairs[i][0] for i in order],
                "other": [self.pairs[i][1] for i in order],
                "lower_bound": self.lower_bound[order],
                "claimed": self.claimed[order],
                "violated": self.violated[order],
                "refutable": self.refutable[order],
            }
        )

    def __repr__(self) -> str:
        return (
            f"WordPrivacyAudit(n_pairs={len(self.pairs)}, "
            f"n_violated={int(self.violated.sum())}, n_draws={self.n_draws}, "
            f"confidence={self.confidence:g})"
        )

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        facts = self.summary()
        head = (
            f"{facts['n_violated']} of {facts['n_pairs']} pairs violate the claim "
            f"({self.n_draws} draws per word, confidence {self.confidence:g})."
        )
        if not facts["n_violated"]:
            return (
                f"{head} No violation was found; that does not prove privacy. These "
                f"draws could have refuted the claims of {facts['n_refutable']} of the "
                f"{facts['n_pairs']} pairs, those below {self.largest_bound:.3g}."
            )
        word, other = facts["worst_pair"]
        return (
            f"{head} Worst: {word!r} / {other!r}, odds change by a factor of at least "
            f"exp({facts['worst_lower_bound']:.3g}) = "
            f"{math.exp(facts['worst_lower_bound']):.3g}, where at most "
            f"exp({facts['worst_claimed']:.3g}) is claimed."
        )


def audit_word_privacy(
    perturber: Any,
    pairs: Iterable[tuple[str, str]] | int | None = None,
    *,
    n_draws: int = 20_000,
    confidence: float = 0.99,
    n_swept: int = 2000,
    random_state: Any = None,
    verbose: int = 0,
) -> WordPrivacyAudit:
    """Test a perturber's claim of privacy between words, from its output alone.

    For each pair (w, w'), the audit looks for a set S of released words that is likely
    for one word and unlikely for the other [1]_. The exponent of the pair is then at
    least log(Pr[S | w] / Pr[S | w']). This value is bounded from below with the stated
    confidence. A bound above the claim is a violation: the guarantee is false.

    Parameters
    ----------
    perturber : object
        A fitted `DPWordPerturber`, or a wrapper around any other implementation. It
        needs ``perturb_words(words, n_draws)``, which returns an array of shape
        (n_words, n_draws) of independently drawn released words, and ``guarantee()``,
        whose result has ``exponent(word, other)``.
    pairs : iterable of (str, str) or int >= 1, default=None
        Pairs of different words to test, each in both directions; or how many pairs to
        choose where violations show first, which needs ``guarantee().embedding``. None
        chooses 10.
    n_draws : int >= 100, default=20000
        Draws per word. It takes 10⁵ or more to find an excess of a few per cent.
        Exponents above `largest_bound` cannot be refuted: 7.1 by default, and about
        log(n_draws) − 2.8 for 10 pairs at this confidence.
    confidence : float in [0.5, 1), default=0.99
        Probability that *no* true claim is called violated, over all pairs.
    n_swept : int >= 0, default=2000
        If pairs are chosen: the number of pairs of nearest words, those with the
        smallest claims, to sweep for words that come out unchanged too often. 0: none.
    random_state : None, int or numpy.random.Generator, default=None
        For the choice of the pairs and of the draws that choose S. The noise is the
        perturber's own.
    verbose : int, default=0
        Above 0, show a progress bar that counts draws, on a terminal or in a notebook;
        above 1, anywhere.

    Returns
    -------
    audit : WordPrivacyAudit
        Arrays ``lower_bound``, ``claimed`` and ``violated``, one entry per pair.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or `perturber` lacks a method, returns an array of
        another shape, or claims an exponent that is neither a number >= 0 nor inf.

    Warns
    -----
    UserWarning
        Before anything is drawn, if no claim is small enough for these draws to refute.
        The message suggests an ε, or a number of draws, with which one could be.

    See Also
    --------
    audit_noise_law : Tests the noise itself, where it is accessible; much sharper.

    Notes
    -----
    *Privacy.* An audit can show a violation; it never proves privacy. Pairs that were
    not tested, sets S that were not tried and excesses too small for the draws remain
    unknown. The input is public, so the result may be published.

    *Method.* A quarter of the draws orders the released words by their likelihood
    ratio. Another quarter picks the threshold, and so S, with the best bound. The other
    half, which S does not depend on, gives the Clopper–Pearson limits [2]_: a lower one
    for Pr[S | w] and an upper one for Pr[S | w']. Each of the two limits, in each of
    the two directions of each of n pairs, has an error rate of (1 − confidence)/(4 n),
    so that all hold together, however they depend on each other.

    *Pairs.* Half are the nearest neighbours with the smallest claims. A quarter are
    nearest neighbours of words in sparser regions, with claims up to what the draws can
    refute. Of the remaining pairs, half are found by the sweep and half are random.

    *Sweep.* A single word released in the clear goes unnoticed unless it is in a tested
    pair. So pairs of nearest words (w, w') with claims that can be refuted are drawn a
    few times each, at least 20, and compared by how often w comes out of w and of w': a
    true claim t implies Pr[w | w] ≤ e^t Pr[w | w']. The tenth with the largest excess
    is drawn again, ten times as often, until few are left. These draws only choose the
    pairs, which are then tested on new draws like all others, so that the confidence
    stands.

    *Seeds.* The draws for the test come from a single call of ``perturb_words``, and
    the draws for the sweep from earlier calls. A perturber with an integer seed gives
    the same draws in every audit, so that a second audit adds nothing. Draws that are
    used twice are not detected here, and may make the test depend on the sweep.

    References
    ----------
    .. [1] Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer (2018). Detecting violations
       of differential privacy. CCS 2018.
    .. [2] C. J. Clopper, E. S. Pearson (1934). The use of confidence or fiducial
       limits illustrated in the case of the binomial. Biometrika 26.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_word_privacy
    >>> embedding = WordEmbedding(list("abcd"), [[-2.0], [0.0], [0.5], [3.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1.0, document_length=1,
    ...     random_state=0)
    >>> audit = audit_word_privacy(perturber.fit([]), [("b", "c")], random_state=0)
    >>> audit.claimed.round(2), audit.violated
    (array([0.4]), array([False]))
    """
    methods = "perturb_words", "guarantee"
    check_methods(perturber, methods, "perturber must have perturb_words and guarantee")
    n_draws = check_integer("n_draws", n_draws, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    rng = check_rng(random_state)
    n_swept = check_integer("n_swept", n_swept, low=0)
    check_integer("verbose", verbose, low=0)
    guarantee = perturber.guarantee()
    suspects: list[tuple[str, str]] = []
    unchanged: dict[str, float] = {}
    bar = progress_bar(verbose, "audit", unit="draw")
    if pairs is None or isinstance(pairs, Integral):
        n_pairs = check_integer("pairs", 10 if pairs is None else pairs, low=1)
        ceiling = math.log(n_draws / 20)
        close = nearest_pairs(guarantee, max(n_swept, _SAMPLE), rng)
        swept = [(claim, pair) for claim, pair in close if claim <= ceiling][:n_swept]
        # the larger half of the pairs left over by close pairs and sparser regions
        n_suspects = (n_pairs - -(-n_pairs // 2) - n_pairs // 4 + 1) // 2
        if swept and n_suspects:
            suspects, unchanged = _sweep(perturber, swept, n_suspects, n_draws, bar)
        chosen = choose_pairs(
            guarantee, n_pairs, rng, close=close, suspects=suspects, ceiling=ceiling
        )
    else:
        chosen = _check_pairs(pairs)
    both = [
        (claimed_exponent(guarantee, w, v), claimed_exponent(guarantee, v, w))
        for w, v in chosen
    ]
    # S = everything shows 0 without any draw
    bounds, claimed, events = np.zeros(len(chosen)), np.min(both, axis=1), []
    level = (1 - confidence) / (4 * len(chosen))
    n_test = n_draws - n_draws // 2
    most = largest_bound(n_test, level)
    if claimed.min() >= most:
        _warn_of_futility(guarantee, claimed, most, level, n_draws)
    words = list(dict.fromkeys(word for pair in chosen for word in pair))
    with bar:
        codes, names = _draw(perturber, words, n_draws, bar)
    row = {word: i for i, word in enumerate(words)}
    # draws that order words, draws that pick the event, and draws that test it
    parts = np.split(rng.permutation(n_draws), [n_draws // 4, n_draws // 2])
    counts = [
        np.stack([np.bincount(c[part], minlength=len(names)) for c in codes])
        for part in parts
    ]
    number = {name: i for i, name in enumerate(names)}
    for i, pair in enumerate(chosen):
        event: np.ndarray = np.empty(0, dtype=int)
        singles = [number[word] for word in pair if word in number]
        a, b = row[pair[0]], row[pair[1]]
        for (w, v), claim in zip(((a, b), (b, a)), both[i], strict=True):
            order, select, test = (np.stack([c[w], c[v]]) for c in counts)
            picked = _best_event(order, select, level, singles)
            bound = log_ratio_bound(test[:, picked].sum(axis=1), test.sum(1), level)
            same = claim == claimed[i]  # both may be inf
            if bound > bounds[i] if same else bound - claim > bounds[i] - claimed[i]:
                bounds[i], claimed[i], event = bound, claim, picked
        events.append(frozenset(names[j] for j in event))
    return WordPrivacyAudit(
        chosen,
        bounds,
        claimed,
        events,
        largest_bound=most,
        confidence=confidence,
        n_draws=n_draws,
        swept=np.array([pair in suspects for pair in chosen]),
        unchanged=unchanged,
    )


def _sweep(
    perturber: Any,
    pairs: list[tuple[float, tuple[str, str]]],
    n_suspects: int,
    n_draws: int,
    bar: Any,
) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """Pairs with a word that is unchanged too often, and all unchanged shares.

    Each round draws for the pairs left by the previous one, about `n_draws` in all.
    """
    unchanged: dict[str, float] = {}
    while True:
        words = list(dict.fromkeys(word for _, pair in pairs for word in pair))
        n = min(max(n_draws // len(words), _SWEEP_DRAWS), n_draws)
        noisy = _noisy_words(perturber, words, n, bar)
        draws = dict(zip(words, noisy, strict=True))
        same = {word: int((row == word).sum()) for word, row in draws.items()}
        unchanged = unchanged or {word: same[word] / n for word in words}
        excess = [
            max(
                math.log((same[w] + 0.5) / ((draws[v] == w).sum() + 0.5))
                for w, v in (pair, pair[::-1])
            )
            - claim
            for claim, pair in pairs
        ]
        n_worst = max(n_suspects, int(_SWEEP_KEEPS * len(pairs)))
        worst = np.argsort(-np.array(excess), kind="stable")[:n_worst]
        pairs = [pairs[i] for i in worst]
        if n_worst == n_suspects:
            return [pair for _, pair in pairs], unchanged


def _warn_of_futility(
    guarantee: Any, claimed: np.ndarray, most: float, level: float, n_draws: int
) -> None:
    """Warn before drawing that the draws cannot refute anything, and say what could."""
    least = float(claimed.min())
    advice = " Pass pairs of closer words"
    epsilon = getattr(guarantee, "epsilon", None)
    if math.isinf(least):
        advice = " Nothing is promised for these pairs: pass other pairs"
    elif epsilon is not None:
        # Half of the largest bound leaves room for faults that are not blatant.
        advice += f", audit at epsilon={epsilon * most / (2 * least):.1g} or less"
    needed = -6 * math.exp(min(least, 99.0)) * math.log(level)  # bound: claim + log 3
    if needed < 1e7:
        advice += f", or draw n_draws={float(f'{needed:.1e}'):.0f} or more"
    warnings.warn(
        "This audit cannot find a violation: the smallest of the "
        f"{len(claimed)} claims is {least:.3g}, and n_draws={n_draws} can only refute "
        f"claims below {most:.3g}."
        f"{advice}.",
        stacklevel=3,
    )


def _check_pairs(pairs: Any) -> list[tuple[str, str]]:
    chosen = [
        tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else ()
        for pair in (pairs if isinstance(pairs, Iterable) else [None])
    ]
    if not chosen or not all(
        len(pair) == 2 and all(isinstance(word, str) for word in pair)
        for pair in chosen
    ):
        raise InvalidParameterError(
            "pairs must be a non-empty iterable of pairs of words, got "
            f"{kind_of(pairs)}."
        )
    for i, pair in enumerate(chosen):
        if pair[0] == pair[1]:  # whose exponent is 0 for any noise
            raise InvalidParameterError(
                f"pairs must hold two different words each, got one twice in pair {i}."
            )
    return [(str(pair[0]), str(pair[1])) for pair in chosen]


def _draw(
    perturber: Any, words: list[str], n_draws: int, bar: Any
) -> tuple[np.ndarray, list[str]]:
    """Draws as codes, shape (n_words, n_draws), and the words they stand for."""
    draws = _noisy_words(perturber, words, n_draws, bar)
    released = draws.ravel().tolist()
    numbers = {word: i for i, word in enumerate(dict.fromkeys(released))}
    codes = np.fromiter(map(numbers.__getitem__, released), np.intp, len(released))
    return codes.reshape(draws.shape), list(numbers)


def _noisy_words(
    perturber: Any, words: list[str], n_draws: int, bar: Any
) -> np.ndarray:
    """Draws of a perturber, checked."""
    draws = np.asarray(perturber.perturb_words(words, n_draws), dtype=object)
    if draws.shape != (len(words), n_draws):
        raise InvalidParameterError(
            "perturber.perturb_words must return an array of shape (n_words, n_draws) "
            f"= ({len(words)}, {n_draws}), got shape {draws.shape}."
        )
    bar.update(draws.size)
    return draws


def _best_event(
    order: np.ndarray, select: np.ndarray, level: float, singles: list[int]
) -> np.ndarray:
    """The set of words whose draws in `select` show the largest ratio.

    The candidates are the words above a threshold of the likelihood ratio in `order`;
    each of the single words given; and all words but one of these. The single words
    matter because faulty code that uses the true word again treats it, or its
    neighbour, unlike the rest.
    """
    everything = np.arange(order.shape[1])
    candidates: list[np.ndarray] = [np.array([word]) for word in singles]
    candidates += [np.delete(everything, word) for word in singles]
    totals = [select[:, event].sum(axis=1) for event in candidates]
    seen = np.flatnonzero(order.any(axis=0))
    sizes = np.unique(np.geomspace(1, len(seen), _THRESHOLDS).astype(int))
    for shrinkage in _SHRINKAGE:
        ratio = (order[0, seen] + shrinkage) / (order[1, seen] + shrinkage)
        ranked = seen[np.argsort(-ratio, kind="stable")]
        candidates += [ranked[:size] for size in sizes]
        totals += list(select[:, ranked].cumsum(axis=1)[:, sizes - 1].T)
    bounds = log_ratio_bound(np.array(totals).T, select.sum(axis=1), level)
    return candidates[int(np.argmax(bounds))]
