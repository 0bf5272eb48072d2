"""Files: shards that are the same however often, and by whom, they are written."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import signal
import time
import warnings
from hashlib import sha256
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.release import ReleaseKey, read_bags, release_files, seal, verify
from tests.memory import traced_memory
from tests.releases import contents, write

OTHER = sha256(b"another key").hexdigest()
FORMATS = ("parquet", "csv", "jsonl")


@pytest.fixture(scope="module")
def finished(make_release, documents, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    source = write(documents, folder / "in.parquet")
    release_files(source, folder / "out", make_release())
    return folder / "out"


@pytest.fixture
def out(finished, tmp_path):
    """The release of `source`, which is made once and can be changed."""
    return shutil.copytree(finished, tmp_path / "out")


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
    release = make_release()
    manifest = release_files(folder, tmp_path / "out", release, batch_rows=50)
    assert [place["name"] for place in manifest["inputs"]] == [
        "deep/one.parquet",
        "one.parquet",
        "two.jsonl",
    ]
    assert [place["rows"] for place in manifest["inputs"]] == [
        [64, 36],
        [64, 36],
        [100],
    ]
    assert len(contents(tmp_path / "out")) == 3 + 3 + 2
    assert len(rows(tmp_path / "out")) == 300
    listed = [folder / "one.parquet", folder / "two.jsonl"]
    release_files(listed, tmp_path / "listed", release, batch_rows=50)
    both = contents(tmp_path / "listed").keys() & contents(tmp_path / "out").keys()
    assert len(both) == 3 + 2


def test_what_is_there_is_not_written_again(make_release, source, tmp_path):
    release, out = make_release(), tmp_path / "out"
    release_files(source, out, release, batch_rows=20)
    written = contents(out)
    names = sorted(written)
    assert len(names) == 4 * 4 + 3  # of 64 rows four each, of 44 three
    (out / names[3]).unlink()
    (out / names[4]).unlink()
    stamps = {name: (out / name).stat().st_mtime_ns for name in names[5:]}
    release_files(source, out, release, batch_rows=20)
    assert contents(out) == written
    assert stamps == {name: (out / name).stat().st_mtime_ns for name in names[5:]}


@pytest.mark.no_cover
@pytest.mark.parametrize(("batch_rows", "n_shards"), [(20, 19), (4, 75)])
def test_the_folder_is_not_listed_for_every_file(
    make_release, source, tmp_path, monkeypatch, batch_rows, n_shards
):
    """Or the time of a release would grow with the square of the number of files."""
    out, listed = tmp_path / "out", []

    def counted(list_folder):
        def count(folder="."):
            listed.append(os.fspath(folder))
            return list_folder(folder)

        return count

    with monkeypatch.context() as patch:
        for name in ("listdir", "scandir"):  # Path takes one or the other, by version
            patch.setattr(os, name, counted(getattr(os, name)))
        release_files(source, out, make_release(), batch_rows=batch_rows)
    assert len(contents(out)) == n_shards
    assert listed.count(str(out)) == 3  # is it empty, the manifest, what was left


def test_processes_write_the_same_bytes(make_release, source, tmp_path, capsys):
    release = make_release()
    release_files(source, tmp_path / "one", release, batch_rows=30)
    release_files(source, tmp_path / "two", release, batch_rows=30, n_jobs=2, verbose=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert "300/300" in capsys.readouterr().err


def start(*args, **options):
    """A release in a process of its own, which shares what is imported."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=release_files, args=args, kwargs=options)
    process.start()
    return process


@pytest.mark.no_cover
def test_killed_at_ten_random_moments_it_ends_with_the_same_bytes(
    make_release, documents, tmp_path
):
    release, out = make_release(), tmp_path / "out"
    source = write(documents.slice(0, 160), tmp_path / "in.parquet")
    release_files(source, tmp_path / "whole", release, batch_rows=4)
    rng = np.random.default_rng(3)
    n_shards = 0
    for _ in range(10):
        process = start(source, out, release, batch_rows=4)
        n_shards += 1 + rng.integers(0, 3)  # of 40
        while process.is_alive() and len(list(out.glob("*.parquet"))) < n_shards:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.004))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        n_shards = len(list(out.glob("*.parquet")))
    assert n_shards < 40
    with pytest.raises(InvalidParameterError, match="is missing"):
        seal(out)
    release_files(source, out, release, batch_rows=4)
    seal(out)  # which deletes what was half written
    assert contents(out) == contents(tmp_path / "whole")
    assert verify(out) == []


