"""Releasing files that do not fit in memory, shard by shard."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b, file_digest
from itertools import groupby, tee
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from skdptext.exceptions import (
    EmptyDocumentWarning,
    InvalidParameterError,
    PrivacyLeakWarning,
)
from skdptext.files import (
    FORMATS,
    Input,
    UniqueIds,
    check_writable,
    find_inputs,
    is_found_in,
    type_shown,
    write_table,
)
from skdptext.release._documents import (
    DocumentRelease,
    Repeats,
    authors_of,
    columns_of,
)
from skdptext.release._key import check_value
from skdptext.release._manifest import (
    FILE_NAME,
    differences,
    read_manifest,
    write_manifest,
)
from skdptext.utils import (
    check_integer,
    check_kind,
    check_n_jobs,
    check_option,
    check_path,
    delete_abandoned,
    import_pyarrow,
    progress_bar,
    replacing,
    shown,
)

# Programs write these words, in any case, where a text is missing.
_NO_TEXT = {"", "nan", "<na>"}
# We check the ids of so many rows together, since each check has a fixed cost.
_SURVEYED = 1 << 16


class Shard(NamedTuple):
    """A file of a release: some rows of one row group of an input."""

    name: str
    rows: int


# Releases beside a new one, each of which takes 40 ms to compare its key with
_MOST_BESIDE = 20


def release_files(
    source: Any,
    out: str | os.PathLike[str],
    release: DocumentRelease,
    *,
    format: str | None = None,
    batch_rows: int = 4096,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Release files of documents that need not fit in memory.

    If it is killed at any moment and called again with the same arguments, it continues
    where it stopped, and its files are the same, byte for byte. Two calls that run at
    once write the same files. `seal` ends the release.

    Parameters
    ----------
    source : path, or list of paths
        Parquet, CSV or JSON lines (one object per line), recognised by their suffix:
        ``.parquet``, ``.csv``, ``.jsonl``, ``.ndjson``, the latter three also followed
        by ``.gz``. A folder stands for all such files in it, at any depth.
    out : path
        Folder for the release; new, empty, or of the same release. It gets a file per
        `batch_rows` documents, and the manifest ``_release.json``.
    release : DocumentRelease
        From a file without types, ids are read as strings.
    format : {"parquet", "csv", "jsonl"}, default=None
        Format of the files written. None: that of the first input. CSV holds texts
        only, not tokens or bags.
    batch_rows : int, default=4096
        Documents that are read, released and written at a time. Memory grows with it,
        and no more than that many are lost when the process is killed.
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
        read, or lacks a column; a text or a column kept is of the wrong type; an id is
        null, empty or repeated in the inputs; public texts of a releaser are among the
        documents, unless the release has `allow_shared_texts`; the key lies in `out`;
        or `out` lies among the inputs or holds something else: a release with another
        name, key, ε or embedding, made by other versions, from inputs that have
        changed, or with another `format` or
        `batch_rows`.

    Warns
    -----
    EmptyDocumentWarning
        If texts are empty or not a number. They are released, too, as if drawn at
        random.
    PrivacyLeakWarning
        If a release in a folder beside `out` has the same key and another name: take a
        new key for each release. Of the folders there the first 20 are looked at. If
        values of a column kept repeat as people do (`DocumentRelease`).

    Notes
    -----
    *Privacy.* The manifest holds no secret, and nothing about the documents but how
    many rows the row groups have. Names of input files become names of shards, so they
    are released. Digests of the inputs are keyed, since plain ones would confirm a
    guess.

    *Columns kept.* Those without a type are released as they are read: from CSV as
    strings, as they are written; from JSON and Parquet in the types that they have
    there, which must be the same in all inputs.

    *Memory.* That of the embedding and 100 MB, whatever the size of the inputs, for
    each process, and what is released of `batch_rows` documents. Some 1 MB of documents
    are held at a time. A row of a CSV or JSON file may have 512 KiB. More than 65,536
    ids are checked in temporary files, at 16 bytes per id. With authors, the inputs
    are read once more, and some 700 bytes are held per author, 100 more for each other
    group of theirs, and 4 per document, for the groups of all rows. The readers are
    those of pyarrow for each format: its datasets read further ahead.

    *Durability.* A shard is written to a temporary file beside it, forced to disk, and
    renamed. `out` must be on a local or shared file system, not in an object store.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.release import (
    ...     DocumentRelease, ReleaseKey, release_files, seal, verify)
    >>> embedding = WordEmbedding(["good", "great", "bad"], [[2.0], [2.1], [-2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1e6, document_length=2,
    ...     resize="sample", output="text")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, out = Path(folder, "in.csv"), Path(folder, "out")
    ...     _ = source.write_text("id,text\\n1,good\\n2,bad bad\\n")
    ...     key = ReleaseKey.generate(Path(folder, "key"))
    ...     release = DocumentRelease(perturber, key, "an example")
    ...     manifest = release_files(source, out, release)
    ...     sealed = seal(out)
    ...     os.remove(Path(folder, "key"))     # nobody can undo the noise now
    ...     shard, = out.glob("*.csv")
    ...     print(shard.read_text())
    "id","text"
    "1","good good"
    "2","bad bad"
    >>> manifest["documents"], manifest["complete"], sealed["complete"]
    (2, False, True)
    """
    return begin_files(source, out, release, format, batch_rows, n_jobs, verbose)()


