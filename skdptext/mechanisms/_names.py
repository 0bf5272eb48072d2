"""Mechanisms by name, as grids, files of settings and the command line give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._exponential import Exponential, RandomizedResponse
from skdptext.mechanisms._mahalanobis import MahalanobisNoise
from skdptext.mechanisms._mechanism import WordMechanism
from skdptext.utils import check_option, kind_of

#: The mechanisms that have a name.
MECHANISMS: dict[str, Callable[..., WordMechanism]] = {
    "exponential": Exponential,
    "mahalanobis-noise": MahalanobisNoise,
    "randomized-response": RandomizedResponse,
}


def resolve_mechanism(mechanism: Any) -> WordMechanism:
    """The mechanism that the parameter `mechanism` of a perturber stands for."""
    if mechanism is None:
        return MahalanobisNoise()
    if isinstance(mechanism, str):
        return MECHANISMS[check_option("mechanism", mechanism, list(MECHANISMS))]()
    if not isinstance(mechanism, WordMechanism):
        raise InvalidParameterError(
            "mechanism must be None or a WordMechanism, such as an object of "
            "skdptext.mechanisms, or the name of one, such as 'exponential', got "
            f"{kind_of(mechanism)}."
        )
    return mechanism
