"""Adversaries who know no mechanism: which original is a released text most like?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from skdptext.documents import read_documents
from skdptext.embeddings import WordEmbedding
from skdptext.utils import (
    check_rng,
    sums_by_label,
)

# Scripts written without blanks, and pictures: each character counts as a word. Other
# letters take their vowel signs and accents with them.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Japanese, Chinese
    "\U00020000-\U0003ffff"  # rare Chinese
    "\u2600-\u27bf\U0001f000-\U0001faff"  # emoji
)
_SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f"  # accents, Hebrew, Arabic
    "\u0900-\u0963\u0966-\u0dff"  # the scripts of India
)
_WORD = re.compile(rf"[{_ALONE}]|(?:(?![{_ALONE}])[\w{_SIGNS}])+")

# Words of a text that are compared place by place.
_PLACES = 500
# Letters of a word that are looked at in parts: one of millions, such as a picture that
# was pasted as text, would take minutes and gigabytes.
LETTERS = 1000
# Folds of the adversary that learns, and its examples of wrong pairs per right one.
_FOLDS, _WRONG = 5, 30
# Words are placeholders that are in a fifth of the releases or more, and five times as
# frequent there as in the originals.
_OFTEN, _OFTENER = 0.2, 5
# The fewest right pairs that there is anything to learn from.
FEWEST_PAIRS = 10
# Scores closer than this, relative to the largest, are ties: equal documents must not
# be told apart by rounding.
_TIE = 1e-6


def split_words(text: str) -> list[str]:
    """Split a text in any script into its words, in lower case.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    words : list of str
        In scripts that are written without blanks, each character is a word; and so is
        each emoji.

    Notes
    -----
    *Privacy.* The words are those of the text, and as private.

    Examples
    --------
    >>> from skdptext.attacks import split_words
    >>> split_words("She's read 2 BOOKS.")
    ['she', 's', 'read', '2', 'books']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def words_of(document: Any) -> list[str]:
    """Words of a text, as `split_words` parts it, or of a token list, as they are."""
    return split_words(document) if isinstance(document, str) else list(document)


def holds_words(document: Any) -> bool:
    """Whether a text, or a list of words, has any."""
    return bool(_WORD.search(document) if isinstance(document, str) else len(document))


def text_similarities(
    original: Any,
    released: Any,
    *,
    embedding: WordEmbedding | None = None,
    groups: Any = None,
    common: bool = False,
) -> dict[str, np.ndarray]:
    """How like each original every released text is, by adversaries of several kinds.

    None of them knows how the texts were released. Each holds the originals, and takes
    the one that is most like a release for its source.

    Parameters
    ----------
    original, released : list of str or of lists of str
        Texts in the clear, and texts made from some of them.
    embedding : WordEmbedding, default=None
        Vectors of words, where the n-th word of a release may come from the n-th of its
        original. If None, places of words are not compared.
    groups : ndarray of int, shape (n_released,), default=None
        Numbers 0, 1, … of documents: equal for several releases of the same one. If
        None, each release is of another document.
    common : bool, default=False
        Also by words in common, whatever else a text holds: what tells other texts of
        the same person.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_released or n_groups, n_originals)
        Larger is more alike.

        - ``"tf-idf"``: cosine of their weighted counts;
        - ``"character n-grams"``: the same for two to four letters of a word, of
          its first thousand;
        - ``"word by word"``: sum of the inner products of the n-th words' centred
          vectors, of the first 500 words; with an `embedding`;
        - ``"shared words"``: how many words both have; ``"shared words, by rarity"``:
          the sum of their weights, which are large for words of few originals; if
          `common`.

    Notes
    -----
    *Placeholders.* Those of whole words, wherever they are, pass over words that are in
    a fifth of the releases or more and hardly in the originals, such as those of
    ``[NAME]``.
    """
    clear, noisy = as_words("original", original), as_words("released", released)
    numbers = np.arange(len(noisy)) if groups is None else groups
    n_groups = int(numbers.max()) + 1
    words, (clear_codes, noisy_codes) = numbered(clear, noisy)
    size = len(words) + 1  # one that is in no text, as there may be no others
    of_clear = bags_of(clear_codes, size)
    of_released = sums_by_label(numbers, bags_of(noisy_codes, size), n_groups)
    of_word = parts_of_words([*words, "-"])
    telling = _telling(of_released, of_clear)
    scores = {
        "tf-idf": tf_idf_cosines(telling, of_clear),
        "character n-grams": tf_idf_cosines(of_released @ of_word, of_clear @ of_word),
    }
    if common:
        scores |= _words_in_common(telling, of_clear)
    if embedding is not None:
        centred = _vectors(embedding, words, of_clear[:, :-1])
        shifted = centred
        if n_groups >= FEWEST_PAIRS:  # fewer have a mean of their own
            shifted = _vectors(embedding, words, of_released[:, :-1])
        by_place = _word_by_word(noisy_codes, shifted, clear_codes, centred)
        scores["word by word"] = sums_by_label(numbers, by_place, n_groups)
    return {name: with_ties(score) for name, score in scores.items()}


