"""Reading documents: texts, token lists and counts become words of an embedding."""

from skdptext.documents._encoding import EncodedDocuments, resample
from skdptext.documents._output import ColumnOutput as ColumnOutput
from skdptext.documents._output import FORMATS, as_column, as_frame, write_documents
from skdptext.documents._reader import (
    DocumentReader,
    read_release,
    some_word_ids,
    word_ids,
)

__all__ = [
    "FORMATS",
    "DocumentReader",
    "EncodedDocuments",
    "as_column",
    "as_frame",
    "read_release",
    "resample",
    "some_word_ids",
    "word_ids",
    "write_documents",
]
