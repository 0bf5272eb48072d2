"""Several releases together: of one kind, whose losses add up, and of unlike kinds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    bullets,
    check_integer,
    page,
    paragraph,
    rounded_up,
    shown,
    wrapped,
)


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
    def unit(self) -> str | None:
        """What its numbers are about: a "word", a "document" or a "person"."""
        raise NotImplementedError

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(part.releases for part in self.parts)

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        raise NotImplementedError

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        raise NotImplementedError

    def __str__(self) -> str:
        lines = [wrapped(sentence) for sentence in self.sentences]
        lines.append("Not promised:")
        return "\n".join(lines + [wrapped(f"- {limit}") for limit in self.limits])

    def _of_person(self, n_documents: int) -> tuple[float, float]:
        """ε and δ between any two persons with so many documents; inf if unbounded."""
        return math.inf, 0.0

    def compose(self, other: Any) -> Any:
        """What several releases promise together.

        Parameters
        ----------
        other : int >= 1 or guarantee
            An integer k: these releases k times, with fresh noise each time. A
            guarantee: these releases and those; ε and everything else may differ, but
            for the embedding of perturbed words.

        Returns
        -------
        guarantee : of the same class, or CombinedGuarantee
            K times the exponents, or the sum of both. Guarantees of unlike kinds or
            units, of a word, a document or a person, do not add up: they stand side by
            side in a `CombinedGuarantee`, which says what adds up for one person.

        Raises
        ------
        InvalidParameterError
            If `other` is neither, or over another embedding.
        """
        if isinstance(other, ComposedGuarantee):
            return self._with(other)
        try:
            k = check_integer("other", other, low=1)
        except InvalidParameterError:
            raise InvalidParameterError(
                f"other must be an integer >= 1 or a {type(self).__name__}, got "
                f"{shown(other)}."
            ) from None
        return self._times(k)

    def _with(self, other: ComposedGuarantee) -> ComposedGuarantee:
        if self._adds_to(other):
            self._check_other(other)
            return self._of(_merged([*self.parts, *other.parts]))
        return CombinedGuarantee([self, other])

    def _times(self, k: int) -> ComposedGuarantee:
        return self._of(replace(p, releases=k * p.releases) for p in self.parts)

    def _one_by_one(self) -> Iterable[ComposedGuarantee]:
        """Guarantees of one kind and unit each."""
        return (self,)

    def _adds_to(self, other: ComposedGuarantee) -> bool:
        """Whether the numbers of both are about the same thing."""
        return isinstance(other, type(self)) and self.unit == other.unit

    def _check_other(self, other: Any) -> None:
        """Refuse what cannot be composed."""


class CombinedGuarantee(ComposedGuarantee):
    """Guarantees of unlike kinds or units, side by side; made by ``compose``.

    The privacy parameter of a word, of a document and of a person are not to be added
    up. What adds up is what one person loses by all of the releases, `epsilon_of`.

    Parameters
    ----------
    guarantees : iterable of guarantees
        Those of one kind and unit are composed.

    Attributes
    ----------
    guarantees : tuple of guarantees
        One for each kind and unit.
    releases : int
        Number of releases, of all of them together.
    unit, epsilon : None
        There is no single one.

    See Also
    --------
    PrivacyGuarantee : Of releases that change words.
    skdptext.replacement.ReplacementGuarantee : Of stand-ins for documents.
    skdptext.learning.LearningGuarantee : Of models learned from people's texts.

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer, DPTextClassifier
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> replacer = DPDocumentReplacer(public, n_groups=2, epsilon=2.0).fit()
    >>> model = DPTextClassifier(public, epsilon=0.5, classes=["food", "pets"])
    >>> model = model.fit(["a cat", "milk"], ["pets", "food"], authors=["Ann", "Bo"])
    >>> both = replacer.guarantee().compose(model.guarantee())
    >>> [guarantee.unit for guarantee in both.guarantees]
    ['document', 'person']
    >>> both.epsilon_of(n_documents=3)    # 3 stand-ins, and another person in the sum
    (7.0, 0.0)
    """

    epsilon = None

    def __init__(self, guarantees: Iterable[ComposedGuarantee]) -> None:
        each: list[ComposedGuarantee] = []
        for given in guarantees:
            for one in given._one_by_one():
                for i, known in enumerate(each):
                    if known._adds_to(one):
                        each[i] = known._with(one)
                        break
                else:
                    each.append(one)
        self.guarantees = tuple(each)

    @property
    def parts(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The parts of all guarantees."""
        return tuple(part for each in self.guarantees for part in each.parts)

    @property
    def unit(self) -> None:
        """There is no single unit."""

    def _one_by_one(self) -> Iterable[ComposedGuarantee]:
        return self.guarantees

    def _with(self, other: ComposedGuarantee) -> ComposedGuarantee:
        return CombinedGuarantee([self, other])

    def _times(self, k: int) -> ComposedGuarantee:
        return CombinedGuarantee(each._times(k) for each in self.guarantees)

    def _adds_to(self, other: ComposedGuarantee) -> bool:
        return False

    def of_unit(self, unit: str) -> tuple[ComposedGuarantee, ...]:
        """The guarantees whose numbers are about this.

        Parameters
        ----------
        unit : {"word", "document", "person"}
            What they are about.

        Returns
        -------
        guarantees : tuple of guarantees
            None, one or more.
        """
        return tuple(each for each in self.guarantees if each.unit == unit)

    def epsilon_of(self, n_documents: int) -> tuple[float, float]:
        """What one person with so many documents loses by all releases together.

        Parameters
        ----------
        n_documents : int >= 1
            Documents of the person, all of them in every release.

        Returns
        -------
        epsilon : float
            By exp(ε) the odds between any two persons with so many documents change at
            most, whatever these say; inf where words are changed, since how much that
            hides depends on the words: ask the guarantee's ``exponent``.
        delta : float
            But for this probability.
        """
        n = check_integer("n_documents", n_documents, low=1)
        each = [one._of_person(n) for one in self.guarantees]
        return sum(e for e, _ in each), min(1.0, sum(d for _, d in each))

    def _sum_for_person(self) -> str:
        words = [one for one in self.guarantees if math.isinf(one._of_person(1)[0])]
        rest = [one for one in self.guarantees if one not in words]
        said = "Numbers of unlike units, which stand below one by one, do not add up. "
        if rest:
            totals = []
            for n, many in ((1, "one document"), (10, "10 documents")):
                each = [one._of_person(n) for one in rest]
                delta = sum(d for _, d in each)
                but = f" (δ = {rounded_up(delta, 2)})" if delta else ""
                epsilon = rounded_up(sum(e for e, _ in each))
                totals.append(f"ε = {epsilon}{but} for {many}")
            said += (
                "What adds up for one person, if another one with other texts stood in "
                f"all of these releases: {' and '.join(totals)}"
            )
            said += ", besides the changed words: " if words else ". "
        if words:
            said += (
                "What changed words hide depends on the words of both persons: ask the "
                "exponent of that guarantee, and add it."
            )
        return said.strip()

    @property
    def sentences(self) -> list[str]:
        """What adds up, and then the promises, one by one."""
        each = [s for one in self.guarantees for s in self._headed(one)]
        return [self._sum_for_person(), *each]

    @staticmethod
    def _headed(one: ComposedGuarantee) -> list[str]:
        first, *others = one.sentences
        return [f"For a {one.unit}. {first}", *others]

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        each = [limit for one in self.guarantees for limit in one.limits]
        return list(dict.fromkeys(each))

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{type(one).__name__} of a {one.unit}" for one in self.guarantees
        )
        return f"CombinedGuarantee({inside})\n{self}"

    def _repr_html_(self) -> str:
        return page(
            f"Privacy guarantees of {self.releases} releases, of unlike units",
            *map(paragraph, self.sentences),
            paragraph("Not promised:"),
            bullets(self.limits),
        )


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
