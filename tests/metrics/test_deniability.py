"""Plausible deniability: N_w and S_w against enumeration, releases and the paper."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential, RandomizedResponse
from skdptext.metrics import plausible_deniability
from tests.expected import leaks_allowed
from tests.laws import ALPHA, assert_counts, nearest_on_a_line

pytestmark = leaks_allowed

LINE = WordEmbedding(["aa", "bb", "cc"], [[0.0], [1.0], [1.5]])


def enumerated(p, word, n_draws):
    """Probability of each (N_w, S_w), over all sequences of outputs."""
    law = Counter()
    for drawn in product(range(len(p)), repeat=n_draws):
        outcome = drawn.count(word), len(set(drawn))
        law[outcome] += p[list(drawn)].prod()
    return law


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_counts_follow_the_enumerated_law(epsilon):
    perturber = DPWordPerturber(LINE, epsilon=epsilon).fit([])
    proba = nearest_on_a_line(LINE.vectors[:, 0], epsilon)
    for word, name in enumerate(LINE.words):
        law = enumerated(proba[word], word, 3)
        result = plausible_deniability(perturber, [name] * 5000, n_draws=3)
        assert not result.exact
        drawn = Counter(zip(result.n_unchanged, result.n_distinct, strict=True))
        assert set(drawn) <= set(law)
        counts = np.array([drawn[outcome] for outcome in law])
        assert_counts(counts, np.array(list(law.values())), ALPHA / 9)


@pytest.mark.parametrize(
    "mechanism", [Exponential(), Exponential("half"), RandomizedResponse()]
)
@pytest.mark.parametrize("epsilon", [0.7, 2.0, 1e5])
def test_exact_statistics_are_the_expectations(mechanism, epsilon):
    table = WordEmbedding(list("abcd"), [[0.0], [1.0], [1.0], [3.0]])
    perturber = DPWordPerturber(table, epsilon=epsilon, lam=0, mechanism=mechanism)
    result = plausible_deniability(perturber.fit([]), ["d", "a"], n_draws=3)
    assert result.exact
    proba = np.exp(mechanism.prepare(table, epsilon, 0).log_proba(np.arange(4)))
    for k, word in enumerate((3, 0)):
        law = enumerated(proba[word], word, 3)
        stays, different = (
            sum(outcome[i] * chance for outcome, chance in law.items()) for i in (0, 1)
        )
        assert result.n_unchanged[k] == pytest.approx(stays, rel=1e-12)
        assert result.n_distinct[k] == pytest.approx(different, rel=1e-12)


def test_a_seed_repeats_the_draws_at_every_epsilon(small_embedding):
    def draw(state, epsilon=8.0):
        perturber = DPWordPerturber(small_embedding, epsilon=epsilon).fit([])
        return plausible_deniability(perturber, random_state=state).n_unchanged.tolist()

    assert draw(0) == draw(0) != draw(1)
    assert draw(None) != draw(None)
    rng = np.random.default_rng(0)
    assert draw(rng) != draw(rng)
    # so that a draw in which a word stays at one ε leaves it at every larger one
    assert (np.diff([draw(3, 2.0), draw(3, 8.0), draw(3, 40.0)], axis=0) >= 0).all()


def test_noise_is_not_that_of_a_release():
    # Were the stream replayed, one draw would always agree with the release; else it
    # does with probability 0.51 each time, and 60 times with 1e-17.
    same = 0
    for seed in range(60):
        noisy = DPWordPerturber(LINE, epsilon=0.2, random_state=seed).fit([])
        out = noisy.perturb_words(["aa"])[0, 0] == "aa"
        stays = plausible_deniability(noisy, ["aa"], n_draws=1, random_state=seed)
        same += out == bool(stays.n_unchanged[0])
    assert same < 60


def test_summary_and_frame(small_embedding):
    perturber = DPWordPerturber(small_embedding, epsilon=6.0, lam=0.5).fit([])
    result = plausible_deniability(perturber)
    assert result.words.tolist() == list(small_embedding.words)
    for name, columns in result.summary().items():
        counts = getattr(result, name)
        mean, std = counts.mean(), counts.std()
        limits = mean - 0.196 * std, mean + 0.196 * std
        expected = [mean, std, *np.percentile(counts, [5, 50, 95]), *limits]
        assert list(columns.values()) == pytest.approx(expected)
    row = result.to_frame().iloc[8].tolist()
    assert row == [6.0, 0.5, "w8", result.n_unchanged[8], result.n_distinct[8]]


@pytest.mark.no_cover
def test_lam_makes_words_deniable(built_in):
    """N_w falls and S_w rises with λ, as in the paper, by the same draws for each λ."""
    unchanged, distinct = [], []
    for lam in (0, 0.5, 1):
        perturber = DPWordPerturber(built_in, epsilon=20.0, lam=lam).fit([])
        words = built_in.words[::300]
        result = plausible_deniability(perturber, words, n_draws=200, random_state=0)
        unchanged.append(result.n_unchanged.mean())
        distinct.append(result.n_distinct.mean())
    assert (np.diff(unchanged) < 0).all()
    assert (np.diff(distinct) > 0).all()
