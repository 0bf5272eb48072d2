"""FastTextClassifier: trained by floret, predicting as fastText itself does."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from skdptext import WordEmbedding
from skdptext.attacks import FastTextClassifier
from tests.expected import refusals, refused

TOPICS = ["water", "air", "fire"]


@pytest.fixture(scope="module")
def corpus():
    """Words of three topics and their mixtures; 40 words, two of them odd."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(38)] + ["__label__1", "</s>"]
    weights = np.ones((3, 40))
    for topic in range(3):
        weights[topic, topic * 13 : topic * 13 + 13] = 4
    label = rng.integers(0, 3, 120)
    bags = np.array([rng.multinomial(25, weights[t] / weights[t].sum()) for t in label])
    texts = [" ".join(np.repeat(words, bag)) for bag in bags]
    table = WordEmbedding(words, rng.normal(size=(40, 6)))
    return table, bags, texts, np.array(TOPICS)[label]


def make(*args, **params):
    return FastTextClassifier(
        *args, **{"dim": 8, "n_epochs": 10, "random_state": 0} | params
    )


@pytest.mark.no_cover
def test_learns_and_a_seed_fixes_it(corpus):
    _, _, texts, y = corpus
    first, second, other = (
        make(random_state=seed).fit(texts[:80], y[:80]) for seed in (3, 3, 4)
    )
    assert first.classes_.tolist() == sorted(TOPICS)
    # chance is a third; the mixture is well apart
    assert first.score(texts[80:], y[80:]) > 0.7
    np.testing.assert_array_equal(first.word_vectors_, second.word_vectors_)
    assert (first.word_vectors_ != other.word_vectors_).any()
    np.testing.assert_allclose(first.predict_proba(texts).sum(axis=1), 1)


def test_predicts_as_floret_does(corpus, monkeypatch):
    """The best label and its probability, which floret's wheel does get right."""
    import floret

    _, _, texts, y = corpus
    models = []
    train = floret.train_supervised

    def keep(**options):
        models.append(train(**options))
        return models[-1]

    monkeypatch.setattr(floret, "train_supervised", keep)
    ours = make().fit(texts, y)
    numbers = {
        word: str(i) for i, word in enumerate(dict.fromkeys(" ".join(texts).split()))
    }
    coded = [" ".join(numbers[word] for word in text.split()) for text in texts]
    labels, shares = models[0].predict([*coded, "", "unknown words"])
    ours_too = ours.predict_proba([*texts, "", "unknown words"])
    assert [
        sorted(TOPICS)[int(name[0].removeprefix("__label__"))] for name in labels
    ] == ours.classes_[ours_too.argmax(axis=1)].tolist()
    # fastText adds 1e-5 before it takes a logarithm
    np.testing.assert_allclose(
        ours_too.max(axis=1), [share[0] - 1e-5 for share in shares], atol=1e-5
    )


def test_begins_with_the_vectors_given(corpus):
    """With no learning to speak of, the vectors are still the table's."""
    table, bags, texts, y = corpus
    model = make(table, pretrained=True, learning_rate=1e-9, n_epochs=1)
    model.fit(bags[:, :] * (np.arange(40) < 30), y)
    assert model.word_vectors_.shape[1] == table.dim
    rows = [model.vocabulary_[word] for word in table.words]
    # words 30 to 39 do not occur in fit
    np.testing.assert_allclose(
        model.word_vectors_[rows], table.vectors, rtol=1e-5, atol=1e-6
    )
    # a column more for a word of another spelling, which gets its vector too
    shouted = make(table, pretrained=True, learning_rate=1e-9, n_epochs=1)
    shouted.fit([text.replace("w1", "W1") for text in texts], y)
    np.testing.assert_allclose(
        shouted.word_vectors_[shouted.vocabulary_["W1"]], table["w1"], rtol=1e-5
    )


def test_rare_words_are_left_out():
    texts, y = ["a a b", "c c c"], ["x", "y"]
    model = make(min_count=2).fit(texts, y)
    assert set(model.vocabulary_) == {"a", "c"}
    with refused("occurs min_count=4 times"):
        make(min_count=4).fit(texts, y)
    # the end of the line is a word like another, and is left out here
    alone = make(min_count=3).fit(texts, y)
    assert set(alone.vocabulary_) == {"c"}
    np.testing.assert_allclose(alone.predict_proba(["zzz"]), 0.5)


def test_labels_of_any_kind_and_order(corpus):
    """fastText's labels come by frequency: here 1, then 3, then 2."""
    texts = ["one"] * 5 + ["three"] * 3 + ["two"] * 2
    y = [1] * 5 + [3] * 3 + [2] * 2
    model = make(n_epochs=200).fit(texts, y)
    assert model.predict(["two", "three", "one"]).tolist() == [2, 3, 1]


@pytest.mark.parametrize("fails", [False, True])
def test_temporary_files_hold_no_words_and_are_removed(
    corpus, monkeypatch, tmp_path, fails
):
    import floret

    table, bags, _, y = corpus
    train, seen = floret.train_supervised, []

    def look(**options):
        files = list(tmp_path.rglob("*.*"))
        seen.extend(path.read_text() for path in files)
        if fails:
            raise RuntimeError("Encountered NaN.")
        return train(**options)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(floret, "train_supervised", look)
    model = make(table, pretrained=True)
    if fails:
        with refused(r"learning_rate must be smaller.*got 1\.0"):
            model.fit(bags, y)
        assert not hasattr(model, "classes_")
    else:
        model.fit(bags, y)
    assert len(seen) == 2
    assert not any("w1" in text for text in seen)
    assert list(tmp_path.iterdir()) == []


def test_divergence_is_told(corpus):
    _, _, texts, y = corpus
    with refused("learning_rate must be smaller"):
        make(learning_rate=1e6).fit(texts, y)


def test_without_floret(corpus, monkeypatch):
    _, _, texts, y = corpus
    model = make().fit(texts, y)
    monkeypatch.setitem(sys.modules, "floret", None)
    with pytest.raises(ImportError, match="pip install floret"):
        make().fit(texts, y)
    assert model.predict(texts).shape == y.shape  # a fitted one needs it no more


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
    assert Path(tempfile.gettempdir()).exists()
