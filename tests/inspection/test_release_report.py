"""A report on anybody's release: right where the truth is known, silent about texts."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdptext import DPDocumentReplacer, DPTextClassifier
from skdptext.attacks import Score, Scores
from skdptext.inspection import ReleaseReport, column_sentences, release_report
from tests.expected import leaks_allowed, refusals, refused
from tests.generators import public_trigrams, trigrams

pytestmark = leaks_allowed

WORDS = np.array([f"w{i}" for i in range(3000)])


def documents(n: int, length: int = 20, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS[:300], length)) + "." for _ in range(n)]


CLEAR = documents(40)


def said(*scores: Score, **fields: object) -> ReleaseReport:
    return ReleaseReport(Scores(scores), [], **fields)


def of(question: str, value: float, chance: float = 0.01) -> Score:
    low, high = max(0.0, value - 0.04), min(1.0, value + 0.04)
    return Score(question, "", value, low, high, chance, 300)


# -- conclusions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "amount"),
    [(0.05, "not above guessing"), (0.06, "some"), (0.5, "many"), (0.6, "most"),
     (0.98, "most"), (1.0, "almost all")],
)  # fmt: skip
def test_conclusions_follow_the_amount(value, amount):
    """By the low end of the interval, in each place where one is drawn."""
    for question, what in (
        ("linkage", "ORIGINAL"),
        ("person", "PERSON"),
        ("author", "AUTHOR"),
    ):
        report = said(of(question, value), of("words", 0.92, 0.92))
        assert report.scores[question].amount == amount
        if value == 0.05:
            assert report.verdict == "NOTHING WAS IDENTIFIED ABOVE GUESSING."
            continue
        start = f"THE {what} IS IDENTIFIED FOR {amount.upper()} RELEASES: at least"
        assert report.verdict.startswith(start)


# Certain, and of no use; and what matters, as among a thousand, or where chance is 0.
TRIFLES = [(0.083, 0.081), (0.0014, 0.001), (0.08, 0.081)]
FINDS = [(0.087, 0.081), (0.0016, 0.001), (1e-6, 0.0)]


@pytest.mark.parametrize(("low", "chance"), TRIFLES + FINDS)
def test_a_find_is_more_than_a_certain_trifle(low, chance):
    found = (low, chance) in FINDS
    score = Score("words", "reading", low + 0.001, low, low + 0.01, chance, 10_000)
    assert score.is_above == found
    assert ("SOMETHING IS LEFT" in said(score).verdict) == found


def test_the_first_verdict_that_applies():
    """Rows, identified, used, unread, left, the topic: each goes before the next."""
    topic, words = of("topic", 0.9, 0.5), of("words", 0.3, 0.1)
    parts = [
        ("NOTHING WAS IDENTIFIED BEYOND THE TOPIC", {}, [topic]),
        ("NO RELEASE IS IDENTIFIED, BUT", {}, [words]),
        ("THESE ATTACKERS CANNOT READ THE RELEASES", {"unread": "Because."}, []),
        ("THE SYNTHETIC TEXTS REVEAL", {}, [of("membership", 0.9, 0.5)]),
        ("THE ORIGINAL IS IDENTIFIED", {}, [of("linkage", 0.9)]),
        ("ROWS DO NOT BELONG TOGETHER. 90%", {"misplaced": 0.9}, []),
        ("COLUMNS REVEAL ROWS. Column", {"columns": ["Column."]}, []),
    ]
    fields, scores = {}, []
    for start, more, rows in parts:
        fields |= more
        scores += rows
        assert said(*scores, **fields).verdict.startswith(start)
    # the worst is furthest above guessing, and all is only said of all
    report = said(of("author", 0.6, 0.5), of("linkage", 0.5))
    assert report.verdict.startswith("THE ORIGINAL IS IDENTIFIED FOR MANY")
    assert "author identified (most)" in report.verdict
    assert "topic inferred" in said(of("linkage", 0.9), topic).verdict
    assert "(99%\u00a0here" in str(of("linkage", 0.996))
    assert "3e-05%" in str(Score("words", "", 0.1, 3e-7, 0.2, 0.0, 300))


# -- three kinds of release ------------------------------------------------------------


def test_a_release_that_hides_nothing():
    report = release_report(CLEAR, CLEAR)
    assert set(report.scores) >= {"linkage", "words", "spans of 5 words", "copies"}
    assert {row.value for row in report.scores.values()} == {1}
    link, words = report.scores["linkage"], report.scores["words"]
    assert (link.chance, link.high, link.n_documents) == (1 / 40, 1, 20)
    assert words.chance < 0.2
    assert str(release_report(CLEAR, CLEAR)) == str(report)
    assert len(report.to_frame()) == len(report.scores.rows) > len(report.scores)
    assert json.loads(json.dumps(report.to_dict()))["scores"]["words"]["value"] == 1


@pytest.mark.parametrize(
    "released", [[""] * 40, ["same words"] * 40, documents(40, 9, 5)]
)
def test_a_release_that_shows_nothing(released):
    """Every score is at chance, and the intervals hold it."""
    report = release_report(CLEAR, released)
    for row in report.scores.values():
        assert row.low <= row.chance <= row.high
    assert not report.misplaced
    assert ("CANNOT READ" in report.verdict) == (len(set(released)) == 1)


def test_stand_ins_are_identified_no_more_often_than_is_proved(prose):
    texts = list(dict.fromkeys(prose[0]))
    replacer = DPDocumentReplacer(texts[:40], n_groups=4, epsilon=3.0, random_state=0)
    private = texts[40:80]
    released = replacer.fit().transform(private)
    guarantee = replacer.guarantee()
    by_mechanism, told = (
        release_report(private, released, n_candidates=10, **given)
        for given in ({"releaser": replacer}, {"guarantee": guarantee})
    )
    bound = guarantee.found_at_most(10)
    assert by_mechanism.scores["linkage"].low <= bound
    assert any(r.adversary == "likelihood" for r in by_mechanism.scores.rows)
    note = "Proved: on average at most"
    assert by_mechanism.notes[1].startswith(note)
    assert told.notes == by_mechanism.notes
    wrong = release_report(private, private, n_candidates=10, guarantee=guarantee)
    assert wrong.notes[-2].endswith("is this really their guarantee?")


def test_synthetic_texts_in_a_code_are_no_all_clear():
    coded = [text.encode().hex() for text in CLEAR[:20]]
    for released in (coded, [""] * 19 + ["the"]):
        report = release_report(CLEAR[:20], released, control=CLEAR[20:])
        assert report.verdict.startswith("THESE ATTACKERS CANNOT READ THE RELEASES")
        assert report.unread in report.notes


# -- rows that do not belong together --------------------------------------------------

RNG = np.random.default_rng(0)
ORDER = np.roll(RNG.permutation(40), 1)
REDACTED = [" ".join(["[NAME]", *text.split()[4:]]) for text in CLEAR]
ROWS = {
    "shuffled": [CLEAR[i] for i in ORDER],
    "reversed": CLEAR[::-1],
    "sorted": sorted(CLEAR),
    "swapped": [CLEAR[i ^ 1] for i in range(40)],
    "shifted": CLEAR[1:] + CLEAR[:1],
    "redacted and shuffled": [REDACTED[i] for i in ORDER],
    "capitals and shuffled": [CLEAR[i].upper() for i in ORDER],
    "words also shuffled": [" ".join(sorted(CLEAR[i].split())) for i in ORDER],
    "a third coded": [
        " ".join(w if k % 3 else f"{i}x{k}" for k, w in enumerate(CLEAR[i].split()))
        for i in ORDER
    ],
    "few words of each, shuffled": [" ".join(CLEAR[i].split()[:4]) for i in ORDER],
    "a quarter": CLEAR[1:10] + CLEAR[:1] + CLEAR[10:],
}


def test_rows_of_texts_that_resemble_others_come_first_too():
    """Each occurs twice, or has a near-copy, or is a form that was filled in."""
    order = np.random.default_rng(0).permutation(40)
    pairs = zip(CLEAR[:20], CLEAR[20:], strict=True)
    near = [" ".join(a.split()[:14] + b.split()[14:]) for a, b in pairs]
    forms = [f"{CLEAR[i % 3]} {CLEAR[i][:24]}" for i in range(40)]
    for texts in (CLEAR[:20] * 2, CLEAR[:20] + near, forms):
        redacted = [f"[NAME] {text.split(maxsplit=4)[4]}" for text in texts]
        assert release_report(texts, redacted).misplaced == 0
        assert release_report(texts, [redacted[i] for i in order]).misplaced > 0.8
    assert release_report(["one text"] * 9, ["one text"] * 9).misplaced == 0
    assert release_report(CLEAR[:2], CLEAR[1::-1]).misplaced == 1


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_belong_together_come_first(name):
    report = release_report(CLEAR, ROWS[name])
    assert report.verdict.startswith("ROWS DO NOT BELONG TOGETHER. ")
    least = {"a quarter": 0.15, "few words of each, shuffled": 0.5}.get(name, 0.9)
    assert least < report.misplaced <= (0.35 if name == "a quarter" else 1)
    assert list(report.scores) == ["linkage", "copies"]
    # the originals of most are not among those that are attacked
    few = release_report(CLEAR, ROWS[name], max_documents=12)
    assert few.misplaced > 0
    ids = pd.Index([f"d{i}" for i in range(40)])
    if name == "shuffled":
        shuffled = pd.Series(ROWS[name], index=ids[ORDER])
        by_id = release_report(pd.Series(CLEAR, index=ids), shuffled)
        assert by_id.misplaced == 0
        assert by_id.scores["copies"].value == by_id.scores["words"].value == 1


@pytest.mark.no_cover
def test_noise_is_no_other_row(prose):
    rng, texts = np.random.default_rng(0), list(dict.fromkeys(prose[0]))[:24]
    every = " ".join(texts).split()

    def noisy(share: float) -> list[str]:
        chosen = ([rng.choice(every) if rng.random() < share else word
                   for word in text.split()] for text in texts)  # fmt: skip
        return list(map(" ".join, chosen))

    releases = [*map(noisy, (0, 0.3, 0.6, 0.9, 1)), [texts[0]] * 24, ["[NAME]"] * 24]
    assert [release_report(texts, x).misplaced for x in releases] == [0] * 7


def test_an_index_names_each_row_once():
    clear = pd.Series(CLEAR[:4], index=[0, 1, 1, 2])
    for other in (clear, pd.Series(CLEAR[:4], index=[0, 1, 2, 3])):
        with refused("must have the same index, with each id once, got repeated ids"):
            release_report(clear, other)
    with refused("got ids that differ"):
        release_report(pd.Series(CLEAR[:4]), pd.Series(CLEAR[:4], index=[1, 2, 3, 4]))


def test_columns_that_name_rows():
    people = ["ann", "bob", "ann", "eve"]
    clear = {"id": [1, 2, 3, 4], "who": people, "age": [30, 40, 30, 50]}
    kept = {
        "number": ["1", "2", "3", "4"],  # of another name and type
        "author": ["p1", "p2", "p1", "p3"],  # a pseudonym for each
        "row": list("wxyz"),
        "kind": ["a", "a", "b", "a"],
        "same": ["q"] * 4,
    }
    for kind in (dict, pd.DataFrame):
        number, author, row = column_sentences(kind(clear), kind(kept))
        assert number == "Column 'number' equals 'id' of the originals in 4 of 4 rows."
        assert author.startswith("Column 'author' has one name for each value of 'who'")
        assert row.startswith("Column 'row' has a different value in each row")


@pytest.mark.no_cover
@pytest.mark.parametrize("first", [0x0E01, 0x3042, 0x4E00, 0x1F600, 0x0905, 0x05D0])
def test_redacted_rows_in_another_order_in_any_script(first):
    """Also where no blanks part words, and single characters are in every text."""
    rng = np.random.default_rng(0)
    letters = [chr(first + i) for i in range(25)]
    words = ["".join(rng.choice(letters, 4)) for _ in range(300)]
    clear = [rng.choice(words, 15) for _ in range(40)]
    redacted = [" ".join(text[rng.random(15) < 0.6]) for text in clear]
    texts = list(map(" ".join, clear))
    assert release_report(texts, redacted).misplaced == 0
    assert release_report(texts, redacted[1:] + redacted[:1]).misplaced > 0.7


# -- what is given ---------------------------------------------------------------------


@pytest.mark.no_cover
def test_texts_of_any_kind():
    clear, released = CLEAR[:12], [text[: len(text) // 2] for text in CLEAR[:12]]
    expected = release_report(clear, released).to_frame()
    for kind in (pd.Series, pl.Series, pa.array, np.array, iter):
        frame = release_report(kind(clear), kind(released)).to_frame()
        pd.testing.assert_frame_equal(frame, expected)
    tokens = [text.rstrip(".").split() for text in clear]
    assert release_report(tokens, tokens).scores["words"].value == 1
    odd = [f"\ud800 😀 {text}" for text in clear]
    report = release_report(odd, odd)
    assert report.scores["linkage"].value == report.scores["copies"].value == 1
    assert report.to_html().encode()


def test_no_text_is_quoted(tmp_path):
    secret = [f"{text} zqcanary{i}" for i, text in enumerate(CLEAR[:20])]
    authors, page = [f"zqcanary{i % 2}" for i in range(20)], tmp_path / "report.html"
    for report in (
        release_report(secret, secret, authors=authors),
        release_report(secret, secret[::-1]),
        release_report(secret, secret, control=CLEAR[20:]),
    ):
        page.unlink(missing_ok=True)
        report.to_html(page)
        with pytest.raises(FileExistsError):
            report.to_html(page)
        shown = [str(report), repr(report), report._repr_html_(), str(vars(report))]
        shown += [json.dumps(report.to_dict()), report.to_frame().to_csv()]
        shown.append(page.read_text("utf-8"))
        assert not any("zqcanary" in text for text in shown)
        assert shown[-1].startswith("<!DOCTYPE html>")


def test_large_inputs_are_sampled_and_say_so():
    texts = documents(60, 4)
    authors = np.repeat([f"a{i}" for i in range(30)], 2)
    report = release_report(
        texts, texts, authors=authors, labels={"topic": ["x", "y"] * 30},
        max_documents=20, n_candidates=5,
    )  # fmt: skip
    assert "Of 60 documents, a random sample of 20 was attacked." in report.notes
    # whole authors were drawn: of each, another document is known
    assert (
        report.scores["author"].n_documents == report.scores["topic"].n_documents == 10
    )
    assert report.scores["copies"].n_documents == 20
    empty = release_report(["", "!", *CLEAR[2:20]], ["", "x", *CLEAR[2:20]])
    assert empty.scores["words"].value == 1


# -- people ----------------------------------------------------------------------------


def people(n_texts, n_people=40, length=20, seed=0):
    """Texts of people who have words of their own, and whose each is."""
    rng = np.random.default_rng(seed)
    owner = np.arange(n_texts) % n_people
    own = np.random.default_rng(99).choice(WORDS, (n_people, 12))
    texts = [
        " ".join([*rng.choice(own[i], 8), *rng.choice(WORDS, length - 8)])
        for i in owner
    ]
    return texts, owner


def test_people_are_identified_by_their_other_texts():
    released, owner = people(80)
    held, ids = people(120, seed=1)
    order = np.random.default_rng(0).permutation(120)
    series = pd.Series(released, index=[f"r{i}" for i in range(80)])
    authors = pd.Series([f"p{i}" for i in owner], index=series.index)
    given = {
        "authors": authors.sample(frac=1, random_state=0),
        "background": [held[i] for i in order],
        "background_ids": [f"p{i}" for i in ids[order]],
    }
    report = release_report(None, series, **given)
    person = report.scores["person"]
    assert (person.low > 0.5, person.chance, set(report.scores)) == (
        True, 1 / 40, {"person"}
    )  # fmt: skip
    assert report.verdict.startswith("THE PERSON IS IDENTIFIED FOR MOST")
    both = release_report(series, series, **given)
    assert both.scores["person"] == person
    assert both.scores["linkage"].value == 1
    some = ids[order] < 30
    fewer = release_report(
        None, series, authors=authors, background=[held[i] for i in order[some]],
        background_ids=[f"p{i}" for i in ids[order[some]]], labels={"even": owner % 2},
    )  # fmt: skip
    assert "even" in fewer.scores
    assert fewer.scores["person"].chance == 1 / 30
    assert fewer.scores["person"].n_documents == 30
    assert any("the people of 60 releases" in n for n in fewer.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "published"), [("ner3", 0.7), ("word2vec_t=0.25", 0.26), ("manual", 0.1)]
)
def test_actors_are_found_more_often_than_is_published(data_file, tool, published):
    """By TRIR, of its test bed: 50 actors, whose articles attackers hold."""
    path = data_file("reidentification/wikiactors_50_eval.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        actors = json.load(file)
    held = [person["public_knowledge"] for person in actors]
    released = [person[f"{tool}_abstract"] for person in actors]
    ids = range(len(held))
    report = release_report(
        None, released, authors=ids, background=held, background_ids=ids
    )
    assert report.scores["person"].value > published + 0.25


# -- control ---------------------------------------------------------------------------


def of_model(epsilon):
    public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    model = DPTextClassifier(public, n_groups=2, epsilon=epsilon, classes=["a", "b"])
    return model.fit(["a text", "other"], ["a", "b"], authors=[1, 2]).guarantee()


def test_a_model_that_remembers_is_told_from_one_that_never_saw(prose):
    texts = list(dict.fromkeys(prose[0]))
    rng = np.random.default_rng(0)
    texts = [texts[i] for i in rng.permutation(len(texts))]
    training, control, public = texts[:60], texts[60:120], texts[120:]
    leaking, honest = (
        release_report(
            training, make(training, public, rng), control=control,
            guarantee=of_model(0.6),
        )
        for make in (trigrams, public_trigrams)
    )  # fmt: skip
    assert leaking.verdict.startswith("THE SYNTHETIC TEXTS REVEAL TRAINING TEXTS")
    assert leaking.scores["membership"].low > 0.6
    assert honest.verdict.startswith("NOTHING WAS FOUND BEYOND CONTROL")
    assert honest.epsilon < 0.6 < leaking.epsilon  # and seldom above 0
    refuted = ["The attacks show more" in each.notes[-2] for each in (leaking, honest)]
    assert refuted == [True, False]
    # identified documents refute no guarantee for people
    assert "show more" not in str(release_report(CLEAR, CLEAR, guarantee=of_model(0.6)))


@refusals(
    ({"released": np.zeros((4, 2, 2))}, "released must hold texts"),
    ({"authors": ["a", "b"]}, r"authors must hold one label per document \(4\)"),
    ({"labels": ["a"]}, "labels must map names"),
    ({"labels": {1: list("aabb")}}, "labels must map names"),
    ({"labels": {"words": list("aabb")}}, "that no other score has"),
    ({"labels": {"age": list("aab")}}, r"labels must hold one label per docu.* \(4\)"),
    ({"original": None}, "background must come with background_ids"),
    ({"original": None, "background": ["a"], "authors": "ab"}, "come with backg"),
    ({"background": ["a", "b"], "background_ids": [0, 1]}, "come with background_ids"),
    ({"background": ["a", "b"], "background_ids": ["x", "y"], "authors": range(4)},
     "people of at least 2 releases, got 2 and 0"),
    ({"control": CLEAR[4:], "authors": range(4)}, "control must come with original"),
    ({"control": CLEAR[4:]}, "at least 10 different texts"),
)  # fmt: skip
def test_bad_input(change):
    release_report(**{"original": CLEAR[:4], "released": CLEAR[:4]} | change)
