"""How likely a release is for each of several documents, by the mechanism."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from skdptext.documents import DocumentReader
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.perturbation import DPWordPerturber, WordLikelihood
from skdptext.utils import check_methods, is_count_matrix, is_fitted, quiet

# What adversaries ask of whatever releases documents.
PROTOCOL = ("transform", "log_likelihood", "guarantee")


def fitted_releaser(releaser: Any, documents: Any) -> Any:
    """A releaser that states its likelihood, fitted; a copy if it was not.

    Parameters
    ----------
    releaser : DPDocumentReplacer, or any object with its protocol
        ``transform(documents)``, ``log_likelihood(documents, released)`` of shape
        (n_released, n_documents), and ``guarantee()`` with ``exponent(x, y)``.
    documents : object
        What an unfitted estimator is given in `fit`.

    Returns
    -------
    releaser : object
        Itself, or a fitted copy of an estimator that was not fitted.

    Raises
    ------
    InvalidParameterError
        If it lacks one of them.
    """
    rule = "perturber must be a word perturber, or release documents by "
    check_methods(releaser, PROTOCOL, rule + ", ".join(PROTOCOL))
    return fitted_copy(releaser, documents)


def fitted_copy(releaser: Any, documents: Any) -> Any:
    """Whatever releases documents: itself, or fitted where it is not.

    What scikit-learn cannot copy may not say that it is fitted: it is taken as it is.
    """
    if is_fitted(releaser) or not hasattr(releaser, "get_params"):
        return releaser
    return clone(releaser).fit(documents)


def with_noise(releaser: Any, rng: np.random.Generator | None) -> Any:
    """A copy of a fitted releaser whose noise is seeded by `rng`; None: fresh noise.

    One that has no `random_state` draws as it will.
    """
    noisy = copy(releaser)
    if hasattr(noisy, "random_state"):
        seed = None if rng is None else rng.integers(2**31)
        noisy.random_state = None if seed is None else np.random.default_rng(seed)
    return noisy


class ReleaseLikelihood:
    r"""The likelihood ln Pr[release | document] of releases and candidates.

    For a bag of words z_1, …, z_n, with p_d(w) the share of word w in document d,

    .. math::

        \ln L_d = \sum_j \ln \sum_w p_d(w) \Pr[z_j \mid w] ,

    which treats the words as independent draws from the document. For a text in order,
    :math:`\sum_j \ln \Pr[z_j \mid w_j]`, which is exact where Pr[z | w] is known, as
    that of finite mechanisms is; for noise on vectors it is estimated.

    Parameters
    ----------
    perturber : DPWordPerturber, or any releaser with `log_likelihood`
        Fitted or not; its `random_state` is not used. A releaser such as
        `~skdptext.DPDocumentReplacer` states its own likelihood, which is taken; the
        parameters below are not used for it.
    documents : iterable of str, of lists of str, or count matrix (n_documents, n_words)
        The candidates in clear; at least one.
    n_draws : int, default=100
        As for `word_transitions`, which gives Pr[z | w].
    ordered : bool, default=None
        Whether releases come in order. None: as the perturber's `output` says.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the simulation, which is not secret.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    See Also
    --------
    skdptext.attacks.DocumentLinkageAttack : The adversary who uses it.

    Notes
    -----
    *Length.* A document that keeps its length has likelihood 0 for a release of another
    length. Words that ``oov="keep"`` leaves in clear are ignored; where they identify
    the document, no attack is needed.

    *Privacy.* An adversary who knows the mechanism computes exactly this.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import ReleaseLikelihood
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(embedding, epsilon=2.0, document_length=2)
    >>> likelihood = ReleaseLikelihood(
    ...     perturber, ["cat dog", "tea tea"], n_draws=1000, random_state=0)
    >>> likelihood(["dog dog", "cat tea"]).argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        perturber: Any,
        documents: Any,
        *,
        n_draws: int = 100,
        ordered: bool | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        if not isinstance(perturber, DPWordPerturber):
            self.perturber: Any = fitted_releaser(perturber, documents)
            self._documents = list(documents)
            self.n_documents = len(self._documents)
            self.ordered, self._of_words = False, None
            return
        if not is_count_matrix(documents):
            documents = list(documents)
        # known here
        with quiet(PrivacyLeakWarning):
            fitted = clone(perturber).set_params(random_state=None).fit(documents)
        self.perturber = fitted
        reader = DocumentReader.of(fitted, fitted.embedding_)
        written = reader.read(documents).known()
        if not len(written):
            raise InvalidParameterError("documents must hold at least one, got none.")
        if ordered is None:
            ordered = fitted.output != "bow"
        self._of_words = WordLikelihood(
            fitted.mechanism_,
            written,
            reader.sample_length,
            bool(ordered),
            n_draws=n_draws,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_documents, self.ordered = len(written), self._of_words.ordered

    def __call__(self, releases: Any) -> np.ndarray:
        """ln Pr[release | document].

        Parameters
        ----------
        releases : iterable of str, of lists of str, or count matrix
            What the perturber released; texts are split at blanks. A count matrix has
            no order.

        Returns
        -------
        log_likelihood : ndarray of shape (n_releases, n_documents)
            −inf where the length rules a document out.
        """
        if self._of_words is None:
            return _checked(self.perturber, self._documents, releases)
        if self.ordered and is_count_matrix(releases):
            raise InvalidParameterError(
                "releases must be texts or token lists where their order is used, got "
                "a count matrix."
            )
        return self._of_words(releases)


def _checked(releaser: Any, documents: list[Any], releases: Any) -> np.ndarray:
    """`log_likelihood` of any releaser, checked."""
    logs = np.asarray(releaser.log_likelihood(documents, releases), dtype=np.float64)
    n = releases.shape[0] if hasattr(releases, "shape") else len(releases)
    if logs.shape != (n, len(documents)) or np.isnan(logs).any():
        raise InvalidParameterError(
            f"log_likelihood of {type(releaser).__name__} must return an array of "
            f"shape ({n}, {len(documents)}) without NaN, got shape {logs.shape}."
        )
    return logs
