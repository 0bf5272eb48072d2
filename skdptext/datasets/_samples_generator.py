"""Generate synthetic embeddings and documents."""

from typing import Any

import numpy as np

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_kind, check_real, check_rng

# Ratio of the standard deviations along the widest and the narrowest axis.
_AXIS_RATIO = 10.0
# Spread of the densest and of the sparsest cluster; the centers spread by about 1.
_SPREADS = (0.05, 0.8)


def make_embedding(
    n_words: int = 1000,
    dim: int = 50,
    *,
    n_clusters: int = 20,
    random_state: Any = None,
) -> WordEmbedding:
    """Make a random word embedding with dense and sparse regions.

    Words lie in clusters. The spreads of the clusters range, evenly in the logarithm,
    from 0.05 to 0.8 of the spread of their centers: the first words are crowded and the
    last ones isolated. The embedding is stretched along one random axis ten times as
    much as along another, with the trace of its covariance near `dim`: noise that
    ignores its shape (``lam=0``) differs from noise that follows it (``lam=1``).

    Parameters
    ----------
    n_words : int, default=1000
        Number of words, named ``w0``, ``w1``, …; consecutive words share a cluster.
    dim : int, default=50
        Dimension of the vectors.
    n_clusters : int, default=20
        Number of clusters, at most `n_words`, as equal in size as possible.
    random_state : int, numpy.random.Generator or None, default=None
        Source of randomness, as for `numpy.random.default_rng`.

    Returns
    -------
    embedding : WordEmbedding of shape (n_words, dim)
        The synthetic words and vectors.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> from skdptext.datasets import make_embedding
    >>> make_embedding(100, 8, n_clusters=5, random_state=0)
    WordEmbedding(100 words, 8 dimensions)
    """
    n_words = check_integer("n_words", n_words, low=1)
    dim = check_integer("dim", dim, low=1)
    n_clusters = check_integer("n_clusters", n_clusters, low=1)
    if n_clusters > n_words:
        raise InvalidParameterError(
            f"n_clusters must be <= n_words ({n_words}), got {n_clusters}."
        )
    rng = check_rng(random_state)
    cluster = np.arange(n_words) * n_clusters // n_words
    spread = np.geomspace(*_SPREADS, n_clusters)[cluster]
    vectors = rng.normal(size=(n_clusters, dim))[cluster]
    vectors += spread[:, None] * rng.normal(size=(n_words, dim))
    # The squared axis scales sum to dim, so the trace is preserved.
    scale = np.geomspace(_AXIS_RATIO, 1.0, dim)
    vectors *= scale * np.sqrt(dim / np.sum(scale**2))
    # The Q of a random matrix turns the axes away from the coordinates.
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    return WordEmbedding([f"w{i}" for i in range(n_words)], vectors @ turn)


def make_documents(
    embedding: WordEmbedding,
    n_documents: int = 100,
    n_topics: int = 3,
    *,
    length: int | tuple[int, int] = 50,
    concentration: float = 1.0,
    random_state: Any = None,
) -> tuple[list[list[str]], np.ndarray]:
    """Make random documents whose topics are regions of an embedding.

    Each topic has an anchor, a word drawn without replacement. A document draws its
    topic uniformly and its words independently, with probability proportional to
    ``exp(-concentration * d**2 / (2 * h**2))``, where ``d`` is the distance from the
    word to the anchor and ``h`` the median distance of all words to it.

    Parameters
    ----------
    embedding : WordEmbedding
        Source of the words.
    n_documents : int, default=100
        Number of documents.
    n_topics : int, default=3
        Number of topics, at most the number of words.
    length : int or tuple (low, high), default=50
        Number of words of each document. A pair draws it uniformly, both ends included.
        A length of 0 makes empty documents.
    concentration : float, default=1.0
        How closely the words stay near their anchor, >= 0. With 0, topics do not
        differ.
    random_state : int, numpy.random.Generator or None, default=None
        Source of randomness, as for `numpy.random.default_rng`.

    Returns
    -------
    documents : list of list of str
        Token lists.
    topics : ndarray of shape (n_documents,), int
        Topic of each document, in [0, n_topics).

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> embedding = make_embedding(100, 8, n_clusters=5, random_state=0)
    >>> documents, topics = make_documents(
    ...     embedding, 4, 2, length=(3, 6), random_state=0)
    >>> len(documents), topics.shape
    (4, (4,))
    """
    check_kind(embedding, WordEmbedding, "embedding must be a WordEmbedding")
    n_documents = check_integer("n_documents", n_documents, low=0)
    n_topics = check_integer("n_topics", n_topics, low=1)
    if n_topics > len(embedding):
        raise InvalidParameterError(
            f"n_topics must be <= the number of words ({len(embedding)}), "
            f"got {n_topics}."
        )
    ends = length if isinstance(length, tuple | list) else (length, length)
    if len(ends) != 2:
        raise InvalidParameterError(
            f"length must be an integer or a pair (low, high), got {len(ends)} of them."
        )
    low = check_integer("length", ends[0], low=0)
    high = check_integer("length", ends[1], low=low)
    concentration = check_real("concentration", concentration, low=0)
    rng = check_rng(random_state)

    vectors = embedding.vectors.astype(np.float64)
    chances = []
    for anchor in rng.choice(len(embedding), size=n_topics, replace=False):
        squared = ((vectors - vectors[anchor]) ** 2).sum(axis=1)
        # If all words are in one place, there are no regions, and any scale will do.
        scale = np.median(squared) or 1.0
        weight = np.exp(-concentration * squared / (2 * scale))
        chances.append(weight / weight.sum())
    topics = rng.integers(n_topics, size=n_documents)
    lengths = rng.integers(low, high, endpoint=True, size=n_documents)
    words = embedding.word_array
    documents = [
        words[rng.choice(len(words), size=size, p=chances[topic])].tolist()
        for topic, size in zip(topics, lengths, strict=True)
    ]
    return documents, topics
