"""Where data sets are kept, and the form in which they are returned."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skdptext.utils import check_flag, import_pandas


def data_home() -> Path:
    """The folder that SKDPTEXT_CACHE names, or the user's cache; made if missing."""
    named = os.environ.get("SKDPTEXT_CACHE")
    if not named:
        import pooch  # imports tqdm, which warns in a notebook without widgets

        named = pooch.os_cache("skdptext")
    home = Path(named).expanduser().absolute()
    home.mkdir(parents=True, exist_ok=True)
    return home


def text_bunch(
    texts: list[str],
    target: np.ndarray,
    columns: dict[str, Any],
    return_X_y: bool,
    as_frame: bool,
    **extra: Any,
) -> Any:
    """Data set as a Bunch or a pair, in the manner of sklearn.datasets.

    `columns` are further columns of the frame; they come before the target.
    """
    data: Any = texts
    frame = None
    if check_flag("as_frame", as_frame):
        frame = import_pandas("as_frame=True").DataFrame(
            {"text": texts, **columns, "target": target}
        )
        data, target = frame["text"], frame["target"]
    if check_flag("return_X_y", return_X_y):
        return data, target
    return Bunch(data=data, target=target, frame=frame, **extra)
