"""Files: the same bytes however often, and by how many processes, they are made."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset

from skdptext.exceptions import InvalidParameterError
from skdptext.release import release_files, verify
from tests.releases import contents, write

FORMATS = ("parquet", "csv", "jsonl")


@pytest.fixture
def out(make_release, source, tmp_path):
    release_files(source, tmp_path / "out", make_release())
    return tmp_path / "out"


def rows(out, form="parquet"):
    """All rows of a release, by id."""
    files = sorted(str(path) for path in out.glob(f"*.{form}"))
    kind = "json" if form == "jsonl" else form
    table = dataset.dataset(files, format=kind).to_table()
    return {row.pop("id"): row for row in table.to_pylist()}


@pytest.mark.no_cover
@pytest.mark.parametrize("given", FORMATS)
@pytest.mark.parametrize("written", [None, "parquet"])
def test_every_format_is_read_and_written_with_the_same_words(
    make_release, documents, tmp_path, given, written
):
    release = make_release(keep=("label",))
    path = write(documents, tmp_path / f"in.{given}")
    manifest = release_files(path, tmp_path / "out", release, format=written)
    read = rows(tmp_path / "out", written or given)
    expected = {row.pop("id"): row for row in release(documents).to_pylist()}
    if given == "csv" and written:  # where nothing says that they are numbers
        read = {i: {**row, "label": int(row["label"])} for i, row in read.items()}
    assert read == expected
    assert manifest["documents"] == len(read) == 300


def test_texts_with_line_ends_quotes_and_dates_are_read_as_they_are(
    make_release, tmp_path
):
    texts = ['word1\nword2, "word3"', "2024-01-01", "word5\r\nword6", "NULL", "17"]
    table = pa.table({"id": [f"0{i}" for i in range(5)], "text": texts})
    release = make_release(epsilon=1e6, document_length=50)
    outputs = []
    for form in FORMATS:
        out = tmp_path / form
        release_files(write(table, tmp_path / f"in.{form}"), out, release)
        outputs.append(rows(out, form) if form != "csv" else rows_of_csv(out))
    assert outputs[0] == outputs[1] == outputs[2]
    released = [set(outputs[0][f"0{i}"]["text"].split()) for i in (0, 2)]
    assert released == [{"word1", "word2", "word3"}, {"word5", "word6"}]


def rows_of_csv(out):
    """With ids as strings, as which they were written."""
    lines = [p.read_text("utf-8").splitlines()[1:] for p in sorted(out.glob("*.csv"))]
    pairs = [line.strip('"').split('","') for part in lines for line in part]
    return {identity: {"text": text} for identity, text in pairs}


def test_a_folder_is_released_whole_and_what_is_hidden_is_no_data(
    make_release, documents, tmp_path
):
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    write(documents.slice(0, 100), folder / "one.parquet")
    write(documents.slice(100, 100), folder / "deep" / "one.parquet")
    write(documents.slice(200), folder / "two.jsonl")
    write(documents, folder / "_temporary.parquet")
    (folder / "_SUCCESS").touch()
    manifest = release_files(folder, tmp_path / "out", make_release())
    files = manifest["files"]
    assert list(files) == [f"part-0000{i}.parquet" for i in range(3)]
    inputs = ["deep/one.parquet", "one.parquet", "two.jsonl"]
    assert [told["input"] for told in files.values()] == inputs
    assert [told["documents"] for told in files.values()] == [100] * 3
    assert set(contents(tmp_path / "out")) == set(manifest["files"])
    assert len(rows(tmp_path / "out")) == 300


@pytest.mark.parametrize("form", FORMATS)
def test_processes_and_sizes_of_tables_change_no_word(
    make_release, source, tmp_path, capsys, monkeypatch, form
):
    """Nor any byte, but for where groups of rows end in Parquet."""
    release, given = make_release(), {"format": form}
    release_files(source, tmp_path / "one", release, **given)
    release_files(source, tmp_path / "two", release, n_jobs=2, verbose=2, **given)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert "300/300" in capsys.readouterr().err
    monkeypatch.setattr("skdptext.files._formats._TABLE_ROWS", 7)
    monkeypatch.setattr("skdptext.files._formats._BUFFER_ROWS", 5)
    release_files(source, tmp_path / "small", release, **given)
    assert rows(tmp_path / "small", form) == rows(tmp_path / "one", form)
    if form != "parquet":
        assert contents(tmp_path / "small") == contents(tmp_path / "one")


def start(*args, **options):
    """A release in a process of its own, which shares what is imported."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=release_files, args=args, kwargs=options)
    process.start()
    return process


