"""The tables, by the names of their files, from what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.paper import deniability, published, significance, utility
from experiments.paper.deniability import DIRECTION
from experiments.paper.plan import EPSILONS, VECTORS, Plan, vocabulary
from experiments.paper.utility import LINEAR, MAIN, METRICS, NAIVE_BAYES, WMD

from skdptext.utils import half_width

Rows = list[dict[str, Any]]
LETTERS = dict(zip(DIRECTION, ("N_w", "S_w"), strict=True))


def all_tables(plan: Plan) -> dict[str, Rows]:
    """Rows of every table."""
    main = plan.vectors[0]
    return (
        {f"table{n}": beside_the_papers(plan, *of)
         for n, of in enumerate(published.TABLES, 1)
         if of[0] in {VECTORS[vectors].paper for vectors in plan.vectors}}
        | {f"percentiles_{vectors}": percentiles(plan, vectors)
           for vectors in plan.vectors}
        | {"claims": claims(plan), "benchmarks": benchmarks(plan)}
        | {f"utility_{main}_{name.split()[-1].lower()}": utilities(plan, name)
           for name in plan.sets}
        | {"losses": losses(plan)}
    )  # fmt: skip


def beside_the_papers(plan: Plan, paper: str, statistic: str) -> Rows:
    """Tables 1 to 4: the paper's rows, then those of each of our tables."""

    def row(vectors: str, lam: float, cells: Any) -> dict[str, Any]:
        shown = {
            f"ε = {epsilon:g}": f"{mean:.2f} ± {std:.2f}"
            for epsilon, (mean, std) in zip(EPSILONS, cells, strict=False)
        }
        return {"vectors": vectors, "λ": f"{lam:g}"} | shown

    rows = [
        row(f"paper, {paper} 300-d", lam, cells)
        for lam, cells in zip(
            published.LAMS, published.TABLES[paper, statistic], strict=True
        )
        if lam in plan.lams
    ]
    for vectors in plan.vectors:
        if VECTORS[vectors].paper == paper:
            for lam in plan.lams:
                found = [s[statistic] for s in deniability.summary(plan, vectors, lam)]
                cells = [(each["mean"], each["std"]) for each in found]
                rows.append(row(vocabulary(plan, vectors).title, lam, cells))
    return rows


def percentiles(plan: Plan, vectors: str) -> Rows:
    """Figures 2 to 5: percentiles of both statistics over the words."""
    title = vocabulary(plan, vectors).title
    epsilons = (*EPSILONS, *VECTORS[vectors].more_epsilons)
    return [
        {"vectors": title, "λ": f"{lam:g}", "ε": f"{epsilon:g}"}
        | {
            f"{letter}, {percent} %": f"{found[name][f'p{percent}']:.1f}"
            for name, letter in LETTERS.items()
            for percent in (5, 50, 95)
        }
        for lam in plan.lams
        for epsilon, found in zip(
            epsilons, deniability.summary(plan, vectors, lam), strict=True
        )
    ]


def claims(plan: Plan) -> Rows:
    """Does N_w fall and S_w rise with λ, significantly, where the paper says so?"""
    rows: Rows = []
    for vectors in plan.vectors:
        replicates = np.array([deniability.replicate(plan, vectors, i)
                               for i in range(plan.n_replicates)])  # fmt: skip
        summaries = [deniability.summary(plan, vectors, lam) for lam in plan.lams]
        # of shape (statistic, ε, λ > 0)
        p = significance.holm([
            significance.paired_p(
                replicates[:, k, :, :1], replicates[:, k, :, 1:], direction=direction
            )
            for k, direction in enumerate(DIRECTION.values())
        ])  # fmt: skip
        for k, (statistic, direction) in enumerate(DIRECTION.items()):
            for epsilon in published.CLAIMED:
                i = EPSILONS.index(epsilon)
                mean, std = (
                    np.array([of_lam[i][statistic][key] for of_lam in summaries])
                    for key in ("mean", "std")
                )
                ruled = significance.disjoint_intervals(
                    (mean[0], std[0]), (mean[1:], std[1:]), plan.n_draws,
                    direction=direction,
                )  # fmt: skip
                rows.append({
                    "vectors": VECTORS[vectors].title,
                    "ε": f"{epsilon:g}",
                    "statistic": LETTERS[statistic],
                    "λ = 0": f"{mean[0]:.2f}",
                    "λ = 1": f"{mean[-1]:.2f}",
                    "monotone in λ": bool((direction * np.diff(mean) > 0).all()),
                    "paper's rule": f"{ruled.sum()} of {len(ruled)}",
                    "paired test": f"{(p[k, i] < 0.05).sum()} of {len(ruled)}",
                    "largest p": f"{p[k, i].max():.1e}",
                })  # fmt: skip
    return rows


