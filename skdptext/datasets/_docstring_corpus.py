"""What the corpus of documentation strings is made of: read once, then kept on disk."""

from __future__ import annotations

import gzip
import importlib
import inspect
import itertools
import json
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from skdptext.datasets import _docstring_topics, _near_copies
from skdptext.datasets._docstring_topics import AUTHORS, TOPICS
from skdptext.datasets._near_copies import first_of_near_copies
from skdptext.utils import quiet, replacing

# Texts whose first words agree, this many of them, count as copies of one another.
COPY_WORDS = 25
# Texts that share so much of their different words are near-copies.
COPY_SHARE = 0.5

# Public only where a program has asked for them by `sklearn.experimental`.
_EXPERIMENTAL = (
    "sklearn.impute._iterative",
    "sklearn.model_selection._search_successive_halving",
)
# SciPy adds to its text in place, and under SCIPY_ARRAY_API does not.
_REWRITTEN = ("numpy.sinc",)


class Document(NamedTuple):
    name: str
    text: str
    topic: str
    author: str


@cache
def read_corpus(home: str | None) -> tuple[list[Document], list[Document]]:
    """All documents, and those that stay without near-copies, by their objects' names.

    Both are read from a file in `home`, if it has one of the same packages; else from
    the installed libraries, which takes seconds, and kept there.
    """
    path = Path(home, _file_name()) if home is not None else None
    kept = _read(path) if path else None
    if kept is None:
        documents = _walk()
        kept = documents, _are_distinct(documents)
        if path:
            _keep(path, *kept)
    documents, is_distinct = kept
    return documents, list(itertools.compress(documents, is_distinct))


# -- the file --------------------------------------------------------------------


def _file_name() -> str:
    """Another one for other texts: of other packages, Python or code of ours.

    Of all packages, not of the five libraries alone, some parts of which can be
    imported only beside others.
    """
    # named after its distribution and version, like what importlib.metadata reads
    folders = {one.name for entry in sys.path for one in Path(entry).glob("*-info")}
    packages = sorted(name for name in folders if not name.startswith("skdptext"))
    modules = (sys.modules[__name__], _docstring_topics, _near_copies)
    code = [inspect.getsource(module) for module in modules]
    # from -OO on, Python drops documentation strings
    python = platform.python_version(), sys.flags.optimize
    digest = sha256(repr((packages, python, code)).encode()).hexdigest()[:16]
    return f"docstrings-{digest}.json.gz"


def _read(path: Path) -> tuple[list[Document], list[bool]] | None:
    """What is kept at `path`; None if nothing is, or it is damaged."""
    try:
        rows, is_distinct = json.loads(gzip.decompress(path.read_bytes()))
        return [Document(*row) for row in rows], is_distinct
    except Exception:  # damage shows in many ways; the libraries repair all of them
        return None


def _keep(path: Path, documents: list[Document], is_distinct: list[bool]) -> None:
    packed = gzip.compress(json.dumps([documents, is_distinct]).encode(), mtime=0)
    with suppress(OSError), replacing(path) as file:  # else it takes seconds again
        file.write(packed)


# -- the libraries ---------------------------------------------------------------


def _walk() -> list[Document]:
    """Every document worth having, in the order of the objects' names."""
    topic_of = {path: topic for topic, paths in TOPICS.items() for path in paths}
    documents: list[Document] = []
    seen_objects: set[int] = set()
    seen_texts: set[str] = set()
    seen_starts: set[tuple[str, ...]] = set()
    with quiet(Warning):
        # The deepest module first: ot.lp.emd has a topic of its own, ot.emd has none.
        for path in sorted(topic_of, key=lambda path: (-path.count("."), path)):
            module = _import(path)
            if module is None:
                continue
            for name, written in _module_docs(module, seen_objects):
                if written in seen_texts:  # as inherited methods have: half of them all
                    continue
                seen_texts.add(written)
                text = _settle(inspect.cleandoc(written))
                words = re.finditer(r"\w+", SIGNATURE.sub("", text))
                first = itertools.islice(words, COPY_WORDS)
                start = tuple(word[0].lower() for word in first)
                if start in seen_starts:
                    continue
                seen_starts.add(start)
                topic = _topic(name, topic_of)
                author = AUTHORS[name.partition(".")[0]]
                documents.append(Document(name, text, topic, author))
    return sorted(documents)


