"""FastTextClassifier: trained by floret, predicting as fastText itself does."""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.attacks import FastTextClassifier
from tests.attacks.test_text_classifiers import BAGS, TABLE, TEXTS, Y, fasttext
from tests.expected import refusals, refused


def test_predicts_as_floret_does(monkeypatch):
    """The best label and its probability, which floret's wheel does get right."""
    import floret

    models = []
    train = floret.train_supervised

    def keep(**options):
        models.append(train(**options))
        return models[-1]

    monkeypatch.setattr(floret, "train_supervised", keep)
    ours = fasttext().fit(TEXTS, Y)
    numbers = {
        word: str(i) for i, word in enumerate(dict.fromkeys(" ".join(TEXTS).split()))
    }
    coded = [" ".join(numbers[word] for word in text.split()) for text in TEXTS]
    labels, shares = models[0].predict([*coded, "", "unknown words"])
    ours_too = ours.predict_proba([*TEXTS, "", "unknown words"])
    best = [int(name[0].removeprefix("__label__")) for name in labels]
    assert best == ours_too.argmax(axis=1).tolist()
    # fastText adds 1e-5 before it takes a logarithm
    np.testing.assert_allclose(
        ours_too.max(axis=1), [share[0] - 1e-5 for share in shares], atol=1e-5
    )


def test_begins_with_the_vectors_given():
    """With no learning to speak of, the vectors are still the table's."""
    idle = {"pretrained": True, "learning_rate": 1e-9, "n_epochs": 1}
    model = fasttext(TABLE, **idle).fit(BAGS * (np.arange(40) < 30), Y)
    # words 30 to 39 do not occur in fit
    rows = [model.vocabulary_[word] for word in TABLE.words]
    np.testing.assert_allclose(
        model.word_vectors_[rows], TABLE.vectors, rtol=1e-5, atol=1e-6
    )
    # a column more for a word of another spelling, which gets its vector too
    shouted = fasttext(TABLE, **idle)
    shouted.fit([text.replace("w1", "W1") for text in TEXTS], Y)
    np.testing.assert_allclose(
        shouted.word_vectors_[shouted.vocabulary_["W1"]], TABLE["w1"], rtol=1e-5
    )


def test_rare_words_are_left_out():
    texts, y = ["a a b", "c c c"], ["x", "y"]
    model = fasttext(min_count=2).fit(texts, y)
    assert set(model.vocabulary_) == {"a", "c"}
    with refused("occurs min_count=4 times"):
        fasttext(min_count=4).fit(texts, y)
    # the end of the line is a word like another, and is left out here
    alone = fasttext(min_count=3).fit(texts, y)
    assert set(alone.vocabulary_) == {"c"}
    np.testing.assert_allclose(alone.predict_proba(["zzz"]), 0.5)


def test_labels_of_any_kind_and_order():
    """fastText's labels come by frequency: here 1, then 3, then 2."""
    texts = ["one"] * 5 + ["three"] * 3 + ["two"] * 2
    y = [1] * 5 + [3] * 3 + [2] * 2
    model = fasttext(n_epochs=200).fit(texts, y)
    assert model.predict(["two", "three", "one"]).tolist() == [2, 3, 1]


@pytest.mark.parametrize("learning_rate", [1.0, 1e6])
def test_temporary_files_hold_no_words_and_are_removed(
    monkeypatch, tmp_path, learning_rate
):
    """Even where training diverges."""
    import floret

    train, seen = floret.train_supervised, []

    def look(**options):
        seen.extend(path.read_text() for path in tmp_path.rglob("*.*"))
        return train(**options)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(floret, "train_supervised", look)
    model = fasttext(TABLE, pretrained=True, learning_rate=learning_rate)
    if learning_rate > 1:
        with refused(r"learning_rate must be smaller.*got 1000000\.0"):
            model.fit(BAGS, Y)
        assert not hasattr(model, "classes_")
    else:
        model.fit(BAGS, Y)
    assert len(seen) == 2
    assert not any("w1" in text for text in seen)
    assert list(tmp_path.iterdir()) == []


def test_without_floret(monkeypatch):
    model = fasttext().fit(TEXTS, Y)
    monkeypatch.setitem(sys.modules, "floret", None)
    with pytest.raises(ImportError, match="pip install floret"):
        fasttext().fit(TEXTS, Y)
    assert model.predict(TEXTS).shape == Y.shape  # a fitted one needs it no more


@refusals(
    ("embedding", "glove", "embedding must be None or a WordEmbedding"),
    ("pretrained", True, "embedding must be given with pretrained=True"),
    ("pretrained", "yes", "pretrained must be True or False"),
    ("dim", 0, "dim must be an integer >= 1"),
    ("n_epochs", 1.5, "n_epochs must be an integer >= 1"),
    ("learning_rate", 0.0, "learning_rate must be a finite number > 0"),
    ("min_count", -1, "min_count must be an integer >= 1"),
    ("random_state", "x", "random_state must be None, an integer >= 0"),
)
def test_bad_parameters(name, value):
    FastTextClassifier(**{name: value}).fit(["a", "b"], [0, 1])


def test_bags_of_shares_are_refused():
    table = WordEmbedding(["a", "b"], np.eye(2))
    with refused("whole-number counts"):
        FastTextClassifier(table).fit([[0.5, 0.5], [1, 0]], [0, 1])
