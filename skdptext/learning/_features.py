"""Public features of documents, in whole numbers, which are summed over people.

A document has the same features, bit for bit, in every block of documents. Otherwise
one person more would change the rounding of all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdptext.documents import (
    MeanVectorEncoder,
    answers_of,
    check_rows_alone,
    fitted_copy,
    numbers_of,
    topic_encoder,
    topic_groups,
    words_of,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.privacy import GRID
from skdptext.utils import kind_of

# Share of the unit length of a vector that counts the documents of a class.
CONSTANT = 0.3
# Public documents of fewer words on average are short.
_SHORT = 40


def is_grouper(encoder: Any) -> bool:
    """Check whether an encoder assigns documents to groups instead of vectors."""
    return hasattr(encoder, "predict")


def check_encoder(encoder: Any) -> None:
    """Refuse an encoder that gives documents neither groups nor vectors."""
    able = hasattr(encoder, "transform") or is_grouper(encoder)
    if encoder is not None and (isinstance(encoder, type) or not able):
        raise InvalidParameterError(
            "encoder must be None or an estimator or pipeline with transform, which "
            "gives each document a vector, or with predict, which gives it a group; "
            f"got {kind_of(encoder)}."
        )


@dataclass(frozen=True, eq=False)
class PublicFeatures:
    """Features of documents, fitted on public documents, and those of the latter."""

    documents: list[Any]  # public
    encoder: Any  # fitted
    public: np.ndarray  # numbers of groups, or unit vectors
    names: np.ndarray | None  # names of the groups; None if there are vectors
    fitted_before: bool
    ours: bool  # by construction, no document affects the features of another one
    one_by_one: bool  # the last bits of rows depend on their block
    given: Sequence[Any] = ()  # public documents, with their texts if they were split
    reader: Any = None  # of other documents

    @classmethod
    def of(
        cls, encoder: Any, documents: list[Any], ours: bool = False
    ) -> "PublicFeatures":
        """Make features from an encoder, which is fitted if needed."""
        name = "public_documents" if ours else "encoder"
        fitted, before = fitted_copy(name, encoder, documents)
        before = before and not ours
        public, exact = _rows(fitted, documents, ours)
        if not is_grouper(encoder):
            rows = unit_rows(public)
            return cls(documents, fitted, rows, None, before, ours, not exact)
        names, numbers = np.unique(public, return_inverse=True)
        if ours:  # a group may have no public document
            names, numbers = np.arange(encoder[-1].n_clusters), public
        return cls(documents, fitted, numbers, names, before, ours, not exact)

    @property
    def n_columns(self) -> int:
        """Number of columns of the sums: groups, or directions and a constant."""
        return self.public.shape[1] + 1 if self.names is None else len(self.names)

    def rows(self, documents: list[Any]) -> np.ndarray:
        """Compute unit vectors of documents, or numbers of their groups."""
        rows = answers_of("encoder", self.encoder, documents)
        return unit_rows(rows) if self.names is None else rows

    def whole(self, documents: list[Any]) -> np.ndarray:
        """Compute contributions of documents, each of norm at most `GRID`."""
        rows, exact = _rows(self.encoder, documents, self.ours)
        if self.one_by_one or not exact:
            alone = (answers_of("encoder", self.encoder, [each]) for each in documents)
            rows = np.concatenate(list(alone))
        if self.names is None and rows.shape[1:] == self.public.shape[1:]:
            return whole_vectors(rows, CONSTANT)
        if self.names is None:
            raise InvalidParameterError(
                "encoder must give every document a vector of as many numbers as the "
                f"public documents ({self.public.shape[1]}), got {rows.shape[1]}."
            )
        at = numbers_of("encoder", self.names, rows)
        return whole_groups(at, len(self.names))


def _rows(encoder: Any, documents: list[Any], ours: bool) -> tuple[np.ndarray, bool]:
    """Encode documents, each by itself, and tell whether all bits agree."""
    if ours:
        return answers_of("encoder", encoder, documents), True
    return check_rows_alone(
        "encoder", partial(answers_of, "encoder", encoder), documents
    )


# -- the default features --------------------------------------------------------------


def grouping(
    n_epsilon: float, n_public: int, n_classes: int, n_groups: Any = "auto"
) -> tuple[int, int]:
    """Choose the number of groups, and of the topic directions to find them in.

    Fewer groups are better if noise would fill them, or if public documents or classes
    are few. Directions add no noise: with 60 instead of 10, accuracy rose from 0.61 to
    0.67 on 16 topics of docstrings, and with 30 from 0.69 to 0.72 on two kinds of
    tweets.
    """
    k = n_groups
    if n_groups == "auto":
        most = max(2, min(300, n_public // 4, 20 * n_classes))
        k = int(min(max(n_epsilon / 10, 8), most))
    return k, min(int(np.clip(4 * n_classes, 30, 60)), max(k, 10))


def directions(rarest_epsilon: float, n_public: int, given: Any = "auto") -> int:
    """Choose the number of summed directions of topics, and of word vectors.

    Each direction adds noise, so there are as many as the rarest class outweighs. Noise
    costs little in directions that few documents have, because they are not stretched.
    """
    most = min(rarest_epsilon / 5, n_public / 10, 100)
    return int(max(most, 20)) if given == "auto" else given


def centered(rows: np.ndarray, mean: np.ndarray) -> Any:
    """Subtract the mean, and scale to unit length; 0, of no known word, stays 0."""
    return unit_rows(np.where(rows.any(axis=1, keepdims=True), rows - mean, 0))


@lru_cache(maxsize=2)  # every fit of a search or an audit uses the same features
def default_features(
    documents: tuple[Any, ...], grouped: bool, embedding: Any, *numbers: int
) -> PublicFeatures:
    """Make features by k-means among topics, or by directions of topics and of words.

    `numbers` are the numbers of groups and of directions, or the number of directions
    of each kind.
    """
    # These are slow to import.
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import FunctionTransformer

    texts = [d if isinstance(d, str) else list(d) for d in documents]
    try:
        if grouped:
            return PublicFeatures.of(topic_groups(texts, *numbers), texts, ours=True)
        # More iterations than scikit-learn's 5 also find the last directions.
        topics = topic_encoder(texts, *numbers).set_params(truncatedsvd__n_iter=15)
        words = topics[0].fit(texts)
        if np.mean([len(words_of(d)) for d in texts]) < _SHORT:
            # A short document is told by its rarest words, and less by having none.
            # With idf to the power of 2.5 instead of 2, accuracy on tweets without
            # vectors rose from 0.72 to 0.735; on 200 words of film reviews it fell.
            words.idf_ = words.idf_**1.5
            topics.set_params(normalizer="passthrough")
        mean = topics[1:].fit_transform(words.transform(texts)).mean(axis=0)
    except ValueError:
        raise InvalidParameterError(
            f"public_documents must have and differ in words, got {len(texts)}, too "
            "few of which do. Pass more documents, or an encoder."
        ) from None
    center = FunctionTransformer(centered, kw_args={"mean": mean})
    kinds = [make_pipeline(topics, center)]
    if embedding is not None:
        kinds.append(MeanVectorEncoder(embedding, *numbers).fit(texts))
    return PublicFeatures.of(make_union(*kinds), texts, ours=True)


# -- exact sums over people, in whole numbers ------------------------------------------


def whole_groups(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Make rows with `GRID` in the column of their group, so the L1 norm is `GRID`."""
    return np.where(groups[:, None] == np.arange(n_groups), GRID, 0)


