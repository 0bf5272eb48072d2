"""The docstring corpus: what is in it, its labels, and that it repeats."""

import importlib
import importlib.metadata
import inspect
import os
import re
import shutil
from types import ModuleType

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB

from skdptext.datasets import load_docstrings
from tests.expected import refusals
from tests.processes import run_python

AUTHORS = ["POT", "gensim", "numpy", "scikit-learn", "scipy"]


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


@pytest.fixture(scope="module")
def everything():
    """With near-copies: six documents in ten have one."""
    return load_docstrings(near_copies=True, min_words=1)


# -- the corpus ------------------------------------------------------------------


def test_size_and_shape(corpus):
    n = len(corpus.data)
    assert 1_500 < n < 4_000
    assert sum(len(text.split()) for text in corpus.data) > 600_000
    assert min(len(text.split()) for text in corpus.data) >= 100
    assert corpus.target.shape == corpus.author.shape == (n,)
    assert len(corpus.names) == len(set(corpus.names)) == n
    assert len(corpus.target_names) == 16
    assert corpus.author_names == AUTHORS
    assert set(corpus.target) == set(range(16))
    assert set(corpus.author) == set(range(len(AUTHORS)))
    assert not [name for name in corpus.names if re.search(r"\._(?!_)|__", name)]
    assert "sklearn.pipeline.Pipeline.fit" in load_docstrings(min_words=40).names


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

    for i in range(0, len(words), 150):
        assert most_in_common(stayed.data[i], words[:i] + words[i + 1 :]) < 0.5
    kept = set(stayed.names)
    texts = zip(everything.names, everything.data, strict=True)
    out = [text for name, text in texts if name not in kept]
    assert len(out) > 1000
    for text in out[::100]:
        assert most_in_common(text, words) >= 0.5


@pytest.mark.parametrize(
    ("name", "topic", "author"),
    [
        ("scipy.linalg.svd", "linear algebra", "scipy"),
        ("numpy.fft.fft", "signals and images", "numpy"),
        ("sklearn.cluster.KMeans", "clustering", "scikit-learn"),
        ("scipy.stats.wasserstein_distance", "optimal transport", "scipy"),
        ("gensim.models.ldamodel.LdaModel", "text", "gensim"),
        ("ot.lp.emd", "optimal transport", "POT"),
    ],
)
def test_labels_and_texts_of_known_objects(everything, name, topic, author):
    row = everything.names.index(name)
    assert everything.target_names[everything.target[row]] == topic
    assert everything.author_names[everything.author[row]] == author
    module, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(module), attribute)
    assert everything.data[row] == inspect.cleandoc(value.__doc__)


def _digest():
    """Of one library's texts on clustering: the whole takes a minute."""
    import hashlib
    import importlib
    from unittest import mock

    from skdptext.datasets import load_docstrings

    real = importlib.import_module

    def find(path):
        if not path.startswith("sklearn.cluster"):
            raise ImportError(path)
        return real(path)

    with mock.patch.object(importlib, "import_module", find):
        corpus = load_docstrings(min_words=1, near_copies=True)
    parts = [*corpus.target, *corpus.author, *corpus.names, *corpus.data]
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


_PROBE = f"""
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("network")
socket.socket.connect = socket.create_connection = refuse
import skdptext
before = set(sys.modules)
{inspect.getsource(_digest)}
digest = _digest()
added = {{m.split(".")[0] for m in set(sys.modules) - before}}
print(digest, sorted(added & {{"ot", "gensim", "pandas", "matplotlib"}}))
"""


@pytest.mark.no_cover
def test_repeats_in_a_fresh_process_in_silence(tmp_path, monkeypatch):
    """Whatever the hash seed: without warnings, plotting or network on the way."""
    # SciPy then documents a few functions otherwise
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path / "here"))
    fresh = {"SKDPTEXT_CACHE": str(tmp_path / "fresh"), "SCIPY_ARRAY_API": "0"}
    environment = {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1", **fresh}
    done = run_python("-W", "default", "-c", _PROBE, env=environment)
    assert done.stderr == ""
    assert done.stdout == f"{_digest()} []\n"


def test_copies_are_passed_over_and_what_scipy_writes_at_random_is_settled(
    tmp_path, monkeypatch
):
    """Of one module, which is ours; no other of the five libraries can be imported."""
    note = "**Array API Standard Support**\nSee :ref:`dev-arrayapi`.\n\n"
    words = " ".join(f"word{i}" for i in range(40))
    texts = {
        "shown": f"func(a, b=1)\n\n{words}",
        "twin": f"name(of, another)\n\n{words} and so on",
        "settled": "Use of ``{'b', 'a', 'c'}``.\n>>> f()\n[0.1]  # may vary\n"
        f"{note}{note}End.",
        "elsewhere": "Imported from another library.",
    }
    ours = ModuleType("gensim.matutils")
    ours.__all__ = ["gone", *texts]
    for name, text in texts.items():
        exec(f"def {name}(): pass", vars(ours))
        vars(ours)[name].__doc__ = text
        vars(ours)[name].__module__ = "gensim"
    ours.elsewhere.__module__ = "other"

    def find(path):
        if path != "gensim.matutils":
            raise RuntimeError("no backend")  # not an ImportError, as some raise
        return ours

    monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path))
    monkeypatch.setattr(importlib, "import_module", find)
    corpus = load_docstrings(min_words=1, near_copies=True)
    settled = f"Use of ``{{'a', 'b', 'c'}}``.\n>>> f()\n{note}End."
    assert dict(zip(corpus.names, corpus.data, strict=True)) == {
        "gensim.matutils.shown": texts["shown"],
        "gensim.matutils.settled": settled,
    }
    assert corpus.author_names == ["gensim"]
    assert f"numpy {np.__version__}" in corpus.DESCR


