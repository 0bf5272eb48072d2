"""Return releases in the form of the input table, or in a requested form."""

import itertools
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import as_array, check_option, import_pandas, is_column_of_documents


def row_keys(rows: Any) -> list[bytes]:
    """Convert rows of a matrix to bytes that are equal for equal rows."""
    if sp.issparse(rows):
        tidy = sp.csr_array(rows, dtype=np.float64, copy=True)
        tidy.sum_duplicates()
        tidy.eliminate_zeros()
        return [
            tidy.indices[a:b].astype(np.int64).tobytes() + tidy.data[a:b].tobytes()
            for a, b in itertools.pairwise(tidy.indptr)
        ]
    # Adding 0.0 turns -0.0 into 0.0, which has other bytes.
    return [row.tobytes() for row in np.asarray(rows, dtype=np.float64) + 0.0]


def as_column(documents: list[Any], X: Any, kind: str | None, name: str) -> Any:
    """Return texts or token lists as a column of a table, if a table is requested.

    The name, and the index in pandas, are those of the input `X`. By default a table of
    one column gives an array of one column, and anything else a list.
    """
    table = is_column_of_documents(X)
    # In an Arrow table, `columns` are the values, not the names.
    names = getattr(X, "column_names", getattr(X, "columns", None)) if table else None
    own = getattr(X, "name", None) if names is None else names[0]
    name = name if own is None or own == "" else own
    if kind == "pandas":
        pd = import_pandas('set_output(transform="pandas")')
        column = pd.Series(documents, index=_index_of(X), dtype=object)
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
    """Convert bags to a pandas data frame of sparse columns, with the index of `X`.

    polars is refused, because it has no sparse columns.
    """
    if kind == "polars":
        raise InvalidParameterError(
            'set_output must not be transform="polars" for output="bow": polars has no '
            'sparse columns. transform="pandas" has.'
        )
    pd = import_pandas('set_output(transform="pandas")')
    return pd.DataFrame.sparse.from_spmatrix(bags, index=_index_of(X), columns=words)


def _index_of(X: Any) -> Any:
    """Get the index of pandas, without names of rows that were filtered out before."""
    index = X.index if hasattr(X, "iloc") else None
    for tidy in ("remove_unused_categories", "remove_unused_levels"):
        index = getattr(index, tidy)() if hasattr(index, tidy) else index
    return index


class ColumnOutput:
    """Mixin with `set_output` for estimators that release texts."""

    output: str
    _container: str | None = None  # "pandas", "polars"

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self:
        """Choose the form of the output table.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            For texts, token lists and labels, a data frame of one column, with the name
            of the column given to `transform` and, in pandas, its index, which is then
            released. Vectorizers of scikit-learn need the column itself. For bags of
            perturbed words, ``"pandas"`` gives sparse columns, and ``"polars"``, which
            has none, is refused. Other matrices are unchanged. None changes nothing.

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

    def _name_of_column(self, input_features: Any) -> np.ndarray:
        """Get the name of the only column: that of the input, or the kind of output."""
        names = as_array(input_features, "input_features must hold names", object)
        return names if names.shape == (1,) else np.array([self.output], dtype=object)

    def __sklearn_clone__(self) -> Any:
        # A clone keeps the setting, like clones of scikit-learn's transformers.
        made = super().__sklearn_clone__()  # type: ignore[misc]
        made._container = self._container
        return made
