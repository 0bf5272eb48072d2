"""A report on anybody's release: right where the truth is known, silent about texts."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.attacks import Score
from skdptext.base import BaseReleaser
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection import Bound, Provenance, ReleaseReport, release_report
from skdptext.privacy import PrivacyGuarantee
from skdptext.utils import percent_up
from tests.expected import refusals, refused

RNG = np.random.default_rng(0)
WORDS = np.array([f"w{i}" for i in range(300)])


def documents(n: int, length: int = 20, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, length)) + "." for _ in range(n)]


CLEAR = documents(40)
# Two documents each: attacks on labels of more train more classifiers, in five folds.
PAIRED = [f"a{i // 2}" for i in range(40)]


def of_scores(*scores: Score, **bounds: Bound) -> ReleaseReport:
    at = Provenance("originals", "releases", 600, 600, 100, "")
    return ReleaseReport(list(scores), notes=[], provenance=at, bounds=bounds)


class Likelihood(BaseReleaser):
    """A mechanism that says this of any release."""

    def __init__(self, logs: np.ndarray) -> None:
        self.logs = logs

    def fit(self, X: object, y: object = None) -> Likelihood:
        return self

    def transform(self, X: object) -> object:
        raise AssertionError("the report makes no release")

    def guarantee(self) -> object:
        raise AssertionError("the likelihood was to be refused")

    def log_likelihood(self, documents: object, released: object) -> np.ndarray:
        return self.logs


@pytest.mark.no_cover
def test_a_release_that_hides_nothing():
    report = release_report(CLEAR, CLEAR, random_state=0)
    assert [name for name in report.scores if name != "rare words"] == [
        "linkage", "when sure", "words", "copies: whole texts", "copies: sentences",
        "copies: spans of 5 words",
    ]  # fmt: skip
    link, words = report.scores["linkage"], report.scores["words"]
    assert (link.value, link.high, link.chance) == (1, 1, 1 / 40)
    assert words.value == 1
    assert words.chance < 0.2
    assert {s.value for q, s in report.scores.items() if "copies" in q} == {1}
    again = release_report(CLEAR, CLEAR, random_state=0)
    assert str(again) == str(report)
    by_order, few = report.notes
    assert "matched by their order" in by_order
    assert few == "There are only 40 candidates."
    assert link.n_documents == 20  # the other half chose


def test_a_release_that_shows_nothing():
    """Every score is at chance, and the intervals hold it."""
    for released in ([""] * 40, ["same words"] * 40):
        report = release_report(CLEAR, released, random_state=0)
        link, words = report.scores["linkage"], report.scores["words"]
        assert link.low <= link.chance <= link.high
        assert words.value == words.chance == 0
    for n, message in ((40, "40 of the releases are empty."),
                       (1, "1 of the releases is empty.")):  # fmt: skip
        released = [""] * n + ["?!"] + CLEAR[n + 1 :]
        released = released[:40]
        assert message in release_report(CLEAR, released, random_state=0).notes


def warns(clear, released, **options):
    report = release_report(clear, released, random_state=0, **options)
    return "Texts may be in another order" in str(report)


@pytest.mark.no_cover
def test_another_order_is_suspected_and_noise_is_not(prose):
    """Rows shuffled, of whatever part of them is attacked; not what hides them."""
    rng = np.random.default_rng(0)
    texts = list(dict.fromkeys(prose[0]))[:48]
    texts, others = texts[::2], texts[1::2]
    every = np.array(" ".join(texts).split())

    def noisy(text: str, share: float) -> str:
        words = text.split()
        drawn = rng.choice(every, len(words))
        unchanged = rng.random(len(words)) >= share
        return " ".join(np.where(unchanged, words, drawn))

    for share in (0, 0.3):
        shuffled = [noisy(texts[i], share) for i in rng.permutation(len(texts))]
        for most in (1000, 12):  # the originals of most are not among the 12
            assert warns(texts, shuffled, max_documents=most)
    released = [
        *([noisy(text, share) for text in texts] for share in (0, 0.3, 0.6, 0.9, 1)),
        others[: len(texts)],  # each replaced by a public text
        [texts[i] for i in rng.integers(0, len(texts), len(texts))],
        [texts[0]] * len(texts),
        ["[REDACTED]"] * len(texts),
    ]
    assert [warns(texts, noise) for noise in released] == [False] * len(released)


def test_what_is_matched_by_ids_is_not_said_to_be_by_order():
    texts = CLEAR[:6]
    clear = pd.Series(texts, index=[f"d{i}" for i in range(6)])
    shuffled = clear.sample(frac=1, random_state=0)
    for released, by_order in (
        (shuffled, False), (clear, False), (texts, True), (shuffled.tolist(), True)
    ):  # fmt: skip
        report = release_report(clear, released, random_state=0)
        said = any("matched by their order" in note for note in report.notes)
        assert said == by_order
        matched = isinstance(released, pd.Series) or released == texts
        assert (report.scores["copies: whole texts"].value == 1) == matched
    # rows that are only numbered have no ids
    numbered = pd.Series(texts)
    notes = release_report(numbered, numbered, random_state=0).notes
    assert "matched by their order" in notes[0]


def test_authors_and_topics_by_hand():
    """Authors have a word of their own, which the release leaves; topics are hidden."""
    rng = np.random.default_rng(1)
    authors, topics = np.array(["ann", "bob"] * 20), np.repeat(["tea", "war"], 20)
    clear = [
        f"{text[:-1]} {a} {t}" for text, a, t in zip(
            CLEAR, authors, topics, strict=True)
    ]  # fmt: skip
    noisy = [f"{' '.join(rng.choice(WORDS, 3))} {a}" for a in authors]
    report = release_report(
        clear, noisy, authors=authors, topics=topics, n_candidates=10, random_state=0
    )
    author, topic = report.scores["author"], report.scores["topic"]
    assert list(report.scores)[:6] == [
        "linkage", "when sure", "same person", "author", "topic", "words"
    ]  # fmt: skip
    assert author.chance == 0.5
    assert author.clear >= 0.9
    assert author.low > 0.6
    assert topic.clear > 0.9
    other = report.scores["same person"]  # by the author's word, and by nothing else
    assert (other.chance, other.low > 0.4) == (0.1, True)
    assert topic.low <= topic.chance <= topic.high
    frame = report.to_frame()
    assert set(frame["question"]) >= {"linkage", "author", "topic", "words"}
    assert frame["value"].between(0, 1).all()


def test_other_texts_teach_what_no_original_does(one_adversary):
    """Authors have a word of their own in their other texts, and in the releases."""
    authors = np.array(["ann", "bob"] * 20)
    noisy = [f"{text} {name}" for text, name in zip(CLEAR, authors, strict=True)]
    known = {"texts": ["ann ann", "bob bob"] * 3, "authors": ["ann", "bob"] * 3}
    by_texts, alone = (
        release_report(CLEAR, noisy, authors=authors, known=k, random_state=0)
        for k in (known, None)
    )
    of_clear = "linear model of words, trained on originals"
    values = [
        next(row.value for row in report.of("author") if row.adversary == of_clear)
        for report in (by_texts, alone)
    ]
    assert values[0] > 0.8 > 0.7 > values[1]


def test_no_classifier_draws_from_the_global_state(monkeypatch):
    """It did, and a report with a seed could name another strongest adversary."""
    monkeypatch.setattr(np.random.mtrand, "_rand", None)
    report = release_report(CLEAR, CLEAR, authors=PAIRED, random_state=0)
    assert any("linear model" in row.adversary for row in report.of("author"))


def test_a_known_mechanism_finds_more_in_silence_and_repeatably():
    table = WordEmbedding(WORDS.tolist(), RNG.normal(size=(300, 4)))
    perturber = DPWordPerturber(
        table, epsilon=2.0, document_length=20, resize="truncate", output="text",
        order="keep",
        random_state=np.random.default_rng(0),
    ).fit(CLEAR)  # fmt: skip
    noisy = perturber.transform(CLEAR)
    unfitted = clone(perturber).set_params(document_length=None, order=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        informed, again, vectors, words = (
            release_report(CLEAR, noisy, random_state=0, **knows)
            for knows in (
                {"mechanism": perturber, "authors": PAIRED}, {"mechanism": perturber},
                {"embedding": table}, {},
            )
        )  # fmt: skip
        few = {"topics": PAIRED[:8], "mechanism": unfitted}
        release_report(CLEAR[:8], noisy[:8], random_state=0, **few)
    found = [report.scores["linkage"].value for report in (informed, vectors, words)]
    assert found[0] >= found[1] - 0.1
    assert found[1] > found[2]
    assert informed.of("linkage") == again.of("linkage")
    (mechanism,) = (r for r in again.of("linkage") if r.adversary == "mechanism")
    assert mechanism.value > 0.5
    named = [row.adversary for row in informed.of("author")]
    assert any("with the mechanism" in name for name in named)


def test_what_is_proved_stands_beside_what_is_found(prose, one_adversary):
    """Of documents, and of persons, whose documents' guarantees compose."""
    texts = list(dict.fromkeys(prose[0]))
    public, private = texts[:40], texts[40:80]
    replacer = DPDocumentReplacer(public, n_groups=4, epsilon=3.0, random_state=0).fit()
    authors = np.arange(40) // 4
    released = replacer.transform(private)
    report = release_report(
        private, released, authors=authors, mechanism=replacer, n_candidates=10,
        random_state=0,
    )  # fmt: skip
    guarantee = replacer.guarantee()
    stored = PrivacyGuarantee.from_json(guarantee.to_json())
    told = release_report(
        private, released, authors=authors, guarantee=stored, n_candidates=10,
        random_state=0,
    )  # fmt: skip
    assert told.bounds == report.bounds
    assert report.bounds["linkage"][:2] == (guarantee.found_at_most(10), 10)
    persons = report.bounds["same person"]
    assert persons == (guarantee.compose(4).found_at_most(10), 10, 4)
    assert report.scores["linkage"].low <= report.bounds["linkage"].share
    at_most = percent_up(persons.share).replace("%", " %")
    lines = str(report).splitlines()
    (line,) = (line for line in lines if line.startswith("  same person"))
    assert f"≤ {at_most}" in line
    assert "Proved limit of persons with 4 documents, the most here" in str(report)
    assert f"proved at most {at_most}" in report.to_html()
    assert report.to_dict()["bounds"]["same person"]["n_documents"] == 4
    of_words = release_report(private, private, authors=authors, random_state=0)
    assert (of_words.bounds, "proved" in str(of_words)) == ({}, False)


