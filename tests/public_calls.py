"""A valid call of everything public, by one table, for the checks of all of them.

What is public is read off the site's pages, its parameters off signatures: each gets
what `BY_NAME` has for its name. **Adding something public?** Where that does not fit,
add one line to `ROWS`:

    "inspection.release_report": {"released": TEXTS},

A row of a class is for its constructor, with what its methods take; what these are
called of is made by that, or is `self`. Functions stand for what they return. What no
text is given to goes into `TAKES_NO_TEXT`, with the reason.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import skdptext
from skdptext import DPDocumentReplacer, DPTextClassifier, DPWordPerturber
from skdptext.inspection import release_report
from skdptext.mechanisms import Exponential
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import DocumentRelease, ReleaseKey, release_files

# -- what the calls share ------------------------------------------------------------

BAGS, TOPICS = np.array([[1, 2], [2, 1], [3, 1], [0, 2]]), [0, 1, 0, 1]
TEXTS = ["w0 w1 w0", "w1 w1 w0", "w0 w0", "w1 w0 w1"]
WORDS = skdptext.WordEmbedding(["w0", "w1"], np.eye(2))
_FOLDER = tempfile.TemporaryDirectory()


def released(**options: Any) -> DPWordPerturber:
    given = {"document_length": 1, "resize": "sample", "output": "text"}
    return DPWordPerturber(WORDS, **{**given, **options}).fit([])


@cache
def replacer() -> DPDocumentReplacer:
    options = {"public_labels": TOPICS, "allow_shared_texts": True}
    return DPDocumentReplacer(TEXTS, **options).fit()


def classifier() -> DPTextClassifier:
    return DPTextClassifier(TEXTS, classes=[0, 1], allow_shared_texts=True)


@cache
def learned() -> DPTextClassifier:
    return classifier().fit(TEXTS, TOPICS)


@cache
def searched() -> GridSearchCV:
    pipeline = make_pipeline(released(output="bow"), MultinomialNB())
    grid = {"dpwordperturber__epsilon": [1.0, 2.0]}
    scoring = {"kept": lambda *given: 0.5, "right": "accuracy"}
    search = GridSearchCV(pipeline, grid, scoring=scoring, refit=False, cv=2)
    return search.fit(TEXTS, TOPICS)


def searched_classifier() -> GridSearchCV:
    return GridSearchCV(classifier(), {"n_groups": [2]}, cv=2).fit(TEXTS, TOPICS)


class LabelsCounted(DummyClassifier):
    def guarantee(self) -> Any:
        return SimpleNamespace(epsilon=1.0)


def new_path(name: str, content: str | None = None) -> Path:
    path = Path(tempfile.mkdtemp(dir=_FOLDER.name)) / name
    if content is not None:
        path.write_text(content)
    return path


vector_file = partial(new_path, "words.vec", "2 2\nw0 1 0\nw1 0 1\n")
document_file = partial(new_path, "in.csv", "id,text\n1,w0 w1\n2,w1\n")


def keyed_vectors() -> Any:
    vectors = importlib.import_module("gensim.models").KeyedVectors
    return vectors.load_word2vec_format(vector_file())


def key() -> ReleaseKey:
    return ReleaseKey.generate(new_path("key"))


def document_release(**options: Any) -> DocumentRelease:
    return DocumentRelease(released(), key(), "canary", **options)


def complete_release() -> Path:
    release_files(document_file(), out := new_path("out"), document_release())
    return out


def of_source(part: int) -> list[str]:
    return [f"text number{i} of{part} source{i * part}" for i in range(12)]


# -- the table -----------------------------------------------------------------------

# What a parameter of this name is given, where no row says otherwise.
BY_NAME: dict[str, Any] = {
    **dict.fromkeys(["X", "documents", "original", "released", "candidates"], TEXTS),
    **dict.fromkeys(["labels", "groups", "y", "public_documents"], TOPICS),
    **dict.fromkeys(["words", "tokens", "words_or_n"], ("w0", "w1")),
    **dict.fromkeys(["perturber", "releaser", "estimator"], released),
    **dict.fromkeys(["epsilon", "radius"], 1.0),
    **dict.fromkeys(["n_neighbors", "n_topics", "n_landed", "n_components", "k"], 1),
    **dict.fromkeys(["n_documents", "dim", "n_samples", "n_rounds", "n_groups"], 2),
    **dict.fromkeys(["n_candidates", "n_releases", "n_fits", "n_draws"], 100),
    "public_documents": TEXTS,
    "allow_shared_texts": True,
    "tuned_on": "public",
    "authors": [0, 0, 1, 2],
    "person": 0,
    "delta": 1e-6,
    "lam": 0.5,
    "changed": 0.1,
    "x": "w0",
    "word": "w0",
    "vectors": np.eye(2),
    "embedding": WORDS,
    "model": keyed_vectors,
    "pairs": [("w0", "w1")],
    "search": searched,
    "privacy": "kept",
    "utility": "right",
    "batch": lambda: pa.record_batch({"id": ["a"], "text": ["w0"]}),
    "key": key,
    "release": document_release,
    "purpose": b"purpose",
    "name": "canary",
    "other": 2,
    "factor": 2.0,
    "caveat": "Not so.",
    "parts": lambda: learned().guarantee().parts,
}
_counts, _bags = {"X": BAGS}, partial(released, output="bow")
_promise = {"self": lambda: released().guarantee()}

ROWS: dict[str, dict[str, Any]] = {
    "attacks.WordReconstructionAttack": {"X": ["w0"], "y": ["w1"]},
    "attacks.membership_attack": {
        name: partial(of_source, i)
        for i, name in enumerate(["training", "control", "synthetic"])
    },
    "audit.audit_noise_law": {"source": released},
    "audit.audit_training": {"estimator": LabelsCounted, "delta": 0},
    "base.fitted_releaser": {"value": lambda: DPWordPerturber(WORDS)},
    "base.transitions_of": {"mechanism": lambda: released().mechanism_},
    "datasets.make_embedding": {"n_words": 20},
    "embeddings.WordEmbedding.load": {"path": vector_file},
    "embeddings.WordEmbedding.save": {"path": partial(new_path, "words.npz")},
    "inspection.release_report": {"labels": None, "authors": None},
    "inspection.ReleaseReport": {
        "self": cache(lambda: release_report(TEXTS, TEXTS)),
        "path": partial(new_path, "report.html"),
    },
    "metrics.density_statistics": _counts,
    "metrics.find_perturber": {"estimator": lambda: make_pipeline(released())},
    "metrics.pairwise_word_movers_distances": {"X": BAGS, "Y": BAGS},
    "metrics.word_movers_distance": {"x": np.array([1, 0]), "y": np.array([0, 1])},
    "naive_bayes.ChannelNaiveBayes": {"perturber": _bags, **_counts},
    "neighbors.WMDKNNClassifier": _counts,
    "neighbors.WMDKNNRegressor": _counts,
    "neighbors.WMDNeighbors": _counts,
    "neighbors.WMDNeighborsTransformer": _counts,
    "preprocessing.TopicWordSelector": {"n_words": 1, **_counts},
    "privacy.PrivacyGuarantee": {
        "self": lambda: learned().guarantee(),
        "x": lambda: learned().guarantee().to_json(),
        "search": searched_classifier,
    },
    **{
        f"privacy.PrivacyGuarantee.{name}": {**_promise, "x": "w0"}
        for name in ("epsilon_for", "exponent", "relative_to", "utility_probability")
    },
    "release.ReleaseKey": {"source": lambda: key().source},
    "release.ReleaseKey.generate": {"file": partial(new_path, "key")},
    "release.release_files": {"source": document_file, "out": partial(new_path, "out")},
    "release.verify": {"folder": complete_release},
    "replacement.PersonAnswers": {
        "self": cache(lambda: replacer().person_answers(TEXTS, BY_NAME["authors"]))
    },
    "replacement.topic_shares": {
        "released": [0, 0, 1, 1],
        "groups": [0, 1],
        "guarantee": lambda: replacer().guarantee("person"),
    },
}

# Parameters that say where something is, or what it is called: errors name it.
PLACES = {
    "path",
    "file",
    "source",
    "out",
    "folder",
    "person",
    "name",
    "text",
    "id",
    "author",
}
PLACES |= {"keep"}

# What no text is given to: all methods of a name, one of a class, or all of a class.
TAKES_NO_TEXT = {
    # it is abstract; users define its methods
    "base.BaseReleaser",
    # they take flags, or names of installed libraries, whose texts they read
    *("datasets.fetch_disaster_tweets", "datasets.fetch_sms_spam"),
    *("datasets.load_docstring_embedding", "datasets.load_docstrings"),
    # they take numbers of words, and draws
    *("mechanisms.WordMechanism", "mechanisms.TableMechanism"),
    *("mechanisms.NoiseMechanism", "mechanisms.LossDistribution"),
    *("mechanisms.MahalanobisMetric", "draw", "apply", "exponents", "losses"),
    *("log_proba", "checked_log_proba", "noise", "fresh", "seeded"),
    # names of scores; scikit-learn's GridSearchCV has errors of its own
    "model_selection.best_under_constraint",
    "inspection.PrivacyUtilityDisplay.from_estimator",
    # a figure's axes
    "plot",
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


def public(path: str) -> Any:
    """What is at ``room.name``."""
    importlib.import_module(f"skdptext.{path.partition('.')[0]}")
    return attrgetter(path)(skdptext)


# Classes that the library makes.
RESULTS = {
    PrivacyGuarantee,
    *(x for n, x in vars(skdptext.inspection).items() if n.endswith("Display")),
    *(
        public(f"{page.partition('.')[0]}.{result}")
        for page, results in api_pages().RESULTS.items()
        for result in results
    ),
}


@dataclass
class Call:
    """A public function or class, at ``room.name``, or a method of it."""

    path: str
    function: Any
    method: str = ""

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.function).parameters)

    @property
    def row(self) -> dict[str, Any]:
        pair = {"y": "w1"} if {"x", "y"} <= self.parameters.keys() else {}
        own = ROWS.get(f"{self.path}.{self.method}", {})
        made = {"self": partial(an_object, self.path)}
        return {**made, **BY_NAME, **pair, **ROWS.get(self.path, {}), **own}

    def given(self, others: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Valid arguments, those that a row or `BY_NAME` has; and others."""
        row, values = self.row, dict(others)
        for name, parameter in self.parameters.items():
            required = parameter.default is parameter.empty
            variadic = parameter.kind in (2, 4)
            if name not in others and (name in row or (required and not variadic)):
                value = row[name]  # else: add a row
                value = value() if callable(value) else value
                values[name] = copy.copy(value) if name == "self" else value
        return values

    def __call__(self, others: Mapping[str, Any] = {}) -> Any:
        """What it makes of valid arguments, but for some; an estimator is used."""
        signature = inspect.signature(self.function)
        bound = inspect.BoundArguments(signature, self.given(others))
        made = self.function(*bound.args, **bound.kwargs)
        if self.method:
            return made
        # A mechanism is prepared, an estimator fitted and asked: only then is it
        # checked.
        if isinstance(made, Exponential):
            made.prepare(WORDS, 1.0)
        elif hasattr(made, "fit"):
            Call(self.path, type(made).fit, "fit")({"self": made})
            for name in ("predict", "kneighbors", "transform"):
                if hasattr(made, name):
                    getattr(made, name)(self.row["X"])
                    break
        return made


