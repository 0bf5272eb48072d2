"""What groupings keep, by public text alone: against enumeration and simulation."""

from __future__ import annotations

import gzip
import inspect
import itertools
import json

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer
from skdptext.datasets import load_docstrings
from skdptext.exceptions import InvalidParameterError
from skdptext.preprocessing import TopicEncoder
from skdptext.replacement import compare_groupings
from tests.expected import no_warning
from tests.replacement.conftest import texts_of

HALVES = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]


@pytest.fixture(scope="module")
def many():
    return texts_of(60, 0)


@pytest.fixture(scope="module")
def compared(many):
    texts, topics = many
    return compare_groupings(
        texts, topics, n_groups=[2, 3, 5], epsilon=[1.0, 3.0], cv=3
    )


class Spy(ClusterMixin, BaseEstimator):
    """Groups by the length of a text; keeps what it learned from."""

    def __init__(self, learned=None):
        self.learned = learned

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        self.learned.append(list(X))
        return self

    def predict(self, X):
        return np.array([len(text) % 3 for text in X])


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore:Some of the documents to be released")
def test_accuracy_is_that_of_releases(many):
    """What is computed without noise, against many releases and a slow reading."""
    texts, topics = many
    comparison = compare_groupings(
        texts, topics, {"words": TopicEncoder(2)}, n_groups=4, epsilon=1.2, cv=HALVES
    )
    (row,) = comparison.rows
    rights = []
    replacer = DPDocumentReplacer(
        texts, row.grouper, epsilon=1.2, output="group",
        random_state=np.random.default_rng(0),
    ).fit()  # fmt: skip
    channel = np.ones((4, 4)) + np.eye(4) * np.expm1(1.2)
    channel /= channel.sum(axis=1, keepdims=True)
    for train, test in HALVES:
        public = replacer.public_groups_[train]
        best = {}
        for z in range(4):
            chances = {}
            for topic in sorted(set(topics)):
                groups = public[topics[train] == topic]
                shares = (np.bincount(groups, minlength=4) + 0.25) / (len(groups) + 1)
                chances[topic] = sum(shares[g] * channel[g, z] for g in range(4))
            best[replacer.groups_[z]] = max(chances, key=chances.get)
        n = 300
        asked = [texts[i] for i in test] * n
        said = np.array([best[z] for z in replacer.transform(asked)])
        right = (said == np.tile(topics[test], n)).reshape(n, -1).mean(axis=0)
        rights.append(
            np.mean([right[topics[test] == name].mean() for name in set(topics)])
        )
    # 18,000 draws: a standard error of at most .0038; five of them
    assert row.score == pytest.approx(np.mean(rights), abs=0.02)
    assert row.without_noise > row.score > 1 / 3
    assert row.found_at_most == replacer.guarantee().found_at_most(100)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "accuracy"])
def test_the_start_that_keeps_most_is_offered(scoring):
    """Each start of k-means is scored, by its groups of all documents."""
    texts, topics = texts_of(60, 2)
    # few of one topic, so that documents and labels do not count alike
    texts = texts + [texts[i] for i in np.flatnonzero(topics == "pets")]
    topics = np.concatenate([topics, topics[topics == "pets"]])
    rng = np.random.default_rng(0)
    texts = [f"{text} w{rng.integers(4)}" for text in texts]
    folds = np.array_split(rng.permutation(len(texts)), 3)
    splits = [(np.setdiff1d(np.arange(len(texts)), test), test) for test in folds]
    vectors = TopicEncoder(4).fit_transform(texts)
    channel = np.ones((5, 5)) + np.eye(5) * np.expm1(2.0)
    channel /= channel.sum(axis=1, keepdims=True)
    names = sorted(set(topics))
    balanced = scoring == "balanced_accuracy"
    scores = []
    for start in range(12):
        groups = KMeans(5, n_init=1, random_state=7 + start).fit(vectors).labels_
        accuracies = []
        for train, test in splits:
            table = np.array(
                [
                    [np.mean(np.append(groups[train][topics[train] == name] == g, 0.2))
                     for g in range(5)]
                    for name in names
                ]
            )  # fmt: skip
            if not balanced:
                table = table * [[np.mean(topics[train] == name)] for name in names]
            read = (table @ channel).argmax(axis=0)
            right = np.array(
                [
                    channel[groups[i], [names[r] == topics[i] for r in read]].sum()
                    for i in test
                ]
            )
            each = [right[topics[test] == name].mean() for name in names]
            accuracies.append(np.mean(each) if balanced else right.mean())
        scores.append(np.mean(accuracies))
    assert max(scores) > scores[0] + 0.005  # there is something to choose
    options = {"n_groups": 5, "epsilon": 2.0, "cv": splits, "random_state": 7}
    for n in (12, 1):
        comparison = compare_groupings(
            texts, topics, {"words": TopicEncoder(4)}, scoring=scoring, n_starts=n,
            **options,
        )  # fmt: skip
        (row,) = comparison.rows
        assert row.score == pytest.approx(max(scores[:n]), rel=1e-9)
        # equal groups may differ in the last digit
        assert scores[row.grouper[-1].random_state - 7] == pytest.approx(row.score)
    assert comparison.criterion == scoring.replace("_", " ")
    share = np.mean(topics == "pets")
    assert comparison.chance == pytest.approx(1 / 3 if balanced else share)
    # without labels k-means chooses by its own criterion
    (row,) = compare_groupings(
        texts, groupers={"words": TopicEncoder(4)}, n_starts=12, **options
    ).rows
    assert (row.grouper[-1].n_init, row.grouper[-1].random_state) == (12, 7)


