"""Differentially private text for scikit-learn.

``import skdptext`` is enough: classes and subpackages are imported when they are first
used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from skdptext._version import __version__

if TYPE_CHECKING:  # the names that `__getattr__` imports
    from skdptext import (
        attacks,
        audit,
        base,
        datasets,
        embeddings,
        exceptions,
        inspection,
        learning,
        mechanisms,
        metrics,
        model_selection,
        naive_bayes,
        neighbors,
        perturbation,
        preprocessing,
        privacy,
        release,
        replacement,
    )
    from skdptext.embeddings import WordEmbedding
    from skdptext.learning import DPTextClassifier
    from skdptext.neighbors import WMDKNNClassifier
    from skdptext.perturbation import DPWordPerturber
    from skdptext.replacement import DPDocumentReplacer

# The subpackage of each class. Classes are imported late, because importing all of them
# takes seconds.
_CLASSES = {
    "DPDocumentReplacer": "replacement",
    "DPTextClassifier": "learning",
    "DPWordPerturber": "perturbation",
    "WMDKNNClassifier": "neighbors",
    "WordEmbedding": "embeddings",
}

__all__ = [
    "DPDocumentReplacer",
    "DPTextClassifier",
    "DPWordPerturber",
    "WMDKNNClassifier",
    "WordEmbedding",
    "__version__",
    "attacks",
    "audit",
    "base",
    "datasets",
    "embeddings",
    "exceptions",
    "inspection",
    "learning",
    "mechanisms",
    "metrics",
    "model_selection",
    "naive_bayes",
    "neighbors",
    "perturbation",
    "preprocessing",
    "privacy",
    "release",
    "replacement",
]


def __getattr__(name: str) -> Any:
    """Import a class or a subpackage at its first use (SPEC 1)."""
    if name in _CLASSES:
        return getattr(importlib.import_module(f"skdptext.{_CLASSES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"skdptext.{name}")
    raise AttributeError(f"module 'skdptext' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
