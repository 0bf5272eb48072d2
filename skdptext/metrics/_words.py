"""Measure how many words a perturber changes, as a number and as scorers."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from skdptext.base import check_word_releaser, perturbs_words
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import warn_once

# At most so many words are perturbed. The standard error of the share is then at most
# 1/(2 √2000), or 1.1%.
_MOST_WORDS = 2000


def find_perturber(estimator: Any) -> Any:
    """Find the perturber in an estimator.

    Parameters
    ----------
    estimator : estimator
        A perturber, or a pipeline, search, FeatureUnion, ColumnTransformer or other
        meta-estimator that holds one. Fitted parts (``best_estimator_``,
        ``estimator_``, ``transformers_``) take precedence over unfitted ones.

    Returns
    -------
    perturber : DPWordPerturber
        The fitted perturber inside.

    Raises
    ------
    InvalidParameterError
        If there is no perturber, or more than one. Pass the right one instead.

    Warns
    -----
    PrivacyLeakWarning
        If a pipeline has a `memory`, which writes private texts to files.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.metrics import find_perturber
    >>> perturber = DPWordPerturber(mechanism="exponential", lam=0, epsilon=2.5)
    >>> find_perturber(make_pipeline(perturber, MultinomialNB())).epsilon
    2.5
    """
    return only_held(estimator, perturbs_words, "word perturber")[0]


def only_held(
    estimator: Any, wanted: Callable[[Any], bool], kind: str
) -> tuple[Any, Callable[[Any], Any]]:
    """Find the only wanted releaser, and a function for the input that reaches it."""
    held = list(_held(estimator, wanted))
    if len(held) != 1:
        raise InvalidParameterError(
            f"estimator must hold exactly one {kind}, got {len(held)} in "
            f"{type(estimator).__name__}."
        )
    ((releaser, before),) = held

    def reaching(X: Any) -> Any:
        for transform in before:
            X = transform(X)
        return X

    return releaser, reaching


def _held(
    estimator: Any, wanted: Callable[[Any], bool], before: tuple[Any, ...] = ()
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield each wanted releaser with the functions that its input passes first."""
    if wanted(estimator):
        yield estimator, before
    elif isinstance(estimator, Pipeline):
        # A releaser cannot see the cache of its pipeline.
        location = getattr(estimator.memory, "location", estimator.memory)
        if location is not None and len(estimator.steps) > 1:
            warn_once(
                "memory of the pipeline is set: joblib writes the inputs of its steps, "
                "including private texts, to files, and reuses earlier noise for the "
                "same texts. Use memory=None for private texts.",
                PrivacyLeakWarning,
            )
        # The input of a step has passed through all earlier steps. A nested pipeline
        # adds its steps to those of the outer one.
        for _, step in estimator.steps:
            yield from _held(step, wanted, before)
            if hasattr(step, "transform"):  # not "passthrough", nor a classifier
                before += (step.transform,)
    else:
        # Fitted parts take precedence: a search clones its estimator, and the perturber
        # that made the release is the fitted clone.
        for name in ("best_estimator_", "estimator_", "estimator"):
            if hasattr(estimator, name):
                yield from _held(getattr(estimator, name), wanted, before)
                return
        for name in ("transformers_", "transformers", "transformer_list"):
            if hasattr(estimator, name):
                for _, part, *columns in getattr(estimator, name):
                    # A ColumnTransformer gives each part its columns.
                    picked = (
                        partial(_safe_indexing, indices=c, axis=1) for c in columns
                    )
                    yield from _held(part, wanted, (*before, *picked))
                return


def words_unchanged(perturber: Any, X: Any) -> float:
    """Compute the share of the words of documents that stay unchanged.

    At most 2000 words, spread evenly over all documents, are perturbed: the standard
    error is at most 1.1%. NaN if no word is known.
    """
    check_word_releaser(perturber)
    words = list(chain.from_iterable(perturber.known_words(X)))
    if not words:
        return float("nan")
    if len(words) > _MOST_WORDS:
        # Words are taken evenly over all documents, because the first documents may be
        # about one topic.
        picks = np.linspace(0, len(words) - 1, _MOST_WORDS).astype(int)
        words = [words[i] for i in picks]
    noisy = perturber.perturb_words(words)[:, 0]
    return float(np.mean(noisy == np.array(words, dtype=object)))


def words_changed_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Score the share of the words that the perturber inside an estimator changes.

    At most 2000 words, spread evenly over all documents, are perturbed: the standard
    error is at most 1.1%.

    Parameters
    ----------
    estimator : fitted estimator
        A perturber, or a pipeline or search that holds exactly one.
    X : documents
        Input of the estimator.
    y : ignored
        Not used; here for scikit-learn's interface.

    Returns
    -------
    share : float in [0, 1]
        At the same guarantee, a higher share is more private. It estimates
        1 − N_w / n_draws averaged over the words of `X` [1]_; NaN if no word is known.

    See Also
    --------
    identified_scorer : The share of documents that an attacker identifies.
    skdptext.model_selection.best_under_constraint : Chooses by two scores at a time.

    Notes
    -----
    *Privacy.* The share is computed from the documents themselves. Publishing it, or
    using it to choose ε on private documents, is outside the guarantee.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import Pipeline
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.metrics import words_changed_scorer
    >>> from skdptext.model_selection import best_under_constraint
    >>> perturber = DPWordPerturber(mechanism="exponential", lam=0)
    >>> search = GridSearchCV(
    ...     Pipeline([("perturb", perturber), ("classify", MultinomialNB())]),
    ...     {"perturb__epsilon": [2.0, 2.5, 3.0]},
    ...     scoring={"accuracy": "accuracy", "changed": words_changed_scorer},
    ...     refit=best_under_constraint(
    ...         maximize="changed", subject_to={"accuracy": 0.8}, tuned_on="public"))
    """
    perturber, reaching = only_held(estimator, perturbs_words, "word perturber")
    return 1 - words_unchanged(perturber, reaching(X))
