"""Release files that do not fit in memory, and verify releases."""

import json
import os
import warnings
from collections import deque
from collections.abc import Iterator
from hashlib import file_digest
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from skdptext.documents import shared_texts_counted
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.release._documents import DocumentRelease, read_batch
from skdptext.release._outputs import claimed
from skdptext.release._tables import FORMATS, Table, find_tables, write_tables
from skdptext.utils import (
    check_jobs,
    check_kind,
    check_option,
    import_pyarrow,
    progress_bar,
)

MANIFEST = "_release.json"
# Programs write these words, in upper or lower case, for a missing text.
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

    The key, the name of the release, and the id and text of each document determine the
    noise. An interrupted run can be repeated with the same arguments, and gives the
    same files, byte for byte.

    Parameters
    ----------
    source : path, or list of paths
        Files in Parquet, CSV or JSON lines (one object per line), by their suffix:
        ``.parquet``, ``.csv``, ``.jsonl``, ``.ndjson``, the latter three also followed
        by ``.gz``. A folder means all such files in it, at any depth, except names that
        begin with a dot or an underscore.
    out : path
        New folder for the release. It appears once the release is complete, with a file
        for each input that has documents, ``part-00000`` and so on in the order of the
        inputs, and the manifest ``_release.json``.
    release : DocumentRelease
        The release. Ids from a file without types are read as strings.
    format : {"parquet", "csv", "jsonl", "csv.gz", "jsonl.gz"}, default=None
        Format of the new files; None means that of the first input. CSV can only store
        texts, not tokens or bags.
    n_jobs : int, default=None
        Number of processes, run by joblib; with authors, of threads that group the
        documents. None means only this process, with `n_jobs` threads of the releaser.
    verbose : int, default=0
        Above 0, show a progress bar.

    Returns
    -------
    manifest : dict
        The content of ``_release.json``.

    Raises
    ------
    InvalidParameterError
        Before any noise is drawn: if a parameter breaks its rule; an input cannot be
        read, or lacks a column; there are no documents; a text or a kept column has the
        wrong type; an id is null, empty or repeated in the inputs; public texts of a
        releaser are among the documents, unless it has `allow_shared_texts`; the key is
        missing; or `out` exists, is among the inputs, or is being written by another
        process.

    Warns
    -----
    EmptyDocumentWarning
        If texts are empty or missing. They are also released, like any other text.

    Notes
    -----
    *Privacy.* The manifest contains no secret, and nothing about the documents except
    their number and the names of the input files. Once the release is complete, destroy
    the key: then no one can undo the noise, or repeat the release.

    *Kept columns.* Columns without a type are released as they are read: from CSV as
    strings; from JSON and Parquet in one type that can represent all their values, such
    as decimals if some are whole numbers.

    *Memory.* The embedding, 512 documents for each process regardless of the size of
    the inputs, and 8 bytes for each id. With authors, some 900 bytes per author of
    five documents, and more if theirs are of more groups. All inputs are read twice: a
    fault in the last row is found before any noise is drawn, and the types of kept
    columns and the documents of each author are known. The first reading takes 0.1 to
    7% of the time for words, and a third for stand-ins, mostly for the search for
    public texts.

    *Durability.* The release is written to a hidden folder next to `out`, which is
    renamed at the end. A failing run deletes it, and the next run deletes the remains
    of a killed one. `out` must be on a local or shared file system, not in an object
    store.

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
    check_jobs(n_jobs, verbose)
    tables = find_tables(source)
    check_kind(out, str | os.PathLike, "out must be a path")
    place = Path(out).resolve()
    single = isinstance(source, str | os.PathLike)
    if single and place.is_relative_to(Path(source).resolve()):
        raise InvalidParameterError("out must be outside the folder of the inputs.")
    # All checks come before any noise is drawn. A run that failed half-way would leave
    # released rows that belong to no stated guarantee.
    form = tables[0].format if format is None else format
    check_option("format", form, FORMATS)
    keyed = release._keyed()  # refuses a missing key before all inputs are read
    with claimed(place) as (unfinished,):
        # The first reading checks all inputs. With authors it also answers each author,
        # which needs all documents of the author.
        survey, persons = _Survey(tables, release), None
        if release.author is None:
            deque(survey, 0)
        else:
            if n_jobs is not None:
                keyed.set_params(n_jobs=n_jobs)
            pairs = tee(survey)
            texts, names = (x for x, _ in pairs[0]), (x for _, x in pairs[1])
            with shared_texts_counted():  # the survey counts them
                persons = keyed.person_answers(texts, names)
            n_jobs = 1  # the remaining work takes no time
        unfinished.mkdir()
        total, files = sum(survey.counts), {}
        with progress_bar(verbose, "releasing", total=total, unit="doc") as progress:
            for i, (table, n) in enumerate(zip(tables, survey.counts, strict=True)):
                path = unfinished / f"part-{i:05d}.{form}"
                done = Parallel(n_jobs=n_jobs, return_as="generator")(
                    delayed(_released)(release, batch, survey.kinds, persons)
                    for batch in survey.batches(table)
                )
                if n != (n and write_tables(done, path, form, progress.update)):
                    raise RuntimeError("The inputs have changed while they were read.")
                if n:
                    digest = _digest_of(path)
                    told = {"input": table.name, "documents": n, "digest": digest}
                    files[path.name] = told
        # The manifest is written last, and `claimed` then renames the folder: a folder
        # named `out` is always a complete release.
        manifest = {**release.manifest(), "documents": total, "files": files}
        text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
        (unfinished / MANIFEST).write_text(f"{text}\n", "utf-8")
    return manifest


