"""Whose is it, and what is it about? Classifiers that learn from other documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.parallel import Parallel, delayed

from skdptext.attacks._folds import Split, make_folds, near_copies
from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._similarity import bags_of, numbered, parts_of_words, words_of
from skdptext.attacks._table import Score, scored, strongest_of
from skdptext.base import BaseReleaser
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import pair_interval, progress, quiet

_FOLDS = 5

Known = tuple[Sequence[Any], np.ndarray]


class Guesser(NamedTuple):
    """An unfitted classifier, and documents as it reads them.

    `known` are other texts in the clear. One that is `informed` knows the mechanism: it
    learns from originals, and reads releases only.
    """

    model: Any
    originals: Any
    releases: Any
    known: Any
    informed: bool = False


def label_scores(
    texts: ReleasedTexts,
    labels: np.ndarray,
    target: str,
    mechanism: Any,
    *,
    known: Known | None = None,
    n_jobs: int | None = None,
) -> list[Score]:
    """How often the label of a release is guessed, from other documents' labels.

    Each adversary is trained on other documents, in the clear, and again on their
    releases. All are asked about releases, and those of the clear about originals.
    """
    count = max(Counter(labels.tolist()).values())
    splits = make_folds(
        labels, near_copies(texts.clear), min(_FOLDS, count), texts.seed
    )
    guessers = _guessers(texts, mechanism, [] if known is None else list(known[0]))
    more = None if known is None else known[1]
    trials = [
        (name, guesser, source, split)
        for name, guesser in guessers.items()
        for source in ("originals", "releases")[: 1 if guesser.informed else 2]
        for split in splits
    ]
    usual = {"always the most frequent": _usual(labels, splits)}
    right = {part: dict(usual) for part in ("originals", "releases")}
    with quiet(Warning):
        answers = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_attack)(guesser, source, labels, more, *split)
            for _, guesser, source, split in trials
        )
        steps = progress(trials, f"{target} adversaries")
        for (name, _, source, (_, held)), answer in zip(steps, answers, strict=True):
            for part, marks in answer.items():
                by = f"{name}, trained on {source}"
                right[part].setdefault(by, np.zeros(len(labels)))[held] = marks
    halves = texts.halves
    best = strongest_of(right["originals"], halves)
    clear = float(right["originals"][best][halves.scoring].mean())
    knows = {name: name.partition(", trained on ")[2] for name in right["releases"]}
    rows = scored(
        target, right["releases"], halves, count / len(labels),
        interval=pair_interval, knows=knows,
    )  # fmt: skip
    return [replace(row, clear=clear) for row in rows]


def _attack(
    guesser: Guesser,
    source: str,
    labels: np.ndarray,
    more: np.ndarray | None,
    learn: np.ndarray,
    held: np.ndarray,
) -> dict[str, np.ndarray]:
    """Which held-out documents are named rightly, of all that is asked."""
    known, asked = _rows(getattr(guesser, source), learn), ["releases"]
    if source == "originals" and not guesser.informed:
        asked.append("originals")
    learned = labels[learn]
    if more is not None:
        known, learned = _joined(known, guesser.known), np.concatenate([learned, more])
    with quiet(Warning):
        if len(np.unique(learned)) == 1:  # a single label leaves nothing to learn
            return dict.fromkeys(asked, labels[held] == learned[0])
        model = clone(guesser.model).fit(known, learned)
        return {
            part: model.predict(_rows(getattr(guesser, part), held)) == labels[held]
            for part in asked
        }


def _rows(documents: Any, rows: np.ndarray) -> Any:
    """Rows of bags, or of a list of texts."""
    if hasattr(documents, "shape"):
        return documents[rows]
    return [documents[i] for i in rows]


def _joined(first: Any, second: Any) -> Any:
    """Two parts of documents, one after the other."""
    if sp.issparse(first):
        return sp.vstack([first, second], format="csr")
    return list(first) + list(second)


def _usual(labels: np.ndarray, splits: Sequence[Split]) -> np.ndarray:
    """Where the most frequent label of the other folds is right."""
    right = np.zeros(len(labels))
    for learn, held in splits:
        usual = Counter(labels[learn].tolist()).most_common(1)[0][0]
        right[held] = labels[held] == usual
    return right


def _guessers(
    texts: ReleasedTexts, mechanism: Any, more: list[Any]
) -> dict[str, Guesser]:
    """All adversaries."""
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    def linear() -> Any:
        model = LinearSVC(tol=1e-2, random_state=texts.seed)
        return make_pipeline(TfidfTransformer(sublinear_tf=True), model)

    # empty texts have a word of their own, as some adversaries want one in each
    documents = texts.clear, texts.noisy, list(map(words_of, more))
    words, coded = numbered(*([text or ["∅"] for text in part] for part in documents))
    counts = [bags_of(codes, len(words)) for codes in coded]
    of_word = parts_of_words(words)
    parts = [sp.csr_array(bags @ of_word) for bags in counts]
    guessers = {
        "linear model of words": Guesser(linear(), *counts),
        "linear model of parts of words": Guesser(linear(), *parts),
        "naive Bayes": Guesser(MultinomialNB(alpha=0.1), *counts),
    }
    if isinstance(mechanism, BaseReleaser):
        bayes = ChannelNaiveBayes(mechanism, random_state=texts.seed)
        guessers["naive Bayes with the mechanism"] = Guesser(
            bayes, texts.original, texts.released, more, informed=True
        )
    return guessers
