"""How well models fitted with and without one person can be told apart."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from skdptext.audit._bounds import bounds_both_ways, largest_bound, parted
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_integer,
    check_labels,
    check_methods,
    check_option,
    check_real,
    check_rng,
    kind_of,
    plain_documents,
    progress_bar,
    quiet,
    shown,
    wrapped,
)

# Numbers of a model that are looked at, for each of its attributes; and of others than
# noisy sums, where there are such sums.
_MOST_NUMBERS, _MOST_BESIDE_SUMS = 20_000, 2000
# Single numbers that are tried as statistics, and how clearly numbers must differ to
# count in an average.
_SINGLES, _CLEARLY = 10, (0.0, 2.0, 4.0)
# Bits of spread from which on equal numbers are no chance, and that show that a number
# is not just 0 or 1.
_FINE_BITS, _ODD_BITS = 28, 20
# Axes over which rows of numbers are summed, by the dimensions of a row.
_AXES: dict[int, tuple[Any, ...]] = {1: (1,), 2: ((1, 2), 1, 2)}
# Share of the fits that chooses among persons, for each of them.
_PILOT = 20


@dataclass(eq=False, repr=False)
class TrainingAudit:
    """Result of `audit_training`: how well fits with and without a person differ.

    Attributes
    ----------
    person : object
        The person that was left out: an author, or the number of a row.
    lower_bound : float
        Lower bound on ε at `delta`, in nats, which holds with probability `confidence`.
    claimed : float
        The ε of the claim, at the same δ.
    delta : float
        The δ of the claim. Where a guarantee states a δ for each ε, as Gaussian noise
        has one, and another pair than the stated one is refuted, it is of this pair.
    violated : bool
        ``lower_bound > claimed``: the claim is false.
    largest_bound : float
        The largest lower bound that this number of fits can show. The audit says
        nothing about larger claims.
    repeats : int
        Pairs of fits with the same noise, where chance does not explain it: equal
        results of the same data, or the same differences between fits with and without
        the person. Above 0 the claim is false, unless the estimator was told to repeat
        its noise; the bound says nothing then.
    accuracy : float
        Share of right answers to whether the person is in a fit, if both are equally
        likely, of who knows everybody else's data. An estimate, without a margin.
    event : str
        What in the models shows the lower bound.
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
        """Whether the lower bound is above the claim."""
        # A claim that holds with equality must not fail because of rounding.
        return self.lower_bound > self.claimed * (1 + 1e-12)

    def __repr__(self) -> str:
        return (
            f"TrainingAudit(lower_bound={self.lower_bound:.3g}, "
            f"claimed={self.claimed:.4g}, delta={self.delta:.3g}, "
            f"repeats={self.repeats}, n_fits={self.n_fits})"
        )

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        at = f" at δ = {self.delta:.3g}" if self.delta else ""
        head = (
            f"From {self.n_fits} fits with the person and as many without, the ε"
            f"{at} is at least {self.lower_bound:.3g} (confidence "
            f"{self.confidence:g}), and {self.claimed:.4g} by the claim. Who knows "
            f"everybody else's data is right about the person in {self.accuracy:.0%} "
            "of the fits"
        )
        if self.repeats:
            head += f". Noise was used again, in {self.repeats} pairs of fits"
        if self.violated:
            return f"{head}. The claim is false: {self.event} refutes it."
        if self.repeats:
            return f"{head}, which no claim allows."
        if self.claimed >= self.largest_bound:
            return (
                f"{head}. This number of fits can only show an ε up to "
                f"{self.largest_bound:.3g}: nothing is said about the claim."
            )
        return f"{head}. No violation was found; that does not prove privacy."


