"""The notebook runs from top to bottom, on the data that every install has."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp

PATH = Path(__file__).parents[1] / "examples" / "release_messages.ipynb"


def test_it_is_a_notebook_without_outputs():
    notebook = json.loads(PATH.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("code", "markdown")
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.filterwarnings("error::skdptext.exceptions.PrivacyLeakWarning")
def test_its_cells_run_and_release_a_matrix(tmp_path, monkeypatch, capsys):
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    # An empty folder: no messages, no table, so the built-in ones stand in.
    monkeypatch.setenv("SKDPTEXT_DATA", str(tmp_path))
    names: dict[str, object] = {}
    for cell in json.loads(PATH.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), PATH.name, "exec"), names)
    bags = sp.load_npz(tmp_path / "released" / "bags.npz")
    words = np.load(tmp_path / "released" / "words.npy")
    assert bags.shape == (len(names["private"]), len(words))
    assert (bags.sum(axis=1) == 10).all()
    promise = (tmp_path / "released" / "GUARANTEE.txt").read_text("utf-8")
    assert f"exp({names['chosen'].epsilon:g}·d(w, w'))" in promise
    assert "accuracy on the release: 0." in capsys.readouterr().out
