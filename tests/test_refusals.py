"""What no call can use is refused, by the name of its parameter or by its place.

Of everything public, by the table: an object that is nothing, numbers that are none,
flags that are neither, and documents that are no text. What parameters allow only
together, and where their ranges end, is tested with them.
"""

from __future__ import annotations

import math

import pytest

from skdptext.exceptions import InvalidParameterError
from tests.public_calls import CALLS, TEXTS

# Scikit-learn looks at them, or nothing does; what is called, a path may be anything.
UNREAD = {
    "input_features",
    "return_distance",
    "sort_results",
    "name",
    "path",
    "purpose",
}
# Asked for later, with others, or by what is the user's own.
LATER = {
    "attacks.WordReconstructionAttack words",
    "attacks.WordReconstructionAttack.score y",
    "attacks.label_attack original",
    *(f"audit.audit_training {name}" for name in ("X", "person")),
    "base.transitions_of mechanism",
    "base.transitions_of verbose",
    "mechanisms.Exponential.prepare embedding",
    "naive_bayes.ChannelNaiveBayes.fit y",
    "preprocessing.TopicWordSelector.fit y",
    "privacy.PrivacyGuarantee.epsilon_for n_candidates",
    "privacy.PrivacyGuarantee.from_json embedding",
    "privacy.PrivacyGuarantee.of parts",
    "replacement.DPDocumentReplacer.person_answers authors",
    *(f"replacement.PersonAnswers.transform {x}" for x in ("authors", "document_ids")),
}


def wrong_values(name, valid, default):
    """Of the kind of what is given, or of the default."""
    yield object()
    number = default if valid is None else valid
    if isinstance(default, bool):
        yield from (2, "yes", None)
    elif isinstance(number, int | float):
        yield from (math.nan, "many", [1])
        if name != "n_jobs":
            yield -1
    elif valid is TEXTS:
        yield from ("a text", None, {*TEXTS}, dict.fromkeys(TEXTS), [TEXTS[0].encode()])
        yield from ([*TEXTS[:3], None], [*TEXTS[:3], 7], [["w0"]] * 3 + [["w0", 7]])


@pytest.mark.parametrize("path", [p for p in CALLS if not p.endswith("er.likelihood")])
def test_what_no_call_can_use_is_refused(path):
    call = CALLS[path]
    for name, parameter in call.parameters.items():
        unread = name in ("X", "y") and parameter.default is None  # for pipelines
        unread |= name in UNREAD | {"self"} or f"{path} {name}" in LATER
        if unread or parameter.kind is parameter.VAR_KEYWORD:
            continue
        valid = call.given()
        for wrong in wrong_values(name, valid.get(name), parameter.default):
            place = rf"\b{name}s?\b|document|token|estimator|releaser"
            with pytest.raises(InvalidParameterError, match=place):
                call({**valid, name: wrong})
