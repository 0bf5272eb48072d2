"""Mechanisms and guarantees by their numbers, and mechanisms as users write them."""

from __future__ import annotations

import numpy as np

from skdptext import DPWordPerturber
from skdptext.audit import audit_word_privacy
from skdptext.documents import DocumentReader
from skdptext.mechanisms import MahalanobisNoise, TableMechanism
from skdptext.privacy import PrivacyGuarantee


def channel(epsilon, lam, embedding):
    """The default mechanism, prepared."""
    return MahalanobisNoise().prepare(embedding, epsilon, lam)


def sample(prepared, rng, n):
    """Noise as a release draws it."""
    return prepared.noise(prepared.draw(rng, n))


class Stated(TableMechanism):
    """Any finite law, by its matrix."""

    def __init__(self, P):
        self.P = P

    def log_proba(self, words):
        with np.errstate(divide="ignore"):
            return np.log(self.P[words])


def violated(mechanism, table, pairs, **options):
    """Whether the audit finds the claim false, by pair; false alarm 1e-6 together."""
    perturber = DPWordPerturber(table, mechanism=mechanism, document_length=1)
    return audit_word_privacy(
        perturber.set_params(**options).fit([]),
        pairs,
        confidence=1 - 1e-6,
        random_state=0,
    ).violated


def guaranteed(
    epsilon,
    lam,
    embedding,
    *,
    n_words=None,
    resampled=False,
    unknown_kept=False,
    **releases,
):
    """What releases by the default mechanism promise."""
    reader = DocumentReader(
        embedding,
        document_length=n_words,
        resize="sample" if resampled else "truncate",
        oov="keep" if unknown_kept else "error",
    )
    return PrivacyGuarantee(channel(epsilon, lam, embedding), reader, **releases)
