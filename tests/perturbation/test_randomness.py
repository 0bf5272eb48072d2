"""Fresh noise by default, repeatable releases under a seed, nothing replayed."""

import json
import math
import numbers
import pickle
import traceback

import numpy as np
import pytest
from experiments.mechanisms.recipes import Ranked, Vickrey
from scipy.stats import chi2_contingency
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import NoiseStreams
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from tests.expected import no_warning, refusals, unknown_words
from tests.mechanism_forms import forms


@pytest.fixture
def documents():
    rng = np.random.default_rng(0)
    lengths = [0, 1, 3, 700, 20, 5, 64, 2]
    made = [[f"w{i}" for i in rng.integers(0, 200, n)] for n in lengths]
    return [*made, made[4]]  # equal documents get equal releases under a seed


def make(embedding, **params):
    params = {"epsilon": 2.0, "output": "tokens"} | params
    return DPWordPerturber(embedding, **params).fit([])


def agreement(first, second):
    """Share of equal words in two draws."""
    return np.mean(np.asarray(first) == np.asarray(second))


@pytest.mark.parametrize("mechanism", [*forms().values(), Vickrey(), Ranked()])
@pytest.mark.parametrize("drawn", [None, 30])
def test_repeatable_release_does_not_depend_on_the_work_split(
    small_embedding, documents, mechanism, drawn
):
    params = {"document_length": drawn, "mechanism": mechanism, "random_state": 11}

    def release(documents, **more):
        perturber = pickle.loads(pickle.dumps(make(small_embedding, **params, **more)))
        return perturber.transform(documents)

    whole = release(documents)
    order = np.random.default_rng(1).permutation(len(documents))
    shuffled = release([documents[i] for i in order])
    assert shuffled == [whole[i] for i in order]
    assert [release([document])[0] for document in documents] == whole
    # 1: the smallest blocks, of 64 words
    for memory, n_jobs in ((1, 1), (1, 2), (1024, -1)):
        with config_context(working_memory=memory):
            assert release(documents, n_jobs=n_jobs) == whole


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_generator_gives_the_same_for_any_split(small_embedding, documents, source):
    def release(**params):
        rng = source(4)
        perturber = make(small_embedding, random_state=rng, **params)
        return [perturber.transform(documents) for _ in range(2)]

    first, second = release()
    assert first != second  # the generator moves on
    assert first[4] != first[-1]  # nor do equal documents share noise
    assert release(n_jobs=2) == [first, second]
    with config_context(working_memory=1):
        assert release() == [first, second]


def one_dimension():
    """Two words one apart: whether a word flips shows the noise itself."""
    return WordEmbedding(["a", "b"], [[0.0], [1.0]])


def flips(perturber, n=4000):
    return perturber.perturb_words(["a"], n)[0] == "b"


def flips_of_one_stream(perturber, n=4000):
    """The mistake: a stream that depends on the seed alone."""
    channel = perturber.mechanism_
    draws = channel.draw(np.random.default_rng(9), n)
    return channel.apply(np.zeros(n, dtype=int), draws) == 1


def replay_is_absent(first, second, alpha=1e-6):
    """Two series of flips are independent (chi-square test, false alarm alpha)."""
    table = np.histogram2d(first, second, bins=2)[0]
    return chi2_contingency(table).pvalue > alpha


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.001},
        {"lam": 0.4},
        {"document_length": 3, "resize": "truncate"},
        {"resize": "sample"},
        {"oov": "error"},
        {"mechanism": Vickrey(1e-9)},  # the nearest word, but for the key
    ],
    ids=str,
)
def test_a_seed_does_not_replay_its_noise(change):
    first, second = (
        DPWordPerturber(one_dimension(), epsilon=1.0, random_state=9)
        .set_params(**changed)
        .fit([])
        for changed in ({}, change)
    )
    assert replay_is_absent(flips(first), flips(second))
    assert not replay_is_absent(flips_of_one_stream(first), flips_of_one_stream(second))


STATES = {
    "fresh": lambda: None,
    "seed": lambda: 9,
    "generator": lambda: np.random.default_rng(9),
    "random state": lambda: np.random.RandomState(9),
}


