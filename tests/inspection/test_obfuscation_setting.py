"""The setting of an obfuscation report: groups, chance levels, what is promised."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report

ADVERSARIES = {"a": (make_pipeline(TfidfTransformer(), MultinomialNB()), "author")}


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    return [[f"w{i}" for i in rng.integers(0, 200, 20)] for _ in range(24)]


def report(small_embedding, documents, authors, topics=None, perturber=None, **options):
    if perturber is None:
        perturber = DPWordPerturber(small_embedding, document_length=20)
    defaults = {"adversaries": ADVERSARIES, "random_state": 0, "linkage": False}
    options = defaults | options
    return obfuscation_report(documents, authors, topics, perturber, **options)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")
def test_no_cv_passes_groups_over(small_embedding, documents):
    authors, groups = ["ann", "ann", "bob", "bob"] * 6, np.repeat(np.arange(12), 2)
    pairs = [(np.arange(0, 24, 2), np.arange(1, 24, 2))]
    for cv in (KFold(4, shuffle=True, random_state=0), pairs):
        with pytest.raises(InvalidParameterError, match="documents of a group tog"):
            report(small_embedding, documents, authors, cv=cv, groups=groups.tolist())
    with pytest.raises(InvalidParameterError, match=r"groups must hold .* \(24\)"):
        report(small_embedding, documents, authors, cv=pairs, groups=groups[:5])
    whole = [(np.arange(12), np.arange(12, 24))]
    for cv in (GroupKFold(3), whole, 3):
        report(small_embedding, documents, authors, cv=cv, groups=groups)


def test_chance_is_that_of_the_documents_attacked(small_embedding, documents):
    """Known half and half; nine of the twelve under attack are by one author."""
    authors = np.array(["ann", "bob"] * 6 + ["ann"] * 9 + ["bob"] * 3)
    topics = np.array(["x", "y"] * 6 + ["x"] * 6 + ["y"] * 6)
    halves = [(np.arange(12), np.arange(12, 24))]
    results = report(small_embedding, documents, authors, topics, cv=halves).results
    assert (results["n_documents"] == 12).all()
    assert (results["chance_majority"] == 9 / 12).all()
    assert (results["chance_from_other"] == 9 / 12).all()


def test_warning_of_authors_of_whom_nothing_is_known(small_embedding, documents):
    """A group per author: no accuracy, which would look well hidden."""
    authors = np.repeat(["ann", "bob", "eve"], 8)
    for groups, n in ((authors, 24), (np.arange(24) // 2, 0)):
        made = report(small_embedding, documents, authors, groups=groups, cv=3)
        said = [w for w in made.warnings if "cannot name them, hidden or not" in w]
        assert len(said) == bool(n)
        assert all(w.startswith(f"{n} documents") for w in said)
        assert (made.results["clean"] == 0).all() == bool(n)


@pytest.mark.parametrize("resize", ["truncate", "sample"])
def test_nothing_is_promised_where_unknown_words_are_kept(
    small_embedding, documents, resize
):
    named = [[*words, f"name{i}"] for i, words in enumerate(documents)]
    perturber = DPWordPerturber(
        small_embedding, document_length=20, resize=resize, oov="keep", output="text"
    )
    obfuscation = report(
        small_embedding,
        named,
        ["ann", "bob"] * 12,
        perturber=perturber,
        adversaries={"k": (KoppelAuthorClassifier(random_state=0), "author")},
        cv=2,
    )
    assert np.isinf(obfuscation.exponents).all()
    assert "∞" in obfuscation._repr_html_()
