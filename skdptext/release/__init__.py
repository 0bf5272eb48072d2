"""Releases past one machine: one function that every engine maps, and files."""

from skdptext.release._documents import DocumentRelease, told_by as told_by
from skdptext.release._files import release_files, verify
from skdptext.release._key import ReleaseKey
from skdptext.release._outputs import claimed as claimed
from skdptext.release._tables import (
    column_names as column_names,
    read_columns as read_columns,
)

__all__ = ["DocumentRelease", "ReleaseKey", "release_files", "verify"]
