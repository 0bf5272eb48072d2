"""Adversaries tried on held-out documents, in clear and released."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.utils.parallel import Parallel, delayed

from skdptext.attacks import linear_topic_classifier, paper_adversaries
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.preprocessing import DocumentPreparer
from skdptext.utils import check_integer
from skdptext.utils._labels import as_labels

__all__ = [
    "SEEDS",
    "Adversary",
    "Labels",
    "Tally",
    "Trial",
    "chance_levels",
    "check_adversaries",
    "check_labels",
    "default_adversaries",
    "make_splits",
    "run_trials",
    "shuffled_chance",
    "stands_out",
    "wilson",
]

TARGETS = ("author", "topic")
SEEDS = 2**31 - 1
# How often labels are dealt out anew, to see what chance makes of them.
_SHUFFLES = 199
# A topic that gives so many more of the authors away than if they were dealt out at
# random, and how often chance may do as much.
_CONFOUNDED, _BY_CHANCE = 0.1, 0.05
Split = tuple[np.ndarray, np.ndarray]


class Adversary(NamedTuple):
    """An unfitted classifier, and what it is after."""

    name: str
    model: Any
    target: str  # one of TARGETS


class Labels(NamedTuple):
    """What the adversaries want to know; topics may be missing."""

    author: np.ndarray
    topic: np.ndarray | None

    def of(self, target: str) -> np.ndarray:
        labels = self.author if target == "author" else self.topic
        assert labels is not None
        return labels


class Trial(NamedTuple):
    """One set of documents to fit on, and what is then attacked, all in one order.

    Every adversary is fitted once per split, and answers for all of `attacked`.
    """

    known: Any
    attacked: Sequence[Any]
    adversaries: Sequence[Adversary]


class Tally:
    """How often each document was held out, and attributed rightly."""

    def __init__(self, n_documents: int) -> None:
        self.tries = np.zeros(n_documents)
        self.hits = np.zeros(n_documents)

    def add(self, rows: np.ndarray, correct: np.ndarray) -> None:
        np.add.at(self.tries, rows, 1)
        np.add.at(self.hits, rows, correct)

    def accuracy(self) -> tuple[float, int]:
        """Mean over the documents that were held out, each of which counts once."""
        tried = self.tries > 0
        shares = self.hits[tried] / self.tries[tried]
        return float(shares.mean()), int(tried.sum())


def default_adversaries(
    embedding: WordEmbedding,
    *,
    as_text: bool,
    with_topics: bool,
    n_known: int,
    random_state: int,
) -> list[Adversary]:
    """Those of the 2019 paper as far as they are installed, and linear models.

    `as_text`: documents are strings with words unknown to the embedding. `n_known`:
    documents that the smallest fit gets.
    """
    fasttext = find_spec("floret") is not None
    paper = paper_adversaries(
        embedding,
        topic_model="fasttext" if fasttext else "linear",
        random_state=random_state,
    )
    if not fasttext:
        del paper["DRtopic"]
    paper["SRtopic"].set_params(n_neighbors=min(5, n_known))
    linear = linear_topic_classifier(embedding)
    if as_text:
        # words as the release spells them; of those without a vector, none
        preparer = DocumentPreparer(
            embedding,
            lowercase=False,
            stop_words=None,
            token_pattern=r"\S+",
            output="bow",
        )
        for name in ("SRauth", "SRtopic"):
            paper[name] = make_pipeline(preparer, paper[name])
        every_word = CountVectorizer(lowercase=False, token_pattern=r"\S+")
        linear = make_pipeline(every_word, *(step for _, step in linear.steps[1:]))
    models = paper | {"linear author": linear, "linear topic": linear}
    order = ("SRauth", "DRauth", "linear author", "SRtopic", "DRtopic", "linear topic")
    found = [
        Adversary(name, models[name], "topic" if name.endswith("topic") else "author")
        for name in order
        if name in models
    ]
    return [a for a in found if with_topics or a.target == "author"]


def check_adversaries(adversaries: Any, with_topics: bool) -> list[Adversary]:
    """The user's own, as name to (classifier, target)."""
    rule = "adversaries must map names to pairs of a classifier and 'author' or 'topic'"
    if not isinstance(adversaries, dict) or not adversaries:
        raise InvalidParameterError(f"{rule}, got {adversaries!r:.80}.")
    found = []
    for name, pair in adversaries.items():
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not hasattr(pair[0], "predict")
            or pair[1] not in TARGETS
        ):
            raise InvalidParameterError(f"{rule}, got {pair!r:.80} for {name!r}.")
        if pair[1] == "topic" and not with_topics:
            raise InvalidParameterError(
                f"topics must be given for adversary {name!r}, which is after them, "
                "got None."
            )
        found.append(Adversary(str(name), pair[0], pair[1]))
    return found


