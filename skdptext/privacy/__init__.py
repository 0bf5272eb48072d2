"""What a release promises, in exact numbers."""

from skdptext.privacy._guarantee import PrivacyGuarantee

__all__ = ["PrivacyGuarantee"]
