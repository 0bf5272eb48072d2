"""Adversaries who attribute held-out documents, in the clear and as released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._trials import Split, make_folds, near_copies
from skdptext.base import fitted_releaser, is_releaser, perturbs_words
from skdptext.exceptions import (
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.utils import (
    check_integer,
    is_count_matrix,
    kind_of,
    quiet,
    shown,
)

_TARGETS = ("author", "topic")
TRAINED_ON = {"both": ("originals", "releases")} | {
    name: (name,) for name in ("originals", "releases")
}
# Number of random permutations of the labels, for the permutation test.
_SHUFFLES = 199
# Topics give authors away if they beat the mean of the permutations by this share, with
# at most this p-value.
_CONFOUNDED, _BY_CHANCE = 0.1, 0.05


class Setting(NamedTuple):
    """What the scores of an attack on authors must be read with.

    `majority`, `uniform` and `from_topic` are shares of the authors that are named
    without a look at the text: always the most frequent one; any one at random; the
    most frequent one of the same topic (NaN without topics). `unrelated` is the latter
    if topics had nothing to do with authors, where they clearly have, and else None.
    `n_strangers` counts documents by authors of whom the adversary knows no other.
    """

    n_documents: int
    n_topics: int
    n_splits: int
    n_strangers: int
    by_author: np.ndarray
    majority: float
    uniform: float
    from_topic: float
    unrelated: float | None


def setting_of(
    labels: Mapping[str, np.ndarray],
    splits: Sequence[Split],
    groups: np.ndarray | None,
    rng: np.random.Generator,
) -> Setting:
    """The setting of an attack, from labels, splits and groups of its documents."""
    by = labels["author"]
    rows = np.unique(np.concatenate([np.arange(len(by))[held] for _, held in splits]))
    strangers = [held[~np.isin(by[held], by[known])] for known, held in splits]
    counts = np.unique(by[rows], return_counts=True)[1]
    from_topic, unrelated = math.nan, None
    if "topic" in labels:
        from_topic, unrelated = _from_topic(
            by[rows],
            labels["topic"][rows],
            None if groups is None else groups[rows],
            rng,
        )
    return Setting(
        len(rows),
        len(np.unique(labels["topic"])) if "topic" in labels else 0,
        len(splits),
        len(np.unique(np.concatenate(strangers))),
        np.unique(by, return_counts=True)[1],
        float(counts.max() / len(rows)),
        1 / len(counts),
        from_topic,
        unrelated,
    )


def check_perturbers(perturber: Any) -> list[Any]:
    """One releaser or several, as a list."""
    if is_releaser(perturber):
        perturber = [perturber]
    is_list = isinstance(perturber, Iterable) and not isinstance(perturber, str)
    releasers = list(perturber) if is_list else []
    if not releasers or not all(map(is_releaser, releasers)):
        raise InvalidParameterError(
            "perturber must be a word perturber or a list of them, or of other "
            "releasers with transform, log_likelihood and guarantee, got "
            f"{kind_of(perturber)}."
        )
    return releasers


def released_by(
    releaser: Any,
    documents: Any,
    n_releases: int,
    seed: int,
    rng: np.random.Generator | None,
) -> tuple[Any, ReleasedTexts]:
    """A fitted releaser, and what it makes of the documents."""
    original = documents
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning):
        if perturbs_words(releaser):
            # words are looked for in any order, so that tokens are enough, unless
            # unknown ones are kept
            output = "text" if releaser.oov == "keep" else "tokens"
            fitted = clone(releaser).set_params(output=output).fit(documents)
            if is_count_matrix(documents):
                original = fitted.known_words(documents)
        else:
            rule = "documents must hold texts or lists of words for a releaser of them"
            if is_count_matrix(documents, rule):
                raise InvalidParameterError(f"{rule}, got a matrix of numbers.")
            fitted = fitted_releaser(releaser, documents)
        releases = [fitted.fresh(rng).transform(documents) for _ in range(n_releases)]
    for texts in releases:
        if not isinstance(texts, list) or not all(
            isinstance(text, str | list | tuple) for text in texts
        ):
            raise InvalidParameterError(
                "perturber must release texts or lists of words, got "
                f"{kind_of(texts)} of something else."
            )
    if perturbs_words(releaser):
        fitted = fitted.set_params(output=releaser.output)
    return fitted, ReleasedTexts(original, releases, seed)


def check_adversaries(adversaries: Any, targets: Iterable[str]) -> dict[str, Any]:
    """The user's own classifiers by target and name, from name to (model, target).

    None for each target that the library's own adversaries attack.
    """
    if adversaries is None:
        return dict.fromkeys(targets)
    rule = "adversaries must map names to pairs of a classifier and 'author' or 'topic'"
    if not isinstance(adversaries, dict) or not adversaries:
        raise InvalidParameterError(f"{rule}, got {kind_of(adversaries)}.")
    checked: dict[str, Any] = {}
    for name, pair in adversaries.items():
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not hasattr(pair[0], "predict")
            or pair[1] not in _TARGETS
        ):
            raise InvalidParameterError(
                f"{rule}, got {kind_of(pair)} for {shown(name)}."
            )
        if pair[1] not in targets:
            raise InvalidParameterError(
                f"topics must be given for adversary {shown(name)}, which targets "
                "them, got None."
            )
        checked.setdefault(pair[1], {})[str(name)] = pair[0]
    return checked


def make_splits(
    cv: Any, authors: np.ndarray, groups: Any, documents: Any, random_state: int
) -> list[Split]:
    """Known and held-out rows of each split; authors are spread over the folds."""
    from sklearn.model_selection import check_cv

    smallest = int(np.unique(authors, return_counts=True)[1].min())
    if cv is None or isinstance(cv, Integral):
        n_splits = min(5, smallest) if cv is None else check_integer("cv", cv, low=2)
        if smallest < max(2, n_splits):
            raise InvalidParameterError(
                "each author must have at least as many documents as there are "
                f"splits ({max(2, n_splits)}), got an author with {smallest}: leave "
                "out authors with too few documents, or, in Python, give cv."
            )
        together = near_copies(documents) if groups is None else groups
        cv = make_folds(authors, together, n_splits, random_state)
    can_split = isinstance(cv, Iterable) or hasattr(cv, "split")
    if isinstance(cv, str | bytes) or not can_split:  # which scikit-learn would quote
        raise InvalidParameterError(f"cv must split the documents, got {kind_of(cv)}.")
    try:
        splitter = check_cv(cv, authors, classifier=True)
        rows = splitter.split(np.zeros(len(authors)), authors, groups)
        splits = [(np.asarray(known), np.asarray(held)) for known, held in rows]
    except (ValueError, TypeError) as error:
        raise InvalidParameterError(f"cv must split the documents: {error}") from None
    for known, held in splits:
        if not len(held) or len(np.unique(authors[known])) < 2:
            raise InvalidParameterError(
                "cv must leave documents of at least 2 authors to know and at least "
                f"one document to attack in each split, got {len(known)} and "
                f"{len(held)}."
            )
        if np.intersect1d(known, held).size:
            raise InvalidParameterError(
                "cv must not give an adversary the documents that it attacks."
            )
        # scikit-learn ignores groups if the splitter does not use them
        if groups is not None and np.intersect1d(groups[known], groups[held]).size:
            raise InvalidParameterError(
                "cv must keep the documents of a group together where groups are given."
            )
    return splits


def _from_topic(
    authors: np.ndarray,
    topics: np.ndarray,
    groups: np.ndarray | None,
    rng: np.random.Generator,
) -> tuple[float, float | None]:
    """Share of the authors that the topic names; and of permuted authors, if less.

    A permutation test. Authors are permuted over the documents, or over groups that
    have one author each.
    """
    codes, topic = (np.unique(x, return_inverse=True)[1] for x in (authors, topics))
    first, unit = np.arange(len(codes)), np.arange(len(codes))
    if groups is not None:
        _, at, number = np.unique(groups, return_index=True, return_inverse=True)
        if (codes == codes[at][number]).all():
            first, unit = at, number
    share = _named_by(codes, topic)
    permuted = np.array(
        [
            _named_by(rng.permutation(codes[first])[unit], topic)
            for _ in range(_SHUFFLES)
        ]
    )
    # the truth is one of the permutations, so that no p-value is 0
    chance = (1 + (permuted >= share).sum()) / (1 + _SHUFFLES)
    stands_out = share > permuted.mean() + _CONFOUNDED and chance <= _BY_CHANCE
    return share, float(permuted.mean()) if stands_out else None


def _named_by(codes: np.ndarray, other: np.ndarray) -> float:
    """Share of documents whose label is the most frequent for their other label."""
    # by hand: scikit-learn's contingency_matrix takes five times as long
    n_classes, n_others = codes.max() + 1, other.max() + 1
    cells, counts = np.unique(other * n_classes + codes, return_counts=True)
    most = np.zeros(n_others, dtype=np.int64)
    np.maximum.at(most, cells // n_classes, counts)
    return float(most.sum() / len(codes))
