"""Words in order, and the row of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from operator import eq

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of

# Words read before the first look for one that occurs twice: they may be megabytes.
_FIRST_CHECK = 2


class WordIndex:
    """Distinct words in order, and the row of each.

    It takes 20 bytes for each word beside the text itself, where a dict would take 70:
    every worker of a release holds one. A word that occurs twice is an error.
    """

    def __init__(self, words: Collection[str]) -> None:
        n = len(words)
        self.words = np.fromiter(words, dtype=object, count=n)
        self.words.flags.writeable = False
        hashes = _hashes(words, n)
        self._rows = hashes.argsort(kind="stable").astype(np.int32)
        self._hashes = hashes[self._rows]
        self._alike = self._words_of_one_hash()

    def _words_of_one_hash(self) -> dict[str, int]:
        """Rows of those words that share their hash with another: hardly ever any."""
        alike: dict[str, int] = {}
        repeated = []
        for place in np.flatnonzero(self._hashes[1:] == self._hashes[:-1]):
            for row in self._rows[place : place + 2].tolist():
                first = alike.setdefault(self.words[row], row)
                if first != row:
                    repeated.append((row, first))
        if repeated:
            row, first = min(repeated)
            raise InvalidParameterError(
                f"words must be unique, got the same at positions {first} and {row}."
            )
        return alike

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def row(self, token: str) -> int:
        """The same as `rows` of one token, in a sixth of the time."""
        place = self._hashes.searchsorted(hash(token))
        if place < len(self) and self.words[row := self._rows[place]] == token:
            return int(row)
        return self._alike.get(token, -1)

    def rows(self, tokens: list[str]) -> np.ndarray:
        """Row of each token, int32; -1 for what is not one of the words.

        Raises TypeError for a token that cannot be hashed.
        """
        n = len(tokens)
        # the first word of a hash is looked at, and the few others in the dict
        places = np.searchsorted(self._hashes, _hashes(tokens, n))
        rows = self._rows.take(places, mode="clip")
        same = np.fromiter(map(eq, self.words[rows].tolist(), tokens), bool, n)
        rows[~same] = -1
        if self._alike:
            for i in np.flatnonzero(~same):
                rows[i] = self._alike.get(tokens[i], -1)
        return rows


def _hashes(words: Iterable[str], n: int) -> np.ndarray:
    return np.fromiter(map(hash, words), dtype=np.int64, count=n)


def plain_words(words: Iterable[str]) -> Iterator[str]:
    """Each of some words as a plain str; an error names what is none."""
    try:
        if isinstance(words, str | bytes):
            raise TypeError
        words = iter(words)
    except TypeError:
        raise InvalidParameterError(
            f"words must be an iterable of str, got {kind_of(words)}."
        ) from None
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise InvalidParameterError(
                f"words must be str, got {kind_of(word)} at position {i}."
            )
        yield str(word)  # np.str_ is a str, but pickles and prints as NumPy's


def check_words(words: Iterable[str]) -> WordIndex:
    """The index of plain words, or an error for the first that breaks a rule."""
    plain: list[str] = []
    check = _FIRST_CHECK
    for i, word in enumerate(plain_words(words)):
        if i == check:  # an endless file of one word is not read to its end
            WordIndex(plain)
            check *= 4
        plain.append(word)
    if not plain:
        raise InvalidParameterError("words must hold at least one word, got none.")
    return WordIndex(plain)
