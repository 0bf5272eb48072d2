"""No two public routes to one number may differ.

A number that is given in two places is false in one of them as soon as they differ.
Each entry of `ROUTES` is a number, and the calls that give it: a new route joins its
entry.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPWordPerturber, WMDKNNClassifier
from skdptext.attacks import WordReconstructionAttack, linkage_attack
from skdptext.base import profiles_of, transitions_of
from skdptext.datasets import make_documents, make_embedding
from skdptext.mechanisms import Exponential
from skdptext.metrics import (
    pairwise_word_movers_distances,
    plausible_deniability,
    word_movers_distance,
    words_changed_scorer,
    words_unchanged,
)
from skdptext.model_selection import calibrate_epsilon
from skdptext.neighbors import WMDNeighbors
from tests.expected import leaks_allowed

pytestmark = leaks_allowed

EMBEDDING = make_embedding(60, 6, n_clusters=4, random_state=0)
TEXTS, _ = make_documents(EMBEDDING, 12, length=9, random_state=0)
PUBLIC, LABELS = make_documents(EMBEDDING, 40, length=9, random_state=1)
WORDS = EMBEDDING.words
SIMULATED = {"n_draws": 40, "random_state": 3}
SECRET = 2**90 + 1
EXACT = Exponential()


@cache
def noisy(mechanism, output="bow", **options):
    """A perturber that releases the same in every route."""
    options = {"document_length": 9, "resize": "truncate", "order": "keep", **options}
    source = DPWordPerturber(
        EMBEDDING, mechanism=mechanism, epsilon=3.0, output=output,
        random_state=SECRET, **options,
    )  # fmt: skip
    return source.fit([])


@cache
def replacer(output="text"):
    source = DPDocumentReplacer(
        PUBLIC, public_labels=LABELS, epsilon=2.0, output=output, random_state=SECRET
    )
    return source.fit()


def known(source):
    return source.known_words(TEXTS)


def of_words(mechanism, output):
    source = noisy(mechanism, output)
    released = source.transform(TEXTS)
    return {
        "perturber": lambda: source.log_likelihood(TEXTS, released, **SIMULATED),
        "one for all": lambda: source.likelihood(TEXTS, **SIMULATED)(released),
    }


def of_stand_ins(output):
    source = replacer(output)
    released = source.transform(TEXTS)
    return {
        "replacer": lambda: source.log_likelihood(TEXTS, released),
        "one for all": lambda: source.likelihood(TEXTS)(released),
    }


def of_a_word(mechanism):
    """Pr[z | w] of all words; estimates as they are smoothed."""
    source, every = noisy(mechanism), np.arange(len(WORDS))
    transitions = transitions_of(source.mechanism_, **SIMULATED)
    routes = {
        "log_proba": lambda: np.exp(transitions.log_proba(every)).T,
        "profiles": lambda: transitions.profiles(np.eye(len(WORDS))),
        "profiles_of": lambda: profiles_of(
            source.mechanism_, np.eye(len(WORDS)), **SIMULATED
        ),
        "texts of one word": lambda: (
            np.exp(
                noisy(mechanism, "text", document_length=1).log_likelihood(
                    WORDS, WORDS, **SIMULATED
                )
            ).T
        ),
    }
    if mechanism is EXACT:
        routes["proba"] = lambda: transitions.proba
        routes["mechanism"] = lambda: np.exp(source.mechanism_.log_proba(every))
    return routes


def of_a_posterior():
    """ln Pr[w | z] from a uniform prior."""
    source = noisy(EXACT)
    law = source.mechanism_.log_proba(np.arange(len(WORDS))).T
    return {
        "transitions": lambda: np.log(
            transitions_of(source.mechanism_).posterior(WORDS)
        ),
        "attack": lambda: (
            WordReconstructionAttack(source).fit().predict_log_proba(WORDS)
        ),
        "Bayes": lambda: law - np.logaddexp.reduce(law, axis=1)[:, None],
    }


def of_exponents(mechanism):
    """Between words, and between documents that differ in one."""
    source = noisy(mechanism)
    guarantee, other = source.guarantee(), WORDS[7]
    rest = [WORDS[1]] * 8
    return {
        "words": lambda: [guarantee.exponent(w, other) for w in WORDS],
        "bags": lambda: [guarantee.exponent([w, *rest], [other, *rest]) for w in WORDS],
        "order": lambda: [
            noisy(mechanism, "text").guarantee().exponent([w, *rest], [other, *rest])
            for w in WORDS
        ],
        "mechanism": lambda: source.mechanism_.exponents(
            np.arange(len(WORDS)), np.array([7])
        )[:, 0],
        "half of two": lambda: [
            guarantee.compose(2).exponent(w, other) / 2 for w in WORDS
        ],
        "both of two": lambda: [
            guarantee.compose(guarantee).exponent(w, other) / 2 for w in WORDS
        ],
    }


def of_stand_in_exponents():
    guarantee = replacer().guarantee()
    pairs = [(x, y) for x in TEXTS[:4] for y in TEXTS]
    numbers = replacer().groups_of(TEXTS)
    logs = replacer("group").log_likelihood(TEXTS, replacer().groups_)
    return {
        "guarantee": lambda: [guarantee.exponent(*pair) for pair in pairs],
        "half of two": lambda: [guarantee.compose(2).exponent(*p) / 2 for p in pairs],
        "likelihood": lambda: [
            np.abs(logs[:, i] - logs[:, j]).max() for i in range(4) for j in range(12)
        ],
        "ε": lambda: [
            2.0 * (numbers[i] != numbers[j]) for i in range(4) for j in range(12)
        ],
    }


def of_exact_shares():
    """Of the words of these texts, as often as they occur, that stay."""
    source = noisy(EXACT)
    written = [word for words in known(source) for word in words]
    words = sorted(set(written))
    often = np.array([written.count(word) for word in words])

    def mean(n_unchanged):
        return float(np.asarray(n_unchanged).ravel() @ often) / (100 * often.sum())

    def stay(source):
        law = transitions_of(source.mechanism_, words=words)
        return 100 * law.proba[np.arange(len(words)), EMBEDDING.find(words)]

    def found():
        own = mean(stay(source))
        return calibrate_epsilon(
            source, 1 - own, documents=TEXTS, n_words=10 * len(written),
            tuned_on="public",
        )  # fmt: skip

    return {
        "transitions": lambda: mean(stay(source)),
        "deniability": lambda: mean(
            plausible_deniability(source, words=words, n_draws=100).n_unchanged
        ),
        "calibration": lambda: 1 - found().changed,
        "of the calibrated ε": lambda: mean(
            stay(clone(source).set_params(epsilon=found().epsilon).fit([]))
        ),
    }


def of_drawn_shares():
    source = noisy(None)
    return {
        "words_unchanged": lambda: words_unchanged(source, TEXTS),
        "scorer": lambda: 1 - words_changed_scorer(source, TEXTS),
        "tokens": lambda: words_unchanged(noisy(None, "tokens"), known(source)),
    }


def of_found():
    """The most that anyone finds among 12, by the promise of a replacer."""
    guarantee = replacer().guarantee()
    allowed = guarantee.found_at_most(12)
    again = guarantee.epsilon_for(found=allowed, n_candidates=12)
    return {
        "guarantee": lambda: allowed,
        "attack": lambda: linkage_attack(TEXTS, replacer(), random_state=0).bound,
        "its inverse": lambda: (
            clone(replacer())
            .set_params(epsilon=again)
            .fit()
            .guarantee()
            .found_at_most(12)
        ),
        "once": lambda: guarantee.compose(1).found_at_most(12),
    }


def of_distances():
    near = {"n_neighbors": 12, "n_jobs": 1}
    labels = ["a", "b"] * 6
    reader = DPWordPerturber(EMBEDDING, stop_words="english").fit([])
    bags = reader.prepare(TEXTS)

    def spread(found):
        distances, places = found
        table = np.empty((12, 12))
        np.put_along_axis(table, places, distances, axis=1)
        return table

    return {
        "pairwise": lambda: pairwise_word_movers_distances(bags, embedding=EMBEDDING),
        "one by one": lambda: [
            [word_movers_distance(x, y, EMBEDDING) for y in TEXTS] for x in TEXTS
        ],
        "neighbours": lambda: spread(
            WMDNeighbors(EMBEDDING, **near).fit(bags).kneighbors(bags)
        ),
        "classifier": lambda: spread(
            WMDKNNClassifier(EMBEDDING, **near).fit(bags, labels).kneighbors(bags)
        ),
    }


ROUTES = {
    "likelihood of bags, estimated": lambda: of_words(None, "bow"),
    "likelihood of texts, estimated": lambda: of_words(None, "text"),
    "likelihood of bags": lambda: of_words(EXACT, "bow"),
    "likelihood of texts": lambda: of_words(EXACT, "text"),
    "likelihood of stand-ins": lambda: of_stand_ins("text"),
    "likelihood of groups": lambda: of_stand_ins("group"),
    "law of a word, estimated": lambda: of_a_word(None),
    "law of a word": lambda: of_a_word(EXACT),
    "posterior of a word": of_a_posterior,
    "exponent of vectors": lambda: of_exponents(None),
    "exponent": lambda: of_exponents(EXACT),
    "exponent of stand-ins": of_stand_in_exponents,
    "share unchanged": of_exact_shares,
    "share unchanged, drawn": of_drawn_shares,
    "found at most": of_found,
    "distance of documents": of_distances,
}


@pytest.mark.parametrize("number", ROUTES)
def test_all_routes_to_a_number_agree(number):
    """To the digits that float32 keeps, as some of these are kept in it."""
    routes = {name: np.asarray(call()) for name, call in ROUTES[number]().items()}
    (first, expected), *others = routes.items()
    assert others
    for name, value in others:
        message = f"{number}: {first} and {name}"
        np.testing.assert_allclose(
            value, expected, rtol=2e-5, atol=1e-6, err_msg=message
        )
