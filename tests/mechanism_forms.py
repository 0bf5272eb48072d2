"""Every mechanism that is offered, in each of its forms: the one list of them."""

from __future__ import annotations

from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)


def forms() -> dict[str, WordMechanism]:
    """By name."""
    return {
        "noise": MahalanobisNoise(),
        "randomized response": RandomizedResponse(),
        "exact": Exponential(),
        "half": Exponential("half"),
        "capped": Exponential(max_distance=0.7),
        "half, capped": Exponential("half", 0.7),
    }
