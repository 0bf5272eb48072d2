"""A valid call of everything public, into which `test_canary.py` puts private text.

**Adding something public?** Add one line: the callable, and its first arguments, as
valid as a user's, in the order of its signature:

    linkage_attack: Valid(lambda: (TEXTS, TEXTS)),

Each parameter, those left out included, is then given every kind of object that holds
a private text. An estimator checks its parameters in `fit`, so say what uses it:

    MeanVectorEncoder: Valid(lambda: (table(), 2), lambda made: made.fit(TEXTS)),

A public method that takes something needs a line, too: `MeanVectorEncoder.transform`,
whose first argument is then the object. A class that only the library makes goes into
`RESULTS`. What no text is given to goes into `TAKES_NO_TEXT`, with the reason.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
    embeddings,
    inspection,
    mechanisms,
    metrics,
    model_selection,
    neighbors,
    preprocessing,
    privacy,
    release,
    replacement,
)
from skdptext.attacks import (
    KoppelAuthorClassifier,
    WordReconstructionAttack,
)
from skdptext.embeddings import WordEmbedding
from skdptext.learning import DPTextClassifier
from skdptext.mechanisms import MahalanobisNoise
from skdptext.naive_bayes import ChannelNaiveBayes
from skdptext.neighbors import WMDKNNClassifier
from skdptext.perturbation import DPWordPerturber
from skdptext.preprocessing import TopicWordSelector
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import DocumentRelease, ReleaseKey
from skdptext.replacement import DPDocumentReplacer


def api_pages() -> Any:
    """What the site shows: `docs/api_pages.py`."""
    path = Path(__file__).parents[1] / "docs" / "api_pages.py"
    spec = importlib.util.spec_from_file_location("api_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BAGS, TOPICS = np.array([[1, 2], [2, 1], [3, 1], [0, 2]]), [0, 1, 0, 1]
TEXTS = ["w0 w1 w0", "w1 w1 w0", "w0 w0", "w1 w0 w1"]


def table() -> WordEmbedding:
    return WordEmbedding(["w0", "w1"], np.eye(2))


def released(**options: Any) -> DPWordPerturber:
    return DPWordPerturber(table(), document_length=1, **options).fit([])


def replacer() -> DPDocumentReplacer:
    return DPDocumentReplacer(TEXTS, public_labels=TOPICS, allow_shared_texts=True)


def learner(**options: Any) -> DPTextClassifier:
    return DPTextClassifier(TEXTS, classes=[0, 1], **options)


def searched_learner() -> GridSearchCV:
    return GridSearchCV(learner(), {"n_groups": [2]}, cv=2).fit(TEXTS, TOPICS)


@cache
def learned() -> DPTextClassifier:
    return learner().fit(TEXTS, TOPICS)


class LabelsCounted:
    def fit(self, X: Any, y: Any) -> LabelsCounted:
        self.n_ = len(y)
        return self

    def guarantee(self) -> Any:
        return SimpleNamespace(epsilon=1.0)


def classifier(**options: Any) -> WMDKNNClassifier:
    return WMDKNNClassifier(table(), n_neighbors=1, **options).fit(BAGS, TOPICS)


def near() -> neighbors.WMDNeighbors:
    return neighbors.WMDNeighbors(table(), n_neighbors=1).fit(BAGS)


def koppel() -> KoppelAuthorClassifier:
    return KoppelAuthorClassifier(n_rounds=2, random_state=0).fit(TEXTS, TOPICS)


def reconstruction() -> WordReconstructionAttack:
    return WordReconstructionAttack(released(), n_draws=1).fit()


def channel_bayes() -> ChannelNaiveBayes:
    return ChannelNaiveBayes(released(), n_draws=1).fit(BAGS, TOPICS)


@cache
def deniability() -> metrics.PlausibleDeniability:
    return metrics.plausible_deniability(released(), n_draws=2)


def of_source(part: int) -> list[str]:
    return [f"text number{i} of{part} source{i * part}" for i in range(12)]


@cache
def released_report() -> inspection.ReleaseReport:
    return inspection.release_report(TEXTS, TEXTS)


@cache
def searched() -> GridSearchCV:
    pipeline = make_pipeline(released(), MultinomialNB())
    grid = {"dpwordperturber__epsilon": [1.0, 2.0]}
    scoring = {"kept": lambda *given: 0.5, "right": "accuracy"}
    search = GridSearchCV(pipeline, grid, scoring=scoring, refit=False, cv=2)
    return search.fit(TEXTS, TOPICS)


def keyed_vectors() -> Any:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vector_size=1)
    keyed.add_vectors(["w0", "w1"], [[0.0], [1.0]])
    return keyed


def folder() -> Path:
    """A new folder, deleted when the process ends."""
    holder = tempfile.TemporaryDirectory()
    _holders.append(holder)
    return Path(holder.name)


_holders: list[Any] = []


def key() -> ReleaseKey:
    return ReleaseKey.generate(folder() / "key")


def embedding_file() -> Path:
    path = folder() / "words.txt"
    table().save(path)
    return path


def document_release(**options: Any) -> DocumentRelease:
    return DocumentRelease(sampling(), key(), "canary", **options)


def sampling(**options: Any) -> DPWordPerturber:
    return released(resize="sample", output="text", **options)


def document_file() -> Path:
    path = folder() / "in.csv"
    path.write_text("id,text\n1,w0 w1\n2,w1\n")
    return path


def complete_release() -> Path:
    out = folder() / "out"
    release.release_files(document_file(), out, document_release())
    return out


def persons() -> replacement.PersonAnswers:
    return replacer().fit().person_answers(TEXTS, range(len(TEXTS)))


@dataclass
class Valid:
    """Valid arguments of a callable, and what uses the object that it makes."""

    arguments: Callable[[], tuple[Any, ...]] = tuple
    use: Callable[[Any], Any] = lambda made: None
    #: What it raises, where it cannot succeed in a test.
    error: tuple[type[Exception], ...] | type[Exception] = ()
    #: Parameters that say where something is, or what it is called: errors name it.
    names: tuple[str, ...] = ()


def batch() -> Any:
    return pa.record_batch({"id": ["a"], "text": ["w0"]})


def prepared(made: Any) -> Any:
    """A mechanism's options, checked."""
    released(mechanism=made)