def begin_files(
    source: Any,
    out: str | os.PathLike[str],
    release: DocumentRelease,
    format: str | None,
    batch_rows: int,
    n_jobs: int | None,
    verbose: int,
) -> Callable[[], dict[str, Any]]:
    """Refuse what `release_files` refuses, and begin the folder; the rest is returned.

    Who has something to say where a release goes on, and only there, says it between.
    """
    check_kind(release, DocumentRelease, "release must be a DocumentRelease")
    folder = check_path("out", out)
    batch_rows = check_integer("batch_rows", batch_rows, low=1)
    check_n_jobs(n_jobs)
    check_integer("verbose", verbose, low=0)
    inputs = find_inputs(source)
    if is_found_in(source, out):
        raise InvalidParameterError(
            f"out must not be in the folder of the inputs, got {shown(os.fspath(out))}."
        )
    place = release.key.source.partition("file:")[2]
    # that `out` is the key itself, a file, is told as with any file
    if place and Path(out).resolve() in Path(place).resolve().parents:
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
    # The order matters. We read all inputs once before we write anything: a fault in
    # the last file must not leave half a release behind. Then we begin the folder, or
    # go on with this release if the folder holds it, and only then draw noise.
    manifest = release.manifest()
    manifest |= {"shard_format": form, "batch_rows": batch_rows}
    manifest |= _survey(inputs, release, form, verbose)
    _tell_of_other_names(Path(out), release)
    manifest = _claim(folder, manifest)

    def go_on() -> dict[str, Any]:
        _release(inputs, folder, release, manifest, n_jobs, verbose)
        return manifest

    return go_on


def shards_of(manifest: Mapping[str, Any]) -> Iterator[Shard]:
    """All files of a release, in the order of the documents."""
    return (
        shard
        for place in manifest["inputs"]
        for group, rows in enumerate(place["rows"])
        for shard in _of_group(manifest, place["name"], group, rows)
    )


