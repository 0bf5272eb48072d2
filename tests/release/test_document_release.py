"""One function from batches to batches, whose noise is always the same."""

from __future__ import annotations

import dataclasses
import json
import pickle
import warnings
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import NoiseStreams
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.mechanisms import Exponential, RandomizedResponse
from skdptext.release import DocumentRelease, ReleaseKey
from tests.channels import Stated
from tests.expected import refusals, refused, unknown_words
from tests.mechanism_forms import forms
from tests.releases import secrets_of

pytestmark = unknown_words


def words(table):
    """Released texts by id."""
    return dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))


@pytest.mark.no_cover
@settings(max_examples=10)
@given(st.data())
def test_words_do_not_depend_on_batches_order_or_type(make_release, documents, data):
    release = make_release(document_length=3)
    order = data.draw(st.permutations(range(0, 300, 7)))
    cut = data.draw(st.integers(0, len(order)))
    table = documents.take(order)
    parts = [release(table.slice(0, cut)), release(table.slice(cut))]
    batch = table.combine_chunks().to_batches()[0]
    assert isinstance(release(batch), pa.RecordBatch)
    expected = words(release(documents.take(list(range(0, 300, 7)))))
    for released in (*parts, release(batch)):
        assert words(released).items() <= expected.items()


@pytest.mark.parametrize("output", ["bow", "tokens", "text"])
def test_the_schema_is_what_comes_out(make_release, documents, output):
    release = make_release(output=output, keep={"label": pa.int16()})
    for part in (documents, documents.slice(0, 0)):
        released = release(part)
        assert released.schema == release.schema
        assert released["id"].to_pylist() == part["id"].to_pylist()
        assert released["label"].to_pylist() == part["label"].to_pylist()


def test_equal_texts_are_told_apart_by_ids_and_by_names(make_release, documents):
    release = make_release(document_length=8)
    same = pa.table({"id": documents["id"], "text": ["word1 word2"] * 300})
    released = words(release(same))
    # 8 words, each of at least 3 with a probability below .9: by chance 1e-6 are equal
    assert len(set(released.values())) > 290
    again = words(make_release(document_length=8)(same))
    assert again == released
    other = words(make_release("another", document_length=8)(same))
    assert sum(other[i] == released[i] for i in released) < 10
    integers = pa.table({"id": range(300), "text": same["text"]})
    strings = integers.set_column(0, "id", integers["id"].cast(pa.string()))
    assert words(release(integers)) == words(release(strings))


def test_it_is_the_release_of_the_perturber_under_a_derived_seed(
    make_release, documents, embedding
):
    release = make_release(output="tokens")
    seed = int.from_bytes(release.key.derive(b"noise:a release"), "little")
    perturber = DPWordPerturber(
        embedding, epsilon=2.0, document_length=4, resize="sample", output="tokens",
        random_state=seed,
    ).fit([])  # fmt: skip
    texts = [text or "" for text in documents["text"].to_pylist()]
    with warnings.catch_warnings():  # with ids of their own no document is shown
        warnings.simplefilter("error", PrivacyLeakWarning)
        expected = perturber.transform(texts, document_ids=documents["id"].to_pylist())
    assert release(documents)["text"].to_pylist() == expected


def test_strings_of_every_kind_are_the_same(make_release):
    plain = pa.table({"id": ["a", "b", "c"], "text": ["word1", None, "word2 word3"]})
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary("int8", "string")):
        table = pa.table({name: plain[name].cast(kind) for name in plain.schema.names})
        assert make_release()(table).equals(make_release()(plain))


def test_categories_of_other_rows_are_not_released(make_release):
    """Slices and filters of a column keep its whole dictionary."""
    kept = pa.array(["here", "elsewhere"]).dictionary_encode()
    table = pa.table({"id": ["a", "b"], "text": ["", ""], "kept": kept}).slice(0, 1)
    released = make_release(keep=["kept"])(table)["kept"]
    assert (released.type, released.to_pylist()) == (pa.string(), ["here"])


def test_null_and_empty_texts_draw_from_the_whole_vocabulary(make_release):
    release = make_release(epsilon=1e6, document_length=400)
    for texts in ([None], [""], ["unknown"], pa.nulls(1)):
        table = pa.table({"id": ["a"], "text": texts})
        # of 60 words one is missing among 400 draws with a probability of 0.07
        assert len(set(release(table)["text"][0].as_py().split())) > 50


def test_columns_that_are_missing_or_twice_there(make_release, documents):
    with refused("keep must name one column"):
        make_release(keep=["gone"])(documents)
    twice = documents.append_column("text", documents["text"])
    with refused(r"text must name one .* 2 columns"):
        make_release()(twice)


@refusals(
    ({"random_state": 7}, "random_state of the releaser must be None"),
    ({"resize": "truncate"}, 'perturber must have .* resize="sample"'),
    ({"document_length": None}, "perturber must have a document_length and"),
    ({"id": "text"}, "id, text, author and keep must name different"),
    ({"keep": ["id"]}, "id, text, author and keep must name different"),
    ({"keep": ["counts"], "output": "bow"}, "must name different columns"),
    ({"keep": [3]}, "author and keep must be str, got 3"),
)
def test_bad_parameters(make_release, change):
    make_release(**change)


