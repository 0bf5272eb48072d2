"""HTML views: any text comes out as it went in, and cannot leave its place."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext.utils import bullets, page, table

EVIL = "</style><script>alert('x')</script><b a=\"c\">"
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
texts |= st.just(EVIL)


class Tree(HTMLParser):
    """Tags that are open, all tags, and all text."""

    def __init__(self, view):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(view)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.no_cover
@given(texts, texts, st.lists(texts), st.lists(texts, min_size=3, max_size=3))
def test_any_text_comes_out_as_it_went_in(title, text, items, row):
    tree = Tree(page(title, text, bullets(items), table(row, [row, row])))
    expected = [title, text, *items, *row, *row, *row]
    assert tree.texts == [part for part in expected if part]
    assert tree.tags.isdisjoint({"script", "b"})
