"""What a release that answers with public documents promises."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse, LossDistribution
from skdptext.privacy import (
    COLUMNS,
    KEY,
    Guarantee,
    Part,
    Statement,
    exposure,
    fields,
)
from skdptext.utils import (
    bisect,
    check_integer,
    check_option,
    check_real,
    odds_factor,
    percent_up,
    rounded_up,
)

# Up to so many releases the bound on linkage is worked out. For more it is the number
# of groups, K: the coefficients of `_log_sequences` lie between 1/r! and K^r, and with
# K = 4,096 groups 4096^32 is 10^116 and 1/32! is 10^-36, so that float64 holds them.
_MANY = 32
# Candidates of which a printed guarantee speaks.
_CANDIDATES = 100
# Bounds are raised by this factor, which outweighs what rounding takes away from them.
_UP = 1 + 2.0**-40
# At ε = 8, randomized response over so many keeps the group in 42 % of the answers; a
# grouper that makes more of them identifies documents instead of topics.
MOST_GROUPS = 4096
# What differs in words between the units.
_SAID: dict[str, dict[str, Any]] = {
    "document": {
        "alike": "",
        "held": "documents",
        "any two": "any two documents",
        "whatever": " whatever",
        "group": "",
        "one": "the document",
        "ones": "documents",
        "which": "WHICH DOCUMENT IT WAS IS",
        "short": [
            "How many documents there are, and in which order.",
            "A further release, or a person's other documents: their ε add up.",
        ],
        "limits": [
            "More releases of the same document with fresh noise: their ε add up (see "
            "compose), and so do those of the documents of one author, unless each "
            "author answers once (transform with authors). An unchanged document under "
            "the same secret and id is answered the same, at no further cost; an "
            "edited one, or one under another id, costs ε again."
        ],
    },
    "person": {
        "alike": " with equally many documents",
        "held": "persons' documents",
        "any two": "all documents of one person and as many of any other",
        "whatever": ", whatever they say",
        "group": " A person's group is the one that most of their documents are in.",
        "one": "all documents of a person together",
        "ones": "persons",
        "which": "WHOSE DOCUMENTS THEY WERE IS",
        "short": [
            "How many documents a person has, and which rows these are.",
            "A further release, or documents under another name: their ε add up.",
        ],
        "limits": [
            "How many documents a person has, and which rows these are: stand-ins of "
            "one person come from one group. Someone who stands under several names "
            "counts as several persons.",
            "More releases of the same person with fresh noise: their ε add up (see "
            "compose), and so do those of some documents in one call and others in "
            "another. The same documents under the same secret and name are answered "
            "the same, at no further cost; with an edit, or one document more or less, "
            "they cost ε again.",
        ],
    },
}


@dataclass(frozen=True, eq=False)
class ReplacementPart(Part):
    """Releases through one grouping of documents."""

    channel: ExactResponse  # over the groups
    assign: Callable[[Sequence[Any]], np.ndarray] | None  # numbers of documents' groups
    grouping: bytes  # digest of the groups

    name = "stand-ins"
    unit: str = "document"  # or "person", whose documents answer once together

    @property
    def epsilon(self) -> float:
        """Of one release."""
        return self.channel.epsilon

    @property
    def kind(self) -> Hashable:
        """What parts share that differ in the number of releases, or in caveats."""
        return self.grouping, self.channel, self.unit

    def plain(self) -> dict[str, Any]:
        """All fields but the number of releases and the caveats, for JSON."""
        return {
            "n_groups": self.n_groups,
            "epsilon": float(self.epsilon),
            "grouping": self.grouping.hex(),
            "unit": self.unit,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], **common: Any) -> ReplacementPart:
        """The part that `plain` was called on; a ValueError or TypeError if none."""
        names = "n_groups", "epsilon", "grouping", "unit"
        n_groups, epsilon, grouping, unit = fields(plain, *names)
        check_option("unit", unit, tuple(_SAID))
        check_integer("n_groups", n_groups, low=2, high=MOST_GROUPS)
        check_real("epsilon", epsilon, low=0, open_low=True)
        fingerprint = bytes.fromhex(grouping)
        if len(fingerprint) != 32:
            raise ValueError
        channel = ExactResponse(n_groups, epsilon)
        return cls(channel, None, fingerprint, unit, **common)

    def bound(self, given: Any) -> ReplacementPart | None:
        """With the groups of a fitted replacer; None if they are others."""
        guarantee: Any = getattr(given, "guarantee", None)
        for part in guarantee().parts if callable(guarantee) else ():
            if isinstance(part, ReplacementPart) and part.grouping == self.grouping:
                (same,) = guarantee(self.unit).parts
                return replace(self, assign=same.assign)
        return None

    def dp_event(self, dp_accounting: Any) -> Any:
        """All releases, as dp-accounting describes them."""
        # Theirs draws one of all K groups with this probability, so that each other
        # group has 1/K of it; rounded down, as less noise hides less.
        noise = self.n_groups * math.exp(self.log_proba_own - self.epsilon)
        one = dp_accounting.RandomizedResponseDpEvent(noise / _UP, self.n_groups)
        # One by one: PLDAccountant of dp-accounting 0.6.0 counts a SelfComposedDpEvent
        # of randomized response once, however often it is composed.
        return dp_accounting.ComposedDpEvent([one] * self.releases)

    def _groups_of(self, x: Any, y: Any) -> tuple[int, int]:
        if self.assign is None:
            raise InvalidParameterError(
                "this guarantee was read from a file, which does not hold the "
                f"{self.n_groups} groups of documents (fingerprint "
                f"{self.grouping.hex()[:16]}…) that it needs for this: give the fitted "
                "DPDocumentReplacer to from_json as releaser=."
            )
        g, h = self.assign([x, y])
        return g, h

    @property
    def n_groups(self) -> int:
        return self.channel.n_groups

    @property
    def log_proba_own(self) -> float:
        """ln p: of the probability that a release answers with the group itself."""
        return -math.log1p((self.n_groups - 1) * math.exp(-self.epsilon))

    def exponent(self, x: Any, y: Any) -> float:
        """Of all releases, pure."""
        g, h = self._groups_of(x, y)
        return self.releases * self.epsilon if g != h else 0.0

    def losses(self, x: Any, y: Any) -> tuple[LossDistribution, ...]:
        """The privacy loss of all releases."""
        return (self.channel.losses(*self._groups_of(x, y)).times(self.releases),)

    @property
    def capacity(self) -> float:
        """The most that one release tells about anything, in nats.

        The capacity of the symmetric channel: ln K less the entropy of a row.
        """
        log_p = self.log_proba_own
        log_q, others = log_p - self.epsilon, self.n_groups - 1
        rest = others * math.exp(log_q) * log_q if others else 0.0
        nats = math.log(self.n_groups) + math.exp(log_p) * log_p + rest
        # Near ε = 0 two logarithms cancel and may leave a little less than nothing.
        return min(max(nats, 0.0), math.log(self.n_groups))

    @property
    def log_sum_of_best(self) -> float:
        """ln Σ_z max_d Pr[z | d], over all answers z of all releases.

        An answer is a sequence of r groups. The best document is of the group that
        occurs most often, m times, and has Pr = p^m q^(r−m).
        """
        k, r = self.n_groups, self.releases
        most = math.log(k)
        if r == 1:
            return min(most, most + self.log_proba_own)
        if r > _MANY:
            return most
        log_q = self.log_proba_own - self.epsilon
        terms = [
            _log_sequences(k, r, m) + m * self.log_proba_own + (r - m) * log_q
            for m in range(1, r + 1)
        ]
        return min(most, float(logsumexp(terms)))


def _log_sequences(k: int, r: int, m: int) -> float:
    """ln of the number of sequences of r of k symbols whose most frequent has m places.

    With f = Σ_{j<m} x^j/j! and g = f + x^m/m!, it is r! times the coefficient of x^r in
    g^k − f^k. The difference is followed through the products, as to subtract at the
    end would leave no digits of the few sequences of large m, which are likely ones.
    """
    # All terms are positive, so that no digits are lost, and lie between 1/r! and k^r:
    # up to r = 32, float64 holds them.
    powers = np.arange(r + 1)
    one = np.exp(-gammaln(powers + 1.0))
    fewer, exactly = np.where(powers < m, one, 0.0), np.where(powers == m, one, 0.0)
    product, of_m = np.where(powers == 0, 1.0, 0.0), np.zeros(r + 1)  # f^i, g^i − f^i
    while k:
        if k & 1:
            of_m = _product(of_m, fewer + exactly) + _product(product, exactly)
            product = _product(product, fewer)
        exactly = _product(exactly, 2 * fewer + exactly)
        fewer, k = _product(fewer, fewer), k >> 1
    with np.errstate(divide="ignore"):  # no sequence is so short of repeats
        return float(np.log(of_m[r]) + gammaln(r + 1.0))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Coefficients of a product of polynomials, cut to their size."""
    return np.convolve(a, b)[: len(a)]


