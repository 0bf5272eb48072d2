"""Compiling the loops of `_compiled`, where numba is installed, on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from skdptext.transport import _compiled, _compiled_duals, _compiled_exact
from skdptext.transport._exact import pair_problem
from skdptext.utils import compile_loops

__all__ = ["Kernels", "load_kernels"]


class Kernels(NamedTuple):
    """The compiled entry points."""

    relax_query: Any
    fill_costs: Any
    sample_query: Any
    extend_potentials: Any
    tighten_query: Any
    pair_problem: Any  # None where it differs from the plain one by as little as a bit
    costs: Any  # these two then too
    gathered_problem: Any


@lru_cache(maxsize=1)
def load_kernels() -> Kernels | None:
    """The compiled loops; None where numba is not installed or does not load."""
    return compile_loops(_build)


# Promises to the compiler: there is no NaN, and no matter which zero it is.
_EXACT = {"nnan", "nsz"}


def _build(njit: Callable[..., Any]) -> Kernels:
    _register()
    compiled = njit(fastmath=_EXACT)
    kernels = Kernels(
        compiled(_compiled.relax_query),
        compiled(_compiled.fill_costs),
        compiled(_compiled_duals.sample_query),
        compiled(_compiled_duals.extend_potentials),
        compiled(_compiled_duals.tighten_query),
        compiled(_compiled_exact.looped_pair_problem),
        compiled(_compiled_exact.looped_costs),
        compiled(_compiled_exact.gathered_problem),
    )
    _try_out(kernels)
    return kernels if _is_exact(kernels) else kernels._replace(pair_problem=None)


@lru_cache(maxsize=1)  # numba refuses to learn a function twice
def _register() -> None:
    """Let numba compile the helpers where they are called."""
    from numba.extending import register_jitable

    _promise()
    for helper in (
        _compiled_duals._dot,
        _compiled_duals._mask,
        _compiled_duals._rows,
        _compiled_duals._columns,
        _compiled_duals._match,
        _compiled_duals._most_words,
        _compiled_duals._least_costs,
        _compiled_duals._rows_and_columns,
        _compiled_exact._residual,
        _compiled_exact.looped_costs,
    ):
        register_jitable(fastmath=_EXACT)(helper)
    # Sums in any order only where they need not be right.
    register_jitable(fastmath=_EXACT | {"reassoc", "contract"})(_compiled_duals._soften)


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
    bags = local, np.ones(16), place, starts, number, one, number
    potentials, beta = np.zeros((1, 16), np.float32), np.zeros(1, np.float32)
    kernels.sample_query(*bags, np.empty(1), potentials)
    kernels.extend_potentials(local, np.ones(1, np.uint8), potentials, beta)
    kernels.tighten_query(*bags, np.inf, beta, np.empty(1))


def _is_exact(kernels: Kernels) -> bool:
    """Whether exact costs are those of this build of SciPy, to the last bit.

    Compilers may fuse its multiplications and additions. Then the plain path stays in
    use, so that a distance never depends on whether numba is there.
    """
    at = np.arange(60 * 37, dtype=np.float64).reshape(60, 37)
    vectors = np.sin(at * at).astype(np.float32)
    vectors.flags.writeable = False  # as an embedding's, which numba tells apart
    x, y = np.arange(43), np.arange(21, 60)
    pair = x, np.full(43, 1 / 43), y, np.full(39, 1 / 39), vectors
    wanted = pair_problem(*pair)
    x_points, y_points = (vectors[ids].astype(np.float64) for ids in (x, y))
    costs = kernels.costs(x_points, np.ascontiguousarray(y_points.T))
    gathered = kernels.gathered_problem(*pair[:4], costs, np.arange(39))
    return all(
        np.array_equal(got, want)
        for found in (kernels.pair_problem(*pair), gathered)
        for got, want in zip(found, wanted, strict=True)
    )
