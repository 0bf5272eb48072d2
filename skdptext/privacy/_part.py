"""Releases of one kind: what guarantees are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer

# Releases that are counted: more than anyone has.
_MOST_RELEASES = 10**9


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(ABC):
    """Releases of one kind: how many, what each promises, and what voids the promise.

    Subclasses are frozen dataclasses. They have a `unit`, "word", "document" or
    "person", and the `epsilon` of one release. Those of words and of stand-ins have
    ``at_epsilon(epsilon)``, and of all releases ``exponent(x, y)`` and
    ``losses(x, y)``, each of which is a bound. They hold numbers; `_statement` says
    them in words.
    """

    releases: int = 1
    caveats: tuple[str, ...] = ()

    kind: ClassVar[str]
    #: Every kind by its name, which files hold.
    KINDS: ClassVar[dict[str, type[Part]]] = {}

    def __init_subclass__(cls) -> None:
        Part.KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        check_integer("releases", self.releases, low=1, high=_MOST_RELEASES)
        if not all(isinstance(caveat, str) for caveat in self.caveats):
            raise InvalidParameterError("caveats must be sentences.")

    @property
    def key(self) -> Hashable:
        """Equal for parts that differ in the number of releases or in caveats alone."""
        return self.kind, repr(self.options())

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """All fields but these two, as JSON holds them."""

    @classmethod
    @abstractmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> Part:
        """The part whose `options` were stored; a ValueError or the like if none."""

    def stored(self) -> dict[str, Any]:
        """All fields, as JSON holds them."""
        common = {"releases": self.releases, "caveats": list(self.caveats)}
        return {"kind": self.kind, **common, **self.options()}

    @staticmethod
    def read(stored: Mapping[str, Any], embedding: Any) -> Part:
        """The part that was `stored`; a ValueError or the like if none."""
        options = dict(stored)
        # Other packages, which may not be imported yet, define the other kinds.
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
        """What voids the promise, or comes near it."""
        return self.caveats

    # -- what all parts of one kind and unit come to ------------------------------

    @staticmethod
    def epsilon_of_all(parts: Sequence[Any]) -> float | None:
        """The ε of all releases; None if they have none in common."""
        return float(sum(part.releases * part.epsilon for part in parts))

    @staticmethod
    def of_person(parts: Sequence[Any], n_documents: int) -> tuple[float, float]:
        """ε and δ of one person with so many documents."""
        raise NotImplementedError
