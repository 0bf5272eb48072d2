"""Which release protects? Words under noise, and documents replaced, on built-in data.

Run it with ``python -m skdptext.demo``, or ``make demo`` in a checkout. It needs no
network. The documents are public documentation strings: their topics should survive a
release, the document and its author (the library it comes from) should not be found.
"""

from __future__ import annotations

import argparse
import re
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WordEmbedding,
)
from skdptext.attacks import found_among
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.documents import KnownTexts
from skdptext.metrics import ReleaseLikelihood
from skdptext.model_selection import calibrate_epsilon
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import half_width, percent_up, rounded_up

TOPICS = ("clustering", "distances and geometry", "linear algebra",
          "mathematical functions", "signals and images", "statistics")  # fmt: skip
RELEASES = ("clear", "words", "replaced")
MEASURES = ("topic", "document", "author")
# Of words, the share to be changed: it sets their ε. Of whole documents, ε itself.
CHANGED, EPSILON = 0.25, 4.0
# Of a model learned from texts and labels that one holds, for a person.
LEARNED = 1.0
LENGTH, N_WORDS, CANDIDATES = 40, 3000, 100
# Fewest documents of an author on a topic.
FEWEST = 8
# By release and measure: the mean over divisions, and half of its 95 % interval.
Results = dict[str, dict[str, tuple[float, float]]]


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
    parser.add_argument(
        "--divisions", type=int, default=5,
        help="divisions into public and protected documents",
    )  # fmt: skip
    options = parser.parse_args(arguments)

    # Now rather than after a minute of work.
    if find_spec("matplotlib") is None:
        parser.error("the figure needs matplotlib: pip install matplotlib.")
    if options.divisions < 2:
        parser.error("--divisions is too small.")

    started = time.perf_counter()
    print("Reading the corpus and its word vectors (trained once, then cached) …")
    embedding, corpus = plain_embedding(), documents()
    print(
        f"Built-in corpus: {len(corpus.data)} documentation strings, {len(TOPICS)} "
        f"topics, {len(np.unique(corpus.author))} authors (libraries).\n"
    )
    divisions = [divided(corpus, embedding, n) for n in range(options.divisions)]
    show_example(divisions[0])
    print(
        f"Attacking {options.divisions} random splits into public and protected "
        "text, a minute or so …",
        flush=True,
    )
    cells = [measured(division) for division in divisions]
    results = {
        release: {
            what: interval([cell[release][what] for cell in cells]) for what in MEASURES
        }
        for release in RELEASES
    }
    chance = {what: float(np.mean([d.chance[what] for d in divisions]))
              for what in MEASURES}  # fmt: skip
    learned = interval([learned_topics(division) for division in divisions])
    most = found_at_most(len(divisions[0].targets))
    show_table(results, chance, learned, most)
    show_verdict(results, chance, divisions[0])
    show_learned(learned, results, most)
    figure = draw(
        results, chance, learned, most, options.output / "which_release_protects.png"
    )
    print(f"\nFigure: {figure}\nDone in {time.perf_counter() - started:.0f} s.")
    return 0


# -- documents -----------------------------------------------------------------------


def plain_embedding() -> WordEmbedding:
    """The most frequent words of the built-in embedding, without identifiers."""
    embedding = load_docstring_embedding()
    plain = [word for word in embedding.words if word.isalpha() and word.isascii()]
    return embedding.restrict(plain[:N_WORDS])


def documents() -> Bunch:
    """Documents on topics about which several libraries write."""
    corpus = load_docstrings(topics=TOPICS, remove=("examples", "headers", "names"))
    topic = np.array(corpus.target_names)[corpus.target]
    author = np.array(corpus.author_names)[corpus.author]
    both = np.array([f"{t}/{a}" for t, a in zip(topic, author, strict=True)])
    kinds, sizes = np.unique(both, return_counts=True)
    whole = Bunch(data=corpus.data, topic=topic, author=author, both=both)
    chosen = part(whole, np.isin(both, kinds[sizes >= FEWEST]))
    chosen.data = [_without_markup(text) for text in chosen.data]
    return chosen


