"""What the inputs of a release may be, and what is refused before it is begun."""

from __future__ import annotations

import gzip
import json

import joblib
import pyarrow as pa
import pytest
from pyarrow import parquet

from skdptext.exceptions import InvalidParameterError
from skdptext.release import release_files
from tests.memory import traced_memory
from tests.releases import write

FORMATS = ("csv", "jsonl", "parquet")
# So many rows with so much beside them are more than is parsed at a time
MANY = 700
PAD = "x" * 1000


@pytest.fixture
def released(make_release, tmp_path):
    """The rows of a release of some files, given by name and content."""

    def read(form="jsonl", keep=(), **contents):
        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        for name, content in contents.items():
            path = folder / name.replace("_", ".")
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        out = tmp_path / "out"
        release = make_release(keep=keep) if keep else make_release()
        release_files(folder, out, release, format=form)
        return [
            json.loads(line)
            for path in sorted(out.glob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]

    return read


@pytest.fixture
def refused(released, tmp_path):
    """The message with which files are refused; nothing is written."""

    def message(**given):
        with pytest.raises(InvalidParameterError) as caught:
            released(**given)
        assert not (tmp_path / "out").exists()
        return str(caught.value)

    return message


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def late(row, other):
    """JSON lines whose last one is unlike the others."""
    rows = [{"pad": PAD, "id": str(i), "text": "word1", **row} for i in range(MANY)]
    return lines(*rows, {"id": "last", "text": "word1", **other})


# -- columns that are kept -----------------------------------------------------------


def test_csv_is_kept_as_it_is_written(released):
    given = "id,text,zip,day\n1,word1,01,2024-01-01\n2,word2,x,\n"
    rows = released(a_csv=given, keep=("zip", "day"))
    assert [(row["zip"], row["day"]) for row in rows] == [
        ("01", "2024-01-01"),
        ("x", ""),
    ]


def test_a_type_is_read_from_the_first_row_to_the_last(released):
    keep = {"zip": pa.string(), "n": pa.float64()}
    (row,) = released(a_csv="id,text,zip,n\n1,word1,01,2\n", keep=keep)
    assert (row["zip"], row["n"]) == ("01", 2.0)


def test_json_is_kept_as_it_is_written(released):
    given = {"id": 7, "text": "word1", "day": "2024-01-01", "n": 1.5, "tags": ["a"]}
    (row,) = released(a_jsonl=lines(given), keep=("day", "n", "tags"))
    assert {**row, "text": "word1"} == {**given, "id": "7"}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.string(), "a"),
        (pa.int64(), 3),
        (pa.date32(), "2024-01-01"),
        (pa.bool_(), True),
    ],
)
def test_a_type_helps_where_the_values_come_late(released, kind, value):
    rows = released(a_jsonl=late({"k": None}, {"k": value}), keep={"k": kind})
    assert rows[-1]["k"] == value
    assert rows[0]["k"] is None


def test_without_a_type_it_is_asked_for(refused):
    message = refused(a_jsonl=late({"k": None}, {"k": "a"}), keep=("k",))
    assert "a.jsonl cannot be read" in message
    assert "keep={name: type}" in message


def test_a_column_has_one_type_in_all_inputs(refused):
    inputs = {name: lines({"id": name, "text": "", "k": k}) for name, k in
            (("a_jsonl", 1), ("b_jsonl", "x"))}  # fmt: skip
    message = refused(**inputs, keep=("k",))
    assert "b.jsonl: keep must give a type" in message
    assert "'k' of string here, and of int64 in a.jsonl" in message


@pytest.mark.parametrize("place", [0, MANY])
def test_values_that_cannot_be_cast(refused, place):
    numbers = ["abc" if i == place else i for i in range(MANY + 1)]
    rows = "".join(f"{i},word1,{n},{PAD}\n" for i, n in enumerate(numbers))
    message = refused(a_csv="id,text,n,pad\n" + rows, keep={"n": pa.int64()})
    assert "a.csv: keep must name 'n' as int64" in message
    assert f"of which the value at position {place} is not" in message
    assert "abc" not in message


