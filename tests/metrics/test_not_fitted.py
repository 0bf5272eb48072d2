"""Whatever looks at what a perturber does needs it fitted, and says so alike."""

from __future__ import annotations

import pytest
from sklearn.exceptions import NotFittedError

from skdptext import DPWordPerturber
from skdptext.audit import audit_noise_law, audit_word_privacy
from skdptext.inspection import NeighborhoodDisplay, PlausibleDeniabilityDisplay
from skdptext.metrics import (
    identified_scorer,
    plausible_deniability,
    words_changed_scorer,
    words_unchanged,
)

ASKED = {
    "audit_noise_law": audit_noise_law,
    "audit_word_privacy": audit_word_privacy,
    "feature names": lambda p: p.get_feature_names_out(),
    "guarantee": lambda p: p.guarantee(),
    "identified_scorer": lambda p: identified_scorer(p, ["w1"]),
    "neighborhood": lambda p: NeighborhoodDisplay.from_estimator(p, "w1"),
    "deniability display": PlausibleDeniabilityDisplay.from_estimator,
    "perturb_words": lambda p: p.perturb_words(["w1"]),
    "plausible_deniability": plausible_deniability,
    "transform": lambda p: p.transform(["w1 w2"]),
    "words_changed_scorer": lambda p: words_changed_scorer(p, ["w1"]),
    "words_unchanged": lambda p: words_unchanged(p, ["w1"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_not_fitted(small_embedding, name):
    with pytest.raises(NotFittedError, match="DPWordPerturber instance is not fitted"):
        ASKED[name](DPWordPerturber(small_embedding, document_length=2))