def _are_distinct(documents: list[Document]) -> list[bool]:
    """Which are no near-copy of another: a function stays, its variants go."""
    names = [(one.name.count("."), len(one.name), one.name) for one in documents]
    plainest = sorted(range(len(names)), key=names.__getitem__)
    texts = [documents[i].text for i in plainest]
    is_distinct = np.empty(len(texts), dtype=bool)
    is_distinct[plainest] = first_of_near_copies(texts, COPY_SHARE)
    return is_distinct.tolist()


def _import(path: str) -> ModuleType | None:
    """The module, or None: some versions lack it, some machines its dependencies."""
    try:
        return importlib.import_module(path)
    except Exception:  # optional parts fail in their own ways, not only ImportError
        return None


def _topic(name: str, topic_of: dict[str, str]) -> str:
    while name not in topic_of:
        name = name.rpartition(".")[0]
    return topic_of[name]


def _module_docs(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Names and texts of a module, its functions, classes and their methods."""
    path = module.__name__
    yield from _doc(path, module)
    public = getattr(module, "__all__", None)
    for name in sorted(set(dir(module) if public is None else public)):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except Exception:  # a name that is announced but gone, or deprecated
            continue
        is_class = inspect.isclass(value)
        # An instance, say a distribution, has a text but no name of its own.
        if not is_class and not (callable(value) and hasattr(value, "__name__")):
            continue
        # Without __all__, names imported from elsewhere look public too.
        home = getattr(value, "__module__", None)
        if public is None and home != path:
            continue
        # SciPy wraps a function of NumPy's only under SCIPY_ARRAY_API.
        inner = getattr(inspect.unwrap(value), "__module__", None) or home
        if inner is not None and inner.partition(".")[0] != path.partition(".")[0]:
            continue
        if home in _EXPERIMENTAL or f"{path}.{name}" in _REWRITTEN:
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield from _doc(f"{path}.{name}", value)
        if is_class:
            yield from _class_docs(f"{path}.{name}", value)


def _class_docs(path: str, cls: type) -> Iterator[tuple[str, str]]:
    """Names and texts of the public methods of a class, inherited ones too."""
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        method = inspect.getattr_static(cls, name, None)
        if isinstance(method, staticmethod | classmethod):
            method = method.__func__
        if inspect.isroutine(method):
            yield from _doc(f"{path}.{name}", method)


def _doc(name: str, value: Any) -> Iterator[tuple[str, str]]:
    # SCIPY_ARRAY_API wraps a compiled function, whose own text SciPy cannot change.
    inner = inspect.unwrap(value)
    text = getattr(inner if inspect.isbuiltin(inner) else value, "__doc__", None)
    if isinstance(text, str) and text.strip():
        yield name, text


SIGNATURE = re.compile(r"\A[\w.]+\([^\n]*\)[^\n]*\n")

_NOTE = r"^\*\*Array API Standard Support\*\*\n.*?:ref:`dev-arrayapi`[^\n]*\n"
# One is followed by another, with other blank lines in it from SciPy 1.18 on.
_NOTE_TWICE = re.compile(rf"{_NOTE}\s*(?={_NOTE})", re.MULTILINE | re.DOTALL)


def _settle(text: str) -> str:
    """The text without what differs from one run of Python to the next.

    scipy writes some texts at import: freshly drawn numbers, marked as such, the names
    of arguments in the order of a set, and a note that it adds twice to a function
    without ``SCIPY_ARRAY_API``.
    """
    text = _NOTE_TWICE.sub("", text)
    if "# may vary" in text:
        text = re.sub(r"^[^\n]*# may vary\n?", "", text, flags=re.MULTILINE)
    return re.sub(
        r"``\{('[^}\n]*')\}``",
        lambda match: "``{" + ", ".join(sorted(match[1].split(", "))) + "}``",
        text,
    )
