"""A valid call of everything public, by one table, for the checks of all of them.

What is public is read off the site's pages, its parameters off signatures: each gets
what `BY_NAME` has for its name. **Adding something public?** Where that does not fit,
add one line to `ROWS`:

    "inspection.release_report": {"released": TEXTS},

A row of a class is for its constructor, with what its methods take; what these are
called of is made by that, or is `self`. Functions stand for what they return. What no
text is given to goes into `NOT_CALLED`, with the reason.
"""

import copy
import inspect
import re
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import api_pages
import numpy as np
import pyarrow as pa
from sklearn.dummy import DummyClassifier

import skdptext
from skdptext import DPWordPerturber
from skdptext.inspection import release_report
from skdptext.release import DocumentRelease, ReleaseKey, release_files

# -- what the calls share ------------------------------------------------------------

BAGS, TOPICS = np.array([[1, 2], [2, 1], [3, 1], [0, 2]]), [0, 1, 0, 1]
TEXTS = ["w0 w1 w0", "w1 w1 w0", "w0 w0", "w1 w0 w1"]
WORDS = skdptext.WordEmbedding(["w0", "w1"], np.eye(2))
_FOLDER = tempfile.TemporaryDirectory()


def new_path(name="new.npz"):
    return Path(tempfile.mkdtemp(dir=_FOLDER.name)) / name


def released(**options):
    given = {"document_length": 1, "resize": "sample", "output": "text"}
    return DPWordPerturber(WORDS, **{**given, **options}).fit([])


WORDS.save(VECTORS := new_path("words.vec"))
(DOCUMENTS := new_path("in.csv")).write_text("id,text\n1,w0 w1\n2,w1\n")
KEY = ReleaseKey.generate(new_path())
RELEASE = cache(lambda: DocumentRelease(released(), KEY, "canary"))


def complete_release():
    release_files(DOCUMENTS, out := new_path(), RELEASE())
    return out


def sums():
    return an_object("learning.DPTextClassifier").guarantee()


def replacer():
    return an_object("replacement.DPDocumentReplacer")


# -- the table -----------------------------------------------------------------------

# What a parameter of this name is given, where no row says otherwise.
BY_NAME = {
    **dict.fromkeys(["X", "documents", "original", "released", "candidates"], TEXTS),
    **dict.fromkeys(["labels", "groups", "y"], TOPICS),
    **dict.fromkeys(["words", "tokens", "words_or_n"], ("w0", "w1")),
    **dict.fromkeys(["perturber", "releaser", "estimator"], released),
    **dict.fromkeys(["n_neighbors", "n_topics", "n_landed", "n_components", "k"], 1),
    **dict.fromkeys(["n_documents", "dim", "n_samples", "n_rounds", "n_groups"], 2),
    **dict.fromkeys(["n_candidates", "n_releases", "n_fits", "n_draws"], 100),
    **dict.fromkeys(["path", "file", "out"], new_path),
    "delta": 1e-6, "lam": 0.5, "changed": 0.1, "factor": 2.0, "person": 0, "other": 2,
    "authors": [0, 0, 1, 2], "public_documents": TEXTS, "allow_shared_texts": True,
    "x": "w0", "word": "w0", "pairs": [("w0", "w1")], "tuned_on": "public",
    "name": "canary", "caveat": "Not so.", "embedding": WORDS, "vectors": np.eye(2),
    "key": KEY, "release": RELEASE, "folder": complete_release,
    "batch": lambda: pa.record_batch({"id": ["a"], "text": ["w0"]}), "purpose": b"use",
    "parts": lambda: sums().parts, "source": DOCUMENTS, "epsilon": 1.0, "radius": 1.0,
    "guarantee": lambda: replacer().guarantee("person"),
}  # fmt: skip

