"""Private text goes where it does not belong, and must come out nowhere.

Tracebacks, warnings and the output of notebooks are kept in logs and shared: what a
call says of bad input may hold its type and its place, never the input.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pickle
import re
import traceback
import warnings
from collections import deque
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import KoppelAuthorClassifier, WordReconstructionAttack
from skdptext.cli import main
from skdptext.datasets import (
    make_documents,
)
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.neighbors import WMDKNNClassifier
from skdptext.release import SUFFIXES, ReleaseKey, release_files
from skdptext.replacement import DPDocumentReplacer
from tests.bad_files import FAULTS, VECTORS
from tests.public_calls import (
    BAGS,
    RESULTS,
    TAKES_NO_TEXT,
    TEXTS,
    VALID,
    api_pages,
    document_release,
    released,
    table,
)

MARK = "zqcanary"
TEXT = f"{MARK} was diagnosed with influenza on Monday"


class Loud:
    """An object that tells all in its repr."""

    def __repr__(self):
        return TEXT


class Refusing:
    """An object that NumPy cannot read, and that says why in full."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"could not convert {TEXT!r}")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """What is given in place of a path may be written to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # nothing crashes here


# What may hold a text by mistake; made anew for each call, as some are used up, but for
# those of pandas and polars, which take longest.
CONTAINERS = {
    "str": lambda: TEXT,
    "word": lambda: [MARK],
    "np.str_": lambda: np.str_(TEXT),
    "bytes": lambda: TEXT.encode(),
    "bytearray": lambda: bytearray(TEXT.encode()),
    "memoryview": lambda: memoryview(TEXT.encode()),
    "list": lambda: [TEXT],
    "two alike": lambda: [TEXT, TEXT],
    "list of np.str_": lambda: [np.str_(TEXT)],
    "list of bytes": lambda: [TEXT.encode()],
    "text, number": lambda: [TEXT, 7],
    "number, text": lambda: [7, TEXT],
    "text, None": lambda: [TEXT, None],
    "text, nan": lambda: [TEXT, float("nan")],
    "half a surrogate pair": lambda: [TEXT + "\ud800"],
    "tokens": lambda: [[MARK, TEXT]],
    "tokens, number": lambda: [[TEXT, 7]],
    "number, tokens": lambda: [[7, TEXT]],
    "number last": lambda: [[1, 2], [1, TEXT]],
    "ragged": lambda: [[1, 2], [TEXT]],
    "tokens of bytes": lambda: [[TEXT.encode()]],
    "tuple of tuples": lambda: ((TEXT, None),),
    "nested": lambda: [[[TEXT]]],
    "square": lambda: [[TEXT, TEXT], [TEXT, TEXT]],
    "list of dicts": lambda: [{TEXT: TEXT}],
    "list of sets": lambda: [{TEXT}],
    "list of objects": lambda: [Loud(), TEXT],
    "dict of keys": lambda: {TEXT: 1},
    "dict of values": lambda: {"text": [TEXT]},
    "set": lambda: {TEXT},
    "frozenset": lambda: frozenset({TEXT, 3}),
    "deque": lambda: deque([TEXT, 3]),
    "object": Loud,
    "no array": Refusing,
    "list of no array": lambda: [Refusing(), TEXT],
    "exception": lambda: ValueError(TEXT),
    "generator": lambda: (text for text in (TEXT, 7)),
    "generator of bytes": lambda: (text.encode() for text in (TEXT,)),
    "generator of tokens": lambda: (tokens for tokens in ([TEXT, 7],)),
    "map": lambda: map(str.encode, [TEXT]),
    "0-d": lambda: np.array(TEXT),
    "1-d": lambda: np.array([TEXT]),
    "1-d object": lambda: np.array([TEXT, 7], dtype=object),
    "1-d bytes": lambda: np.array([TEXT.encode()]),
    "2-d": lambda: np.array([[TEXT]]),
    "2-d object": lambda: np.array([[1, TEXT]], dtype=object),
    "2-d bytes": lambda: np.array([[TEXT.encode()]]),
    "3-d": lambda: np.array([[[TEXT]]]),
    "masked": lambda: np.ma.array([TEXT, TEXT], mask=[0, 1]),
    "record": lambda: np.array([(1, TEXT)], dtype=[("id", "i4"), ("text", "U60")]),
    "pd.Series": lambda: pd.Series([TEXT]),
    "pd.Series with NA": lambda: pd.Series([TEXT, None], dtype="string"),
    "pd.Series of objects": lambda: pd.Series([TEXT, 7], dtype=object),
    "pd.Series of bytes": lambda: pd.Series([TEXT.encode()]),
    "pd.Series of categories": lambda: pd.Series([TEXT], dtype="category"),
    "pd.Series of lists": lambda: pd.Series([[TEXT, 7]]),
    "pd.Series by text": lambda: pd.Series([1], index=[TEXT]),
    "pd.Series of that name": lambda: pd.Series([1], name=TEXT),
    "pd.Index": lambda: pd.Index([TEXT]),
    "pd.Categorical": lambda: pd.Categorical([TEXT]),
    "pd frame": lambda: pd.DataFrame({"text": [TEXT]}),
    "pd frame, number first": lambda: pd.DataFrame({"id": [1], "text": [TEXT]}),
    "pd frame, number last": lambda: pd.DataFrame({"text": [TEXT], "id": [1]}),
    "pd frame without names": lambda: pd.DataFrame([["x"]], columns=[TEXT]),
    "pd frame of that name": lambda: pd.DataFrame({TEXT: [1.5]}),
    "pd frame of categories": lambda: pd.DataFrame({"t": [TEXT]}, dtype="category"),
    "pl.Series": lambda: pl.Series([TEXT]),
    "pl.Series with null": lambda: pl.Series([TEXT, None]),
    "pl.Series of lists": lambda: pl.Series([[TEXT], [None]]),
    "pl.Series of structs": lambda: pl.Series([{"text": TEXT}]),
    "pl.Series of that name": lambda: pl.Series(TEXT, [1]),
    "pl frame": lambda: pl.DataFrame({"text": [TEXT]}),
    "pl frame, number first": lambda: pl.DataFrame({"id": [1], "text": [TEXT]}),
    "pl frame, number last": lambda: pl.DataFrame({"text": [TEXT], "id": [1]}),
    "pl frame of that name": lambda: pl.DataFrame({TEXT: [1.5]}),
    "pl frame of lists": lambda: pl.DataFrame({"text": [[TEXT, TEXT]]}),
    "pl lazy frame": lambda: pl.LazyFrame({"text": [TEXT]}),
}
CONTAINERS |= {
    kind: cache(make) for kind, make in CONTAINERS.items() if kind[:2] in ("pd", "pl")
}


