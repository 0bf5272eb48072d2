"""Words of eleven scripts, however Unicode writes them, through every reader."""

from __future__ import annotations

import pickle
import re
import unicodedata
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.attacks import linkage_attack
from skdptext.documents import (
    DocumentReader,
    read_documents,
    read_release,
    topic_encoder,
)
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import OutOfVocabularyWarning
from skdptext.inspection import release_report
from skdptext.preprocessing import MeanVectorEncoder
from skdptext.release import DocumentRelease
from tests.expected import refused, small_samples

pytestmark = small_samples
SCRIPTS = [
    *("café naïve", "schön größer", "İzmir ılık", "नमस्ते हिन्दी बड़ा", "한국어 문서"),
    *("สวัสดี ประเทศ", "ёлка мир", "γλώσσα ά", "שָׁלוֹם רַב", "مُدَرِّس جَيِّد"),
    "người đường",
]
FORMS = ("NFC", "NFD")
each_script = pytest.mark.parametrize("text", SCRIPTS, ids=range(len(SCRIPTS)))


def _embedding(text):
    words = unicodedata.normalize("NFC", text).split()
    return WordEmbedding(["other", *words], np.eye(1 + len(words)))


def _forms(text):
    written = [unicodedata.normalize(form, text) for form in FORMS]
    return [*written, *(each.split() for each in written)]


@each_script
def test_words_of_an_embedding(text):
    embedding = _embedding(text)
    perturber = DPWordPerturber(embedding).fit([])
    assert perturber.known_words(_forms(text)) == [list(embedding.words[1:])] * 4
    bags = read_release(_forms(text), embedding).bags(len(embedding)).toarray()
    assert (bags == [0, *[1] * (len(embedding) - 1)]).all()
    encoder = MeanVectorEncoder(embedding, 1).fit(["other", text])
    assert np.ptp(encoder.transform(_forms(text))) == 0
    assert encoder.transform([text]) != encoder.transform(["other"])


@each_script
def test_words_without_an_embedding(text):
    words = {unicodedata.normalize("NFC", word.lower()) for word in text.split()}
    for form in _forms(text):
        encoder = topic_encoder(documents := [form, "other words"], 1).fit(documents)
        assert set(encoder[0].vocabulary_) == words | {"other", "words"}
        assert DocumentReader(None).words(*read_documents([form])) == [
            unicodedata.normalize("NFC", word.lower()) for word in text.split()
        ]


@each_script
def test_releases_do_not_tell_the_forms_of_unicode_apart(text):
    public = [text, f"{text} {text}", "other words", "words", "other"]
    replacer = DPDocumentReplacer(
        public, public_labels=[1, 1, 2, 2, 2], random_state=2**70
    ).fit()
    for forms in (_forms(text)[:2], _forms(text)[2:]):
        assert len(set(replacer.groups_of(forms))) == 1
        assert len(set(replacer.transform(forms * 9))) == 1
    assert {unicodedata.is_normalized("NFC", t) for t in replacer.public_} == {True}
    model = DPTextClassifier(public, classes=["a", "b"], n_groups=2, random_state=1)
    model.fit(_forms(text), ["a", "a", "b", "b"])
    assert len(set(model.predict_proba(_forms(text)[:2])[:, 0])) == 1


def test_an_adversary_reads_both_forms():
    texts = [unicodedata.normalize("NFD", text) for text in SCRIPTS]
    words = [w for t in SCRIPTS for w in unicodedata.normalize("NFC", t).split()]
    embedding = WordEmbedding(words, 99.0 * np.eye(len(words)))
    perturber = DPWordPerturber(
        embedding, epsilon=100.0, mechanism="exponential", output="text", order="keep"
    )
    released = perturber.fit_transform(texts)
    rows = linkage_attack(texts, released, releaser=perturber, random_state=0).rows
    assert next(row.value for row in rows if row.adversary == "likelihood") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a Foo_bar, x2 I", ["foo_bar", "x2"]),
        ("1️⃣ ok x̄ é", ["ok"]),  # an emoji is no word, and one Latin letter neither
        ("माँ की", ["माँ", "की"]),  # one letter with its vowels may be a word
        ("می‌خواهم", ["می‌خواهم"]),  # a joiner holds a word together
    ],
)
def test_what_a_word_is(text, words):
    assert DocumentReader(None).words(text) == words
    ours = DocumentReader(None, token_pattern=r"(?u)\b\w\w+\b").words("नमस्ते")
    assert ours == ["नमस"]  # a pattern of one's own is obeyed


