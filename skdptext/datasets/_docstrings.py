"""Corpus of the documentation strings that every install has."""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from skdptext.datasets._base import text_bunch
from skdptext.datasets._docstring_topics import AUTHORS, TOPICS
from skdptext.datasets._near_copies import first_of_near_copies
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_flag, check_integer, import_pandas, quiet, shown

_DESCR = """\
Documentation strings of scientific Python
------------------------------------------

Public documentation strings of the installed numpy, scipy, scikit-learn, gensim and
POT, read at run time: modules, functions, classes and public methods. Two labels for
each document: its topic (what it is about; see `target_names`) and its author (the
library, whose house style it is written in; see `author_names`).

Repetitions are left out: objects met before under another name, texts that begin with
the same {n_words} words as an earlier one, and, unless asked for, near-copies: of
texts that share {share:.0%} or more of their different words, the object with the
shortest name stays. The order is that of the objects' names.

The texts depend on the installed versions: {versions}.
They are under the licences of their libraries: BSD-3-Clause (numpy, scipy,
scikit-learn), MIT (POT) and LGPL-2.1 (gensim).
"""

_REMOVABLE = ("examples", "headers", "names", "signatures")

# Texts whose first words agree, this many of them, count as copies of one another.
_COPY_WORDS = 25
# Texts that share so much of their different words are near-copies.
_COPY_SHARE = 0.5

# Public only where a program has asked for them by `sklearn.experimental`.
_EXPERIMENTAL = (
    "sklearn.impute._iterative",
    "sklearn.model_selection._search_successive_halving",
)
# SciPy adds to its text in place, and under SCIPY_ARRAY_API does not.
_REWRITTEN = ("numpy.sinc",)


class _Document(NamedTuple):
    name: str
    text: str
    topic: str
    author: str


