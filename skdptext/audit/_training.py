"""Audit how well models fitted with and without one person can be distinguished."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from skdptext.audit._bounds import bound_and_column, lower_bound, refutes
from skdptext.audit._fitted import Look, Reading, look_into, repeats, same
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    as_labels,
    check_integer,
    check_kind,
    check_option,
    check_real,
    check_rng,
    plain_documents,
    quiet,
    shown,
    wrapped,
)

# One in so many fits is spent on each candidate person; and the most fits from which
# statistics are learned.
_PILOT, _MOST_LEARNED = 20, 1000


@dataclass(eq=False)
class TrainingAudit:
    """Result of `audit_training`: how well fits with and without a person differ.

    Attributes
    ----------
    person : object
        The person who was left out: an author, or the number of a row.
    lower_bound : float
        Lower bound on ε at `delta`, in nats, which holds with probability `confidence`.
    claimed : float
        The ε of the claim, at the same δ.
    delta : float
        The δ of the claim. A guarantee may state a δ for each ε, as for Gaussian noise.
        If another pair than the stated one is refuted, this is the δ of that pair.
    violated : bool
        ``lower_bound > claimed``: the claim is false.
    largest_bound : float
        The largest lower bound that this number of fits can show. The audit says
        nothing about larger claims.
    repeats : int
        How often the noise of two fits was the same, beyond chance: equal numbers in
        fits to the same data, or differences between fits with and without the person
        that hardly vary. Above 0 the claim is false, and the bound says nothing, unless
        the estimator was told to repeat its noise.
    accuracy : float
        How often an attacker who knows all other people's data is right about whether
        the person is in a fit, if both are equally likely. An estimate, without a
        margin.
    event : str
        The part of the models that shows the lower bound.
    n_fits, confidence
        As given.
    """

    person: Any
    lower_bound: float
    claimed: float
    delta: float
    largest_bound: float
    repeats: int
    accuracy: float
    event: str
    n_fits: int
    confidence: float

    @property
    def violated(self) -> bool:
        """Whether the lower bound exceeds the claim."""
        return bool(refutes(self.lower_bound, self.claimed))

    def __str__(self) -> str:
        verdict = "No violation was found. This does not prove privacy."
        if self.violated:
            verdict = f"The claim is false: {self.event} refutes it."
        elif self.repeats:
            verdict = f"Noise was reused {self.repeats} times, which voids any claim."
        elif self.claimed >= self.largest_bound:
            verdict = (
                "This number of fits can only show an ε up to "
                f"{self.largest_bound:.3g} and says nothing about the claim."
            )
        at = f" at δ = {self.delta:.3g}" if self.delta else ""
        return wrapped(
            f"In {self.n_fits:,} fits with the person and as many without, ε{at} is at "
            f"least {self.lower_bound:.3g} (confidence {self.confidence:g}); the claim "
            f"is {self.claimed:.4g}. An attacker who knows all other data is right "
            f"about the person in {self.accuracy:.0%} of the fits. {verdict}"
        )


def audit_training(
    estimator: Any,
    X: Any,
    y: Any,
    person: Any = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    authors: Any = None,
    adjacency: str = "add_remove",
    n_fits: int = 1000,
    confidence: float = 0.99,
    random_state: Any = None,
) -> TrainingAudit:
    """Test whether a model hides each person in its training data as well as claimed.

    The estimator is fitted many times to the same data, with and without all rows of
    one person. If the fits can be distinguished more often than the claimed ε allows,
    the claim is false [1]_ [2]_.

    Parameters
    ----------
    estimator : object
        Any object with ``fit(X, y)`` that draws its own noise: `DPTextClassifier`, or
        an estimator of another library. It is cloned for each fit. A `random_state`
        that is not None is replaced by a new integer for each fit.
    X : list of str, or array, sparse matrix or DataFrame with a row for each document
        Public data, or data made for the audit. A few hundred rows are enough.
    y : array-like of shape (n_rows,)
        Labels.
    person : object, default=None
        The person to leave out: one of the `authors`, or the number of a row without
        them. If None, several people are tried in a few fits each: the one with the
        most rows, the one whose words or numbers are farthest from all others, and one
        with the rarest label. The most visible person is then tested in new fits.
    epsilon : float > 0, default=None
        The claim. If None, the ε of ``guarantee()`` of a fitted estimator, or its
        ``epsilon_replace`` if a person is replaced.
    delta : float in [0, 1), default=None
        The δ of the claim; 0 if only `epsilon` is given.
    authors : array-like of shape (n_rows,), default=None
        The author of each row, which is also passed to ``fit`` if it takes authors. If
        None, each row is a person.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Whether the claim is about adding or removing a person, or about replacing one
        by another, which assumes that the number of rows is public. For "replace", as
        many rows of another person with other labels replace those left out.
    n_fits : int >= 100, default=1000
        Number of fits with the person, and of fits without.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the random states of estimators that have one. Otherwise the estimator
        draws its own noise.

    Returns
    -------
    audit : TrainingAudit
        The result. Printing it gives a summary in a few sentences.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or there is no claim.

    See Also
    --------
    audit_document_pair : Tests releases of two documents.

    Notes
    -----
    *Method.* A quarter of the fits, 1,000 at most, suggests statistics. A quarter of
    the others chooses one statistic and a threshold, which define an event S. On the
    rest, Clopper–Pearson limits bound ln((Pr[S | with] − δ) / Pr[S | without]) from
    below, and the same with both exchanged; no true ε is smaller. The bound is valid
    regardless of how S was found.

    *Statistics.* They use all that a pickle of the fitted estimator would contain,
    public or not: numbers; whether texts and shapes are the same; the lowest bits of
    numbers, which noise in floating point does not hide [3]_; and ``predict_proba`` or
    ``decision_function`` of the person's documents. For arrays, they also use sums and
    differences of rows, which noise shared by rows does not hide. The features that
    differ most are tried alone, by value and by distance from the median. Averages of
    features are weighted by variances, by the pooled covariance, and as is optimal for
    Laplace noise. Generators of random numbers and attributes named `random_state` are
    left out. Private attributes count as released, because pickles are handed over.

    *Gaussian noise* with a small δ cannot be refuted at this δ by counting. If
    ``guarantee()`` has ``delta_at(epsilon)``, all its pairs of ε and δ are claims. One
    of the other pairs is then tested as well, each with half of the error rate.

    *Limits.* Bounds above `largest_bound`, about ln(n_fits) − 2.4, cannot be shown:
    audit at a small ε, because the same program runs at every ε. The audit says nothing
    about other people and data, about times and messages, or about 9 of 10 numbers of
    an array of 100,000. Floating-point numbers that are made of whole numbers can be
    equal by chance, and `repeats` counts them if they spread over thousands.

    *Privacy.* An audit can show a violation; it never proves privacy. Each fit is
    another release, so use public data.

    References
    ----------
    .. [1] M. Jagielski, J. Ullman, A. Oprea (2020). Auditing differentially private
       machine learning: how private is private SGD? NeurIPS.
    .. [2] Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer (2018). Detecting violations
       of differential privacy. CCS.
    .. [3] I. Mironov (2012). On significance of the least significant bits for
       differential privacy. CCS.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext.audit import audit_training
    >>> rng = np.random.default_rng(0)  # for a repeatable example; do not copy this
    >>> class NoisyCounts:
    ...     def fit(self, X, y):
    ...         noise = rng.geometric(1 - np.exp(-1), (2, 2))
    ...         counts = np.bincount(y, minlength=2)
    ...         self.counts_ = counts + noise[0] - noise[1]
    ...         return self
    >>> labels = np.array([0, 1] * 20)
    >>> audit = audit_training(
    ...     NoisyCounts(), np.zeros((40, 1)), labels, epsilon=1.0, random_state=0)
    >>> audit.violated, audit.repeats
    (False, 0)

    Counts of documents, if a person may have many:

    >>> people = np.repeat(np.arange(8), 5)
    >>> audit = audit_training(
    ...     NoisyCounts(), np.zeros((40, 1)), labels, authors=people, epsilon=1.0,
    ...     random_state=0)
    >>> audit.violated
    True
    """
    check_kind(estimator, ["fit"], "estimator must have fit")
    n_fits = check_integer("n_fits", n_fits, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    check_option("adjacency", adjacency, ("add_remove", "replace"))
    fits = _Fits(estimator, X, y, authors, adjacency, check_rng(random_state))
    if person is not None:
        fits.rows_of(person)
    claimed, delta, delta_at = fits.claim(epsilon, delta)
    if person is None:
        tried = fits.candidates()
        n = max(n_fits // _PILOT, 20)
        clearest = [Reading([*fits.pairs(each, n)]).clearest for each in tried]
        person = tried[int(np.argmax(clearest))]
    n_learned = min(n_fits // 4, _MOST_LEARNED)
    reading = Reading([*fits.pairs(person, n_learned)])
    rest = fits.pairs(person, n_fits - n_learned)
    p, q = np.swapaxes([[reading(look) for look in pair] for pair in rest], 0, 1)
    # The error rate is split over two directions of each tested claim.
    each = 1 - (1 - confidence) / (2 if delta_at is None else 4)

    def bound(p: np.ndarray, q: np.ndarray, delta: float) -> tuple[float, int]:
        return max(bound_and_column(*pair, each, delta) for pair in ((p, q), (q, p)))

    lower, column = bound(p, q, delta)
    if delta_at is not None and lower <= claimed:
        # The rows that choose the event also choose the other pair of ε and δ. The
        # bound is computed on the remaining rows.
        n = len(p) // 4
        pairs = [(e, min(delta_at(e), 1.0)) for e in claimed * np.arange(20) / 20]
        e, d = max(pairs, key=lambda pair: bound(p[:n], q[:n], pair[1])[0] - pair[0])
        other, its_column = bound(p, q, d)
        if other > e:
            lower, column, claimed, delta = other, its_column, float(e), d
    return TrainingAudit(
        person=person,
        lower_bound=lower,
        claimed=claimed,
        delta=delta,
        largest_bound=lower_bound(np.ones(len(p)), np.zeros(len(p)), each),
        accuracy=_accuracy(p, q),
        repeats=repeats(p[:, reading.fine], q[:, reading.fine]),
        event=reading.names[column],
        n_fits=n_fits,
        confidence=confidence,
    )


def _accuracy(p: np.ndarray, q: np.ndarray) -> float:
    """Estimate how often the best statistic of a third of the fits is right."""
    third = len(p) // 3
    mean_p, mean_q = p[:third].mean(axis=0), q[:third].mean(axis=0)
    sign, cut = np.sign(mean_p - mean_q), (mean_p + mean_q) / 2
    right = ((p - cut) * sign > 0) * 0.5 + ((q - cut) * sign < 0) * 0.5
    return float(right[third:, right[:third].mean(axis=0).argmax()].mean())


class _Fits:
    """Fits of an estimator to rows of data, with and without those of a person."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        authors: Any,
        adjacency: str,
        rng: np.random.Generator,
    ) -> None:
        self._estimator, self._rng = estimator, rng
        self._replaces = adjacency == "replace"
        X = plain_documents(X)
        check_kind(X, Iterable, "X must hold a row for each document")
        X = X.tocsr() if hasattr(X, "tocsr") else X  # CSR allows selecting rows
        self._X = X if hasattr(X, "shape") else list(X)
        n = X.shape[0] if hasattr(X, "shape") else len(self._X)
        self._everyone = np.arange(n)
        self._y = as_labels("y", y, n, of="row")
        self._has_authors = authors is not None
        name, people = ("authors", authors) if self._has_authors else ("X", range(n))
        self._people = as_labels(name, people, n, of="row", n_different=3)
        # A fixed seed would make all fits alike and prove nothing. Each fit gets new
        # seeds, for every step of a pipeline.
        options = estimator.get_params() if hasattr(estimator, "get_params") else {}
        self._seeds = [
            name
            for name, value in options.items()
            if name.rpartition("__")[2] == "random_state" and value is not None
        ]
        self._first: Look = {}

    def rows_of(self, person: Any) -> np.ndarray:
        """Find the rows of a person."""
        known = set(self._people.tolist())
        if not isinstance(person, Hashable) or person not in known:
            rule = "one of the authors" if self._has_authors else "the number of a row"
            raise InvalidParameterError(f"person must be {rule}, got {shown(person)}.")
        return self._people == person

    def candidates(self) -> list[Any]:
        """Choose people with whom mistakes show first."""
        # Extreme people reveal mistakes: the one with the most rows a missing bound
        # per person, the one far from all others missing clipping, and one who is
        # nearly alone in a class counts without noise.
        writes_most = Counter(self._people.tolist()).most_common(1)[0][0]
        like = Counter(self._y.tolist())
        rarest = np.argmin([like[label] for label in self._y.tolist()])
        rows = np.array([self._distances().argmax(), rarest])
        return [*dict.fromkeys([writes_most, *self._people[rows].tolist()])]

    def _distances(self) -> np.ndarray:
        """Compute how far each row is from the others."""
        X = self._X.toarray() if hasattr(self._X, "toarray") else self._X
        try:
            rows = np.asarray(X, dtype=float).reshape(len(self._y), -1)
            return np.linalg.norm(rows - rows.mean(axis=0), axis=1)
        except (TypeError, ValueError):  # for texts, count words that no other text has
            words = [set(str(row).split()) for row in X]
            known = Counter(word for row in words for word in row)
            return np.array([sum(known[w] == 1 for w in row) for row in words], float)

    def claim(self, epsilon: float | None, delta: float | None) -> tuple[Any, ...]:
        """Get ε, δ, and a function for δ at other ε if the guarantee has one."""
        name = "epsilon_replace" if self._replaces else "epsilon"
        curve = None
        if epsilon is None and delta is None and hasattr(self._estimator, "guarantee"):
            guarantee = self._fitted(self._everyone, self._people).guarantee()
            epsilon, delta = (getattr(guarantee, a, None) for a in (name, "delta"))
            curve = getattr(guarantee, "delta_at", None)
            if curve is not None and self._replaces:
                curve = partial(curve, adjacency="replace")
        if epsilon is None:
            raise InvalidParameterError(
                "epsilon must be given with delta, or if the estimator has no "
                f"guarantee() that states {name}, got None."
            )
        epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        delta = 0.0 if delta is None else delta
        return epsilon, check_real("delta", delta, low=0, high=1, open_high=True), curve

    def pairs(self, person: Any, n: int) -> Iterator[tuple[Look, ...]]:
        """Yield the contents of n pairs of fits, with the person and without."""
        own, people = self.rows_of(person), self._people
        everyone = self._everyone, people
        others = self._everyone[~own], people[~own]
        if self._replaces:
            # Replacing the person by one of another class changes every sum the most.
            # A claim about replacement must cover this case.
            other = ~own & ~np.isin(self._y, self._y[own])
            stand_in = people[other if other.any() else ~own][0]
            rows = self._everyone.copy()
            rows[own] = np.resize(np.flatnonzero(people == stand_in), own.sum())
            others = rows, people
        theirs = _safe_indexing(self._X, np.flatnonzero(own))
        for _ in range(n):
            yield tuple(
                self._look(self._fitted(*rows), theirs) for rows in (everyone, others)
            )

    def _fitted(self, rows: np.ndarray, people: np.ndarray) -> Any:
        # Objects without parameters are copied instead of cloned.
        model = clone(self._estimator, safe=False)
        if self._seeds:
            seeds = self._rng.integers(2**31, size=len(self._seeds)).tolist()
            model.set_params(**dict(zip(self._seeds, seeds, strict=True)))
        takes = self._has_authors and "authors" in signature(model.fit).parameters
        given = {"authors": people} if takes else {}
        with quiet(Warning):  # every fit would repeat its warnings about public data
            fitted = model.fit(_safe_indexing(self._X, rows), self._y[rows], **given)
        return model if fitted is None else fitted

    def _look(self, model: Any, theirs: Any) -> Look:
        """Collect the contents of a fit: its pickle, and answers on a person's rows."""
        state = model.__getstate__()
        parts = {**state} if isinstance(state, dict) else {"the model": model}
        for name in ("predict_proba", "decision_function"):
            if hasattr(model, name):
                with quiet(Warning):
                    parts[name] = getattr(model, name)(theirs)
        found: Look = {}
        for part, value in parts.items():
            if part != "random_state":
                found |= look_into(value, part)
        for name, value in found.items():
            first = self._first.setdefault(name, value)
            if same(value, first):
                found[name] = first  # equal contents are kept once in memory
        return found
