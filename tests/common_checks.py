"""scikit-learn's common checks that cannot apply, each with its reason."""

EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    "ChannelNaiveBayes": {},
    "DPWordPerturber": {},
    "TopicWordSelector": {},
    "WMDKNNClassifier": {},
}
