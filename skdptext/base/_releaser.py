"""Base class of all releasers."""

from abc import ABCMeta, abstractmethod
from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import (
    CheckedParameters,
    DocLinked,
    as_array,
    check_kind,
    is_count_matrix,
    is_fitted,
    plain_documents,
    quiet,
    shown,
)

# Two machines with different noise give equal answers for all canaries with probability
# (p² + 7 q²)³², which is 5e-4 for 8 groups at ε = 4.
_CANARY_DOCUMENTS = 32


class BaseReleaser(
    CheckedParameters,
    DocLinked,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Base class of estimators that release documents; inherit it for a custom one.

    A subclass defines `fit`, `transform`, `log_likelihood` and `guarantee`. Attacks,
    naive Bayes, reports and releases of files accept any such object. Audits also
    accept objects that have `transform` and `guarantee` without inheriting.

    Attributes
    ----------
    output : str
        The kind of release that `transform` makes: ``"text"``, unless the subclass has
        a parameter of this name.
    perturbs_words : bool
        Whether a mechanism releases words one by one. Such a releaser, like
        `~skdptext.DPWordPerturber`, also has ``embedding_``, ``mechanism_``,
        ``mechanism_at``, ``known_words`` and ``perturb_words``.

    See Also
    --------
    skdptext.DPWordPerturber : Releases noisy words.
    skdptext.DPDocumentReplacer : Releases public documents.

    Notes
    -----
    *Privacy.* The author of the subclass must prove what `guarantee` claims.
    `~skdptext.audit.audit_document_pair` tests it.

    *Noise.* `transform` draws from `random_state`, if the subclass has this parameter.
    An integer is stored as a secret and never printed. To release files
    (`~skdptext.release.DocumentRelease`), an integer `random_state` and the id of a
    document must fix its noise; `transform` then takes `document_ids`.

    Examples
    --------
    A releaser that publishes documents unchanged, and says so:

    >>> import numpy as np
    >>> from skdptext.base import BaseReleaser
    >>> class Nothing:
    ...     def exponent(self, x, y):
    ...         return 0.0 if x == y else np.inf
    >>> class Publisher(BaseReleaser):
    ...     def fit(self, X=None, y=None):
    ...         return self
    ...
    ...     def transform(self, X):
    ...         return list(X)
    ...
    ...     def log_likelihood(self, documents, released):
    ...         same = np.equal.outer(np.array(released), np.array(documents))
    ...         return np.where(same, 0.0, -np.inf)
    ...
    ...     def guarantee(self):
    ...         return Nothing()
    >>> Publisher().likelihood(["tea", "milk"])(["milk"])
    array([[-inf,   0.]])
    >>> Publisher().exponent("tea", "milk")
    inf
    """

    output: str = "text"
    perturbs_words: ClassVar[bool] = False

    def __init_subclass__(
        cls, auto_wrap_output_keys: Any = None, **kwargs: Any
    ) -> None:
        # scikit-learn would try to convert lists of texts to data frames, and fail.
        super().__init_subclass__(auto_wrap_output_keys=auto_wrap_output_keys, **kwargs)

    # -- what a subclass defines -----------------------------------------------

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Any:
        """Prepare the releaser; the documents to be protected are never read.

        Parameters
        ----------
        X, y : ignored
            Documents and labels. Nothing is learned from them.

        Returns
        -------
        self : object
            The releaser itself.
        """

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Release documents.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents to be released. A subclass may also take ``document_ids``.

        Returns
        -------
        released : list, matrix or ndarray
            One release for each document.
        """

    @abstractmethod
    def log_likelihood(self, documents: Any, released: Any) -> np.ndarray:
        """Compute ln Pr[release | document], which is all that an attacker needs.

        Parameters
        ----------
        documents : iterable of str, or of lists of str
            Candidates in plain text.
        released : list, matrix or ndarray
            Output of `transform`.

        Returns
        -------
        log_likelihood : ndarray of shape (n_released, n_documents)
            −inf if a document never leads to a release.
        """

    @abstractmethod
    def guarantee(self) -> Any:
        """State the privacy guarantee of a release.

        Returns
        -------
        guarantee : object
            An object with ``exponent(x, y)``, a bound on the privacy loss between two
            documents. If it also has ``found_at_most(n_candidates)``, attacks print
            this bound.
        """

    # -- what follows from these methods -----------------------------------------

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and release the same documents.

        Parameters
        ----------
        X : iterable of str, or of lists of str
            Documents to be released, as `transform` takes them.
        y : ignored
            Not used; here for scikit-learn's interface.
        **params
            Further arguments of `transform`, such as `document_ids`.

        Returns
        -------
        released : list, matrix or ndarray
            As `transform` gives it.
        """
        return self.fit(X, y).transform(X, **params)

    def likelihood(
        self,
        candidates: Any,
        *,
        n_draws: int = 20,
        random_state: Any = None,
    ) -> Any:
        """Prepare the likelihood of releases for many calls with the same candidates.

        Parameters
        ----------
        candidates : iterable of str, or of lists of str
            Candidates in plain text.
        n_draws, random_state : object
            As for `skdptext.DPWordPerturber.likelihood`. Only releasers of words use
            them.

        Returns
        -------
        likelihood : callable
            Maps releases to `log_likelihood`, of shape (n_released, n_candidates), and
            checks it.
        """
        is_count_matrix(candidates, name="candidates")  # refuses what cannot be read
        documents = list(plain_documents(candidates))

        def likelihood(releases: Any) -> np.ndarray:
            n = releases.shape[0] if hasattr(releases, "shape") else len(releases)
            shape, name = (n, len(documents)), type(self).__name__
            rule = f"log_likelihood of {name} must return an array of shape {shape} "
            rule += "without NaN"
            logs = as_array(self.log_likelihood(documents, releases), rule)
            # −inf is a correct answer, for an impossible release. NaN would silently
            # win or lose every comparison.
            numbers = logs.shape == shape and logs.dtype.kind in "fiu"
            if not numbers or np.isnan(logs).any():
                raise InvalidParameterError(
                    f"{rule}, got shape {logs.shape} of {logs.dtype}."
                )
            return logs.astype(np.float64, copy=False)

        return likelihood

    def exponent(self, x: Any, y: Any) -> float:
        """Bound the privacy loss between two documents, by the guarantee.

        Parameters
        ----------
        x, y : str or list of str
            Two documents, as `transform` takes them.

        Returns
        -------
        exponent : float
            In nats; inf if nothing is promised.
        """
        return float(self.guarantee().exponent(x, y))

    def seeded(self, random_state: Any) -> Any:
        """Copy the fitted releaser, with another `random_state`.

        Parameters
        ----------
        random_state : None, int, Generator or RandomState
            Source of the noise of the copy.

        Returns
        -------
        releaser : object
            A copy. If the releaser has no `random_state`, its noise is unaffected.
        """
        # A shallow copy is enough, because a releaser does not change what `fit` has
        # stored.
        noisy = copy(self)
        if hasattr(noisy, "random_state"):
            noisy.random_state = random_state
        return noisy

    def known_texts(self) -> Any:
        """Get the public texts that must not occur among the private ones.

        Returns
        -------
        known : KnownTexts or None
            Texts that `~skdptext.release.DocumentRelease` refuses to release, unless
            an attribute `allow_shared_texts` is True.
        """
        return None

    def check_release(self) -> None:
        """Refuse to release files if a single document could make a job fail.

        Raises
        ------
        InvalidParameterError
            If a parameter does not allow a release of files.
        """

    def canary_documents(self) -> list[Any]:
        """Make public documents that show whether two machines draw the same noise.

        Returns
        -------
        documents : list of str, or of lists of str
            Documents that `~skdptext.release.DocumentRelease` releases first on each
            machine, under a public key.
        """
        return [f"a canary in mine {i}" for i in range(_CANARY_DOCUMENTS)]


def fitted_releaser(value: Any, documents: Any, name: str = "perturber") -> Any:
    """Fit a releaser if it is not fitted.

    Parameters
    ----------
    value : BaseReleaser
        The releaser, fitted or not.
    documents : object
        Documents that an unfitted releaser is fitted on.
    name : str, default="perturber"
        Name of the parameter in errors.

    Returns
    -------
    releaser : BaseReleaser
        The object itself if it was fitted, else a fitted copy.

    Raises
    ------
    InvalidParameterError
        If it does not inherit from `BaseReleaser`.
    """
    check_releaser(name, value)
    if is_fitted(value):
        return value
    with quiet(PrivacyLeakWarning):  # the caller already knows the documents
        return clone(value).fit(documents)


def check_releaser(name: str, value: Any) -> None:
    """Refuse anything but a releaser."""
    rule = "must be a releaser, such as DPWordPerturber or another BaseReleaser"
    check_kind(value, BaseReleaser, f"{name} {rule}")


def perturbs_words(releaser: Any) -> bool:
    """Check whether an object releases words one by one, as `DPWordPerturber` does."""
    return isinstance(releaser, BaseReleaser) and releaser.perturbs_words


def check_word_releaser(value: Any) -> None:
    """Refuse anything but a perturber of words."""
    if not perturbs_words(value):
        raise InvalidParameterError(
            f"perturber must be a word perturber, got {shown(value)}."
        )
