"""DPDocumentReplacer: time and memory, and found documents against the bound.

``speed``: 100,000 public documents, 1,000,000 private ones from a generator, beside the
grouper's own `predict`. ``found``: on fan fiction, SMS and tweets, how many of 100
candidates the best adversary finds: expected, exactly, and in draws, beside the bound
for every adversary. ``pairs``: library and topic of docstrings, as one answer of pairs
of labels, and as two answers. ``kept``: what the constructor keeps of the topic without
labels, with ten a topic and with all, what it shows of the author, and what a reader
gets who takes stand-ins as they are::

    python benchmarks/bench_replacement.py [speed] [found] [pairs] [kept]
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import measuring
import numpy as np
from experiments.frontier import corpora as divided
from experiments.frontier import measure
from experiments.frontier.corpora import Split, without_near_copies
from experiments.texts import labelled
from real_data import SMS, STORIES, TWEETS, absent, read_sms, read_stories, read_tweets
from results import bracketed, record
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer
from skdptext.datasets import load_docstrings
from skdptext.preprocessing import TopicEncoder

N_PUBLIC, N_PRIVATE = 100_000, 1_000_000
SECRET, TURNS = 2**100 + 1, 3
PAIRS_AT = (2.0, 4.0, 6.0)
N_SETS, N_CANDIDATES = 50, 100
LONGEST = 1000  # characters of a text


def corpora() -> dict[str, list[str]]:
    """Texts of the real data that is here, without equal ones."""
    sets = {
        "fan fiction": (STORIES, lambda: [story["text"] for story in read_stories()]),
        "SMS": (SMS, lambda: read_sms()[0]),
        "tweets": (TWEETS, lambda: read_tweets()[0]),
    }
    return {
        name: list(dict.fromkeys(text[:LONGEST] for text in read()))
        for name, (file, read) in sets.items()
        if not absent(file)
    }


def many(texts: list[str], n: int, seed: int) -> Iterator[str]:
    """Different documents of about 17 words: a real one and one of its own."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, 10_000):
        picks = rng.integers(0, len(texts), min(10_000, n - start))
        for i, pick in enumerate(picks.tolist(), start):
            yield f"{texts[pick]} n{seed}x{i}"


def speed(_: object) -> None:
    """CPU time and memory of the parts."""
    texts = corpora()["SMS"]
    rows: list[dict[str, object]] = []

    def add(what: str, n: int, took: float) -> None:
        rows.append(
            {
                "what": what,
                "documents": n,
                "CPU s": round(took, 2),
                "µs per document": round(1e6 * took / n, 1),
                "peak MB": round(measuring.peak_mb()),
            }
        )
        print(rows[-1], flush=True)

    public = list(many(texts, N_PUBLIC, 0))
    before = measuring.peak_mb()
    started = time.process_time()
    replacer = DPDocumentReplacer(public, output="index").fit()
    add("fit", N_PUBLIC, time.process_time() - started)
    asked = list(many(texts, 100_000, 1))

    def alone() -> None:
        for start in range(0, len(asked), 4096):
            replacer.grouper_.predict(asked[start : start + 4096])

    def fresh() -> None:
        replacer.set_params(random_state=None).transform(asked)

    def keyed() -> None:
        replacer.set_params(random_state=SECRET)
        replacer.transform(asked, document_ids=range(len(asked)))

    # in turns, so that all of them meet the same neighbours
    parts = {
        "predict of the grouper alone": alone,
        "transform, fresh noise": fresh,
        "transform, keyed by ids": keyed,
    }
    times = measuring.rounds(parts.values(), TURNS, time.process_time, warm=False).T
    for what, seconds in zip(parts, times, strict=True):
        add(what, len(asked), float(np.median(seconds)))
        if what != "predict of the grouper alone":
            rows[-1]["÷ predict"] = round(float(np.median(seconds / times[0])), 2)
    for how, secret in (("fresh noise", None), ("keyed by ids", SECRET)):
        replacer.set_params(random_state=secret)
        ids = None if secret is None else range(N_PRIVATE)
        started = time.process_time()
        replacer.transform(many(texts, N_PRIVATE, 2), document_ids=ids)
        took = time.process_time() - started
        add(f"transform of a generator, {how}", N_PRIVATE, took)
    record(
        "replacement_speed",
        rows,
        title="Documents replaced by public ones: time and memory",
        note=f"{N_PUBLIC:,} public documents of about 17 words, made of real SMS, "
        "in 8 groups of the default; CPU time in one process, one "
        f"BLAS thread. Peak memory of the process; {before:.0f} MB before fit, with "
        "the public texts as a list. Medians of three turns, and of their ratios; "
        "generators make their texts as they are read, which is part of the time.",
    )


