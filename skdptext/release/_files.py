"""Releasing files that do not fit in memory, and checking what was released."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b, file_digest
from itertools import groupby, tee
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.files import (
    FORMATS,
    Input,
    check_writable,
    find_inputs,
    is_found_in,
    table_writer,
    type_shown,
)
from skdptext.release._documents import (
    DocumentRelease,
    Repeats,
    authors_of,
    columns_of,
)
from skdptext.release._manifest import FILE_NAME, read_manifest, write_manifest
from skdptext.utils import (
    check_integer,
    check_kind,
    check_n_jobs,
    check_option,
    check_path,
    import_pyarrow,
    progress_bar,
    shown,
)

# Programs write these words, in any case, where a text is missing.
_NO_TEXT = {"", "nan", "<na>"}


def release_files(
    source: Any,
    out: str | os.PathLike[str],
    release: DocumentRelease,
    *,
    format: str | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Release files of documents that need not fit in memory.

    The noise is fixed by the key, the name of the release, and the id and text of each
    document. So a run that was stopped is run again with the same arguments, and gives
    the same files, byte for byte.

    Parameters
    ----------
    source : path, or list of paths
        Parquet, CSV or JSON lines (one object per line), recognised by their suffix:
        ``.parquet``, ``.csv``, ``.jsonl``, ``.ndjson``, the latter three also followed
        by ``.gz``. A folder stands for all such files in it, at any depth.
    out : path
        Folder for the release; new, or empty. It is there once the release is complete,
        with a file for each input that has documents, ``part-00000`` and so on in the
        order of the inputs, and the manifest ``_release.json``.
    release : DocumentRelease
        From a file without types, ids are read as strings.
    format : {"parquet", "csv", "jsonl"}, default=None
        Format of the files written. None: that of the first input. CSV holds texts
        only, not tokens or bags.
    n_jobs : int, default=None
        Number of processes, run by joblib; with authors, of threads that group the
        documents. None: only this process, with as many threads as `n_jobs` of the
        perturber says.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook, and say how many
        texts of CSV files span lines; above 1, show the bar anywhere.

    Returns
    -------
    manifest : dict
        As in ``_release.json``.

    Raises
    ------
    InvalidParameterError
        Before any noise is drawn: if a parameter breaks its rule; an input cannot be
        read, or lacks a column; there are no documents; a text or a column kept is of
        the wrong type; an id is null, empty or repeated in the inputs; public texts of
        a releaser are among the documents, unless the release has `allow_shared_texts`;
        the key lies in `out`; or `out` lies among the inputs or holds something.

    Warns
    -----
    EmptyDocumentWarning
        If texts are empty or not a number. They are released, too, as if drawn at
        random.
    PrivacyLeakWarning
        If values of a column kept repeat as people do (`DocumentRelease`).

    Notes
    -----
    *Privacy.* The manifest holds no secret, and nothing about the documents but how
    many there are, and the names of the input files. Once the release is complete,
    destroy the key: nobody can then undo the noise, or repeat the release.

    *Columns kept.* Those without a type are released as they are read: from CSV as
    strings, as they are written; from JSON and Parquet in the types that they have
    there, which must be the same in all inputs.

    *Memory.* That of the embedding and 100 MB, whatever the size of the inputs, for
    each process, and 16 bytes for each id. Some 1 MB of documents are held at a time. A
    row of a CSV or JSON file may have 512 KiB. With authors, the inputs are read once
    more, and some 700 bytes are held per author, 100 more for each other group of
    theirs, and 4 per document, for the groups of all rows. The readers are those of
    pyarrow for each format: its datasets read further ahead.

    *Durability.* The release is written to a hidden folder beside `out`, which is
    renamed in the end; a run that fails deletes it, and one that is killed leaves it.
    `out` must be on a local or shared file system, not in an object store.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.release import (
    ...     DocumentRelease, ReleaseKey, release_files, verify)
    >>> embedding = WordEmbedding(["good", "great", "bad"], [[2.0], [2.1], [-2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1e6, document_length=2,
    ...     output="text")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, out = Path(folder, "in.csv"), Path(folder, "out")
    ...     _ = source.write_text("id,text\\n1,good\\n2,bad bad\\n")
    ...     key = ReleaseKey.generate(Path(folder, "key"))
    ...     manifest = release_files(
    ...         source, out, DocumentRelease(perturber, key, "an example"))
    ...     print(verify(out), (out / "part-00000.csv").read_text())
    [] "id","text"
    "1","good good"
    "2","bad bad"
    >>> manifest["documents"]
    2
    """
    check_kind(release, DocumentRelease, "release must be a DocumentRelease")
    folder = check_path("out", out)
    check_n_jobs(n_jobs)
    check_integer("verbose", verbose, low=0)
    inputs = find_inputs(source)
    if is_found_in(source, out):
        raise InvalidParameterError(
            f"out must not be in the folder of the inputs, got {shown(os.fspath(out))}."
        )
    place = release.key.source.partition("file:")[2]
    # that `out` is the key itself, a file, is told as with any file
    if place and folder.resolve() in Path(place).resolve().parents:
        raise InvalidParameterError(
            "key must not be in the folder of the release, where anyone who gets it "
            f"can undo the noise, got {release.key.source}. Take a new one elsewhere."
        )
    form = inputs[0].format if format is None else format
    check_option("format", form, FORMATS)
    if form == "csv" and release.perturber.output in ("tokens", "bow", "vector"):
        raise InvalidParameterError(
            'format must be "parquet" or "jsonl" for a perturber with '
            f'output="{release.perturber.output}", whose lists CSV cannot hold, got '
            "'csv'."
        )
    _check_free(folder)
    # We read all inputs once before we draw any noise: a fault in the last file must
    # not come after hours of work.
    manifest = release.manifest()
    counted = _survey(inputs, release, form, verbose)
    with _becoming(folder) as partial:
        files = _release(inputs, counted, partial, release, form, n_jobs, verbose)
        manifest |= {"documents": sum(counted), "files": files}
        write_manifest(partial, manifest)
    return manifest


