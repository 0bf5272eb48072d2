"""Warnings that come once a process."""

from __future__ import annotations

import warnings

import pytest

from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils import warn_once
from tests.expected import no_warning


def heard(message, *filters):
    """How often each of three calls is heard, other filters changing in between."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        for action, options in filters:
            warnings.filterwarnings(action, **options)
        for _ in range(3):
            warn_once(message, PrivacyLeakWarning)
            with warnings.catch_warnings():  # Python then forgets what it has shown
                warnings.simplefilter("ignore", FutureWarning)
        return len(caught)


def test_by_default_the_first_time_only():
    assert heard("told by default") == 1
    assert heard("told by default") == 0
    assert heard("another text") == 1


@pytest.mark.parametrize(
    ("action", "options", "times"),
    [
        ("always", {}, 3),
        ("always", {"message": "what of"}, 3),
        ("always", {"category": UserWarning}, 3),
        ("ignore", {}, 0),
        ("always", {"category": DeprecationWarning}, 1),
        ("always", {"message": "of it"}, 1),
        ("always", {"module": "elsewhere"}, 1),
    ],
)
def test_filters_are_obeyed(action, options, times):
    message = f"what of {action} and {options}"
    assert heard(message, (action, options)) == times
    # what a filter hid or always shows was not told by default
    assert heard(message) == (1 if times in (0, 3) else 0)


def test_errors_are_raised():
    with no_warning():
        for _ in range(2):
            with pytest.raises(PrivacyLeakWarning, match="an error"):
                warn_once("an error", PrivacyLeakWarning)
