"""Progress bars that are shown, and those that are not."""

from __future__ import annotations

import sys
from io import StringIO
from threading import Thread
from types import SimpleNamespace

import pytest
from tqdm.auto import tqdm

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.base import transitions_of
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
