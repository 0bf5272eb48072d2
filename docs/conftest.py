"""Doctests of the pages: those on public sets and vectors need the data folder.

It is ``../shared/data``, or the folder that ``SKDPTEXT_TEST_DATA`` names. Where it is
absent, pages that use it are skipped, and say so.

What a page prints is what it printed when it was written. Two flags say how near a run
must come: ``+ABOUT``, each number within 5% or two units of its last digit;
``+DRAWN``, text that differs in each run, as many strings of it.
"""

from __future__ import annotations

import doctest
import gzip
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import near  # noqa: E402

DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA") or HERE.parents[1] / "shared" / "data"
).resolve()
# What the pages load, by the names that they have where one downloads them.
VECTORS = "glove.6B.50d.txt"
DOWNLOAD = "glove-wiki-gigaword-50"

ABOUT = doctest.register_optionflag("ABOUT")
DRAWN = doctest.register_optionflag("DRAWN")
STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_exactly = doctest.OutputChecker.check_output


def _check(self: doctest.OutputChecker, want: str, got: str, flags: int) -> bool:
    if flags & DRAWN:
        want, got = STRING.sub("''", want), STRING.sub("''", got)
    if flags & ABOUT:
        got = near.numbers(want, got)
    return _exactly(self, want, got, flags)


# pytest's own checker asks this one first.
doctest.OutputChecker.check_output = _check  # type: ignore[method-assign]


def _needs_data(path: Path) -> bool:
    text = path.read_text("utf-8")
    return any(
        sign in text for sign in (VECTORS, DOWNLOAD, ">>> texts, labels = fetch_sms")
    )


@pytest.fixture(scope="session")
def glove(tmp_path_factory) -> Path:
    """A folder with a part of GloVe, as the files that the pages name."""
    folder = tmp_path_factory.mktemp("vectors")
    with (
        np.load(DATA / "glove_6B_13k_50d.npz") as arrays,
        (folder / VECTORS).open("w") as text,
        gzip.open(folder / f"{DOWNLOAD}.gz", "wt", compresslevel=1) as packed,
    ):
        words, vectors = arrays["words"], arrays["vectors"]
        print(*vectors.shape, file=packed)
        for word, row in zip(words, vectors, strict=True):
            line = " ".join([word, *(f"{x:.6g}" for x in row)])
            print(line, file=text)
            print(line, file=packed)
    return folder


@pytest.fixture(autouse=True)
def _as_a_reader(request, tmp_path, monkeypatch):
    """Each page runs in a folder of its own."""
    page = getattr(request.node, "path", Path())
    if page.suffix not in (".rst", ".md"):
        yield
        return
    monkeypatch.chdir(tmp_path)
    if _needs_data(page):
        if not (DATA / "glove_6B_13k_50d.npz").exists():
            pytest.skip(f"no public vectors in {DATA}")
        monkeypatch.setenv("SKDPTEXT_DATA", str(DATA))
        folder = request.getfixturevalue("glove")
        (tmp_path / VECTORS).symlink_to(folder / VECTORS)
        if DOWNLOAD in page.read_text("utf-8"):
            import gensim.downloader

            monkeypatch.setattr(
                gensim.downloader, "load", lambda name, **_: f"{folder / name}.gz"
            )
    yield
