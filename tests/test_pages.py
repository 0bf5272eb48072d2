"""What pages, notebooks and examples are held to when they run."""

from __future__ import annotations

import doctest
import importlib.util
from pathlib import Path

import pytest
from sklearn.cluster import DBSCAN
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

DOCS = Path(__file__).parents[1] / "docs"
TEXTS = [f"{a} {b}" for a in ("tea", "milk", "cat", "dog") for b in ("one", "two")]
LABELS = ["food"] * 4 + ["pets"] * 4
BEGINS = """
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from skdptext import DPDocumentReplacer, DPTextClassifier
replacer = DPDocumentReplacer(texts, public_labels=labels, epsilon=2.0).fit()
counts = CountVectorizer().fit(texts)
stand_ins = replacer.transform(["a cup of tea", "my dog"])
model = LogisticRegression().fit(counts.transform(stand_ins), ["food", "pets"])
model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(stand_ins, [0, 1])
by_counts = LogisticRegression().fit(counts.transform(stand_ins), [0, 1])
learner = DPTextClassifier(other, classes=["food", "pets"], n_groups=2)
"""


@pytest.fixture(scope="module")
def held_out():
    spec = importlib.util.spec_from_file_location("held_out", DOCS / "held_out.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(held_out, code):
    names = {
        "__name__": "__main__",
        "texts": TEXTS,
        "labels": LABELS,
        "other": [f"{text} three" for text in TEXTS],
        "private": [f"{text} four" for text in TEXTS],
    }
    with held_out.watched():
        exec(compile(BEGINS + code, "page", "exec"), names)


@pytest.mark.parametrize(
    "code",
    [
        "model.predict(texts[:2])",
        "by_counts.predict(counts.transform(texts))",
        "clear = counts.transform(texts[3:])\nby_counts.score(clear, [0] * 5)",
        "learner.fit(private, labels).predict(other)",
        "learner.fit(private, labels).predict(private[:1])",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_page_that_tests_on_what_it_gave_away_fails(held_out, code):
    with pytest.raises(
        held_out.TestedOnTrainingError, match="documents that stand-ins"
    ):
        run(held_out, code)


def test_a_watch_leaves_everything_as_it_was(held_out):
    clusters = make_pipeline(TfidfVectorizer(), DBSCAN())
    before = [vars(owner).get(name) for owner, name in held_out.TEST]
    with held_out.watched():
        pass
    assert [vars(owner).get(name) for owner, name in held_out.TEST] == before
    assert not hasattr(clusters, "predict")


@pytest.mark.filterwarnings("ignore")
def test_a_page_that_holds_out_passes(held_out):
    from sklearn.linear_model import LogisticRegression

    before = dict(vars(LogisticRegression))
    run(
        held_out,
        "model.predict(['tea for two', 'a dog'])\n"
        "by_counts.predict(counts.transform(['tea for two']))\n"
        "learner.fit(private, labels).predict(['my tea'])",
    )
    assert dict(vars(LogisticRegression)) == before  # what is watched is let go


@pytest.fixture(scope="module")
def conftest():
    checker = doctest.OutputChecker.check_output
    spec = importlib.util.spec_from_file_location("pages", DOCS / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    doctest.OutputChecker.check_output = checker


@pytest.mark.parametrize(
    ("want", "got", "close"),
    [
        ("found: 0.94", "found: 0.92", True),
        ("found: 0.94", "found: 0.87", False),
        ("found 98 % of 100", "found 95 % of 100", True),
        ("found 98 % of 100", "found 90 % of 100", False),
        ("1,016 of 2,071", "1,030 of 2,071", True),
        ("1,016 of 2,071", "1,100 of 2,071", False),
        ("found 98 %", "found 98 % of 100", False),
        ("found 98 %", "missed 98 %", False),
    ],
)
def test_numbers_of_a_page_are_near_those_of_a_run(conftest, want, got, close):
    check = doctest.OutputChecker().check_output
    assert check(want + "\n", got + "\n", conftest.ABOUT) == close
    assert not check(want + "\n", got + "\n", 0)


def test_as_many_texts_are_drawn_as_a_page_shows(conftest):
    check = doctest.OutputChecker().check_output
    assert check("['a b', 'c']\n", "['d', \"it's\"]\n", conftest.DRAWN)
    assert not check("['a b', 'c']\n", "['d']\n", conftest.DRAWN)
