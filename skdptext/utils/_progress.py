"""A progress bar for what takes seconds."""

from __future__ import annotations

from typing import Any

__all__ = ["progress_bar"]


def progress_bar(
    verbose: int, description: str, *, total: int | None = None, unit: str = "word"
) -> Any:
    """A bar of tqdm, to be used in a `with` statement.

    Parameters
    ----------
    verbose : int
        0: nothing is shown.
    description : str
    total : int, default=None
        None: not known.
    unit : str, default="word"

    Returns
    -------
    bar : tqdm.tqdm
    """
    from tqdm.auto import tqdm

    return tqdm(desc=description, total=total, unit=unit, disable=not verbose)
