"""How likely a release is for each of several documents, by the mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import is_count_matrix


class ReleaseLikelihood:
    r"""Compute how likely each release is, given each candidate document.

    For a bag of words z_1, …, z_n, with p_d(w) the share of word w in document d,

    .. math::

        \ln L_d = \sum_j \ln \sum_w p_d(w) \Pr[z_j \mid w] ,

    which treats the words as independent draws from the document. For a text in order,
    :math:`\sum_j \ln \Pr[z_j \mid w_j]`, which is exact where Pr[z | w] is known, as
    that of finite mechanisms is; for noise on vectors it is estimated.

    Parameters
    ----------
    perturber : DPWordPerturber, DPDocumentReplacer or other releaser
        Fitted or not; its `random_state` is not used. A releaser of whole documents
        states its likelihood, and the parameters below are not used for it.
    documents : iterable of str, of lists of str, or count matrix (n_documents, n_words)
        The candidates in the clear; at least one.
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
    length. Words that ``oov="keep"`` leaves in the clear are ignored; where they
    identify the document, no attack is needed.

    *Privacy.* An adversary who knows the mechanism computes exactly this.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import ReleaseLikelihood
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=2.0, document_length=2)
    >>> likelihood = ReleaseLikelihood(
    ...     perturber, ["cat dog", "tea tea"], n_draws=1000, random_state=0)
    >>> likelihood(["dog dog", "tea tea"]).argmax(axis=1).tolist()
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
        if not is_count_matrix(documents):
            documents = list(documents)
        self.perturber = fitted_releaser(perturber, documents)
        self._likelihood = self.perturber.likelihood(
            documents,
            n_draws=n_draws,
            ordered=ordered,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_documents: int = self._likelihood.n_documents
        self.ordered: bool = self._likelihood.ordered
        if not self.n_documents:
            raise InvalidParameterError("documents must hold at least one, got none.")

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
        return self._likelihood(releases)
