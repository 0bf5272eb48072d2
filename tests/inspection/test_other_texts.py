"""Attackers who hold other texts: of the same people, and of the same source."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from skdptext import DPTextClassifier
from skdptext.inspection import release_report
from tests.expected import refusals
from tests.generators import public_trigrams, trigrams

RNG = np.random.default_rng(0)
WORDS = np.array([f"w{i}" for i in range(3000)])
N = 40


def people(n_texts, n_people=N, length=20, seed=0):
    """Texts of people who have words of their own, and whose each is."""
    rng = np.random.default_rng(seed)
    owner = np.arange(n_texts) % n_people
    own = np.random.default_rng(99).choice(WORDS, (n_people, 12))
    texts = [
        " ".join([*rng.choice(own[i], 8), *rng.choice(WORDS, length - 8)])
        for i in owner
    ]
    return texts, owner


# -- background ------------------------------------------------------------------------


def test_people_are_named_by_their_other_texts():
    released, owner = people(N)
    held, ids = people(3 * N, seed=1)
    shuffled = RNG.permutation(3 * N)
    report = release_report(
        None, released, authors=[f"p{i}" for i in owner],
        background=[held[i] for i in shuffled],
        background_ids=[f"p{i}" for i in ids[shuffled]], random_state=0,
    )  # fmt: skip
    person = report.scores["person"]
    assert person.low > 0.5
    assert person.chance == 1 / N
    assert "linkage" not in report.scores
    assert "same person" not in report.scores  # each has one release
    assert report.verdict.found
    assert "The person is named" in report.verdict.sentence
    assert report.scores["person, if sure"].value <= person.value + 1e-12


@pytest.mark.no_cover
def test_originals_and_background_are_both_used(one_adversary):
    released, owner = people(2 * N)
    held, ids = people(N, seed=1)
    report = release_report(
        released, released, authors=owner, background=held, background_ids=ids,
        random_state=0,
    )  # fmt: skip
    assert {"linkage", "person", "same person", "author"} <= set(report.scores)
    assert report.scores["linkage"].value == 1
    # a release that is its original: the person is found as among releases alone
    alone = release_report(
        None, released, authors=owner, background=held, background_ids=ids,
        random_state=0,
    )  # fmt: skip
    assert alone.scores["person"].value == report.scores["person"].value
    assert "same person" in alone.scores


def test_people_of_whom_nothing_is_held_are_left_out():
    released, owner = people(N)
    held, ids = people(N, seed=1)
    report = release_report(
        None, released, authors=owner, background=held[10:],
        background_ids=ids[10:], random_state=0,
    )  # fmt: skip
    assert any("of 10 releases nothing is held" in note for note in report.notes)
    assert report.scores["person"].n_documents == 15
    assert report.scores["person"].chance == 1 / 30


def test_candidates_are_matched_by_the_index_of_authors():
    released, owner = people(N)
    held, ids = people(N, seed=1)
    series = pd.Series(released, index=[f"r{i}" for i in range(N)])
    authors = pd.Series(owner, index=series.index).sample(frac=1, random_state=0)
    report = release_report(
        None, series, authors=authors, background=held, background_ids=ids,
        random_state=0,
    )  # fmt: skip
    assert report.scores["person"].low > 0.3


@refusals(
    ({"background": ["a", "b"]}, "background must hold a text for each release"),
    ({"background": ["a", "b"], "background_ids": [0, 1]}, "authors must say whose"),
    (
        {"background": ["a b", ""], "background_ids": [0, 1], "authors": range(N)},
        "at least 2 people",
    ),
    (
        {"background": ["a", "b"], "background_ids": ["x", "y"], "authors": range(N)},
        "people of at least 2 releases, got 0",
    ),
    ({"background": ["a"] * N, "known": {}}, "known must be None without original"),
    ({"background_ids": ["b"] * N}, "background_ids must be None without background"),
    ({}, "original must be given unless there is a background"),
)
def test_bad_backgrounds_are_refused(options):
    release_report(None, people(N)[0], **options)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("tool", "published"),
    [
        pytest.param("ner3", 0.7, marks=pytest.mark.slow),
        pytest.param("word2vec_t=0.25", 0.26, marks=pytest.mark.slow),
        ("manual", 0.1),
    ],
)
def test_actors_are_found_more_often_than_is_published(data_file, tool, published):
    """By TRIR, of its test bed: 50 actors, whose articles attackers hold."""
    path = data_file("reidentification/wikiactors_50_eval.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        actors = json.load(file)
    held = [person["public_knowledge"] for person in actors]
    released = [person[f"{tool}_abstract"] for person in actors]
    report = release_report(None, released, background=held, random_state=0)
    assert report.scores["person"].value > published + 0.25


# -- control ---------------------------------------------------------------------------


def prose_parts(prose, n):
    texts = list(dict.fromkeys(prose[0]))
    rng = np.random.default_rng(0)
    texts = [texts[i] for i in rng.permutation(len(texts))]
    return texts[:n], texts[n : 2 * n], texts[2 * n :], rng


def test_a_model_that_remembers_is_told_from_one_that_never_saw(prose):
    training, control, public, rng = prose_parts(prose, 60)
    leaking = release_report(
        training, trigrams(training, public, rng), control=control, random_state=0
    )
    honest = release_report(
        training, public_trigrams(training, public, rng), control=control,
        guarantee=of_model(1.0), random_state=0,
    )  # fmt: skip
    assert leaking.verdict.found
    assert leaking.scores["membership"].low > 0.6
    assert 0.3 < leaking.epsilon <= leaking.epsilon_shown
    assert not honest.verdict.found
    assert honest.epsilon == 0
    assert "BEYOND CONTROL" in honest.verdict.result
    assert any("ε is at least" in note for note in leaking.notes)
    assert any("No bound on ε" in note for note in honest.notes)
    assert "For all others ε = 1 is proved." in honest.verdict.sentence
    assert honest.to_dict()["epsilon_proved"] == 1
    for report in (leaking, honest):
        assert str(report)
        assert report.to_dict()["epsilon"] == report.epsilon
        assert report.to_html().startswith("<!DOCTYPE html>")
        for text in training:
            assert text not in str(report)


def test_what_was_used_is_no_control(prose):
    training, control, _, _ = prose_parts(prose, 60)
    report = release_report(
        training, training, control=[*control[:30], *training[:20], ""],
        random_state=0,
    )  # fmt: skip
    assert any(
        note.startswith("21 of the control hold no word") for note in report.notes
    )
    assert report.scores["copies beyond control: whole texts"].value == 1


def test_authors_are_told_by_all_of_their_texts(prose):
    training, control, public, rng = prose_parts(prose, 120)
    mine, theirs = np.arange(120) // 5, 100 + np.arange(120) // 5
    synthetic = trigrams(training, public, rng)
    report = release_report(
        training, synthetic, authors=mine,
        control={"texts": control, "authors": theirs}, random_state=0,
    )  # fmt: skip
    author, text = (
        report.scores[what] for what in ("membership of authors", "membership")
    )
    assert author.low > 0.7
    assert author.n_documents == 12 < text.n_documents
    # control texts by training authors count for no other author
    theirs[:5] = 0
    report = release_report(
        training, synthetic, authors=mine,
        control={"texts": control, "authors": theirs}, random_state=0,
    )  # fmt: skip
    assert any("5 of the control texts are by training" in n for n in report.notes)
    few = release_report(
        training, synthetic, authors=np.arange(120) % 2,
        control={"texts": control, "authors": theirs}, random_state=0,
    )  # fmt: skip
    assert "membership of authors" not in few.scores
    assert any("Authors are not told apart" in note for note in few.notes)


TWENTY = [f"text number{i} of{i} twenty{i}" for i in range(20)]


def of_model(epsilon):
    public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    model = DPTextClassifier(public, n_groups=2, epsilon=epsilon, classes=["a", "b"])
    return model.fit(["a text", "other"], ["a", "b"], authors=[1, 2]).guarantee()


def test_more_than_is_proved_is_said(prose):
    training, control, _, _ = prose_parts(prose, 60)
    for epsilon, refuted in ((0.1, True), (9.0, False)):
        report = release_report(
            training, training, control=control, guarantee=of_model(epsilon),
            random_state=0,
        )  # fmt: skip
        (said,) = (note for note in report.notes if note.startswith("Proved of a"))
        assert said.startswith(f"Proved of a person: ε is at most {epsilon:g}.")
        assert ("is this the guarantee of these texts?" in said) == refuted


@refusals(
    ({"guarantee": of_model(1.0)}, "guarantee must be of rows without control"),
    ({"guarantee": 1.0}, "guarantee must be a PrivacyGuarantee, got a float"),
    (
        {"guarantee": 1.0, "control": TWENTY},
        "guarantee must be of a learned model with control, got a float",
    ),
)
def test_what_is_proved_of_something_else_is_refused(options):
    release_report(TWENTY, TWENTY, **options)


@refusals(
    (TWENTY[:3], {}, "control must hold at least 10 different texts"),
    (TWENTY, {}, "control must hold at least 10 .* none of them of original"),
    ([1, 2], {}, "document 0"),
    (["x"] * 9, {"mechanism": 1}, "mechanism must be None with control"),
    (["x"] * 9, {"public": ["x"]}, "public must be None with control"),
    (["x"] * 9, {"examples": True}, "examples must be None with control"),
    (["x"] * 9, {"authors": range(20)}, "control must map 'texts' to texts and 'auth"),
)
def test_bad_controls_are_refused(control, options):
    release_report(TWENTY, TWENTY[:5], control=control, **options)


OTHERS = [f"other{i} words{i}" for i in range(20)]


@refusals(
    (None, TWENTY, "original must be given with control"),
    (TWENTY, ["", "!"], "released must hold at least one text with words"),
    (TWENTY[:9], TWENTY, "original must hold at least 10"),
)
def test_synthetic_texts_and_training_texts_must_be_there(training, synthetic):
    release_report(training, synthetic, control=OTHERS)
