"""From numbers to bags, token lists and texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.utils import import_pandas

__all__ = ["FORMATS", "as_column", "write_documents"]

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
        Unknown words that pass through.
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


def as_column(documents: list[Any], X: Any, kind: str | None) -> Any:
    """Texts or token lists as a column of a data frame library.

    Parameters
    ----------
    documents : list of str or of lists of str
    X : object
        Their source, whose name (and index, in pandas) they take over.
    kind : {"pandas", "polars", "default"} or None

    Returns
    -------
    column : pandas.Series, polars.Series, or `documents` themselves
    """
    name = getattr(X, "name", None)
    if kind == "pandas":
        pd = import_pandas('set_output(transform="pandas")')
        index = X.index if isinstance(X, pd.Series) else None
        return pd.Series(documents, index=index, name=name, dtype=object)
    if kind == "polars":
        import polars as pl

        return pl.Series("" if name is None else name, documents)
    return documents
