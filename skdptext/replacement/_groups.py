"""Public groups of documents: who is in them, and which one a document belongs to."""

from __future__ import annotations

import itertools
import os
import pickle
import secrets
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from numbers import Integral, Number
from types import FunctionType, MethodType
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from skdptext.documents import DocumentReader, topic_encoder, words_of
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.replacement._guarantee import MOST_GROUPS
from skdptext.replacement._public import PublicDocuments
from skdptext.utils import (
    Memo,
    as_labels,
    is_fitted,
    kind_of,
    progress_bar,
    quiet,
)

# Documents that are grouped at a time: so many, or so many characters.
_TOGETHER, _CHARACTERS = 4096, 2**24
# Documents of a block that are grouped alone, too, to see whether the others matter;
# all of them, where they are no more than the second number.
_ALONE, _FEW = 16, 100


@dataclass(frozen=True, eq=False)
class PublicGroups:
    """Public documents in groups."""

    documents: PublicDocuments
    grouper: Any  # fitted
    names: np.ndarray  # labels of the groups, sorted
    of_public: np.ndarray  # number of the group of each public document
    # what makes this grouper another one than any that answers differently
    origin: bytes
    # it, or a step of it, was given fitted: what it learned from is not known
    fitted_before: bool
    # the default ones: no document has an effect on another one's group, by arithmetic
    by_rows: bool

    @classmethod
    def of(
        cls,
        documents: PublicDocuments,
        grouper: Any,
        n_groups: int,
        public_labels: Any,
    ) -> PublicGroups:
        """Groups of public documents, by a grouper that is fitted on them if need be.

        Equal groupers of the same documents and labels are fitted once in a process,
        also those that draw numbers: a search over ε compares the same groups.
        `n_groups` is that of the default one.
        """
        labels = None
        if public_labels is not None:
            if grouper is not None and not is_classifier(grouper):
                raise InvalidParameterError(
                    "public_labels must be None for a grouper that is no classifier, "
                    "which does not learn them, got labels."
                )
            labels = PublicLabelling.of(public_labels, len(documents))
        ours = grouper is None or (_is_ours(grouper) and not is_fitted(grouper))
        if grouper is None:
            grouper = _default_grouper(labels, n_groups, documents)
        own = grouper_key(grouper)

        def grouped() -> _Grouping:
            if ours:
                fitted = _fit_ours(clone(grouper), documents, labels)
                # by no parameter of scikit-learn's, which its next version may rename
                origin = _name_of_ours(grouper) if labels is None else labels.digest
                return _grouped(documents, fitted, labels, origin, False, by_rows=True)
            return _grouped(documents, *_by_given(grouper, documents, labels))

        if own is None:  # like no other
            return grouped()(documents)
        key = documents.fingerprint, own, b"" if labels is None else labels.digest
        return _memo.get(key, grouped)(documents)

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Public documents in the order of their groups, and where each group starts.

        The last of the starts is the number of documents.
        """
        order = np.argsort(self.of_public, kind="stable")
        sizes = np.bincount(self.of_public, minlength=len(self.names))
        return order, np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def fingerprint(self) -> bytes:
        """Digest of the public documents, their groups and the grouper.

        Two groupers may agree on public documents and differ on others: their answers
        then tell more than one grouping does, and must not share noise.
        """
        digest = blake2b(digest_size=32, person=b"skdptext-groups")
        digest.update(self.origin)
        digest.update(self.documents.fingerprint)
        digest.update(len(self.names).to_bytes(8, "little"))
        digest.update(self.of_public.astype("<i8").tobytes())
        return digest.digest()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("members",)}

    def rows(self, embedding: WordEmbedding | None) -> Any:
        """Bags of the public documents, in the columns of an embedding; else vectors.

        All at once, so that a document has the same row whenever it is released.
        """
        of = self.fingerprint if embedding is None else embedding.fingerprint

        def made() -> Any:
            rows = []
            for block in in_blocks(iter(self.documents)):
                if embedding is None:
                    rows.append(encoder_of(self.grouper).transform(block))
                else:
                    bags = DocumentReader(embedding).read(block)
                    rows.append(bags.bags(len(embedding)).astype(np.int64))
            if sp.issparse(rows[0]):
                return sp.csr_array(sp.vstack(rows))
            return np.concatenate([np.asarray(part) for part in rows])

        key = self.documents.fingerprint, embedding is None, of
        return _rows.get(key, made)

    @property
    def assigner(self) -> Callable[..., np.ndarray]:
        """`assign`, without the public documents: for guarantees, which last."""
        return partial(_assigned, self.grouper, self.names, self.by_rows)

    def assign(self, documents: Sequence[Any], start: int = 0) -> np.ndarray:
        """Numbers of the groups of documents; `start` is the first one's position.

        No error quotes a document or a label.
        """
        return self.assigner(documents, start)

    def assign_all(self, blocks: Iterator[list[Any]], n_jobs: Any, verbose: int) -> Any:
        """The same of blocks of documents, in threads, with each block."""

        def one(start: int, documents: list[Any]) -> tuple[list[Any], np.ndarray]:
            return documents, self.assign(documents, start)

        def numbered() -> Iterator[tuple[int, list[Any]]]:
            start = 0
            for block in blocks:
                yield start, block
                start += len(block)

        with progress_bar(verbose, "replacing", unit="doc", total=None) as bar:
            # sharedmem: processes would be sent the grouper with each block
            results = Parallel(
                n_jobs=n_jobs, require="sharedmem", return_as="generator"
            )(delayed(one)(*each) for each in numbered())
            for documents, groups in results:
                bar.update(len(documents))
                yield documents, groups


def _assigned(
    grouper: Any,
    names: np.ndarray,
    by_rows: bool,
    documents: Sequence[Any],
    start: int = 0,
) -> np.ndarray:
    label = _labels if by_rows else _labels_each_by_itself
    with quiet(Warning):  # of the grouper: they may quote documents
        labels = label(grouper, documents, "document", start)
    at = np.searchsorted(names, labels).clip(max=len(names) - 1)
    wrong = np.flatnonzero(names[at] != labels)
    if len(wrong):
        raise InvalidParameterError(
            "grouper must assign every document to a group that holds a public "
            f"document, but does not for document {start + wrong[0]}. {_WHAT_TO_DO}"
        )
    return at


# Groups but for the documents, which are not to be kept in memory
_Grouping = Callable[[PublicDocuments], PublicGroups]
# Groups do not depend on ε, so that a search over it finds them once.
_memo: Memo[_Grouping] = Memo(4)
_rows: Memo[Any] = Memo(2)  # of public documents

_WHAT_TO_DO = (
    "Choose fewer groups or more public documents, or give public_labels to a "
    "classifier, so that each group has public documents to answer with."
)


def in_blocks(documents: Iterator[Any]) -> Iterator[list[Any]]:
    """Lists of documents, bounded in number and in characters."""
    block: list[Any] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document) if isinstance(document, str) else 8 * len(document)
        if len(block) == _TOGETHER or size >= _CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


def check_grouper(grouper: Any) -> None:
    """Refuse what cannot assign a new document to a group."""
    if grouper is None:
        return
    unfit = isinstance(grouper, type) or not hasattr(grouper, "predict")
    if unfit or _kind(grouper) == "regressor":
        name = kind_of(grouper)
        if isinstance(grouper, Pipeline):
            name = f"a Pipeline that ends in {kind_of(grouper.steps[-1][1])}"
        raise InvalidParameterError(
            "grouper must be an estimator or a pipeline with predict, which assigns "
            "any document by itself, such as one that ends in KMeans or a classifier; "
            f"got {name}."
        )


def _kind(grouper: Any) -> str | None:
    """What scikit-learn takes it for; None where it does not know."""
    try:
        kind: str | None = get_tags(grouper).estimator_type
    except (AttributeError, TypeError):  # not an estimator of scikit-learn
        return None
    return kind


@dataclass(frozen=True, eq=False)
class PublicLabelling:
    """The public documents that have a label, by their numbers, and their labels."""

    rows: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, labels: Any, n: int) -> PublicLabelling:
        """From one label per public document, or None, and at least two different."""
        given = as_labels("public_labels", labels, partly=True)
        if given.shape != (n,):
            raise InvalidParameterError(
                f"public_labels must hold one label per public document ({n}), or None "
                f"for one that has none, got shape {given.shape}."
            )
        whole = [isinstance(label, Number) and label == -1 for label in given]
        if any(whole):
            raise InvalidParameterError(
                "public_labels must not be -1, which is scikit-learn's sign for a "
                "document without a label, got it for document "
                f"{whole.index(True)}. Give None for a document without a label; if -1 "
                "is a label of yours, give labels as text."
            )
        rows = np.flatnonzero([label is not None for label in given])
        known = given if len(rows) == n else np.array(given[rows].tolist())
        different = len(np.unique(known))
        if different < 2:
            raise InvalidParameterError(
                f"public_labels must hold at least 2 different labels, got {different}."
            )
        return cls(rows, known)

    @property
    def digest(self) -> bytes:
        """Different for other labels, and for labels of other documents."""
        told = repr((self.rows.tolist(), self.labels.tolist()))
        return blake2b(told.encode()).digest()

    def completed(self, assigned: np.ndarray) -> np.ndarray:
        """The labels of all documents, of which those that have none are assigned."""
        every = assigned.astype(np.result_type(assigned, self.labels))
        every[self.rows] = self.labels
        return every


def is_classifier(grouper: Any) -> bool:
    """Whether it learns labels."""
    return _kind(grouper) == "classifier"


def _by_given(
    grouper: Any, documents: PublicDocuments, labels: PublicLabelling | None
) -> tuple[Any, PublicLabelling | None, bytes, bool]:
    """A grouper of the user's, fitted; the labels, its origin, whether it was so."""
    if is_fitted(grouper):
        return _own_copy(grouper), labels, _digest(grouper), True
    before = has_fitted_steps(grouper)
    own = clone(grouper, safe=False)  # but for what is frozen in it
    fitted = _fit_given(_own_copy(own) if before else own, documents, labels)
    origin = _digest(grouper)
    if _is_random(grouper):  # another one at every fit
        origin += _digest(fitted)
    return fitted, labels, origin, before


