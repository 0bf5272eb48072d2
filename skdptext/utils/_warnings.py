"""Warnings that are issued once per process."""

from __future__ import annotations

import warnings

__all__ = ["warn_once"]

_said: set[tuple[type[Warning], str]] = set()


def warn_once(message: str, category: type[Warning]) -> None:
    """Issue a warning; under Python's default filters, only the first time.

    Python forgets what it has shown whenever any filter changes, which scikit-learn and
    SciPy do all the time. A filter of the caller's own (ignore, always, error, ...) is
    obeyed as usual.
    """
    if _action(message, category) == "default":
        if (category, message) in _said:
            return
        _said.add((category, message))
    warnings.warn(message, category, stacklevel=2)


def _action(message: str, category: type[Warning]) -> str:
    """What the filters do with a warning of this library."""
    for action, text, kind, module, line in warnings.filters:
        if (
            issubclass(category, kind)
            and (text is None or text.match(message))
            and module is None
            and not line
        ):
            return action
    return "default"
