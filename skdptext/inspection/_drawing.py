"""Shared by the displays: axes, legends, colors for color-blind readers, labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of

# Okabe and Ito's palette, without its yellow, which is too light for lines.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
MARKERS = "os^Dv<>P"
# Around a point, a label tries these directions at each distance (in points).
_SIDES = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
)
_DISTANCES = (6, 14, 26, 40, 60, 90)


def make_axes(ax: Any, n_axes: int, size: tuple[float, float]) -> list[Any]:
    """The given axes, or those of a new figure of `size` inches, one below the other.

    A width of 5.4 inches keeps letters readable on a phone.
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


def style(number: int) -> dict[str, Any]:
    """The color and the marker of the line with this number."""
    return {
        "color": COLORS[number % len(COLORS)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def add_legend(axis: Any, handles: Sequence[Any], title: str | None = None) -> Any:
    """A legend below a figure of our own; within the axes of another figure."""
    options = {"handles": handles, "title": title, "fontsize": "small"}
    options["title_fontsize"] = "small"
    if axis.figure.get_layout_engine() is None:
        return axis.legend(loc="best", **options)
    return axis.figure.legend(loc="outside lower center", ncols=2, **options)


def place_labels(
    axis: Any,
    points: np.ndarray,
    texts: Sequence[str],
    lines: Sequence[Any] = (),
    **text_style: Any,
) -> list[Any]:
    """Annotate points, covering as little as possible of labels, points and lines.

    Call it last: places are computed for the present size and limits of the axes.
    """
    axis.figure.canvas.draw()
    point = axis.figure.dpi / 72
    frame = np.array(axis.get_window_extent().extents)
    # Points and pieces of lines are boxes of 6 points that no label should cover.
    paths = [
        line.get_transform().transform(line.get_path().interpolated(30).vertices)
        for line in lines
    ]
    spots = np.concatenate([axis.transData.transform(points), *paths])
    taken = list(np.hstack([spots - 3 * point, spots + 3 * point]))
    offsets = np.concatenate([distance * _SIDES for distance in _DISTANCES])
    directions = np.tile(_SIDES, (len(_DISTANCES), 1))
    labels = []
    for i, text in enumerate(texts):
        label = axis.annotate(
            text, points[i], xytext=(0, 0), textcoords="offset points",
            ha="center", va="center", **text_style,
        )  # fmt: skip
        half = np.array(label.get_window_extent().size) / 2
        centers = spots[i] + offsets * point + directions * half
        boxes = np.hstack([centers - half, centers + half])
        covered = _overlap(boxes[:, None], np.array(taken)).sum(axis=1)
        outside = 4 * half.prod() - _overlap(boxes, frame)
        away = np.linalg.norm(offsets, axis=1) * point
        best = int((covered + 20 * outside + away).argmin())
        label.set_position((centers[best] - spots[i]) / point)
        taken.append(boxes[best])
        labels.append(label)
    return labels


def _overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Areas that boxes (x0, y0, x1, y1) share."""
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    return np.maximum(sides, 0).prod(axis=-1)
