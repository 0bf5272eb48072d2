"""Words of any script, and what of the originals is left, by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from skdptext.attacks import (
    copied,
    known_words,
    linkage_attack,
    of_other_rows,
    read,
    words_of,
)


def on(measure, clear, noisy, *truth):
    return measure(read("original", clear), read("released", noisy), *truth)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't PANIC!", ["don", "t", "panic"]),
        ("我们在罗马", list("我们在罗马")),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Привет, мир", ["привет", "мир"]),
        ("Cafe\u0301 42", ["café", "42"]),
        ("\u4e2dmixed\u6587", ["\u4e2d", "mixed", "\u6587"]),
        ("…!", []),
    ],
)
def test_words_of_any_script(text, words):
    assert words_of(text) == words


def test_copies_by_hand():
    clear = ["one two three four five six.", "a b c d e f", "g h i j k l", "so"]
    noisy = ["zero ONE two three four five", "g h i, j k l!", "a", "so"]
    scores = copied(clear, noisy)
    # a copy of another row counts; a text of one word is a commonplace
    assert scores["copies"].value == 1 / 4
    shares = np.mean([5 / 6, 0, 0, 1])
    assert scores["words"].value == scores["rare words"].value == shares
    assert scores["words"].chance == np.mean([0, 0, 0, 0])
    # one of two phrases of the first; of the fourth there is none
    assert scores["spans of 5 words"].value == pytest.approx(1 / 6)
    assert scores["spans of 5 words"].n_documents == 3
    assert set(copied(clear, noisy[:2])) == {"copies"}
    assert copied(clear, [text.split() for text in clear])["words"].value == 1


def test_a_segmented_text_is_a_copy():
    clear = ["\u4e2d\u6587\u8bdd\u597d", "so good \U0001f600 there", "a b c d"]
    noisy = ["\u4e2d\u6587 \u8bdd\u597d", "so good\U0001f600there!", "a b d c"]
    assert copied(clear, noisy)["copies"].value == 2 / 3


def test_chance_is_what_releases_of_others_hold():
    clear = [f"so said all {chr(97 + i) * 4}" for i in range(20)]
    words = copied(clear, clear)["words"]
    assert (words.value, words.chance) == (1, 3 / 4)
    assert words.low > words.chance
    same = copied(clear, ["so said all"] * 20)["words"]
    assert same.low <= same.chance == same.value == 3 / 4


def test_words_that_are_known_in_originals():
    clear = ["tea and milk", "milk and cake", "tea"]
    assert on(known_words, clear, clear) == (1.0, np.mean([1, 2 / 3, 1]))
    assert on(known_words, clear, ["", "tea x", "y z"])[0] == pytest.approx(1 / 6)
    # a placeholder is in a fifth of the releases or more, and is no word
    assert on(known_words, clear * 4, ["[NAME] tea", "[NAME] milk"] * 6)[0] == 1


def test_which_releases_are_of_other_rows():
    clear = [f"a{i} b{i} c{i} so said all" for i in range(8)]
    noisy = [*clear[1:4], clear[0], *clear[4:6], "so said all", ""]
    rows = np.arange(8)
    found = on(of_other_rows, clear, noisy, rows)
    assert found.tolist() == [True] * 4 + [False] * 4
    # one word of each may be there by chance
    assert not on(of_other_rows, clear, [f"b{i}" for i in rows], rows[::-1]).any()
    # many codes that are like one odd original are made of none
    odd, codes = [*clear, "1 2 3 4"], [f"x{i} 1 2 3" for i in range(8)] + ["y"]
    assert not on(of_other_rows, odd, codes, np.arange(9)).any()
    # some of the originals were released
    some = [clear[i] for i in (5, 2, 4, 1)]
    found = on(of_other_rows, clear, some, np.array([5, 3, 6, 0]))
    assert found.tolist() == [False, True, True, True]
    assert not on(
        of_other_rows, clear, [*some[:3], clear[0]], np.array([5, 3, 6, 0])
    ).any()


@pytest.mark.no_cover
@pytest.mark.parametrize("n_trials", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_unrelated_texts_are_of_no_other_row(prose, n_trials):
    """In at most 2.5% of the trials, of short lists of short texts; false alarms 1e-6.

    By a rule without significance, 52% of lists of 24 texts of five words were.
    """
    alarms = Counter()
    every = np.array(" ".join(dict.fromkeys(prose[0])).split())
    for seed, n, size in product(range(n_trials), (10, 24, 40), (5, 10)):
        rng = np.random.default_rng([seed, n, size])
        pieces = rng.permutation(every[: len(every) // size * size].reshape(-1, size))
        drawn = rng.integers(0, 300, (2 * n, size)).astype(str)
        for kind, words in enumerate((pieces[: 2 * n], drawn)):
            texts = list(map(" ".join, words))
            other = on(of_other_rows, texts[:n], texts[n:], np.arange(n))
            alarms[kind, n, size] += other.any()
    assert max(alarms.values()) <= binom.isf(1e-6, n_trials, 0.025)


def test_parts_of_words_are_of_their_first_thousand_letters():
    """One of millions, a picture as text, would take minutes and gigabytes."""
    rng = np.random.default_rng(0)
    same = "".join(rng.choice(list("abcd"), 1000))
    long = [same + "".join(rng.choice(list("efgh"), 10_000)) for _ in range(4)]
    rows = linkage_attack(long, [text + "e" for text in long], random_state=0).rows
    of_parts = {row.adversary: row.value for row in rows}["parts of words in common"]
    assert of_parts == pytest.approx(1 / 4)  # they tie
