"""Corpus of the documentation strings that every install has."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from skdptext.datasets._base import get_data_home, text_bunch
from skdptext.datasets._docstring_corpus import (
    COPY_SHARE,
    COPY_WORDS,
    SIGNATURE,
    read_corpus,
)
from skdptext.datasets._docstring_topics import AUTHORS, TOPICS
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_flag, check_integer, import_pandas, shown

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


def load_docstrings(
    *,
    topics: Iterable[str] | None = None,
    authors: Iterable[str] | None = None,
    min_words: int = 100,
    remove: Iterable[str] = (),
    near_copies: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Any:
    """Load the documentation strings of scientific Python, by topic and by author.

    The corpus is read from the installed numpy, scipy, scikit-learn, gensim and POT:
    no download. It is real text with two labels: the *topic* (what a release should
    keep) and the *author* (the library's house style, which an adversary may want to
    recognise). Some 1,800 documents of 770,000 words remain when near-copies are left
    out.

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
    data_home : str or path-like, default=None
        Folder to keep the texts in, see `get_data_home`.

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

    The first call imports the five libraries and takes a few seconds. It keeps the
    texts in the data home, where later calls, in other processes too, find them until
    an installed package changes. Where it cannot write, each process reads them anew.

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
    try:
        home = get_data_home(data_home)
    except OSError:  # no folder can be made there
        home = None

    everything, distinct = read_corpus(home)
    documents = []
    for document in everything if near_copies else distinct:
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
        DESCR=_DESCR.format(n_words=COPY_WORDS, share=COPY_SHARE, versions=versions),
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


# -- stripping what gives the author away ----------------------------------------

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
        text = _DECLARATION.sub("", SIGNATURE.sub("", text))
    if "headers" in remove:
        text = _DIRECTIVE.sub("", _TITLE.sub("", text))
    if "names" in remove:
        text = _NAMES.sub("", text)
    return re.sub(r"\n\s*\n", "\n\n", text).strip()
