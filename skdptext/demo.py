"""The workflow, and the three releases, on built-in texts.

Run it with ``python -m skdptext.demo``, or ``make demo`` in a checkout. It needs no
network: the texts are public documentation strings on two topics. A release should keep
the topic and hide the original document.
"""

import argparse
import textwrap
import time
import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WMDKNNClassifier,
)
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection import PrivacyUtilityDisplay
from skdptext.metrics import identified_scorer, label_scores, words_changed_scorer
from skdptext.model_selection import best_under_constraint
from skdptext.utils import half_width

TOPICS = ("linear algebra", "statistics")
GRID = {"noise__lam": [0.0, 0.5, 1.0], "noise__epsilon": [8.0, 12.0, 20.0]}
DIVISIONS = 3
Texts = Sequence[str]
Scores = dict[str, tuple[float | None, ...]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; see ``--help``."""
    parser = argparse.ArgumentParser(
        prog="python -m skdptext.demo",
        description="skdptext on its built-in data.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--output", type=Path, default="demo-output", help="folder for the figure"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)
    if find_spec("matplotlib") is None:  # fail now instead of after a minute of work
        parser.error("the figure needs matplotlib: pip install matplotlib.")

    started = time.perf_counter()
    # The private texts here are public, and some resemble each other.
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    texts, topics = load_docstrings(topics=TOPICS, return_X_y=True)
    print(
        f"{len(texts)} documentation strings on {' and '.join(TOPICS)}.\n\n"
        "1. Noisy words: how much noise can a classifier take? Searching ε and λ takes "
        "half a\nminute; the first run also trains word vectors …",
        flush=True,
    )
    search = searched(texts, topics, options.jobs)
    show_search(search)
    options.output.mkdir(parents=True, exist_ok=True)
    figure = options.output / "privacy_and_utility.png"
    display = PrivacyUtilityDisplay.from_search(
        search, privacy="changed", utility="topic"
    ).plot()
    display.figure_.savefig(figure, dpi=150)
    print(f"Figure: {figure}\n\n2. All three releases, {DIVISIONS} divisions …\n")
    noise = search.best_estimator_["noise"]
    show_releases([released(texts, topics, noise, n) for n in range(DIVISIONS)])
    print(f"\nDone in {time.perf_counter() - started:.0f} s.")
    return 0


def searched(texts: Texts, topics: np.ndarray, n_jobs: int) -> GridSearchCV:
    """Search for the most noise with which four of five topics are right."""
    words = load_docstring_embedding()
    noise = DPWordPerturber(words, document_length=20, stop_words="english")
    search = GridSearchCV(
        Pipeline([("noise", noise), ("knn", WMDKNNClassifier(words, n_neighbors=9))]),
        GRID,
        scoring={"topic": "balanced_accuracy", "changed": words_changed_scorer},
        refit=best_under_constraint(
            maximize="changed", subject_to={"topic": 0.8}, tuned_on="public"
        ),
        cv=5,
        n_jobs=n_jobs,
    )
    return search.fit(texts, topics)


def show_search(search: GridSearchCV) -> None:
    """Print both scores of each candidate, and the chosen one."""
    print(f"\n{'':8}{'topic right, λ =':^24}{'words changed, λ =':^24}")
    heads = [f"{lam:8g}" for lam in GRID["noise__lam"]]
    print(f"{'':8}" + "".join(heads * 2))
    for epsilon in GRID["noise__epsilon"]:
        rows = np.flatnonzero(search.cv_results_["param_noise__epsilon"] == epsilon)
        topic, changed = (
            [f"{each:8.0%}" for each in search.cv_results_[f"mean_test_{name}"][rows]]
            for name in ("topic", "changed")
        )
        print(f"ε = {epsilon:<4g}" + "".join(topic + changed))
    best = search.best_params_
    print(
        f"\nChosen: λ = {best['noise__lam']:g}, ε = {best['noise__epsilon']:g}, the "
        "most words changed with at least 80% of the\ntopics right (guessing: 50%)."
    )


def released(
    texts: Texts, topics: np.ndarray, noise: DPWordPerturber, seed: int
) -> Scores:
    """Score how well each release keeps the topic, and the share that is identified.

    Half of the texts are private, a quarter is public, and a quarter tests the
    classifiers that learned from a release.
    """
    private, rest, y_private, y_rest = train_test_split(
        texts, topics, test_size=0.5, stratify=topics, random_state=seed
    )
    public, unseen, y_public, y_unseen = train_test_split(
        rest, y_rest, test_size=0.5, stratify=y_rest, random_state=seed
    )

    def kept(release: Texts, labels: np.ndarray) -> Iterable[float]:
        model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True),
            LogisticRegression(C=10.0, class_weight="balanced"),
        ).fit(release, labels)
        return label_scores(y_unseen, model.predict(unseen)).values()

    # `fit` learns nothing from documents, so that an empty list is enough.
    words = noise.set_params(output="text").fit([])
    replacer = DPDocumentReplacer(public, public_labels=y_public, epsilon=4.0).fit()
    model = DPTextClassifier(public, epsilon=1.0, classes=list(np.unique(topics)))
    corpus = model.fit_resample(private, y_private)
    return {
        "as written": (*kept(private, y_private), 1.0),
        f"noisy words, ε = {noise.epsilon:g}": (
            *kept(words.transform(private), y_private),
            identified_scorer(words, private),
        ),
        "stand-ins, ε = 4": (
            *kept(replacer.transform(private), y_private),
            identified_scorer(replacer, private),
        ),
        "model and corpus, ε = 1": (*kept(*corpus), None),
    }


def show_releases(divisions: Sequence[Scores]) -> None:
    """Print the mean of each score over the divisions, ± half of its 95% interval."""
    heads = "balanced", "accuracy", "precision", "identified"
    rows: list[tuple[str, ...]] = [("", *heads)]
    for name in divisions[0]:
        cells = []
        for values in zip(*(each[name] for each in divisions), strict=True):
            if None in values:
                cells.append("–")
                continue
            # Each division is one release on other texts: the interval also covers the
            # noise.
            half = half_width(np.std(values, ddof=1), len(values))
            cells.append(f"{np.mean(values):.0%} ± {half:.0%}")
        rows.append((name, *cells))
    for name, *cells in [*rows, ("guessing", "50%", "–", "–", "1%")]:
        print(f"{name:26}" + "".join(f"{cell:>14}" for cell in cells))
    print()
    print(
        textwrap.fill(
            "Topics on unseen texts: balanced accuracy, accuracy and the precision of"
            " the rarer topic. Identified: of 100 candidates. Noisy words stay close to"
            " the text, and do not hide a document from anyone who has it. Stand-ins"
            " hide it: no attacker identifies more than two of 100 equally likely"
            " documents on average. A model and a labeled public corpus release no"
            " document, and they alone protect the labels, but you must be trusted with"
            " the texts.",
            88,
        )
    )


if __name__ == "__main__":
    raise SystemExit(main())
