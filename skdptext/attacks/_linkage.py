"""Which document was it? Adversaries who hold candidates and see a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.attacks._documents import found_at_most, gathered
from skdptext.attacks._similarity import text_similarities
from skdptext.attacks._table import ScoreTable, make_halves
from skdptext.base import fitted_releaser, perturbs_words
from skdptext.exceptions import (
    EmptyDocumentWarning,
    InvalidParameterError,
    OutOfVocabularyWarning,
    PrivacyLeakWarning,
)
from skdptext.metrics import words_unchanged
from skdptext.utils import (
    check_integer,
    check_rng,
    is_count_matrix,
    lined_up,
    percent_up,
    quiet,
    sums_by_label,
    wrapped,
)

_SEEDS = 2**63
# Adversaries who know the mechanism, by whether words are perturbed, and whether they
# read a release in order.
_ORDERS = {True: {"ordered text": True, "bag": False}, False: {"likelihood": False}}
_LEARNED = (
    '"learned" combines the adversaries who know words, and "all, learned" all of '
    "them: how much each counts is learned from other documents and their releases."
)


@dataclass(eq=False, repr=False)
class Linkages(ScoreTable):
    """Which document was it? Adversaries compared, from `linkage_attack`.

    Attributes
    ----------
    rows : list of Score
        One per adversary, those first who know the mechanism, and last those who
        combine others;
        ``scores["linkage"]`` is the strongest.
    n_candidates, n_targets, n_releases : int
        Documents to choose from; documents that were released; releases of each.
    chance : float
        Success of a random guess: 1 / n_candidates.
    changed : float or None
        Share of the words that the noise changed; None where whole documents are
        replaced.
    bound : float or None
        Share of the documents that no adversary exceeds on average, by the guarantee;
        None where it promises none.
    """

    n_candidates: int
    n_targets: int
    n_releases: int
    changed: float | None
    bound: float | None

    @property
    def chance(self) -> float:
        """Success of a random guess."""
        return 1 / self.n_candidates

    def in_words(self) -> str:
        """The result in some sentences.

        Returns
        -------
        sentences : str
            What was found, and by whom.
        """
        best = self.scores["linkage"]
        least = math.floor(best.low * 1000) / 1000  # printed, it is not above the bound
        of = f"the strongest of {len(self.rows)}: " if len(self.rows) > 1 else ""
        times = "" if self.n_releases == 1 else f" {self.n_releases} times"
        noise, bound = "", ""
        if self.changed is not None:
            noise = f"The noise changed {self.changed:.1%} of the words. "
        if of and best.n_documents < self.n_targets:
            bound = " Half of the documents chose the strongest; these are the others."
        if self.bound is not None:
            bound += (
                " The guarantee bounds what any adversary finds, on average over "
                f"many releases, by {percent_up(self.bound)}."
            )
            if best.low <= self.bound < best.value:
                bound += " These few releases lie above it by chance."
        return (
            f"{noise}Of {self.n_targets} documents released{times}, an adversary who "
            f"holds {self.n_candidates} candidates in the clear found {best.value:.1%} "
            f"here ({of}{best.adversary}): at least {least:.1%} on average over many "
            "releases, with 95% confidence; a random guess finds "
            f"{100 * self.chance:.2g}%.{bound}"
        )

    def __repr__(self) -> str:
        return f"Linkages({len(self.rows)} adversaries, {self.n_candidates} candidates)"

    def __str__(self) -> str:
        cells = [
            [
                row.adversary,
                f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]",
                f"knows {row.knows}" * bool(row.knows),
            ]
            for row in self.rows
        ]
        lines = [wrapped(self.in_words()), "", *lined_up(cells, left=(0, 1, 2))]
        if any(row.adversary.endswith("learned") for row in self.rows):
            lines += ["", wrapped(_LEARNED)]
        return "\n".join(lines)


def linkage_attack(
    documents: Any,
    perturber: Any,
    *,
    n_targets: int | None = None,
    n_releases: int = 1,
    n_draws: int = 20,
    random_state: Any = None,
    verbose: int = 0,
) -> Linkages:
    r"""Which document was it? Adversaries who know the mechanism, and those who do not.

    Some documents are released. Each adversary holds all documents in the clear, and
    says which of them was released.

    Parameters
    ----------
    documents : iterable of str, of lists of str, or count matrix (n_documents, n_words)
        The candidates; at least 2.
    perturber : DPWordPerturber, or any releaser with `log_likelihood`
        Fitted or not. Of a word perturber, `random_state` and `output` are not used,
        and unknown words that ``oov="keep"`` would leave unchanged are dropped. Others,
        such as `~skdptext.DPDocumentReplacer`, release as they are set, but for their
        `random_state`.
    n_targets : int, default=None
        Documents to release, drawn at random; None: all.
    n_releases : int, default=1
        How often each is released, with fresh noise.
    n_draws : int, default=20
        Simulated draws per word, where a mechanism does not state its probabilities;
        there are at least 4,000 in all.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the choice of targets, the noise and the simulation. None: fresh noise, as
        in a release.
    verbose : int, default=0
        Above 0, show progress bars on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    linkages : Linkages
        Rows: "ordered text", the log-likelihood of a text in order (absent if documents
        are resampled); "bag", that of a bag; those who know words alone, and pool the
        words of several releases. With 10 targets or more, two that learn to combine
        others: "learned", of those who know words, and "all, learned".
        For other releasers, "likelihood", and those who know words where texts are
        released. The strongest is chosen on half of the targets; all are scored on the
        other half.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    *Likelihood.* For a bag z_1, …, z_n, the log-likelihood of document d is taken to be
    :math:`\sum_j \ln \sum_w p_d(w) \Pr[z_j \mid w]`, p_d(w) the share of word w in d.
    For a text in order it is :math:`\sum_j \ln \Pr[z_j \mid w_j]`. For a finite
    mechanism Pr[z | w] is known, so that this is exact, and no adversary does better.
    For noise on vectors it is estimated from draws, and what is found is a lower bound.
    Log-likelihoods of several releases of a document add up. For releases that are
    there already, ``perturber.log_likelihood(documents, released).argmax(axis=1)`` is
    this adversary's guess.

    *Privacy.* The result is computed from the documents in the clear. Success proves a
    leak; failure proves nothing about adversaries who know more.

    References
    ----------
    .. [1] Linking by retrieval, which ranks candidates by the similarity of texts, is
       the subject of arXiv:2504.21035; tests of hypotheses on text are the subject of
       arXiv:2603.22968.

    Examples
    --------
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.attacks import linkage_attack
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> embedding = make_embedding(60, 8, n_clusters=6, random_state=0)
    >>> texts, _ = make_documents(embedding, 20, length=10, random_state=0)
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=4.0, document_length=10,
    ...     resize="truncate")
    >>> linkages = linkage_attack(texts, perturber, n_draws=50, random_state=0)
    >>> [row.adversary for row in linkages.rows]  # doctest: +NORMALIZE_WHITESPACE
    ['ordered text', 'bag', 'tf-idf', 'character n-grams', 'word by word',
     'all, learned', 'learned']
    """
    of_words = perturbs_words(perturber)
    if not of_words:
        perturber = fitted_releaser(perturber, documents)
    if not is_count_matrix(documents):
        documents = list(documents)
    matrix = hasattr(documents, "shape")
    n_candidates = documents.shape[0] if matrix else len(documents)
    if n_candidates < 2:
        raise InvalidParameterError(
            f"documents must hold at least 2 candidates, got {n_candidates}."
        )
    n_targets = n_candidates if n_targets is None else n_targets
    n_targets = check_integer("n_targets", n_targets, low=1, high=n_candidates)
    n_releases = check_integer("n_releases", n_releases, low=1)
    rng = check_rng(random_state)
    targets = np.sort(rng.choice(n_candidates, n_targets, replace=False))
    seed = int(rng.integers(_SEEDS))
    with quiet(PrivacyLeakWarning, OutOfVocabularyWarning, EmptyDocumentWarning):
        noisy, clear, changed = perturber, documents, None
        if of_words:
            oov = "drop" if perturber.oov == "keep" else perturber.oov
            noisy = clone(perturber).set_params(output="tokens", oov=oov)
            clear = noisy.fit(documents).known_words(documents)
            changed = 1 - words_unchanged(noisy, [clear[i] for i in targets])
        noisy = noisy.fresh(None if random_state is None else rng)
        released = noisy.transform(
            [clear[i] for _ in range(n_releases) for i in targets]
        )
        groups = np.tile(np.arange(n_targets), n_releases)
        likelihoods = _likelihoods(
            noisy, clear, released, groups, n_draws=n_draws, random_state=seed,
            verbose=verbose,
        )  # fmt: skip
        similar = _similarities(
            noisy, clear, released, groups, "ordered text" in likelihoods
        )
    adversaries = gathered(likelihoods, similar, targets, seed)
    halves = make_halves(np.arange(n_targets), seed)
    return Linkages(
        adversaries.rows("linkage", targets, halves, n_candidates),
        n_candidates=n_candidates,
        n_targets=n_targets,
        n_releases=n_releases,
        changed=changed,
        bound=found_at_most(noisy.guarantee(), n_candidates, n_releases),
    )


def _likelihoods(
    noisy: Any, clear: Any, released: Any, groups: np.ndarray, **options: Any
) -> dict[str, np.ndarray]:
    """Of each document's releases together, by those who know the mechanism."""
    found = {}
    for name, ordered in _ORDERS[perturbs_words(noisy)].items():
        likelihood = noisy.likelihood(clear, ordered=ordered, **options)
        if likelihood.ordered == ordered:
            found[name] = _added(likelihood(released), groups)
    return found


def _similarities(
    noisy: Any, clear: Any, released: Any, groups: np.ndarray, ordered: bool
) -> dict[str, np.ndarray]:
    """By those who know words; none where no words are released."""
    embedding = None
    if ordered:
        embedding = noisy.embedding_
    elif not perturbs_words(noisy) and not (
        isinstance(released, list) and all(isinstance(text, str) for text in released)
    ):
        return {}
    return text_similarities(clear, released, embedding=embedding, groups=groups)


def _added(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sums over equal groups, which are numbered."""
    return sums_by_label(groups, values, int(groups.max()) + 1)
