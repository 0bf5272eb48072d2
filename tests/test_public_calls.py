"""What is given to anything public is read rightly or refused, and never told.

Tracebacks, warnings and the output of notebooks are kept in logs and shared: what a
call says of bad input may hold its type and its place, never the input.
"""

import contextlib
import pickle
import re
import traceback
import warnings
from functools import cache

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn

from skdptext import DPWordPerturber
from skdptext.exceptions import InvalidParameterError
from tests import conftest
from tests.public_calls import BAGS, CALLS, PLACES, TEXTS

MARK = "zqcanary"
TEXT = f"{MARK} was diagnosed with influenza on Monday"


class Loud:
    """An object that tells all in its repr, and to NumPy, which cannot read it."""

    def __repr__(self):
        return TEXT

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"could not convert {TEXT!r}")


@pytest.fixture(autouse=True)
def nothing_is_told(tmp_path, monkeypatch, capfd):
    """Not in warnings or prints; what is given for a path may be written to."""
    monkeypatch.chdir(tmp_path)
    # Each is shown, so that none counts as shown in other tests.
    with warnings.catch_warnings(record=True, action="always") as caught:
        yield
    assert MARK not in f"{capfd.readouterr()}{[str(x.message) for x in caught]}"


# -- input of every kind: what no number, flag or document may be, and holders of it ---

NO_TEXT = (Loud(), TEXT.encode(), {TEXT: TEXT}, frozenset({TEXT}), ValueError(TEXT))
TEXTUAL = (TEXT, np.str_(TEXT), TEXT + "\ud800", [TEXT, MARK], [TEXT.encode(), 7])


def bad_ones(name, valid, default):
    """What a parameter must refuse, and what it may read and must not tell.

    It depends on the kind of what it is given, or of its default.
    """
    odd = [*NO_TEXT, *TEXTUAL]
    if isinstance(default, bool):
        return [2, None, *odd], []
    if isinstance(valid, int | float):
        return [np.nan, [1], *odd] + [-1] * (name != "n_jobs"), []
    refused = [NO_TEXT[0]]
    if valid is TEXTS:
        refused = [TEXT, None, [["w0"]] * 3 + [["w0", 7]], *NO_TEXT]
        refused += [[*TEXTS[:3], x] for x in (None, 7, ["w0", 7], *NO_TEXT)]
    # Other libraries quote what they hold in errors of their own.
    read = [
        *odd, [7, TEXT], (x for x in (TEXT, 7)), np.array(TEXT, dtype=object),
        np.array([[1, TEXT]], dtype=object), np.ma.array([TEXT, TEXT], mask=[0, 1]),
        np.array([(1, TEXT)], dtype=[("id", "i4"), ("text", "O")]),
        pd.Series([TEXT, 7], index=[TEXT, 1], name=TEXT),
        pd.Series([TEXT], dtype="category"), pl.Series(TEXT, [TEXT, None]),
        pd.DataFrame({"id": [1, 2], "text": [TEXT, 7]}), pd.DataFrame({TEXT: [1.5]}),
        pl.DataFrame({"id": [1], TEXT: [TEXT]}), pl.LazyFrame({"text": [TEXT]}),
    ]  # fmt: skip
    for x in odd:  # alone, and among valid ones
        read.append([x] * (len(valid) if isinstance(valid, list) else 1))
        if isinstance(valid, np.ndarray):
            mixed = valid.astype(object)
            mixed.flat[-1] = x
            read += [mixed, mixed.tolist()]
        elif isinstance(valid, list | tuple) and valid:
            read += [[x, *valid[1:]], [*valid[:-1], x]]
    return refused, read


def outcome(call, /, *given, **named):
    """The error of a call, if any, and all that it says, or shows in its result."""
    try:
        result = call(*given, **named)
    except (Exception, SystemExit) as error:
        # without its stack: that shows source lines, those of this test among them
        return error, f"{traceback.format_exception(error, limit=0)}{error.args}"
    # A perturber learns nothing from documents; others are made to keep something. An
    # estimator shows what it is set to, and a guarantee its caveats.
    if isinstance(result, DPWordPerturber) and not isinstance(call.function, type):
        return None, f"{pickle.dumps(result)}"
    shown = hasattr(result, "_repr_html_") and not hasattr(result, "fit")
    return None, f"{result!r}{result._repr_html_()}" if shown else ""


