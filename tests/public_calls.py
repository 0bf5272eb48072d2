"""A valid call of everything public, by one table, for the checks of all of them.

What is public is read off the site's pages, its parameters off signatures: a required
parameter gets what `BY_NAME` has for its name. **Adding something public?** Where a
name is new, or an optional parameter must be set, add one line to `ROWS`:

    inspection.release_report: {"released": TEXTS},

A row of a class is for its constructor, with what its methods take. `OBJECTS` has what
is called where a row cannot make it. Functions and lambdas stand for what they return.
What no text is given to goes into `TAKES_NO_TEXT`, with the reason.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import (
    attacks,
    audit,
    base,
    datasets,
    inspection,
    mechanisms,
    metrics,
    model_selection,
    neighbors,
    preprocessing,
    release,
)
from skdptext.embeddings import WordEmbedding, one_hot_embedding
from skdptext.learning import DPTextClassifier
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.perturbation import DPWordPerturber
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import DocumentRelease, ReleaseKey
from skdptext.replacement import DPDocumentReplacer, PersonAnswers, topic_shares

# -- what the calls share ------------------------------------------------------------

BAGS, TOPICS = np.array([[1, 2], [2, 1], [3, 1], [0, 2]]), [0, 1, 0, 1]
TEXTS = ["w0 w1 w0", "w1 w1 w0", "w0 w0", "w1 w0 w1"]
WORDS = WordEmbedding(["w0", "w1"], np.eye(2))
_holders: list[Any] = []


def released(**options: Any) -> DPWordPerturber:
    return DPWordPerturber(WORDS, **{"document_length": 1, **options}).fit([])


def replacer() -> DPDocumentReplacer:
    options = {"public_labels": TOPICS, "allow_shared_texts": True}
    return DPDocumentReplacer(TEXTS, **options).fit()


@cache
def learned() -> DPTextClassifier:
    return DPTextClassifier(TEXTS, classes=[0, 1]).fit(TEXTS, TOPICS)


@cache
def searched() -> GridSearchCV:
    pipeline = make_pipeline(released(), MultinomialNB())
    grid = {"dpwordperturber__epsilon": [1.0, 2.0]}
    scoring = {"kept": lambda *given: 0.5, "right": "accuracy"}
    search = GridSearchCV(pipeline, grid, scoring=scoring, refit=False, cv=2)
    return search.fit(TEXTS, TOPICS)


@cache
def searched_learner() -> GridSearchCV:
    model = DPTextClassifier(TEXTS, classes=[0, 1])
    return GridSearchCV(model, {"n_groups": [2]}, cv=2).fit(TEXTS, TOPICS)


class LabelsCounted:
    def fit(self, X: Any, y: Any) -> LabelsCounted:
        self.n_ = len(y)
        return self

    def guarantee(self) -> Any:
        return SimpleNamespace(epsilon=1.0)


def keyed_vectors() -> Any:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vector_size=1)
    keyed.add_vectors(["w0", "w1"], [[0.0], [1.0]])
    return keyed


def in_folder(name: str) -> Path:
    """A path in a new folder, deleted when the process ends."""
    _holders.append(tempfile.TemporaryDirectory())
    return Path(_holders[-1].name) / name


def embedding_file() -> Path:
    WORDS.save(path := in_folder("words.txt"))
    return path


def document_file() -> Path:
    (path := in_folder("in.csv")).write_text("id,text\n1,w0 w1\n2,w1\n")
    return path


def key() -> ReleaseKey:
    return ReleaseKey.generate(in_folder("key"))


def sampling() -> DPWordPerturber:
    return released(resize="sample", output="text")


def document_release(**options: Any) -> DocumentRelease:
    return DocumentRelease(sampling(), key(), "canary", **options)


def complete_release() -> Path:
    release.release_files(document_file(), out := in_folder("out"), document_release())
    return out


def batch() -> Any:
    return pa.record_batch({"id": ["a"], "text": ["w0"]})


def of_words() -> PrivacyGuarantee:
    return released().guarantee()


def of_source(part: int) -> list[str]:
    return [f"text number{i} of{part} source{i * part}" for i in range(12)]


# -- the table -----------------------------------------------------------------------

# What a required parameter of this name is given, where no row says otherwise.
BY_NAME: dict[str, Any] = {
    **dict.fromkeys(["X", "documents", "original", "public_documents"], TEXTS),
    "y": TOPICS,
    "labels": TOPICS,
    "authors": [0, 1, 0, 1],
    "released": TEXTS,
    "candidates": TEXTS,
    "words": ["w0"],
    "word": "w0",
    "tokens": ["w0"],
    "x": "w0",
    "embedding": WORDS,
    "perturber": released,
    "releaser": released,
    "batch": batch,
    "epsilon": 1.0,
    "delta": 0.5,
    "lam": 0.5,
    "name": "canary",
    "key": key,
    "search": searched,
    "n_candidates": 100,
    "estimator": released,
}
_counts = {"embedding": WORDS, "X": BAGS}
_near = {**_counts, "y": TOPICS, "n_neighbors": 1, "radius": 1.0}
_guess = {"perturber": released, "n_draws": 1, "X": ["w0"], "k": 1}
_guess["y"] = ["w1"]
_two = {"x": "w0", "y": "w1"}

ROWS: dict[Any, dict[str, Any]] = {
    attacks.KoppelAuthorClassifier: {"n_rounds": 2, "random_state": 0},
    attacks.WordReconstructionAttack: _guess,
    attacks.membership_attack: {
        name: partial(of_source, i)
        for i, name in enumerate(["training", "control", "synthetic"])
    },
    audit.audit_document_pair: {
        "releaser": partial(released, output="text"),
        "n_releases": 100,
        **_two,
    },
    audit.audit_noise_law: {"source": released, "n_draws": 100},
    # as few fits as may be
    audit.audit_training: {"estimator": LabelsCounted(), "person": 0, "n_fits": 100},
    audit.audit_word_privacy: {"pairs": [("w0", "w1")], "n_draws": 100},
    base.fitted_releaser: {"value": lambda: DPWordPerturber(WORDS)},
    base.transitions_of: {"mechanism": lambda: released().mechanism_, "n_draws": 2},
    datasets.fetch_disaster_tweets: {"download_if_missing": False},
    datasets.fetch_sms_spam: {"download_if_missing": False},
    datasets.make_documents: {"n_documents": 2, "n_topics": 1},
    datasets.make_embedding: {"n_words": 20, "dim": 2},
    DPTextClassifier.sample: {"n_samples": 2},
    WordEmbedding: {"words": ["w0", "w1"], "vectors": np.eye(2)},
    WordEmbedding.from_gensim: {"model": keyed_vectors},
    WordEmbedding.load: {"path": embedding_file},
    WordEmbedding.restrict: {"words_or_n": 1},
    WordEmbedding.save: {"path": partial(in_folder, "words.npz")},
    one_hot_embedding: {"words": 2},
    inspection.NeighborhoodDisplay.from_estimator: {
        "n_neighbors": 1,
        "n_landed": 1,
        "n_draws": 10,
    },
    inspection.PlausibleDeniabilityDisplay.from_estimator: {
        "words": ["w0"],
        "n_draws": 2,
    },
    inspection.PrivacyUtilityDisplay.from_search: {
        "privacy": "kept",
        "utility": "right",
    },
    inspection.ReleaseReport.to_html: {"path": partial(in_folder, "report.html")},
    mechanisms.Exponential.prepare: {"self": mechanisms.Exponential},
    metrics.density_statistics: {"X": BAGS},
    metrics.find_perturber: {"estimator": lambda: make_pipeline(released())},
    metrics.pairwise_word_movers_distances: {"X": BAGS, "Y": BAGS},
    metrics.plausible_deniability: {"words": ["w0"], "n_draws": 2},
    metrics.word_movers_distance: {"x": np.array([1, 0]), "y": np.array([0, 1])},
    model_selection.best_under_constraint: {"maximize": "a", "subject_to": {"b": 1.0}},
    model_selection.calibrate_epsilon: {"changed": 0.1, "n_words": 100},
    ChannelNaiveBayes: {**_guess, "alpha": 1.0, "prior": "uniform", "X": BAGS}
    | {"y": TOPICS},
    **dict.fromkeys(
        [
            neighbors.WMDKNNClassifier,
            neighbors.WMDKNNRegressor,
            neighbors.WMDNeighborsTransformer,
        ],
        _near,
    ),
    neighbors.WMDNeighbors: _near,
    DPWordPerturber: {"embedding": WORDS, **_two},
    DPWordPerturber.log_likelihood: {"self": partial(released, output="text")},
    preprocessing.MeanVectorEncoder: {"n_components": 1},
    preprocessing.TopicWordSelector: {"n_words": 1, "tuned_on": "public", "X": BAGS},
    PrivacyGuarantee: {"x": lambda: learned().guarantee().to_json()},
    PrivacyGuarantee.compose: {"other": 2},
    PrivacyGuarantee.epsilon_for: {"self": of_words, **_two, "factor": 2.0},
    PrivacyGuarantee.epsilon_of: {"n_documents": 1},
    PrivacyGuarantee.exponent: {"self": of_words, **_two},
    PrivacyGuarantee.of: {"parts": lambda: learned().guarantee().parts},
    PrivacyGuarantee.of_search: {"search": searched_learner},
    PrivacyGuarantee.relative_to: {"self": of_words},
    PrivacyGuarantee.utility_probability: {"self": of_words},
    PrivacyGuarantee.with_caveat: {"caveat": "Not so."},
    DocumentRelease: {"releaser": sampling},
    ReleaseKey: {"source": lambda: key().source, "purpose": b"purpose"},
    ReleaseKey.generate: {"file": partial(in_folder, "key")},
    release.release_files: {
        "source": document_file,
        "out": partial(in_folder, "out"),
        "release": document_release,
    },
    release.verify: {"out": complete_release},
    DPDocumentReplacer: {"n_groups": 2, "allow_shared_texts": True}
    | {"x": TEXTS[0], "y": TEXTS[1]},
    DPDocumentReplacer.guarantee: {"unit": "person"},
    PersonAnswers: {"authors": [0, 1]},
    topic_shares: {"released": TOPICS, "groups": [0, 1], "confidence": 0.95}
    | {"guarantee": lambda: replacer().guarantee()},
}

# What methods are called of, where a row does not make it.
OBJECTS: dict[type, Callable[[], Any]] = {
    WordEmbedding: lambda: WORDS,
    DPTextClassifier: learned,
    DPWordPerturber: released,
    DPDocumentReplacer: replacer,
    DocumentRelease: document_release,
    inspection.ReleaseReport: cache(lambda: inspection.release_report(TEXTS, TEXTS)),
    metrics.PlausibleDeniability: cache(
        lambda: metrics.plausible_deniability(released(), n_draws=2)
    ),
    PersonAnswers: lambda: replacer().person_answers(TEXTS, range(len(TEXTS))),
    PrivacyGuarantee: lambda: learned().guarantee(),
}

# Parameters that say where something is, or what it is called: errors name it.
NAMES: dict[Any, set[str]] = {
    audit.audit_training: {"person"},
    WordEmbedding.load: {"path"},
    WordEmbedding.save: {"path"},
    inspection.ReleaseReport.to_html: {"path"},
    DocumentRelease: {"name", "text", "id", "author", "keep"},
    ReleaseKey: {"source"},
    ReleaseKey.generate: {"file"},
    release.release_files: {"source", "out"},
    release.verify: {"out"},
}

# What uses a result, where it is no estimator: only then are its parameters checked.
USES: dict[Any, Callable[[Any], Any]] = {
    model_selection.best_under_constraint: lambda rule: rule(
        {"mean_test_a": [0.5], "mean_test_b": [2.0]}
    ),
    DocumentRelease: lambda made: made(batch()),
    ReleaseKey: lambda made: made.derive(b""),
    mechanisms.Exponential: lambda made: released(mechanism=made),
}

# What cannot succeed in a test, and what it raises there.
FAILS = {datasets.fetch_disaster_tweets: OSError, datasets.fetch_sms_spam: OSError}

# What no text is given to, and why: all methods of a name, or a class with its own.
TAKES_NO_TEXT: dict[Any, str] = {
    base.BaseReleaser: "is abstract; users define its methods",
    datasets.load_docstring_embedding: "trains on texts of installed libraries",
    datasets.load_docstrings: "reads texts of installed libraries by public names",
    **dict.fromkeys(
        [
            *(mechanisms.WordMechanism, mechanisms.TableMechanism),
            *(mechanisms.NoiseMechanism, mechanisms.LossDistribution),
            *(mechanisms.MahalanobisMetric, "draw", "apply", "exponents", "losses"),
            *("log_proba", "checked_log_proba", "noise"),
        ],
        "takes numbers of words, and draws",
    ),
    inspection.PrivacyUtilityDisplay.from_estimator: (
        "is scikit-learn's GridSearchCV, whose errors are its own, and `from_search`"
    ),
    "set_fit_resample_request": "takes whether authors are routed",
    "fresh": "gets a generator",
    "seeded": "gets a random state, which the copy checks in use",
    "plot": "takes a figure's axes, and draws what its object holds",
}


# -- from the table to calls ---------------------------------------------------------


@cache
def api_pages() -> Any:
    """What the site shows: `docs/api_pages.py`."""
    path = Path(__file__).parents[1] / "docs" / "api_pages.py"
    spec = importlib.util.spec_from_file_location("api_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(paths: Iterable[str]) -> list[Any]:
    """What stands at each ``room.name``."""
    rooms = (importlib.import_module(f"skdptext.{p.split('.')[0]}") for p in paths)
    return [
        getattr(room, path.split(".")[1])
        for room, path in zip(rooms, paths, strict=True)
    ]


# Classes that the library makes.
RESULTS = {
    PrivacyGuarantee,
    *(getattr(inspection, n) for n in inspection.__all__ if n.endswith("Display")),
    *shown(
        [
            f"{page.partition('.')[0]}.{result}"
            for page, results in api_pages().RESULTS.items()
            for result in results
        ]
    ),
}


@dataclass
class Call:
    """A public function, class or method, and the class that it is of."""

    function: Any
    kind: Any = None

    def __str__(self) -> str:
        module = self.function.__module__.removeprefix("skdptext.")
        return f"{module}.{self.function.__qualname__}"

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def given(self, model: Any = None) -> dict[str, Any]:
        """Valid arguments: those required, and those that a row names."""
        rows = {**ROWS.get(self.kind, {}), **ROWS.get(self.function, {})}
        values = {}
        for name, parameter in self.signature.parameters.items():
            required = parameter.default is parameter.empty
            if name == "self" and name not in rows:
                values[name] = copy.copy(model or an_object(self.kind))
            elif name in rows or (required and parameter.kind not in (2, 4)):
                value = {**BY_NAME, **rows}[name]  # else: add a row
                values[name] = value() if callable(value) else value
        return values

    def __call__(self, arguments: dict[str, Any]) -> Any:
        ordered = {n: arguments[n] for n in self.signature.parameters if n in arguments}
        bound = inspect.BoundArguments(self.signature, ordered)
        made = self.function(*bound.args, **bound.kwargs)
        if self.function in USES:
            USES[self.function](made)
        elif self.function is self.kind and hasattr(made, "fit"):
            used(made, self.kind)
        return made


def used(model: Any, kind: Any) -> Any:
    """An estimator that is fitted, and asked."""
    fit = Call(kind.fit, kind)
    fit(fit.given(model) | {"self": model})
    for name in ("predict", "kneighbors", "transform"):
        if hasattr(model, name):
            getattr(model, name)({**BY_NAME, **ROWS.get(kind, {})}["X"])
            break
    return model


@cache
def an_object(kind: Any) -> Any:
    """What methods of a class are called of: copies of it."""
    if kind in OBJECTS:
        return OBJECTS[kind]()
    made = kind(**Call(kind, kind).given())
    return used(made, kind) if hasattr(made, "fit") else made


def methods(kind: type) -> Iterator[Any]:
    """Public methods of a class that this package defines and that take something."""
    for name, method in inspect.getmembers(kind, callable):
        ours = (getattr(method, "__module__", "") or "").startswith("skdptext")
        called = name == "__call__" and "__call__" in vars(kind)
        called = called or not (name.startswith("_") or isinstance(method, type))
        takes = ours and called and name not in TAKES_NO_TEXT
        if takes and list(inspect.signature(method).parameters) not in ([], ["self"]):
            yield method


def calls() -> dict[str, Call]:
    """Each once, those that classes inherit of one of them."""
    pages, found = api_pages(), {}
    paths = [f"{room}.{name}" for room in pages.rooms() for name in pages.names(room)]
    for each in shown([*paths, *pages.others()]):
        kind = each if isinstance(each, type) else None
        if each in TAKES_NO_TEXT or (kind and issubclass(kind, Exception)):
            continue
        constructed = not kind or (
            kind not in RESULTS and Call(kind).signature.parameters
        )
        for function in [*[each] * bool(constructed), *(methods(kind) if kind else ())]:
            if function not in TAKES_NO_TEXT:
                call = Call(function, kind)
                found.setdefault(str(call), call)
    return found


CALLS = calls()
