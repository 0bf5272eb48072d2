"""Compiling the loops of this room, where numba is installed, on first use."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skdptext.transport import _exact, _loops
from skdptext.transport._bags import WordBags
from skdptext.transport._solver import solver_address
from skdptext.utils import LoadedOnce, compile_loops

# Pairs of words, one from each side, above which compiling takes less time than it
# saves: the loops for distances, and those for bounds.
WORTH_COMPILING = 10**8
WORTH_COMPILING_BOUNDS = 2 * 10**9

# Reading what an earlier process compiled takes less than this many seconds. A process
# that takes longer is compiling, and says so.
_READ_IN = 5.0

_logger = logging.getLogger("skdptext.transport")


class Kernels(NamedTuple):
    """The compiled entry points to exact distances."""

    costs: Any
    block: Any
    pairs: Any


class BoundLoops(NamedTuple):
    """The compiled bounds, from the fastest to the best."""

    relax: Any
    sample: Any
    tighten: Any


@LoadedOnce
def load_kernels() -> Kernels | None:
    """The compiled loops; None without numba, or without POT's solver by address.

    Also None if they differ from the plain ones by a single bit, so that a distance
    never depends on whether numba is installed.
    """
    return compile_loops(_build)


@LoadedOnce
def load_bounds() -> BoundLoops | None:
    """The compiled bounds; None without numba."""
    message = "Compiling the search for Word Mover's neighbours once, about 15 s."
    said = threading.Timer(_READ_IN, _logger.warning, [message])
    said.start()  # said if this takes longer than reading what is compiled
    try:
        load_kernels()  # the search finds its distances with them
        return compile_loops(_build_bounds)
    finally:
        said.cancel()


def kernels_for(n_pairs: int) -> Kernels | None:
    """The compiled loops, if they are loaded or worth compiling."""
    if n_pairs >= WORTH_COMPILING or load_kernels.loaded:
        return load_kernels()
    return None


def bounds_for(n_pairs: int) -> BoundLoops | None:
    """The compiled bounds, if they are loaded or worth compiling."""
    if n_pairs >= WORTH_COMPILING_BOUNDS or load_bounds.loaded:
        return load_bounds()
    return None


def compile_search() -> bool:
    """Compile the search for Word Mover's neighbours now, however little it is used.

    Compiling takes about 15 s. Without this call, compiling waits for the first search
    that is large enough to gain from it: two billion pairs of a query's word and a
    training word, say 7,000 tweets against 2,000. The compiled code is kept on disk,
    where there is a place for it, and later processes read it in about a second.

    Returns
    -------
    compiled : bool
        Whether searches of this process are compiled from now on: False without numba
        (the extra `fast`).

    Notes
    -----
    Neighbours and distances are the same without it. *Privacy.* Not affected.

    Examples
    --------
    >>> from skdptext.neighbors import compile_search
    >>> compile_search()  # doctest: +SKIP
    True
    """
    return load_bounds() is not None


def _build(njit: Callable[..., Any]) -> Kernels | None:
    _loops.register()
    if not solver_address():
        return None
    kernels = Kernels(
        njit(**_loops.NO_NAN)(_loops.looped_costs),
        njit(**_loops.COMPILED)(_loops.looped_block),
        njit(**_loops.COMPILED)(_loops.looped_pairs),
    )
    return kernels if _is_exact(kernels) else None


def _build_bounds(njit: Callable[..., Any]) -> BoundLoops:
    _loops.register()
    plain = _loops.relax_queries, _loops.sample_bags, _loops.tighten_bags
    loops = BoundLoops(*(njit(**_loops.NO_NAN)(loop) for loop in plain))
    _try_out(loops)
    return loops


def _try_out(loops: BoundLoops) -> None:
    """Compile, or load, for the types that the search uses."""
    one, none = np.ones(1), np.zeros(1, np.intp)
    ones, starts = np.ones((1, 1), np.float32), np.array([0, 1], np.intp)
    ids, norms = np.zeros(1, np.int32), np.zeros(1, np.float32)
    bounds = np.empty((1, 1), np.float32)
    query = _loops.Products(ones, norms, norms), _loops.Queries(starts, none, none, one)
    bags, holders = _loops.Bags(starts, ids, norms), _loops.Holders(starts, ids, one)
    loops.relax(*query, 0, bags, holders, bounds)
    local = np.empty((1, _loops.padded_width(1)), np.float32)
    potentials = np.empty((_loops.GROUP, local.shape[1]), np.float32)
    known = np.zeros(1, np.uint8), np.zeros(1, np.int32)
    room = _loops.Room(*known, local, potentials)
    own = *query, 0, room, _loops.Bags(starts, ids, one)
    loops.sample(*own, bounds[0], (none, one))
    loops.tighten(*own, none, 0.0)


def _trial() -> tuple[np.ndarray, WordBags, WordBags]:
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

    To the last bit, before they are rounded: compilers may fuse multiplications and
    additions.
    """
    vectors, one, bags = _trial()
    x = one.row(0)
    points = vectors.astype(np.float64)
    costs = kernels.costs(points[x[0]], np.ascontiguousarray(points.T))
    every = np.arange(len(vectors))
    if not np.array_equal(costs, _exact.word_costs(vectors, x[0], every)):
        return False
    out = np.empty(len(bags))
    kernels.block(solver_address(), *x, bags.arrays, (costs, bags.ids), 0, out)
    pairs = np.empty(len(bags))
    every = np.arange(len(bags))
    kernels.pairs(solver_address(), *x, bags.arrays, every, vectors, pairs)
    want = [
        _exact.transport_cost(*_exact.pair_problem(x, bags.row(i), vectors))
        for i in range(len(bags))
    ]
    return out.tolist() == want and pairs.tolist() == _exact.rounded(out).tolist()
