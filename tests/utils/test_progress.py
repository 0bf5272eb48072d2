"""Progress bars that are shown, and those that are not."""

from __future__ import annotations

from threading import Thread

from tqdm.auto import tqdm

from skdptext.utils import progress_bar


def test_a_bar_counts(capsys):
    with progress_bar(1, "counting", total=7, unit="doc") as bar:
        bar.update(3)
        bar.update(4)
    assert "counting" in (told := capsys.readouterr().err)
    assert "7/7" in told


def test_one_that_is_not_shown_waits_for_nobody(capsys):
    """Processes share tqdm's lock, and one may have been killed while it held it."""

    def count():
        with progress_bar(0, "counting", total=7) as bar:
            bar.update(7)
        bar.close()

    thread = Thread(target=count, daemon=True)
    with tqdm.get_lock():
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert capsys.readouterr().err == ""
