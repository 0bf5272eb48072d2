"""Everything refused, before any work, by parameter, rule and value."""

import re
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.mechanisms import Exponential, MahalanobisNoise
from tests.expected import refusals, refused

PARAMETERS = [
    (name, value, f"{name} must {rule}")
    for name, values, rule in (
        ("embedding", ("glove",), "be a WordEmbedding"),
        ("epsilon", (0, np.inf, True), "be a finite number > 0"),
        ("lam", (-1e-9, 1.0001), r"be a finite number in \[0, 1\]"),
        ("document_length", (0, 2.5, 2**31), "be an integer >= 1"),
        ("resize", ("pad",), "be one of 'truncate', 'sample'"),
        ("order", ("shuffle",), "be one of 'keep', got"),
        ("oov", ("ignore", None), "be one of 'drop', 'error', 'keep'"),
        ("output", ("counts", 2), "be one of 'bow', 'tokens', 'text'"),
        ("stop_words", ("german", [1, 2]), "be"),
        ("token_pattern", ("(", "(a)(b)", b"x", re.compile("x")), ""),
        ("mechanism", ("exponentail",), "be one of .*exponential.*, got 'exponentail'"),
        ("mechanism", (Exponential,), "be None, a WordMechanism, or the name"),
        ("random_state", (-1, np.random.mtrand._rand), "be None, an integer >= 0 or a"),
        ("n_jobs", (0, True), "be None or an integer other than 0"),
    )
    for value in values
]


def test_parameters_at_fit_and_set_afterwards(small_embedding):
    fitted = DPWordPerturber(small_embedding).fit([])
    for name, value, message in PARAMETERS:
        perturber = DPWordPerturber(**{"embedding": small_embedding, name: value})
        with refused(message) as error:
            perturber.fit(["w1"])
        assert isinstance(error.value, ValueError)
        assert isinstance(error.value, TypeError)
        assert vars(perturber).keys() == DPWordPerturber().get_params().keys()
        if name != "embedding":
            with refused(message):
                copy(fitted).set_params(**{name: value}).transform(["w1"])
    with refused('output must be "text" with oov="keep"'):
        copy(fitted).set_params(oov="keep").transform(["unknown"])


eye = np.eye(200, dtype=int)[:3]
DOCUMENTS = [
    (pd.Series(["w1", np.nan]), r"as document 1. Fill .* as with X.fillna\(\"\"\)"),
    (pd.Series([1, 2]), r"a Series of shape .*Reshape your data"),
    (np.zeros((2, 2, 2), dtype=int), r"ndarray of shape \(2, 2, 2\)"),
    (pl.DataFrame({"a": ["w1"], "b": ["w2"]}), r"of shape \(1, 2\) with other cells"),
    (eye * [np.nan], "^Input.* contains NaN"),
    (-eye, "non-negative entries only, got -1 in row 0, column 0"),
    (sp.csr_array(eye * 0.5), "whole-number counts only, got 0.5 in row 0"),
    (eye * 2.0**31, r"at most \d+ words in all, got 6442450944: pass fewer"),
    (pd.DataFrame(eye, columns=[f"w{i}" for i in range(199, -1, -1)]), "is word 199"),
    ([[1, 0], [0, 1]], "2 columns, the embedding has 200 words"),
]


TABLE = WordEmbedding([f"w{i}" for i in range(200)], np.arange(200.0)[:, None])
CUT = DPWordPerturber(TABLE, document_length=3, resize="truncate")


class Unused(MahalanobisNoise):
    """Noise that must not be drawn: documents are read before any work."""

    def draw(self, rng, n):
        raise AssertionError("noise was drawn")


@pytest.mark.parametrize(("X", "message"), DOCUMENTS, ids=lambda v: str(type(v)))
def test_documents(small_embedding, X, message):
    perturber = DPWordPerturber(small_embedding, mechanism=Unused())
    with refused(message):
        perturber.fit(X)
    assert not hasattr(perturber, "n_features_in_")  # nothing half-written
    perturber.fit([])
    # scikit-learn words the number of columns its own way after fit
    columns = r"X has \d features, but DPWordPerturber is expecting 200 features"
    with pytest.raises(ValueError, match=f"{message}|{columns}"):
        perturber.transform(X)


@refusals(
    (DPWordPerturber("one-hot"), np.eye(3, dtype=int), ["x1 x2"], "a count matrix"),
    (DPWordPerturber("one-hot"), ["w1"], ["w1"], "needs a count matrix"),
    (
        CUT,
        [],
        [["w1"] * 4, ["w1", "?"], ["w1"] * 5, ["w1"]],
        "2 of 4 .*first document 1",
    ),
    (CUT, [], np.eye(3, 200, dtype=int) * [[4], [3], [1]], "1 of 3 are shorter"),
)
def test_documents_of_one_perturber(perturber, fitted_on, X):
    perturber.fit(fitted_on).transform(X)


@refusals(
    (lambda p: p.guarantee(n_words=7), "must be document_length=3, got 7"),
    (lambda p: p.perturb_words("w1"), "iterable of str, got a str of 2"),
    (lambda p: p.perturb_words(["w1", 2]), "words must be str, got an int at posit"),
    (lambda p: p.perturb_words(["w1", "zz", "y"]), "got 2 unknown, the first at posi"),
)
def test_other_calls(call):
    call(CUT.fit([]))
