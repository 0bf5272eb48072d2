"""Infer classes of public documents from noisy sums, at no cost of privacy.

These are pure functions of released or public data: post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from skdptext.documents import words_of
from skdptext.learning._features import CONSTANT, PublicFeatures

# Prior of the count in a cell: most cells are almost empty, and few have many persons.
_SHAPE, _OFFSET = 0.3, 0.25
# An empty cell does not exclude a class. It counts as so many persons.
_NOBODY = 0.05
# Log-likelihoods of groups are multiplied by this, because groups understate them.
_SHARPER = 2.0
# Candidate strengths of class differences, which grow with the square of the public
# variance: with the variance itself, accuracy on film reviews fell by 0.03 from ε = 4
# to 8. If noise explains all differences, a weak prior is used.
_STRENGTHS, _WEAKEST = 10.0 ** np.arange(-4, 2.01, 0.25), 0.01
# At least this share of the public variance remains within classes in any direction.
_WITHIN = 0.15
# Inverse strength of the student's penalty, and the least weight of a document.
_C, _LEAST = 10.0, 1e-3


@dataclass(frozen=True)
class Said:
    """Inferences from noisy sums about classes, and about documents by their features.

    Features are numbers of groups, or unit vectors.
    """

    slopes: np.ndarray  # scores of classes for each group, or per unit of a direction
    offsets: tuple[Any, Any]  # of these scores: for public documents, and for others
    shares: np.ndarray  # shares of the classes, none of them 0
    signal: float  # share of the differences of classes that noise does not explain

    def log_likelihood(self, features: np.ndarray, public: bool = True) -> np.ndarray:
        """Infer log-likelihoods of each class, up to a constant of each document."""
        grouped = features.ndim == 1
        scores = self.slopes[features] if grouped else features @ self.slopes
        return np.asarray(log_softmax(scores + self.offsets[not public], axis=1))

    def weights(self, features: np.ndarray) -> np.ndarray:
        """Infer weights of public documents for each class, (n_public, n_classes).

        They are posteriors with the shares of the classes as priors: a document of a
        rare class needs stronger evidence. Then all classes get the same total weight.
        """
        scores = self.log_likelihood(features) + np.log(self.shares)
        posterior = softmax(scores, axis=1)
        n, k = posterior.shape
        return posterior * (n / k / np.maximum(posterior.sum(axis=0), 1e-3 * n / k))


def said_by(noisy_sums: np.ndarray, scale: float, features: PublicFeatures) -> Said:
    """Infer classes from noisy sums in units of persons, with noise of a scale."""
    if features.names is not None:
        return said_by_groups(noisy_sums, scale)
    return said_by_vectors(noisy_sums, scale, features.public)


# -- groups ----------------------------------------------------------------------------


def said_by_groups(cells: np.ndarray, scale: float) -> Said:
    """Infer classes from noisy counts, (n_classes, n_groups), with Laplace noise."""
    expected = denoised(cells, scale)
    sizes = np.maximum(expected.sum(axis=1), max(1.0, scale))
    shares = sizes / sizes.sum()
    counts = np.maximum(expected, _NOBODY)
    persons = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    told = ((cells - np.outer(shares, cells.sum(axis=0))) ** 2).sum()
    k, n_groups = cells.shape
    noise = 2 * scale**2 * n_groups * (k - 2 + k * (shares**2).sum())
    slopes = _SHARPER * log_softmax(np.log(counts / persons), axis=0).T
    return Said(slopes, (0.0, 0.0), shares, 1 - noise / max(told, 1e-200))


def denoised(cells: np.ndarray, scale: float) -> np.ndarray:
    """Estimate the persons in each cell of the groups, given the noisy counts.

    The prior density of a count c is (c + ¼)^(s - 1) exp(-s c / m), nearly a gamma
    distribution of shape s, whose mean m is that of the noisy cells.
    """
    mean = max(float(cells.mean()), _SHAPE)
    top = max(float(cells.max()), 0.0) + 10 * scale + 10.0
    # For small counts, the points are as close as the noise can resolve.
    points = np.expm1(np.linspace(0.0, np.log1p(top / _OFFSET), 400)) * _OFFSET
    widths = points + _OFFSET  # of equal steps in the logarithm
    before = (_SHAPE - 1) * np.log(points + _OFFSET) - _SHAPE * points / mean
    before += np.log(widths)
    distances = (np.abs(row[:, None] - points) for row in cells)
    return np.array([softmax(before - d / scale, axis=1) @ points for d in distances])


# -- vectors ---------------------------------------------------------------------------


def said_by_vectors(noisy_sums: np.ndarray, scale: float, public: np.ndarray) -> Said:
    """Infer classes from noisy sums of vectors, and from public vectors.

    Linear discriminant analysis in the axes and units of the public covariance: classes
    are normal distributions with a common covariance, which is the public one minus
    that of the class means.
    """
    length = np.sqrt(1 - CONSTANT**2)
    sums, counts = noisy_sums[:, :-1] / length, noisy_sums[:, -1] / CONSTANT
    n = np.maximum(counts, max(1.0, scale / CONSTANT))
    shares = n / n.sum()
    # Private texts may differ from public ones: means are relative to the noisy overall
    # mean, and so are the documents that resemble private ones.
    centers = public.mean(axis=0), sums.sum(axis=0) / n.sum()
    centred = public - centers[0]
    variances, axes = np.linalg.eigh(centred.T @ centred / len(public))
    kept = variances > max(1e-9 * variances.max(initial=0), 1e-12)
    variances, axes = variances[kept], axes[:, kept]
    means = (sums / n[:, None] - centers[1]) @ axes
    noise = (scale / length / n[:, None]) ** 2
    signal = 1 - noise.sum() * len(variances) / max((means**2).sum(), 1e-200)
    means = shrunk(means, variances, variances / n[:, None] + noise)
    means /= np.sqrt(variances)
    apart = means - shares @ means
    within = np.eye(len(variances)) - (apart.T * shares) @ apart
    values, turned = np.linalg.eigh(within)
    weights = means @ (turned / np.maximum(values, _WITHIN)) @ turned.T
    slopes = (axes / np.sqrt(variances)) @ weights.T
    lengths = (weights * means).sum(axis=1) / 2
    own, others = (-center @ slopes - lengths for center in centers)
    return Said(slopes, (own, others), shares, signal)


def shrunk(means: np.ndarray, variances: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Shrink class means towards 0, (n_classes, n_axes), by the size of their errors.

    Their prior is normal, with variances that are a multiple of the squared public
    ones, chosen to maximize the likelihood of the noisy means. `errors` are variances.
    """
    best, prior = -0.5 * (np.log(errors) + means**2 / errors).sum(), 0 * variances
    shape = variances**2 * (variances.sum() / max((variances**2).sum(), 1e-200))
    for strength in _STRENGTHS:
        total = strength * shape + errors
        likely = -0.5 * (np.log(total) + means**2 / total).sum()
        if likely > best:
            best, prior = likely, strength * shape
    if not prior.any():
        prior = _WEAKEST * variances
    return means * prior / (prior + errors)


