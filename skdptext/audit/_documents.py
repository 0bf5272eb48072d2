"""How well the releases of two documents can be told apart."""

import itertools
from collections import Counter
from dataclasses import dataclass
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
    check_methods,
    check_real,
    plain_documents,
    quiet,
    shown,
    wrapped,
)

# Pseudo-counts of the log ratios that are learned. Small ones trust rare tokens, large
# ones only frequent ones; the draws that choose decide which are right.
_SHRINKAGE = np.array([0.5, 5.0, 50.0])[:, None, None]
# By each of them, so many tokens with the largest ratios are tried alone, too. Chosen,
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
        Upper bounds by the guarantee; inf where nothing is promised. Where they depend
        on the order of the two texts, both bounds are for the order in which they come
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
        """Where the lower bound is above the claim: there the guarantee is false."""
        return refutes(self.lower_bound, self.claimed)

    def __str__(self) -> str:
        bounds, claims = np.atleast_1d(self.lower_bound, self.claimed)
        worst = int(np.argmax(bounds - claims))
        n_violated = np.sum(self.violated)
        pair = " / ".join(map(shown, self.pairs[worst]))
        return wrapped(
            f"{n_violated} of {len(claims)} pairs violate the claim (confidence "
            f"{self.confidence:g}). The worst, {pair}, has an exponent of at least "
            f"{bounds[worst]:.3g}; {claims[worst]:.4g} is claimed. Claims above "
            f"{self.largest_bound:.3g} cannot be refuted."
            + ("" if n_violated else " That does not prove privacy.")
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
        ``exponent(x, y)``; an ``exponent`` of its own is asked first. If it has
        ``log_likelihood(documents, released)``, of shape (n_released, n_documents),
        this is a statistic, too.
    x, y : str or list of str
        Two documents, as `transform` takes them.
    n_releases : int >= 100, default=1000
        Releases of each document.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.

    Returns
    -------
    audit : ReleaseAudit
        What was found; printed, it says so in a few sentences.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the releaser lacks a method.

    See Also
    --------
    audit_word_privacy : Many pairs of documents of one word.
    skdptext.attacks.linkage_attack : Many candidates.

    Notes
    -----
    *Membership.* To ask whether a document contains a certain word, pass the document
    as x, and the same document with that word replaced as y.

    *Method.* One statistic is ln Pr[release | x] − ln Pr[release | y], as stated by the
    releaser: no other test is better for a text in order, if the mechanism does what it
    says (Neyman and Pearson). The others need no mechanism. They count what the
    releases show: each token (also unknown ones), the number of tokens, the release as
    a whole, and weighted averages of their presence. An eighth of the releases learns
    the weights; a quarter of the others chooses a statistic and a threshold, which
    define an event S. On the rest, Clopper–Pearson limits bound ln(Pr[S | x] / Pr[S |
    y]) from below, and no true exponent is smaller than this. The bound is valid
    however rough the statistic is.

    *Noise.* It is the releaser's own. Where its `random_state` is an integer, each
    release has a document id of its own.

    *Limits.* A fault is found if it moves the likelihood ratio or the counts of tokens.
    One that hides in the order of words, in counts of several words together, or
    outside the released text, such as in time or memory, is not. Nor is one that occurs
    with other documents only. Bounds above `largest_bound`, about ln(n_releases) − 2.2,
    cannot be shown; exponents between documents are usually far larger.

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
    check_methods(releaser, methods, "releaser must have transform and guarantee")
    n_releases = check_integer("n_releases", n_releases, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    documents = [x] * n_releases + [y] * n_releases
    # a repeatable release has different noise for every id
    repeats = isinstance(getattr(releaser, "random_state", None), Integral)
    ids = {"document_ids": range(len(documents))} if repeats else {}
    with quiet(PrivacyLeakWarning):  # the documents are known to who asks
        # a releaser of ours reads texts, where a guarantee knows documents by words
        own = hasattr(releaser, "exponent")
        claims = both_claims(releaser if own else releaser.guarantee(), x, y)
        released = releaser.transform(documents, **ids)
        counts = _counts(plain_documents(released))
        if counts.shape[0] != len(documents):
            raise InvalidParameterError(
                "transform of the releaser must give one release per document, got "
                f"{counts.shape[0]} for {len(documents)}."
            )
        scores = learned_scores(counts)
        if hasattr(releaser, "log_likelihood"):
            rule = f"log_likelihood must return shape ({len(documents)}, 2) without NaN"
            logs = as_array(releaser.log_likelihood([x, y], released), rule)
            if logs.shape != (len(documents), 2) or np.isnan(logs).any():
                raise InvalidParameterError(f"{rule}, got shape {logs.shape}.")
            with np.errstate(invalid="ignore"):
                # −inf − (−inf), a release that neither document can give, tells nothing
                ratios = np.nan_to_num(logs[:, 0] - logs[:, 1]).reshape(2, -1, 1)
            scores = np.concatenate([scores, ratios[:, -scores.shape[1] :]], axis=2)
    judged = closest_bound(scores, claims, confidence)
    return ReleaseAudit([(x, y)], *judged, confidence)


def both_claims(guarantee: Any, x: Any, y: Any) -> list[float]:
    """The claims of anybody's guarantee for x against y, and for y against x."""
    orders = (x, y), (y, x)
    # numbers of NumPy become plain ones
    claims = [np.asarray(guarantee.exponent(*order)).tolist() for order in orders]
    name = "exponent of the guarantee"  # inf promises nothing, and cannot be refuted
    return [c if c == np.inf else check_real(name, c, low=0) for c in claims]


def closest_bound(
    scores: np.ndarray, claims: list[float], confidence: float
) -> tuple[float, float, float]:
    """Bound and claim of the order in which they come closest; the largest bound."""
    each = 1 - (1 - confidence) / 2  # in each of two orders
    bounds = [lower_bound(p, q, each) for p, q in (scores, scores[::-1])]
    # equal differences, such as those from two claims of inf: the larger bound
    closest = max(zip(np.subtract(bounds, claims), bounds, claims, strict=True))
    n = scores.shape[1]
    return closest[1], closest[2], lower_bound(np.ones(n), np.zeros(n), each)


def learned_scores(counts: sp.csr_array) -> np.ndarray:
    """Scores of the releases of two texts, by what the first eighth of each suggests.

    `counts` has a row for each release, those of the first text first, and a column for
    each thing that may be in a release. Returned are, of shape (2, n_rest, n_scores),
    averages of log ratios over what is in a release, and the counts of what tells most
    by itself.
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
    """What an observer can count in each release, a row for each.

    Tokens, known or not; how many there are; and the release as a whole.
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
