"""Private text goes where it does not belong, and must come out nowhere.

Tracebacks, warnings and the output of notebooks are kept in logs and shared: what a
call says of bad input may hold its type and its place, never the input.
"""

from __future__ import annotations

import contextlib
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
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.cli import main
from skdptext.datasets import make_documents
from skdptext.release import SUFFIXES, ReleaseKey, release_files
from tests.bad_files import FAULTS, VECTORS
from tests.public_calls import (
    BAGS,
    CALLS,
    FAILS,
    NAMES,
    TEXTS,
    WORDS,
    document_release,
    released,
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


def objects(x):
    """Which NumPy does not look into as it is made."""
    array = np.full(2, 7, dtype=object)
    array[0] = x
    return array


# What stands where a text does not belong, and what may hold it there. Generators are
# used up: each call is given its own.
ITEMS = {
    "text": TEXT,
    "np.str_": np.str_(TEXT),
    "bytes": TEXT.encode(),
    "surrogate": TEXT + "\ud800",
    "tokens": [TEXT, MARK],
    "tokens, number": [TEXT, 7],
    "tokens of bytes": [TEXT.encode()],
    "dict": {TEXT: TEXT},
    "set": frozenset({TEXT, 3}),
    "object": Loud(),
    "no array": Refusing(),
    "exception": ValueError(TEXT),
}
HOLDERS = {
    "alone": lambda x: x,
    "list": lambda x: [x],
    "twice": lambda x: [x, x],
    "number last": lambda x: [x, 7],
    "number first": lambda x: [7, x],
    "None last": lambda x: (x, None),
    "nested": lambda x: [[[x]]],
    "ragged": lambda x: [[1, 2], [x]],
    "second row": lambda x: [[1, 2], [1, x]],
    "values": lambda x: {"text": [x]},
    "generator": lambda x: (each for each in (x, 7)),
    "deque": lambda x: deque([x, 3]),
    "objects": lambda x: objects(x),
    "pd.Series": lambda x: pd.Series(objects(x)),
    "pd frame": lambda x: pd.DataFrame({"id": [1, 2], "text": objects(x)}),
}
# Tables and arrays of other libraries, whose own errors quote.
TABLES = {
    "bytearray": lambda: bytearray(TEXT.encode()),
    "memoryview": lambda: memoryview(TEXT.encode()),
    "map": lambda: map(str.encode, [TEXT]),
    "0-d": lambda: np.array(TEXT),
    "1-d": lambda: np.array([TEXT]),
    "1-d bytes": lambda: np.array([TEXT.encode()]),
    "2-d": lambda: np.array([[TEXT]]),
    "2-d object": lambda: np.array([[1, TEXT]], dtype=object),
    "3-d": lambda: np.array([[[TEXT]]]),
    "masked": lambda: np.ma.array([TEXT, TEXT], mask=[0, 1]),
    "record": lambda: np.array([(1, TEXT)], dtype=[("id", "i4"), ("text", "U60")]),
    "pd.Series with NA": lambda: pd.Series([TEXT, None], dtype="string"),
    "pd.Series of categories": lambda: pd.Series([TEXT], dtype="category"),
    "pd.Series by text": lambda: pd.Series([1], index=[TEXT]),
    "pd.Series of that name": lambda: pd.Series([1], name=TEXT),
    "pd.Index": lambda: pd.Index([TEXT]),
    "pd.Categorical": lambda: pd.Categorical([TEXT]),
    "pd frame, number last": lambda: pd.DataFrame({"text": [TEXT], "id": [1]}),
    "pd frame of that name": lambda: pd.DataFrame({TEXT: [1.5]}),
    "pd frame of categories": lambda: pd.DataFrame({"t": [TEXT]}, dtype="category"),
    "pl.Series": lambda: pl.Series([TEXT, None]),
    "pl.Series of lists": lambda: pl.Series([[TEXT], [None]]),
    "pl.Series of structs": lambda: pl.Series([{"text": TEXT}]),
    "pl.Series of that name": lambda: pl.Series(TEXT, [1]),
    "pl frame, number first": lambda: pl.DataFrame({"id": [1], "text": [TEXT]}),
    "pl frame of that name": lambda: pl.DataFrame({TEXT: [1.5]}),
    "pl frame of lists": lambda: pl.DataFrame({"text": [[TEXT, TEXT]]}),
    "pl lazy frame": lambda: pl.LazyFrame({"text": [TEXT]}),
}
FEW = {
    f"{item}, {holder}": partial(hold, ITEMS[item])
    for holder, hold in HOLDERS.items()
    for item in ITEMS
    if item == "text" or holder == "alone"
}
PAIRS = {
    f"{item}, {holder}": partial(HOLDERS[holder], ITEMS[item])
    for holder in ("list", "number last")
    for item in ITEMS
}
LONE = TABLES | FEW | PAIRS


def among_valid(valid):
    """A valid argument with one odd item, first or last: kind, what makes it.

    The first check, of their number or of their kind, finds nothing wrong.
    """
    for kind, odd in ITEMS.items():
        if isinstance(valid, dict):
            yield f"value: {kind}", {**valid, next(iter(valid), "w0"): odd}
        elif isinstance(valid, np.ndarray):
            mixed = valid.astype(object)
            mixed.flat[-1] = odd
            yield f"array: {kind}", mixed
            yield f"rows: {kind}", mixed.tolist()
        elif isinstance(valid, list | tuple) and valid:
            yield f"first: {kind}", [odd, *valid[1:]]
            yield f"last: {kind}", [*valid[:-1], odd]
    if isinstance(valid, dict):
        yield "key", {**valid, TEXT: next(iter(valid.values()), 1)}
    elif isinstance(valid, list | tuple) and valid:
        yield "series", pd.Series([*valid[:-1], TEXT], dtype=object)


# Calls beside those of the table: what has no name, or is set otherwise.
MORE = {
    "find in a list": lambda x: WORDS.find([x]),
    "getitem": lambda x: WORDS[x],
    "contains": lambda x: x in WORDS,
    "restrict to known": lambda x: WORDS.restrict(["w0", x]),
    "a vector": lambda x: WordEmbedding(["w0"], [[x]]),
    "make_documents length": lambda x: make_documents(WORDS, length=x),
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


def test_the_test_can_fail():
    def quoting(x):
        try:
            float(x)
        except ValueError as error:
            raise KeyError("no number") from error

    assert MARK in said(quoting, partial(str, TEXT))
    assert MARK in said(lambda x: warnings.warn(x, stacklevel=1), partial(str, TEXT))

    def silent(x):
        try:
            float(x)
        except ValueError:
            raise KeyError("no number") from None

    assert MARK not in said(silent, partial(str, TEXT))


def tell(call, things):
    """What a call says of each thing that it is given, where it tells the text."""
    said_of = ((kind, said(call, thing)) for kind, thing in things.items())
    return {kind: text for kind, text in said_of if MARK in text.lower()}


# Results show it: a caveat; scikit-learn shows the classes that were learned.
SHOWN = {"ChannelNaiveBayes.fit", "_WordMovers.fit", "PrivacyGuarantee.with_caveat"}


def attempts(call):
    """For each parameter, a call that takes what it is given, and that it may be."""
    for name, parameter in call.signature.parameters.items():
        skipped = ("self", *NAMES.get(call.function, ()))
        if name in skipped or parameter.kind is parameter.VAR_KEYWORD:
            continue
        valid = call.given()

        def run(x, valid=valid, name=name):
            result = call({**valid, name: x})
            # not of an estimator that is made, whose repr shows what it is set to
            hidden = result is x or isinstance(call.function, type)
            hidden |= name in ("y", "caveat") and call.function.__qualname__ in SHOWN
            return None if hidden or name not in valid else result

        among = among_valid(valid.get(name))
        optional = parameter.default is None
        unread = optional and call.function.__name__ == "fit"  # for scikit-learn's sake
        lone = FEW if unread or not (optional or name in valid) else LONE
        yield name, run, lone | {kind: partial(lambda x: x, x) for kind, x in among}


@pytest.mark.parametrize("name", CALLS)
def test_no_parameter_of_anything_public_tells_the_text(name):
    call = CALLS[name]
    with warnings.catch_warnings(), contextlib.suppress(FAILS.get(call.function, ())):
        warnings.simplefilter("ignore")
        call(call.given())  # else an error of another parameter would hide this one's
    told_of = {
        parameter: tell(run, things) for parameter, run, things in attempts(call)
    }
    assert not any(told_of.values()), told_of


@pytest.mark.parametrize("name", MORE)
def test_no_error_warning_or_view_tells_the_text(name):
    assert tell(MORE[name], LONE) == {}


def test_text_among_valid_ones_reaches_what_comes_last():
    """A text in a valid X gets through, which alone is refused for its number."""
    fit = next(c for c in CALLS.values() if c.function is KoppelAuthorClassifier.fit)
    run = next(run for name, run, _ in attempts(fit) if name == "X")
    run([*TEXTS[:-1], TEXT])


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
            WORDS.save("words.txt")
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


def tell_of(faults, ending, readers, folder):
    """What each reader says of each fault, where it tells the text."""
    tells = {}
    for i, (fault, content) in enumerate(faults(TEXT).items()):
        for j, (name, read) in enumerate(readers.items()):
            place = folder / f"{i}-{j}"
            place.mkdir()
            path = place / f"in{ending}"
            path.write_bytes(content)
            text = said(lambda given, read=read: read(given), lambda path=path: path)
            if MARK in text.lower():
                tells[fault, name] = text
    return tells


@pytest.mark.parametrize("ending", [each for each in FAULTS if "ndjson" not in each])
def test_no_file_of_documents_is_quoted(ending, tmp_path):
    # packed, the text of a file is read as it is otherwise
    once = {"release_files": READERS["release_files"]}
    readers = once if ending.endswith(".gz") else READERS
    assert tell_of(FAULTS[ending], ending, readers, tmp_path) == {}


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_another_name_of_a_format_is_read_by_the_same_code(packed):
    assert SUFFIXES[f".ndjson{packed}"] == SUFFIXES[f".jsonl{packed}"]


@pytest.mark.parametrize("ending", VECTORS)
def test_no_file_in_place_of_word_vectors_is_quoted(ending, tmp_path):
    readers = {"load": WordEmbedding.load}
    assert tell_of(VECTORS[ending], ending, readers, tmp_path) == {}


def test_no_batch_in_memory_is_quoted():
    """As files of Parquet, which hold any column that Arrow has."""
    tells = {}
    for fault, content in FAULTS[".parquet"](TEXT).items():
        with contextlib.suppress(pa.ArrowException, OSError):
            batch = parquet.read_table(io.BytesIO(content), use_threads=False)
            for release in (of_texts(), of_numbers()):
                text = said(release, lambda batch=batch: batch)
                if MARK in text.lower():
                    tells[fault, str(release.keep)] = text
    assert tells == {}
