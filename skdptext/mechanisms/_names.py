"""Mechanisms by name, as grids, files of settings and the command line give them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._channel import WordMechanism
from skdptext.mechanisms._mahalanobis import MahalanobisNoise
from skdptext.utils import kind_of, shown


def _by_name() -> dict[str, type[WordMechanism]]:
    """The mechanisms that can be made: "word-lists" for WordLists."""
    room = __name__.rpartition(".")[0] + "."
    classes, queue = {}, [WordMechanism]
    while queue:
        kind = queue.pop()
        queue += kind.__subclasses__()
        if kind.__module__.startswith(room) and not inspect.isabstract(kind):
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()
            classes[name] = kind
    return classes


def mechanism_names() -> tuple[str, ...]:
    """The names that `mechanism_class` knows, such as ``"word-lists"``.

    Returns
    -------
    names : tuple of str
        Sorted.
    """
    return tuple(sorted(_by_name()))


def mechanism_class(name: str) -> type[WordMechanism]:
    """The class of that name; capitals, hyphens and underscores do not matter."""
    plain = {key.replace("-", ""): value for key, value in _by_name().items()}
    named = plain.get(re.sub(r"[-_ ]", "", name).lower())
    if named is None:
        raise InvalidParameterError(
            f"mechanism must be one of {', '.join(mechanism_names())}, got "
            f"{shown(name)}."
        )
    return named


def resolve_mechanism(mechanism: Any) -> WordMechanism:
    """The mechanism that the parameter `mechanism` of a perturber stands for."""
    if mechanism is None:
        return MahalanobisNoise()
    if isinstance(mechanism, str):
        return mechanism_class(mechanism)()
    if not isinstance(mechanism, WordMechanism):
        raise InvalidParameterError(
            "mechanism must be None or a WordMechanism, such as an object of "
            "skdptext.mechanisms, or the name of one, such as 'exponential', got "
            f"{kind_of(mechanism)}."
        )
    return mechanism
