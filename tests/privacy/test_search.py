"""What a search over fits costs: every candidate on every fold, and the last."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.datasets import make_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential
from skdptext.privacy import PrivacyGuarantee
from tests.learning.conftest import texts_of

LABELS = np.arange(200) % 2
PUBLIC, TEXTS = texts_of([0, 1] * 40, seed=1, length=6), texts_of(LABELS, seed=3)


def model_of(delta):
    """Of groups, or of sums of vectors."""
    given = {"n_components": 3, "n_rarest": 10**6} if delta else {"n_groups": 3}
    return DPTextClassifier(PUBLIC, classes=[0, 1], delta=delta, **given)


def test_all_fits_of_a_search_count():
    model = model_of(delta=1e-6)
    search = GridSearchCV(model, {"n_components": [2, 3]}, cv=4).fit(TEXTS, LABELS)
    counted = PrivacyGuarantee.of_search(search)
    assert counted.releases == 9
    assert counted.delta == pytest.approx(9e-6)
    assert counted.epsilon == search.best_estimator_.guarantee().compose(9).epsilon
    alone = GridSearchCV(make_pipeline(model), {}, cv=2, refit=False).fit(TEXTS, LABELS)
    varied = GridSearchCV(model, {"epsilon": [1.0, 2.0]}, cv=2).fit(TEXTS, LABELS)
    for wrong in (alone, varied, model):
        with pytest.raises(InvalidParameterError, match=r"^search must"):
            PrivacyGuarantee.of_search(wrong)


def searched(estimator, **values):
    """As a fitted search: what it has tried, and one candidate."""
    params = [{name: value} for name, tried in values.items() for value in tried]
    return SimpleNamespace(
        best_estimator_=estimator, cv_results_={"params": params}, n_splits_=2
    )


def test_candidates_that_promise_other_things_are_not_counted_as_one():
    """Groups of stand-ins make the bounds, options of a mechanism the exponents."""
    learned = model_of(delta=0).fit(TEXTS, LABELS)
    replacer = DPDocumentReplacer(PUBLIC, n_groups=2).fit()
    perturber = DPWordPerturber(make_embedding(20, 3), mechanism=Exponential()).fit([])
    step = Pipeline([("model", learned)])
    for wrong in (
        searched(replacer, n_groups=[2, 8]),
        searched(perturber, mechanism__calibration=["half", "exact"]),
        searched(perturber, embedding=[1, 2]),
        searched(learned, public_documents=[PUBLIC, PUBLIC[:3]]),
        searched(step, model=[learned, model_of(delta=1e-6)]),
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
