"""Releases of files with whole documents replaced."""

from __future__ import annotations

import csv
import json
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.documents import topic_encoder
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.release import (
    DocumentRelease,
    ReleaseKey,
    read_columns,
    release_files,
    verify,
)
from tests.expected import no_warning, refusals, refused, unknown_words
from tests.releases import contents, write_key
from tests.replacement.conftest import ALL_WORDS

pytestmark = unknown_words
# Of a file and not of the environment, which workers that are running would not see
_FOLDER = tempfile.TemporaryDirectory()
KEY = ReleaseKey(f"file:{write_key(Path(_FOLDER.name, 'key'))}")
AUTHORS = [f"author {i % 7}" for i in range(24)]  # of rows of both files


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, private):
    """Two private files."""
    monkeypatch.chdir(tmp_path)
    rows = list(zip(range(24), *private, AUTHORS, strict=True))
    for name, content in (("one", rows[:12]), ("two", rows[12:])):
        with open(f"{name}.csv", "w", newline="") as file:
            header = ["id", "said", "topic", "who"]
            csv.writer(file).writerows([header, *content])


def released(out="out"):
    """Stand-ins by id."""
    ids, texts = read_columns(out, ["id", "said"])
    return dict(zip(map(int, ids), texts, strict=True))


def unchanged(X, **key):
    return X


def test_options_of_a_grouper_are_not_in_the_manifest(public):
    """Nobody else should see these, as those of a client of a service."""
    secret = "sk-canary"
    client = FunctionTransformer(unchanged, kw_args={secret: [secret]})
    grouper = Pipeline([(secret, client), *topic_encoder(public[0], 2).steps])
    grouper.steps.append(("groups", KMeans(2, random_state=0)))
    replacer = DPDocumentReplacer(public[0], grouper).fit()
    assert secret not in json.dumps(DocumentRelease(replacer, KEY, "q4").manifest())


@pytest.mark.no_cover
@pytest.mark.parametrize("author", [None, "who"])
def test_files_are_released_as_transform_does(public, private, author):
    """Whatever the files, their order, and the number of threads."""
    texts, topics = public
    replacer = DPDocumentReplacer(texts, public_labels=topics)
    release = DocumentRelease(
        replacer, KEY, "q4", text="said", author=author, keep=["topic"]
    )
    inputs = ["one.csv", "two.csv"]
    manifest = release_files(inputs, "out", release)
    seed = int.from_bytes(KEY.derive(b"noise:q4"), "little")
    by_hand = clone(replacer).set_params(random_state=seed).fit()
    ids, authors = [f"{i}" for i in range(24)], AUTHORS if author else None
    expected = by_hand.transform(private[0], document_ids=ids, authors=authors)
    assert released() == dict(enumerate(expected))
    assert verify("out") == []
    if author:
        assert release_files(inputs, "again", release, n_jobs=2) == manifest
        assert contents(Path("again")) == contents(Path("out"))
    release_files(inputs[::-1], "reversed", release)
    assert released("reversed") == released()
    # another name is another release
    release_files(inputs, "other", replace(release, name="q5"))
    assert released("other") != released()
    # the manifest says what it is, and quotes no document
    guarantee = manifest["guarantee"]
    assert guarantee["unit"] == ("person" if author else "document")
    assert (guarantee["epsilon"], manifest["columns"]["author"]) == (4.0, author)
    text = Path("out", "_release.json").read_text()
    assert not any(document in text for document in [*texts, *private[0]])
    if author:
        with refused("author must be None for batches"):
            release(pa.table({"id": ["a"], "said": ["cat"], "who": ["ann"]}))


@pytest.mark.parametrize("output", ["text", "bow", "vector", "group", "index"])
def test_batches_of_every_output(public, private, output):
    texts, topics = public
    embedding = one_hot_embedding(ALL_WORDS)
    replacer = DPDocumentReplacer(
        texts, public_labels=topics, output=output, embedding=embedding
    )
    release = DocumentRelease(replacer.fit(), KEY, "q4")
    given = pa.table({"id": ["a", "b", "c"], "text": [private[0][0], None, ""]})
    table = release(given)
    assert table.num_rows == 3
    assert table.schema == release.schema
    assert pickle.loads(pickle.dumps(release))(given) == table
    # a retry, or another order: the same answers
    assert release(given.slice(1)) == table.slice(1)


STAND_INS = DPDocumentReplacer(["aa", "bb", "cc"], public_labels=[0, 1, 1])
PERTURBER = DPWordPerturber(
    one_hot_embedding(["a", "b"]), document_length=2, resize="sample"
)