# -- the student: a model of words, trained on public documents with inferred labels ---


def words_or_none(document: Any) -> list[str]:
    """Get the words of a document, or an empty word if there are none."""
    return words_of(document) or [""]


def train_student(documents: Sequence[Any], weights: np.ndarray) -> Any:
    """Train a pipeline of TF-IDF and logistic regression, with weights per class.

    A document may belong to several classes in part. This keeps the uncertainty of the
    sums, which hard labels would lose.
    """
    # These are slow to import.
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    vectorizer = TfidfVectorizer(analyzer=words_or_none, sublinear_tf=True)
    rows = vectorizer.fit_transform(documents)
    heavy = weights >= _LEAST
    heavy[weights.argmax(axis=0), np.arange(weights.shape[1])] = True  # every class
    at, classes = np.nonzero(heavy)
    student = LogisticRegression(C=_C, max_iter=200)
    student.fit(rows[at], classes, sample_weight=weights[heavy])
    return make_pipeline(vectorizer, student)


# -- the labeled corpus ----------------------------------------------------------------


def draw_corpus(
    log_proba: np.ndarray, shares: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw numbers of n public documents and of their classes, by `log_proba`.

    Classes are drawn by their shares, and documents by how well they fit the class.
    """
    labels, drawn = rng.choice(len(shares), size=n, p=shares), np.empty(n, dtype=int)
    fits = softmax(log_proba, axis=0).T  # for each class, probabilities of documents
    for label, fit in enumerate(fits):
        at = labels == label
        drawn[at] = rng.choice(len(fit), size=at.sum(), p=fit)
    return drawn, labels


def by_shares(log_proba: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Compute log probabilities for the released class frequencies.

    The student assumes equal frequencies, and its log probabilities are too close to
    each other. Doubling their differences improved accuracy in 47 of 50 settings.
    """
    return log_softmax(2 * log_proba + np.log(shares), axis=1)
