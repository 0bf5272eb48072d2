"""Is it found out which texts a generator was trained on? `release_report(control=)`.

Generators that need no language model, honest and leaking (`generators.py`), are
trained on texts of which as many others are held back::

    python benchmarks/bench_synthetic.py [generators] [alarms]

``generators``: what a report says of each, on messages and tweets. ``alarms``: how
often it accuses an honest one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import measuring
import numpy as np
from generators import HONEST, LEAKING, Generator
from real_data import SMS, TWEETS, absent, read_sms, read_tweets
from results import bracketed, record

from skdptext.inspection import release_report

CORPORA: dict[str, tuple[str, Callable[[], tuple[list[str], Any]]]] = {
    "SMS": (SMS, read_sms),
    "tweets": (TWEETS, read_tweets),
}
N_TEXTS, N_PUBLIC, N_TRIALS, FEWEST_WORDS = 500, 1000, 200, 6
COPIED = "copies beyond control: spans of 5 words"


@cache
def long_enough(name: str) -> list[str]:
    """The distinct texts of a corpus with some words."""
    texts, _ = CORPORA[name][1]()
    return [t for t in dict.fromkeys(texts) if len(t.split()) >= FEWEST_WORDS]


def attacked(name: str, generator: Generator, n: int, seed: int) -> Any:
    """A report on texts that a generator made of n texts, with n others as control."""
    rng = np.random.default_rng(seed)
    texts = long_enough(name)
    order = rng.permutation(len(texts))[: 2 * n + N_PUBLIC]
    training, control, public = (
        [texts[i] for i in part] for part in np.split(order, [n, 2 * n])
    )
    synthetic = generator(training, public, rng)
    return release_report(training, synthetic, control=control, random_state=seed)


def shown(score: Any) -> str:
    """A score with its interval."""
    return bracketed(score.value, score.low, score.high, 2)


def table_of_generators(_: Any) -> None:
    """Record what is found of each generator."""
    if absent(SMS, TWEETS):
        return
    rows = []
    for corpus in CORPORA:
        for name, generator in {**LEAKING, **HONEST}.items():
            report = attacked(corpus, generator, N_TEXTS, 0)
            scores = report.scores
            rows.append(
                {
                    "texts": corpus,
                    "generator": name,
                    "leaks": name in LEAKING,
                    "used, told of two": shown(scores["membership"]),
                    "by": scores["membership"].adversary,
                    "used, beyond control": shown(scores["membership, at best"]),
                    "at 1 % false": shown(scores["membership, if sure"]),
                    "ε at least": report.epsilon,
                    "spans of 5 words copied, beyond control": shown(scores[COPIED]),
                    "verdict": report.verdict.result,
                }
            )
    record(
        "synthetic_generators",
        rows,
        title="Which texts was a generator trained on? Leaking and honest ones",
        note=(
            f"{N_TEXTS} texts are used, as many others are control, {N_PUBLIC} are "
            "public; of each generator as many synthetic texts. Each number by its "
            "strongest adversary, chosen on one half of the texts and scored on the "
            "other, with a 95 % interval; beyond control: (risk − control)/(1 − "
            "control). The bound on ε holds with 95 %; so many texts can show at most "
            f"{report.epsilon_shown:.2f}."
        ),
    )


def table_of_alarms(_: Any) -> None:
    """Record how often honest generators are accused."""
    if absent(SMS, TWEETS):
        return
    rows = []
    for name, generator in HONEST.items():
        reports = [attacked("SMS", generator, 60, seed) for seed in range(N_TRIALS)]
        questions = list(reports[0].scores)
        row: dict[str, object] = {"generator": name, "trials": N_TRIALS}
        for question in questions:
            scores = [report.scores[question] for report in reports]
            row[question] = np.mean([s.low > s.chance for s in scores])
        row["ε above 0"] = np.mean([report.epsilon > 0 for report in reports])
        row["any of them"] = np.mean([report.verdict.found for report in reports])
        rows.append(row)
    record(
        "synthetic_alarms",
        rows,
        title="False alarms: honest generators",
        note=(
            "Share of the trials in which the low end of the 95 % interval is above "
            "what a guess finds: 60 messages used, 60 others. Each may be in 2.5 % of "
            "the trials, the bound on ε in 5 %."
        ),
    )


PARTS = {"generators": table_of_generators, "alarms": table_of_alarms}


def main() -> None:
    measuring.options(__doc__, PARTS)


if __name__ == "__main__":
    main()
