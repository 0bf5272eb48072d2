"""audit_training on sums over people, with the mistakes that are easy to make."""

from __future__ import annotations

import functools
import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPTextClassifier
from skdptext.audit import audit_training
from skdptext.exceptions import InvalidParameterError

WORDS = ["tea", "milk", "rice"]
CLASSES = ["maybe", "no", "yes"]
# A new word of "Eve", who wrote six times as much as anyone else.
TEXTS = [f"{WORDS[i % 3]} {WORDS[i % 2]}" for i in range(40)] + ["tea owl"] * 6
LABELS = np.array(["no", "yes"] * 20 + ["yes"] * 6, dtype="U5")
AUTHORS = np.array([f"A{i:02d}" for i in range(40)] + ["Eve"] * 6)
GRID = 2**30
_twice = itertools.count()


@functools.lru_cache(4)
def cells_of(X, y, classes, words):
    """A one for the class and the last known word of each text."""
    cells = np.zeros((len(X), len(classes), len(words)))
    for i, (text, label) in enumerate(zip(X, y, strict=True)):
        known = [word for word in text.split() if word in words] or words[:1]
        cells[i, classes.index(label), words.index(known[-1])] = 1
    cells.flags.writeable = False
    return cells


@functools.lru_cache(4)
def weights_of(authors):
    """Of each text: one for every author."""
    return 1 / np.array([authors.count(author) for author in authors])


class NoisySums(BaseEstimator):
    """Noisy counts of people by class and by the first word that is known."""

    def __init__(self, epsilon=1.0, random_state=0):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X, y, authors=None):
        authors = np.arange(len(X)) if authors is None else authors
        self.rng = np.random.default_rng(self.random_state)
        self.words_ = self.vocabulary(X)
        self.classes_ = self.classes_of(y)
        pairs = tuple(X), tuple(y.tolist()), tuple(self.classes_), tuple(self.words_)
        sums = self.summed(cells_of(*pairs), np.asarray(authors))
        self.noisy_sums_ = self.released(sums)
        return self

    def guarantee(self):
        return self

    def vocabulary(self, X):
        return WORDS

    def classes_of(self, y):
        return CLASSES

    def summed(self, cells, authors):
        return np.tensordot(weights_of(tuple(authors.tolist())), cells, axes=1)

    def released(self, sums):
        return np.round(sums * 2**30) / 2**30 + self.noise(sums.shape, self.scale)

    @property
    def scale(self):
        return 1 / self.epsilon

    def noise(self, shape, scale):
        step = 2.0**-30
        drawn = self.rng.geometric(-math.expm1(-step / scale), (2, *shape))
        return (drawn[0] - drawn[1]) * step


class OfRows(NoisySums):
    def summed(self, cells, authors):
        return cells.sum(axis=0)


class WordsOfX(NoisySums):
    def vocabulary(self, X):
        return sorted({word for text in X for word in text.split()})


class ClassesOfY(NoisySums):
    def classes_of(self, y):
        return sorted(set(y.tolist()))


class IdfOfX(NoisySums):
    def summed(self, cells, authors):
        self.idf_ = np.log(len(cells) / (1 + cells.sum(axis=(0, 1))))
        return super().summed(cells, authors)


class Floating(NoisySums):
    def released(self, sums):
        return sums + self.rng.laplace(0.0, self.scale, sums.shape)


class NoNoise(NoisySums):
    def noise(self, shape, scale):
        return np.zeros(shape)


class OnMeans(NoisySums):
    """The mean of each class, with noise as if its size could not change."""

    def released(self, sums):
        sizes = np.maximum(sums.sum(axis=1, keepdims=True), 1)
        noisy = sums / sizes + self.noise(sums.shape, 1) * self.scale / sizes
        return np.round(noisy * 2**30) / 2**30  # so that only the law shows it


class ClippedAfter(NoisySums):
    def summed(self, cells, authors):
        sums = np.zeros(cells.shape[1:])
        for author in np.unique(authors):
            sums += cells[authors == author].sum(axis=0)
        return np.clip(sums, 0, 100)


