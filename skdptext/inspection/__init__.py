"""Reports on releases, and displays that draw figures."""

from skdptext.inspection._columns import column_sentences as column_sentences
from skdptext.inspection._deniability import PlausibleDeniabilityDisplay
from skdptext.inspection._neighborhood import NeighborhoodDisplay
from skdptext.inspection._privacy_utility import PrivacyUtilityDisplay
from skdptext.inspection._release_report import ReleaseReport as ReleaseReport
from skdptext.inspection._release_report import release_report

__all__ = [
    "NeighborhoodDisplay",
    "PlausibleDeniabilityDisplay",
    "PrivacyUtilityDisplay",
    "release_report",
]
