"""How well a perturber hides the authors of a corpus, and how well topics survive."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.special import ndtri

from skdptext.attacks import (
    Attributions,
    Linkages,
    attribution_attack,
    linkage_attack,
)
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection._obfuscation import (
    ObfuscationReport,
    ReportedRelease,
    noise_name,
)
from skdptext.metrics import words_unchanged
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    check_bags,
    check_flag,
    check_real,
    check_rng,
    is_count_matrix,
)

__all__ = ["obfuscation_report"]

# Pairs of documents by different authors for which the guarantee is computed.
_PAIRS = 8
# Candidates, released documents, and simulated draws per word of the linkage attack.
# They give a rough answer in seconds, which underestimates the adversary.
_CANDIDATES, _TARGETS, _LINKAGE_DRAWS = 100, 50, 10


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
    linkage: bool = True,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ObfuscationReport:
    """Answer "how well hidden is my corpus?" by attacking it.

    Adversaries who know some of the documents, with their authors and topics, attribute
    the others: in clear, and as released. Their accuracy on authors should fall to
    chance; their accuracy on topics should not.

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
        between known and attacked documents.
    n_releases : int, default=1
        Number of independent releases to attack and average over.
    linkage : bool, default=True
        Also report how many documents are identified by an adversary who knows the
        mechanism and holds 100 of them, or all if there are fewer, in clear
        (`skdptext.attacks.linkage_attack`).
    confidence : float in (0, 1), default=0.95
        Confidence of the intervals.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes splits, adversaries, the noise of the attacked releases and the
        permutations behind the warning about topics. It protects nothing.
    n_jobs : int, default=None
        Processes over adversaries and splits. The result does not depend on it.
    verbose : int, default=0
        Above 0, show a progress bar over adversaries and splits.

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
    ObfuscationDisplay : The figure.
    skdptext.attacks.attribution_attack : Its parts, document by document.
    skdptext.attacks.WordReconstructionAttack : Looks for words.

    Notes
    -----
    *Intervals.* Wilson's, for the number of distinct documents held out. A document
    that is attacked several times (several releases, overlapping splits) counts once,
    with its mean. The intervals describe how the accuracy would vary over other
    documents of the same authors, not over other authors. They are too narrow where
    documents are alike, such as those of one group or, for topics, of one author. The
    strongest adversary is chosen after the fact, so its accuracy is a little too high,
    for topics as for authors.

    *The topic gives the author away* is a warning. It appears if guessing the most
    frequent author of each topic is right more often, by over 0.1, than on average over
    199 random permutations of the authors, with a p-value of at most 5 % (a permutation
    test). Authors are permuted over the documents, or over `groups` where each has one
    author. With few documents per topic this share is high for any authors.

    *Privacy.* An adversary who fails proves nothing about the next one. Only the
    guarantee does, and the report shows it. The report is computed from the documents
    in clear and is as private as they are. So is an ε that was chosen with it, unless
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
    >>> perturber = DPWordPerturber(embedding, epsilon=0.5, document_length=3)
    >>> report = obfuscation_report(
    ...     documents, authors, topics, perturber, random_state=0)
    >>> author, topic = report.strongest(), report.strongest(target="topic")
    >>> author["clean"], topic["clean"]
    (1.0, 1.0)
    >>> author["noisy"] < topic["noisy"]
    True
    """
    check_flag("linkage", linkage)
    confidence = check_real(
        "confidence", confidence, low=0, high=1, open_low=True, open_high=True
    )
    attributions = attribution_attack(
        documents,
        authors,
        topics,
        perturber,
        adversaries=adversaries,
        trained_on=trained_on,
        cv=cv,
        groups=groups,
        n_releases=n_releases,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    linkages = []
    if linkage:
        rng = None if random_state is None else check_rng(random_state)
        linkages = [
            _link(fitted, attributions, rng) for fitted in attributions.perturbers
        ]
    releases = [_describe(fitted, attributions) for fitted in attributions.perturbers]
    table = []
    for attempt in attributions.attempts:
        release = releases[attempt.release]
        line: dict[str, Any] = {
            "release": attempt.release,
            "noise": release.noise,
            "epsilon": release.epsilon,
            "lam": release.lam,
            "adversary": attempt.adversary,
            "target": attempt.target,
            "trained_on": attempt.trained_on,
        }
        for name in ("clean", "cut", "noisy"):
            shares = getattr(attempt, name)
            shares = shares[~np.isnan(shares)]
            share, n = float(shares.mean()), len(shares)
            low, high = _wilson(share, n, confidence)
            line |= {name: share, f"{name}_low": low, f"{name}_high": high}
        levels = attributions.chance[attempt.target]
        line |= {f"chance_{name}": value for name, value in levels.items()}
        line |= {"n_documents": n, "words_changed": release.words_changed}
        table.append(line)
    return ObfuscationReport(
        results={key: np.array([line[key] for line in table]) for key in table[0]},
        releases=releases,
        author_counts=np.unique(attributions.authors, return_counts=True)[1],
        topic_counts=(
            None
            if attributions.topics is None
            else np.unique(attributions.topics, return_counts=True)[1]
        ),
        confidence=confidence,
        n_splits=attributions.n_splits,
        n_releases=int(n_releases),
        chance_if_unrelated=attributions.chance_if_unrelated,
        n_strangers=attributions.n_strangers,
        default_adversaries=adversaries is None,
        linkages=linkages,
    )


def _link(
    perturber: Any, attributions: Attributions, rng: np.random.Generator | None
) -> Linkages:
    """Linkage by an adversary who holds the documents: which one was released?"""
    n = len(attributions.authors)
    rows = np.random.default_rng(0).permutation(n)[:_CANDIDATES]
    documents = attributions.documents
    return linkage_attack(
        check_bags(documents)[rows]
        if is_count_matrix(documents)
        else [documents[i] for i in rows],
        perturber,
        n_targets=min(len(rows), _TARGETS),
        n_draws=_LINKAGE_DRAWS,
        distances=False,
        random_state=rng,
    )


def _describe(perturber: Any, attributions: Attributions) -> ReportedRelease:
    """The facts of a release that need no attack."""
    if not isinstance(perturber, DPWordPerturber):
        texts = attributions.documents
        return ReportedRelease(
            noise=type(perturber).__name__,
            epsilon=float(getattr(perturber, "epsilon", math.nan)),
            lam=math.nan,
            words_changed=math.nan,
            guarantee=perturber.guarantee(),
            exponent=_typical_exponent(perturber, texts, attributions),
            n_empty=sum(not (x.strip() if isinstance(x, str) else x) for x in texts),
            keeps_unknown=False,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        changed = 1 - words_unchanged(perturber, attributions.documents)
        words = perturber.known_words(attributions.documents)
    return ReportedRelease(
        noise=noise_name(perturber.mechanism, perturber.lam),
        epsilon=float(perturber.epsilon),
        lam=float(perturber.lam),
        words_changed=changed,
        guarantee=perturber.guarantee(),
        exponent=_typical_exponent(perturber, words, attributions),
        n_empty=sum(not w for w in words),
        keeps_unknown=perturber.oov == "keep",
    )


def _typical_exponent(
    perturber: Any, words: list[Any], attributions: Attributions
) -> float:
    """Median exponent between documents of different authors, on one topic if any."""
    of_words = isinstance(perturber, DPWordPerturber)
    # lengths, or unknown words, are released unchanged
    if of_words and (perturber.document_length is None or perturber.oov == "keep"):
        return math.inf
    guarantee = perturber.guarantee()
    rng = np.random.default_rng(0)
    exponents: list[float] = []
    for first in rng.permutation(len(words)):
        other = attributions.authors != attributions.authors[first]
        if attributions.topics is not None:
            same = other & (attributions.topics == attributions.topics[first])
            other = same if same.any() else other
        second = rng.choice(np.flatnonzero(other))
        if (
            not of_words
            or guarantee.resampled
            or len(words[first]) == len(words[second]) == perturber.document_length
        ):
            exponents.append(guarantee.exponent(words[first], words[second]))
        if len(exponents) == _PAIRS:
            break
    return float(np.median(exponents)) if exponents else math.nan


def _wilson(share: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval for a share of n."""
    z2 = ndtri((1 + confidence) / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = np.sqrt(z2 * share * (1 - share) / n + z2**2 / (4 * n**2)) / (1 + z2 / n)
    return float(max(0.0, centre - margin)), float(min(1.0, centre + margin))
