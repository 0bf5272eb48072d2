"""Shares of topics, read from a release without bias."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import bdtr, gammaln, xlog1py, xlogy

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.replacement._groups import PublicGroups, words_of
from skdptext.replacement._guarantee import ReplacementGuarantee, ReplacementPart
from skdptext.replacement._replacer import DPDocumentReplacer
from skdptext.utils import (
    as_labels,
    check_authors,
    check_integer,
    check_real,
    import_pandas,
    kind_of,
    lined_up,
    page,
    paragraph,
    table,
)

# Further from its mean than so many standard deviations, a binomial distribution has no
# mass that matters beside a tail of 2.5 %: 1e-32.
_FAR = 12
_TARGET = (
    "The intervals are about the {} that were released, as the grouper sees them: it "
    "may take one topic for another. What other {} of their source would show varies "
    "more."
)


@dataclass(frozen=True, eq=False, repr=False)
class TopicShares:
    """Shares of the groups among the documents that were released.

    Made by `topic_shares`.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Labels of the groups.
    shares : ndarray of shape (n_groups,)
        Estimates that are no less than 0 and sum to 1: the nearest to `unbiased`.
    low, high : ndarray of shape (n_groups,)
        Interval of each share by itself, exact for every number of documents.
    unbiased : ndarray of shape (n_groups,)
        Estimates that are right on average, and sum to 1; small ones may be negative.
    confidence : float
        Of the intervals.
    n_documents : int
        Number of releases that were read.
    words : list of list of str or None
        Words that are typical of each group's public documents; None where only a
        guarantee was given.
    unit : {"document", "person"}
        What is counted: documents; or authors, by the group that most of their
        documents are in, where each author answered once. `n_documents` is then their
        number.
    """

    groups: np.ndarray
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unbiased: np.ndarray
    confidence: float
    n_documents: int
    words: list[list[str]] | None
    unit: str = "document"

    def to_frame(self) -> Any:
        """The shares as a pandas data frame, a row for each group.

        Returns
        -------
        frame : pandas.DataFrame
            With the group, its share, interval, unbiased estimate, and words.
        """
        others = ("confidence", "n_documents", "unit")
        columns = [f.name for f in fields(self) if f.name not in others]
        data = {name: getattr(self, name) for name in columns}
        if self.words is None:
            del data["words"]
        return import_pandas("to_frame").DataFrame(data)

    def _rows(self) -> list[list[Any]]:
        words = self.words or [[]] * len(self.groups)
        return [
            [
                str(group),
                f"{100 * share:.1f} %",
                f"{_down(low)} to {_up(high)} %",
                " ".join(of_group),
            ]
            for group, share, low, high, of_group in zip(
                self.groups, self.shares, self.low, self.high, words, strict=True
            )
        ]

    @property
    def _header(self) -> list[str]:
        return ["group", "share", f"{100 * self.confidence:g} % interval", "words"]

    def __str__(self) -> str:
        lines = lined_up([self._header, *self._rows()], left=(0, 3))
        units = f"{self.unit}s"
        told = _TARGET.format(units, units)
        return "\n".join([*lines, f"{self.n_documents:,} {units}. {told}"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return page(
            f"Shares of topics in {self.n_documents:,} {self.unit}s",
            table(self._header, self._rows()),
            paragraph(_TARGET.format(f"{self.unit}s", f"{self.unit}s")),
        )


def topic_shares(
    released: Any,
    releaser: DPDocumentReplacer | ReplacementGuarantee,
    *,
    groups: Sequence[Any] | None = None,
    authors: Any = None,
    confidence: float = 0.95,
    n_words: int = 6,
) -> TopicShares:
    r"""Estimate how many documents each group had, from what was released.

    A group is kept with probability p and becomes each other one with q. So the share
    f of releases in a group is, on average, q + (p − q) π, where π is its share of the
    documents, and

    .. math::

        \hat π = \frac{f - q}{p - q}

    is right on average [1]_. It needs nothing private, and costs no ε.

    Parameters
    ----------
    released : list of str, matrix or ndarray
        What `DPDocumentReplacer.transform` released: one answer for each document. With
        a guarantee, the groups (``output="group"``).
    releaser : DPDocumentReplacer or ReplacementGuarantee
        The fitted replacer, or one fitted alike; or the guarantee of one release.
    groups : array-like of shape (n_groups,), default=None
        With a guarantee: the labels of all groups, those that no release names among
        them. If None, the labels in `released`, if that is all of them.
    authors : array-like of shape (n_documents,), default=None
        Who wrote each document, where each author answered once (``transform`` with
        `authors`). Then one answer of each is counted, and the shares are those of
        authors whose documents are mostly in a group.
    confidence : float in (0, 1), default=0.95
        Probability with which the interval of a group holds its share, at least.
    n_words : int >= 0, default=6
        Typical words of each group to list, from its public documents.

    Returns
    -------
    shares : TopicShares
        Estimates and intervals. ``print(shares)`` is a table.

    Raises
    ------
    InvalidParameterError
        If a release is no answer of the releaser, or of several groups; if the
        guarantee is of several releases, or of persons without `authors`; if the
        answers of an author are of several groups; or a parameter breaks its rule.

    See Also
    --------
    skdptext.DPDocumentReplacer : What releases.

    Notes
    -----
    *Intervals.* With m of n documents in a group, the number of releases in it is the
    sum of two binomial variables, of m trials with p and of n − m with q. The interval
    holds every m for which neither tail of this distribution is below half of the
    error, as Clopper and Pearson have it for one variable. So it covers at least so
    often, whatever n. At ε = 4, with 8 groups and 10,000 documents, it is ± .004 wide.

    *Each document answers once.* A document that is released twice counts twice, and
    one that repeats under the same id has the same answer: the intervals take answers
    to be independent. A replacer does not know how its answers were drawn: name the
    authors of a release that was made with them, or each of their documents counts as
    if it had answered by itself, and the intervals are too narrow.

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
    ...     public, public_labels=labels, epsilon=2.0, random_state=2**72).fit()
    >>> tickets = [f"my cat, number {i}" for i in range(300)] + [
    ...     f"no milk on day {i}" for i in range(100)]
    >>> shares = topic_shares(replacer.transform(tickets), replacer, n_words=2)
    >>> [f"{low:.2f} to {high:.2f}" for low, high in zip(shares.low, shares.high)]
    ['0.21 to 0.29', '0.70 to 0.79']
    """
    confidence = check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )
    n_words = check_integer("n_words", n_words, low=0)
    if isinstance(releaser, ReplacementGuarantee):
        part = _only_part(releaser)
        _check_unit(releaser, authors)
        return shares_of_groups(
            released,
            part.channel,
            groups=groups,
            authors=authors,
            confidence=confidence,
        )
    if not isinstance(releaser, DPDocumentReplacer):
        raise InvalidParameterError(
            "releaser must be a fitted DPDocumentReplacer or a ReplacementGuarantee, "
            f"got {kind_of(releaser)}."
        )
    if groups is not None:
        raise InvalidParameterError(
            "groups must be None with a replacer, which knows them, got "
            f"{kind_of(groups)}."
        )
    ready = releaser._check_ready()
    answers = _answers_of(releaser, released)
    shares = _estimated(
        answers, releaser.groups_, releaser.channel_, authors, confidence
    )
    return replace(shares, words=_typical_words(ready, n_words))


def shares_of_groups(
    released: Any,
    channel: ExactResponse,
    *,
    groups: Any = None,
    authors: Any = None,
    confidence: float = 0.95,
) -> TopicShares:
    """`topic_shares` of groups, by the channel that they were released through."""
    confidence = check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )
    names = _names(released, groups, channel.n_groups)
    return _estimated(_answered(released, names), names, channel, authors, confidence)


def _estimated(
    answers: np.ndarray,
    names: np.ndarray,
    channel: ExactResponse,
    authors: Any,
    confidence: float,
) -> TopicShares:
    """The shares of groups, from the numbers of the groups that were answered."""
    unit = "document"
    if authors is not None:
        unit, answers = "person", _one_each(answers, authors)
    counts = np.bincount(answers, minlength=len(names))
    n = int(counts.sum())
    own, other = channel.proba
    if own == other:
        raise InvalidParameterError(
            "releaser must have an ε at which its answers depend on the documents, got "
            f"{channel.epsilon}: every answer is equally likely."
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
        words=None,
        unit=unit,
    )


# -- what was answered ---------------------------------------------------------------


def _only_part(guarantee: ReplacementGuarantee) -> ReplacementPart:
    """The one release that a guarantee is of."""
    if guarantee.releases != 1:
        raise InvalidParameterError(
            "releaser must be the guarantee of one release, got one of "
            f"{guarantee.releases}: estimate shares from each release by itself."
        )
    return guarantee.parts[0]


def _check_unit(guarantee: ReplacementGuarantee, authors: Any) -> None:
    """Refuse answers of persons that would count as those of documents."""
    if (guarantee.unit == "person") != (authors is not None):
        wanted, got = "given", "None"
        if authors is not None:
            wanted, got = "None", kind_of(authors)
        raise InvalidParameterError(
            f"authors must be {wanted} with the guarantee of a {guarantee.unit}, got "
            f"{got}: an author who answers once counts once."
        )


def _one_each(answers: np.ndarray, authors: Any) -> np.ndarray:
    """One answer of each author."""
    names = check_authors(authors, len(answers))
    _, first, numbers = np.unique(names, return_index=True, return_inverse=True)
    if (answers[first][numbers] != answers).any():
        raise InvalidParameterError(
            "authors must be those of the release, each of whom answered once, but "
            "answers of one author are of several groups."
        )
    return answers[first]


def _labels(name: str, values: Any) -> np.ndarray:
    labels = as_labels(name, values)
    if labels.ndim != 1 or not labels.size or labels.dtype.kind not in "biufUSO":
        raise InvalidParameterError(
            f"{name} must be a list of one or more labels of groups, got "
            f"{kind_of(values)} of shape {labels.shape}."
        )
    return labels


def _names(released: Any, groups: Any, n_groups: int) -> np.ndarray:
    """Sorted labels of all groups."""
    name = "released" if groups is None else "groups"
    labels = _labels(name, released if groups is None else groups)
    names = np.array(sorted(set(labels.tolist())), dtype=labels.dtype)
    if len(names) != n_groups:
        advice = "" if groups is not None else " Name all of them in groups."
        raise InvalidParameterError(
            f"{name} must hold the labels of {n_groups} groups, of which the guarantee "
            f"is, got {len(names)} different ones.{advice}"
        )
    return names


def _answered(released: Any, names: np.ndarray) -> np.ndarray:
    """Numbers of the groups that were released."""
    number = {label: i for i, label in enumerate(names.tolist())}
    found = [number.get(label, -1) for label in _labels("released", released).tolist()]
    if -1 in found:
        raise InvalidParameterError(
            "released must hold labels of groups only, but the one at position "
            f"{found.index(-1)} is none."
        )
    return np.array(found)


def _answers_of(replacer: DPDocumentReplacer, released: Any) -> np.ndarray:
    """Number of the group of each answer of a replacer."""
    if isinstance(released, str | bytes) or not hasattr(released, "__len__"):
        raise InvalidParameterError(
            f"released must be what transform returned, got {kind_of(released)}."
        )
    if replacer.output == "group":
        return _answered(released, replacer.groups_)
    looks = replacer._shares(released) > 0
    groups = looks.argmax(axis=1)
    wrong = np.flatnonzero(looks.sum(axis=1) != 1)
    if len(wrong) or not len(groups):
        what = "nothing."
        if len(wrong):
            what = (
                f"{len(wrong):,} of {len(groups):,} that are not, or are in several "
                f"groups, the first at position {wrong[0]}. If a text is public in "
                'two groups, release with output="index" or "group", which tell them '
                "apart."
            )
        raise InvalidParameterError(
            f"released must hold answers of the replacer, each of one group, got {what}"
        )
    return groups


# -- statistics ----------------------------------------------------------------------


def _on_simplex(shares: np.ndarray) -> np.ndarray:
    """The nearest shares that are no less than 0 and sum to 1 (Duchi et al., 2008)."""
    # what is added to all changes nothing, and 1 is lost beside large numbers
    shares = shares - shares.max()
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    nearest = np.maximum(shares - excess[last], 0.0)
    return nearest / nearest.sum()


def _interval(
    count: int, n: int, own: float, other: float, error: float
) -> tuple[float, float]:
    """Shares of the documents with which `count` of n releases is no surprise."""
    # More documents in the group shift the count upwards, so that both tails are
    # monotone in their number, and bisection finds where they pass half of the error.
    documents, half = range(n + 1), error / 2

    def seldom_more(m: int) -> bool:
        return _at_most(count - 1, m, n - m, own, other) <= 1 - half

    def seldom_less(m: int) -> bool:
        return _at_most(count, m, n - m, own, other) < half

    low = bisect_left(documents, True, key=seldom_more)
    high = bisect_left(documents, True, key=seldom_less) - 1
    # a count may surprise whatever their number is
    return min(low, n) / n, max(high, 0) / n


def _at_most(count: int, m: int, rest: int, own: float, other: float) -> float:
    """Pr[A + B ≤ count] for A ~ Bin(m, own) and B ~ Bin(rest, other)."""
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


# -- words ---------------------------------------------------------------------------


def _typical_words(groups: PublicGroups, n_words: int) -> list[list[str]]:
    """Words that more of a group's public documents have than of the others.

    By the share of the group's documents that have the word times the logarithm of its
    ratio to the share among all: common words weigh nothing, and rare ones little.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    reader = CountVectorizer(analyzer=words_of, binary=True)
    has = reader.fit_transform(iter(groups.documents))
    names = reader.get_feature_names_out()
    overall = np.asarray(has.mean(axis=0)).ravel()
    order, starts = groups.members
    typical = []
    for start, stop in pairwise(starts):
        share = np.asarray(has[order[start:stop]].mean(axis=0)).ravel()
        score = xlogy(share, share / overall)
        best = np.argsort(-score, kind="stable")[:n_words]
        typical.append([str(names[i]) for i in best if score[i] > 0])
    return typical


def _down(share: float) -> str:
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f}"


def _up(share: float) -> str:
    return f"{math.ceil(1000 * share - 1e-9) / 10:.1f}"
