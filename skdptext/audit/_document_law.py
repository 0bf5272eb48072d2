"""Whether a releaser of documents follows the distribution that it states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skdptext.documents import row_keys
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import (
    check_integer,
    check_methods,
    check_real,
    check_rng,
    quiet,
    wrapped,
)


class DocumentLawAudit(NamedTuple):
    """Result of `audit_document_law`.

    Attributes
    ----------
    distribution : ndarray of shape (n_documents, 2)
        p-values: the releases of each document against their stated probabilities, by
        value, and with those values together that say the same of the documents.
    independence : ndarray of shape (n_pairs,)
        p-values: how often two releases are equal, against the stated probability; of
        each document and itself in one call, then of each two documents in it; then,
        for each document, of itself in a second call, and in both calls.
    alpha : float
        Probability that an honest releaser is refuted.
    n_releases : int
    """

    distribution: np.ndarray
    independence: np.ndarray
    alpha: float
    n_releases: int

    @property
    def pvalue(self) -> float:
        """The smallest p-value, times the number of tests (Bonferroni)."""
        each = np.concatenate([self.distribution.ravel(), self.independence])
        return float(min(1.0, each.min() * len(each)))

    @property
    def refuted(self) -> bool:
        """Whether the stated distribution is refuted."""
        return self.pvalue < self.alpha

    def __str__(self) -> str:
        what = (
            "The stated distribution is refuted"
            if self.refuted
            else "No departure from the stated distribution was found, which does not "
            "prove it"
        )
        return wrapped(
            f"{what}: p = {self.pvalue:.2g} over {len(self.distribution)} documents, "
            f"each released {self.n_releases} times (an honest releaser is refuted "
            f"with probability at most {self.alpha:g})."
        )


def audit_document_law(
    releaser: Any,
    documents: Sequence[Any],
    *,
    n_releases: int = 2000,
    alpha: float = 1e-6,
    random_state: Any = None,
) -> DocumentLawAudit:
    """Test releases of documents against the probabilities that a releaser states.

    Parameters
    ----------
    releaser : fitted DPDocumentReplacer, or object with its protocol
        With `transform(documents)`, and `log_likelihood(documents, released)` that is
        exact. Its releases are compared by value, so they should be hashable or arrays;
        the fewer different ones, the more is found.
    documents : list of str, or of lists of str
        At least 2, which should be public.
    n_releases : int >= 100, default=2000
        Releases of each document that are tested; as many again are learned from. They
        are made in one call, since noise that equal documents share shows only there. A
        second call asks for the same documents again, in the same order.
    alpha : float in (0, 1), default=1e-6
        Probability of a false alarm.
    random_state : None, int or numpy.random.Generator, default=None
        Orders the documents of the call; the releaser draws its own noise.

    Returns
    -------
    audit : DocumentLawAudit
        What was found; printed, it says so in a sentence.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    See Also
    --------
    audit_noise_law : The noise of words.
    audit_document_pair : A lower bound on the exponent between two documents.

    Notes
    -----
    *Method.* As many releases again say which values there are, and which seem to be
    released too often. Then binomial tests, which are exact, and corrected for their
    number: of how often each value is released; of the values that seemed too frequent,
    together; of those that are equally likely for each of the documents, together; and
    of how often two releases are equal, for each document and for each two, which finds
    noise that is shared. A second call is tested in the same way, and each of its
    releases against that of the same place in the first: noise that is replayed in each
    call is found, and answers that are remembered. A repeatable release, with an
    integer seed, is refuted, as it repeats by design.

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer
    >>> from skdptext.audit import audit_document_law
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> labels = ["pets", "pets", "food", "food"]
    >>> replacer = DPDocumentReplacer(public, public_labels=labels).fit()
    >>> audit_document_law(replacer, ["a cat", "tea"]).refuted
    False
    """
    methods = "transform", "log_likelihood"
    check_methods(releaser, methods, "releaser must have transform and log_likelihood")
    n = check_integer("n_releases", n_releases, low=100)
    alpha = check_real("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    documents = [documents] if isinstance(documents, str) else list(documents)
    m = len(documents)
    if m < 2:
        raise InvalidParameterError(f"documents must hold at least 2, got {m}.")
    order = check_rng(random_state).permutation(np.repeat(np.arange(m), 2 * n))
    # they are public
    with quiet(PrivacyLeakWarning):
        asked = [documents[i] for i in order]
        released, later = releaser.transform(asked), releaser.transform(asked)
        number: dict[Any, int] = {}
        values, again = _keys(released, number), _keys(later, number)
        first = np.unique(values, return_index=True)[1]
        distinct = _rows(released, first)
        law = np.exp(np.asarray(releaser.log_likelihood(documents, distinct))).T
    # The values of one half of the releases are told apart in the other half. Which
    # values there are must not come from what is tested: it would hold none that was
    # not released.
    of_each = [values[order == i] for i in range(m)]
    known = np.unique(np.concatenate([mine[:n] for mine in of_each]))
    place = np.full(len(first), len(known))
    place[known] = np.arange(len(known))
    stated = law[:, known]
    other = np.clip(1 - stated.sum(axis=1), 0, 1)
    kinds = np.unique(stated.T.round(12), axis=0, return_inverse=True)[1].ravel()
    kinds = np.append(kinds, kinds.max() + 1)  # the others are of their own
    distribution = np.empty((m, 2))
    for i, mine in enumerate(of_each):
        probabilities = np.append(stated[i], other[i])
        if (law[i, mine] <= 0).any():
            distribution[i] = 0.0  # what cannot be was released
            continue
        learned, counts = (
            np.bincount(half, minlength=len(probabilities))
            for half in np.split(place[mine], 2)
        )
        distribution[i, 0] = _fit(learned, counts, probabilities)
        learned, counts, probabilities = (
            np.bincount(kinds, weights=x) for x in (learned, counts, probabilities)
        )
        distribution[i, 1] = _fit(learned, counts, probabilities)
    each = [place[mine[n:]] for mine in of_each]
    independence = [
        _equal(each[i][0::2][: n // 2], each[i][1::2][: n // 2], stated[i], stated[i])
        for i in range(m)
    ]
    independence += [
        _equal(each[i], each[j], stated[i], stated[j])
        for i in range(m)
        for j in range(i)
    ]
    # What came out in the second call only is among the others.
    place = np.append(place, np.full(len(number) - len(place), len(known)))
    of_later = [place[again[order == i]] for i in range(m)]
    for mine, theirs, law_of in zip(each, of_later, stated, strict=True):
        independence.append(_equal(theirs[0::2], theirs[1::2], law_of, law_of))
        independence.append(_equal(mine, theirs[n:], law_of, law_of))
    return DocumentLawAudit(distribution, np.array(independence), alpha, n)


def _keys(released: Any, number: dict[Any, int]) -> np.ndarray:
    """A number for each release, equal for equal ones, in all calls with `number`."""
    rows: Any = released.tolist() if isinstance(released, np.ndarray) else released
    if sp.issparse(released):
        rows = row_keys(released)
    hashable = (tuple(row) if isinstance(row, list) else row for row in rows)
    return np.array([number.setdefault(row, len(number)) for row in hashable])


def _rows(released: Any, at: np.ndarray) -> Any:
    return released[at] if hasattr(released, "shape") else [released[i] for i in at]


def _fit(learned: np.ndarray, counts: np.ndarray, law: np.ndarray) -> float:
    """p-value of how often each value was released, exact for any distribution.

    Of each value by itself, and of those together that were released more often than
    expected when they were learned.
    """
    n = counts.sum()
    over = learned > law * learned.sum()
    hits = np.append(counts, counts[over].sum())
    p = np.clip(np.append(law, law[over].sum()), 0, 1)
    return min(1.0, float(_two_sided(hits, n, p).min()) * len(hits))


def _equal(a: np.ndarray, b: np.ndarray, of_a: np.ndarray, of_b: np.ndarray) -> float:
    """p-value of how many pairs are equal, and of a known value."""
    hits = ((a == b) & (a < len(of_a))).sum()
    return float(_two_sided(hits, len(a), min(of_a @ of_b, 1.0)))


def _two_sided(hits: Any, n: int, p: Any) -> np.ndarray:
    """p-values of binomial counts: twice the smaller tail."""
    from scipy.stats import binom  # late, as it is slow to load

    tails = np.minimum(binom.sf(hits - 1, n, p), binom.cdf(hits, n, p))
    return np.minimum(1.0, 2 * tails)
