"""Audit the privacy claims between pairs of words."""

import math
import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.audit._documents import (
    ReleaseAudit,
    both_claims,
    closest_bound,
    learned_scores,
)
from skdptext.embeddings import WordEmbedding, k_nearest_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_kind, check_real, check_rng, kind_of

# Close pairs are sought among at most so many words of the embedding: a search among
# all words would cost more than the audit. Chosen, not measured.
_SAMPLE = 2000
# The sweep draws at least so often per word. With fewer draws, a word that is released
# unchanged looks like chance. Each round keeps this share of the pairs, the worst ones,
# and spends as many draws on them as on all pairs before. Chosen, not measured.
_SWEEP_DRAWS, _SWEEP_KEEPS = 20, 0.1

Claimed = tuple[float, tuple[str, str]]
Draw = Callable[[list[str], int], dict[str, np.ndarray]]


def audit_word_privacy(
    releaser: Any,
    pairs: Iterable[tuple[str, str]] | int | None = None,
    *,
    n_draws: int = 20_000,
    confidence: float = 0.99,
    random_state: Any = None,
) -> ReleaseAudit:
    """Test a releaser's claim of privacy between words, from its output alone.

    For each pair (w, w'), the audit looks for a set S of released words that is likely
    for one word and unlikely for the other [1]_. The exponent of the pair is then at
    least log(Pr[S | w] / Pr[S | w']). This value is bounded from below with the stated
    confidence. A bound above the claim is a violation: the guarantee is false.

    Parameters
    ----------
    releaser : object
        A fitted `DPWordPerturber`, or a wrapper around any other implementation. It
        needs ``perturb_words(words, n_draws)``, which returns an array of shape
        (n_words, n_draws) of independently drawn released words, and ``guarantee()``,
        whose result has ``exponent(word, other)``.
    pairs : iterable of (str, str) or int >= 1, default=None
        Pairs of different words to test, each in both directions. An int is the number
        of pairs to choose among those that reveal violations first, which needs
        ``guarantee().embedding``. None chooses 10.
    n_draws : int >= 100, default=20000
        Draws per word. It takes 10⁵ or more to find an excess of a few percent.
        Exponents above `largest_bound` cannot be refuted: 7.4 by default, and about
        ln(n_draws) − 2.5 for 10 pairs at this confidence.
    confidence : float in [0.5, 1), default=0.99
        Probability that *no* true claim is called violated, over all pairs.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the choice of pairs. The releaser draws its own noise.

    Returns
    -------
    audit : ReleaseAudit
        Arrays ``lower_bound``, ``claimed`` and ``violated``, one entry per pair.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or `releaser` lacks a method, returns an array of
        another shape, or claims an exponent that is neither a number >= 0 nor inf.

    Warns
    -----
    UserWarning
        If no claim is small enough for these draws to refute.

    See Also
    --------
    audit_noise_law : Tests the noise itself if it is accessible, with more power.
    audit_document_pair : Tests releases of whole documents.

    Notes
    -----
    *Privacy.* An audit can show a violation; it never proves privacy. Pairs that were
    not tested, sets S that were not tried and excesses too small for the draws remain
    unknown. The input is public, so the result may be published.

    *Method.* A pair of words is a pair of documents of one word. An eighth of the draws
    orders the released words by their likelihood ratio. A quarter of the others picks a
    threshold, or a single word, which defines the set S with the best bound. The rest,
    two thirds of all draws, on which S does not depend, gives the Clopper–Pearson
    limits [2]_: a lower one for Pr[S | w] and an upper one for Pr[S | w']. Each of the
    two limits, in each of the two directions of each of n pairs, has an error rate of
    (1 − confidence)/(4 n). All limits therefore hold together, even if they depend on
    each other.

    *Pairs.* Half have the smallest claims among nearest neighbors and random pairs. A
    quarter have claims up to the largest that the draws can refute. The sweep finds the
    others.

    *Sweep.* A single word released unchanged goes unnoticed unless it is in a tested
    pair. So pairs (w, w') with claims that can be refuted are drawn a few times each,
    at least 20, and compared by how often w comes out of w and of w': a true claim t
    implies Pr[w | w] ≤ e^t Pr[w | w']. The tenth with the largest excess is drawn
    again, ten times as often, until few are left. These draws only choose the pairs,
    which are then tested on new draws like all others, and the confidence holds.

    *Seeds.* The draws for the test come from a single call of ``perturb_words``, and
    the draws for the sweep from earlier calls. A perturber with an integer seed gives
    the same draws in every audit, so a second audit adds nothing. Reused draws are not
    detected here, and may make the test depend on the sweep.

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
    check_kind(releaser, methods, "releaser must have perturb_words and guarantee")
    n_draws = check_integer("n_draws", n_draws, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    rng = check_rng(random_state)
    guarantee = releaser.guarantee()

    def draw(words: list[str], n: int) -> dict[str, np.ndarray]:
        noisy = np.asarray(releaser.perturb_words(words, n), dtype=object)
        if noisy.shape != (len(words), n):
            raise InvalidParameterError(
                "perturb_words of the releaser must return an array of shape (n_words, "
                f"n_draws) = ({len(words)}, {n}), got shape {noisy.shape}."
            )
        return dict(zip(words, noisy, strict=True))

    if pairs is None or isinstance(pairs, Integral):
        n_pairs = check_integer("pairs", 10 if pairs is None else pairs, low=1)
        chosen = _choose_pairs(guarantee, n_pairs, n_draws, draw, rng)
    else:
        chosen = _check_pairs(pairs)
    draws = draw(_words_of(chosen), n_draws)
    each = 1 - (1 - confidence) / len(chosen)
    found = []
    for pair in chosen:
        scores = learned_scores(_one_word_documents(*(draws[word] for word in pair)))
        found.append(closest_bound(scores, both_claims(guarantee, *pair), each))
    bounds, claimed, (most, *_) = np.array(found).T
    if claimed.min() >= most:
        warnings.warn(
            f"n_draws={n_draws} can only refute claims below {most:.3g}, but the "
            f"smallest claim is {claimed.min():.3g}: this audit could not find a "
            "violation.",
            stacklevel=2,
        )
    return ReleaseAudit(chosen, bounds, claimed, float(most), confidence)


def _one_word_documents(*draws: np.ndarray) -> sp.csr_array:
    """Count the tokens of documents of one word: a 1 in each row."""
    columns = np.unique(np.concatenate(draws).astype(str), return_inverse=True)[1]
    return sp.csr_array((np.ones(len(columns)), columns, np.arange(len(columns) + 1)))


def _words_of(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(word for pair in pairs for word in pair))


def _choose_pairs(
    guarantee: Any, n_pairs: int, n_draws: int, draw: Draw, rng: np.random.Generator
) -> list[tuple[str, str]]:
    """Choose pairs that reveal false claims first; fewer if the embedding is small.

    Half are the closest, a quarter have claims up to the largest that the draws can
    refute, and the sweep finds the others. If one kind has too few pairs, others fill
    the list.
    """
    embedding = getattr(guarantee, "embedding", None)
    if not isinstance(embedding, WordEmbedding) or len(embedding) < 2:
        raise InvalidParameterError(
            "pairs must be given where guarantee().embedding is not a WordEmbedding of "
            f"2 or more words, got {kind_of(embedding)}."
        )
    sample = rng.permutation(len(embedding))[:_SAMPLE]
    vectors, words = embedding.vectors, embedding.word_array
    near = k_nearest_words(vectors[sample], vectors, 1, exclude=sample)[0][:, 0]
    ids = np.stack([[*sample, *sample], [*near, *np.roll(sample, 1)]], axis=1)
    ids = np.unique(np.sort(ids, axis=1), axis=0)
    ranked = sorted(
        (min(both_claims(guarantee, *pair)), pair) for pair in map(tuple, words[ids])
    )
    n_within = sum(claim <= math.log(n_draws / 20) for claim, _ in ranked)
    n_close, n_spread = -(-n_pairs // 2), n_pairs // 4
    spread = ranked[n_close:n_within][::-1]
    step = max(len(spread) // max(n_spread, 1), 1)
    swept = _sweep(ranked[:n_within], n_pairs - n_close - n_spread, n_draws, draw)
    chosen = ranked[:n_close] + spread[::step][:n_spread] + swept + ranked
    return list(dict.fromkeys(pair for _, pair in chosen))[:n_pairs]


def _sweep(
    pairs: list[Claimed], n_kept: int, n_draws: int, draw: Draw
) -> list[Claimed]:
    """Find pairs with a word that comes out unchanged too often.

    Each round draws for the pairs that the previous one left, about `n_draws` in all.
    """
    while len(pairs) > n_kept > 0:
        words = _words_of(pair for _, pair in pairs)
        noisy = draw(words, min(max(n_draws // len(words), _SWEEP_DRAWS), n_draws))
        excess = []
        for claim, pair in pairs:
            # A true claim t implies Pr[w | w] <= e^t Pr[w | v].
            ratios = [
                ((noisy[w] == w).sum() + 0.5) / ((noisy[v] == w).sum() + 0.5)
                for w, v in (pair, pair[::-1])
            ]
            excess.append(math.log(max(ratios)) - claim)
        worst = np.argsort(-np.array(excess), kind="stable")
        n_worst = max(n_kept, int(_SWEEP_KEEPS * len(pairs)))
        pairs = [pairs[i] for i in worst[:n_worst]]
    return pairs[:n_kept]


def _check_pairs(pairs: Any) -> list[tuple[str, str]]:
    chosen = list(pairs) if isinstance(pairs, Iterable) else []
    for pair in chosen or [()]:
        two = isinstance(pair, tuple | list) and len(pair) == 2 and pair[0] != pair[1]
        if not two or not all(isinstance(word, str) for word in pair):
            raise InvalidParameterError(
                "pairs must be a non-empty iterable of pairs of two different words, "
                f"got {kind_of(pairs)}."
            )
    return [tuple(pair) for pair in chosen]
