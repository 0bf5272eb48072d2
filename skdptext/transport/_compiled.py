"""Bounds of one query to many bags, in loops for numba to compile.

The bounds are those of `_bounds`, with the same arithmetic in float32 and therefore the
same slack; only the order of the float64 sums differs. Plain functions: without numba
they run too, slowly, and nobody calls them.

Layout. `local` holds the costs of one query, (n_table_words, width): a word of a bag is
one contiguous row. `width` is the query's number of words, rounded up; the padding has
no mass. A word without mass has the potential `-_FAR`, which takes it out of every
minimum and, unlike infinity, gives no NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["fill_costs", "padded_width", "relax_query"]

_FAR = np.float32(1e30)
_ZERO = np.float32(0.0)
_BLOCK = 2048  # words whose minima stay in the innermost cache


def padded_width(n: int) -> int:
    """Columns that the costs of a query of `n` words get: whole vectors."""
    return -(-n // 16) * 16


def _least(x: Any, y: Any) -> Any:
    """The lesser of two that are no NaN; a promise to the compiler."""
    return x if x < y else y


def relax_query(
    products: np.ndarray,
    rows: np.ndarray,
    query_norms: np.ndarray,
    word_norms: np.ndarray,
    masses: np.ndarray,
    own: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    weights: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """`relaxed_bounds` of one query to all bags.

    Parameters
    ----------
    products : ndarray of shape (n_query_words, n_table_words), float32
        -2⟨x, y⟩ of the words of a run of queries and those of the table.
    rows : ndarray of shape (n,)
        Rows of `products` that are the query's words.
    query_norms, word_norms : ndarrays of float32
        Lowered squared norms, of the rows and the columns of `products`.
    masses : ndarray of shape (n,), float64
    own : ndarray of shape (n,)
        The query's words within the table, -1 where they are not in it.
    starts, ids, weights
        The bags, over words of the table.
    bounds : ndarray of shape (n_bags,)
        Filled.
    """
    n, n_words = len(rows), len(word_norms)
    nearest = np.full(n_words, _FAR)
    held = np.zeros(n_words)
    for low in range(0, n_words, _BLOCK):
        high = min(n_words, low + _BLOCK)
        for i in range(n):
            row, norm = rows[i], query_norms[rows[i]]
            for word in range(low, high):
                nearest[word] = _least(products[row, word] + norm, nearest[word])
        for word in range(low, high):
            square = nearest[word] + word_norms[word]
            nearest[word] = np.sqrt(square if square > _ZERO else _ZERO)
    for i in range(n):
        word = own[i]
        if word >= 0:
            # of a query's own words, the nearest other; 0 for its only word
            least = _FAR if n > 1 else -_FAR
            for other in range(n):
                if other != i:
                    square = products[rows[other], word] + query_norms[rows[other]]
                    least = _least(square, least)
            square = least + word_norms[word]
            nearest[word] = np.sqrt(square if square > _ZERO else _ZERO)
            held[word] = masses[i]
    for bag in range(len(starts) - 1):
        total = 0.0
        for at in range(starts[bag], starts[bag + 1]):
            left = weights[at] - held[ids[at]]
            total += (left if left > 0.0 else 0.0) * nearest[ids[at]]
        # as in `relaxed_bounds`: the additions round
        total = total * (1.0 - 1e-12) - 1e-14
        bounds[bag] = total if total > 0.0 else 0.0


def fill_costs(
    products: np.ndarray,
    rows: np.ndarray,
    query_norms: np.ndarray,
    word_norms: np.ndarray,
    starts: np.ndarray,
    ids: np.ndarray,
    bags: np.ndarray,
    filled: np.ndarray,
    local: np.ndarray,
) -> None:
    """Costs of one query to the words of some bags.

    Parameters
    ----------
    filled : ndarray of shape (n_table_words,), uint8
        2 where `local` holds the word's costs already, else 0; kept up to date.
    local : ndarray of shape (n_table_words, width), float32
        The words of `bags` are filled in.
    """
    n, width = len(rows), local.shape[1]
    for bag in bags:
        for at in range(starts[bag], starts[bag + 1]):
            if not filled[ids[at]]:
                filled[ids[at]] = 1
    for word in range(len(filled)):
        if filled[word] == 1:
            filled[word] = 2
            norm = word_norms[word]
            for i in range(n):
                local[word, i] = products[rows[i], word] + query_norms[rows[i]]
            for i in range(n):
                square = local[word, i] + norm
                local[word, i] = np.sqrt(square if square > _ZERO else _ZERO)
            for i in range(n, width):
                local[word, i] = _ZERO
