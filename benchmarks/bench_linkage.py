"""Which document was it, and which class? Adversaries who know the law of the noise.

Seven parts: ``adversaries`` (who finds documents of fan fiction, on fresh releases),
``smoothing`` (what the log-bilinear form gains there, on more documents), ``lengths``
(by those who know the law, at many settings), ``classes`` (topics, authors and spam by
`ChannelNaiveBayes` and others), ``mixtures`` (its tau), ``membership`` (of one word in
a document) and ``channel`` (time and memory of Pr[z | w]). Every cell is
kept in ``build/linkage`` as it is done, and is not done again::

    python benchmarks/bench_linkage.py [adversaries] [lengths] [classes] ...

``lengths --part 1/2`` and ``--part 2/2`` do it in two processes.
"""

from __future__ import annotations

import time
import tracemalloc
from copy import copy
from functools import cache, partial
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import scipy.sparse as sp
from experiments.store import Cell, MissingCellError, Store
from real_data import (
    DATA,
    GLOVE,
    SMS,
    STORIES,
    TWEETS,
    absent,
    bags_of,
    load_table,
    read_sms,
    read_stories,
    read_tweets,
)
from real_data import GOOGLE as TABLE
from results import bracketed, record
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import beta
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, normalize

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.attacks import learned_similarity, text_similarities
from skdptext.audit import audit_document_pair
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.demo import TOPICS
from skdptext.mechanisms import Exponential
from skdptext.metrics import (
    pairwise_word_movers_distances,
    released_profiles,
    word_transitions,
)
from skdptext.naive_bayes import ChannelNaiveBayes

CELLS = Path(__file__).parents[1] / "build" / "linkage"
LENGTHS = (10, 20, 50, 100, 195)
CANDIDATES = (100, 1500)
RELEASES = (1, 10)
# Documents that are released once, and ten times.
N_TARGETS = {1: 100, 10: 30}
N_DRAWS = 20  # per word
N_SEEDS = 3  # releases of each snippet
N_SPLITS = 5  # for mixtures
N_PAIRS = 6  # documents of which one word is replaced
N_EXAMPLES = 100  # texts of topics for nearest neighbours
TOGETHER, HINDSIGHT = "both, weights learned", "both, best weight in hindsight"
NEAREST = "Word Mover's nearest"
GAIN = "more than ChannelNaiveBayes"
# Table, λ, ε of the noise, and candidates at most; the exponential mechanism, whose law
# is exact, follows at equal words changed.
SETTINGS = (
    *((TABLE, 0.0, epsilon, 1500) for epsilon in (10.0, 5.0, 15.0, 20.0)),
    (GLOVE, 0.0, 4.0, 100),
    *((TABLE, lam, epsilon, 1500) for lam in (1.0, 0.5)
      for epsilon in (10.0, 15.0, 5.0, 20.0)),
)  # fmt: skip
SHORT = {TABLE: "Google News", GLOVE: "GloVe"}
SEEN = {"order": "text in order", "bag": "bag"}  # of what is released
# Columns of the table of adversaries; ε of its rows; the seed of its releases.
COLUMNS = (
    "law, smoothed evenly", "law", "word by word", "mean vectors", "tf-idf",
    "shared words", "character n-grams", "Word Mover's nearest", "learned",
)  # fmt: skip
EPSILONS, FRESH = (5.0, 10.0, 15.0, 20.0), 20261123
# Sets of 100 documents that the smoothings are compared on, by ε: none that the form of
# the smoothing was chosen by, which were the sets 1 and 2.
SETS = {5.0: range(3, 13), 10.0: range(3, 9), 15.0: range(3, 7), 20.0: range(3, 7)}


def once(name: str, make: Any) -> Any:
    """A cell's numbers, from the file if it was done before."""
    return Store(CELLS).get(Cell(name, {}, make))


@cache
def fiction(table: str) -> tuple[WordEmbedding, list[np.ndarray]]:
    """Numbers of the first words of documents that have so many."""
    length = max(LENGTHS)
    embedding = WordEmbedding.load(DATA / table)
    texts = [story["text"] for story in read_stories()]
    reader = DPWordPerturber(embedding, stop_words="english").fit([])
    words = [w[:length] for w in reader.known_words(texts) if len(w) >= length]
    rng = np.random.default_rng(0)
    picked = rng.permutation(len(words))[: max(CANDIDATES)]
    return embedding, [embedding.find(words[i]) for i in picked]


# -- which document was it? ------------------------------------------------------------


