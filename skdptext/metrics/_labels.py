"""Score predicted labels, also where classes are skewed."""

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, precision_score, recall_score


def label_scores(labels: Any, predicted: Any) -> dict[str, float]:
    """Compute the three scores by which learning is judged.

    Parameters
    ----------
    labels : array-like of shape (n_documents,)
        The true labels.
    predicted : array-like of shape (n_documents,)
        The predicted labels.

    Returns
    -------
    scores : dict of str to float
        Balanced accuracy, accuracy, and the precision of the class that is rarest among
        the true labels; a precision is 0 if the class is never predicted.

    Examples
    --------
    >>> from skdptext.metrics import label_scores
    >>> predicted = ["ham", "ham", "spam", "spam"]
    >>> scores = label_scores(["ham", "ham", "ham", "spam"], predicted)
    >>> [f"{name}: {score:.2f}" for name, score in scores.items()]
    ['balanced accuracy: 0.83', 'accuracy: 0.75', 'precision of the rarest class: 0.50']
    >>> scores = label_scores(["ham", "ham", "spam"], ["ham", "eggs", "eggs"])
    >>> [f"{score:.2f}" for score in scores.values()]
    ['0.25', '0.33', '0.00']
    """
    classes, counts = np.unique(labels, return_counts=True)
    macro: Any = {"average": "macro", "zero_division": 0.0}
    rarest = classes[[counts.argmin()]]
    return {
        "balanced accuracy": recall_score(labels, predicted, labels=classes, **macro),
        "accuracy": accuracy_score(labels, predicted),
        "precision of the rarest class": precision_score(
            labels, predicted, labels=rarest, **macro
        ),
    }
