"""Which release protects? Noisy words, stand-ins and a model, on built-in data.

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
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
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.documents import KnownTexts
from skdptext.metrics import found_among
from skdptext.model_selection import calibrate_epsilon
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.utils import half_width, percent_up

TOPICS = ("clustering", "distances and geometry", "linear algebra",
          "mathematical functions", "signals and images", "statistics")  # fmt: skip
AUTHORS = ("numpy", "scipy", "scikit-learn")
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
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args(arguments)

    # Now rather than after a minute of work.
    if find_spec("matplotlib") is None:
        parser.error("the figure needs matplotlib: pip install matplotlib.")
    if options.jobs < 1:
        parser.error("--jobs is too small.")
    if options.divisions < 2:
        parser.error("--divisions is too small.")

    started = time.perf_counter()
    print("Reading the corpus …", flush=True)
    corpus = documents()
    print(
        f"Built-in corpus: {len(corpus.data)} documentation strings on {len(TOPICS)} "
        f"topics by {len(AUTHORS)} authors, the libraries {', '.join(AUTHORS)}.\n"
        f"Attacking {options.divisions} random splits into public and protected text, "
        "half a\nminute or so; the first time, word vectors are trained meanwhile …\n",
        flush=True,
    )
    run = Parallel(options.jobs)
    # Training leaves a core free, and only noisy words wait for its vectors.
    with ThreadPoolExecutor(1) as beside:
        training = beside.submit(plain_embedding)
        numbers = range(options.divisions)
        others = run(delayed(without_vectors)(corpus, n) for n in numbers)
        embedding = training.result()
    divisions, clear, replaced, of_learned = zip(*others, strict=True)
    words = run(delayed(noisy_words)(each, embedding) for each in divisions)
    results = {
        release: {what: interval([cell[what] for cell in cells]) for what in MEASURES}
        for release, cells in (
            ("clear", clear),
            ("words", words),
            ("replaced", replaced),
        )
    }
    chance = {what: float(np.mean([each.chance[what] for each in divisions]))
              for what in MEASURES}  # fmt: skip
    learned = interval(of_learned)
    perturber = word_perturber(embedding, divisions[0].public.data)
    replacer = document_replacer(divisions[0].public)
    show_example(divisions[0], perturber, replacer)
    show_table(results, chance, learned, options.divisions)
    show_verdict(results, chance, learned, perturber, replacer)
    figure = draw(
        results, chance, learned, options.output / "which_release_protects.png"
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

    @property
    def chance(self) -> dict[str, float]:
        """What guessing finds."""
        return {
            "topic": 1 / len(TOPICS),
            "document": 1 / len(self.targets),
            "author": 1 / len(np.unique(self.protected.author)),
        }


def _without_copies(texts: Bunch, others: Bunch) -> Bunch:
    """Texts that are not also, nearly, among others."""
    count = KnownTexts(texts.data).count()
    count.see(others.data)
    return part(texts, ~count.found())


def divided(corpus: Bunch, seed: int) -> Division:
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
    return Division(known, protected, targets)


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


def document_replacer(public: Bunch) -> DPDocumentReplacer:
    """Stand-ins from public documents, whose topics are their groups."""
    return DPDocumentReplacer(
        public.data, public_labels=public.topic, epsilon=EPSILON, output="index"
    ).fit()


def without_vectors(
    corpus: Bunch, seed: int
) -> tuple[Division, dict[str, float], dict[str, float], float]:
    """A division; what its texts and their stand-ins show, and what a model keeps."""
    division = divided(corpus, seed)
    return (
        division, as_written(division), stand_ins(division), learned_topics(division)
    )  # fmt: skip


# What is kept and shown of each release. Topics and authors count alike, however many
# documents they have. The adversary knows the mechanism, has public documents of all
# authors, and holds 100 candidates when asked for the document.


def as_written(division: Division) -> dict[str, float]:
    """Texts in the clear: the document is always found."""
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=10.0, class_weight="balanced", max_iter=300),
    )
    return _shown(division, model, np.array(division.protected.data, dtype=object), 1.0)


def stand_ins(division: Division) -> dict[str, float]:
    """Documents are found as often as is expected, exactly, over all answers."""
    replacer, targets = document_replacer(division.public), division.targets
    texts = [division.protected.data[row] for row in targets]
    answers = np.arange(len(division.public.data))
    found = np.exp(replacer.log_likelihood(texts, answers)).max(axis=1).sum()
    released = replacer.transform(division.protected.data)
    model = ChannelNaiveBayes(replacer, prior="uniform")
    return _shown(division, model, released, float(found / len(targets)))


def noisy_words(division: Division, embedding: WordEmbedding) -> dict[str, float]:
    """Documents are found on average over what is named among equally likely ones."""
    perturber = word_perturber(embedding, division.public.data)
    bags = perturber.transform(division.protected.data)
    texts = [division.protected.data[row] for row in division.targets]
    likelihood = perturber.log_likelihood(texts, bags[division.targets])
    found = found_among(likelihood, np.arange(len(texts)), len(texts))
    model = ChannelNaiveBayes(perturber, alpha=10.0, prior="uniform")
    return _shown(division, model, bags, float(found.mean()))


def learned_topics(division: Division) -> float:
    """Topic accuracy of what is learned from protected texts *and labels*, at ε = 1.

    A third of the public documents tests; the others are labelled by the noisy sum.
    """
    public, protected = division.public, division.protected
    test = np.arange(len(public.data)) % 3 == 0
    unlabelled, unseen = part(public, ~test), part(public, test)
    model = DPTextClassifier(unlabelled.data, epsilon=LEARNED, classes=list(TOPICS))
    model.fit(protected.data, protected.topic)
    guesses = model.predict(unseen.data)
    return float(balanced_accuracy_score(unseen.topic, guesses))


def _shown(
    division: Division, model: Any, released: Any, found: float
) -> dict[str, float]:
    shares = {"document": found}
    for what in ("topic", "author"):
        model.fit(division.public.data, division.public[what])
        guesses = model.predict(released)
        shares[what] = float(balanced_accuracy_score(division.protected[what], guesses))
    return shares


# -- what is shown -------------------------------------------------------------------


def show_example(
    division: Division, perturber: DPWordPerturber, replacer: DPDocumentReplacer
) -> None:
    """A document, its noisy words and its stand-in."""
    (row,) = division.targets[:1]
    text = division.protected.data[row]
    perturber = clone(perturber).set_params(output="tokens").fit([])
    (words,) = perturber.transform([text])
    (answer,) = replacer.transform([text])
    topic, other = division.protected.topic[row], division.public.topic[answer]
    for name, shown in (
        (f"A document on {topic}", text),
        ("Its words, drawn anew and noisy", " ".join(words)),
        (f"Its stand-in, on {other}", division.public.data[answer]),
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
    n_divisions: int,
) -> None:
    """Three releases by three measures, and a model, which releases no document."""
    head = ("", "topic kept", "identified", "author named")
    print("\n{:28}{:>16}{:>16}{:>16}".format(*head))
    for release, row in results.items():
        _print_row(_name(release), [_cell(*row[what]) for what in MEASURES])
    _print_row(_name("learned"), [_cell(*learned), "–", "–"])
    guessing = [f"{chance[what]:.2f}".ljust(len(_cell(0, 0))) for what in MEASURES]
    _print_row("guessing", guessing)
    print(
        "\n"
        + textwrap.fill(
            f"Means of {n_divisions} splits; ± is half of a 95% interval. identified: "
            f"the share that an adversary names among {CANDIDATES} candidates. "
            f"author named: among {len(AUTHORS)}, without knowing the topic. –: no "
            "document leaves, so there is none to identify.",
            88,
        )
    )


def _print_row(name: str, cells: Sequence[str]) -> None:
    print(f"{name:28}" + "".join(f"{cell:>16}" for cell in cells))


def _cell(mean: float, half: float) -> str:
    return f"{mean:.2f} ± {half:.2f}"


def _name(release: str) -> str:
    return {
        "clear": "as written",
        "words": f"noisy words, {CHANGED:.0%} changed",
        "replaced": f"stand-ins, ε = {EPSILON:g}",
        "learned": f"model and corpus, ε = {LEARNED:g}",
    }[release]


def show_verdict(
    results: Results,
    chance: dict[str, float],
    learned: tuple[float, float],
    perturber: DPWordPerturber,
    replacer: DPDocumentReplacer,
) -> None:
    """What it comes to, and what is proved."""
    clear, words, replaced = (
        {what: row[what][0] for what in MEASURES} for row in results.values()
    )
    kept = [row["topic"] / clear["topic"] for row in (words, replaced)]
    n, guarantee = CANDIDATES, replacer.guarantee()
    found = percent_up(guarantee.found_at_most(n))
    right = np.exp(LEARNED) / (1 + np.exp(LEARNED))
    lines = [
        "Verdict: noisy words do not hide a document from anyone who has it "
        f"({n} candidates: {words['document']:.0%} identified)."
        if words["document"] > 0.5
        else f"Verdict: noisy words hide most documents here ({n} candidates: "
        f"{words['document']:.0%} identified).",
        f"Noisy words keep {kept[0]:.0%} of the topic accuracy. Nothing useful is "
        f"proved of documents: ε = {perturber.epsilon:.2g} per unit of "
        f"distance adds up over {LENGTH} words.",
        f"Stand-ins keep {kept[1]:.0%}. Proved: nobody identifies more than {found} of "
        f"{n} equally likely documents on average (here {replaced['document']:.1%}), "
        f"ε = {guarantee.epsilon:g}. Of wording and facts nothing survives; the topic "
        f"still reveals authors ({replaced['author']:.0%} named, guessing "
        f"{chance['author']:.0%}).",
        f"A model keeps {learned[0] / clear['topic']:.0%}, and it alone protects the "
        "labels, but the holder of the texts must be trusted. Proved: who knows "
        "everything else is right about one document in at most "
        f"{percent_up(right)} of cases (a coin: 50%), ε = {LEARNED:g}.",
    ]
    print()
    for i, line in enumerate(lines):
        print(textwrap.fill(line, 88, subsequent_indent="  " if i else ""))


def draw(
    results: Results,
    chance: dict[str, float],
    learned: tuple[float, float],
    path: Path,
) -> Path:
    """The table, with error bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    colours = {"clear": "0.6", "words": "tab:orange", "replaced": "tab:blue"}
    titles = ("topic kept\n(more is better)", "identified\n(less is better)",
              "author named\n(less is better)")  # fmt: skip
    for i, (release, row) in enumerate(results.items()):
        for at, what in enumerate(MEASURES):
            mean, half = row[what]
            place = at + (i - 1) * 0.21
            axis.bar(place, mean, 0.19, yerr=half or None, capsize=3,
                     color=colours[release],
                     label=_name(release) if at == 0 else None)  # fmt: skip
            axis.text(place, min(mean + half, 1.0) + 0.02, f"{mean:.2f}", ha="center")
    # no document leaves: there is none to identify, and no author
    mean, half = learned
    axis.bar(2 * 0.21, mean, 0.19, yerr=half or None, capsize=3, color="tab:green",
             label=_name("learned"))  # fmt: skip
    axis.text(2 * 0.21, min(mean + half, 1.0) + 0.02, f"{mean:.2f}", ha="center")
    for at, what in enumerate(MEASURES):
        guessing = {"label": "guessing"} if at == 0 else {}
        axis.hlines(
            chance[what], at - 0.33, at + 0.54, "black", linestyles=":", **guessing
        )
    axis.set(
        xticks=np.arange(3) + 0.105, xticklabels=titles, ylim=(0, 1.12), ylabel="share"
    )
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