class _Survey:
    """Read the texts and authors of all inputs, and check them before any noise."""

    def __init__(self, tables: list[Table], release: DocumentRelease) -> None:
        self.tables, self.release = tables, release
        self.kinds = dict(release.keep)  # widened to fit all values that were read
        self.counts: list[int] = []

    def batches(self, table: Table) -> Iterator[Any]:
        """Read the columns of a file that the release names."""
        of = self.release
        read = {"id": of.id, "text": of.text, "author": of.author}
        given = [name for name in read if read[name] is not None]
        columns = dict.fromkeys([*map(read.get, given), *self.kinds])
        return table.batches(list(columns), f"{', '.join(given)} and keep")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield texts with authors; refuse faulty inputs at the end."""
        known = self.release.releaser.known_texts()
        shared = None if known is None else known.count()
        hashes: list[np.ndarray] = []
        n_empty = 0
        for table in self.tables:
            n = 0
            for batch in self.batches(table):
                try:
                    ids, texts, authors, kept = read_batch(self.release, batch, None, n)
                    self._widen(kept)
                except InvalidParameterError as error:
                    told = f"{error} The file is {table.name}."
                    raise InvalidParameterError(told) from None
                # Repeated ids are found by 8 bytes each. Two different ids with one
                # hash would wrongly be refused, which is as good as impossible with 64
                # bits.
                hashes.append(np.array([hash(name) for name in ids], np.int64))
                n_empty += sum(x.strip().lower() in _NO_TEXT for x in texts)
                if shared is not None:
                    shared.see(texts)
                # Without authors, nothing is yielded: reading is all that is needed.
                yield from zip(texts, authors, strict=False)
                n += len(batch)
            self.counts.append(n)
        n = sum(self.counts)
        if not n:
            raise InvalidParameterError("source must hold documents, got none.")
        if repeated := n - len(np.unique(np.concatenate(hashes))):
            raise InvalidParameterError(
                "id must be unique over all documents of all inputs, or equal ones get "
                f"equal noise, got {repeated} repeated. If ids are people, name their "
                "column as author."
            )
        if shared is not None:
            shared.check(self.release.releaser.allow_shared_texts)
        if n_empty:
            warnings.warn(
                f"{n_empty:,} of {n:,} texts are empty or missing. They are also "
                "released, like any other text.",
                EmptyDocumentWarning,
                stacklevel=3,
            )

    def _widen(self, kept: list[Any]) -> None:
        pa = import_pyarrow("release_files")
        for name, column in zip(self.kinds, kept, strict=True):
            kinds = [self.kinds[name] or column.type, column.type]
            both = [pa.schema([(name, kind)]) for kind in kinds]
            try:
                wide = pa.unify_schemas(both, promote_options="permissive")
            except pa.ArrowException:
                raise InvalidParameterError(
                    f"keep must name columns of one type, got {name!r} of several."
                ) from None
            self.kinds[name] = wide.types[0]


def _released(release: DocumentRelease, batch: Any, kinds: Any, persons: Any) -> Any:
    arrays = release._arrays(read_batch(release, batch, kinds), persons)
    pa = import_pyarrow("release_files")
    return pa.table(arrays, names=list(release.columns))


def verify(folder: str | os.PathLike[str]) -> list[str]:
    """Check that a release is complete and unchanged.

    Parameters
    ----------
    folder : path
        Folder of the release, or the ``.json`` file of a labeled corpus that
        ``skdptext learn`` wrote.

    Returns
    -------
    faults : list of str
        Missing, changed or unexpected files; empty if there are none.

    Raises
    ------
    InvalidParameterError
        If `folder` is neither of the two, or its manifest is damaged.

    Notes
    -----
    It detects damage to the files, not fraud: anyone who can write the files can write
    the manifest, whose own text is not checked.
    """
    check_kind(folder, str | os.PathLike, "folder must be a path")
    path = Path(folder)
    corpus = path.suffix == ".json" and path.is_file()
    folder, stating = (path.parent, path.name) if corpus else (path, MANIFEST)
    try:
        manifest = json.loads((folder / stating).read_bytes())
        # Anyone may have edited the manifest, so any JSON is possible here.
        stated = {name: told["digest"] for name, told in manifest["files"].items()}
        problem = "it has no files"
    except OSError as error:
        stated, problem = {}, f"its {stating}: {error.strerror}"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        stated, problem = {}, f"its {stating} is damaged, or not of a release"
    if not stated:
        raise InvalidParameterError(
            "folder must be that of a release, or the .json file of a corpus, got "
            f"{str(path)!r}: {problem}."
        )
    there = {path.name for path in folder.iterdir() if path.name[0] != "."}
    extra = [] if corpus else sorted(there - {*stated, MANIFEST})
    faults = [f"{name} is not part of the release." for name in extra]
    for name, digest in stated.items():
        try:
            if name not in there:
                faults.append(f"{name} is missing.")
            elif _digest_of(folder / name) != digest:
                faults.append(f"{name} has changed since it was written.")
        except OSError as error:
            faults.append(f"{name} cannot be read: {error.strerror}.")
    return faults


def _digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