@pytest.mark.parametrize(
    ("found", "bound", "result", "also"),
    [
        # what a proof bounds is judged by the proof, whatever chance adds
        ((0.03, 0.02, 0.05), 0.038, "DOCUMENTS ARE HIDDEN.", ""),
        ((0.06, 0.04, 0.09), 0.055, "DOCUMENTS ARE PARTLY HIDDEN.", "by chance"),
        ((0.06, 0.04, 0.09), 0.038, "DOCUMENTS ARE PARTLY HIDDEN AT BEST.", "did this"),
        # what nothing useful is proved of is judged by the attack, as without a proof
        ((0.03, 0.02, 0.05), 0.6, "DOCUMENTS ARE PARTLY HIDDEN AT BEST.", ""),
        ((0.03, 0.02, 0.05), None, "DOCUMENTS ARE PARTLY HIDDEN AT BEST.", ""),
        ((0.40, 0.30, 0.50), None, "DOCUMENTS ARE NOT HIDDEN.", ""),
        ((0.01, 0.00, 0.05), None, "NOTHING WAS FOUND ABOVE CHANCE.", ""),
    ],
)
def test_the_verdict_speaks_from_the_proof_and_the_attack(found, bound, result, also):
    score = Score("linkage", "tf-idf", *found, chance=0.01, n_documents=300)
    bounds = {} if bound is None else {"linkage": Bound(bound, 100)}
    report = of_scores(score, **bounds)
    said = report.verdict
    assert said.result == result
    assert said.found == ("PARTLY" in result or "NOT " in result)
    by_chance, refuted = "A sample of 300 may lie above", "did this mechanism release"
    assert (by_chance in said.sentence, refuted in said.sentence) == (
        also == "by chance",
        also == "did this",
    )
    if bound is not None:
        assert f"proved is at most {100 * bound:.1f} % on average" in said.sentence
    row = next(x for x in str(report).splitlines() if x.startswith("  original among"))
    assert row.endswith(
        result.lower().removeprefix("documents are ").strip(".")
        if result.startswith("DOCUMENTS")
        else "no clear gain"
    )


