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
    _claim(place / "search.txt", _fingerprint(index, queries, k))
    asked = index.bags if queries is None else queries
    every = list(blocks(len(asked), BLOCK_SIZE))
    missing = [block for block in every if not _path(place, block).exists()]
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
                    _path(place, block),
                )
                for block in missing[turn]
            )
            bar.update(sum(counts))
    distances = np.empty((len(asked), k))
    rows = np.empty((len(asked), k), dtype=np.intp)
    for block in every:
        with np.load(_path(place, block)) as file:
            distances[block], rows[block] = file["distances"], file["rows"]
    return distances, rows


def _path(folder: Path, block: slice) -> Path:
    return folder / f"neighbors-{block.start:09d}.npz"


def _search(
    index: BagIndex, queries: WordBags, k: int, exclude: np.ndarray | None, path: Path
) -> int:
    distances, rows, _ = index.nearest(queries, k, exclude=exclude)
    with replacing(path) as file:
        np.savez(file, distances=distances, rows=rows)
    return len(queries)


def _fingerprint(index: BagIndex, queries: WordBags | None, k: int) -> str:
    """Of all that the neighbours depend on."""
    digest = blake2b(f"{k} {BLOCK_SIZE} {queries is None}".encode(), digest_size=16)
    for bags in (index.bags, queries):
        if bags is not None:
            for array in (bags.starts, bags.ids, bags.weights):
                digest.update(np.ascontiguousarray(array).data)
    if index.vectors is not None:
        digest.update(np.ascontiguousarray(index.vectors).data)
    return digest.hexdigest()


def _claim(path: Path, fingerprint: str) -> None:
    """Write which search the files are of, or refuse those of another."""
    if not path.exists():
        with replacing(path) as file:
            file.write(fingerprint.encode())
    elif path.read_text() != fingerprint:
        raise InvalidParameterError(
            "folder must be empty or hold the neighbours of the same documents, "
            "embedding and n_neighbors, got those of another search."
        )