def part(corpus: Bunch, chosen: np.ndarray) -> Bunch:
    """The documents that a mask chooses, with their labels."""
    labels = {name: corpus[name][chosen] for name in ("topic", "author", "both")}
    return Bunch(data=list(compress(corpus.data, chosen)), **labels)


def _without_markup(text: str) -> str:
    """A text without the targets of its cross-references."""
    text = re.sub(r"(?::[a-z:]+:)?`([^`<]*?)\s*<[^`>]*>`_*", r"\1", text)
    text = re.sub(r":[a-z:]+:(?=`)|[`*]|\S*sphx_glr\S*", "", text)
    return " ".join(text.split())


@dataclass(frozen=True)
class Division:
    """Public documents, and those to be protected."""

    public: Bunch
    protected: Bunch
    targets: np.ndarray  # rows of the protected documents that are the candidates
    perturber: DPWordPerturber
    replacer: DPDocumentReplacer

    @property
    def chance(self) -> dict[str, float]:
        """What guessing finds; the author is one of those who write on the topic."""
        few = [len(np.unique(self.protected.author[self.protected.topic == topic]))
               for topic in TOPICS]  # fmt: skip
        return {
            "topic": 1 / len(TOPICS),
            "document": 1 / len(self.targets),
            "author": float(np.mean([1 / n for n in few])),
        }


def _without_copies(texts: Bunch, others: Bunch) -> Bunch:
    """Texts that are not also, nearly, among others."""
    count = KnownTexts(texts.data).count()
    count.see(others.data)
    return part(texts, ~count.found())


def divided(corpus: Bunch, embedding: WordEmbedding, seed: int) -> Division:
    """Half of what each author wrote on each topic is public, and sets the noise."""
    rng = np.random.default_rng(seed)
    public = np.zeros(len(corpus.data), dtype=bool)
    for kind in np.unique(corpus.both):
        rows = rng.permutation(np.flatnonzero(corpus.both == kind))
        public[rows[: len(rows) // 2]] = True

    known, protected = part(corpus, public), part(corpus, ~public)
    known = _without_copies(known, protected)
    protected = _without_copies(protected, known)
    targets = rng.permutation(len(protected.data))[:CANDIDATES]
    replacer = DPDocumentReplacer(
        known.data, public_labels=known.topic, epsilon=EPSILON, output="index"
    ).fit()
    perturber = word_perturber(embedding, known.data)
    return Division(known, protected, targets, perturber, replacer)


# -- releases and attacks ------------------------------------------------------------


def word_perturber(embedding: WordEmbedding, public: list[str]) -> DPWordPerturber:
    """The recommended setting: a quarter of the words of public text change."""
    perturber = DPWordPerturber(
        embedding, mechanism="exponential", lam=0.0, document_length=LENGTH,
        resize="sample",
    )  # fmt: skip
    calibrated = calibrate_epsilon(
        perturber, CHANGED, statistic="changed", documents=public, tuned_on="public"
    )
    return perturber.set_params(epsilon=calibrated.epsilon).fit([])


def measured(division: Division) -> dict[str, dict[str, float]]:
    """Topic kept, document and author found, for each release.

    Topics and authors count alike, however many documents they have. The adversary
    knows the mechanism, has public documents of all authors, knows the topic when
    asked for the author, and holds 100 candidates when asked for the document.
    """
    public, protected = division.public, division.protected
    clear = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=300),
    )
    perturber = division.perturber
    bags = perturber.transform(protected.data)
    bayes = ChannelNaiveBayes(perturber, alpha=10.0, prior="uniform")
    answers = division.replacer.transform(protected.data)
    by_group = ChannelNaiveBayes(division.replacer, prior="uniform")
    texts = [protected.data[row] for row in division.targets]
    of_words = ReleaseLikelihood(perturber, texts)(bags[division.targets])
    of_groups = division.replacer.log_likelihood(texts, answers[division.targets])
    own, n = np.arange(len(texts)), len(texts)
    shares = {
        "clear": 1.0,
        "words": float(found_among(of_words, own, n).mean()),
        "replaced": float(found_among(of_groups, own, n).mean()),
    }
    models = {
        "clear": (clear, np.array(protected.data, dtype=object)),
        "words": (bayes, bags),
        "replaced": (by_group, answers),
    }
    return {
        release: {
            "topic": _topics_told(model, released, public, protected),
            "document": shares[release],
            "author": _authors_told(model, released, public, protected),
        }
        for release, (model, released) in models.items()
    }


