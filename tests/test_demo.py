"""`python -m skdptext.demo`, on two divisions of the built-in corpus."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from functools import cache, partial

import numpy as np
import pytest
from sklearn.utils import Bunch

from skdptext import demo


@pytest.fixture(scope="module")
def read():
    """What `documents` and `plain_embedding` return: a second time would take long."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("documents", "plain_embedding"):
            patch.setattr(demo, name, cache(getattr(demo, name)))
        patch.setattr(demo, "N_WORDS", 1000)
        yield demo


def beginnings(corpus, n_words=100, n_documents=20):
    """Of so many documents of each author on each topic."""
    of_each = [np.flatnonzero(corpus.both == kind) for kind in np.unique(corpus.both)]
    rows = np.sort(np.concatenate([rows[:n_documents] for rows in of_each]))
    texts = [" ".join(corpus.data[row].split()[:n_words]) for row in rows]
    labels = {name: corpus[name][rows] for name in ("topic", "author", "both")}
    return Bunch(data=texts, **labels)


@pytest.fixture(scope="module")
def printed(built_in, read, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    text = io.StringIO()
    with (
        contextlib.redirect_stdout(text),
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("error")  # a demonstration warns of nothing
        patch.setattr(demo, "documents", partial(beginnings, read.documents()))
        status = demo.main(
            ["--divisions", "2", "--jobs", "1", "--output", str(folder / "new")]
        )
    assert status == 0
    return text.getvalue(), folder / "new" / "which_release_protects.png"


def rows_of(text):
    """Means of the three rows of releases."""
    row = r"^(as written|noisy words|stand-ins)\b.*?" + r" +([\d.]+) ± [\d.]+" * 3 + "$"
    return {name: list(map(float, rest)) for name, *rest in re.findall(row, text, re.M)}


@pytest.mark.no_cover
def test_one_table_of_four_rows_tells_the_story(printed):
    text, _ = printed
    rows = rows_of(text)
    assert list(rows) == ["as written", "noisy words", "stand-ins"]
    (topic, document, author), words, replaced = rows.values()
    guessing = re.search(r"^guessing +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M)
    by_chance = list(map(float, guessing.groups()))
    assert by_chance == [0.17, 0.01, 0.33]
    # most of the topic, hardly a document, and of the author what the topic reveals
    assert replaced[0] > 0.8 * topic > 0.7
    assert replaced[1] <= 0.07
    assert replaced[2] < author - 0.2
    # words keep hardly more (noise moves the difference by 0.02), and are found
    assert words[0] <= replaced[0] + 0.1
    assert words[1] > 0.9
    assert document == 1.0
    assert words[2] > by_chance[2] + 0.2
    # a model of texts and labels: no document leaves, and none is identified
    (learned,) = re.search(
        r"^model and corpus, ε = 1 +([\d.]+) ± \S+ +– +–$", text, re.M
    ).groups()
    assert float(learned) > 2 * by_chance[0]
    said = " ".join(text.split())
    assert "topics by 3 authors, the libraries numpy, scipy, scikit-learn" in said
    assert "± is half of a 95% interval" in said
    assert "it alone protects the labels" in said


def test_the_topics_of_the_example_are_told(printed, read):
    about = re.findall(r"^(?:A document|Its stand-in,) on (.+):$", printed[0], re.M)
    assert len(about) == 2
    assert set(about) <= set(read.TOPICS)
    assert set(read.documents().author) == set(read.AUTHORS)


def test_verdict_and_proof_are_said(printed):
    text = " ".join(printed[0].split())
    rows = rows_of(printed[0])
    said = re.search(r"Verdict: noisy words do not hide .*: (\d+)% identified", text)
    assert int(said[1]) == pytest.approx(100 * rows["noisy words"][1], abs=1)
    kept = re.search(r"Stand-ins keep (\d+)%", text)
    assert int(kept[1]) == pytest.approx(
        100 * rows["stand-ins"][0] / rows["as written"][0], abs=1.5
    )
    # six groups: 6 e⁴ / (e⁴ + 5) of 100, and what is expected is never above it
    found = re.search(r"more than ([\d.]+)% of 100 .*? \(here ([\d.]+)%\)", text)
    most, here = map(float, found.groups())
    assert most == pytest.approx(600 / (1 + 5 / np.exp(4)) / 100, abs=0.06)
    assert here <= most
    # e / (1 + e), rounded up
    assert "at most 73.2% of cases (a coin: 50%)" in text


def test_no_identifiers_among_the_words(printed, read):
    text, _ = printed
    for word in ("sphx", ":ref:", "`"):
        assert word not in text
        # what is printed is drawn: none of the others has any either
        assert not any(word in document for document in read.documents().data)
    words = read.plain_embedding().words
    assert len(words) == read.N_WORDS
    assert all(word.isalpha() for word in words)


def test_it_writes_a_figure(printed):
    _, figure = printed
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_bad_options_are_refused_at_once(capsys, monkeypatch):
    monkeypatch.setattr(demo, "load_docstring_embedding", None)
    with pytest.raises(SystemExit):
        demo.main(["--divisions", "1"])
    assert "--divisions is too small" in capsys.readouterr().err


def test_a_missing_matplotlib_is_said_at_once(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo, "load_docstring_embedding", None)
    with pytest.raises(SystemExit):
        demo.main([])
    assert "pip install matplotlib" in capsys.readouterr().err