# Calls beside those of `VALID`: what has no name, or is set otherwise.
CALLS = {
    "find in a list": lambda x: table().find([x]),
    "getitem": lambda x: table()[x],
    "contains": lambda x: x in table(),
    "restrict to known": lambda x: table().restrict(["w0", x]),
    "a vector": lambda x: WordEmbedding(["w0"], [[x]]),
    "make_documents length": lambda x: make_documents(table(), length=x),
    "perturber one-hot": lambda x: DPWordPerturber("one-hot").fit(x),
    "perturber transform of a list": lambda x: released().transform([x]),
    "perturber transform with a seed": lambda x: released(random_state=1).transform(x),
    "perturber oov": lambda x: released(oov="error").transform(x),
    "perturber sample": lambda x: released(resize="sample").transform(x),
    "perturber one-hot transform": lambda x: (
        DPWordPerturber("one-hot").fit(BAGS).transform(x)
    ),
    "what the tokenizer returns": lambda x: released(
        tokenizer=lambda text: x
    ).transform(["a"]),
    "exponent of lists": lambda x: released().guarantee().exponent(["w0"], x),
    "pipeline": lambda x: make_pipeline(released(), MultinomialNB()).fit(x, [0]),
}


def told(error):
    """All that a printed or pickled exception tells, and those that led to it."""
    # without its stack: that shows source lines, those of this test among them
    seen = "".join(traceback.format_exception(error, limit=0))
    while error is not None:
        codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
        seen += "".join(f"{code.co_filename}{code.co_name}" for code in codes)
        seen += f"{error}{error!r}{error.args!r}{getattr(error, '__notes__', '')}"
        if error.__cause__ is None and error.__suppress_context__:
            break
        error = error.__cause__ or error.__context__
    return seen


