"""What a release gives away: each score by the strongest of several adversaries.

The strongest is chosen on one half of the documents and scored on the other, so that
the choice makes no score larger than it is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import make_pipeline

from skdptext.attacks import (
    FastTextClassifier,
    KoppelAuthorClassifier,
    Trial,
    as_released,
    bayes_of_released,
    found_among,
    learned_similarity,
    make_folds,
    near_copies,
    parts_of_words,
    run_trials,
    split_words,
    text_similarities,
    words_of,
)
from skdptext.documents import read_release
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import (
    EmptyDocumentWarning,
    InvalidParameterError,
    PrivacyLeakWarning,
)
from skdptext.metrics import ReleaseLikelihood
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import as_array, mean_interval, quiet, share_interval

# Other candidates than those asked for, where there are as many documents.
MANY_CANDIDATES = 1000
# Simulated draws per word of the law of noise on vectors.
_N_DRAWS = 20
# Releases of other documents that each original is compared with, for chance.
_OTHERS = 10
# Words of a span that is called a copy; words of a sentence that is no commonplace.
SPAN = 5
_FOLDS = 5
_SENTENCE_END = re.compile(r"[.!?…。！？؟۔।\n]+")
# Share of documents that a common word occurs in.
_RARE = 1e-3
# Below so many correct pairs there is nothing to learn from.
_FEWEST = 10
# A released text is clearly that of an original whose weighted words are so like, and
# those of any other half as like at most.
_CLEARLY, _CLOSE_SECOND = 0.5, 0.5
# More originals than that are not searched for those of other rows.
_MOST_ORIGINALS = 100_000


@dataclass(frozen=True)
class ReleaseScore:
    """One number of a report, with all that it must be read with.

    Attributes
    ----------
    value : float
        Share of the cases in which the strongest adversary was right, on documents
        that had no part in choosing it; or, by reading, the share that is left. Others
        may reach more.
    low, high : float
        95 % interval of `value`, for documents like these; `high` is at least `chance`,
        which anybody reaches.
    chance : float
        What is reached without looking at the release.
    adversary : str
        Which one was the strongest.
    n_documents : int
        How many documents `value` is the mean of. Of an adversary, half of those that
        were attacked, as the strongest one was chosen on the others; of what is read
        off (copies and rare words), all documents that have it.
    in_clear : float or None
        What the strongest adversary reaches on whole original texts.
    in_clear_cut : float or None
        The same on original texts cut to as many words as their releases have.
    by_adversary : dict of str to float
        The values of all adversaries, on the same documents.
    """

    value: float
    low: float
    high: float
    chance: float
    adversary: str
    n_documents: int
    in_clear: float | None = None
    in_clear_cut: float | None = None
    by_adversary: dict[str, float] = field(default_factory=dict)


class ReleasedTexts:
    """Texts and their releases, as every adversary reads them.

    Parameters
    ----------
    original, released : list of str or of lists of str
    seed : int
        Of the halves, the folds and whatever adversaries draw.
    """

    def __init__(
        self, original: Sequence[Any], released: Sequence[Any], seed: int
    ) -> None:
        self.original, self.released = original, released
        self.clear, self.noisy = (
            [words_of(document) for document in documents]
            for documents in (original, released)
        )
        self.seed = seed
        n = len(self.clear)
        order = np.random.default_rng(seed).permutation(n)
        self.choosing = order[: n // 2]
        self.scoring = order[n // 2 :]

    def __len__(self) -> int:
        return len(self.clear)

    @property
    def cut(self) -> list[list[str]]:
        """Originals, as many words of each as its release has."""
        pairs = zip(self.clear, self.noisy, strict=True)
        return [words[: len(released)] for words, released in pairs]

    def strongest(self, right: Mapping[str, np.ndarray]) -> str:
        """The adversary that was right most often on the half that is not scored."""
        return max(right, key=lambda name: float(right[name][self.choosing].mean()))


# -- which document was it? ------------------------------------------------------------


def linkage_scores(
    texts: ReleasedTexts,
    *,
    n_candidates: int,
    embedding: Any = None,
    mechanism: Any = None,
) -> tuple[dict[int, ReleaseScore], np.ndarray]:
    """Scores by number of candidates, and the similarities of the strongest."""
    truth = np.arange(len(texts))
    scores = text_similarities(texts.clear, texts.noisy, embedding=embedding)
    lengths = [np.array([len(d) for d in t]) for t in (texts.noisy, texts.clear)]
    if all(len(np.unique(x)) > 1 for x in lengths):
        scores["number of words"] = -np.abs(np.subtract.outer(*lengths)).astype(float)
    if mechanism is not None:
        scores["mechanism"] = log_likelihood(
            mechanism, texts.original, texts.released, texts.seed
        )
    if len(texts) >= _FEWEST:
        scores["learned"] = learned_similarity(scores, truth, random_state=texts.seed)
    by_candidates: dict[int, ReleaseScore] = {}
    for n in sorted({n_candidates, MANY_CANDIDATES}):
        if n > len(texts) and n != n_candidates:
            continue
        right = {name: found_among(s, truth, n) for name, s in scores.items()}
        by_candidates[n] = _score(texts, right, 1 / n, share_interval)
    return by_candidates, scores[by_candidates[n_candidates].adversary]


def in_another_order(
    texts: ReleasedTexts, rows: np.ndarray, original: Sequence[Any]
) -> bool:
    """Whether most releases are clearly those of other rows, each of one of its own.

    `rows` are those of the releases among all originals, any of which may be the source
    of a release. Noise leaves nothing clear, and texts that took the place of others
    are like none of these, or several like the same.
    """
    n = len(texts)
    if n < _FEWEST or len(original) > _MOST_ORIGINALS:
        return False
    weights = TfidfVectorizer(analyzer=words_of, sublinear_tf=True)
    clear = sp.csr_array(weights.fit_transform(original))
    noisy = sp.csr_array(weights.transform(texts.noisy))
    sources = []
    for i in range(n):  # a row at a time, as there may be many originals
        alike = clear @ noisy[[i]].toarray()[0]
        best = int(alike.argmax())
        second = np.partition(alike, -2)[-2]
        if alike[best] >= _CLEARLY and second <= _CLOSE_SECOND * alike[best]:
            sources.append(best if best != rows[i] else -1)
    once = [j for j, times in Counter(sources).items() if times == 1 and j >= 0]
    return len(once) > n / 2


def log_likelihood(
    mechanism: Any, original: Any, released: Any, seed: int
) -> np.ndarray:
    """ln Pr[release | document], by one who knows the mechanism."""
    with quiet(PrivacyLeakWarning, EmptyDocumentWarning):  # known to an attacker
        if not isinstance(mechanism, DPWordPerturber):
            shape = len(released), len(original)
            rule = (
                "mechanism must give log_likelihood(documents, released) as an array "
                f"of shape {shape} without NaN"
            )
            logs = as_array(mechanism.log_likelihood(original, released), rule)
            numbers = logs.shape == shape and logs.dtype.kind in "fiu"
            if not numbers or np.isnan(logs).any():
                raise InvalidParameterError(
                    f"{rule}, got shape {logs.shape} of {logs.dtype}."
                )
            return logs
        # simulated from `seed`, so that a report can be repeated
        likelihood = ReleaseLikelihood(
            mechanism, original, n_draws=_N_DRAWS, random_state=seed
        )
        return likelihood(released)


def _score(
    texts: ReleasedTexts,
    right: Mapping[str, np.ndarray],
    chance: float,
    interval: Callable[[np.ndarray], tuple[float, float]],
    **clear: Any,
) -> ReleaseScore:
    name = texts.strongest(right)
    score = _fact(right[name][texts.scoring], chance, interval, name)
    by_adversary = {k: float(v[texts.scoring].mean()) for k, v in right.items()}
    # Folds that share out a few documents make classifiers that have learned nothing
    # worse than chance: what is frequent among those known is rare among those held
    # out. The strongest adversary need not look at the release.
    high = max(score.high, chance)
    return replace(score, high=high, by_adversary=by_adversary, **clear)


# -- which words were in it? -----------------------------------------------------------


def spelled(document: Any) -> list[str]:
    """Words of a text, or of a token list, as this report spells and parts them."""
    return split_words(document if isinstance(document, str) else " ".join(document))


def common_words(public: Sequence[Any]) -> set[str]:
    """Words in at least 1 in 1,000 of public texts."""
    texts_with = Counter(word for text in public for word in set(spelled(text)))
    return {w for w, n in texts_with.items() if n >= max(1, _RARE * len(public))}


def word_scores(
    texts: ReleasedTexts, common: set[str] | None
) -> dict[str, ReleaseScore]:
    """Words of the originals that are recovered from the releases, and rare ones."""
    guesses = {"the released word itself": texts.noisy}
    same = [len(a) == len(b) for a, b in zip(texts.clear, texts.noisy, strict=True)]
    if np.mean(same) >= 0.5 and len(texts) >= _FEWEST:
        guesses["translation learned from other pairs"] = _translated(texts, same)
    counts = [Counter(words) for words in texts.clear]
    guessed = {name: [Counter(g) for g in guess] for name, guess in guesses.items()}
    right = {
        name: np.array([_overlap(a, b) for a, b in zip(counts, guess, strict=True)])
        for name, guess in guessed.items()
    }
    name = texts.strongest(right)
    n = len(texts)
    by = "public texts"
    # spelled alike on all sides, lest "Rome" be rare because public texts say "rome"
    written, shown = (
        [Counter(set(spelled(document))) for document in documents]
        for documents in (texts.original, texts.released)
    )
    if common is None:
        by = "these texts"
        texts_with = Counter(word for count in written for word in count)
        common = {w for w, n_texts in texts_with.items() if n_texts > max(1, _RARE * n)}
    rare = [Counter(count.keys() - common) for count in written]
    shares = np.array(
        [_overlap(a, b) if a else np.nan for a, b in zip(rare, shown, strict=True)]
    )
    by_name = {
        "words": _score(
            texts,
            right,
            _by_chance(texts, texts.scoring, counts, guessed[name]),
            mean_interval,
        )
    }
    held = ~np.isnan(shares)
    if held.any():
        by_name["rare words"] = _fact(
            shares[held],
            _by_chance(texts, np.flatnonzero(held), rare, shown),
            mean_interval,
            by,
        )
    return by_name


def _overlap(words: Counter[str], guess: Counter[str]) -> float:
    """Share of the words, as often as they occur, that are in the guess."""
    total = words.total()
    if not total:
        return 0.0
    small, large = sorted((words, guess), key=len)
    return sum(min(n, large[word]) for word, n in small.items()) / total


def _by_chance(
    texts: ReleasedTexts,
    rows: np.ndarray,
    counts: Sequence[Counter[str]],
    guess: Sequence[Counter[str]],
) -> float:
    """The mean overlap of `rows` with guesses from the releases of other documents."""
    rng = np.random.default_rng([texts.seed, 1])
    n = len(texts)
    shifts = rng.integers(1, n, (len(rows), _OTHERS))
    return float(
        np.mean(
            [
                _overlap(counts[i], guess[(i + shift) % n])
                for i, row in zip(rows, shifts.tolist(), strict=True)
                for shift in row
            ]
        )
    )


def _translated(texts: ReleasedTexts, same: Sequence[bool]) -> list[list[str]]:
    """Releases, each word replaced by what it most often stands for in other pairs.

    Where lengths agree, the n-th word stands for the n-th.
    """
    n = len(texts)
    fold = np.random.default_rng([texts.seed, 2]).permutation(np.arange(n) % _FOLDS)
    every: dict[str, Counter[str]] = defaultdict(Counter)
    by_fold: list[dict[str, Counter[str]]] = [
        defaultdict(Counter) for _ in range(_FOLDS)
    ]
    for i, k in enumerate(fold.tolist()):
        if same[i]:
            for z, w in zip(texts.noisy[i], texts.clear[i], strict=True):
                every[z][w] += 1
                by_fold[k][z][w] += 1
    translated: list[list[str]] = [[] for _ in range(n)]
    for k in range(_FOLDS):
        table: dict[str, str] = {}
        for i in np.flatnonzero(fold == k).tolist():
            for z in texts.noisy[i]:
                if z not in table:
                    learned = every[z] - by_fold[k][z]
                    table[z] = learned.most_common(1)[0][0] if learned else z
            translated[i] = [table[z] for z in texts.noisy[i]]
    return translated


# -- what survives whole? --------------------------------------------------------------


def copies(texts: ReleasedTexts) -> dict[str, ReleaseScore]:
    """Shares of texts, sentences and spans of words that survive whole."""
    n = len(texts)
    spans = [[_spans(words) for words in t] for t in (texts.clear, texts.noisy)]
    sentences = [_sentences(document) for document in texts.original]
    padded = ["\0" + "\0".join(words) + "\0" for words in texts.noisy]

    def whole(i: int, j: int) -> float:
        return float(bool(texts.clear[i]) and texts.clear[i] == texts.noisy[j])

    def sentence(i: int, j: int) -> float:
        return float(np.mean([s in padded[j] for s in sentences[i]]))

    def span(i: int, j: int) -> float:
        return len(spans[0][i] & spans[1][j]) / len(spans[0][i])

    by_name = {}
    shift = np.random.default_rng([texts.seed, 3]).integers(1, max(n, 2), n)
    for name, share, has, interval in (
        ("whole texts", whole, [True] * n, share_interval),
        ("sentences", sentence, list(map(bool, sentences)), mean_interval),
        (f"spans of {SPAN} words", span, list(map(bool, spans[0])), mean_interval),
    ):
        rows = np.flatnonzero(has)
        if len(rows):
            own = np.array([share(i, i) for i in rows.tolist()])
            others = [share(i, int(i + shift[i]) % n) for i in rows.tolist()]
            by_name[name] = _fact(own, float(np.mean(others)), interval)
    return by_name


def _fact(
    values: np.ndarray,
    chance: float,
    interval: Callable[[np.ndarray], tuple[float, float]],
    by: str = "reading",
) -> ReleaseScore:
    """The mean of some shares with its interval; without adversary, by reading."""
    low, high = interval(values)
    return ReleaseScore(float(values.mean()), low, high, chance, by, len(values))


def _spans(words: Sequence[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[i:] for i in range(SPAN)), strict=False))


def _sentences(document: Any) -> list[str]:
    """Sentences of some words, in a form that is found inside of others."""
    if not isinstance(document, str):
        return []
    parts = (split_words(part) for part in _SENTENCE_END.split(document))
    return ["\0" + "\0".join(words) + "\0" for words in parts if len(words) >= SPAN]


# -- whose is it, and what is it about? ------------------------------------------------


def label_score(
    texts: ReleasedTexts,
    labels: np.ndarray,
    target: str,
    *,
    known: tuple[Sequence[Any], np.ndarray] | None = None,
    mechanism: Any = None,
    n_jobs: int | None = None,
) -> ReleaseScore:
    """How often the label of a release is guessed, from other documents' labels.

    Each adversary is trained on other documents, in clear and whole, and again on
    their releases.
    """
    views, names = _views(texts, known, mechanism)
    count = max(Counter(labels.tolist()).values())
    copied = near_copies(texts.clear)
    splits = make_folds(labels, copied, min(_FOLDS, count), texts.seed)
    tallies: dict[str, dict[str, np.ndarray]] = {"originals": {}, "cut": {}}
    right = {"always the most frequent": _usual(labels, splits)}
    tallies["releases"] = right
    trials, places = [], []
    for name, (model, kind) in _adversaries(target, names, texts.seed).items():
        if kind not in views:
            continue
        view = views[kind]
        for source in ("originals", "releases"):
            asked = ["releases"]
            if kind == "as released":
                if source == "releases":
                    continue
            elif source == "originals":
                asked += ["originals", "cut"]
            more = None if known is None else (view["known"], known[1])
            sets = [view[part] for part in asked]
            trials.append(Trial(model, labels, view[source], sets, more))
            places.append((f"{name}, trained on {source}", asked))
    with quiet(Warning):
        answers = run_trials(trials, splits, n_jobs, f"{target} adversaries")
    for (name, asked), shares in zip(places, answers, strict=True):
        for part, share in zip(asked, shares, strict=True):
            tallies[part][name] = share
    clear = {
        key: float(tally[texts.strongest(tally)][texts.scoring].mean())
        for key, tally in (
            ("in_clear", tallies["originals"]), ("in_clear_cut", tallies["cut"])
        )
    }  # fmt: skip
    return _score(texts, right, count / len(labels), share_interval, **clear)


def _usual(labels: np.ndarray, splits: list[Any]) -> np.ndarray:
    """Where the most frequent label of the other folds is right."""
    right = np.zeros(len(labels))
    for learn, ask in splits:
        usual = Counter(labels[learn].tolist()).most_common(1)[0][0]
        right[ask] = labels[ask] == usual
    return right


def _views(
    texts: ReleasedTexts,
    known: tuple[Sequence[Any], np.ndarray] | None,
    mechanism: Any,
) -> tuple[dict[str, dict[str, Any]], WordEmbedding]:
    """Originals, releases and known texts as counts of words and of parts of words.

    And as the mechanism releases them, where there is memory. With these the names of
    the columns of counts, for adversaries who read words. Empty texts have a word of
    their own, as some adversaries want one in each.
    """
    more = list(known[0]) if known else []
    words = {
        "originals": texts.clear,
        "releases": texts.noisy,
        "cut": texts.cut,
        "known": [words_of(document) for document in more],
    }
    every = CountVectorizer(analyzer=lambda d: d or ["∅"], dtype=np.float64)
    every.fit([text for documents in words.values() for text in documents])
    names = every.get_feature_names_out()
    counts = {
        name: sp.csr_array(every.transform(part) if part else (0, len(names)))
        for name, part in words.items()
    }
    of_word = sp.csr_array(parts_of_words(names))
    parts = {name: sp.csr_array(count @ of_word) for name, count in counts.items()}
    views: dict[str, dict[str, Any]] = {"counts": counts, "parts": parts}
    if isinstance(mechanism, DPWordPerturber):
        simulated = as_released(mechanism, [*texts.original, *more], texts.seed)
        if simulated is not None:
            through, vocabulary = simulated
            read = read_release(texts.released, vocabulary)
            views["as released"] = {
                "originals": through[: len(texts)],
                "known": through[len(texts) :],
                "releases": read.bags(len(vocabulary)),
            }
    return views, WordEmbedding(names.tolist(), np.zeros((len(names), 1)))


def _adversaries(
    target: str, names: WordEmbedding, seed: int
) -> dict[str, tuple[Any, str]]:
    """Classifiers by name, each with the view of documents that it takes."""
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    def linear() -> Any:
        return make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(tol=1e-2))

    models: dict[str, tuple[Any, str]] = {
        "linear model of words": (linear(), "counts"),
        "linear model of parts of words": (linear(), "parts"),
        "naive Bayes": (MultinomialNB(alpha=0.1), "counts"),
    }
    if target == "author":
        models["Koppel"] = (KoppelAuthorClassifier(names, random_state=seed), "counts")
    if find_spec("floret") is not None:
        models["fastText"] = (FastTextClassifier(names, random_state=seed), "counts")
    models["naive Bayes with the mechanism"] = (bayes_of_released(), "as released")
    return models