def _telling(of_released: sp.csr_array, of_clear: sp.csr_array) -> sp.csr_array:
    """Bags of the releases without placeholders."""
    often, usual = (
        np.asarray((bags > 0).mean(axis=0)).ravel() for bags in (of_released, of_clear)
    )
    kept = (often < _OFTEN) | (often < _OFTENER * usual)
    bags = sp.csr_array(of_released.multiply(kept))
    bags.eliminate_zeros()
    return bags


def _vectors(
    embedding: WordEmbedding, words: Sequence[str], bags: sp.csr_array
) -> np.ndarray:
    """Vectors less their mean over the words of some texts; 0 where none is known.

    A last row of 0 stands for no word at all.
    """
    rows = embedding.find(words)
    vectors = np.asarray(embedding.vectors, dtype=np.float64)[rows]
    weight = np.asarray(bags.sum(axis=0)).ravel() * (rows >= 0)
    centred = vectors - weight @ vectors / max(weight.sum(), 1)
    centred[rows < 0] = 0
    nothing = np.zeros((1, embedding.dim))
    return np.concatenate([centred, nothing]).astype(np.float32)


def _word_by_word(
    noisy: Sequence[np.ndarray],
    noisy_vectors: np.ndarray,
    clear: Sequence[np.ndarray],
    clear_vectors: np.ndarray,
) -> np.ndarray:
    """Sums of inner products of the words at the same place, (n_noisy, n_clear)."""
    totals = np.zeros((len(noisy), len(clear)))
    for place in range(min(_PLACES, *(max(map(len, x)) for x in (noisy, clear)))):
        of_noisy, of_clear = (
            vectors[[text[place] if place < len(text) else -1 for text in texts]]
            for texts, vectors in ((noisy, noisy_vectors), (clear, clear_vectors))
        )
        totals += of_noisy @ of_clear.T
    return totals


def parts_of_words(words: Sequence[str]) -> Any:
    """How often each word has each two to four letters on end, of its first thousand.

    A blank stands before and behind it.
    """
    counter = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), lowercase=False)
    return counter.fit_transform([word[:LETTERS] for word in words])


def tf_idf_cosines(released: Any, clear: Any) -> np.ndarray:
    """Cosines of weighted counts, the weights being those of the originals."""
    weights = TfidfTransformer(sublinear_tf=True).fit(clear)
    cosines = weights.transform(released) @ weights.transform(clear).T
    return np.asarray(cosines.toarray())


def _words_in_common(
    released: sp.csr_array, clear: sp.csr_array
) -> dict[str, np.ndarray]:
    """How many words both have, and how rare these are among the originals."""
    ours, theirs = ((bags > 0).astype(np.float64) for bags in (released, clear))
    with_word = np.asarray(theirs.sum(axis=0)).ravel()
    rarity = np.log((1 + clear.shape[0]) / (1 + with_word))
    return {
        "shared words": (ours @ theirs.T).toarray(),
        "shared words, by rarity": (ours @ sp.diags_array(rarity) @ theirs.T).toarray(),
    }


def with_ties(scores: np.ndarray) -> np.ndarray:
    """The scores; those that only rounding tells apart are equal, none is infinite."""
    finite = np.isfinite(scores)
    if not finite.all():  # ruled out: below all others, by as much as they differ
        known = scores[finite]
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        scores = np.where(finite, scores, low - (high - low) - 1)
    unit = np.abs(scores).max(initial=0) * _TIE
    return np.round(scores / unit) * unit if unit > 0 else scores


