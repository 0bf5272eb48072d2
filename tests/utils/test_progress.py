"""Progress bars that are shown, and those that are not."""

from __future__ import annotations

import sys
from io import StringIO
from itertools import count as counted
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from tqdm.auto import tqdm

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.audit import (
    audit_document_pair,
    audit_noise_law,
    audit_word_privacy,
)
from skdptext.base import transitions_of
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Exponential, RandomizedResponse
from skdptext.metrics import plausible_deniability
from skdptext.model_selection import calibrate_epsilon
from skdptext.utils import progress, progress_bar, show_progress

TOY = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])


def test_a_bar_counts(capsys):
    with progress_bar(2, "counting", total=7, unit="doc") as bar:
        bar.update(3)
        bar.update(4)
    assert "counting" in (printed := capsys.readouterr().err)
    assert "7/7" in printed


class Screen(StringIO):
    """A standard error that is a terminal, or is not, or was closed."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        if self.terminal is None:
            raise ValueError("I/O operation on closed file")
        return self.terminal


def a_notebook(kind):
    """IPython as a kernel or a terminal of it configures it."""
    return SimpleNamespace(get_ipython=lambda: SimpleNamespace(config={kind: {}}))


def no_notebook():
    return SimpleNamespace(get_ipython=lambda: None)


@pytest.mark.parametrize(
    ("stream", "ipython", "shown"),
    [
        (Screen(True), no_notebook(), [1, 2]),
        (Screen(False), no_notebook(), [2]),
        (Screen(None), no_notebook(), [2]),
        (None, no_notebook(), []),  # of Windows without a console
        (Screen(False), None, [2]),  # no IPython
        (Screen(False), a_notebook("IPKernelApp"), [1, 2]),
        (Screen(False), a_notebook("TerminalIPythonApp"), [2]),
    ],
)
def test_a_bar_is_shown_on_a_terminal_and_in_a_notebook(
    stream, ipython, shown, monkeypatch
):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    made = []
    for verbose in range(3):
        with progress_bar(verbose, "counting", total=1) as bar:
            if isinstance(bar, tqdm):
                made.append(verbose)
        with show_progress(verbose):
            assert isinstance(progress([1], "counting"), tqdm) == (verbose in shown)
    assert made == shown


def count():
    with progress_bar(0, "counting", total=7) as bar:
        bar.update(7)
    bar.close()


def release():
    perturber = DPWordPerturber(TOY, epsilon=1.0, document_length=2, random_state=0)
    perturber.fit([]).transform(["aa bb"])


def simulate():
    perturber = DPWordPerturber(TOY, epsilon=1.0, document_length=2).fit([])
    transitions_of(perturber.mechanism_, random_state=0)


@pytest.mark.parametrize("work", [count, release, simulate])
def test_one_that_is_not_shown_waits_for_nobody(work, capsys):
    """Processes share tqdm's lock, and one may have been killed while it held it."""
    done = []
    thread = Thread(target=lambda: done.append(work()), daemon=True)
    with tqdm.get_lock():
        thread.start()
        thread.join(timeout=60)
    assert len(done) == 1
    assert capsys.readouterr().err == ""


# -- what takes long says so where it is asked to -----------------------------------

rng = np.random.default_rng(1)
TABLE = WordEmbedding([f"w{i}" for i in range(40)], rng.normal(size=(40, 3)))
BAGS = rng.integers(0, 3, (12, 40))
CAPS = counted(31)  # beyond all words, and new each time: else the rate is kept


def fitted(mechanism=None, **options):
    options = {"epsilon": 1.0, "lam": 0.0, "document_length": 1, **options}
    return DPWordPerturber(TABLE, mechanism=mechanism, **options).fit([])


def noise(verbose):
    fitted(verbose=verbose).transform(["w1 w2", "w3"])


def calibrated(mechanism):
    return lambda verbose: calibrate_epsilon(fitted(mechanism), verbose=verbose)


def neighbours(ask):
    def work(verbose):
        model = WMDKNNClassifier(TABLE, n_neighbors=2, verbose=verbose)
        getattr(model.fit(BAGS, [0, 1] * 6), ask)(BAGS)

    return work


LONG = {
    "release": (noise, "2/2"),
    "pairs": (lambda v: fitted(Exponential("exact", next(CAPS)), verbose=v), "pairs"),
    "words": (
        lambda v: audit_word_privacy(fitted(), pairs=1, n_draws=1000, verbose=v),
        "audit: 2000draw",
    ),
    "law": (lambda v: audit_noise_law(fitted(), n_draws=200, verbose=v), "200/200"),
    "documents": (
        lambda v: audit_document_pair(fitted(), ["w1"], ["w2"], n_releases=600,
                                      verbose=v),
        "1200/1200",
    ),
    "deniability": (
        lambda v: plausible_deniability(fitted(), n_draws=2, verbose=v),
        "deniability: 100%",
    ),
    "exact deniability": (
        lambda v: plausible_deniability(fitted(RandomizedResponse()), verbose=v),
        "deniability: 100%",
    ),
    "calibration": (calibrated(None), "calibration"),
    "exact calibration": (calibrated(RandomizedResponse()), "calibration"),
    "all passes": (
        lambda v: calibrated(Exponential("exact", next(CAPS)))(v), "pairs of words"
    ),
    "transitions": (
        lambda v: transitions_of(fitted().mechanism_, random_state=rng, verbose=v),
        "draw",
    ),
    **{f"neighbours, {ask}": (neighbours(ask), "neighbours: 100%")
       for ask in ("predict", "predict_proba", "kneighbors")},
}  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore::skdptext.exceptions.PrivacyLeakWarning")
@pytest.mark.parametrize("name", LONG)
def test_progress_is_shown_where_it_is_asked_for(name, capfd):
    work, title = LONG[name]
    work(0)
    work(1)  # no terminal here
    assert capfd.readouterr().err == ""
    work(2)
    assert title in capfd.readouterr().err
    with pytest.raises(InvalidParameterError, match="verbose must be an integer >= 0"):
        work(-1)
