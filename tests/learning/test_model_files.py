"""Models in files: the same model again, no pickles, and nothing private."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline

from skdptext import DPTextClassifier, WordEmbedding
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.preprocessing import MeanVectorEncoder
from tests.learning.conftest import FOOD, KINDS, PETS, texts_of

TEST = texts_of([0, 1] * 20, seed=9)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def assert_same(model, again):
    assert np.array_equal(again.noisy_sums_, model.noisy_sums_)
    assert again.classes_.tolist() == model.classes_.tolist()
    assert np.array_equal(again.predict_proba(TEST), model.predict_proba(TEST))
    assert (again.predict(TEST) == model.predict(TEST)).all()
    assert str(again.guarantee()) == str(model.guarantee())
    for n in (None, 20):
        ours, theirs = (m.sample(n, random_state=0) for m in (model, again))
        assert ours[0] == theirs[0]
        assert (ours[1] == theirs[1]).all()


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_model_again(make, private, path, kind):
    model = make(kind, epsilon=2.0, n_expected=200, random_state=2**80).fit(*private)
    model.save(path)
    again = DPTextClassifier.load(path)
    assert_same(model, again)
    assert (again.epsilon, again.n_expected, again.n_groups) == (2.0, 200, "auto")
    assert again.random_state is None
    again.save(path)  # from a file to a file
    assert_same(model, DPTextClassifier.load(str(path)))


def test_a_file_says_what_was_fitted(make, private, path):
    model = make("groups", epsilon=2.0).fit(*private)
    model.set_params(epsilon=9.0, n_groups=7, public_documents=["a", "b"])
    model.save(path)
    again = DPTextClassifier.load(path)
    assert (again.epsilon, again.n_groups) == (2.0, "auto")
    assert len(again.public_documents) == 80


def test_classes_of_private_labels_are_not_public_in_a_file_either(make, private, path):
    with pytest.warns(PrivacyLeakWarning):
        make("groups", classes=None).fit(*private).save(path)
    again = DPTextClassifier.load(path)
    assert again.classes is None
    assert again.classes_.tolist() == ["food", "pets"]
    with pytest.warns(PrivacyLeakWarning):
        again.fit(*private)
    assert "private labels" in str(again.guarantee())


def test_no_pickle_and_nothing_private(make, private, path):
    texts, labels, authors = private
    secret = 2**80 + 12345
    model = make("both", random_state=secret)
    model.fit([f"zqxprivate {text}" for text in texts], labels, authors)
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        data = {name: archive.read(name) for name in archive.namelist()}
    for array in data.values():
        assert b"zqx" not in array
        assert str(secret).encode() not in array
    with np.load(path, allow_pickle=False) as file:
        shapes = {name: file[name].shape for name in file}
    # no array has the number of private rows, or of people
    assert not {200, len(np.unique(authors))} & {n for s in shapes.values() for n in s}


def test_default_encoders_come_back(make, private, path, words):
    texts, labels, authors = private
    model = make("groups").fit(texts, labels, authors)
    model.save(path)
    again = DPTextClassifier.load(path)
    assert isinstance(again.encoder_, Pipeline)
    assert (again.encoder_.predict(TEST) == model.encoder_.predict(TEST)).all()
    model = make("vectors").fit(texts, labels, authors)
    model.save(path)
    without = DPTextClassifier.load(path)
    assert not hasattr(without, "encoder_")
    with pytest.raises(InvalidParameterError, match="embedding must be given to load"):
        without.fit(texts, labels)
    again = DPTextClassifier.load(path, embedding=words)
    assert isinstance(again.encoder_, MeanVectorEncoder)
    rows = model.encoder_.transform(TEST)
    assert np.array_equal(again.encoder_.transform(TEST), rows)
    again.fit(texts, labels, authors)  # another release
    assert_same(again, again)
    other = WordEmbedding(PETS + FOOD, np.eye(8))
    with pytest.raises(InvalidParameterError, match="embedding must be the one"):
        DPTextClassifier.load(path, embedding=other)


def test_encoders_of_a_users_own(plan, public, private, path):
    texts, labels, _ = private
    encoder = make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0))
    grouper = make_pipeline(TfidfVectorizer(), KMeans(3, n_init=1, random_state=0))
    other = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0))
    others = other.fit(public), TfidfVectorizer().fit(public), KMeans()
    for kind, own in (("vectors", encoder), ("groups", grouper)):
        plan(kind)
        model = DPTextClassifier(public, own, classes=["food", "pets"])
        model.fit(texts, labels).save(path)
        without = DPTextClassifier.load(path)
        assert_same(model, without)
        assert not hasattr(without, "encoder_")
        for refuses in (without, clone(without)):
            with pytest.raises(
                InvalidParameterError, match="encoder must be given to load"
            ):
                refuses.fit(texts, labels)
        again = DPTextClassifier.load(path, encoder=model.encoder_)
        assert again.encoder_ is model.encoder_
        assert_same(model, again)
        for wrong in others:
            with pytest.raises(InvalidParameterError, match="encoder must be the one"):
                DPTextClassifier.load(path, encoder=wrong)


def test_documents_and_labels_of_any_kind(plan, path):
    plan("groups", n_groups=2)
    tokens = [["a", "b\ud800"], ["c", "d e"], ["a", "b"], ["c"]] * 3
    private = [[*document, "e f"] for document in tokens]
    for classes in ([0, 1], [0.5, 1.5], [False, True], np.array(["a", "b"], object)):
        labels = [classes[0], classes[1]] * 6
        model = DPTextClassifier(tokens, classes=classes).fit(private, labels)
        model.save(path)
        again = DPTextClassifier.load(path)
        assert list(again.public_) == tokens
        assert_same_on(model, again, tokens)


def assert_same_on(model, again, documents):
    ours, theirs = model.predict(documents), again.predict(documents)
    assert ours.tolist() == theirs.tolist()
    assert type(ours.tolist()[0]) is type(theirs.tolist()[0])


def test_labels_that_are_objects(plan, public, path):
    import datetime

    plan("groups")
    days = [datetime.date(2020, 1, day) for day in (1, 2)]
    model = DPTextClassifier(public, classes=days).fit(["cat", "tea"], days)
    with pytest.raises(InvalidParameterError, match="text or numbers to be saved"):
        model.save(path)
    assert not path.exists()


def test_files_that_are_none(make, private, path, tmp_path):
    with pytest.raises(FileNotFoundError):
        DPTextClassifier.load(tmp_path / "gone.npz")
    for wrong in (3, None):
        with pytest.raises(InvalidParameterError, match="path must be a path"):
            DPTextClassifier.load(wrong)
    make("both").fit(*private).save(path)
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)

    def broken():
        yield b""
        yield b"zqx,text\n1,2"
        yield whole[:-100]
        yield whole[: len(whole) // 2]
        for name in arrays:
            for change in (
                None,
                arrays[name][:-1],
                arrays[name].astype(object),
                np.concatenate([arrays[name], arrays[name]]),
            ):
                kept = {k: v for k, v in arrays.items() if k != name}
                if name.startswith("of_"):
                    continue  # the encoder is not read without its embedding
                np.savez(path, **kept, **({} if change is None else {name: change}))
                yield path.read_bytes()
        for change in ({"format": "x"}, {"noise": {}}, {"guarantee": "{}"}):
            about = json.loads(arrays["about"].tobytes()) | change
            data = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
            np.savez(path, **{**arrays, "about": data})
            yield path.read_bytes()

    for data in broken():
        path.write_bytes(data)
        with pytest.raises(InvalidParameterError, match="save wrote") as caught:
            DPTextClassifier.load(path)
        assert "zqx" not in str(caught.value)
