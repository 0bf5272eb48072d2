"""Models in files: NumPy's ``.npz`` of plain arrays, without pickles."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skdptext.documents import MeanVectorEncoder, TopicEncoder
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.learning._features import encoded
from skdptext.learning._guarantee import LearningGuarantee
from skdptext.learning._model import Model
from skdptext.learning._readout import Student
from skdptext.learning._sums import Noise, unit_rows
from skdptext.replacement import PublicDocuments, centres_grouper, document_bytes
from skdptext.utils import is_fitted, replacing

_FORMAT = "skdptext-model-1"
# Public documents whose features tell whether an encoder is the one of the model.
_COMPARED = 64
_MEANS = ("components_", "mean_", "explained_variance_", "idf_")
_TOPICS = ("components_", "singular_values_")
# The errors of a file that is something else, or broken.
_BROKEN = (
    *(OSError, EOFError, KeyError, TypeError, ValueError, IndexError),
    *(AttributeError, OverflowError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, MemoryError),
)


@dataclass(frozen=True)
class Saved:
    """All that a file holds."""

    parameters: dict[str, Any]  # of the estimator, plain values
    classes: np.ndarray
    noisy_sums: np.ndarray
    model: Model
    guarantee: LearningGuarantee
    encoder: Any  # None: neither in the file nor given
    of_means: bool = False  # it is made of an embedding


def write_model(path: Path, saved: Saved) -> None:
    """Write arrays and JSON; nothing of it depends on the private texts but the sums.

    No random state is written: it is a secret.
    """
    model = saved.model
    kind, of_encoder = _encoder_arrays(saved.encoder)
    about = {
        "format": _FORMAT,
        "parameters": saved.parameters,
        "noise": asdict(model.noise),
        "guarantee": saved.guarantee.to_json(),
        "encoder": kind,
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        "classes": _plain_classes(saved.classes),
        "noisy_sums": saved.noisy_sums,
        **_packed("documents", (document_bytes(d, 0) for d in model.documents)),
        **_packed("words", (document_bytes(w, 0) for w in model.student.words)),
        "idf": model.student.idf,
        "weights": model.student.weights,
        "bias": model.student.bias,
        **of_encoder,
    }
    if model.groups is not None:
        arrays["groups"] = model.groups
    if model.vectors is not None:
        arrays["vectors"] = model.vectors
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)  # none holds Python objects


def read_model(path: Path, encoder: Any, embedding: WordEmbedding | None) -> Saved:
    """What `write_model` wrote, with the user's own encoder or embedding if need be."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        about = json.loads(arrays["about"].tobytes())
        if about["format"] != _FORMAT:
            raise ValueError
        saved = _saved(about, arrays)
        kept = _kept_encoder(about["encoder"], arrays)
    except FileNotFoundError:
        raise
    except _BROKEN as error:
        raise InvalidParameterError(
            "path must be a model that DPTextClassifier.save wrote, got a file that is "
            f"none, or broken ({type(error).__name__})."
        ) from None
    if encoder is None and embedding is not None:
        encoder = _with_vectors(about["encoder"], arrays, embedding)
    if encoder is None:
        encoder = kept
    else:
        _check_same(encoder, saved.model)
    of_means = about["encoder"]["kind"] == "means"
    return replace(saved, encoder=encoder, of_means=of_means)


def _saved(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Saved:
    noise = Noise(**about["noise"])
    documents = PublicDocuments(_unpacked("documents", arrays))
    student = Student(
        tuple(_unpacked("words", arrays)),
        *(arrays[name] for name in ("idf", "weights", "bias")),
    )
    n, n_classes = len(documents), len(arrays["classes"])
    shapes = {
        "noisy_sums": (n_classes, noise.n_groups + noise.n_vector_cells),
        "idf": (len(student.words),),
        "weights": (len(student.words), n_classes),
        "bias": (n_classes,),
    }
    if noise.n_groups:
        shapes["groups"] = (n,)
        if not ((arrays["groups"] >= 0) & (arrays["groups"] < noise.n_groups)).all():
            raise ValueError
    if noise.n_vector_cells:
        shapes["vectors"] = (n, noise.n_vector_cells - 1)
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError
    classes, noisy = arrays["classes"], arrays["noisy_sums"]
    if len(np.unique(classes)) < max(2, n_classes) or not np.isfinite(noisy).all():
        raise ValueError
    model = Model(
        documents,
        arrays["noisy_sums"],
        noise,
        arrays["groups"] if noise.n_groups else None,
        arrays["vectors"] if noise.n_vector_cells else None,
        student,
    )
    guarantee = LearningGuarantee.from_json(about["guarantee"])
    plain = dict(about["parameters"])
    return Saved(plain, arrays["classes"], arrays["noisy_sums"], model, guarantee, None)


def _plain_classes(classes: np.ndarray) -> np.ndarray:
    """Classes as an array without Python objects."""
    if classes.dtype.kind != "O":
        return classes
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels):
        raise InvalidParameterError(
            "classes must be text or numbers to be saved, got Python objects."
        )
    return np.array(labels, dtype=str)