def expected(replacer: DPDocumentReplacer, candidates: list[str]) -> float:
    """How often the best adversary is right about one of equally likely candidates.

    Over every public document z that may be released, not over draws:
    Σ_z max_d Pr[z | d] / n. It needs ``output="index"``.
    """
    logs = replacer.log_likelihood(candidates, range(len(replacer.public_)))
    return float(np.exp(logs.max(axis=1)).sum() / len(candidates))


def linked(_: object) -> None:
    """The best adversary against the bound for all of them."""
    rows: list[dict[str, object]] = []
    for name, texts in corpora().items():
        rng = np.random.default_rng(0)
        texts = [texts[i] for i in rng.permutation(len(texts))]
        half = len(texts) // 2
        for n_groups in (4, 8, 12):
            for epsilon in (2.0, 4.0, 6.0):
                replacer = DPDocumentReplacer(
                    texts[:half], n_groups=n_groups, epsilon=epsilon, output="index"
                ).fit()
                success, exact = [], []
                private = texts[half:]
                for _ in range(N_SETS):
                    at = rng.choice(len(private), N_CANDIDATES, replace=False)
                    candidates = [private[i] for i in at]
                    exact.append(expected(replacer, candidates))
                    released = replacer.transform(candidates)
                    logs = replacer.log_likelihood(candidates, released)
                    best = logs == logs.max(axis=1, keepdims=True)
                    success.append(float((np.diag(best) / best.sum(axis=1)).mean()))
                bound = replacer.guarantee().found_at_most(N_CANDIDATES)
                margin = 1.96 * np.std(success, ddof=1) / np.sqrt(N_SETS)
                rows.append(
                    {
                        "text": name,
                        "groups": n_groups,
                        "ε": epsilon,
                        "expected": round(float(np.mean(exact)), 4),
                        "found": round(float(np.mean(success)), 4),
                        "low": round(float(np.mean(success) - margin), 4),
                        "high": round(float(np.mean(success) + margin), 4),
                        # a bound is rounded up
                        "at most": math.ceil(1e4 * bound) / 1e4,
                    }
                )
    record(
        "replacement_found",
        rows,
        title="Documents found among 100 candidates, beside the bound",
        note="The best adversary: the likelihood of each candidate, exactly, ties "
        "shared. Means over 50 sets of 100 candidates. expected: how often it is right "
        "about one of them that is equally likely to be any, computed from the "
        "candidates' groups and the channel, without a draw: the sum over public "
        "documents z of the largest Pr[z | candidate], / 100. It is never above the "
        "bound for every adversary, at most: K p / 100. found, low, high: each "
        "candidate released once, with the 95 % interval; draws lie on either side of "
        "what is expected, and so sometimes above the bound. Public and private "
        "halves, equal texts removed, cut to 1,000 characters, no labels.",
    )


def kept(n_groups: int, epsilon: float) -> float:
    """Probability p that randomized response keeps the group."""
    return 1 / (1 + (n_groups - 1) * math.exp(-epsilon))


def pairs(_: object) -> None:
    """Two attributes of docstrings in one answer, and in two."""
    rows: list[dict[str, object]] = []
    for epsilon in PAIRS_AT:
        each = [_pairs(seed, epsilon) for seed in range(TURNS)]
        for way in each[0]:
            # the same groups in every division, or nearly
            row: dict[str, object] = {"ε": epsilon, "way": way}
            for name in each[0][way]:
                digits = 0 if name == "groups" else 3
                mean = np.mean([split[way][name] for split in each])
                row[name] = round(float(mean), digits)
            rows.append(row)
            print(row, flush=True)
    record(
        "replacement_pairs",
        rows,
        title="Two attributes, library and topic of docstrings: one answer or two",
        note="Public labels; means over 3 divisions in halves. both, library, topic: "
        "the share of documents whose stand-in has them right, exactly, without a "
        "draw; without noise: of the groups themselves. One answer: groups are the "
        "pairs of labels that occur in public text. Two answers: their ε add up to "
        "that of the row, in equal halves, or as is best for both. found: of 100 "
        "candidates, at most, Σ_z max_d Pr[z | d] / 100.",
    )


