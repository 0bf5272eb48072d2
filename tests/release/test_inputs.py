"""What a table may be, and what is refused where a table is not what it seems."""

from __future__ import annotations

import gzip
import io
import json
import traceback

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from skdptext.exceptions import InvalidParameterError
from skdptext.release import read_columns, release_files, verify
from tests.expected import unknown_words
from tests.memory import traced_memory
from tests.releases import write

pytestmark = unknown_words
FORMATS = ("csv", "jsonl", "parquet")
GOOD = "id,text,n\n1,word1,3\n"
OBJECT = '{"id": "1", "text": "word1"}\n'
# more rows than are read at a time
MANY = 700


@pytest.fixture
def released(make_release, tmp_path):
    """The rows of a release of a file, given by its suffix and content."""

    def read(suffix, content, keep=()):
        path = tmp_path / f"in.{suffix}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        out = tmp_path / "out"
        release_files(path, out, make_release(keep=keep), format="jsonl")
        text = (out / "part-00000.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    return read


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def late(first, last):
    """JSON lines whose last one is unlike the others."""
    rows = [{"id": str(i), "text": "word1", **first} for i in range(MANY)]
    return lines(*rows, {"id": "last", "text": "word1", **last})


# -- columns that are kept -----------------------------------------------------------

DAY = "2024-01-01"


@pytest.mark.parametrize(
    ("suffix", "content", "keep", "kept"),
    [
        ("csv", f"id,text,k\n1,w,007\n2,w,{DAY}\n3,w,\n", "k", ["007", DAY, ""]),
        ("csv", "id,text,k\n1,w,7\n2,w,\n", {"k": pa.int64()}, [7, None]),
        ("csv", f"id,text,k\n1,w,{DAY}\n", {"k": pa.date32()}, [DAY]),
        ("jsonl", late({"k": 1}, {"k": 2.5}), "k", [1] * MANY + [2.5]),
        ("jsonl", late({"k": None}, {"k": "a"}), "k", [None] * MANY + ["a"]),
        ("jsonl", late({"k": None}, {"k": ["a"]}), "k", [None] * MANY + [["a"]]),
        ("jsonl", late({"k": 1}, {}), {"k": pa.float64()}, [1] * MANY + [None]),
        ("jsonl", late({"k": "[{" * 99}, {"k": 'a "b"\r\n\0'}), "k", None),
    ],
    ids=range(8),
)
def test_values_come_out_as_they_went_in(released, suffix, content, keep, kept):
    rows = released(suffix, content, keep=keep)
    if kept is None:
        kept = [json.loads(line)["k"] for line in content.splitlines()]
    assert [row["k"] for row in rows] == kept


@pytest.mark.parametrize(
    ("value", "form"), [(["a"], "csv"), (b"\xff", "csv"), (b"\xff", "jsonl")]
)
def test_formats_that_cannot_hold_a_column(make_release, tmp_path, value, form):
    table = pa.table({"id": ["1"], "text": [""], "k": [value]})
    source = write(table, tmp_path / "in.parquet")
    with pytest.raises(InvalidParameterError, match="format must be"):
        release_files(source, tmp_path / "out", make_release(keep="k"), format=form)


def test_what_is_no_number_in_json_is_null(make_release, tmp_path):
    values = [[1.0, float("nan")], [float("inf")]]
    table = pa.table({"id": ["1", "2"], "text": ["", ""], "k": values})
    source = write(table, tmp_path / "in.parquet")
    release_files(source, tmp_path / "out", make_release(keep="k"), format="jsonl")
    assert read_columns(tmp_path / "out", ["k"]) == [[[1.0, None], [None]]]


# -- tables that are not what they seem: each holds the word "zqcanary" ---------------

UTF8 = "it is not UTF-8. Save the file as UTF-8"
JSON, DEEP = "it must be a JSON object", 100_000
MARK = "zqcanary"
PARQUET = io.BytesIO()
parquet.write_table(pa.table({"id": ["1"], "text": [MARK]}), PARQUET)
WHOLE = PARQUET.getvalue()
DAMAGED = "it is damaged or cut short"


FAULTS = [
    ("csv", GOOD + "2,PRIVATE, word2,4\n", "line 3: a row must have 3 values"),
    ("csv", GOOD + "\n2,PRIVATE\n", "line 4: a row must have 3 values"),
    ("csv", GOOD + '2,"a\nb",3\n3,"PRIVATE,4\n4,d,5\n', "line 5: from here on, quotes"),
    ("csv", GOOD + '2,"a "PRIVATE" c",3\n', "line 3: from here on, quotes"),
    ("csv", GOOD + '2,"' + "PRIVATE\n" * 100_000, "line 3: from here on"),
    ("csv", GOOD.replace("\n", "\r") + "PRIVATE\r", "line 3: a row must have 3"),
    ("csv", "id,text\n1,PRIVATE caf\xe9\n".encode("latin-1"), f"line 2: {UTF8}"),
    ("csv", "id,text,text\n1,PRIVATE,b\n", "no column, or several, 'text'"),
    ("csv", "id,text,PRIVATE,PRIVATE\n1,a,b,c\n", "two columns have one name"),
    ("csv", "\ufeffid;text\n1;PRIVATE, b\n", "must be ',', and seems to be ';'"),
    ("csv", "1,PRIVATE\n2,PRIVATE\n", "Does the file have a header row?"),
    ("csv", "id,body\n1,PRIVATE\n", "'text'. It has 'id', 'body'."),
    ("csv", "", "must hold documents, got none"),
    ("jsonl", "\n \n", "must hold documents, got none"),
    ("jsonl", OBJECT + '["PRIVATE", 2]\n', f"line 2: {JSON}"),
    ("jsonl", OBJECT + "\n" + '{"id": "PRIVATE"\n', f"line 3: {JSON}"),
    ("jsonl", OBJECT + "[" * DEEP + "]" * DEEP, f"line 2: {JSON}"),
    ("jsonl", OBJECT + '{"id": ["PRIVATE"], "text": "a"}', "'id' must be a column"),
    ("jsonl", OBJECT + '{"id": 2, "text": "PRIVATE", "text": ""}', f"line 2: {JSON}"),
    ("jsonl", late({}, {"text": "PRIVATE\ud800"}), "'text' must be a column of one"),
    ("jsonl", late({"text": "PRIVATE"}, {"text": 7}), f"another at position {MANY}"),
    ("jsonl", lines({"n": 1, "body": "PRIVATE"}), "It has 'n', 'body'."),
    ("csv.gz", gzip.compress(GOOD.encode())[:-9], DAMAGED),
    ("csv.gz", "PRIVATE" + GOOD, DAMAGED),
    ("parquet", WHOLE[: len(WHOLE) // 2], DAMAGED),
    ("parquet", WHOLE[:4] + b"\xff" * 40 + WHOLE[44:], DAMAGED),
    ("xlsx", "", "A spreadsheet can be saved as CSV"),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "content", "problem"), FAULTS, ids=range(27))
def test_faults_are_told_with_their_place_and_no_content(
    released, tmp_path, suffix, content, problem
):
    if isinstance(content, str):
        content = content.encode()
    with pytest.raises(InvalidParameterError) as caught:
        released(suffix, content.replace(b"PRIVATE", MARK.encode()))
    assert [path.name[:3] for path in tmp_path.iterdir()] == ["in."]
    message = str(caught.value)
    assert problem in message
    assert "in." in message or "got none" in message
    assert MARK not in message


STRUCT = pa.array([{MARK: MARK}] * 2)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"id": [MARK, MARK]}, "id must be unique .* got 1 repeated"),
        ({"id": [MARK, None]}, "id must name .* at position 1"),
        ({"id": [" ", MARK]}, "id must name .* at position 0"),
        ({"id": [1.0, 2.0]}, "id must name a column of strings or integers.*double"),
        ({"id": STRUCT}, "id must name a column of strings or integers.*struct"),
        ({"text": [1, 2]}, "text must name a column of strings.* is of int64"),
        ({"text": STRUCT}, "text must name a column of strings.* is of struct"),
        ({"text": [MARK.encode()] * 2}, "text must name a column of str.* of binary"),
        ({"n": ["1", MARK]}, "keep must name a column of valid int64.* position 1"),
        ({"n": STRUCT}, "keep must name a column of valid int64.* position 0"),
    ],
)
@pytest.mark.parametrize("kind", ["file", "batch"])
def test_columns_that_are_refused(make_release, tmp_path, columns, problem, kind):
    table = pa.table({"id": ["a", "b"], "text": [MARK, "y"], "n": [1, 2], **columns})
    release, out = make_release(keep={"n": pa.int64()}), tmp_path / "out"
    if kind == "batch" and "unique" in problem:
        problem = "document_ids must differ"
    source = write(table, tmp_path / "in.parquet")
    with pytest.raises(InvalidParameterError, match=problem) as caught:
        release(table) if kind == "batch" else release_files(source, out, release)
    assert MARK not in "".join(traceback.format_exception(caught.value, limit=0))
    assert not out.exists()