@pytest.mark.no_cover
def test_killed_at_ten_random_moments_it_is_run_again_with_the_same_bytes(
    make_release, source, tmp_path
):
    release, out = make_release(), tmp_path / "out"
    release_files(source, tmp_path / "whole", release)
    rng = np.random.default_rng(3)
    for _ in range(10):
        process = start(source, out, release)
        time.sleep(rng.uniform(0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        # either nothing is there, or all of it
        if process.exitcode == 0 or out.exists():
            assert contents(out) == contents(tmp_path / "whole")
            shutil.rmtree(out)
    release_files(source, out, release)
    assert contents(out) == contents(tmp_path / "whole")
    assert verify(out) == []


def test_of_two_that_write_at_once_one_is_there(make_release, source, tmp_path):
    release, out = make_release(), tmp_path / "out"
    writers = [start(source, out, release) for _ in range(2)]
    for writer in writers:
        writer.join()
    assert 0 in [writer.exitcode for writer in writers]
    release_files(source, tmp_path / "alone", release)
    assert contents(out) == contents(tmp_path / "alone")
    assert verify(out) == []
    assert not list(tmp_path.glob(".out*"))


def test_a_run_that_fails_leaves_nothing(make_release, source, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("skdptext.release._files._released", full)
    with pytest.raises(OSError, match="No space left"):
        release_files(source, tmp_path / "out", make_release())
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_holds_something_is_refused(make_release, source, out, tmp_path):
    before = contents(out), (out / "_release.json").read_bytes()
    with pytest.raises(InvalidParameterError, match=r"new or empty.*holds a release"):
        release_files(source, out, make_release())
    assert before == (contents(out), (out / "_release.json").read_bytes())
    (tmp_path / "other").mkdir()
    release_files(source, tmp_path / "other", make_release())
    assert contents(tmp_path / "other") == before[0]
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "notes").touch()
    with pytest.raises(InvalidParameterError, match="holds notes"):
        release_files(source, tmp_path / "third", make_release())


def test_a_mount_is_refused_before_the_work(
    make_release, source, tmp_path, monkeypatch
):
    """No system renames a folder to it: all would be lost in the end."""
    out = tmp_path / "mounted"
    out.mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path == out.resolve())
    monkeypatch.setattr("skdptext.release._files._survey", None)
    with pytest.raises(InvalidParameterError, match="got the mount"):
        release_files(source, out, make_release())
    monkeypatch.undo()
    release_files(source, out, make_release())


@pytest.mark.no_cover
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("id", None, r"in\.\w+: id must be .* without null or empty values, got 1 of"),
        ("id", "", "without null or empty values, .* the first at position 250"),
        ("id", "document 2", "id must be unique over all .* got 1 repeated"),
    ],
)
def test_null_empty_and_repeated_ids_are_refused(
    make_release, documents, tmp_path, form, column, value, message
):
    ids = documents["id"].to_pylist()
    ids[250] = value
    table = documents.set_column(0, "id", pa.array(ids, pa.string()))
    path = write(table, tmp_path / f"in.{form}")
    with pytest.raises(InvalidParameterError, match=message):
        release_files(path, tmp_path / "out", make_release())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_another_separator_is_named(make_release, tmp_path, between):
    path = tmp_path / "in.csv"
    for text in ("good", "good, and bad"):
        path.write_text(f"id{between}text\na{between}{text}\n")
        with pytest.raises(InvalidParameterError, match="must be ','") as caught:
            release_files(path, tmp_path / "out", make_release())
        assert str(caught.value).endswith(f"seems to be {between!r}.")
    path.write_text(f"id,text{between}\na,good\n")
    with pytest.raises(InvalidParameterError, match="has no column 'text'") as caught:
        release_files(path, tmp_path / "out", make_release())
    assert "separator" not in str(caught.value)


def test_ids_that_are_far_apart_are_compared_too(make_release, tmp_path):
    ids = [f"d{i}" for i in range(70_000)]
    ids[69_000] = ids[10]
    ids[50_000] = ids[30_000] = ids[11]
    table = pa.table({"id": ids, "text": pa.nulls(len(ids), pa.string())})
    path = write(table, tmp_path / "in.parquet", row_group=25_000)
    with pytest.raises(InvalidParameterError, match="got 3 repeated"):
        release_files(path, tmp_path / "out", make_release())


@pytest.mark.no_cover
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("column", ["id", "text", "label"])
def test_columns_that_are_missing_are_named(
    make_release, documents, tmp_path, form, column
):
    path = write(documents.drop_columns([column]), tmp_path / f"in.{form}")
    with pytest.raises(
        InvalidParameterError, match=f"has no column '{column}' among 2"
    ):
        release_files(path, tmp_path / "out", make_release(keep=("label",)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"release": "x"}, "release must be a DocumentRelease, got 'x'"),
        ({"out": 3}, "out must be a path, got 3"),
        ({"source": 3}, "source must be a path or a list of paths, got an int"),
        ({"source": []}, "source must be a list of files with different names, got 0"),
        (
            {"source": ["no.parquet"]},
            "files that are there, but there is no file or folder 'no.parquet'",
        ),
        ({"source": __file__}, r"source must name files that end in \.parquet"),
        ({"n_jobs": 0}, "n_jobs must be None or"),
        ({"verbose": -1}, "verbose must be an integer >= 0"),
        ({"format": "xml"}, "format must be one of 'parquet', 'csv', 'jsonl'"),
    ],
)
def test_bad_arguments(make_release, source, tmp_path, change, message):
    given = {"source": source, "out": tmp_path / "out", "release": make_release()}
    with pytest.raises(InvalidParameterError, match=message):
        release_files(**{**given, **change})
    assert not (tmp_path / "out").exists()


