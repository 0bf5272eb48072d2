"""Adversaries who attribute held-out documents, in clear and as released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.attacks._labels import label_scores
from skdptext.attacks._pairs import ReleasedTexts
from skdptext.attacks._table import Score, ScoreTable
from skdptext.attacks._trials import Split, make_folds, near_copies
from skdptext.base import fitted_releaser, is_releaser, perturbs_words
from skdptext.exceptions import (
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.utils import (
    as_labels,
    check_integer,
    check_labels,
    check_n_jobs,
    check_option,
    check_rng,
    is_count_matrix,
    kind_of,
    quiet,
    show_progress,
    shown,
)

_TARGETS = ("author", "topic")
_SEEDS = 2**31 - 1
_TRAINED_ON = {"both": ("originals", "releases")} | {
    name: (name,) for name in ("originals", "releases")
}
# Number of random permutations of the labels, for the permutation test.
_SHUFFLES = 199
# Topics give authors away if they beat the mean of the permutations by this share, with
# at most this p-value.
_CONFOUNDED, _BY_CHANCE = 0.1, 0.05


class Attributions(ScoreTable):
    """The result of `attribution_attack`: a table of adversaries.

    Attributes
    ----------
    rows : list of Score
        For each release, ``"author"`` and ``"topic"`` by each adversary.
    perturbers : list of DPWordPerturber or of other releasers
        The releases, fitted.
    documents : list or array
        As given, in a form that can be read again.
    authors, topics : ndarray of shape (n_documents,)
        As given; `topics` may be None.
    chance : dict of str to dict
        For the targets ``"author"`` and ``"topic"``, accuracy of answers that do not
        look at the text: ``"majority"``, always the most frequent label; ``"uniform"``,
        any label at random; ``"from_other"``, the most frequent label among documents
        of the same topic (or author), NaN without topics.
    chance_if_unrelated : float or None
        If topics give authors away more often than by chance (a permutation test): the
        accuracy of guessing the author from the topic if the two were unrelated. None
        otherwise.
    n_splits, n_releases, n_strangers : int
        Number of splits; of releases of each document; of documents that were attacked
        although the adversary knew no other document by their author.
    """

    def __init__(
        self,
        rows: list[Score],
        perturbers: list[Any],
        documents: Any,
        labels: Mapping[str, np.ndarray],
        splits: list[Split],
        n_releases: int,
    ) -> None:
        super().__init__(rows)
        self.perturbers, self.documents = perturbers, documents
        self.authors, self.topics = labels["author"], labels.get("topic")
        self.n_splits, self.n_releases = len(splits), n_releases
        self.attacked = np.unique(np.concatenate([held for _, held in splits]))
        by = self.authors
        strangers = [held[~np.isin(by[held], by[known])] for known, held in splits]
        self.n_strangers = len(np.unique(np.concatenate(strangers)))
        author = by[self.attacked]
        topic = None if self.topics is None else self.topics[self.attacked]
        self.chance = {"author": chance_levels(author, topic)}
        if topic is not None:
            self.chance["topic"] = chance_levels(topic, author)
        self.chance_if_unrelated: float | None = None


def attribution_attack(
    documents: Any,
    authors: Any,
    topics: Any = None,
    perturber: Any = None,
    *,
    adversaries: Any = None,
    trained_on: str = "both",
    cv: Any = None,
    groups: Any = None,
    n_releases: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Attributions:
    """Find which documents adversaries attribute correctly, in clear and as released.

    Parameters
    ----------
    documents : iterable of str, of lists of str, or bags (n_documents, n_words)
        The documents to be released.
    authors : array-like of shape (n_documents,)
        The author of each document.
    topics : array-like of shape (n_documents,), default=None
        The topic of each document. None: only authors are attacked.
    perturber : DPWordPerturber or other releaser, or a list of them
        The releases to compare, such as one per ε and λ; fitted or not. Their
        `random_state` is not used: an adversary does not know it. Other releasers are
        those of texts that have ``transform``, ``log_likelihood`` and ``guarantee``,
        such as `~skdptext.DPDocumentReplacer`.
    adversaries : dict, default=None
        Maps names to pairs of a classifier and ``"author"`` or ``"topic"``. The
        classifiers take bags-of-words (texts, with ``oov="keep"`` and from other
        releasers). None: linear models of words and of parts of words, naive Bayes,
        Koppel's method, fastText if it is installed, the nearest texts by Word Mover's
        Distance, of 300 documents at most, and naive Bayes that knows the distribution
        of the noise.
    trained_on : {"both", "originals", "releases"}, default="both"
        What the adversaries know: documents in clear, whole; or documents that they
        release themselves, as anyone can who knows the mechanism; or each of these in
        turn.
    cv : int, splitter or iterable of (known, held out), default=None
        Which documents are known, and which are attacked. An int: the number of
        shuffled folds, stratified by author. None: 5, or the number of documents of
        the author with the fewest.
    groups : array-like of shape (n_documents,), default=None
        Documents of the same group, such as chapters of one story, are never split
        between known and attacked documents. None: near-copies, which have most of
        their words in common, are a group, unless `cv` gives the splits.
    n_releases : int, default=1
        Number of independent releases to attack and average over.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes splits, adversaries, the noise of the attacked releases and the
        permutations behind the warning about topics. It protects nothing.
    n_jobs : int, default=None
        Processes over adversaries and splits. The result does not depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over adversaries and splits on a terminal or in a
        notebook; above 1, anywhere.

    Returns
    -------
    attributions : Attributions
        What adversaries got right. The strongest is chosen on half of the attacked
        documents; all are scored on the other half.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule; before any attack.

    Notes
    -----
    *Privacy.* The result is computed from the documents in clear, and is as private as
    they are.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.attacks import attribution_attack, linear_topic_classifier
    >>> embedding = WordEmbedding(["cat", "dog"], [[0.0], [1.0]])
    >>> attack = attribution_attack(
    ...     ["cat cat", "dog dog"] * 4, ["ann", "bob"] * 4,
    ...     perturber=DPWordPerturber(embedding, epsilon=1e6, document_length=2),
    ...     adversaries={"linear": (linear_topic_classifier(embedding), "author")},
    ...     trained_on="originals", random_state=0)
    >>> attack.scores["author"].value
    1.0
    """
    perturbers = check_perturbers(perturber)
    documents = check_documents(documents)
    n_documents = documents.shape[0] if is_count_matrix(documents) else len(documents)
    labels = {
        target: check_labels(f"{target}s", values, n_documents, n_different=2)
        for target, values in (("author", authors), ("topic", topics))
        if target == "author" or values is not None
    }
    check_option("trained_on", trained_on, tuple(_TRAINED_ON))
    n_releases = check_integer("n_releases", n_releases, low=1)
    check_n_jobs(n_jobs)
    check_integer("verbose", verbose, low=0)
    fresh = random_state is None
    rng = check_rng(random_state)
    if groups is not None:
        groups = as_labels("groups", groups)
    seed = int(rng.integers(_SEEDS))
    splits = make_splits(cv, labels["author"], groups, documents, seed)
    given: dict[str, Any] = dict.fromkeys(labels)
    if adversaries is not None:
        given = check_adversaries(adversaries, topics is not None)
    rows, fitted = [], []
    with show_progress(verbose):
        for i, source in enumerate(perturbers):
            releaser, texts = _released(
                source, documents, seed, n_releases, None if fresh else rng
            )
            fitted.append(releaser)
            for target, models in given.items():
                rows += label_scores(
                    texts,
                    labels[target],
                    target,
                    splits=splits,
                    adversaries=models,
                    trained_on=_TRAINED_ON[trained_on],
                    mechanism=releaser,
                    n_jobs=n_jobs,
                    release=i,
                )
    done = Attributions(rows, fitted, documents, labels, splits, n_releases)
    if done.topics is not None:
        done.chance_if_unrelated = _if_unrelated(done, groups, rng)
    return done


def _if_unrelated(done: Attributions, groups: Any, rng: Any) -> float | None:
    """How often topics would name authors by chance, where they do more often."""
    rows = done.attacked
    groups = None if groups is None else groups[rows]
    topics = np.asarray(done.topics)[rows]
    shuffled = shuffled_chance(done.authors[rows], topics, groups, rng)
    if stands_out(done.chance["author"]["from_other"], shuffled):
        return float(shuffled.mean())
    return None


def check_perturbers(perturber: Any) -> list[Any]:
    if is_releaser(perturber):
        perturber = [perturber]
    is_list = isinstance(perturber, Iterable) and not isinstance(perturber, str)
    releasers = list(perturber) if is_list else []
    if not releasers or not all(map(is_releaser, releasers)):
        raise InvalidParameterError(
            "perturber must be a word perturber or a list of them, or of other "
            "releasers with transform, log_likelihood and guarantee, got "
            f"{kind_of(perturber)}."
        )
    return releasers


def check_documents(documents: Any) -> Any:
    """Documents that can be read more than once."""
    if is_count_matrix(documents):
        return documents if hasattr(documents, "shape") else np.asarray(documents)
    return list(documents)


def _released(
    releaser: Any,
    documents: Any,
    seed: int,
    n_releases: int,
    rng: np.random.Generator | None,
) -> tuple[Any, ReleasedTexts]:
    """A fitted releaser, and what it makes of the documents."""
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning):
        if perturbs_words(releaser):
            # words are looked for in any order, so that tokens are enough, unless
            # unknown ones are kept
            output = "text" if releaser.oov == "keep" else "tokens"
            original, releases = documents, []
            for _ in range(n_releases):
                # not an int, which would give equal documents equal noise
                state = None
                if rng is not None:
                    state = np.random.default_rng(rng.integers(_SEEDS))
                noisy = clone(releaser).set_params(random_state=state, output=output)
                releases.append(noisy.fit(documents).transform(documents))
            if is_count_matrix(documents):
                original = noisy.known_words(documents)
            fitted = noisy.set_params(output=releaser.output)
            return fitted, ReleasedTexts(original, releases, seed)
        rule = "documents must hold texts or lists of words for a releaser of documents"
        if is_count_matrix(documents, rule):
            raise InvalidParameterError(f"{rule}, got a matrix of numbers.")
        fitted, releases = fitted_releaser(releaser, documents), []
        for _ in range(n_releases):
            texts = fitted.fresh(rng).transform(documents)
            if not isinstance(texts, list) or not all(
                isinstance(text, str | list | tuple) for text in texts
            ):
                raise InvalidParameterError(
                    "perturber must release texts or lists of words, got "
                    f"{kind_of(texts)} of something else."
                )
            releases.append(texts)
        return fitted, ReleasedTexts(documents, releases, seed)


def check_adversaries(adversaries: Any, with_topics: bool) -> dict[str, Any]:
    """The user's own classifiers by target and name, from name to (model, target)."""
    rule = "adversaries must map names to pairs of a classifier and 'author' or 'topic'"
    if not isinstance(adversaries, dict) or not adversaries:
        raise InvalidParameterError(f"{rule}, got {kind_of(adversaries)}.")
    checked: dict[str, Any] = {}
    for name, pair in adversaries.items():
        if (
            not isinstance(pair, tuple | list)
            or len(pair) != 2
            or not hasattr(pair[0], "predict")
            or pair[1] not in _TARGETS
        ):
            raise InvalidParameterError(
                f"{rule}, got {kind_of(pair)} for {shown(name)}."
            )
        if pair[1] == "topic" and not with_topics:
            raise InvalidParameterError(
                f"topics must be given for adversary {shown(name)}, which targets "
                "them, got None."
            )
        checked.setdefault(pair[1], {})[str(name)] = pair[0]
    return checked