CLAIMS_NOTE = (
    "Paper's rule: the intervals mean ± 1.96 std/√100 do not overlap, for how many "
    "λ > 0. Paired test: a one-sided t-test over {n_replicates} independent "
    "repetitions of the experiment on up to 2,000 random words, noise "
    "shared between λ within a repetition, corrected by Holm for all ε, λ and "
    "both statistics of a table; significant at 0.05 for how many λ > 0, and the "
    "largest corrected p."
)
LOSSES_NOTE = "Paired by split; 95% interval, which counts in that the splits overlap."


def together(found: list[utility.Scores]) -> dict[tuple[str, str, str], np.ndarray]:
    """Scores with an entry per repeat."""
    return {key: np.array([one[key] for one in found]) for key in found[0]}


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of its interval, over random splits, which overlap."""
    ratio = utility.TEST_SIZE / (1 - utility.TEST_SIZE)
    wide = half_width(values.std(ddof=1), len(values), test_over_train=ratio)
    return values.mean(), wide


def _text(values: np.ndarray) -> str:
    mean, width = interval(values)
    return f"{mean:.3f} ± {width:.3f}"


def benchmarks(plan: Plan) -> Rows:
    """What is reached without noise, next to the paper's benchmarks."""
    rows: Rows = []
    covered = f"covered words of {VECTORS[plan.vectors[0]].title}"
    for name in plan.sets:
        if name in published.BENCHMARKS:
            model, values = published.BENCHMARKS[name]
            row = {m: f"{v:.2f}" for m, v in zip(METRICS, values, strict=True)}
            rows.append({"data": name, "classifier": f"paper, {model}"} | row)
        clean = together(
            [utility.clean(plan, name, repeat) for repeat in range(plan.repeats)]
        )
        for words, kind in (("all words",) * 2, (covered, "covered words")):
            for key in (NAIVE_BAYES, LINEAR, WMD):
                if (key, kind, "accuracy") in clean:
                    row = {m: _text(clean[key, kind, m]) for m in METRICS}
                    what = {"data": name, "classifier": key, "words": words}
                    rows.append(what | row)
    return rows


def utilities(plan: Plan, name: str) -> Rows:
    """The numbers of figure 6 or 7; both sides are noisy where nothing else is said."""
    key = MAIN[name]
    rows: Rows = []
    for epsilon in plan.epsilons:
        for lam in plan.lams:
            scores = at_epsilon(plan, name, epsilon, lam)
            row: dict[str, Any] = {"ε": f"{epsilon:g}", "λ": f"{lam:g}"}
            row["tokens unchanged, %"] = _unchanged(scores)
            for metric in METRICS:
                row[metric] = _text(scores[key, "both", metric])
            for side in ("train", "test"):
                row[f"accuracy, only {side} noisy"] = _text(
                    scores[key, side, "accuracy"]
                )
            row["accuracy, WMD-kNN"] = _text(scores[WMD, "both", "accuracy"])
            rows.append(row)
    return rows


def _unchanged(scores: dict[tuple[str, str, str], np.ndarray]) -> str:
    return f"{100 * scores['', '', 'unchanged'].mean():.1f}"


def at_epsilon(
    plan: Plan, name: str, epsilon: float, lam: float, n: int | None = None
) -> Any:
    """The scores of all repeats at an ε."""
    every = range(n or plan.repeats)
    return together([utility.noisy(plan, name, epsilon, lam, i) for i in every])


def at_share(plan: Plan, name: str, share: float, lam: float) -> Any:
    """The same where a share of the draws leaves words unchanged."""
    epsilon = deniability.equal_epsilon(plan, lam, share)
    return at_epsilon(plan, name, epsilon, lam, plan.equal_repeats)


def losses(plan: Plan) -> Rows:
    """What λ = 1 costs against λ = 0: at equal ε, and at equal N_w."""
    rows: Rows = []
    for name in plan.sets:
        for kind, values, read in (
            ("ε = {:g}", plan.epsilons, at_epsilon),
            ("N_w = {:.0%}", plan.shares, at_share),
        ):
            for value in values:
                sphere, ellipse = (read(plan, name, value, lam) for lam in (0.0, 1.0))
                row = {
                    "vectors": VECTORS[plan.vectors[0]].title,
                    "data": name,
                    "at equal": kind.format(value).rstrip("%"),
                    "tokens unchanged at λ = 0, %": _unchanged(sphere),
                    "tokens unchanged at λ = 1, %": _unchanged(ellipse),
                }
                intervals = []
                for label, key, side in (
                    ("both noisy", MAIN[name], "both"),
                    ("only train", MAIN[name], "train"),
                    ("only test", MAIN[name], "test"),
                    ("WMD-kNN", WMD, "both"),
                ):
                    at = key, side, "accuracy"
                    mean, width = interval(ellipse[at] - sphere[at])
                    row[label] = f"{mean:+.3f} ± {width:.3f}"
                    intervals.append((mean - width, mean + width))
                lost = any(high < 0 for _, high in intervals)
                gained = any(low > 0 for low, _ in intervals)
                row["an interval without 0"] = (
                    " and ".join(["loss"] * lost + ["gain"] * gained) or "none"
                )
                rows.append(row)
    return rows
