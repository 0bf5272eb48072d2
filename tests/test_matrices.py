"""A matrix in any form gives the same, or is refused, at every door of the table.

And sparse results: arrays or matrices, as scikit-learn's configuration asks.
"""

from __future__ import annotations

import contextlib
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn

from skdptext import DPDocumentReplacer
from skdptext.exceptions import InvalidParameterError
from skdptext.neighbors import WMDNeighbors
from tests import conftest
from tests.public_calls import BAGS, CALLS, TEXTS, WORDS

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning"),
    pytest.mark.no_cover,
]


def broken(make, counts, row, column):
    X = make(counts)
    if make in (sp.coo_array, sp.coo_matrix):
        X.row[0], X.col[0] = row, column
    else:
        X.indices[0] = column
    return X


def pointing_on(counts):
    X = sp.csr_array(counts)
    X.indptr[-1] = 40
    return X


def in_two_parts(counts):
    """Each entry twice: all but one, which may be none, and one."""
    X = sp.csr_array(counts)
    data = np.column_stack([X.data - 1, np.ones_like(X.data)]).ravel()
    return sp.csr_array((data, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


GOOD = {
    "array": sp.csr_array,
    "matrix": sp.csr_matrix,
    "columns": sp.csc_array,
    "list of keys": sp.dok_array,
    "in two parts": in_two_parts,
    "float32": lambda x: x.astype(np.float32),
    "sparse float64": lambda x: sp.coo_array(x.astype(float)),
    "int8, by columns": lambda x: np.asfortranarray(x, dtype=np.int8),
    "objects": lambda x: x.astype(object),
    "frame": lambda x: pd.DataFrame(x).astype("Int64"),
    "polars": pl.DataFrame,
    "lists": lambda x: [tuple(row) for row in x.tolist()],
}
BAD = {
    "masked": lambda x: np.ma.array(x, mask=x > 1),
    "masked, nothing hidden": np.ma.array,
    "masked rows": lambda x: [np.ma.array(row, mask=row > 1) for row in x],
    "csr -1": lambda x: broken(sp.csr_array, x, 0, -1),
    "csr far out": lambda x: broken(sp.csr_array, x, 0, 10**6),
    "csc -1": lambda x: broken(sp.csc_array, x, 0, -1),
    "coo row -1": lambda x: broken(sp.coo_array, x, -1, 0),
    "coo column -1": lambda x: broken(sp.coo_matrix, x, 0, -1),
    "csr that points on": pointing_on,
}
# They read no matrix, or it is an estimator of the user's that does.
UNREAD = {
    *("audit.audit_training X", "replacement.DPDocumentReplacer.fit X"),
    "attacks.WordReconstructionAttack.fit X",
}


def made(call, name, X):
    """What a call makes of a matrix, with the same noise in every call."""
    conftest._entropy.begin("")
    return call({name: X})


def plain(result):
    """What can be compared; of an estimator, what it has learned."""
    if sp.issparse(result):
        return result.toarray().tolist()
    if isinstance(result, tuple | list | np.ndarray):
        return [plain(each) for each in result]
    if callable(result):  # of a likelihood, which `log_likelihood` asks
        return None
    if hasattr(result, "fit"):
        learned = {k: v for k, v in vars(result).items() if k.endswith("_")}
        learned.pop("feature_names_in_", None)
        return {k: plain(v) for k, v in learned.items()}
    return repr(result)


@cache
def doors():
    """Each parameter that reads a matrix: its call, good counts, and what it makes."""
    found = {}
    for path, call in CALLS.items():
        for name, valid in call.given().items():
            matrix, door = isinstance(valid, np.ndarray), f"{path} {name}"
            if door in UNREAD or not (matrix or valid is TEXTS):
                continue
            counts = np.atleast_2d(valid) if matrix else BAGS
            with contextlib.suppress(Exception):
                made(call, name, sp.csr_array(counts))
                found[door] = call, name, counts, plain(made(call, name, counts))
    return found


def test_doors_of_all_kinds_open():
    opened = {door.rpartition(".")[2] for door in doors()}
    assert opened >= {"fit X", "transform X", "predict X", "kneighbors X", "prepare X"}
    assert opened >= {"word_movers_distance x", "density_statistics X"}
    assert len(doors()) >= 30


@pytest.mark.parametrize("form", GOOD)
def test_every_form_gives_the_same(form):
    for door, (call, name, counts, expected) in doors().items():
        texts = door.startswith(("attacks.", "inspection."))
        if texts and form in ("objects", "frame", "polars", "lists"):
            continue  # as numbers, they take arrays only
        X = GOOD[form](counts)
        before = plain(X)
        assert plain(made(call, name, X)) == expected, door
        assert plain(X) == before


@pytest.mark.parametrize("kind", BAD)
def test_refused_before_anything_reads_it(kind):
    for door, (call, name, counts, _) in doors().items():
        with pytest.raises(InvalidParameterError) as error:
            call({name: BAD[kind](counts)})
        assert "masked" in str(error.value) or "well-formed" in str(error.value), door


def sparse_results():
    """Of all doors, of the replacer, and scikit-learn's graphs."""
    for call, name, counts, _ in doors().values():
        if sp.issparse(result := made(call, name, counts)):
            yield result
    options = {"n_groups": 2, "output": "bow", "embedding": WORDS, "random_state": 0}
    yield DPDocumentReplacer(TEXTS, **options).fit().transform(["another text"])
    yield WMDNeighbors(WORDS, n_neighbors=2).fit(BAGS).kneighbors_graph()
    yield WMDNeighbors(WORDS, radius=1.0).fit(BAGS).radius_neighbors_graph()


def test_sparse_arrays_come_where_they_are_asked_for():
    matrices = list(sparse_results())
    assert len(matrices) >= 7
    assert {type(matrix) for matrix in matrices} == {sp.csr_matrix}
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such configuration before 1.9")
    with sklearn.config_context(sparse_interface="sparray"):
        for array, matrix in zip(sparse_results(), matrices, strict=True):
            assert isinstance(array, sp.csr_array)
            assert array.dtype == matrix.dtype
            assert array.indices.dtype == matrix.indices.dtype
            np.testing.assert_array_equal(array.toarray(), matrix.toarray())
