"""The palette of all figures on the site: that of the displays, safe for every eye."""

from __future__ import annotations

from skdptext.inspection._drawing import COLORS


def use(*_: object) -> None:
    """Make it matplotlib's, so that C0 is its blue; for ``reset_modules``."""
    import matplotlib as mpl
    from cycler import cycler

    mpl.rcParams["axes.prop_cycle"] = cycler(color=COLORS)
