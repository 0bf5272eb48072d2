"""The exponential mechanism on words and drawing from it, and randomized response."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skdptext.documents import word_ids
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._calibration import (
    CALIBRATIONS,
    Fit,
    WordDistances,
    calibrated_fit,
    log_sums,
)
from skdptext.mechanisms._channel import Draws, Law, WordMechanism
from skdptext.mechanisms._finite import (
    FiniteChannel,
    InvertedChannel,
    Rows,
    inversion_delta,
)
from skdptext.mechanisms._metric import MahalanobisMetric, embedding_spectrum
from skdptext.search import k_nearest_words
from skdptext.utils import (
    blocks,
    check_option,
    check_real,
    keyed_generators,
    kind_of,
    rounded_up,
    shown,
)

# From this many words on, "auto" draws lazily: all pairs of 100,000 words are 40 GB.
_LAZY_FROM = 100_000
# If fewer than one word in this many is asked about, we compute their rows only, and no
# pass over all pairs. Chosen, not measured.
_FEW = 30
# Up to this many words, a pass over all pairs takes a second or so.
_AT_ONCE = 3000
# The key of a word's randomness has so many 64-bit numbers: 256 bits.
_KEY_NUMBERS = 4
# Words whose neighbours are searched for at a time.
_TOGETHER = 256
# Not pickled: as large as the vectors, or follows from the fit where it is asked for.
_DERIVED = ("_distances", "_lazy", "log_normalizers")


class Exponential(WordMechanism):
    r"""Replace each word by a random one, nearer ones more often; recommended.

    Similar words become hard to tell apart: a bound on the loss holds for every pair of
    words. Each word w becomes the word z with probability

    .. math::

        \Pr[z \mid w] = \frac{\mu_z\, e^{-a\, d(w, z)}}{C_w}, \qquad
        C_w = \sum_z \mu_z\, e^{-a\, d(w, z)},

    where d is the metric that λ selects: Euclidean at λ = 0, otherwise the regularized
    Mahalanobis metric.

    Parameters
    ----------
    calibration : {"exact", "half", "balanced", "tight"}, default="exact"
        How the rate a and the weights μ follow from ε.

        - "half": a = ε/2, μ = 1, which is SanText [1]_.
        - "exact": μ = 1, and the largest a found for which the privacy loss is at most
          ε d(w, w') for every pair of words; some pair attains it. This a lies between
          ε/2 and ε, and keeps several times as many words for the same proven ε.
        - "tight": a = ε, and the weights for which all C_w are 1, so that the loss is
          ε d(w, w') for every pair [3]_. It keeps still more words. For a small ε no
          such weights exist; the error then names an ε for which they do, if it finds
          one.
        - "balanced": the weights of "tight" where that is feasible. Otherwise the
          weights solved for some rate, with negative ones set to 0, and the largest a
          found for them; of a few such rates, the one that leaves the most words
          unchanged. Words of weight 0 are never released: see ``never_released`` of
          the channel.
    max_distance : float > 0, default=None
        If given, d is replaced by min(d, max_distance), so that the privacy loss
        between any two words is at most ε times `max_distance`. With "half" this is the
        distribution of TEM, the truncated exponential mechanism [2]_, whose γ is
        `max_distance`; `tem_distance` computes γ.
    sampler : {"auto", "rows", "lazy"}, default="auto"
        How words are drawn. The distribution is the same, but the same seed gives other
        noise. "rows" sums up the probabilities of each distinct word once. "lazy"
        scores the √V nearest words and a few of the others, anew for every token [4]_;
        it suits few words of a large vocabulary. "auto" is "lazy" from 100,000 words
        on.
    outputs : collection of str, default=None
        The words that may be released, all known to the embedding. Any other word is
        answered with one of these, too, and ε is proven between any two words of the
        embedding. The list must be public. None: all words.

    See Also
    --------
    RandomizedResponse : The same mechanism with all words equally far apart.

    Notes
    -----
    *Privacy.* Pr[z | w] ≤ exp(a d(w, w') + ln C_w' − ln C_w) Pr[z | w'], with equality
    for z = w. So this is the exact exponent of a pair, unless w is never released. Per
    unit of d it is at most ε. The 53-bit uniform and the float64 sums cost
    ``numerical_delta`` per word. "tight" needs an ε that is not too small.

    *ε does not compare with the ε of noise on vectors.* For the same share of words
    kept it is four to twelve times smaller than with `MahalanobisNoise`, depending on
    embedding and share.

    *Time* tells on how many different words there are: each is looked up once in a
    call, so that documents of few different words take less of it. Anyone who can
    measure the time of a call learns about their number; nothing here hides it.

    *Cost.* All calibrations but "half" pass over all pairs of words several times when
    the mechanism is prepared; the result is kept for the process. "balanced" and
    "tight" solve linear systems of n_words equations: seconds while a matrix of
    n_words² floats fits into half of scikit-learn's ``working_memory``, else minutes.

    References
    ----------
    .. [1] X. Yue, M. Du, T. Wang, Y. Li, H. Sun, S. S. M. Chow (2021). Differential
       privacy for text analytics via natural text sanitization. Findings of ACL 2021.
    .. [2] R. S. Carvalho, T. Vasiloudis, O. Feyisetan, K. Wang (2023). TEM: high
       utility metric differential privacy on text. SDM 2023.
    .. [3] K. Chatzikokolakis, E. ElSalamouny, C. Palamidessi (2017). Efficient utility
       improvement for location privacy. PoPETs 2017(4).
    .. [4] S. Mussmann, D. Levy, S. Ermon (2017). Fast amortized inference and learning
       in log-linear models with randomly perturbed nearest neighbor search. UAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import Exponential
    >>> embedding = WordEmbedding(list("abcd"), [[0.0], [1.0], [2.0], [9.0]])
    >>> for calibration in "half", "exact", "tight":
    ...     channel = Exponential(calibration).prepare(embedding, epsilon=2.0, lam=0.0)
    ...     row = np.exp(channel.log_proba(np.array([0])))[0]
    ...     print(f"{calibration}: a = {channel.rate:.3f},", row.round(3))
    half: a = 1.000, [0.665 0.245 0.09  0.   ]
    exact: a = 1.897, [0.853 0.128 0.019 0.   ]
    tight: a = 2.000, [0.881 0.103 0.016 0.   ]
    """

    # without it, the noise of a seed is that of earlier versions
    _unkeyed: ClassVar[dict[str, None]] = {"outputs": None}

    def __init__(
        self,
        calibration: str = "exact",
        max_distance: float | None = None,
        *,
        sampler: str = "auto",
        outputs: Collection[str] | None = None,
    ) -> None:
        self.calibration = calibration
        self.max_distance = max_distance
        self.sampler = sampler
        self.outputs = outputs

    def prepare(
        self, embedding: WordEmbedding, epsilon: float, lam: float
    ) -> ExponentialChannel:
        if self.outputs is None:
            return ExponentialChannel(self, embedding, epsilon, lam)
        if not isinstance(self.outputs, Collection | np.ndarray) or not len(
            self.outputs
        ):
            raise InvalidParameterError(
                "outputs must be None or a public collection of at least one str, got "
                f"{kind_of(self.outputs)}."
            )
        ids = word_ids(self.outputs, embedding)
        return AmongChannel(self, embedding, epsilon, lam, outputs=ids)

    def prepare_among(
        self,
        embedding: WordEmbedding,
        epsilon: float,
        lam: float,
        outputs: np.ndarray,
    ) -> ExponentialChannel:
        """The same mechanism, releasing only some of the words.

        Parameters
        ----------
        embedding : WordEmbedding
            Public words and their vectors.
        epsilon : float > 0
            In nats per unit of distance, proven between any two words of the embedding.
        lam : float in [0, 1]
            Shape λ of the metric.
        outputs : array-like of int, shape (n_outputs,)
            Ids of the words that may be released, at least one; public.

        Returns
        -------
        channel : ExponentialChannel
            It accepts any word of the embedding. Pr[z | w] ∝ e^(−a d(w, z)) for z in
            `outputs`, and 0 for others. ``exponents`` holds for all pairs of words, and
            is exact where the first is in `outputs`. A word far from all outputs loses
            up to 2a per unit of distance, so that little more than the rate of "half"
            can be proven.

        Raises
        ------
        InvalidParameterError
            As `prepare`, or if `outputs` is empty or contains a number that belongs to
            no word, or if `calibration` is "tight" and some word is not in `outputs`.
        """
        if self.outputs is not None:
            raise InvalidParameterError(
                "outputs of the mechanism must be None where the words that may be "
                f"released are given by number, got {kind_of(self.outputs)}."
            )
        return AmongChannel(self, embedding, epsilon, lam, outputs=outputs)


class ExponentialChannel(InvertedChannel):
    """`Exponential` for one embedding.

    Attributes
    ----------
    rate : float
        A: how much log probability a unit of distance costs.
    """

    mechanism: Exponential
    _outputs: np.ndarray | None = None  # all words
    # whether ε is proven for all words, or only for those that may be released
    _for_all = True

    def _setup(self) -> None:
        options = self.mechanism
        check_option("calibration", options.calibration, CALIBRATIONS)
        check_option("sampler", options.sampler, ["auto", "rows", "lazy"])
        if options.max_distance is not None:
            check_real("max_distance", options.max_distance, low=0, open_low=True)
        if self.lam > 0:  # which "half" would look at only when it draws
            MahalanobisMetric(self.lam, embedding_spectrum(self.embedding))
        self.rate: float = self.epsilon / 2
        self._mu: np.ndarray | None = None  # weights of the outputs; None: all 1
        if options.calibration != "half":
            given = self._distances, options.calibration, self.epsilon
            vars(self)["_fit"] = fit = calibrated_fit(*given)
            self.rate, self._mu = fit.rate, fit.weights
        n_outputs = len(self.embedding if self._outputs is None else self._outputs)
        auto = options.sampler == "auto" and n_outputs >= _LAZY_FROM
        self._is_lazy = auto or options.sampler == "lazy"

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in _DERIVED}

    def _knows(self, name: str) -> bool:
        """Whether a value has been computed already."""
        return name in vars(self)

    # -- what follows from rate and weights ------------------------------------

    @cached_property
    def _distances(self) -> WordDistances:
        cap = self.mechanism.max_distance
        cap = None if cap is None else float(cap)
        given = self.embedding, self.lam, cap, self._outputs, self._for_all
        return WordDistances(*given)

    @cached_property
    def _fit(self) -> Fit:
        """Rate and weights, with the normalisers and the loss attained."""
        return self._distances.evaluated(Fit(self.rate, self._mu))

    @property
    def attained(self) -> float:
        """The largest privacy loss per unit of distance over all pairs; at most ε."""
        return self._fit.attained

    @cached_property
    def log_normalizers(self) -> np.ndarray:
        """ln C_w of every word, shape (n_words,)."""
        if self._knows("_fit"):
            return self._distances.log_normalizers_from(self._fit)
        # no pass over pairs for what they attain
        logs = self._distances.log_normalizers(self.rate, self._mu)
        fit = Fit(self.rate, self._mu, log_normalizers=logs)
        return self._distances.log_normalizers_from(fit)

    @cached_property
    def worst_exponent(self) -> float:
        """The largest exponent between two words, in nats."""
        return self._distances.largest_loss(self._fit)

    @property
    def weights(self) -> np.ndarray:
        """μ_z of every word, shape (n_words,); 0 for those that are never released."""
        weights = np.zeros(self._distances.n_words)
        weights[self._distances.outputs] = 1 if self._mu is None else self._mu
        return weights

    @property
    def outputs(self) -> np.ndarray:
        """Ids of the words that may be released, ascending."""
        return np.flatnonzero(self.weights)

    @property
    def never_released(self) -> np.ndarray:
        """Ids of the words that are never released, ascending."""
        return np.flatnonzero(self.weights == 0)

    # -- the distribution ------------------------------------------------------

    def law(self) -> Law:
        """The probabilities, in closed form."""
        exact = self.mechanism.calibration == "exact"
        return Law(
            log_proba=self.log_proba,
            numerical_delta=inversion_delta(len(self.embedding)),
            sentences=self._sentences,
            at_rate=self._at_rate if exact else None,
            unchanged=self._unchanged,
        )

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        masses = self._log_masses(np.asarray(words))
        masses -= log_sums(masses)[:, None]
        n_words = self._distances.n_words
        if masses.shape[1] == n_words:
            return masses
        logs = np.full((len(words), n_words), -np.inf)
        logs[:, self._distances.outputs] = masses
        return logs

    def _log_masses(self, words: np.ndarray) -> np.ndarray:
        """ln μ_z e^(−a d(w, z)) for each of the words and every output."""
        return self._distances.log_masses(words, Fit(self.rate, self._mu))

    def _unchanged(self, words: np.ndarray) -> np.ndarray:
        """Pr[w | w] = μ_w / C_w for each of the words, shape (n,)."""
        return self.weights[words] * np.exp(-self._logs(words))

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """a d(x, y) + ln C_y − ln C_x, shape (len(x), len(y)).

        This is the exact privacy loss where x may be released, and a bound elsewhere.
        """
        exponents = self.rate * self._distances.between(x, y)
        exponents += self._logs(y) - self._logs(x)[:, None]
        return np.maximum(exponents, 0, out=exponents)  # rounding

    def _logs(self, words: np.ndarray) -> np.ndarray:
        """ln C_w of words; computed row by row for a small part of the vocabulary."""
        few = len(words) * _FEW <= len(self._distances.inputs)
        if few and not (self._knows("_fit") or self._knows("log_normalizers")):
            fit = Fit(self.rate, self._mu)
            return self._distances.log_normalizers_of(words, fit)
        return self.log_normalizers[words]

    def _at_rate(self, rate: float) -> ExponentialChannel:
        """The channel of a rate, whatever ε it proves."""
        other = copy(self)
        for name in ("fingerprint", "_fit", "worst_exponent"):
            vars(other).pop(name, None)
        vars(other)["_distances"] = self._distances
        # the rate of "half" is ε/2, and need not be looked for
        other.mechanism = Exponential(
            "half", self.mechanism.max_distance, outputs=self.mechanism.outputs
        )
        other.epsilon, other.rate, other._mu = 2 * rate, rate, None
        return other

    # -- drawing ---------------------------------------------------------------

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """One uniform number per word; for the lazy sampler, a key of 256 bits."""
        if not self._is_lazy:
            return super().draw(rng, n)
        top = np.iinfo(np.uint64).max
        return (rng.integers(0, top, (n, _KEY_NUMBERS), np.uint64, endpoint=True),)

    @cached_property
    def _lazy(self) -> LazySampler:
        return LazySampler(self._distances, Fit(self.rate, self._mu))

    def _drawn(
        self, words: np.ndarray, uniforms: np.ndarray, memory: int, memo: Rows
    ) -> np.ndarray:
        if self._is_lazy:
            places = self._lazy(words, uniforms, memo, memory // 2)
        else:
            places = super()._drawn(words, uniforms, memory, memo)
        return places if self._outputs is None else self._outputs[places]

    # -- in words --------------------------------------------------------------

    def _sentences(self) -> list[str]:
        """The distribution, its exponents, and the words that are never released.

        Their figures are exact for up to 3,000 words, or where they are already
        known. Otherwise they are upper bounds.
        """
        distances, calibration = self._distances, self.mechanism.calibration
        metric = "Euclidean" if self.lam == 0 else f"Mahalanobis (λ = {self.lam:g})"
        distance = f"the {metric} distance of their vectors"
        if distances.max_distance is not None:
            distance += f", at most {distances.max_distance:g}"
        weighted = "" if self._mu is None else "μ(z)·"
        said = (
            f"A word w becomes the word z with probability proportional to {weighted}"
            f"exp(−{self.rate:.4g}·d(w, z)), where d is {distance} (calibration "
            f'"{calibration}")'
        )
        never = self._never_said()
        if not distances.any_differ:
            return [said + ".", *never]
        whom = "two words"
        if len(distances.inputs) < distances.n_words:
            whom = "two of the words that may be released"
        fast = len(distances.inputs) <= _AT_ONCE
        if fast or self._knows("_fit"):
            kappa = self.attained / self.rate - 1
            said += (
                f"; no {whom} lose more than ε* = {rounded_up(self.attained)} per "
                f"unit of d (the rate times 1 + κ, with κ = {rounded_up(kappa)})"
            )
            # a word that is never released loses at most that
            if self._mu is None and distances.square:
                said += ", and some pair loses exactly that"
        else:
            said += (
                f"; no {whom} lose more than {rounded_up(self.epsilon)} per unit of d"
            )
        exact = fast or self._knows("worst_exponent")
        worst = self.worst_exponent if exact else self.epsilon * distances.diameter
        return [
            said + ".",
            f"Between any {whom}, however far apart, the exponent is at most "
            f"{rounded_up(worst)}.",
            *self._optimal(),
            *never,
        ]

    def _optimal(self) -> list[str]:
        """That no other mechanism keeps more words, where that is proven.

        With K = e^(−εD) and p_z = Pr[z | z], any mechanism has Kp ≤ 1, row by row.
        Weights μ ≥ 0 with Kμ = 1 give Σp = pᵀKμ ≤ Σμ, and are themselves the p of this
        one.
        """
        solved = self.mechanism.calibration in ("tight", "balanced")
        if not solved or self.rate < self.epsilon * (1 - 1e-6):
            return []
        if np.abs(self.log_normalizers).max() >= 1e-6 or len(self.never_released):
            return []
        stays, n_words = float(self.weights.sum()), self._distances.n_words
        return [
            "On average over the vocabulary a word stays as it is with probability "
            f"{stays / n_words:.3g}, "
            "and no mechanism with this ε and this d keeps more."
        ]

    def _never_said(self) -> list[str]:
        never, words = self.never_released, self.embedding.words
        if not len(never):
            return []
        names = ", ".join(repr(words[i]) for i in never[:5])
        more = ", …" if len(never) > 5 else ""
        return [
            f"{len(never)} of the {len(words)} words are never released: {names}{more}."
        ]


class AmongChannel(ExponentialChannel):
    """The exponential mechanism with only some of the words as outputs.

    `outputs` are ids of these words. ``for_all=False`` proves ε only between any two of
    them, which gives a larger rate.
    """

    def __init__(self, *given: Any, outputs: Any, for_all: bool = True) -> None:
        _, embedding, *_ = given
        self._for_all = for_all
        self._outputs = _checked_outputs(outputs, len(embedding))
        super().__init__(*given)

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of all that the distribution depends on, the outputs included."""
        numbers = np.asarray(self._outputs, dtype="<i8").tobytes()
        return hashlib.blake2b(super().fingerprint + numbers, digest_size=32).digest()


def _checked_outputs(outputs: Any, n_words: int) -> np.ndarray:
    """Word ids, each once, ascending."""
    numbers = np.asarray(outputs)
    whole = numbers.ndim == 1 and len(numbers) and numbers.dtype.kind in "iu"
    if not whole or not 0 <= numbers.min() <= numbers.max() < n_words:
        raise InvalidParameterError(
            "outputs must be word ids of the embedding, at least one integer "
            f"in [0, {n_words}), got {shown(outputs)}."
        )
    return np.unique(numbers).astype(np.int32)  # pickles are smaller


class _Top(NamedTuple):
    """What is known about a word before anything is drawn."""

    places: np.ndarray  # of the nearest outputs, ascending
    scores: np.ndarray  # of these outputs: ln μ − a d
    bound: float  # no other output has a larger score


class LazySampler:
    """The Gumbel-max trick, with most of the Gumbel noise never drawn.

    The word with the largest score plus Gumbel noise wins. Noise is first drawn for the
    nearest √V words; let M be the best sum so far, and B a bound on the scores of all
    other words. Another word can win only if its noise is above M − B. The number of
    such words is binomial, and they are a uniformly random subset of the others. So
    noise above M − B is drawn for this many only [1]_. The distribution is exactly that
    of the exponential mechanism.

    The search works on vectors in float32, which moves distances by less than
    2⁻²² max‖φ‖; B allows for it, and scores are computed from differences in float64.

    References
    ----------
    .. [1] S. Mussmann, D. Levy, S. Ermon (2017). Fast amortized inference and learning
       in log-linear models with randomly perturbed nearest neighbor search. UAI 2017.
    """

    def __init__(self, distances: WordDistances, fit: Fit) -> None:
        self._distances = distances
        self._rate = fit.rate
        with np.errstate(divide="ignore"):  # words that are never released
            weights = np.ones(len(distances)) if fit.weights is None else fit.weights
            self._log_weights = np.log(weights)
        self._targets = distances.targets.astype(np.float32)
        self._slack = 2.0**-22 * float(
            np.sqrt(np.square(distances.targets).sum(1).max())
        )
        self._k = min(len(distances), math.isqrt(len(distances)) + 1)

    def __call__(
        self, words: np.ndarray, keys: np.ndarray, memo: dict[int, _Top], memory: int
    ) -> np.ndarray:
        """Places of the noisy words among the outputs; `keys` has a row for each word.

        What is known about words is added to `memo`, within `memory` bytes.
        """
        distinct, numbers = np.unique(words, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        ends = np.bincount(numbers, minlength=len(distinct)).cumsum().tolist()
        streams = keyed_generators([key.astype("<u8").tobytes() for key in keys])
        places = np.empty(len(words), dtype=np.intp)
        room = memory // (16 * self._k + 512)
        for block in blocks(len(distinct), _TOGETHER):
            here = distinct[block].tolist()
            new = [word for word in here if word not in memo]
            tops = dict(zip(new, self._tops(np.array(new, np.intp)), strict=True))
            for number, word in enumerate(here, block.start):
                top = memo[word] if word in memo else tops[word]
                start = ends[number - 1] if number else 0
                for i in order[start : ends[number]].tolist():
                    places[i] = self._one(word, top, streams[i])
            memo.update(list(tops.items())[: max(0, room - len(memo))])
        return places

    def _tops(self, words: np.ndarray) -> list[_Top]:
        if not len(words):
            return []
        nearest, apart = k_nearest_words(
            self._distances.points(words), self._targets, self._k
        )
        nearest = np.sort(nearest, axis=1)
        # no other output is nearer than the last of the nearest, but for rounding
        others = np.maximum(apart[:, -1] - self._slack, 0)
        if self._distances.max_distance is not None:
            np.minimum(others, self._distances.max_distance, out=others)
        bounds = self._log_weights.max() - self._rate * others
        return [
            _Top(places, self._scores(word, places), bound)
            for word, places, bound in zip(
                words.tolist(), nearest, bounds.tolist(), strict=True
            )
        ]

    def _scores(self, word: int, places: np.ndarray) -> np.ndarray:
        outputs = self._distances.outputs[places]
        apart = self._distances.between(np.array([word]), outputs)[0]
        return self._log_weights[places] - self._rate * apart

    def _one(self, word: int, top: _Top, rng: np.random.Generator) -> int:
        # Gumbel noise for the nearest outputs: −ln of an exponential variable is one.
        sums = top.scores - np.log(rng.standard_exponential(self._k))
        winner = int(sums.argmax())
        best, place = float(sums[winner]), int(top.places[winner])
        n_others = len(self._distances) - self._k
        # Another output has a score of `bound` at most, and so can win only with Gumbel
        # noise above best − bound, that is, if its exponential variable is below this
        # limit. Each is, on its own, with probability 1 − e^(−limit).
        limit = math.exp(min(top.bound - best, 700.0))
        n = int(rng.binomial(n_others, -math.expm1(-limit))) if n_others else 0
        if not n:
            return place
        # Which ones is uniform, as the noise does not know the scores.
        others = rng.choice(n_others, n, replace=False)
        # Numbers of the others become places among all outputs: they skip the nearest
        # ones. Before the i-th of these there are places[i] − i others.
        skipped = top.places - np.arange(self._k)
        others += np.searchsorted(skipped, others, side="right")
        # Their exponential variables, given that they are below the limit: by inverting
        # the distribution function (1 − e^(−x))/(1 − e^(−limit)).
        below = -np.log1p(rng.random(n) * math.expm1(-limit))
        with np.errstate(divide="ignore"):  # a uniform of 0, once in 2⁵³
            sums = self._scores(word, others) - np.log(below)
        winner = int(sums.argmax())
        return int(others[winner]) if sums[winner] > best else place


class RandomizedResponseChannel(FiniteChannel):
    """`RandomizedResponse` for the words of one embedding."""

    def law(self) -> Law:
        """The probabilities, and that nearness does not matter."""
        said = (
            "This is pure ε-local differential privacy for each word: any two words "
            "that differ have the exponent ε, however near they are."
        )
        # a 53-bit uniform, and rounding of its threshold
        return Law(
            log_proba=self.log_proba, numerical_delta=2.0**-52, sentences=(said,)
        )

    @property
    def _moved(self) -> float:
        """Probability of another word."""
        others = (len(self.embedding) - 1) * math.exp(-self.epsilon)
        return others / (1 + others)

    def draw(self, rng: np.random.Generator, n: int) -> Draws:
        """A uniform that decides whether a word changes, and the other word."""
        return rng.random(n), rng.integers(max(1, len(self.embedding) - 1), size=n)

    def apply(self, words: np.ndarray, draws: Draws) -> np.ndarray:
        """The words, or others."""
        uniforms, others = draws
        return np.where(uniforms < self._moved, others + (others >= words), words)

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every z, shape (n, n_words)."""
        everything = np.arange(len(self.embedding))
        stays = math.log1p(-self._moved)
        return stays - self.epsilon * np.not_equal.outer(words, everything)

    def exponents(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ε for words that differ, shape (len(x), len(y))."""
        return self.epsilon * np.not_equal.outer(x, y)


class RandomizedResponse(WordMechanism):
    r"""Keep each word, or replace it by any other: k-ary randomized response.

    With V words,

    .. math::

        \Pr[w \mid w] = \frac{e^ε}{e^ε + V - 1}, \qquad
        \Pr[z \mid w] = \frac{1}{e^ε + V - 1} \quad (z \ne w).

    See Also
    --------
    Exponential : Prefers words that are near.

    Notes
    -----
    *Privacy.* Pure ε-local differential privacy: the privacy loss between any two words
    is ε, however near they are. λ and the vectors have no effect. It is the exponential
    mechanism of the metric in which all words are 1 apart, and the baseline for every
    mechanism that uses vectors.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath (2016). Extremal mechanisms for local differential
    privacy. JMLR 17.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [9.0]])
    >>> channel = RandomizedResponse().prepare(embedding, epsilon=np.log(2), lam=0.0)
    >>> np.exp(channel.log_proba(np.array([1])))
    array([[0.25, 0.5 , 0.25]])
    >>> channel.exponents(np.array([0]), np.arange(3)).round(3)
    array([[0.   , 0.693, 0.693]])
    """

    channel_class = RandomizedResponseChannel