@pytest.mark.parametrize(
    ("low", "chance", "found"),
    [
        (0.083, 0.081, False),  # certain, of many words, and of no use
        (0.087, 0.081, True),
        (0.0014, 0.001, False),
        (0.0016, 0.001, True),  # among a thousand
        (1e-6, 0.0, True),  # of what no honest release holds
        (0.08, 0.081, False),
    ],
)
def test_a_find_is_more_than_a_certain_trifle(low, chance, found):
    score = Score("words", "nearest", low + 0.001, low, low + 0.01, chance, 10_000)
    report = of_scores(Score("linkage", "tf-idf", 0.01, 0.0, 0.05, 0.01, 300), score)
    assert report.verdict.found == found
    assert str(report).count("no clear gain") == 2 - found


def test_texts_that_are_all_alike(one_adversary):
    """Fewer groups of near-copies than folds: each fold holds some of one group."""
    report = release_report(
        ["a b c d e f g h i j k"] * 12, ["x"] * 12, topics=list("abcdef") * 2
    )
    topic = report.scores["topic"]
    assert topic.low <= topic.chance == 1 / 6 <= topic.high
    tiny = [f"a b {i}" for i in range(12)]
    report = release_report(
        tiny, tiny, topics=list("aabbccddeeff"), max_documents=2, random_state=0
    )
    assert "topic" not in report.scores
    assert "Topics are not attacked" in str(report)