@pytest.mark.no_cover
def test_two_that_write_at_once_write_the_same(make_release, source, tmp_path):
    release, out = make_release(), tmp_path / "out"
    writers = [start(source, out, release, batch_rows=16) for _ in range(2)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    release_files(source, tmp_path / "alone", release, batch_rows=16)
    assert contents(out) == contents(tmp_path / "alone")
    assert seal(out)["complete"]


CHANGES = {
    "key": {},
    "name": {"name": "another"},
    "epsilon": {"epsilon": 3.0},
    "lam": {"lam": 0.25},
    "document_length": {"document_length": 5},
    "output": {"output": "tokens"},
    "reading": {"lowercase": False},
    "columns": {"keep": ("label",)},
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CHANGES)
def test_another_release_is_refused(make_release, source, out, name, monkeypatch):
    before = contents(out), (out / "_release.json").read_bytes()
    other = make_release(**CHANGES[name])
    if name == "key":
        monkeypatch.setenv("ANOTHER", OTHER)
        other = make_release(key=ReleaseKey("env:ANOTHER"))
    # what follows from it, such as digests under the key, is not told beside it
    why = rf"{name}(\.\w+)? (is|has) .*"
    why = "it was begun with another key, and .*" if name == "key" else why
    with pytest.raises(InvalidParameterError, match=f"another: {why}") as e:
        release_files(source, out, other)
    assert ";" not in str(e.value)
    assert OTHER[:32] not in str(e.value)
    assert before == (contents(out), (out / "_release.json").read_bytes())


@pytest.mark.no_cover
@pytest.mark.parametrize("key", ["versions", "canary", "embedding", "shard_format"])
def test_a_release_by_other_versions_or_embeddings_is_refused(
    make_release, source, out, key
):
    manifest = json.loads((out / "_release.json").read_text())
    changed = {
        "versions": manifest["versions"] | {"numpy": "1.0"},
        "embedding": manifest["embedding"] | {"fingerprint": "00"},
        "canary": "00",
        "shard_format": "csv",
    }
    manifest[key] = changed[key]
    (out / "_release.json").write_text(json.dumps(manifest))
    with pytest.raises(InvalidParameterError, match=rf"another: {key}[.\w]* is "):
        release_files(source, out, make_release())


def test_a_key_that_is_used_for_another_name_is_told(
    make_release, source, out, tmp_path
):
    own = make_release("third", key=ReleaseKey.generate(tmp_path / "key"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        release_files(source, tmp_path / "same name", make_release())
        release_files(source, tmp_path / "own key", own)
    second = make_release("second")
    with pytest.warns(PrivacyLeakWarning, match="The key of 'out' is used again"):
        release_files(source, tmp_path / "second", second)
    with warnings.catch_warnings():  # it is told where a release begins
        warnings.simplefilter("error", PrivacyLeakWarning)
        release_files(source, tmp_path / "second", second)


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ({}, "another: columns.keep has 'label' there, and not here."),
        (
            {"keep": {"label": pa.int32(), "text2": None}},
            "another: columns.keep.label is None there, got 'int32'; "
            "columns.keep has 'text2' here, and not there.",
        ),
        ({"keep": ["label"], "text": "b"}, "columns.text is 'text' there, got 'b'."),
    ],
)
def test_columns_that_differ_are_told_in_words(
    make_release, documents, tmp_path, ours, told
):
    both = documents.append_column("b", documents["text"])
    source = write(
        both.append_column("text2", documents["text"]), tmp_path / "in.parquet"
    )
    release_files(source, tmp_path / "out", make_release(keep=["label"]))
    with pytest.raises(InvalidParameterError, match=re.escape(told)):
        release_files(source, tmp_path / "out", make_release("a release", **ours))


def test_a_machine_that_rounds_otherwise_goes_on(make_release, source, out):
    manifest = json.loads((out / "_release.json").read_text())
    manifest["guarantee"]["scale"][0]["exponent"] *= 1 + 1e-15
    (out / "_release.json").write_text(json.dumps(manifest))
    assert release_files(source, out, make_release()) == manifest


def test_inputs_that_changed_and_other_batches_are_refused(
    make_release, documents, source, out
):
    release = make_release()
    with pytest.raises(InvalidParameterError, match="batch_rows is 4096 there, got 9"):
        release_files(source, out, release, batch_rows=9)
    write(documents.slice(1), source)
    with pytest.raises(InvalidParameterError, match="inputs are different ones"):
        release_files(source, out, release)


def test_a_folder_of_other_files_is_refused(make_release, source, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"holds other files: in\.parquet"):
        release_files(source, tmp_path, make_release())
    (tmp_path / "_release.json").write_text("{}")
    with pytest.raises(InvalidParameterError, match="of format"):
        release_files(source, tmp_path, make_release())
    (tmp_path / "_release.json").write_text("none")
    with pytest.raises(InvalidParameterError, match="which is not one"):
        verify(tmp_path)


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
    # more than are held in memory, so that they come from temporary files
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
        ({"batch_rows": 0}, "batch_rows must be an integer >= 1, got 0"),
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


def test_no_documents_are_a_release_too(make_release, documents, tmp_path):
    path = write(documents.slice(0, 0), tmp_path / "in.parquet")
    release_files(path, tmp_path / "out", make_release(output="bow"))
    assert seal(tmp_path / "out")["documents"] == 0
    ids, bags = read_bags(tmp_path / "out")
    assert (len(ids), bags.shape) == (0, (0, 60))


def test_bags_come_back_as_the_perturber_would_give_them(
    make_release, documents, source, out, tmp_path
):
    bags = tmp_path / "bags"
    release_files(source, bags, make_release(output="bow"), batch_rows=37)
    with pytest.raises(InvalidParameterError, match="out must hold a sealed release"):
        read_bags(bags)
    seal(bags)
    ids, bags = read_bags(bags)
    assert ids.tolist() == documents["id"].to_pylist()
    assert bags.sum(axis=1).A1.tolist() == [4] * 300
    tokens = make_release(output="tokens")(documents)["text"].to_pylist()
    expected = np.zeros((300, 60), dtype=int)
    for row, words in enumerate(tokens):
        for word in words:
            expected[row, int(word.removeprefix("word"))] += 1
    assert (bags.toarray() == expected).all()
    seal(out)
    with pytest.raises(InvalidParameterError, match=r'output="bow", got \'text\''):
        read_bags(out)


def test_a_seal_counts_and_names_what_is_wrong(make_release, source, tmp_path):
    release, out = make_release(), tmp_path / "out"
    manifest = release_files(source, out, release, batch_rows=40)
    assert not manifest["complete"]
    assert verify(out) == ["It is not sealed."]
    first, second, *_ = sorted(out.glob("*.parquet"))
    whole = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(InvalidParameterError, match="holds 24 documents instead of 40"):
        seal(out)
    first.write_bytes(whole[:-9])
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        seal(out)
    first.unlink()
    (out / "notes.txt").touch()
    with pytest.raises(InvalidParameterError, match=r"notes.* not part .* is missing"):
        seal(out)
    (out / "notes.txt").unlink()
    release_files(source, out, release, batch_rows=40)
    sealed = seal(out)
    assert sealed["complete"]
    assert seal(out) == sealed == release_files(source, out, release, batch_rows=40)
    assert verify(out) == []
    first.write_bytes(whole + b" ")
    assert verify(out) == [f"{first.name} has changed since it was sealed."]
    with pytest.raises(InvalidParameterError, match="has changed since"):
        seal(out)
    for path in out.glob("*.parquet"):
        path.unlink()
    with pytest.raises(InvalidParameterError, match="And 5 more"):
        seal(out)


@pytest.mark.parametrize("rows", [10**9, 10**18])
@pytest.mark.parametrize("batch_rows", [1, 10**6])
def test_a_manifest_of_billions_of_rows_is_refused_at_once(out, rows, batch_rows):
    seal(out)
    path = out / "_release.json"
    manifest = json.loads(path.read_text())
    manifest["inputs"][0]["rows"] = [rows]
    path.write_text(
        json.dumps({**manifest, "batch_rows": batch_rows, "documents": rows})
    )
    faults = verify(out)
    assert faults[-1].endswith("files are there.") or rows // batch_rows < 10_000
    assert len(faults) < 20_000
    with pytest.raises(InvalidParameterError, match="is missing"):
        seal(out)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name",
    [".x.csv", "_x.csv", "..csv", ".csv", "名.csv", "._.csv", "-.csv", "x y.csv"],
)
def test_any_name_of_an_input_gives_shards_that_readers_see(
    make_release, tmp_path, name
):
    path = tmp_path / name
    path.write_text("id,text\n1,word1\n")
    release_files([path], tmp_path / "out", make_release())
    sealed = seal(tmp_path / "out")
    assert verify(tmp_path / "out") == []
    (shard,) = sealed["shards"]
    assert shard[0] not in "._"


