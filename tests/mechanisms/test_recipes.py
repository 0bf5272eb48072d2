"""The mechanisms of the page "Published mechanisms in ten lines", run from the page.

Draws and exponents of those with probabilities are in `test_mechanisms`.
"""

import math

import numpy as np
import pytest
from experiments.mechanisms.recipes import (
    CusText,
    Diffractor,
    Ranked,
    SanTextPlus,
    Vickrey,
)
from scipy.spatial.distance import cdist

from skdptext import WordEmbedding
from skdptext.mechanisms import MahalanobisNoise
from tests.laws import assert_counts, losses, on_a_line, vickrey_rule

_rng = np.random.default_rng(3)
N = 12
TABLE = WordEmbedding([f"w{i}" for i in range(N)], _rng.normal(size=(N, 3)))
SENSITIVE = [f"w{i}" for i in range(0, N, 2)]
LABELS = [0, 0, 0, 1, 1, 2, 0, 1, 1, 0, 1, 0]
TABLES = {
    "SanText+": SanTextPlus(SENSITIVE, probability=0.3),
    "CusText": CusText(LABELS),
    "1-Diffractor": Diffractor(),
}
IDS = np.arange(N)
D = cdist(TABLE.vectors, TABLE.vectors)


def santext_plus(epsilon):
    """Word by word, as in section 4 of the paper."""
    P = np.zeros((N, N))
    S = [i for i in range(N) if TABLE.words[i] in SENSITIVE]
    for w in range(N):
        scores = [math.exp(-epsilon / 2 * D[w, z]) for z in S]
        noisy = dict(zip(S, np.divide(scores, sum(scores)), strict=True))
        p = 1.0 if w in S else 0.3
        for z in range(N):
            P[w, z] = p * noisy.get(z, 0.0) + (1 - p) * (w == z)
    return P


def custext(epsilon):
    P = np.zeros((N, N))
    for w in range(N):
        own = [z for z in range(N) if LABELS[z] == LABELS[w]]
        widest = D[np.ix_(own, own)].max() or 1
        P[w, own] = [math.exp(-epsilon / 2 * D[w, z] / widest) for z in own]
    return P / P.sum(axis=1, keepdims=True)


def diffractor(epsilon):
    """Sums of geometric steps along a greedy path, which stop at its ends."""
    path = [0]
    while len(path) < N:
        path.append(min(set(IDS) - set(path), key=lambda z: D[path[-1], z]))
    q, P = math.exp(-epsilon), np.zeros((N, N))
    for i, w in enumerate(path):
        for k in range(-2000, 2001):
            z = path[min(max(i + k, 0), N - 1)]
            P[w, z] += (1 - q) / (1 + q) * q ** abs(k)
    return P


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize(
    ("name", "formula"),
    [("SanText+", santext_plus), ("CusText", custext), ("1-Diffractor", diffractor)],
)
def test_probabilities_are_those_of_the_paper(name, formula, epsilon):
    mechanism, expected = TABLES[name].prepare(TABLE, epsilon), formula(epsilon)
    np.testing.assert_allclose(np.exp(mechanism.log_proba(IDS)), expected, atol=1e-9)


LINE = [0.0, 0.7, 1.0, 2.5, 2.6]


def ranked_rule(positions, c):
    """The r-th word from the one nearest to the point, of probability ∝ e^(−cr)."""
    positions = np.asarray(positions)
    weights = np.exp(-c * np.arange(len(positions)))

    def rule(points, word):
        first = np.abs(points[:, None] - positions).argmin(axis=1)
        order = np.abs(positions[first][:, None] - positions).argsort(kind="stable")
        P = np.zeros((len(points), len(positions)))
        np.put_along_axis(P, order, np.tile(weights / weights.sum(), (len(P), 1)), 1)
        return P

    return rule


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("mechanism", "rule"),
    [
        (Vickrey(0.5), vickrey_rule(LINE, 0.5)),
        (Vickrey(1.0), vickrey_rule(LINE, 1.0)),
        (Ranked(0.8), ranked_rule(LINE, 0.8)),
    ],
    ids=["Vickrey", "Vickrey, t = 1", "ranks"],
)
def test_post_processing_on_a_line_by_quadrature(mechanism, rule):
    """Draws follow the law, which loses no more than the noise promises."""
    line = WordEmbedding(list("abcde"), np.array(LINE)[:, None])
    prepared, P = mechanism.prepare(line, 1.3), on_a_line(LINE, 1.3, rule)
    words = np.arange(5).repeat(20_000)
    noisy = prepared.apply(words, prepared.draw(np.random.default_rng(1), len(words)))
    for word in range(5):
        assert_counts(np.bincount(noisy[words == word], minlength=5), P[word])
    claimed = prepared.exponents(np.arange(5), np.arange(5))
    assert (losses(P) <= claimed + 1e-6).all()
    noise = MahalanobisNoise().prepare(line, 1.3)
    np.testing.assert_array_equal(claimed, noise.exponents(np.arange(5), np.arange(5)))
    (loss,) = prepared.losses(np.array([0]), np.array([3]))
    for delta in (1e-6, 0.01, 0.2):
        lost = np.maximum(P[0] - np.exp(loss.exponent(delta)) * P[3], 0).sum()
        assert lost <= delta + 1e-6
