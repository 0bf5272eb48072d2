"""Read fitted models, and learn statistics that detect one person in them."""

import io
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

import numpy as np

# The contents of a fitted model by name: arrays of numbers, and tuples of texts.
Look = dict[str, Any]

# The most numbers read from an array, evenly spaced if it has more, and the most
# differences of its rows; and the most distinct contents.
_MOST_NUMBERS, _MOST_FORMS = 10_000, 10
# Number of single features that are tried; how clearly features must differ to enter an
# average, in standard errors; and for averages that use the covariance, the number of
# features and what is added to their variances.
_SINGLES, _CLEARLY, _TOGETHER, _RIDGE = 10, (0.0, 2.0), 20, 1e-9
# Equal numbers are not chance if they spread over so many bits and this share of them
# occurs once, which excludes floats made of whole numbers. And two fits have the same
# noise above this correlation.
_FINE_BITS, _ONCE, _RELATED = 28, 0.5, 0.9

_TEXTS = " (texts)"
_NOTHING_LEARNED = type, FunctionType, np.random.Generator, np.random.RandomState


class _Contents(pickle.Pickler):
    """Collect the arrays, single numbers and texts that a pickle contains.

    Generators of random numbers and their seeds are left out, because they do not
    depend on the data.
    """

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), protocol=5)
        self.arrays: list[np.ndarray] = []
        self.numbers: list[Any] = []
        self.texts: list[Any] = [""]

    def persistent_id(self, value: Any) -> str | None:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
            self.arrays.append(np.asarray(value))
        elif isinstance(value, int | float):
            if self.texts[-1] != "random_state":
                self.numbers.append(value)
        elif isinstance(value, str | bytes):
            self.texts.append(value)
        elif not isinstance(value, _NOTHING_LEARNED):
            return None  # the pickler then visits its contents
        return "seen"


def look_into(value: Any, name: str) -> Look:
    """Collect what a pickle of a value would contain."""
    contents = _Contents()
    with suppress(Exception):  # parts of a user's model may refuse to be pickled
        contents.dump(value)
    found: Look = {name + _TEXTS: tuple(contents.texts)}
    for i, array in enumerate([*contents.arrays, contents.numbers]):
        numbers = np.asarray(array, dtype=float)
        if numbers.size > _MOST_NUMBERS:
            # A sample of the numbers, because hundreds of fits are in memory at once.
            picks = np.linspace(0, numbers.size - 1, _MOST_NUMBERS).astype(int)
            numbers = numbers.ravel()[picks]
        found[f"{name} ({i})" if i else name] = np.nan_to_num(np.atleast_1d(numbers))
    return found


def same(a: Any, b: Any) -> bool:
    """Check whether two contents are equal."""
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


class Reading:
    """Statistics that distinguish fits with a person, learned from example fits.

    Attributes
    ----------
    names : list of str
        Description of each statistic.
    fine : list of int
        Single numbers that are never equal by chance.
    clearest : float
        The largest difference of a feature, in standard errors.
    """

    def __init__(self, pairs: Sequence[Sequence[Look]]) -> None:
        looks = [look for pair in pairs for look in pair]
        self._forms: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for look in looks for name in look):
            values = [look.get(name) for look in looks]
            # Contents that are the same in all fits are public, and reveal nothing.
            if any(value is not values[0] for value in values):
                often = Counter(map(_form, values)).most_common(_MOST_FORMS)
                self._forms[name] = [form for form, _ in often]
        parts = [*self._features(looks[0])]
        sizes = [part.size for *_, part in parts]
        names = np.repeat([name.removesuffix(_TEXTS) for name, *_ in parts], sizes)
        kinds = np.repeat([kind for _, kind, _ in parts], sizes)
        masks = [kinds == kind for kind in dict.fromkeys(kinds)]
        rows = np.array([self._row(look) for look in looks])
        self._centre, spread = np.median(rows, axis=0), rows.std(axis=0)
        self._scale = np.where(spread > 0, spread, np.inf)
        z = self._scaled(rows)
        p, q = z[::2], z[1::2]
        gap, variance, clearly = _differences(p, q)
        self.clearest = float(np.abs(clearly).max(initial=0.0))
        # If the noise grows with the data, a person widens a number instead of moving
        # it. The distance from the median then detects the person.
        wider = _differences(np.abs(p), np.abs(q))[2]
        self._moved, self._widened = (
            np.concatenate([_largest(np.abs(each), mask) for mask in masks])
            for each in (clearly, wider)
        )
        # The log odds of Laplace noise change between the two medians only.
        self._middles = np.sort([np.median(p, axis=0), np.median(q, axis=0)], axis=0)
        of_laplace = np.where(np.abs(clearly) >= 2, np.sign(gap) / np.sqrt(variance), 0)
        self._odds = np.transpose([mask * of_laplace for mask in masks])
        averages = [
            mask * np.where(np.abs(clearly) >= least, gap / variance, 0)
            for mask in masks
            for least in _CLEARLY
        ]
        averages.append(_discriminant(p, q, kinds == "a number"))
        self._averages = np.transpose(averages)
        singles = [*self._moved, *self._widened]
        self.names = [f"{kinds[j]} of {names[j]}" for j in singles]
        self.names += ["an average"] * (len(averages) + len(masks))
        fine = _lowest_bits(rows).min(axis=0) <= np.log2(self._scale) - _FINE_BITS
        fine &= (kinds == "a number") & (spread > 0)
        self.fine = np.flatnonzero(fine[self._moved])

    def __call__(self, look: Look) -> np.ndarray:
        """Compute the statistics of a fit."""
        z = self._scaled(self._row(look))
        odds = np.clip(z, *self._middles) @ self._odds
        singles = z[self._moved], np.abs(z[self._widened])
        return np.concatenate([*singles, z @ self._averages, odds])

    def _scaled(self, features: np.ndarray) -> np.ndarray:
        # An overflow counts as the largest number.
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (features - self._centre) / self._scale
        return np.clip(np.nan_to_num(scaled), -1e6, 1e6)

    def _row(self, look: Look) -> np.ndarray:
        return np.concatenate([part for _, _, part in self._features(look)])

    def _features(self, look: Look) -> Iterator[tuple[str, str, np.ndarray]]:
        """Yield features of a fit, each with the part it comes from and its kind."""
        yield "the fit", "nothing", np.zeros(1)
        for name, forms in self._forms.items():
            value: Any = look.get(name)
            same_form = np.array([_form(value) == form for form in forms], dtype=float)
            yield name, "the shape or content", same_form
            if name.endswith(_TEXTS):
                continue
            # An array of another shape counts as zeros. Its shape is a feature by
            # itself.
            shape = next(form for form in forms if form is not None)
            numbers: np.ndarray = value if _form(value) == shape else np.zeros(shape)
            yield name, "a number", numbers.ravel()
            yield name, "the lowest bit of a number", _lowest_bits(numbers.ravel())
            sums = [numbers.sum(axis=axis).ravel() for axis in range(numbers.ndim)]
            yield name, "a sum", np.append(np.concatenate(sums), numbers.sum())
            # If rows share their noise by mistake, their differences have none.
            rows = numbers.reshape(len(numbers), -1)
            i, j = np.triu_indices(len(rows), 1)
            if len(i) * rows.shape[1] > _MOST_NUMBERS:
                i, j = i[j == i + 1], j[j == i + 1]  # adjacent rows only
            yield name, "a difference of rows", (rows[i] - rows[j]).ravel()