@pytest.mark.parametrize("call", [seal, verify, read_bags])
def test_what_is_no_release_is_refused(tmp_path, call):
    with pytest.raises(InvalidParameterError, match="out must be"):
        call(tmp_path)
    with pytest.raises(InvalidParameterError, match="out must be a path, got 3"):
        call(3)


WRONG = (None, True, -1, 0.5, "x", [], [3], [{}], {}, {"id": 3})


@pytest.mark.no_cover
def test_a_damaged_manifest_is_named_whatever_is_wrong_in_it(source, out):
    sound, path = seal(out), out / "_release.json"

    def refused(changed):
        path.write_text(json.dumps(changed))
        try:
            faults = verify(out)
        except InvalidParameterError as error:
            return str(error)
        assert isinstance(faults, list)
        return ""

    assert refused(sound) == ""
    (place,) = sound["inputs"]
    for name in ("complete", "documents", "embedding", "shard_format", "shards"):
        message = refused({k: v for k, v in sound.items() if k != name})
        assert message.endswith(f"which these are missing or damaged: {name}.")
        assert repr(str(path)) in message
    for name, wrong in product(sound, WRONG):
        refused({**sound, name: wrong})  # raises nothing else
    for name, wrong in product(place, WRONG):
        refused({**sound, "inputs": [{**place, name: wrong}]})
    for rows in (None, 300, ["300"], [-1, 301], [True]):
        message = refused({**sound, "inputs": [{**place, "rows": rows}]})
        assert "damaged: inputs" in message
    assert "documents" in refused({**sound, "inputs": [{**place, "rows": [299]}]})
    # so that no count is read of a release that says that it is complete
    assert "shards" in refused({**sound, "shards": None})
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


def test_a_folder_or_a_broken_link_in_place_of_a_file_is_a_fault(out, tmp_path):
    seal(out)
    first, second, *_ = sorted(out.glob("*.parquet"))
    first.unlink()
    first.mkdir()
    second.unlink()
    second.symlink_to(tmp_path / "gone")
    assert verify(out) == [
        f"{first.name} cannot be read: Is a directory.",
        f"{second.name} cannot be read: No such file or directory.",
    ]
    with pytest.raises(InvalidParameterError, match="cannot be read: Is a directory"):
        seal(out)


def test_files_are_checked_block_by_block(out):
    seal(out)
    (shard, *_) = sorted(out.glob("*.parquet"))
    os.truncate(shard, 8 * 2**20)
    with traced_memory() as memory:
        assert f"{shard.name} has changed since it was sealed." in verify(out)
    assert memory.peak < 2 * 2**20