def test_formats_that_cannot_hold_a_column(refused, make_release, tmp_path):
    given = lines({"id": "1", "text": "word1", "tags": ["a"]})
    assert "'csv'" in refused(a_jsonl=given, keep=("tags",), form="csv")
    table = pa.table({"id": ["1"], "text": ["word1"], "raw": [b"\xff"]})
    parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(InvalidParameterError, match="'raw' is binary"):
        release_files(
            tmp_path / "in.parquet", tmp_path / "out", make_release(keep=("raw",)),
            format="jsonl",
        )  # fmt: skip


def test_what_is_no_number_in_json_is_null(make_release, tmp_path):
    values = [[1.0, float("nan")], [float("inf")]]
    table = pa.table({"id": ["1", "2"], "text": ["", ""], "k": values})
    parquet.write_table(table, tmp_path / "in.parquet")
    release = make_release(keep=("k",))
    release_files(tmp_path / "in.parquet", tmp_path / "out", release, format="jsonl")
    (path,) = (tmp_path / "out").glob("*.jsonl")
    read_back = [json.loads(line)["k"] for line in path.read_text().splitlines()]
    assert read_back == [[1.0, None], [None]]
    assert "NaN" not in path.read_text()


@pytest.mark.parametrize("kind", [int, "no type", "int64"])
def test_types_are_those_of_pyarrow(make_release, kind):
    with pytest.raises(InvalidParameterError, match=r"such as pa.int64\(\), got"):
        make_release(keep={"k": kind})


# -- files that are not as they should be --------------------------------------------


def test_a_column_that_is_there_twice(refused, make_release, tmp_path):
    message = refused(a_csv="id,text,text\n1,word1,word2\n")
    assert "a.csv has several named 'text'" in message
    table = pa.table([["1"], ["a"], ["b"]], names=["id", "text", "text"])
    parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(InvalidParameterError, match="several named 'text'"):
        release_files(tmp_path / "in.parquet", tmp_path / "out", make_release())


@pytest.mark.no_cover
@pytest.mark.parametrize("rows", [0, MANY])
@pytest.mark.parametrize("column", ["id", "text", "k"])
def test_bytes_that_are_not_utf8(refused, rows, column):
    good = late({"k": "a"}, {})[: -len(lines({"id": "last", "text": "word1"}))]
    bad = lines({"id": "b", "text": "b", "k": "b", column: "@"}).encode()
    content = good.encode() * bool(rows) + bad.replace(b"@", b"caf\xe9")
    message = refused(a_jsonl=content, keep=("k",))
    assert "a.jsonl" in message
    line = len(content.splitlines())
    assert f"line {line}: it is not UTF-8. Save the file as UTF-8." in message


def test_csv_that_is_not_utf8(refused):
    message = refused(a_csv=b"id,text\n1,caf\xe9\n")
    assert "a.csv cannot be read as csv" in message
    assert "UTF-8" in message


def test_a_text_of_another_type(make_release, tmp_path):
    parquet.write_table(pa.table({"id": ["1"], "text": [5]}), tmp_path / "in.parquet")
    with pytest.raises(
        InvalidParameterError, match=r"in\.parquet: text must be a column"
    ):
        release_files(tmp_path / "in.parquet", tmp_path / "out", make_release())
    assert not (tmp_path / "out").exists()


def test_a_row_that_is_too_long(refused):
    message = refused(a_jsonl=lines({"id": "1", "text": "word1 " * 400_000}))
    assert "line 1: the row is longer than 512 KiB. Cut the document" in message


