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

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.cli import main
from skdptext.release import SUFFIXES, ReleaseKey, release_files
from tests.bad_files import FAULTS, VECTORS
from tests.public_calls import (
    BAGS,
    CALLS,
    PLACES,
    TEXTS,
    WORDS,
    document_release,
    released,
)

MARK = "zqcanary"
TEXT = f"{MARK} was diagnosed with influenza on Monday"


class Loud:
    """An object that tells all in its repr, and to NumPy, which cannot read it."""

    def __repr__(self):
        return TEXT

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


# What stands where a text does not belong, and what may hold it there: other libraries
# quote in errors of their own. Generators are used up: each call is given its own.
ITEMS = {
    "text": TEXT,
    "np.str_": np.str_(TEXT),
    "bytes": TEXT.encode(),
    "surrogate": TEXT + "\ud800",
    "tokens": [TEXT, MARK],
    "tokens of bytes": [TEXT.encode(), 7],
    "dict": {TEXT: TEXT},
    "set": frozenset({TEXT, 3}),
    "object": Loud(),
    "exception": ValueError(TEXT),
}
HOLDERS = {
    "twice": lambda x: [x, x],
    "number last": lambda x: [x, 7],
    "number first": lambda x: [7, x],
    "None last": lambda x: (x, None),
    "nested": lambda x: [[[x]]],
    "ragged": lambda x: [[1, 2], [x]],
    "second row": lambda x: [[1, 2], [1, x]],
    "values": lambda x: {"text": [x]},
    "generator": lambda x: (each for each in (x, 7)),
    "map": lambda x: map(str.encode, [x]),
    "deque": lambda x: deque([x, 3]),
    "memoryview": lambda x: memoryview(x.encode()),
    "objects": objects,
    "0-d": np.array,
    "1-d bytes": lambda x: np.array([x.encode()]),
    "2-d": lambda x: np.array([[x]]),
    "2-d object": lambda x: np.array([[1, x]], dtype=object),
    "3-d": lambda x: np.array([[[x]]]),
    "masked": lambda x: np.ma.array([x, x], mask=[0, 1]),
    "record": lambda x: np.array([(1, x)], dtype=[("id", "i4"), ("text", "U60")]),
    "pd.Series": lambda x: pd.Series(objects(x)),
    "pd.Series with NA": lambda x: pd.Series([x, None], dtype="string"),
    "pd.Series of categories": lambda x: pd.Series([x], dtype="category"),
    "pd.Series by text": lambda x: pd.Series([1], index=[x], name=x),
    "pd.Index": lambda x: pd.Index([x]),
    "pd frame": lambda x: pd.DataFrame({"id": [1, 2], "text": objects(x)}),
    "pd frame of that name": lambda x: pd.DataFrame({x: [1.5]}),
    "pl.Series": lambda x: pl.Series(x, [x, None]),
    "pl.Series of lists": lambda x: pl.Series([[x], [None]]),
    "pl.Series of structs": lambda x: pl.Series([{"text": x}]),
    "pl frame, number first": lambda x: pl.DataFrame({"id": [1], "text": [x]}),
    "pl frame of that name": lambda x: pl.DataFrame({x: [1.5]}),
    "pl lazy frame": lambda x: pl.LazyFrame({"text": [x]}),
}
ALONE = {item: lambda x=x: x for item, x in ITEMS.items()}
THINGS = {
    **ALONE,
    **{f"list of {item}": lambda x=x: [x] for item, x in ITEMS.items()},
    **{holder: partial(hold, TEXT) for holder, hold in HOLDERS.items()},
}


def among_valid(valid):
    """A valid argument with one odd item, first or last: kind, what makes it.

    The first check, of their number or of their kind, finds nothing wrong.
    """
    for kind, odd in ITEMS.items():
        if isinstance(valid, dict):
            yield f"value: {kind}", {**valid, next(iter(valid), "w0"): odd}
            yield "key", {**valid, TEXT: 1}
        elif isinstance(valid, np.ndarray):
            mixed = valid.astype(object)
            mixed.flat[-1] = odd
            yield f"array: {kind}", mixed
            yield f"rows: {kind}", mixed.tolist()
        elif isinstance(valid, list | tuple) and valid:
            yield f"first: {kind}", [odd, *valid[1:]]
            yield f"last: {kind}", [*valid[:-1], odd]
            yield "series", pd.Series([*valid[:-1], TEXT], dtype=object)


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


def said(call, thing):
    """What a call says, by exception, warning or the repr and HTML of its result."""
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            text = shown_result(call(thing()))
        except (Exception, SystemExit) as error:
            text = told(error)
    return f"{text}{printed.getvalue()}{[str(each.message) for each in caught]}"


def shown_result(result):
    if not hasattr(result, "_repr_html_") or isinstance(result, pd.DataFrame):
        return ""
    shown = repr(result) + (result._repr_html_() or "")
    if isinstance(result, DPWordPerturber):
        # it learns nothing from documents; the others are made to keep something
        shown += repr(pickle.dumps(result))
    return shown


