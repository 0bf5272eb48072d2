"""Word vectors trained on the docstring corpus."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from skdptext.datasets import _docstring_corpus, _docstring_topics, _docstrings
from skdptext.datasets._base import get_data_home
from skdptext.datasets._docstrings import library_versions, load_docstrings
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer

_TOKEN = re.compile(r"\b\w\w+\b")

# All that shapes the vectors, except their size; it is part of the cache's name.
# sg: skip-gram tells rare words apart better than bag-of-words on so small a corpus.
_TRAINING = {"sg": 1, "window": 5, "negative": 5, "epochs": 5, "seed": 0}


def load_docstring_embedding(
    *,
    dim: int = 100,
    n_words: int | None = None,
    min_count: int = 8,
    data_home: str | os.PathLike[str] | None = None,
) -> WordEmbedding:
    """Word vectors trained on the docstring corpus; no download.

    gensim's Word2Vec (skip-gram, negative sampling [1]_) is trained on all texts of
    `load_docstrings`, near-copies too, once: the result is kept in the data home and
    read from there until a parameter or the version of one of the five libraries
    changes. On Python 3.14, where gensim cannot be installed, the vectors come from a
    truncated singular value decomposition of positive pointwise mutual information
    [2]_. Neighbours by Word Mover's Distance are a little worse by these.

    Parameters
    ----------
    dim : int, default=100
        Length of a vector.
    n_words : int, default=None
        Keep only the n most frequent words, with the same vectors as in the whole
        embedding. None: all.
    min_count : int, default=8
        Leave out words that occur fewer times in the corpus. The default keeps about
        7,000.
    data_home : str or path-like, default=None
        Folder to keep the vectors in, see `get_data_home`.

    Returns
    -------
    embedding : WordEmbedding of about 7,000 words
        Lowercased words of at least two characters that are not numbers, the most
        frequent first. The vectors are as trained, not of unit length: median norm
        about 2.4, median distance to the nearest other word about 1.2. Choose epsilon
        with the latter in mind.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or `n_words` exceeds the number of words.

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
    .. [2] Levy, O., Goldberg, Y. and Dagan, I. (2015). Improving distributional
       similarity with lessons learned from word embeddings. Transactions of the
       Association for Computational Linguistics 3.

    Examples
    --------
    >>> from skdptext.datasets import load_docstring_embedding
    >>> embedding = load_docstring_embedding()
    >>> embedding.dim, "eigenvalue" in embedding
    (100, True)
    """
    dim = check_integer("dim", dim, low=1)
    min_count = check_integer("min_count", min_count, low=1)
    if n_words is not None:
        n_words = check_integer("n_words", n_words, low=1)
    path = Path(get_data_home(data_home)) / _cache_name(dim, min_count)
    embedding = _read(path, dim)
    if embedding is None:
        texts = load_docstrings(near_copies=True, data_home=data_home).data
        embedding = _train(texts, dim, min_count)
        embedding.save(path)
    if n_words is None:
        return embedding
    if n_words > len(embedding):
        raise InvalidParameterError(
            f"n_words must be <= the number of words ({len(embedding)}), got {n_words}."
        )
    return embedding.restrict(n_words)


def _cache_name(dim: int, min_count: int) -> str:
    # The code that chooses the texts counts as well: another version of skdptext, or a
    # change in a checkout, trains anew.
    modules = _docstring_corpus, _docstring_topics, _docstrings
    code = [inspect.getsource(module) for module in modules]
    key = repr((library_versions(), _TRAINING, min_count, _TOKEN.pattern, code))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return f"docstring-embedding-{dim}d-{digest}.npz"


def _tokens(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text.lower()) if not token.isdigit()]


def _train(texts: list[str], dim: int, min_count: int) -> WordEmbedding:
    sentences = [_tokens(text) for text in texts]
    if not any(n >= min_count for n in Counter(chain(*sentences)).values()):
        raise InvalidParameterError(
            f"min_count must leave at least one word, got {min_count}."
        )
    try:
        from gensim.models import Word2Vec
    except ImportError:  # no wheel for this Python; `library_versions` tells it
        window = _TRAINING["window"]
        return WordEmbedding(*ppmi_vectors(sentences, dim, min_count, window))
    # More than one worker makes the order of updates, and so the bits, vary.
    model = Word2Vec(
        sentences, vector_size=dim, min_count=min_count, workers=1, **_TRAINING
    )
    return WordEmbedding(model.wv.index_to_key, model.wv.vectors)


def _read(path: Path, dim: int) -> WordEmbedding | None:
    """The embedding cached at `path`; None if there is none, or it is damaged."""
    if not path.exists():
        return None
    try:
        embedding = WordEmbedding.load(path)
    except Exception:  # damage shows in many ways; training anew repairs all of them
        return None
    return embedding if embedding.dim == dim else None


# -- where gensim cannot be installed ------------------------------------------------

# As in skip-gram, rare contexts weigh more than their counts say.
_SMOOTHING = 0.75
# So that words are as far from their nearest as by skip-gram, on the built-in corpus,
# and an epsilon means about the same to both.
_SCALE = 1.7


def ppmi_vectors(
    sentences: Iterable[list[str]], dim: int, min_count: int, window: int
) -> tuple[list[str], np.ndarray]:
    """Words by falling frequency, and the vector of each.

    Two words within `window` of each other count for one over their distance. The
    positive part of their pointwise mutual information is cut down to its `dim`
    greatest singular values, half of which go to the words (Levy, Goldberg and Dagan
    2015). There are no more of these than words: what is left of `dim` is 0.
    """
    sentences = list(sentences)
    counts = Counter(chain.from_iterable(sentences))
    words = [word for word, count in counts.most_common() if count >= min_count]
    vectors = np.zeros((len(words), dim))
    if words:
        ppmi = _ppmi(_pairs(sentences, words, window))
        rank = min(dim, len(words))
        left, values, _ = randomized_svd(ppmi, rank, n_iter=7, random_state=0)
        vectors[:, :rank] = _SCALE * left * np.sqrt(values)
    return words, vectors


def _pairs(sentences: list[list[str]], words: list[str], window: int) -> sp.csr_array:
    """How often two words stand near each other, each pair in both orders."""
    index = {word: i for i, word in enumerate(words)}
    stream: list[int] = []
    for sentence in sentences:
        stream += [index[word] for word in sentence if word in index]
        stream += [-1] * window  # no pair reaches over it
    ids = np.array(stream)
    shape = len(words), len(words)
    pairs = sp.csr_array(shape)
    for gap in range(1, window + 1):
        first, second = ids[:-gap], ids[gap:]
        both = (first >= 0) & (second >= 0)
        weights = np.full(np.count_nonzero(both), 1 / gap)
        places = first[both], second[both]
        pairs += sp.coo_array((weights, places), shape=shape).tocsr()
    return pairs + pairs.T.tocsr()


def _ppmi(pairs: sp.csr_array) -> sp.csr_array:
    """log of p(w, c) / (p(w) p(c)) where it is positive, with smoothed p(c)."""
    of_word = pairs.sum(axis=1)
    of_context = of_word**_SMOOTHING
    cells = pairs.tocoo()
    # p(c | w) / p(c); the word and the context of a cell have been near another
    ratios = cells.data / of_word[cells.row] / of_context[cells.col] * of_context.sum()
    positive = ratios > 1
    places = cells.row[positive], cells.col[positive]
    return sp.coo_array((np.log(ratios[positive]), places), shape=cells.shape).tocsr()
