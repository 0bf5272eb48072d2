"""Loops are compiled once, kept on disk where that is possible, or left alone."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from skdptext.utils import compile_loops


def add_one(x):
    return x + 1


def build(njit):
    compiled = njit(fastmath=True)(add_one)
    assert compiled(1) == 2
    return compiled


def test_compiled_cached_and_without_the_lock(monkeypatch):
    asked = []

    def njit(**options):
        asked.append(options)
        return lambda function: function

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))
    assert compile_loops(build) is add_one
    assert asked == [{"nogil": True, "cache": True, "fastmath": True}]


def test_without_numba_there_are_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compile_loops(build) is None


@pytest.mark.parametrize("error", [OSError, RuntimeError])
@pytest.mark.parametrize("when", ["decorated", "called"])
def test_no_place_for_the_cache(monkeypatch, error, when):
    asked = []

    def refuse(*args):
        raise error("no locator available for file")

    def njit(cache, **options):
        asked.append(cache)
        if cache and when == "decorated":
            return refuse
        return (lambda function: refuse) if cache else (lambda function: function)

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))
    assert compile_loops(build) is add_one
    assert asked == [True, False]


def test_numba_itself():
    assert compile_loops(build)(41) == 42
