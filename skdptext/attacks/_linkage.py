"""Link releases to their originals: attackers who hold candidate documents."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from skdptext.attacks._scores import Scores, check_adversaries, scored
from skdptext.attacks._words import (
    PLACEHOLDER,
    by_parts,
    by_words,
    documents_of,
    has_words,
    numbers_of,
    texts_of,
    words_of,
)
from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError
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
# Similarities closer than this, relative to the largest, differ by rounding only.
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
    paired = truth is not None or len(clear) == len(noisy)
    if not paired or min(len(clear), len(noisy)) < 2 or not any(map(has_words, clear)):
        raise InvalidParameterError(
            "original and released must be of equal length unless truth is given, and "
            "hold at least 2 texts, and original words, got "
            f"{len(clear)} and {len(noisy)} texts."
        )
    rows = np.arange(len(noisy))
    if truth is not None:
        rows = as_array(truth, "truth must hold whole numbers")
    if rows.shape != (len(noisy),) or not np.isin(rows, np.arange(len(clear))).all():
        raise InvalidParameterError(
            f"truth must hold a row of original, 0 to {len(clear) - 1}, for each of "
            f"{len(noisy)} releases, got others or another number."
        )
    n = min(check_integer("n_candidates", n_candidates, low=2), len(clear))
    seed = int(check_rng(random_state).integers(2**31))
    found = similarities(clear, noisy)
    if truth is not None:
        # Long texts are similar to all releases. What counts is the excess over the
        # usual similarity.
        alike = found["words in common"]
        found["words, more than usual"] = alike - alike.mean(axis=0)
    custom = check_adversaries(adversaries, "functions", "__call__")
    for name, adversary in custom.items():
        shape = (len(noisy), len(clear))
        rule = f"adversaries must return finite numbers, an array of shape {shape}"
        given = as_array(adversary(clear, noisy), rule, float)
        if given.shape != shape or not np.isfinite(given).all():
            raise InvalidParameterError(f"{rule}, got shape {given.shape}.")
        # Ties are a matter of scale: probabilities may be tiny.
        found[name] = given / (np.abs(given).max() or 1)
    if len(noisy) >= _FEWEST_PAIRS:
        if truth is None:
            found |= _translations(clear, released) | _word_for_word(clear, noisy)
        found = {"all, learned": _learned(found, rows, seed)} | found
    if releaser is not None:
        with quiet(Warning):  # releasers warn of leaks that the caller knows
            releaser = fitted_releaser(releaser, original, "releaser")
            likelihood = releaser.likelihood(original, random_state=seed)
            found["likelihood"] = likelihood(released)
    right = {name: found_among(score, rows, n) for name, score in found.items()}
    return Scores(scored("linkage", right, 1 / n, seed))


def similarities(
    original: Sequence[str], released: Sequence[str]
) -> dict[str, np.ndarray]:
    """Compute similarities of releases to originals, (n_released, n_originals)."""
    words, parts = by_words(), by_parts()
    clear = words.fit_transform(original)
    noisy = words.transform(released)
    often, usual = (np.asarray((x > 0).mean(axis=0)).ravel() for x in (noisy, clear))
    telling = (often < PLACEHOLDER) | (often < _OFTENER * usual)
    in_parts = parts.fit_transform(original)
    # Numbers of words are compared after removing what a release adds to all texts, or
    # leaves out of all.
    sizes = [np.log1p([len(t.split()) for t in x]) for x in (released, original)]
    more, than = (size - np.median(size) for size in sizes)
    return {
        "words in common": (noisy.multiply(telling).tocsr() @ clear.T).toarray(),
        "parts of words in common": (parts.transform(released) @ in_parts.T).toarray(),
        "number of words": -np.abs(np.subtract.outer(more, than)),
    }


# -- learned from other pairs ----------------------------------------------------------


def _translations(original: Sequence[str], released: Any) -> dict[str, np.ndarray]:
    """Compare originals with translated releases, and releases with translated ones.

    Ridge regression maps weighted counts of words, or numbers, from one side to the
    other. It needs no common word: releases may replace each word by another or a code.
    """
    clear = _gram(by_words().fit_transform(original))
    codes: Any = numbers_of(released)
    if codes is None:
        by_code = TfidfVectorizer(analyzer=str.split, sublinear_tf=True)
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
    like = like.toarray() if sp.issparse(like) else like
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
    change = inverse @ other
    own, moved, like = map(np.diagonal, (inverse, change, other))
    # Determinants of the 2 × 2 blocks of the inverse, which remove two pairs at once.
    det = np.outer(own, own) - inverse**2
    np.fill_diagonal(det, 1)
    wrong = other - (own * change - inverse * moved) / det
    right = like[:, None] - (np.outer(moved, own) - inverse * change.T) / det
    np.fill_diagonal(right, 0)
    # Differences from the original have a common scale for all candidates of a release.
    mean = right.sum(axis=1) / (len(right) - 1)
    found = (wrong.T if back else wrong) - right + mean[:, None]
    np.fill_diagonal(found, mean)
    return found


def _word_for_word(
    original: Sequence[str], released: Sequence[str]
) -> dict[str, np.ndarray]:
    """Compute likelihoods of releases with one word for each word, in order.

    The replacements of each word are learned from all pairs except the two that are
    compared, those of the candidate and of the release. Otherwise other candidates of
    unrelated texts would be more likely than the truth, and be told apart by it. Other
    kinds of releases give no score.
    """
    cuts: tuple[Any, ...] = words_of, str.split
    ways = [[list(map(cut, x)) for x in (original, released)] for cut in cuts]
    texts = max(ways, key=lambda way: _in_step(*way).sum())
    same = _in_step(*texts)
    if same.mean() < 0.5:
        return {}
    words = dict.fromkeys(chain(*texts[0], *texts[1]))
    number = dict(zip(words, range(len(words)), strict=True))
    clear, noisy = ([np.array([number[w] for w in t], int) for t in x] for x in texts)
    sizes, n, step = np.array(list(map(len, noisy))), len(words), np.flatnonzero(same)
    row_of = np.repeat(step, sizes[step])
    word, code = (np.concatenate([side[i] for i in step]) for side in (clear, noisy))
    every = sp.csr_array((np.ones(len(word)), (word, code)), shape=(n, n))
    has = sp.csc_array((np.ones(len(word)), (row_of, word)), shape=(len(clear), n))
    keys, often = np.unique((row_of * n + word) * n + code, return_counts=True)

    def in_pair(row: Any, word: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Count how often a word becomes another one in the pair of a row."""
        wanted = (row * n + word) * n + code
        at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, often[at], 0)

    usual = (every.sum(axis=0) + 1) / every.sum()
    scores = np.full((len(noisy), len(clear)), np.nan)
    for column, text in enumerate(clear):
        rows = np.flatnonzero(sizes == len(text))
        if not len(text) or not len(rows):
            continue
        place = text[:_PLACES]
        codes = np.array([noisy[row][:_PLACES] for row in rows])
        held, true = has[:, place].toarray(), (rows == column)[:, None]
        total = held.sum(axis=0) - held[column] - np.where(true, 0, held[rows])
        times = every[place].toarray()[np.arange(len(place)), codes]
        at, of = times.nonzero()  # of few words there is anything to leave out
        left_out = in_pair(column, place[of], codes[at, of])
        theirs = in_pair(rows[at], place[of], codes[at, of])
        times[at, of] -= left_out + np.where(true[at, 0], 0, theirs)
        # Of the truth, a typical pair is left out as the second one.
        left = np.where(true, 1 - 1 / max(2, len(step) - 1), 1)
        odds = left * times + (codes == place) / 2 + usual[codes]
        scores[rows, column] = np.log(odds / (left * total + 1.5)).sum(axis=1)
    # Candidates of other lengths are as unlikely as the least likely one.
    least = np.nanmin(np.c_[scores, np.zeros(len(scores))], axis=1)
    return {"word for word": np.where(np.isnan(scores), least[:, None], scores)}


