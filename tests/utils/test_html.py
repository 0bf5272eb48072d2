"""HTML views: what they escape, and that browsers can read them."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext.utils import bullets, page, paragraph, table

VOID = {"br", "img", "hr"}


class Tree(HTMLParser):
    """Tags that are open, and all text outside <style>."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def read(view: str) -> Tree:
    tree = Tree()
    tree.feed(view)
    tree.close()
    assert tree.open == []
    return tree


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@pytest.mark.no_cover
@given(title=texts, text=texts, items=st.lists(texts), cell=texts, caption=texts)
def test_any_text_comes_out_as_it_went_in(title, text, items, cell, caption):
    view = page(
        title, paragraph(text), bullets(items), table([cell], [[cell]], caption), text
    )
    tree = read(view)
    expected = [title, text, *items, caption, cell, cell, text]
    assert tree.texts == [part for part in expected if part]
    assert "script" not in tree.tags


def test_text_cannot_leave_its_place():
    evil = "</style><script>alert('x')</script><b a=\"c\">"
    view = page(evil, evil, bullets([evil]), table([evil], [[evil, evil]], evil))
    tags = read(view).tags
    assert "script" not in tags
    assert "b" not in tags
    assert tags.count("style") == 1


def test_table():
    rows = [["a", 2, 0.123456, None], ["b", np.int64(3), np.float32(1e7), True]]
    view = table(["name", "n", "share", "flag"], rows, caption="Shares")
    assert read(view).texts == [
        *["Shares", "name", "n", "share", "flag"],
        *["a", "2", "0.1235", "b", "3", "1e+07", "True"],
    ]
    number = 'class="skdp-number"'
    assert view.count(number) == 6  # two columns of a heading and two cells
    assert f'<th scope="col" {number}>n</th>' in view
    assert '<th scope="row">a</th>' in view
    assert "<caption" not in table(["a"], [])
    assert "∞" in table(["a"], [[math.inf]])


def test_view_is_self_contained_and_themed():
    view = page("t")
    assert view.__html__() == str(view)
    for needed in ("prefers-color-scheme: dark", "--jp-layout-color0", "--vscode-"):
        assert needed in view
    for foreign in ("http", "url(", "<link", "@import"):
        assert foreign not in view
    # every rule is scoped: other outputs of a notebook keep their look
    style = view[view.index("<style>") + 7 : view.index("</style>")]
    heads = [line for line in style.splitlines() if line.rstrip().endswith("{")]
    heads += [line for line in style.splitlines() if line.startswith(".")]
    assert all("skdptext-view" in h or h.startswith("@media") for h in heads if h)
