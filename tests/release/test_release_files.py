"""Files: the same bytes however often, and by how many processes, they are made."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset

from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.release import read_columns, release_files, verify
from tests.expected import refusals, unknown_words
from tests.releases import contents, write

pytestmark = unknown_words
GIVEN = ("csv", "jsonl", "parquet", "csv", "jsonl")
FORMATS = ("parquet", "csv", "jsonl", "csv.gz", "jsonl.gz")
MANIFEST = "_release.json"


@pytest.fixture
def out(make_release, source, tmp_path):
    release_files(source, tmp_path / "out", make_release())
    return tmp_path / "out"


@pytest.mark.no_cover
@pytest.mark.parametrize(("given", "written"), [*zip(GIVEN, FORMATS, strict=True)])
def test_every_format_is_read_and_written_with_the_same_words(
    make_release, documents, tmp_path, given, written
):
    release = make_release(keep=("label",))
    path = write(documents, tmp_path / f"in.{given}")
    out = tmp_path / "out"
    manifest = release_files(path, out, release, format=written)
    names = ["id", "text", "label"]
    read = read_columns(out, names)
    expected = [release(documents)[name].to_pylist() for name in names]
    assert read[:2] == expected[:2]
    assert list(map(str, read[2])) == list(map(str, expected[2]))
    assert manifest["documents"] == 300
    assert manifest == json.loads((out / MANIFEST).read_text())
    assert list(contents(out)) == list(manifest["files"]) == [f"part-00000.{written}"]
    assert verify(out) == []


def test_a_folder_is_released_whole_and_what_is_hidden_is_no_data(
    make_release, documents, tmp_path
):
    folder, elsewhere = tmp_path / "in", tmp_path / "elsewhere.jsonl"
    (folder / "deep").mkdir(parents=True)
    elsewhere.mkdir()
    write(documents.slice(0, 100), folder / "one.parquet")
    write(documents.slice(0, 0), folder / "none.csv")
    write(documents.slice(100, 100), folder / "deep" / "one.parquet")
    write(documents.slice(200), elsewhere / "two.jsonl")
    (folder / "x.linked").symlink_to(elsewhere)
    write(documents, folder / "_temporary.parquet")
    (folder / "_SUCCESS").touch()
    manifest = release_files(folder, tmp_path / "out", make_release())
    files = manifest["files"]
    inputs = ["deep/one.parquet", "one.parquet", "x.linked/two.jsonl"]
    assert [told["input"] for told in files.values()] == inputs
    assert [told["documents"] for told in files.values()] == [100] * 3
    assert set(contents(tmp_path / "out")) == set(files)
    assert sum(map(len, read_columns(tmp_path / "out", ["id"]))) == 300
    with pytest.raises(InvalidParameterError, match="be outside the folder of the in"):
        release_files(folder, folder / "out", make_release())


@pytest.mark.no_cover
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
    monkeypatch.setattr("skdptext.release._tables._ROWS", 7)
    release_files(source, tmp_path / "small", release, **given)
    columns = [read_columns(tmp_path / x, ["id", "text"]) for x in ("one", "small")]
    assert columns[0] == columns[1]
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
    assert not list(tmp_path.glob(".out*"))


def test_ids_that_are_far_apart_are_compared_too(make_release, tmp_path):
    ids = [f"d{i}" for i in range(3000)]
    ids[2900] = ids[10]
    ids[2000] = ids[1500] = ids[11]
    table = pa.table({"id": ids, "text": pa.nulls(len(ids), pa.string())})
    path = write(table, tmp_path / "in.parquet", row_group=1000)
    with pytest.raises(InvalidParameterError, match="got 3 repeated"):
        release_files(path, tmp_path / "out", make_release())


def test_empty_texts_are_told(make_release, tmp_path):
    (tmp_path / "in.csv").write_text("id,text\n1,\n2,nan\n3,word1\n")
    with pytest.warns(EmptyDocumentWarning, match="2 of 3 texts are empty"):
        release_files(tmp_path / "in.csv", tmp_path / "out", make_release())


@refusals(
    ([], "source must name files that exist .* got no file"),
    (["no.parquet", "in.csv"], "files that exist .* got 'no.parquet'"),
    (__file__, r"source must name files that exist and end in \.parq"),
)
def test_bad_sources(make_release, tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("id,text\n1,word1\n")
    release_files(source, tmp_path / "out", make_release())


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


def test_what_is_missing_changed_or_unexpected_is_named(out):
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
    assert verify(out)[0].startswith(f"{part} cannot be read: ")


@pytest.mark.no_cover
def test_a_damaged_manifest_is_named_whatever_is_wrong_in_it(source, out, tmp_path):
    path = out / MANIFEST
    sound = json.loads(path.read_text())
    ((part, told),) = sound["files"].items()

    def refused(content):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        try:
            return "" if isinstance(verify(out), list) else "no list"
        except InvalidParameterError as error:
            return str(error)

    assert refused(sound) == ""
    for wrong in ({k: v for k, v in sound.items() if k != "files"}, {"files": {}}, []):
        assert "folder must be that of a release" in refused(wrong)
    for wrong in (None, True, -1, 0.5, "x", [], [3], [{}], {}, {"id": 3}):
        for name in sound:
            refused({**sound, name: wrong})  # raises nothing else
        for name in told:
            refused({**sound, "files": {part: {**told, name: wrong}}})
    refused({**sound, "files": {"../in.parquet": told}})  # no other file is looked at
    assert verify(out)[-1] == "../in.parquet is missing."
    for text in ("", "[]", "[" * 10**5):
        assert "is damaged" in refused(text)
    for place in (tmp_path, source, tmp_path / "none"):
        with pytest.raises(InvalidParameterError, match="must be that of a release"):
            verify(place)
