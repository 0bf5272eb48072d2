"""How well the releases of two documents can be told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from skdptext.audit._bounds import bounds_both_ways, largest_bound, parted
from skdptext.base import fitted_releaser
from skdptext.documents import row_keys
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import (
    auc,
    check_integer,
    check_real,
    check_rng,
    is_count_matrix,
    log_ratio_bound,
    progress_bar,
    quiet,
    wrapped,
)

# We release a document so many times per call: a call for each would spend its time on
# checks, and one call for all would hold every release. Chosen, not measured.
_AT_ONCE = 500
# The rate at which the adversary may be wrong about the second document: the smaller,
# the more ε it can show, and the fewer releases it shows it in. Chosen, not measured.
_FALSE_POSITIVES = 0.01
# Pseudo-counts of the token statistics. Small ones trust rare tokens, large ones only
# frequent ones. We cannot know which are right: a quarter of the releases chooses.
_SHRINKAGE = (0.5, 5.0, 50.0)
# We try the occurrence of so many single tokens as events, in each order of the two
# documents. Among more of them the choice would fall on chance. Chosen, not measured.
_SINGLES = 10
# We simulate so many draws per word of the two documents where the mechanism does not
# state its probabilities. More would sharpen the statistic; the bound is valid anyway.
_DRAWS = 1000
# Standard errors by which another statistic must beat the likelihood ratio.
_CLEARLY = 5


class DocumentPairAudit:
    """Result of `audit_document_pair`: how well two documents are told apart.

    Attributes
    ----------
    statistic : {"likelihood", "tokens"}
        What tells releases of x from releases of y: their likelihood ratio by the
        stated mechanism, or what tokens the releases show, where this is clearly
        better on the half of the releases that chooses.
    auc : float
        Probability that the statistic of a release of x is above that of a release of
        y; 0.5 for guessing.
    accuracy : float
        Share of right answers by the sign of the statistic, if x and y are equally
        likely.
    true_positives : float
        Share of the releases of x that are recognised if 1 % of the releases of y may
        be mistaken for x. The threshold is chosen on other releases.
    lower_bound : float
        Lower bound on the exponent between the documents, in nats, which holds with
        probability `confidence`; for the order of x and y in which it comes closer to
        the claim.
    event : str
        What shows the lower bound: a likelihood ratio, an average over tokens, or how
        often a release has a certain token.
    claimed : float
        The guarantee's upper bound in this order; inf if lengths are released and the
        documents have different ones.
    violated : bool
        ``lower_bound > claimed``: the guarantee is false.
    largest_bound : float
        The largest lower bound that this number of releases can show. The audit says
        nothing about larger claims.
    ratios : tuple of ndarray of shape (n_releases,)
        Log-likelihood ratios of the releases of x, and of the releases of y.
    confidence : float
        As given.
    """

    def __init__(
        self,
        ratios: tuple[np.ndarray, np.ndarray],
        tokens: sp.csc_matrix,
        names: list[str],
        claims: tuple[float, float],
        confidence: float,
        rng: np.random.Generator,
    ) -> None:
        self.ratios = ratios
        self.confidence = confidence
        learns, chooses, measures = parted(len(ratios[0]), rng)
        scores, events = _token_scores(tokens, names, learns)
        scores = np.column_stack([np.concatenate(ratios), scores])
        events = ["the likelihood ratio", *events]
        level = (1 - confidence) / 4  # two limits, in each of two orders
        chosen, measured = scores[chooses], scores[measures]

        aucs = np.array([auc(*np.split(c, 2)) for c in chosen.T])
        clearly = _CLEARLY / math.sqrt(3 * len(chooses))
        best = int(np.argmax(aucs - clearly * (np.arange(len(aucs)) > 0)))
        self.statistic = "tokens" if best else "likelihood"
        of_x, of_y = np.split(measured[:, best], 2)
        self.auc = auc(of_x, of_y)
        right = (of_x > 0).mean() + (of_y < 0).mean()
        right += ((of_x == 0).mean() + (of_y == 0).mean()) / 2
        self.accuracy = float(right / 2)
        negatives = np.split(chosen[:, best], 2)[1]
        threshold = np.quantile(negatives, 1 - _FALSE_POSITIVES, method="higher")
        self.true_positives = float((of_x > threshold).mean())

        self.largest_bound = largest_bound(len(measures) // 2, level)
        bounds, shown = zip(*bounds_both_ways(chosen, measured, level), strict=True)
        # equal claims, such as two of inf: the larger bound decides
        which = 0 if bounds[0] - claims[0] >= bounds[1] - claims[1] else 1
        if claims[0] == claims[1]:
            which = int(np.argmax(bounds))
        self.lower_bound, self.claimed = bounds[which], claims[which]
        self.event = events[shown[which]]
        # A claim that holds with equality must not fail because of rounding.
        self.violated = self.lower_bound > self.claimed * (1 + 1e-12)

    def __repr__(self) -> str:
        return (
            f"DocumentPairAudit(auc={self.auc:.3f}, "
            f"lower_bound={self.lower_bound:.3g}, claimed={self.claimed:.4g})"
        )

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        head = (
            f"Releases of the two documents are told apart with an AUC of at least "
            f"{self.auc:.3f} ({len(self.ratios[0])} of each); at 1 % false positives "
            f"at least {self.true_positives:.1%} are recognised. The exponent between "
            f"them is at least {self.lower_bound:.3g} (confidence "
            f"{self.confidence:g}), and at most {self.claimed:.4g} by the guarantee"
        )
        if self.violated:
            return f"{head}. The guarantee is false."
        if self.claimed >= self.largest_bound:
            return (
                f"{head}. This number of releases can only show exponents up to "
                f"{self.largest_bound:.3g}: nothing is said about the claim."
            )
        return f"{head}. No violation was found; that does not prove privacy."


def audit_document_pair(
    perturber: Any,
    x: Any,
    y: Any,
    *,
    n_releases: int = 1000,
    confidence: float = 0.99,
    random_state: Any = None,
    verbose: int = 0,
) -> DocumentPairAudit:
    """Test which of two documents was released, by likelihood ratio and by tokens.

    Parameters
    ----------
    perturber : fitted DPWordPerturber, or any releaser with `log_likelihood`
        Such as `~skdptext.DPDocumentReplacer`. Its own `transform` makes the releases,
        and its own `guarantee` the claim. The `output` of a perturber says whether
        order is released.
    x, y : str or list of str
        Two documents.
    n_releases : int >= 100, default=1000
        Releases of each document.
    confidence : float in [0.5, 1), default=0.99
        Probability that a true claim is not called violated.
    random_state : None, int or numpy.random.Generator, default=None
        For the simulation, and for choosing the releases that set the threshold. The
        noise of the releases comes from the perturber: where its own `random_state` is
        an integer, each release has its own id, and a Generator moves on.
    verbose : int, default=0
        Above 0, show progress bars on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    audit : DocumentPairAudit
        What was found; printed, it says so in a sentence.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    See Also
    --------
    audit_word_privacy : Pairs of words, from released words alone.
    skdptext.attacks.linkage_attack : Many candidates.

    Notes
    -----
    *Membership.* To ask whether a document contains a certain word, pass the document
    as x, and the same document with that word replaced as y.

    *Method.* One statistic is ln Pr[release | x] − ln Pr[release | y], by the
    perturber's `log_likelihood`. By the lemma of Neyman and Pearson no other
    test is better for a text in order, if the mechanism does what it says; for bags the
    statistic is an approximation. The others need no mechanism. They count what the
    releases show: each token (also unknown ones), the number of tokens, the release as
    a whole, and weighted averages of their presence. A quarter of the releases learns
    the weights, a quarter chooses a statistic and a threshold, which define the event
    S: the statistic is above the threshold. On the other half, Clopper–Pearson limits
    bound ln(Pr[S | x] / Pr[S | y]) from below, and no true exponent is smaller than
    this. The bound is valid however rough the statistic is.

    *Limits.* A fault is found if it moves the likelihood ratio or the counts of tokens.
    One that hides in the order of words, in counts of several words together, or
    outside the released text, such as in time or memory, is not, unless it shows in the
    likelihood ratio. Nor is one that occurs with other documents only.

    *Power.* Bounds above `largest_bound`, about ln(n_releases) − 2.4, cannot be shown;
    exponents between documents are usually far larger.

    *Privacy.* An audit can show a violation; it never proves privacy. The result is
    computed from x and y, which should be public.

    References
    ----------
    .. [1] Tests of hypotheses on released text are the subject of arXiv:2603.22968.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_document_pair
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [2.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1.0, document_length=2,
    ...     tokenizer=str.split)
    >>> audit = audit_document_pair(perturber.fit([]), "a a", "a b", random_state=0)
    >>> audit.violated
    False
    """
    releaser = fitted_releaser(perturber, [x, y])
    n_releases = check_integer("n_releases", n_releases, low=100)
    confidence = check_real("confidence", confidence, low=0.5, high=1, open_high=True)
    check_integer("verbose", verbose, low=0)
    rng = check_rng(random_state)
    claims = releaser.exponent(x, y), releaser.exponent(y, x)
    with quiet(PrivacyLeakWarning):
        likelihood = releaser.likelihood(
            [x, y], n_draws=_DRAWS, random_state=rng, verbose=verbose
        )
        ratios, releases = [], []
        total = 2 * n_releases
        with progress_bar(verbose, "audit", total=total, unit="release") as bar:
            for released in _releases(releaser, (x, y), n_releases):
                of_x, of_y = likelihood(released).T
                # a release that neither document can give tells nothing of them
                neither = np.isneginf(of_x) & np.isneginf(of_y)
                ratios.append(np.where(neither, 0.0, of_x) - np.where(neither, 0, of_y))
                if isinstance(released, np.ndarray) and released.ndim == 1:
                    released = [[str(label)] for label in released.tolist()]
                releases.append(released)
                bar.update(len(of_x))
    of_x, of_y = np.split(np.concatenate(ratios), 2)
    tokens, names = _tokens(releases)
    return DocumentPairAudit((of_x, of_y), tokens, names, claims, confidence, rng)


def _releases(releaser: Any, documents: Iterable[Any], n: int) -> Iterable[Any]:
    """`n` releases of each document, in batches, by the object itself."""
    repeats = isinstance(getattr(releaser, "random_state", None), Integral)
    ids = itertools.count()
    for document in documents:
        for start in range(0, n, _AT_ONCE):
            n_here = min(_AT_ONCE, n - start)
            # a repeatable release has different noise for every id
            own = list(itertools.islice(ids, n_here))
            given = {"document_ids": own} if repeats else {}
            released = releaser.transform([document] * n_here, **given)
            n_rows = released.shape[0] if hasattr(released, "shape") else len(released)
            if n_rows != n_here:
                raise InvalidParameterError(
                    "transform of perturber must give one release per document, got "
                    f"{n_rows} for {n_here}."
                )
            yield released


def _tokens(batches: list[Any]) -> tuple[sp.csc_matrix, list[str]]:
    """What an observer can count in each release, and what the columns are.

    The tokens, known or not; how many there are; and the release as a whole.
    """
    if is_count_matrix(batches[0]):
        counts = sp.vstack([sp.csr_array(batch) for batch in batches], format="csr")
        names = [f"token {j}" for j in range(counts.shape[1])]
        wholes: list[Any] = row_keys(counts)
        if counts.nnz and counts.data.min() < 0:  # vectors, of which nothing is a count
            counts, names = counts[:, :0], []
    else:
        releases = [
            release.split() if isinstance(release, str) else list(release)
            for release in itertools.chain.from_iterable(batches)
        ]
        vectorizer = CountVectorizer(analyzer=lambda tokens: ["", *tokens])
        counts = vectorizer.fit_transform(releases)[:, 1:]
        names = [f"token {t!r}" for t in vectorizer.get_feature_names_out()[1:]]
        wholes = [tuple(tokens) for tokens in releases]
    _, which = np.unique([hash(whole) for whole in wholes], return_inverse=True)
    rows = np.arange(len(which))
    whole = sp.csr_array((np.ones(len(which)), (rows, which)))
    # one that occurs once can be no evidence
    often = np.flatnonzero(np.bincount(which) > 1)
    names += ["the number of tokens"] + ["the whole release"] * len(often)
    lengths = sp.csr_array(counts.sum(axis=1).reshape(-1, 1))
    return sp.hstack([counts, lengths, whole[:, often]], format="csc"), names


def _token_scores(
    tokens: sp.csc_matrix, names: list[str], learns: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Statistics of all releases that some of them, half of x and half of y, suggest.

    Averages of log ratios over the tokens of a release, and counts of those single
    tokens whose presence tells most.
    """
    m = len(learns) // 2
    halves = [tokens[part].sign() for part in np.split(learns, 2)]
    hits = np.vstack([np.asarray(half.sum(axis=0)) for half in halves])
    weights = []
    for shrinkage in _SHRINKAGE:
        seen, unseen = np.log(hits + shrinkage), np.log(m - hits + shrinkage)
        weights.append(seen[0] - unseen[0] - seen[1] + unseen[1])
    averages = tokens.sign() @ np.column_stack(weights)
    level = 0.01
    shown = [log_ratio_bound(h, np.array([m, m]), level) for h in (hits, hits[::-1])]
    singles = np.unique(np.argsort(-np.array(shown), axis=1)[:, :_SINGLES])
    scores = np.column_stack([averages, tokens[:, singles].toarray()])
    middle = np.mean(
        [scores[part].mean(axis=0) for part in np.split(learns, 2)], axis=0
    )
    events = ["an average over tokens"] * len(weights)
    return scores - middle, events + [names[j] for j in singles]
