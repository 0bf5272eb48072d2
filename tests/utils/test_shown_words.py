"""Errors end up in logs, and must not carry documents there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skdptext import DPWordPerturber
from skdptext.attacks import WordReconstructionAttack
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_real, kind_of, shown, shown_words
from tests.channels import guaranteed

SECRET = "the patient was seen on Monday and her results were poor " * 50


def test_unknown_words_are_told_by_their_length():
    assert shown_words(["a", "bcd"]) == "words of 1, 3 characters"
    assert shown_words(list("abcdef")) == "words of 1, 1, 1, 1, 1, … characters"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("truncate", "'truncate'"),
        (np.str_("truncate"), "'truncate'"),
        ("x" * 25, "a str of 25 characters"),
        ("two\nlines", "a str of 9 characters"),
        (-1, "-1"),
        (0.5, "0.5"),
        (True, "True"),
        (None, "None"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (10**5000, "an int"),
        ([SECRET], "a list"),
        (SECRET.encode(), "a bytes"),
        ({"x": SECRET}, "a dict"),
        (np.array([SECRET]), "a ndarray"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_options_are_shown_and_what_may_be_text_is_not(value, text):
    assert shown(value) == text
    if isinstance(value, str):
        assert kind_of(value) == f"a str of {len(value)} characters"


def _perturber(embedding, **options):
    return DPWordPerturber(embedding, document_length=1, **options).fit([])


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: guaranteed(1.0, 0.0, table).exponent(SECRET, "w1"),
        lambda table: guaranteed(1.0, 0.0, table).exponent("w1", SECRET),
        lambda table: guaranteed(1.0, 0.0, table).exponent([SECRET], ["w1"]),
        lambda table: _perturber(table).perturb_words([SECRET]),
        lambda table: _perturber(table, oov="error").transform([[SECRET]]),
        lambda table: (
            WordReconstructionAttack(_perturber(table)).fit().predict([SECRET])
        ),
        lambda table: table.restrict([SECRET]),
        lambda table: table[SECRET],
        lambda table: check_real("delta", SECRET),
        lambda table: check_integer("n_words", SECRET, low=1),
    ],
)
def test_no_error_shows_a_document(small_embedding, ask):
    with pytest.raises((InvalidParameterError, KeyError)) as error:
        ask(small_embedding)
    assert "patient" not in str(error.value)
    # so it can be recognised
    told = f"{len(SECRET)} character" in str(error.value)
    assert told or "document 0" in str(error.value)
    assert len(str(error.value)) < 300
