"""Rows of the tables that belong to figures 6 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.paper import published, significance, utility
from experiments.paper.plan import Plan
from experiments.paper.tables import Rows, Table, describe
from experiments.store import Store
from scipy import stats

# classifier, noisy side, metric: an entry per repeat
Scores = dict[tuple[str, str, str], np.ndarray]


def _collect(results: list[dict[str, Any]]) -> Scores:
    """Scores of one setting over its repeats, and ``("", "", "unchanged")``."""
    scores: Scores = {
        ("", "", "unchanged"): np.array([result["unchanged"] for result in results])
    }
    for classifier in (key for key in results[0] if key != "unchanged"):
        for mode in results[0][classifier]:
            for metric in utility.METRICS:
                scores[classifier, mode, metric] = np.array(
                    [result[classifier][mode][metric] for result in results]
                )
    return scores


def _by_setting(
    store: Store, cells: dict[tuple[float, float, int], Any]
) -> dict[tuple[float, float], Scores]:
    by_setting: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for (first, lam, _), cell in cells.items():
        by_setting.setdefault((first, lam), []).append(store.get(cell))
    return {setting: _collect(results) for setting, results in by_setting.items()}


def read_utility(
    plan: Plan, store: Store, table: str, name: str
) -> dict[tuple[float, float], Scores]:
    """By (ε, λ): the scores."""
    return _by_setting(store, utility.noisy_cells(plan, table, name))


def read_equal(
    plan: Plan, store: Store, table: str, name: str
) -> dict[tuple[float, float], Scores]:
    """By (share of N_w, λ): the scores."""
    return _by_setting(store, utility.equal_cells(plan, table, name, store))


def read_clean(
    plan: Plan, store: Store, table: str, name: str
) -> dict[tuple[str, str, str], np.ndarray]:
    """By (words, classifier, metric): the scores without noise."""
    results = list(map(store.get, utility.clean_cells(plan, table, name)))
    return {
        (words, classifier, metric): np.array(
            [result[words][classifier][metric] for result in results]
        )
        for words, by_classifier in results[0].items()
        for classifier in by_classifier
        for metric in utility.METRICS
    }


def interval(values: np.ndarray) -> tuple[float, float]:
    return significance.resampled_interval(
        values, test_over_train=utility.TEST_OVER_TRAIN
    )


def _text(values: np.ndarray) -> str:
    mean, width = interval(values)
    return f"{mean:.3f} ± {width:.3f}"


def classified(plan: Plan) -> dict[str, Any]:
    """The tables that classifiers were tried with."""
    return {table: spec for table, spec in plan.tables.items() if spec.trials}


def main_table(plan: Plan) -> str:
    """The table of figures 6 and 7."""
    return next(table for table, spec in plan.tables.items() if spec.main)


def benchmarks(plan: Plan, store: Store) -> Table:
    """What is reached without noise, beside the paper's benchmarks."""
    rows: Rows = []
    for name in plan.sets:
        if name in published.BENCHMARKS:
            model, scores = published.BENCHMARKS[name]
            row = dict(zip(utility.METRICS, (f"{s:.2f}" for s in scores), strict=True))
            rows.append({"data": name, "classifier": f"paper, {model}", **row})
        for table in classified(plan):
            clean = read_clean(plan, store, table, name)
            for words in ("all words", "covered words"):
                if words == "all words" and table != main_table(plan):
                    continue
                where = (
                    f" of {plan.tables[table].title}" if words != "all words" else ""
                )
                for key in (utility.NAIVE_BAYES, utility.LINEAR, utility.WMD):
                    if (words, key, "accuracy") not in clean:
                        continue
                    row = {m: _text(clean[words, key, m]) for m in utility.METRICS}
                    rows.append(
                        {"data": name, "classifier": key, "words": words + where, **row}
                    )
    return Table(
        "benchmarks",
        "Without noise",
        "Mean and 95 % interval over random splits of 70 % and 30 %, which counts in "
        "that the splits overlap.",
        rows,
    )


def utility_table(plan: Plan, store: Store, table: str, name: str) -> Table:
    """The numbers of figure 6 or 7."""
    key = utility.MAIN[name]
    rows: Rows = []
    for (epsilon, lam), scores in read_utility(plan, store, table, name).items():
        unchanged = scores["", "", "unchanged"].mean()
        row: dict[str, Any] = {
            "ε": f"{epsilon:g}",
            "λ": f"{lam:g}",
            "tokens unchanged, %": f"{100 * unchanged:.1f}",
        }
        for metric in utility.METRICS:
            row[metric] = _text(scores[key, "both", metric])
        for mode in ("train", "test"):
            row[f"accuracy, only {mode} noisy"] = _text(scores[key, mode, "accuracy"])
        if (utility.WMD, "both", "accuracy") in scores:
            row["accuracy, WMD-kNN"] = _text(scores[utility.WMD, "both", "accuracy"])
        rows.append(row)
    slug = name.split()[-1].lower()
    return Table(
        f"utility_{table}_{slug}",
        f"{name} through the noise of {describe(plan, store, table)}; {key}",
        f"{plan.tables[table].trials[name].repeats} random splits with noise of their "
        "own; both sides noisy where nothing else is said; mean and 95 % interval.",
        rows,
    )