def learned_topics(division: Division) -> float:
    """Topic accuracy of what is learned from protected texts *and labels*, at ε = 1.

    A third of the public documents tests; the others are labelled by the noisy sum.
    """
    public, protected = division.public, division.protected
    test = np.arange(len(public.data)) % 3 == 0
    unlabelled, unseen = part(public, ~test), part(public, test)
    model = _learner(unlabelled.data).fit(protected.data, protected.topic)
    guesses = model.predict(unseen.data)
    return float(balanced_accuracy_score(unseen.topic, guesses))


def _learner(public: list[str]) -> DPTextClassifier:
    return DPTextClassifier(public, epsilon=LEARNED, classes=list(TOPICS))


def found_at_most(n_candidates: int) -> float:
    """Of so many candidates, how many anyone finds who is in the model."""
    return min(1.0, float(np.exp(LEARNED)) / n_candidates)


def _topics_told(model: Any, released: Any, public: Bunch, protected: Bunch) -> float:
    guesses = model.fit(public.data, public.topic).predict(released)
    return float(balanced_accuracy_score(protected.topic, guesses))


def _authors_told(model: Any, released: Any, public: Bunch, protected: Bunch) -> float:
    shares = []
    for topic in TOPICS:
        known = part(public, public.topic == topic)
        here = np.flatnonzero(protected.topic == topic)
        guesses = model.fit(known.data, known.author).predict(released[here])
        shares.append(balanced_accuracy_score(protected.author[here], guesses))
    return float(np.mean(shares))


# -- what is shown -------------------------------------------------------------------


