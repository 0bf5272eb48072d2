"""The docstring corpus and its word vectors: texts, labels, what is kept."""

import importlib
import importlib.metadata
import inspect
import re
import shutil
from collections import Counter
from types import ModuleType, SimpleNamespace

import numpy as np
import ot
import pytest
import scipy
import sklearn.cluster

from skdptext.datasets import (
    _docstring_embedding,
    load_docstring_embedding,
    load_docstrings,
)
from tests.expected import refusals, refused


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


@pytest.fixture(scope="module")
def everything():
    """With near-copies: six documents in ten have one."""
    return load_docstrings(near_copies=True, min_words=1)


# -- the corpus ------------------------------------------------------------------


def test_size_and_shape(corpus):
    n, lengths = len(corpus.data), [len(text.split()) for text in corpus.data]
    assert 1_500 < n < 4_000
    assert min(lengths) >= 100
    assert corpus.target.shape == corpus.author.shape == (n,)
    assert len(corpus.names) == len(set(corpus.names)) == n
    assert corpus.author_names == ["POT", "gensim", "numpy", "scikit-learn", "scipy"]
    assert len(corpus.target_names) == len(set(corpus.target)) == 16
    assert not [name for name in corpus.names if re.search(r"\._(?!_)|__", name)]


def _words(text):
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.no_cover
def test_near_copies_alone_are_left_out(everything):
    """A sample of what stays has no near-copy there; what is left out has one."""
    stayed = load_docstrings(min_words=1)
    assert set(stayed.names) < set(everything.names)
    words = [_words(text) for text in stayed.data]

    def most_in_common(text, others):
        own = _words(text)
        return max(len(own & other) / len(own | other) for other in others)

    for i in range(0, len(words), 500):
        assert most_in_common(stayed.data[i], words[:i] + words[i + 1 :]) < 0.5
    kept = set(stayed.names)
    texts = zip(everything.names, everything.data, strict=True)
    out = [text for name, text in texts if name not in kept]
    assert len(out) > 1000
    for text in out[::200]:
        assert most_in_common(text, words) >= 0.5


def test_labels_and_texts_of_known_objects(everything):
    for value, topic, author in (
        (scipy.linalg.svd, "linear algebra", "scipy"),
        (sklearn.cluster.KMeans, "clustering", "scikit-learn"),
        (ot.lp.emd, "optimal transport", "POT"),
    ):
        row = everything.data.index(inspect.cleandoc(value.__doc__))
        assert everything.names[row].endswith(f".{value.__name__}")
        assert everything.target_names[everything.target[row]] == topic
        assert everything.author_names[everything.author[row]] == author


# -- what is kept ------------------------------------------------------------------


def test_texts_are_read_once_copies_passed_over_and_what_is_random_settled(
    tmp_path, monkeypatch
):
    """Of one module that is there; within a process, a folder is read once."""
    note = "**Array API Standard Support**\nSee :ref:`dev-arrayapi`.\n\n"
    words = " ".join(f"word{i}" for i in range(40))
    texts = {
        "shown": f"func(a, b=1)\n\n{words}",
        "twin": f"name(of, another)\n\n{words} and so on",
        "settled": "Use of ``{'b', 'a'}``.\n>>> f()\n[0.1]  # may vary\n"
        f"{note}{note}End.",
    }
    ours, imported = ModuleType("gensim.matutils"), []
    ours.__all__ = ["gone", *texts]
    for name, text in texts.items():
        place = {"__doc__": text, "__module__": "gensim"}
        setattr(ours, name, type(name, (), place))

    def find(path):
        imported.append(path)
        if path != ours.__name__:
            raise RuntimeError("no backend")  # not an ImportError, as some raise
        return ours

    monkeypatch.setattr(importlib, "import_module", find)
    settled = f"Use of ``{{'a', 'b'}}``.\n>>> f()\n{note}End."
    for folder, read in (("first", True), ("second", False), ("third", True)):
        if folder != "first":
            shutil.copytree(tmp_path / "first", tmp_path / folder)
        if folder == "third":
            monkeypatch.setattr(importlib.metadata, "version", lambda name: "99")
        monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path / folder))
        imported.clear()
        corpus = load_docstrings(min_words=1, near_copies=True)
        assert bool(imported) == read
        assert corpus.names == ["gensim.matutils.settled", "gensim.matutils.shown"]
        assert corpus.data == [settled, texts["shown"]]


# -- parameters ------------------------------------------------------------------


def test_topics_and_authors_select_and_renumber(corpus):
    topics, authors = ["clustering", "text"], ["POT", "scikit-learn"]
    part = load_docstrings(topics=topics[::-1], authors=tuple(authors))
    assert (part.target_names, part.author_names) == (topics, authors)
    topic, author = np.array(corpus.target_names), np.array(corpus.author_names)
    chosen = np.isin(topic[corpus.target], topics)
    chosen &= np.isin(author[corpus.author], authors)
    assert part.names == np.array(corpus.names)[chosen].tolist()
    assert part.data == np.array(corpus.data, dtype=object)[chosen].tolist()
    assert set(part.target) == set(part.author) == {0, 1}
    part.data.clear()  # each call has lists of its own
    assert len(load_docstrings(topics=topics, authors=authors).data) == chosen.sum()


