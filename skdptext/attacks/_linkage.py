"""Link releases to their originals: attackers who hold candidate documents."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations, islice, zip_longest
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import KernelCenterer, StandardScaler

from skdptext.attacks._scores import Scores, by_name, scored
from skdptext.attacks._words import Documents, by_parts, by_words, paired
from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError
from skdptext.metrics import found_among
from skdptext.utils import as_array, check_integer, check_rng, quiet

# The fewest originals from which attackers learn, their number of folds, and the number
# of wrong pairs for each right one.
_FEWEST, _FOLDS, _WRONG = 10, 5, 30
# The penalty of the ridge regression, for rows of length 1.
_RIDGE = 0.3
# Number of words of a text that are read in order, and number of folds.
_PLACES, _PARTS = 100, 10
# Differences of similarities that are rounding errors.
_TIE = 9

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
    original, released = paired(original, released, in_step=truth is None)
    clear, noisy = original.texts, released.texts
    rows, shape = np.arange(len(noisy)), (len(noisy), len(clear))
    if truth is not None:
        rows = as_array(truth, "truth must hold whole numbers")
    if rows.shape != shape[:1] or not np.isin(rows, np.arange(len(clear))).all():
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
    rule = "adversaries must map names to functions"
    for name, adversary in by_name(adversaries, rule, "__call__").items():
        rule = f"adversaries must return finite numbers, an array of shape {shape}"
        given = as_array(adversary(clear, noisy), rule, float)
        if given.shape != shape or not np.isfinite(given).all():
            raise InvalidParameterError(f"{rule}, got shape {given.shape}.")
        # Ties are a matter of scale: probabilities may be tiny.
        found[name] = given / (np.abs(given).max() or 1)
    if len(np.unique(rows)) >= _FEWEST:
        if truth is None:
            found |= _translations(original, released) | _word_for_word(clear, noisy)
        found = {"all, learned": _learned(found, rows, seed)} | found
    if releaser is not None:
        with quiet(Warning):  # releasers warn of leaks that the caller knows
            releaser = fitted_releaser(releaser, original.given, "releaser")
            likelihood = releaser.likelihood(original.given, random_state=seed)
            found["likelihood"] = likelihood(released.given)
    right = {name: found_among(score, rows, n) for name, score in found.items()}
    return scored("linkage", right, 1 / n, seed)


def similarities(
    original: Sequence[str], released: Sequence[str]
) -> dict[str, np.ndarray]:
    """Compute similarities of releases to originals, (n_released, n_originals)."""

    def like(by: Any) -> np.ndarray:
        clear = by.fit_transform(original)
        return np.asarray(linear_kernel(by.transform(released), clear))

    # Numbers of words are compared after removing what a release adds to all texts, or
    # leaves out of all.
    sizes = [np.log1p([len(t.split()) for t in x]) for x in (released, original)]
    more, than = (size - np.median(size) for size in sizes)
    return {
        "words in common": like(by_words()),
        "parts of words in common": like(by_parts()),
        "number of words": -np.abs(np.subtract.outer(more, than)),
    }


# -- learned from other pairs ----------------------------------------------------------


def _translations(original: Documents, released: Documents) -> dict[str, np.ndarray]:
    """Compare originals with translated releases, and releases with translated ones.

    Ridge regression maps weighted counts of words, or numbers, from one side to the
    other. It needs no common word: releases may replace each word by another or a code.
    """
    codes = released.numbers
    if codes is None:
        codes = by_words(str.split).fit_transform(released.texts)
    clear, noisy = _gram(by_words().fit_transform(original.texts)), _gram(codes)
    return {
        "translation": _carried(noisy, clear, back=False),
        "translation of originals": _carried(clear, noisy, back=True),
    }


def _gram(x: Any) -> np.ndarray:
    """Compute cosines of centered rows."""
    like = KernelCenterer().fit_transform(linear_kernel(x))
    size = np.sqrt(np.maximum(np.diagonal(like), 1e-6))
    return np.asarray(like / np.outer(size, size))


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
    found = (wrong.T if back else wrong) - right
    np.fill_diagonal(found, 0)
    return found


def _word_for_word(
    original: Sequence[str], released: Sequence[str]
) -> dict[str, np.ndarray]:
    """Compute likelihoods of releases with one word for each word, in order.

    The replacements of words are learned from other pairs. A candidate is compared with
    the original of a release by a model of all pairs except those in their two parts.
    Other kinds of releases give no score.
    """
    clear, noisy = (list(map(str.split, texts)) for texts in (original, released))
    equal = np.equal.outer(*(list(map(len, texts)) for texts in (noisy, clear)))
    step, n_texts = equal.diagonal(), len(clear)
    if 2 * step.sum() < n_texts:
        return {}
    number = {word: i for i, word in enumerate({"", *chain(*clear, *noisy)})}
    places = islice(zip_longest(*noisy, *clear, fillvalue=""), _PLACES)
    read = np.array([[number[word] for word in place] for place in places])
    codes, words = read[:, :n_texts], read[:, n_texts:]
    n, part, scores = len(number), np.arange(n_texts) % _PARTS, np.zeros(equal.shape)
    usual = (np.bincount(codes.ravel(), minlength=n) + 1) / codes.size
    for pair in combinations(range(_PARTS), 2):
        held = np.isin(part, pair)
        known = words[:, step & ~held].ravel(), codes[:, step & ~held].ravel()
        times = sp.csr_array((np.ones(len(known[0])), known), shape=(n, n))
        # A word may also be kept, or become any other one.
        odds = ((times + sp.eye_array(n) / 2) @ sp.diags_array(1 / usual)).log1p()
        like = -np.log(times.sum(axis=1) + 1.5)[words[:, held]].sum(axis=0)
        for code, word in zip(codes[:, held], words[:, held], strict=True):
            like = like + odds[word][:, code].toarray().T
        scores[np.ix_(held, held)] = like - like.diagonal()[:, None]
    # Candidates of other lengths are as unlikely as the least likely one.
    least = scores.min(axis=1, keepdims=True, where=equal, initial=0)
    return {"word for word": np.where(equal, scores, least)}


def _learned(
    scores: Mapping[str, np.ndarray], truth: np.ndarray, seed: int
) -> np.ndarray:
    """Combine all similarities, weighted by logistic regression on other pairs.

    The features of a pair are how much each score stands out among those of the same
    release, and among those of the same original. No release is scored by a model that
    saw it, or another one of its original.
    """
    rng, (n, m) = np.random.default_rng(seed), next(iter(scores.values())).shape
    scaled = StandardScaler().fit_transform
    rows = [scaled(np.round(score, _TIE).T).T for score in scores.values()]
    features = np.stack([*rows, *map(scaled, rows)], axis=-1)
    columns = np.column_stack([truth, rng.integers(0, m, (n, _WRONG))])
    seen, right = features[np.arange(n)[:, None], columns], columns == truth[:, None]
    folds, total = GroupKFold(_FOLDS, shuffle=True, random_state=seed), np.zeros((n, m))
    for learn, held in folds.split(seen, groups=truth):
        model = LogisticRegression(max_iter=200)
        model.fit(np.concatenate(seen[learn]), np.concatenate(right[learn]))
        total[held] = features[held] @ model.coef_[0]
    return total