# -- what is kept ------------------------------------------------------------------


def test_the_texts_are_read_from_the_libraries_once(tmp_path, monkeypatch):
    """Of one short module; within a process, a folder is read once."""
    real, imported = importlib.import_module, []

    def find(path):
        imported.append(path)
        if path != "ot.lp":
            raise ImportError(path)
        return real(path)

    def load(folder):
        monkeypatch.setenv("SKDPTEXT_CACHE", str(tmp_path / folder))
        imported.clear()
        return load_docstrings(min_words=1, near_copies=True), bool(imported)

    monkeypatch.setattr(importlib, "import_module", find)
    corpus, read = load("first")
    assert read
    assert len(corpus.data) > 5
    for folder, expected in (("second", False), ("third", True)):
        shutil.copytree(tmp_path / "first", tmp_path / folder)
        again, read = load(folder)
        assert read == expected
        assert (again.data, again.names) == (corpus.data, corpus.names)
        monkeypatch.setattr(importlib.metadata, "version", lambda name: "99")


# -- parameters ------------------------------------------------------------------


def test_topics_and_authors_select_and_renumber(corpus):
    topics, authors = ["clustering", "text"], ["POT", "scikit-learn"]
    part = load_docstrings(topics=topics[::-1], authors=tuple(authors))
    assert (part.target_names, part.author_names) == (topics, authors)
    labels = zip(corpus.target, corpus.author, strict=True)
    chosen = [
        i
        for i, (topic, author) in enumerate(labels)
        if corpus.target_names[topic] in topics
        and corpus.author_names[author] in authors
    ]
    assert part.data == [corpus.data[i] for i in chosen]
    assert part.names == [corpus.names[i] for i in chosen]
    assert set(part.target) == set(part.author) == {0, 1}
    part.data.clear()  # each call has lists of its own
    assert len(load_docstrings(topics=topics, authors=authors).data) == len(chosen)


@pytest.mark.parametrize(
    ("part", "gone", "kept"),
    [
        (
            "examples",
            r"^[ \t]*>>>|^Examples?\n-{3,}",
            r"^(See Also|Notes)\n-|^\w+ : ",
        ),
        ("headers", r"^Parameters\n-{3,}|^[ \t]*\.\. versionadded::", r">>>|^\w+ : "),
        ("signatures", r"^\w+ : ", r">>>|^Parameters\n-{3,}|^    [A-Z]"),
        ("names", r"(?i)\b(numpy|scipy|sklearn|gensim)\b", r">>>|^Parameters\n-{3,}"),
    ],
)
def test_remove_strips_what_it_names_and_no_more(part, gone, kept):
    def count(pattern, texts):
        return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts)

    topics = ["linear algebra", "optimal transport", "text"]  # of all five libraries
    before = load_docstrings(topics=topics, min_words=1).data
    after = load_docstrings(topics=topics, min_words=1, remove=[part]).data
    assert count(gone, before) > 500
    assert count(gone, after) == 0
    assert count(kept, after) == count(kept, before) > 1000
    left = load_docstrings(topics=topics, remove=[part]).data
    assert left == [text for text in after if len(text.split()) >= 100]


def test_pairs_and_frames(corpus):
    data, target = load_docstrings(return_X_y=True)
    assert data == corpus.data
    np.testing.assert_array_equal(target, corpus.target)
    framed = load_docstrings(as_frame=True)
    assert list(framed.frame.columns) == ["text", "name", "author", "target"]
    assert framed.frame["name"].tolist() == corpus.names
    X, y = load_docstrings(return_X_y=True, as_frame=True)
    assert X.tolist() == framed.data.tolist() == data
    assert y.tolist() == framed.target.tolist() == target.tolist()


@refusals(
    ({"topics": "text"}, r"topics must be a list of names, got 'text'"),
    ({"topics": ["algebra"]}, r"topics must be .*'linear algebra'.*got 'algebra'"),
    ({"authors": [["POT"]]}, r"authors must be .*got "),
    ({"remove": None}, r"remove must be a list of names, got None"),
    ({"remove": ["code"]}, r"remove must be .*'examples'.*got 'code'"),
    ({"min_words": 0}, r"min_words must be an integer >= 1, got 0"),
    ({"min_words": 10**9}, r"No document is left.*min_words=1000000000"),
    ({"near_copies": 1}, r"near_copies must be True or False, got 1"),
    ({"return_X_y": 1}, r"return_X_y must be True or False, got 1"),
    ({"as_frame": "yes"}, r"as_frame must be True or False, got 'yes'"),
)
def test_bad_parameters_are_named(kwargs):
    load_docstrings(**kwargs)


def test_topics_can_be_told_apart(corpus):
    """By how they begin: 0.85 with the versions of 2026; a random label gives 0.06."""
    counts = CountVectorizer(token_pattern=r"\b\w\w+\b", min_df=3)
    X = counts.fit_transform([text[:1000] for text in corpus.data])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(MultinomialNB(alpha=0.1), X, corpus.target, cv=folds)
    assert scores.mean() >= 0.75
