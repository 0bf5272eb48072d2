"""Releases of one kind, the parts of a guarantee."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer

# The largest accepted number of releases, more than anyone makes. Sums with it do not
# overflow.
_MOST_RELEASES = 10**9


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(ABC):
    """Releases of one kind: their number, their promise, and what voids it.

    Subclasses are frozen dataclasses. They have a `unit`, "word", "document" or
    "person", and the `epsilon` of one release. Parts of words and of stand-ins also
    have ``at_epsilon(epsilon)``, and two bounds on all releases together,
    ``exponent(x, y)`` and ``losses(x, y)``. Parts hold numbers; `_statement` turns them
    into sentences.
    """

    releases: int = 1
    caveats: tuple[str, ...] = ()

    kind: ClassVar[str]
    #: All kinds by name. Files store the name.
    KINDS: ClassVar[dict[str, type[Part]]] = {}

    def __init_subclass__(cls) -> None:
        Part.KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        check_integer("releases", self.releases, low=1, high=_MOST_RELEASES)
        if not all(isinstance(caveat, str) for caveat in self.caveats):
            raise InvalidParameterError("caveats must be sentences.")

    @property
    def key(self) -> Hashable:
        """Key that is equal for parts that only differ in releases or caveats."""
        return self.kind, repr(self.options())

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Get all fields but these two, as JSON values."""

    @classmethod
    @abstractmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> Part:
        """Make a part from stored `options`; raises ValueError or the like if wrong."""

    def stored(self) -> dict[str, Any]:
        """Get all fields as JSON values."""
        common = {"releases": self.releases, "caveats": list(self.caveats)}
        return {"kind": self.kind, **common, **self.options()}

    @staticmethod
    def read(stored: Mapping[str, Any], embedding: Any) -> Part:
        """Make the part that was `stored`; raises ValueError or the like if wrong."""
        options = dict(stored)
        # Other subpackages, which may not be imported yet, define the other kinds.
        for package in ("skdptext.learning", "skdptext.replacement"):
            import_module(package)
        kind = Part.KINDS[options.pop("kind")]
        common = {name: options.pop(name) for name in ("releases", "caveats")}
        common["caveats"] = tuple(common["caveats"])
        return kind.of_options(options, embedding, **common)

    @property
    def numerical_delta(self) -> float | None:
        """Probability that finite arithmetic changes a release; None if unknown."""
        return 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what voids or weakens the promise."""
        return self.caveats

    # -- totals over the parts of one kind and unit ---------------------------------

    @staticmethod
    def epsilon_of_all(parts: Sequence[Any]) -> float | None:
        """Add up the ε of all releases; None if they have no common unit."""
        return float(sum(part.releases * part.epsilon for part in parts))

    @staticmethod
    def of_person(parts: Sequence[Any], n_documents: int) -> tuple[float, float]:
        """Compute ε and δ of one person with `n_documents` documents."""
        raise NotImplementedError