def halves(text):
    """Each half of eight words, and the other one."""
    words = text.split()
    return [(words[:4], words[4:]), (words[4:], words[:4])]


def by_enumeration(texts, train, test, grouper, channel, priors):
    """Nats per word for each prior, by loops over documents, words and releases."""
    grouper.fit([texts[i] for i in train])
    pairs = [half for i in train for half in halves(texts[i])]
    groups = grouper.predict([" ".join(seen) for seen, _ in pairs])
    every = [w for _, other in pairs for w in other]
    frequency = {w: every.count(w) / len(every) for w in set(every)}
    of_group = [
        [
            w
            for (_, other), h in zip(pairs, groups, strict=True)
            if h == g
            for w in other
        ]
        for g in range(3)
    ]
    own = [(len(words) + 1 / 3) / (len(every) + 1) for words in of_group]
    asked = [half for i in test for half in halves(texts[i])]
    groups_asked = grouper.predict([" ".join(seen) for seen, _ in asked])
    nats = []
    for prior in priors:
        chance = [
            {w: (words.count(w) + prior * frequency[w]) / (len(words) + prior)
             for w in frequency}
            for words in of_group
        ]  # fmt: skip
        total = n_words = 0.0
        for g, (_, other) in zip(groups_asked, asked, strict=True):
            for w in other:
                n_words += w in frequency
                for z in range(3) if w in frequency else ():
                    joint = [own[h] * channel[h, z] for h in range(3)]
                    mixed = sum(joint[h] / sum(joint) * chance[h][w] for h in range(3))
                    total += channel[g, z] * np.log(mixed / frequency[w])
        nats.append(total / n_words)
    return nats


@pytest.mark.no_cover
@pytest.mark.parametrize("few", [False, True])
def test_nats_per_word_by_enumeration(many, few):
    """Each split takes the prior that is best for what its learning withholds."""
    texts, _ = many
    if few:  # without those of a fold, two are left, which are no three groups
        texts = texts[:6]
    grouper = make_pipeline(CountVectorizer(), KMeans(3, n_init=3, random_state=0))
    folds = np.arange(len(texts)) % 3
    rows = np.arange(len(texts))
    splits = [(rows[folds != i], rows[folds == i]) for i in range(3)]
    comparison = compare_groupings(
        texts, groupers={"counts": grouper}, epsilon=2.0, cv=splits
    )
    (row,) = comparison.rows
    assert comparison.criterion == "nats per word"
    assert comparison.chance == 0
    channel = (np.ones((3, 3)) + np.eye(3) * np.expm1(2.0)) / (np.exp(2.0) + 2)
    priors = 10 ** np.arange(1, 7.5, 0.5)
    scores, chosen = [], []
    for i, (train, test) in enumerate(splits):
        withheld = folds == (i + 1) % 3  # as the next split does
        left = rows[~withheld & (folds != i)]
        if few:
            chosen.append(4 * 4 * 2)  # all words, of two halves of four documents
        else:
            likelihoods = by_enumeration(
                texts, left, rows[withheld], grouper, np.eye(3), priors
            )
            chosen.append(priors[np.argmax(likelihoods)])
        scores += by_enumeration(texts, train, test, grouper, channel, chosen[-1:])
    assert row.score == pytest.approx(np.mean(scores), rel=1e-9)
    assert not np.isnan(row.low)
    if not few:
        assert max(chosen) < 1000
        assert row.without_noise > row.score > 0


