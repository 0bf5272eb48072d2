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
# Where a label may stand, right of its point and above it.
_SIDES = (
    (1, 0.4), (-1, 0.4), (1, -0.4), (-1, -0.4),
    (0, 1), (0, -1), (0.7, 1), (-0.7, -1),
)  # fmt: skip


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
        ncols=2,
        **options,
    )


def place_labels(
    axis: Any,
    points: np.ndarray,
    texts: Sequence[str],
    radius: float = 3,
    **style: Any,
) -> list[Any]:
    """Annotate points so that no label covers another or leaves the axes.

    Each label takes the first of 32 places around its point that is free of labels and
    points, which have a radius, or the one with the least overlap. Call it last: it
    fixes the layout.
    """
    axis.figure.canvas.draw()
    frame = axis.get_window_extent()
    spots = axis.transData.transform(points)
    pixels = axis.figure.dpi / 72
    wide = radius * pixels
    taken: list[np.ndarray] = [
        np.concatenate([spot - wide, spot + wide]) for spot in spots
    ]
    if axis.get_legend() is not None:
        legend = axis.get_legend().get_window_extent()
        taken.append(np.array([*legend.p0, *legend.p1]))
    labels = []
    for spot, text in zip(points, texts, strict=True):
        label = axis.annotate(
            text, spot, xytext=(0, 0), textcoords="offset points", **style
        )
        best, least = None, np.inf
        for distance, (right, up) in product((6, 14, 26, 40), _SIDES):
            if least <= distance * pixels:  # no other place is better
                break
            label.set_horizontalalignment(
                "center" if right == 0 else "left" if right > 0 else "right"
            )
            label.set_verticalalignment(
                "center" if abs(up) < 1 else "bottom" if up > 0 else "top"
            )
            label.set_position((right * distance, up * distance))
            box = label.get_window_extent()
            edges = np.array([box.x0, box.y0, box.x1, box.y1])
            cost = sum(_overlap(edges, other) for other in taken)
            inside = _overlap(edges, np.array([*frame.p0, *frame.p1]))
            cost += 4 * ((box.width * box.height) - inside)
            # farther away only if it helps
            cost += distance * pixels
            if cost < least:
                least = cost
                best = label.get_position(), label.get_ha(), label.get_va(), edges
        assert best is not None
        position, ha, va, edges = best
        label.remove()
        far = max(np.abs(position)) > 14
        label = axis.annotate(
            text,
            spot,
            xytext=position,
            textcoords="offset points",
            ha=ha,
            va=va,
            arrowprops={"arrowstyle": "-", "color": "0.5", "lw": 0.6} if far else None,
            **style,
        )
        taken.append(edges)
        labels.append(label)
    return labels


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Area that two boxes (x0, y0, x1, y1) share."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    return float(sides[0] * sides[1]) if (sides > 0).all() else 0.0
