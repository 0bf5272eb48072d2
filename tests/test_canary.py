"""Private text goes where it does not belong, and must come out nowhere.

Tracebacks, warnings and the output of notebooks are kept in logs and shared: what a
call says of bad input may hold its type and its place, never the input.
"""

from __future__ import annotations

import traceback
import warnings
from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import make_documents
from skdptext.embeddings import check_columns, check_embedding, one_hot_embedding
from skdptext.preprocessing import DocumentPreparer, split_known_and_snippet
from skdptext.utils import (
    check_bags,
    check_document,
    check_flag,
    check_integer,
    check_n_jobs,
    check_numbers,
    check_option,
    check_real,
    is_count_matrix,
)

MARK = "zqcanary"
TEXT = f"{MARK} was diagnosed with influenza on Monday"


class Loud:
    """An object that tells all in its repr."""

    def __repr__(self):
        return TEXT


class Refusing:
    """An object that NumPy cannot read, and that says why in full."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"could not convert {TEXT!r}")


# What may hold a text by mistake; made anew for each call, as some are used up.
CONTAINERS = {
    "str": lambda: TEXT,
    "word": lambda: [MARK],
    "np.str_": lambda: np.str_(TEXT),
    "bytes": lambda: TEXT.encode(),
    "bytearray": lambda: bytearray(TEXT.encode()),
    "memoryview": lambda: memoryview(TEXT.encode()),
    "list": lambda: [TEXT],
    "two alike": lambda: [TEXT, TEXT],
    "list of np.str_": lambda: [np.str_(TEXT)],
    "list of bytes": lambda: [TEXT.encode()],
    "text, number": lambda: [TEXT, 7],
    "number, text": lambda: [7, TEXT],
    "text, None": lambda: [TEXT, None],
    "text, nan": lambda: [TEXT, float("nan")],
    "half a surrogate pair": lambda: [TEXT + "\ud800"],
    "tokens": lambda: [[MARK, TEXT]],
    "tokens, number": lambda: [[TEXT, 7]],
    "number, tokens": lambda: [[7, TEXT]],
    "number last": lambda: [[1, 2], [1, TEXT]],
    "ragged": lambda: [[1, 2], [TEXT]],
    "tokens of bytes": lambda: [[TEXT.encode()]],
    "tuple of tuples": lambda: ((TEXT, None),),
    "nested": lambda: [[[TEXT]]],
    "square": lambda: [[TEXT, TEXT], [TEXT, TEXT]],
    "list of dicts": lambda: [{TEXT: TEXT}],
    "list of sets": lambda: [{TEXT}],
    "list of objects": lambda: [Loud(), TEXT],
    "dict of keys": lambda: {TEXT: 1},
    "dict of values": lambda: {"text": [TEXT]},
    "set": lambda: {TEXT},
    "frozenset": lambda: frozenset({TEXT, 3}),
    "deque": lambda: deque([TEXT, 3]),
    "object": Loud,
    "no array": Refusing,
    "list of no array": lambda: [Refusing(), TEXT],
    "exception": lambda: ValueError(TEXT),
    "generator": lambda: (text for text in (TEXT, 7)),
    "generator of bytes": lambda: (text.encode() for text in (TEXT,)),
    "generator of tokens": lambda: (tokens for tokens in ([TEXT, 7],)),
    "map": lambda: map(str.encode, [TEXT]),
    "0-d": lambda: np.array(TEXT),
    "1-d": lambda: np.array([TEXT]),
    "1-d object": lambda: np.array([TEXT, 7], dtype=object),
    "1-d bytes": lambda: np.array([TEXT.encode()]),
    "2-d": lambda: np.array([[TEXT]]),
    "2-d object": lambda: np.array([[1, TEXT]], dtype=object),
    "2-d bytes": lambda: np.array([[TEXT.encode()]]),
    "3-d": lambda: np.array([[[TEXT]]]),
    "masked": lambda: np.ma.array([TEXT, TEXT], mask=[0, 1]),
    "record": lambda: np.array([(1, TEXT)], dtype=[("id", "i4"), ("text", "U60")]),
    "pd.Series": lambda: pd.Series([TEXT]),
    "pd.Series with NA": lambda: pd.Series([TEXT, None], dtype="string"),
    "pd.Series of objects": lambda: pd.Series([TEXT, 7], dtype=object),
    "pd.Series of bytes": lambda: pd.Series([TEXT.encode()]),
    "pd.Series of categories": lambda: pd.Series([TEXT], dtype="category"),
    "pd.Series of lists": lambda: pd.Series([[TEXT, 7]]),
    "pd.Series by text": lambda: pd.Series([1], index=[TEXT]),
    "pd.Series of that name": lambda: pd.Series([1], name=TEXT),
    "pd.Index": lambda: pd.Index([TEXT]),
    "pd.Categorical": lambda: pd.Categorical([TEXT]),
    "pd frame": lambda: pd.DataFrame({"text": [TEXT]}),
    "pd frame, number first": lambda: pd.DataFrame({"id": [1], "text": [TEXT]}),
    "pd frame, number last": lambda: pd.DataFrame({"text": [TEXT], "id": [1]}),
    "pd frame without names": lambda: pd.DataFrame([["x"]], columns=[TEXT]),
    "pd frame of that name": lambda: pd.DataFrame({TEXT: [1.5]}),
    "pd frame of categories": lambda: pd.DataFrame({"t": [TEXT]}, dtype="category"),
    "pl.Series": lambda: pl.Series([TEXT]),
    "pl.Series with null": lambda: pl.Series([TEXT, None]),
    "pl.Series of lists": lambda: pl.Series([[TEXT], [None]]),
    "pl.Series of structs": lambda: pl.Series([{"text": TEXT}]),
    "pl.Series of that name": lambda: pl.Series(TEXT, [1]),
    "pl frame": lambda: pl.DataFrame({"text": [TEXT]}),
    "pl frame, number first": lambda: pl.DataFrame({"id": [1], "text": [TEXT]}),
    "pl frame, number last": lambda: pl.DataFrame({"text": [TEXT], "id": [1]}),
    "pl frame of that name": lambda: pl.DataFrame({TEXT: [1.5]}),
    "pl frame of lists": lambda: pl.DataFrame({"text": [[TEXT, TEXT]]}),
    "pl lazy frame": lambda: pl.LazyFrame({"text": [TEXT]}),
}


def table():
    return WordEmbedding(["w0", "w1"], np.eye(2))


# What is done with it. The results that show themselves are returned.
CALLS = {
    "find": lambda x: table().find(x),
    "find in a list": lambda x: table().find([x]),
    "getitem": lambda x: table()[x],
    "contains": lambda x: x in table(),
    "infer": lambda x: table().infer(x),
    "restrict": lambda x: table().restrict(x),
    "restrict to known": lambda x: table().restrict(["w0", x]),
    "vectors": lambda x: WordEmbedding(["w0"], x),
    "a vector": lambda x: WordEmbedding(["w0"], [[x]]),
    "from_gensim": WordEmbedding.from_gensim,
    "n_words": lambda x: WordEmbedding.load("t.npz", x),
    "encoding_errors": lambda x: WordEmbedding.load("t.npz", encoding_errors=x),
    "check_embedding": check_embedding,
    "check_columns": lambda x: check_columns(x, table()),
    "one_hot_embedding": lambda x: repr(one_hot_embedding(x)),
    "make_documents": make_documents,
    "make_documents length": lambda x: make_documents(table(), length=x),
    "is_count_matrix": is_count_matrix,
    "is_count_matrix of a list": lambda x: is_count_matrix([x]),
    "check_document": lambda x: check_document(x, 3),
    "check_bags": check_bags,
    "check_bags of counts": lambda x: check_bags(x, n_words=2, counts=True),
    "check_real": lambda x: check_real("epsilon", x),
    "check_numbers": lambda x: check_numbers("epsilons", x),
    "check_integer": lambda x: check_integer("n", x, low=0),
    "check_option": lambda x: check_option("oov", x, ("drop", "keep")),
    "check_flag": lambda x: check_flag("lowercase", x),
    "check_n_jobs": check_n_jobs,
    "perturber": lambda x: DPWordPerturber(x).fit([]),
    "perturber epsilon": lambda x: DPWordPerturber(table(), epsilon=x).fit([]),
    "perturber fit": lambda x: DPWordPerturber(table()).fit(x),
    "perturber one-hot": lambda x: DPWordPerturber("one-hot").fit(x),
    "preparer fit": lambda x: DocumentPreparer(table()).fit(x),
    "splitting": lambda x: split_known_and_snippet(x, ["a"]),
}


def told(error):
    """All that a printed or pickled exception tells, and those that led to it."""
    seen = "".join(traceback.format_exception(error))
    seen = "\n".join(  # without the source lines of this test
        line for line in seen.splitlines() if not line.startswith("    ")
    )
    while error is not None:
        seen += f"{error}{error!r}{error.args!r}{getattr(error, '__notes__', '')}"
        if error.__cause__ is None and error.__suppress_context__:
            break
        error = error.__cause__ or error.__context__
    return seen


def said(call, container):
    """What a call says, by exception, warning or the repr and HTML of its result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(container())
        except Exception as error:
            text = told(error)
        else:
            text = "" if result is None else shown_result(result)
    return text + "".join(str(warning.message) for warning in caught)


def shown_result(result):
    if not hasattr(result, "_repr_html_") or isinstance(result, pd.DataFrame):
        return ""
    return repr(result) + (result._repr_html_() or "")


@pytest.mark.parametrize("name", CALLS)
def test_no_error_warning_or_view_tells_the_text(name):
    tell = {
        kind: text
        for kind, container in CONTAINERS.items()
        if MARK in (text := said(CALLS[name], container)).lower()
    }
    assert tell == {}


def test_the_test_can_fail():
    def quoting(x):
        try:
            float(x)
        except ValueError as error:
            raise KeyError("no number") from error

    assert MARK in said(quoting, CONTAINERS["str"])
    assert MARK in said(lambda x: warnings.warn(x, stacklevel=1), CONTAINERS["str"])

    def silent(x):
        try:
            float(x)
        except ValueError:
            raise KeyError("no number") from None

    assert MARK not in said(silent, CONTAINERS["str"])
