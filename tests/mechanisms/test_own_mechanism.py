"""A user's own mechanism goes everywhere, and mistakes in one are caught."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import NoiseRun, transitions_of
from skdptext.mechanisms import (
    Exponential,
    MahalanobisMetric,
    MahalanobisNoise,
    Spectrum,
    TableMechanism,
    WordMechanism,
)
from skdptext.metrics import plausible_deniability
from skdptext.privacy import PrivacyGuarantee
from tests.channels import sample
from tests.expected import leaks_allowed, refused
from tests.laws import assert_noise_law

pytestmark = leaks_allowed

ROW = WordEmbedding([f"w{i}" for i in range(12)], np.arange(12.0)[:, None])


class Steps(WordMechanism):
    """Two-sided geometric steps along the order of the words."""

    def __init__(self, width=1.0):
        self.width = width

    def _prepare(self):
        if isinstance(self.width, float):
            self.rate = self.epsilon / self.width

    def draw(self, rng, n):
        up, down = rng.geometric(-math.expm1(-self.rate), (2, n))
        return (up - down,)

    def apply(self, words, draws):
        return np.clip(words + draws[0], 0, len(self.embedding) - 1)

    def exponents(self, x, y):
        return self.rate * np.abs(np.subtract.outer(x, y))


def fitted(mechanism, embedding=ROW, **parameters):
    settings = {"epsilon": 0.8, "document_length": 3, "resize": "truncate"}
    settings |= {"mechanism": mechanism, "random_state": 2**100} | parameters
    return DPWordPerturber(embedding, **settings).fit([])


# -- noise on vectors ------------------------------------------------------------------


class OwnShape(MahalanobisNoise):
    """Noise shaped by a covariance of its own."""

    def _prepare(self):
        values = np.array([0.4, 1.6])
        spectrum = Spectrum(np.diag(values), values, np.eye(2))
        self.metric = MahalanobisMetric(self.lam, spectrum)


def test_the_guarantee_is_that_of_the_noise_drawn(small_embedding):
    """Not that of another mechanism built from ε and λ."""
    plane = WordEmbedding(small_embedding.words, small_embedding.vectors[:, :2])
    own = OwnShape().prepare(plane, 3.0, 1.0)
    noise = sample(own, np.random.default_rng(0), 5000)
    assert_noise_law(noise, 3.0, np.diag([0.4, 1.6]))
    v = plane["w1"].astype(float) - plane["w2"]
    exact = 3.0 * math.sqrt(v[0] ** 2 / 0.4 + v[1] ** 2 / 1.6)
    assert PrivacyGuarantee(own).exponent("w1", "w2") == pytest.approx(exact)


def test_a_release_that_loses_draws_stops(small_embedding, monkeypatch):
    """A fault that no input brings about."""
    draws = NoiseRun._draws
    monkeypatch.setattr(
        NoiseRun, "_draws", lambda self, *a: itertools.islice(draws(self, *a), 0)
    )
    with pytest.raises(RuntimeError, match="3 of 3 words got no noise"):
        fitted(None, small_embedding).transform([["w1", "w2", "w3"]])


# -- what a mechanism returns is checked -----------------------------------------------


def wrong(name, change):
    """Steps with another method."""

    def method(self, *given):
        return change(getattr(Steps, name)(self, *given))

    return type("Wrong", (Steps,), {name: method})()


@pytest.mark.parametrize("random_state", [None, 2**100])
def test_no_word_is_released_without_noise(random_state):
    for name, change, message in (
        ("draw", lambda d: (d[0][: len(d[0]) // 2],), "draw of Wrong must return"),
        ("draw", lambda d: (np.ones(1), *d), "draw of Wrong must return"),
        ("draw", list, "draw of Wrong must return a tuple of arrays .* got list"),
        ("apply", lambda z: z / 2, "apply of Wrong must return .* type float64"),
        ("apply", lambda z: z[1:], "apply of Wrong must return"),
        ("apply", lambda z: z + 12, r"apply of Wrong must return .* in \[0, 12\)"),
    ):
        perturber = fitted(wrong(name, change), random_state=random_state)
        with refused(message):
            perturber.transform([["w5"] * 3])
        with refused(message):
            plausible_deniability(perturber, ["w5"], n_draws=3)


@pytest.mark.parametrize("kept", [np.s_[0], np.s_[:, :2], np.s_[1:]])
def test_noise_of_another_shape_is_refused(small_embedding, kept):
    class Wrong(MahalanobisNoise):
        def noise(self, draws):  # the first: all words move by one vector
            return super().noise(draws)[kept]

    with refused("noise of Wrong must return"):
        fitted(Wrong(), small_embedding).transform([["w1", "w2", "w3"]])


class TakenNames(Steps):
    def __init__(self, epsilon=1.0, metric="cosine"):
        self.epsilon, self.metric = epsilon, metric


def test_options_do_not_take_the_names_of_what_is_prepared():
    """Whoever gives a smaller ε as an option believes in it."""
    with refused("must not be called .*, got epsilon and metric"):
        TakenNames().prepare(ROW, 1.0)


def test_exponents_below_zero_are_refused():
    with refused("exponents of Wrong.* must be"):
        fitted(wrong("exponents", lambda t: t - 1)).guarantee().exponent("w1", "w1")


class Rows(TableMechanism):
    def __init__(self, rows=None):
        self.rows = rows

    def log_proba(self, words):
        return self.rows[words]


_ROWS = {
    "too much": np.log([[0.75, 0.25, 0.25], [0.3, 0.3, 0.4], [0.3, 0.3, 0.4]]),
    "float32": np.log([[0.7, 0.2, 0.1]] * 3).astype(np.float32),
    "not logarithms": np.array([[0.5, 0.25, 0.25]] * 3),
    "NaN": np.array([[0.0, -np.inf, np.nan]] * 3),
    "inf": np.array([[np.inf, 0, 0]] * 3),
    "another shape": np.log(np.full((3, 2), 0.5)),
    "all impossible": np.full((3, 3), -np.inf),
}


@pytest.mark.parametrize("kind", _ROWS)
def test_rows_that_are_no_distributions_neither_draw_nor_promise(kind):
    """Drawing would scale them, and promising would not."""
    table = WordEmbedding(["aa", "bb", "cc"], np.eye(3))
    perturber = fitted(Rows(_ROWS[kind]), table)
    guarantee = perturber.guarantee()
    sampled = fitted(Rows(_ROWS[kind]), table, resize="sample").guarantee()
    for ask in (
        lambda: perturber.transform(["aa bb cc"]),
        lambda: perturber.perturb_words(["aa", "bb", "cc"]),
        lambda: guarantee.exponent("aa", "bb"),
        lambda: guarantee.exponent("aa", "bb", delta=1e-6),
        lambda: sampled.exponent(["aa"], ["bb", "cc"]),
        lambda: transitions_of(perturber.mechanism_),
        lambda: plausible_deniability(perturber),
    ):
        with refused("log_proba of Rows must be an array"):
            ask()


TWO, HALVES = WordEmbedding(["a", "b"], np.eye(2)), np.log(np.full((2, 2), 0.5))


def test_rows_are_scaled_in_what_is_promised_as_in_draws():
    """Sums may be off by 1e-9, which is not to be missing from exponents."""
    off = np.log([[0.5, 0.5], [0.3, 0.7]]) + [[-9e-10], [9e-10]]
    mechanism = Rows(off).prepare(WordEmbedding(["a", "b"], np.eye(2)), 1.0)
    lost = mechanism.exponents(np.array([0, 1]), np.array([0, 1]))
    assert 0 <= lost[0, 1] - math.log(0.5 / 0.3) < 1e-11
    assert 0 <= lost[1, 0] - math.log(0.7 / 0.5) < 1e-11


def test_other_draws_are_not_vouched_for():
    class Shuffled(Rows):
        def apply(self, words, draws):
            return super().apply(words, draws)[::-1]

    assert Rows(HALVES).prepare(TWO, 1.0).numerical_delta == 2.0**-36 + 2.0**-50
    assert Shuffled(HALVES).prepare(TWO, 1.0).numerical_delta is None


@pytest.mark.parametrize(
    "mechanism", [*map(Exponential, ("half", "exact")), MahalanobisNoise()], ids=repr
)
def test_without_a_covariance_nothing_is_promised(mechanism):
    equal, dependent = np.ones((3, 2)), np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    for vectors, lam, message in (
        (equal[:1], 1e-3, "at least 2 words.*got 1"),
        (equal, 1e-3, "at least 2 different vectors"),
        (equal, 1.0, "at least 2 different vectors"),
        (dependent, 1.0, r"lam must be < 1 where the covar.*lam=0\.9"),
    ):
        with refused(message):
            table = WordEmbedding(list("abc")[: len(vectors)], vectors)
            mechanism.prepare(table, 1.0, lam)


def test_fingerprints_tell_all_options_apart():
    class Other(Steps):
        pass

    class Silent(str):
        def __repr__(self):
            return "silent"

    other = WordEmbedding(ROW.words, np.arange(12.0)[:, None] + 1)
    made = [
        mechanism.prepare(ROW, 1.0).fingerprint
        for mechanism in (
            Steps(), Steps(2.0), Steps("1.0"), Steps(None), Steps([1.0]), Steps((1.0,)),
            Steps([[1.0], 2.0]), Steps([1.0, [2.0]]), Steps(np.ones(2)),
            Steps(np.ones((1, 2))), Steps(np.ones(2, np.float32)), Steps(Steps()),
            Steps(True), Steps(b"1.0"), Steps(["ab", "c"]), Steps(["a", "bc"]),
            Steps(["a, str('b')"]), Steps(Silent("a")), Steps(Silent("b")), Other(),
            MahalanobisNoise(), Exponential(),
            # the law is the same, and its noise is not
            Exponential("half", 1e6), Exponential("half", 2e6),
        )
    ]  # fmt: skip
    made += [
        Steps().prepare(*given).fingerprint
        for given in ((ROW, 1 + 1e-12), (ROW, 1.0, 1e-12), (other, 1.0))
    ]
    assert len(set(made)) == len(made)
    for one, number in (Fraction(1), -0.0), (np.float32(1), Fraction(0)), (1, 0):
        assert Steps(np.float64(1)).prepare(ROW, one, number).fingerprint == made[0]
    for unknown in (object(), np.ma.ones(2), {"a": 1}, np.array([None])):
        with refused("options of a mechanism"):
            Steps(unknown).prepare(ROW, 1.0)
