"""Cells of tables 1 to 5 and figures 2 to 5."""

from __future__ import annotations

from typing import Any

from experiments.paper.plan import SEED, Plan
from experiments.store import Cell
from record import calibrated
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.metrics import (
    PlausibleDeniability,
    density_statistics,
    plausible_deniability,
)

STATISTICS = ("n_unchanged", "n_distinct")
# Which way λ should move them.
DIRECTION = {"n_unchanged": -1, "n_distinct": 1}


def _settings(plan: Plan, table: str, **more: Any) -> dict[str, Any]:
    return {"fingerprint": plan.vocabulary(table).fingerprint, "seed": SEED, **more}


def _deniability(
    plan: Plan, table: str, epsilon: float, lam: float, seed: int = SEED
) -> PlausibleDeniability:
    """Both statistics of the sampled words; the same draws for all ε and λ."""
    vocabulary = plan.vocabulary(table)
    return plausible_deniability(
        vocabulary.perturber(epsilon, lam),
        vocabulary.sample(plan.tables[table].n_sampled),
        n_draws=plan.n_draws,
        random_state=seed,
    )


def _summary(plan: Plan, table: str, lam: float, epsilons: tuple[float, ...]) -> Any:
    """Both statistics over the sampled words, an entry per ε, for one λ."""
    results = [_deniability(plan, table, epsilon, lam) for epsilon in epsilons]
    summaries = [result.summary() for result in results]
    summary: dict[str, Any] = {"epsilons": list(epsilons)}
    for name in STATISTICS:
        summary[name] = {
            key: [of_epsilon[name][key] for of_epsilon in summaries]
            for key in summaries[0][name]
        }
    return summary


def grid_cells(plan: Plan, table: str) -> dict[float, Cell]:
    """By λ: the statistics at the paper's ε, and at more where the table wants it."""
    spec = plan.tables[table]
    epsilons = (*plan.epsilons, *spec.more_epsilons)
    return {
        lam: Cell(
            f"grid-{table}-{lam:g}",
            _settings(
                plan,
                table,
                epsilons=epsilons,
                lam=lam,
                n_draws=plan.n_draws,
                n_sampled=spec.n_sampled,
            ),
            lambda lam=lam: _summary(plan, table, lam, epsilons),
        )
        for lam in plan.lams
    }


def replicate_cells(plan: Plan, table: str) -> list[Cell]:
    """The grid again, with fresh noise each time."""

    def compute(seed: int) -> Any:
        results = [
            [_deniability(plan, table, epsilon, lam, seed) for lam in plan.lams]
            for epsilon in plan.epsilons
        ]
        return {
            name: [[float(getattr(r, name).mean()) for r in row] for row in results]
            for name in STATISTICS
        }

    settings = {
        "epsilons": plan.epsilons,
        "lams": plan.lams,
        "n_draws": plan.n_draws,
        "n_sampled": plan.tables[table].n_sampled,
    }
    return [
        Cell(
            f"replicate-{table}-{i}",
            _settings(plan, table, replicate=i, **settings),
            lambda i=i: compute(SEED + 1 + i),
        )
        for i in range(plan.n_replicates)
    ]


def equal_cells(plan: Plan, table: str) -> dict[tuple[float, float], Cell]:
    """By (λ, share): the ε at which this share of the draws leaves words unchanged."""
    n = plan.tables[table].n_sampled

    def compute(lam: float, share: float) -> float:
        vocabulary = plan.vocabulary(table)
        words = [[word] for word in vocabulary.sample(n)]
        return calibrated(vocabulary.perturber(1.0, lam), words, SEED, 1 - share)

    return {
        (lam, share): Cell(
            f"match-{table}-{lam:g}-{share:.4f}",
            _settings(plan, table, target=share, lam=lam, n_sampled=n),
            lambda lam=lam, share=share: compute(lam, share),
        )
        for lam in plan.equal_lams
        for share in plan.equal_shares
    }


def density_cell(plan: Plan, table: str) -> Cell:
    """Table 5, and the size of a table."""

    def compute() -> Any:
        vocabulary = plan.vocabulary(table)
        embedding = vocabulary.embedding
        rows = {}
        analyze = CountVectorizer().build_analyzer()
        for name, documents in vocabulary.documents.items():
            density = density_statistics(embedding, documents)
            n_tokens = sum(len(analyze(text)) for text in plan.sets[name][0])
            rows[name] = {
                "tokens covered, %": 100 * sum(map(len, documents)) / n_tokens,
                "records": density.n_records,
                "words per record": (
                    f"{density.mean_record_size:.1f} ± {density.std_record_size:.1f}"
                ),
                "vocabulary": len(density.words),
                "d_max / d_min": density.max_over_min,
                "sparse / dense": density.sparse_over_dense,
                "records per sparse word, %": 100 * density.records_per_sparse,
                "records with a sparse word, %": 100 * density.records_with_sparse,
                "sparsest": density.sparsest[:8].tolist(),
            }
        return {"sets": rows, "words": len(embedding), "dim": embedding.dim}

    return Cell(f"density-{table}", _settings(plan, table), compute)
