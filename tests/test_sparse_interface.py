"""Sparse results are arrays or matrices, as scikit-learn's configuration asks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPDocumentReplacer, DPWordPerturber, WordEmbedding
from skdptext.neighbors import WMDNeighbors, WMDNeighborsTransformer
from skdptext.preprocessing import TopicWordSelector

WORDS = ["cat", "dog", "tea", "milk"]
TABLE = WordEmbedding(WORDS, np.eye(4))
TEXTS = ["cat dog", "dog cat dog", "tea milk", "milk tea"] * 3
LABELS = ["pets", "pets", "drinks", "drinks"] * 3
COUNTS = np.array([[text.split().count(word) for word in WORDS] for text in TEXTS])


def perturber(**options):
    return DPWordPerturber(TABLE, epsilon=5.0, random_state=0, **options).fit(TEXTS)


MADE = {
    "perturber": lambda path: perturber().transform(TEXTS),
    "before the noise": lambda path: perturber().prepare(TEXTS),
    "replacer": lambda path: (
        DPDocumentReplacer(
            TEXTS, n_groups=2, output="bow", embedding=TABLE, random_state=0
        )
        .fit()
        .transform(["another text", "and one more"])
    ),
    "selector": lambda path: TopicWordSelector(
        n_words=2, tuned_on="public"
    ).fit_transform(COUNTS, LABELS),
    "graph": lambda path: (
        WMDNeighbors(TABLE, n_neighbors=2).fit(COUNTS).kneighbors_graph()
    ),
    "radius graph": lambda path: (
        WMDNeighbors(TABLE, radius=1.0).fit(COUNTS).radius_neighbors_graph()
    ),
    "transformer graph": lambda path: (
        WMDNeighborsTransformer(TABLE, n_neighbors=2).fit(COUNTS).transform(COUNTS)
    ),
}


@pytest.fixture
def arrays():
    """What asks for sparse arrays, since scikit-learn 1.9."""
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such configuration before 1.9")
    return {"sparse_interface": "sparray"}


@pytest.mark.parametrize("name", MADE)
def test_the_default_is_a_matrix(tmp_path, name):
    assert isinstance(MADE[name](tmp_path), sp.csr_matrix)


@pytest.mark.parametrize("name", MADE)
def test_arrays_come_where_they_are_asked_for(tmp_path, arrays, name):
    matrix = MADE[name](tmp_path)
    (tmp_path / "again").mkdir()
    with sklearn.config_context(**arrays):
        made = MADE[name](tmp_path / "again")
    assert isinstance(made, sp.csr_array)
    assert made.dtype == matrix.dtype
    if "graph" not in name:  # which are scikit-learn's own, of wide indices
        assert made.indices.dtype == matrix.indices.dtype == np.int32
        assert made.indptr.dtype == matrix.indptr.dtype == np.int32
    np.testing.assert_array_equal(made.toarray(), matrix.toarray())


def test_what_reads_a_release_takes_either(arrays):
    def scores():
        noisy = perturber().transform(TEXTS)
        model = make_pipeline(perturber(), MultinomialNB()).fit(TEXTS, LABELS)
        return (
            model.predict_proba(COUNTS),
            perturber().log_likelihood(TEXTS, noisy, random_state=0),
            WMDNeighbors(TABLE, n_neighbors=2).fit(noisy).kneighbors(COUNTS)[0],
        )

    expected = scores()
    with sklearn.config_context(**arrays):
        for made, matrix in zip(scores(), expected, strict=True):
            np.testing.assert_array_equal(made, matrix)
