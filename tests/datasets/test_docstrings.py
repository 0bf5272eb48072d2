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


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


AUTHORS = ["POT", "gensim", "numpy", "scikit-learn", "scipy"]


def _index(corpus, name):
    return corpus.names.index(name)


# -- the corpus ------------------------------------------------------------------


def test_size_and_shape(corpus):
    n = len(corpus.data)
    assert 1_500 < n < 4_000
    assert sum(len(text.split()) for text in corpus.data) > 600_000
    assert corpus.target.shape == corpus.author.shape == (n,)
    assert corpus.target.dtype.kind == corpus.author.dtype.kind == "i"
    assert len(corpus.names) == len(set(corpus.names)) == n
    assert len(corpus.target_names) == 16
    assert corpus.author_names == AUTHORS
    assert set(corpus.target) == set(range(16))
    assert set(corpus.author) == set(range(len(AUTHORS)))
    assert corpus.frame is None
    assert min(len(text.split()) for text in corpus.data) >= 100
    assert all(isinstance(text, str) for text in corpus.data)


@pytest.fixture(scope="module")
def everything():
    """With near-copies: six documents in ten have one."""
    return load_docstrings(near_copies=True, min_words=1)


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
        ("numpy.linalg.svd", "linear algebra", "numpy"),
        ("numpy.fft.fft", "signals and images", "numpy"),
        ("sklearn.cluster.KMeans", "clustering", "scikit-learn"),
        ("scipy.stats.wasserstein_distance", "optimal transport", "scipy"),
        ("gensim.models.ldamodel.LdaModel.get_document_topics", "text", "gensim"),
        ("ot.lp.emd", "optimal transport", "POT"),
    ],
)
def test_labels_of_known_objects(corpus, name, topic, author):
    if name not in corpus.names:  # short in some version of its library
        corpus = load_docstrings(min_words=1)
    assert corpus.target_names[corpus.target[_index(corpus, name)]] == topic
    assert corpus.author_names[corpus.author[_index(corpus, name)]] == author


def test_texts_are_the_objects_own(corpus):
    for name in ("numpy.linalg.svd", "scipy.special.gamma", "sklearn.svm.SVC"):
        module, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(module), attribute)
        assert corpus.data[_index(corpus, name)] == inspect.cleandoc(value.__doc__)


