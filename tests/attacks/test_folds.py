"""Folds of documents: near-copies stay together, labels are shared out."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext.attacks import make_folds, near_copies
from skdptext.inspection import release_report


def test_copies_are_in_one_fold():
    """Each document is there twice, by the same author: nobody knows it again."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    once = [rng.choice(words, 30, replace=False).tolist() for _ in range(40)]
    documents, authors = once + [text[:28] for text in once], np.tile([*"abcdefgh"], 10)
    report = release_report(documents, documents, authors=authors, random_state=0)
    assert report.scores["author"].value < 0.4
    assert len(np.unique(near_copies(documents))) == 40


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


def test_an_author_of_copies_only_can_be_attacked():
    """In one fold, they would leave a single author to be known."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(100)]
    texts = [" ".join(words[:30])] * 10
    texts += [" ".join(rng.choice(words, 30)) for _ in range(10)]
    report = release_report(texts, texts, authors=["ann"] * 10 + ["bob"] * 10)
    assert report.scores["author"].value > 0.6
