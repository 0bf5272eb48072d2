"""What tests expect: input that is refused, and that nothing is warned of."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from skdptext.exceptions import InvalidParameterError

# For releases in which a leak would be warned of: they hold no real document
leaks_allowed = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning"
)

# For tests of what else happens, whose documents hold words that nobody knows
unknown_words = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.OutOfVocabularyWarning",
    "ignore::skdptext.exceptions.EmptyDocumentWarning",
)
# ... or are copies, or too few for their noise
small_samples = pytest.mark.filterwarnings(
    "ignore:.* texts are copies of others", "ignore:Noise drowns the differences"
)


def refused(message: str) -> Any:
    """What runs inside is refused, in words that the pattern matches."""
    return pytest.raises(InvalidParameterError, match=message)


def refusals(*cases: tuple, never: str | None = None) -> Callable:
    """What a test does is refused in each case: values, and how the message reads.

    The values are the test's last parameters; what is before them are fixtures. No
    message has the word `never` in it.
    """

    def parametrized(test: Callable) -> Callable:
        own = inspect.signature(test)
        names = list(own.parameters)[1 - len(cases[0]) :]
        message = inspect.Parameter("message", inspect.Parameter.KEYWORD_ONLY)

        @functools.wraps(test)
        def raises(*, message: str, **values: Any) -> None:
            with refused(message) as error:
                test(**values)
            assert never is None or never not in str(error.value)

        parameters = [*own.parameters.values(), message]
        raises.__signature__ = own.replace(parameters=parameters)  # pytest asks for it
        return pytest.mark.parametrize((*names, "message"), cases)(raises)

    return parametrized


@contextmanager
def no_warning() -> Iterator[None]:
    """Nothing that runs inside warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
