"""Public documents, held once however many estimators there are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from skdptext.documents import KnownTexts, read_documents
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import as_labels, kind_of

_EXPECTED = "public_documents must be a list of documents, str or lists of str"


class PublicDocuments(Sequence[Any]):
    """Texts or token lists that never change, in two arrays.

    Copies and clones share them, and joblib maps the arrays into its workers.

    Parameters
    ----------
    documents : iterable of str or of lists of str
        Texts, token lists or counts.

    Attributes
    ----------
    fingerprint : bytes
        Digest of the documents, in their order.

    Raises
    ------
    InvalidParameterError
        If there is none, or one of them is neither a str nor a list of str.

    See Also
    --------
    DPDocumentReplacer : What releases them.

    Examples
    --------
    >>> import copy
    >>> from skdptext.replacement import PublicDocuments
    >>> documents = PublicDocuments(["a cat", "a dog", ["some", "tea"]])
    >>> documents[2], len(documents), documents
    (['some', 'tea'], 3, <3 public documents>)
    >>> copy.deepcopy(documents) is documents
    True
    """

    def __init__(self, documents: Iterable[Any]) -> None:
        texts = read_documents(documents, expected=_EXPECTED, of=" of public_documents")
        parts = list(map(document_bytes, texts))
        if not parts:
            raise InvalidParameterError(
                "public_documents must hold at least one document, got none."
            )
        self._ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        self._bytes = np.frombuffer(b"".join(parts), dtype=np.uint8)
        self._freeze()

    def _freeze(self) -> None:
        for array in (self._ends, self._bytes):
            array.flags.writeable = False

    @classmethod
    def of(cls, documents: Any) -> PublicDocuments:
        """The documents as such an object, after a check of what they are.

        Parameters
        ----------
        documents : iterable of str, or of lists of str
            Public documents.
        """
        if isinstance(documents, PublicDocuments):
            return documents
        single = isinstance(documents, str | bytes) or documents is None
        if single or isinstance(documents, Iterator):
            raise InvalidParameterError(f"{_EXPECTED}, got {kind_of(documents)}.")
        return cls(documents)

    @classmethod
    def shared(cls, documents: Any) -> Any:
        """Documents as an object that clones share; others as they are, for `fit`.

        Parameters
        ----------
        documents : object
            What was given as `public_documents`. What breaks a rule, `fit` refuses.
        """
        try:
            return cls.of(documents)
        except InvalidParameterError:
            return documents

    @cached_property
    def fingerprint(self) -> bytes:
        """32-byte digest, equal for equal documents."""
        digest = blake2b(digest_size=32, person=b"skdptext-public")
        digest.update(np.ascontiguousarray(self._ends).data)
        digest.update(np.ascontiguousarray(self._bytes).data)
        return digest.digest()

    @cached_property
    def hashes(self) -> frozenset[int]:
        """Python's hashes of the documents: those of this process."""
        return frozenset(map(document_hash, self))

    @cached_property
    def known(self) -> KnownTexts:
        """The documents, to be looked for among others."""
        return KnownTexts(self)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]  # also of negative numbers; IndexError beyond
        data = self._bytes[self._ends[i] : self._ends[i + 1]].tobytes()
        text = data[1:].decode("utf-8", "surrogatepass")
        return text if data[:1] == b"s" else json.loads(text)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PublicDocuments):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<{len(self):,} public documents>"

    def __copy__(self) -> PublicDocuments:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> PublicDocuments:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.fingerprint, self._ends, self._bytes)


class PublicLabels(np.ndarray):
    """Labels that copies and clones share, and that are not all printed."""

    @classmethod
    def shared(cls, labels: Any) -> Any:
        """Labels as an array that clones share; others as they are, for `fit`."""
        if labels is None or isinstance(labels, cls):
            return labels
        try:
            checked = as_labels("public_labels", labels, partly=True)
        except InvalidParameterError:
            return labels
        if checked.ndim != 1:
            return labels
        checked = checked.copy().view(cls)
        checked.flags.writeable = False
        return checked

    def __repr__(self) -> str:
        return f"<{len(self):,} public labels>"

    def __setstate__(self, state: Any, /) -> None:
        super().__setstate__(state)
        self.flags.writeable = False

    def __copy__(self) -> PublicLabels:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None, /) -> PublicLabels:
        return self


def _restored(
    fingerprint: bytes, ends: np.ndarray, data: np.ndarray
) -> PublicDocuments:
    documents = PublicDocuments.__new__(PublicDocuments)
    documents._ends, documents._bytes = ends.view(), data.view()
    documents._freeze()
    documents.__dict__["fingerprint"] = fingerprint
    return documents


def document_hash(document: Any) -> int:
    """Python's hash of a text or token list."""
    return hash(document if isinstance(document, str) else tuple(document))


def document_bytes(document: Any) -> bytes:
    """A document as bytes; no two documents have the same."""
    if isinstance(document, str):
        return b"s" + document.encode("utf-8", "surrogatepass")
    # escaped, a pair of surrogates would be the character that it stands for
    text = json.dumps(document, ensure_ascii=False)
    return b"l" + text.encode("utf-8", "surrogatepass")
