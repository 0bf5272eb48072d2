"""The look of all figures on the site: the displays' colors, safe for every eye."""

from __future__ import annotations

from skdptext.inspection._drawing import COLORS


def use() -> None:
    """Make it matplotlib's: C0 is its blue, and phones can show the letters."""
    import matplotlib as mpl
    from cycler import cycler

    mpl.rcParams["axes.prop_cycle"] = cycler(color=COLORS)
    mpl.rcParams["font.size"] = 11
    mpl.rcParams["figure.dpi"] = 120
