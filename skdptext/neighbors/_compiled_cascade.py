"""The search of `BagIndex` in compiled loops, one query at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skdptext.neighbors._cascade import Cascade, n_likely, table_columns
from skdptext.transport import Kernels, WordBags, padded_width

if TYPE_CHECKING:
    from skdptext.neighbors._search import BagIndex

__all__ = ["CompiledCascade"]

# Bags whose potentials are carried over to all words: more of them rule more bags out,
# and cost more.
_N_POTENTIALS = 8


class CompiledCascade(Cascade):
    """The same neighbours and distances as `Cascade`, by fewer passes over the costs.

    Calls cost little here, so the steps run query by query: the arrays of one query
    stay in the processor's cache, and nothing is padded to a common size. Potentials of
    the likeliest few bags are carried over to all words; one pass over the costs of
    another bag then gives a bound that rules out nearly all.
    """

    def __init__(
        self,
        index: BagIndex,
        queries: WordBags,
        k: int,
        skip: np.ndarray | None,
        kernels: Kernels,
    ) -> None:
        super().__init__(index, queries, k, skip)
        self.kernels = kernels
        if kernels.pair_problem is not None:
            self.pair_problem = kernels.pair_problem

    def search(self) -> None:
        index, queries = self.index, self.queries
        words, places = np.unique(queries.ids, return_inverse=True)
        products = index.table.products(words)
        own = table_columns(index.words, queries.ids)
        place = np.full(len(index.words), -1, dtype=np.int32)
        width = padded_width(int(queries.sizes.max()))
        room = np.empty(len(place) * width, np.float32)
        for i in range(len(queries)):
            part = slice(queries.starts[i], queries.starts[i + 1])
            known = np.flatnonzero(own[part] >= 0)
            place[own[part][known]] = known
            self.search_one(i, products, places[part], own[part], place, room)
            place[own[part][known]] = -1

    def search_one(
        self,
        i: int,
        products: tuple[np.ndarray, np.ndarray, np.ndarray],
        rows: np.ndarray,
        own: np.ndarray,
        place: np.ndarray,
        room: np.ndarray,
    ) -> None:
        """All of query `i`, whose words are `rows` of the products."""
        bags, k, kernels = self.index.local, self.k, self.kernels
        weights = self.queries.row(i)[1]
        masses = np.zeros(padded_width(len(weights)))
        masses[: len(weights)] = weights
        entries = bags.starts, bags.ids, bags.weights
        lengths = products[0], rows, *products[1:]
        filled = np.zeros(len(place), np.uint8)
        local = room[: len(place) * len(masses)].reshape(len(place), len(masses))
        bounds = np.empty(len(bags))
        kernels.relax_query(*lengths, weights, own, *entries, bounds)
        n_bags = len(bags)
        if self.skip is not None:
            bounds[self.skip[i]] = np.inf
            n_bags -= 1

        def fill(some: np.ndarray) -> None:
            kernels.fill_costs(*lengths, *entries[:2], some, filled, local)

        # The likeliest few, bounded better: the k best of them give a first limit.
        few = min(n_bags, n_likely(k))
        likely = np.argpartition(bounds, few - 1)[:few]
        bounds[likely] = np.inf
        fill(likely)
        better = np.empty(few)
        potentials = np.empty((few, len(masses)), np.float32)
        sets = local, masses, place, *entries
        kernels.sample_query(*sets, likely, better, potentials)
        order = np.lexsort((likely, better))
        likely, better = likely[order], better[order]
        for bag in likely[:k].tolist():
            self.solve(i, bag)
        limit = self.limits[i]
        rest = likely[k:][better[k:] <= limit]
        rest = np.concatenate([rest, np.flatnonzero(bounds <= limit)])
        if not len(rest):
            return
        fill(rest)
        beta = np.empty(len(place), np.float32)
        kernels.extend_potentials(
            local, filled, potentials[order[:_N_POTENTIALS]], beta
        )
        better = np.empty(len(rest))
        kernels.tighten_query(*sets, rest, limit, beta, better)
        kept = np.flatnonzero(better <= limit)
        kept = kept[np.lexsort((rest[kept], better[kept]))]
        for bag, bound in zip(rest[kept].tolist(), better[kept].tolist(), strict=True):
            if bound > self.limits[i]:
                break
            self.solve(i, bag)
