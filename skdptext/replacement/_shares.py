"""Estimate shares of topics from released groups without bias."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, gammaln, xlog1py, xlogy

from skdptext.exceptions import InvalidParameterError
from skdptext.privacy import PrivacyGuarantee, ReplacementPart
from skdptext.utils import as_labels, check_kind, check_real, kind_of, lined_up

# Beyond so many standard deviations from its mean, a binomial distribution has a mass
# of about 1e-32, which does not matter next to a tail of 2.5%.
_FAR = 12
_TARGET = (
    "The intervals are about the released {}, as the grouper sees them: it may mistake "
    "one topic for another. Other {} from the same source vary more."
)


@dataclass(frozen=True, eq=False, repr=False)
class TopicShares:
    """Shares of the groups among the released documents, made by `topic_shares`.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Labels of the groups.
    shares : ndarray of shape (n_groups,)
        The nonnegative estimates with sum 1 that are nearest to `unbiased`.
    low, high : ndarray of shape (n_groups,)
        Interval of each single share, exact for every number of documents.
    unbiased : ndarray of shape (n_groups,)
        Unbiased estimates with sum 1; small ones may be negative.
    confidence : float
        Confidence of the intervals.
    n_documents : int
        Number of releases that were read.
    unit : {"document", "person"}
        What is counted: documents, or authors who answered once, by the most frequent
        group of their documents. `n_documents` is then the number of authors.
    """

    groups: np.ndarray
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unbiased: np.ndarray
    confidence: float
    n_documents: int
    unit: str = "document"

    def __str__(self) -> str:
        header = ["group", "share", f"{100 * self.confidence:g}% interval"]
        rows = [
            [str(group), f"{100 * share:.1f}%", f"{_down(low)}% to {_up(high)}%"]
            for group, share, low, high in zip(
                self.groups, self.shares, self.low, self.high, strict=True
            )
        ]
        units = f"{self.unit}s"
        told = _TARGET.format(units, units)
        lines = lined_up([header, *rows], left=(0,))
        return "\n".join([*lines, f"{self.n_documents:,} {units}. {told}"])

    def __repr__(self) -> str:
        return str(self)


def topic_shares(
    released: Any,
    guarantee: PrivacyGuarantee,
    *,
    groups: Sequence[Any] | None = None,
    authors: Any = None,
    confidence: float = 0.95,
) -> TopicShares:
    r"""Estimate how many documents each group had, from the released groups.

    A group is kept with probability p and becomes each other group with probability q.
    So the share f of releases in a group is, on average, q + (p − q) π, where π is its
    share of the documents, and

    .. math::

        \hat π = \frac{f - q}{p - q}

    is unbiased [1]_. It needs nothing private, and costs no ε.

    Parameters
    ----------
    released : array-like of shape (n_documents,)
        The released groups, as `~skdptext.DPDocumentReplacer` with ``output="group"``
        returns them, one for each document.
    guarantee : PrivacyGuarantee
        The guarantee of that one release, which may be read from a manifest.
    groups : array-like of shape (n_groups,), default=None
        The labels of all groups, including those without a release. If None,
        `released` must contain all labels.
    authors : array-like of shape (n_documents,), default=None
        The author of each document, if each author answered once (``transform`` with
        `authors`). One answer per author is counted, and the shares are those of
        authors whose documents are mostly in a group.
    confidence : float in (0, 1), default=0.95
        Least probability that the interval of a group contains its share.

    Returns
    -------
    shares : TopicShares
        Estimates and intervals. ``print(shares)`` is a table.

    Raises
    ------
    InvalidParameterError
        If a release is not one of the groups; if the guarantee is of several releases,
        or of people without `authors`; if the answers of an author are from several
        groups; or if a parameter breaks its rule.

    See Also
    --------
    skdptext.DPDocumentReplacer : Makes such releases.

    Notes
    -----
    *Intervals.* With m of n documents in a group, the number of releases in it is the
    sum of two binomial variables, of m trials with p and of n − m with q. The interval
    contains every m for which neither tail of this distribution is below half of the
    error, like that of Clopper and Pearson for one variable. It therefore has at least
    the stated coverage for every n. At ε = 4, with 8 groups and 10,000 documents, it is
    about ± 0.004.

    *Each document answers once.* The intervals assume independent answers. A document
    that is released twice counts twice, and one that repeats under the same id has the
    same answer.

    References
    ----------
    .. [1] S. Warner (1965). Randomized response: a survey technique for eliminating
       evasive answer bias. JASA 60.

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer
    >>> from skdptext.replacement import topic_shares
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> labels = ["pets", "pets", "food", "food"]
    >>> replacer = DPDocumentReplacer(
    ...     public, public_labels=labels, epsilon=2.0, output="group",
    ...     random_state=2**72).fit()
    >>> tickets = [f"my cat, number {i}" for i in range(300)] + [
    ...     f"no milk on day {i}" for i in range(100)]
    >>> shares = topic_shares(replacer.transform(tickets), replacer.guarantee())
    >>> [f"{low:.2f} to {high:.2f}" for low, high in zip(shares.low, shares.high)]
    ['0.21 to 0.29', '0.70 to 0.79']
    """
    confidence = check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )
    check_kind(
        guarantee,
        PrivacyGuarantee,
        "guarantee must be the PrivacyGuarantee of a release",
    )
    channel = _only_part(guarantee, authors).mechanism
    names = _names(released, groups, channel.n_groups)
    number = {label: i for i, label in enumerate(names.tolist())}
    given = as_labels("released", released).tolist()
    answers = np.array([number.get(label, -1) for label in given], dtype=int)
    if not given:
        raise InvalidParameterError("released must hold one or more labels, got none.")
    if (answers < 0).any():
        raise InvalidParameterError(
            "released must hold labels of groups only, but the one at position "
            f"{answers.argmin()} is not one of them."
        )
    if authors is not None:
        answers = _one_each(answers, authors)
    counts = np.bincount(answers, minlength=len(names))
    n = int(counts.sum())
    own, other = channel.proba
    if own == other:
        raise InvalidParameterError(
            "guarantee must have an ε at which answers depend on the documents, got "
            f"{channel.epsilon}: all answers are equally likely."
        )
    unbiased = (counts / n - other) / (own - other)
    ends = np.array([_interval(int(c), n, own, other, 1 - confidence) for c in counts])
    return TopicShares(
        groups=names,
        shares=_on_simplex(unbiased),
        low=ends[:, 0],
        high=ends[:, 1],
        unbiased=unbiased,
        confidence=confidence,
        n_documents=n,
        unit=guarantee.unit,
    )


# -- what was answered ---------------------------------------------------------------


def _only_part(guarantee: PrivacyGuarantee, authors: Any) -> ReplacementPart:
    """Get the only release of a guarantee, by documents or by these authors."""
    if guarantee.kind != "stand-ins" or guarantee.releases != 1:
        raise InvalidParameterError(
            "guarantee must be that of one release, got one of "
            f"{guarantee.releases} of {guarantee.kind}: estimate shares from each "
            "release of stand-ins by itself."
        )
    if (guarantee.unit == "person") != (authors is not None):
        wanted = "None" if authors is not None else "given"
        raise InvalidParameterError(
            f"authors must be {wanted} with the guarantee of a {guarantee.unit}, got "
            f"{kind_of(authors)}: an author who answers once counts once."
        )
    part: ReplacementPart = guarantee.parts[0]
    return part


def _one_each(answers: np.ndarray, authors: Any) -> np.ndarray:
    """Keep one answer of each author."""
    names = as_labels("authors", authors, len(answers), people=True)
    _, first, numbers = np.unique(names, return_index=True, return_inverse=True)
    if (answers[first][numbers] != answers).any():
        raise InvalidParameterError(
            "authors must be those of the release, each of whom answered once, but "
            "answers of one author are from several groups."
        )
    return answers[first]


def _names(released: Any, groups: Any, n_groups: int) -> np.ndarray:
    """Get the sorted labels of all groups."""
    name = "released" if groups is None else "groups"
    labels = as_labels(name, released if groups is None else groups)
    names = np.array(sorted(set(labels.tolist())), dtype=labels.dtype)
    if len(names) != n_groups:
        advice = "" if groups is not None else " Pass all of them as groups."
        raise InvalidParameterError(
            f"{name} must hold the labels of the {n_groups} groups of the guarantee, "
            f"got {len(names)} different ones.{advice}"
        )
    return names


# -- statistics ----------------------------------------------------------------------


def _on_simplex(shares: np.ndarray) -> np.ndarray:
    """Find the nearest nonnegative shares with sum 1 (Duchi et al., 2008)."""
    # A common shift does not change the result, and avoids losing 1 next to large
    # numbers.
    shares = shares - shares.max()
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    nearest = np.maximum(shares - excess[last], 0.0)
    return nearest / nearest.sum()


def _interval(
    count: int, n: int, own: float, other: float, error: float
) -> tuple[float, float]:
    """Find the shares of documents for which `count` of n releases is plausible."""
    # More documents in the group shift the count upwards. Both tails are monotone in
    # their number, and bisection finds where they pass half of the error.
    documents, half = range(n + 1), error / 2

    def seldom_more(m: int) -> bool:
        return _at_most(count - 1, m, n - m, own, other) <= 1 - half

    def seldom_less(m: int) -> bool:
        return _at_most(count, m, n - m, own, other) < half

    low = bisect_left(documents, True, key=seldom_more)
    high = bisect_left(documents, True, key=seldom_less) - 1
    # Some counts are implausible for every number of documents.
    return min(low, n) / n, max(high, 0) / n


def _at_most(count: int, m: int, rest: int, own: float, other: float) -> float:
    """Compute Pr[A + B ≤ count] for A ~ Bin(m, own) and B ~ Bin(rest, other)."""
    if count < 0:
        return 0.0
    reach = _FAR * (math.sqrt(m * own * (1 - own)) + 1)
    first = max(0, math.floor(m * own - reach))
    last = min(m, count, math.ceil(m * own + reach))
    if last < first:
        return 0.0
    a = np.arange(first, last + 1, dtype=float)
    log_ways = gammaln(m + 1.0) - gammaln(a + 1) - gammaln(m - a + 1)
    proba = np.exp(log_ways + xlogy(a, own) + xlog1py(m - a, -own))
    left = np.minimum(count - a, rest)
    return float(proba @ bdtr(left, rest, other))


def _down(share: float) -> str:
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f}"


def _up(share: float) -> str:
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}"
