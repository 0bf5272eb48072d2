"""Synthetic texts: leaking generators are found, honest ones are not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from skdptext.attacks import membership_attack
from skdptext.attacks._membership import _own_spans
from skdptext.datasets import load_docstrings
from tests.expected import leaks_allowed, refusals
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
    return membership_attack(training, control, synthetic, random_state=seed)


@pytest.mark.parametrize("name", LEAKING)
def test_a_leak_is_found(texts, name):
    """Each with its own generator; at a seed that was not chosen."""
    scores, epsilon = attacked(LEAKING[name], texts, 120, 0)
    assert scores["membership"].low > 0.6
    assert epsilon > 0.3
    if "smoothed" not in name:
        assert scores["training phrases copied"].low > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_who_never_saw_the_texts_is_not_accused(texts, name):
    """False alarms: 1e-6 at a rate of 5% for each number."""
    n, found = 100, Counter()
    for seed in range(n):
        scores, epsilon = attacked(HONEST[name], texts, 40, seed)
        found.update(row.question for row in scores.rows if row.low > row.chance)
        found["epsilon"] += epsilon > 0
    assert max(found.values()) <= binom.isf(1e-6, n, 0.05)


def test_copies_by_hand():
    training = ["one two three four five six.", "a b c d e f", "short"]
    control = ["a b c d e g", "seven eight nine ten eleven"]
    filler = [[f"{side}{i} x{i} y{i}" for i in range(11)] for side in "tc"]
    synthetic = ["zero one two three four five", "a b c d e f", "short"]
    scores, _ = membership_attack(
        training + filler[0][1:], control + filler[1], synthetic
    )
    # one of 13 texts, as that of one word is a commonplace; of the control none
    texts, phrases = (
        scores[f"training {what} copied"] for what in ("texts", "phrases")
    )
    assert (texts.value, texts.chance, texts.n_documents) == (1 / 13, 0, 13)
    # half of the phrases of the first, both of the second; and half of one's of two
    assert (phrases.value, phrases.chance, phrases.n_documents) == (0.75, 0.25, 2)


def test_a_random_part_of_a_longer_list_is_compared():
    """And not its beginning, which is copied here."""
    training = [f"a{i} b{i} c{i}" for i in range(120)]
    control = [f"d{i} e{i} f{i}" for i in range(40)]
    scores, _ = membership_attack(training, control, training[:20], random_state=0)
    copied = scores["training texts copied"]
    assert copied.n_documents == 40
    assert 0 < copied.value < 0.4


def test_own_words_by_hand():
    texts = [("common", "red", "blue"), ("common", "green"), ("common",)]
    shares = _own_spans(texts, [("a", "red", "common", "green", "house")], 1)
    # one of two own words, the only one, and none that no other text has
    assert shares.tolist() == [1.5 / 3, 1.5 / 2, 0.5]


def test_a_text_counts_once_and_in_both_lists_not_at_all(texts):
    training, control = texts[:60], texts[60:100]
    twice = membership_attack(
        [*training, *training, ""], [*control, *training[:20], "!"], training,
        random_state=0,
    )  # fmt: skip
    once = membership_attack(training[20:], control, training, random_state=0)
    assert (twice[0].rows, twice[1]) == (once[0].rows, once[1])
    assert once[0]["training texts copied"].value == 1
    many = membership_attack(training[20:], control, training * 200, random_state=0)
    assert many[0].rows == once[0].rows


def test_commonplaces_of_an_honest_generator_are_no_leak():
    """They are in both lists by chance. False alarms: 1e-6 at a rate of 5%."""
    every = [f"see you at {i}" for i in range(30)] * 8
    every += [f"word{i} of{i} text{i}" for i in range(360)]
    found: Counter[str] = Counter()
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(every).tolist()
        lists = order[:200], order[200:400], order[400:]
        scores, _ = membership_attack(*lists, random_state=seed)
        found.update(row.question for row in scores.rows if row.low > row.chance)
    assert max(found.values(), default=0) <= binom.isf(1e-6, 30, 0.05)


OTHERS = [f"other{i} words{i}" for i in range(20)]


@refusals(
    ({"training": OTHERS[:3]}, "at least 10 different texts with words.*got 3, 20 and"),
    ({"control": OTHERS}, "none of them in both.*got 0, 0 and"),
    ({"synthetic": ["", "!"]}, "and synthetic one, got 20, 20 and 0"),
)
def test_bad_input(change):
    given = [f"text number{i} of{i}" for i in range(20)]
    membership_attack(
        **{"training": OTHERS, "control": given, "synthetic": OTHERS[:5]} | change
    )
