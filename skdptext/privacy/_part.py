"""What one kind of release promises, computed from its mechanism."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as fields_of
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    LossDistribution,
    MahalanobisMetric,
    TableMechanism,
    WordMechanism,
    check_exponents,
)
from skdptext.privacy._base import Part, fields
from skdptext.privacy._bottleneck import bottleneck_distance
from skdptext.privacy._matching import matching_cost, matching_plan
from skdptext.privacy._plain import decoded, encoded
from skdptext.privacy._redrawn import (
    drawn_log_proba,
    largest_log_ratio,
    mixture_exponent,
)
from skdptext.privacy._scale import Losses, Stated, measured
from skdptext.utils import (
    blocks,
    check_bags,
    check_flag,
    check_integer,
    check_option,
    check_real,
    kind_of,
    shown_words,
)

_SPLIT = "Split the text into words, as known_words of the perturber does."


@dataclass(frozen=True)
class Facts:
    """What is public of a mechanism and a reader, in plain values."""

    mechanism: str  # with its options, as printed
    epsilon: float  # of the mechanism
    lam: float
    channel: str  # fingerprints
    embedding: str
    n_vocabulary: int
    dim: int
    subwords: bool  # whether vectors of unknown words are inferred
    reading: str  # options of the reader, as JSON
    exact: bool  # whether the mechanism's probabilities are known in full
    numerical_delta: float | None  # of a word
    # What the promise is stated in
    converted: bool
    stated_epsilon: float
    metric_lam: float | None  # None: there is no metric
    ruler: str  # parts with the same one may add up their ε

    @classmethod
    def of(cls, mechanism: WordMechanism, reader: DocumentReader) -> Facts:
        """Of what draws and reads."""
        embedding, delta = reader.vocabulary, mechanism.numerical_delta
        stated = _stated_in(mechanism, mechanism.metric)
        each = None if delta is None else float(delta)
        epsilon = float(mechanism.epsilon)
        return cls(
            repr(mechanism),
            epsilon,
            float(mechanism.lam),
            mechanism.fingerprint.hex(),
            embedding.fingerprint.hex(),
            len(embedding),
            embedding.dim,
            embedding.has_subwords,
            _reading(reader),
            isinstance(mechanism, TableMechanism),
            each,
            False,
            epsilon,
            *stated,
        )

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for what draws and reads in the same way."""
        return self.channel, self.embedding, self.reading

    @cached_property
    def options(self) -> dict[str, Any]:
        """Of the reader."""
        read: dict[str, Any] = json.loads(self.reading)
        return read


class Source(NamedTuple):
    """What computes exponents, which no file holds."""

    mechanism: WordMechanism
    reader: DocumentReader  # reads documents, here as in a release
    converted: MahalanobisMetric | None = None  # that the promise is stated in


