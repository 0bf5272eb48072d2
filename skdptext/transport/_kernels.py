"""Compiling the loops of this room, where numba is installed, on first use."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skdptext.transport import (
    _bounds,
    _compiled_bounds,
    _compiled_exact,
    _exact,
    _solver,
)
from skdptext.transport._bags import WordBags
from skdptext.transport._solver import register_calls, solver_address
from skdptext.utils import LoadedOnce, compile_loops

__all__ = [
    "COMPILED",
    "WORTH_COMPILING",
    "Kernels",
    "compile_helpers",
    "kernels_for",
    "load_kernels",
    "say_if_slow",
    "sources_digest",
    "trial",
]

# Promises to the compiler: NaN only occurs as a result, and the sign of zero does not
# matter. Sums are not reordered, nor fused with products.
COMPILED = {"fastmath": {"nsz"}}
_NO_NAN = {"nnan", "nsz"}

# Pairs of words, one from each side, above which compiling the loops for distances
# takes less time than it saves: some 6 s.
WORTH_COMPILING = 10**8

# Seconds within which loops that an earlier process compiled are read from disk.
_READ_IN = 5.0

_logger = logging.getLogger("skdptext.transport")


class Kernels(NamedTuple):
    """The compiled entry points to exact distances."""

    costs: Any
    block: Any


@LoadedOnce
def load_kernels() -> Kernels | None:
    """The compiled loops; None without numba, or without POT's solver by address.

    Also None if they differ from the plain ones by a single bit, so that a distance
    never depends on whether numba is installed.
    """
    return compile_loops(_build)


def kernels_for(n_pairs: int) -> Kernels | None:
    """The compiled loops, if they are loaded or worth compiling."""
    if n_pairs >= WORTH_COMPILING or load_kernels.loaded:
        return load_kernels()
    return None


@contextmanager
def say_if_slow(message: str) -> Iterator[None]:
    """Log a message if the work takes longer than reading cached compiled code."""
    said = threading.Timer(_READ_IN, _logger.warning, [message])
    said.start()
    try:
        yield
    finally:
        said.cancel()


def _build(njit: Callable[..., Any]) -> Kernels | None:
    _register()
    if not solver_address():
        return None
    costs = njit(fastmath=_NO_NAN)(_compiled_exact.looped_costs)
    block = _compiled_exact.make_block(sources_digest())
    kernels = Kernels(costs, njit(**COMPILED)(block))
    return kernels if _is_exact(kernels) else None


def compile_helpers(*helpers: Callable[..., Any]) -> None:
    """Let numba compile functions where compiled ones call them."""
    from numba.extending import register_jitable

    for helper in helpers:
        register_jitable(**COMPILED)(helper)


@lru_cache(maxsize=1)  # numba refuses to learn a function twice
def _register() -> None:
    from numba.extending import register_jitable

    register_calls()
    _promise()
    compile_helpers(
        _compiled_exact.looped_cost,
        _compiled_exact.looped_distance,
        _compiled_bounds.padded_width,
    )
    for helper in (
        _compiled_bounds.relax_query,
        _compiled_bounds.fill_costs,
        _compiled_bounds.sample_query,
        _compiled_bounds.extend_potentials,
        _compiled_bounds.tighten_query,
        _compiled_bounds._dot,
        _compiled_bounds._mask,
        _compiled_bounds._rows,
        _compiled_bounds._columns,
        _compiled_bounds._match,
        _compiled_bounds._most_words,
        _compiled_bounds._least_costs,
        _compiled_bounds._rows_and_columns,
        _compiled_exact._residual,
        _compiled_exact._looped_reduce,
        _compiled_exact.looped_costs,
        _compiled_exact.looped_pair_problem,
        _compiled_exact.gathered_problem,
    ):
        register_jitable(fastmath=_NO_NAN)(helper)
    # Sums in any order only where they need not be exact.
    register_jitable(fastmath=_NO_NAN | {"reassoc", "contract"})(
        _compiled_bounds._soften
    )


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

    @overload(_compiled_bounds._least)
    def implementation(x, y):
        return lambda x, y: least(x, y)


def sources_digest(*files: str) -> int:
    """A number that changes with these files or with what the loops are made of."""
    rooms = _bounds, _compiled_bounds, _compiled_exact, _exact, _solver
    names = [*(str(room.__file__) for room in rooms), __file__, *files]
    digest = blake2b(digest_size=6)
    for name in names:
        digest.update(Path(name).read_bytes())
    return int.from_bytes(digest.digest(), "little")


def trial() -> tuple[np.ndarray, WordBags, WordBags]:
    """Vectors, a bag and others, on which compiled loops are compared with plain ones.

    The others have many words, so that costs are reduced before they are solved; a few;
    two; and one. They share words with the first.
    """
    at = np.arange(100 * 37, dtype=np.float64).reshape(100, 37)
    vectors = np.sin(at * at).astype(np.float32)
    vectors.flags.writeable = False  # as an embedding's: another type to numba
    sizes = np.array([60, 9, 2, 1])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ids = np.concatenate([np.arange(100 - size, 100) for size in sizes])
    one = WordBags(np.array([0, 43]), np.arange(0, 86, 2), np.full(43, 1 / 43))
    return vectors, one, WordBags(starts, ids, np.repeat(1 / sizes, sizes))


def _is_exact(kernels: Kernels) -> bool:
    """Whether costs are those of this build of SciPy, and distances those of `_exact`.

    To the last bit: compilers may fuse multiplications and additions.
    """
    vectors, one, bags = trial()
    x = one.row(0)
    points = vectors.astype(np.float64)
    costs = kernels.costs(points[x[0]], np.ascontiguousarray(points.T))
    every = np.arange(len(vectors))
    if not np.array_equal(costs, _exact.word_costs(vectors, x[0], every)):
        return False
    out = np.empty(len(bags))
    some = bags.starts, bags.ids, bags.weights, bags.ids, costs
    kernels.block(solver_address(), *x, *some, 0, out)
    return out.tolist() == [
        _exact.pair_distance(*x, *bags.row(i), vectors) for i in range(len(bags))
    ]
