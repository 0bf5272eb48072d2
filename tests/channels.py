"""Channels and guarantees by their numbers."""

from __future__ import annotations

from skdptext.documents import DocumentReader
from skdptext.mechanisms import MahalanobisChannel, MahalanobisNoise
from skdptext.privacy import PrivacyGuarantee


def channel(epsilon, lam, embedding):
    """The default mechanism, prepared."""
    return MahalanobisNoise().prepare(embedding, epsilon, lam)


def sample(prepared, rng, n):
    """Noise as a release draws it."""
    return prepared.noise(prepared.draw(rng, n))


class KnownNoise(MahalanobisNoise):
    """The default mechanism, its noise for ε = 1 given where so much is asked for."""

    def __init__(self, noise):
        super().__init__()
        self.noise = noise

    def prepare(self, embedding, epsilon, lam):
        return KnownChannel(self, embedding, epsilon, lam)


class KnownChannel(MahalanobisChannel):
    law = MahalanobisChannel.law

    def noise(self, draws):
        known = self.mechanism.noise
        if len(draws[0]) == len(known):
            return known / self.epsilon
        return super().noise(draws)


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
