"""Guarantees in files, for as long as the contract says, and on one screen."""

from __future__ import annotations

import gc
import json
import math
import pickle
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WordEmbedding,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.learning import LearningGuarantee
from skdptext.learning._guarantee import LearningPart
from skdptext.mechanisms import (
    Exponential,
    RandomizedResponse,
    gaussian_sigma,
    laplace_scale,
)
from skdptext.privacy import Guarantee, PrivacyGuarantee, exposure
from skdptext.privacy._plain import decoded, encoded
from skdptext.release import DocumentRelease, ReleaseKey
from skdptext.replacement import ReplacementGuarantee

STORED = Path(__file__).parent / "stored"
PUBLIC = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
LABELS = ["pets", "pets", "food", "food"]
EMBEDDING = WordEmbedding(
    [f"w{i}" for i in range(30)], np.random.default_rng(5).normal(size=(30, 4))
)
X, Y = ["w1", "w2", "w3"], ["w4", "w2", "w9"]


def perturber(embedding=EMBEDDING, **options):
    given = {
        "epsilon": 2.0,
        "lam": 0.4,
        "document_length": 3,
        "resize": "truncate",
    } | options
    return DPWordPerturber(embedding, **given).fit([])


def replacer(**options):
    return DPDocumentReplacer(PUBLIC, public_labels=LABELS, **options).fit()


def learned(delta=None, **options):
    if delta is not None:
        options |= {"delta": delta}
    model = DPTextClassifier(PUBLIC, n_groups=2, classes=["no", "yes"], **options)
    return model.fit(["my cat", "no milk"], ["yes", "no"], authors=["Ann", "Bo"])


MECHANISMS = {
    "noise": {},
    "euclidean": {"lam": 0.0},
    "ordered": {"output": "tokens", "order": "keep"},
    "any length": {"document_length": None},
    "drawn": {"resize": "sample", "mechanism": Exponential(), "lam": 0},
    "own options": {"stop_words": ["w5", "w6"], "oov": "error", "lowercase": False},
    "seeded": {"random_state": 2**80},
    "response": {"mechanism": RandomizedResponse()},
    "capped": {"mechanism": Exponential("half", 1.5)},
}


def of_words(name):
    return perturber(**MECHANISMS[name]).guarantee()


def kinds():
    """One guarantee of each kind."""
    words, stand_ins, sums = perturber(), replacer(), learned()
    yield "words", words.guarantee()
    yield "converted", words.guarantee().relative_to(0.0)
    yield "stand-ins", stand_ins.guarantee().compose(2)
    yield "stand-ins of persons", stand_ins.guarantee(unit="person")
    yield "sums", sums.guarantee()
    both = words.guarantee().compose(perturber(epsilon=5.0, lam=0.0).guarantee())
    yield "two of words", both.compose(3)
    yield "all", sums.guarantee().compose(stand_ins.guarantee()).compose(both)


def same(one, other):
    assert type(one) is type(other)
    assert str(one) == str(other)
    assert repr(one) == repr(other)
    assert one.details() == other.details()
    assert one._repr_html_() == other._repr_html_()
    assert (one.epsilon, one.releases) == (other.epsilon, other.releases)
    assert one.unit == other.unit
    assert one.epsilon_of(3) == other.epsilon_of(3)


@pytest.mark.no_cover
@pytest.mark.parametrize("guarantee", [pytest.param(g, id=n) for n, g in kinds()])
def test_a_guarantee_comes_back(guarantee):
    """Next month, without embedding or groups: text, numbers and composition."""
    stored = guarantee.to_json()
    assert "Ann" not in stored
    for x in (stored, stored.encode(), json.loads(stored)):
        again = Guarantee.from_json(x)
        same(again, guarantee)
    assert again.to_json() == stored
    same(again.compose(3), guarantee.compose(3))
    same(again.compose(guarantee), guarantee.compose(guarantee))
    same(again.compose(learned().guarantee()), guarantee.compose(learned().guarantee()))
    same(pickle.loads(pickle.dumps(again)), guarantee)


