"""Infer which texts synthetic texts were made from, and what they copy."""

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from skdptext.attacks._linkage import similarities
from skdptext.attacks._risk import (
    FEWEST_CASES,
    mean_interval,
    membership,
    minus_control,
)
from skdptext.attacks._scores import Score, Scores
from skdptext.attacks._words import (
    documents_of,
    shares_left,
    spans,
    texts_of,
    whole,
    words_of,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_rng, share_interval

_SPANS = (1, 2, 3, 5)
# The most synthetic texts that are compared as wholes. Phrases are sought in all.
_MOST_COMPARED = 5000


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
        decided: any other difference counts as a leak.
    synthetic : iterable of str or of lists of str
        Texts that were made from the training texts, of any number.
    random_state : None, int or numpy.random.Generator, default=None
        Draws the half that chooses attackers and thresholds; the other half is scored.

    Returns
    -------
    scores : Scores
        ``"membership"``: how often attackers pick the training text of a pair with
        another text; a coin flip is right 50% of the time. ``"training texts copied"``
        and ``"training phrases copied"``: risk minus control, (r − c)/(1 − c) [1]_.
    epsilon : float
        Lower bound on the ε of the generator, with 95% confidence [2]_; 0 if nothing
        follows.

    Raises
    ------
    InvalidParameterError
        If a list holds too few texts.

    References
    ----------
    .. [1] M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi (2023). A unified framework
       for quantifying privacy risk in synthetic data. PoPETs.
    .. [2] T. Steinke, M. Nasr, M. Jagielski (2023). Privacy auditing with one (1)
       training run. NeurIPS.

    Examples
    --------
    >>> from skdptext.attacks import membership_attack
    >>> texts = [f"w{i} x{i} y{i} z{i}" for i in range(80)]
    >>> scores, epsilon = membership_attack(texts[:40], texts[40:], texts[:40])
    >>> scores["membership"].value, scores["training texts copied"].value, epsilon > 1
    (1.0, 1.0, True)
    """
    used, others, made = (
        _distinct(texts_of(documents_of(name, texts)))
        for name, texts in (
            ("training", training), ("control", control), ("synthetic", synthetic)
        )
    )  # fmt: skip
    # A text in both lists was used: as a control, it would hide a leak.
    others = {words: text for words, text in others.items() if words not in used}
    if min(len(used), len(others)) < FEWEST_CASES or not made:
        raise InvalidParameterError(
            f"training and control must hold at least {FEWEST_CASES} different texts "
            "with words, none of them in both, and synthetic one, got "
            f"{len(used)}, {len(others)} and {len(made)}."
        )
    rng = check_rng(random_state)
    texts, compared = [*used.values(), *others.values()], list(made.values())
    if len(made) > _MOST_COMPARED:
        compared = rng.permutation(compared)[:_MOST_COMPARED].tolist()
    nearest = {
        f"the nearest, by {by}": score.max(axis=0)
        for by, score in similarities(texts, compared).items()
    }
    words, made_words = [*used, *others], list(made)
    columns = nearest | {
        f"own phrases of {n} words": _own_spans(words, made_words, n) for n in _SPANS
    }
    table, names = np.stack(list(columns.values()), axis=1), list(columns)
    found = membership(table[: len(used)], table[len(used) :], rng)
    rows = [Score("membership", names[found.area_by], *found[:3], 0.5, found.n)]
    for question, parts, interval in (
        ("training texts copied", whole, share_interval),
        ("training phrases copied", spans, mean_interval),
    ):
        there = repeat(set().union(*map(parts, made_words)))
        risk, base = (shares_left(map(parts, side), there) for side in (used, others))
        if len(risk) and len(base):
            excess = minus_control(risk, base, interval)
            n = min(len(risk), len(base))
            rows.append(Score(question, "reading", *excess, 0.0, n))
    return Scores(rows), found.epsilon


def _distinct(texts: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Get distinct texts with words, by their words."""
    found = {tuple(words_of(text)): text for text in texts}
    found.pop((), None)
    return found


def _own_spans(words: list[Any], made: list[Any], n: int) -> np.ndarray:
    """Compute the share of each text's unique phrases that occur in synthetic texts."""
    there = set().union(*(spans(text, n) for text in made))
    own = [spans(text, n) for text in words]
    # A phrase of several texts does not show which of them was used.
    held = Counter(span for text in own for span in text)
    own = [{span for span in text if held[span] == 1} for text in own]
    # One more phrase counts as half found, which puts texts without any in the middle.
    return np.array([(len(text & there) + 0.5) / (len(text) + 1) for text in own])
