"""Read texts as attackers do, and measure which words of originals remain."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import scale
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from skdptext.attacks._scores import Scores, gain, read_off
from skdptext.documents import read_documents
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import refuse_unsafe

# In scripts without blanks, and for emoji, each character counts as a word. Other
# letters include their vowel signs and accents.
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
_WORD = re.compile(rf"[{_ALONE}]|(?:[^\W{_ALONE}]+|[{_SIGNS}]+)+")
# A picture pasted as text is a word of millions of letters.
_LONG = re.compile(r"(\S{1000})\S+")
# Number of words of a phrase, and of the shortest text that is not a commonplace.
_SPAN, _SHORT = 5, 3
# Rows do not belong together if more than this share, and number, of the releases are
# clearly made from originals of other rows.
_BY_CHANCE, _FEWEST = 0.1, 3
# The weight of words that no original has: a source may lack codes and stems.
_CODED = 1 / 3
# A placeholder such as [NAME] occurs in at least this share of the releases.
_PLACEHOLDER = 0.2


class Documents:
    """Documents as attackers read them: texts, words, and numbers if there are any.

    Parameters
    ----------
    given : list of str or of lists of str, ndarray or csr_array
        What a user passed. A number is a word, and a vector is an empty text.
    """

    def __init__(self, given: Any) -> None:
        self.given = given

    def __len__(self) -> int:
        return int(_num_samples(self.given))

    def take(self, rows: Any) -> "Documents":
        """Select some documents."""
        return Documents(_safe_indexing(self.given, rows))

    @cached_property
    def texts(self) -> list[str]:
        if sp.issparse(self.given):
            return [""] * len(self)
        if isinstance(self.given, np.ndarray):
            return [str(x) if np.size(x) == 1 else "" for x in self.given]
        return [x if isinstance(x, str) else " ".join(x) for x in self.given]

    @cached_property
    def words(self) -> list[list[str]]:
        return list(map(words_of, self.texts))

    @cached_property
    def numbers(self) -> Any:
        """Vectors in columns of unit variance; None if documents are not vectors."""
        rows, sparse = self.given, sp.issparse(self.given)
        if not (sparse or isinstance(rows, np.ndarray)):
            rows = [re.findall(r"[^\s,;\[\]()]+", text) for text in self.texts]
        try:
            rows = check_array(
                rows, accept_sparse="csr", dtype=float, ensure_min_features=2
            )
        except ValueError:
            return None
        return scale(rows, with_mean=not sparse)


def read(name: str, documents: Any) -> Documents:
    """Read texts, lists of words or numbers, unless this was done before."""
    if isinstance(documents, Documents):
        return documents
    refuse_unsafe(documents, name)
    if sp.issparse(documents):
        return Documents(documents.tocsr())
    numbers = isinstance(documents, np.ndarray) and documents.dtype.kind in "fiu"
    if numbers and documents.ndim in (1, 2):
        return Documents(documents)
    rule = f"{name} must hold texts or lists of words"
    return Documents(list(read_documents(documents, expected=rule, name=name)))


def paired(
    original: Any, released: Any, in_step: bool = True
) -> tuple[Documents, Documents]:
    """Read originals and releases, as many if `in_step`."""
    original, released = read("original", original), read("released", released)
    with_words = sum(map(bool, original.words))
    n, m = len(original), len(released)
    if with_words < 2 or not m or (in_step and n != m):
        raise InvalidParameterError(
            "original and released must be of equal length, and at least 2 originals "
            f"hold words, got {n} and {m} texts, {with_words} with words."
        )
    return original, released


def words_of(text: str) -> list[str]:
    """Get the words of a text in any script, in lower case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _telling(text: str) -> list[str]:
    """Get what may tell a text from others: its words, and all of it.

    Single characters distinguish few texts, but pairs distinguish many. Few common
    words may still be in no other text.
    """
    words = words_of(text)
    pairs = (a + b for a, b in pairwise(words) if len(a + b) == 2)
    return [*words, *pairs, "".join(words)]


def by_words(cut: Callable[[str], list[str]] = words_of) -> TfidfVectorizer:
    """Make a vectorizer of weighted counts of words, and of texts without any."""
    return TfidfVectorizer(analyzer=lambda text: cut(text) or [""], sublinear_tf=True)


def by_parts() -> TfidfVectorizer:
    """Make a vectorizer of weighted counts of runs of two to four letters."""
    return TfidfVectorizer(
        preprocessor=lambda text: _LONG.sub(r"\1", text.lower()).strip() or "\0",
        analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True,
    )  # fmt: skip


def spans(words: Sequence[str], n: int = _SPAN) -> set[tuple[str, ...]]:
    """Get the distinct phrases of n words."""
    return set(zip(*(words[i:] for i in range(n)), strict=False))


