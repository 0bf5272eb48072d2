"""Everything refused, before any work, by parameter, rule and value."""

from __future__ import annotations

from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from skdptext import DPWordPerturber
from skdptext.mechanisms import MahalanobisNoise
from tests.expected import refused

PARAMETERS = [
    ("embedding", None, "embedding must be a WordEmbedding"),
    ("embedding", "glove", "embedding must be a WordEmbedding"),
    ("embedding", "one-hot", "needs a count matrix"),
    ("embedding", {"w": [1.0]}, "embedding must be a WordEmbedding"),
    *(("epsilon", v, "epsilon must be a finite number > 0") for v in
      (0, 0.0, -1.0, np.inf, -np.inf, np.nan, "10", None, True, [1.0], 1j)),
    *(("lam", v, r"lam must be a finite number in \[0, 1\]") for v in
      (-1e-9, 1.0001, 2, np.inf, np.nan, "0.5", None, False)),
    *(("document_length", v, "document_length must be an integer >= 1") for v in
      (0, -3, 2.5, np.nan, "10", True, 2**31, 10**30)),
    *(("resize", v, "resize must be one of 'truncate', 'sample'") for v in
      ("pad", 1)),
    ("order", "shuffle", "order must be one of 'keep', got"),
    *(("oov", v, "oov must be one of 'drop', 'error', 'keep'") for v in
      ("ignore", None)),
    *(("output", v, "output must be one of 'bow', 'tokens', 'text'") for v in
      ("counts", None, 2)),
    *(("lowercase", v, "lowercase must be True or False") for v in ("yes", None, 1)),
    *(("stop_words", v, "stop_words must be") for v in ("german", 3, [1, 2])),
    *(("token_pattern", v, "token_pattern must") for v in ("(", "(a)(b)", 3)),
    ("tokenizer", "split", "tokenizer must be None or callable, got 'split'"),
    *(("random_state", v, "random_state must be None, an integer >= 0 or a") for v in
      (-1, 1.5, "seed", np.random.mtrand._rand, True)),
    *(("n_jobs", v, "n_jobs must be None or an integer other than 0") for v in
      (0, 1.5, "two", True)),
    *(("verbose", v, "verbose must be an integer >= 0") for v in (-1, "loud", None)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "message"), PARAMETERS)
def test_parameters(small_embedding, name, value, message):
    params = {"embedding": small_embedding, name: value}
    perturber = DPWordPerturber(**params)
    with refused(message) as error:
        perturber.fit(["w1"])
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, TypeError)
    assert vars(perturber).keys() == DPWordPerturber().get_params().keys()


def test_parameters_set_after_fit(small_embedding):
    fitted = DPWordPerturber(small_embedding).fit([])
    for name, value, message in PARAMETERS:
        if name != "embedding":
            with refused(message):
                copy(fitted).set_params(**{name: value}).transform(["w1"])
    with refused('output must be "text" with oov="keep"'):
        copy(fitted).set_params(oov="keep").transform(["unknown"])


eye = np.eye(200, dtype=int)[:3]
DOCUMENTS = [
    ("w1 w2", r"X must be an iterable of documents, got a single str.*: \[text\]"),
    (b"w1 w2", "got a single bytes"),
    (None, "Expected an iterable of documents .* got None"),
    (3, "got an int"),
    (2.5, "got a float"),
    ({"w1": 1}, "got a dict"),
    ({"w1", "w2"}, "got a set"),
    ([None, "w1"], "got None as document 0"),
    (["w1", 7], "got an int as document 1"),
    (["w1", b"w2"], "got a bytes as document 1"),
    ([["w1"], {"w1"}], "as document 1"),
    ([["w1"], ["w1", 2]], "got an int as token 1 of document 1"),
    (pd.Series(["w1", None], dtype=object), "got None as document 1"),
    (pd.Series(["w1", np.nan]), r"as document 1. Fill .* as with X.fillna\(\"\"\)"),
    (["w1", float("nan")], "got a float as document 1. Fill in missing"),
    (pl.Series(["w1", None]), "got None as document 1"),
    (pd.Series([1, 2]), r"array of shape .*Reshape your data"),
    (np.zeros(200), r"array of shape .*Reshape your data"),
    (np.array("w1"), r"array of shape \(\)"),
    (np.zeros((2, 2, 2), dtype=int), r"array of shape \(2, 2, 2\)"),
    (np.array([["w1", "w2"]]), r"table of strings .*shape \(1, 2\)"),
    (pd.DataFrame({"a": ["w1"], "b": ["w2"]}), r"table of strings \(shape \(1, 2\)\)"),
    (pl.DataFrame({"a": ["w1"], "b": ["w2"]}), r"table of strings \(shape \(1, 2\)\)"),
    (-eye, "non-negative entries only, got -1 in row 0, column 0"),
    (eye * 0.5, "whole-number counts only, got 0.5 in row 0"),
    (sp.csr_array(eye * 0.5), "whole-number counts only, got 0.5 in row 0"),
    (eye * 2.0**31, r"at most \d+ words per document, got 2147483648 in row 0"),
    (
        pd.DataFrame(eye, columns=[f"w{i}" for i in range(199, -1, -1)]),
        "column 0 is named 'w199', which is word 199",
    ),
    (eye[:, :7], "7 columns, the embedding has 200 words"),
    ([[1, 0], [0, 1]], "2 columns, the embedding has 200 words"),
]


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


def test_one_hot_takes_counts_only():
    perturber = DPWordPerturber("one-hot").fit(np.eye(3, dtype=int))
    with refused("needs a count matrix"):
        perturber.transform(["x1 x2"])


def test_guarantee_of_another_length(small_embedding):
    perturber = DPWordPerturber(small_embedding, document_length=5).fit([])
    with refused("must be document_length=5, got 7"):
        perturber.guarantee(n_words=7)