def whole_vectors(vectors: np.ndarray, constant: float) -> np.ndarray:
    """Make integer rows (√(1−c²) z, c) of norm at most 1, in steps of the grid.

    `vectors` are rows z, which are scaled to unit length; 0 stays 0. Every entry is
    rounded towards 0, which increases no norm. The norm is then checked in integers,
    and reduced if floating point made it too large.
    """
    rows = np.empty((len(vectors), vectors.shape[1] + 1))
    rows[:, :-1] = unit_rows(vectors) * np.sqrt(1 - constant**2)
    rows[:, -1] = constant
    whole = np.trunc(rows * GRID).astype(np.int64)
    while len(over := np.flatnonzero((whole**2).sum(axis=1) > GRID**2)):
        whole[over] -= np.sign(whole[over])
    return whole


def divided(rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Divide integer rows by a number of documents each, rounding towards 0."""
    # Integer division: the shares of all documents of a person never exceed the whole.
    return np.sign(rows) * (np.abs(rows) // np.maximum(shares, 1)[:, None])


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale each row by itself to unit length; 0 stays 0."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float64)
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    squares = np.zeros(len(scaled))
    # Squares are added column by column: NumPy may sum a row in another order in
    # another block.
    for column in scaled.T:
        squares += column * column
    return scaled / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]


def add_documents(
    table: np.ndarray, rows: np.ndarray, counts: np.ndarray, shares: np.ndarray
) -> None:
    """Add integer rows, each divided by its share, to the sums of their classes.

    `counts`, of shape (n_rows, n_classes), says how often a row has each class. All
    sums are exact.
    """
    table += sp.csr_array(counts.T.astype(np.int64)) @ divided(rows, shares)


class Copies:
    r"""Equal texts, which count once together if authors are unknown.

    Otherwise a document that an over-sampler or a bootstrap copies k times would count
    k times. A text t with k records, n_c of them of class c, contributes

    .. math::

        u_t = \frac{1}{k} \sum_c n_c \, \varphi(t) \otimes e_c

    in whole numbers, with a = `GRID` · φ(t) in each coordinate and w_k = ⌊|a| / k⌋
    instead of |a| / k.

    *All records of a text* change a coordinate by k w_k ≤ \|a\| in all, and so the sums
    by at most ‖a‖ ≤ `GRID`.

    *One record of class c more* changes a coordinate, with w = w_k and w' = w_{k+1}
    ≤ w, by n_j (w − w') in any other class j, and by (n_c + 1) w' − n_c w in its own,
    of size at most max(w', n_c (w − w')). For k ≥ 1 these add up to at most
    w' + k (w − w') = k w − (k − 1) w' ≤ \|a\|; for k = 0 the change is \|a\|. So the
    L1 norm of the change is at most that of a, and, as the Euclidean norm over classes
    is at most the L1 norm over them, its Euclidean norm is at most that of a.

    Giving a text the class of its first record would not work: removing that record
    removes its class and adds another one, which is a change of twice the norm.
    """

    def __init__(self, n: int, n_classes: int) -> None:
        self._counts = np.zeros((n, n_classes), dtype=np.int32)
        self._place: dict[bytes, int] = {}

    def see(
        self, documents: Sequence[Any], numbers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Get each distinct document of a block: row, classes before, and now."""
        digests = [blake2b(repr(d).encode(), digest_size=16) for d in documents]
        place = self._place
        at = np.array([place.setdefault(d.digest(), len(place)) for d in digests], int)
        different, first = np.unique(at, return_index=True)
        before = self._counts[different]
        np.add.at(self._counts, (at, numbers), 1)
        return first, before, self._counts[different]

    def __len__(self) -> int:
        return len(self._place)
