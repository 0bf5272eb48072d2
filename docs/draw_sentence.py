"""What a release does to one sentence: the picture of the README, the hero of the site.

``python docs/draw_sentence.py`` writes ``sentence.html``, for the landing page, and
``sentence.png``, for the README, into ``docs/_static``. It needs the vectors and
messages of ``../shared/data`` or the folder that ``SKDPTEXT_DATA`` names. Both files
are committed: the README must show what the site shows.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.datasets import fetch_sms_spam
from skdptext.model_selection import calibrate_epsilon

SENTENCE = "the doctor will call you on friday about your blood test"
SHARES = {0.25: "a quarter", 0.5: "half", 0.75: "three quarters"}
DRAWS = 1000
HERE = Path(__file__).parent
STATIC = HERE / "_static"
DATA = Path(os.environ.get("SKDPTEXT_DATA", HERE.parents[1] / "shared" / "data"))
# Paper, text, faint text, ground and text of a changed word.
LIGHT = ("#ffffff", "#1f2328", "#57606a", "#fbe3d6", "#8a3200")
WIDTH, LINE = 760, 30  # pixels
FINE = 4  # words are measured in quarters of a pixel, or their gaps look uneven


def typical(words: list[str], perturber: DPWordPerturber) -> list[str]:
    """The first draw with as many changed words as the mean draw."""
    noisy = perturber.perturb_words(words, n_draws=DRAWS)
    changed = (noisy != np.array(words, dtype=object)[:, None]).sum(axis=0)
    return noisy[:, np.flatnonzero(changed == round(changed.mean()))[0]].tolist()


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


def as_html(lines: list[tuple[str, list[str]]], words: list[str]) -> str:
    """The same in HTML: changed words in <mark>, which all themes understand."""
    out = ['<div class="sentence">']
    for heading, sentence in lines:
        shown = [
            html.escape(word) if word == true else f"<mark>{html.escape(word)}</mark>"
            for word, true in zip(sentence, words, strict=True)
        ]
        out += [f"<p><span>{heading}</span><br>", " ".join(shown), "</p>"]
    return "\n".join([*out, "</div>"]) + "\n"


def main() -> None:
    """Calibrate on public messages, draw once, write both files."""
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    messages = fetch_sms_spam().data
    embedding = WordEmbedding.load(DATA / "glove_6B_13k_50d.npz").restrict(6000)
    words = SENTENCE.split()
    # A seed, so that the picture can be made again. A release would have none.
    perturber = DPWordPerturber(
        embedding,
        mechanism="exponential",
        epsilon=3.0,
        lam=0,
        document_length=len(words),
        resize="sample",
        random_state=0,
    )
    lines = [("as written", words)]
    for share, said in SHARES.items():
        calibrated = calibrate_epsilon(
            perturber.fit([]),
            share,
            statistic="changed",
            documents=messages,
            tuned_on="public",
        )
        perturber.set_params(epsilon=calibrated.epsilon).fit([])
        heading = (
            f"{said} of the words of messages change (ε = {calibrated.epsilon:.2f})"
        )
        lines.append((heading, typical(words, perturber)))
    for heading, sentence in lines:
        print(f"{heading}: {' '.join(sentence)}")
    (STATIC / "sentence.html").write_text(as_html(lines, words), encoding="utf-8")
    figure = draw(lines, words, LIGHT)
    figure.savefig(STATIC / "sentence.png", dpi=200, metadata={"Software": None})


if __name__ == "__main__":
    main()