@refusals(
    (clone(STAND_INS).set_params(random_state=2**90), {}, "random_state of the releas"),
    (clone(STAND_INS).fit().set_params(epsilon=0.1), {}, "changed after fit"),
    (PERTURBER, {"author": "who"}, "author must be None"),
)
def test_what_cannot_be_released(releaser, options):
    DocumentRelease(releaser, KEY, "q4", **options)


# -- public documents among the private ones -----------------------------------------


def _texts(n, seed):
    """Sentences of 16 words, of 400: no two have three of these in a row."""
    rng = np.random.default_rng(seed)
    return [" ".join(f"{i:03}word" for i in rng.integers(0, 400, 16)) for _ in range(n)]


def batch(texts):
    return pa.table({"id": [f"{i}" for i in range(len(texts))], "text": texts})


PRIVATE = _texts(60, 3)
MADE_OF_PRIVATE = {
    "another order": lambda texts: texts[::-1],
    "a full stop": lambda texts: [f" {text}." for text in texts],
    "capitals": lambda texts: [text.upper() for text in texts],
    "other blanks": lambda texts: [text.replace("wo", " wo") for text in texts],
    "wide letters": lambda texts: [
        text.translate({i: i + 0xFEE0 for i in range(ord("a"), ord("z") + 1)})
        for text in texts
    ],
    "accents": lambda texts: [text.replace("o", "o\u0301") for text in texts],
    "unseen signs": lambda texts: [text.replace("r", "r\u200b") for text in texts],
    "a fifth of them": lambda texts: _texts(48, 6) + texts[:12],
    "all among many others": lambda texts: _texts(2000, 6) + texts[:12],
}


@pytest.mark.no_cover
@pytest.mark.parametrize("made", MADE_OF_PRIVATE)
def test_private_documents_are_not_published_as_stand_ins(made):
    """Neither by the replacer nor by an engine that maps the release."""
    private = PRIVATE[:12] if made == "all among many others" else PRIVATE
    replacer = DPDocumentReplacer(MADE_OF_PRIVATE[made](private), n_groups=2).fit()
    release = DocumentRelease(replacer, KEY, "q4")
    counts = r"got [1-9]\d* of \d+ (public )?texts of 25 letters.*where (1|10)% are ac"
    for ask in (
        lambda: replacer.transform(private),
        lambda: replacer.transform(private, authors=range(len(private))),
        lambda: release(batch(private)),
        lambda: pickle.loads(pickle.dumps(release))(batch(private)),
    ):
        with refused(f"must not be among the private ones, {counts}") as error:
            ask()
        assert "word" not in str(error.value)
    # who says that all of them are public
    replacer.set_params(allow_shared_texts=True).fit()
    allowed = DocumentRelease(replacer, KEY, "q4")
    assert len(allowed(batch(private))) == len(private)
    assert "allow_shared_texts" in allowed.manifest()["guarantee"]["words"]
    assert "allow_shared_texts" not in release.manifest()["guarantee"]["words"]


def test_a_few_shared_texts_are_told():
    replacer = DPDocumentReplacer(_texts(999, 1) + PRIVATE[:4], n_groups=2).fit()
    release = DocumentRelease(replacer, KEY, "q4")
    for ask in (replacer.transform, lambda texts: release(batch(texts))):
        with no_warning():
            assert len(ask(_texts(100, 9))) == 100
        with pytest.warns(PrivacyLeakWarning, match="^4 of 1,003 public texts are am"):
            ask(PRIVATE)


def test_short_texts_coincide_by_chance_but_not_most():
    """Most of either set; and of ten, which may be commonplaces, a warning tells."""
    words = [f"word{i} and {('tea', 'milk')[i % 2]}" for i in range(60)]
    replacer = DPDocumentReplacer(words, n_groups=2).fit()
    release = DocumentRelease(replacer, KEY, "q4")
    model = DPTextClassifier(words, classes=[0, 1], n_groups=2)
    said, other = [word.title() for word in words], [f"tea {i}" for i in range(40)]
    for ask in (
        replacer.transform,
        lambda X: replacer.transform(X, authors=range(len(X))),
        lambda X: release(batch(X)),
        lambda X: model.fit(X, np.arange(len(X)) % 2),
    ):
        with pytest.warns(PrivacyLeakWarning, match="^10 of 60 public texts are among"):
            ask(said[:10] + other[:2])
        ask(said[:22] + other[:22])
        with refused("got 22 of 40 texts there that are public, where 50%"):
            ask(said[:22] + other[:18])
        with refused("got 31 of 60 public"):
            ask(said[:31] + other)