def _pairs(seed: int, epsilon: float) -> dict[str, dict[str, float]]:
    """What each way keeps of a division, and may show."""
    texts, labels = _library_and_topic()
    order = np.random.default_rng(seed).permutation(len(texts))
    public, private = np.array_split(order, 2)
    both = np.array([" / ".join(pair) for pair in labels])
    right = {}
    for name, of in {
        "both": both,
        "library": labels[:, 0],
        "topic": labels[:, 1],
    }.items():
        replacer = DPDocumentReplacer(
            [texts[i] for i in public], public_labels=of[public]
        )
        told = replacer.fit().groups_of([texts[i] for i in private])
        right[name] = (told, of[private], replacer.n_groups_)
    told, truth, k = right["both"]
    p, q = kept(k, epsilon), (1 - kept(k, epsilon)) / (k - 1)
    scores = {"both": p * (told == truth).mean() + q * (told != truth).mean()}
    names = np.array([name.split(" / ") for name in np.unique(both[public])])
    said = np.array([name.split(" / ") for name in told])
    for i, name in enumerate(("library", "topic")):
        # groups of the right library, with the one that is told or without it
        fitting = (names[:, i] == labels[private, i][:, None]).sum(axis=1)
        own = said[:, i] == labels[private, i]
        scores[name] = (own * p + (fitting - own) * q).mean()
    ways = {"one answer": scores | {
        "without noise": (told == truth).mean(), "groups": k, "found": k * p / 100,
    }}  # fmt: skip
    shares = {
        "two answers, equal": [0.5],
        "two answers, best": np.arange(0.05, 1, 0.05),
    }
    for way, parts in shares.items():
        ways[way] = max(
            (_two(right, epsilon * a, epsilon * (1 - a)) for a in parts),
            key=lambda scores: scores["both"],
        )
    return ways


def _two(right: dict[str, tuple], one: float, two: float) -> dict[str, float]:
    """The same of two answers, of library and topic, which are independent."""
    chances, found, k = [], 0.01, 1
    for name, epsilon in (("library", one), ("topic", two)):
        told, truth, n_groups = right[name]
        p = kept(n_groups, epsilon)
        chances.append(np.where(told == truth, p, (1 - p) / (n_groups - 1)))
        found, k = found * n_groups * p, k * n_groups
    hits = [right[name][0] == right[name][1] for name in ("library", "topic")]
    return {
        "both": (chances[0] * chances[1]).mean(),
        "library": chances[0].mean(),
        "topic": chances[1].mean(),
        "without noise": (hits[0] & hits[1]).mean(),
        "groups": k,
        "found": min(1.0, found),
    }


@cache
def _library_and_topic() -> tuple[list[str], np.ndarray]:
    """Docstrings without near-copies, of pairs that occur ten times or more."""
    corpus = labelled("docstrings")
    rows = without_near_copies(corpus.data)
    topics = np.array(corpus.target_names)[corpus.target]
    libraries = np.array(corpus.author_names)[corpus.author]
    pairs = np.column_stack([libraries, topics])[rows]
    _, number, count = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    often = count[number.ravel()] >= 10
    return [corpus.data[i] for i in rows[often]], pairs[often]


# -- what is kept ----------------------------------------------------------------------

DIVISIONS, EPSILON, BOOTSTRAP, TEN = 5, 4.0, 200, 10
# Numbers of groups: the default, and as many as there are topics
SIZES = {"fan fiction": (5, 8), "docstrings": (8, 16), divided.MODULES: (8, 20),
         "SMS": (2, 4, 8), "tweets": (2, 4, 8)}  # fmt: skip


def releases(
    name: str, split: Split, rng: np.random.Generator
) -> Iterator[tuple[str, DPDocumentReplacer]]:
    """What is compared; "k-means" is the default without naive Bayes."""
    public, labels = split.public, split.public_topic
    for k in SIZES[name]:
        yield "no labels", DPDocumentReplacer(public, n_groups=k)
        means = KMeans(k, n_init=10, random_state=0)
        yield (
            "no labels, k-means",
            DPDocumentReplacer(public, make_pipeline(TopicEncoder(), means)),
        )
    yield "public labels", DPDocumentReplacer(public, public_labels=labels)
    ten = np.full(len(labels), None, dtype=object)
    for topic in np.unique(labels):
        own = np.flatnonzero(labels == topic)
        ten[rng.permutation(own)[:TEN]] = topic
    yield "ten labels a topic", DPDocumentReplacer(public, public_labels=ten)
    encoder = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=2), TruncatedSVD(100, random_state=0)
    )
    model = LogisticRegression(C=10.0, class_weight="balanced", max_iter=1000)
    grouper = make_pipeline(FrozenEstimator(encoder.fit(public)), model)
    yield (
        "ten labels a topic, how-to",
        DPDocumentReplacer(public, grouper, public_labels=ten),
    )


