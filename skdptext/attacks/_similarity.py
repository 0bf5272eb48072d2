"""Adversaries who know no mechanism: which original is a released text most like?"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.sparsefuncs_fast import (
    inplace_csr_row_normalize_l1,
    inplace_csr_row_normalize_l2,
)

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    blocks,
    check_document,
    check_rng,
    is_count_matrix,
    kind_of,
    plain_documents,
    sums_by_label,
    working_memory_bytes,
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

# Dimensions of vectors that are learned from the texts themselves.
_DIM = 100
# Words of a text that are compared place by place, or by their distances.
_PLACES, _NEAR_WORDS = 500, 300
# Letters of a word that are looked at in parts: one of millions, such as a picture that
# was pasted as text, would take minutes and gigabytes.
LETTERS = 1000
# Folds of the adversary that learns, and its examples of wrong pairs per right one.
_FOLDS, _WRONG = 5, 30
# Words are placeholders that are in a fifth of the releases or more, and five times as
# frequent there as in the originals.
_OFTEN, _OFTENER = 0.2, 5
# BM25's own defaults (Robertson and Zaragoza, 2009).
_K1, _B = 1.5, 0.75
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
    ordered: bool = True,
    groups: Any = None,
    distances: bool = True,
) -> dict[str, np.ndarray]:
    """How like each original every released text is, by adversaries of all kinds.

    None of them knows how the texts were released. Each holds the originals, and takes
    the one that is most like a release for its source.

    Parameters
    ----------
    original, released : list of str or of lists of str
        Texts in the clear, and texts made from some of them.
    embedding : WordEmbedding, default=None
        Vectors of words. If None, they are learned from both lists, by the words that
        occur in the same texts; so any language will do.
    ordered : bool, default=True
        Whether the n-th word of a release may come from the n-th of its original.
    groups : ndarray of int, shape (n_released,), default=None
        Numbers 0, 1, … of documents: equal for several releases of the same one. If
        None, each release is of another document.
    distances : bool, default=True
        Also compare by Word Mover's Distance.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_released or n_groups, n_originals)
        Larger is more alike.

        - ``"shared words"``: how many words both have;
        - ``"tf-idf"``: cosine of their weighted counts;
        - ``"BM25"``: what a search engine does with the release as its query;
        - ``"character n-grams"``: the same for two to four letters of a word, of
          its first thousand;
        - ``"mean vectors"``: inner product of their words' mean vectors, centred;
        - ``"word by word"``: sum of the inner products of the n-th words' centred
          vectors, of the first 500 words; if `ordered`;
        - ``"Word Mover's nearest"``: minus the relaxed Word Mover's Distance of their
          first 300 words: each word moves to the nearest, in the worse direction of
          both; if `distances`.

    Notes
    -----
    *Placeholders.* The first three pass over words that are in a fifth of the releases
    or more and hardly in the originals, such as those of ``[NAME]``.
    """
    clear, noisy = as_words("original", original), as_words("released", released)
    numbers = np.arange(len(noisy)) if groups is None else groups
    texts = _Texts(clear, noisy, numbers, embedding)
    kinds: dict[str, Any] = {
        "shared words": texts.shared_words,
        "tf-idf": texts.tf_idf,
        "BM25": texts.bm25,
        "character n-grams": texts.ngrams,
        "mean vectors": texts.mean_vectors,
    }
    if ordered:
        kinds["word by word"] = texts.word_by_word
    if distances:
        kinds["Word Mover's nearest"] = texts.distances
    return {name: with_ties(score()) for name, score in kinds.items()}


def parts_of_words(words: Sequence[str]) -> sp.csr_array:
    """How often each word has each two to four letters on end, of its first thousand.

    A blank stands before and behind it: those of `CountVectorizer(analyzer="char_wb")`
    in the same columns, in a tenth of the time, as no part becomes a string.
    """
    pieces = [
        (row, f" {piece} ")
        for row, word in enumerate(words)
        for piece in word[:LETTERS].split()
    ]
    sizes = np.array([len(piece) for _, piece in pieces], dtype=int)
    left = np.repeat(np.cumsum(sizes), sizes) - np.arange(sizes.sum())
    of_place = np.repeat(np.array([row for row, _ in pieces], dtype=int), sizes)
    text = "".join(piece for _, piece in pieces).encode("utf-32-le", "surrogatepass")
    letters, codes = np.unique(np.frombuffer(text, dtype="<u4"), return_inverse=True)
    codes = np.append(codes + 1, [0] * 3)  # 0 is no letter, and before all others
    starts, fours = [], []
    for size in (2, 3, 4):
        at = np.flatnonzero(left >= size)
        four = codes[at + np.arange(4)[:, None]]
        four[size:] = 0
        starts.append(at)
        fours.append(four)
    a, b, c, d = np.concatenate(fours, axis=1)
    # numbers of pairs first: four letters of a large alphabet are too many for one
    _, first = np.unique(a * (len(letters) + 1) + b, return_inverse=True)
    seconds, second = np.unique(c * (len(letters) + 1) + d, return_inverse=True)
    parts, columns = np.unique(first * len(seconds) + second, return_inverse=True)
    rows, shape = of_place[np.concatenate(starts)], (len(words), len(parts))
    width = _width(max(len(rows), len(words)))
    places = rows.astype(width), columns.astype(width)
    return sp.csr_array((np.ones(len(rows)), places), shape=shape)


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
    if is_count_matrix(documents, rule):
        raise InvalidParameterError(f"{rule}, got a matrix of numbers.")
    texts = list(plain_documents(documents))
    for i, document in enumerate(texts):
        check_document(document, i)
        if not isinstance(document, str) and not all(
            isinstance(word, str) for word in document
        ):
            raise InvalidParameterError(
                f"{rule}, got {kind_of(document)} of something else as document {i}."
            )
    return texts


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


class _Texts:
    """Originals and releases over the words of both."""

    def __init__(
        self,
        clear: Sequence[Sequence[str]],
        released: Sequence[Sequence[str]],
        groups: np.ndarray,
        embedding: WordEmbedding | None,
    ) -> None:
        words, (self.clear, self.released) = numbered(clear, released)
        self.words = words or [""]
        self.groups = groups
        self.n_groups = int(groups.max()) + 1
        self.embedding = embedding
        self.of_clear = self._bags(self.clear)
        self.of_released = self._pooled(self._bags(self.released))

    def _bags(self, texts: Sequence[np.ndarray]) -> sp.csr_array:
        return bags_of(texts, len(self.words))

    def _pooled(self, values: Any) -> Any:
        """Sums over the releases of a document."""
        return sums_by_label(self.groups, values, self.n_groups)

    # -- words ------------------------------------------------------------------------

    @cached_property
    def telling(self) -> sp.csr_array:
        """Bags of the releases without placeholders."""
        often, usual = (
            np.asarray((bags > 0).mean(axis=0)).ravel()
            for bags in (self.of_released, self.of_clear)
        )
        bags = self.of_released.multiply((often < _OFTEN) | (often < _OFTENER * usual))
        bags = sp.csr_array(bags)
        bags.eliminate_zeros()
        return bags

    def shared_words(self) -> np.ndarray:
        there = (self.telling > 0).astype(float)
        return (there @ (self.of_clear > 0).T).toarray()

    def tf_idf(self) -> np.ndarray:
        return tf_idf_cosines(self.telling, self.of_clear)

    def bm25(self) -> np.ndarray:
        clear = self.of_clear.tocsr().astype(np.float64)
        length = np.asarray(clear.sum(axis=1)).ravel()
        with_word = np.asarray((clear > 0).sum(axis=0)).ravel()
        rarity = np.log1p((clear.shape[0] - with_word + 0.5) / (with_word + 0.5))
        spread = _K1 * (1 - _B + _B * length / max(length.mean(), 1))
        counts = clear.data
        clear.data = (
            counts * (_K1 + 1) / (counts + np.repeat(spread, np.diff(clear.indptr)))
        )
        asked = (self.telling > 0).astype(np.float64).multiply(rarity).tocsr()
        return np.asarray((asked @ clear.T).todense())

    def ngrams(self) -> np.ndarray:
        of_word = parts_of_words(self.words)
        return tf_idf_cosines(self.of_released @ of_word, self.of_clear @ of_word)

    # -- vectors of words -------------------------------------------------------------

    @cached_property
    def vectors(self) -> np.ndarray:
        """Vectors of the words, centred at their mean; 0 for those without one."""
        if self.embedding is not None:
            rows = self.embedding.find(self.words)
            vectors = np.asarray(self.embedding.vectors, dtype=np.float64)[rows]
            known = rows >= 0
        else:
            vectors, known = self._learned(), np.ones(len(self.words), dtype=bool)
        return _centred(vectors, self.of_clear, known)

    @cached_property
    def released_vectors(self) -> np.ndarray:
        """The same, centred at the mean of the releases."""
        if self.n_groups < FEWEST_PAIRS:  # whose mean is that of these documents
            return self.vectors
        known = np.any(self.vectors != 0, axis=1)
        return _centred(self.vectors, self.of_released, known)

    def _learned(self) -> np.ndarray:
        """Vectors that are alike for words of the same texts."""
        from sklearn.decomposition import TruncatedSVD

        bags = sp.vstack([self.of_clear, self.of_released], format="csr")
        if bags.shape[1] <= _DIM:
            return np.eye(bags.shape[1])
        weights = TfidfTransformer(sublinear_tf=True).fit_transform(bags)
        if bags.shape[0] <= _DIM:
            return weights.T.toarray()
        svd = TruncatedSVD(_DIM, random_state=0).fit(weights)
        return svd.components_.T * svd.singular_values_

    def mean_vectors(self) -> np.ndarray:
        released, clear = (
            _frequencies(bags) @ vectors.astype(np.float64)
            for bags, vectors in (
                (self.of_released, self.released_vectors),
                (self.of_clear, self.vectors),
            )
        )
        return released @ (clear - clear.mean(axis=0)).T

    def word_by_word(self) -> np.ndarray:
        totals = np.zeros((len(self.released), len(self.clear)), dtype=np.float32)
        n_places = min(_PLACES, max(map(len, self.clear)), max(map(len, self.released)))
        n = max(len(self.released), len(self.clear))
        row_bytes = 16 * n * self.vectors.shape[1]
        size = max(1, working_memory_bytes() // 4 // row_bytes)
        nothing = np.zeros((1, self.vectors.shape[1]), dtype=np.float32)
        # vectors of the words of some places, end to end in one row for each text: the
        # product of two rows is the sum of the inner products place by place
        for block in blocks(n_places, size):
            released, clear = (
                np.concatenate([vectors, nothing])[_places(texts, block)].reshape(
                    len(texts), -1
                )
                for texts, vectors in (
                    (self.released, self.released_vectors),
                    (self.clear, self.vectors),
                )
            )
            totals += released @ clear.T
        return self._pooled(totals.astype(np.float64))

    def distances(self) -> np.ndarray:
        """Minus the relaxed Word Mover's Distance, a lower bound."""
        held = np.any(self.vectors != 0, axis=1)
        released, clear = (
            self._few_words(self._bags([text[:_NEAR_WORDS] for text in texts]), held)
            for texts in (self.released, self.clear)
        )
        released = self._few_words(self._pooled(released), held)
        return -np.maximum(
            _relaxed(released, clear, self.vectors),
            _relaxed(clear, released, self.vectors).T,
        )

    def _few_words(self, bags: sp.csr_array, held: np.ndarray) -> sp.csr_array:
        """Frequencies of the words that have a vector."""
        words = sp.csr_array(bags.multiply(held))
        words.eliminate_zeros()
        return _frequencies(words)


