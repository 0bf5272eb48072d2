"""Encode documents as points among topics, by steps of scikit-learn."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skdptext.documents._reader import words_of
from skdptext.utils import quiet


def topic_encoder(
    documents: Iterable[Any], n_components: int = 10, random_state: Any = 0
) -> Any:
    """Make an unfitted pipeline that encodes documents in a few topic directions.

    Its steps are TF-IDF (with the square of idf), truncated SVD, and scaling of rows to
    unit length, so Euclidean distances between rows are cosine distances. Documents
    without a known word are placed at the origin. Each document is encoded by itself,
    to the last bit, because the products are sparse.

    Parameters
    ----------
    documents : iterable of str or of lists of str
        Documents that the pipeline will be fitted on. They must be public: they
        determine words, weights and directions.
    n_components : int, default=10
        Number of directions; fewer if the documents have fewer words.
    random_state : None, int or RandomState, default=0
        Seeds the SVD, which starts in random directions.
    """
    # These are slow to import.
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    once: set[str] = set()
    twice: set[str] = set()
    for document in documents:
        words = set(words_of(document))
        twice |= words & once
        once |= words
        if len(twice) >= n_components:
            break
    rare = 2 if len(twice) >= n_components else 1
    return make_pipeline(
        # Words are weighted by their idf twice, and left out if only one document has
        # them. With a single idf, the directions describe words of all documents.
        TfidfVectorizer(analyzer=words_of, sublinear_tf=True, norm=None, min_df=rare),
        TfidfTransformer(),
        TruncatedSVD(min(n_components, max(1, len(once))), random_state=random_state),
        Normalizer(),
    )


def on_grid(places: np.ndarray) -> np.ndarray:
    """Round to multiples of 2^-20, whose products and sums are exact in float64."""
    return np.ldexp(np.rint(np.ldexp(places, 20)), -20)


def topic_groups(documents: list[Any], n_groups: int, n_components: int) -> Any:
    """Fit a pipeline that assigns documents to clusters among topics.

    All products are of sparse rows, or of numbers on a grid, and therefore exact: the
    group of a document does not depend on the others in its batch.
    """
    from sklearn.cluster import KMeans
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = make_pipeline(
        topic_encoder(documents, n_components),
        FunctionTransformer(on_grid, feature_names_out="one-to-one"),
        KMeans(n_groups, n_init=10, random_state=0),
    )
    with quiet(Warning, message="Number of distinct clusters"):
        model.fit(documents)
    model[-1].cluster_centers_ = on_grid(model[-1].cluster_centers_)
    return model
