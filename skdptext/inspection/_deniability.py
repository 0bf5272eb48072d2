"""The percentile figure of plausible deniability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.documents import some_word_ids
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection._drawing import (
    draw_line,
    make_axes,
    place_legend,
    scale_epsilon,
)
from skdptext.metrics import find_perturber, plausible_deniability
from skdptext.utils import check_numbers, quiet

_LABELS = {
    "n_unchanged": "$N_w$: draws of {n} that\nleave the word unchanged",
    "n_distinct": "$S_w$: different words\nin {n} draws",
}


@dataclass(kw_only=True, eq=False, repr=False)
class PlausibleDeniabilityDisplay:
    """How often words stay themselves, and how many they become, against ε.

    Figures 2 to 5 of [1]_. Create it with `from_estimator`. All parameters are
    stored as attributes.

    Parameters
    ----------
    epsilons : ndarray of shape (n_epsilons,)
        Values of ε.
    lams : ndarray of shape (n_lams,)
        Values of λ.
    n_unchanged, n_distinct : ndarray of shape (3, n_epsilons, n_lams)
        5th, 50th and 95th percentile over the words.
    n_draws : int
        Draws per word.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        For N_w and for S_w.
    figure_ : matplotlib Figure
    lines_ : list of dict of float to matplotlib ErrorbarContainer
        For each of the two axes, by λ: the medians, with bars from the 5th to the 95th
        percentile.

    See Also
    --------
    skdptext.metrics.plausible_deniability : The statistics shown.

    References
    ----------
    .. [1] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially
       private text perturbation method using a regularized Mahalanobis metric.

    Examples
    --------
    The noise of the papers, since only noise on vectors has a λ.

    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.inspection import PlausibleDeniabilityDisplay
    >>> embedding = WordEmbedding(
    ...     ["good", "great", "bad", "awful"],
    ...     [[2.0, 0.1], [2.1, 0.0], [-2.0, 0.2], [-2.2, 0.1]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> display = PlausibleDeniabilityDisplay.from_estimator(
    ...     perturber, epsilons=[1, 10], lams=[0, 1])
    >>> display.n_unchanged.shape
    (3, 2, 2)
    >>> len(display.plot().axes_)
    2
    """

    epsilons: np.ndarray
    lams: np.ndarray
    n_unchanged: np.ndarray
    n_distinct: np.ndarray
    n_draws: int

    @classmethod
    def from_estimator(
        cls,
        perturber: Any,
        words: Iterable[str] | None = None,
        *,
        epsilons: Sequence[float] | None = None,
        lams: Sequence[float] | None = None,
        n_draws: int = 100,
        random_state: Any = None,
    ) -> PlausibleDeniabilityDisplay:
        """Compute the statistics for each ε and λ.

        Parameters
        ----------
        perturber : fitted DPWordPerturber
            Or a fitted pipeline or search that holds one.
        words : iterable of str, default=None
            Words of the embedding; None: all of them.
        epsilons : sequence of float > 0, default=None
            Compute for each of these ε; None: the perturber's own.
        lams : sequence of float in [0, 1], default=None
            Compute for each of these λ; None: the perturber's own.
        n_draws, random_state : object
            As in `skdptext.metrics.plausible_deniability`.

        Returns
        -------
        display : PlausibleDeniabilityDisplay

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, or a word is unknown.

        Notes
        -----
        *Privacy.* Only the public embedding and the given words are read.
        """
        source = find_perturber(perturber)
        own, embedding = source.mechanism_at(), source.embedding_
        words = embedding.word_array[some_word_ids(words, embedding)]
        given = [own.epsilon] if epsilons is None else epsilons
        epsilons = check_numbers("epsilons", given, low=0, open_low=True)
        lams = check_numbers("lams", [own.lam] if lams is None else lams, low=0, high=1)
        percentiles = np.empty((2, 3, len(epsilons), len(lams)))
        for i, j in np.ndindex(percentiles.shape[2:]):
            # not "one-hot", which would need a matrix
            setting = {"embedding": embedding, "epsilon": epsilons[i], "lam": lams[j]}
            with quiet(PrivacyLeakWarning):  # the perturber's own fit has warned
                fitted = clone(source).set_params(**setting).fit([])
            result = plausible_deniability(
                fitted, words, n_draws=n_draws, random_state=random_state
            )
            for statistic, name in enumerate(_LABELS):
                percentiles[statistic, :, i, j] = np.percentile(
                    getattr(result, name), [5, 50, 95]
                )
        return cls(
            epsilons=np.array(epsilons),
            lams=np.array(lams),
            n_unchanged=percentiles[0],
            n_distinct=percentiles[1],
            n_draws=n_draws,
        )

    def plot(self, ax: Any = None) -> PlausibleDeniabilityDisplay:
        """Draw medians, with bars from the 5th to the 95th percentile.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None
            None: axes of a new figure.

        Returns
        -------
        display : PlausibleDeniabilityDisplay
            Itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        axes = make_axes(ax, 2, (6, 7.4))
        self.axes_ = np.array(axes, dtype=object)
        self.figure_ = axes[0].figure
        order = np.argsort(self.epsilons)
        epsilons = self.epsilons[order]
        # Shift bars of different λ sideways, well within a step of ε.
        steps = np.diff(np.log(np.unique(epsilons)))
        room = min([0.025 * (len(self.lams) - 1), *(steps / 4)])
        shifts = np.exp(np.linspace(-room, room, len(self.lams)))
        self.lines_ = []
        for axis, (name, text) in zip(axes, _LABELS.items(), strict=True):
            low, median, high = getattr(self, name)[:, order]
            margins = np.stack([median - low, high - median])
            lines = {
                float(lam): draw_line(
                    axis, j, f"λ = {lam:g}", epsilons * shifts[j], median[:, j],
                    yerr=margins[:, :, j],
                )
                for j, lam in enumerate(self.lams)
            }  # fmt: skip
            scale_epsilon(axis, epsilons)
            axis.set(xlabel="ε", ylabel=text.format(n=self.n_draws))
            axis.set_ylim(-0.03 * self.n_draws, 1.03 * self.n_draws)
            self.lines_.append(lines)
        place_legend(axes[1], title="median, 5 % to 95 %", fontsize="small")
        return self