def test_the_schema_needs_the_types_of_what_is_kept(make_release):
    with refused(r'as in keep=\{"label": pa.int64'):
        make_release(keep=["label"]).schema  # noqa: B018


def test_it_is_frozen_and_what_is_done_to_the_perturber_does_not_reach_it(
    embedding, key_file, documents
):
    perturber = DPWordPerturber(
        embedding, epsilon=2.0, document_length=4, resize="sample", output="text"
    )
    key = ReleaseKey(f"file:{key_file}")
    unfitted = DocumentRelease(perturber, key, "a")
    fitted = DocumentRelease(perturber.fit([]), key, "a")
    expected = words(unfitted(documents))
    assert fitted.releaser.mechanism_ is perturber.mechanism_  # which may take minutes
    perturber.set_params(epsilon=9.0)
    assert words(fitted(documents)) == words(unfitted(documents)) == expected
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.name = "b"
    with refused("epsilon was changed after fit"):
        DocumentRelease(perturber, key, "a")


@pytest.mark.no_cover
@pytest.mark.parametrize("mechanism", [None, "exact", "randomized response", "half"])
def test_a_pickle_is_small_and_holds_neither_key_nor_seed(
    mechanism, key_file, tmp_path, documents
):
    vectors = np.random.default_rng(0).normal(size=(500, 300))
    WordEmbedding([f"word{i}" for i in range(500)], vectors).save(tmp_path / "e.npz")
    embedding = WordEmbedding.load(tmp_path / "e.npz")
    mechanism = mechanism and forms()[mechanism]
    perturber = DPWordPerturber(
        embedding, epsilon=9.0, document_length=2, resize="sample", mechanism=mechanism
    )
    release = DocumentRelease(perturber, ReleaseKey(f"file:{key_file}"), "a")
    released = release(documents)
    held = pickle.dumps(release)
    assert len(held) < 3e6
    assert pickle.loads(held)(documents).equals(released)
    shown = [held, repr(release).encode(), json.dumps(release.manifest()).encode()]
    for secret in secrets_of(release):
        assert not any(secret[:12] in form for form in shown)
    seed = int.from_bytes(release.key.derive(b"noise:a"), "little")
    # A seed that leaked would be found.
    leaking = pickle.dumps(release.releaser.set_params(random_state=seed))
    assert any(secret[:12] in leaking for secret in secrets_of(release))


def test_the_manifest_says_all_that_counts_and_is_json(make_release, documents):
    release = make_release(mechanism=Exponential("half"), keep={"label": pa.int8()})
    manifest = json.loads(json.dumps(release.manifest()))
    release(documents)
    assert release.manifest() == manifest  # and nothing on documents
    told, guarantee = manifest["guarantee"], release.releaser.guarantee()
    assert told["stored"] == json.loads(guarantee.to_json())
    assert manifest["columns"]["keep"] == {"label": "int8"}
    assert told["words"] == str(guarantee)
    assert told["released_as_they_are"] == ["id", "label"]


def test_a_promise_of_nothing_is_json_too(make_release):
    manifest = make_release(mechanism=Stated(np.eye(60))).manifest()
    json.dumps(manifest, allow_nan=False)


CHANGES = (
    {"epsilon": 2.5}, {"lam": 0.1}, {"mechanism": RandomizedResponse()},
    {"document_length": 5}, {"output": "tokens"},
)  # fmt: skip


def test_canaries_tell_laws_and_manifests_tell_nothing_of_keys(
    make_release, monkeypatch
):
    monkeypatch.setenv("ANOTHER_KEY", sha256(b"another").hexdigest())
    manifest = make_release().manifest()
    other = make_release(key=ReleaseKey("env:ANOTHER_KEY")).manifest()
    assert other == manifest
    for change in CHANGES:
        changed = make_release(**change).manifest()
        different = {k for k in manifest if manifest[k] != changed[k]}
        assert ("canary" in different) == ("output" not in change)
    assert make_release(oov="error").canary != manifest["canary"]  # it has no text


def test_a_worker_that_draws_other_noise_is_found_out(
    make_release, documents, monkeypatch
):
    release = make_release()
    expected = release(documents)
    # what another process knows of it
    monkeypatch.setattr("skdptext.release._documents._repeated", set())
    received = pickle.loads(pickle.dumps(release))
    with monkeypatch.context() as patch:
        as_before = NoiseStreams.open
        patch.setattr(
            NoiseStreams, "open", lambda self, label: as_before(self, label[::-1])
        )
        with pytest.raises(RuntimeError, match="This worker draws different noise"):
            received(documents)
    assert received(documents).equals(expected)


def test_unknown_words_that_are_kept_are_warned_of(make_release):
    with pytest.warns(PrivacyLeakWarning, match="released in plain text"):
        make_release(oov="keep")
