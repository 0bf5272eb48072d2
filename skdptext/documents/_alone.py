"""Fit custom encoders and groupers, and check that they treat documents one by one."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import is_fitted

# Sums in float32 differ by less between two sizes of a batch, by parts of the largest
# number in a row. A mean or a maximum of some thousand documents differs by more.
_ROUNDING = 1e-5
_ALONE = 16


def check_rows_alone(
    name: str, rows_of: Callable[[list[Any]], np.ndarray], documents: Sequence[Any]
) -> tuple[np.ndarray, bool]:
    """Get the label or vector of each document, and check that others do not affect it.

    The documents are encoded again in a random half, half of the rest and so on, and
    some twice by themselves. Results that depend on other documents, their number or
    order, on chance or on earlier calls differ. The second result tells whether all
    numbers agree to the last bit. If not, only documents that are encoded one by one
    have rows that depend on nothing else.
    """
    n, rows, exact = len(documents), rows_of(list(documents)), True
    order = np.random.default_rng().permutation(n)
    ends = [n - (n >> k) for k in range(n.bit_length() + 1)]
    for part in (*np.split(order, ends[1:-1]), *np.repeat(order[:_ALONE, None], 2, 1)):
        first, again = rows[part], rows_of([documents[i] for i in part])
        if np.array_equal(first, again):
            continue
        if close := first.shape == again.shape and first.ndim == 2:
            size = np.abs(first).max(axis=1, keepdims=True, initial=0)
            close = bool((np.abs(first - again) <= _ROUNDING * size).all())
        if not close:
            raise InvalidParameterError(
                f"{name} must treat each document by itself, but gives another result "
                "for a document among others: its release would depend on the others, "
                "and no promise would hold."
            )
        exact = False
    return rows, exact


def fitted_copy(name: str, estimator: Any, *data: Any) -> tuple[Any, bool]:
    """Copy an estimator, fit it on public data if it was not fitted; tell if it was.

    A frozen part counts as fitted, because clones keep it.
    """
    # A copy is needed, because the owner may fit the original again, which must not
    # change what was promised.
    steps = estimator.get_params() if hasattr(estimator, "get_params") else {}
    frozen = any(isinstance(step, FrozenEstimator) for step in steps.values())
    try:
        own = deepcopy(estimator)  # also copies frozen parts, which `clone` would share
        if not (fitted := is_fitted(estimator)):
            own = clone(own, safe=False).fit(*data)
    except Exception as error:  # it may quote documents and labels, which are public
        raise InvalidParameterError(
            f"{name} must allow to learn from public documents, but this failed with "
            f"{type(error).__name__}: {error}"
        ) from error
    return own, frozen or fitted
