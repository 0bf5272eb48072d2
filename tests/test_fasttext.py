"""The papers' fastText classifier predicts as fastText itself does."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.fasttext import FastTextClassifier

from skdptext import WordEmbedding

RNG = np.random.default_rng(0)
TABLE = WordEmbedding([f"w{i}" for i in range(40)], RNG.normal(size=(40, 6)))
# Documents on three topics, each of which favours a third of the words.
FAVOURED = np.arange(40) // 13 == np.arange(120)[:, None] % 3
BAGS = np.array([RNG.multinomial(25, w / w.sum()) for w in 1 + 3 * FAVOURED])
Y = np.array(["water", "air", "fire"])[np.arange(120) % 3]


@pytest.mark.slow  # `make test-slow` installs floret
def test_predicts_as_floret_does(monkeypatch):
    """The best label and its probability, which floret's wheel does get right."""
    floret = pytest.importorskip("floret")
    models, train = [], floret.train_supervised
    monkeypatch.setattr(
        floret, "train_supervised", lambda **o: models.append(train(**o)) or models[-1]
    )
    ours = FastTextClassifier(TABLE).fit(BAGS[:80], Y[:80])
    assert ours.score(BAGS[80:], Y[80:]) > 0.7
    coded = [" ".join(map(str, np.repeat(np.arange(40), bag))) for bag in BAGS]
    labels, shares = models[0].predict(coded)
    mine = ours.predict_proba(BAGS)
    best = [int(name[0].removeprefix("__label__")) for name in labels]
    assert best == mine.argmax(axis=1).tolist()
    # fastText adds 1e-5 before it takes a logarithm
    np.testing.assert_allclose(mine.max(axis=1), np.ravel(shares) - 1e-5, atol=1e-5)
