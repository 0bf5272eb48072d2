"""From raw strings to words, by scikit-learn's own analyzers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_flag, kind_of, shown


def make_vectorizer(
    *, lowercase: Any, stop_words: Any, token_pattern: Any, tokenizer: Any
) -> CountVectorizer:
    """A `CountVectorizer` with these options, which are checked.

    Its ``build_analyzer`` splits strings into words; its ``get_stop_words`` gives the
    words to leave out.
    """
    check_flag("lowercase", lowercase)
    if tokenizer is not None and not callable(tokenizer):
        raise InvalidParameterError(
            f"tokenizer must be None or callable, got {shown(tokenizer)}."
        )
    if tokenizer is None:
        _check_pattern(token_pattern)
    named = isinstance(stop_words, str)
    if stop_words is not None and not (named and stop_words == "english"):
        listed = isinstance(stop_words, Iterable) and not isinstance(
            stop_words, Iterator
        )
        if named or not listed or not all(isinstance(word, str) for word in stop_words):
            raise InvalidParameterError(
                'stop_words must be None, "english" or a list of str, got '
                f"{shown(stop_words)}."
            )
        stop_words = list(stop_words)
    return CountVectorizer(
        lowercase=bool(lowercase),
        stop_words=stop_words,
        token_pattern=token_pattern if tokenizer is None else None,
        tokenizer=tokenizer,
    )


def _check_pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except TypeError:
        raise InvalidParameterError(
            f"token_pattern must be a regular expression, got {kind_of(pattern)}."
        ) from None
    except re.error as error:  # whose message may quote it
        raise InvalidParameterError(
            f"token_pattern must be a regular expression, got {shown(pattern)} that "
            f"breaks its rules at position {error.pos}."
        ) from None
    if groups > 1:
        raise InvalidParameterError(
            "token_pattern must have at most one capturing group, got "
            f"{shown(pattern)} with {groups}."
        )
