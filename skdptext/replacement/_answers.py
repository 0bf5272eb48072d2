"""Draw a noisy group for each document or person, and stand-ins from it."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np

from skdptext.base import NoiseStreams
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.replacement._groups import PublicGroups, document_bytes
from skdptext.utils import as_ids, as_labels, as_list, composed

# One key per document or person; a single key for all of them if noise is fresh.
Keys = list[bytes] | bytes


def keys_of(
    streams: NoiseStreams, documents: Sequence[Any], start: int, ids: Any = None
) -> Keys:
    """Make the keys of the noise of documents, the first of which is `start`.

    A key depends on the id and the content. An edit under the same id must not repeat
    the noise, or a changed answer would reveal for any ε that the group changed.
    Without ids it depends on the content, and for a generator, which `clone` copies, on
    the position: two documents must not share their noise.
    """
    label = streams.labeller(ids)
    if label is None:
        return b"%d" % start
    contents = map(document_bytes, documents)
    return [label(i, content) for i, content in enumerate(contents, start)]


def answer(
    groups: np.ndarray, mechanism: ExactResponse, streams: NoiseStreams, keys: Keys
) -> np.ndarray:
    """Draw a noisy group for each document or person, from its group and its key."""
    draws = mechanism.draw(_numbers(streams, b"answer", keys), len(groups))
    return mechanism.apply(groups, draws)


def stand_ins(
    public: PublicGroups, noisy: np.ndarray, streams: NoiseStreams, keys: Keys
) -> np.ndarray:
    """Draw a public document from each noisy group, all equally likely."""
    order, starts = public.members
    place = _numbers(streams, b"stand-in", keys).integers(np.diff(starts)[noisy])
    return order[starts[noisy] + place]


def _numbers(streams: NoiseStreams, what: bytes, keys: Keys) -> Any:
    """Get an object that draws a whole number for each key."""
    if isinstance(keys, bytes):
        return streams.open(what + keys)
    return streams.numbers([what + key for key in keys])


# -- people -------------------------------------------------------------------------


class PersonAnswers:
    """Answers for people as a whole; made by `DPDocumentReplacer.person_answers`.

    It stores the noisy group of each author and no document. All draws depend only on
    that group, the number of the author's documents, and their ids.

    If noise is repeatable, the sum of the keyed digests of an author's documents
    represents the whole collection. It does not depend on their order, and without the
    key no attacker can find another collection with the same sum.
    """

    def __init__(
        self,
        streams: NoiseStreams,
        public: PublicGroups,
        output: str,
        show: Callable[[np.ndarray], Any],
    ) -> None:
        self._streams, self._public = streams, public
        self._output, self._show = output, show
        self._numbers: dict[Any, int] = {}
        self._counts: Counter[int] = Counter()  # of number · n_groups + group
        self._sums: Counter[int] = Counter()
        self._noisy = np.empty(0, dtype=np.int64)
        self._owners: list[bytes] = []
        self._seen: Counter[int] = Counter()

    def _see(
        self,
        authors: Iterable[Any],
        documents: Sequence[Any],
        groups: np.ndarray,
        start: int,
    ) -> None:
        """Count the groups of documents, the first of which is `start`."""
        names = as_list(islice(authors, len(documents)))
        if len(names) < len(documents):
            raise InvalidParameterError(
                "authors must hold one author per document, got "
                f"{start + len(names)} for more of them."
            )
        _check_hashable(names)
        rows = [self._numbers.setdefault(x, len(self._numbers)) for x in names]
        pairs = np.array(rows) * len(self._public.names) + groups
        self._counts.update(pairs.tolist())
        keys = keys_of(self._streams, documents, start)
        if not isinstance(keys, bytes):
            for row, key in zip(rows, keys, strict=True):
                self._sums[row] += int.from_bytes(key, "little")

    def _answer(self, mechanism: ExactResponse) -> "PersonAnswers":
        """Draw one noisy group for each author; refuse names that may be one person."""
        as_labels("authors", list(self._numbers), of="person", people=True)
        n_groups = len(self._public.names)
        clear = most_frequent(self._counts, len(self._numbers), n_groups)
        keys: Keys = b"persons"
        if not self._streams.fresh:
            self._owners = [_owner(x, self._sums[i]) for x, i in self._numbers.items()]
            keys = [b"person" + owner for owner in self._owners]
        self._noisy = answer(clear, mechanism, self._streams, keys)
        return self

    def transform(
        self, authors: Iterable[Any], document_ids: Iterable[Any] | None = None
    ) -> Any:
        """Answer documents, given only their authors and ids.

        Parameters
        ----------
        authors : iterable of labels
            The author of each document.
        document_ids : iterable of str, int or bytes, default=None
            The ids of these documents. If None, documents of an author are numbered in
            the order in which they are answered.

        Returns
        -------
        released : list of str, csr_matrix, or ndarray
            The release, as from `DPDocumentReplacer.transform`.
        """
        _check_hashable(authors := as_list(authors))
        ids = as_ids(document_ids, len(authors))
        rows = [self._numbers.get(author, -1) for author in authors]
        if -1 in rows:
            raise InvalidParameterError(
                "authors must be those who were answered, but the one at position "
                f"{rows.index(-1)} is not one of them."
            )
        noisy = self._noisy[rows]
        if self._output == "group":
            return self._show(noisy)
        places = []
        for row in rows:
            places.append(self._seen[row])
            self._seen[row] += 1
        label = self._streams.labeller(places if ids is None else ids)
        # Keys must not depend on the text: equal stand-ins would reveal which documents
        # of an author are equal.
        keys: Keys = secrets.token_bytes(16)
        if label is not None:
            owners = (self._owners[row] for row in rows)
            keys = [b"of a person" + label(i, owner) for i, owner in enumerate(owners)]
        return self._show(stand_ins(self._public, noisy, self._streams, keys))


def _check_hashable(authors: list[Any]) -> None:
    try:
        list(map(hash, authors))
    except TypeError:  # a list, or a signaling NaN
        raise InvalidParameterError(
            "authors must be texts or numbers, one per document, got others."
        ) from None


def most_frequent(counts: Counter[int], n: int, n_groups: int) -> np.ndarray:
    """Find the most frequent group among the documents of each of n authors.

    Ties go to the first group, regardless of the order of documents.
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
    """Find the groups of whole collections, which must have equally many documents."""
    sizes = [len(x) if isinstance(x, list | tuple) else 0 for x in collections]
    if len(set(sizes)) > 1 or not sizes[0]:
        raise InvalidParameterError(
            "x and y must be lists of equally many documents, one or more, as the "
            f"number of a person's documents is public, got {sizes[0]} and {sizes[1]}."
        )
    groups = [np.bincount(assign(each), minlength=n_groups) for each in collections]
    return np.array([counts.argmax() for counts in groups])


def _owner(author: Any, total: int) -> bytes:
    """Hash an author and the whole collection of their documents."""
    digest = blake2b(digest_size=32, person=b"skdptext-person")
    digest.update((total % 2**256).to_bytes(32, "little"))
    digest.update(_author_bytes(author))
    return digest.digest()


def _author_bytes(author: Any) -> bytes:
    """Encode an author; numbers that are equal are one, as tables convert them."""
    if isinstance(author, str):
        # Composed Unicode identifies a person regardless of how the name was typed.
        return b"s" + composed(author).encode("utf-8", "surrogatepass")
    if (whole := int(author)) == author:
        return b"i%d" % whole
    return b"o%d/%d" % author.as_integer_ratio()
