"""Corpus of the documentation strings that come with every installation."""

import importlib
import inspect
import itertools
import json
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from configparser import ConfigParser
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.datasets._base import data_home, text_bunch
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_integer,
    check_option,
    quiet,
    replacing,
    shown,
)

# The import name of each library, and the name of its distribution, which users know.
AUTHORS = {
    "gensim": "gensim",
    "numpy": "numpy",
    "ot": "POT",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}

# Topics of modules and objects, by library. The path "." is the library itself.
_TABLE = ConfigParser()
_TABLE.read_string(
    Path(__file__).with_name("docstring_topics.cfg").read_text(encoding="utf-8")
)
TOPIC_OF = {
    f"{library}.{path}".rstrip("."): topic
    for topic in _TABLE.sections()
    for library, paths in _TABLE[topic].items()
    for path in paths.split()
}

# Texts that agree in so many first words count as copies of each other.
_COPY_WORDS = 25
# Texts that share this part of their distinct words are near-copies.
_COPY_SHARE = 0.5

# These are public only if a program imported them by `sklearn.experimental`.
_EXPERIMENTAL = (
    "sklearn.impute._iterative",
    "sklearn.model_selection._search_successive",
)
# SciPy changes its text in place, but not under SCIPY_ARRAY_API.
_REWRITTEN = "numpy.sinc"

_DESCR = f"""\
Public documentation strings of the installed numpy, scipy, scikit-learn, gensim and
POT, each with its topic and its author (the library, whose house style it is written
in). Left out are texts that begin with the same {_COPY_WORDS} words as an earlier one,
and, unless requested, near-copies: of texts that share {_COPY_SHARE:.0%} of their
distinct words, the one with the shortest name stays. Licenses: BSD-3-Clause (numpy,
scipy, scikit-learn), MIT (POT), LGPL-2.1 (gensim). Versions: """

_SIGNATURE = r"\A[\w.]+\([^\n]*\)[^\n]*\n"

