"""Statistical tests of the law of the noise, each with a stated false-alarm rate."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import scipy.sparse as sp
from scipy import stats
from scipy.special import gammainc

from skdptext.audit import audit_noise_law
from skdptext.mechanisms import TableMechanism

ALPHA = 1e-6


def assert_counts(counts, p, alpha=ALPHA):
    """Counts follow the probabilities; false alarm with probability alpha.

    Chi-square, cells of less than five expected draws together.
    """
    expected = p * counts.sum()
    assert not counts[p == 0].any()
    order = np.argsort(-expected, kind="stable")
    counts, expected = counts[order], expected[order]
    n = max(1, int((expected >= 5).sum()))
    if 0 < expected[n:].sum() < 5 and n > 1:
        n -= 1
    cells = np.append(counts[:n], counts[n:].sum())
    means = np.append(expected[:n], expected[n:].sum())
    cells, means = cells[means > 0], means[means > 0]
    if len(cells) > 1:
        value = stats.chisquare(cells, means * cells.sum() / means.sum()).pvalue
        assert value > alpha, f"chi-square p = {value:.2e} <= {alpha:.0e}"


def losses(P):
    """max_z ln P[w, z] / P[w', z] of all pairs, exactly; inf where supports differ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(P)
        gaps = np.where(np.isneginf(logs)[:, None], -np.inf, logs[:, None] - logs[None])
    return gaps.max(axis=2)


def largest_loss(one, two):
    """max_z ln p[z] / q[z] over the releases that p makes possible, at least 0.

    Distributions are dicts; the second gives 0 for what it lacks.
    """
    losses = [0.0]
    for release, p in one.items():
        if p > 0:
            losses.append(math.log(p / two[release]) if two[release] > 0 else math.inf)
    return max(losses)


def hockey_stick(p, q, t):
    """δ(t) of two laws, from its definition."""
    return np.maximum(p - math.exp(t) * q, 0).sum()


def enumerated(slots, *, ordered=True):
    """Every release with its probability: one outcome of each slot, independently.

    Slots are dicts of outcomes and their probabilities.
    """
    shares = Counter()
    for outcome in itertools.product(*(slot.items() for slot in slots)):
        seen = [z for z, _ in outcome]
        seen = tuple(seen if ordered else sorted(seen))
        shares[seen] += math.prod(p for _, p in outcome)
    return shares


def uncovered(one, two, t):
    """The exact δ(t) of two laws over the same releases."""
    p, q = np.array([(one[z], two[z]) for z in one]).T
    return hockey_stick(p, q, t)


def metric_matrix(vectors, lam):
    """M of the metric: the covariance, scaled to a trace of m, and the identity."""
    vectors = np.asarray(vectors, dtype=float)
    m = vectors.shape[1]
    covariance = np.atleast_2d(np.cov(vectors.T))
    return lam * covariance * m / np.trace(covariance) + (1 - lam) * np.eye(m)


def distances(vectors, lam):
    """Of all pairs of rows, by the definition of the metric."""
    vectors = np.asarray(vectors, dtype=float)
    gaps = vectors[:, None] - vectors
    inverse = np.linalg.inv(metric_matrix(vectors, lam)) if lam else np.eye(len(gaps.T))
    return np.sqrt(np.einsum("ijk,ijk->ij", gaps @ inverse, gaps).clip(0))


def assert_bound(delta, exact, ts, tolerance=1e-12):
    """A function of t is nowhere below the exact δ(t)."""
    for t in ts:
        assert delta(t) >= exact(t) * (1 - 1e-12) - tolerance


def assert_answers_follow(releaser, documents, n=600, alpha=ALPHA, seed=0):
    """Answers to documents have the stated probabilities, and share no noise.

    ``n`` answers to each document, in any order, in each of three calls; noise that
    equal documents share shows in one call, noise that is replayed in two. The values
    of the first call are counted in the second; chi-square tests, Bonferroni's bound.
    """
    m = len(documents)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(m), n))
    number, values, first = {}, [], None
    for _ in range(3):
        released = releaser.transform([documents[i] for i in order])
        keys = _keys_of(released)
        values.append(np.array([number.setdefault(k, len(number)) for k in keys]))
        if len(values) == 1:
            at = np.unique(values[0], return_index=True)[1]
            rows = isinstance(released, list)
            first = [released[i] for i in at] if rows else released[at]
    law = np.exp(np.asarray(releaser.log_likelihood(documents, first))).T
    law = np.column_stack([law, np.clip(1 - law.sum(axis=1), 0, None)])
    law[:, -1] *= law[:, -1] > 1e-9
    rest = law.shape[1] - 1  # what the first call did not hold
    values = [np.minimum(call, rest) for call in values]
    pairs = [(i, j) for i in range(m) for j in range(i)]
    alpha /= 3 * m + len(pairs)

    def assert_equal_as_often(a, b, p, q):
        hits = int(((a == b) & (a < rest)).sum())
        value = stats.binomtest(hits, len(a), min(p[:-1] @ q[:-1], 1.0)).pvalue
        assert value > alpha, f"equal answers: p = {value:.2e} <= {alpha:.0e}"

    each = [[call[order == i] for i in range(m)] for call in values]
    for i in range(m):
        mine, later = each[1][i], each[2][i]
        assert_counts(np.bincount(mine, minlength=rest + 1), law[i], alpha)
        assert_equal_as_often(mine[0::2], mine[1::2], law[i], law[i])
        assert_equal_as_often(mine, later, law[i], law[i])
    for i, j in pairs:
        assert_equal_as_often(each[1][i], each[1][j], law[i], law[j])


