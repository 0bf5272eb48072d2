"""Cutting a story into what the adversary knows and what is to be attributed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_document, check_integer, check_option, is_count_matrix


class KnownAndSnippets(NamedTuple):
    """Two parts of each document, which do not overlap.

    Attributes
    ----------
    known : list of str or of lists of str
        First words of each document: the known text of its author.
    snippets : list of str or of lists of str
        Last words of each document: the text to attribute.
    indices : ndarray of int, shape (n_parts,)
        The document that each pair comes from, for selecting its label.
    """

    known: list[Any]
    snippets: list[Any]
    indices: np.ndarray


def split_known_and_snippet(
    documents: Iterable[Any],
    *,
    n_known: int = 2000,
    n_snippet: int = 1000,
    too_short: str = "error",
) -> KnownAndSnippets:
    """Take the first words of documents as known text, the last ones as snippets.

    The set-up of [1]_ (appendix B.1), after [2]_. Split first, prepare afterwards: the
    words counted here are the raw text's, including stop words.

    Parameters
    ----------
    documents : iterable of str or of lists of str
        The words of a str are separated by white space. A part of a str is a substring,
        with its punctuation and line breaks; a part of a list is a list.
    n_known : int, default=2000
        Words of a known text.
    n_snippet : int, default=1000
        Words of a snippet.
    too_short : {"error", "drop", "share"}, default="error"
        What to do with a document of fewer than ``n_known + n_snippet`` words, whose
        parts would overlap: refuse it; leave it out; or divide it in the ratio of
        `n_known` to `n_snippet`, for which it needs two words.

    Returns
    -------
    parts : KnownAndSnippets
        ``known``, ``snippets`` and ``indices``, as a named tuple.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or a document is too short and may not be.

    Notes
    -----
    *Privacy.* Both parts are the document's own words; nothing is protected yet.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019.
    .. [2] M. Koppel, J. Schler, S. Argamon (2011). Authorship attribution in the wild.
       Language Resources and Evaluation 45(1), 83-94.

    Examples
    --------
    >>> from skdptext.preprocessing import split_known_and_snippet
    >>> stories = ["One day, the cat sat down.", "The end."]
    >>> known, snippets, indices = split_known_and_snippet(
    ...     stories, n_known=3, n_snippet=2, too_short="drop")
    >>> known, snippets, indices.tolist()
    (['One day, the'], ['sat down.'], [0])
    """
    n_known = check_integer("n_known", n_known, low=1)
    n_snippet = check_integer("n_snippet", n_snippet, low=1)
    check_option("too_short", too_short, ("error", "drop", "share"))
    if is_count_matrix(documents):
        raise InvalidParameterError(
            "documents must be texts or token lists, since a count matrix has no order."
        )
    needed = n_known + n_snippet if too_short != "share" else 2
    known: list[Any] = []
    snippets: list[Any] = []
    indices: list[int] = []
    n_documents, short = 0, []
    for position, document in enumerate(documents):
        check_document(document, position)
        n_documents += 1
        document = document.strip() if isinstance(document, str) else list(document)
        n_words = len(document.split() if isinstance(document, str) else document)
        if n_words < needed:
            short.append((position, n_words))
            continue
        first, last = n_known, n_snippet
        if n_words < first + last:
            first = round(n_words * n_known / (n_known + n_snippet))
            first = min(max(first, 1), n_words - 1)
            last = n_words - first
        if isinstance(document, str):
            # What is left of the text after its first words, and before its last ones
            after, before = document.split(None, first)[-1], document.rsplit(None, last)
            known.append(document[: len(document) - len(after)].rstrip())
            snippets.append(document[len(before[0]) :].lstrip())
        else:
            known.append(document[:first])
            snippets.append(document[-last:])
        indices.append(position)
    if short and too_short != "drop":
        each, advice = "each to be shared out", ""
        if too_short == "error":
            each, advice = "each", ' Use too_short="drop" or "share", or smaller parts.'
        raise InvalidParameterError(
            f"documents must have at least {needed} words {each}: {len(short)} of "
            f"{n_documents} have fewer, first document {short[0][0]}, the shortest has "
            f"{min(n for _, n in short)}.{advice}"
        )
    return KnownAndSnippets(known, snippets, np.array(indices, dtype=np.intp))
