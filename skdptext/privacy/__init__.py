"""What a release promises, in exact numbers and in sentences."""

from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._part import ReleasePart

__all__ = ["PrivacyGuarantee", "ReleasePart"]
