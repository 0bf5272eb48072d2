"""What the library does, in figures that outlive its code: recorded, then compared.

One command, some 5 minutes of one core; every call is public, every seed fixed::

    python benchmarks/record.py              writes benchmarks/results/record.json
    python benchmarks/record.py --compare    exit 1 if a figure left its tolerance

Recorded are, on SMS, tweets, docstrings and fan fiction, for noisy words and for
stand-ins: balanced accuracy, the share of documents that are identified, words changed,
exponents and calibrated ε; and what a learned model keeps. Parts may be named, as in
``record.py --compare words standins``.

A figure that rests on draws has its sampling error next to it, and two of them may
differ by four standard errors of the difference, for a seed may come to draw other
noise. Other figures may differ by a part: exact ones by 1e-6, exponents with δ by 7%.
Data is read from the folder named by SKDPTEXT_TEST_DATA, or ../shared/data.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import measuring
import numpy as np
from real_data import (
    DATA,
    GLOVE,
    GOOGLE,
    pieces,
    read_docstrings,
    read_sms,
    read_stories,
    read_tweets,
)
from results import RESULTS, cell, record
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WordEmbedding,
)
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.model_selection import calibrate_epsilon

RELEASES = 8  # of the same documents, with other noise
TEST, CANDIDATES = 500, 100
SIGMAS = 4.0
EXACT, WITH_DELTA = 1e-6, 0.07
FORMS: dict[str, dict[str, Any]] = {
    "noise": {"lam": 0.5},
    "exponential": {"lam": 0.0, "mechanism": "exponential"},
}
Figure = dict[str, Any]


def calibrated(perturber: Any, public: Any, seed: int, share: float = 0.5) -> float:
    """The ε at which this share of the words of public text changes."""
    return calibrate_epsilon(
        perturber, share, documents=public, tuned_on="public", random_state=seed
    ).epsilon


def figure(name: str, value: Any, error: Any = 0.0, part: float = 0.0) -> Figure:
    """A figure, with its sampling error or the part of it that may be missed."""
    tolerance = SIGMAS * math.sqrt(2) * error + part * abs(value)
    row: Figure = {"figure": name, "value": float(value), "error": float(error)}
    return measuring.shown([row | {"tolerance": float(tolerance)}])[0]


def share(name: str, hits: Any) -> Figure:
    """The mean of hits or chances, one a trial."""
    return figure(name, np.mean(hits), binomial(np.mean(hits), len(hits)))


def binomial(mean: Any, n: Any) -> Any:
    """The standard error of a share, which is never 0."""
    near = (mean * n + 1) / (n + 2)
    return np.sqrt(near * (1 - near) / n)


# -- texts -----------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    return re.findall(r"(?u)\b\w\w+\b", re.sub(r"https?://\S+", " ", text).lower())


def stories() -> tuple[Any, ...]:
    """Pieces of 200 words of the five fandoms that have most, and who wrote them."""
    rows = [story for story in read_stories() if story["author"] is not None]
    names, sizes = np.unique([story["topic"] for story in rows], return_counts=True)
    often = set(names[np.argsort(-sizes)[:5]])
    rows = [story for story in rows if story["topic"] in often]
    texts, of = pieces([story["text"] for story in rows])
    labels = ([rows[i][key] for i in of] for key in ("topic", "author"))
    return texts, *labels


# How to read it, its vectors, words of a bag, and ε at which half of the words change.
READ: dict[str, tuple[Any, ...]] = {
    "SMS": (read_sms, GOOGLE, 10, 38.0, 3.15),
    "tweets": (read_tweets, GOOGLE, 10, 38.0, 3.15),
    "docstrings": (read_docstrings, GLOVE, 40, 11.0, 2.4),
    "fan fiction": (stories, GLOVE, 100, 11.0, 2.4),
}


@dataclass(frozen=True)
class Corpus:
    """2,500 documents, each once: public ones, some to train on, and 500 to test on."""

    texts: list[str]
    topics: np.ndarray
    writers: np.ndarray | None
    embedding: WordEmbedding
    length: int
    epsilon: dict[str, float]

    def of(self, which: str) -> tuple[list[str], np.ndarray]:
        n = len(self.texts) - TEST
        start, stop = {
            "public": (0, n // 2), "train": (n // 2, n), "test": (n, n + TEST),
        }[which]  # fmt: skip
        return self.texts[start:stop], self.topics[start:stop]

    def perturber(self, form: str, **options: Any) -> DPWordPerturber:
        given = FORMS[form] | {"epsilon": self.epsilon[form]} | options
        return DPWordPerturber(self.embedding, **given).fit([])

    def redrawn(self, form: str, **options: Any) -> DPWordPerturber:
        length = {"document_length": self.length, "resize": "sample"}
        return self.perturber(form, **length, **options)

    def known(self, texts: list[str]) -> list[list[str]]:
        return [[w for w in t.split() if w in self.embedding] for t in texts]


@cache
def corpus(name: str) -> Corpus:
    read, file, length, *epsilon = READ[name]
    texts, topics, *writers = read()
    first: dict[str, int] = {}
    for i, text in enumerate(texts):
        words = words_of(text)[:200]
        if len(words) > 2:
            first.setdefault(" ".join(words), i)
    order = np.random.default_rng(0).permutation(len(first))[: 2000 + TEST]
    rows = np.array(list(first.values()))[order]
    return Corpus(
        [list(first)[i] for i in order],
        np.asarray(topics).astype(str)[rows],
        np.asarray(writers[0])[rows] if writers else None,
        WordEmbedding.load(DATA / file, n_words=2000),
        length,
        dict(zip(FORMS, epsilon, strict=True)),
    )


def corpora() -> Iterator[tuple[str, Corpus]]:
    return ((name, corpus(name)) for name in READ)


# -- what is kept, and what is shown ---------------------------------------------------


def accuracy(name: str, told: list[Any], truth: np.ndarray) -> Figure:
    """Balanced accuracy, its mean over releases: test documents and noise are drawn."""
    kinds, n = np.unique(truth, return_counts=True)
    right = np.array(
        [[np.mean((one == truth)[truth == k]) for k in kinds] for one in told]
    )
    of_documents = binomial(right.mean(axis=0), n * len(told))
    errors = (
        math.sqrt((of_documents**2).sum()) / len(n),
        right.mean(axis=1).std(ddof=1) / math.sqrt(len(told)),
    )
    return figure(f"{name}: balanced accuracy", right.mean(), max(errors))


def chances(scores: np.ndarray) -> list[float]:
    """Of each document the chance to be picked among 100; equals are guessed among."""
    found: list[float] = []
    for start in range(0, TEST, CANDIDATES):
        rows = slice(start, start + CANDIDATES)
        best = scores[rows, rows] == scores[rows, rows].max(axis=1, keepdims=True)
        found += (np.diag(best) / best.sum(axis=1)).tolist()
    return found


def identified(name: str, texts: list[str], releaser: Any) -> Figure:
    """The share that is identified among 100."""
    likely = releaser.log_likelihood(texts, releaser.transform(texts))
    return share(f"{name}: identified, likelihood", chances(likely))


def linear() -> Any:
    return make_pipeline(
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(class_weight="balanced", max_iter=1000),
    )


def words() -> Iterator[Figure]:
    """Noisy words."""
    for name, data in corpora():
        (train, of_train), (test, of_test) = data.of("train"), data.of("test")
        for form in FORMS:
            what, told = f"{name}, {form}", []
            for seed in range(RELEASES):
                noisy = data.redrawn(form, random_state=seed)
                model = linear().fit(noisy.transform(train), of_train)
                told.append(model.predict(noisy.transform(test)))
            yield accuracy(what, told, of_test)
            yield identified(what, test, noisy)
            if data.writers is not None:
                writers, n = data.writers, len(train)
                koppel = KoppelAuthorClassifier(random_state=0)
                koppel.fit(train, writers[-TEST - n : -TEST])
                noisy = data.redrawn(form, output="text", random_state=0)
                guesses = koppel.predict(noisy.transform(test))
                yield share(f"{what}: author identified", guesses == writers[-TEST:])
            clear = [words for words in data.known(test) if words]
            before, other = np.concatenate(clear), []
            for seed in range(RELEASES):
                ordered = data.perturber(form, output="tokens", random_state=seed)
                after = np.concatenate(ordered.transform(clear))
                other.append((before != after).mean())
            mean = np.mean(other)
            error = max(np.std(other, ddof=1), binomial(mean, len(before)))
            yield figure(f"{what}: words changed", mean, error / math.sqrt(RELEASES))


def standins() -> Iterator[Figure]:
    """Stand-ins, without labels and with those of public text."""
    for name, data in corpora():
        (public, of_public), (test, of_test) = data.of("public"), data.of("test")
        reader = make_pipeline(CountVectorizer(), linear()).fit(public, of_public)
        ways: dict[str, dict[str, Any]] = {
            "stand-ins": {"n_groups": 8},
            "labeled stand-ins": {"public_labels": of_public},
        }
        for way, options in ways.items():
            what, told = f"{name}, {way}", []
            for seed in range(RELEASES):
                replacer = DPDocumentReplacer(
                    public, epsilon=4.0, random_state=seed, **options
                ).fit()
                told.append(reader.predict(replacer.transform(test)))
            yield accuracy(what, told, of_test)
            yield identified(what, test, replacer)
            promise = replacer.guarantee()
            pairs = zip(test[:50], test[50:100], strict=True)
            mean = np.mean([promise.exponent(*pair) for pair in pairs])
            yield figure(f"{what}: mean exponent of two documents", mean, part=EXACT)
            most = promise.found_at_most(CANDIDATES)
            yield figure(f"{what}: identified at most", most, part=EXACT)


def learning() -> Iterator[Figure]:
    """A model from one noisy sum over all documents."""
    for name, data in corpora():
        public, (test, of_test) = data.of("public")[0], data.of("test")
        told = []
        for seed in range(RELEASES):
            learner = DPTextClassifier(
                public, epsilon=1.0, delta=1e-6, random_state=seed,
                classes=np.unique(data.topics).tolist(),
            ).fit(*data.of("train"))  # fmt: skip
            told.append(np.asarray(learner.predict(test)))
        yield accuracy(f"{name}, learned at ε = 1", told, of_test)


# -- what is proven, and calibrated ----------------------------------------------------


def exponents() -> Iterator[Figure]:
    """Means over pairs of words, and of documents of equal length."""
    for name, data in corpora():
        n = data.length
        known = [one[:n] for one in data.known(data.texts) if len(one) >= n][:60]
        pairs = list(zip(known[::2], known[1::2], strict=True))
        single = [(x[0], y[0]) for x, y in pairs if x[0] != y[0]]
        changed = [(x, [y[0], *x[1:]]) for x, y in pairs]
        for form in FORMS:
            ordered = data.perturber(form, output="tokens").guarantee()
            redrawn = data.redrawn(form).guarantee()
            for what, promise, of in (
                ("two words", ordered, single),
                ("two ordered documents", ordered, pairs),
                ("two redrawn bags", redrawn, pairs),
                ("a changed word of a redrawn bag", redrawn, changed),
            ):
                key = f"{name}, {form}: exponent of {what}"
                mean = np.mean([promise.exponent(*pair) for pair in of])
                yield figure(key, mean, part=EXACT)
                found = [promise.exponent(*pair, delta=1e-6) for pair in of[:10]]
                yield figure(f"{key}, δ = 1e-6", np.mean(found), part=WITH_DELTA)


def calibration() -> Iterator[Figure]:
    """ε for half of the words of public text to change."""
    for name, data in corpora():
        public = data.of("public")[0][:500]
        for form in FORMS:
            noisy = data.perturber(form)
            found = [calibrated(noisy, public, seed) for seed in range(3)]
            error = max(np.std(found, ddof=1) / math.sqrt(3), 0.003 * found[0])
            what = f"{name}, {form}: ε for half of the words"
            yield figure(what, np.mean(found), error)


# -- one file --------------------------------------------------------------------------

ROWS: list[Figure] = []
PARTS = {
    part.__name__: lambda _, part=part: ROWS.extend(part())
    for part in (words, standins, learning, exponents, calibration)
}


def compared(rows: list[Figure]) -> int:
    """Print each figure next to the stored one; how many left their tolerance."""
    stored = json.loads((RESULTS / "record.json").read_text(encoding="utf-8"))["rows"]
    before, left = {row["figure"]: row for row in stored}, 0
    for row in rows:
        old = before.get(row["figure"])
        if old is None:
            print(f"new   {row['figure']}: {cell(row['value'])}")
            continue
        allowed = max(old["tolerance"], row["tolerance"])
        bad = abs(row["value"] - old["value"]) > allowed
        left += bad
        print(f"{'LEFT ' if bad else 'same '} {row['figure']}: {cell(old['value'])} → "
              f"{cell(row['value'])} (± {cell(allowed)})")  # fmt: skip
    return left


def main() -> None:
    options = measuring.options(__doc__, PARTS, compare=False)
    if options.compare:
        left = compared(ROWS)
        print(f"{left} of {len(ROWS)} figures left their tolerance")
        sys.exit(left > 0)
    if options.parts:
        return  # to look at
    record(
        "record",
        ROWS,
        title="Figures that changes of the code must keep",
        note=(
            "Of 2,500 documents of each corpus 1,000 are public, 1,000 to train on and "
            "500 to test on. Noise: λ = 0.5; exponential: λ = 0; half of the words "
            "change. Identified: of 100 candidates, by likelihood. Stand-ins: ε = 4; "
            "8 groups, or those of public labels; read by a model of public text. "
            "Error: of sampling. Tolerance: four errors of a difference, or a part of "
            "the figure."
        ),
    )


if __name__ == "__main__":
    main()
