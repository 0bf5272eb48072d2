"""Releases of files, and the command line, with whole documents replaced."""

from __future__ import annotations

import csv
import json
import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPDocumentReplacer
from skdptext.cli import main
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.release import (
    DocumentRelease,
    ReleaseKey,
    release_files,
    verify,
)
from tests.expected import no_warning, refused
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


class Grouper(ClassifierMixin, BaseEstimator):
    """With settings that nobody else should see, as those of a client of a service."""

    def __init__(self, api_key=None, pin=None, headers=None, client=None):
        self.api_key, self.pin = api_key, pin
        self.headers, self.client = headers, client

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[[len(x) % 2 for x in X]]


def unchanged(X, **given):
    return X


class Client(dict):
    """An object that is a dict, too."""


class Url(str):
    __slots__ = ()


CANARY = "sk-canary"
PIN = 7351928461
SECRET = {
    "api_key": CANARY,
    "pin": PIN,
    "headers": {CANARY: [CANARY, (CANARY, {CANARY: {CANARY}})]},
    "client": Client(token=CANARY),
}
GROUPERS = {
    "options": lambda: Grouper(**SECRET),
    "its own kinds": lambda: Grouper(Url(CANARY), client=[Client(a=Url(CANARY))]),
    "a pipeline": lambda: make_pipeline(
        FunctionTransformer(unchanged, kw_args=SECRET), Grouper(**SECRET)
    ),
    "a pipeline within": lambda: Pipeline(
        [
            (CANARY, make_pipeline(FunctionTransformer(unchanged, inv_kw_args=SECRET))),
            ("last", GridSearchCV(Grouper(), {"api_key": [CANARY]}, cv=2)),
        ]
    ),
    "an estimator in a dict": lambda: Grouper(headers={CANARY: Grouper(**SECRET)}),
}


@pytest.mark.parametrize("grouper", GROUPERS.values(), ids=GROUPERS)
def test_options_of_a_grouper_are_not_in_the_manifest(folder, public, grouper):
    made = grouper()
    replacer = DPDocumentReplacer(public[0], made, public_labels=public[1]).fit()
    release = DocumentRelease(replacer, ReleaseKey(f"file:{folder / 'key'}"), "q4")
    text = json.dumps(release.manifest())
    assert CANARY not in text
    assert str(PIN) not in text


@pytest.mark.no_cover
def test_files_are_released(folder, public, private):
    texts, topics = public
    replacer = DPDocumentReplacer(texts, public_labels=topics)
    key = ReleaseKey(f"file:{folder / 'key'}")
    release = DocumentRelease(replacer, key, "q4", text="said", keep=["topic"])
    manifest = release_files("in.csv", "out", release)
    stand_ins = released(folder)
    assert len(stand_ins) == len(private[0])
    assert set(stand_ins.values()) <= set(texts)
    assert release_files("in.csv", "again", release) == manifest
    assert released(folder, "again") == stand_ins
    assert verify("out") == []
    # the manifest says what it is, and quotes no document
    text = (folder / "out" / "_release.json").read_text()
    assert manifest["releaser"] == "DPDocumentReplacer"
    assert manifest["guarantee"]["words"].startswith("Privacy statement. Stand-ins")
    assert manifest["guarantee"]["epsilon"] == 4.0
    assert not any(document in text for document in [*texts, *private[0]])
    # another name is another release
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


def test_what_cannot_be_released(folder, public):
    key = ReleaseKey(f"file:{folder / 'key'}")
    replacer = DPDocumentReplacer(public[0], n_groups=3)
    for perturber, message in (
        (clone(replacer).set_params(random_state=2**90), "random_state of the releas"),
        (object(), "releaser must be a releaser"),
        (
            clone(replacer).fit().set_params(epsilon=0.1),
            "epsilon was changed after fit",
        ),
    ):
        with refused(message):
            DocumentRelease(perturber, key, "q4")


# -- public documents among the private ones -----------------------------------------


def _texts(n, seed):
    """Sentences of 16 words, of 400: no two have three of these in a row."""
    rng = np.random.default_rng(seed)
    return [" ".join(f"{i:03}word" for i in rng.integers(0, 400, 16)) for _ in range(n)]


def batch(texts):
    return pa.table({"id": [f"{i}" for i in range(len(texts))], "text": texts})


