"""What one kind of release promises, computed from its channel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    LossDistribution,
    MahalanobisMetric,
    WordChannel,
    as_channel,
    check_exponents,
    law_fingerprint,
    word_losses,
)
from skdptext.privacy._redrawn import (
    drawn_log_proba,
    largest_log_ratio,
    mixture_exponent,
)
from skdptext.transport import bottleneck_distance, matching_cost, matching_plan
from skdptext.utils import blocks, check_bags, kind_of, shown_words

_SPLIT = "Split the text into words, as known_words of the perturber does."


@dataclass(frozen=True, eq=False)
class PerturbationPart:
    """Releases of documents through one channel and one reader."""

    channel: WordChannel
    reader: DocumentReader  # reads documents, here as in a release
    ordered: bool = False  # whether the order of the words is released
    releases: int = 1  # how many times, with fresh noise each time
    size: int | None = None  # words that each document must have, if that is assumed
    caveats: tuple[str, ...] = ()  # what voids the promise: sentences, which come first
    #: The ε and the metric that the promise is stated in, if not the channel's own.
    converted: tuple[float, MahalanobisMetric] | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """What parts share that differ in the number of releases, or in caveats."""
        same = id(self.channel), id(self.reader)  # not all channels have a hash
        return *same, self.ordered, self.size, self.converted

    @property
    def embedding(self) -> WordEmbedding:
        return self.reader.vocabulary

    @property
    def name(self) -> str:
        """The mechanism with its options."""
        return repr(self.channel.mechanism)

    @property
    def epsilon(self) -> float:
        """Of one release, in the units of the metric."""
        return self.converted[0] if self.converted else self.channel.epsilon

    @property
    def lam(self) -> float:
        return self.channel.lam

    @property
    def metric(self) -> MahalanobisMetric | None:
        """The metric that bounds the privacy loss; None where there is none."""
        return self.converted[1] if self.converted else self.channel.law().metric

    @property
    def metric_lam(self) -> float | None:
        return None if self.metric is None else self.metric.lam

    @property
    def metric_name(self) -> str | None:
        return None if self.metric is None else self.metric.name

    @property
    def n_words(self) -> int | None:
        return self.reader.document_length or self.size

    @property
    def resampled(self) -> bool:
        return self.reader.sample_length is not None

    @property
    def unknown_kept(self) -> bool:
        return self.reader.oov == "keep"

    @property
    def unit(self) -> Any:
        """The unit of ε: parts with the same unit may add up their ε."""
        if self.metric is None:
            mechanism = self.channel.mechanism
            return law_fingerprint(mechanism, self.embedding, 1.0, self.lam)
        # Euclid's metric is the same over any Σ
        covariance = self.metric.spectrum.covariance if self.metric.lam else np.empty(0)
        return self.metric.lam, covariance.tobytes()

    @property
    def numerical_delta(self) -> float | None:
        """Of all releases: of a document where its length is fixed, else of a word."""
        each = self.channel.law().numerical_delta
        return None if each is None else self.releases * (self.n_words or 1) * each

    def at_epsilon(self, epsilon: float) -> PerturbationPart:
        """The same releases with another ε of the mechanism."""
        given = self.channel.mechanism, self.embedding, epsilon, self.lam
        return replace(self, channel=as_channel(*given))

    # -- exponents -------------------------------------------------------------

    def word_exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Exponents of one release between words of the embedding, (len(x), len(y))."""
        if self.converted:
            epsilon, metric = self.converted
            vectors = self.embedding.vectors
            return epsilon * metric.distances(vectors[x], vectors[y])
        return check_exponents(self.channel, x, y)

    def exponent(self, x: Any, y: Any) -> float:
        """Exponent of all releases between two words, or two documents, as listed."""
        if isinstance(x, str) and isinstance(y, str):
            ids = _word_ids(self.embedding, [x, y])
            return self.releases * float(self.word_exponents(ids[:1], ids[1:])[0, 0])
        return self.releases * self._document_exponent(*self._read(x, y))

    def is_linear(self, x: Any, y: Any) -> bool:
        """Whether the exponent of two inputs is proportional to the mechanism's ε."""
        words = isinstance(x, str) and isinstance(y, str)
        mixed = self.resampled and not (words or self.converted)
        return self.metric is not None and not mixed

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
        if self.ordered and not self.resampled:
            words, others = np.unique(one), np.unique(two)
            costs = self._code_exponents(words, others)
            at = np.searchsorted(words, one), np.searchsorted(others, two)
            return float(costs[at].sum())
        words, supply, others, demand = _counted(one, two)
        if np.array_equal(words, others) and np.array_equal(supply, demand):
            return 0.0
        if self.resampled:
            return self._drawn * self._drawn_exponent(one, two)
        return matching_cost(supply, demand, self._code_exponents(words, others))

    def _drawn_exponent(self, one: np.ndarray, two: np.ndarray) -> float:
        """Exponent of one redrawn word, for documents of different frequencies."""
        if self.channel.law().log_proba is not None and not self.converted:
            return largest_log_ratio(*self._drawn_log_proba(one, two))
        words, supply, others, demand = _counted(one, two)
        costs = self._code_exponents(words, others)
        longest = bottleneck_distance(supply, demand, costs)
        if self.converted:
            return longest
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
            noisy = np.full(len(self.channel.released), -math.inf)
            if len(known):
                noisy = drawn_log_proba(self.channel, known)
            with np.errstate(divide="ignore"):
                shares = np.log([len(known), *(codes[:, None] == clear).sum(axis=0)])
            shares -= math.log(len(codes))
            logs.append(np.append(noisy + shares[0], shares[1:]))
        return logs[0], logs[1]

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
        if self.channel.law().log_proba is not None:
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
            yield word_losses(self.channel, x[at], y[at]), counts[at]
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
            if (embedding.find(texts) < 0).any():
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
