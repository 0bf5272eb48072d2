"""README, landing page and tutorial show the workflow that the library is for."""

from __future__ import annotations

import json
import re

import matplotlib.pyplot as plt
import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text("utf-8")
DOCS = ROOT / "docs"


def test_the_tables_of_readme_and_landing_page_are_what_was_measured():
    path = ROOT / "benchmarks" / "results" / "lambda_search.json"
    rows = json.loads(path.read_text("utf-8"))["rows"]
    measured = {
        (row["λ"], row["ε"]): [row["accuracy"], row["changed"], row["identified"]]
        for row in rows
        if row["texts"] == "docstrings"
    }
    head, *lines = re.findall(r"^\| (?:λ = ([\d.]+) )?\|(.*[ε%].*)\|$", README, re.M)
    strengths = [float(each) for each in re.findall(r"ε = ([\d.]+)", head[1])]
    shown = {
        (float(lam), strength): [int(each) for each in re.findall(r"(\d+)%", cell)]
        for lam, cells in lines
        for strength, cell in zip(strengths, cells.split("|"), strict=True)
        if lam
    }
    assert shown.keys() == measured.keys()
    for at, numbers in shown.items():
        assert numbers == [round(100 * value) for value in measured[at]], at
    for cells in (cells for _, cells in lines):
        for cell in cells.split("|"):
            assert f"- {cell.strip()}\n" in (DOCS / "index.rst").read_text("utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/index.rst"])
def test_the_limit_in_bold_is_what_was_measured(page):
    folder = ROOT / "benchmarks" / "results"
    chosen, attacked = (
        next(row for row in json.loads((folder / name).read_text("utf-8"))["rows"]
             if row["texts"] == "docstrings" and row.get("chosen", True))
        for name in ("lambda_search.json", "lambda_attack.json")
    )  # fmt: skip
    text = " ".join((ROOT / page).read_text("utf-8").split())
    limit = r"with (\d+)% of the words changed, an attacker .+? at least (\d+)% of"
    changed, least = map(int, re.search(limit, text).groups())
    assert changed == round(100 * chosen["changed"])
    assert least == int(100 * attacked["at least (95%)"])


@pytest.mark.notebooks
def test_the_example_of_the_readme_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^```python\n(.+?)^```$", README, re.M | re.S)[1]
    shown = {}
    exec(compile(example, "README.md", "exec"), shown)
    search, identified = shown["search"], shown["identified"]
    assert f"{identified:.0%}" in capsys.readouterr().out
    chosen = {
        name: search.cv_results_[f"mean_test_{name}"][search.best_index_]
        for name in ("accuracy", "changed")
    }
    assert chosen["accuracy"] >= 0.8
    assert chosen["changed"] > 0.5
    assert identified > 0.5  # as the README says, most documents are found
    assert [path.name for path in tmp_path.iterdir()] == ["noise.png"]
    plt.close("all")