def attack(
    noise: str, table: str, lam: float, epsilon: float, most: int
) -> dict[str, Any]:
    """All lengths, candidates and releases at one setting, by the law.

    One law serves all of them: that of the words of all candidates.
    """
    embedding, documents = fiction(table)
    documents = documents[:most]
    if noise == "exponential":
        changed = once(cell_name("noise", table, lam, epsilon, most), dict)["changed"]
        epsilon = equal_epsilon(embedding, lam, documents, 1 - changed)
    source = perturber_of(noise, table, lam, epsilon)
    ids, places, transitions = law_of(source, documents)
    releases = released(source, documents, max(RELEASES))
    written = np.stack(documents[: N_TARGETS[1]])
    changed = float((releases[0] != written).mean())
    rows = []

    def add(length: int, n_releases: int, name: str, scores: np.ndarray) -> None:
        rows.extend(
            {
                "length": length,
                "candidates": candidates,
                "releases": n_releases,
                "adversary": name,
                "hits": float(hits(scores[:, :candidates]).mean()),
            }
            for candidates in CANDIDATES
            if candidates <= scores.shape[1]
        )

    # per release a row per target and length
    ordered = [
        np.array([logs_in_order(transitions, z, places) for z in release])
        for release in releases
    ]
    for place, length in enumerate(LENGTHS):
        clear = bags_of(np.stack(documents)[:, :length], len(embedding))
        profiles = np.log(transitions.profiles(normalize(clear, norm="l1")[:, ids]))
        noisy = [bags_of(r[:, :length], len(embedding)) for r in releases]
        for n_releases in RELEASES:
            n = N_TARGETS[n_releases]
            together = sum((r[:n] for r in noisy[1:n_releases]), noisy[0][:n])
            in_order = sum(r[:n, place] for r in ordered[:n_releases])
            add(length, n_releases, "order", in_order)
            add(length, n_releases, "bag", together @ profiles.T)
    return {
        "epsilon": epsilon,
        "changed": changed,
        "draws": N_DRAWS if noise == "noise" else None,
        "rows": rows,
    }


def perturber_of(noise: str, table: str, lam: float, epsilon: float) -> DPWordPerturber:
    """The mechanism of a cell, with the seed of its releases."""
    embedding, _ = fiction(table)
    # "half": of this ε, whatever could be proven besides
    mechanism = Exponential("half") if noise == "exponential" else None
    return DPWordPerturber(
        embedding, epsilon=epsilon, lam=lam, mechanism=mechanism,
        document_length=max(LENGTHS), output="tokens",
        random_state=np.random.default_rng(1),
    ).fit([])  # fmt: skip


def law_of(
    source: DPWordPerturber, documents: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, Any]:
    """The words of documents, where each of them stands, and their law."""
    written = np.stack(documents)
    ids, counts = np.unique(written, return_counts=True)
    law = word_transitions(
        source, counts, words=source.embedding.word_array[ids].tolist(),
        n_draws=N_DRAWS, random_state=np.random.default_rng(0),
    )  # fmt: skip
    return ids, ids.searchsorted(written), law


def released(
    source: DPWordPerturber, documents: list[np.ndarray], n_releases: int
) -> list[np.ndarray]:
    """Word numbers of releases of the first documents; fewer after the first."""
    embedding = source.embedding
    releases = []
    for k in range(n_releases):
        n = N_TARGETS[1 if k == 0 else max(RELEASES)]
        targets = [embedding.word_array[d].tolist() for d in documents[:n]]
        noisy = source.transform(targets)
        releases.append(np.stack([embedding.find(d) for d in noisy]))
    return releases


def cell_name(noise: str, table: str, lam: float, epsilon: float, most: int) -> str:
    """Of the file that a setting's numbers are kept in."""
    return f"{table.split('_')[0]}_{noise}_{lam:g}_{epsilon:g}_{most}"


def equal_epsilon(
    embedding: WordEmbedding, lam: float, documents: list[np.ndarray], unchanged: float
) -> float:
    """ε of the exponential mechanism that leaves as many words unchanged."""
    rng = np.random.default_rng(2)
    ids = rng.choice(np.concatenate(documents), 300)
    low, high = 0.1, 200.0
    for _ in range(12):
        middle = np.sqrt(low * high)
        channel = Exponential("half").prepare(embedding, middle, lam)
        law = channel.log_proba(ids)[np.arange(len(ids)), ids]
        low, high = (middle, high) if np.exp(law).mean() < unchanged else (low, middle)
    return float(np.sqrt(low * high))


