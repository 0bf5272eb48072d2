"""Authors and topics that are inferred from releases, and what must not be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from skdptext.attacks import label_attack
from tests.base.test_releaser import LENGTHS, TEXTS, Teller
from tests.expected import refusals

WORDS = np.array([f"w{i}" for i in range(300)])
AUTHORS = np.array(["ann", "bob"] * 20)


def texts(seed, n=40):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(n)]


@pytest.mark.no_cover
def test_a_word_of_their_own_names_authors():
    clear = [f"{text} {name}" for text, name in zip(texts(0), AUTHORS, strict=True)]
    left, hidden = (
        label_attack(clear, x, AUTHORS)["author"] for x in (clear, texts(1))
    )
    assert left.chance == hidden.chance == 0.5
    assert left.low > 0.5
    assert hidden.low <= 0.5
    alone = label_attack(None, clear, AUTHORS, name="writer")["writer"]
    assert alone.low > 0.5
    assert label_attack(clear, clear, AUTHORS)["author"] == left


@pytest.mark.no_cover
@pytest.mark.parametrize("released", [[""] * 40, ["?!"] * 40, np.zeros((40, 2))])
def test_nothing_is_inferred_from_nothing(released):
    clear = [f"{text} {name}" for text, name in zip(texts(0), AUTHORS, strict=True)]
    found = label_attack(clear, released, AUTHORS)["author"]
    assert found.low <= found.chance


def test_authors_are_inferred_from_numbers():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 3)) + 3 * (AUTHORS == "ann")[:, None]
    found = label_attack(texts(0), vectors, AUTHORS)["author"]
    assert (found.adversary, found.value) == ("linear model of the numbers", 1)


@pytest.mark.no_cover
def test_equal_texts_and_groups_are_held_out_together():
    """Each text is there twice, by the same author: no attacker knows it again."""
    once = texts(0)
    authors = np.tile(np.array(list("abcdefgh")), 10)
    documents = once + [f"{text}!" for text in once]
    assert label_attack(documents, documents, authors)["author"].value < 0.4
    near = once + [f"{text} more" for text in once]
    groups = np.tile(np.arange(40), 2)
    assert label_attack(near, near, authors)["author"].value > 0.6
    assert label_attack(near, near, authors, groups=groups)["author"].value < 0.4


def test_custom_classifiers_and_the_mechanism_join():
    released = Teller(6.0).fit().transform(TEXTS)
    scores = label_attack(
        TEXTS, released, LENGTHS, name="length", releaser=Teller(6.0),
        adversaries={"always the same": DummyClassifier()},
    )  # fmt: skip
    value = {row.adversary: row.value for row in scores.rows}
    assert value["always the same, trained on originals"] <= 0.8
    assert value["naive Bayes that knows the mechanism"] > 0.9
    # the answers are no words of the originals
    assert value["linear model, trained on releases"] > 0.9


def test_no_classifier_draws_from_the_global_state(monkeypatch):
    monkeypatch.setattr(np.random.mtrand, "_rand", None)
    assert label_attack(texts(0), texts(1), AUTHORS).rows


@refusals(
    ({"labels": ["a", "b"]}, r"one label per document \(40\)"),
    ({"labels": ["a"] * 40}, "at least 2 different labels"),
    ({"groups": [1]}, "groups must hold one label per document"),
    ({"n_splits": 1}, "n_splits must be an integer >= 2"),
    ({"original": texts(0)[:3]}, "equal length.*got 3 and 40 texts"),
)
def test_bad_input(change):
    given = {"original": texts(0), "released": texts(1), "labels": AUTHORS}
    label_attack(**given | change)
