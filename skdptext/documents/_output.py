"""From numbers back to bags, token lists and texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["FORMATS", "write_documents"]

FORMATS = ("bow", "tokens", "text")


def write_documents(
    codes: np.ndarray,
    offsets: np.ndarray,
    words: np.ndarray,
    kept: Sequence[str],
    output: str,
) -> Any:
    """Documents in the form that `output` names.

    Parameters
    ----------
    codes, offsets : ndarray
        As in `EncodedDocuments`.
    words : ndarray of str objects, shape (n_words,)
    kept : sequence of str
        Unknown words that are passed through.
    output : {"bow", "tokens", "text"}

    Returns
    -------
    documents : csr_matrix of int64, canonical; list of lists of str; or list of str
    """
    if output == "bow":
        bags = sp.csr_matrix(
            (np.ones(len(codes), dtype=np.int64), codes, offsets),
            shape=(len(offsets) - 1, len(words)),
        )
        bags.sum_duplicates()
        return bags
    tokens = words[np.maximum(codes, 0)]
    for i in np.flatnonzero(codes < 0):
        tokens[i] = kept[-1 - codes[i]]
    flat, ends = tokens.tolist(), offsets.tolist()
    documents = [flat[a:b] for a, b in itertools.pairwise(ends)]
    return documents if output == "tokens" else [" ".join(d) for d in documents]
