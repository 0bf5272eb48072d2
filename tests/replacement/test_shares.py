"""Shares of topics that are read from released groups."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from skdptext import DPDocumentReplacer
from skdptext.replacement import TopicShares, topic_shares
from tests.expected import refusals, refused

PUBLIC = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
PUBLIC += ["the train is late", "a late train"]
LABELS = ["pets", "pets", "food", "food", "rail", "rail"]
TEXTS = {"pets": "my cat", "food": "no milk", "rail": "this train"}


def replacer(k: int = 3, **options: Any) -> DPDocumentReplacer:
    """Of three topics; or of any number of them."""
    texts = PUBLIC if k == 3 else [f"topic{i} text" for i in range(k)]
    labels = LABELS if k == 3 else range(k)
    settings = {"epsilon": 1.5, "random_state": 2**70, "output": "group"} | options
    return DPDocumentReplacer(texts, public_labels=labels, **settings).fit()


def shares_of(released: Any, releasing: Any, **options: Any) -> TopicShares:
    groups = options.pop("groups", releasing.groups_)
    return topic_shares(released, releasing.guarantee(), groups=groups, **options)


def documents(**counts: int) -> tuple[list[str], list[str]]:
    """Documents and an id each, so that equal ones have noise of their own."""
    texts = [f"{TEXTS[topic]} {i}" for topic, n in counts.items() for i in range(n)]
    return texts, [f"{i}" for i in range(len(texts))]


def probabilities(epsilon: float, k: int) -> tuple[float, float]:
    own = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return own, (1 - own) / (k - 1)


def test_unbiased_estimate_is_the_formula() -> None:
    texts, ids = documents(pets=50, food=30, rail=20)
    releasing = replacer()
    released = releasing.transform(texts, document_ids=ids)
    shares = shares_of(released, releasing, groups=["rail", "food", "pets"])
    own, other = probabilities(1.5, 3)
    frequencies = [np.mean(released == label) for label in shares.groups]
    assert shares.groups.tolist() == ["food", "pets", "rail"]
    assert shares.unbiased == pytest.approx(
        (np.array(frequencies) - other) / (own - other)
    )
    assert shares.unbiased.sum() == pytest.approx(1)
    assert shares.n_documents == 100
    # whatever the order, and where all are among the released
    for groups in (None, releasing.groups_):
        again = shares_of(released, releasing, groups=groups)
        for name in ("groups", "low", "high"):
            assert (getattr(again, name) == getattr(shares, name)).all()


def test_shares_are_the_nearest_on_the_simplex() -> None:
    # nobody writes of food or trains: their unbiased estimates fall below 0 at times
    texts, ids = documents(pets=40)
    negative = 0
    for seed in range(2**70, 2**70 + 20):
        releasing = replacer(random_state=seed)
        shares = shares_of(releasing.transform(texts, document_ids=ids), releasing)
        assert shares.shares.min() >= 0
        assert shares.shares.sum() == pytest.approx(1)
        negative += int(shares.unbiased.min() < 0)
        # no other point of the simplex is nearer: the projection's own condition
        gap = shares.unbiased - shares.shares
        corners = np.eye(3) - shares.shares
        assert (corners @ gap <= 1e-12).all()
    assert negative >= 5


@pytest.mark.no_cover
@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
def test_interval_covers_exactly(epsilon: float) -> None:
    """By enumeration of all counts, for every number of documents in the group."""
    n, k = 17, 3
    own, other = probabilities(epsilon, k)
    releasing = replacer(epsilon=epsilon)
    ends = []
    for count in range(n + 1):
        released = ["pets"] * count + ["food"] * (n - count)
        shares = shares_of(released, releasing, confidence=0.9)
        ends.append((shares.low[1], shares.high[1]))
    for m in range(n + 1):
        law = np.convolve(
            binom.pmf(range(m + 1), m, own), binom.pmf(range(n - m + 1), n - m, other)
        )
        held = [low - 1e-12 <= m / n <= high + 1e-12 for low, high in ends]
        assert law[held].sum() >= 0.9
        # and is no longer than needed: with one tail of 5 % alone, it leaves it out
        assert law[held].sum() < 1 or epsilon < 1


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("n_releases", "k", "epsilon", "n"),
    [
        (100, 3, 2.0, 60),
        (100, 8, 4.0, 400),
        *(
            pytest.param(1000, *each, marks=pytest.mark.slow)
            for each in ((2, 1.0, 50), (8, 4.0, 10**4), (20, 1.0, 50), (20, 1.0, 10**4))
        ),
    ],
)
def test_coverage_over_releases(n_releases, k, epsilon, n) -> None:
    """Of each group (false alarm 1e-6 for all); and no more often than is needed."""
    releasing = replacer(k, epsilon=epsilon)
    truth = np.arange(1, k + 1) / (k * (k + 1) / 2)  # from a small share to a large one
    counts = np.floor(truth * n).astype(int)
    counts[-1] += n - counts.sum()
    clear, held = np.repeat(np.arange(k), counts), np.zeros(k)
    for seed in range(n_releases):
        rng = np.random.default_rng([seed, k, n])
        noisy = releasing.channel_.apply(clear, releasing.channel_.draw(rng, n))
        shares = shares_of(releasing.groups_[noisy], releasing)
        held += (shares.low <= counts / n) & (counts / n <= shares.high)
    assert held.min() >= binom.ppf(1e-6 / k, n_releases, 0.95)
    if n == 10**4:
        assert held.mean() <= 980


PERSONS = {"ann": "pets", "bo": "food", "cy": "pets", "di": "rail"}


def test_authors_count_once() -> None:
    """However many documents they have: their answers are one."""
    texts, authors = [], []
    for i, (author, topic) in enumerate(PERSONS.items()):
        texts += [TEXTS[topic]] * (i + 1)
        authors += [author] * (i + 1)
    releasing = replacer(epsilon=50.0)
    released = releasing.transform(texts, authors=authors)
    guarantee = releasing.guarantee(unit="person")
    names = ["food", "pets", "rail"]
    shares = topic_shares(released, guarantee, groups=names, authors=authors)
    assert (shares.unit, shares.n_documents) == ("person", 4)
    assert shares.shares == pytest.approx([0.25, 0.5, 0.25])
    for given, promise, of, message in (
        (released, guarantee, None, "authors must be given with the g"),
        (released, releasing.guarantee(), authors, "authors must be None with the"),
        (released[::-1], guarantee, authors, "one author are from several groups"),
        (released, guarantee, authors[1:], "authors must hold one label per"),
    ):
        with refused(message):
            topic_shares(given, promise, groups=names, authors=of)


@pytest.mark.no_cover
def test_many_documents_and_a_single_one() -> None:
    releasing = replacer()
    many = np.repeat(releasing.groups_, [125_000, 75_000, 50_000])
    shares = shares_of(many, releasing)
    assert (shares.high - shares.low).max() < 0.007
    assert (shares.low <= shares.unbiased).all()
    assert (shares.unbiased <= shares.high).all()
    one = shares_of(["pets"], releasing)
    assert (one.low.tolist(), one.high.tolist()) == ([0.0] * 3, [1.0] * 3)


def test_printed_interval_is_no_narrower() -> None:
    shares = shares_of(["rail"] * 7 + ["pets"] * 4, replacer())
    lines = str(shares).splitlines()[1:4]
    for line, low, high in zip(lines, shares.low, shares.high, strict=True):
        _, left, right = re.findall(r"([\d.]+)%", line)
        assert float(left) <= 100 * low + 1e-9
        assert float(right) >= 100 * high - 1e-9


GUARANTEE = replacer().guarantee()
NONE = replacer(epsilon=1e-17).guarantee()  # answers depend on nothing
NAMES = ["pets", "food", "rail"]


@refusals(
    (["pets", "tea"], GUARANTEE, {"groups": NAMES}, "one at position 1 is not one"),
    ([], GUARANTEE, {"groups": NAMES}, "one or more labels"),
    (["pets"], GUARANTEE, {"groups": ["pets"]}, "groups must hold the labels of"),
    (["pets", "food"], GUARANTEE, {}, "Pass all of them as groups"),
    (["pets"], GUARANTEE.compose(2), {"groups": NAMES}, "of one release, got one of 2"),
    (NAMES, NONE, {}, "depend on .* got 1e-17"),
)
def test_bad_input(released: Any, guarantee: Any, options: dict) -> None:
    topic_shares(released, guarantee, **options)


@pytest.mark.parametrize("epsilon", [1e-15, 1e-9])
def test_shares_exist_wherever_answers_depend_on_documents(epsilon: float) -> None:
    released = ["pets", "pets", "food", "rail"]
    shares = shares_of(released, replacer(epsilon=epsilon))
    assert np.abs(shares.unbiased).max() > 1e7
    assert shares.shares.tolist() == [0, 1, 0]
    assert (shares.low.tolist(), shares.high.tolist()) == ([0, 0, 0], [1, 1, 1])
