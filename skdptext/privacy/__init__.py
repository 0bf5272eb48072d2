"""Privacy guarantees of releases, as exact numbers and as sentences."""

from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._parts import (
    GRID as GRID,
    MOST_GROUPS as MOST_GROUPS,
    LearningPart as LearningPart,
    ReplacementPart as ReplacementPart,
)

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = ["PrivacyGuarantee"]
