"""Supervised fastText on bags of words, trained by floret.

The papers' classifier of topics: the vectors of a document's words are averaged, and a
linear layer with softmax follows; both are trained together (Joulin et al. 2017).
floret is a build of fastText that works with current Python. It runs in one thread, so
that a seed fixes the result. Prediction uses the two matrices directly, which avoids
the wrong probabilities that the 2023 wheels of floret return under NumPy 2.
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


class FastTextClassifier(ClassifierMixin, BaseEstimator):
    """Classify bags of words by the mean of word vectors learned for the purpose.

    `embedding` names the columns. With `pretrained`, training starts from its vectors
    instead of random ones, as the 2019 paper does, and words that do not occur in `fit`
    are known too.
    """

    def __init__(
        self,
        embedding: WordEmbedding,
        *,
        pretrained: bool = False,
        dim: int = 100,
        n_epochs: int = 25,
        learning_rate: float = 1.0,
        random_state: int = 0,
    ) -> None:
        self.embedding = embedding
        self.pretrained = pretrained
        self.dim = dim
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FastTextClassifier:
        """Learn word vectors and the linear layer from counts of words."""
        bags = sp.csr_array(X)
        self.classes_, labels = np.unique(y, return_inverse=True)
        names, vectors, label_names, weights = self._train(bags, labels)
        # fastText lists words and labels by frequency
        is_word = np.array([name != _END for name in names])
        self.columns_ = np.array([int(name) for name in names if name != _END])
        self.word_vectors_ = vectors[is_word].astype(np.float64)
        self.end_ = vectors[~is_word].sum(axis=0)
        order = np.argsort([int(name.removeprefix(_LABEL)) for name in label_names])
        self.output_weights_ = weights[order].astype(np.float64)
        return self

    def _train(self, bags: sp.csr_array, labels: np.ndarray) -> tuple[Any, ...]:
        """Names of the words in use, their vectors, names of the labels, weights."""
        import floret

        seed = np.random.default_rng(self.random_state).integers(2**31 - 1)
        options = {
            "dim": self.dim, "epoch": self.n_epochs, "lr": float(self.learning_rate),
            "minCount": 1, "seed": int(seed), "thread": 1, "verbose": 0,
        }  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="skdptext-") as folder:
            path = Path(folder, "train.txt")
            _write_documents(path, bags, labels)
            if self.pretrained:
                start = Path(folder, "start.vec")
                _write_vectors(start, self.embedding)
                options |= {
                    "dim": self.embedding.dim, "pretrainedVectors": str(start)
                }  # fmt: skip
            model = floret.train_supervised(input=str(path), **options)
            vectors, weights = model.get_input_matrix(), model.get_output_matrix()
            words = list(model.words)
            # copies, which do not keep the model alive
            return (
                words,
                np.array(vectors[: len(words)]),
                list(model.labels),
                np.array(weights),
            )

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
