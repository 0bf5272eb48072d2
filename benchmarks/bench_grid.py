"""Time and memory of a 5 × 5 grid of ε and λ in GridSearchCV, by one worker and by two.

One command::

    python benchmarks/bench_grid.py [--documents 100]

SMS messages under a table of 30,000 words of 300 dimensions, naive Bayes on noisy bags,
two folds. The workers are loky's: processes that map the table from one file. Memory is
the proportional set size of the process and its workers, looked at every 50 ms.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import measuring
from joblib.externals.loky import get_reusable_executor
from real_data import load_table, read_sms
from results import record
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber

GRID = {
    "dpwordperturber__epsilon": [1.0, 5.0, 10.0, 20.0, 40.0],
    "dpwordperturber__lam": [0.0, 0.25, 0.5, 0.75, 1.0],
}


def held_mb() -> float:
    """What this process and those that it has started hold now."""
    kilobytes = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            if os.getpid() in (int(folder.name), int(parent)):
                rollup = (folder / "smaps_rollup").read_text()
                kilobytes += int(rollup.split("\nPss:")[1].split()[0])
        except (OSError, IndexError):  # it has ended meanwhile
            continue
    return kilobytes / 1024


def main() -> None:
    arguments = measuring.options(__doc__, documents=100)
    table = load_table()
    texts, labels = (part[: arguments.documents] for part in read_sms())
    rows = []
    for n_jobs in (1, 2):
        model = make_pipeline(DPWordPerturber(table, n_jobs=1), MultinomialNB())
        search = GridSearchCV(model, GRID, cv=2, n_jobs=n_jobs, refit=False)
        peak, done = [0.0], threading.Event()

        def watch(peak: list[float] = peak, done: threading.Event = done) -> None:
            while not done.wait(0.05):
                peak.append(held_mb())

        watcher = threading.Thread(target=watch)
        watcher.start()
        seconds = measuring.seconds_of(lambda search=search: search.fit(texts, labels))
        done.set()
        watcher.join()
        rows.append({"workers": n_jobs, "s": seconds, "peak, MiB": max(peak)})
        get_reusable_executor().shutdown()
    record(
        "grid",
        measuring.shown(rows),
        title="A 5 × 5 grid of ε and λ, two folds",
        note=f"{len(texts)} messages.",
    )


if __name__ == "__main__":
    main()