@pytest.mark.parametrize("name", MECHANISMS)
def test_words_with_their_embedding(name):
    guarantee = of_words(name)
    stored = guarantee.to_json()
    without = PrivacyGuarantee.from_json(stored)
    same(without, guarantee)
    assert without.scale() == guarantee.scale()
    assert without.numerical_delta == guarantee.numerical_delta
    copied = WordEmbedding(EMBEDDING.words, EMBEDDING.vectors.copy())
    again = PrivacyGuarantee.from_json(stored, embedding=copied)
    same(again, guarantee)
    for x, y in (("w1", "w2"), (X, Y)):
        for delta in (0.0, 1e-3):
            assert again.exponent(x, y, delta) == guarantee.exponent(x, y, delta)
    assert again.epsilon_for("w1", "w2", factor=9.0) == guarantee.epsilon_for(
        "w1", "w2", factor=9.0
    )
    assert again.to_json() == stored
    if guarantee.metric is not None:
        same(again.euclidean(), guarantee.euclidean())
    # releases of one kind are one part, whether from a file or not
    assert len(again.compose(guarantee).parts) == 1


def test_a_converted_guarantee_with_its_embedding():
    guarantee = perturber().guarantee().relative_to(0.0)
    again = Guarantee.from_json(guarantee.to_json(), embedding=EMBEDDING)
    assert again.exponent(X, Y) == guarantee.exponent(X, Y)
    assert again.relative_to(0.4).epsilon == guarantee.relative_to(0.4).epsilon


class Uniform(RandomizedResponse):
    """A mechanism of a user's own."""


def split(text):
    return text.split()


@pytest.mark.parametrize("options", [{"mechanism": Uniform()}, {"tokenizer": split}])
def test_what_is_the_users_own_comes_with_the_perturber(options):
    fitted = perturber(**options)
    stored = fitted.guarantee().to_json()
    same(Guarantee.from_json(stored), fitted.guarantee())
    with pytest.raises(InvalidParameterError, match="releaser must be given"):
        Guarantee.from_json(stored, embedding=EMBEDDING)
    again = Guarantee.from_json(stored, releaser=perturber(**options))
    assert again.exponent(X, Y) == fitted.guarantee().exponent(X, Y)


def test_stand_ins_with_their_groups():
    guarantee = replacer().guarantee().compose(2)
    again = ReplacementGuarantee.from_json(guarantee.to_json(), releaser=replacer())
    same(again, guarantee)
    assert again.exponent("a dog", "milk") == 2 * guarantee.epsilon / 2
    assert again.exponent("a dog", "a cat") == 0.0
    for n in (10, 100):
        assert again.found_at_most(n) == guarantee.found_at_most(n)
    assert again.information == guarantee.information
    assert len(again.compose(replacer().guarantee()).parts) == 1


def test_what_is_missing_is_named():
    words = Guarantee.from_json(perturber().guarantee().to_json())
    fingerprint = EMBEDDING.fingerprint.hex()[:16]
    for ask in (
        lambda: words.exponent("w1", "w2"),
        lambda: words.epsilon_for("w1", "w2", factor=2.0),
        words.euclidean,
        lambda: words.utility_probability(1.0),
        lambda: words.embedding,
    ):
        with pytest.raises(InvalidParameterError, match=fingerprint) as caught:
            ask()
        assert "give it to from_json as embedding=" in str(caught.value)
    stand_ins = Guarantee.from_json(replacer().guarantee().to_json())
    with pytest.raises(InvalidParameterError, match="to from_json as releaser="):
        stand_ins.exponent("a", "b")


def test_a_caveat_is_printed_first_and_stored():
    for _, guarantee in kinds():
        voided = guarantee.with_caveat("Nothing holds.")
        assert str(voided).split("\n\n")[1].startswith("WARNING. Nothing holds.\n")
        assert "Nothing holds." in voided.details()
        assert str(voided).count("Nothing holds.") == 1
        same(Guarantee.from_json(voided.to_json()), voided)
        assert "Nothing holds." not in str(guarantee)
        with pytest.raises(InvalidParameterError, match="caveat must be a sentence"):
            guarantee.with_caveat(3)


