"""Word vectors trained on the docstring corpus."""

import re

from skdptext.datasets._base import data_home
from skdptext.datasets._docstrings import cache_key, load_docstrings
from skdptext.embeddings import WordEmbedding
from skdptext.utils import check_integer, import_gensim

_TOKEN = re.compile(r"\b\w\w+\b")

# Skip-gram (sg) distinguishes rare words better than bag-of-words on so small a corpus.
# With more than one worker, the order of updates varies, and so do the bits.
_TRAINING = {"sg": 1, "window": 5, "negative": 5, "epochs": 5, "seed": 0, "workers": 1}


def load_docstring_embedding(
    *,
    dim: int = 100,
    n_words: int | None = None,
    min_count: int = 8,
) -> WordEmbedding:
    """Load word vectors trained on the docstring corpus, without a download.

    gensim's Word2Vec (skip-gram, negative sampling [1]_) is trained once on all texts
    of `load_docstrings`, including near-copies. The result is kept in the folder that
    the environment variable ``SKDPTEXT_CACHE`` names, or else in your cache folder. It
    is read from there until a parameter, or the version of Python or of one of the five
    libraries changes.

    Parameters
    ----------
    dim : int, default=100
        Dimension of the vectors.
    n_words : int, default=None
        Keep only the n most frequent words, if there are more, with the same vectors as
        in the whole embedding. None keeps all.
    min_count : int, default=8
        Leave out words that occur fewer times in the corpus; at most 1,000. The default
        keeps about 7,000 words.

    Returns
    -------
    embedding : WordEmbedding of about 7,000 words
        Lowercased words of at least two characters that are not numbers, the most
        frequent first. The vectors are not scaled to unit length: the median norm is
        about 2.4, and the median distance to the nearest other word about 1.2. Choose
        epsilon with the latter in mind.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.
    ImportError
        If gensim, which has no wheel for Python 3.14, is needed and missing.

    Notes
    -----
    Training takes some 15 seconds and is repeatable: the same versions on the same
    machine give the same bits. Different processors may differ in the last bits.

    *Privacy.* The vectors are learned from public text, as the guarantees require.

    References
    ----------
    .. [1] Mikolov, T., Sutskever, I., Chen, K., Corrado, G. and Dean, J. (2013).
       Distributed representations of words and phrases and their compositionality.
       Advances in Neural Information Processing Systems 26.

    Examples
    --------
    >>> from skdptext.datasets import load_docstring_embedding
    >>> embedding = load_docstring_embedding()
    >>> embedding.dim, "eigenvalue" in embedding
    (100, True)
    """
    dim = check_integer("dim", dim, low=1)
    # Some words occur more often than this bound, so training always has words.
    min_count = check_integer("min_count", min_count, low=1, high=1000)
    name = f"docstring-embedding-{dim}d-{min_count}-{cache_key()}.npz"
    path = data_home() / name
    if not path.exists():
        texts = load_docstrings(near_copies=True).data
        # If two processes train at once, they get the same vectors, and the later file
        # replaces the other.
        _train(texts, dim, min_count).save(path)
    return WordEmbedding.load(path, n_words)


def _train(texts: list[str], dim: int, min_count: int) -> WordEmbedding:
    sentences = [
        [token for token in _TOKEN.findall(text.lower()) if not token.isdigit()]
        for text in texts
    ]
    model = import_gensim("load_docstring_embedding").models.Word2Vec(
        sentences, vector_size=dim, min_count=min_count, **_TRAINING
    )
    return WordEmbedding(model.wv.index_to_key, model.wv.vectors)