def groups_of(replacer: DPDocumentReplacer, texts: list[str]) -> np.ndarray:
    if not texts:
        return np.empty(0, int)
    return np.searchsorted(replacer.groups_, replacer.groups_of(texts))


def likely(
    groups: np.ndarray, labels: np.ndarray, names: np.ndarray, P: np.ndarray
) -> np.ndarray:
    """Pr[release | label], with one more document spread over the groups."""
    k = len(P)
    rows = [np.bincount(groups[labels == name], minlength=k) for name in names]
    shares = np.array(rows) + 1 / k
    return shares / shares.sum(axis=1, keepdims=True) @ P


def read(
    split: Split, replacer: DPDocumentReplacer, said: np.ndarray
) -> dict[str, np.ndarray]:
    """For each protected document, the chances that its topic and author are named."""
    own = groups_of(replacer, split.protected)
    P = measure.response(replacer.n_groups_, EPSILON)
    topics = np.unique(split.topic)
    if replacer.public_labels is None:
        shares = likely(replacer.public_groups_, split.public_topic, topics, P)
        named = topics[shares.argmax(axis=0)]
    else:
        named = replacer.groups_  # the group is a label

    def right(named: np.ndarray, truth: np.ndarray, of: np.ndarray) -> np.ndarray:
        return (P[of] * (named[None] == truth[:, None])).sum(axis=1)

    # of a stand-in, what a model of clear text says: a share of each group
    public = replacer.public_groups_
    model = np.array([np.bincount(public[said == t], minlength=len(P)) for t in topics])
    model = model / np.bincount(public, minlength=len(P))
    place = np.searchsorted(topics, split.topic)
    result = {
        "topic": right(named, split.topic, own),
        "as it is": (P[own] * model[place]).sum(axis=1),
    }
    if split.author is None or split.known_author is None:
        return result
    known = groups_of(replacer, split.known)
    authors = np.unique(split.author)
    likeliest = likely(known, split.known_author, authors, P).argmax(axis=0)
    result["author"] = right(authors[likeliest], split.author, own)
    result["author, topic known"] = np.zeros(len(own))
    for topic in topics:
        here = np.flatnonzero(split.topic == topic)
        names = np.unique(split.author[here])
        likeliest = likely(known, split.known_author, names, P).argmax(axis=0)
        of_topic = right(names[likeliest], split.author[here], own[here])
        result["author, topic known"][here] = of_topic
    return result


def with_libraries(split: Split) -> Split:
    """Docstrings whose authors are libraries: half of the protected ones are known."""
    corpus = load_docstrings(remove=["examples", "headers", "names"])
    names = np.array(corpus.author_names)[corpus.author]
    library = dict(zip(corpus.data, names.tolist(), strict=True))
    theirs = np.array([library[text] for text in split.public])
    return replace(
        split,
        author=np.array([library[text] for text in split.protected]),
        known=split.public,
        known_author=theirs,
    )


def chance(split: Split, what: str) -> float:
    """What a guess finds that sees no release: if need be, by the topic."""
    if what == "author":
        return 1 / len(np.unique(split.author))
    if what == "author, topic known":
        assert split.author is not None
        right = np.zeros(len(split.author))
        for topic in np.unique(split.topic):
            here = split.topic == topic
            names, often = np.unique(split.author[here], return_counts=True)
            right[here] = split.author[here] == names[often.argmax()]
        return measure.by_topic(right, split.author)
    return 1 / len(np.unique(split.topic))


