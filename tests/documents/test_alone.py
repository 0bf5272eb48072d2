"""Whether the other documents of a batch matter: honest encoders and mistaken ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import HashingVectorizer

from skdptext.documents import check_rows_alone
from tests.expected import refused
from tests.replacement.conftest import texts_of

WEIGHTS = np.random.default_rng(5).standard_normal((256, 40)).astype(np.float32)


def plain(X):
    return HashingVectorizer(n_features=256).transform(X).toarray()


def net(X):
    """In float32, whose sums are rounded in an order that depends on the batch."""
    return plain(X).astype(np.float32) @ WEIGHTS


def labels(X):
    return net(X).argmax(axis=1)


def names(X):
    return np.array(["even", "odd number"])[[len(text) % 2 for text in X]]


def rounded_otherwise(X):
    """By parts in 10^6, as sums of another order are."""
    return net(X) * (1 + 1e-6 * (len(X) % 3))


@pytest.mark.parametrize("encode", [plain, net, labels, names, rounded_otherwise])
@pytest.mark.parametrize("n", [1, 2, 3, 60, 1000])
def test_honest_ones_pass(encode, n):
    X = texts_of(n, 1)[0]
    rows, exact = check_rows_alone("encoder", encode, X)
    np.testing.assert_array_equal(rows, encode(X))
    if encode is rounded_otherwise and n == 60:
        assert not exact
    else:
        assert exact or encode in (net, rounded_otherwise)


def ranks(x):
    return x.argsort(axis=0).argsort(axis=0) / len(x)


def special_first(x):
    x = x.copy()
    x[:1] += 1
    return x


def clusters(x):
    return KMeans(min(3, len(x)), n_init=1, random_state=0).fit_predict(x)


# From the vectors of a batch, to others
MISTAKES = {
    "centred on the batch": lambda x: x - x.mean(axis=0),
    "ranks in the batch": ranks,
    "scaled by the largest": lambda x: x / np.abs(x).max(),
    "clusters of the batch": clusters,
    "the first row is another": special_first,
    "sorted": lambda x: x[np.lexsort(x.T)],
    "each once": lambda x: np.unique(x, axis=0),
    "beside the row before": lambda x: x - np.roll(x, 1, axis=0),
    "by the size of the batch": lambda x: x * np.log(1 + len(x)),
    "by chance": lambda x: x + np.random.default_rng().random(len(x))[:, None],
    "in half precision of one scale": lambda x: np.rint(127 * x / np.abs(x).max()),
}


class Numbered:
    """Numbers texts in the order in which it first sees them."""

    def __init__(self):
        self.seen = {}

    def __call__(self, X):
        return np.array([self.seen.setdefault(x, len(self.seen)) for x in X])


def test_one_that_remembers_what_it_saw_first_is_refused():
    X = [f"{text} {i}" for i, text in enumerate(texts_of(60, 1)[0])]
    fitted = Numbered()
    fitted(X[:30])
    for encoder, documents in ((Numbered(), X), (fitted, X[30:])):
        with refused("^encoder must treat each document by itself"):
            check_rows_alone("encoder", encoder, documents)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [4, 60, 1000])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_refused(mistake, n):
    """Also on few documents, none of which is like another."""
    X = [f"{text} {i}" for i, text in enumerate(texts_of(n, 1)[0])]
    for form in (net, plain):
        with refused("^encoder must treat each document by itself"):
            check_rows_alone("encoder", lambda X, form=form: mistake(form(X)), X)
