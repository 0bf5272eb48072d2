"""Releases of one kind: what guarantees are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from skdptext.exceptions import InvalidParameterError


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

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """Equal for parts that differ in the number of releases or in caveats alone."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """All fields but these two, as JSON holds them."""

    @classmethod
    @abstractmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> Part:
        """The part whose `options` were stored; a ValueError or the like if none."""

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

    @staticmethod
    def found_at_most(parts: Sequence[Any], n_candidates: int) -> float:
        """Share of the cases in which anyone identifies the right candidate."""
        raise InvalidParameterError(
            "found_at_most is for guarantees of documents or persons, got one of words,"
            " which bounds no share of whole documents."
        )