def _form(value: Any) -> Any:
    return value.shape if isinstance(value, np.ndarray) else value


def _lowest_bits(values: np.ndarray) -> np.ndarray:
    """Find the position of the lowest set bit of each number; 64 for 0."""
    # Noise in floating point leaves traces in the lowest bits: the data decide of which
    # power of two a sum can be a multiple.
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1))
    return np.where(whole == 0, 64.0, np.minimum(exponents - 53 + lowest, 64.0))


def _differences(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute differences of means, variances, and differences in standard errors."""
    gap = p.mean(axis=0) - q.mean(axis=0)
    variance = np.maximum((p.var(axis=0) + q.var(axis=0)) / 2, 1e-9)
    return gap, variance, gap / np.sqrt(2 * variance / len(p))


def _largest(values: np.ndarray, mask: np.ndarray, n: int = _SINGLES) -> np.ndarray:
    """Find the positions of the largest values under a mask."""
    places = np.flatnonzero(mask)
    return places[np.argsort(-values[places], kind="stable")[:n]]


def _discriminant(p: np.ndarray, q: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Compute discriminant weights of the features that differ most and related ones.

    The covariance of all features cannot be estimated from fewer fits than features.
    """
    gap, variance, clearly = _differences(p, q)
    spread = np.sqrt(variance)
    within = np.concatenate([p - p.mean(axis=0), q - q.mean(axis=0)]) / spread * mask
    most = _largest(np.abs(clearly), mask, min(len(p) // 4, _TOGETHER))
    related = np.abs(within[:, most].T @ within)
    related[np.arange(len(most)), most] = 0
    chosen = np.unique([*most, *related.argmax(axis=1)]).astype(int)
    covariance = within[:, chosen].T @ within[:, chosen] / len(within)
    covariance += _RIDGE * np.eye(len(chosen))
    weights = np.zeros(len(gap))
    weights[chosen] = np.linalg.solve(covariance, (gap / spread)[chosen])
    return weights / spread


def repeats(p: np.ndarray, q: np.ndarray) -> int:
    """Count how often numbers, one per column, show that fits have the same noise.

    The noise may repeat within a sample, or between a fit with the person and the next
    one without.
    """
    most = 0
    for with_it, without in zip(p.T, q.T, strict=True):
        found = 0
        for values in (with_it, without):
            counts = np.unique(values, return_counts=True)[1]
            if np.sum(counts == 1) >= _ONCE * len(values):
                # Two values may repeat legitimately: the ends of an interval to which
                # numbers are clipped.
                found += max(int(np.sum(counts > 1)) - 2, 0)
        for a, b in ((with_it, without), (with_it[1:], without[:-1])):
            varies = min(a.std(), b.std()) > 1e-9
            if varies and abs(np.corrcoef(a, b)[0, 1]) > _RELATED:
                found += len(a)
        most = max(most, found)
    return most
