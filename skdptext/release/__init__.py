"""Releases past one machine: one function that every engine maps, and files."""

from skdptext.release._documents import DocumentRelease
from skdptext.release._files import begin_files as begin_files, release_files
from skdptext.release._key import ReleaseKey
from skdptext.release._manifest import told_by as told_by
from skdptext.release._sealed import (
    read_bags,
    seal,
    verify,
)

__all__ = [
    "DocumentRelease",
    "ReleaseKey",
    "read_bags",
    "release_files",
    "seal",
    "verify",
]