def flips_of_documents(state, kind, n_documents=210, length=20):
    """For each of many different documents, which of its words "a" flipped."""
    others = [f"c{i}" for i in range(n_documents)]
    far = [[1e6 + i] for i in range(n_documents)]
    table = WordEmbedding([*"ab", *others], [[0.0], [1.0], *far])
    perturber = DPWordPerturber(table, epsilon=1.0, lam=0.0, random_state=state)
    # a word of its own, so that no two documents are the same
    X = [["a"] * length + [other] for other in others]
    if kind == "counts":
        X = perturber.fit([]).prepare(X)
    perturber.set_params(output="tokens")
    return np.array([words[:length] for words in perturber.fit_transform(X)]) == "b"


@pytest.mark.parametrize("kind", ["tokens", "counts"])
@pytest.mark.parametrize("state", STATES)
def test_documents_do_not_share_noise(state, kind):
    """Over several tasks, each document against the next one."""
    with config_context(working_memory=1):  # a task has 64 words: three documents
        flipped = flips_of_documents(STATES[state](), kind)

    def are_independent(flipped):
        return all(
            replay_is_absent(flipped.ravel(), np.roll(flipped, far, axis=0).ravel())
            for far in (1, 3)
        )

    assert are_independent(flipped)
    # the mistakes: one stream opened again for each document, or for each task
    assert not are_independent(np.tile(flipped[:1], (210, 1)))
    assert not are_independent(np.tile(flipped[:3], (70, 1)))


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_copies_of_a_generator_do_not_share_noise_between_documents(source):
    """clone copies a Generator with its state, and cross-validation clones."""
    table = one_dimension()
    perturber = DPWordPerturber(
        table, epsilon=1.0, output="tokens", random_state=source(3)
    )
    first, second = (
        np.array(clone(perturber).fit_transform([["a"] * 3000 + [last]])[0][:3000])
        for last in "ab"
    )
    assert replay_is_absent(first == "b", second == "b")


def test_other_words_get_other_noise():
    """In another call with the same seed, which else would show their difference."""
    perturber = DPWordPerturber(one_dimension(), epsilon=1.0, random_state=3).fit([])
    one, other = (perturber.perturb_words([word], 4000)[0] for word in "ab")
    first, _ = perturber.perturb_words(["a", "b"], 4000)
    assert replay_is_absent(one == "b", other == "a")
    assert replay_is_absent(one == "b", first == "b")


def test_words_and_documents_do_not_share_noise(monkeypatch):
    """By the key, even with equal labels; not with a key that forgets its purpose."""
    labels = lambda *_: lambda position, content: b"same"  # noqa: E731
    monkeypatch.setattr(NoiseStreams, "labeller", labels)

    def independent():
        perturber = make(one_dimension(), epsilon=1.0, random_state=3)
        (document,) = perturber.transform([["a"] * 3000])
        return replay_is_absent(flips(perturber, 3000), np.array(document) == "b")

    assert independent()
    streams = DPWordPerturber._streams
    monkeypatch.setattr(DPWordPerturber, "_streams", lambda s, _, r: streams(s, "", r))
    assert not independent()


# -- ids of documents ------------------------------------------------------------------

N = 4000
WORDS = ["a"] * N


@pytest.fixture
def perturber():
    return DPWordPerturber(
        one_dimension(), epsilon=0.5, lam=0.0, output="tokens", document_length=N,
        resize="truncate", random_state=2**100,
    ).fit([])  # fmt: skip


@unknown_words
@pytest.mark.parametrize("ids", [["x", "y"], [1, 2], [b"1", b"2"], [1, "1"]])
def test_equal_documents_of_different_ids_get_independent_noise(perturber, ids):
    one, two = perturber.transform([WORDS] * 2, document_ids=ids)
    stays = 1 - math.exp(-0.25) / 2
    expected = stays**2 + (1 - stays) ** 2
    deviation = math.sqrt(expected * (1 - expected) / N)
    assert abs(agreement(one, two) - expected) < 6 * deviation
    # the release is repeatable, with any other documents
    assert perturber.transform([WORDS], document_ids=ids[:1])[0] == one
    assert perturber.transform([WORDS] * 2, document_ids=ids[::-1]) == [two, one]
    # and documents that are edited or turned have other noise under the same id
    released = [one]
    for words in [*WORDS, "a"], [*WORDS, "?"], ["b", *WORDS[1:]], [*WORDS[1:], "b"]:
        (edited,) = perturber.transform([words], document_ids=ids[:1])
        for each in released:
            shared = agreement(edited[1:-1], each[1:-1])
            assert abs(shared - expected) < 6 * deviation
        released.append(edited)


