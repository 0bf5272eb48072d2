"""How many words a perturber changes, as a number and as scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from skdptext.base import check_word_releaser, perturbs_words
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import shown, warn_once

# We perturb so many words to tell which share stays: the standard error of the share is
# then at most 1/(2 √2000), that is 1.1 %.
_MOST_WORDS = 2000


def find_perturber(estimator: Any, name: str | None = None) -> Any:
    """The perturber in an estimator.

    Parameters
    ----------
    estimator : estimator
        A perturber, or a pipeline, search, FeatureUnion, ColumnTransformer or other
        meta-estimator that holds one. Fitted parts (``best_estimator_``,
        ``estimator_``, ``transformers_``) take precedence over unfitted ones.
    name : str, default=None
        Which perturber, if there are several: the name of its step, or as much of its
        path as identifies it, written as in parameters (``"columns__title"``). None:
        the only one.

    Returns
    -------
    perturber : DPWordPerturber
        The fitted perturber inside.

    Raises
    ------
    InvalidParameterError
        If there is no perturber of that name, or more than one.

    Warns
    -----
    PrivacyLeakWarning
        If a pipeline has a `memory`, which writes private texts to files.
    UserWarning
        If a halving search was given a rule such as `best_under_constraint`: it never
        calls it.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.metrics import find_perturber
    >>> perturber = DPWordPerturber(mechanism="exponential", lam=0, epsilon=2.5)
    >>> find_perturber(make_pipeline(perturber, MultinomialNB())).epsilon
    2.5
    >>> from sklearn.compose import make_column_transformer
    >>> columns = make_column_transformer(
    ...     (perturber, "title"), (clone(perturber).set_params(epsilon=3.0), "body"))
    >>> find_perturber(columns, "dpwordperturber-2").epsilon
    3.0
    """
    warn_of_halving(estimator)
    return _find(estimator, name)[0]


def warn_of_halving(search: Any) -> None:
    """Warn of a halving search that was given a rule, which it never calls."""
    results = getattr(search, "cv_results_", search)
    halved = isinstance(results, Mapping) and "iter" in results
    if halved and callable(getattr(search, "refit", None)):
        warn_once(
            "A halving search never calls its refit: it chose by its own rule, "
            "whatever constraint was given. Use GridSearchCV or RandomizedSearchCV.",
            UserWarning,
        )


def has_perturber(estimator: Any) -> bool:
    """Whether an estimator is a perturber, or holds one or more.

    Parameters
    ----------
    estimator : object
        As for `find_perturber`; anything but an estimator gives False.

    Returns
    -------
    has_one : bool
        True if there is one or more.

    Examples
    --------
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.metrics import has_perturber
    >>> has_perturber(DPWordPerturber()), has_perturber(0.5)
    (True, False)
    """
    return any(True for _ in _places(estimator, perturbs_words))


class _Place(NamedTuple):
    """A perturber, or another releaser, and where it is."""

    releaser: Any
    before: tuple[Any, ...] = ()  # the steps that its input passes through first
    path: str = ""  # names of the steps that lead to it, as in parameters


def _find(estimator: Any, name: str | None = None) -> _Place:
    """The perturber of a given name, or the only one."""
    places = list(_places(estimator, perturbs_words))
    if name is None:
        if len(places) == 1:
            return places[0]
        raise InvalidParameterError(
            "estimator must hold exactly one word perturber, or name must select one, "
            f"got {len(places)} in {type(estimator).__name__}{_listed(places)}."
        )
    if not isinstance(name, str):
        raise InvalidParameterError(f"name must be a str or None, got {shown(name)}.")
    # the whole path, or its end
    matching = [p for p in places if p.path == name] or [
        p for p in places if p.path.endswith(f"__{name}")
    ]
    if len(matching) != 1:
        raise InvalidParameterError(
            f"name must match exactly one word perturber, got {shown(name)}, which "
            f"matches {len(matching)} of {len(places)}{_listed(places)}."
        )
    return matching[0]


def _listed(places: list[_Place]) -> str:
    return f" ({', '.join(p.path for p in places)})" if places else ""


def _places(
    estimator: Any,
    wanted: Callable[[Any], bool],
    before: tuple[Any, ...] = (),
    path: str = "",
) -> Iterator[_Place]:
    """Each wanted releaser with the steps that its input passes through first."""

    def below(name: str) -> str:
        return f"{path}__{name}" if path else name

    if wanted(estimator):
        yield _Place(estimator, before, path)
    elif isinstance(estimator, Pipeline):
        # The input of a step has passed through all earlier ones, wherever they stand:
        # a nested pipeline adds its own to those of the outer one.
        _warn_of_memory(estimator)
        for position, (name, step) in enumerate(estimator.steps):
            earlier = tuple(s for _, s in estimator.steps[:position])
            yield from _places(step, wanted, before + earlier, below(name))
    else:
        # What was fitted comes before what it was made from: a search clones its
        # estimator, and the user asks about the perturber that released.
        for name in ("best_estimator_", "estimator_", "estimator"):
            if hasattr(estimator, name):
                yield from _places(getattr(estimator, name), wanted, before, path)
                return
        for name, part, *columns in _parallel_parts(estimator):
            picked = (_PickColumn(columns[0]),) if columns else ()
            yield from _places(part, wanted, before + picked, below(name))


def _warn_of_memory(pipeline: Pipeline) -> None:
    """Warn of a pipeline with a cache, which its perturber cannot see."""
    location = getattr(pipeline.memory, "location", pipeline.memory)
    if location is not None and len(pipeline.steps) > 1:
        warn_once(
            "memory of the pipeline is set: joblib writes the inputs of its steps, "
            "private texts included, to files, and reuses the noise that was drawn "
            "before for the same texts. Leave memory=None where texts are private.",
            PrivacyLeakWarning,
        )


def _parallel_parts(estimator: Any) -> list[tuple[Any, ...]]:
    """Parts of a FeatureUnion or ColumnTransformer, fitted ones first."""
    for name in ("transformers_", "transformers", "transformer_list"):
        if hasattr(estimator, name):
            return list(getattr(estimator, name))
    return []


class _PickColumn:
    """The column that a ColumnTransformer gives to one of its parts."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def transform(self, X: Any) -> Any:
        if isinstance(self.column, int):
            return X.iloc[:, self.column] if hasattr(X, "iloc") else X[:, self.column]
        return X[self.column]