@pytest.mark.parametrize(
    "given", ["\n\nid,text\n\n1,w\r\n\r\n\n2,w", "\ufeffid,text\r1,w\r2,w\r"]
)
def test_blank_lines_marks_and_line_ends_are_passed_over(released, given):
    assert [row["id"] for row in released("csv", given)] == ["1", "2"]


def test_texts_of_every_kind_are_read_as_they_are(tmp_path):
    texts = ['a\nb, "c"', DAY, "e\r\nf", "NULL", "17", "the bus\0 was late", ""]
    table = pa.table({"id": [f"0{i}" for i in range(7)], "text": texts})
    for form in FORMATS:
        path = write(table, tmp_path / f"in.{form}")
        assert read_columns(path, ["text", "id"]) == [texts, table["id"].to_pylist()]
    with gzip.open(tmp_path / "in.csv.gz", "wb") as file:
        csv.write_csv(table, file)
    assert read_columns(tmp_path / "in.csv.gz", ["text"]) == [texts]


# Small tables in ../shared/data/cases, and what its README says is right: a column that
# comes out as it went in, or why they are refused.
CASES = {
    "empty.csv": "must hold documents, got none",
    "header_only.csv": "must hold documents, got none",
    "bom_semicolon.csv": "must be ',', and seems to be ';'",
    "latin1.csv": f"line 2: {UTF8}",
    "nul.csv": ["the bus\0 was late", "a warm soup"],
    "quoted_newlines.csv": ['first line\nsecond line, with "quotes"', "plain"],
    "decimals.jsonl": [1, 2.5, 3],
}


