"""Synthetic texts: leaking generators are found, honest ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from skdptext.attacks import by_author, copied, membership_scores
from skdptext.datasets import load_docstrings
from skdptext.utils import auc, membership
from tests.expected import leaks_allowed
from tests.generators import HONEST, LEAKING

pytestmark = [leaks_allowed, pytest.mark.no_cover]


@pytest.fixture(scope="module")
def texts():
    """Distinct beginnings of documents of the built-in corpus."""
    corpus = load_docstrings(remove=("examples", "headers", "names"))
    long = (text.split() for text in corpus.data)
    starts = [" ".join(words[:50]) for words in long if len(words) >= 20]
    return list(dict.fromkeys(starts))


def drawn(texts, n, seed):
    """Texts that are used, others, public ones, and a generator."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts))[: 2 * n + 400].tolist()
    parts = order[:n], order[n : 2 * n], order[2 * n :]
    return *([texts[i] for i in part] for part in parts), rng


def attacked(generator, texts, n, seed):
    training, control, public, rng = drawn(texts, n, seed)
    synthetic = generator(training, public, rng)
    scores = membership_scores(training + control, synthetic)
    columns = np.stack(list(scores.values()), axis=1)
    found = membership(columns[:n], columns[n:], rng)
    return found, copied(training, control, synthetic), list(scores)


@pytest.mark.parametrize("name", LEAKING)
def test_a_leak_is_found(texts, name):
    """Each with its own generator; at a seed that was not chosen."""
    found, copies, _ = attacked(LEAKING[name], texts, 120, 0)
    assert found.area_low > 0.6
    assert found.advantage.low > 0.2
    assert found.epsilon > 0.3
    if "smoothed" not in name:
        assert copies["spans of 5 words"].low > 0.1


def false_finds(generator, texts, n_trials):
    trials = [attacked(generator, texts, 40, seed) for seed in range(n_trials)]
    counts = [
        [found.area_low > 0.5, found.advantage.low > 0, found.sure.low > 0,
         found.epsilon > 0, *(copy.low > 0 for copy in copies.values())]
        for found, copies, _ in trials
    ]  # fmt: skip
    return np.sum(counts, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_who_never_saw_the_texts_is_not_accused(texts, name):
    """False alarms: 1e-6 at a rate of 5 % for each number."""
    n = 100
    assert false_finds(HONEST[name], texts, n).max() <= binom.isf(1e-6, n, 0.05)


def test_which_list_holds_a_text_changes_no_score(texts):
    """Adversaries cannot tell the two lists apart but by the synthetic texts."""
    few = texts[:30]
    synthetic = texts[10:15] + texts[40:45]
    scores = membership_scores(few, synthetic)
    order = np.random.default_rng(0).permutation(30)
    again = membership_scores([few[i] for i in order], synthetic)
    assert list(again) == list(scores)
    for name in scores:
        np.testing.assert_allclose(again[name], scores[name][order], atol=1e-5)


def test_the_nearest_is_looked_for_in_every_block(monkeypatch):
    """Of many synthetic texts the last two thousand alone were compared."""
    monkeypatch.setattr("skdptext.attacks._membership._AT_ONCE", 2)
    texts = [f"red{i} blue{i} green{i}" for i in range(6)]
    made = [texts[0], *(f"other{i} word{i}" for i in range(5))]
    alike = membership_scores(texts, made)["nearest by tf-idf"]
    np.testing.assert_allclose(alike, [1, 0, 0, 0, 0, 0])


def test_copies_by_hand():
    training = ["one two three four five six.", "a b c d e f", "short"]
    control = ["a b c d e g", "seven eight nine ten eleven"]
    synthetic = ["zero one two three four five", "a b c d e f", "short"]
    found = copied(training, control, synthetic)
    assert found["whole texts"].risk == pytest.approx(2 / 3)
    assert found["whole texts"].control == 0
    # half of the spans of the first, both of the second; the last has none
    assert found["spans of 5 words"].risk == pytest.approx(0.75)
    assert found["spans of 5 words"].control == pytest.approx(0.25)
    assert found["sentences"].risk == pytest.approx(0.5)


def test_own_words_by_hand():
    texts = ["common red blue", "common green", "common"]
    scores = membership_scores(texts, ["a red common green house"])
    # one of two own words, the only one, and none that nobody else has
    assert scores["own words"].tolist() == [1.5 / 3, 1.5 / 2, 0.5]


def test_authors_are_told_by_the_mean_of_their_texts():
    scores = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]])
    means = by_author(scores, np.array([1, 1, 0]))
    assert means.tolist() == [[5.0, 5.0], [1.0, 2.0]]


def test_many_weak_texts_of_an_author_make_a_sure_one(texts):
    """A smoothed model saw the texts of half of the authors, ten of each."""
    training, control, public, rng = drawn(texts, 120, 1)
    synthetic = LEAKING["trigram model, smoothed with public words"](
        training, public, rng
    )
    scores = membership_scores(training + control, synthetic)["own spans of 3 words"]
    columns, authors = scores[:, None], np.arange(120) // 10
    alone = auc(scores[:120], scores[120:])
    means = [by_author(part, authors)[:, 0] for part in (columns[:120], columns[120:])]
    assert 0.6 < alone < 0.9
    assert auc(*means) > alone + 0.1
