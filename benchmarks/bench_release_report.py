"""What do releases of several kinds give away? `release_report` on each of them.

Fan fiction, cut to its first 200 words, as released by rule, by published packages and
by us. The packages are installed into throw-away environments (benchmarks/peers.py)::

    python benchmarks/bench_release_report.py [releases] [codes] [time] [unrelated]
        [authors]

All but ``releases`` keep what is done in ``build/release_report``;
``--budget 50`` stops after so many seconds, and the same command goes on.

``releases`` is the table of what each gives away; ``time``, CPU time against documents;
``codes``, what is found where texts are in codes (benchmarks/release_codes.py);
``unrelated``, how often a report on lists that have nothing to do with each other holds
chance inside its intervals; ``authors``, how often `obfuscation_report` finds authors
who have nothing to do with the text.
"""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import measuring
import numpy as np
from experiments.store import Cell, MissingCellError, Store
from experiments.texts import pieces
from peers import PeerUnavailable, ask
from real_data import DATA, GLOVE, STORIES, absent, distinct_stories, read_stories
from release_codes import CODES, first_places, made_for, sorted_counts
from results import bracketed, record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.attacks import found_among
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.inspection import obfuscation_report, release_report
from skdptext.mechanisms import Exponential
from skdptext.model_selection import calibrate_epsilon
from skdptext.replacement import DPDocumentReplacer
from skdptext.search import k_nearest_words
from skdptext.utils import share_interval

PEER = Path(__file__).with_name("release_peer.py")
CELLS = Path(__file__).parents[1] / "build" / "release_report"
N_DOCUMENTS, N_WORDS, N_AUTHORS, N_TRIALS = 150, 200, 8, 200
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
NUMBER = re.compile(r"\d+")