def test_rare_words_have_the_chance_of_texts_that_hold_some():
    clear = ["so said all"] * 50
    clear[:5] = [f"so said all {chr(97 + i) * 4}" for i in range(5)]
    released = [chr(97 + i % 5) * 4 for i in range(50)]
    rare = release_report(clear, released, random_state=0).scores["rare words"]
    assert (rare.value, rare.n_documents) == (1.0, 5)
    assert 0.1 < rare.chance < 0.3  # every fifth release holds a given one


@pytest.mark.no_cover
def test_any_script_any_length_and_halves_of_characters():
    texts = ["我们在罗马见面", "雨下在奥斯陆了", "猫坐在垫子上面", "ภาษาไทยไม่มีช่องว่าง"]
    rng = np.random.default_rng(0)
    emoji = ["".join(rng.choice(list("😀😂🤣😊😍👍❤🔥☂"), 9)) for _ in range(30)]
    book = documents(3, 10_000)
    for clear, released in ((texts, texts), (emoji, emoji),
                            (book, [text[:500] for text in book])):  # fmt: skip
        scores = release_report(clear, released, random_state=0).scores
        assert scores["linkage"].value == 1
        assert (scores["copies: whole texts"].value == 1) == (clear is released)
    assert scores["words"].value < 0.05
    broken = [f"\ud800 {text}" for text in CLEAR]
    report = release_report(broken, broken, examples=True, random_state=0)
    assert len(report.to_html().encode()) > 0
    assert len(str(report).encode()) > 0