def audit_training(
    estimator: Any,
    X: Any,
    y: Any,
    person: Any = None,
    *,
    authors: Any = None,
    neighbours: str = "add/remove",
    epsilon: float | None = None,
    delta: float | None = None,
    statistic: Callable[[Any], Any] | None = None,
    n_fits: int = 1000,
    confidence: float = 0.99,
    random_state: Any = None,
    verbose: int = 0,
) -> TrainingAudit:
    """Test whether fitting hides one person as well as it is claimed to.

    The estimator is fitted many times to the same data, with and without all rows of
    one person. If the fits can be told apart more often than the claimed ε allows, the
    claim is false [1]_ [2]_.

    Parameters
    ----------
    estimator : object
        Any object with ``fit(X, y)`` and noise of its own: `DPTextClassifier`, or an
        estimator of another library. It is cloned for each fit. One with a
        `random_state` that is not None gets another integer for each.
    X : list of str, or array, sparse matrix or DataFrame with a row for each document
        Public data, or data made for the audit: a few hundred rows are enough.
    y : array-like of shape (n_rows,)
        Labels.
    person : object, default=None
        Who is left out: one of the `authors`, or the number of a row where there are
        none. None: several are tried in a few fits each, among them who wrote most, who
        has words or numbers farthest from all others', and who has the rarest label;
        the one who shows most is then tested in new fits.
    authors : array-like of shape (n_rows,), default=None
        Who wrote each row; given to ``fit``, too, where it takes authors. None: each
        row is a person.
    neighbours : {"add/remove", "replace"}, default="add/remove"
        Whether the claim is about one person more or less; or about one who is replaced
        by another, where the number of rows is taken to be public. Then as many rows of
        another person with other labels stand in for those left out.
    epsilon : float > 0, default=None
        The claim. None: that of ``guarantee()`` of a fitted estimator; its
        ``epsilon_replace`` where a person is replaced.
    delta : float in [0, 1), default=None
        The δ of the claim; 0 where only `epsilon` is given.
    statistic : callable, default=None
        Takes a fitted estimator, and returns a number or an array of numbers, which
        tell the fits apart. None: see Notes.
    n_fits : int >= 100, default=1000
        Fits with the person, and as many without.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.
    random_state : None, int or numpy.random.Generator, default=None
        For the choice of the person and of the fits that choose the statistic, and for
        the random states of estimators that have one. Other noise is the estimator's.
    verbose : int, default=0
        Above 0, show a progress bar that counts fits, on a terminal or in a notebook;
        above 1, anywhere.

    Returns
    -------
    audit : TrainingAudit
        What was found; printed, it says so in a sentence.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or there is no claim.

    See Also
    --------
    audit_document_pair : Releases of two documents.

    Notes
    -----
    *Method.* A quarter of the fits learns which numbers differ, a quarter chooses a
    statistic and a threshold, and so an event S. On the other half, Clopper–Pearson
    limits bound ln((Pr[S | with] − δ) / Pr[S | without]) from below, and the same with
    both exchanged; no true ε is smaller. The bound is valid however S was found.

    *What is looked at.* All that ``fit`` learned: numbers in attributes that end with
    an underscore, also of steps and estimators within; everything else there, such as
    words, classes and shapes, by whether it is the same; the lowest bits of numbers,
    which noise in floating point leaves as they were [3]_; and the predictions for the
    person's documents. Where there are ``noisy_sums_``, of which all the rest is made,
    large other arrays count by whether they are the same, and no prediction is made.
    The candidates are the single numbers and sums that differ most, how far they are
    from their median, and averages weighted by their differences over their variances.

    *Gaussian noise* with a small δ cannot be refuted at this δ by counting. Where
    ``guarantee()`` has ``delta_at(epsilon)``, all its pairs of ε and δ are claims, and
    one of the others is tested, too, each with half of the error rate.

    *Limits.* Bounds above `largest_bound`, about ln(n_fits) − 2.5, cannot be shown:
    audit at a small ε, since the same program runs at every ε. Other persons and data
    than the tested ones remain unknown, and so do times and messages.

    *Privacy.* An audit can show a violation; it never proves privacy. Each fit is a
    release of its own: take data that are public.

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
    >>> rng = np.random.default_rng(0)  # so that the example repeats: leave it out
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

    Counts of documents, where a person may have many:

    >>> people = np.repeat(np.arange(8), 5)
    >>> audit = audit_training(
    ...     NoisyCounts(), np.zeros((40, 1)), labels, authors=people, epsilon=1.0,
    ...     random_state=0)
    >>> audit.violated
    True
    """
    check_methods(estimator, ["fit"], "estimator must have fit")
    if statistic is not None and not callable(statistic):
        raise InvalidParameterError(
            f"statistic must be callable or None, got {kind_of(statistic)}."
        )
    n_fits = check_integer("n_fits", n_fits, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    check_integer("verbose", verbose, low=0)
    rng = check_rng(random_state)
    check_option("neighbours", neighbours, ("add/remove", "replace"))
    data = _Table(X, y, authors, neighbours)
    if person is not None:
        data.rows_of(person)
    claim = _claim(estimator, data, epsilon, delta, rng)
    with progress_bar(verbose, "audit", unit="fit") as bar:
        if person is None:
            person = _farthest(
                estimator, data, statistic, max(n_fits // _PILOT, 20), rng, bar
            )
        fits = _fit_many(estimator, data, person, statistic, n_fits, rng, bar)
    return _judged(person, fits, claim, n_fits, confidence, rng)


# -- data and claim --------------------------------------------------------------------


class _Table:
    """Rows, labels and persons."""

    def __init__(self, X: Any, y: Any, authors: Any, neighbours: str) -> None:
        self.neighbours = neighbours
        X = plain_documents(X)
        self.X: Any = X if hasattr(X, "shape") else list(X)
        n = X.shape[0] if hasattr(X, "shape") else len(self.X)
        self.y = check_labels("y", y, n, of="row")
        self.has_authors = authors is not None
        self.persons = np.arange(n)
        if self.has_authors:
            self.persons = check_labels("authors", authors, n, of="row")
        if len(np.unique(self.persons)) < 3:
            name = "authors" if self.has_authors else "X"
            raise InvalidParameterError(
                f"{name} must hold 3 or more persons, got "
                f"{len(np.unique(self.persons))}."
            )

    def rows_of(self, person: Any) -> np.ndarray:
        """Which rows are a person's."""
        rows = self.persons == person
        if not isinstance(rows, np.ndarray) or not rows.any():
            rule = "one of the authors" if self.has_authors else "the number of a row"
            raise InvalidParameterError(f"person must be {rule}, got {shown(person)}.")
        return rows

    def part(self, rows: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows by number, their labels and persons."""
        X = self.X
        if hasattr(X, "iloc"):
            X = X.iloc[rows]
        elif hasattr(X, "shape"):
            X = X[rows]
        else:
            X = [X[i] for i in rows.tolist()]
        return X, self.y[rows], self.persons[rows]

    @property
    def all(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """All rows."""
        return self.part(np.arange(len(self.y)))

    def without(
        self, own: np.ndarray, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """All rows but a person's, or with another one's in their places."""
        rows = np.arange(len(self.y))
        if self.neighbours == "add/remove":
            return self.part(rows[~own])
        # Replaced by a person of another class, this person's share of every sum
        # changes the most, which is the case that a claim of replacement must cover.
        other = ~own & ~np.isin(self.y, self.y[own])
        other = other if other.any() else ~own
        stand_in = np.flatnonzero(self.persons == rng.choice(self.persons[other]))
        rows[own] = np.resize(stand_in, own.sum())
        X, y, _ = self.part(rows)
        return X, y, self.persons

    def candidates(self, rng: np.random.Generator) -> list[Any]:
        """Persons in whom mistakes show first."""
        names, numbers = np.unique(self.persons, return_inverse=True)
        _, classes = np.unique(self.y, return_inverse=True)
        # Mistakes show in extremes: who has the most rows (no bound per person), who is
        # far from all others (no clipping), who is nearly alone in a class (counts
        # without noise). The fourth is anyone.
        rarity = 1 / np.bincount(classes)[classes]
        n = len(names)
        scores = [
            np.bincount(numbers),
            np.bincount(numbers, self._distances(), n),
            np.bincount(numbers, rarity, n) / np.bincount(numbers),
            rng.random(n),
        ]
        return list(
            dict.fromkeys(names[int(score.argmax())].item() for score in scores)
        )

    def _distances(self) -> np.ndarray:
        """How far each row is from the others."""
        if not hasattr(self.X, "shape") or self.X.ndim == 1:
            words = [set(str(row).split()) for row in self.X]
            # A text is far from the others if it has words that no other text has.
            known = Counter(word for row in words for word in row)
            return np.array([sum(known[w] == 1 for w in row) for row in words], float)
        try:
            rows = self.X.toarray() if sp.issparse(self.X) else self.X
            rows = np.asarray(rows, dtype=float)
        except (TypeError, ValueError):  # columns of other kinds
            return np.zeros(len(self.y))
        return np.linalg.norm(rows - rows.mean(axis=0), axis=1)


@dataclass
class _Claim:
    """ε and δ, and a δ for every other ε where one is stated."""

    epsilon: float
    delta: float
    delta_at: Callable[[float], float] | None


def _claim(
    estimator: Any,
    data: _Table,
    epsilon: float | None,
    delta: float | None,
    rng: np.random.Generator,
) -> _Claim:
    if epsilon is not None:
        epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        given = 0.0 if delta is None else delta
        given = check_real("delta", given, low=0, high=1, open_high=True)
        return _Claim(epsilon, given, None)
    if delta is not None:
        raise InvalidParameterError(
            "epsilon must be given where delta is, got epsilon=None."
        )
    if not callable(getattr(estimator, "guarantee", None)):
        raise InvalidParameterError(
            "epsilon must be given where the estimator has no guarantee(), got None."
        )
    guarantee = _Copies(estimator, data, rng).fitted(*data.all).guarantee()
    replaced = data.neighbours == "replace"
    name = "epsilon_replace" if replaced else "epsilon"
    stated = getattr(guarantee, name, None)
    if stated is None:
        raise InvalidParameterError(
            f"epsilon must be given where guarantee() has no {name}, got None."
        )
    curve = getattr(guarantee, "delta_at", None)
    if callable(curve) and replaced:
        curve = partial(curve, neighbours="replace")
    return _Claim(
        check_real(f"guarantee().{name}", stated, low=0, open_low=True),
        float(getattr(guarantee, "delta", 0.0)),
        curve if callable(curve) else None,
    )


# -- fits, and what they show ----------------------------------------------------------


class _Copies:
    """Fitted copies of an estimator, each with noise of its own."""

    def __init__(self, estimator: Any, data: _Table, rng: np.random.Generator) -> None:
        self._estimator, self._rng = estimator, rng
        self._by_clone = hasattr(estimator, "get_params")
        self._seeds = []
        if self._by_clone:
            # A fixed seed would make all fits alike and prove nothing. We give each
            # fit another one, of every step of a pipeline.
            self._seeds = [
                name
                for name, value in estimator.get_params().items()
                if name.rpartition("__")[2] == "random_state" and value is not None
            ]
        self._takes_authors = (
            data.has_authors and "authors" in signature(estimator.fit).parameters
        )

    def fitted(self, X: Any, y: np.ndarray, persons: np.ndarray) -> Any:
        """One more."""
        if self._by_clone:
            states = {name: int(self._rng.integers(2**31)) for name in self._seeds}
            model = clone(self._estimator).set_params(**states)
        else:
            model = copy.deepcopy(self._estimator)
        given = {"authors": persons} if self._takes_authors else {}
        with quiet(Warning):  # what a fit says of public data, each time
            fitted = model.fit(X, y, **given)
        return model if fitted is None else fitted


def _fit_many(
    estimator: Any,
    data: _Table,
    person: Any,
    statistic: Callable[[Any], Any] | None,
    n: int,
    rng: np.random.Generator,
    bar: Any,
) -> _Columns:
    """What n fits with the person show, and n without."""
    own = data.rows_of(person)
    parts = [data.all, data.without(own, rng)]
    theirs = data.part(np.flatnonzero(own))[0]
    copies, kept = _Copies(estimator, data, rng), _Kept()
    shown_by: list[list[dict[str, Any]]] = [[], []]
    for _ in range(n):
        for part, found in zip(parts, shown_by, strict=True):
            model = copies.fitted(*part)
            if statistic is None:
                seen = _learned(model, theirs)
            else:
                seen = {"the statistic": np.asarray(statistic(model), dtype=float)}
            found.append({name: kept(name, value) for name, value in seen.items()})
            bar.update()
    return _Columns(shown_by[0] + shown_by[1])


class _Kept:
    """What was seen before is kept once, and what is no number as a digest."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[Any, Any]] = {}

    def __call__(self, name: str, value: Any) -> Any:
        if name in self.first:
            seen, kept = self.first[name]
            if value is seen or (
                isinstance(value, np.ndarray)
                and isinstance(seen, np.ndarray)
                and value.dtype == seen.dtype
                and np.array_equal(value, seen)
            ):
                return kept
        kept = value
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            kept = joblib.hash(value)
        elif value.size > _MOST_NUMBERS:
            # Thousands of fits are in memory at once. Of large arrays we keep numbers
            # at even distances, the same ones in every fit.
            picks = np.linspace(0, value.size - 1, _MOST_NUMBERS).astype(int)
            kept = value.ravel()[picks]
        self.first.setdefault(name, (value, kept))
        return kept


def _learned(model: Any, theirs: Any) -> dict[str, Any]:
    """What a model learned, by name: arrays of numbers, and anything else."""
    found: dict[str, Any] = {}
    _collect(model, "", found, 0)
    # All else that such a model knows follows from its noisy sums. We look at the sums
    # themselves, and at the rest only as far as it is cheap.
    if "noisy_sums_" in found:
        for name, value in found.items():
            if name != "noisy_sums_" and np.size(value) > _MOST_BESIDE_SUMS:
                found[name] = joblib.hash(value) if _is_numbers(value) else value
        return found
    with quiet(Warning):
        if hasattr(model, "predict_proba"):
            chances = np.asarray(model.predict_proba(theirs), dtype=float)
            found["predict_proba"] = np.log(np.maximum(chances, 1e-300)).mean(axis=0)
        elif hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(theirs), dtype=float)
            found["decision_function"] = np.atleast_1d(scores.mean(axis=0))
    return found


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _collect(value: Any, name: str, found: dict[str, Any], depth: int) -> None:
    """Add what is in a value, and in estimators within it."""
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        found[name] = np.asarray(value)
    elif sp.issparse(value):
        coo = value.tocoo()
        found[name] = np.asarray(coo.data)
        found[f"{name} (cells)"] = (
            coo.shape,
            [np.asarray(c) for c in (coo.row, coo.col)],
        )
    elif isinstance(value, list | tuple) and any(map(_is_estimator, value)):
        for i, part in enumerate(value):
            _collect(part, f"{name}[{i}]", found, depth + 1)
    elif _is_estimator(value) and depth < 8:
        for key, part in vars(value).items():
            place = f"{name}.{key}".lstrip(".")
            if key == "steps":  # of a pipeline, fitted where they are
                for step, fitted in part:
                    _collect(fitted, f"{place}.{step}", found, depth + 1)
            elif key.endswith("_") and not key.startswith("_"):
                _collect(part, place, found, depth + 1)
    elif value is not None:
        found[name] = value


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "__dict__") and (
        hasattr(value, "fit") or hasattr(value, "transform")
    )


class _Columns:
    """What fits show as columns of numbers, the fits with the person first."""

    def __init__(self, seen: list[dict[str, Any]]) -> None:
        values: list[np.ndarray] = []
        self.names: list[str] = []
        sums: list[np.ndarray] = []
        self.sum_names: list[str] = []
        kinds: list[np.ndarray] = []
        self.kind_names: list[str] = []
        for name in dict.fromkeys(name for fit in seen for name in fit):
            each = [fit.get(name) for fit in seen]
            forms = [v.shape if isinstance(v, np.ndarray) else v for v in each]
            counts = Counter(forms)
            if len(counts) > 1:
                for form, often in counts.most_common(_SINGLES):
                    if often > 1:  # one that occurs once can be no evidence
                        kinds.append(np.array([f == form for f in forms], dtype=float))
                        self.kind_names.append(f"the shape or content of {name}")
            shapes = [f for f in forms if isinstance(f, tuple)]
            if not shapes or all(v is each[0] for v in each):
                continue
            shape = Counter(shapes).most_common(1)[0][0]
            blank = np.zeros(shape)
            rows = [
                v if f == shape else blank for v, f in zip(each, forms, strict=True)
            ]
            # Fits whose array has another shape count as zeros here. That they have
            # another shape is a statistic of its own, above.
            block = np.array(rows, dtype=float)
            block = np.nan_to_num(block, nan=0.0, posinf=1e300, neginf=-1e300)
            for axes in _AXES.get(len(shape), ()):
                sums.append(block.sum(axis=axes).reshape(len(each), -1))
                self.sum_names += [f"a sum of {name}"] * sums[-1].shape[1]
            block = block.reshape(len(each), -1)
            # A number that is the same in all fits tells nothing, and would divide by
            # 0.
            block = block[:, (block != block[0]).any(axis=0)]
            values.append(block)
            self.names += [f"a number of {name}"] * block.shape[1]
        n = len(seen)
        self.values = np.hstack(values) if values else np.zeros((n, 0))
        self.sums = np.hstack(sums) if sums else np.zeros((n, 0))
        self.kinds = np.column_stack(kinds) if kinds else np.zeros((n, 0))


def _low_bits(values: np.ndarray) -> np.ndarray:
    """The place of the lowest set bit of each number; 64 for 0."""
    # Noise in floating point leaves traces in the lowest bits: which multiples of which
    # power of two a sum can be depends on what was added to it.
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1))
    return np.where(whole == 0, 64.0, np.minimum(exponents - 53 + lowest, 64.0))