def _frequencies(bags: sp.csr_array) -> sp.csr_array:
    """Shares of the words in each text."""
    shares = bags.copy()
    inplace_csr_row_normalize_l1(shares)
    return shares


def _centred(vectors: np.ndarray, bags: sp.csr_array, known: np.ndarray) -> np.ndarray:
    """Vectors less their mean over the words of some texts; 0 where none is known."""
    weight = np.asarray(bags.sum(axis=0)).ravel() * known
    centred = vectors - weight @ vectors / max(weight.sum(), 1)
    centred[~known] = 0
    return centred.astype(np.float32)


def tf_idf_cosines(released: Any, clear: Any, sublinear: bool = True) -> np.ndarray:
    """Cosines of weighted counts, the weights being those of the originals.

    Those of `TfidfTransformer`, whose checks of its input cost many times as much as
    its sums on a few hundred texts.
    """
    n, n_words = clear.shape
    with_word = np.bincount(clear.indices, minlength=n_words)
    rarity = np.log((n + 1) / (with_word + 1.0)) + 1
    a, b = (_unit_rows(bags, rarity, sublinear) for bags in (released, clear))
    return (a @ b.T).toarray()


def _unit_rows(bags: Any, weights: np.ndarray, sublinear: bool) -> sp.csr_array:
    """Weighted counts, of length 1 for each text."""
    counts = np.log(bags.data) + 1 if sublinear else bags.data
    places = bags.indices, bags.indptr
    rows = sp.csr_array((counts * weights[bags.indices], *places), shape=bags.shape)
    inplace_csr_row_normalize_l2(rows)
    return rows


