"""Which release protects? One short table.

SMS, tweets, docstrings and fan fiction as ``record.py`` reads them: as written, with
noise on words at several ε, and as stand-ins. A model learns topics from released
training documents, whose labels stay as they are, and reads released test documents. An
adversary who knows the mechanism says which of 100 candidates each of these was. Of
stories, a model of released pieces also names the writer::

    python benchmarks/bench_protection.py

Some three minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import measuring
import numpy as np
from record import TEST, Corpus, binomial, chances, corpora
from results import bracketed
from results import record as write
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer

WORDS = (1.0, 1.5, 2.0, 3.0)  # ε of a unit of distance
STAND_INS = 4.0  # ε of a document


def releases(data: Corpus) -> Iterator[tuple[str, float | None, Any]]:
    """Name, ε and releaser; None for documents as they are."""
    public, topics = data.of("public")
    yield "as written", None, None
    for epsilon in WORDS:
        options = {"epsilon": epsilon, "output": "text", "random_state": 0}
        yield "noisy words", epsilon, data.redrawn("exponential", **options)
    ways = {
        "stand-ins": {"n_groups": 8},
        "stand-ins, labels": {"public_labels": topics},
    }
    for way, options in ways.items():
        replacer = DPDocumentReplacer(
            public, epsilon=STAND_INS, random_state=0, **options
        )
        yield way, STAND_INS, replacer.fit()


def named(
    train: list[str], labels: np.ndarray, test: list[str], truth: np.ndarray
) -> str:
    """Balanced accuracy of a linear model, over the labels of the test documents."""
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=5.0, class_weight="balanced", max_iter=500),
    )
    right = model.fit(train, labels).predict(test) == truth
    kinds, n = np.unique(truth, return_counts=True)
    each = np.array([right[truth == kind].mean() for kind in kinds])
    error = np.sqrt((binomial(each, n) ** 2).sum()) / len(n)
    return with_error(each.mean(), error)


def with_error(value: float, error: float) -> str:
    return bracketed(
        value, max(0.0, value - 1.96 * error), min(1.0, value + 1.96 * error)
    )


def identified(releaser: Any, texts: list[str], released: list[str]) -> str:
    """The share that who knows the mechanism identifies among 100."""
    if releaser is None:
        return "1.00"
    found = np.mean(chances(releaser.log_likelihood(texts, released)))
    return with_error(found, binomial(found, TEST))


def rows() -> Iterator[dict[str, object]]:
    for name, data in corpora():
        (train, of_train), (test, of_test) = data.of("train"), data.of("test")
        for release, epsilon, releaser in releases(data):
            ours, theirs = (
                part if releaser is None else list(releaser.transform(part))
                for part in (train, test)
            )
            row: dict[str, object] = {
                "text": name, "release": release, "ε": epsilon,
                "topic": named(ours, of_train, theirs, of_test),
                "identified": identified(releaser, test, theirs), "author": None,
            }  # fmt: skip
            if data.writers is not None:
                writers = data.writers[-TEST - len(train) :]
                known, asked = writers[: len(train)], writers[len(train) :]
                row["author"] = named(ours, known, theirs, asked)
            yield row


def main() -> None:
    measuring.options(__doc__)
    write(
        "protection",
        measuring.shown(rows()),
        title="Which release protects: topics kept, documents and authors identified",
        note=(
            "Noisy words: the exponential mechanism, ε a unit of distance, 10 words of "
            "a message, 40 of a docstring and 100 of a story. Stand-ins: ε = 4 of a "
            "document, in 8 groups or by public labels. Topic: balanced accuracy of a "
            "linear model that learned from 1,000 released documents and reads 500 "
            "others. Identified: of 100 candidates, by the likelihood. Author: the "
            "writer of a story, by a linear model of released ones; writers count "
            "alike. One release, 95% intervals over documents."
        ),
    )


if __name__ == "__main__":
    main()