def _in_step(clear: Sequence[Any], noisy: Sequence[Any]) -> np.ndarray:
    """Which pairs have equally many words."""
    return np.array([len(a) == len(b) > 0 for a, b in zip(clear, noisy, strict=True)])


def _learned(
    scores: Mapping[str, np.ndarray], truth: np.ndarray, seed: int
) -> np.ndarray:
    """Combine all similarities, weighted by logistic regression on other pairs.

    The features of a pair are how much each score stands out among those of the same
    release, and among those of the same original. No release is scored by a model that
    saw it, or another one of its original.
    """
    rng, (n, m) = np.random.default_rng(seed), next(iter(scores.values())).shape
    both = [(_outstanding(s), _outstanding(s.T).T) for s in scores.values()]
    features = np.stack(list(chain(*both)), axis=-1)
    columns = np.column_stack([truth, rng.integers(0, m, (n, _WRONG))])
    seen = features[np.arange(n)[:, None], columns]
    right = columns == truth[:, None]
    _, place = np.unique(truth, return_inverse=True)
    fold = rng.permutation(place.max() + 1)[place] % _FOLDS
    total = np.zeros((n, m))
    for k in set(fold) if place.any() else ():
        model = LogisticRegression(max_iter=200)
        model.fit(np.concatenate(seen[fold != k]), np.concatenate(right[fold != k]))
        total[fold == k] = features[fold == k] @ model.coef_[0]
    return total


def _outstanding(scores: np.ndarray) -> np.ndarray:
    """Compute standard deviations above the mean of the row; 0 if all are equal."""
    excess = scores - scores.mean(axis=1, keepdims=True)
    spread = excess.std(axis=1, keepdims=True)
    flat = spread <= _TIE * np.abs(scores).max(initial=0)
    return np.where(flat, 0, excess / np.where(flat, 1, spread))
