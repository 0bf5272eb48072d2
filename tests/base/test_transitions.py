"""transitions_of against quadrature, known laws and its own standard errors."""

import functools

import numpy as np
import pytest
from experiments.mechanisms.recipes import Vickrey
from scipy.spatial.distance import cdist

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import _transitions, profiles_of, transitions_of
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
    WordMechanism,
)
from tests.expected import refusals

PLANE = WordEmbedding(
    list("abcdef"),
    [[0.0, 0.0], [1.0, 0.2], [0.3, 0.9], [-1.0, 0.5], [0.1, -1.2], [3.0, 2.0]],
)
PRIOR = np.array([3.0, 1.0, 1.0, 2.0, 1.0, 0.5])


def fitted(embedding=PLANE, epsilon=2.0, lam=0.0, **options):
    return DPWordPerturber(
        embedding, epsilon=epsilon, lam=lam, document_length=1, **options
    ).fit([])


def law_of(perturber, *prior, **options):
    return transitions_of(perturber.mechanism_, *prior, **options)


class Doubtful(WordMechanism):
    """Noise whose nearest words are taken for others now and then: no density."""

    def _prepare(self):
        given = self.embedding, self.epsilon, self.lam
        self.noise_first = MahalanobisNoise().prepare(*given)

    def draw(self, rng, n):
        return *self.noise_first.draw(rng, n), rng.random(n)

    def apply(self, words, draws):
        released = self.noise_first.apply(words, draws[:2])
        return np.where(draws[2] < 0.2, (released + 1) % len(self.embedding), released)

    def exponents(self, x, y):
        return self.noise_first.exponents(x, y)


def the_nearest(distances):
    """Pr[z | v], a row per vector v: the nearest word."""
    return np.eye(distances.shape[1])[distances.argmin(axis=1)]


def by_quadrature(perturber, n=600, reach=10.0, released=the_nearest):
    """Pr[z | w] in the plane, by midpoints of the density exp(-ε‖v − φ(w)‖_RM)."""
    vectors = perturber.embedding_.vectors.astype(np.float64)
    grid = (np.arange(n) + 0.5) / n * 2 * reach - reach
    x, y = np.meshgrid(grid, grid)
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    becomes = released(cdist(points, vectors))
    inverse = np.linalg.inv(perturber.noise_factor_)
    density = np.exp(-perturber.epsilon * cdist(points @ inverse, vectors @ inverse))
    return density.T @ becomes / density.sum(axis=0)[:, None]


@functools.cache
def law_of_the_nearest(lam):
    """Of the noise by default, one word released for a vector: the nearest."""
    return by_quadrature(fitted(lam=lam))


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_it_is_the_law_by_quadrature(lam):
    law = law_of_the_nearest(lam)
    transitions = law_of(fitted(lam=lam), PRIOR, n_draws=20_000, random_state=0)
    # A mean of 120,000 draws of values in [0, 1/(6 ρ)], ρ ≥ 0.06: six standard errors
    # are below 0.008 by √(p max / n), alpha < 1e-7 for all 36; half of that was seen
    np.testing.assert_allclose(transitions, law, atol=0.008)
    np.testing.assert_allclose(transitions.sum(axis=1), 1, rtol=1e-5)
    p = PRIOR[:, None] / PRIOR.sum()
    posterior, expected = p * transitions, p * law
    np.testing.assert_allclose(
        posterior / posterior.sum(axis=0), expected / expected.sum(axis=0), atol=0.02
    )


def second_nearest(distances, t=0.6):
    """Vickrey's rule: (1 − t) d₂ / (t d₁ + (1 − t) d₂) is for the nearest."""
    near, far = np.sort(distances, axis=1)[:, :2].T
    stays = ((1 - t) * far / (t * near + (1 - t) * far))[:, None]
    others = np.where(distances == near[:, None], np.inf, distances)
    return stays * the_nearest(distances) + (1 - stays) * the_nearest(others)


@pytest.mark.no_cover
def test_what_is_computed_from_the_noisy_vector_has_its_posterior():
    perturber = fitted(lam=0.7, mechanism=Vickrey(0.6))
    law = by_quadrature(perturber, n=300, released=second_nearest)
    transitions = law_of(perturber, n_draws=10_000, random_state=0)
    # A mean of 60,000 draws of values in [0, 6]: six standard errors, alpha < 1e-7 for
    # all 36. The nearest word has a law that is further away.
    tolerance = 6 * np.sqrt(6 * law / 60_000)
    assert (np.abs(transitions - law) < tolerance).all()
    assert (np.abs(law - law_of_the_nearest(0.7)) > 2 * tolerance).any()


