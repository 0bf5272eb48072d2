"""The guarantee of releases: one class for words, stand-ins and learned models."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc

from skdptext.documents import DocumentReader
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import LossDistribution, NoiseMechanism, WordMechanism
from skdptext.privacy._parts import LearningPart, Part, ReplacementPart
from skdptext.privacy._statement import Statement, statement_of
from skdptext.privacy._words import EmbeddingError, WordPart, as_document, lemma3_widest
from skdptext.utils import check_integer, check_kind, check_real, kind_of, rounded_up

FORMAT, VERSION = "skdptext guarantee", 1
# All kinds of parts by name. Files store the name.
_KINDS: dict[str, type[Part]] = {
    part.kind: part for part in (WordPart, ReplacementPart, LearningPart)
}
# The most that a file may hold. Real guarantees are far smaller.
_MOST_PARTS, _MOST_TEXT = 100, 2**20
# Errors that reading an arbitrary file may raise.
_RAISED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)

# Parameters without effect on the promise. For sums, these include parameters that do
# not change the norm of a contribution. (The number of directions changes the scale of
# the noise by some 1e-9.)
_NOT_PROMISED = {"n_jobs", "random_state", "verbose"}
_SUMMED = {"embedding", "n_components", "n_groups", "priors"}


def _shared_by_parts(name: str, doc: str) -> Any:
    """Make a property: the value that all parts have in common, else None."""

    def shared(self: Any) -> Any:
        try:
            first, *others = map(attrgetter(name), self.parts)
        except AttributeError:
            return None
        return first if all(other == first for other in others) else None

    return property(shared, doc=doc)


class PrivacyGuarantee:
    r"""Promise of one or several releases; made by ``guarantee()`` of a releaser.

    A release changes the odds between two inputs x, x' by a factor of at most e^t, and
    t is their *exponent*: for any set S of releases, Pr[S | x] ≤ e^t Pr[S | x'].
    If a failure probability δ is allowed, Pr[S | x] ≤ e^t Pr[S | x'] + δ holds for a t
    that may be far smaller: ``exponent(x, y, delta=1e-6)``. The inputs are words and
    documents if words are changed, documents or people if whole documents are
    replaced, and sets of people that differ in one person if a model is learned.

    Releases of one kind and unit add up. Others are listed side by side; then only the
    loss of one person by all of them adds up, `epsilon_of`.

    Parameters
    ----------
    mechanism : WordMechanism
        For words: the prepared mechanism, such as ``perturber.mechanism_``.
    reader : DocumentReader, default=None
        How documents are read. If None, they are lists of known words.
    ordered : bool, default=False
        Whether the order of the words is released (token and text output).
    releases : int >= 1, default=1
        How many times each document is released, with fresh noise each time.
    n_words : int, default=None
        Words per document, if the reader does not fix their number. This is an
        assumption: documents of another size are refused.
    caveats : iterable of str, default=()
        Sentences on what voids the guarantee. They are printed before it.

    Attributes
    ----------
    parts : tuple
        One part for each way of releasing. Each attribute below is None if the parts
        differ in it.
    guarantees : tuple of PrivacyGuarantee
        One guarantee for each kind and unit.
    kind : {"words", "stand-ins", "sums"} or None
        What is released: noisy words, public documents instead, or sums over people.
    unit : {"word", "document", "person"} or None
        What the numbers protect.
    releases : int
        Number of releases, of all parts together.
    epsilon : float or None
        ε of all releases together. For words, it is relative to `metric`. For
        stand-ins, it holds between any two documents, or people with equally many
        documents. For sums, it holds for one person or document added or removed.
    delta : float
        The δ that goes with `epsilon`.
    embedding : WordEmbedding or None
        For words, the public embedding, the same for all parts.
    lam, metric_lam : float or None
        For words, λ of the noise, and λ of the metric that ε is relative to. They
        differ if the guarantee was converted (`relative_to`).
    metric : {"mahalanobis", "euclidean"} or None
        For words, the name of that metric; None for a mechanism without one.
    n_words : int or None
        For words, the number of words of each document, if it is fixed.
    resampled, ordered, unknown_kept : bool or None
        For words, whether documents are redrawn, whether the order of words is
        released, and whether words unknown to the embedding are released unchanged.
    n_groups : int or None
        For stand-ins, the number of groups.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule.

    Notes
    -----
    *Words.* The mechanism states t(w, w') of two words; that of
    `~skdptext.mechanisms.MahalanobisNoise` is ε d(w, w'), where d is
    ‖φ(w) − φ(w')‖_RM [2]_, for λ = 0 the Euclidean distance. From it follows t

    - between two ordered texts of n words, Σ t(w_i, w'_i);
    - between two bags of N words, the sum over their cheapest matching: for a metric,
      ε N E, with E their Earth Mover's Distance [1]_;
    - between two documents that are first redrawn to N words, N times the exponent of
      one drawn word, which is exact if the mechanism's distributions are known in full.
      For noise on vectors it is at most the bottleneck of moving one document's word
      frequencies to the other's, ε W_∞ [1]_, and less if only some of the words differ
      [3]_;
    - between documents of different size, inf, because the size is released;
    - of several releases with independent noise, the sum.

    The 2018 paper states the bag exponent without the factor N, a slip with mass 1/N
    per word; the 2019 statement is correct. Its proof needs a metric. For exponents of
    any kind, the cheapest matching bounds bags because the ordered bound holds for the
    best of all orders.

    *Stand-ins.* ε-local differential privacy of the whole document, or of all documents
    of a person. With K groups and p = e^ε / (e^ε + K − 1), an attacker who sees the
    answer z and picks the most likely of n candidates is right with probability
    (1/n) Σ_z max_d Pr[z | d] ≤ K p / n, and no attacker does better [4]_.

    *Sums over people.* Central differential privacy: the holder of the texts, who adds
    the noise, is trusted. One more person changes the sums by at most 1. For Laplace
    noise this is the L1 norm, and the loss is at most 1/scale. For Gaussian noise it is
    the Euclidean norm, and δ is known exactly [5]_; noise in whole numbers has a larger
    δ by less than one part in 10⁶, which is counted. Replacing a person removes one and
    adds one, which doubles the norm.

    *Several releases.* The sum is a bound regardless of how an attacker combines them.
    It holds for fresh noise in each: repeating a release with the same integer seed
    reveals nothing new and costs nothing.

    *Not promised.* A printed guarantee, or one shown in a notebook, also lists what it
    does not promise.

    References
    ----------
    .. [1] Fernandes, Dras, McIver (2019), Theorem 1.
    .. [2] Xu, Aggarwal, Feyisetan, Teissier (2020), Lemmas 1 to 3.
    .. [3] B. Balle, G. Barthe, M. Gaboardi (2018). Privacy amplification by
       subsampling: tight analyses via couplings and divergences. NeurIPS. Its advanced
       joint convexity, with the cheapest plan for the words that move.
    .. [4] G. Smith (2009). On the foundations of quantitative information flow.
       FoSSaCS 2009.
    .. [5] B. Balle, Y.-X. Wang (2018). Improving the Gaussian mechanism for
       differential privacy: analytical calibration and optimal denoising. ICML.

    Examples
    --------
    The noise of the papers, since its exponents are plain: ε times a distance.

    >>> from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
    >>> embedding = WordEmbedding(["a", "b", "c"], [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, epsilon=3.0, lam=0.0, document_length=2, resize="truncate",
    ...     token_pattern=r"\w+")
    >>> guarantee = perturber.fit([]).guarantee()
    >>> guarantee.exponent("a", "b")
    3.0
    >>> guarantee.exponent(["a", "b"], ["b", "c"])
    6.0
    >>> guarantee.compose(4).exponent("a", "b")    # four releases
    12.0
    >>> other = perturber.set_params(epsilon=2.0, lam=0.5).fit([]).guarantee()
    >>> both = guarantee.compose(other)            # of different ε and λ
    >>> both.releases, both.epsilon
    (2, None)
    >>> print(f"{both.exponent('a', 'b'):.2f}")
    5.44
    >>> print(f"{guarantee.utility_probability(delta=1.0):.3f}")
    0.849

    Stand-ins:

    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> labels = ["pets", "pets", "food", "food"]
    >>> replacer = DPDocumentReplacer(public, public_labels=labels, epsilon=2.0).fit()
    >>> stand_ins = replacer.guarantee()
    >>> stand_ins.epsilon, stand_ins.exponent("my cat", "a cat")
    (2.0, 0.0)
    >>> print(f"{stand_ins.found_at_most(100):.4f}")
    0.0176
    """

    parts: tuple[Any, ...]

    def __init__(
        self,
        mechanism: WordMechanism,
        reader: DocumentReader | None = None,
        *,
        ordered: bool = False,
        releases: int = 1,
        n_words: int | None = None,
        caveats: Iterable[str] = (),
    ) -> None:
        if not (isinstance(mechanism, WordMechanism) and hasattr(mechanism, "lam")):
            raise InvalidParameterError(
                "mechanism must be a prepared mechanism, such as "
                f"perturber.mechanism_, got {kind_of(mechanism)}."
            )
        if reader is None:
            reader = DocumentReader(mechanism.embedding, oov="error")
        check_kind(reader, DocumentReader, "reader must be a DocumentReader")
        if reader.document_length is not None:
            n_words = None  # the reader fixes the number of words itself
        part = WordPart(
            mechanism, reader, ordered, n_words,
            releases=releases, caveats=tuple(caveats),
        )  # fmt: skip
        self.parts = (part,)

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "PrivacyGuarantee":
        """Combine parts into one guarantee.

        Parameters
        ----------
        parts : iterable of parts
            Parts of other guarantees, or made by a releaser.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The guarantee of all parts together.
        """
        # Equal parts are counted as more releases of one part, because a bound on
        # several equal releases may be tighter than the sum of their bounds.
        merged: dict[Any, Any] = {}
        check_kind(parts, Iterable, "parts must be an iterable")
        for part in parts:
            check_kind(part, Part, "parts must be those of guarantees")
            if part.key in merged:
                known = merged[part.key]
                caveats = dict.fromkeys([*known.caveats, *part.caveats])
                releases = known.releases + part.releases
                part = replace(known, releases=releases, caveats=tuple(caveats))
            merged[part.key] = part
        made = cls.__new__(cls)
        made.parts = tuple(p for group in _groups(merged.values()) for p in group)
        tables = [part.embedding for part in made.parts if part.kind == "words"]
        if len({table.fingerprint for table in tables}) > 1:
            sizes = " and ".join(str(len(table)) for table in tables)
            raise InvalidParameterError(
                "other must be a guarantee over the same embedding, got embeddings of "
                f"{sizes} words."
            )
        return made

    # -- what the parts have in common ---------------------------------------------

    @property
    def guarantees(self) -> "tuple[PrivacyGuarantee, ...]":
        """One guarantee for each kind and unit."""
        return tuple(self.of(group) for group in _groups(self.parts))

    def _one(self, what: str, *kinds: str) -> Any:
        """Get the class of the parts, which must be of one of these kinds."""
        if self.kind not in kinds or self.unit is None:
            raise InvalidParameterError(
                f"{what} is for guarantees of {' or '.join(kinds)} and one unit, got "
                f"kind {self.kind!r} and unit {self.unit!r} (None: several). Ask each "
                "of .guarantees, as numbers of different kinds or units do not add up."
            )
        return type(self.parts[0])

    kind = _shared_by_parts("kind", "What is released, if all parts agree.")
    unit = _shared_by_parts("unit", "What the numbers protect, if all parts agree.")
    embedding = _shared_by_parts("embedding", "The public embedding of words.")
    lam = _shared_by_parts("mechanism.lam", "Shape λ of the noise.")
    metric = _shared_by_parts("metric.name", "Name of the metric of the exponents.")
    metric_lam = _shared_by_parts("metric.lam", "Shape λ of that metric.")
    n_words = _shared_by_parts("n_words", "Words per document, if fixed.")
    resampled = _shared_by_parts("resampled", "Whether documents are redrawn.")
    ordered = _shared_by_parts("ordered", "Whether the order of words is released.")
    unknown_kept = _shared_by_parts("unknown_kept", "Whether unknown words are kept.")
    n_groups = _shared_by_parts("n_groups", "Number of groups of stand-ins.")

    @property
    def releases(self) -> int:
        """Number of releases."""
        return sum(part.releases for part in self.parts)

    @property
    def epsilon(self) -> float | None:
        """Privacy parameter ε of all releases together; None for several kinds."""
        if self.kind is None or self.unit is None:
            return None
        of_all: float | None = type(self.parts[0]).epsilon_of_all(self.parts)
        return of_all

    @property
    def delta(self) -> float:
        """The δ that goes with `epsilon`."""
        deltas = (part.releases * getattr(part, "delta", 0.0) for part in self.parts)
        return min(1.0, float(sum(deltas)))

    @property
    def numerical_delta(self) -> float | None:
        """Probability that finite arithmetic changes a release.

        It covers all releases of a document, or of a single word if `n_words` is not
        fixed. Except with this probability, a release is the one that exact arithmetic
        would have made, for which the odds hold. In (t, δ) form it costs (1 + e^t)
        times this number, which is useless once t exceeds some 30. The noise comes from
        ChaCha20, so the whole promise is computational: it holds for attackers who
        cannot distinguish that stream from random bits. The value is 0 for stand-ins
        and sums, whose draws are exact, and None if a mechanism does not state it.
        """
        each = [part.numerical_delta for part in self.parts]
        return None if None in each else sum(d for d in each if d is not None)

    # -- several releases --------------------------------------------------------

    def compose(self, other: "int | PrivacyGuarantee") -> "PrivacyGuarantee":
        """Combine the guarantees of several releases.

        Parameters
        ----------
        other : int >= 1 or PrivacyGuarantee
            An integer k counts these releases k times, with fresh noise each time. A
            guarantee is added; ε and everything else may differ, except the embedding
            of perturbed words.

        Returns
        -------
        guarantee : PrivacyGuarantee
            A guarantee of k times the exponents, or of the sum of both. Guarantees of
            different kinds or units (word, document, person) do not add up. They are
            listed side by side, with the total for one person.

        Raises
        ------
        InvalidParameterError
            If `other` is neither, or over another embedding.
        """
        if isinstance(other, PrivacyGuarantee):
            return self.of([*self.parts, *other.parts])
        k = check_integer("other", other, low=1)
        return self.of(replace(part, releases=k * part.releases) for part in self.parts)

    @classmethod
    def of_search(cls, search: Any) -> "PrivacyGuarantee":
        """Combine the guarantees of all fits of a search over private text.

        A search fits each candidate on each fold, and the best one once more.

        Parameters
        ----------
        search : GridSearchCV or the like
            A fitted search, with ``refit``, over an estimator that has a guarantee, or
            over a pipeline that ends in one. All candidates must promise the same.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The guarantee of all fits together.

        Raises
        ------
        InvalidParameterError
            If candidates promise different things, or `search` is not such a search.
        """
        best: Any = getattr(search, "best_estimator_", None)
        prefix = ""
        while hasattr(best, "steps"):
            step, best = best.steps[-1]
            prefix += f"{step}__"
        if not hasattr(best, "guarantee"):
            raise InvalidParameterError(
                "search must be fitted, with refit, over an estimator that has a "
                f"guarantee, or a pipeline that ends in one, got {kind_of(search)}."
            )
        candidates = search.cv_results_["params"]
        guarantee: PrivacyGuarantee = best.guarantee()
        same = _NOT_PROMISED | (_SUMMED if guarantee.kind == "sums" else set())
        for name in sorted({name for each in candidates for name in each}):
            # Parameters of earlier steps do not matter: the last step makes the promise
            # for any input. Replacing the last step itself does.
            own = name.startswith(prefix)
            option = name.removeprefix(prefix).partition("__")[0]
            replaced = prefix and (name == "steps" or prefix.startswith(f"{name}__"))
            if replaced or (own and option not in same):
                raise InvalidParameterError(
                    "search must have candidates that promise the same, got values of "
                    f"{name}: compose the guarantees of all fits."
                )
        return guarantee.compose(len(candidates) * search.n_splits_ + 1)

    def with_caveat(self, caveat: str) -> "PrivacyGuarantee":
        """Add a sentence on what voids the promise.

        Parameters
        ----------
        caveat : str
            The sentence. It is printed first, and stored.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The same promise with the sentence.
        """
        check_kind(caveat, str, "caveat must be a str")
        return self.of(
            replace(part, caveats=tuple(dict.fromkeys((caveat, *part.caveats))))
            for part in self.parts
        )

    def epsilon_of(self, n_documents: int) -> tuple[float, float]:
        """Compute the loss of a person with several documents over all releases.

        Parameters
        ----------
        n_documents : int from 1 to 10⁹
            Number of documents of the person, all of them in every release.

        Returns
        -------
        epsilon : float
            The odds between any two people with so many documents change at most by
            exp(ε), regardless of the contents. It is inf if words are changed, because
            the loss then depends on the words: use `exponent`.
        delta : float
            The probability with which this may fail.
        """
        n = check_integer("n_documents", n_documents, low=1, high=10**9)
        # Losses of different kinds of releases add up. Within a kind, the total is
        # smaller than the sum, and is computed together.
        each = [type(g[0]).of_person(g, n) for g in _groups(self.parts)]
        return sum(e for e, _ in each), min(1.0, sum(d for _, d in each))

    # -- exponents -------------------------------------------------------------

    def exponent(self, x: Any, y: Any, delta: float = 0.0) -> float:
        """Compute the t with Pr[S | x] ≤ e^t Pr[S | y] + δ for every set S of releases.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            For words: two words, two documents as lists of words, or two bags. They are
            read as in a release: stop words and unknown words are treated in the same
            way, and the rest is cut or redrawn to `n_words`. For stand-ins: two
            documents; for the unit "person", two lists of equally many documents, with
            all documents of one person and of another.
        delta : float in [0, 1), default=0.0
            Failure probability δ allowed for all `releases` of whole documents, not for
            each word. 0 gives the pure exponent.

        Returns
        -------
        exponent : float
            In nats, for all `releases` together. It is inf for documents that are
            released with different sizes, or that differ in unknown words that are
            kept, and 0 for documents of one group of stand-ins. With δ > 0 it is an
            upper bound on the least such t, and never grows with δ.

        Raises
        ------
        InvalidParameterError
            If a single word is unknown, if a list holds a text that is not split into
            words, if a release would refuse a document, such as one shorter than
            `n_words`, or if `delta` breaks its rule; if the guarantee is of sums over
            people, which have `delta_at`.

        Warns
        -----
        UserWarning
            If unknown words are left out of a document, as they are of a release.

        Notes
        -----
        *What δ means.* Except with probability δ, a release is at most e^t times as
        likely from x as from y. So δ should be far below one over the number of
        released documents.

        *How it is computed.* The privacy loss of each pair of words is a distribution.
        It is exact for mechanisms whose probabilities are known in full. For
        `~skdptext.mechanisms.MahalanobisNoise` it comes from cells of the noise, and
        for other mechanisms it is the worst that the exponents allow. The losses of
        independent words and releases add up. The words of a redrawn document are
        independent draws from one mixture, whose loss is exact if the mechanism's
        distributions are known in full. The result is always rounded up.

        *Converted guarantees* (`relative_to`) are about the same noise and have the
        same losses. Only the pure exponent, which t never exceeds, changes.

        `numerical_delta` is not part of δ. In (t, δ) form it costs another
        (1 + e^t) `numerical_delta`, which is useless once t exceeds some 30.

        Examples
        --------
        A message of 16 words, each moved by 4:

        >>> import numpy as np
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> vectors = np.zeros((2, 300))
        >>> vectors[1, 0] = 4.0
        >>> embedding = WordEmbedding(["a", "b"], vectors)
        >>> mechanism = MahalanobisNoise().prepare(embedding, 15.0, 0.0)
        >>> guarantee = PrivacyGuarantee(mechanism)
        >>> x, y = ["a"] * 16, ["b"] * 16
        >>> for delta in (0, 1e-6):
        ...     print(f"{guarantee.exponent(x, y, delta=delta):.0f}")
        960
        159
        """
        delta = check_real("delta", delta, low=0, high=1, open_high=True)
        x, y = self._inputs("exponent", x, y)
        pure = float(sum(part.exponent(x, y) for part in self.parts))
        if not delta or not pure:
            return pure
        each = [part.losses(x, y) for part in self.parts]
        totals = [
            LossDistribution.total(losses[i % len(losses)] for losses in each)
            for i in range(max(map(len, each)))
        ]
        # All are true bounds. The pure one is smaller if δ is tiny or words are few.
        return min(pure, *(total.exponent(delta) for total in totals))

    def _inputs(self, what: str, x: Any, y: Any) -> tuple[Any, Any]:
        """Convert both inputs such that they can be read several times."""
        self._one(what, "words", "stand-ins")
        if self.kind != "words" or (isinstance(x, str) and isinstance(y, str)):
            return x, y
        return as_document(x, self.embedding), as_document(y, self.embedding)

    def epsilon_for(
        self,
        x: Any = None,
        y: Any = None,
        *,
        factor: float | None = None,
        found: float | None = None,
        n_candidates: int = 100,
    ) -> float:
        """Find the largest ε of one release with which a promise holds.

        Parameters
        ----------
        x, y : as in `exponent`, default=None
            Two inputs. For stand-ins, None means any two documents.
        factor : float > 1, default=None
            The factor e^t by which the odds between them may change, over all
            `releases`.
        found : float in (0, 1], default=None
            For stand-ins, instead of `factor`: the share of documents that may be
            identified among `n_candidates`.
        n_candidates : int >= 1, default=100
            Number of documents that the attacker holds.

        Returns
        -------
        epsilon : float
            The ε with which every releaser, its other parameters unchanged, has an
            `exponent` of at most log(factor), or `found_at_most` of at most `found`. It
            is inf if any ε will do, and 0 if none will, for example between documents
            of different size.

        Raises
        ------
        InvalidParameterError
            If not exactly one of `factor` and `found` is given, or a parameter breaks
            its rule.

        Notes
        -----
        The current ε of the parts does not matter. If exponents are proportional to ε,
        as for a metric, the result is exact. Otherwise mechanisms are prepared for a
        sequence of ε, assuming that their exponent grows with ε.

        *Privacy.* The promise is weaker for pairs that are further apart than this one.
        Choose the pair from public text: an ε computed from private documents reveals
        something about them.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
        >>> guarantee = PrivacyGuarantee(MahalanobisNoise().prepare(embedding, 3.0))
        >>> x, y = ["a", "a", "b"], ["b", "c", "b"]
        >>> print(f"{guarantee.epsilon_for(x, y, factor=20.0):.3f}")
        0.999
        """
        if (factor is None) == (found is None):
            raise InvalidParameterError(
                "either factor or found must be given, got "
                f"{'neither' if factor is None else 'both'}."
            )
        if found is None:
            allowed = math.log(check_real("factor", factor, low=1, open_low=True))
            x, y = self._inputs("epsilon_for", x, y)
        else:
            self._one("epsilon_for(found=)", "stand-ins")
            allowed = check_real("found", found, low=0, high=1, open_low=True)
            # found_at_most rounds up. Without this margin, an ε that attains the share
            # exactly would be refused.
            allowed *= 1 + 2.0**-39

        def total(epsilon: float) -> float:
            at = self.of(part.at_epsilon(epsilon) for part in self.parts)
            return (
                at.exponent(x, y) if found is None else at.found_at_most(n_candidates)
            )

        return _largest_within(total, allowed)

    # -- how many documents or people can be identified -----------------------------

    def found_at_most(self, n_candidates: int) -> float:
        """Bound the share of documents or people that an attacker identifies.

        Parameters
        ----------
        n_candidates : int >= 1
            Number of equally likely candidates: documents that the attacker holds,
            one of which was released; or people with equally many
            documents, all known to the attacker, one of whom was replaced or is in
            the sums.

        Returns
        -------
        share : float in (0, 1]
            A bound for every attacker, even one who knows the mechanism, the public
            documents and the noise of all others. It is at least 1/n, a random guess.

        Raises
        ------
        InvalidParameterError
            If words are changed, which bounds no share of whole documents.
        """
        kind = self._one("found_at_most", "stand-ins", "sums")
        n = check_integer("n_candidates", n_candidates, low=1)
        return float(kind.found_at_most(self.parts, n))

    @property
    def right_at_most(self) -> float:
        """Bound on how often an attacker is right about whether one person took part.

        The attacker knows all other people's documents and labels and the whole
        mechanism, and both answers are equally likely. The bound is (1 + δ(0)) / 2,
        where δ(0) is the largest difference between the probabilities of any result.
        """
        return float(self._one("right_at_most", "sums").right_at_most(self.parts))

    @property
    def epsilon_replace(self) -> float:
        """The ε of replacing one person in the sums by another, at `delta`."""
        return float(self._one("epsilon_replace", "sums").of_person(self.parts, 1)[0])

    def delta_at(self, epsilon: float, *, adjacency: str = "add_remove") -> float:
        """Compute the δ of sums that goes with an ε.

        Parameters
        ----------
        epsilon : float >= 0
            The ε.
        adjacency : {"add_remove", "replace"}, default="add_remove"
            Whether one person more or less is in the sums, or another one.

        Returns
        -------
        delta : float in [0, 1]
            Rounded up.
        """
        kind = self._one("delta_at", "sums")
        epsilon = check_real("epsilon", epsilon, low=0)
        return float(kind.loss_of(self.parts, adjacency).delta(epsilon))

    # -- of words: the metric, and utility -------------------------------------------

    def _word_part(self, what: str) -> WordPart:
        """The one part of words."""
        self._one(what, "words")
        if len(self.parts) > 1:
            raise InvalidParameterError(
                f"{what} needs a single kind of release, got {len(self.parts)} parts."
            )
        part: WordPart = self.parts[0]
        return part

    @property
    def euclidean_bounds(self) -> tuple[float, float]:
        """Best constants (a, b) with a‖v‖₂ ≤ ε‖v‖_RM ≤ b‖v‖₂, for one release.

        They are ε over the square roots of the extreme eigenvalues of
        M = λΣ + (1−λ)I, and each is attained by some v.
        """
        part = self._word_part("euclidean_bounds")
        spread = np.sqrt(part.own_metric("euclidean_bounds").eigenvalues)
        epsilon = part.mechanism.epsilon
        return float(epsilon / spread[-1]), float(epsilon / spread[0])

    @property
    def lemma3_bounds(self) -> tuple[float, float]:
        """Constants by Lemma 3 of the 2020 paper, looser than `euclidean_bounds`.

        They are ε/√(λm + 1 − λ), which uses the trace m of Σ instead of its largest
        eigenvalue, and ε/√(λc + 1 − λ), where c is the smallest one, which is exact.
        """
        part = self._word_part("lemma3_bounds")
        metric = part.own_metric("lemma3_bounds")
        widest = lemma3_widest(metric.lam, metric)
        return part.mechanism.epsilon / math.sqrt(widest), self.euclidean_bounds[1]

    def relative_to(self, lam: float, *, by: str = "eigenvalues") -> "PrivacyGuarantee":
        """State the same promise relative to the metric of another λ.

        Relative to one metric, the ε of releases with different `lam` can be compared
        and added up.

        Parameters
        ----------
        lam : float in [0, 1]
            The λ of the metric; 0 is the Euclidean one.
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            "eigenvalues" gives the smallest ε for which the promise follows, from the
            eigenvalues of the two matrices M, which share their axes. "lemma3" gives
            the larger ε of Lemma 3 of the 2020 paper, which uses only the trace and the
            smallest eigenvalue of Σ.

        Returns
        -------
        guarantee : PrivacyGuarantee
            A guarantee whose ε bounds the exponent in that metric. `lam` is still λ of
            the noise, and `metric_lam` is the new one.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, λ = 1 and the covariance is singular, or a
            mechanism has no metric on vectors.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> laplace = PrivacyGuarantee(MahalanobisNoise().prepare(embedding, 3.0))
        >>> for by in ("eigenvalues", "lemma3"):
        ...     print(f"{laplace.relative_to(0.5, by=by).epsilon:.2f}")
        3.58
        3.67
        """
        self._one("relative_to", "words")
        return self.of(part.relative_to(lam, by) for part in self.parts)

    def utility_probability(self, delta: float) -> float:
        """Lower bound on Pr[E(bag, noisy bag before rounding) ≤ delta], per release.

        Parameters
        ----------
        delta : float >= 0
            Earth Mover's Distance in `metric`, mass 1 per bag.

        Returns
        -------
        probability : float
            P(N m, ε N Δ), the regularized lower incomplete gamma function: the N
            lengths of the noise sum to Gamma(N m, 1/ε) and bound N E from above. In
            a metric other than that of the noise, a length grows by up to the largest
            stretch between the two, and ε is divided by it (for the Euclidean metric
            this is the lower one of `euclidean_bounds`). With `resampled`, the bag is
            the redrawn one, and redrawing adds a distance of its own.

        Notes
        -----
        Theorem 3 of the 2019 paper gives P(m, ε N Δ), which is larger and false for
        N ≥ 2: for N copies of one word our bound is an equality.
        """
        delta = check_real("delta", delta, low=0)
        part = self._word_part("utility_probability")
        noise, stated = part.own_metric("utility_probability"), part.metric
        released = type(part.mechanism).apply is NoiseMechanism.apply
        if stated is None or not released:
            raise InvalidParameterError(
                "utility_probability is for mechanisms that release the word nearest "
                "to a vector with noise of Gamma-distributed length, such as "
                f"MahalanobisNoise; {part.mechanism!r} is not one of them."
            )
        if part.n_words is None:
            raise InvalidParameterError(
                "n_words must be given to bound the utility, got None."
            )
        # Both metrics share their axes, so that the largest stretch is on one of them.
        stretch = (stated.eigenvalues / noise.eigenvalues).min()
        rate, n = part.mechanism.epsilon * math.sqrt(stretch), part.n_words
        return float(gammainc(n * noise.dim, rate * n * delta))

    # -- files -----------------------------------------------------------------

    def to_json(self) -> str:
        """Write the guarantee as JSON, for `from_json`.

        Returns
        -------
        text : str
            The options that determine the promise, and fingerprints of public data. It
            contains no document. Later versions will read this
            :doc:`format </reference/file_formats>`.
        """
        return json.dumps(self._stored(), allow_nan=False)

    def _stored(self) -> dict[str, Any]:
        stored = [part.stored() for part in self.parts]
        return {"format": FORMAT, "version": VERSION, "parts": stored}

    @classmethod
    def from_json(cls, x: Any, *, embedding: Any = None) -> "PrivacyGuarantee":
        """Read a guarantee that `to_json` wrote, or that a manifest holds.

        Parameters
        ----------
        x : str or dict
            JSON of a guarantee, or of the manifest of a release or a corpus, as text or
            parsed.
        embedding : WordEmbedding, default=None
            For a guarantee of words: the public embedding.

        Returns
        -------
        guarantee : PrivacyGuarantee
            It prints the same text and has the same numbers, except that `exponent` of
            stand-ins needs the fitted replacer.

        Raises
        ------
        InvalidParameterError
            If `to_json` of the result would differ from `x`, because `x` was edited or
            written by a later version. If `embedding` is missing or another one. If the
            mechanism or tokenizer is not from this library: use the perturber's
            ``guarantee()``.
        """
        try:
            if isinstance(x, str | bytes) and len(x) <= _MOST_TEXT:
                x = json.loads(x)
            stored = x["guarantee"]["stored"] if "guarantee" in x else x
            if not len(stored["parts"]) <= _MOST_PARTS:
                raise ValueError
            made = cls.of(_read_part(each, embedding) for each in stored["parts"])
            # A file is accepted only if it is exactly what this version would write, to
            # the type of every number. No edited file can state another promise.
            text, again = (
                json.dumps(each, sort_keys=True) for each in (stored, made._stored())
            )
            if text != again or not made.parts:
                raise ValueError
        except EmbeddingError:
            raise
        except (*_RAISED, RecursionError):
            raise InvalidParameterError(
                "x must be what a guarantee's to_json wrote, or the manifest of a "
                f"release, got {kind_of(x)} that is neither."
            ) from None
        return made

    # -- in words ----------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Get the printed bounds as numbers.

        Returns
        -------
        rows : list of dict
            Rows that can be written as JSON. ``what`` is bounded by an ``exponent`` in
            nats, and by ``exponent_with_delta`` except with probability ``delta``; or
            by a ``share``, next to the share of a ``guess``. Typical words are 50 words
            from the start of the embedding, drawn from the first million numbers
            (10,485 words of 100 dimensions) and always the same, with their nearest
            neighbors among these by Euclidean distance.

        Examples
        --------
        >>> from skdptext import WordEmbedding
        >>> from skdptext.mechanisms import MahalanobisNoise
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> mechanism = MahalanobisNoise().prepare(embedding, 1.0)
        >>> *_, last = PrivacyGuarantee(mechanism, n_words=40).rows()
        >>> last["what"]
        'documents, all 40 words replaced by random words'
        >>> last["exponent"], last["delta"], round(last["exponent_with_delta"])
        (120.0, 1e-06, 98)
        """
        return [dict(row) for row in self._statement.rows]

    @cached_property
    def _statement(self) -> Statement:
        return statement_of(self)

    @property
    def limits(self) -> list[str]:
        """What is not promised."""
        return list(self._statement.limits)

    def __str__(self) -> str:
        return self._statement.as_text()

    def __repr__(self) -> str:
        epsilon = "None" if self.epsilon is None else rounded_up(self.epsilon, 6)
        told = f"kind={self.kind!r}, unit={self.unit!r}, releases={self.releases}"
        return f"PrivacyGuarantee(epsilon={epsilon}, {told})"

    def _repr_html_(self) -> str:
        return self._statement.as_html()


def _groups(parts: Iterable[Any]) -> list[list[Any]]:
    """Group parts by kind and unit."""
    groups: dict[Any, list[Any]] = {}
    for part in parts:
        groups.setdefault((part.kind, part.unit), []).append(part)
    return list(groups.values())


def _read_part(stored: Mapping[str, Any], embedding: Any) -> Part:
    """Make the part that was stored; raises ValueError or the like if wrong."""
    options = dict(stored)
    kind = _KINDS[options.pop("kind")]
    common = {name: options.pop(name) for name in ("releases", "caveats")}
    common["caveats"] = tuple(common["caveats"])
    return kind.of_options(options, embedding, **common)


def _largest_within(total: Any, allowed: float) -> float:
    """Find the largest ε with ``total(ε) <= allowed``, for a growing total, or 0."""
    # A total of 0 or inf does not depend on ε.
    if (at := total(1.0)) in (0.0, math.inf):
        return 0.0 if at else math.inf
    low = high = 1.0
    # The root is first enclosed by doubling and halving.
    while total(low) > allowed:
        high, low = low, low / 2
        if low < 2.0**-60:
            return 0.0
    while total(high) <= allowed:
        low, high = high, high * 2
        if high > 2.0**60:
            return math.inf
    epsilon = float(
        brentq(lambda e: total(e) - allowed, low, high, xtol=1e-300, rtol=1e-14)
    )
    # The root is rounded down until the promise really holds, in ever larger steps.
    step = 2.0**-52
    while total(epsilon) > allowed:
        epsilon, step = epsilon * (1 - step), 2 * step
    return epsilon
