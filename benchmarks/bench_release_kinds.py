"""What do 34 kinds of release give away, on four corpora; and what do unrelated lists?

    python benchmarks/bench_release_kinds.py [kinds] [unrelated] [time]

``kinds`` is the share of 160 documents that the report identifies among 100; where rows
are in another order, the share that it says belongs to other rows. ``unrelated`` counts
trials in which an adversary finds something in two lists that have nothing to do with
each other: 2.5% are allowed. ``time`` is the CPU time of a report against documents.
"""

from __future__ import annotations

import hmac
import re
import time
import warnings
from collections import Counter
from typing import Any

import measuring
import numpy as np
from real_data import (
    DATA,
    GLOVE,
    SMS,
    STORIES,
    TWEETS,
    absent,
    distinct_stories,
    pieces,
    read_sms,
    read_stories,
    read_tweets,
)
from results import record
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.attacks import words_of
from skdptext.datasets import load_docstrings
from skdptext.embeddings import k_nearest_words
from skdptext.inspection import release_report
from skdptext.model_selection import calibrate_epsilon

N, N_PUBLIC, LONGEST, TRIALS, WORDS = 160, 400, 60, 200, 200
NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
NUMBER = re.compile(r"\d+")


def corpora() -> dict[str, list[str]]:
    """Distinct beginnings of texts, without near-copies, in random order."""
    docstrings = load_docstrings(remove=("names", "signatures"), min_words=30).data
    sources = {
        "SMS": read_sms()[0], "tweets": read_tweets()[0],
        "fan fiction": [story["text"] for story in distinct_stories()],
        "docstrings": docstrings,
    }  # fmt: skip
    rng, found = np.random.default_rng(0), {}
    for name, texts in sources.items():
        kept: list[str] = []
        bags: list[set[str]] = []
        for i in rng.permutation(len(texts)):
            text = " ".join(texts[i].split()[:LONGEST])
            bag = set(words_of(text))
            near = (len(bag & b) >= 0.4 * min(len(bag), len(b)) for b in bags)
            if len(bag) >= 8 and (name == "fan fiction" or not any(near)):
                kept.append(text)
                bags.append(bag)
            if len(kept) == N + N_PUBLIC:
                break
        found[name] = kept
    return found