def test_intervals_are_no_narrower_for_more_splits_of_the_same_texts():
    """50 splits into halves shrank an interval to an eighth of that of 5."""
    texts, topics = texts_of(60, 0)
    topics = np.random.default_rng(0).permutation(topics)  # with nothing to be learned
    widths = []
    for n_splits in (5, 50):
        cv = ShuffleSplit(n_splits, test_size=0.5, random_state=0)
        (row,) = compare_groupings(
            texts, topics, {"t": TopicEncoder(2)}, n_groups=3, epsilon=2.0, cv=cv,
            n_starts=1, random_state=0,
        ).rows  # fmt: skip
        widths.append(row.high - row.low)
    # Student's quantiles, 2.78 and 2.01, times √(1/k + 1), of spreads that are alike
    assert widths[1] > widths[0] / 2


def docstrings():
    return [" ".join(text.split()[:300]) for text in load_docstrings().data[::8]]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("fan fiction", 60),
        pytest.param("fan fiction", 200, marks=pytest.mark.slow),
        pytest.param("docstrings", None, marks=pytest.mark.slow),
    ],
)
def test_noise_tells_nothing(source, n, request):
    """On real text, long and of few documents, as where a small prior fails.

    With 1,000 words for all texts, releases of fan fiction kept most at ε = 2, and less
    than nothing without noise.
    """
    if source == "docstrings":
        texts = docstrings()
    else:
        path = request.getfixturevalue("data_file")("pan19_fanfiction_en.jsonl.gz")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["text"] for line in itertools.islice(file, n)]
    epsilons = [1.0, 2.0, 4.0, 8.0, 20.0]
    rows = compare_groupings(
        texts, groupers={"topics": TopicEncoder(10)}, n_groups=[2, 8], cv=4, n_starts=2,
        epsilon=epsilons,
    ).rows  # fmt: skip
    for k in (2, 8):
        mine = [row for row in rows if row.n_groups == k]
        scores = np.array([*(row.score for row in mine), mine[0].without_noise])
        # half of an interval of 95 % is about three standard errors; the same splits
        # are compared, so that a tenth of one is enough
        errors = np.array([(row.high - row.low) / 2 for row in mine]) / 3
        assert (np.diff(scores) > -errors / 10).all()
        assert scores[-1] > 0
        best = max(mine, key=lambda row: row.score)
        assert best.epsilon >= 8


@pytest.mark.no_cover
def test_words_choose_the_number_of_topics():
    """Without labels, and for token lists, topics are told from lengths of texts."""
    texts, _ = texts_of(150, 3)
    lists = [text.split() for text in texts]
    groupers = {"topics": make_pipeline(TopicEncoder(2), KMeans(3, random_state=0))}
    groupers["noise"] = Spy(learned=[])
    for documents in (texts, lists):
        comparison = compare_groupings(documents, groupers=groupers, cv=3)
        topics, noise = comparison.rows
        assert topics.score > 0.1 > 0.01 > abs(noise.score)
        assert comparison.best() is topics


@pytest.mark.parametrize("kind", ["clusters", "classifier"])
def test_labels_of_what_is_asked_are_never_learned(many, kind):
    """Random labels and a grouper that can learn them by heart: nothing is kept.

    Had the groups or the reading been learned from the documents that are asked, the
    accuracy would be near 1.
    """
    texts, _ = many
    random = np.random.default_rng(1).permutation(np.repeat(["a", "b"], 30))
    unique = [f"{text} w{i}" for i, text in enumerate(texts)]
    groupers = {
        "clusters": {"many": TopicEncoder(10, min_df=1)},
        "classifier": {
            "heart": make_pipeline(CountVectorizer(), LogisticRegression(C=1e4))
        },
    }[kind]
    comparison = compare_groupings(unique, random, groupers, n_groups=25, epsilon=9.0)
    (row,) = comparison.rows
    # 60 coins: a standard error of .065; four of them
    assert row.without_noise == pytest.approx(0.5, abs=0.26)
    heart = next(iter(groupers.values()))
    if kind == "classifier":
        assert (heart.fit(unique, random).predict(unique) == random).all()


