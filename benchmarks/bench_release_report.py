"""What do releases of several kinds give away? `release_report` on each of them.

Fan fiction, cut to its first 200 words, as released by rule, by published packages and
by us. The packages are installed into throw-away environments (benchmarks/peers.py)::

    python benchmarks/bench_release_report.py [releases] [time]

``releases`` is the table of what each gives away; ``time``, CPU time against documents.
"""

from __future__ import annotations

import re
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import measuring
import numpy as np
from experiments.texts import pieces
from peers import PeerUnavailable, ask
from real_data import DATA, GLOVE, STORIES, absent, distinct_stories, read_stories
from results import bracketed, record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.embeddings import k_nearest_words
from skdptext.inspection import release_report
from skdptext.mechanisms import Exponential
from skdptext.model_selection import calibrate_epsilon
from skdptext.replacement import DPDocumentReplacer

PEER = Path(__file__).with_name("release_peer.py")
N_DOCUMENTS, N_WORDS, N_AUTHORS = 150, 200, 8
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
                source, 1 - share, documents=public[:200], tuned_on="public"
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
            texts, released, authors=authors, labels={"topic": labels},
            releaser=mechanism,
        )  # fmt: skip
        link, words = report.scores["linkage"], report.scores["words"]
        author, topic = report.scores["author"], report.scores["topic"]
        spans = report.scores["spans of 5 words"]
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
                "know, of our releases, the mechanism. SanText "
                "with 3,000 frequent words of public text; other words are replaced by "
                "it, too. Ours: Exponential, ε calibrated on public text."
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
    report = release_report(texts, released, authors=authors)
    return {
        "documents": n,
        "attacked": report.scores["copies"].n_documents,
        "asked": "and authors" if with_authors else "documents, words",
        "CPU s": time.process_time() - started,
    }


def table_of_time(_: Any) -> None:
    """Record CPU time against documents."""
    if absent(STORIES):
        return
    sizes = (100, 300, 1000, 100_000)
    rows = measuring.shown(timed(n, labels) for n in sizes for labels in (False, True))
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


def main() -> None:
    measuring.options(__doc__, {"releases": table_of_releases, "time": table_of_time})


if __name__ == "__main__":
    main()
