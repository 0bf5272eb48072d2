"""Tables that print."""

from __future__ import annotations

from skdptext.inspection._tables import TextTable, as_html, as_text


def test_prints_and_shows_itself():
    table = TextTable(
        "A <b>", ("name", "x"), (("<i>", 1.0), ("long name", 22.5)), "Note & end."
    )
    assert as_text(table).splitlines() == [
        "A <b>",
        "",
        "name            x",
        "-----------------",
        "<i>         1.000",
        "long name  22.500",
        "",
        "Note & end.",
    ]
    view = str(as_html(table))
    assert "&lt;i&gt;" in view
    assert "<i>" not in view
    assert "Note &amp; end." in view
    bare = TextTable("T", ("a",), ())
    assert repr(bare).splitlines() == ["T", "", "a", "-"]
