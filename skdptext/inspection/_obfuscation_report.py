"""How well a perturber hides who wrote a corpus, and how well the topic survives."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from skdptext.exceptions import (
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.inspection._obfuscation_attacks import (
    SEEDS,
    Adversary,
    Labels,
    Tally,
    Trial,
    chance_levels,
    check_adversaries,
    check_labels,
    default_adversaries,
    make_splits,
    run_trials,
    shuffled_chance,
    wilson,
)
from skdptext.inspection._obfuscation_result import ObfuscationReport, Release
from skdptext.inspection._obfuscation_scenes import (
    Scene,
    check_documents,
    check_perturbers,
    describe,
    prepare,
)
from skdptext.utils import (
    check_integer,
    check_n_jobs,
    check_option,
    check_real,
    check_rng,
    is_count_matrix,
)
from skdptext.utils._labels import as_labels

__all__ = ["obfuscation_report"]


def obfuscation_report(
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
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ObfuscationReport:
    """Answer "how well hidden is my corpus?" by attacking it.

    Adversaries who know part of the documents, with their authors and topics, attribute
    the rest: in clear, and as released. What they get right of the authors should fall
    to chance; what they get right of the topics should not.

    Parameters
    ----------
    documents : iterable of str, of lists of str, or bags (n_documents, n_words)
        What is to be released, each with one author.
    authors : array-like of shape (n_documents,)
        Who wrote each.
    topics : array-like of shape (n_documents,), default=None
        What each is about. None: only authors are asked for.
    perturber : DPWordPerturber, or a list of them
        The releases to compare, such as one per ε and λ; fitted or not. Their
        `random_state` is not used: an adversary does not know it.
    adversaries : dict, default=None
        Name to pair of a classifier and ``"author"`` or ``"topic"``; the classifiers
        take bags-of-words (texts, with ``oov="keep"``). None: ``"SRauth"``,
        ``"SRtopic"`` (Word Mover's Distance neighbours), ``"DRauth"`` (Koppel) and
        ``"DRtopic"`` (fastText, where it is installed) of
        `skdptext.attacks.paper_adversaries`, and ``"linear author"`` and
        ``"linear topic"``, logistic regression on tf-idf weights.
    trained_on : {"both", "originals", "releases"}, default="both"
        What the adversaries know: documents in clear, as in [1]_, prepared and cut to
        `document_length` as those under attack; or documents that
        they put through the mechanism themselves, as anyone can who knows ε and λ; or
        each of the two in turn.
    cv : int, splitter or iterable of (known, held out), default=None
        Which documents are known, and which are attacked. An int: so many shuffled
        folds with all authors in each. None: 5 of these, or as many as the author
        with the fewest documents has.
    groups : array-like of shape (n_documents,), default=None
        Documents of one group, such as chapters of one story, are never both known and
        attacked.
    n_releases : int, default=1
        Attack so many independent releases, and average.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes splits, adversaries, the noise of the releases under attack and what the
        warning of topics compares with. Nothing is protected by it.
    n_jobs : int, default=None
        Processes over adversaries and splits. The result does not depend on it.

    Returns
    -------
    report : ObfuscationReport
        Prints as a table, shows as HTML in a notebook; ``to_frame()`` and ``plot()``.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule; before any attack.

    See Also
    --------
    ObfuscationDisplay : The figure.
    skdptext.attacks.WordReconstructionAttack : Which *word* was it?

    Notes
    -----
    *Intervals.* Wilson's, for the number of distinct documents held out. A document
    that is attacked several times (several releases, overlapping splits) counts once,
    with its mean. They say how the accuracy would vary over other documents of the same
    authors, not over other authors, and are too narrow where documents are alike, as
    those of one group or, for topics, of one author. The strongest adversary is chosen
    after the fact, so its accuracy is a little high, for topics as for authors.

    *The topic gives the author away* is a warning where the most frequent author of
    each topic is right more often, by over 0.1, than on average over 199 random
    permutations of the authors, and at least as often in at most 5 % of them (a
    permutation test). Authors are permuted over the documents, or over `groups` where
    each has one author. With few documents a topic this share is high for any authors.

    *Privacy.* An adversary who fails proves nothing about the next one; the guarantee
    does, and it is shown. The report is computed from the documents in clear and is as
    private as they are; so is an ε that was chosen by it, unless the documents are
    public or of people who agreed.

    *Cost.* Each perturber releases all documents `n_releases` times; each adversary is
    fitted once per split on originals, and once per split and release on releases.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019, section 6.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.inspection import obfuscation_report
    >>> embedding = WordEmbedding(
    ...     ["cat", "dog", "tea", "milk"], [[0.0], [1.0], [9.0], [8.0]])
    >>> documents = ["cat cat cat", "tea tea tea", "dog dog dog", "milk milk milk"] * 6
    >>> authors = ["ann", "ann", "bob", "bob"] * 6
    >>> topics = ["pets", "drinks"] * 12
    >>> perturber = DPWordPerturber(embedding, epsilon=0.5, document_length=3)
    >>> report = obfuscation_report(
    ...     documents, authors, topics, perturber, random_state=0)
    >>> author, topic = report.strongest(), report.strongest(target="topic")
    >>> author["clean"], topic["clean"]
    (1.0, 1.0)
    >>> author["noisy"] < topic["noisy"]
    True
    """
    perturbers = check_perturbers(perturber)
    documents = check_documents(documents)
    n_documents = documents.shape[0] if is_count_matrix(documents) else len(documents)
    labels = Labels(
        check_labels("authors", authors, n_documents),
        None if topics is None else check_labels("topics", topics, n_documents),
    )
    check_option("trained_on", trained_on, ("both", "originals", "releases"))
    n_releases = check_integer("n_releases", n_releases, low=1)
    confidence = check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )
    check_n_jobs(n_jobs)
    fresh = random_state is None
    rng = check_rng(random_state)
    if groups is not None:
        groups = as_labels("groups", groups)
    splits = make_splits(cv, labels.author, groups, int(rng.integers(SEEDS)))
    given = None
    if adversaries is not None:
        given = check_adversaries(adversaries, topics is not None)
    n_known = min(len(known) for known, _ in splits)
    attack_seed = int(rng.integers(SEEDS))

    with warnings.catch_warnings():
        # what they say stands in the report
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        warnings.simplefilter("ignore", OutOfVocabularyWarning)
        scenes = [
            prepare(p, documents, attack_seed, n_releases, None if fresh else rng)
            for p in perturbers
        ]
    for scene in scenes:
        scene.adversaries.extend(
            given
            if given is not None
            else default_adversaries(
                scene.perturber.embedding_,
                as_text=isinstance(scene.originals, list),
                with_topics=topics is not None,
                n_known=n_known,
                random_state=attack_seed,
            )
        )
    rows = _attack_all(scenes, splits, labels, trained_on, n_jobs)
    attacked = np.unique(np.concatenate([held for _, held in splits]))
    strangers = [h[~np.isin(labels.author[h], labels.author[k])] for k, h in splits]
    releases = [describe(scene, documents, labels) for scene in scenes]
    shuffled = None
    if labels.topic is not None:
        shuffled = shuffled_chance(
            labels.author[attacked],
            labels.topic[attacked],
            None if groups is None else groups[attacked],
            rng,
        )
    return _as_report(
        rows,
        releases,
        labels,
        attacked,
        shuffled,
        len(np.unique(np.concatenate(strangers))),
        confidence,
        len(splits),
        n_releases,
        given is None,
    )


class _Row(NamedTuple):
    """One line of the report, in numbers of documents."""

    scene: int
    adversary: Adversary
    trained_on: str
    clean: Tally
    noisy: Tally


def _attack_all(
    scenes: list[Scene],
    splits: Any,
    labels: Labels,
    trained_on: str,
    n_jobs: int | None,
) -> list[_Row]:
    """All adversaries on all releases; who knows originals is fitted once for all."""
    groups: dict[str, list[int]] = {}
    for i, scene in enumerate(scenes):
        groups.setdefault(scene.key, []).append(i)
    trials, places = [], []
    for members in groups.values():
        first = scenes[members[0]]
        attacked = [first.originals]
        for i in members if trained_on != "releases" else ():
            attacked += scenes[i].released
        trials.append(Trial(first.originals, attacked, first.adversaries))
    n_clean = len(trials)
    for i, scene in enumerate(scenes if trained_on != "originals" else ()):
        for released in scene.released:
            trials.append(Trial(released, [released], scene.adversaries))
            places.append(i)
    tallies = run_trials(trials, splits, labels, n_jobs)

    clean: dict[tuple[int, int], Tally] = {}
    rows = []
    for members, answers in zip(groups.values(), tallies[:n_clean], strict=True):
        for a, (own, *noisy) in enumerate(answers):
            n_each = len(noisy) // len(members)
            for j, i in enumerate(members):
                clean[i, a] = own
                if noisy:
                    part = noisy[j * n_each : (j + 1) * n_each]
                    adversary = scenes[i].adversaries[a]
                    rows.append(_Row(i, adversary, "originals", own, _sum(part)))
    informed: dict[tuple[int, int], list[Tally]] = {}
    for i, answers in zip(places, tallies[n_clean:], strict=True):
        for a, (tally,) in enumerate(answers):
            informed.setdefault((i, a), []).append(tally)
    for (i, a), parts in informed.items():
        adversary = scenes[i].adversaries[a]
        rows.append(_Row(i, adversary, "releases", clean[i, a], _sum(parts)))
    order = {a.name: k for scene in scenes for k, a in enumerate(scene.adversaries)}
    return sorted(rows, key=lambda r: (r.scene, order[r.adversary.name], r.trained_on))


def _sum(tallies: list[Tally]) -> Tally:
    total = Tally(len(tallies[0].tries))
    for tally in tallies:
        total.tries += tally.tries
        total.hits += tally.hits
    return total


def _as_report(
    rows: list[_Row],
    releases: list[Release],
    labels: Labels,
    attacked: np.ndarray,
    shuffled: np.ndarray | None,
    n_strangers: int,
    confidence: float,
    n_splits: int,
    n_releases: int,
    defaults: bool,
) -> ObfuscationReport:
    author = labels.author[attacked]
    topic = None if labels.topic is None else labels.topic[attacked]
    chance = {"author": chance_levels(author, topic)}
    if topic is not None:
        chance["topic"] = chance_levels(topic, author)
    table = []
    for row in rows:
        release = releases[row.scene]
        line: dict[str, Any] = {
            "release": row.scene,
            "epsilon": release.epsilon,
            "lam": release.lam,
            "adversary": row.adversary.name,
            "target": row.adversary.target,
            "trained_on": row.trained_on,
        }
        for name, tally in (("clean", row.clean), ("noisy", row.noisy)):
            share, n = tally.accuracy()
            low, high = wilson(share, n, confidence)
            line |= {name: share, f"{name}_low": low, f"{name}_high": high}
        levels = chance[row.adversary.target]
        line |= {f"chance_{name}": value for name, value in levels.items()}
        line |= {"n_documents": n, "words_changed": release.words_changed}
        table.append(line)
    return ObfuscationReport(
        results={key: np.array([line[key] for line in table]) for key in table[0]},
        releases=releases,
        author_counts=np.unique(labels.author, return_counts=True)[1],
        topic_counts=(
            None
            if labels.topic is None
            else np.unique(labels.topic, return_counts=True)[1]
        ),
        confidence=confidence,
        n_splits=n_splits,
        n_releases=n_releases,
        shuffled_chance=shuffled,
        n_strangers=n_strangers,
        default_adversaries=defaults,
    )
