"""`calibrate_epsilon`: the share asked for, and the share changed in a text.

One command::

    python benchmarks/bench_calibrate.py [--words 3000] [--texts 800]

On the embeddings and texts in the folder named by SKDPTEXT_TEST_DATA, or
../shared/data; those that are missing are left out. One BLAS thread, some 5 minutes.
Two tables are recorded.

*Asked and achieved*: half of the words are to change. ε is calibrated by every word of
the embedding once, and by one half of the texts; the other half is then released, and
the words that changed are counted. The noise takes whole embeddings, of which 1,500
words by chance stand for "every word once"; the exponential mechanism the first
``--words`` words.

*A rule for newcomers*: for shares from a quarter to three quarters, ε as calibrated by
text; the median exponents that are proven between a word and its nearest other one and
a random one; and the balanced accuracy of a linear model that is trained on one half as
released and tested on the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import measuring
import numpy as np
from real_data import (
    DATA,
    GLOVE,
    GOOGLE,
    SMS,
    TWEETS,
    W2V,
    absent,
    read_sms,
    read_tweets,
)
from results import record
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstrings
from skdptext.mechanisms import Exponential, MahalanobisNoise, WordMechanism
from skdptext.model_selection import calibrate_epsilon
from skdptext.search import k_nearest_words

MECHANISMS: tuple[tuple[str, WordMechanism, float], ...] = (
    ("noise, λ = 0.5", MahalanobisNoise(), 0.5),
    ("noise, λ = 0", MahalanobisNoise(), 0.0),
    ("exponential, λ = 0", Exponential(), 0.0),
)
SHARES = (0.25, 0.5, 0.75)
Texts = tuple[list[str], np.ndarray]


def docstrings() -> Texts:
    corpus = load_docstrings()
    texts = [" ".join(text.split()[:60]) for text in corpus.data]
    return texts, np.asarray(corpus.target)


TEXTS: dict[str, tuple[str | None, Callable[[], Texts]]] = {
    "SMS": (SMS, read_sms),
    "tweets": (TWEETS, read_tweets),
    "docstrings": (None, docstrings),
}


def halves(texts: Texts, n: int) -> tuple[Texts, Texts]:
    """Two halves of `n` texts, by chance."""
    documents, labels = texts
    rows = np.random.default_rng(0).permutation(len(documents))[:n]
    return tuple(  # type: ignore[return-value]
        ([documents[i] for i in part], labels[part]) for part in np.array_split(rows, 2)
    )


def perturber(
    table: WordEmbedding, mechanism: WordMechanism, lam: float, epsilon: float = 2.0
) -> DPWordPerturber:
    return DPWordPerturber(
        table, mechanism=mechanism, lam=lam, epsilon=epsilon, output="tokens"
    ).fit([])


def changed(fitted: DPWordPerturber, documents: list[str]) -> tuple[float, float]:
    """Share of the words of a release that changed, and its standard error."""
    before = np.concatenate(fitted.known_words(documents))
    after = np.concatenate(fitted.transform(documents))
    share = float((before != after).mean())
    return share, float(np.sqrt(share * (1 - share) / len(before)))


def asked(
    name: str, whole: WordEmbedding, texts: dict[str, tuple[Texts, Texts]], n: int
) -> Iterator[dict[str, object]]:
    for label, mechanism, lam in MECHANISMS:
        exact = isinstance(mechanism, Exponential)
        table = whole.restrict(min(n, len(whole))) if exact else whole
        by_words = None
        for text, (ours, theirs) in texts.items():
            for counted in ("every word once", "text"):
                start = time.perf_counter()
                calibration = by_words
                if counted == "text" or calibration is None:
                    given: dict[str, object] = {"documents": ours[0]}
                    if counted != "text":
                        rng = np.random.default_rng(0)
                        ids = rng.permutation(len(table))[:1500]
                        given = {"words": table.word_array[ids].tolist()}
                    calibration = calibrate_epsilon(
                        perturber(table, mechanism, lam), 0.5, statistic="changed",
                        tuned_on="public", random_state=0, confidence=0.5, **given,
                    )  # fmt: skip
                    seconds = time.perf_counter() - start
                if counted != "text":
                    words_seconds = seconds if by_words is None else 0
                    by_words = calibration
                fitted = perturber(table, mechanism, lam, calibration.epsilon)
                share, error = changed(fitted, theirs[0][:250])
                error = float(np.hypot(error, calibration.standard_error))
                yield {
                    "embedding": name, "words": len(table), "mechanism": label,
                    "text": text, "counted": counted, "ε": calibration.epsilon,
                    "asked, %": 50, "changed, %": 100 * share,
                    "standard error, %": 100 * error,
                    "s": seconds if counted == "text" else words_seconds or None,
                }  # fmt: skip


def exponents(fitted: DPWordPerturber) -> tuple[float, float]:
    """Medians of what is proven to the nearest other word and to a random one."""
    vectors = fitted.embedding_.vectors
    rng = np.random.default_rng(0)
    ids = rng.permutation(len(vectors))[:300]
    near = k_nearest_words(vectors[ids], vectors, 1, exclude=ids)[0][:, 0]
    far = (ids + rng.integers(1, len(vectors), len(ids))) % len(vectors)
    of = fitted.mechanism_.exponents
    medians = [float(np.median(np.diag(of(ids, other)))) for other in (near, far)]
    return medians[0], medians[1]


def accuracy(train: Texts, test: Texts, table: WordEmbedding, release: object) -> float:
    model = make_pipeline(
        TfidfTransformer(sublinear_tf=True),
        LogisticRegression(class_weight="balanced", max_iter=1000),
    )
    model.fit(release(train[0]), train[1])  # type: ignore[operator]
    return float(balanced_accuracy_score(test[1], model.predict(release(test[0]))))  # type: ignore[operator]


def rule(
    name: str, table: WordEmbedding, texts: dict[str, tuple[Texts, Texts]]
) -> Iterator[dict[str, object]]:
    for text, (ours, theirs) in texts.items():
        clear = perturber(table, MahalanobisNoise(), 0.0, 1e6).set_params(output="bow")
        best = accuracy(ours, theirs, table, clear.fit([]).transform)
        guess = 1 / len(np.unique(ours[1]))
        for label, mechanism, lam in MECHANISMS:
            for share in SHARES:
                epsilon = calibrate_epsilon(
                    perturber(table, mechanism, lam), share, statistic="changed",
                    documents=ours[0], tuned_on="public", random_state=0,
                    confidence=0.5,
                ).epsilon  # fmt: skip
                fitted = perturber(table, mechanism, lam, epsilon)
                near, far = exponents(fitted)
                bow = fitted.set_params(output="bow").fit([])
                yield {
                    "embedding": name, "text": text, "mechanism": label,
                    "changed, %": 100 * share, "ε": epsilon,
                    "exponent to the nearest word": near,
                    "to a random word": far,
                    "accuracy": accuracy(ours, theirs, table, bow.transform),
                    "in clear": best, "by guessing": guess,
                }  # fmt: skip


def main() -> None:
    options = measuring.options(__doc__, words=3000, texts=800)
    texts = {
        name: halves(read(), options.texts)
        for name, (file, read) in TEXTS.items()
        if file is None or not absent(file)
    }
    real = {name: texts[name] for name in ("SMS", "tweets") if name in texts}
    tables = {
        file.removesuffix(".npz"): WordEmbedding.load(DATA / file)
        for file in (W2V, GOOGLE, GLOVE)
        if not absent(file)
    }
    parts = {
        name: table.restrict(min(options.words, len(table)))
        for name, table in tables.items()
    }
    rows: list[dict[str, object]] = []
    for name, table in tables.items():
        rows += measuring.shown(asked(name, table, real, options.words))
    if not rows:
        return
    record(
        "calibrate",
        rows,
        title="calibrate_epsilon: asked for, and changed in a text",
        note=(
            "ε for half of the words to change, by 100 draws or exactly. Texts: "
            f"{options.texts} by chance, one half to calibrate on, 250 of the "
            "other released and counted. The standard error is that of both. One "
            'thread of a busy machine; the time of "every word once" is spent once '
            "an embedding."
        ),
    )
    rows = []
    for name, part in parts.items():
        rows += measuring.shown(rule(name, part, texts))
        record(
            "calibrate_rule",
            rows,
            title="What a share of changed words costs, and what it proves",
            note=(
                f"First {options.words:,} words; {options.texts} texts, of the "
                "docstrings their first 60 words; one half to calibrate and train "
                "on, the other to test on, both as released. Medians of the proven "
                "exponents over 300 words. Balanced accuracy of TF-IDF and "
                "logistic regression, one release each."
            ),
        )


if __name__ == "__main__":
    main()
