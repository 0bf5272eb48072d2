"""A classifier and a labelled corpus from private texts: one noisy sum over people."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import compress
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._metadata_requests import RequestMethod
from sklearn.utils.validation import check_is_fitted

from skdptext.base import NoiseStreams
from skdptext.documents import KnownTexts, in_blocks, public_list, read_documents
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.learning._features import (
    Copies,
    PublicFeatures,
    add_documents,
    check_encoder,
    default_features,
    directions,
    grouping,
    is_grouper,
)
from skdptext.learning._readout import by_shares, draw_corpus, said_by, train_student
from skdptext.mechanisms import discrete_gaussian, discrete_laplace, laplace_scale
from skdptext.privacy import GRID, LearningPart, PrivacyGuarantee
from skdptext.utils import (
    CheckedParameters,
    DocLinked,
    as_labels,
    check_flag,
    check_integer,
    check_n_jobs,
    check_noise_state,
    check_option,
    check_real,
    check_rng,
    kind_of,
    progress_bar,
    quiet,
    warn_of_repeats,
    warn_once,
)

# With fewer of the rarest class than so many, times 1/ε, groups are summed.
_FEW = 100.0
# Of the texts, so many must be copies to be told of, and so much of what tells classes
# apart must be noise.
_COPIES, _DROWNED = 0.2, 0.5

# Where the classes are from `y`, the noise is repeatable, the encoder was fitted, and
# private texts may be public ones.
_CAVEATS = (
    "The list of classes was taken from the private labels: a class that a single "
    "person has shows that this person is there. Everything here holds for the rest.",
    "The noise is drawn from random_state, an integer, and the exact sums: the same "
    "texts under the same parameters give the same model, others give other noise. "
    "So two models show whether the texts, labels and authors changed in between, "
    "whatever ε is, and their ε do not add up: publish one. "
    "What is promised is promised to those who do not know the integer.",
    "The encoder was given fitted: that it learned from public documents only is taken "
    "on trust. Everything here is void if it did not.",
    "Public documents may be among the private ones: who ran fit has accepted that "
    "(allow_shared_texts), and that all of these are public is taken on trust. What of "
    "them was not public is published, and nothing here holds for it.",
)


class DPTextClassifier(CheckedParameters, DocLinked, ClassifierMixin, BaseEstimator):
    r"""Learn from private texts by one noisy sum over people: every fit is a release.

    `fit` reads private texts and labels, and adds noise once, to sums over the people
    who wrote them: how many of each class are in each of some public groups, or where
    the texts of each class lie, on average, in public directions. Everything else, the
    model and the labelled public documents, is made of the noisy sums. So it is
    ε-differentially private for a person, with all of their texts and labels, as long
    as the holder, who runs `fit`, is trusted. Another `fit` on the same people, as for
    each candidate and fold of a grid search, is another release: their ε add up.

    Parameters
    ----------
    public_documents : iterable of str, or of lists of str
        Public, unlabelled, of the same kind as the private ones if possible. They fix
        groups and directions, are labelled by the noisy sums, and train the model.
    encoder : estimator, default=None
        With ``transform``: gives each document a vector. With ``predict``: gives it a
        group. It must do so for each document by itself. Unfitted, a clone of it is
        fitted on the public documents; fitted, it is used as it is, and what it learned
        from is taken to be public. None: groups are k-means among the topics of the
        public documents, and directions those of their topics, with those of
        `~skdptext.preprocessing.MeanVectorEncoder` if there is an `embedding`.
    epsilon : float > 0, default=1.0
        Privacy parameter ε of a person added or removed.
    delta : float in [0, 1), default=1e-6
        Probability δ that the promise may fail, for sums of vectors; at most
        1/`n_expected`. 0: groups only. Groups have δ = 0, whatever this says.
    classes : array-like of shape (n_classes,), default=None
        All labels that there may be; public. None: they are taken from `y`, with a
        warning, as a label that only one person has shows this person.
    embedding : WordEmbedding, default=None
        Public word vectors, which say what words have in common.
    n_components : int >= 1 or "auto", default="auto"
        Directions of topics, and as many of word vectors. "auto": a fifth of `n_rarest`
        times `epsilon`, from 20 to 80, and up to a tenth of the public documents.
    n_groups : int >= 2 or "auto", default="auto"
        Number of public groups, where groups are summed. "auto": fewer where the noise
        would fill more, by `n_expected` and `epsilon`.
    n_expected : int >= 1, default=None
        About how many persons there are: public, a guess, and not counted. None: as
        many as public documents.
    n_rarest : int >= 1, default=None
        About how many persons the rarest class has: public, a guess, and not counted.
        None: a fifth of what each would have if classes were equally frequent. With
        `epsilon` it decides what is summed.
    priors : {"equal", "released"}, default="equal"
        How frequent classes are in what `predict` answers for. "equal": a rare class is
        recognised as well as a frequent one, for balanced accuracy. "released": as the
        noisy sums say, for accuracy, and fewer false alarms of a rare class. It may be
        changed after `fit`, and costs nothing.
    allow_shared_texts : bool, default=False
        Accept private texts that are public documents, as they really are public: what
        the corpus holds is published. The guarantee says so.
    random_state : None, int, Generator or RandomState, default=None
        None: fresh noise from ChaCha20 keyed by the operating system. An int: noise
        that is derived by a keyed hash from the integer *and the exact sums*, so that
        the same data give the same release, and any other data independent noise. Two
        releases show whether the data changed, whatever ε is: publish one of them. The
        integer is a secret: ``secrets.randbits(128)`` gives one. A Generator or
        RandomState of NumPy: a key is drawn from it in every fit; a clone has a copy.
    n_jobs : int, default=None
        Threads that encode documents. None: one, unless joblib's context says more.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    noisy_sums_ : ndarray of shape (n_classes, n_features)
        The release: noisy sums over people, each of whom counts 1 in norm. A column for
        each group; or for each direction, and the constant.
    encoder_ : estimator
        What gives documents their vectors, or their groups; fitted.
    public_ : list of str, or of lists of str
        The public documents.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, the encoder depends on the other
        documents, labels are as many as documents or those of authors, or more private
        texts than coincide by chance are public documents. No message quotes a private
        document or label.

    Warns
    -----
    PrivacyLeakWarning
        If the classes are taken from `y`, if a few public documents are among the
        private ones, or if `random_state` is an integer that can be guessed.
    OutOfVocabularyWarning
        If private documents hold no word of the public ones, with their number, which
        is private.
    UserWarning
        If noise is most of what tells the classes apart in the noisy sums; or, without
        `authors`, if many texts are equal.

    See Also
    --------
    skdptext.DPDocumentReplacer : Trusts nobody: each document is replaced by itself.
    skdptext.privacy.PrivacyGuarantee : What is promised, in numbers.

    Notes
    -----
    *The sum.* φ maps a document to a vector of norm at most 1 that depends on public
    things only. Person a with the documents i ∈ a contributes

    .. math::

        u_a = \frac{1}{|a|} \sum_{i \in a} \varphi(x_i) \otimes e_{y_i}

    once, of norm at most 1 however much they wrote. Groups: φ is one-hot, the norm is
    L1, the noise discrete Laplace of scale 1/ε. Vectors: φ is a unit vector and a
    constant, the norm is Euclidean, the noise discrete Gaussian, with the smallest σ
    that (ε, δ) allows [1]_. Contributions are cut towards 0 on a grid of 2^-30, which
    makes no norm larger, the sums are whole numbers, and the noise is drawn in whole
    numbers, exactly [2]_.

    *Copies.* Without `authors` every document counts as a person of its own, and equal
    documents count once together, with the mean of their labels. So whoever copies
    documents before, as over-samplers and bootstraps do, multiplies nobody.

    *What is read.* Of private texts only these sums. The number of rows is not
    released, and words, idf and groups are those of the public documents.

    *Which sums.* Groups where the persons of the rarest class times ε are fewer than
    100, vectors else; an `encoder` decides by what it gives.

    *What is learned.* The sums say how likely each public document is of each class,
    with the noise known: of vectors, by linear discriminant analysis with the public
    covariance and with means that are shrunk by what noise explains. A student,
    logistic regression on their words, learns these weights, and is what predicts and
    labels the corpus. This is post-processing.

    *Tuning.* ``GridSearchCV`` over private text fits once for each candidate and fold,
    and all of these fits add up: choose parameters on public text, or count them with
    `~skdptext.privacy.PrivacyGuarantee.of_search`.

    *Cost.* That of the encoder, in blocks of documents. Memory: besides the texts some
    200 bytes and four for each class per document, to recognise copies; two numbers
    with `authors`.

    References
    ----------
    .. [1] B. Balle, Y.-X. Wang (2018). Improving the Gaussian mechanism for
       differential privacy: analytical calibration and optimal denoising. ICML.
    .. [2] C. Canonne, G. Kamath, T. Steinke (2020). The discrete Gaussian for
       differential privacy. NeurIPS.

    Examples
    --------
    >>> from skdptext import DPTextClassifier
    >>> public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"]
    >>> texts = ["my cat Tom", "a dog", "no milk today", "some tea"] * 50
    >>> labels = ["pets", "pets", "food", "food"] * 50
    >>> model = DPTextClassifier(public, classes=["food", "pets"], epsilon=1.0)
    >>> model = model.fit(texts, labels, authors=range(200))
    >>> model.predict(["two cats and a dog", "tea"])
    array(['pets', 'food'], dtype='<U4')
    >>> documents, their_labels = model.sample()    # to be handed over
    >>> list(zip(documents, their_labels.tolist()))[:2]
    [('a cat and a dog', 'pets'), ('dogs and a cat', 'pets')]
    """

    def __init__(
        self,
        public_documents: Any,
        encoder: Any = None,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Any = None,
        embedding: WordEmbedding | None = None,
        n_components: Any = "auto",
        n_groups: Any = "auto",
        n_expected: int | None = None,
        n_rarest: int | None = None,
        priors: str = "equal",
        allow_shared_texts: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.public_documents = public_documents
        self.encoder = encoder
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.embedding = embedding
        self.n_components = n_components
        self.n_groups = n_groups
        self.n_expected = n_expected
        self.n_rarest = n_rarest
        self.priors = priors
        self.allow_shared_texts = allow_shared_texts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any, y: Any, authors: Any = None) -> "DPTextClassifier":
        """Read private texts once, and release noisy sums over the people in them.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Private texts. Read once, in blocks; it may be a generator.
        y : array-like of shape (n_documents,)
            Private labels, of `classes`.
        authors : array-like of shape (n_documents,), default=None
            Who wrote each document; private, too. It is metadata in the sense of
            scikit-learn's routing: ``set_fit_request(authors=True)``. None: every
            document counts as a person of its own, and what is hidden is a document.

        Returns
        -------
        self : DPTextClassifier
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter or an argument breaks a rule.

        Notes
        -----
        *Privacy.* Every call is another release: the ε of several fits on the same
        people add up.
        """
        self._check_parameters()
        classes, numbers, shares = self._labelled(y, authors)
        features = self._public_part(len(classes))
        sums = self._exact_sums(X, numbers, shares, len(classes), features)
        return self._release(sums, shares is not None, classes, features)

    def _check_parameters(self) -> None:
        epsilon = check_real("epsilon", self.epsilon, low=0, open_low=True)
        check_real("delta", self.delta, low=0, high=1, open_high=True)
        for name in ("n_components", "n_groups", "n_expected", "n_rarest"):
            value, unset = getattr(self, name), None
            if name in ("n_components", "n_groups"):
                unset = "auto"
            if type(value) is not type(unset) or value != unset:
                check_integer(name, value, low=1 + (name == "n_groups"))
        check_integer("verbose", self.verbose, low=0)
        check_encoder(self.encoder)
        own = isinstance(self.embedding, WordEmbedding) and self.encoder is None
        if self.embedding is not None and not own:
            raise InvalidParameterError(
                "embedding must be None, or a WordEmbedding where encoder is None, got "
                f"{kind_of(self.embedding)}."
            )
        check_option("priors", self.priors, ["equal", "released"])
        check_flag("allow_shared_texts", self.allow_shared_texts)
        check_noise_state(self.random_state)
        check_n_jobs(self.n_jobs)
        laplace_scale(epsilon, GRID)  # large enough for 64 bits

    def _labelled(
        self, y: Any, authors: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The classes; of each document, the number of its class, and, if there are
        authors, among how many documents of its author it is."""
        if y is None:
            raise InvalidParameterError(
                "y must hold one label per document, got None: fit requires y to be "
                "passed, but the target y is None."
            )
        labels, shares, alike = as_labels("y", y), None, False
        if authors is not None:
            people = as_labels(
                "authors", authors, len(labels), n_different=0, people=True
            )
            alike = people.tolist() == labels.tolist()
            shares = _documents_of_each(people)
        given = different = np.unique(labels)
        n, inferred = len(labels), self.classes is None
        if n > 2 and (alike or (inferred and len(different) == n)):
            raise InvalidParameterError(
                "y must hold labels that several people share, got "
                + ("the authors." if alike else f"{n} for {n} documents.")
            )
        if not inferred:
            given = as_labels("classes", self.classes, of="class")
            different = np.unique(given)
        if not 2 <= len(different) == len(given):
            raise InvalidParameterError(
                f"{'y' if inferred else 'classes'} must hold at least 2 classes"
                f"{', each once' * (not inferred)}, got {len(given)} of which "
                f"{len(different)} differ."
            )
        if inferred:
            warn_once(
                "classes is None: the list of classes is taken from the private "
                "labels, and a label that only one person has shows that this person "
                "is there. Give all labels that there may be: classes=[...].",
                PrivacyLeakWarning,
            )
        return different, _numbers_of(labels, different), shares

    def _public_part(self, n_classes: int) -> PublicFeatures:
        """What is summed, by public things only."""
        self.public_ = public_list(self.public_documents)
        public = tuple(d if isinstance(d, str) else tuple(d) for d in self.public_)
        n = len(public) if self.n_expected is None else int(self.n_expected)
        rarest = n / n_classes / 5 if self.n_rarest is None else self.n_rarest
        grouped = self.delta == 0 or rarest * self.epsilon < _FEW
        if self.encoder is not None:
            grouped = is_grouper(self.encoder)
        if not grouped and not 0 < self.delta <= 1 / n:
            raise InvalidParameterError(
                "delta must be > 0 for sums of vectors, and at most 1/n_expected "
                f"({1 / n:.2g}), got {self.delta:g}: with more, a person in so many "
                "may be shown in the clear."
            )
        if self.encoder is not None:
            return PublicFeatures.of(self.encoder, self.public_)
        n_public = len(set(public))  # equal ones make no more groups
        if not grouped:
            d = directions(rarest * self.epsilon, n_public, self.n_components)
            return default_features(public, False, self.embedding, d)
        numbers = grouping(n * self.epsilon, n_public, n_classes, self.n_groups)
        return default_features(public, True, None, *numbers)

    # -- exact sums ------------------------------------------------------------

    def _exact_sums(
        self,
        X: Any,
        numbers: np.ndarray,
        shares: np.ndarray | None,
        n_classes: int,
        features: PublicFeatures,
    ) -> np.ndarray:
        """Sums over people in steps of the grid, (n_classes, n_columns): private."""
        n, done = len(numbers), 0
        table = np.zeros((n_classes, features.n_columns), dtype=np.int64)
        copies, shared = Copies(n, n_classes), KnownTexts(self.public_).count()
        for block, rows in self._encoded(X, features):
            at = slice(done, done + len(block))
            done += len(block)
            if done > n:
                break
            if shares is None:
                first, before, now = copies.see(block, numbers[at])
                add_documents(table, rows[first], -before, before.sum(axis=1))
                add_documents(table, rows[first], now, now.sum(axis=1))
            else:
                each = np.eye(n_classes, dtype=np.int64)[numbers[at]]
                add_documents(table, rows, each, shares[at])
            shared.see(block)
        if done != n:
            raise InvalidParameterError(
                f"y must hold one label per document ({done}{'+' * (done > n)}), got "
                f"{n}."
            )
        if shares is None and n - len(copies) > _COPIES * n:
            warn_once(
                f"{n - len(copies):,} of {n:,} texts are copies of others: equal texts "
                "count once together, as nobody says who wrote them. If a sampler "
                "added these, leave it out, as classes count alike; if several people "
                "wrote them, give authors. Near-copies are not seen.",
                UserWarning,
            )
        shared.check(self.allow_shared_texts)
        return table

    def _encoded(self, X: Any, features: PublicFeatures) -> Iterator[Any]:
        """Blocks of documents, with their contributions."""

        def one(block: list[Any]) -> tuple[list[Any], np.ndarray]:
            with quiet(Warning):  # of the encoder: they may quote documents
                return block, features.whole(block)

        # sharedmem: processes would be sent the encoder with each block
        run = Parallel(self.n_jobs, require="sharedmem", return_as="generator")
        with progress_bar(self.verbose, "summing", unit="doc") as bar:
            for block, rows in run(map(delayed(one), in_blocks(read_documents(X)))):
                bar.update(len(block))
                yield block, rows

    # -- the release -----------------------------------------------------------

    def _release(
        self,
        sums: np.ndarray,
        of_people: bool,
        classes: np.ndarray,
        features: PublicFeatures,
    ) -> "DPTextClassifier":
        warn_of_repeats(self.random_state, has_ids=True)
        epsilon, grouped = float(self.epsilon), features.names is not None
        n_cells, delta = (0, 0.0) if grouped else (sums.size, float(self.delta))
        part = LearningPart(
            "person" if of_people else "document", epsilon, delta, n_cells
        )
        # The noise is keyed by the exact sums, too: if an integer seed gave two tables
        # the same noise, their difference would show the exact one.
        context = blake2b(features.public.tobytes(), person=b"skdptext-learn")
        release = classes.tolist(), grouped, part.scale, sums.shape
        context.update(repr(release).encode())
        context.update(sums.astype("<i8").tobytes())
        streams = NoiseStreams(self.random_state, context.digest())
        draw = discrete_laplace if grouped else discrete_gaussian
        noise = draw(streams.open(b"sums"), part.scale, sums.size).reshape(sums.shape)
        void = (
            self.classes is None,
            streams.repeatable,
            features.fitted_before,
            self.allow_shared_texts,
        )
        self._part = replace(part, caveats=tuple(compress(_CAVEATS, void)))
        self.classes_ = classes
        self.noisy_sums_ = (sums + noise) / GRID
        self.encoder_ = features.encoder
        self._said = said_by(self.noisy_sums_, part.scale / GRID, features)
        self._student: Any = None
        if self._said.signal < _DROWNED:
            warn_once(
                f"noise drowns what tells classes apart at epsilon={epsilon:g}, as the "
                "noisy sums say: more people or epsilon, or fewer classes, would help.",
                UserWarning,
            )
        return self

    # -- what comes out --------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each document, by the model of the public documents.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        labels : ndarray of shape (n_documents,)
            Of `classes_`, by `priors`.
        """
        numbers = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[numbers])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, for each document.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            In the order of `classes_`, as if all classes were equally frequent, or as
            frequent as the noisy sums say, by `priors`.
        """
        check_is_fitted(self, "noisy_sums_")
        blocks = in_blocks(read_documents(X))
        parts = [self._log_proba(block, self.priors) for block in blocks]
        return np.exp(np.concatenate([np.empty((0, len(self.classes_))), *parts]))

    def _log_proba(self, documents: list[Any], priors: str) -> np.ndarray:
        if self._student is None:
            self._student = train_student(self.public_, self._said.weights)
        log = np.asarray(self._student.predict_log_proba(documents))
        return by_shares(log, self._said.shares) if priors == "released" else log

    def sample(
        self, n_samples: int | None = None, *, random_state: Any = None
    ) -> tuple[list[Any], np.ndarray]:
        """Draw labelled public documents, to be handed over and trained on.

        Parameters
        ----------
        n_samples : int >= 1, default=None
            How many are drawn, the class of each by the noisy shares of the classes.
            None: all public documents, once, with the class that `predict` gives them.
        random_state : None, int, Generator or RandomState, default=None
            Of this draw, which is made of the noisy sums only and costs no privacy.
            None: a new draw at every call.

        Returns
        -------
        documents : list of str, or of lists of str
            Public documents.
        labels : ndarray of shape (n_samples,)
            Of `classes_`.
        """
        check_is_fitted(self, "noisy_sums_")
        if n_samples is None:
            return list(self.public_), self.predict(self.public_)
        n = check_integer("n_samples", n_samples, low=1)
        log, rng = self._log_proba(self.public_, "released"), check_rng(random_state)
        at, numbers = draw_corpus(log, self._said.shares, n, rng)
        return [self.public_[i] for i in at.tolist()], self.classes_[numbers]

    def fit_resample(self, X: Any, y: Any, authors: Any = None) -> tuple[Any, Any]:
        """Fit, and return the labelled public documents: a step of imbalanced-learn.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Private texts.
        y : array-like of shape (n_documents,)
            Private labels.
        authors : array-like of shape (n_documents,), default=None
            Who wrote each document.

        Returns
        -------
        documents : list of str, or of lists of str
            All public documents; a column of a table where `X` is one, of its name.
        labels : ndarray of shape (n_public_documents,)
            Of `classes_`.

        Notes
        -----
        *Authors in a pipeline.* imbalanced-learn gives a step its authors by metadata
        routing only, requested for both methods: ``set_fit_request(authors=True)`` and
        ``set_fit_resample_request(authors=True)``. Without routing it drops
        ``step__authors``: ``guarantee().unit`` says what was hidden.
        """
        documents, labels = self.fit(X, y, authors=authors).sample()
        if hasattr(X, "to_frame"):  # a column of pandas or polars
            return type(X)(documents, name=X.name), labels
        if hasattr(X, "columns"):
            return type(X)(dict.fromkeys(X.columns, documents)), labels
        if isinstance(X, np.ndarray):
            return np.array(documents, dtype=object).reshape(-1, *X.shape[1:]), labels
        return documents, labels

    # scikit-learn makes it only where imbalanced-learn, which calls `fit_resample`, was
    # imported first.
    set_fit_resample_request = RequestMethod("fit_resample", ["authors"])

    def guarantee(self) -> PrivacyGuarantee:
        """What the model and the corpus promise.

        Returns
        -------
        guarantee : PrivacyGuarantee
            What is promised, in numbers and in sentences.
        """
        check_is_fitted(self, "noisy_sums_")
        return PrivacyGuarantee.of([self._part])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        return tags


def _numbers_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Number of the class of each label; no error quotes a label."""
    number = {label: i for i, label in enumerate(classes.tolist())}
    at = np.array([number.get(label, -1) for label in labels.tolist()], dtype=int)
    if (at < 0).any():
        text, named = (each.dtype.kind in "OUST" for each in (labels, classes))
        kinds = ", got text, not numbers" if text else ", got numbers, not text"
        raise InvalidParameterError(
            f"y must hold labels of classes only{kinds * (text != named)}; that of "
            f"document {(at < 0).argmax()} is none of them. (Some of scikit-learn's "
            "estimators number labels from 0 on: there, classes=range(n_classes).)"
        )
    return at


def _documents_of_each(people: np.ndarray) -> np.ndarray:
    """Among how many documents of its author each document is."""
    _, numbers, counts = np.unique(people, return_inverse=True, return_counts=True)
    return counts[numbers].astype(np.float64)
