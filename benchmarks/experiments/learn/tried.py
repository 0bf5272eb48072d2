"""Other ways to read the same noisy sums, beside the default; few of them help.

All are of the same sums with simulated noise, so that differences are paired.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from experiments.learn.corpora import split
from experiments.texts import vectors
from scipy.optimize import minimize
from scipy.special import gammaln, log_softmax, logsumexp
from sklearn.cluster import KMeans
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

# Parts of the default, with other parts between them.
from skdptext.learning._readout import (
    NoisyTable,
    auto_groups,
    class_shares,
    denoised,
    likelihood,
    make_plan,
    targets,
    train_student,
    words_of_public,
)
from skdptext.mechanisms import gaussian_sigma
from skdptext.preprocessing import MeanVectorEncoder, TopicEncoder

EPSILON = 1.0
CONSTANT = 0.3
LONG = float(np.sqrt(1 - CONSTANT**2))
DELTA = 1e-6


@cache
def sigma_at(epsilon: float) -> float:
    """Deviation of Gaussian noise on a sum of norm 1."""
    return gaussian_sigma(epsilon, DELTA, 40, 2**30) / 2**30


@cache
def _public(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Split, TF-IDF rows, and vectors of up to 40 directions by the encoder."""
    parts = split(name, seed)
    encoder = MeanVectorEncoder(vectors(name), 40).fit(parts.public)
    both = encoder.transform(parts.public), encoder.transform(parts.private)
    return parts, words_of_public(parts.public), *both


def _encoder(name: str, seed: int) -> TopicEncoder:
    """That of the default groups."""
    parts = split(name, seed)
    plan = make_plan(
        n_expected=len(parts.private),
        epsilon=EPSILON,
        n_classes=int(parts.topic.max()) + 1,
        n_public=len(parts.public),
        vectors=False,
        n_groups=None,
    )
    return TopicEncoder(plan.grouping)


def _groups(name: str, seed: int, k: int, encoder: Any) -> tuple[Any, Any]:
    parts = split(name, seed)
    grouper = make_pipeline(encoder, KMeans(k, n_init=3, random_state=0))
    return grouper.fit_predict(parts.public), grouper.predict(parts.private)


def _sums(rows: Any, topic: Any) -> np.ndarray:
    sums = np.zeros((topic.max() + 1, rows.shape[1]))
    np.add.at(sums, topic, rows)
    return sums


def _table_of_groups(
    groups: Any, topic: Any, k: int, rng: Any, epsilon: float = EPSILON
) -> NoisyTable:
    cells = _sums(np.eye(k)[groups], topic)
    noisy = cells + rng.laplace(scale=1 / epsilon, size=cells.shape)
    return NoisyTable(noisy, 1 / epsilon, None, None, 0.0, 0.0)


def _table_of_vectors(
    rows: Any, topic: Any, rng: Any, sigma: float | None = None, long: float = LONG
) -> NoisyTable:
    sigma = sigma_at(EPSILON) if sigma is None else sigma
    sums, counts = _sums(rows, topic), np.bincount(topic).astype(float)
    return NoisyTable(
        None,
        0.0,
        sums + rng.normal(scale=sigma / long, size=sums.shape),
        counts + rng.normal(scale=sigma / CONSTANT, size=counts.shape),
        sigma / long,
        sigma / CONSTANT,
    )


def by_logistic_regression(table: NoisyTable, features: np.ndarray) -> np.ndarray:
    """Its likelihood for noisy sums, where public documents stand for the private."""
    assert table.vectors is not None
    assert table.counts is not None
    counts = np.maximum(table.counts, table.counts_sigma)
    sums = np.concatenate([table.vectors, counts[:, None]], axis=1)
    rows = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    n = counts.sum()
    penalty = np.full(sums.shape[1], 0.1 * table.vectors_sigma**2)
    penalty[-1] = 1e-3

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(sums.shape)
        scores = rows @ weights.T
        expected = np.exp(log_softmax(scores, axis=1)).T @ rows * (n / len(rows))
        value = n / len(rows) * logsumexp(scores, axis=1).sum() - (weights * sums).sum()
        value += (penalty * weights**2).sum() / 2
        return value, (expected - sums + penalty * weights).ravel()

    found = minimize(loss, np.zeros(sums.size), jac=True, method="L-BFGS-B").x
    posterior = log_softmax(rows @ found.reshape(sums.shape).T, axis=1)
    return log_softmax(posterior - np.log(np.exp(posterior).mean(axis=0)), axis=1)