def n_shards(manifest: Mapping[str, Any]) -> int:
    """How many these are: a damaged manifest may say that they are billions."""
    size = manifest["batch_rows"]
    return sum(
        -(-rows // size) for place in manifest["inputs"] for rows in place["rows"]
    )


def _of_group(
    manifest: Mapping[str, Any], name: str, group: int, rows: int
) -> Iterator[Shard]:
    size = manifest["batch_rows"]
    # Spark, pyarrow and the like take a name that begins with a dot or a line as hidden
    stem = re.sub(r"[^A-Za-z0-9.-]+", "_", name.rpartition("/")[2]).lstrip("._")[:60]
    # separates names that differ only in folders, or in what a file system ignores
    mark = blake2b(name.encode(), digest_size=4).hexdigest()
    for i in range(-(-rows // size)):
        place = f"{stem}-{mark}-{group:05d}-{i:05d}.{manifest['shard_format']}"
        yield Shard(place, min(size, rows - i * size))


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
) -> dict[str, Any]:
    """Sizes and digests of the inputs, after a check of all that is read of them."""
    surveyed: list[dict[str, Any]] = []
    types = _types(release)
    first_types: dict[str, tuple[Any, str]] = {}
    texts, repeats = _Texts(), Repeats(release)
    shared = release._count_shared_texts()
    # Ids must differ over all files, not only within one: the noise of a document comes
    # from its id and its text, and two equal documents of one id would get it twice.
    with UniqueIds() as unique:
        for place in inputs:
            rows: list[int] = []
            place.check_columns(types, _named(release))
            for group in place.groups(types, _SURVEYED):
                before = sum(rows)
                rows.append(0)
                for table in group:
                    try:
                        ids, said, columns = columns_of(
                            release, table, before + rows[-1]
                        )
                        if release.author is not None:
                            authors_of(release, table, before + rows[-1])
                        kinds = [column.type for column in columns]
                        kept_types = dict(zip(release.keep, kinds, strict=True))
                        _check_types(first_types, kept_types, place.name, form)
                    except InvalidParameterError as error:
                        raise InvalidParameterError(f"{place.name}: {error}") from None
                    unique.add(ids)
                    texts.count(said, place)
                    repeats.see(columns)
                    if shared is not None:
                        shared.see(said)
                    rows[-1] += len(table)
            # A plain hash of a file would let anyone who guesses the file check the
            # guess. Only the holder of the key can compute this one.
            digest = digest_of(place.path, release.key.derive(b"inputs"))
            surveyed.append({"name": place.name, "rows": rows, "digest": digest})
        repeated = unique.n_repeated()
    if repeated:
        raise InvalidParameterError(
            "id must be unique over all documents of all inputs, or equal documents "
            f"get equal noise, got {repeated} repeated. If ids stand for people, k "
            "documents of one cost k times ε: give each document an id, and for "
            "stand-ins the people as author."
        )
    if shared is not None:
        release._check_shared_texts(shared.result())
    texts.tell(verbose)
    repeats.tell()
    return {"documents": sum(sum(i["rows"]) for i in surveyed), "inputs": surveyed}


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
                stacklevel=5,
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


def digest_of(path: Path, key: bytes = b"") -> str:
    """Digest of a file, keyed if there is a key."""
    with open(path, "rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=32, key=key)).hexdigest()


def _tell_of_other_names(out: Path, release: DocumentRelease) -> None:
    """Warn if a release beside `out` is of this key and another name.

    Anyone who gets a key undoes all that was released with it. Only what lies beside
    `out` can be seen: nothing is written anywhere to remember keys by.
    """
    if (out / FILE_NAME).exists() or not out.absolute().parent.is_dir():
        return
    beside = sorted(out.absolute().parent.glob(f"*/{FILE_NAME}"))
    for path in beside[:_MOST_BESIDE]:
        try:
            there = read_manifest(path.parent)
            name = there["name"]
        except (InvalidParameterError, OSError, KeyError):
            continue  # whatever it is, it is not ours
        if not isinstance(name, str) or name == release.name:
            continue
        if check_value(release.key, name) == there["key_check"]:
            warnings.warn(
                f"The key of {shown(path.parent.name)} is used again, for another "
                "name: anyone who gets it can undo the noise of both. Take a new one "
                "for each release, and destroy it when that is sealed.",
                PrivacyLeakWarning,
                stacklevel=4,
            )
            return


def _claim(out: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """Begin a release in a folder, or continue it; refuse any other."""
    if out.exists() and not out.is_dir():
        raise InvalidParameterError(f"out must be a folder, got the file {str(out)!r}.")
    out.mkdir(parents=True, exist_ok=True)
    # listed first, or the files of a writer that begins now would count as foreign
    present = [path.name for path in out.iterdir() if not path.name.startswith(".")]
    if (out / FILE_NAME).exists():
        there = read_manifest(out)
        if differing := differences(there, manifest):
            raise InvalidParameterError(
                f"out must be empty or hold this release, but {str(out)!r} holds "
                f"another: {'; '.join(differing)}."
            )
        return there
    if present:
        raise InvalidParameterError(
            f"out must be empty or hold this release, but {str(out)!r} holds other "
            f"files: {', '.join(sorted(present)[:3])}."
        )
    write_manifest(out, manifest)
    return manifest


def _release(
    inputs: list[Input],
    out: Path,
    release: DocumentRelease,
    manifest: dict[str, Any],
    n_jobs: int | None,
    verbose: int,
) -> None:
    """Write the shards that are not there yet."""
    concat = import_pyarrow("release_files").concat_tables
    missing = {s for s in shards_of(manifest) if not (out / s.name).exists()}
    total = manifest["documents"]
    delete_abandoned(out)  # once: for each shard it would list all the others
    persons = None
    if release.author is not None and missing:
        persons = _persons(inputs, release, n_jobs, verbose)
        n_jobs = 1  # what is left to do takes no time
    with progress_bar(verbose, "releasing", total=total, unit="doc") as progress:
        progress.update(total - sum(shard.rows for shard in missing))
        done = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_released)(shard, table, release, persons)
            for shard, table in _tables(inputs, release, manifest, missing)
        )
        for shard, parts in groupby(done, key=itemgetter(0)):
            whole = concat([table for _, table in parts]).combine_chunks()
            if len(whole) != shard.rows:
                raise RuntimeError(
                    f"{shard.name} has {len(whole)} documents instead of {shard.rows}: "
                    "the inputs have changed while they were read."
                )
            with replacing(out / shard.name, tidy=False) as file:
                write_table(whole, file, manifest["shard_format"])
            progress.update(shard.rows)


def _released(
    shard: Shard, table: Any, release: DocumentRelease, persons: Any
) -> tuple[Shard, Any]:
    return shard, release._of_checked(table, columns_of(release, table), persons)


def _persons(
    inputs: list[Input], release: DocumentRelease, n_jobs: int | None, verbose: int
) -> Any:
    """The answer of each author, for which all documents are grouped first."""
    texts, authors = tee(
        pair
        for place in inputs
        for group in place.groups(_types(release), _SURVEYED)
        for table in group
        for pair in zip(
            columns_of(release, table)[1], authors_of(release, table), strict=True
        )
    )
    return release._person_answers(
        (text for text, _ in texts), (name for _, name in authors), n_jobs, verbose
    )


def _tables(
    inputs: list[Input],
    release: DocumentRelease,
    manifest: dict[str, Any],
    missing: set[Shard],
) -> Iterator[tuple[Shard, Any]]:
    """The missing shards, each with some of its documents."""
    size = manifest["batch_rows"]
    for place, counted in zip(inputs, manifest["inputs"], strict=True):
        shards = [
            list(_of_group(manifest, place.name, group, rows))
            for group, rows in enumerate(counted["rows"])
        ]
        if missing.isdisjoint(shard for group in shards for shard in group):
            continue
        groups = place.groups(_types(release), size)
        for group, tables in zip(shards, groups, strict=True):
            if missing.isdisjoint(group):
                continue
            row = 0
            for table in tables:
                shard = group[row // size]
                row += len(table)
                if shard in missing:
                    yield shard, table
