"""Infer authors, topics and other labels of releases by trained classifiers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from skdptext.attacks._risk import pair_interval
from skdptext.attacks._scores import Scores, check_adversaries, scored
from skdptext.attacks._words import (
    by_parts,
    by_words,
    documents_of,
    numbers_of,
    rows_of,
    texts_of,
    words_of,
)
from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import as_labels, check_integer, quiet

# Text that replaces an empty release, because vectorizers need a word.
_NOTHING = "nothing"
_INFORMED = "naive Bayes that knows the mechanism"


def label_attack(
    original: Any,
    released: Any,
    labels: Any,
    *,
    name: str = "author",
    groups: Any = None,
    releaser: Any = None,
    adversaries: Mapping[str, Any] | None = None,
    n_splits: int = 5,
    random_state: int = 0,
) -> Scores:
    """Measure how often attackers infer the label of a release, such as its author.

    Classifiers are trained on other documents whose labels are known: on originals, and
    again on releases. The strongest is chosen on half of the documents, and all are
    scored on the others.

    Parameters
    ----------
    original : iterable of str or of lists of str, of length n_documents, or None
        Texts in plain text. With None, attackers only know releases.
    released : iterable of str or of lists of str, of length n_documents
        Their releases, in the same order.
    labels : array-like of shape (n_documents,)
        Authors, topics or other classes; at least two different ones.
    name : str, default="author"
        Name of the labels, which is the question of the scores.
    groups : array-like of shape (n_documents,), default=None
        Documents of a group are held out together. With None, equal texts are.
    releaser : releaser, default=None
        The releaser that made `released`, in the form that its `output` selects. Naive
        Bayes that knows it is another attacker.
    adversaries : dict of str to classifier of texts, default=None
        Further attackers, unfitted, by name.
    n_splits : int >= 2, default=5
        Folds of cross-validation.
    random_state : int, default=0
        Draws folds and halves.

    Returns
    -------
    scores : Scores
        ``scores[name]`` is the strongest attacker. `chance` is the share of the most
        frequent label, and `clear` the score of the best attacker on the originals.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    *Intervals.* Predictions depend on other documents, so only half of the documents
    are counted.

    *Privacy.* The result is computed from the documents and their labels. Success
    proves a leak; failure proves nothing about others.

    Examples
    --------
    >>> from skdptext.attacks import label_attack
    >>> texts = [f"{old} {w}" for old in ("thou art", "you are") for w in "abcdefgh"]
    >>> scores = label_attack(texts, texts, ["old"] * 8 + ["new"] * 8)
    >>> scores["author"].value, scores["author"].chance
    (1.0, 0.5)
    """
    released = documents_of("released", released, numbers=True)
    noisy = texts_of(released)
    views = {"releases": [text if words_of(text) else _NOTHING for text in noisy]}
    if original is not None:
        original = documents_of("original", original)
        views = {"originals": texts_of(original)} | views
    custom = check_adversaries(
        adversaries, "classifiers", "fit", "predict", "get_params"
    )
    n = len(released)
    if any(len(texts) != n for texts in views.values()):
        raise InvalidParameterError(
            "original and released must be of equal length, got "
            f"{len(original)} and {n} texts."
        )
    check_integer("random_state", random_state, low=0)
    known = as_labels("labels", labels, n, n_different=2)
    counts = np.unique(known, return_counts=True)[1]
    n_splits = min(check_integer("n_splits", n_splits, low=2), max(2, counts.max()))
    if groups is None:
        # Copies of a text must not be both learned and inferred: the label would be
        # read off.
        groups = [" ".join(words_of(text)) for text in next(iter(views.values()))]
        groups = groups if len(set(groups)) >= n_splits else np.arange(n)
    groups = as_labels("groups", groups, n, n_different=n_splits)
    folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=random_state)
    trials: list[tuple[str, Any, Any, Mapping[str, Any]]] = [
        (f"{by}, trained on {source}", model, texts, views)
        for by, model in (_models(random_state) | custom).items()
        for source, texts in views.items()
    ]
    numbers = numbers_of(released)
    if numbers is not None:
        svm = LinearSVC(tol=1e-2, random_state=random_state)
        trials.append(
            ("linear model of the numbers", svm, numbers, {"releases": numbers})
        )
    if releaser is not None and original is not None:
        releaser = fitted_releaser(releaser, original, "releaser")
        bayes = ChannelNaiveBayes(releaser, random_state=random_state)
        trials.append((_INFORMED, bayes, original, {"releases": released}))
    right = {view: {by: np.zeros(n) for by, *_ in trials} for view in views}
    # scikit-learn warns about labels with few documents, and releasers about leaks that
    # the caller knows.
    with quiet(Warning):
        for learn, held in folds.split(known, known, groups):
            for by, model, documents, asked in trials:
                # With a single label in the fold, there is nothing to learn.
                alone = len(np.unique(known[learn])) == 1
                fitted = clone(DummyClassifier() if alone else model)
                fitted.fit(rows_of(documents, learn), known[learn])
                for view, of_view in asked.items():
                    guess = fitted.predict(rows_of(of_view, held))
                    right[view][by][held] = guess == known[held]
    chance = float(counts.max() / n)
    rows = scored(name, right["releases"], chance, random_state, pair_interval)
    in_clear = right.get("originals", {}).values()
    clear = max((float(hits.mean()) for hits in in_clear), default=None)
    return Scores(replace(row, clear=clear) for row in rows)


def _models(seed: int) -> dict[str, Any]:
    """Make classifiers of raw texts, which also use parts of words, for style."""
    model = LinearSVC(tol=1e-2, random_state=seed)
    linear = make_pipeline(make_union(by_words(), by_parts()), model)
    bayes = make_pipeline(by_words(), ComplementNB())
    return {"linear model": linear, "naive Bayes": bayes}