def words_unchanged(perturber: Any, X: Any) -> float:
    """Share of the words of documents that come out of the noise unchanged.

    Of 2000 of them, spread evenly over all documents, if there are more: the standard
    error is at most 1.1 %.

    Parameters
    ----------
    perturber : fitted DPWordPerturber
        A fitted perturber, or what holds one.
    X : iterable of str, of lists of str, or count matrix (n_documents, n_words)
        Documents, as the perturber takes them.

    Returns
    -------
    share : float in [0, 1]
        An estimate of N_w / n_draws averaged over the words of `X` [1]_; NaN if no
        word is known.

    Notes
    -----
    *Privacy.* The share is computed from the documents themselves. Publishing it, or
    using it to choose ε on private documents, is outside the guarantee.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier (2020), section 5.1.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.metrics import words_unchanged
    >>> embedding = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    >>> faithful = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1e6, document_length=2)
    >>> words_unchanged(faithful.fit([]), [["a", "b"]])
    1.0
    """
    check_word_releaser(perturber)
    words = list(chain.from_iterable(perturber.known_words(X)))
    if not words:
        return float("nan")
    if len(words) > _MOST_WORDS:
        # We take words evenly over all documents and not the first ones, since the
        # first documents may be of one topic.
        picks = np.linspace(0, len(words) - 1, _MOST_WORDS).astype(int)
        words = [words[i] for i in picks]
    noisy = perturber.perturb_words(words)[:, 0]
    return float(np.mean(noisy == np.array(words, dtype=object)))


def words_changed_scorer(
    estimator: Any, X: Any, y: Any = None, *, name: str | None = None
) -> float:
    """Scorer: share of the words that the perturber inside an estimator changes.

    Parameters
    ----------
    estimator : fitted estimator
        A perturber, or a pipeline or search that holds one.
    X : documents
        Input of the estimator.
    y : ignored
        Not used; here for scikit-learn's interface.
    name : str, default=None
        Which perturber, if the estimator holds several: see `find_perturber`. In a
        search, pass ``functools.partial(words_changed_scorer, name="title")``.

    Returns
    -------
    share : float in [0, 1]
        A higher share is more private, at the same guarantee.

    See Also
    --------
    skdptext.model_selection.best_under_constraint : Chooses by two scores at a time.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import Pipeline
    >>> from skdptext import DPWordPerturber
    >>> from skdptext.metrics import words_changed_scorer
    >>> from skdptext.model_selection import best_under_constraint
    >>> perturber = DPWordPerturber(mechanism="exponential", lam=0)
    >>> search = GridSearchCV(
    ...     Pipeline([("perturb", perturber), ("classify", MultinomialNB())]),
    ...     {"perturb__epsilon": [2.0, 2.5, 3.0]},
    ...     scoring={"accuracy": "accuracy", "changed": words_changed_scorer},
    ...     refit=best_under_constraint(
    ...         maximize="changed", subject_to={"accuracy": 0.8}, tuned_on="public"))
    """
    place = _find(estimator, name)
    return 1 - words_unchanged(place.releaser, _reaching(place, X))


def held_in(
    estimator: Any, X: Any, wanted: Callable[[Any], bool], kind: str
) -> tuple[Any, Any]:
    """The only wanted releaser in an estimator, and what reaches it of an input."""
    places = list(_places(estimator, wanted))
    if len(places) != 1:
        raise InvalidParameterError(
            f"estimator must hold exactly one {kind}, got {len(places)} in "
            f"{type(estimator).__name__}{_listed(places)}."
        )
    return places[0].releaser, _reaching(places[0], X)


def _reaching(place: _Place, X: Any) -> Any:
    """What the steps before a releaser make of the input of the estimator."""
    for step in place.before:
        if step is not None and not isinstance(step, str):  # "passthrough"
            X = step.transform(X)
    return X
