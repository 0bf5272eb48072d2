"""The end of a release: its files are checked, counted, and marked complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.files import Input, types_of
from skdptext.release._documents import BAG_COLUMNS
from skdptext.release._files import digest_of, n_shards, shards_of
from skdptext.release._manifest import FILE_NAME, read_manifest, write_manifest
from skdptext.utils import check_path, delete_abandoned, shown, sparse_result

# We look for so many files more than there are. A manifest that was tampered with could
# name billions, each of which costs a look at the disk.
_MOST_MISSING = 10_000


def seal(out: str | os.PathLike[str]) -> dict[str, Any]:
    """Check that a release is whole, and mark it complete.

    All files must be there, with as many documents as the manifest says, and nothing
    else. Their digests go into the manifest, by which `verify` recognises them.

    Parameters
    ----------
    out : path
        Folder that `release_files` wrote.

    Returns
    -------
    manifest : dict
        ``complete`` is True.

    Raises
    ------
    InvalidParameterError
        If `out` is not such a folder, its manifest is damaged, or something is missing,
        changed or unexpected.

    Notes
    -----
    *Privacy.* Now destroy the key. Nobody can then undo the noise, and the release
    cannot be repeated, or finished, under the same name. Sealing needs no key.

    Examples
    --------
    See `release_files`.
    """
    folder = check_path("out", out)
    manifest = read_manifest(folder)
    delete_abandoned(folder)
    faults, digests = _inspect(folder, manifest)
    if faults:
        raise InvalidParameterError(
            f"out must hold a whole release, got {str(folder)!r}: {_listed(faults)}"
        )
    if not manifest["complete"]:
        manifest |= {"complete": True, "shards": digests}
        write_manifest(folder, manifest)
    return manifest


def verify(out: str | os.PathLike[str]) -> list[str]:
    """Whether a release is complete and unchanged since it was sealed.

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
    manifest = read_manifest(folder)
    faults, _ = _inspect(folder, manifest)
    if not manifest["complete"]:
        faults.append("It is not sealed.")
    return faults


def read_bags(out: str | os.PathLike[str]) -> tuple[np.ndarray, Any]:
    """Read the ids and bags of a sealed release.

    Parameters
    ----------
    out : path
        Folder of a release by a perturber with ``output="bow"``.

    Returns
    -------
    ids : ndarray of str objects, shape (n_documents,)
        Ids of the documents.
    bags : sparse matrix in CSR format, of shape (n_documents, n_words), int64
        Column j is word j of the embedding.

    Raises
    ------
    InvalidParameterError
        If `out` is not such a folder, holds no bags, or is not sealed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.release import (
    ...     DocumentRelease, ReleaseKey, read_bags, release_files, seal)
    >>> embedding = WordEmbedding(["good", "great", "bad"], [[2.0], [2.1], [-2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1e6, document_length=2,
    ...     resize="sample")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, out = Path(folder, "in.jsonl"), Path(folder, "out")
    ...     _ = source.write_text('{"id": "a", "text": "good"}\\n')
    ...     key = ReleaseKey.generate(Path(folder, "key"))
    ...     _ = release_files(source, out, DocumentRelease(perturber, key, "bags"))
    ...     _ = seal(out)
    ...     ids, bags = read_bags(out)
    >>> ids.tolist(), bags.toarray().tolist()
    (['a'], [[2, 0, 0]])
    """
    folder, manifest = _sealed(out)
    if manifest["output"] != "bow":
        raise InvalidParameterError(
            'out must hold a release by a perturber with output="bow", got '
            f"{shown(manifest['output'])}."
        )
    ids: list[str] = []
    parts = [(np.empty(0, dtype=np.int64),) * 3]  # words, counts, lengths
    columns = [manifest["columns"]["id"], *BAG_COLUMNS]
    for table in _tables(folder, manifest, columns):
        ids += table.column(0).to_pylist()
        words, counts = (table.column(i).combine_chunks() for i in (1, 2))
        of_table = words.flatten(), counts.flatten(), words.value_lengths()
        parts.append(tuple(p.to_numpy(zero_copy_only=False) for p in of_table))
    words, counts, lengths = map(np.concatenate, zip(*parts, strict=True))
    names = np.empty(len(ids), dtype=object)
    names[:] = ids
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(ids), manifest["embedding"]["words"])
    return names, sparse_result(sp.csr_array((counts, words, offsets), shape=shape))


def _sealed(out: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """A folder and its manifest, if the release is sealed."""
    folder = check_path("out", out)
    manifest = read_manifest(folder)
    if not manifest["complete"]:
        raise InvalidParameterError(
            f"out must hold a sealed release, got {str(folder)!r}: see seal."
        )
    return folder, manifest


def _tables(folder: Path, manifest: dict[str, Any], names: list[str]) -> Iterator[Any]:
    """Columns of all files, in the order of the documents."""
    for shard in shards_of(manifest):
        place = Input(shard.name, folder / shard.name, manifest["shard_format"])
        groups = place.groups(types_of(names), manifest["batch_rows"])
        yield from chain.from_iterable(groups)


def _inspect(
    folder: Path, manifest: dict[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """What is wrong, and the digests of the files."""
    names = {path.name for path in folder.iterdir() if path.name[0] != "."}
    # as many as are there and a few more: a damaged manifest may name billions
    shards = list(islice(shards_of(manifest), len(names) + _MOST_MISSING))
    extra = sorted(names - {shard.name for shard in shards} - {FILE_NAME})
    more = n_shards(manifest) - len(shards)
    faults = [] if more else [f"{name} is not part of the release." for name in extra]
    digests = {}
    sealed = manifest.get("shards")
    for name, rows in shards:
        if name not in names:
            faults.append(f"{name} is missing.")
            continue
        path = folder / name
        try:
            digest = digests[name] = digest_of(path)
        except OSError as error:
            faults.append(f"{name} cannot be read: {error.strerror}.")
            continue
        if sealed is None:
            faults += _miscounted(path, manifest["shard_format"], rows)
        elif sealed.get(name) != digest:
            faults.append(f"{name} has changed since it was sealed.")
    if more:
        faults.append(
            f"{more:,} files more should be there, or the manifest is damaged: "
            f"{len(names):,} files are there."
        )
    return faults, digests


def _miscounted(path: Path, form: str, rows: int) -> list[str]:
    try:
        n_rows = Input(path.name, path, form).count_rows()
    except (OSError, ValueError) as error:
        return [f"{path.name} cannot be read: {error}."]
    if n_rows == rows:
        return []
    return [f"{path.name} holds {n_rows} documents instead of {rows}."]


def _listed(faults: list[str]) -> str:
    more = f" And {len(faults) - 5} more." if len(faults) > 5 else ""
    return " ".join(faults[:5]) + more
