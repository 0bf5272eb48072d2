"""What groups of public documents would keep and show, by public text alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponseChannel, RandomizedResponse
from skdptext.model_selection import search_results
from skdptext.preprocessing import TopicEncoder
from skdptext.replacement._groups import (
    check_grouper,
    default_grouper,
    is_classifier,
    is_fitted,
    words_of,
)
from skdptext.replacement._guarantee import ReplacementGuarantee, ReplacementPart
from skdptext.replacement._public import PublicDocuments
from skdptext.utils import (
    check_integer,
    check_labels,
    check_n_jobs,
    check_numbers,
    check_real,
    import_pandas,
    kind_of,
    page,
    paragraph,
    table,
    wrapped,
)

__all__ = ["GroupingComparison", "GroupingScore", "compare_groupings"]

# Words of all documents that are added to those of a group: the usual prior of
# language models in retrieval (Zhai and Lafferty, 2004).
_PRIOR_WORDS = 1000.0
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
        Mean over the splits: the balanced accuracy of the labels, or the nats that a
        release tells about a word.
    low, high : float
        Interval of 95 %, over the splits.
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


class GroupingComparison:
    """Groupings of public documents, compared; from `compare_groupings`.

    Attributes
    ----------
    rows : list of GroupingScore
        One for each grouper, number of groups and ε.
    criterion : {"accuracy", "nats per word"}
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
    skdptext.inspection.GroupingDisplay : Draws it.
    """

    def __init__(
        self,
        rows: Sequence[GroupingScore],
        *,
        criterion: str,
        chance: float,
        n_candidates: int,
        n_documents: int,
        n_splits: int,
    ) -> None:
        self.rows = list(rows)
        self.criterion = criterion
        self.chance = chance
        self.n_candidates = n_candidates
        self.n_documents = n_documents
        self.n_splits = n_splits

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
                f"found must be at least {min(r.found_at_most for r in inside):.3g} "
                f"for these groupings, got {found:g}. Compare fewer groups or a "
                "smaller epsilon."
            )
        return max(within, key=lambda row: (row.score, -row.found_at_most))

    def frame(self) -> Any:
        """All numbers, a row for each grouper, number of groups and ε.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``grouper`` (its name), ``n_groups``, ``epsilon``, ``score``,
            ``low``, ``high``, ``without_noise``, ``found_at_most`` and ``uses_labels``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_pandas("GroupingComparison.frame()")
        names = [n for n in GroupingScore.__dataclass_fields__ if n != "grouper"]
        rows = [[getattr(row, name) for name in names] for row in self.rows]
        return pandas.DataFrame(rows, columns=["grouper", *names[1:]])

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
        for name in dict.fromkeys(row.name for row in self.rows):
            mine = GroupingComparison(
                [row for row in self.rows if row.name == name], **self._about()
            )
            if name == best.name:
                continue
            try:
                lines.append(f"Else, {self._said(mine.best(found))}.")
            except InvalidParameterError:
                least = min(row.found_at_most for row in mine.rows)
                lines.append(f"{name} cannot: {least:.1%} may be found at the least.")
        what = (
            "Accuracy of the public labels, each of the same weight"
            if self.criterion == "accuracy"
            else "What the release of one half of a document tells of the other half"
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
            f"{row.found_at_most:.1%} are found"
        )

    def _about(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "rows"}

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
        rows = [[row.name, *(getattr(row, n) for n in names)] for row in self.rows]
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
    cv: Any = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> GroupingComparison:
    r"""What each encoder and number of groups would keep and show, on public text.

    For each split of the public documents, a grouper learns from one part of them and
    groups the other part. How much of a label a release of that part would keep is then
    worked out from the shares of each label in each group and the probabilities of
    randomized response, without drawing noise.

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
        these documents. None: `~skdptext.preprocessing.TopicEncoder` of 5, 10 and 30
        directions and, with labels, the classifier of `DPDocumentReplacer`.
    n_groups : int >= 2 or sequence of int, default=(2, 4, 6, 8, 10, 12)
        Numbers of groups for encoders.
    epsilon : float > 0 or sequence of float, default=4.0
        Values of the privacy parameter ε, between any two documents.
    n_candidates : int >= 1, default=100
        Candidates among whom an adversary looks for a document.
    cv : int, splitter or iterable of (train, test), default=5
        As in scikit-learn. An integer: that many folds, shuffled, with as much of each
        label in each of them. Where authors must not be on both sides, give the splits
        of ``GroupKFold``.
    random_state : int, default=0
        Of the folds and of k-means; public.
    n_jobs : int, default=None
        Threads, over groupers and splits.

    Returns
    -------
    comparison : GroupingComparison
        ``best(found=0.1)``, ``frame()``, ``sentences()``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, a classifier has no labels, or a grouper leaves
        one of its groups without a document.

    See Also
    --------
    skdptext.DPDocumentReplacer : Releases by the chosen groups.
    skdptext.inspection.GroupingDisplay : Draws the comparison.

    Notes
    -----
    *Privacy.* Only public text has any effect, so that the choice costs nothing and
    shows nothing. `found_at_most` is K p / n, a bound for every adversary. The score is
    an estimate, for documents like the public ones.

    *Accuracy.* With C the shares of groups by label among the documents that were
    learned from (one more document spread over the groups), and P the probabilities of
    the response, a release z is read as the label with the largest (C P)[label, z]. The
    score is the probability that this is right for the other documents, a mean over
    labels, whatever their sizes. The reading is that of a releaser's user who has
    public labels; where it is not the best one, more is kept than is said.

    *Nats per word.* The released group of one half of a document predicts the words of
    the other half: the mean of ln p(word | release) − ln p(word), with both learned
    from the halves of the documents that were learned from; known as document
    completion [1]_. A grouper that only tells documents apart gains nothing here. For
    documents of a dozen words there is little to be told: give labels there.

    *Cost.* An encoder is fitted once per split, k-means once per number of groups.

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
        labels = check_labels(
            "public_labels",
            public_labels,
            len(documents),
            of="public document",
            n_different=2,
        )
    sizes = _as_sizes(n_groups)
    epsilons = check_numbers(
        "epsilon",
        [epsilon] if isinstance(epsilon, Real | str) else epsilon,
        low=0,
        open_low=True,
    )
    n_candidates = check_integer("n_candidates", n_candidates, low=1)
    seed = check_integer("random_state", random_state, low=0, high=2**32 - 1)
    check_n_jobs(n_jobs)
    chosen = _checked(groupers, labels)
    splits = _splits(cv, documents, labels, seed)
    data = _Data(documents, labels, sizes, epsilons, seed)
    cells = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_split_scores)(grouper, data, train, test)
        for grouper in chosen.values()
        for train, test in splits
    )
    rows: list[GroupingScore] = []
    for i, (name, grouper) in enumerate(chosen.items()):
        mine = cells[i * len(splits) : (i + 1) * len(splits)]
        rows += _rows(name, grouper, mine, data, n_candidates)
    return GroupingComparison(
        rows,
        criterion="nats per word" if labels is None else "accuracy",
        chance=0.0 if labels is None else 1 / len(np.unique(labels)),
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


class _Cell(NamedTuple):
    """One grouping in one split: the scores at each ε, and without noise."""

    n_groups: int
    scores: list[float]
    without_noise: float


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


def _checked(groupers: Any, labels: np.ndarray | None) -> dict[str, Any]:
    if groupers is None:
        return _default(labels)
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
    return dict(groupers)


def _default(labels: np.ndarray | None) -> dict[str, Any]:
    groupers: dict[str, Any] = {
        f"correspondence analysis {n}": TopicEncoder(n) for n in (5, 10, 30)
    }
    if labels is not None:
        groupers["public labels"] = default_grouper(labels, 0, ())
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


# -- one split -----------------------------------------------------------------------


def _split_scores(
    grouper: Any, data: _Data, train: np.ndarray, test: np.ndarray
) -> list[_Cell]:
    """A cell for each number of groups of one grouper."""
    learned = [data.documents[i] for i in train]
    asked = [data.documents[i] for i in test]
    score: Any
    if data.labels is None:
        score = _Completion(learned, asked)
    else:
        score = _Accuracy(data.labels[train], data.labels[test])
        score.given, score.asked = learned, asked
    cells = []
    grouped = _grouped(grouper, data, train, learned, score.given, score.asked)
    for k, of_given, of_asked in grouped:
        score.learn(of_given, of_asked, k)
        cells.append(
            _Cell(
                k,
                [score.at(_response(k, epsilon)) for epsilon in data.epsilons],
                score.at(np.eye(k)),
            )
        )
    return cells


def _grouped(
    grouper: Any,
    data: _Data,
    train: np.ndarray,
    learned: list[Any],
    given: list[Any],
    asked: list[Any],
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """K, and groups of documents by a grouper that learned from others."""
    from sklearn.cluster import KMeans

    made = clone(grouper, safe=False)
    if _is_encoder(grouper):
        if max(data.sizes) > len(learned):
            raise InvalidParameterError(
                "n_groups must be at most the number of public documents of a split "
                f"({len(learned)}), got {max(data.sizes)}."
            )
        vectors = _learned(made.fit_transform, learned)
        others = [made.transform(texts) for texts in (given, asked)]
        for k in data.sizes:
            clusterer = KMeans(k, n_init=10, random_state=data.seed)
            with warnings.catch_warnings():
                # that fewer clusters are found than asked for is an error here
                warnings.filterwarnings("ignore", message="Number of distinct clusters")
                clusterer.fit(vectors)
            if len(np.unique(clusterer.labels_)) < k:
                raise InvalidParameterError(
                    "n_groups must be at most the number of different public "
                    f"documents, as they are encoded, got {k}: groups are empty."
                )
            yield k, *(clusterer.predict(points) for points in others)
        return
    if is_fitted(made):  # frozen, or it has nothing to learn
        pass
    elif is_classifier(grouper):
        _learned(made.fit, learned, np.asarray(data.labels)[train])
    else:
        _learned(made.fit, learned)
    parts = [np.asarray(made.predict(texts)) for texts in (learned, given, asked)]
    names, numbers = np.unique(np.concatenate(parts), return_inverse=True)
    if len(names) < 2:
        raise InvalidParameterError(
            "groupers must put the public documents into at least 2 groups, got 1."
        )
    _, of_given, of_asked = np.split(numbers, np.cumsum([len(p) for p in parts[:2]]))
    yield len(names), of_given, of_asked


def _learned(fit: Any, learned: list[Any], *labels: Any) -> Any:
    try:
        return fit(learned, *labels)
    except ValueError as error:  # it may quote documents, which are public
        raise InvalidParameterError(
            "public_documents must be enough for a grouper to learn from each split, "
            f"but {kind_of(fit.__self__)} failed on {len(learned)} of them: {error}"
        ) from error


def _guarantee(n_groups: int, epsilon: float) -> ReplacementGuarantee:
    channel = ExactResponseChannel(
        RandomizedResponse(), one_hot_embedding(n_groups), epsilon, 0.0
    )
    return ReplacementGuarantee([ReplacementPart(channel, np.asarray, b"")])


def _response(n_groups: int, epsilon: float) -> np.ndarray:
    """Pr[z | g]."""
    p = math.exp(_guarantee(n_groups, epsilon).parts[0].log_kept)
    P = np.full((n_groups, n_groups), (1 - p) / (n_groups - 1))
    np.fill_diagonal(P, p)
    return P


class _Accuracy:
    """Balanced accuracy of the label, read from a release."""

    def __init__(self, learned: np.ndarray, asked: np.ndarray) -> None:
        self._names = np.unique(learned)
        self._learned, self._asked = learned, asked

    def learn(self, groups: np.ndarray, of_asked: np.ndarray, k: int) -> None:
        shares = np.array(
            [np.bincount(groups[self._learned == n], minlength=k) for n in self._names]
        )
        shares = shares + 1 / k
        self._label_shares = shares / shares.sum(axis=1, keepdims=True)
        rows = {
            name: np.bincount(of_asked[self._asked == name], minlength=k)
            for name in np.unique(self._asked)
        }
        self._truth = {name: row / row.sum() for name, row in rows.items()}

    def at(self, P: np.ndarray) -> float:
        read = self._names[(self._label_shares @ P).argmax(axis=0)]
        return float(
            np.mean([row @ P @ (read == name) for name, row in self._truth.items()])
        )


class _Completion:
    """Nats about a word of one half of a document, from the release of the other."""

    def __init__(self, learned: list[Any], asked: list[Any]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(analyzer=words_of)
        self.given, others = _halves(learned)
        try:
            self._counts = counter.fit_transform(others)
        except ValueError:
            raise InvalidParameterError(
                "public_documents must have words, of two letters or more, got none."
            ) from None
        total = np.asarray(self._counts.sum(axis=0)).ravel()
        self._words = total / total.sum()
        self.asked, others = _halves(asked)
        self._others = counter.transform(others)

    def learn(self, groups: np.ndarray, of_asked: np.ndarray, k: int) -> None:
        counts = _by_group(self._counts, groups, k)
        sums = counts.sum(axis=1, keepdims=True)
        self._word_shares = (counts + _PRIOR_WORDS * self._words) / (
            sums + _PRIOR_WORDS
        )
        self._share = (sums.ravel() + 1 / k) / (sums.sum() + 1)
        self._asked = _by_group(self._others, of_asked, k)

    def at(self, P: np.ndarray) -> float:
        joint = self._share[:, None] * P
        mixed = (joint / joint.sum(axis=0)).T @ self._word_shares  # Pr[word | z]
        gain = np.log(mixed) - np.log(self._words)
        nats = float((P * (self._asked @ gain.T)).sum())
        return nats / max(float(self._asked.sum()), 1.0)


def _by_group(counts: Any, groups: np.ndarray, k: int) -> np.ndarray:
    """Counts of words in each group."""
    import scipy.sparse as sp

    n = len(groups)
    members = sp.csr_matrix((np.ones(n), (groups, np.arange(n))), shape=(k, n))
    return np.asarray((members @ counts).todense(), dtype=np.float64)


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
    name: str, grouper: Any, cells: list[list[_Cell]], data: _Data, n_candidates: int
) -> list[GroupingScore]:
    from sklearn.cluster import KMeans

    rows = []
    for i in range(len(cells[0])):
        mine = [split[i] for split in cells]
        k = max(cell.n_groups for cell in mine)
        made = grouper
        if _is_encoder(grouper):
            clusterer = KMeans(k, n_init=10, random_state=data.seed)
            made = make_pipeline(clone(grouper, safe=False), clusterer)
        for j, epsilon in enumerate(data.epsilons):
            results: dict[str, Any] = {
                f"split{s}_test_score": [cell.scores[j]] for s, cell in enumerate(mine)
            }
            # as of a search over words, which has a λ
            params = [{"epsilon": epsilon, "lam": 0.0}]
            results |= {"params": params, "mean_test_score": [0.0]}
            score = search_results(results).scores["score"]
            rows.append(
                GroupingScore(
                    name,
                    k,
                    epsilon,
                    float(score.mean[0]),
                    float(score.low[0]),
                    float(score.high[0]),
                    float(np.mean([cell.without_noise for cell in mine])),
                    _guarantee(k, epsilon).found_at_most(n_candidates),
                    made,
                    is_classifier(grouper),
                )
            )
    return rows