def verify(out: str | os.PathLike[str]) -> list[str]:
    """Whether a release is as it was written.

    Parameters
    ----------
    out : path
        Folder of the release.

    Returns
    -------
    faults : list of str
        What is missing, changed or unexpected; empty if nothing is.

    Raises
    ------
    InvalidParameterError
        If `out` is not a folder that `release_files` wrote, or its manifest is damaged.

    Notes
    -----
    It finds damage, not fraud: anyone who can write the files can write the manifest.
    """
    folder = check_path("out", out)
    files = read_manifest(folder)["files"]
    there = {path.name for path in folder.iterdir() if path.name[0] != "."}
    extra = sorted(there - {*files, FILE_NAME})
    faults = [f"{name} is not part of the release." for name in extra]
    for name, told in files.items():
        if name not in there:
            faults.append(f"{name} is missing.")
            continue
        try:
            if _digest_of(folder / name) != told["digest"]:
                faults.append(f"{name} has changed since it was written.")
        except OSError as error:
            faults.append(f"{name} cannot be read: {error.strerror}.")
    return faults


def _check_free(out: Path) -> None:
    """Refuse a place where something is."""
    if out.exists() and not out.is_dir():
        raise InvalidParameterError(f"out must be a folder, got the file {str(out)!r}.")
    # The release is renamed to it in the end, after hours, which the system refuses.
    if out.resolve().is_mount():
        raise InvalidParameterError(
            f"out must be a folder inside a mounted one, got the mount {str(out)!r}."
        )
    present = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if present:
        what = "a release" if FILE_NAME in present else ", ".join(present[:3])
        raise InvalidParameterError(
            f"out must be new or empty, but {str(out)!r} holds {what}."
        )


@contextmanager
def _becoming(out: Path) -> Iterator[Path]:
    """A hidden folder beside `out`, which becomes it, or goes after an error."""
    out = out.resolve()
    partial = out.with_name(f".{out.name}.{secrets.token_hex(8)}.partial")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
    except OSError as error:  # told of the place that was asked for
        raise OSError(error.errno, error.strerror, str(out)) from None
    try:
        yield partial
        _check_free(out)
        if out.exists():  # Windows renames to no folder that is there
            out.rmdir()
        partial.rename(out)
    # also if the user interrupts: nobody would know the use of what is left
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _types(release: DocumentRelease) -> dict[str, Any]:
    """Columns to read, with the types of those that have them."""
    string = import_pyarrow("release_files").string()
    authors = {} if release.author is None else {release.author: string}
    return {release.id: string, release.text: string, **authors, **release.keep}


def _named(release: DocumentRelease) -> str:
    """The parameters that name columns."""
    return f"id, text{'' if release.author is None else ', author'} and keep"


def _survey(
    inputs: list[Input], release: DocumentRelease, form: str, verbose: int
) -> list[int]:
    """How many documents each input has, after a check of all that is read of them."""
    counted: list[int] = []
    types = _types(release)
    first_types: dict[str, tuple[Any, str]] = {}
    texts, repeats = _Texts(), Repeats(release)
    shared = release._count_shared_texts()
    digests = bytearray()
    key = secrets.token_bytes(32)  # so that nobody can choose ids whose digests agree
    for place in inputs:
        n = 0
        place.check_columns(types, _named(release))
        for table in place.tables(types):
            try:
                ids, said, columns = columns_of(release, table, n)
                if release.author is not None:
                    authors_of(release, table, n)
                kinds = [column.type for column in columns]
                kept_types = dict(zip(release.keep, kinds, strict=True))
                _check_types(first_types, kept_types, place.name, form)
            except InvalidParameterError as error:
                raise InvalidParameterError(f"{place.name}: {error}") from None
            for identity in ids:
                given = identity.encode("utf-8", "surrogatepass")
                digests += blake2b(given, key=key, digest_size=16).digest()
            texts.count(said, place)
            repeats.see(columns)
            if shared is not None:
                shared.see(said)
            n += len(table)
        counted.append(n)
    if not sum(counted):
        raise InvalidParameterError("source must hold documents, got none.")
    # Ids must differ over all files, not only within one: the noise of a document comes
    # from its id and its text, and two equal documents of one id would get it twice.
    if repeated := _n_repeated(digests):
        raise InvalidParameterError(
            "id must be unique over all documents of all inputs, or equal documents "
            f"get equal noise, got {repeated} repeated. If ids stand for people, k "
            "documents of one cost k times ε: give each document an id, and for "
            "stand-ins the people as author."
        )
    if shared is not None:
        release._check_shared_texts(shared)
    texts.tell(verbose)
    repeats.tell()
    return counted


