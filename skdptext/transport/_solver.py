"""POT's network simplex without Python in between: for loops that numba compiles."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from skdptext.transport._exact import solver
from skdptext.transport._loops import Solution, run_solver

# int EMD_wrap(int, int, double* × 7, uint64_t, double* × 2), as compilers spell it for
# Linux and for macOS. The types are in the name: a POT with other types, such as 0.9.5
# and 0.9.6, is not called. A stable entry in POT would be: a function with C linkage,
# which has no types in its name, or a capsule in `__pyx_capi__` (a `cdef` function that
# a .pxd file declares), whose name says the types and stays from release to release;
# and a return code that is never "optimal" where masses differ or costs are not finite.
# Until then results are compared with `emd_c`'s, and without the name Python calls it.
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
        symbol = getattr(library, name, None)
        if symbol is not None:
            address = ctypes.cast(symbol, ctypes.c_void_p).value or 0
            return address if _is_emd_c(address) else 0
    return 0


def _is_emd_c(address: int) -> bool:
    """Whether a few small problems have the results of `emd_c`, to the last bit."""
    for n, m in ((2, 2), (3, 7), (12, 9), (20, 20)):
        at = np.arange(n * m, dtype=np.float64).reshape(n, m)
        costs = 1.0 + np.cos(at * at)
        a, b = 1.0 + at[:, 0], 1.0 + at[0] % 3
        a, b = a / a.sum(), b / b.sum()
        out = Solution(np.zeros((n, m)), np.zeros(n), np.zeros(m), np.zeros(1))
        code = run_solver(address, a, b, costs, out)
        plan, cost, _, _, wanted = solver()(a, b, costs, 0, 1)
        if (code, out.cost[0]) != (wanted, cost) or not np.array_equal(out.plan, plan):
            return False
    return True
