"""Link releases to their originals: attackers who hold candidate documents."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from skdptext.attacks._scores import Scores, check_adversaries, scored
from skdptext.attacks._words import (
    PLACEHOLDER,
    by_parts,
    by_words,
    documents_of,
    numbers_of,
    texts_of,
    words_of,
)
from skdptext.base import fitted_releaser
from skdptext.exceptions import (
    EmptyDocumentWarning,
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics import found_among
from skdptext.utils import as_array, check_integer, check_rng, quiet

# A word counts as a placeholder if it is so many times more frequent in releases than
# in originals.
_OFTENER = 5
# The fewest pairs from which attackers learn, their number of folds, and the number of
# wrong pairs for each right one.
_FEWEST_PAIRS, _FOLDS, _WRONG = 10, 5, 30
# The penalty of the ridge regression, for rows of length 1.
_RIDGE = 0.3
# Number of words of a text that are read in order.
_PLACES = 40
# Scores closer than this, relative to the largest, are ties. Rounding must not
# distinguish equal documents.
_TIE = 1e-6

Adversary = Callable[[Sequence[str], Sequence[str]], np.ndarray]


def linkage_attack(
    original: Any,
    released: Any,
    *,
    truth: Any = None,
    releaser: Any = None,
    adversaries: Mapping[str, Adversary] | None = None,
    n_candidates: int = 100,
    random_state: Any = None,
) -> Scores:
    """Measure how often attackers identify the original of a release.

    Each attacker holds the originals, and picks the one most similar to a release. The
    strongest attacker is chosen on half of the releases, and all are scored on the
    other half.

    Parameters
    ----------
    original : iterable of str or of lists of str
        The candidates, in plain text; at least two.
    released : iterable of str or of lists of str, or array of numbers
        Their releases, at least two. They may also be vectors or topics.
    truth : array-like of int, shape (n_released,), default=None
        The row of `original` that each release belongs to. Several releases may belong
        to one row, such as other texts of the same person. None means the same row.
    releaser : releaser, default=None
        The releaser that made `released`, such as a `~skdptext.DPWordPerturber`, in the
        form that its `output` selects. An attacker who knows it picks the most likely
        original.
    adversaries : dict of str to callable, default=None
        Further attackers by name: functions of the texts and the releases, two lists of
        str, that return an array of shape (n_released, n_originals), with larger values
        for more similar texts.
    n_candidates : int >= 2, default=100
        Number of originals to choose from: the right one and others, averaged over all
        choices.
    random_state : None, int or numpy.random.Generator, default=None
        Draws the halves and the folds.

    Returns
    -------
    scores : Scores
        ``scores["linkage"]`` is the strongest attacker; `rows` and ``to_frame()`` have
        all.

        - ``"words in common"``, ``"parts of words in common"``, ``"number of words"``;
        - ``"words, more than usual"``, if `truth` is given: relative to other releases;
        - ``"translation"``, ``"translation of originals"``, ``"word for word"``: learn
          from other pairs what words, or numbers, mean. They need no common word;
        - ``"all, learned"``: all of them, with weights learned from other pairs;
        - ``"likelihood"``: knows the mechanism. If it states its probabilities, no
          attacker does better on average.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    *Privacy.* The result is computed from the documents in plain text. Success proves a
    leak; failure proves nothing about attackers who know more.

    *Learning.* Attackers that learn from other pairs compare the right candidate with a
    wrong one by a model of all pairs except these two. Otherwise even unrelated texts
    would seem to be identified.

    References
    ----------
    .. [1] Linking by retrieval, which ranks candidates by the similarity of texts, is
       the subject of arXiv:2504.21035.

    Examples
    --------
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.attacks import linkage_attack
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> embedding = make_embedding(60, 8, n_clusters=6, random_state=0)
    >>> texts, _ = make_documents(embedding, 20, length=10, random_state=0)
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=4.0, document_length=10,
    ...     resize="truncate", output="text", random_state=0)
    >>> released = perturber.fit_transform(texts)
    >>> scores = linkage_attack(texts, released, releaser=perturber, random_state=0)
    >>> scores["linkage"].low > scores["linkage"].chance
    True
    """
    original = documents_of("original", original)
    released = documents_of("released", released, numbers=True)
    clear, noisy = texts_of(original), texts_of(released)
    every = np.arange(len(noisy))
    rows = every if truth is None else as_array(truth, "truth must hold whole numbers")
    if truth is None and len(clear) != len(noisy):
        raise InvalidParameterError(
            "original and released must be of equal length unless truth is given, got "
            f"{len(clear)} and {len(noisy)} texts."
        )
    if min(len(clear), len(noisy)) < 2 or not any(map(words_of, clear)):
        raise InvalidParameterError(
            "original and released must hold at least 2 texts, and original words, got "
            f"{len(clear)} and {len(noisy)} texts."
        )
    if rows.shape != (len(noisy),) or not np.isin(rows, np.arange(len(clear))).all():
        raise InvalidParameterError(
            f"truth must hold a row of original, 0 to {len(clear) - 1}, for each of "
            f"{len(noisy)} releases, got others or another number."
        )
    n = min(check_integer("n_candidates", n_candidates, low=2), len(clear))
    seed = int(check_rng(random_state).integers(2**31))
    custom = check_adversaries(adversaries, "functions", "__call__")
    found = similarities(clear, noisy)
    if truth is not None:
        # Long texts are similar to all releases. What counts is the excess over the
        # usual similarity.
        alike = found["words in common"]
        found["words, more than usual"] = alike - alike.mean(axis=0)
    # Numbers of words are compared after removing what a release adds to all texts, or
    # leaves out of all.
    sizes = [np.log1p([len(t.split()) for t in texts]) for texts in (noisy, clear)]
    shift = np.median(sizes[0]) - np.median(sizes[1])
    found["number of words"] = -np.abs(np.subtract.outer(sizes[0] - shift, sizes[1]))
    for name, adversary in custom.items():
        found[name] = np.asarray(adversary(clear, noisy), dtype=float)
        if found[name].shape != (len(noisy), len(clear)) or np.isnan(found[name]).any():
            raise InvalidParameterError(
                "adversaries must return arrays of shape "
                f"({len(noisy)}, {len(clear)}) without NaN, got {found[name].shape}."
            )
    if len(noisy) >= _FEWEST_PAIRS:
        if truth is None:
            found |= _translations(clear, released) | _word_for_word(clear, noisy)
        found = {name: _tied(score) for name, score in found.items()}
        found = {"all, learned": _learned(found, rows, seed)} | found
    if releaser is not None:
        with quiet(PrivacyLeakWarning, OutOfVocabularyWarning, EmptyDocumentWarning):
            releaser = fitted_releaser(releaser, original, "releaser")
            likelihood = releaser.likelihood(original, random_state=seed)
            found["likelihood"] = likelihood(released)
    right = {name: found_among(_tied(score), rows, n) for name, score in found.items()}
    return Scores(scored("linkage", right, 1 / n, seed))


def similarities(original: Sequence[str], released: Sequence[str]) -> dict[str, Any]:
    """Compute similarities of releases to originals, (n_released, n_originals)."""
    words, parts = by_words(), by_parts()
    clear = words.fit_transform(original)
    noisy = words.transform(released)
    often, usual = (np.asarray((x > 0).mean(axis=0)).ravel() for x in (noisy, clear))
    telling = (often < PLACEHOLDER) | (often < _OFTENER * usual)
    in_parts = parts.fit_transform(original)
    return {
        "words in common": (noisy.multiply(telling).tocsr() @ clear.T).toarray(),
        "parts of words in common": (parts.transform(released) @ in_parts.T).toarray(),
    }


def _tied(scores: np.ndarray) -> np.ndarray:
    """Make scores finite, and equal if they differ by rounding only."""
    finite = np.isfinite(scores)
    low, high = (end(scores[finite], initial=0) for end in (np.min, np.max))
    # Impossible candidates come last.
    scores = np.where(finite, scores, 2 * low - high - 1)
    unit = np.abs(scores).max(initial=0) * _TIE
    return np.round(scores / unit) * unit if unit > 0 else scores


# -- learned from other pairs ----------------------------------------------------------


def _translations(original: Sequence[str], released: Any) -> dict[str, Any]:
    """Compare originals with translated releases, and releases with translated ones.

    Ridge regression maps weighted counts of words, or numbers, from one side to the
    other. It needs no common word: releases may replace each word by another or a code.
    """
    clear = _gram(by_words().fit_transform(original))
    codes: Any = numbers_of(released)
    if codes is None:
        by_code = TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True)
        codes = by_code.fit_transform(
            [text.strip() or "." for text in texts_of(released)]
        )
    noisy = _gram(codes)
    return {
        "translation": _carried(noisy, clear, back=False),
        "translation of originals": _carried(clear, noisy, back=True),
    }


def _gram(x: Any) -> np.ndarray:
    """Compute cosines of centered rows."""
    like = x @ x.T
    like = like.toarray() if hasattr(like, "toarray") else like
    mean = like.mean(axis=0)
    like = like - mean - mean[:, None] + mean.mean()
    like = np.where(np.abs(like) < _TIE, 0, like)  # rounding errors of equal texts
    size = np.sqrt(np.maximum(np.diagonal(like), _TIE))
    return like / np.outer(size, size)


def _carried(known: np.ndarray, other: np.ndarray, *, back: bool) -> np.ndarray:
    """Compute similarities of candidates (columns) to releases after translation.

    Both arguments are similarities within a side; `known` is of the side that is
    translated, the candidates if `back`. The candidate and the original of a release
    are compared by a model of all pairs *except these two*, in closed form. A model
    that learned from the candidate's own pair would make a wrong candidate dissimilar
    to the release, and even unrelated texts would seem to be identified.
    """
    inverse = np.linalg.inv(known + _RIDGE * np.eye(len(known)))
    own, change = np.diagonal(inverse), inverse @ other
    # Determinants of the 2 × 2 blocks of the inverse, which remove two pairs at once.
    det = np.outer(own, own) - inverse**2
    np.fill_diagonal(det, 1)
    if back:
        change = change.T
        of_own = np.diagonal(change)[:, None]
        wrong = other - (own[:, None] * change - inverse * of_own) / det
        right = own * of_own - inverse * change
    else:
        wrong = other - (own * change - inverse * np.diagonal(change)) / det
        right = own * np.diagonal(change)[:, None] - inverse * change.T
    right = np.diagonal(other)[:, None] - right / det
    np.fill_diagonal(right, 0)
    # Differences from the original have a common scale for all candidates of a release.
    mean = right.sum(axis=1, keepdims=True) / (len(right) - 1)
    found = wrong - right + mean
    np.fill_diagonal(found, mean.ravel())
    return found


def _word_for_word(original: Sequence[str], released: Sequence[str]) -> dict[str, Any]:
    """Compute likelihoods of releases with one word for each word, in order.

    The replacements of each word are learned from all pairs except the two that are
    compared. For the truth, which is one of them, a typical other pair is left out.
    Other kinds of releases give no score.
    """
    cuts: tuple[Any, ...] = words_of, str.split
    ways = [[list(map(cut, texts)) for cut in cuts] for texts in (original, released)]
    texts = max(product(*ways), key=lambda way: _in_step(*way).sum())
    same = _in_step(*texts)
    if same.mean() < 0.5:
        return {}
    number: dict[str, int] = {}
    clear, noisy = (
        [np.array([number.setdefault(w, len(number)) for w in text], int) for text in x]
        for x in texts
    )
    n, rows = len(number), np.flatnonzero(same)
    row_of = np.repeat(rows, [len(clear[row]) for row in rows])
    words, codes = (
        np.concatenate([side[row] for row in rows]) for side in (clear, noisy)
    )
    often = np.bincount(codes, minlength=n) / len(codes)
    in_all, in_row = (
        _Counts(words * n + codes),
        _Counts((row_of * n + words) * n + codes),
    )
    # the first words of each original, and how often others have these
    first = np.zeros((len(clear), _PLACES), int)
    for row, text in enumerate(clear):
        first[row, : len(text)] = text[:_PLACES]
    of_word, own = np.bincount(words, minlength=n), _Counts(row_of * n + words)
    elsewhere = of_word[first] - own(np.arange(len(clear))[:, None] * n + first)
    sizes, scores = (
        np.array(list(map(len, clear))),
        np.full((len(noisy), len(clear)), -np.inf),
    )
    for row, text in enumerate(noisy):
        of_size, code = np.flatnonzero(sizes == len(text)), text[:_PLACES]
        place = first[of_size, : len(code)]
        seen = in_all(place * n + code).astype(float)
        hit = np.nonzero(seen)  # of few pairs there is anything to leave out
        pair = place[hit] * n + code[hit[1]]
        for whose in (row, np.where(of_size == row, -1, of_size)[hit[0]]):
            seen[hit] -= in_row(whose * n * n + pair)
        mine = own(row * n + place) * (of_size != row)[:, None]
        total = elsewhere[of_size, : len(code)] - mine
        # of the truth, as much is left out as of candidates, of whom two pairs are
        left = np.where(of_size == row, 1 - 1 / max(1, len(rows) - 1), 1)[:, None]
        odds = (left * seen + (place == code) / 2 + often[code]) / (left * total + 1.5)
        scores[row, of_size] = np.log(np.maximum(odds, 1e-12)).sum(axis=1)
    return {"word for word": scores}


def _in_step(clear: Sequence[Any], noisy: Sequence[Any]) -> np.ndarray:
    """Which pairs have equally many words."""
    return np.array([len(a) == len(b) > 0 for a, b in zip(clear, noisy, strict=True)])


class _Counts:
    """Counts of numbers, for look-ups."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.times = np.unique(numbers, return_counts=True)

    def __call__(self, wanted: np.ndarray) -> np.ndarray:
        at = np.minimum(self.numbers.searchsorted(wanted), len(self.numbers) - 1)
        return np.where(self.numbers[at] == wanted, self.times[at], 0)