def test_a_known_law_is_taken_as_it_is():
    for mechanism in (Exponential(), RandomizedResponse()):
        perturber = fitted(epsilon=1.5, mechanism=mechanism)
        law = np.exp(perturber.mechanism_.log_proba(np.arange(6)))
        np.testing.assert_allclose(law_of(perturber, PRIOR), law, rtol=1e-6)
        two = law_of(perturber, words=["f", "b"])
        np.testing.assert_allclose(two, law[[5, 1]], rtol=1e-6)


def test_without_a_density_it_counts():
    """... and comes to the same, but for the wrong words that are released."""
    law = law_of_the_nearest(0.0)
    law = 0.8 * law + 0.2 * np.roll(law, 1, axis=1)
    transitions = law_of(fitted(mechanism=Doubtful()), n_draws=20_000, random_state=0)
    np.testing.assert_allclose(transitions, law, atol=6 * np.sqrt(0.25 / 20_000))


def held_out(mechanism, epsilon, n_draws):
    """The posterior of 300 words given new releases, and the words written."""
    rng = np.random.default_rng(1)
    table = WordEmbedding([f"w{i}" for i in range(300)], rng.normal(size=(300, 6)))
    prior = 1 / np.arange(1, 301)
    prior /= prior.sum()
    perturber = fitted(table, epsilon, mechanism=mechanism, random_state=rng)
    written = rng.choice(300, 4000, p=prior)
    released = perturber.perturb_words(table.word_array[written])[:, 0]
    law = law_of(perturber, prior, n_draws=n_draws, random_state=0)
    posterior = prior[:, None] * law
    posterior /= posterior.sum(axis=0)
    released = table.find(released.tolist())
    return posterior[:, released], written, released


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, Doubtful()], ids=repr)
@pytest.mark.parametrize("n_draws", [1, 30])
def test_few_draws_are_not_overconfident(mechanism, n_draws):
    """How sure the best guess of 300 words is, and how often it is right."""
    seen, written, released = held_out(mechanism, 12.0, n_draws)
    right = (seen.argmax(axis=0) == written).mean()
    assert right > (released == written).mean() - 0.032
    # four standard errors of an accuracy of one half, and some for the form
    assert abs(seen.max(axis=0).mean() - right) < 0.032 + 0.04


@pytest.mark.no_cover
def test_a_fixed_weight_of_form_or_prior_says_less(monkeypatch):
    """New words are less likely under each of them than under those that are chosen."""

    def logs():
        seen, written, _ = held_out(Doubtful(), 4.0, 1)
        return np.log(seen[written, np.arange(len(written))])

    chosen = logs()
    for name, weight in ("_FORM", 0.1), ("_FORM", 100), ("_PRIOR", 1e-3), ("_PRIOR", 1):
        with monkeypatch.context() as patch:
            patch.setattr(_transitions, name, np.array([weight]))
            lost = chosen - logs()
        assert lost.mean() > 4 * lost.std() / np.sqrt(len(lost)), (name, weight)


def test_words_that_no_draw_released_are_rare():
    law = law_of(fitted(epsilon=50.0), words=["a"], random_state=0)[0]
    np.testing.assert_allclose(law.sum(), 1, rtol=1e-5)
    # half of one of 4,000 draws
    np.testing.assert_allclose(law[1:], 0.5 / 4000, rtol=0.05)


@pytest.mark.parametrize("mechanism", [None, Doubtful(), Exponential()], ids=repr)
def test_profiles_are_mixtures_of_rows(mechanism):
    perturber = fitted(mechanism=mechanism)
    profiles = np.array([[1, 0, 0, 3, 0, 0], [0, 2, 2, 0, 0, 0]])
    released = profiles_of(perturber.mechanism_, profiles, n_draws=4000, random_state=0)
    law = law_of(perturber, n_draws=4000, random_state=0)
    shares = profiles / profiles.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(released, shares @ law, atol=0.02)
    np.testing.assert_allclose(released.sum(axis=1), 1, rtol=1e-4)
    assert (released > 0).all()


def test_a_seed_fixes_it():
    rng = np.random.default_rng(3)
    one, again, other = (law_of(fitted(), random_state=seed) for seed in (3, rng, rng))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()  # it has moved on


@refusals(
    ({"prior": [1.0]}, r"per word of the embedding \(6\), .* got 1 "),
    ({"prior": [-1.0, *[1.0] * 5]}, r"prior\[0\] must be a finite number >= 0"),
    ({"words": []}, "words must hold at least one word"),
)
def test_bad_parameters(options):
    transitions_of(fitted().mechanism_, **options)