def test_others_are_refused():
    words, stand_ins = perturber().guarantee(), replacer().guarantee()
    other = WordEmbedding(["w1", "w2"], [[0.0], [1.0]])
    unlike = DPDocumentReplacer(PUBLIC[:3], public_labels=LABELS[:3]).fit()
    for guarantee, another, name in (
        (words, {"embedding": other}, "embedding"),
        (words, {"embedding": "words.npz"}, "embedding"),
        (words, {"releaser": perturber(epsilon=3.0)}, "releaser"),
        (words, {"releaser": perturber(oov="error")}, "releaser"),
        (words, {"releaser": replacer()}, "releaser"),
        (stand_ins, {"releaser": unlike}, "releaser"),
        (stand_ins, {"embedding": EMBEDDING}, "embedding"),
        (learned().guarantee(), {"releaser": learned()}, "releaser"),
    ):
        with pytest.raises(InvalidParameterError, match=f"{name} must be the one of"):
            Guarantee.from_json(guarantee.to_json(), **another)
    with pytest.raises(InvalidParameterError, match="of a LearningGuarantee, got a Re"):
        LearningGuarantee.from_json(stand_ins.to_json())


def changed(stored, **change):
    """With another field, of the whole or of its first part."""
    plain = json.loads(stored)
    for name, value in change.items():
        place = plain if name in ("format", "version", "parts") else plain["parts"][0]
        place[name] = value
    return json.dumps(plain)


@pytest.mark.parametrize("guarantee", [pytest.param(g, id=n) for n, g in kinds()])
def test_what_the_contract_does_not_know_is_refused(guarantee):
    stored = guarantee.to_json()
    for wrong, said in (
        (changed(stored, version=2), "version 2, where this skdptext reads version 1"),
        (changed(stored, more=1), "with fields that this version does not know"),
        (json.dumps({**json.loads(stored), "more": 1}), "fields that this version"),
        (changed(stored, format="another"), "wrote"),
        (changed(stored, parts=[]), "wrote"),
        (changed(stored, kind="another"), "wrote"),
        (changed(stored, releases=0), "releases must be an integer >= 1"),
        (changed(stored, caveats=["secret", 1]), "wrote"),
        *((each, "wrote") for each in ("", "[]", "null", "secret", "{}", None, 5)),
    ):
        with pytest.raises(InvalidParameterError, match=said) as caught:
            Guarantee.from_json(wrong)
        assert "secret" not in str(caught.value)


def test_every_field_is_needed():
    for _, guarantee in kinds():
        plain = json.loads(guarantee.to_json())
        for name in plain["parts"][0]:
            part = {k: v for k, v in plain["parts"][0].items() if k != name}
            with pytest.raises(InvalidParameterError, match="to_json wrote"):
                Guarantee.from_json({**plain, "parts": [part]})
        for name in plain["parts"][0].get("facts", {}):
            part = json.loads(json.dumps(plain["parts"][0]))
            del part["facts"][name]
            with pytest.raises(InvalidParameterError, match=f"without {name}"):
                Guarantee.from_json({**plain, "parts": [part]})


floats = st.floats() | st.sampled_from([math.inf, -math.inf, 5e-324, -0.0])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | floats,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.no_cover
@given(value=values)
def test_every_bit_comes_back(value):
    again = decoded(json.loads(json.dumps(encoded(value), allow_nan=False)))
    assert type(again) is type(value)
    assert repr(again) == repr(value)  # −0 and NaN too


@pytest.mark.no_cover
@given(st.lists(floats), st.sampled_from(["<f8", "<f4", ">f8", "<i8", "|b1", "<U3"]))
def test_arrays_come_back(numbers, kind):
    with np.errstate(all="ignore"):
        given = np.nan_to_num(numbers).clip(-9, 9).astype(kind)
    again = decoded(json.loads(json.dumps(encoded(given))))
    assert (again.dtype, again.shape) == (given.dtype, given.shape)
    assert again.tobytes() == given.tobytes()


