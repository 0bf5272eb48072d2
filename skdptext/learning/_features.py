"""Public features of documents: their group, their vector, or both.

A document has the same features, bit for bit, whichever others are in its block: else
one person more would move the rounding of everybody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from skdptext.exceptions import InvalidParameterError
from skdptext.learning._sums import unit_rows
from skdptext.replacement import (
    PublicDocuments,
    PublicGroups,
    check_grouper,
    fitted_groups,
    in_blocks,
)
from skdptext.utils import Memo, is_fitted, kind_of, memo_property

# Public documents that are encoded alone, too, and in another order.
_ALONE = 32
# Public documents whose features tell whether an encoder is the one of a saved model.
_KNOWN = 64

_made: Memo[PublicVectors] = Memo(4)


@dataclass(frozen=True, eq=False)
class PublicVectors:
    """An encoder that gives each document a vector by itself."""

    encoder: Any  # fitted, with transform
    documents: PublicDocuments
    fitted_before: bool

    def encode(self, documents: Sequence[Any]) -> np.ndarray:
        """Unit vectors of documents, or 0, (n_documents, n_dims)."""
        if self.one_by_one:
            rows = [self._rows([document]) for document in documents]
            return unit_rows(np.concatenate([self._rows([])[:0], *rows]))
        return unit_rows(self._rows(documents))

    def _rows(self, documents: Sequence[Any]) -> np.ndarray:
        # of none there may be an error: they are those of an empty text then
        try:
            return encoded(self.encoder, documents or [self.documents[0]])
        except InvalidParameterError:
            raise
        except Exception as error:  # whatever a user's encoder raises
            raise InvalidParameterError(
                "encoder must give every document a vector, but its transform failed "
                f"with {type(error).__name__}. (Its message may quote a document, and "
                "is not shown.)"
            ) from None

    @memo_property
    def one_by_one(self) -> bool:
        """Whether rows depend on their block in the last bits, as products may."""
        texts = list(self.documents[: 4 * _ALONE])
        together = self._rows(texts)
        again = self._rows(texts[::-1])[::-1]
        alone = np.concatenate([self._rows([text]) for text in texts[:_ALONE]])
        close = np.allclose(together, again, rtol=1e-6, atol=1e-9)
        if not close or not np.allclose(together[: len(alone)], alone, 1e-6, 1e-9):
            raise InvalidParameterError(
                "encoder must encode each document by itself, but a public document "
                "has another vector among others than alone: what is summed for one "
                "person would depend on the others, and no promise would hold."
            )
        same = np.array_equal(together, again)
        return not (same and np.array_equal(together[: len(alone)], alone))

    @memo_property
    def public(self) -> np.ndarray:
        """The vectors of the public documents."""
        parts = [self.encode(block) for block in in_blocks(iter(self.documents))]
        return np.concatenate(parts)

    @property
    def n_dims(self) -> int:
        return int(self.public.shape[1])

    @memo_property
    def fingerprint(self) -> bytes:
        """Digest of the vectors of the public documents."""
        return blake2b(
            np.ascontiguousarray(self.public).tobytes(), digest_size=32
        ).digest()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "public"}


def encoded(encoder: Any, documents: Sequence[Any]) -> np.ndarray:
    rows = encoder.transform(documents)
    if sp.issparse(rows):
        rows = rows.toarray()
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(documents):
        raise InvalidParameterError(
            "encoder must give every document a row of numbers, got shape "
            f"{rows.shape} for {len(documents)} documents."
        )
    return rows


def is_grouper(encoder: Any) -> bool:
    """Whether it assigns documents to groups, and does not give them vectors."""
    return hasattr(encoder, "predict")


def check_encoder(encoder: Any) -> None:
    """Refuse what gives documents neither groups nor vectors."""
    if encoder is not None and is_grouper(encoder):
        check_grouper(encoder)
    elif encoder is not None and not _encodes(encoder):
        raise InvalidParameterError(
            "encoder must be None or an estimator or pipeline with transform, which "
            "gives each document a vector, or with predict, which gives it a group; "
            f"got {kind_of(encoder)}."
        )


def _encodes(encoder: Any) -> bool:
    return not isinstance(encoder, type) and hasattr(encoder, "transform")


def public_vectors(documents: PublicDocuments, encoder: Any) -> PublicVectors:
    """An encoder of the user's, fitted on public documents if need be."""
    if before := is_fitted(encoder):
        return PublicVectors(encoder, documents, before)
    try:
        fitted = clone(encoder, safe=False).fit(list(documents))
    except InvalidParameterError:
        raise
    except Exception as error:  # it may quote documents, which are public
        raise InvalidParameterError(
            "encoder must learn from public_documents, but its fit failed with "
            f"{type(error).__name__}: {error}"
        ) from error
    return PublicVectors(fitted, documents, before)


