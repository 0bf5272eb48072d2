"""Which names have a page in the API reference, and what each page shows.

A room's ``__all__`` holds what a user calls, and each of these names has a page. What
users only get as a result stands on the page of what returns it (`RESULTS`), and what
a custom mechanism or attack needs on the page on extending skdptext.
"""

from __future__ import annotations

import importlib
import re
from operator import attrgetter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

# The page of a name, and what of its room is shown there.
RESULTS = {
    "attacks.linkage_attack": ["Score", "Scores"],
    "audit.audit_document_pair": ["ReleaseAudit"],
    "audit.audit_noise_law": ["NoiseLawAudit"],
    "audit.audit_training": ["TrainingAudit"],
    "inspection.release_report": ["ReleaseReport"],
    "metrics.density_statistics": ["DensityStatistics"],
    "metrics.plausible_deniability": ["PlausibleDeniability"],
    "model_selection.calibrate_epsilon": ["Calibration"],
    "replacement.DPDocumentReplacer": ["PersonAnswers"],
    "replacement.topic_shares": ["TopicShares"],
}


def write(page: Path, text: str) -> None:
    """A page that is made; one that is as it was need not be built again."""
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, encoding="utf-8")


def rooms() -> list[str]:
    """The subpackages of the reference, in the order of its index."""
    index = (HERE / "api" / "index.rst").read_text("utf-8")
    return re.findall(r"^   skdptext\.(\w+)$", index, re.M)


def public(path: str) -> Any:
    """What is at ``room.name``."""
    importlib.import_module(f"skdptext.{path.partition('.')[0]}")
    return attrgetter(path)(importlib.import_module("skdptext"))


def names(room: str) -> list[str]:
    """The names with a page: classes and functions, not plain values."""
    module = importlib.import_module(f"skdptext.{room}")
    return sorted(n for n in module.__all__ if callable(getattr(module, n)))


def paths() -> list[str]:
    """All names with a page, as ``room.name``."""
    return [f"{room}.{name}" for room in rooms() for name in names(room)]


def others() -> list[str]:
    """All else that the site shows, as ``room.name``."""
    page = (HERE / "howto" / "extend.rst").read_text("utf-8")
    directive = r"^\.\. auto(?:class|function):: skdptext\.(\S+)$"
    return _results() + re.findall(directive, page, re.M)


def made() -> set[Any]:
    """The classes of which only the library makes objects."""
    displays = [name for name in paths() if name.endswith("Display")]
    return set(map(public, ["privacy.PrivacyGuarantee", *displays, *_results()]))


def _results() -> list[str]:
    return [
        f"{name.partition('.')[0]}.{result}"
        for name, results in RESULTS.items()
        for result in results
    ]
