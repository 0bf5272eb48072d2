"""`KoppelAuthorClassifier` against a plain loop over rounds and authors.

One command::

    python benchmarks/bench_koppel.py [--repeats 5]

Fan fiction of the first problem of ``pan19_fanfiction_en.jsonl.gz`` (folder named by
SKDPTEXT_TEST_DATA, or ../shared/data), on one thread. The loop goes over documents,
rounds and authors with dictionaries of counts, as published replications do; it runs on
a few documents, and its time per document is compared with ours on all.
"""

from __future__ import annotations

from collections import Counter

import measuring
import numpy as np
from real_data import STORIES, absent, read_stories
from results import record

from skdptext.attacks import KoppelAuthorClassifier

N_LOOP = 3


def ngrams(text: str, size: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in text.split():
        counts.update(word[i : i + size] for i in range(max(1, len(word) - size + 1)))
    return counts


def count_known(texts, authors, features) -> dict[str, dict[str, int]]:
    """Counts of each author; done once, and not timed, as our `fit`."""
    known: dict[str, Counter[str]] = {author: Counter() for author in authors}
    for text, author in zip(texts, authors, strict=True):
        known[author].update(ngrams(text, 4))
    return {a: {g: c[g] for g in features if g in c} for a, c in known.items()}


def loop(known, document, features, rounds) -> list[float]:
    """Scores of one document, by dictionaries; `rounds` are sets of n-grams."""
    unknown = {g: c for g, c in ngrams(document, 4).items() if g in features}
    names = sorted(known)
    wins = dict.fromkeys(names, 0)
    for subset in rounds:
        best, winner = -1.0, names[0]
        for name in names:
            vector = known[name]
            product = length = 0.0
            for gram, count in vector.items():
                if gram in subset:
                    length += count * count
                    product += count * unknown.get(gram, 0)
            similarity = product / length**0.5 if length else 0.0
            if similarity > best:
                best, winner = similarity, name
        wins[winner] += 1
    return [wins[name] / len(rounds) for name in names]


def main() -> None:
    repeats = measuring.options(__doc__, repeats=5).repeats
    if absent(STORIES):
        return
    stories = read_stories()
    problem = stories[0]["problem"]
    stories = [s for s in stories if s["problem"] == problem]
    known = [s for s in stories if s["split"] == "known"]
    unknown = [s["text"] for s in stories if s["split"] != "known"]
    texts, authors = [s["text"] for s in known], [s["author"] for s in known]
    model = KoppelAuthorClassifier(random_state=0).fit(texts, authors)
    features = set(model.ngrams_)
    rounds = [set(model.ngrams_[mask > 0]) for mask in model._masks.T]
    counts = count_known(texts, authors, features)

    def plain() -> list[list[float]]:
        return [loop(counts, t, features, rounds) for t in unknown[:N_LOOP]]

    runs = [lambda: model.predict_proba(unknown), plain]
    seconds = np.median(measuring.rounds(runs, repeats, warm=False), axis=0)
    our_s, loop_s = seconds / (len(unknown), N_LOOP)
    scores = model.predict_proba(unknown[:N_LOOP])
    record(
        "koppel",
        [
            {
                "authors": len(model.classes_),
                "n-grams": len(features),
                "plain loop, ms per document": 1e3 * loop_s,
                "ours, ms per document": 1e3 * our_s,
                "ratio": loop_s / our_s,
                "largest difference of a score": float(np.abs(scores - plain()).max()),
            }
        ],
        title="Koppel's adversary against a plain loop",
        note=(
            f"Fan fiction, 100 rounds, one thread, medians of {repeats} repeats; ours "
            f"on {len(unknown)} documents, the loop on {N_LOOP}. Counting the known "
            "texts is not timed."
        ),
    )


if __name__ == "__main__":
    main()
