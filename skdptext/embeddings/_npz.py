"""The library's own format: NumPy's ``.npz``, laid out to be memory-mapped."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from skdptext.embeddings._checks import freeze
from skdptext.embeddings._subwords import SubwordVectors, check_subwords
from skdptext.exceptions import InvalidParameterError

_ALIGNMENT = 64
_LOCAL_HEADER = 30  # bytes of a zip member's header before its name
_ZIP64_FIELD = 20
_PADDING_ID = 0xD935  # the extra field that other tools, too, align members with


def write_npz(
    file: IO[bytes],
    words: tuple[str, ...],
    vectors: np.ndarray,
    subwords: SubwordVectors | None,
) -> None:
    """Write stored (not compressed) members, each aligned for a memory map."""
    members = {"vectors": vectors, "words": np.array(words)}
    if subwords is not None:
        members["subword_buckets"] = subwords.buckets
        members["subword_lengths"] = np.array([subwords.min_n, subwords.max_n])
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in members.items():
            # A fixed date: equal tables give equal files
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            start = file.tell() + _LOCAL_HEADER + len(info.filename) + _ZIP64_FIELD
            padding = -(start + 4) % _ALIGNMENT
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            with archive.open(info, "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)


def read_npz(
    path: Path, n_words: int | None
) -> tuple[Any, np.ndarray, SubwordVectors | None]:
    """Read the first words and vectors; map those vectors that can be mapped."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            missing = {"words.npy", "vectors.npy"} - set(members)
            if missing:
                raise ValueError(
                    "needs arrays named 'words' and 'vectors', has "
                    f"{sorted(name.removesuffix('.npy') for name in members)}"
                )
            n_rows = {
                name: _read_header(archive, name)[0][0]
                for name in ("words.npy", "vectors.npy")
            }
            if n_rows["words.npy"] != n_rows["vectors.npy"]:
                raise ValueError(
                    f"has {n_rows['words.npy']} words but {n_rows['vectors.npy']} "
                    "vectors"
                )
            words = _read_array(path, archive, "words.npy", n_words)
            if words.dtype.kind != "U":
                raise ValueError(
                    f"words must be an array of str (dtype U), got {words.dtype}"
                )
            vectors = _read_array(path, archive, "vectors.npy", n_words)
            subwords = None
            if {"subword_buckets.npy", "subword_lengths.npy"} <= set(members):
                low, high = _read_array(path, archive, "subword_lengths.npy", None)
                buckets = _read_array(path, archive, "subword_buckets.npy", None)
                subwords = check_subwords(buckets, low, high, vectors.shape[-1])
    except (
        ValueError,
        EOFError,
        NotImplementedError,  # a compression that Python does not know
        RuntimeError,  # encrypted
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise InvalidParameterError(
            f"{path}: cannot be read as an embedding: {error}."
        ) from error
    return words.tolist(), vectors, subwords


def _read_array(
    path: Path, archive: zipfile.ZipFile, name: str, n_rows: int | None
) -> np.ndarray:
    """First rows of a member, mapped if it is stored as the table will hold it."""
    shape, fortran, dtype, start = _read_header(archive, name)
    info = archive.getinfo(name)
    rows = shape[0] if n_rows is None else min(n_rows, shape[0])
    offset = _data_offset(path, info) + start
    if (
        info.compress_type == zipfile.ZIP_STORED
        and not info.flag_bits & 1  # encrypted
        and dtype == np.dtype("=f4")
        and not fortran
        and 0 not in shape
        and offset % dtype.itemsize == 0
    ):
        if start + dtype.itemsize * int(np.prod(shape)) > info.file_size:
            raise ValueError(f"{name} is cut short")
        return np.memmap(path, dtype, "r", offset, (rows, *shape[1:]))
    with archive.open(info) as member:
        if fortran and len(shape) > 1:
            return freeze(npy.read_array(member, allow_pickle=False)[:rows].copy("C"))
        wanted = (rows, *shape[1:])
        if 0 in wanted:
            return np.empty(wanted, dtype)
        member.read(start)
        n_bytes = dtype.itemsize * int(np.prod(wanted))
        data = member.read(n_bytes)
        if len(data) < n_bytes:
            raise ValueError(f"{name} is cut short")
        return np.frombuffer(data, dtype).reshape(wanted)


def _read_header(
    archive: zipfile.ZipFile, name: str
) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, Fortran order, dtype of a member, and where its data start."""
    with archive.open(name) as member:
        version = npy.read_magic(member)
        if version == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(member)
        elif version == (2, 0):
            shape, fortran, dtype = npy.read_array_header_2_0(member)
        else:
            raise ValueError(f"{name} is of an unknown npy version {version}")
        if dtype.hasobject:
            raise ValueError(
                f"{name} is an object array, which would have to be unpickled; save "
                "words as np.array(words, dtype=str)"
            )
        if not shape:
            raise ValueError(f"{name} is a single number, not an array")
        return shape, fortran, dtype, member.tell()


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes start in the file."""
    with open(path, "rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
    name, extra = struct.unpack("<HH", header[26:30])
    return info.header_offset + _LOCAL_HEADER + name + extra