def show_example(division: Division) -> None:
    """A document, its noisy words and its stand-in."""
    (row,) = division.targets[:1]
    text = division.protected.data[row]
    perturber = clone(division.perturber).set_params(output="tokens").fit([])
    (words,) = perturber.transform([text])
    (answer,) = division.replacer.transform([text])
    for name, shown in (
        ("a document", text),
        ("its words, redrawn and perturbed", " ".join(words)),
        ("its stand-in", division.public.data[answer]),
    ):
        print(f"{name}:")
        print(textwrap.indent(textwrap.shorten(shown, 150, placeholder=" …"), "    "))
    print()


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean over divisions, and half the width of its 95 % interval."""
    spread = np.std(values, ddof=1)
    return float(np.mean(values)), float(half_width(spread, len(values)))


def show_table(
    results: Results,
    chance: dict[str, float],
    learned: tuple[float, float],
    most: float,
) -> None:
    """Three releases by three measures, and a model, which releases no document."""
    head = ("", "topic kept", "document found", "author found")
    print("\n{:20}{:>18}{:>18}{:>18}".format(*head))
    for release, row in results.items():
        cells = []
        for what in MEASURES:
            mean, half = row[what]
            cells.append(f"{mean:.2f} ± {half:.2f}")
        print(f"{_name(release):20}" + "".join(f"{cell:>18}" for cell in cells))
    mean, half = learned
    cells = [f"{mean:.2f} ± {half:.2f}", f"≤ {most:.2f}       ", "–          "]
    print(f"{_name('learned'):20}" + "".join(f"{cell:>18}" for cell in cells))
    cells = [f"{chance[what]:.2f}       " for what in MEASURES]
    print(f"{'guessing':20}" + "".join(f"{cell:>18}" for cell in cells))


def _name(release: str) -> str:
    settings = {
        "words": f", {CHANGED:.0%} changed",
        "replaced": f", ε = {EPSILON:g}",
        "learned": f", ε = {LEARNED:g}",
    }
    return release + settings.get(release, "")


def show_verdict(
    results: Results, chance: dict[str, float], division: Division
) -> None:
    """What it comes to, in a sentence, and what is proven."""
    mean = {
        release: {what: row[what][0] for what in MEASURES}
        for release, row in results.items()
    }
    retained = {r: mean[r]["topic"] / mean["clear"]["topic"] for r in RELEASES}
    guarantee = division.replacer.guarantee()
    most = guarantee.found_at_most(len(division.targets))
    print(
        "\n"
        + textwrap.fill(
            f"Verdict: replaced documents keep {retained['replaced']:.0%} of the topic "
            f"accuracy of clear text, {mean['replaced']['document']:.1%} of them are "
            f"found, and {mean['replaced']['author']:.0%} of their authors, where "
            f"guessing finds {chance['author']:.0%}; words under noise keep "
            f"{retained['words']:.0%}, and {mean['words']['document']:.0%} of the "
            f"documents and {mean['words']['author']:.0%} of the authors are found.",
            88,
        )
        + "\n"
        + textwrap.fill(
            f"Proven for the replaced ones: ε = {guarantee.epsilon:g} between any two "
            f"documents, and of {len(division.targets)} equally likely candidates "
            f"nobody finds more than {percent_up(most)} on average: one release may "
            "show more by chance. Words "
            f"have no such bound: an ε of {division.perturber.epsilon:.2g} per unit of "
            f"distance adds up over {LENGTH} words.",
            88,
        )
    )


def show_learned(learned: tuple[float, float], results: Results, most: float) -> None:
    """What the last row is, and what it alone protects."""
    share = learned[0] / results["clear"]["topic"][0]
    print(
        "\n"
        + textwrap.fill(
            "Learned: the holder of the texts sums once over all documents, and the "
            f"noisy sum labels public ones. What is handed over keeps {share:.0%} of "
            "the topic accuracy, and it alone protects the labels: no document leaves, "
            f"with its label each is covered by ε = {LEARNED:g}, and who knows that "
            f"one of {CANDIDATES} equally likely documents is in it names the right "
            f"one at most {rounded_up(100 * most, 2)} times in 100.",
            88,
        )
    )


def draw(
    results: Results,
    chance: dict[str, float],
    learned: tuple[float, float],
    most: float,
    path: Path,
) -> Path:
    """The table, with error bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    colours = {"clear": "0.6", "words": "tab:orange", "replaced": "tab:blue"}
    titles = ("topic kept\n(more is better)", "document found\n(less is better)",
              "author found\n(less is better)")  # fmt: skip
    for i, (release, row) in enumerate(results.items()):
        for at, what in enumerate(MEASURES):
            mean, half = row[what]
            place = at + (i - 1) * 0.21
            axis.bar(place, mean, 0.19, yerr=half or None, capsize=3,
                     color=colours[release],
                     label=_name(release) if at == 0 else None)  # fmt: skip
            axis.text(place, mean + half + 0.02, f"{mean:.2f}", ha="center")
    # no document leaves: how many are found is bounded, and there is no author to find
    for at, (mean, half) in enumerate([learned, (most, 0.0)]):
        place = at + 2 * 0.21
        axis.bar(place, mean, 0.19, yerr=half or None, capsize=3, color="tab:green",
                 label=_name("learned") if at == 0 else None)  # fmt: skip
        bound = "≤ " if at else ""
        axis.text(place, mean + half + 0.02, f"{bound}{mean:.2f}", ha="center")
    for at, what in enumerate(MEASURES):
        guessing = {"label": "guessing"} if at == 0 else {}
        axis.hlines(
            chance[what], at - 0.33, at + 0.54, "black", linestyles=":", **guessing
        )
    axis.set(
        xticks=np.arange(3) + 0.105, xticklabels=titles, ylim=(0, 1.12), ylabel="share"
    )
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=5, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
