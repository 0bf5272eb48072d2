"""Which document was it? By words, by other pairs, by the mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._similarity import (
    FEWEST_PAIRS,
    learned_similarity,
    text_similarities,
    with_ties,
    words_of,
)
from skdptext.attacks._table import (
    Halves,
    Score,
    at_least_chance,
    lead,
    make_halves,
    read_off,
    scored,
)
from skdptext.attacks._translation import translations
from skdptext.exceptions import (
    EmptyDocumentWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics import found_among, found_by_rank
from skdptext.utils import pair_interval, quiet, recall_when_sure, share_interval

# Other candidates than those asked for, where there are as many documents.
MANY_CANDIDATES = 1000
# A released text is clearly that of an original whose weighted words are so like, and
# those of any other half as like at most.
_CLEARLY, _CLOSE_SECOND = 0.5, 0.5
# More originals than that are not searched for those of other rows.
_MOST_ORIGINALS = 100_000


class DocumentAdversaries(NamedTuple):
    """Similarities of each adversary, and what each knows besides the candidates."""

    scores: dict[str, np.ndarray]
    knows: dict[str, str]

    def rows(
        self, question: str, truth: np.ndarray, halves: Halves, n: int
    ) -> list[Score]:
        """What each finds among n candidates."""
        right = {name: found_among(s, truth, n) for name, s in self.scores.items()}
        return scored(question, right, halves, 1 / n, knows=self.knows)

    def sure(
        self, question: str, rows: Sequence[Score], truth: np.ndarray, halves: Halves
    ) -> Score:
        """How many the strongest of `rows` names, silent unless nine of ten are right.

        Among all candidates.
        """
        by = next(row.adversary for row in rows if row.strongest)
        scores = self.scores[by]
        n = scores.shape[1]
        hit, _ = recall_when_sure(lead(scores), found_among(scores, truth, n), *halves)
        return at_least_chance(read_off(question, hit, 1 / n, share_interval, by))


def gathered(
    likelihoods: Mapping[str, np.ndarray],
    similarities: Mapping[str, np.ndarray],
    truth: np.ndarray,
    seed: int,
    pairs: Mapping[str, np.ndarray] | None = None,
) -> DocumentAdversaries:
    """All adversaries, the best informed first, and last those who combine them.

    `likelihoods` are of adversaries who know the mechanism, `pairs` of those who have
    learned from other pairs.
    """
    others = {name: with_ties(score) for name, score in (pairs or {}).items()}
    knows = dict.fromkeys(likelihoods, "mechanism") | dict.fromkeys(others, "pairs")
    words = {**similarities, **others}
    every = {**likelihoods, **words}
    scores: dict[str, np.ndarray] = {}
    if len(truth) >= FEWEST_PAIRS:
        if likelihoods:
            scores["all, learned"] = learned_similarity(every, truth, random_state=seed)
            knows["all, learned"] = "mechanism, pairs"
        if similarities:
            scores["learned"] = learned_similarity(words, truth, random_state=seed)
            knows["learned"] = "pairs"
    # last, so that of equals the one who does without other pairs is the strongest
    return DocumentAdversaries(every | scores, knows)


def similar_documents(
    texts: ReleasedTexts, *, embedding: Any = None, mechanism: Any = None
) -> DocumentAdversaries:
    """Adversaries who look for the original of each release."""
    similarities = text_similarities(texts.clear, texts.noisy, embedding=embedding)
    sizes = [np.log1p(list(map(len, part))) for part in (texts.noisy, texts.clear)]
    longer = np.median(sizes[0]) - np.median(sizes[1])  # than the originals, as a rule
    apart = np.abs(np.subtract.outer(sizes[0] - longer, sizes[1]))
    similarities["number of words"] = with_ties(-apart)
    likelihoods, pairs = {}, {}
    if mechanism is not None:
        with quiet(PrivacyLeakWarning, EmptyDocumentWarning):  # known to an attacker
            # simulated from `seed`, so that a report can be repeated
            likelihood = mechanism.likelihood(texts.original, random_state=texts.seed)
            likelihoods["mechanism"] = likelihood(texts.released)
    if len(texts) >= FEWEST_PAIRS:
        pairs = translations(texts.clear, texts.noisy)
    truth = np.arange(len(texts))
    return gathered(likelihoods, similarities, truth, texts.seed, pairs)


def linkage_rows(
    texts: ReleasedTexts, adversaries: DocumentAdversaries, n_candidates: int
) -> list[Score]:
    """What they find among `n_candidates` and, where there are so many, among 1,000."""
    truth, n = np.arange(len(texts)), n_candidates
    rows = adversaries.rows("linkage", truth, texts.halves, n)
    if n != MANY_CANDIDATES <= len(texts):
        many = "linkage among 1,000"
        rows += adversaries.rows(many, truth, texts.halves, MANY_CANDIDATES)
    if len(texts) < FEWEST_PAIRS:
        return rows
    return [*rows, adversaries.sure("when sure", rows, truth, texts.halves)]


def same_person_rows(
    texts: ReleasedTexts, authors: np.ndarray, n_candidates: int
) -> list[Score]:
    """How often another release of the same person is told from those of others.

    Nobody's name is needed, and no original.
    """
    scores = text_similarities(texts.noisy, texts.noisy)
    n, rng = len(texts), np.random.default_rng([texts.seed, 4])
    mine = authors[:, None] == authors
    others = ~mine
    np.fill_diagonal(mine, False)
    rows = np.flatnonzero(mine.any(axis=1) & others.any(axis=1))
    if len(rows) < 2:
        return []
    partner = np.array([rng.choice(np.flatnonzero(mine[i])) for i in rows])
    there = others[rows].sum(axis=1) + 1
    asked = min(n_candidates, int(there.min()))
    right = {}
    for name, score in scores.items():
        own = score[rows, partner][:, None]
        better = ((score[rows] > own) & others[rows]).sum(axis=1)
        equal = ((score[rows] == own) & others[rows]).sum(axis=1)
        right[name] = np.full(n, np.nan)
        right[name][rows] = found_by_rank(better, equal, there, asked - 1)
    halves = make_halves(rows, texts.seed)
    return scored("same person", right, halves, 1 / asked, interval=pair_interval)


def in_another_order(
    texts: ReleasedTexts, rows: np.ndarray, original: Sequence[Any]
) -> bool:
    """Whether most releases are clearly those of other rows, each of one of its own.

    `rows` are those of the releases among all originals, any of which may be the source
    of a release. Noise leaves nothing clear, and texts that took the place of others
    are like none of these, or several like the same.
    """
    n = len(texts)
    if n < FEWEST_PAIRS or len(original) > _MOST_ORIGINALS:
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


def found_at_most(guarantee: Any, n_candidates: int, times: int = 1) -> float | None:
    """What no adversary exceeds on average, where a guarantee says so: none of words.

    Of documents that are released so many times, or persons with so many documents.
    """
    needed = ["found_at_most"] + ["compose"] * (times > 1)
    if not all(hasattr(guarantee, method) for method in needed):
        return None
    if getattr(guarantee, "unit", "document") in (None, "word"):
        return None
    if times > 1:
        guarantee = guarantee.compose(times)
    return float(guarantee.found_at_most(n_candidates))
