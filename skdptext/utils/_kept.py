"""Results that are computed once per process, and discarded in the end."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Kept"]

T = TypeVar("T")


class Kept(Generic[T]):
    """The results requested last, keyed by what they depend on.

    Parameters
    ----------
    most : int or callable
        How much is kept, in the unit of the sizes; a callable is asked each time.

    Examples
    --------
    >>> from skdptext.utils import Kept
    >>> squares = Kept(2)
    >>> [squares.get(x, lambda: x**2) for x in (2, 3, 2, 4)]
    [4, 9, 4, 16]
    >>> squares.get(2, lambda: "made once"), squares.get(3, lambda: "let go")
    (4, 'let go')
    """

    def __init__(self, most: int | Callable[[], int]) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[int, T]] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], T], size: int = 1) -> T:
        """The result kept for a key; if there is none, `make` makes it, of a size."""
        with self._lock:  # held while computing: two threads must not do it twice
            if key not in self._made:
                self._made[key] = size, make()
            self._made.move_to_end(key)
            found = self._made[key][1]
            most = self._most if isinstance(self._most, int) else self._most()
            while sum(size for size, _ in self._made.values()) > most:
                self._made.popitem(last=False)
            return found