# Patterns that each part of `remove` strips.
_REMOVABLE = {
    "examples": [
        r"(?ms)^Examples?[ \t]*\n-{3,}[ \t]*\n.*?(?=^\S[^\n]*\n-{3,}[ \t]*$|\Z)",
        r"(?m)^[ \t]*>>>[^\n]*(?:\n[ \t]*\S[^\n]*)*\n?",
    ],
    "signatures": [_SIGNATURE, r"(?m)^[ \t]*\*{0,2}\w[\w, *]* : [^\n]*\n?"],
    "headers": [
        r"(?m)^[ \t]*\S[^\n]*\n[ \t]*[-=~]{3,}[ \t]*$\n?",
        r"(?m)^[ \t]*\.\. [\w-]+::[^\n]*\n?",
    ],
    # Testing the first letter of a name before the rest halves the time.
    "names": [
        r"(?i)(?=[gnops])\b(?:numpy|np|scipy|scikit[- ]learn|sklearn|gensim|POT|"
        r"ot(?=\.))\b"
    ],
}


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

    The corpus is read from the installed numpy, scipy, scikit-learn, gensim and POT,
    without a download. It is real text with two labels: the *topic*, which a release
    should keep, and the *author*, the library with its house style, which an attacker
    may want to identify. Without near-copies it has some 1,800 documents of 770,000
    words.

    Parameters
    ----------
    topics : iterable of str, default=None
        Names of the topics to load. None loads all.
    authors : iterable of str, default=None
        Libraries to load, among "numpy", "scipy", "scikit-learn", "gensim" and "POT".
        None loads all.
    min_words : int, default=100
        Leave out documents with fewer words (runs of characters between blanks), after
        `remove`.
    remove : iterable of {"examples", "headers", "names", "signatures"}, default=()
        Parts to strip from each document, to keep the form alone from identifying the
        author:

        - "examples": the Examples section, and lines of code (``>>>``) elsewhere with
          their output.
        - "headers": underlined section titles, and directives such as
          ``.. versionadded:: 1.2``.
        - "names": the libraries' own names, ``np`` and ``sklearn`` among them.
        - "signatures": a call signature in the first line, and the lines that declare
          a parameter's type.
    near_copies : bool, default=False
        Whether to keep near-copies: some 1,300 more documents, most of them methods
        that every class documents again. Scores on them are too good, because the copy
        of a test document is often in the training set, and intervals are too narrow.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return data and target as pandas Series, and all columns as `frame`.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with the attributes

        data : list of str
            The documents.
        target : ndarray of shape (n_documents,), int
            Topic of each document, an index into `target_names`.
        target_names : list of str
            Topics, sorted.
        author : ndarray of shape (n_documents,), int
            Library of each document, an index into `author_names`.
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
    The texts change with the versions of the five libraries. With fixed versions, texts
    and order are the same on every machine, except for optional parts of the libraries
    that cannot be imported there.

    The first call imports the five libraries and takes a few seconds. It keeps the
    texts in the folder that the environment variable ``SKDPTEXT_CACHE`` names, or else
    in your cache folder. Later calls, also in other processes, read them from there
    until the version of a library or of Python changes. After installing dependencies
    of optional parts, delete the file to read these parts.

    *Privacy.* The corpus is public, and results learned from it may be published.

    Examples
    --------
    >>> from skdptext.datasets import load_docstrings
    >>> corpus = load_docstrings(topics=["linear algebra", "clustering"])
    >>> corpus.target_names
    ['clustering', 'linear algebra']
    >>> corpus.author_names[corpus.author[corpus.names.index("scipy.linalg.svd")]]
    'scipy'
    """
    chosen_topics = _chosen("topics", topics, sorted(set(TOPIC_OF.values())))
    chosen_authors = _chosen("authors", authors, sorted(AUTHORS.values()))
    removed = _chosen("remove", remove, list(_REMOVABLE))
    min_words = check_integer("min_words", min_words, low=1)
    near_copies = check_option("near_copies", near_copies)

    documents = []
    for name, text, is_copy in _corpus(data_home()):
        topic, author = _topic(name), AUTHORS[name.partition(".")[0]]
        if topic not in chosen_topics or author not in chosen_authors:
            continue
        text = _strip(text, removed) if removed else text
        if len(text.split()) >= min_words and (near_copies or not is_copy):
            documents.append((name, text, topic, author))
    if not documents:
        raise InvalidParameterError(
            "No document is left: lower min_words, or allow more topics and authors, "
            f"got min_words={min_words}, topics={topics!r}, authors={authors!r}."
        )
    names, texts, topic_of, author_of = map(list, zip(*documents, strict=True))
    target_names, target = np.unique(topic_of, return_inverse=True)
    author_names, author_index = np.unique(author_of, return_inverse=True)
    return text_bunch(
        texts,
        target,
        {"name": names, "author": author_index},
        return_X_y,
        as_frame,
        target_names=target_names.tolist(),
        author=author_index,
        author_names=author_names.tolist(),
        names=names,
        DESCR=_DESCR + ", ".join(_library_versions()),
    )


def _topic(name: str) -> str:
    """Get the topic of the longest listed path that the name starts with."""
    while name not in TOPIC_OF:
        name = name.rpartition(".")[0]
    return TOPIC_OF[name]


def _chosen(name: str, value: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """Select the known names that `value` lists; all if it is None."""
    if value is None and name != "remove":
        return list(known)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidParameterError(
            f"{name} must be a list of names, got {shown(value)}."
        )
    wanted = {check_option(f"a name in {name}", item, known) for item in value}
    return [item for item in known if item in wanted]


def _strip(text: str, remove: Iterable[str]) -> str:
    """Strip parts of a text, and join consecutive blank lines."""
    for pattern in itertools.chain.from_iterable(_REMOVABLE[part] for part in remove):
        text = re.sub(pattern, "", text)
    return re.sub(r"\n\s*\n", "\n\n", text).strip()


# -- the corpus, read once and then kept on disk -----------------------------------


@cache
def _corpus(home: Path) -> list[tuple[str, str, bool]]:
    """Load names, texts, and near-copy flags, from a file in `home` if possible.

    Reading them from the installed libraries takes seconds.
    """
    path = home / f"docstrings-{cache_key()}.json"
    if not path.exists():
        with quiet(Warning):
            texts = _walk()
        # The plainest name of near-copies stays: the function instead of its variants.
        names = sorted(texts, key=lambda name: (name.count("."), len(name), name))
        copies = _near_copies([texts[name] for name in names])
        rows = sorted(zip(names, map(texts.get, names), copies, strict=True))
        with replacing(path) as file:
            file.write(json.dumps(rows).encode())
    return [tuple(row) for row in json.loads(path.read_bytes())]


def cache_key() -> str:
    """Compute a key that changes with libraries, Python, or our code.

    The optimization level is part of it, because -OO drops documentation strings.
    """
    code = [p.read_bytes() for p in sorted(Path(__file__).parent.glob("*docstring*"))]
    python = platform.python_version(), sys.flags.optimize
    return sha256(repr((_library_versions(), python, code)).encode()).hexdigest()[:16]


def _library_versions() -> list[str]:
    """Get names and versions of the libraries without importing them."""
    return [
        f"{name} {metadata.version(name)}"
        for module, name in AUTHORS.items()
        if find_spec(module)  # gensim has no wheel for Python 3.14
    ]


def _near_copies(texts: list[str]) -> list[bool]:
    """Check which texts share most of their words with an earlier text that stays.

    Two texts are near-copies if the Jaccard similarity of their sets of words is at
    least one half.
    """
    vectorizer = CountVectorizer(binary=True, token_pattern=r"\w+", dtype=np.float32)
    words = vectorizer.fit_transform(texts)
    size, transposed = np.diff(words.indptr), words.T.tocsr()
    is_copy = np.zeros(len(texts), dtype=bool)
    for i in range(len(texts)):
        both = (words[i] @ transposed).toarray()[0, :i]
        near = both >= _COPY_SHARE * (size[i] + size[:i] - both)
        is_copy[i] = (near & ~is_copy[:i]).any()
    return is_copy.tolist()


def _walk() -> dict[str, str]:
    """Collect all useful documents by the names of their objects; each text once."""
    documents: dict[str, str] = {}
    seen_objects: set[int] = set()
    seen_texts: set[str] = set()
    seen_starts: set[tuple[str, ...]] = set()
    # The deepest module comes first: ot.lp.emd has its own topic, but ot.emd does not.
    for path in sorted(TOPIC_OF, key=lambda path: (-path.count("."), path)):
        try:
            module = importlib.import_module(path)
        except Exception:  # optional or version-dependent parts raise more than imports
            continue
        for name, written in _module_docs(module, seen_objects):
            if written in seen_texts:  # half of all texts: those of inherited methods
                continue
            seen_texts.add(written)
            text = _settle(inspect.cleandoc(written))
            words = re.finditer(r"\w+", re.sub(_SIGNATURE, "", text))
            start = tuple(w[0].lower() for w in itertools.islice(words, _COPY_WORDS))
            if start not in seen_starts:
                seen_starts.add(start)
                documents[name] = text
    return documents


def _module_docs(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Yield names and texts of a module, its functions, classes and their methods."""
    path = module.__name__
    yield from _doc(path, module)
    for name in sorted(set(getattr(module, "__all__", dir(module)))):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except Exception:  # listed in `__all__` but missing, or experimental
            continue
        # An instance, such as a distribution of SciPy, has a text but no name.
        is_named = inspect.isclass(value) or hasattr(value, "__name__")
        if not (callable(value) and is_named and _is_own(value, name, module)):
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield from _doc(f"{path}.{name}", value)
        if not inspect.isclass(value):
            continue
        for method_name in sorted(dir(value)):  # inherited ones too
            method = inspect.getattr_static(value, method_name, None)
            if isinstance(method, staticmethod | classmethod):
                method = method.__func__
            if inspect.isroutine(method) and not method_name.startswith("_"):
                yield from _doc(f"{path}.{name}.{method_name}", method)


