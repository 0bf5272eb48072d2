"""scikit-learn's common checks that cannot apply, each with its reason.

All are expected to fail: one that passes fails the tests.
"""

import sklearn
from packaging.version import Version

_STATELESS = "fit reads nothing; transform makes the check"

EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    "ChannelNaiveBayes": {},
    "DPWordPerturber": {},
    "DocumentPreparer": {
        "check_complex_data": _STATELESS,
        "check_estimators_empty_data_messages": _STATELESS,
        "check_estimators_nan_inf": _STATELESS,
        "check_fit1d": _STATELESS,
        "check_fit_non_negative": _STATELESS,
        "check_n_features_in": _STATELESS,
        "check_n_features_in_after_fitting": _STATELESS,
        "check_positive_only_tag_during_fit": _STATELESS,
    },
}

if Version(sklearn.__version__) < Version("1.7.1"):
    EXPECTED_FAILED_CHECKS["DPWordPerturber"] = {
        "check_positive_only_tag_during_fit": (
            "takes a fractional mean off the integers that it makes of categories"
        ),
    }
