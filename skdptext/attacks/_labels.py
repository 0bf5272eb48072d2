"""Whose is it, and what is it about? Classifiers that learn from other documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from skdptext.attacks._fasttext import FastTextClassifier
from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._similarity import bags_of, numbered, parts_of_words, words_of
from skdptext.attacks._table import Score, make_halves, scored, strongest_of
from skdptext.attacks._trials import (
    Asked,
    Split,
    Trial,
    as_released,
    bayes_of_released,
    make_folds,
    near_copies,
    run_trials,
)
from skdptext.base import is_releaser, perturbs_words
from skdptext.documents import read_release
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import OutOfVocabularyWarning, PrivacyLeakWarning
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.neighbors import WMDKNNClassifier
from skdptext.utils import pair_interval, quiet

_FOLDS = 5
# Documents of which each is compared with all others by Word Mover's Distance.
_MOST_COMPARED = 300

Known = tuple[Sequence[Any], np.ndarray]
View = dict[str, list[Any]]


class Guesser(NamedTuple):
    """An unfitted classifier, and documents as it reads them."""

    model: Any
    view: View
    # whether it knows the mechanism: it learns from originals, and reads releases only
    informed: bool = False


class Learning(NamedTuple):
    """Who learns labels, and from which documents.

    Each adversary is trained on other documents, in the clear and whole, and again on
    their releases. `adversaries` are classifiers of bags of the mechanism's words, or
    of texts where it has none; None: the library's own.
    """

    splits: Sequence[Split] | None = None
    adversaries: Mapping[str, Any] | None = None
    trained_on: Sequence[str] = ("originals", "releases")
    known: Known | None = None
    n_jobs: int | None = None


def label_scores(
    texts: ReleasedTexts,
    labels: np.ndarray,
    target: str,
    mechanism: Any,
    learning: Learning,
) -> list[Score]:
    """How often the label of a release is guessed, from other documents' labels."""
    splits, adversaries, _, known, n_jobs = learning
    if splits is None:
        count = max(Counter(labels.tolist()).values())
        groups = near_copies(texts.clear)
        splits = make_folds(labels, groups, min(_FOLDS, count), texts.seed)
    more = [] if known is None else list(known[0])
    if adversaries is None:
        n_known = min(len(learn) for learn, _ in splits)
        guessers = _guessers(target, texts, mechanism, more, n_known)
    else:
        of_words = perturbs_words(mechanism) and mechanism.oov != "keep"
        view = _bags(texts, mechanism, more) if of_words else _whole(texts, more)
        guessers = {name: Guesser(m, view) for name, m in adversaries.items()}
    usual = {"always the most frequent": _usual(labels, splits)}
    right = {part: dict(usual) for part in ("originals", "cut", "releases")}
    trials = _planned(guessers, labels, learning)
    with quiet(Warning):
        answers = run_trials(trials, splits, n_jobs, f"{target} adversaries")
    for (part, name), shares in answers.items():
        right[part][name] = shares
    attacked = np.unique(np.concatenate([np.arange(len(labels))[h] for _, h in splits]))
    halves = make_halves(attacked, texts.seed)
    clear, cut = (
        float(right[part][strongest_of(right[part], halves)][halves.scoring].mean())
        for part in ("originals", "cut")
    )
    chance = max(Counter(labels[attacked].tolist()).values()) / len(attacked)
    knows = {name: name.rpartition(", trained on ")[2] for name in right["releases"]}
    rows = scored(
        target, right["releases"], halves, chance, interval=pair_interval, knows=knows
    )
    return [replace(row, clear=clear, cut=cut) for row in rows]


def _planned(
    guessers: Mapping[str, Guesser], labels: np.ndarray, learning: Learning
) -> list[Trial]:
    """What is fitted and asked; answers belong to a part, and to who learned from what.

    Of what is clear, those are asked who learned from it, also where only releases
    are learned from.
    """
    trials, known = [], learning.known
    for name, guesser in guessers.items():
        view = guesser.view
        more = None if known is None else (view["known"][0], known[1])
        for source in ("originals", "releases")[: 1 if guesser.informed else 2]:
            knows = f"{name}, trained on {source}"
            for learned in view[source]:
                asked: list[Asked] = []
                if source == "originals" and not guesser.informed:
                    for part in ("originals", "cut"):
                        asked.append(((part, knows), view[part][0]))
                if source in learning.trained_on:
                    each = view["releases"] if source == "originals" else [learned]
                    asked += [(("releases", knows), one) for one in each]
                if asked:
                    trials.append(Trial(guesser.model, labels, learned, asked, more))
    return trials