@pytest.mark.no_cover
def test_what_went_wrong_in_shared_files(data_file):
    """Ten scripts in two forms of Unicode, and labels and authors that look alike."""
    scripts = pd.read_csv(data_file("cases/scripts.tsv"), sep="\t")
    for _, composed, decomposed, n in scripts.itertuples(index=False):
        test_words_of_an_embedding(composed)
        test_words_without_an_embedding(composed)
        test_releases_do_not_tell_the_forms_of_unicode_apart(composed)
        assert decomposed in _forms(composed)
        assert len(DocumentReader(None).words(*read_documents([decomposed]))) == n
    _, text, label = (
        each for _, each in pd.read_csv(data_file("cases/labels.csv")).items()
    )
    model = DPTextClassifier(SHARED, classes=["film", "food"], n_groups=2)
    grouped = DPDocumentReplacer(text, public_labels=label)
    for ask in (grouped.fit, lambda: model.fit(text, label)):
        with refused("labels must be told apart|y must be told apart"):
            ask()
    with pytest.warns(UserWarning, match="documents 1 and 2 differ only in case"):
        DPDocumentReplacer(text[1:], public_labels=label[1:]).fit()
    people = pd.read_csv(data_file("cases/authors.csv"))
    replacer = DPDocumentReplacer(SHARED, n_groups=2, epsilon=1.0).fit()
    for rows in ([0, 1], [2, 3], [2, 4]):
        text, author = people["text"][rows], people["author"][rows]
        for ask in (
            lambda x, of: replacer.transform(x, authors=of),
            lambda x, of: replacer.person_answers(x, of),
            lambda x, of: model.fit(x, ["film", "food"], authors=of),
        ):
            with refused("authors must be told apart"):
                ask(text, author)
    with refused("authors must be told apart"):  # a report accepts names in capitals
        release_report(*[people["text"][:4]] * 2, authors=people["author"][:4])


# -- words that a user's function or pattern finds -------------------------------------

KNOWN = ["我们", "喝茶", "小猫", "睡觉"]
CHINESE = ["我们喝茶", "我们喝茶吧", "喝茶", "小猫睡觉", "小猫睡觉了", "小猫"]
PATTERN = "|".join([*KNOWN, r"\w"])


def segmented(text):
    """Like jieba: known words, and other letters each for itself."""
    return re.findall(PATTERN, text)