def test_only_public_documents_come_in(many):
    """There is no place to put the documents to be protected, by mistake or not."""
    names = list(inspect.signature(compare_groupings).parameters)
    assert names[:2] == ["public_documents", "public_labels"]
    assert not {"X", "y", "documents", "protected"} & set(names)
    texts, topics = many
    learned: list[list[str]] = []
    splits = list(GroupKFold(3).split(texts, topics, np.repeat(range(6), 10)))
    compare_groupings(texts, topics, {"spy": Spy(learned)}, cv=splits)
    assert learned.pop() == texts  # it learns no labels
    compare_groupings(texts, groupers={"spy": Spy(learned)}, cv=splits)
    for i, (train, _) in enumerate(splits):
        withheld = splits[(i + 1) % 3][1]  # by authors, too
        assert learned[2 * i] == [texts[j] for j in np.setdiff1d(train, withheld)]
        assert learned[2 * i + 1] == [texts[j] for j in train]
    learned.clear()
    compare_groupings(texts, groupers={"spy": Spy(learned)}, cv=splits[:1])
    train = [texts[j] for j in splits[0][0]]
    assert learned[1] == train
    assert len(learned[0]) == 32  # no other split: a fifth of 40 is withheld by chance
    assert set(learned[0]) < set(train)


def test_best_is_the_best_within_what_may_be_found(compared):
    frame = pandas.DataFrame(compared.rows)
    assert len(frame) == len(compared.rows) == (4 * 3 + 1) * 2
    assert compared.chance == pytest.approx(1 / 3)
    for limit in (0.02, 0.03, 0.1):
        best = compared.best(limit)
        within = frame[frame.found_at_most <= limit]
        assert best.score == within.score.max()
        assert best.found_at_most <= limit
    assert compared.best(0.1, epsilon=2.0).epsilon == 1.0
    tied = frame[(frame.name == best.name) & (frame.n_groups == best.n_groups)]
    assert tied.score.is_monotonic_increasing  # in ε
    with pytest.raises(InvalidParameterError, match=r"found must be at least 0\.01"):
        compared.best(0.001)
    with pytest.raises(InvalidParameterError, match="epsilon must be at least 1"):
        compared.best(epsilon=0.5)


@pytest.mark.no_cover
def test_the_chosen_grouper_is_ready_for_a_replacer(many, compared):
    texts, topics = many
    by_labels = [row for row in compared.rows if row.uses_labels]
    assert {row.n_groups for row in by_labels} == {3}
    for row in (compared.best(), by_labels[0], compared.rows[0]):
        replacer = DPDocumentReplacer(
            texts, row.grouper, epsilon=row.epsilon,
            public_labels=topics if row.uses_labels else None,
        ).fit()  # fmt: skip
        assert replacer.n_groups_ == row.n_groups
        assert replacer.guarantee().found_at_most(100) == row.found_at_most


def test_sentences(compared):
    first, *others, last = compared.sentences(0.03)
    best = compared.best(0.03)
    assert first.startswith("Where nobody may find more than 3% of 100 candidates, ")
    assert f"{best.name} with {best.n_groups} groups at ε = {best.epsilon:g}" in first
    assert len(others) == 4
    assert last.startswith("Accuracy of the public labels")
    assert "26 settings" in repr(compared)
    assert str(compared).startswith("- Where nobody may find more than 10%")
    assert "found_at_most" in compared._repr_html_()
    few = compare_groupings(
        *texts_of(30, 4),
        {"two": TopicEncoder(2), "nine": DoesNotFit(9)},
        n_groups=2,
        epsilon=6.0,
        cv=2,
    )
    assert "nine cannot: 8.9% may be found at the least." in few.sentences(0.05)


def test_a_choice_that_keeps_less_than_half_of_what_labels_keep_is_warned_of():
    """Too few groups for the topics, within what may be found."""
    texts, topics = texts_of(60, 9)
    labels = make_pipeline(CountVectorizer(), LogisticRegression())
    groupers = {"numbers": DoesNotFit(2), "labels": labels}
    comparison = compare_groupings(texts, topics, groupers, epsilon=4.0, cv=3)
    numbers, by_labels = comparison.rows
    assert 2 * (numbers.score - 1 / 3) < by_labels.score - 1 / 3
    said = (
        rf"numbers with 2 groups keeps .* {numbers.score:.3g} of {by_labels.score:.3g}"
    )
    with pytest.warns(UserWarning, match=said):
        assert comparison.best(0.02) is numbers
    with pytest.warns(UserWarning, match="less than half"):
        assert "less than half" in comparison.sentences(0.02)[1]
    with no_warning():
        assert comparison.best(0.1) is by_labels
        assert not any("less than half" in line for line in comparison.sentences(0.1))