def make_splits(
    cv: Any, authors: np.ndarray, groups: Any, documents: Any, random_state: int
) -> list[Split]:
    """Known and held-out rows of each split; authors are spread over the folds."""
    from sklearn.model_selection import StratifiedGroupKFold, check_cv

    if groups is not None and np.shape(groups) != authors.shape:
        raise InvalidParameterError(
            f"groups must hold one group per document ({len(authors)}), got shape "
            f"{np.shape(groups)}."
        )
    smallest = int(np.unique(authors, return_counts=True)[1].min())
    if cv is None or isinstance(cv, Integral):
        n_splits = min(5, smallest) if cv is None else check_integer("cv", cv, low=2)
        if smallest < max(2, n_splits):
            raise InvalidParameterError(
                "each author must have at least as many documents as there are "
                f"splits ({max(2, n_splits)}), got an author with {smallest}: leave "
                "out authors with too few documents, or, in Python, give cv."
            )
        if groups is None:
            copied = near_copies(documents)
            cv = make_folds(authors, copied, n_splits, random_state)
        else:
            options = {"shuffle": True, "random_state": random_state}
            cv = StratifiedGroupKFold(n_splits, **options)
    can_split = isinstance(cv, Iterable) or hasattr(cv, "split")
    if isinstance(cv, str | bytes) or not can_split:
        raise InvalidParameterError(
            "cv must be an integer, a splitter of scikit-learn or an iterable of "
            f"splits, got {kind_of(cv)}."
        )
    try:
        splitter = check_cv(cv, authors, classifier=True)
        rows = splitter.split(np.zeros(len(authors)), authors, groups)
        splits = [(np.asarray(known), np.asarray(held)) for known, held in rows]
    except ValueError as error:
        raise InvalidParameterError(f"cv must split the documents: {error}") from None
    for known, held in splits:
        if not len(held) or len(np.unique(authors[known])) < 2:
            raise InvalidParameterError(
                "cv must leave documents of at least 2 authors to know and at least "
                f"one document to attack in each split, got {len(known)} and "
                f"{len(held)}."
            )
        if np.intersect1d(known, held).size:
            raise InvalidParameterError(
                "cv must not give an adversary the documents that it attacks."
            )
        # scikit-learn ignores groups if the splitter does not use them
        if (
            groups is not None
            and np.intersect1d(np.asarray(groups)[known], np.asarray(groups)[held]).size
        ):
            raise InvalidParameterError(
                "cv must keep the documents of a group together where groups are given."
            )
    return splits