# Parameters that scikit-learn looks at, or nothing does; what is called, a path, may be
# anything. And those that are asked for later, with others, or by what is the user's.
UNREAD = {
    "input_features", "return_distance", "sort_results", "name", "path",
    "self", "WordReconstructionAttack.score y", "label_attack original",
    "audit_training X", "transitions_of mechanism", "PersonAnswers.transform authors",
    "PrivacyGuarantee.epsilon_for n_candidates", "PrivacyGuarantee.from_json embedding",
    "PersonAnswers.transform document_ids", "WordEmbedding.__getitem__ word",
}  # fmt: skip


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", CALLS)
def test_bad_input_is_refused_and_never_told(path, share):
    """What may be read is all given, or a share of it to each parameter, in turns."""
    assert MARK in outcome({}.__getitem__, TEXT)[1]  # what is told is found
    call, before = CALLS[path], np.random.get_state()[1:3]  # noqa: NPY002
    valid = call.given()
    call(**valid)  # else an error of another parameter would hide this one's
    np.testing.assert_equal(np.random.get_state()[1:3], before)  # noqa: NPY002
    for turn, (name, own) in enumerate(call.parameters.items(), len(path)):
        refused, read = bad_ones(name, valid.get(name, own.default), own.default)
        door = f"{path} {name}".split(".", 1)[-1]
        optional = name in ("X", "y") and own.default is None
        if optional or {name, door} & UNREAD or "likelihood " in door:
            refused, read = [], refused + read
        for odd in refused:
            error, said = outcome(call, **{**valid, name: odd})
            assert isinstance(error, InvalidParameterError), (door, odd, error)
            place = rf"\b{name}s?\b|document|token|estimator|releaser"
            assert re.search(place, str(error)), door
            assert MARK not in said, door
        for odd in [] if name in PLACES else read[turn % share :: share]:
            assert MARK not in outcome(call, **{**valid, name: odd})[1], door


# -- a matrix in any form gives the same, or is refused ------------------------------


def broken(X, part, value):
    getattr(X, part)[-1] = value
    return X


def in_two_parts(counts):
    """Each entry twice: all but one, which may be none, and one."""
    X = sp.csr_array(counts)
    data = np.column_stack([X.data - 1, np.ones_like(X.data)]).ravel()
    return sp.csr_array((data, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


FORMS = {
    "matrix": sp.csr_matrix,
    "list of keys": sp.dok_array,
    "in two parts": in_two_parts,
    "sparse float64": lambda x: sp.coo_array(x.astype(float)),
    "int8, by columns": lambda x: np.asfortranarray(x, dtype=np.int8),
    # texts, as numbers, are taken from arrays only
    "frame": lambda x: pd.DataFrame(x).astype("Int64"),
    "lists": lambda x: [tuple(row) for row in x.tolist()],
    "masked, nothing hidden": np.ma.array,
    "masked rows": lambda x: [np.ma.array(row, mask=row > 1) for row in x],
    "broken csr, -1": lambda x: broken(sp.csr_array(x), "indices", -1),
    "broken csc, far out": lambda x: broken(sp.csc_array(x), "indices", 10**6),
    "broken coo, row -1": lambda x: broken(sp.coo_array(x), "row", -1),
}
# It is an estimator of the user's that reads it, or what is no matrix is none either.
NO_MATRIX = r"audit_training|(DPDocumentReplacer|WordReconstructionAttack)\.fit$"


def made(path, name, X):
    """What a call makes of a matrix, with the same noise in every call."""
    conftest._entropy.begin("")
    return CALLS[path](**{name: X})


def plain(result):
    """What can be compared: a selector keeps the type of counts, a search all."""
    getattr(result, "__dict__", {}).pop("_fit_X", None)
    return joblib.hash(result.astype(float) if sp.issparse(result) else result)


@cache
def doors():
    """Each parameter that reads a matrix: its call, good counts, and what it makes."""
    found = {}
    for path, call in CALLS.items():
        for name, valid in call.given().items():
            counts = BAGS if valid is TEXTS else valid
            if not re.search(NO_MATRIX, path) and isinstance(counts, np.ndarray):
                counts = np.atleast_2d(counts)
                with contextlib.suppress(Exception):
                    result = plain(made(path, name, sp.csr_array(counts)))
                    found[path, name] = counts, result
    assert len(found) >= 30
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_in_any_form_gives_the_same_or_is_refused(form):
    for (path, name), (counts, expected) in doors().items():
        X = FORMS[form](counts)
        if form.startswith(("broken", "masked")):
            error, said = outcome(CALLS[path], **{name: X})
            assert isinstance(error, InvalidParameterError), path
            assert "masked" in said or "well-formed" in said, path
        elif not (path.startswith(("attacks.", "ins")) and form in ("frame", "lists")):
            before = str(X)
            assert plain(made(path, name, X)) == expected, path
            assert str(X) == before


def test_sparse_results_come_in_the_form_that_is_asked_for():
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such configuration before 1.9")
    for kind, form in (("spmatrix", sp.csr_matrix), ("sparray", sp.csr_array)):
        with sklearn.config_context(sparse_interface=kind):
            results = [made(*door, X) for door, (X, _) in doors().items()]
        assert {type(x) for x in results if sp.issparse(x)} == {form}
