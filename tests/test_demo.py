"""`python -m skdptext.demo`, on a part of its texts and of its grid."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings

import pytest

from skdptext import demo


@pytest.fixture(scope="module")
def printed(built_in, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    text = io.StringIO()
    every, topics = demo.load_docstrings(topics=demo.TOPICS, return_X_y=True)
    some = [" ".join(text.split()[:100]) for text in every[::3]], topics[::3]
    with (
        contextlib.redirect_stdout(text),
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("error")  # a demonstration warns of nothing
        patch.setattr(demo, "load_docstrings", lambda **_: some)
        patch.setattr(demo, "load_docstring_embedding", lambda: built_in.restrict(2000))
        patch.setitem(demo.GRID, "noise__lam", [0.0])
        patch.setattr(demo, "DIVISIONS", 2)
        status = demo.main(["--jobs", "1", "--output", str(folder / "new")])
    assert status == 0
    return text.getvalue(), folder / "new" / "privacy_and_utility.png"


@pytest.mark.no_cover
def test_one_table_has_all_releases(printed):
    percent = r"(\d+)% ± \d+%"
    text, figure = printed
    assert figure.read_bytes().startswith(b"\x89PNG")
    row = rf"^(as written|noisy words|stand-ins|model)[^%]*? +{percent} +{percent}"
    row += rf" +{percent} +(?:{percent}|–)$"
    names, *scores, found = zip(*re.findall(row, text, re.M), strict=True)
    assert names == ("as written", "noisy words", "stand-ins", "model")
    assert all(int(score) > 60 for each in scores for score in each)
    assert found[0] == "100"
    assert int(found[1]) > 50
    assert int(found[2]) <= 10  # two groups: about two of the candidates
    # of a model no document leaves, and none is identified
    assert found[3] == ""


def test_a_missing_matplotlib_is_said_at_once(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo, "load_docstrings", None)
    with pytest.raises(SystemExit):
        demo.main([])
    assert "pip install matplotlib" in capsys.readouterr().err
