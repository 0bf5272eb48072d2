"""Replace documents by public ones, by randomized response over public groups."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from numbers import Integral
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skdptext.base import BaseReleaser, NoiseStreams
from skdptext.documents import (
    ColumnOutput,
    DocumentReader,
    KnownTexts,
    are_shared_texts_counted,
    as_column,
    as_written,
    in_blocks,
    public_list,
    read_documents,
    row_keys,
)
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.privacy import PrivacyGuarantee, ReplacementPart
from skdptext.replacement._answers import (
    PersonAnswers,
    answer,
    groups_of_collections,
    keys_of,
    stand_ins,
)
from skdptext.replacement._groups import PublicGroups, check_grouper, encoder_of
from skdptext.utils import (
    REPEATABLE,
    as_array,
    as_ids,
    as_labels,
    check_integer,
    check_jobs,
    check_kind,
    check_noise_state,
    check_option,
    check_real,
    is_column_of_documents,
    kind_of,
    progress_bar,
    sparse_result,
    warn_of_repeats,
)

OUTPUTS = ("text", "bow", "vector", "group", "index")
# Default number of groups. At the default ε = 4, the true group is answered with
# probability e^4/(e^4 + 7) = 0.89. Chosen, not measured.
_N_GROUPS = 8
_REPEATED_PERSONS = (
    "The noise is repeatable (random_state is an integer): a person with the same "
    "documents gets the same answer again, and anyone who can run this replacer learns "
    "whether a guess of all documents of a person is right."
)
_FITTED_BEFORE = (
    "The grouper was already fitted: we trust that it learned from public documents "
    "only. Otherwise everything below is void."
)
# The text does not depend on the documents: their number would reveal something.
_SHARED = (
    "Public documents may be among the documents to be released: the maker of the "
    "release accepted this (allow_shared_texts), and we trust that all of these are "
    "public. Texts that were not public are published, and nothing below holds for "
    "them."
)


class DPDocumentReplacer(ColumnOutput, BaseReleaser):
    r"""Replace each document by a public one, usually from the same group.

    Readers get *stand-ins*: texts that other people wrote, which preserve the group,
    such as the topic. A proof bounds the share of documents that an attacker
    identifies. Public documents are divided into K groups, and the same grouper finds
    the group g of a private document. The group is kept with probability

    .. math::

        p = \frac{e^ε}{e^ε + K - 1} ,

    and otherwise replaced by one of the others: randomized response [1]_. The release
    is a public document drawn at random from the resulting group. Nothing else in the
    document has any effect. So the privacy loss between any two documents is at most ε,
    and of n equally likely candidates no attacker identifies more than the share
    K p / n on average.

    Parameters
    ----------
    public_documents : iterable of str, or of lists of str
        Public documents, from which stand-ins are drawn; at least one in each group.
    grouper : estimator with `predict`, default=None
        Assigns a document to a group: a pipeline that ends in a clusterer or in a
        classifier. An unfitted one is cloned and fitted on the public documents (and
        labels). A fitted one is copied and used unchanged: its training data are
        assumed to be public, and the guarantee says so. For repeatable noise it must be
        possible to pickle it, which identifies it. To keep it fitted in clones,
        such as those of a grid search, wrap it in scikit-learn's ``FrozenEstimator``.
        It must assign each document independently of the others, which `fit` and every
        release check. None means k-means after TF-IDF, truncated SVD to 20 directions
        and rows of unit length; with `public_labels`, TF-IDF and logistic regression
        with equal weight for all labels.
    epsilon : float > 0, default=4.0
        Privacy parameter ε between any two documents.
    n_groups : int >= 2, default=None
        Number of groups K, for ``grouper=None`` without labels; None means 8. More
        groups preserve more and reveal more. The best number differs between texts, so
        search it on public text. It must be None with a custom grouper or labels, which
        determine the number.
    public_labels : array-like of shape (n_public_documents,), default=None
        Labels of the public documents, which a classifier learns. They are the groups.
        A document without a label has None or NaN: the classifier, which learns from
        the others, assigns it to a group, where it is a stand-in like any other.
    output : {"text", "bow", "vector", "group", "index"}, default="text"
        The form of the stand-in: its text; the counts of its words in `embedding`; its
        vector before the last step of the grouper; only its group; or its number among
        the public documents.
    embedding : WordEmbedding, default=None
        Public words that are the columns of ``output="bow"``.
    token_pattern : str, default=None
        Regular expression of a word, in public and private texts, as in
        `~skdptext.DPWordPerturber`. A custom grouper gets texts if this and `tokenizer`
        are None, and lists of words otherwise. Stand-ins are the texts as written.
    tokenizer : callable, default=None
        Splits each lowercased text by itself into words, instead of `token_pattern`. A
        function of a module, such as ``def words(text): return jieba.lcut(text)``:
        repeatable noise depends on its name. A lambda, which cannot be pickled, is
        refused then.
    random_state : None, int, Generator or RandomState, default=None
        None draws fresh noise in every call, from ChaCha20 keyed by the operating
        system. An int makes releases repeatable. The answer for a document is derived
        by a keyed hash from the integer, the public groups, ε, the document's id and
        the document itself. It does not depend on the other documents, and asking again
        reveals nothing new. An edited document gets an independent answer, even under
        its old id, and costs ε again. Without ids, equal documents get equal answers.
        The integer is a secret; ``secrets.randbits(128)`` makes one. From a Generator
        or RandomState of NumPy, every call draws a key.
    allow_shared_texts : bool, default=False
        Whether public documents may be among the documents to be released. Only set it
        if all of these are public: the guarantee mentions it. Otherwise such documents
        are refused, because stand-ins would publish them.
    n_jobs : int, default=None
        Number of threads that group documents. None means one, unless joblib's context
        sets more.
    verbose : int, default=0
        Above 0, show a progress bar.

    Attributes
    ----------
    channel_ : ExactResponse
        Randomized response over the groups. It draws the noise and states the promise.
    grouper_ : estimator
        The fitted grouper.
    groups_ : ndarray of shape (n_groups,)
        Labels of the groups, sorted.
    n_groups_ : int
        Number of groups.
    public_ : list of str, or of lists of str
        The public documents.
    public_groups_ : ndarray of shape (n_public_documents,)
        The group of each public document, as an index of `groups_`.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule; the grouper cannot assign new
        documents, or depends on the others; or a group has no public document.

    Warns
    -----
    PrivacyLeakWarning
        If a few public documents are among those to be released, as may happen by
        chance, or if `random_state` is an integer, which reveals equal documents or can
        be guessed.
    OutOfVocabularyWarning
        If documents contain no word of the public ones. It states their number, which
        is private.

    See Also
    --------
    skdptext.DPWordPerturber : Changes words, which hides words but not the document.
    skdptext.privacy.PrivacyGuarantee : The promise in numbers.

    Notes
    -----
    *Privacy.* Pure ε-local differential privacy of the whole document: no metric, no δ,
    no condition on lengths, words or order. It covers empty documents, unknown words
    and very long documents. The draws are exact, in whole numbers. The choice of the
    stand-in depends on the noisy group only, and costs nothing. `fit` never reads its
    `X`.

    *Not protected* is the author of the stand-in, who is public; readers must be told
    that it is a stand-in. Releases of one document with fresh noise add up their ε, and
    so do the documents of one author, unless `transform` gets the authors: then each
    author answers once for all of their documents.

    *What is preserved.* Only the group. With public labels the release is the predicted
    label by randomized response, represented by a document. If only the label matters,
    nothing is better.

    *Cost.* The time of the grouper's `predict`, in blocks of documents, plus some
    microseconds per document if noise is repeatable. A custom grouper predicts twice,
    to check that other documents do not matter. Memory holds two numbers per document,
    the returned documents and the ids. A grid search over `epsilon` fits a grouper for
    each value: fit it first and pass it in a ``FrozenEstimator``, and it is copied
    instead.

    References
    ----------
    .. [1] S. Warner (1965). Randomized response: a survey technique for eliminating
       evasive answer bias. JASA 60.
    .. [2] P. Kairouz, S. Oh, P. Viswanath (2016). Extremal mechanisms for local
       differential privacy. JMLR 17.
    .. [3] Ú. Erlingsson, V. Pihur, A. Korolova (2014). RAPPOR: randomized aggregatable
       privacy-preserving ordinal response. CCS 2014.

    Examples
    --------
    >>> from skdptext import DPDocumentReplacer
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> labels = ["pets", "pets", "food", "food"]
    >>> replacer = DPDocumentReplacer(
    ...     public, public_labels=labels, epsilon=3.0, random_state=2**70).fit()
    >>> replacer.transform(["my own cat, Tom", "no milk today, 7 King St"])
    ['dogs and a cat', 'milk or tea']
    >>> replacer.guarantee().exponent("my own cat, Tom", "no milk today")
    3.0
    """

    # With this attribute, skrub passes one column of a data frame at a time.
    __single_column_transformer__ = True

    def __init__(
        self,
        public_documents: Any,
        grouper: Any = None,
        *,
        epsilon: float = 4.0,
        n_groups: int | None = None,
        public_labels: Any = None,
        output: Literal["text", "bow", "vector", "group", "index"] = "text",
        embedding: WordEmbedding | None = None,
        token_pattern: str | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        random_state: Any = None,
        allow_shared_texts: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.public_documents = public_documents
        self.grouper = grouper
        self.epsilon = epsilon
        self.n_groups = n_groups
        self.public_labels = public_labels
        self.output = output
        self.embedding = embedding
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer
        self.random_state = random_state
        self.allow_shared_texts = allow_shared_texts
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any = None, y: Any = None) -> "DPDocumentReplacer":
        """Group the public documents; the documents to be protected are never read.

        Parameters
        ----------
        X, y : ignored
            Not used: the documents to be protected are never read.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks a rule.
        """
        epsilon = self._check_parameters()
        n_groups = self._check_n_groups()
        if self.grouper is not None:
            check_grouper(self.grouper, self.public_labels is not None)
            if self.output == "vector":
                _encoder(self.grouper)
        if isinstance(self.random_state, Integral):
            self.check_release()
        reader = DocumentReader.of(self, None)
        public = public_list(self.public_documents, reader)
        how = self.grouper, n_groups, self.public_labels
        groups = PublicGroups.of(public, reader, *how)
        warn_of_repeats(self.random_state, has_ids=True)
        self._groups, self._shared = groups, self.allow_shared_texts
        self._rows: tuple[Any, ...] = (None, None, None)
        self.channel_ = ExactResponse(len(groups.names), epsilon)
        self.grouper_ = groups.grouper
        self.groups_ = groups.names
        self.n_groups_ = len(groups.names)
        self.public_ = list(map(as_written, public))
        self.public_groups_ = groups.of_public
        if self.output in ("bow", "vector"):
            self._public_rows()
        return self

    def _check_parameters(self) -> float:
        """Check all that does not need the public documents; returns ε."""
        epsilon = check_real("epsilon", self.epsilon, low=0, open_low=True)
        check_option("output", self.output, OUTPUTS)
        if self.embedding is not None or self.output == "bow":
            rule = (
                'embedding must be a WordEmbedding for output="bow", else None or one'
            )
            check_kind(self.embedding, WordEmbedding, rule)
        check_noise_state(self.random_state)
        check_option("allow_shared_texts", self.allow_shared_texts)
        check_jobs(self.n_jobs, self.verbose)
        return epsilon

    def _check_n_groups(self) -> int:
        if self.n_groups is None:
            return _N_GROUPS
        n_groups = check_integer("n_groups", self.n_groups, low=2)
        for name in ("grouper", "public_labels"):
            if getattr(self, name) is not None:
                raise InvalidParameterError(
                    f"n_groups must be None with {name}, which determines the groups, "
                    f"got {n_groups}."
                )
        return n_groups

    def _check_ready(self) -> PublicGroups:
        check_is_fitted(self, "channel_")
        same = self._check_parameters() == self.channel_.epsilon
        if not same or self.allow_shared_texts != self._shared:
            raise InvalidParameterError(
                f"{'allow_shared_texts' if same else 'epsilon'} was changed after fit, "
                "call fit again."
            )
        return self._groups

    # -- releasing -------------------------------------------------------------

    def transform(
        self,
        X: Any,
        document_ids: Iterable[Any] | None = None,
        authors: Any = None,
    ) -> Any:
        """Replace each document by a public one.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents. They are read once, in blocks, and may be a generator.
        document_ids : iterable of str, int or bytes, default=None
            A different id for each document, from the data. With an integer
            `random_state`, equal documents with different ids then get independent
            answers, and the release stays repeatable. It is metadata in the sense of
            scikit-learn's routing: ``set_transform_request(document_ids=True)``.
        authors : array-like of shape (n_documents,), default=None
            The author of each document. Each author then answers once, with the most
            frequent group of their documents (ties go to the first in `groups_`), and
            all their documents get stand-ins from that one noisy group. ε holds between
            the whole collections of any two authors: ``guarantee(unit="person")``. Pass
            all documents of an author in one call. Routed as
            ``set_transform_request(authors=True)``. If None, each document answers by
            itself, and the ε of an author's documents add up.

        Returns
        -------
        released : list of str, sparse matrix in CSR format, or ndarray
            For ``output="text"`` a list of the stand-ins; ``"bow"`` their counts, of
            shape (n_documents, n_words); ``"vector"`` of shape (n_documents, n_dims);
            ``"group"`` labels and ``"index"`` numbers, of shape (n_documents,).

        Raises
        ------
        InvalidParameterError
            If `X`, `document_ids` or `authors` breaks a rule, the grouper fails, or a
            parameter was changed after `fit`. No message quotes a document.
        NotFittedError
            If `fit` was not called.

        Notes
        -----
        *Privacy.* Each call is another release. With fresh noise, releasing the
        same document k times costs k ε, and so does releasing k documents of one
        author without `authors`.

        *Authors.* The number of documents of an author, and their rows, are not hidden:
        stand-ins of one author come from one group. With an integer `random_state`, the
        answer of an author is derived from the author and *all* their documents, in any
        order: the same collection gets the same answer again, at no further cost. One
        more document, or an edit, makes it another collection, whose answer is
        independent and costs ε again. An answer stored per author and group would have
        no finite ε, because it reveals that the group changed. With `document_ids` and
        `authors`, each document gets the same stand-in in any order of the rows;
        without ids, an author's first, second, … document does.
        """
        groups = self._check_ready()
        ids = as_ids(document_ids)
        names = (
            None
            if authors is None
            else as_labels("authors", authors, people=True).tolist()
        )
        told_apart = ids is not None or names is not None
        warn_of_repeats(self.random_state, has_ids=told_apart)
        if names is not None:
            as_ids(ids, len(names))
            released = self.person_answers(X, names).transform(names, ids)
        else:
            streams = NoiseStreams(self.random_state, self._context())
            answers, n = [np.empty(0, dtype=np.int64)], 0
            for block, clear in self._grouped(X):
                keys = keys_of(streams, block, n, ids)
                noisy = answer(clear, self.channel_, streams, keys)
                if self.output != "group":
                    # Stand-ins depend on the noisy group only, never on the true one.
                    noisy = stand_ins(groups, noisy, streams, keys)
                answers.append(noisy)
                n += len(block)
            as_ids(ids, n)
            released = self._shown(np.concatenate(answers))
        frame = self._container is not None
        if self.output in ("bow", "vector") or not (frame or is_column_of_documents(X)):
            return released
        return as_column(list(released), X, self._container, self.output)

    def person_answers(self, X: Any, authors: Iterable[Any]) -> PersonAnswers:
        """Read all documents, and answer each author once.

        Use it for documents that are read twice, such as those of files. `transform`
        with `authors` does both.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            All documents of all authors, which are read once, in blocks.
        authors : iterable of str or int
            The author of each document.

        Returns
        -------
        answers : PersonAnswers
            Its ``transform(authors, document_ids)`` returns the stand-ins. It stores
            some numbers for each author, and no document.

        Raises
        ------
        InvalidParameterError
            As in `transform`.
        """
        groups = self._check_ready()
        rule = "authors must be an iterable of one author per document"
        check_kind(authors, Iterable, rule)
        streams = NoiseStreams(self.random_state, self._context())
        # An author's answer needs all of their documents, so nothing is answered before
        # the last document was seen.
        persons = PersonAnswers(streams, groups, self.output, self._shown)
        names, n = iter(authors), 0
        for block, clear in self._grouped(X):
            persons._see(names, block, clear, n)
            n += len(block)
        if next(names, names) is not names:
            raise InvalidParameterError(
                f"authors must hold one author per document ({n}), got more."
            )
        return persons._answer(self.channel_)

    def _context(self) -> bytes:
        """Digest of all that an answer depends on, except seed and document.

        The output is not part of it: a text and its group are one answer, and cost ε
        once.
        """
        digest = blake2b(digest_size=32, person=b"skdptext-replace")
        digest.update(self._groups.fingerprint + self.channel_.fingerprint)
        return digest.digest()

    def _grouped(self, X: Any) -> Iterator[tuple[list[Any], np.ndarray]]:
        """Yield blocks of documents and their groups; refuse public ones at the end."""
        groups = self._groups
        count = None if are_shared_texts_counted() else groups.known.count()

        def grouped(block: list[Any]) -> tuple[list[Any], np.ndarray]:
            return block, groups.assign(block)

        with progress_bar(self.verbose, "replacing", unit="doc") as bar:
            # Threads share the grouper. Processes would receive it with each block.
            parallel = Parallel(self.n_jobs, require="sharedmem", return_as="generator")
            for block, numbers in parallel(
                delayed(grouped)(block)
                for block in in_blocks(groups.reader.documents(X))
            ):
                bar.update(len(block))
                if count is not None:
                    count.see(block)
                yield block, numbers
        if count is not None:
            count.check(self.allow_shared_texts)

    def _shown(self, index: np.ndarray) -> Any:
        """Convert groups or public documents to the form that `output` selects."""
        if self.output == "group":
            return self.groups_[index]
        if self.output == "index":
            return index
        if self.output == "text":
            distinct, back = np.unique(index, return_inverse=True)
            texts = [_as_text(self.public_[i]) for i in distinct.tolist()]
            return [texts[i] for i in back.tolist()]
        rows = self._public_rows()[index]
        return sparse_result(rows) if sp.issparse(rows) else rows

    def _public_rows(self) -> Any:
        """Compute bags or vectors of all public documents, once per output."""
        # All are computed together, because the last bits of a row may depend on its
        # batch, and a document must have the same row in every release.
        output, embedding, rows = self._rows
        if rows is None or output != self.output or embedding is not self.embedding:
            if self.embedding is not None and self.output == "bow":
                reader = DocumentReader(self.embedding)
                bags = reader.read(self._groups.documents).bags(len(self.embedding))
                rows = bags.astype(np.int64)
            else:
                rows = _encoder(self.grouper_).transform(self._groups.documents)
            rows = sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)
            self._rows = self.output, self.embedding, rows
        return rows

    # -- the interface for attackers, guarantees and audits -------------------

    def groups_of(self, X: Any) -> np.ndarray:
        """Get the true groups of documents, before any noise.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents, as `transform` takes them.

        Returns
        -------
        groups : ndarray of shape (n_documents,)
            Labels among `groups_`. They are private.
        """
        return self.groups_[_numbers(self._check_ready(), X)]

    def log_likelihood(self, documents: Any, released: Any) -> np.ndarray:
        """Compute ln Pr[release | document], exactly.

        Parameters
        ----------
        documents : iterable of str, or of lists of str
            Candidates in plain text.
        released : list of str, matrix or ndarray
            Output of `transform`, in the form that `output` selects.

        Returns
        -------
        log_likelihood : ndarray of shape (n_released, n_documents)
            −inf for impossible releases.
        """
        at = _numbers(self._check_ready(), documents)
        shares = self._shares(released)
        # Each group is answered with the probability of another group, plus the excess
        # of the own group.
        own, other = self.channel_.proba
        law = other * shares.sum(axis=1, keepdims=True) + (own - other) * shares
        with np.errstate(divide="ignore"):
            of_groups = np.log(law)
        return of_groups[:, at]

    def _shares(self, released: Any) -> np.ndarray:
        """Compute the share of each group's documents equal to a release, (n, K)."""
        public: list[Any]
        given: list[Any]
        if self.output in ("bow", "vector"):
            rows = self._public_rows()
            if not sp.issparse(released):
                released = as_array(released, "released must be numbers", np.float64)
            if released.ndim != 2 or released.shape[1] != rows.shape[1]:
                raise InvalidParameterError(
                    f"released must be a matrix of {rows.shape[1]} columns, got "
                    f"{kind_of(released)} of shape {released.shape}."
                )
            if sp.issparse(rows):
                released = sp.csr_array(released)
            public, given = row_keys(rows), row_keys(released)
        elif self.output == "text":
            public = list(map(_as_text, self.public_))
            given = list(map(_as_text, read_documents(released, name="released")))
        else:
            public = list(range(len(self.public_)))
            if self.output == "group":
                public = self.groups_[self.public_groups_].tolist()
            given = as_labels("released", released).tolist()
        number = {key: i for i, key in enumerate(dict.fromkeys(public))}
        counts = np.zeros((len(number) + 1, self.n_groups_))
        # The last row of zeros is for releases that are not public documents.
        at = np.array([number[key] for key in public])
        np.add.at(counts, (at, self.public_groups_), 1)
        counts /= np.bincount(self.public_groups_, minlength=self.n_groups_)
        return counts[[number.get(key, -1) for key in given]]

    def guarantee(
        self, unit: Literal["document", "person"] = "document"
    ) -> PrivacyGuarantee:
        """Compute the guarantee of a release.

        Parameters
        ----------
        unit : {"document", "person"}, default="document"
            "person" is for a release with `authors`, where each author answers once: ε
            holds between all documents of one author and all of another.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The promise in numbers and in sentences.
        """
        groups = self._check_ready()
        check_option("unit", unit, ("document", "person"))
        caveats = []
        if isinstance(self.random_state, Integral):
            caveats.append(REPEATABLE if unit == "document" else _REPEATED_PERSONS)
        if groups.fitted_before:
            caveats.append(_FITTED_BEFORE)
        if self.allow_shared_texts:
            caveats.append(_SHARED)
        # The public documents are left out, because guarantees are kept and stored.
        assign: Any = partial(_numbers, replace(groups, documents=[]))
        if unit == "person":
            assign = partial(groups_of_collections, assign, len(groups.names))
        part = ReplacementPart(
            self.channel_.n_groups,
            self.channel_.epsilon,
            groups.fingerprint,
            unit,
            assign,
            caveats=tuple(caveats),
        )
        return PrivacyGuarantee.of([part])

    def check_release(self) -> None:
        """Refuse what another process could not tell from other groupers.

        Raises
        ------
        InvalidParameterError
            If the grouper or the tokenizer cannot be pickled. Every fit would draw
            other noise, and cost ε again.
        """
        for name in ("grouper", "tokenizer"):
            value = getattr(self, name)
            try:
                pickle.dumps(value)
            except Exception:  # each kind of object raises its own
                raise InvalidParameterError(
                    f"{name} must be made of functions of a module for repeatable "
                    f"noise, which can be pickled, got {kind_of(value)}."
                ) from None

    def known_texts(self) -> KnownTexts:
        """Get the public texts, which must not be among those to be released.

        Returns
        -------
        known : KnownTexts
            Texts that `~skdptext.release.DocumentRelease` refuses to release.
        """
        return self._check_ready().known

    # -- scikit-learn's conventions --------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Get the names of the columns.

        Parameters
        ----------
        input_features : array-like of one str, default=None
            Name of the column of documents, which texts, groups and numbers keep. If
            None, it is called like `output`. Ignored for bags and vectors.

        Returns
        -------
        names : ndarray of str objects
            The words for bags, the names of the encoder for vectors, else one name.
        """
        self._check_ready()
        if self.output == "bow":
            assert self.embedding is not None
            return self.embedding.word_array.copy()
        if self.output == "vector":
            return np.asarray(_encoder(self.grouper_).get_feature_names_out())
        return self._name_of_column(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        tags.transformer_tags.preserves_dtype = []
        return tags


def _encoder(grouper: Any) -> Any:
    """Get the steps that encode documents, for ``output="vector"``."""
    encoder = encoder_of(grouper)
    if encoder is None:
        raise InvalidParameterError(
            'grouper must be a pipeline for output="vector", whose steps before '
            f"the last one encode documents, got {kind_of(grouper)}."
        )
    return encoder


def _numbers(groups: PublicGroups, documents: Iterable[Any]) -> np.ndarray:
    """Get the numbers of the groups of documents."""
    parts = map(groups.assign, in_blocks(groups.reader.documents(documents)))
    return np.concatenate([np.empty(0, dtype=int), *parts])


def _as_text(document: Any) -> str:
    return document if isinstance(document, str) else " ".join(document)
