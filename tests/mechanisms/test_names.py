"""Mechanisms by name, in Python as on the command line."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    MahalanobisNoise,
    RandomizedResponse,
)

EMBEDDING = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [3.0]])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("exponential", Exponential),
        ("mahalanobis-noise", MahalanobisNoise),
        (None, MahalanobisNoise),
        ("randomized-response", RandomizedResponse),
    ],
)
def test_a_name_is_the_mechanism_with_its_default_options(name, kind):
    by_name, by_object = (
        DPWordPerturber(
            EMBEDDING, mechanism=mechanism, epsilon=1.0, lam=0.0, document_length=1
        ).fit([])
        for mechanism in (name, kind())
    )
    assert by_name.mechanism_.fingerprint == by_object.mechanism_.fingerprint
    assert by_name.guarantee().exponent("a", "c") == by_object.guarantee().exponent(
        "a", "c"
    )


def test_names_are_parameters():
    perturber = DPWordPerturber(EMBEDDING, document_length=1, lam=0.0)
    grid = {"mechanism": ["exponential", "randomized-response", None]}
    fitted = [
        clone(perturber).set_params(**options).fit([]).mechanism_
        for options in ParameterGrid(grid)
    ]
    assert len({channel.fingerprint for channel in fitted}) == 3


@pytest.mark.parametrize("wrong", ["exponentail", "", "word-mechanism", "Exponential"])
def test_a_wrong_name_lists_the_right_ones(wrong):
    message = f"mechanism must be one of .*exponential.*, got {wrong!r}"
    with pytest.raises(InvalidParameterError, match=message):
        DPWordPerturber(EMBEDDING, mechanism=wrong, document_length=1).fit([])
