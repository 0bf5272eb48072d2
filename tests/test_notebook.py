"""The notebooks run from top to bottom on a part of their data; outputs are kept."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA") or ROOT.parent / "shared" / "data"
).resolve()


@pytest.fixture(scope="module")
def notebooks():
    spec = importlib.util.spec_from_file_location(
        "notebooks", ROOT / "docs" / "notebooks.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(notebooks, tmp_path, monkeypatch):
    """Run a copy of a notebook on so many rows; its names."""
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    # Where there are no messages and vectors, the built-in ones stand in.
    monkeypatch.setenv("SKDPTEXT_DATA", str(DATA if DATA.exists() else tmp_path))

    def run(name, rows):
        monkeypatch.setenv("SKDPTEXT_ROWS", str(rows))
        copy = tmp_path / name
        copy.write_text((EXAMPLES / name).read_text("utf-8"), "utf-8")
        return notebooks.run(copy)

    return run


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_they_are_notebooks_with_their_outputs(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    shown = [output for cell in code for output in cell["outputs"]]
    assert not any(output["output_type"] == "error" for output in shown)
    figures = [output for output in shown if "image/png" in output.get("data", {})]
    assert len(figures) == 1, "one figure, shown once"


def test_the_gallery_offers_them_all():
    header = (EXAMPLES / "GALLERY_HEADER.rst").read_text("utf-8")
    offered = re.findall(r"^   /notebooks/(\w+)$", header, flags=re.MULTILINE)
    assert sorted(offered) == [path.stem for path in NOTEBOOKS]


# The messages are of one collection: people forward them, as the notebook says.
@pytest.mark.filterwarnings("ignore:.* public texts are among the documents to be")
@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_a_filter_learns_from_messages_that_nobody_finds(run):
    table = run("sms_spam.ipynb", 400)["table"]
    assert (table["accuracy on held-out messages"] > 0.5).all()
    stand_ins = table.filter(like="stand-ins", axis=0)["identified among 100"]
    words = table.filter(like="changed", axis=0)["identified among 100"]
    assert stand_ins.max() < 0.05 < words.min()


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_a_task_chooses_among_mechanisms_and_classifiers(run):
    names = run("disaster_tweets.ipynb", 120)
    assert len(names["wide"]) == 12
    assert set(names["wide"]["mechanism"]) == {"exponential", "mahalanobis-noise"}
    assert 0.4 < names["score"] <= 1


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_stand_ins_keep_the_topic_and_hide_the_story(run, monkeypatch):
    # who guesses authors and topics has tests of his own
    monkeypatch.setattr("skdptext.attacks._labels._FOLDS", 2)
    table = run("fan_fiction.ipynb", 60)["table"]
    assert table["linkage: value"].iloc[-1] < table["linkage: value"].iloc[0]


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_others_learn_from_a_corpus_that_a_noisy_sum_labelled(run):
    names = run("tweets_to_learn_from.ipynb", 300)
    assert list(names["table"].index) == [0.25, 0.5, 1.0, 2.0]
    assert 0.4 < names["score"] <= 1
    assert set(names["documents"]) <= set(names["public"])


def test_every_number_of_an_answer_is_computed():
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        (answer,) = [c for c in cells if "numbers" in c["metadata"]]
        prose = "".join(answer["source"])
        assert prose.startswith("## The answer")
        assert answer is cells[1], "the answer comes first"
        for said in answer["metadata"]["numbers"]:
            assert re.search(rf"(?<![\d.]){re.escape(said)}(?![\d]|\.\d)", prose), said


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
    cell = {"source": [prose], "metadata": {"numbers": numbers}}
    names = {"score": 0.931, "found": 0.9702}
    found = notebooks.differing({"cells": [cell]}, names)
    assert [each.partition(":")[0] for each in found] == off


def test_a_notebook_becomes_a_page(notebooks):
    for path in NOTEBOOKS:
        page = notebooks.as_rst(json.loads(path.read_text("utf-8")), path.name)
        title, rule = page.splitlines()[:2]
        assert rule == "=" * len(title)
        assert page.count("data:image/png") == 1
        assert "**" not in re.sub(r"\*\*\S[^*]*\S\*\*", "", page.split(".. code")[0])
