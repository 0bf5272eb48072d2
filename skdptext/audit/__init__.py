"""Statistical tests of whether the running code keeps its privacy guarantee."""

from skdptext.audit._documents import (
    ReleaseAudit as ReleaseAudit,
    audit_document_pair,
)
from skdptext.audit._law import NoiseLawAudit as NoiseLawAudit, audit_noise_law
from skdptext.audit._training import TrainingAudit as TrainingAudit, audit_training
from skdptext.audit._words import audit_word_privacy

__all__ = [
    "audit_document_pair",
    "audit_noise_law",
    "audit_training",
    "audit_word_privacy",
]
