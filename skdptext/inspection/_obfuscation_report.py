"""How well a perturber hides the authors of a corpus, and how well topics survive."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skdptext.attacks import (
    TRAINED_ON,
    Learning,
    check_adversaries,
    check_perturbers,
    label_scores,
    linkage_attack,
    make_splits,
    released_by,
    setting_of,
    take,
)
from skdptext.base import perturbs_words
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection._obfuscation import ObfuscationReport, ReportedRelease
from skdptext.mechanisms import resolve_mechanism
from skdptext.metrics import words_unchanged
from skdptext.utils import (
    check_bags,
    check_flag,
    check_integer,
    check_labels,
    check_n_jobs,
    check_option,
    check_rng,
    is_count_matrix,
    quiet,
    show_progress,
)

_SEEDS = 2**31 - 1
# Pairs of documents by different authors for which the guarantee is computed.
_PAIRS = 8
# Candidates, released documents, and simulated draws per word of the linkage attack.
# They give a rough answer in seconds, which underestimates the adversary.
_CANDIDATES, _TARGETS, _LINKAGE_DRAWS = 100, 50, 10


def obfuscation_report(
    documents: Any,
    authors: Any = None,
    topics: Any = None,
    perturber: Any = None,
    *,
    linkage: bool = True,
    adversaries: Any = None,
    trained_on: str = "both",
    cv: Any = None,
    groups: Any = None,
    n_releases: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ObfuscationReport:
    """Answer "how well hidden is my corpus?" by attacking it.

    Adversaries who know some of the documents, with their authors and topics, attribute
    the others: in the clear, and as released. Their accuracy on authors should fall to
    chance; their accuracy on topics should not.

    Parameters
    ----------
    documents : iterable of str, of lists of str, or bags (n_documents, n_words)
        The documents to be released.
    authors : array-like of shape (n_documents,)
        The author of each document.
    topics : array-like of shape (n_documents,), default=None
        The topic of each document. If None, only authors are attacked.
    perturber : DPWordPerturber or other releaser, or a list of them
        The releases to compare, such as one per ε and λ; fitted or not. Their
        `random_state` is not used: an adversary does not know it. Other releasers are
        those of texts that have ``transform``, ``log_likelihood`` and ``guarantee``,
        such as `~skdptext.DPDocumentReplacer`.
    linkage : bool, default=True
        Also report how many documents are identified by an adversary who knows the
        mechanism and holds 100 of them, or all if there are fewer, in the clear
        (`skdptext.attacks.linkage_attack`).
    adversaries : dict, default=None
        Maps names to pairs of a classifier and ``"author"`` or ``"topic"``. The
        classifiers take bags-of-words (texts, with ``oov="keep"`` and from other
        releasers). If None, linear models of words and of parts of words, naive Bayes,
        Koppel's method, fastText if it is installed, the nearest texts by Word Mover's
        Distance, of 300 documents at most, and naive Bayes that knows the distribution
        of the noise.
    trained_on : {"both", "originals", "releases"}, default="both"
        What the adversaries know: documents in the clear, whole; or documents that they
        release themselves, as anyone can who knows the mechanism; or each of these in
        turn.
    cv : int, splitter or iterable of (known, held out), default=None
        Which documents are known, and which are attacked. An int: the number of
        shuffled folds, stratified by author. If None, 5, or the number of documents of
        the author with the fewest.
    groups : array-like of shape (n_documents,), default=None
        Documents of the same group, such as chapters of one story, are never split
        between known and attacked documents. If None, near-copies, which have most of
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
    report : ObfuscationReport
        Printed as text, shown as HTML in a notebook; has ``to_frame()`` and ``plot()``.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule; before any attack.

    See Also
    --------
    release_report : The same questions, for releases of any tool.
    skdptext.attacks.WordReconstructionAttack : Looks for words.

    Notes
    -----
    *Intervals.* Clopper and Pearson's, at 95 %, over half as many documents: two that
    are most alike are attacked by what was learned from each other, and are named
    rightly or wrongly together. The strongest adversary is chosen on half of the
    documents that are held out, and all are scored on the other half, so that the
    choice makes no accuracy larger than it is. A document that is attacked several
    times (several releases, overlapping splits) counts once, with its mean. The
    intervals describe how the accuracy would vary over other documents of the same
    authors, not over other authors. They are too narrow where more documents are alike,
    such as those of one group or, for topics, of one author.

    *The topic gives the author away* is a warning. It appears if guessing the most
    frequent author of each topic is right more often, by over 0.1, than on average over
    199 random permutations of the authors, with a p-value of at most 5 % (a permutation
    test). Authors are permuted over the documents, or over `groups` where each has one
    author. With few documents per topic this share is high for any authors.

    *Privacy.* An adversary who fails proves nothing about the next one. Only the
    guarantee does, and the report shows it. The report is computed from the documents
    in the clear and is as private as they are. So is an ε chosen with it, unless
    the documents are public or their authors agreed.

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
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=0.5, document_length=3)
    >>> report = obfuscation_report(
    ...     documents, authors, topics, perturber, random_state=0)
    >>> author, topic = report.scores["author"], report.scores["topic"]
    >>> author.clear, topic.clear
    (1.0, 1.0)
    >>> author.value < topic.value
    True
    """
    check_flag("linkage", linkage)
    perturbers = check_perturbers(perturber)
    documents, labels, groups = _read(documents, authors, topics, groups)
    check_option("trained_on", trained_on, tuple(TRAINED_ON))
    check_integer("n_releases", n_releases, low=1)
    check_integer("verbose", verbose, low=0)
    check_n_jobs(n_jobs)
    rng = check_rng(random_state)
    noise, seed = None if random_state is None else rng, int(rng.integers(_SEEDS))
    splits = make_splits(cv, labels["author"], groups, documents, seed)
    asked = check_adversaries(adversaries, labels)
    learning = Learning(splits, trained_on=TRAINED_ON[trained_on], n_jobs=n_jobs)
    rows, fitted = [], []
    with show_progress(verbose):
        for i, source in enumerate(perturbers):
            releaser, texts = released_by(source, documents, n_releases, seed, noise)
            fitted.append(releaser)
            for target, models in asked.items():
                found = label_scores(
                    texts, labels[target], target, releaser,
                    learning._replace(adversaries=models),
                )  # fmt: skip
                rows += [replace(row, release=i) for row in found]
    setting = setting_of(labels, splits, groups, rng)
    some = np.random.default_rng(0).permutation(len(labels["author"]))[:_CANDIDATES]
    noise, said = None if random_state is None else check_rng(random_state), []
    for i, one in enumerate(fitted if linkage else []):
        linkages = linkage_attack(
            take(documents, some), one, n_targets=min(len(some), _TARGETS),
            n_draws=_LINKAGE_DRAWS, distances=False, random_state=noise,
        )  # fmt: skip
        rows += [replace(row, release=i) for row in linkages.rows]
        said.append(linkages.in_words())
    releases = [_describe(one, documents, labels) for one in fitted]
    return ObfuscationReport(rows, releases, setting, said)


def _read(
    documents: Any, authors: Any, topics: Any, groups: Any
) -> tuple[Any, dict[str, np.ndarray], np.ndarray | None]:
    """Documents that can be read more than once, and what belongs to each of them."""
    matrix = is_count_matrix(documents)
    documents = check_bags(documents) if matrix else list(documents)
    n = documents.shape[0] if matrix else len(documents)
    labels = {
        target: check_labels(f"{target}s", values, n, n_different=2)
        for target, values in (("author", authors), ("topic", topics))
        if target == "author" or values is not None
    }
    if groups is not None:
        groups = check_labels("groups", groups, n)
    return documents, labels, groups


def _describe(
    perturber: Any, documents: Any, labels: dict[str, np.ndarray]
) -> ReportedRelease:
    """The facts of a release that need no attack."""
    noise, lam, changed = type(perturber).__name__, math.nan, math.nan
    keeps_unknown = False
    if perturbs_words(perturber):
        lam, keeps_unknown = float(perturber.lam), perturber.oov == "keep"
        noise = f"λ = {lam:g}"
        if perturber.mechanism is not None:
            noise = f"{resolve_mechanism(perturber.mechanism)!r}, {noise}"
        with quiet(PrivacyLeakWarning):
            changed = 1 - words_unchanged(perturber, documents)
            documents = perturber.known_words(documents)
    return ReportedRelease(
        noise=noise,
        epsilon=float(getattr(perturber, "epsilon", math.nan)),
        lam=lam,
        words_changed=changed,
        guarantee=perturber.guarantee(),
        exponent=_typical_exponent(perturber, documents, labels),
        n_empty=sum(not (x.strip() if isinstance(x, str) else x) for x in documents),
        keeps_unknown=keeps_unknown,
    )


def _typical_exponent(
    perturber: Any, words: list[Any], labels: dict[str, np.ndarray]
) -> float:
    """Median exponent between documents of different authors, on one topic if any."""
    of_words = perturbs_words(perturber)
    # lengths, or unknown words, are released unchanged
    if of_words and (perturber.document_length is None or perturber.oov == "keep"):
        return math.inf
    guarantee, rng = perturber.guarantee(), np.random.default_rng(0)
    authors = labels["author"]
    topics = labels.get("topic", np.zeros(len(authors)))
    exponents: list[float] = []
    for first in rng.permutation(len(words)):
        other = authors != authors[first]
        same = other & (topics == topics[first])
        second = rng.choice(np.flatnonzero(same if same.any() else other))
        if (
            not of_words
            or guarantee.resampled
            or len(words[first]) == len(words[second]) == perturber.document_length
        ):
            exponents.append(guarantee.exponent(words[first], words[second]))
        if len(exponents) == _PAIRS:
            break
    return float(np.median(exponents)) if exponents else math.nan