def test_originals_without_words_are_left_out(one_adversary):
    """There is nothing to find in them: no share of nothing counts as hidden."""
    clear, released = ["", "!", *CLEAR[2:20]], ["", "x", *CLEAR[2:20]]
    report = release_report(clear, released, authors=PAIRED[:20], random_state=0)
    assert report.scores["words"].value == 1
    at = report.provenance
    assert (at.n_documents, at.n_given) == (18, 20)
    assert "2 of the originals hold no word, and are left out." in report.notes


@pytest.mark.no_cover
def test_columns_of_any_kind(one_adversary):
    clear, released = CLEAR[:8], CLEAR[1:8] + CLEAR[:1]
    expected = release_report(clear, released, random_state=0).to_frame()
    for kind in (pd.Series, pl.Series, pa.array, np.array, tuple, iter):
        frame = release_report(kind(clear), kind(released), random_state=0).to_frame()
        pd.testing.assert_frame_equal(frame, expected)
    tokens = [text.rstrip(".").split() for text in clear]
    assert release_report(tokens, tokens, random_state=0).scores["words"].value == 1
    names = pd.Series(PAIRED[:8])
    marked = [f"{text} {name}" for text, name in zip(clear, names, strict=True)]
    shuffled = names.sample(frac=1, random_state=0)
    by = [
        release_report(pd.Series(marked), marked, authors=a, random_state=0)
        for a in (names, shuffled)
    ]
    assert by[0].scores == by[1].scores
    with refused("original and authors must have"):
        release_report(pd.Series(marked), marked, authors=names[1:])


@pytest.mark.no_cover
def test_large_inputs_are_sampled_and_say_so(one_adversary):
    texts = documents(60, 4)
    authors = np.repeat([f"a{i}" for i in range(30)], 2)
    topics = np.array(["x", "y"] * 30)
    report = release_report(
        texts, texts, authors=authors, topics=topics, max_documents=7,
        n_candidates=5, random_state=0,
    )  # fmt: skip
    at = report.provenance
    assert (at.n_documents, at.n_given) == (7, 60)
    notes = " ".join(report.notes)
    assert "Of 60 documents, a random sample of 7 was attacked." in notes
    assert "Authors: a random sample of 3 of them." in notes
    assert "Topics: a random sample of 7 documents." in notes
    assert report.scores["author"].n_documents == 3  # half of those of whole authors
    # of two authors, few documents each
    alone = np.array(["a", "b"] * 29 + ["c", "d"])
    report = release_report(
        texts, texts, authors=alone, max_documents=5, random_state=0
    )
    assert "author" in report.scores
    assert any("2 authors have one document only" in note for note in report.notes)


def test_no_text_is_quoted_unless_asked(capsys):
    secret = [f"{text} zqcanary{i}" for i, text in enumerate(CLEAR[:20])]
    for examples in (False, True):
        report = release_report(
            secret, secret, examples=examples, random_state=0, verbose=2
        )  # fmt: skip
        shown = [str(report), repr(report), report._repr_html_(), report.to_html()]
        shown += [
            json.dumps(report.to_dict()),
            report.to_frame().to_csv(),
            str(vars(report)),
            *capsys.readouterr(),
        ]
        assert any("zqcanary" in text for text in shown) == examples
        assert len(report.examples) == (3 if examples else 0)


def test_rare_words_are_those_of_public_texts():
    """w0 to w9 are frequent in public; of the others, every second is left."""
    public = [" ".join(f"w{i}" for i in range(10))] * 100
    clear = [f"w{i % 10} w{20 + i} w{100 + i}" for i in range(20)]
    released = [f"w{i % 10} w{20 + i}" for i in range(20)]
    rare = release_report(clear, released, public=public, random_state=0).scores
    assert rare["rare words"].value == 0.5
    assert rare["rare words"].adversary == "public texts"
    # of two thousand, one may hold a frequent word, but not a rare one twice
    often = [*public * 20, "w20", "w21 w22"]
    again = release_report(clear, released, public=often, random_state=0).scores
    assert again["rare words"].value == 0.5


