"""Learn a classifier and a labeled corpus from one noisy sum over people."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import compress
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._metadata_requests import RequestMethod
from sklearn.utils.validation import check_is_fitted

from skdptext.base import NoiseStreams
from skdptext.documents import (
    DocumentReader,
    KnownTexts,
    as_written,
    in_blocks,
    public_list,
)
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
    check_integer,
    check_jobs,
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

# Groups are summed if ε times the number of persons in the rarest class is smaller.
_FEW = 100.0
# `fit` warns if this share of the texts are copies, or if noise makes up this share of
# the differences between classes.
_COPIES, _DROWNED = 0.2, 0.5
_PRIORS = ("equal", "released")
_MOST_DRAWS = 10**8

# Caveats of a guarantee if classes come from `y`, the noise is repeatable, the encoder
# was already fitted, or private texts may be public.
_CAVEATS = (
    "The list of classes was taken from the private labels: a class with a single "
    "person reveals that this person took part. The statements below hold otherwise.",
    "The noise is drawn from random_state, an integer, and the exact sums: equal texts "
    "and parameters give the same model, and others give independent noise. Two models "
    "therefore reveal whether the texts, labels or authors changed in between, for any "
    "ε, and their ε do not add up: publish only one. The promise only holds against "
    "attackers who do not know the integer.",
    "The encoder was already fitted: we trust that it learned from public documents "
    "only. Otherwise everything below is void.",
    "Public documents may be among the private ones: the caller of fit accepted this "
    "(allow_shared_texts), and we trust that all of these are public. Texts that were "
    "not public are published, and nothing below holds for them.",
)


class DPTextClassifier(CheckedParameters, DocLinked, ClassifierMixin, BaseEstimator):
    r"""Learn from private texts by one noisy sum over people; every fit is a release.

    `fit` reads private texts and labels, and adds noise once, to sums over the people
    who wrote them: counts of each class in public groups, or the mean positions of each
    class in public directions. The model and the labeled public documents are computed
    from the noisy sums only. They are ε-differentially private for a person, with all
    of their texts and labels, if the holder, who runs `fit`, is trusted. Another `fit`
    on the same people, as for each candidate and fold of a grid search, is another
    release: their ε add up.

    Parameters
    ----------
    public_documents : iterable of str, or of lists of str
        Public, unlabeled documents, of the same kind as the private ones if possible.
        They define groups and directions, get labels from the noisy sums, and train the
        model.
    encoder : estimator, default=None
        With ``transform`` it gives each document a vector, and with ``predict`` a
        group. It must treat each document by itself. An unfitted one is cloned and
        fitted on the public documents. A fitted one is used unchanged, and its training
        data are assumed to be public. If None, groups are found by k-means among the
        topics of the public documents, and directions are those of their topics, plus
        those of `~skdptext.preprocessing.MeanVectorEncoder` if there is an `embedding`.
    epsilon : float > 0, default=1.0
        Privacy parameter ε of a person added or removed.
    delta : float in [0, 1), default=1e-6
        Probability δ that the promise may fail, for sums of vectors; at most
        1/`n_expected`. With 0, only groups are summed. Groups always have δ = 0.
    classes : array-like of shape (n_classes,), default=None
        All possible labels, which must be public. If None, they are taken from `y`,
        with a warning, because a label that only one person has reveals this person.
    embedding : WordEmbedding, default=None
        Public word vectors, which relate words to each other.
    token_pattern : str, default=None
        Regular expression of a word, in public and private texts, as in
        `~skdptext.DPWordPerturber`. A custom encoder gets texts if this and `tokenizer`
        are None, and lists of words otherwise. The corpus has the texts as written.
    tokenizer : callable, default=None
        Splits each lowercased text by itself into words, instead of `token_pattern`: a
        function, such as ``def words(text): return jieba.lcut(text)``.
    n_components : int >= 1 or "auto", default="auto"
        Number of directions of topics, and of word vectors. "auto" is a fifth of
        `n_rarest` times `epsilon`, and of no more than its default; from 20 to 100, and
        up to a tenth of the public documents.
    n_groups : int >= 2 or "auto", default="auto"
        Number of public groups, if groups are summed. "auto" chooses fewer groups if
        `n_expected` and `epsilon` are small, because noise would fill more of them.
    n_expected : int >= 1, default=None
        Approximate number of persons: a public guess, not a count. If None, the number
        of public documents.
    n_rarest : int >= 1, default=None
        Approximate number of persons in the rarest class: a public guess, not a count.
        If None, a quarter of the number in each class if classes were equally frequent:
        give it if yours are. Together with `epsilon` it decides what is summed.
    priors : {"equal", "released"}, default="equal"
        Class frequencies that `predict` assumes. "equal" treats rare and frequent
        classes alike, for balanced accuracy. "released" uses the noisy sums, for
        accuracy and fewer false alarms of a rare class. It may be changed after `fit`
        at no cost.
    allow_shared_texts : bool, default=False
        Whether private texts may be public documents. Only set it if they are really
        public: the corpus publishes them. The guarantee mentions it.
    random_state : None, int, Generator or RandomState, default=None
        None draws fresh noise from ChaCha20 keyed by the operating system. With an int,
        noise is derived by a keyed hash from the integer *and the exact sums*: equal
        data give the same release, and other data independent noise. Two releases
        reveal whether the data changed, for any ε: publish only one of them. The
        integer is a secret; ``secrets.randbits(128)`` makes one. From a Generator or
        RandomState of NumPy, every fit draws a key; a clone has a copy of it.
    n_jobs : int, default=None
        Number of threads that encode documents. None means one, unless joblib's context
        sets more.
    verbose : int, default=0
        Above 0, show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    noisy_sums_ : ndarray of shape (n_classes, n_features)
        The release: noisy sums over people, each of whom counts 1 in norm. It has a
        column for each group, or for each direction and the constant.
    encoder_ : estimator
        The fitted estimator that gives documents their vectors or groups.
    public_ : list of str, or of lists of str
        The public documents.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter breaks its rule, the encoder depends on other
        documents, all labels differ or equal the authors, or more private texts are
        public documents than chance explains. No message quotes a private document or
        label.

    Warns
    -----
    PrivacyLeakWarning
        If the classes are taken from `y`, if a few public documents are among the
        private ones, or if `random_state` is an integer that can be guessed.
    OutOfVocabularyWarning
        If private documents contain no word of the public ones. It states their number,
        which is private.
    UserWarning
        If most of the differences between classes in the noisy sums are noise; or,
        without `authors`, if many texts are equal.

    See Also
    --------
    skdptext.DPDocumentReplacer : Replaces each document locally, without a trusted
        holder.
    skdptext.privacy.PrivacyGuarantee : The promise in numbers.

    Notes
    -----
    *The sum.* φ maps a document to a vector of norm at most 1 that depends on public
    data only. Person a with the documents i ∈ a contributes

    .. math::

        u_a = \frac{1}{|a|} \sum_{i \in a} \varphi(x_i) \otimes e_{y_i}

    once, with a norm of at most 1 regardless of how much they wrote. For groups, φ is
    one-hot, the norm is L1, and the noise is discrete Laplace of scale 1/ε. For
    vectors, φ is a unit vector and a constant, the norm is Euclidean, and the noise is
    discrete Gaussian with the smallest σ that (ε, δ) allows [1]_. Contributions are
    rounded towards 0 on a grid of 2^-30, which increases no norm. The sums are
    integers, and the noise is drawn exactly, in integers [2]_.

    *Copies.* Without `authors` every document counts as a person, and equal documents
    count once together, with the mean of their labels. Over-samplers and bootstraps,
    which copy documents, therefore do not multiply a person.

    *What is read.* Only these sums depend on private texts. The number of rows is not
    released, and words, idf and groups are those of the public documents.

    *Which sums.* Groups are summed if ε times the number of persons in the rarest class
    is below 100, and vectors otherwise. With an `encoder`, its output decides.

    *What is learned.* Given the known noise, the sums say how likely each public
    document belongs to each class: for vectors, by linear discriminant analysis with
    the public covariance and with means shrunk according to the noise. A student model,
    logistic regression on words, learns these weights; it predicts, and labels the
    corpus. For vectors, the scores of the discriminant analysis are added to its own,
    with more weight if less of the sums is noise. This is post-processing.

    *Scores.* ``score`` returns accuracy, which a rare class hardly changes: use
    `sklearn.metrics.balanced_accuracy_score` for skewed classes.

    *Tuning.* ``GridSearchCV`` over private text fits once for each candidate and fold,
    and all of these fits add up: choose parameters on public text, or count them with
    `~skdptext.privacy.PrivacyGuarantee.of_search`.

    *In other estimators.* Every fit that voting, stacking or bagging makes is another
    release. If they number the labels, pass ``classes=range(n_classes)``.
    ``BaggingClassifier`` only accepts texts as a table of one column, such as
    ``pd.DataFrame({"text": X})``, or as an array of shape (n_documents, 1): its error
    for a list quotes private texts.

    *Cost.* The time is that of the encoder, in blocks of documents. In addition to the
    texts, memory holds some 200 bytes per document and four for each class, to identify
    copies; with `authors`, two numbers.

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
    >>> documents, their_labels = model.sample()    # the corpus to publish
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
        token_pattern: str | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
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
        self.token_pattern = token_pattern
        self.tokenizer = tokenizer
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
            Private texts. They are read once, in blocks, and may be a generator.
        y : array-like of shape (n_documents,)
            Private labels, among `classes`.
        authors : array-like of shape (n_documents,), default=None
            The author of each document, which is also private. It is metadata in the
            sense of scikit-learn's routing: ``set_fit_request(authors=True)``. If None,
            every document counts as a person, and single documents are protected.

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
                check_integer(name, value, low=1 + (name == "n_groups"), high=10**18)
        check_encoder(self.encoder)
        own = isinstance(self.embedding, WordEmbedding) and self.encoder is None
        if self.embedding is not None and not own:
            raise InvalidParameterError(
                "embedding must be None, or a WordEmbedding if encoder is None, got "
                f"{kind_of(self.embedding)}."
            )
        check_option("priors", self.priors, _PRIORS)
        check_option("allow_shared_texts", self.allow_shared_texts)
        check_noise_state(self.random_state)
        check_jobs(self.n_jobs, self.verbose)
        laplace_scale(epsilon, GRID)  # refuses an ε whose noise exceeds 64 bits

    def _labelled(
        self, y: Any, authors: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Get the classes, the number of each document's class, and shares.

        With authors, the share of a document is the number of documents of its author.
        """
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
            _, at, counts = np.unique(people, return_inverse=True, return_counts=True)
            shares = counts[at]
        given = different = np.unique(labels)
        n, inferred = len(labels), self.classes is None
        if n > 2 and (alike or len(different) == n):
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
                "The list of classes is taken from the private labels, and a label "
                "that only one person has reveals that this person took part. Give "
                "all possible labels as `classes`.",
                PrivacyLeakWarning,
            )
        return different, _numbers_of(labels, different), shares

    def _public_part(self, n_classes: int) -> PublicFeatures:
        """Decide what is summed, from public data only."""
        reader = DocumentReader.of(self, None)
        documents = public_list(self.public_documents, reader)
        public = tuple(d if isinstance(d, str) else tuple(d) for d in documents)
        n = len(public) if self.n_expected is None else int(self.n_expected)
        epsilon, delta = float(self.epsilon), float(self.delta)  # of any kind of number
        # Only public numbers are used here. The true numbers of people and of labels
        # are private, and a choice by them would reveal something.
        # With vectors instead of groups at ε n / n_classes = 400, balanced accuracy
        # rose on 10 of 14 corpora, by up to 0.06. It fell on 16 topics, by 0.04, and
        # where one text in 26 is of the rarest class, by up to 0.13.
        guess = n / n_classes / 4
        rarest = guess if self.n_rarest is None else self.n_rarest
        grouped = delta == 0 or rarest * epsilon < _FEW
        if self.encoder is not None:
            grouped = is_grouper(self.encoder)
        if not grouped and not 0 < delta <= 1 / n:
            raise InvalidParameterError(
                "delta must be > 0 for sums of vectors, and at most 1/n_expected "
                f"({1 / n:.2g}), got {delta:g}: a larger δ allows releasing one "
                "person in so many in plain text."
            )
        n_public = len(set(public))  # equal documents cannot form several groups
        if self.encoder is not None:
            features = PublicFeatures.of(self.encoder, documents)
        elif not grouped:
            # too large a number would cost more than one that is too small
            few = min(rarest, guess) * epsilon
            d = directions(few, n_public, self.n_components)
            features = default_features(public, False, self.embedding, d)
        elif self.n_groups != "auto" and self.n_groups > len(public):
            raise InvalidParameterError(
                "n_groups must be at most the number of public documents "
                f"({len(public)}), got {self.n_groups}."
            )
        else:
            numbers = grouping(n * epsilon, n_public, n_classes, self.n_groups)
            features = default_features(public, True, None, *numbers)
        return replace(features, given=documents, reader=reader)

    # -- exact sums ------------------------------------------------------------

    def _exact_sums(
        self,
        X: Any,
        numbers: np.ndarray,
        shares: np.ndarray | None,
        n_classes: int,
        features: PublicFeatures,
    ) -> np.ndarray:
        """Compute exact sums over people in grid steps; they are private."""
        # Everything here is integer arithmetic. A floating-point sum depends on the
        # order of its terms, and one person more would change the rounding of others.
        n, done = len(numbers), 0
        table = np.zeros((n_classes, features.n_columns), dtype=np.int64)
        copies = Copies(n, n_classes)
        shared = KnownTexts(features.given, features.reader).count()
        for block, rows in self._encoded(X, features):
            at = slice(done, done + len(block))
            done += len(block)
            if done > n:
                break
            if shares is None:
                first, before, now = copies.see(block, numbers[at])
                # A copy changes the mean of the labels of its text. The old
                # contribution is taken out and the new one put in, so that equal texts
                # count once together.
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
                "count once together, because their authors are unknown. If a sampler "
                "added them, leave it out, since all classes count equally; if several "
                "people wrote them, pass authors. Near-copies are not detected.",
                UserWarning,
            )
        # A public text among the private ones would be published with a label.
        shared.check(self.allow_shared_texts)
        return table

    def _encoded(self, X: Any, features: PublicFeatures) -> Iterator[Any]:
        """Yield blocks of documents with their contributions."""

        def one(block: list[Any]) -> tuple[list[Any], np.ndarray]:
            with quiet(Warning):  # warnings of the encoder may quote documents
                return block, features.whole(block)

        # Threads share the encoder. Processes would receive it with each block.
        run = Parallel(self.n_jobs, require="sharedmem", return_as="generator")
        with progress_bar(self.verbose, "summing", unit="doc") as bar:
            blocks = in_blocks(features.reader.documents(X))
            for block, rows in run(map(delayed(one), blocks)):
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
        # Groups have pure ε, for which the number of cells does not matter. A discrete
        # Gaussian differs a little from a continuous one in each cell; δ includes this.
        n_cells, delta = (0, 0.0) if grouped else (sums.size, float(self.delta))
        part = LearningPart(
            "person" if of_people else "document", epsilon, delta, n_cells
        )
        # The key of the noise includes the exact sums. If an integer seed gave two
        # tables the same noise, their difference would reveal exact sums.
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
        # From here on, only the noisy sums are used: everything below is
        # post-processing.
        self.noisy_sums_ = (sums + noise) / GRID
        self._features, self.encoder_ = features, features.encoder
        self.public_ = list(map(as_written, features.given))
        self._said = said_by(self.noisy_sums_, part.scale / GRID, features)
        self._student: Any = None
        if self._said.signal < _DROWNED:
            warn_once(
                f"Noise drowns the differences between classes at epsilon={epsilon:g}, "
                "as the noisy sums show: use more people, a larger epsilon, or fewer "
                "classes.",
                UserWarning,
            )
        return self

    # -- what comes out --------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most likely class of each document.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        labels : ndarray of shape (n_documents,)
            Labels among `classes_`, by `priors`.
        """
        numbers = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[numbers])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Compute the probability of each class for each document.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            Probabilities in the order of `classes_`. By `priors`, classes are assumed
            to be equally frequent, or as frequent as in the noisy sums.
        """
        check_is_fitted(self, "noisy_sums_")
        check_option("priors", self.priors, _PRIORS)  # may have changed since `fit`
        blocks = in_blocks(self._features.reader.documents(X))
        parts = [self._log_proba(block, self.priors) for block in blocks]
        return np.exp(np.concatenate([np.empty((0, len(self.classes_))), *parts]))

    def _log_proba(
        self, documents: list[Any], priors: str, public: bool = False
    ) -> np.ndarray:
        said, features = self._said, self._features
        if self._student is None:
            weights = said.weights(features.public)
            self._student = train_student(features.documents, weights)
        log = np.asarray(self._student.predict_log_proba(documents))
        if features.names is None:
            # The student knows single words, but only public documents, from which
            # others may differ. The sums know where the private texts are.
            rows = features.public if public else features.rows(documents)
            weight = max(said.signal, 0) ** 2 / 2
            log = log_softmax(log + weight * said.log_likelihood(rows, public), axis=1)
        return by_shares(log, said.shares) if priors == "released" else log

    def sample(
        self, n_samples: int | None = None, *, random_state: Any = None
    ) -> tuple[list[Any], np.ndarray]:
        """Draw labeled public documents, for publication and training.

        Parameters
        ----------
        n_samples : int >= 1, default=None
            Number of draws, with classes drawn by their noisy shares. None returns all
            public documents once, with their predicted classes.
        random_state : None, int, Generator or RandomState, default=None
            Seeds this draw, which depends on the noisy sums only and costs no privacy.
            None makes a new draw at every call.

        Returns
        -------
        documents : list of str, or of lists of str
            Public documents.
        labels : ndarray of shape (n_samples,)
            Labels among `classes_`.
        """
        check_is_fitted(self, "noisy_sums_")
        if n_samples is None:
            log = self._log_proba(self._features.documents, self.priors, public=True)
            return list(self.public_), self.classes_[log.argmax(axis=1)]
        n = check_integer("n_samples", n_samples, low=1, high=_MOST_DRAWS)
        rng = check_rng(random_state)
        log = self._log_proba(self._features.documents, "released", public=True)
        at, numbers = draw_corpus(log, self._said.shares, n, rng)
        return [self.public_[i] for i in at.tolist()], self.classes_[numbers]

    def fit_resample(self, X: Any, y: Any, authors: Any = None) -> tuple[Any, Any]:
        """Fit, and return the labeled public documents, as a step of imbalanced-learn.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Private texts.
        y : array-like of shape (n_documents,)
            Private labels.
        authors : array-like of shape (n_documents,), default=None
            The author of each document.

        Returns
        -------
        documents : list, array, column or table
            All public documents, in the form of `X`: a column or table of pandas or
            polars, a table of Arrow or an array; otherwise a list.
        labels : ndarray of shape (n_public_documents,)
            Labels among `classes_`.

        Notes
        -----
        *Authors in a pipeline.* imbalanced-learn passes authors to a step by metadata
        routing only, requested for both methods: ``set_fit_request(authors=True)`` and
        ``set_fit_resample_request(authors=True)``. Without routing it drops
        ``step__authors``; ``guarantee().unit`` states what was protected.
        """
        _in_form_of(X, [""])  # fails here, if at all, before privacy is spent
        documents, labels = self.fit(X, y, authors=authors).sample()
        return _in_form_of(X, documents), labels

    # scikit-learn adds this method only if imbalanced-learn, which calls
    # `fit_resample`, was imported first.
    set_fit_resample_request = RequestMethod("fit_resample", ["authors"])

    def guarantee(self) -> PrivacyGuarantee:
        """Compute the guarantee of the model and the corpus.

        Returns
        -------
        guarantee : PrivacyGuarantee
            The promise in numbers and in sentences.
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
    """Get the number of each label's class; no error quotes a label."""
    # The error below gives the position of a wrong label: the label itself is private.
    number = {label: i for i, label in enumerate(classes.tolist())}
    at = np.array([number.get(label, -1) for label in labels.tolist()], dtype=int)
    if (at < 0).any():
        text, named = (each.dtype.kind in "OUST" for each in (labels, classes))
        kinds = ", got text, not numbers" if text else ", got numbers, not text"
        raise InvalidParameterError(
            f"y must hold labels of `classes` only{kinds * (text != named)}; the label "
            f"of document {(at < 0).argmax()} is not one of them. (Some estimators of "
            "scikit-learn number labels from 0 on: pass classes=range(n_classes).)"
        )
    return at


def _in_form_of(X: Any, documents: list[Any]) -> Any:
    """Return documents as a column or table like `X`, or as a list."""
    if hasattr(X, "to_frame"):  # a column of pandas or polars
        table = _in_form_of(X[:0].to_frame(), documents)
        return table[table.columns[0]].rename(X.name)
    if hasattr(X, "columns"):
        # In an Arrow table, `columns` are the values, not the names.
        names = getattr(X, "column_names", X.columns)
        made = getattr(X, "from_pydict", type(X))
        return made(dict.fromkeys(names, documents))
    if not isinstance(X, np.ndarray):
        return documents
    column = np.empty(len(documents), dtype=object)
    for i, document in enumerate(documents):  # equal lists would become a matrix
        column[i] = document
    return column.reshape(-1, *[1] * (X.ndim - 1))
