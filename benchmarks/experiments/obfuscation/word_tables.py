"""The tables on single words, and on the scale of ε."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from experiments.obfuscation.accuracy import (
    Marks,
    half_changed,
    nearest_distance,
    used_distance,
)
from experiments.obfuscation.attack import load_embedding
from experiments.obfuscation.grid import GOOGLE, W2V
from experiments.obfuscation.published import NEAREST
from results import record

SHORT = {GOOGLE: "Google News", W2V: "news and fiction"}
GUESSES = {
    "naive": "released word is the written one",
    "top1": "Bayes, top 1",
    "top10": "Bayes, top 10",
    "entropy_bits": "bits left",
    "blind_top1": "blind, top 1",
    "blind_top10": "blind, top 10",
}


def by_noise(marks: Marks) -> dict[tuple[float, float], dict[str, np.ndarray]]:
    """Numbers of all seeds by λ and ε: the least λ first, the largest ε."""
    seeds: dict[tuple[float, float], list[dict[str, Any]]] = defaultdict(list)
    for cell, result in marks.results.items():
        if cell.kind == "words":
            seeds[cell.lam, cell.epsilon].append(result)
    return {
        place: {key: np.array([r[key] for r in seeds[place]]) for key in GUESSES}
        for place in sorted(seeds, key=lambda place: (place[0], -place[1]))
    }


def words(marks: Marks) -> None:
    """Reconstruction of single words."""
    guessed = by_noise(marks)
    rows = [
        {"ε": epsilon, "λ": lam}
        | {text: float(seeds[key].mean()) for key, text in GUESSES.items()}
        for (lam, epsilon), seeds in guessed.items()
    ]
    results = [r for cell, r in marks.results.items() if cell.kind == "words"]
    shares = [key for key in GUESSES if key != "entropy_bits"]
    apart = max(np.ptp(seeds[key]) for seeds in guessed.values() for key in shares)
    n_seeds = len(results) // len(rows)
    error = 0.5 / np.sqrt(n_seeds * results[0]["n_words"])
    record(
        "obfuscation_words",
        rows,
        title="Which word was it?",
        note=f"Means over {n_seeds} seeds of words, noise and adversary, of "
        f"{results[0]['n_words']:,} words of the snippets each; standard errors of "
        f"shares at most {error:.4f}, and seeds differ by at most {apart:.3f}. Google "
        "News, the 2,000 words that are most frequent in texts of others: fewer than "
        "above, and further apart. The adversary knows these frequencies "
        f"({results[0]['prior_entropy_bits']:.1f} bits of entropy), simulates the "
        "mechanism 100 times on each word, averages the exact posteriors of the noisy "
        "vectors, and tries at home how far to trust the estimate. Bits left: its mean "
        "log-loss on the written words. Blind: always the most frequent words.",
    )


def scale(marks: Marks) -> None:
    """How ε of one table compares with ε of another."""
    rows = []
    for table in (GOOGLE, W2V):
        embedding = load_embedding(table)
        first = marks.mean("nearest", "18 authors", table, 0.0, 0.0)[0]
        rows.append(
            {
                "vectors": SHORT[table],
                "words": len(embedding),
                "dim": embedding.dim,
                "median norm": float(
                    np.median(np.linalg.norm(embedding.vectors, axis=1))
                ),
                "median distance to the nearest word": nearest_distance(table),
                "the same, of words as used in snippets": used_distance(table),
                "ε at which half of the words change": half_changed(marks, table),
                "snippet to nearest known text (18 authors, median)": float(first),
            }
        )
    rows.append(
        {
            "vectors": "paper: Google News",
            "words": "30,000 and 100,000",
            "dim": 300,
            "snippet to nearest known text (18 authors, median)": float(
                np.median(NEAREST)
            ),
        }
    )
    record(
        "obfuscation_scale",
        rows,
        title="The scale of ε",
        note="The paper's vectors are the most frequent 30,000 and 100,000 of Google "
        "News, not normalised; ours are 8,000 of the same file, so that our words have "
        "the same vectors and fewer neighbours. Its last number is from five snippets "
        f"of its Table 2. The experiment took {marks.seconds / 60:.0f} minutes of "
        f"processor time, {marks.seconds / 120:.0f} minutes on two cores.",
    )
