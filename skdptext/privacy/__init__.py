"""What a release promises, in exact numbers and in sentences."""

from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._part import Part as Part

# The names above of the form `x as x` are for other packages, and have no page.
__all__ = ["PrivacyGuarantee"]
