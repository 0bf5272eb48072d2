"""Downloads that are verified before they are kept."""

from __future__ import annotations

import gzip
import hashlib
import io
import logging
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from skdptext.datasets._base import get_data_home
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_flag, replacing, shown

_logger = logging.getLogger("skdptext.datasets")

# Not LZMA, whose header may ask for gigabytes.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Limit of a file, a download and what it unpacks to: a hundred times the larger set.
_MAX_BYTES = 1 << 27


class PublicSet(NamedTuple):
    """A public data set and how to verify it.

    The checksum is that of the records, not of the file: the same set is served as an
    archive, a plain file and a compressed file, and archives are repacked. `read`
    parses a file's bytes into records, `canonical` gives their canonical form.
    """

    name: str  # what errors call it
    cache_name: str
    file_names: tuple[str, ...]  # accepted in SKDPTEXT_DATA, the first found is taken
    member: str  # name of the file inside an archive
    url: str
    sha256: str  # of canonical(read(file))
    read: Callable[[str], list[dict[str, str]]]
    canonical: Callable[[list[dict[str, str]]], str]


class _BadContentError(Exception):
    """The bytes are not the expected data set; the message says why."""


def fetch(
    public_set: PublicSet,
    *,
    url: str | None,
    data_home: str | os.PathLike[str] | None,
    download_if_missing: bool,
) -> list[dict[str, str]]:
    """Verified records: from SKDPTEXT_DATA if set, else the cache, else the network."""
    if url is not None and not (
        isinstance(url, str) and url.startswith(("http://", "https://"))
    ):
        raise InvalidParameterError(
            f"url must be an http:// or https:// address or None, got {shown(url)}."
        )
    download_if_missing = check_flag("download_if_missing", download_if_missing)
    folder = os.environ.get("SKDPTEXT_DATA")
    if folder:
        return _from_folder(public_set, Path(folder).expanduser())

    cached = Path(get_data_home(data_home)) / public_set.cache_name
    if cached.exists():
        try:
            return _verify(public_set, _read_file(cached))
        except _BadContentError as error:
            _logger.warning("%s is damaged (%s); fetching it anew.", cached, error)
    if not download_if_missing:
        raise OSError(
            f"{public_set.name}: no valid copy at {cached}, and "
            "download_if_missing=False forbids fetching one."
        )
    url = url or public_set.url
    try:
        table = _unpack(public_set, _download(url))
        records = _verify(public_set, table)
    except _BadContentError as error:
        raise OSError(_advice(public_set, url, cached, str(error))) from error
    except OSError as error:  # as are those of requests, which pooch uses
        problem = f"{type(error).__name__}: {error}"
        # the advice holds the reason; pooch's traceback would be ninety lines more
        raise ConnectionError(_advice(public_set, url, cached, problem)) from None
    with replacing(cached) as file:
        file.write(table)
    return records


def _advice(public_set: PublicSet, url: str, cached: Path, problem: str) -> str:
    return (
        f"{public_set.name} could not be fetched from {url} ({problem}). "
        f"Nothing was written to {cached}. Without access to the network, put one of "
        f"{', '.join(public_set.file_names)} into a folder and let the environment "
        "variable SKDPTEXT_DATA name that folder; or give the url of a mirror."
    )


def _from_folder(public_set: PublicSet, folder: Path) -> list[dict[str, str]]:
    for name in public_set.file_names:
        path = folder / name
        if path.is_file():
            try:
                return _verify(public_set, _unpack(public_set, _read_file(path)))
            except _BadContentError as error:
                raise OSError(
                    f"{public_set.name}: {path}, in the folder that SKDPTEXT_DATA "
                    f"names, is not the file expected: {error}."
                ) from error
    raise FileNotFoundError(
        f"{public_set.name}: the folder that SKDPTEXT_DATA names, {folder}, has none "
        f"of {', '.join(public_set.file_names)}. Put one there, or unset "
        "SKDPTEXT_DATA to download it."
    )


# -- the network -----------------------------------------------------------------


class _Received(io.BytesIO):
    """Collects what a server sends, up to a limit."""

    def write(self, chunk: Any) -> int:
        _check_size(self.tell() + len(chunk))
        return super().write(chunk)


def _download(url: str) -> bytes:
    import pooch

    received = _Received()
    pooch.HTTPDownloader()(url, received, None)
    return received.getvalue()


# -- what was received -----------------------------------------------------------


def _check_size(n_bytes: int) -> None:
    if n_bytes > _MAX_BYTES:
        raise _BadContentError(f"it has more than {_MAX_BYTES >> 20} MiB")


def _read_file(path: Path) -> bytes:
    with open(path, "rb") as file:
        return _read_all(file)


def _read_all(file: IO[bytes] | gzip.GzipFile) -> bytes:
    content = file.read(_MAX_BYTES + 1)
    _check_size(len(content))
    return content


def _unpack(public_set: PublicSet, content: bytes) -> bytes:
    """The file inside a zip archive or a gzip file, or the bytes as they are."""
    try:
        if content.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [
                    name
                    for name in archive.namelist()
                    if name.rpartition("/")[2] == public_set.member
                ]
                if not members:
                    raise _BadContentError(
                        f"the archive has no {public_set.member}, only "
                        f"{', '.join(archive.namelist()[:9])}"
                    )
                info = archive.getinfo(members[0])
                if info.compress_type not in _METHODS:
                    raise _BadContentError("the archive's compression is not allowed")
                with archive.open(info) as member:
                    return _read_all(member)
        if content.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                return _read_all(file)
    except (
        EOFError,
        RuntimeError,  # encrypted, or by a feature of zip that Python does not know
        ValueError,
        gzip.BadGzipFile,
        struct.error,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise _BadContentError(f"the archive is damaged: {error}") from error
    return content


def _verify(public_set: PublicSet, table: bytes) -> list[dict[str, str]]:
    """The records, if their checksum is the expected one."""
    try:
        text = table.decode("utf-8-sig").replace("\r\n", "\n")
        records = public_set.read(text)
        canonical = public_set.canonical(records)
    except (UnicodeDecodeError, ValueError, KeyError) as error:
        raise _BadContentError(f"it does not parse: {error}") from error
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    if digest != public_set.sha256:
        raise _BadContentError(
            f"wrong checksum: SHA-256 of its {len(records)} records is {digest}, not "
            f"{public_set.sha256}"
        )
    return records
