"""Labels that NumPy would take in silence, or stumble over."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from skdptext.attacks import KoppelAuthorClassifier
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import as_labels

# each with what the message must say
WRONG = [
    ([1, "a", None], "must not be missing, got None for document 2"),
    ([1, "a", "b"], "got number for document 0 and text for document 1"),
    (["a", 2.5, "b"], "all text or all numbers, got text for document 0 and number"),
    (["a", b"b", "c"], "of one kind, all text or all numbers, got text for document 0"),
    (["a", np.nan, "b"], "must not be missing, got nan for document 1"),
    ([1.0, 2.0, np.inf], "must not be missing, got inf for document 2"),
    (np.array([0.0, np.nan, 1.0]), f"must not be missing, got {np.float64('nan')!r}"),
    (pd.Series(["a", None, "b"]), "must not be missing, got "),
    (
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        "must not be missing, got a NAType for document 1",
    ),
    (
        pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "missing, got a NaTType for document 1",
    ),
    ([object(), object(), object()], "must be labels that can be sorted"),
    ("abc", "must hold one label per document, got a str of 3 characters."),
    (7, "must hold one label per document, got an int."),
]


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_labels_that_are_no_labels(values, message):
    with pytest.raises(InvalidParameterError, match=re.escape(message)) as error:
        as_labels("y", values)
    assert str(error.value).startswith("y must")
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        KoppelAuthorClassifier().fit(["a text", "another", "third"], values)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "a"],
        (label for label in "aba"),
        [1, 2.0, True],
        [Fraction(1, 2), 1, Fraction(1, 2)],
        [np.str_("a"), "b", "a"],
        np.array(["a", "b", "a"], dtype=object),
        np.array([True, False, True]),
        pd.Series(["a", "b", "a"], index=[5, 6, 7]),
        pd.Categorical(["a", "b", "a"]),
        pd.Series(["a", "b", "a"], dtype="string"),
        pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01"]),
    ],
)
def test_labels_of_one_kind(values):
    labels = as_labels("y", values)
    assert labels.shape == (3,)
    assert len(np.unique(labels)) == 2
