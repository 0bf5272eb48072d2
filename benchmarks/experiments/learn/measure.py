"""Balanced accuracy of what is learned, by us and by others, on the test thirds."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from experiments import kept
from experiments.learn.corpora import Case, Split, drawn_authors, split
from measuring import peak_mb
from peers import ask
from real_data import DATA, GOOGLE, numbered_words, vectors
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer, DPTextClassifier, WordEmbedding
from skdptext.metrics import label_scores
from skdptext.preprocessing import MeanVectorEncoder

DRAWS = 3
N_GROUPS = {"docstrings": 50}  # of stand-ins; 8 elsewhere
LOCAL = 4.0
SCORES = ("balanced", "accuracy", "precision")
WORDS, COUNTED = 2000, 20
SCRIPT = Path(__file__).resolve().parents[2] / "learn_peer.py"


@kept
def learned(case: Case, seed: int) -> list[dict[str, Any]]:
    """Scores for each draw of authors and noise: of the model, and of its corpus."""
    parts = split(case.corpus, seed)
    found = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, draw])
        authors = drawn_authors(case, len(parts.private), rng)
        authors = parts.authors if authors is None else authors
        people = parts.private if authors is None else np.unique(authors)
        n_classes = int(parts.topic.max()) + 1
        # not all of those who might write do
        options: dict[str, Any] = {"n_expected": case.authors or len(people)}
        if case.guess is not None:
            # of people, each with the classes of all
            rarest = np.bincount(parts.topic).min() * len(people) / len(parts.topic)
            options["n_rarest"] = max(1, round(rarest * case.guess))
        model = DPTextClassifier(
            parts.public,
            embedding=vectors(case.corpus) if case.vectors else None,
            epsilon=case.epsilon,
            classes=range(n_classes),
            **options,
        ).fit(parts.private, parts.topic, authors=authors)
        row = {"corpus": scores(by_words().fit(*model.sample()), parts)}
        for priors in ("equal", "released"):
            row[priors] = scores(model.set_params(priors=priors), parts)
        found.append(row)
    return found


def scores(model: Any, parts: Split) -> dict[str, float]:
    """Of a model on the test third."""
    return scores_of(model.predict(parts.test), parts.test_topic)


def scores_of(guess: Any, truth: np.ndarray) -> dict[str, float]:
    """Balanced accuracy, accuracy and the precision of the rarest class."""
    return dict(zip(SCORES, label_scores(truth, guess).values(), strict=True))


def by_words() -> Any:
    """What anyone may train on a labeled corpus."""
    return make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=10.0, max_iter=1000, class_weight="balanced"),
    )


@kept
def in_clear(name: str, seed: int) -> dict[str, dict[str, float]]:
    """Without noise on labels: private texts, public labels, and stand-ins."""
    parts = split(name, seed)
    replacer = DPDocumentReplacer(
        parts.public,
        n_groups=N_GROUPS.get(name, 8),
        epsilon=LOCAL,
    )
    stand_ins = replacer.fit().transform(parts.private)
    return {
        "clear": scores(by_words().fit(parts.private, parts.topic), parts),
        "public labels": scores(
            by_words().fit(parts.public, parts.public_topic), parts
        ),
        "stand-ins": scores(by_words().fit(stand_ins, parts.topic), parts),
    }


@kept
def noisy_counts(name: str, epsilon: float, seed: int) -> dict[str, float]:
    """Naive Bayes of noisy counts of public words, of 20 different ones a document."""
    parts, rng = split(name, seed), np.random.default_rng([seed, 7])
    counter = CountVectorizer(max_features=WORDS, binary=True).fit(parts.public)
    bags = counter.transform(parts.private).tolil()
    table = np.zeros((parts.topic.max() + 1, bags.shape[1]))
    for columns, topic in zip(bags.rows, parts.topic, strict=True):
        chosen = np.array(columns, dtype=int)
        if len(chosen) > COUNTED:
            chosen = rng.choice(chosen, COUNTED, replace=False)
        table[topic, chosen] += 1
    table += rng.laplace(scale=COUNTED / epsilon, size=table.shape)
    shares = np.maximum(table, 0) + COUNTED / epsilon
    shares /= shares.sum(axis=1, keepdims=True)
    guess = (counter.transform(parts.test) @ np.log(shares).T).argmax(axis=1)
    return scores_of(guess, parts.test_topic)


@kept
def by_diffprivlib(name: str, epsilons: list[float], seed: int) -> dict[str, Any]:
    """Its classifiers on the same vectors, `DRAWS` fits for each ε; None without it."""
    parts = split(name, seed)
    encoder = MeanVectorEncoder(vectors(name)).fit(parts.public)
    request = {
        "epsilons": epsilons,
        "draws": DRAWS,
        "X": encoder.transform(parts.private).tolist(),
        "y": parts.topic.tolist(),
        "test": encoder.transform(parts.test).tolist(),
    }
    try:
        answer = ask("diffprivlib", SCRIPT, request)
    except RuntimeError as error:
        return {"absent": str(error)}
    return {
        model: {
            epsilon: [scores_of(guess, parts.test_topic) for guess in guesses]
            for epsilon, guesses in by_epsilon.items()
        }
        for model, by_epsilon in answer.items()
    }


# -- a million documents --------------------------------------------------------------


@kept
def million(vectors: bool, n: int) -> dict[str, float]:
    """Processor time and memory of a fit, in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(_fit_many, vectors, n).result()


def _fit_many(with_vectors: bool, n: int) -> dict[str, float]:
    path, rng = DATA / GOOGLE, np.random.default_rng(0)
    table = WordEmbedding.load(path) if path.exists() else numbered_words(
        rng.normal(size=(8000, 300))
    )  # fmt: skip
    words = table.word_array
    weights = 1 / np.arange(10, len(words) + 10)
    weights /= weights.sum()

    def texts(n: int, seed: int) -> Iterator[str]:
        rng = np.random.default_rng(seed)
        for start in range(0, n, 1000):
            some = rng.choice(words, (min(1000, n - start), 20), p=weights)
            yield from map(" ".join, some.tolist())

    public = list(texts(2000, 1))
    given = {"embedding": table} if with_vectors else {"delta": 0}
    model = DPTextClassifier(public, n_expected=n, classes=[0, 1], **given)
    labels, authors = rng.integers(2, size=n), rng.integers(n // 5, size=n)
    model.fit(texts(10, 3), labels[:10], authors=authors[:10])  # public part: once
    start = time.process_time()
    for _ in texts(n, 2):
        pass
    made, before = time.process_time() - start, peak_mb()
    start = time.process_time()
    model.fit(texts(n, 2), labels, authors=authors)
    spent = time.process_time() - start - made
    return {"seconds": spent, "before": before, "peak": peak_mb()}
