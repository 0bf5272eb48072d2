"""Encoders that learn from public documents, and public texts among private ones."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from skdptext.documents._reader import (
    DocumentReader,
    as_written,
    warn_without_words,
    words_of,
)
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import is_fitted, quiet, warn_once

# Sums in float32 differ by less between two sizes of a batch, by parts of the largest
# number in a row. A mean or a maximum of some thousand documents differs by more.
_ROUNDING = 1e-5
_ALONE = 16


# -- default encoders ----------------------------------------------------------------


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


# -- custom encoders -----------------------------------------------------------------


def answers_of(name: str, model: Any, documents: Sequence[Any]) -> np.ndarray:
    """Get groups of documents by `predict`, or else vectors by `transform`.

    An error does not quote documents.
    """
    grouped = hasattr(model, "predict")
    kind = "group" if grouped else "vector of finite numbers"
    try:
        rows = model.predict(documents) if grouped else model.transform(documents)
        rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
        rows = rows if grouped else rows.astype(np.float64)
    except Exception as error:  # a user's object may raise anything
        raise InvalidParameterError(
            f"{name} must give every document a {kind}, but failed with "
            f"{type(error).__name__}. (Its message may quote a document, and is not "
            "shown.)"
        ) from None
    if rows.ndim != 2 - grouped or len(rows) != len(documents):
        raise InvalidParameterError(
            f"{name} must give every document a {kind}, got shape {rows.shape} for "
            f"{len(documents)} documents."
        )
    if not grouped and not np.isfinite(rows).all():
        raise InvalidParameterError(
            f"{name} must give every document a {kind}, got others."
        )
    return rows


def numbers_of(name: str, groups: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Find the numbers of groups among those of public documents, which are sorted."""
    number = {group: i for i, group in enumerate(groups.tolist())}
    at = np.array([number.get(group, -1) for group in found.tolist()], dtype=np.intp)
    if (at < 0).any():
        raise InvalidParameterError(
            f"{name} must assign every document to a group that holds a public "
            "document. Choose fewer groups, or more public documents."
        )
    return at


def check_rows_alone(
    name: str, rows_of: Callable[[list[Any]], np.ndarray], documents: Sequence[Any]
) -> tuple[np.ndarray, bool]:
    """Get the label or vector of each document, and check that others do not affect it.

    The documents are encoded again in a random half, half of the rest and so on, and
    some twice by themselves, by a copy of `rows_of` that was made before it saw them.
    Results that depend on other documents, their number or order, on chance or on
    earlier calls differ. The second result tells whether all numbers agree to the last
    bit. If not, only documents that are encoded one by one have rows that depend on
    nothing else.
    """
    try:
        again_of = deepcopy(rows_of)
    except Exception:  # another thread may be using it
        again_of = rows_of
    n, rows, exact = len(documents), rows_of(list(documents)), True
    order = np.random.default_rng().permutation(n)
    ends = [n - (n >> k) for k in range(n.bit_length() + 1)]
    for part in (*np.split(order, ends[1:-1]), *np.repeat(order[:_ALONE, None], 2, 1)):
        first, again = rows[part], again_of([documents[i] for i in part])
        if np.array_equal(first, again):
            continue
        if close := first.shape == again.shape and first.ndim == 2:
            size = np.abs(first).max(axis=1, keepdims=True, initial=0)
            close = bool((np.abs(first - again) <= _ROUNDING * size).all())
        if not close:
            raise InvalidParameterError(
                f"{name} must treat each document by itself, but gives another result "
                "for a document among others: its release would depend on the others, "
                "and no promise would hold."
            )
        exact = False
    return rows, exact


def fitted_copy(name: str, estimator: Any, *data: Any) -> tuple[Any, bool]:
    """Copy an estimator, fit it on public data if it was not fitted; tell if it was.

    A frozen part counts as fitted, because clones keep it.
    """
    # A copy is needed, because the owner may fit the original again, which must not
    # change what was promised.
    steps = estimator.get_params() if hasattr(estimator, "get_params") else {}
    frozen = any(isinstance(step, FrozenEstimator) for step in steps.values())
    try:
        own = deepcopy(estimator)  # also copies frozen parts, which `clone` would share
        if not (fitted := is_fitted(estimator)):
            own = clone(own, safe=False).fit(*data)
    except Exception as error:  # it may quote documents and labels, which are public
        raise InvalidParameterError(
            f"{name} must allow to learn from public documents, but this failed with "
            f"{type(error).__name__}: {error}"
        ) from error
    return own, frozen or fitted