def corpus() -> tuple[list[str], np.ndarray, np.ndarray, list[str]]:
    """Texts, their authors and topics; texts by others, which are public."""
    rows = [row for row in distinct_stories() if row["author"] is not None]
    named = Counter(row["author"] for row in rows)
    chosen = [name for name, _ in named.most_common(N_AUTHORS)]
    mine = [row for row in rows if row["author"] in chosen]
    rng = np.random.default_rng(0)
    mine = [mine[i] for i in rng.permutation(len(mine))]
    of_each = -(-N_DOCUMENTS // N_AUTHORS)  # rounded up
    turns: defaultdict[str, Iterator[int]] = defaultdict(count)
    mine = [row for row in mine if next(turns[row["author"]]) < of_each]
    mine = mine[:N_DOCUMENTS]
    others = [row for row in rows if row["author"] not in chosen]
    return (
        [" ".join(row["text"].split()[:N_WORDS]) for row in mine],
        np.array([row["author"] for row in mine]),
        np.array([str(row["topic"]) for row in mine]),
        [" ".join(row["text"].split()[:N_WORDS]) for row in others],
    )


def replaced_words(text: str, table: dict[str, str]) -> str:
    """Each word of a text that has a substitute, replaced."""

    return re.sub(r"[A-Za-z]+", lambda w: table.get(w[0].lower(), w[0]), text)


def synonyms(embedding: WordEmbedding) -> dict[str, str]:
    """The nearest other word of each."""
    ids = np.arange(len(embedding))
    near, _ = k_nearest_words(embedding.vectors, embedding.vectors, 1, exclude=ids)
    words = embedding.words
    return {words[i]: words[j] for i, j in zip(ids, near[:, 0], strict=True)}


def by_package(package: str, texts: list[str], **request: object) -> list[str]:
    """What a published package makes of texts."""
    with tempfile.TemporaryDirectory() as folder:
        asked = {"package": package, "texts": texts, **request}
        return ask(package, PEER, asked, Path(folder))["texts"]


def releases(
    texts: list[str], public: list[str], embedding: WordEmbedding
) -> dict[str, tuple[Callable[[], list[str]], object]]:
    """Names of releases, how they are made, and what an adversary knows of them."""
    rng = np.random.default_rng(0)

    def shuffled(text: str) -> str:
        return " ".join(rng.permutation(text.split()))

    used = Counter(w for text in public for w in re.findall(r"[a-z]+", text.lower()))
    frequent = [w for w, _ in used.most_common() if w in embedding][:3000]
    small = embedding.restrict(frequent)
    lower = [" ".join(re.findall(r"[a-z]+", text.lower())) for text in texts]

    def words(length: int | None, output: str, share: float) -> DPWordPerturber:
        options = {} if length is None else {"document_length": length}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = DPWordPerturber(
                embedding, epsilon=1.0, lam=0.0, mechanism=Exponential("half"),
                output=output, random_state=np.random.default_rng(0),
                order="keep", **options,
            ).fit([])  # fmt: skip
            calibrated = calibrate_epsilon(
                source, share, documents=public[:200], n_draws=20, tuned_on="public"
            )
            return source.set_params(epsilon=calibrated.epsilon).fit(texts)

    nearest = synonyms(embedding)
    half, tenth = words(None, "text", 0.5), words(60, "text", 0.1)
    bags = words(60, "tokens", 0.1).set_params(resize="sample").fit(texts)
    replacer = DPDocumentReplacer(public, n_groups=8, epsilon=4.0, random_state=0)
    return {
        "names and numbers redacted, by rule": (
            lambda: [NUMBER.sub("[NUMBER]", NAME.sub("[NAME]", t)) for t in texts], None
        ),
        "scrubadub 2.0.1": (lambda: by_package("scrubadub", texts), None),
        "every word by its nearest (GloVe)": (
            lambda: [replaced_words(t, nearest) for t in texts], None
        ),
        "words shuffled": (lambda: [shuffled(t) for t in texts], None),
        "first 40 words": (lambda: [" ".join(t.split()[:40]) for t in texts], None),
        "SanText of pyPANTERA 1.0.2, ε = 5": (
            lambda: by_package(
                "pypantera", lower, words=small.words, vectors=small.vectors.tolist(),
                epsilon=5.0,
            ), None,
        ),
        "our words, half unchanged, in order": (lambda: half.transform(texts), half),
        "our words, a tenth unchanged, 60 in order": (
            lambda: tenth.transform(texts), tenth
        ),
        "our words, a tenth unchanged, 60 redrawn": (
            lambda: bags.transform(texts), bags
        ),
        "our replaced documents, ε = 4, K = 8": (
            lambda: replacer.fit(texts).transform(texts), replacer
        ),
    }  # fmt: skip


def shown(score: Any) -> str | None:
    """A score with its interval."""
    return score and bracketed(score.value, score.low, score.high, 3)


def table_of_releases(_: Any) -> None:
    """Record what each release gives away."""
    if absent(STORIES, GLOVE):
        return
    texts, authors, topics, public = corpus()
    embedding = WordEmbedding.load(DATA / GLOVE)
    often = [t for t, n in Counter(topics.tolist()).items() if n >= 10]
    labels = np.where(np.isin(topics, often), topics, "others")
    rows = []
    for name, (make, mechanism) in releases(texts, public, embedding).items():
        started = time.process_time()
        try:
            released = make()
        except (PeerUnavailable, RuntimeError) as error:
            print(f"{name}: left out, {error}")
            continue
        made = time.process_time() - started
        report = release_report(
            texts, released, authors=authors, topics=labels, mechanism=mechanism,
            embedding=embedding, random_state=0,
        )  # fmt: skip
        link, words = report.scores["linkage"], report.scores["words"]
        author, topic = report.scores["author"], report.scores["topic"]
        spans = report.scores["copies: spans of 5 words"]
        rows.append(
            {
                "release": name,
                "found among 100, at least": shown(link),
                "by": link.adversary,
                "author, at least": shown(author),
                "words read, at least": shown(words),
                "rare words left": shown(report.scores["rare words"]),
                "spans of 5 words left": spans.value,
                "topic, at least": shown(topic),
            }
        )
        clear = author.clear, topic.clear, author.chance, topic.chance
        seconds = time.process_time() - started - made
        print(f"{name}: {seconds:.0f} CPU s, {clear}", flush=True)
        record(
            "release_report",
            rows,
            title="What a release gives away, by kind of release",
            note=(
                f"release_report on {len(texts)} texts of fan fiction, cut to "
                f"{N_WORDS} words, by {N_AUTHORS} authors; each score of the strongest "
                "adversary, chosen on one half of the texts, on the other, with a "
                "95 % interval: at least so much is given away. Found: chance 0.01. "
                f"Author: in clear {clear[0]:.2f}, chance {clear[2]:.2f}. Topic, the "
                f"fandom: in clear {clear[1]:.2f}, chance {clear[3]:.2f}. Adversaries "
                "know GloVe's vectors and, of our releases, the mechanism. SanText "
                "with 3,000 frequent words of public text; other words are replaced by "
                "it, too. Ours: Exponential, ε calibrated on public text."
            ),
        )


def results_of(cells: list[Cell], budget: float) -> list[Any]:
    """The results of all cells; none if the time is up before they are there."""
    store = Store(CELLS, time.monotonic() + budget)
    with contextlib.suppress(MissingCellError):
        return [store.get(cell) for cell in cells]
    return []


def story_pieces(n_words: int, n: int) -> list[str]:
    """Words of stories, from the hundredth on."""
    words = [story["text"].split()[100:] for story in read_stories()]
    texts = [" ".join(w[:n_words]) for w in words if len(w) >= n_words]
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[i] for i in order[:n]]


