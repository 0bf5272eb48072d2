"""Supervised fastText as a scikit-learn classifier, trained by floret."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from skdptext.attacks._bags import TextEstimator, words_and_bags
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_classes,
    check_flag,
    check_integer,
    check_real,
    check_rng,
    import_floret,
)

_END = "</s>"  # fastText's end of line, which counts as a word of every document
_LABEL = "__label__"


class FastTextClassifier(ClassifierMixin, TextEstimator):
    """Classify documents by the mean of word vectors learned for the purpose.

    fastText's supervised model [1]_: the vectors of a document's words are averaged,
    and a linear layer with softmax follows; both are trained together. It sees words,
    not distances in the perturber's embedding; so [2]_ uses it as the topic classifier
    with a different representation. It needs floret.

    Parameters
    ----------
    embedding : WordEmbedding, default=None
        The words of the columns, if documents are bags-of-words. Not needed for token
        lists, or for texts, which are split at blanks.
    pretrained : bool, default=False
        Start from the vectors of `embedding` instead of random ones, as [2]_ does with
        Wikipedia vectors. Words that do not occur in `fit` are then known too.
    dim : int, default=100
        Length of a word's vector; not used with `pretrained`.
    n_epochs : int, default=25
        Passes over the documents.
    learning_rate : float > 0, default=1.0
        Initial learning rate; it decreases to 0.
    min_count : int, default=1
        Leave out words that occur less often in `fit`.
    random_state : None, int or numpy.random.Generator, default=None
        Fixes the initial vectors. An int gives the same model again.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    vocabulary_ : dict of str to int
        The words in use, and their rows in `word_vectors_`.
    word_vectors_ : ndarray of shape (n_words, dim), float32
        Learned vectors.
    output_weights_ : ndarray of shape (n_classes, dim), float32
        The linear layer.

    Raises
    ------
    InvalidParameterError
        In `fit`, if a parameter or an input breaks its rule, or training diverges.
    ImportError
        In `fit`, if floret is not installed. A fitted model predicts without it.

    See Also
    --------
    KoppelAuthorClassifier : Another adversary of the 2019 paper, by character n-grams.

    Notes
    -----
    The defaults for epochs and learning rate come from [2]_. Only training uses
    floret, a build of fastText that works with current Python; it runs in one thread,
    so that a seed fixes the result. Prediction uses the two matrices directly, which
    also avoids the wrong probabilities that the 2023 wheels of floret and fasttext
    return under NumPy 2. Neither the order of words (no word n-grams) nor parts of
    words are used.

    *Privacy.* This measures what one adversary achieves, or how useful a release still
    is. For training, documents are written to a temporary file, with numbers in place
    of words. The file is removed right afterwards, even after an error.

    References
    ----------
    .. [1] A. Joulin, E. Grave, P. Bojanowski, T. Mikolov (2017). Bag of tricks for
       efficient text classification. EACL 2017.
    .. [2] N. Fernandes, M. Dras, A. McIver (2019). Generalised differential privacy
       for text document processing. POST 2019, appendix B.

    Examples
    --------
    >>> from skdptext.attacks import FastTextClassifier
    >>> texts = ["cats and dogs", "a dog barks", "tea and cake", "we bake a cake"]
    >>> topics = ["pets", "pets", "food", "food"]
    >>> model = FastTextClassifier(n_epochs=200, random_state=0).fit(texts, topics)
    >>> model.predict(["the cake", "the cats"]).tolist()
    ['food', 'pets']
    """

    def __init__(
        self,
        embedding: WordEmbedding | None = None,
        *,
        pretrained: bool = False,
        dim: int = 100,
        n_epochs: int = 25,
        learning_rate: float = 1.0,
        min_count: int = 1,
        random_state: Any = None,
    ) -> None:
        self.embedding = embedding
        self.pretrained = pretrained
        self.dim = dim
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.min_count = min_count
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FastTextClassifier:
        """Learn word vectors and the linear layer.

        Parameters
        ----------
        X : iterable of str, of lists of str, or bags of shape (n_documents, n_words)
            Documents; bags must hold whole-number counts.
        y : array-like of shape (n_documents,)
            Their labels, with at least two different ones.

        Returns
        -------
        self : FastTextClassifier
            The estimator itself.
        """
        self._check_parameters()
        words, bags = words_and_bags(X, self.embedding)
        if (bags.data != np.floor(bags.data)).any():
            raise InvalidParameterError("X must hold whole-number counts of words.")
        classes, label = check_classes(y, bags.shape[0])
        totals = bags.sum(axis=0)
        if not (totals >= self.min_count).any():
            raise InvalidParameterError(
                "X must hold at least one word that occurs min_count="
                f"{self.min_count} times, got none."
            )
        if self.pretrained and self.embedding is not None:
            known = set(words)
            words = words + [word for word in self.embedding if word not in known]
        names, vectors, label_names, weights = self._train(words, bags, label)
        self.classes_ = classes
        self.vocabulary_ = {
            words[int(name)]: row for row, name in enumerate(names) if name != _END
        }
        self.word_vectors_ = vectors
        # fastText lists labels by frequency
        order = np.argsort([int(name.removeprefix(_LABEL)) for name in label_names])
        self.output_weights_ = weights[order]
        self._end = vectors[names.index(_END)] if _END in names else None
        return self

    def _check_parameters(self) -> None:
        if check_flag("pretrained", self.pretrained) and self.embedding is None:
            raise InvalidParameterError(
                "embedding must be given with pretrained=True, got None."
            )
        for name in ("dim", "n_epochs", "min_count"):
            check_integer(name, getattr(self, name), low=1, high=2**31 - 1)
        check_real("learning_rate", self.learning_rate, low=0, open_low=True)
        check_rng(self.random_state)

    def _train(
        self, words: list[str], bags: sp.csr_array, label: np.ndarray
    ) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
        """Names of the words in use, their vectors, names of the labels, weights."""
        floret = import_floret("FastTextClassifier.fit")
        options: dict[str, Any] = {}
        with tempfile.TemporaryDirectory(prefix="skdptext-") as folder:
            path = Path(folder, "train.txt")
            _write_documents(path, bags, label)
            if self.pretrained and self.embedding is not None:
                start = Path(folder, "start.vec")
                _write_vectors(start, words, self.embedding)
                options["pretrainedVectors"] = str(start)
            try:
                model = floret.train_supervised(
                    input=str(path),
                    dim=self.embedding.dim if options else self.dim,  # type: ignore[union-attr]
                    epoch=self.n_epochs,
                    lr=float(self.learning_rate),
                    minCount=self.min_count,
                    seed=int(check_rng(self.random_state).integers(2**31 - 1)),
                    thread=1,
                    verbose=0,
                    **options,
                )
            except RuntimeError as error:
                raise InvalidParameterError(
                    "learning_rate must be smaller, as training diverged, got "
                    f"{self.learning_rate!r} ({error})."
                ) from error
            vectors, weights = model.get_input_matrix(), model.get_output_matrix()
            # copies, which do not keep the model alive
            return (
                list(model.words),
                np.array(vectors[: len(model.words)], dtype=np.float32),
                list(model.labels),
                np.array(weights, dtype=np.float32),
            )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each label.

        Parameters
        ----------
        X : iterable of str, of lists of str, or bags of shape (n_documents, n_words)
            Texts, token lists or bags.

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            Rows sum to 1. Words that are not in `vocabulary_` are ignored.
        """
        check_is_fitted(self)
        words, bags = words_and_bags(X, self.embedding)
        row = np.array([self.vocabulary_.get(word, -1) for word in words], dtype=int)
        known = np.flatnonzero(row >= 0)
        bags = sp.csr_array(bags[:, known])
        total = bags @ self.word_vectors_[row[known]].astype(np.float64)
        n_words = bags.sum(axis=1)
        if self._end is not None:
            total, n_words = total + self._end, n_words + 1
        means = total / np.maximum(n_words, 1)[:, None]
        return softmax(means @ self.output_weights_.T.astype(np.float64), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most likely label.

        Parameters
        ----------
        X : iterable of str, of lists of str, or bags of shape (n_documents, n_words)
            Texts, token lists or bags.

        Returns
        -------
        labels : ndarray of shape (n_documents,)
            A label for each document.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def _write_documents(path: Path, bags: sp.csr_array, label: np.ndarray) -> None:
    """A line per document: its label, and the number of each of its words.

    Numbers need no quoting, whatever the words contain, and keep the text off the disk.
    """
    with path.open("w", encoding="ascii") as file:
        rows = map(slice, bags.indptr[:-1], bags.indptr[1:])
        for number, row in zip(label, rows, strict=True):
            counts = bags.data[row].astype(np.int64)
            words = np.repeat(bags.indices[row], counts).tolist()
            file.write(f"{_LABEL}{number} {' '.join(map(str, words))}\n")


def _write_vectors(path: Path, words: list[str], embedding: WordEmbedding) -> None:
    """The embedding's vectors of the words it knows, under the words' numbers."""
    ids = embedding.find(words)
    known = np.flatnonzero(ids >= 0)
    with path.open("w", encoding="ascii") as file:
        file.write(f"{len(known)} {embedding.dim}\n")
        for part in gen_batches(len(known), 1000):
            rows = embedding.vectors[ids[known[part]]].tolist()
            for number, row in zip(known[part].tolist(), rows, strict=True):
                file.write(f"{number} {' '.join(f'{x:.7g}' for x in row)}\n")