@pytest.mark.parametrize("name", CASES)
def test_small_tables_that_went_wrong(make_release, data_file, tmp_path, name):
    source, out, right = data_file(f"cases/{name}"), tmp_path / "out", CASES[name]
    if isinstance(right, str):
        with pytest.raises(InvalidParameterError, match=right):
            release_files(source, out, make_release())
        assert not list(tmp_path.iterdir())
    else:
        column, kept = ("text", []) if name.endswith("csv") else ("score", ["score"])
        assert read_columns(source, [column]) == [right]
        release_files(source, out, make_release(keep=kept))
        assert verify(out) == []
        ids = [str(i) for i, _ in enumerate(right, 1)]
        assert read_columns(out, ["id", *kept]) == [ids, right][: 1 + len(kept)]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "form", ["csv", "parquet", pytest.param("jsonl", marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_with_the_documents(make_release, tmp_path, form):
    """Neither that of Python nor that of Arrow, but by 8 bytes for an id."""
    ids = [str(i) for i in range(3000)]
    table = pa.table({"id": ids, "text": [f"word1 {'x' * 2000} {i}" for i in ids]})
    release, default, peaks = make_release(), pa.default_memory_pool(), []
    for n in (10, 1000, 3000):  # the first one imports what it needs
        source = write(table.slice(0, n), tmp_path / f"{n}.{form}", row_group=n)
        counting = pa.proxy_memory_pool(default)
        pa.set_memory_pool(counting)
        try:
            with traced_memory() as memory:
                release_files(source, tmp_path / f"out{n}", release)
        finally:
            pa.set_memory_pool(default)
        peaks.append((memory.peak, counting.max_memory()))
    grown = [large - small for small, large in zip(*peaks[1:], strict=True)]
    assert max(grown) < 1_500_000 < table.nbytes / 4
