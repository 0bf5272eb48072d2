"""Perturbers with a fault each, behind the interface that the audits take."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.embeddings import nearest_words
from tests.channels import channel, guaranteed
from tests.channels import sample as right
from tests.laws import metric_matrix

# An elongated cloud whose columns have means of their own, and correlate.
_rng = np.random.default_rng(5)
_cloud = _rng.normal(size=(60, 2)) @ [[2.0, 1.2], [0.0, 0.7]] + [9.0, -9.0]
CLOUD = WordEmbedding([f"w{i}" for i in range(60)], _cloud)
# "a" is to the left of "b" and "c" both, and its share of their noise differs by
# exactly the claim: any bound that is too high is a false alarm.
LINE = WordEmbedding(list("abcd"), [[-0.02], [0.0], [0.5], [0.52]])


class Perturber:
    """Noise by `sample(mechanism, rng, n)`, a word by `choose(points, true ids)`."""

    def __init__(self, embedding, epsilon, lam, *, sample=None, choose=None, seed=0):
        self.guaranteed = guaranteed(epsilon, lam, embedding)
        self.mechanism = channel(epsilon, lam, embedding)
        self.embedding = embedding
        self.sample = sample or right
        self.choose = choose or (lambda points, ids: self.nearest(points))
        self.rng = np.random.default_rng(seed)

    def guarantee(self):
        return self.guaranteed

    def nearest(self, points):
        return nearest_words(points, self.embedding.vectors)

    def perturb_words(self, words, n_draws=1):
        ids = np.repeat(self.embedding.find(words), n_draws)
        noise = self.sample(self.mechanism, self.rng, len(ids))
        noisy = self.choose(self.embedding.vectors[ids] + noise, ids)
        return self.embedding.word_array[noisy].reshape(-1, n_draws)


class Deduplicating(Perturber):
    """Perturbs each different word once."""

    def perturb_words(self, words, n_draws=1):
        names, places = np.unique(words, return_inverse=True)
        return super().perturb_words(names.tolist(), n_draws)[places]


# -- noise of a wrong law (facts.md) -----------------------------------------------


def directions(rng, n, m):
    normals = rng.standard_normal((n, m))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def renormalised(mechanism, rng, n):
    """Length made Gamma in Euclid's norm, after the multiplication."""
    shaped = directions(rng, n, mechanism.metric.dim) @ mechanism.metric.factor
    shaped /= np.linalg.norm(shaped, axis=1, keepdims=True)
    return shaped * rng.gamma(mechanism.metric.dim, 1 / mechanism.epsilon, n)[:, None]


def scaled_by_all_entries(vectors):
    """Covariance divided by the variance of all entries: its trace is not m."""
    covariance = np.cov(np.asarray(vectors, dtype=float).T) / np.var(vectors)

    def sample(mechanism, rng, n):
        m, lam = mechanism.metric.dim, mechanism.lam
        values, axes = np.linalg.eigh(lam * covariance + (1 - lam) * np.eye(m))
        radii = rng.gamma(m, 1 / mechanism.epsilon, n)
        unit = directions(rng, n, m)
        return radii[:, None] * (unit @ (axes * np.sqrt(values)) @ axes.T)

    return sample


def scale_for_rate(mechanism, rng, n):
    """1/epsilon passed where the library takes a rate."""
    radii = rng.gamma(mechanism.metric.dim, mechanism.epsilon, n)
    return radii[:, None] * (
        directions(rng, n, mechanism.metric.dim) @ mechanism.metric.factor
    )


def elementwise_root(mechanism, rng, n):
    """M ** 0.5 on a matrix is the root of its entries."""
    M = metric_matrix(mechanism.embedding.vectors, mechanism.lam)
    root = np.sign(M) * np.abs(M) ** 0.5
    radii = rng.gamma(mechanism.metric.dim, 1 / mechanism.epsilon, n)
    return radii[:, None] * (directions(rng, n, mechanism.metric.dim) @ root)


def shared_by_workers(mechanism, rng, n):
    """Two workers that start from a copy of the same generator."""
    seed = int(rng.integers(2**32))
    workers = [np.random.default_rng(seed) for _ in "ab"]
    halves = [right(mechanism, worker, n // 2) for worker in workers]
    return np.concatenate(halves)


def taking_turns(mechanism, rng, n):
    """The same, with the draws dealt out in turn."""
    return shared_by_workers(mechanism, rng, n).reshape(2, n // 2, -1).swapaxes(
        0, 1).reshape(n, -1)  # fmt: skip


def one_radius_for_all(mechanism, rng, n):
    """A single length drawn for a whole batch."""
    radii, _ = mechanism.draw(rng, -(-n // 100))
    normals = rng.standard_normal((n, mechanism.metric.dim))
    return mechanism.noise((np.repeat(radii, 100)[:n], normals))


def replayed_for_every_epsilon(mechanism, rng, n):
    """One stream begun again for each ε of a grid, the noise brought to one ε.

    In the order in which the grid is walked for each draw.
    """
    seed = int(rng.integers(2**32))
    grid = [1.0, 3.0, 7.0, 10.0]
    noises = []
    for epsilon in grid:
        other = channel(epsilon, mechanism.lam, mechanism.embedding)
        noise = right(other, np.random.default_rng(seed), n // len(grid))
        noises.append(noise * (epsilon / mechanism.epsilon))
    return np.stack(noises, axis=1).reshape(n, -1)


# -- steps after the noise that look at the true word ------------------------------


def vickrey(perturber):
    """The second nearest in half of the draws; unless that is the true word."""
    rng = np.random.default_rng(1)

    def choose(points, ids):
        gaps = cdist(points, perturber.embedding.vectors)
        first, second = np.argpartition(gaps, 1, axis=1)[:, :2].T
        swap = (second != ids) & ((rng.random(len(ids)) < 0.5) | (first == ids))
        return np.where(swap, second, first)

    return choose


def keep_if_far(perturber, distance):
    """The original word wherever the noisy one is too far from it."""

    def choose(points, ids):
        noisy = perturber.nearest(points)
        vectors = perturber.embedding.vectors
        far = np.linalg.norm(vectors[noisy] - vectors[ids], axis=1) > distance
        return np.where(far, ids, noisy)

    return choose


# -- noise that is used twice ------------------------------------------------------


def in_pairs(mechanism, rng, n):
    """Every vector serves two draws of its call, at random places."""
    noise = right(mechanism, rng, -(-n // 2))
    return np.repeat(noise, 2, axis=0)[rng.permutation(n)]


def from_a_pool(mechanism, rng, n):
    """A pool of 300 vectors, gone through again and again in a call."""
    return np.resize(right(mechanism, rng, 300), (n, mechanism.metric.dim))


def one_in_clear(perturber, word):
    """A single word comes out as it is."""

    def choose(points, ids):
        return np.where(ids == word, ids, perturber.nearest(points))

    return choose
