"""POT's network simplex without Python in between: for loops that numba compiles."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from skdptext.transport._exact import solver

__all__ = [
    "AskedDistance",
    "ask_python",
    "register_calls",
    "run_solver",
    "solver_address",
]

# int EMD_wrap(int, int, double* × 7, uint64_t, double* × 2), as compilers spell it for
# Linux and for macOS. The types are in the name: a POT with other types, such as 0.9.5
# and 0.9.6, is not called.
_NAMES = "_Z8EMD_wrapiiPdS_S_S_S_S_S_mS_S_", "_Z8EMD_wrapiiPdS_S_S_S_S_S_yS_S_"


@cache
def solver_address() -> int:
    """Address of the function behind POT's `emd_c`; 0 where this POT exports none.

    It is the function that `emd_c` calls, and so has the same results, which is checked
    once. Python is not needed to call it, nor is its lock.
    """
    from ot.lp import emd_wrap  # late, as POT loads every backend that it finds

    try:
        library = ctypes.CDLL(emd_wrap.__file__)
    except OSError:
        return 0
    for name in _NAMES:
        found = getattr(library, name, None)
        if found is not None:
            address = ctypes.cast(found, ctypes.c_void_p).value or 0
            return address if _is_emd_c(address) else 0
    return 0


def _is_emd_c(address: int) -> bool:
    """Whether a few small problems have the results of `emd_c`, to the last bit."""
    for n, m in ((2, 2), (3, 7), (12, 9), (20, 20)):
        at = np.arange(n * m, dtype=np.float64).reshape(n, m)
        costs = 1.0 + np.cos(at * at)
        a, b = 1.0 + at[:, 0], 1.0 + at[0] % 3
        a, b = a / a.sum(), b / b.sum()
        plan, alpha, beta = np.zeros((n, m)), np.zeros(n), np.zeros(m)
        cost = np.zeros(1)
        code = run_solver(address, a, b, costs, plan, alpha, beta, cost)
        want = solver()(a, b, costs, 0, 1)
        if (code, cost[0]) != (want[4], want[1]) or not np.array_equal(plan, want[0]):
            return False
    return True


def run_solver(
    address: int,
    a: np.ndarray,
    b: np.ndarray,
    costs: np.ndarray,
    plan: np.ndarray,
    alpha: np.ndarray,
    beta: np.ndarray,
    cost: np.ndarray,
) -> int:
    """Solve a transport problem; the code is 1 where the optimum was found.

    Without an address nothing is called, and the code is 0.

    Parameters
    ----------
    address : int
        From `solver_address`.
    a, b : ndarrays of shapes (n,) and (m,), float64
    costs : ndarray of shape (n, m), float64
    plan : ndarray of shape (n, m), float64
        All zeros; filled, as are `alpha` (n,), `beta` (m,) and `cost` (1,).
    """
    if not address:
        return 0
    pointer = ctypes.c_void_p
    kinds = [ctypes.c_int] * 2 + [pointer] * 7 + [ctypes.c_uint64] + [pointer] * 2
    call = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(address)
    arrays = [x.ctypes.data for x in (a, b, costs, plan, alpha, beta, cost)]
    return int(call(len(a), len(b), *arrays, 0, None, None))


_ASKED = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_int64)


class AskedDistance:
    """A function of a query and a bag, for `ask_python` to call by its address.

    An error cannot pass through compiled code: it is kept in `error`, and the answer
    is NaN.
    """

    def __init__(self, function: Callable[[int, int], float]) -> None:
        self.error: BaseException | None = None

        def answer(query: int, bag: int) -> float:
            try:
                return function(query, bag)
            except BaseException as error:
                self.error = error
                return float("nan")

        self._kept = _ASKED(answer)  # its address is good while it lives
        self.address = ctypes.cast(self._kept, ctypes.c_void_p).value or 0


def ask_python(address: int, query: int, bag: int) -> float:
    """What the function of an `AskedDistance` says; it runs with Python's lock."""
    return float(_ASKED(address)(query, bag))


def register_calls() -> None:
    """Teach numba both calls: through the address, with the data of the arrays."""
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic, overload

    def call(builder: Any, address: Any, result: Any, arguments: list[Any]) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)

    @intrinsic
    def solve(
        typing: Any,
        address: Any,
        a: Any,
        b: Any,
        costs: Any,
        plan: Any,
        alpha: Any,
        beta: Any,
        cost: Any,
    ) -> Any:
        kinds = a, b, costs, plan, alpha, beta, cost

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(kinds, args[1:], strict=True)
            ]
            int32, int64 = ir.IntType(32), ir.IntType(64)
            sizes = [
                builder.trunc(builder.extract_value(array.shape, 0), int32)
                for array in arrays[:2]
            ]
            nothing = ir.Constant(arrays[0].data.type, None)
            given = [*sizes, *(array.data for array in arrays), int64(0)]
            code = call(builder, args[0], int32, [*given, nothing, nothing])
            return builder.sext(code, int64)

        return types.int64(types.int64, *kinds), generate

    @intrinsic
    def ask(typing: Any, address: Any, query: Any, bag: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return call(builder, args[0], ir.DoubleType(), list(args[1:]))

        return types.float64(types.int64, types.int64, types.int64), generate

    @overload(run_solver)
    def compiled_solver(address, a, b, costs, plan, alpha, beta, cost):
        def implementation(address, a, b, costs, plan, alpha, beta, cost):
            if address == 0:
                return 0
            return solve(address, a, b, costs, plan, alpha, beta, cost)

        return implementation

    @overload(ask_python)
    def compiled_question(address, query, bag):
        return lambda address, query, bag: ask(address, query, bag)