@cache
def an_object(path: str) -> Any:
    """What methods of a class are called of: copies of it."""
    return Call(path, public(path))()


def methods(kind: type) -> Iterator[str]:
    """Public methods of a class that this package defines and that take something."""
    for name, method in inspect.getmembers(kind, callable):
        ours = (getattr(method, "__module__", "") or "").startswith("skdptext")
        called = name == "__call__" and "__call__" in vars(kind)
        called = called or not (name.startswith("_") or isinstance(method, type))
        takes = ours and called and name not in TAKES_NO_TEXT
        if takes and list(inspect.signature(method).parameters) not in ([], ["self"]):
            yield name


def calls() -> dict[str, Call]:
    """By ``room.name`` or ``room.name.method``; what is inherited, of one class."""
    pages, found = api_pages(), {}
    paths = [f"{room}.{name}" for room in pages.rooms() for name in pages.names(room)]
    for path in [*paths, *pages.others()]:
        each = public(path)
        kind = isinstance(each, type)
        if path in TAKES_NO_TEXT or (kind and issubclass(each, Exception)):
            continue
        if not kind or (each not in RESULTS and Call(path, each).parameters):
            found[each] = Call(path, each)
        for name in methods(each) if kind else ():
            method = getattr(each, name)
            if f"{path}.{name}" not in TAKES_NO_TEXT:
                found.setdefault(method, Call(path, method, name))
    return {f"{call.path}.{call.method}".strip("."): call for call in found.values()}


CALLS = calls()
