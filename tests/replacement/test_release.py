"""Releases of files, and the command line, with whole documents replaced."""

from __future__ import annotations

import csv
import json
import pickle

import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone

from skdptext import DPDocumentReplacer
from skdptext.cli import main
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.release import (
    DocumentRelease,
    ReleaseKey,
    read_bags,
    release_files,
    seal,
    verify,
)
from tests.releases import write_key
from tests.replacement.conftest import WORDS

pytestmark = pytest.mark.filterwarnings("ignore:.*are empty or not a number")


@pytest.fixture
def folder(tmp_path, monkeypatch, public, private):
    """A folder to work in, with public and private documents, and a key."""
    monkeypatch.chdir(tmp_path)
    for name, (texts, topics) in {"public": public, "in": private}.items():
        with open(f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "said", "topic"])
            writer.writerows(zip(range(len(texts)), texts, topics, strict=True))
    write_key(tmp_path / "key")
    return tmp_path


def released(folder, out="out"):
    rows = []
    for path in sorted((folder / out).glob("*.csv")):
        with open(path, newline="") as file:
            rows += list(csv.DictReader(file))
    return {int(row["id"]): row["said"] for row in rows}


def test_files_are_released_and_sealed(folder, public, private):
    texts, topics = public
    replacer = DPDocumentReplacer(texts, public_labels=topics)
    key = ReleaseKey(f"file:{folder / 'key'}")
    release = DocumentRelease(replacer, key, "q4", text="said", keep=["topic"])
    manifest = release_files("in.csv", "out", release, batch_rows=7)
    stand_ins = released(folder)
    assert len(stand_ins) == len(private[0])
    assert set(stand_ins.values()) <= set(texts)
    # again, resumed, and in other batches of the same process: the same
    assert release_files("in.csv", "out", release, batch_rows=7) == manifest
    release_files("in.csv", "again", release, batch_rows=50)
    assert released(folder, "again") == stand_ins
    assert seal("out")["complete"]
    assert verify("out") == []
    # the manifest says what it is, and quotes no document
    text = (folder / "out" / "_release.json").read_text()
    assert manifest["mechanism"]["name"] == "DPDocumentReplacer"
    assert manifest["guarantee"]["words"].startswith("Of 100 candidates, nobody")
    assert manifest["guarantee"]["epsilon"] == manifest["epsilon"] == 4.0
    assert manifest["public"]["documents"] == len(texts)
    assert not any(document in text for document in [*texts, *private[0]])
    # another ε, other public documents, another name: another release
    for other in (
        clone(replacer).set_params(epsilon=3.0),
        DPDocumentReplacer(texts[::-1], public_labels=topics[::-1]),
    ):
        another = DocumentRelease(other, key, "q4", text="said", keep=["topic"])
        with pytest.raises(InvalidParameterError, match="out must"):
            release_files("in.csv", "out", another, batch_rows=7)
    another = DocumentRelease(replacer, key, "q5", text="said", keep=["topic"])
    release_files("in.csv", "other", another)
    assert released(folder, "other") != stand_ins


@pytest.mark.parametrize("output", ["text", "bow", "vector", "group", "index"])
def test_batches_of_every_output(folder, public, private, output):
    texts, topics = public
    words = [word for of_topic in WORDS.values() for word in of_topic]
    replacer = DPDocumentReplacer(
        texts, public_labels=topics, output=output, embedding=one_hot_embedding(words)
    )
    key = ReleaseKey(f"file:{folder / 'key'}")
    release = DocumentRelease(replacer.fit(), key, "q4")
    batch = pa.table({"id": ["a", "b", "c"], "text": [private[0][0], None, ""]})
    table = release(batch)
    assert table.num_rows == 3
    assert table.schema == release.schema
    assert pickle.loads(pickle.dumps(release))(batch) == table
    # a retry, or another order: the same answers
    assert release(batch.slice(1)) == table.slice(1)
    if output == "bow":
        parquet.write_table(batch, "in.parquet")
        release_files("in.parquet", "bags", release)
        seal("bags")
        ids, bags = read_bags("bags")
        assert bags.shape == (3, len(words))
        assert sorted(ids) == ["a", "b", "c"]


def test_what_cannot_be_released(folder, public):
    key = ReleaseKey(f"file:{folder / 'key'}")
    replacer = DPDocumentReplacer(public[0], n_groups=3)
    with pytest.raises(InvalidParameterError, match="random_state of the perturber"):
        DocumentRelease(clone(replacer).set_params(random_state=2**90), key, "q4")
    with pytest.raises(InvalidParameterError, match="without transform"):
        DocumentRelease(object(), key, "q4")
    fitted = clone(replacer).fit().set_params(epsilon=0.1)
    with pytest.raises(InvalidParameterError, match="epsilon must not change"):
        DocumentRelease(fitted, key, "q4")


COMMAND = [
    "release", "in.csv", "--column", "said", "-o", "out", "--replace-by", "public.csv",
    "--epsilon", "4", "--name", "q4", "--key", "file:key",
]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--groups", "3", "--text-column", "said"],
        ["--label-column", "topic", "--output", "group"],
    ],
)
def test_the_command(folder, public, capsys, options):
    assert main([*COMMAND, *options]) == 0
    warned = capsys.readouterr().err
    assert "Of 100 candidates, nobody finds more than" in warned
    assert "Exponents above about 20" not in warned
    allowed = set(WORDS) if "group" in options else set(public[0])
    assert set(released(folder).values()) <= allowed
    assert main(["verify", "out"]) == 0
    manifest = json.loads((folder / "out" / "_release.json").read_text())
    groups = manifest["mechanism"]["options"]["n_groups"]
    assert groups == (3 if options else 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--length", "4"], "--length must not be given"),
        (["--output", "tokens"], "--output must be text, bow, group or index"),
        (["--groups", "1"], "--groups must be an integer >= 2, got 1"),
        (["--groups", "3", "--label-column", "topic"], "--groups must not be given"),
        (["--groups", "500"], "--groups must be at most the number of public"),
        (["--output", "bow"], "--embedding must name a file"),
        (["--label-column", "who"], "who"),
        (["--replace-by", "nothing.csv"], "nothing.csv"),
    ],
)
def test_what_the_command_refuses(folder, capsys, options, message):
    assert main([*COMMAND, *options]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_what_belongs_to_replacing_needs_it(folder, capsys):
    words = [part for part in COMMAND if part not in ("--replace-by", "public.csv")]
    for options, message in (
        (["--groups", "3"], "--groups must not be given without --replace-by"),
        ([], "--length must be given"),
        (["--length", "3", "--output", "index"], "--output must be text, tokens or"),
    ):
        assert main([*words, *options]) == 2
        assert message in capsys.readouterr().err
