"""Adversaries who attribute held-out documents, in clear and as released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.attacks._similarity import words_of
from skdptext.attacks._standard import (
    linear_topic_classifier,
    paper_adversaries,
    tfidf_regression,
)
from skdptext.attacks._trials import (
    N_DRAWS,
    Split,
    Trial,
    as_released,
    bayes_of_released,
    make_folds,
    near_copies,
    run_trials,
)
from skdptext.exceptions import (
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics import PROTOCOL, fitted_releaser, with_noise
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.perturbation import DPWordPerturber
from skdptext.preprocessing import DocumentPreparer
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

_NAMES = {
    "author": ("SRauth", "DRauth", "linear author", "channel author"),
    "topic": ("SRtopic", "DRtopic", "linear topic", "channel topic"),
}
_TARGETS = tuple(_NAMES)
_SEEDS = 2**31 - 1
# Number of random permutations of the labels, for the permutation test.
_SHUFFLES = 199
# Topics give authors away if they beat the mean of the permutations by this share, with
# at most this p-value.
_CONFOUNDED, _BY_CHANCE = 0.1, 0.05


class Attempt(NamedTuple):
    """One adversary's attack on one release: the share of right answers per document.

    Attributes
    ----------
    release : int
        Index of the perturber.
    adversary, target, trained_on : str
        Name of the adversary; what it wants to know, "author" or "topic"; what it
        knows, "originals" or "releases".
    clean, cut, noisy : ndarray of shape (n_documents,)
        Share of right answers for each document: whole and in clear (from other whole
        documents in clear), in clear but cut as the release cuts it, and as released;
        NaN for a document that was never held out.
    """

    release: int
    adversary: str
    target: str
    trained_on: str
    clean: np.ndarray
    cut: np.ndarray
    noisy: np.ndarray


class Attributions(NamedTuple):
    """The result of `attribution_attack`.

    Attributes
    ----------
    attempts : list of Attempt
        Each with the index of its release; the names of the adversary, of its target
        and of what it knows; and the share of right answers for each document: `clean`
        (whole), `cut` (as the release cuts it, in clear) and `noisy`. NaN marks a
        document that was never held out.
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
    default_adversaries : bool
        Whether the adversaries were those of the library.
    """

    attempts: list[Attempt]
    perturbers: list[Any]
    documents: Any
    authors: np.ndarray
    topics: np.ndarray | None
    chance: dict[str, dict[str, float]]
    chance_if_unrelated: float | None
    n_splits: int
    n_releases: int
    n_strangers: int
    default_adversaries: bool


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
        releasers). None: ``"SRauth"``, ``"SRtopic"`` (Word Mover's Distance
        neighbours), ``"DRauth"`` (Koppel) and ``"DRtopic"`` (fastText, if it is
        installed) of `skdptext.attacks.paper_adversaries`; ``"linear author"`` and
        ``"linear topic"``, logistic regression on tf-idf weights; and
        ``"channel author"`` and ``"channel topic"``,
        `~skdptext.naive_bayes.ChannelNaiveBayes`, which knows the distribution of the
        noise, or plain naive Bayes where there is none, and of releases (not with
        ``oov="keep"``). From other releasers, those that need no embedding.
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
        What adversaries got right; `skdptext.inspection.obfuscation_report` makes a
        report of it.

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
    >>> attack.attempts[0].noisy.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    perturbers = check_perturbers(perturber)
    documents = check_documents(documents)
    n_documents = documents.shape[0] if is_count_matrix(documents) else len(documents)
    labels = {
        target: check_labels(f"{target}s", values, n_documents, n_different=2)
        for target, values in (("author", authors), ("topic", topics))
        if target == "author" or values is not None
    }
    check_option("trained_on", trained_on, ("both", "originals", "releases"))
    n_releases = check_integer("n_releases", n_releases, low=1)
    check_n_jobs(n_jobs)
    check_integer("verbose", verbose, low=0)
    fresh = random_state is None
    rng = check_rng(random_state)
    if groups is not None:
        groups = as_labels("groups", groups)
    seed = int(rng.integers(_SEEDS))
    splits = make_splits(cv, labels["author"], groups, documents, seed)
    given = None
    if adversaries is not None:
        given = check_adversaries(adversaries, topics is not None)
    n_known = min(len(known) for known, _ in splits)
    seed = int(rng.integers(_SEEDS))

    scenes = []
    for p in perturbers:
        release = prepare if isinstance(p, DPWordPerturber) else prepare_releaser
        scene = release(p, documents, seed, n_releases, None if fresh else rng)
        models = given
        if models is None:
            if trained_on != "releases":
                scene = scene._replace(through=_through_noise(scene, seed))
            models = default_adversaries(scene, list(labels), n_known, seed)
        scenes.append(scene._replace(adversaries=models))
    attempts = _attack_all(scenes, splits, labels, trained_on, n_jobs, verbose)
    attacked = np.unique(np.concatenate([held for _, held in splits]))
    by = labels["author"]
    strangers = [held[~np.isin(by[held], by[known])] for known, held in splits]
    author = by[attacked]
    topic = labels["topic"][attacked] if "topic" in labels else None
    chance = {"author": chance_levels(author, topic)}
    unrelated = None
    if topic is not None:
        chance["topic"] = chance_levels(topic, author)
        shuffled = shuffled_chance(
            author, topic, None if groups is None else groups[attacked], rng
        )
        if stands_out(chance["author"]["from_other"], shuffled):
            unrelated = float(shuffled.mean())
    return Attributions(
        attempts,
        [scene.perturber for scene in scenes],
        documents,
        by,
        labels.get("topic"),
        chance,
        unrelated,
        len(splits),
        n_releases,
        len(np.unique(np.concatenate(strangers))),
        given is None,
    )


class Adversary(NamedTuple):
    """An unfitted classifier and its target."""

    name: str
    model: Any
    target: str  # one of _TARGETS
    informed: Any = None  # instead, of documents through the noise, whose law it knows


class Scene(NamedTuple):
    """One perturber, and the documents before and after it."""

    perturber: Any  # fitted
    whole: Any  # in clear
    cut: Any  # in clear, as many words as are released
    released: list[Any]
    key: str  # equal for scenes with equal documents in clear
    through: Any  # whole, as the noise changes them
    adversaries: Sequence[Adversary] = ()


def check_perturbers(perturber: Any) -> list[Any]:
    if _releases(perturber):
        perturber = [perturber]
    is_list = isinstance(perturber, Iterable) and not isinstance(perturber, str)
    releasers = list(perturber) if is_list else []
    if not releasers or not all(map(_releases, releasers)):
        raise InvalidParameterError(
            "perturber must be a word perturber or a list of them, or of other "
            f"releasers with {', '.join(PROTOCOL)}, got {kind_of(perturber)}."
        )
    return releasers


def _releases(releaser: Any) -> bool:
    return isinstance(releaser, DPWordPerturber) or (
        not isinstance(releaser, type)
        and all(callable(getattr(releaser, name, None)) for name in PROTOCOL)
    )


def check_documents(documents: Any) -> Any:
    """Documents that can be read more than once."""
    if is_count_matrix(documents):
        return documents if hasattr(documents, "shape") else np.asarray(documents)
    return list(documents)


def prepare(
    perturber: DPWordPerturber,
    documents: Any,
    seed: int,
    n_releases: int,
    rng: np.random.Generator | None,
) -> Scene:
    """Release the documents, and prepare them in the same way without noise.

    No adversary uses the order of words, so bags are enough, unless unknown words are
    kept, which have no column.
    """
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning):
        output = "text" if perturber.oov == "keep" else "bow"
        released = []
        for _ in range(n_releases):
            # not an int, which would give equal documents equal noise
            state = None if rng is None else np.random.default_rng(rng.integers(_SEEDS))
            mechanism = clone(perturber).set_params(random_state=state, output=output)
            released.append(mechanism.fit(documents).transform(documents))
        preparer = DocumentPreparer.from_perturber(perturber, output=output)
        preparer.set_params(random_state=seed)
        shown = preparer.get_params(deep=False) | {"embedding": id(perturber.embedding)}
        mechanism.set_params(output=perturber.output)
        cut = preparer.fit_transform(documents)
        whole = cut
        if perturber.document_length is not None:
            whole = clone(preparer).set_params(document_length=None)
            whole = whole.fit_transform(documents)
        key = repr(sorted(shown.items()))
        return Scene(mechanism, whole, cut, released, key, whole)


def prepare_releaser(
    releaser: Any,
    documents: Any,
    seed: int,
    n_releases: int,
    rng: np.random.Generator | None,
) -> Scene:
    """Release texts by protocol; those in clear are cut to the lengths of releases."""
    rule = "documents must hold texts or lists of words for a releaser of documents"
    if is_count_matrix(documents, rule):
        raise InvalidParameterError(f"{rule}, got a matrix of numbers.")
    fitted, released = fitted_releaser(releaser, documents), []
    with quiet(PrivacyLeakWarning):
        for _ in range(n_releases):
            noisy = with_noise(fitted, rng)
            texts = noisy.transform(documents)
            if not isinstance(texts, list) or not all(
                isinstance(text, str | list | tuple) for text in texts
            ):
                raise InvalidParameterError(
                    "perturber must release texts or lists of words, got "
                    f"{kind_of(texts)} of something else."
                )
            released.append(texts)
    cut = [
        words_of(document)[: len(words_of(text))]
        for document, text in zip(documents, released[0], strict=True)
    ]
    key = f"releaser {id(noisy)}"
    return Scene(noisy, documents, cut, released, key, documents)


def _through_noise(scene: Scene, seed: int) -> Any:
    """Documents as the noise changes them; in clear where memory is short."""
    if not isinstance(scene.perturber, DPWordPerturber):
        return scene.whole
    noisy = as_released(scene.perturber, scene.whole, seed)
    return scene.whole if noisy is None else noisy[0]


def default_adversaries(
    scene: Scene, targets: list[str], n_known: int, random_state: int
) -> list[Adversary]:
    """The adversaries of the 2019 paper that are installed, linear models, and Bayes.

    Of other releasers, those that need no embedding. `n_known`: the smallest number of
    documents in any fit.
    """
    if not isinstance(scene.perturber, DPWordPerturber):
        models = adversaries_of_texts(random_state)
        return _named(models, ChannelNaiveBayes(scene.perturber), targets)
    embedding = scene.perturber.embedding_
    fasttext = find_spec("floret") is not None
    models = paper_adversaries(
        embedding,
        topic_model="fasttext" if fasttext else "linear",
        random_state=random_state,
    )
    if not fasttext:
        del models["DRtopic"]
    models["SRtopic"].set_params(n_neighbors=min(5, n_known))
    linear = linear_topic_classifier(embedding)
    channel = None
    if isinstance(scene.whole, list):  # with words unknown to the embedding
        # words as the release spells them, without those that have no vector
        preparer = DocumentPreparer(
            embedding,
            lowercase=False,
            stop_words=None,
            token_pattern=r"\S+",
            output="bow",
        )
        for name in ("SRauth", "SRtopic"):
            models[name] = make_pipeline(preparer, models[name])
        every_word = CountVectorizer(lowercase=False, token_pattern=r"\S+")
        linear = tfidf_regression(every_word)
    else:
        models |= _of_both("channel", ChannelNaiveBayes())
        channel = bayes_of_released()
        if scene.through is scene.whole:
            channel = ChannelNaiveBayes(
                scene.perturber, n_draws=N_DRAWS, random_state=random_state
            )
    return _named(models | _of_both("linear", linear), channel, targets)


def adversaries_of_texts(random_state: int) -> dict[str, Any]:
    """Those that need no embedding."""
    words = CountVectorizer(analyzer=words_of, dtype=np.float64)
    return {
        "DRauth": KoppelAuthorClassifier(random_state=random_state),
        **_of_both("linear", tfidf_regression(words)),
        **_of_both("channel", make_pipeline(words, ChannelNaiveBayes())),
    }


def _of_both(name: str, model: Any) -> dict[str, Any]:
    return {f"{name} {target}": model for target in _TARGETS}


def _named(models: dict[str, Any], channel: Any, targets: list[str]) -> list[Adversary]:
    """Adversaries in the order of a report; `channel` is one who knows the noise."""
    return [
        Adversary(name, models[name], target, channel if "channel" in name else None)
        for target in targets
        for name in _NAMES[target]
        if name in models
    ]


def check_adversaries(adversaries: Any, with_topics: bool) -> list[Adversary]:
    """The user's own, as name to (classifier, target)."""
    rule = "adversaries must map names to pairs of a classifier and 'author' or 'topic'"
    if not isinstance(adversaries, dict) or not adversaries:
        raise InvalidParameterError(f"{rule}, got {kind_of(adversaries)}.")
    checked = []
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
        checked.append(Adversary(str(name), pair[0], pair[1]))
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


