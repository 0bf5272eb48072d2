"""Tables to read: nearest words, and words under noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skdptext.documents import word_ids
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import draw_words
from skdptext.metrics import find_perturber
from skdptext.preprocessing import DocumentPreparer
from skdptext.search import k_nearest_words
from skdptext.utils import (
    Fragment,
    NoiseStreams,
    bullets,
    check_integer,
    check_numbers,
    import_pandas,
    kind_of,
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


def words_under_noise(
    perturber: Any,
    text: str | Sequence[str],
    *,
    epsilons: Sequence[float] | None = None,
    random_state: Any = None,
) -> TextTable:
    """What the words of a text become at each ε: Table 3 of [1]_.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Or a fitted pipeline or search that holds one. It decides how the text is split
        and which stop words are left out; unknown words are always left out.
    text : str or list of str
        A text or its tokens.
    epsilons : sequence of float > 0, default=None
        One column for each, in this order. None: 4, 2, 1, 1/2 and 1/4 times the ε of
        the perturber. `~skdptext.model_selection.calibrate_epsilon` finds the ε that
        changes a given share of a text.
    random_state : None, int or numpy.random.Generator, default=None
        An int makes the table repeatable. A release with the same integer uses other
        noise.

    Returns
    -------
    table : TextTable
        A row per known word of the text, in order: ``none`` (the word), and a column
        per ε, ``ε = 30`` and so on. The note gives the share of unchanged words.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the text has no known word.
    sklearn.exceptions.NotFittedError
        If the perturber is not fitted.

    Notes
    -----
    *Method.* The columns share the draws of each word, so noise on vectors is the same
    noise divided by each ε: a word moves along a straight line as ε falls, and once it
    has changed it does not come back. Within each single column, the words are
    distributed as in a release.

    *Privacy.* Only the owner of the text may see the table: it contains the text
    itself. Never publish several columns: they share their noise, and together can cost
    more than the sum of their ε, without any bound. For instance, if a row shows one
    word at a larger ε and another at a smaller ε, the true word cannot be the latter.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019, appendix B.3.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.inspection import words_under_noise
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, document_length=2).fit([])
    >>> words_under_noise(perturber, "Cat, dog?", epsilons=[1000, 100])
    Words under noise
    <BLANKLINE>
    none  ε = 1000  ε = 100
    -----------------------
    cat   cat       cat
    dog   dog       dog
    <BLANKLINE>
    Unchanged: 100 % at ε = 1000, 100 % at ε = 100.
    """
    source = find_perturber(perturber)
    own = source.channel_at().epsilon  # raises if it is not fitted
    if epsilons is None:
        epsilons = [own * factor for factor in (4, 2, 1, 0.5, 0.25)]
    scale = check_numbers("epsilons", epsilons, low=0, open_low=True)
    if isinstance(source.embedding, str):
        raise InvalidParameterError(
            "perturber must have a WordEmbedding to read texts, got one-hot words."
        )
    preparer = DocumentPreparer.from_perturber(
        source, document_length=None, oov="drop", output="tokens"
    )
    (words,) = preparer.transform([text])
    words = [word for word in words if word in source.embedding_]
    if not words:
        raise InvalidParameterError(
            "text must hold at least one word of the embedding, got "
            f"{kind_of(text)} without any."
        )
    ids = word_ids(words, source.embedding_)
    embedding = source.embedding_
    streams = NoiseStreams(random_state, b"words_under_noise")
    columns = np.empty((len(scale), len(ids)), dtype=np.int64)
    for column, epsilon in zip(columns, scale, strict=True):
        # The same draws at every ε.
        # We open the stream anew for each ε, so that only ε changes from column to
        # column.
        channel, rng = source.channel_at(epsilon=epsilon), streams.open(b"noise")
        for rows, noisy in draw_words(channel, ids, 1, rng):
            column[rows] = noisy[:, 0]
    names = [f"ε = {epsilon:g}" for epsilon in scale]
    clear = embedding.word_array[ids]
    noisy_words = source.mechanism_.released.word_array[columns]
    shares = [
        f"{share:.0%}".replace("%", " %") + f" at {name}"
        for share, name in zip((noisy_words == clear).mean(axis=1), names, strict=True)
    ]
    return TextTable(
        "Words under noise",
        ("none", *names),
        tuple(map(tuple, np.stack([clear, *noisy_words], axis=1).tolist())),
        note=f"Unchanged: {', '.join(shares)}." if shares else "",
    )