def test_methods_are_there_private_names_are_not(corpus):
    assert "sklearn.pipeline.Pipeline.fit" in load_docstrings(min_words=40).names
    assert not [n for n in corpus.names if re.search(r"\._(?!_)|__", n)]


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


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """What is made of texts of our own, by what is removed.

    One module of the five libraries can be imported, and it is ours.
    """
    texts = {
        "shown": _TEXT,
        "twin": _TEXT.replace("func(a, b=1)", "name(of, another)"),
        "settled": "Use of ``{'b', 'a', 'c'}``.\n>>> f()\n[0.1]  # may vary\n"
        + 2 * "**Array API Standard Support**\nSee :ref:`dev-arrayapi`.\n\n"
        + "End.",
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

    texts_without = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKDPTEXT_CACHE", str(tmp_path_factory.mktemp("planted")))
        patch.setattr(importlib, "import_module", find)
        for removed in ([], ["examples"], ["headers"], ["signatures"], ["names"]):
            corpus = load_docstrings(min_words=1, remove=removed)
            texts = dict(zip(corpus.names, corpus.data, strict=True))
            texts_without[" ".join(removed)] = texts
    assert corpus.author_names == ["gensim"]
    assert f"numpy {np.__version__}" in corpus.DESCR
    return texts_without


def test_names_that_cannot_be_had_and_copies_are_passed_over(planted):
    texts = planted[""]
    assert set(texts) == {"gensim.matutils.shown", "gensim.matutils.settled"}
    assert texts["gensim.matutils.shown"].endswith(_TEXT.partition("\n")[2].strip())


def test_what_scipy_writes_at_random_is_settled(planted):
    text = planted[""]["gensim.matutils.settled"]
    note = "**Array API Standard Support**\nSee :ref:`dev-arrayapi`.\n\n"
    assert text == "Use of ``{'a', 'b', 'c'}``.\n>>> f()\n" + note + "End."


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
        corpus = load_docstrings(min_words=1, near_copies=True)
        return corpus, bool(imported)

    monkeypatch.setattr(importlib, "import_module", find)
    corpus, read = load("first")
    assert read
    assert len(corpus.data) > 5
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    again, read = load("second")
    assert not read
    assert (again.data, again.names) == (corpus.data, corpus.names)
    distinct = load_docstrings(min_words=1)
    assert set(distinct.names) < set(corpus.names)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99")
    shutil.copytree(tmp_path / "first", tmp_path / "third")
    again, read = load("third")
    assert read
    assert again.data == corpus.data


# -- parameters ------------------------------------------------------------------


def test_topics_and_authors_select_and_renumber(corpus):
    part = load_docstrings(
        topics=["text", "clustering"], authors=("scikit-learn", "POT")
    )
    assert part.target_names == ["clustering", "text"]
    assert part.author_names == ["POT", "scikit-learn"]
    expected = [
        (name, text)
        for name, text, topic, author in zip(
            corpus.names, corpus.data, corpus.target, corpus.author, strict=True
        )
        if corpus.target_names[topic] in ("text", "clustering")
        and corpus.author_names[author] in ("scikit-learn", "POT")
    ]
    assert list(zip(part.names, part.data, strict=True)) == expected
    assert set(part.target) == set(part.author) == {0, 1}


_TEXT = """\
func(a, b=1)

Does numpy things like NumPy, np.dot and scikit-learn; pot is a word, ot.emd is not.

.. versionadded:: 1.2

Parameters
----------
a : array_like of shape (n,)
    The first.
b, c : int, default=1
    The others.

Notes
-----
Note that this : is no declaration? It is prose.

>>> np.eye(1)
array([[1.]])

Prose again.

Examples
--------
>>> func(1)
2

More about it.

References
----------
.. [1] A paper.
"""


@pytest.mark.parametrize(
    ("remove", "gone", "kept"),
    [
        (
            "examples",
            ["Examples", ">>>", "array([", "More about it"],
            ["func(a, b=1)", "Parameters\n---", "References\n---", "A paper", "Prose"],
        ),
        (
            "headers",
            ["Parameters", "-----", "versionadded", "References"],
            ["func(a, b=1)", ">>> func(1)", "A paper", "a : array_like"],
        ),
        (
            "signatures",
            ["func(a, b=1)", "array_like", "b, c :"],
            ["The first.", "The others.", "Parameters\n---", ">>> func(1)"],
        ),
        (
            "names",
            ["numpy", "NumPy", "np.", "scikit", "ot.emd"],
            ["func(a, b=1)", ">>> func(1)", "emd is not", "things like"],
        ),
    ],
)
def test_remove_strips_what_it_names_and_no_more(planted, remove, gone, kept):
    text = planted[remove]["gensim.matutils.shown"]
    for part in gone:
        assert part not in text
    for part in kept:
        assert part in text


@pytest.mark.no_cover
def test_remove_acts_on_the_corpus_before_min_words():
    topics = ["linear algebra", "optimal transport", "text"]  # of all five libraries
    corpus = load_docstrings(topics=topics)
    part = load_docstrings(
        topics=topics, remove=["examples", "headers", "names", "signatures"]
    )
    whole = "\n".join(part.data)
    assert ">>>" not in whole
    assert not re.search(r"\b(numpy|scipy|sklearn|gensim)\b", whole)
    assert not re.search(r"^Parameters\n-+$", whole, re.MULTILINE)
    assert min(len(text.split()) for text in part.data) >= 100
    assert len(part.data) < len(corpus.data)
    assert set(part.names) < set(corpus.names)


def test_pairs_and_frames(corpus):
    data, target = load_docstrings(return_X_y=True)
    assert data == corpus.data
    np.testing.assert_array_equal(target, corpus.target)
    framed = load_docstrings(as_frame=True)
    assert list(framed.frame.columns) == ["text", "name", "author", "target"]
    assert framed.data.tolist() == corpus.data
    assert framed.target.tolist() == corpus.target.tolist()
    assert framed.frame["name"].tolist() == corpus.names
    X, y = load_docstrings(return_X_y=True, as_frame=True)
    assert X.tolist() == data
    assert y.tolist() == target.tolist()


def test_calls_do_not_share_their_lists(corpus):
    again = load_docstrings(topics=["text"])
    again.data.clear()
    again.names.clear()
    text = corpus.target_names.index("text")
    n_texts = np.count_nonzero(corpus.target == text)
    again = load_docstrings(topics=["text"])
    assert len(again.data) == len(again.names) == n_texts > 0


@refusals(
    ({"topics": "text"}, r"topics must be a list of names, got 'text'"),
    ({"topics": ["algebra"]}, r"topics must be .*'linear algebra'.*got 'algebra'"),
    ({"authors": ["sklearn"]}, r"authors must be .*'scikit-learn'.*got 'sklearn'"),
    ({"authors": 3}, r"authors must be a list of names, got 3"),
    ({"authors": [["POT"]]}, r"authors must be .*got "),
    ({"remove": None}, r"remove must be a list of names, got None"),
    ({"remove": ["code"]}, r"remove must be .*'examples'.*got 'code'"),
    ({"min_words": 0}, r"min_words must be an integer >= 1, got 0"),
    ({"min_words": 10**9}, r"No document is left.*min_words=1000000000"),
    ({"topics": []}, r"No document is left.*topics=\[\]"),
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