def load_docstrings(
    *,
    topics: Iterable[str] | None = None,
    authors: Iterable[str] | None = None,
    min_words: int = 100,
    remove: Iterable[str] = (),
    near_copies: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the documentation strings of scientific Python, by topic and by author.

    The corpus is read from the installed numpy, scipy, scikit-learn, gensim and POT:
    no download, and nothing is stored. It is real text with two labels: the *topic*
    (what a release should keep) and the *author* (the library's house style, which an
    adversary may want to recognise). Some 1,800 documents of 770,000 words remain when
    near-copies are left out.

    Parameters
    ----------
    topics : iterable of str, default=None
        Topics to load, by name. None: all.
    authors : iterable of str, default=None
        Libraries to load, of "numpy", "scipy", "scikit-learn", "gensim" and "POT".
        None: all.
    min_words : int, default=100
        Leave out documents with fewer words (runs of characters between blanks), after
        `remove`.
    remove : iterable of {"examples", "headers", "names", "signatures"}, default=()
        What to strip from each document, so that the author cannot be recognised by the
        form alone:

        - "examples": the Examples section, and lines of code (``>>>``) elsewhere with
          their output.
        - "headers": underlined section titles, and directives such as
          ``.. versionadded:: 1.2``.
        - "names": the libraries' own names, ``np`` and ``sklearn`` among them.
        - "signatures": a call signature in the first line, and the lines that declare
          a parameter's type.
    near_copies : bool, default=False
        Keep the near-copies, too: some 1,300 documents more, most of them methods that
        are documented again in every class. Scores on them are too good, since the copy
        of a test document is often in the training set, and intervals too narrow.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data and target as pandas Series, and all columns as `frame`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with the attributes

        data : list of str
            The documents.
        target : ndarray of shape (n_documents,), int
            Topic of each, an index into `target_names`.
        target_names : list of str
            Topics, sorted.
        author : ndarray of shape (n_documents,), int
            Library of each, an index into `author_names`.
        author_names : list of str
            Libraries, sorted.
        names : list of str
            Dotted name of the object that each document describes.
        frame : DataFrame or None
            With `as_frame`: columns text, name, author and target.
        DESCR : str
            Description of the corpus.
    (data, target) : tuple if `return_X_y`
        Documents and topics.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or no document is left.

    Notes
    -----
    The texts change with the versions of the five libraries; with the versions fixed
    they and their order are the same on every machine, except for optional parts of the
    libraries that cannot be imported there.

    The first call imports the five libraries and takes a few seconds; later calls in
    the same process reuse the result.

    *Privacy.* The corpus is public, so whatever is learned from it may be too.

    Examples
    --------
    >>> from skdptext.datasets import load_docstrings
    >>> corpus = load_docstrings(topics=["linear algebra", "clustering"])
    >>> corpus.target_names
    ['clustering', 'linear algebra']
    >>> corpus.author_names[corpus.author[corpus.names.index("scipy.linalg.svd")]]
    'scipy'
    """
    chosen_topics = _check_names("topics", topics, sorted(TOPICS))
    chosen_authors = _check_names("authors", authors, sorted(AUTHORS.values()))
    removed = _check_names("remove", remove, _REMOVABLE)
    min_words = check_integer("min_words", min_words, low=1)
    near_copies = check_flag("near_copies", near_copies)
    return_X_y = check_flag("return_X_y", return_X_y)
    if check_flag("as_frame", as_frame):
        import_pandas("as_frame=True")  # before the work, not after it

    documents = []
    for document in _walk() if near_copies else _distinct():
        if document.topic in chosen_topics and document.author in chosen_authors:
            text = _strip(document.text, removed) if removed else document.text
            if len(text.split()) >= min_words:
                documents.append(document._replace(text=text))
    if not documents:
        raise InvalidParameterError(
            "No document is left: lower min_words or allow more topics and authors, "
            f"got min_words={min_words}, topics={topics!r}, authors={authors!r}."
        )
    target_names, target = np.unique([d.topic for d in documents], return_inverse=True)
    author_names, author = np.unique([d.author for d in documents], return_inverse=True)
    names = [document.name for document in documents]
    versions = ", ".join(f"{name} {version}" for name, version in library_versions())
    return text_bunch(
        [document.text for document in documents],
        target,
        columns={"name": names, "author": author},
        return_X_y=return_X_y,
        as_frame=as_frame,
        target_names=target_names.tolist(),
        author=author,
        author_names=author_names.tolist(),
        names=names,
        DESCR=_DESCR.format(n_words=_COPY_WORDS, share=_COPY_SHARE, versions=versions),
    )


def library_versions() -> list[tuple[str, str]]:
    """Versions of the five libraries, read without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    versions = []
    for name in sorted(AUTHORS.values()):
        try:
            versions.append((name, version(name)))
        except PackageNotFoundError:
            versions.append((name, "none"))
    return versions


def _check_names(
    name: str, value: Iterable[str] | None, known: Collection[str]
) -> frozenset[str]:
    if value is None and name != "remove":
        return frozenset(known)
    rule = f"{name} must be an iterable of names among {', '.join(map(repr, known))}"
    if isinstance(value, str | bytes):
        raise InvalidParameterError(
            f"{name} must be a list of names, not a {type(value).__name__}, got "
            f"{shown(value)}: write [{shown(value)}]."
        )
    if not isinstance(value, Iterable):
        raise InvalidParameterError(f"{rule}, got {shown(value)}.")
    chosen = list(value)
    unknown = [item for item in chosen if item not in known]
    if unknown:
        raise InvalidParameterError(f"{rule}, got {shown(unknown[0])}.")
    return frozenset(chosen)


# -- reading the libraries -------------------------------------------------------


@cache
def _walk() -> tuple[_Document, ...]:
    """Every document worth having, in the order of the objects' names."""
    topic_of = {path: topic for topic, paths in TOPICS.items() for path in paths}
    documents: list[_Document] = []
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
                words = re.finditer(r"\w+", _SIGNATURE.sub("", text))
                first = itertools.islice(words, _COPY_WORDS)
                start = tuple(word[0].lower() for word in first)
                if start in seen_starts:
                    continue
                seen_starts.add(start)
                topic = _topic(name, topic_of)
                author = AUTHORS[name.partition(".")[0]]
                documents.append(_Document(name, text, topic, author))
    return tuple(sorted(documents))


@cache
def _distinct() -> tuple[_Document, ...]:
    """The documents without near-copies: a function stays, its variants go."""
    plainest = sorted(
        _walk(), key=lambda one: (one.name.count("."), len(one.name), one.name)
    )
    is_first = first_of_near_copies([one.text for one in plainest], _COPY_SHARE)
    return tuple(sorted(itertools.compress(plainest, is_first)))


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


# -- stripping what gives the author away ----------------------------------------

_SIGNATURE = re.compile(r"\A[\w.]+\([^\n]*\)[^\n]*\n")
_TITLE = re.compile(r"^[ \t]*\S[^\n]*\n[ \t]*[-=~]{3,}[ \t]*$\n?", re.MULTILINE)
_EXAMPLES = re.compile(
    r"^Examples?[ \t]*\n-{3,}[ \t]*\n.*?(?=^\S[^\n]*\n-{3,}[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"^[ \t]*>>>[^\n]*(?:\n[ \t]*\S[^\n]*)*\n?", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*\.\. [\w-]+::[^\n]*\n?", re.MULTILINE)
_DECLARATION = re.compile(r"^[ \t]*\*{0,2}\w[\w, *]* : [^\n]*\n?", re.MULTILINE)
# the letters that a name may begin with come first: they halve the time
_NAMES = re.compile(
    r"(?=[gnops])\b(?:numpy|np|scipy|scikit[- ]learn|sklearn|gensim|POT|ot(?=\.))\b",
    re.IGNORECASE,
)


def _strip(text: str, remove: frozenset[str]) -> str:
    """The text without the parts named; blank lines are run together."""
    if "examples" in remove:
        text = _CODE.sub("", _EXAMPLES.sub("", text))
    if "signatures" in remove:
        text = _DECLARATION.sub("", _SIGNATURE.sub("", text))
    if "headers" in remove:
        text = _DIRECTIVE.sub("", _TITLE.sub("", text))
    if "names" in remove:
        text = _NAMES.sub("", text)
    return re.sub(r"\n\s*\n", "\n\n", text).strip()
