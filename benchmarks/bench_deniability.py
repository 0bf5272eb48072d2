"""`plausible_deniability` against perturbing each draw by itself.

One command::

    python benchmarks/bench_deniability.py [--words 256] [--repeats 3]

Under the 30,000 × 300 table (``w2v_news_fiction_30k_300d.npz`` in the folder named by
SKDPTEXT_TEST_DATA, or ../shared/data); without it, under a synthetic table of the same
size, which is said. 100 draws per word, one BLAS thread; the extra ``fast`` (numba) is
used if it is there, which is said too. The plain path is ``perturb_words`` on a tenth
of the words. Both run in turn in the same run; printed are medians in µs per word and
draw, and their ratio. The grid is that of the 2020 paper, 5 ε × 5 λ, per word, draw and
setting. The last columns compare mean N_w of the two paths on the same words, with the
difference in standard errors of the shared noise.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from real_data import load_table
from threadpoolctl import threadpool_limits

from skdptext import DPWordPerturber
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from skdptext.search._shared_noise import load_compiled

EPSILONS = (1.0, 5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
N_DRAWS = 100


def timed(run: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def compare(
    fitted: DPWordPerturber, words: list[str], some: list[str], repeats: int
) -> str:
    """A row of the table of single settings."""
    plain, shared, unchanged = [], [], []
    for _ in range(repeats):
        seconds, noisy = timed(lambda: fitted.perturb_words(some, N_DRAWS))
        plain.append(1e6 * seconds / len(some) / N_DRAWS)
        unchanged.append((noisy == np.array(some)[:, None]).sum(axis=1).mean())
        seconds, _ = timed(
            lambda: plausible_deniability(fitted, words, n_draws=N_DRAWS)
        )
        shared.append(1e6 * seconds / len(words) / N_DRAWS)
    check = plausible_deniability(fitted, some, n_draws=N_DRAWS)
    gap = float(np.mean(unchanged)) - check.n_unchanged.mean()
    error = float(check.unchanged_error)
    distance = f"{gap / error:+.1f}" if error else "–"
    ours, theirs = statistics.median(shared), statistics.median(plain)
    return (
        f"| {fitted.epsilon:g} | {fitted.lam:g} | {theirs:.0f} | {ours:.1f} | "
        f"{theirs / ours:.1f} | {np.mean(unchanged):.2f} | "
        f"{check.n_unchanged.mean():.2f} | {distance} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--words", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    embedding = load_table()
    ids = np.random.default_rng(0).permutation(len(embedding))[: options.words]
    words = embedding.word_array[ids].tolist()
    some = words[: max(1, len(words) // 10)]
    engine = "numba" if load_compiled() is not None else "NumPy"
    print(f"{len(words)} words, {N_DRAWS} draws, one thread, loops by {engine}\n")
    print("| ε | λ | plain, µs | shared, µs | ratio | N_w plain | shared | gap/s.e. |")
    print("|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1, user_api="blas"):
        # compiles, and fills what is computed once per table
        plausible_deniability(DPWordPerturber(embedding).fit([]), words[:1])
        for epsilon, lam in ((1, 0.5), (10, 0.5), (40, 0.5), (40, 0.0), (80, 1.0)):
            fitted = DPWordPerturber(embedding, epsilon=epsilon, lam=lam).fit([])
            row = compare(fitted, words, some, options.repeats)
            print(row, flush=True)
        few = words[: max(1, len(words) // 2)]
        seconds, _ = timed(
            lambda: plausible_deniability(
                fitted, few, epsilons=EPSILONS, lams=LAMS, n_draws=N_DRAWS
            )
        )
        each = 1e6 * seconds / len(few) / N_DRAWS / len(EPSILONS) / len(LAMS)
        print(f"\nGrid of 5 × 5: {each:.1f} µs per word, draw and setting")
        seconds, found = timed(lambda: calibrate_epsilon(fitted, words=words))
        low, high = found.interval
        each = 1e6 * seconds / len(words) / N_DRAWS
        print(
            f"calibrate_epsilon at λ = 1: {each:.1f} µs per word and draw; "
            f"half unchanged at ε = {found.epsilon:.1f} [{low:.1f}, {high:.1f}]"
        )


if __name__ == "__main__":
    main()