def grouper_key(grouper: Any) -> tuple[Any, ...] | None:
    """Equal for estimators that learn the same; None if that cannot be known.

    By what they hold, and by the very classes and functions, since another one of the
    same name, as after an edit in a notebook, may learn something else.
    """
    code: list[Any] = []
    try:
        return _hash(_state(grouper, code)), *code
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return None


def _own_copy(grouper: Any) -> Any:
    """A copy of a fitted grouper, which its owner may fit again, on private text."""
    try:
        return deepcopy(grouper)
    except Exception as error:  # whatever a user's grouper holds
        raise InvalidParameterError(
            "grouper must be one that can be copied if it is given fitted, as the "
            "groups must not change when it is fitted again, but its copy failed with "
            f"{type(error).__name__}: {error}"
        ) from error


def _digest(grouper: Any) -> bytes:
    """Of all that a grouper is; one that cannot be pickled is like no other."""
    try:
        return _hash(_state(grouper)).encode()
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return secrets.token_bytes(20)


def _hash(state: Any) -> str:
    """Digest of what an estimator holds; an error if a part of it cannot be pickled.

    joblib's hash leaves out what comes after such a part in a dict, and would take two
    different estimators for equal.
    """
    with open(os.devnull, "wb") as nothing:
        _Picklable(nothing).dump(state)
    return str(joblib.hash(state, hash_name="sha1"))


