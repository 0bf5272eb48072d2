"""Words that answer with public topics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from skdptext.documents import DocumentReader
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms._channel import Law, WordMechanism
from skdptext.mechanisms._finite import InvertedChannel
from skdptext.utils import (
    as_array,
    check_kind,
    check_labels,
    check_real,
    is_count_matrix,
    kind_of,
    rounded_up,
)


class TopicResponseChannel(InvertedChannel):
    """`TopicResponse` for the words of one embedding."""

    mechanism: TopicResponse

    def _setup(self) -> None:
        rule = (
            "log_odds must be finite numbers of shape (n_words, n_topics >= 2) with a "
            f"row for each of the {len(self.embedding)} words of the embedding"
        )
        odds = as_array(self.mechanism.log_odds, rule, dtype=np.float64)
        if odds.ndim != 2 or odds.shape[1] < 2 or len(odds) != len(self.embedding):
            raise InvalidParameterError(f"{rule}, got shape {odds.shape}.")
        if not np.isfinite(odds).all():
            raise InvalidParameterError(f"{rule}, got NaN or inf.")
        check_real("full_span", self.mechanism.full_span, low=0, open_low=True)
        self._names = _checked_names(self.mechanism.topics, odds.shape[1])

    @cached_property
    def scores(self) -> np.ndarray:
        """s of every word and topic, shape (n_words, n_topics); 0 to at most 1."""
        # halves, as the span of two large numbers may be none
        odds = np.asarray(self.mechanism.log_odds, dtype=np.float64) / 2
        lowest = odds.min(axis=1, keepdims=True)
        spans = odds.max(axis=1, keepdims=True) - lowest
        full = max(self.mechanism.full_span / 2, np.finfo(np.float64).tiny)
        return (odds - lowest) / np.maximum(spans, full)

    def __getstate__(self) -> dict[str, Any]:
        # these follow from the options
        derived = ("scores", "released", "worst_exponent")
        return {k: v for k, v in vars(self).items() if k not in derived}

    @cached_property
    def released(self) -> WordEmbedding:
        """The topics, each at the mean of the words that speak for it."""
        above = np.maximum(self.scores - self.scores.mean(axis=1, keepdims=True), 0)
        totals = above.sum(axis=0)[:, None]
        means = above.T @ self.embedding.vectors / np.where(totals > 0, totals, 1)
        return WordEmbedding(self._names, means)

    def log_proba(self, words: np.ndarray) -> np.ndarray:
        """ln Pr[z | w] for each of the words and every topic, shape (n, n_topics)."""
        logs = self.epsilon * self.scores[words]
        # the sum in logarithms: e^(ε s) may be too large for floats
        return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)

    @cached_property
    def worst_exponent(self) -> float:
        """The largest exponent between two words of the embedding, in nats."""
        logs = self.log_proba(np.arange(len(self.embedding)))
        return float((logs.max(axis=0) - logs.min(axis=0)).max()) + 2.0**-40

    def law(self) -> Law:
        """The probabilities, and what they say about the topics."""
        return replace(super().law(), sentences=self._sentences)

    def _sentences(self) -> list[str]:
        names = ", ".join(self._names[:8]) + (", …" if len(self._names) > 8 else "")
        neutral = (np.ptp(self.scores, axis=1) <= 0.1).mean()
        return [
            f"A word becomes one of {len(self._names)} public topics ({names}), with "
            f"probability proportional to exp({self.epsilon:.4g}·s), where s is what "
            "the word says about the topic, from 0 to at most 1.",
            "Between any two words of the embedding the exponent is at most "
            f"{rounded_up(self.worst_exponent)}; {neutral:.0%} of the words are nearly "
            "neutral (s spans at most 0.1), and any two of these differ by at most "
            f"{rounded_up(0.2 * self.epsilon)}.",
            "The topics, and what words say about them, must be public.",
        ]


class TopicResponse(WordMechanism):
    r"""Replace each word by one of a few public topics.

    Each word w becomes the topic z with probability

    .. math::

        \Pr[z \mid w] = \frac{e^{ε\, s_z(w)}}{\sum_y e^{ε\, s_y(w)}} ,

    where s is what the word says about the topics, between 0 and 1: its public log
    odds, tempered. A word that belongs to one topic alone gives that topic by k-ary
    randomized response; a neutral word answers with a topic at random, whatever it is.
    `from_documents` works out s from public documents and their topics.

    Parameters
    ----------
    log_odds : array-like of shape (n_words, n_topics)
        For word i of the embedding, how much likelier it is in documents of each topic
        than elsewhere: ln of the ratio, or any other finite score. It must be public.
    topics : iterable of str, default=None
        Names of the topics, which differ and hold no blanks. They name the columns of a
        release. If None, topic0, topic1 and so on.
    full_span : float > 0, default=2.0
        A word whose log odds span this much or more over the topics answers at full
        strength, s from 0 to 1; of others, the span is in proportion. Small: nearly
        every word takes sides. Large: only the most telling ones.

    See Also
    --------
    skdptext.preprocessing.TopicWordSelector : Chooses the words that are asked.
    Exponential : Words that answer with words.

    Notes
    -----
    *Privacy.* Exponents are exact, max over z of ln Pr[z | w] − ln Pr[z | w']. Between
    any two words they are at most 2ε, and mostly far less: two neutral words cost next
    to nothing. λ and the vectors have no effect. `log_odds`, topics and their names
    must be learned from public text. Exponents add up over the words of a document; for
    documents that must not be found among others, replace whole documents.

    *Releases* are about topics: bags have a column per topic, named by
    ``get_feature_names_out``; tokens and text are names of topics. ``released`` of the
    channel is the embedding of these names, where each topic lies at the mean of the
    words that speak for it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.mechanisms import TopicResponse
    >>> embedding = WordEmbedding(
    ...     ["goal", "vote", "the"], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> public = ["the goal", "the goal", "the vote", "the vote"]
    >>> topics = ["sport", "sport", "politics", "politics"]
    >>> mechanism = TopicResponse.from_documents(
    ...     public, topics, embedding=embedding, smoothing=0.1)
    >>> channel = mechanism.prepare(embedding, epsilon=2.0, lam=0.0)
    >>> print(np.exp(channel.log_proba(np.arange(3))).round(3))
    [[0.119 0.881]
     [0.881 0.119]
     [0.5   0.5  ]]
    >>> channel.exponents(np.arange(3), np.arange(3)).round(2)
    array([[0.  , 2.  , 0.57],
           [2.  , 0.  , 0.57],
           [1.43, 1.43, 0.  ]])
    >>> perturber = DPWordPerturber(
    ...     embedding, epsilon=2.0, document_length=2, mechanism=mechanism)
    >>> perturber.fit([]).get_feature_names_out()
    array(['politics', 'sport'], dtype=object)
    """

    channel_class = TopicResponseChannel

    def __init__(
        self,
        log_odds: Any = None,
        *,
        topics: Iterable[str] | None = None,
        full_span: float = 2.0,
    ) -> None:
        self.log_odds = log_odds
        self.topics = topics
        self.full_span = full_span

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # thousands of numbers would follow
        shape = getattr(self.log_odds, "shape", ())
        return f"TopicResponse({shape[-1]} topics)" if shape else "TopicResponse()"

    @classmethod
    def from_documents(
        cls,
        documents: Any,
        topics: Any,
        *,
        embedding: WordEmbedding,
        smoothing: float = 1.0,
        full_span: float = 2.0,
    ) -> TopicResponse:
        """The mechanism with log odds from public documents and their topics.

        Parameters
        ----------
        documents : iterable of str, of lists of str, or count matrix (n, n_words)
            Public.
        topics : array-like of shape (n_documents,)
            Their topics, at least two. Blanks in names become underscores.
        embedding : WordEmbedding
            The one that the perturber will have.
        smoothing : float > 0, default=1.0
            Documents that are added to the count of every word in every topic, and to
            what would be expected if the word told nothing: the more, the more often a
            word must be seen before it takes sides.
        full_span : float > 0, default=2.0
            As in the class.

        Returns
        -------
        mechanism : TopicResponse
            Its topics are in sorted order.

        Raises
        ------
        InvalidParameterError
            If a parameter breaks its rule.

        Notes
        -----
        With n_wz the number of documents of topic z that have the word w, and e_wz the
        number expected if all topics had it equally often, the log odds are
        ln(n_wz + smoothing) − ln(e_wz + smoothing).

        *Privacy.* The log odds are published with the mechanism. Learned from the
        documents to be protected, they void its promise, and nothing here can see that.
        """
        check_kind(embedding, WordEmbedding, "embedding must be a WordEmbedding")
        smoothing = check_real("smoothing", smoothing, low=0, open_low=True)
        if not is_count_matrix(documents) and not isinstance(documents, str | bytes):
            documents = list(documents)
        bags = (
            DocumentReader(embedding).read(documents, counted=True).bags(len(embedding))
        )
        labels = check_labels("topics", topics, bags.shape[0], n_different=2)
        classes, numbers = np.unique(labels, return_inverse=True)
        names = ["_".join(str(name).split()) for name in classes.tolist()]
        if len(set(names)) < len(names):
            raise InvalidParameterError(
                f"topics must differ in more than blanks, got {len(names)} topics with "
                f"{len(set(names))} names."
            )
        sizes = np.bincount(numbers)
        # documents that have the word, (n_words, n_topics), however often they have it
        bags.data[:] = 1
        counts = bags.T @ np.eye(len(classes))[numbers]
        expected = counts.sum(axis=1, keepdims=True) * sizes / sizes.sum()
        odds = np.log(counts + smoothing) - np.log(expected + smoothing)
        return cls(odds, topics=names, full_span=full_span)


def _checked_names(topics: Any, n_topics: int) -> list[str]:
    if topics is None:
        return [f"topic{i}" for i in range(n_topics)]
    rule = (
        f"topics must hold a name for each of the {n_topics} columns of log_odds, "
        "different str without blanks"
    )
    names = [] if isinstance(topics, str) else list(topics)
    plain = all(isinstance(name, str) and len(name.split()) == 1 for name in names)
    if not plain or len(names) != n_topics or len(set(names)) < n_topics:
        raise InvalidParameterError(f"{rule}, got {kind_of(topics)}.")
    return names