class NoiseTwice(NoisySums):
    def noise(self, shape, scale):
        self.rng = np.random.default_rng(next(_twice) // 2)
        return super().noise(shape, scale)


class FewSeeds(NoisySums):
    def noise(self, shape, scale):
        self.rng = np.random.default_rng(int(self.rng.integers(2**14)))
        return super().noise(shape, scale)


class ReadingThreshold(NoisySums):
    def released(self, sums):
        return np.where(sums > 0.5, super().released(sums), 0.0)


class EpsilonForScale(NoisySums):
    @property
    def scale(self):
        return self.epsilon


class HalfTheNoise(NoisySums):
    @property
    def scale(self):
        return 0.5 / self.epsilon


class Gaussian(NoisySums):
    """Gaussian noise of the stated deviation, or of a part of it."""

    def __init__(self, epsilon=1.0, random_state=0, part=1.0):
        super().__init__(epsilon, random_state)
        self.part = part

    delta = 1e-6
    sigma = 4.3

    def delta_at(self, epsilon):
        half, ratio = 1 / (2 * self.sigma), epsilon * self.sigma
        return norm.cdf(half - ratio) - math.exp(epsilon) * norm.cdf(-half - ratio)

    def noise(self, shape, scale):
        drawn = self.part * self.sigma * self.rng.normal(size=shape)
        return np.round(drawn * 2**30) / 2**30


def audited(estimator, person=None, **options):
    options = {"authors": AUTHORS, "n_fits": 200, "random_state": 1} | options
    return audit_training(estimator, TEXTS, LABELS, person, **options)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "mistaken",
    [
        OfRows(),
        WordsOfX(),
        IdfOfX(),
        NoNoise(),
        ClippedAfter(),
        ReadingThreshold(),
        EpsilonForScale(epsilon=0.25),
        HalfTheNoise(epsilon=1.0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_seeded_mistakes_are_caught(mistaken):
    audit = audited(mistaken, n_fits=1000 if type(mistaken) is HalfTheNoise else 100)
    assert audit.violated
    assert audit.repeats == 0
    assert "The claim is false" in str(audit).replace("\n", " ")


def test_a_class_that_one_person_has_is_caught():
    labels = LABELS.copy()
    labels[-6:] = "maybe"
    audit = audit_training(
        ClassesOfY(), TEXTS, labels, authors=AUTHORS, n_fits=200, random_state=1
    )
    assert audit.person == "Eve"
    assert audit.violated
    assert not audit_training(
        NoisySums(), TEXTS, labels, authors=AUTHORS, n_fits=200, random_state=1
    ).violated


@pytest.mark.no_cover
def test_noise_on_means_is_caught_where_a_class_is_small():
    labels = LABELS.copy()
    labels[:2] = "maybe"
    audit = audit_training(
        OnMeans(), TEXTS[:30], labels[:30], n_fits=1000, random_state=1
    )
    assert audit.violated


@pytest.mark.no_cover
def test_noise_in_floating_point_is_caught_by_its_lowest_bits():
    labels = LABELS.copy()
    labels[-6:] = "maybe"
    audit = audit_training(
        Floating(), TEXTS, labels, "Eve", authors=AUTHORS, n_fits=400, random_state=1
    )
    assert audit.violated
    assert audit.event == "the lowest bit of a number of noisy_sums_"


@pytest.mark.parametrize("mistaken", [NoiseTwice(), FewSeeds()])
def test_noise_of_two_fits_is_caught(mistaken):
    audit = audited(mistaken, "Eve")
    assert audit.repeats > 0
    assert "Noise was used again" in str(audit).replace("\n", " ")


@pytest.mark.no_cover
def test_too_little_gaussian_noise_is_caught_by_another_pair_of_epsilon_and_delta():
    assert not audited(Gaussian(), "Eve").violated
    audit = audited(Gaussian(part=0.3), "Eve", n_fits=1000)
    assert audit.violated
    assert audit.delta > Gaussian.delta
    assert audit.claimed < 1
    # at the stated δ alone, nothing shows
    alone = audited(Gaussian(part=0.3), "Eve", epsilon=1.0, delta=1e-6)
    assert not alone.violated


# -- the same in DPTextClassifier ------------------------------------------------------

PUBLIC = ["tea and milk", "milk", "rice", "rice and tea", "owl", "tea"] * 4
# Eve alone is in a class, whose cells are 0 without her.
ALONE = np.where(AUTHORS == "Eve", "maybe", LABELS)
HERE = "skdptext.learning._classifier"


class LearnsWords(DPTextClassifier):
    def fit(self, X, y, authors=None):
        self.public_documents = PUBLIC + X
        return super().fit(X, y, authors)


class LearnsClasses(DPTextClassifier):
    def fit(self, X, y, authors=None):
        self.classes = None
        return super().fit(X, y, authors)


class SumsChanged(DPTextClassifier):
    """The exact sums are changed before the noise."""

    def _release(self, sums, *others):
        return super()._release(self.changed(sums), *others)


class Averaged(SumsChanged):
    def changed(self, table):
        sizes = np.maximum(table.sum(axis=1, keepdims=True) / GRID, 1)
        return np.round(20 * table / sizes).astype(np.int64)  # 20 would be the mean


class Clipped(SumsChanged):
    def changed(self, table):
        return np.minimum(table, 100 * GRID)


class NoiseChanged(DPTextClassifier):
    """The noisy sums are changed with an eye on the exact ones."""

    def _release(self, sums, *others):
        super()._release(sums, *others)
        self.noisy_sums_ = self.changed(sums / GRID)
        return self


class FloatingNoise(NoiseChanged):
    def changed(self, exact):
        return exact + np.random.default_rng(next(_twice)).laplace(size=exact.shape)


class WithoutNoise(NoiseChanged):
    def changed(self, exact):
        return exact


class ReadsForItsThreshold(NoiseChanged):
    def changed(self, exact):
        return np.where(exact > 0, self.noisy_sums_, 0.0)


class RowsForPeople(DPTextClassifier):
    patched = ("_documents_of_each", lambda authors, n: np.ones(n))


class RowsThenClipped(Clipped, RowsForPeople):
    pass


class ScaleForEpsilon(DPTextClassifier):
    patched = ("laplace_scale", lambda epsilon, grid: int(epsilon * grid))


def _same_noise_twice(rng, scale, size):
    return np.random.default_rng(next(_twice) // 2).integers(-scale, scale, size)


class SameNoiseTwice(DPTextClassifier):
    patched = ("discrete_laplace", _same_noise_twice)


def _slow(kind):
    return pytest.param(kind, marks=pytest.mark.slow)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "kind",
    [
        RowsForPeople,
        _slow(LearnsWords),
        LearnsClasses,
        _slow(WithoutNoise),
        _slow(FloatingNoise),
        _slow(Averaged),
        _slow(RowsThenClipped),
        _slow(ReadsForItsThreshold),
        _slow(ScaleForEpsilon),
        SameNoiseTwice,
        DPTextClassifier,
    ],
)
def test_mistakes_seeded_in_the_classifier_are_caught(kind, monkeypatch):
    # noise of its own, whichever tests ran before
    monkeypatch.setattr(sys.modules[__name__], "_twice", itertools.count())
    if hasattr(kind, "patched"):
        name, instead = kind.patched
        monkeypatch.setattr(f"{HERE}.{name}", instead)
    epsilon = 0.2 if kind is ScaleForEpsilon else 1.0
    model = kind(PUBLIC, n_groups=3, epsilon=epsilon, classes=CLASSES)
    # its lowest bits take many: with 400 one of five seeds missed it, with 1,000 none
    n_fits = 1000 if kind is FloatingNoise else 100
    audit = audit_training(
        model, TEXTS, ALONE, "Eve", authors=AUTHORS, n_fits=n_fits, random_state=1
    )
    right = kind is DPTextClassifier
    assert audit.violated == (not right and kind is not SameNoiseTwice)
    assert (audit.repeats > 0) == (kind is SameNoiseTwice)


# -- how often right code is called wrong ----------------------------------------------


class TwoCells(BaseEstimator):
    """The claim is attained with equality: any bound that is too high is an error."""

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y):
        rng = np.random.default_rng(self.random_state)
        drawn = rng.geometric(-math.expm1(-1.0), (2, 2))
        self.counts_ = np.bincount(y, minlength=2) + drawn[0] - drawn[1]
        return self


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [50, pytest.param(100, marks=pytest.mark.slow)])
def test_a_true_claim_is_refuted_no_more_often_than_stated(n):
    """At confidence .8; the test fails for right code once in 10⁶ runs.

    A rate of .6 is found with .90 in 50 audits, with .9999 in 100.
    """
    y = np.array([0, 1] * 5)
    refuted = [
        audit_training(
            TwoCells(), np.zeros((10, 1)), y, 0, epsilon=1.0, n_fits=100,
            confidence=0.8, random_state=i,
        )
        for i in range(n)
    ]  # fmt: skip
    assert sum(a.violated for a in refuted) <= binom.isf(1e-6, n, 0.2)
    assert sum(a.repeats for a in refuted) == 0


@pytest.mark.no_cover
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_right_mechanism_is_not_refuted(epsilon):
    audit = audited(NoisySums(epsilon=epsilon), n_fits=200, confidence=0.999)
    assert not audit.violated
    assert audit.repeats == 0
    assert audit.claimed == epsilon
    assert "does not prove privacy" in str(audit).replace("\n", " ")
    assert audit.accuracy < 1 / (1 + math.exp(-epsilon)) + 0.1


@pytest.mark.no_cover
def test_what_attains_the_claim_shows_most_of_it():
    audit = audited(NoisySums(), "Eve", n_fits=1000)
    assert 0.3 < audit.lower_bound <= 1
    assert audit.accuracy == pytest.approx(1 / (1 + math.exp(-0.5)), abs=0.1)


class Means(BaseEstimator):
    """Means of columns without any noise, seen in predictions or a coefficient."""

    def fit(self, X, y):
        rows = X if sp.issparse(X) else np.asarray(X)
        self.coef_ = np.asarray(rows.mean(axis=0)).ravel()
        return self

    def transform(self, X):
        return X


class NoisyMeans(Means):
    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y):
        super().fit(X, y)
        rng = np.random.default_rng(self.random_state)
        self.coef_ = self.coef_ + rng.normal(size=3) / 5
        return self


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [
        (np.asarray, make_pipeline(FunctionTransformer(), Means())),
        (pd.DataFrame, Means()),
        (np.ndarray.tolist, Means()),
        (sp.csr_array, Means()),
    ],
    ids=["array", "frame", "lists", "sparse"],
)
def test_any_estimator_and_kind_of_data_is_taken(kind, estimator):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    rows[7] = 50
    y = np.arange(20) % 2
    audit = audit_training(estimator, kind(rows), y, epsilon=1.0, n_fits=100)
    assert audit.violated