class _Picklable(pickle.Pickler):
    """Fails where a part cannot be pickled; joblib can hash any function or class."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, FunctionType | MethodType | type) and obj is not str:
            return str, ()  # in its place
        return NotImplemented


# What estimators hold besides: an address in memory, and how long a search took.
_NO_STATE = ("_stop_words_id", "cv_results_", "refit_time_")


def _state(thing: Any, code: list[Any] | None = None) -> Any:
    """What an estimator holds that may have an effect on its answers.

    Classes and functions go to the list `code`, if there is one, and not by name.
    """
    if isinstance(thing, list | tuple):
        return [_state(part, code) for part in thing]
    if isinstance(thing, dict):
        return {k: _state(v, code) for k, v in thing.items()}
    if code is not None:
        if isinstance(thing, FunctionType | type):
            code.append(thing)
            return len(code)
        code.append(type(thing))
    if isinstance(thing, BaseEstimator):
        held = [(k, v) for k, v in vars(thing).items() if k not in _NO_STATE]
        kind = type(thing) if code is None else ""
        return kind, {k: _state(v, code) for k, v in held}
    return thing


def _parameters(grouper: Any) -> dict[str, Any]:
    return grouper.get_params(deep=True) if hasattr(grouper, "get_params") else {}


def _is_random(grouper: Any) -> bool:
    return any(
        name.rpartition("__")[2] == "random_state" and not isinstance(value, Integral)
        for name, value in _parameters(grouper).items()
    )


def has_fitted_steps(grouper: Any) -> bool:
    """Whether a part of it is frozen as it was fitted, which `clone` keeps."""
    return any(_is_frozen(value) for value in _parameters(grouper).values())


def _is_frozen(estimator: Any) -> bool:
    return type(estimator).__name__ == "FrozenEstimator"


def noise_fingerprint(grouping: bytes, channel: ExactResponse) -> bytes:
    """All that an answer depends on besides seed and document.

    Not the output: a text and its group are one answer, and cost ε once.
    """
    digest = blake2b(digest_size=32, person=b"skdptext-replace")
    digest.update(grouping + channel.fingerprint)
    return digest.digest()


def _default_grouper(labels: Any, n_groups: int, documents: Sequence[Any]) -> Any:
    """What ``grouper=None`` stands for."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # late, as it is slow
    from sklearn.linear_model import LogisticRegression

    if labels is not None:
        encoder = TfidfVectorizer(analyzer=words_of, sublinear_tf=True)
        # balanced: a rare topic is as well kept as a frequent one
        options = {"C": 10.0, "class_weight": "balanced", "max_iter": 1000}
        return make_pipeline(encoder, LogisticRegression(**options))
    return centres_grouper(n_groups, documents)


