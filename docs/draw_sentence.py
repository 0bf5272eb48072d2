"""What three releases make of one message: the picture of the README and of the site.

``python docs/draw_sentence.py`` writes ``sentence.html``, for the landing page, and
``sentence.png``, for the README, into ``docs/_static``. It needs the vectors and
messages of ``../shared/data`` or the folder that ``SKDPTEXT_DATA`` names. Both files
are committed: the README must show what the site shows.
"""

from __future__ import annotations

import html
import math
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

from skdptext import (
    DPDocumentReplacer,
    DPTextClassifier,
    DPWordPerturber,
    WordEmbedding,
)
from skdptext.attacks import linkage_attack
from skdptext.datasets import fetch_sms_spam
from skdptext.model_selection import calibrate_epsilon
from skdptext.utils import rounded_up

SENTENCE = "the doctor will call you on friday about your blood test"
DRAWS = 1000
LONGEST = 70  # characters of a public message that is shown
HERE = Path(__file__).parent
STATIC = HERE / "_static"
DATA = Path(os.environ.get("SKDPTEXT_DATA", HERE.parents[1] / "shared" / "data"))
# Paper, text, faint text, ground and text of a changed word.
LIGHT = ("#ffffff", "#1f2328", "#57606a", "#fbe3d6", "#8a3200")
WIDTH, LINE = 760, 26  # pixels
FINE = 4  # words are measured in quarters of a pixel, or their gaps look uneven


class Line(NamedTuple):
    """A release: what made it, the words of the answer, and what it hides."""

    heading: str
    words: list[str]
    result: str = ""


def typical(words: list[str], perturber: DPWordPerturber) -> list[str]:
    """The first draw with as many changed words as the mean draw."""
    noisy = perturber.perturb_words(words, n_draws=DRAWS)
    changed = (noisy != np.array(words, dtype=object)[:, None]).sum(axis=0)
    return noisy[:, np.flatnonzero(changed == round(changed.mean()))[0]].tolist()


def marks(line: Line, words: list[str]) -> list[bool]:
    """Which words of a line differ from those that were written, place by place."""
    if len(line.words) != len(words):
        return [False] * len(line.words)
    return [word != true for word, true in zip(line.words, words, strict=True)]


def draw(lines: list[Line], words: list[str], colours: tuple) -> Figure:
    """A heading, an answer and a result per release; changed words are marked."""
    paper, text, faint, ground, ink = colours
    height = 3 * LINE * len(lines)
    figure = Figure(
        figsize=(WIDTH / 100, height / 100), dpi=FINE * 100, facecolor=paper
    )
    renderer = FigureCanvasAgg(figure).get_renderer()

    def put(x: float, y: float, word: str, **style: object) -> float:
        """Write a word and return where it ends, in pixels."""
        label = figure.text(x / WIDTH, y / height, word, va="baseline", **style)
        return label.get_window_extent(renderer).x1 / FINE

    y = height - LINE
    for line in lines:
        put(16, y, line.heading, color=faint, fontsize=10)
        x = 16.0
        for word, marked in zip(line.words, marks(line, words), strict=True):
            mark = {"facecolor": ground, "edgecolor": "none", "pad": 2.2}
            style = {"color": ink, "bbox": mark} if marked else {"color": text}
            x = put(x, y - LINE + 2, word, fontsize=11.5, **style) + 7
        if line.result:
            put(16, y - 2 * LINE + 6, line.result, color=text, fontsize=9.5)
        y -= round((3.1 if line.result else 2.3) * LINE)
    return figure


def as_html(lines: list[Line], words: list[str]) -> str:
    """The same in HTML: changed words in <mark>, which all themes understand."""
    out = ['<div class="sentence">']
    for line in lines:
        shown = [
            f"<mark>{html.escape(word)}</mark>" if marked else html.escape(word)
            for word, marked in zip(line.words, marks(line, words), strict=True)
        ]
        out += [f"<p><span>{line.heading}</span><br>", " ".join(shown)]
        out += [f"<br><strong>{line.result}</strong>"] if line.result else []
        out += ["</p>"]
    return "\n".join([*out, "</div>"]) + "\n"


def short(texts: list[str]) -> int:
    """The place of the first text that fits into a line."""
    return next(i for i, text in enumerate(texts) if len(text) <= LONGEST)


def by_words(words: list[str], public: list[str], private: list[str]) -> Line:
    """A quarter of the words of messages change; the share an attack identifies."""
    embedding = WordEmbedding.load(DATA / "glove_6B_13k_50d.npz", n_words=6000)
    # A seed, so that the picture can be made again. A release would have none.
    perturber = DPWordPerturber(
        embedding,
        mechanism="exponential",
        lam=0,
        document_length=10,
        resize="sample",
        random_state=0,
    )
    epsilon = calibrate_epsilon(
        perturber, 0.25, statistic="changed", documents=public, tuned_on="public"
    ).epsilon
    perturber.set_params(epsilon=epsilon).fit([])
    noisy = perturber.perturb_words(words, n_draws=DRAWS)
    shares = (noisy != np.array(words, dtype=object)[:, None]).mean(axis=1)
    for word, share in zip(words, shares, strict=True):
        print(f"{word}: changes in {share:.0%} of {DRAWS} draws")
    attack = linkage_attack(private[:100], perturber, n_draws=20, random_state=0)
    least = math.floor(100 * attack.scores["linkage"].low)
    return Line(
        f"noisy words: a quarter of the words of messages change (ε = {epsilon:.2f})",
        typical(words, perturber),
        "Somebody who holds 100 messages identifies the right one: on average at least "
        f"{least} %",
    )


def main() -> None:
    """Release one message in three ways, and write both files."""
    os.environ["SKDPTEXT_DATA"] = str(DATA)
    texts, labels = fetch_sms_spam(return_X_y=True)
    once = dict(zip(texts, labels, strict=True))
    private, rest, y, _ = train_test_split(
        list(once), list(once.values()), test_size=0.5, random_state=0
    )
    public = rest[: len(rest) // 2]
    words = SENTENCE.split()
    replacer = DPDocumentReplacer(public, n_groups=4, epsilon=4, random_state=1).fit()
    stand_ins = replacer.transform(
        [SENTENCE] * 50, document_ids=[str(i) for i in range(50)]
    )
    most = float(rounded_up(100 * replacer.guarantee().found_at_most(100), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # people forward messages
        model = DPTextClassifier(public, epsilon=1.0, classes=[0, 1], random_state=0)
        corpus, its_labels = model.fit_resample(private, y)
    right = float(rounded_up(100 * model.guarantee().right_at_most, 3))
    at = short(corpus)
    said = "spam" if its_labels[at] else "not spam"
    lines = [
        Line("as written", words),
        Line(
            "a model and a labelled corpus (ε = 1): no message leaves, public ones are "
            "labelled",
            [f"{said}:", *corpus[at].split()],
            "Somebody who knows all others is right about its presence in at most "
            f"{right:g} % of cases (a coin: 50 %)",
        ),
        Line(
            "a stand-in (ε = 4, four groups): a public message, probably of the same "
            "group",
            stand_ins[short(stand_ins)].split(),
            "Somebody who holds 100 messages identifies the right one: on average at "
            f"most {most:g} %",
        ),
        by_words(words, public, private),
    ]
    for line in lines:
        print(f"{line.heading}: {' '.join(line.words)} {line.result}")
    (STATIC / "sentence.html").write_text(as_html(lines, words), encoding="utf-8")
    figure = draw(lines, words, LIGHT)
    figure.savefig(STATIC / "sentence.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
