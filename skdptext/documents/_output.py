"""Releases in the form of table that they were given in, or that is asked for."""

import itertools
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_option, import_pandas, is_column_of_documents


def row_keys(rows: Any) -> list[bytes]:
    """Rows of a matrix as bytes, equal for equal rows."""
    if sp.issparse(rows):
        tidy = sp.csr_array(rows, dtype=np.float64, copy=True)
        tidy.sum_duplicates()
        tidy.eliminate_zeros()
        return [
            tidy.indices[a:b].astype(np.int64).tobytes() + tidy.data[a:b].tobytes()
            for a, b in itertools.pairwise(tidy.indptr)
        ]
    # -0.0 is 0.0
    return [row.tobytes() for row in np.asarray(rows, dtype=np.float64) + 0.0]


def as_column(documents: list[Any], X: Any, kind: str | None, name: str) -> Any:
    """Texts or token lists as a column of a table, where a table is asked for.

    The name, and the index in pandas, are those of `X`, where the documents come from.
    By default a table of one column gives an array of one column, and anything else the
    list.
    """
    table = is_column_of_documents(X)
    # of an Arrow table, `columns` are the values
    names = getattr(X, "column_names", getattr(X, "columns", None)) if table else None
    own = getattr(X, "name", None) if names is None else names[0]
    name = name if own is None or own == "" else own
    if kind == "pandas":
        pd = import_pandas('set_output(transform="pandas")')
        index = X.index if isinstance(X, pd.Series | pd.DataFrame) else None
        column = pd.Series(documents, index=index, dtype=object)
        return pd.DataFrame({name: column})
    if kind == "polars":
        import polars as pl

        return pl.DataFrame({str(name): documents})
    if not table:
        return documents
    column = np.empty((len(documents), 1), dtype=object)
    for i, document in enumerate(documents):  # lists would become columns
        column[i, 0] = document
    return column


def as_frame(bags: Any, X: Any, kind: str, words: np.ndarray) -> Any:
    """Bags as a pandas data frame of sparse columns.

    It takes over the index of `X`, where the bags come from. polars has no sparse
    columns, which is an InvalidParameterError.
    """
    if kind == "polars":
        raise InvalidParameterError(
            'set_output must not be transform="polars" for output="bow": polars has no '
            'sparse columns. transform="pandas" has.'
        )
    pd = import_pandas('set_output(transform="pandas")')
    index = X.index if isinstance(X, pd.Series | pd.DataFrame) else None
    return pd.DataFrame.sparse.from_spmatrix(bags, index=index, columns=words)


class ColumnOutput:
    """`set_output` of an estimator that releases texts, by the wish that is its own."""

    _container: str | None = None  # "pandas", "polars"

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self:
        """Return a data frame.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            For texts, token lists and labels, a data frame of one column, with the name
            of the column given to `transform` and, in pandas, its index, which is
            thereby released. Vectorizers of scikit-learn want the column itself. For
            bags of perturbed words, ``"pandas"`` gives sparse columns, and ``"polars"``
            is refused, as it has none; other matrices stay what they are. None changes
            nothing.

        Returns
        -------
        self : object
            The estimator itself.

        Notes
        -----
        In a `~sklearn.compose.ColumnTransformer`, name the column of documents as a
        list, ``["said"]``: from a table of one column comes a table of one column.
        """
        if transform is not None:
            check_option("transform", transform, ("default", "pandas", "polars"))
            self._container = None if transform == "default" else transform
        return self

    def __sklearn_clone__(self) -> Any:
        # A clone gives the same output, as those of scikit-learn's transformers do.
        made = super().__sklearn_clone__()  # type: ignore[misc]
        made._container = self._container
        return made