_COMPARED = ("both noisy", "only train", "only test", "WMD-kNN")


def losses(plan: Plan, store: Store) -> Table:
    """What λ = 1 costs against λ = 0: at equal ε, and at equal N_w."""
    rows: Rows = []
    for table, spec in classified(plan).items():
        for name in plan.sets:
            settings = [("ε", read_utility(plan, store, table, name))]
            if spec.main:
                settings.append(("N_w", read_equal(plan, store, table, name)))
            for kind, scores in settings:
                values = sorted({first for first, _ in scores})
                for value in values:
                    rows.append(_loss(plan, scores, value, kind, name, spec.title))
    with_holm(rows, [row.pop("splits") for row in rows])
    return Table(
        "losses",
        "Accuracy at λ = 1 less accuracy at λ = 0",
        "Paired by split; 95 % interval, which counts in that the splits overlap. By "
        "Holm: which differences are significant at 0.05 by the t-test behind these "
        "intervals, corrected for the number of all of them.",
        rows,
    )


def with_holm(rows: Rows, splits: list[int]) -> None:
    """Add what is left of differences "mean ± width" when all are taken together."""
    losses = []
    for row, n in zip(rows, splits, strict=True):
        for label in _COMPARED:
            text = row[label]
            if text is None or text == "–":
                continue
            mean, width = map(float, text.split(" ± "))
            # that of the interval; a width that rounds to 0 is half a unit
            t = abs(mean) / max(width, 5e-4) * stats.t.ppf(0.975, n - 1)
            losses.append((row, mean, 2 * stats.t.sf(t, n - 1)))
    corrected = significance.holm([p for _, _, p in losses])
    for row in rows:
        row["by Holm"] = "none"
    for (row, mean, _), p in zip(losses, corrected, strict=True):
        kind = "loss" if mean < 0 else "gain"
        if p < 0.05 and kind not in row["by Holm"]:
            before = row["by Holm"]
            row["by Holm"] = kind if before == "none" else f"{before} and {kind}"


def _loss(
    plan: Plan,
    by_setting: dict[tuple[float, float], Scores],
    value: float,
    kind: str,
    name: str,
    title: str,
) -> dict[str, Any]:
    sphere, ellipse = by_setting[value, plan.lams[0]], by_setting[value, plan.lams[-1]]
    label = f"{value:g}" if kind == "ε" else f"{100 * value:g}"
    row: dict[str, Any] = {
        "vectors": title,
        "data": name,
        "at equal": f"{kind} = {label}",
    }
    for lam, scores in ((0, sphere), (1, ellipse)):
        share = scores["", "", "unchanged"].mean()
        row[f"tokens unchanged at λ = {lam}, %"] = f"{100 * share:.1f}"
    lost = gained = False
    for label, key, mode in (
        ("both noisy", utility.MAIN[name], "both"),
        ("only train", utility.MAIN[name], "train"),
        ("only test", utility.MAIN[name], "test"),
        ("WMD-kNN", utility.WMD, "both"),
    ):
        if (key, mode, "accuracy") not in sphere:
            row[label] = None
            continue
        mean, width = interval(
            ellipse[key, mode, "accuracy"] - sphere[key, mode, "accuracy"]
        )
        row[label] = f"{mean:+.3f} ± {width:.3f}"
        row["splits"] = len(sphere[key, mode, "accuracy"])
        lost |= mean + width < 0
        gained |= mean - width > 0
    row["an interval without 0"] = (
        "loss" * lost + " and " * (lost and gained) + "gain" * gained or "none"
    )
    return row


def equal_table(plan: Plan, store: Store) -> Table:
    """Accuracy where every λ leaves the same mean N_w."""
    table = main_table(plan)
    rows: Rows = []
    for name in plan.sets:
        by_share = read_equal(plan, store, table, name)
        for key in (utility.MAIN[name], utility.WMD):
            for share in plan.equal_shares:
                row: dict[str, Any] = {
                    "data": name,
                    "classifier": key,
                    "mean N_w": f"{100 * share:g}",
                }
                for lam in plan.equal_lams:
                    row[f"λ = {lam:g}"] = _text(
                        by_share[share, lam][key, "both", "accuracy"]
                    )
                rows.append(row)
    return Table(
        "equal_privacy",
        f"Accuracy at equal N_w, both sides noisy; {describe(plan, store, table)}",
        "ε chosen for each λ by calibrate_epsilon.",
        rows,
    )


def all_tables(plan: Plan, store: Store) -> list[Table]:
    """Every table on utility, in its order."""
    return [
        benchmarks(plan, store),
        *(
            utility_table(plan, store, table, name)
            for table in classified(plan)
            for name in plan.sets
        ),
        losses(plan, store),
        equal_table(plan, store),
    ]