def mean_vectors(
    documents: PublicDocuments, embedding: Any, n_components: int
) -> PublicVectors:
    """The default encoder; it is found once for the same public things."""
    from skdptext.preprocessing import MeanVectorEncoder

    key = documents.fingerprint, embedding.fingerprint, n_components
    return _made.get(
        key,
        lambda: public_vectors(documents, MeanVectorEncoder(embedding, n_components)),
    )


@dataclass(frozen=True, eq=False)
class NearestGroups:
    """The default groups: those whose centre is nearest, each document by itself."""

    groups: PublicGroups

    def assign(self, documents: Sequence[Any], start: int = 0) -> np.ndarray:
        """Numbers of the groups of documents."""
        encoder, centres = self.parts
        places = encoder.transform(documents)
        scores = np.tile(-(centres**2).sum(axis=1) / 2, (len(places), 1))
        # one direction after the other: a product of matrices may add in another order
        # in other blocks
        for column, of_centres in zip(places.T, centres.T, strict=True):
            scores += column[:, None] * of_centres
        return np.asarray(scores.argmax(axis=1))

    @property
    def parts(self) -> tuple[Any, np.ndarray]:
        """The encoder, and the centres in the order of the numbers of groups."""
        encoder, clusterer = self.groups.grouper[:-1], self.groups.grouper[-1]
        return encoder, np.asarray(clusterer.cluster_centers_)[self.groups.names]


@dataclass(frozen=True, eq=False)
class PublicFeatures:
    """What is summed of a document, and the same of the public documents."""

    documents: PublicDocuments
    groups: PublicGroups | None
    assign: Callable[..., np.ndarray] | None
    vectors: PublicVectors | None

    @property
    def n_groups(self) -> int:
        return 0 if self.groups is None else len(self.groups.names)

    @property
    def n_vector_cells(self) -> int:
        """Columns of the sums of vectors: the directions, and a constant."""
        return 0 if self.vectors is None else self.vectors.n_dims + 1

    @memo_property
    def public_groups(self) -> np.ndarray | None:
        if self.assign is None:
            return None
        parts = [self.assign(block) for block in in_blocks(iter(self.documents))]
        return np.concatenate(parts)

    @property
    def public_vectors(self) -> np.ndarray | None:
        return None if self.vectors is None else self.vectors.public

    @property
    def fitted_before(self) -> bool:
        parts = (self.groups, self.vectors)
        return any(part is not None and part.fitted_before for part in parts)

    @memo_property
    def fingerprint(self) -> bytes:
        digest = blake2b(digest_size=32, person=b"skdptext-feature")
        for part in (self.groups, self.vectors):
            digest.update(b"-" if part is None else part.fingerprint)
        return digest.digest()


def make_features(
    documents: PublicDocuments,
    encoder: Any,
    embedding: Any,
    n_components: int,
    n_groups: int,
    vectors: bool,
) -> PublicFeatures:
    """Features of the kinds asked for; no groups where `n_groups` is 0."""
    grouper = encoder if encoder is not None and is_grouper(encoder) else None
    groups = assign = of_vectors = None
    if n_groups:
        groups = fitted_groups(documents, grouper, n_groups, None)
        own = groups if grouper is not None else NearestGroups(groups)
        assign = own.assign
    if vectors:
        if embedding is not None:
            of_vectors = mean_vectors(documents, embedding, n_components)
        else:
            of_vectors = public_vectors(documents, encoder)
        of_vectors.one_by_one  # noqa: B018, an error comes before any work
    return PublicFeatures(documents, groups, assign, of_vectors)