def make_splits(
    cv: Any, authors: np.ndarray, groups: Any, random_state: int
) -> list[Split]:
    """Known and held-out rows of each split; authors are spread over the folds."""
    if groups is not None and np.shape(groups) != authors.shape:
        raise InvalidParameterError(
            f"groups must hold one group per document ({len(authors)}), got shape "
            f"{np.shape(groups)}."
        )
    smallest = int(np.unique(authors, return_counts=True)[1].min())
    if cv is None or isinstance(cv, int):
        n_splits = min(5, smallest) if cv is None else check_integer("cv", cv, low=2)
        if smallest < max(2, n_splits):
            raise InvalidParameterError(
                "each author must have at least as many documents as there are "
                f"splits ({max(2, n_splits)}), got an author with {smallest}: give cv, "
                "or leave out who wrote too little."
            )
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(n_splits, shuffle=True, random_state=random_state)
    try:
        splitter = check_cv(cv, authors, classifier=True)
        found = splitter.split(np.zeros(len(authors)), authors, groups)
        splits = [(np.asarray(known), np.asarray(held)) for known, held in found]
    except ValueError as error:
        raise InvalidParameterError(f"cv must split the documents: {error}") from None
    for known, held in splits:
        if not len(held) or len(np.unique(authors[known])) < 2:
            raise InvalidParameterError(
                "cv must leave documents of at least 2 authors to know and at least "
                f"one document to attack in each split, got {len(known)} and "
                f"{len(held)}."
            )
        if np.intersect1d(known, held).size:
            raise InvalidParameterError(
                "cv must not give an adversary the documents that it is tried on."
            )
        # scikit-learn passes groups over where a splitter does not ask for them
        if (
            groups is not None
            and np.intersect1d(np.asarray(groups)[known], np.asarray(groups)[held]).size
        ):
            raise InvalidParameterError(
                "cv must keep the documents of a group together where groups are given."
            )
    return splits


def run_trials(
    trials: Sequence[Trial],
    splits: Sequence[Split],
    labels: Labels,
    n_jobs: int | None,
) -> list[list[list[Tally]]]:
    """A tally for each trial, adversary and set of attacked documents."""
    n_documents = len(labels.author)
    tallies = [
        [[Tally(n_documents) for _ in trial.attacked] for _ in trial.adversaries]
        for trial in trials
    ]
    places = [
        (t, a, s)
        for t, trial in enumerate(trials)
        for a in range(len(trial.adversaries))
        for s in range(len(splits))
    ]
    answers = Parallel(n_jobs=n_jobs)(
        delayed(_attack)(trials[t], trials[t].adversaries[a], splits[s], labels)
        for t, a, s in places
    )
    for (t, a, s), correct in zip(places, answers, strict=True):
        for tally, marks in zip(tallies[t][a], correct, strict=True):
            tally.add(splits[s][1], marks)
    return tallies


def _attack(
    trial: Trial, adversary: Adversary, split: Split, labels: Labels
) -> list[np.ndarray]:
    """Which held-out documents one adversary gets right, in each attacked set."""
    known, held = split
    wanted = labels.of(adversary.target)
    with warnings.catch_warnings():
        # documents without words are told once, by the report
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        if len(np.unique(wanted[known])) == 1:  # a single topic is no question
            guesses = [np.full(len(held), wanted[known][0])] * len(trial.attacked)
        else:
            model = clone(adversary.model).fit(take(trial.known, known), wanted[known])
            guesses = [model.predict(take(data, held)) for data in trial.attacked]
    return [np.asarray(guess) == wanted[held] for guess in guesses]


def take(documents: Any, rows: np.ndarray) -> Any:
    """Rows of bags, or of a list of texts."""
    if sp.issparse(documents):
        return documents[rows]
    return [documents[i] for i in rows]


def wilson(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval for a share of n."""
    z2 = stats.norm.ppf((1 + confidence) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = np.sqrt(z2 * share * (1 - share) / n + z2**2 / (4 * n**2)) / (1 + z2 / n)
    return float(max(0.0, centre - margin)), float(min(1.0, centre + margin))


def chance_levels(labels: np.ndarray, other: np.ndarray | None) -> dict[str, float]:
    """Accuracy of answers that do not look at the text.

    "majority": always the most frequent label; "uniform": any label at random;
    "from_other": the most frequent label among documents of the same other label.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    found = {
        "majority": counts.max() / len(labels),
        "uniform": 1 / len(classes),
        "from_other": np.nan,
    }
    if other is not None:
        found["from_other"] = _share_from_other(codes, _codes(other))
    return {name: float(value) for name, value in found.items()}


def shuffled_chance(
    labels: np.ndarray,
    other: np.ndarray,
    groups: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """ "from_other" for labels that were dealt out anew: what it is by chance alone.

    Labels are permuted over the documents, or over groups that have one label each.
    """
    codes, other_codes = _codes(labels), _codes(other)
    first, unit = np.arange(len(codes)), np.arange(len(codes))
    if groups is not None:
        _, at, number = np.unique(groups, return_index=True, return_inverse=True)
        if (codes == codes[at][number]).all():
            first, unit = at, number
    return np.array(
        [
            _share_from_other(rng.permutation(codes[first])[unit], other_codes)
            for _ in range(_SHUFFLES)
        ]
    )


def stands_out(share: float, shuffled: np.ndarray) -> bool:
    """By much, and not by chance: a permutation test, which counts the truth along."""
    chance = (1 + (shuffled >= share).sum()) / (1 + len(shuffled))
    return bool(share > shuffled.mean() + _CONFOUNDED and chance <= _BY_CHANCE)


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


def _share_from_other(codes: np.ndarray, other_codes: np.ndarray) -> float:
    """Documents with the most frequent label of their other label."""
    n_classes, n_others = codes.max() + 1, other_codes.max() + 1
    cells, counts = np.unique(other_codes * n_classes + codes, return_counts=True)
    most = np.zeros(n_others, dtype=np.int64)
    np.maximum.at(most, cells // n_classes, counts)
    return float(most.sum() / len(codes))


def check_labels(name: str, values: Any, n_documents: int) -> np.ndarray:
    """One label per document, of at least two kinds."""
    labels = as_labels(name, values)
    if labels.shape != (n_documents,):
        raise InvalidParameterError(
            f"{name} must hold one label per document ({n_documents}), got shape "
            f"{labels.shape}."
        )
    kinds = np.unique(labels)
    if len(kinds) < 2:
        raise InvalidParameterError(
            f"{name} must hold at least 2 different labels, got {kinds.tolist()}."
        )
    return labels
