"""`KoppelAuthorClassifier` against a plain loop over rounds and authors.

One command::

    python benchmarks/bench_koppel.py

Fan fiction of the first problem of ``pan19_fanfiction_en.jsonl.gz`` (folder named by
SKDPTEXT_TEST_DATA, or ../shared/data), on one thread. The loop goes over documents,
rounds and authors with dictionaries of counts, as published replications do; it runs on
a few documents, and its time per document is compared with ours on all.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter

import numpy as np
from real_data import DATA
from threadpoolctl import threadpool_limits

from skdptext.attacks import KoppelAuthorClassifier

N_LOOP = 3


def ngrams(text: str, size: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in text.split():
        counts.update(word[i : i + size] for i in range(max(1, len(word) - size + 1)))
    return counts


def loop(texts, authors, document, features, rounds) -> list[float]:
    """Scores of one document, by dictionaries; `rounds` are sets of n-grams."""
    known: dict[str, Counter[str]] = {author: Counter() for author in authors}
    for text, author in zip(texts, authors, strict=True):
        known[author].update(ngrams(text, 4))
    known = {a: {g: c[g] for g in features if g in c} for a, c in known.items()}
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
    with gzip.open(DATA / "pan19_fanfiction_en.jsonl.gz", "rt") as file:
        stories = [json.loads(line) for line in file]
    problem = stories[0]["problem"]
    stories = [s for s in stories if s["problem"] == problem]
    known = [s for s in stories if s["split"] == "known"]
    unknown = [s["text"] for s in stories if s["split"] != "known"]
    texts, authors = [s["text"] for s in known], [s["author"] for s in known]
    with threadpool_limits(1):
        model = KoppelAuthorClassifier(random_state=0).fit(texts, authors)
        start = time.perf_counter()
        scores = model.predict_proba(unknown)
        ours = (time.perf_counter() - start) / len(unknown)
        features = set(model.ngrams_)
        rounds = [set(model.ngrams_[mask > 0]) for mask in model._masks.T]
        start = time.perf_counter()
        plain = [loop(texts, authors, t, features, rounds) for t in unknown[:N_LOOP]]
        theirs = (time.perf_counter() - start) / N_LOOP
    agree = np.abs(scores[:N_LOOP] - plain).max()
    print(f"{len(model.classes_)} authors, {len(features)} n-grams, 100 rounds")
    print(f"plain loop  {theirs * 1e3:10.1f} ms per document")
    print(f"ours        {ours * 1e3:10.1f} ms per document ({len(unknown)} documents)")
    print(
        f"ratio       {theirs / ours:10.0f}; largest difference of a score {agree:.3f}"
    )


if __name__ == "__main__":
    main()
