"""Guarantees in files: what was written comes back, and anything else is refused."""

import copy
import itertools
import json
import pickle
import time
from functools import reduce

import numpy as np
import pytest

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WordEmbedding,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential, RandomizedResponse
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import DocumentRelease, ReleaseKey

PUBLIC = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
LABELS = ["pets", "pets", "food", "food"]
EMBEDDING = WordEmbedding(
    [f"w{i}" for i in range(30)], np.random.default_rng(5).normal(size=(30, 4))
)
X, Y = ["w1", "w2", "w3"], ["w4", "w2", "w9"]
REFUSED = "x must be what a guarantee's to_json wrote"


def perturber(embedding=EMBEDDING, **options):
    given = {"epsilon": 2.0, "lam": 0.4, "document_length": 3, "resize": "truncate"}
    return DPWordPerturber(embedding, **given | options).fit([])


def replacer():
    return DPDocumentReplacer(PUBLIC, public_labels=LABELS).fit()


def learned():
    model = DPTextClassifier(PUBLIC, n_groups=2, classes=["no", "yes"])
    return model.fit(["my cat", "no milk"], ["yes", "no"], authors=["Ann", "Bo"])


WORDS = {
    "noise": {},
    "ordered": {"output": "tokens", "order": "keep"},
    "any length": {"document_length": None},
    "drawn": {"resize": "sample", "mechanism": Exponential(), "lam": 0},
    "own options": {
        "random_state": 2**80,
        "stop_words": ["w6", "w5"],
        "oov": "error",
        "lowercase": False,
    },
    "response": {"mechanism": RandomizedResponse()},
    "capped": {"mechanism": Exponential("half", 1.5)},
}
KINDS = {
    **{name: lambda o=o: perturber(**o).guarantee() for name, o in WORDS.items()},
    "converted": lambda: perturber().guarantee().relative_to(0.0),
    "by the lemma": lambda: perturber().guarantee().relative_to(0.7, by="lemma3"),
    "stand-ins": lambda: replacer().guarantee().compose(2),
    "stand-ins of persons": lambda: replacer().guarantee(unit="person"),
    "sums of groups": lambda: learned().guarantee(),
    "sums of vectors": lambda: vectors(500),
    "sums of both": lambda: vectors(20),
    "all": lambda: reduce(
        lambda whole, made: whole.compose(made.guarantee()),
        (replacer(), perturber(), perturber(epsilon=5.0, lam=0.0)),
        learned().guarantee(),
    ).compose(3),
}


def vectors(n_expected):
    public = [f"{word} w{i}" for i in range(20) for word in ("w1 w2", "w3 w4")]
    options = {"n_expected": n_expected, "classes": [0, 1]}
    model = DPTextClassifier(public, embedding=EMBEDDING, **options)
    return model.fit(["w1 w2", "w3"], [0, 1], authors=["Ann", "Bo"]).guarantee()


def read(x):
    return PrivacyGuarantee.from_json(x, embedding=EMBEDDING)


def same(one, other):
    for told in (str, repr, PrivacyGuarantee.rows, PrivacyGuarantee.to_json):
        assert told(one) == told(other)
    assert one.epsilon_of(3) == other.epsilon_of(3)
    assert one.numerical_delta == other.numerical_delta


@pytest.mark.parametrize("name", KINDS)
def test_a_guarantee_comes_back(name):
    guarantee = KINDS[name]()
    stored = guarantee.to_json()
    assert "Ann" not in stored
    for x in (stored, stored.encode(), json.loads(stored)):
        again = read(x)
        same(again, guarantee)
    same(again.compose(3), guarantee.compose(3))
    same(again.compose(guarantee), guarantee.compose(guarantee))
    assert len(again.compose(guarantee).parts) == len(guarantee.parts)
    same(pickle.loads(pickle.dumps(again)), guarantee)
    if guarantee.kind == "words":
        for x, y in (("w1", "w2"), (X, Y)):
            for delta in (0.0, 1e-3):
                assert again.exponent(x, y, delta) == guarantee.exponent(x, y, delta)
    elif guarantee.unit is not None:
        assert again.found_at_most(100) == guarantee.found_at_most(100)


JUNK = [
    *(None, True, 0, 1, -1, 2**70, 10**400, 1e-9, 0.5, 1e308, "", "secret"),
    *([], [1], {}, {"a": 1}, ["secret"], [0.5, "x"], [[[]]]),
]


def edits(stored):
    """Every field of the whole, of each part and below changed, dropped and added."""

    def places(node, path=()):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(items):
            yield (*path, key), value
            if isinstance(value, dict | list):
                yield from places(value, (*path, key))

    for path, value in places(stored):
        more = []
        if isinstance(value, int | float) and not isinstance(value, bool):
            more = [value + 1, value * 2, value / 2, float(value), -value]
        if isinstance(value, str):
            more = [value[:-1], value + "0", value.upper()]
        for new in [*JUNK, *more, "dropped", "added"]:
            plain = copy.deepcopy(stored)
            at = plain
            for step in path[:-1]:
                at = at[step]
            if new == "dropped":
                del at[path[-1]]
            elif new == "added":
                if not isinstance(at, dict):
                    continue
                at["secret"] = value
            else:
                at[path[-1]] = new
            yield plain