def copies_of(
    texts: Iterable[Sequence[str]], among: Iterable[Sequence[str]]
) -> np.ndarray:
    """Find texts that occur word for word; 0 for short ones, often commonplaces."""
    # Without gaps: in scripts without blanks, a segmented text has the same words.
    there = set(map("".join, among))
    return np.array([len(x) >= _SHORT and "".join(x) in there for x in texts], float)


def copied(original: Any, released: Any) -> Scores:
    """Measure which words, phrases and whole texts of the originals remain.

    Parameters
    ----------
    original : iterable of str or of lists of str, of length n_documents
        Texts in plain text; at least two with words.
    released : iterable of str or of lists of str, of length n_documents
        Their releases, in the same order. For other lengths, only ``"copies"`` is
        measured.

    Returns
    -------
    scores : Scores
        ``"words"``, ``"rare words"`` (words of one original only) and ``"spans of 5
        words"``: mean share of those of an original that its release contains;
        `chance` is the share that the release of another one contains. ``"copies"``:
        share of the releases that copy an original of any row, word for word;
        punctuation and case do not count.

    Examples
    --------
    >>> from skdptext.attacks import copied
    >>> scores = copied(["she lives in Rome", "he likes tea"], ["she lives", "tea"])
    >>> round(scores["words"].value, 2), scores["copies"].value
    (0.42, 0.0)
    """
    clear, noisy = (x.words for x in paired(original, released, in_step=False))
    copies = read_off("copies", copies_of(noisy, clear), 0.0)
    if len(clear) != len(noisy):
        return Scores([copies])
    texts_with = Counter(word for text in clear for word in set(text))
    rare = [{word for word in text if texts_with[word] == 1} for text in clear]
    left, half, rows = list(map(set, noisy)), max(1, len(clear) // 2), []
    for question, parts, found in (
        ("words", list(map(set, clear)), left),
        ("rare words", rare, left),
        (f"spans of {_SPAN} words", list(map(spans, clear)), list(map(spans, noisy))),
    ):
        others = found[half:] + found[:half]
        own, other = (shares_left(parts, x) for x in (found, others))
        if len(own):
            rows.append(gain(question, own, other))
    return Scores([*rows, copies])


def shares_left(parts: Iterable[set[Any]], found: Iterable[set[Any]]) -> np.ndarray:
    """Compute the found share of each text's parts, for texts with parts."""
    pairs = zip(parts, found, strict=False)
    return np.array([len(own & there) / len(own) for own, there in pairs if own])


def known_words(original: Documents, released: Documents) -> tuple[float, float]:
    """Compute shares of released words in originals, and of original words in others.

    Placeholders, in a fifth of the releases and in no original, are not counted.
    """
    clear, noisy = original.words, released.words
    texts_with, often = (
        Counter(chain.from_iterable(map(set, texts))) for texts in (clear, noisy)
    )
    most = max(1, _PLACEHOLDER * len(noisy))
    real = [[w for w in t if w in texts_with or often[w] <= most] for t in noisy]
    left = [sum(w in texts_with for w in t) / max(1, len(t)) for t in real]
    usual = [sum(texts_with[w] > 1 for w in t) / len(t) for t in clear if t]
    return float(np.mean(left)), float(np.mean(usual))


def of_other_rows(
    original: Documents, released: Documents, truth: np.ndarray
) -> np.ndarray:
    """Find releases that are clearly made from originals of other rows, if many are.

    `truth` has the row of each release's own original. A word counts by its surprise,
    the negative logarithm of the share of texts that have it. The source of a release
    must share more with it than any other original does, by more than one word, and it
    must lack at most half of what the others lack. Noise and stand-ins leave nothing so
    clear. Near-copies do: a release has the words in which they differ.
    """
    # Equal originals count as one, or a release would resemble several.
    texts, number, times = np.unique(
        np.array(original.texts, dtype=object), return_inverse=True, return_counts=True
    )
    counts = CountVectorizer(analyzer=_telling, binary=True)
    every = counts.fit_transform([*texts, *released.texts])
    clear = every[: len(texts)].T.tocsr()
    surprise = -np.log(np.ravel(every.mean(axis=0)))
    surprise[np.diff(clear.indptr) == 0] *= _CODED
    noisy = every[len(texts) :].multiply(surprise).tocsr()
    # By chance, an original has the rarest of words, which no other text has.
    rarest, source = np.log(every.shape[0] / 2), np.full(len(released), -1)
    for row, total in enumerate(np.ravel(noisy.sum(axis=1))):
        like = (noisy[[row]] @ clear).toarray().ravel()
        second, best = np.partition(np.append(like, 0.0), -2)[-2:]
        if best - second >= max(rarest + 1, total - best):
            source[row] = like.argmax()
    found = source >= 0
    # Encoded releases and stand-ins may all resemble one original.
    used = np.bincount(source[found], minlength=len(texts))
    found &= (source != number[truth]) & (used <= times)[source]
    # In a small table, a share is easily reached by chance.
    many = found.mean() > _BY_CHANCE and found.sum() >= min(_FEWEST, len(found))
    return found & many