def _n_repeated(digests: bytearray) -> int:
    """How many of some digests of 16 bytes, one after the other, repeat another.

    Digests under a secret key agree by chance with probability 10⁻²¹, for two of a
    billion ids.
    """
    numbers = np.frombuffer(digests, dtype="<u8").reshape(-1, 2)
    numbers = numbers[np.lexsort(numbers.T)]  # equal ones are neighbours
    return int((numbers[1:] == numbers[:-1]).all(axis=1).sum())


class _Texts:
    """What the operator is told of the texts: numbers, which are not released."""

    def __init__(self) -> None:
        self.n = self.empty = self.of_lines = 0
        self.first = ""

    def count(self, texts: list[str], place: Input) -> None:
        empty = [i for i, text in enumerate(texts) if text.strip().lower() in _NO_TEXT]
        if empty and not self.empty:
            self.first = f"document {self.n + empty[0]}"
        self.n += len(texts)
        self.empty += len(empty)
        if place.format == "csv":
            self.of_lines += sum("\n" in text for text in texts)

    def tell(self, verbose: int) -> None:
        if self.empty:
            warnings.warn(
                f"{self.empty:,} of {self.n:,} texts are empty or not a number, the "
                f"first that of {self.first}, counted from 0. They are released, "
                "too, as if drawn at random (stand-ins count them in shares): leave "
                "them out of the source if they stand for no document.",
                EmptyDocumentWarning,
                stacklevel=4,
            )
        if verbose and self.of_lines:
            print(
                f"{self.of_lines:,} of {self.n:,} texts span several lines of their "
                "CSV file. That is fine if your texts have line breaks; otherwise a "
                "quote is not closed.",
                file=sys.stderr,
            )


def _check_types(
    first: dict[str, tuple[Any, str]], kinds: dict[str, Any], place: str, form: str
) -> None:
    """Refuse columns of other types than the `first` table has, which is noted."""
    if not first:
        check_writable(kinds, form)
    for name, kind in kinds.items():
        known, where = first.setdefault(name, (kind, place))
        if kind != known:
            raise InvalidParameterError(
                f"keep must give a type for a column that has several, got {name!r} of "
                f"{type_shown(kind)} here, and of {type_shown(known)} in {where}."
            )


def _digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=32)).hexdigest()


def _release(
    inputs: list[Input],
    counted: list[int],
    folder: Path,
    release: DocumentRelease,
    form: str,
    n_jobs: int | None,
    verbose: int,
) -> dict[str, dict[str, Any]]:
    """Write a file for each input that has documents; what the manifest says of it."""
    persons = None
    if release.author is not None:
        persons = _persons(inputs, release, n_jobs, verbose)
        n_jobs = 1  # what is left to do takes no time
    files: dict[str, dict[str, Any]] = {}
    with progress_bar(verbose, "releasing", total=sum(counted), unit="doc") as progress:
        done = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_released)(number, table, release, persons)
            for number, place in enumerate(inputs)
            for table in place.tables(_types(release))
        )
        for number, tables in groupby(done, key=itemgetter(0)):
            name, n = f"part-{number:05d}.{form}", 0
            with open(folder / name, "wb") as file:
                with table_writer(file, form) as write:
                    for _, table in tables:
                        write(table)
                        n += len(table)
                        progress.update(len(table))
                file.flush()
                os.fsync(file.fileno())
            files[name] = {
                "input": inputs[number].name,
                "documents": n,
                "digest": _digest_of(folder / name),
            }
    if [told["documents"] for told in files.values()] != [n for n in counted if n]:
        raise RuntimeError("The inputs have changed while they were read.")
    return files


def _released(
    number: int, table: Any, release: DocumentRelease, persons: Any
) -> tuple[int, Any]:
    return number, release._of_checked(table, columns_of(release, table), persons)


def _persons(
    inputs: list[Input], release: DocumentRelease, n_jobs: int | None, verbose: int
) -> Any:
    """The answer of each author, for which all documents are grouped first."""
    texts, authors = tee(
        pair
        for place in inputs
        for table in place.tables(_types(release))
        for pair in zip(
            columns_of(release, table)[1], authors_of(release, table), strict=True
        )
    )
    return release._person_answers(
        (text for text, _ in texts), (name for _, name in authors), n_jobs, verbose
    )
