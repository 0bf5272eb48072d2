"""A classifier and a labelled corpus from private texts: one noisy sum over people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skdptext.base import CheckedParameters
from skdptext.documents import are_shared_texts_counted, read_documents
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.learning._features import (
    PublicFeatures,
    check_encoder,
    is_grouper,
    make_features,
)
from skdptext.learning._guarantee import LearningPart
from skdptext.learning._model import Model
from skdptext.learning._readout import (
    Plan,
    make_plan,
)
from skdptext.learning._sums import (
    GRID,
    Noise,
    add_rows,
    whole_vectors,
)
from skdptext.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    gaussian_sigma,
    laplace_scale,
)
from skdptext.privacy import PrivacyGuarantee
from skdptext.replacement import (
    PublicDocuments,
    in_blocks,
)
from skdptext.utils import (
    DocLinked,
    NoiseStreams,
    as_labels,
    check_authors,
    check_integer,
    check_labels,
    check_n_jobs,
    check_noise_state,
    check_real,
    check_rng,
    kind_of,
    progress_bar,
    quiet,
    shown,
    warn_of_repeats,
    warn_once,
)

_SEEDED = (
    "The noise is drawn from random_state, an integer, and the exact sums: the same "
    "texts under the same parameters give the same model, others give other noise. "
    "So two models show whether the texts, labels and authors changed in between, "
    "whatever ε is, and their ε do not add up: publish one. "
    "What is promised is promised to those who do not know the integer."
)
_FITTED_BEFORE = (
    "The encoder was given fitted: that it learned from public documents only is taken "
    "on trust. Everything here is void if it did not."
)
_FROM_Y = (
    "The list of classes was taken from the private labels: a class that a single "
    "person has shows that this person is there. Everything here holds for the rest."
)


class DPTextClassifier(CheckedParameters, DocLinked, ClassifierMixin, BaseEstimator):
    r"""Learn from private texts by one noisy sum over people: every fit is a release.

    `fit` reads private texts and labels, and adds noise once, to sums over the people
    who wrote them: how many of each class are in each of some public groups, or where
    the texts of each class lie, on average, in a public space of vectors. Everything
    else, the model and the labelled public documents, is made of the noisy sums. So it
    is ε-differentially private for a person, with all of their texts and labels, as
    long as the holder, who runs `fit`, is trusted. Another `fit` on the same people, as
    for each candidate and fold of a grid search, is another release: their ε add up.

    Parameters
    ----------
    public_documents : iterable of str, or of lists of str
        Public, unlabelled, of the same kind as the private ones if possible. They fix
        groups and directions, are labelled by the noisy sums, and train the model.
    encoder : estimator, default=None
        With ``transform``: gives each document a vector. With ``predict``: gives it a
        group. It must do so for each document by itself. Unfitted, a clone of it is
        fitted on the public documents; fitted, it is used as it is, and what it learned
        from is taken to be public. It has a part in what is summed, however few or many
        persons are expected. None:
        `~skdptext.preprocessing.MeanVectorEncoder` if there is an `embedding`; and
        groups by TF-IDF, truncated SVD to four directions for each class (30 to 60, but
        at most as many as groups), rows of unit length and k-means.
    embedding : WordEmbedding, default=None
        Public word vectors, from which documents get vectors.
    n_components : int, default=20
        Directions of these vectors, at most: the noise is in each, so that there are
        fewer where few persons are expected for each class.
    n_groups : int >= 2 or "auto", default="auto"
        Number of public groups, where groups are summed. "auto": fewer where the noise
        would fill more, by `n_expected` and `epsilon`.
    n_expected : int >= 1, default=None
        About how many persons there are: public, a guess, and not counted. None: as
        many as public documents. It decides, with `epsilon` and the number of classes,
        whether groups, vectors or both are summed.
    epsilon : float > 0, default=1.0
        Privacy parameter ε of a person added or removed.
    delta : float in [0, 1), default=1e-6
        Probability δ that the promise may fail, for sums of vectors; at most
        1/`n_expected`. 0: groups only. Groups alone have δ = 0, whatever this says.
    classes : array-like of shape (n_classes,), default=None
        All labels that there may be; public. None: they are taken from `y`, with a
        warning, as a label that only one person has shows this person.
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
        The release: noisy sums over people, each of whom counts 1 in norm. First a
        column for each group, then one for each direction, then the constant.
    encoder_ : estimator
        What gives documents their vectors, fitted; or their groups, where no vectors
        are summed.
    public_ : PublicDocuments
        The public documents.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, or the encoder depends on the other
        documents. No message quotes a private document or label.

    Warns
    -----
    PrivacyLeakWarning
        If the classes are taken from `y`, if public documents are among the private
        ones, or if `random_state` is an integer that can be guessed.
    OutOfVocabularyWarning
        If private documents hold no word of the public ones, with their number, which
        is private.

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
    that (ε, δ) allows [1]_. Both: half of ε each. Contributions are cut towards 0 on a
    grid of 2^-30, which makes no norm larger, the sums are whole numbers, and the noise
    is drawn in whole numbers, exactly [2]_.

    *What is read.* Of private texts only these sums. The number of rows is not
    released, and words, idf and groups are those of the public documents.

    *Which sums.* With fewer than 100 persons times ε for each class groups alone are
    summed, with 400 and more vectors alone, in directions that are fewer where persons
    are, and both between. On three corpora this lost at most a few hundredths of
    accuracy to the best of the three.

    *What is learned.* The sums say how likely each public document is of each class,
    with the noise known; a student, logistic regression on their words, learns these
    weights, and is what predicts and labels the corpus. This is post-processing.

    *Tuning.* ``GridSearchCV`` over private text fits once for each candidate and fold,
    and all of these fits add up: choose parameters on public text, or count them with
    `~skdptext.privacy.PrivacyGuarantee.compose`.

    *Cost.* That of the encoder, in blocks of documents. Memory: two numbers per
    document besides the texts.

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
    >>> model.fit(texts, labels).predict(["two cats and a dog", "tea"])
    array(['pets', 'food'], dtype='<U4')
    >>> documents, their_labels = model.sample()    # to be handed over
    >>> list(zip(documents, their_labels.tolist()))[:2]
    [('a cat and a dog', 'pets'), ('dogs and a cat', 'pets')]
    """

    _stored_as: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        **CheckedParameters._stored_as,
        "public_documents": PublicDocuments.shared,
    }

    def __init__(
        self,
        public_documents: Any,
        encoder: Any = None,
        *,
        embedding: WordEmbedding | None = None,
        n_components: int = 20,
        n_groups: Any = "auto",
        n_expected: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.public_documents = public_documents
        self.encoder = encoder
        self.embedding = embedding
        self.n_components = n_components
        self.n_groups = n_groups
        self.n_expected = n_expected
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ---------------------------------------------------------------

    def fit(self, X: Any, y: Any, authors: Any = None) -> DPTextClassifier:
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
        labels = self._labels(y)
        classes = self._classes(labels)
        features, plan = self._public_part(classes)
        sums = self._exact_sums(X, labels, authors, classes, features, plan)
        unit: Literal["document", "person"]
        unit = "document" if authors is None else "person"
        return self._release(sums, unit, classes, features, plan)

    def _check_parameters(self) -> None:
        epsilon = check_real("epsilon", self.epsilon, low=0, open_low=True)
        delta = check_real("delta", self.delta, low=0, high=1, open_high=True)
        check_integer("n_components", self.n_components, low=1)
        if not isinstance(self.n_groups, str) or self.n_groups != "auto":
            whole = isinstance(self.n_groups, Integral)
            if not whole or isinstance(self.n_groups, bool | np.bool_):
                raise InvalidParameterError(
                    'n_groups must be "auto" or an integer >= 2, got '
                    f"{shown(self.n_groups)}."
                )
            check_integer("n_groups", self.n_groups, low=2)
        if self.n_expected is not None:
            n_expected = check_integer("n_expected", self.n_expected, low=1)
            _check_delta(delta, n_expected)
        if self.embedding is not None and not isinstance(self.embedding, WordEmbedding):
            raise InvalidParameterError(
                "embedding must be None or a WordEmbedding, got "
                f"{kind_of(self.embedding)}."
            )
        check_encoder(self.encoder)
        both = self.embedding is not None and self.encoder is not None
        if both and not is_grouper(self.encoder):
            raise InvalidParameterError(
                "embedding must be None beside an encoder that gives vectors, got both."
            )
        check_noise_state(self.random_state)
        check_integer("verbose", self.verbose, low=0)
        check_n_jobs(self.n_jobs)
        laplace_scale(epsilon / 2, GRID)  # large enough for 64 bits

    def _labels(self, y: Any) -> np.ndarray:
        if y is None:
            raise InvalidParameterError(
                "y must hold one label per document, got None: fit requires y to be "
                "passed, but the target y is None."
            )
        return as_labels("y", y)

    def _classes(self, labels: np.ndarray) -> np.ndarray:
        if self.classes is not None:
            return _checked_classes(self.classes)
        classes = np.unique(labels)
        if len(classes) < 2:
            got = "1 class" if len(classes) else "none"
            raise InvalidParameterError(
                f"y must hold at least 2 classes where classes=None, got {got}."
            )
        warn_once(
            "classes is None: the list of classes is taken from the private labels, "
            "and a label that only one person has shows that this person is there. "
            "Give all labels that there may be: classes=[...].",
            PrivacyLeakWarning,
        )
        return classes

    def _public_part(self, classes: np.ndarray) -> tuple[PublicFeatures, Plan]:
        """Features and plan: of public things only."""
        public = PublicDocuments.of(self.public_documents)
        grouper = self.encoder is not None and is_grouper(self.encoder)
        vectors = self.embedding is not None or (
            self.encoder is not None and not grouper
        )
        n_expected = len(public) if self.n_expected is None else int(self.n_expected)
        if vectors and not self.delta and self.embedding is None:
            raise InvalidParameterError(
                "delta must be > 0 for an encoder that gives vectors, got 0."
            )
        plan = make_plan(
            n_expected=n_expected,
            epsilon=float(self.epsilon),
            n_classes=len(classes),
            n_public=len(public.hashes),  # equal ones make no more groups
            vectors=vectors and float(self.delta) > 0,
            n_groups=None if self.n_groups == "auto" else int(self.n_groups),
            own=None if self.encoder is None else "groups" if grouper else "vectors",
        )
        if plan.vectors_epsilon:  # n_expected may be the number of public documents
            _check_delta(float(self.delta), n_expected)
        features = make_features(
            public,
            self.encoder,
            self.embedding,
            min(self.n_components, plan.n_components),
            plan.n_groups,
            plan.vectors_epsilon > 0,
            plan.grouping,
        )
        return features, plan

    # -- exact sums ------------------------------------------------------------

    def _exact_sums(
        self,
        X: Any,
        labels: np.ndarray,
        authors: Any,
        classes: np.ndarray,
        features: PublicFeatures,
        plan: Plan,
    ) -> np.ndarray:
        """Sums over people in steps of the grid, (n_classes, n_features): private."""
        n = len(labels)
        numbers = _numbers_of(labels, classes)
        shares = _documents_of_each(authors, n)
        k = features.n_groups
        table = np.zeros((len(classes), k + features.n_vector_cells), dtype=np.int64)
        counted = are_shared_texts_counted()
        shared = None if counted else features.documents.known.count()
        done = 0
        for block, groups, vectors in self._encoded(_at_most(X, n), features):
            at = slice(done, done + len(block))
            done += len(block)
            if groups is not None:
                whole = GRID // shares[at].astype(np.int64)
                np.add.at(table, (numbers[at], groups), whole)
            if vectors is not None:
                rows = whole_vectors(vectors, plan.constant, shares[at])
                add_rows(table, numbers[at], slice(k, None), rows)
            if shared is not None:
                shared.see(block)
        if done != n:
            raise InvalidParameterError(
                f"y must hold one label per document ({done}), got {n}."
            )
        if shared is not None:
            shared.warn_of_strangers()
        if shared is not None and shared.any:
            warn_once(
                f"{shared.sentence('private texts')}. What is "
                "public cannot be protected; and if these texts are not, the corpus "
                "that is handed over shows them.",
                PrivacyLeakWarning,
            )
        return table

    def _encoded(
        self, documents: Iterator[Any], features: PublicFeatures
    ) -> Iterator[tuple[list[Any], Any, Any]]:
        """Blocks of documents, with the groups and vectors of each."""

        def one(block: list[Any], start: int) -> tuple[list[Any], Any, Any]:
            groups = vectors = None
            with quiet(Warning):  # of the encoder: they may quote documents
                if features.assign is not None:
                    groups = features.assign(block, start)
                if features.vectors is not None:
                    vectors = features.vectors.encode(block)
            return block, groups, vectors

        def tasks() -> Iterator[Any]:
            start = 0
            for block in in_blocks(documents):
                yield delayed(one)(block, start)
                start += len(block)

        with progress_bar(self.verbose, "summing", unit="doc", total=None) as bar:
            # sharedmem: processes would be sent the encoder with each block
            results = Parallel(
                n_jobs=self.n_jobs, require="sharedmem", return_as="generator"
            )(tasks())
            for block, groups, vectors in results:
                bar.update(len(block))
                yield block, groups, vectors

    # -- the release -----------------------------------------------------------

    def _release(
        self,
        sums: np.ndarray,
        unit: Literal["document", "person"],
        classes: np.ndarray,
        features: PublicFeatures,
        plan: Plan,
    ) -> DPTextClassifier:
        warn_of_repeats(self.random_state, has_ids=True)
        k, cells = features.n_groups, len(classes) * features.n_vector_cells
        scale = laplace_scale(plan.groups_epsilon, GRID) if k else 0
        sigma = 0
        if cells:
            sigma = gaussian_sigma(plan.vectors_epsilon, float(self.delta), cells, GRID)
        # The noise is keyed by the exact sums, too: if an integer seed gave two tables
        # the same noise, their difference would show the exact one.
        context = blake2b(digest_size=32, person=b"skdptext-learn")
        summed = _digest_of(features, classes, plan)
        context.update(summed + b"%d:%d:" % (scale, sigma))
        context.update(sums.astype("<i8").tobytes())
        streams = NoiseStreams(self.random_state, context.digest())
        noisy = sums.copy()
        if k:
            drawn = discrete_laplace(streams.open(b"groups"), scale, len(classes) * k)
            noisy[:, :k] += drawn.reshape(len(classes), k)
        if cells:
            drawn = discrete_gaussian(streams.open(b"vectors"), sigma, cells)
            noisy[:, k:] += drawn.reshape(len(classes), features.n_vector_cells)

        caveats = []
        if self.classes is None:
            caveats.append(_FROM_Y)
        if streams.repeatable:
            caveats.append(_SEEDED)
        if features.fitted_before:
            caveats.append(_FITTED_BEFORE)
        part = LearningPart(
            unit=unit,
            groups_epsilon=float(plan.groups_epsilon) if k else 0.0,
            vectors_epsilon=float(plan.vectors_epsilon) if cells else 0.0,
            delta=float(self.delta) if cells else 0.0,
            n_cells=cells,
            caveats=tuple(caveats),
        )
        self.classes_ = classes
        self.noisy_sums_ = noisy / GRID
        self.public_ = features.documents
        self.encoder_ = _encoder_of(features)
        self._guarantee = PrivacyGuarantee.of([part])
        self._model = Model(
            features.documents,
            self.noisy_sums_,
            Noise(k, features.n_vector_cells, plan.constant, scale, sigma),
            features.public_groups,
            features.public_vectors,
        )
        return self

    # -- what comes out --------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each document, by the model of the public documents.

        Classes count alike, however frequent they are: a rare one is found as well.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        labels : ndarray of shape (n_documents,)
            Of `classes_`.
        """
        check_is_fitted(self, "noisy_sums_")
        return np.asarray(self.classes_[self._log_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, for each document, where all are as frequent.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            In the order of `classes_`, as if all classes were equally frequent.
        """
        check_is_fitted(self, "noisy_sums_")
        return np.asarray(np.exp(self._log_proba(X)))

    def _log_proba(self, X: Any) -> np.ndarray:
        student = self._model.student
        parts = [student.log_proba(block) for block in in_blocks(read_documents(X))]
        return np.concatenate([np.empty((0, len(self.classes_))), *parts])

    def sample(
        self, n_samples: int | None = None, *, random_state: Any = None
    ) -> tuple[list[Any], np.ndarray]:
        """Draw labelled public documents, to be handed over and trained on.

        Parameters
        ----------
        n_samples : int >= 1, default=None
            How many are drawn, the class of each by the noisy shares of the classes.
            None: all public documents, once, with the class that is likeliest if all
            classes are equally frequent.
        random_state : None, int, Generator or RandomState, default=None
            Of this draw, which is made of the noisy sums only and costs no privacy.
            None: drawn anew.

        Returns
        -------
        documents : list of str, or of lists of str
            Public documents.
        labels : ndarray of shape (n_samples,)
            Of `classes_`.
        """
        check_is_fitted(self, "noisy_sums_")
        if n_samples is not None:
            n_samples = check_integer("n_samples", n_samples, low=1)
        at, numbers = self._model.draw(n_samples, check_rng(random_state))
        return [self.public_[i] for i in at.tolist()], self.classes_[numbers]

    def fit_resample(
        self, X: Any, y: Any, authors: Any = None
    ) -> tuple[list[Any], np.ndarray]:
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
            All public documents.
        labels : ndarray of shape (n_public_documents,)
            Of `classes_`.

        Notes
        -----
        *Authors in a pipeline.* imbalanced-learn gives a step its authors by metadata
        routing only, requested for both methods: ``set_fit_request(authors=True)`` and
        ``set_fit_resample_request(authors=True)``. Without routing it drops
        ``step__authors``: ``guarantee().unit`` says what was hidden.
        """
        return self.fit(X, y, authors=authors).sample()

    def set_fit_resample_request(
        self, *, authors: bool | str | None = "$UNCHANGED$"
    ) -> DPTextClassifier:
        """Ask imbalanced-learn's pipelines for authors, by metadata routing.

        scikit-learn makes this method only where imbalanced-learn was imported first.

        Parameters
        ----------
        authors : bool, str or None
            As in ``set_fit_request``.

        Returns
        -------
        self : DPTextClassifier
            The estimator itself.

        Raises
        ------
        InvalidParameterError
            If imbalanced-learn is not imported.
        """
        requests = self._get_metadata_request()
        if not hasattr(requests, "fit_resample"):
            raise InvalidParameterError(
                "authors must be requested after imbalanced-learn is imported, whose "
                "pipelines call fit_resample: import imblearn first."
            )
        if authors != "$UNCHANGED$":
            requests.fit_resample.add_request(param="authors", alias=authors)
        self._metadata_request = requests
        return self

    def guarantee(self) -> PrivacyGuarantee:
        """What the model and the corpus promise.

        Returns
        -------
        guarantee : PrivacyGuarantee
            What is promised, in numbers and in sentences.
        """
        check_is_fitted(self, "noisy_sums_")
        return self._guarantee

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.random_state is None
        return tags


def _encoder_of(features: PublicFeatures) -> Any:
    if features.vectors is not None:
        return features.vectors.encoder
    assert features.groups is not None
    return features.groups.grouper


def _digest_of(features: PublicFeatures, classes: np.ndarray, plan: Plan) -> bytes:
    """Of what sums are sums of."""
    digest = blake2b(features.fingerprint, digest_size=32, person=b"skdptext-sums")
    digest.update(repr((classes.dtype.kind, classes.tolist(), plan.constant)).encode())
    return digest.digest()


def _check_delta(delta: float, n_expected: int) -> None:
    if delta > 1 / n_expected:
        raise InvalidParameterError(
            f"delta must be at most 1/n_expected ({1 / n_expected:.2g}), got "
            f"{delta:g}: with more, a person in so many may be shown in the clear."
        )


def _checked_classes(classes: Any) -> np.ndarray:
    given = as_labels("classes", classes, of="class")
    labels = check_labels("classes", given, given.size, of="class", n_different=2)
    different = np.unique(labels)
    if len(different) < len(labels):
        raise InvalidParameterError(
            f"classes must hold each label once, got {len(labels)} of which "
            f"{len(different)} differ."
        )
    return different


def _numbers_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Number of the class of each label; no error quotes a label."""
    if not len(labels):
        return np.zeros(0, dtype=np.int64)
    rule = "y must hold labels of classes only"
    text = [np.asarray(each).dtype.kind in "OUST" for each in (labels, classes)]
    if text[0] != text[1]:
        kinds = ["text" if one else "numbers" for one in text]
        raise InvalidParameterError(
            f"{rule}, got {kinds[0]}, not {kinds[1]} as in classes."
        )
    at = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    wrong = np.flatnonzero(classes[at] != labels)
    if len(wrong):
        raise InvalidParameterError(
            f"{rule}, but the label of document {wrong[0]} is none of them."
        )
    return np.asarray(at)


def _documents_of_each(authors: Any, n: int) -> np.ndarray:
    """Among how many documents of its author each document is."""
    if authors is None:
        return np.ones(n)
    values = check_authors(authors, n)
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[numbers].astype(np.float64)


def _at_most(X: Any, n: int) -> Iterator[Any]:
    """Documents one after the other, refused where there are more labels than these."""
    for position, document in enumerate(read_documents(X)):
        if position == n:
            raise InvalidParameterError(
                f"y must hold one label per document, got {n} for more documents."
            )
        yield document