# -- public texts among others, word for word, and texts without public words ----------

# A text of fewer letters may be the same as another by chance.
_LONG = 25
# Shares above which two sets of texts are taken to overlap: of different long public
# texts, of long texts to be released, and of all texts of either set. A few are
# accepted, as people repeat what they say.
_COPIES, _RELEASED, _MOSTLY = 0.01, 0.1, 0.5
# If most texts to be released are public, but only so many different ones, a warning is
# given instead: they may all be commonplaces, such as the only text of a call.
_FEW = 10

_NO_LETTERS = re.compile(r"[\W_]+")

_counted: ContextVar[bool] = ContextVar("skdptext_counted", default=False)


@contextmanager
def shared_texts_counted() -> Iterator[None]:
    """Tell releasers inside the block that the caller has counted the texts."""
    token = _counted.set(True)
    try:
        yield
    finally:
        _counted.reset(token)


def are_shared_texts_counted() -> bool:
    """Check whether a caller has counted the texts to be released."""
    return _counted.get()


class KnownTexts:
    """Public texts that are looked for among others, word for word.

    Only letters and digits are compared: neither case, blanks and punctuation nor
    accents and the forms of Unicode matter.

    Parameters
    ----------
    texts : iterable of str, or of lists of str
        Texts. They are read once, and not kept.
    reader : DocumentReader
        Splits texts into words.
    """

    def __init__(self, texts: Iterable[Any], reader: DocumentReader) -> None:
        self.reader = reader
        self.words: set[str] = set()
        self.is_long: dict[bytes, bool] = {}  # of each different text, by its digest
        for text in texts:
            self.words.update(reader.words(text))
            digest, length = _letters(text)
            if length:
                self.is_long[digest] = length >= _LONG
        self.n_long = sum(self.is_long.values())

    def count(self) -> "SharedTexts":
        """Start a count of these texts among others."""
        return SharedTexts(self)


class SharedTexts:
    """A count of public texts among others, which are seen in blocks."""

    def __init__(self, known: KnownTexts) -> None:
        self._known = known
        self._seen: set[bytes] = set()
        self._n_there = self._n_long = self._n_public = self._n_strange = self._n = 0

    def see(self, texts: Iterable[Any]) -> None:
        """Count a block of texts."""
        for text in texts:
            digest, length = _letters(text)
            there = digest in self._known.is_long
            if there:
                self._seen.add(digest)
            words = self._known.reader.words(text, self._n)
            self._n_strange += self._known.words.isdisjoint(words)
            self._n += 1
            self._n_there += there
            self._n_long += length >= _LONG
            self._n_public += there and length >= _LONG

    def check(self, accepted: bool) -> None:
        """Refuse public texts among the private ones, or warn of a few.

        Also warns of documents without any public word.
        """
        warn_without_words(self._n_strange, self._n, "public documents")
        if accepted:
            return
        long = f"texts of {_LONG} letters or more"
        n_seen, n_known = len(self._seen), len(self._known.is_long)
        copies = sum(map(self._known.is_long.__getitem__, self._seen))
        n_there = self._n_there if n_seen > _FEW else 0
        for n, of, most, what in (
            (copies, self._known.n_long, _COPIES, f"public {long} among them"),
            (self._n_public, self._n_long, _RELEASED, f"{long} that are public"),
            (n_seen, n_known, _MOSTLY, "public texts among them"),
            (n_there, self._n, _MOSTLY, "texts there that are public"),
        ):
            if n > most * of:
                raise InvalidParameterError(
                    "public_documents must not be among the private ones, got "
                    f"{n:,} of {of:,} {what}, where {most:.0%} are accepted: the "
                    "release would publish them. If all of them are public, accept "
                    "this with allow_shared_texts."
                )
        if copies or self._n_there > _MOSTLY * self._n:
            warn_once(
                f"{n_seen:,} of {n_known:,} public texts "
                f"{'is' if n_seen == 1 else 'are'} among the private ones, word for "
                "word. Public texts cannot be protected; if they are not public, this "
                "release publishes them.",
                PrivacyLeakWarning,
            )


def _letters(text: Any) -> tuple[bytes, int]:
    """Compute a digest of the letters and digits of a text, and their number."""
    text = as_written(text)
    text = text if isinstance(text, str) else " ".join(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    letters = _NO_LETTERS.sub("", text.casefold())
    data = letters.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest(), len(letters)
