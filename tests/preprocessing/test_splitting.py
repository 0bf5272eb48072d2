"""Known texts and snippets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext.exceptions import InvalidParameterError
from skdptext.preprocessing import split_known_and_snippet
from tests.expected import refusals

words = st.lists(st.sampled_from(["one", "two,", "three.", "é"]), max_size=14)


@pytest.mark.no_cover
@given(st.lists(words, max_size=5), st.integers(1, 6), st.integers(1, 6))
def test_parts_are_the_first_and_the_last_words(documents, n_known, n_snippet):
    parts = split_known_and_snippet(
        ["\n ".join(doc) for doc in documents],
        n_known=n_known,
        n_snippet=n_snippet,
        too_short="drop",
    )
    long = [i for i, d in enumerate(documents) if len(d) >= n_known + n_snippet]
    assert parts.indices.tolist() == long
    assert [t.split() for t in parts.known] == [documents[i][:n_known] for i in long]
    assert [t.split() for t in parts.snippets] == [
        documents[i][-n_snippet:] for i in long
    ]
    lists = split_known_and_snippet(
        documents, n_known=n_known, n_snippet=n_snippet, too_short="drop"
    )
    assert lists.known == [documents[i][:n_known] for i in long]
    assert lists.snippets == [documents[i][-n_snippet:] for i in long]


@given(st.lists(st.integers(2, 20), max_size=5), st.integers(1, 9), st.integers(1, 9))
def test_shared_parts_are_disjoint_and_keep_the_ratio(lengths, n_known, n_snippet):
    documents = [[f"w{i}" for i in range(n)] for n in lengths]
    known, snippets, indices = split_known_and_snippet(
        documents, n_known=n_known, n_snippet=n_snippet, too_short="share"
    )
    assert indices.tolist() == list(range(len(lengths)))
    for document, first, last in zip(documents, known, snippets, strict=True):
        assert first == document[: len(first)]
        assert last == document[-len(last) :]
        n = len(document)
        if n >= n_known + n_snippet:
            assert (len(first), len(last)) == (n_known, n_snippet)
        else:
            assert len(first) + len(last) == n
            wanted = n * n_known / (n_known + n_snippet)
            assert abs(len(first) - wanted) <= 0.5 or 1 in (len(first), len(last))


def test_text_keeps_its_look():
    text = '  "Well," she said.\n\nThen -- nothing;  the END.\n'
    known, snippets, _ = split_known_and_snippet([text], n_known=4, n_snippet=2)
    assert known == ['"Well," she said.\n\nThen']
    assert snippets == ["the END."]


def test_defaults_are_the_papers():
    text = " ".join(f"w{i}" for i in range(3500))
    known, snippets, _ = split_known_and_snippet([text])
    assert known[0].split() == [f"w{i}" for i in range(2000)]
    assert snippets[0].split() == [f"w{i}" for i in range(2500, 3500)]


def test_too_short():
    documents = ["a b c d e", "a b", "a"]
    with pytest.raises(
        InvalidParameterError,
        match=r"at least 5 words each: 2 of 3 have fewer, first document 1, the "
        r'shortest has 1\. Use too_short="drop"',
    ):
        split_known_and_snippet(documents, n_known=3, n_snippet=2)
    with pytest.raises(InvalidParameterError, match="at least 2 words each to be"):
        split_known_and_snippet(documents, too_short="share")
    parts = split_known_and_snippet(documents, too_short="drop")
    assert parts.known == parts.snippets == []
    assert parts.indices.dtype.kind == "i"


@refusals(
    ({"n_known": 0}, "n_known must be an integer >= 1"),
    ({"n_snippet": 2.5}, "n_snippet must be an integer >= 1"),
    ({"too_short": "pad"}, "too_short must be one of"),
    ({"documents": "text"}, "got a single str"),
    ({"documents": np.eye(2)}, "count matrix has no order"),
    ({"documents": iter(["a b c", None])}, "got None as document 1"),
)
def test_bad_input(change):
    params = {"documents": ["a b c"], "n_known": 1, "n_snippet": 1} | change
    split_known_and_snippet(**params)
