"""Documents before and after a release, and what is known of it without attacking."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.inspection._obfuscation_attacks import SEEDS, Adversary, Labels
from skdptext.inspection._obfuscation_result import Release
from skdptext.metrics import words_unchanged
from skdptext.perturbation import BaseWordPerturber
from skdptext.preprocessing import DocumentPreparer
from skdptext.utils import is_count_matrix

__all__ = ["Scene", "check_documents", "check_perturbers", "describe", "prepare"]

# Pairs of documents, by different authors, that the guarantee is worked out for.
_PAIRS = 8


class Scene(NamedTuple):
    """One perturber, and the documents before and after it."""

    perturber: BaseWordPerturber  # fitted
    originals: Any
    released: list[Any]
    key: str  # equal for scenes with equal originals
    adversaries: list[Adversary]


def check_perturbers(perturber: Any) -> list[BaseWordPerturber]:
    if isinstance(perturber, BaseWordPerturber):
        perturber = [perturber]
    is_list = isinstance(perturber, Iterable) and not isinstance(perturber, str)
    found = list(perturber) if is_list else []
    if not found or not all(isinstance(p, BaseWordPerturber) for p in found):
        raise InvalidParameterError(
            "perturber must be a word perturber or a list of them, got "
            f"{perturber!r:.80}."
        )
    return found


def check_documents(documents: Any) -> Any:
    """Documents that can be gone through more than once."""
    if is_count_matrix(documents):
        return documents if hasattr(documents, "shape") else np.asarray(documents)
    return list(documents)


def prepare(
    perturber: BaseWordPerturber,
    documents: Any,
    seed: int,
    n_releases: int,
    rng: np.random.Generator | None,
) -> Scene:
    """Release the documents, and prepare them alike without noise.

    All adversaries look at words and not at their order: bags will do, unless unknown
    words are kept, which have no column.
    """
    output = "text" if perturber.oov == "keep" else "bow"
    released = []
    for _ in range(n_releases):
        # not an int, with which equal documents would get equal noise
        state = None if rng is None else np.random.default_rng(rng.integers(SEEDS))
        mechanism = clone(perturber).set_params(random_state=state, output=output)
        released.append(mechanism.fit(documents).transform(documents))
    preparer = DocumentPreparer.from_perturber(perturber, output=output)
    preparer.set_params(random_state=seed)
    shown = preparer.get_params(deep=False) | {"embedding": id(perturber.embedding)}
    mechanism.set_params(output=perturber.output)
    originals = preparer.fit_transform(documents)
    return Scene(mechanism, originals, released, repr(sorted(shown.items())), [])


def describe(scene: Scene, documents: Any, labels: Labels) -> Release:
    """What is known of a release without attacking it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        changed = 1 - words_unchanged(scene.perturber, documents)
        words = scene.perturber.known_words(documents)
    return Release(
        epsilon=float(scene.perturber.mechanism_.epsilon),
        lam=float(scene.perturber.mechanism_.lam),
        words_changed=changed,
        guarantee=scene.perturber.guarantee(),
        exponent=_typical_exponent(scene.perturber, words, labels),
        n_empty=sum(not w for w in words),
        keeps_unknown=scene.perturber.oov == "keep",
    )


def _typical_exponent(
    perturber: BaseWordPerturber, words: list[list[str]], labels: Labels
) -> float:
    """Median exponent between documents of different authors, on one topic if any."""
    # lengths, or unknown words, are released as they are
    if perturber.document_length is None or perturber.oov == "keep":
        return math.inf
    guarantee = perturber.guarantee()
    rng = np.random.default_rng(0)
    found: list[float] = []
    for first in rng.permutation(len(words)):
        other = labels.author != labels.author[first]
        if labels.topic is not None:
            same = other & (labels.topic == labels.topic[first])
            other = same if same.any() else other
        second = rng.choice(np.flatnonzero(other))
        # words without a vector of their own are not among these
        whole = len(words[first]) == len(words[second]) == perturber.document_length
        if whole or guarantee.resampled:
            found.append(guarantee.exponent(words[first], words[second]))
        if len(found) == _PAIRS:
            break
    return float(np.median(found)) if found else math.nan
