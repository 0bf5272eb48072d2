"""What each adversary makes of one release."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from experiments import kept
from experiments.fasttext import FastTextClassifier
from experiments.obfuscation.corpora import FANDOMS, PAIR, Problem, fan_fiction
from real_data import DATA, GOOGLE
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdptext import DPWordPerturber, WMDKNNClassifier, WordEmbedding
from skdptext.attacks import KoppelAuthorClassifier
from skdptext.metrics import words_unchanged


@cache
def load_problem(name: str) -> Problem:
    if name == "18 authors":
        return fan_fiction(name, PAIR).first_snippets(name)
    return fan_fiction(name, FANDOMS)


@cache
def load_embedding() -> WordEmbedding:
    return WordEmbedding.load(DATA / GOOGLE)


class Scene:
    """A problem: everything as written, cut to the common length."""

    def __init__(self, problem: str, oov: str) -> None:
        self.problem = load_problem(problem)
        self.embedding = load_embedding()
        self.oov = oov
        self.output = "bow" if oov == "drop" else "text"
        # It changes no word at this ε, and releases texts as they were read.
        reader = DPWordPerturber(
            self.embedding,
            epsilon=1e4,
            mechanism="randomized-response",
            oov=oov,
            output=self.output,
            order="keep",
            resize="truncate",
            stop_words="english",
        ).fit([])
        self.all_known = reader.transform(self.problem.known)
        whole = self.all_known, reader.transform(self.snippets)
        self.length = min(n for texts in whole for n in _lengths(texts))
        self.training = reader.transform(self.problem.training)
        self.elsewhere = reader.transform(self.problem.elsewhere)
        reader.set_params(document_length=self.length)
        self.known = reader.transform(self.problem.known)
        self.clean = reader.transform(self.snippets)

    @property
    def snippets(self) -> list[str]:
        return self.problem.snippets

    def perturber(self, epsilon: float, seed: int) -> DPWordPerturber:
        return DPWordPerturber(
            self.embedding,
            epsilon=epsilon,
            lam=0.0,
            document_length=self.length,
            resize="truncate",
            stop_words="english",
            random_state=seed,
            oov=self.oov,
            output=self.output,
            n_jobs=1,
        )


def _lengths(documents: Any) -> list[int]:
    """Words of bags or texts."""
    if isinstance(documents, list):
        return [len(text.split()) for text in documents]
    return documents.sum(axis=1).A1.tolist()


@cache
def load_scene(problem: str, oov: str = "drop") -> Scene:
    return Scene(problem, oov)


def linear() -> Any:
    """A linear model on the words, weighed by how rare they are."""
    return make_pipeline(
        TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10, max_iter=1000)
    )


def koppel(scene: Scene, known: Any) -> Any:
    """Koppel's classifier on texts, or on the words of bags."""
    words = scene.embedding.word_array

    def read(documents: Any) -> list[str]:
        if isinstance(documents, list):
            return documents
        bags = (documents[[i]] for i in range(documents.shape[0]))
        return [" ".join(np.repeat(words[b.indices], b.data.astype(int))) for b in bags]

    model = KoppelAuthorClassifier(random_state=0)
    pipeline = make_pipeline(FunctionTransformer(read), model)
    return pipeline.fit(known, scene.problem.known_author)


@cache
def fitted(problem: str) -> dict[str, Any]:
    """Adversaries that know original texts only: fitted once per problem."""
    scene = load_scene(problem)
    authors, topics = scene.problem.known_author, scene.problem.training_topic
    neighbors = WMDKNNClassifier(scene.embedding, n_neighbors=1, n_jobs=1)
    return papers(scene) | {
        "DRauth all known": koppel(scene, scene.all_known),
        "DRauth other fandoms": koppel(scene, scene.elsewhere),
        "linear author": linear().fit(scene.all_known, authors),
        "linear topic": linear().fit(scene.training, topics),
        "SR": neighbors.fit(scene.known, authors),
    }


