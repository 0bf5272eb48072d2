"""Labels that NumPy would take in silence, or stumble over."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPTextClassifier, WMDKNNClassifier
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.preprocessing import TopicWordSelector
from skdptext.utils import as_labels
from tests.expected import refused

# each with what the message must say
WRONG = [
    ([1, "a", None], "must not be missing, got None for document 2"),
    (["a", 2.5, "b"], "got a number for document 1 and text for document 0"),
    (["a", b"b", "c"], "a text or a number, got a bytes for document 1"),
    (["a", Decimal("sNaN"), "b"], "not be missing, got Decimal('sNaN') for document 1"),
    (np.array([0.0, np.nan, 1.0]), "must not be missing, got nan for document 1"),
    (pd.Series(["a", pd.NA, "b"], dtype="string"), "got a NAType for document 1"),
    (pd.to_datetime(["2020-01-01", None, "2021-01-01"]), "got a Timestamp for"),
    (np.array([1, 2, 1], "m8[D]"), "a text or a number, got a timedelta64 for"),
    ([object(), object(), object()], "a text or a number, got an object for"),
    ([("a", "b"), ("c", "d"), ("e", "f")], "a text or a number, got a tuple for"),
    ([1j, 2j, 1j], "a text or a number, got a complex for document 0"),
    ("abc", "must hold one label per document, got a str of 3 characters."),
    (np.array(7), "must hold one label per document, got a ndarray."),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_labels_that_are_no_labels(values, message):
    with refused(rf"^y must.*{re.escape(message[4:])}"):
        as_labels("y", values)
    with refused(re.escape(message)):
        KoppelAuthorClassifier().fit(["a text", "another", "third"], values)


# -- the same labels from any library, and labels that only look alike ----------------

COLUMNS = [
    list,
    tuple,
    np.array,
    lambda x: np.array(x, dtype=object),
    lambda x: np.array(x)[:, None],
    pd.Series,
    lambda x: pd.Series(x, dtype="string" if isinstance(x[0], str) else "Int64"),
    lambda x: pd.Series(x, dtype="category"),
    lambda x: pd.DataFrame({"label": x}),
    pl.Series,
    lambda x: pl.DataFrame({"label": x}),
    pa.array,
    lambda x: pa.chunked_array([x[:1], x[1:]]),
    lambda x: pa.table({"label": x}),
    lambda x: list(pa.array(x)),
    lambda x: (label for label in x),
    lambda x: [type(np.array(x)[0])(label) for label in x],
]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("values", [["b", "a", "b"], [3, 1, 3]])
def test_labels_of_every_library(column, values):
    labels = as_labels("y", column(values))
    assert labels.tolist() == values
    assert labels.dtype.kind in "Ui"


ALIKE = [
    ("film", "film "),
    ("film", "\u00a0film"),
    ("two  words", "two words"),
    ("ann", "ann\0"),
    ("ann", "a\u200bnn"),
    ("\u845b", "\u845b\U000e0100"),  # a variant of a Japanese name
    ("ann", "ann\u2800"),  # a letter of Braille without dots
    ("Zo\u00e9", "Zoe\u0301"),
]


@pytest.mark.parametrize(("one", "other"), [*ALIKE, ("ann", "ANN")])
def test_names_that_look_alike_are_no_two_persons(one, other):
    names = ["tom", one, other]
    for door in (
        lambda: as_labels("authors", np.array(names, dtype=object), people=True),
        lambda: REPLACER.transform(TEXTS, authors=names),
        lambda: REPLACER.person_answers(TEXTS, iter(names)),
        lambda: CLASSIFIER.fit(TEXTS, ["a", "b", "a"], authors=pd.Series(names)),
    ):
        with refused("1 and 2 differ only in case, blanks") as error:
            door()
        assert "tom" not in str(error.value)
    with refused("authors must hold one label per document, got a set"):
        REPLACER.transform(TEXTS, authors={"ann", "tom", "zoe"})


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_that_may_have_been_rounded_name_nobody(dtype):
    first = 2 ** (np.finfo(dtype).nmant + 1)
    assert len(set(as_labels("a", np.array([first - 1, 1], dtype), people=True))) == 2
    with refused("may be several people"):
        as_labels("authors", np.array([first, first + 1], dtype), people=True)


def test_a_person_is_one_in_every_run_however_their_name_is_typed():
    """One key of noise: two answers of one collection would cost ε twice."""
    many = [f"{TEXTS[i % 3]} {i}" for i in range(60)]
    replacer = clone(REPLACER).set_params(random_state=2**90, output="index").fit()
    people = [i // 2 for i in range(60)]
    names = [[f"{zoe} {i}" for i in people] for zoe in ("Zo\u00e9", "Zoe\u0301")]
    kinds = map(list, (pa.array(people), np.float32(people), map(Decimal, people)))
    halves = ([Decimal(f"{i}{half}") for i in people] for half in (".5", ".50"))
    for first, *others in (names, [people, *kinds], halves):
        expected = replacer.transform(many, many, authors=first)
        for each in others:
            again = replacer.person_answers(many, each).transform(each, pa.array(many))
            np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_labels_that_look_alike_are_no_two_labels(one, other):
    y = ["food", one, other]
    for door in (
        lambda: KoppelAuthorClassifier().fit(TEXTS, y),
        lambda: DPTextClassifier(TEXTS).fit(TEXTS, y),
        lambda: DPTextClassifier(TEXTS, classes=y).fit(TEXTS, ["food"] * 3),
        lambda: DPDocumentReplacer(TEXTS, public_labels=y).fit(),
        lambda: TopicWordSelector(tuned_on="public").fit(np.eye(3), y),
        lambda: WMDKNNClassifier("one-hot", n_neighbors=1).fit(np.eye(3), y),
    ):
        with refused("1 and 2 differ only in blank"):
            door()


def test_labels_that_differ_in_case_are_two_with_a_hint():
    message = "^y of documents 0 and 2 differ only in case, and count as two.$"
    with pytest.warns(UserWarning, match=message):
        model = KoppelAuthorClassifier().fit(TEXTS, ["food", "film", "Food"])
    assert model.classes_.tolist() == ["Food", "film", "food"]


TEXTS = ["a cat and a dog", "tea or milk", "the bus was late"]
REPLACER = DPDocumentReplacer(
    [*TEXTS, "more tea"], n_groups=2, allow_shared_texts=True
).fit()
CLASSIFIER = DPTextClassifier([*TEXTS, "more tea"], classes=["a", "b"], n_groups=2)
