"""Public features of documents: the number of their group, or a vector.

A document has the same features, bit for bit, whichever others are in its block: else
one person more would move the rounding of everybody else's.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from skdptext.documents import MeanVectorEncoder, check_rows_alone, topic_encoder
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._sums import unit_rows, whole_groups, whole_vectors
from skdptext.utils import is_fitted, kind_of

# Groups for each class, at most.
_GROUPS_A_CLASS = 20
# Part of the unit length of a vector that counts the documents of a class.
CONSTANT = 0.3
# Public documents are grouped in so many directions for each class, within limits.
# Noise has no part in them: with 60 instead of 10, 16 topics of docstrings were told in
# .67 instead of .61 of cases, and with 30 two kinds of tweets in .72 instead of .69.
_DIRECTIONS_A_CLASS, _FEWEST, _MOST = 4, 30, 60


def is_grouper(encoder: Any) -> bool:
    """Whether it assigns documents to groups, and does not give them vectors."""
    return hasattr(encoder, "predict")


@dataclass(frozen=True, eq=False)
class PublicFeatures:
    """What is summed of a document, and the same of the public documents."""

    encoder: Any  # fitted
    public: np.ndarray  # numbers of groups, or unit vectors
    names: np.ndarray | None  # of the groups; None: there are vectors
    ours: bool  # no document has an effect on another one's features, by arithmetic
    fitted_before: bool = False
    one_by_one: bool = False  # rows depend on their block in the last bits

    @property
    def n_columns(self) -> int:
        """Of the sums: groups, or directions and a constant."""
        return self.public.shape[1] + 1 if self.names is None else len(self.names)

    @property
    def fingerprint(self) -> bytes:
        """Digest of the features of the public documents."""
        return blake2b(np.ascontiguousarray(self.public).tobytes()).digest()

    def whole(self, documents: list[Any]) -> np.ndarray:
        """Contributions of documents of norm `GRID` at most, (n, n_columns)."""
        if self.ours:
            rows = _answers(self.encoder, documents)
        else:
            rows, exact = _checked(self.encoder, documents)
            if self.one_by_one or not exact:
                alone = [_answers(self.encoder, [document]) for document in documents]
                rows = np.concatenate(alone)
        if self.names is None:
            if rows.shape[1:] != self.public.shape[1:]:
                raise InvalidParameterError(
                    "encoder must give every document a vector of as many numbers as "
                    f"the public documents ({self.public.shape[1]}), got "
                    f"{rows.shape[1]}."
                )
            return whole_vectors(rows, CONSTANT)
        at = np.searchsorted(self.names, rows).clip(max=len(self.names) - 1)
        if not np.array_equal(self.names[at], rows):
            raise InvalidParameterError(
                "encoder must assign every document to a group that holds a public "
                "document, but does not. Choose fewer groups, or more public documents."
            )
        return whole_groups(at, len(self.names))


def features_of(encoder: Any, documents: list[Any]) -> PublicFeatures:
    """Of an encoder of the user's, which is fitted on public documents if need be."""
    steps = encoder.get_params() if hasattr(encoder, "get_params") else {}
    frozen = any(isinstance(step, FrozenEstimator) for step in steps.values())
    before = is_fitted(encoder) or frozen
    if is_fitted(encoder):
        fitted = deepcopy(encoder)  # which its owner may fit again
    else:
        try:
            fitted = clone(encoder, safe=False).fit(documents)
        except Exception as error:  # it may quote documents, which are public
            raise InvalidParameterError(
                "encoder must learn from public_documents, but its fit failed with "
                f"{type(error).__name__}: {error}"
            ) from error
    public, exact = _checked(fitted, documents)
    if is_grouper(encoder):
        names, numbers = np.unique(public, return_inverse=True)
        return PublicFeatures(fitted, numbers, names, False, before, not exact)
    return PublicFeatures(fitted, unit_rows(public), None, False, before, not exact)


def _checked(encoder: Any, documents: list[Any]) -> tuple[np.ndarray, bool]:
    return check_rows_alone("encoder", lambda some: _answers(encoder, some), documents)


