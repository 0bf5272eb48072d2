"""Word embeddings, and the readers and writers of their files."""

from skdptext.embeddings._embedding import WordEmbedding
from skdptext.embeddings._index import plain_words as plain_words
from skdptext.embeddings._embedding import (
    check_columns as check_columns,
    check_embedding as check_embedding,
    column_names as column_names,
    one_hot_embedding,
)

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = [
    "WordEmbedding",
    "one_hot_embedding",
]
