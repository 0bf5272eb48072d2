"""Writes what the cells found: tables, figures, an index; and hands it to the docs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

from experiments.paper import figures, tables, utility_tables
from experiments.paper.plan import Plan
from experiments.paper.tables import Table
from experiments.store import Store
from results import as_markdown, figures_folder, record, table_cells

# What goes among the recorded benchmarks; the other tables are on their own page.
RECORDED = ("claims", "losses")


def write_report(
    plan: Plan,
    store: Store,
    folder: Path,
    *,
    keep: bool = False,
) -> None:
    """Write tables, figures and ``index.md`` into the folder.

    With `keep`, tables and figures also go to the documentation, and claims and losses
    among the recorded benchmarks.
    """
    written = [*tables.all_tables(plan, store), *utility_tables.all_tables(plan, store)]
    for table in written:
        write_table(table, folder)
    drawn = figures.draw_all(plan, folder)
    index = ["# The 2020 paper's experiments on real data", ""]
    index += [f"- [{table.title}]({table.name}.md)" for table in written]
    for path, caption in drawn:
        index += ["", f"![{caption}]({path.name})", "", caption]
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    print(f"Wrote {len(written)} tables and {len(drawn)} figures: {folder}/index.md")
    if keep:
        docs = figures_folder("paper")
        for table in written:
            shutil.copy(folder / f"{table.name}.csv", docs)
        for path, _ in drawn:
            shutil.copy(path, docs)
        for table in written:
            if table.name in RECORDED:
                name, rows = f"paper_{table.name}", table.rows
                record(name, rows, title=table.title, note=table.note)


def write_table(table: Table, folder: Path) -> None:
    """As Markdown, CSV and JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    header, rule, *lines = table_cells(table.rows, missing="")
    parts = (f"# {table.title}", as_markdown([header, rule, *lines]), table.note)
    markdown = "\n\n".join(part for part in parts if part)
    (folder / f"{table.name}.md").write_text(markdown + "\n", encoding="utf-8")
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *lines])
    (folder / f"{table.name}.csv").write_text(buffer.getvalue(), encoding="utf-8")
    whole = {"title": table.title, "note": table.note, "rows": table.rows}
    (folder / f"{table.name}.json").write_text(
        json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
