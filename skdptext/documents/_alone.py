"""Whether an encoder or a grouper looks at the other documents of its batch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError

# Sums in float32 differ by less between two sizes of a batch, by parts of the largest
# number in a row. A mean or a maximum of some thousand documents differs by more.
_ROUNDING = 1e-5
_ALONE = 16


def check_rows_alone(
    name: str, rows_of: Callable[[list[Any]], np.ndarray], documents: Sequence[Any]
) -> tuple[np.ndarray, bool]:
    """The label or vector of each document, if the others have no effect on it.

    The documents are given once more in a random half, half of the rest and so on, and
    some twice by themselves: what depends on the others, their number or their order,
    on chance or on earlier calls differs. Also returned is whether all numbers are the
    same to the last bit; if not, only documents given one by one have rows that depend
    on nothing else.
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
                "for a document among others: what is released of one would depend on "
                "the others, and no promise would hold."
            )
        exact = False
    return rows, exact