def _usual(labels: np.ndarray, splits: Sequence[Split]) -> np.ndarray:
    """Where the most frequent label of the other folds is right."""
    right = np.full(len(labels), np.nan)
    for learn, ask in splits:
        usual = Counter(labels[learn].tolist()).most_common(1)[0][0]
        right[ask] = labels[ask] == usual
    return right


def _whole(texts: ReleasedTexts, more: list[Any]) -> View:
    """Documents as they are written."""
    return {
        "originals": [list(texts.original)],
        "releases": [*texts.releases],
        "cut": [texts.cut],
        "known": [more],
    }


def _counts(texts: ReleasedTexts, more: list[Any]) -> tuple[View, list[str]]:
    """Counts of all words, and these.

    Empty texts have a word of their own, as some adversaries want one in each.
    """
    documents: View = {
        "originals": [texts.clear],
        "releases": texts.read,
        "cut": [texts.cut],
        "known": [list(map(words_of, more))],
    }
    parts = [(name, part) for name, each in documents.items() for part in each]
    words, coded = numbered(*([text or ["∅"] for text in part] for _, part in parts))
    counts: View = {name: [] for name in documents}
    for (name, _), codes in zip(parts, coded, strict=True):
        counts[name].append(bags_of(codes, len(words)))
    return counts, words


def _bags(texts: ReleasedTexts, mechanism: Any, more: Sequence[Any]) -> View:
    """Bags of the words that the mechanism has vectors of."""
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning):
        fitted = clone(mechanism).set_params(random_state=texts.seed).fit([])
        released = fitted.embedding_
        cut = fitted.prepare(texts.original)
        whole = fitted.set_params(document_length=None)
        return {
            "originals": [whole.prepare(texts.original)],
            "cut": [cut],
            "known": [whole.prepare(more) if more else cut[:0]],
            "releases": [
                read_release(each, released).bags(len(released)).astype(cut.dtype)
                for each in texts.releases
            ],
        }


def _through_noise(
    texts: ReleasedTexts, mechanism: Any, more: list[Any]
) -> View | None:
    """Expected counts of what originals are released as; None where that is unknown."""
    simulated = as_released(mechanism, [*texts.original, *more], texts.seed)
    if simulated is None:
        return None
    (through, words), n = simulated, len(texts)
    releases = [read_release(x, words).bags(len(words)) for x in texts.releases]
    return {"originals": [through[:n]], "known": [through[n:]], "releases": releases}


def _guessers(
    target: str, texts: ReleasedTexts, mechanism: Any, more: list[Any], n_known: int
) -> dict[str, Guesser]:
    """The library's own."""
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    seed = texts.seed

    def linear() -> Any:
        model = LinearSVC(tol=1e-2, random_state=seed)
        return make_pipeline(TfidfTransformer(sublinear_tf=True), model)

    counts, words = _counts(texts, more)
    of_word = parts_of_words(words)
    parts = {
        name: [sp.csr_array(count @ of_word) for count in each]
        for name, each in counts.items()
    }
    names = WordEmbedding(words, np.zeros((len(words), 1)))
    guessers = {
        "linear model of words": Guesser(linear(), counts),
        "linear model of parts of words": Guesser(linear(), parts),
        "naive Bayes": Guesser(MultinomialNB(alpha=0.1), counts),
    }
    if target == "author":
        koppel = KoppelAuthorClassifier(names, random_state=seed)
        guessers["Koppel"] = Guesser(koppel, counts)
    if find_spec("floret") is not None:
        fasttext = FastTextClassifier(names, random_state=seed)
        guessers["fastText"] = Guesser(fasttext, counts)
    informed = "naive Bayes with the mechanism"
    if perturbs_words(mechanism):
        nearest = None
        if mechanism.oov != "keep" and len(texts) <= _MOST_COMPARED:
            nearest = _nearest(mechanism, 1 if target == "author" else min(5, n_known))
        if nearest is not None:
            view = _bags(texts, mechanism, more)
            guessers["nearest texts"] = Guesser(nearest, view)
        through = _through_noise(texts, mechanism, more)
        if through is not None:
            guessers[informed] = Guesser(bayes_of_released(), through, informed=True)
    elif is_releaser(mechanism):
        bayes = ChannelNaiveBayes(mechanism)
        guessers[informed] = Guesser(bayes, _whole(texts, more), informed=True)
    return guessers


def _nearest(mechanism: Any, n_neighbors: int) -> Any:
    """The nearest texts by Word Mover's Distance, of words that have vectors."""
    with quiet(PrivacyLeakWarning):
        fitted = clone(mechanism).fit([])
    if isinstance(fitted.embedding, str):
        return None
    return WMDKNNClassifier(fitted.embedding_, n_neighbors=n_neighbors)
