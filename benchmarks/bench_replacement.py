"""DPDocumentReplacer: time and memory, and found documents against the bound.

``speed``: 100,000 public documents, 1,000,000 private ones from a generator. ``found``:
on fan fiction, SMS and tweets, how many of 100 candidates the best adversary
identifies: expected, exactly, and in draws, next to the bound for every adversary::

    python benchmarks/bench_replacement.py [speed] [found]
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import measuring
import numpy as np
from real_data import read_sms, read_stories, read_tweets
from results import record

from skdptext import DPDocumentReplacer

N_PUBLIC, N_PRIVATE = 100_000, 1_000_000
SECRET = 2**100 + 1
N_SETS, N_CANDIDATES = 50, 100
LONGEST = 1000  # characters of a text


def corpora() -> dict[str, list[str]]:
    """Texts of the real data, without equal ones."""
    sets = {
        "fan fiction": [story["text"] for story in read_stories()],
        "SMS": read_sms()[0],
        "tweets": read_tweets()[0],
    }
    return {
        name: list(dict.fromkeys(text[:LONGEST] for text in texts))
        for name, texts in sets.items()
    }


def many(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """Different documents of about 17 words: a real one and one of its own."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, 10_000):
        picks = rng.integers(0, len(texts), min(10_000, n - start))
        for i, pick in enumerate(picks.tolist(), start):
            yield f"{texts[pick]} n{seed}x{i}"


def speed(_: object) -> None:
    """CPU time and memory of the parts."""
    texts = corpora()["SMS"]
    public = list(many(texts, N_PUBLIC, 0))
    before = measuring.peak_mb()
    replacer = DPDocumentReplacer(public, output="index")

    def replace(secret: int | None) -> None:
        replacer.set_params(random_state=secret)
        ids = None if secret is None else range(N_PRIVATE)
        replacer.transform(many(texts, N_PRIVATE, 2), document_ids=ids)

    rows: list[dict[str, object]] = []
    for what, n, run in (
        ("fit", N_PUBLIC, replacer.fit),
        ("transform of a generator, fresh noise", N_PRIVATE, lambda: replace(None)),
        ("transform of a generator, keyed by ids", N_PRIVATE, lambda: replace(SECRET)),
    ):
        took = measuring.seconds_of(run, time.process_time)
        row = {"what": what, "documents": n, "CPU s": round(took, 2)}
        row["µs per document"] = round(1e6 * took / n, 1)
        row["peak MB"] = round(measuring.peak_mb())
        rows += measuring.shown([row])
    record(
        "replacement_speed",
        rows,
        title="Documents replaced by public ones: time and memory",
        note=f"{N_PUBLIC:,} public documents of about 17 words, made of real SMS, "
        "in 8 groups of the default; CPU time in one process, one "
        f"BLAS thread. Peak memory of the process; {before:.0f} MB before fit, with "
        "the public texts as a list. Generators make their texts as they are read, "
        "which is part of the time.",
    )


def expected(replacer: DPDocumentReplacer, candidates: list[str]) -> float:
    """How often the best adversary is right about one of equally likely candidates.

    Over every public document z that may be released, not over draws:
    Σ_z max_d Pr[z | d] / n. It needs ``output="index"``.
    """
    logs = replacer.log_likelihood(candidates, range(len(replacer.public_)))
    return float(np.exp(logs.max(axis=1)).sum() / len(candidates))


def found(_: object) -> None:
    """The best adversary against the bound for all of them."""
    rows: list[dict[str, object]] = []
    for name, texts in corpora().items():
        rng = np.random.default_rng(0)
        texts = [texts[i] for i in rng.permutation(len(texts))]
        half = len(texts) // 2
        for n_groups in (4, 8, 12):
            for epsilon in (2.0, 4.0, 6.0):
                replacer = DPDocumentReplacer(
                    texts[:half], n_groups=n_groups, epsilon=epsilon, output="index"
                ).fit()
                success, exact = [], []
                private = texts[half:]
                for _ in range(N_SETS):
                    at = rng.choice(len(private), N_CANDIDATES, replace=False)
                    candidates = [private[i] for i in at]
                    exact.append(expected(replacer, candidates))
                    released = replacer.transform(candidates)
                    logs = replacer.log_likelihood(candidates, released)
                    best = logs == logs.max(axis=1, keepdims=True)
                    success.append(float((np.diag(best) / best.sum(axis=1)).mean()))
                bound = replacer.guarantee().found_at_most(N_CANDIDATES)
                margin = 1.96 * np.std(success, ddof=1) / np.sqrt(N_SETS)
                rows.append(
                    {
                        "text": name,
                        "groups": n_groups,
                        "ε": epsilon,
                        "expected": round(float(np.mean(exact)), 4),
                        "found": round(float(np.mean(success)), 4),
                        "low": round(float(np.mean(success) - margin), 4),
                        "high": round(float(np.mean(success) + margin), 4),
                        # a bound is rounded up
                        "at most": math.ceil(1e4 * bound) / 1e4,
                    }
                )
    record(
        "replacement_found",
        rows,
        title="Documents identified among 100 candidates, and the bound",
        note="The best adversary: the likelihood of each candidate, exactly, ties "
        "shared. Means over 50 sets of 100 candidates. expected: how often it is right "
        "about one of them that is equally likely to be any, computed from the "
        "candidates' groups and the channel, without a draw: the sum over public "
        "documents z of the largest Pr[z | candidate], / 100. It is never above the "
        "bound for every adversary, at most: K p / 100. found, low, high: each "
        "candidate released once, with the 95% interval; draws lie on either side of "
        "what is expected, and so sometimes above the bound. Public and private "
        "halves, equal texts removed, cut to 1,000 characters, no labels.",
    )


def main() -> None:
    parts = {"speed": speed, "found": found}
    measuring.options(__doc__, parts)


if __name__ == "__main__":
    main()
