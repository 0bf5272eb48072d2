"""Doctests of the pages: those on public sets and vectors need the data folder.

It is ``../shared/data``, or the folder that ``SKDPTEXT_TEST_DATA`` names. Where it is
absent, pages that use it are skipped, and say so.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA") or HERE.parents[1] / "shared" / "data"
).resolve()
# What the pages load, by the name that it has where one downloads it.
VECTORS = "glove.6B.50d.txt"


def _needs_data(path: Path) -> bool:
    text = path.read_text("utf-8")
    return VECTORS in text or ">>> texts, labels = fetch_sms" in text


@pytest.fixture(scope="session")
def glove(tmp_path_factory) -> Path:
    """A part of GloVe, as the text file that the pages name."""
    path = tmp_path_factory.mktemp("vectors") / VECTORS
    with np.load(DATA / "glove_6B_13k_50d.npz") as arrays, path.open("w") as file:
        for word, row in zip(arrays["words"], arrays["vectors"], strict=True):
            print(word, *(f"{x:.6g}" for x in row), file=file)
    return path


@pytest.fixture(autouse=True)
def _in_an_empty_folder(request, tmp_path, monkeypatch):
    """Each page runs in a folder of its own, where it may write."""
    page = getattr(request.node, "path", Path())
    if page.suffix == ".rst":
        monkeypatch.chdir(tmp_path)
        if _needs_data(page):
            if not (DATA / "glove_6B_13k_50d.npz").exists():
                pytest.skip(f"no public vectors in {DATA}")
            monkeypatch.setenv("SKDPTEXT_DATA", str(DATA))
            (tmp_path / VECTORS).symlink_to(request.getfixturevalue("glove"))
