"""Choosing ε and λ: privacy subject to utility, or utility subject to privacy."""

from skdptext.model_selection._calibration import (
    Calibration as Calibration,
    calibrate_epsilon,
)
from skdptext.model_selection._constraint import best_under_constraint
from skdptext.model_selection._results import (
    search_results as search_results,
    search_results_frame,
)

__all__ = [
    "best_under_constraint",
    "calibrate_epsilon",
    "search_results_frame",
]
