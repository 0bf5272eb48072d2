"""How well a perturber hides the authors of a corpus, and how well topics survive."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skdptext.attacks import Attributions, Linkages, attribution_attack, linkage_attack
from skdptext.base import perturbs_words
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection._obfuscation import (
    ObfuscationReport,
    ReportedRelease,
    noise_name,
)
from skdptext.metrics import words_unchanged
from skdptext.utils import (
    check_bags,
    check_flag,
    check_rng,
    is_count_matrix,
    quiet,
)

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
    random_state: Any = None,
    **options: Any,
) -> ObfuscationReport:
    """Answer "how well hidden is my corpus?" by attacking it.

    Adversaries who know some of the documents, with their authors and topics, attribute
    the others: in clear, and as released. Their accuracy on authors should fall to
    chance; their accuracy on topics should not.

    Parameters
    ----------
    documents, authors, topics, perturber : object
        As for `skdptext.attacks.attribution_attack`.
    linkage : bool, default=True
        Also report how many documents are identified by an adversary who knows the
        mechanism and holds 100 of them, or all if there are fewer, in clear
        (`skdptext.attacks.linkage_attack`).
    random_state : None, int or numpy.random.Generator, default=None
        Of the attacks. It protects nothing.
    **options : object
        As for `skdptext.attacks.attribution_attack`: `adversaries`, `trained_on`, `cv`,
        `groups`, `n_releases`, `n_jobs`, `verbose`.

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
    skdptext.attacks.attribution_attack : The attacks on authors and topics.
    skdptext.attacks.WordReconstructionAttack : Looks for words.

    Notes
    -----
    *Intervals.* Clopper and Pearson's, at 95 %, over documents. The strongest adversary
    is chosen on half of the documents that are held out, and all are scored on the
    other half, so that the choice makes no accuracy larger than it is. A document that
    is attacked several times (several releases, overlapping splits) counts once, with
    its mean. The intervals describe how the accuracy would vary over other documents of
    the same authors, not over other authors. They are too narrow where documents are
    alike, such as those of one group or, for topics, of one author.

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
    >>> author, topic = report.scores["author"], report.scores["topic"]
    >>> author.clear, topic.clear
    (1.0, 1.0)
    >>> author.value < topic.value
    True
    """
    check_flag("linkage", linkage)
    attack = attribution_attack(
        documents, authors, topics, perturber, random_state=random_state, **options
    )
    rows = list(attack.rows)
    said: list[str] = []
    if linkage:
        rng = None if random_state is None else check_rng(random_state)
        for i, fitted in enumerate(attack.perturbers):
            linkages = _link(fitted, attack, rng)
            rows += [replace(row, release=i) for row in linkages.rows]
            said.append(linkages.in_words())
    releases = [_describe(fitted, attack) for fitted in attack.perturbers]
    return ObfuscationReport(rows, releases, attack, linked=said)


def _link(
    perturber: Any, attack: Attributions, rng: np.random.Generator | None
) -> Linkages:
    """Linkage by an adversary who holds the documents: which one was released?"""
    n = len(attack.authors)
    rows = np.random.default_rng(0).permutation(n)[:_CANDIDATES]
    documents = attack.documents
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


def _describe(perturber: Any, attack: Attributions) -> ReportedRelease:
    """The facts of a release that need no attack."""
    noise, lam, changed = type(perturber).__name__, math.nan, math.nan
    documents, keeps_unknown = attack.documents, False
    if perturbs_words(perturber):
        lam, keeps_unknown = float(perturber.lam), perturber.oov == "keep"
        noise = noise_name(perturber.mechanism, lam)
        with quiet(PrivacyLeakWarning):
            changed = 1 - words_unchanged(perturber, documents)
            documents = perturber.known_words(documents)
    return ReportedRelease(
        noise=noise,
        epsilon=float(getattr(perturber, "epsilon", math.nan)),
        lam=lam,
        words_changed=changed,
        guarantee=perturber.guarantee(),
        exponent=_typical_exponent(perturber, documents, attack),
        n_empty=sum(not (x.strip() if isinstance(x, str) else x) for x in documents),
        keeps_unknown=keeps_unknown,
    )


def _typical_exponent(perturber: Any, words: list[Any], attack: Attributions) -> float:
    """Median exponent between documents of different authors, on one topic if any."""
    of_words = perturbs_words(perturber)
    # lengths, or unknown words, are released unchanged
    if of_words and (perturber.document_length is None or perturber.oov == "keep"):
        return math.inf
    guarantee = perturber.guarantee()
    rng = np.random.default_rng(0)
    exponents: list[float] = []
    for first in rng.permutation(len(words)):
        other = attack.authors != attack.authors[first]
        if attack.topics is not None:
            same = other & (attack.topics == attack.topics[first])
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