def _is_own(value: Any, name: str, module: ModuleType) -> bool:
    """Check whether a module itself documents a value, regardless of other imports."""
    path = module.__name__
    home = getattr(value, "__module__", None)
    # Without __all__, names imported from elsewhere look public too.
    if not hasattr(module, "__all__") and home != path:
        return False
    # SciPy wraps functions of NumPy only under SCIPY_ARRAY_API.
    inner = getattr(inspect.unwrap(value), "__module__", None) or home
    if inner is not None and inner.partition(".")[0] != path.partition(".")[0]:
        return False
    return not f"{home}.".startswith(_EXPERIMENTAL) and f"{path}.{name}" != _REWRITTEN


def _doc(name: str, value: Any) -> Iterator[tuple[str, str]]:
    # SCIPY_ARRAY_API wraps compiled functions, whose texts SciPy cannot change.
    inner = inspect.unwrap(value)
    text = getattr(inner if inspect.isbuiltin(inner) else value, "__doc__", None)
    if isinstance(text, str) and text.strip():
        yield name, text


_NOTE = r"^\*\*Array API Standard Support\*\*\n.*?:ref:`dev-arrayapi`[^\n]*\n"
# The note may occur twice in a row. From SciPy 1.18 on, its blank lines differ.
_NOTE_TWICE = re.compile(rf"(?ms){_NOTE}\s*(?={_NOTE})")


def _settle(text: str) -> str:
    """Remove the parts of a text that differ between runs of Python.

    SciPy writes some texts at import: fresh random numbers, which are marked, names of
    arguments in the order of a set, and a note that it adds twice to a function without
    ``SCIPY_ARRAY_API``.
    """
    text = re.sub(r"(?m)^[^\n]*# may vary\n?", "", _NOTE_TWICE.sub("", text))
    return re.sub(
        r"``\{('[^}\n]*')\}``",
        lambda match: "``{" + ", ".join(sorted(match[1].split(", "))) + "}``",
        text,
    )
