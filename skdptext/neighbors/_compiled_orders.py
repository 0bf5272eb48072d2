"""Orders of bags in loops for numba to compile: the likeliest, all, the nearest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["enter", "likeliest", "order_of", "orders"]


def likeliest(bounds: np.ndarray, few: int) -> np.ndarray:
    """Numbers of the least bounds, as a heap whose root is the largest of them."""
    heap = np.empty(few, np.int64)
    size = 0
    for bag in range(len(bounds)):
        if size < few:
            at = size
            size += 1
            while at > 0 and bounds[heap[(at - 1) // 2]] < bounds[bag]:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = bag
        elif bounds[bag] < bounds[heap[0]]:
            at = 0
            while True:
                child = 2 * at + 1
                if child >= few:
                    break
                if child + 1 < few and bounds[heap[child + 1]] > bounds[heap[child]]:
                    child += 1
                if bounds[heap[child]] <= bounds[bag]:
                    break
                heap[at] = heap[child]
                at = child
            heap[at] = bag
    return heap


def _sink(
    heap: np.ndarray, at: int, n: int, bounds: np.ndarray, bags: np.ndarray
) -> None:
    """Let an entry of a heap of `n` places fall to its own; the least rises."""
    top = heap[at]
    key = bounds[top], bags[top]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        below = bounds[heap[child]], bags[heap[child]]
        if child + 1 < n:
            other = bounds[heap[child + 1]], bags[heap[child + 1]]
            if other < below:
                child, below = child + 1, other
        if key <= below:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = top


def order_of(bounds: np.ndarray, bags: np.ndarray) -> np.ndarray:
    """Places by bound, of equal ones by number of the bag."""
    n = len(bounds)
    heap, order = np.arange(n), np.empty(n, np.int64)
    for root in range(n // 2 - 1, -1, -1):
        _sink(heap, root, n, bounds, bags)
    for at in range(n):
        order[at] = heap[0]
        heap[0] = heap[n - 1 - at]
        _sink(heap, 0, n - 1 - at, bounds, bags)
    return order


def enter(
    distance: float, bag: int, distances: np.ndarray, bags: np.ndarray, n: int
) -> int:
    """Take a bag among the nearest so far, in order; how many there are then."""
    k = len(distances)
    at = n
    while at > 0 and (distance, bag) < (distances[at - 1], bags[at - 1]):
        at -= 1
    if at == k:
        return n
    for place in range(min(n, k - 1), at, -1):
        distances[place], bags[place] = distances[place - 1], bags[place - 1]
    distances[at], bags[at] = distance, bag
    return min(n + 1, k)


def orders() -> tuple[Callable[..., Any], ...]:
    """What the search calls in this file."""
    return likeliest, _sink, order_of, enter
