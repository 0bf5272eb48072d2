"""The docstring corpus: what is in it, its labels, and that it repeats."""

import gzip
import importlib
import importlib.metadata
import inspect
import itertools
import os
import re
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB

from skdptext.datasets import load_docstrings

# Nothing public shows that a module is listed under two topics.
from skdptext.datasets._docstring_topics import TOPICS
from tests.expected import refusals
from tests.processes import run_python


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


AUTHORS = ["POT", "gensim", "numpy", "scikit-learn", "scipy"]


def _index(corpus, name):
    return corpus.names.index(name)


# -- the table of topics ---------------------------------------------------------


def test_each_listed_path_has_one_topic():
    paths = [path for listed in TOPICS.values() for path in listed]
    assert len(paths) == len(set(paths))


# -- the corpus ------------------------------------------------------------------


def test_size_and_shape(corpus):
    n = len(corpus.data)
    assert 1_500 < n < 4_000
    assert sum(len(text.split()) for text in corpus.data) > 600_000
    assert corpus.target.shape == corpus.author.shape == (n,)
    assert corpus.target.dtype.kind == corpus.author.dtype.kind == "i"
    assert len(corpus.names) == len(set(corpus.names)) == n
    assert corpus.target_names == sorted(TOPICS)
    assert corpus.author_names == AUTHORS
    assert set(corpus.target) == set(range(len(TOPICS)))
    assert set(corpus.author) == set(range(len(AUTHORS)))
    assert corpus.frame is None
    assert all(isinstance(text, str) for text in corpus.data)


def test_every_document_is_long_enough(corpus):
    assert min(len(text.split()) for text in corpus.data) >= 100


@pytest.fixture(scope="module")
def everything():
    """With near-copies: six documents in ten have one."""
    return load_docstrings(near_copies=True, min_words=1)


@pytest.fixture(scope="module")
def similarity(everything):
    """Jaccard similarity of the words of each text with those of each other one."""
    different = list(dict.fromkeys(everything.data))
    row = {text: i for i, text in enumerate(different)}
    count = CountVectorizer(
        analyzer=lambda text: set(re.findall(r"\w+", text.lower())), dtype=np.float32
    )
    words = count.fit_transform(different)
    # words in every tenth text fill the product, which is then faster of whole rows
    often = len(different) / 10 < words.sum(axis=0).A1
    frequent, rare = words[:, often].toarray(), words[:, ~often]
    size = words.sum(axis=1).A1

    def similarity(texts, others):
        ours, theirs = ([row[text] for text in part] for part in (texts, others))
        shared = (rare[ours] @ rare[theirs].T).toarray()
        shared += frequent[ours] @ frequent[theirs].T
        return shared / (np.add.outer(size[ours], size[theirs]) - shared)

    return similarity


@pytest.mark.no_cover
def test_no_document_is_a_near_copy(corpus, everything, similarity):
    similarities = similarity(corpus.data, corpus.data)
    np.fill_diagonal(similarities, 0)
    assert similarities.max() < 0.5
    whole = [text for text in everything.data if len(text.split()) >= 100]
    assert set(corpus.data) < set(whole)
    assert len(corpus.data) < 0.65 * len(whole)


@pytest.mark.no_cover
def test_every_document_left_out_has_its_original(everything, similarity):
    """Nothing but near-copies was left out."""
    stayed = load_docstrings(min_words=1)
    out = dict(zip(everything.names, everything.data, strict=True))
    for name in stayed.names:
        del out[name]
    assert len(out) > 1000
    assert similarity(list(out.values()), stayed.data).max(axis=1).min() >= 0.5


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