def _answers(encoder: Any, documents: Sequence[Any]) -> np.ndarray:
    """Groups or vectors of documents; an error says nothing of these."""
    try:
        if is_grouper(encoder):
            rows = np.asarray(encoder.predict(documents))
        else:
            rows = encoder.transform(documents)
            rows = rows.toarray() if sp.issparse(rows) else rows
            rows = np.asarray(rows, dtype=np.float64)
    except Exception as error:  # whatever a user's encoder raises
        raise InvalidParameterError(
            "encoder must give every document a vector or a group, but failed with "
            f"{type(error).__name__}. (Its message may quote a document, and is not "
            "shown.)"
        ) from None
    if rows.ndim != (1 if is_grouper(encoder) else 2) or len(rows) != len(documents):
        raise InvalidParameterError(
            "encoder must give every document a row of numbers, or a group, got shape "
            f"{rows.shape} for {len(documents)} documents."
        )
    if rows.ndim == 2 and not np.isfinite(rows).all():
        raise InvalidParameterError(
            "encoder must give every document a vector of finite numbers, got others."
        )
    return rows


def check_encoder(encoder: Any) -> None:
    """Refuse what gives documents neither groups nor vectors."""
    able = hasattr(encoder, "transform") or is_grouper(encoder)
    if encoder is not None and (isinstance(encoder, type) or not able):
        raise InvalidParameterError(
            "encoder must be None or an estimator or pipeline with transform, which "
            "gives each document a vector, or with predict, which gives it a group; "
            f"got {kind_of(encoder)}."
        )


# -- the default ones ------------------------------------------------------------------


class TopicGroups(BaseEstimator):
    """Groups of public documents: k-means among their topics."""

    def __init__(self, n_groups: int, n_directions: int) -> None:
        self.n_groups = n_groups
        self.n_directions = n_directions

    def fit(self, X: Any, y: Any = None) -> TopicGroups:
        """Find groups of public documents."""
        from sklearn.cluster import KMeans  # late, as it is slow to import

        self.topics_ = topic_encoder(X, self.n_directions)
        places = self.topics_.fit_transform(X)
        centres = KMeans(self.n_groups, n_init=10, random_state=0).fit(places)
        self.centres_ = centres.cluster_centers_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number of the centre that is nearest to each document."""
        scores = np.tile(-(self.centres_**2).sum(axis=1) / 2, (len(X), 1))
        # column by column: a product of matrices may round otherwise in other blocks
        places = self.topics_.transform(X)
        for column, of_centres in zip(places.T, self.centres_.T, strict=True):
            scores += column[:, None] * of_centres
        return np.asarray(scores.argmax(axis=1))


class Directions(BaseEstimator):
    """Documents in directions of topics, and of word vectors if there are any.

    Topics are centred and scaled by the root of their deviations; both kinds of
    directions have the same length.
    """

    def __init__(self, n_components: int, embedding: Any = None) -> None:
        self.n_components = n_components
        self.embedding = embedding

    def fit(self, X: Any, y: Any = None) -> Directions:
        """Find directions of public documents."""
        self.topics_ = topic_encoder(X, self.n_components)
        rows = self.topics_.fit_transform(X)
        self.mean_, deviations = rows.mean(axis=0), rows.std(axis=0)
        self.scale_ = np.where(deviations > 1e-9, deviations, np.inf) ** -0.5
        self.words_ = None
        if self.embedding is not None:
            self.words_ = MeanVectorEncoder(self.embedding, self.n_components).fit(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Rows of directions."""
        rows = unit_rows((self.topics_.transform(X) - self.mean_) * self.scale_)
        return (
            rows if self.words_ is None else np.hstack([rows, self.words_.transform(X)])
        )


@lru_cache(maxsize=2)
def default_features(
    documents: tuple[Any, ...], kind: Any, *options: Any
) -> PublicFeatures:
    """Of an encoder above, which is fitted once for the same public documents."""
    texts = [d if isinstance(d, str) else list(d) for d in documents]
    try:
        encoder = kind(*options).fit(texts)
        public = _answers(encoder, texts)
    except ValueError:
        raise InvalidParameterError(
            "public_documents must differ in their words to be grouped, got "
            f"{len(texts)} that do not. Give more documents, or an encoder."
        ) from None
    if is_grouper(encoder):
        return PublicFeatures(encoder, public, np.arange(options[0]), True)
    return PublicFeatures(encoder, unit_rows(public), None, True)


def grouping(
    n_epsilon: float, n_public: int, n_classes: int, n_groups: Any = "auto"
) -> tuple[int, int]:
    """How many groups, and how many directions they are found in.

    Fewer groups where noise would fill them, public documents or classes are few.
    """
    k = n_groups
    if n_groups == "auto":
        most = max(2, min(300, n_public // 4, _GROUPS_A_CLASS * n_classes))
        k = int(min(max(n_epsilon / 10, 8), most))
    return k, min(int(np.clip(4 * n_classes, 30, 60)), max(k, 10))
