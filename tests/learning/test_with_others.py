"""Inside the estimators of scikit-learn and imbalanced-learn that take others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPTextClassifier
from skdptext.documents import read_documents
from skdptext.exceptions import InvalidParameterError
from tests.expected import small_samples
from tests.learning.conftest import FOOD, PETS, texts_of

pytestmark = small_samples
TOPICS = np.arange(400) % 2
X = [f"{text} w{i}" for i, text in enumerate(texts_of(TOPICS, seed=7))]
TEST = texts_of([0, 1] * 20, seed=9)


WORDS = make_pipeline(TfidfVectorizer(), LogisticRegression())
COLUMN = FunctionTransformer(lambda texts: np.array(texts, dtype=object)[:, None])
# Whether they number the labels before they fit.
OTHERS = {
    "voting": (lambda m: VotingClassifier([("a", m), ("b", WORDS)], voting="soft"), 1),
    "stacking": (lambda m: StackingClassifier([("a", m), ("b", WORDS)], cv=2), 1),
    "one against all": (OneVsRestClassifier, 1),
    "bagging": (lambda m: make_pipeline(COLUMN, BaggingClassifier(m, 3)), 1),
    "calibrated": (lambda m: CalibratedClassifierCV(m, cv=2), 0),
}


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("labels", [["food", "pets"], [1, 2], [0, 1]], ids=str)
def test_meta_estimators_work_or_errors_name_cause_and_cure(make, name, labels):
    (other, numbers), y = OTHERS[name], np.array(labels)[1 - TOPICS]
    for classes in (labels, None):
        estimator = other(make("vectors", classes=classes, epsilon=9.0))
        if numbers and classes in (["food", "pets"], [1, 2]):
            message = r"number labels from 0 on: pass classes=range\(n_classes\)"
            with pytest.raises(InvalidParameterError, match=message):
                estimator.fit(X, y)
        else:
            right = estimator.fit(X, y).predict(TEST) == labels[::-1] * 20
            assert right.mean() > 0.9


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
def test_probabilities_of_folds_are_in_the_order_of_labels(make):
    options = {"y": np.array(["food", "pets"])[1 - TOPICS], "cv": 2}
    model = make("groups", classes=range(2), epsilon=9.0)
    found = cross_val_predict(model, X, method="predict_proba", **options)
    assert (found.argmax(axis=1) == 1 - TOPICS).mean() > 0.9
    with pytest.raises(InvalidParameterError, match=r"pass classes=range\(n_classes\)"):
        cross_val_predict(make("groups"), X, method="predict_proba", **options)


@pytest.mark.no_cover
def test_bagging_takes_texts_as_a_table_of_one_column(make):
    model = BaggingClassifier(make("groups", classes=range(2), epsilon=9.0), 3)
    for texts in (X, pd.Series(X)):
        with pytest.raises(ValueError, match=r"Expected (2D|a 2-dim)"):
            model.fit(texts, TOPICS)
    table = pd.DataFrame({"said": X})
    assert (model.fit(table, TOPICS).predict(table) == TOPICS).mean() > 0.9


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
        found = pipeline.fit(texts, labels, authors=authors).predict(TEST)
    assert pipeline[0].guarantee().unit == "person"
    assert (found == ["pets", "food"] * 20).all()
    assert set(pipeline[1].get_feature_names_out()) <= {*PETS, *FOOD}  # public only


FORMS = {
    "list": list,
    # NumPy alone would make a matrix of equal lists
    "array": lambda x: np.fromiter(x, dtype=object),
    "column of pandas": pd.Series,
    "table of pandas": lambda x: pd.DataFrame({"said": x}),
    "column of polars": lambda x: pl.Series("said", x),
    "table of polars": lambda x: pl.DataFrame({"said": x}),
    "table of Arrow": lambda x: pa.table({"said": x}),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_corpus_has_the_form_of_the_texts(public, private, name):
    form, sums = FORMS[name], []
    options = {"classes": ["food", "pets"], "epsilon": 9.0, "random_state": 2**80}
    for documents in (public, [text.split() for text in public]):
        model = DPTextClassifier(documents, **options)
        found, labels = model.fit_resample(form(private[0]), form(private[1].tolist()))
        sums.append(model.noisy_sums_)
        expected = form(documents)
        assert type(found) is type(expected)
        assert getattr(found, "name", None) == getattr(expected, "name", None)
        assert len(found) == len(labels) == 80
        if documents is public:
            assert list(read_documents(found)) == public
    words = [text.split() for text in private[0]]
    assert np.array_equal(model.fit(words, private[1]).noisy_sums_, sums[1])
    assert np.array_equal(*sums)


def test_a_matrix_of_numbers_is_refused_before_learning(make):
    model = make("vectors")
    with pytest.raises(InvalidParameterError, match="got a count matrix"):
        model.fit_resample(np.zeros((2, 3)), ["food", "pets"])
    assert not hasattr(model, "noisy_sums_")
