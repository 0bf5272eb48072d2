"""Shared by the displays: axes, colours safe for colour-blind readers, labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of

# Okabe and Ito's palette, without its yellow, which is too light for lines.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
MARKERS = "os^Dv<>P"
# Where a label may stand, right of its point and above it, and how it is aligned there;
# how far away, in points; and by how much of its size the alignment moves it.
_SIDES = (
    (1, 0.4, "left", "center"), (-1, 0.4, "right", "center"),
    (1, -0.4, "left", "center"), (-1, -0.4, "right", "center"),
    (0, 1, "center", "bottom"), (0, -1, "center", "top"),
    (0.7, 1, "left", "bottom"), (-0.7, -1, "right", "top"),
)  # fmt: skip
_PLACES = list(product((6, 14, 26, 40, 60, 90), _SIDES))
_MOVED = {"left": 0, "bottom": 0, "center": -0.5, "right": -1, "top": -1}


def make_axes(ax: Any, n_axes: int, size: tuple[float, float]) -> list[Any]:
    """The given axes, or those of a new figure of `size` inches, one below the other.

    Six inches are wide enough: a phone shows them with letters that can be read.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install matplotlib.") from error
    if ax is None:
        _, axes = plt.subplots(n_axes, 1, figsize=size, layout="constrained")
        return list(np.ravel(axes))
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != n_axes or not all(hasattr(axis, "plot") for axis in axes):
        kind = "a matplotlib Axes" if n_axes == 1 else f"{n_axes} matplotlib Axes"
        raise InvalidParameterError(f"ax must be {kind}, got {kind_of(ax)}.")
    return axes


def draw_line(
    axis: Any, number: int, label: str, x: np.ndarray, y: np.ndarray, **errors: Any
) -> Any:
    """The line of a number, with a mark and a colour of its own, and its error bars."""
    return axis.errorbar(
        x, y, **errors, label=label, marker=MARKERS[number % len(MARKERS)],
        color=COLORS[number % len(COLORS)], markersize=6, elinewidth=0.8, capsize=2,
    )  # fmt: skip


def scale_epsilon(axis: Any, epsilons: np.ndarray) -> None:
    """A logarithmic scale, with the values of ε that there are."""
    values = np.unique(epsilons)
    axis.set_xscale("log")
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.minorticks_off()


def place_legend(axis: Any, **options: Any) -> Any:
    """A legend below the axes, where it covers nothing; inside where no room is made.

    A layout of the figure makes room for it, as that of `make_axes` does.
    """
    from matplotlib.transforms import ScaledTranslation

    if axis.figure.get_layout_engine() is None:
        return axis.legend(loc="best", **options)
    # below the numbers and the name of the axis, which take 42 points
    below = ScaledTranslation(0, -42 / 72, axis.figure.dpi_scale_trans)
    return axis.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=axis.transAxes + below,
        **{"ncols": 2} | options,
    )


def place_below(axis: Any, legend: Any, text: str) -> Any:
    """A few lines of small text below the legend that `place_legend` made."""
    from matplotlib.transforms import ScaledTranslation

    figure = axis.figure
    figure.canvas.draw()
    height = 0.0
    if figure.get_layout_engine() is not None:
        height = legend.get_window_extent().height / figure.dpi
    below = ScaledTranslation(0, -50 / 72 - height, figure.dpi_scale_trans)
    return axis.text(
        0.5, 0, text, transform=axis.transAxes + below, ha="center", va="top",
        fontsize="small", color="0.3",
    )  # fmt: skip


def _along(axis: Any, lines: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Boxes of 4 points along polygonal lines, in pixels."""
    reach = 2 * axis.figure.dpi / 72
    boxes = []
    for line in lines:
        spots = axis.transData.transform(line[np.isfinite(line).all(axis=1)])
        for start, end in zip(spots, [*spots[1:], *spots[-1:]], strict=True):
            n = int(np.abs(end - start).max() // (2 * reach)) + 1
            for at in np.linspace(0, 1, n, endpoint=False):
                spot = start + at * (end - start)
                boxes.append(np.concatenate([spot - reach, spot + reach]))
    return boxes


def place_labels(
    axis: Any,
    points: np.ndarray,
    texts: Sequence[str],
    radius: float | Sequence[float] = 3,
    avoid: Sequence[np.ndarray] = (),
    **style: Any,
) -> list[Any]:
    """Annotate points so that no label covers another or leaves the axes.

    Each label takes the first of 48 places around its point that is free of labels, of
    points, which have a radius, and of the polygonal lines to `avoid`, or the one with
    the least overlap. Call it last: it fixes the layout.
    """
    axis.figure.canvas.draw()
    pixels = axis.figure.dpi / 72
    frame = _edges(axis) + 2 * pixels * np.array([1, 1, -1, -1])
    spots = axis.transData.transform(points)
    reach = pixels * np.broadcast_to(radius, len(points))[:, None]
    taken = list(np.hstack([spots - reach, spots + reach]))
    taken += _along(axis, avoid)
    if axis.get_legend() is not None:
        taken.append(_edges(axis.get_legend()))
    away = np.array([distance for distance, _ in _PLACES])
    offsets = np.array([distance * np.array(side[:2]) for distance, side in _PLACES])
    moved = np.array([(_MOVED[ha], _MOVED[va]) for _, (*_, ha, va) in _PLACES])
    labels = []
    for point, spot, text in zip(points, spots, texts, strict=True):
        probe = axis.text(*point, text, **style)
        box = probe.get_window_extent()
        probe.remove()
        size = np.array([box.width, box.height])
        corners = spot + offsets * pixels + moved * size
        boxes = np.hstack([corners, corners + size])
        covered = _overlap(boxes[:, None], np.array(taken)).sum(axis=1)
        outside = size.prod() - _overlap(boxes, frame)
        # farther away only if it helps, and by more than rounding
        costs = covered + 4 * outside + away * pixels
        best = int(np.round(costs, 6).argmin())
        position, (*_, ha, va) = offsets[best], _PLACES[best][1]
        far = max(np.abs(position)) > 14
        label = axis.annotate(
            text, point, xytext=tuple(position), textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": "0.5", "lw": 0.6} if far else None,
            ha=ha, va=va, **style,
        )  # fmt: skip
        taken.append(boxes[best])
        labels.append(label)
    return labels


def _edges(artist: Any) -> np.ndarray:
    """Where something is drawn, in pixels: x0, y0, x1, y1."""
    return np.array(artist.get_window_extent().extents)


def _overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Areas that boxes (x0, y0, x1, y1) share."""
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    return np.maximum(sides, 0).prod(axis=-1)
