"""Progress bars that are shown, and those that are not."""

from __future__ import annotations

from threading import Thread

import pytest
from tqdm.auto import tqdm

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.metrics import word_transitions
from skdptext.utils import progress_bar

TOY = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])


def test_a_bar_counts(capsys):
    with progress_bar(1, "counting", total=7, unit="doc") as bar:
        bar.update(3)
        bar.update(4)
    assert "counting" in (told := capsys.readouterr().err)
    assert "7/7" in told


def count():
    with progress_bar(0, "counting", total=7) as bar:
        bar.update(7)
    bar.close()


def release():
    perturber = DPWordPerturber(TOY, epsilon=1.0, document_length=2, random_state=0)
    perturber.fit([]).transform(["aa bb"])


def simulate():
    word_transitions(
        DPWordPerturber(TOY, epsilon=1.0, document_length=2).fit([]), random_state=0
    )


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