def logs_in_order(
    transitions: Any, released: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Log-likelihood of every candidate, by the first words of each length."""
    likely = transitions.counts(released)[np.arange(len(released)), places]
    return np.log(likely).cumsum(axis=1)[:, np.array(LENGTHS) - 1].T


def hits(scores: np.ndarray, truth: np.ndarray | None = None) -> np.ndarray:
    """Whether the truth, for target i candidate i, is the first; ties share it."""
    rows = np.arange(len(scores))
    own = scores[rows, rows if truth is None else truth][:, None]
    return ((scores > own).sum(axis=1) == 0) / (scores == own).sum(axis=1)


def with_interval(share: float, n: int, digits: int = 2) -> str:
    """A share of n with its Clopper–Pearson interval at 95 %."""
    k = share * n
    low = beta.ppf(0.025, k, n - k + 1) if k > 0 else 0.0
    high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
    return bracketed(share, low, high, digits)


def lengths(args: Any) -> None:
    """Attack at the settings of a part, and record all that is done."""
    if absent(TABLE, GLOVE, STORIES):
        return
    part, of = map(int, args.part.split("/"))
    for setting in SETTINGS[part - 1 :: of]:
        for noise in ("noise", "exponential"):
            once(cell_name(noise, *setting), partial(attack, noise, *setting))
            record_lengths()


def record_lengths() -> None:
    """The table of lengths, of the cells that are done."""
    details = []
    for *place, most in sorted(SETTINGS, key=lambda s: (s[0] != TABLE, s[1], -s[2])):
        for noise in ("noise", "exponential"):
            name, none_begun = cell_name(noise, *place, most), 0.0
            try:
                cell = Store(CELLS, none_begun).get(Cell(name, {}, dict))
            except MissingCellError:
                continue
            row = {
                "embedding": SHORT[place[0]],
                "mechanism": noise,
                "λ": place[1],
                "ε": round(cell["epsilon"], 2),
                "words changed": cell["changed"],
                "draws per word": cell["draws"],
            }
            found_by = {
                (r["adversary"], r["length"], r["candidates"], r["releases"]): r["hits"]
                for r in cell["rows"]
            }
            details += [
                row
                | {"candidates": n, "releases": k}
                | {
                    f"{name}, {length}": found_by[name, length, n, k]
                    for name in ("order", "bag")
                    for length in LENGTHS
                }
                for n in CANDIDATES
                if n <= most
                for k in RELEASES
            ]
    record(
        "linkage_lengths",
        details,
        title="Documents found, at least, by length, candidates and releases",
        note=(
            "Documents of fan fiction of 195 words, cut to their first words, by an "
            "adversary who knows the mechanism; its probabilities are estimated from "
            "so many draws per word, or exact (–). Columns: what the adversary sees, "
            "in order or as a bag, and words per document. Of several releases the "
            "log-likelihoods add up; "
            f"{N_TARGETS[1]} documents are released once, {N_TARGETS[10]} of them ten "
            "times. Standard errors are at most 0.05 and 0.09; a guess gets 1 in 100, "
            "or 1 in 1,500. Some documents are equal to another, so that at most 0.99 "
            "can be named of the 100 of Google News, and 0.955 of 1,500 (of ten "
            "releases, 0.967)."
        ),
    )


# -- who finds it? ---------------------------------------------------------------------


def fresh(noise: str, epsilon: float) -> dict[str, Any]:
    """Hits of every adversary, on releases that nothing was chosen by."""
    embedding, documents = fiction(TABLE)
    documents = documents[: min(CANDIDATES)]
    changed = None
    if noise == "exponential":
        changed = once(f"fresh_noise_{epsilon:g}", dict)["changed"]
        epsilon = equal_epsilon(embedding, 0.0, documents, 1 - changed)
    source = perturber_of(noise, TABLE, 0.0, epsilon)
    source.set_params(random_state=np.random.default_rng(FRESH))
    words = [embedding.word_array[d].tolist() for d in documents]
    noisy = [text for _ in range(N_SEEDS) for text in source.transform(words)]
    written = np.concatenate(documents * N_SEEDS)
    codes = np.stack([embedding.find(text) for text in noisy])
    truth = np.tile(np.arange(len(documents)), N_SEEDS)
    scores = by_laws(source, documents, codes)
    if noise == "exponential":  # whose law is exact
        scores = {k: v for k, v in scores.items() if "evenly" not in k}
    scores |= {
        f"{'order' if name == 'word by word' else 'bag'}: {name}": score
        for name, score in text_similarities(words, noisy, embedding=embedding).items()
    }
    for seen in SEEN:  # of a text in order, the bag is known, too
        mine = {k: v for k, v in scores.items() if seen == "order" or k[:3] == "bag"}
        scores[f"{seen}: learned"] = np.concatenate(
            [
                learned_similarity(
                    {k: v[rows] for k, v in mine.items()}, truth[rows], random_state=0
                )
                for rows in np.split(np.arange(len(truth)), N_SEEDS)
            ]
        )
    return {
        "epsilon": epsilon,
        "changed": changed or float((codes.ravel() != written).mean()),
        "hits": {k: float(hits(v, truth).mean()) for k, v in scores.items()},
    }


def by_laws(
    source: DPWordPerturber, documents: list[np.ndarray], codes: np.ndarray
) -> dict[str, np.ndarray]:
    """Log-likelihoods of documents by the law, from one simulation smoothed twice."""
    n_words = len(source.embedding)
    ids, places, law = law_of(source, documents)
    evenly = copy(law)
    evenly.__dict__["_form"] = None  # as it was: draws added to each transition
    clear = normalize(bags_of(np.stack(documents), n_words), norm="l1")[:, ids]
    bag, parts = bags_of(codes, n_words), np.array_split(np.arange(n_words), 20)
    scores = {}
    for name, each in (("law, smoothed evenly", evenly), ("law", law)):
        logs = [np.log(each.counts(part)).astype(np.float32) for part in parts]
        logs = np.concatenate(logs)
        scores[f"order: {name}"] = np.stack(
            [logs[z[:, None], places.T].sum(axis=0) for z in codes]
        )
        scores[f"bag: {name}"] = bag @ np.log(each.profiles(clear)).T
    return scores


def of_set(epsilon: float, number: int) -> dict[str, list[float]]:
    """Hits among a set of 100 documents, each released once."""
    embedding, documents = fiction(TABLE)
    n = min(CANDIDATES)
    documents = documents[number * n : (number + 1) * n]
    source = perturber_of("noise", TABLE, 0.0, epsilon)
    source.set_params(random_state=np.random.default_rng([FRESH, number]))
    words = [embedding.word_array[d].tolist() for d in documents]
    noisy = source.transform(words)
    scores = by_laws(source, documents, np.stack([embedding.find(t) for t in noisy]))
    alike = text_similarities(words, noisy, embedding=embedding, distances=False)
    scores["order: inner product"] = alike["word by word"]
    scores["bag: inner product"] = alike["mean vectors"]
    return {name: hits(score).tolist() for name, score in scores.items()}


def smoothing(_: Any) -> None:
    """Record what the log-bilinear form gains, paired, on many documents."""
    if absent(TABLE, STORIES):
        return
    rows = []
    for epsilon in EPSILONS:
        sets = [
            once(f"set_{epsilon:g}_{number}", partial(of_set, epsilon, number))
            for number in SETS[epsilon]
        ]
        for seen, name in SEEN.items():
            evenly, form, inner = (
                np.concatenate([cell[f"{seen}: {way}"] for cell in sets])
                for way in ("law, smoothed evenly", "law", "inner product")
            )
            n, gain = len(form), (form - evenly).mean()
            margin = 1.96 * (form - evenly).std(ddof=1) / np.sqrt(n)
            rows.append(
                {
                    "ε": epsilon,
                    "documents": n,
                    "released as": name,
                    "likelihood, smoothed evenly": with_interval(evenly.mean(), n, 3),
                    "likelihood": with_interval(form.mean(), n, 3),
                    "gain": bracketed(gain, gain - margin, gain + margin, 3, "+"),
                    "inner product": with_interval(inner.mean(), n, 3),
                }
            )
        record(
            "linkage_smoothing",
            rows,
            title="What the log-bilinear form of the probabilities gains",
            note=(
                f"Sets of 100 documents of fan fiction of {max(LENGTHS)} words, by "
                "none of which anything was chosen, each released once under Google "
                "News, 8,000 words, λ = 0. Share whose document is named among "
                "the 100 of its set; a guess gets 0.01. Likelihoods from "
                f"{N_DRAWS} simulated draws per word, one simulation for both "
                "smoothings; gain, on the same releases, with a 95 % interval over "
                "documents. Inner product: of centred vectors, word by word or of "
                "their means, which knows no mechanism."
            ),
        )


def adversaries(_: Any) -> None:
    """Record who finds documents, by ε, in order and as bags."""
    if absent(TABLE, STORIES):
        return
    rows = []
    for epsilon in EPSILONS:
        for noise in ("noise", "exponential"):
            name = f"fresh_{noise}_{epsilon:g}"
            cell = once(name, partial(fresh, noise, epsilon))
            for seen, released_as in SEEN.items():
                row = {
                    "mechanism": noise,
                    "ε": round(cell["epsilon"], 2),
                    "words changed": cell["changed"],
                    "released as": released_as,
                }
                n = min(CANDIDATES) * N_SEEDS
                for key in COLUMNS:
                    share = cell["hits"].get(f"{seen}: {key}")
                    column = key.replace("law", "likelihood")
                    row[column] = None if share is None else with_interval(share, n)
                rows.append(row)
    record(
        "linkage",
        rows,
        title="Which of 100 documents was released: at least",
        note=(
            f"100 documents of fan fiction of {max(LENGTHS)} words, without stop "
            f"words, each released {N_SEEDS} times under Google News, 8,000 words in "
            "300 dimensions, λ = 0; each adversary holds the 100 in clear and names "
            "one, by one release. Share of right answers of 300, with Clopper–Pearson "
            "intervals at 95 % as if documents were 300; a guess gets 0.01. Whoever "
            "knows the mechanism computes how likely a release is: exactly for the "
            "exponential mechanism, which is finite; for noise on vectors from "
            f"{N_DRAWS} simulated draws per word, smoothed evenly, as it was, or "
            "towards a log-bilinear form, as it is. The others know no mechanism: they "
            "compare words, or vectors of words (word by word where the order is "
            "known). Learned: all of these together, weighed by pairs of other "
            "documents. The exponential mechanism is at equal words changed; its ε, "
            "proven as twice its rate, is of another unit. The releases are new: "
            "nothing was chosen by them."
        ),
    )


# -- which class? ----------------------------------------------------------------------


def authors_and_topics(name: str, epsilon: float) -> list[dict[str, Any]]:
    """Authors on some topics: who knows the law, and who does not."""
    from experiments.obfuscation.attack import Scene

    scene = Scene(name, TABLE.removesuffix(".npz"), "drop")
    problem = scene.problem
    source = DPWordPerturber(
        scene.embedding, epsilon=epsilon, lam=0.0, stop_words="english",
        document_length=scene.length, random_state=np.random.default_rng(0),
    ).fit([])  # fmt: skip
    noisy = [source.transform(problem.snippets) for _ in range(N_SEEDS)]
    rows = []
    few = np.random.default_rng(0).permutation(scene.training.shape[0])[:N_EXAMPLES]
    tasks = (
        (
            "topic", scene.training, problem.training_topic, problem.topic,
            (scene.training[few], problem.training_topic[few]),
        ),
        (
            "author", scene.all_known, problem.known_author, problem.author,
            (scene.known, problem.known_author),
        ),
    )  # fmt: skip
    for target, known, labels, truth, examples in tasks:
        models = {
            "ChannelNaiveBayes": ChannelNaiveBayes(
                source, prior="uniform", n_draws=N_DRAWS, random_state=0
            ),
            "naive Bayes, no channel": ChannelNaiveBayes(prior="uniform"),
            "logistic regression": make_pipeline(
                TfidfTransformer(), LogisticRegression(C=10, max_iter=300)
            ),
        }
        kinds, number = np.unique(truth, return_inverse=True)
        chance = float(np.bincount(number).max() / len(truth))
        for model_name, model in models.items():
            model.fit(known, labels)
            marks = np.mean([model.predict(bags) == truth for bags in noisy], axis=0)
            score = with_interval(float(marks.mean()), len(marks))
            rows.append(_line(f"{name}, {target}", epsilon, model_name, score, chance))
        informed = models["ChannelNaiveBayes"]
        if target == "author" and len(kinds) < len(truth):
            # all snippets of an author, known to be of one
            of_author = sp.csr_array(number == np.arange(len(kinds))[:, None]) * 1.0
            right = [
                informed.predict(sp.csr_array(of_author @ bags)) == kinds
                for bags in noisy
            ]
            score = with_interval(float(np.mean(right)), len(kinds))
            task = f"{name}, author, snippets pooled"
            chance_pooled = 1 / len(kinds)
            rows.append(_line(task, epsilon, "ChannelNaiveBayes", score, chance_pooled))
        near = nearest_of_class(noisy[0], *examples, informed.classes_, scene.embedding)
        logs = informed.predict_log_proba(noisy[0])
        y = np.searchsorted(informed.classes_, truth)
        ways = [logs + w * near for w in (0.0, *np.geomspace(0.1, 1000, 25))]
        best = max(ways, key=lambda scores: _mark("accuracy", scores, y))
        rng = np.random.default_rng(0)
        again = [np.arange(len(y)), *rng.integers(0, len(y), (1000, len(y)))]
        marks = {
            text: [_mark("accuracy", scores[i], y[i]) for i in again]
            for text, scores in (("first", logs), (NEAREST, near), (HINDSIGHT, best))
        }
        for text in (NEAREST, HINDSIGHT):
            score = with_interval(marks[text][0], len(y))
            gain = {GAIN: _gain(marks, text)}
            rows.append(_line(f"{name}, {target}", epsilon, text, score, chance) | gain)
    return rows


def nearest_of_class(
    noisy: Any, texts: Any, labels: np.ndarray, classes: np.ndarray, embedding: Any
) -> np.ndarray:
    """−WMD to the nearest text of each class, in standard deviations of all."""
    distances = pairwise_word_movers_distances(noisy, texts, embedding=embedding)
    near = np.stack([distances[:, labels == c].min(axis=1) for c in classes], axis=1)
    return -near / near.std()


def _line(
    task: str, epsilon: float, name: str, score: str, chance: float, measure="accuracy"
) -> dict[str, Any]:
    return {
        "task": task,
        "ε": epsilon,
        "classifier": name,
        "score": score,
        "measure": measure,
        "chance": chance,
    }


def texts_of(which: str) -> tuple[list[str], np.ndarray, WordEmbedding, int]:
    """Texts, labels, embedding and length of a task."""
    if which.startswith("docstrings"):
        corpus = load_docstrings(
            topics=None if which.endswith("16 topics") else TOPICS,
            remove=["examples", "headers", "names"],
            near_copies=which.endswith("near-copies"),
        )
        embedding = load_docstring_embedding()
        return corpus.data, np.asarray(corpus.target), embedding, 40
    read = read_sms if which == "SMS" else read_tweets
    return *read(), WordEmbedding.load(DATA / TABLE), 8


def task_of(which: str, epsilon: float) -> tuple[Any, ...]:
    """What releases a task's texts; the texts in clear and released, and labels."""
    data, target, embedding, length = texts_of(which)
    source = DPWordPerturber(
        embedding, epsilon=epsilon, lam=0.0, document_length=length,
        random_state=np.random.default_rng(0),
    ).fit([])  # fmt: skip
    words = DPWordPerturber(embedding).fit([]).known_words(data)
    rng = np.random.default_rng(0)
    long = rng.permutation(np.flatnonzero([len(w) >= length for w in words]))[:2000]
    documents = [words[i][:length] for i in long]
    y = np.unique(target[long], return_inverse=True)[1]
    return source, documents, source.transform(documents), y, rng


def mixture(which: str, epsilon: float) -> dict[str, Any]:
    """ChannelNaiveBayes by the words of classes, and by a mixture of documents."""
    source, documents, _, y, rng = task_of(which, epsilon)
    measure = "AUC" if len(set(y)) == 2 else "accuracy"
    again = [np.arange(len(y)), *rng.integers(0, len(y), (1000, len(y)))]
    marks: dict[Any, list[list[float]]] = {1.0: [], "auto": []}
    taus = []
    for _ in range(N_SPLITS):  # each with a release of its own
        held = rng.permutation(len(y)) < len(y) // 3
        noisy = source.transform([documents[i] for i in np.flatnonzero(held)])
        place = np.cumsum(held) - 1
        drawn = [place[i[held[i]]] for i in again]
        for tau, splits in marks.items():
            model = ChannelNaiveBayes(source, tau=tau, n_draws=N_DRAWS, random_state=0)
            known = [documents[i] for i in np.flatnonzero(~held)]
            logs = model.fit(known, y[~held]).predict_log_proba(noisy)
            splits.append([_mark(measure, logs[i], y[held][i]) for i in drawn])
        taus.append(model.tau_)
    means = {tau: np.mean(splits, axis=0).tolist() for tau, splits in marks.items()}
    gains = np.subtract(marks["auto"], marks[1.0])[:, 0]
    return {
        "task": which,
        "ε": epsilon,
        "measure": measure,
        "words of classes": _limits(means[1.0]),
        "mixture of documents": _limits(means["auto"]),
        "gain": _gain(means, "auto"),
        "least gain of a split": float(gains.min()),
        "most": float(gains.max()),
        "τ, median": float(np.median(taus)),
    }


def mixtures(_: Any) -> None:
    """Record what the mixture gains, of all that is done so far."""
    tasks = [("docstrings", 8.0), ("docstrings with near-copies", 8.0)]
    tasks.append(("docstrings, 16 topics", 8.0))
    if not absent(TABLE, SMS, TWEETS):
        tasks += [("SMS", 20.0), ("tweets", 20.0)]
    rows = []
    for which, epsilon in tasks:
        name = f"mixture_{which}".replace(", ", "_").replace(" ", "_")
        rows.append(once(name, partial(mixture, which, epsilon)))
        record(
            "linkage_mixture",
            rows,
            title="ChannelNaiveBayes with tau",
            note=(
                "The words of classes: tau=1, plain naive Bayes through the noise. The "
                'mixture: tau="auto", which releases of held-out documents choose. The '
                "tasks of the table of classes, up to 2,000 texts, λ = 0, "
                f"{N_DRAWS} draws per word; means of {N_SPLITS} random splits, a third "
                "of each to be classified by a release of its own. Intervals at 95 % "
                "by the bootstrap over documents; the gain is on the same. Near-copies "
                "share most of their words with another text, which the mixture knows "
                "again: that is part of the gain."
            ),
        )


def texts(which: str, epsilon: float) -> list[dict[str, Any]]:
    """Classifiers of releases of a third, who learn from the others.

    How much each of two is to count together is learned from releases of half of the
    others, by classifiers that saw the other half.
    """
    source, documents, noisy, y, rng = task_of(which, epsilon)
    length, embedding = source.document_length, source.embedding
    test, half, rest = np.split(np.arange(len(y)), [len(y) // 3, 2 * len(y) // 3])

    def logs(learn: np.ndarray, ask: np.ndarray) -> dict[str, np.ndarray]:
        known = [documents[i] for i in learn]
        channel = {"n_draws": N_DRAWS, "random_state": 0}
        informed = ChannelNaiveBayes(source, **channel).fit(known, y[learn])
        near = WMDKNNClassifier(embedding, n_neighbors=25).fit(noisy[learn], y[learn])
        # a neighbour more of each class, so that none is ruled out
        votes = 25 * near.predict_proba(noisy[ask]) + 1
        return {
            "ChannelNaiveBayes": informed.predict_log_proba(noisy[ask]),
            "WMD 25-NN": np.log(votes / votes.sum(axis=1, keepdims=True)),
        }

    weights = weigh(list(logs(half, rest).values()), y[rest])
    learn = np.concatenate([half, rest])
    scores = logs(learn, test)
    both = sum(w * s for w, s in zip(weights, scores.values(), strict=True))
    scores[TOGETHER] = both
    from_releases = {
        "ChannelNaiveBayes, learned from releases": ChannelNaiveBayes(
            source, trained_on="releases", n_draws=N_DRAWS, random_state=0
        ),
        "logistic regression, learned from releases": make_pipeline(
            MaxAbsScaler(), LogisticRegression(max_iter=300)
        ),
    }
    for name, model in from_releases.items():
        model.fit(noisy[learn], y[learn])
        scores[name] = model.predict_log_proba(noisy[test])
    measure = "AUC" if len(set(y)) == 2 else "accuracy"
    again = [rng.integers(0, len(test), len(test)) for _ in range(1000)]
    marks = {
        name: [_mark(measure, s[i], y[test][i]) for i in (np.arange(len(test)), *again)]
        for name, s in scores.items()
    }
    return [
        _line(
            f"{which}, {length} words", epsilon, name, _limits(sampled),
            0.5 if measure == "AUC" else float(np.bincount(y[test]).max() / len(test)),
            measure,
        )
        | {GAIN: _gain(marks, name)}
        for name, sampled in marks.items()
    ]  # fmt: skip


def weigh(logs: list[np.ndarray], y: np.ndarray) -> np.ndarray:
    """Weights ≥ 0 of log probabilities that make the classes likeliest, together."""

    def lost(weights: np.ndarray) -> float:
        both = sum(w * s for w, s in zip(weights, logs, strict=True))
        return float((logsumexp(both, axis=1) - both[np.arange(len(y)), y]).mean())

    bounds = [(0, None)] * len(logs)
    return minimize(lost, np.full(len(logs), 0.5), bounds=bounds).x


def _mark(measure: str, logs: np.ndarray, y: np.ndarray) -> float:
    if measure == "AUC":
        return float(roc_auc_score(y, logs[:, 1] - logs[:, 0]))
    return float((logs.argmax(axis=1) == y).mean())


def _limits(marks: Any, digits: int = 2, sign: str = "") -> str:
    """The first, and what 95 % of the others lie between."""
    return bracketed(marks[0], *np.percentile(marks[1:], [2.5, 97.5]), digits, sign)


def _gain(marks: dict[str, list[float]], name: str) -> str | None:
    """By how much one is better than the first, on the same documents."""
    first = next(iter(marks))
    gains = np.subtract(marks[name], marks[first])
    return None if name == first else _limits(gains, 3, "+")


def classes(_: Any) -> None:
    """Record what classifiers make of releases, and all that is done so far."""
    cells: dict[str, Any] = {"docstrings_8": partial(texts, "docstrings", 8.0)}
    if not absent(TABLE, SMS, TWEETS):
        cells |= {f"{w}_20": partial(texts, w, 20.0) for w in ("SMS", "tweets")}
    if not absent(TABLE, STORIES):
        for problem, epsilon in (
            ("18 authors", 15.0), ("40 authors", 15.0), ("40 authors", 10.0),
        ):  # fmt: skip
            name = f"{problem}_{epsilon:g}".replace(" ", "_")
            cells[name] = partial(authors_and_topics, problem, epsilon)
    rows = []
    for name, make in cells.items():
        rows += once(name, make)
        record(
            "linkage_classes",
            rows,
            title="Classifiers of releases, who know the noise and who do not",
            note=note_on_classes([row["task"] for row in rows]),
        )


def note_on_classes(tasks: list[str]) -> str:
    """What is to be said of the tasks in the table, and of no others."""
    note, intervals = "", []
    if any("authors" in task for task in tasks):
        note += (
            "Authors: fan fiction under Google News, 8,000 words, λ = 0; topics "
            "learned from other authors' texts, authors from 2,000 words of each, "
            f"in clear. {N_SEEDS} releases; a snippet counts "
            "once, by its mean. WMD: the class of the nearest clear text, of 100 for "
            "topics and one per author, for the first release; with the weight that "
            "is best in hindsight, both reach more than can be had. "
        )
        intervals.append("Clopper–Pearson")
    short = [name for name in ("SMS", "tweets") if any(name in task for task in tasks)]
    if short:
        note += (
            f"{' and '.join(short)}: Google News, λ = 0, cut to 8 words, so that "
            "lengths tell nothing. "
        )
    if any("docstrings" in task for task in tasks):
        note += "Docstrings: six topics, the built-in vectors, λ = 0, 40 words. "
    intervals.append("the bootstrap over the test documents")
    return (
        f"{note}SMS, tweets and docstrings: up to 2,000, a third to be classified. "
        f"{N_DRAWS} draws per word. Naive Bayes learns from clear texts, unless said "
        "otherwise, nearest neighbours from releases. Intervals at 95 %: "
        f"{', or '.join(intervals)}; gains over the first are on the same documents. "
        "Chance: the most frequent answer."
    )


# -- is a word in it? ------------------------------------------------------------------


def word_pairs(output: str) -> list[float]:
    """Right answers of two: a document, or the same with one word replaced."""
    embedding, documents = fiction(TABLE)
    source = DPWordPerturber(
        embedding, epsilon=15.0, lam=0.0, document_length=max(LENGTHS), output=output
    ).fit([])
    rng = np.random.default_rng(0)
    accuracies = []
    for document in documents[:N_PAIRS]:
        x = embedding.word_array[document].tolist()
        other = documents[rng.integers(N_PAIRS, len(documents))]
        y = list(x)
        y[rng.integers(len(y))] = str(embedding.word_array[rng.choice(other)])
        audit = audit_document_pair(source, x, y, n_releases=100, random_state=rng)
        accuracies.append(audit.accuracy)
    return accuracies


def membership(_: Any) -> None:
    """Record how often one word of a document is recognised."""
    if absent(TABLE, STORIES):
        return
    rows = []
    for output, name in (("bow", "bag"), ("tokens", "ordered text")):
        right = np.array(once(f"pairs_{output}", partial(word_pairs, output)))
        rows.append(
            {
                "release": name,
                "right answers": float(right.mean()),
                "standard error": float(right.std(ddof=1) / np.sqrt(len(right))),
                "least of a pair": float(right.min()),
                "most": float(right.max()),
            }
        )
    record(
        "linkage_word",
        rows,
        title="Is a certain word in the document?",
        note=(
            f"audit_document_pair on {N_PAIRS} documents of fan fiction of "
            f"{max(LENGTHS)} words and the same with one word replaced by one of "
            "another document; Google News, ε = 15, λ = 0, 100 releases of each, 300 "
            "draws per word. A guess gets 0.5."
        ),
    )


# -- what it costs ---------------------------------------------------------------------


def cost(n_words: int) -> dict[str, Any]:
    """CPU time per draw, and the peak of the memory, of profiles of documents."""
    embedding = (
        WordEmbedding.load(DATA / TABLE) if n_words <= 8000 else load_table()
    ).restrict(n_words)
    source = DPWordPerturber(embedding, epsilon=15.0, lam=0.0, document_length=195)
    rng = np.random.default_rng(0)
    profiles = np.zeros((100, n_words))
    for row in profiles:
        np.add.at(row, rng.integers(0, n_words, 195), 1)
    profiles[0] += 1  # so that all words are at hand
    source.fit([])
    tracemalloc.start()
    started = time.process_time()
    released_profiles(
        source, profiles, n_draws=1, random_state=np.random.default_rng(0)
    )
    seconds = time.process_time() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = 4 * n_words**2 <= 2**30
    # and those that the smoothing is chosen by
    draws = n_words + 5000 * dense
    return {
        "words": n_words,
        "dimensions": embedding.dim,
        "draws": draws,
        "CPU s": seconds,
        "CPU ms per draw": 1000 * seconds / draws,
        "CPU min at 100 draws per word": 100 * n_words * seconds / draws / 60,
        "peak MB": peak / 2**20,
        "held": "all transitions" if dense else "100 profiles",
    }


def channel(_: Any) -> None:
    """Record time and memory."""
    rows = [once(f"cost_{n}", lambda n=n: cost(n)) for n in (8000, 30_000)]
    record(
        "linkage_channel",
        rows,
        title="Time and memory of Pr[z | w] for noise on vectors",
        note=(
            "released_profiles of 100 documents with every word of the table at hand, "
            "one draw per word (and 5,000 to choose the smoothing, where all is held), "
            "one thread, alone on the machine. Time is proportional to the draws. "
            "Where the transitions do not fit into working_memory (1 GiB), those of "
            "the documents are summed as they are drawn."
        ),
    )


PARTS = {
    "adversaries": adversaries, "smoothing": smoothing, "lengths": lengths,
    "classes": classes, "mixtures": mixtures, "membership": membership,
    "channel": channel,
}  # fmt: skip


def main() -> None:
    measuring.options(__doc__, PARTS, part="1/1")


if __name__ == "__main__":
    main()