def centres_grouper(
    n_groups: int, documents: Sequence[Any], n_components: int = 10
) -> Any:
    """Places among topics and k-means."""
    from skdptext.replacement._topics import NearestCentre

    _check_fewer("n_groups", n_groups, documents)
    centres = NearestCentre(n_groups, n_init=10, random_state=0)
    return make_pipeline(topic_encoder(documents, n_components), centres)


def _check_fewer(name: str, n_groups: int, documents: Sequence[Any]) -> None:
    if n_groups > len(documents):
        raise InvalidParameterError(
            f"{name} must be at most the number of public documents "
            f"({len(documents)}), got {n_groups}."
        )


def _is_ours(grouper: Any) -> bool:
    """Whether it is the one above, which groups row by row."""
    from skdptext.replacement._topics import NearestCentre

    return isinstance(grouper, Pipeline) and type(grouper[-1]) is NearestCentre


def _name_of_ours(grouper: Any) -> bytes:
    """Another one for groupers without labels that learn otherwise."""
    return b"centres in %d directions" % grouper[0]["truncatedsvd"].n_components


def _fit(
    grouper: Any, documents: PublicDocuments, labels: PublicLabelling | None
) -> Any:
    if labels is not None:
        return grouper.fit([documents[i] for i in labels.rows], labels.labels)
    # that fewer clusters are found than asked for is an error here
    with quiet(Warning, message="Number of distinct clusters"):
        return grouper.fit(list(documents))


def _fit_ours(grouper: Any, documents: PublicDocuments, labels: Any) -> Any:
    """A default grouper, fitted; if it cannot learn, its texts are to blame."""
    try:
        return _fit(grouper, documents, labels)
    except ValueError:
        raise InvalidParameterError(
            "public_documents must differ in their words to be grouped, got "
            f"{len(documents)} that do not. Give more documents, or a grouper."
        ) from None


