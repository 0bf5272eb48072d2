"""Audit how well the releases of two documents can be distinguished."""

import itertools
from collections import Counter
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from skdptext.audit._bounds import lower_bound, refutes
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import (
    as_array,
    check_integer,
    check_kind,
    check_real,
    plain_documents,
    quiet,
    shown,
    wrapped,
)

# Pseudo-counts of the learned log ratios. Small ones trust rare tokens, large ones only
# frequent tokens. The draws that choose decide which work best.
_SHRINKAGE = np.array([0.5, 5.0, 50.0])[:, None, None]
# For each of them, so many tokens with the largest ratios are also tried alone. Chosen,
# not measured.
_SINGLES = 10


@dataclass(eq=False)
class ReleaseAudit:
    """Result of `audit_document_pair` and of `audit_word_privacy`.

    Attributes
    ----------
    pairs : list of pairs
        The two documents, or pairs of words.
    lower_bound : float, or ndarray of shape (n_pairs,)
        Lower bound on the exponent of the documents, or of each pair of words, in nats.
        All hold together with probability `confidence`.
    claimed : float, or ndarray of shape (n_pairs,)
        Upper bounds by the guarantee; inf if nothing is promised. If they depend on the
        order of the two texts, both bounds are for the order in which they come
        closest.
    largest_bound : float
        The largest lower bound that so many draws can show. The audit says nothing
        about larger claims.
    confidence : float
        As given.
    """

    pairs: list[tuple[Any, Any]]
    lower_bound: Any
    claimed: Any
    largest_bound: float
    confidence: float

    @property
    def violated(self) -> Any:
        """Whether the lower bound exceeds the claim: then the guarantee is false."""
        return refutes(self.lower_bound, self.claimed)

    def __str__(self) -> str:
        bounds, claims = np.atleast_1d(self.lower_bound, self.claimed)
        worst = int(np.argmax(bounds - claims))
        n_violated = np.sum(self.violated)
        pair = " / ".join(map(shown, self.pairs[worst])).replace(
            "a str of", "a text of"
        )
        return wrapped(
            f"{n_violated} of {len(claims)} pairs violate the claim (confidence "
            f"{self.confidence:g}). The worst pair, {pair}, has an exponent of at "
            f"least {bounds[worst]:.3g}; the claim is {claims[worst]:.4g}. Claims "
            f"above {self.largest_bound:.3g} cannot be refuted with so few draws."
            + ("" if n_violated else " This does not prove privacy.")
        )