def said(call, container):
    """What a call says, by exception, warning or the repr and HTML of its result."""
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            result = call(container())
        except (Exception, SystemExit) as error:
            text = told(error)
        else:
            text = "" if result is None else shown_result(result)
    return f"{text}{printed.getvalue()}{[str(each.message) for each in caught]}"


def shown_result(result):
    if isinstance(result, DPWordPerturber):
        # it learns nothing from documents; the others are made to keep something
        return repr(result) + result._repr_html_() + repr(pickle.dumps(result))
    if isinstance(result, BaseEstimator):
        return repr(result) + result._repr_html_()
    if not hasattr(result, "_repr_html_") or isinstance(result, pd.DataFrame):
        return ""
    return repr(result) + (result._repr_html_() or "")


@pytest.mark.parametrize("name", CALLS)
def test_no_error_warning_or_view_tells_the_text(name):
    tell = {
        kind: text
        for kind, container in CONTAINERS.items()
        if MARK in (text := said(CALLS[name], container)).lower()
    }
    assert tell == {}


def test_the_test_can_fail():
    def quoting(x):
        try:
            float(x)
        except ValueError as error:
            raise KeyError("no number") from error

    assert MARK in said(quoting, CONTAINERS["str"])
    assert MARK in said(lambda x: warnings.warn(x, stacklevel=1), CONTAINERS["str"])

    def silent(x):
        try:
            float(x)
        except ValueError:
            raise KeyError("no number") from None

    assert MARK not in said(silent, CONTAINERS["str"])


# -- everything public, by its signature ---------------------------------------------

# Parameters that take documents, words, labels or models are given all containers, and
# so are options of mechanisms.
ALL_KINDS = {
    *["X", "Y", "x", "y", "documents", "text", "tokens", "word", "words", "words_or_n"],
    *["released", "releases", "document_ids", "topics", "authors", "groups", "target"],
    *["weights", "prior", "scores", "vectors", "embedding", "model", "perturber"],
    *["releaser", "estimator", "classifier", "search", "result", "adversaries"],
    *["directions", "maximize", "subject_to", "projection", "transform", "n_known"],
    *["stop_words", "token_pattern", "tokenizer", "epsilon", "mechanism", "spread"],
    *["second", "order", "classes", "n_lists", "distribution", "probability"],
}
# These `fit` take documents and topics for scikit-learn's sake, and read none.
READ_NONE = {
    DPDocumentReplacer.fit,
    DPWordPerturber.fit,
    WordReconstructionAttack.fit,
}
# Of the few hundred others each is given containers whose contents libraries quote.
PARAMETERS_ARE_GIVEN = [
    "str",
    "bytes",
    "list",
    "text, number",
    "number, text",
    "tokens, number",
    "number last",
    "dict of keys",
    "dict of values",
    "object",
    "exception",
    "generator",
    "0-d",
    "1-d object",
    "2-d object",
    "pd.Series",
    "pd frame, number first",
    "pd frame of that name",
    "pl.Series of lists",
]


def public():
    """All that users are shown: its name, the object."""
    pages = api_pages()
    for room in pages.rooms():
        for name in pages.names(room):
            yield (
                f"{room}.{name}",
                getattr(importlib.import_module(f"skdptext.{room}"), name),
            )
    yield from ((kind.__name__, kind) for kind in RESULTS)


def methods(kind):
    """Public methods of a class that this package defines and that take something."""
    for name, method in inspect.getmembers(kind, callable):
        ours = (getattr(method, "__module__", "") or "").startswith("skdptext")
        called = name == "__call__" and "__call__" in vars(kind)
        called = called or not (name.startswith("_") or isinstance(method, type))
        if ours and called:
            taken = list(inspect.signature(method).parameters)
            if taken not in ([], ["self"]):
                yield name, method


def test_everything_public_is_given_private_text():
    missing = []
    for name, each in public():
        if each in TAKES_NO_TEXT or _is_exception(each):
            continue
        constructed = not isinstance(each, type) or inspect.signature(each).parameters
        if constructed and each not in VALID and each not in RESULTS:
            missing.append(name)
        for method_name, method in methods(each) if isinstance(each, type) else ():
            if method not in VALID and method not in TAKES_NO_TEXT:
                missing.append(f"{name}.{method_name}")
    assert missing == [], "see tests/public_calls.py: each needs a line there"


def _is_exception(kind):
    return isinstance(kind, type) and issubclass(kind, Exception)


