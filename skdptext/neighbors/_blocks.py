"""A search of hours, in blocks that are kept as files."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdptext.exceptions import InvalidParameterError
from skdptext.transport import BagIndex, WordBags, slice_bags
from skdptext.utils import blocks, progress_bar, replacing

BLOCK_SIZE = 4096  # queries of a block


def search_in_blocks(
    index: BagIndex,
    queries: WordBags | None,
    k: int,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Distances and numbers of the nearest bags, from files where these exist.

    Parameters
    ----------
    index : BagIndex
    queries : WordBags or None
        None: the bags of the index, none its own neighbour.
    folder : path
        Made where it does not exist.
    """
    try:
        place = Path(folder)
    except TypeError:
        raise InvalidParameterError(
            f"folder must be a str or a path, got {type(folder).__name__}."
        ) from None
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidParameterError(
            f"folder must be a folder, or not exist yet, got the file {place}."
        ) from None
    search = _fingerprint(index, queries, k)
    _claim(place / "search.txt", search)
    asked = index.bags if queries is None else queries
    distances = np.empty((len(asked), k))
    rows = np.empty((len(asked), k), dtype=np.intp)
    every = list(blocks(len(asked), BLOCK_SIZE))
    missing = [
        block
        for block in every
        if not _read(_path(place, search, block), search, distances[block], rows[block])
    ]
    # a hint only: joblib's context may send the blocks to processes or a cluster
    parallel = Parallel(n_jobs=n_jobs, prefer="threads")
    with progress_bar(verbose, "neighbours", total=len(asked), unit="doc") as bar:
        bar.update(len(asked) - sum(block.stop - block.start for block in missing))
        # in turns, as not every backend hands out results one by one
        for turn in blocks(len(missing), 8 * effective_n_jobs(n_jobs)):
            counts = parallel(
                delayed(_search)(
                    index,
                    slice_bags(asked, block),
                    k,
                    np.arange(block.start, block.stop) if queries is None else None,
                    _path(place, search, block),
                    search,
                )
                for block in missing[turn]
            )
            bar.update(sum(counts))
    for block in missing:
        path = _path(place, search, block)
        if not _read(path, search, distances[block], rows[block]):
            raise InvalidParameterError(
                "folder must keep the blocks as they are written there, but "
                f"{path} was deleted or changed at once."
            )
    return distances, rows


def _path(folder: Path, search: str, block: slice) -> Path:
    return folder / f"neighbors-{search}-{block.start:09d}.bin"


# A file is a checksum, distances and rows: nothing in it is interpreted.
_DISTANCE, _ROW, _CHECKSUM = "<f8", "<i8", 32


def _checksum(path: Path, search: str, content: bytes) -> bytes:
    """Of a file and of its name: a block under the name of another is not valid."""
    digest = blake2b(content, digest_size=_CHECKSUM, key=search.encode())
    digest.update(path.name.encode())
    return digest.digest()


def _read(path: Path, search: str, distances: np.ndarray, rows: np.ndarray) -> bool:
    """Fill both from the file of a block; False where it is missing or not intact."""
    if path.exists() and not path.is_file():  # to open a pipe would wait for its writer
        raise InvalidParameterError(f"folder must hold files, but {path} is none.")
    size = _CHECKSUM + 16 * rows.size
    try:
        with open(path, "rb") as file:
            content = file.read(size + 1)
    except FileNotFoundError:
        return False
    if len(content) != size:
        return False
    written, values = content[:_CHECKSUM], content[_CHECKSUM:]
    if written != _checksum(path, search, values):
        return False
    half = len(values) // 2
    distances[...] = np.frombuffer(values[:half], _DISTANCE).reshape(distances.shape)
    rows[...] = np.frombuffer(values[half:], _ROW).reshape(rows.shape)
    return True


def _search(
    index: BagIndex,
    queries: WordBags,
    k: int,
    exclude: np.ndarray | None,
    path: Path,
    search: str,
) -> int:
    distances, rows, _ = index.nearest(queries, k, exclude=exclude)
    values = distances.astype(_DISTANCE).tobytes() + rows.astype(_ROW).tobytes()
    with replacing(path, private=True) as file:
        file.write(_checksum(path, search, values) + values)
    return len(queries)


def _fingerprint(index: BagIndex, queries: WordBags | None, k: int) -> str:
    """Of all that the neighbours depend on."""
    given = f"{k} {BLOCK_SIZE} {queries is None} {index.vectors is None}"
    digest = blake2b(given.encode(), digest_size=16)
    every = [index.vectors]
    for bags in (index.bags, queries):
        if bags is not None:
            every += [bags.starts, bags.ids, bags.weights]
    for array in every:
        if array is not None:
            # equal bytes of another shape are other numbers
            digest.update(f"{array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _claim(path: Path, fingerprint: str) -> None:
    """Write which search the files are of, or refuse those of another.

    So that nobody mixes them up: no search reads the blocks of another, which have
    other names.
    """
    own = fingerprint.encode()
    try:
        with open(path, "xb", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(own)
        return
    except FileExistsError:
        if not path.is_file():
            raise InvalidParameterError(
                f"folder must hold files, but {path} is none."
            ) from None
    with open(path, "rb") as file:
        found = file.read(len(own) + 1)
    if found == own:
        return
    if len(found) >= len(own):
        raise InvalidParameterError(
            "folder must be empty or hold the neighbours of the same documents, "
            f"embedding and n_neighbors, got those of another search, as {path} says."
        )
    with replacing(path, private=True) as file:  # who began to write it was stopped
        file.write(own)
