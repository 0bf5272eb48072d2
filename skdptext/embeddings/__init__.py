"""Word embeddings, and the readers and writers of their files."""

from skdptext.embeddings._embedding import WordEmbedding
from skdptext.embeddings._resolve import (
    check_columns,
    check_embedding,
    column_names,
    one_hot_embedding,
)

__all__ = [
    "WordEmbedding",
    "check_columns",
    "check_embedding",
    "column_names",
    "one_hot_embedding",
]