# What a room, a class or function, or a method is given.
ROWS = {
    "attacks.WordReconstructionAttack": {"X": ["w0"], "y": ["w1"]},
    "attacks.membership_attack": {
        name: [f"text number{i} of{name}" for i in range(12)]
        for name in ("training", "control", "synthetic")
    },
    "audit.audit_noise_law": {"source": released},
    "audit.audit_training": {"estimator": DummyClassifier, "delta": 0},
    "base.fitted_releaser": {"value": lambda: DPWordPerturber(WORDS)},
    "base.transitions_of": {"mechanism": lambda: released().mechanism_},
    "embeddings.WordEmbedding.load": {"path": VECTORS},
    "inspection.release_report": {"labels": None, "authors": None},
    "inspection.ReleaseReport": {"self": cache(lambda: release_report(TEXTS, TEXTS))},
    **{room: {"X": BAGS, "Y": BAGS} for room in ("metrics", "neighbors", "one-hot")},
    "metrics.word_movers_distance": {"x": np.array([1, 0]), "y": np.array([0, 1])},
    "naive_bayes": {"perturber": partial(released, output="bow"), "X": BAGS},
    "preprocessing.TopicWordSelector": {"n_words": 1, "X": BAGS},
    "privacy.PrivacyGuarantee": {"self": lambda: released().guarantee()},
    "privacy.PrivacyGuarantee.delta_at": {"self": sums},
    "privacy.PrivacyGuarantee.found_at_most": {"self": sums},
    "privacy.PrivacyGuarantee.from_json": {"x": lambda: sums().to_json()},
    "release.ReleaseKey": {"source": KEY.source},
    "replacement.PersonAnswers": {
        "self": cache(lambda: replacer().person_answers(TEXTS, BY_NAME["authors"]))
    },
    "replacement.topic_shares": {"released": [0, 0, 1, 1], "groups": [0, 1]},
}  # fmt: skip

# Parameters that say where something is, or what it is called: errors name it.
PLACES = {"path", "file", "source", "out", "folder", "person", "name", "text", "id"}
PLACES |= {"self", "author", "keep", "caveat"}

# What is not called: what users define; names of libraries, whose texts are read, and
# objects of theirs; axes; numbers of words, and draws; names of scores, and searches.
NOT_CALLED = re.compile(
    r"exceptions\..*|base\.BaseReleaser.*|datasets\.(fetch|load)_.*|.*\.from_gensim"
    r"|.*\.(plot|fresh|seeded)|mechanisms\.(?!Exponential(\.prepare)?$).*"
    r"|.*\.(best_under_constraint|search_results_frame|of_search)"
    r"|.*PrivacyUtilityDisplay\.from_.*"
)


# -- from the table to calls ---------------------------------------------------------


@dataclass
class Call:
    """A public function or class, at ``room.name``, or a method of it."""

    path: str
    function: object
    method: str = ""

    @property
    def parameters(self):
        found = inspect.signature(self.function).parameters
        return {name: x for name, x in found.items() if x.kind not in (2, 4)}

    def given(self, /, **others):
        """Valid arguments, those that a row or `BY_NAME` has; and others."""
        row = {"self": partial(an_object, self.path), **BY_NAME}
        row |= {"y": "w1"} if {"x", "y"} <= self.parameters.keys() else {}
        for place in (self.path.split(".")[0], self.path, f"{self.path}.{self.method}"):
            row |= ROWS.get(place, {})
        values = dict(others)
        for name, parameter in self.parameters.items():
            wanted = name in row or parameter.default is parameter.empty
            if wanted and name not in others:
                value = row[name]  # else: add a row
                value = value() if callable(value) else value
                values[name] = copy.copy(value) if name == "self" else value
        return values

    def __call__(self, /, **others):
        """What it makes of valid arguments, but for some; an estimator is used."""
        made = self.function(**self.given(**others))
        # A mechanism is prepared, an estimator fitted and asked: only then is it
        # checked.
        if isinstance(self.function, type):
            for name in ("fit", "prepare", "predict", "kneighbors", "transform"):
                if hasattr(made, name):
                    Call(self.path, getattr(type(made), name), name)(self=made)
        return made


@cache
def an_object(path):
    """What methods of a class are called of: copies of it."""
    return Call(path, api_pages.public(path))()


def calls():
    """By ``room.name`` or ``room.name.method``; what is inherited, of one class."""
    found, made = {}, api_pages.made()
    for path in [*api_pages.paths(), *api_pages.others()]:
        each = api_pages.public(path)
        routines = inspect.getmembers(each, inspect.isroutine)
        for name, function in [("", each), *routines * isinstance(each, type)]:
            full = f"{path}.{name}".strip(".")
            ours = str(getattr(function, "__module__", "")).startswith("skdptext.")
            shown = not name.startswith("_") or name in ("__call__", "__getitem__")
            call = Call(path, function, name)
            skipped = function in made or NOT_CALLED.fullmatch(full)
            if ours and shown and not skipped and call.parameters.keys() - {"self"}:
                found.setdefault(function, (full, call))
    return dict(found.values())


# And what has no name, or is set otherwise.
OTHERS = {
    "oov": lambda X: released(oov="error").transform(X),
    "one-hot": lambda X: DPWordPerturber("one-hot").fit(BAGS).transform(X),
    "tokenizer": lambda words: released(tokenizer=lambda x: words).transform(["a"]),
}
CALLS = calls() | {name: Call(name, function) for name, function in OTHERS.items()}
