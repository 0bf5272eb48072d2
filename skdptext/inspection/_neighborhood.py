"""Where the noise takes a word: its neighbourhood, projected onto a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from skdptext.documents import word_ids
from skdptext.embeddings import k_nearest_words
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import (
    COLORS,
    make_axes,
    place_labels,
    place_legend,
)
from skdptext.mechanisms import NoiseMechanism, WordMechanism
from skdptext.metrics import find_perturber
from skdptext.utils import (
    NoiseStreams,
    as_array,
    check_integer,
    check_kind,
    kind_of,
    shown,
)

_N_POINTS = 1000  # noisy vectors kept for the figure
_LEVELS = (0.5, 0.95)  # shares of the noise inside the contours


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborhoodDisplay:
    """Where the noise takes one word, projected onto a plane through it.

    Create it with `from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    word : str
        The word that is perturbed.
    words : ndarray of str objects, shape (n_words,)
        The words shown: `word` first, then its nearest neighbours, then other words
        that the noise lands on most often.
    positions : ndarray of shape (n_words, 2)
        Their vectors in the plane, relative to that of `word`.
    distances : ndarray of shape (n_words,)
        Their Euclidean distances from `word`, in all dimensions.
    shares : ndarray of shape (n_words,)
        Share of the draws in which the output is this word. The rest goes to words not
        shown.
    points : ndarray of shape (n_points, 2)
        Noisy vectors in the plane: up to 1,000 of the draws. None for a mechanism that
        adds no noise to vectors.
    contours : ndarray of shape (n_levels, n_corners, 2)
        Curves that hold half and 95 % of the projected noisy vectors; none for
        mechanisms other than `MahalanobisNoise`.
    epsilon, lam : float
        Parameters of the perturber.
    n_draws : int
        Draws per word.
    axes_names : tuple of two str
        Labels of the axes of the figure.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_, words_ : matplotlib PathCollection
        The noisy vectors and the words; the area of a word grows with its share.
    contours_ : list of matplotlib Line2D
    labels_ : list of matplotlib Annotation

    See Also
    --------
    PlausibleDeniabilityDisplay : All words of an embedding.

    Notes
    -----
    A plane shows two of many dimensions. Words that look near may be far, and the
    nearest word of a noisy vector is found in all dimensions. The shares, not the
    picture, show where draws go.

    Examples
    --------
    The noise of the papers, since only noise on vectors has contours.

    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.inspection import NeighborhoodDisplay
    >>> embedding = WordEmbedding(
    ...     ["good", "great", "bad", "awful"],
    ...     [[2.0, 0.1], [2.1, 0.0], [-2.0, 0.2], [-2.2, 0.1]])
    >>> perturber = DPWordPerturber(embedding, epsilon=2, document_length=1).fit([])
    >>> display = NeighborhoodDisplay.from_estimator(perturber, "good")
    >>> display.words[:2].tolist(), round(float(display.shares.sum()), 6)
    (['good', 'great'], 1.0)
    >>> len(display.plot().contours_)
    2
    """

    word: str
    words: np.ndarray
    positions: np.ndarray
    distances: np.ndarray
    shares: np.ndarray
    points: np.ndarray
    contours: np.ndarray
    epsilon: float
    lam: float
    n_draws: int
    axes_names: tuple[str, str] = ("first axis", "second axis")

    @classmethod
    def from_estimator(
        cls,
        perturber: Any,
        word: str,
        *,
        n_neighbors: int = 8,
        n_landed: int = 4,
        n_draws: int = 2000,
        projection: Any = "pca",
        random_state: Any = None,
    ) -> NeighborhoodDisplay:
        """Draw noise for a word, and project the results.

        Parameters
        ----------
        perturber : fitted DPWordPerturber
            Or a fitted pipeline or search that holds one.
        word : str
            A word of the embedding.
        n_neighbors : int, default=8
            Nearest words to show, by Euclidean distance.
        n_landed : int, default=4
            Further words to show: those that most draws land on.
        n_draws : int, default=2000
            Noisy versions of the word. The standard error of a share is at most
            1/(2 √n_draws), that is 1.1 % at 2000.
        projection : "pca", (int, int) or array of shape (dim, 2), default="pca"
            The plane: the first two principal axes of the words shown; two columns of
            the embedding; or two directions, which are made orthonormal in their order.
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
        *Contours.* Seen in the plane the noise is elliptical, with scatter PMPᵀ for a
        projection P. Its length in that scatter is r √B, with r ~ Gamma(m, 1/ε) and
        B ~ Beta(1, (m − 2)/2); the quantiles of that are computed, not simulated.

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
        plane, names = _check_projection(projection, embedding.dim)
        rng = NoiseStreams(random_state, b"neighborhood").open(b"noise")
        draws = mechanism.draw(rng, n_draws)
        landed = mechanism.apply(np.repeat(own, n_draws), draws)
        counts = np.bincount(landed, minlength=len(embedding))
        k = min(n_neighbors, len(embedding) - 1)
        near = [center, *k_nearest_words(vectors[own], vectors, k, exclude=own)[0][0]]
        often = np.argsort(-counts, kind="stable")
        often = often[(counts[often] > 0) & ~np.isin(often, near)]
        ids = np.concatenate([near, often[:n_landed]])
        gaps = vectors[ids] - vectors[center].astype(np.float64)
        if plane is None:
            plane = _principal_plane(gaps)
        return cls(
            word=str(embedding.word_array[center]),
            words=embedding.word_array[ids],
            positions=gaps @ plane,
            distances=np.linalg.norm(gaps, axis=1),
            shares=counts[ids] / n_draws,
            points=_points(mechanism, draws, plane),
            contours=_contours(mechanism, plane),
            epsilon=mechanism.epsilon,
            lam=source.lam,
            n_draws=n_draws,
            axes_names=names,
        )

    def plot(self, ax: Any = None, *, label_words: bool = True) -> NeighborhoodDisplay:
        """Draw the words, the noisy vectors and their contours.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: axes of a new figure.
        label_words : bool, default=True
            Label each word with its share of the draws.

        Returns
        -------
        display : NeighborhoodDisplay
            Itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        (axis,) = make_axes(ax, 1, (6, 5.8))
        self.ax_, self.figure_ = axis, axis.figure
        self.points_ = axis.scatter(
            *self.points.T, s=5, color=COLORS[5], alpha=0.35, linewidths=0,
            label="noisy vectors", zorder=1,
        )  # fmt: skip
        self.contours_ = [
            axis.plot(
                *outline.T, color=COLORS[0], linestyle="-" if i % 2 == 0 else "--",
                linewidth=1.3, label=f"hold {level:.0%} of them", zorder=2,
            )[0]
            for i, (level, outline) in enumerate(
                zip(_LEVELS, self.contours, strict=False)  # there may be none
            )
        ]  # fmt: skip
        colors = [COLORS[1], *[COLORS[6]] * (len(self.words) - 1)]
        self.words_ = axis.scatter(
            *self.positions.T, s=12 + 400 * self.shares, c=colors, alpha=0.75,
            linewidths=0, label="words; the area is the share of draws", zorder=3,
        )  # fmt: skip
        axis.set(
            xlabel=f"{self.axes_names[0]} (Euclidean distance)",
            ylabel=f"{self.axes_names[1]} (Euclidean distance)",
            title=f"{self.word!r} at ε = {self.epsilon:g}, λ = {self.lam:g}: "
            f"{self.shares[0]:.0%} stay, {max(0.0, 1 - self.shares.sum()):.0%} go to "
            "words not shown",
        )
        axis.title.set(fontsize="medium", parse_math=False)  # "$" may be a word
        legend = place_legend(axis, fontsize="small")
        legend.legend_handles[0].set_sizes([20])
        legend.legend_handles[-1].set_sizes([60])
        # Words and contours set the limits; some noisy vectors may lie outside. Both
        # axes have equal scales, and the limits fill the axes whatever their shape.
        self.figure_.canvas.draw()
        box = axis.get_window_extent()
        shown = np.vstack([self.positions, self.contours.reshape(-1, 2)])
        low, high = shown.min(axis=0), shown.max(axis=0)
        size = np.array([box.width, box.height])
        reach = 0.6 * max((high - low) / size) * size
        below, above = np.stack([-reach, reach]) + (low + high) / 2
        axis.set(xlim=(below[0], above[0]), ylim=(below[1], above[1]), aspect="equal")
        self.labels_: list[Any] = []
        if label_words:
            texts = [
                f"{word} {share:.1%}" if share else str(word)
                for word, share in zip(self.words, self.shares, strict=True)
            ]
            self.labels_ = place_labels(
                axis, self.positions, texts, fontsize=8, zorder=4, parse_math=False,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.6,
                      "pad": 0.3},
            )  # fmt: skip
            self.labels_[0].set(color=COLORS[1], fontweight="bold")
        return self


def _check_projection(
    projection: Any, dim: int
) -> tuple[np.ndarray | None, tuple[str, str]]:
    """Orthonormal plane (dim, 2), or None if it is to be learned, and axis names."""
    rule = f'projection must be "pca", two columns or an array of shape ({dim}, 2)'
    if isinstance(projection, str):
        if projection != "pca":
            raise InvalidParameterError(f"{rule}, got {shown(projection)}.")
        return None, ("first local principal axis", "second local principal axis")
    if isinstance(projection, tuple) and len(projection) == 2:
        i, j = (
            check_integer(f"projection[{k}]", column, low=0, high=dim - 1)
            for k, column in enumerate(projection)
        )
        if i == j:
            raise InvalidParameterError(
                f"projection must be two different columns, got {projection!r}."
            )
        return np.eye(dim)[:, [i, j]], (f"column {i}", f"column {j}")
    directions = as_array(projection, rule)
    if directions.shape != (dim, 2) or directions.dtype.kind not in "fiu":
        raise InvalidParameterError(
            f"{rule}, got {kind_of(projection)} of shape {directions.shape}."
        )
    basis, triangle = np.linalg.qr(directions.astype(np.float64))
    lengths = np.abs(np.diag(triangle))
    if not np.isfinite(triangle).all() or lengths.min() <= 1e-10 * lengths.max():
        raise InvalidParameterError(
            "projection must have two finite, independent directions, got "
            f"{projection!r:.80}."
        )
    return basis * np.sign(np.diag(triangle)), ("first direction", "second direction")


def _principal_plane(gaps: np.ndarray) -> np.ndarray:
    """First two principal axes of the rows, (dim, 2), with signs that do not vary."""
    centred = gaps - gaps.mean(axis=0)
    # The full matrix: with few words, the remaining axes are still orthonormal.
    plane = np.linalg.svd(centred, full_matrices=True)[2][:2].T
    return plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)


def _points(mechanism: WordMechanism, draws: Any, plane: np.ndarray) -> np.ndarray:
    """Noisy vectors in the plane; empty for a mechanism without noise on vectors."""
    if not isinstance(mechanism, NoiseMechanism):
        return np.empty((0, 2))
    return mechanism.noise(tuple(part[:_N_POINTS] for part in draws)) @ plane


def _contours(mechanism: WordMechanism, plane: np.ndarray) -> np.ndarray:
    """Ellipses in the plane that hold half and 95 % of the projected noise.

    Empty for a mechanism without noise on vectors.
    """
    if not isinstance(mechanism, NoiseMechanism):
        return np.empty((0, 201, 2))
    metric = mechanism.metric
    angle = np.linspace(0, 2 * np.pi, 201)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    half = metric.factor @ plane
    root = np.linalg.cholesky(half.T @ half)
    lengths = [_plane_quantile(metric.dim, mechanism.epsilon, p) for p in _LEVELS]
    return np.array([length * circle @ root.T for length in lengths])


def _plane_quantile(dim: int, epsilon: float, level: float) -> float:
    """Quantile of the length of two coordinates of spherical Gamma(dim, 1/ε) noise."""
    if dim == 2:
        return float(gammaincinv(2, level)) / epsilon
    from scipy.optimize import brentq

    # Midpoints of equally likely pieces of r; the length given r has a closed form.
    radii = gammaincinv(dim, (np.arange(4000) + 0.5) / 4000)

    def excess(length: float) -> float:
        # of a length r the part within is Pr[B ≤ (length/r)²] = 1 − (1 − …)^((m − 2)/2)
        inside = np.minimum(length / radii, 1) ** 2
        return float(np.mean(1 - (1 - inside) ** ((dim - 2) / 2))) - level

    return float(brentq(excess, 0, radii[-1])) / epsilon
