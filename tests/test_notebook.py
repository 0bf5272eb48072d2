"""The notebooks run from top to bottom, on the data that every install has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook's cells in an empty folder; its names."""
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    # An empty folder: no messages, no table, so the built-in ones stand in.
    monkeypatch.setenv("SKDPTEXT_DATA", str(tmp_path))

    def run(name):
        names: dict[str, object] = {}
        for cell in json.loads((EXAMPLES / name).read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), name, "exec"), names)
        return names

    return run


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_they_are_notebooks_without_outputs(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("code", "markdown")
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


def test_the_gallery_offers_them_all():
    header = (EXAMPLES / "GALLERY_HEADER.rst").read_text("utf-8")
    offered = re.findall(r"<\.\./\.\./examples/(\w+\.ipynb)>", header)
    assert sorted(offered) == [path.name for path in NOTEBOOKS]


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_messages_are_released_with_their_guarantee(run, tmp_path, capsys):
    names = run("release_messages.ipynb")
    private = names["private"]
    released = pd.read_csv(tmp_path / "released" / "messages.csv")
    assert released["label"].tolist() == private["label"].tolist()
    assert released["message"].str.split().str.len().eq(10).all()
    bags = sp.load_npz(tmp_path / "released" / "bags.npz")
    words = np.load(tmp_path / "released" / "words.npy")
    assert bags.shape == (len(private), len(words))
    assert (bags.sum(axis=1) == 10).all()
    first = sorted(released["message"][0].split())
    assert sorted(np.repeat(words, bags[0].toarray().ravel()).tolist()) == first
    promise = (tmp_path / "released" / "GUARANTEE.txt").read_text("utf-8")
    assert f"exp({names['chosen'].epsilon:g}·d(w, w'))" in promise
    assert "accuracy on the release: 0." in capsys.readouterr().out


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_a_task_chooses_among_mechanisms_and_classifiers(run, capsys):
    names = run("choose_for_a_task.ipynb")
    wide = names["wide"]
    assert len(wide) == len(names["search"].cv_results_["params"])
    assert set(wide["mechanism"]) == {"noise", "exponential"}
    assert set(wide["classifier"]) == {"linear", "neighbours"}
    # The weakest noise of each mechanism keeps the topic, and most of the words.
    weakest = wide.loc[wide.groupby("mechanism")["epsilon"].idxmax()]
    assert (weakest["accuracy"] > 0.6).all()
    assert (weakest["changed"] < 0.4).all()
    assert "accuracy on held-out documents: " in capsys.readouterr().out


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_hidden_authors_are_measured(run, capsys):
    names = run("hide_my_authors.ipynb")
    assert len(names["compared"].exponents) == len(names["grid"])
    author, topic = (names["report"].strongest(target=t) for t in ("author", "topic"))
    assert author["noisy"] < topic["noisy"]
    assert topic["clean"] > 0.6
    printed = capsys.readouterr().out
    assert re.search(r"author: 0\.\d\d in clear, 0\.\d\d as released", printed)
