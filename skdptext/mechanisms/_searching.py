"""Channels that release the word nearest to a point."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Self

import numpy as np

from skdptext.mechanisms._channel import Apply, Draws, WordChannel
from skdptext.search import Search, embedding_search


class SearchingChannel(WordChannel):
    """A channel whose `apply` searches with an engine, within ``memory`` bytes."""

    _engine = "numpy"

    @abstractmethod
    def apply(
        self, words: np.ndarray, draws: Draws, memory: int | None = None
    ) -> np.ndarray:
        """Noisy words, using at most `memory` bytes for scores."""

    @property
    def _search(self) -> Search:
        # not an attribute: it holds a copy of the embedding, and must not be pickled
        return embedding_search(self.embedding, self._engine)

    def with_engine(self, engine: str) -> Self:
        """The same channel, searching with an engine."""
        other = copy(self)
        other._engine = engine
        return other

    @property
    def fallback_reason(self) -> str | None:
        """Why the engine asked for is not in use; None if it is."""
        return self._search.fallback_reason

    @contextmanager
    def session(self, n_threads: int, memory: int) -> Iterator[Apply]:
        """`apply` with the engine's settings and `memory` for its scores."""
        with self._search.session(n_threads):
            yield partial(self.apply, memory=memory)