def _fit_given(grouper: Any, documents: PublicDocuments, labels: Any) -> Any:
    """A grouper of the user's, fitted; an error says which parameter it comes from."""
    try:
        return _fit(grouper, documents, labels)
    except InvalidParameterError:
        raise
    except Exception as error:
        if labels is None and is_classifier(grouper):
            raise InvalidParameterError(
                "public_labels must be given for a classifier, which learns them, got "
                "None."
            ) from error
        # it may quote documents and labels, which are public
        raise InvalidParameterError(
            "grouper must learn from public_documents"
            + ("" if labels is None else " and public_labels")
            + f", but its fit failed with {type(error).__name__}: {error}"
        ) from error


def _grouped(
    documents: PublicDocuments,
    grouper: Any,
    labels: PublicLabelling | None,
    origin: bytes,
    before: bool,
    by_rows: bool = False,
) -> _Grouping:
    texts = list(documents)
    label = _labels if by_rows else _labels_each_by_itself
    parts: list[np.ndarray] = []
    for block in in_blocks(iter(texts)):
        done = sum(map(len, parts))
        parts.append(label(grouper, block, "public document", done))
    assigned = np.concatenate(parts)
    # what a stand-in is, where that is known, and not what it was taken for
    of_public = assigned if labels is None else labels.completed(assigned)
    names, numbers = np.unique(of_public, return_inverse=True)
    known = _all_labels(grouper)
    possible = names if known is None else np.union1d(known, names)
    empty = len(possible) - len(names)
    if empty or not np.isin(assigned, names).all():
        raise InvalidParameterError(
            "grouper must have a public document in every group, but "
            f"{empty or 'some'} of {len(possible)} have none. {_WHAT_TO_DO}"
        )
    if len(names) > MOST_GROUPS:
        raise InvalidParameterError(
            f"grouper must make at most {MOST_GROUPS} groups, got {len(names)}: with "
            "so many, nothing is hidden."
        )
    if len(names) < 2:
        raise InvalidParameterError(
            "grouper must put the public documents into at least 2 groups, got 1. "
            f"{_WHAT_TO_DO}"
        )
    _check_odd_documents(grouper, isinstance(texts[0], str), names)
    digest = blake2b(origin, digest_size=32)
    digest.update(np.searchsorted(names, assigned).astype("<i8").tobytes())
    for shared in (names, numbers):
        shared.setflags(write=False)
    return partial(
        PublicGroups,
        grouper=grouper,
        names=names,
        of_public=numbers,
        origin=digest.digest(),
        fitted_before=before,
        by_rows=by_rows,
    )


def _all_labels(grouper: Any) -> np.ndarray | None:
    """All labels that a grouper can give, where it says so."""
    last = last_step(grouper)
    if hasattr(last, "classes_"):
        return np.asarray(last.classes_)
    centres = getattr(last, "cluster_centers_", None)
    return None if centres is None else np.arange(len(centres))


def last_step(grouper: Any) -> Any:
    while True:
        if isinstance(grouper, Pipeline):
            grouper = grouper.steps[-1][1]
        elif _is_frozen(grouper):
            grouper = grouper.estimator
        else:
            return grouper


def encoder_of(grouper: Any) -> Any:
    """What places documents: the steps before the last one; None: there are none."""
    last = last_step(grouper)
    while grouper is not last:
        if isinstance(grouper, Pipeline):
            return grouper[:-1] if len(grouper.steps) > 1 else None
        grouper = grouper.estimator
    return last.encoder_ if _is_ours(last) else None