PRIVATE = _texts(60, 3)
MADE_OF_PRIVATE = {
    "as they are": list,
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
def test_private_documents_are_not_published_as_stand_ins(folder, made):
    """Neither by the replacer nor by an engine that maps the release."""
    private = PRIVATE[:12] if made == "all among many others" else PRIVATE
    replacer = DPDocumentReplacer(MADE_OF_PRIVATE[made](private), n_groups=2).fit()
    release = DocumentRelease(replacer, ReleaseKey("file:key"), "q4")
    counts = (
        r", got [1-9]\d* of \d+ (public )?texts of 25 letters.*where (1|10)% are ac"
    )
    for ask, X in (
        (replacer.transform, private),
        (release, batch(private)),
        (pickle.loads(pickle.dumps(release)), batch(private)),
    ):
        with refused(
            "must not be among the documents to be released" + counts
        ) as error:
            ask(X)
        assert "word" not in str(error.value)
    # whoever says that all of them are public, of the replacer or of the release
    replacer.set_params(allow_shared_texts=True)
    for allowed in (
        DocumentRelease(replacer, ReleaseKey("file:key"), "q4"),
        replace(release, allow_shared_texts=True),
    ):
        assert len(allowed(batch(private))) == len(private)
        words = allowed.manifest()["guarantee"]["words"]
        assert words.count("to be released: the maker") == 1


def test_a_few_shared_texts_are_told(folder):
    replacer = DPDocumentReplacer(_texts(299, 1) + PRIVATE[:1], n_groups=2)
    release = DocumentRelease(replacer, ReleaseKey("file:key"), "q4")
    with no_warning():
        assert len(release(batch(_texts(100, 9)))) == 100
    with pytest.warns(PrivacyLeakWarning, match="^1 of 300 public texts is among"):
        release(batch(PRIVATE))
    assert release.manifest()["allow_shared_texts"] is False


def test_short_texts_coincide_by_chance_but_not_most(folder):
    words = [f"word{i} and {('tea', 'milk')[i % 2]}" for i in range(20)]
    replacer = DPDocumentReplacer(words, n_groups=2).fit()
    said = [word.title() for word in words]
    assert len(replacer.transform([*said[:10], "no", "yes"])) == 12
    with refused("got 11 of 20 public"):
        replacer.transform([*said[:11], "no", "yes"])


# -- the command line ----------------------------------------------------------------

COMMAND = [
    "release", "in.csv", "--text", "said", "-o", "out", "--public", "public.csv",
    "--epsilon", "4", "--name", "q4", "--key", "file:key",
]  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--n-groups", "3", "--public-text", "said"],
        ["--public-label", "topic", "--output", "group"],
    ],
)
def test_the_command(folder, public, capsys, options):
    assert main([*COMMAND, *options]) == 0
    warned = capsys.readouterr().err
    assert "Of 100 equally likely candidates, nobody identifies more" in warned
    assert "Exponents above about 20" not in warned
    allowed = set(WORDS) if "group" in options else set(public[0])
    assert set(released(folder).values()) <= allowed
    assert main(["verify", "out"]) == 0
    manifest = json.loads((folder / "out" / "_release.json").read_text())
    (part,) = manifest["guarantee"]["stored"]["parts"]
    assert part["n_groups"] == (3 if options else 8)


def test_the_command_refuses_private_documents_as_public_ones(folder, capsys):
    with open("in.csv", "w") as file:
        file.writelines(["id,said\n", *(f"{i},{t}\n" for i, t in enumerate(PRIVATE))])
    command = [*COMMAND, "--public", "in.csv", "--n-groups", "2"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "--public must not be among the documents to be released, got" in said
    assert "accept it with --allow-shared-texts" in said
    assert not (folder / "out").exists()
    assert main([*command, "--allow-shared-texts"]) == 0
    manifest = json.loads((folder / "out" / "_release.json").read_text())
    assert "to be released: the maker" in manifest["guarantee"]["words"]
    # begun with it, it is not another one's
    assert main(command) == 2
    capsys.readouterr()


def test_cells_without_a_label_are_no_group(folder, public):
    texts, topics = public
    with open("public.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["said", "topic"])
        writer.writerows(zip(texts, [*topics[:24], *[""] * 6], strict=True))
    assert main([*COMMAND, "--public-label", "topic", "--output", "group"]) == 0
    assert set(released(folder).values()) == set(WORDS)