def chance_levels(labels: np.ndarray, other: np.ndarray | None) -> dict[str, float]:
    """Accuracy of answers that do not look at the text.

    "majority": always the most frequent label; "uniform": any label at random;
    "from_other": the most frequent label among documents of the same other label.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    return {
        "majority": float(counts.max() / len(labels)),
        "uniform": 1 / len(classes),
        "from_other": (
            math.nan if other is None else _share_from_other(codes, _codes(other))
        ),
    }


def shuffled_chance(
    labels: np.ndarray,
    other: np.ndarray,
    groups: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """ "from_other" for permuted labels: its value by chance alone.

    Labels are permuted over the documents, or over groups that have one label each.
    """
    codes, other_codes = _codes(labels), _codes(other)
    first, unit = np.arange(len(codes)), np.arange(len(codes))
    if groups is not None:
        _, at, number = np.unique(groups, return_index=True, return_inverse=True)
        if (codes == codes[at][number]).all():
            first, unit = at, number
    return np.array(
        [
            _share_from_other(rng.permutation(codes[first])[unit], other_codes)
            for _ in range(_SHUFFLES)
        ]
    )


def stands_out(share: float, shuffled: np.ndarray) -> bool:
    """By a margin, and not by chance (a permutation test that counts the truth)."""
    # the truth is one of the permutations, so that no p-value is 0
    chance = (1 + (shuffled >= share).sum()) / (1 + len(shuffled))
    return bool(share > shuffled.mean() + _CONFOUNDED and chance <= _BY_CHANCE)


def _share_from_other(codes: np.ndarray, other_codes: np.ndarray) -> float:
    """Share of documents whose label is the most frequent for their other label."""
    # by hand: scikit-learn's contingency_matrix takes five times as long
    n_classes, n_others = codes.max() + 1, other_codes.max() + 1
    cells, counts = np.unique(other_codes * n_classes + codes, return_counts=True)
    most = np.zeros(n_others, dtype=np.int64)
    np.maximum.at(most, cells // n_classes, counts)
    return float(most.sum() / len(codes))


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]
