"""The classes of the page "Published mechanisms in ten lines", run from the page."""

from __future__ import annotations

from doctest import DocTestParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "published_mechanisms.rst"

for _example in DocTestParser().get_examples(PAGE.read_text("utf-8")):
    if _example.source.startswith(("from", "import", "class")):
        exec(_example.source)

if TYPE_CHECKING:
    SanTextPlus: Any
    CusText: Any
    Diffractor: Any
    Vickrey: Any
    Ranked: Any
