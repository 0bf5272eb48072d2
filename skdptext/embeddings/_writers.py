"""Writers of embedding files, which appear complete or not at all."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from skdptext.embeddings._gensim import SubwordVectors
from skdptext.embeddings._npz import write_npz
from skdptext.embeddings._readers import path_and_suffix
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import replacing

# What separates words from numbers, so that no word can hold it
_FORBIDDEN = {"text": " \t\n\r\x0b\x0c", "binary": " \n"}


def write(
    path: Any,
    words: tuple[str, ...],
    vectors: np.ndarray,
    subwords: SubwordVectors | None,
) -> None:
    """Write the embedding in the format that the suffix names."""
    path, suffix = path_and_suffix(path)
    form = {".npz": "npz", ".bin": "binary", ".bin.gz": "binary"}.get(suffix, "text")
    _check_writable(words, form, suffix)
    if subwords is not None and form != "npz":
        warnings.warn(
            f"{suffix} files hold no subword vectors: {str(path)!r} will hold the "
            "words and their vectors only. Save as .npz to keep them.",
            UserWarning,
            stacklevel=3,  # the caller of WordEmbedding.save
        )
    target = Path(os.path.realpath(path))  # through a link, as open() would
    with replacing(target) as file:
        if form == "npz":
            write_npz(file, words, vectors, subwords)
        elif suffix.endswith(".gz"):
            # No name or time, so that equal embeddings give equal files
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                _write_rows(packed, form, words, vectors)
        else:
            _write_rows(file, form, words, vectors)


def _check_writable(words: tuple[str, ...], form: str, suffix: str) -> None:
    """Refuse words that would be read back differently."""
    for i, word in enumerate(words):
        problem = None
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            problem = "cannot be encoded in UTF-8"
        if form == "npz" and word.endswith("\0"):
            problem = "ends in a null character, which NumPy drops"
        if form in _FORBIDDEN and (
            not word or not set(word).isdisjoint(_FORBIDDEN[form])
        ):
            problem = "is empty or holds white space"
        if problem:
            raise InvalidParameterError(
                f"words must be such that {suffix} can hold them, got {word[:40]!r} at "
                f"position {i}, which {problem}."
            )


def _write_rows(
    file: Any, form: str, words: tuple[str, ...], vectors: np.ndarray
) -> None:
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    if form == "binary":
        for word, row in zip(words, vectors.astype("<f4", copy=False), strict=True):
            file.write(word.encode() + b" " + row.tobytes())
        return
    # Nine digits tell every float32 from every other
    numbers = " ".join(["%.9g"] * vectors.shape[1])
    for word, row in zip(words, vectors, strict=True):
        file.write(f"{word} {numbers % tuple(row.tolist())}\n".encode())
