"""The library's own format: NumPy's ``.npz``, laid out to be memory-mapped."""

from __future__ import annotations

import errno
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from skdptext.embeddings._checks import (
    EXPANDS,
    MAX_DIM,
    MAX_WORD,
    expands_too_much,
    freeze,
)
from skdptext.embeddings._gensim import SubwordVectors, check_subwords
from skdptext.embeddings._index import check_words
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import blocks, quiet

# Bytes: a cache line, and the widest vector register, so that loads of a memory map
# never straddle two.
_ALIGNMENT = 64
_LOCAL_HEADER = 30  # bytes of a zip member's header before its name
_ZIP64_FIELD = 20
_NPY_READERS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
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
            # A fixed date: equal embeddings give equal files
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            start = file.tell() + _LOCAL_HEADER + len(info.filename) + _ZIP64_FIELD
            # 4 bytes: id and size of the padding itself
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
            names = archive.namelist()
            missing = {"words.npy", "vectors.npy"} - set(names)
            if missing:
                raise ValueError(
                    "needs arrays named 'words' and 'vectors', has "
                    f"{sorted(name.removesuffix('.npy')[:40] for name in names)[:9]}"
                )
            n_rows = {
                name: _read_header(path, archive, name).shape[0]
                for name in ("words.npy", "vectors.npy")
            }
            if n_rows["words.npy"] != n_rows["vectors.npy"]:
                raise ValueError(
                    f"has {n_rows['words.npy']} words but {n_rows['vectors.npy']} "
                    "vectors"
                )
            words = check_words(_read_words(path, archive, n_words))
            vectors = _read_array(path, archive, "vectors.npy", n_words)
            subwords = None
            if {"subword_buckets.npy", "subword_lengths.npy"} <= set(names):
                lengths = _read_array(path, archive, "subword_lengths.npy", None)
                if lengths.shape != (2,) or lengths.dtype.kind not in "iu":
                    raise ValueError("subword_lengths must be two whole numbers")
                buckets = _read_array(path, archive, "subword_buckets.npy", None)
                subwords = check_subwords(
                    buckets, lengths[0], lengths[1], vectors.shape[-1]
                )
    except InvalidParameterError as error:
        raise InvalidParameterError(f"{path}: {error}") from None
    except OSError as error:
        # a place in front of the file; what cannot be opened has its name in the error
        if error.errno != errno.EINVAL or error.filename is not None:
            raise
        raise InvalidParameterError(
            f"{path}: cannot be read as an embedding: a place that it names is not in "
            "it."
        ) from None
    except (
        ValueError,
        EOFError,
        RuntimeError,  # encrypted, or by a feature of zip that Python does not know
        struct.error,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise InvalidParameterError(
            f"{path}: cannot be read as an embedding: {error}."
        ) from error
    return words, vectors, subwords


class _Header(NamedTuple):
    """A member's header; it never claims more bytes than the archive can hold."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype
    start: int  # of the data, in the member


def _read_words(
    path: Path, archive: zipfile.ZipFile, n_rows: int | None
) -> Iterator[str]:
    """The words, in blocks: padded to one length they may be far larger than they are.

    The caller stops at a repeated word, so that zeros cannot go on for ever.
    """
    header = _read_header(path, archive, "words.npy")
    if header.dtype.kind != "U" or len(header.shape) != 1:
        raise ValueError(
            f"words must be a 1-D array of str (dtype U), got {header.dtype} of shape "
            f"{header.shape}"
        )
    size = header.dtype.itemsize
    if not 0 < size <= 4 * MAX_WORD:
        raise ValueError(f"words of {size // 4} characters, the most is {MAX_WORD}")
    n = header.shape[0] if n_rows is None else min(n_rows, header.shape[0])
    with archive.open(header.info) as member:
        member.read(header.start)
        for rows in blocks(n, max(1, (1 << 20) // size)):
            n_bytes = (rows.stop - rows.start) * size
            block = np.frombuffer(_exactly(member, "words.npy", n_bytes), "u1")
            yield from _decoded(block, header.dtype)


def _decoded(block: np.ndarray, dtype: np.dtype) -> list[str]:
    codes = block.view(np.dtype("u4").newbyteorder(dtype.byteorder))
    if (codes > 0x10FFFF).any() or ((codes >= 0xD800) & (codes < 0xE000)).any():
        raise ValueError("words.npy holds numbers that are not characters")
    return list(block.view(dtype).tolist())


def _exactly(member: IO[bytes], name: str, n_bytes: int) -> bytes:
    data = member.read(n_bytes)
    if len(data) < n_bytes:
        raise ValueError(f"{name} is cut short")
    return data


def _read_array(
    path: Path, archive: zipfile.ZipFile, name: str, n_rows: int | None
) -> np.ndarray:
    """First rows of a member, mapped if it is stored uncompressed as float32."""
    info, shape, fortran, dtype, start = _read_header(path, archive, name)
    rows = shape[0] if n_rows is None else min(n_rows, shape[0])
    offset = _data_offset(path, info) + start
    if (
        info.compress_type == zipfile.ZIP_STORED
        and dtype == np.dtype("=f4")
        and not fortran
        and 0 not in shape
        and offset % dtype.itemsize == 0
    ):
        return np.memmap(path, dtype, "r", offset, (rows, *shape[1:]))
    with archive.open(info) as member:
        member.read(start)
        if fortran and len(shape) > 1:
            data = _exactly(member, name, dtype.itemsize * math.prod(shape))
            whole = np.frombuffer(data, dtype).reshape(shape, order="F")
            return freeze(whole[:rows].copy("C"))
        wanted = (rows, *shape[1:])
        if 0 in wanted:
            return np.empty(wanted, dtype)
        data = _exactly(member, name, dtype.itemsize * math.prod(wanted))
        return np.frombuffer(data, dtype).reshape(wanted)


def _read_header(path: Path, archive: zipfile.ZipFile, name: str) -> _Header:
    """Shape, Fortran order, dtype of a member, and where its data start."""
    if archive.namelist().count(name) > 1:
        raise ValueError(f"{name} occurs twice")
    info = archive.getinfo(name)
    _check_member(path, info)
    with archive.open(info) as member:
        version = npy.read_magic(member)
        if version not in _NPY_READERS:
            raise ValueError(f"{name} is of an unknown npy version {version}")
        try:
            with quiet(Warning):  # a header of Python 2
                shape, fortran, dtype = _NPY_READERS[version](member)
        except Exception as error:  # tokenizer, parser and dtype raise various errors
            raise ValueError(f"{name} has a broken npy header ({error})") from error
        start = member.tell()
    if dtype.hasobject:
        raise ValueError(
            f"{name} is an object array, which would have to be unpickled; save "
            "words as np.array(words, dtype=str)"
        )
    if dtype.itemsize == 0:
        raise ValueError(f"{name} is of dtype {dtype}, whose items have no bytes")
    if not shape:
        raise ValueError(f"{name} is a single number, not an array")
    if min(shape) < 0 or math.prod(shape[1:]) > MAX_DIM:
        raise ValueError(
            f"{name} promises a shape of {len(shape)} sizes that is not allowed: they "
            f"must be >= 0, and the dimensions at most {MAX_DIM}"
        )
    if start + dtype.itemsize * math.prod(shape) > info.file_size:
        raise ValueError(f"{name} is cut short")
    return _Header(info, shape, fortran, dtype, start)


def _check_member(path: Path, info: zipfile.ZipInfo) -> None:
    """Refuse what NumPy never writes, and sizes that the file cannot have."""
    if info.flag_bits & 1:
        raise ValueError(f"{info.filename} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename} is compressed, but not by deflate")
    stored = info.compress_type == zipfile.ZIP_STORED
    if (stored and info.file_size != info.compress_size) or (
        _data_offset(path, info) + info.compress_size > path.stat().st_size
    ):
        raise ValueError(f"{info.filename} is cut short")
    if expands_too_much(info.compress_size, info.file_size) and (
        info.filename != "words.npy"  # padded with zeros, and read in blocks
    ):
        raise ValueError(f"{info.filename} {EXPANDS}")


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes start in the file."""
    with open(path, "rb") as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER:
        raise ValueError(f"{info.filename} is cut short")
    name, extra = struct.unpack("<HH", header[26:30])
    return info.header_offset + _LOCAL_HEADER + name + extra
