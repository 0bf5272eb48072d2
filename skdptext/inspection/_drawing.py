"""Axes, legends, labels and color-blind safe colors of the displays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import kind_of

# Okabe and Ito's palette for color-blind readers, without its yellow, which is too
# light for lines.
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
MARKERS = "os^Dv<>P"


def make_axes(ax: Any, n_axes: int, size: tuple[float, float]) -> list[Any]:
    """Check the given axes, or make a figure of `size` inches with axes in a column.

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
    """Get the color and the marker of the line with a number."""
    return {
        "color": COLORS[number % len(COLORS)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def add_legend(axis: Any, handles: Sequence[Any], title: str | None = None) -> Any:
    """Add a legend below our own figures, or inside the axes of other figures."""
    # Only figures with a layout engine, like ours, make room below the axes.
    options = {"handles": handles, "title": title, "fontsize": "small"}
    options["title_fontsize"] = "small"
    if axis.figure.get_layout_engine() is None:
        return axis.legend(loc="best", **options)
    return axis.figure.legend(loc="outside lower center", ncols=2, **options)


def add_labels(
    axis: Any, points: np.ndarray, texts: Sequence[str], **text_style: Any
) -> list[Any]:
    """Label points in a column to the right of the axes, with a line to each point."""
    # Labels at the points would cover each other.
    rank = np.argsort(np.argsort(-points[:, 1], kind="stable"))
    heights = 1 - (rank + 0.5) / len(texts)
    line = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.6}
    return [
        axis.annotate(
            text, point, (1.04, height), textcoords="axes fraction", va="center",
            fontsize="small", arrowprops=line, **text_style,
        )
        for text, point, height in zip(texts, points, heights, strict=True)
    ]  # fmt: skip