@dataclass(frozen=True, eq=False)
class PerturbationPart(Part):
    """Releases of documents by one mechanism and one reader."""

    facts: Facts
    source: Source | None  # None: from a file, and not given
    ordered: bool = False  # whether the order of the words is released
    size: int | None = None  # words that each document must have, if that is assumed
    kept: Stated | None = None  # from a file
    mechanism: Any = None  # from a file: what `encoded` made of the mechanism

    name = "words"
    unit = "word"

    @classmethod
    def of(
        cls, mechanism: WordMechanism, reader: DocumentReader, **others: Any
    ) -> PerturbationPart:
        """Of what draws and reads."""
        return cls(Facts.of(mechanism, reader), Source(mechanism, reader), **others)

    @property
    def kind(self) -> Hashable:
        """What parts share that differ in the number of releases, or in caveats."""
        return self.facts, self.ordered, self.size

    @property
    def _live(self) -> Source:
        if self.source is None:
            facts = self.facts
            raise InvalidParameterError(
                "this guarantee was read from a file, which does not hold the "
                f"embedding ({facts.n_vocabulary} words, {facts.dim} dimensions, "
                f"fingerprint {facts.embedding[:16]}…) that it needs for this: give it "
                "to from_json as embedding=."
            )
        return self.source

    @property
    def drawn_by(self) -> WordMechanism:
        """What draws the noise."""
        return self._live.mechanism

    @property
    def reader(self) -> DocumentReader:
        return self._live.reader

    @property
    def embedding(self) -> WordEmbedding:
        return self.reader.vocabulary

    @property
    def epsilon(self) -> float:
        """Of one release, in the units of the metric."""
        return self.facts.stated_epsilon

    @property
    def lam(self) -> float:
        return self.facts.lam

    @property
    def metric(self) -> MahalanobisMetric | None:
        """The metric that bounds the privacy loss; None where there is none."""
        return self._live.converted or self.drawn_by.metric

    @property
    def ruler(self) -> str:
        """Parts with the same one may add up their ε."""
        return self.facts.ruler

    @property
    def metric_lam(self) -> float | None:
        return self.facts.metric_lam

    @property
    def metric_name(self) -> str | None:
        if self.metric_lam is None:
            return None
        return "mahalanobis" if self.metric_lam else "euclidean"

    @property
    def n_words(self) -> int | None:
        length: int | None = self.facts.options["document_length"]
        return length or self.size

    @property
    def resampled(self) -> bool:
        return self.facts.options["resize"] == "sample" and bool(
            self.facts.options["document_length"]
        )

    @property
    def unknown_kept(self) -> bool:
        return bool(self.facts.options["oov"] == "keep")

    @property
    def numerical_delta(self) -> float | None:
        """Of all releases: of a document where its length is fixed, else of a word."""
        each = self.facts.numerical_delta
        return None if each is None else self.releases * (self.n_words or 1) * each

    def at_epsilon(self, epsilon: float) -> PerturbationPart:
        """The same releases with another ε of the mechanism."""
        mechanism = self.drawn_by.prepare(self.embedding, epsilon, self.lam)
        return self.with_mechanism(mechanism)

    def with_mechanism(self, mechanism: WordMechanism) -> PerturbationPart:
        """The same releases by another mechanism; not in words, for a search."""
        return replace(self, source=self._live._replace(mechanism=mechanism), kept=None)

    def stated_relative_to(
        self, metric: MahalanobisMetric, epsilon: float
    ) -> PerturbationPart:
        """The same releases, with the ε of a promise in another metric."""
        _, ruler = _stated_in(self.drawn_by, metric)
        facts = replace(
            self.facts,
            converted=True,
            stated_epsilon=epsilon,
            metric_lam=float(metric.lam),
            ruler=ruler,
        )
        source = self._live._replace(converted=metric)
        return replace(self, facts=facts, source=source, kept=None)

    @cached_property
    def stated(self) -> Stated:
        """What is printed of the mechanism and takes time to find."""
        if self.kept is not None:
            return self.kept
        scale = measured(self.embedding, self.metric, self.word_exponents)
        one, two = _pair(self.drawn_by.losses(*scale.pairs.T))
        said = () if self.facts.converted else tuple(self.drawn_by.sentences())
        return Stated(said, scale.nearest, scale.random, (one, two))

    # -- files -----------------------------------------------------------------

    def plain(self) -> dict[str, Any]:
        """All fields but the number of releases and the caveats, for JSON."""
        mechanism = self.mechanism
        if mechanism is None and self.source is not None:
            try:
                mechanism = encoded(clone(self.drawn_by))
            except TypeError:  # of the user's own: `bound` takes the perturber
                mechanism = None
        return {
            "ordered": self.ordered,
            "size": self.size,
            "facts": {k: encoded(v) for k, v in asdict(self.facts).items()},
            "mechanism": mechanism,
            "stated": [encoded(item) for item in self.stated],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], **common: Any) -> PerturbationPart:
        """The part that `plain` was called on; a ValueError or TypeError if none."""
        names = "ordered", "size", "facts", "mechanism", "stated"
        ordered, size, given, mechanism, kept = fields(plain, *names)
        known = [field.name for field in fields_of(Facts)]
        facts = Facts(*(decoded(value) for value in fields(given, *known)))
        _check_facts(facts, ordered, size)
        said, nearest, random, losses = map(decoded, kept)
        stated = Stated(tuple(said), float(nearest), float(random), _pair(losses))
        if not {type(s) for s in said} <= {str}:
            raise ValueError
        return cls(facts, None, ordered, size, stated, mechanism, **common)

    def bound(self, given: Any) -> PerturbationPart | None:
        """With an embedding or a fitted perturber; None if it is another."""
        if isinstance(given, WordEmbedding):
            if given.fingerprint.hex() != self.facts.embedding:
                return None
            return self._with(self._made_again(given))
        for part in _parts_of(given):
            if part.name == self.name and part.facts.identity == self.facts.identity:
                return self._with(part.source)
        return None

    def dp_event(self, dp_accounting: Any) -> Any:
        """There is none for metric privacy."""
        raise NotImplementedError

    def _with(self, source: Source) -> PerturbationPart:
        metric = source.mechanism.metric
        if self.facts.converted and metric is not None:
            source = source._replace(converted=metric.at(self.facts.metric_lam or 0.0))
        return replace(self, source=source)

    def _made_again(self, embedding: WordEmbedding) -> Source:
        """Mechanism and reader, from the options that the file has."""
        options = dict(self.facts.options)
        try:
            if options["tokenizer"] is not None:
                raise ValueError
            reader = DocumentReader(embedding, **options)
            mechanism = decoded(self.mechanism).prepare(
                embedding, self.facts.epsilon, self.facts.lam
            )
            if Facts.of(mechanism, reader).identity != self.facts.identity:
                raise ValueError
        except (TypeError, ValueError, LookupError, AttributeError):
            raise InvalidParameterError(
                "releaser must be given, the fitted perturber: its mechanism, "
                f"{self.facts.mechanism}, or how it reads documents, cannot be made "
                "again from a file."
            ) from None
        return Source(mechanism, reader)

    # -- exponents -------------------------------------------------------------

    def word_exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Exponents of one release between words of the embedding, (len(x), len(y))."""
        if metric := self._live.converted:
            vectors = self.embedding.vectors
            return self.epsilon * metric.distances(vectors[x], vectors[y])
        return check_exponents(self.drawn_by, x, y)

    def exponent(self, x: Any, y: Any) -> float:
        """Exponent of all releases between two words, or two documents, as listed."""
        return self.exponent_between(x, y)(self)

    def exponent_between(self, x: Any, y: Any) -> Callable[[PerturbationPart], float]:
        """`exponent` of two inputs by any part that reads as this one: read once."""
        if isinstance(x, str) and isinstance(y, str):
            ids = _word_ids(self.embedding, [x, y])
            return lambda part: (
                part.releases * float(part.word_exponents(ids[:1], ids[1:])[0, 0])
            )
        read = self._read(x, y)
        return lambda part: part.releases * part._document_exponent(*read)

    def is_linear(self, x: Any, y: Any) -> bool:
        """Whether the exponent of two inputs is proportional to the mechanism's ε."""
        words = isinstance(x, str) and isinstance(y, str)
        mixed = self.resampled and not (words or self.facts.converted)
        return self.metric_lam is not None and not mixed

    def n_left_out(self, x: Any, y: Any) -> int:
        """Unknown words of two documents, as listed, that a release leaves out."""
        if self.unknown_kept or (isinstance(x, str) and isinstance(y, str)):
            return 0
        both = [_document(document, self.embedding) for document in (x, y)]
        texts = [document for document in both if isinstance(document, list)]
        return self.reader.read(texts, whole=True).n_unknown if texts else 0

    def _read(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Codes of the words of both, as in a release."""
        both = [_document(document, self.embedding) for document in (x, y)]
        if not any(sp.issparse(document) for document in both):
            # together, so that unknown words that are kept have one number in both
            read = self.reader.read(both)
            return read[0], read[1]
        one, two = (self.reader.read(d if sp.issparse(d) else [d])[0] for d in both)
        return one, two

    def _document_exponent(self, one: np.ndarray, two: np.ndarray) -> float:
        sides = self._sides(one, two)
        if sides is None:
            return math.inf
        one, two = sides
        # A text: words have independent noise, so Pr[z | x] = Π Pr[z_i | x_i], and the
        # product is at most e^(Σ t_i) Pr[z | y].
        if self.ordered and not self.resampled:
            words, others = np.unique(one), np.unique(two)
            costs = self._code_exponents(words, others)
            at = np.searchsorted(words, one), np.searchsorted(others, two)
            return float(costs[at].sum())
        # A bag, or draws: only the word frequencies have an effect. If they are equal,
        # both documents are one input.
        words, supply, others, demand = _counted(one, two)
        if np.array_equal(words, others) and np.array_equal(supply, demand):
            return 0.0
        # Draws: N independent words from one mixture, so that Pr[z | x] = Π p_x(z_i) is
        # at most e^(N t) Π p_y(z_i), with t the exponent of one of them.
        if self.resampled:
            return self._drawn * self._drawn_exponent(one, two)
        # A bag: its distribution is the same for every order of y's words. The bound of
        # texts holds for each order, so the cheapest matching of the words is one, too.
        return matching_cost(supply, demand, self._code_exponents(words, others))

    def _drawn_exponent(self, one: np.ndarray, two: np.ndarray) -> float:
        """Exponent of one redrawn word, for documents of different frequencies."""
        # Known in full: t = max_z ln p_x(z)/p_y(z) is the smallest there is.
        if self.facts.exact and not self.facts.converted:
            return largest_log_ratio(*self._drawn_log_proba(one, two))
        words, supply, others, demand = _counted(one, two)
        costs = self._code_exponents(words, others)
        # A plan π moves x's frequencies to y's: p_x = Σ π_ij P_i ≤ Σ π_ij e^t_ij P_j,
        # which is at most e^T p_y, with T the longest step that π takes.
        longest = bottleneck_distance(supply, demand, costs)
        # A converted promise stays ε times a distance of documents, as T is.
        if self.facts.converted:
            return longest
        # The second is proved where it is computed. The smaller of two bounds is one.
        return min(longest, mixture_exponent(supply, demand, costs))

    def _drawn_log_proba(
        self, one: np.ndarray, two: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distributions of one redrawn word with its noise, of both documents.

        An unknown word that is kept has a place of its own, after the vocabulary.
        """
        clear = np.unique(np.append(one, two))
        clear = clear[clear < 0]
        logs = []
        for codes in (one, two):
            known = codes[codes >= 0]
            noisy = np.full(len(self.embedding), -math.inf)
            if len(known):
                noisy = drawn_log_proba(self._table, known)
            with np.errstate(divide="ignore"):
                shares = np.log([len(known), *(codes[:, None] == clear).sum(axis=0)])
            shares -= math.log(len(codes))
            logs.append(np.append(noisy + shares[0], shares[1:]))
        return logs[0], logs[1]

    @property
    def _table(self) -> TableMechanism:
        assert isinstance(self.drawn_by, TableMechanism)
        return self.drawn_by

    @property
    def _drawn(self) -> int:
        """Number of words drawn from each document."""
        return self.reader.sample_length or 0

    def _sides(
        self, one: np.ndarray, two: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Two documents as they are compared; None where their sizes differ."""
        if self.resampled:
            # A document without words is redrawn from the whole vocabulary.
            everything = np.arange(len(self.embedding))
            return one if len(one) else everything, two if len(two) else everything
        if self.size is not None and {len(one), len(two)} != {self.size}:
            raise InvalidParameterError(
                f"documents must have n_words={self.size} words each, as is stated, "
                f"got {len(one)} and {len(two)}."
            )
        return None if len(one) != len(two) else (one, two)

    # -- with a small δ --------------------------------------------------------

    def losses(self, x: Any, y: Any) -> tuple[LossDistribution, ...]:
        """Bounds on the privacy loss of all releases between two inputs, as listed.

        Each of them holds. Released words have independent noise, so in a text their
        losses add up. A bag is a function of the text, whatever the order in which it
        is written down, so the sum over any matching is a bound; here the one that is
        cheapest in exponents. The redrawn words of a document are independent, each
        from the same mixture: `_drawn_losses`.
        """
        times = self.releases
        if isinstance(x, str) and isinstance(y, str):
            one, two = _word_ids(self.embedding, [x, y])[:, None]
            return (self._sum(one, two, np.ones(1, int)).times(times),)
        sides = self._sides(*self._read(x, y))
        if sides is None:
            return (LossDistribution.of_exponents(math.inf, math.inf),)
        one, two = sides
        if not len(one):
            return (LossDistribution.total([]),)
        if self.resampled:
            each = self._drawn_losses(one, two)
            return tuple(loss.times(self._drawn * times) for loss in each)
        if self.ordered:
            (one, two), counts = np.unique([one, two], axis=1, return_counts=True)
            return (self._sum(one, two, counts).times(times),)
        words, supply, others, demand = _counted(one, two)
        matched = _moves(words, supply, others, demand, self._code_exponents)
        return (self._sum(*matched).times(times),)

    def _drawn_losses(self, one: np.ndarray, two: np.ndarray) -> list[LossDistribution]:
        """Bounds on the privacy loss of one redrawn word.

        Where the mechanism's distributions are known in full, so is the mixture's, and
        its loss. Elsewhere a redrawn word comes from a pair of words, one of each
        document, drawn by a plan that moves one's word frequencies to the other's, and
        the loss is bounded by that where the pair is seen; here the plan is the
        cheapest one with the smallest possible longest step. Or it is bounded by the
        worst that the exponents of the mixtures allow, in which the pair is not seen.
        """
        if self.facts.exact:
            both = self._drawn_log_proba(one, two)
            return [LossDistribution.of_log_proba(*both)]
        words, supply, others, demand = _counted(one, two)

        def within(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            costs = self._code_exponents(x, y)
            costs[costs > bottleneck_distance(supply, demand, costs)] = math.inf
            return costs

        seen = self._mixed(*_moves(words, supply, others, demand, within))
        forth, back = self._drawn_exponent(one, two), self._drawn_exponent(two, one)
        return [seen, LossDistribution.of_exponents(forth, back)]

    def _sum(
        self, x: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> LossDistribution:
        """The total loss of the given number of words of each pair."""
        totals = []
        for losses, each in self._pair_losses(x, y, counts):
            alike: dict[Any, LossDistribution] = {}
            times: Counter[Any] = Counter()
            for loss, n in zip(losses, each, strict=True):
                key = loss.step, loss.lowest, loss.infinite, loss.masses.tobytes()
                alike[key] = loss
                times[key] += int(n)
            totals.append(
                LossDistribution.total(alike[key].times(n) for key, n in times.items())
            )
        return LossDistribution.total(totals)

    def _mixed(
        self, x: np.ndarray, y: np.ndarray, counts: np.ndarray
    ) -> LossDistribution:
        """The loss of one word of a pair that is drawn in proportion to the counts."""
        mixed, weights = [], []
        for losses, each in self._pair_losses(x, y, counts, same=True):
            mixed.append(LossDistribution.mixture(losses, each / each.sum()))
            weights.append(each.sum() / counts.sum())
        return LossDistribution.mixture(mixed, weights)

    def _pair_losses(
        self, x: np.ndarray, y: np.ndarray, counts: np.ndarray, same: bool = False
    ) -> Iterator[tuple[list[LossDistribution], np.ndarray]]:
        """Losses of pairs of codes with their counts, some pairs at a time."""
        moved, clear = x != y, (x < 0) | (y < 0)
        noisy = (moved & ~clear).nonzero()[0]
        for rows in blocks(len(noisy), 256):
            at = noisy[rows]
            yield self.drawn_by.losses(x[at], y[at]), counts[at]
        # an unknown word that is kept is released as it is
        if (moved & clear).any():
            unbounded = LossDistribution.of_exponents(math.inf, math.inf)
            yield [unbounded], counts[moved & clear].sum(keepdims=True)
        if same and not moved.all():
            nothing = LossDistribution.of_exponents(0, 0)
            yield [nothing], counts[~moved].sum(keepdims=True)

    def _code_exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The same for codes: an unknown word that is kept is released as it is."""
        costs = np.where(x[:, None] == y, 0.0, math.inf)
        rows, columns = np.flatnonzero(x >= 0), np.flatnonzero(y >= 0)
        if len(rows) and len(columns):
            costs[np.ix_(rows, columns)] = self.word_exponents(x[rows], y[columns])
        return costs


def _pair(losses: Sequence[LossDistribution]) -> Losses:
    near, random = losses
    return near, random


def _stated_in(
    mechanism: WordMechanism, metric: MahalanobisMetric | None
) -> tuple[float | None, str]:
    """λ of a metric, and a digest of what ε is relative to."""
    if metric is None:
        return None, mechanism.options_fingerprint.hex()
    # Euclid's metric is the same over any Σ
    covariance = metric.spectrum.covariance if metric.lam else np.empty(0)
    return float(metric.lam), blake2b(
        np.ascontiguousarray(covariance).tobytes(),
        digest_size=16,
        key=repr(float(metric.lam)).encode(),
    ).hexdigest()


def _reading(reader: DocumentReader) -> str:
    """Options of a reader as JSON; of a tokenizer its name."""
    options = {field.name: getattr(reader, field.name) for field in fields_of(reader)}
    del options["embedding"]
    if not isinstance(options["stop_words"], str | None):
        options["stop_words"] = sorted(options["stop_words"])
    if (tokenizer := options["tokenizer"]) is not None:
        name = getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__)
        options["tokenizer"] = f"{getattr(tokenizer, '__module__', '')}.{name}"
    return json.dumps(options)


def _check_facts(facts: Facts, ordered: Any, size: Any) -> None:
    """Refuse values from a file that no guarantee has."""
    check_flag("ordered", ordered)
    for name in ("epsilon", "stated_epsilon"):
        check_real(name, getattr(facts, name), low=0, open_low=True)
    check_real("lam", facts.lam, low=0, high=1)
    if facts.metric_lam is not None:
        check_real("metric_lam", facts.metric_lam, low=0, high=1)
    if facts.numerical_delta is not None:
        check_real("numerical_delta", facts.numerical_delta, low=0, high=1)
    for n in (size, facts.options["document_length"]):
        if n is not None:
            check_integer("n_words", n, low=1)
    check_option("oov", facts.options["oov"], ("drop", "error", "keep"))
    check_option("resize", facts.options["resize"], ("truncate", "sample"))


def _parts_of(releaser: Any) -> Sequence[Any]:
    """Of a fitted releaser's guarantee; none if it has no guarantee."""
    guarantee = getattr(releaser, "guarantee", None)
    return guarantee().parts if callable(guarantee) else ()


def listed(document: Any) -> Any:
    """An input that can be read several times: an iterator becomes a list."""
    again = isinstance(document, str | Sequence) or hasattr(document, "shape")
    return document if again or not isinstance(document, Iterable) else list(document)


def _counted(
    one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distinct codes of both, with counts that have the same sum on both sides."""
    words, n_words = np.unique(one, return_counts=True)
    others, n_others = np.unique(two, return_counts=True)
    if len(one) == len(two):
        return words, n_words, others, n_others
    # Over the common denominator the frequencies are whole numbers.
    return words, n_words * len(two), others, n_others * len(one)


def _moves(
    words: np.ndarray,
    supply: np.ndarray,
    others: np.ndarray,
    demand: np.ndarray,
    costs_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of codes in the cheapest matching, and how often it has each."""
    plan = matching_plan(supply, demand, costs_of(words, others))
    rows, columns = plan.nonzero()
    return words[rows], others[columns], plan[rows, columns]


def _word_ids(embedding: WordEmbedding, words: list[str]) -> np.ndarray:
    """Numbers of single words; of unknown ones with subwords, the nearest word's."""
    ids = embedding.find(words)
    if (ids < 0).any():
        ids = DocumentReader(embedding, oov="keep").read([words]).codes
    unknown = np.flatnonzero(ids < 0)
    if len(unknown):
        text = any(len(words[i].split()) > 1 for i in unknown)
        raise InvalidParameterError(
            "words must be known to the embedding (a str is one word, a document a "
            f"list of them), got {len(unknown)} unknown: "
            f"{shown_words([words[i] for i in unknown])}."
            + (f" {_SPLIT}" if text else "")
        )
    return ids


def _document(document: Any, embedding: WordEmbedding) -> Any:
    """A list of words, or a row of counts."""
    if isinstance(document, str) or not (
        sp.issparse(document) or isinstance(document, Iterable)
    ):
        raise InvalidParameterError(
            "x and y must be two words, two lists of words or two rows of counts, got "
            f"{kind_of(document)}."
        )
    if not sp.issparse(document):
        document = list(document)
        if all(isinstance(word, str) for word in document):
            texts = [word for word in document if len(word.split()) > 1]
            if texts and (embedding.find(texts) < 0).any():
                raise InvalidParameterError(
                    "a document must be a list of words, got a text in it: "
                    f"{shown_words(texts)}. {_SPLIT}"
                )
            return document
    row = check_bags(document, n_words=len(embedding), counts=True, name="a document")
    if row.shape[0] != 1:
        raise InvalidParameterError(
            f"a document must be a single row of counts, got {row.shape[0]} rows."
        )
    return row