@refusals(
    ("ab", "document_ids must be an iterable of str, int or bytes, got str"),
    ({"a", "b"}, "document_ids must be an iterable of str, int or bytes, got set"),
    ([1, True], "must be str, int or bytes, got bool at position 1"),
    (["a", "a"], "must differ, .* positions 0 and 1 hold the same"),
    (["a"], "must hold one id per document [(]2[)], got 1"),
)
@pytest.mark.parametrize("random_state", [None, 2**100])
def test_bad_ids(perturber, random_state, ids):
    perturber.set_params(random_state=random_state).fit([])
    perturber.transform([WORDS, WORDS], document_ids=ids)


# -- a seed undoes the noise for who knows it ------------------------------------------

SEED = 918273645546372819273645
DOCUMENTS = [["w1", "w2"], ["w3", "w4"], ["w5", "w6"], ["w7", "w8"]]


@pytest.fixture
def seeded(small_embedding):
    return DPWordPerturber(
        small_embedding, document_length=2, resize="truncate", random_state=SEED
    )


def search(perturber):
    grid = {"dpwordperturber__epsilon": [1, 9]}
    return GridSearchCV(make_pipeline(perturber, MultinomialNB()), grid, cv=2)


HOLDERS = {
    "fitted": lambda p: p.fit([]),
    "of NumPy": lambda p: p.set_params(random_state=np.int64(SEED % 2**62)),
    "unpickled": lambda p: pickle.loads(pickle.dumps(p)),
    "search": lambda p: search(p).fit(DOCUMENTS, [0, 1, 0, 1]),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_no_view_of_an_estimator_shows_the_seed(seeded, name):
    holder = HOLDERS[name](seeded)
    with config_context(print_changed_only=False):
        views = [repr(holder), holder._repr_html_()]
    views += [str(holder), str(holder.get_params()), str(vars(holder))]
    shown = "".join(views)
    assert str(SEED)[:8] not in shown
    assert str(SEED % 2**62) not in shown
    assert repr(holder).count("random_state=<secret>") == 1
    assert "&lt;secret&gt;" in holder._repr_html_()


def test_a_seed_is_the_integer_that_was_given_and_does_not_show(seeded):
    for change in {"epsilon": -1}, {"random_state": -SEED}, {"random_state": SEED / 2}:
        with pytest.raises(InvalidParameterError) as error:
            clone(seeded).set_params(**change).fit([])
        shown = "".join(traceback.format_exception(error.value))
        assert str(SEED)[:8] not in shown
        assert f"{SEED / 2!r}"[:8] not in shown
    seed = seeded.random_state
    assert isinstance(seed, numbers.Integral)
    assert hash(seed) == hash(SEED)
    assert SEED == seed != SEED + 1
    assert clone(seeded).random_state is seed
    for spec in ("", "d", ",", "x", ">60", "e"):
        assert format(seed, spec) == "<secret>"
    with pytest.raises(TypeError):
        json.dumps(seed)
    assert json.dumps(seed, default=str) == '"<secret>"'


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1, np.int64(7)])
def test_fit_warns_of_a_seed_that_can_be_guessed(seeded, seed):
    seeded.set_params(random_state=seed)
    with pytest.warns(PrivacyLeakWarning, match=r"secrets\.randbits\(128\)") as caught:
        seeded.fit([])
    assert len(caught) == 1  # not of equal documents: transform may be given ids
    if seed > 100:
        assert str(int(seed)) not in "".join(str(w.message) for w in caught)


def test_who_gives_ids_is_not_asked_for_them(seeded):
    with no_warning():
        seeded.fit_transform(DOCUMENTS, document_ids=["a", "b", "c", "d"])
    with pytest.warns(PrivacyLeakWarning, match="Give each document its own id"):
        seeded.transform(DOCUMENTS)
