"""The law of replacement: exact ratios, drawn frequencies, streams; mistakes caught."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer
from skdptext.documents import topic_encoder
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.mechanisms import ExactResponse, LossDistribution
from skdptext.replacement import _answers
from tests.laws import assert_answers_follow, assert_counts, catches
from tests.memory import traced_memory

SEED = 2**100 + 17

# -- probabilities, exactly ----------------------------------------------------------


@given(
    st.integers(2, 4096),
    st.floats(1e-300, 300.0)
    | st.sampled_from([42.0, 42.91, 42.97, 42.98, 43.0, 43.1, 700.0]),
)
def test_the_ratio_of_whole_numbers_is_at_most_what_is_claimed(k, epsilon):
    kept, each, moved = ExactResponse(k, epsilon).shares
    assert moved == (k - 1) * each
    assert kept >= each >= 1
    assert kept + moved < 2**63
    with localcontext() as context:
        context.prec = 200
        exact = Fraction(Decimal(epsilon).exp())
        p = float(exact / (exact + k - 1))
    assert Fraction(kept, each) <= exact
    assert kept / (kept + moved) == pytest.approx(p, rel=1e-12)
    if epsilon < 42:
        q = float(1 / (exact + k - 1))
        assert each / (kept + moved) == pytest.approx(q, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_every_number_leads_where_it_should(k):
    """All numbers of a channel with few of them, applied to each word."""
    channel = ExactResponse(k, 1.0)
    vars(channel)["shares"] = 5, 2, 2 * (k - 1)
    numbers = np.arange(5 + 2 * (k - 1))
    for word in range(k):
        stand_ins = channel.apply(np.full(len(numbers), word), numbers)
        expected = np.full(k, 2)
        expected[word] = 5
        assert np.bincount(stand_ins, minlength=k).tolist() == expected.tolist()
    law = np.exp(channel.log_proba(np.arange(k)))
    np.testing.assert_allclose(law.sum(axis=1), 1)
    assert law[0, 0] / law[0, 1] == pytest.approx(2.5)


@pytest.mark.parametrize("k", [2, 3, 50])
def test_losses_are_those_of_all_answers(k):
    coin = ExactResponse(k, 1.5)
    g, h = coin.log_proba(np.array([0, 1]))
    for ours, theirs in (
        (coin.losses(0, 1), LossDistribution.of_log_proba(g, h)),
        (coin.losses(1, 1), LossDistribution.of_log_proba(h, h)),
    ):
        for t in (0.0, 0.5, 1.0, 1.499, 1.5001):
            np.testing.assert_allclose(ours.delta(t), theirs.delta(t), rtol=1e-6)
        assert ours.times(9).exponent(1e-3) == pytest.approx(
            theirs.times(9).exponent(1e-3), rel=1e-6
        )


def test_the_ratio_between_documents_is_that_of_the_guarantee(replacer, public):
    """Probabilities of all public documents, enumerated."""
    replacer.set_params(output="index").fit()
    documents = ["cat dog", "tea", "star", "", "xyzzy", "fur " * 5000]
    logs = replacer.log_likelihood(documents, np.arange(len(public[0])))
    np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1)
    guarantee = replacer.guarantee()
    groups = replacer.groups_of(documents)
    assert len(set(groups)) == 3
    for i, x in enumerate(documents):
        for j, y in enumerate(documents):
            loss = (logs[:, i] - logs[:, j]).max()
            claim = guarantee.exponent(x, y)
            assert claim == (0.0 if groups[i] == groups[j] else 1.5)
            assert loss <= claim + 1e-12
            assert loss == pytest.approx(claim)


def test_likelihood_is_that_of_what_is_seen(public):
    """Public documents that look alike share their probabilities."""
    texts = ["cat", "cat", "dog cat", "tea", "cat"]
    labels = ["pets", "pets", "pets", "food", "food"]
    replacer = DPDocumentReplacer(texts, public_labels=labels, epsilon=math.log(3))
    logs = replacer.fit().log_likelihood(["dog cat"], ["cat", "tea", "dog cat", "?"])
    g = replacer.groups_of(["dog cat"])[0]
    of_pets, of_food = (0.75, 0.25) if g == "pets" else (0.25, 0.75)
    shares = [of_pets * 2 / 3 + of_food / 2, of_food / 2, of_pets / 3, 0]
    np.testing.assert_allclose(np.exp(logs)[:, 0], shares)
    embedding = one_hot_embedding(["cat", "dog", "tea"])
    replacer.set_params(output="bow", embedding=embedding)
    logs = replacer.log_likelihood(["dog cat"], np.array([[1, 0, 0], [0, 0, 1]]))
    np.testing.assert_allclose(np.exp(logs)[:, 0], shares[:2])
    replacer.set_params(output="group")
    logs = replacer.log_likelihood(["dog cat"], ["food", "pets"])
    np.testing.assert_allclose(np.exp(logs)[:, 0], [of_food, of_pets])
    replacer.set_params(output="vector")
    rows = replacer.fit().transform(["cat"] * 20)
    logs = replacer.log_likelihood(["dog cat"], rows)
    assert set(np.exp(logs)[:, 0].round(6)) <= {round(s, 6) for s in shares[:3]}


# -- what is drawn -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "seed", "block", "n"),
    [("text", None, 4096, 600), ("group", None, 1, 50), ("index", 5, 4096, 600)],
)
def test_honest_releases_follow_the_law(replacer, output, seed, block, n, monkeypatch):
    """Of fresh noise, by blocks too, and of a generator, which moves on with calls."""
    monkeypatch.setattr("skdptext.documents._reader._BLOCK", block)
    state = seed and np.random.default_rng(seed)
    replacer.set_params(output=output, random_state=state).fit()
    assert_answers_follow(replacer, ["cat", "dog", "tea", "star"], n)


@pytest.mark.parametrize("output", ["vector", "bow"])
def test_honest_releases_of_many_stand_ins_follow_the_law(public, output):
    """Most of them are released seldom or never, which is no evidence."""
    texts = [f"{text} n{i}" for i, text in enumerate(public[0] * 20)]
    grouper = make_pipeline(
        topic_encoder(texts, 3), KMeans(3, n_init=2, random_state=0)
    )
    words = one_hot_embedding([f"n{i}" for i in range(len(texts))])
    replacer = DPDocumentReplacer(texts, grouper, output=output, embedding=words)
    assert_answers_follow(replacer.fit(), ["cat", "dog", "tea"], 400)


class Mistaken(DPDocumentReplacer):
    """A fault in what is drawn, by `draw`; what is stated stays right."""

    def transform(self, X, document_ids=None):
        true = np.searchsorted(self.groups_, self.groups_of(X))
        order, starts = self._groups.members
        rng = np.random.default_rng(0)
        return self.draw(rng, true, super().transform(X), order, starts)


def true_group_now(self, rng, true, index, order, starts):
    """One stand-in in five is drawn from the true group."""
    own = order[starts[true] + rng.integers(0, np.diff(starts)[true])]
    return np.where(rng.random(len(true)) < 0.2, own, index)


def shared_noise(self, rng, true, index, order, starts):
    """Equal documents, in effect those of a group, get one answer."""
    _, first, back = np.unique(true, return_index=True, return_inverse=True)
    return index[first][back]


def shared_stand_in(self, rng, true, index, order, starts):
    """A group has one stand-in for the whole call."""
    chosen = order[starts[:-1] + rng.integers(0, np.diff(starts))]
    return chosen[self.public_groups_[index]]


def recycled(self, rng, true, index, order, starts):
    """The noise of every other document is that of the one before."""
    index[1::2] = index[: len(index) // 2 * 2 : 2]
    return index


def one_group_too_many(self, rng, true, index, order, starts):
    """K counted wrongly: the draw of another group may be the true one."""
    k, odds = len(starts) - 1, math.exp(self.epsilon)
    stays = rng.random(len(true)) < odds / (odds + k - 1)
    group = np.where(stays, true, rng.integers(0, k, len(true)))
    return order[starts[group] + rng.integers(0, np.diff(starts)[group])]


def first_of_group(self, rng, true, index, order, starts):
    """The last document of a group is never drawn."""
    group = self.public_groups_[index]
    return order[starts[group] + rng.integers(0, np.diff(starts)[group] - 1)]


# With each, how many releases show it
MISTAKES = {
    true_group_now: 4000, shared_noise: 1500, shared_stand_in: 1500, recycled: 1500,
    one_group_too_many: 1500, first_of_group: 1500,
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_caught(mistake, public, monkeypatch):
    monkeypatch.setattr(Mistaken, "draw", mistake, raising=False)
    texts, topics = public
    replacer = Mistaken(texts, public_labels=topics, epsilon=1.5, output="index").fit()
    documents = ["cat fur", "dog", "tea"]
    assert catches(assert_answers_follow, replacer, documents, MISTAKES[mistake])


class Replayed(DPDocumentReplacer):
    """The stream of noise begins anew in each call."""

    def transform(self, X, document_ids=None):
        self.random_state = np.random.default_rng(5)
        return super().transform(X)


class Remembering(DPDocumentReplacer):
    """The answer to a document, once given, is given in every later call."""

    def transform(self, X, document_ids=None):
        index = super().transform(X)
        memory = vars(self).setdefault("memory_", {})
        index = np.array([memory.get(x, i) for x, i in zip(X, index, strict=True)])
        memory.update(zip(X, index.tolist(), strict=True))
        return index


class RememberingAll(DPDocumentReplacer):
    """The k-th answer to a document in a call is its k-th in every later call."""

    def transform(self, X, document_ids=None):
        index = super().transform(X)
        memory, seen = vars(self).setdefault("memory_", {}), {}
        for i, x in enumerate(X):
            seen[x] = seen.get(x, 0) + 1
            index[i] = memory.setdefault((x, seen[x]), index[i])
        return index


@pytest.mark.parametrize("mistake", [Replayed, Remembering, RememberingAll])
def test_what_repeats_between_calls_is_caught(mistake, public):
    """Each first call is honest."""
    texts, topics = public
    replacer = mistake(texts, public_labels=topics, epsilon=1.5, output="index").fit()
    assert catches(assert_answers_follow, replacer, ["cat fur", "tea"], 300)


# -- keyed streams -------------------------------------------------------------------


@pytest.mark.parametrize("given", [False, True])
def test_repeatable_releases_do_not_depend_on_the_others(
    public, private, given, monkeypatch
):
    """Nor on their order, on blocks, threads and copies."""
    monkeypatch.setattr("skdptext.documents._reader._BLOCK", 7)
    options = {"public_labels": public[1]}
    if given:
        kmeans = KMeans(4, n_init=1, random_state=0)
        options = {"grouper": make_pipeline(topic_encoder(public[0], 3), kmeans)}
    replacer = DPDocumentReplacer(public[0], random_state=SEED, **options)
    replacer.set_params(output="index").fit()
    texts = private[0]
    ids = [f"id {i}" for i in range(len(texts))]
    for some_ids in (None, ids):
        first = replacer.transform(texts, document_ids=some_ids)
        back = replacer.transform(texts[::-1], document_ids=some_ids and some_ids[::-1])
        np.testing.assert_array_equal(back[::-1], first)
        for i in range(3):
            alone = some_ids and [some_ids[i]]
            assert replacer.transform([texts[i]], document_ids=alone) == first[i]
        for other in (
            clone(replacer).set_params(n_jobs=2).fit(),
            pickle.loads(pickle.dumps(replacer)),
        ):
            again = other.transform(texts, document_ids=some_ids)
            np.testing.assert_array_equal(again, first)
    for change in ({"random_state": SEED + 1}, {"epsilon": 4.0000001}):
        other = clone(replacer).set_params(**change).fit()
        assert (other.transform(texts, document_ids=ids) != first).any()


def test_equal_documents_share_an_answer_unless_they_have_ids(replacer):
    replacer.set_params(random_state=SEED, output="index").fit()
    assert len(set(replacer.transform(["cat"] * 50).tolist())) == 1
    ids = range(50)
    assert len(set(replacer.transform(["cat"] * 50, document_ids=ids).tolist())) > 5
    with pytest.warns(PrivacyLeakWarning, match="equal documents get equal"):
        replacer.transform(["cat"])
    assert "which documents are equal" in str(replacer.guarantee())


EDITS = {
    "within the group": ("cat and fur", "a dog's paw, cat"),
    "to another group": ("cat fur", "tea"),
    "by a blank": ("cat and fur", "cat and fur "),
}


def pairs_under_one_id(replacer, before, after, n=5000):
    """How often each pair of stand-ins answers a document and its edit, and the law."""
    ids = [f"id {i}" for i in range(n)]
    one, two = (replacer.transform([t] * n, document_ids=ids) for t in (before, after))
    size = len(replacer.public_)
    law = np.exp(replacer.log_likelihood([before, after], range(size)))
    return np.bincount(size * one + two, minlength=size**2), np.outer(*law.T).ravel()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_under_the_same_id_is_answered_anew(replacer, edit):
    """Chi-square at α = 1e-6: answers before and after share nothing.

    If an edit within the group repeated the answer, one that changes would prove that
    the group did, whatever ε is. So ε adds up, as it does for another id.
    """
    replacer.set_params(random_state=SEED, output="index").fit()
    assert_counts(*pairs_under_one_id(replacer, *EDITS[edit]))


def test_noise_of_an_id_alone_is_caught(replacer, monkeypatch):
    """The mistake, seeded: answers derived from the id, whatever the text."""
    replacer.set_params(random_state=SEED, output="index").fit()
    monkeypatch.setattr(_answers, "document_bytes", lambda document: b"")
    for edit in EDITS.values():
        with pytest.raises(AssertionError):
            assert_counts(*pairs_under_one_id(replacer, *edit))


@pytest.mark.parametrize(
    ("what", "each"), [("content", 32), ("ids", 182), ("authors", 16), ("author", 1000)]
)
def test_memory_of_a_repeatable_release(replacer, what, each, monkeypatch):
    """A block of documents, and so many bytes for each; 600 would be a stream's state.

    Three authors, or as many as documents.
    """
    block = 256
    monkeypatch.setattr("skdptext.documents._reader._BLOCK", block)
    replacer.set_params(random_state=SEED, output="index").fit()

    def peak(n):
        texts = (f"a cat {i}" for i in range(n))
        with traced_memory() as memory:
            if what.startswith("author"):
                authors = (i % 3 if what == "authors" else i for i in range(n))
                replacer.person_answers(texts, authors)
            else:
                ids = range(n) if what == "ids" else None
                replacer.transform(texts, document_ids=ids)
        return memory.peak

    peak(2 * block)  # what is made once
    assert peak(8 * block) - peak(4 * block) < 4 * block * each


@pytest.fixture(scope="module")
def two_groups():
    texts = ["cat dog", "dog cat", "tea cake", "cake tea"]
    return DPDocumentReplacer(texts, n_groups=2).fit()


@settings(max_examples=20)
@given(st.lists(st.text(max_size=30), max_size=17))
def test_any_text_is_answered(two_groups, texts):
    released = two_groups.transform(texts)
    assert len(released) == len(texts)
    assert set(released) <= set(two_groups.public_)
    for text in texts[:1]:  # it is of one of the two groups
        exponents = [two_groups.exponent(text, other) for other in ("cat", "tea")]
        assert sorted(exponents) == [0.0, 4.0]


@pytest.mark.parametrize(
    ("kind", "persons"),
    [
        (np.random.RandomState, False),
        (np.random.default_rng, False),
        (np.random.default_rng, True),
    ],
)
def test_copies_of_a_generator_give_different_documents_different_noise(
    replacer, kind, persons
):
    """`clone` copies a generator's state, as every grid search does.

    With the noise of one document in another one, whether two releases differ says
    whether the groups do, at every ε: here in all of the cases, and in none by chance.
    """
    replacer.set_params(epsilon=0.1, output="group", random_state=kind(5))
    n = 400
    given = {"authors": range(n)} if persons else {}
    first, again, other = (
        clone(replacer).fit().transform([f"cat dog {place}"] * n, **given)
        for place in ("one", "one", "two")
    )
    np.testing.assert_array_equal(again, first)
    # of three groups at this ε, two draws agree in Σ p² of the cases
    e = math.exp(0.1)
    agree, hits = (e * e + 2) / (e + 2) ** 2, (other == first).sum()
    assert_counts(np.array([hits, n - hits]), np.array([agree, 1 - agree]))
