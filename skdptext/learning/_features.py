"""Public features of documents: their group, their vector, or both.

A document has the same features, bit for bit, whichever others are in its block: else
one person more would move the rounding of everybody else's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
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
    centres_grouper,
    check_grouper,
    grouper_key,
    has_fitted_steps,
    in_blocks,
    is_classifier,
)
from skdptext.utils import Memo, is_fitted, kind_of

# Public documents that are encoded alone, too, and in another order.
_ALONE = 32
# Of public documents, by their digest; the documents themselves are not kept.
_vectors: Memo[PublicVectors] = Memo(4)


@dataclass(frozen=True, eq=False)
class PublicVectors:
    """An encoder that gives each document a vector by itself."""

    encoder: Any  # fitted, with transform
    fitted_before: bool
    one_by_one: bool  # rows depend on their block in the last bits, as products may
    public: np.ndarray  # unit vectors of the public documents, or 0

    @classmethod
    def of(
        cls, encoder: Any, documents: PublicDocuments, fitted_before: bool
    ) -> PublicVectors:
        """The vectors of a fitted encoder, after a check that it looks at no others."""
        one_by_one = _depends_on_the_block(encoder, documents)
        blocks = in_blocks(iter(documents))
        public = np.concatenate([_encode(encoder, b, one_by_one) for b in blocks])
        public.setflags(write=False)
        return cls(encoder, fitted_before, one_by_one, public)

    def encode(self, documents: Sequence[Any]) -> np.ndarray:
        """Unit vectors of documents, or 0, (n_documents, n_dims)."""
        rows = _encode(self.encoder, documents, self.one_by_one)
        if rows.shape[1] != self.n_dims:
            raise InvalidParameterError(
                "encoder must give every document a vector of as many numbers as the "
                f"public documents ({self.n_dims}), got {rows.shape[1]}."
            )
        return rows

    @property
    def n_dims(self) -> int:
        return int(self.public.shape[1])

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of the vectors of the public documents."""
        data = np.ascontiguousarray(self.public).tobytes()
        return blake2b(data, digest_size=32).digest()


def _encode(encoder: Any, documents: Sequence[Any], one_by_one: bool) -> np.ndarray:
    if not one_by_one:
        return unit_rows(_rows(encoder, documents))
    rows = [_rows(encoder, [document]) for document in documents]
    return unit_rows(np.concatenate(rows))


def _rows(encoder: Any, documents: Sequence[Any]) -> np.ndarray:
    try:
        return encoded(encoder, documents)
    except InvalidParameterError:
        raise
    except Exception as error:  # whatever a user's encoder raises
        raise InvalidParameterError(
            "encoder must give every document a vector, but its transform failed with "
            f"{type(error).__name__}. (Its message may quote a document, and is not "
            "shown.)"
        ) from None


def _depends_on_the_block(encoder: Any, documents: PublicDocuments) -> bool:
    """Whether rows differ with their block in the last bits; an error if in more."""
    texts = list(documents[: 4 * _ALONE])
    together = _rows(encoder, texts)
    others = [_rows(encoder, texts[::-1])[::-1]]
    others.append(np.concatenate([_rows(encoder, [t]) for t in texts[:_ALONE]]))
    pairs = [(together[: len(other)], other) for other in others]
    if not all(np.allclose(*pair, rtol=1e-6, atol=1e-9) for pair in pairs):
        raise InvalidParameterError(
            "encoder must encode each document by itself, but a public document has "
            "another vector among others than alone: what is summed for one person "
            "would depend on the others, and no promise would hold."
        )
    return not all(np.array_equal(*pair) for pair in pairs)


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
        with _called_encoder():
            check_grouper(encoder)
        if is_classifier(encoder) and not is_fitted(encoder):
            raise InvalidParameterError(
                "encoder must be given fitted if it is a classifier, as the public "
                f"documents have no labels to learn, got {kind_of(encoder)} unfitted."
            )
    elif encoder is not None and not _encodes(encoder):
        raise InvalidParameterError(
            "encoder must be None or an estimator or pipeline with transform, which "
            "gives each document a vector, or with predict, which gives it a group; "
            f"got {kind_of(encoder)}."
        )


@contextmanager
def _called_encoder() -> Iterator[None]:
    """The errors of what groups documents, by the name that it has here."""
    try:
        yield
    except InvalidParameterError as error:
        said = re.sub(r"\ba grouper\b", "an encoder", str(error))
        said = re.sub(r"\bgrouper\b", "encoder", said)
        raise InvalidParameterError(said) from error.__cause__


@dataclass(frozen=True, eq=False)
class NamedGroups:
    """Groups, whose errors speak of the encoder."""

    groups: PublicGroups

    def assign(self, documents: Sequence[Any], start: int = 0) -> np.ndarray:
        """Numbers of the groups of documents."""
        with _called_encoder():
            return self.groups.assign(documents, start)


def _encodes(encoder: Any) -> bool:
    return not isinstance(encoder, type) and hasattr(encoder, "transform")


def public_vectors(documents: PublicDocuments, encoder: Any) -> PublicVectors:
    """An encoder of the user's; an equal one is fitted and checked once."""
    own = grouper_key(encoder)
    if own is None:
        return _fitted_vectors(documents, encoder)
    key = documents.fingerprint, *own
    return _vectors.get(key, lambda: _fitted_vectors(documents, encoder))


def _fitted_vectors(documents: PublicDocuments, encoder: Any) -> PublicVectors:
    """By an encoder that is fitted on public documents if need be."""
    if before := is_fitted(encoder):
        return PublicVectors.of(encoder, documents, before)
    try:
        fitted = clone(encoder, safe=False).fit(list(documents))
    except InvalidParameterError:
        raise
    except Exception as error:  # it may quote documents, which are public
        raise InvalidParameterError(
            "encoder must learn from public_documents, but its fit failed with "
            f"{type(error).__name__}: {error}"
        ) from error
    return PublicVectors.of(fitted, documents, has_fitted_steps(encoder))


def mean_vectors(
    documents: PublicDocuments, embedding: Any, n_components: int
) -> PublicVectors:
    """The default encoder; it is found once for the same public things."""
    from skdptext.documents import MeanVectorEncoder

    key = documents.fingerprint, embedding.fingerprint, n_components
    return _vectors.get(
        key,
        lambda: _fitted_vectors(documents, MeanVectorEncoder(embedding, n_components)),
    )


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

    @property
    def public_groups(self) -> np.ndarray | None:
        return None if self.groups is None else self.groups.of_public

    @property
    def public_vectors(self) -> np.ndarray | None:
        return None if self.vectors is None else self.vectors.public

    @property
    def fitted_before(self) -> bool:
        parts = (self.groups, self.vectors)
        return any(part is not None and part.fitted_before for part in parts)

    @cached_property
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
    grouping: int = 10,
) -> PublicFeatures:
    """Features of the kinds asked for; no groups where `n_groups` is 0.

    `grouping` is the number of directions of the default groups.
    """
    grouper = encoder if encoder is not None and is_grouper(encoder) else None
    groups = assign = of_vectors = None
    if n_groups:
        with _called_encoder():
            # centres, and not the words of each group: there may be hundreds of groups
            own = grouper
            if grouper is None:
                own = centres_grouper(n_groups, documents, grouping)
            groups = PublicGroups.of(documents, own, n_groups, None)
        assign = NamedGroups(groups).assign
    if vectors:
        if embedding is not None:
            of_vectors = mean_vectors(documents, embedding, n_components)
        else:
            of_vectors = public_vectors(documents, encoder)
    return PublicFeatures(documents, groups, assign, of_vectors)