def division(name: str, seed: int) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Releases of one division, K, and what each keeps and shows."""
    split = divided.split(name, seed)
    if name == "docstrings":
        split = with_libraries(split)

    def means(values: np.ndarray, label: np.ndarray) -> list[float]:
        draws = measure.bootstrapped(values, label, split, BOOTSTRAP)
        return [measure.by_topic(values, label), *draws]

    said = cross_val_predict(
        measure.labels_grouper(), split.public, split.public_topic, cv=4
    )
    clear = measure.labels_grouper().fit(split.public, split.public_topic)
    right = (clear.predict(split.protected) == split.topic).astype(float)
    yield "clear", 0, {"topic": means(right, split.topic), "found": 1.0}
    rng = np.random.default_rng([seed, 7])
    for what, replacer in releases(name, split, rng):
        replacer.fit()
        every: dict[str, object] = {}
        for key, values in read(split, replacer, said).items():
            label = split.author if key.startswith("author") else split.topic
            every[key] = means(values, label)
            every[f"{key} chance"] = chance(split, key)
        own = groups_of(replacer, split.protected)
        P = measure.response(replacer.n_groups_, EPSILON)
        sets = measure.candidate_sets(split, np.random.default_rng([seed, 2]))
        found = [P[own[rows]].max(axis=0).sum() / len(rows) for rows in sets]
        every["found"] = float(np.mean(found))
        yield what, replacer.n_groups_, every
        print(name, seed, what, replacer.n_groups_, flush=True)


def stand_ins(_: object) -> None:
    """What is kept of the topic, and shown of the author, by the constructor."""
    rows: list[dict[str, object]] = []
    for name in (*divided.names(), divided.MODULES):
        cells: dict[tuple[str, int], list[dict[str, object]]] = {}
        for seed in range(DIVISIONS):
            for what, k, values in division(name, seed):
                cells.setdefault((what, k), []).append(values)
        rows += [summed(name, *key, mine, cells) for key, mine in cells.items()]
    record(
        "replacement_kept",
        rows,
        title="What stand-ins keep of the topic, and show of the author",
        note=f"ε = {EPSILON:g}; {DIVISIONS} divisions into public and protected texts, "
        "near-copies taken out. Topic: named by who knows the mechanism; labels count "
        "alike. With labels, the group is the label. As it is: a reader takes "
        "stand-ins for what they seem, and a model of clear public text names their "
        "topic. Difference: to k-means alone with as many groups, in the same "
        "divisions, with its standard error. Found: of 100 protected documents. "
        "Author: the writers of fan fiction and the libraries of docstrings, from one "
        "stand-in, by an adversary who holds other texts of theirs; with the topic "
        "known, among the authors of the topic. Authors count alike; in brackets what "
        "a guess finds: any author, or the most frequent one of the topic. Ten labels "
        "a topic: the other public documents have none; how-to: with an encoder that "
        "learned from all of them. Intervals of 95 %: bootstrap over divisions and "
        "documents; of fan fiction, over divisions, writers and their stories.",
    )


def summed(
    name: str,
    what: str,
    k: int,
    cells: list[dict[str, object]],
    every: dict[tuple[str, int], list[dict[str, object]]],
) -> dict[str, object]:
    """A row of the table."""
    rng = np.random.default_rng(0)
    row: dict[str, object] = {"text": name, "release": what, "groups": k or None}
    for key in ("topic", "as it is", "author", "author, topic known"):
        if key not in cells[0]:
            row[key] = None
            continue
        values = np.array([cell[key] for cell in cells], dtype=float)
        picks = rng.integers(0, len(values), (1000, len(values)))
        which = rng.integers(1, values.shape[1], picks.shape)
        ends = np.quantile(values[picks, which].mean(axis=1), [0.025, 0.975])
        mean = float(values[:, 0].mean())
        row[key] = bracketed(mean, min(ends[0], mean), max(ends[1], mean))
        if key.startswith("author"):
            by_chance = np.mean([cell[f"{key} chance"] for cell in cells])
            row[key] = f"{row[key]} ({by_chance:.2f})"
        base = every.get(("no labels, k-means", k))
        if key == "topic":
            row["difference"] = None
            if what == "no labels" and base:
                gain = values[:, 0] - [cell[key][0] for cell in base]  # type: ignore[index]
                error = np.std(gain, ddof=1) / np.sqrt(len(gain))
                row["difference"] = f"{gain.mean():+.3f} ± {error:.3f}"
    row["found"] = round(float(np.mean([cell["found"] for cell in cells])), 3)
    return row


def main() -> None:
    parts = {"speed": speed, "found": linked, "pairs": pairs, "kept": stand_ins}
    measuring.options(__doc__, parts)


if __name__ == "__main__":
    main()
