"""A guarantee is made of parts: what every kind of release has in common."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Self

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import LossDistribution
from skdptext.utils import (
    bullets,
    check_integer,
    check_kind,
    check_real,
    kind_of,
    lined_up,
    page,
    rounded_up,
    shown,
    table,
    wrapped,
)
from skdptext.utils import (
    details as folded,
)

FORMAT, VERSION = "skdptext guarantee", 1
#: An exponent up to the first is called protection, up to the second some; above it
#: nothing: e is 2.7, and e^20 is 5·10⁸.
GOOD, LARGE = 1, 20
# Who is right up to so often leaves something hidden, up to the second partly hidden.
# Both kinds of limits are needed. The odds of being right are held against those of a
# guess, or 60 of 100 would be called hidden where a guess finds 1. And who is nearly
# always right has found it, even where a guess is right every second time. So 4.8 of
# 100 candidates are hidden, and 33 partly; one person in a sum is up to ε = 1.09
# (right in 3 of 4 cases), and partly up to 2.19 (in 9 of 10).
_TIMES_ODDS, _RIGHT = (5, 50), (0.75, 0.9)
# Limits that several kinds share, so that they are said once.
COLUMNS = "Labels, ids and other columns: released as they are."
KEY = "Against holders of the key or an integer random_state: they can undo the noise."
_RULE = "x must be what a guarantee's to_json wrote, or the manifest of a release"


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(ABC):
    """Releases of one kind: how many, and what voids their promise.

    Subclasses are frozen dataclasses. They have a `unit`, "word", "document" or
    "person", and the `epsilon` of one release.
    """

    releases: int = 1
    caveats: tuple[str, ...] = ()

    #: What names the kind of release in files.
    name: ClassVar[str]

    @property
    @abstractmethod
    def kind(self) -> Hashable:
        """Equal for parts that differ in the number of releases or in caveats alone."""

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """All fields but these two, as JSON holds them."""

    @classmethod
    @abstractmethod
    def from_plain(cls, plain: Mapping[str, Any], **common: Any) -> Part:
        """The part that `plain` was called on; a ValueError or TypeError if none."""

    def bound(self, given: Any) -> Part | None:
        """The part with what a file does not hold; None if `given` is not about it."""
        return None

    @abstractmethod
    def dp_event(self, dp_accounting: Any) -> Any:
        """All releases, as dp-accounting describes them."""


class Statement(NamedTuple):
    """A guarantee on one screen."""

    title: str
    verdict: list[str]  # in capitals; what it means for those who publish
    heading: str
    rows: list[list[str]]  # label, numbers
    note: str
    limits: list[str]


class Guarantee:
    """What one or several releases promise; made by ``guarantee()`` and `compose`.

    Releases of one kind are a `PrivacyGuarantee`, a
    `~skdptext.replacement.ReplacementGuarantee` or a
    `~skdptext.learning.LearningGuarantee`. Releases of several kinds, or about a word,
    a document and a person, stand side by side: their ε do not add up. What adds up is
    what one person loses by all of them, `epsilon_of`.

    Parameters
    ----------
    parts : iterable of parts
        Those of other guarantees.

    Attributes
    ----------
    parts : tuple
        One for each way of releasing.
    guarantees : tuple of guarantees
        One for each kind and unit.
    releases : int
        Number of releases, of all parts together.
    unit : {"word", "document", "person"} or None
        What the numbers are about; None where the parts differ in it.
    epsilon : float or None
        The sum of the ε of all releases; None where there is no single one.

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

    parts: tuple[Any, ...]
    #: Of its parts, for a guarantee of one kind.
    _part_class: ClassVar[type[Part]]
    _classes: ClassVar[dict[str, type[Guarantee]]] = {}

    def __init_subclass__(cls) -> None:
        Guarantee._classes[cls._part_class.name] = cls

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts = tuple(parts)
        self._check(self.parts)

    @classmethod
    def _one_kind(cls, parts: Sequence[Any]) -> Any:
        """Of parts of one kind and unit."""
        kind = cls._classes[parts[0].name]
        kind._check(parts)
        guarantee = kind.__new__(kind)
        guarantee.parts = tuple(parts)
        return guarantee

    @classmethod
    def _of(cls, parts: Iterable[Any]) -> Any:
        """Of any parts; those that may be one are one."""
        groups: dict[Any, list[Any]] = {}
        for part in _merged(parts):
            groups.setdefault((part.name, part.unit), []).append(part)
        each = [cls._one_kind(group) for group in groups.values()]
        if len(each) == 1:
            return each[0]
        return Guarantee(part for one in each for part in one.parts)

    @classmethod
    def _check(cls, parts: Sequence[Part]) -> None:
        """Refuse parts that cannot be composed."""

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """One for each kind and unit."""
        made = Guarantee._of(self.parts)
        if type(made) is not Guarantee:
            return (made,)
        keys = dict.fromkeys((part.name, part.unit) for part in made.parts)
        return tuple(
            self._one_kind([p for p in made.parts if (p.name, p.unit) == key])
            for key in keys
        )

    def _shared(self, name: str) -> Any:
        """An attribute of the parts, if it is the same for all; else None."""
        first, *others = (getattr(part, name) for part in self.parts)
        return first if all(other == first for other in others) else None

    @property
    def unit(self) -> str | None:
        """What its numbers are about, if that is one thing."""
        return self._shared("unit")

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(part.releases for part in self.parts)

    @property
    def epsilon(self) -> float | None:
        """There is no single one for several units."""
        return None

    # -- several releases --------------------------------------------------------

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
        guarantee : of the same class, or Guarantee
            K times the exponents, or the sum of both. Guarantees of unlike kinds or
            units, of a word, a document or a person, do not add up: they stand side by
            side in a `Guarantee`, which says what adds up for one person.

        Raises
        ------
        InvalidParameterError
            If `other` is neither, or over another embedding.
        """
        if isinstance(other, Guarantee):
            return self._of([*self.parts, *other.parts])
        try:
            k = check_integer("other", other, low=1)
        except InvalidParameterError:
            raise InvalidParameterError(
                f"other must be an integer >= 1 or a {type(self).__name__}, got "
                f"{shown(other)}."
            ) from None
        return self._of(
            replace(part, releases=k * part.releases) for part in self.parts
        )

    def with_caveat(self, caveat: str) -> Self:
        """The same promise, below a sentence on what voids it.

        Parameters
        ----------
        caveat : str
            It is printed before all else, and stored.

        Returns
        -------
        guarantee : of the same class
            With the sentence.
        """
        check_kind(caveat, str, "caveat must be a sentence")
        made: Self = self._of(
            replace(part, caveats=tuple(dict.fromkeys((caveat, *part.caveats))))
            for part in self.parts
        )
        return made

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

    def _of_person(self, n_documents: int) -> tuple[float, float]:
        """The same of one kind and unit."""
        return math.inf, 0.0

    def _exponent(self, x: Any, y: Any, delta: float) -> float:
        """The t with Pr[S | x] ≤ e^t Pr[S | y] + δ for every set S of releases."""
        delta = check_real("delta", delta, low=0, high=1, open_high=True)
        pure = float(sum(part.exponent(x, y) for part in self.parts))
        if not delta or not pure:
            return pure
        bounds = [part.losses(x, y) for part in self.parts]
        # the same choice for every δ, so that the result cannot grow with it
        totals = [
            LossDistribution.total(each[min(i, len(each) - 1)] for each in bounds)
            for i in range(max(map(len, bounds)))
        ]
        return min(pure, *(losses.exponent(delta) for losses in totals))

    # -- files and other accountants ---------------------------------------------

    def to_json(self) -> str:
        """The guarantee as JSON, from which `from_json` makes it again.

        Returns
        -------
        text : str
            Public numbers, and fingerprints of what is public; no document. The
            :doc:`format </reference/file_formats>` will be read by later versions.
        """
        parts = [
            {
                "kind": part.name,
                "releases": part.releases,
                "caveats": list(part.caveats),
                **part.plain(),
            }
            for part in self.parts
        ]
        stored = {"format": FORMAT, "version": VERSION, "parts": parts}
        return json.dumps(stored, allow_nan=False)

    @classmethod
    def from_json(cls, x: Any, *, embedding: Any = None, releaser: Any = None) -> Any:
        """A guarantee that `to_json` wrote, or that a manifest holds.

        It prints the same text and composes to the same numbers. What is computed from
        documents or words, such as ``exponent``, needs `embedding` or `releaser`.

        Parameters
        ----------
        x : str or dict
            JSON, as text or as Python reads it: of a guarantee, or the manifest of a
            release or a model.
        embedding : WordEmbedding, default=None
            For a guarantee of words: the public embedding.
        releaser : DPWordPerturber or DPDocumentReplacer, default=None
            Fitted as for the release. A guarantee of stand-ins needs it to group
            documents; one of words, if mechanism or tokenizer are your own.

        Returns
        -------
        guarantee : Guarantee
            Of the class that `to_json` was called on.

        Raises
        ------
        InvalidParameterError
            If `x` is anything else, of a later version, or has a field that this
            version does not know; or if `embedding` or `releaser` have another
            fingerprint than those of the release.
        """
        try:
            stored = _parsed(x)
            if stored["version"] != VERSION:
                raise InvalidParameterError(
                    f"of version {shown(stored['version'])}, where this skdptext reads "
                    f"version {VERSION}"
                )
            fields(stored, "format", "version", "parts")
            parts = [_part(cls._classes, each) for each in stored["parts"]]
            if not parts:
                raise ValueError
            made = cls._of(parts)
        except (TypeError, LookupError, ValueError, AttributeError) as error:
            said = f" ({error})" if isinstance(error, InvalidParameterError) else ""
            raise InvalidParameterError(f"{_RULE}, got {kind_of(x)}{said}.") from None
        if not isinstance(made, cls):
            raise InvalidParameterError(
                f"{_RULE}, of a {cls.__name__}, got a {type(made).__name__}."
            )
        for name, given in (("embedding", embedding), ("releaser", releaser)):
            if given is not None:
                made = cls._of(_bound(made.parts, name, given))
        return made

    def to_dp_event(self) -> Any:
        """The releases as an event of dp-accounting [1]_, to be composed with others.

        Returns
        -------
        event : dp_accounting.DpEvent
            Stand-ins are `RandomizedResponseDpEvent`, for ``REPLACE_ONE``; noisy sums
            are `GaussianDpEvent` and `LaplaceDpEvent` of one person or document, for
            ``ADD_OR_REMOVE_ONE``. The events are about continuous noise. Ours is drawn
            in whole numbers on a fine grid, and the δ of Gaussian noise is larger by
            less than one part in 10⁶, which the event does not count.

        Raises
        ------
        InvalidParameterError
            If words are changed, since metric privacy has no event; or if the releases
            are of several kinds or units.
        ImportError
            If dp-accounting is not installed.

        References
        ----------
        .. [1] https://github.com/google/differential-privacy, `dp_accounting`.
        """
        if len(self.guarantees) > 1:
            raise InvalidParameterError(
                "to_dp_event is for guarantees of one kind and unit, got "
                f"{len(self.guarantees)}: ask each of .guarantees, as unlike units do "
                "not add up."
            )
        if self.unit == "word":
            raise InvalidParameterError(
                "to_dp_event is for guarantees whose ε does not depend on what is "
                "compared, got one of a word: dp-accounting has no event for metric "
                "privacy. Ask exponent, with the delta you need."
            )
        try:
            dp_accounting = import_module("dp_accounting")
        except ImportError as error:
            raise ImportError(
                "to_dp_event needs dp-accounting: pip install dp-accounting."
            ) from error
        events = [part.dp_event(dp_accounting) for part in self.parts]
        return events[0] if len(events) == 1 else dp_accounting.ComposedDpEvent(events)

    # -- in words ----------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        each = [
            f"For a {one.unit}. {sentence}" if first else sentence
            for one in self.guarantees
            for first, sentence in _with_first(one.sentences)
        ]
        return [self._sum_for_person(), *each]

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        each = [limit for one in self.guarantees for limit in one.limits]
        return list(dict.fromkeys(each))

    def _sum_for_person(self) -> str:
        every = self.guarantees
        words = [one for one in every if math.isinf(one._of_person(1)[0])]
        rest = [one for one in every if one not in words]
        said = "Numbers of unlike units do not add up. "
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
            said += ", besides the changed words. " if words else ". "
        if words:
            said += "What changed words hide depends on the words: add their exponent."
        return said.strip()

    def _statement(self) -> Statement:
        each = [(one.unit, one._statement()) for one in self.guarantees]
        return Statement(
            f"{self.releases} releases of {len(each)} kinds.",
            [
                *(f"For a {unit}: {' '.join(said.verdict[:2])}" for unit, said in each),
                self._sum_for_person(),
            ],
            "",
            [],
            "",
            [limit for _, said in each for limit in said.limits],
        )

    def _stated(self) -> Statement:
        """The statement, with what voids it before all else."""
        said = self._statement()
        limits = list(dict.fromkeys(said.limits))
        verdict = [*(f"WARNING. {text}" for text in self._broken()), *said.verdict]
        return said._replace(verdict=verdict, limits=limits)

    def _broken(self) -> list[str]:
        """What voids the promise."""
        if type(self) is Guarantee:
            each = [text for one in self.guarantees for text in one._broken()]
        else:
            each = [text for part in self.parts for text in part.caveats]
        return list(dict.fromkeys(each))

    def details(self) -> str:
        """The whole statement: each promise, and all that is not promised.

        Returns
        -------
        text : str
            Of lines for a terminal. ``print(guarantee)`` shows what it comes to.
        """
        lines = [wrapped(sentence) for sentence in self.sentences]
        lines.append("Not promised:")
        return "\n".join(lines + [wrapped(f"- {limit}") for limit in self.limits])

    def __str__(self) -> str:
        said = self._stated()
        blocks = [f"Privacy statement. {said.title}", "\n".join(said.verdict)]
        if said.rows:
            rows = "".join(f"  {line}\n" for line in lined_up(said.rows))
            blocks.append(f"{said.heading}\n{rows}{said.note}".strip())
        limits = [f"- {limit}" for limit in said.limits]
        blocks.append(
            "\n".join(["Not protected (details() has the whole list):", *limits])
        )
        return "\n\n".join(
            "\n".join(
                line if line.startswith("  ") else wrapped(line)
                for line in block.splitlines()
            )
            for block in blocks
        )

    def __repr__(self) -> str:
        return f"{self._head()}\n{self}"

    def _head(self) -> str:
        inside = ", ".join(
            f"{type(one).__name__} of a {one.unit}" for one in self.guarantees
        )
        return f"Guarantee({inside})"

    def _repr_html_(self) -> str:
        said = self._stated()
        columns = len(said.rows[0]) if said.rows else 0
        numbers = [said.heading, *[""] * (columns - 1)], said.rows
        return page(
            f"Privacy statement. {said.title}",
            *said.verdict,
            *([table(*numbers), said.note] if said.rows else []),
            "Not protected:",
            bullets(said.limits),
            folded("Details", *self.sentences, "Not promised:", bullets(self.limits)),
        )


def grade(exponent: float) -> int:
    """0: it protects; 1: it protects a little; 2: nothing in practice."""
    return (exponent > GOOD) + (exponent > LARGE)


def exposure(share: float, chance: float) -> int:
    """0: hidden from those who are right so often; 1: partly; 2: not.

    The one answer for shares that are proved and for shares that an attack finds.
    """
    guess = chance / (1 - chance)
    return sum(
        share > right or share > times * guess * (1 - share)
        for times, right in zip(_TIMES_ODDS, _RIGHT, strict=True)
    )


def in_nats(exponent: float) -> str:
    """An exponent in a readable form, rounded up."""
    if exponent == math.inf:
        return "infinite"
    if exponent < 999:
        return rounded_up(exponent, 3)
    return f"{math.ceil(exponent * (1 - 1e-12)):,}"


def fields(plain: Any, *names: str) -> list[Any]:
    """The fields of an object in JSON, which must be all that it has."""
    if not isinstance(plain, Mapping) or set(plain) != set(names):
        missing = ", ".join(name for name in names if name not in plain)
        more = "fields that this version does not know"
        raise InvalidParameterError(f"without {missing}" if missing else f"with {more}")
    return [plain[name] for name in names]


def _parsed(x: Any) -> Mapping[str, Any]:
    stored = json.loads(x) if isinstance(x, str | bytes) else x
    if "guarantee" in stored:
        stored = stored["guarantee"]["stored"]
    if stored["format"] != FORMAT:
        raise ValueError
    return stored


def _part(classes: Mapping[str, type[Guarantee]], given: Mapping[str, Any]) -> Part:
    plain = dict(given)
    made_by = classes[plain.pop("kind")]._part_class
    caveats = plain.pop("caveats")
    releases = check_integer("releases", plain.pop("releases"), low=1)
    if not isinstance(caveats, list) or not all(isinstance(c, str) for c in caveats):
        raise ValueError
    return made_by.from_plain(plain, releases=releases, caveats=tuple(caveats))


def _bound(parts: Iterable[Part], name: str, given: Any) -> list[Part]:
    """The parts, those that an embedding or releaser is about with it."""
    each = [(part, part.bound(given)) for part in parts]
    if not any(bound for _, bound in each):
        raise InvalidParameterError(
            f"{name} must be the one of the release, by its fingerprint, got another, "
            f"{kind_of(given)}."
        )
    return [bound or part for part, bound in each]


def _merged(parts: Iterable[Any]) -> list[Any]:
    """Parts of one kind are one: a bound on all of its releases may be tighter."""
    merged: dict[Any, Any] = {}
    for part in parts:
        key = part.name, part.kind
        if key in merged:
            known = merged[key]
            part = replace(
                known,
                releases=known.releases + part.releases,
                caveats=tuple(dict.fromkeys([*known.caveats, *part.caveats])),
            )
        merged[key] = part
    return list(merged.values())


def _with_first(sentences: Sequence[str]) -> Iterable[tuple[bool, str]]:
    return ((i == 0, sentence) for i, sentence in enumerate(sentences))
