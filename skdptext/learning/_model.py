"""What is made of a release: labels of public documents, and a model of their words."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from skdptext.learning._readout import (
    Student,
    WordRows,
    class_shares,
    draw_corpus,
    likelihood,
    targets,
    train_student,
    words_of_public,
)
from skdptext.learning._sums import Noise
from skdptext.replacement import PublicDocuments
from skdptext.utils import Memo

# TF-IDF rows of the public documents, which do not depend on what is private
_rows: Memo[Any] = Memo(4)


class Model:
    """What is made of a release, worked out when it is first asked for.

    It knows public things and the noisy sums only.
    """

    def __init__(
        self,
        documents: PublicDocuments,
        noisy_sums: np.ndarray,
        noise: Noise,
        groups: np.ndarray | None,
        vectors: np.ndarray | None,
    ) -> None:
        self.documents, self.noise = documents, noise
        self.groups, self.vectors = groups, vectors  # of the public documents
        self.table = noise.table(noisy_sums)

    @cached_property
    def student(self) -> Student:
        """Trained on the public documents, with the classes that the sums say."""
        said = likelihood(self.table, self.groups, self.vectors)
        return train_student(self._rows, targets(said, class_shares(self.table)))

    @property
    def _rows(self) -> WordRows:
        documents = self.documents
        return _rows.get(documents.fingerprint, lambda: words_of_public(documents))

    def draw(
        self, n_samples: int | None, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of public documents, and of their classes."""
        log_proba = self.student.log_proba_of_rows(self._rows[2])
        return draw_corpus(log_proba, class_shares(self.table), n_samples, rng)
