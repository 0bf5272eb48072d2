"""What is given to anything public is read rightly or refused, and never told.

Tracebacks, warnings and the output of notebooks are kept in logs and shared: what a
call says of bad input may hold its type and its place, never the input.
"""

from __future__ import annotations

import contextlib
import io
import math
import pickle
import re
import traceback
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn

from skdptext import DPWordPerturber
from skdptext.exceptions import InvalidParameterError
from tests import conftest
from tests.public_calls import BAGS, CALLS, PLACES, TEXTS, WORDS, released

pytestmark = pytest.mark.filterwarnings("ignore")
MARK = "zqcanary"
TEXT = f"{MARK} was diagnosed with influenza on Monday"


class Loud:
    """An object that tells all in its repr, and to NumPy, which cannot read it."""

    def __repr__(self):
        return TEXT

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"could not convert {TEXT!r}")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """What is given in place of a path may be written to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # nothing crashes here


# -- input of every kind: what no number, flag or document may be, and holders of it ---

NO_TEXT = (Loud(), TEXT.encode(), {TEXT: TEXT}, frozenset({TEXT}), ValueError(TEXT))
TEXTUAL = (TEXT, np.str_(TEXT), TEXT + "\ud800", [TEXT, MARK], [TEXT.encode(), 7])
# Other libraries quote what they hold in errors of their own. Generators are used up:
# each call is given its own.
HOLDERS = (
    lambda x: (x, None),
    lambda x: [7, x],
    lambda x: [[1, 2], [1, x]],
    lambda x: (each for each in (x, 7)),
    lambda x: np.array(x, dtype=object),
    lambda x: np.array([[1, x]], dtype=object),
    lambda x: np.array([(1, x)], dtype=[("id", "i4"), ("text", "O")]),
    lambda x: np.ma.array([x, x], mask=[0, 1]),
    lambda x: pd.Series([x, 7], index=[TEXT, 1], name=TEXT),
    lambda x: pd.Series([x], dtype="category"),
    lambda x: pd.DataFrame({"id": [1, 2], "text": [x, 7]}),
    lambda x: pd.DataFrame({TEXT: [1.5]}),
    lambda x: pl.Series(TEXT, [TEXT, None]),
    lambda x: pl.DataFrame({"id": [1], TEXT: [TEXT]}),
    lambda x: pl.LazyFrame({"text": [TEXT]}),
)


def refused_by(name, valid, default):
    """What a parameter must refuse, by the kind of what it is given, or its default."""
    if isinstance(default, bool):
        return [2, None, *NO_TEXT, *TEXTUAL]
    if isinstance(default if valid is None else valid, int | float):
        return [math.nan, [1], *NO_TEXT, *TEXTUAL] + [-1] * (name != "n_jobs")
    if valid is TEXTS:
        late = [[*TEXTS[:3], odd] for odd in (None, 7, ["w0", 7], *NO_TEXT)]
        return [TEXT, None, [["w0"]] * 3 + [["w0", 7]], *NO_TEXT, *late]
    return [NO_TEXT[0]]


def read_by(valid):
    """What it may read and must not tell: alone, in holders, and among valid ones."""
    yield from (*NO_TEXT, *TEXTUAL)
    if isinstance(valid, int | float):
        return  # numbers are checked by one rule, which knows of no kind
    yield from (hold(TEXT) for hold in HOLDERS)
    for odd in (*NO_TEXT, *TEXTUAL):
        yield [odd] * (len(valid) if isinstance(valid, list) else 1)
        if isinstance(valid, dict):
            yield from ({**valid, next(iter(valid), "w0"): odd}, {**valid, TEXT: 1})
        elif isinstance(valid, np.ndarray):
            mixed = valid.astype(object)
            mixed.flat[-1] = odd
            yield from (mixed, mixed.tolist())
        elif isinstance(valid, list | tuple) and valid:
            yield from ([odd, *valid[1:]], [*valid[:-1], odd])


def outcome(call, *given):
    """The error of a call, if any, and all that it says: also in its result."""
    printed, error = io.StringIO(), None
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            result = call(*given)
            if hasattr(result, "_repr_html_") and not isinstance(result, pd.DataFrame):
                print(repr(result), result._repr_html_())
            if isinstance(result, DPWordPerturber):
                # it learns nothing from documents; others are made to keep something
                print(pickle.dumps(result))
        except (Exception, SystemExit) as raised:
            error = raised
            # without its stack: that shows source lines, those of this test among them
            print(*traceback.format_exception(error, limit=0), error.args)
    said = f"{printed.getvalue()}{[str(each.message) for each in caught]}"
    return error, said


# Scikit-learn looks at them, or nothing does; what is called, a path may be anything.
UNREAD = {"input_features", "return_distance", "sort_results", "purpose", "name"}
UNREAD |= {"path"}
# Asked for later, with others, or by what is the user's own.
LATER = {
    *("attacks.WordReconstructionAttack words", "attacks.label_attack original"),
    *("audit.audit_training X", "audit.audit_training person"),
    *(
        "attacks.WordReconstructionAttack.score y",
        "naive_bayes.ChannelNaiveBayes.fit y",
    ),
    *("base.transitions_of mechanism", "base.transitions_of verbose"),
    *(
        "mechanisms.Exponential.prepare embedding",
        "preprocessing.TopicWordSelector.fit y",
    ),
    *(f"privacy.PrivacyGuarantee.{x}" for x in ("from_json embedding", "of parts")),
    "privacy.PrivacyGuarantee.epsilon_for n_candidates",
    *(f"replacement.PersonAnswers.transform {x}" for x in ("authors", "document_ids")),
}
# Results show it: a caveat; scikit-learn shows the classes that were learned.
SHOWN = {
    "naive_bayes.ChannelNaiveBayes.fit y",
    "neighbors.WMDKNNClassifier.fit y",
    "privacy.PrivacyGuarantee.with_caveat caveat",
}


def test_what_is_told_is_found():
    raised, said = outcome(lambda x: {"a": 1}[x], TEXT)
    assert isinstance(raised, KeyError)
    assert MARK in said


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", CALLS)
def test_bad_input_is_refused_and_never_told(path, share):
    """What may be read is all given, or a share of it to each parameter, in turns."""
    call = CALLS[path]
    before = np.random.get_state()[1:3]  # noqa: NPY002
    call()  # else an error of another parameter would hide this one's
    np.testing.assert_equal(np.random.get_state()[1:3], before)  # noqa: NPY002
    for turn, (name, parameter) in enumerate(call.parameters.items(), len(path)):
        if name == "self" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        valid, door = call.given(), f"{path} {name}"

        def run(x, name=name, valid=valid, door=door):
            result = call({**valid, name: x})
            # not of an estimator that is made, whose repr shows what it is set to
            hidden = isinstance(call.function, type) or result is x or door in SHOWN
            return None if hidden or name not in valid else result

        unread = name in UNREAD or door in LATER or path.endswith("er.likelihood")
        pipeline = name in ("X", "y") and parameter.default is None
        if not (unread or pipeline):
            place = rf"\b{name}s?\b|document|token|estimator|releaser"
            for odd in refused_by(name, valid.get(name), parameter.default):
                error, _ = outcome(run, odd)
                assert isinstance(error, InvalidParameterError), (door, odd, error)
                assert re.search(place, str(error)), door
        given = valid.get(name, parameter.default)
        odd_ones = [] if name in PLACES else [*read_by(given)]
        for odd in odd_ones[turn % share :: share]:
            assert MARK not in outcome(run, odd)[1], door


# What has no name, or is set otherwise.
MORE = {
    "getitem": lambda x: WORDS[x],
    "oov": lambda x: released(oov="error").transform(x),
    "one-hot": lambda x: DPWordPerturber("one-hot").fit(BAGS).transform(x),
    "tokenizer": lambda x: released(tokenizer=lambda text: x).transform(["a"]),
}


@pytest.mark.parametrize("name", MORE)
def test_no_error_or_warning_tells_the_text(name):
    for odd in read_by(TEXTS):
        assert MARK not in outcome(MORE[name], odd)[1]


# -- a matrix in any form gives the same, or is refused ------------------------------


def broken(X, part, value):
    getattr(X, part)[-1] = value
    return X


def in_two_parts(counts):
    """Each entry twice: all but one, which may be none, and one."""
    X = sp.csr_array(counts)
    data = np.column_stack([X.data - 1, np.ones_like(X.data)]).ravel()
    return sp.csr_array((data, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


GOOD = {
    "matrix": sp.csr_matrix,
    "list of keys": sp.dok_array,
    "in two parts": in_two_parts,
    "sparse float64": lambda x: sp.coo_array(x.astype(float)),
    "int8, by columns": lambda x: np.asfortranarray(x, dtype=np.int8),
    # texts, as numbers, are taken from arrays only
    "frame": lambda x: pd.DataFrame(x).astype("Int64"),
    "lists": lambda x: [tuple(row) for row in x.tolist()],
}
BAD = {
    "masked, nothing hidden": np.ma.array,
    "masked rows": lambda x: [np.ma.array(row, mask=row > 1) for row in x],
    "csr -1": lambda x: broken(sp.csr_array(x), "indices", -1),
    "csc far out": lambda x: broken(sp.csc_array(x), "indices", 10**6),
    "coo row -1": lambda x: broken(sp.coo_array(x), "row", -1),
    "coo column -1": lambda x: broken(sp.coo_matrix(x), "col", -1),
    "csr that points on": lambda x: broken(sp.csr_array(x), "indptr", 40),
}
# It is an estimator of the user's that reads it, or what is no matrix is none either.
NO_MATRIX = ("audit.audit_training", "replacement.DPDocumentReplacer.fit")
NO_MATRIX += ("attacks.WordReconstructionAttack.fit",)


def made(call, name, X):
    """What a call makes of a matrix, with the same noise in every call."""
    conftest._entropy.begin("")
    return call({name: X})


def plain(result):
    """What can be compared; of an estimator, what it has learned."""
    if hasattr(result, "fit"):
        learned = {k for k in vars(result) if k.endswith("_")} - {"feature_names_in_"}
        return {k: plain(getattr(result, k)) for k in learned}
    if sp.issparse(result):
        return result.toarray().tolist()
    if isinstance(result, tuple | list | np.ndarray):
        return [plain(each) for each in result]
    # a likelihood, which `log_likelihood` asks, has no value of its own
    return None if callable(result) else repr(result)


@cache
def doors():
    """Each parameter that reads a matrix: its call, good counts, and what it makes."""
    found = {}
    for path, call in CALLS.items():
        for name, valid in call.given().items():
            matrix = isinstance(valid, np.ndarray)
            if path in NO_MATRIX or not (matrix or valid is TEXTS):
                continue
            counts = np.atleast_2d(valid) if matrix else BAGS
            with contextlib.suppress(Exception):
                made(call, name, sp.csr_array(counts))
                found[path, name] = counts, plain(made(call, name, counts))
    methods = {path.rpartition(".")[2] for path, _ in found}
    assert methods >= {"fit", "transform", "predict", "kneighbors", "prepare"}
    assert methods >= {"word_movers_distance", "density_statistics"}
    assert len(found) >= 30
    return found


@pytest.mark.parametrize("form", GOOD)
def test_every_form_gives_the_same(form):
    for (path, name), (counts, expected) in doors().items():
        texts = path.startswith(("attacks.", "inspection."))
        if not (texts and form in ("frame", "lists")):
            X = GOOD[form](counts)
            before = plain(X)
            assert plain(made(CALLS[path], name, X)) == expected, path
            assert plain(X) == before


@pytest.mark.parametrize("kind", BAD)
def test_refused_before_anything_reads_it(kind):
    for (path, name), (counts, _) in doors().items():
        error, said = outcome(CALLS[path], {name: BAD[kind](counts)})
        assert isinstance(error, InvalidParameterError), path
        assert "masked" in said or "well-formed" in said, path


def test_sparse_results_come_in_the_form_that_is_asked_for():
    def results():
        all_made = (made(CALLS[at], name, X) for (at, name), (X, _) in doors().items())
        return [result for result in all_made if sp.issparse(result)]

    matrices = results()
    assert {type(matrix) for matrix in matrices} == {sp.csr_matrix}
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such configuration before 1.9")
    with sklearn.config_context(sparse_interface="sparray"):
        for array, matrix in zip(results(), matrices, strict=True):
            assert isinstance(array, sp.csr_array)
            assert (array != matrix).nnz == 0