class ReplacementGuarantee(Guarantee):
    r"""What one or several releases promise; made by `DPDocumentReplacer.guarantee`.

    Of n equally likely candidates nobody identifies more than the share K p / n on
    average, whatever they know, with K groups and p = e^ε / (e^ε + K − 1), since
    Σ_z max_d Pr[z | d] ≤ K p. For any two documents x, x' and any set S of releases,
    Pr[S | x] ≤ e^ε Pr[S | x']: ε-local differential privacy of the whole document. The
    odds between two documents of one group do not change at all.

    Parameters
    ----------
    parts : iterable of ReplacementPart
        Made by the replacer.

    Attributes
    ----------
    parts : tuple of ReplacementPart
        One for each kind of release that is composed here.
    epsilon : float
        Between any two documents, of all releases together.
    n_groups : int or None
        K; None where the parts differ in it.
    unit : {"document", "person"}
        What its numbers are about: a document; or all documents of a person together,
        where `DPDocumentReplacer.transform` was told the authors.
    releases : int
        Number of releases.
    information : float
        The most that the releases tell about anything at all, in nats.
    numerical_delta : float
        0: the draws are exact.

    See Also
    --------
    skdptext.privacy.PrivacyGuarantee : Of releases that change words.

    Notes
    -----
    *Why.* An adversary who sees the answer z and names the most likely candidate is
    right with probability (1/n) Σ_z max_d Pr[z | d], and nobody does better. A row of
    randomized response is p in its own group, so that the sum is at most K p; and with
    fewer candidates, or when they are in fewer groups, it is smaller. That the bound is
    reached is seen where each group holds a candidate.

    *Not promised*: that the author of the stand-in is hidden; anything at all if the
    public documents or the grouper were learned from the documents to be protected.

    References
    ----------
    .. [1] S. Warner (1965). Randomized response: a survey technique for eliminating
       evasive answer bias. JASA 60.
    .. [2] G. Smith (2009). On the foundations of quantitative information flow.
       FoSSaCS 2009.

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> labels = ["pets", "pets", "food", "food"]
    >>> replacer = DPDocumentReplacer(public, public_labels=labels, epsilon=2.0).fit()
    >>> guarantee = replacer.guarantee()
    >>> guarantee.epsilon, guarantee.exponent("my cat", "a cat")
    (2.0, 0.0)
    >>> print(f"{guarantee.found_at_most(100):.4f}")
    0.0176
    >>> guarantee.compose(3).epsilon
    6.0
    """

    parts: tuple[ReplacementPart, ...]

    _part_class = ReplacementPart

    @property
    def unit(self) -> str:
        """What its numbers are about: a document, or all those of a person."""
        unit: str = self.parts[0].unit
        return unit

    def _of_person(self, n_documents: int) -> tuple[float, float]:
        times = n_documents if self.unit == "document" else 1
        return times * self.epsilon, 0.0

    @property
    def epsilon(self) -> float:
        """Privacy parameter ε between any two documents, or persons with as many."""
        return float(sum(part.releases * part.epsilon for part in self.parts))

    @property
    def n_groups(self) -> int | None:
        """K, the number of groups."""
        groups: int | None = self._shared("n_groups")
        return groups

    @property
    def numerical_delta(self) -> float:
        """Probability that finite arithmetic changes a release: none does."""
        return 0.0

    @property
    def information(self) -> float:
        """Bound on the mutual information with anything at all, in nats.

        That of a release is at most the capacity of the channel; several add up, but no
        more than ln K is to be known of a grouping.
        """
        return self._within_groupings(lambda part: part.releases * part.capacity)

    def _within_groupings(self, nats: Callable[[ReplacementPart], float]) -> float:
        """Sum over the parts; of one grouping, ln K is all that there is to know."""
        # All answers through one grouping are made of the document's group alone. Who
        # knew the group would know all that they tell: the information is at most its
        # entropy, ln K, and Σ_z max_d Pr[z | d] is at most Σ_g Σ_z Pr[z | g] = K.
        total: dict[bytes, float] = {}
        for part in self.parts:
            added = total.get(part.grouping, 0.0) + nats(part)
            total[part.grouping] = min(math.log(part.n_groups), added)
        return sum(total.values())

    def exponent(self, x: Any, y: Any, delta: float = 0.0) -> float:
        """The t with Pr[S | x] ≤ e^t Pr[S | y] + δ for every set S of releases.

        Parameters
        ----------
        x, y : str or list of str
            Two documents, as in a release; of the unit "person" two lists of equally
            many documents, all those of one person and of another.
        delta : float in [0, 1), default=0.0
            The δ in [0, 1); 0 is the pure exponent.

        Returns
        -------
        exponent : float
            0 for documents of the same group, or where most are in the same; else, at
            δ = 0, `epsilon`.
        """
        return self._exponent(x, y, delta)

    def found_at_most(self, n_candidates: int) -> float:
        """Share of documents that anyone finds among so many candidates, at most.

        Parameters
        ----------
        n_candidates : int >= 1
            Documents that the adversary holds in the clear, equally likely, one of
            which was released; or persons with equally many documents, all known.

        Returns
        -------
        share : float in (0, 1]
            A bound for every adversary, whatever they know of the mechanism, the public
            documents and the noise of others. At least a random guess, 1/n.
        """
        n = check_integer("n_candidates", n_candidates, low=1)
        log_sum = self._within_groupings(lambda part: part.log_sum_of_best)
        # Up: as a bound it may be too large by 2^-40 of itself, and never too small.
        return min(1.0, math.exp(log_sum - math.log(n)) * _UP)

    def epsilon_for(
        self,
        x: Any = None,
        y: Any = None,
        *,
        factor: float | None = None,
        found: float | None = None,
        n_candidates: int = _CANDIDATES,
    ) -> float:
        """The largest ε of one release with which a promise holds.

        Parameters
        ----------
        x, y : str or list of str, default=None
            Two documents; None: any two.
        factor : float > 1, default=None
            By which the odds between them may change, over all `releases`.
        found : float in (0, 1], default=None
            Instead of `factor`: the share of documents that may be found among
            `n_candidates`.
        n_candidates : int >= 1, default=100
            How many documents the adversary holds.

        Returns
        -------
        epsilon : float
            Inf where any ε will do; 0 where none will.

        Raises
        ------
        InvalidParameterError
            If not exactly one of `factor` and `found` is given, or the guarantee is of
            several kinds of release.
        """
        if (factor is None) == (found is None):
            raise InvalidParameterError(
                "either factor or found must be given, got "
                f"{'neither' if factor is None else 'both'}."
            )
        if len(self.parts) > 1:
            raise InvalidParameterError(
                f"epsilon_for needs a single kind of release, got {len(self.parts)}."
            )
        (part,) = self.parts
        if factor is not None:
            allowed = math.log(check_real("factor", factor, low=1, open_low=True))
            if x is not None and y is not None and not part.exponent(x, y):
                return math.inf
            return allowed / part.releases
        share = check_real("found", found, low=0, high=1, open_low=True)
        n = check_integer("n_candidates", n_candidates, low=1)

        def within(epsilon: float) -> bool:
            at = replace(part, channel=ExactResponse(part.n_groups, epsilon))
            # The bound at this ε has been raised once by _UP. Raised twice, the share
            # asked for is not missed at an ε that attains it exactly.
            return ReplacementGuarantee([at]).found_at_most(n) <= share * _UP**2

        low, high = 2.0**-30, 64.0
        if not within(low):
            return 0.0
        if within(high):
            return math.inf
        return bisect(within, low, high, precision=1e-12)[0]

    # -- in words --------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """The promise in sentences, what matters most first."""
        return [*self._broken(), *self._promises()]

    def _promises(self) -> list[str]:
        share = self.found_at_most(_CANDIDATES)
        seen = "a release" if self.releases == 1 else f"all {self.releases} releases"
        groups = self.n_groups
        over = "" if groups is None else f" over {groups} public groups"
        most = math.ceil(share * _CANDIDATES * (1 - 1e-12))
        said = _SAID[self.unit]
        return [
            f"Of {_CANDIDATES} equally likely candidates{said['alike']}, nobody finds "
            f"more than {most} on average: anyone who holds {_CANDIDATES} "
            f"{said['held']} in the clear and sees {seen} names the right one with "
            f"probability at most {rounded_up(share, 3)}, whatever they know of the "
            "mechanism.",
            f"Between {said['any two']}{said['whatever']}, the odds change by at most "
            f"a factor of exp({rounded_up(self.epsilon)}) = "
            f"{odds_factor(self.epsilon)} (pure ε-local differential privacy, by "
            f"randomized response{over}); between two "
            f"of one group they do not change at all.{said['group']}",
            f"On average, {seen} {'tells' if self.releases == 1 else 'tell'} at most "
            f"{rounded_up(self.information, 3)} nats about {said['one']}, or about "
            f"anything else (the mutual information); to name one of {_CANDIDATES} "
            f"{said['ones']} takes {math.log(_CANDIDATES):.3g}.",
            "Empty, unknown and very long documents are covered, and so are the number "
            "and the order of words: a stand-in tells nothing but a group.",
        ]

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        return [
            *_SAID[self.unit]["limits"],
            "The author of the original, where few people write about its group.",
            "The author of the stand-in, who wrote a public document and is shown. "
            "Readers must be told that it is a stand-in.",
            "Anything, if the public documents, their labels or the grouper were "
            "learned from the documents to be protected: they must be public. So must "
            "the choice of ε and of the groups.",
            "A grouper of your own for which other documents matter, where no check "
            "shows it: every block is grouped again, in another order and in parts, "
            "and some documents alone. One that fails on a document stops the release "
            "and names its position, which tells something of the document.",
            "How many documents were released, and in which order. What goes with a "
            "document: ids, labels and columns that are kept are released as they are.",
            "Secrecy of the key: anyone who has the integer random_state or the key of "
            "a release can undo the noise, and anyone who can release documents with "
            "it finds out which were released, by giving their guesses the same ids. "
            "ChaCha20 and keyed BLAKE2b, which draw the noise, are taken for random "
            "bits.",
        ]

    def scale(self) -> list[dict[str, Any]]:
        """The promise on a human scale, as numbers.

        Returns
        -------
        rows : list of dict
            Ready for JSON: shares found among candidates, at most, and the exponent
            between any two documents.
        """
        rows: list[dict[str, Any]] = [
            {"candidates": n, "found_at_most": self.found_at_most(n)}
            for n in (10, 100, 1000)
        ]
        between = _SAID[self.unit]["any two"]
        return [{"between": between, "exponent": self.epsilon}, *rows]

    def _head(self) -> str:
        releases = f", releases={self.releases}" if self.releases > 1 else ""
        return (
            f"ReplacementGuarantee(epsilon={rounded_up(self.epsilon, 6)}, "
            f"n_groups={self.n_groups}{releases})"
        )

    def _statement(self) -> Statement:
        groups = "" if self.n_groups is None else f" over {self.n_groups} public groups"
        times = f", {self.releases} releases" if self.releases > 1 else ""
        epsilon, share = rounded_up(self.epsilon), self.found_at_most(_CANDIDATES)
        least = math.ceil(share * _CANDIDATES * (1 - 1e-12))
        said = _SAID[self.unit]
        hidden = (
            f"{said['which']} HIDDEN.",
            f"{said['which']} PARTLY HIDDEN.",
            f"NOTHING USEFUL IS PROMISED FOR {said['ones'].upper()}.",
        )[exposure(share, 1 / _CANDIDATES)]
        return Statement(
            f"Stand-ins for {said['held']}{groups}, ε = {epsilon}{times}.",
            [
                hidden,
                f"Of {_CANDIDATES} equally likely candidates{said['alike']}, nobody "
                f"identifies more than {least} on average.",
                "The group, such as the topic, is what the release is meant to reveal.",
            ],
            "Proved against anyone, if all candidates are equally likely. At most, on "
            "average:",
            [
                *(
                    [
                        f"identified among {n:,} candidates",
                        percent_up(self.found_at_most(n)),
                        f"guessing {100 / n:g}%",
                    ]
                    for n in (10, _CANDIDATES, 1000)
                ),
                [
                    f"odds between any two {said['ones']} multiplied by",
                    odds_factor(self.epsilon),
                    f"exponent {epsilon}",
                ],
            ],
            "Within one group odds do not change at all.",
            [
                *said["short"],
                "The author, where few write about the group, and that of the "
                "stand-in.",
                "Anything, if public documents, labels, groups or ε come from the "
                "private texts.",
                COLUMNS,
                KEY,
            ],
        )
