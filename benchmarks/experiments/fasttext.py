"""Supervised fastText on bags of words, trained by floret.

The 2019 paper's classifier of topics: the vectors of a document's words are averaged,
and a linear layer with softmax follows; both are trained together (Joulin et al. 2017),
from public vectors on. floret is a build of fastText that works with current Python. It
runs in one thread, so that a seed fixes the result. Prediction uses the two matrices
directly, which avoids the wrong probabilities that the 2023 wheels of floret return
under NumPy 2.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from skdptext import WordEmbedding

_END = "</s>"  # fastText's end of line, which counts as a word of every document
_LABEL = "__label__"
SEED = 1_826_701_614


class FastTextClassifier(ClassifierMixin, BaseEstimator):
    """Classify bags of words by the mean of word vectors learned for the purpose.

    `embedding` names the columns, and training starts from its vectors: words that do
    not occur in `fit` are known too.
    """

    def __init__(self, embedding: WordEmbedding) -> None:
        self.embedding = embedding

    def fit(self, X: Any, y: Any) -> FastTextClassifier:
        """Learn word vectors and the linear layer from counts of words."""
        import floret

        bags = sp.csr_array(X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        with tempfile.TemporaryDirectory(prefix="skdptext-") as folder:
            texts, start = Path(folder, "train.txt"), Path(folder, "start.vec")
            _write_documents(texts, bags, labels)
            _write_vectors(start, self.embedding)
            model = floret.train_supervised(
                input=str(texts), pretrainedVectors=str(start), dim=self.embedding.dim,
                epoch=25, lr=1.0, minCount=1, seed=SEED, thread=1, verbose=0,
            )  # fmt: skip
            words = np.array(model.words)
            # copies, which do not keep the model alive
            vectors = np.array(model.get_input_matrix()[: len(words)], np.float64)
            weights = np.array(model.get_output_matrix(), np.float64)
            names = [int(name.removeprefix(_LABEL)) for name in model.labels]
        # fastText lists words and labels by frequency
        is_word = words != _END
        self.columns_ = words[is_word].astype(int)
        self.word_vectors_ = vectors[is_word]
        self.end_ = vectors[~is_word].sum(axis=0)
        self.output_weights_ = weights[np.argsort(names)]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each label; unknown words are ignored."""
        bags = sp.csr_array(X)[:, self.columns_]
        totals = bags @ self.word_vectors_ + self.end_
        means = totals / (np.asarray(bags.sum(axis=1)).reshape(-1, 1) + 1)
        return softmax(means @ self.output_weights_.T, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most likely label."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _write_documents(path: Path, bags: sp.csr_array, labels: np.ndarray) -> None:
    """A line per document: its label, and the number of each of its words.

    Numbers need no quoting, and keep the text off the disk.
    """
    with path.open("w", encoding="ascii") as file:
        rows = map(slice, bags.indptr[:-1], bags.indptr[1:])
        for label, row in zip(labels, rows, strict=True):
            counts = bags.data[row].astype(np.int64)
            words = np.repeat(bags.indices[row], counts).tolist()
            file.write(f"{_LABEL}{label} {' '.join(map(str, words))}\n")


def _write_vectors(path: Path, embedding: WordEmbedding) -> None:
    """The embedding's vectors under the words' numbers."""
    with path.open("w", encoding="ascii") as file:
        file.write(f"{len(embedding)} {embedding.dim}\n")
        for number, row in enumerate(embedding.vectors.tolist()):
            file.write(f"{number} {' '.join(f'{x:.7g}' for x in row)}\n")
