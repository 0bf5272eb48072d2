"""Errors end up in logs, and must not carry documents there."""

from __future__ import annotations

import pytest

from skdptext import DPWordPerturber
from skdptext.attacks import WordReconstructionAttack
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_real, shown_words
from tests.channels import guaranteed

SECRET = "the patient was seen on Monday and her results were poor " * 50


def test_a_few_words_shortened():
    assert shown_words(["a", "b"]) == "['a', 'b']"
    assert shown_words(list("abcdef")) == "['a', 'b', 'c', 'd', 'e', …]"
    assert shown_words(["x" * 20]) == f"[{'x' * 20!r}]"
    assert shown_words(["x" * 21]) == f"['{'x' * 20}…']"


def _perturber(embedding, **options):
    return DPWordPerturber(embedding, document_length=1, **options).fit([])


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: guaranteed(1.0, 0.0, table).exponent(SECRET, "w1"),
        lambda table: guaranteed(1.0, 0.0, table).exponent("w1", SECRET),
        lambda table: guaranteed(1.0, 0.0, table).exponent([SECRET], ["w1"]),
        lambda table: guaranteed(1.0, 0.0, table).exponent(SECRET, ["w1"]),
        lambda table: guaranteed(1.0, 0.0, table).compose(SECRET),
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
    assert "the patient was" in str(error.value)  # what was given can be recognised
    assert len(str(error.value)) < 300


def test_a_text_in_the_place_of_a_word_is_told_what_to_do(small_embedding):
    guarantee = guaranteed(1.0, 0.0, small_embedding)
    with pytest.raises(InvalidParameterError, match="Split the text into words"):
        guarantee.exponent("w1 zzz", "w2")
    with pytest.raises(InvalidParameterError, match="known to the embedding") as error:
        guarantee.exponent("zzz", "w2")
    assert "Split" not in str(error.value)
