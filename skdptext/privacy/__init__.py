"""Privacy guarantees of releases, as exact numbers and as sentences."""

from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._part import Part as Part

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = ["PrivacyGuarantee"]
