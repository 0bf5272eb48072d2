"""How well the releases of two documents can be told apart."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.audit._words import log_ratio_bound
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.metrics import ReleaseLikelihood
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    check_integer,
    check_real,
    check_rng,
    kind_of,
    progress_bar,
    wrapped,
)

__all__ = ["DocumentPairAudit", "audit_document_pair"]

# Releases of a document per batch, and number of thresholds tried.
_AT_ONCE, _THRESHOLDS = 500, 200
_FALSE_POSITIVES = 0.01


class DocumentPairAudit:
    """Result of `audit_document_pair`: how well two documents are told apart.

    Attributes
    ----------
    auc : float
        Probability that the log-likelihood ratio of a release of x is above that of a
        release of y; 0.5 for guessing.
    accuracy : float
        Share of right answers by the sign of the ratio, if x and y are equally likely.
    true_positives : float
        Share of the releases of x that are recognised if 1 % of the releases of y may
        be mistaken for x. The threshold is chosen on other releases.
    lower_bound : float
        Lower bound on the exponent between the documents, in nats, which holds with
        probability `confidence`; for the order of x and y in which it comes closer to
        the claim.
    claimed : float
        The guarantee's upper bound in this order; inf if lengths are released and the
        documents have different ones.
    violated : bool
        ``lower_bound > claimed``: the guarantee is false.
    largest_bound : float
        The largest lower bound that this number of releases can show. The audit says
        nothing about larger claims.
    ratios : tuple of ndarray of shape (n_releases,)
        Log-likelihood ratios of the releases of x, and of the releases of y.
    confidence : float
        As given.
    """

    def __init__(
        self,
        ratios: tuple[np.ndarray, np.ndarray],
        claims: tuple[float, float],
        confidence: float,
        rng: np.random.Generator,
    ) -> None:
        self.ratios = ratios
        self.confidence = confidence
        of_x, of_y = ratios
        n = len(of_x)
        ranked = np.sort(of_y)
        below = ranked.searchsorted(of_x, "left") + ranked.searchsorted(of_x, "right")
        self.auc = float(below.mean() / (2 * n))
        right = (of_x > 0).mean() + (of_y < 0).mean()
        right += ((of_x == 0).mean() + (of_y == 0).mean()) / 2
        self.accuracy = float(right / 2)
        half = rng.permutation(n) < n // 2
        threshold = np.quantile(of_y[half], 1 - _FALSE_POSITIVES, method="higher")
        self.true_positives = float((of_x[~half] > threshold).mean())
        level = (1 - confidence) / 4  # two limits, in each of two orders
        n_test = int((~half).sum())
        most = log_ratio_bound(np.array([n_test, 0]), np.array([n_test] * 2), level)
        self.largest_bound = float(most)
        bounds = [
            _bound(sign * of_p, sign * of_q, half, level)
            for sign, of_p, of_q in ((1, of_x, of_y), (-1, of_y, of_x))
        ]
        # equal claims, such as two of inf: the larger bound decides
        which = 0 if bounds[0] - claims[0] >= bounds[1] - claims[1] else 1
        if claims[0] == claims[1]:
            which = int(np.argmax(bounds))
        self.lower_bound, self.claimed = bounds[which], claims[which]
        # A claim that holds with equality must not fail because of rounding.
        self.violated = self.lower_bound > self.claimed * (1 + 1e-12)

    def __repr__(self) -> str:
        return (
            f"DocumentPairAudit(auc={self.auc:.3f}, "
            f"lower_bound={self.lower_bound:.3g}, claimed={self.claimed:.4g})"
        )

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        head = (
            f"Releases of the two documents are told apart with AUC {self.auc:.3f} "
            f"({len(self.ratios[0])} of each); at 1 % false positives "
            f"{self.true_positives:.1%} are recognised. The exponent between them is "
            f"at least {self.lower_bound:.3g} (confidence {self.confidence:g}), and "
            f"at most {self.claimed:.4g} by the guarantee"
        )
        if self.violated:
            return f"{head}. The guarantee is false."
        if self.claimed >= self.largest_bound:
            return (
                f"{head}. This number of releases can only show exponents up to "
                f"{self.largest_bound:.3g}: nothing is said about the claim."
            )
        return f"{head}. No violation was found; that does not prove privacy."


def audit_document_pair(
    perturber: DPWordPerturber,
    x: Any,
    y: Any,
    *,
    n_releases: int = 1000,
    n_draws: int = 1000,
    confidence: float = 0.99,
    random_state: Any = None,
    verbose: int = 0,
) -> DocumentPairAudit:
    """Test which of two documents was released, by their likelihood ratio.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Its `output` says whether order is released.
    x, y : str or list of str
        Two documents.
    n_releases : int >= 100, default=1000
        Releases of each document.
    n_draws : int, default=1000
        Simulated draws per word of the two documents; see
        `skdptext.metrics.word_channel`.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.
    random_state : None, int or numpy.random.Generator, default=None
        For the simulation, and for choosing the releases that set the threshold. The
        noise of the releases follows the perturber's law, freshly drawn.
    verbose : int, default=0
        Above 0, show progress bars.

    Returns
    -------
    audit : DocumentPairAudit

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    See Also
    --------
    audit_word_privacy : Pairs of words, from released words alone.
    skdptext.attacks.DocumentLinkageAttack : Many candidates.

    Notes
    -----
    *Membership.* To ask whether a document contains a certain word, pass the document
    as x, and the same document with that word replaced as y.

    *Method.* The statistic is ln Pr[release | x] − ln Pr[release | y] of
    `skdptext.metrics.ReleaseLikelihood`. By the lemma of Neyman and Pearson no other
    test is better for a text in order; for bags the statistic is an approximation. Half
    of the releases choose a threshold, which defines the event S: a ratio above it. On
    the other half, Clopper–Pearson limits bound ln(Pr[S | x] / Pr[S | y]) from below,
    and no true exponent is smaller than this. The bound is valid however rough the
    statistic is.

    *Power.* Bounds above `largest_bound`, about ln(n_releases) − 2.4, cannot be shown;
    exponents between documents are usually far larger.

    *Privacy.* An audit can show a violation; it never proves privacy. The result is
    computed from x and y, which should be public.

    References
    ----------
    .. [1] Tests of hypotheses on released text are the subject of arXiv:2603.22968.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_document_pair
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, epsilon=1.0, lam=0.0, document_length=2, tokenizer=str.split)
    >>> audit = audit_document_pair(perturber.fit([]), "a a", "a b", random_state=0)
    >>> audit.claimed, audit.violated
    (1.0, False)
    """
    if not isinstance(perturber, DPWordPerturber):
        raise InvalidParameterError(
            f"perturber must be a word perturber, got {kind_of(perturber)}."
        )
    n_releases = check_integer("n_releases", n_releases, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    check_integer("verbose", verbose, low=0)
    rng = check_rng(random_state)
    guarantee = perturber.guarantee()
    # a guarantee treats a str as a word
    x, y = (perturber.known_words([d])[0] if isinstance(d, str) else d for d in (x, y))
    claims = float(guarantee.exponent(x, y)), float(guarantee.exponent(y, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        likelihood = ReleaseLikelihood(
            perturber, [x, y], n_draws=n_draws, random_state=rng, verbose=verbose
        )
        fresh = clone(perturber).set_params(random_state=None).fit([])
        total = 2 * n_releases
        with progress_bar(verbose, "audit", total=total, unit="release") as bar:
            ratios = tuple(
                _ratios(fresh, likelihood, d, n_releases, bar) for d in (x, y)
            )
    return DocumentPairAudit((ratios[0], ratios[1]), claims, confidence, rng)


def _ratios(
    perturber: DPWordPerturber,
    likelihood: ReleaseLikelihood,
    document: Any,
    n: int,
    bar: Any,
) -> np.ndarray:
    """Log-likelihood ratios of releases of a document."""
    parts = []
    for start in range(0, n, _AT_ONCE):
        some = min(_AT_ONCE, n - start)
        released = perturber.transform([document] * some)
        of_x, of_y = likelihood(released).T
        parts.append(of_x - of_y)
        bar.update(some)
    return np.concatenate(parts)


def _bound(of_p: np.ndarray, of_q: np.ndarray, half: np.ndarray, level: float) -> float:
    """Lower limit of ln(p/q) for the event "ratio above a threshold"."""
    n_select, n_test = int(half.sum()), int((~half).sum())
    candidates = np.unique(of_p[half])
    if len(candidates) > _THRESHOLDS:
        picks = np.linspace(0, len(candidates) - 1, _THRESHOLDS).astype(int)
        candidates = candidates[picks]
    hits = np.array([[(r[half] >= t).sum() for t in candidates] for r in (of_p, of_q)])
    shown = log_ratio_bound(hits, np.array([n_select] * 2), level)
    threshold = candidates[int(np.argmax(shown))]
    hits = np.array([(r[~half] >= threshold).sum() for r in (of_p, of_q)])
    bound = float(log_ratio_bound(hits, np.array([n_test] * 2), level))
    return max(bound, 0.0) if not math.isnan(bound) else 0.0
