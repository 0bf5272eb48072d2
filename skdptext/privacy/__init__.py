"""What a release promises, in exact numbers and in sentences."""

from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._part import ReleasePart
from skdptext.privacy._tem import tem_distance

__all__ = ["PrivacyGuarantee", "ReleasePart", "tem_distance"]
