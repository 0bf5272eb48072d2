"""Draw the percentiles of plausible deniability."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.documents import word_ids
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.inspection._drawing import add_legend, make_axes, style
from skdptext.metrics import find_perturber, plausible_deniability
from skdptext.utils import check_numbers, quiet


@dataclass(kw_only=True, eq=False, repr=False)
class PlausibleDeniabilityDisplay:
    """Plot how often words stay, and how many words they become, against ε.

    These are figures 2 to 5 of [1]_. Create it with `from_estimator`. All parameters
    are stored as attributes.

    Parameters
    ----------
    epsilons : ndarray of shape (n_epsilons,)
        Values of ε, in ascending order.
    lams : ndarray of shape (n_lams,)
        Values of λ.
    n_unchanged, n_distinct : ndarray of shape (3, n_epsilons, n_lams)
        5th, 50th and 95th percentile over the words.
    n_draws : int
        Draws per word.
    n_words : int
        Number of words of the embedding, which gives the chance levels.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        Axes for N_w and for S_w.
    figure_ : matplotlib Figure
    lines_ : list of list of matplotlib ErrorbarContainer
        For each of the two axes and each λ: the medians, with bars from the 5th to the
        95th percentile.
    chance_ : list of matplotlib Line2D
        For each of the two axes, its value if every word were equally likely.

    See Also
    --------
    skdptext.metrics.plausible_deniability : Computes the statistics.

    References
    ----------
    .. [1] Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially
       private text perturbation method using a regularized Mahalanobis metric.

    Examples
    --------
    The example uses the noise of the papers, because only noise on vectors has a λ.

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
    n_words: int

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
    ) -> "PlausibleDeniabilityDisplay":
        """Compute the statistics for each ε and λ.

        Parameters
        ----------
        perturber : fitted DPWordPerturber
            A perturber, or a fitted pipeline or search that holds one.
        words : iterable of str, default=None
            Words of the embedding; None means all of them.
        epsilons : sequence of float > 0, default=None
            Values of ε; None means that of the perturber.
        lams : sequence of float in [0, 1], default=None
            Values of λ; None means that of the perturber.
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
        words = embedding.word_array[word_ids(words, embedding)]
        given = [own.epsilon] if epsilons is None else epsilons
        eps = np.sort(check_numbers("epsilons", given, low=0, open_low=True))
        given = [own.lam] if lams is None else lams
        values = check_numbers("lams", given, low=0, high=1)
        percentiles = np.empty((2, 3, len(eps), len(values)))
        for i, j in np.ndindex(percentiles.shape[2:]):
            # The fitted embedding replaces "one-hot", which would need a count matrix.
            setting = {"embedding": embedding, "epsilon": eps[i], "lam": values[j]}
            with quiet(PrivacyLeakWarning):  # the fit of the perturber already warned
                fitted = clone(source).set_params(**setting).fit([])
            found = plausible_deniability(
                fitted, words, n_draws=n_draws, random_state=random_state
            )
            counts = [found.n_unchanged, found.n_distinct]
            percentiles[..., i, j] = np.percentile(counts, [5, 50, 95], axis=1).T
        return cls(
            epsilons=eps,
            lams=values,
            n_unchanged=percentiles[0],
            n_distinct=percentiles[1],
            n_draws=n_draws,
            n_words=len(embedding),
        )

    def plot(self, ax: Any = None) -> "PlausibleDeniabilityDisplay":
        """Draw medians, with bars from the 5th to the 95th percentile.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : PlausibleDeniabilityDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        axes = make_axes(ax, 2, (5.4, 7.2))
        self.axes_, self.figure_ = np.array(axes, dtype=object), axes[0].figure
        n, v = self.n_draws, self.n_words
        names = (
            f"draws of {n} that leave\nthe word unchanged ($N_w$)",
            f"different words\nin {n} draws ($S_w$)",
        )
        chances = (n / v, v * (1 - (1 - 1 / v) ** n))
        self.lines_, self.chance_ = [], []
        counts = (self.n_unchanged, self.n_distinct)
        for axis, name, chance, (low, median, high) in zip(
            axes, names, chances, counts, strict=True
        ):
            # Bars of different λ are shifted by 3%, because they would cover each
            # other.
            shifts = 1.03 ** (np.arange(len(self.lams)) - (len(self.lams) - 1) / 2)
            self.lines_.append([
                axis.errorbar(
                    self.epsilons * shifts[j], median[:, j], capsize=2, elinewidth=0.8,
                    yerr=[(median - low)[:, j], (high - median)[:, j]],
                    label=f"λ = {lam:g}", **style(j),
                )
                for j, lam in enumerate(self.lams)
            ])  # fmt: skip
            label = "every word equally likely"
            line = axis.axhline(chance, color="0.4", linestyle=":", label=label)
            self.chance_.append(line)
            axis.set(xscale="log", ylabel=name, ylim=(-0.03 * n, 1.03 * n))
            axis.set_xlabel("ε, privacy loss per unit of distance (less noise →)")
            axis.set_xticks(self.epsilons, [f"{value:g}" for value in self.epsilons])
            axis.minorticks_off()
        add_legend(
            axes[1], [*self.lines_[1], self.chance_[1]],
            "median of the words, and from 5% to 95% of them",
        )  # fmt: skip
        return self
