"""Where the time of a call goes: a stopwatch around some of the functions it calls."""

from __future__ import annotations

import time
from collections.abc import Callable


class Watch:
    """Wraps functions and adds up the time spent in them."""

    def __init__(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def wrap(self, function: Callable) -> Callable:
        clock = time.perf_counter

        def timed(*args, **options):
            start = clock()
            out = function(*args, **options)
            self.seconds += clock() - start
            self.calls += 1
            return out

        return timed
