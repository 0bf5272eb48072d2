"""Small helpers with no knowledge of words or mechanisms."""

from skdptext.utils._validation import (
    check_bags,
    check_flag,
    check_integer,
    check_option,
    check_real,
)

__all__ = ["check_bags", "check_flag", "check_integer", "check_option", "check_real"]