def name_of(function):
    return f"{function.__module__.removeprefix('skdptext.')}.{function.__qualname__}"


def attempts(function, valid):
    """A call for each parameter, that takes what the parameter is given."""
    names = inspect.signature(function).parameters
    run = caller(function)
    for parameter in names.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.name in ("self", *valid.names):
            continue
        given = dict(zip(names, valid.arguments(), strict=False))

        def call(x, given=given, name=parameter.name):
            result = run({**given, name: x})
            valid.use(result)
            # not of an estimator, whose repr shows what it is set to
            shown = name in ALL_KINDS and not isinstance(function, type)
            return result if shown and result is not x else None

        yield parameter.name, call


def kinds_for(function, parameter):
    all_kinds = parameter in ALL_KINDS and function not in READ_NONE
    return CONTAINERS if all_kinds else PARAMETERS_ARE_GIVEN


def caller(function):
    """What calls a function with a dict of its arguments."""
    positional = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_ONLY or name == "self"
    ]

    def call(arguments):
        rest = {k: v for k, v in arguments.items() if k not in positional}
        return function(*(arguments[name] for name in positional), **rest)

    return call


@pytest.mark.parametrize("function", VALID, ids=name_of)
def test_no_parameter_of_anything_public_tells_the_text(function):
    valid = VALID[function]
    tell = {
        (parameter, kind): text
        for parameter, call in attempts(function, valid)
        for kind in kinds_for(function, parameter)
        if MARK in (text := said(call, CONTAINERS[kind])).lower()
    }
    assert tell == {}


# What stands where the others are valid: the first check, of their number or of their
# kind, finds nothing wrong.
ODD = {
    "a text": TEXT,
    "bytes": TEXT.encode(),
    "a surrogate": TEXT + "\ud800",
    "tokens": [MARK, TEXT],
    "tokens, number": [TEXT, 7],
    "keys": {TEXT: 1},
    "an object": Loud(),
    "no array": Refusing(),
}


def among_valid(valid):
    """A valid argument with one odd item, first or last: its kind, what makes it."""
    if isinstance(valid, dict):
        for kind, odd in ODD.items():
            yield f"value: {kind}", {**valid, next(iter(valid), "w0"): odd}
        yield "key", {**valid, TEXT: next(iter(valid.values()), 1)}
    elif isinstance(valid, np.ndarray):
        for kind, odd in ODD.items():
            if not isinstance(odd, list | dict):
                mixed = valid.astype(object)
                mixed.flat[-1] = odd
                yield f"array: {kind}", mixed
                if valid.ndim > 1:
                    yield f"rows: {kind}", mixed.tolist()
    elif isinstance(valid, list | tuple) and valid:
        for kind, odd in ODD.items():
            yield f"first: {kind}", [odd, *valid[1:]]
            yield f"last: {kind}", [*valid[:-1], odd]
        yield "series", pd.Series([*valid[:-1], TEXT], dtype=object)


# scikit-learn shows what a fitted estimator has learned: its classes, and the words of
# texts that must be public
SHOWN = {
    (ChannelNaiveBayes.fit, "y"),
    (WMDKNNClassifier.fit, "y"),
}


def without_a_view(call, x):
    call(x)


def test_text_among_valid_ones_reaches_what_comes_last():
    """A text in a valid X gets through, which alone is refused for its number."""
    passed, fit = [], KoppelAuthorClassifier.fit
    for parameter, call in attempts(fit, VALID[fit]):
        if parameter == "X":
            for kind, odd in among_valid(TEXTS):
                with contextlib.suppress(Exception):
                    call(odd)
                    passed.append(kind)
    assert {"first: a text", "last: a text", "series"} <= set(passed)


@pytest.mark.parametrize("function", VALID, ids=name_of)
def test_no_text_among_valid_ones_is_told(function):
    """Later checks see it, which those before them would hide from a lone one."""
    valid = VALID[function]
    names = inspect.signature(function).parameters
    tell = {}
    for parameter, call in attempts(function, valid):
        given = dict(zip(names, valid.arguments(), strict=False)).get(parameter)
        if (function, parameter) in SHOWN:
            call = partial(without_a_view, call)
        for kind, odd in among_valid(given):
            text = said(call, lambda odd=odd: odd)
            if MARK in text.lower():
                tell[parameter, kind] = text
    assert tell == {}


