"""What a release promises, in exact numbers, and whether it keeps the promise."""

from skdptext.privacy._audit import WordPrivacyAudit, audit_word_privacy
from skdptext.privacy._composition import ComposedGuarantee
from skdptext.privacy._fresh import FreshNoiseAudit, audit_fresh_noise
from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._law import NoiseLawAudit, audit_noise_law

__all__ = [
    "ComposedGuarantee",
    "FreshNoiseAudit",
    "NoiseLawAudit",
    "PrivacyGuarantee",
    "WordPrivacyAudit",
    "audit_fresh_noise",
    "audit_noise_law",
    "audit_word_privacy",
]