class FixedSize(NoisySums):
    """Counts that add up to the true number of rows, which is taken to be public."""

    delta, epsilon_replace = 0.0, 2.0

    def released(self, sums):
        noisy = super().released(sums)
        noisy[0, 0] += sums.sum() - noisy.sum()
        return noisy


def test_a_claim_about_a_person_replaced_is_tested_by_replacing():
    assert audited(FixedSize(), "Eve").violated
    replaced = audited(FixedSize(), "Eve", neighbours="replace")
    assert not replaced.violated
    assert replaced.claimed == 2
    assert audited(OfRows(), "Eve", neighbours="replace", epsilon=1.0).violated
    with pytest.raises(InvalidParameterError, match="has no epsilon_replace"):
        audited(NoisySums(), "Eve", neighbours="replace")
    with pytest.raises(InvalidParameterError, match="neighbours must be one of"):
        audited(NoisySums(), neighbours="remove")


def test_the_farthest_person_is_chosen():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    rows[7] = 50
    y = np.arange(20) % 2
    noisy = audit_training(NoisyMeans(), rows, y, epsilon=1.0, n_fits=100)
    assert noisy.person == 7
    assert noisy.violated


def test_a_statistic_of_ones_own_is_taken():
    audit = audited(OfRows(), "Eve", statistic=lambda m: m.noisy_sums_[2].sum())
    assert audit.violated
    assert "the statistic" in audit.event
    nothing = audited(OfRows(), "Eve", statistic=lambda m: 0.0)
    assert nothing.lower_bound == 0
    assert not nothing.violated


