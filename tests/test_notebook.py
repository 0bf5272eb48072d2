"""The notebooks run in Jupyter, and show and say what a run shows."""

from __future__ import annotations

import json
import re

import notebooks
import pytest

from tests.conftest import DATA, ROOT

EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
STANDS_IN = "documentation of two topics stands in|documentation stands in"


def cells(path, kind):
    every = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in every if cell["cell_type"] == kind]


def source(path):
    return "".join("".join(cell["source"]) + "\n" for cell in cells(path, "code"))


@pytest.fixture(scope="module")
def jupyter():
    """One kernel for all notebooks, whose imports take longer than some of them."""
    with notebooks.jupyter() as client:
        yield client


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_run_in_jupyter_shows_what_is_stored_and_said(jupyter, path, tmp_path):
    """On real data; where there is none it only runs, on what every install has."""
    stored = json.loads(path.read_text("utf-8"))
    ran, values = notebooks.run(path, jupyter, DATA if DATA.exists() else tmp_path)
    if DATA.exists():
        off = notebooks.differing(stored, ran, values)
        again = f"look at what changed: python docs/notebooks.py {path}"
        assert not off, "\n".join([f"{path.name} is not what a run shows", *off, again])


@pytest.mark.notebooks
def test_a_notebook_without_its_data_says_so(jupyter, tmp_path):
    ran, _ = notebooks.run(EXAMPLES / "release_documents.ipynb", jupyter, tmp_path)
    assert re.search(STANDS_IN, json.dumps(ran))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_notebooks_with_their_outputs(path):
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" for output in outputs)
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) == source(path).count("plt.show()") > 0, "each figure once"


def test_every_number_in_prose_is_computed_or_a_setting_in_the_code():
    no_result = r"`[^`]*`|https?://\S+|\b(19|20)\d\d\b|\b95 ?%|\b100\b|\b0\.50\b"
    number = r"(?<![\w.])\d+(?:\.\d+)?"
    for path in NOTEBOOKS:
        settings = set(re.findall(number, source(path).replace("_", "")))
        settings |= {f"{100 * float(each):g}" for each in settings}  # in per cent
        for cell in cells(path, "markdown"):
            prose = re.sub(no_result, "", "".join(cell["source"]).replace(",", ""))
            computed = set(cell["metadata"].get("numbers", {}))
            left = set(re.findall(number, prose)) - settings - computed
            assert not left, f"{path.name}: {left}"


@pytest.mark.parametrize(
    ("kind", "said", "shown", "off"),
    [
        ("markdown", "gets 0.94, and 96 of 100", None, []),  # by a last digit
        ("markdown", "gets 0.97, and 97 of 100", None, ["0.97"]),
        ("markdown", "gets 0.93, and 93 of 100", None, ["93"]),
        ("code", "found 0.94", "found 0.92", []),
        ("code", "found 0.94", "found 0.84", ["0.94"]),
    ],
)
def test_what_differs_from_a_run_is_found(kind, said, shown, off):
    values = {"score": 0.931, "100 * found": 97.02}
    numbers = dict(zip(re.findall(r"0\.\d+|\b9\d\b", said), values, strict=False))

    def showing(text):
        output = {"output_type": "stream", "name": "stdout", "text": [text]}
        more = {"numbers": numbers if kind == "markdown" else {}}
        cell = {"cell_type": kind, "source": [said], "metadata": more}
        return {"cells": [cell | {"outputs": [output]}]}

    found = notebooks.differing(showing(said), showing(shown or said), values)
    assert len(found) == len(off)
    assert all(number in each for number, each in zip(off, found, strict=True))