def test_bad_sources(make_release, tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(InvalidParameterError, match="which has none"):
        release_files(tmp_path / "in", tmp_path / "out", make_release())
    for form in FORMATS:
        path = tmp_path / f"broken.{form}"
        path.write_text("\x00{")
        with pytest.raises(InvalidParameterError):
            release_files(path, tmp_path / "out", make_release())
    with pytest.raises(InvalidParameterError, match=r"format must be .* got 'csv'"):
        release_files(
            tmp_path / "broken.csv", tmp_path / "out", make_release(output="bow")
        )


@pytest.mark.parametrize("form", FORMATS)
def test_no_documents_are_no_release(make_release, documents, tmp_path, form):
    path = write(documents.slice(0, 0), tmp_path / f"in.{form}")
    if form == "jsonl":
        path.write_text("")
    with pytest.raises(InvalidParameterError, match="must hold documents, got none"):
        release_files(path, tmp_path / "out", make_release())
    assert not (tmp_path / "out").exists()
    whole = write(documents, tmp_path / "whole.parquet")
    manifest = release_files([path, whole], tmp_path / "out", make_release())
    assert [of["input"] for of in manifest["files"].values()] == ["whole.parquet"]


def test_bags_are_lists_of_numbers_in_parquet(
    make_release, documents, source, tmp_path
):
    release_files(source, tmp_path / "bags", make_release(output="bow"))
    table = dataset.dataset(sorted((tmp_path / "bags").glob("*.parquet"))).to_table()
    assert table["id"].to_pylist() == documents["id"].to_pylist()
    tokens = make_release(output="tokens")(documents)["text"].to_pylist()
    bags = zip(table["word_ids"].to_pylist(), table["counts"].to_pylist(), strict=True)
    for words, (ids, counts) in zip(tokens, bags, strict=True):
        numbers = Counter(int(word.removeprefix("word")) for word in words)
        assert dict(zip(ids, counts, strict=True)) == numbers


def test_what_is_missing_changed_or_unexpected_is_named(out, tmp_path):
    assert verify(out) == []
    (part,) = contents(out)
    whole = (out / part).read_bytes()
    (out / "notes.txt").touch()
    (out / part).write_bytes(whole + b" ")
    assert verify(out) == [
        "notes.txt is not part of the release.",
        f"{part} has changed since it was written.",
    ]
    (out / "notes.txt").unlink()
    (out / part).unlink()
    assert verify(out) == [f"{part} is missing."]
    (out / part).mkdir()
    assert verify(out) == [f"{part} cannot be read: Is a directory."]
    (out / part).rmdir()
    (out / part).symlink_to(tmp_path / "gone")
    assert verify(out) == [f"{part} cannot be read: No such file or directory."]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name",
    [".x.csv", "_x.csv", "..csv", ".csv", "名.csv", "._.csv", "-.csv", "x y.csv"],
)
def test_any_name_of_an_input_gives_a_file_that_readers_see(
    make_release, tmp_path, name
):
    path = tmp_path / name
    path.write_text("id,text\n1,word1\n")
    release_files([path], tmp_path / "out", make_release())
    assert verify(tmp_path / "out") == []
    assert set(contents(tmp_path / "out")) == {"part-00000.csv"}


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match="out must be"):
        verify(tmp_path)
    with pytest.raises(InvalidParameterError, match="out must be a path, got 3"):
        verify(3)


WRONG = (None, True, -1, 0.5, "x", [], [3], [{}], {}, {"id": 3})


@pytest.mark.no_cover
def test_a_damaged_manifest_is_named_whatever_is_wrong_in_it(source, out):
    path = out / "_release.json"
    sound = json.loads(path.read_text())

    def refused(changed):
        path.write_text(json.dumps(changed))
        try:
            faults = verify(out)
        except InvalidParameterError as error:
            return str(error)
        assert isinstance(faults, list)
        return ""

    assert refused(sound) == ""
    message = refused({k: v for k, v in sound.items() if k != "files"})
    assert "files are missing or damaged" in message
    assert repr(str(path)) in message
    for name, wrong in product(sound, WRONG):
        refused({**sound, name: wrong})  # raises nothing else
    ((part, told),) = sound["files"].items()
    for name, wrong in product(told, WRONG):
        refused({**sound, "files": {part: {**told, name: wrong}}})
    # no other file is looked at
    refused({**sound, "files": {"../in.parquet": told}})
    assert verify(out)[-1] == "../in.parquet is missing."
    for text in ("", "[]", "[" * 10**5, "\udcff"):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(InvalidParameterError, match="which is not one"):
            verify(out)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidParameterError, match="which is not one"):
        verify(out)
    with pytest.raises(InvalidParameterError, match="out must be"):
        verify(source)
