"""DPWordPerturber.log_likelihood against its definition, and against releases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential, RandomizedResponse, TableMechanism
from tests.expected import leaks_allowed
from tests.laws import nearest_on_a_line

WORDS = ["cat", "dog", "tea"]
EMBEDDING = WordEmbedding(WORDS, [[0.0], [1.0], [2.5]])
DOCUMENTS = ["cat dog", "tea tea", "dog cat", "cat dog tea"]
RELEASED = ["dog dog", "cat tea", "tea cat dog"]

pytestmark = leaks_allowed


def fitted(mechanism=None, **options):
    options = {"epsilon": 1.0, "output": "text", **options}
    return DPWordPerturber(EMBEDDING, mechanism=mechanism, **options).fit([])


def law_of(perturber):
    """Pr[z | w], worked out where the mechanism does not state it."""
    if isinstance(perturber.mechanism_, TableMechanism):
        return np.exp(perturber.mechanism_.log_proba(np.arange(3)))
    return nearest_on_a_line(EMBEDDING.vectors[:, 0], perturber.epsilon)


def ids(text):
    return [WORDS.index(word) for word in text.split()]


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, RandomizedResponse()], ids=repr)
def test_likelihood_is_that_of_the_words(mechanism):
    perturber = fitted(mechanism)
    law = law_of(perturber)
    options = {"n_draws": 60_000, "random_state": 0}
    likelihoods = perturber.log_likelihood(DOCUMENTS, RELEASED, **options)
    bag = perturber.set_params(output="bow")
    counts = np.array([[ids(text).count(j) for j in range(3)] for text in RELEASED])
    of_bags = bag.log_likelihood(DOCUMENTS, counts, **options)
    few = options | {"n_draws": 1000}
    np.testing.assert_allclose(
        bag.log_likelihood(DOCUMENTS, RELEASED, **few),
        bag.log_likelihood(DOCUMENTS, counts, **few),
    )
    for i, z in enumerate(map(ids, RELEASED)):
        for j, w in enumerate(map(ids, DOCUMENTS)):
            if len(z) != len(w):
                assert likelihoods[i, j] == of_bags[i, j] == -np.inf
                continue
            assert likelihoods[i, j] == pytest.approx(np.log(law[w, z]).sum(), abs=0.05)
            mixed = np.log(law[w].mean(axis=0))[z].sum()
            assert of_bags[i, j] == pytest.approx(mixed, abs=0.05)


def test_redrawn_documents_have_no_order_and_may_be_empty():
    perturber = fitted(RandomizedResponse(), document_length=2, resize="sample")
    law = law_of(perturber)
    likelihoods = perturber.log_likelihood(["cat", ""], ["dog tea", "tea"])
    expected = [np.log(law[0, [1, 2]]).sum(), 2 * np.log(1 / 3)]
    np.testing.assert_allclose(likelihoods[0], expected)
    assert np.isneginf(likelihoods[1]).all()


@pytest.mark.parametrize("output", ["text", "bow"])
@pytest.mark.parametrize("length", [None, 2, 3])
def test_of_known_probabilities_both_are_the_same(output, length):
    """Also of documents without a known word, which are redrawn from all words."""
    how = {} if length is None else {"document_length": length, "resize": "sample"}
    perturber = fitted(Exponential(), output=output, **how)
    documents = [*DOCUMENTS, "", "zebra", "tea"]
    released = perturber.transform(documents * 20)
    ours = perturber.log_likelihood(documents, released)
    theirs = perturber.likelihood(documents)(released)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    # the document itself is possible, and of an empty one all is known
    assert np.isfinite(np.diag(ours[:7])).all()
    if length is None:
        assert (ours[4, 4:6] == 0).all()
        alone = perturber.likelihood(["", ""])(released)
        np.testing.assert_array_equal(alone == 0, np.isfinite(ours[:, 4:6]))


def test_bad_input():
    perturber = fitted()
    with pytest.raises(InvalidParameterError, match="n_draws"):
        perturber.log_likelihood(DOCUMENTS, RELEASED, n_draws=0)
    with pytest.raises(InvalidParameterError, match="one column per word"):
        perturber.log_likelihood(DOCUMENTS, [[1, 2]])
    with (
        config_context(working_memory=1e-5),
        pytest.raises(InvalidParameterError, match="must be few enough"),
    ):
        perturber.log_likelihood(DOCUMENTS, RELEASED)
    assert perturber.log_likelihood(DOCUMENTS, []).shape == (0, 4)
    assert perturber.log_likelihood([], RELEASED).shape == (3, 0)
