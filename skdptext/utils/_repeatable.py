"""What repeatable noise shows, and whom."""

from __future__ import annotations

from numbers import Integral

from skdptext.exceptions import PrivacyLeakWarning
from skdptext.utils._warnings import warn_once

__all__ = ["REPEATABLE", "warn_of_repeats"]

# Seeds below it can be found by trial; those that people choose, in minutes.
_GUESSABLE = 2**64

REPEATABLE = (
    "The noise is repeatable (random_state is an integer): anyone who sees the release "
    "learns which documents are equal, and anyone who can run this perturber learns "
    "whether a document is a given one. What follows is for documents that are "
    "released under different ids (document_ids), which nobody can use again."
)


def warn_of_repeats(random_state: object, has_ids: bool = False) -> None:
    """Warn of what repeatable noise shows.

    Equal documents with different ids are released differently.
    """
    if not isinstance(random_state, Integral):
        return
    if not has_ids:
        warn_once(
            "random_state is an integer: equal documents get equal releases, which "
            "shows that they are equal. Give each document its own id, "
            "transform(X, document_ids=...), or use random_state=None.",
            PrivacyLeakWarning,
        )
    if int(random_state) < _GUESSABLE:
        warn_once(
            "random_state is an integer below 2^64, which can be guessed by trying: "
            "small ones in minutes. Anyone who knows it can undo the noise. Draw it "
            "with secrets.randbits(128), and keep it secret.",
            PrivacyLeakWarning,
        )