def as_texts(name: str, documents: Any) -> list[Any]:
    """A list of texts or token lists."""
    rule = f"{name} must hold texts or lists of words"
    return list(read_documents(documents, expected=rule, name=name))


def as_words(name: str, documents: Any) -> list[list[str]]:
    """Token lists; texts are split."""
    return list(map(words_of, as_texts(name, documents)))


def numbered(
    *lists: Sequence[Sequence[Any]],
) -> tuple[list[Any], list[list[np.ndarray]]]:
    """The different words of lists of texts, and the texts in their numbers."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word has the next number
    number = numbers.__getitem__
    coded = [
        [np.array(list(map(number, text)), dtype=int) for text in texts]
        for texts in lists
    ]
    return list(numbers), coded


def bags_of(texts: Sequence[np.ndarray], n_words: int) -> sp.csr_array:
    """How often each number below `n_words` is in each text."""
    ends = np.cumsum([0, *map(len, texts)])
    codes = np.concatenate([*texts, np.array([], dtype=int)])
    width = _width(max(len(codes), n_words))
    places = codes.astype(width), ends.astype(width)
    shape = (len(texts), n_words)
    bags = sp.csr_array((np.ones(len(codes)), *places), shape=shape)
    bags.sum_duplicates()
    return bags


def _width(most: int) -> Any:
    """The type of indices: some estimators of scikit-learn refuse wide ones."""
    return np.int32 if most < 2**31 else np.int64


def learned_similarity(
    scores: Mapping[str, np.ndarray], truth: Any, *, random_state: Any = None
) -> np.ndarray:
    """Combine similarities as an adversary who has learned from other pairs.

    Logistic regression tells pairs that belong together from others, by how much each
    score stands out among those of the same release, and among those of the same
    original. It is cross-fitted: no pair is judged by a model that saw its release or
    the original that it belongs to.

    Parameters
    ----------
    scores : dict of str to ndarray of shape (n_released, n_originals)
        As from `text_similarities`; infinite entries rule a pair out.
    truth : ndarray of int, shape (n_released,)
        The original that each release belongs to.
    random_state : None, int or numpy.random.Generator, default=None
        Draws the folds, and the pairs that serve as wrong ones.

    Returns
    -------
    similarity : ndarray of shape (n_released, n_originals)
        Larger is more alike, within a row.
    """
    from sklearn.linear_model import LogisticRegression

    matrices = [np.asarray(score, dtype=np.float64) for score in scores.values()]
    n, n_clear = matrices[0].shape
    rng = check_rng(random_state)
    of_each, place = np.unique(truth, return_inverse=True)
    fold = rng.permutation(np.arange(len(of_each)) % _FOLDS)[place]
    # the fold of each original, and of all its releases; others are in none
    of_clear = np.full(n_clear, -1)
    of_clear[truth] = fold
    wrong = rng.integers(0, n_clear, (n, _WRONG))
    features = [
        part
        for score in map(with_ties, matrices)
        for part in (_standing_out(score), _standing_out(score.T).T)
    ]
    rows = np.repeat(np.arange(n), _WRONG + 1)
    columns = np.concatenate([truth[:, None], wrong], axis=1).ravel()
    is_right = columns == truth[rows]
    seen = np.stack([part[rows, columns] for part in features], axis=1)
    learned = np.zeros((n, n_clear))
    for k in range(_FOLDS):
        learn = (fold[rows] != k) & (of_clear[columns] != k)
        if not 0 < is_right[learn].sum() < learn.sum():
            continue
        model = LogisticRegression(max_iter=200).fit(seen[learn], is_right[learn])
        # without the intercept, which moves all pairs of a release alike
        mine = fold == k
        for weight, part in zip(model.coef_[0], features, strict=True):
            learned[mine] += weight * part[mine]
    return with_ties(learned)


def _standing_out(scores: np.ndarray) -> np.ndarray:
    """Standard deviations above the mean of the row; 0 where all are equal."""
    excess = scores - scores.mean(axis=1, keepdims=True)
    spread = excess.std(axis=1, keepdims=True)
    flat = spread <= _TIE * np.abs(scores).max(initial=0)
    excess /= np.where(flat, 1, spread)
    excess[flat.ravel()] = 0
    return excess