MECHANISM = Valid(use=prepared)


def _prepare(kind: Any, *options: Any, **more: Any) -> Valid:
    return Valid(lambda: (kind(*options, **more), table(), 1.0, 0.5))


FETCHED = Valid(lambda: (False,), error=OSError)

VALID: dict[Any, Valid] = {
    # -- attacks ---------------------------------------------------------------
    KoppelAuthorClassifier: Valid(
        use=lambda made: made.fit(TEXTS, TOPICS).predict(TEXTS)
    ),
    KoppelAuthorClassifier.fit: Valid(
        lambda: (KoppelAuthorClassifier(), TEXTS, TOPICS)
    ),
    KoppelAuthorClassifier.predict: Valid(lambda: (koppel(), TEXTS)),
    KoppelAuthorClassifier.predict_proba: Valid(lambda: (koppel(), TEXTS)),
    WordReconstructionAttack: Valid(lambda: (released(),), lambda made: made.fit()),
    WordReconstructionAttack.fit: Valid(lambda: (reconstruction(),)),
    WordReconstructionAttack.predict: Valid(lambda: (reconstruction(), ["w0"])),
    WordReconstructionAttack.predict_log_proba: Valid(
        lambda: (reconstruction(), ["w0"])
    ),
    WordReconstructionAttack.predict_top: Valid(lambda: (reconstruction(), ["w0"], 1)),
    WordReconstructionAttack.score: Valid(lambda: (reconstruction(), ["w0"], ["w1"])),
    attacks.linkage_attack: Valid(lambda: (TEXTS, TEXTS)),
    attacks.label_attack: Valid(lambda: (TEXTS, TEXTS, TOPICS)),
    attacks.membership_attack: Valid(lambda: tuple(map(of_source, range(3)))),
    attacks.copied: Valid(lambda: (TEXTS, TEXTS)),
    # -- audit -----------------------------------------------------------------
    audit.audit_document_pair: Valid(
        lambda: (released(output="text"), "w0", "w1", 100)
    ),
    audit.audit_noise_law: Valid(lambda: (released(), 100)),
    audit.audit_training: Valid(
        lambda: (
            *(LabelsCounted(), TEXTS, TOPICS, 0),
            *(None, "add/remove", None, None, 100),  # as few fits as may be
        ),
        names=("person",),
    ),
    audit.audit_word_privacy: Valid(lambda: (released(), [("w0", "w1")], 100)),
    # -- datasets --------------------------------------------------------------
    datasets.fetch_disaster_tweets: FETCHED,
    datasets.fetch_sms_spam: FETCHED,
    datasets.make_documents: Valid(lambda: (table(), 2, 1)),
    datasets.make_embedding: Valid(lambda: (20, 2)),
    # -- embeddings ------------------------------------------------------------
    WordEmbedding: Valid(lambda: (["w0", "w1"], np.eye(2))),
    WordEmbedding.find: Valid(lambda: (table(), ["w0"])),
    WordEmbedding.from_gensim: Valid(lambda: (keyed_vectors(),)),
    WordEmbedding.infer: Valid(lambda: (table(), "w0")),
    WordEmbedding.load: Valid(lambda: (embedding_file(),), names=("path",)),
    WordEmbedding.restrict: Valid(lambda: (table(), 1)),
    WordEmbedding.save: Valid(
        lambda: (table(), folder() / "words.npz"), names=("path",)
    ),
    embeddings.one_hot_embedding: Valid(lambda: (2,)),
    # -- inspection ------------------------------------------------------------
    inspection.NeighborhoodDisplay.from_estimator: Valid(
        lambda: (released(), "w0", 1, 1, 10)
    ),
    inspection.PlausibleDeniabilityDisplay.from_estimator: Valid(
        lambda: (released(), ["w0"], None, None, 2)
    ),
    inspection.PrivacyUtilityDisplay.from_search: Valid(
        lambda: (searched(), "kept", "right")
    ),
    inspection.release_report: Valid(lambda: (TEXTS, TEXTS)),
    inspection.ReleaseReport.to_html: Valid(
        lambda: (released_report(), folder() / "report.html"), names=("path",)
    ),
    # -- learning --------------------------------------------------------------
    DPTextClassifier: Valid(
        lambda: (TEXTS,), lambda made: made.fit(TEXTS, TOPICS).predict(TEXTS)
    ),
    DPTextClassifier.fit: Valid(lambda: (learner(), TEXTS, TOPICS)),
    DPTextClassifier.fit_resample: Valid(lambda: (learner(), TEXTS, TOPICS)),
    DPTextClassifier.predict: Valid(lambda: (learned(), TEXTS)),
    DPTextClassifier.predict_proba: Valid(lambda: (learned(), TEXTS)),
    DPTextClassifier.sample: Valid(lambda: (learned(), 2)),
    PrivacyGuarantee.delta_at: Valid(lambda: (learned().guarantee(), 1.0)),
    PrivacyGuarantee.found_at_most: Valid(lambda: (learned().guarantee(), 100)),
    # -- mechanisms ------------------------------------------------------------
    mechanisms.Exponential: MECHANISM,
    mechanisms.Exponential.prepare: _prepare(mechanisms.Exponential),
    MahalanobisNoise: MECHANISM,
    MahalanobisNoise.prepare: _prepare(MahalanobisNoise),
    mechanisms.RandomizedResponse.prepare: _prepare(mechanisms.RandomizedResponse),
    # -- metrics ---------------------------------------------------------------
    metrics.PlausibleDeniability.to_frame: Valid(lambda: (deniability(),)),
    metrics.find_perturber: Valid(lambda: (make_pipeline(released()),)),
    metrics.density_statistics: Valid(lambda: (table(), BAGS)),
    metrics.pairwise_word_movers_distances: Valid(lambda: (BAGS, BAGS, table())),
    metrics.plausible_deniability: Valid(lambda: (released(), ["w0"], 2)),
    metrics.word_movers_distance: Valid(lambda: ([1, 0], [0, 1], table())),
    metrics.privacy_utility_scoring: Valid(lambda: ()),
    metrics.identified_scorer: Valid(lambda: (released(), TEXTS)),
    metrics.words_changed_scorer: Valid(lambda: (released(), TEXTS)),
    base.fitted_releaser: Valid(
        lambda: (DPWordPerturber(table(), document_length=1), TEXTS)
    ),
    base.transitions_of: Valid(lambda: (released().mechanism_, None, None, 2)),
    # -- model selection -------------------------------------------------------
    model_selection.best_under_constraint: Valid(
        lambda: ("a", {"b": 1.0}),
        lambda rule: rule({"mean_test_a": [0.5], "mean_test_b": [2.0]}),
    ),
    model_selection.calibrate_epsilon: Valid(lambda: (released(), 0.1, TEXTS, 100)),
    model_selection.search_results_frame: Valid(lambda: (searched(),)),
    # -- classifiers -----------------------------------------------------------
    ChannelNaiveBayes: Valid(
        lambda: (released(), 1.0, "uniform", 1),
        lambda made: made.fit(BAGS, TOPICS).predict(BAGS),
    ),
    ChannelNaiveBayes.fit: Valid(
        lambda: (ChannelNaiveBayes(released(), n_draws=1), BAGS, TOPICS)
    ),
    ChannelNaiveBayes.predict: Valid(lambda: (channel_bayes(), BAGS)),
    ChannelNaiveBayes.predict_joint_log_proba: Valid(lambda: (channel_bayes(), BAGS)),
    ChannelNaiveBayes.predict_log_proba: Valid(lambda: (channel_bayes(), BAGS)),
    ChannelNaiveBayes.predict_proba: Valid(lambda: (channel_bayes(), BAGS)),
    WMDKNNClassifier: Valid(
        lambda: (table(), 1), lambda made: made.fit(BAGS, TOPICS).predict(BAGS)
    ),
    WMDKNNClassifier.fit: Valid(
        lambda: (WMDKNNClassifier(table(), n_neighbors=1), BAGS, TOPICS)
    ),
    WMDKNNClassifier.kneighbors: Valid(lambda: (classifier(), BAGS)),
    WMDKNNClassifier.predict: Valid(lambda: (classifier(), BAGS)),
    WMDKNNClassifier.predict_proba: Valid(lambda: (classifier(), BAGS)),
    neighbors.WMDKNNRegressor: Valid(
        lambda: (table(), 1), lambda made: made.fit(BAGS, TOPICS).predict(BAGS)
    ),
    neighbors.WMDKNNRegressor.predict: Valid(
        lambda: (
            neighbors.WMDKNNRegressor(table(), n_neighbors=1).fit(BAGS, TOPICS),
            BAGS,
        )
    ),
    neighbors.WMDNeighbors: Valid(
        lambda: (table(), 1), lambda made: made.fit(BAGS).kneighbors(BAGS)
    ),
    neighbors.WMDNeighbors.radius_neighbors: Valid(lambda: (near(), BAGS, 1.0)),
    neighbors.WMDNeighborsTransformer: Valid(
        lambda: (table(), "distance", 1), lambda made: made.fit(BAGS).transform(BAGS)
    ),
    # -- perturbation ----------------------------------------------------------
    DPWordPerturber: Valid(
        lambda: (table(),), lambda made: made.fit([]).transform(TEXTS)
    ),
    DPWordPerturber.mechanism_at: Valid(lambda: (released(),)),
    DPWordPerturber.fit: Valid(lambda: (released(), TEXTS)),
    DPWordPerturber.fit_transform: Valid(lambda: (released(), TEXTS)),
    DPWordPerturber.get_feature_names_out: Valid(lambda: (released(),)),
    DPWordPerturber.guarantee: Valid(lambda: (released(),)),
    DPWordPerturber.known_words: Valid(lambda: (released(), TEXTS)),
    DPWordPerturber.log_likelihood: Valid(
        lambda: (released(output="text"), TEXTS, ["w0"])
    ),
    DPWordPerturber.exponent: Valid(lambda: (released(), "w0", "w1")),
    DPWordPerturber.likelihood: Valid(lambda: (released(), TEXTS)),
    DPWordPerturber.prepare: Valid(lambda: (released(), TEXTS)),
    DPWordPerturber.perturb_words: Valid(lambda: (released(), ["w0"])),
    DPWordPerturber.set_output: Valid(lambda: (released(),)),
    DPWordPerturber.transform: Valid(lambda: (released(), TEXTS)),
    # -- preprocessing ---------------------------------------------------------
    preprocessing.MeanVectorEncoder: Valid(
        lambda: (table(), 1), lambda made: made.fit(TEXTS)
    ),
    preprocessing.MeanVectorEncoder.fit: Valid(
        lambda: (preprocessing.MeanVectorEncoder(table(), 1), TEXTS)
    ),
    preprocessing.MeanVectorEncoder.fit_transform: Valid(
        lambda: (preprocessing.MeanVectorEncoder(table(), 1), TEXTS)
    ),
    preprocessing.MeanVectorEncoder.transform: Valid(
        lambda: (preprocessing.MeanVectorEncoder(table(), 1).fit(TEXTS), TEXTS)
    ),
    TopicWordSelector: Valid(
        lambda: (1, "public"), lambda made: made.fit(BAGS, TOPICS)
    ),
    TopicWordSelector.fit: Valid(lambda: (TopicWordSelector(n_words=1), BAGS, TOPICS)),
    TopicWordSelector.get_support: Valid(
        lambda: (TopicWordSelector(n_words=1).fit(BAGS, TOPICS),)
    ),
    TopicWordSelector.set_output: Valid(lambda: (TopicWordSelector(n_words=1),)),
    TopicWordSelector.transform: Valid(
        lambda: (TopicWordSelector(n_words=1).fit(BAGS, TOPICS), BAGS)
    ),
    # -- privacy ---------------------------------------------------------------
    PrivacyGuarantee.epsilon_for: Valid(
        lambda: (released().guarantee(), "w0", "w1", 2.0)
    ),
    PrivacyGuarantee.exponent: Valid(lambda: (released().guarantee(), "w0", "w1")),
    PrivacyGuarantee.relative_to: Valid(lambda: (released().guarantee(), 0.5)),
    PrivacyGuarantee.utility_probability: Valid(lambda: (released().guarantee(), 0.5)),
    PrivacyGuarantee.of_search: Valid(lambda: (searched_learner(),)),
    PrivacyGuarantee.of: Valid(lambda: (learned().guarantee().parts,)),
    PrivacyGuarantee.compose: Valid(lambda: (learned().guarantee(), 2)),
    PrivacyGuarantee.epsilon_of: Valid(lambda: (learned().guarantee(), 1)),
    PrivacyGuarantee.with_caveat: Valid(lambda: (learned().guarantee(), "Not so.")),
    PrivacyGuarantee.from_json: Valid(lambda: (learned().guarantee().to_json(),)),
    # -- release ---------------------------------------------------------------
    DocumentRelease: Valid(
        lambda: (sampling(), key(), "canary"),
        lambda made: made(batch()),
        names=("name", "text", "id", "keep"),
    ),
    DocumentRelease.__call__: Valid(lambda: (document_release(), batch())),
    ReleaseKey: Valid(
        lambda: (key().source,), lambda made: made.derive(b""), names=("source",)
    ),
    ReleaseKey.derive: Valid(lambda: (key(), b"purpose")),
    ReleaseKey.generate: Valid(lambda: (folder() / "key",), names=("file",)),
    release.release_files: Valid(
        lambda: (document_file(), folder() / "out", document_release()),
        names=("source", "out"),
    ),
    # -- replacement -----------------------------------------------------------
    DPDocumentReplacer: Valid(
        lambda: (TEXTS, None, 2), lambda made: made.fit().transform(["a cat"])
    ),
    DPDocumentReplacer.fit: Valid(lambda: (replacer(),)),
    DPDocumentReplacer.get_feature_names_out: Valid(lambda: (replacer().fit(),)),
    DPDocumentReplacer.guarantee: Valid(lambda: (replacer().fit(), "person")),
    DPDocumentReplacer.person_answers: Valid(
        lambda: (replacer().fit(), TEXTS, range(len(TEXTS)))
    ),
    replacement.PersonAnswers.transform: Valid(lambda: (persons(), [0, 1])),
    DPDocumentReplacer.groups_of: Valid(lambda: (replacer().fit(), TEXTS)),
    DPDocumentReplacer.log_likelihood: Valid(
        lambda: (replacer().fit(), TEXTS, TEXTS[:1])
    ),
    DPDocumentReplacer.exponent: Valid(lambda: (replacer().fit(), TEXTS[0], TEXTS[1])),
    DPDocumentReplacer.likelihood: Valid(lambda: (replacer().fit(), TEXTS)),
    DPDocumentReplacer.set_output: Valid(lambda: (replacer(),)),
    DPDocumentReplacer.transform: Valid(lambda: (replacer().fit(), TEXTS)),
    replacement.topic_shares: Valid(
        lambda: ([0, 1, 0, 1], replacer().fit().guarantee(), [0, 1], None, 0.95)
    ),
    release.verify: Valid(lambda: (complete_release(),), names=("out",)),
}

