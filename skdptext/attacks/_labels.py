"""Infer authors, topics and other labels of releases by trained classifiers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing

from skdptext.attacks._scores import Scores, by_name, scored
from skdptext.attacks._words import by_parts, by_words, paired, read
from skdptext.base import fitted_releaser
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import as_labels, check_integer, check_kind, quiet


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
        frequent label.

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
    released, views = read("released", released), {}
    if original is not None:
        original, released = paired(original, released)
        views["originals"] = original.texts
    views["releases"] = noisy = released.texts
    rule = "adversaries must map names to classifiers"
    custom = by_name(adversaries, rule, "fit", "predict", "get_params")
    check_kind(name, str, "name must be a str")
    check_integer("random_state", random_state, low=0)
    n = len(noisy)
    known = as_labels("labels", labels, n, n_different=2)
    most = int(np.unique(known, return_counts=True)[1].max())
    n_splits = min(check_integer("n_splits", n_splits, low=2), max(2, most))
    if groups is None:
        # Copies of a text must not be both learned and inferred: the label would be
        # read off.
        groups = list(map(" ".join, (original or released).words))
        groups = groups if len(set(groups)) >= n_splits else np.arange(n)
    groups = as_labels("groups", groups, n, n_different=n_splits)
    svm = LinearSVC(tol=1e-2, random_state=random_state)
    # Parts of words are read for style.
    models = {
        "linear model": make_pipeline(make_union(by_words(), by_parts()), svm),
        "naive Bayes": make_pipeline(by_words(), ComplementNB()),
    }
    # Each attacker by name: a classifier, what it learns from, and what it is asked.
    attackers: dict[str, Any] = {
        f"{by}, trained on {source}": (model, texts, noisy)
        for by, model in (models | custom).items()
        for source, texts in views.items()
    }
    if (numbers := released.numbers) is not None:
        attackers["linear model of the numbers"] = svm, numbers, numbers
    if releaser is not None and original is not None:
        releaser = fitted_releaser(releaser, original.given, "releaser")
        bayes = ChannelNaiveBayes(releaser, random_state=random_state)
        both = original.given, released.given
        attackers["naive Bayes that knows the mechanism"] = bayes, *both
    folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=random_state)
    right = {by: np.zeros(n) for by in attackers}
    # scikit-learn warns about labels with few documents, and releasers about leaks that
    # the caller knows.
    with quiet(Warning):
        for learn, held in folds.split(known, known, groups):
            if len(np.unique(known[learn])) == 1:  # nothing to learn
                continue
            for by, (model, texts, asked) in attackers.items():
                fitted = clone(model).fit(_safe_indexing(texts, learn), known[learn])
                guess = fitted.predict(_safe_indexing(asked, held))
                right[by][held] = guess == known[held]
    return scored(name, right, most / n, random_state, together=2)