def _digest(home):
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
        corpus = load_docstrings(min_words=1, near_copies=True, data_home=home)
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
digest = _digest(sys.argv[1])
added = {{m.split(".")[0] for m in set(sys.modules) - before}}
print(digest, sorted(added & {{"ot", "gensim", "pandas", "pooch", "matplotlib"}}))
"""


@pytest.mark.no_cover
def test_repeats_in_a_fresh_process_in_silence(tmp_path):
    """Whatever the hash seed: without warnings, plotting or network on the way."""
    # SciPy then documents a few functions otherwise
    assert os.environ["SCIPY_ARRAY_API"] == "1"
    environment = {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"}
    given = "-W", "default", "-c", _PROBE, str(tmp_path / "fresh")
    done = run_python(*given, env=environment)
    assert done.stderr == ""
    assert done.stdout == f"{_digest(tmp_path / 'here')} []\n"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """What is made of texts of our own: by what is removed, the authors, the DESCR.

    One module of the five libraries can be imported, and it is ours.
    """
    texts = {
        "shown": _TEXT,
        "twin": _TEXT.replace("func(a, b=1)", "name(of, another)"),
        "settled": "Use of ``{'b', 'a', 'c'}``.\n>>> f()\n[0.1]  # may vary\nEnd.",
        "elsewhere": "Imported from another library.",
    }
    ours = ModuleType("gensim.matutils")
    ours.__all__ = ["gone", *texts]
    for name, text in texts.items():
        exec(f"def {name}(): pass", vars(ours))
        vars(ours)[name].__doc__ = text
        vars(ours)[name].__module__ = "gensim"
    ours.elsewhere.__module__ = "other"
    real = importlib.metadata.version

    def find(path):
        if path != "gensim.matutils":
            raise RuntimeError("no backend")  # not an ImportError, as some raise
        return ours

    def version(name):
        if name == "POT":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    texts_without = {}
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("planted")
        patch.setattr(importlib, "import_module", find)
        patch.setattr(importlib.metadata, "version", version)
        for removed in ([], ["examples"], ["headers"], ["signatures"], ["names"]):
            corpus = load_docstrings(min_words=1, remove=removed, data_home=home)
            texts = dict(zip(corpus.names, corpus.data, strict=True))
            texts_without[" ".join(removed)] = texts
    return texts_without, corpus.author_names, corpus.DESCR


def test_a_library_that_cannot_be_imported_is_left_out(planted):
    _, author_names, description = planted
    assert author_names == ["gensim"]
    assert f"numpy {np.__version__}" in description
    assert "POT none" in description  # not installed


def test_names_that_cannot_be_had_and_copies_are_passed_over(planted):
    texts = planted[0][""]
    assert set(texts) == {"gensim.matutils.shown", "gensim.matutils.settled"}
    assert texts["gensim.matutils.shown"].endswith(_TEXT.partition("\n")[2].strip())


def test_what_scipy_writes_at_random_is_settled(planted):
    text = planted[0][""]["gensim.matutils.settled"]
    assert text == "Use of ``{'a', 'b', 'c'}``.\n>>> f()\nEnd."


# -- what is kept ------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Loads of one short module of the libraries, from a copy of what was kept before.

    Of another copy for each: within a process, a folder is read once.
    """
    real = importlib.import_module
    homes = (tmp_path / str(number) for number in itertools.count())
    imported = []

    def find(path):
        imported.append(path)
        if path != "ot.lp":
            raise ImportError(path)
        return real(path)

    def load(before=None):
        home = next(homes)
        if before is not None:
            shutil.copytree(before, home)
        imported.clear()
        corpus = load_docstrings(min_words=1, near_copies=True, data_home=home)
        return home, corpus, bool(imported)

    monkeypatch.setattr(importlib, "import_module", find)
    return load


def test_the_texts_are_read_from_the_libraries_once(kept):
    home, corpus, imported = kept()
    assert imported
    assert len(list(home.iterdir())) == 1
    _, again, imported = kept(home)
    assert not imported
    assert (again.data, again.names) == (corpus.data, corpus.names)
    assert len(again.data) > 5
    distinct = load_docstrings(min_words=1, data_home=home)
    assert 0 < len(distinct.data) < len(corpus.data)
    assert set(distinct.names) < set(corpus.names)


def test_another_package_or_version_has_them_read_anew(kept, tmp_path, monkeypatch):
    home, corpus, _ = kept()
    for package in ("autograd-1.8.dist-info", "autograd-1.9.dist-info"):
        Path(tmp_path, package, package).mkdir(parents=True)
        with monkeypatch.context() as patch:
            patch.syspath_prepend(tmp_path / package)
            home, again, imported = kept(home)
        assert imported
        assert again.data == corpus.data
    assert not kept(home)[2]
    assert len(list(home.iterdir())) == 3


@pytest.mark.parametrize(
    "damage",
    [b"", b"no gzip", gzip.compress(b"[[1], true]")],
    ids=["empty", "not packed", "other content"],
)
def test_a_damaged_file_is_written_anew(kept, damage):
    home, corpus, _ = kept()
    (file,) = home.iterdir()
    whole = file.read_bytes()
    for damaged in (damage, whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        mended, again, imported = kept(home)
        assert imported
        assert (again.data, again.names) == (corpus.data, corpus.names)
        assert (mended / file.name).read_bytes() == whole


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
    text = planted[0][remove]["gensim.matutils.shown"]
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
    ({"topics": "text"}, r"not a str, got 'text': write \['text'\]"),
    ({"topics": ["algebra"]}, r"topics must be .*'linear algebra'.*got 'algebra'"),
    ({"authors": ["sklearn"]}, r"authors must be .*'scikit-learn'.*got 'sklearn'"),
    ({"authors": 3}, r"authors must be an iterable .*got 3"),
    ({"authors": [["POT"]]}, r"authors must be .*got a list"),
    ({"remove": None}, r"remove must be an iterable .*got None"),
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
