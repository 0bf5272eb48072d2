"""The adversaries of the 2019 paper, ready to be fitted."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from skdptext.attacks._fasttext import FastTextClassifier
from skdptext.attacks._koppel import KoppelAuthorClassifier
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.neighbors import WMDKNNClassifier
from skdptext.preprocessing import DocumentPreparer
from skdptext.utils import check_option


def paper_adversaries(
    embedding: WordEmbedding,
    *,
    topic_model: str = "fasttext",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, BaseEstimator]:
    """The four adversaries of the 2019 paper, unfitted, by their names in its Table 1.

    Parameters
    ----------
    embedding : WordEmbedding
        The public embedding, whose words are the columns of the bags.
    topic_model : {"fasttext", "linear"}, default="fasttext"
        The topic classifier with a different representation: `FastTextClassifier`,
        which starts from the vectors of the embedding and needs the extra ``fasttext``,
        or logistic regression on tf-idf weights of words.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes Koppel's subsets and fastText's initial vectors.
    n_jobs : int, default=None
        Threads of the nearest-neighbour search.

    Returns
    -------
    adversaries : dict of str to estimator
        All take bags-of-words.

        - ``"SRauth"``: the author of the nearest text by Word Mover's Distance;
        - ``"SRtopic"``: the most frequent topic among the 5 nearest;
        - ``"DRauth"``: `KoppelAuthorClassifier`;
        - ``"DRtopic"``: as `topic_model` says.

        SR: the same representation as the perturber's, word vectors. DR: a different
        one.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks its rule.

    Notes
    -----
    *Privacy.* The results show what these four adversaries achieve. Give known texts in
    clear to ``fit`` and releases to ``predict``, or releases to both: an adversary may
    train on either.

    References
    ----------
    .. [1] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019, section 6 and appendix B.

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.attacks import paper_adversaries
    >>> embedding = WordEmbedding(["cat", "dog", "tea"], [[0.0], [1.0], [9.0]])
    >>> adversaries = paper_adversaries(embedding, topic_model="linear", random_state=0)
    >>> bags, authors = [[2, 0, 1], [0, 2, 1]], ["ann", "bob"]
    >>> adversaries["SRauth"].fit(bags, authors).predict([[1, 0, 0]]).tolist()
    ['ann']
    """
    from sklearn.linear_model import LogisticRegression

    check_option("topic_model", topic_model, ("fasttext", "linear"))
    embedding = check_embedding(embedding)
    topic = (
        FastTextClassifier(embedding, pretrained=True, random_state=random_state)
        if topic_model == "fasttext"
        else make_pipeline(
            DocumentPreparer(embedding, output="bow"),
            TfidfTransformer(sublinear_tf=True),
            LogisticRegression(C=10.0, max_iter=1000),
        )
    )
    return {
        "SRauth": WMDKNNClassifier(embedding, n_neighbors=1, n_jobs=n_jobs),
        "SRtopic": WMDKNNClassifier(embedding, n_neighbors=5, n_jobs=n_jobs),
        "DRauth": KoppelAuthorClassifier(embedding, random_state=random_state),
        "DRtopic": topic,
    }
