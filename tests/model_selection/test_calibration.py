"""The ε at which a wanted share of words changes."""

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.mechanisms import Exponential, RandomizedResponse
from skdptext.model_selection import calibrate_epsilon
from tests.expected import leaks_allowed, no_warning, refusals
from tests.laws import ALPHA

pytestmark = leaks_allowed

# Each word stays itself with probability 1 - exp(-ε/2)/2.
LINE = DPWordPerturber(WordEmbedding(["aa", "bb"], [[0.0], [1.0]]), document_length=1)


def each_once(embedding):
    return [[word] for word in embedding.words]


@pytest.mark.no_cover
@pytest.mark.parametrize(("changed", "n_words"), [(0.4, 500), (0.01, 20_000)])
def test_closed_form(changed, n_words):
    found = calibrate_epsilon(LINE, changed, documents=["aa", "bb"], n_words=n_words)
    true = np.exp(-found.epsilon / 2) / 2
    error = np.sqrt(changed * (1 - changed) / n_words)
    assert abs(true - changed) < stats.norm.isf(ALPHA / 2) * error
    # at least as many of the words drawn as were asked for, and hardly more
    assert changed <= found.changed < changed + 2 / n_words + 1e-4


# -- probabilities that are known ------------------------------------------------------

CUT = Exponential(max_distance=2.0)


class PartUniform(Exponential):
    """An option's name says nothing of what a subclass releases."""

    def log_proba(self, words):
        return np.log(np.exp(super().log_proba(words)) * 0.9 + 0.1 / 60)


def kept(mechanism, embedding, epsilon, lam):
    """Pr[w | w] of every word."""
    prepared = mechanism.prepare(embedding, epsilon, lam)
    return np.exp(prepared.log_proba(np.arange(len(embedding)))).diagonal()


@pytest.mark.no_cover
@pytest.mark.parametrize("lam", [0.0, 0.7])
@pytest.mark.parametrize(
    "mechanism",
    [Exponential(), CUT, Exponential("half"), RandomizedResponse(), PartUniform()],
    ids=repr,
)
def test_known_probabilities_against_a_plain_search(small_embedding, mechanism, lam):
    table = small_embedding.restrict(60)
    words = np.repeat([3, 9, 31], [5, 1, 2])
    documents = [["w3"] * 5, ["w9", "w31", "w31"]]
    for given, ids in ((each_once(table), np.arange(60)), (documents, words)):

        def excess(e, ids=ids):
            return kept(mechanism, table, e, lam)[ids].mean() - 0.6

        true = optimize.brentq(excess, 0.05, 20.0, rtol=1e-9)
        for start in (1e-3, 1.0, 500.0):  # it is searched from here
            source = DPWordPerturber(table, epsilon=start, lam=lam, mechanism=mechanism)
            found = calibrate_epsilon(source, 0.4, documents=given, n_words=24_000)
            assert found.epsilon == pytest.approx(true, rel=3e-4)
            assert found.changed == pytest.approx(0.4, abs=2e-4)
            # the largest ε at which so many change
            assert found.changed >= 0.4
            assert 1 - kept(mechanism, table, 1.001 * true, lam)[ids].mean() < 0.4


# -- documents -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "resize", "weights"),
    [
        (1, "truncate", [1, 0, 0, 1]),
        (4, "sample", [0.25, 0.25, 0.5, 1]),
        (None, None, [1, 1, 2, 1]),
    ],
)
def test_documents_are_counted_as_read(small_embedding, length, resize, weights):
    texts = ["w1 w2 zz w3 w3", "W7", "zz"][: 2 if resize == "truncate" else 3]
    # a law by which each word stays at an ε of its own tells the weights
    near = DPWordPerturber(
        small_embedding, document_length=length, resize=resize,
        mechanism=Exponential("half"), lam=0,
    ).fit([])  # fmt: skip
    found = calibrate_epsilon(near, 0.5, documents=texts, n_words=20_000)
    stay = kept(Exponential("half"), small_embedding, found.epsilon, 0)
    share = np.average(stay[[1, 2, 3, 7]], weights=weights)
    assert share == pytest.approx(0.5, abs=2e-4)


# -- what is given ---------------------------------------------------------------------


def test_a_seed_repeats_it_and_more_changes_at_smaller_epsilon(small_embedding):
    source = DPWordPerturber(small_embedding, epsilon=1.0, lam=0.5)

    def found(share, seed=1):
        options = {"documents": each_once(small_embedding), "random_state": seed}
        return calibrate_epsilon(source, share, **options).epsilon

    epsilons = [found(share) for share in (0.05, 0.4, 0.699, 0.7, 0.9)]
    assert epsilons == sorted(set(epsilons), reverse=True)
    assert epsilons[1] == found(0.4) != found(0.4, seed=2)
    assert source.epsilon == 1.0


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, Exponential(), RandomizedResponse()])
def test_a_perturber_that_is_not_fitted_will_do(small_embedding, mechanism):
    perturber = DPWordPerturber(
        small_embedding, epsilon=1e-3, lam=0.0, document_length=2, mechanism=mechanism
    )
    options = {"documents": ["w1 w2", "w9"], "random_state": 0, "tuned_on": "public"}
    copy = clone(perturber).fit([])
    held = perturber, make_pipeline(perturber, MultinomialNB()), copy
    with no_warning():
        assert len({calibrate_epsilon(source, **options) for source in held}) == 1
    assert not hasattr(perturber, "mechanism_")
    with pytest.warns(PrivacyLeakWarning, match="ε is chosen by words of documents"):
        calibrate_epsilon(perturber, documents=["w1 w2"], n_words=100)


TWINS = DPWordPerturber(
    WordEmbedding(["aa", "bb", "cc"], [[0.0], [0.0], [1.0]]), lam=0, document_length=1
)
CHANGED_AFTER_FIT = clone(LINE).fit([]).set_params(lam=0.25)


@refusals(
    (LINE, 0, {}, r"changed must be a finite number in \(0, 1\), got 0"),
    (LINE, 1, {}, r"changed must be a finite number in \(0, 1\), got 1"),
    (LINE, 0.5, {"documents": ["zz"]}, "at least one word of the embedding, got none"),
    (MultinomialNB(), 0.5, {}, "exactly one word perturber"),
    (CHANGED_AFTER_FIT, 0.5, {}, "lam was changed"),
    # of two equal vectors the second never comes out
    (TWINS, 0.1, {}, r"between 0\.33\d+ and 0\.\d+ here, got 0\.1"),
    (LINE, 0.6, {}, r"between 0 and 0\.\d+ here, got 0\.6"),
    (clone(LINE).set_params(mechanism="randomized-response"), 0.6, {}, "and 0.5 here"),
)
def test_bad_input(source, changed, options):
    given = {"documents": [["aa"], ["bb"], ["cc"]], "n_words": 1000, **options}
    calibrate_epsilon(source, changed, **given)
