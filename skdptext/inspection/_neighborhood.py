"""Draw where the noise moves a word: its neighborhood, projected onto a plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.base import NoiseStreams
from skdptext.documents import word_ids
from skdptext.embeddings import k_nearest_words
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import COLORS, add_labels, add_legend, make_axes
from skdptext.mechanisms import NoiseMechanism
from skdptext.metrics import find_perturber
from skdptext.utils import check_integer, check_kind, share_interval

_N_POINTS = 1000  # number of noisy vectors in the figure


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborhoodDisplay:
    """Plot where the noise moves one word, projected onto a plane through it.

    Create it with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    word : str
        The word that is perturbed.
    words : ndarray of str objects, shape (n_words,)
        The words in the figure: `word` first, then its nearest neighbors, then other
        words on which the noise lands most often.
    positions : ndarray of shape (n_words, 2)
        Vectors of the words in the plane, relative to that of `word`.
    distances : ndarray of shape (n_words,)
        Euclidean distances of the words from `word`, in all dimensions.
    shares : ndarray of shape (n_words,)
        Share of the draws with this word as output. The rest goes to words that are not
        shown.
    intervals : ndarray of shape (n_words, 2)
        Ends of 95% intervals of the shares.
    points : ndarray of shape (n_points, 2)
        Noisy vectors in the plane: up to 1,000 of the draws. Empty for a mechanism that
        adds no noise to vectors.
    epsilon, lam : float
        Parameters of the perturber.
    chance : float
        Share of each word if all words of the embedding were equally likely.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_, words_ : matplotlib PathCollection
        The noisy vectors and the words; the area of a word grows with its share.
    labels_ : list of matplotlib Annotation
        Each word with its share, to the right of the axes.

    See Also
    --------
    PlausibleDeniabilityDisplay : Shows all words of an embedding.

    Notes
    -----
    A plane shows two of many dimensions. Words that look near may be far apart, because
    the nearest word of a noisy vector is found in all dimensions. The shares, not the
    positions, show where draws go.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.inspection import NeighborhoodDisplay
    >>> embedding = WordEmbedding(
    ...     ["good", "great", "bad", "awful"],
    ...     [[2.0, 0.1], [2.1, 0.0], [-2.0, 0.2], [-2.2, 0.1]])
    >>> perturber = DPWordPerturber(embedding, epsilon=2, document_length=1).fit([])
    >>> display = NeighborhoodDisplay.from_estimator(perturber, "good")
    >>> display.words[:2].tolist(), round(float(display.shares.sum()), 6)
    (['good', 'great'], 1.0)
    >>> len(display.plot().labels_)
    4
    """

    word: str
    words: np.ndarray
    positions: np.ndarray
    distances: np.ndarray
    shares: np.ndarray
    intervals: np.ndarray
    points: np.ndarray
    epsilon: float
    lam: float
    chance: float

    @classmethod
    def from_estimator(
        cls,
        perturber: Any,
        word: str,
        *,
        n_neighbors: int = 8,
        n_landed: int = 4,
        n_draws: int = 2000,
        random_state: Any = None,
    ) -> "NeighborhoodDisplay":
        """Draw noise for a word, and project the results.

        Parameters
        ----------
        perturber : fitted DPWordPerturber
            A perturber, or a fitted pipeline or search that holds one.
        word : str
            A word of the embedding.
        n_neighbors : int, default=8
            Number of nearest words to show, by Euclidean distance.
        n_landed : int, default=4
            Number of further words to show, on which most draws land.
        n_draws : int, default=2000
            Number of noisy versions of the word.
        random_state : None, int or numpy.random.Generator, default=None
            An int makes the draws repeatable. A release with the same integer uses
            different noise.

        Returns
        -------
        display : NeighborhoodDisplay

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule, the word is unknown, or the embedding has a
            single dimension.

        Notes
        -----
        *Plane.* The first two principal axes of the words shown.

        *Privacy.* Only the public embedding and the given word are read.
        """
        check_kind(word, str, "word must be a str")
        source = find_perturber(perturber)
        mechanism = source.mechanism_at()
        embedding = source.embedding_
        (center,) = own = word_ids([word], embedding)
        vectors = embedding.vectors
        n_neighbors = check_integer("n_neighbors", n_neighbors, low=1)
        n_landed = check_integer("n_landed", n_landed, low=0)
        n_draws = check_integer("n_draws", n_draws, low=1)
        if embedding.dim < 2:
            raise InvalidParameterError(
                "perturber must have an embedding of at least 2 dimensions, got "
                f"{embedding.dim}."
            )
        # The streams have their own purpose, so that the same integer in a release does
        # not repeat these draws.
        rng = NoiseStreams(random_state, b"neighborhood").open(b"noise")
        draws = mechanism.draw(rng, n_draws)
        landed = mechanism.apply(np.repeat(own, n_draws), draws)
        counts = np.bincount(landed, minlength=len(embedding))
        # The search excludes the word itself, which is put first.
        k = min(n_neighbors, len(embedding) - 1)
        near = [center, *k_nearest_words(vectors[own], vectors, k, exclude=own)[0][0]]
        often = np.argsort(-counts, kind="stable")
        often = often[(counts[often] > 0) & ~np.isin(often, near)]
        ids = np.concatenate([near, often[:n_landed]])
        gaps = vectors[ids] - vectors[center].astype(np.float64)
        plane = _principal_plane(gaps)
        # Other mechanisms choose a word without a noisy vector, and have no points.
        points = np.empty((0, 2))
        if isinstance(mechanism, NoiseMechanism):
            points = mechanism.noise(tuple(x[:_N_POINTS] for x in draws)) @ plane
        return cls(
            word=str(embedding.word_array[center]),
            words=embedding.word_array[ids],
            positions=gaps @ plane,
            distances=np.linalg.norm(gaps, axis=1),
            shares=counts[ids] / n_draws,
            intervals=np.array([share_interval(landed == i) for i in ids]),
            points=points,
            epsilon=mechanism.epsilon,
            lam=source.lam,
            chance=1 / len(embedding),
        )

    def plot(self, ax: Any = None) -> "NeighborhoodDisplay":
        """Draw the words and the noisy vectors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : NeighborhoodDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        (axis,) = make_axes(ax, 1, (5.4, 5.8))
        self.ax_, self.figure_ = axis, axis.figure
        self.points_ = axis.scatter(
            *self.points.T, s=5, color=COLORS[5], alpha=0.35, linewidths=0,
            label="noisy vectors",
        )  # fmt: skip
        colors = [COLORS[1], *[COLORS[6]] * (len(self.words) - 1)]
        self.words_ = axis.scatter(
            *self.positions.T, s=12 + 400 * self.shares, c=colors, alpha=0.75,
            linewidths=0, label="words (area: share of draws)", zorder=3,
        )  # fmt: skip
        # Rounding may bring the sum slightly above 1.
        elsewhere = max(0.0, 1 - self.shares.sum())
        axis.set(
            xlabel="first principal axis of these words (Euclidean distance)",
            ylabel="second principal axis (Euclidean distance)",
            title=f"Where the noise takes “{self.word}” at ε = {self.epsilon:g}, "
            f"λ = {self.lam:g}\n{elsewhere:.0%} of the draws go to words not shown; "
            f"if all words were\nequally likely, each would get {self.chance:.2%}",
        )
        axis.title.set(fontsize="small", parse_math=False)  # "$" may be a word
        legend = add_legend(axis, [self.points_, self.words_])
        legend.legend_handles[-1].set_sizes([60])
        axis.set_aspect("equal", adjustable="datalim")
        texts = [
            f"{word} {share:.1%} ± {100 * (high - low) / 2:.1f}" if share else str(word)
            for word, share, (low, high) in zip(
                self.words, self.shares, self.intervals, strict=True
            )
        ]
        self.labels_ = add_labels(axis, self.positions, texts, parse_math=False)
        self.labels_[0].set(color=COLORS[1], fontweight="bold")
        return self


def _principal_plane(gaps: np.ndarray) -> np.ndarray:
    """Compute the first two principal axes of the rows, (dim, 2), with fixed signs."""
    centered = gaps - gaps.mean(axis=0)
    # Full matrices are needed: with few words, the remaining axes are still
    # orthonormal. The signs are fixed, because they differ between LAPACK versions.
    plane = np.linalg.svd(centered, full_matrices=True)[2][:2].T
    return plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