def test_few_fits_say_nothing_about_a_large_claim():
    audit = audited(NoisySums(epsilon=9.0), "Eve", n_fits=100)
    assert audit.largest_bound < 9
    assert "nothing is said" in str(audit).replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"person": "Bob"}, "person must be one of the authors, got 'Bob'"),
        ({"authors": None, "person": 99}, "person must be the number of a row, got 99"),
        ({"authors": AUTHORS[1:]}, "authors must hold one label per row .46., got"),
        ({"authors": ["one"] * 46}, "authors must hold 3 or more persons, got 1"),
        ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
        ({"delta": 0.1}, "epsilon must be given where delta is"),
        ({"epsilon": 1, "delta": 1}, "delta must be a finite number"),
        ({"n_fits": 99}, "n_fits must be an integer >= 100, got 99"),
        ({"confidence": 1}, "confidence must be a finite number"),
        ({"statistic": "auc"}, "statistic must be callable or None"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        audited(NoisySums(), **options)


def test_what_has_no_claim_and_no_fit_is_refused():
    with pytest.raises(InvalidParameterError, match="no guarantee"):
        audited(Means())
    with pytest.raises(InvalidParameterError, match="must have fit"):
        audited(object())
    with pytest.raises(InvalidParameterError, match="y must hold one label per row"):
        audit_training(NoisySums(), TEXTS, LABELS[1:])
