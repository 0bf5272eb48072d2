"""Words of eleven scripts, however Unicode writes them, through every reader."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

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
from skdptext.preprocessing import MeanVectorEncoder
from tests.expected import small_samples

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


def test_everything_takes_words_that_somebody_else_split():
    """As for Chinese; the texts themselves are each one word to us."""
    tea, cats = ["我们", "喝茶"], ["小猫", "睡觉"]
    embedding = WordEmbedding([*tea, *cats], np.eye(4))
    bags = DPWordPerturber(embedding, epsilon=1e3, lam=0.0).fit_transform([tea, cats])
    assert bags.toarray().tolist() == [[1, 1, 0, 0], [0, 0, 1, 1]]
    public = [tea, [*tea, "吧"], ["喝茶"], cats, [*cats, "了"], ["小猫"]]
    replacer = DPDocumentReplacer(public, n_groups=2, epsilon=50.0, output="index")
    stand_ins = replacer.fit().transform([["喝茶", "了"], ["小猫", "吧"]])
    assert (stand_ins // 3).tolist() == [0, 1]
    private = [[word, str(i)] for word in ("喝茶", "小猫") for i in range(40)]
    labels = ["tea"] * 40 + ["cats"] * 40
    model = DPTextClassifier(public, classes=["cats", "tea"], epsilon=50.0)
    assert model.fit(private, labels).predict([tea, cats]).tolist() == ["tea", "cats"]


SHARED = ["a cat sat", "the dog", "tea and milk", "more milk"] * 3
STRANGE = ["我们 今天 喝茶", "", "the cat"]
EMBEDDING = WordEmbedding(["cat", "dog", "tea"], np.eye(3))


@pytest.mark.parametrize(
    "release",
    [
        lambda: (
            DPWordPerturber(EMBEDDING, document_length=2).fit([]).transform(STRANGE)
        ),
        lambda: DPDocumentReplacer(SHARED, n_groups=2).fit().transform(STRANGE),
        lambda: (
            DPDocumentReplacer(SHARED, n_groups=2)
            .fit()
            .transform(STRANGE, authors=["x", "y", "z"])
        ),
        lambda: DPTextClassifier(SHARED, classes=[0, 1], n_groups=2).fit(
            STRANGE, [0, 1, 0]
        ),
    ],
)
def test_documents_without_a_known_word_are_counted(release):
    with pytest.warns(OutOfVocabularyWarning, match="^2 of 3 documents hold no word"):
        release()