class DoesNotFit(ClusterMixin, BaseEstimator):
    """As many groups as asked for, whatever the texts."""

    def __init__(self, k=2):
        self.k = k

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.arange(len(X)) % self.k


class Plain(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"public_documents": "a text"}, "public_documents must be a list"),
        ({"public_labels": [1, 2]}, "public_labels must hold one label per"),
        ({"public_labels": ["a"] * 60}, "at least 2 different labels"),
        ({"public_labels": ["a", "b", None] * 20}, "every document .* got 40 for 60"),
        ({"groupers": TopicEncoder(2)}, "groupers must be None or a mapping"),
        ({"groupers": {}}, "groupers must be None or a mapping"),
        ({"groupers": {1: TopicEncoder(2)}}, "names that are str, got an int"),
        ({"groupers": {"a": TopicEncoder}}, "grouper must be an estimator"),
        ({"groupers": {"a": None}}, "got None as grouper 0"),
        ({"groupers": {"a": Plain()}}, "groupers must put .* at least 2 groups"),
        ({"groupers": {"a": Plain()}, "public_labels": None}, "public_labels must be"),
        ({"n_groups": 1}, "n_groups must be an integer >= 2"),
        ({"n_groups": "4"}, "n_groups must be an integer >= 2"),
        ({"n_groups": []}, "n_groups must hold at least one"),
        ({"n_groups": [2, 2.5]}, r"n_groups\[1\] must be an integer"),
        ({"n_groups": 41}, r"n_groups must be at most the number .* \(40\), got 41"),
        ({"n_groups": 9, "public_documents": ["a cat", "a dog", "a cow"] * 20},
         "groups are empty"),
        ({"epsilon": 0}, r"epsilon\[0\] must be"),
        ({"epsilon": [1.0, np.inf]}, r"epsilon\[1\] must be"),
        ({"epsilon": "1"}, r"epsilon\[0\] must be a number"),
        ({"epsilon": bytearray(b"1")}, "epsilon must be a sequence of numbers"),
        ({"n_candidates": 0}, "n_candidates must be an integer >= 1"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": "three"}, "cv must be an integer, a splitter"),
        ({"cv": 31}, "cv must be able to split"),
        ({"cv": []}, "cv must give splits with documents on both sides, got none"),
        ({"cv": [([0, 1], [])]}, "got an empty side"),
        ({"scoring": "f1"}, "scoring must be one of 'balanced_accuracy', 'accuracy'"),
        ({"n_starts": 0}, "n_starts must be an integer >= 1"),
        ({"random_state": -1}, "random_state must be an integer >= 0"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(many, options, message):
    texts, topics = many
    valid = {
        "public_documents": texts,
        "public_labels": topics,
        "groupers": {"a": TopicEncoder(2, min_df=1)},
        "n_groups": 2,
        "cv": 3,
    }
    with pytest.raises(InvalidParameterError, match=message):
        compare_groupings(**valid | options)


def test_documents_without_words_are_refused():
    with pytest.raises(InvalidParameterError, match="must have words, of two letters"):
        compare_groupings(["a b", "c", "d"] * 4, groupers={"a": DoesNotFit()}, cv=2)


def test_a_frozen_grouper_is_not_fitted_again(many):
    texts, topics = many
    fitted = make_pipeline(TopicEncoder(2), KMeans(3, random_state=0)).fit(texts[:40])
    frozen = FrozenEstimator(fitted)
    row = compare_groupings(texts, topics, {"frozen": frozen}, cv=2).rows[0]
    assert row.grouper is frozen
    assert row.n_groups == 3


@pytest.mark.parametrize("labels", [None, [1, 2] * 5])
def test_documents_that_teach_nothing_are_named(labels):
    """By the parameter, and not as the X of an encoder."""
    with pytest.raises(InvalidParameterError, match="public_documents must be enough"):
        compare_groupings(["cat dog"] * 10, labels, cv=2, n_groups=2)
