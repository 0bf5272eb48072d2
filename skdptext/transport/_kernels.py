"""Compiling the loops of `_compiled`, where numba is installed, on first use."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from skdptext.transport import _compiled
from skdptext.transport._exact import looped_word_costs, word_costs

__all__ = ["Kernels", "load_kernels"]


class Kernels(NamedTuple):
    """The compiled entry points."""

    relax_query: Any
    fill_costs: Any
    tighten_query: Any
    exact_costs: Any  # None where it differs from SciPy's `cdist` by as little as a bit


@lru_cache(maxsize=1)
def load_kernels() -> Kernels | None:
    """The compiled loops; None where numba is not installed or does not load."""
    try:
        from numba import njit
        from numba.extending import register_jitable
    except ImportError:
        return None
    _promise()
    exact = {"nnan", "nsz"}
    for helper in (
        _compiled._dot,
        _compiled._mask,
        _compiled._columns,
        _compiled._least_costs,
        _compiled._rows_and_columns,
    ):
        register_jitable(fastmath=exact)(helper)
    # Sums in any order only where they need not be right.
    register_jitable(fastmath=exact | {"reassoc", "contract"})(_compiled._soften)

    def build(cache: bool) -> Kernels:
        compiled = njit(nogil=True, cache=cache, fastmath=exact)
        kernels = Kernels(
            compiled(_compiled.relax_query),
            compiled(_compiled.fill_costs),
            compiled(_compiled.tighten_query),
            compiled(looped_word_costs),
        )
        _try_out(kernels)
        return kernels if _is_cdist(kernels) else kernels._replace(exact_costs=None)

    try:
        return build(cache=True)
    except (OSError, RuntimeError):  # no folder to keep them in, or none to write to
        return build(cache=False)


def _promise() -> None:
    """Compile `_least` as a minimum without NaN: a loop's minimum is vectorised then.

    There is no NaN: costs are finite, and potentials finite or `-_FAR`.
    """
    from numba.extending import intrinsic, overload

    flags = ("nnan", "nsz")

    @intrinsic
    def least(context: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            below = builder.fcmp_ordered("<", *args, flags=flags)
            return builder.select(below, *args, flags=flags)

        return x(x, y), generate

    @overload(_compiled._least)
    def implementation(x, y):
        return lambda x, y: least(x, y)


def _try_out(kernels: Kernels) -> None:
    """Compile, or load, for the types that the search uses."""
    one, number = np.ones(1), np.zeros(1, np.intp)
    starts, norms = np.array([0, 1], np.intp), np.ones(1, np.float32)
    local, place = np.empty((1, 16), np.float32), np.full(1, -1, np.int32)
    products = np.ones((1, 1), np.float32), number, norms, norms
    kernels.relax_query(*products, one, number, starts, number, one, np.empty(1))
    kernels.fill_costs(*products, starts, number, number, np.zeros(1, np.uint8), local)
    kernels.tighten_query(
        *(local, np.ones(16), place, starts, number, one, number),
        *(np.inf, True, np.empty(1)),
    )


def _is_cdist(kernels: Kernels) -> bool:
    """Whether exact costs are those of this build of SciPy, to the last bit.

    Compilers may fuse its multiplications and additions. Then `cdist` stays in use, so
    that a distance never depends on whether numba is there.
    """
    at = np.arange(60 * 37, dtype=np.float64).reshape(60, 37)
    vectors = np.sin(at * at).astype(np.float32)
    vectors.flags.writeable = False  # as an embedding's, which numba tells apart
    x, y = np.arange(0, 43), np.arange(21, 60)
    return bool((kernels.exact_costs(vectors, x, y) == word_costs(vectors, x, y)).all())
