"""The search of `BagIndex` where loops can be compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from skdptext.transport import _compiled_search
from skdptext.transport._bags import WordBags
from skdptext.transport._compiled_search import Bags, Exact, Queries
from skdptext.transport._exact import pair_distance
from skdptext.transport._index import EXACT_SLACK, IndexedBags, n_likely, table_columns
from skdptext.transport._kernels import (
    COMPILED,
    compile_helpers,
    load_kernels,
    say_if_slow,
    sources_digest,
    trial,
)
from skdptext.transport._solver import AskedDistance, solver_address
from skdptext.utils import LoadedOnce, compile_loops

__all__ = [
    "WORTH_COMPILING",
    "CompiledCascade",
    "compile_search",
    "load_search",
    "search_for",
]

# Pairs of words, one of a query and one of a bag, from which on compiling takes less
# time than it saves: some 9 ns a pair, against 45 s of processor time.
WORTH_COMPILING = 5 * 10**9

# Words of queries that are searched in one call. An interrupt waits until the call
# returns.
_WORDS_AT_ONCE = 1024


class CompiledCascade:
    """The same neighbours and distances as `search_plainly`, by better bounds.

    Calls cost little in compiled loops, so there may be many. Potentials of the
    likeliest few bags are carried over to all words; one pass over the costs of another
    bag then gives a bound that rules out nearly all.

    In between, neither Python nor its lock is needed, except for exact distances where
    these cannot be found without Python, as `load_kernels` says.

    Parameters
    ----------
    search : callable
        From `make_search`.
    native : bool
        Whether exact distances are found without Python.
    """

    def __init__(self, search: Callable[..., Any], native: bool) -> None:
        self.search = search
        self.native = native

    def run(
        self,
        index: IndexedBags,
        queries: WordBags,
        k: int,
        skip: np.ndarray | None,
        labels: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distances and numbers of the nearest bags, exact problems solved, winners.

        With labels, >= 0, a winner is a label that is certain of more than half of the
        votes before the nearest are known; they are then not found. Otherwise it is -1.
        """
        vectors, table = index.vectors, index.table
        assert vectors is not None
        n = len(queries)
        words, places = np.unique(queries.ids, return_inverse=True)
        lengths = table.products(words)
        own = table_columns(index.words, queries.ids)
        skipped = np.full(n, -1) if skip is None else np.asarray(skip, np.intp)
        local = index.local
        some = Queries(*_arrays(queries), places, own, *lengths, skipped)
        if labels is None:
            labels = np.empty(0, np.intp)
        bags = Bags(local.starts, local.ids, local.weights, index.bags.ids, labels)

        def distance(i: int, bag: int) -> float:
            x, y = queries.row(i), index.bags.row(bag)
            return pair_distance(*x, *y, vectors)

        asked = AskedDistance(distance)
        python = 0 if self.native else asked.address
        exact = Exact(solver_address(), python, table.exponent, EXACT_SLACK)
        found = (
            np.empty((n, k)),
            np.zeros((n, k), np.intp),
            np.empty(n, np.intp),
            np.empty(n, np.intp),
        )
        few = n_likely(k)
        for first, last in _pieces(queries.starts):
            i, bag, _ = self.search(
                first, last, some, bags, vectors, exact, few, *found
            )
            if i >= 0:
                if asked.error is not None:
                    raise asked.error
                distance(i, bag)  # says what is wrong
                raise RuntimeError(
                    f"No exact distance was found, but {distance(i, bag)}."
                )
        return found


def _arrays(bags: WordBags) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return bags.starts, bags.ids, bags.weights


def _pieces(starts: np.ndarray) -> list[tuple[int, int]]:
    """Runs of bags with about `_WORDS_AT_ONCE` words, and at least one bag, each."""
    cuts = np.searchsorted(starts, np.arange(0, starts[-1], _WORDS_AT_ONCE))
    cuts = np.unique(np.append(cuts, len(starts) - 1)).tolist()
    return list(pairwise(cuts))


@LoadedOnce
def load_search() -> CompiledCascade | None:
    """The compiled search; None where numba is not installed or does not load."""
    with say_if_slow(
        "Compiling the search for Word Mover's neighbours once, about 30 s."
    ):
        native = load_kernels() is not None
        search = compile_loops(_build)
    if search is None:
        return None
    found = CompiledCascade(search, native)
    return found if _is_exact(found) else CompiledCascade(search, native=False)


def search_for(n_pairs: int) -> CompiledCascade | None:
    """The compiled search, if it is there or is worth its compilation."""
    if n_pairs >= WORTH_COMPILING or load_search.loaded:
        return load_search()
    return None


def compile_search() -> bool:
    """Compile the search for Word Mover's neighbours now, however little it is used.

    Compiling takes about 30 s. Without this call, compiling waits for the first search
    that is large enough to gain from it: five billion pairs of a query's word and a
    training word, say 17,000 tweets against 2,000. The compiled code is kept on disk,
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
    return load_search() is not None


def _build(njit: Callable[..., Any]) -> Any:
    _register()
    digest = sources_digest(_compiled_search.__file__)
    search = njit(**COMPILED)(_compiled_search.make_search(digest))
    _try_out(search)
    return search


@lru_cache(maxsize=1)  # numba refuses to learn a function twice
def _register() -> None:
    compile_helpers(*_compiled_search.helpers())


def _try_out(search: Callable[..., Any]) -> None:
    """Compile, or load, for the types that the search uses."""
    vectors = np.ones((1, 1), np.float32)
    vectors.flags.writeable = False  # as an embedding's: another type to numba
    bags = WordBags(np.array([0, 1], np.intp), np.zeros(1, np.intp), np.ones(1))
    index = IndexedBags(bags, 1, vectors)
    CompiledCascade(search, native=False).run(index, bags, 1, None)


def _is_exact(found: CompiledCascade) -> bool:
    """Whether distances are those of `pair_distance`, to the last bit."""
    vectors, query, bags = trial()
    index = IndexedBags(bags, len(vectors), vectors)
    distances, rows, *_ = found.run(index, query, len(bags), None)
    return distances[0].tolist() == [
        pair_distance(*query.row(0), *bags.row(i), vectors) for i in rows[0]
    ]