@pytest.mark.parametrize(
    ("part", "gone", "kept"),
    [
        ("examples", r"^[ \t]*>>>|^Examples?\n-{3,}", r"^(See Also|Notes)\n-|^\w+ : "),
        ("headers", r"^Parameters\n-{3,}|^[ \t]*\.\. versionadded::", r">>>|^\w+ : "),
        ("signatures", r"^\w+ : ", r">>>|^Parameters\n-{3,}|^    [A-Z]"),
        ("names", r"(?i)\b(numpy|scipy|sklearn|gensim)\b", r">>>|^Parameters\n-{3,}"),
    ],
)
def test_remove_strips_what_it_names_and_no_more(part, gone, kept):
    def count(pattern, texts):
        return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts)

    options = {"topics": ["linear algebra", "optimal transport", "text"]}
    before = load_docstrings(min_words=1, **options).data
    after = load_docstrings(min_words=1, remove=[part], **options).data
    assert count(gone, before) > 500
    assert count(gone, after) == 0
    assert count(kept, after) == count(kept, before) > 1000
    left = load_docstrings(remove=[part], **options).data
    assert left == [text for text in after if len(text.split()) >= 100]


def test_frames(corpus):
    framed = load_docstrings(as_frame=True)
    assert list(framed.frame.columns) == ["text", "name", "author", "target"]
    assert framed.frame["name"].tolist() == corpus.names
    assert framed.data.tolist() == corpus.data


@refusals(
    ({"topics": ["algebra"]}, r"topics must be .*'linear algebra'.*got 'algebra'"),
    ({"authors": [["POT"]]}, r"authors must be .*got "),
    ({"remove": ["code"]}, r"remove must be .*'examples'.*got 'code'"),
    ({"min_words": 0}, r"min_words must be an integer >= 1, got 0"),
    ({"min_words": 10**9}, r"No document is left.*min_words=1000000000"),
    ({"as_frame": "yes"}, r"as_frame must be one of True, False, got 'yes'"),
    ({"as_frame": "a\nb"}, "got a str of 3 characters"),  # may be private text
)
def test_bad_parameters_are_named(kwargs):
    load_docstrings(**kwargs)


# -- word vectors of the corpus --------------------------------------------------------


@pytest.fixture
def of_a_part(tmp_path, monkeypatch):
    """Trains on one topic, since the whole takes twenty seconds; returns its texts."""
    part = load_docstrings(topics=["clustering"], near_copies=True)
    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path))
    monkeypatch.setattr(_docstring_embedding, "load_docstrings", lambda **_: part)
    return part.data


@pytest.mark.no_cover
def test_words_are_lowercased_tokens_the_most_frequent_first(of_a_part, tmp_path):
    counts = Counter(re.findall(r"\b\w\w+\b", " ".join(of_a_part).lower()))
    kept = {word for word, n in counts.items() if n >= 8 and not word.isdigit()}
    whole = load_docstring_embedding()
    assert set(whole.words) == kept
    frequency = [counts[word] for word in whole.words]
    assert frequency == sorted(frequency, reverse=True)
    assert whole.dim == 100
    part = load_docstring_embedding(n_words=500)
    assert part.fingerprint == whole.restrict(500).fingerprint
    assert load_docstring_embedding(n_words=99_999).words == whole.words
    (path,) = tmp_path.iterdir()
    path.unlink()  # and trained again, to the last bit
    assert load_docstring_embedding().fingerprint == whole.fingerprint


@pytest.mark.usefixtures("of_a_part")
def test_each_parameter_and_version_is_trained_once(monkeypatch):
    """With training replaced by something quick: a vector for a word."""
    trained = []

    def train(sentences, *, vector_size, min_count, **options):
        trained.append((vector_size, min_count))
        vectors = SimpleNamespace(index_to_key=["a", "b"], vectors=np.eye(2))
        return SimpleNamespace(wv=vectors)

    monkeypatch.setattr("gensim.models.Word2Vec", train)
    for kwargs in ({}, {"dim": 7}, {"min_count": 3}, {}, {"dim": 7}, {"n_words": 2}):
        load_docstring_embedding(**kwargs)
    assert trained == [(100, 8), (7, 8), (100, 3)]
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99")
    load_docstring_embedding()
    assert trained[3:] == [(100, 8)]


def test_bad_parameters_of_vectors():
    with refused("min_count must be an integer >= 1 and <= 1000, got 1001"):
        load_docstring_embedding(min_count=1001)
