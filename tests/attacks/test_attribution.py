"""Which documents adversaries attribute rightly, one by one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import (
    attribution_attack,
    linear_topic_classifier,
    make_folds,
    near_copies,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection import obfuscation_report
from skdptext.preprocessing import DocumentPreparer
from tests.inspection.corpus import CLEAN, Lookup, bayes


def test_the_table_holds_each_release_and_the_setting(synthetic):
    embedding, documents, authors, topics = synthetic
    perturbers = [
        DPWordPerturber(embedding, epsilon=e, document_length=30) for e in (1.0, 9.0)
    ]
    options = {
        "adversaries": {"a": (bayes(), "author"), "t": (bayes(), "topic")},
        "n_releases": 2,
        "cv": np.int64(2),
        "random_state": 4,
    }
    attack = attribution_attack(documents, authors, topics, perturbers, **options)
    report = obfuscation_report(
        documents, authors, topics, perturbers, linkage=False, **options
    )
    assert attack.rows == report.rows
    assert [p.epsilon for p in attack.perturbers] == [1.0, 9.0]
    assert attack.chance["author"]["uniform"] == 1 / 3
    assert attack.chance_if_unrelated is None
    assert (attack.n_splits, attack.n_releases, attack.n_strangers) == (2, 2, 0)
    # counted from the end, as rows may be
    splits = [([0, 1, 2, 3], [4, 40, 41]), ([0, 2, 3], [40, -6])]
    again = attribution_attack(
        documents, topics, topics, perturbers[1], cv=splits,
        adversaries={"again": (Lookup(), "topic")},
    )  # fmt: skip
    assert again.scores["topic"].n_documents == 2


def test_topics_that_give_the_authors_away(synthetic):
    embedding, documents, _, topics = synthetic
    attributions = attribution_attack(
        documents,
        topics,
        topics,
        DPWordPerturber(embedding, epsilon=CLEAN, document_length=30),
        adversaries={"a": (bayes(), "author")},
        trained_on="originals",
        random_state=0,
    )
    assert attributions.chance["author"]["from_other"] == 1
    assert 0.5 < attributions.chance_if_unrelated < 0.7


@pytest.mark.parametrize("as_bags", [False, True])
def test_copies_are_in_one_fold_by_default(as_bags):
    """Each document is there twice, by the same author: nobody knows it again."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    embedding = WordEmbedding(words, rng.normal(size=(400, 3)))
    once = [rng.choice(words, 30, replace=False).tolist() for _ in range(40)]
    documents = once + [text[:28] for text in once]
    authors = np.tile(list("abcdefgh"), 10)
    if as_bags:
        reader = DocumentPreparer(embedding, output="bow")
        documents = reader.fit_transform(documents)
    attack = partial(
        attribution_attack,
        documents,
        authors,
        perturber=DPWordPerturber(embedding, epsilon=CLEAN, document_length=28),
        adversaries={"again": (KNeighborsClassifier(1), "author")},
        trained_on="originals",
        random_state=0,
    )
    apart, together = (
        attack(groups=groups).scores["author"].clear for groups in (np.arange(80), None)
    )
    assert apart > 0.75
    assert together < 0.4


def test_copies_are_told_from_what_texts_have_in_common():
    """Long texts share most of the characters of a language, and are no copies."""
    rng = np.random.default_rng(0)
    odds = 1 / np.arange(1, 3001)
    odds /= odds.sum()
    long = [rng.choice(3000, 20_000, p=odds).astype(str).tolist() for _ in range(8)]
    short = [[f"{i} {j}" for j in range(12)] for i in range(8)]
    for texts, copy in ((long, long[3][:18_000]), (short, short[3][:11])):
        groups = near_copies([*texts, copy, [], [], ["a", "b"], ["a", "b"]])
        assert len(np.unique(groups)) == len(groups) - 1
        assert groups[3] == groups[len(texts)]


@pytest.mark.parametrize("n_groups", [4, 3, 1])
def test_folds_share_out_labels_and_keep_groups_together(n_groups):
    labels = np.tile(["x", "y"], 12)
    groups = np.arange(24) % n_groups
    splits = make_folds(labels, groups, 4, 0)
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(24))
    apart = [not set(groups[known]) & set(groups[held]) for known, held in splits]
    assert all(apart) == (n_groups == 4)
    if n_groups < 4:  # too few: labels are shared out
        assert [(labels[held] == "x").sum() for _, held in splits] == [3] * 4


def test_who_wants_topics_needs_them(synthetic):
    embedding, documents, authors, _ = synthetic
    with pytest.raises(InvalidParameterError, match="topics must be given"):
        attribution_attack(
            documents,
            authors,
            perturber=DPWordPerturber(embedding),
            adversaries={"t": (bayes(), "topic")},
        )


def test_an_author_of_copies_only_can_be_attacked():
    """In one fold, they would leave a single author to be known."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(100)]
    embedding = WordEmbedding(words, rng.normal(size=(100, 4)))
    texts = [" ".join(words[:30])] * 10
    texts += [" ".join(rng.choice(words, 30)) for _ in range(10)]
    attack = attribution_attack(
        texts,
        ["ann"] * 10 + ["bob"] * 10,
        perturber=DPWordPerturber(embedding, epsilon=1e6, document_length=20),
        adversaries={"linear": (linear_topic_classifier(embedding), "author")},
        trained_on="originals",
        random_state=0,
    )
    assert attack.scores["author"].value > 0.6