def releases(texts: list[str], public: list[str], table: WordEmbedding) -> dict:
    """What is released of texts, by kind."""
    rng = np.random.default_rng(1)

    def drop(share: float) -> list[str]:
        return [" ".join(w for w in t.split() if rng.random() >= share) for t in texts]

    def word_by_word(change: Any) -> list[str]:
        return [re.sub(r"[^\W\d_]+", lambda w: change(w[0].lower()), t) for t in texts]

    def sentences(text: str) -> list[str]:
        return re.split(r"(?<=[.!?,])\s+", text)

    def coded(word: str) -> str:
        return hmac.new(b"k", word.lower().encode(), "sha256").hexdigest()[:12]

    def noisy(share: float) -> list[str]:
        source = DPWordPerturber(
            table, mechanism="exponential", lam=0, output="text", order="keep",
            random_state=np.random.default_rng(0),
        )  # fmt: skip
        found = calibrate_epsilon(source, share, documents=public, tuned_on="public")
        return source.set_params(epsilon=found.epsilon).fit_transform(texts)

    words = Counter(word for text in public for word in words_of(text))
    often = {word for word, _ in words.most_common(500)}
    redacted = [NUMBER.sub("[NUMBER]", NAME.sub("[NAME]", text)) for text in texts]
    half = drop(0.5)
    ids = np.arange(len(table))
    near, _ = k_nearest_words(table.vectors, table.vectors, 20, exclude=ids)
    others = {w: [table.words[j] for j in row] for w, row in zip(table.words, near)}  # noqa: B905
    hashed = [" ".join(map(coded, text.split())) for text in texts]
    pairs = CountVectorizer(analyzer="char", ngram_range=(2, 2)).fit(public)
    parts = [p.replace(" ", "_") for p in pairs.get_feature_names_out()]
    every = TfidfVectorizer(sublinear_tf=True).fit(public + texts).transform(texts)
    means = [
        np.mean(
            [table[w] for w in words_of(t) if w in table] or [0 * table.vectors[0]], 0
        )
        for t in texts
    ]
    counts = CountVectorizer(stop_words="english").fit(public + texts)
    topics = LatentDirichletAllocation(20, random_state=0).fit(counts.transform(public))
    shares = topics.transform(counts.transform(texts))
    order, some = rng.permutation(N), np.arange(N)
    some[: N // 2] = rng.permutation(N // 2)
    replacer = DPDocumentReplacer(public, n_groups=8, epsilon=4.0, random_state=0)
    return {
        "names and numbers redacted": redacted,
        "500 commonest words only": [
            " ".join(w for w in words_of(t) if w in often) for t in texts
        ],
        "half of the words dropped": half,
        "80% dropped": drop(0.8),
        "first 6 words": [" ".join(t.split()[:6]) for t in texts],
        "10% kept, shuffled": [" ".join(rng.permutation(t.split())) for t in drop(0.9)],
        "pseudonyms": [NAME.sub(lambda _: f"P{rng.integers(50)}", t) for t in texts],
        "stems": word_by_word(lambda w: w[:5]),
        "sentences shuffled": [" ".join(rng.permutation(sentences(t))) for t in texts],
        "every other sentence": [" ".join(sentences(t)[::2]) for t in texts],
        "first letters": [" ".join(w[0] for w in t.lower().split()) for t in texts],
        "counts of pairs of letters": [
            " ".join(f"{parts[j]}:{n}" for j, n in zip(r.indices, r.data, strict=True))
            for r in pairs.transform(texts)
        ],
        "noisy words, a quarter": noisy(0.25),
        "noisy words, half": noisy(0.5),
        "noisy words, 95%": noisy(0.95),
        "keyed hash of each word": hashed,
        "keyed hashes, sorted": [" ".join(sorted(text.split())) for text in hashed],
        "a fixed other word": word_by_word(lambda w: others.get(w, [w])[0]),
        "one of 20 nearest words": word_by_word(
            lambda w: others[w][rng.integers(20)] if w in others else ""
        ),
        "numbers: LSA": TruncatedSVD(20, random_state=0).fit_transform(every),
        "numbers: mean vectors": np.array(means),
        "numbers: 20 topic shares": shares,
        "numbers: largest topic": shares.argmax(axis=1),
        "rows shuffled": [texts[i] for i in order],
        "rows reversed": texts[::-1],
        "rows sorted": sorted(texts),
        "rows swapped": [texts[i ^ 1] for i in range(N)],
        "rows shifted": texts[1:] + texts[:1],
        "redacted, rows shuffled": [redacted[i] for i in order],
        "lower case, rows shuffled": [texts[i].lower() for i in order],
        "half dropped, rows shuffled": [half[i] for i in order],
        "half of the rows shuffled": [texts[i] for i in some],
        "stand-ins": replacer.fit().transform(texts),
        "unrelated": public[:N],
    }


def table_of_kinds(_: Any) -> None:
    """Record what each kind gives away on each corpus."""
    if absent(SMS, TWEETS, STORIES, GLOVE):
        return
    table, rows = WordEmbedding.load(DATA / GLOVE), {}
    for corpus, texts in corpora().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = releases(texts[:N], texts[N:], table)
        for kind, released in made.items():
            score = release_report(texts[:N], released).scores["linkage"]
            rows.setdefault(kind, {"release": kind})[corpus] = round(score.value, 2)
        print(corpus, flush=True)
    record(
        "release_report_kinds", list(rows.values()),
        title="Identified by the report, by kind of release and corpus",
        note=f"release_report on {N} texts of at most {LONGEST} words: the share "
        "identified among 100 (a guess: 0.01) by the strongest adversary, on the half "
        "that did not choose it. Of rows in another order: the share of the releases "
        "that the report says belong to other rows.",
    )  # fmt: skip


def table_of_unrelated(_: Any) -> None:
    """Record how often each adversary finds something in unrelated lists."""
    if absent(SMS, TWEETS):
        return
    every = corpora()
    pool = every["SMS"] + every["tweets"]
    stories = " ".join(every["fan fiction"]).split()
    found: dict[str, Counter[str]] = {}
    for seed in range(TRIALS):
        rng = np.random.default_rng([7, seed])
        texts = [pool[i] for i in rng.permutation(len(pool))[:80]]
        starts = rng.integers(0, len(stories) - 20, 80)
        equal = [" ".join(stories[i : i + 20]) for i in starts]
        short = [" ".join(text.split()[:10]) for text in texts]
        for kind, clear, released in (
            ("texts", texts[:40], texts[40:]),
            ("24 texts of ten words", short[:24], short[40:64]),
            ("hashed words", texts[:40], list(map(_hashed, texts[40:]))),
            ("numbers", texts[:40], rng.normal(size=(40, 10))),
            ("hashed words, of one length", equal[:40], list(map(_hashed, equal[40:]))),
        ):
            report = release_report(clear, released, n_candidates=20, random_state=seed)
            rows = [r for r in report.scores.rows if r.question == "linkage"]
            hits = found.setdefault(kind, Counter({r.adversary: 0 for r in rows}))
            hits.update(row.adversary for row in rows if row.low > row.chance)
            hits["the strongest"] += report.scores["linkage"].low > 1 / 20
            hits["rows of others"] += report.misplaced > 0
    record(
        "release_report_unrelated",
        [{"released": kind} | dict(hits) for kind, hits in found.items()],
        title=f"Trials of {TRIALS} in which unrelated lists seem to be identified",
        note="Lists of 40, 20 candidates: how often the low end of the interval is "
        "above a guess, and how often the rows seem to belong to others. "
        f"Allowed are 2.5%, {TRIALS // 40}, and 11 once in 100 times.",
    )


def _hashed(text: str) -> str:
    """A code for each word."""
    codes = (hmac.new(b"k", w.encode(), "sha256").hexdigest() for w in text.split())
    return " ".join(code[:8] for code in codes)


def timed(n: int, with_authors: bool) -> dict[str, object]:
    """CPU time of one report."""
    every, _ = pieces([story["text"] for story in read_stories()], WORDS)
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
            f"Fan fiction in pieces of {WORDS} words, names redacted, 20 authors; "
            "all adversaries, one process, one thread. Of more than 1,000 documents a "
            "sample is attacked."
        ),
    )


def main() -> None:
    parts = {
        "kinds": table_of_kinds, "unrelated": table_of_unrelated, "time": table_of_time,
    }  # fmt: skip
    measuring.options(__doc__, parts)


if __name__ == "__main__":
    main()
