"""Both estimators behave as scikit-learn's own do."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.neighbors import WMDKNNClassifier
from skdptext.perturbation import DPWordPerturber
from skdptext.preprocessing import TopicWordSelector
from tests.common_checks import EXPECTED_FAILED_CHECKS

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
]


def expected_failed_checks(estimator):
    return EXPECTED_FAILED_CHECKS[type(estimator).__name__]


@pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.EmptyDocumentWarning",
)
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_common(estimator, check):
    check(estimator)
