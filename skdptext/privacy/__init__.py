"""What a release promises, in exact numbers and in sentences."""

from skdptext.privacy._base import (
    COLUMNS as COLUMNS,
    KEY as KEY,
    Guarantee,
    Part as Part,
    Statement as Statement,
    exposure as exposure,
    fields as fields,
)
from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._part import PerturbationPart as PerturbationPart

# The names above of the form `x as x` are for the rooms beside, and have no page.
__all__ = ["Guarantee", "PrivacyGuarantee"]
