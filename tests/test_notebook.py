"""The notebooks run in Jupyter, and show and say what a run shows."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA") or ROOT.parent / "shared" / "data"
).resolve()
STANDS_IN = "documentation of two topics stands in|documentation stands in"


def cells(path, kind):
    every = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in every if cell["cell_type"] == kind]


def source(path):
    return "".join("".join(cell["source"]) + "\n" for cell in cells(path, "code"))


@pytest.fixture(scope="module")
def notebooks():
    spec = importlib.util.spec_from_file_location(
        "notebooks", ROOT / "docs" / "notebooks.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def jupyter(notebooks):
    """One kernel for all notebooks, whose imports take longer than some of them."""
    with notebooks.jupyter() as client:
        yield client


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_run_in_jupyter_shows_what_is_stored_and_said(
    notebooks, jupyter, path, tmp_path
):
    """On real data; where there is none it only runs, on what every install has."""
    stored = json.loads(path.read_text("utf-8"))
    ran, values = notebooks.run(path, jupyter, DATA if DATA.exists() else tmp_path)
    if DATA.exists():
        off = notebooks.differing(stored, ran, values)
        again = f"look at what changed: python docs/notebooks.py {path}"
        assert not off, "\n".join([f"{path.name} is not what a run shows", *off, again])


@pytest.mark.notebooks
def test_a_notebook_without_its_data_says_so(notebooks, jupyter, tmp_path):
    ran, _ = notebooks.run(EXAMPLES / "release_documents.ipynb", jupyter, tmp_path)
    assert re.search(STANDS_IN, json.dumps(ran))


@pytest.mark.notebooks
def test_noise_differs_between_notebooks_and_not_between_runs(
    notebooks, jupyter, tmp_path
):
    source = "import secrets\nprint(secrets.token_hex(8))"
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    notebook = {"cells": [cell | {"execution_count": None, "id": "a"}], "metadata": {}}
    shown = []
    for name in ("one", "other", "one"):
        path = tmp_path / f"{name}.ipynb"
        notebooks.store(path, notebook | {"nbformat": 4, "nbformat_minor": 5})
        ran, _ = notebooks.run(path, jupyter, tmp_path)
        shown.append(ran["cells"][0]["outputs"][0]["text"])
    assert shown[0] == shown[2] != shown[1]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_notebooks_with_their_outputs(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" for output in outputs)
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) == source(path).count("plt.show()") > 0, "each figure once"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_stored_comes_from_real_data(path):
    shown = json.dumps([cell["outputs"] for cell in cells(path, "code")])
    assert not re.search(STANDS_IN, shown)
    if "SKDPTEXT_DATA" in source(path):
        assert "stand" in source(path), "without the data it says so"


def test_the_page_of_examples_offers_them_all():
    page = (ROOT / "docs" / "examples.rst").read_text("utf-8")
    listed = re.findall(r"^   /notebooks/(\w+)$", page, flags=re.MULTILINE)
    cards = re.findall(r":link: /notebooks/(\w+)$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(cards) == [path.stem for path in NOTEBOOKS]


def test_every_number_in_prose_is_computed_or_a_setting_in_the_code():
    no_result = r"`[^`]*`|https?://\S+|\b(19|20)\d\d\b|\b95 %|\b100\b|\b0\.50\b"
    number = r"(?<![\w.])\d+(?:\.\d+)?"
    for path in NOTEBOOKS:
        settings = set(re.findall(number, source(path).replace("_", "")))
        settings |= {f"{100 * float(each):g}" for each in settings}  # in per cent
        for cell in cells(path, "markdown"):
            prose = re.sub(no_result, "", "".join(cell["source"]).replace(",", ""))
            computed = set(cell["metadata"].get("numbers", {}))
            left = set(re.findall(number, prose)) - settings - computed
            assert not left, f"{path.name}: {left}"


def test_an_answer_comes_first_with_a_guess_and_an_attack():
    answers = [
        (path, cell)
        for path in NOTEBOOKS
        for cell in cells(path, "markdown")
        if "".join(cell["source"]).startswith("## The answer")
    ]
    assert len(answers) == 5
    for path, answer in answers:
        assert answer == cells(path, "markdown")[1]
        prose = re.sub(r"[εδ] = [\d.]+|\b100\b", "", "".join(answer["source"]))
        said = re.findall(r"\d+(?:\.\d+)?", prose)
        guess = {"0.50", "50"}  # of two classes, and of a coin
        assert set(said) <= guess | set(answer["metadata"]["numbers"])
        assert re.search("guess|always", prose)
        assert re.search("identif|attack", prose)


@pytest.mark.parametrize(
    ("prose", "said", "off"),
    [
        ("gets 0.93, and 97 of 100", ["0.93", "97"], []),
        ("gets 0.94, and 96 of 100", ["0.94", "96"], []),  # by a last digit
        ("gets 0.97, and 97 of 100", ["0.97", "97"], ["0.97"]),
        ("gets 0.93, and 93 of 100", ["0.93", "93"], ["93"]),
        ("gets 0.934, and 197 of 100", ["0.93", "97"], ["0.93", "97"]),  # not there
    ],
)
def test_prose_that_differs_from_a_run_is_found(notebooks, prose, said, off):
    numbers = dict(zip(said, ["score", "100 * found"], strict=True))
    cell = {
        "cell_type": "markdown",
        "source": [prose],
        "metadata": {"numbers": numbers},
    }
    values = {"score": 0.931, "100 * found": 97.02}
    found = notebooks.differing({"cells": [cell]}, {"cells": [cell]}, values)
    assert [re.search(r"says ([\d.]+),", each)[1] for each in found] == off


@pytest.mark.parametrize(
    ("stored", "ran", "varies", "same"),
    [
        ("found 0.94", "found 0.92", False, True),
        ("found 0.94", "found 0.84", False, False),
        ("found 0.94", "lost 0.94", False, False),
        ("a function", "another one", True, True),
    ],
)
def test_outputs_that_differ_from_a_run_are_found(notebooks, stored, ran, varies, same):
    def showing(text):
        output = {"output_type": "stream", "name": "stdout", "text": [text]}
        cell = {
            "cell_type": "code",
            "metadata": {"varies": varies},
            "outputs": [output],
        }
        return {"cells": [cell]}

    assert (notebooks.differing(showing(stored), showing(ran), {}) == []) == same


def test_a_page_has_figures_in_words_and_links_within_the_site(notebooks):
    for path in NOTEBOOKS:
        page = notebooks.as_page(json.loads(path.read_text("utf-8")), path.stem)
        assert "".join(page["cells"][0]["source"]).startswith("# ")
        drawing = [c for c in page["cells"] if "plt.show()" in "".join(c["source"])]
        assert all(cell["metadata"]["mystnb"]["image"]["alt"] for cell in drawing)
        assert notebooks.SITE not in json.dumps(page)
        answer = "".join(page["cells"][1]["source"])
        first = f"![{drawing[0]['metadata']['mystnb']['image']['alt']}]"
        assert (first in answer) == answer.startswith("## The answer")
        figures = source(path).count("plt.show()")
        assert json.dumps(page).count("image/png") == figures - (first in answer)


def test_names_lead_to_the_notebooks_that_use_them(notebooks):
    using = notebooks.using()
    assert "sms_spam" in using["DPDocumentReplacer"]
    assert "audit" in using["audit_noise_law"]
    assert "numpy" not in using
