"""A release as a function of Arrow batches, which any engine can map."""

import inspect
import json
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from hashlib import blake2b
from importlib import metadata
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext._version import __version__
from skdptext.base import check_releaser, fitted_releaser
from skdptext.documents import shared_texts_counted
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.privacy import PrivacyGuarantee
from skdptext.release._key import ReleaseKey
from skdptext.release._tables import converted
from skdptext.utils import check_kind, import_pyarrow, kind_of, warn_once

# Columns of a bag: the ids of its words, and their counts.
_BAG = ("word_ids", "counts")

_COMPUTATIONAL = (
    "All this holds against attackers who do not have the key, cannot have documents "
    "released under it, and cannot distinguish BLAKE2b and ChaCha20 from random bits."
)
_NAMED = "The column {!r}, which is released, names the author of each document."

# Canaries that this process has already repeated.
_repeated: set[str] = set()


@dataclass(frozen=True, eq=False)
class DocumentRelease:
    """One release of documents under a secret key, as a function of Arrow batches.

    The key, the name of the release, the document's id and its words determine the
    noise of a document. A task that an engine runs twice (a retry, a lost node, an
    evicted cache, a query that is written and then counted) therefore gives the same
    words again, and costs no privacy. Documents with equal words have different ids,
    and get independent noise.

    Parameters
    ----------
    releaser : DPWordPerturber, DPDocumentReplacer or other releaser
        A releaser with ``random_state=None``, because the noise comes from the key;
        fitted or not. A perturber of words needs a `document_length` that it draws:
        otherwise one short document makes a job fail. A custom releaser
        (`~skdptext.base.BaseReleaser`) needs ``transform(texts, document_ids=...)``
        whose result an integer `random_state`, the id and the text determine.
    key : ReleaseKey
        The key, which is read on the worker. Only its location is sent there.
    name : str
        Name of the release. Another name gives independent noise, and another release
        whose privacy loss adds to that of this one.
    text : str, default="text"
        Name of the column of documents, strings. Null and empty ones are redrawn from
        the whole vocabulary, like all documents without a known word.
    id : str, default="id"
        Name of the column of ids, strings or integers, one per document. They come from
        the data (never from an engine, whose row numbers change), must not be null,
        empty or repeated, and are released in plain text.
    author : str, default=None
        Name of a column of strings or integers with the author of each document, for
        `DPDocumentReplacer`: each author answers once for all their documents. It is
        not released, unless `keep` also names it. It requires all rows of an author,
        and therefore `release_files`; batches are refused.
    keep : str, iterable of str, or mapping of str to pyarrow.DataType, default=()
        Further columns, which are released in plain text. If types are given, the
        columns are cast to them; categories are released as their values. If `author`
        is among them, a warning and the manifest say that the authors are released.

    Attributes
    ----------
    releaser, key, name, text, id, author
        As given; the releaser is fitted.
    keep : dict
        Name to type, or to None.
    canary : str
        Digest of public texts released under a public key. Each worker repeats this
        release first: another version of NumPy may draw other numbers from the same
        stream.

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
    *Privacy.* ``releaser.guarantee()`` holds once, regardless of how often the release
    is computed. It is computational, and void against anyone who has the key: destroy
    it when the release is complete. It is also void against anyone who can *call* the
    release with chosen ids: given the id of a document and a correct guess of its text,
    it returns exactly the released words. So never offer it as a service, and use a new
    key for each release.

    An id belongs to one document. A document that is released under two ids, names or
    keys, or changed under the same id, gets fresh noise, and the exponents add up. Ids
    and kept columns are released unchanged.

    *Size.* A pickle contains the embedding and the prepared mechanism: 2.2 MB for a
    metric with λ > 0 in 300 dimensions (`~skdptext.mechanisms.MahalanobisNoise`), and 8
    bytes per word of the embedding for `~skdptext.mechanisms.Exponential` with
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

    releaser: Any
    key: ReleaseKey
    name: str
    _: KW_ONLY
    text: str = "text"
    id: str = "id"
    author: str | None = None
    keep: Any = ()
    canary: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_releaser("releaser", self.releaser)
        if "document_ids" not in inspect.signature(self.releaser.transform).parameters:
            raise InvalidParameterError(
                "releaser must take document_ids in transform, because they determine "
                f"the noise, got {kind_of(self.releaser)}."
            )
        if getattr(self.releaser, "random_state", None) is not None:
            raise InvalidParameterError(
                "random_state of the releaser must be None, because the noise is drawn "
                f"from the key, got {kind_of(self.releaser.random_state)}."
            )
        self.releaser.check_release()
        # The value is not shown in the error, because it may be the key itself.
        if not isinstance(self.key, ReleaseKey):
            raise InvalidParameterError(
                f"key must be a ReleaseKey, got {kind_of(self.key)}."
            )
        names: Any = [self.keep] if isinstance(self.keep, str) else self.keep
        check_kind(names, Iterable, "keep must be an iterable of names of columns")
        typed = names if isinstance(names, Mapping) else dict.fromkeys(names)
        self._set("keep", dict(typed))
        self._check_names()
        fitted = fitted_releaser(self.releaser, [], "releaser")
        fitted.guarantee()  # refuses parameters that were changed after fit
        # A copy, because later changes to the given object must not reach the release.
        silent = {"verbose": 0} if hasattr(fitted, "verbose") else {}
        own = fitted.seeded(None).set_params(**silent)
        if hasattr(own, "set_output"):  # lists, not a data frame, become columns
            own.set_output(transform="default")
        self._set("releaser", own)
        self._set("canary", self._canary())
        if self._canary() != self.canary:
            raise InvalidParameterError(
                "releaser must draw the same noise again for an integer random_state "
                f"and the ids of documents, got a {kind_of(fitted)} that does not."
            )
        _repeated.add(self.canary)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        read = [self.id, self.text] + [self.author] * (self.author is not None)
        for name in (self.name, *read, *self.keep):
            check_kind(name, str, "name, id, text, author and keep must be str")
        released = [self.id, *self._made(), *self.keep]
        if any(len(set(each)) < len(each) or "" in each for each in (released, read)):
            raise InvalidParameterError(
                "id, text, author and keep must name different columns, and none of "
                f"{_BAG} if bags are released, got {released} of {read}."
            )
        if self.author is None:
            return
        if not hasattr(self.releaser, "person_answers"):
            raise InvalidParameterError(
                "author must be None except for a DPDocumentReplacer, because only "
                "there all documents of an author answer once, got "
                f"{self.author!r}."
            )
        if self.author in self.keep:
            warn_once(_NAMED.format(self.author), PrivacyLeakWarning)

    # -- columns and schema of the release --------------------------------------

    def _made(self) -> dict[str, Any]:
        """The columns that replace the texts, and their types."""
        pa = import_pyarrow("DocumentRelease")
        output = self.releaser.output
        if output == "bow":
            return dict.fromkeys(_BAG, pa.list_(pa.int32()))
        lists = {"tokens": pa.list_(pa.string()), "vector": pa.list_(pa.float64())}
        return {self.text: {**lists, "index": pa.int64()}.get(output, pa.string())}

    @property
    def columns(self) -> dict[str, Any]:
        """The released columns with their types; None keeps the type of the data."""
        string = import_pyarrow("DocumentRelease").string()
        return {self.id: string, **self._made(), **self.keep}

    @property
    def schema(self) -> Any:
        """The `pyarrow.Schema` of the release.

        The id is a string. Depending on the `output` of the releaser, the text is a
        string, a list of strings, or two lists of integers, ``word_ids`` and
        ``counts``; a vector is a list of numbers, a group a string, and the number of a
        public document an integer. Kept columns must be given with their types.

        Raises
        ------
        InvalidParameterError
            If `keep` gives no types.
        """
        if None in self.keep.values():
            raise InvalidParameterError(
                "keep must give the types of columns if the schema is needed, as in "
                'keep={"label": pa.int64()}.'
            )
        return import_pyarrow("DocumentRelease").schema(list(self.columns.items()))

    def manifest(self) -> dict[str, Any]:
        """Describe the release, without any secret.

        Returns
        -------
        manifest : dict
            Values for JSON: the name, the columns, the guarantee in words and in its
            stored form (with mechanism, options, ε and fingerprints), the canary, and
            versions.
        """
        unit = {} if self.author is None else {"unit": "person"}
        guarantee = self.releaser.guarantee(**unit)
        if self.author in self.keep:
            guarantee = guarantee.with_caveat(_NAMED.format(self.author))
        packages = ("numpy", "randomgen", "scikit-learn", "pyarrow")
        return {
            "format": "skdptext release, version 1",
            "name": self.name,
            "releaser": type(self.releaser).__name__,
            "output": self.releaser.output,
            "columns": {
                **{name: getattr(self, name) for name in ("id", "text", "author")},
                "keep": {name: kind and str(kind) for name, kind in self.keep.items()},
            },
            "guarantee": {
                **told_by(guarantee),
                "released_as_they_are": [self.id, *self.keep],
                "computational": _COMPUTATIONAL,
            },
            "canary": self.canary,
            "versions": {
                "skdptext": __version__,
                "python": platform.python_version().rpartition(".")[0],
                **{name: metadata.version(name) for name in packages},
            },
        }

    # -- release ---------------------------------------------------------------

    def __call__(self, batch: Any) -> Any:
        """Release the documents of a batch.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            Documents with the columns that the release names; others are left out.

        Returns
        -------
        released : of the same type
            The release, with as many rows in the same order.

        Raises
        ------
        InvalidParameterError
            If a column is missing, of the wrong type or not UTF-8, an id is null, empty
            or repeated in the batch, the key is missing, or public texts are among the
            documents.
        RuntimeError
            If this worker draws different noise from the process that made the release.
        """
        pa = import_pyarrow("DocumentRelease")
        rule = "batch must be a pyarrow RecordBatch or Table"
        check_kind(batch, pa.RecordBatch | pa.Table, rule)
        if self.author is not None:
            raise InvalidParameterError(
                "author must be None for batches, which need not hold all rows of an "
                f"author, got {self.author!r}: release_files reads them all."
            )
        # Public texts are sought before anything is released: a stand-in for a public
        # text would be published as if it had been private.
        read = read_batch(self, batch)
        if (known := self.releaser.known_texts()) is not None:
            count = known.count()
            count.see(read[1])
            count.check(self.releaser.allow_shared_texts)
        return type(batch).from_arrays(self._arrays(read), names=list(self.columns))

    def _keyed(self) -> Any:
        """Seed the releaser with the key."""
        # The name enters the seed: two releases under one key must not share noise.
        seed = self.key.derive(b"noise:" + self.name.encode())
        return self.releaser.seeded(int.from_bytes(seed, "little"))

    def _arrays(self, read: Any, persons: Any = None) -> list[Any]:
        """Release checked documents, or answer them for their authors."""
        pa = import_pyarrow("DocumentRelease")
        # Another version of NumPy may draw other numbers from the same seed. A task
        # that an engine runs on two workers would then release its documents twice.
        if self.canary not in _repeated and self._canary() != self.canary:
            raise RuntimeError(
                "This worker draws different noise from the process that made the "
                "release. They need the same versions of skdptext, NumPy, randomgen "
                "and Python."
            )
        _repeated.add(self.canary)
        ids, texts, authors, kept = read
        if persons is not None:
            released = persons.transform(authors, ids)
        else:
            with shared_texts_counted():
                released = self._keyed().transform(texts, document_ids=ids)
        if self.releaser.output == "bow":
            ends = released.indptr.astype(np.int32)
            parts = (released.indices, released.data)
            made = [pa.ListArray.from_arrays(ends, x.astype(np.int32)) for x in parts]
        else:
            values = _rows(released)
            if self.releaser.output == "group":
                values = list(map(str, values))
            made = [pa.array(values, self._made()[self.text])]
        return [pa.array(ids, pa.string()), *made, *kept]

    def _canary(self) -> str:
        """Compute the digest of a release of public texts under a public key."""
        known = self.releaser.seeded(int.from_bytes(b"skdptext canary", "little"))
        if known.perturbs_words:
            known.output = "text"
        documents = known.canary_documents()
        ids = range(len(documents))
        with shared_texts_counted():
            noisy = _rows(known.transform(documents, document_ids=ids))
        text = "\n".join(map(str, noisy)).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).hexdigest()


def _rows(released: Any) -> list[Any]:
    rows = released.toarray() if sp.issparse(released) else released
    return rows.tolist() if isinstance(rows, np.ndarray) else rows


def told_by(guarantee: Any) -> dict[str, Any]:
    """Describe a guarantee for readers of the file that stores it.

    A custom guarantee only needs a `str`.
    """
    stated = {x: getattr(guarantee, x, None) for x in ("unit", "epsilon")}
    told = {"words": str(guarantee), **stated}
    if isinstance(guarantee, PrivacyGuarantee):
        told["stored"] = json.loads(guarantee.to_json())
    return told


# -- columns -----------------------------------------------------------------------


def read_batch(
    release: DocumentRelease, batch: Any, kinds: Any = None, start: int = 0
) -> tuple[list[str], list[str], list[str], list[Any]]:
    """Read and check ids, texts, authors if requested, and kept columns.

    The kept columns are cast to `kinds`, or to the types of the release. The first
    document of the batch is number `start`.
    """

    def read(role: str, name: str, what: str, convert: Any) -> Any:
        if (n := batch.schema.names.count(name)) != 1:
            raise InvalidParameterError(
                f"{role} must name one column, got {name!r}, which {n} columns have."
            )
        column = batch.column(name)
        # A nested type would quote names of fields, which come from the data in JSON.
        kind = str(column.type).partition("<")[0]
        rule = f"{role} must name a column of {what}, and {name!r} is of {kind}"
        return converted(convert, column, rule, start)

    named = "strings or integers, none of them empty"
    author = release.author
    return (
        read("id", release.id, named, _names),
        read("text", release.text, "strings in UTF-8", _texts),
        [] if author is None else read("author", author, named, _names),
        [
            read("keep", name, f"valid {kind or 'values'}", partial(_cast, kind=kind))
            for name, kind in (kinds or release.keep).items()
        ],
    )


def _texts(column: Any, others: str = "null") -> list[str]:
    kind = str(column.type).removeprefix("dictionary<values=").partition(",")[0]
    if not re.fullmatch(f"(large_)?string(_view)?|{others}", kind):
        raise TypeError
    string = import_pyarrow("DocumentRelease").string()
    return [value or "" for value in column.cast(string).to_pylist()]


def _names(column: Any) -> list[str]:
    """Read ids or authors as strings; 17 and "17" are equal."""
    names = _texts(column, r"u?int\d+")
    if not all(map(str.strip, names)):
        raise ValueError
    return names


def _cast(column: Any, kind: Any) -> Any:
    pa = import_pyarrow("DocumentRelease")
    column.validate(full=True)
    # A dictionary may hold values of rows that are not released.
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    elif "dictionary<" in str(column.type):
        raise TypeError
    if kind is None or column.type == kind:
        return column
    if pa.types.is_string(column.type):  # an empty string in CSV is a missing value
        column = pa.array([value or None for value in column.to_pylist()], pa.string())
    return column.cast(kind)
