"""Tables to read, in a terminal and on a page; and one of nearest words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdptext.documents import word_ids
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.search import k_nearest_words
from skdptext.utils import (
    Fragment,
    bullets,
    check_integer,
    import_pandas,
    page,
    paragraph,
    table,
    wrapped,
)


@dataclass(frozen=True, repr=False)
class TextTable:
    """A small table, with a text form and an HTML form for notebooks.

    Attributes
    ----------
    title : str
    columns : tuple of str
        Names of the columns.
    rows : sequence of tuples
        Cells: str, int or float.
    note : str
        Note for the reader.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    note: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        numbers = [
            all(isinstance(row[i], int | float) for row in self.rows)
            for i in range(len(self.columns))
        ]
        cells = [[_cell(value) for value in row] for row in self.rows]
        head, *lines = aligned([self.columns, *cells], numbers)
        rule = "-" * max(map(len, [head, *lines]))
        note = ["", self.note] * bool(self.note)
        return "\n".join([self.title, "", head, rule, *lines, *note])

    def _repr_html_(self) -> str:
        return page(
            self.title, table(self.columns, self.rows), *filter(None, [self.note])
        )

    def to_frame(self) -> Any:
        """The table as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each row of the table.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pd = import_pandas("to_frame")
        return pd.DataFrame(list(self.rows), columns=list(self.columns))


def as_text(part: str | TextTable | list[str]) -> str:
    """A paragraph, a table or points, for a terminal."""
    if isinstance(part, TextTable):
        return repr(replace(part, note=wrapped(part.note)))
    return wrapped(part if isinstance(part, str) else "\n".join(f"- {x}" for x in part))


def as_html(part: str | TextTable | list[str]) -> Fragment:
    """The same for a page."""
    if isinstance(part, TextTable):
        # no line breaks: in a narrow window, scrolling reads better
        rows = [[str(x).replace(" ", "\xa0") for x in row] for row in part.rows]
        return table(part.columns, rows, caption=f"{part.title}. {part.note}")
    return paragraph(part) if isinstance(part, str) else bullets(part)


def aligned(
    lines: Sequence[Sequence[str]], right: Sequence[bool] | None = None
) -> list[str]:
    """Cells in columns, those of some columns at their right; a line of text each."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pads = [str.rjust if r else str.ljust for r in right or [False] * len(widths)]
    return [
        "  ".join(p(x, w) for p, x, w in zip(pads, line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def nearest_words_table(
    embedding: WordEmbedding, words: Iterable[str], *, n_neighbors: int = 3
) -> TextTable:
    """The nearest neighbours of given words, and their distances.

    This shows what ε means for an embedding: a distance d costs the exponent ε d.

    Parameters
    ----------
    embedding : WordEmbedding
        Public words and their vectors.
    words : iterable of str
        Words of the embedding.
    n_neighbors : int, default=3
        Neighbours per word, not counting the word itself.

    Returns
    -------
    table : TextTable
        A row per word and neighbour: ``word``, ``rank``, ``distance`` (Euclidean),
        ``neighbor``. Ties go to the word that comes first in the embedding.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule or a word is unknown.

    Notes
    -----
    *Privacy.* Only the public embedding and the given words are read.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.inspection import nearest_words_table
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> nearest_words_table(embedding, ["cat", "tea"], n_neighbors=1)
    Nearest words
    <BLANKLINE>
    word  rank  distance  neighbor
    ------------------------------
    cat      1     1.000  dog
    tea      1     8.000  dog
    """
    embedding = check_embedding(embedding)
    ids = word_ids(words, embedding)
    n_neighbors = check_integer("n_neighbors", n_neighbors, low=1)
    if n_neighbors >= len(embedding):
        raise InvalidParameterError(
            f"n_neighbors must be < the number of words ({len(embedding)}), got "
            f"{n_neighbors}."
        )
    near, distances = k_nearest_words(
        embedding.vectors[ids], embedding.vectors, n_neighbors, exclude=ids
    )
    names = embedding.word_array
    rows = tuple(
        (names[ids[i]], rank + 1, float(distances[i, rank]), names[near[i, rank]])
        for i, rank in np.ndindex(near.shape)
    )
    return TextTable("Nearest words", ("word", "rank", "distance", "neighbor"), rows)
