"""Before the first cell of a notebook, in a kernel that has run others before.

Its noise is fixed, so that a run shows what is stored; a reader has fresh noise.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import warnings

import numpy as np
import palette

from skdptext.utils import _system


def begin(notebook: str, data: str) -> None:
    """Colors of the site, its data, noise by its name."""
    os.environ["SKDPTEXT_DATA"] = data
    palette.use()
    key, calls = hashlib.sha256(notebook.encode()).digest(), itertools.count()

    def noise(n_bytes: int) -> bytes:
        call = next(calls).to_bytes(8, "little")
        return hashlib.shake_256(key + call).digest(n_bytes)

    # Where `secrets` has its bytes from, and NumPy by it the seeds of its generators
    random._urandom = noise
    # What scikit-learn takes for random_state=None
    np.random.seed(int.from_bytes(key[:4], "little"))  # noqa: NPY002
    warnings.formatwarning = lambda text, kind, *_: f"{kind.__name__}: {text}\n"
    with warnings.catch_warnings():  # forgets which ones the last notebook has shown
        pass
    _system._said.clear()  # and so does skdptext
