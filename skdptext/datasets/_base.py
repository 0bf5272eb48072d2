"""The folder of data sets, and the form in which they are returned."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skdptext.utils import check_option, import_pandas


def data_home() -> Path:
    """Get the folder SKDPTEXT_CACHE or the user's cache; make it if missing."""
    named = os.environ.get("SKDPTEXT_CACHE")
    if not named:
        import pooch  # late: it imports tqdm, which warns in notebooks without widgets

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
    """Return a data set as a Bunch or a pair, like sklearn.datasets.

    `columns` are further columns of the frame, placed before the target.
    """
    data: Any = texts
    frame = None
    if check_option("as_frame", as_frame):
        frame = import_pandas("as_frame=True").DataFrame(
            {"text": texts, **columns, "target": target}
        )
        data, target = frame["text"], frame["target"]
    if check_option("return_X_y", return_X_y):
        return data, target
    return Bunch(data=data, target=target, frame=frame, **extra)
