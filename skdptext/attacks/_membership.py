"""Infer which texts synthetic texts were made from, and what they copy."""

from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import rankdata

from skdptext.attacks._linkage import similarities
from skdptext.attacks._scores import Scores, gain, read_off
from skdptext.attacks._words import copies_of, read, shares_left, spans
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_rng, lower_limit

# The most synthetic texts that are compared as wholes. Phrases are sought in all.
_MOST_COMPARED = 5000
# The fewest texts on each side: half of them choose, and half are scored.
_FEWEST_TEXTS = 10


def membership_attack(
    training: Any, control: Any, synthetic: Any, *, random_state: Any = None
) -> tuple[Scores, float]:
    """Measure how well synthetic texts reveal the texts they were made from.

    Attackers hold texts that were used and texts of the same source that were not, and
    distinguish them. Success that is equal for texts that were not used does not count
    against the synthetic texts.

    Parameters
    ----------
    training : iterable of str or of lists of str
        Texts that were used; at least 10.
    control : iterable of str or of lists of str
        Texts of the same source that were not used; at least 10. Chance must have
        decided: any other difference counts as a leak. A text in both lists is left
        out of both.
    synthetic : iterable of str or of lists of str
        Texts that were made from the training texts, of any number.
    random_state : None, int or numpy.random.Generator, default=None
        Draws the half that chooses attackers and thresholds; the other half is scored.

    Returns
    -------
    scores : Scores
        ``"membership"``: how often attackers pick the training text of a pair with
        another text; a coin flip is right 50% of the time. ``"training texts copied"``
        and ``"training phrases copied"``: share of the training texts, or of the
        phrases of one, that synthetic texts contain; `chance` is that of control texts.
    epsilon : float
        Lower bound on the ε of the generator, with 95% confidence [1]_; 0 if nothing
        follows.

    Raises
    ------
    InvalidParameterError
        If a list holds too few texts.

    References
    ----------
    .. [1] T. Steinke, M. Nasr, M. Jagielski (2023). Privacy auditing with one (1)
       training run. NeurIPS.

    Examples
    --------
    >>> from skdptext.attacks import membership_attack
    >>> texts = [f"w{i} x{i} y{i} z{i}" for i in range(80)]
    >>> scores, epsilon = membership_attack(texts[:40], texts[40:], texts[:40])
    >>> scores["membership"].value, scores["training texts copied"].value, epsilon > 1
    (1.0, 1.0, True)
    """
    given = {"training": training, "control": control, "synthetic": synthetic}
    used, others, made = (
        {tuple(words): text for words, text in zip(x.words, x.texts, strict=True)}
        for x in [read(name, texts) for name, texts in given.items()]
    )
    for texts in (used, others, made):
        texts.pop((), None)  # without words
    # A text in both lists shows nothing. If it only counted as used, commonplaces that
    # an honest generator makes too would look like a leak.
    for words in used.keys() & others.keys():
        del used[words], others[words]
    if min(len(used), len(others)) < _FEWEST_TEXTS or not made:
        raise InvalidParameterError(
            f"training and control must hold at least {_FEWEST_TEXTS} different texts "
            "with words, none of them in both, and synthetic one, got "
            f"{len(used)}, {len(others)} and {len(made)}."
        )
    rng = check_rng(random_state)
    texts, compared = used | others, list(made.values())
    if len(made) > _MOST_COMPARED:
        compared = rng.permutation(compared)[:_MOST_COMPARED].tolist()
    columns = {
        f"the nearest, by {by}": score.max(axis=0)
        for by, score in similarities(list(texts.values()), compared).items()
    }
    columns["own phrases of 3 words"] = _own_spans(texts, made, 3)
    table = np.stack(list(columns.values()), axis=1)
    best, right, epsilon = told_apart(table[: len(used)], table[len(used) :], rng)
    rows = [read_off("membership", right, 0.5, by=list(columns)[best])]
    phrases = set().union(*map(spans, made))
    for question, shares in (
        ("texts", lambda side: copies_of(side, made)),
        ("phrases", lambda side: shares_left(map(spans, side), repeat(phrases))),
    ):
        risk, base = (rng.permutation(shares(side)) for side in (used, others))
        if n := min(len(risk), len(base)):
            rows.append(gain(f"training {question} copied", risk[:n], base[:n]))
    return Scores(rows), epsilon


def _own_spans(words: Iterable[Any], made: Iterable[Any], n: int) -> np.ndarray:
    """Compute the share of each text's unique phrases that occur in synthetic texts."""
    there = set().union(*(spans(text, n) for text in made))
    own = [spans(text, n) for text in words]
    # A phrase of several texts does not show which of them was used.
    held = Counter(span for text in own for span in text)
    own = [{span for span in text if held[span] == 1} for text in own]
    # One more phrase counts as half found, which puts texts without any in the middle.
    return np.array([(len(text & there) + 0.5) / (len(text) + 1) for text in own])


def told_apart(
    members: np.ndarray, others: np.ndarray, rng: np.random.Generator
) -> tuple[int, np.ndarray, float]:
    """Distinguish members from others by their scores, a column per attacker.

    Members have larger scores. Half of the cases choose attacker and threshold. Returns
    the attacker, whether it picks the member of each pair, and a lower bound on ε.
    """
    (chose_m, of_m), (chose_o, of_o) = (
        np.split(rng.permutation(x), [len(x) // 2]) for x in (members, others)
    )
    ranks = rankdata(np.concatenate([chose_m, chose_o]), axis=0)
    best = int(ranks[: len(chose_m)].mean(axis=0).argmax())
    at = np.sort(chose_m[:, best])  # thresholds
    true, false = (
        len(x) - np.searchsorted(np.sort(x[:, best]), at) for x in (chose_m, chose_o)
    )
    bounds = epsilon_bound(true, false, len(chose_m), len(chose_o))
    least, n = at[bounds.argmax()], min(len(of_m), len(of_o))
    right = (1 + np.sign(of_m[:n, best] - of_o[:n, best])) / 2  # a tie counts half
    true, false = ((x[:, best] >= least).sum() for x in (of_m, of_o))
    epsilon = epsilon_bound(true, false, len(of_m), len(of_o))
    return best, right, max(0.0, float(epsilon))


def epsilon_bound(true: Any, false: Any, n: Any, m: Any, level: float = 0.05) -> Any:
    """Compute a lower limit of ε if `true` of n members and `false` of m others match.

    Assume that each case became a member by an independent draw of probability
    n/(n + m). An attacker who sees one release of an ε-differentially private mechanism
    is right about each case they pick with a probability of at most
    n eᵋ/(n eᵋ + m). Even if cases depend on each other, they are right at most as often
    as in independent draws with this probability (Steinke, Nasr and Jagielski, 2023,
    "Privacy auditing with one (1) training run"). `level` is the error rate of Clopper
    and Pearson's limit of this probability.
    """
    low = lower_limit(true, true + false, level)
    with np.errstate(divide="ignore"):
        return logit(low) - np.log(n) + np.log(m)