def outcome(text):
    """What is read of a text, or why it is refused; no other error is one."""
    try:
        return read(text), ""
    except InvalidParameterError as error:
        return None, str(error)


@pytest.mark.no_cover
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", KINDS)
def test_an_edited_file_is_refused_or_another_guarantee(name, share):
    """Each edit in a field, or one in `share` of them.

    What is read is what the file says, and can be printed.
    """
    n_read = n_refused = 0
    every = edits(json.loads(KINDS[name]().to_json()))
    for edited in itertools.islice(every, len(name) % share, None, share):
        text = json.dumps(edited)
        made, said = outcome(text)
        if made is None:
            assert said.startswith((REFUSED, "embedding must be the public"))
            assert "secret" not in said
            n_refused += 1
            continue
        n_read += 1
        # what no reader of documents can have is no other guarantee
        for part in edited["parts"]:
            reading = part.get("reading", {"oov": "drop"})
            assert reading["oov"] in ("drop", "error", "keep")
        # the same to the type of every number, in any order of the fields
        again = json.loads(made.to_json())
        assert json.dumps(again, sort_keys=True) == json.dumps(edited, sort_keys=True)
        assert made.releases >= 1
        assert "Privacy statement" in str(made)
        if made.kind == "sums":  # no more is promised than its ε and δ
            epsilon = min(made.epsilon, 700.0)
            right = (np.exp(epsilon) + made.delta) / (1 + np.exp(epsilon))
            assert 0.5 <= made.right_at_most <= right * (1 + 1e-9)
            assert made.delta_at(made.epsilon) <= made.delta * (1 + 1e-9)
    assert n_refused > n_read > 0


def test_what_nobody_wrote_is_refused_at_once():
    (part,) = json.loads(learned().guarantee().to_json())["parts"]
    whole = {"format": "skdptext guarantee", "version": 1}
    deep = "[" * 100_000 + "]" * 100_000
    nested: dict = {}
    for _ in range(100_000):
        nested = {"parts": nested}
    start = time.perf_counter()
    for wrong in (
        *("", "[]", "null", "secret", "{}", "{", "1e999", '"parts"', b"\xff", None, 5),
        *(deep, f'{{"parts": {deep}}}', "x" * 10**7, nested, [], {}, {"guarantee": 1}),
        {"guarantee": {"stored": "secret"}},
        {**whole, "parts": [part] * 100_000},
        {**whole, "parts": [{**part, "n_cells": i} for i in range(100_000)]},
        {**whole, "parts": []},
        {**whole, "version": 2, "parts": [part]},
        {**whole, "parts": [part, part]},
        # without noise there is no promise
        {**whole, "parts": [{**part, "epsilon": 0.0}]},
        {**whole, "parts": [{**part, "delta": 1e-9}]},
        {**whole, "parts": [{**part, "epsilon": float("nan")}]},
        {**whole, "parts": [{**part, "epsilon": 1e-30}]},
    ):
        with pytest.raises(InvalidParameterError, match=REFUSED) as caught:
            read(wrong)
        assert "secret" not in str(caught.value)
    assert time.perf_counter() - start < 20  # of a machine that is busy


class Uniform(RandomizedResponse):
    """A mechanism of a user's own."""


def split(text):
    return text.split()


@pytest.mark.parametrize("options", [{"mechanism": Uniform()}, {"tokenizer": split}])
def test_what_is_the_users_own_is_not_made_from_a_file(options):
    with pytest.raises(InvalidParameterError, match=REFUSED):
        read(perturber(**options).guarantee().to_json())


def test_words_need_their_embedding_and_stand_ins_their_groups():
    stored = perturber().guarantee().to_json()
    other = WordEmbedding(["w1", "w2"], [[0.0], [1.0]])
    for wrong, got in ((None, "None"), (other, "another"), ("w.npz", "another")):
        with pytest.raises(InvalidParameterError, match=f"embedding must be .* {got}"):
            PrivacyGuarantee.from_json(stored, embedding=wrong)
    stand_ins = PrivacyGuarantee.from_json(replacer().guarantee().to_json())
    assert stand_ins.epsilon_for(factor=np.e) == pytest.approx(1.0)
    with pytest.raises(InvalidParameterError, match="fitted DPDocumentReplacer"):
        stand_ins.exponent("a", "b")


@pytest.mark.parametrize("made", [lambda: perturber(resize="sample"), replacer])
def test_a_manifest_holds_its_guarantee(made, tmp_path):
    (tmp_path / "key").write_text(np.random.default_rng(0).bytes(32).hex())
    (tmp_path / "key").chmod(0o600)
    release = DocumentRelease(made(), ReleaseKey(f"file:{tmp_path / 'key'}"), "q4")
    manifest = json.loads(json.dumps(release.manifest(), allow_nan=False))
    same(read(manifest), release.releaser.guarantee())
    same(read(json.dumps(manifest)), release.releaser.guarantee())
