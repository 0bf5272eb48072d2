"""Groups of public documents, and the assignment of documents to them."""

import json
import pickle
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from hashlib import blake2b
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from skdptext.documents import (
    DocumentReader,
    KnownTexts,
    answers_of,
    check_rows_alone,
    fitted_copy,
    in_blocks,
    numbers_of,
    topic_groups,
    words_of,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.privacy import MOST_GROUPS
from skdptext.utils import as_labels, kind_of, quiet

# Number of topic directions in which clusters are found. On docstrings, SMS, tweets and
# fan fiction, 10 and 50 directions preserve no more of the topics.
_DIRECTIONS = 20
# Attributes without effect on answers: an address in memory, and times of a search.
_NO_STATE = ("_stop_words_id", "cv_results_", "refit_time_")
_WHAT_TO_DO = (
    "Each group needs public documents to answer with: choose fewer groups or more "
    "public documents, or pass public_labels to a classifier."
)


def document_bytes(document: Any) -> bytes:
    """Encode a document as unique bytes."""
    if isinstance(document, str):
        return b"s" + document.encode("utf-8", "surrogatepass")
    # An escaped surrogate pair would be read back as one character.
    text = json.dumps(document, ensure_ascii=False)
    return b"l" + text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class PublicGroups:
    """Public documents in groups, by a fitted grouper that assigns any document."""

    documents: list[Any]
    grouper: Any
    names: np.ndarray  # labels of the groups, sorted
    of_public: np.ndarray  # number of the group of each public document
    origin: bytes  # differs if any document might be assigned to another group
    fitted_before: bool  # the grouper, or a step of it, was already fitted
    ours: bool  # the default, in which no document can affect another one
    reader: DocumentReader

    @classmethod
    def of(
        cls, documents: list[Any], reader: Any, grouper: Any, n_groups: int, labels: Any
    ) -> "PublicGroups":
        """Make groups by a grouper, which is fitted on the public documents if needed.

        A classifier learns labels, which are then the groups. `n_groups` applies if
        there is no grouper. `reader` has read the documents, and will read others.
        """
        ours, known = grouper is None, None
        rows = np.arange(len(documents))
        if labels is not None:
            rows, known = _known_labels(labels, len(documents))
        texts = [documents[i] for i in rows]
        if ours:
            fitted, before = _default(texts, known, n_groups), False
        else:
            labelled = [texts] if known is None else [texts, known]
            fitted, before = fitted_copy("grouper", grouper, *labelled)
        # one without words, and one of unknown words: what a release may meet
        odd = ["", "\ufffd"] if isinstance(documents[0], str) else [[], ["\ufffd"]]
        blocks = in_blocks([*documents, *odd])
        assigned = np.concatenate([_labels(fitted, block, ours) for block in blocks])
        of_public = as_labels("labels of grouper", assigned[: len(documents)])
        if known is not None:  # stand-ins keep their given labels
            of_public = of_public.astype(np.result_type(of_public, known))
            of_public[rows] = known
        names, numbers = np.unique(of_public, return_inverse=True)
        possible = np.union1d(names, _all_labels(fitted, names))
        if len(possible) > len(names) or not np.isin(assigned, names).all():
            raise InvalidParameterError(
                "grouper must have a public document in every group, and assign one "
                "without known words to such a group, but "
                f"{len(possible) - len(names) or 'some'} of {len(possible)} have none. "
                f"{_WHAT_TO_DO}"
            )
        if not 2 <= len(names) <= MOST_GROUPS:
            raise InvalidParameterError(
                f"grouper must make 2 to {MOST_GROUPS} groups, got {len(names)}. "
                f"{_WHAT_TO_DO}"
            )
        digest = blake2b(b"" if ours else _digest(grouper), digest_size=32)
        if reader.splits:
            digest.update(_digest(reader))
        if _is_random(grouper):  # every fit makes another grouper
            digest.update(_digest(fitted))
        digest.update(repr((rows.tolist(), known is None or known.tolist())).encode())
        digest.update(np.searchsorted(names, assigned).astype("<i8").tobytes())
        origin = digest.digest()
        return cls(documents, fitted, names, numbers, origin, before, ours, reader)

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Public documents in the order of their groups, and the start of each group.

        The last start is the number of documents.
        """
        order = np.argsort(self.of_public, kind="stable")
        sizes = np.bincount(self.of_public, minlength=len(self.names))
        return order, np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of the public documents, their groups and the grouper.

        Two groupers may agree on public documents and differ on others. Their answers
        then reveal more than one grouping does, and they must not share noise.
        """
        digest = blake2b(self.origin, digest_size=32, person=b"skdptext-groups")
        for content in map(document_bytes, self.documents):
            digest.update(b"%d:" % len(content) + content)
        digest.update(self.of_public.astype("<i8").tobytes())
        return digest.digest()

    @cached_property
    def known(self) -> KnownTexts:
        """The public documents, prepared for a search among others."""
        return KnownTexts(self.documents, self.reader)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def assign(self, documents: Sequence[Any]) -> np.ndarray:
        """Find the groups of documents; no error quotes a document or a label."""
        labels = _labels(self.grouper, documents, self.ours)
        return numbers_of("grouper", self.names, labels)


def _labels(grouper: Any, documents: Sequence[Any], ours: bool) -> np.ndarray:
    """Get the label of each document, and check that others have no effect on it."""
    labels_of = partial(answers_of, "grouper", grouper)
    with quiet(Warning):  # warnings of the grouper may quote documents
        if ours:
            return labels_of(documents)
        return check_rows_alone("grouper", labels_of, documents)[0]


# -- groupers ------------------------------------------------------------------------


def check_grouper(grouper: Any, labelled: bool) -> None:
    """Refuse a grouper that cannot assign new documents or does not learn labels."""
    if isinstance(grouper, type) or not hasattr(grouper, "predict"):
        raise InvalidParameterError(
            "grouper must be an estimator or a pipeline with predict, which assigns "
            "any document by itself, such as one that ends in KMeans or a classifier; "
            f"got {kind_of(_last_step(grouper))}."
        )
    try:
        classifier = get_tags(grouper).estimator_type == "classifier"
    except (AttributeError, TypeError):  # not an estimator of scikit-learn
        classifier = False
    if labelled and not classifier:
        raise InvalidParameterError(
            "public_labels must be None unless the grouper is a classifier, which "
            "learns them, got labels."
        )


def _known_labels(labels: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the public documents with a label, and their labels, at least two."""
    given = as_labels(
        "public_labels", labels, n, of="public document", n_different=2, partly=True
    )
    rows = np.flatnonzero([label is not None for label in given])
    known = given if len(rows) == n else np.array(given[rows].tolist())
    if known.dtype.kind in "if" and (known == -1).any():
        raise InvalidParameterError(
            "public_labels must not be -1, which means unlabeled in scikit-learn: pass "
            "None for a document without a label, or -1 as text."
        )
    return rows, known


def _default(texts: list[Any], labels: np.ndarray | None, n_groups: int) -> Any:
    """Fit the default grouper; all products are exact."""
    # late, as they are slow to import
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    if labels is None and n_groups > len(texts):
        raise InvalidParameterError(
            "n_groups must be at most the number of public documents "
            f"({len(texts)}), got {n_groups}."
        )
    try:
        if labels is not None:
            # Balanced weights preserve rare topics as well as frequent ones.
            options = {"C": 10.0, "class_weight": "balanced", "max_iter": 1000}
            words = TfidfVectorizer(analyzer=words_of, sublinear_tf=True)
            return make_pipeline(words, LogisticRegression(**options)).fit(
                texts, labels
            )
        return topic_groups(texts, n_groups, _DIRECTIONS)
    except ValueError:
        raise InvalidParameterError(
            "public_documents must differ in their words to be grouped, got "
            f"{len(texts)} that do not. Pass more documents, or a grouper."
        ) from None


def _last_step(grouper: Any) -> Any:
    while isinstance(grouper, Pipeline | FrozenEstimator):
        pipeline = isinstance(grouper, Pipeline)
        grouper = grouper.steps[-1][1] if pipeline else grouper.estimator
    return grouper


def _all_labels(grouper: Any, otherwise: np.ndarray) -> np.ndarray:
    """Get all labels that a grouper can give, if it states them."""
    last = _last_step(grouper)
    if hasattr(last, "classes_"):
        return np.asarray(last.classes_)
    centres = getattr(last, "cluster_centers_", None)
    return otherwise if centres is None else np.arange(len(centres))


def encoder_of(grouper: Any) -> Any:
    """Get the steps before the last one, which encode documents, or None."""
    while isinstance(grouper, FrozenEstimator):
        grouper = grouper.estimator
    several = isinstance(grouper, Pipeline) and len(grouper.steps) > 1
    return grouper[:-1] if several else None


# -- the identity of a grouper -------------------------------------------------------


def _parameters(grouper: Any) -> dict[str, Any]:
    return grouper.get_params(deep=True) if hasattr(grouper, "get_params") else {}


def _is_random(grouper: Any) -> bool:
    return any(
        name.rpartition("__")[2] == "random_state" and not isinstance(value, Integral)
        for name, value in _parameters(grouper).items()
    )


def _digest(grouper: Any) -> bytes:
    """Hash the state of a grouper; one that cannot be pickled gets a random digest."""
    try:
        held = _held(grouper)
        # joblib's hash would silently stop at a part that cannot be pickled.
        pickle.dumps(held)
        return str(joblib.hash(held)).encode()
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return secrets.token_bytes(20)


def _held(thing: Any) -> Any:
    """Collect the state of an estimator that may affect its answers."""
    if isinstance(thing, list | tuple):
        return list(map(_held, thing))
    if isinstance(thing, dict):
        return {key: _held(value) for key, value in thing.items()}
    if isinstance(thing, BaseEstimator):
        state = {k: _held(v) for k, v in vars(thing).items() if k not in _NO_STATE}
        return type(thing), state
    return thing
