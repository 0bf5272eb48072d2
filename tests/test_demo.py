"""`python -m skdptext.demo`, on few documents."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from skdptext import demo


@pytest.fixture(scope="module")
def printed(built_in, tmp_path_factory):
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("demo")
    text = io.StringIO()
    with contextlib.redirect_stdout(text), pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "EPSILONS", (10, 20, 30))
        status = demo.main(
            ["--documents", "100", "--n-jobs", "1", "--output", str(folder / "new")]
        )
    assert status == 0
    return text.getvalue(), folder / "new" / "privacy_utility.png"


def test_it_shows_sentences_at_three_epsilons(printed):
    text, _ = printed
    for sentence in demo.SENTENCES:
        assert sentence in text
    assert len(re.findall(r"^  ε = (?:40|20|10)\b", text, re.M)) == 9


def test_it_prints_a_line_per_candidate(printed):
    text, _ = printed
    row = r"^ *ε = (\d+), λ = ([\d.]+)" + r" +([\d.]+)" * 4 + "$"
    rows = [tuple(map(float, r)) for r in re.findall(row, text, re.M)]
    assert len(rows) == 3 * len(demo.LAMS)
    changed = {row[:2]: row[2] for row in rows}
    learned, by_law = np.transpose([row[4:] for row in rows])
    # of 100 documents there are few releases to learn from; the law need not be learned
    assert by_law.mean() > learned.mean() + 0.1
    # less ε and more λ change more words, as the 2020 paper finds
    assert changed[10, 0] > changed[20, 0] > changed[30, 0]
    assert changed[20, 1] > changed[20, 0.5] > changed[20, 0]


def test_it_says_what_is_chosen_or_that_nothing_is(printed):
    text, _ = printed
    chosen = "Chosen: ε = " in text and "The guarantee: For anyone who sees" in text
    assert chosen != ("No candidate does it" in text)


def test_it_writes_a_figure(printed):
    _, figure = printed
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", [["--documents", "0"], ["--n-jobs", "0"]])
def test_bad_options_are_refused_at_once(option, capsys, monkeypatch):
    monkeypatch.setattr(demo, "load_docstring_embedding", None)
    with pytest.raises(SystemExit):
        demo.main(option)
    assert f"{option[0]} is too small" in capsys.readouterr().err


def test_a_missing_matplotlib_is_said_at_once(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(demo, "load_docstring_embedding", None)
    with pytest.raises(SystemExit):
        demo.main([])
    assert "install skdptext[plot]" in capsys.readouterr().err


def test_infeasible_choice_is_said(capsys):
    from sklearn.utils import Bunch

    from skdptext.model_selection import best_under_constraint

    rule = best_under_constraint(maximize="changed", subject_to={"topic": 0.9})
    scores = {"mean_test_changed": [0.5], "mean_test_topic": [0.2]}
    results = Bunch(clean_topic=1.0, rule=rule, cv_results=scores)
    demo.show_choice(results, None)
    assert results.best is None
    assert "No candidate does it" in capsys.readouterr().out