def _attack_all(
    scenes: list[Scene],
    splits: Any,
    labels: dict[str, np.ndarray],
    trained_on: str,
    n_jobs: int | None,
    verbose: int,
) -> list[Attempt]:
    """All adversaries on all releases; those who know originals are fitted once."""
    trials: list[Trial] = []
    # for each attacked set of each trial, the scenes that it speaks of, and its part
    places: list[list[tuple[list[int], str, str]]] = []

    def plan(
        adversary: Adversary, known: Any, asked: list[tuple[Any, list[int], str]]
    ) -> None:
        sets = [data for data, *_ in asked]
        trials.append(Trial(adversary.model, labels[adversary.target], known, sets))
        places.append([(where, adversary.name, part) for _, where, part in asked])

    released = [
        [(data, [i], "originals") for data in scene.released]
        for i, scene in enumerate(scenes)
        if trained_on != "releases"
    ]
    same_clear: dict[str, list[int]] = {}
    for i, scene in enumerate(scenes):
        same_clear.setdefault(scene.key, []).append(i)
    for members in same_clear.values():
        first = scenes[members[0]]
        clear = [(first.whole, members, "clean"), (first.cut, members, "cut")]
        of_all = [data for i in members if released for data in released[i]]
        for adversary in first.adversaries:
            asked = clear + of_all if adversary.informed is None else clear
            plan(adversary, first.whole, asked)
    for i, scene in enumerate(scenes):
        for adversary in scene.adversaries:
            if adversary.informed is not None and released:
                informed = adversary._replace(model=adversary.informed)
                plan(informed, scene.through, released[i])
        for data in scene.released if trained_on != "originals" else ():
            for adversary in scene.adversaries:
                plan(adversary, data, [(data, [i], "releases")])
    with show_progress(verbose):
        answers = run_trials(trials, splits, n_jobs, "attacks")
    hits: dict[tuple[int, str, str], list[np.ndarray]] = {}
    for shares, place in zip(answers, places, strict=True):
        for share, (where, name, part) in zip(shares, place, strict=True):
            for i in where:
                hits.setdefault((i, name, part), []).append(share)
    return [
        Attempt(
            i,
            name,
            target,
            known,
            *(np.mean(hits[i, name, part], axis=0) for part in ("clean", "cut", known)),
        )
        for i, scene in enumerate(scenes)
        for name, _, target, _ in scene.adversaries
        for known in ("originals", "releases")
        if (i, name, known) in hits
    ]


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
