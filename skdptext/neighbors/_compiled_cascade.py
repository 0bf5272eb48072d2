"""The search of `BagIndex` in compiled loops, one query at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skdptext.neighbors._cascade import Cascade, n_likely, table_columns
from skdptext.transport import Kernels, WordBags, padded_width

if TYPE_CHECKING:
    from skdptext.neighbors._search import BagIndex

__all__ = ["CompiledCascade"]


class CompiledCascade(Cascade):
    """The same steps as `Cascade`, and the same neighbours and distances.

    Calls cost little here, so the steps run query by query: the arrays of one query
    stay in the processor's cache, and nothing is padded to a common size.
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
        if kernels.exact_costs is not None:
            self.word_costs = kernels.exact_costs

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

        def tighten(some: np.ndarray, last: bool) -> tuple[np.ndarray, np.ndarray]:
            limit, better = self.limits[i], np.empty(len(some))
            kernels.fill_costs(*lengths, *entries[:2], some, filled, local)
            kernels.tighten_query(
                *(local, masses, place, *entries, some, limit, last, better)
            )
            kept = np.flatnonzero(better <= limit)
            order = kept[np.lexsort((some[kept], better[kept]))]
            return some[order], better[order]

        # The likeliest few, bounded better: the k best of them give a first limit.
        few = min(n_bags, n_likely(k))
        likely = np.argpartition(bounds, few - 1)[:few]
        bounds[likely] = np.inf
        likely, better = tighten(likely, last=False)
        for bag in likely[:k].tolist():
            self.solve(i, bag)
        limit = self.limits[i]
        rest = likely[k:][better[k:] <= limit]
        likely, better = tighten(
            np.concatenate([rest, np.flatnonzero(bounds <= limit)]), last=True
        )
        for bag, bound in zip(likely.tolist(), better.tolist(), strict=True):
            if bound > self.limits[i]:
                break
            self.solve(i, bag)