# Classes that the library makes; their public methods need lines of their own.
RESULTS = {
    attacks.Score,
    attacks.Scores,
    audit.NoiseLawAudit,
    audit.TrainingAudit,
    audit.ReleaseAudit,
    inspection.NeighborhoodDisplay,
    inspection.PlausibleDeniabilityDisplay,
    inspection.PrivacyUtilityDisplay,
    inspection.ReleaseReport,
    metrics.DensityStatistics,
    metrics.PlausibleDeniability,
    model_selection.Calibration,
    privacy.PrivacyGuarantee,
    replacement.PersonAnswers,
    replacement.TopicShares,
}

# What no text is given to, and why; a class stands for all its methods.
_AXES = "takes a figure's axes, and draws what its object holds"
TAKES_NO_TEXT: dict[Any, str] = {
    base.BaseReleaser: "is abstract; users define its methods",
    datasets.load_docstring_embedding: "trains on texts of installed libraries",
    datasets.load_docstrings: "reads texts of installed libraries by public names",
    DPTextClassifier.set_fit_resample_request: "takes whether authors are routed",
    DPWordPerturber.fresh: "gets a generator",
    DPWordPerturber.seeded: "gets a random state, which the copy checks in use",
    inspection.NeighborhoodDisplay.plot: _AXES,
    inspection.PlausibleDeniabilityDisplay.plot: _AXES,
    inspection.PrivacyUtilityDisplay.plot: _AXES,
    inspection.PrivacyUtilityDisplay.from_estimator: (
        "is scikit-learn's GridSearchCV, whose errors are its own, and `from_search`"
    ),
    **{
        getattr(kind, name): "takes numbers of words, and draws"
        for kind in (
            mechanisms.Exponential,
            MahalanobisNoise,
            mechanisms.RandomizedResponse,
        )
        for name in (
            "draw",
            "apply",
            "exponents",
            "losses",
            "log_proba",
            "checked_log_proba",
            "noise",
        )
        if hasattr(kind, name)
    },
}
