"""`plausible_deniability` against perturbing each draw by itself.

One command::

    python benchmarks/bench_deniability.py [--words 256] [--repeats 3]

Under the 30,000 × 300 table (``w2v_news_fiction_30k_300d.npz`` in the folder named by
SKDPTEXT_TEST_DATA, or ../shared/data); without it, under a synthetic table of the same
size, which is said. 100 draws per word, one BLAS thread; the extra ``fast`` (numba) is
used if it is there, which is said too. The plain path is ``perturb_words`` on a tenth
of the words. Both run in turn in the same run; recorded are medians in µs per word and
draw, and their ratio. The grid is that of the 2020 paper, 5 ε × 5 λ, per word, draw and
setting. The last columns compare mean N_w of the two paths on the same words, with the
difference in standard errors of the shared noise.
"""

from __future__ import annotations

import time

import measuring
import numpy as np
from real_data import load_table
from results import bracketed, record

from skdptext import DPWordPerturber
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from skdptext.search._shared_noise import load_compiled

EPSILONS = (1.0, 5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
N_DRAWS = 100


def compare(
    fitted: DPWordPerturber, words: list[str], few: list[str], repeats: int
) -> dict[str, object]:
    """A row of the table of single settings."""
    unchanged = []

    def plain() -> None:
        noisy = fitted.perturb_words(few, N_DRAWS)
        unchanged.append((noisy == np.array(few)[:, None]).sum(axis=1).mean())

    def shared() -> None:
        plausible_deniability(fitted, words, n_draws=N_DRAWS)

    seconds = np.median(measuring.rounds([plain, shared], repeats, warm=False), axis=0)
    theirs, ours = 1e6 * seconds / (len(few), len(words)) / N_DRAWS
    check = plausible_deniability(fitted, few, n_draws=N_DRAWS)
    gap = float(np.mean(unchanged)) - check.n_unchanged.mean()
    error = float(check.unchanged_error)
    return {
        "ε": float(fitted.epsilon),
        "λ": float(fitted.lam),
        "plain, µs": theirs,
        "shared, µs": ours,
        "ratio": theirs / ours,
        "N_w plain": float(np.mean(unchanged)),
        "N_w shared": float(check.n_unchanged.mean()),
        "gap in standard errors": float(gap / error) if error else None,
    }


def main() -> None:
    options = measuring.options(__doc__, words=256, repeats=3)
    embedding = load_table()
    ids = np.random.default_rng(0).permutation(len(embedding))[: options.words]
    words = embedding.word_array[ids].tolist()
    few = words[: max(1, len(words) // 10)]
    engine = "numba" if load_compiled() is not None else "NumPy"
    # compiles, and fills what is computed once per table
    plausible_deniability(DPWordPerturber(embedding).fit([]), words[:1])
    settings = [
        DPWordPerturber(embedding, epsilon=epsilon, lam=lam).fit([])
        for epsilon, lam in ((1, 0.5), (10, 0.5), (40, 0.5), (40, 0.0), (80, 1.0))
    ]
    rows = measuring.shown(
        compare(fitted, words, few, options.repeats) for fitted in settings
    )
    half = words[: max(1, len(words) // 2)]
    start = time.perf_counter()
    plausible_deniability(
        settings[-1], half, epsilons=EPSILONS, lams=LAMS, n_draws=N_DRAWS
    )
    grid = time.perf_counter() - start
    calibrated = calibrate_epsilon(settings[-1], words=words)
    calibration = time.perf_counter() - start - grid
    low, high = calibrated.interval
    n_settings = len(EPSILONS) * len(LAMS)
    record(
        "deniability",
        rows,
        title="Plausible deniability: shared noise against a draw at a time",
        note=(
            f"{len(words)} words of a table of {len(embedding):,} × {embedding.dim}, "
            f"{N_DRAWS} draws, one thread, loops by {engine}; medians of "
            f"{options.repeats} repeats, per word and draw. The gap is that of mean "
            "N_w between the two paths on the same words."
        ),
    )
    record(
        "deniability_grid",
        [
            {
                "what": f"grid of {len(EPSILONS)} ε × {len(LAMS)} λ, per setting",
                "µs per word and draw": 1e6 * grid / (n_settings * len(half) * N_DRAWS),
                "result": None,
            },
            {
                "what": "calibrate_epsilon at λ = 1",
                "µs per word and draw": 1e6 * calibration / (len(words) * N_DRAWS),
                "result": "half unchanged at ε = "
                + bracketed(calibrated.epsilon, low, high, 1),
            },
        ],
        title="Plausible deniability over a grid, and calibration",
        note="The same table, draws and thread; each once.",
    )


if __name__ == "__main__":
    main()
