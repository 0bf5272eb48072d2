"""Every interval is calibrated under the null.

Each public function that returns an interval is given what has nothing to do with each
other, so that the truth is known, and its interval must hold it in 95 % of the trials.
`TRIALS` lists them: a new one joins it; shares of topics have tests of their own. Slow
tests count 200 trials of each, in which one that misses in 20 % is found with 0.98;
quick ones five, where these take a second: that finds what misses nearly always. Four
misses of four are no alarm yet. False alarms: 1e-6 for each, at a rate of exactly 5 %.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import MultinomialNB

from skdptext import DPWordPerturber
from skdptext.attacks import linkage_attack
from skdptext.datasets import make_embedding
from skdptext.inspection import release_report
from skdptext.model_selection import search_results
from tests.expected import leaks_allowed

pytestmark = [leaks_allowed, pytest.mark.no_cover]

EMBEDDING = make_embedding(60, 4, n_clusters=4, random_state=0)
SLOW = 200


def texts(rng, n, length=12):
    return [" ".join(words) for words in rng.choice(EMBEDDING.word_array, (n, length))]


def of_linkage(seed):
    source = DPWordPerturber(
        EMBEDDING, epsilon=1e-3, document_length=12, resize="truncate", output="text",
        order="keep",
    )  # fmt: skip
    given = texts(np.random.default_rng(seed), 24)
    released = source.fit_transform(given)
    scores = linkage_attack(given, released, releaser=source, random_state=seed)
    for row in scores.rows:
        yield row.adversary, row.low, row.chance, row.high


def of_a_report(seed):
    rng = np.random.default_rng(seed)
    authors = rng.permutation(np.arange(24) % 2)
    report = release_report(
        texts(rng, 24), texts(rng, 24), authors=authors, random_state=seed
    )
    for name, score in report.scores.items():
        yield name, score.low, score.chance, score.high


def of_people(seed):
    rng = np.random.default_rng(seed)
    report = release_report(
        None, texts(rng, 24), authors=range(24), background=texts(rng, 24),
        background_ids=range(24), random_state=seed,
    )  # fmt: skip
    for name, score in report.scores.items():
        yield name, score.low, score.chance, max(score.high, score.chance)


def of_control(seed):
    """Synthetic texts of which neither list is more like than the other."""
    rng = np.random.default_rng(seed)
    report = release_report(
        texts(rng, 30), texts(rng, 30), control=texts(rng, 40), random_state=seed
    )
    for name, score in report.scores.items():
        yield name, score.low, score.chance, score.high
    yield "ε", report.epsilon, 0.0, np.inf


def of_copies(seed):
    """Texts that are released as they are, but for 3 of 100."""
    rng = np.random.default_rng(seed)
    original = [f"{text}." for text in texts(rng, 12)]
    others = texts(rng, 12)
    copied = rng.random(12) < 0.97
    released = [x if c else y for x, y, c in zip(original, others, copied, strict=True)]
    report = release_report(original, released, random_state=seed)
    for name, score in report.scores.items():
        if name in ("copies", "spans of 5 words"):
            yield name, score.low, 0.97, score.high


def of_a_search(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.poisson(1.0, (60, 20)), rng.integers(0, 2, 60)
    folds = KFold(5), ShuffleSplit(30, test_size=0.5, random_state=seed)
    for cv, ratio in zip(folds, (None, 1.0), strict=True):
        scores = cross_val_score(MultinomialNB(), X, y, cv=cv)
        results = {
            "params": [{"epsilon": 1.0, "lam": 0.5}],
            "mean_test_score": [scores.mean()],
        }
        results |= {f"split{i}_test_score": [x] for i, x in enumerate(scores)}
        search = SimpleNamespace(estimator=DPWordPerturber(), cv_results_=results)
        found = search_results(search, test_over_train=ratio).scores["score"]
        yield type(cv).__name__, found.low[0], 0.5, found.high[0]


# With each, how many trials quick tests count; none of those that take longest.
TRIALS = {
    "linkage_attack": (of_linkage, 5),
    "release_report": (of_a_report, 0),
    "release_report, people": (of_people, 5),
    "release_report, control": (of_control, 5),
    "release_report, copies": (of_copies, 5),
    "search_results": (of_a_search, 5),
}


@pytest.mark.parametrize(
    ("name", "n"),
    [
        *((name, n) for name, (_, n) in TRIALS.items() if n),
        *(pytest.param(name, SLOW, marks=pytest.mark.slow) for name in TRIALS),
    ],
)
def test_intervals_hold_the_truth_in_95_percent(name, n):
    """How often each interval is above the truth or below it."""
    missed = Counter()
    for seed in range(n):
        for interval, low, truth, high in TRIALS[name][0](seed):
            missed[interval] += not low - 1e-12 <= truth <= high + 1e-12
    allowed = binom.isf(1e-6, n, 0.05)
    assert missed
    assert {k: m for k, m in missed.items() if m > allowed} == {}