def test_a_mechanism_of_others_is_not_made_from_a_file():
    with pytest.raises(TypeError):
        encoded(Uniform())
    for wrong in (
        {"!mechanism": ["os.system", {"!dict": []}]},
        {"!array": ["|O", [1], "AAAA"]},
        {"!more": 1},
    ):
        with pytest.raises((ValueError, TypeError)):
            decoded(wrong)


# -- files of this version, as they were written ------------------------------------


def stored_guarantees():
    """What is in the files of `STORED`, made again."""
    plain = WordEmbedding(list("abcd"), [[0.0, 0], [1, 0], [0, 2], [3, 1]])
    response = perturber(plain, mechanism=RandomizedResponse(), epsilon=1.25)
    noise = perturber(plain, lam=0.5, epsilon=2.5).guarantee()
    yield "words", response.guarantee().compose(2), plain
    yield "converted", noise.euclidean(), plain
    yield "stand_ins", replacer(epsilon=3.5).guarantee().compose(3), None
    yield "sums", learned(epsilon=0.75).guarantee().compose(2), None
    both = learned(epsilon=0.75).guarantee().compose(response.guarantee())
    yield "all", both.compose(replacer(epsilon=3.5).guarantee()), plain


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["words", "converted", "stand_ins", "sums", "all"])
def test_files_of_version_1_are_read(name):
    text = (STORED / f"{name}.json").read_text("utf-8")
    made = {each: (guarantee, table) for each, guarantee, table in stored_guarantees()}
    guarantee, table = made[name]
    again = Guarantee.from_json(text)
    same(again, guarantee)
    assert again.to_json() == text
    if table is not None:
        same(Guarantee.from_json(text, embedding=table), guarantee)


def test_numbers_of_version_1():
    """Written down, so that the files and the code cannot change together."""
    words, converted, stand_ins, sums, both = (
        Guarantee.from_json((STORED / f"{name}.json").read_text("utf-8"))
        for name in ("words", "converted", "stand_ins", "sums", "all")
    )
    assert (words.epsilon, words.releases) == (2.5, 2)
    assert [row["exponent"] for row in words.scale()] == [2.5, 2.5, 7.5, 7.5]
    assert (converted.lam, converted.metric_lam) == (0.5, 0.0)
    assert (stand_ins.epsilon, stand_ins.n_groups) == (10.5, 2)
    assert stand_ins.found_at_most(100) == pytest.approx(0.0199, abs=1e-4)
    assert (sums.epsilon, sums.delta, sums.unit) == (1.5, 0.0, "person")
    assert both.epsilon_of(2)[0] == math.inf
    assert [one.unit for one in both.guarantees] == ["person", "word", "document"]


# -- manifests, and what a guarantee keeps alive -------------------------------------


@pytest.mark.parametrize("made", [lambda: perturber(resize="sample"), replacer])
def test_a_manifest_holds_its_guarantee(made, tmp_path):
    (tmp_path / "key").write_text(np.random.default_rng(0).bytes(32).hex())
    (tmp_path / "key").chmod(0o600)
    release = DocumentRelease(made(), ReleaseKey(f"file:{tmp_path / 'key'}"), "q4")
    guarantee = release.perturber.guarantee()
    manifest = json.loads(json.dumps(release.manifest(), allow_nan=False))
    again = Guarantee.from_json(manifest)
    same(again, guarantee)
    same(Guarantee.from_json(json.dumps(manifest)), guarantee)
    assert Guarantee.from_json(manifest, releaser=made()).exponent(
        X, Y
    ) == guarantee.exponent(X, Y)


def reached(thing):
    """All objects that a thing keeps alive, but for classes, functions and modules."""
    stop = (type, type(gc), type(reached), type(len))
    seen, queue = {}, [thing]
    while queue:
        one = queue.pop()
        if id(one) not in seen and not isinstance(one, stop):
            seen[id(one)] = one
            queue += gc.get_referents(one)
    return seen.values()