def coded(name: str, n_words: int, n: int) -> dict[str, object]:
    """A report on texts in one code, and an adversary who was made for it."""
    texts = story_pieces(n_words, n)
    if name in BY_TABLE:
        rng, table = np.random.default_rng(0), BY_TABLE[name]()
        released = [
            " ".join(rng.choice(table.get(w, [w])) for w in words)
            for words in map(lower_words, texts)
        ]
    else:
        released = [CODES[name](text) for text in texts]
    report = release_report(texts, released, random_state=0)
    link, words = report.scores["linkage"], report.scores["words"]
    row: dict[str, object] = {
        "release": name,
        "words each": n_words,
        "found among 100": bracketed(link.value, link.low, link.high, 2),
        "by": link.adversary,
        "words read": round(words.value, 2),
        "said": "; ".join(report.provenance.codes)
        or ("cannot be read" if report.unread else ""),
    }
    made = MADE.get(name)
    if made is not None:
        lower = [" ".join(lower_words(text)) for text in texts]
        clear = texts if name == "HMAC of words" else lower
        scores = made_for(clear, released, made)
        right = found_among(scores, np.arange(len(texts)), min(100, len(texts)))
        row["made for it"] = round(float(right.mean()), 2)
    return row


def lower_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def nearest_20() -> dict[str, list[str]]:
    """The 20 words that are nearest to each word, by GloVe's vectors."""
    embedding = WordEmbedding.load(DATA / GLOVE)
    ids = np.arange(len(embedding))
    near, _ = k_nearest_words(embedding.vectors, embedding.vectors, 20, exclude=ids)
    words = embedding.words
    return {words[i]: [words[j] for j in near[i]] for i in ids}


def code_book() -> dict[str, list[str]]:
    """Another word for each, always the same, and never that of two."""
    words = WordEmbedding.load(DATA / GLOVE).words
    order = np.random.default_rng(0).permutation(len(words))
    return {word: [words[i]] for word, i in zip(words, order, strict=True)}


NEAREST_20, CODE_BOOK = "one of the 20 nearest words (GloVe)", "code book of words"
BY_TABLE = {NEAREST_20: nearest_20, CODE_BOOK: code_book}
MADE = {
    "HMAC of words": first_places,
    "HMAC of words, in lower case": first_places,
    CODE_BOOK: first_places,
    "hashed bag, sorted": sorted_counts,
}
N_CODED = 120


def table_of_codes(args: Any) -> None:
    """Record what is found in texts that are in codes."""
    if absent(STORIES, GLOVE):
        return
    asked = [(name, n) for name in MADE for n in (20, 40, 60)]
    asked += [(NEAREST_20, n) for n in (20, 100)]
    asked += [(name, 60) for name in CODES if name not in MADE]
    cells = [
        Cell(f"code-{name}-{n}", {"version": 2}, partial(coded, name, n, N_CODED))
        for name, n in asked
    ]
    rows = results_of(cells, args.budget)
    if not rows:
        return
    record(
        "release_report_codes",
        rows,
        title="What a report finds in texts that are in codes",
        note=(
            f"{N_CODED} pieces of fan fiction; no vectors, keys or codes are given. "
            "Found among 100 candidates (chance 0.01), by the strongest adversary of "
            "one half of the texts, on the other, with a 95 % interval. Made for it: "
            "an adversary who looks for equal patterns only, on all texts. Said: the "
            "code that was undone, or that these adversaries cannot read it."
        ),
    )


def timed(n: int, with_authors: bool) -> dict[str, object]:
    """CPU time of one report."""
    every, _ = pieces([story["text"] for story in read_stories()], N_WORDS)
    rng = np.random.default_rng(0)
    texts = [every[i] for i in rng.integers(0, len(every), n)]
    released = [NAME.sub("[NAME]", text) for text in texts]
    authors = rng.integers(0, 20, n) if with_authors else None
    started = time.process_time()
    report = release_report(texts, released, authors=authors, random_state=0)
    return {
        "documents": n,
        "attacked": report.provenance.n_documents,
        "asked": "and authors" if with_authors else "documents, words",
        "CPU s": time.process_time() - started,
    }


def table_of_time(args: Any) -> None:
    """Record CPU time against documents."""
    if absent(STORIES):
        return
    cells = [
        Cell(f"time-{n}-{labels}", {"version": 2}, partial(timed, n, labels))
        for n in (100, 300, 1000, 100_000)
        for labels in (False, True)
    ]
    rows = results_of(cells, args.budget)
    if not rows:
        return
    record(
        "release_report_time",
        rows,
        title="CPU time of a report, against documents",
        note=(
            f"Fan fiction in pieces of {N_WORDS} words, names redacted, 20 authors; "
            "all adversaries, one process, one thread. Of more than 1,000 documents a "
            "sample is attacked."
        ),
    )