def tell(call, things):
    """What a call says of each thing that it is given, where it tells the text."""
    said_of = ((kind, said(call, thing)) for kind, thing in things.items())
    return {kind: text for kind, text in said_of if MARK in text.lower()}


def test_the_test_can_fail():
    def quoting(x, silent=False):
        try:
            float(x)
        except ValueError as error:
            raise KeyError("no number") from None if silent else error

    assert tell(quoting, {"": lambda: TEXT})
    assert tell(lambda x: warnings.warn(x, stacklevel=1), {"": lambda: TEXT})
    assert not tell(partial(quoting, silent=True), {"": lambda: TEXT})
    # a text in a valid X gets through, which alone is refused for its number
    CALLS["attacks.KoppelAuthorClassifier.fit"]({"X": [*TEXTS[:-1], TEXT]})


# Results show it: a caveat; scikit-learn shows the classes that were learned.
SHOWN = {
    ("naive_bayes.ChannelNaiveBayes.fit", "y"),
    ("neighbors.WMDKNNClassifier.fit", "y"),
    ("privacy.PrivacyGuarantee.with_caveat", "caveat"),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_parameter_of_anything_public_tells_the_text(name):
    call = CALLS[name]
    with warnings.catch_warnings(action="ignore"):
        call()  # else an error of another parameter would hide this one's
    for parameter, about in call.parameters.items():
        if parameter in PLACES | {"self"} or about.kind is about.VAR_KEYWORD:
            continue
        valid = call.given()

        def run(x, parameter=parameter, valid=valid):
            result = call({**valid, parameter: x})
            # not of an estimator that is made, whose repr shows what it is set to
            made = isinstance(call.function, type)
            hidden = made or result is x or (name, parameter) in SHOWN
            return None if hidden or parameter not in valid else result

        # numbers are checked by one rule, which knows of no kind
        is_number = isinstance(valid.get(parameter, about.default), int | float)
        among = {k: lambda x=x: x for k, x in among_valid(valid.get(parameter))}
        assert tell(run, (ALONE if is_number else THINGS) | among) == {}, parameter


# What has no name, or is set otherwise.
MORE = {
    "getitem": lambda x: WORDS[x],
    "contains": lambda x: x in WORDS,
    "perturber with a seed": lambda x: released(random_state=1).transform(x),
    "perturber oov": lambda x: released(oov="error").transform(x),
    "perturber one-hot": lambda x: DPWordPerturber("one-hot").fit(BAGS).transform(x),
    "what the tokenizer returns": lambda x: released(
        tokenizer=lambda text: x
    ).transform(["a"]),
}


@pytest.mark.parametrize("name", MORE)
def test_no_error_warning_or_view_tells_the_text(name):
    assert tell(MORE[name], THINGS) == {}


# -- files and the command line ------------------------------------------------------

# What takes a file of documents; columns `id`, `text` and `n`, which is kept as it is,
# and as numbers.
OPTIONS = ["--embedding", "words.txt", "--epsilon", "1", "--document-length", "2"]
of_texts = cache(partial(document_release, keep=["n"]))
of_numbers = cache(partial(document_release, keep={"n": pa.int64()}))
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


def command(name, path):
    with contextlib.chdir(path.parent):
        WORDS.save("words.txt")
        ReleaseKey.generate("key")
        Path("public.csv").write_text("\n".join(["text", *TEXTS]))
        main(COMMANDS[name](path.name))


READERS = {
    "release_files": lambda path: release_files(path, path.parent / "out", of_texts()),
    "of numbers": lambda path: release_files(path, path.parent / "out", of_numbers()),
    **{name: partial(command, name) for name in COMMANDS},
}


def test_every_format_and_command_is_given_private_text(capsys):
    assert set(SUFFIXES) == set(FAULTS)
    with pytest.raises(SystemExit):
        main(["no command"])
    named = capsys.readouterr().err.partition("choose from")[2].partition(")")[0]
    assert set(re.findall(r"\w+", named)) == set(COMMANDS)


@pytest.mark.parametrize("ending", [*FAULTS, *VECTORS])
def test_no_file_is_quoted(ending, tmp_path):
    """Of documents, and in place of word vectors."""
    readers = {"load": WordEmbedding.load}
    if ending in FAULTS:
        # packed, or under another name, the text of a file is read by the same code
        once = ending.endswith(".gz") or "ndjson" in ending
        readers = dict(list(READERS.items())[: 1 if once else None])
    for i, (fault, content) in enumerate((FAULTS | VECTORS)[ending](TEXT).items()):
        for name, read in readers.items():
            place = tmp_path / f"{i} {name}"
            place.mkdir()
            path = place / f"in{ending}"
            path.write_bytes(content)
            assert tell(read, {fault: lambda path=path: path}) == {}, name


def test_no_batch_in_memory_is_quoted():
    """As files of Parquet, which hold any column that Arrow has."""
    for fault, content in FAULTS[".parquet"](TEXT).items():
        with contextlib.suppress(pa.ArrowException, OSError):
            batch = parquet.read_table(io.BytesIO(content), use_threads=False)
            for release in (of_texts(), of_numbers()):
                assert tell(release, {fault: lambda batch=batch: batch}) == {}