def _learned(
    scores: Mapping[str, np.ndarray], truth: np.ndarray, seed: int
) -> np.ndarray:
    """Combine all similarities, weighted by logistic regression on other pairs.

    The features of a pair are how much each score stands out among those of the same
    release, and among those of the same original. No release is scored by a model that
    saw it or its original.
    """
    rng, (n, m) = np.random.default_rng(seed), next(iter(scores.values())).shape
    features = [
        part for s in scores.values() for part in (_outstanding(s), _outstanding(s.T).T)
    ]
    columns = np.column_stack([truth, rng.integers(0, m, (n, _WRONG))])
    seen = np.stack(
        [part[np.arange(n)[:, None], columns] for part in features], axis=-1
    )
    right = columns == truth[:, None]
    _, place = np.unique(truth, return_inverse=True)
    fold = np.full(m, -1)  # an original and all its releases are in one fold
    fold[truth] = rng.permutation(place.max() + 1)[place] % _FOLDS
    total = np.zeros((n, m))
    for k in range(_FOLDS):
        asked = fold[truth] == k
        learn = ~asked[:, None] & (fold[columns] != k)
        if 0 < right[learn].sum() < learn.sum():
            model = LogisticRegression(max_iter=200).fit(seen[learn], right[learn])
            for weight, part in zip(model.coef_[0], features, strict=True):
                total[asked] += weight * part[asked]
    return total


def _outstanding(scores: np.ndarray) -> np.ndarray:
    """Compute standard deviations above the mean of the row; 0 if all are equal."""
    excess = scores - scores.mean(axis=1, keepdims=True)
    spread = excess.std(axis=1, keepdims=True)
    flat = spread <= _TIE * np.abs(scores).max(initial=0)
    return np.where(flat, 0, excess / np.where(flat, 1, spread))
