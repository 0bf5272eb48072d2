"""`calibrate_epsilon`: the share asked for, and the share changed in a text.

One command::

    python benchmarks/bench_calibrate.py [--words 3000] [--texts 800]

On the embeddings and texts in the folder named by SKDPTEXT_TEST_DATA, or
../shared/data; those that are missing are left out. One BLAS thread, some 6 minutes.
Two tables are recorded.

*Asked and achieved*: half of the words are to change. ε is calibrated by every word of
the embedding once (1,500 words by chance), and by half of the ``--texts``; all other
texts of the corpus are then released, and the words that changed are counted. The noise
takes whole embeddings, the exponential mechanism the first ``--words`` words.

*A rule for newcomers*: for shares from a quarter to three quarters, ε as calibrated by
text; the median exponents that are proven between a word and its nearest other one and
a random one; and the balanced accuracy of a linear model that is trained on one half as
released and tested on the other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import measuring
import numpy as np
from real_data import DATA, GLOVE, GOOGLE, W2V, absent
from record import READ, calibrated, linear, words_of
from results import record
from sklearn.metrics import balanced_accuracy_score

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.embeddings import k_nearest_words
from skdptext.mechanisms import Exponential, MahalanobisNoise

MECHANISMS = (
    ("noise, λ = 0.5", MahalanobisNoise(), 0.5),
    ("noise, λ = 0", MahalanobisNoise(), 0.0),
    ("exponential, λ = 0", Exponential(), 0.0),
)
SHARES = (0.25, 0.5, 0.75)
Texts = tuple[list[str], np.ndarray]


def halves(name: str, n: int) -> tuple[Texts, ...]:
    """Two halves of `n` texts by chance, and the rest; of each the first 60 words."""
    texts, labels = READ[name][0]()
    rows = np.random.default_rng(0).permutation(len(texts))
    return tuple(
        ([" ".join(words_of(texts[i])[:60]) for i in part], np.asarray(labels)[part])
        for part in np.split(rows, [n // 2, n])
    )


def perturber(
    table: WordEmbedding,
    mechanism: Any,
    lam: float,
    epsilon: float = 2.0,
    **output: Any,
) -> DPWordPerturber:
    options = {"mechanism": mechanism, "lam": lam, "epsilon": epsilon} | output
    return DPWordPerturber(table, **options).fit([])


def asked(
    name: str, whole: WordEmbedding, texts: dict[str, tuple[Texts, ...]], n: int
) -> Iterator[dict[str, object]]:
    for label, mechanism, lam in MECHANISMS:
        exact = isinstance(mechanism, Exponential)
        table = whole.restrict(min(n, len(whole))) if exact else whole
        ids = np.random.default_rng(0).permutation(len(table))[:1500]
        every = [[word] for word in np.array(table.words)[ids].tolist()]
        for text, (ours, theirs, rest) in texts.items():
            held_out = [*theirs[0], *rest[0]]
            clear = [[w for w in one.split() if w in table] for one in held_out]
            lengths = np.array([len(one) for one in clear])
            for counted, by in (("every word once", every), ("text", ours[0])):
                start = time.process_time()
                epsilon = calibrated(perturber(table, mechanism, lam), by, 0)
                seconds = time.process_time() - start
                noisy = perturber(table, mechanism, lam, epsilon, output="tokens")
                # The words of a text do not change independently.
                changes = np.array(
                    [
                        sum(map(str.__ne__, before, after))
                        for before, after in zip(
                            clear, noisy.transform(clear), strict=True
                        )
                    ]
                )
                share = changes.sum() / lengths.sum()
                error = np.linalg.norm(changes - share * lengths) / lengths.sum()
                yield {
                    "embedding": name, "words": len(table), "mechanism": label,
                    "text": text, "counted": counted, "ε": epsilon, "asked, %": 50,
                    "changed, %": 100 * share,
                    "standard error, %": 100 * error,
                    "CPU s": seconds,
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


def accuracy(train: Texts, test: Texts, release: DPWordPerturber) -> float:
    model = linear().fit(release.transform(train[0]), train[1])
    said = model.predict(release.transform(test[0]))
    return float(balanced_accuracy_score(test[1], said))


def rule(
    name: str, table: WordEmbedding, texts: dict[str, tuple[Texts, ...]]
) -> Iterator[dict[str, object]]:
    for text, (ours, theirs, _) in texts.items():
        clear = perturber(table, MahalanobisNoise(), 0.0, 1e6)
        best, guess = accuracy(ours, theirs, clear), 1 / len(np.unique(ours[1]))
        for label, mechanism, lam in MECHANISMS:
            for share in SHARES:
                fitted = perturber(table, mechanism, lam)
                epsilon = calibrated(fitted, ours[0], 0, share)
                noisy = perturber(table, mechanism, lam, epsilon)
                near, far = exponents(noisy)
                yield {
                    "embedding": name, "text": text, "mechanism": label,
                    "changed, %": 100 * share, "ε": epsilon,
                    "exponent to the nearest word": near,
                    "to a random word": far,
                    "accuracy": accuracy(ours, theirs, noisy),
                    "original text": best, "by guessing": guess,
                }  # fmt: skip


def main() -> None:
    options = measuring.options(__doc__, words=3000, texts=800)
    texts = {
        name: halves(name, options.texts) for name in ("SMS", "tweets", "docstrings")
    }
    real = {name: texts[name] for name in ("SMS", "tweets")}
    tables = {
        file.removesuffix(".npz"): WordEmbedding.load(DATA / file)
        for file in (W2V, GOOGLE, GLOVE)
        if not absent(file)
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
            "ε for half of the words to change. Texts: "
            f"{options.texts // 2} by chance to calibrate on, all others released and "
            "counted; the standard error is by texts, and of the count only. CPU "
            "seconds of one thread, on a busy machine."
        ),
    )
    rows = []
    for name, table in tables.items():
        part = table.restrict(min(options.words, len(table)))
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
