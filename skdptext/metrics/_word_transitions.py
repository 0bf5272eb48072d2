"""What each word is released as, and how often, of a perturber in an estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skdptext.base import WordTransitions, profiles_of, transitions_of
from skdptext.metrics._words import find_perturber


def word_transitions(
    perturber: Any,
    prior: Any = None,
    *,
    words: Iterable[str] | None = None,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> WordTransitions:
    r"""How likely a perturber releases each word as each other one: Pr[z | w].

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Or a fitted pipeline or search that holds one.
    prior : array-like of shape (n_words,), default=None
        How frequent the words are, in any unit, from public text: one number for each
        of `words` if given, else for each word of the embedding. None: a uniform prior.
    words : iterable of str, default=None
        The words that may have been written; None: all of the embedding. Time and
        memory are proportional to their number.
    n_draws : int, default=100
        Simulated draws per word, on average, if the distribution is not known in full.
    random_state : None, int or numpy.random.Generator, default=None
        Seeds the simulation, which is not secret. The result for equal arguments is
        reused, except with a Generator.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    transitions : WordTransitions
        The transition probabilities, or an estimate of them.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule, or the result does not fit into scikit-learn's
        ``working_memory``: it takes 4 bytes for each pair of one of `words` and a word
        of the embedding. See `released_profiles`.

    See Also
    --------
    released_profiles : What whole documents or classes are released as.
    plausible_deniability : N_w and S_w as defined, by drawing.

    Notes
    -----
    *Method.* Finite mechanisms state their probabilities (``log_proba``). For noise
    with a known density, draw w from the prior and v = φ(w) + Z; the word nearest to v
    is z. The posterior of a word given v is exact,

    .. math::

        \Pr[w' \mid v] \propto π(w')\, e^{-ε ‖v - φ(w')‖_{RM}} ,

    and its mean over the draws that end at z is Pr[w' | z]. So each draw informs about
    all words, where a count informs about one: transitions that are never drawn get a
    probability, too. The estimate of Pr[z, w'] is unbiased; it is divided by that of
    Pr[w']. For all other mechanisms, draws are counted.

    *Smoothing.* Estimates are smoothed towards a log-bilinear form,

    .. math::

        \ln P[z \mid w] = h_z + κ ⟨φ_z, φ_w⟩ - g_w ,

    with h by iterative proportional fitting, so that words are as frequent among
    releases as they were drawn, and κ by the posterior of held-out draws. How much it
    counts is chosen on the same: where it cannot be told from the best, it counts most.

    *Cost.* A product of (n_draws n_words × dim) by (dim × n_words), another for the
    nearest words, and as many exponentials: see the benchmarks page.

    *Privacy.* All inputs are public.

    References
    ----------
    .. [1] Optimal context-free reconstruction of words is the subject of
       arXiv:2410.17052.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import word_transitions
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=2.0, document_length=1)
    >>> transitions = word_transitions(perturber.fit([]), n_draws=2000, random_state=0)
    >>> transitions.posterior(["tea"]).round(2)
    array([[0., 0., 1.]])
    """
    return transitions_of(
        find_perturber(perturber).channel_at(),
        prior,
        words=words,
        n_draws=n_draws,
        random_state=random_state,
        verbose=verbose,
    )


def released_profiles(
    perturber: Any,
    profiles: Any,
    *,
    n_draws: int = 100,
    random_state: Any = None,
    verbose: int = 0,
) -> np.ndarray:
    """Word frequencies after the noise: Σ_w p(w) Pr[z | w] for each profile p.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        Or a fitted pipeline or search that holds one.
    profiles : array or sparse array of shape (n_profiles, n_words)
        Word weights of documents or classes, over the words of the embedding; each
        row is divided by its sum.
    n_draws, random_state, verbose : int
        As for `word_transitions`.

    Returns
    -------
    released : ndarray of shape (n_profiles, n_words), float32
        Frequencies of released words; all above 0.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    Words that no profile holds take no time. If the transitions of all other words fit
    into ``working_memory``, they come from `word_transitions`, and are kept for the
    next call. Otherwise they are summed by profile as they are drawn.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.mechanisms import RandomizedResponse
    >>> from skdptext.metrics import released_profiles
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> perturber = DPWordPerturber(
    ...     embedding, epsilon=1.0, mechanism=RandomizedResponse(), document_length=1)
    >>> released_profiles(perturber.fit([]), [[1, 1, 0], [0, 0, 1]]).round(3)
    array([[0.394, 0.394, 0.212],
           [0.212, 0.212, 0.576]], dtype=float32)
    """
    return profiles_of(
        find_perturber(perturber).channel_at(),
        profiles,
        n_draws=n_draws,
        random_state=random_state,
        verbose=verbose,
    )
