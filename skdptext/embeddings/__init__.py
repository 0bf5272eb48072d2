"""Word embeddings, their files, and exact nearest words."""

from skdptext.embeddings._embedding import (
    WordEmbedding,
    check_columns as check_columns,
    check_embedding as check_embedding,
    column_names as column_names,
    one_hot_embedding,
    plain_words as plain_words,
)
from skdptext.embeddings._nearest import (
    half_squared_norms as half_squared_norms,
    k_nearest_words as k_nearest_words,
    nearest_words as nearest_words,
)

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = [
    "WordEmbedding",
    "one_hot_embedding",
]
