"""Small helpers with no knowledge of words or mechanisms."""

from skdptext.utils._blocks import blocks, working_memory_bytes
from skdptext.utils._random import NoiseStreams, check_noise_state
from skdptext.utils._validation import (
    check_bags,
    check_flag,
    check_integer,
    check_n_jobs,
    check_option,
    check_real,
)

__all__ = [
    "NoiseStreams",
    "blocks",
    "check_bags",
    "check_flag",
    "check_integer",
    "check_n_jobs",
    "check_noise_state",
    "check_option",
    "check_real",
    "working_memory_bytes",
]