def _keys_of(released):
    if sp.issparse(released):
        released = released.toarray()
    if isinstance(released, np.ndarray):
        released = released.tolist()
    return [tuple(row) if isinstance(row, list) else row for row in released]


class Recorded:
    """Noise that was drawn already, as a mechanism that claims the metric of M."""

    def __init__(self, noise, epsilon, M):
        self.noise = noise
        self.epsilon = epsilon
        self.values, self.axes = np.linalg.eigh(M)

    def sample(self, rng, n):
        return self.noise[:n]

    def whiten(self, vectors):
        return vectors @ self.axes / np.sqrt(self.values)


def assert_noise_law(noise, epsilon, M, alpha=ALPHA):
    """Noise has density proportional to exp(-epsilon ‖z‖_RM), draws independent.

    The tests are those of the library's audit, at error rate alpha together; M, and
    the whitening by it, are the caller's own.
    """
    audit = audit_noise_law(
        Recorded(noise, epsilon, M), n_draws=len(noise), alpha=alpha, random_state=0
    )
    assert not audit.rejected, str(audit)


def catches(check, *args, **kwargs):
    """Whether a statistical check raises."""
    try:
        check(*args, **kwargs)
    except AssertionError:
        return True
    return False


def on_a_line(positions, epsilon, rule):
    """P[w, z] of Laplace noise on numbers, and a rule for noisy points.

    By quadrature between all places where the nearest two words, or the density, have
    a corner. ``rule(points, word)`` gives rows of probabilities of the words.
    """
    positions = np.asarray(positions, dtype=float)
    middles = (positions[:, None] + positions) / 2
    reach = np.linspace(0, 45 / epsilon, 46)
    low, high = positions.min(), positions.max()
    corners = np.unique(np.concatenate([middles.ravel(), low - reach, high + reach]))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(corners)[:, None] / 2
    points = (corners[:-1, None] + half * (1 + nodes)).ravel()
    weights = (half * weights).ravel()
    return np.array(
        [
            (weights * epsilon / 2 * np.exp(-epsilon * np.abs(points - at)))
            @ rule(points, word)
            for word, at in enumerate(positions)
        ]
    )


def nearest_on_a_line(positions, epsilon):
    """P[w, z] of Laplace noise and the nearest word; of equal distances the first."""
    positions = np.asarray(positions)
    order = np.argsort(positions, kind="stable")
    near = positions[order]
    edges = np.concatenate([[-math.inf], (near[1:] + near[:-1]) / 2, [math.inf]])
    P = np.empty((len(positions),) * 2)
    beyond = epsilon * (edges - positions[:, None])
    tail = np.exp(-np.abs(beyond)) / 2
    below = np.where(beyond < 0, tail, 1 - tail)
    P[:, order] = np.diff(below, axis=1)
    return P


def nearest_in_the_plane(points, epsilon, lam, n_angles=20_000):
    """P[w, z] of the noise of λ and the nearest word.

    An integral over the direction of the noise, with the length integrated in closed
    form: along a ray from φ(w), the points nearest to a word form one interval.
    """
    points = np.asarray(points, dtype=float)
    n_words = len(points)
    angles = (np.arange(n_angles) + 0.5) * 2 * np.pi / n_angles
    unit = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    values, axes = np.linalg.eigh(metric_matrix(points, lam))
    rays = unit @ (axes * np.sqrt(values)) @ axes.T
    P = np.zeros((n_words, n_words))
    for w, z in itertools.product(range(n_words), repeat=2):
        first, last = np.zeros(len(rays)), np.full(len(rays), np.inf)
        for other in set(range(n_words)) - {z}:
            # nearer to z than to `other`: slope * r >= level
            normal = points[z] - points[other]
            middle = (points[z] + points[other]) / 2
            slope, level = rays @ normal, normal @ (middle - points[w])
            with np.errstate(divide="ignore", invalid="ignore"):
                crossing = level / slope
            first = np.where(slope > 0, np.maximum(first, crossing), first)
            last = np.where(slope < 0, np.minimum(last, crossing), last)
        last = np.maximum(last, 0)
        inside = gammainc(2, epsilon * last) - gammainc(2, epsilon * first)
        P[w, z] = np.maximum(inside, 0).mean()
    return P


def law_of(mechanism):
    """Of all words: the probabilities that are stated, or of noise on a line."""
    embedding = mechanism.embedding
    if isinstance(mechanism, TableMechanism):
        return np.exp(mechanism.log_proba(np.arange(len(embedding))))
    return nearest_on_a_line(embedding.vectors[:, 0], mechanism.epsilon)


def two_nearest(points, positions):
    """Numbers and distances of the two words nearest to each point."""
    gaps = np.abs(points[:, None] - np.asarray(positions))
    near = np.argsort(gaps, axis=1, kind="stable")[:, :2]
    return near, np.take_along_axis(gaps, near, axis=1)


def vickrey_rule(positions, t):
    """The first of the two nearest with its published probability, else the second."""

    def rule(points, word):
        near, gaps = two_nearest(points, positions)
        first = (1 - t) * gaps[:, 1] / (t * gaps[:, 0] + (1 - t) * gaps[:, 1])
        P = np.zeros((len(points), len(positions)))
        np.put_along_axis(P, near, np.column_stack([first, 1 - first]), axis=1)
        return P

    return rule
