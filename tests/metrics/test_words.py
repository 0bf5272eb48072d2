"""Shares of words changed, and the scorers that find the perturber."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.metrics import find_perturber, words_changed_scorer, words_unchanged
from tests.expected import no_warning

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdptext.exceptions.PrivacyLeakWarning",
    "ignore::skdptext.exceptions.OutOfVocabularyWarning",
)

# In one dimension the length of the noise is exponential with rate ε, so that "a"
# stays itself with probability 1 - exp(-ε/2)/2, "b" likewise.
LINE = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])


@pytest.mark.no_cover
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_share_is_that_of_the_law(epsilon):
    perturber = DPWordPerturber(LINE, epsilon=epsilon).fit([])
    documents = [["aa", "zzz", "bb"] * 20] * 500
    share = words_unchanged(perturber, documents)
    expected = 1 - np.exp(-epsilon / 2) / 2
    # 2,000 words: 6 standard errors, false alarm 2e-9
    assert abs(share - expected) < 6 * np.sqrt(expected * (1 - expected) / 2000)
    assert np.isnan(words_unchanged(perturber, ["zzz"]))


def test_scorers_find_the_perturber_and_its_input(small_embedding):
    """Steps before the perturber are applied first; those after are not needed."""
    texts, labels = ["W1_W2_W3"] * 6, [0, 1] * 3
    cut = FunctionTransformer(lambda X: [text.lower().split("_") for text in X])
    faithful = DPWordPerturber(small_embedding, epsilon=1e9)
    model = make_pipeline(cut, "passthrough", faithful, MultinomialNB())
    model.fit(texts, labels)
    assert find_perturber(model) is faithful
    assert words_changed_scorer(model, texts, labels) == 0.0
    nested = make_pipeline(cut, model[2:])
    assert words_changed_scorer(nested, texts) == 0.0
    search = GridSearchCV(model, {"dpwordperturber__lam": [0, 0.5]}, cv=2)
    assert find_perturber(search) is faithful
    search.fit(texts, labels)
    assert find_perturber(search) is search.best_estimator_["dpwordperturber"]


def test_perturbers_among_other_columns(small_embedding):
    texts = ["w1 w2 w3", "w4 w4 w5"]
    frame = pd.DataFrame({"size": [1.0, 2.0], "text": texts})
    faithful = DPWordPerturber(small_embedding, epsilon=1e9)
    for X, column in ((frame, "text"), (frame, 1), (frame.to_numpy(), 1)):
        columns = make_column_transformer((faithful, column)).fit(X)
        assert words_changed_scorer(columns, X) == 0.0
    union = make_union(faithful).fit(texts)
    assert find_perturber(union) is faithful
    assert words_changed_scorer(union, texts) == 0.0


@pytest.mark.parametrize("held_by", [lambda pipe: pipe, lambda p: GridSearchCV(p, {})])
def test_a_pipeline_that_keeps_texts_in_files_is_warned_of(tmp_path, held_by):
    def cached(memory):
        perturber = DPWordPerturber(LINE, document_length=1)
        return held_by(make_pipeline(perturber, MultinomialNB(), memory=memory))

    with pytest.warns(PrivacyLeakWarning, match="memory of the pipeline is set"):
        find_perturber(cached(joblib.Memory(tmp_path)))
    with no_warning():
        find_perturber(cached(None))
        find_perturber(cached(joblib.Memory(None)))
