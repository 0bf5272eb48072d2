"""Answers for whole persons: the group that most of their documents are in, once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.replacement._public import document_bytes
from skdptext.utils import NoiseStreams, check_told_apart, kind_of

# The keyed digests of a person's documents are added modulo 256 bits: their order has
# no effect, and without the key nobody finds two collections of one sum.
_SUM_BYTES = 32


class Persons:
    """Groups of the documents of each author, counted as they are read.

    Where noise is repeatable, the sum of the keyed digests of an author's documents
    stands for the whole collection: it does not depend on their order, and any other
    collection has another sum, but for a chance of 2^-256.
    """

    def __init__(self, streams: NoiseStreams, n_groups: int) -> None:
        self._streams = streams
        self._label = streams.labeller()
        self._n_groups = n_groups
        self._numbers: dict[Any, int] = {}
        self._counts: Counter[int] = Counter()  # of number · n_groups + group
        self._sums: list[int] = []

    def see(
        self,
        authors: Sequence[Any],
        documents: Sequence[Any],
        groups: np.ndarray,
        start: int,
    ) -> None:
        """Count documents, the first of which is document `start`."""
        rows = []
        for author in authors:
            number = self._numbers.setdefault(author, len(self._numbers))
            rows.append(number)
        self._counts.update((np.array(rows) * self._n_groups + groups).tolist())
        if self._label is None:
            return
        self._sums += [0] * (len(self._numbers) - len(self._sums))
        for i, (row, document) in enumerate(zip(rows, documents, strict=True), start):
            digest = self._label(i, document_bytes(document))
            self._sums[row] += int.from_bytes(digest, "little")

    def answered(
        self,
        channel: ExactResponse,
        members: tuple[np.ndarray, np.ndarray],
        output: str,
        show: Callable[[np.ndarray], Any],
    ) -> PersonAnswers:
        """One noisy group for each author; an error if two may be one person."""
        check_told_apart("authors", list(self._numbers), True, "persons")
        clear = most_frequent(self._counts, len(self._numbers), self._n_groups)
        owners: list[bytes] = []
        if self._label is None:
            rng: Any = self._streams.open(b"persons")
        else:
            owners = [
                _owner(author, total)
                for author, total in zip(self._numbers, self._sums, strict=True)
            ]
            rng = self._streams.numbers([b"person" + owner for owner in owners])
        noisy = channel.apply(clear, channel.draw(rng, len(clear)))
        return PersonAnswers(
            self._streams, self._numbers, noisy, owners, members, output, show
        )


class PersonAnswers:
    """What is released of whole persons; made by `DPDocumentReplacer.person_answers`.

    It holds the noisy group of each author and no document: whatever is drawn of it
    depends on that group, the number of the author's documents, and their ids alone.
    """

    def __init__(
        self,
        streams: NoiseStreams,
        numbers: dict[Any, int],
        noisy: np.ndarray,
        owners: list[bytes],
        members: tuple[np.ndarray, np.ndarray],
        output: str,
        show: Callable[[np.ndarray], Any],
    ) -> None:
        self._streams, self._numbers = streams, numbers
        self._noisy, self._owners = noisy, owners
        self._members, self._output, self._show = members, output, show
        self._stream = streams.open(b"stand-ins") if streams.fresh else None
        self._seen: Counter[int] = Counter()

    def transform(
        self, authors: Iterable[Any], document_ids: Sequence[Any] | None = None
    ) -> Any:
        """Answer documents, of which only the authors and ids are asked for.

        Parameters
        ----------
        authors : iterable of labels
            Who wrote each document.
        document_ids : sequence of str, int or bytes, default=None
            The ids of these documents. None: each is told from the author's others by
            how many of them were answered before.

        Returns
        -------
        released : list of str, csr_matrix, or ndarray
            As `DPDocumentReplacer.transform` gives it.
        """
        rows = self._rows(authors)
        noisy = self._noisy[rows]
        if self._output == "group":
            return self._show(noisy)
        order, starts = self._members
        place = self._draws(rows, document_ids).integers(np.diff(starts)[noisy])
        return self._show(order[starts[noisy] + place])

    def _rows(self, authors: Iterable[Any]) -> list[int]:
        rows = []
        for i, author in enumerate(authors):
            try:
                rows.append(self._numbers[author])
            except (KeyError, TypeError, ValueError):
                raise InvalidParameterError(
                    "authors must be those who were answered, but the one at position "
                    f"{i} is none of them."
                ) from None
        return rows

    def _draws(self, rows: list[int], ids: Sequence[Any] | None) -> Any:
        """What draws a whole number for each document.

        By its text it may not be: equal stand-ins would show which documents of an
        author are equal.
        """
        if self._stream is not None:
            return self._stream
        label = self._streams.labeller(self._places(rows) if ids is None else ids)
        assert label is not None
        return self._streams.numbers(
            [b"of a person" + label(i, self._owners[row]) for i, row in enumerate(rows)]
        )

    def _places(self, rows: list[int]) -> list[int]:
        """The number of each document among those of its author."""
        places = []
        for row in rows:
            places.append(self._seen[row])
            self._seen[row] += 1
        return places


def most_frequent(counts: Counter[int], n: int, n_groups: int) -> np.ndarray:
    """The group that most documents of each of n authors are in.

    Of groups that are equally frequent it is the first, whatever the documents are.
    """
    best = np.zeros(n, dtype=np.int64)
    most = np.zeros(n, dtype=np.int64)
    for key, count in counts.items():
        row, group = divmod(key, n_groups)
        if (count, -group) > (most[row], -best[row]):
            best[row], most[row] = group, count
    return best


def groups_of_collections(
    assign: Callable[[Sequence[Any]], np.ndarray],
    n_groups: int,
    collections: Sequence[Any],
) -> np.ndarray:
    """Numbers of the groups of whole collections, which must be equally large."""
    sizes = []
    for name, documents in zip("xy", collections, strict=True):
        if isinstance(documents, str | bytes) or not isinstance(documents, Sequence):
            raise InvalidParameterError(
                f"{name} must be the list of all documents of a person, got "
                f"{kind_of(documents)}."
            )
        sizes.append(len(documents))
    if len(set(sizes)) > 1 or not sizes[0]:
        raise InvalidParameterError(
            "x and y must be equally many documents, one or more, as the number of a "
            f"person's documents is public, got {sizes[0]} and {sizes[1]}."
        )
    groups = [np.bincount(assign(each), minlength=n_groups) for each in collections]
    return np.array([counts.argmax() for counts in groups])


def _owner(author: Any, total: int) -> bytes:
    """What an author and a whole collection are hashed to."""
    digest = blake2b(digest_size=32, person=b"skdptext-person")
    digest.update((total % 2 ** (8 * _SUM_BYTES)).to_bytes(_SUM_BYTES, "little"))
    digest.update(_author_bytes(author))
    return digest.digest()


def _author_bytes(author: Any) -> bytes:
    """17 and 17.0, which a table may turn into each other, are one author."""
    if isinstance(author, str):
        return b"s" + author.encode("utf-8", "surrogatepass")
    if isinstance(author, Real) and not isinstance(author, Integral):
        number = float(author)
        return (
            b"i%d" % int(number)
            if number.is_integer()
            else b"f" + repr(number).encode()
        )
    return (
        b"i%d" % author
        if isinstance(author, Integral)
        else b"o" + repr(author).encode()
    )


def with_authors(
    documents: Iterable[Any], authors: Iterable[Any], waiting: deque[Any]
) -> Iterator[Any]:
    """The documents; the author of each joins those that wait."""
    names = iter(authors)
    n = 0
    for document in documents:
        name = next(names, waiting)
        if name is waiting:
            raise InvalidParameterError(
                f"authors must hold one author per document, got {n} for more of them."
            )
        waiting.append(name)
        n += 1
        yield document
    if next(names, waiting) is not waiting:
        raise InvalidParameterError(
            f"authors must hold one author per document ({n}), got more."
        )
