"""The data home: where data sets are kept, written and returned from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import import_pandas, shown


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> str:
    """Folder in which downloaded and computed data are kept; created if missing.

    Parameters
    ----------
    data_home : str or path-like, default=None
        The folder. None: the environment variable ``SKDPTEXT_CACHE``, or else the
        user's cache folder (``~/.cache/skdptext`` on Linux). ``~`` is expanded.

    Returns
    -------
    data_home : str
        Its absolute path.

    Raises
    ------
    InvalidParameterError
        If `data_home` is not a path, or is an existing file.

    Examples
    --------
    >>> import os, tempfile
    >>> from skdptext.datasets import get_data_home
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     home = get_data_home(os.path.join(folder, "data"))
    ...     os.path.isdir(home)
    True
    """
    if data_home is None:
        data_home = os.environ.get("SKDPTEXT_CACHE") or None
    if data_home is None:
        import pooch

        data_home = pooch.os_cache("skdptext")
    rule = "data_home must be the path of a folder or None"
    if not isinstance(data_home, str | os.PathLike) or not os.fspath(data_home):
        raise InvalidParameterError(f"{rule}, got {shown(data_home)}.")
    home = Path(data_home).expanduser().absolute()
    if home.exists() and not home.is_dir():
        raise InvalidParameterError(f"{rule}, got the file {str(home)!r}.")
    home.mkdir(parents=True, exist_ok=True)
    return str(home)


def text_bunch(
    texts: list[str],
    target: np.ndarray,
    *,
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
    if as_frame:
        frame = import_pandas("as_frame=True").DataFrame(
            {"text": texts, **columns, "target": target}
        )
        data, target = frame["text"], frame["target"]
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, frame=frame, **extra)