def by_empirical_bayes(table: NoisyTable, groups: np.ndarray) -> np.ndarray:
    """Cells with gamma priors by the public sizes of groups; shape by likelihood."""
    assert table.groups is not None
    noisy, scale = table.groups, table.groups_scale
    sizes = np.bincount(groups, minlength=noisy.shape[1]) / len(groups)
    mean = np.maximum(np.maximum(noisy.sum(axis=1), 1.0)[:, None] * sizes, 0.05)
    points = np.geomspace(1e-3, max(noisy.max(), 1) + 12 * scale + 10, 150)
    noise = -np.abs(noisy[..., None] - points) / scale
    best, expected = -np.inf, noisy
    for shape in (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        rate = shape / mean[..., None]
        log = shape * np.log(points * rate) - rate * points - gammaln(shape) + noise
        total = logsumexp(log, axis=-1, keepdims=True)
        if total.sum() > best:
            best, expected = total.sum(), (np.exp(log - total) * points).sum(axis=-1)
    counts = np.maximum(expected, 0.05)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return log_softmax(np.log(shares).T, axis=1)[groups]


def by_threshold(table: NoisyTable, groups: np.ndarray) -> np.ndarray:
    """Cells that are no larger than noise may be count as 0; one is added to all."""
    assert table.groups is not None
    lowest = max(1.0, 0.7 * np.log(table.groups.size) * table.groups_scale)
    counts = np.where(table.groups >= lowest, table.groups, 0.0) + table.groups_scale
    shares = counts / counts.sum(axis=1, keepdims=True)
    return log_softmax(np.log(shares).T, axis=1)[groups]


def by_second_moments(rows: Any, topic: Any, public: Any, rng: Any) -> Any:
    """Likelihood of normal classes, each with variances of its own, and shares.

    A person has a vector, its squares, which are of norm 1 at most, and a constant.
    """
    of_squares, sigma = 0.5, sigma_at(EPSILON)
    long = np.sqrt(LONG**2 - of_squares**2)
    table = _table_of_vectors(rows, topic, rng, sigma, long)
    squares = _sums(rows**2, topic)
    squares += rng.normal(scale=sigma / of_squares, size=squares.shape)
    assert table.vectors is not None
    assert table.counts is not None
    n_dims = rows.shape[1]
    counts = np.maximum(table.counts, max(1.0, table.counts_sigma))[:, None]
    overall = table.vectors.sum(axis=0) / counts.sum()
    means = table.vectors / counts - overall
    noise = n_dims * (table.vectors_sigma / counts) ** 2
    square = (means**2).sum(axis=1, keepdims=True)
    means = overall + means * np.clip(1 - noise / square, 0, 1)
    # variances are moved towards those of the public documents, by what noise explains
    common = public.var(axis=0)
    extra = squares / counts - means**2 - common
    noise = n_dims * (sigma / of_squares / counts) ** 2
    kept = np.clip(1 - noise / (extra**2).sum(axis=1, keepdims=True), 0, 1)
    variances = np.maximum(common + extra * kept, common / 4)
    away = (public[:, None] - means) ** 2 / variances + np.log(variances)
    return log_softmax(-away.sum(axis=2) / 2, axis=1), class_shares(table)


def by_hierarchy(name: str, seed: int, k: int, rng: Any) -> Any:
    """Groups within eight larger ones, counted with half of ε each, and shares.

    A cell is expected to have its part, by public documents, of the larger cell.
    """
    parts = split(name, seed)
    fine, own = _groups(name, seed, k, _encoder(name, seed))
    encoded = _encoder(name, seed).fit_transform(parts.public)
    centres = np.array([encoded[fine == g].mean(axis=0) for g in range(k)])
    above = KMeans(min(8, k), n_init=10, random_state=0).fit_predict(centres)
    half = EPSILON / 2
    coarse = _table_of_groups(above[own], parts.topic, above.max() + 1, rng, half)
    table = _table_of_groups(own, parts.topic, k, rng, half)
    sizes = np.bincount(fine, minlength=k).astype(float)
    sizes /= np.bincount(above, sizes)[above]
    mean = np.maximum(denoised(coarse)[:, above] * sizes, 0.05)
    counts = np.maximum(_expected(table.groups, table.groups_scale, mean), 0.05)
    said = log_softmax(np.log(counts / counts.sum(axis=1, keepdims=True)).T, axis=1)
    return said[fine], class_shares(coarse)


def _expected(noisy: Any, scale: float, mean: np.ndarray) -> np.ndarray:
    """Expected counts of cells with gamma priors of these means and shape 1/2."""
    points = np.geomspace(1e-3, max(noisy.max(), 1) + 12 * scale + 10, 150)
    log = 0.5 * np.log(points / mean[..., None]) - points / mean[..., None] / 2
    log = log - np.abs(noisy[..., None] - points) / scale
    weights = np.exp(log - log.max(axis=-1, keepdims=True))
    return (weights * points).sum(axis=-1) / weights.sum(axis=-1)


def by_one_gaussian(
    groups: Any, rows: Any, public: tuple[Any, Any], topic: Any, k: int, rng: Any
) -> Any:
    """Likelihood of both, for one noise on a group and a vector together; and shares.

    The group has as much of the norm as the vector.
    """
    sigma, each = sigma_at(EPSILON), LONG / np.sqrt(2)
    table = _table_of_vectors(rows, topic, rng, sigma, each)
    cells = _sums(np.eye(k)[groups], topic)
    cells += rng.normal(scale=sigma / each, size=cells.shape)
    # Laplace noise of the same deviation stands for it in what the cells say
    counted = NoisyTable(cells, sigma / each / np.sqrt(2), None, None, 0.0, 0.0)
    said = likelihood(counted, public[0], None) + likelihood(table, None, public[1])
    return log_softmax(said, axis=1), class_shares(table)


def ways(name: str, seed: int) -> dict[str, float]:
    """Balanced accuracy of each way, of sums of groups, of vectors, or of both."""
    parts, words, public, private = _public(name, seed)
    n, k = (
        len(parts.private),
        auto_groups(len(parts.private), EPSILON, len(parts.public)),
    )
    found: dict[str, float] = {}

    def add(what: str, weights: np.ndarray) -> None:
        guess = train_student(words, weights).log_proba(parts.test).argmax(axis=1)
        found[what] = float(balanced_accuracy_score(parts.test_topic, guess))

    def rng() -> np.random.Generator:
        return np.random.default_rng([seed, n])

    def readings(kind: str, said: np.ndarray, shares: np.ndarray) -> None:
        c = len(shares)
        weights = targets(said, shares)
        add(f"{kind}: the default", weights)
        sure = np.eye(c)[(2 * said + np.log(shares)).argmax(axis=1)]
        sizes = np.maximum(sure.sum(axis=0), 1)
        add(f"{kind}: labels, not weights", sure * len(said) / c / sizes)
        add(f"{kind}: not sharpened", targets(said / 2, shares))
        add(f"{kind}: as frequent as they are", weights * shares * c)
        add(f"{kind}: classes alike before", targets(said, np.full(c, 1 / c)))
        student, again = train_student(words, weights), said
        for _ in range(3):
            again = log_softmax(student.log_proba_of_rows(words[2]) / 2 + said, axis=1)
            student = train_student(words, targets(again, shares))
        add(f"{kind}: self-training, 3 rounds", targets(again, shares))

    # groups
    groups, own = _groups(name, seed, k, _encoder(name, seed))
    table = _table_of_groups(own, parts.topic, k, rng())
    shares = class_shares(table)
    readings("groups", likelihood(table, groups, None), shares)
    add("groups: a hierarchy", targets(*by_hierarchy(name, seed, k, rng())))
    add("groups: thresholds", targets(by_threshold(table, groups), shares))
    add(
        "groups: priors by public sizes",
        targets(by_empirical_bayes(table, groups), shares),
    )
    for what, other, encoder in (
        ("half as many", k // 2, _encoder(name, seed)),
        ("twice as many", min(2 * k, len(parts.public) // 3), _encoder(name, seed)),
        ("in 10 directions", k, TopicEncoder(10)),
        ("in 60 directions", k, TopicEncoder(60)),
        ("of mean vectors", k, MeanVectorEncoder(vectors(name))),
    ):
        groups, own = _groups(name, seed, other, encoder)
        table = _table_of_groups(own, parts.topic, other, rng())
        said = likelihood(table, groups, None)
        add(f"groups: {what}", targets(said, class_shares(table)))

    # vectors
    def of_directions(d: int) -> tuple[NoisyTable, np.ndarray]:
        rows = normalize(private[:, :d])
        return _table_of_vectors(rows, parts.topic, rng()), normalize(public[:, :d])

    table, rows = of_directions(20)
    shares = class_shares(table)
    readings("vectors", likelihood(table, None, rows), shares)
    said = by_logistic_regression(table, rows)
    add("vectors: logistic regression of sums", targets(said, shares))
    add("vectors: the same, not sharpened", targets(said / 2, shares))
    pulled = replace(table, vectors_sigma=1e-9)
    add("vectors: means not moved", targets(likelihood(pulled, None, rows), shares))
    for d in (5, 10, 40):
        table, rows = of_directions(d)
        said = likelihood(table, None, rows)
        add(f"vectors: {d} directions", targets(said, class_shares(table)))
    twenty = normalize(private[:, :20]), parts.topic, normalize(public[:, :20])
    add("vectors: second moments", targets(*by_second_moments(*twenty, rng())))

    # both
    for what, share in (("the default", 0.5), ("3/10 for groups", 0.3), ("7/10", 0.7)):
        k = auto_groups(n, share * EPSILON, len(parts.public))
        groups, own = _groups(name, seed, k, _encoder(name, seed))
        of_groups = _table_of_groups(own, parts.topic, k, rng(), share * EPSILON)
        sigma = sigma_at((1 - share) * EPSILON)
        table = _table_of_vectors(twenty[0], parts.topic, rng(), sigma)
        said = likelihood(of_groups, groups, None) + likelihood(table, None, twenty[2])
        said = log_softmax(said, axis=1)
        add(f"both: {what}", targets(said, class_shares(table)))
    k = auto_groups(n, EPSILON / 2, len(parts.public))
    groups, own = _groups(name, seed, k, _encoder(name, seed))
    joint = own, twenty[0], (groups, twenty[2]), parts.topic, k, rng()
    add("both: one Gaussian noise", targets(*by_one_gaussian(*joint)))
    return found