@pytest.mark.filterwarnings("error::skdptext.exceptions.OutOfVocabularyWarning")
@pytest.mark.parametrize(
    "options", [{"tokenizer": segmented}, {"token_pattern": PATTERN}, {}]
)
def test_texts_without_blanks(options):
    """By a function, by a pattern, or as lists of words."""
    read = list if options else partial(map, segmented)
    public, private = list(read(CHINESE)), [f"{w}{i}" for w in KNOWN for i in range(40)]
    held = list(read(private))
    embedding = WordEmbedding(KNOWN, np.eye(4))
    options = {"embedding": embedding, "random_state": 2**70, **options}
    perturber = DPWordPerturber(epsilon=1e3, lam=0.0, **options).fit([])
    assert perturber.transform(public[:2]).toarray().tolist() == [[1, 1, 0, 0]] * 2
    replacer = DPDocumentReplacer(public, n_groups=2, epsilon=50.0, **options)
    replacer = pickle.loads(pickle.dumps(clone(replacer).fit()))
    released = replacer.transform(held)
    seen = replacer.known_texts().count()  # as releases of files do
    seen.see(held)
    seen.check(accepted=False)
    assert replacer.public_ == public
    as_text = ["".join(text.split()) for text in released]
    assert released == as_text or type(public[0]) is list
    number = np.array(list(map(CHINESE.index, as_text)))
    assert (number // 3).tolist() == [0] * 80 + [1] * 80
    people = replacer.transform(held, authors=np.repeat([0, 1], 80))
    assert (replacer.groups_of(people) == replacer.groups_of(released)).all()
    bags = replacer.set_params(output="bow").transform(held).toarray()
    assert (bags == [[w in segmented(text) for w in KNOWN] for text in as_text]).all()
    assert replacer.exponent(held[0], held[50]) == 0
    assert replacer.exponent(held[0], held[-1]) == 50
    model = DPTextClassifier(public, classes=["cats", "tea"], epsilon=50.0, **options)
    model.fit(held, labels := ["tea"] * 80 + ["cats"] * 80)
    assert model.predict(held).tolist() == labels
    documents, of = model.sample()
    assert (documents, of.tolist()) == (public, ["tea"] * 3 + ["cats"] * 3)


@pytest.mark.no_cover
def test_the_usual_pattern_changes_nothing_but_the_noise(data_file):
    """Of messages in English; another rule is another grouping, with its own noise."""
    rows = pd.read_csv(data_file("sms_spam.tsv.gz"), sep="\t", header=None, quoting=3)
    texts = [text for text in rows[1].dropna().drop_duplicates() if text.isascii()]
    public, private = texts[:600], texts[600:1000]
    one, other = (
        DPDocumentReplacer(
            public, output="index", random_state=2**70, token_pattern=x
        ).fit()
        for x in (None, r"(?u)\b\w\w+\b")
    )
    assert (one.groups_of(private) == other.groups_of(private)).all()
    assert one.public_ == other.public_ == public
    assert (one.transform(private) != other.transform(private)).mean() > 0.5
    parts = (each.guarantee().parts[0] for each in (one, other))
    assert len({part.grouping for part in parts}) == 2


def test_a_function_that_fails_quotes_nothing():
    def cut(text):
        return text.split() if "canary" not in text else text.missing

    replacer = DPDocumentReplacer(SHARED, tokenizer=cut, n_groups=2).fit()
    model = DPTextClassifier(SHARED, tokenizer=cut, classes=[0, 1], n_groups=2)
    model.fit(SHARED[:2], [0, 1])
    said = "failed with AttributeError for document 1"
    for ask in (
        replacer.transform,
        replacer.groups_of,
        model.predict,
        lambda X: model.fit(X, [0, 1]),
        lambda X: model.set_params(public_documents=X).fit(X, [0, 1]),
    ):
        with refused(said) as error:
            ask(["milk", "a canary"])
        assert "canary" not in str(error.value)
    seeded = clone(replacer).set_params(random_state=2**70)
    for each in (seeded.fit, lambda: DocumentRelease(replacer, None, "q4")):
        with refused("tokenizer must be made of functions of a module"):
            each()
    for options in ({"token_pattern": "(a)(b)"}, {"tokenizer": "split"}):
        for each in (replacer, model):
            with refused(f"{next(iter(options))} must be None or "):
                each.set_params(**options).fit(SHARED, [0, 1] * 6)


SHARED = ["a cat sat", "the dog", "tea and milk", "more milk"] * 3
STRANGE = ["我们 今天 喝茶", "", "the cat"]
EMBEDDING = WordEmbedding(["cat", "dog", "tea"], np.eye(3))


def test_documents_without_a_known_word_are_counted():
    replacer = DPDocumentReplacer(SHARED, n_groups=2).fit()
    model = DPTextClassifier(SHARED, classes=[0, 1], n_groups=2)
    for release in (
        DPWordPerturber(EMBEDDING, document_length=2).fit([]).transform,
        replacer.transform,
        lambda X: replacer.transform(X, authors=list("xyz")),
        lambda X: model.fit(X, [0, 1, 0]),
    ):
        said = "^2 of 3 documents hold no word"
        with pytest.warns(OutOfVocabularyWarning, match=said):
            release(STRANGE)