def papers(scene: Scene) -> dict[str, Any]:
    """Those of the paper with another representation."""
    # from the table's vectors on, as the paper from those of Wikipedia
    model = FastTextClassifier(scene.embedding)
    return {
        "DRauth": koppel(scene, scene.known),
        "DRtopic": model.fit(scene.training, scene.problem.training_topic),
    }


@cache
def fitted_to_kept(problem: str) -> dict[str, Any]:
    return papers(load_scene(problem, "keep"))


def most_frequent(labels: np.ndarray) -> np.ndarray:
    """The label that most neighbors have; of equals the first, as the classifier."""
    classes, codes = np.unique(labels, return_inverse=True)
    codes = codes.reshape(labels.shape)
    votes = np.stack([(codes == c).sum(axis=1) for c in range(len(classes))], axis=1)
    return classes[votes.argmax(axis=1)]


@lru_cache(maxsize=1)
def training_release(epsilon: float) -> Any:
    """The topic training texts of all fandoms through noise of the adversary's own."""
    scene = load_scene("40 authors")
    own = scene.perturber(epsilon, 2000).set_params(document_length=None)
    return own.fit_transform(scene.problem.training)


@lru_cache(maxsize=2)
def informed_topic(problem: str, epsilon: float) -> dict[str, Any]:
    """Topic classifiers that learn from releases; one release serves all seeds.

    The fandoms of 18 authors are two of the five, and so are their training texts.
    """
    everything = load_problem("40 authors").training_topic
    topics = load_problem(problem).training_topic
    mine = np.flatnonzero(np.isin(everything, np.unique(topics)))
    bags = training_release(epsilon)[mine]
    model = FastTextClassifier(load_embedding())
    return {
        "DRtopic informed": model.fit(bags, topics),
        "linear topic informed": linear().fit(bags, topics),
    }


def marked(problem: Problem, guesses: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Which snippets each adversary attributes rightly."""
    truth = {True: problem.topic, False: problem.author}
    return {name: guess == truth["topic" in name] for name, guess in guesses.items()}


@kept
def attack_release(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Release and attack: marks by adversary. ε = 0 stands for no noise."""
    scene = load_scene(name)
    problem = scene.problem
    known, noisy = scene.all_known, scene.clean
    changed = 0.0
    if epsilon:
        perturber = scene.perturber(epsilon, seed)
        noisy = perturber.fit_transform(scene.snippets)
        changed = 1 - words_unchanged(perturber, scene.snippets)
        # the adversary knows ε and λ, but not the seed, and uses all that it has
        own = scene.perturber(epsilon, seed + 1000).set_params(document_length=None)
        known = own.fit_transform(problem.known)
    models = dict(fitted(name))
    _, rows = models.pop("SR").kneighbors(noisy, 5)
    models["DRauth informed"] = koppel(scene, known)
    models["linear author informed"] = linear().fit(known, problem.known_author)
    if epsilon:
        models |= informed_topic(name, epsilon)
    else:  # texts without noise are what the others learn from
        for each in ("DRtopic", "linear topic"):
            models[f"{each} informed"] = models[each]
    guesses = {each: model.predict(noisy) for each, model in models.items()}
    guesses["SRauth"] = problem.known_author[rows[:, 0]]
    guesses["SRtopic"] = most_frequent(problem.known_topic[rows])
    return {"words changed": changed, "marks": marked(problem, guesses)}


@kept
def attack_kept(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """The paper's way with words that have no vector: they stay as they are."""
    scene = load_scene(name, "keep")
    noisy = scene.clean
    if epsilon:
        noisy = scene.perturber(epsilon, seed).fit_transform(scene.snippets)
    models = fitted_to_kept(name)
    guesses = {each: model.predict(noisy) for each, model in models.items()}
    known = DPWordPerturber(scene.embedding).fit([]).prepare(scene.clean)
    return {
        "unknown": 1 - float(known.sum()) / (scene.length * len(noisy)),
        "marks": marked(scene.problem, guesses),
    }