@pytest.mark.parametrize("function", VALID, ids=name_of)
def test_the_valid_calls_are_valid(function):
    """Otherwise an error of another parameter would hide what this one tells."""
    valid = VALID[function]
    parameters = list(inspect.signature(function).parameters)
    given = dict(zip(parameters, valid.arguments(), strict=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(valid.error):
            valid.use(caller(function)(given))


# -- files and the command line ------------------------------------------------------

# What takes a file of documents; columns `id`, `text` and `n`, which is kept as it is,
# and as numbers.
OPTIONS = ["--embedding", "words.txt", "--epsilon", "1", "--document-length", "2"]
of_texts = cache(partial(document_release, keep=["n"]))
of_numbers = cache(partial(document_release, keep={"n": pa.int64()}))
READERS = {
    "release_files": lambda path: release_files(path, path.parent / "out", of_texts()),
    "release_files, n a number": lambda path: release_files(
        path, path.parent / "out", of_numbers()
    ),
}
# A line for each command of the command line, given the file where it takes one. Those
# that take no documents are given it in place of what they do take.
COMMANDS = {
    "release": lambda path: [
        *("release", path, "--keep", "n", "-o", "out", "--name", "canary"),
        *("--key", "file:key", *OPTIONS),
    ],
    "report": lambda path: ["report", path, path, "--author", "n"],
    "calibrate": lambda path: ["calibrate", *OPTIONS[:2], "--public", path],
    "key": lambda path: ["key", path],
    "verify": lambda path: ["verify", path],
    "learn": lambda path: [
        *("learn", path, "--label", "n", "--author", "id", "--classes", "1", "2"),
        *("--public", "public.csv", "-o", "corpus.csv"),
    ],
}


def command(name):
    def call(path):
        with contextlib.chdir(path.parent):
            table().save("words.txt")
            ReleaseKey.generate("key")
            Path("public.csv").write_text("\n".join(["text", *TEXTS]))
            main(COMMANDS[name](path.name))

    return call


READERS |= {f"skdptext {name}": command(name) for name in COMMANDS}


def test_every_format_is_given_private_text():
    assert set(SUFFIXES) == set(FAULTS)


def test_every_command_is_given_private_text(capsys):
    with pytest.raises(SystemExit):
        main(["no command"])
    named = capsys.readouterr().err.partition("choose from")[2].partition(")")[0]
    assert set(re.findall(r"\w+", named)) == set(COMMANDS)


def tell_of_files(faults, ending, readers, folder):
    """What each reader says of each fault, where it tells the text."""
    tell = {}
    for i, (fault, content) in enumerate(faults(TEXT).items()):
        for j, (name, read) in enumerate(readers.items()):
            place = folder / f"{i}-{j}"
            place.mkdir()
            path = place / f"in{ending}"
            path.write_bytes(content)
            text = said(lambda given, read=read: read(given), lambda path=path: path)
            if MARK in text.lower():
                tell[fault, name] = text
    return tell


@pytest.mark.parametrize("ending", [each for each in FAULTS if "ndjson" not in each])
def test_no_file_of_documents_is_quoted(ending, tmp_path):
    # packed, the text of a file is read as it is otherwise
    once = {"release_files": READERS["release_files"]}
    readers = once if ending.endswith(".gz") else READERS
    assert tell_of_files(FAULTS[ending], ending, readers, tmp_path) == {}


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_another_name_of_a_format_is_read_by_the_same_code(packed):
    assert SUFFIXES[f".ndjson{packed}"] == SUFFIXES[f".jsonl{packed}"]


@pytest.mark.parametrize("ending", VECTORS)
def test_no_file_in_place_of_word_vectors_is_quoted(ending, tmp_path):
    readers = {"load": WordEmbedding.load}
    assert tell_of_files(VECTORS[ending], ending, readers, tmp_path) == {}


def test_no_batch_in_memory_is_quoted():
    """As files of Parquet, which hold any column that Arrow has."""
    tell = {}
    for fault, content in FAULTS[".parquet"](TEXT).items():
        with contextlib.suppress(pa.ArrowException, OSError):
            batch = parquet.read_table(io.BytesIO(content), use_threads=False)
            for release in (of_texts(), of_numbers()):
                text = said(release, lambda batch=batch: batch)
                if MARK in text.lower():
                    tell[fault, str(release.keep)] = text
    assert tell == {}
