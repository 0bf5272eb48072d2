"""The origin of the text that parameters are chosen on: public, released, private."""

from __future__ import annotations

from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils._validation import check_option
from skdptext.utils._warnings import warn_once

__all__ = ["check_tuned_on", "warn_of_private_tuning"]

_ORIGINS = ("private", "public", "released")


def check_tuned_on(tuned_on: str) -> str:
    """Return `tuned_on` if it is a known origin of documents."""
    return check_option("tuned_on", tuned_on, _ORIGINS)


def warn_of_private_tuning(tuned_on: str, what: str, documents: str) -> None:
    """Warn that a choice costs privacy, unless its documents are declared public."""
    if tuned_on == "private":
        warn_once(
            f"{what} of documents that may be private: a release that uses the choice "
            "reveals something about them that its guarantee does not count. Choose on "
            f"public text of the same kind, or on text released before. If {documents} "
            'are public or released, say so: tuned_on="public" or tuned_on="released".',
            PrivacyLeakWarning,
        )