def _repeats(columns: _Columns) -> int:
    """Pairs of fits with the same noise, beyond what chance explains."""
    values = columns.values
    halves = np.split(values, 2)
    bits, spread = _low_bits(values), np.max([h.std(axis=0) for h in halves], axis=0)
    with np.errstate(divide="ignore"):
        scale = np.log2(spread)
    # numbers of which two are equal by chance once in a billion pairs
    # Whole numbers and counts are equal by chance, and would accuse honest noise. We
    # ask only numbers that are much finer than they are wide.
    fine = (spread > 0) & (bits.min(axis=0, initial=64.0) <= scale - _FINE_BITS)
    if not fine.any():
        return 0
    odd = (bits <= scale - _ODD_BITS)[:, fine].any(axis=1)
    values = values[:, fine]
    n = len(values) // 2
    pairs = 0
    for rows, counted in ((values[:n], odd[:n]), (values[n:], odd[n:])):
        pairs += _equal_pairs(rows[counted])
    # fits with and without the person take turns
    for with_it, without in (
        (slice(0, n), slice(n, 2 * n)),
        (slice(1, n), slice(n, -1)),
    ):
        counted = odd[with_it] & odd[without]
        gaps = (values[with_it] - values[without])[counted] / spread[fine]
        pairs += _equal_pairs(np.round(gaps, 10) + 0.0)
    return pairs


