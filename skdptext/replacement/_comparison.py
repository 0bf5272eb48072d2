"""What groups of public documents would keep and show, by public text alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skdptext.documents import TopicEncoder
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.replacement._groups import (
    PublicLabelling,
    check_grouper,
    default_grouper,
    is_classifier,
    words_of,
)
from skdptext.replacement._guarantee import (
    ReplacementGuarantee,
    ReplacementPart,
)
from skdptext.replacement._public import PublicDocuments
from skdptext.utils import (
    bound_in_table,
    check_integer,
    check_n_jobs,
    check_numbers,
    check_option,
    check_real,
    is_fitted,
    kind_of,
    page,
    paragraph,
    percent_up,
    quiet,
    rounded_up,
    split_interval,
    sums_by_label,
    table,
    warn_once,
    wrapped,
)

# Words of all documents that are added to those of a group, as language models in
# retrieval do (Zhai and Lafferty, 2004): tweets want hundreds, articles 100,000.
_PRIORS = tuple(10 ** (i / 2) for i in range(2, 15))
# `found_at_most` is rounded up by less: a setting at exactly the limit is within it.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class GroupingScore:
    """What one grouping would keep at one ε, and what it would show.

    Attributes
    ----------
    name : str
        Of the grouper.
    n_groups : int
        K; the most of all splits, for a grouper that finds it by itself.
    epsilon : float
    score : float
        Mean over the splits: the accuracy of the labels, balanced or not, or the nats
        that a release tells about a word.
    low, high : float
        Interval of 95 %, over the splits, that allows for documents that they share.
    without_noise : float
        The score of the group itself: what the grouping loses, where `score` adds what
        noise loses.
    found_at_most : float
        Share of documents that anyone finds among the candidates, by proof.
    grouper : estimator
        Unfitted, for `DPDocumentReplacer`.
    uses_labels : bool
        The grouper learns public labels, which the replacer then needs, too.
    """

    name: str
    n_groups: int
    epsilon: float
    score: float
    low: float
    high: float
    without_noise: float
    found_at_most: float
    grouper: Any
    uses_labels: bool


@dataclass(frozen=True, eq=False, repr=False)
class GroupingComparison:
    """Groupings of public documents, compared; from `compare_groupings`.

    Attributes
    ----------
    rows : list of GroupingScore
        One for each grouper, number of groups and ε; ``pandas.DataFrame(rows)`` makes a
        table of them.
    criterion : {"balanced accuracy", "accuracy", "nats per word"}
        What `score` is.
    chance : float
        The score of a release that tells nothing.
    n_candidates : int
        Among how many documents `found_at_most` is.
    n_documents, n_splits : int
        Public documents, and the splits of them.

    See Also
    --------
    compare_groupings : Makes one.
    """

    rows: list[GroupingScore]
    criterion: str
    chance: float
    n_candidates: int
    n_documents: int
    n_splits: int

    def best(self, found: float = 0.1, epsilon: float | None = None) -> GroupingScore:
        """The grouping that keeps most where no more may be found.

        Parameters
        ----------
        found : float in (0, 1], default=0.1
            The largest `found_at_most` that is allowed.
        epsilon : float > 0, default=None
            The largest ε that is allowed. None: any that was compared.

        Returns
        -------
        score : GroupingScore
            Of the largest mean score; of equal ones, that of the smallest
            `found_at_most`.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule, or no grouping is within it.

        Warns
        -----
        UserWarning
            If it keeps less than half of what the classifier of public labels keeps,
            beyond chance, at the same ε.
        """
        found = check_real("found", found, low=0, high=1, open_low=True)
        most = math.inf
        if epsilon is not None:
            most = check_real("epsilon", epsilon, low=0, open_low=True)
        inside = [row for row in self.rows if row.epsilon <= most]
        if not inside:
            raise InvalidParameterError(
                f"epsilon must be at least {min(r.epsilon for r in self.rows):g}, the "
                f"smallest that was compared, got {most:g}."
            )
        within = [row for row in inside if row.found_at_most <= found + _ROUNDING]
        if not within:
            raise InvalidParameterError(
                f"found must be at least "
                f"{rounded_up(min(r.found_at_most for r in inside), 3)} "
                f"for these groupings, got {found:g}. Compare fewer groups or a "
                "smaller epsilon."
            )
        best = max(within, key=lambda row: (row.score, -row.found_at_most))
        if falls_short := self._falls_short(best):
            warn_once(falls_short, UserWarning)
        return best

    def _falls_short(self, best: GroupingScore) -> str:
        """A sentence if labels would keep more than twice as much; else nothing.

        Also where more documents would be found than is allowed: it may be worth it.
        """
        at = [
            row for row in self.rows if row.epsilon == best.epsilon and row.uses_labels
        ]
        most = max(at, default=best, key=lambda row: row.score)
        if 2 * (best.score - self.chance) >= most.score - self.chance:
            return ""
        return (
            f"{best.name} with {best.n_groups} groups keeps less than half of what "
            f"public labels keep, beyond chance: {best.score:.3g} of {most.score:.3g}, "
            f"with {percent_up(most.found_at_most)} found at most. Many topics need as "
            "many groups, or labels."
        )

    def sentences(self, found: float = 0.1) -> list[str]:
        """The comparison in sentences, which quote no text.

        Parameters
        ----------
        found : float in (0, 1], default=0.1
            The largest `found_at_most` that is allowed.

        Returns
        -------
        sentences : list of str
            The choice, then the best of each other grouper, then how it was measured.

        Raises
        ------
        InvalidParameterError
            If no grouping is within `found`.
        """
        best = self.best(found)
        lines = [
            f"Where nobody may find more than {found:.0%} of {self.n_candidates:,} "
            f"candidates, {self._said(best)}."
        ]
        if falls_short := self._falls_short(best):
            lines.append(falls_short)
        for name in dict.fromkeys(row.name for row in self.rows):
            mine = replace(self, rows=[row for row in self.rows if row.name == name])
            if name == best.name:
                continue
            try:
                lines.append(f"Else, {self._said(mine.best(found))}.")
            except InvalidParameterError:
                least = min(row.found_at_most for row in mine.rows)
                lines.append(
                    f"{name} cannot: {percent_up(least)} may be found at the least."
                )
        what = {
            "accuracy": "Accuracy of the public labels",
            "balanced accuracy": "Accuracy of the public labels, each of equal weight",
        }.get(
            self.criterion,
            "What the release of one half of a document tells of the other half",
        )
        return [
            *lines,
            f"{what}, in {self.n_splits} splits of {self.n_documents:,} public "
            f"documents; {self.chance:.3g} by chance. Scores whose intervals "
            "overlap may differ by chance.",
        ]

    def _said(self, row: GroupingScore) -> str:
        return (
            f"{row.name} with {row.n_groups} groups at ε = {row.epsilon:g} keeps "
            f"{row.score:.3g} [{row.low:.3g}, {row.high:.3g}] {self.criterion} "
            f"(its groups without noise {row.without_noise:.3g}); at most "
            f"{percent_up(row.found_at_most)} are found, on average"
        )

    def __repr__(self) -> str:
        names = len({row.name for row in self.rows})
        return (
            f"GroupingComparison({len(self.rows)} settings of {names} groupers, by "
            f"{self.criterion})"
        )

    def __str__(self) -> str:
        found = max(0.1, min(row.found_at_most for row in self.rows))
        return "\n".join(wrapped(f"- {text}") for text in self.sentences(found))

    def _repr_html_(self) -> str:
        names = ["n_groups", "epsilon", "score", "low", "high", "found_at_most"]
        rows = [
            [row.name, *(getattr(row, n) for n in names[:-1])]
            + [bound_in_table(row.found_at_most)]
            for row in self.rows
        ]
        found = max(0.1, min(row.found_at_most for row in self.rows))
        return page(
            f"Groupings compared by {self.criterion}",
            *map(paragraph, self.sentences(found)),
            table(["grouper", *names], rows),
        )


def compare_groupings(
    public_documents: Any,
    public_labels: Any = None,
    groupers: Mapping[str, Any] | None = None,
    *,
    n_groups: int | Sequence[int] = (2, 4, 6, 8, 10, 12),
    epsilon: float | Sequence[float] = 4.0,
    n_candidates: int = 100,
    scoring: str = "balanced_accuracy",
    cv: Any = 5,
    n_starts: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> GroupingComparison:
    r"""What each encoder and number of groups would keep and show, on public text.

    For each split of the public documents, the labels of one part of them say what a
    release means, and the other part is released. How much of a label is kept is worked
    out from the shares of each label in each group and the probabilities of randomized
    response, without drawing noise.

    Parameters
    ----------
    public_documents : iterable of str, or of lists of str
        Public: what would be given to `~skdptext.DPDocumentReplacer`. Never the
        documents to be protected, nor any part of them: the choice would show them.
    public_labels : array-like of shape (n_public_documents,), default=None
        What matters about a document: a release should tell it. None: the words of the
        other half of a document are to be told from the release of one half.
    groupers : mapping of str to estimator, default=None
        Candidates, by names. A transformer is an encoder, and k-means comes after it
        with each number of groups. A clusterer or classifier, or a pipeline that ends
        in one, is taken as it is, with its own number; classifiers learn
        `public_labels`. All are cloned and fitted on a part of the documents, but not
        those in a ``FrozenEstimator``: the score is too high if they learned from
        these documents. None: the default groups of `DPDocumentReplacer`,
        `~skdptext.preprocessing.TopicEncoder` of 5, 10 and 30 directions and, with
        labels, its classifier.
    n_groups : int >= 2 or sequence of int, default=(2, 4, 6, 8, 10, 12)
        Numbers of groups for encoders.
    epsilon : float > 0 or sequence of float, default=4.0
        Values of the privacy parameter ε, between any two documents.
    n_candidates : int >= 1, default=100
        Candidates among whom an adversary looks for a document.
    scoring : {"balanced_accuracy", "accuracy"}, default="balanced_accuracy"
        With labels: whether all labels count alike, or all documents.
    cv : int, splitter or iterable of (train, test), default=5
        As in scikit-learn. An integer: that many folds, shuffled, with as much of each
        label in each of them. Where authors must not be on both sides, give the splits
        of ``GroupKFold``.
    n_starts : int >= 1, default=10
        Starts of k-means, each of which may end in other groups. With labels, the one
        that keeps most is offered; else the one of the smallest inertia.
    random_state : int, default=0
        Of the folds and of the first start; public.
    n_jobs : int, default=None
        Threads, over groupers and splits.

    Returns
    -------
    comparison : GroupingComparison
        ``best(found=0.1)``, ``sentences()``, and the ``rows`` behind them.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, a classifier has no labels, or a grouper leaves
        one of its groups without a document.

    See Also
    --------
    skdptext.DPDocumentReplacer : Releases by the chosen groups.

    Notes
    -----
    *Privacy.* Only public text has any effect, so that the choice costs nothing and
    shows nothing. `found_at_most` is K p / n, a bound for every adversary. The score is
    an estimate, for documents like the public ones.

    *Accuracy.* With C the shares of groups by label among the documents that were
    learned from (one more document spread over the groups), and P the probabilities of
    the response, a release z is read as the label with the largest (C P)[label, z],
    times the share of the label for ``scoring="accuracy"``. The score is the
    probability that this is right for the other documents, a mean over labels, whatever
    their sizes, or over documents. The reading is that of a releaser's user who has
    public labels; where it is not the best one, more is kept than is said.

    *Nats per word.* The released group of one half of a document predicts the words of
    the other half: the mean of ln p(word | release) − ln p(word), with both learned
    from the halves of the documents that were learned from; known as document
    completion [1]_. A grouper that only tells documents apart gains nothing here. For
    documents of a dozen words there is little to be told: give labels there.

    The shares of words in a group are drawn towards those of all documents, by as many
    words as make documents likeliest that are withheld from each split's learning, the
    grouper's included. With too few of them, groups would seem to tell more under noise
    than without. The documents that are scored have no part in it. Where too few are
    left to be grouped, as many words are added as all documents have.

    *What is learned where.* With labels, an encoder or clusterer is fitted once on all
    documents, as it would be used, and only the reading is learned in each split: the
    score is that of the very groups of `grouper`. Classifiers, and all groupers without
    labels, learn in each split anew.

    *Starts.* k-means ends in different groups, and its own criterion does not know
    what matters. With labels, each start is scored, and the best one is offered: its
    score is a little too high, as that of any best of several.

    *Cost.* With labels an encoder is fitted once, and k-means once per number of groups
    and start; else both twice per split.

    References
    ----------
    .. [1] H. Wallach, I. Murray, R. Salakhutdinov, D. Mimno (2009). Evaluation methods
       for topic models. ICML 2009.
    .. [2] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine
       Learning 52. (The intervals.)

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer
    >>> from skdptext.replacement import compare_groupings
    >>> public = ["the cat and a dog", "a dog or the cat", "a kitten and the cat",
    ...           "some tea and milk", "the milk or a tea", "a cake and some tea"] * 5
    >>> labels = (["pets"] * 3 + ["food"] * 3) * 5
    >>> comparison = compare_groupings(public, labels, n_groups=[2, 4], epsilon=3.0)
    >>> best = comparison.best(found=0.05)
    >>> best.n_groups, f"{best.score:.2f}", f"{best.found_at_most:.3f}"
    (2, '0.95', '0.019')
    >>> replacer = DPDocumentReplacer(
    ...     public, best.grouper, epsilon=best.epsilon,
    ...     public_labels=labels if best.uses_labels else None).fit()
    """
    documents = list(PublicDocuments.of(public_documents))
    labels = None
    if public_labels is not None:
        labels = PublicLabelling.of(public_labels, len(documents)).labels
        if len(labels) < len(documents):
            raise InvalidParameterError(
                "public_labels must be given for every document that is compared, got "
                f"{len(labels)} for {len(documents)}. Leave out the others, or learn "
                "an encoder from all of them, and give it frozen."
            )
    sizes = _as_sizes(n_groups)
    epsilons = check_numbers(
        "epsilon",
        [epsilon] if isinstance(epsilon, Real | str) else epsilon,
        low=0,
        open_low=True,
    )
    n_candidates = check_integer("n_candidates", n_candidates, low=1)
    check_option("scoring", scoring, ("balanced_accuracy", "accuracy"))
    n_starts = check_integer("n_starts", n_starts, low=1)
    seed = check_integer("random_state", random_state, low=0, high=2**32 - 1)
    check_n_jobs(n_jobs)
    chosen = _checked(groupers, labels, sizes)
    splits = _splits(cv, documents, labels, seed)
    fewest = min(len(train) for train, _ in splits)
    if max(sizes) > fewest and any(_is_encoder(grouper) for _, grouper in chosen):
        raise InvalidParameterError(
            "n_groups must be at most the number of public documents of a split "
            f"({fewest}), got {max(sizes)}."
        )
    balanced = scoring == "balanced_accuracy"
    # Splits that share documents are no independent trials: many of them of the same
    # documents would narrow the intervals without end.
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    data = _Data(documents, labels, sizes, epsilons, seed, n_starts, balanced, ratio)
    threads = Parallel(n_jobs=n_jobs, require="sharedmem")
    groupings = threads(delayed(_of_all)(grouper, data) for _, grouper in chosen)
    withheld = [_withheld(splits, i, seed) for i in range(len(splits))]
    cells = threads(
        delayed(_split_scores)(grouper, data, of_all, train, test, part)
        for (_, grouper), of_all in zip(chosen, groupings, strict=True)
        for (train, test), part in zip(splits, withheld, strict=True)
    )
    rows: list[GroupingScore] = []
    for i, (name, grouper) in enumerate(chosen):
        mine = cells[i * len(splits) : (i + 1) * len(splits)]
        rows += _rows(name, grouper, mine, data, n_candidates)
    criterion, chance = "nats per word", 0.0
    if labels is not None:
        sizes_of_labels = np.unique(labels, return_counts=True)[1]
        criterion = scoring.replace("_", " ")
        chance = float(
            1 / len(sizes_of_labels)
            if data.balanced
            else sizes_of_labels.max() / len(labels)
        )
    return GroupingComparison(
        rows,
        criterion=criterion,
        chance=chance,
        n_candidates=n_candidates,
        n_documents=len(documents),
        n_splits=len(splits),
    )


class _Data(NamedTuple):
    documents: list[Any]
    labels: np.ndarray | None
    sizes: list[int]
    epsilons: list[float]
    seed: int
    n_starts: int
    balanced: bool
    test_over_train: float


# Of one grouping in one split: K, and an array with a row for each start. Its columns
# are the scores without noise, and at each ε.
_Scores = tuple[int, np.ndarray]


# -- checks --------------------------------------------------------------------------


def _as_sizes(n_groups: Any) -> list[int]:
    if isinstance(n_groups, Real | str | bytes) or not hasattr(n_groups, "__iter__"):
        return [check_integer("n_groups", n_groups, low=2)]
    sizes = [
        check_integer(f"n_groups[{i}]", size, low=2) for i, size in enumerate(n_groups)
    ]
    if not sizes:
        raise InvalidParameterError("n_groups must hold at least one number, got none.")
    return sorted(set(sizes))


def _checked(
    groupers: Any, labels: np.ndarray | None, sizes: list[int]
) -> list[tuple[str, Any]]:
    if groupers is None:
        return _default(labels, sizes)
    if not isinstance(groupers, Mapping) or not groupers:
        raise InvalidParameterError(
            "groupers must be None or a mapping of names to estimators, at least one, "
            f"got {kind_of(groupers)}."
        )
    for i, (name, grouper) in enumerate(groupers.items()):
        if not isinstance(name, str):
            raise InvalidParameterError(
                f"groupers must have names that are str, got {kind_of(name)} as name "
                f"{i}."
            )
        if not _is_encoder(grouper):
            check_grouper(grouper)
            if grouper is None:
                raise InvalidParameterError(
                    f"groupers must be estimators, got None as grouper {i}."
                )
            if labels is None and is_classifier(grouper):
                raise InvalidParameterError(
                    f"public_labels must be given for a classifier, which grouper {i} "
                    "is, got None."
                )
    return list(groupers.items())


def _default(labels: np.ndarray | None, sizes: list[int]) -> list[tuple[str, Any]]:
    from skdptext.replacement._topics import TopicGroups  # late: k-means is slow

    groupers: list[tuple[str, Any]] = [("default", TopicGroups(k)) for k in sizes]
    groupers += [(f"correspondence analysis {n}", TopicEncoder(n)) for n in (5, 10, 30)]
    if labels is not None:
        groupers.append(("public labels", default_grouper(labels, 0, ())))
    return groupers


def _is_encoder(grouper: Any) -> bool:
    instance = not isinstance(grouper, type)
    return (
        instance and hasattr(grouper, "transform") and not hasattr(grouper, "predict")
    )


def _splits(
    cv: Any, documents: list[Any], labels: np.ndarray | None, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    if isinstance(cv, Real):
        folds = check_integer("cv", cv, low=2, high=len(documents))
        kind = KFold if labels is None else StratifiedKFold
        cv = kind(folds, shuffle=True, random_state=seed)
    elif isinstance(cv, str | bytes) or not (
        hasattr(cv, "split") or hasattr(cv, "__iter__")
    ):
        raise InvalidParameterError(
            "cv must be an integer, a splitter of scikit-learn or an iterable of "
            f"(train, test), got {kind_of(cv)}."
        )
    rows = np.arange(len(documents))
    try:
        splits = [
            (rows[train], rows[test])
            for train, test in check_cv(cv).split(np.zeros(len(rows)), labels)
        ]
    except (TypeError, ValueError, IndexError):
        raise InvalidParameterError(
            "cv must be able to split the public documents and their labels, got "
            f"{kind_of(cv)} that cannot: see that each label has as many documents as "
            "there are folds."
        ) from None
    if not splits or any(not len(train) or not len(test) for train, test in splits):
        raise InvalidParameterError(
            "cv must give splits with documents on both sides, got "
            f"{'an empty side' if splits else 'none'}."
        )
    return splits


def _withheld(
    splits: list[tuple[np.ndarray, np.ndarray]], i: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """A division of the part that a split learns from.

    By another split where that leaves enough, so that authors whom the splits keep
    apart stay apart; else a fifth is withheld.
    """
    train = splits[i][0]
    for learned, asked in (*splits[i + 1 :], *splits[:i]):
        left = train[np.isin(train, learned)]
        held = train[np.isin(train, asked)]
        if 3 * len(left) >= len(train) and len(held):
            return left, held
    order = np.random.default_rng(seed).permutation(train)
    n_held = -(-len(train) // 5)
    return order[n_held:], order[:n_held]


# -- one split -----------------------------------------------------------------------


def _of_all(grouper: Any, data: _Data) -> list[tuple[int, np.ndarray]]:
    """K and groups of all public documents, for each number of groups and start.

    Nothing where what is asked for would be learned with the groups: by a classifier,
    and of the halves of documents.
    """
    if data.labels is None or is_classifier(grouper):
        return []
    everything = data.documents
    grouped = _grouped(grouper, data, None, everything, [everything])
    return [(k, groups) for k, (groups,) in grouped]


def _split_scores(
    grouper: Any,
    data: _Data,
    of_all: list[tuple[int, np.ndarray]],
    train: np.ndarray,
    test: np.ndarray,
    withheld: tuple[np.ndarray, np.ndarray],
) -> list[_Scores]:
    """For each number of groups of one grouper."""
    score: _Completion | _Accuracy
    parts: Any = ((k, (groups[train], groups[test])) for k, groups in of_all)
    learned = [data.documents[i] for i in train]
    asked = [data.documents[i] for i in test]
    if data.labels is None:
        score = _Completion(learned, asked, _priors(grouper, data, *withheld))
        parts = score.grouped(grouper, data, learned)
    else:
        labels = data.labels[train]
        score = _Accuracy(labels, data.labels[test], data.balanced)
        if not of_all:
            parts = _grouped(grouper, data, labels, learned, [learned, asked])
    starts: dict[int, list[list[float]]] = {}
    for k, (of_given, of_asked) in parts:
        score.learn(of_given, of_asked, k)
        scores = [score.at(np.eye(k))]  # one matrix of K × K at a time
        scores += [score.at(_law(_part(k, epsilon))) for epsilon in data.epsilons]
        starts.setdefault(k, []).append(scores)
    return [(k, np.array(scores)) for k, scores in starts.items()]


def _priors(
    grouper: Any, data: _Data, train: np.ndarray, test: np.ndarray
) -> list[float]:
    """The prior under which withheld documents are likeliest, for each grouping.

    The grouper learns without them, too: groups fit the words they were made of better.
    None where the documents that are left are too few to group.
    """
    learned = [data.documents[i] for i in train]
    try:
        score = _Completion(learned, [data.documents[i] for i in test])
        return [
            score.likeliest_prior(of_given, of_asked, k)
            for k, (of_given, of_asked) in score.grouped(grouper, data, learned)
        ]
    except ValueError:  # what is wrong with more than their number is said by the split
        return []


def _k_means(n_groups: int, data: _Data, start: int) -> Any:
    """With labels one start, to be scored; else k-means chooses its own."""
    from sklearn.cluster import KMeans

    if data.labels is None:
        return KMeans(n_groups, n_init=data.n_starts, random_state=data.seed)
    return KMeans(n_groups, n_init=1, random_state=(data.seed + start) % 2**32)


def _grouped(
    grouper: Any, data: _Data, labels: Any, learned: list[Any], asked: list[list[Any]]
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """K, and groups of lists of documents, by a grouper that learns from one list."""
    made = clone(grouper, safe=False)
    if _is_encoder(grouper):
        vectors = _learned(made.fit_transform, learned)
        points = [
            vectors if texts is learned else made.transform(texts) for texts in asked
        ]
        starts = range(1 if data.labels is None else data.n_starts)
        for k, start in itertools.product(data.sizes, starts):
            clusterer = _k_means(k, data, start)
            # that fewer clusters are found than asked for is an error here
            with quiet(Warning, message="Number of distinct clusters"):
                clusterer.fit(vectors)
            if len(np.unique(clusterer.labels_)) < k:
                raise InvalidParameterError(
                    "n_groups must be at most the number of different public "
                    f"documents, as they are encoded, got {k}: groups are empty."
                )
            yield k, [clusterer.predict(rows) for rows in points]
        return
    if not is_fitted(made):  # frozen, or it has nothing to learn
        _learned(made.fit, learned, *([labels] if is_classifier(grouper) else []))
    parts = [np.asarray(made.predict(texts)) for texts in (learned, *asked)]
    names, numbers = np.unique(np.concatenate(parts), return_inverse=True)
    if len(names) < 2:
        raise InvalidParameterError(
            "groupers must put the public documents into at least 2 groups, got 1."
        )
    yield len(names), np.split(numbers, np.cumsum([len(p) for p in parts[:-1]]))[1:]


def _learned(fit: Any, learned: list[Any], *labels: Any) -> Any:
    try:
        return fit(learned, *labels)
    except ValueError as error:  # it may quote documents, which are public
        raise InvalidParameterError(
            "public_documents must be enough for a grouper to learn from each split, "
            f"but {kind_of(fit.__self__)} failed on {len(learned)} of them: {error}"
        ) from error


def _part(n_groups: int, epsilon: float) -> ReplacementPart:
    return ReplacementPart(ExactResponse(n_groups, epsilon), np.asarray, b"")


def _law(part: ReplacementPart) -> np.ndarray:
    """Pr[z | g]."""
    p, k = math.exp(part.log_proba_own), part.n_groups
    P = np.full((k, k), (1 - p) / (k - 1))
    np.fill_diagonal(P, p)
    return P


class _Accuracy:
    """Accuracy of the label, read from a release; balanced, or by documents."""

    def __init__(self, learned: np.ndarray, asked: np.ndarray, balanced: bool) -> None:
        self._names, counts = np.unique(learned, return_counts=True)
        self._weights = np.ones(len(counts)) if balanced else counts
        self._learned, self._asked, self._balanced = learned, asked, balanced

    def learn(self, groups: np.ndarray, of_asked: np.ndarray, k: int) -> None:
        shares = np.array(
            [np.bincount(groups[self._learned == n], minlength=k) for n in self._names]
        )
        shares = shares + 1 / k
        self._label_shares = shares / shares.sum(axis=1, keepdims=True)
        self._truth = {
            name: np.bincount(of_asked[self._asked == name], minlength=k)
            for name in np.unique(self._asked)
        }

    def at(self, P: np.ndarray) -> float:
        # (labels, releases): C P, times the weight of the label
        joint = self._weights[:, None] * (self._label_shares @ P)
        read = self._names[joint.argmax(axis=0)]
        right = [row @ P @ (read == name) for name, row in self._truth.items()]
        sizes = [row.sum() for row in self._truth.values()]
        if self._balanced:
            return float(np.mean(np.divide(right, sizes)))
        return float(np.sum(right) / np.sum(sizes))


class _Completion:
    """Nats about a word of one half of a document, from the release of the other."""

    def __init__(
        self, learned: list[Any], asked: list[Any], priors: Sequence[float] = ()
    ) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(analyzer=words_of)
        self._given, others = _halves(learned)
        try:
            self._counts = counter.fit_transform(others)
        except ValueError:
            raise InvalidParameterError(
                "public_documents must have words, of two letters or more, got none."
            ) from None
        total = np.asarray(self._counts.sum(axis=0)).ravel()
        self._words = total / total.sum()
        self._asked_for, others = _halves(asked)
        self._others = counter.transform(others)
        # of each grouping in turn; without any, groups weigh half at most
        self._priors = itertools.chain(priors, itertools.repeat(float(total.sum())))

    def grouped(
        self, grouper: Any, data: _Data, learned: list[Any]
    ) -> Iterator[tuple[int, list[np.ndarray]]]:
        return _grouped(grouper, data, None, learned, [self._given, self._asked_for])

    def learn(self, groups: np.ndarray, of_asked: np.ndarray, k: int) -> None:
        self._count(groups, of_asked, k)
        self._smooth(next(self._priors))

    def likeliest_prior(
        self, groups: np.ndarray, of_asked: np.ndarray, k: int
    ) -> float:
        self._count(groups, of_asked, k)
        likelihoods = []
        for prior in _PRIORS:
            self._smooth(prior)
            likelihoods.append(self.at(np.eye(k)))
        return _PRIORS[int(np.argmax(likelihoods))]

    def _count(self, groups: np.ndarray, of_asked: np.ndarray, k: int) -> None:
        self._group_words = sums_by_label(groups, self._counts, k).toarray()
        sums = self._group_words.sum(axis=1)
        self._share = (sums + 1 / k) / (sums.sum() + 1)
        self._asked = sums_by_label(of_asked, self._others, k).toarray()

    def _smooth(self, prior: float) -> None:
        counts = self._group_words
        sums = counts.sum(axis=1, keepdims=True)
        self._word_shares = (counts + prior * self._words) / (sums + prior)

    def at(self, P: np.ndarray) -> float:
        # (groups, releases): Pr[g] Pr[z | g]; by columns, the posterior of the group
        joint = self._share[:, None] * P
        mixed = (joint / joint.sum(axis=0)).T @ self._word_shares  # Pr[word | z]
        gain = np.log(mixed) - np.log(self._words)
        nats = float((P * (self._asked @ gain.T)).sum())
        return nats / max(float(self._asked.sum()), 1.0)


def _halves(documents: list[Any]) -> tuple[list[Any], list[Any]]:
    """Halves of documents, the first ones first, and the other half of each."""
    first: list[Any] = []
    second: list[Any] = []
    for document in documents:
        text = isinstance(document, str)
        words = document.split() if text else list(document)
        middle = len(words) // 2
        for part, half in ((first, words[:middle]), (second, words[middle:])):
            part.append(" ".join(half) if text else half)
    return first + second, second + first


# -- all splits ----------------------------------------------------------------------


def _rows(
    name: str,
    grouper: Any,
    by_split: list[list[_Scores]],
    data: _Data,
    n_candidates: int,
) -> list[GroupingScore]:
    """Of one grouper, from its scores for each split and number of groups."""
    rows = []
    for splits in zip(*by_split, strict=True):
        k = max(n_groups for n_groups, _ in splits)
        scores = np.array([of_starts for _, of_starts in splits])
        for j, epsilon in enumerate(data.epsilons, 1):
            best = int(scores[:, :, j].mean(axis=0).argmax())
            made = grouper
            if _is_encoder(grouper):
                k_means = _k_means(k, data, best)
                made = make_pipeline(clone(grouper, safe=False), k_means)
            of_splits = scores[:, best, j]
            low, high = split_interval(of_splits, 0.95, data.test_over_train)
            guarantee = ReplacementGuarantee([_part(k, epsilon)])
            rows.append(
                GroupingScore(
                    name,
                    k,
                    epsilon,
                    float(of_splits.mean()),
                    float(low),
                    float(high),
                    without_noise=float(scores[:, best, 0].mean()),
                    found_at_most=guarantee.found_at_most(n_candidates),
                    grouper=made,
                    uses_labels=is_classifier(grouper),
                )
            )
    return rows