def _places(texts: Sequence[np.ndarray], block: slice) -> np.ndarray:
    """Words at some places of each text; −1 beyond its end."""
    places = np.full((len(texts), block.stop - block.start), -1)
    for row, text in zip(places, texts, strict=True):
        part = text[block]
        row[: len(part)] = part
    return places


def _relaxed(a: sp.csr_array, b: sp.csr_array, vectors: np.ndarray) -> np.ndarray:
    """Mean distance of the words of each bag of `a` to the nearest of each of `b`.

    0 where a bag of `a` is empty; as far as any where one of `b` is.
    """
    mine = np.unique(a.indices)
    theirs, places = np.unique(b.indices, return_inverse=True)
    totals = np.zeros((a.shape[0], b.shape[0]))
    if not len(mine) or not len(theirs):
        return totals
    squares = np.einsum("ij,ij->i", vectors, vectors)
    row_bytes = 16 * (len(theirs) + b.shape[0])
    size = max(1, working_memory_bytes() // 4 // row_bytes)
    for block in blocks(len(mine), size):
        words = mine[block]
        # distances by ‖v‖² − 2⟨v, w⟩ + ‖w‖², in one array
        gaps = vectors[theirs] @ vectors[words].T
        gaps *= -2
        gaps += squares[words]
        gaps += squares[theirs][:, None]
        np.sqrt(np.maximum(gaps, 0, out=gaps), out=gaps)
        nearest = np.full((b.shape[0], len(words)), gaps.max(), dtype=np.float32)
        for j in range(b.shape[0]):
            own = places[b.indptr[j] : b.indptr[j + 1]]
            if len(own):
                nearest[j] = gaps[own].min(axis=0)
        totals += a[:, words] @ nearest.T
    return totals


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
