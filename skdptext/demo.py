"""The main job on the built-in data: perturb, classify, tune.

Run it with ``python -m skdptext.demo``, or ``make demo`` in a checkout. It needs no
network. The documents are public documentation strings, so that tuning on them costs
nobody's privacy; the same steps serve private documents once ε and λ are chosen.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import Bunch

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.exceptions import (
    CalibrationWarning,
    NoFeasibleCandidateError,
    PrivacyLeakWarning,
)
from skdptext.metrics import words_changed_scorer
from skdptext.model_selection import best_under_constraint
from skdptext.naive_bayes import ChannelNaiveBayes

EPSILONS = (10, 15, 20, 30)
LAMS = (0.0, 0.5, 1.0)
TOPICS = ("clustering", "linear algebra", "optimisation", "signals and images",
          "statistics", "text")  # fmt: skip
# Words per document: the first so many, of every one.
LENGTH = 40
# The share of the accuracy on clean text that the chosen release has to keep.
KEEP = 0.9

SENTENCES = (
    "Compute the eigenvalues and right eigenvectors of a square matrix",
    "Cluster the samples by their distance to the nearest centroid",
    "Return the mean and the variance of the distribution",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; see ``--help``."""
    parser = argparse.ArgumentParser(
        prog="python -m skdptext.demo", description="skdptext on its built-in data."
    )
    for option, default, text in (
        ("--output", Path("demo-output"), "folder for the figure"),
        ("--documents", 600, "documents to use"),
        ("--n-jobs", 2, "processes of the search"),
    ):
        parser.add_argument(
            option,
            type=type(default) if isinstance(default, int) else Path,
            default=default,
            help=f"{text} (default: {default})",
        )
    options = parser.parse_args(arguments)

    # Now rather than after a minute of work.
    if find_spec("matplotlib") is None:
        parser.error("the figure needs matplotlib: install skdptext[plot].")
    for name in ("documents", "n_jobs"):
        if getattr(options, name) < {"documents": 100, "n_jobs": 1}[name]:
            parser.error(f"--{name.replace('_', '-')} is too small.")

    started = time.perf_counter()
    print("Reading the corpus and its word vectors (trained once, then cached) …")
    embedding = load_docstring_embedding()
    corpus = _corpus(embedding, options.documents)
    print(
        f"Built-in corpus: {len(corpus.data)} documentation strings of {LENGTH} words, "
        f"{len(corpus.target_names)} topics, {len(corpus.author_names)} authors "
        f"(libraries). Embedding: {len(embedding)} words in {embedding.dim} dimensions."
    )
    show_sentences(embedding)
    results = search(corpus, embedding, options.n_jobs)
    show_table(results)
    show_choice(results, embedding)
    figure = draw(results, options.output / "privacy_utility.png")
    print(f"\nFigure: {figure}\nDone in {time.perf_counter() - started:.0f} s.")
    return 0


