"""The promise of releases of noisy words, from their mechanism and reader."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    MECHANISMS,
    LossDistribution,
    MahalanobisMetric,
    TableMechanism,
    WordMechanism,
    check_exponents,
)
from skdptext.privacy._matching import bottleneck_distance, matching_plan
from skdptext.privacy._parts import Part
from skdptext.privacy._statement import DELTA
from skdptext.utils import (
    blocks,
    check_integer,
    check_option,
    check_real,
    kind_of,
    read_bags,
    shown_words,
    warn_once,
)

# Added to exponents: more than all rounding in the logarithms they come from.
_ROUNDING = 2.0**-40
_ORDERED = (
    "Words are released in order: where a bag of words would hide a document, "
    "comparing word by word identifies it among candidates."
)
_CLEAR = (
    "Words unknown to the embedding are released in plain text: what follows only "
    "holds between documents with the same unknown words in the same places."
)
# The largest accepted number of words of a document.
_MOST_WORDS = 10**8
# The largest accepted ε. Sums and products with it do not overflow.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class WordPart(Part):
    """Releases of documents through one mechanism and one reader."""

    mechanism: WordMechanism
    reader: DocumentReader  # reads documents as a release does
    ordered: bool = False  # whether the order of the words is released
    size: int | None = None  # number of words that each document must have, if assumed
    #: If the promise is stated in another metric than that of the noise: λ of that
    #: metric, and how ε is converted, "eigenvalues" or "lemma3".
    converted: tuple[float, str] | None = None

    kind = "words"
    unit = "word"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedding.fingerprint != self.mechanism.embedding.fingerprint:
            raise InvalidParameterError(
                "reader must read words of the mechanism's embedding, got one of "
                f"{len(self.embedding)} words, of another fingerprint."
            )
        check_real("epsilon", self.mechanism.epsilon, low=0, high=_LARGEST)
        check_option("ordered", self.ordered)
        if self.size is not None:
            check_integer("n_words", self.size, low=1, high=_MOST_WORDS)

    @property
    def key(self) -> Hashable:
        # Redefining a class makes another mechanism.
        law = type(self.mechanism), self.mechanism.fingerprint
        return super().key, law, self.reader.tokenizer

    @property
    def embedding(self) -> WordEmbedding:
        return self.reader.embedding

    @cached_property
    def _stated(self) -> tuple[MahalanobisMetric | None, float]:
        own, epsilon = self.mechanism.metric, self.mechanism.epsilon
        if self.converted is None or own is None:
            return own, epsilon
        lam, by = self.converted
        metric = MahalanobisMetric(lam, own.spectrum)
        if lam == own.lam:  # Lemma 3 would enlarge ε even here
            return metric, epsilon
        widest = metric.eigenvalues if by == "eigenvalues" else lemma3_widest(lam, own)
        return metric, float(epsilon / math.sqrt((own.eigenvalues / widest).min()))

    @property
    def metric(self) -> MahalanobisMetric | None:
        """The metric that bounds the privacy loss; None where there is none."""
        return self._stated[0]

    @property
    def epsilon(self) -> float:
        """ε of one release, in the units of the metric."""
        return self._stated[1]

    @property
    def n_words(self) -> int | None:
        return self.reader.document_length or self.size

    @property
    def resampled(self) -> bool:
        return bool(self.reader.sample_length)

    @property
    def unknown_kept(self) -> bool:
        return self.reader.oov == "keep"

    @property
    def numerical_delta(self) -> float | None:
        """Error of all releases of a document, or of a word if lengths vary."""
        each = self.mechanism.numerical_delta
        return None if each is None else self.releases * (self.n_words or 1) * each

    @property
    def warnings(self) -> tuple[str, ...]:
        ordered = (_ORDERED,) if self.ordered and not self.resampled else ()
        return *ordered, *self.caveats, *((_CLEAR,) if self.unknown_kept else ())

    def at_epsilon(self, epsilon: float) -> "WordPart":
        mechanism = self.mechanism
        prepared = mechanism.prepare(self.embedding, epsilon, mechanism.lam)
        return replace(self, mechanism=prepared)

    @staticmethod
    def epsilon_of_all(parts: "Sequence[WordPart]") -> float | None:
        # ε adds up in one metric. Without a metric, it does for one mechanism.
        units = {
            part.metric.factor.tobytes()
            if part.metric
            else part.mechanism.options_fingerprint
            for part in parts
        }
        return Part.epsilon_of_all(parts) if len(units) == 1 else None

    @staticmethod
    def of_person(parts: "Sequence[WordPart]", n_documents: int) -> tuple[float, float]:
        return math.inf, 0.0  # the loss depends on the words that change

    # -- files -----------------------------------------------------------------

    def options(self) -> dict[str, Any]:
        given = self.mechanism.get_params(deep=False)
        names = {each: name for name, each in MECHANISMS.items()}
        return {
            "mechanism": names.get(type(self.mechanism), repr(type(self.mechanism))),
            "options": _plain(given),
            "epsilon": float(self.mechanism.epsilon),
            "lam": float(self.mechanism.lam),
            "embedding": self.embedding.fingerprint.hex(),
            "reading": _plain(self.reader.options),
            "ordered": self.ordered,
            "n_words": self.size,
            "relative_to": list(self.converted) if self.converted else None,
        }

    @classmethod
    def of_options(
        cls, options: Mapping[str, Any], embedding: Any, **common: Any
    ) -> "WordPart":
        if options["embedding"] != getattr(embedding, "fingerprint", b"").hex():
            raise EmbeddingError(
                "embedding must be the public embedding of the release, by its "
                f"fingerprint, got {'None' if embedding is None else 'another'}."
            )
        mechanism = MECHANISMS[options["mechanism"]](**options["options"])
        prepared = mechanism.prepare(embedding, options["epsilon"], options["lam"])
        reader = DocumentReader(embedding, **options["reading"])
        fixed = options["ordered"], options["n_words"]
        part = cls(prepared, reader, *fixed, **common)
        stated = options["relative_to"]
        return part if stated is None else part.relative_to(*stated)

    # -- the metric --------------------------------------------------------------

    def own_metric(self, what: str) -> MahalanobisMetric:
        """Get the metric on vectors that bounds the mechanism's own loss, or refuse."""
        if self.mechanism.metric is None:
            raise InvalidParameterError(
                f"{what} is for mechanisms whose exponent is ε times a metric on "
                f"vectors, such as MahalanobisNoise; {self.mechanism!r} has none."
            )
        return self.mechanism.metric

    def relative_to(self, lam: Any, by: Any) -> "WordPart":
        """State the promise of the same releases in another metric."""
        check_option("by", by, ("eigenvalues", "lemma3"))
        lam = check_real("lam", lam, low=0, high=1)
        own = self.own_metric("relative_to")
        MahalanobisMetric(lam, own.spectrum)  # refuses a singular one
        return replace(self, converted=(float(lam), by))

    # -- exponents -------------------------------------------------------------

    def word_exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Compute exponents of one release between words, shape (len(x), len(y))."""
        if self.converted and self.metric:
            vectors = self.embedding.vectors
            return self.epsilon * self.metric.distances(vectors[x], vectors[y])
        return check_exponents(self.mechanism, x, y)

    def exponent(self, x: Any, y: Any) -> float:
        one, two = self._read(x, y)
        if drawn := self._drawn(x):
            return self.releases * drawn * self._drawn_exponent(one, two)
        if len(one) != len(two):  # the release reveals the length
            return math.inf
        _, _, counts, exponents = self._matched(one, two)
        return self.releases * float((counts * exponents).sum())

    def _read(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Read the words of both inputs as a release does, and return their codes."""
        if isinstance(x, str) and isinstance(y, str):
            ids = _word_ids(self.embedding, [x, y])
            return ids[:1], ids[1:]
        if sp.issparse(x) or sp.issparse(y):
            each = [self.reader.read(d if sp.issparse(d) else [d]) for d in (x, y)]
            one, two = each[0][0], each[1][0]
        else:
            # Both are read together, because a kept unknown word must have the same
            # number in both.
            each = [self.reader.read([x, y])]
            one, two = each[0][0], each[0][1]
        left_out = sum(read.n_unknown for read in each)
        if left_out and not self.unknown_kept:
            warn_once(
                f"{left_out} words of x and y are unknown to the embedding. A release "
                "leaves them out, and so does this exponent: documents that differ "
                "only in such words have exponent 0. To see which words of a text a "
                "release reads, call known_words of the perturber.",
                UserWarning,
                "unknown words of exponents",
            )
        if self.resampled:  # a document without words is redrawn from all words
            every = np.arange(len(self.embedding))
            return one if len(one) else every, two if len(two) else every
        if self.size is not None and {len(one), len(two)} != {self.size}:
            raise InvalidParameterError(
                f"documents must have n_words={self.size} words each, as assumed, got "
                f"{len(one)} and {len(two)}."
            )
        return one, two

    def _drawn(self, x: Any) -> int:
        """Number of words drawn from each document; 0 for a word, or if none is."""
        return 0 if isinstance(x, str) else self.reader.sample_length or 0

    def _matched(
        self, one: np.ndarray, two: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Match the words: pairs of codes, how often each occurs, and its exponent.

        In a text, words have independent noise, so Pr[z | x] = Π Pr[z_i | x_i], and the
        product is at most e^(Σ t_i) Pr[z | y]. The distribution of a bag is the same
        for every order of y's words. The bound of texts holds for each order, and
        therefore for the cheapest matching of the words.
        """
        words, i = np.unique(one, return_inverse=True)
        others, j = np.unique(two, return_inverse=True)
        exponents = self._code_exponents(words, others)
        if self.ordered or len(one) < 2:
            plan = np.zeros(exponents.shape, dtype=np.int64)
            np.add.at(plan, (i, j), 1)
        else:
            plan = matching_plan(np.bincount(i), np.bincount(j), exponents)
        at = plan.nonzero()
        return words[at[0]], others[at[1]], plan[at], exponents[at]

    def _drawn_exponent(self, one: np.ndarray, two: np.ndarray) -> float:
        """Compute the exponent of one redrawn word.

        A redrawn document consists of N independent words from one mixture, so
        Pr[z | x] = Π p_x(z_i) is at most e^(N t) Π p_y(z_i).
        """
        words, supply, others, demand = _counted(one, two)
        # Only the word frequencies matter. If they are equal, both documents are the
        # same input.
        if np.array_equal(words, others) and np.array_equal(supply, demand):
            return 0.0
        # If p is known in full, t = max_z ln p_x(z)/p_y(z) is the smallest exponent.
        if isinstance(self.mechanism, TableMechanism) and not self.converted:
            x, y = self._drawn_log_proba(self.mechanism, one, two)
            gaps = x[np.isfinite(x)] - y[np.isfinite(x)]
            return max(0.0, float(gaps.max()) + _ROUNDING)
        exponents = self._code_exponents(words, others)
        # A plan π moves x's frequencies to y's: p_x = Σ π_ij P_i ≤ Σ π_ij e^t_ij P_j,
        # which is at most e^T p_y, with T the longest step of π.
        longest = bottleneck_distance(supply, demand, exponents)
        # A converted promise must remain ε times a distance of documents, and T is one.
        if self.converted:
            return longest
        # `mixture_exponent` proves the second bound. The smaller of two bounds is a
        # bound.
        return min(longest, mixture_exponent(supply, demand, exponents))

    def _drawn_log_proba(
        self, mechanism: TableMechanism, *documents: np.ndarray
    ) -> list[np.ndarray]:
        """Compute ln Pr[z | document] of one redrawn noisy word, for every z.

        Unknown words that are kept get columns of their own, after the vocabulary.
        """
        clear = np.unique(np.concatenate(documents))
        clear, logs = clear[clear < 0], []
        for codes in documents:
            words, counts = np.unique(codes[codes >= 0], return_counts=True)
            noisy = np.full(len(self.embedding), -math.inf)
            for block in blocks(len(words), 64):
                rows = mechanism.checked_log_proba(words[block])
                rows = rows + np.log(counts[block])[:, None]
                noisy = np.logaddexp(noisy, logsumexp(rows, axis=0))
            with np.errstate(divide="ignore"):
                kept = np.log((codes[:, None] == clear).sum(axis=0))
            logs.append(np.append(noisy, kept) - math.log(len(codes)))
        return logs

    def _code_exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Compute exponents between codes; kept unknown words stay unchanged."""
        costs = np.where(x[:, None] == y, 0.0, math.inf)
        rows, columns = np.flatnonzero(x >= 0), np.flatnonzero(y >= 0)
        if len(rows) and len(columns):
            costs[np.ix_(rows, columns)] = self.word_exponents(x[rows], y[columns])
        return costs

    # -- with a small δ --------------------------------------------------------

    def losses(self, x: Any, y: Any) -> list[LossDistribution]:
        """Bound the privacy loss of all releases by distributions, each of which holds.

        Released words have independent noise, so their losses add up in a text. A bag
        is a function of the text, for any order in which it is written down. The sum
        over any matching is therefore a bound, and we use the matching that is cheapest
        in exponents. Redrawn words are independent draws from one mixture
        (`_drawn_losses`).
        """
        if self.converted:  # the noise is the same in every metric
            return replace(self, converted=None).losses(x, y)
        one, two = self._read(x, y)
        if drawn := self._drawn(x):
            times = drawn * self.releases
            return [loss.times(times) for loss in self._drawn_losses(one, two)]
        if len(one) != len(two):
            return [LossDistribution.of_exponents(math.inf, math.inf)]
        x, y, counts, _ = self._matched(one, two)
        moved = x != y
        losses = self._pair_losses(x[moved], y[moved])
        # Equal losses are the same object. Counting them saves most convolutions.
        alike: Counter[LossDistribution] = Counter()
        for loss, n in zip(losses, counts[moved].tolist(), strict=True):
            alike[loss] += n
        total = LossDistribution.total(loss.times(n) for loss, n in alike.items())
        return [total.times(self.releases)]

    def _drawn_losses(self, one: np.ndarray, two: np.ndarray) -> list[LossDistribution]:
        """Bound the privacy loss of one redrawn word.

        If the mechanism's distributions are known in full, the mixture and its loss are
        known as well. Otherwise, a plan that moves the word frequencies of one document
        to those of the other draws a pair of words, one from each document. The loss is
        at most the loss if this pair is revealed. We use the cheapest plan with the
        smallest possible longest step. The second bound is the worst that the exponents
        of the mixtures allow; it is smaller if few words differ.
        """
        if isinstance(self.mechanism, TableMechanism):
            both = self._drawn_log_proba(self.mechanism, one, two)
            return [LossDistribution.of_log_proba(*both)]
        words, supply, others, demand = _counted(one, two)
        exponents = self._code_exponents(words, others)
        longest = bottleneck_distance(supply, demand, exponents)
        exponents[exponents > longest] = math.inf
        plan = matching_plan(supply, demand, exponents)
        i, j = plan.nonzero()
        losses = self._pair_losses(words[i], others[j])
        revealed = LossDistribution.mixture(losses, plan[i, j] / plan.sum())
        forth, back = self._drawn_exponent(one, two), self._drawn_exponent(two, one)
        return [revealed, LossDistribution.of_exponents(forth, back)]

    def _pair_losses(self, x: np.ndarray, y: np.ndarray) -> list[LossDistribution]:
        """Bound the losses of pairs of codes; kept unknown words stay unchanged."""
        same, told = (LossDistribution.of_exponents(t, t) for t in (0.0, math.inf))
        losses = [same if equal else told for equal in x == y]
        (noisy,) = ((x != y) & (x >= 0) & (y >= 0)).nonzero()
        if len(noisy):
            bounds = self.mechanism.losses(x[noisy], y[noisy])
            for at, loss in zip(noisy, bounds, strict=True):
                losses[at] = loss
        return losses

    # -- on a human scale --------------------------------------------------------

    def bounds(self, *sizes: int) -> list[tuple[float, float]]:
        """Compute exponents, pure and with δ, of typical words, near and random."""
        # The sample is fixed, so a guarantee prints the same numbers each time, and it
        # depends on the public embedding only.
        sample, near, random = _sample_of(self.embedding)
        apart = self.word_exponents(sample, np.append(near, random))
        medians, pairs, n = [], [], len(sample)
        for ids, matrix in zip((near, random), np.hsplit(apart, 2), strict=True):
            exponents = matrix.diagonal()
            order = np.argsort(exponents, kind="stable")
            medians.append(float(exponents[order[(n - 1) // 2 : n // 2 + 1]].mean()))
            pairs.append((sample[order[n // 2]], ids[order[n // 2]]))
        # In one call, because a table of probabilities passes over all words for it.
        losses = self.mechanism.losses(*np.array(pairs).T)
        return [
            (n * pure, min(n * pure, loss.times(n).exponent(DELTA)))
            for n in (size * self.releases for size in sizes)
            for pure, loss in zip(medians, losses, strict=True)
        ]


class EmbeddingError(InvalidParameterError):
    """A stored guarantee of words was read without its embedding."""


def lemma3_widest(lam: float, metric: MahalanobisMetric) -> float:
    """Bound the largest eigenvalue of M by the trace of Σ, as the lemma does."""
    return float(lam * metric.spectrum.eigenvalues.sum() + 1 - lam)


def mixture_exponent(
    supply: np.ndarray, demand: np.ndarray, exponents: np.ndarray
) -> float:
    r"""Bound the exponent between two mixtures, given pairwise exponents.

    `supply` and `demand` are integer weights of the distributions P_i in p and Q_j in
    q, with the same sum; `exponents` are t_ij with P_i ≤ e^t_ij Q_j, inf if there is
    none. The result is a t with p ≤ e^t q.

    With s_i = Σ_j q_j e^(−t_ij), q is at least s_i P_i. For any plan π that moves p's
    weights to q's,

    .. math::

        p - q = \sum_{ij} π_{ij} (P_i - Q_j)
        \le \sum_{ij} π_{ij} (1 - e^{-t_{ij}}) P_i
        \le \sum_{ij} π_{ij} \frac{1 - e^{-t_{ij}}}{s_i} \, q .

    So t = ln(1 + c), with c the cost of the cheapest plan. If a share g of the weights
    moves, and t bounds all t_ij, this is at most ln(1 + g(e^t − 1)), the advanced joint
    convexity of Balle, Barthe and Gaboardi (2018).
    """
    with np.errstate(divide="ignore"):
        weights = np.log(demand) - np.log(demand.sum())
        lost = np.log(-np.expm1(-exponents))  # −inf for a word that does not move
        logs = lost - logsumexp(weights - exponents, axis=1, keepdims=True)
    at_most = float(logs[logs < np.inf].max(initial=-np.inf))
    if at_most == -np.inf:  # every move is free, or none is possible
        return 0.0 if (logs < np.inf).all() else np.inf
    # For the solver, costs are scaled to at most 1 and raised to at least e^−690. The
    # plan need not be optimal: the cost of any plan is a bound, and the cost is
    # computed from the logs.
    costs = np.exp(np.maximum(logs - at_most, -690.0))
    plan = matching_plan(supply, demand, np.where(np.isneginf(logs), 0.0, costs))
    moved = plan > 0
    shares = np.log(plan[moved]) - np.log(supply.sum())
    return float(np.logaddexp(0, logsumexp(shares + logs[moved]))) + _ROUNDING


def _counted(
    one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Count the distinct codes of both, scaled to the same sum on both sides."""
    words, n_words = np.unique(one, return_counts=True)
    others, n_others = np.unique(two, return_counts=True)
    if len(one) == len(two):
        return words, n_words, others, n_others
    # Over a common denominator the frequencies are integers, and no rounding occurs.
    return words, n_words * len(two), others, n_others * len(one)


def _word_ids(embedding: WordEmbedding, words: list[str]) -> np.ndarray:
    """Get ids of single words; unknown words with subwords get the nearest word."""
    ids = DocumentReader(embedding, oov="keep").read([words]).codes
    unknown = [word for word, i in zip(words, ids, strict=True) if i < 0]
    if unknown:
        raise InvalidParameterError(
            "words must be known to the embedding (a str is one word, a document a "
            f"list of them), got {len(unknown)} unknown: {shown_words(unknown)}."
        )
    return ids


def as_document(document: Any, embedding: WordEmbedding) -> Any:
    """Convert a document to a list of words or a row of counts, and check it."""
    listed = isinstance(document, Iterable) and getattr(document, "ndim", 1) > 0
    if isinstance(document, str) or not listed:
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
                    f"{shown_words(texts)}. Split the text into words, for example "
                    "with known_words of the perturber."
                )
            return document
    row = read_bags(document, n_words=len(embedding), counts=True, name="a document")
    if row.shape[0] != 1:
        raise InvalidParameterError(
            f"a document must be a single row of counts, got {row.shape[0]} rows."
        )
    return row


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert options to JSON values; what is none of these is stored by its name."""
    plain = {}
    for name, value in options.items():
        value = value.item() if isinstance(value, np.generic) else value
        if name == "stop_words" and not isinstance(value, str | None):
            value = sorted(value)
        if not isinstance(value, str | bool | int | float | list | None):
            value = getattr(value, "__qualname__", repr(value))
        plain[name] = value
    return plain


# -- how far typical words of an embedding are apart ----------------------------------

# Printing a guarantee must take no time. It uses a fixed sample of words, and looks for
# their neighbors among the first vectors of the embedding, up to so many numbers. The
# first words of an embedding are usually the frequent ones.
_SAMPLE, _AMONG = 50, 2**20


def _sample_of(table: WordEmbedding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample words, each with its nearest other word and a random one."""
    rng = np.random.default_rng(0)
    vectors = table.vectors[: max(_SAMPLE, _AMONG // table.dim)]
    n = len(vectors)
    sample = rng.permutation(n)[:_SAMPLE]
    random = (sample + rng.integers(1, max(2, n), len(sample))) % n
    # Which of several almost equally near words is taken does not matter here, so
    # products in float32 suffice.
    with np.errstate(over="ignore", invalid="ignore"):
        closeness = vectors[sample] @ vectors.T
        closeness -= np.einsum("ij,ij->i", vectors, vectors) / 2
    closeness[np.arange(len(sample)), sample] = -np.inf
    return sample, closeness.argmax(axis=1), random
