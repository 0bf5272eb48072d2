"""scikit-learn's common checks that cannot apply, each with its reason.

All are expected to fail: one that passes fails the tests.
"""

import sklearn
from packaging.version import Version

EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    "ChannelNaiveBayes": {},
    "DPWordPerturber": {},
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
