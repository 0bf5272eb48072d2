"""Whether a release keeps its guarantee: statistical tests of the code that it runs."""

from skdptext.audit._document_law import DocumentLawAudit, audit_document_law
from skdptext.audit._documents import DocumentPairAudit, audit_document_pair
from skdptext.audit._fresh import FreshNoiseAudit, audit_fresh_noise
from skdptext.audit._law import NoiseLawAudit, audit_noise_law
from skdptext.audit._words import WordPrivacyAudit, audit_word_privacy

__all__ = [
    "DocumentLawAudit",
    "DocumentPairAudit",
    "FreshNoiseAudit",
    "NoiseLawAudit",
    "WordPrivacyAudit",
    "audit_document_law",
    "audit_document_pair",
    "audit_fresh_noise",
    "audit_noise_law",
    "audit_word_privacy",
]