def test_a_guarantee_keeps_no_releaser_alive():
    for made in (perturber, replacer, learned):
        releaser = made()
        guarantee = releaser.guarantee()
        gone = weakref.ref(releaser)
        del releaser
        gc.collect()
        assert gone() is None
        assert guarantee.epsilon > 0
        kept = {type(one).__name__ for one in reached(guarantee)}
        unwanted = {"DPWordPerturber", "DPDocumentReplacer", "DPTextClassifier"}
        unwanted |= {"PublicDocuments", "PublicGroups", "Generator", "ChaCha"}
        assert not kept & unwanted


def test_a_guarantee_holds_no_public_document():
    """Their groups need vocabulary and weights, and no text."""
    texts = [f"{word} number{i} of the text" for i in range(300) for word in LABELS]
    stand_ins = DPDocumentReplacer(texts, public_labels=LABELS * 300).fit()
    raw = pickle.dumps(stand_ins.guarantee())
    assert texts[7].encode() not in raw
    assert texts[7].encode() in pickle.dumps(stand_ins)
    # a model's is a few numbers; of words it is the embedding, once, and its spectrum
    assert len(pickle.dumps(learned().guarantee())) < 1000
    table = WordEmbedding(
        [f"w{i}" for i in range(5000)], np.random.default_rng(0).normal(size=(5000, 20))
    )
    size = len(pickle.dumps(perturber(table).guarantee()))
    assert size < 1.5 * len(pickle.dumps(table))


# -- dp-accounting -------------------------------------------------------------------


def test_no_event_without_dp_accounting(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)  # as if not installed
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        replacer().guarantee().to_dp_event()
    with pytest.raises(InvalidParameterError, match="no event for metric privacy"):
        perturber().guarantee().to_dp_event()
    with pytest.raises(InvalidParameterError, match="one kind and unit, got 3"):
        dict(kinds())["all"].to_dp_event()


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_events_of_stand_ins(k, epsilon):
    """Google's accountant, with our own exponent of two documents of unlike groups."""
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    guarantee = replacer(epsilon=epsilon).guarantee().compose(k)
    event = guarantee.to_dp_event()
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = pld.PLDAccountant(relation).compose(event)
    for delta in (1e-6, 0.01):
        ours = guarantee.exponent("a cat", "tea", delta=delta)
        assert accountant.get_epsilon(delta) == pytest.approx(ours, abs=2e-3 * k)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("kind", ["groups", "vectors"])
def test_events_of_models(k, kind):
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting import pld

    grid = 2**30
    if kind == "groups":
        scale, sigma, delta = laplace_scale(1.0, grid), 0, 0.0
        noise = dp_accounting.LaplaceDpEvent(scale / grid)
    else:
        delta = 1e-5
        scale, sigma = 0, gaussian_sigma(1.0, delta, 40, grid)
        noise = dp_accounting.GaussianDpEvent(sigma / grid)
    part = LearningPart("person", 1.0, delta, scale, sigma, 40, grid)
    guarantee = LearningGuarantee([part]).compose(k)
    event = guarantee.to_dp_event()
    assert (event.event.events, event.count) == ([noise], k)
    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    theirs = pld.PLDAccountant(relation).compose(event).get_epsilon(1e-5)
    assert theirs == pytest.approx(guarantee.epsilon_at(1e-5), rel=2e-3)


# -- on one screen -------------------------------------------------------------------

VERDICTS = {
    # of two words that are so far apart: random and nearest are the same
    (0.1, 2): "SINGLE WORDS ARE DENIABLE. TYPICAL DOCUMENTS ARE DENIABLE.",
    (0.9, 10): "SINGLE WORDS ARE DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE.",
    (4.6, 1): (
        "SINGLE WORDS ARE PARTLY DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE."
    ),
    (4.6, None): (
        "SINGLE WORDS ARE PARTLY DENIABLE. NOTHING USEFUL IS PROMISED FOR DOCUMENTS."
    ),
    # the odds of neighbours change by more than a factor of 100
    (4.61, None): (
        "SINGLE WORDS ARE DENIABLE ONLY AGAINST VERY SIMILAR ONES. NOTHING USEFUL IS "
        "PROMISED FOR DOCUMENTS."
    ),
    (50.0, 1): "NOTHING USEFUL IS PROMISED, FOR SINGLE WORDS OR FOR DOCUMENTS.",
}


