"""Plausible deniability: how often a word stays, and how many words it may become."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.base import NoiseStreams, draw_words
from skdptext.documents import word_ids
from skdptext.mechanisms import TableMechanism, probabilities
from skdptext.metrics._words import find_perturber
from skdptext.utils import MAX_WORDS, check_integer, import_pandas

_COLUMNS = "mean", "std", "p5", "p50", "p95", "low", "high"


@dataclass(frozen=True, repr=False, eq=False)
class PlausibleDeniability:
    """The result of `plausible_deniability`.

    Attributes
    ----------
    words : ndarray of str objects, shape (n_words,)
        The given words.
    n_unchanged : ndarray of shape (n_words,)
        N_w, the number of draws in which a word stays unchanged (int), or its
        expectation if `exact` (float).
    n_distinct : ndarray of shape (n_words,)
        S_w, the number of different words that it becomes (int), or its expectation if
        `exact` (float).
    n_draws : int
        Number of draws per word that both statistics count.
    epsilon, lam : float
        Parameters of the perturber.
    exact : bool
        Whether nothing was drawn, because the mechanism states its probabilities.
    """

    words: np.ndarray
    n_unchanged: np.ndarray
    n_distinct: np.ndarray
    n_draws: int
    epsilon: float
    lam: float
    exact: bool

    def summary(self) -> dict[str, dict[str, float]]:
        """Summarize both statistics over the words, as in tables and figures of [1]_.

        Returns
        -------
        summary : dict
            For ``"n_unchanged"`` and ``"n_distinct"`` a dict of float: ``mean``;
            ``std`` (population); percentiles ``p5``, ``p50``, ``p95``; ``low`` and
            ``high``, the paper's 95% interval mean ± 1.96 std/√n_draws, clipped to the
            possible counts.

        Notes
        -----
        The paper's interval measures how words differ, not how well the mean is known:
        words are drawn independently, so its standard error is at most std/√n_words,
        and 0 if the statistics are exact.

        References
        ----------
        .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.
        """
        summary = {}
        for name, least in (("n_unchanged", 0), ("n_distinct", 1)):
            counts = getattr(self, name)
            mean, std = counts.mean(), counts.std()
            margin = 1.96 * std / np.sqrt(self.n_draws)
            low, high = max(mean - margin, least), min(mean + margin, self.n_draws)
            columns = mean, std, *np.percentile(counts, [5, 50, 95]), low, high
            summary[name] = dict(zip(_COLUMNS, map(float, columns), strict=True))
        return summary

    def to_frame(self) -> Any:
        """Convert the counts to a pandas data frame, a row per word.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``epsilon``, ``lam``, ``word``, ``n_unchanged``, ``n_distinct``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return import_pandas("to_frame").DataFrame(
            {
                "epsilon": self.epsilon,
                "lam": self.lam,
                "word": self.words,
                "n_unchanged": self.n_unchanged,
                "n_distinct": self.n_distinct,
            }
        )

    def __repr__(self) -> str:
        return (
            f"PlausibleDeniability({len(self.words)} words, {self.n_draws} draws"
            f"{', exact' * self.exact}: N_w = {self.n_unchanged.mean():.1f} unchanged, "
            f"S_w = {self.n_distinct.mean():.1f} different words, on average)"
        )


def plausible_deniability(
    perturber: Any,
    words: Iterable[str] | None = None,
    *,
    n_draws: int = 100,
    random_state: Any = None,
) -> PlausibleDeniability:
    """Count how often each word stays, and how many different words it becomes.

    These are the statistics N_w and S_w of [1]_.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        A perturber, or a fitted pipeline or search that holds one.
    words : iterable of str, default=None
        Words of the embedding; None means all of them.
    n_draws : int, default=100
        Noisy versions per word.
    random_state : None, int or numpy.random.Generator, default=None
        An int makes the statistics repeatable, and gives perturbers with different ε
        and λ the same draws, which makes them easier to compare. A release with the
        same integer uses other noise.

    Returns
    -------
    result : PlausibleDeniability
        ``n_unchanged`` and ``n_distinct`` of shape (n_words,).

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or a word is unknown.
    sklearn.exceptions.NotFittedError
        If the perturber is not fitted.

    See Also
    --------
    words_changed_scorer : The share of words of given documents that change.
    skdptext.inspection.PlausibleDeniabilityDisplay : Plots both for several ε and λ.
    skdptext.model_selection.calibrate_epsilon : Finds the ε for a given share.

    Notes
    -----
    *Privacy.* Only the public embedding is read, so the statistics may be published.
    They describe typical words; only the guarantee bounds the worst case. If `words`
    come from private documents, the result is private too.

    *Method.* Words and their draws are independent, and follow the distribution of
    `DPWordPerturber.perturb_words`; so N_w ~ Binomial(n_draws, Pr[w stays]). A
    mechanism that states its probabilities, such as
    `~skdptext.mechanisms.Exponential`, needs no draws: N_w = n Pr[w | w] and S_w = Σ_z
    1 − (1 − Pr[z | w])ⁿ are expected numbers, for n = `n_draws`.

    *Cost.* It is the cost of releasing n_words × n_draws words. A random sample of some
    hundred words of a large embedding is enough for means and percentiles.

    References
    ----------
    .. [1] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially
       private text perturbation method using a regularized Mahalanobis metric.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import plausible_deniability
    >>> embedding = WordEmbedding(
    ...     ["good", "great", "bad", "awful"],
    ...     [[2.0, 0.1], [2.1, 0.0], [-2.0, 0.2], [-2.2, 0.1]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", epsilon=1e4, lam=0, document_length=1)
    >>> result = plausible_deniability(perturber.fit([]), ["good", "bad"])
    >>> result.n_unchanged.tolist(), result.n_distinct.tolist()
    ([100.0, 100.0], [1.0, 1.0])
    """
    source = find_perturber(perturber)
    mechanism = source.mechanism_at()
    ids = word_ids(words, source.embedding_)
    n_draws = check_integer("n_draws", n_draws, low=1, high=MAX_WORDS)
    rng = NoiseStreams(random_state, b"plausible_deniability").open(b"noise")
    # A mechanism that states its probabilities gives expected numbers, which are no
    # integers.
    exact = isinstance(mechanism, TableMechanism)
    unchanged, distinct = np.empty((2, len(ids)), dtype=float if exact else np.int64)
    if exact:
        for rows, law in probabilities(mechanism, ids):
            unchanged[rows] = n_draws * law[np.arange(len(law)), ids[rows]]
            # Σ_z 1 − (1 − Pr[z | w])ⁿ in a form that does not cancel for small
            # Pr[z | w].
            with np.errstate(divide="ignore"):  # ln 0 of a word that is certain
                missed = np.expm1(n_draws * np.log1p(-law))
            distinct[rows] = -missed.sum(axis=1)
    else:
        for rows, noisy in draw_words(mechanism, ids, n_draws, rng):
            unchanged[rows] = (noisy == ids[rows, None]).sum(axis=1)
            # In a sorted row, each step up is one more different word.
            distinct[rows] = 1 + (np.diff(np.sort(noisy, axis=1)) > 0).sum(axis=1)
    return PlausibleDeniability(
        words=source.embedding_.word_array[ids],
        n_unchanged=unchanged,
        n_distinct=distinct,
        n_draws=n_draws,
        epsilon=mechanism.epsilon,
        lam=mechanism.lam,
        exact=exact,
    )
