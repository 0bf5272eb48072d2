"""A seed undoes the noise for who knows it: where it shows, and where it must not."""

from __future__ import annotations

import copy
import json
import numbers
import pickle
import traceback

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from tests.expected import no_warning

SEED = 918273645546372819273645
DOCUMENTS = [["w1", "w2"], ["w3", "w4"], ["w5", "w6"], ["w7", "w8"]]


@pytest.fixture
def perturber(small_embedding):
    return DPWordPerturber(
        small_embedding, document_length=2, resize="truncate", random_state=SEED
    )


def search(perturber):
    grid = {"dpwordperturber__epsilon": [1, 9]}
    return GridSearchCV(make_pipeline(perturber, MultinomialNB()), grid, cv=2)


HOLDERS = {
    "fitted": lambda p: p.fit([]),
    "set later": lambda p: clone(p).set_params(random_state=SEED),
    "of NumPy": lambda p: p.set_params(random_state=np.int64(SEED % 2**62)),
    "deep copy": copy.deepcopy,
    "unpickled": lambda p: pickle.loads(pickle.dumps(p)),
    "search": lambda p: search(p).fit(DOCUMENTS, [0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_no_view_of_an_estimator_shows_the_seed(perturber, name):
    holder = HOLDERS[name](perturber)
    with config_context(print_changed_only=False):
        views = [repr(holder), holder._repr_html_()]
    views += [str(holder), str(holder.get_params()), str(vars(holder))]
    shown = "".join(views)
    assert str(SEED)[:8] not in shown
    assert str(SEED % 2**62) not in shown
    assert repr(holder).count("random_state=<secret>") == 1
    assert "&lt;secret&gt;" in holder._repr_html_()


def test_no_error_shows_the_seed(perturber):
    for change in {"epsilon": -1}, {"random_state": -SEED}, {"random_state": SEED / 2}:
        with pytest.raises(InvalidParameterError) as error:
            clone(perturber).set_params(**change).fit([])
        shown = "".join(traceback.format_exception(error.value))
        assert str(SEED)[:8] not in shown
        assert f"{SEED / 2!r}"[:8] not in shown


def test_a_seed_is_the_integer_that_was_given_and_does_not_show(perturber):
    seed = perturber.random_state
    assert isinstance(seed, numbers.Integral)
    assert hash(seed) == hash(SEED)
    assert SEED == seed != SEED + 1
    assert type(int(seed)) is int
    assert clone(perturber).random_state is seed
    for spec in ("", "d", ",", "x", ">60", "e"):
        assert format(seed, spec) == "<secret>"
    with pytest.raises(TypeError) as error:
        json.dumps(seed)
    assert str(SEED)[:8] not in str(error.value)
    assert json.dumps(seed, default=str) == '"<secret>"'
    for other in (None, True, 1.5, "seed", np.random.default_rng(0)):
        assert perturber.set_params(random_state=other).random_state is other


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1, np.int64(7)])
def test_fit_warns_of_a_seed_that_can_be_guessed(perturber, seed):
    perturber.set_params(random_state=seed)
    with pytest.warns(PrivacyLeakWarning, match=r"secrets\.randbits\(128\)") as caught:
        perturber.fit([])
    assert len(caught) == 1  # not of equal documents: transform may be given ids
    if seed > 100:
        assert str(int(seed)) not in "".join(str(w.message) for w in caught)


def test_who_gives_ids_is_not_asked_for_them(perturber):
    with no_warning():
        perturber.fit_transform(DOCUMENTS, document_ids=["a", "b", "c", "d"])
    with pytest.warns(PrivacyLeakWarning, match="Give each document its own id"):
        perturber.transform(DOCUMENTS)
