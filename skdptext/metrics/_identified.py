"""Score how many documents an attacker who knows the mechanism identifies."""

from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import resample

from skdptext.base import BaseReleaser
from skdptext.exceptions import (
    EmptyDocumentWarning,
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics._words import only_held, words_changed_scorer
from skdptext.utils import check_integer, is_count_matrix, plain_documents, quiet

# At most so many documents are attacked. The standard error of the share is then at
# most 1/(2 √500), or 2.2%.
_MOST_DOCUMENTS = 500
# Fixed seed of the attacker's simulation, unlikely to equal any seed of a user.
_SIMULATION = 0x1DE27F1ED
# Scores that differ by less, relative to their size, differ by rounding only.
_TIE = 1e-9


def identified_scorer(
    estimator: Any, X: Any, y: Any = None, *, n_candidates: int = 100
) -> float:
    """Score the share of documents that an attacker who knows the mechanism identifies.

    Each document is released once. The attacker holds it and others of `X` in plain
    text, `n_candidates` in all, knows the mechanism with its ε and λ, and picks the
    document from which the release is most likely to come.

    Parameters
    ----------
    estimator : fitted estimator
        A releaser, such as `~skdptext.DPWordPerturber`, `~skdptext.DPDocumentReplacer`
        or another `~skdptext.base.BaseReleaser`; or a pipeline or search that holds
        exactly one.
    X : documents
        Input of the estimator. At most 500 of the documents, or `n_candidates` if that
        is larger, are drawn at random and attacked: the standard error is at most 2.2%.
    y : ignored
        Not used; here for scikit-learn's interface.
    n_candidates : int >= 1, default=100
        Number of documents that the attacker chooses from; all of `X` if it has fewer.
        In a search, pass ``functools.partial(identified_scorer, n_candidates=50)``.

    Returns
    -------
    share : float in [0, 1]
        A lower share is more private. A random guess identifies one over the number of
        candidates.

    Raises
    ------
    InvalidParameterError
        If there is no document, `n_candidates` breaks its rule, or the estimator does
        not hold exactly one releaser.

    See Also
    --------
    words_changed_scorer : Share of changed words, which does not measure privacy.
    privacy_utility_scoring : Both scorers, with accuracy.
    skdptext.attacks.linkage_attack : Tries several attackers, with intervals.

    Notes
    -----
    *Method.* The share is the exact average over all choices of the other candidates.
    Ties are broken at random: of two equal documents, each is identified half of the
    time. If the mechanism states its probabilities, as
    `~skdptext.mechanisms.Exponential` does, the likelihood of a text in order, or of a
    redrawn document, is exact, and no attacker identifies more on average. For other
    bags, words are treated as independent draws from the document. For noise on
    vectors, the likelihood is estimated from some thousand draws, and an attacker who
    draws more may identify slightly more. With an integer `random_state` of the
    releaser the share is repeatable.

    *Privacy.* The share is computed from the documents themselves. Publishing it, or
    using it to choose ε on private documents, is outside the guarantee.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> from skdptext.metrics import identified_scorer
    >>> embedding = make_embedding(60, 8, n_clusters=6, random_state=0)
    >>> texts, topics = make_documents(embedding, 20, length=10, random_state=0)
    >>> for epsilon in (1e-9, 1e9):
    ...     perturber = DPWordPerturber(
    ...         embedding, mechanism="exponential", lam=0, epsilon=epsilon,
    ...         document_length=10, random_state=0)
    ...     model = make_pipeline(perturber, MultinomialNB()).fit(texts, topics)
    ...     print(round(identified_scorer(model, texts), 2))  # a guess: 0.05
    0.05
    1.0
    """
    check_integer("n_candidates", n_candidates, low=1)
    releaser, reaching = only_held(
        estimator, lambda value: isinstance(value, BaseReleaser), "releaser"
    )
    documents = reaching(X)
    if not is_count_matrix(documents, name="X"):
        documents = list(plain_documents(documents))
    n = documents.shape[0] if hasattr(documents, "shape") else len(documents)
    if not n:
        raise InvalidParameterError("X must hold at least one document, got none.")
    if n > (most := max(_MOST_DOCUMENTS, n_candidates)):
        n = most
        documents = resample(documents, replace=False, n_samples=n, random_state=0)
    # The pipeline already warned of these when it was fitted.
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning, EmptyDocumentWarning):
        released = releaser.transform(documents)
        likelihood = releaser.likelihood(documents, n_draws=1, random_state=_SIMULATION)
        logs = likelihood(released)
    return float(found_among(logs, np.arange(n), min(n_candidates, n)).mean())


def privacy_utility_scoring() -> dict[str, Any]:
    """Make the scores of a search for noise: accuracy, changed words, identification.

    Returns
    -------
    scoring : dict of str to str or callable
        ``"accuracy"``, scikit-learn's balanced accuracy; ``"changed"``,
        `words_changed_scorer`; ``"identified"``, `identified_scorer`. For the `scoring`
        of ``GridSearchCV``, ``cross_validate`` and others.

    See Also
    --------
    skdptext.inspection.PrivacyUtilityDisplay : Plots a search with these scores.
    skdptext.model_selection.best_under_constraint : Chooses by two of them.

    Examples
    --------
    >>> from skdptext.metrics import privacy_utility_scoring
    >>> list(privacy_utility_scoring())
    ['accuracy', 'changed', 'identified']
    """
    return {
        "accuracy": "balanced_accuracy",
        "changed": words_changed_scorer,
        "identified": identified_scorer,
    }


def found_among(scores: np.ndarray, truth: np.ndarray, n: int) -> np.ndarray:
    """Compute the probability that the truth is identified among `n` candidates.

    `scores` has a row per release and a column per original, and larger is more
    similar; `truth` holds the column that each release belongs to. The candidates are
    the true original and n − 1 random others. The average over all such choices is
    computed exactly; ties are broken at random.

    Of N originals, let b score better than the true one, and e others the same. The
    probability is Σ_j C(e, j) C(N−1−b−e, n−1−j) / (j + 1) over C(N−1, n−1), which
    equals (C(N−b, n) − C(N−1−b−e, n)) / ((e + 1) C(N−1, n−1)).
    """
    own = scores[np.arange(len(truth)), truth][:, None]
    same = np.isclose(scores, own, rtol=_TIE, atol=_TIE)
    worse, equal = (~same & (scores < own)).sum(axis=1), same.sum(axis=1)
    # Binomial coefficients overflow, so their ratios are computed from logarithms.
    every = _log_choose(scores.shape[1] - 1, n - 1)
    first = np.exp(_log_choose(worse + equal, n) - every)
    second = np.exp(_log_choose(worse, n) - every)
    return np.clip((first - second) / equal, 0, 1)


def _log_choose(n: Any, k: int) -> np.ndarray:
    """Compute ln of the binomial coefficient; −inf if it is 0."""
    n = np.asarray(n, dtype=np.float64)
    fits = n >= k
    n = np.where(fits, n, k)
    return np.where(fits, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)
