"""All estimators behave as scikit-learn's own do."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator

import skdptext
from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WMDKNNClassifier,
    WordEmbedding,
)
from skdptext.attacks import (
    KoppelAuthorClassifier,
    WordReconstructionAttack,
)
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.neighbors import WMDKNNRegressor, WMDNeighbors, WMDNeighborsTransformer
from skdptext.preprocessing import (
    MeanVectorEncoder,
    TopicWordSelector,
)
from tests.mechanism_forms import forms

EMBEDDING = WordEmbedding(
    ["cat", "dog", "tea", "cake"], [[0.0, 1.0], [0.5, 1.0], [9.0, 0.0], [8.0, 2.0]]
)
PERTURBER = DPWordPerturber(EMBEDDING, document_length=2, random_state=0)
PUBLIC = ["a cat", "dog and cat", "cake", "tea and cake", "dog", "green tea"]

# They read text: of scikit-learn's checks few apply, and those below do.
READERS = [
    DPDocumentReplacer(PUBLIC, n_groups=2, random_state=0),
    DPTextClassifier(PUBLIC, random_state=0),
    KoppelAuthorClassifier(n_rounds=3, random_state=0),
    MeanVectorEncoder(EMBEDDING, 1),
    WordReconstructionAttack(PERTURBER, n_draws=5, random_state=0),
]

ESTIMATORS = [
    # Seeded, so that no check is left out for want of repeatability.
    DPWordPerturber("one-hot", random_state=0),
    DPWordPerturber(
        "one-hot", lam=0.0, document_length=5, resize="sample", random_state=1, n_jobs=2
    ),
    ChannelNaiveBayes(),
    ChannelNaiveBayes(
        DPWordPerturber("one-hot", epsilon=3.0), n_draws=20, random_state=0
    ),
    TopicWordSelector(n_words=5),
    WMDKNNClassifier("one-hot"),
    WMDKNNClassifier("one-hot", n_neighbors=3, weights="distance"),
    WMDKNNRegressor("one-hot"),
    WMDNeighbors("one-hot", radius=0.1),
    WMDNeighborsTransformer("one-hot", n_neighbors=3),
    *READERS,
]
# Parameters of an estimator: nothing is fitted.
SETTINGS = forms()

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.EmptyDocumentWarning",
)


def by_name(estimator):
    return type(estimator).__name__


def public_estimators():
    """Classes derived from BaseEstimator that any public module hands out."""
    estimators = set()
    rooms = pkgutil.iter_modules(skdptext.__path__, "skdptext.")
    for module in [skdptext, *(importlib.import_module(room.name) for room in rooms)]:
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                estimators.add(thing)
    return {each for each in estimators if not inspect.isabstract(each)}


def test_every_public_estimator_is_checked():
    fitted = {each for each in public_estimators() if hasattr(each, "fit")}
    assert fitted == {type(each) for each in ESTIMATORS}
    assert public_estimators() - fitted == set(map(type, SETTINGS.values()))
    # the others read matrices
    others = {ChannelNaiveBayes, TopicWordSelector, WMDKNNClassifier, DPWordPerturber}
    others |= {WMDKNNRegressor, WMDNeighbors, WMDNeighborsTransformer}
    assert {type(each) for each in READERS} == fitted - others


# scikit-learn's checks that cannot apply, each with its reason: all are expected to
# fail, and one that passes fails the tests.
EXPECTED_FAILED_CHECKS = {
    "WMDNeighborsTransformer": {
        "check_estimators_dtypes": (
            "its small whole numbers make a document without words, which is refused"
        ),
    },
}
if Version(sklearn.__version__) < Version("1.7.1"):
    EXPECTED_FAILED_CHECKS["DPWordPerturber"] = {
        "check_positive_only_tag_during_fit": (
            "takes a fractional mean off the integers that it makes of categories"
        ),
    }

CHECKS = [
    case for estimator in ESTIMATORS for case in estimator_checks_generator(estimator)
]


def in_short(case):
    """scikit-learn's own ids show each estimator in full: this takes half a second."""
    return by_name(case) if isinstance(case, BaseEstimator) else case.func.__name__


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=in_short)
def test_common(estimator, check):
    if check.func.__name__ in EXPECTED_FAILED_CHECKS.get(by_name(estimator), {}):
        # an xfail would be told with its whole stack, which takes a fifth of a second
        with pytest.raises((AssertionError, TypeError, ValueError)):
            check(estimator)
    else:
        check(estimator)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_get_params_invariance",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
    ],
)
def test_settings(setting, check):
    mechanism = SETTINGS[setting]
    getattr(estimator_checks, check)(by_name(mechanism), clone(mechanism))


# -- what scikit-learn checks with matrices, for estimators that read text --------

TEXTS = ["cat dog cat", "dog cat", "tea cake tea", "cake tea"] * 3
LABELS = np.array(["pets", "pets", "food", "food"] * 3)


def answer(model):
    """What a fitted model makes of the texts, and with which probability."""
    if isinstance(model, WordReconstructionAttack):
        return model.predict(list(EMBEDDING.words)).tolist()
    if hasattr(model, "predict"):
        answers = [model.predict(TEXTS).tolist()]
        if hasattr(model, "predict_proba"):
            answers.append(model.predict_proba(TEXTS).tolist())
        return answers
    released = model.transform(TEXTS)
    if hasattr(released, "toarray"):
        released = released.toarray()
    return released.tolist() if isinstance(released, np.ndarray) else released


@pytest.mark.parametrize("estimator", [PERTURBER, *READERS], ids=by_name)
def test_reading_text(estimator):
    before = clone(estimator).get_params(deep=False)
    model = clone(estimator)
    assert model.fit(TEXTS, LABELS) is model
    assert {name: repr(value) for name, value in before.items()} == {
        name: repr(value) for name, value in model.get_params(deep=False).items()
    }
    learned = {name for name in vars(model) if name not in before}
    assert all(name.endswith("_") or name.startswith("_") for name in learned)
    first = answer(model)
    assert set(vars(model)) == learned | set(before)  # answers leave no trace
    assert answer(model) == first
    assert answer(pickle.loads(pickle.dumps(model))) == first
    assert answer(model.fit(TEXTS, LABELS)) == first
    assert answer(clone(model).fit(TEXTS, LABELS)) == first


@pytest.mark.parametrize("estimator", [PERTURBER, *READERS], ids=by_name)
def test_fitted_before_use(estimator):
    model = clone(estimator)
    if model.__sklearn_tags__().requires_fit:
        with pytest.raises(NotFittedError):
            answer(model)
    else:
        assert answer(model) == answer(model.fit(TEXTS))