@cache
def docstring_texts() -> list[str]:
    """The first words of docstrings, no two of which begin alike."""
    texts: dict[str, str] = {}
    for text in load_docstrings(remove=("examples", "headers", "names")).data:
        words = text.split()
        if len(words) >= 40:
            texts.setdefault(" ".join(words[:12]), " ".join(words[:40]))
    return list(texts.values())


def unrelated(trial: int) -> dict[str, list[float]]:
    """A report on two lists that have nothing to do with each other."""
    texts = docstring_texts()
    rng = np.random.default_rng(trial)
    order = rng.permutation(len(texts))
    lists = ([texts[i] for i in order[k : k + 100]] for k in (0, 100))
    labels = rng.integers(0, 4, 100).astype(str) if trial % 4 == 0 else None
    report = release_report(*lists, authors=labels, n_candidates=20, random_state=trial)
    found = {
        name: [s.low <= s.chance <= s.high, s.low > s.chance, s.value - s.chance]
        for name, s in report.scores.items()
    }
    return found | {"verdict": [math.nan, report.verdict.found, math.nan]}


def table_of_unrelated(args: Any) -> None:
    """Record how often chance is inside the intervals, and how often below them."""
    cells = [
        Cell(f"unrelated-{trial}", {"version": 2}, partial(unrelated, trial))
        for trial in range(N_TRIALS)
    ]
    by_score: defaultdict[str, list[list[float]]] = defaultdict(list)
    for trial in results_of(cells, args.budget):
        for name, values in trial.items():
            by_score[name].append(values)
    rows = []
    for name, values in by_score.items():
        inside, below, gap = np.mean(values, axis=0).tolist()
        row = {"score": name, "trials": len(values), "false finds": below}
        if name != "verdict":
            row |= {"chance inside the 95 % interval": inside}
            row |= {"value less chance, mean": gap}
        rows.append(row)
    if not rows:
        return
    record(
        "release_report_unrelated",
        rows,
        title="False certainty: reports on lists that are unrelated",
        note=(
            "Two lists of 100 docstrings of 40 words each, drawn without replacement; "
            "labels, in every fourth trial, at random of four. 20 candidates. The "
            "intervals are too wide for linkage, whose draws of candidates are "
            "averaged out."
        ),
    )


def unrelated_authors(trial: int) -> list[bool]:
    """Whether authors at random are found: the strongest of all, and any of them."""
    texts = docstring_texts()
    rng = np.random.default_rng(trial)
    texts = [texts[i] for i in rng.permutation(len(texts))[:N_AUTHORED]]
    authors = rng.permutation(np.arange(N_AUTHORED) % 4).astype(str)
    perturber = DPWordPerturber(
        load_docstring_embedding(n_words=2000),
        epsilon=20.0,
        document_length=20,
        resize="sample",
    )
    report = obfuscation_report(
        texts, authors, None, perturber, linkage=False, random_state=trial
    )
    rows = report.of("author")
    return [rows[0].low > rows[0].chance, any(row.low > row.chance for row in rows)]


N_AUTHORED, N_ALARMS = 80, 96


def table_of_authors(args: Any) -> None:
    """Record how often authors at random are found."""
    cells = [
        Cell(f"authors-{trial}", {"version": 2}, partial(unrelated_authors, trial))
        for trial in range(N_ALARMS)
    ]
    found = results_of(cells, args.budget)
    if not found:
        return
    strongest, any_of_them = np.array(found, dtype=int).T
    rows = [
        {
            "trials": n,
            "false finds of the strongest": int(strongest[:n].sum()),
            "as a share": bracketed(
                float(strongest[:n].mean()), *share_interval(strongest[:n])
            ),
            "trials in which any of all adversaries is above": int(
                any_of_them[:n].sum()
            ),
        }
        for n in (24, N_ALARMS)
    ]
    record(
        "obfuscation_alarms",
        rows,
        title="False alarms of obfuscation_report: authors who are drawn at random",
        note=(
            f"{N_AUTHORED} docstrings of 40 words, four authors at random; the default "
            "adversaries, by noise on words at ε = 20. A find: the 95 % interval of "
            "the strongest adversary, chosen on one half of the documents and scored "
            "on the other, is above chance. The last column is what the maximum of all "
            "adversaries would report."
        ),
    )


PARTS = {
    "releases": table_of_releases,
    "codes": table_of_codes,
    "time": table_of_time,
    "unrelated": table_of_unrelated,
    "authors": table_of_authors,
}


def main() -> None:
    measuring.options(__doc__, PARTS, budget=math.inf)


if __name__ == "__main__":
    main()