def _labels_each_by_itself(
    grouper: Any, documents: Sequence[Any], what: str, start: int
) -> np.ndarray:
    """Labels of documents, after a look at whether the others matter.

    Few documents are grouped once more one by one, which leaves no others. Many are
    grouped in a random order, then in another one in parts, a half, a quarter, and so
    on, and some alone: what depends on the batch, its size, the order or on chance
    differs for one of them.
    """
    n, rng = len(documents), np.random.default_rng()

    def of(rows: np.ndarray) -> np.ndarray:
        return _labels(grouper, [documents[i] for i in rows], what, start, rows)

    order = rng.permutation(n)
    labels = of(order)[np.argsort(order)]
    order, parts = rng.permutation(n), []
    if n > _FEW:
        ends = [n - (n >> k) for k in range(n.bit_length() + 1)]
        parts = [order[i:j] for i, j in itertools.pairwise(ends) if j > i]
    parts += [order[i : i + 1] for i in range(n if n <= _FEW else _ALONE)]
    for rows in parts:
        again = of(rows)
        wrong = np.flatnonzero(again != labels[rows])
        if len(wrong):
            raise InvalidParameterError(
                "grouper must assign each document by itself, always to the same "
                f"group, but {what} {start + rows[wrong[0]]} comes into different "
                "groups by itself and among others: what is released of a document "
                "would depend on the others, and no promise would hold."
            )
    return labels


def _check_odd_documents(grouper: Any, of_text: bool, names: np.ndarray) -> None:
    """Refuse a grouper that fails on odd documents."""
    odd: list[tuple[str, Any]] = [
        ("an empty document", ""),
        ("unknown words", "\ufffd"),
    ]
    if not of_text:
        odd = [(what, [text] if text else []) for what, text in odd]
    for what, document in odd:
        if not np.isin(_labels(grouper, [document], what), names).all():
            raise InvalidParameterError(
                f"grouper must assign {what} to a group that holds a public document. "
                f"{_WHAT_TO_DO}"
            )


def _labels(
    grouper: Any,
    documents: Sequence[Any],
    what: str,
    start: int | None = None,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """Labels by a grouper, one per document; an error says nothing of the documents.

    But their numbers, where `start` is that of the first one; `rows` are their
    distances from it, where they do not follow one another.
    """
    rows = np.arange(len(documents)) if rows is None else rows
    try:
        labels = np.asarray(grouper.predict(documents))
    except Exception as error:  # whatever a user's grouper raises
        if start is not None and len(documents) > 1:
            for place in np.argsort(rows).tolist():
                _labels(grouper, [documents[place]], what, start + int(rows[place]))
            what = f"{what}s {start} to {start + rows.max()} together"
        elif start is not None:
            what = f"{what} {start + rows[0]}"
        raise InvalidParameterError(
            f"grouper must assign every document to a group, but its predict failed on "
            f"{what} with {type(error).__name__}. (Its message may quote a document, "
            "and is not shown.)"
        ) from None
    if start is not None:
        what = f"{what}s {start} to {start + rows.max()}"
    if labels.shape != (len(documents),):
        raise InvalidParameterError(
            f"grouper must return one label per document ({len(documents)}), got "
            f"shape {labels.shape} for {what}."
        )
    missing = labels.dtype.kind == "f" and np.isnan(labels).any()
    texts = labels.dtype.kind == "O" and all(isinstance(x, str) for x in labels)
    if missing or not (texts or labels.dtype.kind in "biufUS"):
        raise InvalidParameterError(
            f"grouper must return labels that are text or numbers, got "
            f"{'NaN' if missing else labels.dtype} for {what}."
        )
    return labels


def check_not_fitted_on(groups: PublicGroups, numbers: np.ndarray) -> None:
    """Refuse a grouper that carries the labels of the very documents to be protected.

    Clusterers keep the labels of what they were fitted on, as ``labels_``: those of the
    public documents, as far as anyone can tell, where these have the same.
    """
    own = getattr(last_step(groups.grouper), "labels_", None)
    if not groups.fitted_before or own is None or len(own) != len(numbers):
        return
    if np.array_equal(np.asarray(own), groups.names[groups.of_public]):
        return
    if len(own) > 1 and np.array_equal(np.asarray(own), groups.names[numbers]):
        raise InvalidParameterError(
            "grouper must be fitted on public documents, but it was given fitted, and "
            "its labels_ are those of the documents to be released: it was fitted on "
            "them. Give it unfitted, and it is fitted on public_documents."
        )