def _packed(name: str, parts: Iterable[bytes]) -> dict[str, np.ndarray]:
    """Texts in two arrays: an array of str is as wide as the longest."""
    given = list(parts)
    return {
        name: np.frombuffer(b"".join(given), dtype=np.uint8),
        f"{name}_ends": np.cumsum([0, *map(len, given)], dtype=np.int64),
    }


def _unpacked(name: str, arrays: Mapping[str, np.ndarray]) -> list[Any]:
    data, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    if ends != sorted(ends) or (ends[0], ends[-1]) != (0, len(data)):
        raise ValueError
    texts: list[Any] = []
    for start, end in pairwise(ends):
        text = data[start + 1 : end].decode("utf-8", "surrogatepass")
        texts.append(text if data[start : start + 1] == b"s" else json.loads(text))
    return texts


# -- encoders -------------------------------------------------------------------------


def _encoder_arrays(encoder: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the default encoders are made of; of others only that they are others."""
    if type(encoder) is MeanVectorEncoder and _is_default(encoder):
        assert isinstance(encoder.embedding, WordEmbedding)
        about = {
            "kind": "means",
            "n_components": int(encoder.n_components),
            "embedding": encoder.embedding.fingerprint.hex(),
        }
        return about, {f"of_{name}": getattr(encoder, name) for name in _MEANS}
    if isinstance(encoder, Pipeline) and type(encoder[0]) is TopicEncoder:
        topics, centres = encoder[0], getattr(encoder[-1], "cluster_centers_", None)
        if len(encoder) == 2 and _is_default(topics) and centres is not None:
            arrays = {f"of_{name}": getattr(topics, name) for name in _TOPICS}
            words = (document_bytes(word, 0) for word in topics.words_.tolist())
            return {"kind": "topics", "n_components": int(topics.n_components)}, {
                **arrays,
                **_packed("of_words", words),
                "of_centres": np.asarray(centres),
            }
    return {"kind": "own"}, {}


def _is_default(encoder: Any) -> bool:
    """Whether it reads texts as it does by default."""
    own = encoder.get_params(deep=False)
    for name in ("embedding", "n_components"):
        own.pop(name, None)
    fresh = TopicEncoder().get_params(deep=False)
    return all(value == fresh[name] for name, value in own.items())


def _kept_encoder(
    about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> Any | None:
    """The default encoder of groups, from its arrays."""
    if about["kind"] != "topics":
        return None
    centres = arrays["of_centres"]
    each = range(len(centres))
    encoder = centres_grouper(len(centres), each, about["n_components"])
    topics, clusters = encoder
    learned = {name: arrays[f"of_{name}"] for name in _TOPICS}
    learned["words_"] = np.array(_unpacked("of_words", arrays), dtype=object)
    topics._keep(learned, of_counts=False)
    # one point in each cluster: fitted by scikit-learn's own means, whatever it keeps
    clusters.set_params(init=centres, n_init=1).fit(centres)
    clusters.set_params(init="k-means++", n_init=10)
    clusters.cluster_centers_ = centres.copy()
    return encoder


def _with_vectors(
    about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], embedding: WordEmbedding
) -> MeanVectorEncoder:
    """The default encoder of vectors, from its arrays and the embedding."""
    if about["kind"] != "means" or embedding.fingerprint.hex() != about["embedding"]:
        raise InvalidParameterError(
            "embedding must be the one that the model was fitted with, got another."
        )
    encoder = MeanVectorEncoder(embedding, about["n_components"])
    learned = {name: arrays[f"of_{name}"] for name in _MEANS}
    encoder._keep(learned, of_counts=False)
    return encoder


def _check_same(encoder: Any, model: Model) -> None:
    """Refuse an encoder that does not give the public documents their features."""
    try:
        same = is_fitted(encoder) and _gives_the_same(encoder, model)
    except Exception:  # whatever an encoder of the user's raises
        same = False
    if not same:
        raise InvalidParameterError(
            "encoder must be the one that the model was fitted with, fitted, but it "
            "does not give the public documents the features of the model."
        )


def _gives_the_same(encoder: Any, model: Model) -> bool:
    some: Sequence[Any] = model.documents[:_COMPARED]
    if model.vectors is not None and hasattr(encoder, "transform"):
        rows = unit_rows(encoded(encoder, some))
        known = model.vectors[: len(some)]
        return rows.shape == known.shape and np.allclose(rows, known, atol=1e-6)
    if model.groups is None or not hasattr(encoder, "predict"):
        return False
    # groups are numbered in the order of their labels
    labels = np.asarray(encoder.predict(list(model.documents))).tolist()
    pairs = set(zip(labels, model.groups.tolist(), strict=True))
    return len(pairs) == len(set(labels)) == len({group for _, group in pairs})
