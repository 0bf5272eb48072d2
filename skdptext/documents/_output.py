"""From numbers to bags, token lists and texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from skdptext.utils import check_option, import_pandas

__all__ = ["FORMATS", "ColumnOutput", "as_column", "write_documents"]

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


class ColumnOutput:
    """`set_output` of an estimator whose texts are one column, not a table of them."""

    _column: str | None = None

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self:
        """Return texts, token lists and labels as a column of a data frame library.

        Bags and vectors stay matrices: a data frame with a dense column per word would
        not fit in memory. scikit-learn's own transformers refuse sparse output here;
        this one passes it on, so that ``Pipeline.set_output`` reaches later steps.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            ``"pandas"`` and ``"polars"``: a Series, since vectorizers take a column. It
            has the name of the column given to `transform` and, in pandas, its index,
            which is thereby released. None changes nothing.

        Returns
        -------
        self : object
        """
        if transform is not None:
            check_option("transform", transform, ("default", "pandas", "polars"))
            self._column = transform
        return self

    def __sklearn_clone__(self) -> Any:
        # A clone gives the same output, as those of scikit-learn's transformers do.
        made = super().__sklearn_clone__()  # type: ignore[misc]
        return made.set_output(transform=self._column)