def _equal_pairs(rows: np.ndarray) -> int:
    counts = Counter(row.tobytes() for row in rows)
    return sum(n * (n - 1) // 2 for n in counts.values())


# -- the verdict -----------------------------------------------------------------------


def _farthest(
    estimator: Any,
    data: _Table,
    statistic: Callable[[Any], Any] | None,
    n: int,
    rng: np.random.Generator,
    bar: Any,
) -> Any:
    """The candidate with and without whom a few fits differ most."""
    candidates = data.candidates(rng)
    if len(candidates) == 1:
        return candidates[0]
    most = []
    for person in candidates:
        columns = _fit_many(estimator, data, person, statistic, n, rng, bar)
        every = np.hstack([columns.values, columns.sums, columns.kinds])
        most.append(np.abs(_differences(every, np.arange(2 * n))[1]).max(initial=0.0))
    return candidates[int(np.argmax(most))]


def _differences(
    values: np.ndarray, learns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers in units of their spread, how clearly their means differ, and weights.

    The rows that learn have those with the person first.
    """
    centre = np.median(values[learns], axis=0)
    spread = values[learns].std(axis=0)
    # what overflows is as good as the largest number
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (values - centre) / np.where(spread > 0, spread, 1.0)
        scaled = np.clip(np.nan_to_num(scaled), -1e6, 1e6)
    with_it, without = np.split(scaled[learns], 2)
    gap = with_it.mean(axis=0) - without.mean(axis=0)
    variance = np.maximum((with_it.var(axis=0) + without.var(axis=0)) / 2, 1e-9)
    return scaled, gap / np.sqrt(2 * variance / len(with_it)), gap / variance


def _statistics(columns: _Columns, learns: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Statistics of all fits that some of them suggest, larger with the person."""
    found, names = [], []
    blocks = [
        (columns.kinds, columns.kind_names, "{}", "an average"),
        (columns.values, columns.names, "{}", "an average of numbers"),
        (columns.sums, columns.sum_names, "{}", "an average of sums"),
        (
            _low_bits(columns.values),
            columns.names,
            "the lowest bit of {}",
            "lowest bits",
        ),
    ]
    for block, of, text, average in blocks:
        if not block.shape[1]:
            continue
        scaled, clearly, weights = _differences(block, learns)
        for j in np.argsort(-np.abs(clearly), kind="stable")[:_SINGLES]:
            found.append(scaled[:, j] * (1 if clearly[j] >= 0 else -1))
            names.append(text.format(of[j]))
        # A person may widen a number instead of moving it, if the noise grows with the
        # data: then the distance from the middle tells.
        apart = np.abs(scaled)
        spread = _differences(apart, learns)[1]
        for j in np.argsort(-np.abs(spread), kind="stable")[:_SINGLES]:
            found.append(apart[:, j] * (1 if spread[j] >= 0 else -1))
            names.append(text.format(of[j]))
        for least in _CLEARLY:
            chosen = np.abs(clearly) >= least
            if chosen.sum() > 1:
                found.append(scaled @ np.where(chosen, weights, 0.0))
                names.append(average)
    if not found:  # nothing differs in any fit
        return np.zeros((len(columns.values), 1)), ["nothing"]
    return np.column_stack(found), names


def _judged(
    person: Any,
    columns: _Columns,
    claim: _Claim,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> TrainingAudit:
    learns, chooses, measures = parted(n, rng)
    scores, events = _statistics(columns, learns)
    chosen, measured = scores[chooses], scores[measures]
    # two limits, in each of two orders, for each of the claims that are tested
    level = (1 - confidence) / (4 if claim.delta_at is None else 8)

    def bound(delta: float, which: np.ndarray, test: np.ndarray) -> tuple[float, int]:
        return max(bounds_both_ways(which, test, level, delta))

    lower, column = bound(claim.delta, chosen, measured)
    epsilon, delta = claim.epsilon, claim.delta
    if claim.delta_at is not None and lower <= epsilon:
        others = [epsilon * i / 20 for i in range(20)]
        pairs = [(e, min(claim.delta_at(e), 1.0)) for e in others]
        # the fits that choose the event choose the pair, too
        e, d = max(pairs, key=lambda pair: bound(pair[1], chosen, chosen)[0] - pair[0])
        other, column_there = bound(d, chosen, measured)
        if other > e:
            lower, column, epsilon, delta = other, column_there, e, d
    return TrainingAudit(
        person=person,
        lower_bound=lower,
        claimed=epsilon,
        delta=delta,
        largest_bound=largest_bound(len(measures) // 2, level),
        repeats=_repeats(columns),
        accuracy=_accuracy(chosen, measured),
        event=events[column],
        n_fits=n,
        confidence=confidence,
    )


def _accuracy(chosen: np.ndarray, measured: np.ndarray) -> float:
    """Share of right answers by the statistic and threshold that were best before."""
    best, at = (0.0, 0, math.inf), len(chosen) // 2
    for j, column in enumerate(chosen.T):
        of_p, of_q = np.sort(column[:at]), np.sort(column[at:])
        cuts = np.unique(column)
        gaps = of_q.searchsorted(cuts) - of_p.searchsorted(cuts)
        i = int(gaps.argmax())
        if gaps[i] > best[0]:
            best = (float(gaps[i]), j, float(cuts[i]))
    _, j, cut = best
    with_it, without = np.split(measured[:, j], 2)
    return float(((with_it >= cut).mean() + (without < cut).mean()) / 2)