def _corpus(embedding: WordEmbedding, n_documents: int) -> Bunch:
    """Documents with enough known words, their topics and authors, in equal parts."""
    corpus = load_docstrings(topics=TOPICS, remove=("examples", "headers", "names"))
    texts = np.array(corpus.data, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        words = DPWordPerturber(embedding).fit([]).known_words(texts)
    long = np.flatnonzero([len(document) >= LENGTH for document in words])
    both = [f"{t}/{a}" for t, a in zip(corpus.target, corpus.author, strict=True)]
    kinds, sizes = np.unique(np.array(both)[long], return_counts=True)
    # two of a kind must be left, one to learn from and one to test on
    enough = sizes * min(1, n_documents / len(long)) >= 2
    long = long[np.isin(np.array(both)[long], kinds[enough])]
    if n_documents < len(long):
        split = StratifiedShuffleSplit(1, train_size=n_documents, random_state=0)
        long = long[next(split.split(long, np.array(both)[long]))[0]]
    return Bunch(
        data=texts[np.sort(long)].tolist(),
        target=corpus.target[np.sort(long)],
        author=corpus.author[np.sort(long)],
        target_names=corpus.target_names,
        author_names=corpus.author_names,
    )


def show_sentences(embedding: WordEmbedding) -> None:
    """Sentences before and after the noise, at three values of ε."""
    print("\nWhat the noise does to a sentence (λ = 0.5):")
    with warnings.catch_warnings():
        # Lengths are released here; the search below fixes them.
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        for sentence in SENTENCES:
            print(f"\n  as written  {sentence}")
            for epsilon in (40, 20, 10):
                perturber = DPWordPerturber(
                    embedding, epsilon=epsilon, output="text", order="keep"
                )
                (noisy,) = perturber.fit_transform([sentence])
                print(f"  ε = {epsilon:<7d} {noisy}")


def search(corpus: Bunch, embedding: WordEmbedding, n_jobs: int) -> Bunch:
    """Grid search over ε and λ, and adversaries who know all but the noise."""
    topic = Pipeline(
        [
            ("perturb", DPWordPerturber(embedding, document_length=LENGTH)),
            ("classify", WMDKNNClassifier(embedding, n_neighbors=5)),
        ]
    )
    splits = StratifiedShuffleSplit(2, test_size=0.3, random_state=0)
    grid = {"perturb__epsilon": EPSILONS, "perturb__lam": LAMS}

    # So much ε that no word changes: what the classifiers do on clean text.
    clean = topic.set_params(perturb__epsilon=1e9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        scores = cross_val_score(clean, corpus.data, corpus.target, cv=splits)
        clean_topic = scores.mean()
        clean_bags = clean["perturb"].fit_transform(corpus.data)
    clean_authors = _author_accuracies(None, clean_bags, clean_bags, corpus, splits)
    rule = best_under_constraint(
        maximize="changed", subject_to={"topic": KEEP * clean_topic}, tuned_on="public"
    )
    model = GridSearchCV(
        topic,
        grid,
        scoring={"topic": "accuracy", "changed": words_changed_scorer},
        # Chosen below, so that the table can be shown where no candidate is feasible.
        refit=False,
        cv=splits,
        n_jobs=n_jobs,
    )
    print(
        f"\nGridSearchCV: {len(EPSILONS)} ε × {len(LAMS)} λ × {splits.n_splits} "
        "splits, 5 nearest neighbours by Word Mover's Distance …"
    )
    started = time.perf_counter()
    model.fit(corpus.data, corpus.target)
    print(
        f"… {time.perf_counter() - started:.0f} s. Now two adversaries, who know ε, λ "
        "and the embedding, learn to name authors: one from bags released alike, one "
        "from clear texts and the law of the noise …",
        flush=True,
    )
    scores = model.cv_results_
    perturbers = [
        DPWordPerturber(
            embedding,
            document_length=LENGTH,
            epsilon=candidate["perturb__epsilon"],
            lam=candidate["perturb__lam"],
        )
        for candidate in scores["params"]
    ]
    authors = Parallel(n_jobs)(
        delayed(_author_accuracies)(
            perturber, clean_bags, perturber.fit_transform(corpus.data), corpus, splits
        )
        for perturber in perturbers
    )
    return Bunch(
        epsilon=np.array([c["perturb__epsilon"] for c in scores["params"]]),
        lam=np.array([c["perturb__lam"] for c in scores["params"]]),
        topic=scores["mean_test_topic"],
        changed=scores["mean_test_changed"],
        authors=np.array(authors),
        author=np.max(authors, axis=1),
        clean_topic=clean_topic,
        clean_authors=clean_authors,
        clean_author=max(clean_authors),
        chance_topic=np.bincount(corpus.target).max() / len(corpus.target),
        chance_author=1 / len(np.unique(corpus.author)),
        cv_results=scores,
        rule=rule,
    )


def _author_accuracies(
    perturber: DPWordPerturber | None,
    clean: Any,
    noisy: Any,
    corpus: Bunch,
    splits: Any,
) -> tuple[float, float]:
    """Of adversaries who learn from releases, and who know the law of the noise.

    Balanced, since most documents are by one author.
    """
    learner = make_pipeline(
        MaxAbsScaler(), LogisticRegression(max_iter=500, class_weight="balanced")
    )
    informed = ChannelNaiveBayes(
        perturber, alpha=10, prior="uniform", n_draws=1, random_state=0
    )
    marks = []
    for train, test in splits.split(noisy, corpus.author):
        models = (learner, noisy), (informed, clean)
        guesses = [
            model.fit(known[train], corpus.author[train]).predict(noisy[test])
            for model, known in models
        ]
        marks.append(
            [balanced_accuracy_score(corpus.author[test], guess) for guess in guesses]
        )
    learned, by_law = np.mean(marks, axis=0)
    return float(learned), float(by_law)


def show_table(results: Bunch) -> None:
    """One line per candidate."""
    head = ("", "words changed", "topic accuracy", "author, who learned", "by the law")
    print("\n{:>15}  {:>13}  {:>14}  {:>19}  {:>10}".format(*head))
    line = "{:>15}  {:>13}  {:>14.2f}  {:>19.2f}  {:>10.2f}"
    print(
        line.format("clean text", "0.00", results.clean_topic, *results.clean_authors)
    )
    for epsilon, lam, changed, topic, authors in zip(
        results.epsilon, results.lam, results.changed, results.topic, results.authors,
        strict=True,
    ):  # fmt: skip
        place = f"ε = {epsilon}, λ = {lam:3.1f}"
        print(line.format(place, f"{changed:.2f}", topic, *authors))
    author = results.chance_author
    print(line.format("chance", "", results.chance_topic, author, author))
    print(
        "Authors: balanced accuracy of who learned from releases, and of who knows the "
        "law of the noise."
    )


def show_choice(results: Bunch, embedding: WordEmbedding) -> None:
    """The candidate that the rule chooses, and what it promises."""
    print(
        f"\nWanted: as many words changed as possible, with at least {KEEP:.0%} of the "
        f"topic accuracy on clean text ({KEEP * results.clean_topic:.2f})."
    )
    try:
        best = results.rule(results.cv_results)
    except NoFeasibleCandidateError as error:
        results.best = None
        print(f"No candidate does it: {error}")
        return
    results.best = best
    learned, by_law = results.authors[best]
    epsilon, lam = float(results.epsilon[best]), float(results.lam[best])
    perturber = DPWordPerturber(
        embedding, epsilon=epsilon, lam=lam, document_length=LENGTH
    ).fit([])
    guarantee = perturber.guarantee()
    near = guarantee.exponent("mean", "median")
    far = guarantee.exponent("mean", "eigenvalues")
    print(
        f"Chosen: ε = {epsilon:g}, λ = {lam:g}. {results.changed[best]:.0%} of the "
        f"words change, topic accuracy {results.topic[best]:.2f}; the adversary who "
        f"learned finds {learned:.2f} of the authors, the one who knows the law "
        f"{by_law:.2f} (clean {results.clean_author:.2f}, chance "
        f"{results.chance_author:.2f}).\n\nThe guarantee: {guarantee}\n"
        f"In numbers: 'mean' against 'median' exp({near:.0f}), 'mean' against "
        f"'eigenvalues' exp({far:.0f}). Factors so large promise little between single "
        "words far apart; what the adversary reaches is measured, not promised."
    )


def draw(results: Bunch, path: Path) -> Path:
    """Accuracy of topic and author against the words changed, one line per λ.

    Of the authors, that of the stronger adversary.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="tight")
    panels = (
        ("Topic: should survive", "topic", results.clean_topic, results.chance_topic),
        ("Author: should not", "author", results.clean_author, results.chance_author),
    )
    for axis, (title, name, clean, chance) in zip(axes, panels, strict=True):
        for lam, marker in zip(LAMS, "os^", strict=True):
            rows = results.lam == lam
            x, y = results.changed[rows], results[name][rows]
            axis.plot(x, y, marker=marker, label=f"λ = {lam:g}")
            if lam == LAMS[0]:
                for epsilon, *spot in zip(results.epsilon[rows], x, y, strict=True):
                    axis.annotate(f"ε = {epsilon}", spot, xytext=(-6, -14), fontsize=8,
                                  textcoords="offset points", zorder=4,
                                  bbox={"fc": "white", "ec": "none", "alpha": 0.7,
                                        "pad": 0.5})  # fmt: skip
        axis.axhline(clean, color="0.4", linewidth=1)
        axis.axhline(chance, color="0.4", linewidth=1, linestyle=":")
        axis.text(0.99, clean + 0.01, "clean text", ha="right", color="0.3")
        axis.text(0.01, chance + 0.01, "chance", color="0.3")
        if results.best is not None:
            at = results.changed[results.best], results[name][results.best]
            axis.scatter(*at, s=180, facecolors="none", edgecolors="black",
                         label="chosen", zorder=3)  # fmt: skip
        axis.set(title=title, xlabel="words changed", xlim=(0, 1), ylim=(0, 1.02))
    axes[0].set_ylabel("accuracy")
    axes[1].set_ylabel("balanced accuracy")
    axes[0].legend(loc="lower left", bbox_to_anchor=(0, 0.32))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
