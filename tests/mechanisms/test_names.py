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
    WordLists,
    mechanism_class,
    mechanism_names,
)

EMBEDDING = WordEmbedding(["a", "b", "c"], [[0.0], [1.0], [3.0]])


@pytest.mark.parametrize("name", ["exponential", "Exponential", "EXPONENTIAL"])
def test_a_name_is_the_mechanism_with_its_default_options(name):
    by_name, by_object = (
        DPWordPerturber(
            EMBEDDING, mechanism=mechanism, epsilon=1.0, lam=0.0, document_length=1
        ).fit([])
        for mechanism in (name, Exponential())
    )
    assert by_name.mechanism_.fingerprint == by_object.mechanism_.fingerprint
    assert by_name.guarantee().exponent("a", "c") == by_object.guarantee().exponent(
        "a", "c"
    )


def test_every_name_is_a_class_of_that_name():
    assert {"exponential", "mahalanobis-noise", "word-lists"} <= set(mechanism_names())
    for name in mechanism_names():
        assert mechanism_class(name).__name__.lower() == name.replace("-", "")
        mechanism_class(name)()
    assert mechanism_class("word_lists") is WordLists
    # A user's own class is given as an object: a name would depend on what is imported.
    kind = type("OwnNoise", (MahalanobisNoise,), {"__module__": "elsewhere"})
    assert "own-noise" not in mechanism_names(), kind


def test_names_are_parameters():
    perturber = DPWordPerturber(EMBEDDING, document_length=1, lam=0.0)
    grid = {"mechanism": ["exponential", "randomized-response", None]}
    fitted = [
        clone(perturber).set_params(**options).fit([]).mechanism_
        for options in ParameterGrid(grid)
    ]
    assert len({channel.fingerprint for channel in fitted}) == 3


@pytest.mark.parametrize("wrong", ["exponentail", "", "word-mechanism"])
def test_a_wrong_name_lists_the_right_ones(wrong):
    message = f"mechanism must be one of .*exponential.*, got {wrong!r}"
    with pytest.raises(InvalidParameterError, match=message):
        DPWordPerturber(EMBEDDING, mechanism=wrong, document_length=1).fit([])
