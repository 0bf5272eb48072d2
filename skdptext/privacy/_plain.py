"""Values as JSON holds them, so that each comes back with its type and every bit."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from skdptext.mechanisms import MECHANISMS, LossDistribution


def encoded(value: Any) -> Any:
    """A value for JSON; what JSON has no form for is an object with one tag.

    Raises
    ------
    TypeError
        If there is no form for it.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str) or _is_finite(value):
        return value
    if kind is float:
        return {"!float": str(value)}
    if kind is list:
        return [encoded(item) for item in value]
    if kind is tuple:
        return {"!tuple": encoded(list(value))}
    if kind is dict:
        return {"!dict": [[encoded(k), encoded(v)] for k, v in value.items()]}
    if kind is np.ndarray and not value.dtype.hasobject:
        whole = np.ascontiguousarray(value)
        return {"!array": [value.dtype.str, list(value.shape), _text(whole.tobytes())]}
    if kind is LossDistribution:
        losses = value.step, value.lowest, value.masses, value.infinite
        return {"!losses": [encoded(part) for part in losses]}
    for name, mechanism in MECHANISMS.items():
        if kind is mechanism:
            return {"!mechanism": [name, encoded(value.get_params(deep=False))]}
    raise TypeError(f"{kind.__name__} has no form in JSON")


def decoded(plain: Any) -> Any:
    """The value that `encoded` was given.

    Raises
    ------
    ValueError, TypeError
        If the form is none that `encoded` returns.
    """
    if isinstance(plain, list):
        return [decoded(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    ((tag, given),) = plain.items()
    if tag == "!tuple":
        return tuple(decoded(given))
    if tag == "!float":
        return float(given)
    if tag == "!dict":
        return {decoded(k): decoded(v) for k, v in given}
    if tag == "!array":
        dtype, shape, data = given
        raw = np.frombuffer(base64.b64decode(data, validate=True), np.dtype(dtype))
        return raw.reshape(shape).copy()
    if tag == "!losses":
        return LossDistribution(*map(decoded, given))
    if tag == "!mechanism":
        name, options = given
        if name not in MECHANISMS:
            raise ValueError(name)
        return MECHANISMS[name](**decoded(options))
    raise ValueError(tag)


def _is_finite(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
