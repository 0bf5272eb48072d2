"""Inside the estimators of scikit-learn and imbalanced-learn that take others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPDocumentReplacer, DPWordPerturber
from skdptext.datasets import make_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential
from skdptext.privacy import PrivacyGuarantee
from tests.learning.conftest import FOOD, PETS, texts_of

TOPICS = np.arange(400) % 2
X = [f"{text} w{i}" for i, text in enumerate(texts_of(TOPICS, seed=7))]
TEST = texts_of([0, 1] * 20, seed=9)


class Predicted:
    """The probabilities that `cross_val_predict` gives, as an estimator."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        log = cross_val_predict(self.model, X, y, method="predict_proba", cv=2)
        self.found = np.unique(y)[log.argmax(axis=1)]
        return self

    def predict(self, X):
        return self.found[np.array([0, 1] * 20)]  # of such texts


WORDS = make_pipeline(TfidfVectorizer(), LogisticRegression())
# Whether they number the labels before they fit.
OTHERS = {
    "voting": (lambda m: VotingClassifier([("a", m), ("b", WORDS)], voting="soft"), 1),
    "stacking": (lambda m: StackingClassifier([("a", m), ("b", WORDS)], cv=2), 1),
    "one against all": (OneVsRestClassifier, 1),
    "probabilities": (Predicted, 1),
    "calibrated": (lambda m: CalibratedClassifierCV(m, cv=2), 0),
    "bagging": (lambda m: BaggingClassifier(m, 2), 1),
}


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("labels", [["food", "pets"], [1, 2], [0, 1]], ids=str)
def test_meta_estimators_work_or_errors_name_cause_and_cure(make, name, labels):
    (other, numbers), y = OTHERS[name], np.array(labels)[1 - TOPICS]
    column = [np.array(x, dtype=object) for x in (X, TEST)]
    if name == "bagging":  # which wants a table
        column = [x[:, None] for x in column]
    right = np.array(labels * 20)[::-1]
    for classes in (labels, None):
        estimator = other(make("vectors", classes=classes, epsilon=9.0))
        if numbers and classes in (["food", "pets"], [1, 2]):
            message = r"number labels from 0 on: there, classes=range\(n_classes\)"
            with pytest.raises(InvalidParameterError, match=message):
                estimator.fit(column[0], y)
        else:
            found = estimator.fit(column[0], y).predict(column[1])
            assert (found == right).mean() > 0.9


def test_routing_of_authors(make, private):
    texts, labels, authors = private
    with config_context(enable_metadata_routing=True):
        model = make("groups", epsilon=9.0).set_fit_request(authors=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(texts, labels, authors=authors)
        assert pipeline[-1].guarantee().unit == "person"
        params = {"authors": authors}
        scores = cross_val_score(model, texts, labels, params=params, cv=2)
        assert scores.min() > 0.9
        model = clone(model.set_fit_resample_request(authors=True))
        assert model.set_fit_resample_request() is model
        pipeline = make_sampling_pipeline(model, *WORDS)
        pipeline.fit(texts, labels, authors=authors)
    assert pipeline[0].guarantee().unit == "person"


@pytest.mark.parametrize(
    "form",
    [
        list,
        pd.Series,
        lambda x: np.array(x, dtype=object),
        lambda x: pd.DataFrame({"said": x}),
    ],
    ids=["list", "series", "array", "table"],
)
def test_a_step_of_imbalanced_learn(make, private, form):
    given, labels = form(private[0]), private[1]
    words, model = clone(WORDS), make("vectors", epsilon=9.0)
    if isinstance(given, pd.DataFrame):
        words.steps[0] = "words", make_column_transformer((words[0], "said"))
    found = make_sampling_pipeline(model, *words).fit(given, labels).predict(form(TEST))
    assert (found == ["pets", "food"] * 20).all()
    documents, its_labels = model.fit_resample(given, labels)
    assert type(documents) is type(given)
    assert len(documents) == len(its_labels) == 80
    assert set(words[0].get_feature_names_out()) <= {  # of public documents only
        name for word in PETS + FOOD for name in (word, f"tfidfvectorizer__{word}")
    }


def test_all_fits_of_a_search_count(make, private):
    texts, labels, _ = private
    model = make("vectors")
    search = GridSearchCV(model, {"n_components": [2, 3]}, cv=4).fit(texts, labels)
    counted = PrivacyGuarantee.of_search(search)
    assert counted.releases == 9
    assert counted.epsilon == search.best_estimator_.guarantee().compose(9).epsilon
    alone = GridSearchCV(make_pipeline(model), {}, cv=2, refit=False).fit(texts, labels)
    varied = GridSearchCV(model, {"epsilon": [1.0, 2.0]}, cv=2).fit(texts, labels)
    for wrong in (alone, varied, model):
        with pytest.raises(InvalidParameterError, match=r"^search must"):
            PrivacyGuarantee.of_search(wrong)


def searched(estimator, **values):
    """As a fitted search: what it has tried, and one candidate."""
    params = [{name: value} for name, tried in values.items() for value in tried]
    return SimpleNamespace(
        best_estimator_=estimator, cv_results_={"params": params}, n_splits_=2
    )


def test_candidates_that_promise_other_things_are_not_counted_as_one(
    make, private, public
):
    """Groups of stand-ins make the bounds, options of a mechanism the exponents."""
    texts, labels, _ = private
    learned = make("groups").fit(texts, labels)
    replacer = DPDocumentReplacer(public, n_groups=2).fit()
    perturber = DPWordPerturber(make_embedding(20, 3), mechanism=Exponential()).fit([])
    step = Pipeline([("model", learned)])
    for wrong in (
        searched(replacer, n_groups=[2, 8]),
        searched(replacer, grouper=[None]),
        searched(perturber, mechanism__calibration=["half", "exact"]),
        searched(perturber, embedding=[1, 2]),
        searched(learned, public_documents=[public, public[:3]]),
        searched(step, model__delta=[0.0, 1e-6]),
        searched(step, model=[learned, make("vectors", epsilon=9.0)]),
        searched(Pipeline([("outer", step)]), outer__model__epsilon=[1.0, 2.0]),
    ):
        with pytest.raises(InvalidParameterError, match=r"^search must have candidat"):
            PrivacyGuarantee.of_search(wrong)
    for right in (
        searched(replacer, verbose=[0, 1]),
        searched(step, other__epsilon=[1, 2]),
        searched(step, model__priors=["equal", "released"]),
    ):
        assert PrivacyGuarantee.of_search(right).releases == 5