def audit_document_pair(
    releaser: Any, x: Any, y: Any, *, n_releases: int = 1000, confidence: float = 0.99
) -> ReleaseAudit:
    """Test which of two documents was released, by likelihood ratio and by tokens.

    Parameters
    ----------
    releaser : object
        Fitted `~skdptext.DPWordPerturber`, `~skdptext.DPDocumentReplacer`, or any
        object with ``transform(documents)``, and ``guarantee()`` whose result has
        ``exponent(x, y)``; an ``exponent`` method of the releaser itself takes
        precedence. If it has ``log_likelihood(documents, released)``, of shape
        (n_released, n_documents), this becomes another statistic.
    x, y : str or list of str
        Two documents, as `transform` takes them.
    n_releases : int >= 100, default=1000
        Releases of each document.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.

    Returns
    -------
    audit : ReleaseAudit
        The result. Printing it gives a summary in a few sentences.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the releaser lacks a method.

    See Also
    --------
    audit_word_privacy : Tests many pairs of single words.
    skdptext.attacks.linkage_attack : Attacks with many candidates.

    Notes
    -----
    *Membership.* To test whether a release reveals that a document contains a certain
    word, pass the document as x, and the same document with that word replaced as y.

    *Method.* One statistic is ln Pr[release | x] − ln Pr[release | y], as stated by the
    releaser. No other test is better for a text in order, if the mechanism does what it
    states (Neyman and Pearson). The other statistics need no mechanism. They count
    tokens (known or not), the number of tokens, the release as a whole, and weighted
    averages of their presence. An eighth of the releases learns the weights. A quarter
    of the others chooses a statistic and a threshold, which define an event S. On the
    rest, Clopper–Pearson limits bound ln(Pr[S | x] / Pr[S | y]) from below, and no true
    exponent is smaller than this. The bound is valid even for a rough statistic.

    *Noise.* The releaser draws its own noise. If its `random_state` is an integer, each
    release gets a different document id.

    *Limits.* The audit finds a fault if it changes the likelihood ratio or the counts
    of tokens. It does not find faults in the order of words, in counts of several words
    together, or outside the released text, such as in time or memory. Nor does it find
    faults that only occur with other documents. Bounds above `largest_bound`, about
    ln(n_releases) − 2.2, cannot be shown, and exponents between documents are usually
    far larger.

    *Privacy.* An audit can show a violation; it never proves privacy. The result is
    computed from x and y, which should be public.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_document_pair
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1.0, document_length=2,
    ...     tokenizer=str.split)
    >>> audit_document_pair(perturber.fit([]), "a a", "a b").violated
    False
    """
    methods = "transform", "guarantee"
    check_kind(releaser, methods, "releaser must have transform and guarantee")
    n_releases = check_integer("n_releases", n_releases, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    documents = [x] * n_releases + [y] * n_releases
    # With an integer seed, equal documents would get equal noise. Different ids give
    # them independent noise.
    repeats = isinstance(getattr(releaser, "random_state", None), Integral)
    if repeats and "document_ids" not in signature(releaser.transform).parameters:
        raise InvalidParameterError(
            "random_state of the releaser must not be an integer if its transform "
            "takes no document_ids: equal documents may get equal noise."
        )
    ids = {"document_ids": range(len(documents))} if repeats else {}
    with quiet(PrivacyLeakWarning):  # the caller already knows the documents
        # Our releasers read texts, while their guarantees read lists of words.
        own = hasattr(releaser, "exponent")
        claims = both_claims(releaser if own else releaser.guarantee(), x, y)
        released = releaser.transform(documents, **ids)
        counts = _counts(plain_documents(released))
        if counts.shape[0] != len(documents):
            raise InvalidParameterError(
                "transform of the releaser must return one release per document, got "
                f"{counts.shape[0]} for {len(documents)}."
            )
        scores = learned_scores(counts)
        if hasattr(releaser, "log_likelihood"):
            rule = f"log_likelihood must return shape ({len(documents)}, 2) without NaN"
            logs = as_array(releaser.log_likelihood([x, y], released), rule)
            if logs.shape != (len(documents), 2) or np.isnan(logs).any():
                raise InvalidParameterError(f"{rule}, got shape {logs.shape}.")
            with np.errstate(invalid="ignore"):
                # −inf − (−inf) is a release that neither document can give. It says
                # nothing about which one was released.
                ratios = np.nan_to_num(logs[:, 0] - logs[:, 1]).reshape(2, -1, 1)
            scores = np.concatenate([scores, ratios[:, -scores.shape[1] :]], axis=2)
    judged = closest_bound(scores, claims, confidence)
    return ReleaseAudit([(x, y)], *judged, confidence)


def both_claims(guarantee: Any, x: Any, y: Any) -> list[float]:
    """Get the claims of any guarantee for x against y, and for y against x."""
    orders = (x, y), (y, x)
    # Numbers of NumPy become plain Python numbers.
    claims = [np.asarray(guarantee.exponent(*order)).tolist() for order in orders]
    name = "exponent of the guarantee"  # inf promises nothing, and cannot be refuted
    return [c if c == np.inf else check_real(name, c, low=0) for c in claims]


def closest_bound(
    scores: np.ndarray, claims: list[float], confidence: float
) -> tuple[float, float, float]:
    """Get bound and claim of the order in which they are closest; the largest bound."""
    each = 1 - (1 - confidence) / 2  # the error rate is split over two orders
    bounds = [lower_bound(p, q, each) for p, q in (scores, scores[::-1])]
    # If the differences are equal, such as for two claims of inf, the larger bound
    # wins.
    closest = max(zip(np.subtract(bounds, claims), bounds, claims, strict=True))
    n = scores.shape[1]
    return closest[1], closest[2], lower_bound(np.ones(n), np.zeros(n), each)


def learned_scores(counts: sp.csr_array) -> np.ndarray:
    """Score releases of two texts by statistics learned from the first eighth of each.

    `counts` has a row for each release, those of the first text first, and a column for
    each thing that may occur in a release. Returns an array of shape (2, n_rest,
    n_scores) with averages of log ratios over the contents of a release, and the counts
    of the most telling contents.
    """
    n = counts.shape[0] // 2
    learn = n // 8
    first = counts[:learn], counts[n : n + learn]
    hits = np.vstack([np.asarray(part.sign().sum(axis=0)) for part in first])
    odds = np.log((hits + _SHRINKAGE) / (learn - hits + _SHRINKAGE))
    weights = odds[:, 0] - odds[:, 1]
    singles = np.unique(np.argsort(-np.abs(weights), axis=1)[:, :_SINGLES])
    averages = counts.sign() @ weights.T
    scores = np.hstack([averages, counts[:, singles].toarray()])
    return scores.reshape(2, n, -1)[:, learn:]


def _counts(released: Any) -> sp.csr_array:
    """Count what an observer sees, with a row for each release.

    Tokens, known or not, their number, and the release as a whole.
    """
    releases: list[Any]
    if sp.issparse(released) or getattr(released, "ndim", 0) == 2:
        table = sp.csr_array(released)
        cells = list(zip(table.indices.tolist(), table.data.tolist(), strict=True))
        releases = [cells[a:b] for a, b in itertools.pairwise(table.indptr)]
    else:
        releases = [
            one.split() if isinstance(one, str) else np.array(one, object, ndmin=1)
            for one in released
        ]
    counted = [
        Counter(tokens) | Counter([("length", len(tokens)), ("all", *tokens)])
        for tokens in releases
    ]
    return sp.csr_array(DictVectorizer(sort=False).fit_transform(counted))
