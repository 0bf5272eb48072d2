"""A release as a function from Arrow to Arrow, which any engine can map."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.base import check_releaser, fitted_releaser
from skdptext.documents import SharedTexts, shared_texts_counted
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.files import CastError, converted, type_shown
from skdptext.release._key import ReleaseKey
from skdptext.release._manifest import describe, named_by
from skdptext.utils import (
    check_flag,
    import_pyarrow,
    kind_of,
    shown,
    warn_once,
)

# Columns of a bag: the ids of its words, and how often each occurs.
BAG_COLUMNS = ("word_ids", "counts")

# Canaries that this process has repeated.
_repeated: set[str] = set()
# A column of labels has more documents per value, one of people fewer.
_MOST_PER_PERSON = 100
# We count the values of a column kept up to so many, in some 10 MB.
_MOST_VALUES = 1 << 16


@dataclass(frozen=True, eq=False)
class DocumentRelease:
    """One release of documents under a secret key, as a function of Arrow batches.

    The noise of a document is drawn from a stream that the key, the name of the
    release, the document's id and its words fix. So a task that an engine runs twice
    (a retry, a lost node, an evicted cache, a query that is written and then counted)
    gives the same words again, and costs no privacy. Documents with equal words have
    different ids, and so get independent noise.

    Parameters
    ----------
    perturber : DPWordPerturber, DPDocumentReplacer or other releaser
        With ``random_state=None``, as the noise comes from the key. Fitted or not. A
        perturber of words needs a `document_length` that it draws, or one short
        document makes a job fail. A releaser of your own
        (`~skdptext.base.BaseReleaser`) has ``transform(texts, document_ids=...)`` that
        an integer `random_state` and the id determine, and the text.
    key : ReleaseKey
        It is read on the worker; only the place where it is kept travels.
    name : str
        Name of the release. Another name gives independent noise, and so a release
        whose privacy loss adds to that of this one.
    text : str, default="text"
        Name of the column of documents, strings. Null and empty ones are redrawn from
        the whole vocabulary, as are all documents without a known word.
    id : str, default="id"
        Name of the column of ids, strings or integers, one per document. They come from
        the data (never from an engine: its row numbers change), must not be null, empty
        or repeated, and are released in the clear.
    author : str, default=None
        Name of a column of strings or integers that says who wrote each document, for
        `DPDocumentReplacer`: each author answers once for all their documents. It is
        not released, unless `keep` names it, too. It needs all rows of an author, and
        so `release_files`; a batch is refused.
    keep : iterable of str, or mapping of str to pyarrow.DataType, default=()
        Further columns, which are released in the clear. If types are given, the
        columns are cast to them. Without `author`, a warning names each column whose
        values repeat as people do: strings or integers with 2 to 100 documents
        per value on average, but for the groups of the releaser. With `author` among
        them, a warning and the manifest say that this names who wrote each document.
    allow_shared_texts : bool, default=False
        Release although public texts of the releaser are among the documents, word
        for word: all of them are public. The manifest says so. Without it, such
        documents are refused, since stand-ins would publish them.

    Attributes
    ----------
    perturber, key, name, text, id, author, allow_shared_texts
        As given; the perturber is fitted.
    keep : dict
        Name to type, or to None.
    canary : str
        Digest of public texts released under a public key. Each worker repeats it
        first: another version of NumPy may draw other numbers from the same stream.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.
    ImportError
        If pyarrow is not installed.

    See Also
    --------
    release_files : Releases files that do not fit in memory.

    Notes
    -----
    *Privacy.* ``perturber.guarantee()`` holds once, however often
    the release is computed. It is computational, and void for anyone who has the key:
    destroy it when the release is complete. It is void, too, for anyone who may *call*
    the release with ids of their choice: given the id of a document and a guess of its
    text, it returns the very words that were released if the guess is right. So offer
    it to nobody as a service, and take a new key for each release.

    An id stands for one document. A document that is released under two ids, names or
    keys, or changed under the same id, gets fresh noise, and the exponents add up. Ids
    and columns kept are released as they are.

    *Size.* A pickle holds the embedding and what the mechanism has prepared: 2.2 MB for
    a metric with λ > 0 in 300 dimensions (`~skdptext.mechanisms.MahalanobisNoise`), and
    8 bytes per word of the embedding for `~skdptext.mechanisms.Exponential` with
    ``calibration="exact"``.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow as pa
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.release import DocumentRelease, ReleaseKey
    >>> embedding = WordEmbedding(["good", "great", "bad"], [[2.0], [2.1], [-2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1e6, document_length=2,
    ...     output="text")
    >>> batch = pa.record_batch({"id": ["a", "b"], "text": ["good", "bad, bad!"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = ReleaseKey.generate(os.path.join(folder, "key"))
    ...     release = DocumentRelease(perturber, key, "an example")
    ...     release(batch).to_pylist()
    [{'id': 'a', 'text': 'good good'}, {'id': 'b', 'text': 'bad bad'}]
    >>> release.schema.names
    ['id', 'text']
    """

    perturber: Any
    key: ReleaseKey
    name: str
    _: KW_ONLY
    text: str = "text"
    id: str = "id"
    author: str | None = None
    keep: Any = ()
    allow_shared_texts: bool = False
    canary: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        import_pyarrow("DocumentRelease")
        releaser = _checked(self.perturber)
        self._set("perturber", releaser)
        if not isinstance(self.key, ReleaseKey):  # not shown: it may be the key itself
            raise InvalidParameterError(
                f"key must be a ReleaseKey, got {kind_of(self.key)}."
            )
        for what in ("name", "text", "id", "author"):
            value = getattr(self, what)
            if what == "author" and value is None:
                continue
            if not isinstance(value, str) or not value or not value.isprintable():
                raise InvalidParameterError(
                    f"{what} must be a str of printable characters, got {shown(value)}."
                )
        check_flag("allow_shared_texts", self.allow_shared_texts)
        self._set("keep", self._checked_keep())
        self._check_author()
        names = [*self._out_names, *self.keep]
        if len(set(names)) < len(names) or self.id == self.text:
            raise InvalidParameterError(
                "id, text and keep must name different columns, and none of "
                f"{BAG_COLUMNS} where bags are released, got {names}."
            )
        fitted = fitted_releaser(releaser, [])
        fitted.guarantee()  # refuses what was changed after fit
        self._set("perturber", fitted)
        if getattr(fitted, "allow_shared_texts", False):
            self._set("allow_shared_texts", True)
        self._set("canary", _canary(fitted))
        if _canary(fitted) != self.canary:
            raise InvalidParameterError(
                "perturber must draw the same noise again for an integer random_state "
                f"and the id of a document, got a {kind_of(self.perturber)} that does "
                "not."
            )
        _repeated.add(self.canary)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_author(self) -> None:
        """Refuse a column of authors where nothing asks for it, or of another use."""
        if self.author is None:
            return
        if not hasattr(self.perturber, "person_answers"):
            raise InvalidParameterError(
                "author must be None but for a DPDocumentReplacer, as in no other "
                "release all documents of an author answer once, got "
                f"{shown(self.author)} for {kind_of(self.perturber)}."
            )
        if self.author in (self.id, self.text):
            raise InvalidParameterError(
                "author must be another column than id and text, got "
                f"{shown(self.author)}."
            )

    def _checked_keep(self) -> dict[str, Any]:
        keep: Any = self.keep
        if isinstance(keep, str) or not isinstance(keep, Iterable):
            raise InvalidParameterError(
                f"keep must be an iterable of names of columns, got {shown(keep)}."
            )
        types = dict(keep) if isinstance(keep, Mapping) else dict.fromkeys(keep)
        pa = import_pyarrow("DocumentRelease")
        for name, kind in types.items():
            if not isinstance(name, str):
                raise InvalidParameterError(
                    f"keep must hold names of columns, got {shown(name)}."
                )
            if kind is not None and not isinstance(kind, pa.DataType):
                raise InvalidParameterError(
                    "keep must give types of pyarrow, such as pa.int64(), got "
                    f"{shown(kind)} for {name!r}."
                )
        return types

    # -- what comes out --------------------------------------------------------

    @property
    def _out_names(self) -> tuple[str, ...]:
        bags = self.perturber.output == "bow"
        return (self.id, *(BAG_COLUMNS if bags else (self.text,)))

    def _types(self) -> list[Any]:
        """Of the columns of the output."""
        pa = import_pyarrow("DocumentRelease")
        return {
            "text": [pa.string()],
            "tokens": [pa.list_(pa.string())],
            "bow": [pa.list_(pa.int32())] * 2,
            "vector": [pa.list_(pa.float64())],
            "group": [pa.string()],
            "index": [pa.int64()],
        }[self.perturber.output]

    @property
    def schema(self) -> Any:
        """The `pyarrow.Schema` of what is released.

        The id as a string; the text as a string, a list of strings, or as two lists of
        integers, ``word_ids`` and ``counts``, depending on the `output` of the
        perturber (a vector as a list of numbers, a group as a string, the number of a
        public document as an integer); and the columns kept, which must be given with
        their types.

        Raises
        ------
        InvalidParameterError
            If `keep` gives no types.
        """
        pa = import_pyarrow("DocumentRelease")
        for name, kind in self.keep.items():
            if kind is None:
                raise InvalidParameterError(
                    "keep must give the types of columns for the schema to be known, "
                    f'as in keep={{"{name}": pa.int64()}}.'
                )
        fields = [pa.string(), *self._types(), *self.keep.values()]
        return pa.schema(list(zip([*self._out_names, *self.keep], fields, strict=True)))

    def manifest(self) -> dict[str, Any]:
        """What the release is, and what identifies it. It holds no secret.

        Returns
        -------
        manifest : dict
            Ready for JSON: name, mechanism, ε, λ, length and all other options of the
            perturber, the guarantee in words and numbers, fingerprints of embedding and
            noise, the canary, and versions.

        Raises
        ------
        InvalidParameterError
            If the key is not there.
        """
        return describe(self)

    # -- release ---------------------------------------------------------------

    def __call__(self, batch: Any) -> Any:
        """Release the documents of a batch.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            With the columns that the release names; others are left out.

        Returns
        -------
        released : of the same type
            With as many rows, in the same order.

        Raises
        ------
        InvalidParameterError
            If a column is missing, of the wrong type or not UTF-8, an id is null, empty
            or repeated in the batch, the key is not there, or public texts are among
            the documents.
        RuntimeError
            If this worker draws different noise from the process that made the release.
        """
        pa = import_pyarrow("DocumentRelease")
        if not isinstance(batch, pa.RecordBatch | pa.Table):
            raise InvalidParameterError(
                "batch must be a pyarrow RecordBatch or Table, got "
                f"{kind_of(batch)} of {type(batch).__module__}."
            )
        if self.author is not None:
            raise InvalidParameterError(
                "author must be None for batches, which need not hold all rows of an "
                f"author, got {shown(self.author)}: release_files reads them all."
            )
        # We look for public texts before we release anything: a stand-in for a public
        # text would be published as if it had been private.
        read = columns_of(self, batch)
        _, texts, columns = read
        count = self._count_shared_texts()
        if count is not None:
            count.see(texts)
            self._check_shared_texts(count)
        repeats = Repeats(self)
        repeats.see(columns)
        repeats.tell()
        return self._of_checked(batch, read)

    def _releaser(self) -> Any:
        """The releaser, with the noise of the key."""
        # The name enters the seed, so that two releases under one key share no noise.
        seed = self.key.derive(b"noise:" + self.name.encode())
        return self.perturber.seeded(int.from_bytes(seed, "little"))

    def _person_answers(
        self,
        texts: Iterable[str],
        authors: Iterable[str],
        n_jobs: int | None,
        verbose: int,
    ) -> Any:
        """The answer of each author of checked documents, after all of them."""
        releaser = self._releaser().set_params(verbose=verbose)
        if n_jobs is not None:
            releaser.set_params(n_jobs=n_jobs)
        with shared_texts_counted():
            return releaser.person_answers(texts, authors)

    def _of_checked(
        self,
        batch: Any,
        read: tuple[list[str], list[str], list[Any]],
        persons: Any = None,
    ) -> Any:
        """Release documents among which public texts were looked for.

        `read` is what `columns_of` made of the batch; `persons` are the answers of
        their authors, if these answer.
        """
        pa = import_pyarrow("DocumentRelease")
        self._check_worker()
        ids, texts, columns = read
        if persons is None:
            with shared_texts_counted():
                released = self._releaser().transform(texts, document_ids=ids)
        else:
            released = persons.transform(authors_of(self, batch), ids)
        arrays = [pa.array(ids, pa.string()), *self._arrays(released), *columns]
        return type(batch).from_arrays(arrays, names=[*self._out_names, *self.keep])

    def _count_shared_texts(self) -> Any:
        """A count of the releaser's public texts; None if it has none."""
        known = self.perturber.known_texts()
        return None if known is None else known.count()

    def _check_shared_texts(self, shared: SharedTexts) -> None:
        """Refuse public texts among the documents to be released; tell of a few."""
        shared.warn_of_strangers()
        if shared.too_many and not self.allow_shared_texts:
            raise InvalidParameterError(
                "public_documents must not be among the documents to be released, got "
                f"{shared.why}: stand-ins would publish them. If all of them are "
                "public, accept it with allow_shared_texts."
            )
        if shared.any and not self.allow_shared_texts:
            warn_once(
                f"{shared.sentence('documents to be released')}. What is public "
                "cannot be protected; if they are not public, this release publishes "
                "them.",
                PrivacyLeakWarning,
            )

    def _arrays(self, released: Any) -> list[Any]:
        pa = import_pyarrow("DocumentRelease")
        if self.perturber.output == "bow":
            ends = released.indptr.astype(np.int32)
            return [
                pa.ListArray.from_arrays(ends, part.astype(np.int32))
                for part in (released.indices, released.data)
            ]
        if sp.issparse(released):
            released = released.toarray()
        values = released.tolist() if isinstance(released, np.ndarray) else released
        if self.perturber.output == "group":
            values = [str(label) for label in values]
        return [pa.array(values, self._types()[0])]

    def _check_worker(self) -> None:
        # Another version of NumPy may draw other numbers from the same seed. A task
        # that an engine runs twice, on two such workers, would release its documents
        # twice with different noise. Each process therefore repeats a release of public
        # words.
        if self.canary in _repeated:
            return
        if _canary(self.perturber) != self.canary:
            raise RuntimeError(
                "This worker draws different noise from the process that made the "
                "release, so a task run on both would release its documents twice. "
                "They need the same versions of skdptext, NumPy, randomgen and Python."
            )
        _repeated.add(self.canary)


def _checked(perturber: Any) -> Any:
    """A releaser whose noise the key can fix, document by document."""
    check_releaser("perturber", perturber)
    given = inspect.signature(perturber.transform).parameters
    if not hasattr(perturber, "random_state") or "document_ids" not in given:
        raise InvalidParameterError(
            "perturber must have random_state, and transform must take document_ids, "
            "which fix the noise of a document, got a "
            f"{kind_of(perturber)} without one of them."
        )
    if perturber.random_state is not None:
        raise InvalidParameterError(
            "random_state of the perturber must be None, since the noise is drawn from "
            f"the key, got {kind_of(perturber.random_state)}."
        )
    perturber.check_release()
    silent = copy(perturber)
    if hasattr(silent, "verbose"):
        silent.verbose = 0
    return silent


def _canary(releaser: Any) -> str:
    """Digest of a release of public texts under a public key."""
    # Its key is public, and so are the texts: the digest may stand in the manifest.
    known = releaser.seeded(int.from_bytes(b"skdptext canary", "little"))
    if known.perturbs_words:
        known.output = "text"
    documents = known.canary_documents()
    with shared_texts_counted():
        noisy = known.transform(documents, document_ids=range(len(documents)))
    if hasattr(noisy, "shape"):
        rows = noisy.toarray() if sp.issparse(noisy) else noisy
        noisy = [repr(row) for row in rows.tolist()]
    text = "\n".join(noisy).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


# -- columns -----------------------------------------------------------------------


class Repeats:
    """Values of the columns kept that repeat, as people with several documents do."""

    def __init__(self, release: DocumentRelease) -> None:
        self.release = release
        # labels that are the groups stand for no people
        labelled = getattr(release.perturber, "public_labels", None) is not None
        known = release.perturber.groups_.tolist() if labelled else []
        self.groups = {*known, *map(str, known)}
        self.counts: dict[str, Counter[int]] = {}
        if release.author is None:
            self.counts = {name: Counter() for name in release.keep}

    def see(self, columns: list[Any]) -> None:
        """The columns kept of some documents."""
        for counts, column in zip(self.counts.values(), columns, strict=False):
            if not _is_of(column.type, "is_integer"):
                continue
            for value in column.to_pylist():
                if value is None or value in self.groups:
                    continue
                key = hash(value)  # strings of any length would fill memory
                if key in counts or len(counts) < _MOST_VALUES:
                    counts[key] += 1

    def tell(self) -> None:
        """Warn of columns whose values stand for people, or may."""
        author = self.release.author
        if author is not None and author in self.release.keep:
            warn_once(named_by(author), PrivacyLeakWarning)
        answer = ""
        if hasattr(self.release.perturber, "person_answers"):
            answer = " Name the column as author, too, and each of them answers once."
        for name, counts in self.counts.items():
            total, most = counts.total(), max(counts.values(), default=0)
            if len(counts) < 2 or most < 2 or total > _MOST_PER_PERSON * len(counts):
                continue
            warn_once(
                f"Values of the column {name!r}, which the release keeps, repeat: the "
                f"most frequent one has {most:,} documents. If they stand for people, "
                f"k documents of one cost k times ε, here up to {most:,} "
                f"times.{answer}",
                PrivacyLeakWarning,
            )


def columns_of(
    release: DocumentRelease, batch: Any, start: int = 0
) -> tuple[list[str], list[str], list[Any]]:
    """Ids, texts, and the columns kept, as they are released.

    `start` is the position of the first document, for an error.
    """
    ids = ids_of(_column(batch, "id", release.id), start)
    text = _column(batch, "text", release.text)
    texts = [said or "" for said in _values(text, "text", "strings", "is_null", start)]
    columns = [
        _cast_column(_column(batch, "keep", name), name, kind, start)
        for name, kind in release.keep.items()
    ]
    return ids, texts, columns


def _cast_column(column: Any, name: str, kind: Any, start: int) -> Any:
    def convert(part: Any) -> Any:
        part.validate(full=True)
        return part if kind is None else part.cast(kind)

    try:
        return converted(convert, column)
    except CastError as error:
        wanted = "valid columns" if kind is None else f"{name!r} as {kind}"
        raise InvalidParameterError(
            f"keep must name {wanted}, got {name!r} of {type_shown(column.type)}, of "
            f"which the value at position {start + error.position} is not."
        ) from None


def _column(batch: Any, role: str, name: str) -> Any:
    places = batch.schema.get_all_field_indices(name)
    if len(places) != 1:
        raise InvalidParameterError(
            f"{role} must name one column of the documents, got {name!r}, of which "
            f"there are {len(places)} among {len(batch.schema.names)} columns."
        )
    return batch.column(places[0])


def authors_of(release: DocumentRelease, batch: Any, start: int = 0) -> list[str]:
    """Who wrote each document, by the column that the release names."""
    assert release.author is not None
    return ids_of(_column(batch, "author", release.author), start, "author")


def ids_of(column: Any, start: int = 0, role: str = "id") -> list[str]:
    """Ids as strings: an engine or format that turns "17" into 17 changes nothing.

    `start` is the position of the first one, for an error.
    """
    values = _values(column, role, "strings or integers", "is_integer", start)
    ids = ["" if identity is None else str(identity) for identity in values]
    # authors without a name would be one person together, a blank one, too
    tidy = [name.strip() for name in ids] if role == "author" else ids
    missing = [i for i, name in enumerate(tidy) if not name]
    if missing:
        raise InvalidParameterError(
            f"{role} must be a column without null or empty values, got "
            f"{len(missing)} of {len(ids)}, the first at position "
            f"{start + missing[0]}."
        )
    return ids


def _is_of(kind: Any, also: str) -> bool:
    """Whether a type is of strings, or of a further test of pyarrow, encoded or not."""
    types = import_pyarrow("DocumentRelease").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    allowed = ("is_string", "is_large_string", "is_string_view", also)
    return any(getattr(types, test)(kind) for test in allowed)


def _values(column: Any, role: str, wanted: str, also: str, start: int) -> list[Any]:
    """Values of a column of strings, or of a further type of pyarrow's tests."""
    types = import_pyarrow("DocumentRelease").types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _is_of(column.type, also):
        raise InvalidParameterError(
            f"{role} must be a column of {wanted}, got {type_shown(column.type)}."
        )
    try:
        return converted(lambda part: part.to_pylist(), column)
    except CastError as error:
        raise InvalidParameterError(
            f"{role} must be a column of UTF-8 strings, got other bytes at position "
            f"{start + error.position}."
        ) from None
