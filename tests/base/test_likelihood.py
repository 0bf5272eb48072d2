"""DPWordPerturber.log_likelihood against its definition, and against releases."""

import numpy as np
import pytest
from sklearn import config_context

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential, RandomizedResponse
from tests.expected import leaks_allowed, refusals
from tests.laws import law_of
from tests.memory import traced_memory

WORDS = ["cat", "dog", "tea"]
EMBEDDING = WordEmbedding(WORDS, [[0.0], [1.0], [2.5]])
DOCUMENTS = ["cat dog", "tea tea", "dog cat", "cat dog tea", "", "zebra"]
RELEASED = ["dog dog", "cat tea", "tea cat dog", ""]

pytestmark = leaks_allowed


def ids(text):
    return np.array([WORDS.index(w) for w in text.split() if w in WORDS], dtype=int)


def by_hand(law, written, released, ordered, length):
    """ln Pr[release | document], word by word."""
    if len(released) != (len(written) if length is None else length):
        return -np.inf
    if ordered:
        return np.log(law[written, released]).sum()
    # an empty document is redrawn from all words
    return np.log(law[written if len(written) else [0, 1, 2]].mean(axis=0))[
        released
    ].sum()


@pytest.mark.no_cover
@pytest.mark.parametrize("length", [None, 2], ids=["as they are", "redrawn"])
@pytest.mark.parametrize("output", ["text", "bow"])
@pytest.mark.parametrize("mechanism", [None, RandomizedResponse(), Exponential()])
def test_likelihood_is_that_of_the_words(mechanism, output, length):
    perturber = DPWordPerturber(
        EMBEDDING, mechanism=mechanism, epsilon=1.0, output=output,
        document_length=length,
    ).fit([])  # fmt: skip
    law = law_of(perturber.mechanism_)
    tolerance = 0.05 if mechanism is None else 1e-4
    ordered = output == "text" and length is None
    expected = [
        [by_hand(law, ids(w), ids(z), ordered, length) for w in DOCUMENTS]
        for z in RELEASED
    ]
    options = {"n_draws": 60_000, "random_state": 0}
    logs = perturber.log_likelihood(DOCUMENTS, RELEASED, **options)
    np.testing.assert_allclose(logs, expected, atol=tolerance)
    if not ordered:
        counts = [np.bincount(ids(z), minlength=3) for z in RELEASED]
        of_counts = perturber.likelihood(DOCUMENTS, **options)(np.array(counts))
        np.testing.assert_allclose(of_counts, logs)


def test_words_kept_in_clear_are_passed_over():
    kept, plain = (
        DPWordPerturber(EMBEDDING, epsilon=1.0, mechanism="exponential", oov=oov,
                        output="text").fit([])
        for oov in ("keep", "drop")
    )  # fmt: skip
    np.testing.assert_allclose(
        kept.log_likelihood(["cat zz dog", "dog zz cat", "zz"], ["zz yy", "zz"]),
        plain.log_likelihood(["cat dog", "dog cat", ""], ["", ""]),
    )
    table = WordEmbedding(["new york", "york"], [[0.0], [1.0]])
    one = DPWordPerturber(table, output="text").fit([])  # whose word holds a blank
    assert np.isfinite(one.log_likelihood([["new york", "york"]], ["york new york"]))


@pytest.mark.no_cover
def test_candidates_do_not_cost_a_row_of_all_words():
    """Rows are kept for the different words only: 100,000 documents have two."""
    words = [f"w{i}" for i in range(20_000)]
    embedding = WordEmbedding(words, np.arange(20_000.0)[:, None])
    perturber = DPWordPerturber(
        embedding, mechanism="randomized-response", epsilon=1.0, output="text"
    ).fit([])
    with traced_memory() as memory:
        perturber.likelihood(["w1", "w2"] * 50_000, n_draws=1, random_state=0)
    assert memory.peak < 2**30


def test_nothing_is_asked():
    perturber = DPWordPerturber(EMBEDDING).fit([])
    assert perturber.log_likelihood(DOCUMENTS, []).shape == (0, 6)
    assert perturber.log_likelihood([], RELEASED).shape == (4, 0)


@refusals(
    ({}, [[1, 2]], "one column per word"),
    ({"output": "text"}, [[1, 2, 0]], "texts or token lists"),
    ({}, RELEASED, "must be few enough"),
)
def test_bad_input(options, released):
    perturber = DPWordPerturber(EMBEDDING, **options).fit([])
    with config_context(working_memory=1e-5 if released == RELEASED else 1):
        perturber.log_likelihood(DOCUMENTS, released)
