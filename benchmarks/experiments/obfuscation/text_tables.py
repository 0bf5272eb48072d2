"""Tables 2 and 3 of the paper, on texts of ours."""

from __future__ import annotations

import numpy as np
from experiments.obfuscation.attack import (
    fitted,
    load_embedding,
    load_problem,
    load_scene,
)
from experiments.obfuscation.published import NEAREST
from results import record

from skdptext import DPWordPerturber

N_TEXTS, N_WORDS = 5, 11  # as many as the paper shows
PROBLEM = "18 authors"


def nearest_texts() -> None:
    """Table 2: distances of some unmodified snippets to their nearest known texts."""
    scene, problem = load_scene(PROBLEM), load_problem(PROBLEM)
    distances, near = fitted("SR", PROBLEM).kneighbors(
        scene.clean[:N_TEXTS], n_neighbors=3
    )
    rows = [
        {
            "snippet by": problem.author[text],
            "nearest": rank,
            "known text by": str(problem.known_author[near[text, rank - 1]]),
            "distance": float(distances[text, rank - 1]),
            "distance, paper": NEAREST[text] if rank == 1 else None,
        }
        for text in range(N_TEXTS)
        for rank in (1, 2, 3)
    ]
    record(
        "obfuscation_nearest",
        rows,
        title="Nearest known texts of unmodified snippets",
        note=f"Word Mover's Distance, {PROBLEM}, Google News, the first {N_TEXTS} "
        "snippets; the paper's are of five snippets of its own.",
    )


def one_text_under_noise() -> None:
    """Table 3: the beginning of one snippet under noise."""
    embedding, problem = load_embedding(), load_problem(PROBLEM)
    perturber = DPWordPerturber(embedding, lam=0.0, stop_words="english").fit([])
    (words,) = perturber.known_words(problem.snippets[:1])
    columns = {"none": words[:N_WORDS]}
    for epsilon in (30, 20, 10):
        perturber.set_params(epsilon=epsilon, random_state=np.random.default_rng(0))
        noisy = perturber.fit([]).perturb_words(columns["none"])
        columns[f"ε = {epsilon}"] = noisy[:, 0].tolist()
    rows = zip(*columns.values(), strict=True)
    record(
        "obfuscation_text",
        [dict(zip(columns, row, strict=True)) for row in rows],
        title="The beginning of one snippet under noise",
        note="Google News, λ = 0; words without a vector are left out. The paper shows "
        "the same of a text of its own, where few words change at ε = 30, most of them "
        "to near ones. Each column has noise of its own.",
    )
