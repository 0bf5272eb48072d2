"""What the noise does to one sentence at three ε, the picture that opens the site.

``python docs/draw_sentence.py`` writes ``sentence-light.svg`` and ``sentence-dark.svg``
for the site and ``sentence.png`` for the README into ``docs/_static``. They are
committed: the words depend on the installed versions of the libraries whose docstrings
the built-in embedding is trained on, and the README must show what the site shows.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import load_docstring_embedding
from skdptext.exceptions import PrivacyLeakWarning

SENTENCE = "find the cluster of each sample by its nearest center"
EPSILONS = (20, 15, 10)
DRAWS = 1000
STATIC = Path(__file__).parent / "_static"
# Paper, text, faint text, ground and text of a changed word.
LIGHT = ("#ffffff", "#1f2328", "#57606a", "#fbe3d6", "#8a3200")
DARK = ("#14181e", "#ced6dd", "#9aa4ad", "#5a2b0f", "#ffd9c2")
WIDTH, LINE = 660, 30  # pixels
FINE = 4  # words are measured in quarters of a pixel, or their gaps look uneven


def typical(
    words: list[str], embedding: WordEmbedding, epsilon: float
) -> tuple[list[str], float]:
    """A draw with as many changed words as the mean draw, and the share of them."""
    perturber = DPWordPerturber(
        embedding, epsilon=epsilon, document_length=len(words), random_state=0
    ).fit([])
    noisy = perturber.perturb_words(words, n_draws=DRAWS)
    changed = (noisy != np.array(words, dtype=object)[:, None]).sum(axis=0)
    first = np.flatnonzero(changed == round(changed.mean()))[0]
    return noisy[:, first].tolist(), changed.mean() / len(words)


def draw(
    lines: list[tuple[str, list[str]]], words: list[str], colours: tuple
) -> Figure:
    """A heading and a sentence per line; words that differ from `words` are marked."""
    paper, text, faint, ground, ink = colours
    height = 2 * LINE * len(lines) + LINE // 2
    figure = Figure(
        figsize=(WIDTH / 100, height / 100), dpi=FINE * 100, facecolor=paper
    )
    renderer = FigureCanvasAgg(figure).get_renderer()

    def put(x: float, y: float, word: str, **style: object) -> float:
        """Write a word and return where it ends, in pixels."""
        label = figure.text(x / WIDTH, y / height, word, va="baseline", **style)
        return label.get_window_extent(renderer).x1 / FINE

    for i, (heading, sentence) in enumerate(lines):
        y = height - LINE * (2 * i + 1)
        put(16, y, heading, color=faint, fontsize=10)
        x = 16.0
        for word, true in zip(sentence, words, strict=True):
            mark = {"facecolor": ground, "edgecolor": "none", "pad": 2.2}
            style = {"color": text} if word == true else {"color": ink, "bbox": mark}
            x = put(x, y - LINE + 6, word, fontsize=11.5, **style) + 9
    return figure


def main() -> None:
    """Draw the noise once, and the three files from it."""
    warnings.simplefilter("ignore", PrivacyLeakWarning)  # the seed is no secret here
    words = SENTENCE.split()
    embedding = load_docstring_embedding().restrict(3000)
    lines = [("as written", words)]
    for epsilon in EPSILONS:
        noisy, share = typical(words, embedding, epsilon)
        lines.append((f"ε = {epsilon}: {share:.0%} of the words change", noisy))
    for heading, sentence in lines:
        print(f"{heading}: {' '.join(sentence)}")
    mpl.rcParams["svg.hashsalt"] = "skdptext"  # the same file in every run
    for name, colours in (("light", LIGHT), ("dark", DARK)):
        figure = draw(lines, words, colours)
        figure.savefig(STATIC / f"sentence-{name}.svg", metadata={"Date": None})
    figure = draw(lines, words, LIGHT)
    figure.savefig(STATIC / "sentence.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
