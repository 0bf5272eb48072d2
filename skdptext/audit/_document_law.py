"""Whether a releaser of documents follows the distribution that it states."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import check_integer, check_methods, check_real, check_rng, wrapped


class DocumentLawAudit(NamedTuple):
    """Result of `audit_document_law`.

    Attributes
    ----------
    distribution : ndarray of shape (n_documents, 2)
        p-values: the releases of each document against their stated probabilities, by
        value, and with those values together that say the same of the documents.
    independence : ndarray of shape (n_pairs,)
        p-values: how often two releases in one call are equal, against the stated
        probability; of each document and itself, then of each two documents.
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
        exact. Its releases are compared by value, so they should be hashable or arrays,
        and there should be far fewer different ones than `n_releases`.
    documents : list of str, or of lists of str
        At least 2, which should be public.
    n_releases : int >= 100, default=2000
        Releases of each document. All are made in one call, since noise that equal
        documents share shows only there.
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
    *Method.* Chi-square tests of how often each value is released, values that are
    expected less than five times together, and of the values that are equally likely
    for each of the documents, taken together, which has more power; and binomial tests
    of how often two releases are equal, for each document and for each two, which finds
    noise that is shared.

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
    documents = list(documents)
    m = len(documents)
    if m < 2:
        raise InvalidParameterError(f"documents must hold at least 2, got {m}.")
    order = check_rng(random_state).permutation(np.repeat(np.arange(m), n))
    # they are public
    with warnings.catch_warnings(action="ignore", category=PrivacyLeakWarning):
        released = releaser.transform([documents[i] for i in order])
        keys = _keys(released)
        _, first, values = np.unique(keys, return_index=True, return_inverse=True)
        distinct = _rows(released, first)
        law = np.exp(np.asarray(releaser.log_likelihood(documents, distinct))).T
    each = np.stack([values[order == i] for i in range(m)])
    unseen = np.clip(1 - law.sum(axis=1), 0, 1)
    kinds = np.unique(law.T.round(12), axis=0, return_inverse=True)[1].ravel()
    of_kinds = np.stack([np.bincount(kinds, weights=row) for row in law])
    distribution = np.array(
        [
            [
                _fit(each[i], np.append(law[i], unseen[i])),
                _fit(kinds[each[i]], np.append(of_kinds[i], unseen[i])),
            ]
            for i in range(m)
        ]
    )
    independence = [
        _equal(each[i][0::2][: n // 2], each[i][1::2][: n // 2], law[i] @ law[i])
        for i in range(m)
    ]
    independence += [
        _equal(each[i], each[j], law[i] @ law[j]) for i in range(m) for j in range(i)
    ]
    return DocumentLawAudit(distribution, np.array(independence), alpha, n)


def _keys(released: Any) -> np.ndarray:
    """A number for each release, equal for equal ones."""
    if hasattr(released, "tocsr"):
        released = released.toarray()
    rows = released.tolist() if isinstance(released, np.ndarray) else list(released)
    number: dict[Any, int] = {}
    hashable = (tuple(row) if isinstance(row, list) else row for row in rows)
    return np.array([number.setdefault(row, len(number)) for row in hashable])


def _rows(released: Any, at: np.ndarray) -> Any:
    return released[at] if hasattr(released, "shape") else [released[i] for i in at]


def _fit(values: np.ndarray, law: np.ndarray) -> float:
    """p-value of values drawn from a law; rare ones are taken together."""
    from scipy.stats import chisquare  # late, as it is slow to load

    counts = np.bincount(values, minlength=len(law))
    expected = law * len(values)
    if counts[law <= 0].any():
        return 0.0  # what cannot be was released
    usual = expected >= 5
    cells = np.append(counts[usual], counts[~usual].sum())
    means = np.append(expected[usual], expected[~usual].sum())
    if means[-1] < 5 and len(means) > 2:
        cells[-2] += cells[-1]
        means[-2] += means[-1]
        cells, means = cells[:-1], means[:-1]
    cells, means = cells[means > 0], means[means > 0]
    if len(cells) < 2:
        return 1.0
    return float(chisquare(cells, means * cells.sum() / means.sum()).pvalue)


def _equal(a: np.ndarray, b: np.ndarray, p: float) -> float:
    """p-value of how many pairs are equal."""
    from scipy.stats import binomtest

    return float(binomtest(int((a == b).sum()), len(a), min(p, 1.0)).pvalue)