@pytest.mark.parametrize(("epsilon", "n_words"), VERDICTS)
def test_the_verdict_is_what_the_numbers_come_to(epsilon, n_words):
    table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    options = {
        "epsilon": epsilon,
        "lam": 0.0,
        "document_length": n_words,
        "resize": "truncate",
    }
    said = str(perturber(table, **options).guarantee()).split("\n\n")[1]
    assert " ".join(said.split()).startswith(VERDICTS[epsilon, n_words])
    relied_on = "Do not rely on this release" in said
    assert relied_on == ("NOTHING USEFUL" in said)


def test_words_that_have_neighbours_are_deniable_among_them_only():
    """Two words each lie close together, and pairs far apart."""
    places = np.repeat(np.arange(20) * 100.0, 2) + np.tile([0.0, 1.0], 20)
    table = WordEmbedding([f"w{i}" for i in range(40)], places[:, None])
    said = str(perturber(table, epsilon=3.0, lam=0.0).guarantee())
    assert "SINGLE WORDS ARE PARTLY DENIABLE, AGAINST SIMILAR WORDS ONLY." in said


@pytest.mark.parametrize(
    ("epsilon", "groups", "verdict"),
    [
        (4.0, 4, "WHICH DOCUMENT IT WAS IS HIDDEN."),
        (4.0, 6, "WHICH DOCUMENT IT WAS IS PARTLY HIDDEN."),
        (9.0, 30, "WHICH DOCUMENT IT WAS IS PARTLY HIDDEN."),
        (20.0, 80, "NOTHING USEFUL IS PROMISED FOR DOCUMENTS."),
    ],
)
def test_the_verdict_on_stand_ins(epsilon, groups, verdict):
    texts = [f"topic{i}" for i in range(groups)]
    made = DPDocumentReplacer(texts, public_labels=range(groups), epsilon=epsilon)
    assert f"\n\n{verdict}\n" in str(made.fit().guarantee())


@pytest.mark.parametrize(
    ("epsilon", "verdict"),
    [
        (1.0, "WHETHER ONE PERSON TOOK PART IS HARD TO TELL."),
        (2.0, "WHETHER ONE PERSON TOOK PART IS PARTLY HIDDEN."),
        (4.0, "NOTHING USEFUL IS PROMISED FOR A PERSON."),
    ],
)
def test_the_verdict_on_models(epsilon, verdict):
    assert f"\n\n{verdict}\n" in str(learned(epsilon=epsilon).guarantee())


@pytest.mark.parametrize(
    ("share", "chance", "expected"),
    [
        # hidden: no more than five times the odds of a guess, and no more than 3 of 4
        (0.048, 0.01, 0), (0.049, 0.01, 1), (0.75, 0.5, 0), (0.76, 0.5, 1),
        # partly: fifty times the odds, 9 of 10
        (0.196, 0.01, 1), (0.33, 0.01, 1), (0.34, 0.01, 2),
        (0.9, 0.5, 1), (0.91, 0.5, 2), (0.983, 0.5, 2), (1.0, 0.5, 2), (1.0, 0.01, 2),
    ],
)  # fmt: skip
def test_proofs_and_attacks_share_the_limits_of_hidden(share, chance, expected):
    assert exposure(share, chance) == expected


@pytest.mark.parametrize("guarantee", [pytest.param(g, id=n) for n, g in kinds()])
def test_it_fits_a_screen(guarantee):
    lines = str(guarantee).splitlines()
    assert len(lines) <= 28  # of three kinds; one kind takes 21
    assert max(map(len, lines)) <= 88
    if len(guarantee.parts) == 1:
        assert len(lines) <= 21
    assert lines[0].startswith("Privacy statement. ")
