"""Results that are computed once per process, and discarded in the end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skdptext.utils._locks import ProcessLock

__all__ = ["Memo", "memo_property"]

T = TypeVar("T")


class memo_property(cached_property[T]):  # noqa: N801, as cached_property
    """A property of an object that is computed once, as of Python 3.12.

    `functools.cached_property` of Python 3.11 lets one thread at a time compute the
    property of any object: the others wait, and so does, forever, a process that is
    forked meanwhile.
    """

    if not TYPE_CHECKING:  # the same types

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            # asked for only where the object itself has no attribute of that name
            made = instance.__dict__[self.attrname] = self.func(instance)
            return made


class Memo(Generic[T]):
    """The results requested last, keyed by what they depend on.

    Parameters
    ----------
    most : int or callable
        How much is kept, in the unit of the sizes; a callable is asked each time.

    Examples
    --------
    >>> from skdptext.utils import Memo
    >>> squares = Memo(2)
    >>> [squares.get(x, lambda: x**2) for x in (2, 3, 2, 4)]
    [4, 9, 4, 16]
    >>> squares.get(2, lambda: "made once"), squares.get(3, lambda: "let go")
    (4, 'let go')
    """

    def __init__(self, most: int | Callable[[], int]) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[int, T]] = OrderedDict()
        self._lock = ProcessLock()

    def get(self, key: Hashable, make: Callable[[], T], size: int = 1) -> T:
        """The result kept for a key; if there is none, `make` makes it, of a size."""
        with self._lock():  # held while computing: two threads must not do it twice
            if key not in self._made:
                self._made[key] = size, make()
            self._made.move_to_end(key)
            result = self._made[key][1]
            most = self._most if isinstance(self._most, int) else self._most()
            while sum(size for size, _ in self._made.values()) > most:
                self._made.popitem(last=False)
            return result
