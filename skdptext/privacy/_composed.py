"""Several releases of a document together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, shown


class ComposedGuarantee:
    """What the kinds of release in `parts` promise together.

    A part is a frozen dataclass with `releases`, the number of them, with `caveats`,
    sentences on what voids its promise, and with `kind`, equal for parts that differ in
    these two alone.
    """

    parts: tuple[Any, ...]

    @classmethod
    def _of(cls, parts: Iterable[Any]) -> Self:
        guarantee = cls.__new__(cls)
        guarantee.parts = tuple(parts)
        return guarantee

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(part.releases for part in self.parts)

    def compose(self, other: int | Self) -> Self:
        """What several releases of one document promise together.

        Parameters
        ----------
        other : int >= 1 or guarantee of the same class
            An integer k: these releases k times, with fresh noise each time. A
            guarantee: these releases and those; ε and everything else may differ, but
            for the embedding of perturbed words.

        Returns
        -------
        guarantee : of the same class
            K times the exponents, or the sum of both.

        Raises
        ------
        InvalidParameterError
            If `other` is neither, or over another embedding.
        """
        if isinstance(other, type(self)):
            self._check_other(other)
            return self._of(_merged([*self.parts, *other.parts]))
        try:
            k = check_integer("other", other, low=1)
        except InvalidParameterError:
            raise InvalidParameterError(
                f"other must be an integer >= 1 or a {type(self).__name__}, got "
                f"{shown(other)}."
            ) from None
        return self._of(replace(p, releases=k * p.releases) for p in self.parts)

    def _check_other(self, other: Self) -> None:
        """Refuse what cannot be composed."""


def _merged(parts: Iterable[Any]) -> Iterable[Any]:
    """Parts of one kind are one: a bound on all of its releases may be tighter."""
    merged: dict[Any, Any] = {}
    for part in parts:
        if part.kind in merged:
            known = merged[part.kind]
            part = replace(
                known,
                releases=known.releases + part.releases,
                caveats=tuple(dict.fromkeys([*known.caveats, *part.caveats])),
            )
        merged[part.kind] = part
    return merged.values()