DEEP = 100_000
GOOD = "id,text,n\n1,word1,3\n"
OBJECT = '{"id": "1", "text": "word1"}\n'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (GOOD + "2,word1, word2,4\n", "line 3: 4 values, but 3 columns"),
        (GOOD + "\n2,word1\n", "line 4: 2 values, but 3 columns"),
        (GOOD + '2,"a\nb",3\n3,"c,4\n4,d,5\n', "line 5: quotes are not paired"),
        (GOOD + '2,"a "b" c",3\n', "line 3: quotes are not paired"),
        (GOOD + '2,"' + "word1\n" * 100_000, "line 3: the row is longer than 512"),
        (GOOD.replace("\n", "\r") + "2\r", "line 3: 1 values, but 3 columns"),
    ],
)
def test_faults_of_csv_are_found_where_they_are(refused, content, problem):
    assert f"a.csv cannot be read as csv: {problem}" in refused(a_csv=content)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[" * DEEP + "]" * DEEP, "it is not JSON"),
        ('{"id": ' * 10_000, "it is not JSON"),
        ("[1, 2]", "it must be a JSON object"),
        ('{"id": "2", "text": NaN}', "it is not JSON"),
        ('{"id": "2"', "it is not JSON"),
        ('{"id": "2", "id": "3"}', "an object has a name twice"),
        ('{"id": ["2"], "text": "a"}', "the value of 'id' is not of the same type"),
        ('{"id": "2", "text": "\\ud800"}', "the value of 'text' is not of the same"),
    ],
)
def test_faults_of_json_are_found_where_they_are(refused, line, problem):
    message = refused(a_jsonl=f"{OBJECT}\n{line}\n")
    assert f"a.jsonl cannot be read as jsonl: line 3: {problem}" in message


def test_brackets_in_a_text_are_no_nesting(released):
    text = "word1 " + "[{" * 1000 + '\\"[["'
    assert len(released(a_jsonl=lines({"id": "1", "text": text}))) == 1


def test_a_compressed_file_that_is_cut_short(refused):
    whole = gzip.compress((GOOD + "2,word1,3\n" * 50).encode())
    for content in (whole[:-9], whole[:-1], GOOD.encode()):
        message = refused(a_csv_gz=content)
        assert "the compressed file is cut short or broken" in message


def test_blank_lines_between_rows_are_passed_over(released, refused):
    rows = [f"{i},word1\r\n\r\n\n" for i in range(20)]
    given = "\n\nid,text\n" + "".join(rows)
    message = refused(a_csv=given + "\n\n20,word1,x\n")
    # 2 + 1 + 20 * 3 + 2 lines before it
    assert "line 66: 3 values, but 2 columns" in message
    assert len(released(a_csv=given)) == 20


def test_values_that_are_null_in_csv_are_null_in_a_type(released):
    keep = {"n": pa.int64(), "ok": pa.bool_(), "day": pa.date32(), "s": pa.string()}
    given = "id,text,n,ok,day,s\n1,w,,NA,,NA\n2,w,5,true,2024-01-01,\n"
    nulls, values = released(a_csv=given, keep=keep)
    assert [nulls[k] for k in keep] == [None, None, None, "NA"]
    assert [values[k] for k in keep] == [5, True, "2024-01-01", ""]


def test_whole_numbers_are_read_as_the_decimals_that_they_are_given_as(released):
    rows = released(a_jsonl=late({"n": 1}, {"n": 1.5}), keep={"n": pa.float64()})
    assert [rows[0]["n"], rows[-1]["n"]] == [1.0, 1.5]


def test_parts_without_rows(released):
    rows = released(
        a_jsonl="", b_jsonl="\n\n", c_csv="", d_csv="id,text", e_csv="id,text\n",
        f_csv_GZ=gzip.compress(b""), g_CSV_GZ=gzip.compress(b"id,text\n1,word1\n"),
    )  # fmt: skip
    assert [row["id"] for row in rows] == ["1"]


