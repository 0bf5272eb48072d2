"""Sentences about the laws of mechanisms, for printed guarantees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skdptext.mechanisms._law import ExponentialLaw
from skdptext.utils import rounded_up

__all__ = ["exponential_sentences", "sensitive_sentences"]

# Up to this many words, a pass over all pairs takes a second or so.
_AT_ONCE = 3000


def exponential_sentences(
    law: ExponentialLaw, calibration: str, epsilon: float, words: Sequence[str]
) -> list[str]:
    """The law, its privacy loss, and the words that are never released."""
    table = law.table
    metric = "Euclidean" if table.lam == 0 else f"Mahalanobis (λ = {table.lam:g})"
    distance = f"the {metric} distance of their vectors"
    if table.max_distance is not None:
        distance += f", at most {table.max_distance:g}"
    weighted = "" if law.mu is None else "μ(z)·"
    said = (
        f"A word w becomes the word z with probability proportional to {weighted}"
        f"exp(−{law.rate:.4g}·d(w, z)), where d is {distance} (calibration "
        f'"{calibration}")'
    )
    never = _never_released(law, words)
    if not table.any_differ:
        return [said + ".", *never]
    whom = "two words"
    if len(table.inputs) < table.n_words:
        whom = "two of the words that may be released"
    fast = len(table.inputs) <= _AT_ONCE
    if fast or law.knows("fit"):
        kappa = law.attained / law.rate - 1
        said += (
            f"; no {whom} lose more than ε* = {rounded_up(law.attained)} per "
            f"unit of d (the rate times 1 + κ, with κ = {rounded_up(kappa)})"
        )
        # a word that is never released loses at most that
        if law.mu is None and table.square:
            said += ", and some pair loses exactly that"
    else:
        said += f"; no {whom} lose more than {rounded_up(epsilon)} per unit of d"
    exact = fast or law.knows("worst_exponent")
    worst = law.worst_exponent if exact else epsilon * table.diameter
    return [
        said + ".",
        f"Between any {whom}, however far apart, the exponent is at most "
        f"{rounded_up(worst)}.",
        *_optimal(law, calibration, epsilon),
        *never,
    ]


def _optimal(law: ExponentialLaw, calibration: str, epsilon: float) -> list[str]:
    """That no other mechanism keeps more words, where that is proven.

    With K = e^(−εD) and p_z = Pr[z | z], any mechanism has Kp ≤ 1, row by row. Weights
    μ ≥ 0 with Kμ = 1 give Σp = pᵀKμ ≤ Σμ, and are themselves the p of this one.
    """
    if calibration not in ("tight", "balanced") or law.rate < epsilon * (1 - 1e-6):
        return []
    solved = np.abs(law.log_normalizers).max() < 1e-6
    if not solved or len(law.table) < law.table.n_words or len(law.never_released):
        return []
    kept = float(law.weights.sum()) / law.table.n_words
    return [
        f"On average over the vocabulary a word stays as it is with probability "
        f"{kept:.3g}, and no mechanism with this ε and this d keeps more."
    ]


def _never_released(law: ExponentialLaw, words: Sequence[str]) -> list[str]:
    never = law.never_released
    if not len(never):
        return []
    names = ", ".join(repr(words[i]) for i in never[:5])
    more = ", …" if len(never) > 5 else ""
    return [
        f"{len(never)} of the {len(words)} words are never released: {names}{more}."
    ]


def sensitive_sentences(
    n_sensitive: int, n_words: int, p: float, calibration: str, rate: float
) -> list[str]:
    """Which words are protected, and from what."""
    some = f"{n_sensitive} of the {n_words} words are sensitive"
    public = (
        "The list of sensitive words and p are public: a list learned from the "
        "documents to be protected voids the promise."
    )
    if p == 1:
        outside = (
            "Exponents that involve words outside the list are finite, but ε does not "
            f"bound them per unit of d: they are at most 2a d(w, w'), with the rate a "
            f"= {rounded_up(rate)}."
        )
        if calibration == "half":
            outside = "Every exponent is at most ε d(w, w')."
        return [f"{some}. Every word is released as a sensitive one.", outside, public]
    denied = "another sensitive word, but never one outside the list"
    if p > 0:
        denied = (
            f"another sensitive word or, for ln(1/p) more with p = {p:.12g}, any other "
            "word"
        )
    return [
        f"This promise is one-sided. {some}, and only those are protected: each could "
        f"have been {denied}.",
        "A word that is not sensitive is released in clear with probability "
        f"{1 - p:.12g}; exponents from it are infinite, and such a release shows that "
        "the word was not sensitive, and which word it was.",
        public,
    ]
