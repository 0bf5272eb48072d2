"""Adversaries without a mechanism, against slow loops, enumeration and pure chance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity

from skdptext import WordEmbedding
from skdptext.attacks import (
    learned_similarity,
    split_words,
    text_similarities,
)
from skdptext.attacks._similarity import tf_idf_cosines
from skdptext.metrics import found_among

RNG = np.random.default_rng(0)
NAMES = [f"w{i}" for i in range(60)]
TABLE = WordEmbedding(NAMES, RNG.normal(size=(60, 8)))
CLEAR = [RNG.choice(NAMES, 12).tolist() for _ in range(20)]
# two words in three are changed
NOISY = [
    [w if RNG.random() < 1 / 3 else str(RNG.choice(NAMES)) for w in d] for d in CLEAR
]


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
    assert split_words(text) == words


def test_words_in_common():
    scores = text_similarities(CLEAR, NOISY, common=True)
    held, told = ([set(words) for words in texts] for texts in (CLEAR, NOISY))
    often, now = (
        {w: sum(w in words for words in texts) for w in NAMES} for texts in (held, told)
    )
    kept = {w for w in NAMES if now[w] < 4 or now[w] < 5 * often[w]}
    both = [[a & b & kept for b in held] for a in told]
    np.testing.assert_allclose(
        scores["shared words"], [[len(x) for x in row] for row in both], rtol=1e-5
    )
    weighted = [[sum(np.log(21 / (1 + often[w])) for w in x) for x in r] for r in both]
    np.testing.assert_allclose(
        scores["shared words, by rarity"], weighted, rtol=1e-4, atol=1e-4
    )


@pytest.mark.no_cover
def test_scores_are_those_of_slow_loops():
    originals, releases = CLEAR[:10], NOISY[:10]
    scores = text_similarities(originals, releases, embedding=TABLE)

    def of_pairs(score):
        return np.array([[score(a, b) for b in originals] for a in releases])

    centre = np.mean([TABLE[w] for d in originals for w in d], axis=0)
    shift = np.mean([TABLE[w] for d in releases for w in d], axis=0)
    clear, noisy = ({w: TABLE[w] - x for w in NAMES} for x in (centre, shift))
    by_place = of_pairs(
        lambda a, b: sum(noisy[u] @ clear[v] for u, v in zip(a, b, strict=True))
    )
    np.testing.assert_allclose(scores["word by word"], by_place, rtol=1e-3, atol=1e-3)


def test_releases_of_a_document_are_pooled():
    twice = text_similarities(
        CLEAR, NOISY + NOISY, embedding=TABLE, groups=np.tile(np.arange(20), 2)
    )
    once = text_similarities(CLEAR, NOISY, embedding=TABLE)
    assert twice["word by word"].shape == (20, 20)
    np.testing.assert_allclose(
        twice["word by word"], 2 * once["word by word"], rtol=1e-4, atol=1e-3
    )
    doubled = text_similarities(CLEAR, [text + text for text in NOISY])
    np.testing.assert_allclose(twice["tf-idf"], doubled["tf-idf"], atol=1e-5)


def test_texts_without_words_or_of_unknown_words():
    scores = text_similarities(["a b", "", "!"], ["a", "…"], embedding=TABLE)
    assert all(np.isfinite(score).all() for score in scores.values())
    assert scores["tf-idf"][0].argmax() == 0
    # nothing is known of the second: all candidates tie
    assert all(len(set(score[1].tolist())) == 1 for score in scores.values())
    nothing = text_similarities(["!"], ["?"])
    assert all(score.tolist() == [[0]] for score in nothing.values())


def test_parts_of_words_are_of_their_first_thousand_letters():
    """One of millions, a picture as text, would take minutes and gigabytes."""
    same = RNG.choice(list("abcd"), 1000)
    long = ["".join([*same, *RNG.choice(list("efgh"), 50)]) for _ in range(3)]
    exact, longer = (
        text_similarities([["tea"], *texts], texts)["character n-grams"]
        for texts in ([[word[:1000]] for word in long], [[word] for word in long])
    )
    np.testing.assert_array_equal(exact[:, 1:], longer[:, 1:])
    cut = [[word[:999]] for word in long]
    shorter = text_similarities([["tea"], *cut], cut)["character n-grams"]
    assert exact[0, 0] == shorter[0, 0] == 0


def test_found_among_against_all_draws_of_candidates():
    for _ in range(40):
        score = RNG.integers(0, 4, 6).astype(float)
        truth, n = int(RNG.integers(6)), int(RNG.integers(1, 7))
        chances = []
        for drawn in combinations([j for j in range(6) if j != truth], n - 1):
            others = score[list(drawn)]
            ties = (others == score[truth]).sum()
            chances.append(0 if (others > score[truth]).any() else 1 / (1 + ties))
        share = found_among(score[None], [truth], n)
        np.testing.assert_allclose(share, [np.mean(chances)], atol=1e-9)


def test_who_learns_from_pairs_finds_more():
    clues = {name: 0.8 * np.eye(80) + RNG.normal(size=(80, 80)) for name in "abcd"}
    # an original that all releases are like, which only the learner sees through
    clues["a"][:, 3] += 5
    truth = np.arange(80)
    alone = max(found_among(s, truth, 80).mean() for s in clues.values())
    both = learned_similarity(clues, truth, random_state=0)
    assert found_among(both, truth, 80).mean() > 2 * alone
    again = learned_similarity(clues, truth, random_state=0)
    np.testing.assert_array_equal(both, again)


@pytest.mark.no_cover
def test_no_pair_is_judged_by_a_model_that_saw_it():
    """Where right pairs are told by nothing, learning must not find any.

    With more scores than pairs, a model tells all pairs that it saw. False-alarm rate
    below 1e-6 for the mean of 160 shares.
    """
    n, shares = 20, []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        clues = {i: rng.normal(size=(n, n)) for i in range(30)}
        both = learned_similarity(clues, np.arange(n), random_state=seed)
        shares.append(found_among(both, np.arange(n), n).mean())
    assert abs(np.mean(shares) - 1 / n) < 5 * np.sqrt(1 / n / (8 * n))


def test_equal_candidates_are_ties():
    same = [["a", "b"]] * 12
    scores = text_similarities(same, same)
    for score in [*scores.values(), learned_similarity(scores, np.arange(12))]:
        np.testing.assert_allclose(found_among(score, np.arange(12), 12), 1 / 12)


def test_weights_are_those_of_the_originals():
    rng = np.random.default_rng(0)
    released, clear = rng.poisson(0.5, (2, 9, 30)) * 1.0
    clear[4] = 0  # a text without words
    released, clear = sp.csr_array(released), sp.csr_array(clear)
    weights = TfidfTransformer(sublinear_tf=True).fit(clear)
    a, b = (weights.transform(bags) for bags in (released, clear))
    np.testing.assert_allclose(
        tf_idf_cosines(released, clear), cosine_similarity(a, b), rtol=1e-12
    )