HEADERLESS = "1,zqcanary\n2,zqcanary\n3,zqcanary\n"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"a_csv": "number,body\n1,x\n2,x\n"}, "'number', 'body'."),
        ({"a_csv": "body,user\n" + f"{'word ' * 9},x\n" * 2}, "'body', 'user'."),
        ({"a_csv": "id,body"}, "'id', 'body'."),  # as id is asked for
        ({"a_jsonl": lines({"n": 1, "body": "x"})}, "'n', 'body'."),
        ({"a_csv": f"n,{','.join('abcdefghijkl')}\n" + f"1{',x' * 12}\n" * 2},
         "'n', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', …"),
        ({"a_csv": HEADERLESS}, None),
        ({"a_csv": "zqcanary,a\n" * 9}, None),
        ({"a_csv": f"zqcanary {'x' * 40},name\n" + HEADERLESS}, None),
    ],
)  # fmt: skip
def test_names_are_shown_where_they_are_no_data(refused, given, names):
    message = refused(**given)
    assert "zqcanary" not in message
    asked = ". Does the file have a header row?" in message
    assert asked == (names is None)
    if names is not None:
        assert f": {names}" in message


# -- folders -------------------------------------------------------------------------


def test_folders_may_be_named_like_files(released, tmp_path):
    inner = tmp_path / "in" / "x.jsonl"
    inner.mkdir(parents=True)
    (inner / "part-0.jsonl").write_text(lines({"id": "inner", "text": ""}))
    assert [row["id"] for row in released()] == ["inner"]


def test_links_to_folders_are_not_passed_over(refused, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "linked").symlink_to(tmp_path / "elsewhere")
    message = refused(a_jsonl=lines({"id": "1", "text": ""}))
    assert "no symbolic links to folders" in message


def test_out_is_not_among_the_inputs(make_release, tmp_path):
    (tmp_path / "a.jsonl").write_text(lines({"id": "1", "text": ""}))
    for inner in (tmp_path / "out", tmp_path):
        with pytest.raises(InvalidParameterError, match="must not be in the folder"):
            release_files(tmp_path, inner, make_release())
    for name in ("_out", "_more"):  # not found as an input
        manifest = release_files(tmp_path, tmp_path / name, make_release())
        assert manifest["documents"] == 1


def test_out_is_a_file(make_release, tmp_path):
    (tmp_path / "a.jsonl").write_text(lines({"id": "1", "text": ""}))
    with pytest.raises(InvalidParameterError, match="out must be a folder, got the"):
        release_files(tmp_path / "a.jsonl", tmp_path / "a.jsonl", make_release())


# -- long documents ------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_long_documents_are_released_in_parts(make_release, tmp_path, n_jobs):
    """A part has some 1 MB; words do not depend on the parts."""
    texts = [f"word{i} " + f"{PAD} " * 450 for i in range(11)]
    table = pa.table({"id": [f"d{i}" for i in range(11)], "text": texts})
    parquet.write_table(table, tmp_path / "in.parquet")
    release, out = make_release(), tmp_path / "out"
    with joblib.parallel_config("threading"):  # which end in any order as well
        release_files(tmp_path / "in.parquet", out, release, n_jobs=n_jobs)
    file = parquet.ParquetFile(out / "part-00000.parquet")
    assert file.num_row_groups > 1
    assert file.read().equals(release(table))


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_documents(make_release, tmp_path):
    """Neither Python nor Arrow ever holds as much as the 6 MB of the documents."""
    text = " ".join(f"word{i} {'x' * 5000}" for i in range(4))
    ids = [str(i) for i in range(300)]  # of CSV and JSON one shard
    table = pa.table({"id": ids, "text": [f"{text} {i}" for i in ids]})
    release, default = make_release(), pa.default_memory_pool()
    for form in FORMATS:
        first = write(table.slice(0, 1), tmp_path / f"first.{form}")
        release_files(
            first, tmp_path / "first" / form, release
        )  # imports what it needs
        source = write(table, tmp_path / f"in.{form}")
        counting = pa.proxy_memory_pool(default)
        pa.set_memory_pool(counting)
        try:
            with traced_memory() as memory:
                release_files(source, tmp_path / form, release)
        finally:
            pa.set_memory_pool(default)
        assert 0 < counting.max_memory() < table.nbytes
        assert memory.peak < table.nbytes