@pytest.mark.no_cover
def test_who_may_be_silent_is_right_in_nine_of_ten():
    """Half of the releases are their originals, the others another text."""
    other = documents(40, seed=9)
    pairs = zip(CLEAR, other, strict=True)
    released = [x if i % 2 else y for i, (x, y) in enumerate(pairs)]
    sure = release_report(CLEAR, released, random_state=0).scores["when sure"]
    assert 0.2 < sure.value < 0.8  # those that are there, and hardly any other
    nothing = release_report(CLEAR, other, random_state=0).scores["when sure"]
    assert nothing.low <= nothing.chance


@refusals(
    ({"released": CLEAR[:3]}, "equal length, got 4 and 3 texts"),
    ({"released": "abc"}, "got a single str"),
    ({"released": b"abc"}, "got a single bytes"),
    ({"released": None}, "got None"),
    ({"released": [*CLEAR[:3], None]}, "got None as document 3"),
    ({"released": [*CLEAR[:3], float("nan")]}, "as document 3"),
    ({"released": [*CLEAR[:3], ["a", 1]]}, "an int as token 1 of document 3"),
    ({"released": np.eye(4)}, "got a count matrix"),
    ({"original": pd.Series(CLEAR[:2]), "released": pd.Series(CLEAR[:2], [7, 8])},
     "original and released must have the same index"),
    ({"original": ["a"], "released": ["a"]}, "at least 2 texts, got 1"),
    ({"original": [*"!?.", ""]}, "at least 2 texts with words, got 0"),
    ({"original": [*"!a.", ""]}, "at least 2 texts with words, got 1"),
    ({"authors": ["a", "b"]}, r"one label per document \(4\)"),
    ({"authors": ["a"] * 4}, "at least 2 labels that occur twice, got 1 of 1"),
    ({"topics": list("abcd")}, "got 0 of 4"),
    ({"topics": [0.5, 1.5] * 2}, "topics must hold classes"),
    ({"n_candidates": 1}, "n_candidates must be an integer >= 2"),
    ({"n_candidates": 2.5}, "n_candidates"),
    ({"max_documents": 1}, "max_documents"),
    ({"examples": 1}, "examples must be True or False"),
    ({"verbose": -1}, "verbose"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"embedding": "glove"}, "embedding"),
    ({"labels": ["a"]}, "labels must map names to one label"),
    ({"labels": {"words": list("aabb")}}, "names that are text and not those of"),
    ({"labels": {"age": list("aab")}}, r"one label per document \(4\)"),
    ({"mechanism": "noise"}, "mechanism must be a releaser"),
    ({"known": ["a"]}, "known must map"),
    ({"known": {"texts": ["a"]}}, "got 1 of these three"),
    ({"known": {"texts": ["a"], "authors": ["a", "b"]}, "authors": list("aabb")},
     r"one label per text \(1\)"),
    ({"known": {"texts": ["a"], "topics": ["a"]}, "authors": list("aabb")},
     "known must come with"),
    ({"known": {"texts": ["a"] * 4, "authors": list("1122")}, "authors": [1, 1, 2, 2]},
     r"known\['authors'\] must hold some of the authors"),
    ({"mechanism": Likelihood(np.zeros((4, 5)))}, r"shape \(4, 4\).* \(4, 5\)"),
    ({"mechanism": Likelihood(np.full((4, 4), np.nan))}, "without NaN"),
    ({"public": np.eye(2)}, "public must hold"),
    ({"public": []}, "public must hold"),
    ({"public": [""]}, "public must hold"),
    ({"random_state": "x"}, "random_state"),
)  # fmt: skip
def test_bad_input(change):
    release_report(**{"original": CLEAR[:4], "released": CLEAR[:4]} | change)
