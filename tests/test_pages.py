"""What pages, notebooks and examples are held to when they run."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def conftest():
    checker = doctest.OutputChecker.check_output
    spec = importlib.util.spec_from_file_location("pages", DOCS / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    doctest.OutputChecker.check_output = checker


@pytest.mark.parametrize(
    ("want", "got", "close"),
    [
        ("found: 0.94", "found: 0.92", True),
        ("found: 0.94", "found: 0.87", False),
        ("found 98 % of 100", "found 95 % of 100", True),
        ("found 98 % of 100", "found 90 % of 100", False),
        ("1,016 of 2,071", "1,030 of 2,071", True),
        ("1,016 of 2,071", "1,100 of 2,071", False),
        ("found 98 %", "found 98 % of 100", False),
        ("found 98 %", "missed 98 %", False),
    ],
)
def test_numbers_of_a_page_are_near_those_of_a_run(conftest, want, got, close):
    check = doctest.OutputChecker().check_output
    assert check(want + "\n", got + "\n", conftest.ABOUT) == close
    assert not check(want + "\n", got + "\n", 0)


def test_as_many_texts_are_drawn_as_a_page_shows(conftest):
    check = doctest.OutputChecker().check_output
    assert check("['a b', 'c']\n", "['d', \"it's\"]\n", conftest.DRAWN)
    assert not check("['a b', 'c']\n", "['d']\n", conftest.DRAWN)
