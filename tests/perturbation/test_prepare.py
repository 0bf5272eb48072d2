"""prepare: what a release reads, cuts or draws, without its noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdptext import DPWordPerturber, WordEmbedding
from tests.expected import refused

# the example of the 2019 paper, section 2
PRESIDENT = "The President greets the press in Chicago"
WORDS = ["president", "greets", "press", "Chicago", "tea"]
TABLE = WordEmbedding(WORDS, np.eye(5))

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.OutOfVocabularyWarning",
)


def perturber(**options):
    """Noise that changes nothing: words are far apart beside it."""
    return DPWordPerturber(TABLE, epsilon=1e6, lam=0.0, **options).fit([])


@pytest.mark.parametrize("length", [None, 2])
@pytest.mark.parametrize("stop_words", [None, "english", ["press"]])
def test_is_what_a_release_does_without_its_noise(length, stop_words):
    release = perturber(
        document_length=length, resize="truncate", stop_words=stop_words
    )
    texts = [PRESIDENT, "chicago TEA, Tea and cofe", ["Press", "the", "Tea", "tea"]]
    counts = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 0, 3]])
    for X in (texts, counts, pd.Series(texts, index=[7, 8, 9])):
        bags, noisy = release.prepare(X), release.transform(X)
        assert bags.dtype == noisy.dtype == np.int64
        np.testing.assert_array_equal(bags.toarray(), noisy.toarray())
    frame = pd.DataFrame(counts, columns=WORDS)
    assert (release.prepare(frame) != release.prepare(counts)).nnz == 0
    with refused("column 0 is named 'tea'"):
        release.prepare(frame[WORDS[::-1]])


def test_words_kept_in_clear_are_left_out():
    release = perturber(oov="keep", output="text", order="keep")
    bags = release.prepare(["tea, Cofe", "zzz", ""])
    assert bags.toarray().tolist() == [[0, 0, 0, 0, 1], [0] * 5, [0] * 5]


def test_drawn_words_follow_their_frequencies():
    """2018, section 5.2: three quarters of the words are "tea"."""
    n = 40_000
    release = perturber(document_length=n, random_state=5)
    bags = release.prepare(["tea press tea tea", "tea press", "", "unknown"])
    assert bags.sum(axis=1).ravel().tolist() == [[n] * 4]
    share = bags.toarray() / n
    # 6 standard errors: false alarm 2e-9 each
    assert abs(share[0, 4] - 0.75) < 6 * np.sqrt(0.75 * 0.25 / n)
    assert abs(share[1, 4] - 0.5) < 6 * np.sqrt(0.25 / n)
    # documents without words draw from the vocabulary
    assert (abs(share[2:] - 0.2) < 6 * np.sqrt(0.2 * 0.8 / n)).all()


def test_the_draw_is_not_that_of_a_release():
    """An integer repeats it, document by document, and shows no draw of a release."""
    release = perturber(document_length=4000, random_state=2**100)
    texts = ["tea press", "tea greets press", "tea press"]
    bags = release.prepare(texts).toarray()
    np.testing.assert_array_equal(release.prepare(texts[::-1]).toarray(), bags[::-1])
    assert (bags[0] == bags[2]).all()
    # two draws of 4,000 words are equal with probability 0.006 each
    noisy = release.transform(texts[:2]).toarray()
    assert (noisy != bags[:2]).any()
    other = clone(release).set_params(random_state=2**100 + 1).fit([])
    assert (other.prepare(texts[:2]).toarray() != bags[:2]).any()
    fresh = clone(release).set_params(random_state=None).fit([])
    first, second = fresh.prepare(["tea press tea"] * 2).toarray()
    assert (first != second).any()
